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
convolve_largest_magnitude (const double *values, int count)
{
  double largest = 0;

  for (int i = 0; i < count; i++)
    largest = fmax (largest, fabs (values[i]));
  return largest;
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

  if (!rest)
    return false;
  memcpy (rest, taps, count * sizeof (double));
  factors->missed = convolve_sum_of_magnitudes (rest, count);
  for (factors->rank = 0; factors->missed > most_missed && factors->rank < CONVOLVE_MAX_RANK; factors->rank++) {
    double *column = factors->column[factors->rank], *row = factors->row[factors->rank];
    int pivot = 0;

    for (int i = 0; i < count; i++)
      if (fabs (rest[i]) > fabs (rest[pivot]))
        pivot = i;
    for (int i = 0; i < width; i++)
      row[i] = rest[pivot / width * width + i];
    for (int j = 0; j < height; j++)
      column[j] = rest[j * width + pivot % width] / row[pivot % width];
    for (int j = 0; j < height; j++)
      for (int i = 0; i < width; i++)
        rest[j * width + i] -= column[j] * row[i];
    factors->missed = convolve_sum_of_magnitudes (rest, count);
  }
  free (rest);
  return factors->rank > 0 && factors->missed <= most_missed;
}
