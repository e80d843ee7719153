/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The key of the noise of blocks, and which noise a box has. Noise that were new for every frame could be averaged away
 * over a still face, and noise that stays shows what changes from frame to frame. So each block gets two numbers: one
 * that stays as long as the box is followed from frame to frame, and one for the frame.
 */
#ifndef GST_CUDA_CONVOLVE_NOISE_H
#define GST_CUDA_CONVOLVE_NOISE_H

#include <glib.h>

#include "convolve_region.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 key[2];
  gboolean keyed;  /* there is a key for `seed` */
  guint seed;      /* 0 for a secret key */
  GArray *seen;    /* the boxes of the last frames, each with its number */
  guint64 n_boxes; /* numbers that were given */
  guint32 frame;
} GstCudaConvolveNoise;

void gst_cuda_convolve_noise_init (GstCudaConvolveNoise *noise);
void gst_cuda_convolve_noise_clear (GstCudaConvolveNoise *noise);

/* The next frame is the first of another stream, with another secret key. */
void gst_cuda_convolve_noise_forget (GstCudaConvolveNoise *noise);

/* Takes the key of a seed, or a secret one for 0; does nothing where the seed is as before. FALSE where the system gives no secret. */
gboolean gst_cuda_convolve_noise_set_seed (GstCudaConvolveNoise *noise, guint seed);

/*
 * Begins a frame. Afterwards number() gives each rectangle of the frame, in luma pixels, a number of its own: that of
 * the rectangle which it overlaps most of those that were seen in the last frames with boxes, or a new one.
 */
void gst_cuda_convolve_noise_begin (GstCudaConvolveNoise *noise);
guint64 gst_cuda_convolve_noise_number (GstCudaConvolveNoise *noise, ConvolveRect rect);

/* Fills in the noise of the blocks of box `number` in a group of samples of so many bits. */
void gst_cuda_convolve_noise_fill (const GstCudaConvolveNoise *noise, guint64 number, guint group, gint depth,
    gdouble epsilon, ConvolveBlocks *blocks);

G_END_DECLS

#endif
