/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools for frames: what upstream is offered, and what the output comes from. */
#ifndef GST_CUDA_CONVOLVE_ALLOCATION_H
#define GST_CUDA_CONVOLVE_ALLOCATION_H

#include "cudastream.h"

G_BEGIN_DECLS

/*
 * Answers upstream's ALLOCATION query: a pool for the query's caps, in CUDA memory of context where those say so, which
 * then is not NULL, and for work on stream, which may be. held is the number of buffers that the element keeps to itself.
 */
gboolean gst_cuda_convolve_propose_pool (GstQuery *query, GstCudaConvolveContext *context,
    GstCudaConvolveStream *stream, guint held);

/*
 * Makes of downstream's answer what the output comes from: its pool where that is of the right kind and lends enough
 * buffers, one of our own otherwise; in CUDA memory for work on stream, whatever downstream had in mind.
 */
gboolean gst_cuda_convolve_decide_pool (GstQuery *query, GstCudaConvolveContext *context, GstCudaConvolveStream *stream,
    guint held);

/* Whether the buffer, or one that the buffer keeps, is from a pool that cannot make more buffers at will. */
gboolean gst_cuda_convolve_is_from_limited_pool (GstBuffer *buffer);

/* Whether the first structure of caps asks for CUDA memory. */
gboolean gst_cuda_convolve_caps_are_cuda (GstCaps *caps);

G_END_DECLS

#endif
