/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where auto works on frames in system memory: the contest by itself, with times that are made up, and the element over the fake
 * device, whose frames take as long as the check says. A device that falsifies its results shows where each frame was computed.
 */
#include "base/contest.h"

#include <gmodule.h>
#include <gst/check/gstcheck.h>
#include <stdlib.h>
#include <string.h>

#include "convolve_device.h"
#include "support/element.h"
#include "support/random.h"

/* Frames that are timed on the device, and at most so many on the CPU. */
#define TIMED_DEVICE 36
#define TIMED_HOST 24

/* --- the contest by itself --- */

typedef struct
{
  GstCudaConvolveContest contest;
  guint64 total;                           /* of the frames' times */
  guint frames[GST_CUDA_CONVOLVE_N_SIDES]; /* that each side got */
  guint choices;
} Match;

static void
match_begin (Match *match)
{
  *match = (Match){ 0 };
  gst_cuda_convolve_contest_begin (&match->contest);
}

/* Frames that take so long, and up to noise times as long. */
static void
match_play (Match *match, guint frames, guint64 device, guint64 host, gdouble noise, CheckRandom *random)
{
  for (guint i = 0; i < frames; i++) {
    GstCudaConvolveSide side = match->contest.side;
    guint64 time = side == GST_CUDA_CONVOLVE_HOST ? host : device;

    if (noise > 0 && check_random_one_in (random, 10))
      time += time * noise * check_random_unit (random);
    match->total += time;
    match->frames[side]++;
    match->choices += gst_cuda_convolve_contest_add (&match->contest, time);
  }
}

GST_START_TEST (test_faster_side_wins)
{
  static const struct
  {
    guint64 device, host;
    GstCudaConvolveSide winner;
  } rows[] = {
    { 100000, 100000, GST_CUDA_CONVOLVE_DEVICE },
    { 100000, 96000, GST_CUDA_CONVOLVE_DEVICE },
    { 100000, 93000, GST_CUDA_CONVOLVE_HOST },
    { 100000, 20000, GST_CUDA_CONVOLVE_HOST },
    { 100000, 190000, GST_CUDA_CONVOLVE_DEVICE },
    { 100000, 900000, GST_CUDA_CONVOLVE_DEVICE },
    { 50 * GST_MSECOND, GST_MSECOND, GST_CUDA_CONVOLVE_HOST },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Match match;

    match_begin (&match);
    match_play (&match, TIMED_DEVICE, rows[i].device, rows[i].host, 0, NULL);
    fail_unless (match.frames[GST_CUDA_CONVOLVE_DEVICE] == TIMED_DEVICE && match.choices == 0, "row %u", i);
    match_play (&match, TIMED_HOST, rows[i].device, rows[i].host, 0, NULL);
    fail_unless (match.contest.settled && match.choices == 1 && match.contest.side == rows[i].winner, "row %u", i);
  }
}
GST_END_TEST;

/* Two frames of a side that takes a second are tried, and no others in an hour of frames. One such frame is noise. */
GST_START_TEST (test_hopeless)
{
  Match match;

  match_begin (&match);
  match_play (&match, TIMED_DEVICE + 2, 100000, GST_SECOND, 0, NULL);
  fail_unless (match.contest.settled && match.contest.side == GST_CUDA_CONVOLVE_DEVICE);
  match_play (&match, 200000, 100000, GST_SECOND, 0, NULL);
  fail_unless_equals_int (match.frames[GST_CUDA_CONVOLVE_HOST], 2);
  match_begin (&match);
  match_play (&match, 200000, 4 * GST_MSECOND, 20 * GST_MSECOND, 0, NULL);
  fail_unless_equals_int (match.frames[GST_CUDA_CONVOLVE_HOST], 2);
  match_begin (&match);
  match_play (&match, TIMED_DEVICE, 100000, 50000, 0, NULL);
  match_play (&match, 1, 100000, GST_SECOND, 0, NULL);
  match_play (&match, TIMED_HOST - 1, 100000, 50000, 0, NULL);
  fail_unless (match.contest.settled && match.contest.side == GST_CUDA_CONVOLVE_HOST);
}
GST_END_TEST;

/* Frames that become slow are a reason to time both again, and single slow frames are none. */
GST_START_TEST (test_changed_speed)
{
  CheckRandom random;
  Match match;

  check_random_init (&random, check_seed (), 1);
  match_begin (&match);
  match_play (&match, TIMED_DEVICE + TIMED_HOST, 100000, 60000, 0, NULL);
  fail_unless_equals_int (match.contest.side, GST_CUDA_CONVOLVE_HOST);
  match_play (&match, 2000, 100000, 60000, 9, &random);
  fail_unless_equals_int (match.choices, 1);
  match_play (&match, 90, 100000, 250000, 0, NULL);
  fail_unless (match.choices == 2 && match.contest.side == GST_CUDA_CONVOLVE_DEVICE);
  /* A choice that was wrong is mended by and by. */
  match_play (&match, 12000, 100000, 60000, 0, NULL);
  fail_unless (match.choices == 3 && match.contest.side == GST_CUDA_CONVOLVE_HOST, "%u choices", match.choices);
}
GST_END_TEST;

/*
 * Whatever the times, and where a tenth of the frames takes up to five times as long, a stream that has chosen is never 1.1 times
 * as slow as need be.
 */
GST_START_TEST (test_cost)
{
  CheckRandom random;

  check_random_init (&random, check_seed (), 2);
  for (guint i = 0; i < 300; i++) {
    guint64 device = check_random_range (&random, 5, 3000) * 1000,
            host = device * check_random_range (&random, 5, 4000) / 500;
    guint frames = 60000;
    Match match;
    gdouble better, mean = 1 + 0.1 * 4 * 0.5; /* by noise, of a frame */

    match_begin (&match);
    while (match.choices == 0)
      match_play (&match, 1, device, host, 4, &random);
    match.total = 0;
    match_play (&match, frames, device, host, 4, &random);
    better = (gdouble) frames * MIN (device, host) * mean;
    fail_unless (match.total < 1.1 * better,
        "device %" G_GUINT64_FORMAT " ns, host %" G_GUINT64_FORMAT " ns: %.3f times", device, host,
        match.total / better);
  }
}
GST_END_TEST;

/* --- the element --- */

#define WEIGHTS "mask=\"1 2 1; 2 4 2; 1 2 1\""
#define SLOW (50 * GST_MSECOND)

static gint64 *pace; /* of the fake device */

static struct
{
  GMutex lock;
  guint lines;
  gchar *last;
} listened;

static void
listen_to (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  const gchar *text = gst_debug_message_get (message);

  if (level > GST_LEVEL_INFO || !strstr (text, "a frame in system memory takes"))
    return;
  g_mutex_lock (&listened.lock);
  listened.lines++;
  g_free (listened.last);
  listened.last = g_strdup (text);
  g_mutex_unlock (&listened.lock);
}

static void
setup (void)
{
  g_autoptr (GstPlugin) plugin = gst_plugin_load_by_name ("cudaconvolve");
  GModule *module = g_module_open (gst_plugin_get_filename (plugin), 0);

  fail_unless (g_module_symbol (module, "fake_device_pace", (gpointer *) (void *) &pace));
  g_module_close (module);
  *pace = 0;
  g_unsetenv ("CUDACONVOLVE_AUTO");
  gst_debug_set_active (TRUE);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (listen_to, NULL, NULL);
  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_INFO);
  listened.lines = 0;
}

static void
teardown (void)
{
  *pace = 0;
  fake_device_fault (NULL);
  gst_debug_unset_threshold_for_name ("cudaconvolve");
  gst_debug_remove_log_function (listen_to);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  g_clear_pointer (&listened.last, g_free);
}

/* A copy of the buffer's bytes. */
static GBytes *
bytes_of (GstBuffer *buffer)
{
  gpointer bytes;
  gsize size;

  gst_buffer_extract_dup (buffer, 0, -1, &bytes, &size);
  return g_bytes_new_take (bytes, size);
}

/* The element that is looked at, and one that computes on the CPU, for the same frames. */
typedef struct
{
  GstHarness *harness, *reference;
  GstVideoInfo info;
  GString *places; /* a letter for each frame: d for the device, c for the CPU */
  guint pushed;
} Stream;

/* fault: "wrong:1" shows by each frame's bytes where the frame was computed, and they are compared with the statistics. */
static Stream
stream_new (const gchar *line, const gchar *format, gint width, gint height, const gchar *fault)
{
  Stream stream = { .info = info_of (format, width, height), .places = g_string_new (NULL) };

  fake_device_fault (fault);
  stream.harness = harness_new_for (line, &stream.info);
  stream.reference = harness_new_for (line, &stream.info);
  gst_util_set_object_arg (G_OBJECT (stream.reference->element), "kernel-variant", "cpu-reference");
  g_object_set (stream.reference->element, "cuda-device-id", -1, "frames-in-flight", 1, NULL);
  return stream;
}

static void
stream_free (Stream *stream)
{
  gst_harness_teardown (stream->harness);
  gst_harness_teardown (stream->reference);
  g_string_free (stream->places, TRUE);
}

static void
stream_set_caps (Stream *stream, gint width, gint height)
{
  stream->info = info_of (GST_VIDEO_INFO_NAME (&stream->info), width, height);
  gst_harness_set_src_caps (stream->harness, gst_video_info_to_caps (&stream->info));
  gst_harness_set_src_caps (stream->reference, gst_video_info_to_caps (&stream->info));
}

static guchar
place_of (GstElement *element)
{
  GstStructure *stats;
  g_autofree gchar *variant = NULL;
  const gchar *backend;
  guchar place;

  g_object_get (element, "stats", &stats, "active-variant", &variant, NULL);
  backend = gst_structure_get_string (stats, "backend");
  place = strcmp (backend, "cuda") == 0 ? 'd' : 'c';
  fail_unless (strcmp (variant, gst_structure_get_string (stats, "variant")) == 0
      && (place == 'c') == g_str_has_prefix (variant, "cpu"));
  gst_structure_free (stats);
  return place;
}

static GBytes *
pull (GstHarness *harness)
{
  GstBuffer *out = gst_harness_pull (harness);
  GBytes *bytes = bytes_of (out);

  gst_buffer_unref (out);
  return bytes;
}

/* Pushes a frame, and notes where it was computed. */
static void
stream_push_buffer (Stream *stream, GstBuffer *frame)
{
  const gchar *fault = g_getenv ("CUDACONVOLVE_FAKE");
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) expected = NULL;
  gchar place;

  push_ok (stream->reference, gst_buffer_ref (frame));
  push_ok (stream->harness, frame);
  place = place_of (stream->harness->element);
  g_string_append_c (stream->places, place);
  bytes = pull (stream->harness);
  expected = pull (stream->reference);
  if (fault && g_str_has_prefix (fault, "wrong"))
    fail_unless (g_bytes_equal (bytes, expected) == (place == 'c'), "frame %u was not computed where stats says: %s",
        stream->pushed, stream->places->str);
  else
    fail_unless (g_bytes_equal (bytes, expected), "frame %u: %s", stream->pushed, stream->places->str);
  stream->pushed++;
}

static void
stream_push (Stream *stream, guint frames)
{
  for (guint i = 0; i < frames; i++)
    stream_push_buffer (stream, frame_new (&stream->info, FRAME_PLAIN, stream->pushed));
}

/* The frames since the last call were computed on the device but for the last ones, and so many INFOs came. */
static void
expect_places (Stream *stream, guint device, guint host, guint lines)
{
  g_autofree gchar *on_device = g_strnfill (device, 'd'), *on_host = g_strnfill (host, 'c');
  g_autofree gchar *all = g_strconcat (on_device, on_host, NULL);

  fail_unless_equals_string (stream->places->str, all);
  g_string_truncate (stream->places, 0);
  fail_unless (listened.lines == lines, "%u lines, and %u were expected", listened.lines, lines);
  listened.lines = 0;
}

/* The device is slow: the CPU gets all frames, with the same bytes, and one line says so. */
GST_START_TEST (test_slow_device)
{
  static const gchar *const formats[] = { "GRAY8", "NV12", "RGBA", "v210" };
  static const gchar *const faults[] = { "wrong:1", NULL };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    Stream stream;

    if (faults[i % 2] && strcmp (formats[i / 2], "v210") == 0)
      continue; /* 10 bits are not falsified */
    stream = stream_new ("cudaconvolve " WEIGHTS, formats[i / 2], 96, 48, faults[i % 2]);
    *pace = SLOW;
    stream_push (&stream, 80);
    expect_places (&stream, TIMED_DEVICE, 80 - TIMED_DEVICE, 1);
    fail_unless (g_str_has_suffix (listened.last, "the CPU works"), "%s", listened.last);
    fail_unless (strstr (listened.last, "takes the device 50"), "%s", listened.last);
    stream_free (&stream);
  }
}
GST_END_TEST;

/* The device is fast, and the mask takes the CPU long. */
GST_START_TEST (test_fast_device)
{
  g_autoptr (GString) mask = g_string_new ("cudaconvolve mask=\"");
  Stream stream;
  guint host = 0;

  for (guint i = 0; i < 81; i++)
    g_string_append_printf (mask, "%u%s", i * i % 17, i == 80 ? "\"" : i % 9 == 8 ? "; " : " ");
  stream = stream_new (mask->str, "GRAY8", 320, 240, "wrong:1");
  stream_push (&stream, 100);
  for (guint i = 0; i < 100; i++)
    host += stream.places->str[i] == 'c';
  fail_unless (host >= 2 && host <= TIMED_HOST && strspn (stream.places->str, "d") == TIMED_DEVICE
          && strspn (stream.places->str + TIMED_DEVICE, "c") == host,
      "%s", stream.places->str);
  fail_unless (listened.lines == 1 && g_str_has_suffix (listened.last, "the device works"), "%s", listened.last);
  stream_free (&stream);
}
GST_END_TEST;

/* With frames in flight, order and bytes hold through the switch, and the latency stays. */
GST_START_TEST (test_frames_in_flight)
{
  Stream stream = stream_new ("cudaconvolve frames-in-flight=3 " WEIGHTS, "NV12", 64, 48, NULL);
  guint out = 0;

  *pace = SLOW;
  for (guint i = 0; i < 90; i++) {
    GstBuffer *frame = frame_new (&stream.info, FRAME_PLAIN, i);

    GST_BUFFER_PTS (frame) = i * GST_MSECOND;
    push_ok (stream.reference, gst_buffer_ref (frame));
    push_ok (stream.harness, frame);
    g_string_append_c (stream.places, place_of (stream.harness->element));
    /* The first frame leaves at once. */
    fail_unless_equals_int (gst_harness_buffers_received (stream.harness), MAX (1, (gint) i - 1));
  }
  gst_harness_push_event (stream.harness, gst_event_new_eos ());
  for (GstBuffer *buffer; (buffer = gst_harness_try_pull (stream.harness)); out++) {
    g_autoptr (GBytes) bytes = bytes_of (buffer);
    g_autoptr (GBytes) expected = pull (stream.reference);

    fail_unless (g_bytes_equal (bytes, expected), "frame %u", out);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), out * GST_MSECOND);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (out, 90);
  expect_places (&stream, TIMED_DEVICE, 90 - TIMED_DEVICE, 1);
  stream_free (&stream);
}
GST_END_TEST;

/* Caps, the mask, the number of threads and the kind of memory make both be timed again. */
GST_START_TEST (test_timed_again)
{
  Stream stream = stream_new ("cudaconvolve n-threads=1 " WEIGHTS, "GRAY8", 64, 48, "wrong:1");
  const guint all = TIMED_DEVICE + TIMED_HOST + 6;
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&stream.info);

  gst_buffer_pool_config_set_params (config, caps, stream.info.size, 2, 0);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  *pace = SLOW;
  stream_push (&stream, all);
  expect_places (&stream, TIMED_DEVICE, TIMED_HOST + 6, 1);
  for (guint i = 0; i < all; i++) {
    g_autoptr (GstBuffer) plain = frame_new (&stream.info, FRAME_PLAIN, i);
    g_autoptr (GBytes) bytes = bytes_of (plain);
    GstBuffer *frame;

    gst_buffer_pool_acquire_buffer (pool, &frame, NULL);
    gst_buffer_fill (frame, 0, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
    stream_push_buffer (&stream, frame);
  }
  expect_places (&stream, TIMED_DEVICE, TIMED_HOST + 6, 1);
  stream_push (&stream, all); /* without the pool */
  expect_places (&stream, TIMED_DEVICE, TIMED_HOST + 6, 1);
  g_object_set (stream.harness->element, "n-threads", 2, NULL);
  stream_push (&stream, all);
  expect_places (&stream, TIMED_DEVICE, TIMED_HOST + 6, 1);
  g_object_set (stream.harness->element, "mask", "box", NULL);
  g_object_set (stream.reference->element, "mask", "box", NULL);
  stream_push (&stream, all);
  expect_places (&stream, TIMED_DEVICE, TIMED_HOST + 6, 1);
  stream_set_caps (&stream, 80, 40);
  stream_push (&stream, all);
  expect_places (&stream, TIMED_DEVICE, TIMED_HOST + 6, 1);
  /* Caps that equal the present ones are no change. */
  stream_set_caps (&stream, 80, 40);
  stream_push (&stream, 10);
  expect_places (&stream, 0, 10, 0);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  stream_free (&stream);
}
GST_END_TEST;

/* Where the user or the memory says where the work is done, or the bytes could differ, nothing is timed. */
GST_START_TEST (test_no_choice)
{
  static const struct
  {
    const gchar *line, *format, *fault, *automatic;
  } rows[] = {
    { "cudaconvolve frames-in-flight=3 " WEIGHTS, "GRAY8", "one-stream", NULL }, /* all memory is CUDA memory */
    { "cudaconvolve " WEIGHTS, "GRAY8", NULL, "rules" },
    { "cudaconvolve cuda-device-id=0 " WEIGHTS, "GRAY8", NULL, NULL },
    { "cudaconvolve kernel-variant=global " WEIGHTS, "GRAY8", NULL, NULL },
    { "cudaconvolve mask=\"0.10013 0.2707 0.3111; 0.2123 0.0531 0.19; 0.01 0.077 0.1731\"", "GRAY16_LE", NULL,
        NULL }, /* not reproducible */
    { "cudaconvolve apply-to=outside-regions regions=8,8,16,16 " WEIGHTS, "GRAY8", NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstVideoInfo info = info_of (rows[i].format, 64, 48);
    GstBuffer *frames[60 + CONVOLVE_MAX_FRAMES];
    GstHarness *harness;

    fake_device_fault (rows[i].fault);
    if (rows[i].automatic)
      g_setenv ("CUDACONVOLVE_AUTO", rows[i].automatic, TRUE);
    harness = harness_new_for (rows[i].line, &info);
    *pace = SLOW;
    for (guint k = 0; k < G_N_ELEMENTS (frames); k++) {
      /* The fake device needs the plans of frames in CUDA memory that nobody waits for. The last frames wait for them. */
      if (k == 60)
        fake_device_fault (NULL);
      frames[k] = frame_new (&info, FRAME_PLAIN, k);
      push_ok (harness, gst_buffer_ref (frames[k]));
      fail_unless_equals_int (place_of (harness->element), 'd');
    }
    fail_unless (listened.lines == 0, "row %u: %s", i, listened.last);
    gst_harness_push_event (harness, gst_event_new_eos ());
    gst_harness_teardown (harness);
    for (guint k = 0; k < G_N_ELEMENTS (frames); k++)
      gst_buffer_unref (frames[k]);
    g_unsetenv ("CUDACONVOLVE_AUTO");
  }
}
GST_END_TEST;

static Suite *
contest_suite (void)
{
  Suite *suite = suite_create ("contest");
  TCase *alone = tcase_create ("contest"), *element = tcase_create ("element");

  suite_add_tcase (suite, alone);
  tcase_add_test (alone, test_faster_side_wins);
  tcase_add_test (alone, test_hopeless);
  tcase_add_test (alone, test_changed_speed);
  tcase_add_test (alone, test_cost);
  suite_add_tcase (suite, element);
  tcase_set_timeout (element, 300);
  tcase_add_checked_fixture (element, setup, teardown);
  tcase_add_test (element, test_slow_device);
  tcase_add_test (element, test_fast_device);
  tcase_add_test (element, test_frames_in_flight);
  tcase_add_test (element, test_timed_again);
  tcase_add_test (element, test_no_choice);
  return suite;
}

GST_CHECK_MAIN (contest);
