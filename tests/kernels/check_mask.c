/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_mask.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Writes a value as sign * odd * 2^exponent. False for 0. */
static bool
take_apart (double value, int64_t *odd, int *exponent)
{
  if (value == 0)
    return false;
  *odd = (int64_t) ldexp (frexp (fabs (value), exponent), 53);
  *exponent -= 53;
  while (*odd % 2 == 0) {
    *odd /= 2;
    ++*exponent;
  }
  return true;
}

static int64_t
common_divisor (int64_t a, int64_t b)
{
  while (b != 0) {
    int64_t rest = a % b;

    a = b;
    b = rest;
  }
  return a;
}

/*
 * The greatest common factor of the taps is the greatest common divisor of their odd parts times their lowest power
 * of two. Divided by that factor the taps are the smallest possible integers.
 */
static bool
analyse_set (const double *taps, int count, double divisor, int largest, CheckSet *set)
{
  int lowest = INT_MAX, exponent;
  int64_t factor = 0, odd, p, q, common;
  double sum = 0;

  set->exact = false;
  set->integers = NULL;

  for (int k = 0; k < count; k++) {
    if (take_apart (taps[k], &odd, &exponent)) {
      factor = common_divisor (factor, odd);
      lowest = exponent < lowest ? exponent : lowest;
    }
  }
  for (int k = 0; k < count; k++) {
    if (take_apart (taps[k], &odd, &exponent))
      sum += ldexp ((double) (odd / factor), exponent - lowest);
  }
  set->exact = sum * largest < 16777216;
  if (!set->exact || !take_apart (divisor, &odd, &exponent))
    return true;

  /* factor * 2^lowest / (odd * 2^exponent) in lowest terms. */
  if (factor == 0)
    factor = 1, lowest = exponent;
  common = common_divisor (factor, odd);
  p = factor / common;
  q = odd / common;
  if (p >= 1 << 30 || q >= 1 << 30 || abs (lowest - exponent) >= 30)
    return true;
  if (lowest > exponent)
    p <<= lowest - exponent;
  else
    q <<= exponent - lowest;
  if (p >= 1 << 30 || q >= 1 << 30)
    return true;

  set->numerator = divisor < 0 ? -p : p;
  set->denominator = q;
  set->integers = calloc (count, sizeof *set->integers);
  if (!set->integers)
    return false;
  for (int k = 0; k < count; k++) {
    if (take_apart (taps[k], &odd, &exponent))
      set->integers[k] = (int64_t) copysign (ldexp ((double) (odd / factor), exponent - lowest), taps[k]);
  }
  return true;
}

/* The sum of the taps, or of their magnitudes. */
static double
tap_sum (const ConvolveMask *mask, bool magnitudes)
{
  long double sum = 0;

  for (int k = 0; k < mask->width * mask->height; k++)
    sum += magnitudes ? fabs (mask->taps[k]) : mask->taps[k];
  return (double) sum;
}

bool
check_mask_has_integers (const CheckMask *mask)
{
  for (int k = 0; k < convolve_mask_sets (&mask->mask); k++)
    if (!mask->sets[k].integers)
      return false;
  return true;
}

/*
 * Whether the sets of a magnitude, each divided by its divisor, are integers times one common factor, with sums that are
 * small enough: the factors p / q of the sets are m_k times one factor.
 */
static bool
have_common_factor (const CheckMask *mask, int largest, bool *unknown)
{
  const ConvolveMask *m = &mask->mask;
  int count = m->width * m->height;
  int64_t common = 1, factor = 0;
  double sums[CONVOLVE_MAX_SETS] = { 0 };

  *unknown = !check_mask_has_integers (mask);
  for (int k = 0; k < m->sets && !*unknown; k++) {
    for (int i = 0; i < count; i++)
      sums[k] += fabs ((double) mask->sets[k].integers[i]);
    common = common / common_divisor (common, mask->sets[k].denominator) * mask->sets[k].denominator;
    *unknown = common >= (int64_t) 1 << 31;
  }
  if (*unknown)
    return false;
  for (int k = 0; k < m->sets; k++)
    if (sums[k] != 0)
      factor = common_divisor (factor, llabs (mask->sets[k].numerator) * (common / mask->sets[k].denominator));
  for (int k = 0; k < m->sets; k++) {
    int64_t multiple = llabs (mask->sets[k].numerator) * (common / mask->sets[k].denominator);

    if (sums[k] != 0 && (double) (multiple / factor) * sums[k] * largest >= 16777216)
      return false;
  }
  return true;
}

bool
check_mask_analyse (CheckMask *mask, int largest)
{
  const ConvolveMask *m = &mask->mask;

  mask->normalised = m->combination == CONVOLVE_SUM && m->divisor == tap_sum (m, false);
  mask->exact = true;
  mask->unknown = false;
  for (int k = 0; k < convolve_mask_sets (m); k++) {
    if (!analyse_set (convolve_mask_taps (m, k), m->width * m->height, convolve_mask_divisor (m, k), largest,
            &mask->sets[k]))
      return false;
    mask->exact = mask->exact && mask->sets[k].exact;
  }
  if (mask->exact && m->combination == CONVOLVE_MAGNITUDE)
    mask->exact = have_common_factor (mask, largest, &mask->unknown);
  return true;
}

bool
check_mask_from (CheckMask *mask, int width, int height, const double *taps, double divisor, int largest)
{
  memset (mask, 0, sizeof *mask);
  if (!convolve_mask_init (&mask->mask, width, height))
    return false;
  memcpy (mask->mask.taps, taps, (size_t) width * height * sizeof *taps);
  mask->mask.divisor = divisor;
  mask->kind = "given";
  return check_mask_analyse (mask, largest);
}

void
check_mask_clear (CheckMask *mask)
{
  convolve_mask_clear (&mask->mask);
  for (int k = 0; k < CONVOLVE_MAX_SETS; k++)
    free (mask->sets[k].integers);
  memset (mask, 0, sizeof *mask);
}

static void
random_shape (CheckRandom *random, int *width, int *height)
{
  static const struct
  {
    int width, height, weight;
  } shapes[] = {
    { 1, 1, 40 },
    { 3, 3, 120 },
    { 5, 5, 120 },
    { 7, 3, 80 },
    { 1, 9, 80 },
    { 9, 1, 80 },
    { 15, 15, 80 },
    { 31, 31, 50 },
    { 0, 0, 40 }, /* any odd size up to 63 */
    { 255, 1, 8 },
    { 1, 255, 8 },
    { 89, 89, 3 },
    { 91, 127, 2 },
    { 255, 255, 1 },
  };
  enum
  {
    N_SHAPES = sizeof shapes / sizeof *shapes
  };
  int weights[N_SHAPES], at;

  for (int i = 0; i < N_SHAPES; i++)
    weights[i] = shapes[i].weight;
  at = check_random_pick (random, weights, N_SHAPES);
  *width = shapes[at].width ? shapes[at].width : 2 * check_random_range (random, 0, 31) + 1;
  *height = shapes[at].height ? shapes[at].height : 2 * check_random_range (random, 0, 31) + 1;
}

/* The kinds of taps. Each function fills all taps; random_divisor() chooses the divisor afterwards. */

static void
fill_small (ConvolveMask *mask, CheckRandom *random)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = check_random_range (random, 0, 15);
}

static void
fill_signed (ConvolveMask *mask, CheckRandom *random)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = check_random_range (random, -8, 8);
}

static void
fill_edge (ConvolveMask *mask, CheckRandom *random)
{
  fill_signed (mask, random);
  mask->taps[mask->width * mask->height / 2] -= tap_sum (mask, false);
}

static void
fill_fractions (ConvolveMask *mask, CheckRandom *random)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = check_random_unit (random);
}

static void
fill_signed_fractions (ConvolveMask *mask, CheckRandom *random)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = 2 * check_random_unit (random) - 0.8;
}

static void
fill_product (ConvolveMask *mask, const double *column, const double *row)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = column[k / mask->width] * row[k % mask->width];
}

static void
fill_rank_1 (ConvolveMask *mask, CheckRandom *random)
{
  double column[CONVOLVE_MAX_SIDE], row[CONVOLVE_MAX_SIDE];
  int low = check_random_one_in (random, 2) ? -5 : 1;

  for (int j = 0; j < mask->height; j++)
    column[j] = check_random_range (random, low, 6);
  for (int i = 0; i < mask->width; i++)
    row[i] = check_random_range (random, low, 6);
  fill_product (mask, column, row);
}

/* A mask of rank 1 with one tap changed. */
static void
fill_nearly_rank_1 (ConvolveMask *mask, CheckRandom *random)
{
  fill_rank_1 (mask, random);
  mask->taps[check_random_range (random, 0, mask->width * mask->height - 1)] += 1;
}

static void
fill_gaussian (ConvolveMask *mask, CheckRandom *random)
{
  double column[CONVOLVE_MAX_SIDE], row[CONVOLVE_MAX_SIDE];
  double sigma = 0.5 + 0.2 * (mask->width + mask->height) * check_random_unit (random);

  for (int j = 0; j < mask->height; j++)
    column[j] = exp (-0.5 * pow ((j - mask->height / 2) / sigma, 2));
  for (int i = 0; i < mask->width; i++)
    row[i] = exp (-0.5 * pow ((i - mask->width / 2) / sigma, 2));
  fill_product (mask, column, row);
}

/* A gaussian with a row that is symmetric but for one column. */
static void
fill_skewed (ConvolveMask *mask, CheckRandom *random)
{
  int column = check_random_range (random, 0, mask->width - 1);

  fill_gaussian (mask, random);
  for (int j = 0; j < mask->height; j++)
    mask->taps[j * mask->width + column] *= 1.3;
}

/* A narrow gaussian less some of a wider one, each of sum 1. */
static void
fill_difference (ConvolveMask *mask, CheckRandom *random)
{
  double narrow = 0.5 + 0.05 * (mask->width + mask->height) * check_random_unit (random);
  double wide = (1.5 + check_random_unit (random)) * narrow, part = check_random_unit (random), sums[2] = { 0 };

  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < mask->width * mask->height; k++) {
      int x = k % mask->width - mask->width / 2, y = k / mask->width - mask->height / 2;
      double a = exp (-0.5 * (x * x + y * y) / (narrow * narrow)), b = exp (-0.5 * (x * x + y * y) / (wide * wide));

      sums[0] += pass == 0 ? a : 0;
      sums[1] += pass == 0 ? b : 0;
      mask->taps[k] = pass == 0 ? 0 : a / sums[0] - part * b / sums[1];
    }
}

/* As doubles 0.2 and 0.4 are exact multiples of 0.1, and 0.3 is not. */
static void
fill_decimals (ConvolveMask *mask, CheckRandom *random)
{
  bool powers_of_two = check_random_one_in (random, 2);

  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] =
        powers_of_two ? ldexp (0.1, check_random_range (random, 0, 3)) : check_random_range (random, -2, 9) / 10.0;
}

static void
fill_box (ConvolveMask *mask, CheckRandom *random)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = 1;
}

static void
fill_sixteenths (ConvolveMask *mask, CheckRandom *random)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = check_random_range (random, -10, 30) / 16.0;
}

/* One tap, most often in the middle. */
static void
fill_single (ConvolveMask *mask, CheckRandom *random)
{
  int last = mask->width * mask->height - 1;

  for (int k = 0; k <= last; k++)
    mask->taps[k] = 0;
  mask->taps[check_random_one_in (random, 3) ? check_random_range (random, 0, last) : last / 2] =
      check_random_one_in (random, 2) ? 1 : check_random_range (random, 2, 9);
}

static void
fill_sparse (ConvolveMask *mask, CheckRandom *random)
{
  for (int k = 0; k < mask->width * mask->height; k++)
    mask->taps[k] = check_random_one_in (random, 4) ? check_random_range (random, -3, 5) : 0;
}

/* Integers on either side of the limit below which float sums are exact. */
static void
fill_limit (ConvolveMask *mask, CheckRandom *random, int largest)
{
  int count = mask->width * mask->height, limit = (16777216 - 1) / largest;
  int each = limit / count;
  int first = check_random_range (random, 0, count - 1);

  for (int k = 0; k < count; k++)
    mask->taps[k] = check_random_range (random, each / 2, each) * (check_random_one_in (random, 3) ? -1 : 1);
  mask->taps[first] = 0;
  if (count > 1 && check_random_one_in (random, 2))
    mask->taps[(first + 1) % count] = 1; /* otherwise no tap is the factor itself */
  mask->taps[first] = limit - tap_sum (mask, true) + check_random_range (random, -1, 2);
}

typedef enum
{
  DIVIDE_BY_SUM, /* where the sum is not 0 */
  DIVIDE_BY_ANY
} DivisorRule;

static const struct
{
  const char *kind;
  void (*fill) (ConvolveMask *, CheckRandom *);
  DivisorRule rule;
  int weight;
} kinds[] = {
  { "small integers", fill_small, DIVIDE_BY_ANY, 10 },
  { "signed integers", fill_signed, DIVIDE_BY_ANY, 10 },
  { "integers of sum 0", fill_edge, DIVIDE_BY_ANY, 6 },
  { "normalised fractions", fill_fractions, DIVIDE_BY_SUM, 8 },
  { "signed fractions", fill_signed_fractions, DIVIDE_BY_ANY, 8 },
  { "rank 1 integers", fill_rank_1, DIVIDE_BY_ANY, 10 },
  { "nearly rank 1 integers", fill_nearly_rank_1, DIVIDE_BY_ANY, 4 },
  { "gaussian", fill_gaussian, DIVIDE_BY_SUM, 10 },
  { "skewed gaussian", fill_skewed, DIVIDE_BY_SUM, 8 },
  { "difference of gaussians", fill_difference, DIVIDE_BY_ANY, 8 },
  { "decimals", fill_decimals, DIVIDE_BY_ANY, 8 },
  { "box", fill_box, DIVIDE_BY_ANY, 8 },
  { "sixteenths", fill_sixteenths, DIVIDE_BY_ANY, 5 },
  { "single tap", fill_single, DIVIDE_BY_ANY, 5 },
  { "sparse integers", fill_sparse, DIVIDE_BY_ANY, 5 },
  { "integers at the limit of exactness", NULL, DIVIDE_BY_ANY, 6 },
};

enum
{
  N_KINDS = sizeof kinds / sizeof *kinds
};

/*
 * Most results should lie inside the range of code values, so the divisor follows the taps' magnitude. Small even
 * divisors make ties.
 */
static double
random_divisor (const ConvolveMask *mask, CheckRandom *random, DivisorRule rule)
{
  static const double explicit_ones[] = { 1, 2, 3, 6, 7, 9, 16, 49, 255, 256, 1000, 2.5, 0.5, 0.75, 4.4, 1.0 / 3,
    12.375 };
  double sum = tap_sum (mask, false), size = tap_sum (mask, true), divisor = 1;
  int choice = check_random_range (random, 0, 7);

  if (rule == DIVIDE_BY_SUM)
    choice = 0;
  if (choice <= 2)
    divisor = sum;
  else if (choice <= 5)
    divisor = ceil (size / check_random_range (random, 1, 4)) + check_random_range (random, 0, 2);
  else
    divisor = explicit_ones[check_random_range (random, 0, sizeof explicit_ones / sizeof *explicit_ones - 1)];
  if (choice > 2 && check_random_one_in (random, 6))
    divisor = -divisor;
  if (divisor == 0 || size / fabs (divisor) > 1 << 19)
    divisor = size > 0 ? size : 1;
  return divisor;
}

static double
random_offset (CheckRandom *random)
{
  switch (check_random_range (random, 0, 7)) {
    case 0:
      return 0.5;
    case 1:
      return -0.25;
    case 2:
      return 2 * check_random_unit (random) - 1;
    case 3:
      return 0.01 * check_random_unit (random);
    default:
      return 0;
  }
}

bool
check_mask_random (CheckMask *mask, CheckRandom *random, int largest)
{
  int weights[N_KINDS], kind, width, height;

  memset (mask, 0, sizeof *mask);
  random_shape (random, &width, &height);
  for (int i = 0; i < N_KINDS; i++)
    weights[i] = kinds[i].weight;
  kind = check_random_pick (random, weights, N_KINDS);

  if (!convolve_mask_init (&mask->mask, width, height))
    return false;
  mask->kind = kinds[kind].kind;
  mask->decimal = kinds[kind].fill == fill_decimals;
  if (kinds[kind].fill)
    kinds[kind].fill (&mask->mask, random);
  else
    fill_limit (&mask->mask, random, largest);
  mask->mask.divisor = random_divisor (&mask->mask, random, kinds[kind].rule);
  mask->mask.offset = random_offset (random);
  return check_mask_analyse (mask, largest);
}

/* Another set: often the first one turned, as the slopes of an edge are, and otherwise of any kind. */
static void
random_set (ConvolveMask *set, const ConvolveMask *first, CheckRandom *random, int largest, bool *decimal)
{
  int count = set->width * set->height, kind = check_random_range (random, 0, N_KINDS - 1);

  switch (check_random_range (random, 0, 3)) {
    case 0:
      for (int i = 0; i < count; i++)
        set->taps[i] = first->taps[count - 1 - i];
      return;
    case 1:
      for (int i = 0; i < count; i++)
        set->taps[i] =
            set->width == set->height ? first->taps[i % set->width * set->width + i / set->width] : -first->taps[i];
      return;
    case 2:
      fill_edge (set, random);
      return;
    default:
      *decimal = *decimal || kinds[kind].fill == fill_decimals;
      if (kinds[kind].fill)
        kinds[kind].fill (set, random);
      else
        fill_limit (set, random, largest);
  }
}

/* Sets have one divisor more often than not, as for one scale of all slopes. */
bool
check_mask_combine (CheckMask *mask, CheckRandom *random, int largest)
{
  const ConvolveMask first = mask->mask;
  int count = first.width * first.height;
  ConvolveCombination combination = check_random_range (random, CONVOLVE_ABSOLUTE, CONVOLVE_LARGEST);
  int sets = combination == CONVOLVE_ABSOLUTE ? 1
      : check_random_one_in (random, 2)       ? 2
                                              : check_random_range (random, 2, 8);
  bool alike = !check_random_one_in (random, 3);

  if (!convolve_mask_init_sets (&mask->mask, first.width, first.height, sets, combination)) {
    mask->mask = first;
    return false;
  }
  mask->mask.divisor = first.divisor;
  mask->mask.offset = first.offset;
  memcpy (mask->mask.taps, first.taps, count * sizeof *first.taps);
  for (int k = 1; k < sets; k++) {
    ConvolveMask set = { .width = first.width, .height = first.height, .taps = convolve_mask_taps (&mask->mask, k) };
    double size;

    random_set (&set, &first, random, largest, &mask->decimal);
    size = tap_sum (&set, true);
    mask->mask.more_divisors[k - 1] = alike ? first.divisor : random_divisor (&set, random, DIVIDE_BY_ANY);
    if (size / fabs (mask->mask.more_divisors[k - 1]) > 1 << 19)
      mask->mask.more_divisors[k - 1] = size;
  }
  free (first.taps);
  for (int k = 0; k < CONVOLVE_MAX_SETS; k++)
    free (mask->sets[k].integers);
  memset (mask->sets, 0, sizeof mask->sets);
  return check_mask_analyse (mask, largest);
}
