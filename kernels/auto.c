/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of auto among the variants that can do a mask: the first row of the table that pays. All of it is read from
 * the tables in tests/results/.
 */
#include "auto.h"

#include "cuda/fft.h"

/* Up to these sizes the tables in tests/results/ have constant in front: loading tiles does not pay. */
bool
convolve_pays_beyond_3x3 (const ConvolvePlan *plan)
{
  return plan->taps.width * plan->taps.height > 9;
}

bool
convolve_pays_beyond_5x5 (const ConvolvePlan *plan)
{
  return plan->taps.width * plan->taps.height > 25;
}

/*
 * What is faster depends on the plane: in a small one each block is waited for, in a large one all units are at work.
 * The rules are from the tables in tests/results/, for planes of frames of 1080p, 4K and 8K; between two of these the
 * limit is half way.
 */
typedef enum
{
  SMALL,
  MIDDLE,
  LARGE
} Extent;

static Extent
extent_of (const ConvolvePlan *plan)
{
  int64_t frame = plan->pixels * (plan->pixel.samples == 2 ? 4 : 1); /* pairs are chroma, of half its sides */

  return frame == 0 ? MIDDLE : frame <= 1 << 22 ? SMALL : frame <= 1 << 24 ? MIDDLE : LARGE;
}

static bool
is_small (const ConvolvePlan *plan)
{
  return extent_of (plan) == SMALL;
}

static int
larger_side (const ConvolvePlan *plan)
{
  return plan->taps.width > plan->taps.height ? plan->taps.width : plan->taps.height;
}

static bool
is_single_byte (const ConvolvePlan *plan)
{
  return plan->pixel.type == CONVOLVE_SAMPLE_U8 && plan->pixel.samples == 1;
}

/* Up to this side alone, unless tensor cannot do the mask. */
static bool
pays_up_to (const ConvolvePlan *plan, int side)
{
  const char *reason;

  return larger_side (plan) <= side || !convolve_accepts_tensor (plan, &reason);
}

/* Before it comes packed, after it tensor-separable, or tensor for small planes of single bytes. */
bool
convolve_pays_packed_separable (const ConvolvePlan *plan)
{
  int samples = plan->pixel.samples, side = larger_side (plan);

  if (is_small (plan))
    return samples == 2 ? pays_up_to (plan, 7) : side > 5 && (samples > 2 || pays_up_to (plan, 5));
  return samples == 1 ? side > 3 : samples == 2 || pays_up_to (plan, 7);
}

/* For what integers cannot do: with those packed or packed-separable is faster. */
bool
convolve_pays_fused (const ConvolvePlan *plan)
{
  const char *reason;

  if (is_small (plan) && plan->pixel.type == CONVOLVE_SAMPLE_U16 && larger_side (plan) <= 5)
    return !convolve_accepts_direct (plan, &reason);
  if (is_small (plan) && is_single_byte (plan) && !pays_up_to (plan, 3))
    return false;
  return !convolve_accepts_packed_separable (plan, &reason);
}

bool
convolve_pays_packed (const ConvolvePlan *plan)
{
  static const int single[] = { [SMALL] = 5, [MIDDLE] = 7, [LARGE] = 5 };

  if (plan->pixel.samples == 1)
    return pays_up_to (plan, single[extent_of (plan)]);
  return pays_up_to (plan, plan->pixel.samples == 2 && !is_small (plan) ? 9 : 7);
}

bool
convolve_pays_direct (const ConvolvePlan *plan)
{
  if (is_small (plan) && plan->pixel.type == CONVOLVE_SAMPLE_U16)
    return pays_up_to (plan, 7);
  return pays_up_to (plan, is_small (plan) && is_single_byte (plan) ? 3 : 5);
}

/* Where fused has registers enough, it is twice as fast; and tensor is, for bytes, up to 15x15. */
bool
convolve_pays_fused_tiled (const ConvolvePlan *plan)
{
  int side = larger_side (plan);

  return side > (plan->pixel.type == CONVOLVE_SAMPLE_U8 ? 15 : CONVOLVE_DIRECT_SIDE)
      || (side > CONVOLVE_DIRECT_SIDE && pays_up_to (plan, CONVOLVE_DIRECT_SIDE));
}

/*
 * Transforms are the same work for every mask. From these sides on they are faster than tensor, by the tables in
 * tests/results/, and from far smaller ones on where tensor cannot do the mask; doubles pay only where the device is
 * made for them.
 */
bool
convolve_pays_fft (const ConvolvePlan *plan)
{
  bool deep = plan->pixel.type == CONVOLVE_SAMPLE_U16, wide;
  const char *reason;
  int side;

  if (!convolve_fft_choose (plan, &wide, &reason) || (wide && convolve_device_double_ratio (plan->device) > 2))
    return false;
  if (plan->taps.row)
    side = 65;
  else if (!convolve_accepts_tensor (plan, &reason))
    side = 25;
  else if (deep)
    side = wide ? 57 : 27;
  else
    side = !wide ? 49 : plan->exact ? 85 : 65;
  return plan->taps.width * plan->taps.height >= side * side;
}

/* Products of a column and a row are less work in two passes once they are this large. */
bool
convolve_pays_tensor (const ConvolvePlan *plan)
{
  return (!plan->taps.row || plan->taps.width * plan->taps.height <= 63 * 63) && !convolve_pays_fft (plan);
}

/* The side from which on transforms are faster than tensor-separable, if at all. */
static int
fft_before_separable (const ConvolvePlan *plan)
{
  const char *reason;
  bool wide;

  if (plan->taps.row)
    return plan->pixel.stride == 1 ? 160 : 85;
  return convolve_fft_choose (plan, &wide, &reason) && wide ? 140 : 80;
}

/* The side up to which others are faster for a mask of rank 1, by the tables in tests/results/. */
static int
before_tensor_separable (const ConvolvePlan *plan)
{
  static const int words[] = { [SMALL] = 5, [MIDDLE] = 9, [LARGE] = 7 };
  static const int single[] = { [SMALL] = 9, [MIDDLE] = 7, [LARGE] = 5 };
  const char *reason;
  bool small = is_small (plan), integers = convolve_accepts_packed_separable (plan, &reason);

  if (plan->pixel.type == CONVOLVE_SAMPLE_U16)
    return words[extent_of (plan)];
  if (plan->pixel.samples == 1)
    return integers ? 9 : single[extent_of (plan)];
  if (plan->pixel.samples == 2)
    return integers ? (small ? 7 : 9) : small ? 5 : 7;
  return integers ? 7 : small ? 5 : 3;
}

/* Where it is faster than those, than transforms, and for more than one product than tensor. */
bool
convolve_pays_tensor_separable (const ConvolvePlan *plan)
{
  int side = larger_side (plan);

  if (side > fft_before_separable (plan) && convolve_pays_fft (plan))
    return false;
  return side > (plan->taps.row ? before_tensor_separable (plan) : 15);
}

/*
 * The side up to which others are faster than tensor-fused, by the same tables; pixels of 4 samples are better taken
 * apart in shared memory, and deep ones with rounded weights need more registers than there are.
 */
bool
convolve_pays_tensor_fused (const ConvolvePlan *plan)
{
  static const int single[] = { [SMALL] = 5, [MIDDLE] = 7, [LARGE] = 7 };
  static const int pairs[] = { [SMALL] = 5, [MIDDLE] = 5, [LARGE] = 7 };
  const Extent extent = extent_of (plan);
  const char *reason;
  int side = larger_side (plan);

  if (plan->pixel.samples > 2)
    return plan->pixel.samples == 3;
  if (plan->pixel.type == CONVOLVE_SAMPLE_U16)
    return extent == SMALL ? side > 5 && side <= 17 : plan->exact && side > 5;
  if (extent == LARGE && !plan->exact && side > 17)
    return false;
  if (!convolve_accepts_packed_separable (plan, &reason))
    return side > 3;
  return side > (plan->pixel.samples == 1 ? single : pairs)[extent];
}

/*
 * The side from which on it is faster than products, by the table in tests/results/: its time hardly depends on that.
 * Samples with something between them take it longer.
 */
bool
convolve_pays_box (const ConvolvePlan *plan)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const Extent extent = extent_of (plan);
  const int side = larger_side (plan);

  if (pixel->stride != pixel->samples * convolve_sample_size (pixel->type) || pixel->swapped)
    return side > (extent == SMALL ? 63 : 51);
  if (pixel->type == CONVOLVE_SAMPLE_U16)
    return side > (extent == SMALL ? 63 : 17);
  return side > (pixel->samples > 2 || extent == LARGE ? 33 : 65);
}
