/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/check_case.h"
#include "kernels/check_cpu.h"
#include "common/internal.h"

enum
{
  MOST_SIDE = 127,
  MOST_PRODUCTS = 1500000 /* the most multiplications of one case of cpu-reference, which are one for each tap */
};

typedef enum
{
  GAUSSIAN,
  LINE,     /* one row or one column */
  SIGNED,   /* a product of random factors of both signs */
  SHARP,    /* a gaussian with another tap at the centre */
  GAUSSIANS /* several of them added up */
} Kind;

/* What the cases came to, so that no kind of plan goes untested. */
typedef struct
{
  int products, narrow, wide, centres, ranks[CONVOLVE_MAX_RANK + 1], shallow, one_sample;
} Seen;

static double
gaussian (int distance, double sigma)
{
  return exp (-0.5 * distance * distance / (sigma * sigma));
}

static int
random_side (CheckRandom *random, int least)
{
  int most = check_random_one_in (random, 4) ? MOST_SIDE : 33;

  return check_random_range (random, least / 2, most / 2) * 2 + 1;
}

static void
add_product (double *taps, int width, int height, double weight, const double *row, const double *column)
{
  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++)
      taps[j * width + i] += weight * column[j] * row[i];
}

static void
add_gaussian (double *taps, int width, int height, double weight, CheckRandom *random)
{
  double row[MOST_SIDE], column[MOST_SIDE], sums[2] = { 0 };
  double sigma_x = width * (0.05 + 0.3 * check_random_unit (random)), sigma_y = sigma_x * height / width;

  for (int i = 0; i < width; i++)
    sums[0] += row[i] = gaussian (i - width / 2, sigma_x);
  for (int j = 0; j < height; j++)
    sums[1] += column[j] = gaussian (j - height / 2, sigma_y);
  add_product (taps, width, height, weight / sums[0] / sums[1], row, column);
}

static void
add_signed (double *taps, int width, int height, CheckRandom *random)
{
  double row[MOST_SIDE], column[MOST_SIDE], sums[2] = { 0 };

  for (int i = 0; i < width; i++)
    sums[0] += fabs (row[i] = check_random_unit (random) - 0.3);
  for (int j = 0; j < height; j++)
    sums[1] += fabs (column[j] = check_random_unit (random) - 0.3);
  add_product (taps, width, height, 0.3 + 1.5 * check_random_unit (random), row, column);
  for (int k = 0; k < width * height; k++)
    taps[k] /= sums[0] * sums[1];
}

static void
fill_taps (Kind kind, double *taps, int width, int height, CheckRandom *random)
{
  memset (taps, 0, (size_t) width * height * sizeof (*taps));
  if (kind == SIGNED || (kind == LINE && check_random_one_in (random, 2)))
    add_signed (taps, width, height, random);
  else if (kind == GAUSSIANS)
    for (int n = check_random_range (random, 2, CONVOLVE_MAX_RANK), k = 0; k < n; k++)
      add_gaussian (taps, width, height, k == 0 ? 1.5 : check_random_unit (random) - 0.5, random);
  else
    add_gaussian (taps, width, height, kind == SHARP ? -0.7 : 1, random);
  if (kind == SHARP)
    taps[width * height / 2] += 1.7;
}

/* The samples of random pixels have up to 16 bits, of which PRODUCTS take up to 12. */
static void
make_shallow (ConvolvePixel *pixel, CheckRandom *random)
{
  if (pixel->depth <= 12)
    return;
  pixel->depth = check_random_range (random, 9, 12);
  pixel->shift = 16 - pixel->depth;
  for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++) {
    pixel->zero[k] &= (1 << pixel->depth) - 1;
    pixel->outside[k] &= (1 << pixel->depth) - 1;
    pixel->range[k] &= (1 << pixel->depth) - 1;
  }
}

static void
make_small (CheckCase *test, int count)
{
  ConvolveRect *region = &test->region;

  while ((int64_t) region->width * region->height * count > MOST_PRODUCTS && region->width * region->height > 1) {
    if (region->width > region->height)
      region->width = (region->width + 1) / 2;
    else
      region->height = (region->height + 1) / 2;
  }
}

static bool
make_case (CheckCase *test, uint64_t seed, uint64_t number)
{
  static const int weights[] = { 4, 2, 2, 2, 3 };
  static double taps[MOST_SIDE * MOST_SIDE];
  CheckRandom random;
  int width, height;
  Kind kind;

  if (!check_case_random (test, seed, number, false))
    return false;
  check_random_init (&random, ~seed, number);
  kind = check_random_pick (&random, weights, sizeof (weights) / sizeof (weights[0]));
  width = random_side (&random, kind == GAUSSIANS ? 17 : 3);
  height = check_random_one_in (&random, 2) ? width : random_side (&random, 3);
  if (kind == LINE)
    *(check_random_one_in (&random, 2) ? &width : &height) = 1;
  fill_taps (kind, taps, width, height, &random);
  make_shallow (&test->pixel, &random);
  make_small (test, width * height * test->pixel.samples);
  check_mask_clear (&test->mask);
  return check_mask_from (&test->mask, width, height, taps, 1, check_largest (&test->pixel));
}

/* The destination block after a run of this variant, to be freed; or NULL. */
static unsigned char *
run (const CheckCase *test, const ConvolvePlan *plan)
{
  unsigned char *result = plan ? malloc (test->destination.size) : NULL;
  ConvolvePlane plane;

  if (!result)
    return NULL;
  memcpy (result, test->destination.bytes, test->destination.size);
  plane = check_case_plane (test, test->source.bytes, result);
  if (convolve_run (plan, &plane, NULL) != CONVOLVE_OK) {
    free (result);
    return NULL;
  }
  return result;
}

static void
count (const ConvolvePlan *plan, Seen *seen)
{
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;

  seen->products++;
  seen->narrow += arithmetic->narrow;
  seen->wide += !arithmetic->narrow;
  seen->centres += arithmetic->centre != 0;
  seen->shallow += plan->pixel.depth == 8;
  seen->one_sample += plan->pixel.samples == 1;
  seen->ranks[arithmetic->rank]++;
}

static bool
all_seen (const Seen *seen, int cases, FILE *file)
{
  bool all = seen->narrow > 0 && seen->wide > 0 && seen->centres > 0 && seen->shallow > 0 && seen->one_sample > 0
      && seen->products > seen->shallow && seen->products > seen->one_sample;

  for (int r = 1; r <= CONVOLVE_MAX_RANK; r++)
    all = all && seen->ranks[r] > 0;
  if (all || cases < 300)
    return true;
  fprintf (file,
      "FAILED products: of %d plans %d are narrow, %d wide, %d with a centre, %d of 8 bits, %d of one sample; "
      "%d, %d, %d and %d have 1 to 4 products\n",
      seen->products, seen->narrow, seen->wide, seen->centres, seen->shallow, seen->one_sample, seen->ranks[1],
      seen->ranks[2], seen->ranks[3], seen->ranks[4]);
  return false;
}

int
check_products (uint64_t seed, int cases, FILE *file)
{
  Seen seen = { 0 };
  int failures = 0;

  for (int number = 0; number < cases && failures < 4; number++) {
    CheckCase test;
    ConvolvePlan *plan = NULL;
    unsigned char *result = NULL;
    bool made = make_case (&test, seed, number);

    if (made)
      plan = convolve_plan_new (&test.pixel, test.boundary, &test.mask.mask, "cpu-reference", NULL, NULL);
    result = run (&test, plan);
    if (plan && plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS)
      count (plan, &seen);
    if (!result || (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS && !check_cpu_same (&test, result, file))) {
      fprintf (file, "FAILED products: case %d, seed %llu: %dx%d weights, %d products\n", number,
          (unsigned long long) seed, test.mask.mask.width, test.mask.mask.height, plan ? plan->arithmetic.rank : 0);
      failures++;
    }
    free (result);
    convolve_plan_unref (plan);
    check_case_clear (&test);
  }
  return failures + !all_seen (&seen, cases, file);
}
