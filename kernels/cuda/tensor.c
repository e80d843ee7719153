/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Taps as limbs for tensor: how many are needed, with the proof, and the banded operands made of them. */
#include "cuda/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/integer_tail.h"
#include "cuda/accepts.h"

#define FLOAT_UNIT (1.0 / 16777216.0) /* the relative error of one float operation */
#define INT_LIMIT 2147483648.0

/* The largest integer whose limbs are all within -127 .. 127. */
static const double largest[CONVOLVE_MAX_LIMBS + 1] = { 0, 127, 127 * 257, 127 * 65793 };

/* Limb l of an integer, each -128 .. 127. */
static int
limb_of (int integer, int l)
{
  int limb = 0;

  for (int i = 0; i <= l; i++) {
    limb = ((integer + 128) & 255) - 128;
    integer = (integer - limb) / 256;
  }
  return limb;
}

/* The tap as a multiple of step; fits all limbs. */
static int
integer_of (const ConvolvePlan *plan, double step, int at)
{
  return (int) lround (plan->taps.wide_taps[at] / step);
}

int
convolve_tensor_limb (const ConvolvePlan *plan, const ConvolveLimbs *limbs, int l, int i, int j)
{
  return limb_of (integer_of (plan, limbs->step, j * plan->taps.width + i), l);
}

/*
 * Whether this many limbs of this step will do. A tensor core's sum for limb l is exact in 32 bits; for deep samples
 * it takes limb l by the samples' low bytes and limb l - 1 by their high bytes.
 *
 * Where taps are not integers, with e the taps' errors and M the largest sample: the error of a sum lies in
 * M * (sum of the negative e) .. M * (sum of the positive e). The middle of that is known and goes into the offset;
 * what is left is at most M/2 * sum |e|. Then each limb's sum is rounded to float, and once more for each limb as
 * they are added up, all relative to magnitude = M * step * sum |limb| * 256^l at most, and so is the rounding
 * of step; the product and sum of the tail add what common/taps.c counts for any tail. A quarter of the budget is
 * left to the taps' own rounding to float.
 */
static bool
try_limbs (const ConvolvePlan *plan, int count, double step, ConvolveLimbs *limbs)
{
  const int taps = plan->taps.width * plan->taps.height;
  const double maximum = plan->tail.maximum, budget = plan->pixel.depth == 8 ? 1.0 / 64 : 0.5;
  double sums[CONVOLVE_MAX_LIMBS + 1] = { 0 }, total = 0, magnitude = 0, below = 0, above = 0, offset = 0, middle;

  for (int k = 0; k < taps; k++) {
    int integer = integer_of (plan, step, k);
    double error = integer * step - plan->taps.wide_taps[k], weight = step;

    for (int l = 0; l < count; l++, weight *= 256) {
      sums[l] += abs (limb_of (integer, l));
      magnitude += abs (limb_of (integer, l)) * weight * maximum;
    }
    total += abs (integer);
    below += error < 0 ? error : 0;
    above += error > 0 ? error : 0;
  }
  if (plan->pixel.type == CONVOLVE_SAMPLE_U16)
    for (int l = count; l > 0; l--)
      sums[l] += sums[l - 1];
  for (int l = 0; l <= count; l++)
    if (sums[l] * 255 >= INT_LIMIT)
      return false;

  limbs->count = count;
  limbs->step = step;
  limbs->fits = total * maximum < INT_LIMIT;
  limbs->tail = plan->tail;
  if (plan->exact)
    return true;

  middle = maximum * (below + above) / 2;
  limbs->tail.scale = step;
  limbs->tail.scale_f = (float) step;
  for (int i = 0; i < plan->pixel.samples; i++) {
    limbs->tail.offset[i] = plan->tail.offset[i] - middle;
    limbs->tail.offset_f[i] = (float) limbs->tail.offset[i];
    offset = fmax (offset, fabs (limbs->tail.offset[i]));
  }
  return maximum * (above - below) / 2 * 1.0001 + magnitude * (2 * count + 3) * FLOAT_UNIT
      + 4 * (maximum + 2 + offset) * FLOAT_UNIT
      <= budget * 3 / 4;
}

bool
convolve_tensor_choose (const ConvolvePlan *plan, ConvolveLimbs *limbs, const char **reason)
{
  const int taps = plan->taps.width * plan->taps.height;
  double peak = 0, gain = 0;

  if (plan->wide_sums) {
    *reason = "the sums need double precision";
    return false;
  }
  for (int k = 0; k < taps; k++)
    peak = fmax (peak, fabs (plan->taps.wide_taps[k])), gain += fabs (plan->taps.wide_taps[k]);
  for (int count = 1; count <= CONVOLVE_MAX_LIMBS; count++) {
    double fine = peak > 0 ? peak / largest[count] : 1;
    double coarse = gain * plan->tail.maximum / (INT_LIMIT - 256.0 * 65536); /* so that the sum is whole */

    if (plan->exact ? peak <= largest[count] && try_limbs (plan, count, 1, limbs)
                    : (coarse > fine && try_limbs (plan, count, coarse, limbs)) || try_limbs (plan, count, fine, limbs))
      return true;
  }
  *reason = "the weights need more than three bytes each, or their sum more than 32 bits";
  return false;
}

size_t
convolve_tensor_shared_size (const ConvolvePlan *plan)
{
  return (size_t) convolve_tensor_tile_rows (plan->taps.height) * convolve_tensor_pitch (plan->taps.width)
      * convolve_sample_size (plan->pixel.type);
}

/*
 * The operand is the window's samples down and the 8 outputs across: output n has tap i at sample n + i, counted from
 * where the mask's reach begins. A lane holds column lane / 4, in its word h the rows 16 h + 4 (lane % 4) and the three
 * below.
 */
uint32_t
convolve_tensor_word (const ConvolvePlan *plan, const ConvolveLimbs *limbs, int s, int l, int lane, int h)
{
  int width = plan->taps.width, height = plan->taps.height, units = convolve_tensor_units (width);
  int pair = s / height, row = pair < units / 2 ? s % height : 2 * (s - pair * height) + h;
  int unit = pair < units / 2 ? 2 * pair + h : units - 1;
  int first = unit * CONVOLVE_TENSOR_UNIT + lane % 4 * 4 - lane / 4 - (convolve_tensor_radius (width) - width / 2);
  uint32_t word = 0;

  for (int b = 0; b < 4 && row < height; b++)
    if (first + b >= 0 && first + b < width)
      word |= (uint32_t) (convolve_tensor_limb (plan, limbs, l, first + b, row) & 255) << 8 * b;
  return word;
}

static bool
accepts (const ConvolvePlan *plan, void **found, const char **reason)
{
  ConvolveLimbs limbs = { .count = 0 };
  const char *unused;

  *reason = CONVOLVE_NEEDS_8_0;
  if (convolve_device_capability (plan->device) < 80)
    return false;
  *reason = CONVOLVE_NEEDS_SHARED;
  if (convolve_tensor_shared_size (plan) > convolve_device_shared_limit (plan->device)
      || !convolve_tensor_choose (plan, &limbs, reason))
    return false;
  limbs.integers =
      limbs.count == 1 && limbs.step == 1 && convolve_integer_tail_choose (plan, &limbs.integer_tail, &unused);
  *reason = "no memory";
  *found = malloc (sizeof (limbs));
  if (*found)
    memcpy (*found, &limbs, sizeof (limbs));
  return *found;
}

/* Puts all operands on the device: [step][limb][lane][h]. */
static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveLimbs *limbs = plan->prepared;
  const int steps = convolve_tensor_steps (plan->taps.width, plan->taps.height), n = limbs->count;
  /* One step is read ahead. */
  uint32_t *words = calloc ((size_t) (steps + 1) * n * 64, sizeof (uint32_t));
  size_t count = 0;
  ConvolveStatus status;

  if (!words)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", plan->taps.width,
        plan->taps.height);
  for (int s = 0; s < steps; s++)
    for (int l = 0; l < n; l++)
      for (int i = 0; i < 64; i++)
        words[count++] = convolve_tensor_word (plan, limbs, s, l, i / 2, i % 2);
  status = convolve_device_put (plan->device, words, (count + n * 64) * sizeof (*words), &plan->device_memory, error);
  free (words);
  return status;
}

const ConvolveVariant convolve_variant_tensor = {
  .name = "tensor",
  .number = 9,
  .idea = "rows of the mask as banded matrices of bytes on the integer tensor cores",
  .accepts = accepts,
  .prepare = prepare,
  CONVOLVE_ON_DEVICE (tensor),
};
