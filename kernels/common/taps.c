/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The analysis of a mask, once for each plan: whether its taps are integers, which arithmetic the plan has if not,
 * whether the mask is a product of a column and a row, and which precision keeps the promise of convolve.h. Errors are
 * bounded from the taps, never measured. Where the bound for float is above the budget, sums and tail are in double.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/fraction.h"
#include "common/numbers.h"
#include "common/internal.h"

#define MOST_MULTIPLE 4 /* of integers whose ratios ONE_STEP keeps, see find_multiples () */
/*
 * ConvolveArithmeticInput.budget counts a tap's error times half of the range, because the start puts the middle right.
 * The values of a magnitude have no start, and a sample may lie the whole range from the zero level: half of the budget
 * is left.
 */
#define FROM_ZERO_LEVEL 0.5
#define LARGEST_GAIN 1048576.0 /* of a mask: the sum of the magnitudes of its taps, divided by the divisor */

/*
 * Writes the taps as integers times one common factor, the largest possible one. False where the ratio of some tap to
 * the smallest tap is no simple fraction. *sum becomes the sum of the integers' magnitudes.
 */
static bool
find_integers (const ConvolveMask *mask, double maximum, double *integers, double *factor, double *sum)
{
  int count = mask->width * mask->height;
  double smallest = INFINITY, multiple = 1, divisor = 0;

  *sum = 0;
  for (int i = 0; i < count; i++)
    if (mask->taps[i] != 0 && fabs (mask->taps[i]) < smallest)
      smallest = fabs (mask->taps[i]);
  /* Without a tap, any scale is right: one of 1 is finite in float, for every divisor. */
  if (isinf (smallest))
    smallest = fabs (mask->divisor);

  for (int i = 0; i < count; i++) {
    ConvolveFraction ratio;

    if (mask->taps[i] == 0)
      continue;
    if (!convolve_fraction_near (fabs (mask->taps[i]) / smallest, CONVOLVE_2_24 / maximum, &ratio))
      return false;
    multiple *= ratio.denominator / convolve_common_divisor (multiple, ratio.denominator);
    if (multiple > CONVOLVE_2_24)
      return false;
  }
  for (int i = 0; i < count; i++) {
    integers[i] = round (mask->taps[i] / smallest * multiple);
    divisor = convolve_common_divisor (fabs (integers[i]), divisor);
    *sum += fabs (integers[i]);
  }
  if (divisor == 0)
    divisor = 1;
  for (int i = 0; i < count; i++)
    integers[i] /= divisor;
  *sum /= divisor;
  *factor = smallest / multiple * divisor;
  return true;
}

double
convolve_code_offset (const ConvolvePlan *plan, const ConvolveMask *mask, int sample)
{
  const ConvolvePixel *pixel = &plan->pixel;
  double range = pixel->range[sample] ? pixel->range[sample] : (1 << pixel->depth) - 1;

  return pixel->biased >> sample & 1 ? floor (mask->offset * range * 256 + 0.5) / 256 : 0;
}

/* Bounds the error of the tail in float, in code values: four roundings of numbers up to maximum + 2 + |offset|. */
static double
float_tail_error (double maximum, double offset)
{
  return 4 * (maximum + 2 + fabs (offset)) * CONVOLVE_FLOAT_UNIT;
}

/*
 * The tail of an exact plan. The value before rounding lies on a grid. With scale = p/q, the spacing of the grid is
 * 1 / lcm (q, 512) or a multiple of that. Half a spacing is added to the offset. Where all errors together are smaller
 * than half a spacing, a tie ends up above its integer and every other value stays on its side, so truncation is exact.
 *
 * For example, with scale = 1/3 and the 1/2 of rounding, values are multiples of 1/6, and 1/12 is added. The sum 4
 * gives 4/3 + 1/2 + 1/12 = 1.92, which becomes 1.
 */
static void
init_exact_tail (ConvolvePlan *plan, const ConvolveMask *mask, double factor, double sum)
{
  ConvolveTail *tail = &plan->tail;
  double scale = factor / mask->divisor, step = 0;
  ConvolveFraction fraction;

  if (convolve_fraction_near (fabs (scale), 1e9, &fraction)) {
    double halves = 2;

    /* The denominators of the offsets are powers of two. The largest one serves the offsets of all samples. */
    for (int i = 0; i < plan->pixel.samples; i++)
      halves = fmax (halves, 512 / convolve_common_divisor (512, fabs (convolve_code_offset (plan, mask, i)) * 512));
    step = 1 / (fraction.denominator * halves / convolve_common_divisor (fraction.denominator, halves));
    scale = copysign (fraction.numerator / fraction.denominator, scale);
    plan->denominator = fraction.denominator;
  }
  plan->step = step;
  plan->margin = step / 2;
  tail->scale = scale;
  tail->scale_f = (float) scale;
  tail->scale_low = (float) (scale - tail->scale_f);
  for (int i = 0; i < plan->pixel.samples; i++) {
    double zero = plan->pixel.zero[i];
    double bias = convolve_code_offset (plan, mask, i);

    tail->offset[i] = zero - zero * sum * scale + bias + 0.5 + step / 2;
    tail->offset_f[i] = (float) tail->offset[i];
    if (float_tail_error (tail->maximum, tail->offset[i]) >= step / 2)
      tail->needs_double = true;
    /* Two roundings of a number as large as the offset. Rounding the result down moves no result past an integer. */
    if (4 * (fabs (tail->offset[i]) + 1) * CONVOLVE_FLOAT_UNIT >= step / 2)
      tail->floor_needs_double = true;
  }
}

/* The tail of any other plan, whose taps are already divided. Returns the error that a tail in float would add. */
static double
init_tail (ConvolvePlan *plan, const ConvolveMask *mask, double sum)
{
  ConvolveTail *tail = &plan->tail;
  double error = 0;

  tail->scale = tail->scale_f = 1;
  for (int i = 0; i < plan->pixel.samples; i++) {
    double zero = plan->pixel.zero[i];
    double bias = convolve_code_offset (plan, mask, i);

    tail->offset[i] = zero - zero * sum + bias + 0.5;
    tail->offset_f[i] = (float) tail->offset[i];
    error = fmax (error, float_tail_error (tail->maximum, tail->offset[i]));
  }
  return error;
}

/*
 * Integer factors of integer taps. The row is the first row of the mask that is not 0, divided by its greatest common
 * divisor. The column holds the factors by which each row of the mask is a multiple of that. False where some row is no
 * multiple.
 */
static bool
factor_integers (const ConvolveTaps *taps, const double *integers, double *row, double *column)
{
  int w = taps->width, h = taps->height, pivot = 0;
  double divisor = 0;

  for (int i = 0; i < w * h && divisor == 0; i++)
    if (integers[i] != 0) {
      pivot = i;
      for (int k = 0; k < w; k++)
        divisor = convolve_common_divisor (fabs (integers[i / w * w + k]), divisor);
    }
  if (divisor == 0)
    return false;
  for (int i = 0; i < w; i++)
    row[i] = integers[pivot / w * w + i] / divisor;
  for (int j = 0; j < h; j++) {
    column[j] = integers[j * w + pivot % w] / row[pivot % w];
    for (int i = 0; i < w; i++)
      if (column[j] != floor (column[j]) || column[j] * row[i] != integers[j * w + i])
        return false;
  }
  return true;
}

/*
 * Float factors of any taps: the row and the column of the largest tap. False where the magnitudes of what the product
 * misses add up to more than error.
 */
static bool
factor_reals (const ConvolveTaps *taps, const double *reals, double error, double *row, double *column)
{
  int w = taps->width, h = taps->height, pivot = 0;
  double missed = 0;

  for (int i = 0; i < w * h; i++)
    if (fabs (reals[i]) > fabs (reals[pivot]))
      pivot = i;
  if (reals[pivot] == 0)
    return false;
  for (int i = 0; i < w; i++)
    row[i] = (float) reals[pivot / w * w + i];
  for (int j = 0; j < h; j++) {
    column[j] = (float) (reals[j * w + pivot % w] / reals[pivot]);
    for (int i = 0; i < w; i++)
      missed += fabs (column[j] * row[i] - reals[j * w + i]);
  }
  return missed <= error;
}

/* Taps that fit the parameters of a launch get the parameters' full size, zeroed, because all of it is copied. */
static bool
allocate (ConvolveTaps *taps)
{
  size_t count = (size_t) taps->width * taps->height;
  size_t padded = count < CONVOLVE_MAX_PARAMETER_TAPS ? CONVOLVE_MAX_PARAMETER_TAPS : count;

  taps->taps = calloc (padded, sizeof (float));
  taps->double_taps = calloc (count, sizeof (double));
  taps->row = calloc (2 * CONVOLVE_MAX_SIDE, sizeof (float));
  taps->column = taps->row ? taps->row + CONVOLVE_MAX_SIDE : NULL;
  return taps->taps && taps->double_taps && taps->row;
}

void
convolve_taps_clear (ConvolveTaps *taps)
{
  free (taps->taps);
  free (taps->double_taps);
  free (taps->row);
}

/* Whether the result is the source: only the centre tap is not 0, and it is equal to the divisor. */
static bool
is_identity (const ConvolvePlan *plan, const ConvolveMask *mask)
{
  int count = mask->width * mask->height;

  if (plan->pixel.select == 0)
    return true;
  for (int i = 0; i < plan->pixel.samples; i++)
    if ((plan->pixel.select >> i & 1) && convolve_code_offset (plan, mask, i) != 0)
      return false;
  for (int i = 0; i < count; i++)
    if (mask->taps[i] != (i == count / 2 ? mask->divisor : 0))
      return false;
  return true;
}

/* The tail of ONE_STEP, in which every number is exact: in float where the sums are, and in double always. */
static void
init_one_step_tail (ConvolvePlan *plan)
{
  ConvolveTail *tail = &plan->tail;
  double scale = ldexp (1, -plan->arithmetic.bits);

  plan->step = scale;
  plan->margin = 0;
  plan->denominator = 1 / scale;
  tail->scale = scale;
  tail->scale_f = (float) scale;
  tail->needs_double = tail->floor_needs_double = plan->double_sums = !plan->exact;
  for (int i = 0; i < plan->pixel.samples; i++) {
    tail->offset[i] = (double) plan->arithmetic.start[i] * scale;
    tail->offset_f[i] = (float) tail->offset[i];
  }
}

/* Whether integers are multiples of one number up to 4, as in a box with soft edges. */
static bool
find_multiples (const double *integers, int count, int *multiples)
{
  for (int i = 0; i < count; i++) {
    if (fabs (integers[i]) > MOST_MULTIPLE)
      return false;
    multiples[i] = (int) integers[i];
  }
  return true;
}

/*
 * Chooses the arithmetic of taps that are no integers, or integers with large sums. values has the integers, and
 * becomes the taps of ONE_STEP or the given ones.
 */
static bool
choose_arithmetic (ConvolvePlan *plan, const ConvolveMask *mask, bool are_integers, bool one_step, double *values)
{
  const int count = mask->width * mask->height;
  double *given = malloc (count * sizeof (*given)), sum = 0;
  int *multiples = malloc (count * sizeof (*multiples));
  ConvolveArithmeticInput input = { .depth = plan->pixel.depth,
    .width = mask->width,
    .height = mask->height,
    .taps = given,
    .budget = convolve_budget (plan) * (plan->budget_share < 1 ? FROM_ZERO_LEVEL : 1),
    .samples = plan->pixel.samples,
    .one_step = one_step };
  bool done = false;

  if (given && multiples) {
    input.multiples = are_integers && find_multiples (values, count, multiples) ? multiples : NULL;
    for (int i = 0; i < count; i++)
      sum += given[i] = mask->taps[i] / mask->divisor;
    for (int i = 0; i < plan->pixel.samples; i++)
      input.offset[i] = plan->pixel.zero[i] - plan->pixel.zero[i] * sum + convolve_code_offset (plan, mask, i) + 0.5;
    done = convolve_arithmetic_choose (&input, &plan->arithmetic, values, &plan->exact);
    plan->integers = plan->arithmetic.kind == CONVOLVE_ARITHMETIC_ONE_STEP;
    if (!plan->integers)
      memcpy (values, given, count * sizeof (*given));
  }
  free (given);
  free (multiples);
  return done;
}

/* False where memory is short. *rank_1: row and column of plan->taps were filled. */
static bool
analyse (ConvolvePlan *plan, const ConvolveMask *mask, bool one_step, double *values, bool *rank_1)
{
  ConvolveTaps *taps = &plan->taps;
  int count = mask->width * mask->height;
  double maximum = (1 << plan->pixel.depth) - 1, sum = 0, gain = 0, rounding = 0, factor = 1, magnitudes;
  double budget = convolve_budget (plan);
  double row[CONVOLVE_MAX_SIDE], column[CONVOLVE_MAX_SIDE];
  bool are_integers;

  plan->tail.maximum = (float) maximum;
  plan->identity = is_identity (plan, mask);
  are_integers = find_integers (mask, maximum, values, &factor, &magnitudes);
  plan->exact = plan->integers = are_integers && magnitudes * maximum < CONVOLVE_2_24;
  if (!plan->exact && !choose_arithmetic (plan, mask, are_integers, one_step, values))
    return false;
  for (int i = 0; i < count; i++) {
    taps->taps[i] = (float) values[i];
    gain += fabs (values[i]);
    rounding += fabs (taps->taps[i] - values[i]);
  }
  /* All variants use the same taps, rounded to float where that keeps the budget. */
  plan->device_taps_fit = plan->integers || rounding * maximum <= budget / 4;
  for (int i = 0; i < count; i++) {
    taps->double_taps[i] = plan->device_taps_fit ? taps->taps[i] : values[i];
    sum += taps->double_taps[i];
  }

  if (plan->integers) {
    if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_ONE_STEP)
      init_one_step_tail (plan);
    else
      init_exact_tail (plan, mask, factor, sum);
    *rank_1 = factor_integers (taps, values, row, column);
  } else {
    double error = init_tail (plan, mask, sum);

    /* The sum of a row rounds at most once for each tap, and the sum of all rows once for each row. */
    error += (gain * (mask->width + mask->height + 2) * CONVOLVE_FLOAT_UNIT + rounding) * maximum;
    plan->double_sums = plan->tail.needs_double = error > budget * 3 / 4 || !plan->device_taps_fit;
    *rank_1 = factor_reals (taps, values, budget / 4 / maximum, row, column);
  }
  for (int i = 0; i < mask->width; i++)
    taps->row[i] = *rank_1 ? (float) row[i] : 0;
  for (int j = 0; j < mask->height; j++)
    taps->column[j] = *rank_1 ? (float) column[j] : 0;
  return true;
}

ConvolveStatus
convolve_taps_init (ConvolvePlan *plan, const ConvolveMask *mask, bool one_step, ConvolveError *error)
{
  ConvolveTaps *taps = &plan->taps;
  int w = mask->width, h = mask->height;
  double gain = 0, *values;
  bool rank_1, done;

  if (w < 1 || h < 1 || w > CONVOLVE_MAX_SIDE || h > CONVOLVE_MAX_SIDE || w % 2 == 0 || h % 2 == 0)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "the mask has %dx%d taps: each side must be an odd number from 1 to %d", w, h, CONVOLVE_MAX_SIDE);
  if (!isfinite (mask->divisor) || mask->divisor == 0)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "the divisor is %g: a divisor must be finite and not 0",
        mask->divisor);
  if (!(mask->offset >= -1 && mask->offset <= 1))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "the offset is %g: an offset must be from -1 to 1", mask->offset);
  for (int i = 0; i < w * h; i++) {
    if (!isfinite (mask->taps[i]))
      return convolve_fail (error, CONVOLVE_INVALID, 0, "tap %d of row %d is not finite", i % w + 1, i / w + 1);
    gain += fabs (mask->taps[i] / mask->divisor);
  }
  if (!(gain <= LARGEST_GAIN))
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "the mask multiplies samples by up to %g, and the limit is %g; a larger divisor or smaller weights are below it",
        gain, LARGEST_GAIN);

  taps->width = w;
  taps->height = h;
  values = calloc ((size_t) w * h, sizeof (double));
  done = values && allocate (taps) && analyse (plan, mask, one_step, values, &rank_1);
  free (values);
  if (!done)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", w, h);
  if (!rank_1) {
    free (taps->row);
    taps->row = taps->column = NULL;
  }
  return CONVOLVE_OK;
}
