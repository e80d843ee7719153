/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "common/integer_tail.h"

#define LARGEST_DENOMINATOR 32768
#define STARTS 4        /* as many times the denominator are tried */
#define LIMIT 4194304.0 /* 2^22: the largest distance of an integer from CONVOLVE_MAGIC */

static double
modulo (double value, double divisor)
{
  return value - floor (value / divisor) * divisor;
}

/*
 * Finds the start and the offset for one scale and one sample.
 *
 * A result is floor (n * p/q + offset) for the sum n. The values before the floor lie on a grid with a spacing of 1/q.
 * Let `below` be the distance of the lowest of them from the integer under it. If all values are moved down by up to
 * `below`, or up by less than 1/q - below, every value keeps its integer.
 *
 * The start of the sums moves the values by any multiple of 1/q. The offset is a float as large as CONVOLVE_MAGIC, and
 * so moves the values by integers alone. The rounding of the scale moves the values by an amount that is known and
 * hardly depends on n. So one of q consecutive starts is right, unless the amount is too near an end of the interval.
 * Where the offset is so large that its last place is above 1, only one in a few of these starts can be used. That is
 * why several times q starts are tried.
 */
static bool
try_scale (const ConvolvePlan *plan, float scale, double least, double most, int sample, ConvolveIntegerTail *tail)
{
  double spacing = 1 / plan->denominator, offset = plan->tail.offset[sample] - plan->margin;
  double below = modulo (round (offset / plan->step), round (spacing / plan->step)) * plan->step;
  double slope = scale - plan->tail.scale, margin = slope == 0 ? 0 : spacing * 1e-6;
  double first = (-1 - offset) / plan->tail.scale, last = (257 - offset) / plan->tail.scale;

  /* Results below -1 or above 257 are clamped in any case. */
  least = fmax (least, fmin (first, last));
  most = fmin (most, fmax (first, last));
  for (int start = 0; start < STARTS * plan->denominator; start++) {
    double product = ((double) CONVOLVE_MAGIC + start) * scale;
    double rest = product - floor (product) - offset + below, whole = floor (product) + floor (rest);
    double low = rest - floor (rest) + fmin (least * slope, most * slope);
    double high = rest - floor (rest) + fmax (least * slope, most * slope);

    if (low >= margin && high < spacing - margin && (float) (CONVOLVE_MAGIC - whole) == CONVOLVE_MAGIC - whole) {
      tail->start[sample] = CONVOLVE_MAGIC_BITS + start;
      tail->offset[sample] = (float) (CONVOLVE_MAGIC - whole);
      return true;
    }
  }
  return false;
}

bool
convolve_integer_tail_choose (const ConvolvePlan *plan, ConvolveIntegerTail *tail, const char **reason)
{
  /* With a scale one place higher or lower, all values move, and another start may be right. */
  const float scales[] = { plan->tail.scale_f, nextafterf (plan->tail.scale_f, INFINITY),
    nextafterf (plan->tail.scale_f, -INFINITY) };
  int count = plan->taps.width * plan->taps.height, samples = plan->pixel.samples;
  double least = 0, most = 0, moved = 0;

  if (plan->pixel.type != CONVOLVE_SAMPLE_U8) {
    *reason = "the pixel format has samples of more than 8 bits";
    return false;
  }
  if (!plan->exact) {
    *reason = "the weights are not integers times one common factor";
    return false;
  }
  for (int i = 0; i < count; i++) {
    least += plan->taps.taps[i] < 0 ? plan->taps.taps[i] * 255 : 0;
    most += plan->taps.taps[i] > 0 ? plan->taps.taps[i] * 255 : 0;
  }
  for (int i = 0; i < samples; i++)
    moved = fmax (moved, fabs (plan->tail.offset[i]));
  if (fmax (-least, most) + STARTS * LARGEST_DENOMINATOR > LIMIT
      || fmax (-least, most) * fabs (plan->tail.scale) + moved + 1 > LIMIT) {
    *reason = "the sums of this mask need more than 22 bits";
    return false;
  }
  *reason = "the results of this mask cannot be proved exact in single precision";
  if (plan->step == 0 || plan->denominator > LARGEST_DENOMINATOR)
    return false;
  for (size_t k = 0; k < sizeof (scales) / sizeof (scales[0]); k++) {
    int done = 0;

    while (done < samples && try_scale (plan, scales[k], least, most, done, tail))
      done++;
    if (done == samples) {
      double low = fmin (least * plan->tail.scale, most * plan->tail.scale);
      double high = fmax (least * plan->tail.scale, most * plan->tail.scale);

      tail->scale = scales[k];
      tail->clamps = false;
      for (int i = 0; i < samples; i++)
        tail->clamps = tail->clamps || low + plan->tail.offset[i] < 0 || high + plan->tail.offset[i] >= 256;
      return true;
    }
  }
  return false;
}
