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
  OUTPUTS = 8 /* of one product, side by side */
};

typedef struct
{
  ConvolvePlan *plan;
  const ConvolveMask *mask;
  ConvolveLimbs limbs;
  int most;     /* the largest sample */
  int *samples; /* what 8 outputs of one row see: height rows of OUTPUTS + width - 1 */
  FILE *file;
} Trial;

static int
fail (const Trial *trial, const char *what, double got, double expected)
{
  fprintf (trial->file,
      "FAILED limbs: %s is %.17g, not %.17g: mask %dx%d, divisor %.17g, samples to %d, "
      "%d limbs\n",
      what, got, expected, trial->mask->width, trial->mask->height, trial->mask->divisor, trial->most,
      trial->limbs.count);
  return 1;
}

/* Sample i of row j as the products see it: what lies left of the window and right of it must not count. */
static int
window (const Trial *trial, int i, int j)
{
  int width = trial->mask->width, lead = convolve_tensor_radius (width) - width / 2;

  if (j >= trial->mask->height || i < lead || i >= lead + OUTPUTS + width - 1)
    return trial->most & (1000003 * (i + 7 * j));
  return trial->samples[j * (OUTPUTS + width - 1) + i - lead];
}

/* The sums of limb l, through the operands, by what the PTX manual says of mma.m16n8k32 and its second operand. */
static void
multiply (const Trial *trial, int l, double *sums)
{
  int width = trial->mask->width, height = trial->mask->height, units = convolve_tensor_units (width), step = 0;

  memset (sums, 0, OUTPUTS * sizeof *sums);
  for (int u = 0; u < units; u += 2) {
    bool pair = u + 1 < units;

    for (int j = 0; j < height; j += pair ? 1 : 2, step++)
      for (int k = 0; k < 32; k++)
        for (int n = 0; n < OUTPUTS; n++) {
          uint32_t word = convolve_tensor_word (trial->plan, &trial->limbs, step, l, 4 * n + k % 16 / 4, k / 16);
          int tap = (int8_t) (word >> k % 4 * 8), i = 16 * u + (pair ? k : k % 16), row = pair ? j : j + k / 16;

          sums[n] += (double) tap * window (trial, i, row);
        }
  }
}

/* The value before rounding of each output, as the kernel computes it. */
static int
check_operands (const Trial *trial)
{
  int width = trial->mask->width, height = trial->mask->height;
  double totals[OUTPUTS] = { 0 }, sums[OUTPUTS], weight = 1;

  for (int l = 0; l < trial->limbs.count; l++, weight *= 256) {
    multiply (trial, l, sums);
    for (int n = 0; n < OUTPUTS; n++) {
      if (fabs (sums[n]) >= 2147483648.0 * (trial->most > 255 ? 256 : 1))
        return fail (trial, "a limb's sum", sums[n], 0);
      totals[n] += weight * sums[n];
    }
  }
  for (int n = 0; n < OUTPUTS; n++) {
    double expected = 0;

    for (int k = 0; k < width * height; k++)
      expected += round (trial->plan->taps.wide_taps[k] / trial->limbs.step)
          * trial->samples[k / width * (OUTPUTS + width - 1) + k % width + n];
    if (totals[n] != expected)
      return fail (trial, "a sum through the operands", totals[n], expected);
    if (trial->limbs.fits && fabs (expected) >= 2147483648.0)
      return fail (trial, "a sum in 32 bits", expected, 0);
  }
  return 0;
}

/* The samples that make the taps' errors add up, of one sign and of the other, go through the tail as in the kernel. */
static int
check_error (const Trial *trial, bool upper)
{
  const ConvolveLimbs *limbs = &trial->limbs;
  const ConvolvePlan *plan = trial->plan;
  const int count = trial->mask->width * trial->mask->height;
  double limb_sums[CONVOLVE_MAX_LIMBS] = { 0 }, budget = trial->most == 255 ? 1.0 / 64 : 0.5;
  long double exact = 0, sum = 0, zero = plan->pixel.zero[0];
  float value;

  for (int k = 0; k < count; k++) {
    double tap = trial->mask->taps[k] / trial->mask->divisor, used = round (plan->taps.wide_taps[k] / limbs->step);
    double error = plan->exact ? 0 : used * limbs->step - tap;
    int sample = (error > 0) == upper ? trial->most : 0;

    sum += (long double) trial->mask->taps[k] / trial->mask->divisor;
    exact += (long double) trial->mask->taps[k] / trial->mask->divisor * sample;
    for (int l = 0; l < limbs->count; l++)
      limb_sums[l] +=
          (double) sample * convolve_tensor_limb (plan, limbs, l, k % trial->mask->width, k / trial->mask->width);
  }
  exact += zero - zero * sum + plan->tail.maximum * 0.5L; /* the offset that the masks of this check have */

  value = (float) limb_sums[limbs->count - 1];
  for (int l = limbs->count - 2; l >= 0; l--)
    value = fmaf (value, 256, (float) limb_sums[l]);
  value = fmaf (value, limbs->tail.scale_f, limbs->tail.offset_f[0]) - 0.5F;
  /* What lies outside the range is clamped; the offset is rounded to 1/256. */
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
  int count = mask->mask.height * (OUTPUTS + mask->mask.width - 1), failures = 0;

  pixel.zero[0] = check_random_range (random, 0, trial.most);
  with_offset.offset = 0.5;
  trial.plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &with_offset, "cpu", NULL, NULL);
  trial.samples = malloc (count * sizeof *trial.samples);
  if (!trial.plan || !trial.samples) {
    fprintf (file, "FAILED limbs: out of memory\n");
    failures = 1;
  } else if (convolve_tensor_choose (trial.plan, &trial.limbs, &reason)) {
    for (int i = 0; i < count; i++)
      trial.samples[i] = check_random_one_in (random, 2) ? trial.most : check_random_range (random, 0, trial.most);
    failures = check_operands (&trial) + check_error (&trial, false) + check_error (&trial, true);
  } else if (!reason) {
    failures = fail (&trial, "the reason of a refusal", 0, 1);
  } else if (trial.plan->exact && mask->mask.width * mask->mask.height <= 16384) {
    failures = fail (&trial, "a refusal of integer taps", 1, 0);
  }
  free (trial.samples);
  convolve_plan_unref (trial.plan);
  return failures;
}

int
check_limbs (uint64_t seed, int masks, FILE *file)
{
  static const int depths[] = { 8, 10, 12, 16 };
  int failures = 0;

  for (int i = 0; i < masks && failures < 4; i++) {
    CheckRandom random;
    CheckMask mask;
    int depth = depths[i % 4];

    check_random_init (&random, seed, i);
    if (!check_mask_random (&mask, &random, (1 << depth) - 1)) {
      fprintf (file, "FAILED limbs: out of memory\n");
      failures++;
    } else if (mask.mask.width <= 63) {
      failures += check_mask (&mask, &random, depth, file);
    }
    check_mask_clear (&mask);
  }
  return failures;
}
