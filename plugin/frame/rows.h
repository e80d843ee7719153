/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of a mapped frame, on the host and in the stages of the device. A stage is convolve_device.h's buffer of a
 * plane.
 */
#ifndef GST_CUDA_CONVOLVE_ROWS_H
#define GST_CUDA_CONVOLVE_ROWS_H

#include "convolve_device.h"
#include "frame/crop.h"

G_BEGIN_DECLS

/* A mapped frame. */
typedef struct
{
  GstVideoFrame video;
  GstCudaConvolveCrop crop;
  gboolean on_device; /* the planes are device pointers, otherwise host pointers */
  gboolean pinned;    /* host memory is page-locked: the device copies it without the CPU's threads */
} GstCudaConvolveFrame;

/*
 * Rows first up to, but without, end of a plane on the host, for the device's copies. The rows keep the order of the
 * memory: with a negative stride the last row comes first.
 */
ConvolveRows gst_cuda_convolve_host_rows (const GstCudaConvolvePlane *shape, const GstVideoFrame *frame, guint plane,
    gint first, gint end);

/* Enqueue the copy of rows of a frame on the host to a stage, or back. */
ConvolveStatus gst_cuda_convolve_upload (ConvolveDevice *device, const GstCudaConvolveFrame *frame, guint plane,
    const ConvolveRows *rows, ConvolveError *error);
ConvolveStatus gst_cuda_convolve_download (ConvolveDevice *device, const GstCudaConvolveFrame *frame, guint plane,
    const ConvolveRows *rows, ConvolveError *error);

/* A plane of two frames: row 0, and the bytes to row 1. */
typedef struct
{
  const guint8 *source;
  guint8 *destination;
  gssize source_stride, destination_stride;
} GstCudaConvolvePlanePair;

/* The way of a plane through several iterations: from the source to the destination, over memory of one more plane. */
typedef struct
{
  guint8 *bytes;
  gssize stride;
} GstCudaConvolveScratch;

GstCudaConvolvePlanePair gst_cuda_convolve_iteration (const GstCudaConvolvePlanePair *pair,
    const GstCudaConvolveScratch *scratch, guint index, guint count);

/*
 * Where row 0 of a plane is on the device, and the bytes from there to row 1: in the frame's own memory, or in the
 * stage where the frame is on the host. A stage keeps the order of the host's memory, so its stride has the same
 * sign.
 */
guint8 *gst_cuda_convolve_first_row (const GstCudaConvolvePlane *shape, const GstCudaConvolveFrame *frame, guint plane,
    void *stage, gsize stage_stride, gssize *stride);

/* The bytes of so many planes, without padding. */
gsize gst_cuda_convolve_count_bytes (const GstCudaConvolvePlane *planes, guint n);

/*
 * Into how many strips a frame of so many bytes is best cut on its way to the device and back: 1 where both sides are on the
 * device, or where the frame is not alone.
 */
gdouble gst_cuda_convolve_count_strips (gdouble bytes, const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out,
    gboolean alone);

G_END_DECLS

#endif
