/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many elements in one process, several processes on one device, and many frames in CUDA memory. */
#include "element/base/soak.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <stdlib.h>
#include <string.h>

#define COLLECTED 3
#define UNDER_WAY 6

/* --- forty elements at once --- */

#define ELEMENTS 40

/* Pipelines differ in size, format and settings. */
static gchar *
make_line (guint k)
{
  static const gchar *const formats[] = { "I420", "NV12", "GRAY8", "RGBA", "P010_10LE" };
  g_autofree gchar *element = soak_element ();

  return g_strdup_printf (
      "videotestsrc pattern=zone-plate kx2=24 ky2=17 ! "
      "video/x-raw,format=%s,width=%u,height=%u,framerate=25/1 ! identity sleep-time=1000 ! %s%s ! fakesink name=sink sync=false",
      formats[k % G_N_ELEMENTS (formats)], 32 + k, 24 + k % 7, k % 3 == 0 ? "queue max-size-buffers=2 ! " : "",
      element);
}

static Play *
start_play (guint k, const Setting *setting)
{
  g_autofree gchar *line = make_line (k);
  Play *play = play_new (line);

  setting_apply (setting, play_element (play));
  return play;
}

static void
sample_all (Play **plays, Usage *usage, guint64 done)
{
  /* An element that was just started does not yet use what it will use. */
  for (guint k = 0; k < ELEMENTS; k++)
    play_wait_frames (plays[k], UNDER_WAY);
  for (guint k = 0; k < ELEMENTS; k++)
    play_hold (plays[k]);
  usage_sample (usage, done);
  for (guint k = 0; k < ELEMENTS; k++)
    play_release (plays[k]);
}

/* A pipeline that is stopped and started while the others run. */
static void
restart (Play *play)
{
  play_set_state (play, GST_STATE_NULL, TRUE);
  play_set_state (play, GST_STATE_PLAYING, FALSE);
}

/*
 * Forty pipelines run until each has made so many frames, while one after the other is stopped and started again. At
 * the end each must give what its line gives when it runs alone.
 */
void
soak_elements (guint64 frames)
{
  Setting *settings[ELEMENTS];
  gchar *expected[ELEMENTS];
  Play *plays[ELEMENTS];
  guint64 done = 0, all = 0;
  guint restarts = 0;
  Usage *usage = soak_usage_new (frames);

  usage_allow (usage, 24 * 1024, 0);
  for (guint k = 0; k < ELEMENTS; k++) {
    Play *alone;

    settings[k] = setting_new ();
    alone = start_play (k, settings[k]);
    play_collect (alone, COLLECTED);
    play_set_state (alone, GST_STATE_PLAYING, FALSE);
    expected[k] = play_checksum (alone);
    play_free (alone);
    plays[k] = start_play (k, settings[k]);
  }
  for (guint k = 0; k < ELEMENTS; k++)
    play_set_state (plays[k], GST_STATE_PLAYING, FALSE);
  while (done < frames || !usage_is_enough (usage)) {
    done = G_MAXUINT64;
    restart (plays[restarts++ % ELEMENTS]);
    for (guint k = 0; k < ELEMENTS; k++) {
      play_wait_frames (plays[k], 1);
      done = MIN (done, play_frames (plays[k]));
    }
    if (usage_is_due (usage, done))
      sample_all (plays, usage, done);
  }
  for (guint k = 0; k < ELEMENTS; k++) {
    g_autofree gchar *line = make_line (k);
    g_autofree gchar *checksum = NULL;

    play_collect (plays[k], COLLECTED);
    checksum = play_checksum (plays[k]);
    soak_compare (line, checksum, expected[k]);
  }
  for (guint k = 0; k < ELEMENTS; k++) {
    all += play_frames (plays[k]);
    play_free (plays[k]);
    setting_free (settings[k]);
    g_free (expected[k]);
  }
  g_print ("elements: %d at once, %" G_GUINT64_FORMAT " frames, each at least %" G_GUINT64_FORMAT
           ", %u restarts, all checksums compared\n",
      ELEMENTS, all, frames, restarts);
  soak_usage_end (usage);
}

/* --- four processes at once --- */

#define PROCESSES 4

typedef struct
{
  gchar *argument;
  gchar *output, *errors;
  gint status;
} Child;

static gpointer
run_child (gpointer data)
{
  Child *child = data;
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "CUDACONVOLVE_SOAK_CHILD", "1", TRUE);
  const gchar *emulator = usage_emulator ();
  g_autofree gchar *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree gchar *name = g_shell_quote (program);
  g_autofree gchar *line = g_strjoin (" ", emulator ? emulator : "", name, child->argument, NULL);
  g_auto (GStrv) arguments = NULL;
  g_autoptr (GError) error = NULL;

  if (!g_shell_parse_argv (line, NULL, &arguments, &error)
      || !g_spawn_sync (NULL, arguments, environment, G_SPAWN_DEFAULT, NULL, NULL, &child->output, &child->errors,
          &child->status, &error)) {
    child->status = -1;
    child->errors = g_strdup (error->message);
  }
  return NULL;
}

/*
 * Each process changes masks while frames run, as the part masks does, with the same seed. All must end well. Memory
 * of the GPU that all of them took must be free again when they have ended.
 */
void
soak_processes (guint64 changes)
{
  Child children[PROCESSES] = { 0 };
  GThread *threads[PROCESSES];
  guint64 before = usage_of_device (), after;

  for (guint i = 0; i < PROCESSES; i++) {
    children[i].argument = g_strdup_printf ("masks=%" G_GUINT64_FORMAT, changes);
    threads[i] = g_thread_new ("process", run_child, &children[i]);
  }
  for (guint i = 0; i < PROCESSES; i++) {
    Child *child = &children[i];

    g_thread_join (threads[i]);
    g_print ("processes: the output of process %u of %d:\n%s%s", i + 1, PROCESSES, child->output ? child->output : "",
        child->errors);
    if (child->status != 0)
      soak_fail ("process %u of %d ended with the status %d", i + 1, PROCESSES, child->status);
    g_free (child->argument);
    g_free (child->output);
    g_free (child->errors);
  }
  after = usage_of_device ();
  g_print ("processes: %d at once, %" G_GUINT64_FORMAT " changes of the mask in each\n", PROCESSES, changes);
  if (before > 0) {
    g_print ("processes: GPU memory %.1f MiB before, %.1f MiB after\n", before / 1048576.0, after / 1048576.0);
    if (after > before + 16 * 1048576)
      soak_fail ("memory of the GPU is not free again");
  }
}

/* --- frames in CUDA memory --- */

#define CUDA_CAPS "video/x-raw(memory:CUDAMemory),format=NV12,width=64,height=48,framerate=25/1"
#define UPLOADED 8

gboolean
soak_has_cuda (void)
{
  GstElementFactory *factory = gst_element_factory_find ("cudaupload");
  gboolean found = factory && usage_of_device () > 0;

  gst_clear_object (&factory);
  return found;
}

/* Frames in CUDA memory, all with the same picture. */
static void
upload (GstSample **samples)
{
  GstElement *pipeline =
      gst_parse_launch ("videotestsrc pattern=zone-plate kx2=24 ky2=17 num-buffers=8 ! "
                        "video/x-raw,format=NV12,width=64,height=48,framerate=25/1 ! cudaupload ! " CUDA_CAPS
                        " ! appsink name=up sync=false",
          NULL);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "up");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < UPLOADED; i++) {
    samples[i] = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 60 * GST_SECOND);
    if (!samples[i]) {
      g_printerr ("cudaupload makes no frame\n");
      exit (1);
    }
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/*
 * Buffers of its own over the memory of the uploaded frames, so that a source has nothing to draw and nothing to
 * copy.
 */
static void
push_frame (GstAppSrc *source, GstSample *const *samples, guint64 number)
{
  GstBuffer *buffer = gst_buffer_copy (gst_sample_get_buffer (samples[number % UPLOADED]));

  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_app_src_push_buffer (source, buffer);
}

typedef struct
{
  GstAppSrc *source;
  GstSample *samples[UPLOADED];
  gint stop; /* atomic */
} Feed;

static gpointer
feed_frames (gpointer data)
{
  Feed *feed = data;

  for (guint64 i = 0; !g_atomic_int_get (&feed->stop); i++)
    push_frame (feed->source, feed->samples, i);
  return NULL;
}

static Play *
cuda_new (Feed *feed, const gchar *element)
{
  g_autofree gchar *line =
      g_strdup_printf ("appsrc name=source format=time block=true max-buffers=8 max-bytes=0 "
                       "caps=\"" CUDA_CAPS "\" ! %s ! " CUDA_CAPS " ! fakesink name=sink sync=false",
          element);
  Play *play = play_new (line);

  feed->source = GST_APP_SRC (gst_bin_get_by_name (GST_BIN (play_pipeline (play)), "source"));
  g_atomic_int_set (&feed->stop, 0);
  return play;
}

static void
cuda_free (Feed *feed, Play *play, GThread *thread)
{
  g_atomic_int_set (&feed->stop, 1);
  play_set_state (play, GST_STATE_NULL, TRUE); /* the source then takes frames without waiting */
  g_thread_join (thread);
  g_clear_object (&feed->source);
  play_free (play);
}

static gchar *
cuda_checksum (Feed *feed, const gchar *element)
{
  Play *play = cuda_new (feed, element);
  GThread *thread = g_thread_new ("feed", feed_frames, feed);
  gchar *checksum;

  play_collect (play, COLLECTED);
  play_set_state (play, GST_STATE_PLAYING, FALSE);
  checksum = play_checksum (play);
  cuda_free (feed, play, thread);
  return checksum;
}

/* From CUDA memory to CUDA memory; the plain loop of the CPU gives the checksum that is expected. */
void
soak_cuda (guint64 frames)
{
  g_autofree gchar *element = soak_element (), *expected = NULL, *fresh = NULL, *checksum = NULL;
  Feed feed = { 0 };
  Usage *usage;
  Play *play;
  GThread *thread;
  gint64 start;

  upload (feed.samples);
  expected = cuda_checksum (&feed, "cudaconvolve name=c kernel-variant=cpu-reference");
  fresh = cuda_checksum (&feed, element);
  soak_compare ("the first frames", fresh, expected);
  usage = soak_usage_new (frames);
  play = cuda_new (&feed, element);
  thread = g_thread_new ("feed", feed_frames, &feed);
  start = g_get_monotonic_time ();
  play_set_state (play, GST_STATE_PLAYING, TRUE);
  for (guint64 done = 0; done < frames;) {
    play_wait_frames (play, 1000);
    done = play_frames (play);
    if (usage_is_due (usage, done)) {
      play_hold (play);
      usage_sample (usage, done);
      play_release (play);
    }
  }
  play_wait_frames (play, UNDER_WAY);
  play_collect (play, COLLECTED);
  checksum = play_checksum (play);
  soak_compare ("the last frames", checksum, expected);
  g_print ("cuda: %" G_GUINT64_FORMAT " frames in CUDA memory, %.1f us each, checksum %.16s\n", play_frames (play),
      (gdouble) (g_get_monotonic_time () - start) / play_frames (play), checksum);
  cuda_free (&feed, play, thread);
  for (guint i = 0; i < UPLOADED; i++)
    gst_sample_unref (feed.samples[i]);
  soak_usage_end (usage);
}
