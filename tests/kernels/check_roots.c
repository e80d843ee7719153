/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The roots that devices make, computed on the host: convolve_root_near () and convolve_root_pair () from roots that are as
 * wrong as they may be. What is right is said by convolve_root_double (), which check_sets_roots () holds against its
 * definition.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/root.h"
#include "kernels/check_sets.h"
#include "support/random.h"

typedef struct
{
  const char *name;
  double taps[2][9];
} Slopes;

static const Slopes slopes[] = {
  { "sobel", { { -1, 0, 1, -2, 0, 2, -1, 0, 1 }, { -1, -2, -1, 0, 0, 0, 1, 2, 1 } } },
  { "prewitt", { { -1, 0, 1, -1, 0, 1, -1, 0, 1 }, { -1, -1, -1, 0, 0, 0, 1, 1, 1 } } },
  { "scharr", { { -3, 0, 3, -10, 0, 10, -3, 0, 3 }, { -3, -10, -3, 0, 0, 0, 3, 10, 3 } } },
  { "roberts", { { 0, 0, 0, 0, 1, 0, 0, 0, -1 }, { 0, 0, 0, 0, 0, 1, 0, -1, 0 } } },
  { "slopes of two scales", { { -1, 0, 1, -2, 0, 2, -1, 0, 1 }, { -3, -6, -3, 0, 0, 0, 3, 6, 3 } } },
};

enum
{
  N_SLOPES = sizeof slopes / sizeof *slopes
};

/* A root with an error of `units` times 2^-24 of its value. */
static float
wrong_root (double squares, double units)
{
  return (float) (sqrt (squares) * (1 + units / 16777216));
}

/* The last rounding to float is one unit itself. */
static const double errors[] = { 0, 1 - CONVOLVE_NEAR_UNITS, CONVOLVE_NEAR_UNITS - 1 };

/* One sum of squares, of a and b where the plan has pairs, with each error of the root. */
static int
check_squares (const ConvolvePlan *plan, double a, double b, FILE *file)
{
  const ConvolveRoot *root = &plan->root;
  double squares = a * a + b * b;
  unsigned expected = convolve_root_double (root, 0, squares);

  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    float near = wrong_root (squares, errors[i]);
    unsigned by_near = expected, by_pair = expected;

    if (root->near_is_right)
      by_near = CONVOLVE_ROOT_LOW (convolve_root_near (root, 0, near));
    if (root->pair_is_right)
      by_pair = convolve_root_pair (root, 0, (float) a * root->pair_multiple, (float) b * root->pair_multiple,
          near * root->pair_multiple);
    if (by_near != expected || by_pair != expected) {
      fprintf (file,
          "FAILED root: %.0f^2 + %.0f^2 with an error of %g units gives %u near and %u of a pair, expected %u\n", a, b,
          errors[i], by_near, by_pair, expected);
      return 1;
    }
  }
  return 0;
}

/* Every sum of squares of 8 bits that is not clamped for certain; the root of a whole number is that of 0 and itself. */
static int
check_all_near (const ConvolvePlan *plan, FILE *file)
{
  const ConvolveRoot *root = &plan->root;
  int64_t most = (int64_t) ceil (pow (260 / root->scale, 2));

  for (int64_t whole = 0; whole < most; whole++) {
    double squares = (double) whole;
    unsigned expected = convolve_root_double (root, 0, squares);

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
      if (CONVOLVE_ROOT_LOW (convolve_root_near (root, 0, wrong_root (squares, errors[i]))) != expected) {
        fprintf (file, "FAILED root: sqrt (%.0f) with an error of %g units, expected %u\n", squares, errors[i],
            expected);
        return 1;
      }
  }
  return 0;
}

/* Two whole numbers whose sum of squares is next to the threshold of a result, and two that are far from it. */
static int
check_near_thresholds (const ConvolvePlan *plan, double largest, CheckRandom *random, FILE *file)
{
  const ConvolveRoot *root = &plan->root;

  for (int i = 0; i < 4000; i++) {
    double r = check_random_range (random, 0, (int) root->maximum + 1);
    double threshold = fmax ((r - (double) root->base_512[0] / 512) / root->scale, 0);
    double a = floor (fmin (threshold, largest) * check_random_unit (random));
    double b = floor (sqrt (fmax (threshold * threshold - a * a, 0))) + check_random_range (random, -1, 2);

    if (i % 4 == 0) {
      a = check_random_range (random, 0, (int) largest);
      b = check_random_range (random, 0, (int) largest);
    }
    a = i & 1 ? -a : a;
    b = i & 2 ? -b : b;
    if (fabs (b) <= largest && check_squares (plan, a, b, file) > 0)
      return 1;
  }
  return 0;
}

/* The sum of magnitudes of the larger set times the largest sample, in units of the plan's values. */
static double
largest_value (const ConvolvePlan *plan)
{
  double largest = 0;

  for (int k = 0; k < plan->n_parts; k++) {
    double sum = 0;

    for (int i = 0; i < 9; i++)
      sum += fabs (plan->parts[k].taps.double_taps[i]) * plan->root.multiple[k] * plan->tail.maximum;
    largest = fmax (largest, sum);
  }
  return largest;
}

static ConvolvePlan *
make_plan (int which, int depth, double divisor, double offset, bool limited)
{
  ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
    .depth = depth,
    .samples = 1,
    .stride = depth == 8 ? 1 : 2,
    .select = 1,
    .biased = 1,
    .zero = { limited ? 16 << (depth - 8) : 0 },
    .range = { limited ? 219 << (depth - 8) : 0 } };
  ConvolvePlan *plan = NULL;
  ConvolveMask mask;

  if (convolve_mask_init_sets (&mask, 3, 3, 2, CONVOLVE_MAGNITUDE)) {
    memcpy (mask.taps, slopes[which].taps, sizeof slopes[which].taps);
    mask.divisor = mask.more_divisors[0] = divisor;
    mask.offset = offset;
    plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu-reference", NULL, NULL);
  }
  convolve_mask_clear (&mask);
  return plan;
}

int
check_sets_device_roots (uint64_t seed, FILE *file)
{
  static const double divisors[] = { 1, 2, 4, 8, 32, 3, 5 }, offsets[] = { 0, 0.5, 0.1, -0.25 };
  int failures = 0, near = 0, pairs = 0;

  for (int number = 0; number < N_SLOPES * 7 * 4 * 2 * 5 && failures == 0; number++) {
    static const int depths[] = { 8, 9, 10, 12, 16 };
    int which = number % N_SLOPES, d = number / N_SLOPES % 7, o = number / N_SLOPES / 7 % 4;
    int limited = number / N_SLOPES / 28 % 2, depth = depths[number / N_SLOPES / 56];
    ConvolvePlan *plan = make_plan (which, depth, divisors[d], offsets[o], limited);
    bool usual = divisors[d] == 1 && offsets[o] * 2 == floor (offsets[o] * 2);
    CheckRandom random;

    check_random_init (&random, seed ^ 0x6e656172, number);
    failures += !plan || !plan->exact || (usual && !(depth == 8 ? plan->root.near_is_right : plan->root.pair_is_right));
    if (failures == 0) {
      near += plan->root.near_is_right;
      pairs += plan->root.pair_is_right;
      failures += check_near_thresholds (plan, largest_value (plan), &random, file);
    }
    if (failures == 0 && depth == 8 && plan->root.near_is_right && divisors[d] <= 2)
      failures += check_all_near (plan, file);
    if (failures > 0)
      fprintf (file, "FAILED root: %s with %d bits, divisor %g, offset %g%s, seed %llu\n", slopes[which].name, depth,
          divisors[d], offsets[o], limited ? ", limited range" : "", (unsigned long long) seed);
    convolve_plan_unref (plan);
  }
  if (failures == 0 && (near < 90 || pairs < 500)) {
    fprintf (file, "FAILED root: %d plans with near roots and %d with pairs\n", near, pairs);
    failures++;
  }
  return failures;
}
