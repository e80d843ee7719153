/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pool of threads for host plans. The pool's threads are created once and sleep between planes. The thread that calls
 * convolve_run() works on the plane, too. The result does not depend on the number of threads.
 */
#ifndef CONVOLVE_POOL_H
#define CONVOLVE_POOL_H

#include "convolve.h"

#ifdef __cplusplus
extern "C"
{
#endif

#pragma GCC visibility push(default)

typedef struct ConvolvePool ConvolvePool;

/*
 * Makes a pool in which `threads` threads work on a plane, the caller included. 0 stands for one thread on each core
 * that the process may use. Where the system refuses threads, the pool has fewer. Returns NULL on error: NO_MEMORY.
 */
ConvolvePool *convolve_pool_new (int threads, ConvolveError *error);
void convolve_pool_free (ConvolvePool *pool); /* NULL is allowed; no plan may be running in the pool */

/* The number of threads that work on a plane, the caller included. */
int convolve_pool_threads (const ConvolvePool *pool);

/*
 * Runs a host plan in pool from now on. With NULL, as in a new plan, the caller works alone. The plan must not be
 * running now, and must not be run after the pool is freed. Plans that are run in one pool at the same time take
 * turns, plane by plane.
 */
void convolve_plan_set_pool (ConvolvePlan *plan, ConvolvePool *pool);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
