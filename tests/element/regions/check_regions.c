/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of frames: which boxes a frame has, and what becomes of it. What is expected inside a box follows from whole
 * frames, which check_element compares with the oracle, and from the definitions of the effects. This file has what the
 * others share, and the program.
 */
#include "element/regions/check_regions.h"

#include <math.h>
#include <string.h>

guint32 seed;

/* --- what is expected --- */

GstBuffer *
convolve_whole (const gchar *properties, const GstVideoInfo *info, GstBuffer *in)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s", properties);
  GstHarness *harness = harness_new_for (line, info);
  GstBuffer *out;

  push_ok (harness, gst_buffer_ref (in));
  out = gst_harness_pull (harness);
  gst_harness_teardown (harness);
  return out;
}

ConvolveArea
area_of (const GstVideoInfo *info, guint component, const ConvolveRect *boxes, gint count, ConvolveShape shape,
    gint feather, gboolean outside)
{
  return (ConvolveArea){ .boxes = boxes,
    .count = count,
    .shape = shape,
    .feather = feather,
    .outside = outside,
    .x_step = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, component),
    .y_step = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, component) };
}

static void
blend_component (Component *into, const Component *effect, const ConvolveArea *area)
{
  for (gint y = 0; y < into->height; y++)
    for (gint x = 0; x < into->width; x++) {
      guint16 *at = &into->samples[y * into->width + x];
      gint before = *at, after = effect->samples[y * into->width + x];

      *at = floor (before + ((after - before) * convolve_area_weight (area, x, y) + 128) / 256.0);
    }
}

void
expect_area (const GstVideoInfo *info, Component into[4], GstBuffer *effect, const ConvolveArea *area)
{
  Component components[4];

  frame_read (info, effect, components);
  for (guint c = 0; c < MIN (3, GST_VIDEO_INFO_N_COMPONENTS (info)); c++) {
    ConvolveArea seen = *area;

    seen.x_step = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c);
    seen.y_step = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);
    blend_component (&into[c], &components[c], &seen);
  }
  frame_clear (components);
}

void
expect_effect (const GstVideoInfo *info, Component into[4], GstBuffer *effect, const ConvolveRect *boxes, gint count,
    ConvolveShape shape, gint feather, gboolean outside)
{
  ConvolveArea area = area_of (info, 0, boxes, count, shape, feather, outside);

  expect_area (info, into, effect, &area);
}

void
compare_components_within (const GstVideoInfo *info, const Component expected[4], GstBuffer *out, gint most,
    const gchar *what)
{
  Component got[4];

  frame_read (info, out, got);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint i = 0; i < got[c].width * got[c].height; i++)
      if (ABS ((gint) got[c].samples[i] - (gint) expected[c].samples[i]) > most)
        fail ("%s %dx%d, %s: component %u at %d,%d is %d, expected %d; seed %u", GST_VIDEO_INFO_NAME (info),
            GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), what, c, i % got[c].width, i / got[c].width,
            got[c].samples[i], expected[c].samples[i], seed);
  frame_clear (got);
}

void
compare_components (const GstVideoInfo *info, const Component expected[4], GstBuffer *out, const gchar *what)
{
  compare_components_within (info, expected, out, 0, what);
}

void
compare_rows_without_boxes (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const ConvolveRect *boxes,
    gint count, gint feather)
{
  GstVideoFrame from, to;

  if (frame_has_cells (info)) /* whose samples are compared elsewhere */
    return;
  fail_unless (
      gst_video_frame_map (&from, info, in, GST_MAP_READ) && gst_video_frame_map (&to, info, out, GST_MAP_READ));
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    gint component[GST_VIDEO_MAX_COMPONENTS], step, bytes;

    gst_video_format_info_component (info->finfo, p, component);
    step = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, component[0]);
    bytes = GST_VIDEO_FRAME_COMP_WIDTH (&from, component[0]) * GST_VIDEO_FRAME_COMP_PSTRIDE (&from, component[0]);
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&from, component[0]); y++) {
      gboolean touched = FALSE;

      for (gint i = 0; i < count; i++)
        touched |= (y + 1) * step > boxes[i].y - feather && y * step < boxes[i].y + boxes[i].height + feather;
      if (!touched)
        fail_unless (memcmp ((guint8 *) from.data[p] + y * GST_VIDEO_FRAME_PLANE_STRIDE (&from, p),
                         (guint8 *) to.data[p] + y * GST_VIDEO_FRAME_PLANE_STRIDE (&to, p), bytes)
            == 0);
    }
  }
  gst_video_frame_unmap (&from);
  gst_video_frame_unmap (&to);
}

/* --- boxes --- */

gint
random_boxes (CheckRandom *random, const GstVideoInfo *info, ConvolveRect *boxes)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  gint count = check_random_range (random, 1, MOST_BOXES);

  for (gint i = 0; i < count; i++)
    boxes[i] = (ConvolveRect){ check_random_range (random, -width / 2, width - 1),
      check_random_range (random, -height / 2, height - 1), check_random_range (random, 1, width),
      check_random_range (random, 1, MAX (1, height / 2)) };
  /* One box touches the frame: otherwise the text is an error. */
  boxes[0].x = MAX (boxes[0].x, 1 - boxes[0].width);
  boxes[0].y = MAX (boxes[0].y, 1 - boxes[0].height);
  return count;
}

gchar *
text_of (const ConvolveRect *boxes, gint count)
{
  GString *text = g_string_new (NULL);

  for (gint i = 0; i < count; i++)
    g_string_append_printf (text, "%d,%d,%d,%d;", boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height);
  return g_string_free (text, FALSE);
}

GstBuffer *
push_frame (GstHarness *harness, GstBuffer *in, gboolean in_place)
{
  GstBuffer *pushed = in_place ? gst_buffer_copy_deep (in) : gst_buffer_ref (in), *out;

  push_ok (harness, pushed);
  out = gst_harness_pull (harness);
  fail_unless (in_place == (out == pushed) || !in_place);
  return out;
}

/* The least box around all samples of GRAY8 that differ, or an empty one. */
static ConvolveRect
changed_box (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out)
{
  gint left = G_MAXINT, top = G_MAXINT, right = 0, bottom = 0;
  Component from[4], to[4];

  frame_read (info, in, from);
  frame_read (info, out, to);
  for (gint y = 0; y < from[0].height; y++)
    for (gint x = 0; x < from[0].width; x++)
      if (from[0].samples[y * from[0].width + x] != to[0].samples[y * from[0].width + x]) {
        left = MIN (left, x);
        top = MIN (top, y);
        right = MAX (right, x + 1);
        bottom = MAX (bottom, y + 1);
      }
  frame_clear (from);
  frame_clear (to);
  return right > left ? (ConvolveRect){ left, top, right - left, bottom - top } : (ConvolveRect){ 0 };
}

GstBuffer *
grey_frame (const GstVideoInfo *info, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);

  gst_buffer_memset (buffer, 0, 128, info->size);
  GST_BUFFER_PTS (buffer) = time;
  return buffer;
}

void
expect_box (GstHarness *harness, const GstVideoInfo *info, GstBuffer *in, gint x, gint y, gint width, gint height,
    const gchar *what)
{
  g_autoptr (GstBuffer) out = push_frame (harness, in, FALSE);
  ConvolveRect box = changed_box (info, in, out);

  fail_unless (box.x == x && box.y == y && box.width == width && box.height == height,
      "%s: %dx%d at %d,%d changed, expected %dx%d at %d,%d", what, box.width, box.height, box.x, box.y, width, height,
      x, y);
  gst_buffer_unref (in);
}

GstBuffer *
add_region (GstBuffer *buffer, const gchar *type, gint x, gint y, gint width, gint height)
{
  gst_buffer_add_video_region_of_interest_meta (buffer, type, x, y, width, height);
  return buffer;
}

static Suite *
regions_suite (void)
{
  Suite *suite = suite_create ("regions");
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");

  seed = wanted ? g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  g_print ("seed %u: CUDACONVOLVE_SEED=%u repeats this run\n", seed, seed);
  suite_add_tcase (suite, region_effects ());
  suite_add_tcase (suite, region_blocks ());
  suite_add_tcase (suite, region_boxes ());
  suite_add_tcase (suite, region_choice ());
  suite_add_tcase (suite, region_hold ());
  suite_add_tcase (suite, region_ahead ());
  suite_add_tcase (suite, region_shapes ());
  suite_add_tcase (suite, region_pictures ());
  suite_add_tcase (suite, region_smooth ());
  suite_add_tcase (suite, region_promises ());
  suite_add_tcase (suite, region_record ());
  suite_add_tcase (suite, region_warnings ());
  return suite;
}

GST_CHECK_MAIN (regions);
