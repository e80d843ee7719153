/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _POSIX_C_SOURCE 200809L

#include "bench/bench_common.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "support/random.h"

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

/* Gaussians of sum 1: OpenCV's sigma for this width, and 1.6 times that. */
static void
fill_gaussians (ConvolveMask *mask, int side, BenchMask kind)
{
  double sigma = 0.3 * ((side - 1) * 0.5 - 1) + 0.8, sums[2] = { 0 };

  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < side * side; k++) {
      int x = k % side - side / 2, y = k / side - side / 2;
      double narrow = exp (-0.5 * (x * x + y * y) / (sigma * sigma));
      double wide = exp (-0.5 * (x * x + y * y) / (2.56 * sigma * sigma));

      if (pass == 0)
        sums[0] += narrow, sums[1] += wide;
      else
        mask->taps[k] = kind == BENCH_MASK_GAUSSIAN ? narrow / sums[0] : 2 * narrow / sums[0] - wide / sums[1];
    }
  mask->divisor = 1;
}

bool
bench_make_mask (ConvolveMask *mask, int side, BenchMask kind)
{
  CheckRandom random;
  double sum = 0;

  if (!convolve_mask_init (mask, side, side))
    return false;
  if (kind == BENCH_MASK_GAUSSIAN || kind == BENCH_MASK_LOW_RANK) {
    fill_gaussians (mask, side, kind);
    return true;
  }
  check_random_init (&random, 3, side);
  for (int k = 0; k < side * side; k++) {
    int x = abs (k % side - side / 2), y = abs (k / side - side / 2);

    mask->taps[k] =
        kind == BENCH_MASK_RANK_1 ? (side / 2 + 1 - x) * (side / 2 + 1 - y) : check_random_range (&random, 1, 50);
    sum += mask->taps[k];
  }
  mask->divisor = sum;
  return true;
}
