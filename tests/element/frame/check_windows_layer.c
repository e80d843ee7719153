/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A layer takes each frame as one picture, and says so where a mask would take parts. What no plan can take is refused. */
#include <string.h>

#include "element/frame/check_windows.h"
#include "element/layer/layer_case.h"
#include "support/run.h"

/* What the layer makes of a frame with these caps. */
static GByteArray *
bytes_of_layer (const gchar *line, const gchar *more, gboolean crop)
{
  GstVideoInfo info = info_with ("GRAY8", 32, 16, more);
  GstHarness *harness = harness_new_line (line);
  GByteArray *bytes = NULL;

  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = random_frame (&info, 0), *out;
    GstVideoInfo made;
    GstCaps *caps;

    if (crop) {
      GstVideoCropMeta *meta = gst_buffer_add_video_crop_meta (in);

      meta->width = meta->height = 8;
    }
    out = push_and_pull (harness, in);
    caps = gst_pad_get_current_caps (harness->sinkpad);
    fail_unless (gst_video_info_from_caps (&made, caps));
    gst_caps_unref (caps);
    g_clear_pointer (&bytes, g_byte_array_unref);
    bytes = rows_of (&made, out);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (harness);
  return bytes;
}

GST_START_TEST (test_layer)
{
  static const gfloat weights[9] = { 0.5, 0, 0.25, -1, 0, 0, 1, 0, 0.25 };
  static const struct
  {
    const gchar *more, *warning;
    gboolean crop;
  } rows[] = { { "interlace-mode=interleaved", "interlace-mode: the frames are interlaced", FALSE },
    { NULL, "GstVideoCropMeta has no effect: the layer", TRUE },
    { "multiview-mode=top-bottom,views=2", "multiview-mode: the layer", FALSE } };
  gchar *folder = check_folder ();
  LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
  g_autofree gchar *properties = layer_case_line (&layer), *line = g_strdup_printf ("cudaconvlayer %s", properties);
  GByteArray *expected = bytes_of_layer (line, NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GByteArray *bytes;

    listen_begin (GST_LEVEL_WARNING, rows[i].warning);
    bytes = bytes_of_layer (line, rows[i].more, rows[i].crop);
    fail_unless_equals_int (listen_end (), 1);
    fail_unless (bytes->len == expected->len && memcmp (bytes->data, expected->data, bytes->len) == 0);
    g_byte_array_unref (bytes);
  }
  g_byte_array_unref (expected);
  layer_case_clear (&layer);
  check_remove_folder (folder);
}
GST_END_TEST;

static void
expect_refusal (const gchar *line, const gchar *caps, GQuark domain, gint code, const gchar *text)
{
  Run run = run_start (line, "GRAY8", 32, 16);

  gst_harness_push_event (run.harness, gst_event_new_caps (gst_caps_from_string (caps)));
  for (gint i = 0; i < 2; i++)
    fail_unless_equals_int (run_push (&run), GST_FLOW_NOT_NEGOTIATED);
  run_expect (&run, GST_MESSAGE_ERROR, GST_MESSAGE_ERROR, domain, code, text, NULL);
  run_stop (&run);
}

/* Fields in memory of their own are refused by a mask, and frames of one field by a layer. */
GST_START_TEST (test_refused_fields)
{
  static const gfloat weights[9] = { 1 };
  gchar *folder = check_folder ();
  LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
  g_autofree gchar *line = layer_case_line (&layer), *launch = g_strdup_printf ("cudaconvlayer %s", line);

  expect_refusal ("cudaconvolve mask=box",
      "video/x-raw,format=GRAY8,width=32,height=16,framerate=25/1,interlace-mode=fields", GST_STREAM_ERROR,
      GST_STREAM_ERROR_FORMAT, "interlace-mode: the caps say fields");
  expect_refusal (launch,
      "video/x-raw(format:Interlaced),format=GRAY8,width=32,height=16,framerate=25/1,interlace-mode=alternate",
      GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "each frame is one field (interlace-mode=alternate)");
  layer_case_clear (&layer);
  check_remove_folder (folder);
}
GST_END_TEST;

TCase *
layer_tests (void)
{
  TCase *tc = tcase_create ("layer");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_layer);
  tcase_add_test (tc, test_refused_fields);
  return tc;
}
