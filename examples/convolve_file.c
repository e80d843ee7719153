/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolves the video of a media file and says how it went:
 *
 *   convolve_file [--clip=OUT.webm] [--picture=OUT.png] [--window] FILE [PROPERTY=VALUE...]
 *
 * Properties are those of cudaconvolve, such as mask=sobel-x bias=0.5. The file is played once as fast as it goes to
 * measure, once more to write the clip and a before/after picture of its middle frame, and once to be looked at.
 */
#include <string.h>

#include <gst/gst.h>
#include <gst/video/video.h>

#define INPUT "filesrc name=source ! decodebin caps=video/x-raw(ANY) expose-all-streams=false ! cudaconvolve name=convolve ! "
#define MEASURE "fakesink sync=false"
#define ENCODE "videoconvert ! vp8enc deadline=1 cpu-used=4 threads=4 end-usage=cq cq-level=4 max-quantizer=20 " \
    "target-bitrate=30000000 ! webmmux ! filesink name=sink"
#define SHOW "videoconvert ! videoscale ! autovideosink"

typedef struct
{
  const char *file;
  char **properties;            /* NAME=VALUE, ends with NULL */
  guint keep;                   /* number of the frame to keep as before and after */
  guint frames_in, frames_out;
  gint64 first, last;           /* microseconds at which the first and the last frame came out */
  GstSample *before, *after;
} Run;

/* Frames in a GPU's memory are kept as plain ones: mapping such a buffer downloads it. */
static GstSample *
keep_frame (GstPad * pad, GstPadProbeInfo * info)
{
  GstCaps *caps = gst_caps_make_writable (gst_pad_get_current_caps (pad));
  GstSample *sample;

  gst_caps_set_features (caps, 0, NULL);
  sample = gst_sample_new (GST_PAD_PROBE_INFO_BUFFER (info), caps, NULL, NULL);
  gst_caps_unref (caps);
  return sample;
}

static GstPadProbeReturn
frame_in (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  Run *run = data;

  if (run->frames_in++ == run->keep)
    run->before = keep_frame (pad, info);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
frame_out (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  Run *run = data;

  run->last = g_get_monotonic_time ();
  if (run->frames_out == 0)
    run->first = run->last;
  if (run->frames_out++ == run->keep)
    run->after = keep_frame (pad, info);
  return GST_PAD_PROBE_OK;
}

static void
watch_frames (GstElement * element, const char *pad_name, GstPadProbeCallback callback, Run * run)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, callback, run, NULL);
  gst_object_unref (pad);
}

/* As gst-launch-1.0 reads NAME=VALUE, but a mistake is an error. */
static gboolean
set_property (GstElement * element, const char *assignment)
{
  const char *equals = strchr (assignment, '=');
  char *name = equals ? g_strndup (assignment, equals - assignment) : g_strdup (assignment);
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  GValue value = G_VALUE_INIT;
  gboolean ok = FALSE;

  if (!equals)
    g_printerr ("\"%s\": a property is written NAME=VALUE\n", assignment);
  else if (!pspec || !(pspec->flags & G_PARAM_WRITABLE))
    g_printerr ("\"%s\": cudaconvolve has no such property to set; see gst-inspect-1.0 cudaconvolve\n", name);
  else {
    g_value_init (&value, pspec->value_type);
    ok = gst_value_deserialize_with_pspec (&value, equals + 1, pspec) && !g_param_value_validate (pspec, &value);
    if (ok)
      g_object_set_property (G_OBJECT (element), name, &value);
    else
      g_printerr ("\"%s\": not a value of cudaconvolve's property %s; see gst-inspect-1.0 cudaconvolve\n", equals + 1,
          name);
    g_value_unset (&value);
  }
  g_free (name);
  return ok;
}

/* Waits for the end; an error is told with its debug text. */
static gboolean
wait_for_end (GstElement * pipeline, GstElement * convolve, const char *file)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  gboolean ok = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  GstPad *pad = gst_element_get_static_pad (convolve, "sink");

  if (!ok) {
    GError *error;
    char *debug;

    gst_message_parse_error (message, &error, &debug);
    g_printerr ("%s: %s\n%.600s\n", GST_OBJECT_NAME (message->src), error->message, debug ? debug : "");
    if (error->domain != GST_RESOURCE_ERROR && message->src != GST_OBJECT (convolve)
        && !gst_pad_has_current_caps (pad))
      g_printerr ("%s: no video that can be decoded reached cudaconvolve\n", file);
    g_error_free (error);
    g_free (debug);
  }
  gst_object_unref (pad);
  gst_message_unref (message);
  gst_object_unref (bus);
  return ok;
}

static void
report (GstElement * convolve, const Run * run)
{
  char *variant;
  GstStructure *stats;

  g_object_get (convolve, "active-variant", &variant, "stats", &stats, NULL);
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
  g_print ("frames: %u\n", run->frames_out);
  if (run->last > run->first)
    g_print ("frames per second: %.1f (decoding and convolving, first to last frame, nothing written or shown)\n",
        (run->frames_out - 1) * 1e6 / (run->last - run->first));
  g_clear_pointer (&stats, gst_structure_free);
  g_free (variant);
}

/* Plays the file into the elements named in rest. */
static gboolean
play (Run * run, const char *rest, const char *location)
{
  char *description = g_strconcat (INPUT, rest, NULL);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  GstElement *convolve, *source, *sink;
  gboolean ok = TRUE;

  g_free (description);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return FALSE;
  }
  convolve = gst_bin_get_by_name (GST_BIN (pipeline), "convolve");
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "location", run->file, NULL);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  if (sink)
    g_object_set (sink, "location", location, NULL);
  for (char **property = run->properties; ok && *property; property++)
    ok = set_property (convolve, *property);
  run->frames_in = run->frames_out = 0;
  watch_frames (convolve, "sink", frame_in, run);
  watch_frames (convolve, "src", frame_out, run);

  if (ok) {
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    ok = wait_for_end (pipeline, convolve, run->file);
    if (ok && !strcmp (rest, MEASURE))
      report (convolve, run);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  gst_clear_object (&sink);
  gst_object_unref (source);
  gst_object_unref (convolve);
  gst_object_unref (pipeline);
  return ok;
}

static GstSample *
convert (GstSample * sample, const char *to, GError ** error)
{
  GstCaps *caps = gst_caps_from_string (to);
  GstSample *converted = gst_video_convert_sample (sample, caps, 10 * GST_SECOND, error);

  gst_caps_unref (caps);
  return converted;
}

/* Copies an RGB picture into a wider one, x pixels from the left. */
static void
paste (GstVideoFrame * wide, int x, GstSample * sample)
{
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ);
  for (int y = 0; y < GST_VIDEO_INFO_HEIGHT (&info); y++)
    memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (wide, 0) + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (wide, 0) +
        3 * x, (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), 3 * GST_VIDEO_INFO_WIDTH (&info));
  gst_video_frame_unmap (&frame);
}

/* Before at the left, after at the right, as PNG. */
static gboolean
write_picture (const Run * run, const char *location)
{
  GError *error = NULL;
  GstSample *before = convert (run->before, "video/x-raw,format=RGB", &error);
  GstSample *after = before ? convert (run->after, "video/x-raw,format=RGB", &error) : NULL;
  GstSample *both = NULL, *png = NULL;

  if (after) {
    GstVideoInfo info;
    GstVideoFrame wide;
    GstBuffer *buffer;
    GstCaps *caps;
    int width;

    gst_video_info_from_caps (&info, gst_sample_get_caps (before));
    width = GST_VIDEO_INFO_WIDTH (&info);
    gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGB, 2 * width, GST_VIDEO_INFO_HEIGHT (&info));
    buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
    gst_video_frame_map (&wide, &info, buffer, GST_MAP_WRITE);
    paste (&wide, 0, before);
    paste (&wide, width, after);
    gst_video_frame_unmap (&wide);
    caps = gst_video_info_to_caps (&info);
    both = gst_sample_new (buffer, caps, NULL, NULL);
    png = convert (both, "image/png", &error);
    gst_caps_unref (caps);
    gst_buffer_unref (buffer);
  }
  if (png) {
    GstMapInfo map;

    gst_buffer_map (gst_sample_get_buffer (png), &map, GST_MAP_READ);
    g_file_set_contents (location, (const char *) map.data, map.size, &error);
    gst_buffer_unmap (gst_sample_get_buffer (png), &map);
  }
  g_clear_pointer (&before, gst_sample_unref);
  g_clear_pointer (&after, gst_sample_unref);
  g_clear_pointer (&both, gst_sample_unref);
  g_clear_pointer (&png, gst_sample_unref);
  if (error)
    g_printerr ("%s: %s\n", location, error->message);
  return error ? (g_error_free (error), FALSE) : TRUE;
}

int
main (int argc, char **argv)
{
  char *clip = NULL, *picture = NULL;
  gboolean window = FALSE, ok;
  const GOptionEntry entries[] = {
    {"clip", 0, 0, G_OPTION_ARG_FILENAME, &clip, "write the convolved video (VP8 in WebM)", "FILE"},
    {"picture", 0, 0, G_OPTION_ARG_FILENAME, &picture, "write the middle frame before and after (PNG)", "FILE"},
    {"window", 0, 0, G_OPTION_ARG_NONE, &window, "play in a window", NULL},
    {NULL}
  };
  GOptionContext *context = g_option_context_new ("FILE [PROPERTY=VALUE...]");
  GError *error = NULL;
  Run run = {.keep = G_MAXUINT };

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc < 2) {
    g_printerr ("%s\n", error ? error->message : g_option_context_get_help (context, TRUE, NULL));
    return 2;
  }
  g_option_context_free (context);
  run.file = argv[1];
  run.properties = argv + 2;

  ok = play (&run, MEASURE, NULL);
  if (ok && run.frames_out == 0) {
    g_printerr ("%s: no frame came out\n", run.file);
    ok = FALSE;
  }
  if (ok && (clip || picture)) {
    run.keep = run.frames_out / 2;
    ok = play (&run, clip ? ENCODE : "fakesink sync=false name=nothing", clip);
    if (ok && clip)
      g_print ("convolved clip: %s\n", clip);
  }
  if (ok && picture && run.before && run.after && (ok = write_picture (&run, picture)))
    g_print ("before and after: %s\n", picture);
  g_clear_pointer (&run.before, gst_sample_unref);
  g_clear_pointer (&run.after, gst_sample_unref);
  run.keep = G_MAXUINT;
  if (ok && window)
    ok = play (&run, SHOW, NULL);
  g_free (clip);
  g_free (picture);
  return ok ? 0 : 1;
}
