/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolves the video of a media file and says how it went:
 *
 *   convolve_file [--clip=OUT.webm] [--picture=OUT.png] [--window] [--sink=ELEMENT] FILE [PROPERTY=VALUE...]
 *
 * Properties are those of cudaconvolve, such as mask=sobel-x bias=0.5. The file is decoded and convolved once. A tee
 * hands every frame to the window and to the encoder. The window may drop frames, the encoder may not. A picture shows
 * one frame before and after. Ctrl-C, or closing the window, ends the clip at that frame. Clip and picture appear when they
 * are complete; after an error there are the earlier ones, or none.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib-unix.h>
#include <gst/gst.h>

#include "branches.h"
#include "play.h"
#include "picture.h"
#include "progress.h"
#include "properties.h"
#include "result.h"

#define INPUT \
  "filesrc name=source ! decodebin caps=video/x-raw(ANY) expose-all-streams=false ! " \
  "cudaconvolve name=convolve ! tee name=frames"
#define CLIP \
  "queue ! videoconvert ! vp8enc deadline=1 cpu-used=4 threads=4 end-usage=cq cq-level=4 max-quantizer=20 " \
  "target-bitrate=30000000 ! webmmux ! filesink name=file"
#define NO_FRAME G_MAXUINT64

typedef struct
{
  const char *file;
  char **properties; /* NAME=VALUE, ends with NULL */

  GMainLoop *loop;
  GstElement *pipeline, *convolve;
  GstElement *clip, *window, *nothing; /* the branches, NULL where not wanted */
  gboolean ok;
  gboolean window_gone;
  int stopping;      /* atomic */
  gboolean terminal; /* progress is overwritten in place */
  Silence silence;
  Result clip_file, picture_file;

  /* Used only in the streaming thread. */
  gboolean want_picture;
  guint64 frames_in;
  guint64 keep;       /* the number of the frame that is kept before and awaited after the element, or NO_FRAME */
  GstClockTime next;  /* where in the film the next frame is kept */
  GstSample *pending; /* the frame `keep` before the element */
  GstSample *before, *after;
  GstClockTime begin; /* where in the film the last frame begins */
  gint64 due;         /* microseconds at which that frame was due in the window */

  Progress out; /* the frames that came out */
} Run;

/* Where in the film a buffer is. */
static GstClockTime
stream_time (GstPad *pad, GstBuffer *buffer)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment;
  GstClockTime time = GST_CLOCK_TIME_NONE;

  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME)
      time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
    gst_event_unref (event);
  }
  return time;
}

static GstClockTime
film_duration (const Run *run)
{
  GstPad *pad = gst_element_get_static_pad (run->convolve, "sink");
  gint64 duration;

  if (!gst_pad_peer_query_duration (pad, GST_FORMAT_TIME, &duration) || duration <= 0)
    duration = GST_CLOCK_TIME_NONE;
  gst_object_unref (pad);
  return duration;
}

/*
 * The picture shows the middle of the film. Until the middle comes, frames at 0, 1, 2, 4, ... seconds stand in, because
 * the run may end early and the duration may be unknown.
 */
static GstPadProbeReturn
frame_in (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime time = stream_time (pad, buffer);

  if (g_atomic_int_get (&run->stopping))
    return GST_PAD_PROBE_OK;
  if (!GST_CLOCK_TIME_IS_VALID (time) && run->frames_in == 0)
    time = 0;
  if (run->want_picture && run->keep == NO_FRAME && GST_CLOCK_TIME_IS_VALID (time) && time >= run->next) {
    GstClockTime duration = film_duration (run), middle = duration / 2;

    run->keep = run->frames_in;
    run->pending = keep_frame (pad, buffer);
    run->next = MAX (2 * time, GST_SECOND);
    if (GST_CLOCK_TIME_IS_VALID (duration))
      run->next = time < middle ? MIN (run->next, middle) : GST_CLOCK_TIME_NONE;
  }
  run->frames_in++;
  return GST_PAD_PROBE_OK;
}

/*
 * With a window the film plays no faster than its own pace. The program waits before the tee, where waiting makes no
 * branch drop a frame. A delay is not made up for, so that the frames after a slow start do not come in a rush.
 */
static void
wait_until_due (Run *run, GstClockTimeDiff since_last)
{
  gint64 now = g_get_monotonic_time ();

  run->due += CLAMP (since_last / 1000, 0, G_USEC_PER_SEC);
  if (run->due > now && !g_atomic_int_get (&run->stopping))
    g_usleep (run->due - now);
  else
    run->due = now;
}

static GstPadProbeReturn
frame_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstClockTime time = stream_time (pad, buffer), end = time;

  if (g_atomic_int_get (&run->stopping))
    return GST_PAD_PROBE_OK;
  if (GST_CLOCK_TIME_IS_VALID (time)) {
    if (run->window && GST_CLOCK_TIME_IS_VALID (run->begin))
      wait_until_due (run, GST_CLOCK_DIFF (run->begin, time));
    /* The user may have stopped the film meanwhile. */
    if (g_atomic_int_get (&run->stopping))
      return GST_PAD_PROBE_OK;
    run->begin = time;
    if (GST_BUFFER_DURATION_IS_VALID (buffer))
      end += GST_BUFFER_DURATION (buffer);
  }
  if (run->out.frames == run->keep) {
    GstSample *after = keep_frame (pad, buffer);

    if (run->pending && after) {
      g_clear_pointer (&run->before, gst_sample_unref);
      g_clear_pointer (&run->after, gst_sample_unref);
      run->before = g_steal_pointer (&run->pending);
      run->after = g_steal_pointer (&after);
    }
    g_clear_pointer (&run->pending, gst_sample_unref);
    g_clear_pointer (&after, gst_sample_unref);
    run->keep = NO_FRAME;
  }
  progress_add (&run->out, time, end);
  return GST_PAD_PROBE_OK;
}

/*
 * A late window asks upstream to leave frames out. The request is dropped, because the encoder would miss those
 * frames too.
 */
static GstPadProbeReturn
keep_quality (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_QOS ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static void
add_probe (GstElement *element, const char *pad_name, GstPadProbeType type, GstPadProbeCallback callback, Run *run)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);

  gst_pad_add_probe (pad, type, callback, run, NULL);
  gst_object_unref (pad);
}

static gboolean
progress_tick (gpointer data)
{
  Run *run = data;

  progress_show (&run->out, NULL, film_duration (run), run->terminal, FALSE);
  return G_SOURCE_CONTINUE;
}

/* A second. */
static gboolean
silence_comes (gpointer data)
{
  Run *run = data;
  GstPad *pad = gst_element_get_static_pad (run->convolve, "sink");
  guint64 frames = progress_frames (&run->out);

  if (!g_atomic_int_get (&run->stopping)
      && !silence_tick (&run->silence, pad, frames, run->file, run->terminal && frames > 0)) {
    run->ok = FALSE;
    g_main_loop_quit (run->loop);
  }
  gst_object_unref (pad);
  return G_SOURCE_CONTINUE;
}

static gboolean
give_up (gpointer data)
{
  Run *run = data;

  g_printerr ("%sThe film could not be brought to an end.\n", run->terminal ? "\n" : "");
  run->ok = FALSE;
  g_main_loop_quit (run->loop);
  return G_SOURCE_REMOVE;
}

static void
end_branch (GstElement *branch)
{
  GstPad *pad = gst_element_get_static_pad (branch, "sink");

  gst_pad_send_event (pad, gst_event_new_eos ());
  gst_object_unref (pad);
}

/* Ends the branches at once, so that the clip is complete. Frames that are decoded after this reach no branch. */
static void
stop (Run *run)
{
  if (g_atomic_int_get (&run->stopping))
    return;
  g_atomic_int_set (&run->stopping, TRUE);
  if (progress_frames (&run->out) == 0 || (run->window_gone && !run->clip)) {
    g_main_loop_quit (run->loop);
    return;
  }
  g_timeout_add_seconds (20, give_up, run);
  if (run->clip)
    end_branch (run->clip);
  if (run->window && !run->window_gone)
    end_branch (run->window);
  if (run->nothing)
    end_branch (run->nothing);
}

static gboolean
guard_results (gpointer data)
{
  results_guard ();
  return G_SOURCE_REMOVE;
}

/* GLib's handler is removed after the first Ctrl-C, so that a second one ends the program at once, without a clip. */
static gboolean
interrupted (gpointer data)
{
  Run *run = data;

  g_printerr ("%sStopped: the clip ends here.\n", run->terminal ? "\n" : "");
  g_idle_add (guard_results, NULL);
  stop (run);
  return G_SOURCE_REMOVE;
}

static gboolean
comes_from (GstMessage *message, GstElement *branch)
{
  return branch && gst_object_has_as_ancestor (GST_MESSAGE_SRC (message), GST_OBJECT (branch));
}

static void
warn (const Run *run, GstMessage *message)
{
  GError *warning;

  gst_message_parse_warning (message, &warning, NULL);
  g_printerr ("%s%s: warning: %s\n", run->terminal && run->out.frames ? "\n" : "", GST_OBJECT_NAME (message->src),
      warning->message);
  g_error_free (warning);
}

/* Prints an error with its debug text. */
static void
failed (Run *run, GstMessage *message)
{
  GstPad *pad = gst_element_get_static_pad (run->convolve, "sink");
  GError *error;
  char *debug;

  gst_message_parse_error (message, &error, &debug);
  g_printerr ("%s%s: %s\n%.600s\n", run->terminal && run->out.frames ? "\n" : "", GST_OBJECT_NAME (message->src),
      error->message, debug ? debug : "");
  if (error->domain != GST_RESOURCE_ERROR && message->src != GST_OBJECT (run->convolve)
      && !gst_pad_has_current_caps (pad))
    g_printerr ("%s: no video that can be decoded reached cudaconvolve\n", run->file);
  g_error_free (error);
  g_free (debug);
  gst_object_unref (pad);
  run->ok = FALSE;
  g_main_loop_quit (run->loop);
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer data)
{
  Run *run = data;
  const GstStructure *structure = gst_message_get_structure (message);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    if (comes_from (message, run->window)) {
      if (!run->window_gone)
        g_printerr ("%sThe window is gone: the clip ends here.\n", run->terminal ? "\n" : "");
      run->window_gone = TRUE;
      stop (run);
    } else if (!run->window_gone || comes_from (message, run->clip))
      failed (run, message);
    /* Otherwise an element upstream complains that the window takes no frames any more. */
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    warn (run, message);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    g_main_loop_quit (run->loop);
  else if (run->window_gone && structure && gst_structure_has_name (structure, "GstBinForwarded")) {
    GstMessage *forwarded = NULL;

    gst_structure_get (structure, "message", GST_TYPE_MESSAGE, &forwarded, NULL);
    if (forwarded && GST_MESSAGE_TYPE (forwarded) == GST_MESSAGE_EOS && comes_from (forwarded, run->clip))
      g_main_loop_quit (run->loop);
    g_clear_pointer (&forwarded, gst_message_unref);
  }
  return G_SOURCE_CONTINUE;
}

static void
report (const Run *run)
{
  char *variant;
  GstStructure *stats;

  g_object_get (run->convolve, "active-variant", &variant, "stats", &stats, NULL);
  g_print ("file: %s\n", run->file);
  for (char **property = run->properties; *property; property++)
    g_print ("property: %s\n", *property);
  g_print ("variant: %s\n", variant ? variant : "none");
  for (int i = 0; stats && i < gst_structure_n_fields (stats); i++) {
    const char *field = gst_structure_nth_field_name (stats, i);
    char *text = gst_value_serialize (gst_structure_get_value (stats, field));

    g_print ("stats: %s = %s%s\n", field, text, g_str_has_suffix (field, "-time") ? " ns" : "");
    g_free (text);
  }
  g_print ("frames: %" G_GUINT64_FORMAT "\n", run->out.frames);
  if (run->out.last > run->out.first)
    g_print ("frames per second: %.1f (decoding and convolving%s%s, first to last frame)\n",
        (run->out.frames - 1) * 1e6 / (run->out.last - run->out.first), run->clip ? ", writing the clip" : "",
        run->window ? ", no faster than the film plays" : "");
  g_clear_pointer (&stats, gst_structure_free);
  g_free (variant);
}

static void
add_branch (Run *run, GstElement *branch)
{
  GstElement *tee = gst_bin_get_by_name (GST_BIN (run->pipeline), "frames");

  gst_bin_add (GST_BIN (run->pipeline), branch);
  gst_element_link (tee, branch);
  gst_object_unref (tee);
}

/* Makes the pipeline; FALSE with a message where something in it is wrong. */
static gboolean
make_pipeline (Run *run, gboolean window, const char *sink)
{
  GError *error = NULL;
  GstElement *source, *file;
  gboolean ok = TRUE;

  run->pipeline = gst_parse_launch_full (INPUT, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!run->pipeline) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return FALSE;
  }
  g_object_set (run->pipeline, "message-forward", TRUE, NULL);
  run->convolve = gst_bin_get_by_name (GST_BIN (run->pipeline), "convolve");
  source = gst_bin_get_by_name (GST_BIN (run->pipeline), "source");
  g_object_set (source, "location", run->file, NULL);
  gst_object_unref (source);
  for (char **property = run->properties; ok && *property; property++)
    ok = set_property (run->convolve, *property);
  if (ok && run->clip_file.part) {
    run->clip = make_branch (CLIP, "");
    if ((ok = run->clip != NULL)) {
      file = gst_bin_get_by_name (GST_BIN (run->clip), "file");
      g_object_set (file, "location", run->clip_file.part, NULL);
      gst_object_unref (file);
      add_branch (run, run->clip);
    }
  }
  if (ok && sink) {
    run->window = open_window (sink);
    ok = run->window != NULL;
    if (!ok)
      g_printerr ("--sink: \"%s\" cannot be used\n", sink);
  } else if (ok && window)
    run->window = open_any_window ();
  if (run->window) {
    add_probe (run->window, "sink", GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, keep_quality, run);
    add_branch (run, run->window);
    gst_object_unref (run->window);
  }
  if (ok && !run->clip && !run->window) {
    run->nothing = gst_element_factory_make ("fakesink", NULL);
    g_object_set (run->nothing, "sync", FALSE, NULL);
    add_branch (run, run->nothing);
  }
  add_probe (run->convolve, "sink", GST_PAD_PROBE_TYPE_BUFFER, frame_in, run);
  add_probe (run->convolve, "src", GST_PAD_PROBE_TYPE_BUFFER, frame_out, run);
  return ok;
}

/* In a thread, because opening a pipe may take for ever. */
static void
let_play (GstElement *pipeline, gpointer data)
{
  /* The element that fails says why on the bus. Where none does, the program ends after two seconds. */
  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    g_timeout_add_seconds (2, give_up, data);
}

/* Plays the file to its end, or until an error or Ctrl-C. */
static void
play (Run *run)
{
  GstBus *bus = gst_element_get_bus (run->pipeline);
  GstPad *pad = gst_element_get_static_pad (run->convolve, "sink");
  guint ticks[2];

  run->loop = g_main_loop_new (NULL, FALSE);
  run->terminal = isatty (STDERR_FILENO);
  g_unix_signal_add (SIGINT, interrupted, run);
  g_unix_signal_add (SIGTERM, interrupted, run);
  ticks[0] = g_timeout_add_seconds (run->terminal ? 1 : 5, progress_tick, run);
  ticks[1] = g_timeout_add_seconds (1, silence_comes, run);
  gst_bus_add_watch (bus, on_message, run);
  gst_element_call_async (run->pipeline, let_play, run, NULL);
  g_main_loop_run (run->loop);
  results_guard ();
  if (run->out.frames) {
    progress_show (&run->out, NULL, film_duration (run), run->terminal, TRUE);
    report (run);
  }
  play_stop (run->pipeline, pad);
  gst_bus_remove_watch (bus);
  for (guint i = 0; i < G_N_ELEMENTS (ticks); i++)
    g_source_remove (ticks[i]);
  gst_object_unref (pad);
  gst_object_unref (bus);
  g_main_loop_unref (run->loop);
}

static gboolean
begin_results (Run *run, const char *clip, const char *picture)
{
  return (!clip || result_begin (&run->clip_file, clip, run->file, run->properties))
      && (!picture || result_begin (&run->picture_file, picture, run->file, run->properties));
}

/* Gives the results their names where all went well. A film that ends early may have no picture. */
static gboolean
keep_results (Run *run, const char *clip, const char *picture)
{
  gboolean ok = run->ok;

  if (ok && run->clip_file.part && (ok = result_keep (&run->clip_file)))
    g_print ("convolved clip: %s\n", clip);
  if (ok && run->picture_file.part && run->before && run->after
      && (ok = write_picture (run->picture_file.part, run->before, run->after) && result_keep (&run->picture_file)))
    g_print ("before and after: %s\n", picture);
  result_drop (&run->clip_file);
  result_drop (&run->picture_file);
  return ok;
}

int
main (int argc, char **argv)
{
  char *clip = NULL, *picture = NULL, *sink = NULL;
  gboolean window = FALSE;
  const GOptionEntry entries[] = {
    { "clip", 0, 0, G_OPTION_ARG_FILENAME, &clip, "write the convolved video (VP8 in WebM)", "FILE" },
    { "picture", 0, 0, G_OPTION_ARG_FILENAME, &picture, "write the middle frame before and after (PNG)", "FILE" },
    { "window", 0, 0, G_OPTION_ARG_NONE, &window, "play in a window", NULL },
    { "sink", 0, 0, G_OPTION_ARG_STRING, &sink, "play into this element, in gst-launch-1.0's words", "ELEMENT" }, { 0 }
  };
  GOptionContext *context = g_option_context_new ("FILE [PROPERTY=VALUE...]");
  GError *error = NULL;
  Run run = { .keep = NO_FRAME, .begin = GST_CLOCK_TIME_NONE, .ok = TRUE };

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc < 2) {
    g_printerr ("%s\n", error ? error->message : g_option_context_get_help (context, TRUE, NULL));
    return 2;
  }
  g_option_context_free (context);
  progress_init (&run.out);
  run.file = argv[1];
  run.properties = argv + 2;
  run.want_picture = picture != NULL;
  run.ok = begin_results (&run, clip, picture) && make_pipeline (&run, window, sink);
  if (run.ok) {
    play (&run);
    if (run.out.frames == 0) {
      if (run.ok && !run.stopping)
        g_printerr ("%s: no frame came out\n", run.file);
      run.ok = FALSE;
    }
  }
  run.ok = keep_results (&run, clip, picture);
  g_clear_pointer (&run.pending, gst_sample_unref);
  g_clear_pointer (&run.before, gst_sample_unref);
  g_clear_pointer (&run.after, gst_sample_unref);
  g_clear_object (&run.convolve);
  g_clear_object (&run.pipeline);
  progress_clear (&run.out);
  g_free (clip);
  g_free (picture);
  g_free (sink);
  return run.ok ? 0 : 1;
}
