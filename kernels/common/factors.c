/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double
convolve_sum_of_magnitudes (const double *values, int count)
{
  double sum = 0;

  for (int i = 0; i < count; i++)
    sum += fabs (values[i]);
  return sum;
}

double
convolve_sum_of_magnitudes_f (const float *values, int count)
{
  double sum = 0;

  for (int i = 0; i < count; i++)
    sum += fabs (values[i]);
  return sum;
}

double
convolve_largest_magnitude (const double *values, int count)
{
  double largest = 0;

  for (int i = 0; i < count; i++)
    largest = fmax (largest, fabs (values[i]));
  return largest;
}

static int
find_largest (const double *values, int count)
{
  int largest = 0;

  for (int i = 0; i < count; i++)
    if (fabs (values[i]) > fabs (values[largest]))
      largest = i;
  return largest;
}

/* Takes the product of the row and the column at `pivot` away from the values. */
static void
take_product (double *values, int width, int height, int pivot, double *column, double *row)
{
  const double largest = values[pivot];

  for (int i = 0; i < width; i++)
    row[i] = values[pivot / width * width + i];
  for (int j = 0; j < height; j++)
    column[j] = values[j * width + pivot % width] / largest;
  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++)
      values[j * width + i] -= column[j] * row[i];
}

/*
 * Each product is the row and the column of the largest tap of what is left. For example, unsharp and
 * laplacian-of-gaussian masks are sums of two products.
 */
bool
convolve_factors_find (const double *taps, int width, int height, double most_missed, ConvolveFactors *factors)
{
  const int count = width * height;
  double *rest = malloc (count * sizeof (double));

  factors->no_memory |= !rest;
  if (!rest)
    return false;
  memcpy (rest, taps, count * sizeof (double));
  factors->missed = convolve_sum_of_magnitudes (rest, count);
  for (factors->rank = 0; factors->missed > most_missed && factors->rank < CONVOLVE_MAX_RANK; factors->rank++) {
    take_product (rest, width, height, find_largest (rest, count), factors->column[factors->rank],
        factors->row[factors->rank]);
    factors->missed = convolve_sum_of_magnitudes (rest, count);
  }
  free (rest);
  return factors->rank > 0 && factors->missed <= most_missed;
}

/* Full elimination, to the last pivot. A pivot's row and column are 0 afterwards, so the rank is at most a side. */
int
convolve_mask_rank (const ConvolveMask *mask)
{
  const int count = mask->width * mask->height;
  double *rest, column[CONVOLVE_MAX_SIDE], row[CONVOLVE_MAX_SIDE], least;
  int rank = 0;

  if (mask->combination == CONVOLVE_GAUSSIAN)
    return (mask->taps[0] != 0) + (mask->taps[1] != 0);
  rest = malloc (count * sizeof (double));
  if (!rest)
    return -1;
  memcpy (rest, mask->taps, count * sizeof (double));
  least = 1e-12 * fabs (rest[find_largest (rest, count)]);
  for (int pivot = find_largest (rest, count); fabs (rest[pivot]) > least; pivot = find_largest (rest, count)) {
    take_product (rest, mask->width, mask->height, pivot, column, row);
    rank++;
  }
  free (rest);
  return rank;
}
