/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes faces, number plates or screens in a film unreadable:
 *
 *   anonymise --boxes=FILE.json | --detect [--cascade=FILE.xml] [--save-boxes=FILE.json]
 *             [--effect=pixelate | blur | fill] [-o OUTPUT.webm | OUTPUT.mkv] INPUT [PROPERTY=VALUE...]
 *
 * Boxes come from a JSON file (see tracks.h), or from GStreamer's element facedetect, which looks through the whole film
 * first. Each frame then gets its boxes as GstVideoRegionOfInterestMeta, and cudaconvolve works on the boxes of each
 * frame. Properties are those of cudaconvolve. Sound is kept, tags are not: tags may hold pictures and places. The
 * output appears when it is complete.
 */
#include <errno.h>
#include <string.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "film.h"
#include "properties.h"
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
  { "pixelate", { "region-effect=pixelate", "region-blocks=3" } },
  { "blur", { "mask=gaussian", "region-strength=0.3" } },
  { "fill", { "region-effect=fill" } },
};

typedef struct
{
  const char *input;
  char *output, *part; /* the film's final name, and its name while the film grows */
  char *boxes, *save, *cascade, *effect;
  gboolean detect;
  char **properties; /* NAME=VALUE, ends with NULL */

  Tracks *tracks;
  GstElement *convolve;
  GstClockTime hold;    /* the property region-hold */
  guint64 found_frames; /* frames in which a face was found */

  /* Used only in the streaming thread. */
  guint64 covered_frames; /* frames with boxes */
  gboolean has_video;
} Run;

/* Whether the user may set the property: some would leave boxes uncovered, and the program would not see that. */
static gboolean
is_free (const char *assignment)
{
  static const char *const ours[] = { "apply-to", "regions", "region-sources", "region-types", "components", "mix" };

  for (guint i = 0; i < G_N_ELEMENTS (ours); i++)
    if (g_str_has_prefix (assignment, ours[i]) && assignment[strlen (ours[i])] == '=') {
      complain ("\"%s\": this property is not free here, because faces might stay uncovered", assignment);
      return FALSE;
    }
  return TRUE;
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
    complain ("--effect=%s: the effects are pixelate, blur and fill", run->effect);
    return FALSE;
  }
  ok = set_property (run->convolve, "apply-to=regions");
  for (guint i = 0; effect->properties[i]; i++)
    ok = ok && set_property (run->convolve, effect->properties[i]);
  ok = ok && set_property (run->convolve, run->detect ? "region-expand=0.4" : "region-hold=0");
  for (char **property = run->properties; ok && *property; property++)
    ok = is_free (*property) && set_property (run->convolve, *property);
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

static gboolean
find_faces (Run *run)
{
  Film film = { .file = run->input, .task = "finding", .on_message = faces_found, .data = run };
  GError *error = NULL;
  gboolean ok;

  film.pipeline = make_detector (run);
  if (!film.pipeline)
    return FALSE;
  run->tracks = tracks_new ();
  ok = film_play (&film, "detect");
  gst_object_unref (film.pipeline);
  g_free (film.missing);
  if (!ok)
    return FALSE;
  g_print ("found: faces in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames, tracks: %u\n", run->found_frames,
      film.frames, tracks_count (run->tracks));
  if (run->save && !tracks_save (run->tracks, run->save, &error)) {
    complain ("%s", error->message);
    g_error_free (error);
    return FALSE;
  }
  return TRUE;
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

static void
attach_boxes (GstBuffer **frame, GstClockTime begin, GstClockTime end, gpointer data)
{
  Run *run = data;

  *frame = gst_buffer_make_writable (*frame);
  if (tracks_attach (run->tracks, *frame, begin, end, run->hold) > 0)
    run->covered_frames++;
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
  caps = wanted_caps (mux);
  g_object_set (decode, "caps", caps, NULL);
  gst_caps_unref (caps);
  g_object_set (sink, "location", run->part, NULL);
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

/* Gives the complete film its name. */
static gboolean
finish (const Run *run, guint64 frames)
{
  if (run->covered_frames == 0) {
    complain ("%s: no frame has a box, so that nothing is covered; %s was not written", run->input, run->output);
    return FALSE;
  }
  if (g_rename (run->part, run->output) != 0) {
    complain ("%s: %s", run->output, g_strerror (errno));
    return FALSE;
  }
  g_print ("covered: boxes in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames%s\nfilm: %s\n", run->covered_frames,
      frames, run->hold > 0 ? ", each for as long as region-hold says" : "", run->output);
  return TRUE;
}

/* Whether the folder of the film to write exists. */
static gboolean
has_folder (const char *output)
{
  char *folder = g_path_get_dirname (output);
  gboolean ok = g_file_test (folder, G_FILE_TEST_IS_DIR);

  if (!ok)
    complain ("%s: there is no folder %s", output, folder);
  g_free (folder);
  return ok;
}

static gboolean
anonymise (Run *run)
{
  Film film = { .file = run->input, .task = "covering", .on_frame = attach_boxes, .data = run };
  gboolean ok;

  film.pipeline = make_cover (run, g_str_has_suffix (run->output, ".mkv") ? "matroskamux" : "webmmux");
  if (!film.pipeline)
    return FALSE;
  ok = has_folder (run->output) && set_properties (run) && make_tracks (run);
  if (ok) {
    ok = film_play (&film, "convolve") && finish (run, film.frames);
    if (!ok)
      g_unlink (run->part);
  }
  gst_object_unref (run->convolve);
  gst_object_unref (film.pipeline);
  g_free (film.missing);
  return ok;
}

/* --- arguments --- */

static gboolean
is_same_file (const char *a, const char *b)
{
  GStatBuf first, second;

  return g_stat (a, &first) == 0 && g_stat (b, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino;
}

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
  else if (is_same_file (run->input, run->output))
    complain ("%s: the output is the input", run->output);
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
    { "effect", 0, 0, G_OPTION_ARG_STRING, &run.effect, "pixelate (the default), blur or fill", "NAME" },
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
  run.part = g_strconcat (run.output, ".part", NULL);
  ok = check_arguments (&run) && anonymise (&run);
  g_clear_pointer (&run.tracks, tracks_free);
  g_free (run.output);
  g_free (run.part);
  g_free (run.boxes);
  g_free (run.save);
  g_free (run.cascade);
  g_free (run.effect);
  return ok ? 0 : 1;
}
