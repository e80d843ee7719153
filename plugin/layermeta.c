/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layermeta.h"

/* Some versions of GStreamer lose the parameters of the meta when they scale it themselves. */
static void
scale_region (GstBuffer *outbuf, const GstVideoRegionOfInterestMeta *region, const GstVideoInfo *in,
    const GstVideoInfo *out)
{
  guint64 width = GST_VIDEO_INFO_WIDTH (in), height = GST_VIDEO_INFO_HEIGHT (in);
  guint64 out_width = GST_VIDEO_INFO_WIDTH (out), out_height = GST_VIDEO_INFO_HEIGHT (out);
  GstVideoRegionOfInterestMeta *scaled =
      gst_buffer_add_video_region_of_interest_meta_id (outbuf, region->roi_type, region->x * out_width / width,
          region->y * out_height / height, region->w * out_width / width, region->h * out_height / height);

  scaled->id = region->id;
  scaled->parent_id = region->parent_id;
  for (const GList *l = region->params; l; l = l->next)
    gst_video_region_of_interest_meta_add_param (scaled, gst_structure_copy (l->data));
}

gboolean
gst_cuda_convolve_layer_keeps_meta (const GstCudaConvolveLayer *layer, const GstVideoInfo *in, const GstVideoInfo *out,
    GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  GType api = meta->info->api;
  GstVideoMetaTransform scale = { (GstVideoInfo *) in, (GstVideoInfo *) out };

  if (gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR)))
    return FALSE;
  if (!gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_SIZE_STR)))
    return TRUE;
  if (layer->mosaic)
    return FALSE;
  if (api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)
    scale_region (outbuf, (GstVideoRegionOfInterestMeta *) meta, in, out);
  else if (meta->info->transform_func)
    meta->info->transform_func (outbuf, meta, inbuf, gst_video_meta_transform_scale_get_quark (), &scale);
  return FALSE;
}
