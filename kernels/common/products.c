/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The integers of masks that are columns times rows. arithmetic.c chooses among these and others; what it says of
 * numbers that are the same on every machine holds here, too.
 */
#include "common/products.h"

#include <string.h>

#define LARGEST_CUT 16

/* What one product's integers are worth. */
typedef struct
{
  double error; /* of the taps and of the cut, in code values */
  double sum;   /* of the taps, column times row, in code values */
  double known; /* what the row start adds to every total */
  double cuts;  /* half of the sum of the column's magnitudes, in code values */
} Worth;

/* The largest cut with which the row's peak fits two digits, or -1. */
static int
largest_cut (double peak)
{
  int cut = LARGEST_CUT;

  while (cut >= 0 && convolve_round_half_up (ldexp (peak, cut)) > CONVOLVE_LARGEST_OF_2_DIGITS)
    cut--;
  return cut;
}

/* Rounds a row at a scale. Its integers go to product, which may be NULL. */
static ConvolveRoundedRow
round_row (const ConvolveAnalysis *a, const double *row, double scale, int cut, ConvolveProduct *product)
{
  const int width = a->input->width;
  const double row_scale = ldexp (scale / 256, cut);
  double below = 0, above = 0, sum = 0, error = 0, start;
  ConvolveRoundedRow rounded = { .cut = cut };
  int64_t first;

  for (int i = 0; i < width; i++) {
    double tap = convolve_round_half_up (row[i] * row_scale), sums = fabs (tap) * a->maximum;

    if (fabs (tap) > CONVOLVE_LARGEST_OF_2_DIGITS)
      return rounded;
    if (product)
      product->row[i] = (int) tap;
    below += tap < 0 ? sums : 0;
    above += tap < 0 ? 0 : sums;
    sum += tap;
    error += fabs (tap / row_scale - row[i]);
  }
  start = ceil (ldexp (below, -cut));
  first = (int64_t) ldexp (start, cut) + (cut > 0 ? (int64_t) 1 << (cut - 1) : 0);
  if (product) {
    product->cut = cut;
    product->row_start = first;
  }
  rounded.fits = floor (ldexp (above + (double) first, -cut)) <= CONVOLVE_LARGEST_ROW_SUM;
  rounded.sum = sum / row_scale;
  rounded.error = error;
  rounded.start = start;
  return rounded;
}

/* Rounds all rows at all scales: totals of any number of bits have the same rows. */
static void
round_rows (const ConvolveAnalysis *a, ConvolveDecomposition *d)
{
  double scale = floor (CONVOLVE_LARGEST_ROW_SUM * 256 / a->maximum);

  for (int s = 0; s < CONVOLVE_ROW_SCALES; s++, scale = floor (scale * 251 / 256))
    d->scales[s] = scale >= 1 ? scale : 0;
  for (int k = 0; k < d->factors.rank; k++) {
    const double *row = d->factors.row[k], peak = convolve_largest_magnitude (row, a->input->width);

    d->columns[k] = convolve_sum_of_magnitudes (d->factors.column[k], a->input->height);
    for (int s = 0; s < CONVOLVE_ROW_SCALES; s++)
      for (int is_short = 0; is_short < 2; is_short++) {
        int cut = is_short ? CONVOLVE_SHORT_CUT : largest_cut (peak * (d->scales[s] / 256));

        d->rows[is_short][k][s] = d->scales[s] > 0 && cut >= 0 ? round_row (a, row, d->scales[s], cut, NULL)
                                                               : (ConvolveRoundedRow){ .fits = false };
      }
  }
}

/* Rounds a column beside a rounded row, for totals of 2^bits. False where a tap does not fit. */
static bool
round_column (const ConvolveAnalysis *a, const double *column, const ConvolveRoundedRow *row, double scale, int bits,
    ConvolveProduct *product, Worth *worth)
{
  const double column_scale = ldexp (1, bits) / (scale / 256);
  double sum = 0, error = 0, magnitudes = 0;

  for (int j = 0; j < a->input->height; j++) {
    double tap = convolve_round_half_up (column[j] * column_scale);

    if (fabs (tap) > CONVOLVE_LARGEST_OF_2_DIGITS)
      return false;
    if (product)
      product->column[j] = (int) tap;
    sum += tap;
    magnitudes += fabs (tap);
    error += fabs (tap / column_scale - column[j]);
  }
  worth->cuts = ldexp (magnitudes / 2, -bits);
  worth->sum = row->sum * (sum / column_scale);
  worth->error = a->middle * (row->error * (magnitudes / column_scale) + error) + worth->cuts;
  worth->known = sum * row->start;
  return true;
}

/* What the error of a product is at least, beside a rounded row: a tap of the column is off by half a unit at most. */
static double
least_error (const ConvolveAnalysis *a, double column_magnitudes, const ConvolveRoundedRow *row, double scale, int bits)
{
  const double column_scale = ldexp (1, bits) / (scale / 256);
  double magnitudes = column_magnitudes * column_scale - a->input->height / 2.0;

  return magnitudes > 0 ? CONVOLVE_SHARE * magnitudes * (a->middle * row->error / column_scale + ldexp (0.5, -bits))
                        : 0;
}

/*
 * The first scale of row sums, from the finest down, with which product k is worth its share of the error; otherwise
 * the one with the least error. *has_share tells which. False where none fits.
 */
static bool
find_product (const ConvolveAnalysis *a, const ConvolveDecomposition *d, int k, int bits, bool short_rows, double share,
    ConvolveProduct *product, Worth *worth, bool *has_share)
{
  const double *column = d->factors.column[k];
  double least = INFINITY;
  int best = -1;

  *has_share = false;
  for (int s = 0; s < CONVOLVE_ROW_SCALES && !*has_share; s++) {
    const ConvolveRoundedRow *row = &d->rows[short_rows][k][s];
    double bound = row->fits ? least_error (a, d->columns[k], row, d->scales[s], bits) : INFINITY;

    if ((bound > share && bound >= least) || !round_column (a, column, row, d->scales[s], bits, NULL, worth))
      continue;
    *has_share = worth->error <= share;
    if (*has_share || worth->error < least) {
      least = worth->error;
      best = s;
    }
  }
  if (best < 0)
    return false;
  round_row (a, d->factors.row[k], d->scales[best], d->rows[short_rows][k][best].cut, product);
  return round_column (a, column, &d->rows[short_rows][k][best], d->scales[best], bits, product, worth);
}

/* Whether the limit allows the error of all products together, tap by tap, and `rest` and the rounding of the start. */
static bool
taps_keep_limit (const ConvolveAnalysis *a, const ConvolveDecomposition *d, int bits, double rest,
    const ConvolveArithmetic *arithmetic)
{
  const int width = a->input->width, height = a->input->height;
  double units[CONVOLVE_MAX_RANK], error = 0;
  bool keep = true;

  for (int k = 0; k < d->factors.rank; k++)
    units[k] = ldexp (1, -bits - arithmetic->products[k].cut);
  for (int j = 0; j < height && keep; j++) {
    for (int i = 0; i < width; i++) {
      double tap = 0;

      for (int k = 0; k < d->factors.rank; k++) {
        const ConvolveProduct *product = &arithmetic->products[k];

        tap += (double) product->column[j] * product->row[i] * units[k];
      }
      if (j == height / 2 && i == width / 2)
        tap += ldexp (arithmetic->centre, -bits);
      error += fabs (tap - a->input->taps[j * width + i]);
    }
    keep = a->middle * error + rest + ldexp (CONVOLVE_FINE, -bits) <= a->limit;
  }
  return keep;
}

/* The centre's own tap: what the products' integers miss there, so that the error of their taps there is gone, too. */
static double
find_centre (const ConvolveAnalysis *a, int bits, const ConvolveArithmetic *arithmetic)
{
  const int width = a->input->width, height = a->input->height;
  double missing = a->input->taps[height / 2 * width + width / 2];

  for (int k = 0; k < arithmetic->rank; k++) {
    const ConvolveProduct *product = &arithmetic->products[k];

    missing -= ldexp ((double) product->column[height / 2] * product->row[width / 2], -bits - product->cut);
  }
  return convolve_round_half_up (ldexp (missing, bits) / CONVOLVE_FINE) * CONVOLVE_FINE;
}

/*
 * Tries the products at 2^bits of a code value: each with the first scale that is worth its part of the error, or,
 * where `least`, each with the least error. *are_least tells whether all have the least error in any case.
 */
static bool
try_products_by (const ConvolveAnalysis *a, const ConvolveDecomposition *d, int bits, bool short_rows, bool least,
    ConvolveArithmetic *arithmetic, bool *are_least)
{
  const int rank = d->factors.rank;
  double constant = ldexp (CONVOLVE_FINE, -bits), missed = d->factors.missed * a->middle, error, sum = 0;
  double known = 0, cuts = 0, centre = 0;

  if (d->has_centre)
    constant += ldexp (CONVOLVE_FINE, -bits) * a->middle;
  error = constant + missed;
  *are_least = true;
  for (int k = 0; k < rank; k++) {
    bool has_share;
    Worth worth;

    if (!find_product (a, d, k, bits, short_rows, least ? 0 : (a->limit - constant - missed) / rank,
            &arithmetic->products[k], &worth, &has_share))
      return false;
    *are_least = *are_least && !has_share;
    error += worth.error;
    sum += worth.sum;
    known += worth.known;
    cuts += worth.cuts;
  }
  arithmetic->rank = rank;
  arithmetic->centre = 0;
  if (d->has_centre) {
    centre = find_centre (a, bits, arithmetic);
    if (fabs (centre) >= CONVOLVE_2_31 / 2)
      return false;
    arithmetic->centre = (int) centre;
    sum += ldexp (centre, -bits);
  }
  if (error > a->limit && !taps_keep_limit (a, d, bits, cuts, arithmetic))
    return false;
  convolve_set_starts (a, bits, sum, known, arithmetic);
  arithmetic->kind = CONVOLVE_ARITHMETIC_PRODUCTS;
  arithmetic->short_rows = true;
  for (int k = 0; k < rank; k++)
    arithmetic->short_rows = arithmetic->short_rows && arithmetic->products[k].cut == CONVOLVE_SHORT_CUT;
  return true;
}

static bool
try_products (const ConvolveAnalysis *a, const ConvolveDecomposition *d, int bits, bool short_rows,
    ConvolveArithmetic *arithmetic)
{
  bool are_least = false;

  return try_products_by (a, d, bits, short_rows, false, arithmetic, &are_least)
      || (!are_least && try_products_by (a, d, bits, short_rows, true, arithmetic, &are_least));
}

bool
convolve_choose_products (const ConvolveAnalysis *a, ConvolveDecomposition *d, ConvolveArithmetic *arithmetic)
{
  const int coarser = 4; /* bits that are tried below the finest */

  round_rows (a, d);
  for (int long_rows = 0; long_rows < 2; long_rows++)
    for (int bits = a->narrow; bits > a->narrow - coarser && bits > CONVOLVE_FINE_BITS; bits--)
      if (bits <= a->most && try_products (a, d, bits, !long_rows, arithmetic))
        return true;
  for (int bits = a->narrow < CONVOLVE_FINE_BITS ? CONVOLVE_FINE_BITS + 1 : a->narrow + 1; bits <= a->most; bits++)
    if (try_products (a, d, bits, false, arithmetic))
      return true;
  return false;
}

bool
convolve_find_factors (const ConvolveAnalysis *a, const double *taps, ConvolveDecomposition *d)
{
  const int width = a->input->width, height = a->input->height;

  if (!convolve_factors_find (taps, width, height, a->input->budget / 8 / a->maximum, &d->factors))
    return false;
  for (int k = 0; k < d->factors.rank; k++) {
    double sum = convolve_sum_of_magnitudes (d->factors.row[k], width);

    for (int i = 0; i < width; i++)
      d->factors.row[k][i] /= sum;
    for (int j = 0; j < height; j++)
      d->factors.column[k][j] *= sum;
  }
  return true;
}

bool
convolve_find_factors_beside_centre (const ConvolveAnalysis *a, double *taps, ConvolveDecomposition *d)
{
  const int width = a->input->width, centre = a->count / 2;
  double corner;

  if (width < 3 || a->input->height < 3)
    return false;
  corner = a->input->taps[centre - width - 1];
  if (corner == 0)
    return false;
  memcpy (taps, a->input->taps, (size_t) a->count * sizeof (*taps));
  taps[centre] = taps[centre - 1] * taps[centre - width] / corner;
  d->has_centre = true;
  return convolve_find_factors (a, taps, d) && d->factors.rank == 1;
}
