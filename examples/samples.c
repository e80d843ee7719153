/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "samples.h"

#include <string.h>

/* Where a component is in GStreamer's unpacked pixels, which have alpha first. */
static guint
place_of (guint component)
{
  return component == GST_VIDEO_COMP_A ? 0 : component + 1;
}

static void
set_size (Component *component, const GstVideoFormatInfo *format, guint number, int width, int height)
{
  component->x_step = 1 << format->w_sub[number];
  component->y_step = 1 << format->h_sub[number];
  component->width = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH (format, number, width);
  component->height = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (format, number, height);
  component->values = g_renew (guint16, component->values, (gsize) component->width * component->height);
}

void
samples_read (Samples *samples, const GstVideoFrame *frame)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  const int width = GST_VIDEO_FRAME_WIDTH (frame), height = GST_VIDEO_FRAME_HEIGHT (frame);
  const gboolean deep = GST_VIDEO_FORMAT_INFO_DEPTH (format, 0) > 8;
  guint8 *line = g_malloc ((gsize) width * (deep ? 8 : 4));

  samples->n = GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format);
  samples->depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, 0);
  samples->rgb = GST_VIDEO_FORMAT_INFO_IS_RGB (format);
  samples->progressive = !GST_VIDEO_INFO_IS_INTERLACED (&frame->info)
      && GST_VIDEO_INFO_MULTIVIEW_MODE (&frame->info) <= GST_VIDEO_MULTIVIEW_MODE_MONO;
  for (guint c = 0; c < samples->n; c++)
    set_size (&samples->components[c], format, c, width, height);
  for (int y = 0; y < height; y++) {
    format->unpack_func (format, GST_VIDEO_PACK_FLAG_NONE, line, frame->data, frame->info.stride, 0, y, width);
    for (guint c = 0; c < samples->n; c++) {
      const Component *component = &samples->components[c];
      guint16 *row = component->values + (gsize) (y / component->y_step) * component->width;

      if (y % component->y_step != 0)
        continue;
      for (int x = 0; x < component->width; x++) {
        const gsize at = 4 * (gsize) x * component->x_step + place_of (c);

        row[x] = deep ? ((const guint16 *) line)[at] >> (16 - samples->depth) : line[at];
      }
    }
  }
  g_free (line);
}

void
samples_clear (Samples *samples)
{
  for (guint c = 0; c < G_N_ELEMENTS (samples->components); c++)
    g_clear_pointer (&samples->components[c].values, g_free);
}

char *
samples_hash (const Samples *samples)
{
  GChecksum *checksum = g_checksum_new (G_CHECKSUM_SHA256);
  char *hash;

  for (guint c = 0; c < samples->n; c++) {
    const Component *component = &samples->components[c];
    guint8 *bytes = g_malloc (2 * (gsize) component->width);

    for (int y = 0; y < component->height; y++) {
      gsize n = 0;

      for (int x = 0; x < component->width; x++) {
        const guint value = component->values[(gsize) y * component->width + x];

        bytes[n++] = value & 255;
        if (samples->depth > 8)
          bytes[n++] = value >> 8;
      }
      g_checksum_update (checksum, bytes, n);
    }
    g_free (bytes);
  }
  hash = g_strdup (g_checksum_get_string (checksum));
  g_checksum_free (checksum);
  return hash;
}

void
samples_means (const Samples *samples, guint8 means[GRID * GRID])
{
  const Component *first = &samples->components[0];

  for (int part = 0; part < GRID * GRID; part++) {
    const int i = part % GRID, j = part / GRID;
    const int left = (gint64) first->width * i / GRID, right = (gint64) first->width * (i + 1) / GRID;
    const int top = (gint64) first->height * j / GRID, bottom = (gint64) first->height * (j + 1) / GRID;
    const guint64 n = (guint64) (right - left) * (bottom - top);
    guint64 sum = 0;

    for (int y = top; y < bottom; y++)
      for (int x = left; x < right; x++)
        sum += first->values[(gsize) y * first->width + x];
    means[part] = n > 0 ? (sum + n / 2) / n >> (samples->depth - 8) : 0;
  }
}
