/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of GStreamer's analytics library; analytics_none.c stands in where that library is missing. */
#ifndef GST_CUDA_CONVOLVE_ANALYTICS_H
#define GST_CUDA_CONVOLVE_ANALYTICS_H

#include <gst/gst.h>

#include "patches.h"

G_BEGIN_DECLS

/* type may be NULL. */
typedef void (*GstCudaConvolveAnalyticsFunc) (const gchar *type, const GstCudaConvolveBox *box, gpointer data);

/*
 * Calls func for each object that the buffer's metadata names, and for the parts of each region of a segmentation mask.
 * FALSE where there is no such metadata.
 */
gboolean gst_cuda_convolve_analytics_read (GstBuffer *buffer, GstCudaConvolveAnalyticsFunc func, gpointer data);

/* Whether this build can read such metadata. */
gboolean gst_cuda_convolve_analytics_are_readable (void);

G_END_DECLS

#endif
