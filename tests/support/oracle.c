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

/* offset_256 is in 1/256 code values. */
static void
set_value (const Oracle *oracle, int k, int64_t offset_256, int64_t integer_sum, long double sum, OracleValue *value)
{
  if (oracle->integers) {
    int64_t p = oracle->numerator, q = oracle->denominator;
    int64_t above = integer_sum * p * 256 + (offset_256 + 256 * oracle->zero[k]) * q; /* over 256 * q */

    value->low = value->high = clamp (oracle, (long double) floor_divide (above + 128 * q, 256 * q));
    value->exact = (double) ((long double) above / (256 * q));
  } else {
    long double exact = oracle->zero[k] + sum / oracle->divisor + offset_256 / 256.0L;

    value->low = clamp (oracle, floorl (exact - oracle->budget + 0.5L));
    value->high = clamp (oracle, floorl (exact + oracle->budget + 0.5L));
    value->exact = (double) exact;
  }
}

/* Sample k of all pixels of the rectangle. around holds the rectangle with its halo, in rows of span samples. */
static void
convolve_sample (const Oracle *oracle, int k, const int32_t *around, int span, int width, int height,
    OracleValue *values)
{
  int64_t offset_256 = 0;

  if (oracle->biased & 1u << k)
    offset_256 = (int64_t) floor (oracle->offset * oracle->range[k] * 256 + 0.5);

  for (int r = 0; r < height; r++) {
    for (int c = 0; c < width; c++) {
      int64_t integer_sum = 0;
      long double sum = 0;

      for (int j = 0; j < oracle->mask_height; j++) {
        const int32_t *row = around + (size_t) (r + j) * span + c;

        if (oracle->integers) {
          const int64_t *taps = oracle->integers + j * oracle->mask_width;

          for (int i = 0; i < oracle->mask_width; i++)
            integer_sum += taps[i] * row[i];
        } else {
          const double *taps = oracle->weights + j * oracle->mask_width;

          for (int i = 0; i < oracle->mask_width; i++)
            sum += (long double) taps[i] * row[i];
        }
      }
      set_value (oracle, k, offset_256, integer_sum, sum, &values[(r * width + c) * oracle->samples + k]);
    }
  }
}

static void
copy_sample (const Oracle *oracle, int k, int x, int y, int width, int height, OracleValue *values)
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

bool
oracle_convolve (const Oracle *oracle, int x, int y, int width, int height, OracleValue *values)
{
  int span = width + oracle->mask_width - 1, lines = height + oracle->mask_height - 1;
  int *columns = malloc (span * sizeof *columns);
  int *rows = malloc (lines * sizeof *rows);
  int32_t *around = malloc ((size_t) span * lines * sizeof *around);
  bool done = columns && rows && around;

  if (done) {
    for (int i = 0; i < span; i++)
      columns[i] = oracle_inside (oracle->boundary, x + i - oracle->mask_width / 2, oracle->width);
    for (int j = 0; j < lines; j++)
      rows[j] = oracle_inside (oracle->boundary, y + j - oracle->mask_height / 2, oracle->height);

    for (int k = 0; k < oracle->samples; k++) {
      if (oracle->select & 1u << k) {
        for (int j = 0; j < lines; j++) {
          for (int i = 0; i < span; i++)
            around[(size_t) j * span + i] = read_sample (oracle, columns[i], rows[j], k);
        }
        convolve_sample (oracle, k, around, span, width, height, values);
      } else {
        copy_sample (oracle, k, x, y, width, height, values);
      }
    }
  }

  free (columns);
  free (rows);
  free (around);
  return done;
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
