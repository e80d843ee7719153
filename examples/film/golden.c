/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "golden.h"

#include <string.h>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>

#include "texts.h"

#define LONGEST (20 * G_USEC_PER_SEC) /* for a row; the first one starts the GPU */

enum
{
  FRAMES = 2,
  WIDTH = 323,
  HEIGHT = 181,
  DIGITS = 12 /* of a checksum */
};

/* --- the clip --- */

/* The numbers of the tests' clip: splitmix64. */
static guint64
next_number (guint64 *state)
{
  guint64 z = *state += 0x9e3779b97f4a7c15u;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static guint64
first_state (guint64 seed, guint64 number)
{
  guint64 state = seed;

  state = next_number (&state) ^ number;
  return next_number (&state);
}

/* Gradients with noise, and boxes with hard edges. */
static int
value_at (int x, int y, int width, int height, guint component, guint n, int most, guint64 *state)
{
  const int noise = next_number (state) % (most / 8 + 1);
  const int slope = (int) ((gint64) most * x / width + (gint64) most * y / (2 * height)) + noise - most / 6;

  if ((x + 7 * n) % 64 < 12 && (y + 5 * component) % 48 < 20)
    return y % 2 ? most : 0;
  if ((x + 3 * component) % 80 > 60 && y % 70 > 55)
    return most / 2;
  return CLAMP (slope, 0, most);
}

/* Samples of more than 8 bits are little-endian in all formats of the file. */
static guint
read_sample (const guint8 *at, int depth)
{
  return depth > 8 ? GST_READ_UINT16_LE (at) : at[0];
}

static void
write_sample (guint8 *at, int depth, guint value)
{
  if (depth > 8)
    GST_WRITE_UINT16_LE (at, value);
  else
    at[0] = value;
}

static guint8 *
sample_at (GstVideoFrame *frame, guint c, int x, int y)
{
  return (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c) + y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c)
      + x * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);
}

static GstBuffer *
make_frame (const GstVideoInfo *info, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoFrame frame;

  gst_buffer_memset (buffer, 0, 0, info->size);
  if (!gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE))
    return buffer;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    const int width = GST_VIDEO_INFO_COMP_WIDTH (info, c), height = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
    const int depth = GST_VIDEO_INFO_COMP_DEPTH (info, c), shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, c);
    guint64 state = first_state (17 + n, c);

    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++)
        write_sample (sample_at (&frame, c, x, y), depth,
            (guint) value_at (x, y, width, height, c, n, (1 << depth) - 1, &state) << shift);
  }
  gst_video_frame_unmap (&frame);
  GST_BUFFER_PTS (buffer) = n * GST_SECOND;
  GST_BUFFER_DURATION (buffer) = GST_SECOND;
  return buffer;
}

/* Adds the values of all components, each in two bytes, and nothing that lies between them. */
static void
add_frame (GChecksum *sum, const GstVideoInfo *info, GstBuffer *buffer)
{
  GstVideoFrame frame;
  guint8 *row;

  if (!gst_video_frame_map (&frame, info, buffer, GST_MAP_READ))
    return;
  row = g_malloc (2 * WIDTH);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    const int width = GST_VIDEO_INFO_COMP_WIDTH (info, c), depth = GST_VIDEO_INFO_COMP_DEPTH (info, c);

    for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++) {
      for (int x = 0; x < width; x++)
        GST_WRITE_UINT16_LE (row + 2 * x, read_sample (sample_at (&frame, c, x, y), depth));
      g_checksum_update (sum, row, 2 * width);
    }
  }
  g_free (row);
  gst_video_frame_unmap (&frame);
}

/* --- one row --- */

/* The checksum of the clip behind the element; NULL with the reason where the element refuses. */
static char *
checksum_of (const char *format, const char *properties, char **why)
{
  char *line =
      g_strdup_printf ("appsrc name=in format=time max-bytes=0 ! cudaconvolve %s ! appsink name=out sync=false",
          properties);
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *in = pipeline ? gst_bin_get_by_name (GST_BIN (pipeline), "in") : NULL;
  GstElement *out = in ? gst_bin_get_by_name (GST_BIN (pipeline), "out") : NULL;
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  char *text = NULL;
  guint frames = 0;
  GstVideoInfo info;

  g_free (line);
  if (out) {
    GstCaps *caps;
    GstSample *sample;
    GstBus *bus = gst_element_get_bus (pipeline);
    GstMessage *message = NULL;
    const gint64 end = g_get_monotonic_time () + LONGEST;

    gst_video_info_set_format (&info, gst_video_format_from_string (format), WIDTH, HEIGHT);
    info.fps_n = 25;
    caps = gst_video_info_to_caps (&info);
    gst_app_src_set_caps (GST_APP_SRC (in), caps);
    gst_caps_unref (caps);
    for (guint n = 0; n < FRAMES; n++)
      gst_app_src_push_buffer (GST_APP_SRC (in), make_frame (&info, n));
    gst_app_src_end_of_stream (GST_APP_SRC (in));
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    while (!message && !gst_app_sink_is_eos (GST_APP_SINK (out)) && g_get_monotonic_time () < end) {
      while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (out), 20 * GST_MSECOND))) {
        add_frame (sum, &info, gst_sample_get_buffer (sample));
        gst_sample_unref (sample);
        frames++;
      }
      message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    }
    if (message) {
      GError *error;

      gst_message_parse_error (message, &error, NULL);
      *why = g_strdup (error->message);
      g_error_free (error);
      gst_message_unref (message);
    } else if (frames == FRAMES)
      text = g_strndup (g_checksum_get_string (sum), DIGITS);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
  }
  g_clear_object (&in);
  g_clear_object (&out);
  g_clear_object (&pipeline);
  g_checksum_free (sum);
  if (!text && !*why)
    *why = g_strdup ("no frames came");
  return text;
}

/* --- the file --- */

/* A line is FORMAT,"PROPERTIES",CHECKSUM for each boundary; ' stands for ". */
static void
compare_row (Golden *golden, const char *line, char *const *boundaries, guint boundary, const char *variant)
{
  const char *quote = strchr (line, '"'), *end = quote ? strrchr (line, '"') : NULL;
  char *format, *row, *properties, **sums, *made, *why = NULL;

  if (!end || end == quote)
    return;
  format = g_strndup (line, quote - line - 1);
  row = g_strndup (quote + 1, end - quote - 1);
  sums = g_strsplit (end + 2, ",", -1);
  properties = g_strdup_printf ("%s boundary=%s kernel-variant=%s", row, boundaries[boundary], variant);
  g_strdelimit (properties, "'", '"');
  made = checksum_of (format, properties, &why);
  if (!made) {
    golden->refused++;
    golden->same += !g_strcmp0 (why, golden->why);
    if (!golden->why)
      golden->why = g_steal_pointer (&why);
  } else {
    golden->made++;
    if (strcmp (made, sums[boundary]) != 0 && golden->wrong++ == 0)
      golden->first =
          g_strdup_printf ("%s %s boundary=%s: %s, not %s", format, row, boundaries[boundary], made, sums[boundary]);
  }
  g_free (why);
  g_free (made);
  g_free (properties);
  g_strfreev (sums);
  g_free (row);
  g_free (format);
}

Golden
golden_compare (const char *variant, guint step, gint64 limit)
{
  const gint64 begin = g_get_monotonic_time ();
  char **lines = g_strsplit (film_golden_csv, "\n", -1), **names = g_strsplit (lines[1], ",", -1);
  char **boundaries = names + 2; /* behind format and properties */
  const guint n = g_strv_length (boundaries), rows = g_strv_length (lines);
  Golden golden = { 0 };

  /* Where the first refusals have one reason, such as no GPU, the variant does not run here at all. */
  for (guint i = 2; i < rows && (golden.made || golden.same < 3); i += step)
    if (!limit || g_get_monotonic_time () - begin < limit)
      compare_row (&golden, lines[i], boundaries, i % n, variant);
  g_strfreev (names);
  g_strfreev (lines);
  return golden;
}
