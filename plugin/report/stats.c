/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report/stats.h"

#include "report/debug.h"

struct _GstCudaConvolveStats
{
  GstElement *element;

  /* Under the element's object lock. */
  const gchar *variant; /* NULL before the first frame */
  const gchar *backend, *device;
  GstCudaConvolveMaskInfo *mask; /* or NULL */
  guint64 frames, timed_frames;
  ConvolveTimes total; /* of the timed frames */

  guint variants_told; /* for the streaming thread and start: see GST_CUDA_CONVOLVE_TELL */
};

GstCudaConvolveStats *
gst_cuda_convolve_stats_new (GstElement *element)
{
  GstCudaConvolveStats *stats = g_new0 (GstCudaConvolveStats, 1);

  stats->element = element;
  return stats;
}

void
gst_cuda_convolve_stats_free (GstCudaConvolveStats *stats)
{
  g_clear_pointer (&stats->mask, gst_cuda_convolve_mask_info_unref);
  g_free (stats);
}

void
gst_cuda_convolve_stats_reset (GstCudaConvolveStats *stats)
{
  stats->variants_told = 0;
  GST_OBJECT_LOCK (stats->element);
  stats->frames = stats->timed_frames = 0;
  stats->total = (ConvolveTimes){ 0 };
  GST_OBJECT_UNLOCK (stats->element);
}

void
gst_cuda_convolve_stats_set_variant (GstCudaConvolveStats *stats, const gchar *variant, const gchar *backend,
    const gchar *device)
{
  gboolean changed;

  GST_OBJECT_LOCK (stats->element);
  changed = stats->variant != variant; /* interned */
  stats->variant = variant;
  stats->backend = backend;
  stats->device = device;
  GST_OBJECT_UNLOCK (stats->element);
  if (changed) {
    GST_CUDA_CONVOLVE_TELL (&stats->variants_told, stats->element,
        "frames go through the variant %s, backend %s, device %s", variant, backend, device);
    g_object_notify (G_OBJECT (stats->element), "active-variant");
  }
}

void
gst_cuda_convolve_stats_set_mask (GstCudaConvolveStats *stats, GstCudaConvolveMaskInfo *mask)
{
  GstCudaConvolveMaskInfo *before;

  GST_OBJECT_LOCK (stats->element);
  before = stats->mask;
  stats->mask = mask ? gst_cuda_convolve_mask_info_ref (mask) : NULL;
  GST_OBJECT_UNLOCK (stats->element);
  g_clear_pointer (&before, gst_cuda_convolve_mask_info_unref);
}

void
gst_cuda_convolve_stats_clear_variant (GstCudaConvolveStats *stats)
{
  gst_cuda_convolve_stats_set_mask (stats, NULL);
  GST_OBJECT_LOCK (stats->element);
  stats->variant = NULL;
  GST_OBJECT_UNLOCK (stats->element);
  g_object_notify (G_OBJECT (stats->element), "active-variant");
}

void
gst_cuda_convolve_stats_add_frame (GstCudaConvolveStats *stats)
{
  GST_OBJECT_LOCK (stats->element);
  stats->frames++;
  GST_OBJECT_UNLOCK (stats->element);
}

void
gst_cuda_convolve_stats_add_times (GstCudaConvolveStats *stats, const ConvolveTimes *times)
{
  GST_OBJECT_LOCK (stats->element);
  stats->timed_frames += times->taken;
  stats->total.upload += times->upload;
  stats->total.kernel += times->kernel;
  stats->total.download += times->download;
  GST_OBJECT_UNLOCK (stats->element);
}

const gchar *
gst_cuda_convolve_stats_get_variant (GstCudaConvolveStats *stats)
{
  const gchar *variant;

  GST_OBJECT_LOCK (stats->element);
  variant = stats->variant;
  GST_OBJECT_UNLOCK (stats->element);
  return variant;
}

GstStructure *
gst_cuda_convolve_stats_make_mask_structure (GstCudaConvolveStats *stats)
{
  GstCudaConvolveMaskInfo *mask;
  GstStructure *structure;

  GST_OBJECT_LOCK (stats->element);
  mask = stats->mask ? gst_cuda_convolve_mask_info_ref (stats->mask) : NULL;
  GST_OBJECT_UNLOCK (stats->element);
  structure = mask ? gst_cuda_convolve_mask_info_make_structure (mask) : NULL;
  g_clear_pointer (&mask, gst_cuda_convolve_mask_info_unref);
  return structure;
}

GstStructure *
gst_cuda_convolve_stats_make_structure (GstCudaConvolveStats *stats)
{
  GstCudaConvolveStats now;
  guint64 timed;

  GST_OBJECT_LOCK (stats->element);
  now = *stats;
  GST_OBJECT_UNLOCK (stats->element);
  timed = MAX (now.timed_frames, 1);
  return gst_structure_new ("application/x-cudaconvolve-stats", "frames", G_TYPE_UINT64, now.frames, "variant",
      G_TYPE_STRING, now.variant ? now.variant : "none", "backend", G_TYPE_STRING, now.variant ? now.backend : "none",
      "device", G_TYPE_STRING, now.variant ? now.device : "none", "upload-time", G_TYPE_UINT64,
      now.total.upload / timed, "kernel-time", G_TYPE_UINT64, now.total.kernel / timed, "download-time", G_TYPE_UINT64,
      now.total.download / timed, NULL);
}
