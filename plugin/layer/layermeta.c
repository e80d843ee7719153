/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/layermeta.h"

#include <math.h>

/* From first up to end on an axis of size pixels, scaled to out pixels, and never a pixel less. */
static void
scale_span (gint64 first, gint64 end, gint size, gint out, guint *scaled, guint *length)
{
  gdouble low = floor ((gdouble) first * out / size), high = ceil ((gdouble) end * out / size);

  *scaled = (guint) (gint) CLAMP (low, G_MININT, G_MAXINT);
  *length = CLAMP (high - low, 0, G_MAXINT);
}

/*
 * Some versions of GStreamer lose the parameters of the meta when they scale it themselves. Trackers write boxes that begin
 * left of or above the picture, as negative numbers.
 */
static void
scale_region (GstBuffer *outbuf, const GstVideoRegionOfInterestMeta *region, const GstVideoInfo *in,
    const GstVideoInfo *out)
{
  gint64 left = (gint) region->x, top = (gint) region->y;
  GstVideoRegionOfInterestMeta *scaled =
      gst_buffer_add_video_region_of_interest_meta_id (outbuf, region->roi_type, 0, 0, 0, 0);

  scale_span (left, left + region->w, GST_VIDEO_INFO_WIDTH (in), GST_VIDEO_INFO_WIDTH (out), &scaled->x, &scaled->w);
  scale_span (top, top + region->h, GST_VIDEO_INFO_HEIGHT (in), GST_VIDEO_INFO_HEIGHT (out), &scaled->y, &scaled->h);
  scaled->id = region->id;
  scaled->parent_id = region->parent_id;
  for (const GList *l = region->params; l; l = l->next)
    gst_video_region_of_interest_meta_add_param (scaled, gst_structure_copy (l->data));
}

static gboolean
has_tag (GType api, const gchar *tag)
{
  return gst_meta_api_type_has_tag (api, g_quark_from_string (tag));
}

gboolean
gst_cuda_conv_layer_model_can_keep_meta (const GstCudaConvLayerModel *layer, GType api)
{
  if (has_tag (api, GST_META_TAG_VIDEO_COLORSPACE_STR))
    return FALSE;
  return !layer->mosaic
      || !(has_tag (api, GST_META_TAG_VIDEO_SIZE_STR) || has_tag (api, GST_META_TAG_VIDEO_ORIENTATION_STR));
}

/* These name places in pixels of the picture without a tag that says so, and nothing scales them. */
static gboolean
is_bound_to_size (GType api)
{
  return api == GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE
      || g_str_equal (g_type_name (api), "GstAnalyticsRelationMetaAPI");
}

static gboolean
keeps_places (const GstCudaConvLayerModel *layer, const GstVideoInfo *in, const GstVideoInfo *out)
{
  return !layer->mosaic && GST_VIDEO_INFO_WIDTH (in) == GST_VIDEO_INFO_WIDTH (out)
      && GST_VIDEO_INFO_HEIGHT (in) == GST_VIDEO_INFO_HEIGHT (out);
}

gboolean
gst_cuda_conv_layer_model_keeps_meta (const GstCudaConvLayerModel *layer, const GstVideoInfo *in,
    const GstVideoInfo *out, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  GType api = meta->info->api;
  GstVideoMetaTransform scale = { (GstVideoInfo *) in, (GstVideoInfo *) out };

  if (!gst_cuda_conv_layer_model_can_keep_meta (layer, api))
    return FALSE;
  if (!has_tag (api, GST_META_TAG_VIDEO_SIZE_STR))
    return !is_bound_to_size (api) || keeps_places (layer, in, out);
  if (api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    scale_region (outbuf, (GstVideoRegionOfInterestMeta *) meta, in, out);
  else if (meta->info->transform_func)
    meta->info->transform_func (outbuf, meta, inbuf, gst_video_meta_transform_scale_get_quark (), &scale);
  return FALSE;
}
