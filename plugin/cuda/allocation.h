/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pools of buffers: the pool that the element offers upstream, and the pool of its output. */
#ifndef GST_CUDA_CONVOLVE_ALLOCATION_H
#define GST_CUDA_CONVOLVE_ALLOCATION_H

#include "cuda/device.h"
#include "report/errors.h"

G_BEGIN_DECLS

/* The two functions log for the element what they do: told is for GST_CUDA_CONVOLVE_TELL. */

/*
 * Answers upstream's ALLOCATION query with a pool for the query's caps: for CUDA memory a pool in the device's context,
 * for system memory a pool whose memory the device can page-lock. asked is the number of buffers that the pool is to lend.
 * video_meta tells whether frames in system memory may lie as a GstVideoMeta says. FALSE where there is no pool; without a
 * device for CUDA memory an error has been posted.
 */
gboolean gst_cuda_convolve_propose_pool (GstElement *element, guint *told, GstQuery *query,
    GstCudaConvolveDevice *device, GstCudaConvolveErrors *errors, guint asked, gboolean video_meta);

/* Answers with parameters for system memory that the device can page-lock. */
void gst_cuda_convolve_propose_params (GstQuery *query);

/*
 * Turns downstream's answer into the output's pool: downstream's own pool where that is of the right kind and lends
 * enough buffers, otherwise a new one, which makes buffers at will. held is the number of buffers that the element keeps to
 * itself. Buffers in CUDA memory are for work on the device's stream, whatever downstream had in mind. FALSE as above.
 */
gboolean gst_cuda_convolve_decide_pool (GstElement *element, guint *told, GstQuery *query,
    GstCudaConvolveDevice *device, GstCudaConvolveErrors *errors, guint held);

/* How many buffers a pool can have; 0 where the pool makes more of them at will. */
guint gst_cuda_convolve_pool_count_most (GstBufferPool *pool);

/* Whether the buffer, or a buffer that it keeps alive, is from a pool that cannot make more buffers at will. */
gboolean gst_cuda_convolve_is_from_limited_pool (GstBuffer *buffer);

/* Whether the first structure of caps asks for CUDA memory. */
gboolean gst_cuda_convolve_caps_are_cuda (GstCaps *caps);

/*
 * Posts that GstCuda, which does not say why, made no frames in the context. Where CUDA still works there, memory is
 * what is missing.
 */
void gst_cuda_convolve_post_no_cuda_frames (GstCudaConvolveContext *context, GstCudaConvolveErrors *errors);

G_END_DECLS

#endif
