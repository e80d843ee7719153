/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many random cases a test makes: few in a quick run, all of them after `meson test --setup all`. */
#ifndef TESTS_SUPPORT_CASES_H
#define TESTS_SUPPORT_CASES_H

#include <stdlib.h>

static inline long
check_cases (long few, long all)
{
  return getenv ("CUDACONVOLVE_ALL_CASES") ? all : few;
}

#endif
