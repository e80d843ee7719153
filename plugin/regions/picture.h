/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What frames are, as far as boxes know. */
#ifndef GST_CUDA_CONVOLVE_PICTURE_H
#define GST_CUDA_CONVOLVE_PICTURE_H

#include "plans/plans.h"

G_BEGIN_DECLS

/* The samples of a plane along one direction. Each stands for `step` luma pixels. */
typedef struct
{
  gint step, count;
  gint least; /* so many samples side by side hide what they show, once a block has made one value of them */
} GstCudaConvolveLine;

typedef struct
{
  gint width, height; /* luma pixels */
  gint y_unit;        /* luma rows whose samples belong together: rows of chroma in fields do two by two */
  gint block;         /* least side of a block that hides, in luma pixels */
  guint n_across, n_down;
  GstCudaConvolveLine across[8], down[8]; /* of all planes that change */
} GstCudaConvolvePicture;

/* Of the frames that the plans are for. */
void gst_cuda_convolve_picture_init (GstCudaConvolvePicture *picture, const GstCudaConvolvePlans *plans);

G_END_DECLS

#endif
