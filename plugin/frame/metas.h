/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which metas stay true of a frame whose samples have changed. */
#ifndef GST_CUDA_CONVOLVE_METAS_H
#define GST_CUDA_CONVOLVE_METAS_H

#include <gst/video/video.h>

G_BEGIN_DECLS

/*
 * Whether metas of this API stay true where samples change and stay in their places. What belongs to the memory is left to
 * the base class.
 */
gboolean gst_cuda_convolve_meta_stays_true (GType api);

/* Removes the metas of a writable buffer whose samples are going to change in place, and that do not stay true. */
void gst_cuda_convolve_metas_forget (GstBuffer *buffer);

/*
 * Whether upstream may attach metas of this API because downstream understands them. cuts tells whether the element keeps
 * to the rectangle of a GstVideoCropMeta.
 */
gboolean gst_cuda_convolve_meta_is_offered (GType api, gboolean cuts);

G_END_DECLS

#endif
