/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layermeta.h"

gboolean
gst_cuda_convolve_layer_keeps_meta (const GstCudaConvolveLayer * layer, const GstVideoInfo * in,
    const GstVideoInfo * out, GstBuffer * outbuf, GstMeta * meta, GstBuffer * inbuf)
{
  GType api = meta->info->api;
  GstVideoMetaTransform scale = { (GstVideoInfo *) in, (GstVideoInfo *) out };

  if (gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR)))
    return FALSE;
  if (!gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_SIZE_STR)))
    return TRUE;
  if (!layer->mosaic && meta->info->transform_func)
    meta->info->transform_func (outbuf, meta, inbuf, gst_video_meta_transform_scale_get_quark (), &scale);
  return FALSE;
}
