/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes faces, number plates or screens in a film unreadable:
 *
 *   anonymise --boxes=FILE.json | --detect [--cascade=FILE.xml] [--save-boxes=FILE.json]
 *             [--effect=pixelate | noise | blur | fill] [-o OUTPUT.webm | OUTPUT.mkv] INPUT [PROPERTY=VALUE...]
 *
 * Boxes come from a JSON file (see tracks.h), or from GStreamer's element facedetect, which looks through the whole film
 * first. Each frame then gets its boxes as GstVideoRegionOfInterestMeta, and cudaconvolve works on the boxes of each
 * frame. Each frame is compared with what the element makes of it: a frame whose boxes hide nothing is an error. Properties
 * are those of cudaconvolve that cannot leave a box readable. Sound is kept, tags are not: tags may hold pictures and places.
 * The output appears when it is complete.
 */
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "covered.h"
#include "play.h"
#include "properties.h"
#include "result.h"
#include "tracks.h"

/* A film from a telephone may say in a tag how to turn the picture. Boxes are those of the turned picture. */
#define UPRIGHT "videoconvert name=video ! videoflip video-direction=auto"
#define FIND \
  "filesrc name=source ! decodebin caps=video/x-raw(ANY) expose-all-streams=false ! " UPRIGHT " ! videoconvert ! " \
  "facedetect name=detect display=false ! fakesink sync=false"
/* Encoded streams wait here for the others, however far apart they lie in the file. */
#define WAIT "queue max-size-time=0 max-size-bytes=0 max-size-buffers=0"
#define COVER \
  "filesrc name=source ! decodebin name=decode expose-all-streams=false " UPRIGHT " ! cudaconvolve name=convolve ! " \
  "videoconvert ! vp8enc deadline=1 cpu-used=4 threads=4 end-usage=cq cq-level=4 max-quantizer=20 " \
  "target-bitrate=30000000 ! " WAIT " ! %s name=mux ! filesink name=sink"
#define ENCODE_SOUND "audioconvert ! audioresample ! opusenc bitrate=128000 ! " WAIT

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
  gboolean found;         /* the limit is for faces that facedetect finds */
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
  { "region-expand", 0.4, 10, { NULL }, TRUE, "a detector's box leaves out mouth and chin; write 0.4 or more" },
  { "region-fallback", 0, 0, { NULL }, FALSE, NULL },
  { "region-feather", 0, 0, { NULL }, FALSE, NULL },
  { "region-hold", 5e8, 1e30, { NULL }, TRUE, "a detector misses faces in between; write 500000000 or more" },
  { "region-log", 0, 0, { NULL }, FALSE, NULL },
  { "region-shape", 0, 0, { "rectangle" }, FALSE, "an ellipse leaves the corners of its box; write rectangle" },
  { "region-strength", 0.2, 1, { NULL }, FALSE, "a blur below 0.2 can be undone; write 0.2 or more" },
};

typedef struct
{
  const char *input;
  char *output;
  char *boxes, *save, *cascade, *effect;
  gboolean detect;
  char **properties; /* NAME=VALUE, ends with NULL */
  Result film, found;

  Tracks *tracks;
  GstElement *convolve;
  GstPad *sink;         /* of convolve */
  GstClockTime hold;    /* the property region-hold */
  guint64 found_frames; /* frames in which a face was found */
  Covered *covered;

  /* Used only in the streaming thread. */
  gboolean has_video;
} Run;

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
set_free (Run *run, const char *assignment)
{
  const struct Free *rule = find_rule (assignment);
  GValue value = G_VALUE_INIT;
  gboolean ok = TRUE;

  if (!rule && is_property (run->convolve, assignment)) {
    refuse (assignment);
    return FALSE;
  }
  if (!set_property (run->convolve, assignment))
    return FALSE;
  if (!rule || !rule->why || (rule->found && (!run->detect || run->cascade)))
    return TRUE;
  g_object_get_property (G_OBJECT (run->convolve), rule->name, &value);
  ok = is_in_range (rule, &value);
  if (!ok)
    complain ("\"%s\": %s", assignment, rule->why);
  g_value_unset (&value);
  return ok;
}

/* Sets what this program chose, then what the user wrote. A JSON file says when a face goes; a detector does not. */
static gboolean
set_properties (Run *run)
{
  const Effect *effect = NULL;
  gboolean ok;

  for (guint i = 0; i < G_N_ELEMENTS (effects); i++)
    if (!run->effect || !strcmp (run->effect, effects[i].name)) {
      effect = &effects[i];
      break;
    }
  if (!effect) {
    complain ("--effect=%s: the effects are pixelate, noise, blur and fill", run->effect);
    return FALSE;
  }
  ok = set_property (run->convolve, "apply-to=regions") && set_property (run->convolve, "region-blocks=3");
  for (guint i = 0; effect->properties[i]; i++)
    ok = ok && set_property (run->convolve, effect->properties[i]);
  ok = ok && set_property (run->convolve, run->detect ? "region-expand=0.4" : "region-hold=0");
  for (char **property = run->properties; ok && *property; property++)
    ok = set_free (run, *property);
  g_object_get (run->convolve, "region-hold", &run->hold, NULL);
  return ok;
}

/* Makes a pipeline; NULL with a message where an element is missing. */
static GstElement *
make_pipeline (const Run *run, const char *description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error), *source;

  if (!pipeline) {
    complain ("%s", error->message);
    g_error_free (error);
    return NULL;
  }
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "location", run->input, NULL);
  gst_object_unref (source);
  return pipeline;
}

/* --- finding faces --- */

static void
faces_found (const GstStructure *message, gpointer data)
{
  Run *run = data;
  const GValue *faces = gst_structure_get_value (message, "faces");
  GstClockTime time;

  if (!gst_structure_has_name (message, "facedetect") || !gst_structure_get_clock_time (message, "stream-time", &time)
      || !GST_CLOCK_TIME_IS_VALID (time) || !faces)
    return;
  for (guint i = 0; i < gst_value_list_get_size (faces); i++) {
    const GstStructure *face = gst_value_get_structure (gst_value_list_get_value (faces, i));
    guint x, y, width, height;

    if (gst_structure_get (face, "x", G_TYPE_UINT, &x, "y", G_TYPE_UINT, &y, "width", G_TYPE_UINT, &width, "height",
            G_TYPE_UINT, &height, NULL)
        && width > 0 && height > 0)
      tracks_add (run->tracks, "face", time, &(Box){ x, y, width, height }, run->hold);
  }
  run->found_frames += gst_value_list_get_size (faces) > 0;
}

/* Whether OpenCV can read the file. OpenCV ends the program where a file is something else. */
static gboolean
is_cascade (const char *file)
{
  char *text;
  gboolean is;

  if (!g_file_get_contents (file, &text, NULL, NULL)) {
    complain ("%s: no such file, and --detect needs a cascade: Debian and Ubuntu have cascades in opencv-data", file);
    return FALSE;
  }
  is = strstr (text, "<opencv_storage") && strstr (text, "<cascade");
  if (!is)
    complain ("%s: not a cascade of OpenCV; Debian and Ubuntu have cascades in opencv-data", file);
  g_free (text);
  return is;
}

/* The detector, with the description of faces that it is to use; NULL where one of the two is missing. */
static GstElement *
make_detector (const Run *run)
{
  GstElement *pipeline, *detector = gst_element_factory_make ("facedetect", NULL);
  char *cascade = g_strdup (run->cascade);

  if (!detector) {
    complain ("--detect needs GStreamer's element facedetect: Debian and Ubuntu have it in gstreamer1.0-opencv");
    g_free (cascade);
    return NULL;
  }
  if (!cascade)
    g_object_get (detector, "profile", &cascade, NULL);
  gst_object_unref (detector);
  pipeline = is_cascade (cascade) ? make_pipeline (run, FIND) : NULL;
  if (pipeline) {
    detector = gst_bin_get_by_name (GST_BIN (pipeline), "detect");
    g_object_set (detector, "profile", cascade, NULL);
    gst_object_unref (detector);
  }
  g_free (cascade);
  return pipeline;
}

/* Writes what was found. A film without a face leaves the earlier file, which may be one that a person corrected. */
static gboolean
save_boxes (Run *run)
{
  GError *error = NULL;

  if (!run->save || tracks_count (run->tracks) == 0)
    return TRUE;
  if (tracks_save (run->tracks, run->found.part, &error))
    return result_keep (&run->found);
  complain ("%s", error->message);
  g_error_free (error);
  return FALSE;
}

static gboolean
find_faces (Run *run)
{
  Film film = { .file = run->input, .task = "finding", .on_message = faces_found, .data = run };
  gboolean ok;

  film.pipeline = make_detector (run);
  if (!film.pipeline)
    return FALSE;
  run->tracks = tracks_new ();
  ok = play_film (&film, "detect");
  gst_object_unref (film.pipeline);
  g_free (film.missing);
  if (!ok)
    return FALSE;
  g_print ("found: faces in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames, tracks: %u\n", run->found_frames,
      film.frames, tracks_count (run->tracks));
  return save_boxes (run);
}

/* Makes the tracks, of which there is at least one. */
static gboolean
make_tracks (Run *run)
{
  GError *error = NULL;

  if (run->detect) {
    if (!find_faces (run))
      return FALSE;
  } else {
    run->tracks = tracks_load (run->boxes, &error);
    if (!run->tracks) {
      complain ("%s", error->message);
      g_error_free (error);
      return FALSE;
    }
  }
  if (tracks_count (run->tracks) > 0)
    return TRUE;
  complain ("%s: no %s, so that nothing would be covered; %s was not written", run->detect ? run->input : run->boxes,
      run->detect ? "face was found" : "boxes", run->output);
  return FALSE;
}

/* --- covering --- */

/* Boxes of a file have to be boxes of this film. */
static gboolean
check_boxes (int width, int height, gpointer data)
{
  Run *run = data;
  GError *error = NULL;
  int line;

  if (run->detect)
    return TRUE;
  if (tracks_fit (run->tracks, width, height, run->boxes, &error)) {
    line = tracks_over_edge (run->tracks, width, height);
    if (line)
      complain (
          "warning: %s: line %d: the box passes the edge of the film, which has %dx%d; are the boxes those of a larger film?",
          run->boxes, line, width, height);
    return TRUE;
  }
  complain ("%s", error->message);
  g_error_free (error);
  return FALSE;
}

static void
attach_boxes (GstBuffer **frame, GstClockTime begin, GstClockTime end, gpointer data)
{
  Run *run = data;
  guint boxes, early;

  *frame = gst_buffer_make_writable (*frame);
  boxes = tracks_attach (run->tracks, *frame, begin, end, run->hold, &early);
  covered_frame_in (run->covered, run->sink, *frame, begin, boxes > early);
}

static GstPadProbeReturn
drop_tags (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const GstEventType type = GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info));

  return type == GST_EVENT_TAG || type == GST_EVENT_TOC ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static void
leave_tags_out (GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, drop_tags, NULL, NULL);
}

/* A branch that takes sound as it is where the file's format can hold the sound, and encodes other sound. */
static gboolean
link_sound (GstBin *pipeline, GstPad *pad, gboolean raw)
{
  GstElement *branch, *mux = gst_bin_get_by_name (pipeline, "mux");
  GstPad *sink;
  gboolean ok;

  branch = gst_parse_bin_from_description (raw ? ENCODE_SOUND : WAIT, TRUE, NULL);
  ok = branch != NULL;
  if (ok) {
    gst_bin_add (pipeline, branch);
    sink = gst_element_get_static_pad (branch, "sink");
    leave_tags_out (sink);
    ok = gst_element_link_pads (branch, "src", mux, "audio_%u") && gst_pad_link (pad, sink) == GST_PAD_LINK_OK
        && gst_element_sync_state_with_parent (branch);
    gst_object_unref (sink);
  }
  gst_object_unref (mux);
  return ok;
}

/* The first video is taken. Further ones are not linked, so that nothing of them gets into the output. */
static void
stream_found (GstElement *decode, GstPad *pad, gpointer data)
{
  Run *run = data;
  GstBin *pipeline = GST_BIN (GST_OBJECT_PARENT (decode));
  GstCaps *caps = gst_pad_get_current_caps (pad);
  const char *kind;
  gboolean ok = TRUE;

  if (!caps)
    caps = gst_pad_query_caps (pad, NULL);
  kind = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  if (g_str_has_prefix (kind, "audio/"))
    ok = link_sound (pipeline, pad, !strcmp (kind, "audio/x-raw"));
  else if (!run->has_video) {
    GstElement *video = gst_bin_get_by_name (pipeline, "video");
    GstPad *sink = gst_element_get_static_pad (video, "sink");

    ok = run->has_video = gst_pad_link (pad, sink) == GST_PAD_LINK_OK;
    gst_object_unref (sink);
    gst_object_unref (video);
  }
  if (!ok)
    GST_ELEMENT_ERROR (decode, CORE, PAD, ("the stream %s cannot be written", kind), (NULL));
  gst_caps_unref (caps);
}

static void
all_streams_found (GstElement *decode, gpointer data)
{
  const Run *run = data;

  if (!run->has_video)
    GST_ELEMENT_ERROR (decode, STREAM, WRONG_TYPE, ("the file has no video"), (NULL));
}

/* Where decodebin stops: video is decoded, and sound only where the file's format cannot hold the sound as it is. */
static GstCaps *
wanted_caps (GstElement *mux)
{
  GstCaps *caps = gst_caps_from_string ("video/x-raw(ANY); audio/x-raw(ANY)");
  GstPadTemplate *sound = gst_element_get_pad_template (mux, "audio_%u");

  return gst_caps_merge (caps, gst_pad_template_get_caps (sound));
}

static GstElement *
make_cover (Run *run, const char *muxer)
{
  char *description = g_strdup_printf (COVER, muxer);
  GstElement *pipeline = make_pipeline (run, description), *decode, *mux, *sink;
  GstPad *pad;
  GstCaps *caps;

  g_free (description);
  if (!pipeline)
    return NULL;
  decode = gst_bin_get_by_name (GST_BIN (pipeline), "decode");
  mux = gst_bin_get_by_name (GST_BIN (pipeline), "mux");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  run->convolve = gst_bin_get_by_name (GST_BIN (pipeline), "convolve");
  run->sink = gst_element_get_static_pad (run->convolve, "sink");
  run->covered = covered_new (run->convolve);
  caps = wanted_caps (mux);
  g_object_set (decode, "caps", caps, NULL);
  gst_caps_unref (caps);
  g_object_set (sink, "location", run->film.part, NULL);
  g_signal_connect (decode, "pad-added", G_CALLBACK (stream_found), run);
  g_signal_connect (decode, "no-more-pads", G_CALLBACK (all_streams_found), run);
  pad = gst_element_get_static_pad (run->convolve, "src");
  leave_tags_out (pad);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (mux);
  gst_object_unref (decode);
  return pipeline;
}

/* Whether every box of every frame hid what lay under it. Otherwise a line on stderr says where not. */
static gboolean
is_covered (const Run *run, const Counts *counts)
{
  GError *error = NULL;

  if (counts->open > 0)
    complain ("%s: in %" G_GUINT64_FORMAT
              " frames, the first at %.2f s, a box hid nothing; %s was not written; try --effect=fill",
        run->input, counts->open, counts->first / (double) GST_SECOND, run->output);
  else if (counts->by_new + counts->by_held == 0)
    complain ("%s: no frame has a box, so that nothing is covered; %s was not written; times are seconds", run->input,
        run->output);
  else if (!run->detect && !tracks_used (run->tracks, run->boxes, &error)) {
    complain ("%s", error->message);
    g_error_free (error);
  } else
    return TRUE;
  return FALSE;
}

/* Gives the complete film its name, and says what was covered. */
static gboolean
finish (Run *run, guint64 frames)
{
  const Counts counts = covered_counts (run->covered);

  if (!is_covered (run, &counts) || !result_keep (&run->film))
    return FALSE;
  g_print ("film: %s\ncovered: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames: %" G_GUINT64_FORMAT
           " by new boxes, %" G_GUINT64_FORMAT " by held ones; %" G_GUINT64_FORMAT " had none\n",
      run->output, counts.by_new + counts.by_held, frames, counts.by_new, counts.by_held, counts.bare);
  return TRUE;
}

/* No output may be a file that is read. */
static gboolean
begin_results (Run *run)
{
  char *files[] = { g_strdup_printf ("--boxes=%s", run->boxes ? run->boxes : ""),
    g_strdup_printf ("--cascade=%s", run->cascade ? run->cascade : ""), NULL };
  const gboolean ok = result_begin (&run->film, run->output, run->input, files)
      && (!run->save || result_begin (&run->found, run->save, run->input, files));

  g_free (files[0]);
  g_free (files[1]);
  return ok;
}

static gboolean
anonymise (Run *run)
{
  Film film = { .file = run->input,
    .task = "covering",
    /* finish () tells of frames without a box, with which a film may begin. */
    .told = "apply-to: nothing is changed",
    .on_first = check_boxes,
    .on_frame = attach_boxes,
    .data = run };
  gboolean ok;

  film.pipeline = make_cover (run, g_str_has_suffix (run->output, ".mkv") ? "matroskamux" : "webmmux");
  if (!film.pipeline)
    return FALSE;
  ok = set_properties (run) && make_tracks (run) && play_film (&film, "convolve") && finish (run, film.frames);
  gst_object_unref (run->sink);
  gst_object_unref (run->convolve);
  gst_object_unref (film.pipeline);
  covered_free (run->covered);
  g_free (film.missing);
  return ok;
}

/* --- arguments --- */

/* NAME-anonymised.webm in the current folder. */
static char *
usual_output (const char *input)
{
  char *name = g_path_get_basename (input), *dot = strrchr (name, '.'), *output;

  if (dot && dot != name)
    *dot = '\0';
  output = g_strconcat (name, "-anonymised.webm", NULL);
  g_free (name);
  return output;
}

static gboolean
check_arguments (Run *run)
{
  if (!run->boxes == !run->detect)
    complain ("either --boxes=FILE.json or --detect is needed; see --help");
  else if (!run->detect && (run->cascade || run->save))
    complain ("--cascade and --save-boxes belong to --detect");
  else if (!g_str_has_suffix (run->output, ".webm") && !g_str_has_suffix (run->output, ".mkv"))
    complain ("%s: the name of the output has to end in .webm or .mkv", run->output);
  else if (!g_file_test (run->input, G_FILE_TEST_EXISTS))
    complain ("%s: no such file", run->input);
  else
    return TRUE;
  return FALSE;
}

int
main (int argc, char **argv)
{
  Run run = { 0 };
  const GOptionEntry entries[] = {
    { "boxes", 0, 0, G_OPTION_ARG_FILENAME, &run.boxes, "take the boxes from a JSON file", "FILE.json" },
    { "detect", 0, 0, G_OPTION_ARG_NONE, &run.detect, "find faces", NULL },
    { "cascade", 0, 0, G_OPTION_ARG_FILENAME, &run.cascade, "find what this OpenCV cascade describes", "FILE.xml" },
    { "save-boxes", 0, 0, G_OPTION_ARG_FILENAME, &run.save, "write what was found, for --boxes", "FILE.json" },
    { "effect", 0, 0, G_OPTION_ARG_STRING, &run.effect, "pixelate (the default), noise, blur or fill", "NAME" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &run.output, "the film to write, .webm or .mkv", "FILE" },
    { 0 },
  };
  GOptionContext *context = g_option_context_new ("INPUT [PROPERTY=VALUE...]");
  GError *error = NULL;
  gboolean ok;

  /* OpenCV complains of cascades for eyes and mouths that Debian does not have. */
  g_setenv ("OPENCV_LOG_LEVEL", "OFF", FALSE);
  g_option_context_set_summary (context, "Makes faces, or what boxes show, unreadable in a film.");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  ok = g_option_context_parse (context, &argc, &argv, &error);
  if (ok && argc < 2)
    g_set_error_literal (&error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "a film is needed; see --help");
  g_option_context_free (context);
  if (error) {
    complain ("%s", error->message);
    return 1;
  }
  run.input = argv[1];
  run.properties = argv + 2;
  if (!run.output)
    run.output = usual_output (run.input);
  ok = check_arguments (&run) && begin_results (&run) && anonymise (&run);
  result_drop (&run.film);
  result_drop (&run.found);
  g_clear_pointer (&run.tracks, tracks_free);
  g_free (run.output);
  g_free (run.boxes);
  g_free (run.save);
  g_free (run.cascade);
  g_free (run.effect);
  return ok ? 0 : 1;
}
