/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a magnitude is rounded: which precision is proved right, and the small correction of the offset.
 *
 * Let N be the sum of squares of an exact plan, a whole number, and p / q the scale. With the base b = zero level +
 * offset + 1/2, the result is the largest r with r <= sqrt (N) * p / q + b. That is t <= sqrt (N) for the threshold
 * t = (r - b) * q / p. b is a multiple of 1 / h for a power of two h up to 512. So t is a fraction whose denominator
 * divides w = h * p / gcd (h, q), and t^2 is a multiple of 1 / w^2.
 *
 * Where sqrt (N) is not equal to t, N and t^2 differ by at least 1 / w^2, and so sqrt (N) and t differ by at least
 *
 *   1 / (w^2 * (sqrt (N) + t)) >= 1 / (w^2 * 2 T)
 *
 * Here sqrt (N) < t is the case that matters, and T is the largest threshold that any result has to be compared with.
 * In code values this gap is g = p / q / (w^2 * 2 T). Half a gap is added to the offset. If all roundings near a
 * threshold add up to less than half a gap, a value on its threshold ends up above, a value below stays below, and
 * truncation is exact. Root, product and sum never decrease when N grows, so values far from a threshold are on the
 * right side, too.
 *
 * An example: sobel with 8 bits has scale 1, b = 1/2, thresholds r - 1/2 and T = 254.5. w is 2, and the gap 1/2036. In
 * single precision the roundings add up to 1/32000 there. With 16 bits the gap is 2^-19, and double is taken. Where
 * even double is not proved, for example with 16 bits and an offset of 1/256, the result is corrected in integers.
 */
#include "common/root.h"

#include <math.h>

#include "common/fraction.h"
#include "common/numbers.h"
#include "common/sets.h"

#define LARGEST_NUMERATOR 4194303.0      /* below 2^22, so that common/root.h computes in 128 bits */
#define LARGEST_DENOMINATOR 1073741823.0 /* below 2^30 */
#define SAFETY 1.01                      /* for the roundings of these bounds themselves */

static double
sum_of (const ConvolveTaps *taps, bool magnitudes)
{
  double sum = 0;

  for (int i = 0; i < taps->width * taps->height; i++)
    sum += magnitudes ? fabs (taps->double_taps[i]) : taps->double_taps[i];
  return sum;
}

/*
 * Finds the largest common factor of all parts' scales, and each part's multiple of it. A part of taps 0 has the
 * multiple 0. False where there is none, or where a part's sums times the multiple reach 2^24.
 */
static bool
find_multiples (const ConvolvePlan *plan, double *multiples, double *factor)
{
  double first = 0, multiple = 1, divisor = 0;
  ConvolveFraction ratios[CONVOLVE_MAX_SETS];

  for (int k = 0; k < plan->n_parts; k++) {
    double scale = fabs (plan->parts[k].tail.scale);

    ratios[k] = (ConvolveFraction){ 0, 1 };
    if (sum_of (&plan->parts[k].taps, true) == 0)
      continue;
    first = first == 0 ? scale : first;
    if (!convolve_fraction_near (scale / first, CONVOLVE_2_24, &ratios[k]))
      return false;
    multiple *= ratios[k].denominator / convolve_common_divisor (multiple, ratios[k].denominator);
    if (multiple > CONVOLVE_2_24)
      return false;
  }
  for (int k = 0; k < plan->n_parts; k++) {
    multiples[k] = ratios[k].numerator * (multiple / ratios[k].denominator);
    divisor = convolve_common_divisor (multiples[k], divisor);
  }
  if (divisor == 0)
    divisor = 1;
  for (int k = 0; k < plan->n_parts; k++) {
    multiples[k] /= divisor;
    if (multiples[k] * sum_of (&plan->parts[k].taps, true) * plan->tail.maximum >= CONVOLVE_2_24)
      return false;
  }
  *factor = first == 0 ? 1 : first / multiple * divisor;
  return true;
}

/* The number, a multiple of 1/512, that is added to a sample's magnitude before the sum is rounded down. */
static double
base_of (const ConvolvePlan *plan, const ConvolveMask *mask, int sample)
{
  return plan->pixel.zero[sample] + convolve_code_offset (plan, mask, sample) + 0.5;
}

static double
largest_root (const ConvolvePlan *plan)
{
  double squares = 0;

  for (int k = 0; k < plan->n_parts; k++) {
    double sum = plan->root.multiple[k] * sum_of (&plan->parts[k].taps, true) * plan->tail.maximum;

    squares += sum * sum;
  }
  return sqrt (squares);
}

/*
 * Bounds the roundings near a threshold, in code values: of the root, of the scale, of their product, which is exact
 * for a power of two, and of the sum, which is at most maximum + 1. That of the offset is known.
 */
static double
rounding_errors (const ConvolveRoot *root, double product, bool single)
{
  double unit = single ? CONVOLVE_FLOAT_UNIT : CONVOLVE_DOUBLE_UNIT, roundings = 1, offset = 0;
  int exponent;

  if (frexp (root->scale, &exponent) != 0.5)
    roundings += single && root->scale_f == root->scale ? 1 : 2;
  for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++) {
    double error = single ? fabs (root->offset_f[i] - root->offset[i]) : fabs (root->offset[i]) * unit;

    offset = error > offset ? error : offset; /* gcc 12 for arm64 fails on fmax () of floats in a loop */
  }
  return SAFETY * (unit * (roundings * product + root->maximum + 1) + offset);
}

/*
 * Bounds the roundings near a threshold of convolve_root_near (): of the root, of the scale, of the sum, and of
 * near_factor, which is 1 unit below maximum + 1.
 */
static double
near_errors (const ConvolveRoot *root, double product)
{
  double offset = 0;

  for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++) {
    double error = fabs (root->offset_f[i] - root->offset[i]);

    offset = error > offset ? error : offset; /* gcc 12 for arm64 fails on fmax () of floats in a loop */
  }
  return SAFETY * (CONVOLVE_FLOAT_UNIT * ((CONVOLVE_NEAR_UNITS + 1) * product + 2 * (root->maximum + 1)) + offset);
}

/* tolerance: how far a value may be from the exact one, in code values. product: the largest root times scale. */
static void
choose_near (ConvolveRoot *root, double product, double tolerance)
{
  root->near_is_right = near_errors (root, product) < tolerance;
  root->near_scale = root->scale_f / (root->maximum + 1);
  root->near_factor = nextafterf (root->maximum + 1, 0);
  for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++)
    root->near_offset[i] = root->offset_f[i] / (root->maximum + 1);
}

/*
 * The guess of convolve_root_pair () is moved down by the largest error of what is rounded down, so that the guess is
 * never too large. With thresholds that are multiples of 1 / halves, the multiple m is halves * numerator, and m times
 * the threshold of r is (halves * r - halves * base) * denominator. All numbers stay below 2^23, so that sums and
 * differences of two are integers below 2^24. The last bound is that of what is left near the threshold, where L is
 * wrong by less than two samples.
 */
static void
choose_pair (ConvolvePlan *plan, double halves, double product)
{
  ConvolveRoot *root = &plan->root;
  double multiple = halves * (double) root->numerator, unit = halves * (double) root->denominator, base = 0;
  double largest = largest_root (plan) * multiple, error;

  for (int i = 0; i < plan->pixel.samples; i++)
    base = fmax (base, fabs ((double) root->base_512[i] / 512));
  error = SAFETY * CONVOLVE_FLOAT_UNIT * ((CONVOLVE_NEAR_UNITS + 3) * product + 5 * (root->maximum + 2 + base));
  root->pair_is_right = plan->n_parts == 2 && error < 0.25 && largest < CONVOLVE_2_24 / 2
      && unit * (root->maximum + 1 + base) < CONVOLVE_2_24 / 2
      && 2 * unit * fmin (largest + 2 * unit, unit * (root->maximum + 1 + base)) < CONVOLVE_2_24 / 4;
  root->pair_multiple = (float) multiple;
  root->pair_scale = (float) (root->scale / multiple / root->maximum);
  root->pair_factor = nextafterf (root->maximum, 0);
  root->pair_unit = (float) unit;
  for (int i = 0; i < plan->pixel.samples; i++) {
    root->pair_offset[i] = (float) (((double) root->base_512[i] / 512 - error) / root->maximum);
    root->pair_base[i] = (float) ((double) root->base_512[i] / 512 * unit);
  }
}

/* Chooses the kind for the scale p / q, and sets the offsets, which are the bases until then. */
static void
choose_kind (ConvolvePlan *plan, ConvolveFraction scale)
{
  ConvolveRoot *root = &plan->root;
  int samples = plan->pixel.samples;
  double halves = 1, lowest = INFINITY, width, threshold, gap;

  for (int i = 0; i < samples; i++) {
    root->base_512[i] = (int64_t) (root->offset[i] * 512);
    halves = fmax (halves, 512 / convolve_common_divisor (512, fabs (root->offset[i]) * 512));
    lowest = fmin (lowest, root->offset[i]);
  }
  root->numerator = (uint64_t) scale.numerator;
  root->denominator = (uint64_t) scale.denominator;
  /* Results have to be compared with the maximum at most, and with the first integer above the largest value. */
  threshold = fmin ((root->maximum - lowest) / root->scale, largest_root (plan) + 1 / root->scale);
  threshold = fmax (threshold, 1);
  width = halves * scale.numerator / convolve_common_divisor (halves, scale.denominator);
  gap = root->scale / (width * width * 2 * threshold);
  for (int i = 0; i < samples; i++) {
    root->offset[i] += gap / 2;
    root->offset_f[i] = (float) root->offset[i];
  }
  if (rounding_errors (root, threshold * root->scale, true) < gap / 2 && threshold * threshold < CONVOLVE_2_24)
    root->kind = CONVOLVE_ROOT_FLOAT;
  else if (rounding_errors (root, threshold * root->scale, false) < gap / 2)
    root->kind = CONVOLVE_ROOT_DOUBLE;
  else
    root->kind = CONVOLVE_ROOT_CORRECTED;
  choose_near (root, threshold * root->scale, gap / 2);
  choose_pair (plan, halves, threshold * root->scale);
}

bool
convolve_root_init (ConvolvePlan *plan, const ConvolveMask *mask)
{
  ConvolveRoot *root = &plan->root;
  ConvolveFraction fraction;
  double factor = 1;
  bool exact = plan->exact && find_multiples (plan, root->multiple, &factor);

  root->kind = CONVOLVE_ROOT_DOUBLE;
  root->maximum = plan->tail.maximum;
  root->scale = exact ? factor : 1;
  for (int k = 0; k < plan->n_parts; k++) {
    if (!exact)
      root->multiple[k] = fabs (plan->parts[k].tail.scale);
    for (int i = 0; i < plan->pixel.samples; i++)
      root->zero[k][i] = sum_of (&plan->parts[k].taps, false) * plan->pixel.zero[i];
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    root->offset[i] = base_of (plan, mask, i);
  if (exact && convolve_fraction_near (factor, LARGEST_DENOMINATOR, &fraction)
      && fraction.numerator <= LARGEST_NUMERATOR) {
    root->scale = fraction.numerator / fraction.denominator;
    root->scale_f = (float) root->scale;
    choose_kind (plan, fraction);
  } else if (exact) {
    /* A long fraction: nothing is proved but that a value on its threshold ends up above. */
    double error = rounding_errors (root, root->maximum + 1, false);

    for (int i = 0; i < plan->pixel.samples; i++)
      root->offset[i] += error;
  } else {
    /*
     * Devices keep half of the promise for the root where the sets take the other half. The product is doubled for the
     * roundings of the values before they are squared: less the sum at the zero level, and scaled.
     */
    double product = root->maximum + 1;

    root->scale_f = 1;
    for (int i = 0; i < plan->pixel.samples; i++) {
      root->offset_f[i] = (float) root->offset[i];
      product = fmax (product, root->maximum + 1 + fabs (root->offset[i]));
    }
    choose_near (root, 2 * product, convolve_budget (plan) / 2);
  }
  return exact;
}
