/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The results of an OracleArithmetic: sums of integers and floors, as plain as possible. */
#include "support/oracle_arithmetic.h"

#include <stdlib.h>

/* The floor of the quotient by 2^bits. */
static int64_t
floor_shift (int64_t number, int bits)
{
  int64_t unit = (int64_t) 1 << bits;

  return number / unit - (number % unit < 0);
}

static int
clamp (const Oracle *oracle, int64_t value)
{
  int64_t largest = ((int64_t) 1 << oracle->depth) - 1;

  return (int) (value < 0 ? 0 : value > largest ? largest : value);
}

/* A rectangle with its halo, in rows of span samples, and the sums of its pixels. */
typedef struct
{
  const Oracle *oracle;
  const OracleArithmetic *arithmetic;
  const int32_t *around;
  int span, width, height;
  int64_t *sums;
} Sums;

static void
sum_taps (const Sums *sums)
{
  int mask_width = sums->oracle->mask_width, mask_height = sums->oracle->mask_height;

  for (int y = 0; y < sums->height; y++)
    for (int x = 0; x < sums->width; x++) {
      int64_t sum = 0;

      for (int j = 0; j < mask_height; j++)
        for (int i = 0; i < mask_width; i++)
          sum += sums->arithmetic->taps[j * mask_width + i] * sums->around[(size_t) (y + j) * sums->span + x + i];
      sums->sums[(size_t) y * sums->width + x] += sum;
    }
}

/* R of all rows of the rectangle and its halo; then the columns. False where an R is outside 0 .. 65535, too. */
static bool
sum_product (const Sums *sums, const OracleProduct *product)
{
  int mask_width = sums->oracle->mask_width, mask_height = sums->oracle->mask_height;
  int lines = sums->height + mask_height - 1;
  int64_t *R = calloc ((size_t) lines * sums->width, sizeof *R);
  bool done = R != NULL;

  for (int y = 0; y < lines && done; y++)
    for (int x = 0; x < sums->width; x++) {
      int64_t sum = product->start;

      for (int i = 0; i < mask_width; i++)
        sum += product->row[i] * sums->around[(size_t) y * sums->span + x + i];
      R[(size_t) y * sums->width + x] = floor_shift (sum, product->cut);
      done = done && R[(size_t) y * sums->width + x] >= 0 && R[(size_t) y * sums->width + x] <= 65535;
    }
  for (int y = 0; y < sums->height && done; y++)
    for (int x = 0; x < sums->width; x++)
      for (int j = 0; j < mask_height; j++)
        sums->sums[(size_t) y * sums->width + x] += product->column[j] * R[(size_t) (y + j) * sums->width + x];
  free (R);
  return done;
}

static bool
sum_up (const Sums *sums)
{
  const OracleArithmetic *arithmetic = sums->arithmetic;
  bool done = true;

  if (arithmetic->taps)
    sum_taps (sums);
  for (int p = 0; p < arithmetic->products && done; p++)
    done = sum_product (sums, &arithmetic->product[p]);
  for (int y = 0; y < sums->height && arithmetic->centre != 0; y++)
    for (int x = 0; x < sums->width; x++)
      sums->sums[(size_t) y * sums->width + x] += arithmetic->centre
          * sums->around[(size_t) (y + sums->oracle->mask_height / 2) * sums->span + x + sums->oracle->mask_width / 2];
  return done;
}

bool
oracle_arithmetic_convolve (const Oracle *oracle, const OracleArithmetic *arithmetic, int x, int y, int width,
    int height, OracleValue *values)
{
  int64_t *numbers = calloc ((size_t) width * height, sizeof *numbers);
  bool done = numbers != NULL;

  for (int k = 0; k < oracle->samples && done; k++) {
    int32_t *around = NULL;
    Sums sums = { oracle, arithmetic, NULL, width + oracle->mask_width - 1, width, height, numbers };

    if (!(oracle->select & 1u << k)) {
      oracle_copy (oracle, k, x, y, width, height, values);
      continue;
    }
    around = oracle_around (oracle, k, x, y, width, height);
    sums.around = around;
    for (int i = 0; i < width * height; i++)
      numbers[i] = arithmetic->start[k];
    done = around && sum_up (&sums);
    for (int i = 0; i < width * height && done; i++) {
      OracleValue *value = &values[(size_t) i * oracle->samples + k];

      value->low = value->high = clamp (oracle, floor_shift (numbers[i], arithmetic->bits));
    }
    free (around);
  }
  free (numbers);
  return done;
}
