/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The launch of the layer's CUDA variants. */
#ifndef CONVOLVE_LAYER_CUDA_LAUNCH_CUH
#define CONVOLVE_LAYER_CUDA_LAUNCH_CUH

#include "cuda/device/launch.cuh"
#include "layer/cuda/image.cuh"

/* The part of the parameter that all variants share; tiles and the variants' own parts are 0. */
ConvolveLayerView convolve_layer_view (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job);

/* Enqueues a kernel on the device's stream with the view as its parameter. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_layer_enqueue (const ConvolveLayerPlan *plan, const void *kernel, ConvolveLayerView *view,
    dim3 blocks, dim3 block, size_t shared, ConvolveError *error);

/*
 * Sets tiles.across and enqueues a kernel with a block for each tile, each of the `groups` groups of filters, and each
 * image of the batch. tiles.width and tiles.height are set before. Errors: INVALID (too many tiles), DEVICE_FAILED.
 */
ConvolveStatus convolve_layer_launch (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, const void *kernel,
    ConvolveLayerView *view, int groups, dim3 block, size_t shared, ConvolveError *error);

#endif
