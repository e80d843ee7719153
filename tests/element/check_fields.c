/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interlaced frames: each field against the oracle as a picture of its own. */
#include <string.h>

#include "element/check_windows.h"
#include "props.h"

static Part
field_of (const GstVideoInfo *info, gint field)
{
  return (Part){ field, 2, 0, GST_VIDEO_INFO_WIDTH (info), 0, GST_VIDEO_INFO_HEIGHT (info) };
}

static void
check_fields (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const Expected *expected, const gchar *what)
{
  for (gint field = 0; field < 2; field++)
    check_part (info, in, out, field_of (info, field), FALSE, expected, what);
}

static void
check_whole (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const Expected *expected, const gchar *what)
{
  Part whole = { 0, 1, 0, GST_VIDEO_INFO_WIDTH (info), 0, GST_VIDEO_INFO_HEIGHT (info) };

  check_part (info, in, out, whole, FALSE, expected, what);
}

/*
 * Whether GStreamer's layout of the frame has room for all rows of chroma of both fields. AV12, P010, YUV9 and kin lack
 * the last row of the bottom field in some heights, and unpacking reads beyond the plane there.
 */
static gboolean
has_rows_of_fields (const GstVideoInfo *info)
{
  gint height = GST_VIDEO_INFO_HEIGHT (info), y_sub = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, 1);
  gint bottom = 2 * ((height / 2 + y_sub - 1) / y_sub);
  gsize room = info->size;

  if (GST_VIDEO_INFO_N_COMPONENTS (info) == 1 || bottom <= GST_VIDEO_INFO_COMP_HEIGHT (info, 1))
    return TRUE;
  for (guint i = 2; i < GST_VIDEO_INFO_N_PLANES (info); i++)
    room = MIN (room, MAX (GST_VIDEO_INFO_PLANE_OFFSET (info, i), GST_VIDEO_INFO_PLANE_OFFSET (info, 1)));
  return room - GST_VIDEO_INFO_PLANE_OFFSET (info, 1) >= (gsize) bottom * GST_VIDEO_INFO_PLANE_STRIDE (info, 1);
}

/* Every format and odd heights: a field of 1 row, no bottom field, and chroma rows that a progressive frame lacks. */
GST_START_TEST (test_fields)
{
  static const gint sizes[][2] = { { 22, 1 }, { 22, 2 }, { 21, 5 }, { 34, 6 }, { 17, 11 }, { 40, 16 } };
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (sizes); k++) {
      gint boundary = (i + k) % CONVOLVE_N_BOUNDARIES;
      g_autofree gchar *properties =
          g_strdup_printf ("mask=\"" SKEWED "\" bias=0.25 boundary=%s", check_boundary_name (boundary));
      Expected expected = skewed_expected (boundary, 0.25);
      GstVideoInfo info = info_with (formats->pdata[i], sizes[k][0], sizes[k][1], "interlace-mode=interleaved");
      GstHarness *harness;
      GstBuffer *in, *out;

      /* GStreamer's own unpacking of VYUY takes U for V in the last pixel of an odd row. */
      if ((g_str_equal (formats->pdata[i], "VYUY") && sizes[k][0] % 2) || !has_rows_of_fields (&info))
        continue;
      harness = windows_harness (properties, gst_video_info_to_caps (&info));
      in = random_frame (&info, k);
      out = push_and_pull (harness, in);
      check_fields (&info, in, out, &expected, check_boundary_name (boundary));
      gst_buffer_unref (in);
      gst_buffer_unref (out);
      gst_harness_teardown (harness);
    }
  g_ptr_array_unref (formats);
}
GST_END_TEST;

/* Rows with padding, negative strides, a memory for each plane. */
GST_START_TEST (test_layouts_of_fields)
{
  static const gchar *const formats[] = { "I420", "NV12", "YUY2", "RGB", "P010_10LE", "AYUV64", "YUV9" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (FrameLayout layout = FRAME_PADDED; layout <= FRAME_MEMORIES; layout++) {
      GstVideoInfo info = info_with (formats[i], 21, 16, "interlace-mode=interleaved");
      Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REFLECT, 0);
      GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=reflect", gst_video_info_to_caps (&info));
      GstBuffer *in = frame_new (&info, layout, seed), *out = push_and_pull (harness, in);

      check_fields (&info, in, out, &expected, formats[i]);
      gst_buffer_unref (in);
      gst_buffer_unref (out);
      gst_harness_teardown (harness);
    }
}
GST_END_TEST;

/* Compares the fields of the rows that a progressive frame has. */
static void
check_known_rows (const GstVideoInfo *info, guint c, const Component *in, const Component *out,
    const Expected *expected)
{
  gint width = in->width;

  for (gint field = 0; field < 2; field++) {
    gint rows = (in->height + 1 - field) / 2;
    Component a = { width, rows, g_new (guint16, width * rows) }, b = { width, rows, g_new (guint16, width * rows) };

    for (gint y = 0; y < rows; y++) {
      memcpy (a.samples + y * width, in->samples + (2 * y + field) * width, 2 * width);
      memcpy (b.samples + y * width, out->samples + (2 * y + field) * width, 2 * width);
    }
    frame_check_component (info, c, &a, &b, expected, "missing row");
    g_free (a.samples);
    g_free (b.samples);
  }
}

/* A frame in the memory of a progressive one: a memory for each plane, or one block with a GstVideoMeta. */
static GstBuffer *
progressive_memory (GstVideoInfo *progressive, gboolean block)
{
  GstBuffer *buffer = frame_new (progressive, block ? FRAME_PLAIN : FRAME_MEMORIES, seed);

  if (block)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (progressive),
        progressive->width, progressive->height, GST_VIDEO_INFO_N_PLANES (progressive), progressive->offset,
        progressive->stride);
  return buffer;
}

/*
 * An interlaced 4:2:0 frame of 6 rows has 4 rows of chroma, but memory that was laid out for a progressive frame has 3.
 * The third is then the last that counts, and nothing is read or written behind it.
 */
GST_START_TEST (test_missing_chroma_row)
{
  static const gchar *const formats[] = { "I420", "NV12", "A420_10LE", "P010_10LE", "AV12", "P016_BE" };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (formats); i++) {
    GstVideoInfo info = info_with (formats[i / 2], 16, 6, "interlace-mode=interleaved");
    GstVideoInfo progressive = info_of (formats[i / 2], 16, 6);
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" boundary=wrap", gst_video_info_to_caps (&info));
    GstBuffer *in = progressive_memory (&progressive, i % 2), *out = push_and_pull (harness, in);
    Component from[4], to[4];

    frame_read (&progressive, in, from);
    frame_read (&info, out, to);
    for (guint c = 0; c < 3; c++)
      check_known_rows (&info, c, &from[c], &to[c], &expected);
    frame_clear (from);
    frame_clear (to);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* In a stream of both kinds each frame is convolved as its flags say, and no plan is made after the first frame. */
GST_START_TEST (test_mixed)
{
  static const gboolean interlaced[] = { FALSE, TRUE, TRUE, FALSE, TRUE, FALSE, FALSE, TRUE };
  static const gchar *const formats[] = { "I420", "P010_10LE", "RGBx", "GRAY16_BE", "UYVY" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gint height = g_str_has_prefix (formats[i], "P0") ? 16 : 14; /* see has_rows_of_fields() */
    GstVideoInfo info = info_with (formats[i], 36, height, "interlace-mode=mixed");
    Expected expected = skewed_expected (CONVOLVE_BOUNDARY_WRAP, 0.5);
    GstHarness *harness = windows_harness ("mask=\"" SKEWED "\" bias=0.5 boundary=wrap kernel-variant=auto",
        gst_video_info_to_caps (&info));

    for (guint k = 0; k < G_N_ELEMENTS (interlaced); k++) {
      GstBuffer *in = random_frame (&info, k), *out;

      if (interlaced[k])
        GST_BUFFER_FLAG_SET (in, GST_VIDEO_BUFFER_FLAG_INTERLACED);
      if (k > 0)
        listen_begin (GST_LEVEL_DEBUG, "plane ");
      out = push_and_pull (harness, in);
      fail_unless (k == 0 || listen_end () == 0, "a new plan for frame %u", k);
      fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (out, GST_VIDEO_BUFFER_FLAG_INTERLACED), interlaced[k]);
      if (interlaced[k])
        check_fields (&info, in, out, &expected, "interlaced");
      else
        check_whole (&info, in, out, &expected, "progressive");
      gst_buffer_unref (in);
      gst_buffer_unref (out);
    }
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* The property decides over the caps, from the next frame on. */
GST_START_TEST (test_field_mode)
{
  static const struct
  {
    const gchar *caps, *mode;
    gboolean fields;
  } rows[] = { { "interlace-mode=interleaved", "auto", TRUE }, { "interlace-mode=interleaved", "disabled", FALSE },
    { "interlace-mode=interleaved", "interlaced", TRUE }, { "interlace-mode=mixed", "auto", FALSE },
    { "interlace-mode=mixed", "interlaced", TRUE }, { "interlace-mode=mixed", "disabled", FALSE },
    { "interlace-mode=progressive", "auto", FALSE }, { "interlace-mode=progressive", "interlaced", TRUE },
    { "interlace-mode=progressive", "disabled", FALSE } };
  Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REPLICATE, 0);
  GstVideoInfo first = info_of ("GRAY8", 8, 8);
  GstHarness *harness = windows_harness ("mask=\"" SKEWED "\"", gst_video_info_to_caps (&first));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstVideoInfo info = info_with ("NV12", 20, 12, rows[i].caps);
    GstBuffer *in = random_frame (&info, i), *out;

    gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
    gst_util_set_object_arg (G_OBJECT (element), "field-mode", rows[i].mode);
    out = push_and_pull (harness, in);
    if (rows[i].fields)
      check_fields (&info, in, out, &expected, rows[i].mode);
    else
      check_whole (&info, in, out, &expected, rows[i].mode);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A preset that has a size covers as much of the picture in a field as in a frame: half as many rows. */
GST_START_TEST (test_presets_in_fields)
{
  static const gchar *const lines[] = { "mask=gaussian sigma=3", "mask=box mask-width=9", "mask=motion:90",
    "mask=binomial mask-width=3 mask-height=11", "mask=sharpen" };
  static const gchar *const formats[] = { "I420", "YUV9", "RGB" };

  for (guint i = 0; i < G_N_ELEMENTS (lines) * G_N_ELEMENTS (formats); i++) {
    const gchar *line = lines[i / G_N_ELEMENTS (formats)], *format = formats[i % G_N_ELEMENTS (formats)];
    g_autofree gchar *properties = g_strdup_printf ("%s boundary=reflect", line), *mask = NULL;
    GstVideoInfo info = info_with (format, 40, 32, "interlace-mode=interleaved");
    GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));
    GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
    guint step = 1u << GST_VIDEO_FORMAT_INFO_W_SUB (info.finfo, 1);
    GstBuffer *in = random_frame (&info, i), *out = push_and_pull (harness, in);
    ConvolveSettings settings;
    ConvolveMask luma, chroma;
    Expected expected;

    convolve_settings_init (&settings);
    g_object_get (element, "mask", &mask, "mask-width", &settings.mask_width, "mask-height", &settings.mask_height,
        "sigma", &settings.sigma, NULL);
    g_free (settings.mask);
    settings.mask = g_strdup (mask);
    fail_unless (convolve_settings_make_mask (&settings, 1, 2, &luma, NULL));
    fail_unless (convolve_settings_make_mask (&settings, step, 2 * step, &chroma, NULL));
    expected = expected_of_masks (&luma, &chroma, CONVOLVE_BOUNDARY_REFLECT);
    check_fields (&info, in, out, &expected, line);
    convolve_mask_clear (&luma);
    convolve_mask_clear (&chroma);
    convolve_settings_clear (&settings);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    gst_object_unref (element);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* A buffer for each field, in every format: half the height, and odd heights rounded up. */
GST_START_TEST (test_alternate)
{
  static const gint heights[] = { 1, 2, 6, 11 };
  GPtrArray *formats = element_formats ();

  for (guint i = 0; i < formats->len; i++)
    for (guint k = 0; k < G_N_ELEMENTS (heights); k++) {
      gint boundary = (i + k) % CONVOLVE_N_BOUNDARIES;
      g_autofree gchar *properties =
          g_strdup_printf ("mask=\"" SKEWED "\" boundary=%s", check_boundary_name (boundary));
      GstVideoInfo info = info_with (formats->pdata[i], 22, heights[k], "interlace-mode=alternate");
      Expected expected = skewed_expected (boundary, 0);
      GstHarness *harness = windows_harness (properties, gst_video_info_to_caps (&info));

      for (guint field = 0; field < 2; field++) {
        Part part = { 0, 1, 0, 22, 0, (heights[k] + 1) / 2 };
        GstBuffer *in = random_frame (&info, k), *out;

        GST_BUFFER_FLAG_SET (in, field ? GST_VIDEO_BUFFER_FLAG_BOTTOM_FIELD : GST_VIDEO_BUFFER_FLAG_TOP_FIELD);
        out = push_and_pull (harness, in);
        fail_unless_equals_int (gst_buffer_get_size (out), info.size);
        check_part (&info, in, out, part, FALSE, &expected, "alternate");
        gst_buffer_unref (in);
        gst_buffer_unref (out);
      }
      gst_harness_teardown (harness);
    }
  g_ptr_array_unref (formats);
}
GST_END_TEST;

/* The caps that the element's other side has for these; the pads must keep the feature. */
GST_START_TEST (test_alternate_caps)
{
  GstElement *element = gst_object_ref_sink (gst_element_factory_make ("cudaconvolve", NULL));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");
  g_autoptr (GstCaps) asked = gst_caps_from_string ("video/x-raw(format:Interlaced),interlace-mode=alternate"),
                      got = NULL;
  GstHarness *harness;
  GstVideoInfo info = info_with ("I420", 16, 8, "interlace-mode=alternate");
  g_autoptr (GstCaps) out = NULL;

  got = gst_pad_query_caps (pad, asked);
  fail_unless_equals_int (gst_caps_get_size (got), 1);
  fail_unless (gst_caps_features_contains (gst_caps_get_features (got, 0), GST_CAPS_FEATURE_FORMAT_INTERLACED));
  gst_object_unref (element);

  harness = windows_harness ("", gst_video_info_to_caps (&info));
  push_ok (harness, random_frame (&info, 0));
  gst_buffer_unref (gst_harness_pull (harness));
  out = gst_pad_get_current_caps (harness->sinkpad);
  fail_unless (gst_caps_features_contains (gst_caps_get_features (out, 0), GST_CAPS_FEATURE_FORMAT_INTERLACED));
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Takes what has come out, so that the pool gets its memory back, and appends the rows. */
static void
append_outputs (GstHarness *harness, const GstVideoInfo *info, GByteArray *bytes)
{
  GstBuffer *out;

  while ((out = gst_harness_try_pull (harness))) {
    GByteArray *rows = rows_of (info, out);

    g_byte_array_append (bytes, rows->data, rows->len);
    g_byte_array_unref (rows);
    gst_buffer_unref (out);
  }
}

/* A pool of memory that fills pages and can be page-locked. Page-locked frames are copied in strips. */
static GstBufferPool *
page_pool (const GstVideoInfo *info)
{
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstAllocationParams params;

  gst_allocation_params_init (&params);
  params.align = params.padding = 0xffff; /* no page is larger */
  gst_buffer_pool_config_set_params (config, caps, info->size, 2, 0);
  gst_buffer_pool_config_set_allocator (config, NULL, &params);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  gst_buffer_pool_set_active (pool, TRUE);
  return pool;
}

static GstBuffer *
pool_frame (GstBufferPool *pool, const GstVideoInfo *info, guint number)
{
  GstBuffer *buffer, *random = random_frame (info, number);
  GstVideoCropMeta *crop;
  GstMapInfo map;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL), GST_FLOW_OK);
  gst_buffer_map (random, &map, GST_MAP_READ);
  gst_buffer_fill (buffer, 0, map.data, map.size);
  gst_buffer_unmap (random, &map);
  gst_buffer_unref (random);
  if (number % 2)
    GST_BUFFER_FLAG_SET (buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  if (number % 4 >= 2) {
    crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = 33;
    crop->y = 101;
    crop->width = 501;
    crop->height = 233;
  }
  return buffer;
}

/* The bytes of what an element makes of the frames of a mixed stream, half of which are cropped. */
static GByteArray *
bytes_of (const gchar *properties, const GstVideoInfo *info)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", properties);
  GstHarness *harness = harness_new_for (line, info);
  GByteArray *bytes = g_byte_array_new ();
  GstBufferPool *pool = page_pool (info);

  for (guint i = 0; i < 8; i++) {
    push_ok (harness, pool_frame (pool, info, i));
    append_outputs (harness, info, bytes);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  append_outputs (harness, info, bytes);
  gst_harness_teardown (harness);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  return bytes;
}

/* Frames that cross the bus in strips or as one block, several at once, with tall masks and every boundary. */
GST_START_TEST (test_strips)
{
  static const gchar *const formats[] = { "NV12", "RGBA" };
  static const gchar *const masks[] = { "gaussian mask-width=1 mask-height=41", "motion:60 mask-width=9" };

  if (!g_getenv ("CUDACONVOLVE_OVER_DEVICE"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (gint boundary = 0; boundary < CONVOLVE_N_BOUNDARIES; boundary++) {
      GstVideoInfo info = info_with (formats[i], 800, i == 0 ? 602 : 402, "interlace-mode=mixed");
      g_autofree gchar *common =
          g_strdup_printf ("mask=%s boundary=%s", masks[boundary % 2], check_boundary_name (boundary));
      g_autofree gchar *cpu = g_strdup_printf ("%s kernel-variant=cpu-reference", common);
      GByteArray *expected = bytes_of (cpu, &info);

      for (guint n = 1; n <= 3; n++) {
        g_autofree gchar *device = g_strdup_printf ("%s kernel-variant=global frames-in-flight=%u", common, n);
        GByteArray *bytes = bytes_of (device, &info);

        fail_unless (bytes->len == expected->len && memcmp (bytes->data, expected->data, bytes->len) == 0, "%s, %s",
            formats[i], device);
        g_byte_array_unref (bytes);
      }
      g_byte_array_unref (expected);
    }
}
GST_END_TEST;

TCase *
field_tests (void)
{
  TCase *tc = tcase_create ("fields");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_fields);
  tcase_add_test (tc, test_layouts_of_fields);
  tcase_add_test (tc, test_missing_chroma_row);
  tcase_add_test (tc, test_mixed);
  tcase_add_test (tc, test_field_mode);
  tcase_add_test (tc, test_presets_in_fields);
  tcase_add_test (tc, test_alternate);
  tcase_add_test (tc, test_alternate_caps);
  tcase_add_test (tc, test_strips);
  return tc;
}
