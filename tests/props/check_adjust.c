/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of what is done to weights on their way to a mask: anchors, flip and mix; and of the rank of masks. */
#include "props/check_adjust.h"

#include <math.h>

#include "props/check_props.h"
#include "support/run.h"

static ConvolveSettings
anchored (const gchar *mask, gint x, gint y)
{
  ConvolveSettings settings = settings_of (mask, 0, 0);

  settings.anchor_x = x;
  settings.anchor_y = y;
  return settings;
}

#define EXPECT_ANCHORED(mask, x, y, turned, width, height, ...) \
  do { \
    ConvolveSettings of = anchored (mask, x, y); \
\
    of.flip = turned; \
    of.divisor = 1; \
    expect (make_scaled (&of, 1, 1), mask, width, height, TAPS (__VA_ARGS__), 1); \
  } while (0)

GST_START_TEST (anchors)
{
  EXPECT_ANCHORED ("1 2 3", -1, -1, FALSE, 3, 1, 1, 2, 3);
  EXPECT_ANCHORED ("1 2 3", 1, 0, FALSE, 3, 1, 1, 2, 3);
  EXPECT_ANCHORED ("1 2 3", 0, -1, FALSE, 5, 1, 0, 0, 1, 2, 3);
  EXPECT_ANCHORED ("1 2 3", 2, -1, FALSE, 5, 1, 1, 2, 3, 0, 0);
  EXPECT_ANCHORED ("1;2;3", -1, 0, FALSE, 1, 5, 0, 0, 1, 2, 3);
  EXPECT_ANCHORED ("2x2: 1 2 3 4", -1, -1, FALSE, 3, 3, 1, 2, 0, 3, 4, 0, 0, 0, 0);
  EXPECT_ANCHORED ("2x2: 1 2 3 4", 0, 0, FALSE, 3, 3, 0, 0, 0, 0, 1, 2, 0, 3, 4);
  EXPECT_ANCHORED ("2x2: 1 2 3 4", 1, 0, FALSE, 3, 3, 0, 0, 0, 1, 2, 0, 3, 4, 0);
  EXPECT_ANCHORED ("2x1: 1 2", 0, -1, FALSE, 3, 1, 0, 1, 2);
  EXPECT_ANCHORED ("4x1: 1 2 3 4", 1, -1, FALSE, 5, 1, 0, 1, 2, 3, 4);
  /* The anchor turns with the mask. */
  EXPECT_ANCHORED ("1 2 3", -1, -1, TRUE, 3, 1, 3, 2, 1);
  EXPECT_ANCHORED ("1 2 3", 0, -1, TRUE, 5, 1, 3, 2, 1, 0, 0);
  EXPECT_ANCHORED ("2x2: 1 2 3 4", -1, -1, TRUE, 3, 3, 0, 0, 0, 0, 4, 3, 0, 2, 1);
  EXPECT_ANCHORED ("2x2: 1 2 3 4", 1, 0, TRUE, 3, 3, 0, 4, 3, 0, 2, 1, 0, 0, 0);
  /* Presets are turned, and keep their middle. */
  EXPECT_ANCHORED ("sobel-x", 0, 0, TRUE, 3, 3, 1, 0, -1, 2, 0, -2, 1, 0, -1);
}
GST_END_TEST;

GST_START_TEST (anchors_that_are_bad)
{
  ConvolveSettings settings = anchored ("1 2 3", 3, -1);
  g_autofree gchar *zeros = g_strnfill (255 * 2, ' '), *wide = NULL;

  refuse_settings (&settings, "anchor-x: 3 is not one of the mask's columns: 0 to 2, or -1 for the middle");
  settings = anchored ("1 2 3", -1, 1);
  refuse_settings (&settings, "anchor-y: 1 is not one of the mask's rows: 0 to 0, or -1 for the middle");
  settings = anchored ("1 2 3", -2, -1);
  refuse_settings (&settings, "anchor-x: -2 is not one of the mask's columns: 0 to 2, or -1 for the middle");
  for (guint i = 0; i < 255; i++)
    zeros[2 * i] = '1';
  zeros[2 * 200] = '\0';
  wide = g_strconcat ("200x1: ", zeros, NULL);
  settings = anchored (wide, 71, -1);
  refuse_settings (&settings,
      "anchor-x: 71 of 200 columns is too far from the middle: a side may have 127 weights on it, so 72 to 127 are "
      "possible");
  settings = anchored (wide, 128, -1);
  refuse_settings (&settings, "anchor-x: 128 of 200 columns is too far ...");
  for (gint i = 0; i < 3; i++) {
    ConvolveMask mask;

    settings = anchored (wide, i == 0 ? 72 : i == 1 ? 127 : -1, -1);
    mask = make_scaled (&settings, 1, 1);
    fail_unless_equals_int (mask.width, i == 2 ? 201 : 255);
    convolve_mask_clear (&mask);
  }
}
GST_END_TEST;

static ConvolveSettings
mixed (const gchar *mask, gdouble divisor, gdouble mix)
{
  ConvolveSettings settings = settings_of (mask, 0, 0);

  settings.divisor = divisor;
  settings.mix = mix;
  return settings;
}

#define EXPECT_MIXED(mask, divisor, mix, result, ...) \
  do { \
    ConvolveSettings of = mixed (mask, divisor, mix); \
    ConvolveMask made = make_scaled (&of, 1, 1); \
    gint width = made.width, height = made.height; \
\
    fail_unless_equals_int (width *height, (gint) G_N_ELEMENTS (((const gdouble[]){ __VA_ARGS__ }))); \
    expect (made, mask, width, height, TAPS (__VA_ARGS__), result); \
  } while (0)

/* By hand: with mix p/q and divisor a/b, taps become p b t, the middle gets (q - p) a, and the divisor is q a. */
GST_START_TEST (mixes)
{
  EXPECT_MIXED ("1 2 1", 0, 1, 4, 1, 2, 1);
  EXPECT_MIXED ("1 2 1", 0, 0.5, 8, 1, 6, 1);
  EXPECT_MIXED ("1 2 1", 0, 0.25, 16, 1, 14, 1);
  EXPECT_MIXED ("1 2 1", 0, 0.3, 40, 3, 34, 3);
  EXPECT_MIXED ("1 2 1", 0, 1.0 / 3, 12, 1, 10, 1);
  EXPECT_MIXED ("1 2 1", 0, 0.999, 4000, 999, 2002, 999);
  EXPECT_MIXED ("1 2 1", 2.5, 0.5, 10, 2, 9, 2);
  EXPECT_MIXED ("1 2 1", -4, 0.5, -8, 1, -2, 1);
  EXPECT_MIXED ("1 2 1", 0, 0, 4, 0, 4, 0);
  EXPECT_MIXED ("-1 -2 -1", 0, 0, -4, 0, -4, 0);
  /* The middle is what 0.2 of laplacian and 0.8 of the input leave, which is nothing. */
  EXPECT_MIXED ("laplacian", 0, 0.2, 5, 0, 1, 0, 1, 0, 1, 0, 1, 0);
  EXPECT_MIXED ("0 0.1 0; 0.1 -0.4 0.1; 0 0.1 0", 0.1, 0.2, 0.1, 0, 0.2 * 0.1, 0, 0.2 * 0.1, 0, 0.2 * 0.1, 0, 0.2 * 0.1,
      0);
  /* Numbers that are no short fraction, and weights that are no integers. */
  EXPECT_MIXED ("1 2 1", 0, 0.1234567891, 4, 0.1234567891, 0.2469135782 + (1 - 0.1234567891) * 4, 0.1234567891);
  EXPECT_MIXED ("0.5 1 0.5", 0, 0.5, 2, 0.25, 1.5, 0.25);
  EXPECT_MIXED ("1e300 1e300 1e300", 0, 0.5, 3e300, 5e299, 2e300, 5e299);
  /* Integers whose multiples double does not hold. */
  EXPECT_MIXED ("1125899906842624 0 1", 1, 0.999, 1, 0.999 * 1125899906842624, 1 - 0.999, 0.999);
}
GST_END_TEST;

GST_START_TEST (mixes_and_offsets)
{
  ConvolveSettings settings = mixed ("emboss", 0, 0.5);
  ConvolveMask mask;

  settings.bias = 0.25;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.offset == 0.375);
  convolve_mask_clear (&mask);
  settings.mix = 0;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.offset == 0);
  convolve_mask_clear (&mask);
  settings.mix = 1.5;
  refuse_settings (&settings, "mix: 1.5 is not between 0 and 1");
  settings.mix = NAN;
  refuse_settings (&settings, "mix: nan is not between 0 and 1");
}
GST_END_TEST;

/* Whatever the mask and the mix, taps / divisor are mix times those of the mask, and 1 - mix more in the middle. */
GST_START_TEST (fuzz_mixes)
{
  GRand *random = g_rand_new_with_seed (check_seed ());

  for (guint round = 0; round < 3000; round++) {
    gdouble mix = g_rand_boolean (random) ? g_rand_int_range (random, 0, 1001) / 1000.0 : g_rand_double (random);
    g_autoptr (GString) text = g_string_new (NULL);
    ConvolveSettings settings;
    ConvolveMask plain, blend;
    gboolean integers = g_rand_boolean (random);

    for (guint i = 0; i < 9; i++)
      g_string_append_printf (text, integers ? "%.0f " : "%.6f ", g_rand_double_range (random, -20, 20));
    settings = mixed (text->str, g_rand_boolean (random) ? 0 : g_rand_int_range (random, 1, 100) / 10.0, 1);
    settings.bias = g_rand_double_range (random, -1, 1);
    plain = make_scaled (&settings, 1, 1);
    settings.mix = mix;
    blend = make_scaled (&settings, 1, 1);
    for (guint i = 0; i < 9; i++) {
      gdouble wanted = mix * plain.taps[i] / plain.divisor + (i == 4 ? 1 - mix : 0);
      gdouble size = fabs (mix * plain.taps[i] / plain.divisor) + 1;

      fail_unless (fabs (blend.taps[i] / blend.divisor - wanted) <= 1e-14 * size, "round %u, tap %u", round, i);
      /* A mix of a thousand parts leaves integers. */
      fail_unless (!integers || fmod (mix * 1000, 1) != 0 || blend.taps[i] == floor (blend.taps[i]), "round %u", round);
    }
    fail_unless (fabs (blend.offset - mix * plain.offset) < 1e-15);
    convolve_mask_clear (&plain);
    convolve_mask_clear (&blend);
  }
  g_rand_free (random);
}
GST_END_TEST;

static void
expect_rank (const gchar *text, guint width, gint rank)
{
  ConvolveMask mask = make (text, width, 0);

  fail_unless (convolve_mask_rank (&mask) == rank, "%s: %d, expected %d", text, convolve_mask_rank (&mask), rank);
  convolve_mask_clear (&mask);
}

GST_START_TEST (ranks)
{
  g_autoptr (GString) diagonal = g_string_new ("255x255:"), random_text = g_string_new ("31x31:");
  GRand *random = g_rand_new_with_seed (check_seed ());

  expect_rank ("0 0 0", 0, 0);
  expect_rank ("identity", 0, 1);
  expect_rank ("box", 9, 1);
  expect_rank ("gaussian", 21, 1);
  expect_rank ("gaussian", 255, 1);
  expect_rank ("binomial", 15, 1);
  expect_rank ("sobel-x", 0, 1);
  expect_rank ("sharpen", 0, 2);
  expect_rank ("laplacian", 0, 2);
  expect_rank ("unsharp", 9, 2);
  expect_rank ("1 0 0; 0 1 0; 0 0 1", 0, 3);
  expect_rank ("1 2 3; 4 5 6; 7 8 9", 0, 2);
  expect_rank ("0.1 0.2 0.3; 0.4 0.5 0.6; 0.7 0.8 0.9", 0, 2);
  expect_rank ("1e300 0 0; 0 1 0; 0 0 1", 0, 1); /* differences below 1e-12 count as 0 */
  for (guint i = 0; i < 255 * 255; i++)
    g_string_append (diagonal, i % 256 ? " 0" : " 3");
  expect_rank (diagonal->str, 0, 255);
  for (guint i = 0; i < 31 * 31; i++)
    g_string_append_printf (random_text, " %d", g_rand_int_range (random, -9, 10));
  expect_rank (random_text->str, 0, 31);
  g_rand_free (random);
}
GST_END_TEST;

TCase *
mask_adjustments (void)
{
  TCase *tc = tcase_create ("adjust");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, anchors);
  tcase_add_test (tc, anchors_that_are_bad);
  tcase_add_test (tc, mixes);
  tcase_add_test (tc, mixes_and_offsets);
  tcase_add_test (tc, fuzz_mixes);
  tcase_add_test (tc, ranks);
  return tc;
}
