/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_arithmetic_mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
check_arithmetic_pixel (ConvolvePixel *pixel, CheckRandom *random)
{
  static const int depths[] = { 8, 8, 8, 8, 9, 10, 10, 12, 14, 16 };
  int depth = depths[check_random_range (random, 0, sizeof depths / sizeof *depths - 1)];

  *pixel = (ConvolvePixel){
    .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
    .depth = depth,
    .samples = check_random_range (random, 1, 4),
  };
  pixel->stride = pixel->samples * (depth == 8 ? 1 : 2);
  pixel->select = pixel->biased = (1u << pixel->samples) - 1;
  if (check_random_one_in (random, 3))
    pixel->biased &= check_random_range (random, 0, 15);
  if (check_random_one_in (random, 3))
    pixel->select &= check_random_range (random, 0, 15);
  for (int k = 0; k < pixel->samples; k++) {
    static const int sixteenths[] = { 0, 0, 1, 8 };

    pixel->zero[k] = check_random_one_in (random, 4) ? check_random_range (random, 0, (1 << depth) - 1)
                                                     : sixteenths[check_random_range (random, 0, 3)] << (depth - 4);
    pixel->range[k] = check_random_one_in (random, 2) ? 0 : check_random_range (random, 1, (1 << depth) - 1);
  }
}

static int
random_side (CheckRandom *random)
{
  static const int usual[] = { 1, 3, 3, 5, 5, 7, 9, 11, 15, 17, 21, 31, 33, 63 };

  if (check_random_one_in (random, 60))
    return 2 * check_random_range (random, 0, 127) + 1;
  return usual[check_random_range (random, 0, sizeof usual / sizeof *usual - 1)];
}

static double
bell (double distance, double sigma)
{
  return exp (-0.5 * distance * distance / (sigma * sigma));
}

/* A bell of sum 1, times a factor, is added. */
static void
add_bell (ConvolveMask *mask, double sigma_x, double sigma_y, double factor)
{
  double sum = 0;

  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < mask->width * mask->height; i++) {
      double value =
          bell (i % mask->width - mask->width / 2, sigma_x) * bell (i / mask->width - mask->height / 2, sigma_y);

      sum += pass == 0 ? value : 0;
      mask->taps[i] += pass == 0 ? 0 : factor * value / sum;
    }
}

static double
random_sigma (const ConvolveMask *mask, CheckRandom *random)
{
  return 0.3 + 0.4 * check_random_unit (random) * (mask->width > mask->height ? mask->width : mask->height);
}

static void
fill_gaussian (ConvolveMask *mask, CheckRandom *random)
{
  double sigma = random_sigma (mask, random);

  add_bell (mask, sigma, check_random_one_in (random, 3) ? random_sigma (mask, random) : sigma, 1);
}

static void
fill_fractions (ConvolveMask *mask, CheckRandom *random)
{
  double less = check_random_one_in (random, 2) ? 0 : check_random_unit (random);

  for (int i = 0; i < mask->width * mask->height; i++)
    mask->taps[i] = check_random_unit (random) - less;
}

static void
fill_peak (ConvolveMask *mask, CheckRandom *random)
{
  double low = pow (10, -6 * check_random_unit (random));

  for (int i = 0; i < mask->width * mask->height; i++)
    mask->taps[i] = low * (check_random_unit (random) - 0.3);
  mask->taps[check_random_range (random, 0, mask->width * mask->height - 1)] = 1 + check_random_unit (random);
}

static void
fill_unsharp (ConvolveMask *mask, CheckRandom *random)
{
  double sigma = random_sigma (mask, random), amount = 3 * check_random_unit (random);

  add_bell (mask, sigma, sigma, -amount);
  mask->taps[mask->width * mask->height / 2] += 1 + amount;
}

static void
fill_log (ConvolveMask *mask, CheckRandom *random)
{
  bool balanced = check_random_one_in (random, 2);
  double sigma = random_sigma (mask, random), mean = 0;
  int count = mask->width * mask->height;

  for (int i = 0; i < count; i++) {
    double x = i % mask->width - mask->width / 2, y = i / mask->width - mask->height / 2;

    mask->taps[i] = (x * x + y * y - 2 * sigma * sigma) / pow (sigma, 4) * bell (x, sigma) * bell (y, sigma);
    mean += mask->taps[i] / count;
  }
  for (int i = 0; i < count && balanced; i++)
    mask->taps[i] -= mean;
}

static void
fill_difference (ConvolveMask *mask, CheckRandom *random)
{
  double narrow = random_sigma (mask, random), wide = narrow * (1 + 2 * check_random_unit (random));

  add_bell (mask, narrow, narrow, 1);
  add_bell (mask, wide, wide, check_random_one_in (random, 2) ? -1 : -check_random_unit (random));
}

static void
fill_soft_box (ConvolveMask *mask, CheckRandom *random)
{
  double across = check_random_one_in (random, 3) ? 1 : check_random_range (random, 1, 4) / 4.0;
  double down = check_random_one_in (random, 3) ? across : check_random_unit (random);

  for (int i = 0; i < mask->width * mask->height; i++) {
    int x = i % mask->width, y = i / mask->width;

    mask->taps[i] = (x == 0 || x == mask->width - 1 ? across : 1) * (y == 0 || y == mask->height - 1 ? down : 1);
  }
}

/* Small multiples of one number, which are a box of the arithmetic. */
static void
fill_multiples (ConvolveMask *mask, CheckRandom *random)
{
  int least = check_random_one_in (random, 2) ? 0 : -4, most = check_random_range (random, 1, 4);
  double factor = check_random_one_in (random, 2) ? 1 : 0.1 + check_random_unit (random);

  for (int i = 0; i < mask->width * mask->height; i++)
    mask->taps[i] = factor * check_random_range (random, least, most);
}

/* One to five products, in which weights may be below 0. */
static void
fill_products (ConvolveMask *mask, CheckRandom *random)
{
  int products = check_random_range (random, 1, check_random_one_in (random, 2) ? 1 : 5);
  double less = check_random_one_in (random, 3) ? 0 : check_random_unit (random);

  for (int p = 0; p < products; p++) {
    double row[CONVOLVE_MAX_SIDE] = { 0 }, column[CONVOLVE_MAX_SIDE] = { 0 };

    for (int i = 0; i < mask->width; i++)
      row[i] = check_random_unit (random) - less;
    for (int j = 0; j < mask->height; j++)
      column[j] = check_random_unit (random) - less;
    for (int i = 0; i < mask->width * mask->height; i++)
      mask->taps[i] += column[i / mask->width] * row[i % mask->width];
  }
}

/* A product with another centre. */
static void
fill_centre (ConvolveMask *mask, CheckRandom *random)
{
  fill_products (mask, random);
  mask->taps[mask->width * mask->height / 2] += 4 * check_random_unit (random) - 2;
}

static const struct
{
  const char *kind;
  void (*fill) (ConvolveMask *, CheckRandom *);
} kinds[] = {
  { "gaussian", fill_gaussian },
  { "gaussian", fill_gaussian },
  { "fractions", fill_fractions },
  { "peak", fill_peak },
  { "unsharp", fill_unsharp },
  { "laplacian of a gaussian", fill_log },
  { "difference of gaussians", fill_difference },
  { "soft box", fill_soft_box },
  { "small multiples", fill_multiples },
  { "products", fill_products },
  { "products", fill_products },
  { "product and a centre", fill_centre },
};

enum
{
  N_KINDS = sizeof kinds / sizeof *kinds
};

/* Gains from 10^-4 to 10^4 are rare, and most masks have a gain of about 1. */
static double
random_divisor (const ConvolveMask *mask, CheckRandom *random)
{
  double sum = 0, size = 0, divisor;

  for (int i = 0; i < mask->width * mask->height; i++) {
    sum += mask->taps[i];
    size += fabs (mask->taps[i]);
  }
  size = size > 0 ? size : 1;
  divisor = check_random_one_in (random, 2) && fabs (sum) > 0.01 * size ? sum : size;
  if (check_random_one_in (random, 6))
    divisor = size * pow (10, 8 * check_random_unit (random) - 4);
  else if (check_random_one_in (random, 3))
    divisor = size / (4 * check_random_unit (random) + 0.1);
  return check_random_one_in (random, 10) ? -divisor : divisor;
}

static void
limit_sides (int *width, int *height, CheckRandom *random)
{
  if (check_random_one_in (random, 6))
    *(check_random_one_in (random, 2) ? width : height) = 1;
  while (*width * *height > 5000 && !check_random_one_in (random, 100))
    *(*width > *height ? width : height) /= 2;
  *width |= 1;
  *height |= 1;
}

bool
check_arithmetic_mask (CheckMask *mask, CheckRandom *random, int largest)
{
  int kind = check_random_range (random, 0, N_KINDS - 1), width = random_side (random), height = random_side (random);

  if (check_random_one_in (random, 8))
    return check_mask_random (mask, random, largest)
        && (!check_random_one_in (random, 4) || check_mask_combine (mask, random, largest));
  limit_sides (&width, &height, random);
  memset (mask, 0, sizeof *mask);
  if (!convolve_mask_init (&mask->mask, width, height))
    return false;
  mask->kind = kinds[kind].kind;
  kinds[kind].fill (&mask->mask, random);
  mask->mask.divisor = random_divisor (&mask->mask, random);
  mask->mask.offset = check_random_one_in (random, 2) ? 0 : 2 * check_random_unit (random) - 1;
  if (check_random_one_in (random, 8)) /* half way between two multiples of 1/256 of a code value */
    mask->mask.offset = check_random_range (random, -512, 512) / 512.0;
  if (!check_mask_analyse (mask, largest))
    return false;
  return !check_random_one_in (random, 8) || check_mask_combine (mask, random, largest);
}
