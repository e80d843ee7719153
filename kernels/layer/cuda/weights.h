/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side that the layer's CUDA variants share: the size of a tile, and what a plan keeps for its launches. */
#ifndef CONVOLVE_LAYER_CUDA_WEIGHTS_H
#define CONVOLVE_LAYER_CUDA_WEIGHTS_H

#include "layer/common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * A tile is the rectangle of outputs that one block computes. The patch is the input under a tile: the tile times the
 * stride, with the halo that the kernel's size adds. convolve_layer_cut() sets the sizes, convolve_layer_launch() sets
 * `across`. What a variant does not use stays 0.
 */
typedef struct
{
  int across;                    /* tiles in a row of the output */
  int width, height;             /* outputs of a tile, after pooling */
  int conv_width, conv_height;   /* outputs of a tile, before pooling */
  int patch_width, patch_height; /* samples of a channel's patch */
  /* Patches in shared memory. A plane is one channel, or for gemm one channel or two (ConvolveLayerGemm). */
  int pitch, plane;   /* elements from a row to the next one, and from a plane to the next one */
  int planes, chunks; /* planes that shared memory holds at a time (a chunk), and chunks of the layer */
} ConvolveLayerTiles;

/*
 * What plan->prepared begins with in every CUDA variant: accepts() sizes the tile, and prepare() adds the weights and
 * the kernels. A variant that keeps more has a struct of its own, whose first member this is.
 */
typedef struct
{
  float *weights, *bias; /* on the device, in the order that the variant wants */
  ConvolveLayerTiles tiles;
  size_t shared;          /* bytes of dynamic shared memory of a block */
  const void *kernels[2]; /* the first; of blocked: for separate planes, and for packed pixels */
} ConvolveLayerPrepared;

/*
 * Makes plan->prepared where accepts() found none, and copies `count` words of weights and `bias_count` floats of biases to device memory that it
 * owns. Errors: NO_MEMORY, NO_DEVICE_MEMORY, DEVICE_FAILED; then a part of it may be there.
 */
ConvolveStatus convolve_layer_put (ConvolveLayerPlan *plan, const void *weights, size_t count, const float *bias,
    size_t bias_count, ConvolveError *error);

/* The same with the weights in the order of ConvolveLayer. Errors: as convolve_layer_put(). */
ConvolveStatus convolve_layer_put_plain (ConvolveLayerPlan *plan, ConvolveError *error);

/* Frees plan->prepared and the device memory that it owns; NULL and a part of it are allowed. */
void convolve_layer_device_clear (ConvolveLayerPlan *plan);

/*
 * The exponent e of the largest weight of filter k: 2^e <= the largest magnitude < 2^(e + 1). INT_MIN / 2 where all
 * weights of the filter are 0.
 */
int convolve_layer_exponent (const ConvolveLayer *layer, int k);

/* Variants on tensor cores scale the weights of each filter such that the largest is 2^14 .. 2^15. */
#define CONVOLVE_LAYER_LARGEST_EXPONENT 14

/*
 * Sets the exponents of the scales of all filters' weights, limited so that a scale's inverse is a normal float32. Writes
 * the biases of the layer to `bias`, and behind them 2^(common - exponent) of each filter: what its sums are multiplied by
 * in the end.
 */
void convolve_layer_scale_filters (const ConvolveLayer *layer, int common, int *exponents, float *bias);

/*
 * Whether the layer has one group, no dilation, and pooling windows that are whole. Otherwise *reason says what not. Only
 * shared and direct do other layers.
 */
bool convolve_layer_is_plain (const ConvolveLayer *layer, const char **reason);

/*
 * Sets the sizes of a tile of conv_width x conv_height outputs before pooling, and of its patch. Returns false where a
 * pooling window is larger than the tile.
 */
bool convolve_layer_cut (const ConvolveLayer *layer, int conv_width, int conv_height, ConvolveLayerTiles *tiles);

#define CONVOLVE_LAYER_NEEDS_SHARED "the input under a block of outputs does not fit the device's shared memory"

#ifdef __cplusplus
}
#endif

#endif
