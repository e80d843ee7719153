/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of cudaconvolve-film beside files that are written here byte by byte: chapters, edit lists, Matroska, and checksums. */
#include <string.h>

#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>

#include "../../examples/film/chapters.h"
#include "../../examples/film/edits.h"
#include "../../examples/film/golden.h"
#include "../../examples/film/keyframes.h"
#include "../../examples/film/matroska.h"

static gchar *folder;

static gchar *
write_file (const GByteArray *bytes)
{
  gchar *name = g_build_filename (folder, "film", NULL);

  g_assert_true (g_file_set_contents (name, (const gchar *) bytes->data, bytes->len, NULL));
  return name;
}

static guint8 *
read_file (const gchar *name, gsize *size)
{
  gchar *data;

  g_assert_true (g_file_get_contents (name, &data, size, NULL));
  return (guint8 *) data;
}

static void
add (GByteArray *to, const void *bytes, gsize size)
{
  g_byte_array_append (to, bytes, size);
}

static void
add_number (GByteArray *to, guint32 number)
{
  guint8 bytes[4];

  GST_WRITE_UINT32_BE (bytes, number);
  add (to, bytes, 4);
}

/* An atom of MP4. The content is freed. */
static void
add_atom (GByteArray *to, const gchar *name, GByteArray *content)
{
  add_number (to, content->len + 8);
  add (to, name, 4);
  add (to, content->data, content->len);
  g_byte_array_unref (content);
}

static GByteArray *
numbers (const guint32 *values, guint n)
{
  GByteArray *bytes = g_byte_array_new ();

  for (guint i = 0; i < n; i++)
    add_number (bytes, values[i]);
  return bytes;
}

#define NUMBERS(...) numbers ((const guint32[]){ __VA_ARGS__ }, sizeof ((const guint32[]){ __VA_ARGS__ }) / 4)

/*
 * An MP4 with one track of 90 ticks a second: three frames that are decoded at 0, 10 and 20, the last one for 10, and shown at 0, 60
 * and 30. So frame 2 ends at 60 + 10. The edit list has 30 ticks, in a film of 9 ticks a second: 3.
 */
static GByteArray *
make_mp4 (void)
{
  GByteArray *film = g_byte_array_new (), *moov = g_byte_array_new (), *trak = g_byte_array_new ();
  GByteArray *mdia = g_byte_array_new (), *minf = g_byte_array_new (), *stbl = g_byte_array_new (),
             *edts = g_byte_array_new ();

  add_atom (stbl, "stts", NUMBERS (0, 1, 3, 10));
  add_atom (stbl, "ctts", NUMBERS (0, 3, 1, 0, 1, 50, 1, 10));
  add_atom (minf, "stbl", stbl);
  add_atom (mdia, "mdhd", NUMBERS (0, 0, 0, 90, 30, 0));
  add_atom (mdia, "minf", minf);
  add_atom (edts, "elst", NUMBERS (0, 1, 3, 0, 0x10000));
  add_atom (trak, "tkhd", NUMBERS (7, 0, 0, 1, 0, 3, 0, 0));
  add_atom (trak, "edts", edts);
  add_atom (trak, "mdia", mdia);
  add_atom (moov, "mvhd", NUMBERS (0, 0, 0, 9, 3, 0x10000));
  add_atom (moov, "trak", trak);
  add_atom (film, "mdat", NUMBERS (1, 2, 3));
  add_atom (film, "moov", moov);
  add_atom (film, "uuid", NUMBERS (4, 5));
  return film;
}

static guint32
number_behind (const guint8 *data, gsize size, const gchar *name, guint offset)
{
  for (gsize at = 0; at + 4 + offset + 4 <= size; at++)
    if (!memcmp (data + at, name, 4))
      return GST_READ_UINT32_BE (data + at + 4 + offset);
  ck_abort_msg ("there is no %s", name);
  return 0;
}

/* The list goes on to the end of the frame that is shown last, and not beyond the end of the film. */
GST_START_TEST (edit_lists)
{
  static const struct
  {
    GstClockTime end;
    guint32 wanted; /* ninths of a second */
  } rows[] = { { 10 * GST_SECOND, 7 }, { GST_SECOND / 2, 5 }, { 0, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GByteArray *bytes = make_mp4 ();
    gchar *name = write_file (bytes);
    guint8 *data;
    gsize size;

    g_assert_true (edits_mend (name, rows[i].end, NULL));
    data = read_file (name, &size);
    g_assert_cmpuint (size, ==, bytes->len);
    g_assert_cmpuint (number_behind (data, size, "elst", 8), ==, rows[i].wanted);
    g_assert_cmpuint (number_behind (data, size, "tkhd", 20), ==, rows[i].wanted);
    g_assert_cmpuint (number_behind (data, size, "mvhd", 16), ==, rows[i].wanted);
    g_free (data);
    g_free (name);
    g_byte_array_unref (bytes);
  }
}

GST_END_TEST;

static GstToc *
make_toc (const gchar *const *titles)
{
  GstToc *toc = gst_toc_new (GST_TOC_SCOPE_GLOBAL);

  for (guint i = 0; titles[i]; i++) {
    gchar *uid = g_strdup_printf ("%u", i);
    GstTocEntry *entry = gst_toc_entry_new (GST_TOC_ENTRY_TYPE_CHAPTER, uid);

    gst_toc_entry_set_start_stop_times (entry, i * 1500 * GST_MSECOND, (i + 1) * 1500 * GST_MSECOND);
    gst_toc_entry_set_tags (entry, gst_tag_list_new (GST_TAG_TITLE, titles[i], NULL));
    gst_toc_append_entry (toc, entry);
    g_free (uid);
  }
  return toc;
}

/* Chapters come back from a file as they went in, and all else in the file stays. */
GST_START_TEST (chapters_of_mp4)
{
  static const gchar *const titles[] = { "First", "Zw\303\266lf & mehr", "Third", NULL };
  GByteArray *bytes = make_mp4 ();
  gchar *name = write_file (bytes);
  GstToc *toc = make_toc (titles), *again;
  Chapters *chapters = chapters_from_toc (toc), *back;
  GList *entries;
  guint8 *data;
  gsize size;

  g_assert_null (chapters_read (name));
  g_assert_true (chapters_write (chapters, name, NULL));
  back = chapters_read (name);
  g_assert_nonnull (back);
  g_assert_cmpuint (chapters_count (back), ==, 3);
  again = chapters_to_toc (back);
  entries = gst_toc_entry_get_sub_entries (gst_toc_get_entries (again)->data);
  for (guint i = 0; titles[i]; i++, entries = entries->next) {
    gint64 begin;
    gchar *title;

    g_assert_true (gst_toc_entry_get_start_stop_times (entries->data, &begin, NULL));
    g_assert_cmpint (begin, ==, i * 1500 * GST_MSECOND);
    g_assert_true (gst_tag_list_get_string (gst_toc_entry_get_tags (entries->data), GST_TAG_TITLE, &title));
    g_assert_cmpstr (title, ==, titles[i]);
    g_free (title);
  }
  data = read_file (name, &size);
  g_assert_cmpuint (number_behind (data, size, "mdat", 8), ==, 3);
  g_assert_cmpuint (number_behind (data, size, "uuid", 4), ==, 5);
  g_assert_cmpuint (number_behind (data, size, "elst", 8), ==, 3);
  g_free (data);
  chapters_free (back);
  chapters_free (chapters);
  gst_toc_unref (again);
  gst_toc_unref (toc);
  g_free (name);
  g_byte_array_unref (bytes);
}

GST_END_TEST;

/* A tag's text in quotation marks, and a duration of 500 ticks of a millisecond. */
GST_START_TEST (matroska)
{
  static const guint8 file[] = { 0x18, 0x53, 0x80, 0x67, 0xA9,              /* Segment, 41 bytes */
    0x15, 0x49, 0xA9, 0x66, 0x87, 0x44, 0x89, 0x84, 0x43, 0xFA, 0x00, 0x00, /* Info, Duration 500 */
    0x12, 0x54, 0xC3, 0x67, 0x98, 0x73, 0x73, 0x95, 0x67, 0xC8, 0x92, 0x44, 0x87,
    0x8F, /* Tags, Tag, SimpleTag, TagString */
    '"', '\\', '3', '0', '3', '\\', '2', '2', '6', 'l', '\\', ' ', 'a', '"', 0 };
  GByteArray *bytes = g_byte_array_new ();
  gchar *name;
  guint8 *data;
  gsize size;

  add (bytes, file, sizeof file);
  name = write_file (bytes);
  g_assert_true (matroska_mend (name, NULL, 750 * GST_MSECOND, NULL));
  data = read_file (name, &size);
  g_assert_cmpuint (size, ==, sizeof file);
  g_assert_cmpfloat (GST_READ_FLOAT_BE (data + 13), ==, 750);
  g_assert_cmpstr ((const gchar *) data + 31, ==, "\303\226l a");
  g_free (data);
  g_free (name);
  g_byte_array_unref (bytes);
}

GST_END_TEST;

GST_START_TEST (keyframes)
{
  static const struct
  {
    const gchar *text, *fault; /* NULL where there is none */
  } rows[] = {
    { "sigma=0:1,2:8", NULL },
    { "sigma=0%:1,50%:2.5,100%:1", NULL },
    { "sigma=2:1,2:8", "ascend" },
    { "sigma=0%:1,101%:2", "above 100%" },
    { "sigma=-1:1", "below 0" },
    { "bias=0:0,1:2", "range" },
    { "mask=0:1", "controlled" },
    { "sigma", "write --keyframes" },
    { "sigma=0:1,x", "write --keyframes" },
  };
  GstElement *element = gst_element_factory_make ("cudaconvolve", NULL);

  g_assert_nonnull (element);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    gchar *texts[] = { (gchar *) rows[i].text, NULL };
    GError *error = NULL;

    g_assert_true (keyframes_check (texts, element, &error) == !rows[i].fault);
    if (rows[i].fault)
      g_assert_nonnull (strstr (error->message, rows[i].fault));
    g_clear_error (&error);
  }
  gst_object_unref (element);
}

GST_END_TEST;

/* The program's clip and sums are those of the tests. */
GST_START_TEST (golden)
{
  Golden same = golden_compare ("cpu", 3, 0), none = golden_compare ("nonsense", 1, 0), cuda;

  g_assert_cmpuint (same.same, >, 30);
  g_assert_cmpuint (same.own + same.wrong, ==, 0);
  g_assert_cmpuint (none.same, ==, 0);
  g_assert_true (none.absent);
  golden_clear (&same);
  golden_clear (&none);
  /* Without a device, a variant of CUDA is not there, and box refuses masks where there is one. */
  cuda = golden_compare ("box", 1, 0);
  g_assert_cmpuint (cuda.wrong, ==, 0);
  g_assert_true (cuda.absent || (cuda.same > 0 && cuda.refused > 0));
  golden_clear (&cuda);
}

GST_END_TEST;

/* Only what is promised is compared: a variant chosen by name may be one code value off where mask-info is not reproducible. */
GST_START_TEST (golden_own)
{
  static const struct
  {
    const gchar *fault, *variant;
    gboolean own, wrong;
  } rows[] = { { "", "tensor", FALSE, FALSE }, { "own:1", "tensor", TRUE, FALSE }, { "own:2", "tensor", FALSE, TRUE },
    { "wrong:1", "tensor", FALSE, TRUE }, { "own:1", "auto", FALSE, FALSE }, { "wrong:1", "auto", FALSE, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Golden golden;

    g_setenv ("CUDACONVOLVE_FAKE", rows[i].fault, TRUE);
    golden = golden_compare (rows[i].variant, 3, 0);
    g_print ("%s over %s: %u same, %u own, %u wrong, %s\n", rows[i].variant, rows[i].fault, golden.same, golden.own,
        golden.wrong, golden.first ? golden.first : "none");
    g_assert_cmpuint (golden.same, >, 0);
    /* A format has several planes, and a row counts as own where one of their results is. */
    g_assert_true (!rows[i].own || golden.own > 0);
    g_assert_true ((golden.wrong > 0) == rows[i].wrong);
    golden_clear (&golden);
  }
  g_unsetenv ("CUDACONVOLVE_FAKE");
}

GST_END_TEST;

static void
begin (void)
{
  folder = g_dir_make_tmp ("cudaconvolve-film-XXXXXX", NULL);
}

static void
end (void)
{
  gchar *name = g_build_filename (folder, "film", NULL);

  g_unlink (name);
  g_rmdir (folder);
  g_free (name);
  g_free (folder);
}

static Suite *
film_suite (void)
{
  Suite *suite = suite_create ("film");
  TCase *tests = tcase_create ("all");

  tcase_set_timeout (tests, 120);
  tcase_add_checked_fixture (tests, begin, end);
  tcase_add_test (tests, edit_lists);
  tcase_add_test (tests, chapters_of_mp4);
  tcase_add_test (tests, matroska);
  tcase_add_test (tests, keyframes);
  tcase_add_test (tests, golden);
  if (g_getenv ("CUDACONVOLVE_OVER_DEVICE"))
    tcase_add_test (tests, golden_own);
  suite_add_tcase (suite, tests);
  return suite;
}

GST_CHECK_MAIN (film)
