/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/fraction.h"

#include <math.h>

#define TOLERANCE 4e-15 /* relative error of a simple fraction after a few roundings in double */

double
convolve_common_divisor (double a, double b)
{
  while (b != 0) {
    double rest = fmod (a, b);

    a = b;
    b = rest;
  }
  return a;
}

/*
 * By continued fractions. So the ratios of the weights 0.1 0.2 0.1 are found to be 1 2 1, although no decimal is exact.
 */
bool
convolve_fraction_near (double value, double limit, ConvolveFraction *fraction)
{
  double p0 = 0, q0 = 1, p1 = 1, q1 = 0, rest = value;

  for (int i = 0; i < 40; i++) {
    double whole = floor (rest), p = whole * p1 + p0, q = whole * q1 + q0;

    if (q > limit || p > 9e15)
      return false;
    if (fabs (p / q - value) <= TOLERANCE * value) {
      *fraction = (ConvolveFraction){ p, q };
      return true;
    }
    p0 = p1, q0 = q1, p1 = p, q1 = q;
    rest = 1 / (rest - whole);
  }
  return false;
}
