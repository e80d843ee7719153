/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The weights of regions, smoothed over time: region-smooth. For one thread at a time. */
#ifndef GST_CUDA_CONVOLVE_SMOOTH_H
#define GST_CUDA_CONVOLVE_SMOOTH_H

#include <gst/gst.h>

#include "convolve_device.h"
#include "convolve_pool.h"
#include "convolve_region.h"
#include "regions/frametime.h"

G_BEGIN_DECLS

#define GST_CUDA_CONVOLVE_SMOOTH_PLANES (CONVOLVE_MAX_FRAMES + 1)

/* All zero before the first frame. */
typedef struct
{
  gint width, height;                              /* luma pixels of a frame */
  guint16 *state;                                  /* the smoothed weights in 1/65280 */
  guint8 *target;                                  /* those of the last frame as they were, in 1/255 */
  ConvolveBatch *batch;                            /* which draws them */
  GstCudaConvolveMoment then;                      /* of the last frame; no frame where there is no state */
  guint8 *planes[GST_CUDA_CONVOLVE_SMOOTH_PLANES]; /* results in 1/255, made at first use */
  guint current;                                   /* the plane of the last frame */
} GstCudaConvolveSmooth;

void gst_cuda_convolve_smooth_clear (GstCudaConvolveSmooth *smooth);

/* The next frame is the first one, whose weights are taken as they are. */
void gst_cuda_convolve_smooth_forget (GstCudaConvolveSmooth *smooth);

/*
 * Goes on to a frame of that size, where boxes and mattes have the weights of the area: with x_step and y_step of 1, and not outside.
 * area is NULL where no weight is above 0. The frame before has the distance d in time, in nanoseconds; constant is above 0. In
 * luma pixel (x, y), with r rounding half up,
 *
 *   t = 256 * r (255 * w / 256)                     w the weight, 0 to 256
 *   a = min (r (65536 * (1 - exp (-d / constant))), 65535), but 65536 for the first frame
 *   s = s + |t - s| * a / 65536 towards t, the step rounded up
 *   weight of the frame: (s + 128) / 256, rounded down; in 1/255
 *
 * So weights arrive where they go to. A frame that was seen already is not counted again. Threads of the pool share the work; with
 * NULL the caller works alone. FALSE without memory.
 */
gboolean gst_cuda_convolve_smooth_advance (GstCudaConvolveSmooth *smooth, gint width, gint height,
    const ConvolveArea *area, const GstCudaConvolveMoment *now, GstClockTime constant, ConvolvePool *pool);

/* The weights of the last frame, row by row. They stay until so many frames follow as a device may have under way. */
const guint8 *gst_cuda_convolve_smooth_plane (const GstCudaConvolveSmooth *smooth);

G_END_DECLS

#endif
