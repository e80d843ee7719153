/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KERNELS_CHECK_POOL_H
#define TESTS_KERNELS_CHECK_POOL_H

#include <stdio.h>

/* A call returns after the last job, also where another thread has that job. Returns the number of failures. */
int check_pool (FILE *file);

#endif
