/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/tracing.h"

/* Defines a function of this name, which registers the fields at the first call. The name is that of the span, too. */
GST_DEFINE_TRACE_FORMAT (cudaconvolve_frame, "element", STRING, "variant", STRING, "pts", CLOCK_TIME)

guint64
gst_cuda_convolve_span_begin (GstElement *element, const gchar *variant, GstClockTime time)
{
  return GST_TRACE_BEGIN (cudaconvolve_frame (), STRING (GST_OBJECT_NAME (element)), STRING (variant),
      CLOCK_TIME (time));
}

void
gst_cuda_convolve_span_end (guint64 span)
{
  gst_trace_span_end (span);
}
