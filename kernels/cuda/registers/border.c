/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/border.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/integer_tail.h"
#include "common/numbers.h"
#include "cuda/device/accepts.h"

bool
convolve_border_are_bytes (const float *taps, int count)
{
  for (int i = 0; i < count; i++)
    if (taps[i] < -128 || taps[i] > 127)
      return false;
  return true;
}

bool
convolve_border_accepts_layout (const ConvolvePlan *plan, const char **reason)
{
  const ConvolvePixel *pixel = &plan->pixel;

  *reason =
      "the pixels are not samples in the machine's byte order with no bytes between them, none of their samples is "
      "convolved, or they are three samples of more than 8 bits";
  return (pixel->samples != 3 || pixel->type == CONVOLVE_SAMPLE_U8)
      && pixel->stride == pixel->samples * convolve_sample_size (pixel->type) && !pixel->swapped && pixel->select;
}

bool
convolve_border_accepts_side (const ConvolvePlan *plan, const char **reason)
{
  *reason = "the mask is larger than 9x9";
  return plan->taps.width <= CONVOLVE_BORDER_SIDE && plan->taps.height <= CONVOLVE_BORDER_SIDE;
}

bool
convolve_border_accepts_pixels (const ConvolvePlan *plan, const char **reason)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveTaps *taps = &plan->taps;
  double gain = convolve_sum_of_magnitudes_f (taps->taps, taps->width * taps->height) * fabs (plan->tail.scale),
         most = 0;

  if (!convolve_border_accepts_layout (plan, reason))
    return false;
  for (int i = 0; i < pixel->samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  *reason = "the mask makes values above 4 million from 8-bit samples";
  if (pixel->type == CONVOLVE_SAMPLE_U8 && gain * 255 + most > CONVOLVE_FLOOR_LIMIT)
    return false;
  return convolve_accepts_float_taps (plan, reason);
}

bool
convolve_border_accepts (const ConvolvePlan *plan, const char **reason)
{
  return convolve_border_accepts_side (plan, reason) && convolve_border_accepts_pixels (plan, reason);
}

void
convolve_border_top_floats (const ConvolvePlan *plan, ConvolveTopFloats *floats)
{
  const int shift = plan->pixel.shift;

  floats->lower = 0xffff << shift & 0xffff;
  floats->above = CONVOLVE_2_23_BITS >> (16 - shift);
  floats->down = 16 + shift;
  floats->unit = (float) (1 << shift);
  floats->base = -CONVOLVE_2_23 * floats->unit;
}

typedef bool (*ChooseTail) (const ConvolvePlan *plan, ConvolveIntegerTail *tail, const char **reason);

static bool
accepts_tail (const ConvolvePlan *plan, ChooseTail choose, ConvolveFound *found, const char **reason)
{
  ConvolveIntegerTail tail;

  if (!convolve_border_accepts (plan, reason) || !choose (plan, &tail, reason))
    return false;
  return convolve_found_copy (found, &tail, sizeof (tail), reason);
}

bool
convolve_border_accepts_integers (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  return accepts_tail (plan, convolve_integer_tail_choose, found, reason);
}

bool
convolve_border_accepts_deep (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  return accepts_tail (plan, convolve_deep_tail_choose, found, reason);
}

void
convolve_border_pairs (const int *row, int side, int *even, int *odd)
{
  memset (even, 0, (side + 1) / 2 * sizeof (*even));
  memset (odd, 0, (side + 1) / 2 * sizeof (*odd));
  for (int i = 0; i < side; i++) {
    unsigned tap = row[i] & 0xffff;

    even[i / 2] |= (int) (tap << i % 2 * 16);
    odd[(i + 1) / 2] |= (int) (tap << (i + 1) % 2 * 16);
  }
}
