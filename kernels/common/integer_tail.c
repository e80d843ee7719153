/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "common/integer_tail.h"

#define LARGEST_DENOMINATOR 32768
#define STARTS 4        /* times the denominator */
#define LIMIT 4194304.0 /* 2^22: how far integers may be from CONVOLVE_MAGIC */

static double
modulo (double value, double divisor)
{
  return value - floor (value / divisor) * divisor;
}

/*
 * A result is floor (n * p/q + offset) for the sum n. These values lie on a grid of 1/q, the lowest of them below above
 * an integer: moved down by up to below, or up by less than 1/q - below, all keep their integer. The start of sums moves
 * them by any multiple of 1/q, the tail's offset by integers alone, being a float as large as CONVOLVE_MAGIC; what the
 * rounding of scale moves them by is known, and hardly depends on n. So one start of q is right, if that is not too
 * near one of the ends; and one in a few of these where the offset is so large that its last place is above 1.
 */
static bool
try_scale (const ConvolvePlan *plan, float scale, double least, double most, int sample, ConvolveIntegerTail *tail)
{
  double spacing = 1 / plan->denominator, offset = plan->tail.offset[sample] - plan->step / 2;
  double below = modulo (round (offset / plan->step), round (spacing / plan->step)) * plan->step;
  double slope = scale - plan->tail.scale, margin = slope == 0 ? 0 : spacing * 1e-6;
  double first = (-1 - offset) / plan->tail.scale, last = (257 - offset) / plan->tail.scale;

  /* Results beyond these are clamped. */
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
  /* One place more or less moves everything, so that another start is right. */
  const float scales[] = { plan->tail.scale_f, nextafterf (plan->tail.scale_f, INFINITY),
    nextafterf (plan->tail.scale_f, -INFINITY) };
  int count = plan->taps.width * plan->taps.height, samples = plan->pixel.samples;
  double least = 0, most = 0, moved = 0;

  if (plan->pixel.type != CONVOLVE_SAMPLE_U8) {
    *reason = "it does 8-bit samples alone";
    return false;
  }
  if (!plan->exact) {
    *reason = "its weights are not integers times one factor";
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
    *reason = "its sums need more than 22 bits";
    return false;
  }
  *reason = "its results cannot be proved exact in single precision";
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
