/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which planes a raw video format has for the kernel library. */
#ifndef GST_CUDA_CONVOLVE_LAYOUT_H
#define GST_CUDA_CONVOLVE_LAYOUT_H

#include <gst/video/video.h>

#include "convolve.h"

G_BEGIN_DECLS

/*
 * One call of convolve_run(): samples of one plane of the frame that lie alike and are equally large. Steps together
 * write every byte of a plane's rows; what is not convolved (alpha, x, odd ends) is copied by a step that selects less.
 */
typedef struct
{
  guint plane;          /* of the frame */
  gsize offset;         /* bytes from the plane's start to the first sample */
  gint width, height;   /* in pixels of this step */
  guint x_step, y_step; /* luma pixels from one to the next: 1, 2 or 4 */
  ConvolvePixel pixel;
} GstCudaConvolveStep;

/* A plane of the frame as bytes. */
typedef struct
{
  gsize row_bytes, rows; /* from the first sample to the last */
} GstCudaConvolvePlane;

typedef struct
{
  GstVideoInfo info; /* of the frames */
  guint n_steps, n_planes;
  GstCudaConvolveStep steps[GST_VIDEO_MAX_COMPONENTS];
  GstCudaConvolvePlane planes[GST_VIDEO_MAX_PLANES];
} GstCudaConvolveLayout;

/* True for formats of whole 8-bit or 16-bit words in rows, one sample of 8 to 16 bits to each word. */
gboolean gst_cuda_convolve_format_is_supported (const GstVideoFormatInfo *finfo);

/* The layout of frames with info, whose format is supported. */
void gst_cuda_convolve_layout_init (GstCudaConvolveLayout *layout, const GstVideoInfo *info);

G_END_DECLS

#endif
