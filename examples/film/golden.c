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
  DIGITS = 12, /* of a checksum */
  APART = 37   /* rows, from one to the next that is compared; a prime number */
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

/* Calls back for each row of samples of a frame, with nothing that lies between the samples. */
typedef void (*RowFunc) (const guint16 *samples, int width, int shift, gpointer data);

static void
each_row (const GstVideoInfo *info, GstBuffer *buffer, RowFunc call, gpointer data)
{
  GstVideoFrame frame;
  guint16 *row;

  if (!gst_video_frame_map (&frame, info, buffer, GST_MAP_READ))
    return;
  row = g_new (guint16, WIDTH);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    const int width = GST_VIDEO_INFO_COMP_WIDTH (info, c), depth = GST_VIDEO_INFO_COMP_DEPTH (info, c);

    for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++) {
      for (int x = 0; x < width; x++)
        row[x] = (guint16) read_sample (sample_at (&frame, c, x, y), depth);
      call (row, width, GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, c), data);
    }
  }
  g_free (row);
  gst_video_frame_unmap (&frame);
}

/* --- one row --- */

typedef struct
{
  GstVideoInfo info;
  GPtrArray *frames;
  char *variant;         /* that ran */
  gboolean reproducible; /* what mask-info says */
  int iterations;
  char *why;               /* what the element refused, or NULL */
  gboolean absent, failed; /* it refused because this machine has no such device; it did not refuse, and failed */
} Made;

static void
made_clear (Made *made)
{
  g_clear_pointer (&made->frames, g_ptr_array_unref);
  g_free (made->variant);
  g_free (made->why);
}

/* Notes the variants, iterations and promise of the running element, which has none of them once it has stopped. */
static void
note_element (Made *made, GstElement *pipeline)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "element");
  GstStructure *info = NULL;
  guint iterations;

  g_object_get (element, "mask-info", &info, "iterations", &iterations, "active-variant", &made->variant, NULL);
  made->iterations = (int) iterations;
  made->reproducible = FALSE;
  if (info)
    gst_structure_get_boolean (info, "reproducible", &made->reproducible);
  g_clear_pointer (&info, gst_structure_free);
  gst_object_unref (element);
}

static void
note_error (Made *made, GstMessage *message)
{
  GError *error;

  gst_message_parse_error (message, &error, NULL);
  made->why = g_strdup (error->message);
  made->absent = g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND);
  made->failed = !made->absent && !g_error_matches (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS);
  g_error_free (error);
  gst_message_unref (message);
}

static void
pull_frames (Made *made, GstElement *pipeline, GstAppSink *out)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = NULL;
  GstSample *sample;
  const gint64 end = g_get_monotonic_time () + LONGEST;
  gboolean ended = FALSE;

  /* An error goes before the end of the stream that it brings. */
  while (!message && !ended && g_get_monotonic_time () < end) {
    ended = gst_app_sink_is_eos (out);
    while ((sample = gst_app_sink_try_pull_sample (out, 20 * GST_MSECOND))) {
      g_ptr_array_add (made->frames, gst_buffer_ref (gst_sample_get_buffer (sample)));
      gst_sample_unref (sample);
    }
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  }
  if (message)
    note_error (made, message);
  else
    note_element (made, pipeline);
  gst_object_unref (bus);
}

/* The clip behind the element, or the reason why the element refuses. */
static Made
make_clip (const char *format, const char *properties, const char *variant)
{
  char *line = g_strdup_printf (
      "appsrc name=in format=time max-bytes=0 ! cudaconvolve name=element alpha=copy %s kernel-variant=%s "
      "! appsink name=out sync=false",
      properties, variant);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  Made made = { .frames = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref) };

  g_free (line);
  if (pipeline) {
    GstElement *in = gst_bin_get_by_name (GST_BIN (pipeline), "in"),
               *out = gst_bin_get_by_name (GST_BIN (pipeline), "out");
    GstCaps *caps;

    gst_video_info_set_format (&made.info, gst_video_format_from_string (format), WIDTH, HEIGHT);
    made.info.fps_n = 25;
    caps = gst_video_info_to_caps (&made.info);
    gst_app_src_set_caps (GST_APP_SRC (in), caps);
    gst_caps_unref (caps);
    for (guint n = 0; n < FRAMES; n++)
      gst_app_src_push_buffer (GST_APP_SRC (in), make_frame (&made.info, n));
    gst_app_src_end_of_stream (GST_APP_SRC (in));
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    pull_frames (&made, pipeline, GST_APP_SINK (out));
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (in);
    gst_object_unref (out);
    gst_object_unref (pipeline);
    made.failed = made.failed || (!made.why && made.frames->len != FRAMES);
    if (made.failed && !made.why)
      made.why = g_strdup ("no frames came");
  } else {
    made.why = g_strdup (error->message);
    g_error_free (error);
  }
  return made;
}

static void
add_row (const guint16 *samples, int width, int shift, gpointer data)
{
  guint8 bytes[2 * WIDTH];

  for (int x = 0; x < width; x++)
    GST_WRITE_UINT16_LE (bytes + 2 * x, samples[x]);
  g_checksum_update (data, bytes, 2 * width);
}

static char *
checksum_of (const Made *made)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  char *text;

  for (guint n = 0; n < FRAMES; n++)
    each_row (&made->info, made->frames->pdata[n], add_row, sum);
  text = g_strndup (g_checksum_get_string (sum), DIGITS);
  g_checksum_free (sum);
  return text;
}

static void
keep_row (const guint16 *samples, int width, int shift, gpointer data)
{
  for (int x = 0; x < width; x++) {
    const guint16 value = samples[x] >> shift;

    g_array_append_val ((GArray *) data, value);
  }
}

/* By how much the samples of two clips differ at most, in code values. */
static int
largest_difference (const Made *a, const Made *b)
{
  GArray *values[] = { g_array_new (FALSE, FALSE, sizeof (guint16)), g_array_new (FALSE, FALSE, sizeof (guint16)) };
  int largest = 0;

  for (guint n = 0; n < FRAMES; n++) {
    each_row (&a->info, a->frames->pdata[n], keep_row, values[0]);
    each_row (&b->info, b->frames->pdata[n], keep_row, values[1]);
  }
  for (guint i = 0; i < MIN (values[0]->len, values[1]->len); i++)
    largest = MAX (largest, ABS (g_array_index (values[0], guint16, i) - g_array_index (values[1], guint16, i)));
  g_array_unref (values[0]);
  g_array_unref (values[1]);
  return largest;
}

/* --- the file --- */

/* Takes the text. */
static void
note_wrong (Golden *golden, char *text)
{
  golden->wrong++;
  if (!golden->first)
    golden->first = text;
  else
    g_free (text);
}

/*
 * A variant that was chosen by name may have results of its own for some masks. A result is within half a code value and the promised
 * error, at most half a value, of the exact sum: two variants then differ by one, in each iteration.
 */
static void
compare_own (Golden *golden, const Made *made, const char *row, const char *format, const char *properties)
{
  Made reference = make_clip (format, properties, "cpu-reference");
  const int difference = reference.why ? 0 : largest_difference (made, &reference);

  if (difference > made->iterations)
    note_wrong (golden, g_strdup_printf ("%s %s: off by %d code values", format, row, difference));
  else
    golden->own++;
  made_clear (&reference);
}

/* Planes may have several variants, which commas split. */
static void
note_variants (Golden *golden, const char *variants)
{
  char **names = g_strsplit (variants ? variants : "", ",", -1);

  if (!golden->variants)
    golden->variants = g_ptr_array_new_with_free_func (g_free);
  for (char **name = names; *name; name++)
    if (!g_ptr_array_find_with_equal_func (golden->variants, *name, g_str_equal, NULL))
      g_ptr_array_add (golden->variants, g_strdup (*name));
  g_strfreev (names);
}

/* A line is FORMAT,"PROPERTIES",CHECKSUM for each boundary; ' stands for ". */
static void
compare_row (Golden *golden, const char *line, char *const *boundaries, guint boundary, const char *variant)
{
  const char *quote = strchr (line, '"'), *end = quote ? strrchr (line, '"') : NULL;
  char *format, *row, *properties, **sums, *sum = NULL;
  Made made;

  if (!end || end == quote)
    return;
  format = g_strndup (line, quote - line - 1);
  row = g_strdup_printf ("%.*s boundary=%s", (int) (end - quote - 1), quote + 1, boundaries[boundary]);
  sums = g_strsplit (end + 2, ",", -1);
  properties = g_strdelimit (g_strdup (row), "'", '"');
  made = make_clip (format, properties, variant);
  if (made.failed)
    note_wrong (golden, g_strdup_printf ("%s %s: %s", format, row, made.why));
  else if (made.why) {
    golden->refused++;
    golden->absent = golden->absent || made.absent;
    if (!golden->why)
      golden->why = g_steal_pointer (&made.why);
  } else {
    note_variants (golden, made.variant);
    sum = checksum_of (&made);
    if (!strcmp (sum, sums[boundary]))
      golden->same++;
    else if (made.reproducible)
      note_wrong (golden, g_strdup_printf ("%s %s: %s, not %s", format, row, sum, sums[boundary]));
    else
      compare_own (golden, &made, row, format, properties);
  }
  made_clear (&made);
  g_free (sum);
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
  const guint n = g_strv_length (boundaries), rows = g_strv_length (lines + 2);
  Golden golden = { 0 };

  /* Rows of one kind stand together in the file. */
  for (guint k = 0; k < rows && !golden.absent; k += step)
    if (!limit || g_get_monotonic_time () - begin < limit)
      compare_row (&golden, lines[2 + k * APART % rows], boundaries, k % n, variant);
  g_strfreev (names);
  g_strfreev (lines);
  return golden;
}

void
golden_clear (Golden *golden)
{
  g_clear_pointer (&golden->variants, g_ptr_array_unref);
  g_clear_pointer (&golden->first, g_free);
  g_clear_pointer (&golden->why, g_free);
}
