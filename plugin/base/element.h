/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element's object, for the files that make up its class. */
#ifndef GST_CUDA_CONVOLVE_ELEMENT_H
#define GST_CUDA_CONVOLVE_ELEMENT_H

#include <gst/base/gstbasetransform.h>

#include "base/engine.h"
#include "base/settings.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_CONVOLVE (gst_cuda_convolve_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaConvolve, gst_cuda_convolve, GST, CUDA_CONVOLVE, GstBaseTransform)

struct _GstCudaConvolve
{
  GstBaseTransform parent;

  /* Each part may use the parts above it, and none below. */
  GstCudaConvolveSettings *settings;
  GstCudaConvolveErrors *errors;
  GstCudaConvolveStats *stats;
  GstCudaConvolveDevice *device;
  GstCudaConvolveFlights *flights;
  GstCudaConvolveEngine *engine;

  /* Under the object lock. */
  gboolean started;
  gboolean asked_to_pass; /* upstream knows that its buffers go on to downstream */
  gboolean wants_query;   /* upstream was told to ask for an allocation again, and has not done so yet */

  gint looking; /* atomic: at a refusal of caps, which asks upstream */

  /* For the streaming thread, and for start and stop. */
  gboolean asked_directly;   /* upstream asked for an allocation, and gets the answer: no tee is between */
  gboolean takes_video_meta; /* downstream does */
  gboolean downstream_asks;  /* for a number of buffers */
  gboolean flowing;          /* a frame came since start, the last caps, and the last flush */
  gboolean replan;           /* settings, caps or device changed since the plans were made */
  gboolean discont;          /* the base class still has a gap to mark */
  guint queries_told, offers_told, pools_told, passthrough_told, asked_told; /* see GST_CUDA_CONVOLVE_TELL */
  gboolean broken; /* a frame under way failed: the stream must not go on without that frame */
};

G_END_DECLS

#endif
