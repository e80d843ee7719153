/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the device or the CPU works on the frames of a stream, where either may. Some frames go to the device and then some
 * to the CPU, and both are timed as the element runs. The faster side gets the frames that follow, and at a tie the device.
 * After thousands of frames, or where frames become slow, both sides are timed again.
 */
#ifndef GST_CUDA_CONVOLVE_CONTEST_H
#define GST_CUDA_CONVOLVE_CONTEST_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  GST_CUDA_CONVOLVE_DEVICE,
  GST_CUDA_CONVOLVE_HOST,
  GST_CUDA_CONVOLVE_N_SIDES
} GstCudaConvolveSide;

/* Open for who reads; only the functions below change it. */
typedef struct
{
  GstCudaConvolveSide side; /* that gets the next frame */
  gboolean settled;         /* the side was chosen, and is not being timed */
  guint64
      best[GST_CUDA_CONVOLVE_N_SIDES]; /* nanoseconds for a frame in the side's best round, G_MAXUINT64 before one */
  guint64 sum;                         /* of the round's times */
  guint frames;                        /* of the side, since its timing began or since the choice */
  guint slow; /* of these, frames that took much longer than they should, less those that did not */
} GstCudaConvolveContest;

/* Times both sides from the start: the first frame goes to the device. */
void gst_cuda_convolve_contest_begin (GstCudaConvolveContest *contest);

/* A frame of contest->side took so many nanoseconds. TRUE where that settles which side gets the frames that follow. */
gboolean gst_cuda_convolve_contest_add (GstCudaConvolveContest *contest, guint64 time);

G_END_DECLS

#endif
