/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_tensor.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/check_mask.h"
#include "cuda/tensor.h"

enum
{
  GROUP = CONVOLVE_TENSOR_GROUP,
  SEGMENT = CONVOLVE_TENSOR_SEGMENT,
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
 * sums[n] becomes the sum of digit d for output n, by way of the bands. The right operand of mma.m16n8k32 lies in the
 * lanes as the PTX manual says: lane 4 n + k % 16 / 4 has row k of column n in byte k % 4 of register k / 16.
 */
static void
multiply (const Trial *trial, int d, double *sums)
{
  int width = trial->mask->width, height = trial->mask->height, segments = convolve_tensor_segments (width), band = 0;

  memset (sums, 0, GROUP * sizeof *sums);
  for (int u = 0; u < segments; u += 2) {
    bool two_segments = u + 1 < segments; /* of one row; otherwise one segment of two rows */

    for (int j = 0; j < height; j += two_segments ? 1 : 2, band++)
      for (int k = 0; k < 2 * SEGMENT; k++)
        for (int n = 0; n < GROUP; n++) {
          int half = k / SEGMENT, lane = 4 * n + k % SEGMENT / 4;
          uint32_t word = convolve_tensor_word (trial->plan, &trial->digits, band, d, lane, half);
          int tap = (int8_t) (word >> k % 4 * 8);

          sums[n] += (double) tap
              * (two_segments ? window_at (trial, SEGMENT * u + k, j)
                              : window_at (trial, SEGMENT * u + k % SEGMENT, j + half));
        }
  }
}

/* The total of each output, put together from the sums of its digits, is the definition's sum of integers. */
static int
check_bands (const Trial *trial)
{
  int width = trial->mask->width, height = trial->mask->height;
  double totals[GROUP] = { 0 }, sums[GROUP], weight = 1;

  for (int d = 0; d < trial->digits.count; d++, weight *= 256) {
    multiply (trial, d, sums);
    for (int n = 0; n < GROUP; n++) {
      if (fabs (sums[n]) >= 2147483648.0 * (trial->most > 255 ? 256 : 1))
        return fail (trial, "a digit's sum", sums[n], 0);
      totals[n] += weight * sums[n];
    }
  }
  for (int n = 0; n < GROUP; n++) {
    double expected = 0;

    for (int k = 0; k < width * height; k++)
      expected += round (trial->plan->taps.double_taps[k] / trial->digits.quantum)
          * trial->samples[k / width * (GROUP + width - 1) + k % width + n];
    if (totals[n] != expected)
      return fail (trial, "a sum made with the bands", totals[n], expected);
    if (trial->digits.total_fits && fabs (expected) >= 2147483648.0)
      return fail (trial, "a total that has to fit 32 bits", expected, 0);
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
  float value;

  for (int k = 0; k < count; k++) {
    double tap = trial->mask->taps[k] / trial->mask->divisor;
    double integer = round (plan->taps.double_taps[k] / digits->quantum);
    double error = plan->exact ? 0 : integer * digits->quantum - tap;
    int sample = (error > 0) == upper ? trial->most : 0;

    sum += (long double) trial->mask->taps[k] / trial->mask->divisor;
    exact += (long double) trial->mask->taps[k] / trial->mask->divisor * sample;
    for (int d = 0; d < digits->count; d++)
      sums[d] +=
          (double) sample * convolve_tensor_digit (plan, digits, d, k % trial->mask->width, k / trial->mask->width);
  }
  exact += zero - zero * sum + plan->tail.maximum * 0.5L; /* 0.5: the offset of all masks of this check */

  value = (float) sums[digits->count - 1];
  for (int d = digits->count - 2; d >= 0; d--)
    value = fmaf (value, 256, (float) sums[d]);
  value = fmaf (value, digits->tail.scale_f, digits->tail.offset_f[0]) - 0.5F;
  /* Values outside the range of samples are clamped. The plan rounds the offset to 1/256, half of which is 1/512. */
  if (exact < -1 || exact > trial->most + 1 || plan->exact)
    return 0;
  if (fabsl (value - exact) > budget + 1.0 / 512)
    return fail (trial, "the worst value", value, (double) exact);
  return 0;
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
  trial.plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &with_offset, "cpu", NULL, NULL);
  trial.samples = malloc (count * sizeof *trial.samples);
  if (!trial.plan || !trial.samples) {
    fprintf (file, "FAILED tensor digits: out of memory\n");
    failures = 1;
  } else if (convolve_tensor_choose (trial.plan, &trial.digits, &reason)) {
    for (int i = 0; i < count; i++)
      trial.samples[i] = check_random_one_in (random, 2) ? trial.most : check_random_range (random, 0, trial.most);
    failures = check_bands (&trial) + check_error (&trial, false) + check_error (&trial, true);
  } else if (!reason) {
    failures = fail (&trial, "the reason of a refusal", 0, 1);
  } else if (trial.plan->exact && mask->mask.width * mask->mask.height <= MOST_FITTING_TAPS) {
    failures = fail (&trial, "a refusal of integer taps", 1, 0);
  }
  free (trial.samples);
  convolve_plan_unref (trial.plan);
  return failures;
}

int
check_tensor_digits (uint64_t seed, int masks, FILE *file)
{
  static const int depths[] = { 8, 10, 12, 16 };
  int failures = 0;

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
