/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "upstream.h"

#include <gst/base/gstbasetransform.h>

/* The sink pad whose data leaves by the source pad; NULL where there is none, or several. */
static GstPad *
find_linked_sink (GstPad *pad)
{
  GstIterator *links = gst_pad_iterate_internal_links (pad);
  GValue value = G_VALUE_INIT;
  GstPad *sink = NULL;
  guint n = 0;

  while (links && gst_iterator_next (links, &value) == GST_ITERATOR_OK) {
    g_clear_object (&sink);
    sink = n++ == 0 ? g_value_dup_object (&value) : NULL;
    g_value_reset (&value);
  }
  g_value_unset (&value);
  g_clear_pointer (&links, gst_iterator_free);
  return sink;
}

/* The recursion also takes source pads, and then gives the caps that the pad can send. */
GstCaps *
gst_cuda_convolve_find_sent_caps (GstPad *pad)
{
  g_autoptr (GstPad) from = NULL;
  g_autoptr (GstElement) element = NULL;
  g_autoptr (GstCaps) sent = NULL;
  GstBaseTransform *trans;

  if (GST_PAD_IS_SINK (pad)) {
    from = gst_pad_get_peer (pad);
    return from ? gst_cuda_convolve_find_sent_caps (from) : NULL;
  }
  if (GST_IS_GHOST_PAD (pad)) {
    from = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));
    return from ? gst_cuda_convolve_find_sent_caps (from) : NULL;
  }
  from = find_linked_sink (pad);
  element = gst_pad_get_parent_element (pad);
  if (!from || !element || !(GST_IS_BASE_TRANSFORM (element) || GST_PAD_IS_PROXY_CAPS (from)))
    return gst_pad_get_current_caps (pad);
  sent = gst_cuda_convolve_find_sent_caps (from);
  if (!sent || !GST_IS_BASE_TRANSFORM (element))
    return g_steal_pointer (&sent);
  trans = GST_BASE_TRANSFORM (element);
  if (!GST_BASE_TRANSFORM_GET_CLASS (trans)->transform_caps)
    return g_steal_pointer (&sent);
  return GST_BASE_TRANSFORM_GET_CLASS (trans)->transform_caps (trans, GST_PAD_SINK, sent, NULL);
}
