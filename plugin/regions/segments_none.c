/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/segments.h"

void
gst_cuda_convolve_segments_read (GstAnalyticsRelationMeta *relations, const GstCudaConvolveAnalyticsReader *reader)
{
}
