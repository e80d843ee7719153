/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/analytics.h"

gboolean
gst_cuda_convolve_analytics_read (GstBuffer *buffer, const GstCudaConvolveAnalyticsReader *reader)
{
  return FALSE;
}

gboolean
gst_cuda_convolve_analytics_are_readable (void)
{
  return FALSE;
}
