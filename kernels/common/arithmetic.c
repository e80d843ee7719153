/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of integers for masks that are not integers themselves. kernels/README.md, "The same bytes everywhere", has the
 * same in words.
 *
 * The choice must be the same on every machine. So only + - * / and floor () of doubles are used here, in the order that is
 * written, and scaling by powers of two; no function whose last bit depends on the machine's library. Of
 * candidates with equal errors the first one is taken.
 */
#include "common/arithmetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE 0.98                /* of the promised error: the rest covers the roundings of the bounds computed here */
#define FLOAT_LIMIT 16777216      /* 2^24: float sums of integers are exact below this limit, in any order */
#define INT_LIMIT 2147483648.     /* 2^31 */
#define TOTAL_LIMIT 549755813888. /* 2^39, of PRODUCTS: a total divided by 256 fits 32 bits below this limit */
#define DOUBLE_LIMIT 4503599627370496. /* 2^52, of ONE_STEP: doubles hold totals below this limit */
#define LARGEST_TAP 1073741824.        /* 2^30, where three digits are not enough */
#define MOST_BITS 38
#define FINE 256 /* starts are multiples of this, where bits are more than FINE_BITS */
#define FINE_BITS 16
#define LARGEST_CUT 16
#define ROUNDING 6755399441055744.       /* 1.5 * 2^52: a sum with this has no fraction */
#define ROUNDING_LIMIT 1125899906842624. /* 2^50 */
#define HALF 0.49999999999999994         /* 0.5, and the number before it, whose sum with 0.5 is 1 in doubles */
#define LEAST_PRODUCTS_SIDE 17           /* of masks that are sums of several products */
#define DEEPEST 12                       /* bits of samples that PRODUCTS are for */
#define FREE_SIDE 9                      /* masks of deeper samples up to this side are FREE */

typedef struct
{
  const ConvolveArithmeticInput *input;
  int count;         /* taps */
  double maximum;    /* M */
  double middle;     /* c */
  double sum;        /* of w */
  double limit;      /* of the error */
  double magnitudes; /* the sum of those of w */
  int narrow;        /* the most bits with which ConvolveArithmetic.narrow is true, possibly below 0 */
  double largest;    /* of a total's magnitude, in code values */
  int most;          /* the most bits with which totals of PRODUCTS stay below TOTAL_LIMIT, or MOST_BITS */
} Analysis;

/*
 * floor (value + 0.5) in doubles. Masks have many taps, and are rounded many times; floor() takes three times as long. The
 * comparison at the end is true for halves alone, which are rare: the processor guesses it right.
 */
static double
round_half_up (double value)
{
  const double nearest = value + ROUNDING - ROUNDING; /* halves to the even integer */

  if (fabs (value) > ROUNDING_LIMIT)
    return floor (value + 0.5);
  return value - nearest >= HALF ? nearest + 1 : nearest;
}

/* The number that starts are multiples of. */
static double
fineness (int bits)
{
  return bits > FINE_BITS ? FINE : 1;
}

/* The range of all results before clamping, by the true taps and with every error that is allowed, gives the bits. */
static void
init_analysis (Analysis *a, const ConvolveArithmeticInput *input)
{
  double below = 0, above = 0, low = INFINITY, high = -INFINITY;

  a->input = input;
  a->count = input->width * input->height;
  a->maximum = (1 << input->depth) - 1;
  a->middle = 1 << (input->depth - 1);
  a->limit = SHARE * input->budget;
  a->sum = 0;
  a->magnitudes = convolve_sum_of_magnitudes (input->taps, a->count);
  for (int i = 0; i < a->count; i++) {
    a->sum += input->taps[i];
    *(input->taps[i] < 0 ? &below : &above) += input->taps[i] * a->maximum;
  }
  for (int i = 0; i < input->samples; i++) {
    low = fmin (low, below + input->offset[i]);
    high = fmax (high, above + input->offset[i]);
  }
  low -= a->limit;
  high += a->limit;
  a->narrow = 31;
  while (ldexp (low - a->middle, a->narrow) < -INT_LIMIT || ldexp (high - a->middle, a->narrow) > INT_LIMIT - 1)
    a->narrow--;
  a->largest = fmax (-low, high) + a->middle;
  a->most = MOST_BITS;
  while (a->most > 0 && ldexp (a->largest, a->most) >= TOTAL_LIMIT)
    a->most--;
}

/*
 * The starts: the offset, and the middle times what the integers miss of the sum of taps. `sum` is that of the integer taps in
 * code values; `known` is what totals have too much, and is taken off.
 */
static void
set_starts (const Analysis *a, int bits, double sum, double known, ConvolveArithmetic *arithmetic)
{
  for (int i = 0; i < a->input->samples; i++) {
    double start = ldexp (a->input->offset[i] + a->middle * (a->sum - sum), bits) - known, fine = fineness (bits);

    arithmetic->start[i] = (int64_t) (round_half_up (start / fine) * fine);
  }
  arithmetic->bits = bits;
  arithmetic->narrow = bits <= a->narrow;
}

/* --- ONE_STEP --- */

/*
 * The taps at 2^bits of a code value. Returns their error: c times the sum of what each tap misses, and the rounding of the
 * start. *magnitudes becomes the sum of their magnitudes, and *peak the largest of these.
 */
static double
round_taps (const Analysis *a, int bits, double *integers, double *magnitudes, double *peak)
{
  const ConvolveArithmeticInput *input = a->input;
  const double scale = ldexp (1, bits), unit = ldexp (1, -bits);
  double error = 0, factor = 0, sum = 0, largest = 0;

  for (int i = 0; i < a->count && input->multiples && factor == 0; i++)
    if (input->multiples[i])
      factor = round_half_up (ldexp (input->taps[i] / input->multiples[i], bits));
  for (int i = 0; i < a->count; i++) {
    double integer = input->multiples ? input->multiples[i] * factor : round_half_up (input->taps[i] * scale);

    if (fabs (integer) > FLOAT_LIMIT)
      integer = (float) integer; /* the plan has all taps as floats, too */
    integers[i] = integer;
    error += fabs (integer * unit - input->taps[i]);
    sum += fabs (integer);
    largest = fabs (integer) > largest ? fabs (integer) : largest;
  }
  *magnitudes = sum;
  *peak = largest;
  return a->middle * error + fineness (bits) * unit;
}

static void
use_taps (const Analysis *a, int bits, const double *integers, ConvolveArithmetic *arithmetic)
{
  const double unit = ldexp (1, -bits);
  double sum = 0;

  for (int i = 0; i < a->count; i++)
    sum += integers[i] * unit;
  set_starts (a, bits, sum, 0, arithmetic);
  arithmetic->kind = CONVOLVE_ARITHMETIC_ONE_STEP;
}

/* The largest start in magnitude, plus the largest sum. */
static double
largest_total (const Analysis *a, const ConvolveArithmetic *arithmetic, double magnitudes)
{
  double start = 0;

  for (int i = 0; i < a->input->samples; i++)
    start = fmax (start, fabs ((double) arithmetic->start[i]));
  return magnitudes * a->maximum + start;
}

/* The most bits with which float may hold all sums. A tap is off by 2 at most, with multiples up to 4. */
static int
most_float_bits (const Analysis *a)
{
  int bits = 31;

  while (bits >= 0 && (ldexp (a->magnitudes, bits) * SHARE - 2.0 * a->count) * a->maximum >= FLOAT_LIMIT)
    bits--;
  return bits;
}

/* The finest taps whose sums are exact in float: with these, most variants follow without a change. */
static bool
choose_floats (const Analysis *a, ConvolveArithmetic *arithmetic, double *integers)
{
  for (int bits = most_float_bits (a); bits >= 0; bits--) {
    double magnitudes, peak, error = round_taps (a, bits, integers, &magnitudes, &peak);

    if (magnitudes * a->maximum >= FLOAT_LIMIT || peak > CONVOLVE_LARGEST_OF_2_DIGITS)
      continue;
    use_taps (a, bits, integers, arithmetic);
    if (largest_total (a, arithmetic, magnitudes) < FLOAT_LIMIT)
      return error <= a->limit;
  }
  return false;
}

/* The most bits, but no more than the narrow ones, with which every tap's magnitude is up to `largest`. */
static int
find_bits (const Analysis *a, double largest)
{
  double peak = convolve_largest_magnitude (a->input->taps, a->count);
  int bits = a->narrow;

  while (ldexp (peak, bits) + 4 > largest) /* 4: what rounding adds, with multiples up to 4 */
    bits--;
  return bits;
}

/* From the finest narrow taps of so many digits on, in steps of one bit. */
static bool
choose_digits (const Analysis *a, ConvolveArithmetic *arithmetic, double largest, double *integers)
{
  int bits = find_bits (a, largest);

  for (; bits <= MOST_BITS && ldexp (a->largest, bits) < DOUBLE_LIMIT; bits++) {
    double magnitudes, peak, error = round_taps (a, bits, integers, &magnitudes, &peak);

    if (peak > largest)
      return false;
    if (error <= a->limit) {
      use_taps (a, bits, integers, arithmetic);
      return true;
    }
  }
  return false;
}

static bool
choose_one_step (const Analysis *a, ConvolveArithmetic *arithmetic, double *integers)
{
  return choose_digits (a, arithmetic, CONVOLVE_LARGEST_OF_2_DIGITS, integers)
      || choose_digits (a, arithmetic, CONVOLVE_LARGEST_OF_3_DIGITS, integers)
      || (!a->input->multiples && choose_digits (a, arithmetic, LARGEST_TAP, integers));
}

/* --- PRODUCTS --- */

enum
{
  SCALES = 160 /* of row sums, that are tried */
};

/* A row that is rounded at one scale. */
typedef struct
{
  bool fits;
  int cut;
  double sum;   /* of the taps, in code values */
  double error; /* of the taps, in code values */
  double start; /* of the row sums, after the cut */
} RoundedRow;

typedef struct
{
  ConvolveFactors factors;           /* the magnitudes of each row add up to 1 */
  bool has_centre;                   /* what the factors miss at the centre is a tap of its own */
  double columns[CONVOLVE_MAX_RANK]; /* the sums of magnitudes of the factors' columns */
  double
      scales[SCALES]; /* a row sum is scale / 256 units to a code value, before the cut's roundings; 0: no such scale */
  RoundedRow rows[2][CONVOLVE_MAX_RANK][SCALES]; /* long ones, then short ones */
} Decomposition;

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

  while (cut >= 0 && round_half_up (ldexp (peak, cut)) > CONVOLVE_LARGEST_OF_2_DIGITS)
    cut--;
  return cut;
}

/* Rounds a row at a scale. Its integers go to product, which may be NULL. */
static RoundedRow
round_row (const Analysis *a, const double *row, double scale, int cut, ConvolveProduct *product)
{
  const int width = a->input->width;
  const double row_scale = ldexp (scale / 256, cut);
  double below = 0, above = 0, sum = 0, error = 0, start;
  RoundedRow rounded = { .cut = cut };
  int64_t first;

  for (int i = 0; i < width; i++) {
    double tap = round_half_up (row[i] * row_scale), sums = fabs (tap) * a->maximum;

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
round_rows (const Analysis *a, Decomposition *d)
{
  double scale = floor (CONVOLVE_LARGEST_ROW_SUM * 256 / a->maximum);

  for (int s = 0; s < SCALES; s++, scale = floor (scale * 251 / 256))
    d->scales[s] = scale >= 1 ? scale : 0;
  for (int k = 0; k < d->factors.rank; k++) {
    const double *row = d->factors.row[k], peak = convolve_largest_magnitude (row, a->input->width);

    d->columns[k] = convolve_sum_of_magnitudes (d->factors.column[k], a->input->height);
    for (int s = 0; s < SCALES; s++)
      for (int is_short = 0; is_short < 2; is_short++) {
        int cut = is_short ? CONVOLVE_SHORT_CUT : largest_cut (peak * (d->scales[s] / 256));

        d->rows[is_short][k][s] =
            d->scales[s] > 0 && cut >= 0 ? round_row (a, row, d->scales[s], cut, NULL) : (RoundedRow){ .fits = false };
      }
  }
}

/* Rounds a column beside a rounded row, for totals of 2^bits. False where a tap does not fit. */
static bool
round_column (const Analysis *a, const double *column, const RoundedRow *row, double scale, int bits,
    ConvolveProduct *product, Worth *worth)
{
  const double column_scale = ldexp (1, bits) / (scale / 256);
  double sum = 0, error = 0, magnitudes = 0;

  for (int j = 0; j < a->input->height; j++) {
    double tap = round_half_up (column[j] * column_scale);

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
least_error (const Analysis *a, double column_magnitudes, const RoundedRow *row, double scale, int bits)
{
  const double column_scale = ldexp (1, bits) / (scale / 256);
  double magnitudes = column_magnitudes * column_scale - a->input->height / 2.0;

  return magnitudes > 0 ? SHARE * magnitudes * (a->middle * row->error / column_scale + ldexp (0.5, -bits)) : 0;
}

/*
 * The first scale of row sums, from the finest down, with which product k is worth its share of the error; otherwise the one
 * with the least error. *has_share tells which. False where none fits.
 */
static bool
find_product (const Analysis *a, const Decomposition *d, int k, int bits, bool short_rows, double share,
    ConvolveProduct *product, Worth *worth, bool *has_share)
{
  const double *column = d->factors.column[k];
  double least = INFINITY;
  int best = -1;

  *has_share = false;
  for (int s = 0; s < SCALES && !*has_share; s++) {
    const RoundedRow *row = &d->rows[short_rows][k][s];
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
taps_keep_limit (const Analysis *a, const Decomposition *d, int bits, double rest, const ConvolveArithmetic *arithmetic)
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
    keep = a->middle * error + rest + ldexp (FINE, -bits) <= a->limit;
  }
  return keep;
}

/* The centre's own tap: what the products' integers miss there, so that the error of their taps there is gone, too. */
static double
find_centre (const Analysis *a, int bits, const ConvolveArithmetic *arithmetic)
{
  const int width = a->input->width, height = a->input->height;
  double missing = a->input->taps[height / 2 * width + width / 2];

  for (int k = 0; k < arithmetic->rank; k++) {
    const ConvolveProduct *product = &arithmetic->products[k];

    missing -= ldexp ((double) product->column[height / 2] * product->row[width / 2], -bits - product->cut);
  }
  return round_half_up (ldexp (missing, bits) / FINE) * FINE;
}

/*
 * Tries the products at 2^bits of a code value: each with the first scale that is worth its part of the error, or, where
 * `least`, each with the least error. *are_least tells whether all have the least error in any case.
 */
static bool
try_products_by (const Analysis *a, const Decomposition *d, int bits, bool short_rows, bool least,
    ConvolveArithmetic *arithmetic, bool *are_least)
{
  const int rank = d->factors.rank;
  double constant = ldexp (FINE, -bits), missed = d->factors.missed * a->middle, error, sum = 0;
  double known = 0, cuts = 0, centre = 0;

  if (d->has_centre)
    constant += ldexp (FINE, -bits) * a->middle;
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
    if (fabs (centre) >= INT_LIMIT / 2)
      return false;
    arithmetic->centre = (int) centre;
    sum += ldexp (centre, -bits);
  }
  if (error > a->limit && !taps_keep_limit (a, d, bits, cuts, arithmetic))
    return false;
  set_starts (a, bits, sum, known, arithmetic);
  arithmetic->kind = CONVOLVE_ARITHMETIC_PRODUCTS;
  arithmetic->short_rows = true;
  for (int k = 0; k < rank; k++)
    arithmetic->short_rows = arithmetic->short_rows && arithmetic->products[k].cut == CONVOLVE_SHORT_CUT;
  return true;
}

static bool
try_products (const Analysis *a, const Decomposition *d, int bits, bool short_rows, ConvolveArithmetic *arithmetic)
{
  bool are_least = false;

  return try_products_by (a, d, bits, short_rows, false, arithmetic, &are_least)
      || (!are_least && try_products_by (a, d, bits, short_rows, true, arithmetic, &are_least));
}

/* Short row sums first, then long ones, from the finest narrow totals on; then wide totals. */
static bool
choose_products (const Analysis *a, Decomposition *d, ConvolveArithmetic *arithmetic)
{
  const int coarser = 4; /* bits that are tried below the finest */

  round_rows (a, d);
  for (int long_rows = 0; long_rows < 2; long_rows++)
    for (int bits = a->narrow; bits > a->narrow - coarser && bits > FINE_BITS; bits--)
      if (bits <= a->most && try_products (a, d, bits, !long_rows, arithmetic))
        return true;
  for (int bits = a->narrow < FINE_BITS ? FINE_BITS + 1 : a->narrow + 1; bits <= a->most; bits++)
    if (try_products (a, d, bits, false, arithmetic))
      return true;
  return false;
}

/* Takes the mask apart, with an eighth of the budget for what is missed. */
static bool
find_factors (const Analysis *a, const double *taps, Decomposition *d)
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

/*
 * One product and a tap of its own at the centre, as unsharp has: the centre that makes the neighbours a product is put in
 * its place while the factors are found.
 */
static bool
find_factors_beside_centre (const Analysis *a, double *taps, Decomposition *d)
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
  return find_factors (a, taps, d) && d->factors.rank == 1;
}

/* --- the choice --- */

/*
 * For samples of up to 12 bits: a box in one step; a product as such; then sums that float holds, a product with a tap at
 * the centre, several products of large masks; and one step of two or three digits.
 */
static void
choose_shallow (const Analysis *a, Decomposition *d, ConvolveArithmetic *arithmetic, double *integers, double *taps,
    bool *exact_in_float)
{
  const ConvolveArithmeticInput *input = a->input;
  const bool large = input->width >= LEAST_PRODUCTS_SIDE || input->height >= LEAST_PRODUCTS_SIDE;
  const bool products = !input->one_step && !input->multiples && a->count > 1 && find_factors (a, input->taps, d);
  const bool single = products && d->factors.rank == 1;

  d->has_centre = false;
  if (single && choose_products (a, d, arithmetic))
    return;
  if (choose_floats (a, arithmetic, integers)) {
    *exact_in_float = true;
    return;
  }
  if (products && !single && find_factors_beside_centre (a, taps, d) && choose_products (a, d, arithmetic))
    return;
  d->has_centre = false;
  if (products && !single && large && find_factors (a, input->taps, d) && choose_products (a, d, arithmetic))
    return;
  if (!choose_one_step (a, arithmetic, integers))
    arithmetic->kind = CONVOLVE_ARITHMETIC_FREE;
}

/*
 * For samples of 13 to 16 bits: integers of 16 bits do not hold products, and three digits cost small masks more than they
 * may. Large masks without structure, and boxes, take one step.
 */
static void
choose_deep (const Analysis *a, Decomposition *d, ConvolveArithmetic *arithmetic, double *integers)
{
  const ConvolveArithmeticInput *input = a->input;
  const bool small = input->width <= FREE_SIDE && input->height <= FREE_SIDE;

  arithmetic->kind = CONVOLVE_ARITHMETIC_FREE;
  if (!input->multiples && (small || find_factors (a, input->taps, d)))
    return;
  if (!choose_one_step (a, arithmetic, integers))
    arithmetic->kind = CONVOLVE_ARITHMETIC_FREE;
}

bool
convolve_arithmetic_choose (const ConvolveArithmeticInput *input, ConvolveArithmetic *arithmetic, double *integers,
    bool *exact_in_float)
{
  Analysis a;
  Decomposition *d = malloc (sizeof (*d));
  double *taps = malloc ((size_t) input->width * input->height * sizeof (*taps));
  bool done;

  memset (arithmetic, 0, sizeof (*arithmetic));
  arithmetic->products = calloc (CONVOLVE_MAX_RANK, sizeof (*arithmetic->products));
  *exact_in_float = false;
  if (d && taps && arithmetic->products) {
    d->factors.no_memory = false;
    init_analysis (&a, input);
    if (input->depth <= DEEPEST)
      choose_shallow (&a, d, arithmetic, integers, taps, exact_in_float);
    else
      choose_deep (&a, d, arithmetic, integers);
  }
  done = d && taps && arithmetic->products && !d->factors.no_memory;
  free (d);
  free (taps);
  return done;
}

void
convolve_arithmetic_clear (ConvolveArithmetic *arithmetic)
{
  free (arithmetic->products);
  arithmetic->products = NULL;
}
