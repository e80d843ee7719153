/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What transforms in floating point add to a result at most: the proof on which fft is accepted. */
#include <math.h>

#include "convolve_fft.h"

/*
 * Let u be the relative error of one operation, z a tile of samples about their middle, two of them in one as its real
 * and imaginary part, h the taps, Z and H their transforms, n the points of both directions together.
 *
 * A transform goes through log2 n levels of sums, each with an error of u of their norm, and in all but three of them
 * through products with roots of unity, 3u: one for the root, two for the product. So a transform of p points errs by at
 * most c(p) = 4 log2 p - 9 times u. Forward, an error E of norm c u |Z| reaches a result as sum E H / n, which is at
 * most c u |z| |h| by Cauchy and Schwarz. The product with H adds 3u. On the way back a value at any level is a
 * sum over frequencies of the products with factors of magnitude 1, and those that reach one result are over different
 * frequencies: their magnitudes together are at most sum |Z H| / n <= |z| |h|, at each step. All in all
 * (2 c(px) + 2 c(py) + 3) u |z| |h|. Terms in u^2 are covered by another u.
 *
 * The spectrum is summed directly in double: up to 255 terms twice, and roots, are off by 520 d of the gain sum |h| where d
 * is double's error; that reaches a result by |Z| / sqrt n = |z|.
 */
static double
error_of (const ConvolvePlan *plan, const ConvolveFft *fft, double unit)
{
  int count = plan->taps.width * plan->taps.height;
  double middle = 1 << (plan->pixel.depth - 1), gain = 0, norm = 0, most = 0;
  double tile = middle * sqrt (2.0 * fft->width * fft->height);
  double levels = 4 * (log2 (fft->width) + log2 (fft->height)) - 18;

  for (int i = 0; i < count; i++) {
    gain += fabs (plan->taps.wide_taps[i]);
    norm += plan->taps.wide_taps[i] * plan->taps.wide_taps[i];
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  /* The last term is the tail's: the offset about the middle, rounded, and its sum with a result. */
  return ((2 * levels + 4) * unit * sqrt (norm) + 520 * ldexp (1, -53) * gain) * tile
      + (plan->exact ? 0 : 4 * (most + 3 * middle * gain + 2) * unit);
}

/*
 * Sums of integers are rounded to the nearest, which makes them exact where the error is below 1/2: that takes doubles.
 * Other plans leave a quarter of the budget to the taps' own rounding to float.
 */
bool
convolve_fft_choose (const ConvolvePlan *plan, ConvolveFft *fft, const char **reason)
{
  double limit = plan->exact ? 0.25 : convolve_budget (plan) * 3 / 4;

  fft->width = convolve_fft_points (plan->taps.width);
  fft->height = convolve_fft_points (plan->taps.height);
  fft->wide = plan->exact || !(error_of (plan, fft, ldexp (1, -24)) <= limit);
  if (!fft->wide || error_of (plan, fft, ldexp (1, -53)) <= limit)
    return true;
  *reason = "its sums are too large for transforms in double precision";
  return false;
}
