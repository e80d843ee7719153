/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int
oracle_word (const Oracle *oracle, const unsigned char *at)
{
  uint16_t word;

  if (oracle->sample_size == 1)
    return at[0];
  memcpy (&word, at, 2);
  return word;
}

static int
swap (const Oracle *oracle, int word)
{
  return oracle->swapped ? (word & 0xff) << 8 | word >> 8 : word;
}

int
oracle_sample (const unsigned char *at, bool swapped, int shift)
{
  const Oracle words = { .sample_size = 2, .swapped = swapped };

  return swap (&words, oracle_word (&words, at)) >> shift;
}

static int
largest (const Oracle *oracle)
{
  return (1 << oracle->depth) - 1;
}

static int
clamp (const Oracle *oracle, long double value)
{
  if (value < 0)
    return 0;
  return value > largest (oracle) ? largest (oracle) : (int) value;
}

/* The sample's distance from its zero level. Outside the image (a column or row of -1) that is 0, or the constant's. */
static int
read_sample (const Oracle *oracle, int x, int y, int k)
{
  const unsigned char *at;
  int value;

  if (x < 0 || y < 0)
    return oracle->boundary == ORACLE_CONSTANT ? oracle->outside[k] - oracle->zero[k] : 0;
  at = oracle->pixels + y * oracle->row_stride + (ptrdiff_t) x * oracle->pixel_stride + k * oracle->sample_size;
  value = swap (oracle, oracle_word (oracle, at)) >> oracle->shift;
  if (value > largest (oracle))
    value = largest (oracle);
  return value - oracle->zero[k];
}

static int64_t
floor_divide (int64_t dividend, int64_t divisor)
{
  int64_t quotient = dividend / divisor;

  return dividend % divisor < 0 ? quotient - 1 : quotient;
}

/* The value of a set: a fraction where the taps are integers, otherwise a number. */
typedef struct
{
  int64_t above, below;
  long double number;
} Value;

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

static bool
is_larger (const Oracle *oracle, const Value *a, const Value *b)
{
  if (!oracle->integers)
    return a->number > b->number;
  return (SignedWide) a->above * b->below > (SignedWide) b->above * a->below;
}

/* offset_256 is in 1/256 code values. */
static void
set_value (const Oracle *oracle, int k, int64_t offset_256, const Value *value, OracleValue *result)
{
  if (oracle->integers) {
    int64_t q = value->below;
    int64_t above = value->above * 256 + (offset_256 + 256 * oracle->zero[k]) * q; /* over 256 * q */

    result->low = result->high = clamp (oracle, (long double) floor_divide (above + 128 * q, 256 * q));
    result->exact = (double) ((long double) above / (256 * q));
  } else {
    long double exact = oracle->zero[k] + value->number + offset_256 / 256.0L;

    result->low = clamp (oracle, floorl (exact - oracle->budget + 0.5L));
    result->high = clamp (oracle, floorl (exact + oracle->budget + 0.5L));
    result->exact = (double) exact;
  }
}

static int64_t
least_multiple (int64_t a, int64_t b)
{
  int64_t x = a, y = b;

  while (y != 0) {
    int64_t rest = x % y;

    x = y;
    y = rest;
  }
  return a / x > INT64_MAX / b ? INT64_MAX : a / x * b;
}

/*
 * The values as whole numbers over one denominator, and the sum of their squares. False where these need more than the
 * 128 bits that find_magnitude() has.
 */
static bool
square_integers (const Value *values, int n, int64_t *denominator, Wide *squares)
{
  *denominator = 1;
  *squares = 0;
  for (int i = 0; i < n; i++) {
    *denominator = least_multiple (*denominator, values[i].below);
    if (*denominator >= (int64_t) 1 << 34)
      return false;
  }
  for (int i = 0; i < n; i++) {
    SignedWide whole = (SignedWide) values[i].above * (*denominator / values[i].below);

    if (whole >= (int64_t) 1 << 50 || -whole >= (int64_t) 1 << 50)
      return false;
    *squares += (Wide) (whole * whole);
  }
  return true;
}

/* The largest r with r <= root of squares / denominator + zero + offset + 1/2. No root is taken: both sides are squared. */
static int
find_magnitude (const Oracle *oracle, int64_t base_256, Wide squares, int64_t denominator)
{
  int low = 0, high = largest (oracle);

  while (low < high) {
    int r = low + (high - low + 1) / 2;
    int64_t least = 256 * (int64_t) r - base_256;
    SignedWide left = (SignedWide) least * denominator;

    if (least <= 0 || (Wide) (left * left) <= squares * 65536)
      low = r;
    else
      high = r - 1;
  }
  return low;
}

static void
set_magnitude (const Oracle *oracle, int k, int64_t offset_256, const Value *values, int n, OracleValue *result)
{
  long double sum = 0, exact;
  int64_t denominator;
  Wide squares;

  for (int i = 0; i < n; i++) {
    long double value = oracle->integers ? (long double) values[i].above / values[i].below : values[i].number;

    sum += value * value;
  }
  exact = oracle->zero[k] + offset_256 / 256.0L + sqrtl (sum);
  result->exact = (double) exact;
  if (oracle->integers && square_integers (values, n, &denominator, &squares)) {
    int64_t base_256 = offset_256 + 256 * oracle->zero[k] + 128;

    result->low = result->high = find_magnitude (oracle, base_256, squares, denominator);
  } else {
    result->low = clamp (oracle, floorl (exact - oracle->budget + 0.5L));
    result->high = clamp (oracle, floorl (exact + oracle->budget + 0.5L));
  }
}

/* around is the sample under the first tap. */
static void
sum_set (const Oracle *oracle, const OracleSet *set, const int32_t *around, int span, Value *value)
{
  int64_t integer_sum = 0;
  long double sum = 0;

  for (int j = 0; j < oracle->mask_height; j++) {
    const int32_t *row = around + (size_t) j * span;

    if (oracle->integers) {
      const int64_t *taps = set->integers + j * oracle->mask_width;

      for (int i = 0; i < oracle->mask_width; i++)
        integer_sum += taps[i] * row[i];
    } else {
      const double *taps = set->weights + j * oracle->mask_width;

      for (int i = 0; i < oracle->mask_width; i++)
        sum += (long double) taps[i] * row[i];
    }
  }
  *value = (Value){ integer_sum * set->numerator, set->denominator, oracle->integers ? 0 : sum / set->divisor };
}

static void
combine (const Oracle *oracle, int k, int64_t offset_256, Value *values, int n, OracleValue *result)
{
  int at = 0;

  if (oracle->combination == ORACLE_NORM) {
    set_magnitude (oracle, k, offset_256, values, n, result);
    return;
  }
  if (oracle->combination == ORACLE_ABSOLUTE_VALUE) {
    values[0].above = values[0].above < 0 ? -values[0].above : values[0].above;
    values[0].number = fabsl (values[0].number);
  }
  for (int i = 1; i < n; i++)
    if (is_larger (oracle, &values[i], &values[at]))
      at = i;
  set_value (oracle, k, offset_256, &values[at], result);
}

/* Sample k of all pixels of the rectangle. around holds the rectangle with its halo, in rows of span samples. */
static void
convolve_sample (const Oracle *oracle, int k, const int32_t *around, int span, int width, int height,
    OracleValue *values)
{
  OracleSet first = { oracle->integers, oracle->numerator, oracle->denominator, oracle->weights, oracle->divisor };
  int64_t offset_256 = 0;

  if (oracle->biased & 1u << k)
    offset_256 = (int64_t) floor (oracle->offset * oracle->range[k] * 256 + 0.5);

  for (int r = 0; r < height; r++) {
    for (int c = 0; c < width; c++) {
      const int32_t *under = around + (size_t) r * span + c;
      Value of_sets[ORACLE_SETS];

      sum_set (oracle, &first, under, span, &of_sets[0]);
      for (int i = 0; i < oracle->more_sets; i++)
        sum_set (oracle, &oracle->more[i], under, span, &of_sets[i + 1]);
      combine (oracle, k, offset_256, of_sets, oracle->more_sets + 1, &values[(r * width + c) * oracle->samples + k]);
    }
  }
}

void
oracle_copy (const Oracle *oracle, int k, int x, int y, int width, int height, OracleValue *values)
{
  for (int r = 0; r < height; r++) {
    for (int c = 0; c < width; c++) {
      const unsigned char *at = oracle->pixels + (y + r) * oracle->row_stride
          + (ptrdiff_t) (x + c) * oracle->pixel_stride + k * oracle->sample_size;
      OracleValue *value = &values[(r * width + c) * oracle->samples + k];

      value->low = value->high = oracle_word (oracle, at);
      value->exact = 0;
    }
  }
}

int32_t *
oracle_around (const Oracle *oracle, int k, int x, int y, int width, int height)
{
  int span = width + oracle->mask_width - 1, lines = height + oracle->mask_height - 1;
  int32_t *around = calloc ((size_t) span * lines, sizeof *around);

  for (int j = 0; j < lines && around; j++) {
    int row = oracle_inside (oracle->boundary, y + j - oracle->mask_height / 2, oracle->height);

    for (int i = 0; i < span; i++) {
      int column = oracle_inside (oracle->boundary, x + i - oracle->mask_width / 2, oracle->width);

      around[(size_t) j * span + i] = read_sample (oracle, column, row, k) + oracle->zero[k];
    }
  }
  return around;
}

bool
oracle_convolve (const Oracle *oracle, int x, int y, int width, int height, OracleValue *values)
{
  int span = width + oracle->mask_width - 1, lines = height + oracle->mask_height - 1;

  for (int k = 0; k < oracle->samples; k++) {
    int32_t *around;

    if (!(oracle->select & 1u << k)) {
      oracle_copy (oracle, k, x, y, width, height, values);
      continue;
    }
    around = oracle_around (oracle, k, x, y, width, height);
    if (!around)
      return false;
    for (int i = 0; i < span * lines; i++)
      around[i] -= oracle->zero[k];
    convolve_sample (oracle, k, around, span, width, height, values);
    free (around);
  }
  return true;
}

bool
oracle_accepts (const Oracle *oracle, int k, const OracleValue *value, const unsigned char *at)
{
  int word = oracle_word (oracle, at);

  if (!(oracle->select & 1u << k))
    return word == value->low;

  word = swap (oracle, word);
  if (word & ((1 << oracle->shift) - 1))
    return false; /* the unused bits below are written as 0 */
  return word >> oracle->shift >= value->low && word >> oracle->shift <= value->high;
}
