/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "segments.h"

#include <gst/analytics/analytics.h>
#include <math.h>

/* An angle is a float, so a right angle is not quite one. */
static gdouble
drop_noise (gdouble size)
{
  return rint (size * 256) / 256;
}

/* The upright box around an object, which may be turned about its centre. */
static gboolean
read_box (const GstAnalyticsODMtd *object, GstCudaConvolveRectangle *box)
{
  gint x, y, width, height;
  gfloat angle = 0, confidence;

#if GST_CHECK_VERSION(1, 26, 0)
  if (!gst_analytics_od_mtd_get_oriented_location (object, &x, &y, &width, &height, &angle, &confidence))
    return FALSE;
#else
  if (!gst_analytics_od_mtd_get_location (object, &x, &y, &width, &height, &confidence))
    return FALSE;
#endif
  box->width = drop_noise (fabs (width * cos (angle)) + fabs (height * sin (angle)));
  box->height = drop_noise (fabs (width * sin (angle)) + fabs (height * cos (angle)));
  box->x = x + (width - box->width) / 2;
  box->y = y + (height - box->height) / 2;
  return TRUE;
}

gboolean
gst_cuda_convolve_analytics_read (GstBuffer *buffer, GstCudaConvolveAnalyticsFunc func, gpointer data)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;

  if (!relations)
    return FALSE;
  while (gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_od_mtd_get_mtd_type (), &object)) {
    GstCudaConvolveBox box = { .is_part = FALSE };

    if (!read_box (&object, &box.area))
      continue;
    box.region = box.area;
    func (g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&object)), &box, data);
  }
  gst_cuda_convolve_segments_read (relations, func, data);
  return TRUE;
}

gboolean
gst_cuda_convolve_analytics_are_readable (void)
{
  return TRUE;
}
