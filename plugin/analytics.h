/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The metadata of GStreamer's analytics library; analytics_none.c stands in where that library is missing. */
#ifndef GST_CUDA_CONVOLVE_ANALYTICS_H
#define GST_CUDA_CONVOLVE_ANALYTICS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* A box in luma pixels; type may be NULL. */
typedef void (*GstCudaConvolveAnalyticsFunc) (const gchar *type, gdouble x, gdouble y, gdouble width, gdouble height,
    gpointer data);

/* Calls func for each object that the buffer's metadata names. FALSE where there is no such metadata. */
gboolean gst_cuda_convolve_analytics_read (GstBuffer *buffer, GstCudaConvolveAnalyticsFunc func, gpointer data);

G_END_DECLS

#endif
