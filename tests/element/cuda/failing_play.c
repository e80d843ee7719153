/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/cuda/failing_play.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <glib/gstdio.h>
#include <stdlib.h>

#include "convolve_device.h"
#include "element/cuda/failing_cuda.h"
#include "element/layer/layer_case.h"
#include "support/element.h"

/* The size of most frames. */
#define WIDTH 24
#define HEIGHT 16

Failing failing;

static LayerCase layer;
static gchar *folder;
static gchar *layer_line; /* of the scenario "layer" */

/* --- the calls that fail --- */

/* The status 77 is a skip. */
static void
skip_without_gpu (void *driver)
{
  int (*init) (unsigned) = driver ? (int (*) (unsigned)) dlsym (driver, "cuInit") : NULL;

  if (init && init (0) == 0)
    return;
  g_print ("there is no GPU, or no driver\n");
  exit (77);
}

/* Over the fake device nothing that the test calls can fail. */
static void
pause_nothing (int pause)
{
}

void
failing_find (void)
{
  g_autoptr (GstPlugin) plugin = gst_registry_find_plugin (gst_registry_get (), "cudaconvolve");
  void *module = dlopen (gst_plugin_get_filename (plugin), RTLD_NOW);

  if (!module || !dlsym (module, "failing_begin")) {
    failing.over_driver = TRUE;
    module = dlopen ("libcuda.so.1", RTLD_NOW);
    skip_without_gpu (module);
  }
  fail_unless (module != NULL, "%s", dlerror ());
  failing.begin = (void (*) (int, int)) dlsym (module, "failing_begin");
  failing.count = (int (*) (void)) dlsym (module, "failing_count");
  failing.name = (const char *(*) (void) ) dlsym (module, "failing_name");
  failing.held = (int (*) (char *, size_t)) dlsym (module, "failing_held");
  failing.pause = failing.over_driver ? (void (*) (int)) dlsym (module, "failing_pause") : pause_nothing;
  fail_unless (failing.begin && failing.count && failing.name && failing.held && failing.pause,
      "the driver's stand-in is not in use");
}

/* --- one run of an element --- */

static gboolean
is_cuda_in (Memory memory)
{
  return memory == IN_CUDA_MEMORY || memory == FROM_CUDA_TO_SYSTEM;
}

static gboolean
is_cuda_out (Memory memory)
{
  return memory == IN_CUDA_MEMORY || memory == FROM_SYSTEM_TO_CUDA || memory == FROM_SYSTEM_TO_OWN_CUDA;
}

/*
 * gst_bus_pop_filtered() would free the messages in between while it holds the bus's lock. Such a message may hold the
 * last reference to a pad of the harness, and from GStreamer 1.26 on a linked pad that ends posts a message itself, and
 * waits for ever.
 */
static void
take_messages (Play *run)
{
  GstMessage *message;

  while ((message = gst_bus_pop (run->bus))) {
    GError *error;
    gchar *debug;
    gboolean bad = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;

    if (!bad && GST_MESSAGE_TYPE (message) != GST_MESSAGE_INFO) {
      gst_message_unref (message);
      continue;
    }
    if (bad)
      gst_message_parse_error (message, &error, &debug);
    else
      gst_message_parse_info (message, &error, &debug);
    if (bad && debug) { /* the texts stand in one string, for a failed check to print */
      gchar *text = g_strdup_printf ("%s (%s)", error->message, debug);

      g_free (error->message);
      error->message = text;
    }
    g_ptr_array_add (bad ? run->errors : run->infos, error);
    g_free (debug);
    gst_message_unref (message);
  }
}

/* The rows of a frame in CUDA memory, which has bytes behind each row that nobody wrote. */
static void
add_rows (GChecksum *sum, const GstVideoInfo *info, GstBuffer *buffer)
{
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS (&frame); i++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, i); y++)
      g_checksum_update (sum, GST_VIDEO_FRAME_COMP_DATA (&frame, i) + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, i),
          GST_VIDEO_FRAME_COMP_WIDTH (&frame, i));
  gst_video_frame_unmap (&frame);
}

/* A frame as a text: its time and the checksum of its bytes. */
static gchar *
describe (Play *run, GstBuffer *buffer)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_MD5);
  GstMapInfo map;

  if (is_cuda_out (run->memory)) {
    add_rows (sum, &run->info, buffer);
  } else {
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    g_checksum_update (sum, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
  }
  return g_strdup_printf ("%" GST_TIME_FORMAT " %s", GST_TIME_ARGS (GST_BUFFER_PTS (buffer)),
      g_checksum_get_string (sum));
}

static void
pull_frames (Play *run)
{
  GstBuffer *buffer;

  while (run->harness && (buffer = gst_harness_try_pull (run->harness))) {
    /* The test's own copy to the host must not fail. */
    failing.pause (TRUE);
    g_ptr_array_add (run->frames, describe (run, buffer));
    gst_buffer_unref (buffer);
    failing.pause (FALSE);
  }
}

static void
send_caps (Play *run)
{
  GstCaps *caps = gst_video_info_to_caps (&run->info);

  if (is_cuda_in (run->memory))
    gst_caps_set_features (caps, 0, gst_caps_features_new ("memory:CUDAMemory", NULL));
  gst_harness_set_src_caps (run->harness, caps);
}

static void
set_caps (Play *run, const gchar *format, gint width, gint height)
{
  run->info = info_of (format, width, height);
  if (run->harness)
    send_caps (run);
}

void
play_start (Play *run)
{
  if (run->failed)
    return;
  if (gst_element_set_state (run->element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
    run->failed = TRUE;
    return;
  }
  run->harness = gst_harness_new_with_element (run->element, "sink", "src");
  if (run->memory != IN_SYSTEM_MEMORY)
    gst_harness_set_sink_caps_str (run->harness,
        is_cuda_out (run->memory) ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw");
  send_caps (run);
}

void
play_stop (Play *run)
{
  pull_frames (run);
  g_clear_pointer (&run->harness, gst_harness_teardown);
  gst_element_set_state (run->element, GST_STATE_NULL);
  take_messages (run);
}

void
play_push (Play *run, guint count)
{
  for (guint i = 0; i < count && !run->failed; i++) {
    GstBuffer *buffer =
        is_cuda_in (run->memory) ? cuda_frames_get (run->pushed) : frame_new (&run->info, FRAME_PLAIN, run->pushed);

    GST_BUFFER_PTS (buffer) = run->pushed++ * 40 * GST_MSECOND;
    run->failed = gst_harness_push (run->harness, buffer) != GST_FLOW_OK;
    pull_frames (run);
  }
}

static void
send (Play *run, GstEvent *event)
{
  if (run->harness)
    gst_harness_push_event (run->harness, event);
  else
    gst_event_unref (event);
  pull_frames (run);
}

/* Hands over the context of the frames to an element that asks for one. */
static GstBusSyncReply
give_context (GstBus *bus, GstMessage *message, gpointer data)
{
  const gchar *type;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_NEED_CONTEXT && gst_message_parse_context_type (message, &type)
      && g_str_equal (type, "gst.cuda.context")) {
    GstContext *context = cuda_frames_context ();

    gst_element_set_context (GST_ELEMENT (GST_MESSAGE_SRC (message)), context);
    gst_context_unref (context);
  }
  return GST_BUS_PASS;
}

gboolean
play_is_possible (const Scenario *scenario)
{
  static gboolean tried, possible;
  GstVideoInfo info = info_of ("I420", WIDTH, HEIGHT);

  if (scenario->memory == IN_SYSTEM_MEMORY)
    return TRUE;
  if (!tried)
    possible = failing.over_driver && cuda_frames_new (&info);
  tried = TRUE;
  return possible;
}

Play
play_new (const Scenario *scenario)
{
  g_autofree gchar *line = scenario->line ? g_strdup_printf ("cudaconvolve %s", scenario->line)
                                          : g_strdup_printf ("cudaconvlayer %s", layer_line);
  Play run = { .element = gst_object_ref_sink (gst_parse_launch (line, NULL)),
    .memory = scenario->memory,
    .bus = gst_bus_new (),
    .kept = CONVOLVE_MAX_FRAMES,
    .frames = g_ptr_array_new_with_free_func (g_free),
    .errors = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free),
    .infos = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free) };

  if (scenario->memory != IN_SYSTEM_MEMORY && scenario->memory != FROM_SYSTEM_TO_OWN_CUDA)
    gst_bus_set_sync_handler (run.bus, give_context, NULL, NULL);
  gst_element_set_bus (run.element, run.bus);
  set_caps (&run, scenario->line ? "I420" : "GRAY8", WIDTH, HEIGHT);
  return run;
}

void
play_once_more (Play *run)
{
  run->failed = FALSE;
  run->pushed = 0;
  g_ptr_array_set_size (run->frames, 0);
  g_ptr_array_set_size (run->errors, 0);
  g_ptr_array_set_size (run->infos, 0);
  play_start (run);
  play_push (run, 1);
  send (run, gst_event_new_eos ());
  play_stop (run);
}

void
play_free (Play *run)
{
  gst_element_set_bus (run->element, NULL);
  gst_object_unref (run->element);
  gst_object_unref (run->bus);
  g_ptr_array_unref (run->frames);
  g_ptr_array_unref (run->errors);
  g_ptr_array_unref (run->infos);
}

/* --- scenarios; each sets its properties even after an error, so that the next start has the same --- */

static void
go_open (Play *run)
{
  play_start (run);
}

static void
go_first (Play *run)
{
  play_start (run);
  play_push (run, 1);
}

static void
go_ten (Play *run)
{
  play_start (run);
  play_push (run, 10);
  send (run, gst_event_new_eos ());
}

static void
go_masks (Play *run)
{
  play_start (run);
  play_push (run, 2);
  g_object_set (run->element, "mask", "1 2 1; 2 4 2; 1 2 1", NULL);
  play_push (run, 2);
  g_object_set (run->element, "mask", "identity", NULL);
  play_push (run, 1);
  g_object_set (run->element, "mask", "sobel", NULL);
  play_push (run, 2);
  send (run, gst_event_new_eos ());
}

/* Frames with straight alpha. */
static void
go_alpha (Play *run)
{
  play_start (run);
  set_caps (run, "RGBA", WIDTH, HEIGHT);
  play_push (run, 4);
  send (run, gst_event_new_eos ());
}

/* Without frames of YUV, which have no light. */
static void
go_light (Play *run)
{
  set_caps (run, "RGBA", WIDTH, HEIGHT);
  go_ten (run);
}

static void
go_caps (Play *run)
{
  play_start (run);
  play_push (run, 3);
  set_caps (run, "RGB", 40, 20);
  play_push (run, 3);
  set_caps (run, "I420", 24, 16);
  play_push (run, 2);
  send (run, gst_event_new_eos ());
}

static void
go_flush (Play *run)
{
  play_start (run);
  play_push (run, 4);
  run->kept += CONVOLVE_MAX_FRAMES;
  send (run, gst_event_new_flush_start ());
  send (run, gst_event_new_flush_stop (TRUE));
  send (run,
      gst_event_new_segment (&(GstSegment){ .rate = 1,
          .applied_rate = 1,
          .format = GST_FORMAT_TIME,
          .stop = GST_CLOCK_TIME_NONE,
          .duration = GST_CLOCK_TIME_NONE }));
  play_push (run, 3);
  send (run, gst_event_new_eos ());
}

static void
go_part (Play *run)
{
  play_start (run);
  play_push (run, 4);
}

static void
go_again (Play *run)
{
  play_start (run);
  play_push (run, 4);
  play_stop (run);
  run->failed |= run->errors->len > 0;
  play_start (run);
  play_push (run, 2);
  send (run, gst_event_new_eos ());
}

const Scenario scenarios[] = {
  { "start", "kernel-variant=global", go_open, IN_SYSTEM_MEMORY },
  { "first frame", "kernel-variant=global", go_first, IN_SYSTEM_MEMORY },
  { "auto", "mask=box", go_ten, IN_SYSTEM_MEMORY },
  { "ten frames", "kernel-variant=separable", go_ten, IN_SYSTEM_MEMORY },
  { "three in flight", "kernel-variant=global frames-in-flight=3", go_ten, IN_SYSTEM_MEMORY },
  { "masks", "kernel-variant=global frames-in-flight=2", go_masks, IN_SYSTEM_MEMORY },
  { "caps", "kernel-variant=tiled frames-in-flight=2", go_caps, IN_SYSTEM_MEMORY },
  { "flush", "kernel-variant=global frames-in-flight=3", go_flush, IN_SYSTEM_MEMORY },
  { "regions", "kernel-variant=global apply-to=regions regions=2,2,8,8;12,4,6,6 region-strength=0.2", go_ten,
      IN_SYSTEM_MEMORY },
  { "alpha", "kernel-variant=global frames-in-flight=2", go_alpha, IN_SYSTEM_MEMORY },
  { "alpha in regions", "kernel-variant=global apply-to=regions regions=2,2,8,8;12,4,6,6 region-effect=mask", go_alpha,
      IN_SYSTEM_MEMORY },
  { "alpha and light in regions",
      "kernel-variant=global light=linear apply-to=regions regions=2,2,8,8 region-strength=0.2", go_alpha,
      IN_SYSTEM_MEMORY },
  { "light", "kernel-variant=global light=linear iterations=2", go_light, IN_SYSTEM_MEMORY },
  { "light on the cpu", "kernel-variant=cpu light=linear", go_light, IN_SYSTEM_MEMORY },
  { "iterations", "kernel-variant=global iterations=3 mix=0.5", go_ten, IN_SYSTEM_MEMORY },
  { "fft", "kernel-variant=fft mask=disk mask-width=31", go_ten, IN_SYSTEM_MEMORY },
  { "layer", NULL, go_ten, IN_SYSTEM_MEMORY },
  { "layer in flight", NULL, go_flush, IN_SYSTEM_MEMORY },
  { "stop", "kernel-variant=global frames-in-flight=4", go_part, IN_SYSTEM_MEMORY },
  { "cpu", "kernel-variant=cpu n-threads=3", go_masks, IN_SYSTEM_MEMORY },
  { "regions on the cpu", "kernel-variant=cpu apply-to=regions regions=2,2,8,8;12,4,6,6 region-strength=0.2", go_ten,
      IN_SYSTEM_MEMORY },
  { "tensor", "kernel-variant=tensor mask=unsharp:2", go_ten, IN_SYSTEM_MEMORY },
  { "start again", "kernel-variant=global frames-in-flight=2", go_again, IN_SYSTEM_MEMORY },
  { "cuda memory", "kernel-variant=global", go_ten, IN_CUDA_MEMORY },
  { "cuda memory in flight", "kernel-variant=global frames-in-flight=3", go_flush, IN_CUDA_MEMORY },
  { "cuda memory, stop", "kernel-variant=global frames-in-flight=4", go_part, IN_CUDA_MEMORY },
  { "cuda memory, masks", "kernel-variant=global frames-in-flight=2", go_masks, IN_CUDA_MEMORY },
  { "to cuda memory", "kernel-variant=global frames-in-flight=2", go_ten, FROM_SYSTEM_TO_CUDA },
  { "from cuda memory", "kernel-variant=global frames-in-flight=2", go_ten, FROM_CUDA_TO_SYSTEM },
  { "cuda memory, own context", "kernel-variant=global", go_first, FROM_SYSTEM_TO_OWN_CUDA },
  { "cuda memory on the cpu", "kernel-variant=cpu", go_first, IN_CUDA_MEMORY },
};

const guint n_scenarios = G_N_ELEMENTS (scenarios);

/* --- the beginning and the end --- */

void
play_set_up (void)
{
  static const gfloat weights[2 * 3 * 3] = { 0, 1, 0, 1, 4, 1, 0, 1, 0, -1, 0, 1, -2, 0, 2, -1, 0, 1 };

  folder = check_folder ();
  layer = layer_case_plain (folder, 2, 1, 3, 3, weights);
  layer_line = g_strdup_printf ("location=%s channels=0,1 mosaic=true divisor=8 "
                                "kernel-variant=direct frames-in-flight=2",
      layer.location);
}

void
play_tear_down (void)
{
  cuda_frames_free ();
  g_unlink (layer.location);
  layer_case_clear (&layer);
  check_remove_folder (folder);
  g_clear_pointer (&layer_line, g_free);
}
