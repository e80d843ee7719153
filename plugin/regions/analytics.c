/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/segments.h"

#include <gst/analytics/analytics.h>

/* The track of an object, or GST_CUDA_CONVOLVE_NO_ID. A track with another relation tells something else. */
static guint64
track_of (const GstAnalyticsODMtd *object)
{
  GstAnalyticsTrackingMtd track;
  GstClockTime first, last;
  guint64 id;
  gboolean lost;

  if (!gst_analytics_relation_meta_get_direct_related (object->meta, object->id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_tracking_mtd_get_mtd_type (), NULL, &track)
      || !gst_analytics_tracking_mtd_get_info (&track, &id, &first, &last, &lost))
    return GST_CUDA_CONVOLVE_NO_ID;
  return id;
}

static void
read_object (const GstAnalyticsODMtd *object, const GstCudaConvolveAnalyticsReader *reader)
{
  gint x, y, width, height;
  gfloat angle = 0, confidence;
  GstCudaConvolveObject read;

#if GST_CHECK_VERSION(1, 26, 0)
  if (!gst_analytics_od_mtd_get_oriented_location (object, &x, &y, &width, &height, &angle, &confidence))
    return;
#else
  if (!gst_analytics_od_mtd_get_location (object, &x, &y, &width, &height, &confidence))
    return;
#endif
  read = (GstCudaConvolveObject){ .type = g_quark_to_string (gst_analytics_od_mtd_get_obj_type (object)),
    .id = track_of (object),
    .confidence = confidence,
    .x = x,
    .y = y,
    .width = width,
    .height = height,
    .angle = angle };
  reader->add_object (reader->data, &read);
}

gboolean
gst_cuda_convolve_analytics_read (GstBuffer *buffer, const GstCudaConvolveAnalyticsReader *reader)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;

  if (!relations)
    return FALSE;
  while (gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_od_mtd_get_mtd_type (), &object))
    read_object (&object, reader);
  gst_cuda_convolve_segments_read (relations, reader);
  return TRUE;
}

gboolean
gst_cuda_convolve_analytics_are_readable (void)
{
  return TRUE;
}
