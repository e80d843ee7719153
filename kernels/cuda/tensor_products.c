/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The integers of tensor-fused and tensor-separable, proved to be good enough, and the operands made of them. */
#include "cuda/tensor_products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/factors.h"
#include "common/integer_tail.h"
#include "cuda/accepts.h"

#define FLOAT_UNIT (1.0 / 16777216.0) /* the relative error of one float operation */
#define LARGEST 32639                 /* whose limbs are both within -127 .. 127 */
#define MIDDLE_BYTE 127.5

static int
low_limb (int tap)
{
  return ((tap + 128) & 255) - 128;
}

static int
high_limb (int tap)
{
  return (tap - low_limb (tap)) / 256;
}

/* The window of a group: whole words, so that lanes read words; of neighbours `samples` apart. */
static void
measure (const ConvolvePlan *plan, ConvolveProducts *products)
{
  int bytes = convolve_sample_size (plan->pixel.type), reach = plan->taps.width / 2 * plan->pixel.samples * bytes;

  products->lane_bytes = 4;
  products->lead = (reach + 3) / 4 * 4;
  products->units =
      (products->lead + CONVOLVE_PRODUCTS_GROUP * bytes + reach + CONVOLVE_PRODUCTS_UNIT - 1) / CONVOLVE_PRODUCTS_UNIT;
  products->pairs = (plan->taps.height - 1 + 2 * CONVOLVE_PRODUCTS_ROWS - 1) / CONVOLVE_PRODUCTS_ROWS;
  /* As there are kernels. */
  products->pairs = products->pairs < 2 ? 2 : products->pairs == 4 ? 5 : products->pairs;
}

/* --- exact plans --- */

/* A power of two as scale is a shift; the offset's half step of the grid is lost in it. */
static bool
shift_exactly (const ConvolvePlan *plan, ConvolveProducts *products)
{
  for (int bits = 0; bits <= 22; bits++)
    if (plan->step > 0 && plan->tail.scale == ldexp (1, -bits)) {
      products->shift = bits;
      for (int i = 0; i < plan->pixel.samples; i++) {
        double start = products->start[i] + floor (ldexp (plan->tail.offset[i], bits));

        if (fabs (start) > 1e9)
          return false;
        products->start[i] = (int32_t) start;
      }
      return true;
    }
  return false;
}

static bool
choose_exact (const ConvolvePlan *plan, ConvolveProducts *products, ConvolveProductTaps *taps, const char **reason)
{
  const ConvolveTaps *from = &plan->taps;
  const int maximum = (int) plan->tail.maximum;
  const double gain =
      fabs (plan->tail.scale) * convolve_sum_of_magnitudes (from->wide_taps, from->width * from->height);
  int64_t magnitudes = 0, below = 0, sum = 0, bias;
  double most = 0;

  if (!from->row) {
    *reason = "it is not the product of a column and a row";
    return false;
  }
  for (int i = 0; i < from->width; i++) {
    taps->row[0][i] = (int) from->row[i];
    magnitudes += abs (taps->row[0][i]);
    below += from->row[i] < 0 ? -taps->row[0][i] : 0;
    most = fmax (most, fabs (from->row[i]));
  }
  for (int j = 0; j < from->height; j++) {
    taps->column[0][j] = (int) from->column[j];
    sum += taps->column[0][j];
    most = fmax (most, fabs (from->column[j]));
  }
  if (plan->pixel.type == CONVOLVE_SAMPLE_U8)
    bias = below > 0 ? 32768 : 0;
  else
    bias = below * maximum;
  if (most > 127 || below * maximum > bias || (magnitudes - below) * maximum + bias > 65535) {
    *reason = "the integers of its row and column need more than one byte, or a row's sum more than two";
    return false;
  }
  products->rank = 1;
  if (plan->pixel.type == CONVOLVE_SAMPLE_U8) {
    products->row_start[0] = (int32_t) bias;
  } else {
    products->scale = 1u << (16 - plan->pixel.shift);
    products->row_start[0] = (int32_t) ((uint32_t) bias << 16);
  }
  for (int i = 0; i < plan->pixel.samples; i++)
    products->start[i] = (int32_t) (-bias * sum);
  if (shift_exactly (plan, products))
    return true;
  products->shift = -1;
  products->integers = convolve_integer_tail_choose (plan, &products->integer_tail, reason);
  for (int i = 0; i < plan->pixel.samples && products->integers; i++)
    products->start[i] += products->integer_tail.start[i];
  if (products->integers)
    return true;
  most = 0;
  for (int i = 0; i < plan->pixel.samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  /* See convolve_floor (). */
  if (!(plan->step > 0) || plan->tail.wide_down || gain * maximum + most > 4e6) {
    *reason = "its divisor is too fine for single precision";
    return false;
  }
  return true;
}

/* --- all others --- */

typedef struct
{
  const ConvolvePlan *plan;
  ConvolveFactors factors; /* magnitudes of each row add up to 1 */
  double row_peak, column_peak;
  double budget;
} Analysis;

/* How the integers are made: row sums are `middle` to a code value, totals 2^shift. */
typedef struct
{
  double middle;
  int shift;
} Scales;

/* The number by which row sums are multiplied, for row taps that fit their limbs. */
static double
scale_of (const Analysis *a, Scales scales)
{
  return fmax (1, ceil (ldexp (scales.middle * a->row_peak / LARGEST, 16 - a->plan->pixel.shift)));
}

static void
round_taps (const Analysis *a, Scales scales, ConvolveProductTaps *taps)
{
  double row_scale = ldexp (scales.middle, 16 - a->plan->pixel.shift) / scale_of (a, scales);
  double column_scale = ldexp (1, scales.shift + 8) / scales.middle;

  for (int r = 0; r < a->factors.rank; r++) {
    for (int i = 0; i < a->plan->taps.width; i++)
      taps->row[r][i] = (int) lround (a->factors.row[r][i] * row_scale);
    for (int j = 0; j < a->plan->taps.height; j++)
      taps->column[r][j] = (int) lround (a->factors.column[r][j] * column_scale);
  }
}

/* One product does without those of low bytes by low limbs; where the errors of more add up, none is to be left out. */
static bool
is_full (const Analysis *a)
{
  return a->factors.rank > 1;
}

/* What roundings of row sums and products left out add, in code values: half of how far apart they can be. */
static double
sums_error (const Analysis *a, Scales scales, const ConvolveProductTaps *taps)
{
  double error = 0;

  for (int r = 0; r < a->factors.rank; r++)
    for (int j = 0; j < a->plan->taps.height; j++)
      error += 0.5 * abs (taps->column[r][j]) + (is_full (a) ? 0 : MIDDLE_BYTE * abs (low_limb (taps->column[r][j])));
  return ldexp (error + (is_full (a) ? MIDDLE_BYTE : 0), -scales.shift - 8);
}

/* A bound that costs little, to compare scales by. */
static double
estimate (const Analysis *a, Scales scales, ConvolveProductTaps *taps)
{
  double row_scale = ldexp (scales.middle, 16 - a->plan->pixel.shift) / scale_of (a, scales), error = 0;
  double column_scale = ldexp (1, scales.shift + 8) / scales.middle;

  round_taps (a, scales, taps);
  for (int r = 0; r < a->factors.rank; r++) {
    double missed_row = 0, missed_column = 0;

    for (int i = 0; i < a->plan->taps.width; i++)
      missed_row += fabs (taps->row[r][i] / row_scale - a->factors.row[r][i]);
    for (int j = 0; j < a->plan->taps.height; j++)
      missed_column += fabs (taps->column[r][j] / column_scale - a->factors.column[r][j]);
    error += missed_column + missed_row * convolve_sum_of_magnitudes (a->factors.column[r], a->plan->taps.height);
  }
  return error * a->plan->tail.maximum / 2 + sums_error (a, scales, taps);
}

/*
 * The error of the mask that the integers are, tap by tap; it makes the error of a value lie in M * (sum of the
 * negative ones) .. M * (sum of the positive ones), M the largest sample. The middle of that is known and returned;
 * half the distance goes to *error.
 */
static double
mask_error (const Analysis *a, Scales scales, const ConvolveProductTaps *taps, double *error)
{
  const ConvolveTaps *given = &a->plan->taps;
  double unit = ldexp (scale_of (a, scales), a->plan->pixel.shift - 24 - scales.shift), below = 0, above = 0;

  for (int j = 0; j < given->height; j++)
    for (int i = 0; i < given->width; i++) {
      double tap = 0, missed;

      for (int r = 0; r < a->factors.rank; r++)
        tap += (double) taps->row[r][i] * taps->column[r][j];
      missed = tap * unit - given->wide_taps[j * given->width + i];
      below += missed < 0 ? missed : 0;
      above += missed > 0 ? missed : 0;
    }
  *error = a->plan->tail.maximum * (above - below) / 2 * 1.0001;
  return a->plan->tail.maximum * (above + below) / 2;
}

/* Where the sums of rows and the totals begin: with all that is known of their errors taken away. */
static bool
set_starts (const Analysis *a, Scales scales, double middle_error, const ConvolveProductTaps *taps,
    ConvolveProducts *products)
{
  const ConvolvePlan *plan = a->plan;
  double scale = scale_of (a, scales), largest = ldexp (plan->tail.maximum, plan->pixel.shift);
  double known = 0; /* of totals times 256 */

  products->rank = a->factors.rank;
  products->scale = (uint32_t) scale;
  products->shift = scales.shift;
  products->full = is_full (a);
  for (int r = 0; r < products->rank; r++) {
    double below = 0, above = 0, start, columns = 0, low_limbs = 0;

    for (int i = 0; i < plan->taps.width; i++)
      *(taps->row[r][i] < 0 ? &below : &above) += taps->row[r][i] * largest;
    start = 32768 - scale * below;
    if (scale * above + start >= 4294967296.0)
      return false;
    products->row_start[r] = (int32_t) (uint32_t) start;
    for (int j = 0; j < plan->taps.height; j++) {
      columns += taps->column[r][j];
      low_limbs += low_limb (taps->column[r][j]);
    }
    known += columns * (start / 65536 - 0.5) - (products->full ? 0 : low_limbs * MIDDLE_BYTE);
  }
  known -= products->full ? MIDDLE_BYTE : 0;
  for (int i = 0; i < plan->pixel.samples; i++)
    products->start[i] = (int32_t) lround (ldexp (plan->tail.offset[i] - middle_error, scales.shift) - known / 256);
  return true;
}

/* Bits behind the point that totals have room for. */
static int
largest_shift (const Analysis *a, double gain)
{
  double most = gain * a->plan->tail.maximum + 2;

  for (int i = 0; i < a->plan->pixel.samples; i++)
    most = fmax (most, gain * a->plan->tail.maximum + fabs (a->plan->tail.offset[i]) + 2);
  return 30 - (int) ceil (log2 (most));
}

static bool
find_rows (Analysis *a)
{
  const ConvolveTaps *given = &a->plan->taps;

  if (!convolve_factors_find (given->wide_taps, given->width, given->height, a->budget / 8 / a->plan->tail.maximum,
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

/* Tries scales: the finest that row sums have room for, down to half of that, with totals as fine as columns allow. */
static bool
choose_rounded (const ConvolvePlan *plan, ConvolveProducts *products, ConvolveProductTaps *taps, const char **reason)
{
  enum
  {
    STEPS = 48
  };
  const double gain = convolve_sum_of_magnitudes (plan->taps.wide_taps, plan->taps.width * plan->taps.height);
  const double maximum = plan->tail.maximum, finest = 65532 / maximum;
  Analysis *a = malloc (sizeof (*a));
  Scales best = { 0, 0 };
  double least = INFINITY, error, middle_error;
  int top;
  bool done = false;

  *reason = "no memory";
  if (!a)
    return false;
  a->plan = plan;
  /* The taps' own rounding to float comes first. */
  a->budget = 0.98 * convolve_budget (plan) - gain * maximum * FLOAT_UNIT;
  *reason = "the mask is not the sum of up to four products of a column and a row";
  if (find_rows (a)) {
    *reason = "two bytes for each weight and for each row's sum are not enough";
    top = (int) floor (log2 (finest * LARGEST / a->column_peak)) - 8;
    for (int shift = top; shift >= top - 1; shift--)
      for (int step = 0; step <= STEPS && shift >= 1; step++) {
        Scales scales = { step < STEPS ? finest * exp2 (-(double) step / STEPS) : exp2 (floor (log2 (finest))), shift };

        if (shift > largest_shift (a, gain) || ldexp (a->column_peak / scales.middle, shift + 8) > LARGEST)
          continue;
        error = estimate (a, scales, taps);
        if (error < least) {
          least = error;
          best = scales;
        }
      }
    if (least < INFINITY) {
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
convolve_products_choose (const ConvolvePlan *plan, ConvolveProducts *products, ConvolveProductTaps *taps,
    const char **reason)
{
  memset (products, 0, sizeof (*products));
  measure (plan, products);
  if (!(plan->exact ? choose_exact (plan, products, taps, reason) : choose_rounded (plan, products, taps, reason)))
    return false;
  /* A lane's four samples begin with any of three. */
  for (int i = 1; i < 3 && plan->pixel.samples == 3; i++)
    if (products->start[i] != products->start[0] || plan->tail.offset_f[i] != plan->tail.offset_f[0]) {
      *reason = "the three samples of a pixel differ in their zero levels or offsets";
      return false;
    }
  return true;
}

bool
convolve_products_widen (const ConvolvePlan *plan, ConvolveProducts *products, const char **reason)
{
  int bytes = convolve_sample_size (plan->pixel.type), reach = plan->taps.width / 2 * plan->pixel.samples * bytes;
  int group = CONVOLVE_PRODUCTS_GROUP * bytes, window = 64 * bytes;

  if (products->rank > 1 || group + 2 * reach > window || plan->taps.height > CONVOLVE_TENSOR_FUSED_HEIGHT) {
    *reason = "the mask needs more than one product, is higher than 33, or reaches further than 16 bytes of samples to "
              "a side";
    return false;
  }
  products->lane_bytes = 16;
  products->lead = (window - group) / 2;
  products->units = window / CONVOLVE_PRODUCTS_UNIT;
  return true;
}

/* --- operands --- */

static uint32_t
byte_at (int limb, int b)
{
  return (uint32_t) (limb & 255) << 8 * b;
}

/* Sum s takes limb s of a tap by the first byte of a word, and limb s - 1 by its second. */
static int
limb_for (const ConvolvePlan *plan, int tap, int s, int byte)
{
  int limb = s - byte, limbs = convolve_products_limbs (plan);

  return limb < 0 || limb >= limbs ? 0 : limbs == 1 ? tap : limb == 0 ? low_limb (tap) : high_limb (tap);
}

uint32_t
convolve_products_row_word (const ConvolvePlan *plan, const ConvolveProducts *products, const ConvolveProductTaps *taps,
    int r, int u, int s, int lane, int k)
{
  int bytes = convolve_sample_size (plan->pixel.type), samples = plan->pixel.samples;
  uint32_t word = 0;

  for (int b = 0; b < 4; b++) {
    /* Bytes from the group's first sample. */
    int at = convolve_products_byte (products, u, lane) + b - products->lead;
    int reach = plan->taps.width / 2 * samples, byte = at & (bytes - 1);
    int beside = (at - byte) / bytes - (lane / 4 * 4 + k) + reach;

    if (beside >= 0 && beside <= 2 * reach && beside % samples == 0)
      word |= byte_at (limb_for (plan, taps->row[r][beside / samples], s, byte), b);
  }
  return word;
}

uint32_t
convolve_products_column_word (const ConvolvePlan *plan, const ConvolveProductTaps *taps, int r, int p, int lane, int k)
{
  uint32_t word = 0;

  for (int b = 0; b < 4; b++) {
    int row = p * CONVOLVE_PRODUCTS_ROWS + b / 2 * 8 + lane % 4 * 2 + b % 2; /* of row sums */
    int at = row - k / 2 * 8 - lane / 4;

    if (at < 0 || at >= plan->taps.height)
      continue;
    if (convolve_products_limbs (plan) == 1)
      word |= k % 2 ? byte_at (taps->column[r][at], b) : 0;
    else
      word |= byte_at (k % 2 ? high_limb (taps->column[r][at]) : low_limb (taps->column[r][at]), b);
  }
  return word;
}

/* Columns for row sums that are kept in registers are there twice, beside the next and beside the one before. */
size_t
convolve_products_operands_size (const ConvolvePlan *plan, const ConvolveProducts *products)
{
  int columns = products->pairs * (convolve_products_kept (products) ? 2 : 1);

  return ((size_t) products->rank * (products->units * convolve_products_row_sums (plan) + columns) * 32
             + CONVOLVE_PRODUCTS_STARTS)
      * 16;
}

/* The operands in the order that the header says; words has room for all. Returns how many there are. */
static size_t
fill_operands (const ConvolvePlan *plan, const ConvolveFoundProducts *found, uint32_t *words)
{
  const ConvolveProducts *products = &found->products;
  const ConvolveProductTaps *taps = &found->taps;
  size_t count = 0;

  for (int i = 0; i < 8; i++)
    words[count++] = (uint32_t) products->start[i / 2 % plan->pixel.samples];
  for (int i = 0; i < 4; i++) {
    float offset = convolve_products_offset (plan, products, i % plan->pixel.samples);

    memcpy (&words[count++], &offset, sizeof (float));
  }
  for (int r = 0; r < products->rank; r++)
    for (int u = 0; u < products->units; u += 2)
      for (int s = 0; s < convolve_products_row_sums (plan); s++)
        for (int i = 0; i < (u + 1 < products->units ? 256 : 128); i++)
          words[count++] = u + 1 == products->units
              ? convolve_products_row_word (plan, products, taps, r, u, s, i / 4, i % 4)
              : convolve_products_row_word (plan, products, taps, r, u + i / 2 % 2, s, i / 4 % 32, i / 128 * 2 + i % 2);
  for (int r = 0; r < products->rank; r++)
    for (int p = 0; p < products->pairs; p++)
      if (convolve_products_kept (products))
        for (int i = 0; i < 256; i++)
          words[count++] = convolve_products_column_word (plan, taps, r, (p + i % 2) % products->pairs, i / 4 % 32,
              i / 128 * 2 + i / 2 % 2);
      else
        for (int i = 0; i < 128; i++)
          words[count++] = convolve_products_column_word (plan, taps, r, p, i / 4, i % 4);
  return count;
}

/* --- the row's functions --- */

bool
convolve_products_accept (const ConvolvePlan *plan, bool widens, ConvolveFoundProducts **found, const char **reason)
{
  const ConvolvePixel *pixel = &plan->pixel;

  *reason = CONVOLVE_NEEDS_8_0;
  if (convolve_device_capability (plan->device) < 80)
    return false;
  *reason = "the pixels have something between their samples, or the other byte order, or no sample that is convolved";
  if (pixel->stride != pixel->samples * convolve_sample_size (pixel->type) || pixel->swapped || !pixel->select)
    return false;
  *reason = "some samples of 16-bit pixels are convolved and others are not";
  if (pixel->type == CONVOLVE_SAMPLE_U16 && pixel->select != (1u << pixel->samples) - 1)
    return false;
  *reason = "no memory";
  *found = malloc (sizeof (**found));
  if (*found && convolve_products_choose (plan, &(*found)->products, &(*found)->taps, reason)
      && (!widens || convolve_products_widen (plan, &(*found)->products, reason)))
    return true;
  free (*found);
  *found = NULL;
  return false;
}

ConvolveStatus
convolve_products_prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveFoundProducts *found = plan->prepared;
  uint32_t *words = malloc (convolve_products_operands_size (plan, &found->products));
  ConvolveStatus status;

  if (!words)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", plan->taps.width,
        plan->taps.height);
  size_t count = fill_operands (plan, found, words);

  status = convolve_device_put (plan->device, words, count * sizeof (*words), &plan->device_memory, error);
  free (words);
  return status;
}
