/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/boxes.h"

#include <math.h>

/* The length of a box that begins at start and goes to the frame's edge. A box behind the edge keeps one pixel there. */
static gdouble
length_to_edge (gdouble start, gint frame)
{
  return MAX (frame - start, 1);
}

static gdouble
limit_length (gdouble start, gdouble length, gint frame)
{
  return length > frame ? MIN (length, length_to_edge (start, frame)) : length;
}

static GstCudaConvolveBox
make_box (gdouble x, gdouble y, gdouble width, gdouble height, gint frame_width, gint frame_height)
{
  GstCudaConvolveRectangle area = { x, y, limit_length (x, width, frame_width),
    limit_length (y, height, frame_height) };

  return (GstCudaConvolveBox){ .area = area, .region = area };
}

/* A box whose middle and upright rectangle are known. The angle points from the left side to the right one. */
static GstCudaConvolveBox
turn_box (GstCudaConvolveRectangle area, gdouble width, gdouble height, gdouble angle)
{
  return (GstCudaConvolveBox){ .area = area,
    .region = area,
    .is_turned = TRUE,
    .side = { { width / 2 * cos (angle), width / 2 * sin (angle) },
        { -height / 2 * sin (angle), height / 2 * cos (angle) } } };
}

GstCudaConvolveBoxState
gst_cuda_convolve_box_read_unsigned (guint x, guint y, guint width, guint height, gint frame_width, gint frame_height,
    GstCudaConvolveBox *box)
{
  if (width == 0 || height == 0)
    return GST_CUDA_CONVOLVE_BOX_EMPTY;
  *box = make_box ((gint32) x, (gint32) y, width, height, frame_width, frame_height);
  return GST_CUDA_CONVOLVE_BOX_TAKEN;
}

/* An angle is a float, so a right angle is not quite one. */
static gdouble
drop_noise (gdouble size)
{
  return rint (size * 256) / 256;
}

GstCudaConvolveBoxState
gst_cuda_convolve_box_read_turned (gdouble x, gdouble y, gdouble width, gdouble height, gdouble angle, gint frame_width,
    gint frame_height, GstCudaConvolveBox *box)
{
  gdouble across, down;
  GstCudaConvolveRectangle area;

  if (!isfinite (x) || !isfinite (y) || !isfinite (width) || !isfinite (height) || !isfinite (angle) || width < 0
      || height < 0)
    return GST_CUDA_CONVOLVE_BOX_REFUSED;
  if (width == 0 || height == 0)
    return GST_CUDA_CONVOLVE_BOX_EMPTY;
  across = drop_noise (fabs (width * cos (angle)) + fabs (height * sin (angle)));
  down = drop_noise (fabs (width * sin (angle)) + fabs (height * cos (angle)));
  area = (GstCudaConvolveRectangle){ x + (width - across) / 2, y + (height - down) / 2, across, down };
  if (angle != 0 && MAX (width, height) > (gdouble) frame_width + frame_height)
    *box = make_box (0, 0, frame_width, frame_height, frame_width, frame_height);
  else if (angle == 0 || (across == drop_noise (width) && down == drop_noise (height))
      || (across == drop_noise (height) && down == drop_noise (width)))
    *box = make_box (area.x, area.y, across, down, frame_width, frame_height);
  else
    *box = turn_box (area, width, height, angle);
  return GST_CUDA_CONVOLVE_BOX_TAKEN;
}

/* The polygon, with the rectangle around its corners. */
static GstCudaConvolveBox
read_polygon (const ConvolveTextBox *text, const gdouble size[2])
{
  gdouble least[2] = { G_MAXDOUBLE, G_MAXDOUBLE }, most[2] = { -G_MAXDOUBLE, -G_MAXDOUBLE };
  GstCudaConvolveRectangle area;

  for (guint i = 0; i < 2 * text->n_corners; i++) {
    const ConvolveTextCorner *corner = &text->corners[i / 2];
    guint k = i % 2;
    gdouble place = corner->per_cent[k] ? corner->number[k] * size[k] / 100 : corner->number[k];

    least[k] = MIN (least[k], place);
    most[k] = MAX (most[k], place);
  }
  area = (GstCudaConvolveRectangle){ least[0], least[1], most[0] - least[0], most[1] - least[1] };
  return (GstCudaConvolveBox){ .area = area, .region = area, .polygon = text };
}

GstCudaConvolveBox
gst_cuda_convolve_box_read_text (const ConvolveTextBox *text, gint frame_width, gint frame_height)
{
  const gdouble size[2] = { frame_width, frame_height };
  GstCudaConvolveRectangle area;
  gdouble number[4];

  if (text->n_corners > 0)
    return read_polygon (text, size);
  for (guint i = 0; i < G_N_ELEMENTS (number); i++)
    number[i] = text->per_cent[i] ? text->number[i] * size[i % 2] / 100 : text->number[i];
  area = (GstCudaConvolveRectangle){ number[0], number[1], number[2], number[3] };
  return (GstCudaConvolveBox){ .area = area, .region = area };
}

GstCudaConvolveRectangle
gst_cuda_convolve_box_place_mask (gint x, gint y, guint width, guint height, gint frame_width, gint frame_height)
{
  return (GstCudaConvolveRectangle){ x, y, width > G_MAXINT ? length_to_edge (x, frame_width) : width,
    height > G_MAXINT ? length_to_edge (y, frame_height) : height };
}
