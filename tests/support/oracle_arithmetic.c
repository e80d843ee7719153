/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/oracle_products.h"

#include <stdlib.h>
#include <string.h>

double
oracle_largest_magnitude (const double *numbers, int count)
{
  double largest = 0;

  for (int i = 0; i < count; i++)
    largest = fmax (largest, fabs (numbers[i]));
  return largest;
}

/* --- integers times one factor --- */

/*
 * The fraction p / q with the least q up to the limit that is the ratio to within a part of 4e-15, by continued fractions:
 * every fraction that is so near is one of their convergents.
 */
static bool
find_fraction (double ratio, double limit, int64_t *p, int64_t *q)
{
  double rest = ratio;
  int64_t p0 = 1, q0 = 0, p1 = (int64_t) floor (ratio), q1 = 1;

  while ((double) q1 <= limit) {
    if (fabs ((double) p1 / (double) q1 - ratio) <= 4e-15 * ratio) {
      *p = p1;
      *q = q1;
      return true;
    }
    if (rest - floor (rest) < 1e-12)
      return false;
    rest = 1 / (rest - floor (rest));

    int64_t whole = (int64_t) floor (rest), p2 = whole * p1 + p0, q2 = whole * q1 + q0;

    p0 = p1, q0 = q1, p1 = p2, q1 = q2;
  }
  return false;
}

static int64_t
common_divisor (int64_t a, int64_t b)
{
  return b == 0 ? a : common_divisor (b, a % b);
}

/* Fills n with the integers; false where the taps are no integers times one factor. */
static bool
find_integers (const OracleWords *words, int64_t *n)
{
  const double *w = words->taps->taps; /* as they are, not divided */
  double smallest = INFINITY, limit = 16777216 / words->M;
  int64_t multiple = 1, p, q;

  for (int i = 0; i < words->count; i++)
    if (w[i] != 0)
      smallest = fmin (smallest, fabs (w[i]));
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < words->count; i++) {
      n[i] = 0;
      if (w[i] == 0)
        continue;
      if (fabs (w[i]) / smallest > 1e9 || !find_fraction (fabs (w[i]) / smallest, limit, &p, &q))
        return false;
      if (pass == 0)
        multiple = multiple / common_divisor (multiple, q) * q;
      else
        n[i] = (w[i] < 0 ? -1 : 1) * (multiple / q * p);
      if (multiple > 16777216)
        return false;
    }
  return true;
}

static bool
is_exact (const OracleWords *words)
{
  double sum = 0;

  for (int i = 0; i < words->count && words->n; i++)
    sum += fabs ((double) words->n[i]);
  return words->n && words->M * sum < 16777216;
}

static bool
is_box (const OracleWords *words)
{
  for (int i = 0; i < words->count && words->n; i++)
    if (words->n[i] < -4 || words->n[i] > 4)
      return false;
  return words->n != NULL;
}

/* --- the words --- */

static double
least_o (const OracleWords *words)
{
  double least = words->o[0];

  for (int k = 1; k < words->taps->samples; k++)
    least = fmin (least, words->o[k]);
  return least;
}

static double
largest_o (const OracleWords *words)
{
  double largest = words->o[0];

  for (int k = 1; k < words->taps->samples; k++)
    largest = fmax (largest, words->o[k]);
  return largest;
}

static void
find_narrow_bits (OracleWords *words)
{
  double low = 0, high = 0;

  for (int i = 0; i < words->count; i++) {
    low += words->w[i] < 0 ? words->M * words->w[i] : 0;
    high += words->w[i] > 0 ? words->M * words->w[i] : 0;
  }
  low = low + least_o (words) - words->L;
  high = high + largest_o (words) + words->L;
  words->narrow_bits = 31;
  while (ldexp (low - words->c, words->narrow_bits) < -2147483648.0
      || ldexp (high - words->c, words->narrow_bits) > 2147483647.0)
    words->narrow_bits--;
  words->largest_total = fmax (-low, high) + words->c;
}

static bool
find_words (OracleWords *words, const OracleTaps *taps)
{
  *words = (OracleWords){ .taps = taps, .count = taps->width * taps->height };
  words->M = ldexp (1, taps->depth) - 1;
  words->c = ldexp (1, taps->depth - 1);
  words->w = malloc (words->count * sizeof *words->w);
  words->n = malloc (words->count * sizeof *words->n);
  if (!words->w || !words->n)
    return false;
  for (int i = 0; i < words->count; i++) {
    words->w[i] = taps->taps[i] / taps->divisor;
    words->W += words->w[i];
  }
  for (int k = 0; k < taps->samples; k++) {
    double z = taps->zero[k],
           bias = taps->biased & 1u << k ? oracle_round (taps->offset * taps->range[k] * 256) / 256 : 0;

    words->o[k] = z - z * words->W + bias + 0.5;
  }
  words->B = taps->depth == 8 ? 1.0 / 64 : 0.5;
  if (taps->magnitude > 0)
    words->B *= 0.98 / sqrt (taps->magnitude) / 2;
  words->L = 0.98 * words->B;
  find_narrow_bits (words);
  if (!find_integers (words, words->n)) {
    free (words->n);
    words->n = NULL;
  }
  words->box = is_box (words);
  return true;
}

static void
clear_words (OracleWords *words)
{
  free (words->w);
  free (words->n);
}

/* --- ONE_STEP --- */

/* The integers for these bits, the starts, and the error. */
static double
make_one_step (const OracleWords *words, int b, OracleArithmetic *result)
{
  double g = b > 16 ? 256 : 1, T = 0, error = 0, unit = 0;

  result->bits = b;
  for (int i = 0; i < words->count && words->box && unit == 0; i++)
    if (words->w[i] != 0)
      unit = oracle_round (ldexp (words->w[i] / (double) words->n[i], b));
  for (int i = 0; i < words->count; i++) {
    double t = words->box ? (double) words->n[i] * unit : oracle_round (ldexp (words->w[i], b));

    if (fabs (t) > 16777216)
      t = (float) t;
    result->taps[i] = (int64_t) t;
    T += ldexp (t, -b);
    error += fabs (ldexp (t, -b) - words->w[i]);
  }
  for (int k = 0; k < words->taps->samples; k++)
    result->start[k] = (int64_t) (g * oracle_round (ldexp (words->o[k] + words->c * (words->W - T), b) / g));
  return words->c * error + ldexp (g, -b);
}

static double
largest_start (const OracleWords *words, const OracleArithmetic *result)
{
  double largest = 0;

  for (int k = 0; k < words->taps->samples; k++)
    largest = fmax (largest, fabs ((double) result->start[k]));
  return largest;
}

double
oracle_sum_of_magnitudes (const int64_t *numbers, int count)
{
  double sum = 0;

  for (int i = 0; i < count; i++)
    sum += fabs ((double) numbers[i]);
  return sum;
}

double
oracle_largest_integer (const int64_t *numbers, int count)
{
  double largest = 0;

  for (int i = 0; i < count; i++)
    largest = fmax (largest, fabs ((double) numbers[i]));
  return largest;
}

static bool
find_floats (const OracleWords *words, OracleArithmetic *result)
{
  for (int b = 31; b >= 0; b--) {
    double error = make_one_step (words, b, result);

    if (words->M * oracle_sum_of_magnitudes (result->taps, words->count) + largest_start (words, result) < 16777216
        && oracle_largest_integer (result->taps, words->count) <= TWO_BYTES) {
      result->floats = true;
      return error <= words->L;
    }
  }
  return false;
}

static bool
find_digits (const OracleWords *words, double P, OracleArithmetic *result)
{
  int b = words->narrow_bits;

  while (ldexp (oracle_largest_magnitude (words->w, words->count), b) + 4 > P)
    b--;
  for (; b <= 38 && ldexp (words->largest_total, b) < ldexp (1, 52); b++) {
    double error = make_one_step (words, b, result);

    if (oracle_largest_integer (result->taps, words->count) > P)
      return false;
    if (error <= words->L)
      return b >= 0;
  }
  return false;
}

static bool
find_one_step (const OracleWords *words, bool in_floats, OracleArithmetic *result)
{
  bool found = in_floats ? find_floats (words, result)
                         : find_digits (words, TWO_BYTES, result) || find_digits (words, THREE_BYTES, result)
          || (!words->box && find_digits (words, LARGEST_TAP, result));

  if (!found)
    return false;
  result->kind = ORACLE_ONE_STEP;
  result->floats = in_floats;
  result->narrow = result->bits <= words->narrow_bits;
  return true;
}

/* --- the choice --- */

static bool
choose_deep (const OracleWords *words, OracleFactors *factors, OracleArithmetic *result)
{
  bool large = words->taps->width > 9 || words->taps->height > 9;

  return (words->box || (large && !oracle_factors_of (words, false, factors))) && find_one_step (words, false, result);
}

static bool
choose_shallow (const OracleWords *words, OracleFactors *factors, OracleArithmetic *result)
{
  int width = words->taps->width, height = words->taps->height;
  bool plain = !words->taps->combined;

  if (plain && !words->box && words->count > 1 && oracle_factors_of (words, false, factors) && factors->products == 1
      && oracle_find_products (words, factors, result))
    return true;
  if (find_one_step (words, true, result))
    return true;
  if (plain && oracle_factors_of (words, false, factors) && factors->products > 1
      && oracle_factors_of (words, true, factors) && oracle_find_products (words, factors, result))
    return true;
  if (plain && (width >= 17 || height >= 17) && oracle_factors_of (words, false, factors) && factors->products > 1
      && oracle_find_products (words, factors, result))
    return true;
  return find_one_step (words, false, result);
}

bool
oracle_arithmetic_choose (OracleArithmetic *arithmetic, const OracleTaps *taps)
{
  OracleWords words;
  OracleFactors *factors = malloc (sizeof *factors);
  bool done;

  memset (arithmetic, 0, sizeof *arithmetic);
  arithmetic->taps = calloc ((size_t) taps->width * taps->height, sizeof *arithmetic->taps);
  done = find_words (&words, taps) && arithmetic->taps && factors;
  arithmetic->kind = ORACLE_FREE;
  if (done && words.n && is_exact (&words)) {
    arithmetic->kind = ORACLE_EXACT;
    memcpy (arithmetic->taps, words.n, words.count * sizeof *words.n);
  } else if (done) {
    if (taps->depth > 12)
      choose_deep (&words, factors, arithmetic);
    else
      choose_shallow (&words, factors, arithmetic);
  }
  if (arithmetic->kind == ORACLE_FREE || arithmetic->kind == ORACLE_PRODUCTS) {
    free (arithmetic->taps);
    arithmetic->taps = NULL;
  }
  free (factors);
  clear_words (&words);
  return done;
}

void
oracle_arithmetic_clear (OracleArithmetic *arithmetic)
{
  free (arithmetic->taps);
  memset (arithmetic, 0, sizeof *arithmetic);
}
