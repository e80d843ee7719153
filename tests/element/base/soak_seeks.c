/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Seeks and flushes at random, with frames in flight and pools of few buffers on both sides. */
#include "element/base/soak.h"

#include "support/pools.h"

#define LENGTH (4 * GST_SECOND) /* of the clip, and of what is played of the test picture */
#define SETTINGS 200

typedef struct
{
  Play *play;
  Setting **settings; /* SETTINGS of them, from which changes are drawn */
  gboolean is_test, has_queue;
  gboolean playing;
  gint lent; /* buffers that the sink's pool has at most; atomic */
  guint seeks, flushes, refused;
} Stream;

/* --- pools of few buffers --- */

static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Stream *stream = data;

  return pools_offer (probe, g_atomic_int_get (&stream->lent), g_atomic_int_get (&stream->lent));
}

/*
 * Upstream gets as many buffers as the element asks for, and those that upstream needs itself: one that is being
 * drawn, and in a queue three more. One more lets the stream go on where a pad forgets that it is to negotiate anew:
 * GStreamer sets that flag without the pad's lock, and a flush sets another flag in the same word. check_memory does
 * without it.
 */
static GstPadProbeReturn
limit_pool (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Stream *stream = data;

  return pools_limit (probe, stream->has_queue ? 5 : 2);
}

static void
add_probes (Stream *stream)
{
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (play_pipeline (stream->play)), "sink");
  g_autoptr (GstPad) output = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstPad) input = gst_element_get_static_pad (play_element (stream->play), "sink");

  gst_pad_add_probe (output, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, stream, NULL);
  if (stream->is_test)
    gst_pad_add_probe (input, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PULL, limit_pool, stream, NULL);
}

/* Another size of the sink's pool, for which the element has to ask again. */
static void
change_pool (Stream *stream)
{
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (play_pipeline (stream->play)), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");

  g_atomic_int_set (&stream->lent, check_random_range (&soak_random, 2, 6));
  gst_pad_push_event (pad, gst_event_new_reconfigure ());
}

/* --- what is done to the stream --- */

static void
seek (Stream *stream, GstClockTime start)
{
  GstSeekFlags flags = check_random_one_in (&soak_random, 2) ? GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_KEY_UNIT;

  stream->seeks++;
  if (!gst_element_seek (play_pipeline (stream->play), 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | flags,
          GST_SEEK_TYPE_SET, start, GST_SEEK_TYPE_SET, LENGTH))
    stream->refused++;
}

static void
seek_anywhere (Stream *stream)
{
  seek (stream, check_random_range (&soak_random, 0, 99) * (LENGTH / 100));
}

/* The source flushes what is behind the source, and goes on. */
static void
flush (Stream *stream)
{
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (play_pipeline (stream->play)), "source");

  stream->flushes++;
  gst_element_send_event (source, gst_event_new_flush_start ());
  gst_element_send_event (source, gst_event_new_flush_stop (check_random_one_in (&soak_random, 2)));
}

static void
play_or_pause (Stream *stream, gboolean playing, gboolean wait)
{
  stream->playing = playing;
  play_set_state (stream->play, playing ? GST_STATE_PLAYING : GST_STATE_PAUSED, wait);
}

static void
change_mask (Stream *stream)
{
  setting_apply (stream->settings[check_random_range (&soak_random, 0, SETTINGS - 1)], play_element (stream->play));
}

static void
act (Stream *stream)
{
  play_settle (stream->play);
  switch (check_random_range (&soak_random, 0, 9)) {
    case 0:
      for (gint i = check_random_range (&soak_random, 2, 4); i > 0; i--)
        seek_anywhere (stream);
      break;
    case 1:
      play_or_pause (stream, check_random_one_in (&soak_random, 2), check_random_one_in (&soak_random, 2));
      break;
    case 2:
      g_object_set (play_element (stream->play), "frames-in-flight", check_random_range (&soak_random, 1, 4), NULL);
      break;
    case 3:
      change_mask (stream);
      break;
    case 4:
      change_pool (stream);
      break;
    case 5:
      if (stream->is_test)
        flush (stream);
      break;
    default:
      seek_anywhere (stream);
      break;
  }
  if (stream->playing && check_random_one_in (&soak_random, 2))
    play_wait_frames (stream->play, check_random_range (&soak_random, 1, 8));
}

/* Settings that do not depend on what was before, and the whole stream from its start. */
static void
start_anew (Stream *stream)
{
  gst_util_set_object_arg (G_OBJECT (play_element (stream->play)), "frames-in-flight", "4");
  g_atomic_int_set (&stream->lent, 4);
  play_or_pause (stream, FALSE, TRUE);
  seek (stream, 0);
}

static gchar *
whole_checksum (Stream *stream, const Setting *setting)
{
  setting_apply (setting, play_element (stream->play));
  start_anew (stream);
  play_collect (stream->play, G_MAXUINT);
  seek (stream, 0);
  play_or_pause (stream, TRUE, FALSE);
  return play_checksum (stream->play);
}

static void
sample (Stream *stream, const Setting *setting, Usage *usage, guint64 done)
{
  setting_apply (setting, play_element (stream->play));
  start_anew (stream);
  play_hold_after (stream->play, 8);
  play_or_pause (stream, TRUE, TRUE);
  play_wait_held (stream->play);
  usage_sample (usage, done);
  play_release (stream->play);
}

static Stream
stream_new (const gchar *source, gboolean is_test, Setting **settings)
{
  g_autofree gchar *element = soak_element ();
  g_autofree gchar *line = g_strdup_printf ("%s ! %s ! fakesink name=sink sync=false", source, element);
  Stream stream = { .play = play_new (line), .settings = settings, .is_test = is_test, .lent = 4 };

  return stream;
}

/*
 * Uses every setting for a few frames. A kernel of the device stays in memory after its first use, and is not to count as
 * growth.
 */
static void
load_kernels (const gchar *source, Setting **settings)
{
  Stream stream = stream_new (source, TRUE, settings);

  play_or_pause (&stream, TRUE, TRUE);
  for (guint i = 0; i < SETTINGS; i++) {
    setting_apply (settings[i], play_element (stream.play));
    seek (&stream, 0);
    play_wait_frames (stream.play, 6);
  }
  if (stream.refused > 0)
    soak_fail ("%u seeks were refused", stream.refused);
  play_free (stream.play);
}

/* For so many milliseconds. The stream from its start must then be the same as in a new pipeline. */
static void
seek_for (const gchar *source, gboolean is_test, gboolean has_queue, Setting **settings, guint64 length)
{
  Setting *setting = settings[0];
  Stream fresh = stream_new (source, is_test, settings), stream = stream_new (source, is_test, settings);
  gint64 start = g_get_monotonic_time ();
  Usage *usage = soak_usage_new (length);
  g_autofree gchar *expected = NULL, *checksum = NULL;
  guint64 done;

  expected = whole_checksum (&fresh, setting);
  play_free (fresh.play);
  stream.has_queue = has_queue;
  add_probes (&stream);
  play_or_pause (&stream, TRUE, TRUE);
  seek (&stream, 0);
  /* A decoder has large frames and threads of its own. */
  if (!is_test)
    usage_allow (usage, 16 * 1024, 8 * 1024);
  while ((done = (g_get_monotonic_time () - start) / 1000) < length || !usage_is_enough (usage)) {
    act (&stream);
    if (usage_is_due (usage, done))
      sample (&stream, setting, usage, done);
  }
  checksum = whole_checksum (&stream, setting);
  soak_compare (source, checksum, expected);
  if (stream.refused > 0)
    soak_fail ("%u seeks were refused", stream.refused);
  g_print ("seeks: %" G_GUINT64_FORMAT " ms of %s: %u seeks, %u flushes, %" G_GUINT64_FORMAT
           " frames, checksum %.16s\n",
      length, source, stream.seeks, stream.flushes, play_frames (stream.play), checksum);
  play_free (stream.play);
  soak_usage_end (usage);
}

static gboolean
has_clip (void)
{
  static const gchar *const needed[] = { "decodebin", "qtdemux", "avdec_h264" };

  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    GstElementFactory *factory = gst_element_factory_find (needed[i]);

    if (!factory) {
      g_print ("seeks: the clip is left out: there is no element %s\n", needed[i]);
      return FALSE;
    }
    gst_object_unref (factory);
  }
  return g_getenv ("CUDACONVOLVE_CLIP") != NULL;
}

#define TEST_SOURCE "videotestsrc name=source pattern=ball ! video/x-raw,format=I420,width=64,height=48,framerate=25/1"

void
soak_seeks (guint64 seconds)
{
  gboolean clip = has_clip ();
  guint64 length = seconds * 1000 / (clip ? 3 : 2);
  Setting *settings[SETTINGS];

  for (guint i = 0; i < SETTINGS; i++)
    settings[i] = setting_new ();
  load_kernels (TEST_SOURCE, settings);
  seek_for (TEST_SOURCE, TRUE, FALSE, settings, length);
  seek_for (TEST_SOURCE " ! queue max-size-buffers=2", TRUE, TRUE, settings, length);
  if (clip) {
    g_autofree gchar *source = g_strdup_printf ("filesrc location=\"%s\" ! decodebin", g_getenv ("CUDACONVOLVE_CLIP"));

    seek_for (source, FALSE, FALSE, settings, length);
  }
  for (guint i = 0; i < SETTINGS; i++)
    setting_free (settings[i]);
}
