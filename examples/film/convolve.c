/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convolve.h"

#include <string.h>

#include <gst/gst.h>

#include "chapters.h"
#include "compared.h"
#include "container.h"
#include "cover.h"
#include "cuts.h"
#include "edits.h"
#include "input.h"
#include "keyframes.h"
#include "matroska.h"
#include "moov.h"
#include "origin.h"
#include "output.h"
#include "play.h"
#include "properties.h"
#include "result.h"
#include "say.h"
#include "streams.h"

typedef struct
{
  const Options *options;
  const Container *container;
  Output film;
  Result picture, boxes, page;
  Streams *streams;
  Origin *origin;      /* what GStreamer does not tell of the film */
  gboolean notes_gone; /* some of that, because no box covers it */
  GstElement *convolve;
  char *variant;
  GstClockTime stated; /* the duration that the film states, or 0 */
  guint lost;          /* streams that could not be read */
  char *mastering;     /* of the screen on which HDR was made, or NULL */
  Cover *cover;        /* NULL without boxes */
  Compared *compared;  /* NULL without a picture */
} Run;

static gboolean
covers (const Options *options)
{
  return options->boxes || options->cover;
}

static gboolean
complain_of (const Run *run, GError *error)
{
  complain ("%s: %s", run->options->input, error->message);
  g_error_free (error);
  return FALSE;
}

static gboolean
first_comes (int width, int height, gpointer data)
{
  Run *run = data;

  return !run->cover || cover_fits (run->cover, width, height);
}

static void
frame_comes (GstBuffer **frame, GstClockTime begin, GstClockTime end, gpointer data)
{
  Run *run = data;

  cover_frame (run->cover, frame, begin, end);
}

static gboolean
set_properties (Run *run)
{
  GError *error = NULL;

  if (!keyframes_check (run->options->keyframes, run->convolve, &error))
    return complain_of (run, error);
  if (covers (run->options)) {
    run->cover = cover_new (run->options, run->convolve);
    return run->cover != NULL;
  }
  for (char **property = run->options->properties; *property; property++)
    if (!set_property (run->convolve, *property))
      return FALSE;
  return TRUE;
}

/* The pipeline, or NULL with a line. */
static GstElement *
make_pipeline (Run *run)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  const char *input = run->options->input;
  GError *error = NULL;
  GstElement *source = input_make (input, run->options->rate, &error), *sink;
  GstClockTime surplus = 0;

  if (!source) {
    complain_of (run, error);
    gst_object_unref (pipeline);
    return NULL;
  }
  sink = output_make_sink (&run->film);
  gst_bin_add_many (GST_BIN (pipeline), source, sink, NULL);
  if (g_file_test (input, G_FILE_TEST_IS_REGULAR))
    surplus = cuts_mend (source, input);
  run->streams = streams_new (pipeline, source, sink, run->options, run->container, run->origin, surplus,
      g_file_test (input, G_FILE_TEST_IS_REGULAR) ? chapters_read (input) : NULL, &error);
  if (run->streams)
    return pipeline;
  complain_of (run, error);
  gst_object_unref (pipeline);
  return NULL;
}

/* The time that the film states for its end, counted from its beginning; films may begin at 10 s. Zero where it states none. */
static GstClockTime
stated_duration (GstElement *convolve)
{
  GstPad *pad = gst_element_get_static_pad (convolve, "sink");
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  const GstSegment *segment = NULL;
  GstClockTime begin = 0;
  gint64 stated;

  if (event) {
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME)
      begin = MAX (segment->start, segment->time);
    gst_event_unref (event);
  }
  if (!gst_pad_peer_query_duration (pad, GST_FORMAT_TIME, &stated) || stated < (gint64) begin)
    stated = begin;
  gst_object_unref (pad);
  return stated - begin;
}

/* The element forgets its variant when it stops. */
static void
end_comes (gpointer data)
{
  Run *run = data;

  run->stated = stated_duration (run->convolve);
  g_object_get (run->convolve, "active-variant", &run->variant, NULL);
  run->mastering = streams_mastering (run->streams);
  run->lost = streams_lost (run->streams);
}

static void
say_film (const Run *run, guint64 frames)
{
  say_begin ("film");
  say_text ("input", run->options->input);
  say_text ("output", run->options->output);
  say_text ("variant", run->variant);
  say_number ("frames", frames);
  say_end ("film: %s: %" G_GUINT64_FORMAT " frames, variant %s", run->options->output, frames,
      run->variant ? run->variant : "none");
}

static gboolean
is_matroska (const Container *container)
{
  return !strcmp (container->muxer, "matroskamux") || !strcmp (container->muxer, "webmmux");
}

/* Mends what GStreamer wrote wrong in the complete file, and adds what it does not write. */
static gboolean
complete_file (Run *run)
{
  const char *file = output_part (&run->film);
  GArray *tracks = streams_tracks (run->streams);
  GError *error = NULL;

  if (file && is_matroska (run->container))
    matroska_mend (file, run->mastering, streams_end (run->streams), run->origin, tracks, &error);
  else if (file && run->container->iso && edits_mend (file, streams_end (run->streams), &error))
    moov_complete (file, streams_chapters (run->streams), run->origin, tracks, &error);
  g_array_unref (tracks);
  return !error || complain_of (run, error);
}

/* Says what of the origin is not in the new file. */
static void
say_origin (const Run *run)
{
  const char *why = run->notes_gone ? "no box covers what they may tell"
      : run->container->iso         ? NULL
                                    : "MP4 and QuickTime alone have them";

  if (!why || (!run->notes_gone && !run->origin->keys && !run->origin->notes))
    return;
  say_begin ("stream");
  say_text ("kind", "tags");
  say_end ("stream: tags of cameras: left out: %s", why);
}

static void
say_chapters (const Chapters *chapters)
{
  if (!chapters)
    return;
  say_begin ("stream");
  say_text ("kind", "chapters");
  say_number ("count", chapters_count (chapters));
  say_end ("stream: %u chapters: kept", chapters_count (chapters));
}

static void
say_time_codes (const char *file)
{
  if (time_codes_count (file) == 0)
    return;
  say_begin ("stream");
  say_text ("kind", "time code");
  say_end ("stream: time code: left out: GStreamer does not read it");
}

static gboolean
write_compared (Run *run)
{
  if (!run->compared)
    return TRUE;
  if (!compared_write (run->compared, run->picture.part))
    return FALSE;
  return result_keep (&run->picture);
}

/* The boxes and the page of them. */
static gboolean
write_boxes (Run *run)
{
  if (!run->cover)
    return TRUE;
  return cover_write (run->cover, run->boxes.part, run->page.part) && (!run->boxes.part || result_keep (&run->boxes))
      && (!run->page.part || result_keep (&run->page));
}

/* An encoder that swallows frames must not go unseen. */
static gboolean
all_encoded (const Run *run, guint64 frames)
{
  const guint64 encoded = streams_encoded (run->streams);

  if (encoded != frames)
    complain ("%s: %" G_GUINT64_FORMAT " frames went into the encoder and %" G_GUINT64_FORMAT
              " came out; try another --codec=NAME",
        run->options->input, frames, encoded);
  return encoded == frames;
}

/* A film that was cut off, or that is damaged, ends early: all of its streams do. */
static void
warn_of_early_end (const Run *run)
{
  const GstClockTime end = streams_end (run->streams);

  if (GST_CLOCK_TIME_IS_VALID (end) && run->stated > end + GST_SECOND / 2)
    complain ("warning: %s: the film states %.1f s and ends after %.1f s; it may be cut off or damaged",
        run->options->input, run->stated / (double) GST_SECOND, end / (double) GST_SECOND);
}

/* Gives the complete film its name, and says what became of its parts. */
static gboolean
finish (Run *run, guint64 frames, const char *lacks)
{
  if (!all_encoded (run, frames) || (run->cover && !cover_is_whole (run->cover)))
    return FALSE;
  if (!complete_file (run) || !write_compared (run) || !write_boxes (run) || !output_keep (&run->film))
    return FALSE;
  streams_warn (run->streams);
  if (!run->options->brief || say_is_json ()) {
    streams_say (run->streams);
    say_chapters (streams_chapters (run->streams));
    say_time_codes (run->options->input);
    say_origin (run);
  }
  if (run->lost > 0) {
    say_begin ("stream");
    say_number ("lost", run->lost);
    say_end ("stream: %u more: left out: GStreamer has no %s", run->lost, lacks ? lacks : "parser for them");
  }
  say_film (run, frames);
  warn_of_early_end (run);
  if (run->cover)
    cover_say (run->cover, frames);
  return TRUE;
}

static gboolean
play (Run *run)
{
  Film film = { .file = run->options->input,
    .output = run->options->output,
    .task = covers (run->options) ? "covering" : NULL,
    /* Frames without a box are told of at the end, and a film may begin with them. */
    .told = covers (run->options) ? "apply-to: nothing is changed" : NULL,
    .on_first = first_comes,
    .on_end = end_comes,
    .on_frame = covers (run->options) ? frame_comes : NULL,
    .data = run };
  gboolean ok;

  run->origin = origin_read (run->options->input);
  run->notes_gone = covers (run->options) && origin_hide (run->origin);
  film.pipeline = make_pipeline (run);
  if (!film.pipeline) {
    origin_free (run->origin);
    return FALSE;
  }
  run->convolve = gst_object_ref (streams_convolve (run->streams));
  if (run->options->picture)
    run->compared = compared_new (run->convolve);
  ok = set_properties (run) && play_film (&film, "convolve") && finish (run, film.frames, film.lacks);
  gst_element_set_state (film.pipeline, GST_STATE_NULL);
  g_clear_pointer (&run->compared, compared_free);
  g_clear_pointer (&run->cover, cover_free);
  gst_object_unref (run->convolve);
  streams_free (run->streams);
  gst_object_unref (film.pipeline);
  g_free (film.missing);
  g_free (film.lacks);
  g_free (run->variant);
  g_free (run->mastering);
  origin_free (run->origin);
  return ok;
}

/* No output may be a file that is read. */
static gboolean
begin_results (Run *run)
{
  const Options *options = run->options;
  const guint n = g_strv_length (options->properties);
  char **files = g_new0 (char *, n + 3);
  gboolean ok;

  for (guint i = 0; i < n; i++)
    files[i] = g_strdup (options->properties[i]);
  files[n] = g_strdup_printf ("--boxes=%s", options->boxes ? options->boxes : "");
  files[n + 1] = g_strdup_printf ("--model=%s", options->model ? options->model : "");
  ok = output_begin (&run->film, options->output, options->input, files)
      && (!options->picture || result_begin (&run->picture, options->picture, options->input, files))
      && (!options->save || result_begin (&run->boxes, options->save, options->input, files))
      && (!options->page || result_begin (&run->page, options->page, options->input, files));
  g_strfreev (files);
  return ok;
}

gboolean
convolve_film (const Options *options)
{
  Run run = { .options = options };
  gboolean ok;

  run.container = options->container     ? container_named (options->container)
      : output_is_pipe (options->output) ? container_named ("mkv")
                                         : container_of (options->output);
  ok = begin_results (&run) && play (&run);
  output_drop (&run.film);
  result_drop (&run.picture);
  result_drop (&run.boxes);
  result_drop (&run.page);
  return ok;
}
