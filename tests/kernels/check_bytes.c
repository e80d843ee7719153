/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/internal.h"
#include "kernels/check_arithmetic.h"

#define NEXT_TO_A_TIE (1.0 / 1048576) /* code values; the oracle computes in long double there */

bool
check_bytes_are_known (const ConvolvePlan *plan)
{
  bool known = plan->n_parts > 0 || plan->arithmetic.kind != CONVOLVE_ARITHMETIC_FREE;

  for (int k = 0; k < plan->n_parts; k++)
    known = known && plan->parts[k].arithmetic.kind != CONVOLVE_ARITHMETIC_FREE;
  return known;
}

bool
check_bytes_followed (const ConvolvePlan *plan)
{
  return check_bytes_are_known (plan) && (plan->n_parts > 0 || convolve_variant_follows (plan->variant, plan));
}

/* One set as a mask of its own, rounded and clamped. */
static bool
convolve_set (const CheckCase *test, int part, OracleValue *values)
{
  const ConvolveRect *region = &test->region;
  int k = test->mask.mask.combination == CONVOLVE_ABSOLUTE ? 0 : part;
  OracleTaps taps = check_arithmetic_taps (&test->pixel, &test->mask.mask, part);
  OracleArithmetic arithmetic;
  Oracle oracle;
  bool done = oracle_arithmetic_choose (&arithmetic, &taps);

  check_case_oracle (test, &oracle);
  oracle.combination = ORACLE_ONE;
  oracle.more_sets = 0;
  oracle.weights = taps.taps;
  oracle.divisor = taps.divisor;
  oracle.budget = NEXT_TO_A_TIE;
  oracle.integers = test->mask.sets[k].integers;
  oracle.numerator = test->mask.sets[k].numerator;
  oracle.denominator = test->mask.sets[k].denominator;
  if (test->mask.mask.combination == CONVOLVE_ABSOLUTE && (taps.divisor < 0) != (test->mask.mask.divisor < 0))
    oracle.numerator = -oracle.numerator;
  if (done && arithmetic.kind == ORACLE_EXACT)
    done = oracle_convolve (&oracle, region->x, region->y, region->width, region->height, values);
  else if (done)
    done =
        oracle_arithmetic_convolve (&oracle, &arithmetic, region->x, region->y, region->width, region->height, values);
  oracle_arithmetic_clear (&arithmetic);
  return done;
}

/* The largest of the sets' results. */
static bool
convolve_largest (const CheckCase *test, OracleValue *values)
{
  size_t count = (size_t) test->region.width * test->region.height * test->pixel.samples;
  OracleValue *more = calloc (count, sizeof *more);
  bool done = more && convolve_set (test, 0, values);

  for (int part = 1; part < check_arithmetic_parts (&test->mask.mask) && done; part++) {
    done = convolve_set (test, part, more);
    for (size_t i = 0; i < count && done; i++) {
      values[i].low = more[i].low > values[i].low ? more[i].low : values[i].low;
      values[i].high = more[i].high > values[i].high ? more[i].high : values[i].high;
    }
  }
  free (more);
  return done;
}

/* The integers of ONE_STEP are the oracle's weights, and 2^bits is their divisor. */
static bool
convolve_magnitude (const CheckCase *test, OracleValue *values)
{
  const ConvolveMask *mask = &test->mask.mask;
  const ConvolveRect *region = &test->region;
  int count = mask->width * mask->height, sets = convolve_mask_sets (mask);
  double *weights = malloc (sizeof *weights * count * sets);
  bool done = weights != NULL, exact = true;
  Oracle oracle;

  check_case_oracle (test, &oracle);
  oracle.budget = NEXT_TO_A_TIE;
  for (int k = 0; k < sets && done; k++) {
    OracleTaps taps = check_arithmetic_taps (&test->pixel, mask, k);
    OracleArithmetic arithmetic;
    OracleSet set = { .weights = weights + (size_t) k * count, .divisor = taps.divisor };

    done = oracle_arithmetic_choose (&arithmetic, &taps);
    for (int i = 0; i < count && done; i++)
      weights[k * count + i] = arithmetic.kind == ORACLE_ONE_STEP ? (double) arithmetic.taps[i] : taps.taps[i];
    exact = exact && arithmetic.kind == ORACLE_EXACT;
    if (arithmetic.kind == ORACLE_ONE_STEP)
      set.divisor = ldexp (1, arithmetic.bits);
    if (k == 0)
      oracle.weights = set.weights, oracle.divisor = set.divisor;
    else
      oracle.more[k - 1].weights = set.weights, oracle.more[k - 1].divisor = set.divisor;
    oracle_arithmetic_clear (&arithmetic);
  }
  if (!exact)
    oracle.integers = NULL;
  done = done && oracle_convolve (&oracle, region->x, region->y, region->width, region->height, values);
  free (weights);
  return done;
}

bool
check_bytes_expected (const CheckCase *test, OracleValue *values)
{
  switch (test->mask.mask.combination) {
    case CONVOLVE_SUM:
      return convolve_set (test, 0, values);
    case CONVOLVE_MAGNITUDE:
      return convolve_magnitude (test, values);
    default:
      return convolve_largest (test, values);
  }
}
