/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of what goes together in plugin/frames.md. The program sets every two of the features below on one element,
 * pushes frames, and writes down what the element says. CUDACONVOLVE_PAGE is the file with the table. With
 * CUDACONVOLVE_WRITE the table is written, and otherwise a stale table fails.
 *
 * What the frames then look like is the subject of check_windows, check_regions and check_layer_element.
 */
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <string.h>

#include "support/element.h"
#include "support/file.h"
#include "support/numpy.h"

#define BEGIN "<!-- table of pairs -->\n"
#define END "<!-- end -->\n"
#define LAYER_FILE "layer.npy"

/* Only one feature of a dimension can be set at a time. */
typedef enum
{
  FIELDS = 1,
  VIEWS,
  OTHER
} Dimension;

typedef struct
{
  const gchar *title, *shown; /* in the table; without a title the feature is tried alone */
  const gchar *properties;    /* of the element, or NULL */
  const gchar *caps;          /* more fields of the caps, or NULL */
  Dimension dimension;
  gboolean crop, planes;
  gboolean mask, layer; /* the properties are those of cudaconvolve, or of cudaconvlayer */
} Feature;

/* The layer takes GRAY8 frames, so that a format of several planes is a feature that all others are tried with. */
static const Feature features[] = {
  { "regions", "`apply-to=regions`", "apply-to=regions regions=8,8,16,16", .dimension = OTHER, .mask = TRUE },
  { "layer", "the element `cudaconvlayer`", "location=" LAYER_FILE, .dimension = OTHER, .layer = TRUE },
  { "fields", "`interlace-mode=interleaved`", .caps = "interlace-mode=interleaved", .dimension = FIELDS },
  { "single fields", "`interlace-mode=alternate`", .caps = "interlace-mode=alternate", .dimension = FIELDS },
  { "views", "`multiview-mode=side-by-side`", .caps = "multiview-mode=side-by-side,views=2", .dimension = VIEWS },
  { "views in rows", "`multiview-mode=row-interleaved`", .caps = "multiview-mode=row-interleaved,views=2",
      .dimension = VIEWS },
  { "crop", "GstVideoCropMeta", .dimension = OTHER, .crop = TRUE },
  { "iterations", "`iterations=3`", "iterations=3", .dimension = OTHER, .mask = TRUE },
  { "planes", "I420 and other formats of several planes", .dimension = OTHER, .planes = TRUE },
  { "in flight", "`frames-in-flight=3`", "frames-in-flight=3", .dimension = OTHER },
  { NULL, "`multiview-mode=checkerboard`, `side-by-side-quincunx`", .caps = "multiview-mode=checkerboard,views=2",
      .dimension = VIEWS },
  { NULL, "`multiview-mode=separated`", .caps = "multiview-mode=separated,views=2", .dimension = VIEWS },
  { NULL, "`interlace-mode=fields`", .caps = "interlace-mode=fields", .dimension = FIELDS },
};

/* --- one pair --- */

static GPtrArray *said; /* what the element said of a pair, as the table shows it */

/* Adds a sentence, once. */
static void
add_sentence (const gchar *kind, const gchar *text)
{
  gchar *sentence = g_strdup_printf ("%s: `%s`", kind, text);

  if (g_ptr_array_find_with_equal_func (said, sentence, g_str_equal, NULL))
    g_free (sentence);
  else
    g_ptr_array_add (said, sentence);
}

static void
hear (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level == GST_LEVEL_WARNING && g_str_equal (gst_debug_category_get_name (category), "cudaconvolve"))
    add_sentence ("warning", gst_debug_message_get (message));
}

static const gchar *
domain_name (const GError *error)
{
  if (g_error_matches (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS))
    return "LIBRARY/SETTINGS";
  fail_unless (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT), "%s", error->message);
  return "STREAM/FORMAT";
}

static gboolean
take_errors (GstBus *bus)
{
  gboolean any = FALSE;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR))) {
    g_autofree gchar *kind = NULL;
    g_autoptr (GError) error = NULL;

    gst_message_parse_error (message, &error, NULL);
    kind = g_strdup_printf ("error %s", domain_name (error));
    add_sentence (kind, error->message);
    gst_message_unref (message);
    any = TRUE;
  }
  return any;
}

static GstCaps *
caps_of (const Feature *a, const Feature *b)
{
  g_autoptr (GString) text = g_string_new ("video/x-raw");
  const gchar *more[] = { a->caps, b->caps };

  if (g_strcmp0 (a->caps, "interlace-mode=alternate") == 0 || g_strcmp0 (b->caps, "interlace-mode=alternate") == 0)
    g_string_append (text, "(format:Interlaced)");
  g_string_append_printf (text, ",format=%s,width=64,height=48,framerate=25/1",
      a->planes || b->planes ? "I420" : "GRAY8");
  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    if (more[i])
      g_string_append_printf (text, ",%s", more[i]);
  return gst_caps_from_string (text->str);
}

static GstBuffer *
frame_of (const GstVideoInfo *info, gboolean cropped)
{
  GstBuffer *frame = frame_new (info, FRAME_PLAIN, 1);

  if (cropped) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);

    crop->x = crop->y = 4;
    crop->width = crop->height = 12;
  }
  return frame;
}

/* Runs both features on one element; a may be b. The frames pass unless the element says why not. */
static void
try_pair (const Feature *a, const Feature *b)
{
  g_autofree gchar *line = g_strdup_printf ("%s %s %s", a->layer || b->layer ? "cudaconvlayer" : "cudaconvolve",
      a->properties ? a->properties : "", b->properties && a != b ? b->properties : "");
  GstElement *element = gst_object_ref_sink (gst_parse_launch (line, NULL));
  GstBus *bus = gst_bus_new ();
  g_autoptr (GstCaps) caps = a == b ? caps_of (a, &(Feature){ .caps = NULL }) : caps_of (a, b);
  GstFlowReturn flow = GST_FLOW_OK;
  GstHarness *harness;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  gst_element_set_bus (element, bus);
  harness = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps (harness, gst_caps_ref (caps));
  for (guint i = 0; i < 4 && flow == GST_FLOW_OK; i++)
    flow = gst_harness_push (harness, frame_of (&info, a->crop || b->crop));
  fail_unless (take_errors (bus) == (flow != GST_FLOW_OK), "%s with %s: %s", a->shown, b->shown,
      gst_flow_get_name (flow));
  gst_harness_teardown (harness);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
}

/* --- the table --- */

/* The cell of a pair: "yes", or the numbers of the sentences; empty where no element can have both. */
static void
append_cell (GString *table, GPtrArray *sentences, const Feature *a, const Feature *b)
{
  g_string_append (table, " |");
  if (a != b && a->dimension == b->dimension && a->dimension != OTHER)
    return;
  if ((a->mask || b->mask) && (a->layer || b->layer))
    return;
  g_ptr_array_set_size (said, 0);
  try_pair (a, b);
  for (guint i = 0; i < said->len; i++) {
    guint index;

    if (!g_ptr_array_find_with_equal_func (sentences, g_ptr_array_index (said, i), g_str_equal, &index)) {
      index = sentences->len;
      g_ptr_array_add (sentences, g_strdup (g_ptr_array_index (said, i)));
    }
    g_string_append_printf (table, "%s %u", i > 0 ? "," : "", index + 1);
  }
  if (said->len == 0)
    g_string_append (table, " yes");
}

static gchar *
make_table (void)
{
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);
  GString *table = g_string_new ("| | alone");

  for (guint i = 0; i < G_N_ELEMENTS (features) && features[i].title; i++)
    g_string_append_printf (table, " | %s", features[i].title);
  g_string_append (table, " |\n| --- | ---");
  for (guint i = 0; i < G_N_ELEMENTS (features) && features[i].title; i++)
    g_string_append (table, " | ---");
  g_string_append (table, " |\n");
  for (guint i = 0; i < G_N_ELEMENTS (features); i++) {
    const Feature *row = &features[i];

    g_string_append_printf (table, "| %s%s%s", row->title ? row->title : "", row->title ? ": " : "", row->shown);
    append_cell (table, sentences, row, row);
    for (guint k = 0; k < G_N_ELEMENTS (features) && features[k].title; k++)
      if (!row->title || k == i)
        g_string_append (table, " |");
      else
        append_cell (table, sentences, row, &features[k]);
    g_string_append (table, " |\n");
  }
  g_string_append (table, "\n| | what the element says |\n| --- | --- |\n");
  for (guint i = 0; i < sentences->len; i++)
    g_string_append_printf (table, "| %u | %s |\n", i + 1, (gchar *) g_ptr_array_index (sentences, i));
  return g_string_free (table, FALSE);
}

/* --- the file --- */

static gchar *
with_table (const gchar *readme, const gchar *table)
{
  const gchar *begin = strstr (readme, BEGIN), *end = begin ? strstr (begin, END) : NULL;

  if (!end) {
    fail ("the file has no place for the table: \"%s\" and \"%s\"", BEGIN, END);
    return NULL;
  }
  begin += strlen (BEGIN);
  return g_strdup_printf ("%.*s%s%s", (int) (begin - readme), readme, table, end);
}

/* An identity as a layer of one channel, in the current folder. */
static void
write_layer (void)
{
  const gfloat weights[9] = { 0, 0, 0, 0, 1 };
  g_autoptr (GByteArray) bytes = numpy_floats (NUMPY_HEADER ("<f4", "False", "(1, 1, 3, 3)"), weights, 9);

  fail_unless (check_write_file (LAYER_FILE, bytes));
}

GST_START_TEST (pairs)
{
  const gchar *name = g_getenv ("CUDACONVOLVE_PAGE");
  gboolean write = g_getenv ("CUDACONVOLVE_WRITE") != NULL;
  g_autofree gchar *readme = NULL, *folder = check_folder (), *wanted = NULL, *table = NULL;

  fail_unless (name && g_file_get_contents (name, &readme, NULL, NULL), "CUDACONVOLVE_PAGE names no file");
  fail_unless (g_chdir (folder) == 0);
  write_layer ();
  said = g_ptr_array_new_with_free_func (g_free);
  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_WARNING);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (hear, NULL, NULL);
  table = make_table ();
  gst_debug_remove_log_function (hear);
  g_ptr_array_unref (said);

  wanted = with_table (readme, table);
  if (write)
    fail_unless (g_file_set_contents (name, wanted, -1, NULL), "%s cannot be written", name);
  else
    fail_unless (g_str_equal (readme, wanted), "%s is stale: ninja -C build pairs writes this table:\n%s", name, table);
  fail_unless (g_unlink (LAYER_FILE) == 0 && g_chdir ("/") == 0);
  check_remove_folder (g_steal_pointer (&folder));
}
GST_END_TEST;

static Suite *
pairs_suite (void)
{
  Suite *suite = suite_create ("pairs");
  TCase *tc = tcase_create ("pairs");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, pairs);
  suite_add_tcase (suite, tc);
  return suite;
}

GST_CHECK_MAIN (pairs);
