/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is done to one patch of a frame, in one group of samples: the effect from the frame as it came, into memory of the
 * patch's own, and the blending of that memory into the frame. Both are added to the batch.
 */
#ifndef GST_CUDA_CONVOLVE_EFFECTS_H
#define GST_CUDA_CONVOLVE_EFFECTS_H

#include "regions/state.h"

G_BEGIN_DECLS

/* The patch's rectangle in pixels of a group. */
ConvolveRect gst_cuda_convolve_patch_in_group (const GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch,
    const GstCudaConvolveGroup *group);

/* The size of a patch's memory: so many bytes that the memory of the next patch is aligned. */
gsize gst_cuda_convolve_patch_bytes (const GstCudaConvolveGroup *group, ConvolveRect rect);

/* rect is the patch in the group with that number, and pair is the plane of the group. Errors: NO_MEMORY, and those of the batch. */
ConvolveStatus gst_cuda_convolve_compute_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch,
    guint number, ConvolveRect rect, const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error);
ConvolveStatus gst_cuda_convolve_blend_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch,
    guint number, ConvolveRect rect, const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error);

G_END_DECLS

#endif
