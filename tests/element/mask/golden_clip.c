/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/mask/golden_clip.h"

#include <gst/check/gstcheck.h>
#include <string.h>

#include "support/random.h"

/* Of these formats, every word is little-endian. A word may lie at an odd address. */
static void
set_word (guint8 *at, gint depth, guint word)
{
  at[0] = word & 0xff;
  if (depth > 8)
    at[1] = word >> 8;
}

static guint
word_at (const guint8 *at, gint depth)
{
  return depth == 8 ? at[0] : at[0] | at[1] << 8;
}

static gint
value_at (gint x, gint y, gint width, gint height, guint component, guint n, gint most, CheckRandom *random)
{
  gint noise = check_random_range (random, 0, most / 8);
  gint slope = (gint) ((gint64) most * x / width + (gint64) most * y / (2 * height)) + noise - most / 6;

  if ((x + 7 * n) % 64 < 12 && (y + 5 * component) % 48 < 20)
    return y % 2 ? most : 0;
  if ((x + 3 * component) % 80 > 60 && y % 70 > 55)
    return most / 2;
  return CLAMP (slope, 0, most);
}

GstBuffer *
golden_frame (const GstVideoInfo *info, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  GstVideoFrame frame;
  CheckRandom random;

  gst_buffer_memset (buffer, 0, 0, info->size);
  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    gint width = GST_VIDEO_INFO_COMP_WIDTH (info, c), height = GST_VIDEO_INFO_COMP_HEIGHT (info, c);
    gint depth = GST_VIDEO_INFO_COMP_DEPTH (info, c), shift = GST_VIDEO_FORMAT_INFO_SHIFT (info->finfo, c);

    check_random_init (&random, 17 + n, c);
    for (gint y = 0; y < height; y++)
      for (gint x = 0; x < width; x++)
        set_word ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c) + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c)
                + x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c),
            depth, value_at (x, y, width, height, c, n, (1 << depth) - 1, &random) << shift);
  }
  gst_video_frame_unmap (&frame);
  return buffer;
}

void
golden_add (GChecksum *checksum, const GstVideoInfo *info, GstBuffer *buffer)
{
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    gint width = GST_VIDEO_INFO_COMP_WIDTH (info, c), depth = GST_VIDEO_INFO_COMP_DEPTH (info, c);
    g_autofree guint8 *row = g_malloc (2 * width);

    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++) {
      const guint8 *at = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c) + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c);

      for (gint x = 0; x < width; x++)
        set_word (row + 2 * x, 16, word_at (at + x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c), depth));
      g_checksum_update (checksum, row, 2 * width);
    }
  }
  gst_video_frame_unmap (&frame);
}
