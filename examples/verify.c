/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Says whether a film is the one of a record that cudaconvolve wrote to the file of region-log, and whether every box
 * of the record is covered:
 *
 *   verify [--each] [--last=HASH] [--lossy] [--tolerance=N] FILM RECORD
 *
 * The film is read twice: for a checksum of each frame, and to look at the boxes. The exit status is 0 where all is
 * right, 1 where something is wrong, 2 for wrong arguments and for files that cannot be read, and 3 where nothing is
 * wrong but the picture does not tell whether some box is covered.
 */
#include <string.h>

#include <gst/gst.h>

#include "hidden.h"
#include "lines.h"
#include "progress.h"

#define PLAY \
  "filesrc name=source ! decodebin caps=video/x-raw(ANY) expose-all-streams=false ! videoconvert ! " \
  "capsfilter name=format ! fakesink name=frames sync=false"
#define MOST_TOLD 100  /* faults */
#define MOST_APART 600 /* frames that are missing and frames that are too many, in one place */
#define MOST_AHEAD 8   /* frames that are compared to find the right place */
#define TOLERANCE 4

enum
{
  RIGHT,
  WRONG,
  UNREADABLE,
  UNTOLD
};

/* A frame of the film. */
typedef struct
{
  char *hash; /* NULL in a film with losses */
  guint8 means[GRID * GRID];
  gint64 frame; /* of the record, or -1 */
  char *before; /* which frames are missing in front of this one, or NULL */
  char *fault;  /* or NULL */
} Shot;

typedef struct
{
  const char *film, *record;
  gboolean lossy, each;
  double tolerance; /* 0 where not lossy */
  Lines lines;
  GHashTable *places; /* from hashes to 1 + frames of the record */
  GArray *shots;      /* Shot */
  char *after;        /* which frames are missing at the end, or NULL */
  guint64 n_right;
  Counts counts;
  guint64 n_faults;

  /* While the film plays. */
  GstPad *pad;
  guint64 n; /* of the frame */
  Samples samples;
  char *refusal; /* why the film cannot be that of the record, or NULL */
  void (*on_frame) (gpointer run);
} Run;

/* --- telling --- */

static void tell (Run *run, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
tell (Run *run, const char *format, ...)
{
  va_list arguments;
  char *text;

  if (++run->n_faults > MOST_TOLD && !run->each)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_print ("%s\n", text);
  g_free (text);
}

/* --- playing --- */

/* Whether two formats hold the same samples, maybe in another order of bytes. */
static gboolean
have_one_kind (const GstVideoFormatInfo *a, const GstVideoFormatInfo *b)
{
  const guint kinds = GST_VIDEO_FORMAT_FLAG_YUV | GST_VIDEO_FORMAT_FLAG_RGB | GST_VIDEO_FORMAT_FLAG_GRAY;

  if ((a->flags & kinds) != (b->flags & kinds) || a->n_components != b->n_components)
    return FALSE;
  for (guint c = 0; c < a->n_components; c++)
    if (a->depth[c] != b->depth[c] || a->w_sub[c] != b->w_sub[c] || a->h_sub[c] != b->h_sub[c])
      return FALSE;
  return TRUE;
}

/* The rules of the frame of the record that a frame of the film may be. There is at least one. */
static const Rules *
rules_of (const Run *run, gint64 frame)
{
  const GPtrArray *frames = run->lines.frames;
  const Frame *known = g_ptr_array_index (frames, CLAMP (frame, 0, (gint64) frames->len - 1));

  return known->rules;
}

static void
refuse (Run *run, const GstVideoInfo *info, const Rules *rules)
{
  run->refusal = g_strdup_printf ("%s: frame %" G_GUINT64_FORMAT " is %s of %dx%d, and %s has %s of %dx%d%s", run->film,
      run->n, GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), run->record,
      rules->format->name, rules->width, rules->height,
      run->lossy ? "" : "; a film that was encoded in another format is compared with --lossy");
}

/* Whether the frame may be one of the record. */
static gboolean
read_samples (Run *run, GstBuffer *buffer)
{
  const Rules *rules = rules_of (run, run->n);
  GstCaps *caps = gst_pad_get_current_caps (run->pad);
  GstVideoFrame frame;
  GstVideoInfo info;
  gboolean good = gst_video_info_from_caps (&info, caps);

  gst_caps_unref (caps);
  if (good
      && (!have_one_kind (info.finfo, rules->format) || GST_VIDEO_INFO_WIDTH (&info) != rules->width
          || GST_VIDEO_INFO_HEIGHT (&info) != rules->height)) {
    refuse (run, &info, rules);
    return FALSE;
  }
  if (!good || !gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ)) {
    run->refusal = g_strdup_printf ("%s: frame %" G_GUINT64_FORMAT " cannot be read", run->film, run->n);
    return FALSE;
  }
  samples_read (&run->samples, &frame);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

static GstPadProbeReturn
frame_comes (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;

  if (run->refusal)
    return GST_PAD_PROBE_DROP;
  if (read_samples (run, GST_PAD_PROBE_INFO_BUFFER (info))) {
    run->on_frame (run);
    run->n++;
  } else {
    GstElement *sink = gst_pad_get_parent_element (pad);

    gst_element_post_message (sink,
        gst_message_new_application (GST_OBJECT (sink), gst_structure_new_empty ("refused")));
    gst_object_unref (sink);
  }
  return GST_PAD_PROBE_OK;
}

/*
 * Waits for the end, or for a frame that is refused. FALSE with a line on stderr where the film cannot be decoded to
 * its end.
 */
static gboolean
wait_for_end (Run *run, GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_APPLICATION | GST_MESSAGE_ERROR);
  gboolean ended = GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR;

  if (!ended) {
    GError *error;

    gst_message_parse_error (message, &error, NULL);
    complain ("%s: %s: %s", run->film, GST_OBJECT_NAME (message->src), error->message);
    g_error_free (error);
  }
  gst_message_unref (message);
  gst_object_unref (bus);
  return ended;
}

static void
set_format (Run *run, GstElement *filter)
{
  GstCaps *caps;

  if (!run->lossy)
    return;
  caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, rules_of (run, 0)->format->name, NULL);
  g_object_set (filter, "caps", caps, NULL);
  gst_caps_unref (caps);
}

/* Calls on_frame for each frame, with its samples. FALSE with a line on stderr where that fails. */
static gboolean
play (Run *run, void (*on_frame) (gpointer run))
{
  GstElement *pipeline = gst_parse_launch (PLAY, NULL), *source, *filter, *sink;
  gboolean good = pipeline != NULL;

  if (!good) {
    complain ("GStreamer's base plugins are needed: filesrc, decodebin, videoconvert, capsfilter and fakesink");
    return FALSE;
  }
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "format");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "frames");
  run->pad = gst_element_get_static_pad (sink, "sink");
  run->n = 0;
  run->on_frame = on_frame;
  g_object_set (source, "location", run->film, NULL);
  set_format (run, filter);
  gst_pad_add_probe (run->pad, GST_PAD_PROBE_TYPE_BUFFER, frame_comes, run, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  good = wait_for_end (run, pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (run->pad);
  gst_object_unref (sink);
  gst_object_unref (filter);
  gst_object_unref (source);
  gst_object_unref (pipeline);
  return good;
}

/* --- which frames the film has --- */

static void
add_shot (gpointer data)
{
  Run *run = data;
  Shot shot = { .frame = -1 };

  if (run->lossy)
    samples_means (&run->samples, shot.means);
  else
    shot.hash = samples_hash (&run->samples);
  g_array_append_val (run->shots, shot);
}

static Shot *
shot_at (const Run *run, guint index)
{
  return &g_array_index (run->shots, Shot, index);
}

static const Frame *
frame_at (const Run *run, guint index)
{
  return g_ptr_array_index (run->lines.frames, index);
}

static gboolean
are_same (const Run *run, guint frame, guint shot)
{
  const Frame *a = frame_at (run, frame);
  const Shot *b = shot_at (run, shot);

  if (!run->lossy)
    return !strcmp (a->hash, b->hash);
  for (guint i = 0; i < GRID * GRID; i++)
    if (ABS (a->means[i] - b->means[i]) > run->tolerance)
      return FALSE;
  return TRUE;
}

/* Whether two frames in a row are the same, or those at an end. */
static gboolean
go_together (const Run *run, guint frame, guint shot)
{
  return are_same (run, frame, shot)
      && (frame + 1 == run->lines.frames->len || shot + 1 == run->shots->len || are_same (run, frame + 1, shot + 1));
}

/*
 * How far apart the next frames are in the mean, where the record goes on with this frame and the film with this shot.
 */
static double
distance (const Run *run, guint frame, guint shot)
{
  const guint n = MIN (MOST_AHEAD, MIN (run->lines.frames->len - frame, run->shots->len - shot));
  guint sum = 0;

  for (guint k = 0; k < n; k++)
    if (!run->lossy)
      sum += !are_same (run, frame + k, shot + k);
    else
      for (guint i = 0; i < GRID * GRID; i++)
        sum += ABS (frame_at (run, frame + k)->means[i] - shot_at (run, shot + k)->means[i]);
  return sum / (double) n;
}

/*
 * The nearest place from which on record and film go together again; the ends of both where there is none. One frame
 * that is missing, too many or changed is as near as another.
 */
static void
find_next (const Run *run, guint *frame, guint *shot)
{
  const guint frames = run->lines.frames->len, shots = run->shots->len, i = *frame, j = *shot;
  double least = G_MAXDOUBLE;

  for (guint apart = 1; apart <= MOST_APART && (apart <= 2 || least == G_MAXDOUBLE); apart++)
    for (guint a = 0; a <= apart; a++) {
      const guint to_frame = i + a, to_shot = j + apart - a;

      if (to_frame >= frames || to_shot >= shots || !go_together (run, to_frame, to_shot)
          || distance (run, to_frame, to_shot) >= least)
        continue;
      least = distance (run, to_frame, to_shot);
      *frame = to_frame;
      *shot = to_shot;
    }
  if (least < G_MAXDOUBLE)
    return;
  *frame = frames;
  *shot = shots;
}

/*
 * A frame of the film that is not the one of the record in its place. There is none in its place where expected is -1.
 */
static void
set_wrong (Run *run, guint shot, gint64 expected)
{
  Shot *wrong = shot_at (run, shot);
  const guint place = wrong->hash ? GPOINTER_TO_UINT (g_hash_table_lookup (run->places, wrong->hash)) : 0;

  if (place > 0) {
    wrong->frame = place - 1;
    wrong->fault =
        g_strdup_printf ("frame %u of the film is in the wrong place: the record has it as frame %u", shot, place - 1);
  } else if (expected < 0)
    wrong->fault = g_strdup_printf ("frame %u of the film is not in the record", shot);
  else {
    wrong->frame = expected;
    wrong->fault = g_strdup_printf ("frame %u of the film is not that of the record (line %u): %s", shot,
        frame_at (run, expected)->line, run->lossy ? "the picture is another" : "its samples were changed");
  }
}

static char *
tell_missing (const Run *run, guint first, guint end)
{
  GString *text = g_string_new (NULL);

  for (guint i = first; i < end; i++)
    g_string_append_printf (text, "%sframe %u of the record (line %u) is missing in the film", i == first ? "" : "\n",
        i, frame_at (run, i)->line);
  return g_string_free (text, FALSE);
}

/* Compares the frames from (frame, shot) up to the ends. */
static void
compare_part (Run *run, guint frame, guint frame_end, guint shot, guint shot_end)
{
  while (frame < frame_end && shot < shot_end)
    set_wrong (run, shot++, frame++);
  while (shot < shot_end)
    set_wrong (run, shot++, -1);
  if (frame == frame_end)
    return;
  if (shot < run->shots->len)
    shot_at (run, shot)->before = tell_missing (run, frame, frame_end);
  else
    run->after = tell_missing (run, frame, frame_end);
}

static void
compare_frames (Run *run)
{
  const guint frames = run->lines.frames->len, shots = run->shots->len;
  guint frame = 0, shot = 0;

  for (guint i = frames; i > 0; i--)
    g_hash_table_insert (run->places, (gpointer) frame_at (run, i - 1)->hash, GUINT_TO_POINTER (i));
  while (frame < frames || shot < shots) {
    guint next_frame = frame, next_shot = shot;

    if (frame < frames && shot < shots && are_same (run, frame, shot)) {
      shot_at (run, shot++)->frame = frame++;
      run->n_right++;
      continue;
    }
    find_next (run, &next_frame, &next_shot);
    compare_part (run, frame, next_frame, shot, next_shot);
    frame = next_frame;
    shot = next_shot;
  }
}

/* --- whether boxes are covered --- */

static void
tell_each (Run *run, char *lines)
{
  char **parts = g_strsplit (lines ? lines : "", "\n", -1);

  for (guint i = 0; parts[i]; i++)
    tell (run, "%s", parts[i]);
  g_strfreev (parts);
}

static void
judge_shot (gpointer data)
{
  Run *run = data;
  const Shot *shot = shot_at (run, run->n);
  const Frame *frame = shot->frame >= 0 ? frame_at (run, shot->frame) : NULL;
  GPtrArray *bare = g_ptr_array_new_with_free_func (g_free);
  const Counts before = run->counts;

  tell_each (run, shot->before);
  if (shot->fault)
    tell (run, "%s", shot->fault);
  if (frame) {
    Json *line = json_read (frame->text);

    hidden_judge (&run->samples, line, frame->rules, run->tolerance, &run->counts, bare);
    json_free (line);
  }
  for (guint i = 0; i < bare->len; i++)
    tell (run, "frame %" G_GUINT64_FORMAT " of the film: %s", run->n, (char *) g_ptr_array_index (bare, i));
  if (run->each)
    g_print ("frame %" G_GUINT64_FORMAT ": %s; boxes covered %" G_GUINT64_FORMAT ", bare %" G_GUINT64_FORMAT
             ", not judged %" G_GUINT64_FORMAT "\n",
        run->n, shot->fault ? "wrong" : "as in the record", run->counts.covered - before.covered,
        run->counts.bare - before.bare, run->counts.unjudged - before.unjudged);
  g_ptr_array_unref (bare);
}

/* --- the program --- */

static int
sum_up (Run *run)
{
  if (run->n_faults > MOST_TOLD && !run->each)
    g_print ("and %" G_GUINT64_FORMAT " faults more; --each tells all\n", run->n_faults - MOST_TOLD);
  g_print ("%s: %" G_GUINT64_FORMAT " of %u frames are those of the record, which has %u; boxes: %" G_GUINT64_FORMAT
           " covered, %" G_GUINT64_FORMAT " bare, %" G_GUINT64_FORMAT
           " that the picture does not tell; faults: %" G_GUINT64_FORMAT "\n",
      run->film, run->n_right, run->shots->len, run->lines.frames->len, run->counts.covered, run->counts.bare,
      run->counts.unjudged, run->n_faults);
  g_print ("last line of the record: %s\n", run->lines.last);
  if (run->n_faults > 0)
    return WRONG;
  return run->counts.unjudged > 0 ? UNTOLD : RIGHT;
}

/* Where no checksum holds, the film may be the right one, encoded with losses. */
static void
hint_at_losses (const Run *run)
{
  if (!run->lossy && run->n_right == 0 && run->shots->len > 0)
    g_print ("no frame has the samples of the record; a film that was encoded with losses is compared with --lossy\n");
}

static int
verify (Run *run, const char *last)
{
  for (guint i = 0; i < run->lines.faults->len; i++)
    tell (run, "%s", (char *) g_ptr_array_index (run->lines.faults, i));
  if (last && g_ascii_strcasecmp (last, run->lines.last) != 0)
    tell (run, "%s: the last line is another one than that of --last", run->record);
  if (run->lines.frames->len == 0 || !rules_of (run, 0)->format) {
    complain ("%s: the record has no frame", run->record);
    return WRONG;
  }
  if (!play (run, add_shot))
    return UNREADABLE;
  if (!run->refusal) {
    compare_frames (run);
    if (!play (run, judge_shot))
      return UNREADABLE;
    tell_each (run, run->after);
    hint_at_losses (run);
  }
  if (run->refusal)
    tell (run, "%s", run->refusal);
  return sum_up (run);
}

static void
shot_clear (gpointer data)
{
  Shot *shot = data;

  g_free (shot->hash);
  g_free (shot->before);
  g_free (shot->fault);
}

int
main (int argc, char **argv)
{
  Run run = { 0 };
  char *last = NULL;
  double tolerance = TOLERANCE;
  const GOptionEntry options[] = {
    { "each", 'e', 0, G_OPTION_ARG_NONE, &run.each, "Tell of each frame, and of all faults", NULL },
    { "last", 0, 0, G_OPTION_ARG_STRING, &last, "SHA-256 of the record's last line, as it was when the record was made",
        "HASH" },
    { "lossy", 0, 0, G_OPTION_ARG_NONE, &run.lossy, "The film was encoded with losses: compare means, no checksums",
        NULL },
    { "tolerance", 0, 0, G_OPTION_ARG_DOUBLE, &tolerance,
        "With --lossy: code values of 8 bits that an encoder may change (4)", "N" },
    { 0 },
  };
  GOptionContext *context =
      g_option_context_new ("FILM RECORD - is the film that of the record, and is each box covered?");
  GError *error = NULL;
  int status = UNREADABLE;

  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error))
    complain ("%s", error->message);
  else if (argc != 3 || !(tolerance > 0))
    complain ("a film and a record are needed, and a tolerance above 0: verify [OPTIONS] FILM RECORD");
  else {
    run.film = argv[1];
    run.record = argv[2];
    run.tolerance = run.lossy ? tolerance : 0;
    if (lines_read (&run.lines, run.record, &error)) {
      run.places = g_hash_table_new (g_str_hash, g_str_equal);
      run.shots = g_array_new (FALSE, TRUE, sizeof (Shot));
      g_array_set_clear_func (run.shots, shot_clear);
      status = verify (&run, last);
      g_array_unref (run.shots);
      g_hash_table_unref (run.places);
      lines_clear (&run.lines);
      samples_clear (&run.samples);
      g_free (run.after);
      g_free (run.refusal);
    } else
      complain ("%s", error->message);
  }
  g_clear_error (&error);
  g_option_context_free (context);
  g_free (last);
  return status;
}
