/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of the text of mask, by good and bad examples, in every installed locale with a decimal comma, and by a
 * seeded fuzzer. The numbers beside mask are checked too. CUDACONVOLVE_SEED=N in the environment repeats a run.
 */
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "props/check_props.h"
#include "text/token.h"
#include "support/run.h"

GST_START_TEST (preset_texts)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  gchar *all = convolve_preset_list ();
  gchar *message = g_strconcat ("mask: \"gausian\" (character 3) is not a preset (did you mean gaussian?); the presets "
                                "are ",
      all, NULL);
  gchar *text;

  fail_unless (
      g_str_has_prefix (all, "identity, box, gaussian, ") && g_str_has_suffix (all, presets[n_presets - 1].name));
  refuse ("  gausian ", message);
  g_free (message);
  g_free (all);
  refuse ("Gaussian",
      "mask: \"Gaussian\" (character 1) is not a preset (did you mean gaussian?); the presets are "
      "identity, ...");
  refuse ("gaussian 5", "mask: \"gaussian 5\" (character 1) is not a preset (did you mean gaussian?); ...");
  refuse ("gaussian;", "mask: \"gaussian;\" (character 1) is not a preset (did you mean gaussian?); ...");
  refuse ("nan 1 2", "mask: \"nan 1 2\" (character 1) is not a preset; ...");
  refuse ("inf", "mask: \"inf\" (character 1) is not a preset; ...");
  refuse ("a\"\\\xff\x01\xc3\xa9", "mask: \"a\\\"\\\\\\xff\\x01\xc3\xa9\" (character 1) is not a preset; ...");
  text = g_strnfill (100000, 'a');
  refuse (text, "mask: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" (character 1) is not a preset; ...");
  g_free (text);
  /* Both ends of an argument's range are in it. */
  for (guint i = 0; i < n_presets; i++)
    for (guint end = 0; end < 2 && presets[i].argument; end++) {
      gdouble argument = end ? presets[i].argument_max : presets[i].argument_min, got;
      g_autofree gchar *ends = g_strdup_printf ("%s:%g", presets[i].name, argument);
      const ConvolvePreset *found;

      fail_unless (convolve_preset_parse (ends, &found, &got, NULL), "%s", ends);
      fail_unless (found == &presets[i] && got == argument, "%s", ends);
    }
  /* The message suggests the nearest presets, and none where nothing is near. */
  refuse ("sobel-z",
      "mask: \"sobel-z\" (character 1) is not a preset (did you mean sobel-x or sobel-y?); the presets are ...");
  refuse ("schar-y", "mask: \"schar-y\" (character 1) is not a preset (did you mean scharr-y?); the presets are ...");
  refuse ("EMBOS:30", "mask: \"EMBOS\" (character 1) is not a preset (did you mean emboss?); the presets are ...");
  refuse ("sharpne", "mask: \"sharpne\" (character 1) is not a preset (did you mean sharpen?); the presets are ...");
  refuse ("unsharpen",
      "mask: \"unsharpen\" (character 1) is not a preset (did you mean sharpen or unsharp?); the "
      "presets are ...");
  refuse ("nonsense", "mask: \"nonsense\" (character 1) is not a preset; the presets are identity, ...");
  refuse ("qq", "mask: \"qq\" (character 1) is not a preset; the presets are ...");
  refuse ("gaussianblurring", "mask: \"gaussianblurring\" (character 1) is not a preset; the presets are ...");
  for (guint i = 0; i < n_presets; i++) {
    const gchar *name = presets[i].name;
    gsize length = strlen (name);

    for (gsize cut = 1; cut + 1 < length && length > 3; cut++) {
      gchar *typed = g_strdup_printf ("%.*s%s", (gint) cut, name, name + cut + 1);
      gchar *begins = g_strdup_printf ("mask: \"%s\" (character 1) is not a preset (did you mean ...", typed);

      refuse (typed, begins);
      g_free (typed);
      g_free (begins);
    }
  }
  refuse ("gaussian:3",
      "mask: \"3\" (character 10) is one argument too many: the preset gaussian takes none; mask-width sets its size, and "
      "sigma its strength");
  refuse ("log: 2", "mask: \"2\" (character 6) is one argument too many: the preset log takes none; mask-width ...");
  refuse ("box:",
      "mask: \"\" (character 5) is one argument too many: the preset box takes none; mask-width sets its size");
  refuse ("sobel:5",
      "mask: \"5\" (character 7) is one argument too many: the preset sobel takes none; it is always 3x3");
  refuse ("motion:",
      "mask: \"\" (character 8) is not a number: motion takes the angle in degrees, counter-clockwise "
      "from the right, -360..360, 0 by default");
  refuse (" motion: x", "mask: \"x\" (character 10) is not a number: motion takes ...");
  refuse ("motion:30:40", "mask: \"30:40\" (character 8) is not a number: motion takes ...");
  refuse ("motion:0x10", "mask: \"0x10\" (character 8) is not a number: motion takes ...");
  refuse ("motion:nan", "mask: \"nan\" (character 8) is not a number: motion takes ...");
  refuse ("motion:1e999", "mask: \"1e999\" (character 8) is too large: motion takes ...");
  refuse ("motion:360.5", "mask: \"360.5\" (character 8) is out of range: motion takes ...");
  refuse ("emboss:-361", "mask: \"-361\" (character 8) is out of range: emboss takes ...");
  refuse ("unsharp:-1", "mask: \"-1\" (character 9) is out of range: unsharp takes the amount, 0..100, 1 by default");
  refuse ("laplacian:6",
      "mask: \"6\" (character 11) is out of range: laplacian takes the number of neighbours, 4 or "
      "8, 4 by default");
  refuse ("laplacian:4.5", "mask: \"4.5\" (character 11) is out of range: laplacian takes ...");
}

GST_END_TEST;

/* What other programs call a preset, and lists as other languages write them. */
GST_START_TEST (texts_of_others)
{
  static const gchar *const names[][2] = { { "blur", "gaussian or box" }, { "Blur", "gaussian or box" },
    { "gauss", "gaussian" }, { "gauss:5", "gaussian" }, { "gaussian-blur", "gaussian" }, { "GaussianBlur", "gaussian" },
    { "gaussian_blur", "gaussian" }, { "gausian", "gaussian" }, { "gaussian(5)", "gaussian" },
    { "gaussian=5", "gaussian" }, { "gaussian5x5", "gaussian" }, { "blur(3)", "gaussian or box" }, { "edge", "sobel" },
    { "edges", "sobel" }, { "edge-detect", "sobel" }, { "edge detection", "sobel" }, { "smooth", "gaussian" },
    { "sharp", "sharpen" }, { "sharpening", "sharpen" }, { "sobelx", "sobel-x or sobel" },
    { "sobely", "sobel-y or sobel" }, { "laplace", "laplacian" }, { "laplacian8", "laplacian" }, { "mean", "box" },
    { "average", "box" }, { "usm", "unsharp" }, { "relief", "emboss" }, { "bokeh", "disk" },
    { "motion_blur", "motion" }, { "none", "identity" }, { "mexican-hat", "log" } };
  static const gchar *const tokens[][2] = { { "[1,2,1]", "[1" }, { "{1,2,1}", "{1" }, { "(1 2 1)", "(1" },
    { "[[1,2,1],[2,4,2],[1,2,1]]", "[[1" }, { "<<1,2,1>>", "<<1" }, { " [ 1 2 1 ]", "[" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gsize length = strcspn (names[i][0], ":");
    g_autofree gchar *message = g_strdup_printf ("mask: \"%.*s\" (character 1) is not a preset (did you mean %s?); ...",
        (gint) length, names[i][0], names[i][1]);
    g_auto (GStrv) presets = g_strsplit (names[i][1], " or ", -1);

    refuse (names[i][0], message);
    for (guint k = 0; presets[k]; k++)
      fail_unless (convolve_preset_find (presets[k], strlen (presets[k])) != NULL, "%s is no preset", presets[k]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (tokens); i++) {
    g_autofree gchar *message =
        g_strdup_printf ("mask: \"%s\" at row 1, value 1 (character %u) has a bracket: weights are "
                         "written without brackets, rows split by ';' and values by spaces or commas",
            tokens[i][1], tokens[i][0][0] == ' ' ? 2 : 1);

    refuse (tokens[i][0], message);
  }
  refuse ("1 2 1; 2 4 2]", "mask: \"2]\" at row 2, value 3 (character 12) has a bracket: ...");
  refuse ("1 2 x", "mask: \"x\" at row 1, value 3 (character 5) is not a number");
  refuse ("np.array([[1,2,1]])",
      "mask: \"np.array([[1,2,1]])\" (character 1) is not a preset (weights are written without brackets, rows split by "
      "';' and values by spaces or commas); the presets are ...");
}

GST_END_TEST;

GST_START_TEST (weights_that_are_good)
{
  ConvolveMask mask;
  gchar *text;

  EXPECT_TEXT ("5", 0, 0, 1, 1, 5, 5);
  EXPECT_TEXT ("1 2 1 2 4 2 1 2 1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1,2,1,2,4,2,1,2,1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1 2 1;2 4 2;1 2 1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1 2 1; 2, 4, 2 ;1 ,2 , 1;", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1, 2, 1; 2,4,2; 1 2 1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1,2,1, 2,4,2, 1,2,1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1 , 2 1, 2 4 ,2 1 2 1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("\n\n 1\t2 1\r\n2 4 2\n 1 2 1 \n\n\n", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1 2 1;\n2 4 2; \r\n1 2 1;\n\n", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("3x3:1 2 1 2 4 2 1 2 1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT (" 3x3 :\n1 2 1\n2 4 2\n1 2 1", 0, 0, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("9x1:1 2 1 2 4 2 1 2 1", 0, 0, 9, 1, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("1x3: 1 2 1", 0, 0, 1, 3, 4, 1, 2, 1);
  EXPECT_TEXT ("1;2;1", 0, 0, 1, 3, 4, 1, 2, 1);
  EXPECT_TEXT ("1 2 1", 0, 0, 3, 1, 4, 1, 2, 1);
  EXPECT_TEXT ("3 4 5 4 3", 0, 0, 5, 1, 19, 3, 4, 5, 4, 3);
  EXPECT_TEXT ("1 2 3 4 5 6 7 8 9", 0, 1, 9, 1, 45, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  EXPECT_TEXT ("1 2 3 4 5 6 7 8 9", 1, 0, 1, 9, 45, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  EXPECT_TEXT ("1 2 3 4 5 6 7 8 9", 9, 0, 9, 1, 45, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  EXPECT_TEXT ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 5, 0, 5, 3, 120, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
      15);
  EXPECT_TEXT ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 0, 5, 3, 5, 120, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
      15);
  EXPECT_TEXT ("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 5, 3, 5, 3, 120, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
      15);
  EXPECT_TEXT ("5x3: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15", 5, 3, 5, 3, 120, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
      14, 15);
  EXPECT_TEXT ("1 2 1;2 4 2;1 2 1", 3, 3, 3, 3, 16, 1, 2, 1, 2, 4, 2, 1, 2, 1);
  EXPECT_TEXT ("+1.5 -2.25e1 .5 5. 1E+2", 0, 0, 5, 1, 84.5, 1.5, -22.5, 0.5, 5, 100);
  EXPECT_TEXT ("0.1 0.2 0.1", 0, 0, 3, 1, 0.4, 0.1, 0.2, 0.1);
  EXPECT_TEXT ("-1 0 1", 0, 0, 3, 1, 1, -1, 0, 1);
  EXPECT_TEXT ("0.1 0.2 -0.3", 0, 0, 3, 1, 1, 0.1, 0.2, -0.3);
  EXPECT_TEXT ("0 0 0", 0, 0, 3, 1, 1, 0, 0, 0);
  EXPECT_TEXT ("-1 -2 -1", 0, 0, 3, 1, -4, -1, -2, -1);
  EXPECT_TEXT ("0e-999 -0.000e5 1e-300", 0, 0, 3, 1, 1e-300, 0, 0, 1e-300);
  EXPECT_TEXT ("1e308", 0, 0, 1, 1, 1e308, 1e308);
  mask = make ("-0 -0.0 -0e5", 0, 0);
  fail_if (signbit (mask.taps[0]) || signbit (mask.taps[1]) || signbit (mask.taps[2]));
  convolve_mask_clear (&mask);
  EXPECT_TEXT ("000000000000000000000000000000000000000000000000000001.50000", 0, 0, 1, 1, 1.5, 1.5);

  /* The largest mask, as rows and as one list. */
  for (guint flat = 0; flat < 2; flat++) {
    GString *string = g_string_new (NULL);

    for (guint i = 0; i < 255 * 255; i++)
      g_string_append_printf (string, "%u%c", i, !flat && i % 255 == 254 ? ';' : ' ');
    text = g_string_free (string, FALSE);
    mask = make (text, 0, 0);
    fail_unless (mask.width == 255 && mask.height == 255);
    for (guint i = 0; i < 255 * 255; i++)
      if (mask.taps[i] != i)
        fail ("tap %u is %g", i, mask.taps[i]);
    convolve_mask_clear (&mask);
    g_free (text);
  }
}

GST_END_TEST;

GST_START_TEST (weights_that_are_bad)
{
  GString *string;
  gchar *text;

  refuse ("1 2 3;4 5 abc", "mask: \"abc\" at row 2, value 3 (character 11) is not a number");
  refuse ("  1 2 3;\n4 5 6abc", "mask: \"6abc\" at row 2, value 3 (character 14) is not a number");
  refuse ("1 0x10 1", "mask: \"0x10\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 inf 1", "mask: \"inf\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 -nan 1", "mask: \"-nan\" at row 1, value 2 (character 3) is not a number");
  refuse ("-infinity", "mask: \"-infinity\" at row 1, value 1 (character 1) is not a number");
  refuse ("1 - 1", "mask: \"-\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 . 1", "mask: \".\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 +-1 1", "mask: \"+-1\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 1.2.3 1", "mask: \"1.2.3\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 1e 1", "mask: \"1e\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 1e+ 1", "mask: \"1e+\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 e5 1", "mask: \"e5\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 1/9 1", "mask: \"1/9\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 0x1p3 1", "mask: \"0x1p3\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 1d5 1", "mask: \"1d5\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 1e999 1", "mask: \"1e999\" at row 1, value 2 (character 3) is too large");
  refuse ("1 -2e308 1", "mask: \"-2e308\" at row 1, value 2 (character 3) is too large");
  refuse ("1 1e-310 1", "mask: \"1e-310\" at row 1, value 2 (character 3) is too small to be told from 0");
  refuse ("1 1e-999 1", "mask: \"1e-999\" at row 1, value 2 (character 3) is too small to be told from 0");
  refuse ("1e308 1e308 1e308", "mask: the weights are too large or too small to be summed");
  refuse ("1e308 1e308 -1e308", "mask: the weights are too large or too small to be summed");
  refuse ("3e-308 -2.9e-308 0", "mask: the weights are too large or too small to be summed");

  refuse ("1,,2", "mask: no value between two commas at row 1, value 2 (character 3)");
  refuse ("1 , , 2", "mask: no value between two commas at row 1, value 2 (character 5)");
  refuse (",1 2", "mask: no value before the comma at row 1, value 1 (character 1)");
  refuse ("1 2 3;,1 2", "mask: no value before the comma at row 2, value 1 (character 7)");
  refuse ("1,2,", "mask: no value after the comma at row 1, value 3 (character 4)");
  refuse ("1,2,3,;1,2,3", "mask: no value after the comma at row 1, value 4 (character 6)");

  /* A row that mixes commas and spaces is refused, because its commas may be meant as decimal commas. */
#define COMMA \
  "has a comma without a space, and a space alone splits other values: write a decimal number with a point, " \
  "or split all values of the row in one way"
  refuse ("0,5 1 0,5", "mask: \"0,5\" at row 1, value 1 (character 1) " COMMA);
  refuse ("1 0,5 1", "mask: \"0,5\" at row 1, value 2 (character 3) " COMMA);
  refuse ("1 2 3;4 5,5 6;7 8 9", "mask: \"5,5\" at row 2, value 2 (character 9) " COMMA);
  refuse ("3x1: -0,25 1,5\t-0,25", "mask: \"-0,25\" at row 1, value 1 (character 6) " COMMA);
  refuse ("1 1, 2,3", "mask: \"2,3\" at row 1, value 3 (character 6) " COMMA);
  refuse ("1,2,1 2,4,2 1,2,1", "mask: \"1,2\" at row 1, value 1 (character 1) " COMMA);
  refuse ("1 2 3,", "mask: no value after the comma at row 1, value 4 (character 6)");

  refuse ("", "mask: the text is empty; a preset's name or weights are needed");
  refuse (" \n\t", "mask: the text is empty; a preset's name or weights are needed");
  refuse (";", "mask: row 1 (character 1) is empty");
  refuse (";1 2 1", "mask: row 1 (character 1) is empty");
  refuse ("1 2 1;;1 2 1", "mask: row 2 (character 7) is empty");
  refuse ("1 2 1;;", "mask: row 2 (character 7) is empty");
  refuse ("1 2 1\n\n1 2 1\n1 2 1", "mask: row 2 (character 7) is empty");
  refuse ("1 2 1;\n\n1 2 1;1 2 1", "mask: row 2 (character 8) is empty");
  refuse ("1 2 1\n;", "mask: row 2 (character 7) is empty");
  refuse ("1 2 3;1 2;1 2 3", "mask: row 2 (character 7) and row 1 differ in length: 2 and 3 values");
  refuse ("1 2 3; 1 2 3 4;1 2 3", "mask: row 2 (character 8) and row 1 differ in length: 4 and 3 values");
  refuse ("1 2;1 2;1 2",
      "mask: the weights make 2x3: width and height must be odd, unless the shape stands in front, as in 2x3:");
  refuse ("1 2 3;1 2 3",
      "mask: the weights make 3x2: width and height must be odd, unless the shape stands in front, as in 3x2:");
  refuse ("1 2 3 4",
      "mask: a row of 4 values makes no mask: width and height must be odd, unless the shape stands in front, as in "
      "...");
  refuse ("1 2 3 4 5 6",
      "mask: a row of 6 values makes no mask: width and height must be odd, unless the shape stands in front, as in "
      "...");

  refuse ("3x3: 1 2 3", "mask: the shape 3x3 in front needs 9 values, not 3");
  refuse ("3x1: 1 2 3;4 5 6;7 8 9", "mask: the shape 3x1 in front does not fit 3 rows of 3 values");
  refuse ("256x3: 1 2 3",
      "mask: \"256x3\" (character 1) before the colon is not a shape such as 5x3, of two numbers from 1 to 255");
  refuse ("4x3: 1 2 3", "mask: the shape 4x3 in front needs 12 values, not 3");
  refuse ("  257x1: 1", "mask: \"257x1\" (character 3) before the colon is not a shape ...");
  refuse ("0x3: 1", "mask: \"0x3\" (character 1) before the colon is not a shape ...");
  refuse ("4294967297x1: 1", "mask: \"4294967297x1\" (character 1) before the colon is not a shape ...");
  refuse ("3x: 1", "mask: \"3x\" (character 1) before the colon is not a shape ...");
  refuse ("3: 1 2 3", "mask: \"3\" (character 1) before the colon is not a shape ...");
  refuse (": 1", "mask: \"\" (character 1) before the colon is not a shape ...");
  refuse ("3x3x3: 1", "mask: \"3x3x3\" (character 1) before the colon is not a shape ...");
  refuse ("1 2 1:", "mask: \"1 2 1\" (character 1) before the colon is not a shape ...");
  refuse ("3x1: 1 2:3", "mask: \"2:3\" at row 1, value 2 (character 8) is not a number");
  refuse ("3x3:  ", "mask: no weights after the shape (character 7)");
  refuse ("3x3 1 2 3", "mask: \"3x3\" at row 1, value 1 (character 1) is not a number");

  refuse_sized ("3x3: 1 2 1 2 4 2 1 2 1", 5, 0, "mask-width: 5 contradicts mask, whose shape in front has width 3");
  refuse_sized ("3x3: 1 2 1 2 4 2 1 2 1", 3, 1, "mask-height: 1 contradicts mask, whose shape in front has height 3");
  refuse_sized ("1 2 1;2 4 2;1 2 1", 5, 0, "mask-width: 5 contradicts mask, whose row length is 3");
  refuse_sized ("1 2 1;2 4 2;1 2 1", 0, 1, "mask-height: 1 contradicts mask, whose number of rows is 3");
  refuse_sized ("1 2 3 4 5 6 7", 3, 0, "mask: 7 values do not make rows of 3 as mask-width asks for");
  refuse_sized ("1 2 3 4 5 6 7", 0, 3, "mask: 7 values do not make the 3 rows that mask-height asks for");
  refuse_sized ("1 2 3 4 5 6 7", 3, 3, "mask: 7 values do not make the 3x3 that mask-width and mask-height ask for");
  refuse_sized ("1 2 3 4 5 6", 3, 0,
      "mask: the weights make 3x2: width and height must be odd, unless the shape stands in front, as in 3x2:");
  refuse_sized ("1 2 3 4 5 6", 0, 3,
      "mask: the weights make 2x3: width and height must be odd, unless the shape stands in front, as in 2x3:");
  refuse_sized ("1 2 3 4", 2, 0, "mask-width: 2 is not 0 or an odd number up to 255");

  /* Messages escape what is no text and shorten what is long, and the positions after such a token are right. */
  refuse ("1 \xff\x01 1", "mask: \"\\xff\\x01\" at row 1, value 2 (character 3) is not a number");
  refuse ("1 \xc3\xa9 1", "mask: \"\xc3\xa9\" at row 1, value 2 (character 3) is not a number");
  refuse ("1\xc2\xa0"
          "2",
      "mask: \"1\\xc2\\xa02\" at row 1, value 1 (character 1) is not a number");
  refuse ("\xef\xbb\xbf"
          "1 2 1",
      "mask: \"\\xef\\xbb\\xbf"
      "1\" at row 1, value 1 (character 1) is not a number");
  refuse ("1 \v 1", "mask: \"\\x0b\" at row 1, value 2 (character 3) is not a number");
  text = g_strnfill (3 << 20, '.');
  refuse (text, "mask: \"...................................\" at row 1, value 1 (character 1) is not a number");
  g_free (text);
  text = g_strnfill ((4 << 20) + 1, '1');
  refuse (text, "mask: the text has 4194305 bytes, more than 4194304");
  g_free (text);

  string = g_string_new ("0");
  for (guint i = 1; i < 257; i++)
    g_string_append (string, " 0");
  refuse (string->str, "mask: the weights make 257x1: at most 255x255 is possible");
  for (guint i = 257; i < 255 * 255; i++)
    g_string_append (string, " 0");
  g_string_append (string, " 7");
  refuse (string->str,
      "mask: \"7\" at row 1, value 65026 (character 130051) is one too many: a mask has at most 255x255 weights");
  g_string_truncate (string, 0);
  for (guint i = 0; i < 256; i++)
    g_string_append (string, "1;");
  refuse (string->str, "mask: row 256 (character 511) is one too many: a mask has at most 255");
  g_string_free (string, TRUE);
}

GST_END_TEST;

GST_START_TEST (numbers_beside_the_mask)
{
  ConvolveSettings settings = settings_of ("1 2 1", 0, 0);
  ConvolveMask mask;
  GError *error = NULL;

  settings.divisor = -8;
  settings.bias = 0.25;
  settings.sigma = 3; /* explicit weights do not use sigma */
  mask = make_scaled (&settings, 2, 2);
  fail_unless (mask.width == 3 && mask.height == 1 && mask.divisor == -8 && mask.offset == 0.25);
  convolve_mask_clear (&mask);

  settings = settings_of ("emboss", 0, 0);
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.offset == 0.5);
  convolve_mask_clear (&mask);
  settings.bias = -1;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.offset == -0.5);
  convolve_mask_clear (&mask);
  settings.bias = 0.75;
  refuse_settings (&settings, "bias: 0.75 and the preset emboss's own offset 0.5 are together not between -1 and 1");

  settings = settings_of ("box", 0, 0);
  settings.bias = 1.5;
  refuse_settings (&settings, "bias: 1.5 is not between -1 and 1");
  settings.bias = NAN;
  refuse_settings (&settings, "bias: nan is not between -1 and 1");
  settings.bias = 0;
  settings.sigma = -0.5;
  refuse_settings (&settings, "sigma: -0.5 is neither -1 nor between 0 and 1000");
  settings.sigma = NAN;
  refuse_settings (&settings, "sigma: nan is neither -1 nor between 0 and 1000");
  settings.sigma = INFINITY;
  refuse_settings (&settings, "sigma: inf is neither -1 nor between 0 and 1000");
  settings.sigma = -1;
  settings.divisor = NAN;
  refuse_settings (&settings, "divisor: nan is not a number to divide by");
  settings.divisor = -INFINITY;
  refuse_settings (&settings, "divisor: -inf is not a number to divide by");
  settings.divisor = 1e-310;
  refuse_settings (&settings, "divisor: 1e-310 is not a number to divide by");

  settings = settings_of (NULL, 0, 0);
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.width == 5 && fabs (mask.divisor - 1) < 1e-14);
  convolve_mask_clear (&mask);
  fail_if (convolve_settings_make_mask (&settings, 3, 1, &mask, &error));
  fail_unless (g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NUMBER));
  g_clear_error (&error);
  fail_if (convolve_settings_make_mask (&settings, 1, 0, &mask, NULL));
}

GST_END_TEST;

GST_START_TEST (locales)
{
  static const gchar *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "pl_PL.UTF-8", "pl_PL.utf8", "pl_PL",
    "fr_FR.UTF-8", "tr_TR.UTF-8", "fa_IR.UTF-8" };
  gchar *before = g_strdup (setlocale (LC_ALL, NULL));
  guint tried = 0;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    ConvolveSettings settings = settings_of ("box", 0, 0);

    if (!setlocale (LC_ALL, names[i]) || strcmp (localeconv ()->decimal_point, ".") == 0)
      continue;
    tried++;
    EXPECT_TEXT ("0.5 1.25 .5", 0, 0, 3, 1, 2.25, 0.5, 1.25, 0.5);
    EXPECT_TEXT ("3,3,1", 0, 0, 3, 1, 7, 3, 3, 1);
    EXPECT_TEXT ("emboss:112.5", 0, 0, 3, 3, 1, -1, -1, -0.5, -0.5, 0, 0.5, 0.5, 1, 1);
    settings.sigma = -0.5;
    refuse_settings (&settings, "sigma: -0.5 is neither -1 nor between 0 and 1000");
  }
  setlocale (LC_ALL, before);
  g_free (before);
  if (tried == 0)
    g_print ("locales: none with a decimal comma is installed, nothing tried\n");
  else
    g_print ("locales: %u with a decimal comma tried\n", tried);
}

GST_END_TEST;

static gdouble
random_weight (GRand *random)
{
  gint32 kind = g_rand_int_range (random, 0, 4);
  gint64 bits = (gint64) g_rand_int (random) << 21 | g_rand_int_range (random, 0, 1 << 21);

  if (kind == 0)
    return g_rand_int_range (random, -9, 10);
  return ldexp ((gdouble) bits * (g_rand_boolean (random) ? 1 : -1),
      kind == 1 ? g_rand_int_range (random, -900, 900) : g_rand_int_range (random, -60, -40));
}

/* Weights that are written in any way that the grammar allows are read back to the bit. */
GST_START_TEST (fuzz_good_weights)
{
  /* A row holds commas without a space, or spaces without a comma, but never both: the parser refuses such a mix. */
  static const gchar *const separators[2][5] = { { " ", "\t", ", ", "  ,\t", "\r " },
    { ",", ", ", " ,", "  ,\t", "," } };
  static const gchar *const row_ends[] = { ";", "\n", " ; ", "\r\n", ";\n", " ;\r\n ", "; \n" };
  GRand *random = g_rand_new_with_seed (check_seed ());

  for (guint round = 0; round < 4000; round++) {
    gint width = 2 * g_rand_int_range (random, 0, 6) + 1, height = 2 * g_rand_int_range (random, 0, 6) + 1;
    gboolean commas = g_rand_boolean (random), flat = g_rand_boolean (random), shape = flat || g_rand_boolean (random);
    gdouble taps[121], sum = 0, magnitude = 0;
    GString *text = g_string_new (g_rand_boolean (random) ? " \n " : "");
    ConvolveMask mask;
    ConvolveSettings settings;

    if (shape)
      g_string_append_printf (text, "%dx%d%s", width, height, g_rand_boolean (random) ? ":" : " : ");
    for (gint i = 0; i < width * height; i++) {
      gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

      taps[i] = random_weight (random);
      sum += taps[i];
      magnitude += fabs (taps[i]);
      g_string_append (text, g_ascii_dtostr (digits, sizeof digits, taps[i]));
      if (i == width * height - 1)
        g_string_append (text, g_rand_boolean (random) ? "" : g_rand_boolean (random) ? ";" : "\n\n ");
      else if (!flat && i % width == width - 1)
        g_string_append (text, row_ends[g_rand_int_range (random, 0, G_N_ELEMENTS (row_ends))]);
      else
        g_string_append (text, separators[commas][g_rand_int_range (random, 0, G_N_ELEMENTS (separators[0]))]);
    }

    settings = settings_of (text->str, shape || height > 1 ? 0 : width, shape || height > 1 ? 0 : 1);
    mask = make_scaled (&settings, 1, 1);
    fail_unless (mask.width == width && mask.height == height, "round %u: %dx%d: %s", round, mask.width, mask.height,
        text->str);
    fail_unless (memcmp (mask.taps, taps, sizeof (gdouble) * width * height) == 0, "round %u: %s", round, text->str);
    if (fabs (sum) > 1e-9 * magnitude)
      fail_unless (fabs (mask.divisor / sum - 1) < 1e-5, "round %u: divisor %g, sum %g", round, mask.divisor, sum);
    convolve_mask_clear (&mask);
    g_string_free (text, TRUE);
  }
  g_rand_free (random);
}

GST_END_TEST;

/* Reads the text in a second way: the pieces between separators must be the taps, in order. */
static gboolean
has_all_values (const gchar *text, const ConvolveMask *mask)
{
  const gchar *colon = strchr (text, ':');
  gchar **pieces = g_strsplit_set (colon ? colon + 1 : text, " \t\r\n\f,;", -1);
  gint count = 0, width = mask->width, height = mask->height, zeros = 0;
  gboolean same = TRUE;

  /* An even side has one more tap at its end, which is 0. */
  if (colon && sscanf (text, " %dx%d", &width, &height) == 2)
    for (gint i = 0; i < mask->width * mask->height; i++)
      if (i % mask->width >= width || i / mask->width >= height) {
        same &= mask->taps[i] == 0;
        zeros++;
      }

  for (gchar **piece = pieces; *piece; piece++) {
    gchar *end;
    gdouble value;

    if (**piece == '\0')
      continue;
    value = g_ascii_strtod (*piece, &end);
    same = same && *end == '\0' && strpbrk (*piece, "xXnNiIpP") == NULL && count < width * height
        && mask->taps[count / width * mask->width + count % width] == value
        && (value != 0 || strpbrk (*piece, "123456789") == NULL || strchr (*piece, 'e') || strchr (*piece, 'E'));
    count++;
  }
  g_strfreev (pieces);
  return same && count == width * height && count + zeros == mask->width * mask->height
      && (mask->width == width || mask->width == width / 2 * 2 + 1);
}

/* A damaged text is either read completely or refused with a message that names a property. */
GST_START_TEST (fuzz_mutated_texts)
{
  static const gchar *const starts[] = { "1 2 1;2 4 2;1 2 1", "3x3: 1,2,1,2,4,2,1,2,1", "0.1 -2.5e-3 .5 5. +1e2",
    "1\n2\n1\n", "motion:30", "unsharp:1.5", "gaussian", "5x1: 1 2 3 4 5;", "1e308 -1e308 1e-308" };
  static const gchar alphabet[] = "0123456789+-.eE,; \n\t\r:xXnaif\xff\xc3\x01\"\\";
  GRand *random = g_rand_new_with_seed (check_seed ());
  guint taken = 0, refused = 0;

  for (guint round = 0; round < 200000; round++) {
    GString *text = g_string_new (starts[g_rand_int_range (random, 0, G_N_ELEMENTS (starts))]);
    guint mutations = g_rand_int_range (random, 1, 6);
    ConvolveSettings settings;
    ConvolveMask mask;
    GError *error = NULL;

    for (guint i = 0; i < mutations; i++) {
      gsize at = g_rand_int_range (random, 0, text->len + 1);
      gchar c = alphabet[g_rand_int_range (random, 0, sizeof alphabet - 1)];

      switch (g_rand_int_range (random, 0, 4)) {
        case 0:
          if (at < text->len)
            g_string_erase (text, at, 1);
          break;
        case 1:
          if (at < text->len)
            text->str[at] = c;
          break;
        case 2:
          g_string_insert_len (text, at, starts[g_rand_int_range (random, 0, G_N_ELEMENTS (starts))],
              g_rand_int_range (random, 0, 5));
          break;
        default:
          g_string_insert_c (text, at, c);
      }
    }

    settings = settings_of (text->str, g_rand_int_range (random, 0, 4) ? 0 : g_rand_int_range (random, 0, 10),
        g_rand_int_range (random, 0, 4) ? 0 : g_rand_int_range (random, 0, 10));
    if (convolve_settings_make_mask (&settings, 1, 1, &mask, &error)) {
      gboolean preset = g_ascii_isalpha (*g_strchug (text->str));
      gchar *shown = g_strescape (text->str, NULL);

      taken++;
      if (!isnormal (mask.divisor) || mask.width % 2 == 0 || mask.height % 2 == 0)
        fail ("round %u: %dx%d, divisor %g of %s", round, mask.width, mask.height, mask.divisor, shown);
      if (!preset && !has_all_values (text->str, &mask))
        fail ("round %u: %s was not read as it is written", round, shown);
      convolve_mask_clear (&mask);
      g_free (shown);
    } else {
      refused++;
      if (error == NULL || !g_utf8_validate (error->message, -1, NULL) || strpbrk (error->message, "\n\r\x01")
          || strlen (error->message) > 400
          || (!g_str_has_prefix (error->message, "mask: ") && !g_str_has_prefix (error->message, "mask-width: ")
              && !g_str_has_prefix (error->message, "mask-height: ")))
        fail ("round %u: message '%s'", round, error ? error->message : "none");
      g_clear_error (&error);
    }
    g_string_free (text, TRUE);
  }
  g_rand_free (random);
  /* Both answers must come, or the fuzzer tests nothing. */
  fail_unless (taken > 10000 && refused > 10000, "%u taken, %u refused", taken, refused);
}

GST_END_TEST;

TCase *
mask_texts (void)
{
  TCase *tcase = tcase_create ("mask");

  tcase_set_timeout (tcase, 300);
  tcase_add_test (tcase, preset_texts);
  tcase_add_test (tcase, texts_of_others);
  tcase_add_test (tcase, weights_that_are_good);
  tcase_add_test (tcase, weights_that_are_bad);
  tcase_add_test (tcase, numbers_beside_the_mask);
  tcase_add_test (tcase, locales);
  tcase_add_test (tcase, fuzz_good_weights);
  tcase_add_test (tcase, fuzz_mutated_texts);
  return tcase;
}
