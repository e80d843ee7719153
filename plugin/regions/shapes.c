/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/shapes.h"

#include <math.h>

#define LARGEST CONVOLVE_MAX_BOX /* luma pixels */

static gint
to_pixels (gdouble value)
{
  return CLAMP (value, -LARGEST / 2, LARGEST / 2);
}

ConvolveRect
gst_cuda_convolve_shape_expand (GstCudaConvolveRectangle area, GstCudaConvolveRectangle region, gdouble expand)
{
  gdouble across = expand * region.width, down = expand * region.height;
  gint left = to_pixels (floor (area.x - across)), top = to_pixels (floor (area.y - down));
  gint right = to_pixels (ceil (area.x + area.width + across));
  gint bottom = to_pixels (ceil (area.y + area.height + down));

  return (ConvolveRect){ left, top, MAX (right - left, 1), MAX (bottom - top, 1) };
}

/* What the feather of the box touches of the frame. The width is 0 where that is nothing. */
static ConvolveRect
touch_frame (ConvolveRect box, gint feather, gint width, gint height)
{
  gint left = MAX (box.x - feather, 0), top = MAX (box.y - feather, 0);
  gint right = MIN (box.x + box.width + feather, width), bottom = MIN (box.y + box.height + feather, height);

  if (right <= left || bottom <= top)
    return (ConvolveRect){ 0 };
  return (ConvolveRect){ left, top, right - left, bottom - top };
}

/* --- polygons --- */

static gint
to_points (gdouble pixels)
{
  return rint (CLAMP (pixels, -LARGEST, LARGEST) * CONVOLVE_POINTS);
}

static void
add_corner (GstCudaConvolveShape *shape, gdouble x, gdouble y)
{
  shape->corners[shape->n_corners++] = (ConvolvePoint){ to_points (x), to_points (y) };
}

/* The corners of a turned box, or those of a polygon around the ellipse in it. */
static void
turn_corners (GstCudaConvolveShape *shape, const GstCudaConvolveBox *box, const ConvolveRegionSettings *settings)
{
  gdouble x = box->area.x + box->area.width / 2, y = box->area.y + box->area.height / 2,
          grown = 1 + 2 * settings->expand;
  gdouble a = grown * hypot (box->side[0][0], box->side[0][1]), b = grown * hypot (box->side[1][0], box->side[1][1]);
  gint n = settings->shape == CONVOLVE_SHAPE_RECTANGLE ? 4 : MAX (a, b) <= 25 ? 16 : MAX (a, b) <= 100 ? 32 : 64;

  for (gint i = 0; i < n; i++) {
    gdouble along = n == 4 ? (i == 0 || i == 3 ? 1 : -1) : cos (2 * G_PI * i / n) / cos (G_PI / n);
    gdouble across = n == 4 ? (i < 2 ? 1 : -1) : sin (2 * G_PI * i / n) / cos (G_PI / n);

    add_corner (shape, x + grown * (along * box->side[0][0] + across * box->side[1][0]),
        y + grown * (along * box->side[0][1] + across * box->side[1][1]));
  }
}

static void
place_corners (GstCudaConvolveShape *shape, const GstCudaConvolveBox *box, const ConvolveRegionSettings *settings,
    gint width, gint height)
{
  const gdouble size[2] = { width, height };

  for (guint i = 0; i < box->polygon->n_corners; i++) {
    const ConvolveTextCorner *corner = &box->polygon->corners[i];
    gdouble place[2];

    for (guint k = 0; k < 2; k++)
      place[k] = corner->per_cent[k] ? corner->number[k] * size[k] / 100 : corner->number[k];
    add_corner (shape, place[0], place[1]);
  }
  shape->margin =
      ceil (MIN (settings->expand * MIN (box->region.width, box->region.height), LARGEST) * CONVOLVE_POINTS);
}

/* Twice the area of the triangle from the first corner to two others. */
static gint64
twice_area (const GstCudaConvolveShape *shape, guint i, guint k)
{
  const ConvolvePoint *a = &shape->corners[0], *b = &shape->corners[i], *c = &shape->corners[k];

  return ((gint64) b->x - a->x) * ((gint64) c->y - a->y) - ((gint64) b->y - a->y) * ((gint64) c->x - a->x);
}

static gboolean
are_on_a_line (const GstCudaConvolveShape *shape)
{
  guint far = 0;

  while (far < shape->n_corners && shape->corners[far].x == shape->corners[0].x
      && shape->corners[far].y == shape->corners[0].y)
    far++;
  for (guint i = far + 1; i < shape->n_corners; i++)
    if (twice_area (shape, far, i) != 0)
      return FALSE;
  return TRUE;
}

/* Whether four corners are those of an upright rectangle, as after a turn by a right angle. */
static gboolean
is_upright (const GstCudaConvolveShape *shape)
{
  const ConvolvePoint *c = shape->corners;

  return shape->n_corners == 4 && c[0].x + c[2].x == c[1].x + c[3].x && c[0].y + c[2].y == c[1].y + c[3].y
      && ((c[0].x == c[1].x && c[1].y == c[2].y) || (c[0].y == c[1].y && c[1].x == c[2].x));
}

/* The rectangle around the corners, with the margin. FALSE where that is too far away. */
static gboolean
set_box (GstCudaConvolveShape *shape)
{
  const gint most = LARGEST / 2 * CONVOLVE_POINTS;
  gint left = G_MAXINT, top = G_MAXINT, right = G_MININT, bottom = G_MININT;

  for (guint i = 0; i < shape->n_corners; i++) {
    left = MIN (left, shape->corners[i].x);
    top = MIN (top, shape->corners[i].y);
    right = MAX (right, shape->corners[i].x);
    bottom = MAX (bottom, shape->corners[i].y);
  }
  left = floor ((left - shape->margin) / (gdouble) CONVOLVE_POINTS);
  top = floor ((top - shape->margin) / (gdouble) CONVOLVE_POINTS);
  right = ceil ((right + shape->margin) / (gdouble) CONVOLVE_POINTS);
  bottom = ceil ((bottom + shape->margin) / (gdouble) CONVOLVE_POINTS);
  shape->box = (ConvolveRect){ left, top, MAX (right - left, 1), MAX (bottom - top, 1) };
  return left >= -most / CONVOLVE_POINTS && top >= -most / CONVOLVE_POINTS && right <= most / CONVOLVE_POINTS
      && bottom <= most / CONVOLVE_POINTS;
}

void
gst_cuda_convolve_shape_find (GstCudaConvolveShape *shape, const GstCudaConvolveBox *box,
    const ConvolveRegionSettings *settings, gint width, gint height)
{
  shape->margin = 0;
  shape->n_corners = 0;
  if (box->is_turned)
    turn_corners (shape, box, settings);
  if (box->polygon)
    place_corners (shape, box, settings, width, height);
  if (shape->n_corners > 0 && set_box (shape) && !are_on_a_line (shape)) {
    if (box->is_turned && is_upright (shape))
      shape->n_corners = 0;
    return;
  }
  shape->n_corners = 0;
  shape->box = gst_cuda_convolve_shape_expand (box->area, box->region, settings->expand);
}

/* Whether the polygon, with its margin and so many pixels more, meets the frame: an edge does, or the frame is inside. */
static gboolean
meets_frame (const GstCudaConvolveShape *shape, gint feather, gint width, gint height)
{
  const gdouble more = shape->margin + (gdouble) feather * CONVOLVE_POINTS;
  const gdouble x = width * CONVOLVE_POINTS / 2.0, y = height * CONVOLVE_POINTS / 2.0; /* the middle of the frame */
  gint winding = 0;

  for (guint i = 0; i < shape->n_corners; i++) {
    const ConvolvePoint *a = &shape->corners[i], *b = &shape->corners[i + 1 < shape->n_corners ? i + 1 : 0];
    gdouble dx = (gdouble) b->x - a->x, dy = (gdouble) b->y - a->y, cross = dx * (y - a->y) - dy * (x - a->x);

    if (MIN (a->x, b->x) < 2 * x + more && MAX (a->x, b->x) > -more && MIN (a->y, b->y) < 2 * y + more
        && MAX (a->y, b->y) > -more && fabs (cross) < fabs (dx) * (y + more) + fabs (dy) * (x + more))
      return TRUE;
    if (a->y <= y && b->y > y && cross > 0)
      winding++;
    if (a->y > y && b->y <= y && cross < 0)
      winding--;
  }
  return winding != 0;
}

ConvolveRect
gst_cuda_convolve_shape_touch (const GstCudaConvolveShape *shape, gint feather, gint width, gint height)
{
  if (shape->n_corners > 0 && !meets_frame (shape, feather, width, height))
    return (ConvolveRect){ 0 };
  return touch_frame (shape->box, feather, width, height);
}

gboolean
gst_cuda_convolve_box_touches_frame (const GstCudaConvolveBox *box, const ConvolveRegionSettings *settings, gint width,
    gint height)
{
  GstCudaConvolveShape shape;

  gst_cuda_convolve_shape_find (&shape, box, settings, width, height);
  return gst_cuda_convolve_shape_touch (&shape, settings->feather, width, height).width > 0;
}
