/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_tensor.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/check_mask.h"
#include "common/tail.h"
#include "cuda/tensor/tensor.h"

enum
{
  GROUP = CONVOLVE_TENSOR_GROUP,
  SEGMENT = CONVOLVE_TENSOR_SEGMENT,
  SUMS = CONVOLVE_TENSOR_MAX_DIGITS + 1,
  MOST_FITTING_TAPS = 16384 /* so many digits of 128, twice, times bytes of 255 stay inside 32 bits */
};

typedef struct
{
  ConvolvePlan *plan;
  const ConvolveMask *mask;
  ConvolveTensorDigits digits;
  int most;     /* the largest sample */
  int *samples; /* the input of one group of outputs: as many rows as the mask, of GROUP + width - 1 samples each */
  FILE *file;
} Trial;

static int
fail (const Trial *trial, const char *what, double got, double expected)
{
  fprintf (trial->file,
      "FAILED tensor digits: %s is %.17g, not %.17g: mask %dx%d, divisor %.17g, samples 0 to %d, "
      "%d digits\n",
      what, got, expected, trial->mask->width, trial->mask->height, trial->mask->divisor, trial->most,
      trial->digits.count);
  return 1;
}

/*
 * Sample i of the window's row j. The window is longer than the input of the group at both ends and may be a row
 * higher. Such places hold arbitrary numbers, which the bands have to multiply by 0.
 */
static int
window_at (const Trial *trial, int i, int j)
{
  int width = trial->mask->width, first_tap = convolve_tensor_lead (width) - width / 2;

  if (j >= trial->mask->height || i < first_tap || i >= first_tap + GROUP + width - 1)
    return trial->most & (1000003 * (i + 7 * j));
  return trial->samples[j * (GROUP + width - 1) + i - first_tap];
}

/*
 * Adds to sums[n] the sum of digit d times byte `plane` of the samples for output n, by way of the bands. The right operand
 * of mma.m16n8k32 lies in the lanes as the PTX manual says: lane 4 n + k % 16 / 4 has row k of column n in byte k % 4 of
 * register k / 16.
 */
static void
multiply (const Trial *trial, int d, int plane, double *sums)
{
  int width = trial->mask->width, height = trial->mask->height, segments = convolve_tensor_segments (width), band = 0;

  for (int u = 0; u < segments; u += 2) {
    bool two_segments = u + 1 < segments; /* of one row; otherwise one segment of two rows */

    for (int j = 0; j < height; j += two_segments ? 1 : 2, band++)
      for (int k = 0; k < 2 * SEGMENT; k++)
        for (int n = 0; n < GROUP; n++) {
          int half = k / SEGMENT, lane = 4 * n + k % SEGMENT / 4;
          uint32_t word = convolve_tensor_word (trial->plan, &trial->digits, band, d, lane, half);
          int tap = (int8_t) (word >> k % 4 * 8);
          int sample = two_segments ? window_at (trial, SEGMENT * u + k, j)
                                    : window_at (trial, SEGMENT * u + k % SEGMENT, j + half);

          sums[n] += (double) tap * (sample >> 8 * plane & 255);
        }
  }
}

/* The low 32 bits of an integer, as the matrix products leave them. */
static int
low_bits (double integer)
{
  return (int) (uint32_t) (uint64_t) (int64_t) integer;
}

static int
clamp (int value, int least, int most)
{
  return value < least ? least : value > most ? most : value;
}

/* The sample that the sums of output n become by integers or by doubles, as the kernel makes it. */
static unsigned
finish (const Trial *trial, double (*sums)[GROUP], int n)
{
  const ConvolveTensorDigits *digits = &trial->digits;
  const ConvolvePixel *pixel = &trial->plan->pixel;
  double total = 0;
  int value;

  if (digits->finish == CONVOLVE_TENSOR_DOUBLES) {
    for (int s = SUMS - 1; s >= 0; s--)
      total = total * 256 + sums[s][n];
    return convolve_tail_double (&digits->tail, 0, total);
  }
  value = convolve_tensor_shifted (digits->finish == CONVOLVE_TENSOR_WIDE_SHIFT, low_bits (sums[0][n]),
      low_bits (sums[1][n]), low_bits (sums[2][n]), low_bits (sums[3][n]), digits->start[0], digits->shift);
  if (pixel->type == CONVOLVE_SAMPLE_U8)
    return (unsigned) clamp (value, -128, 127) + 128;
  return ((unsigned) clamp (value, -32768, 32767) + 32768) >> convolve_places_of (pixel).fraction;
}

/* The sums of output n give the sample of the plan's arithmetic. expected is the sum of taps times samples. */
static int
check_finish (const Trial *trial, double (*sums)[GROUP], int n, double expected)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  unsigned right, got;

  if (arithmetic->kind != CONVOLVE_ARITHMETIC_ONE_STEP)
    return 0;
  right = convolve_finish_sum (arithmetic, trial->plan->pixel.depth, 0, (int64_t) expected);
  got = finish (trial, sums, n);
  return got == right ? 0 : fail (trial, "a sample of one step", got, right);
}

/* A number with the remainder of `integer` by 256, and otherwise arbitrary: what of it a sum of digits may take. */
static int64_t
part_of (int64_t integer, CheckRandom *random)
{
  return (integer & 255) + 256 * (int64_t) check_random_range (random, -10000, 10000);
}

/* The first total of a value, and the last total of the value before, in any sums of digits that give them. */
static int
check_edges (const Trial *trial, CheckRandom *random)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  const ConvolveTaps *taps = &trial->plan->taps;
  double below = 0, above = 0;
  int failures = 0;

  for (int k = 0; k < taps->width * taps->height; k++)
    *(taps->double_taps[k] < 0 ? &below : &above) += taps->double_taps[k] * trial->most;
  for (int i = 0; i < 40 && arithmetic->kind == CONVOLVE_ARITHMETIC_ONE_STEP; i++) {
    int64_t value = check_random_range (random, -2, trial->most + 2);
    int64_t total = value * ((int64_t) 1 << arithmetic->bits) - arithmetic->start[0] - i % 2, rest = total, part;
    double sums[SUMS][GROUP] = { { 0 } };

    for (int s = 0; s < 2; s++, rest = (rest - part) / 256) {
      part = part_of (rest, random);
      sums[s][0] = (double) part;
    }
    sums[2][0] = (double) rest;
    if ((double) total >= below && (double) total <= above)
      failures += check_finish (trial, sums, 0, (double) total);
  }
  return failures;
}

/*
 * The total of each output, put together from the sums of its digits, is the definition's sum of integers. Sums that are
 * used one by one fit 32 bits.
 */
static int
check_bands (const Trial *trial)
{
  const ConvolveTensorDigits *digits = &trial->digits;
  int width = trial->mask->width, height = trial->mask->height;
  double sums[SUMS][GROUP] = { { 0 } };

  for (int d = 0; d < digits->count; d++)
    for (int plane = 0; plane < (trial->most > 255 ? 2 : 1); plane++)
      multiply (trial, d, plane, sums[d + plane]);
  for (int n = 0; n < GROUP; n++) {
    double expected = 0, total = 0;

    for (int s = SUMS - 1; s >= 0; s--) {
      if (digits->finish != CONVOLVE_TENSOR_SHIFT && fabs (sums[s][n]) >= 2147483648.0)
        return fail (trial, "a digit's sum", sums[s][n], 0);
      total = total * 256 + sums[s][n];
    }
    for (int k = 0; k < width * height; k++)
      expected += round (trial->plan->taps.double_taps[k] / digits->quantum)
          * trial->samples[k / width * (GROUP + width - 1) + k % width + n];
    if (total != expected)
      return fail (trial, "a sum made with the bands", total, expected);
    if (digits->total_fits && fabs (expected) >= 2147483648.0)
      return fail (trial, "a total that has to fit 32 bits", expected, 0);
    if (check_finish (trial, sums, n, expected))
      return 1;
  }
  return 0;
}

/*
 * The worst picture stays within the budget. That picture is white under each tap whose error has one sign, positive
 * where `upper`, and black under the others. The sums go through the tail as in the kernel.
 */
static int
check_error (const Trial *trial, bool upper)
{
  const ConvolveTensorDigits *digits = &trial->digits;
  const ConvolvePlan *plan = trial->plan;
  const int count = trial->mask->width * trial->mask->height;
  double sums[CONVOLVE_TENSOR_MAX_DIGITS] = { 0 }, budget = trial->most == 255 ? 1.0 / 64 : 0.5;
  long double exact = 0, sum = 0, zero = plan->pixel.zero[0];
  double value, total = 0;

  for (int k = 0; k < count; k++) {
    double tap = trial->mask->taps[k] / trial->mask->divisor;
    double integer = round (plan->taps.double_taps[k] / digits->quantum);
    double error = integer * digits->tail.scale - tap;
    int sample = (error > 0) == upper ? trial->most : 0;

    sum += (long double) trial->mask->taps[k] / trial->mask->divisor;
    exact += (long double) trial->mask->taps[k] / trial->mask->divisor * sample;
    total += integer * sample;
    for (int d = 0; d < digits->count; d++)
      sums[d] +=
          (double) sample * convolve_tensor_digit (plan, digits, d, k % trial->mask->width, k / trial->mask->width);
  }
  exact += zero - zero * sum + plan->tail.maximum * 0.5L; /* 0.5: the offset of all masks of this check */

  value = (float) sums[digits->count - 1];
  for (int d = digits->count - 2; d >= 0; d--)
    value = fmaf ((float) value, 256, (float) sums[d]);
  value = fmaf ((float) value, digits->tail.scale_f, digits->tail.offset_f[0]) - 0.5F;
  if (plan->integers)
    value = total * digits->tail.scale + digits->tail.offset[0] - 0.5;
  /* Values outside the range of samples are clamped. The plan rounds the offset to 1/256, half of which is 1/512. */
  if (exact < -1 || exact > trial->most + 1 || plan->arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT)
    return 0;
  if (fabsl (value - exact) > budget + 1.0 / 512)
    return fail (trial, "the worst value", value, (double) exact);
  return 0;
}

/* Whether the plan has integers that the digits hold, which the variant must accept then. */
static bool
has_fitting_integers (const ConvolvePlan *plan)
{
  int count = plan->taps.width * plan->taps.height;
  double peak = 0;

  for (int i = 0; i < count; i++)
    peak = fmax (peak, fabs (plan->taps.double_taps[i]));
  return plan->integers && count <= MOST_FITTING_TAPS
      && (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT
          || ldexp (peak, plan->arithmetic.bits) <= CONVOLVE_LARGEST_OF_3_DIGITS);
}

static int
check_mask (const CheckMask *mask, CheckRandom *random, int depth, FILE *file)
{
  ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
    .depth = depth,
    .samples = 1,
    .stride = depth == 8 ? 1 : 2,
    .select = 1,
    .biased = 1 };
  Trial trial = { .mask = &mask->mask, .most = (1 << depth) - 1, .file = file };
  ConvolveMask with_offset = mask->mask;
  const char *reason = NULL;
  int count = mask->mask.height * (GROUP + mask->mask.width - 1), failures = 0;

  pixel.zero[0] = check_random_range (random, 0, trial.most);
  with_offset.offset = 0.5;
  trial.plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &with_offset, "cpu-reference", NULL, NULL);
  trial.samples = malloc (count * sizeof *trial.samples);
  if (!trial.plan || !trial.samples) {
    fprintf (file, "FAILED tensor digits: out of memory\n");
    failures = 1;
  } else if (convolve_tensor_choose (trial.plan, &trial.digits, &reason)) {
    for (int i = 0; i < count; i++)
      trial.samples[i] = check_random_one_in (random, 2) ? trial.most : check_random_range (random, 0, trial.most);
    failures =
        check_bands (&trial) + check_error (&trial, false) + check_error (&trial, true) + check_edges (&trial, random);
  } else if (!reason) {
    failures = fail (&trial, "the reason of a refusal", 0, 1);
  } else if (has_fitting_integers (trial.plan)) {
    failures = fail (&trial, "a refusal of integer taps", 1, 0);
  }
  free (trial.samples);
  convolve_plan_unref (trial.plan);
  return failures;
}

/* The largest sum that the digits of the taps can give for a white picture, of samples of two bytes. */
static double
largest_sum (const Trial *trial)
{
  const ConvolveTensorDigits *digits = &trial->digits;
  double sums[SUMS] = { 0 }, largest = 0;

  for (int d = 0; d < digits->count; d++)
    for (int k = 0; k < trial->mask->width * trial->mask->height; k++) {
      int digit = convolve_tensor_digit (trial->plan, digits, d, k % trial->mask->width, k / trial->mask->width);

      sums[d] += abs (digit) * 255.0;
      sums[d + 1] += abs (digit) * 255.0;
    }
  for (int s = 0; s < SUMS; s++)
    largest = fmax (largest, sums[s]);
  return largest;
}

/*
 * The largest mask, of nearly equal weights, whose sums of digits are larger than 32 bits hold, or nearly. Such digits are
 * taken only where the sums may overflow, and are refused only where they would.
 */
static int
check_large (int depth, double gain, CheckRandom *random, FILE *file)
{
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U16,
    .depth = depth,
    .samples = 1,
    .stride = 2,
    .select = 1,
    .biased = 1 };
  ConvolveMask mask;
  Trial trial = { .mask = &mask, .most = (1 << depth) - 1, .file = file };
  const char *reason = NULL;
  int failures = 1, count = CONVOLVE_MAX_SIDE * CONVOLVE_MAX_SIDE;

  if (convolve_mask_init (&mask, CONVOLVE_MAX_SIDE, CONVOLVE_MAX_SIDE)) {
    for (int k = 0; k < count; k++)
      mask.taps[k] = 1 + check_random_range (random, 0, 9999) * 1e-6;
    mask.divisor = count / gain;
    trial.plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu-reference", NULL, NULL);
  }
  if (!trial.plan) {
    fprintf (file, "FAILED tensor digits: out of memory\n");
  } else {
    bool taken = convolve_tensor_choose (trial.plan, &trial.digits, &reason);
    bool fits = largest_sum (&trial) < 2147483648.0 || trial.digits.finish == CONVOLVE_TENSOR_SHIFT;

    failures = taken == fits ? 0 : fail (&trial, "whether sums of digits are taken", taken, fits);
  }
  convolve_plan_unref (trial.plan);
  convolve_mask_clear (&mask);
  return failures;
}

int
check_tensor_digits (uint64_t seed, int masks, FILE *file)
{
  static const int depths[] = { 8, 10, 12, 16 };
  CheckRandom large;
  int failures = 0;

  check_random_init (&large, seed, masks);
  for (int depth = 10; depth <= 16; depth += 2)
    for (double gain = 1; gain <= 64; gain *= 4)
      if (depth < 16 || gain < 64) /* there the mask has no integers */
        failures += check_large (depth, gain, &large, file);

  for (int i = 0; i < masks && failures < 4; i++) {
    CheckRandom random;
    CheckMask mask;
    int depth = depths[i % 4];

    check_random_init (&random, seed, i);
    if (!check_mask_random (&mask, &random, (1 << depth) - 1)) {
      fprintf (file, "FAILED tensor digits: out of memory\n");
      failures++;
    } else if (mask.mask.width <= 63) {
      failures += check_mask (&mask, &random, depth, file);
    }
    check_mask_clear (&mask);
  }
  return failures;
}
