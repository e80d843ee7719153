/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant fft, which is accepted where a bound for the error of its transforms keeps the promise of convolve.h. */
#include "cuda/fourier/fft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_UNIT 65536 /* of the upper parts of taps, which are 23 bits long at most */

/*
 * Bounds the error of a result. u is the relative error of one operation. z is a tile of samples less their middle;
 * two tiles are its real and imaginary part. h are the taps, Z and H the transforms of z and h, and n = 512 * 512 the
 * number of points. |z| and |h| are Euclidean norms.
 *
 * - One transform of 512 points has nine levels of butterflies a + w b and a - w b. In four levels w is 1 or i, and
 *   the error is u times the norm. In five levels w is rounded and multiplied, and sums are rounded on the way: 4 u
 *   each. In the exchange the points are multiplied by twiddle factors: 3 u. The sum is 27 u, and 28 u with all terms
 *   in u^2.
 * - The forward transforms of rows and columns have an error E of norm 2 * 28 u |Z|. Its share in a result is
 *   sum E H / n, which is at most 56 u |z| |h| by the inequality of Cauchy and Schwarz.
 * - The product with H adds 3 u.
 * - In the inverse transforms, a value at any level is a sum of products Z H with factors of magnitude 1. The values of
 *   one level that contribute to one result have different frequencies, so their magnitudes add up to at most
 *   sum |Z H| / n <= |z| |h|. That is 56 u |z| |h| again for both directions.
 * - All together: 56 + 3 + 56 = 115 u |z| |h|.
 *
 * The spectrum H is summed with about twice the digits of a double (fft_mask.cu), and then rounded once, to u of
 * itself: that is 1 u |z| |h| more. What the sums lose is at most 2^-60 sum |h| in each place of H, and |z| times that
 * in a result. Most of this comes from the circle of factors, which has the 64 bits of a long double at least.
 */
static double
error_of (const ConvolvePlan *plan, const ConvolveFft *fft, int part, double unit)
{
  int count = plan->taps.width * plan->taps.height;
  double middle = 1 << (plan->pixel.depth - 1), gain = 0, norm = 0, most = 0;
  double tile = sqrt (2) * middle * CONVOLVE_FFT_POINTS;

  for (int i = 0; i < count; i++) {
    double tap = convolve_fft_part (fft, plan->taps.double_taps[i], part);

    gain += fabs (tap);
    norm += tap * tap;
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  /* The last term is the tail's in float: the rounded offset with the constant, and its addition to a sum. */
  return (116 * unit * sqrt (norm) + ldexp (1, -60) * gain) * tile
      + (plan->integers ? 0 : 4 * (most + 3 * middle * gain + 2) * unit);
}

/*
 * Where the taps are integers, the sums are, and are rounded to the nearest integer, so an error below 1/2 leaves none;
 * the limit of 1/4 keeps a factor of 2. Such plans take double. In other plans, a quarter of the error budget is left
 * to the rounding of the taps to float.
 *
 * Integers whose sums are too large are taken apart. The sums of both parts are rounded, and put together without an
 * error.
 */
bool
convolve_fft_choose (const ConvolvePlan *plan, ConvolveFft *fft, const char **reason)
{
  const double limit = plan->integers ? 0.25 : convolve_budget (plan) * 3 / 4, unit = ldexp (1, -53);

  fft->unit = 0;
  fft->is_double = plan->integers || !(error_of (plan, fft, 0, ldexp (1, -24)) <= limit);
  if (!fft->is_double || error_of (plan, fft, 0, unit) <= limit)
    return true;
  for (fft->unit = 2; plan->integers && fft->unit <= LARGEST_UNIT; fft->unit *= 2)
    if (error_of (plan, fft, 0, unit) <= limit && error_of (plan, fft, 1, unit) <= limit)
      return true;
  *reason = "the sums are too large for transforms in double precision";
  return false;
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;
  ConvolveFft fft;
  double sum = 0;

  if (!convolve_fft_choose (plan, &fft, reason))
    return false;
  for (int i = 0; i < taps->width * taps->height; i++)
    sum += taps->double_taps[i];
  fft.middle = 1 << (plan->pixel.depth - 1);
  fft.constant = fft.middle * sum;
  found->kernel = fft.is_double;
  return convolve_found_copy (found, &fft, sizeof (fft), reason);
}

static const char *const kernels[] = { "in single precision", "in double precision" };

const ConvolveVariant convolve_variant_fft = {
  .name = "fft",
  .kernels = kernels,
  .number = 10,
  .on_device = true,
  .idea = "overlapping tiles by Fourier transforms: the same time for every mask",
  .accepts = accepts,
  .prepare = convolve_fft_load,
  .run = convolve_fft_run,
};
