/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/mattes.h"

/*
 * The largest of `count` lines of the picture that each of `wanted` lines touches. Line i begins at i * step bytes, and
 * has `length` values, `apart` bytes from each other.
 */
static void
stretch (const guint8 *from, gint count, gsize from_step, gsize from_apart, guint8 *to, gint wanted, gsize to_step,
    gsize to_apart, gint length)
{
  for (gint i = 0; i < wanted; i++) {
    gint first = (gint64) i * count / wanted, end = ((gint64) (i + 1) * count + wanted - 1) / wanted;

    for (gint k = 0; k < length; k++) {
      guint8 most = 0;

      for (gint n = first; n < end; n++)
        most = MAX (most, from[n * from_step + k * from_apart]);
      to[i * to_step + k * to_apart] = most;
    }
  }
}

static ConvolveRect
find_bounds (const guint8 *values, gint width, gint height)
{
  gint left = width, top = height, right = 0, bottom = 0;

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      if (values[(gsize) y * width + x] > 0) {
        left = MIN (left, x);
        top = MIN (top, y);
        right = MAX (right, x + 1);
        bottom = y + 1;
      }
  return right > left ? (ConvolveRect){ left, top, right - left, bottom - top } : (ConvolveRect){ 0 };
}

guint8 *
gst_cuda_convolve_matte_scale (const ConvolveImage *image, gint width, gint height, ConvolveRect *bounds)
{
  g_autofree guint8 *rows = g_malloc ((gsize) image->width * height);
  guint8 *values = g_malloc ((gsize) width * height);

  stretch (image->values, image->height, image->width, 1, rows, height, image->width, 1, image->width);
  stretch (rows, image->width, 1, image->width, values, width, 1, width, height);
  *bounds = find_bounds (values, width, height);
  return values;
}

ConvolveMatte
gst_cuda_convolve_matte_of_plane (const guint8 *values, gint width, gint height)
{
  return (ConvolveMatte){ .samples = values,
    .stride = width,
    .width = width,
    .height = height,
    .pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 } };
}

gboolean
gst_cuda_convolve_matte_find_alpha (const GstCudaConvolveLayout *layout, guint *group, guint *sample)
{
  for (guint i = 0; i < layout->n_groups; i++)
    for (gint k = 0; k < layout->groups[i].pixel.samples; k++)
      if (layout->groups[i].component[k] == GST_VIDEO_COMP_A && GST_VIDEO_FORMAT_INFO_HAS_ALPHA (layout->info.finfo)) {
        *group = i;
        *sample = k;
        return TRUE;
      }
  return FALSE;
}
