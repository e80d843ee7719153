/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L
#include "kernels/check_pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "cpu/threads/pool.h"

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

enum
{
  CALLERS = 2,
  CALLS = 30,
  JOBS = 8
};

typedef struct
{
  ConvolvePool *pool;
  pthread_t thread;
  int done; /* jobs; atomic */
  int bad;  /* calls that did not do each job once */
} Caller;

static void
count_jobs (const void *data, int first, int count, void *memory)
{
  Caller *caller = *(Caller *const *) data;

  sleep_ms (1);
  __atomic_add_fetch (&caller->done, count, __ATOMIC_SEQ_CST);
}

static void *
call_often (void *data)
{
  Caller *caller = data;

  for (int i = 1; i <= CALLS; i++)
    if (convolve_pool_run (caller->pool, 2, JOBS, 64, count_jobs, &caller, NULL) != CONVOLVE_OK
        || __atomic_load_n (&caller->done, __ATOMIC_SEQ_CST) != i * JOBS) {
      caller->bad++;
      break;
    }
  return NULL;
}

/* Threads that share a pool take turns. */
static int
check_turns (ConvolvePool *pool, FILE *file)
{
  Caller callers[CALLERS];
  int failures = 0, n;

  for (n = 0; n < CALLERS; n++) {
    callers[n] = (Caller){ .pool = pool };
    if (pthread_create (&callers[n].thread, NULL, call_often, &callers[n]) != 0)
      break;
  }
  for (int i = 0; i < n; i++) {
    pthread_join (callers[i].thread, NULL);
    failures += callers[i].bad;
  }
  if (failures > 0)
    fprintf (file, "FAILED pool: of %d callers at the same time %d had other jobs than their own\n", n, failures);
  return failures;
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
  failures += pool ? check_turns (pool, file) : 0;
  convolve_pool_free (pool);
  return failures;
}
