/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a frame of a raw video format is to the kernel library: planes of bytes, and groups of samples in them. */
#ifndef GST_CUDA_CONVOLVE_LAYOUT_H
#define GST_CUDA_CONVOLVE_LAYOUT_H

#include <gst/video/video.h>

#include "convolve_form.h"

G_BEGIN_DECLS

/*
 * The samples of one plane that one call of convolve_run() takes: they have one pixel stride and one size. In most
 * formats a plane is one group; the single plane of YUY2 and similar formats is a group for each component. The
 * groups of a plane together write every byte of its rows. What is not convolved (alpha, padding, odd ends) is
 * copied: the group's pixel does not select it.
 */
typedef struct
{
  guint plane;          /* of the frame */
  gsize offset;         /* bytes from the plane's start to the first sample */
  gint width, height;   /* pixels of the group */
  guint x_step, y_step; /* luma pixels for each pixel of the group: 1, 2 or 4 */
  ConvolvePixel pixel;
  gint component[CONVOLVE_MAX_SAMPLES]; /* number of the format's component in each sample, or -1 for padding */
} GstCudaConvolveGroup;

/* A plane of the frame as bytes; the padding at the end of a row does not count. */
typedef struct
{
  gsize row_bytes, rows;
} GstCudaConvolvePlane;

typedef struct
{
  GstVideoInfo info;         /* of the frames */
  ConvolveTransfer transfer; /* of samples that stand for light; LINEAR where they are code values of the caps */
  gboolean weighed;          /* colours are multiplied by alpha, about their zero levels */
  gboolean cropped;          /* frames may have a GstVideoCropMeta: pixels outside the crop are copied */
  guint n_groups, n_planes;
  GstCudaConvolveGroup groups[GST_VIDEO_MAX_COMPONENTS];
  GstCudaConvolvePlane planes[GST_VIDEO_MAX_PLANES];
  gsize room[GST_VIDEO_MAX_PLANES]; /* rows of each plane in GStreamer's own layout, which may be more */
} GstCudaConvolveLayout;

/* Whether the format has rows of 8-bit or 16-bit words, each with one integer sample of 8 to 16 bits. */
gboolean gst_cuda_convolve_format_is_supported (const GstVideoFormatInfo *finfo);

/* The rows of a plane that GStreamer's own layout of frames with info has room for. */
gsize gst_cuda_convolve_layout_room (const GstVideoInfo *info, guint plane);

/* The layout of frames with info, whose format is supported, or has cells: then it has planes alone. */
void gst_cuda_convolve_layout_init (GstCudaConvolveLayout *layout, const GstVideoInfo *info);

/* Whether the group has luma, or chroma, that is convolved. */
gboolean gst_cuda_convolve_layout_has_luma (const GstCudaConvolveLayout *layout, guint group);
gboolean gst_cuda_convolve_layout_has_chroma (const GstCudaConvolveLayout *layout, guint group);

/*
 * Makes a group of each sample, luma first, so that luma and chroma may have different masks. For layouts whose first
 * group has both, which so is the only one.
 */
void gst_cuda_convolve_layout_split (GstCudaConvolveLayout *layout);

G_END_DECLS

#endif
