/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks that do not come from the text of mask: files, arrays and vectors, good and bad, and two of them at once.
 * CUDACONVOLVE_SEED=N in the environment repeats a run.
 */
#define _POSIX_C_SOURCE 200809L
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "text/array.h"
#include "files/mask_file.h"
#include "text/table.h"
#include "props/check_adjust.h"
#include "props/check_props.h"
#include "support/file.h"
#include "support/numpy.h"
#include "support/run.h"

static gchar *folder; /* for files; removed at the end */

/* --- settings --- */

static gchar *
file_name (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

/* Settings with a file of these bytes, which is written. */
static ConvolveSettings
with_bytes (const void *bytes, gsize size)
{
  g_autofree gchar *name = file_name ("mask");
  GByteArray content = { (guint8 *) bytes, size };
  ConvolveSettings settings;

  fail_unless (check_write_file (name, &content));
  convolve_settings_init (&settings);
  settings.file = convolve_kept_file_new (&convolve_mask_file, name);
  return settings;
}

static ConvolveSettings
with_text (const gchar *text)
{
  return with_bytes (text, strlen (text));
}

static ConvolveSettings
with_array (const gchar *text)
{
  g_autofree gchar *copy = g_strdup (text); /* GStreamer's parser writes into the text */
  ConvolveSettings settings;
  GValue array = G_VALUE_INIT;

  convolve_settings_init (&settings);
  g_value_init (&array, GST_TYPE_ARRAY);
  fail_unless (gst_value_deserialize (&array, copy), "%s", text);
  settings.weights = convolve_array_new (&array);
  g_value_unset (&array);
  return settings;
}

static ConvolveSettings
with_vectors (const gchar *x, const gchar *y)
{
  ConvolveSettings settings;

  convolve_settings_init (&settings);
  settings.mask_x = g_strdup (x);
  settings.mask_y = g_strdup (y);
  return settings;
}

/* Takes settings. The taps are those of the padded mask. */
static void
expect_settings (ConvolveSettings settings, const gchar *name, gint width, gint height, const gdouble *taps,
    gdouble divisor)
{
  expect (make_scaled (&settings, 1, 1), name, width, height, taps, divisor);
  convolve_settings_clear (&settings);
}

#define EXPECT_FILE(text, width, height, divisor, ...) \
  expect_settings (with_text (text), text, width, height, TAPS (__VA_ARGS__), divisor)
#define EXPECT_ARRAY(text, width, height, divisor, ...) \
  expect_settings (with_array (text), text, width, height, TAPS (__VA_ARGS__), divisor)
#define EXPECT_VECTORS(x, y, width, height, divisor, ...) \
  expect_settings (with_vectors (x, y), x ? x : y, width, height, TAPS (__VA_ARGS__), divisor)

/* Takes settings, which must be refused with this message; "mask-location: FILE: " stands in front of a file's. */
static void
refuse_taken (ConvolveSettings settings, const gchar *message)
{
  g_autofree gchar *full = settings.file
      ? g_strdup_printf ("mask-location: %s: %s", convolve_kept_file_location (settings.file), message)
      : g_strdup (message);

  refuse_settings (&settings, full);
  convolve_settings_clear (&settings);
}

/* --- texts in files --- */

#define BLUR 1, 2, 1, 2, 4, 2, 1, 2, 1

GST_START_TEST (files_that_are_good)
{
  static const gchar *const blurs[] = { "1 2 1; 2 4 2; 1 2 1", "1,2,1\n2,4,2\n1,2,1\n", "1;2;1\n2;4;2\n1;2;1\n",
    "1;2;1;\r\n2;4;2;\r\n1;2;1;\r\n", "1\t2\t1\r\n2\t4\t2\r\n1\t2\t1", "1 2 1;\n2 4 2;\n1 2 1;\n", "1 2 1 2 4 2 1 2 1",
    "3x3: 1 2 1 2 4 2 1 2 1", "3x3:\n1;2;1\n2;4;2\n1;2;1", "# a blur\n\n1 2 1 # top\n#2 2 2\n\n2 4 2\n\n1 2 1\n# end",
    "\xef\xbb\xbf 1,2,1\n2,4,2\n1,2,1", "# gr\xc3\xb6\xc3\x9fte: 3x3; 1,5\n1, 2, 1\n2, 4, 2\n1, 2, 1",
    "  1 ; 2 ; 1\n\n  2 ; 4 ; 2\n  1 ; 2 ; 1\n", "1 2 1; 2 4 2\n1 2 1", "1.0,2e0,1\n2,+4,2\n1,2,1." };

  for (guint i = 0; i < G_N_ELEMENTS (blurs); i++)
    expect_settings (with_text (blurs[i]), blurs[i], 3, 3, TAPS (BLUR), 16);
  EXPECT_FILE ("1\n2\n1\n", 1, 3, 4, 1, 2, 1);
  EXPECT_FILE ("1;\n2;\n1;\n", 1, 3, 4, 1, 2, 1);
  EXPECT_FILE ("1,2,1", 3, 1, 4, 1, 2, 1);
  EXPECT_FILE ("1x3: 1;2;1", 1, 3, 4, 1, 2, 1);
  EXPECT_FILE ("3x1 : 1;2;1", 3, 1, 4, 1, 2, 1);
  EXPECT_FILE ("7", 1, 1, 7, 7);
  /* Even sizes: the weight at half the size, rounded down, lies in the middle. */
  EXPECT_FILE ("1 2\n3 4", 3, 3, 10, 1, 2, 0, 3, 4, 0, 0, 0, 0);
  EXPECT_FILE ("1;2\n3;4", 3, 3, 10, 1, 2, 0, 3, 4, 0, 0, 0, 0);
  EXPECT_FILE ("2x2: 1 2 3 4", 3, 3, 10, 1, 2, 0, 3, 4, 0, 0, 0, 0);
  EXPECT_FILE ("4x1: 1 2 3 4", 5, 1, 10, 1, 2, 3, 4, 0);
}
GST_END_TEST;

/* What vips_matrixsave () writes: a first line with width, height and, where they are not 1 and 0, scale and offset. */
GST_START_TEST (matrices_of_libvips)
{
  g_autoptr (GString) tall = g_string_new ("2 255\n");
  gdouble taps[3 * 255] = { 0 };

  EXPECT_FILE ("2 2\n1 2\n3 4\n", 3, 3, 1, 1, 2, 0, 3, 4, 0, 0, 0, 0);
  EXPECT_FILE ("2 2\n1 1\n1 1", 3, 3, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0);
  EXPECT_FILE ("2 2 4\n1 1\n1 1", 3, 3, 4, 1, 1, 0, 1, 1, 0, 0, 0, 0);
  EXPECT_FILE ("2 2 4 0\n1 1\n1 1", 3, 3, 4, 1, 1, 0, 1, 1, 0, 0, 0, 0);
  EXPECT_FILE ("3 3 16 0\n1 2 1\n2 4 2\n1 2 1\n", 3, 3, 16, BLUR);
  EXPECT_FILE ("3 3 9\n1 2 1\n2 4 2\n1 2 1\n", 3, 3, 9, BLUR);
  EXPECT_FILE ("3 3\r\n1 2 1\r\n2 4 2\r\n1 2 1\r\n", 3, 3, 1, BLUR);
  EXPECT_FILE ("# made by hand\n\n3\t3\t-0.5\t0\n\n1,2,1\n2\t4\t2\n1, 2, 1 # end", 3, 3, -0.5, BLUR);
  EXPECT_FILE ("3;3;16;0\n1;2;1\n2;4;2\n1;2;1\n", 3, 3, 16, BLUR);
  EXPECT_FILE ("3 2 4 0\n1 2 3\n4 5 6", 3, 3, 4, 1, 2, 3, 4, 5, 6, 0, 0, 0);
  EXPECT_FILE ("3 2\n1 2 3\n4 5 6", 3, 3, 1, 1, 2, 3, 4, 5, 6, 0, 0, 0);
  EXPECT_FILE ("4 2 10 0\n1 2 3 4\n5 6 7 8", 5, 3, 10, 1, 2, 3, 4, 0, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0);
  EXPECT_FILE ("4 1 10 0\n1 2 3 4", 5, 1, 10, 1, 2, 3, 4, 0);
  EXPECT_FILE ("3 1 4\n1 2 1", 3, 1, 4, 1, 2, 1);
  EXPECT_FILE ("9 1 16 0\n1 2 1 2 4 2 1 2 1", 9, 1, 16, BLUR);
  EXPECT_FILE ("1 3 4 0\n1\n2\n1", 1, 3, 4, 1, 2, 1);
  EXPECT_FILE ("1 1\n7", 1, 1, 1, 7);
  /* What is no header is a table: other numbers of rows, sides that are none, a scale of 0, the shape in front. */
  EXPECT_FILE ("2 3\n1 1\n1 1", 3, 3, 9, 2, 3, 0, 1, 1, 0, 1, 1, 0);
  EXPECT_FILE ("2x3: 2 2\n1 1\n1 1", 3, 3, 8, 2, 2, 0, 1, 1, 0, 1, 1, 0);
  EXPECT_FILE ("3x3: 3 2 9\n1 2 1\n1 2 1", 3, 3, 22, 3, 2, 9, 1, 2, 1, 1, 2, 1);
  EXPECT_FILE ("3 2 0\n1 2 1\n1 2 1", 3, 3, 13, 3, 2, 0, 1, 2, 1, 1, 2, 1);
  EXPECT_FILE ("3 1 3\n1 2 1\n3 1 3", 3, 3, 18, 3, 1, 3, 1, 2, 1, 3, 1, 3);
  EXPECT_FILE ("2.5 2\n1 1\n1 1", 3, 3, 8.5, 2.5, 2, 0, 1, 1, 0, 1, 1, 0);
  for (guint i = 0; i < 255; i++) {
    g_string_append_printf (tall, "%u 1\n", i);
    taps[3 * i] = i;
    taps[3 * i + 1] = 1;
  }
  expect_settings (with_text (tall->str), "255 rows", 3, 255, taps, 1);

  refuse_taken (with_text ("3 2 9\n1 2 1\n1 2 1"),
      "row 1 (line 1) may be a header of libvips or a row of weights: write the offset 0 behind the scale of a header, or "
      "3x3: in front of weights");
  refuse_taken (with_text ("# grey\n3 3 1 128\n1 2 1\n2 4 2\n1 2 1"),
      "row 1 (line 2), a header of libvips, has the offset 128: write 0 there, and set bias, which is a share of the range "
      "from black to white, as in 0.502");
  refuse_taken (with_text ("3 3\n1 2 1\n2 4 2"),
      "row 2 (line 2) and row 1 differ in length: 3 and 2 values; as a header of libvips, row 1 needs 3 rows of 3 numbers");
  refuse_taken (with_text ("3 3\n1 2 1\n2 4 2\n1 2"),
      "row 2 (line 2) and row 1 differ in length: 3 and 2 values; as ...");
}
GST_END_TEST;

/* The divisor of a file gives way to the property, and so do sizes to none. */
GST_START_TEST (matrices_and_numbers)
{
  ConvolveSettings settings = with_text ("3 3 9 0\n1 2 1\n2 4 2\n1 2 1");

  settings.divisor = 2;
  expect_settings (settings, "divisor", 3, 3, TAPS (BLUR), 2);
  settings = with_text ("9 1 16 0\n1 2 1 2 4 2 1 2 1");
  settings.mask_width = 3;
  refuse_settings (&settings, "mask-width: 3 contradicts mask-location, whose row length is 9");
  settings.mask_width = 9;
  expect_settings (settings, "the same", 9, 1, TAPS (BLUR), 16);
}
GST_END_TEST;

GST_START_TEST (files_that_are_bad)
{
  refuse_taken (with_text ("1 2 1\n# comment\n2 x 2"), "\"x\" at row 2, value 2 (line 3) is not a number");
  refuse_taken (with_text ("1,2,1\n\n2,4\n1,2,1"), "row 2 (line 3) and row 1 differ in length: 2 and 3 values");
  refuse_taken (with_text ("1;2;1\n2;;2\n1;2;1"), "no value between two semicolons at row 2, value 2 (line 2)");
  refuse_taken (with_text (";2;1\n2;4;2\n1;2;1"), "no value before the semicolon at row 1, value 1 (line 1)");
  refuse_taken (with_text ("1,2,1,\n2,4,2,\n"), "no value after the comma at row 1, value 4 (line 1)");
  refuse_taken (with_text ("1,,1\n2,4,2\n"), "no value between two commas at row 1, value 2 (line 1)");
  refuse_taken (with_text ("1;2;1"),
      "\"1;2;1\" may be a row or a column: write a row with commas, or a shape such as 1x3: in front of a column");
  refuse_taken (with_text ("# European\n0,5;1;0,5\n1;2;1\n"),
      "\"0,5;1;0,5\" (line 2) has semicolons, and a comma without a space: write decimal numbers with a point");
  refuse_taken (with_text ("0,5;0,5;0,5"),
      "the weights make 2x3: width and height must be odd, unless the shape stands in front, as in 2x3:");
  refuse_taken (with_text ("1 2 3 4"),
      "a row of 4 values makes no mask: width and height must be odd, unless the shape stands in front, as in 4x1:");
  refuse_taken (with_text ("0,5\t1\t0,5\n"),
      "\"0,5\" at row 1, value 1 (line 1) has a comma without a space, and a space alone splits other values: write a "
      "decimal number with a point, or split all values of the row in one way");
  refuse_taken (with_text ("\"1\",\"2\",\"1\"\n"), "\"\\\"1\\\"\" at row 1, value 1 (line 1) is not a number");
  refuse_taken (with_text ("left,middle,right\n1,2,1\n"), "\"left\" at row 1, value 1 (line 1) is not a number");
  refuse_taken (with_text ("[[1, 2, 1],\n [2, 4, 2]]"), "\"[[1\" at row 1, value 1 (line 1) has a bracket: ...");
  refuse_taken (with_text ("gaussian"), "\"gaussian\" at row 1, value 1 (line 1) is not a number");
  refuse_taken (with_text ("1 2 1\n1 nan 1"), "\"nan\" at row 2, value 2 (line 2) is not a number");
  refuse_taken (with_text ("1 2 1\n1 1e999 1"), "\"1e999\" at row 2, value 2 (line 2) is too large");
  refuse_taken (with_text ("1 2 1;;1 2 1"), "row 2 (line 1) is empty");
  refuse_taken (with_text ("# nothing\n \n"), "the text is empty; weights are needed");
  refuse_taken (with_text ("3x3:\n"), "no weights after the shape (line 2)");
  refuse_taken (with_text ("\n\n3y3: 1"),
      "\"3y3\" (line 3) before the colon is not a shape such as 5x3, of two numbers from 1 to 255");
  refuse_taken (with_text ("5x3:\n1 2 1\n1 2 1\n1 2 1"), "the shape 5x3 in front does not fit 3 rows of 3 values");
  refuse_taken (with_text ("1 2 1\n1 \xff 1"),
      "line 2 is not text in UTF-8 (byte 0xff), and the file is no .npy file and no picture in PNG, "
      "PGM or PFM");
  refuse_taken (with_bytes ("\xff\xfe"
                            "1\0\n\0",
                    6),
      "line 1 is not text in UTF-8 (byte 0xff), and the file is no .npy file and no picture in PNG, "
      "PGM or PFM");
  refuse_taken (with_bytes ("1 2 1\n\n1\0 2", 11),
      "line 3 is not text in UTF-8 (byte 0x00), and the file is no .npy file and no picture in PNG, "
      "PGM or PFM");
}
GST_END_TEST;

/* mask-width and mask-height shape one line of a file, and must fit several lines. */
GST_START_TEST (files_and_sizes)
{
  ConvolveSettings settings = with_text ("1 2 1 2 4 2 1 2 1");

  settings.mask_height = 1;
  expect_settings (settings, "one row", 9, 1, TAPS (BLUR), 16);
  settings = with_text ("1 2 3 4 5 6");
  settings.mask_width = 3;
  expect_settings (settings, "two rows", 3, 3, TAPS (1, 2, 3, 4, 5, 6, 0, 0, 0), 21);
  settings = with_text ("1 2 1\n2 4 2\n1 2 1");
  settings.mask_width = 5;
  refuse_settings (&settings, "mask-width: 5 contradicts mask-location, whose row length is 3");
  settings.mask_width = 3;
  settings.mask_height = 1;
  refuse_settings (&settings, "mask-height: 1 contradicts mask-location, whose number of rows is 3");
  settings.mask_height = 3;
  expect_settings (settings, "the same", 3, 3, TAPS (BLUR), 16);
  settings = with_text ("1e308 1e308 1e308");
  refuse_settings (&settings, "mask-location: the weights are too large or too small to be summed");
  convolve_settings_clear (&settings);
  settings = with_array ("<<1,2,1>>");
  settings.mask_width = 5;
  refuse_taken (settings, "mask-width: 5 contradicts weights, whose row length is 3");
  settings = with_vectors ("1 2 1", "1 1 1");
  settings.mask_height = 1;
  refuse_taken (settings, "mask-height: 1 contradicts mask-y, whose number of rows is 3");
  settings = with_vectors ("1 2 1", NULL);
  settings.mask_height = 3;
  refuse_taken (settings, "mask-height: 3 contradicts mask-x, whose number of rows is 1");
}
GST_END_TEST;

/* --- what is no file of weights --- */

static void
refuse_location (const gchar *location, const gchar *message)
{
  ConvolveSettings settings;

  convolve_settings_init (&settings);
  settings.file = convolve_kept_file_new (&convolve_mask_file, location);
  refuse_taken (settings, message);
}

GST_START_TEST (places)
{
  g_autofree gchar *fifo = file_name ("fifo"), *gone = file_name ("gone");
  g_autofree gchar *spaces = g_strnfill (CONVOLVE_MAX_MASK_FILE + 1, ' ');
  g_autofree gchar *many = g_strnfill (400, 'x'), *end = g_strnfill (200, 'x');
  g_autofree gchar *shortened = g_strdup_printf ("mask-location: ...%s: File name too long", end);
  ConvolveSettings settings;

  refuse_location (gone, "No such file or directory");
  refuse_location (folder, "not a regular file, but a folder");
  refuse_location ("/dev/null", "not a regular file");
  fail_unless (mkfifo (fifo, 0600) == 0);
  refuse_location (fifo, "not a regular file");
  g_unlink (fifo);
  refuse_taken (with_text (""), "the file is empty");
  refuse_taken (with_bytes (spaces, CONVOLVE_MAX_MASK_FILE + 1), "the file has 8388609 bytes, more than 8388608");
  refuse_taken (with_bytes (spaces, CONVOLVE_MAX_MASK_FILE), "the text has 8388608 bytes, more than 4194304");
  refuse_taken (with_bytes (spaces, CONVOLVE_MAX_MASK_FILE / 2), "the text is empty; weights are needed");
  /* The end of a long name is shown. */
  convolve_settings_init (&settings);
  settings.file = convolve_kept_file_new (&convolve_mask_file, many);
  refuse_settings (&settings, shortened);
  convolve_settings_clear (&settings);
}
GST_END_TEST;

/* A file is read once, whatever is done to the settings, until it is forgotten. A fault is not kept. */
GST_START_TEST (a_file_is_read_once)
{
  ConvolveSettings settings = with_text ("1 2 1"), copy;
  g_autofree gchar *name = g_strdup (convolve_kept_file_location (settings.file));

  expect (make_scaled (&settings, 1, 1), "first", 3, 1, TAPS (1, 2, 1), 4);
  g_unlink (name);
  convolve_settings_copy (&copy, &settings);
  copy.divisor = 8;
  convolve_settings_clear (&settings);
  expect (make_scaled (&copy, 2, 2), "deleted", 3, 1, TAPS (1, 2, 1), 8);
  convolve_kept_file_forget (copy.file);
  refuse_taken (copy, "No such file or directory");

  settings = with_text ("1 x 1");
  convolve_settings_copy (&copy, &settings);
  refuse_taken (copy, "\"x\" at row 1, value 2 (line 1) is not a number");
  copy = with_text ("3 4 3");
  convolve_settings_clear (&copy);
  expect_settings (settings, "mended", 3, 1, TAPS (3, 4, 3), 10);
}
GST_END_TEST;

/* --- arrays in files --- */

typedef struct
{
  const gchar *type;
  guint size;
  gboolean big;
} Type;

static void
append_number (GByteArray *bytes, const Type *type, gdouble number)
{
  gfloat single = number;
  guint64 word = (guint64) (gint64) number;
  guint32 low;

  if (type->type[1] == 'f' && type->size == 8)
    memcpy (&word, &number, 8);
  if (type->type[1] == 'f' && type->size == 4) {
    memcpy (&low, &single, 4);
    word = low;
  }
  if (type->type[1] == 'f' && type->size == 2) { /* of an integer up to 2048, in binary16 */
    gint exponent = 0;
    gdouble fraction = frexp (fabs (number), &exponent);

    word = number == 0 ? 0 : (guint64) ((exponent + 14) << 10 | ((gint) (fraction * 2048) & 1023));
    word |= number < 0 ? 0x8000 : 0;
  }
  for (guint b = 0; b < type->size; b++)
    g_byte_array_append (bytes, (const guint8[]){ word >> 8 * (type->big ? type->size - 1 - b : b) }, 1);
}

/* Every type, in both orders of bytes and of dimensions. */
GST_START_TEST (arrays_in_files)
{
  static const Type types[] = { { "|i1", 1, FALSE }, { "|u1", 1, FALSE }, { "<i2", 2, FALSE }, { ">i2", 2, TRUE },
    { "<u2", 2, FALSE }, { ">u2", 2, TRUE }, { "<i4", 4, FALSE }, { ">i4", 4, TRUE }, { "<u4", 4, FALSE },
    { ">u4", 4, TRUE }, { "<i8", 8, FALSE }, { ">i8", 8, TRUE }, { "<u8", 8, FALSE }, { ">u8", 8, TRUE },
    { "<f2", 2, FALSE }, { ">f2", 2, TRUE }, { "<f4", 4, FALSE }, { ">f4", 4, TRUE }, { "<f8", 8, FALSE },
    { ">f8", 8, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    for (guint fortran = 0; fortran < 2; fortran++) {
      g_autofree gchar *header = g_strdup_printf ("{'descr': '%s', 'fortran_order': %s, 'shape': (3, 5), }",
          types[i].type, fortran ? "True" : "False");
      g_autoptr (GByteArray) bytes = numpy_begin (1 + i % 3, header);
      gdouble taps[15], sum = 0;

      for (guint k = 0; k < 15; k++) {
        taps[k] = types[i].type[1] == 'u' ? 3 * k + 100 : 3.0 * k - 20;
        sum += taps[k];
      }
      for (guint k = 0; k < 15; k++)
        append_number (bytes, &types[i], taps[fortran ? k % 3 * 5 + k / 3 : k]);
      expect_settings (with_bytes (bytes->data, bytes->len), types[i].type, 5, 3, taps, sum);
    }
}
GST_END_TEST;

static ConvolveSettings
with_doubles (const gchar *header, guint count, const gdouble *values)
{
  static const Type type = { "<f8", 8, FALSE };
  g_autoptr (GByteArray) bytes = numpy_begin (1, header);

  for (guint i = 0; i < count; i++)
    append_number (bytes, &type, values[i]);
  return with_bytes (bytes->data, bytes->len);
}

GST_START_TEST (arrays_in_files_that_are_bad)
{
  static const gdouble values[300] = { 0.25, -0.0, -1e300, 4, 5, 6, 7, 8, 9 };
  static const gdouble faults[] = { 1, 2, 3, 4, NAN, 6 }, infinite[] = { 1, -INFINITY };
  static const guint8 largest[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f };
  g_autoptr (GByteArray) integers = numpy_begin (1, NUMPY_HEADER ("<i8", "False", "(1, 1)"));

  expect_settings (with_doubles (NUMPY_HEADER ("<f8", "False", "(1, 3)"), 3, values), "doubles", 3, 1,
      TAPS (0.25, 0, -1e300), -1e300);
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "(9,)"), 9, values),
      "the shape (9,) is not (rows, columns): a mask has two dimensions");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "()"), 1, values),
      "the shape () is not (rows, columns): a mask has two dimensions");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "(1, 3, 3)"), 9, values),
      "the shape (1, 3, 3) is not (rows, columns): a mask has two dimensions");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "(256, 1)"), 256, values),
      "the shape (256, 1) is larger than (255, 255)");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "(3, 0)"), 0, values), "the shape (3, 0) holds nothing");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "(3, 3)"), 8, values),
      "the shape (3, 3) of 8-byte values needs 72 bytes, and the array is cut off after 64");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "(2, 3)"), 6, faults),
      "the value at index [1, 1] is not a finite number that float64 holds");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "True", "(2, 3)"), 6, faults),
      "the value at index [0, 2] is not a finite number that float64 holds");
  refuse_taken (with_doubles (NUMPY_HEADER ("<f8", "False", "(1, 2)"), 2, infinite),
      "the value at index [0, 1] is not a finite number that float64 holds");
  refuse_taken (with_doubles (NUMPY_HEADER ("<c8", "False", "(1, 1)"), 1, values),
      "the array holds values of type \"<c8\", not a float or an integer of up to 64 bits");
  refuse_taken (with_doubles (NUMPY_HEADER ("|b1", "False", "(8, 1)"), 1, values),
      "the array holds values of type \"|b1\", not a float or an integer of up to 64 bits");
  refuse_taken (with_doubles (NUMPY_HEADER ("|O", "False", "(1, 1)"), 1, values),
      "the array holds Python objects, not numbers");
  /* 2^63 - 1 is no double. */
  g_byte_array_append (integers, largest, sizeof largest);
  refuse_taken (with_bytes (integers->data, integers->len),
      "the value at index [0, 0] is not a finite number that float64 holds");
}
GST_END_TEST;

/* Damaged files are read or refused in words; the sanitizers watch. */
GST_START_TEST (fuzz_files)
{
  static const gchar *const starts[] = { "1;2;1\n2;4;2\n1;2;1\n", "# c\n1,2,1\n2,4,2\n1,2,1\n",
    "3x3: 1 2 1 2 4 2 1 2 1", "1;2;1", "3 3 9 0\n1 2 1\n2 4 2\n1 2 1", "0,5;1;0,5\n1;2;1\n", "1\t2\t1\r\n2\t4\t2\r\n" };
  static const gchar alphabet[] = "0123456789+-.eE,;; \n\n\t\r:x#\"\xff\xc3\x01";
  GRand *random = g_rand_new_with_seed (check_seed ());
  guint taken = 0, refused = 0;

  for (guint round = 0; round < 20000; round++) {
    g_autoptr (GString) text = g_string_new (starts[g_rand_int_range (random, 0, G_N_ELEMENTS (starts))]);
    ConvolveGrid *grid;
    GError *error = NULL;

    for (gint i = g_rand_int_range (random, 1, 6); i > 0; i--) {
      gsize at = g_rand_int_range (random, 0, text->len + 1);

      if (g_rand_boolean (random) && at < text->len)
        g_string_erase (text, at, 1);
      else
        g_string_insert_c (text, at, alphabet[g_rand_int_range (random, 0, sizeof alphabet - 1)]);
    }
    grid = convolve_table_parse ("mask-location: f", text->str, &error);
    if (grid) {
      taken++;
      fail_unless (grid->values->len == grid->rows * grid->columns && grid->rows > 0, "round %u", round);
      convolve_grid_unref (grid);
    } else {
      refused++;
      fail_unless (error != NULL, "round %u", round);
      fail_unless (g_str_has_prefix (error->message, "mask-location: f: ") && g_utf8_validate (error->message, -1, NULL)
              && !strpbrk (error->message, "\n\r\x01"),
          "round %u: %s", round, error->message);
      g_clear_error (&error);
    }
  }
  g_rand_free (random);
  fail_unless (taken > 2000 && refused > 2000, "%u taken, %u refused", taken, refused);
}
GST_END_TEST;

/* --- arrays --- */

#define PYTHON \
  "; of a row in Python, Gst.ValueArray keeps the numbers of the first one's type alone: take map(float, row)"

G_GNUC_BEGIN_IGNORE_DEPRECATIONS

static void
append_double (GValueArray *row, gdouble number, GType type)
{
  GValue from = G_VALUE_INIT, value = G_VALUE_INIT;

  g_value_init (&from, G_TYPE_DOUBLE);
  g_value_set_double (&from, number);
  g_value_init (&value, type);
  fail_unless (g_value_transform (&from, &value));
  g_value_array_append (row, &value);
}

/* GLib's array of one row, as gst_util_set_object_array () hands it on, or as a row of GStreamer's array. */
GST_START_TEST (arrays_of_glib)
{
  for (guint nested = 0; nested < 2; nested++) {
    GValue rows = G_VALUE_INIT, row = G_VALUE_INIT, array = G_VALUE_INIT;
    ConvolveSettings settings;

    g_value_init (&rows, g_value_array_get_type ());
    g_value_take_boxed (&rows, g_value_array_new (1));
    g_value_init (&row, g_value_array_get_type ());
    g_value_take_boxed (&row, g_value_array_new (3));
    append_double (g_value_get_boxed (&row), 1, G_TYPE_INT);
    append_double (g_value_get_boxed (&row), 2.5, G_TYPE_DOUBLE);
    append_double (g_value_get_boxed (&row), -4, G_TYPE_CHAR);
    append_double (g_value_get_boxed (&row), 200, G_TYPE_UCHAR);
    g_value_array_append (g_value_get_boxed (&rows), &row);
    g_value_init (&array, GST_TYPE_ARRAY);
    if (nested)
      gst_value_array_append_value (&array, &row);
    else
      fail_unless (g_value_transform (&rows, &array));
    convolve_settings_init (&settings);
    settings.weights = convolve_array_new (&array);
    expect_settings (settings, "GLib's array", 5, 1, TAPS (1, 2.5, -4, 200, 0), 199.5);
    g_value_unset (&rows);
    g_value_unset (&row);
    g_value_unset (&array);
  }
}
GST_END_TEST;

G_GNUC_END_IGNORE_DEPRECATIONS

/* Every type of numbers, and all of them in one row. */
GST_START_TEST (arrays_of_every_type)
{
  static const gchar *const numbers[] = { "1", "(int)-3", "(uint)7", "(gint64)-8", "(guint64)9", "(glong)-6",
    "(gulong)10", "(float)0.5", "(double)1e-3", "3/4", "(fraction)-5/2", "true", "(boolean)false", "(string)12.5",
    "(string)-1e2" };
  static const gdouble taps[] = { 1, -3, 7, -8, 9, -6, 10, 0.5, 1e-3, 0.75, -2.5, 1, 0, 12.5, -100 };
  g_autoptr (GString) row = g_string_new ("<<");
  gdouble sum = 0;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_autofree gchar *alone = g_strdup_printf ("<<%s,%s,(double)1000>>", numbers[i], numbers[i]);

    EXPECT_ARRAY (alone, 3, 1, 2 * taps[i] + 1000, taps[i], taps[i], 1000);
    g_string_append_printf (row, "%s%s", i ? "," : "", numbers[i]);
    sum += taps[i];
  }
  g_string_append (row, ">>");
  expect_settings (with_array (row->str), row->str, G_N_ELEMENTS (numbers), 1, taps, sum);
}
GST_END_TEST;

/* What Gst.ValueArray of Python makes of rows with ints and floats, as far as that can be told. */
GST_START_TEST (arrays_that_lost_values)
{
  static const gchar *const black[] = { "<<0,0>>", "<<0>,<0>,<0>>", "<<0.0,0,0/1>>" };
  static const gchar *const even[] = { "<<0,0>,<1.5,1.5>,<0,0>>", "<<1.0,2.0>,<3,4>>" };

  for (guint i = 0; i < G_N_ELEMENTS (black); i++)
    refuse_taken (with_array (black[i]), "weights: all weights are 0, which makes a black picture" PYTHON);
  for (guint i = 0; i < G_N_ELEMENTS (even); i++)
    refuse_taken (with_array (even[i]),
        "weights: the rows have 2 values each, of several types, and some may be missing: "
        "write all as floats" PYTHON);
  EXPECT_ARRAY ("<<1,2>,<3.5,4>>", 3, 3, 10.5, 1, 2, 0, 3.5, 4, 0, 0, 0, 0);
  EXPECT_ARRAY ("<<1.0,2.0>,<3.5,4.0>>", 3, 3, 10.5, 1, 2, 0, 3.5, 4, 0, 0, 0, 0);
  EXPECT_ARRAY ("<<1,2,1>,<3.5,4.0,1.5>,<1,2,1>>", 3, 3, 17, 1, 2, 1, 3.5, 4, 1.5, 1, 2, 1);
}
GST_END_TEST;

GST_START_TEST (arrays)
{
  EXPECT_ARRAY ("<<1,2,1>,<2,4,2>,<1,2,1>>", 3, 3, 16, BLUR);
  EXPECT_ARRAY ("<<1.5,-2.25,.5>>", 3, 1, -0.25, 1.5, -2.25, 0.5);
  EXPECT_ARRAY ("<<1,2,1>,<0.5,0.25,-0.5>,<1,2,1>>", 3, 3, 8.25, 1, 2, 1, 0.5, 0.25, -0.5, 1, 2, 1);
  EXPECT_ARRAY ("<<1,2.5,1>>", 3, 1, 4.5, 1, 2.5, 1); /* ints and doubles in one row */
  EXPECT_ARRAY ("<{1,2,1}>", 3, 1, 4, 1, 2, 1);
  EXPECT_ARRAY ("<<(guint)1,(guint)2>>", 3, 1, 3, 1, 2, 0);
  EXPECT_ARRAY ("<<(gint64)1,(gint64)-2>>", 3, 1, -1, 1, -2, 0);
  EXPECT_ARRAY ("<<(guint64)1,(guint64)2>>", 3, 1, 3, 1, 2, 0);
  EXPECT_ARRAY ("<<(float)0.5,(float)-0.25>>", 3, 1, 0.25, 0.5, -0.25, 0);
  EXPECT_ARRAY ("<<(double)1,(double)-0.0>>", 3, 1, 1, 1, 0, 0);
  EXPECT_ARRAY ("<<1>,<2>,<3>>", 1, 3, 6, 1, 2, 3);
  EXPECT_ARRAY ("<<1,2>,<3,4>>", 3, 3, 10, 1, 2, 0, 3, 4, 0, 0, 0, 0);
  /* A row of nine values is a row: an array says its shape. */
  EXPECT_ARRAY ("<<1,2,1,2,4,2,1,2,1>>", 9, 1, 16, BLUR);

  refuse_taken (with_array ("<1,2,1>"),
      "weights: row 1: \"1\" (gint) is no array of numbers: rows are written as in <<1,2,1>,<2,4,2>,<1,2,1>>");
  refuse_taken (with_array ("<<1,2,1>,<1,2>>"), "weights: row 2 and row 1 differ in length: 2 and 3 values" PYTHON);
  refuse_taken (with_array ("<<1,2,x>>"), "weights: row 1, value 3: \"x\" (gchararray) is not a number");
  refuse_taken (with_array ("<<1,(bitmask)1,1>>"),
      "weights: row 1, value 2: \"0x0000000000000001\" (GstBitmask) is not a number");
  refuse_taken (with_array ("<<1,(string)nan,1>>"), "weights: row 1, value 2: \"nan\" (gchararray) is not a number");
  refuse_taken (with_array ("<<1,(string)1e999>>"), "weights: row 1, value 2: \"1e999\" (gchararray) is too large");
  refuse_taken (with_array ("<<<1>,<2>>>"), "weights: row 1, value 1: ...");
  refuse_taken (with_array ("<<1,2,1>,<1,(double)nan,1>>"), "weights: row 2, value 2: \"nan\" (gdouble) is not finite");
  refuse_taken (with_array ("<<(double)-inf>>"), "weights: row 1, value 1: \"-inf\" (gdouble) is not finite");
  refuse_taken (with_array ("<<(gint64)9007199254740993>>"),
      "weights: row 1, value 1: \"9007199254740993\" (gint64) is beyond 2^53, and no double");
  refuse_taken (with_array ("<<(guint64)18446744073709551615>>"),
      "weights: row 1, value 1: \"18446744073709551615\" (guint64) is beyond 2^53, and no double");
  refuse_taken (with_array ("<<>>"), "weights: row 1 is empty");
}
GST_END_TEST;

GST_START_TEST (arrays_that_are_large)
{
  g_autoptr (GString) wide = g_string_new ("<<1"), tall = g_string_new ("<<1>");

  for (guint i = 1; i < 256; i++) {
    g_string_append (wide, ",1");
    g_string_append (tall, ",<1>");
  }
  g_string_append (wide, ">>");
  g_string_append (tall, ">");
  refuse_taken (with_array (wide->str),
      "weights: 1 rows of 256 values are too many: at most 255 rows of 255 values are possible");
  refuse_taken (with_array (tall->str),
      "weights: 256 rows of 1 values are too many: at most 255 rows of 255 values are possible");
}
GST_END_TEST;

/* --- vectors --- */

GST_START_TEST (vectors)
{
  EXPECT_VECTORS ("1 2 1", "1 2 1", 3, 3, 16, BLUR);
  EXPECT_VECTORS ("1,2,3", "-1, 0.5, 1", 3, 3, 3, -1, -2, -3, 0.5, 1, 1.5, 1, 2, 3);
  EXPECT_VECTORS ("1 2 1", NULL, 3, 1, 4, 1, 2, 1);
  EXPECT_VECTORS (NULL, " 1 2 1\n", 1, 3, 4, 1, 2, 1);
  EXPECT_VECTORS ("1 2 1", "", 3, 1, 4, 1, 2, 1);
  EXPECT_VECTORS ("1 -1", "0 1", 3, 3, 1, 0, 0, 0, 1, -1, 0, 0, 0, 0);

  refuse_taken (with_vectors ("1 x 1", NULL), "mask-x: \"x\" at row 1, value 2 (character 3) is not a number");
  refuse_taken (with_vectors ("[1,2,1]", NULL),
      "mask-x: \"[1\" at row 1, value 1 (character 1) has a bracket: numbers are written without brackets, split by spaces "
      "or commas");
  refuse_taken (with_vectors ("1 2 1", "1 nan"), "mask-y: \"nan\" at row 1, value 2 (character 3) is not a number");
  refuse_taken (with_vectors ("1 2 1", "1;2;1"),
      "mask-y: row 2 (character 3) is one too many: one row of numbers is needed");
  refuse_taken (with_vectors ("3x1: 1 2 1", NULL), "mask-x: \"3x1:\" at row 1, value 1 (character 1) is not a number");
  refuse_taken (with_vectors (" ", NULL),
      "mask-x: the text is empty; numbers with spaces or commas between are needed");
  refuse_taken (with_vectors ("0,5 1", NULL),
      "mask-x: \"0,5\" at row 1, value 1 (character 1) has a comma without ...");
  refuse_taken (with_vectors ("1 1e200", "1 1 1e200"),
      "mask-x: value 2 times value 3 of mask-y is too large for a weight");
  refuse_taken (with_vectors ("1e-200", "1 1e-200"),
      "mask-x: value 1 times value 2 of mask-y is too small for a weight");
}
GST_END_TEST;

/* --- two at once --- */

#define ALONE "set one of mask, weights, mask-location, and mask-x with mask-y, and leave the others at their defaults"

GST_START_TEST (two_sources)
{
  ConvolveSettings settings = with_array ("<<1,2,1>>"), array;

  /* NULL, and the default's text, count as not set. */
  expect (make_scaled (&settings, 1, 1), "default", 3, 1, TAPS (1, 2, 1), 4);
  g_clear_pointer (&settings.mask, g_free);
  expect (make_scaled (&settings, 1, 1), "NULL", 3, 1, TAPS (1, 2, 1), 4);
  settings.mask = g_strdup ("box");
  refuse_settings (&settings, "weights: the mask comes from mask already; " ALONE);
  g_free (settings.mask);
  settings.mask = g_strdup ("1 2 1");
  refuse_taken (settings, "weights: the mask comes from mask already; " ALONE);

  settings = with_array ("<<1,2,1>>");
  settings.mask_y = g_strdup ("1 2 1");
  refuse_taken (settings, "mask-y: the mask comes from weights already; " ALONE);
  settings = with_vectors ("1 2 1", "1 2 1");
  g_free (settings.mask);
  settings.mask = g_strdup ("sobel-x");
  refuse_taken (settings, "mask-x: the mask comes from mask already; " ALONE);
  settings = with_text ("1 2 1");
  settings.mask_x = g_strdup ("1 2 1");
  refuse_settings (&settings, "mask-x: the mask comes from mask-location already; " ALONE);
  array = with_array ("<<1,2,1>>");
  settings.weights = g_atomic_rc_box_acquire (array.weights);
  refuse_settings (&settings, "mask-location: the mask comes from weights already; " ALONE);
  convolve_settings_clear (&settings);
  convolve_settings_clear (&array);
}
GST_END_TEST;

static void
make_folder (void)
{
  folder = check_folder ();
}

static void
remove_folder (void)
{
  g_autofree gchar *name = file_name ("mask");

  g_unlink (name);
  check_remove_folder (folder);
}

static Suite *
sources_suite (void)
{
  Suite *suite = suite_create ("sources");
  TCase *tc = tcase_create ("sources");

  tcase_set_timeout (tc, 300);
  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, files_that_are_good);
  tcase_add_test (tc, matrices_of_libvips);
  tcase_add_test (tc, matrices_and_numbers);
  tcase_add_test (tc, files_that_are_bad);
  tcase_add_test (tc, files_and_sizes);
  tcase_add_test (tc, places);
  tcase_add_test (tc, a_file_is_read_once);
  tcase_add_test (tc, arrays_in_files);
  tcase_add_test (tc, arrays_in_files_that_are_bad);
  tcase_add_test (tc, fuzz_files);
  tcase_add_test (tc, arrays_of_glib);
  tcase_add_test (tc, arrays_of_every_type);
  tcase_add_test (tc, arrays_that_lost_values);
  tcase_add_test (tc, arrays);
  tcase_add_test (tc, arrays_that_are_large);
  tcase_add_test (tc, vectors);
  tcase_add_test (tc, two_sources);
  suite_add_tcase (suite, mask_adjustments ());
  suite_add_tcase (suite, mask_shapes ());
  return suite;
}

GST_CHECK_MAIN (sources);
