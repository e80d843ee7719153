/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mapped frame's planes as rows in memory, on the host and on the device's stages. */
#ifndef GST_CUDA_CONVOLVE_ROWS_H
#define GST_CUDA_CONVOLVE_ROWS_H

#include "convolve_device.h"
#include "layout.h"

G_BEGIN_DECLS

/* A mapped frame: its planes are device pointers or host pointers. */
typedef struct
{
  GstVideoFrame video;
  gboolean on_device;
  gboolean pinned; /* host memory that the device copies by itself, while others work */
} GstCudaConvolveFrame;

/*
 * Rows first up to end of a plane that is on the host, as the device's copies take them: in the order they have in
 * memory, so that with a negative stride the last row comes first.
 */
ConvolveRows gst_cuda_convolve_host_rows (const GstCudaConvolvePlane *shape, const GstVideoFrame *frame, guint plane,
    gint first, gint end);

/*
 * Where row 0 of a plane is on the device, and the step to row 1: in the frame's own memory, or in the stage that takes
 * its rows.
 */
guint8 *gst_cuda_convolve_first_row (const GstCudaConvolvePlane *shape, const GstCudaConvolveFrame *frame, guint plane,
    void *stage, gsize stage_stride, gssize *stride);

G_END_DECLS

#endif
