/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of regions.h share: one value of the type, and the frame that it works on. */
#ifndef GST_CUDA_CONVOLVE_REGIONS_STATE_H
#define GST_CUDA_CONVOLVE_REGIONS_STATE_H

#include "regions/filling.h"
#include "regions/mattes.h"
#include "regions/patches.h"
#include "regions/regions.h"
#include "regions/smooth.h"

G_BEGIN_DECLS

/* The blurs of one strength class, for each group and each kind of rows. */
typedef struct
{
  ConvolveBlur group[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS];
  ConvolvePixel pixel[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS];
} GstCudaConvolveBlurs;

/* The work that the batch holds: that of the last frame that was not done again as one before it. */
typedef struct
{
  gboolean is_valid;
  GstCudaConvolveWindows windows;
  GstCudaConvolvePlanePair pairs[GST_VIDEO_MAX_PLANES];
} GstCudaConvolveKept;

/* Where a patch is in a group, and where its effect is in the batch's memory. */
typedef struct
{
  ConvolveRect rect;
  gsize offset; /* bytes */
} GstCudaConvolvePlace;

struct _GstCudaConvolveRegions
{
  GstCudaConvolveWork work;
  GstCudaConvolveRegions
      *leader;                 /* that finds the patches, the settings and the masks which this one borrows; or NULL */
  guint64 n_changes;           /* of the patches or their weights, up to the frame that was found last, or run */
  GstCudaConvolvePlans *plans; /* for the mask as it is */
  GstCudaConvolveBlurs *by_strength[GST_CUDA_CONVOLVE_N_STRENGTHS]; /* made at first use, or NULL */
  ConvolveProperties *properties;                                   /* or NULL */
  gint fill[GST_VIDEO_MAX_COMPONENTS][CONVOLVE_MAX_SAMPLES];        /* the colour of these properties, of each group */
  GstCudaConvolveFilling filling; /* the picture in its place, without values for none */
  GstCudaConvolvePicture picture;
  ConvolveBatch *batch; /* made at first use, or NULL */
  ConvolvePool *pool;   /* of the batch, or NULL */
  GstCudaConvolveKept kept;

  guint text_faults, first_outside; /* of the property regions; first_outside is counted from 1 */
  guint faults;                     /* of the frame that find() was for */
  const gchar *whole;               /* why that whole frame is changed, or NULL */
  GstCudaConvolvePatches patches;
  GstCudaConvolveNoise *noise;                  /* the element's */
  GstCudaConvolveSmooth *smooth;                /* likewise */
  gboolean is_smooth;                           /* its weights are those of the frame that find() was for */
  GstCudaConvolveWindows windows;               /* of the frame that run() works on */
  GArray *windows_of[GST_VIDEO_MAX_COMPONENTS]; /* GstCudaConvolveWindow, of each group of this frame */
  GArray *places;                               /* GstCudaConvolvePlace, of each group with an effect, patch by patch */

  ConvolveKeptFile *mask;   /* that the plane was made of; or NULL */
  guint8 *mask_plane;       /* as large as frames; or NULL */
  ConvolveRect mask_bounds; /* of what is above 0 */
  gpointer mask_on_device;  /* a copy of the plane, made at first use; or NULL */
  gboolean has_alpha;       /* in frames of this format: */
  guint alpha_group, alpha_sample;
  ConvolveMatte mattes[CONVOLVE_MAX_MATTES]; /* of the frame that run() works on: the picture, and the alpha */
};

G_END_DECLS

#endif
