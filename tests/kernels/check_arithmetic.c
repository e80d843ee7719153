/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_arithmetic.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/internal.h"
#include "kernels/check_arithmetic_mask.h"

int
check_arithmetic_parts (const ConvolveMask *mask)
{
  return mask->combination == CONVOLVE_ABSOLUTE ? 2 : convolve_mask_sets (mask);
}

OracleTaps
check_arithmetic_taps (const ConvolvePixel *pixel, const ConvolveMask *mask, int part)
{
  int k = mask->combination == CONVOLVE_ABSOLUTE ? 0 : part;
  OracleTaps taps = {
    .depth = pixel->depth,
    .width = mask->width,
    .height = mask->height,
    .taps = convolve_mask_taps (mask, k),
    .divisor = convolve_mask_divisor (mask, k),
    .offset = mask->offset,
    .samples = pixel->samples,
    .biased = pixel->biased,
    .combined = mask->combination != CONVOLVE_SUM,
    .magnitude = mask->combination == CONVOLVE_MAGNITUDE ? convolve_mask_sets (mask) : 0,
  };

  if (mask->combination == CONVOLVE_ABSOLUTE)
    taps.divisor = part == 0 ? fabs (mask->divisor) : -fabs (mask->divisor);
  memcpy (taps.zero, pixel->zero, sizeof taps.zero);
  for (int i = 0; i < pixel->samples; i++)
    taps.range[i] = pixel->range[i] != 0 ? pixel->range[i] : (1 << pixel->depth) - 1;
  return taps;
}

typedef struct
{
  const ConvolvePlan *plan; /* a part of a combination, or a whole plan */
  OracleTaps taps;
  OracleArithmetic oracle;
  FILE *file;
  bool failed;
} Trial;

static void fail (Trial *trial, const char *format, ...) __attribute__ ((format (printf, 2, 3)));

static void
fail (Trial *trial, const char *format, ...)
{
  va_list arguments;

  if (!trial->failed) {
    fprintf (trial->file, "FAILED arithmetic: ");
    va_start (arguments, format);
    vfprintf (trial->file, format, arguments);
    va_end (arguments);
    fprintf (trial->file, "\n");
  }
  trial->failed = true;
}

/* --- the same integers --- */

static const char *const kinds[] = { "EXACT", "ONE_STEP", "PRODUCTS", "FREE" };

static OracleKind
kind_of (const ConvolvePlan *plan)
{
  switch (plan->arithmetic.kind) {
    case CONVOLVE_ARITHMETIC_EXACT:
      return ORACLE_EXACT;
    case CONVOLVE_ARITHMETIC_ONE_STEP:
      return ORACLE_ONE_STEP;
    case CONVOLVE_ARITHMETIC_PRODUCTS:
      return ORACLE_PRODUCTS;
    default:
      return ORACLE_FREE;
  }
}

/* The taps of an exact plan are the oracle's integers times one number. */
static void
compare_taps (Trial *trial)
{
  const double *taps = trial->plan->taps.double_taps;
  int first = 0;

  while (first < trial->taps.width * trial->taps.height - 1 && trial->oracle.taps[first] == 0)
    first++;
  for (int i = 0; i < trial->taps.width * trial->taps.height; i++) {
    double ours = (double) trial->oracle.taps[i];
    bool equal = trial->oracle.kind == ORACLE_EXACT ? taps[i] * (double) trial->oracle.taps[first] == ours * taps[first]
                                                    : taps[i] == ours && trial->plan->taps.taps[i] == (float) ours;

    if (!equal)
      fail (trial, "tap %d is %.17g, expected %.17g", i, taps[i], ours);
  }
}

static void
compare_products (Trial *trial)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  const OracleArithmetic *oracle = &trial->oracle;

  if (arithmetic->rank != oracle->products || arithmetic->centre != oracle->centre
      || arithmetic->short_rows != oracle->short_rows) {
    fail (trial, "%d products, centre %d, short %d; expected %d, %" PRId64 ", %d", arithmetic->rank, arithmetic->centre,
        arithmetic->short_rows, oracle->products, oracle->centre, oracle->short_rows);
    return;
  }
  for (int p = 0; p < oracle->products; p++) {
    const ConvolveProduct *product = &arithmetic->products[p];
    const OracleProduct *expected = &oracle->product[p];

    if (product->cut != expected->cut || product->row_start != expected->start)
      fail (trial, "product %d: cut %d, start %" PRId64 "; expected %d, %" PRId64, p, product->cut, product->row_start,
          expected->cut, expected->start);
    for (int i = 0; i < trial->taps.width; i++)
      if (product->row[i] != expected->row[i])
        fail (trial, "product %d: row %d is %d, expected %" PRId64, p, i, product->row[i], expected->row[i]);
    for (int j = 0; j < trial->taps.height; j++)
      if (product->column[j] != expected->column[j])
        fail (trial, "product %d: column %d is %d, expected %" PRId64, p, j, product->column[j], expected->column[j]);
  }
}

static void
compare (Trial *trial)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  const OracleArithmetic *oracle = &trial->oracle;

  if (kind_of (trial->plan) != oracle->kind) {
    fail (trial, "%s, expected %s", kinds[kind_of (trial->plan)], kinds[oracle->kind]);
    return;
  }
  if (oracle->taps)
    compare_taps (trial);
  if (oracle->kind == ORACLE_PRODUCTS)
    compare_products (trial);
  if (oracle->kind != ORACLE_ONE_STEP && oracle->kind != ORACLE_PRODUCTS)
    return;
  if (arithmetic->bits != oracle->bits || arithmetic->narrow != oracle->narrow)
    fail (trial, "%d bits, narrow %d; expected %d, %d", arithmetic->bits, arithmetic->narrow, oracle->bits,
        oracle->narrow);
  for (int k = 0; k < trial->taps.samples; k++)
    if (arithmetic->start[k] != oracle->start[k])
      fail (trial, "start of sample %d is %" PRId64 ", expected %" PRId64, k, arithmetic->start[k], oracle->start[k]);
  if (oracle->kind == ORACLE_ONE_STEP && !trial->taps.combined && trial->plan->exact != oracle->floats)
    fail (trial, "exact in float: %d, expected %d", trial->plan->exact, oracle->floats);
}

/* --- the promise --- */

/* What the plan's integers add up to, times 2^bits. */
static long double
made_tap (const ConvolvePlan *plan, int at)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  int width = plan->taps.width;
  long double made = at == width * plan->taps.height / 2 ? arithmetic->centre : 0;

  if (arithmetic->kind == CONVOLVE_ARITHMETIC_ONE_STEP)
    return plan->taps.double_taps[at];
  for (int p = 0; p < arithmetic->rank; p++) {
    const ConvolveProduct *product = &arithmetic->products[p];

    made += ldexpl ((long double) product->row[at % width] * product->column[at / width], -product->cut);
  }
  return made;
}

/*
 * What row starts add to the sum of columns, and how far the roundings of the row sums change that, at most. Fails where a
 * row sum is not within 0 .. 65535, or a short one not below 2^24.
 */
static void
bound_rows (Trial *trial, long double *added, long double *rounding)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  int64_t most = (1 << trial->taps.depth) - 1;

  *added = *rounding = 0;
  for (int p = 0; p < arithmetic->rank && arithmetic->kind == CONVOLVE_ARITHMETIC_PRODUCTS; p++) {
    const ConvolveProduct *product = &arithmetic->products[p];
    int64_t unit = (int64_t) 1 << product->cut, low = 0, high = 0;
    int64_t half = product->cut > 0 ? unit / 2 : 0;

    for (int i = 0; i < trial->taps.width; i++) {
      low += product->row[i] < 0 ? most * product->row[i] : 0;
      high += product->row[i] > 0 ? most * product->row[i] : 0;
    }
    low += product->row_start;
    high += product->row_start;
    if (low < 0 || high / unit > 65535 || (product->row_start - half) % unit != 0)
      fail (trial, "row sums of product %d are %" PRId64 " .. %" PRId64, p, low, high);
    if (arithmetic->short_rows && (product->cut != 8 || high >= 16777216))
      fail (trial, "short rows of product %d reach %" PRId64, p, high);
    for (int j = 0; j < trial->taps.height; j++) {
      *added += (long double) product->column[j] * ((product->row_start - half) / unit);
      *rounding += product->cut > 0 ? fabsl ((long double) product->column[j]) / 2 : 0;
    }
  }
}

static long double
true_bias (const Trial *trial, int k)
{
  return trial->taps.biased & 1u << k
      ? floorl ((long double) trial->taps.offset * trial->taps.range[k] * 256 + 0.5L) / 256
      : 0;
}

/* The largest error before the last floor, in code values: of the taps around the middle, the row sums and the start. */
static void
bound (Trial *trial)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  int bits = arithmetic->bits, depth = trial->taps.depth;
  long double middle = ldexpl (1, depth - 1), most = ldexpl (1, depth) - 1, errors = 0, sum = 0, made = 0, low = 0,
              high = 0;
  long double budget = 0.98L * (depth == 8 ? 1 / 64.0L : 0.5L), added, rounding;

  if (trial->taps.magnitude > 0)
    budget *= 0.98L / sqrtl (trial->taps.magnitude);
  bound_rows (trial, &added, &rounding);
  for (int i = 0; i < trial->taps.width * trial->taps.height; i++) {
    long double w = (long double) trial->taps.taps[i] / trial->taps.divisor;
    long double tap = ldexpl (made_tap (trial->plan, i), -bits);

    errors += fabsl (tap - w);
    sum += w;
    made += tap;
    low += w < 0 ? most * w : 0;
    high += w > 0 ? most * w : 0;
  }
  for (int k = 0; k < trial->taps.samples; k++) {
    long double z = trial->taps.zero[k], start = ldexpl ((long double) arithmetic->start[k] + added, -bits);
    long double o = z - z * sum + true_bias (trial, k) + 0.5L;
    /* The error of a total with its start. The values of a magnitude have no start that would put the middle right. */
    long double of_total =
        middle * errors + ldexpl (rounding, -bits) + fabsl (start + middle * made - o - middle * sum);
    long double error = trial->taps.magnitude > 0 ? fmaxl (z, most - z) * errors : of_total;
    bool narrow = ldexpl (low + o - of_total - middle, bits) >= -2147483648.0L
        && ldexpl (high + o + of_total - middle, bits) <= 2147483647.0L;

    if (error > budget * (1 + 1e-9L))
      fail (trial, "sample %d: the error is %Lg of %Lg", k, error, budget);
    if (arithmetic->narrow && !narrow)
      fail (trial, "sample %d: %d bits do not fit 32", k, bits);
    if (fmaxl (fabsl (low + o - of_total), fabsl (high + o + of_total))
            >= ldexpl (1, (trial->taps.magnitude ? 52 : 39) - bits)
        && arithmetic->kind == CONVOLVE_ARITHMETIC_PRODUCTS)
      fail (trial, "sample %d: %d bits do not fit 40", k, bits);
  }
}

/* --- the factor of EXACT --- */

#define LARGEST_DENOMINATOR 1000000000

/*
 * One result of a mask: (200 * high + 123) * numerator / denominator, plus an offset in 256ths of a code value. -1
 * where it cannot be had.
 */
static int
factor_byte (const char *variant, int high, int numerator, double denominator, int offset)
{
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8,
    .depth = 8,
    .samples = 1,
    .stride = 1,
    .select = 1,
    .biased = 1 };
  const unsigned char source[] = { 123, 200, 0 };
  unsigned char result[3] = { 0 };
  ConvolvePlane plane = { source, result, 3, 3, 3, 1, { 1, 0, 1, 1 } };
  ConvolvePlan *plan = NULL;
  ConvolveMask mask;
  bool done = false;

  if (convolve_mask_init (&mask, 3, 1)) {
    mask.taps[0] = numerator;
    mask.taps[1] = (double) numerator * high;
    mask.divisor = denominator;
    mask.offset = offset / 256.0 / 255;
    plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, variant, NULL, NULL);
    done = plan && convolve_plan_is_exact (plan) && convolve_run (plan, &plane, NULL) == CONVOLVE_OK;
  }
  convolve_plan_unref (plan);
  convolve_mask_clear (&mask);
  return done ? result[1] : -1;
}

static int64_t
common_divisor (int64_t a, int64_t b)
{
  return b == 0 ? a : common_divisor (b, a % b);
}

/*
 * Results whose exact value is a whole number. F is a fraction up to a denominator of 10^9, and then the result is that
 * number. Beyond, F is a double, whose product and sum are rounded, and some results are one less.
 */
static int
check_factors (FILE *file)
{
  static const char *const variants[] = { "cpu-reference", "cpu" };
  static const int highs[] = { 7, 1000, 19000, 20001, 65000 };
  int failures = 0, below[2] = { 0 };

  for (size_t h = 0; h < sizeof highs / sizeof *highs; h++)
    for (int numerator = 129; numerator < 65280; numerator += 2 * 127) {
      int64_t sum = 123 + 200 * highs[h], q = 256 * sum / common_divisor (256 * sum, numerator);
      int whole = (numerator + 128) / 256, offset = whole * 256 - 128 - numerator;
      /* volatile: nothing is computed with more bits than a double has */
      volatile double product = (double) numerator / (256.0 * sum) * sum, value = product + (0.5 + offset / 256.0);
      bool fraction = q <= LARGEST_DENOMINATOR;
      int expected = fraction ? whole : (int) floor (value);

      below[fraction] += value < whole;
      for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        int got = factor_byte (variants[v], highs[h], numerator, 256.0 * sum, offset);

        if (got != expected && failures < 4) {
          fprintf (file,
              "FAILED arithmetic: %s: %d / (256 * %" PRId64 ") of the sum %" PRId64
              ", offset %d / 256: %d, expected %d\n",
              variants[v], numerator, sum, sum, offset, got, expected);
          failures++;
        }
      }
    }
  if (below[0] == 0 || below[1] == 0) {
    fprintf (file, "FAILED arithmetic: of the factors none tells a fraction from a double\n");
    failures++;
  }
  return failures;
}

/* --- random masks --- */

typedef struct
{
  long kinds[4], floats, digits[2], ranks[5], centres, short_rows, wide, exact;
} Counts;

static void
count (Counts *counts, const Trial *trial)
{
  const OracleArithmetic *oracle = &trial->oracle;
  bool three = false;

  counts->kinds[oracle->kind]++;
  for (int i = 0; i < trial->taps.width * trial->taps.height && oracle->kind == ORACLE_ONE_STEP; i++)
    three = three || llabs (oracle->taps[i]) > 32639;
  if (oracle->kind == ORACLE_ONE_STEP) {
    counts->floats += oracle->floats;
    counts->digits[three] += !oracle->floats;
  } else if (oracle->kind == ORACLE_PRODUCTS) {
    counts->ranks[oracle->products]++;
    counts->centres += oracle->centre != 0;
    counts->short_rows += oracle->short_rows;
  }
  counts->wide += (oracle->kind == ORACLE_ONE_STEP || oracle->kind == ORACLE_PRODUCTS) && !oracle->narrow;
}

static bool
check_set (const ConvolvePlan *plan, const CheckMask *mask, const ConvolvePixel *pixel, int k, Counts *counts,
    FILE *file)
{
  Trial trial = { .plan = plan, .taps = check_arithmetic_taps (pixel, &mask->mask, k), .file = file };

  if (!oracle_arithmetic_choose (&trial.oracle, &trial.taps)) {
    fail (&trial, "the oracle is out of memory");
  } else {
    compare (&trial);
    if (kind_of (plan) == ORACLE_ONE_STEP || kind_of (plan) == ORACLE_PRODUCTS)
      bound (&trial);
    count (counts, &trial);
  }
  oracle_arithmetic_clear (&trial.oracle);
  return !trial.failed;
}

static void
describe (const CheckMask *mask, const ConvolvePixel *pixel, int number, uint64_t seed, FILE *file)
{
  fprintf (file,
      "  mask %d of seed %" PRIu64 ": %dx%d %s, combination %d of %d sets, divisor %.17g, offset %g; depth %d", number,
      seed, mask->mask.width, mask->mask.height, mask->kind, (int) mask->mask.combination,
      convolve_mask_sets (&mask->mask), mask->mask.divisor, mask->mask.offset, pixel->depth);
  for (int k = 0; k < pixel->samples; k++)
    fprintf (file, ", zero %d", pixel->zero[k]);
  fprintf (file, "\n");
}

static bool
check_mask (uint64_t seed, int number, Counts *counts, FILE *file)
{
  CheckRandom random;
  CheckMask mask = { 0 };
  ConvolvePixel pixel;
  ConvolvePlan *plan = NULL;
  bool good = false;

  check_random_init (&random, seed ^ 0x61726974, number);
  check_arithmetic_pixel (&pixel, &random);
  if (check_arithmetic_mask (&mask, &random, (1 << pixel.depth) - 1))
    plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask.mask, "cpu-reference", NULL, NULL);
  if (!plan)
    fprintf (file, "FAILED arithmetic: no plan\n");
  else if (mask.mask.combination == CONVOLVE_SUM)
    good = check_set (plan, &mask, &pixel, 0, counts, file);
  else
    for (int k = 0; k < check_arithmetic_parts (&mask.mask) && (k == 0 || good); k++)
      good = check_set (&plan->parts[k], &mask, &pixel, k, counts, file);
  if (!good)
    describe (&mask, &pixel, number, seed, file);
  convolve_plan_unref (plan);
  check_mask_clear (&mask);
  return good;
}

int
check_arithmetic (uint64_t seed, int masks, FILE *file)
{
  Counts counts = { 0 };
  int failures = check_factors (file);

  for (int number = 0; number < masks && failures < 4; number++)
    failures += !check_mask (seed, number, &counts, file);
  fprintf (file,
      "arithmetic, seed %" PRIu64
      ": %ld exact, %ld in one step (%ld in floats, %ld in two bytes, %ld in three), %ld in "
      "products (%ld of one, %ld and a centre, %ld of two, %ld of three, %ld of four; %ld of short rows), %ld wider than "
      "32 bits, %ld free\n",
      seed, counts.kinds[ORACLE_EXACT], counts.kinds[ORACLE_ONE_STEP], counts.floats, counts.digits[0],
      counts.digits[1], counts.kinds[ORACLE_PRODUCTS], counts.ranks[1], counts.centres, counts.ranks[2],
      counts.ranks[3], counts.ranks[4], counts.short_rows, counts.wide, counts.kinds[ORACLE_FREE]);
  return failures;
}
