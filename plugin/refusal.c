/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "refusal.h"

#include "layercaps.h"
#include "upstream.h"

static gboolean
refuse_caps (GstCudaConvolveErrors *errors, const GstCudaConvolveLayer *layer, GstCaps *caps)
{
  g_autofree gchar *fault = gst_cuda_convolve_layer_refuses_caps (layer, caps);

  if (fault)
    gst_cuda_convolve_errors_post (errors, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, fault,
        gst_info_strdup_printf ("caps: %" GST_PTR_FORMAT, caps));
  return fault != NULL;
}

gboolean
gst_cuda_convolve_refuse_offers (GstCudaConvolveErrors *errors, const GstCudaConvolveLayer *layer, GstPad *sink)
{
  g_autoptr (GstCaps) caps = gst_pad_peer_query_caps (sink, NULL);

  return !gst_caps_is_any (caps) && !gst_caps_is_empty (caps) && refuse_caps (errors, layer, caps);
}

gboolean
gst_cuda_convolve_refuse_sent_caps (GstCudaConvolveErrors *errors, const GstCudaConvolveLayer *layer, GstPad *sink)
{
  g_autoptr (GstCaps) sent = gst_cuda_convolve_find_sent_caps (sink);

  return sent && !gst_caps_is_empty (sent) && refuse_caps (errors, layer, sent);
}

/* Each field, or each view, is in memory of its own, of which a mapped frame would have the first one alone. */
gboolean
gst_cuda_convolve_refuse_parts (GstCudaConvolveErrors *errors, const GstVideoInfo *info)
{
  static const gchar fields[] = "interlace-mode: the caps say fields, which puts each field into memory of its own; "
                                "the element takes progressive, "
                                "interleaved, mixed, and alternate";
  static const gchar fault[] =
      "multiview-mode: the caps say separated, which puts each view into memory of its own; the "
      "element takes mono, views in one frame (side-by-side, top-bottom and kin), and frame-by-frame";

  if (GST_VIDEO_INFO_INTERLACE_MODE (info) == GST_VIDEO_INTERLACE_MODE_FIELDS) {
    gst_cuda_convolve_errors_post (errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, fields, NULL);
    return TRUE;
  }
  if (GST_VIDEO_INFO_MULTIVIEW_MODE (info) != GST_VIDEO_MULTIVIEW_MODE_SEPARATED)
    return FALSE;
  gst_cuda_convolve_errors_post (errors, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, fault,
      g_strdup_printf ("%d views", GST_VIDEO_INFO_VIEWS (info)));
  return TRUE;
}

gboolean
gst_cuda_convolve_is_refusal (GstQuery *query)
{
  gboolean accepted = TRUE;
  GstCaps *caps = NULL;

  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    gst_query_parse_accept_caps_result (query, &accepted);
  else if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    gst_query_parse_caps_result (query, &caps);
  return !accepted || (caps && gst_caps_is_empty (caps));
}
