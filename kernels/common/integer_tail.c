/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "common/integer_tail.h"

#include "common/numbers.h"

#define MOST_DENOMINATOR 32768
#define STARTS 4 /* as many times the denominator are tried */

/* A search for a tail, of 8-bit samples or of deeper ones. */
typedef struct
{
  const ConvolvePlan *plan;
  double base;        /* what the start is added to: CONVOLVE_MAGIC, or 0 */
  double least, most; /* sums */
} Search;

static double
modulo (double value, double divisor)
{
  return value - floor (value / divisor) * divisor;
}

/*
 * Finds the start and the offset for one scale and one sample. *start is without the base.
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
try_scale (const Search *search, float scale, int sample, int *start, float *float_offset)
{
  const ConvolvePlan *plan = search->plan;
  double spacing = 1 / plan->denominator, offset = plan->tail.offset[sample] - plan->margin;
  double below = modulo (round (offset / plan->step), round (spacing / plan->step)) * plan->step;
  double slope = scale - plan->tail.scale, margin = slope == 0 ? 0 : spacing * 1e-6;
  double first = (-1 - offset) / plan->tail.scale, last = (plan->tail.maximum + 2 - offset) / plan->tail.scale;

  /* Results below -1 or above the largest sample and 2 are clamped in any case. */
  double least = fmax (search->least, fmin (first, last)), most = fmin (search->most, fmax (first, last));

  for (*start = 0; *start < STARTS * plan->denominator; ++*start) {
    double product = (search->base + *start) * scale;
    double rest = product - floor (product) - offset + below, whole = floor (product) + floor (rest);
    double low = rest - floor (rest) + fmin (least * slope, most * slope);
    double high = rest - floor (rest) + fmax (least * slope, most * slope);

    if (low >= margin && high < spacing - margin && (float) (CONVOLVE_MAGIC - whole) == CONVOLVE_MAGIC - whole) {
      *float_offset = (float) (CONVOLVE_MAGIC - whole);
      return true;
    }
  }
  return false;
}

/* The least and the largest sum. */
static void
find_sums (Search *search)
{
  const ConvolveTaps *taps = &search->plan->taps;

  for (int i = 0; i < taps->width * taps->height; i++)
    *(taps->taps[i] < 0 ? &search->least : &search->most) += (double) taps->taps[i] * search->plan->tail.maximum;
}

/* Whether some result is outside 0 .. the largest sample. */
static bool
clamps (const Search *search)
{
  const ConvolveTail *tail = &search->plan->tail;
  double low = fmin (search->least * tail->scale, search->most * tail->scale);
  double high = fmax (search->least * tail->scale, search->most * tail->scale);

  for (int i = 0; i < search->plan->pixel.samples; i++)
    if (low + tail->offset[i] < 0 || high + tail->offset[i] >= tail->maximum + 1)
      return true;
  return false;
}

/* The largest magnitude of the offsets. */
static double
largest_offset (const ConvolvePlan *plan)
{
  double moved = 0;

  for (int i = 0; i < plan->pixel.samples; i++)
    moved = fmax (moved, fabs (plan->tail.offset[i]));
  return moved;
}

/* Finds a scale, and the starts and offsets of all samples. The starts are without the base. */
static bool
search_tail (const Search *search, ConvolveIntegerTail *tail)
{
  /* With a scale one place higher or lower, all values move, and another start may be right. */
  const ConvolvePlan *plan = search->plan;
  const float scales[] = { plan->tail.scale_f, nextafterf (plan->tail.scale_f, INFINITY),
    nextafterf (plan->tail.scale_f, -INFINITY) };

  if (plan->step == 0 || plan->denominator > MOST_DENOMINATOR)
    return false;
  for (size_t k = 0; k < sizeof (scales) / sizeof (scales[0]); k++) {
    int done = 0;

    while (done < plan->pixel.samples && try_scale (search, scales[k], done, &tail->start[done], &tail->offset[done]))
      done++;
    if (done == plan->pixel.samples) {
      tail->scale = scales[k];
      tail->clamps = clamps (search);
      return true;
    }
  }
  return false;
}

bool
convolve_integer_tail_choose (const ConvolvePlan *plan, ConvolveIntegerTail *tail, const char **reason)
{
  Search search = { .plan = plan, .base = CONVOLVE_MAGIC };
  double largest;

  if (plan->pixel.type != CONVOLVE_SAMPLE_U8) {
    *reason = "the pixel format has samples of more than 8 bits";
    return false;
  }
  if (!plan->exact) {
    *reason = "the weights are not integers times one common factor";
    return false;
  }
  find_sums (&search);
  largest = fmax (-search.least, search.most);
  if (largest + STARTS * MOST_DENOMINATOR > CONVOLVE_MAGIC_LIMIT
      || largest * fabs (plan->tail.scale) + largest_offset (plan) + 1 > CONVOLVE_MAGIC_LIMIT) {
    *reason = "the sums of this mask need more than 22 bits";
    return false;
  }
  *reason = "the results of this mask cannot be proved exact in single precision";
  if (!search_tail (&search, tail))
    return false;
  for (int i = 0; i < plan->pixel.samples; i++)
    tail->start[i] += CONVOLVE_MAGIC_BITS;
  return true;
}

/*
 * The numbers of ONE_STEP are exact as they are: the sum with the start is below 2^24, and the scale is a power of two.
 * The scale, start and offset of a plan of EXACT are searched for.
 */
bool
convolve_deep_tail_choose (const ConvolvePlan *plan, ConvolveIntegerTail *tail, const char **reason)
{
  const int shift = plan->pixel.shift + plan->pixel.depth == 16 ? plan->pixel.shift : 0;
  const double unit = 1 << shift;
  Search search = { .plan = plan, .base = 0 };
  double largest;

  *reason = "the weights are not integers times one common factor";
  if (!plan->exact)
    return false;
  *reason = "the samples have unused bits both above and below them";
  if (shift != plan->pixel.shift)
    return false;
  find_sums (&search);
  largest = fmax (-search.least, search.most);
  *reason = "the results of this mask need more than 22 bits";
  if ((largest * fabs (plan->tail.scale) + largest_offset (plan) + 1) * unit > CONVOLVE_MAGIC_LIMIT)
    return false;
  *reason = "the results of this mask cannot be proved exact in single precision";
  memset (tail, 0, sizeof (*tail));
  if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_ONE_STEP) {
    tail->scale = plan->tail.scale_f;
    tail->clamps = clamps (&search);
    for (int i = 0; i < plan->pixel.samples; i++) {
      tail->start[i] = (int) plan->arithmetic.start[i];
      tail->offset[i] = CONVOLVE_MAGIC;
    }
  } else if (largest + STARTS * plan->denominator > CONVOLVE_2_24 - 1 || !search_tail (&search, tail)) {
    return false;
  }
  tail->scale *= (float) unit;
  for (int i = 0; i < plan->pixel.samples; i++) {
    double offset = CONVOLVE_MAGIC + (tail->offset[i] - (double) CONVOLVE_MAGIC) * unit;

    tail->offset[i] = (float) offset;
    if (tail->offset[i] != offset)
      return false;
  }
  return true;
}
