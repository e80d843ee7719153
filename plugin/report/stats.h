/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the element tells of its work: the properties active-variant, mask-info and stats. Any thread. */
#ifndef GST_CUDA_CONVOLVE_STATS_H
#define GST_CUDA_CONVOLVE_STATS_H

#include <gst/gst.h>

#include "convolve_device.h"
#include "report/maskinfo.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveStats GstCudaConvolveStats;

/* The element owns the statistics, and must outlive them. */
GstCudaConvolveStats *gst_cuda_convolve_stats_new (GstElement *element);
void gst_cuda_convolve_stats_free (GstCudaConvolveStats *stats);

/* Sets all counts to 0: the element starts. */
void gst_cuda_convolve_stats_reset (GstCudaConvolveStats *stats);

/*
 * Sets what runs, and notifies active-variant where that changes. variant and device are interned, backend is static.
 */
void gst_cuda_convolve_stats_set_variant (GstCudaConvolveStats *stats, const gchar *variant, const gchar *backend,
    const gchar *device);

/* Sets the mask that runs, or NULL. */
void gst_cuda_convolve_stats_set_mask (GstCudaConvolveStats *stats, GstCudaConvolveMaskInfo *mask);

/* Nothing runs any longer: the element stops. Notifies active-variant. */
void gst_cuda_convolve_stats_clear_variant (GstCudaConvolveStats *stats);

/* Counts a frame, and the times of a frame where they were taken. */
void gst_cuda_convolve_stats_add_frame (GstCudaConvolveStats *stats);
void gst_cuda_convolve_stats_add_times (GstCudaConvolveStats *stats, const ConvolveTimes *times);

/* The variant that runs, interned, or NULL. */
const gchar *gst_cuda_convolve_stats_get_variant (GstCudaConvolveStats *stats);

/* The value of the property mask-info; NULL where no mask runs. */
GstStructure *gst_cuda_convolve_stats_make_mask_structure (GstCudaConvolveStats *stats);

/* The value of the property stats. */
GstStructure *gst_cuda_convolve_stats_make_structure (GstCudaConvolveStats *stats);

G_END_DECLS

#endif
