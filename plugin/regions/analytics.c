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

/*
 * Adds the class that a classification is sure of. A list of all classes that a model knows has a level of 0 for
 * each, and names nobody.
 */
static void
read_name (GstAnalyticsClsMtd *classes, GstCudaConvolveObject *read)
{
  for (gsize i = 0; i < gst_analytics_cls_mtd_get_length (classes); i++) {
    const gchar *name = g_quark_to_string (gst_analytics_cls_mtd_get_quark (classes, i));

    if (name && gst_cuda_convolve_name_is_sure (gst_analytics_cls_mtd_get_level (classes, i)))
      gst_cuda_convolve_object_add_name (read, name);
  }
}

gboolean
gst_cuda_convolve_analytics_read_object (const GstAnalyticsODMtd *object, gboolean needs_names,
    GstCudaConvolveObject *read)
{
  gint x, y, width, height;
  gfloat angle = 0, confidence;
  GstAnalyticsClsMtd classes;
  gpointer state = NULL;

#if GST_CHECK_VERSION(1, 26, 0)
  if (!gst_analytics_od_mtd_get_oriented_location (object, &x, &y, &width, &height, &angle, &confidence))
    return FALSE;
#else
  if (!gst_analytics_od_mtd_get_location (object, &x, &y, &width, &height, &confidence))
    return FALSE;
#endif
  *read = (GstCudaConvolveObject){ .type = gst_cuda_convolve_read_type (gst_analytics_od_mtd_get_obj_type (object)),
    .id = track_of (object),
    .confidence = gst_cuda_convolve_read_confidence (confidence),
    .x = x,
    .y = y,
    .width = width,
    .height = height,
    .angle = angle };
  while (needs_names
      && gst_analytics_relation_meta_get_direct_related (object->meta, object->id, GST_ANALYTICS_REL_TYPE_ANY,
          gst_analytics_cls_mtd_get_mtd_type (), &state, &classes))
    read_name (&classes, read);
  return TRUE;
}

gboolean
gst_cuda_convolve_analytics_read (GstBuffer *buffer, const GstCudaConvolveAnalyticsReader *reader)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;

  if (!relations)
    return FALSE;
  while (gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_od_mtd_get_mtd_type (), &object)) {
    GstCudaConvolveObject read;

    if (gst_cuda_convolve_analytics_read_object (&object, reader->needs_names, &read))
      reader->add_object (reader->data, &read);
  }
  gst_cuda_convolve_segments_read (relations, reader);
  return TRUE;
}

gboolean
gst_cuda_convolve_analytics_are_readable (void)
{
  return TRUE;
}
