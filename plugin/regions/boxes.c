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

  return (GstCudaConvolveBox){ area, area, FALSE };
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

  if (!isfinite (x) || !isfinite (y) || !isfinite (width) || !isfinite (height) || !isfinite (angle) || width < 0
      || height < 0)
    return GST_CUDA_CONVOLVE_BOX_REFUSED;
  if (width == 0 || height == 0)
    return GST_CUDA_CONVOLVE_BOX_EMPTY;
  across = drop_noise (fabs (width * cos (angle)) + fabs (height * sin (angle)));
  down = drop_noise (fabs (width * sin (angle)) + fabs (height * cos (angle)));
  if (angle != 0 && MAX (width, height) > (gdouble) frame_width + frame_height)
    *box = make_box (0, 0, frame_width, frame_height, frame_width, frame_height);
  else
    *box = make_box (x + (width - across) / 2, y + (height - down) / 2, across, down, frame_width, frame_height);
  return GST_CUDA_CONVOLVE_BOX_TAKEN;
}

GstCudaConvolveBox
gst_cuda_convolve_box_read_text (const ConvolveTextBox *text, gint frame_width, gint frame_height)
{
  const gdouble size[2] = { frame_width, frame_height };
  GstCudaConvolveRectangle area;
  gdouble number[4];

  for (guint i = 0; i < G_N_ELEMENTS (number); i++)
    number[i] = text->per_cent[i] ? text->number[i] * size[i % 2] / 100 : text->number[i];
  area = (GstCudaConvolveRectangle){ number[0], number[1], number[2], number[3] };
  return (GstCudaConvolveBox){ area, area, FALSE };
}

GstCudaConvolveRectangle
gst_cuda_convolve_box_place_mask (gint x, gint y, guint width, guint height, gint frame_width, gint frame_height)
{
  return (GstCudaConvolveRectangle){ x, y, width > G_MAXINT ? length_to_edge (x, frame_width) : width,
    height > G_MAXINT ? length_to_edge (y, frame_height) : height };
}
