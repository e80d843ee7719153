/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of tensor-separable and tensor-fused: the integers, and the proof that these are good enough. */
#include "cuda/tensor_products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/factors.h"
#include "common/integer_tail.h"
#include "cuda/accepts.h"

#define UNIT_ROUNDOFF (1.0 / 16777216.0) /* 2^-24: the relative error of one operation in single precision */
#define SAFETY 1.0001                    /* covers the rounding of the bounds computed here */
#define LARGEST 32639                    /* 127 * 257: both digits of an integer up to this are within -127 .. 127 */
#define MIDDLE_BYTE 127.5                /* the middle of 0 .. 255 */
#define UINT32_RANGE 4294967296.0        /* 2^32 */
#define MOST_ROW_SUM 65532               /* of 16 bits, less some room for the rounding of row taps */
#define MOST_START 1e9                   /* leaves room for a total in 32 bits */
#define MOST_FLOOR 4e6                   /* below the 2^22 of convolve_floor () */

/* The mask's radius, in bytes of a row. */
static int
radius_in_bytes (const ConvolvePlan *plan)
{
  return plan->taps.width / 2 * plan->pixel.samples * convolve_sample_size (plan->pixel.type);
}

/* The layout for tensor-separable, where a lane reads words of 4 bytes. */
static void
measure (const ConvolvePlan *plan, ConvolveTensorProducts *products)
{
  const int group = CONVOLVE_TENSOR_PRODUCTS_GROUP * convolve_sample_size (plan->pixel.type);
  const int segment = CONVOLVE_TENSOR_PRODUCTS_SEGMENT, rows = CONVOLVE_TENSOR_PRODUCTS_ROWS;
  const int radius = radius_in_bytes (plan);

  products->lane_bytes = 4;
  products->lead = (radius + 3) / 4 * 4;
  products->segments = (products->lead + group + radius + segment - 1) / segment;
  products->slabs = (rows + plan->taps.height - 1 + rows - 1) / rows;
  /* There are kernels with 2, 3 and 5 slabs in registers. A slab too many is multiplied by zeros. */
  if (products->slabs < 2)
    products->slabs = 2;
  else if (products->slabs == 4)
    products->slabs = 5;
}

/* --- exact plans --- */

/*
 * Where the scale of the tail is a power of two, a shift ends the totals, and their start takes the offset. The offset
 * has a share of plan->step on top, against roundings that a shift does not have: floor () drops it.
 */
static bool
shift_exactly (const ConvolvePlan *plan, ConvolveTensorProducts *products)
{
  const int most_bits = 22;

  for (int bits = 0; bits <= most_bits; bits++)
    if (plan->step > 0 && plan->tail.scale == ldexp (1, -bits)) {
      products->shift = bits;
      for (int i = 0; i < plan->pixel.samples; i++) {
        double start = products->start[i] + floor (ldexp (plan->tail.offset[i], bits));

        if (fabs (start) > MOST_START)
          return false;
        products->start[i] = (int32_t) start;
      }
      return true;
    }
  return false;
}

/* Chooses what ends the totals: a shift, the integer tail, or the plan's tail in single precision. */
static bool
choose_exact_tail (const ConvolvePlan *plan, ConvolveTensorProducts *products, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;
  const double gain =
      fabs (plan->tail.scale) * convolve_sum_of_magnitudes (taps->double_taps, taps->width * taps->height);
  double largest_offset = 0;

  if (shift_exactly (plan, products))
    return true;
  products->shift = -1;
  products->has_integer_tail = convolve_integer_tail_choose (plan, &products->integer_tail, reason);
  for (int i = 0; i < plan->pixel.samples && products->has_integer_tail; i++)
    products->start[i] += products->integer_tail.start[i];
  if (products->has_integer_tail)
    return true;
  for (int i = 0; i < plan->pixel.samples; i++)
    largest_offset = fmax (largest_offset, fabs (plan->tail.offset[i]));
  if (!(plan->step > 0) || plan->tail.floor_needs_double || gain * plan->tail.maximum + largest_offset > MOST_FLOOR) {
    *reason = "the mask's divisor is too fine for single precision";
    return false;
  }
  return true;
}

/*
 * Takes row and column as they are: one digit each, and row sums of 16 bits. A bias keeps row sums from being negative,
 * and the start of the totals takes it off again.
 */
static bool
choose_exact (const ConvolvePlan *plan, ConvolveTensorProducts *products, ConvolveTensorProductsTaps *taps,
    const char **reason)
{
  const ConvolveTaps *from = &plan->taps;
  const int maximum = (int) plan->tail.maximum;
  int64_t magnitudes = 0, below = 0, column_sum = 0, bias;
  double peak = 0;

  if (!from->row) {
    *reason = "the mask is not the product of a column and a row";
    return false;
  }
  for (int i = 0; i < from->width; i++) {
    taps->row[0][i] = (int) from->row[i];
    magnitudes += abs (taps->row[0][i]);
    below += from->row[i] < 0 ? -taps->row[0][i] : 0;
    peak = fmax (peak, fabs (from->row[i]));
  }
  for (int j = 0; j < from->height; j++) {
    taps->column[0][j] = (int) from->column[j];
    column_sum += taps->column[0][j];
    peak = fmax (peak, fabs (from->column[j]));
  }
  if (plan->pixel.type == CONVOLVE_SAMPLE_U8)
    bias = below > 0 ? 32768 : 0;
  else
    bias = below * maximum;
  if (peak > 127 || below * maximum > bias || (magnitudes - below) * maximum + bias > 65535) {
    *reason = "the integers of the mask's row and column need more than one byte, or a row's sum more than two";
    return false;
  }
  products->rank = 1;
  if (plan->pixel.type == CONVOLVE_SAMPLE_U8) {
    products->row_start[0] = (int32_t) bias;
  } else { /* words have the sample pixel.shift bits further up; the sum of samples has to begin at bit 16 */
    products->scale = 1u << (16 - plan->pixel.shift);
    products->row_start[0] = (int32_t) ((uint32_t) bias << 16);
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    products->start[i] = (int32_t) (-bias * column_sum);
  return choose_exact_tail (plan, products, reason);
}

/* --- all other plans --- */

typedef struct
{
  const ConvolvePlan *plan;
  ConvolveFactors factors;      /* scaled so that the magnitudes of each row add up to 1 */
  double row_peak, column_peak; /* the largest magnitudes of all rows' taps, and of all columns' */
  double budget;                /* for the error of a result, in code values */
} Analysis;

/* How fine the integers are: one code value is `row_sum` in a row sum, and 2^shift in a total. */
typedef struct
{
  double row_sum;
  int shift;
} Scales;

/* The factor of row sums: the smallest with which row taps fit two digits. */
static double
scale_of (const Analysis *a, Scales scales)
{
  return fmax (1, ceil (ldexp (scales.row_sum * a->row_peak / LARGEST, 16 - a->plan->pixel.shift)));
}

static void
round_taps (const Analysis *a, Scales scales, ConvolveTensorProductsTaps *taps)
{
  double row_scale = ldexp (scales.row_sum, 16 - a->plan->pixel.shift) / scale_of (a, scales);
  double column_scale = ldexp (1, scales.shift + 8) / scales.row_sum;

  for (int r = 0; r < a->factors.rank; r++) {
    for (int i = 0; i < a->plan->taps.width; i++)
      taps->row[r][i] = (int) lround (a->factors.row[r][i] * row_scale);
    for (int j = 0; j < a->plan->taps.height; j++)
      taps->column[r][j] = (int) lround (a->factors.column[r][j] * column_scale);
  }
}

/* One product does without the term of low digits times low bytes. Several would add up the errors of that. */
static bool
needs_all_terms (const Analysis *a)
{
  return a->factors.rank > 1;
}

/*
 * The error, in code values, of rounding row sums and of the term that is left out. Both errors lie in an interval
 * whose middle set_starts () takes off; this is half of its length.
 */
static double
sums_error (const Analysis *a, Scales scales, const ConvolveTensorProductsTaps *taps)
{
  double error = 0;

  for (int r = 0; r < a->factors.rank; r++)
    for (int j = 0; j < a->plan->taps.height; j++)
      error += 0.5 * abs (taps->column[r][j])
          + (needs_all_terms (a) ? 0 : MIDDLE_BYTE * abs (convolve_tensor_products_low_digit (taps->column[r][j])));
  return ldexp (error + (needs_all_terms (a) ? MIDDLE_BYTE : 0), -scales.shift - 8);
}

/*
 * A bound of the error, in code values, that is cheap enough to compare scales by: the errors of row and column taps
 * are bounded one by one. mask_error () compares their products with the mask. *taps is overwritten.
 */
static double
estimate (const Analysis *a, Scales scales, ConvolveTensorProductsTaps *taps)
{
  double row_scale = ldexp (scales.row_sum, 16 - a->plan->pixel.shift) / scale_of (a, scales), error = 0;
  double column_scale = ldexp (1, scales.shift + 8) / scales.row_sum;

  round_taps (a, scales, taps);
  for (int r = 0; r < a->factors.rank; r++) {
    double row_error = 0, column_error = 0;

    for (int i = 0; i < a->plan->taps.width; i++)
      row_error += fabs (taps->row[r][i] / row_scale - a->factors.row[r][i]);
    for (int j = 0; j < a->plan->taps.height; j++)
      column_error += fabs (taps->column[r][j] / column_scale - a->factors.column[r][j]);
    error += column_error + row_error * convolve_sum_of_magnitudes (a->factors.column[r], a->plan->taps.height);
  }
  return error * a->plan->tail.maximum / 2 + sums_error (a, scales, taps);
}

/*
 * The error, in code values, that comes from the integers instead of the given taps. With M for the largest sample, it
 * lies between M * (the negative errors of taps, added) and M * (the positive ones, added). Returns the middle of this
 * interval, which is known and can be taken off; *error becomes half of its length.
 */
static double
mask_error (const Analysis *a, Scales scales, const ConvolveTensorProductsTaps *taps, double *error)
{
  const ConvolveTaps *given = &a->plan->taps;
  double quantum = ldexp (scale_of (a, scales), a->plan->pixel.shift - 24 - scales.shift), below = 0, above = 0;

  for (int j = 0; j < given->height; j++)
    for (int i = 0; i < given->width; i++) {
      double tap = 0, difference;

      for (int r = 0; r < a->factors.rank; r++)
        tap += (double) taps->row[r][i] * taps->column[r][j];
      difference = tap * quantum - given->double_taps[j * given->width + i];
      below += difference < 0 ? difference : 0;
      above += difference > 0 ? difference : 0;
    }
  *error = a->plan->tail.maximum * (above - below) / 2 * SAFETY;
  return a->plan->tail.maximum * (above + below) / 2;
}

/*
 * Fills *products: row sums begin where none is negative, totals with the offset less the middles of all errors. False
 * where a row sum does not fit 32 bits.
 */
static bool
set_starts (const Analysis *a, Scales scales, double middle_error, const ConvolveTensorProductsTaps *taps,
    ConvolveTensorProducts *products)
{
  const ConvolvePlan *plan = a->plan;
  double scale = scale_of (a, scales), largest = ldexp (plan->tail.maximum, plan->pixel.shift);
  const double half = 32768; /* of 2^16 */
  double known = 0;          /* what totals have too much on average, times 256 */

  products->rank = a->factors.rank;
  products->scale = (uint32_t) scale;
  products->shift = scales.shift;
  products->all_terms = needs_all_terms (a);
  for (int r = 0; r < products->rank; r++) {
    double below = 0, above = 0, start, columns = 0, low_digits = 0;

    for (int i = 0; i < plan->taps.width; i++)
      *(taps->row[r][i] < 0 ? &below : &above) += taps->row[r][i] * largest;
    start = half - scale * below; /* adds the half that makes cutting the lower 16 bits a rounding */
    if (scale * above + start >= UINT32_RANGE)
      return false;
    products->row_start[r] = (int32_t) (uint32_t) start;
    for (int j = 0; j < plan->taps.height; j++) {
      columns += taps->column[r][j];
      low_digits += convolve_tensor_products_low_digit (taps->column[r][j]);
    }
    known += columns * (start / 65536 - 0.5) - (products->all_terms ? 0 : low_digits * MIDDLE_BYTE);
  }
  known -= products->all_terms ? MIDDLE_BYTE : 0;
  for (int i = 0; i < plan->pixel.samples; i++)
    products->start[i] = (int32_t) lround (ldexp (plan->tail.offset[i] - middle_error, scales.shift) - known / 256);
  return true;
}

/* The bits behind the point that totals have room for. */
static int
most_shift (const Analysis *a, double gain)
{
  double most = gain * a->plan->tail.maximum + 2;

  for (int i = 0; i < a->plan->pixel.samples; i++)
    most = fmax (most, gain * a->plan->tail.maximum + fabs (a->plan->tail.offset[i]) + 2);
  return 30 - (int) ceil (log2 (most));
}

/* Takes the mask apart into products, with an eighth of the budget for what is missed. */
static bool
find_products (Analysis *a)
{
  const ConvolveTaps *given = &a->plan->taps;

  if (!convolve_factors_find (given->double_taps, given->width, given->height, a->budget / 8 / a->plan->tail.maximum,
          &a->factors))
    return false;
  a->row_peak = a->column_peak = 0;
  for (int r = 0; r < a->factors.rank; r++) {
    double *row = a->factors.row[r], *column = a->factors.column[r];
    double sum = convolve_sum_of_magnitudes (row, given->width);

    for (int i = 0; i < given->width; i++)
      row[i] /= sum;
    for (int j = 0; j < given->height; j++)
      column[j] *= sum;
    a->row_peak = fmax (a->row_peak, convolve_largest_magnitude (row, given->width));
    a->column_peak = fmax (a->column_peak, convolve_largest_magnitude (column, given->height));
  }
  return true;
}

/*
 * The scales with the smallest estimated error. Row sums are tried from the finest that 16 bits have room for down to
 * half as fine, and as a power of two; totals as fine as two digits of column taps allow, and half as fine. False where
 * none of these fit.
 */
static bool
find_scales (const Analysis *a, double gain, ConvolveTensorProductsTaps *taps, Scales *best)
{
  enum
  {
    TRIALS = 48
  };
  const double maximum = a->plan->tail.maximum, finest = MOST_ROW_SUM / maximum;
  const int finest_shift = (int) floor (log2 (finest * LARGEST / a->column_peak)) - 8;
  double least = INFINITY;

  for (int shift = finest_shift; shift >= finest_shift - 1; shift--)
    for (int trial = 0; trial <= TRIALS && shift >= 1; trial++) {
      Scales scales = { trial < TRIALS ? finest * exp2 (-(double) trial / TRIALS) : exp2 (floor (log2 (finest))),
        shift };
      double error;

      if (shift > most_shift (a, gain) || ldexp (a->column_peak / scales.row_sum, shift + 8) > LARGEST)
        continue;
      error = estimate (a, scales, taps);
      if (error < least) {
        least = error;
        *best = scales;
      }
    }
  return least < INFINITY;
}

/* Takes the integers with the best scales, if their error is within the budget. A part of 2% is left as a reserve. */
static bool
choose_rounded (const ConvolvePlan *plan, ConvolveTensorProducts *products, ConvolveTensorProductsTaps *taps,
    const char **reason)
{
  const double gain = convolve_sum_of_magnitudes (plan->taps.double_taps, plan->taps.width * plan->taps.height);
  Analysis *a = malloc (sizeof (*a));
  Scales best = { 0, 0 };
  double error, middle_error;
  bool done = false;

  *reason = "no memory";
  if (!a)
    return false;
  a->plan = plan;
  /* Without what the rounding of the given taps to float may have cost. */
  a->budget = 0.98 * convolve_budget (plan) - gain * plan->tail.maximum * UNIT_ROUNDOFF;
  *reason = "the mask is not the sum of up to four products of a column and a row";
  if (find_products (a)) {
    *reason = "two bytes for each weight and for each row's sum are not enough";
    if (find_scales (a, gain, taps, &best)) {
      round_taps (a, best, taps);
      middle_error = mask_error (a, best, taps, &error);
      done = error + sums_error (a, best, taps) + ldexp (1, -best.shift) <= a->budget
          && set_starts (a, best, middle_error, taps, products);
    }
  }
  free (a);
  return done;
}

bool
convolve_tensor_products_choose (const ConvolvePlan *plan, ConvolveTensorProducts *products,
    ConvolveTensorProductsTaps *taps, const char **reason)
{
  memset (products, 0, sizeof (*products));
  measure (plan, products);
  if (!(plan->exact ? choose_exact (plan, products, taps, reason) : choose_rounded (plan, products, taps, reason)))
    return false;
  /* The kernels have one list of starts for four samples side by side. Of three to a pixel, any may be the first. */
  for (int i = 1; i < 3 && plan->pixel.samples == 3; i++)
    if (products->start[i] != products->start[0] || plan->tail.offset_f[i] != plan->tail.offset_f[0]) {
      *reason = "the three samples of a pixel differ in their zero levels or offsets";
      return false;
    }
  return true;
}

bool
convolve_tensor_products_for_fused (const ConvolvePlan *plan, ConvolveTensorProducts *products, const char **reason)
{
  const int bytes = convolve_sample_size (plan->pixel.type), window = 64 * bytes;
  const int group = CONVOLVE_TENSOR_PRODUCTS_GROUP * bytes;

  if (products->rank > 1 || group + 2 * radius_in_bytes (plan) > window
      || plan->taps.height > CONVOLVE_TENSOR_FUSED_HEIGHT) {
    *reason = "the mask needs more than one product, has more than 33 rows, or has a radius of more than 16 samples";
    return false;
  }
  products->lane_bytes = 16;
  products->lead = (window - group) / 2;
  products->segments = window / CONVOLVE_TENSOR_PRODUCTS_SEGMENT;
  return true;
}

/* --- both variants --- */

bool
convolve_tensor_products_accept (const ConvolvePlan *plan, bool for_fused, ConvolveTensorProductsFound **found,
    const char **reason)
{
  const ConvolvePixel *pixel = &plan->pixel;

  *reason = CONVOLVE_NEEDS_8_0;
  if (convolve_device_capability (plan->device) < 80)
    return false;
  *reason = "the pixels have padding bytes, the other byte order, or no sample that is convolved";
  if (pixel->stride != pixel->samples * convolve_sample_size (pixel->type) || pixel->swapped || !pixel->select)
    return false;
  *reason = "some samples of 16-bit pixels are convolved and others are not";
  if (pixel->type == CONVOLVE_SAMPLE_U16 && pixel->select != (1u << pixel->samples) - 1)
    return false;
  *reason = "no memory";
  *found = malloc (sizeof (**found));
  if (*found && convolve_tensor_products_choose (plan, &(*found)->products, &(*found)->taps, reason)
      && (!for_fused || convolve_tensor_products_for_fused (plan, &(*found)->products, reason)))
    return true;
  free (*found);
  *found = NULL;
  return false;
}
