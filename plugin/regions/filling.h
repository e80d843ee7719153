/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The picture of region-picture as code values of a format. Boxes change their size with every frame, so the picture is kept
 * in levels, each half as large as the one before, and each box is drawn from the level that fits it best.
 */
#ifndef GST_CUDA_CONVOLVE_FILLING_H
#define GST_CUDA_CONVOLVE_FILLING_H

#include "frame/layout.h"
#include "convolve_region.h"
#include "files/kept_file.h"

G_BEGIN_DECLS

typedef struct
{
  ConvolveKeptFile *file; /* that the values were made of; or NULL */
  gchar *sha256;          /* of the file */
  guint color;            /* below the picture's transparent pixels */
  gboolean is_opaque;     /* the picture has no transparent pixels */
  gint width, height;
  guint16 *values;                                 /* of all groups, the levels of each group behind each other */
  gsize n_values, first[GST_VIDEO_MAX_COMPONENTS]; /* and where those of each group begin */
  gpointer on_device;                              /* a copy of the values, made at first use; or NULL */
} GstCudaConvolveFilling;

/*
 * Whether the values are not those of this picture over this colour, 0xAARRGGBB. file is NULL where there is no picture;
 * the file can be read otherwise.
 */
gboolean gst_cuda_convolve_filling_differs (const GstCudaConvolveFilling *filling, ConvolveKeptFile *file, guint color);

/* Makes the values, after clear(). */
void gst_cuda_convolve_filling_make (GstCudaConvolveFilling *filling, ConvolveKeptFile *file, guint color,
    const GstCudaConvolveLayout *layout);

/* Frees all but the copy on the device. */
void gst_cuda_convolve_filling_clear (GstCudaConvolveFilling *filling);

/*
 * The picture in a box in luma pixels, for one group of the layout: as large as it must be to cover the box with its
 * aspect ratio kept, and with its middle in the middle of the box. The values are those of the copy on the device where
 * there is one.
 */
ConvolveDrawing gst_cuda_convolve_filling_draw (const GstCudaConvolveFilling *filling,
    const GstCudaConvolveLayout *layout, guint group, ConvolveRect box);

G_END_DECLS

#endif
