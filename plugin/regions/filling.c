/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/filling.h"

#include "plans/color.h"
#include "files/image_file.h"

#define WHOLE 65536 /* a pixel, in the units of ConvolveDrawing */

gboolean
gst_cuda_convolve_filling_differs (const GstCudaConvolveFilling *filling, ConvolveKeptFile *file, guint color)
{
  return file != filling->file || (file && !filling->is_opaque && color != filling->color);
}

static gint
half (gint side)
{
  return (side + 1) / 2;
}

static gsize
count_values (gint width, gint height, gint samples)
{
  gsize n = (gsize) width * height * samples;

  return width == 1 && height == 1 ? n : n + count_values (half (width), half (height), samples);
}

/* One channel of the picture over that of the colour. */
static guint
over (guint picture, guint color, guint alpha)
{
  return (picture * alpha + color * (255 - alpha) + 127) / 255;
}

/* A pixel of red, green, blue and alpha over the colour 0xAARRGGBB, as such a colour. */
static guint
color_of (const guint8 *pixel, guint color)
{
  return over (255, color >> 24, pixel[3]) << 24 | over (pixel[0], color >> 16 & 255, pixel[3]) << 16
      | over (pixel[1], color >> 8 & 255, pixel[3]) << 8 | over (pixel[2], color & 255, pixel[3]);
}

/* The values of the picture in its own size. Pixels beside each other often have one colour. */
static void
convert (const ConvolveImage *image, guint color, const GstCudaConvolveLayout *layout,
    const GstCudaConvolveGroup *group, guint16 *values)
{
  gint samples = group->pixel.samples, found[CONVOLVE_MAX_SAMPLES];
  guint last = 0;

  for (gsize i = 0; i < (gsize) image->width * image->height; i++) {
    guint wanted = color_of (image->values + 4 * i, color);

    if (i == 0 || wanted != last)
      gst_cuda_convolve_color_values (layout, group, wanted, found);
    last = wanted;
    for (gint k = 0; k < samples; k++)
      values[i * samples + k] = found[k];
  }
}

/* The next level. At an odd side the last pixel counts twice. */
static void
shrink (const guint16 *from, gint width, gint height, gint samples, guint16 *to)
{
  for (gint y = 0; y < half (height); y++)
    for (gint x = 0; x < half (width); x++) {
      gint left = 2 * x, right = MIN (2 * x + 1, width - 1);
      gsize above = (gsize) 2 * y * width, below = (gsize) MIN (2 * y + 1, height - 1) * width;

      for (gint k = 0; k < samples; k++)
        *to++ = (from[(above + left) * samples + k] + from[(above + right) * samples + k]
                    + from[(below + left) * samples + k] + from[(below + right) * samples + k] + 2)
            / 4;
    }
}

static void
make_levels (guint16 *values, gint width, gint height, gint samples)
{
  while (width > 1 || height > 1) {
    guint16 *next = values + (gsize) width * height * samples;

    shrink (values, width, height, samples, next);
    values = next;
    width = half (width);
    height = half (height);
  }
}

void
gst_cuda_convolve_filling_make (GstCudaConvolveFilling *filling, ConvolveKeptFile *file, guint color,
    const GstCudaConvolveLayout *layout)
{
  g_autoptr (ConvolveImage) image = file ? convolve_kept_file_read (file, NULL) : NULL;

  if (!image)
    return;
  filling->file = convolve_kept_file_ref (file);
  filling->sha256 = g_strdup (image->sha256);
  filling->color = color;
  filling->is_opaque = TRUE;
  filling->width = image->width;
  filling->height = image->height;
  for (gsize i = 0; i < (gsize) image->width * image->height; i++)
    filling->is_opaque &= image->values[4 * i + 3] == 255;
  for (guint i = 0; i < layout->n_groups; i++) {
    filling->first[i] = filling->n_values;
    if (layout->groups[i].pixel.select != 0)
      filling->n_values += count_values (image->width, image->height, layout->groups[i].pixel.samples);
  }
  filling->values = g_new (guint16, filling->n_values);
  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];

    if (group->pixel.select == 0)
      continue;
    convert (image, color, layout, group, filling->values + filling->first[i]);
    make_levels (filling->values + filling->first[i], image->width, image->height, group->pixel.samples);
  }
}

void
gst_cuda_convolve_filling_clear (GstCudaConvolveFilling *filling)
{
  g_clear_pointer (&filling->file, convolve_kept_file_unref);
  g_clear_pointer (&filling->sha256, g_free);
  g_clear_pointer (&filling->values, g_free);
  filling->n_values = 0;
}

/*
 * Where the centre of a group's first pixel lies in a level, along a side of the picture. pitch is the distance of two
 * luma pixels in the picture itself, and step is that of two pixels of the group.
 */
static gint64
find_place (gint side, gint start, gint length, gint64 pitch, guint step, guint level)
{
  gint64 twice = (gint64) side * WHOLE + pitch * ((gint64) step - 2 * (gint64) start - length);

  return (twice >> (level + 1)) - WHOLE / 2;
}

ConvolveDrawing
gst_cuda_convolve_filling_draw (const GstCudaConvolveFilling *filling, const GstCudaConvolveLayout *layout,
    guint number, ConvolveRect box)
{
  const GstCudaConvolveGroup *group = &layout->groups[number];
  const gint width = filling->width, height = filling->height;
  const gboolean is_narrow = (gint64) width * box.height <= (gint64) height * box.width;
  const gint64 pitch = MAX (1, is_narrow ? (gint64) width * WHOLE / box.width : (gint64) height * WHOLE / box.height);
  const guint16 *values = filling->on_device ? filling->on_device : filling->values;
  ConvolveDrawing drawing = { .values = values + filling->first[number], .width = width, .height = height };
  guint level = 0;

  /* Between two pixels of the group lie less than two of the level, so that none is passed over. */
  while (
      pitch * MAX (group->x_step, group->y_step) >> level >= 2 * WHOLE && (drawing.width > 1 || drawing.height > 1)) {
    drawing.values += (gsize) drawing.width * drawing.height * group->pixel.samples;
    drawing.width = half (drawing.width);
    drawing.height = half (drawing.height);
    level++;
  }
  drawing.x = find_place (width, box.x, box.width, pitch, group->x_step, level);
  drawing.y = find_place (height, box.y, box.height, pitch, group->y_step, level);
  drawing.across = MAX (1, pitch * group->x_step >> level);
  drawing.down = MAX (1, pitch * group->y_step >> level);
  return drawing;
}
