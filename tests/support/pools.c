/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/pools.h"

#include <gst/video/video.h>

GstPadProbeReturn
pools_offer (GstPadProbeInfo *probe, guint least, guint most)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);
  GstBufferPool *pool;
  GstStructure *config;
  GstVideoInfo info;
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !(probe->type & GST_PAD_PROBE_TYPE_PUSH))
    return GST_PAD_PROBE_OK;
  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return GST_PAD_PROBE_OK;
  pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, info.size, least, most);
  gst_buffer_pool_set_config (pool, config);
  gst_query_add_allocation_pool (query, pool, info.size, least, most);
  gst_object_unref (pool);
  return GST_PAD_PROBE_HANDLED;
}

GstPadProbeReturn
pools_limit (GstPadProbeInfo *probe, guint more)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);
  GstBufferPool *pool;
  guint size, min, max;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !(probe->type & GST_PAD_PROBE_TYPE_PULL)
      || gst_query_get_n_allocation_pools (query) == 0)
    return GST_PAD_PROBE_OK;
  gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  if (max == 0)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, min + more);
  gst_clear_object (&pool);
  return GST_PAD_PROBE_OK;
}
