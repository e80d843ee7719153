/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame/metas.h"

/*
 * Metas with these tags alone are about the places of pixels, their size and the meaning of their values, which a
 * convolution keeps. Metas without tags are about the moment, the source, or what lies beside the picture: time codes,
 * captions, boxes, subtitles to be drawn later. A tag that nobody here knows may tell of the samples themselves, as a
 * checksum of them does.
 */
static gboolean
has_known_tags (GType api)
{
  static const gchar *const known[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_ORIENTATION_STR,
    GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_COLORSPACE_STR, NULL };
  const gchar *const *tags = gst_meta_api_type_get_tags (api);

  for (guint i = 0; tags && tags[i]; i++)
    if (!g_strv_contains (known, tags[i]))
      return FALSE;
  return TRUE;
}

gboolean
gst_cuda_convolve_meta_stays_true (GType api)
{
  /* How to decrypt the bytes that were there. */
  return api != GST_PROTECTION_META_API_TYPE && has_known_tags (api);
}

/* Of the metas about memory, GstVideoGLTextureUploadMeta has a way to the picture past the memory: to the old one. */
static gboolean
stays_in_place (GType api)
{
  return api != GST_VIDEO_GL_TEXTURE_UPLOAD_META_API_TYPE
      && (gst_cuda_convolve_meta_stays_true (api)
          || gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_STR))
          || gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_REFERENCE_STR)));
}

static gboolean
forget_meta (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  gboolean kept =
      GST_META_FLAG_IS_SET (*meta, GST_META_FLAG_LOCKED) || GST_META_FLAG_IS_SET (*meta, GST_META_FLAG_POOLED);

  if (!kept && !stays_in_place ((*meta)->info->api))
    *meta = NULL;
  return TRUE;
}

void
gst_cuda_convolve_metas_forget (GstBuffer *buffer)
{
  gst_buffer_foreach_meta (buffer, forget_meta, NULL);
}

/*
 * What describes the picture goes through. Two metas leave to downstream what upstream would otherwise do to the samples
 * before they come here: to blend an overlay, and to turn the picture. With these the picture would depend on what stands
 * behind the element: text that is blended before a blur is blurred, and text that is blended later is not. So the
 * element does not offer them, and still keeps those that come. A crop leaves samples to downstream, too, and the element
 * itself keeps to it.
 */
gboolean
gst_cuda_convolve_meta_is_offered (GType api, gboolean cuts)
{
  if (api == GST_VIDEO_CROP_META_API_TYPE)
    return cuts;
  return gst_cuda_convolve_meta_stays_true (api) && api != GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE
      && api != GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE;
}
