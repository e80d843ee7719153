/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The caps that there are, the work that the element does to such frames, and where the work is done. For the streaming
 * thread, and for start and stop.
 */
#ifndef GST_CUDA_CONVOLVE_ENGINE_H
#define GST_CUDA_CONVOLVE_ENGINE_H

#include "base/element.h"

G_BEGIN_DECLS

/* The element owns the engine, and its other parts must outlive the engine. */
GstCudaConvolveEngine *gst_cuda_convolve_engine_new (GstCudaConvolveBase *base);
void gst_cuda_convolve_engine_free (GstCudaConvolveEngine *engine);

/* Gives up work and device, and forgets the caps. */
void gst_cuda_convolve_engine_stop (GstCudaConvolveEngine *engine);

/* Sets new caps. The work must then be made again by update(). No frame is under way. */
void gst_cuda_convolve_engine_set_caps (GstCudaConvolveEngine *engine, const GstVideoInfo *in, const GstVideoInfo *out,
    gboolean cuda_in, gboolean cuda_out);

/* What the caps say of each side; the format is UNKNOWN before the first caps. */
const GstCudaConvolveLayout *gst_cuda_convolve_engine_get_in (GstCudaConvolveEngine *engine);
const GstCudaConvolveLayout *gst_cuda_convolve_engine_get_out (GstCudaConvolveEngine *engine);
gboolean gst_cuda_convolve_engine_has_caps (GstCudaConvolveEngine *engine);

/* Whether one side is CUDA memory, and whether both sides are of one kind of memory. */
gboolean gst_cuda_convolve_engine_has_cuda_memory (GstCudaConvolveEngine *engine);
gboolean gst_cuda_convolve_engine_has_one_memory (GstCudaConvolveEngine *engine);

/* From now on a crop leaves out pixels of frames with these caps. FALSE where that was known. The work must then be made again. */
gboolean gst_cuda_convolve_engine_expect_crops (GstCudaConvolveEngine *engine);

/* Moves the work to the context of the input. The work must then be made again by update(). No frame is under way. */
void gst_cuda_convolve_engine_follow (GstCudaConvolveEngine *engine, GstBuffer *input);

/*
 * Makes the work from the settings, and opens the device where that is needed. FALSE where an error was posted; there is no
 * work then.
 */
gboolean gst_cuda_convolve_engine_update (GstCudaConvolveEngine *engine, const ConvolveProperties *properties);

/*
 * Whether the time of frames decides where they are worked on. choose_side() then says where the input is: the frame before,
 * if any, took so many nanoseconds, which are 0 where nobody knows. The choice holds for get_work().
 */
gboolean gst_cuda_convolve_engine_has_choice (GstCudaConvolveEngine *engine);
void gst_cuda_convolve_engine_choose_side (GstCudaConvolveEngine *engine, GstBuffer *input, guint64 time);

/*
 * The work for the next frame, or NULL; whether frames pass through, which a record does not let them do; and whether the
 * device works on them, or may do so.
 */
GstCudaConvolveWork *gst_cuda_convolve_engine_get_work (GstCudaConvolveEngine *engine);
gboolean gst_cuda_convolve_engine_is_passthrough (GstCudaConvolveEngine *engine);
gboolean gst_cuda_convolve_engine_is_on_device (GstCudaConvolveEngine *engine);

G_END_DECLS

#endif
