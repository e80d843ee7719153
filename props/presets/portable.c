/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "presets/portable.h"

#include <math.h>

#define LN2_HIGH 0x1.62e42fefa3800p-1 /* the first 42 bits of ln 2, whose products with small integers are exact */
#define LN2_LOW 0x1.ef35793c76730p-45 /* and the rest */

/* Horner's scheme for the sum of rest^n / n!, after a whole power of 2 was taken off. */
gdouble
convolve_portable_exp (gdouble x)
{
  gdouble whole, rest, sum = 1;

  if (x < -745) /* the result is below the smallest double */
    return 0;
  whole = floor (x / G_LN2 + 0.5);
  rest = x - whole * LN2_HIGH - whole * LN2_LOW;
  for (gint n = 17; n > 0; n--)
    sum = 1 + rest / n * sum;
  return ldexp (sum, (gint) whole);
}

gdouble
convolve_portable_sin (gdouble angle)
{
  gdouble square = angle * angle, sum = 1;

  for (gint n = 24; n > 0; n -= 2)
    sum = 1 - square / (n * (n + 1)) * sum;
  return angle * sum;
}

gdouble
convolve_portable_cos (gdouble angle)
{
  /* Near pi / 2 the series would lose what is left in its sum. */
  return angle > G_PI / 4 ? convolve_portable_sin (G_PI / 2 - angle)
                          : 1 - 2 * convolve_portable_sin (angle / 2) * convolve_portable_sin (angle / 2);
}

/* sin (angle / 2) = x / sqrt (2 (1 + cos (angle))), with cos (angle) = sqrt (1 - x^2): five halves make x small. */
gdouble
convolve_portable_asin (gdouble x)
{
  const gint halves = 5;
  gdouble square, sum = 0, factor = 1;

  for (gint i = 0; i < halves; i++)
    x /= sqrt (2 * (1 + sqrt ((1 - x) * (1 + x))));
  /* asin (x) = x (1 + x^2 / 6 + 3 x^4 / 40 + ..): each coefficient is ((2 n - 1) / (2 n)) of the one before, / (2 n + 1). */
  square = x * x;
  for (gint n = 0; n < 12; n++) {
    sum += factor / (2 * n + 1);
    factor *= square * (2 * n + 1) / (2 * n + 2);
  }
  return ldexp (x * sum, halves);
}

gdouble
convolve_portable_hypot (gdouble x, gdouble y)
{
  return sqrt (x * x + y * y);
}
