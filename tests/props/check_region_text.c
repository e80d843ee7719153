/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of regions and region-types: boxes and names, every kind of fault, random texts, settings without effect. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "props/check_props.h"
#include "support/random.h"
#include "support/run.h"
#include "files/image_file.h"
#include "boxes/region_boxes.h"
#include "properties/properties.h"

/* The boxes of a text as numbers, or the message. */
static gchar *
read_boxes (const gchar *text)
{
  ConvolveRegionSettings settings = { .regions = (gchar *) text };
  g_autoptr (GArray) boxes = NULL;
  g_autoptr (GError) error = NULL;
  GString *read = g_string_new (NULL);

  if (!convolve_region_settings_boxes (&settings, &boxes, &error)) {
    fail_unless (boxes == NULL && g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS));
    g_string_append (read, error->message);
    return g_string_free (read, FALSE);
  }
  fail_unless (error == NULL);
  for (guint i = 0; i < boxes->len; i++) {
    const ConvolveTextBox *box = &g_array_index (boxes, ConvolveTextBox, i);

    for (guint k = 0; k < 4 && box->n_corners == 0; k++)
      g_string_append_printf (read, "%s%g%s", k ? " " : i ? "; " : "", box->number[k], box->per_cent[k] ? "%" : "");
    for (guint k = 0; k < 2 * box->n_corners; k++)
      g_string_append_printf (read, "%s%g%s",
          k       ? " "
              : i ? "; polygon "
                  : "polygon ",
          box->corners[k / 2].number[k % 2], box->corners[k / 2].per_cent[k % 2] ? "%" : "");
    fail_unless (box->n_corners > 0 || (box->number[2] > 0 && box->number[3] > 0));
  }
  return g_string_free (read, FALSE);
}

static void
expect_boxes (const gchar *text, const gchar *expected)
{
  g_autofree gchar *read = read_boxes (text);

  fail_unless (g_str_equal (read, expected), "'%s' is read as '%s', expected '%s'", text, read, expected);
}

GST_START_TEST (boxes)
{
  GString *many = g_string_new (NULL);
  g_autofree gchar *read = NULL;

  expect_boxes (NULL, "");
  expect_boxes (" \n; ;", "");
  expect_boxes ("1,2,3,4", "1 2 3 4");
  expect_boxes ("1 2 3 4", "1 2 3 4");
  expect_boxes ("\t-1.5 , +2e1,\t3 ,4%\n5%,6%,7%,8% ;", "-1.5 20 3 4%; 5% 6% 7% 8%");
  expect_boxes ("1,2,3,4;;5,6,7,8\r\n9,10,11,12", "1 2 3 4; 5 6 7 8; 9 10 11 12");
  expect_boxes ("1000000,-1000000,1e6,100%", "1e+06 -1e+06 1e+06 100%");

  expect_boxes ("polygon:1,2 3,4 5,6", "polygon 1 2 3 4 5 6");
  expect_boxes ("9 9 9 9; polygon: 1 , 2,3%,4\t5,-6%;", "9 9 9 9; polygon 1 2 3% 4 5 -6%");
  expect_boxes ("polygon:1,2 3,4 5,6\npolygon:7,8,9,10,11,12", "polygon 1 2 3 4 5 6; polygon 7 8 9 10 11 12");

#define POLYGON_ENDS ": polygon:x,y x,y x,y"
  expect_boxes ("polygon:1,2 3,4",
      "regions: \"polygon:1,2 3,4\" is polygon 1 with 2 corners: a polygon has at least 3, as in polygon:x,y x,y x,y");
  expect_boxes ("polygon:",
      "regions: \"polygon:\" is polygon 1 with 0 corners: a polygon has at least 3, as in polygon:x,y x,y x,y");
  expect_boxes ("1,1,1,1;polygon:1,2 3,4 5,6 7",
      "regions: \"polygon:1,2 3,4 5,6 7\" is polygon 2 and lacks the y of its last corner" POLYGON_ENDS);
  expect_boxes ("polygon:1,,2 3,4 5,6",
      "regions: \"polygon:1,,2 3,4 5,6\" is polygon 1 and lacks a number between two commas" POLYGON_ENDS);
  expect_boxes ("polygon:1,2 a,4 5,6", "regions: \"a\" in polygon 1 is not a number");
  expect_boxes ("polygon:1,2 3,4 5,1000001%", "regions: \"1000001%\" in polygon 1 is above a million");
  expect_boxes ("Polygon:1,2 3,4 5,6", "regions: \"Polygon:1\" in box 1 is not a number");
  g_string_assign (many, "polygon:");
  for (guint i = 0; i < CONVOLVE_MAX_CORNERS; i++)
    g_string_append (many, "1,2 ");
  read = read_boxes (many->str);
  fail_unless (g_str_has_prefix (read, "polygon 1 2"), "%s", read);
  g_string_append (many, "9,2");
  expect_boxes (many->str, "regions: \"9\" is one corner too many in polygon 1: there are at most 64");
  g_string_truncate (many, 0);

#define MISSING(n, what) "is box " #n " and lacks its " what ": x,y,width,height"
  expect_boxes ("1", "regions: \"1\" " MISSING (1, "y"));
  expect_boxes ("1,2;3,4,5,6", "regions: \"1,2\" " MISSING (1, "width"));
  expect_boxes ("1,2,3,4;5,,7,8", "regions: \"5,,7,8\" " MISSING (2, "y"));
  expect_boxes (",1,2,3", "regions: \",1,2,3\" " MISSING (1, "x"));
  expect_boxes ("1,2,3,4 5", "regions: \"5\" is one number too many in box 1: x,y,width,height");
  expect_boxes ("1,2,3,4,", "regions: \"\" is one number too many in box 1: x,y,width,height");
  expect_boxes ("a,2,3,4", "regions: \"a\" in box 1 is not a number");
  expect_boxes ("1,2,%,4", "regions: \"%\" in box 1 is not a number");
  expect_boxes ("1,0x10,3,4", "regions: \"0x10\" in box 1 is not a number");
  expect_boxes ("1,nan,3,4", "regions: \"nan\" in box 1 is not a number");
  expect_boxes ("1,1e999,3,4", "regions: \"1e999\" in box 1 is too large");
  expect_boxes ("1,2,3,1000001", "regions: \"1000001\" in box 1 is above a million");
  expect_boxes ("1,2,0,4", "regions: \"0\" in box 1 is no width: a width is above 0");
  expect_boxes ("1,2,3,-4%", "regions: \"-4%\" in box 1 is no height: a height is above 0");
  expect_boxes ("1,2,3,4\xff", "regions: \"4\\xff\" in box 1 is not a number");

  for (guint i = 0; i < CONVOLVE_MAX_BOXES; i++)
    g_string_append (many, "1,2,3,4;");
  g_free (read_boxes (many->str));
  g_string_append (many, "9,2,3,4");
  expect_boxes (many->str, "regions: \"9,2,3,4\" is one box too many: there are at most 4096");
  g_string_free (many, TRUE);
}

GST_END_TEST;

static void
expect_wanted (const gchar *types, const gchar *type, gboolean wanted)
{
  ConvolveRegionSettings settings = { .types = (gchar *) types };
  g_auto (GStrv) names = NULL;

  fail_unless (convolve_region_settings_types (&settings, &names, NULL), "%s", types);
  fail_unless (convolve_region_type_is_wanted (names, type, TRUE) == wanted, "'%s' %s '%s'", types,
      wanted ? "leaves out" : "takes", type);
  /* Outside of regions the opposite is safe where nobody told the type. */
  fail_unless (convolve_region_type_is_wanted (names, type, FALSE) == (type || !names[0] ? wanted : FALSE), "'%s' '%s'",
      types, type);
}

GST_START_TEST (types)
{
  static const gchar *const bad[] = { ",", "face,", ",face", "face,,plate", "!", "face,! ", "! ,face" };

  expect_wanted (NULL, "face", TRUE);
  expect_wanted ("  ", NULL, TRUE);
  expect_wanted ("face", "face", TRUE);
  expect_wanted ("face", "FACE", TRUE);
  expect_wanted (" Face , plate", "face", TRUE);
  expect_wanted ("face", "faces", FALSE);
  expect_wanted ("face", NULL, TRUE);
  expect_wanted ("face", "\xf0", FALSE);
  expect_wanted ("!face", NULL, TRUE);
  expect_wanted ("!face", "plate", TRUE);
  expect_wanted ("! face", "face", FALSE);
  expect_wanted ("face,!face", "face", FALSE);
  expect_wanted ("!person,face", "person", FALSE);
  expect_wanted ("!person,face", "dog", FALSE);
  expect_wanted ("Gesicht,Stra\xc3\x9f"
                 "e",
      "stra\xc3\x9f"
      "e",
      TRUE);
  expect_wanted (NULL, "background", FALSE);
  expect_wanted ("!person", "background", FALSE);
  expect_wanted ("background", "Background", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    ConvolveRegionSettings settings = { .types = (gchar *) bad[i] };
    g_autoptr (GError) error = NULL;
    gchar **names = NULL;

    fail_if (convolve_region_settings_types (&settings, &names, &error), "%s", bad[i]);
    fail_unless (names == NULL && g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS)
            && g_str_has_prefix (error->message, "region-types: \"")
            && strstr (error->message, "has no name at place ") != NULL,
        "%s: %s", bad[i], error->message);
  }
}

GST_END_TEST;

/* Whether a region with these names, which are split by '|', and an id, or none below 0, is wanted. */
static gboolean
is_wanted (const gchar *ids, gint64 id, const gchar *names, gboolean unknown)
{
  ConvolveRegionSettings settings = { .ids = (gchar *) ids };
  g_auto (GStrv) list = g_strsplit (names, "|", -1);
  g_autoptr (GArray) identities = NULL;

  fail_unless (convolve_region_settings_identities (&settings, &identities, NULL), "%s", ids);
  return convolve_region_identity_is_wanted (identities, id < 0 ? CONVOLVE_REGION_NO_ID : (guint64) id,
      (const gchar *const *) list, unknown);
}

#define UNDECIDED 2

GST_START_TEST (identities)
{
  static const struct
  {
    const gchar *ids;
    gint64 id;
    const gchar *names;
    gint wanted; /* UNDECIDED in regions alone, where nobody knows */
  } rows[] = {
    { NULL, -1, "", TRUE },
    { " ", 7, "bob", TRUE },
    /* One that is left out, and one of whom nothing is known. */
    { "!7", 7, "", FALSE },
    { "!7", 8, "", TRUE },
    { "!7", -1, "", UNDECIDED },
    { " ! 7 ", 7, "", FALSE },
    { "!bob", 7, "Bob", FALSE },
    { "!bob", 7, "male|BOB", FALSE },
    { "!bob", 7, "male", TRUE },
    { "!bob", 7, "", UNDECIDED },
    { "!bob,!7", 7, "", FALSE },
    { "!7,!bob", 8, "bob", FALSE },
    /* Those that are chosen, and one of whom nothing is known. */
    { "7,12", 7, "", TRUE },
    { "7,12", 12, "", TRUE },
    { "7,12", 8, "", FALSE },
    { "7,12", -1, "", UNDECIDED },
    { "B-XY 123", -1, "b-xy 123", TRUE },
    { "B-XY 123", -1, "B-XY 124", FALSE },
    { "B-XY 123", 7, "", UNDECIDED },
    { "7,bob", 8, "alice", FALSE },
    { "7,bob", 8, "", UNDECIDED },
    { "7,bob", -1, "alice", UNDECIDED },
    { "7,bob", 8, "bob", TRUE },
    { "7,!bob", 7, "bob", FALSE },
    { "7,!bob", 7, "alice", TRUE },
    { "0", 0, "", TRUE },
    { "18446744073709551614", 7, "", FALSE },
    /* Digits in quotes are a name, and a comma in quotes splits nothing. */
    { "!'4711'", 4711, "", UNDECIDED },
    { "!'4711'", 3, "4711", FALSE },
    { "!4711", 3, "4711", TRUE },
    { "\"Smith, Bob\",7", 3, "smith, bob", TRUE },
    { "\"Smith, Bob\",7", 3, "bob", FALSE },
    { "!O'Neill,7", 8, "O'Neill", FALSE },
    { "!O'Neill,7", 7, "", UNDECIDED },
    { "12-34", 12, "", UNDECIDED },
    { "12-34", 12, "1", FALSE },
    { "\xc3\x84nne", 1, "\xc3\xa4NNE", TRUE },
    { "bob", 1, "\xf0", FALSE },
  };
  static const struct
  {
    const gchar *ids, *error;
  } bad[] = {
    { ",", "region-ids: \"\" at place 1 has no id or name: ids and names are split by commas" },
    { "7,", "region-ids: \"\" at place 2 has no id or name" },
    { "7,,8", "region-ids: \"\" at place 2 has no id or name" },
    { "7,!", "region-ids: \"\" at place 2 has no id or name" },
    { "! ,7", "region-ids: \"\" at place 1 has no id or name" },
    { "18446744073709551615", "region-ids: \"18446744073709551615\" at place 1 is no id, which goes up to" },
    { "7,99999999999999999999", "region-ids: \"99999999999999999999\" at place 2 is no id, which goes up to" },
    { "'bob", "region-ids: \"'bob\" at place 1 is no name in quotes" },
    { "7,''", "region-ids: \"''\" at place 2 is no name in quotes" },
    { "'", "region-ids: \"'\" at place 1 is no name in quotes" },
    { "'bob' b", "region-ids: \"'bob' b\" at place 1 is no name in quotes" },
    { "'bob\"", "region-ids: \"'bob\\\"\" at place 1 is no name in quotes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint unknown = 0; unknown < 2; unknown++)
      fail_unless (is_wanted (rows[i].ids, rows[i].id, rows[i].names, unknown)
              == (rows[i].wanted && (unknown || rows[i].wanted != UNDECIDED)),
          "row %u: region-ids=%s, id %" G_GINT64_FORMAT ", \"%s\", %u", i, rows[i].ids, rows[i].id, rows[i].names,
          unknown);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    ConvolveRegionSettings settings = { .ids = (gchar *) bad[i].ids };
    g_autoptr (GError) error = NULL;
    GArray *identities = NULL;

    fail_if (convolve_region_settings_identities (&settings, &identities, &error), "%s", bad[i].ids);
    fail_unless (identities == NULL && g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS)
            && g_str_has_prefix (error->message, bad[i].error),
        "%s: %s", bad[i].ids, error->message);
    g_clear_error (&error);
    fail_if (convolve_region_settings_check (&settings, NULL, &error), "%s", bad[i].ids);
  }
}

GST_END_TEST;

/*
 * Random lists and regions, by the rule in words: an exemption needs proof, and so does being none of the chosen. The words
 * know sets of ids, and not how they are written.
 */
GST_START_TEST (random_identities)
{
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");
  guint seed = wanted ? (guint) g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  CheckRandom random;
  guint n_wanted = 0;

  g_print ("identities: seed %u: CUDACONVOLVE_SEED=%u repeats this run\n", seed, seed);
  check_random_init (&random, seed, 0);
  for (guint i = 0; i < 5000; i++) {
    gboolean chosen[5] = { FALSE }, exempt[5] = { FALSE }, any_chosen = FALSE, expected;
    g_autoptr (GString) text = g_string_new (NULL);
    gint id = check_random_range (&random, -1, 4), n = check_random_range (&random, 0, 5);

    for (gint k = 0; k < n; k++) {
      gint which = check_random_range (&random, 0, 4);
      gboolean except = check_random_range (&random, 0, 1);

      (except ? exempt : chosen)[which] = TRUE;
      any_chosen |= !except;
      g_string_append_printf (text, "%s%s%s%d", k ? "," : "", check_random_range (&random, 0, 3) ? "" : " ",
          except ? "!" : "", which);
    }
    expected = id < 0 || (!exempt[id] && (!any_chosen || chosen[id]));
    fail_unless (is_wanted (text->str, id, "", FALSE) == (expected && (id >= 0 || n == 0)), "seed %u, case %u: \"%s\"",
        seed, i, text->str);
    fail_unless (is_wanted (text->str, id, "", TRUE) == expected, "seed %u, case %u: \"%s\", id %d", seed, i, text->str,
        id);
    n_wanted += expected;
  }
  fail_unless (n_wanted > 1000 && n_wanted < 4000, "%u", n_wanted);
}

GST_END_TEST;

/* Random texts of the characters that mean something, and of any bytes: boxes or a message, and no crash. */
GST_START_TEST (random_texts)
{
  static const gchar letters[] = "0123456789,,,;;%%. -+e\n\t!abpolygon:'\"";
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");
  guint seed = wanted ? (guint) g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  CheckRandom random;

  g_print ("regions: seed %u: CUDACONVOLVE_SEED=%u repeats this run\n", seed, seed);
  check_random_init (&random, seed, 0);
  for (guint i = 0; i < 20000; i++) {
    gchar text[64] = "1,2,3,4;5%,6%,7%,8%;polygon:1,2 3,4 5,6";
    guint changes = check_random_range (&random, 1, 4), length = check_random_range (&random, 0, 60);
    g_autofree gchar *read = NULL;
    ConvolveRegionSettings settings = { .types = text, .ids = text };
    g_autoptr (GArray) identities = NULL;
    g_auto (GStrv) names = NULL;

    if (i % 2)
      for (guint k = 0; k < changes; k++)
        text[check_random_range (&random, 0, 38)] = letters[check_random_range (&random, 0, sizeof letters - 2)];
    else
      for (guint k = 0; k < length; k++)
        text[k] =
            i % 4 ? check_random_range (&random, 1, 255) : letters[check_random_range (&random, 0, sizeof letters - 2)];
    read = read_boxes (text);
    fail_unless (g_utf8_validate (read, -1, NULL), "seed %u, text %u", seed, i);
    if (convolve_region_settings_types (&settings, &names, NULL))
      convolve_region_type_is_wanted (names, text, i % 2);
    if (convolve_region_settings_identities (&settings, &identities, NULL))
      convolve_region_identity_is_wanted (identities, i, (const gchar *const[]){ text, NULL }, i % 2);
  }
}

GST_END_TEST;

/* Files of region-mask-location and region-picture: values as they are, and every kind of fault. */
GST_START_TEST (image_files)
{
  static const guint8 grey_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3e, 0x8b, 0x4b, 0x68,
    0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x68, 0xf8, 0x0f, 0x00, 0x02, 0x03, 0x01,
    0x80, 0x1a, 0x9c, 0x26, 0x3b, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82 };
  static const guint8 clear_png[] = { 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49,
    0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1b, 0xe0, 0x14,
    0xb4, 0x00, 0x00, 0x00, 0x0f, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0xf8, 0x0f, 0x01, 0x0c, 0x40, 0xf0, 0x1f,
    0x00, 0x3f, 0xcd, 0x07, 0xf9, 0xef, 0xbe, 0xe6, 0x10, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42,
    0x60, 0x82 };
#define TEXT(text) (const guint8 *) text, sizeof text - 1
  static const struct
  {
    const guint8 *bytes;
    gsize size;
    const gchar *matte, *picture; /* values, or the end of the message */
  } rows[] = { { TEXT ("P5 3 1 255\n\x00\x80\xff"), "3x1: 0 128 255",
                   "3x1: 0 0 0 255 128 128 128 255 255 255 255 255" },
    { TEXT ("P5\n# a\n# b\n1\t2 #c\n3\n\x01\x09"), "1x2: 85 255", "1x2: 85 85 85 255 255 255 255 255" },
    { TEXT ("P5 2 1 65535\n\x80\x00\xff\xff"), "2x1: 128 255", "2x1: 128 128 128 255 255 255 255 255" },
    { TEXT ("P6 1 2 255\n\x01\x02\x03\xff\x80\x00"), "neither a PNG file nor a PGM file",
        "1x2: 1 2 3 255 255 128 0 255" },
    { TEXT ("P6 1 1 1023\n\x03\xff\x00\x00\x02\x00"), "neither a PNG file nor a PGM file", "1x1: 255 0 128 255" },
    { grey_png, sizeof grey_png, "3x1: 0 128 255", "3x1: 0 0 0 255 128 128 128 255 255 255 255 255" },
    /* Clear pixels of a matte lie over black. */
    { clear_png, sizeof clear_png, "3x1: 255 0 0", "3x1: 255 255 255 255 255 255 255 0 0 0 0 255" },
    { clear_png, sizeof clear_png - 20, "the PNG file cannot be read", "the PNG file cannot be read" },
    { TEXT ("P5 3 1 255\n\x00\x80"), "3x1 pixels need 3 bytes, and the file has 2",
        "3x1 pixels need 3 bytes, and the file has 2" },
    { TEXT ("P6 1 1 256\n\x01\x02\x03"), "neither a PNG", "1x1 pixels need 6 bytes, and the file has 3" },
    { TEXT ("P5 3 0 255\n\x00"), "the header is not P5", "the header is not P5" },
    { TEXT ("P5 3 16385 255\n\x00"), "the header is not P5", "1 to 4096" },
    { TEXT ("P5 1 4097 255\n\x00"), "1x4097 pixels need 4097 bytes", "1 to 4096" },
    { TEXT ("P5 3 1 65536\n\x00"), "the header is not P5", "the header is not P5" },
    { TEXT ("P6 3 1 #"), "neither a PNG file", "the header is not P6" },
    { TEXT ("P2 1 1 255\n7"), "neither a PNG file nor a PGM file that begins with P5",
        "neither a PNG file nor a PGM or PPM file that begins with P5 or P6" } };

  for (guint i = 0; i < 2 * (G_N_ELEMENTS (rows) + 1); i++) {
    const ConvolveFileKind *kind = i % 2 ? &convolve_picture_file : &convolve_matte_file;
    gsize row = i / 2;
    g_autofree gchar *location = NULL;
    g_autoptr (GError) error = NULL;
    g_autoptr (GString) text = g_string_new (NULL);
    gint fd = g_file_open_tmp ("check-props-XXXXXX", &location, NULL), channels = i % 2 ? 4 : 1;
    const gchar *expected = row == G_N_ELEMENTS (rows) ? "No such file" : i % 2 ? rows[row].picture : rows[row].matte;
    ConvolveKeptFile *file = convolve_kept_file_new (kind, location);
    ConvolveImage *image, *again;

    if (row < G_N_ELEMENTS (rows))
      fail_unless (write (fd, rows[row].bytes, rows[row].size) == (gssize) rows[row].size);
    else
      g_unlink (location);
    close (fd);
    image = convolve_kept_file_read (file, &error);
    again = convolve_kept_file_read (file, NULL);
    fail_unless (image == again);
    if (image)
      g_string_printf (text, "%dx%d:", image->width, image->height);
    for (gint k = 0; image && k < image->width * image->height * channels; k++)
      g_string_append_printf (text, " %d", image->values[k]);
    if (image) {
      g_autofree gchar *sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, rows[row].bytes, rows[row].size);

      fail_unless_equals_string (text->str, expected);
      fail_unless_equals_string (image->sha256, sum);
      convolve_image_unref (image);
      convolve_image_unref (again);
    } else if (!strstr (error->message, "libpng was not there")) {
      fail_unless (g_str_has_prefix (error->message, i % 2 ? "region-picture: " : "region-mask-location: ")
              && strstr (error->message, location + strlen (location) - 5) && strstr (error->message, expected),
          "row %u: %s", (guint) row, error->message);
    }
    convolve_kept_file_unref (file);
    g_unlink (location);
  }
}
GST_END_TEST;

/* Boxes as arrays become the text, and the text becomes boxes; what is no box is a text that cannot be read. */
GST_START_TEST (boxes_as_arrays)
{
  static const struct
  {
    const gchar *array, *text, *back; /* back is NULL where it is the array */
  } rows[] = {
    { "<<1.0,2.0,3.0,4.0>>", "1,2,3,4", NULL },
    { "<<1,2,3,4>,<5,6,7,8>>", "1,2,3,4;5,6,7,8", "<<1.0,2.0,3.0,4.0>,<5.0,6.0,7.0,8.0>>" },
    { "<<-1.5,0.25,30.0,40.0>>", "-1.5,0.25,30,40", NULL },
    { "<>", NULL, NULL },
    { "<<1,2,3>>", "1,2,3", "<>" },
    { "<5,6>", "5;6", "<>" },
    { "<<1.0,2.0,3.0,4.0,5.0,6.0>,<1.0,2.0,3.0,4.0>>", "polygon:1,2,3,4,5,6;1,2,3,4", NULL },
    { "<<1,2,3,4,5,6,7>>", "polygon:1,2,3,4,5,6,7", "<>" },
    { "<<1,2,3,4,5>>", "1,2,3,4,5", "<>" },
  };
  static const gchar *const texts[] = { "50%,0,50%,100%", "1,2,3,4;-10%,0.5,25.5%,8",
    "1,2,3,4;polygon:-10%,0.5,25.5%,8,1,2" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GValue array = G_VALUE_INIT, back = G_VALUE_INIT, expected = G_VALUE_INIT;
    g_autofree gchar *text = NULL;

    g_value_init (&array, GST_TYPE_ARRAY);
    g_value_init (&back, GST_TYPE_ARRAY);
    g_value_init (&expected, GST_TYPE_ARRAY);
    fail_unless (gst_value_deserialize (&array, rows[i].array), "%s", rows[i].array);
    fail_unless (gst_value_deserialize (&expected, rows[i].back ? rows[i].back : rows[i].array));
    text = convolve_region_boxes_read (&array);
    fail_unless (g_strcmp0 (text, rows[i].text) == 0, "%s: %s", rows[i].array, text);
    convolve_region_boxes_write (text, &back);
    fail_unless_equals_int (gst_value_compare (&back, &expected), GST_VALUE_EQUAL);
    g_value_unset (&array);
    g_value_unset (&back);
    g_value_unset (&expected);
  }
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree gchar *text = NULL;
    GValue array = G_VALUE_INIT;

    g_value_init (&array, GST_TYPE_ARRAY);
    convolve_region_boxes_write (texts[i], &array);
    text = convolve_region_boxes_read (&array);
    fail_unless_equals_string (text, texts[i]);
    g_value_unset (&array);
  }
}

GST_END_TEST;

/* Every property of regions at another value than its default, and why it has no effect. */
GST_START_TEST (regions_without_effect)
{
  g_autoptr (ConvolveProperties) properties = convolve_properties_new (&convolve_mask_properties);
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);

  properties->region.feather = 3;
  properties->region.strength = 0.5;
  properties->region.blocks = 9;
  properties->region.epsilon = 2;
  properties->region.seed = 5;
  properties->region.color = 1;
  properties->region.hold = 7;
  properties->region.smooth = 8;
  convolve_properties_add_idle (properties, sentences);
  fail_unless_equals_int (sentences->len, 8);
  for (guint i = 0; i < sentences->len; i++)
    fail_unless (g_str_has_suffix (g_ptr_array_index (sentences, i), " has no effect: apply-to is frame"));

  g_ptr_array_set_size (sentences, 0);
  properties->region.apply_to = CONVOLVE_APPLY_TO_REGIONS;
  properties->region.sources = CONVOLVE_REGION_SOURCE_TEXT;
  properties->region.effect = CONVOLVE_REGION_EFFECT_FILL;
  properties->region.regions = g_strdup ("1,2,3,4");
  convolve_properties_add_idle (properties, sentences);
  fail_unless_equals_int (sentences->len, 6);
  fail_unless_equals_string (g_ptr_array_index (sentences, 0),
      "region-strength: 0.5 has no effect: region-effect is not mask");
  fail_unless_equals_string (g_ptr_array_index (sentences, 1),
      "region-blocks: 9 has no effect: region-effect is neither pixelate nor noise-pixelate");
  fail_unless_equals_string (g_ptr_array_index (sentences, 2),
      "region-epsilon: 2 has no effect: region-effect is not noise-pixelate");
  fail_unless_equals_string (g_ptr_array_index (sentences, 3),
      "region-seed: 5 has no effect: region-effect is not noise-pixelate");
  fail_unless_equals_string (g_ptr_array_index (sentences, 4),
      "region-smooth: 8 has no effect: apply-to is regions, which are covered at once");
  fail_unless_equals_string (g_ptr_array_index (sentences, 5),
      "region-hold: 7 has no effect: region-sources has no metadata");
  /* The mask does nothing beside another effect, and its size nothing beside a strength. */
  g_ptr_array_set_size (sentences, 0);
  g_free (properties->region.regions);
  properties->region = (ConvolveRegionSettings){ .apply_to = CONVOLVE_APPLY_TO_REGIONS,
    .sources = CONVOLVE_REGION_SOURCES_ALL,
    .strength = -1,
    .effect = CONVOLVE_REGION_EFFECT_PIXELATE,
    .blocks = 3,
    .epsilon = 0.5,
    .color = 0xff000000,
    .hold = 500 * GST_MSECOND };
  properties->mask.sigma = 2;
  properties->mask.mix = 0.5;
  convolve_properties_add_idle (properties, sentences);
  fail_unless_equals_int (sentences->len, 2);
  fail_unless_equals_string (g_ptr_array_index (sentences, 0), "sigma: 2 has no effect: region-effect is not mask");
  fail_unless_equals_string (g_ptr_array_index (sentences, 1), "mix: 0.5 has no effect: region-effect is not mask");
  g_ptr_array_set_size (sentences, 0);
  properties->region.effect = CONVOLVE_REGION_EFFECT_MASK;
  properties->region.strength = 0.2;
  convolve_properties_add_idle (properties, sentences);
  fail_unless_equals_int (sentences->len, 2);
  fail_unless_equals_string (g_ptr_array_index (sentences, 0),
      "sigma: 2 has no effect: region-strength gives each box a blur of its own");
  fail_unless_equals_string (g_ptr_array_index (sentences, 1),
      "mix: 0.5 has no effect: region-strength gives each box a blur of its own");
  /* By default regions hide, whatever the mask is. */
  g_ptr_array_set_size (sentences, 0);
  properties->region.effect = CONVOLVE_REGION_EFFECT_AUTO;
  properties->region.strength = -1;
  convolve_properties_add_idle (properties, sentences);
  fail_unless_equals_int (sentences->len, 2);
  fail_unless_equals_string (g_ptr_array_index (sentences, 0),
      "sigma: 2 has no effect: region-effect=auto pixelates regions, and region-effect=mask takes the mask");
  g_ptr_array_set_size (sentences, 0);
  properties->region.apply_to = CONVOLVE_APPLY_TO_OUTSIDE_REGIONS;
  properties->region.blocks = 6;
  properties->region.smooth = 8;
  convolve_properties_add_idle (properties, sentences);
  fail_unless_equals_int (sentences->len, 1);
  fail_unless_equals_string (g_ptr_array_index (sentences, 0),
      "region-blocks: 6 has no effect: region-effect=auto takes the mask here, and region-effect=pixelate takes blocks");
}

GST_END_TEST;

/* GLib newer than 2.74 lets NaN pass, and no spec can leave out what lies between -1 and 0. */
GST_START_TEST (strength_of_regions)
{
  static const gdouble good[] = { -1, 0, 0.25, 1 }, bad[] = { -2, -0.5, -1e-300, 1.5, NAN, INFINITY };
  g_autoptr (ConvolveProperties) properties = convolve_properties_new (&convolve_mask_properties);

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    properties->region.strength = good[i];
    fail_unless (convolve_region_settings_check (&properties->region, &properties->mask, NULL), "%g", good[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;

    properties->region.strength = bad[i];
    fail_if (convolve_region_settings_check (&properties->region, &properties->mask, &error), "%g", bad[i]);
    fail_unless (g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS)
            && g_str_has_prefix (error->message, "region-strength: ")
            && g_str_has_suffix (error->message, " is neither -1 nor between 0 and 1"),
        "%s", error->message);
  }
}

GST_END_TEST;

/* What auto is, and that a chosen effect is itself. */
GST_START_TEST (effects)
{
  static const struct
  {
    ConvolveApplyTo apply_to;
    gdouble strength;
    ConvolveRegionEffect effect, expected;
  } rows[] = {
    { CONVOLVE_APPLY_TO_REGIONS, -1, CONVOLVE_REGION_EFFECT_AUTO, CONVOLVE_REGION_EFFECT_PIXELATE },
    { CONVOLVE_APPLY_TO_REGIONS, 0, CONVOLVE_REGION_EFFECT_AUTO, CONVOLVE_REGION_EFFECT_MASK },
    { CONVOLVE_APPLY_TO_REGIONS, 0.01, CONVOLVE_REGION_EFFECT_AUTO, CONVOLVE_REGION_EFFECT_MASK },
    { CONVOLVE_APPLY_TO_OUTSIDE_REGIONS, -1, CONVOLVE_REGION_EFFECT_AUTO, CONVOLVE_REGION_EFFECT_MASK },
    { CONVOLVE_APPLY_TO_OUTSIDE_REGIONS, 0.2, CONVOLVE_REGION_EFFECT_AUTO, CONVOLVE_REGION_EFFECT_MASK },
    { CONVOLVE_APPLY_TO_REGIONS, 0, CONVOLVE_REGION_EFFECT_MASK, CONVOLVE_REGION_EFFECT_MASK },
    { CONVOLVE_APPLY_TO_REGIONS, 0.2, CONVOLVE_REGION_EFFECT_FILL, CONVOLVE_REGION_EFFECT_FILL },
    { CONVOLVE_APPLY_TO_OUTSIDE_REGIONS, 0, CONVOLVE_REGION_EFFECT_PIXELATE, CONVOLVE_REGION_EFFECT_PIXELATE },
  };
  g_autoptr (ConvolveProperties) standard = convolve_properties_new (&convolve_mask_properties);

  fail_unless_equals_int (standard->region.effect, CONVOLVE_REGION_EFFECT_AUTO);
  fail_unless_equals_int (standard->region.blocks, 3);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    ConvolveRegionSettings settings = { .apply_to = rows[i].apply_to,
      .strength = rows[i].strength,
      .effect = rows[i].effect };

    fail_unless_equals_int (convolve_region_settings_effect (&settings), rows[i].expected);
  }
}

GST_END_TEST;

/* Regions that can come from nowhere are told, once, and what may come is not. */
GST_START_TEST (regions_from_nowhere)
{
  static const struct
  {
    ConvolveApplyTo apply_to;
    guint sources;
    const gchar *regions, *sentences;
  } rows[] = {
    { CONVOLVE_APPLY_TO_REGIONS, 0, NULL,
        "apply-to: regions has no effect: region-sources names none of text, roi, analytics and alpha" },
    { CONVOLVE_APPLY_TO_REGIONS, 0, "1,2,3,4",
        "apply-to: regions has no effect: region-sources names none of text, roi, analytics and alpha\n"
        "regions: \"1,2,3,4\" has no effect: region-sources has no text" },
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCE_TEXT, NULL,
        "apply-to: regions has no effect: region-sources is text, and regions has no box" },
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCE_TEXT, " ;\n; ",
        "apply-to: regions has no effect: region-sources is text, and regions has no box" },
    { CONVOLVE_APPLY_TO_OUTSIDE_REGIONS, CONVOLVE_REGION_SOURCE_TEXT, "",
        "apply-to: outside-regions has the effect of frame: region-sources is text, and regions has no box" },
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCE_TEXT, "1,2,3", "" }, /* an error */
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCE_TEXT, "1,2,3,4", "" },
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCE_ROI, NULL, "" },
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCE_ALPHA, NULL, "" },
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCES_ALL, NULL, "" },
    { CONVOLVE_APPLY_TO_REGIONS, CONVOLVE_REGION_SOURCES_METADATA, "1,2,3,4",
        "regions: \"1,2,3,4\" has no effect: region-sources has no text" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);
    g_autofree gchar *text = NULL;
    g_autoptr (ConvolveProperties) properties = convolve_properties_new (&convolve_mask_properties);

    properties->region.apply_to = rows[i].apply_to;
    properties->region.sources = rows[i].sources;
    properties->region.regions = g_strdup (rows[i].regions);
    convolve_properties_add_idle (properties, sentences);
    g_ptr_array_add (sentences, NULL);
    text = g_strjoinv ("\n", (gchar **) sentences->pdata);
    fail_unless_equals_string (text, rows[i].sentences);
  }
}

GST_END_TEST;

TCase *
region_texts (void)
{
  TCase *tcase = tcase_create ("regions");

  tcase_set_timeout (tcase, 300);
  tcase_add_test (tcase, boxes);
  tcase_add_test (tcase, types);
  tcase_add_test (tcase, identities);
  tcase_add_test (tcase, random_identities);
  tcase_add_test (tcase, random_texts);
  tcase_add_test (tcase, boxes_as_arrays);
  tcase_add_test (tcase, regions_without_effect);
  tcase_add_test (tcase, effects);
  tcase_add_test (tcase, strength_of_regions);
  tcase_add_test (tcase, regions_from_nowhere);
  tcase_add_test (tcase, image_files);
  return tcase;
}
