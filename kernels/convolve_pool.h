/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that share the work of host plans. They are created once and sleep between planes; the thread that calls
 * convolve_run() works with them. What a plane becomes does not depend on how many there are.
 */
#ifndef CONVOLVE_POOL_H
#define CONVOLVE_POOL_H

#include "convolve.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct ConvolvePool ConvolvePool;

/*
 * threads work on a plane, the caller among them; 0 stands for one on each core that this process may use. Where
 * the system gives fewer, those are taken. NULL with NO_MEMORY.
 */
ConvolvePool *convolve_pool_new (int threads, ConvolveError *error);
void convolve_pool_free (ConvolvePool *pool); /* NULL is allowed; no plane may be under way */

/* How many threads there are, the caller's included. */
int convolve_pool_threads (const ConvolvePool *pool);

/*
 * A host plan's planes go through pool from now on; NULL, as it is for a new plan, leaves them to the caller alone. No
 * plane of the plan may be under way, and none may be run once the pool is freed. Planes that meet in one pool take
 * turns.
 */
void convolve_plan_set_pool (ConvolvePlan *plan, ConvolvePool *pool);

#ifdef __cplusplus
}
#endif

#endif
