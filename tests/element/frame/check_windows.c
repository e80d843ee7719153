/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a frame that are convolved as images of their own, in every format, on the CPU and over the fake device. */
#include "element/frame/check_windows.h"

#include <string.h>

guint32 seed;

static const gint64 skewed[] = { 1, -2, 3, 0, 4, 5, 0, -6, 7, -1, 2, 0, -3, 1, -2 };

Expected
skewed_expected (ConvolveBoundary boundary, gdouble bias)
{
  return (Expected){
    .boundary = boundary,
    .width = 5,
    .height = 3,
    .integers = skewed,
    .numerator = 1,
    .denominator = 9,
    .bias = bias,
  };
}

GPtrArray *
element_formats (void)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  GPtrArray *names = g_ptr_array_new ();
  const GValue *formats = NULL;

  /* Caps of CUDA memory, which have fewer formats, come before those of system memory. */
  for (guint i = 0; i < gst_caps_get_size (template); i++)
    if (gst_caps_features_is_equal (gst_caps_get_features (template, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      formats = gst_structure_get_value (gst_caps_get_structure (template, i), "format");
  for (guint i = 0; i < gst_value_list_get_size (formats); i++) {
    const gchar *name = g_value_get_string (gst_value_list_get_value (formats, i));
    GstVideoInfo info = info_with (name, 16, 16, NULL);

    if (!frame_has_cells (&info))
      g_ptr_array_add (names, (gpointer) g_intern_string (name));
  }
  fail_unless (names->len >= 80);
  return names;
}

GstHarness *
windows_harness (const gchar *properties, GstCaps *caps)
{
  const gchar *variant = g_getenv ("CUDACONVOLVE_OVER_DEVICE") ? "kernel-variant=global" : "";
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s %s", variant, properties);
  GstHarness *harness = harness_new_line (line);

  gst_harness_set_src_caps (harness, caps);
  return harness;
}

GByteArray *
rows_of (const GstVideoInfo *info, GstBuffer *buffer)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstSample *sample = gst_sample_new (buffer, caps, NULL, NULL);
  GByteArray *bytes = g_byte_array_new ();

  frame_append_rows (bytes, sample);
  gst_sample_unref (sample);
  return bytes;
}

/* The bits of a word that the format uses, as this machine reads the word. */
static guint16
used_bits (const GstVideoInfo *info)
{
  GstBuffer *buffer = frame_new (info, FRAME_PLAIN, seed);
  GByteArray *rows = rows_of (info, buffer);
  guint16 used = 0, word;

  for (guint i = 0; i + 1 < rows->len; i += 2) {
    memcpy (&word, rows->data + i, 2);
    used |= word;
  }
  g_byte_array_unref (rows);
  gst_buffer_unref (buffer);
  return used;
}

GstBuffer *
random_frame (const GstVideoInfo *info, guint32 number)
{
  GRand *random = g_rand_new_with_seed (seed + number);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  guint16 used = GST_VIDEO_INFO_COMP_DEPTH (info, 0) > 8 ? used_bits (info) : 0xffff;
  GstMapInfo map;

  if (~used & 0x0101) /* the lowest bit of the sample, in one byte order or the other */
    used = 0xffff;
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = g_rand_int (random) & ((const guint8 *) &used)[i % 2];
  gst_buffer_unmap (buffer, &map);
  g_rand_free (random);
  return buffer;
}

GstVideoInfo
info_with (const gchar *format, gint width, gint height, const gchar *more)
{
  g_autofree gchar *text = NULL;
  g_autoptr (GstCaps) caps = NULL;
  GstVideoInfo info;

  text = g_strdup_printf ("video/x-raw%s,format=%s,width=%d,height=%d,framerate=25/1%s%s",
      more && strstr (more, "alternate") ? "(format:Interlaced)" : "", format, width, height, more ? "," : "",
      more ? more : "");
  caps = gst_caps_from_string (text);
  fail_unless (gst_video_info_from_caps (&info, caps), "%s", text);
  return info;
}

GstBuffer *
push_and_pull (GstHarness *harness, GstBuffer *in)
{
  push_ok (harness, gst_buffer_ref (in));
  return gst_harness_pull (harness);
}

/* --- the log --- */

static const gchar *listened;
static guint heard;

static void
hear (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (g_str_equal (gst_debug_category_get_name (category), "cudaconvolve")
      && g_str_has_prefix (gst_debug_message_get (message), listened))
    heard++;
}

void
listen_begin (GstDebugLevel level, const gchar *begin)
{
  listened = begin;
  heard = 0;
  gst_debug_set_threshold_for_name ("cudaconvolve", level);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (hear, NULL, NULL);
}

guint
listen_end (void)
{
  gst_debug_remove_log_function (hear);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  gst_debug_unset_threshold_for_name ("cudaconvolve");
  return heard;
}

/* --- parts of frames --- */

/*
 * Reads the rows phase, phase + step, ... of a frame as a picture of its own: 16 bits of each sample, with all bits of
 * its word. GStreamer knows which row of chroma belongs to which field.
 */
static void
read_rows (const GstVideoInfo *info, GstBuffer *buffer, gint phase, gint step, Component components[4])
{
  static const gint place[4] = { 1, 2, 3, 0 }; /* of a component in AYUV and ARGB */
  const GstVideoFormatInfo *finfo = info->finfo;
  gint width = GST_VIDEO_INFO_WIDTH (info), height = (GST_VIDEO_INFO_FIELD_HEIGHT (info) - phase + step - 1) / step;
  gboolean deep = GST_VIDEO_FORMAT_INFO_DEPTH (finfo, 0) > 8;
  GstVideoPackFlags flags =
      GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE | (step == 2 ? GST_VIDEO_PACK_FLAG_INTERLACED : GST_VIDEO_PACK_FLAG_NONE);
  guint16 *line = g_new0 (guint16, 4 * (width + 16));
  GstVideoFrame frame;

  memset (components, 0, 4 * sizeof (Component));
  for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); c++) {
    components[c].width = GST_VIDEO_INFO_COMP_WIDTH (info, c);
    components[c].height = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (finfo, c, height);
    components[c].samples = g_new0 (guint16, components[c].width * components[c].height + 1);
  }
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (gint y = 0; y < height; y++) {
    finfo->unpack_func (finfo, flags, line, frame.data, frame.info.stride, 0, phase + y * step, width);
    for (guint c = 0; c < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); c++) {
      gint x_sub = GST_VIDEO_FORMAT_INFO_W_SUB (finfo, c), y_sub = GST_VIDEO_FORMAT_INFO_H_SUB (finfo, c);
      guint16 *row = components[c].samples + (y >> y_sub) * components[c].width;

      for (gint x = 0; x < components[c].width && y % (1 << y_sub) == 0; x++) {
        gint at = 4 * (x << x_sub) + place[c];

        row[x] = deep ? line[at] : ((guint8 *) line)[at];
      }
    }
  }
  gst_video_frame_unmap (&frame);
  g_free (line);
}

/* The rectangle of a component that the part is. */
static void
part_of_component (const GstVideoInfo *info, guint c, const Component *all, Part part, gboolean touching, gint *x,
    gint *x_end, gint *y, gint *y_end)
{
  gint x_sub = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c);
  gint y_sub = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);
  gint row = 0, row_end;

  while (part.phase + row * part.step < part.y)
    row++;
  for (row_end = row; part.phase + row_end * part.step < part.y_end; row_end++)
    ;
  *x = (part.x + (touching ? 0 : x_sub - 1)) / x_sub;
  *x_end = MIN ((part.x_end + x_sub - 1) / x_sub, all->width);
  *y = (row + (touching ? 0 : y_sub - 1)) / y_sub;
  *y_end = row == row_end ? *y : MIN ((row_end + y_sub - 1) / y_sub, all->height);
}

/* Every column of the part, or with a view of 0 or 1 every second one. */
static Component
cut (const GstVideoInfo *info, guint c, const Component *all, Part part, gint view, gboolean touching)
{
  gint depth = GST_VIDEO_INFO_COMP_DEPTH (info, c), every = view < 0 ? 1 : 2, x, x_end, y, y_end;
  Component piece;

  part_of_component (info, c, all, part, touching, &x, &x_end, &y, &y_end);
  if (view >= 0 && x % 2 != view)
    x++;
  piece = (Component){ .width = MAX (0, (x_end - x + every - 1) / every), .height = MAX (0, y_end - y) };
  piece.samples = g_new0 (guint16, piece.width * piece.height + 1);
  for (gint k = 0; k < piece.height; k++)
    for (gint i = 0; i < piece.width; i++)
      piece.samples[k * piece.width + i] =
          all->samples[(y + k) * all->width + x + i * every] >> (depth == 8 ? 0 : 16 - depth);
  return piece;
}

void
check_columns (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, Part part, gint view, gboolean touching,
    const Expected *expected, const gchar *what)
{
  gboolean alternate = GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE;
  Component from[4], to[4];

  read_rows (info, in, alternate ? 0 : part.phase, alternate ? 1 : part.step, from);
  read_rows (info, out, alternate ? 0 : part.phase, alternate ? 1 : part.step, to);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    Component a = cut (info, c, &from[c], part, view, touching), b = cut (info, c, &to[c], part, view, touching);

    if (a.width > 0 && a.height > 0)
      frame_check_component (info, c, &a, &b, expected, what);
    g_free (a.samples);
    g_free (b.samples);
  }
  frame_clear (from);
  frame_clear (to);
}

void
check_part (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, Part part, gboolean touching,
    const Expected *expected, const gchar *what)
{
  check_columns (info, in, out, part, -1, touching, expected, what);
}

/* Compares all bits of the samples that touch the part, or of those that do not. */
static void
compare (const GstVideoInfo *info, GstBuffer *expected, GstBuffer *out, Part part, gboolean touching, const gchar *what)
{
  gboolean alternate = GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_ALTERNATE;
  Component from[4], to[4];

  read_rows (info, expected, alternate ? 0 : part.phase, alternate ? 1 : part.step, from);
  read_rows (info, out, alternate ? 0 : part.phase, alternate ? 1 : part.step, to);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    gint left, right, top, bottom;

    part_of_component (info, c, &from[c], part, TRUE, &left, &right, &top, &bottom);
    for (gint y = 0; y < from[c].height; y++)
      for (gint x = 0; x < from[c].width; x++) {
        gint at = y * from[c].width + x;
        gboolean touches = x >= left && x < right && y >= top && y < bottom;

        if (touches == touching && from[c].samples[at] != to[c].samples[at])
          fail ("%s: %s component %u at %d,%d, %s: %u, expected %u", what, GST_VIDEO_INFO_NAME (info), c, x, y,
              touches ? "inside" : "outside", to[c].samples[at], from[c].samples[at]);
      }
  }
  frame_clear (from);
  frame_clear (to);
}

void
check_rest (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, Part part, const gchar *what)
{
  compare (info, in, out, part, FALSE, what);
}

void
check_equal (const GstVideoInfo *info, GstBuffer *expected, GstBuffer *out, Part part, const gchar *what)
{
  compare (info, expected, out, part, TRUE, what);
}

static Suite *
windows_suite (void)
{
  Suite *suite = suite_create ("windows");

  seed = check_seed ();
  suite_add_tcase (suite, component_tests ());
  suite_add_tcase (suite, field_tests ());
  suite_add_tcase (suite, crop_tests ());
  suite_add_tcase (suite, view_tests ());
  suite_add_tcase (suite, layer_tests ());
  suite_add_tcase (suite, region_tests ());
  suite_add_tcase (suite, iteration_tests ());
  suite_add_tcase (suite, light_tests ());
  suite_add_tcase (suite, cell_tests ());
  return suite;
}

GST_CHECK_MAIN (windows);
