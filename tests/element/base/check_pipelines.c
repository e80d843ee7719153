/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real pipelines: the shipped clip against the oracle, changes while playing, several elements in one process. */
#include <gmodule.h>
#include <gst/app/gstappsink.h>
#include <gst/check/gstcheck.h>
#include <string.h>

#include "support/frame.h"
#include "masks/mask_text.h"

static GstElement *pipeline; /* the pipeline of the test that runs */

/* Stops the pipeline of a test that failed, which the next test would otherwise wait for. */
static void
stop (void)
{
  if (pipeline)
    gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_clear_object (&pipeline);
}

static void
launch (const gchar *line)
{
  GError *error = NULL;

  stop ();
  pipeline = gst_parse_launch (line, &error);
  fail_unless (error == NULL, "%s", error ? error->message : "");
}

static GstElement *
find (const gchar *name)
{
  return gst_bin_get_by_name (GST_BIN (pipeline), name);
}

/* Runs until EOS; an error fails the check with its text. */
static void
run_to_end (void)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
  message = gst_bus_timed_pop_filtered (bus, 300 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message != NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    GError *error;
    gchar *debug;

    gst_message_parse_error (message, &error, &debug);
    fail ("%s (%s)", error->message, debug);
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* filesrc ! decodebin ! cudaconvolve on the shipped clip, each frame against the oracle. */
GST_START_TEST (test_clip)
{
  g_autofree gchar *line =
      g_strdup_printf ("filesrc location=\"%s\" ! decodebin ! tee name=t "
                       "t. ! queue ! appsink name=before sync=false t. ! queue ! cudaconvolve mask=gaussian name=c "
                       "! appsink name=after sync=false",
          g_getenv ("CUDACONVOLVE_CLIP"));
  g_autoptr (GstElement) before = NULL;
  g_autoptr (GstElement) after = NULL;
  g_autoptr (GstElement) element = NULL;
  g_autofree gchar *variant = NULL;
  ConvolveSettings settings;
  ConvolveMask luma, chroma;
  Expected expected;
  guint frames = 0;

  launch (line);
  before = find ("before");
  after = find ("after");
  element = find ("c");
  convolve_settings_init (&settings);
  fail_unless (convolve_settings_make_mask (&settings, 1, 1, &luma, NULL));
  fail_unless (convolve_settings_make_mask (&settings, 2, 2, &chroma, NULL));
  expected = expected_of_masks (&luma, &chroma, CONVOLVE_BOUNDARY_REPLICATE);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (;;) {
    g_autoptr (GstSample) in = gst_app_sink_try_pull_sample (GST_APP_SINK (before), 60 * GST_SECOND);
    g_autoptr (GstSample) out = gst_app_sink_try_pull_sample (GST_APP_SINK (after), 60 * GST_SECOND);
    GstVideoInfo info;

    fail_unless_equals_int (in != NULL, out != NULL);
    if (!in)
      break;
    fail_unless (gst_caps_is_equal (gst_sample_get_caps (in), gst_sample_get_caps (out)));
    fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (in)));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (gst_sample_get_buffer (in)),
        GST_BUFFER_PTS (gst_sample_get_buffer (out)));
    frame_check (&info, gst_sample_get_buffer (in), gst_sample_get_buffer (out), &expected, "clip");
    frames++;
  }
  fail_unless (gst_app_sink_is_eos (GST_APP_SINK (after)));
  g_object_get (element, "active-variant", &variant, NULL);
  g_print ("%u frames of the clip, variant %s\n", frames, variant);
  fail_unless_equals_int (frames, 100);
  stop ();
  convolve_mask_clear (&luma);
  convolve_mask_clear (&chroma);
  convolve_settings_clear (&settings);
}
GST_END_TEST;

/* Two elements in one pipeline, a shift to the left and a shift back, give the original picture. */
GST_START_TEST (test_two_masks)
{
  g_autoptr (GstElement) before = NULL;
  g_autoptr (GstElement) after = NULL;

  launch ("videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8,width=64,height=48 ! tee name=t "
          "t. ! queue ! appsink name=before sync=false "
          "t. ! queue ! cudaconvolve mask=\"0 0 1\" boundary=wrap ! queue ! cudaconvolve mask=\"1 0 0\" boundary=wrap "
          "! appsink name=after sync=false");
  before = find ("before");
  after = find ("after");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gint i = 0; i < 30; i++) {
    g_autoptr (GstSample) in = gst_app_sink_pull_sample (GST_APP_SINK (before));
    g_autoptr (GstSample) out = gst_app_sink_pull_sample (GST_APP_SINK (after));
    GstMapInfo map;

    fail_unless (in && out && gst_buffer_map (gst_sample_get_buffer (in), &map, GST_MAP_READ));
    fail_unless (gst_buffer_memcmp (gst_sample_get_buffer (out), 0, map.data, map.size) == 0);
    gst_buffer_unmap (gst_sample_get_buffer (in), &map);
  }
  stop ();
}
GST_END_TEST;

static GstPadProbeReturn
change_something (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  static const gchar *const masks[] = { "identity", "gaussian", "sobel-x", "1 2 1; 2 4 2; 1 2 1", "disk", "bad mask" };
  static const gchar *const formats[] = { "I420", "RGBA", "NV12", "GRAY16_LE" };
  static gint count;
  g_autoptr (GstElement) element = find ("c");
  g_autoptr (GstElement) filter = find ("f");

  count++;
  g_object_set (element, "mask", masks[count % G_N_ELEMENTS (masks)], "boundary", count % CONVOLVE_N_BOUNDARIES,
      "sigma", (count % 4) * 0.7, NULL);
  if (count % 10 == 0) {
    g_autoptr (GstCaps) caps =
        frame_caps (formats[count / 10 % G_N_ELEMENTS (formats)], 40 + count, 30 + count % 7, NULL);

    g_object_set (filter, "caps", caps, NULL);
  }
  return GST_PAD_PROBE_OK;
}

/*
 * Mask, boundary, size and format change again and again, with a bad mask among them, and the pipeline plays to the
 * end.
 */
GST_START_TEST (test_changes_while_playing)
{
  g_autoptr (GstElement) element = NULL;
  g_autoptr (GstPad) pad = NULL;

  launch ("videotestsrc num-buffers=200 ! capsfilter name=f ! cudaconvolve name=c ! videoconvert "
          "! fakesink sync=false");
  element = find ("c");
  pad = gst_element_get_static_pad (element, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, change_something, NULL, NULL);
  run_to_end ();
  stop ();
}
GST_END_TEST;

/* Start and stop again and again, with frames between. */
GST_START_TEST (test_restart)
{
  launch ("videotestsrc num-buffers=2 ! video/x-raw,width=32,height=32 ! cudaconvolve mask=unsharp kernel-variant=cpu "
          "! fakesink sync=false");
  for (gint i = 0; i < 50; i++)
    run_to_end ();
  stop ();
}
GST_END_TEST;

/* Neighbours that take no GstVideoMeta, crop with a GstVideoMeta, or pass on buffers that they do not own. */
GST_START_TEST (test_neighbours)
{
  static const gchar *const lines[] = {
    "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=61,height=35 ! videocrop left=3 top=5 ! cudaconvolve "
    "! videobox left=-3 ! fakesink sync=false",
    "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=61,height=35 ! cudaconvolve ! jpegenc ! jpegdec "
    "! cudaconvolve mask=sharpen ! videoconvert ! pngenc ! fakesink sync=false",
    "videotestsrc num-buffers=5 ! video/x-raw,format=RGBA ! queue ! cudaconvolve mask=identity ! queue "
    "! cudaconvolve mask=emboss:30 ! tee name=t t. ! queue ! fakesink sync=false t. ! queue ! fakesink sync=false",
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    launch (lines[i]);
    run_to_end ();
    stop ();
  }
}
GST_END_TEST;

/* The format of the frames that leave the element. */
static gchar *
format_of_output (const gchar *line)
{
  g_autoptr (GstElement) element = NULL;
  g_autoptr (GstPad) pad = NULL;
  g_autoptr (GstCaps) caps = NULL;
  gchar *format;

  launch (line);
  element = find ("c");
  pad = gst_element_get_static_pad (element, "src");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL, 20 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  caps = gst_pad_get_current_caps (pad);
  format = g_strdup (gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"));
  stop ();
  return format;
}

/*
 * Where the caps leave the format open the element takes 8 bits; a neighbour's preference among a few formats is
 * kept.
 */
GST_START_TEST (test_open_format)
{
  static const struct
  {
    const gchar *line, *format;
  } rows[] = {
    { "videotestsrc num-buffers=2 ! cudaconvolve name=c ! fakesink", "I420" },
    { "videotestsrc num-buffers=2 ! videoconvert ! cudaconvolve name=c ! videoconvert ! fakesink", "I420" },
    { "videotestsrc num-buffers=2 ! video/x-raw,format={P010_10LE,NV12} ! cudaconvolve name=c ! fakesink",
        "P010_10LE" },
    { "videotestsrc num-buffers=2 ! cudaconvolve name=c ! video/x-raw,format={GRAY16_LE,NV12} ! fakesink", NULL },
    { "videotestsrc num-buffers=2 ! video/x-raw,format=Y444_16LE ! videoconvert ! cudaconvolve name=c ! fakesink",
        "Y444_16LE" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *format = format_of_output (rows[i].line);

    fail_unless (format && (!rows[i].format || g_str_equal (format, rows[i].format)), "%s gives %s", rows[i].line,
        format);
  }
}
GST_END_TEST;

/*
 * Runs until upstream stops or 10 seconds have passed. Returns the element's errors or infos, one to a line, and
 * their debug texts.
 */
static GString *
messages_of_element (const gchar *line, GstMessageType type)
{
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstElement) element = NULL;
  GString *texts = g_string_new (NULL);
  GstMessage *message;
  gboolean ended = FALSE;

  launch (line);
  element = find ("c");
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!ended
      && (message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, type | GST_MESSAGE_ERROR | GST_MESSAGE_EOS))) {
    GError *error = NULL;
    gchar *debug = NULL;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, &debug);
    else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_INFO)
      gst_message_parse_info (message, &error, &debug);
    if (error && GST_MESSAGE_SRC (message) == GST_OBJECT (element))
      g_string_append_printf (texts, "%s | %s\n", error->message, debug);
    ended = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS
        || (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR && GST_MESSAGE_SRC (message) != GST_OBJECT (element));
    g_clear_error (&error);
    g_free (debug);
    gst_message_unref (message);
  }
  stop ();
  return texts;
}

static guint
count_of (const GString *texts, const gchar *part)
{
  guint count = 0;

  for (const gchar *at = texts->str; (at = strstr (at, part)); at += strlen (part))
    count++;
  return count;
}

static gboolean
element_has_cuda_memory (void)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("cudaconvolve");
  g_autoptr (GstCaps) caps = gst_caps_from_string ("video/x-raw(memory:CUDAMemory)");

  return gst_element_factory_can_src_any_caps (factory, caps);
}

/* Without a driver there is one sentence that gst-launch-1.0 shows, and one error for one fault. */
GST_START_TEST (test_no_driver)
{
  GModule *driver = g_module_open ("libcuda.so.1", G_MODULE_BIND_LAZY);
  const gchar *reason = element_has_cuda_memory () ? "there is no NVIDIA driver" : "no CUDA";
  GString *texts;

  if (driver && g_module_close (driver))
    return;
  texts = messages_of_element ("videotestsrc num-buffers=3 ! cudaconvolve name=c ! fakesink", GST_MESSAGE_INFO);
  fail_unless (count_of (texts, "Working on the CPU: ") == 2 && count_of (texts, reason) == 2, "%s", texts->str);
  g_string_free (texts, TRUE);
  if (!element_has_cuda_memory ())
    return;
  texts = messages_of_element ("videotestsrc num-buffers=3 ! cudaconvolve name=c ! video/x-raw(memory:CUDAMemory) "
                               "! fakesink",
      GST_MESSAGE_ERROR);
  fail_unless (count_of (texts, "Frames in CUDA memory cannot be allocated") == 1 && count_of (texts, reason) == 1,
      "%s", texts->str);
  g_string_free (texts, TRUE);
}
GST_END_TEST;

static Suite *
pipelines_suite (void)
{
  Suite *suite = suite_create ("pipelines");
  TCase *tc = tcase_create ("pipelines");

  tcase_set_timeout (tc, 300);
  tcase_add_checked_fixture (tc, NULL, stop);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_clip);
  tcase_add_test (tc, test_two_masks);
  tcase_add_test (tc, test_changes_while_playing);
  tcase_add_test (tc, test_restart);
  tcase_add_test (tc, test_neighbours);
  tcase_add_test (tc, test_open_format);
  tcase_add_test (tc, test_no_driver);
  return suite;
}

GST_CHECK_MAIN (pipelines);
