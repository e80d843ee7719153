/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "analytics.h"

#include <gst/analytics/analytics.h>

gboolean
gst_cuda_convolve_analytics_read (GstBuffer *buffer, GstCudaConvolveAnalyticsFunc func, gpointer data)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;

  if (!relations)
    return FALSE;
  while (gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_od_mtd_get_mtd_type (), &object)) {
    gint x, y, width, height;
    gfloat confidence;

    if (gst_analytics_od_mtd_get_location (&object, &x, &y, &width, &height, &confidence))
      func (g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&object)), x, y, width, height, data);
  }
  return TRUE;
}
