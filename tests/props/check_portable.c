/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of props/presets/portable.c beside those of the C library, and bits that are the same on every machine. */
#include <math.h>

#include "presets/portable.h"
#include "props/check_props.h"
#include "support/random.h"

enum
{
  N_POINTS = 20000
};

static void
expect_near (const gchar *name, gdouble x, gdouble value, gdouble expected, gdouble error)
{
  fail_unless (fabs (value - expected) <= error, "%s of %a is %a, the C library has %a", name, x, value, expected);
}

GST_START_TEST (beside_libm)
{
  CheckRandom random;

  check_random_init (&random, 20, 0);
  for (gint i = 0; i <= N_POINTS; i++) {
    gdouble unit = i == N_POINTS ? 1 : check_random_unit (&random);
    gdouble power = -pow (10, 13 * unit - 10), angle = G_PI / 2 * unit, length = pow (10, 20 * unit - 10);
    gdouble other = length * check_random_unit (&random);

    expect_near ("exp", power, convolve_portable_exp (power), exp (power), 0x1p-50 * exp (power) + DBL_TRUE_MIN);
    expect_near ("sin", angle, convolve_portable_sin (angle), sin (angle), 0x1p-50);
    expect_near ("cos", angle, convolve_portable_cos (angle), cos (angle), 0x1p-50);
    expect_near ("asin", unit, convolve_portable_asin (unit), asin (unit), 0x1p-49);
    expect_near ("hypot", length, convolve_portable_hypot (length, other), hypot (length, other), 0x1p-50 * length);
  }
  fail_unless (convolve_portable_exp (0) == 1 && convolve_portable_sin (0) == 0 && convolve_portable_asin (0) == 0
      && convolve_portable_cos (0) == 1 && convolve_portable_exp (-1e9) == 0);
}

GST_END_TEST;

/* All the bits of many values as one number: a machine that rounds differently has another. */
GST_START_TEST (every_bit)
{
  guint64 hash = 0xcbf29ce484222325;

  for (gint i = 0; i <= N_POINTS; i++) {
    gdouble unit = (gdouble) i / N_POINTS;
    const gdouble values[] = { convolve_portable_exp (-40 * unit), convolve_portable_sin (G_PI / 2 * unit),
      convolve_portable_cos (G_PI / 2 * unit), convolve_portable_asin (unit),
      convolve_portable_hypot (unit, 1 - unit) };

    for (guint k = 0; k < G_N_ELEMENTS (values); k++) {
      guint64 bits;

      memcpy (&bits, &values[k], sizeof bits);
      hash = (hash ^ bits) * 0x100000001b3;
    }
  }
  fail_unless (hash == G_GUINT64_CONSTANT (0x1fd0cdbce7cb9ac4), "the bits are 0x%" G_GINT64_MODIFIER "x", hash);
}

GST_END_TEST;

TCase *
portable_functions (void)
{
  TCase *tcase = tcase_create ("portable");

  tcase_add_test (tcase, beside_libm);
  tcase_add_test (tcase, every_bit);
  return tcase;
}
