/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_fft.h"

#include <math.h>

#include "support/random.h"
#include "cuda/fourier/fft.h"

/* A single part is the tap. Two are integers, the lower no larger than the unit needs. */
static bool
is_taken_apart (const ConvolvePlan *plan, const ConvolveFft *fft)
{
  for (int i = 0; i < plan->taps.width * plan->taps.height; i++) {
    double tap = plan->taps.double_taps[i], upper = convolve_fft_part (fft, tap, 0);
    double lower = convolve_fft_part (fft, tap, 1);

    if (fft->unit == 0 ? upper != tap
                       : upper * fft->unit + lower != tap || upper != floor (upper) || lower != floor (lower)
                || fabs (lower) > fft->unit / 2)
      return false;
  }
  return true;
}

static int
check_plan (const ConvolvePlan *plan, FILE *file)
{
  const char *reason = "its parts are wrong";
  ConvolveFft fft;
  bool accepted = convolve_fft_choose (plan, &fft, &reason);

  if (accepted ? is_taken_apart (plan, &fft) && (fft.is_double || !plan->integers) && (fft.unit == 0 || plan->integers)
               : !plan->integers)
    return 0;
  fprintf (file, "FAILED fft: a mask of %dx%d with %d bits: %s\n", plan->taps.width, plan->taps.height,
      plan->pixel.depth, reason);
  return 1;
}

/* Fractions without order; every third mask has a heavy centre, which needs longer integers. */
int
check_fft (uint64_t seed, int masks, FILE *file)
{
  static const int sides[] = { 3, 9, 31, 63, 127, 255 };
  int failures = 0;

  for (int n = 0; n < masks; n++) {
    const int side = sides[n % 6], depth = 8 + n / 6 % 5 * 2;
    ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
      .depth = depth,
      .samples = 1,
      .stride = depth == 8 ? 1 : 2,
      .select = 1 };
    ConvolvePlan *plan = NULL;
    CheckRandom random;
    ConvolveMask mask;

    check_random_init (&random, seed, 0xff7 + n);
    if (convolve_mask_init (&mask, side, side)) {
      for (int i = 0; i < side * side; i++)
        mask.taps[i] = check_random_unit (&random);
      mask.taps[side * side / 2] += n % 3 == 0 ? side * side : 0;
      mask.divisor = side * side;
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu-reference", NULL, NULL);
    }
    failures += plan ? check_plan (plan, file) : 1;
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  return failures;
}
