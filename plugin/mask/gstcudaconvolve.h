/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element cudaconvolve: frames are convolved with a mask, whole or in regions. */
#ifndef GST_CUDA_CONVOLVE_H
#define GST_CUDA_CONVOLVE_H

#include "base/gstcudaconvolvebase.h"
#include "regions/faults.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_CONVOLVE (gst_cuda_convolve_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaConvolve, gst_cuda_convolve, GST, CUDA_CONVOLVE, GstCudaConvolveBase)

/* All members but the base class's are the streaming thread's. */
struct _GstCudaConvolve
{
  GstCudaConvolveBase base;

  GstCudaConvolvePlans *plans;     /* or NULL */
  GstCudaConvolveRegions *regions; /* for the plans, where only parts of the frames change, or NULL */
  GstCudaConvolveWork *inner;      /* the regions or the plans, in their inner form where they have one; or NULL */
  GstCudaConvolveDetections *detections;
  GstCudaConvolveNoise noise;
  GstCudaConvolveSmooth smooth;
  gboolean left;            /* the frame that comes next to look() has waited */
  gboolean plans_fit;       /* the caps are still those that the plans were made for */
  gboolean looked;          /* for the regions of the next frame */
  ConvolveProperties *good; /* what the last plans that could be made were made from, or NULL */

  guint plans_told, choices_told;               /* see GST_CUDA_CONVOLVE_TELL */
  guint faults_told;                            /* bits of gst_cuda_convolve_windows_faults() that the user knows */
  gboolean transfer_told;                       /* the user knows that the caps do not say what light is */
  guint boxes_told;                             /* bits of gst_cuda_convolve_regions_faults() likewise */
  gchar *settings_warning, *components_warning; /* the texts of the warnings that stand, or NULL */
};

GST_ELEMENT_REGISTER_DECLARE (cudaconvolve)

G_END_DECLS

#endif
