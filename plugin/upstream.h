/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the elements upstream have settled on. */
#ifndef GST_CUDA_CONVOLVE_UPSTREAM_H
#define GST_CUDA_CONVOLVE_UPSTREAM_H

#include <gst/gst.h>

G_BEGIN_DECLS

/*
 * The caps that can come to a sink pad of those that were sent somewhere upstream: queues and the like pass caps on, and
 * other transforms are asked what they make of them. NULL where no caps were sent yet.
 */
GstCaps *gst_cuda_convolve_find_sent_caps (GstPad *pad);

G_END_DECLS

#endif
