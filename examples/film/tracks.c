/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tracks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <gst/video/video.h>

#define LARGEST 1e6 /* of the numbers of a box */

typedef struct
{
  GstClockTime time;
  Box box;
  int line; /* of the file; 0 where the box was found */
} Keyframe;

typedef struct
{
  char *type;
  GArray *keyframes; /* Keyframe, at least one, times ascend */
  gboolean used;     /* a frame had a box of the track */
} Track;

struct _Tracks
{
  GPtrArray *list; /* Track */
};

static void
track_free (gpointer data)
{
  Track *track = data;

  g_free (track->type);
  g_array_unref (track->keyframes);
  g_free (track);
}

Tracks *
tracks_new (void)
{
  Tracks *tracks = g_new0 (Tracks, 1);

  tracks->list = g_ptr_array_new_with_free_func (track_free);
  return tracks;
}

void
tracks_free (Tracks *tracks)
{
  g_ptr_array_unref (tracks->list);
  g_free (tracks);
}

guint
tracks_count (const Tracks *tracks)
{
  return tracks->list->len;
}

static Track *
track_at (const Tracks *tracks, guint index)
{
  return g_ptr_array_index (tracks->list, index);
}

static const Keyframe *
keyframe_at (const Track *track, guint index)
{
  return &g_array_index (track->keyframes, Keyframe, index);
}

static const Keyframe *
last_keyframe (const Track *track)
{
  return keyframe_at (track, track->keyframes->len - 1);
}

static Track *
begin_track (Tracks *tracks, const char *type)
{
  Track *track = g_new0 (Track, 1);

  track->type = g_strdup (type);
  track->keyframes = g_array_new (FALSE, FALSE, sizeof (Keyframe));
  g_ptr_array_add (tracks->list, track);
  return track;
}

/* --- files --- */

/* A JSON file of this shape is a text of GLib's variants, too, whose parser checks names and kinds of values. */
#define FILE_TYPE "a{saaa{sd}}"

/* The parser's fault in words for people who do not know GLib's names of types. */
static const char *
fault_of (const char *sentence)
{
  if (strstr (sentence, "expected value"))
    return "no value stands here; JSON has no comma behind the last one of a list, and no comments";
  if (!strstr (sentence, "of type"))
    return sentence;
  if (strstr (sentence, "type 'd'"))
    return "a number is needed";
  return strstr (sentence, "type 's'")
      ? "a text is needed"
      : "a type has a list of tracks, and a track is a list of keyframes, as in {\"face\": [[{\"time\": 0, ...}]]}";
}

/* GLib's message begins with the place of the fault in bytes. */
static void
set_syntax_error (GError **error, const char *file, const char *text, const char *message)
{
  char *rest;
  const gsize place = strtoul (message, &rest, 10), length = strlen (text);
  const char *sentence = strchr (rest, ':');
  int line = 1;

  for (gsize i = 0; i < MIN (place, length); i++)
    line += text[i] == '\n';
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "%s: line %d: %s; clip-boxes.json in examples/ shows the form", file, line,
      fault_of (sentence ? sentence + 1 : message));
}

/* A file while it is read. */
typedef struct
{
  const char *name;
  const char *place; /* in the text, behind the brace of the last keyframe */
  int line;          /* of that place */
  GError **error;
} Reader;

/* Goes to the next brace that opens an object, outside of texts. Keyframes come in the order of their braces. */
static void
go_to_object (Reader *reader)
{
  char quote = 0;

  for (; *reader->place; reader->place++) {
    const char c = *reader->place;

    reader->line += c == '\n';
    if (quote && c == '\\' && reader->place[1])
      reader->place++;
    else if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '{')
      break;
  }
  reader->place += *reader->place != 0;
}

static void
set_keyframe_error (Reader *reader, const Track *track, gsize number, const char *fault)
{
  g_set_error (reader->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "%s: line %d: \"%s\", keyframe %" G_GSIZE_FORMAT ": %s", reader->name, reader->line, track->type, number + 1,
      fault);
}

/* What is wrong with the numbers of a keyframe, or NULL. */
static const char *
fault_of_numbers (double time, const Box *box)
{
  if (time < 0)
    return "time is below 0; times are seconds from the beginning of the film";
  if (box->width <= 0 || box->height <= 0)
    return "width and height have to be above 0";
  if (box->x <= 1 && box->y <= 1 && box->width <= 1 && box->height <= 1)
    return "x, y, width and height look like shares of the picture; write pixels";
  if (box->width < 1 || box->height < 1)
    return "width and height are below a pixel; write pixels";
  return NULL;
}

/* Reads keyframe `number` of a track, which is an object of numbers. */
static gboolean
read_keyframe (Track *track, GVariant *object, gsize number, Reader *reader)
{
  static const char *const names[] = { "time", "x", "y", "width", "height" };
  double values[G_N_ELEMENTS (names)];
  Keyframe keyframe;
  const char *fault = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (!g_variant_lookup (object, names[i], "d", &values[i])) {
      set_keyframe_error (reader, track, number, "time, x, y, width and height are needed");
      return FALSE;
    }
  if (g_variant_n_children (object) != G_N_ELEMENTS (names))
    fault = "only time, x, y, width and height are known";
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (!isfinite (values[i]) || fabs (values[i]) > LARGEST)
      fault = "a number is too large";
  keyframe.box = (Box){ values[1], values[2], values[3], values[4] };
  keyframe.line = reader->line;
  if (!fault)
    fault = fault_of_numbers (values[0], &keyframe.box);
  if (!fault) {
    keyframe.time = llround (values[0] * GST_SECOND);
    if (track->keyframes->len > 0 && last_keyframe (track)->time >= keyframe.time)
      fault = "time has to be later than that of the keyframe before";
  }
  if (fault) {
    set_keyframe_error (reader, track, number, fault);
    return FALSE;
  }
  g_array_append_val (track->keyframes, keyframe);
  return TRUE;
}

static gboolean
read_track (Tracks *tracks, const char *type, GVariant *list, Reader *reader)
{
  Track *track = begin_track (tracks, type);
  const gsize n_keyframes = g_variant_n_children (list);
  gboolean ok = TRUE;

  if (n_keyframes == 0) {
    g_set_error (reader->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "%s: a track of \"%s\" has no keyframe",
        reader->name, type);
    return FALSE;
  }
  for (gsize i = 0; ok && i < n_keyframes; i++) {
    GVariant *object = g_variant_get_child_value (list, i);

    go_to_object (reader);
    ok = read_keyframe (track, object, i, reader);
    g_variant_unref (object);
  }
  return ok;
}

static gboolean
read_types (Tracks *tracks, GVariant *types, Reader *reader)
{
  gboolean ok = TRUE;

  go_to_object (reader); /* the object of types */

  for (gsize i = 0; ok && i < g_variant_n_children (types); i++) {
    const char *type;
    GVariant *lists;

    g_variant_get_child (types, i, "{&s@aaa{sd}}", &type, &lists);
    for (gsize k = 0; ok && k < g_variant_n_children (lists); k++) {
      GVariant *list = g_variant_get_child_value (lists, k);

      ok = read_track (tracks, type, list, reader);
      g_variant_unref (list);
    }
    g_variant_unref (lists);
  }
  return ok;
}

Tracks *
tracks_load (const char *file, GError **error)
{
  Tracks *tracks = tracks_new ();
  GError *syntax = NULL;
  GVariant *types;
  char *text;
  gboolean ok;

  if (g_access (file, R_OK) != 0 || !g_file_get_contents (file, &text, NULL, NULL)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "%s: %s", file, g_strerror (errno));
    tracks_free (tracks);
    return NULL;
  }
  /* Editors of Windows put a mark in front. */
  if (g_str_has_prefix (text, "\xef\xbb\xbf"))
    memset (text, ' ', 3);
  types = g_variant_parse (G_VARIANT_TYPE (FILE_TYPE), text, NULL, NULL, &syntax);
  if (types) {
    Reader reader = { .name = file, .place = text, .line = 1, .error = error };

    ok = read_types (tracks, types, &reader);
    g_variant_unref (types);
  } else {
    set_syntax_error (error, file, text, syntax->message);
    g_error_free (syntax);
    ok = FALSE;
  }
  g_free (text);
  if (!ok)
    g_clear_pointer (&tracks, tracks_free);
  return tracks;
}

/* Whether the box meets the picture, and passes no edge by more than half the picture, as boxes of a larger film do. */
static gboolean
fits (const Box *box, int width, int height)
{
  const double right = box->x + box->width, bottom = box->y + box->height;

  return box->x < width && right > 0 && box->x >= -0.5 * width && right <= 1.5 * width && box->y < height && bottom > 0
      && box->y >= -0.5 * height && bottom <= 1.5 * height;
}

gboolean
tracks_fit (const Tracks *tracks, int width, int height, const char *file, GError **error)
{
  for (guint i = 0; i < tracks->list->len; i++) {
    const Track *track = track_at (tracks, i);

    for (guint k = 0; k < track->keyframes->len; k++) {
      const Keyframe *keyframe = keyframe_at (track, k);
      const Box *box = &keyframe->box;

      if (!fits (box, width, height)) {
        g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
            "%s: line %d: \"%s\", keyframe %u: the box %g,%g,%g,%g lies outside the film, or far over its edge; boxes are in pixels of the "
            "upright picture, which has %dx%d",
            file, keyframe->line, track->type, k + 1, box->x, box->y, box->width, box->height, width, height);
        return FALSE;
      }
    }
  }
  return TRUE;
}

int
tracks_alone (const Tracks *tracks)
{
  for (guint i = 0; i < tracks->list->len; i++)
    if (track_at (tracks, i)->keyframes->len > 1)
      return 0;
  return tracks->list->len ? keyframe_at (track_at (tracks, 0), 0)->line : 0;
}

int
tracks_over_edge (const Tracks *tracks, int width, int height)
{
  for (guint i = 0; i < tracks->list->len; i++)
    for (guint k = 0; k < track_at (tracks, i)->keyframes->len; k++) {
      const Keyframe *keyframe = keyframe_at (track_at (tracks, i), k);

      if (keyframe->box.x + keyframe->box.width >= width + 1 || keyframe->box.y + keyframe->box.height >= height + 1)
        return keyframe->line;
    }
  return 0;
}

gboolean
tracks_used (const Tracks *tracks, const char *file, GError **error)
{
  for (guint i = 0; i < tracks->list->len; i++) {
    const Track *track = track_at (tracks, i);

    if (!track->used) {
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "%s: line %d: \"%s\": no frame of the film is at the times of this track; times are seconds from the beginning of "
          "the film; take the track out where it belongs to another one",
          file, keyframe_at (track, 0)->line, track->type);
      return FALSE;
    }
  }
  return TRUE;
}

static void
write_number (GString *text, const char *name, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (text, "%s\"%s\": %s", strcmp (name, "time") ? ", " : "", name,
      g_ascii_formatd (number, sizeof (number), "%.15g", value));
}

static void
write_track (GString *text, const Track *track)
{
  for (guint i = 0; i < track->keyframes->len; i++) {
    const Keyframe *keyframe = keyframe_at (track, i);

    g_string_append (text, i ? ",\n      { " : "      { ");
    write_number (text, "time", keyframe->time / (double) GST_SECOND);
    write_number (text, "x", keyframe->box.x);
    write_number (text, "y", keyframe->box.y);
    write_number (text, "width", keyframe->box.width);
    write_number (text, "height", keyframe->box.height);
    g_string_append (text, " }");
  }
}

/* Whether an earlier track has the type, whose list has this track, too. */
static gboolean
is_listed (const Tracks *tracks, guint index)
{
  for (guint i = 0; i < index; i++)
    if (!strcmp (track_at (tracks, i)->type, track_at (tracks, index)->type))
      return TRUE;
  return FALSE;
}

/* As JSON writes it. Detectors choose the names of types. */
static void
write_type (GString *text, const char *type)
{
  g_string_append_c (text, '"');
  for (const char *p = type; *p; p++)
    if (*p == '"' || *p == '\\' || (guchar) *p < ' ')
      g_string_append_printf (text, "\\u%04x", (guchar) *p);
    else
      g_string_append_c (text, *p);
  g_string_append_c (text, '"');
}

char *
tracks_to_text (const Tracks *tracks)
{
  GString *text = g_string_new ("{");

  for (guint i = 0; i < tracks->list->len; i++) {
    const char *between = "\n";

    if (is_listed (tracks, i))
      continue;
    g_string_append (text, i ? ",\n  " : "\n  ");
    write_type (text, track_at (tracks, i)->type);
    g_string_append (text, ": [");
    for (guint k = i; k < tracks->list->len; k++)
      if (!strcmp (track_at (tracks, k)->type, track_at (tracks, i)->type)) {
        g_string_append_printf (text, "%s    [\n", between);
        write_track (text, track_at (tracks, k));
        g_string_append (text, "\n    ]");
        between = ",\n";
      }
    g_string_append (text, "\n  ]");
  }
  g_string_append (text, tracks->list->len ? "\n}\n" : " }\n");
  return g_string_free (text, FALSE);
}

gboolean
tracks_save (const Tracks *tracks, const char *file, GError **error)
{
  char *text = tracks_to_text (tracks);
  const gboolean ok = g_file_set_contents (file, text, -1, error);

  g_free (text);
  return ok;
}

/* --- boxes --- */

static gboolean
has_centre_of (const Box *box, const Box *other)
{
  const double x = other->x + other->width / 2 - box->x, y = other->y + other->height / 2 - box->y;

  return x >= 0 && x < box->width && y >= 0 && y < box->height;
}

void
tracks_add (Tracks *tracks, const char *type, GstClockTime time, const Box *box, GstClockTime gap)
{
  const Keyframe keyframe = { time, *box, 0 };
  Track *track = NULL;

  for (guint i = 0; i < tracks->list->len && !track; i++) {
    Track *candidate = track_at (tracks, i);
    const Keyframe *last = last_keyframe (candidate);

    if (last->time < time && time - last->time <= gap && !strcmp (candidate->type, type)
        && (has_centre_of (&last->box, box) || has_centre_of (box, &last->box)))
      track = candidate;
  }
  if (!track)
    track = begin_track (tracks, type);
  g_array_append_val (track->keyframes, keyframe);
}

static void
widen_box (Box *box, double share, int width, int height)
{
  const double left = MAX (box->x - share * box->width, 0), top = MAX (box->y - share * box->height, 0);
  const double right = MIN (box->x + (1 + share) * box->width, width);
  const double bottom = MIN (box->y + (1 + share) * box->height, height);

  /* What lies outside of the picture stays as it is. */
  if (left < right && top < bottom)
    *box = (Box){ left, top, right - left, bottom - top };
}

void
tracks_widen (Tracks *tracks, double share, GstClockTime earlier, GstClockTime later, int width, int height,
    GstClockTime end)
{
  for (guint i = 0; i < tracks->list->len; i++) {
    GArray *keyframes = track_at (tracks, i)->keyframes;
    Keyframe first, last;

    for (guint k = 0; k < keyframes->len; k++)
      widen_box (&g_array_index (keyframes, Keyframe, k).box, share, width, height);
    first = g_array_index (keyframes, Keyframe, 0);
    last = g_array_index (keyframes, Keyframe, keyframes->len - 1);
    if (earlier > 0 && first.time > 0) {
      first.time -= MIN (earlier, first.time);
      g_array_prepend_val (keyframes, first);
    }
    if (MIN (last.time + later, end) > last.time) {
      last.time = MIN (last.time + later, end);
      g_array_append_val (keyframes, last);
    }
  }
}

static double
between (double a, double b, double share)
{
  return a + (b - a) * share;
}

/* The box at a time; before the first keyframe and after the last one the box stands still. */
static Box
box_at (const Track *track, GstClockTime time)
{
  const Keyframe *a, *b;
  guint low = 0, high = track->keyframes->len - 1;
  double share;

  if (time <= keyframe_at (track, 0)->time)
    return keyframe_at (track, 0)->box;
  if (time >= keyframe_at (track, high)->time)
    return keyframe_at (track, high)->box;
  /* Keyframe low is not later than time, and keyframe high is later. */
  while (high - low > 1) {
    const guint middle = (low + high) / 2;

    if (keyframe_at (track, middle)->time <= time)
      low = middle;
    else
      high = middle;
  }
  a = keyframe_at (track, low);
  b = keyframe_at (track, high);
  share = (time - a->time) / (double) (b->time - a->time);
  return (Box){ between (a->box.x, b->box.x, share), between (a->box.y, b->box.y, share),
    between (a->box.width, b->box.width, share), between (a->box.height, b->box.height, share) };
}

guint
tracks_attach (Tracks *tracks, GstBuffer *frame, GstClockTime begin, GstClockTime end, GstClockTime lead, guint *early)
{
  guint count = 0;

  *early = 0;

  for (guint i = 0; i < tracks->list->len; i++) {
    Track *track = track_at (tracks, i);
    const GstClockTime first = keyframe_at (track, 0)->time, last = last_keyframe (track)->time;
    const gboolean is_early = end <= first && begin < first;
    double left, top, right, bottom;
    Box box;

    if (begin > last || (is_early && first - begin > lead))
      continue;
    track->used = TRUE;
    box = box_at (track, begin);
    /* The metadata holds whole numbers from 0 up. Rounding makes the box larger. */
    left = MAX (floor (box.x), 0);
    top = MAX (floor (box.y), 0);
    right = ceil (box.x + box.width);
    bottom = ceil (box.y + box.height);
    if (right <= left || bottom <= top)
      continue;
    gst_buffer_add_video_region_of_interest_meta (frame, track->type, left, top, right - left, bottom - top);
    count++;
    *early += is_early;
  }
  return count;
}
