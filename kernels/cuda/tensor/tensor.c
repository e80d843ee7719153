/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of tensor: how many digits the taps need, with the proof, and the bands made of them. */
#include "cuda/tensor/tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/integer_tail.h"
#include "common/numbers.h"
#include "cuda/device/accepts.h"

#define SAFETY 1.0001 /* covers the rounding of the bounds computed here */

/* By number of digits: the largest integer whose digits are all within -127 .. 127. */
static const double largest[CONVOLVE_TENSOR_MAX_DIGITS + 1] = { 0, 127, 127 * 257, 127 * 65793 };

static int
digit_of (int integer, int d)
{
  int digit = 0;

  for (int i = 0; i <= d; i++) {
    digit = ((integer + 128) & 255) - 128;
    integer = (integer - digit) / 256;
  }
  return digit;
}

/* The nearest integer to tap number k in units of the quantum. */
static int
integer_of (const ConvolvePlan *plan, double quantum, int k)
{
  return (int) lround (plan->taps.double_taps[k] / quantum);
}

int
convolve_tensor_digit (const ConvolvePlan *plan, const ConvolveTensorDigits *digits, int d, int i, int j)
{
  return digit_of (integer_of (plan, digits->quantum, j * plan->taps.width + i), d);
}

/* What the proof needs to know of taps that are written in digits. */
typedef struct
{
  double sums[CONVOLVE_TENSOR_MAX_DIGITS]; /* by digit: its magnitudes, added over all taps */
  double total;                            /* the magnitudes of the integers, added over all taps */
  double magnitude;                        /* quantum * sum of |digit| * 256^d * the largest sample */
  double below, above;                     /* the negative errors of the taps, and the positive ones, added */
} Bounds;

static Bounds
find_bounds (const ConvolvePlan *plan, int count, double quantum)
{
  Bounds bounds = { .total = 0 };

  for (int k = 0; k < plan->taps.width * plan->taps.height; k++) {
    int integer = integer_of (plan, quantum, k);
    double error = integer * quantum - plan->taps.double_taps[k], weight = quantum;

    for (int d = 0; d < count; d++, weight *= 256) {
      bounds.sums[d] += abs (digit_of (integer, d));
      bounds.magnitude += abs (digit_of (integer, d)) * weight * plan->tail.maximum;
    }
    bounds.total += abs (integer);
    bounds.below += error < 0 ? error : 0;
    bounds.above += error > 0 ? error : 0;
  }
  return bounds;
}

/*
 * Whether the sum of each digit stays inside 32 bits, and so is exact. Samples of two bytes need one sum more than taps
 * have digits: sum d adds digit d times the low bytes and digit d - 1 times the high bytes. The last sum has only the
 * second of these, and is no larger than the one before it.
 */
static bool
sums_fit (const ConvolvePlan *plan, int count, const Bounds *bounds)
{
  for (int d = 0; d < count; d++) {
    double digits = bounds->sums[d];

    if (plan->pixel.type == CONVOLVE_SAMPLE_U16 && d > 0)
      digits += bounds->sums[d - 1];
    if (digits * 255 >= CONVOLVE_2_31)
      return false;
  }
  return true;
}

/*
 * Whether `count` digits with this quantum keep the promise of convolve.h. If so, *digits is filled.
 *
 * Only taps that are no integers have an error. With M for the largest sample and e for the error of a tap:
 *  - The error of a sum, from the errors of the taps, lies between M * (the negative e added) and M * (the positive e
 *    added). The middle of this interval is known and goes into the offset; half of the length remains.
 *  - Each digit's sum is rounded to float, and rounded again when the next digit's sum is added; the quantum is rounded
 *    once. All these roundings are relative to at most bounds.magnitude.
 *  - The multiplication and the addition of the tail add what common/taps.c counts for every tail.
 * Three quarters of the budget are for these errors. The fourth quarter is for taps that were rounded to float before.
 */
static bool
try_digits (const ConvolvePlan *plan, int count, double quantum, ConvolveTensorDigits *digits)
{
  const double maximum = plan->tail.maximum;
  const Bounds bounds = find_bounds (plan, count, quantum);
  double largest_offset = 0, middle, quantised, rounded, tail;

  if (!sums_fit (plan, count, &bounds))
    return false;
  digits->count = count;
  digits->quantum = quantum;
  digits->total_fits = bounds.total * maximum < CONVOLVE_2_31;
  digits->finish = CONVOLVE_TENSOR_FLOATS;
  digits->tail = plan->tail;

  middle = maximum * (bounds.below + bounds.above) / 2;
  digits->tail.scale = quantum;
  digits->tail.scale_f = (float) quantum;
  for (int i = 0; i < plan->pixel.samples; i++) {
    digits->tail.offset[i] = plan->tail.offset[i] - middle;
    digits->tail.offset_f[i] = (float) digits->tail.offset[i];
    largest_offset = fmax (largest_offset, fabs (digits->tail.offset[i]));
  }
  quantised = maximum * (bounds.above - bounds.below) / 2 * SAFETY;
  rounded = bounds.magnitude * (2 * count + 3) * CONVOLVE_FLOAT_UNIT;
  tail = 4 * (maximum + 2 + largest_offset) * CONVOLVE_FLOAT_UNIT;
  return quantised + rounded + tail <= convolve_budget (plan) * 3 / 4;
}

/* Of an exact plan: the cheapest arithmetic that is exact. */
static ConvolveTensorFinish
finish_of_exact (const ConvolvePlan *plan, int count, ConvolveIntegerTail *tail)
{
  const char *unused;

  if (count == 1 && convolve_integer_tail_choose (plan, tail, &unused))
    return CONVOLVE_TENSOR_INTEGERS;
  if (!plan->tail.needs_double)
    return CONVOLVE_TENSOR_FLOATS;
  return plan->tail.floor_needs_double ? CONVOLVE_TENSOR_DOUBLES : CONVOLVE_TENSOR_FLOOR;
}

/*
 * Fills start and shift for totals divided by `unit`, which is 1 or 256. False where a total, with its start and
 * without the middle of the samples' range, does not fit 32 bits with a sign then, or where the unit or the fraction
 * takes more bits than there are.
 */
static bool
set_shift (const ConvolvePlan *plan, int unit, ConvolveTensorDigits *digits)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const int count = plan->taps.width * plan->taps.height;
  const int64_t middle = (int64_t) 1 << (plan->pixel.depth - 1) << arithmetic->bits;
  double below = 0, above = 0;

  digits->shift = arithmetic->bits - (unit == 1 ? 0 : 8) - convolve_places_of (&plan->pixel).fraction;
  if (digits->shift < 0 || digits->shift > 31)
    return false;
  for (int k = 0; k < count; k++)
    *(plan->taps.double_taps[k] < 0 ? &below : &above) += plan->taps.double_taps[k] * plan->tail.maximum;
  for (int i = 0; i < plan->pixel.samples; i++) {
    const int64_t start = arithmetic->start[i] - middle;

    if (start % unit || below + (double) start < -CONVOLVE_2_31 * unit
        || above + (double) start >= CONVOLVE_2_31 * unit)
      return false;
    digits->start[i] = (int) (uint32_t) (uint64_t) (start / unit);
  }
  return true;
}

/*
 * Writes integers in `count` digits. Their sum is exact: in 32 bits modulo 2^32, in doubles, or divided by 256. Only
 * the first of these allows the sum of a digit to overflow.
 */
static bool
take_integers (const ConvolvePlan *plan, int count, ConvolveTensorDigits *digits)
{
  const Bounds bounds = find_bounds (plan, count, 1);
  const bool fits = sums_fit (plan, count, &bounds), is_exact = plan->arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT;

  digits->count = count;
  digits->quantum = 1;
  digits->total_fits = bounds.total * plan->tail.maximum < CONVOLVE_2_31;
  digits->tail = plan->tail;
  if (is_exact)
    digits->finish = finish_of_exact (plan, count, &digits->integer_tail);
  else if (set_shift (plan, 1, digits))
    digits->finish = CONVOLVE_TENSOR_SHIFT;
  else if (set_shift (plan, 256, digits))
    digits->finish = CONVOLVE_TENSOR_WIDE_SHIFT;
  else
    digits->finish = CONVOLVE_TENSOR_DOUBLES;
  return fits || digits->finish == CONVOLVE_TENSOR_SHIFT;
}

/*
 * Two quanta are tried for each number of digits: the finest one that the digits can express, and before that, where it
 * is coarser, the finest one with which the total fits 32 bits. 2^24 of the 2^31 are left for taps rounded up: half a
 * quantum, times 255 * 255 taps, times a sample of 8 bits, is less.
 */
static bool
try_quanta (const ConvolvePlan *plan, int count, double peak, double gain, ConvolveTensorDigits *digits)
{
  double fine = peak > 0 ? peak / largest[count] : 1;
  double coarse = gain * plan->tail.maximum / (CONVOLVE_2_31 - 256.0 * 65536);

  return (coarse > fine && try_digits (plan, count, coarse, digits)) || try_digits (plan, count, fine, digits);
}

bool
convolve_tensor_choose (const ConvolvePlan *plan, ConvolveTensorDigits *digits, const char **reason)
{
  const int taps = plan->taps.width * plan->taps.height;
  double peak = 0, gain = 0;

  if (plan->double_sums && !plan->integers) {
    *reason = "the sums need double precision";
    return false;
  }
  for (int k = 0; k < taps; k++)
    peak = fmax (peak, fabs (plan->taps.double_taps[k])), gain += fabs (plan->taps.double_taps[k]);
  for (int count = 1; count <= CONVOLVE_TENSOR_MAX_DIGITS; count++)
    if (plan->integers ? peak <= largest[count] && take_integers (plan, count, digits)
                       : try_quanta (plan, count, peak, gain, digits))
      return true;
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
 * Output n of a group meets tap i at sample first_tap + n + i of the window, where first_tap = lead - radius. So the
 * band has tap i of the mask's row at every place (row first_tap + n + i, column n), and 0 elsewhere. Of the operand
 * of mma.m16n8k32, a lane holds column lane / 4, and in register b0 or b1 (half 0 or 1) the four rows from
 * 16 * half + 4 * (lane % 4) on.
 */
uint32_t
convolve_tensor_word (const ConvolvePlan *plan, const ConvolveTensorDigits *digits, int band, int d, int lane, int half)
{
  const int width = plan->taps.width, height = plan->taps.height, segments = convolve_tensor_segments (width);
  const int first_tap = convolve_tensor_lead (width) - width / 2, output = lane / 4;
  int two_segments = band / height, segment, row, tap;
  uint32_t word = 0;

  if (two_segments < segments / 2) {
    segment = 2 * two_segments + half;
    row = band % height;
  } else {
    segment = segments - 1;
    row = 2 * (band - segments / 2 * height) + half;
  }
  tap = segment * CONVOLVE_TENSOR_SEGMENT + lane % 4 * 4 - output - first_tap;
  for (int b = 0; b < 4 && row < height; b++)
    if (tap + b >= 0 && tap + b < width)
      word |= (uint32_t) (convolve_tensor_digit (plan, digits, d, tap + b, row) & 255) << 8 * b;
  return word;
}

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  ConvolveTensorDigits digits = { .count = 0 };

  *reason = CONVOLVE_NEEDS_8_0;
  if (convolve_device_capability (plan->device) < 80)
    return false;
  *reason = CONVOLVE_NEEDS_SHARED;
  if (convolve_tensor_shared_size (plan) > convolve_device_shared_limit (plan->device)
      || !convolve_tensor_choose (plan, &digits, reason))
    return false;
  found->kernel = digits.count - 1;
  return convolve_found_copy (found, &digits, sizeof (digits), reason);
}

/*
 * Puts all bands on the device, as words [band][digit][lane][half], and one band of zeros after them: the kernel
 * prefetches one band more than the mask has.
 */
static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  enum
  {
    BAND_WORDS = 64 /* 32 lanes with two registers each */
  };
  const ConvolveTensorDigits *digits = plan->prepared;
  const int bands = convolve_tensor_bands (plan->taps.width, plan->taps.height);
  const size_t words_size = (size_t) (bands + 1) * digits->count * BAND_WORDS * sizeof (uint32_t);
  uint32_t *words = calloc (words_size, 1);
  size_t count = 0;
  ConvolveStatus status;

  if (!words)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", plan->taps.width,
        plan->taps.height);
  for (int band = 0; band < bands; band++)
    for (int d = 0; d < digits->count; d++)
      for (int i = 0; i < BAND_WORDS; i++)
        words[count++] = convolve_tensor_word (plan, digits, band, d, i / 2, i % 2);
  status = convolve_device_put (plan->device, words, words_size, &plan->device_memory, error);
  free (words);
  return status == CONVOLVE_OK ? convolve_tensor_load (plan, error) : status;
}

static const char *const kernels[CONVOLVE_TENSOR_MAX_DIGITS] = { "one digit", "two digits", "three digits" };

const ConvolveVariant convolve_variant_tensor = {
  .name = "tensor",
  .kernels = kernels,
  .number = 9,
  .on_device = true,
  .idea = "the rows of the mask as banded matrices of bytes on the integer tensor cores",
  .accepts = accepts,
  .prepare = prepare,
  .run = convolve_tensor_run,
};
