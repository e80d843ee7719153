/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every call of the device is made to fail once, in every scenario and in every way of failing.
 *
 * A scenario runs once undisturbed. That run counts the calls, and its frames are what is expected. Then the
 * scenario runs again for each of the calls. Frames that come out before an error must be the expected ones, and a
 * frame that does not come needs an error. There is one error at most, with the code of README's table. After the
 * stop the device must have got everything back, and the same element must start again.
 *
 * Over the driver of a GPU, which has many calls, a quick run lets about MOST_CALLS of a scenario fail, chosen at
 * random.
 */
#include <dlfcn.h>
#include <gmodule.h>
#include <gst/check/gstcheck.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convolve_device.h"
#include "element/failing.h"
#include "element/layer_case.h"
#include "support/element.h"

#define MOST_CALLS 60 /* of a scenario and a kind of error, in a quick run over a driver */
#define WAIT 120      /* seconds after which a run counts as standing still */

/* The functions of failing.h, of the fake device or of the stand-in for the driver. */
static struct
{
  void (*begin) (int n, int kind);
  int (*count) (void);
  const char *(*name) (void);
  int (*held) (char *text, size_t size);
} failing;

static gboolean over_driver; /* not over the fake device */

/* --- one run of an element --- */

typedef struct
{
  GstElement *element;
  GstBus *bus;
  GstHarness *harness; /* NULL while stopped, and where the element did not start */
  GstVideoInfo info;
  GPtrArray *frames; /* a text for each frame that came out */
  GPtrArray *errors, *infos;
  guint pushed, kept; /* kept: at most so many of the frames that were pushed need not come out */
  gboolean failed;    /* a start or a push was refused: nothing is pushed any more */
} Play;

typedef struct
{
  const gchar *name, *line;
  void (*play) (Play *run);
} Scenario;

static gchar *layer_line; /* of the scenario "layer" */

static void
take_messages (Play *run)
{
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (run->bus, GST_MESSAGE_ERROR | GST_MESSAGE_INFO))) {
    GError *error;
    gchar *debug;
    gboolean bad = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;

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

/* A frame as a text: its time and the checksum of its bytes. */
static gchar *
describe (GstBuffer *buffer)
{
  g_autofree gchar *sum = NULL;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  sum = g_compute_checksum_for_data (G_CHECKSUM_MD5, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  return g_strdup_printf ("%" GST_TIME_FORMAT " %s", GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), sum);
}

static void
pull_frames (Play *run)
{
  GstBuffer *buffer;

  while (run->harness && (buffer = gst_harness_try_pull (run->harness))) {
    g_ptr_array_add (run->frames, describe (buffer));
    gst_buffer_unref (buffer);
  }
}

static void
set_caps (Play *run, const gchar *format, gint width, gint height)
{
  run->info = info_of (format, width, height);
  if (run->harness)
    gst_harness_set_src_caps (run->harness, frame_caps (format, width, height, NULL));
}

static void
start (Play *run)
{
  if (run->failed)
    return;
  if (gst_element_set_state (run->element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
    run->failed = TRUE;
    return;
  }
  run->harness = gst_harness_new_with_element (run->element, "sink", "src");
  gst_harness_set_src_caps (run->harness, gst_video_info_to_caps (&run->info));
}

static void
stop (Play *run)
{
  pull_frames (run);
  g_clear_pointer (&run->harness, gst_harness_teardown);
  gst_element_set_state (run->element, GST_STATE_NULL);
  take_messages (run);
}

static void
push (Play *run, guint count)
{
  for (guint i = 0; i < count && !run->failed; i++) {
    GstBuffer *buffer = frame_new (&run->info, FRAME_PLAIN, run->pushed);

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

static Play
run_new (const Scenario *scenario)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", scenario->line ? scenario->line : layer_line);
  Play run = { .element = gst_object_ref_sink (gst_parse_launch (line, NULL)),
    .bus = gst_bus_new (),
    .kept = CONVOLVE_MAX_FRAMES,
    .frames = g_ptr_array_new_with_free_func (g_free),
    .errors = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free),
    .infos = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free) };

  gst_element_set_bus (run.element, run.bus);
  set_caps (&run, scenario->line ? "I420" : "GRAY8", 24, 16);
  return run;
}

/* A start after the scenario, as of a new stream. */
static void
run_again (Play *run)
{
  run->failed = FALSE;
  run->pushed = 0;
  g_ptr_array_set_size (run->frames, 0);
  g_ptr_array_set_size (run->errors, 0);
  g_ptr_array_set_size (run->infos, 0);
}

static void
run_free (Play *run)
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
play_start (Play *run)
{
  start (run);
}

static void
play_first (Play *run)
{
  start (run);
  push (run, 1);
}

static void
play_ten (Play *run)
{
  start (run);
  push (run, 10);
  send (run, gst_event_new_eos ());
}

static void
play_masks (Play *run)
{
  start (run);
  push (run, 2);
  g_object_set (run->element, "mask", "1 2 1; 2 4 2; 1 2 1", NULL);
  push (run, 2);
  g_object_set (run->element, "mask", "identity", NULL);
  push (run, 1);
  g_object_set (run->element, "mask", "sobel", NULL);
  push (run, 2);
  send (run, gst_event_new_eos ());
}

static void
play_caps (Play *run)
{
  start (run);
  push (run, 3);
  set_caps (run, "RGB", 40, 20);
  push (run, 3);
  set_caps (run, "I420", 24, 16);
  push (run, 2);
  send (run, gst_event_new_eos ());
}

static void
play_flush (Play *run)
{
  start (run);
  push (run, 4);
  run->kept += CONVOLVE_MAX_FRAMES;
  send (run, gst_event_new_flush_start ());
  send (run, gst_event_new_flush_stop (TRUE));
  send (run,
      gst_event_new_segment (&(GstSegment){ .rate = 1,
          .applied_rate = 1,
          .format = GST_FORMAT_TIME,
          .stop = GST_CLOCK_TIME_NONE,
          .duration = GST_CLOCK_TIME_NONE }));
  push (run, 3);
  send (run, gst_event_new_eos ());
}

static void
play_stop (Play *run)
{
  start (run);
  push (run, 4);
}

static void
play_again (Play *run)
{
  start (run);
  push (run, 4);
  stop (run);
  run->failed |= run->errors->len > 0;
  start (run);
  push (run, 2);
  send (run, gst_event_new_eos ());
}

static const Scenario scenarios[] = {
  { "start", "kernel-variant=global", play_start },
  { "first frame", "kernel-variant=global", play_first },
  { "auto", "mask=box", play_ten },
  { "ten frames", "kernel-variant=separable", play_ten },
  { "three in flight", "kernel-variant=global frames-in-flight=3", play_ten },
  { "masks", "kernel-variant=global frames-in-flight=2", play_masks },
  { "caps", "kernel-variant=tiled frames-in-flight=2", play_caps },
  { "flush", "kernel-variant=global frames-in-flight=3", play_flush },
  { "regions", "kernel-variant=global apply-to=regions regions=2,2,8,8;12,4,6,6 region-strength=0.2", play_ten },
  { "iterations", "kernel-variant=global iterations=3 mix=0.5", play_ten },
  { "fft", "kernel-variant=fft mask=disk mask-width=31", play_ten },
  { "layer", NULL, play_ten },
  { "layer in flight", NULL, play_flush },
  { "stop", "kernel-variant=global frames-in-flight=4", play_stop },
  { "cpu", "kernel-variant=cpu n-threads=3", play_masks },
  { "regions on the cpu", "kernel-variant=cpu apply-to=regions regions=2,2,8,8;12,4,6,6 region-strength=0.2",
      play_ten },
  { "tensor", "kernel-variant=tensor mask=unsharp:2", play_ten },
  { "start again", "kernel-variant=global frames-in-flight=2", play_again },
};

/* --- what is expected --- */

/* The calls and the frames of a run in which nothing failed, for comparison. */
typedef struct
{
  gint calls;
  GPtrArray *frames;
  gchar *again; /* the first frame after the next start */
} Reference;

/* How a run was disturbed, for the text of a failure. */
typedef struct
{
  const gchar *scenario;
  gint call, kind;
} Fault;

static const gchar *const kinds[FAILING_N_KINDS] = { "missing", "memory", "once", "lasting", "host memory" };

static gchar *
tell (const Fault *fault, const Play *run)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "\"%s\", call %d (%s) fails, %s:", fault->scenario, fault->call,
      failing.name () ? failing.name () : "none", kinds[fault->kind]);
  for (guint i = 0; i < run->errors->len; i++)
    g_string_append_printf (text, " error: %s", ((GError *) run->errors->pdata[i])->message);
  return g_string_free (text, FALSE);
}

static void
check_held (const Fault *fault, const Play *run)
{
  g_autofree gchar *what = tell (fault, run);
  gchar held[500];

  fail_unless (failing.held (held, sizeof (held)) == 0, "%s still held: %s", what, held);
}

/* Every frame of the reference is among the frames in its order; no other frame is, unless there may be others. */
static gboolean
have_frames (const GPtrArray *frames, const GPtrArray *expected, gboolean others)
{
  guint k = 0;

  for (guint i = 0; i < frames->len; i++) {
    if (k < expected->len && g_str_equal (frames->pdata[i], expected->pdata[k]))
      k++;
    else if (!others)
      return FALSE;
  }
  return k == expected->len;
}

/* Whether the frames are the first ones of the reference. */
static gboolean
are_first (const GPtrArray *frames, const GPtrArray *expected)
{
  for (guint i = 0; i < frames->len; i++)
    if (i >= expected->len || !g_str_equal (frames->pdata[i], expected->pdata[i]))
      return FALSE;
  return TRUE;
}

static gint
code_of (gint kind)
{
  return kind == FAILING_MISSING                       ? GST_RESOURCE_ERROR_NOT_FOUND
      : kind == FAILING_MEMORY || kind == FAILING_HOST ? GST_RESOURCE_ERROR_NO_SPACE_LEFT
                                                       : GST_RESOURCE_ERROR_FAILED;
}

/* A sticky error, from its first message on, is told as what it is. */
static void
check_error (const Fault *fault, const Play *run)
{
  g_autofree gchar *what = tell (fault, run);
  const GError *error = run->errors->pdata[0];

  fail_unless (run->errors->len == 1, "%s %u errors", what, run->errors->len);
  /* A file that cannot be read is a bad setting, whatever the reason. */
  if (fault->kind == FAILING_HOST && strstr (error->message, "there is no memory"))
    return;
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code_of (fault->kind)), "%s code %d", what, error->code);
  fail_unless (fault->kind != FAILING_LASTING || strstr (error->message, "other CUDA code"), "%s", what);
  fail_unless ((strstr (error->message, "started again") != NULL) == (fault->kind == FAILING_LASTING), "%s", what);
}

/* A frame that was taken comes out before the error, except for those that were under way. */
static void
check_pushed (const Fault *fault, const Play *run)
{
  g_autofree gchar *what = tell (fault, run);

  fail_unless (run->frames->len + run->kept >= run->pushed, "%s %u frames of %u", what, run->frames->len, run->pushed);
}

static void
check_run (const Fault *fault, const Play *run, const Reference *reference)
{
  g_autofree gchar *what = tell (fault, run);
  gboolean on_cpu = run->infos->len > 0;

  if (run->errors->len > 0) {
    check_error (fault, run);
    fail_unless (are_first (run->frames, reference->frames), "%s wrong frames before the error", what);
    check_pushed (fault, run);
  } else {
    fail_unless (!run->failed, "%s a failure without an error", what);
    fail_unless (!on_cpu || fault->kind == FAILING_MISSING, "%s %s", what, "an INFO");
    fail_unless (have_frames (run->frames, reference->frames, on_cpu), "%s %u frames instead of %u, or others", what,
        run->frames->len, reference->frames->len);
  }
}

/* After the failure, the element starts again; after a lasting error of CUDA it says that it cannot. */
static void
check_again (const Fault *fault, Play *run, const Reference *reference)
{
  g_autofree gchar *what = NULL;

  run_again (run);
  start (run);
  push (run, 1);
  send (run, gst_event_new_eos ());
  stop (run);
  what = tell (fault, run);
  if (fault->kind == FAILING_LASTING) {
    fail_unless (run->failed && run->errors->len > 0, "%s the next start worked", what);
    check_error (fault, run);
    failing.begin (0, 0);
    run_again (run);
    start (run);
    push (run, 1);
    send (run, gst_event_new_eos ());
    stop (run);
  }
  fail_unless (run->errors->len == 0 && run->frames->len > 0 && g_str_equal (run->frames->pdata[0], reference->again),
      "%s the next start, %u frames", what, run->frames->len);
  check_held (fault, run);
}

static Reference
make_reference (const Scenario *scenario)
{
  Play run = run_new (scenario);
  Fault none = { .scenario = scenario->name };
  Reference reference;

  failing.begin (0, 0);
  scenario->play (&run);
  stop (&run);
  reference.calls = failing.count ();
  fail_unless (!run.failed && run.errors->len == 0, "%s", tell (&none, &run));
  reference.frames = g_ptr_array_ref (run.frames);
  check_held (&none, &run);
  run.frames = g_ptr_array_new_with_free_func (g_free);
  run_again (&run);
  start (&run);
  push (&run, 1);
  send (&run, gst_event_new_eos ());
  stop (&run);
  fail_unless (run.errors->len == 0 && run.frames->len == 1, "%s the next start", scenario->name);
  reference.again = g_strdup (run.frames->pdata[0]);
  run_free (&run);
  return reference;
}

/* Counts an error that was posted. FALSE where the scenario ended before the call came. */
static gboolean
fail_one (const Scenario *scenario, const Reference *reference, gint call, gint kind, guint *told)
{
  Fault fault = { scenario->name, call, kind };
  Play run = run_new (scenario);
  gboolean came;

  alarm (WAIT);
  failing.begin (call, kind);
  scenario->play (&run);
  stop (&run);
  came = failing.name () != NULL;
  *told += run.errors->len > 0;
  check_run (&fault, &run, reference);
  check_held (&fault, &run);
  if (came)
    check_again (&fault, &run, reference);
  run_free (&run);
  alarm (0);
  return came;
}

/* Whether call number `call` is to fail in this run. */
static gboolean
is_due (gint call, gint calls)
{
  if (!over_driver || calls <= MOST_CALLS || g_getenv ("CUDACONVOLVE_ALL_CASES"))
    return TRUE;
  return g_random_int_range (0, calls) < MOST_CALLS;
}

static void
fail_calls (const Scenario *scenario)
{
  Reference reference = make_reference (scenario);
  gint64 begin = g_get_monotonic_time ();

  for (gint kind = 0; kind < FAILING_N_KINDS; kind++) {
    guint runs = 0, told = 0;

    /* The number of calls varies: memory that is new for every frame is page-locked less and less often. */
    for (gint call = 1, came = TRUE; came; call++) {
      /* A device is missing from the beginning, or not at all. */
      if ((kind == FAILING_MISSING && call > 2) || (kind % FAILING_HOST == 0 && over_driver))
        break;
      if (!is_due (call, reference.calls))
        continue;
      came = fail_one (scenario, &reference, call, kind, &told);
      runs += came;
    }
    g_print ("%s, %s: %u of %d calls failed, %u errors\n", scenario->name, kinds[kind], runs, reference.calls, told);
  }
  g_print ("%s: %.1f s\n", scenario->name, (g_get_monotonic_time () - begin) / 1e6);
  g_ptr_array_unref (reference.frames);
  g_free (reference.again);
}

GST_START_TEST (test_scenario)
{
  fail_calls (&scenarios[__i__]);
}
GST_END_TEST;

static LayerCase layer;
static gchar *folder;

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

static void
find_functions (void)
{
  g_autoptr (GstPlugin) plugin = gst_registry_find_plugin (gst_registry_get (), "cudaconvolve");
  void *module = dlopen (gst_plugin_get_filename (plugin), RTLD_NOW);

  if (!module || !dlsym (module, "failing_begin")) {
    over_driver = TRUE;
    module = dlopen ("libcuda.so.1", RTLD_NOW);
    skip_without_gpu (module);
  }
  fail_unless (module != NULL, "%s", dlerror ());
  failing.begin = (void (*) (int, int)) dlsym (module, "failing_begin");
  failing.count = (int (*) (void)) dlsym (module, "failing_count");
  failing.name = (const char *(*) (void) ) dlsym (module, "failing_name");
  failing.held = (int (*) (char *, size_t)) dlsym (module, "failing_held");
  fail_unless (failing.begin && failing.count && failing.name && failing.held);
}

static void
set_up (void)
{
  static const gfloat weights[2 * 3 * 3] = { 0, 1, 0, 1, 4, 1, 0, 1, 0, -1, 0, 1, -2, 0, 2, -1, 0, 1 };

  fake_device_fault (NULL);
  g_random_set_seed (check_seed ());
  find_functions ();
  folder = check_folder ();
  layer = layer_case_plain (folder, 2, 1, 3, 3, weights);
  layer_line = g_strdup_printf ("layer-location=%s layer-channels=0,1 mosaic=true divisor=8 "
                                "kernel-variant=direct frames-in-flight=2",
      layer.location);
}

static void
tear_down (void)
{
  g_unlink (layer.location);
  layer_case_clear (&layer);
  check_remove_folder (folder);
  g_clear_pointer (&layer_line, g_free);
}

static Suite *
failing_suite (void)
{
  Suite *suite = suite_create ("failing");
  TCase *tc = tcase_create ("failing");

  tcase_set_timeout (tc, 3600);
  tcase_add_unchecked_fixture (tc, set_up, tear_down);
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_scenario, 0, G_N_ELEMENTS (scenarios));
  return suite;
}

GST_CHECK_MAIN (failing);
