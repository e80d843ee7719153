/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the layer's CUDA variants launch. */
#ifndef CONVOLVE_LAYER_CUDA_LAUNCH_CUH
#define CONVOLVE_LAYER_CUDA_LAUNCH_CUH

#include "cuda/launch.cuh"
#include "layer/cuda/image.cuh"

/* The view without tiles. */
ConvolveLayerView convolve_layer_view (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job);

/* Enqueues a kernel. */
ConvolveStatus convolve_layer_enqueue (const ConvolveLayerPlan *plan, const void *kernel, ConvolveLayerView *view,
    dim3 blocks, dim3 block, size_t shared, ConvolveError *error);

/* Enqueues a kernel over all tiles; groups are of filters. */
ConvolveStatus convolve_layer_launch (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, const void *kernel,
    ConvolveLayerView *view, int groups, dim3 block, size_t shared, ConvolveError *error);

#endif
