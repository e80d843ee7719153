/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Error messages on the bus. One fault shows in every frame and in every query that follows, and is one message: an
 * error is left out where its text equals the text of the last error since start. Any thread.
 */
#ifndef GST_CUDA_CONVOLVE_ERRORS_H
#define GST_CUDA_CONVOLVE_ERRORS_H

#include <gst/video/video.h>

#include "convolve.h"
#include "properties/properties.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveErrors GstCudaConvolveErrors;

/* The element owns the errors, and must outlive them. */
GstCudaConvolveErrors *gst_cuda_convolve_errors_new (GstElement *element);
void gst_cuda_convolve_errors_free (GstCudaConvolveErrors *errors);

/* Forgets the last error: the element starts. */
void gst_cuda_convolve_errors_reset (GstCudaConvolveErrors *errors);

/* What the debug text of a device's error says of the frames. variant is interned, or NULL where none runs. */
void gst_cuda_convolve_errors_set_frames (GstCudaConvolveErrors *errors, const GstVideoInfo *info,
    const gchar *variant);

/* Which properties an error about a missing device may name; referenced. */
void gst_cuda_convolve_errors_set_properties (GstCudaConvolveErrors *errors, ConvolveProperties *properties);

/*
 * Posts an error. The message names the file, the function and the line of the caller. Takes debug, which may be NULL.
 */
#define gst_cuda_convolve_errors_post(errors, domain, code, text, debug) \
  gst_cuda_convolve_errors_post_from (errors, domain, code, text, debug, __FILE__, GST_FUNCTION, __LINE__)

/* Posts the error of a call of the kernel library, or of a function that fills ConvolveError as the library does. */
#define gst_cuda_convolve_errors_post_status(errors, error) \
  gst_cuda_convolve_errors_post_status_from (errors, error, __FILE__, GST_FUNCTION, __LINE__)

void gst_cuda_convolve_errors_post_from (GstCudaConvolveErrors *errors, GQuark domain, gint code, const gchar *text,
    gchar *debug, const gchar *file, const gchar *function, gint line);
void gst_cuda_convolve_errors_post_status_from (GstCudaConvolveErrors *errors, const ConvolveError *error,
    const gchar *file, const gchar *function, gint line);

/* Whether an error was posted since the start. */
gboolean gst_cuda_convolve_errors_any (GstCudaConvolveErrors *errors);

G_END_DECLS

#endif
