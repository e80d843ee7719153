/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a frame's metadata says about one object. The numbers of its place are not checked. */
#ifndef GST_CUDA_CONVOLVE_OBJECT_H
#define GST_CUDA_CONVOLVE_OBJECT_H

#include <gst/video/video.h>
#include <math.h>

#include "boxes/region_settings.h"

G_BEGIN_DECLS

/* The id of an object that no tracker numbered. */
#define GST_CUDA_CONVOLVE_NO_ID CONVOLVE_REGION_NO_ID

/* So many names of an object are read; an object with more has none. */
#define GST_CUDA_CONVOLVE_MOST_NAMES 15

typedef struct
{
  const gchar *type;           /* interned, or NULL */
  guint64 id;                  /* the tracker's number of the object, or GST_CUDA_CONVOLVE_NO_ID */
  gdouble confidence;          /* of the detection, above 0 and up to 1; NaN where nobody told */
  gdouble x, y, width, height; /* a box in luma pixels */
  gdouble angle;               /* by which the box is turned about its centre, in radians */
  guint n_names;
  const gchar *names[GST_CUDA_CONVOLVE_MOST_NAMES + 1]; /* that classifiers gave; ends with NULL */
} GstCudaConvolveObject;

/* A confidence as it is written. Who knows none leaves 0, and some write -1. */
static inline gdouble
gst_cuda_convolve_read_confidence (gdouble written)
{
  return written > 0 && written <= 1 ? written : NAN;
}

/* A classifier's name counts where it is surer of the name than of all others together. */
static inline gboolean
gst_cuda_convolve_name_is_sure (gdouble confidence)
{
  return confidence > 0.5;
}

/* The text of a type; NULL where there is none, or nothing but blanks: such an object has no type, and is covered. */
const gchar *gst_cuda_convolve_read_type (GQuark type);

/* Adds a name, which is not copied, and is none where it has nothing but blanks. */
void gst_cuda_convolve_object_add_name (GstCudaConvolveObject *object, const gchar *name);

/*
 * The type, id, confidence and names of a region; the names live as long as the meta. The id is that of the param
 * "object_id", as DL Streamer's trackers write it: the meta's own id is a number within one frame, where it is set at
 * all. The confidence is that of the param "detection". A name is the label of any param.
 */
GstCudaConvolveObject gst_cuda_convolve_object_of_region (const GstVideoRegionOfInterestMeta *region,
    gboolean needs_names);

G_END_DECLS

#endif
