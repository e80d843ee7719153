/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layers that change while frames flow, and layers that are refused, before the first frame and later. */
#include <gst/check/gstcheck.h>

#include <glib/gstdio.h>
#include <string.h>

#include "element/layer/check_layer_element.h"

/* New caps, then a new layer for each frame with another size and format. */
GST_START_TEST (test_changes)
{
  static const gint sizes[][2] = { { 30, 20 }, { 11, 40 }, { 64, 9 }, { 30, 20 } };
  GRand *random = g_rand_new_with_seed (seed);
  LayerCase layer = layer_case_random (random, folder, 3, 3);
  g_autofree gchar *line = layer_case_line (&layer);
  Run run = layer_run_start (line, "RGB", 30, 20);

  for (guint i = 0; i < 12; i++) {
    run_caps (&run, i % 3 ? "RGB" : "GBR", sizes[i % 4][0], sizes[i % 4][1]);
    layer_run_check (&run, &layer, FRAME_PLAIN, "new caps");

    layer_case_clear (&layer);
    layer = layer_case_random (random, folder, i % 2 ? 1 : 12, 3);
    layer.mosaic = layer.filters > 4;
    layer.padding = MAX (layer.padding, 2);
    layer.dilation[0] = layer.dilation[1] = 1;
    layer.pool_size = 1 + (layer.padding > 2);
    layer.stride = i % 2 + 1;
    layer_case_set (&layer, run.element);
    layer_run_check (&run, &layer, FRAME_PLAIN, "new layer");
  }
  layer_run_expect_none (&run);
  run_stop (&run);
  layer_case_clear (&layer);
  g_rand_free (random);
}
GST_END_TEST;

static GstPadProbeReturn
take_bgr (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);
  g_autoptr (GstCaps) bgr = gst_caps_from_string ("video/x-raw,format=BGR");
  GstCaps *caps;

  if (!(probe->type & GST_PAD_PROBE_TYPE_PUSH))
    return GST_PAD_PROBE_OK;
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    gst_query_set_caps_result (query, bgr);
    return GST_PAD_PROBE_HANDLED;
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_parse_accept_caps (query, &caps);
    gst_query_set_accept_caps_result (query, gst_caps_is_subset (caps, bgr));
    return GST_PAD_PROBE_HANDLED;
  }
  return GST_PAD_PROBE_OK;
}

/* Downstream's event comes while the element settles how many frames are in flight. */
static GstBusSyncReply
reconfigure_at_latency (GstBus *bus, GstMessage *message, gpointer harness)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_LATENCY)
    gst_harness_push_upstream_event (harness, gst_event_new_reconfigure ());
  return GST_BUS_PASS;
}

static GstPadProbeReturn
note_format (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GString *order = data;
  GstCaps *caps;

  if (GST_IS_BUFFER (probe->data)) {
    g_string_append (order, "frame ");
  } else if (GST_EVENT_TYPE (probe->data) == GST_EVENT_CAPS) {
    gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (probe), &caps);
    g_string_append_printf (order, "%s ", gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"));
  }
  return GST_PAD_PROBE_OK;
}

/*
 * Downstream takes another format by now, and its event comes while a frame begins, after the time when frames under way
 * leave for such an event. These frames come before the new caps all the same.
 */
GST_START_TEST (test_new_format_downstream)
{
  GRand *random = g_rand_new_with_seed (seed);
  LayerCase layer = layer_case_random (random, folder, 3, 3);
  g_autofree gchar *plain = layer_case_line (&layer), *line = g_strdup_printf ("frames-in-flight=3 %s", plain);
  Run run = layer_run_start (line, "RGB", 40, 30);
  GString *order = g_string_new (NULL);
  const gchar *expected;

  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note_format,
      order, NULL);
  for (guint i = 0; i < 4; i++) {
    if (i == 2) {
      gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, take_bgr, NULL, NULL);
      gst_bus_set_sync_handler (run.bus, reconfigure_at_latency, run.harness, NULL);
      g_object_set (run.element, "frames-in-flight", 4, NULL);
    }
    fail_unless_equals_int (gst_harness_push (run.harness, frame_new (&run.info, FRAME_PLAIN, i)), GST_FLOW_OK);
  }
  fail_unless (gst_harness_push_event (run.harness, gst_event_new_eos ()));
  /* The CPU keeps no frames, so it has no latency that changes. */
  expected = layer_run_on_device (&run) ? "frame frame BGR frame frame " : "frame frame frame frame ";
  fail_unless_equals_string (order->str, expected);
  g_string_free (order, TRUE);
  run_stop (&run);
  layer_case_clear (&layer);
  g_rand_free (random);
}
GST_END_TEST;

static gpointer
keep_changing (gpointer data)
{
  gpointer *changes = data;
  gint *stop = changes[3];

  for (gint i = 0; !g_atomic_int_get (stop); i++) {
    layer_case_set (changes[1 + i % 2], changes[0]);
    g_usleep (200);
  }
  return NULL;
}

/* Another thread switches between two layers with different outputs; each frame is made by one of them. */
GST_START_TEST (test_changes_from_another_thread)
{
  GRand *random = g_rand_new_with_seed (seed);
  LayerCase one = layer_case_random (random, folder, 3, 3), other = layer_case_random (random, folder, 9, 3);
  gint stop = 0;
  gpointer changes[4] = { NULL, &one, &other, &stop };
  g_autofree gchar *line = NULL;
  GThread *thread;
  guint seen = 0;
  Run run;

  one.padding = other.padding = 4;
  for (gint i = 0; i < 2; i++)
    one.dilation[i] = other.dilation[i] = 1;
  other.stride = 3;
  other.mosaic = TRUE;
  line = layer_case_line (&one);
  run = layer_run_start (line, "RGB", 24, 18);
  changes[0] = run.element;
  thread = g_thread_new ("changes", keep_changing, changes);
  for (gint i = 0; i < 400; i++) {
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed + i), *out;
    GstVideoInfo info;
    gboolean mosaic;

    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    info = layer_run_info (&run);
    mosaic = GST_VIDEO_INFO_FORMAT (&info) == GST_VIDEO_FORMAT_GRAY8;
    layer_case_check (mosaic ? &other : &one, &run.info, in, &info, out, "one of two");
    seen |= 1 << mosaic;
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  g_atomic_int_set (&stop, 1);
  g_thread_join (thread);
  fail_unless_equals_int (seen, 3);
  layer_run_expect_none (&run);
  run_stop (&run);
  layer_case_clear (&one);
  layer_case_clear (&other);
  g_rand_free (random);
}
GST_END_TEST;

/* A bad layer makes one warning, and the last good layer or mask stays. */
GST_START_TEST (test_bad_while_playing)
{
  static const gfloat weights[25] = { 0.5, 0.25 };
  LayerCase good = layer_case_plain (folder, 1, 3, 1, 1, weights);
  LayerCase large = layer_case_plain (folder, 1, 1, 5, 5, weights);
  g_autofree gchar *line = layer_case_line (&good), *junk = g_build_filename (folder, "junk", NULL);
  Run run = layer_run_start (line, "BGR", 12, 3);

  fail_unless (g_file_set_contents (junk, "nothing", -1, NULL));
  layer_run_check (&run, &good, FRAME_PLAIN, "good");
  layer_run_expect_none (&run);

#define STAYS(text, ...) \
  g_object_set (run.element, __VA_ARGS__, NULL); \
  layer_run_check (&run, &good, FRAME_PLAIN, "the good one stays"); \
  layer_run_expect (&run, GST_MESSAGE_WARNING, text); \
  g_object_set (run.element, "n-threads", 1, NULL); \
  layer_run_check (&run, &good, FRAME_PLAIN, "the good one stays"); \
  layer_run_expect_none (&run); \
  layer_case_set (&good, run.element); \
  layer_run_check (&run, &good, FRAME_PLAIN, "good again"); \
  layer_run_expect_none (&run)
  STAYS ("junk: the file is neither a .npy nor a .npz", "location", junk);
  STAYS ("/nowhere: ", "location", "/nowhere");
  STAYS ("the frames are BGR, and a layer of 1 channel takes GRAY8", "location", large.location);
  STAYS ("padding: \"much\" is not", "padding", "much");
  STAYS ("channels: \"1\" is not one of 0 to 0", "channels", "0,1");
  STAYS ("channels: 2 feature maps make no", "channels", "0,0");
  STAYS ("frames of 12x3 give no output: a pooling height of 4", "pool-size", "4");
  STAYS ("pool-size: \"0\" is neither a number of 1 to", "pool-size", "0");
  STAYS ("stride: \"1,2,3\" is neither a number", "stride", "1,2,3");
  STAYS ("location: no file is set", "location", "");
  STAYS ("divisor: 0 is not a number", "divisor", 0.0);
  run_stop (&run);
  g_unlink (junk);
  layer_case_clear (&good);
  layer_case_clear (&large);
}
GST_END_TEST;

/* Where downstream takes only one size, a layer with another output is refused. */
GST_START_TEST (test_refused_downstream)
{
  static const gfloat weights[9] = { 0.5, 0.25, 0, 0, 0, 0, 0, 0, -0.5 };
  LayerCase good = layer_case_plain (folder, 1, 1, 3, 3, weights);
  LayerCase other = layer_case_plain (folder, 1, 1, 1, 1, weights);
  g_autofree gchar *line = layer_case_line (&good);
  Run run = layer_run_start (line, "GRAY8", 12, 12);

  gst_harness_set_sink_caps (run.harness, frame_caps ("GRAY8", 10, 10, NULL));
  layer_run_check (&run, &good, FRAME_PLAIN, "good");
  layer_case_set (&other, run.element);
  layer_run_check (&run, &good, FRAME_PLAIN, "the one that is taken stays");
  layer_run_expect (&run, GST_MESSAGE_WARNING, "the next element takes none of the frames");
  g_object_set (run.element, "n-threads", 1, NULL);
  layer_run_check (&run, &good, FRAME_PLAIN, "the one that is taken stays");
  layer_run_expect_none (&run);
  good.offset = 0.25;
  layer_case_set (&good, run.element);
  layer_run_check (&run, &good, FRAME_PLAIN, "good again");
  layer_run_expect_none (&run);
  run_stop (&run);
  layer_case_clear (&good);
  layer_case_clear (&other);
}
GST_END_TEST;

/* --- errors before the first frame --- */

GST_START_TEST (test_bad_before_playing)
{
  static const gfloat weights[18] = { 1 };
  LayerCase layer = layer_case_plain (folder, 6, 3, 1, 1, weights);
  LayerCase one = layer_case_plain (folder, 4, 1, 1, 1, weights);
  struct
  {
    const gchar *location, *more, *text;
  } rows[] = {
    { layer.location, "",
        "6 feature maps make no GRAY8, RGB or RGBA frame; choose 1, 3 or 4 of 6, or set mosaic=true" },
    { layer.location, "channels=6", "channels: \"6\" is not one of 0 to 5" },
    { layer.location, "mosaic=true padding=some", "padding: \"some\"" },
    { layer.location, "mosaic=true divisor=1e-60", "divisor: 1e-60" },
    { layer.location, "mosaic=true groups=3", "groups: 3 groups of 3 channels are 9 channels, and frames have 1 or 3" },
    { layer.location, "mosaic=true pool-padding=1,x", "pool-padding: \"1,x\" is not a number up to 255" },
    { layer.location, "mosaic=true pool-padding=3 pool-size=2",
        "pool-padding: \"3\" is not less than pool-size, which is 2,2" },
    { one.location, "groups=3 mosaic=true", "groups: the file has 4 filters, which 3 groups cannot share evenly" },
    { "/nowhere/at.npy", "", "location: /nowhere/at.npy: " },
    { folder, "", ": not a regular file" },
    { "\"\"", "", "location: no file is set; the element needs a .npy or .npz file" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *line = g_strdup_printf ("location=%s %s", rows[i].location, rows[i].more);
    Run run = layer_run_start (line, "RGB", 8, 8);

    fail_unless (run.harness == NULL, "%s started", line);
    layer_run_expect (&run, GST_MESSAGE_ERROR, rows[i].text);
    run_stop (&run);
  }
  layer_case_clear (&one);
  layer_case_clear (&layer);
}
GST_END_TEST;

/* The layer runs as the variant that is asked for; a variant on a device that there is not is an error. */
GST_START_TEST (test_variants)
{
  static const gfloat weights[] = { 1 };
  static const gchar *const variants[] = { "direct", "auto", "cpu", "cpu-reference" };
  LayerCase layer = layer_case_plain (folder, 1, 1, 1, 1, weights);
  gboolean has_device = TRUE; /* the fake one, or a real one */

  for (guint i = 0; i < G_N_ELEMENTS (variants); i++) {
    g_autofree gchar *line = g_strdup_printf ("location=%s kernel-variant=%s", layer.location, variants[i]);
    g_autofree gchar *variant = NULL;
    GstStructure *stats;
    Run run = layer_run_start (line, "GRAY8", 8, 8);

    if (i == 0 && !run.harness) {
      fail_if (over_device);
      has_device = FALSE;
      run_expect (&run, HEARD, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
          "kernel-variant: direct cannot run: ", NULL);
      run_stop (&run);
      continue;
    }
    layer_run_check (&run, &layer, FRAME_PLAIN, variants[i]);
    g_object_get (run.element, "active-variant", &variant, "stats", &stats, NULL);
    fail_unless (g_str_equal (variants[i], "auto") || g_str_equal (variant, variants[i]), "%s: %s", variants[i],
        variant);
    fail_unless_equals_string (gst_structure_get_string (stats, "backend"), i < 2 && has_device ? "cuda" : "cpu");
    gst_structure_free (stats);
    run_stop (&run);
  }
  layer_case_clear (&layer);
}
GST_END_TEST;

TCase *
layer_changes (void)
{
  TCase *tc = tcase_create ("changes");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_new_format_downstream);
  tcase_add_test (tc, test_changes_from_another_thread);
  tcase_add_test (tc, test_bad_while_playing);
  tcase_add_test (tc, test_refused_downstream);
  tcase_add_test (tc, test_bad_before_playing);
  tcase_add_test (tc, test_variants);
  return tc;
}
