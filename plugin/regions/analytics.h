/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of GStreamer's analytics library; analytics_none.c stands in where that library is missing. */
#ifndef GST_CUDA_CONVOLVE_ANALYTICS_H
#define GST_CUDA_CONVOLVE_ANALYTICS_H

#include <gst/gst.h>

#include "regions/patches.h"
#include "regions/tracks.h"

G_BEGIN_DECLS

/* An object as its metadata has it. The numbers are not checked. */
typedef struct
{
  const gchar *type;           /* interned, or NULL */
  guint64 id;                  /* of the track that the object is related to, or GST_CUDA_CONVOLVE_NO_ID */
  gdouble confidence;          /* NaN where nobody told */
  gdouble x, y, width, height; /* a box in luma pixels */
  gdouble angle;               /* by which the box is turned about its centre, in radians */
} GstCudaConvolveObject;

/* What is done with the metadata. A type is interned, and may be NULL. */
typedef struct
{
  gpointer data;
  gint width, height; /* of the frame */

  void (*add_object) (gpointer data, const GstCudaConvolveObject *object);
  /* A part of a region in a mask of segmentation. */
  void (*add_part) (gpointer data, const gchar *type, const GstCudaConvolveBox *box);
  /* A mask that cannot be read, and why. */
  void (*refuse_mask) (gpointer data, const gchar *fault);
} GstCudaConvolveAnalyticsReader;

/* Reads the objects and masks that the buffer's metadata has. FALSE where there is no such metadata. */
gboolean gst_cuda_convolve_analytics_read (GstBuffer *buffer, const GstCudaConvolveAnalyticsReader *reader);

/* Whether this build can read such metadata. */
gboolean gst_cuda_convolve_analytics_are_readable (void);

G_END_DECLS

#endif
