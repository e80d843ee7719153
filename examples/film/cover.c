/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cover.h"

#include <string.h>

#include "covered.h"
#include "detector.h"
#include "page.h"
#include "preview.h"
#include "progress.h"
#include "properties.h"
#include "say.h"
#include "tracks.h"

typedef struct
{
  const char *name;
  const char *properties[4]; /* ends with NULL */
} Effect;

/* The first one is the default. */
static const Effect effects[] = {
  { "pixelate", { "region-effect=pixelate" } },
  { "noise", { "region-effect=noise-pixelate" } },
  { "blur", { "region-effect=mask", "mask=gaussian", "region-strength=0.3" } },
  { "fill", { "region-effect=fill" } },
};

/*
 * The properties that the user may set. All others could leave boxes readable, or have nothing to do with boxes. A number lies
 * between least and most, both included, and a choice is one of the names.
 */
static const struct Free
{
  const char *name;
  double least, most;
  const char *choices[3]; /* ends with NULL; none where any value will do */
  gboolean found;         /* the limit is for faces that a detector finds */
  const char *why;
} frees[] = {
  { "boundary", 0, 0, { NULL }, FALSE, NULL },
  { "boundary-color", 0, 0, { NULL }, FALSE, NULL },
  { "cuda-device-id", 0, 0, { NULL }, FALSE, NULL },
  { "field-mode", 0, 0, { NULL }, FALSE, NULL },
  { "frames-in-flight", 0, 0, { NULL }, FALSE, NULL },
  { "kernel-variant", 0, 0, { NULL }, FALSE, NULL },
  { "n-threads", 0, 0, { NULL }, FALSE, NULL },
  { "region-blocks", 1, 3, { NULL }, FALSE, "more than 3 blocks can be undone; write 1 to 3" },
  { "region-color", 0, 0, { NULL }, FALSE, NULL },
  { "region-effect", 0, 0, { "pixelate", "fill" }, FALSE, "write pixelate or fill; --effect=blur blurs" },
  { "region-epsilon", 0.01, 1, { NULL }, FALSE, "above 1 a list of suspects finds faces; write 1 or less" },
  { "region-expand", 0.2, 10, { NULL }, TRUE, "a detector's box leaves out hair and chin; write 0.2 or more" },
  { "region-fallback", 0, 0, { NULL }, FALSE, NULL },
  { "region-feather", 0, 0, { NULL }, FALSE, NULL },
  { "region-hold", 5e8, 1e30, { NULL }, TRUE,
      "a detector misses faces in between; write 500000000 nanoseconds or more" },
  { "region-log", 0, 0, { NULL }, FALSE, NULL },
  { "region-lookahead", 2e8, 1e30, { NULL }, TRUE, "a detector finds faces late; write 200000000 nanoseconds or more" },
  { "region-picture", 0, 0, { NULL }, FALSE, NULL },
  { "region-shape", 0, 0, { "rectangle" }, FALSE, "an ellipse leaves the corners of its box; write rectangle" },
  { "region-strength", 0.2, 1, { NULL }, FALSE, "a blur below 0.2 can be undone; write 0.2 or more" },
};

/* For a preview: what would be covered is lighter than the film. */
static const Effect lighter = { "preview", { "region-effect=mask", "mask=identity", "bias=0.15" } };

struct _Cover
{
  const Options *options;
  Tracks *tracks; /* of the file, or as the detector finds them */
  GstElement *convolve;
  GstPad *sink;      /* of convolve */
  GstClockTime hold; /* the property region-hold */
  Covered *covered;

  FilmDetector *detector; /* NULL where the boxes are those of a file */
  GArray *boxes;          /* FilmBox, of a frame */
  GstVideoInfo info;      /* of the frames */
  gboolean failed;
  GstClockTime last, end; /* the time of the last frame, and when it ends */
};

/* The value of a number, or of a choice by its name. */
static gboolean
is_in_range (const struct Free *rule, const GValue *value)
{
  GValue number = G_VALUE_INIT;
  gboolean ok = FALSE;

  if (rule->choices[0]) {
    const char *name =
        g_enum_get_value (g_type_class_peek (G_VALUE_TYPE (value)), g_value_get_enum (value))->value_nick;

    return g_strv_contains (rule->choices, name);
  }
  g_value_init (&number, G_TYPE_DOUBLE);
  if (g_value_transform (value, &number))
    ok = g_value_get_double (&number) >= rule->least && g_value_get_double (&number) <= rule->most;
  g_value_unset (&number);
  return ok;
}

/* The rule for an assignment, or NULL. GObject takes _ for -. */
static const struct Free *
find_rule (const char *assignment)
{
  char *name = g_strdelimit (g_strndup (assignment, strcspn (assignment, "=")), "_", '-');
  const struct Free *rule = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (frees); i++)
    if (!strcmp (frees[i].name, name))
      rule = &frees[i];
  g_free (name);
  return rule;
}

static void
refuse (const char *assignment)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (frees); i++)
    g_string_append_printf (names, "%s%s", i ? ", " : "", frees[i].name);
  complain ("\"%s\": this property is not free here, because faces might stay uncovered; free are %s", assignment,
      names->str);
  g_string_free (names, TRUE);
}

static gboolean
is_property (GstElement *convolve, const char *assignment)
{
  char *name = g_strndup (assignment, strcspn (assignment, "="));
  const gboolean is = g_object_class_find_property (G_OBJECT_GET_CLASS (convolve), name) != NULL;

  g_free (name);
  return is;
}

/* Sets a property of the user. FALSE with a line on stderr where it could leave a face readable. */
static gboolean
set_free (Cover *cover, const char *assignment)
{
  const struct Free *rule = find_rule (assignment);
  GValue value = G_VALUE_INIT;
  gboolean ok = TRUE;

  if (!rule && is_property (cover->convolve, assignment)) {
    refuse (assignment);
    return FALSE;
  }
  if (!set_property (cover->convolve, assignment))
    return FALSE;
  if (!rule || !rule->why || (rule->found && !cover->options->cover))
    return TRUE;
  g_object_get_property (G_OBJECT (cover->convolve), rule->name, &value);
  ok = is_in_range (rule, &value);
  if (!ok)
    complain ("\"%s\": %s", assignment, rule->why);
  g_value_unset (&value);
  return ok;
}

/* Whether keyframes cannot leave a face readable: all values of the property are free. FALSE with a line where they can. */
static gboolean
is_free_over_time (const Cover *cover, const char *keyframes)
{
  const struct Free *rule = find_rule (keyframes);

  if ((rule && !rule->why) || !is_property (cover->convolve, keyframes))
    return TRUE;
  complain (
      "--keyframes=%s: faces might stay uncovered; with boxes, keyframes are free for boundary-color, region-color "
      "and region-feather",
      keyframes);
  return FALSE;
}

/* Sets what this program chose, then what the user wrote. A JSON file says when a face goes; a detector does not. */
static gboolean
set_properties (Cover *cover)
{
  const Effect *effect = NULL;
  gboolean ok;

  for (guint i = 0; i < G_N_ELEMENTS (effects); i++)
    if (!cover->options->effect || !strcmp (cover->options->effect, effects[i].name)) {
      effect = &effects[i];
      break;
    }
  if (effect && cover->options->preview)
    effect = &lighter;
  if (!effect) {
    complain ("--effect=%s: the effects are pixelate, noise, blur and fill", cover->options->effect);
    return FALSE;
  }
  ok = set_property (cover->convolve, "apply-to=regions") && set_property (cover->convolve, "region-blocks=3");
  for (guint i = 0; effect->properties[i]; i++)
    ok = ok && set_property (cover->convolve, effect->properties[i]);
  if (cover->options->boxes)
    ok = ok && set_property (cover->convolve, "region-hold=0");
  else
    for (guint i = 0; film_detector_properties[i]; i++)
      ok = ok && set_property (cover->convolve, film_detector_properties[i]);
  for (char **property = cover->options->properties; ok && *property; property++)
    ok = set_free (cover, *property);
  for (char **text = cover->options->keyframes; ok && text && *text; text++)
    ok = is_free_over_time (cover, *text);
  g_object_get (cover->convolve, "region-hold", &cover->hold, NULL);
  return ok;
}

static gboolean
complain_of (GError *error)
{
  complain ("%s", error->message);
  g_error_free (error);
  return FALSE;
}

/* Reads the boxes, of which there is at least one. */
static gboolean
read_tracks (Cover *cover)
{
  GError *error = NULL;

  cover->tracks = tracks_load (cover->options->boxes, &error);
  if (!cover->tracks)
    return complain_of (error);
  if (tracks_count (cover->tracks) > 0)
    return TRUE;
  complain ("%s: no boxes, so that nothing would be covered; %s was not written", cover->options->boxes,
      cover->options->output);
  return FALSE;
}

static gboolean
begin_detector (Cover *cover)
{
  const Options *options = cover->options;
  GError *error = NULL;

  cover->tracks = tracks_new ();
  cover->boxes = g_array_new (FALSE, FALSE, sizeof (FilmBox));
  cover->detector = film_detector_new (options->detector ? options->detector : options->model, &error);
  return cover->detector ? TRUE : complain_of (error);
}

Cover *
cover_new (const Options *options, GstElement *convolve)
{
  Cover *cover = g_new0 (Cover, 1);

  cover->options = options;
  cover->convolve = gst_object_ref (convolve);
  cover->sink = gst_element_get_static_pad (convolve, "sink");
  cover->covered = covered_new (convolve, !options->preview);
  gst_video_info_init (&cover->info);
  if (!set_properties (cover) || !(options->boxes ? read_tracks (cover) : begin_detector (cover)))
    g_clear_pointer (&cover, cover_free);
  return cover;
}

/* The pipeline has stopped by now, so that no frame comes any more. */
void
cover_free (Cover *cover)
{
  covered_free (cover->covered);
  g_clear_pointer (&cover->tracks, tracks_free);
  g_clear_pointer (&cover->detector, film_detector_free);
  g_clear_pointer (&cover->boxes, g_array_unref);
  gst_object_unref (cover->sink);
  gst_object_unref (cover->convolve);
  g_free (cover);
}

static void
read_caps (Cover *cover)
{
  GstCaps *caps = gst_pad_get_current_caps (cover->sink);

  if (caps) {
    gst_video_info_from_caps (&cover->info, caps);
    gst_caps_unref (caps);
  }
}

gboolean
cover_fits (Cover *cover, int width, int height)
{
  const char *boxes = cover->options->boxes;
  GError *error = NULL;
  int line;

  if (cover->detector)
    return TRUE;
  read_caps (cover);
  if (cover->info.par_n != cover->info.par_d)
    complain ("warning: %s: boxes count in the film's %dx%d pixels, which players show as %dx%d", boxes, width, height,
        (int) gst_util_uint64_scale_int_round (width, cover->info.par_n, cover->info.par_d), height);
  if (!tracks_fit (cover->tracks, width, height, boxes, &error))
    return complain_of (error);
  line = tracks_alone (cover->tracks);
  if (line)
    complain (
        "warning: %s: line %d: a track of one keyframe covers one frame alone; a box that stands still has a second "
        "one with a later time",
        boxes, line);
  line = tracks_over_edge (cover->tracks, width, height);
  if (line)
    complain (
        "warning: %s: line %d: the box passes the edge of the film, which has %dx%d; are the boxes those of a larger film?",
        boxes, line, width, height);
  return TRUE;
}

/* The error of a detector; further frames are left alone. */
static void
post_error (Cover *cover, const gchar *text)
{
  cover->failed = TRUE;
  GST_ELEMENT_ERROR (cover->convolve, LIBRARY, FAILED, ("%s", text), (NULL));
}

/* Lets the detector look at a frame, and puts what it finds into the frame and the tracks. */
static void
find_boxes (Cover *cover, GstBuffer *frame, GstClockTime time)
{
  GError *error = NULL;
  GstVideoFrame mapped;
  gboolean ok;

  if (!gst_video_frame_map (&mapped, &cover->info, frame, GST_MAP_READ)) {
    post_error (cover, "a frame cannot be read");
    return;
  }
  ok = film_detector_find (cover->detector, &mapped, cover->boxes, &error);
  gst_video_frame_unmap (&mapped);
  if (!ok) {
    post_error (cover, error->message);
    g_error_free (error);
    return;
  }
  film_boxes_attach (frame, cover->boxes);
  for (guint i = 0; i < cover->boxes->len; i++) {
    const FilmBox *box = &g_array_index (cover->boxes, FilmBox, i);

    tracks_add (cover->tracks, box->type, time, &(Box){ box->x, box->y, box->width, box->height }, cover->hold);
  }
}

void
cover_frame (Cover *cover, GstBuffer **frame, GstClockTime begin, GstClockTime end)
{
  guint boxes, early = 0;

  if (cover->failed)
    return;
  *frame = gst_buffer_make_writable (*frame);
  read_caps (cover);
  cover->last = begin;
  cover->end = end;
  if (cover->detector) {
    find_boxes (cover, *frame, begin);
    boxes = cover->boxes->len;
  } else
    boxes = tracks_attach (cover->tracks, *frame, begin, end, cover->hold, &early);
  if (cover->options->preview && !cover->failed && !film_preview_draw (*frame, &cover->info))
    post_error (cover, "a frame cannot be drawn on");
  covered_frame_in (cover->covered, cover->sink, *frame, begin, boxes > early);
}

gboolean
cover_is_whole (const Cover *cover)
{
  const Options *options = cover->options;
  const Counts counts = covered_counts (cover->covered);
  GError *error = NULL;

  if (counts.open > 0)
    complain ("%s: in %" G_GUINT64_FORMAT
              " frames, the first at %.2f s, a box hid nothing; %s was not written; try --effect=fill",
        options->input, counts.open, counts.first / (double) GST_SECOND, options->output);
  else if (cover->detector && tracks_count (cover->tracks) == 0)
    complain ("%s: nothing was found, so that nothing is covered; %s was not written", options->input, options->output);
  else if (!cover->detector && !tracks_used (cover->tracks, options->boxes, &error))
    complain_of (error);
  else if (counts.by_new + counts.by_held == 0)
    complain ("%s: no frame has a box, so that nothing is covered; %s was not written", options->input,
        options->output);
  else
    return TRUE;
  return FALSE;
}

static gboolean
write_page (const Cover *cover, const char *file)
{
  char *boxes = tracks_to_text (cover->tracks), *name = g_path_get_basename (cover->options->input);
  const char *from = cover->options->save ? cover->options->save : cover->options->boxes;
  char *base = from ? g_path_get_basename (from) : g_strdup (name);
  const char *dot = strrchr (base, '.');
  char *save = g_strdup_printf ("%.*s-corrected.json", dot ? (int) (dot - base) : (int) strlen (base), base);
  const FilmPage page = { cover->options->input, boxes, save, cover->info.width, cover->info.height, cover->info.par_n,
    cover->info.par_d, cover->info.fps_n, cover->info.fps_d, cover->end };
  GError *error = NULL;
  const gboolean ok = film_page_write (&page, file, &error);

  g_free (save);
  g_free (base);
  g_free (name);
  g_free (boxes);
  return ok ? TRUE : complain_of (error);
}

gboolean
cover_write (const Cover *cover, const char *save, const char *page)
{
  gdouble expand;
  guint64 ahead;
  GError *error = NULL;

  if (cover->detector && (save || page)) {
    g_object_get (cover->convolve, "region-expand", &expand, "region-lookahead", &ahead, NULL);
    tracks_widen (cover->tracks, expand, ahead, cover->hold, cover->info.width, cover->info.height, cover->last);
  }
  if (save && !tracks_save (cover->tracks, save, &error))
    return complain_of (error);
  return !page || write_page (cover, page);
}

void
cover_say (const Cover *cover, guint64 frames)
{
  const Counts counts = covered_counts (cover->covered);

  say_begin (cover->options->preview ? "preview" : "covered");
  say_number ("frames", frames);
  say_number ("new", counts.by_new);
  say_number ("held", counts.by_held);
  say_number ("bare", counts.bare);
  if (cover->options->preview) {
    say_end ("preview: nothing is covered; %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames would be",
        counts.by_new + counts.by_held, frames);
    return;
  }
  say_end ("covered: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames: %" G_GUINT64_FORMAT
           " by new boxes, %" G_GUINT64_FORMAT " by held ones; %" G_GUINT64_FORMAT " had none",
      counts.by_new + counts.by_held, frames, counts.by_new, counts.by_held, counts.bare);
}
