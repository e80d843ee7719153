/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the library hands work to a thread pool; convolve_pool.h is the public side. */
#ifndef CONVOLVE_CPU_POOL_H
#define CONVOLVE_CPU_POOL_H

#include <stddef.h>

#include "convolve_pool.h"

/* Runs jobs first .. first + count - 1. memory belongs to the calling thread and is aligned to 64 bytes. */
typedef void (*ConvolveJob) (const void *data, int first, int count, void *memory);

/*
 * Runs each of the jobs 0 .. jobs - 1 once, on at most `threads` threads of the pool, and returns when all are done.
 * The calling thread is one of these threads, and the only one where pool is NULL. Each thread has `size` bytes of
 * memory. NO_MEMORY if that cannot be had; no job has run then.
 */
ConvolveStatus convolve_pool_run (ConvolvePool *pool, int threads, int jobs, size_t size, ConvolveJob run,
    const void *data, ConvolveError *error);

/* The threads that `threads` asks for, where 0 stands for one on each core, and at most `most`. */
int convolve_pool_count (int threads, int most);

/* Jobs that need the results of all jobs of the step before. */
typedef struct
{
  ConvolveJob run;
  int jobs;
} ConvolvePoolStep;

/*
 * Runs the jobs of all steps, one step after the other, as convolve_pool_run () runs them. *shared becomes
 * `shared_size` bytes, aligned to 64 bytes, that all threads have together until the call returns.
 */
ConvolveStatus convolve_pool_run_steps (ConvolvePool *pool, int threads, const ConvolvePoolStep *steps, int n,
    size_t size, void **shared, size_t shared_size, const void *data, ConvolveError *error);

#endif
