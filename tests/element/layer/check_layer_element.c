/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Layers through the element in a harness: formats, layouts of frames, feature maps, frames in flight and strips, metas.
 * The program runs on the CPU, and over the fake device with CUDACONVOLVE_OVER_DEVICE set.
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/navigation.h>

#include <glib/gstdio.h>
#include <string.h>

#include "element/layer/check_layer_element.h"

guint32 seed;
gchar *folder;
gboolean over_device;

/* Each format of 8-bit RGB, and the format that the element prefers for three and for four feature maps. */
static const struct
{
  const gchar *in, *of_three, *of_four;
} kinds[] = { { "GRAY8", "RGB", "RGBA" }, { "RGB", "RGB", "RGBA" }, { "RGBx", "RGBx", "RGBA" },
  { "RGBA", "RGBA", "RGBA" }, { "BGR", "BGR", "BGRA" }, { "BGRx", "BGRx", "BGRA" }, { "BGRA", "BGRA", "BGRA" },
  { "xRGB", "xRGB", "ARGB" }, { "ARGB", "ARGB", "ARGB" }, { "xBGR", "xBGR", "ABGR" }, { "ABGR", "ABGR", "ABGR" },
  { "GBR", "GBR", "GBRA" }, { "GBRA", "GBRA", "GBRA" }, { "RGBP", "RGBP", "RGBA" }, { "BGRP", "BGRP", "BGRA" } };

Run
layer_run_start (const gchar *properties, const gchar *format, gint width, gint height)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvlayer %s", properties);

  return run_start (line, format, width, height);
}

GstVideoInfo
layer_run_info (Run *run)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (run->harness->sinkpad);
  GstVideoInfo info;

  fail_unless (caps && gst_video_info_from_caps (&info, caps));
  return info;
}

gboolean
layer_run_on_device (Run *run)
{
  GstStructure *stats;
  gboolean on_device;

  g_object_get (run->element, "stats", &stats, NULL);
  on_device = g_str_equal (gst_structure_get_string (stats, "backend"), "cuda");
  gst_structure_free (stats);
  return on_device;
}

GstVideoInfo
layer_run_check (Run *run, const LayerCase *layer, FrameLayout layout, const gchar *what)
{
  GstBuffer *in = frame_new (&run->info, layout, seed), *out;
  GstVideoInfo info;

  fail_unless_equals_int (gst_harness_push (run->harness, gst_buffer_ref (in)), GST_FLOW_OK);
  out = gst_harness_pull (run->harness);
  info = layer_run_info (run);
  layer_case_check (layer, &run->info, in, &info, out, what);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
  return info;
}

static void
check_format (const GstVideoInfo *info, const gchar *format)
{
  fail_unless_equals_string (gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)), format);
}

void
layer_run_expect_none (Run *run)
{
  run_expect_none (run, HEARD);
}

void
layer_run_expect (Run *run, GstMessageType type, const gchar *text)
{
  run_expect (run, HEARD, type, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text, NULL);
}

/* Every format, one, three and four feature maps, every layout, all other parameters at random. */
GST_START_TEST (test_formats)
{
  static const gint maps[] = { 1, 3, 4 };
  GRand *random = g_rand_new_with_seed (seed);

  for (guint i = 0; i < 4 * G_N_ELEMENTS (kinds); i++)
    for (guint k = 0; k < G_N_ELEMENTS (maps); k++) {
      const gchar *format = kinds[i / 4].in;
      LayerCase layer = layer_case_random (random, folder, maps[k], g_str_equal (format, "GRAY8") ? 1 : 3);
      g_autofree gchar *line = layer_case_line (&layer);
      gint width = g_rand_int_range (random, 1, 40), height = g_rand_int_range (random, 1, 40);
      GstVideoInfo info;
      Run run;

      while (layer_case_side (&layer, FALSE, width) == 0)
        width++;
      while (layer_case_side (&layer, TRUE, height) == 0)
        height++;
      run = layer_run_start (line, format, width, height);
      fail_unless (run.harness != NULL, "%s", line);
      info = layer_run_check (&run, &layer, FRAME_PLAIN + i % 4, format);
      check_format (&info, maps[k] == 1 ? "GRAY8" : maps[k] == 3 ? kinds[i / 4].of_three : kinds[i / 4].of_four);
      fail_unless_equals_int (GST_VIDEO_INFO_FPS_N (&info), 25);
      layer_run_expect_none (&run);
      run_stop (&run);
      layer_case_clear (&layer);
    }
  g_rand_free (random);
}
GST_END_TEST;

/* channels picks feature maps and their order, for frames of each kind and for mosaics. */
GST_START_TEST (test_maps)
{
  GRand *random = g_rand_new_with_seed (seed);

  for (gint shown = 1; shown <= 20; shown++) {
    gint filters = 20;
    LayerCase layer = layer_case_random (random, folder, filters, 3);
    g_autofree gchar *line = NULL;
    GstVideoInfo info;
    Run run;

    layer.mosaic = shown > 4 || shown == 2;
    layer.padding = 2;
    layer.pool_size = 1;
    layer.n_maps = shown == filters ? 0 : shown;
    for (gint i = 0; i < shown; i++)
      layer.maps[i] = g_rand_int_range (random, 0, filters);
    line = layer_case_line (&layer);
    run = layer_run_start (line, "RGB", 21, 14);
    fail_unless (run.harness != NULL, "%s", line);
    info = layer_run_check (&run, &layer, FRAME_PLAIN, "maps");
    check_format (&info, shown == 3 ? "RGB" : shown == 4 ? "RGBA" : "GRAY8");
    run_stop (&run);
    layer_case_clear (&layer);
  }
  g_rand_free (random);
}
GST_END_TEST;

/* A layer writes 255 into the x of formats such as RGBx. */
GST_START_TEST (test_unused_byte)
{
  static const gfloat swap[] = { 0, 0, 1, 0, 1, 0, 1, 0, 0 };
  static const struct
  {
    const gchar *format;
    gint unused;
  } rows[] = { { "RGBx", 3 }, { "BGRx", 3 }, { "xRGB", 0 }, { "xBGR", 0 } };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, swap);
  g_autofree gchar *line = layer_case_line (&layer);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Run run = layer_run_start (line, rows[i].format, 5, 3);
    GstBuffer *in = frame_new (&run.info, FRAME_PLAIN, seed), *out;
    guint8 from[60], to[60];

    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (run.harness);
    fail_unless (gst_buffer_extract (in, 0, from, 60) == 60 && gst_buffer_extract (out, 0, to, 60) == 60);
    for (gint k = 0; k < 60; k++) {
      gint colours = rows[i].unused == 0 ? 1 : 0, place = k % 4 - colours;

      fail_unless_equals_int (to[k], k % 4 == rows[i].unused ? 255 : from[k / 4 * 4 + colours + 2 - place]);
    }
    gst_buffer_unref (in);
    gst_buffer_unref (out);
    run_stop (&run);
  }
  layer_case_clear (&layer);
}
GST_END_TEST;

/*
 * Black is 0 and white is 1 in full and in limited range. So middle grey stays middle grey, and where both ranges are
 * equal nothing changes.
 */
GST_START_TEST (test_ranges)
{
  static const gfloat weights[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  static const gchar *const colorimetry[2] = { "1:1:7:1", "2:1:7:1" };
  static const gint black[2] = { 0, 16 }, range[2] = { 255, 219 };
  LayerCase layer = layer_case_plain (folder, 3, 3, 1, 1, weights);
  g_autofree gchar *line = layer_case_line (&layer);

  for (gint limited = 0; limited < 4; limited++)
    for (gint bias = 0; bias < 2; bias++) {
      gint from = limited & 1, to = limited >> 1;
      Run run = layer_run_start (line, "RGB", 8, 8);
      GstCaps *in = frame_caps ("RGB", 8, 8, colorimetry[from]), *out = frame_caps ("RGB", 8, 8, colorimetry[to]);

      g_object_set (run.element, "bias", bias / 2.0, NULL);
      gst_harness_set_caps (run.harness, in, out);
      for (gint value = black[from]; value <= black[from] + range[from]; value += 3) {
        GstBuffer *buffer = gst_buffer_new_allocate (NULL, 192, NULL);
        gdouble exact = black[to] + range[to] * (bias / 2.0 + (value - black[from]) / (gdouble) range[from]);
        guint8 got;

        gst_buffer_memset (buffer, 0, value, 192);
        fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_OK);
        buffer = gst_harness_pull (run.harness);
        gst_buffer_extract (buffer, 100, &got, 1);
        fail_unless (ABS (got - MIN (exact, 255)) <= 1, "%d from %s to %s: %d, expected %g", value, colorimetry[from],
            colorimetry[to], got, exact);
        gst_buffer_unref (buffer);
      }
      layer_run_expect_none (&run);
      run_stop (&run);
    }
  layer_case_clear (&layer);
}
GST_END_TEST;

/* A pool whose planes have unusual strides. */
typedef struct
{
  GstVideoBufferPool parent;
  GstVideoInfo info;
} OddPool;
typedef GstVideoBufferPoolClass OddPoolClass;

static GType odd_pool_get_type (void);
G_DEFINE_TYPE (OddPool, odd_pool, GST_TYPE_VIDEO_BUFFER_POOL)

static GstFlowReturn
odd_pool_alloc_buffer (GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  *buffer = frame_new (&((OddPool *) pool)->info, FRAME_PADDED, 1);
  return GST_FLOW_OK;
}

static void
odd_pool_class_init (OddPoolClass *klass)
{
  GST_BUFFER_POOL_CLASS (klass)->alloc_buffer = odd_pool_alloc_buffer;
}

static void
odd_pool_init (OddPool *pool)
{
}

static gboolean
offer_odd_pool (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION) {
    OddPool *pool = g_object_new (odd_pool_get_type (), NULL);
    GstCaps *caps;

    gst_query_parse_allocation (query, &caps, NULL);
    fail_unless (gst_video_info_from_caps (&pool->info, caps));
    gst_query_add_allocation_pool (query, GST_BUFFER_POOL (pool), pool->info.size, 0, 0);
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    gst_object_unref (pool);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

GST_START_TEST (test_odd_output)
{
  static const gchar *const formats[] = { "GBR", "RGBP", "GBRA", "RGBx" };
  GRand *random = g_rand_new_with_seed (seed);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    LayerCase layer = layer_case_random (random, folder, 3, 3);
    g_autofree gchar *line = layer_case_line (&layer);
    g_autofree gchar *description = g_strdup_printf ("cudaconvlayer %s", line);
    Run run = { .bus = gst_bus_new () };
    GstCaps *caps = frame_caps (formats[i], 33, 29, NULL);

    fail_unless (gst_video_info_from_caps (&run.info, caps));
    run.element = gst_object_ref_sink (gst_parse_launch (description, NULL));
    run.harness = gst_harness_new_with_element (run.element, "sink", "src");
    gst_pad_set_query_function (run.harness->sinkpad, offer_odd_pool);
    gst_harness_set_src_caps (run.harness, caps);
    layer_run_check (&run, &layer, FRAME_PADDED, "odd output");
    run_stop (&run);
    layer_case_clear (&layer);
  }
  g_rand_free (random);
}
GST_END_TEST;

static GstPadProbeReturn
note_allocation (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);
  GString *asked = data;
  GstVideoInfo info;
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION && (probe->type & GST_PAD_PROBE_TYPE_PUSH)) {
    gst_query_parse_allocation (query, &caps, NULL);
    fail_unless (gst_video_info_from_caps (&info, caps));
    g_string_append_printf (asked, "%dx%d ", info.width, info.height);
  }
  return GST_PAD_PROBE_OK;
}

/* After a restart with another layer, the allocation query asks downstream for frames of that layer's size. */
GST_START_TEST (test_another_layer)
{
  static const gfloat weights[9] = { 1 };
  LayerCase layer = layer_case_plain (folder, 1, 1, 2, 2, weights);
  g_autofree gchar *line = layer_case_line (&layer);
  Run run = layer_run_start (line, "GRAY8", 64, 64);
  g_autoptr (GstCaps) caps = frame_caps ("GRAY8", 64, 64, NULL);
  GString *asked = g_string_new (NULL);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  layer.stride = 2;
  fail_unless_equals_int (gst_harness_push (run.harness, frame_new (&run.info, FRAME_PLAIN, 1)), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (run.harness));
  gst_element_set_state (run.element, GST_STATE_NULL);
  layer_case_set (&layer, run.element);
  gst_pad_add_probe (run.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, note_allocation, asked, NULL);
  gst_element_set_state (run.element, GST_STATE_PLAYING);
  gst_harness_play (run.harness);
  fail_unless (gst_pad_peer_query (run.harness->srcpad, query));
  layer_run_check (&run, &layer, FRAME_PLAIN, "another layer");
  fail_unless_equals_string (asked->str, "32x32 ");
  gst_query_unref (query);
  g_string_free (asked, TRUE);
  run_stop (&run);
  layer_case_clear (&layer);
}
GST_END_TEST;

/* Frames in flight come out in order, each with the layer that was set when the frame came. */
GST_START_TEST (test_frames_in_flight)
{
  GRand *random = g_rand_new_with_seed (seed);
  LayerCase layer = layer_case_random (random, folder, 3, 1);
  g_autofree gchar *plain = layer_case_line (&layer);
  g_autofree gchar *line = g_strdup_printf ("frames-in-flight=3 %s", plain);
  Run run = layer_run_start (line, "GRAY8", 40, 30);
  GstBuffer *in[8];
  GstVideoInfo info;

  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    in[i] = frame_new (&run.info, FRAME_PLAIN, seed + i);
    fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in[i])), GST_FLOW_OK);
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (run.harness), layer_run_on_device (&run) ? 6 : 8);
  fail_unless (gst_harness_push_event (run.harness, gst_event_new_eos ()));
  info = layer_run_info (&run);
  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    GstBuffer *out = gst_harness_pull (run.harness);

    layer_case_check (&layer, &run.info, in[i], &info, out, "in order");
    gst_buffer_unref (in[i]);
    gst_buffer_unref (out);
  }
  run_stop (&run);
  layer_case_clear (&layer);
  g_rand_free (random);
}
GST_END_TEST;

/* Puts another picture into the same memory, so that an output with parts of the frame before is wrong. */
static void
change_picture (GstBuffer *buffer, guint8 bits)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] ^= bits;
  gst_buffer_unmap (buffer, &map);
}

/* Frames that are large enough for strips, in memory that gets page-locked; the strips meet without a seam. */
GST_START_TEST (test_strips)
{
  static const gchar *const formats[] = { "RGB", "GBR", "BGRx", "RGBP", "GRAY8" };
  GRand *random = g_rand_new_with_seed (seed);

  for (gint boundary = 0; boundary < CONVOLVE_LAYER_N_BOUNDARIES; boundary++)
    for (gint pooled = 0; pooled < 2; pooled++) {
      const gchar *format = formats[boundary % G_N_ELEMENTS (formats)];
      gint channels = g_str_equal (format, "GRAY8") ? 1 : 3;
      LayerCase layer = layer_case_random (random, folder, pooled ? 3 : 1, channels);
      g_autofree gchar *line = NULL;
      GstBuffer *in, *out;
      GstVideoInfo info;
      Run run;

      layer.boundary = boundary;
      layer.padding = 3;
      layer.stride = 3 + pooled;
      layer.pool_size = 1 + pooled;
      line = layer_case_line (&layer);
      run = layer_run_start (line, format, 900, 1100);
      in = frame_new (&run.info, boundary % 2 ? FRAME_UPSIDE_DOWN : FRAME_PLAIN, seed);
      for (gint i = 0; i < 3; i++) {
        change_picture (in, 80 * i + 1);
        fail_unless_equals_int (gst_harness_push (run.harness, gst_buffer_ref (in)), GST_FLOW_OK);
        out = gst_harness_pull (run.harness);
        info = layer_run_info (&run);
        if (i == 2)
          layer_case_check (&layer, &run.info, in, &info, out, "strips");
        gst_buffer_unref (out);
      }
      gst_buffer_unref (in);
      run_stop (&run);
      layer_case_clear (&layer);
    }
  g_rand_free (random);
}
GST_END_TEST;

static GstVideoOverlayComposition *
small_overlay (void)
{
  GstBuffer *pixels = gst_buffer_new_allocate (NULL, 4, NULL);
  GstVideoOverlayRectangle *rectangle;
  GstVideoOverlayComposition *composition;

  gst_buffer_add_video_meta (pixels, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 1, 1);
  rectangle = gst_video_overlay_rectangle_new_raw (pixels, 3, 3, 1, 1, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  composition = gst_video_overlay_composition_new (rectangle);
  gst_video_overlay_rectangle_unref (rectangle);
  gst_buffer_unref (pixels);
  return composition;
}

/* Where the composition's only rectangle begins, from the left; -1 where there is no composition. */
static gint
overlay_left (GstBuffer *buffer)
{
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (buffer);
  gint x = -1, y;
  guint width, height;

  if (meta)
    gst_video_overlay_rectangle_get_render_rectangle (gst_video_overlay_composition_get_rectangle (meta->overlay, 0),
        &x, &y, &width, &height);
  return x;
}

/*
 * An overlay that is to be drawn later fits a layer's output of the same size. GStreamer 1.26 scales overlays to other sizes;
 * older versions do not, and the overlay is dropped. A hash of the samples is always dropped.
 */
GST_START_TEST (test_bound_metas)
{
  static const gfloat weights[9] = { 1 };
  static const gchar *hash[] = { "content-hash", NULL };
  gboolean scales = gst_meta_api_type_has_tag (GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE,
      g_quark_from_static_string (GST_META_TAG_VIDEO_SIZE_STR));

  gst_meta_register_custom ("CheckHash", hash, NULL, NULL, NULL);
  for (gint i = 0; i < 3; i++) {
    LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
    GstVideoOverlayComposition *overlay = small_overlay ();
    g_autofree gchar *line = NULL;
    GstBuffer *buffer;
    Run run;

    layer.padding = -1;
    layer.stride = i == 1 ? 2 : 1;
    layer.mosaic = i == 2;
    line = layer_case_line (&layer);
    run = layer_run_start (line, "GRAY8", 40, 20);
    buffer = frame_new (&run.info, FRAME_PLAIN, seed);
    gst_buffer_add_video_overlay_composition_meta (buffer, overlay);
    gst_buffer_add_video_affine_transformation_meta (buffer);
    gst_buffer_add_custom_meta (buffer, "CheckHash");
    gst_video_overlay_composition_unref (overlay);
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (run.harness);
    fail_unless_equals_int (overlay_left (buffer), i == 0 ? 3 : i == 1 && scales ? 1 : -1);
    fail_unless_equals_int (gst_buffer_get_video_affine_transformation_meta (buffer) != NULL, i < 2);
    fail_if (gst_buffer_get_custom_meta (buffer, "CheckHash"));
    gst_buffer_unref (buffer);
    run_stop (&run);
    layer_case_clear (&layer);
  }
}
GST_END_TEST;

#define POINTER_FORMS 7

/* All forms of events that have a place; a key has none. */
static GstEvent *
pointer_event (guint form, gdouble x, gdouble y)
{
  switch (form) {
    case 0:
      return gst_navigation_event_new_mouse_move (x, y, GST_NAVIGATION_MODIFIER_NONE);
    case 1:
      return gst_navigation_event_new_mouse_button_press (1, x, y, GST_NAVIGATION_MODIFIER_NONE);
    case 2:
      return gst_navigation_event_new_mouse_button_release (1, x, y, GST_NAVIGATION_MODIFIER_NONE);
    case 3:
      return gst_navigation_event_new_mouse_scroll (x, y, 3, 4, GST_NAVIGATION_MODIFIER_NONE);
    case 4:
      return gst_navigation_event_new_touch_down (7, x, y, 0.5, GST_NAVIGATION_MODIFIER_NONE);
    case 5:
      return gst_navigation_event_new_touch_motion (7, x, y, 0.5, GST_NAVIGATION_MODIFIER_NONE);
    default:
      return gst_navigation_event_new_touch_up (7, x, y, GST_NAVIGATION_MODIFIER_NONE);
  }
}

static void
expect_pointer (GstEvent *event, const gdouble place[2], const gchar *what, guint form)
{
  const GstStructure *structure = gst_event_get_structure (event);
  gdouble x, y;

  fail_unless (
      gst_structure_get_double (structure, "pointer_x", &x) && gst_structure_get_double (structure, "pointer_y", &y));
  fail_unless (x == place[0] && y == place[1], "%s, form %u: %g,%g and not %g,%g", what, form, x, y, place[0],
      place[1]);
}

/* Sends the pointer upstream and expects it there; kept tells whether somebody else has the event, too. */
static void
check_pointer (Run *run, guint form, gboolean kept, const gdouble from[2], const gdouble to[2], const gchar *what)
{
  GstEvent *event = pointer_event (form, from[0], from[1]), *arrived;
  GstEvent *other = kept ? gst_event_ref (event) : NULL;

  fail_unless (gst_harness_push_upstream_event (run->harness, event));
  do { /* a request to negotiate again is none */
    arrived = gst_harness_pull_upstream_event (run->harness);
    fail_unless (arrived != NULL);
  } while (GST_EVENT_TYPE (arrived) != GST_EVENT_NAVIGATION && (gst_event_unref (arrived), TRUE));
  expect_pointer (arrived, to, what, form);
  if (other) {
    expect_pointer (other, from, "the sender's event", form);
    gst_event_unref (other);
  }
  gst_event_unref (arrived);
}

/* A pointer on the output arrives where the output's pixel comes from. */
GST_START_TEST (test_pointer)
{
  static const gfloat weights[16 * 16] = { 1 };
  static const struct
  {
    gint maps, kernel, padding, stride, pool, mosaic;
    gdouble from[2], to[2];
  } rows[] = {
    { 1, 1, -1, 4, 1, 0, { 10, 10 }, { 40, 40 } }, { 1, 3, -1, 4, 1, 0, { 10, 10 }, { 40, 40 } },
    { 1, 7, -1, 4, 1, 0, { 10.5, 0.25 }, { 42, 1 } }, { 1, 4, 0, 4, 1, 0, { 10, 10 }, { 40, 40 } },
    { 1, 3, -1, 1, 4, 0, { 10, 10 }, { 40, 40 } }, { 1, 3, -1, 2, 2, 0, { 79, 59 }, { 316, 236 } },
    { 1, 3, -1, 1, 1, 0, { 10, 20 }, { 10, 20 } },
    { 1, 15, 0, 1, 1, 0, { 0, 10 }, { 7, 17 } },            /* the middle of what the first filter sees */
    { 1, 3, 20, 1, 1, 0, { 20, 5 }, { 1, -14 } },           /* in the padding above the picture */
    { 4, 3, -1, 4, 1, 1, { 10, 10 }, { 40, 40 } },          /* in the first tile of 80x60 */
    { 4, 3, -1, 4, 1, 1, { 80 + 10, 60 + 5 }, { 40, 20 } }, /* in the last one */
    { 3, 3, -1, 4, 1, 1, { 80 + 10, 60 + 5 }, { 40, 20 } }, /* in a place without a map */
    { 4, 3, -1, 4, 1, 1, { 165, -3 }, { 340, -12 } },       /* outside */
    { 1, 3, -1, 2, 3, 0, { 10, 10 }, { 58, 58 } },          /* windows of 3 have a padding of 1 */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    LayerCase layer = layer_case_plain (folder, rows[i].maps, 1, rows[i].kernel, rows[i].kernel, weights);
    g_autofree gchar *line = NULL, *what = g_strdup_printf ("row %u", i);
    GstEvent *key;
    Run run;

    layer.padding = rows[i].padding;
    layer.stride = rows[i].stride;
    layer.pool_size = rows[i].pool;
    layer.pool_pads[0] = layer.pool_pads[1] = rows[i].pool == 3;
    layer.mosaic = rows[i].mosaic;
    line = layer_case_line (&layer);
    run = layer_run_start (line, "GRAY8", 320, 240);
    push_ok (run.harness, frame_new (&run.info, FRAME_PLAIN, seed));
    for (guint form = 0; form < POINTER_FORMS; form++)
      check_pointer (&run, form, form % 2, rows[i].from, rows[i].to, what);
    key = gst_navigation_event_new_key_press ("Left", GST_NAVIGATION_MODIFIER_NONE);
    fail_unless (gst_harness_push_upstream_event (run.harness, key));
    run_stop (&run);
    layer_case_clear (&layer);
  }
}
GST_END_TEST;

/* Masks move nothing, whatever they change. Before caps nobody knows a place. */
GST_START_TEST (test_pointer_of_masks)
{
  static const gchar *const lines[] = { "cudaconvolve mask=box", "cudaconvolve mask=identity",
    "cudaconvolve apply-to=regions region-effect=fill regions=1,1,9,9" };
  static const gdouble place[2] = { 10, 7.5 };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    Run run = run_start (lines[i], "I420", 40, 30);

    for (guint pushed = 0; pushed < 2; pushed++) {
      check_pointer (&run, 0, FALSE, place, place, lines[i]);
      push_ok (run.harness, frame_new (&run.info, FRAME_PLAIN, seed));
    }
    run_stop (&run);
  }
}
GST_END_TEST;

/* Upstream may attach what the layer keeps: never a crop, and for a mosaic nothing about places. */
GST_START_TEST (test_offered_metas)
{
  static const gfloat weights[9] = { 1 };
  const GType apis[] = { GST_VIDEO_TIME_CODE_META_API_TYPE, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE,
    GST_VIDEO_CROP_META_API_TYPE };

  for (guint mosaic = 0; mosaic < 2; mosaic++) {
    LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
    g_autofree gchar *line = NULL, *description = NULL;
    GstCaps *caps = frame_caps ("GRAY8", 40, 20, NULL);
    GstHarness *harness;
    GstVideoInfo info;
    GstQuery *query;

    layer.mosaic = mosaic;
    line = layer_case_line (&layer);
    description = g_strdup_printf ("cudaconvlayer %s", line);
    harness = harness_new_line (description);
    fail_unless (gst_video_info_from_caps (&info, caps));
    for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
      gst_harness_add_propose_allocation_meta (harness, apis[i], NULL);
    query = gst_query_new_allocation (caps, TRUE);
    gst_harness_set_src_caps (harness, caps);
    push_ok (harness, frame_new (&info, FRAME_PLAIN, seed));
    fail_unless (gst_pad_peer_query (harness->srcpad, query));
    for (guint i = 0; i < G_N_ELEMENTS (apis); i++)
      fail_unless (gst_query_find_allocation_meta (query, apis[i], NULL) == (i == 0 || (i == 1 && !mosaic)), "%s",
          g_type_name (apis[i]));
    gst_query_unref (query);
    gst_harness_teardown (harness);
    layer_case_clear (&layer);
  }
}
GST_END_TEST;

/* Regions are scaled outwards, those too that begin left of or above the picture. */
GST_START_TEST (test_scaled_regions)
{
  static const gfloat weights[9] = { 1 };
  static const gint rows[][8] = { { 10, 6, 20, 8, 2, 1, 6, 3 }, { -5, -9, 20, 30, -2, -3, 6, 9 },
    { 39, 19, 1, 1, 9, 4, 1, 1 }, { 0, 0, 3, 3, 0, 0, 1, 1 }, { -20, -20, 4, 4, -5, -5, 1, 1 } };
  LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
  g_autofree gchar *line = NULL;
  Run run;

  layer.padding = -1;
  layer.stride = 4;
  line = layer_case_line (&layer);
  run = layer_run_start (line, "GRAY8", 40, 20);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstBuffer *buffer = frame_new (&run.info, FRAME_PLAIN, seed);
    GstVideoRegionOfInterestMeta *roi;

    gst_buffer_add_video_region_of_interest_meta (buffer, "face", rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (run.harness);
    roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
    fail_unless (roi && (gint) roi->x == rows[i][4] && (gint) roi->y == rows[i][5] && (gint) roi->w == rows[i][6]
            && (gint) roi->h == rows[i][7],
        "row %u: %d,%d %ux%u", i, roi ? (gint) roi->x : 0, roi ? (gint) roi->y : 0, roi ? roi->w : 0, roi ? roi->h : 0);
    gst_buffer_unref (buffer);
  }
  run_stop (&run);
  layer_case_clear (&layer);
}
GST_END_TEST;

/* Metas with places in the picture are scaled, or dropped for a mosaic; all others stay. */
GST_START_TEST (test_metas)
{
  static const gfloat weights[9] = { 1 };

  for (gint mosaic = 0; mosaic < 2; mosaic++) {
    LayerCase layer = layer_case_plain (folder, 1, 1, 3, 3, weights);
    g_autofree gchar *line = NULL;
    g_autoptr (GstCaps) reference = gst_caps_new_empty_simple ("timestamp/x-test");
    GstVideoRegionOfInterestMeta *roi;
    GstVideoCropMeta *crop;
    GstBuffer *buffer;
    Run run;

    layer.padding = -1;
    layer.stride = 2;
    layer.mosaic = mosaic;
    line = layer_case_line (&layer);
    run = layer_run_start (line, "GRAY8", 40, 20);
    buffer = frame_new (&run.info, FRAME_PLAIN, seed);
    roi = gst_buffer_add_video_region_of_interest_meta (buffer, "face", 10, 6, 20, 8);
    gst_video_region_of_interest_meta_add_param (roi, gst_structure_new_empty ("detection"));
    crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = 4;
    crop->y = 2;
    crop->width = 30;
    crop->height = 16;
    gst_buffer_add_reference_timestamp_meta (buffer, reference, 5, 6);
    fail_unless_equals_int (gst_harness_push (run.harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (run.harness);
    roi = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    crop = gst_buffer_get_video_crop_meta (buffer);
    fail_unless (gst_buffer_get_reference_timestamp_meta (buffer, reference) != NULL);
    if (mosaic) {
      fail_unless (roi == NULL && crop == NULL);
    } else {
      fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);
      fail_unless (roi && roi->x == 5 && roi->y == 3 && roi->w == 10 && roi->h == 4);
      fail_unless (gst_video_region_of_interest_meta_get_param (roi, "detection") != NULL);
      fail_unless (crop && (crop->x == 2 && crop->y == 1 && crop->width == 15 && crop->height == 8));
    }
    gst_buffer_unref (buffer);
    run_stop (&run);
    layer_case_clear (&layer);
  }
}
GST_END_TEST;

static Suite *
layer_element_suite (void)
{
  Suite *suite = suite_create ("layer_element");
  TCase *tc = tcase_create ("layer_element");

  seed = check_seed ();
  over_device = g_getenv ("CUDACONVOLVE_OVER_DEVICE") != NULL;
  folder = check_folder ();

  tcase_set_timeout (tc, 300);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_maps);
  tcase_add_test (tc, test_unused_byte);
  tcase_add_test (tc, test_ranges);
  tcase_add_test (tc, test_odd_output);
  tcase_add_test (tc, test_another_layer);
  tcase_add_test (tc, test_frames_in_flight);
  tcase_add_test (tc, test_strips);
  tcase_add_test (tc, test_metas);
  tcase_add_test (tc, test_bound_metas);
  tcase_add_test (tc, test_pointer);
  tcase_add_test (tc, test_pointer_of_masks);
  tcase_add_test (tc, test_offered_metas);
  tcase_add_test (tc, test_scaled_regions);
  suite_add_tcase (suite, layer_changes ());
  return suite;
}

int
main (int argc, char **argv)
{
  int failed;

  gst_check_init (&argc, &argv);
  failed = gst_check_run_suite (layer_element_suite (), "layer_element", __FILE__);
  check_remove_folder (folder);
  return failed;
}
