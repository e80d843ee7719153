/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property components: which samples are convolved, and that all others keep every bit. */
#include <string.h>

#include "element/frame/check_windows.h"
#include "masks/mask_text.h"

/* The values of the property, for all formats; a format without a component leaves the component out. */
static const gchar *const yuv_names[] = { "y", "u", "v", "a" }, *const rgb_names[] = { "r", "g", "b", "a" };

static const gchar *
component_name (const GstVideoInfo *info, guint c)
{
  return GST_VIDEO_INFO_IS_RGB (info) ? rgb_names[c] : yuv_names[c];
}

/* The property's text for these components, bit c for component c; to be freed. */
static gchar *
components_text (const GstVideoInfo *info, guint chosen)
{
  GString *text = g_string_new (NULL);

  for (guint c = 0; c < 4; c++)
    if (chosen >> c & 1)
      g_string_append_printf (text, "%s%s", text->len ? "+" : "", component_name (info, c));
  return g_string_free (text, FALSE);
}

/* What the element makes of the frame with these components. */
static GstBuffer *
convolved (GstHarness *harness, const gchar *components, GstBuffer *in)
{
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");

  gst_util_set_object_arg (G_OBJECT (element), "components", components);
  gst_object_unref (element);
  push_ok (harness, gst_buffer_ref (in));
  return gst_harness_pull (harness);
}

/*
 * Every word of a frame is convolved by the one or the other of two complementary choices, and keeps all its bits with
 * the other choice.
 */
static void
check_words (const GstVideoInfo *info, GstBuffer *in, GstBuffer *chosen, GstBuffer *others, GstBuffer *all)
{
  GByteArray *rows[] = { rows_of (info, in), rows_of (info, chosen), rows_of (info, others), rows_of (info, all) };
  guint size = GST_VIDEO_INFO_COMP_DEPTH (info, 0) > 8 ? 2 : 1;

  for (guint i = 0; i < rows[0]->len; i += size) {
    const guint8 *from = rows[0]->data + i, *one = rows[1]->data + i, *other = rows[2]->data + i;
    const guint8 *full = rows[3]->data + i;

    if (!(memcmp (one, full, size) == 0 && memcmp (other, from, size) == 0)
        && !(memcmp (one, from, size) == 0 && memcmp (other, full, size) == 0))
      fail ("%s: byte %u is %u, with the others %u, with all %u, before %u", GST_VIDEO_INFO_NAME (info), i, one[0],
          other[0], full[0], from[0]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_byte_array_unref (rows[i]);
}

static void
check_choice (GstHarness *harness, const GstVideoInfo *info, guint chosen, ConvolveBoundary boundary)
{
  guint every = (1u << GST_VIDEO_INFO_N_COMPONENTS (info)) - 1;
  g_autofree gchar *text = components_text (info, chosen), *rest = components_text (info, every & ~chosen);
  g_autofree gchar *full = components_text (info, every);
  GstBuffer *in = random_frame (info, 0), *out = convolved (harness, text, in), *all = convolved (harness, full, in);
  GstBuffer *others = every == chosen ? gst_buffer_ref (in) : convolved (harness, rest, in);
  Expected expected = skewed_expected (boundary, 0.25);

  expected.chosen = chosen;
  frame_check (info, in, out, &expected, text);
  check_words (info, in, out, others, all);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  gst_buffer_unref (all);
  gst_buffer_unref (others);
}

/* Every format, every component alone, and three choices of several, changed from frame to frame. */
GST_START_TEST (test_components)
{
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len; i++) {
    gint boundary = i % CONVOLVE_N_BOUNDARIES;
    g_autofree gchar *properties =
        g_strdup_printf ("mask=\"" SKEWED "\" bias=0.25 boundary=%s", check_boundary_name (boundary));
    /* GStreamer's own unpacking of VYUY takes U for V in the last pixel of an odd row. */
    gint width = g_str_equal (formats->pdata[i], "VYUY") ? 22 : 21;
    GstVideoInfo info = info_of (formats->pdata[i], width, 7);
    GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));
    guint every = (1u << GST_VIDEO_INFO_N_COMPONENTS (&info)) - 1;

    for (guint chosen = 1; chosen <= every; chosen++)
      check_choice (harness, &info, chosen, boundary);
    gst_harness_teardown (harness);
  }
  g_ptr_array_unref (formats);
}
GST_END_TEST;

/* A new choice holds from the next frame on, and the default is as if the property did not exist. */
GST_START_TEST (test_live_components)
{
  static const guint choices[] = { 0, 1, 6, 15, 8, 0 };
  GstVideoInfo info = info_of ("A420", 34, 18);
  GstHarness *harness = windows_harness ("mask=\"" SKEWED "\"", gst_video_info_to_caps (&info));

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    g_autofree gchar *text = components_text (&info, choices[i] ? choices[i] : 7);
    GstBuffer *in = frame_new (&info, i % 2 ? FRAME_PADDED : FRAME_PLAIN, seed + i), *out;
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REPLICATE, 0);

    expected.chosen = choices[i];
    out = convolved (harness, text, in);
    frame_check (&info, in, out, &expected, text);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Edges without a sign are white in every format, unless chroma alone is chosen; edges with a sign keep their colours. */
GST_START_TEST (test_white_edges)
{
  static const gchar *const masks[] = { "sobel", "roberts", "kirsch", "laplacian:8", "sharpen" };
  static const guint choices[] = { 7, 15, 1, 3, 6, 4 };
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len * G_N_ELEMENTS (choices); i++) {
    const gchar *format = formats->pdata[i / G_N_ELEMENTS (choices)];
    gint width = g_str_equal (format, "VYUY") ? 22 : 21;
    GstVideoInfo info = info_of (format, width, 12);
    guint every = (1u << GST_VIDEO_INFO_N_COMPONENTS (&info)) - 1, number = (i + seed) % (2 * G_N_ELEMENTS (masks));
    g_autofree gchar *text = components_text (&info, choices[i % G_N_ELEMENTS (choices)]);
    g_autofree gchar *properties = g_strdup_printf ("mask=%s absolute=%s components=%s boundary=reflect bias=0.25",
        masks[number / 2], number % 2 ? "true" : "false", text);
    ConvolveSettings settings;
    ConvolveMask mask;
    GstHarness *harness;
    GstBuffer *in, *out;
    Expected expected;

    if (!(every & choices[i % G_N_ELEMENTS (choices)]))
      continue;
    convolve_settings_init (&settings);
    g_free (settings.mask);
    settings.mask = g_strdup (masks[number / 2]);
    settings.absolute = number % 2;
    settings.bias = 0.25;
    fail_unless (convolve_settings_make_mask (&settings, 1, 1, &mask, NULL));
    expected = expected_of_masks (&mask, &mask, CONVOLVE_BOUNDARY_REFLECT);
    expected.chosen = choices[i % G_N_ELEMENTS (choices)];
    harness = windows_harness (properties, gst_video_info_to_caps (&info));
    in = random_frame (&info, i);
    out = push_and_pull (harness, in);
    frame_check (&info, in, out, &expected, properties);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
    convolve_mask_clear (&mask);
    convolve_settings_clear (&settings);
  }
  g_ptr_array_unref (formats);
}
GST_END_TEST;

/* Whether an element with this variant takes a frame of the format. */
static gboolean
takes_frames (const gchar *mask, const gchar *variant, const gchar *format)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask=%s kernel-variant=%s", mask, variant);
  Run run = run_start (line, format, 40, 24);
  gboolean takes = run.harness && run_push (&run) == GST_FLOW_OK;

  run_stop (&run);
  return takes;
}

/* A variant that can find edges in gray can find them beside chroma, whose weights are others. */
GST_START_TEST (test_white_edges_by_every_variant)
{
  static const gchar *const masks[] = { "sobel", "roberts", "kirsch", "sobel-x absolute=true" };
  guint taken = 0;

  for (gint i = 0; i < convolve_variant_count (); i++)
    for (guint k = 0; k < G_N_ELEMENTS (masks); k++) {
      const gchar *variant = convolve_variant_name (i);

      if (!takes_frames (masks[k], variant, "GRAY8"))
        continue;
      taken++;
      fail_unless (takes_frames (masks[k], variant, "NV12"), "%s: %s takes GRAY8 and not NV12", masks[k], variant);
      fail_unless (takes_frames (masks[k], variant, "AYUV"), "%s: %s takes GRAY8 and not AYUV", masks[k], variant);
    }
  fail_unless (taken >= (g_getenv ("CUDACONVOLVE_OVER_DEVICE") ? 5 : 2) * G_N_ELEMENTS (masks),
      "%u pairs of a mask and a variant", taken);
}
GST_END_TEST;

static GPtrArray *said; /* warnings of the element in GStreamer's log */

static void
keep_warning (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level == GST_LEVEL_WARNING && g_str_equal (gst_debug_category_get_name (category), "cudaconvolve"))
    g_ptr_array_add (said, g_strdup (gst_debug_message_get (message)));
}

/* Pushes three frames, which must pass as they are, with one warning where one is expected. */
static void
expect_unchanged (GstHarness *harness, const GstVideoInfo *info, const gchar *warning)
{
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  g_autofree gchar *variant = NULL;

  g_ptr_array_set_size (said, 0);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = frame_new (info, FRAME_PLAIN, seed + i), *out;

    push_ok (harness, gst_buffer_ref (in));
    out = gst_harness_pull (harness);
    fail_unless (in == out);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  g_object_get (element, "active-variant", &variant, NULL);
  fail_unless_equals_string (variant, "passthrough");
  gst_object_unref (element);
  fail_unless_equals_int (said->len, 1);
  fail_unless_equals_string (said->pdata[0], warning);
}

/* Where no component is chosen of those that the frames have, they pass, and one warning says so. */
GST_START_TEST (test_no_component)
{
  GstVideoInfo info = info_of ("I420", 16, 8), rgb = info_of ("RGBx", 16, 8), gray = info_of ("GRAY8", 16, 8);
  GstHarness *harness;
  GstElement *element;

  said = g_ptr_array_new_with_free_func (g_free);
  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_WARNING);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (keep_warning, NULL, NULL);

  harness = windows_harness ("mask=box components=r+a", gst_video_info_to_caps (&info));
  element = gst_harness_find_element (harness, "cudaconvolve");
#define PASS "; they pass unchanged"
  expect_unchanged (harness, &info,
      "components: r+a chooses nothing of the frames, which are I420 and have y+u+v" PASS);
  gst_util_set_object_arg (G_OBJECT (element), "components", "a");
  expect_unchanged (harness, &info, "components: a chooses nothing of the frames, which are I420 and have y+u+v" PASS);
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&rgb));
  expect_unchanged (harness, &rgb, "components: a chooses nothing of the frames, which are RGBx and have r+g+b" PASS);
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&gray));
  g_object_set (element, "components", 0, NULL);
  expect_unchanged (harness, &gray, "components: 0 chooses nothing of the frames, which are GRAY8 and have y" PASS);

  gst_debug_remove_log_function (keep_warning);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  gst_debug_unset_threshold_for_name ("cudaconvolve");
  g_ptr_array_unref (said);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
component_tests (void)
{
  TCase *tc = tcase_create ("components");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_components);
  tcase_add_test (tc, test_live_components);
  tcase_add_test (tc, test_white_edges);
  tcase_add_test (tc, test_white_edges_by_every_variant);
  tcase_add_test (tc, test_no_component);
  return tc;
}
