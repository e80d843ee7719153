/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What transforms in floating point add to a result at most: the proof on which fft is accepted. */
#include "cuda/fft.h"

#include <math.h>
#include <stdlib.h>

/*
 * Let u be the relative error of one operation, z a tile of samples about their middle, two of them in one as its real
 * and imaginary part, h the taps, Z and H their transforms, n the points of both directions together.
 *
 * A transform of 512 points has nine levels of sums and differences a + w b and a - w b. In four of them w is 1 or i:
 * an error of u of the sums' norm. In five w has to be rounded and multiplied, with sums that are rounded on the way,
 * which is 4u; and once between them the points are multiplied by roots, 3u. That is 27 u, and 28 with all terms in
 * u^2. Forward, an error E of norm 2 * 28 u |Z| reaches a result as sum E H / n, which is at most 56 u |z| |h| by
 * Cauchy and Schwarz. The product with H adds 3u. On the way back a value at any level is a sum over frequencies of the
 * products with factors of magnitude 1, and those that reach one result are over different frequencies: their
 * magnitudes together are at most sum |Z H| / n <= |z| |h|, at each level. All in all 115 u |z| |h|.
 *
 * The spectrum is summed directly in double: up to 255 terms twice, and roots, are off by 520 d of the gain sum |h|
 * where d is double's error; that reaches a result by |Z| / sqrt n = |z|.
 */
static double
error_of (const ConvolvePlan *plan, double unit)
{
  int count = plan->taps.width * plan->taps.height;
  double middle = 1 << (plan->pixel.depth - 1), gain = 0, norm = 0, most = 0;
  double tile = sqrt (2) * middle * CONVOLVE_FFT_POINTS;

  for (int i = 0; i < count; i++) {
    gain += fabs (plan->taps.wide_taps[i]);
    norm += plan->taps.wide_taps[i] * plan->taps.wide_taps[i];
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  /* The last term is the tail's: the offset about the middle, rounded, and its sum with a result. */
  return (115 * unit * sqrt (norm) + 520 * ldexp (1, -53) * gain) * tile
      + (plan->exact ? 0 : 4 * (most + 3 * middle * gain + 2) * unit);
}

/*
 * Sums of integers are rounded to the nearest, which makes them exact where the error is below 1/2: that takes doubles.
 * Other plans leave a quarter of the budget to the taps' own rounding to float.
 */
bool
convolve_fft_choose (const ConvolvePlan *plan, bool *is_double, const char **reason)
{
  double limit = plan->exact ? 0.25 : convolve_budget (plan) * 3 / 4;

  *is_double = plan->exact || !(error_of (plan, ldexp (1, -24)) <= limit);
  if (!*is_double || error_of (plan, ldexp (1, -53)) <= limit)
    return true;
  *reason = "the sums are too large for transforms in double precision";
  return false;
}

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;
  bool is_double;

  if (!convolve_fft_choose (plan, &is_double, reason))
    return false;
  *reason = "no memory";
  ConvolveFft *fft = calloc (1, sizeof (*fft));
  double sum = 0;

  if (!fft)
    return false;
  for (int i = 0; i < taps->width * taps->height; i++)
    sum += taps->wide_taps[i];
  fft->is_double = is_double;
  fft->middle = 1 << (plan->pixel.depth - 1);
  fft->constant = fft->middle * sum;
  *found = fft;
  return true;
}

const ConvolveVariant convolve_variant_fft = {
  .name = "fft",
  .number = 10,
  .idea = "tiles that overlap, by Fourier transforms: the same work for every mask",
  .accepts = accepts,
  CONVOLVE_ON_DEVICE (fft),
};
