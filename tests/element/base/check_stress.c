/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GStreamer's generic tests of elements: all changes of state, and the threads of GstHarness, which push frames
 * and events and change properties and states at the same time. The program runs on the CPU, and over the fake device with
 * CUDACONVOLVE_OVER_DEVICE set.
 *
 * All frames are flat, and all masks here keep a flat picture. So a frame shows that was mixed up with another one, or read
 * after somebody freed the frame.
 */
#include <gst/check/gstcheck.h>
#include <string.h>

#include "element/layer/layer_case.h"
#include "support/element.h"
#include "support/run.h"

static gdouble seconds; /* of each run of test_stress */

/* The layer that keeps a flat picture, in a file of the folder. */
static LayerCase
flat_layer (const gchar *folder)
{
  static const gfloat weights[] = { 0.25F, 0.5F, 0.25F };

  return layer_case_plain (folder, 1, 1, 1, 3, weights);
}

/*
 * Fails the check where there is an error or a warning on the bus. Where the state changes between caps and a frame,
 * GstBaseTransform calls that "not negotiated", also in GStreamer's own elements, and any return of a push may come.
 */
static void
expect_silence (GstBus *bus, const gchar *what, gboolean states)
{
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING))) {
    g_autoptr (GError) error = NULL;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, NULL);
    else
      gst_message_parse_warning (message, &error, NULL);
    fail_unless (states && g_str_equal (error->message, "not negotiated"), "%s: %s", what, error->message);
    gst_message_unref (message);
  }
}

/* --- states --- */

/* From every state to every other one, and back. */
static void
walk_states (const gchar *line)
{
  GstElement *element = gst_object_ref_sink (gst_parse_launch (line, NULL));
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  for (GstState from = GST_STATE_NULL; from <= GST_STATE_PLAYING; from++)
    for (GstState to = GST_STATE_NULL; to <= GST_STATE_PLAYING; to++) {
      GstState state;

      fail_unless_equals_int (gst_element_set_state (element, from), GST_STATE_CHANGE_SUCCESS);
      fail_unless_equals_int (gst_element_set_state (element, to), GST_STATE_CHANGE_SUCCESS);
      fail_unless_equals_int (gst_element_get_state (element, &state, NULL, 0), GST_STATE_CHANGE_SUCCESS);
      fail_unless_equals_int (state, to);
    }
  expect_silence (bus, line, FALSE);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  ASSERT_OBJECT_REFCOUNT (element, line, 1);
  gst_object_unref (element);
}

GST_START_TEST (test_states)
{
  gchar *folder = check_folder ();
  LayerCase layer = flat_layer (folder);
  g_autofree gchar *kept = layer_case_line (&layer), *layer_line = g_strconcat ("cudaconvlayer ", kept, NULL),
                   *in_flight = g_strconcat (layer_line, " frames-in-flight=3", NULL);

  walk_states ("cudaconvolve");
  walk_states ("cudaconvolve mask=sobel frames-in-flight=4");
  walk_states ("cudaconvolve mask=identity");
  walk_states ("cudaconvolve sigma=60 iterations=2 n-threads=3");
  walk_states ("cudaconvolve apply-to=regions regions=8,8,16,16 region-lookahead=40000000");
  walk_states (layer_line);
  walk_states (in_flight);
  layer_case_clear (&layer);
  check_remove_folder (folder);
}
GST_END_TEST;

/* --- stress --- */

/* The state that all threads of a run share. */
typedef struct
{
  GstHarness *harness;
  GMutex lock; /* from the caps to the frame of these caps */
  guint turn;
  gboolean gray, states; /* no other format; states change */
  gint flow;             /* a return of a frame that must not be, or GST_FLOW_OK */
  gint came, not_equal;  /* frames that came out, and those of them that are not flat */
} Stress;

/* Rows of these sizes have no padding. */
static const gint sides[] = { 8, 64, 256, 32, 128 };
static const gchar *const formats[] = { "GRAY8", "I420", "RGB", "NV12", "BGRx" };

/* Caps, a segment and a frame of these caps. Meanwhile the state may change, or a flush may begin. */
static void
push_frame (gpointer thread, gpointer data)
{
  Stress *stress = data;
  GstHarness *harness = stress->harness;
  GstSegment segment;
  GstBuffer *buffer;
  GstVideoInfo info;
  GstFlowReturn flow;
  guint turn;

  g_mutex_lock (&stress->lock);
  turn = stress->turn++;
  /* Of five frames, four have the caps of the frame before. */
  info = info_of (formats[stress->gray ? 0 : turn / 5 % G_N_ELEMENTS (formats)], sides[turn / 5 % G_N_ELEMENTS (sides)],
      sides[turn / 10 % G_N_ELEMENTS (sides)]);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (harness->srcpad, gst_event_new_stream_start ("stress"));
  gst_pad_push_event (harness->srcpad, gst_event_new_caps (gst_video_info_to_caps (&info)));
  gst_pad_push_event (harness->srcpad, gst_event_new_segment (&segment));
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 40 + turn % 170, info.size);
  GST_BUFFER_PTS (buffer) = turn * 40 * GST_MSECOND;
  flow = gst_harness_push (harness, buffer);
  g_mutex_unlock (&stress->lock);
  if (!stress->states && flow != GST_FLOW_OK && flow != GST_FLOW_FLUSHING)
    g_atomic_int_set (&stress->flow, flow);
}

/* A flush interrupts a frame, and ends before the next caps. */
static void
flush (gpointer thread, gpointer data)
{
  Stress *stress = data;
  GstHarness *harness = stress->harness;

  gst_pad_push_event (harness->srcpad, gst_event_new_flush_start ());
  g_mutex_lock (&stress->lock);
  gst_pad_push_event (harness->srcpad, gst_event_new_flush_stop (TRUE));
  g_mutex_unlock (&stress->lock);
}

static GstPadProbeReturn
look (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Stress *stress = data;
  GstMapInfo map;

  g_atomic_int_inc (&stress->came);
  if (!gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (probe), &map, GST_MAP_READ))
    return GST_PAD_PROBE_OK;
  if (memcmp (map.data, map.data + 1, map.size - 1) != 0)
    g_atomic_int_inc (&stress->not_equal);
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (probe), &map);
  return GST_PAD_PROBE_OK;
}

/* A thread that sets the property to the value of this text. */
static GstHarnessThread *
keep_setting (GstHarness *harness, const gchar *name, const gchar *text)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (harness->element), name);
  GValue value = G_VALUE_INIT;
  GstHarnessThread *thread;

  fail_unless (spec != NULL, "%s", name);
  g_value_init (&value, spec->value_type);
  fail_unless (gst_value_deserialize (&value, text), "%s=%s", name, text);
  thread = gst_harness_stress_property_start (harness, name, &value);
  g_value_unset (&value);
  return thread;
}

/* Values of properties, each of which is set by a thread of its own: of both elements, of masks, and of regions. */
typedef const gchar *const Value[2];
static Value common[] = { { "boundary", "reflect" }, { "boundary", "wrap" }, { "n-threads", "1" }, { "n-threads", "3" },
  { "frames-in-flight", "1" }, { "frames-in-flight", "3" }, { "qos", "true" }, { NULL } };
static Value of_masks[] = { { "mask", "box" }, { "mask", "\"1 2 1; 2 4 2; 1 2 1\"" }, { "mask", "identity" },
  { "mask", "gaussian" }, { "sigma", "2" }, { "sigma", "0" }, { "iterations", "1" }, { "iterations", "2" }, { NULL } };
static Value of_regions[] = { { "regions", "\"0,0,40,40\"" }, { "regions", "\"0,0,5,6; 0,0,3,3\"" },
  { "region-effect", "mask" }, { "region-effect", "pixelate" }, { "apply-to", "regions" },
  { "apply-to", "outside-regions" }, { NULL } };

/*
 * A thread that pushes an event can stop before the event is in the pad, while the states change. The events before it were for
 * the pad's life before. GStreamer warns of that, with GStreamer's own identity much more often than with these elements.
 */
static gboolean
let_pass (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
  return TRUE;
}

static GstCheckLogFilter *
add_filter (void)
{
  GRegex *regex = g_regex_new ("Sticky event misordering|Got data flow before", 0, 0, NULL);

  return gst_check_add_log_filter ("GStreamer", G_LOG_LEVEL_WARNING, regex, let_pass, NULL, NULL);
}

static void
run_stress (const gchar *line, Value *values, gboolean states)
{
  GstHarness *harness = harness_new_line (line);
  GstBus *bus = gst_bus_new ();
  GPtrArray *threads = g_ptr_array_new ();
  GstCheckLogFilter *filter = states ? add_filter () : NULL;
  Stress stress = { .harness = harness, .gray = strstr (line, "cudaconvlayer") != NULL, .states = states };
  guint steps = 0;

  g_mutex_init (&stress.lock);
  gst_element_set_bus (harness->element, bus);
  gst_harness_set_drop_buffers (harness, TRUE);
  gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, look, &stress, NULL);
  push_frame (NULL, &stress);

  for (guint i = 0; i < 2; i++)
    g_ptr_array_add (threads, gst_harness_stress_custom_start (harness, NULL, push_frame, &stress, 0));
  g_ptr_array_add (threads, gst_harness_stress_custom_start (harness, NULL, flush, &stress, 5000));
  for (Value *value = common; (*value)[0]; value++)
    g_ptr_array_add (threads, keep_setting (harness, (*value)[0], (*value)[1]));
  for (Value *value = values; value && (*value)[0]; value++)
    g_ptr_array_add (threads, keep_setting (harness, (*value)[0], (*value)[1]));
  g_ptr_array_add (threads, gst_harness_stress_send_upstream_event_start (harness, gst_event_new_reconfigure ()));
  g_ptr_array_add (threads,
      gst_harness_stress_send_upstream_event_start (harness,
          gst_event_new_qos (GST_QOS_TYPE_OVERFLOW, 0.5, -GST_SECOND, GST_SECOND)));
  g_ptr_array_add (threads,
      gst_harness_stress_push_event_start (harness,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_OOB, gst_structure_new_empty ("stress"))));
  if (states)
    g_ptr_array_add (threads, gst_harness_stress_statechange_start (harness));

  g_usleep ((gulong) (seconds * G_USEC_PER_SEC));
  /* The last thread, of the states, ends first, so that the element plays when the others end. */
  for (guint i = threads->len; i > 0; i--)
    steps += gst_harness_stress_thread_stop (threads->pdata[i - 1]);
  push_frame (NULL, &stress);
  expect_silence (bus, line, states);
  g_print ("%s: %u steps of %u threads, %d frames\n", line, steps, threads->len, stress.came);
  fail_unless_equals_int (stress.flow, GST_FLOW_OK);
  fail_unless_equals_int (stress.not_equal, 0);
  fail_unless (stress.came > 0);
  g_ptr_array_unref (threads);
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
  gst_object_unref (bus);
  g_mutex_clear (&stress.lock);
  if (filter)
    gst_check_remove_log_filter (filter);
}

GST_START_TEST (test_stress)
{
  const gchar *variant = g_getenv ("CUDACONVOLVE_OVER_DEVICE") ? " kernel-variant=global" : "";
  gchar *folder = check_folder ();
  LayerCase layer = flat_layer (folder);
  g_autofree gchar *mask = g_strconcat ("cudaconvolve", variant, NULL),
                   *regions = g_strconcat (mask, " apply-to=regions regions=0,0,40,40", NULL),
                   *kept = layer_case_line (&layer),
                   *layer_line = g_strconcat ("cudaconvlayer ", kept, " padding=same boundary=replicate", NULL);

  for (guint states = 0; states < 2; states++) {
    run_stress (mask, of_masks, states);
    run_stress (regions, of_regions, states);
    run_stress (layer_line, NULL, states);
  }
  layer_case_clear (&layer);
  check_remove_folder (folder);
}
GST_END_TEST;

static Suite *
stress_suite (void)
{
  Suite *suite = suite_create ("stress");
  TCase *tc = tcase_create ("stress");

  seconds = g_getenv ("CUDACONVOLVE_ALL_CASES") ? 3 : 0.4;
  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_stress);
  return suite;
}

GST_CHECK_MAIN (stress);
