/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this process calls of the CUDA driver, by tests/element/cuda/cuda_calls.c, which the driver has loaded where the
 * environment variable CUDA_INJECTION64_PATH names it.
 */
#ifndef TESTS_SUPPORT_CALLS_H
#define TESTS_SUPPORT_CALLS_H

#include <stdbool.h>

/* Finds the counting library; false where the driver has not loaded it. After the first use of CUDA. */
bool check_calls_open (void);

/* Begins to count anew. */
void check_calls_reset (void);

/* Calls add () with each function that was called since, and how often; and with "NULL-stream". */
void check_calls_list (void (*add) (void *data, const char *function, unsigned long count), void *data);

#endif
