/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pool works on one call of convolve_pool_run() at a time. Every thread that is awake takes some of the jobs, many
 * at first and fewer towards the end. A thread that wakes too late finds no job, and no thread waits for it. The memory
 * of each thread stays from one call to the next.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/internal.h"
#include "cpu/threads/pool.h"

#define MAX_THREADS 1024
#define ALIGNMENT 64
#define MAX_YIELDS 64 /* before a thread sleeps: about as long as it takes to wake a thread */

typedef struct
{
  void *bytes;
  size_t size;
} Memory;

typedef struct
{
  ConvolvePool *pool;
  pthread_t thread;
  Memory memory;
} Worker;

struct ConvolvePool
{
  pthread_mutex_t turn; /* held for a whole call */
  Memory memory;        /* of the calling thread; guarded by turn */
  Memory shared;        /* of all threads together; likewise */

  pthread_mutex_t lock; /* guards what follows */
  pthread_cond_t work, done;
  bool stop;
  int wanted; /* workers that are still to join the call; atomic, because watch() reads this */
  int busy;   /* workers that have joined; atomic, too */
  ConvolveJob run;
  const void *data;
  int jobs, next; /* next is atomic, because threads take jobs without the lock */

  int n_workers;
  Worker workers[];
};

/* Vectors reach beyond the last sample of a row: what they read there has no effect, but is to be defined. */
static bool
reserve (Memory *memory, size_t size)
{
  size_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

  if (memory->size >= size)
    return true;
  free (memory->bytes);
  *memory = (Memory){ .bytes = aligned_alloc (ALIGNMENT, whole) };
  if (!memory->bytes)
    return false;
  memset (memory->bytes, 0, whole);
  memory->size = size;
  return true;
}

/* Takes a share of the jobs that are left each time, so that all threads end at about the same time. */
static void
take_jobs (ConvolvePool *pool, ConvolveJob run, const void *data, int jobs, void *memory)
{
  int first = __atomic_load_n (&pool->next, __ATOMIC_RELAXED);

  while (first < jobs) {
    int share = (jobs - first) / (2 * (pool->n_workers + 1)), count = share > 1 ? share : 1;

    if (__atomic_compare_exchange_n (&pool->next, &first, first + count, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      run (data, first, count, memory);
      first = __atomic_load_n (&pool->next, __ATOMIC_RELAXED);
    }
  }
}

/* Waits a little for other threads to change value. Sleeping and waking would take longer. */
static void
watch (const int *value, bool until_zero)
{
  for (int i = 0; i < MAX_YIELDS && (__atomic_load_n (value, __ATOMIC_RELAXED) == 0) != until_zero; i++)
    sched_yield ();
}

static void *
work (void *argument)
{
  Worker *self = argument;
  ConvolvePool *pool = self->pool;

  pthread_mutex_lock (&pool->lock);
  while (!pool->stop) {
    if (pool->wanted > 0) {
      ConvolveJob run = pool->run;
      const void *data = pool->data;
      int jobs = pool->jobs;

      __atomic_sub_fetch (&pool->wanted, 1, __ATOMIC_RELAXED);
      __atomic_add_fetch (&pool->busy, 1, __ATOMIC_RELAXED);
      pthread_mutex_unlock (&pool->lock);
      take_jobs (pool, run, data, jobs, self->memory.bytes);
      pthread_mutex_lock (&pool->lock);
      if (__atomic_sub_fetch (&pool->busy, 1, __ATOMIC_RELAXED) == 0)
        pthread_cond_signal (&pool->done);
      pthread_mutex_unlock (&pool->lock);
      watch (&pool->wanted, false); /* for the next plane of the frame */
      pthread_mutex_lock (&pool->lock);
    } else {
      pthread_cond_wait (&pool->work, &pool->lock);
    }
  }
  pthread_mutex_unlock (&pool->lock);
  return NULL;
}

static int
count_cores (void)
{
#ifdef __linux__
  cpu_set_t set;

  if (sched_getaffinity (0, sizeof (set), &set) == 0)
    return CPU_COUNT (&set);
#endif
  return (int) sysconf (_SC_NPROCESSORS_ONLN);
}

int
convolve_pool_count (int threads, int most)
{
  threads = threads > 0 ? threads : count_cores ();
  return threads < 1 ? 1 : threads > most ? most : threads;
}

ConvolvePool *
convolve_pool_new (int threads, ConvolveError *error)
{
  ConvolvePool *pool;

  threads = convolve_pool_count (threads, MAX_THREADS);
  pool = calloc (1, sizeof (ConvolvePool) + (threads - 1) * sizeof (Worker));
  if (!pool) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d threads", threads);
    return NULL;
  }
  pthread_mutex_init (&pool->turn, NULL);
  pthread_mutex_init (&pool->lock, NULL);
  pthread_cond_init (&pool->work, NULL);
  pthread_cond_init (&pool->done, NULL);
  for (int i = 0; i < threads - 1; i++) {
    pool->workers[i].pool = pool;
    if (pthread_create (&pool->workers[i].thread, NULL, work, &pool->workers[i]) != 0)
      break;
    pool->n_workers++;
  }
  return pool;
}

void
convolve_pool_free (ConvolvePool *pool)
{
  if (!pool)
    return;
  pthread_mutex_lock (&pool->lock);
  pool->stop = true;
  pthread_cond_broadcast (&pool->work);
  pthread_mutex_unlock (&pool->lock);
  for (int i = 0; i < pool->n_workers; i++) {
    pthread_join (pool->workers[i].thread, NULL);
    free (pool->workers[i].memory.bytes);
  }
  free (pool->memory.bytes);
  free (pool->shared.bytes);
  pthread_cond_destroy (&pool->done);
  pthread_cond_destroy (&pool->work);
  pthread_mutex_destroy (&pool->lock);
  pthread_mutex_destroy (&pool->turn);
  free (pool);
}

int
convolve_pool_threads (const ConvolvePool *pool)
{
  return pool->n_workers + 1;
}

/* The caller holds turn. */
static bool
run_all (ConvolvePool *pool, int threads, int jobs, size_t size, ConvolveJob run, const void *data)
{
  int helpers = threads - 1 < pool->n_workers ? threads - 1 : pool->n_workers;

  if (!reserve (&pool->memory, size))
    return false;
  /* All workers sleep or are about to. Any of them may wake, so all of them need the memory. */
  for (int i = 0; i < pool->n_workers && helpers > 0; i++)
    if (!reserve (&pool->workers[i].memory, size))
      return false;

  pthread_mutex_lock (&pool->lock);
  pool->run = run;
  pool->data = data;
  pool->jobs = jobs;
  pool->next = 0;
  __atomic_store_n (&pool->wanted, helpers, __ATOMIC_RELAXED);
  for (int i = 0; i < helpers; i++)
    pthread_cond_signal (&pool->work);
  pthread_mutex_unlock (&pool->lock);

  take_jobs (pool, run, data, jobs, pool->memory.bytes);

  watch (&pool->busy, true);
  pthread_mutex_lock (&pool->lock);
  __atomic_store_n (&pool->wanted, 0, __ATOMIC_RELAXED);
  while (pool->busy > 0)
    pthread_cond_wait (&pool->done, &pool->lock);
  pthread_mutex_unlock (&pool->lock);
  return true;
}

static bool
run_steps (ConvolvePool *pool, int threads, const ConvolvePoolStep *steps, int n, size_t size, Memory *memory,
    Memory *together, void **shared, size_t shared_size, const void *data)
{
  if (!reserve (together, shared_size) || !reserve (memory, size))
    return false;
  *shared = together->bytes;
  for (int i = 0; i < n; i++)
    if (!pool)
      steps[i].run (data, 0, steps[i].jobs, memory->bytes);
    else if (!run_all (pool, threads, steps[i].jobs, size, steps[i].run, data))
      return false;
  return true;
}

ConvolveStatus
convolve_pool_run_steps (ConvolvePool *pool, int threads, const ConvolvePoolStep *steps, int n, size_t size,
    void **shared, size_t shared_size, const void *data, ConvolveError *error)
{
  bool done;

  if (pool) {
    pthread_mutex_lock (&pool->turn);
    done = run_steps (pool, threads, steps, n, size, &pool->memory, &pool->shared, shared, shared_size, data);
    pthread_mutex_unlock (&pool->turn);
  } else {
    Memory memory = { 0 }, together = { 0 };

    done = run_steps (NULL, 1, steps, n, size, &memory, &together, shared, shared_size, data);
    free (memory.bytes);
    free (together.bytes);
  }
  if (!done)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the work on a plane, %zu bytes",
        size + shared_size);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_pool_run (ConvolvePool *pool, int threads, int jobs, size_t size, ConvolveJob run, const void *data,
    ConvolveError *error)
{
  const ConvolvePoolStep step = { run, jobs };
  void *shared;

  return convolve_pool_run_steps (pool, threads, &step, 1, size, &shared, 0, data, error);
}
