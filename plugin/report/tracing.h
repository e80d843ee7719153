/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work on a frame as a span for GStreamer's tracers, from GStreamer 1.30; tracing_none.c stands in where GStreamer
 * has no spans. A tracer listens by the hooks span-begin and span-end.
 */
#ifndef GST_CUDA_CONVOLVE_TRACING_H
#define GST_CUDA_CONVOLVE_TRACING_H

#include <gst/gst.h>

G_BEGIN_DECLS

/*
 * Begins the span cudaconvolve_frame, which has the element's name, the kernel variant (NULL where none runs yet) and
 * the frame's time stamp. Gives the number of the span, for _end(), or 0 where no tracer is active. Any thread.
 */
guint64 gst_cuda_convolve_span_begin (GstElement *element, const gchar *variant, GstClockTime time);
void gst_cuda_convolve_span_end (guint64 span);

G_END_DECLS

#endif
