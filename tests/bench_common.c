/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L

#include "bench_common.h"

#include <stdlib.h>
#include <time.h>

#include "check_random.h"

double
bench_now_us (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

double
bench_median (double *values, int count)
{
  qsort (values, count, sizeof *values, compare_doubles);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

bool
bench_make_mask (ConvolveMask *mask, int side, bool rank_1)
{
  CheckRandom random;
  double sum = 0;

  if (!convolve_mask_init (mask, side, side))
    return false;
  check_random_init (&random, 3, side);
  for (int k = 0; k < side * side; k++) {
    int x = abs (k % side - side / 2), y = abs (k / side - side / 2);

    mask->taps[k] = rank_1 ? (side / 2 + 1 - x) * (side / 2 + 1 - y) : check_random_range (&random, 1, 50);
    sum += mask->taps[k];
  }
  mask->divisor = sum;
  return true;
}
