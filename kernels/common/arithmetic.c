/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of integers for masks that are not integers themselves. kernels/README.md, "The same bytes everywhere",
 * has the same in words.
 *
 * The choice must be the same on every machine. So only + - * / and floor () of doubles are used here, in the order
 * that is written, and scaling by powers of two; no function whose last bit depends on the machine's library. Of
 * candidates with equal errors the first one is taken.
 */
#include "common/arithmetic.h"

#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"
#include "common/products.h"

#define LARGEST_TAP 1073741824. /* 2^30, where three digits are not enough */
#define LEAST_PRODUCTS_SIDE 17  /* of masks that are sums of several products */
#define DEEPEST 12              /* bits of samples that PRODUCTS are for */
#define FREE_SIDE 9             /* masks of deeper samples up to this side are FREE */

/* --- ONE_STEP --- */

/*
 * The taps at 2^bits of a code value. Returns their error: c times the sum of what each tap misses, and the rounding of
 * the start. *magnitudes becomes the sum of their magnitudes, and *peak the largest of these.
 */
static double
round_taps (const ConvolveAnalysis *a, int bits, double *integers, double *magnitudes, double *peak)
{
  const ConvolveArithmeticInput *input = a->input;
  const double scale = ldexp (1, bits), unit = ldexp (1, -bits);
  double error = 0, factor = 0, sum = 0, largest = 0;

  for (int i = 0; i < a->count && input->multiples && factor == 0; i++)
    if (input->multiples[i])
      factor = convolve_round_half_up (ldexp (input->taps[i] / input->multiples[i], bits));
  for (int i = 0; i < a->count; i++) {
    double integer = input->multiples ? input->multiples[i] * factor : convolve_round_half_up (input->taps[i] * scale);

    if (fabs (integer) > CONVOLVE_2_24)
      integer = (float) integer; /* the plan has all taps as floats, too */
    integers[i] = integer;
    error += fabs (integer * unit - input->taps[i]);
    sum += fabs (integer);
    largest = fabs (integer) > largest ? fabs (integer) : largest;
  }
  *magnitudes = sum;
  *peak = largest;
  return a->middle * error + convolve_fineness (bits) * unit;
}

static void
use_taps (const ConvolveAnalysis *a, int bits, const double *integers, ConvolveArithmetic *arithmetic)
{
  const double unit = ldexp (1, -bits);
  double sum = 0;

  for (int i = 0; i < a->count; i++)
    sum += integers[i] * unit;
  convolve_set_starts (a, bits, sum, 0, arithmetic);
  arithmetic->kind = CONVOLVE_ARITHMETIC_ONE_STEP;
}

/* The largest start in magnitude, plus the largest sum. */
static double
largest_total (const ConvolveAnalysis *a, const ConvolveArithmetic *arithmetic, double magnitudes)
{
  double start = 0;

  for (int i = 0; i < a->input->samples; i++)
    start = fmax (start, fabs ((double) arithmetic->start[i]));
  return magnitudes * a->maximum + start;
}

/* The most bits with which float may hold all sums. A tap is off by 2 at most, with multiples up to 4. */
static int
most_float_bits (const ConvolveAnalysis *a)
{
  int bits = 31;

  while (bits >= 0 && (ldexp (a->magnitudes, bits) * CONVOLVE_SHARE - 2.0 * a->count) * a->maximum >= CONVOLVE_2_24)
    bits--;
  return bits;
}

/* The finest taps whose sums are exact in float: with these, most variants follow without a change. */
static bool
choose_floats (const ConvolveAnalysis *a, ConvolveArithmetic *arithmetic, double *integers)
{
  for (int bits = most_float_bits (a); bits >= 0; bits--) {
    double magnitudes, peak, error = round_taps (a, bits, integers, &magnitudes, &peak);

    if (magnitudes * a->maximum >= CONVOLVE_2_24 || peak > CONVOLVE_LARGEST_OF_2_DIGITS)
      continue;
    use_taps (a, bits, integers, arithmetic);
    if (largest_total (a, arithmetic, magnitudes) < CONVOLVE_2_24)
      return error <= a->limit;
  }
  return false;
}

/* The most bits, but no more than the narrow ones, with which every tap's magnitude is up to `largest`. */
static int
find_bits (const ConvolveAnalysis *a, double largest)
{
  double peak = convolve_largest_magnitude (a->input->taps, a->count);
  int bits = a->narrow;

  while (ldexp (peak, bits) + 4 > largest) /* 4: what rounding adds, with multiples up to 4 */
    bits--;
  return bits;
}

/* From the finest narrow taps of so many digits on, in steps of one bit. */
static bool
choose_digits (const ConvolveAnalysis *a, ConvolveArithmetic *arithmetic, double largest, double *integers)
{
  int bits = find_bits (a, largest);

  for (; bits <= CONVOLVE_MOST_BITS && ldexp (a->largest, bits) < CONVOLVE_2_52; bits++) {
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
choose_one_step (const ConvolveAnalysis *a, ConvolveArithmetic *arithmetic, double *integers)
{
  return choose_digits (a, arithmetic, CONVOLVE_LARGEST_OF_2_DIGITS, integers)
      || choose_digits (a, arithmetic, CONVOLVE_LARGEST_OF_3_DIGITS, integers)
      || (!a->input->multiples && choose_digits (a, arithmetic, LARGEST_TAP, integers));
}

/* --- the choice --- */

/*
 * For samples of up to 12 bits: a box in one step; a product as such; then sums that float holds, a product with a tap
 * at the centre, several products of large masks; and one step of two or three digits.
 */
static void
choose_shallow (const ConvolveAnalysis *a, ConvolveDecomposition *d, ConvolveArithmetic *arithmetic, double *integers,
    double *taps, bool *exact_in_float)
{
  const ConvolveArithmeticInput *input = a->input;
  const bool large = input->width >= LEAST_PRODUCTS_SIDE || input->height >= LEAST_PRODUCTS_SIDE;
  const bool products =
      !input->one_step && !input->multiples && a->count > 1 && convolve_find_factors (a, input->taps, d);
  const bool single = products && d->factors.rank == 1;

  d->has_centre = false;
  if (single && convolve_choose_products (a, d, arithmetic))
    return;
  if (choose_floats (a, arithmetic, integers)) {
    *exact_in_float = true;
    return;
  }
  if (products && !single && convolve_find_factors_beside_centre (a, taps, d)
      && convolve_choose_products (a, d, arithmetic))
    return;
  d->has_centre = false;
  if (products && !single && large && convolve_find_factors (a, input->taps, d)
      && convolve_choose_products (a, d, arithmetic))
    return;
  if (!choose_one_step (a, arithmetic, integers))
    arithmetic->kind = CONVOLVE_ARITHMETIC_FREE;
}

/*
 * For samples of 13 to 16 bits: integers of 16 bits do not hold products, and three digits cost small masks more than
 * they may. Large masks without structure, and boxes, take one step.
 */
static void
choose_deep (const ConvolveAnalysis *a, ConvolveDecomposition *d, ConvolveArithmetic *arithmetic, double *integers)
{
  const ConvolveArithmeticInput *input = a->input;
  const bool small = input->width <= FREE_SIDE && input->height <= FREE_SIDE;

  arithmetic->kind = CONVOLVE_ARITHMETIC_FREE;
  if (!input->multiples && (small || convolve_find_factors (a, input->taps, d)))
    return;
  if (!choose_one_step (a, arithmetic, integers))
    arithmetic->kind = CONVOLVE_ARITHMETIC_FREE;
}

bool
convolve_arithmetic_choose (const ConvolveArithmeticInput *input, ConvolveArithmetic *arithmetic, double *integers,
    bool *exact_in_float)
{
  ConvolveAnalysis a;
  ConvolveDecomposition *d = malloc (sizeof (*d));
  double *taps = malloc ((size_t) input->width * input->height * sizeof (*taps));
  bool done;

  memset (arithmetic, 0, sizeof (*arithmetic));
  arithmetic->products = calloc (CONVOLVE_MAX_RANK, sizeof (*arithmetic->products));
  *exact_in_float = false;
  if (d && taps && arithmetic->products) {
    d->factors.no_memory = false;
    convolve_analysis_init (&a, input);
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
