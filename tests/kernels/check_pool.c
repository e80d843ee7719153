/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include "kernels/check_pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "cpu/pool.h"

typedef struct
{
  pthread_t caller;
  int begun, ended; /* jobs of the other thread; atomic */
} Slow;

static void
sleep_ms (int ms)
{
  nanosleep (&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* Waits some seconds at most, so that a fault makes no endless test. */
static void
wait_for (const int *value, int least)
{
  for (int ms = 0; ms < 10000 && __atomic_load_n (value, __ATOMIC_SEQ_CST) < least; ms++)
    sleep_ms (1);
}

/* A job of the calling thread waits until the other thread has one, which takes long. */
static void
run_slowly (const void *data, int first, int count, void *memory)
{
  Slow *slow = *(Slow *const *) data;

  if (pthread_equal (pthread_self (), slow->caller)) {
    wait_for (&slow->begun, 1);
  } else {
    __atomic_add_fetch (&slow->begun, count, __ATOMIC_SEQ_CST);
    sleep_ms (100);
    __atomic_add_fetch (&slow->ended, count, __ATOMIC_SEQ_CST);
  }
}

/* A second call finds the pool free. */
int
check_pool (FILE *file)
{
  ConvolvePool *pool = convolve_pool_new (2, NULL);
  int failures = 0;

  for (int turn = 0; turn < 2; turn++) {
    Slow slow = { .caller = pthread_self () }, *data = &slow;
    bool done = pool && convolve_pool_run (pool, 2, 2, 64, run_slowly, &data, NULL) == CONVOLVE_OK;
    int ended = __atomic_load_n (&slow.ended, __ATOMIC_SEQ_CST);
    int begun = __atomic_load_n (&slow.begun, __ATOMIC_SEQ_CST);

    if (!done || begun == 0 || ended != begun) {
      fprintf (file, "FAILED pool: call %d: of %d jobs of another thread %d are done\n", turn, begun, ended);
      failures++;
    }
    wait_for (&slow.ended, begun); /* a thread that is late still uses this memory */
  }
  convolve_pool_free (pool);
  return failures;
}
