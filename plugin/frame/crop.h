/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The GstVideoCropMeta of a frame. Two kinds of crops are in use. videocrop and hardware decoders make the caps as
 * large as the crop, and say the size of what the memory holds in the GstVideoMeta. Others keep the caps of the whole
 * frame, of which the crop is a part.
 */
#ifndef GST_CUDA_CONVOLVE_CROP_H
#define GST_CUDA_CONVOLVE_CROP_H

#include "frame/layout.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CUDA_CONVOLVE_CROP_NONE,    /* the whole frame counts */
  GST_CUDA_CONVOLVE_CROP_PART,    /* a part of the frame counts */
  GST_CUDA_CONVOLVE_CROP_PICTURE, /* the caps' picture lies somewhere in a larger frame */
  GST_CUDA_CONVOLVE_CROP_EMPTY    /* the crop has no pixel of the frame */
} GstCudaConvolveCropKind;

/*
 * What of a frame counts: the rectangle in pixels of the caps' picture, which is the whole picture except for CROP_PART. In
 * frames of one field the rows are those of both fields.
 */
typedef struct
{
  GstCudaConvolveCropKind kind;
  ConvolveRect rect;
} GstCudaConvolveCrop;

/* The crop of a buffer with info. It is found once for each buffer. */
GstCudaConvolveCrop gst_cuda_convolve_crop_find (const GstVideoInfo *info, GstBuffer *buffer);

/*
 * The rows of a plane, from the picture's first row on, that GStreamer's own layout has room for: the layout of the larger
 * frame, where the caps' picture lies in one.
 */
gsize gst_cuda_convolve_crop_room (const GstCudaConvolveLayout *layout, const GstCudaConvolveCrop *crop,
    GstBuffer *buffer, guint plane);

/*
 * Where the caps' picture lies in a larger frame, moves the planes of the mapped frame to where the picture begins. In
 * subsampled planes that is the sample which has the picture's first pixel.
 */
void gst_cuda_convolve_crop_enter (const GstCudaConvolveLayout *layout, const GstCudaConvolveCrop *crop,
    GstVideoFrame *frame);

G_END_DECLS

#endif
