/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The caps that elements upstream have agreed on. */
#ifndef GST_CUDA_CONVOLVE_UPSTREAM_H
#define GST_CUDA_CONVOLVE_UPSTREAM_H

#include <gst/gst.h>

G_BEGIN_DECLS

/*
 * The caps that the sink pad can get, judged by the caps that an element further upstream has already sent: queues and
 * the like pass caps on, and transforms are asked what they make of them. NULL where no caps were sent yet.
 */
GstCaps *gst_cuda_convolve_find_sent_caps (GstPad *pad);

G_END_DECLS

#endif
