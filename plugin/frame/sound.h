/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether what other elements say of a frame agrees with its memory. A frame that is not sound is never read. */
#ifndef GST_CUDA_CONVOLVE_SOUND_H
#define GST_CUDA_CONVOLVE_SOUND_H

#include "frame/layout.h"

G_BEGIN_DECLS

/*
 * Whether the buffer's GstVideoMeta, if there is one, is that of a frame with info, so that gst_video_frame_map() can be
 * called. On FALSE *fault says what differs, to be freed.
 */
gboolean gst_cuda_convolve_meta_is_sound (const GstVideoInfo *info, GstBuffer *buffer, gchar **fault);

/*
 * Whether the buffer is large enough for gst_video_frame_map(), as far as sizes tell. On FALSE *fault has the sizes, to be
 * freed.
 */
gboolean gst_cuda_convolve_buffer_has_frame (const GstVideoInfo *info, GstBuffer *buffer, gchar **fault);

/*
 * Whether the frame's planes lie inside the memory that was mapped. On FALSE *fault says which plane does not, to be
 * freed.
 */
gboolean gst_cuda_convolve_frame_is_sound (const GstCudaConvolveLayout *layout, const GstVideoFrame *frame,
    gchar **fault);

G_END_DECLS

#endif
