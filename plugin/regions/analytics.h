/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of GStreamer's analytics library; analytics_none.c stands in where that library is missing. */
#ifndef GST_CUDA_CONVOLVE_ANALYTICS_H
#define GST_CUDA_CONVOLVE_ANALYTICS_H

#include <gst/gst.h>

#include "regions/object.h"
#include "regions/patches.h"

G_BEGIN_DECLS

/* What is done with the metadata. */
typedef struct
{
  gpointer data;
  gint width, height;      /* of the frame */
  gboolean needs_names;    /* of objects */
  gboolean takes_unlisted; /* samples of masks whose id is not in the mask's list */

  void (*add_object) (gpointer data, const GstCudaConvolveObject *object);
  /* A part of a region in a mask of segmentation. The object says what the region is, and has no place. */
  void (*add_part) (gpointer data, const GstCudaConvolveObject *object, const GstCudaConvolveBox *box);
  /* A mask that cannot be read, and why. */
  void (*refuse_mask) (gpointer data, const gchar *fault);
} GstCudaConvolveAnalyticsReader;

/* Reads the objects and masks that the buffer's metadata has. FALSE where there is no such metadata. */
gboolean gst_cuda_convolve_analytics_read (GstBuffer *buffer, const GstCudaConvolveAnalyticsReader *reader);

/* Whether this build can read such metadata. */
gboolean gst_cuda_convolve_analytics_are_readable (void);

G_END_DECLS

#endif
