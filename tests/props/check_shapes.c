/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks from pictures: files that are read or refused, sizes, anchors, and planes of chroma. Part of the program check_sources. */
#include <glib/gstdio.h>
#include <stdlib.h>

#include "files/mask_file.h"
#include "props/check_adjust.h"
#include "props/check_props.h"
#include "support/file.h"
#include "support/run.h"

/* 3x2: 0 50 255, 1 2 3. */
static const guint8 grey_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
  0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x00, 0x00, 0x00, 0xb8, 0x1f, 0x39, 0xc6,
  0x00, 0x00, 0x00, 0x10, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x30, 0xfa, 0xcf, 0xc0, 0xc8, 0xc4, 0x0c,
  0x00, 0x06, 0x39, 0x01, 0x38, 0x68, 0x37, 0x6f, 0xf2, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42,
  0x60, 0x82 };

/* 16 bits, 2x1: 0x8080 0x01ff. */
static const guint8 deep_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
  0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x10, 0x00, 0x00, 0x00, 0x00, 0x81, 0xd9, 0xfc, 0x15,
  0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x68, 0x68, 0x60, 0xfc, 0x0f, 0x00, 0x04, 0x86,
  0x02, 0x01, 0x55, 0xbe, 0x4b, 0x2d, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };

/* White, and white that is transparent. */
static const guint8 clear_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
  0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0xf4, 0x22, 0x7f, 0x8a,
  0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0x0f, 0x01, 0x0c, 0x00, 0x22, 0xe6, 0x06,
  0xfa, 0x36, 0x07, 0xd1, 0x8b, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };

/* 16384x16384 as the header says, and 100 bytes. */
static const guint8 huge_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
  0x44, 0x52, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x40, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x8c, 0xa3, 0x4f, 0x58,
  0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0xa0, 0x3d, 0x00, 0x00, 0x00, 0x64, 0x00,
  0x01, 0xb8, 0x99, 0xef, 0x99, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };

static gchar *folder; /* for files; removed at the end */

static ConvolveSettings
with_bytes (const void *bytes, gsize size)
{
  g_autofree gchar *name = g_build_filename (folder, "mask", NULL);
  GByteArray content = { (guint8 *) bytes, size };
  ConvolveSettings settings;

  fail_unless (check_write_file (name, &content));
  convolve_settings_init (&settings);
  settings.file = convolve_kept_file_new (&convolve_mask_file, name);
  return settings;
}

/* Takes settings. */
static void
refuse_picture (ConvolveSettings settings, const gchar *message)
{
  g_autofree gchar *full =
      g_strdup_printf ("mask-location: %s: %s", convolve_kept_file_location (settings.file), message);

  refuse_settings (&settings, full);
  convolve_settings_clear (&settings);
}

/* Takes settings. */
static void
expect_picture (ConvolveSettings settings, const gchar *name, gint width, gint height, const gdouble *taps,
    gdouble divisor)
{
  expect (make_scaled (&settings, 1, 1), name, width, height, taps, divisor);
  convolve_settings_clear (&settings);
}

#define BYTES(text) text, sizeof (text) - 1

static gboolean
reads_png (void)
{
  ConvolveSettings settings = with_bytes (grey_png, sizeof grey_png);
  ConvolveGrid *rows = convolve_kept_file_read (settings.file, NULL);

  if (rows)
    convolve_grid_unref (rows);
  convolve_settings_clear (&settings);
  return rows != NULL;
}

/* --- files --- */

GST_START_TEST (pictures_that_are_good)
{
  expect_picture (with_bytes (BYTES ("P5 3 1 255\n\1\2\1")), "PGM", 3, 1, TAPS (1, 2, 1), 4);
  expect_picture (with_bytes (BYTES ("P5\n# a star\n1 3\n7\n\1\2\1")), "PGM upright", 1, 3, TAPS (1, 2, 1), 4);
  expect_picture (with_bytes (BYTES ("P5 3 1 65535\n\1\0\0\2\1\0")), "PGM of 16 bits", 3, 1, TAPS (256, 2, 256), 514);
  expect_picture (with_bytes (BYTES ("P5 3 1 2\n\1\7\1")), "PGM beyond white", 3, 1, TAPS (1, 2, 1), 4);
  /* The bottom row stands first. */
  expect_picture (with_bytes (BYTES ("Pf\n1 3\n-1.0\n\0\0\0\xbf\0\0\0\0\0\0\x80\x3f")), "PFM", 1, 3, TAPS (1, 0, -0.5),
      0.5);
  expect_picture (with_bytes (BYTES ("Pf 1 3 1e3\n\xbf\0\0\0\0\0\0\0\x3f\x80\0\0")), "PFM, high byte first", 1, 3,
      TAPS (1, 0, -0.5), 0.5);
  /* An even side: half a weight juts out on both sides. */
  expect_picture (with_bytes (BYTES ("P5 2 1 255\n\2\4")), "even", 3, 1, TAPS (1, 3, 2), 6);
  if (!reads_png ())
    return;
  expect_picture (with_bytes (grey_png, sizeof grey_png), "PNG", 3, 3, TAPS (0, 25, 127.5, 0.5, 26, 129, 0.5, 1, 1.5),
      311);
  /* 0x8080 is 128.5 of 255, and 0x01ff 1.99. */
  expect_picture (with_bytes (deep_png, sizeof deep_png), "PNG of 16 bits", 3, 1, TAPS (64, 65, 1), 130);
  expect_picture (with_bytes (clear_png, sizeof clear_png), "transparent", 3, 1, TAPS (127.5, 127.5, 0), 255);
}
GST_END_TEST;

GST_START_TEST (pictures_that_are_bad)
{
  const gchar *header =
      "the header is not P5, a width and a height from 1 to 1024, and a largest value from 1 to 65535";
  const gchar *floats = "the header is not Pf, a width and a height from 1 to 1024, and a scale that is not 0";

  refuse_picture (with_bytes (BYTES ("P5 16384 16384 255\n\1")), header);
  refuse_picture (with_bytes (BYTES ("P5 1025 1 255\n\1")), header);
  refuse_picture (with_bytes (BYTES ("P5 3 0 255\n\1")), header);
  refuse_picture (with_bytes (BYTES ("P5 3 1 65536\n\1\1\1")), header);
  refuse_picture (with_bytes (BYTES ("P5 1024 1024 255\n\1")),
      "1024x1024 pixels need 1048576 bytes, and the file has 1");
  refuse_picture (with_bytes (BYTES ("P5 2 1 256\n\1\1\1")), "2x1 pixels need 4 bytes, and the file has 3");
  refuse_picture (with_bytes (BYTES ("Pf 16384 16384 -1\n\1")), floats);
  refuse_picture (with_bytes (BYTES ("Pf 1 1 0\n\1\1\1\1")), floats);
  refuse_picture (with_bytes (BYTES ("Pf 1 1 little\n\1\1\1\1")), floats);
  refuse_picture (with_bytes (BYTES ("Pf 1 1 -1")), floats);
  refuse_picture (with_bytes (BYTES ("Pf 1024 1024 -1\n\1\1\1\1")),
      "1024x1024 pixels need 4194304 bytes, and the file has 4");
  refuse_picture (with_bytes (BYTES ("Pf 2 1 -1\n\0\0\x80\x3f\0\0\xc0\x7f")), "the pixel at 1,0 is not finite");
  refuse_picture (with_bytes (BYTES ("P6 1 1 255\n\1\1\1")),
      "the picture begins with P6: take a PNG file, a PGM file (P5) or a PFM file (Pf)");
  refuse_picture (with_bytes (BYTES ("PF 1 1 -1\n")),
      "the picture begins with PF: take a PNG file, a PGM file (P5) or a PFM file (Pf)");
  refuse_picture (with_bytes (BYTES ("P5 2 2 255\n\0\0\0\0")), "all pixels are black, and black is a weight of 0");
  refuse_picture (with_bytes (BYTES ("\xff\xd8\xff\xe0 a JPEG")),
      "line 1 is not text in UTF-8 (byte 0xff), and the file is no .npy file and no picture in PNG, PGM or PFM");
  if (!reads_png ()) {
    refuse_picture (with_bytes (grey_png, sizeof grey_png), "this build reads no PNG files, because ...");
    return;
  }
  refuse_picture (with_bytes (huge_png, sizeof huge_png),
      "a picture of 16384x16384 pixels, and no side may be longer than 1024: make it smaller, ...");
  refuse_picture (with_bytes (grey_png, sizeof grey_png - 30), "the PNG file cannot be read: ...");
}
GST_END_TEST;

/* --- sizes --- */

GST_START_TEST (sizes_of_pictures)
{
  g_autoptr (GByteArray) wide = g_byte_array_new ();
  ConvolveSettings settings;
  ConvolveMask mask;

  g_byte_array_append (wide, (const guint8 *) "P5 600 300 255\n", 15);
  g_byte_array_set_size (wide, 15 + 600 * 300);
  memset (wide->data + 15, 200, 600 * 300);
  settings = with_bytes (wide->data, wide->len);
  settings.mask_width = 41;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.width == 41 && mask.height == 21, "%dx%d", mask.width, mask.height);
  convolve_mask_clear (&mask);
  settings.mask_width = 0;
  settings.mask_height = 41;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.width == 83 && mask.height == 41, "%dx%d", mask.width, mask.height);
  convolve_mask_clear (&mask);
  settings.mask_width = 5;
  mask = make_scaled (&settings, 1, 1);
  fail_unless (mask.width == 5 && mask.height == 41, "%dx%d", mask.width, mask.height);
  convolve_mask_clear (&mask);
  settings.mask_width = 4;
  refuse_settings (&settings, "mask-width: 4 is not 0 or an odd number up to 255");
  settings.mask_width = 0;
  settings.mask_height = 129;
  refuse_picture (settings,
      "the picture makes 259x129 weights: set mask-width to at most 255, and leave mask-height at 0");
  refuse_picture (with_bytes (wide->data, wide->len),
      "the picture makes 600x300 weights: set mask-width to at most 255, and leave mask-height at 0");
  memcpy (wide->data, "P5 300 600 255\n", 15);
  refuse_picture (with_bytes (wide->data, wide->len),
      "the picture makes 300x600 weights: set mask-height to at most 255, and leave mask-width at 0");
  settings = with_bytes (BYTES ("P5 3 1 255\n\1\2\1"));
  settings.anchor_x = 3;
  refuse_settings (&settings, "anchor-x: 3 is not one of the mask's columns: 0 to 2, or -1 for the middle");
  settings.anchor_x = 0;
  expect_picture (settings, "anchor", 5, 1, TAPS (0, 0, 1, 2, 1), 4);
}
GST_END_TEST;

/* The odd number that is nearest to side * of / by; of two, the larger one. */
static gint
find_odd (gint side, gint of, gint by)
{
  gint best = 1;

  for (gint odd = 1; odd < 256; odd += 2)
    if (abs (odd * by - side * of) <= abs (best * by - side * of))
      best = odd;
  return best;
}

/*
 * One direction of the definition in words: the picture is cut into units that lie under one pixel and one sample each. Fills *pixel and
 * *sample of each unit, and returns how many there are.
 */
static gint
cut_side (gint pixels, gint side, gint anchor, gint step, gint *pixel, gint *sample)
{
  gint units = 2 * pixels * side, middle = anchor == -1 ? units / 2 : (2 * anchor + 1) * pixels;

  for (gint u = 0; u < units; u++) {
    gint from_edge = u - middle + step * pixels + 1000 * 2 * step * pixels; /* of sample -1000 */

    pixel[u] = u / (2 * side);
    sample[u] = from_edge / (2 * step * pixels) - 1000;
  }
  return units;
}

static gint
find_radius (const gint *sample, gint units)
{
  return MAX (-sample[0], sample[units - 1]);
}

GST_START_TEST (random_pictures)
{
  GRand *random = g_rand_new_with_seed (check_seed ());
  enum
  {
    MOST = 2 * 9 * 29
  };
  static gint x_pixel[MOST], x_sample[MOST], y_pixel[MOST], y_sample[MOST];

  for (guint round = 0; round < 400; round++) {
    const gint columns = g_rand_int_range (random, 1, 10), rows = g_rand_int_range (random, 1, 10);
    const gint x_step = 1 << g_rand_int_range (random, 0, 4), y_step = 1 << g_rand_int_range (random, 0, 4);
    const gboolean deep = g_rand_boolean (random);
    g_autofree gchar *header = g_strdup_printf ("P5 %d %d %d\n", columns, rows, deep ? 65535 : 255);
    g_autoptr (GByteArray) file = g_byte_array_new ();
    gint values[81], width, height, x_units, y_units, x_radius, y_radius;
    g_autofree gint64 *sums = NULL;
    gint64 total = 0;
    ConvolveSettings settings;
    ConvolveMask mask;

    g_byte_array_append (file, (const guint8 *) header, strlen (header));
    for (gint i = 0; i < columns * rows; i++) {
      const guint8 bytes[2] = { g_rand_int (random), i == 0 ? 1 : g_rand_int (random) };

      g_byte_array_append (file, deep ? bytes : bytes + 1, deep ? 2 : 1);
      values[i] = deep ? bytes[0] * 256 + bytes[1] : bytes[1];
      total += values[i];
    }
    settings = with_bytes (file->data, file->len);
    if (g_rand_boolean (random))
      settings.mask_width = 2 * g_rand_int_range (random, 0, 15) + 1;
    if (settings.mask_width > 0 ? g_rand_boolean (random) : g_rand_int_range (random, 0, 3) == 0)
      settings.mask_height = 2 * g_rand_int_range (random, 0, 15) + 1;
    width = settings.mask_width ? (gint) settings.mask_width
        : settings.mask_height  ? find_odd (settings.mask_height, columns, rows)
                                : columns;
    height = settings.mask_height ? (gint) settings.mask_height
        : settings.mask_width     ? find_odd (settings.mask_width, rows, columns)
                                  : rows;
    if (width > 29 || height > 29) {
      convolve_settings_clear (&settings);
      continue;
    }
    if (g_rand_boolean (random))
      settings.anchor_x = g_rand_int_range (random, 0, width);
    if (g_rand_boolean (random))
      settings.anchor_y = g_rand_int_range (random, 0, height);

    x_units = cut_side (columns, width, settings.anchor_x, x_step, x_pixel, x_sample);
    y_units = cut_side (rows, height, settings.anchor_y, y_step, y_pixel, y_sample);
    x_radius = find_radius (x_sample, x_units);
    y_radius = find_radius (y_sample, y_units);
    sums = g_new0 (gint64, (2 * x_radius + 1) * (2 * y_radius + 1));
    for (gint v = 0; v < y_units; v++)
      for (gint u = 0; u < x_units; u++)
        sums[(y_sample[v] + y_radius) * (2 * x_radius + 1) + x_sample[u] + x_radius] +=
            values[y_pixel[v] * columns + x_pixel[u]];

    mask = make_scaled (&settings, x_step, y_step);
    fail_unless (mask.width == 2 * x_radius + 1 && mask.height == 2 * y_radius + 1,
        "round %u: %dx%d instead of %dx%d for %dx%d as %dx%d, steps %d and %d", round, mask.width, mask.height,
        2 * x_radius + 1, 2 * y_radius + 1, columns, rows, width, height, x_step, y_step);
    for (gint i = 0; i < mask.width * mask.height; i++)
      fail_unless (mask.taps[i] == (gdouble) sums[i] / (4 * width * height),
          "round %u: weight %d is %.17g instead of %.17g", round, i, mask.taps[i],
          (gdouble) sums[i] / (4 * width * height));
    fail_unless (ABS (mask.divisor - total) < 1e-9 * total, "round %u: %.17g instead of %" G_GINT64_FORMAT, round,
        mask.divisor, total);
    convolve_mask_clear (&mask);
    convolve_settings_clear (&settings);
  }
  g_rand_free (random);
}
GST_END_TEST;

/* A white picture is the preset box, in luma and in chroma. */
GST_START_TEST (white_pictures)
{
  for (gint side = 1; side < 256; side += 14)
    for (guint step = 1; step <= 8; step *= 2) {
      ConvolveSettings settings = with_bytes (BYTES ("P5 2 2 255\n\1\1\1\1")), box = settings_of ("box", side, 0);
      ConvolveMask wanted = make_scaled (&box, step, step), mask;

      settings.mask_width = side;
      mask = make_scaled (&settings, step, step);
      fail_unless (mask.width == wanted.width && mask.height == wanted.height, "%dx%d instead of %dx%d", mask.width,
          mask.height, wanted.width, wanted.height);
      for (gint i = 0; i < mask.width * mask.height; i++)
        fail_unless (ABS (mask.taps[i] * wanted.divisor - wanted.taps[i] * mask.divisor)
                < 1e-12 * wanted.taps[i] * mask.divisor,
            "side %d, step %u, weight %d: %.17g", side, step, i, mask.taps[i]);
      convolve_mask_clear (&mask);
      convolve_mask_clear (&wanted);
      convolve_settings_clear (&settings);
    }
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
  g_autofree gchar *name = g_build_filename (folder, "mask", NULL);

  g_unlink (name);
  check_remove_folder (folder);
}

TCase *
mask_shapes (void)
{
  TCase *tc = tcase_create ("shapes");

  tcase_add_checked_fixture (tc, make_folder, remove_folder);
  tcase_add_test (tc, pictures_that_are_good);
  tcase_add_test (tc, pictures_that_are_bad);
  tcase_add_test (tc, sizes_of_pictures);
  tcase_add_test (tc, random_pictures);
  tcase_add_test (tc, white_pictures);
  return tc;
}
