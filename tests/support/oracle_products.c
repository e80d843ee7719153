/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arithmetic PRODUCTS: factors of a mask, and integers for them. */
#include "support/oracle_products.h"

#include <stdlib.h>
#include <string.h>

/* Takes one product off the rest. */
static void
take_off (double *rest, int width, int height, OracleFactor *factor)
{
  int at = 0;
  double tap;

  for (int i = 1; i < width * height; i++)
    if (fabs (rest[i]) > fabs (rest[at]))
      at = i;
  tap = rest[at];
  for (int i = 0; i < width; i++)
    factor->row[i] = rest[at / width * width + i];
  for (int j = 0; j < height; j++)
    factor->column[j] = rest[j * width + at % width] / tap;
  for (int i = 0; i < width * height; i++)
    rest[i] -= factor->column[i / width] * factor->row[i % width];
}

static void
balance (OracleFactor *factor, int width, int height)
{
  double sum = 0;

  for (int i = 0; i < width; i++)
    sum += fabs (factor->row[i]);
  for (int i = 0; i < width; i++)
    factor->row[i] /= sum;
  for (int j = 0; j < height; j++)
    factor->column[j] *= sum;
}

static void
find_factors (const OracleWords *words, double *rest, OracleFactors *factors)
{
  int width = words->taps->width, height = words->taps->height;

  factors->products = 0;
  for (;;) {
    factors->missed = 0;
    for (int i = 0; i < words->count; i++)
      factors->missed += fabs (rest[i]);
    if (factors->missed <= words->B / 8 / words->M)
      break;
    if (factors->products == MOST_PRODUCTS) {
      factors->products = 0;
      return;
    }
    take_off (rest, width, height, &factors->factor[factors->products++]);
  }
  for (int p = 0; p < factors->products; p++)
    balance (&factors->factor[p], width, height);
}

bool
oracle_factors_of (const OracleWords *words, bool with_centre, OracleFactors *factors)
{
  int width = words->taps->width, height = words->taps->height, at = words->count / 2;
  double *rest = malloc (words->count * sizeof *rest);

  *factors = (OracleFactors){ 0 };
  if (!rest)
    abort ();
  memcpy (rest, words->w, words->count * sizeof *rest);
  if (with_centre && (width < 3 || height < 3 || words->w[at - width - 1] == 0)) {
    free (rest);
    return false;
  }
  if (with_centre)
    rest[at] = words->w[at - 1] * words->w[at - width] / words->w[at - width - 1];
  find_factors (words, rest, factors);
  free (rest);
  if (with_centre) {
    factors->has_centre = true;
    return factors->products == 1;
  }
  return factors->products > 0;
}

/* One product's integers for a fineness and bits, and what follows from them. */
typedef struct
{
  int64_t row[255], column[255];
  int cut;
  int64_t N, h;
  double made; /* the share of the product in T */
  double error;
} Integers;

static bool
choose_cut (const OracleFactor *factor, int width, double f, bool short_rows, int *cut)
{
  double largest = oracle_largest_magnitude (factor->row, width);

  *cut = short_rows ? 8 : 16;
  while (!short_rows && *cut >= 0 && oracle_round (ldexp (f / 256 * largest, *cut)) > TWO_BYTES)
    *cut -= 1;
  return *cut >= 0;
}

static bool
fits (const OracleWords *words, const OracleFactor *factor, int b, double f, bool short_rows, Integers *integers)
{
  int width = words->taps->width, height = words->taps->height;
  int64_t below = 0, above = 0, M = (int64_t) words->M, unit;

  if (!choose_cut (factor, width, f, short_rows, &integers->cut))
    return false;
  unit = (int64_t) 1 << integers->cut;
  for (int i = 0; i < width; i++) {
    integers->row[i] = (int64_t) oracle_round (factor->row[i] * f / 256 * (double) unit);
    below += integers->row[i] < 0 ? -integers->row[i] : 0;
    above += integers->row[i] > 0 ? integers->row[i] : 0;
  }
  for (int j = 0; j < height; j++) {
    double v = oracle_round (ldexp (factor->column[j], b) / (f / 256));

    if (fabs (v) > TWO_BYTES)
      return false;
    integers->column[j] = (int64_t) v;
  }
  integers->N = (M * below + unit - 1) / unit;
  integers->h = integers->N * unit + (integers->cut > 0 ? unit / 2 : 0);
  return oracle_largest_integer (integers->row, width) <= TWO_BYTES && (M * above + integers->h) / unit <= 65535;
}

static void
find_error (const OracleWords *words, const OracleFactor *factor, int b, double f, Integers *integers)
{
  double row_unit = ldexp (f / 256, integers->cut), column_unit = ldexp (1, b) / (f / 256);
  double row_error = 0, column_error = 0, size = 0, row_sum = 0, column_sum = 0;

  for (int i = 0; i < words->taps->width; i++) {
    row_error += fabs ((double) integers->row[i] / row_unit - factor->row[i]);
    row_sum += (double) integers->row[i];
  }
  for (int j = 0; j < words->taps->height; j++) {
    column_error += fabs ((double) integers->column[j] / column_unit - factor->column[j]);
    size += fabs ((double) integers->column[j]);
    column_sum += (double) integers->column[j];
  }
  integers->error = words->c * (row_error * (size / column_unit) + column_error) + ldexp (size / 2, -b);
  integers->made = row_sum / row_unit * (column_sum / column_unit);
}

/* The first fineness whose error is at most enough, otherwise that of the least error. */
static bool
find_product (const OracleWords *words, const OracleFactor *factor, int b, bool short_rows, double enough,
    Integers *best)
{
  double f = floor (65535 * 256.0 / words->M);
  bool found = false;

  for (int i = 0; i < MOST_FINENESSES && f >= 1; i++, f = floor (f * 251 / 256)) {
    Integers integers = { 0 };

    if (!fits (words, factor, b, f, short_rows, &integers))
      continue;
    find_error (words, factor, b, f, &integers);
    if (!found || integers.error < best->error)
      *best = integers;
    found = true;
    if (integers.error <= enough)
      return true;
  }
  return found;
}

/* What the integers of the products miss of w at the centre, times 2^b, as a multiple of 256. */
static double
find_centre (const OracleWords *words, const OracleFactors *factors, const Integers *integers, int b)
{
  int width = words->taps->width, height = words->taps->height;
  double made = (double) (integers->column[height / 2] * integers->row[width / 2]);

  if (!factors->has_centre)
    return 0;
  return 256 * oracle_round ((ldexp (words->w[words->count / 2], b) - ldexp (made, -integers->cut)) / 256);
}

/* c * the sum of |the taps that the integers make - w|, plus the errors of the row sums. */
static double
error_of_made (const OracleWords *words, const OracleFactors *factors, const Integers *integers, int b, double centre)
{
  int width = words->taps->width;
  double error = 0, size = 0;

  for (int i = 0; i < words->count; i++) {
    double made = i == words->count / 2 ? ldexp (centre, -b) : 0;

    for (int p = 0; p < factors->products; p++)
      made += ldexp ((double) (integers[p].column[i / width] * integers[p].row[i % width]), -b - integers[p].cut);
    error += fabs (made - words->w[i]);
  }
  for (int p = 0; p < factors->products; p++)
    size += oracle_sum_of_magnitudes (integers[p].column, words->taps->height);
  return words->c * error + ldexp (size / 2, -b);
}

static void
set_products (const OracleWords *words, const OracleFactors *factors, const Integers *integers, int b, double centre,
    OracleArithmetic *result)
{
  double T = 0, under = 0;

  for (int p = 0; p < factors->products; p++) {
    OracleProduct *product = &result->product[p];

    memcpy (product->row, integers[p].row, sizeof product->row);
    memcpy (product->column, integers[p].column, sizeof product->column);
    product->cut = integers[p].cut;
    product->start = integers[p].h;
    T += integers[p].made;
    for (int j = 0; j < words->taps->height; j++)
      under += (double) (integers[p].N * integers[p].column[j]);
  }
  T += ldexp (centre, -b);
  for (int k = 0; k < words->taps->samples; k++)
    result->start[k] =
        256 * (int64_t) oracle_round ((ldexp (words->o[k] + words->c * (words->W - T), b) - under) / 256);
  result->kind = ORACLE_PRODUCTS;
  result->short_rows = true;
  for (int p = 0; p < factors->products; p++)
    result->short_rows = result->short_rows && integers[p].cut == 8;
  result->products = factors->products;
  result->centre = (int64_t) centre;
  result->bits = b;
  result->narrow = b <= words->narrow_bits;
}

/* Tries these bits, first with enough for each product, then with the least errors. */
static bool
try_bits (const OracleWords *words, const OracleFactors *factors, int b, bool short_rows, OracleArithmetic *result)
{
  double k = ldexp (256, -b) * (factors->has_centre ? 1 + words->c : 1);
  double enough = (words->L - k - words->c * factors->missed) / factors->products;

  for (int pass = 0; pass < 2; pass++) {
    Integers integers[MOST_PRODUCTS] = { 0 };
    double sum = 0, centre;

    for (int p = 0; p < factors->products; p++) {
      if (!find_product (words, &factors->factor[p], b, short_rows, pass == 0 ? enough : -1, &integers[p]))
        return false;
      sum += integers[p].error;
    }
    centre = find_centre (words, factors, integers, b);
    if (fabs (centre) >= ldexp (1, 30))
      return false;
    if (sum + k + words->c * factors->missed <= words->L
        || error_of_made (words, factors, integers, b, centre) + ldexp (256, -b) <= words->L) {
      set_products (words, factors, integers, b, centre, result);
      return true;
    }
  }
  return false;
}

bool
oracle_find_products (const OracleWords *words, const OracleFactors *factors, OracleArithmetic *result)
{
  int n = words->narrow_bits;

  for (int pass = 0; pass < 2; pass++)
    for (int b = n; b > n - 4 && b > 16; b--)
      if (ldexp (words->largest_total, b) < ldexp (1, 39) && try_bits (words, factors, b, pass == 0, result))
        return true;
  for (int b = n + 1; ldexp (words->largest_total, b) < ldexp (1, 39); b++)
    if (b > 16 && try_bits (words, factors, b, false, result))
      return true;
  return false;
}
