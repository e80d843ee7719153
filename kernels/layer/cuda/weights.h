/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the layer's CUDA variants decide on the host: tiles, and the weights on the device. */
#ifndef CONVOLVE_LAYER_CUDA_WEIGHTS_H
#define CONVOLVE_LAYER_CUDA_WEIGHTS_H

#include "layer/common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* How a kernel cuts the convolution into tiles, and each tile's input; kernels take of it what they need. */
typedef struct
{
  int across;                    /* tiles in a row */
  int width, height;             /* outputs of a tile, after pooling */
  int conv_width, conv_height;   /* the same before pooling */
  int patch_width, patch_height; /* the input under it */
  int pitch, plane;              /* words of shared memory from row to row and from channel to channel of a patch */
  int planes, chunks;            /* channels or pairs of them in shared memory at once, and how many times that is */
} ConvolveLayerTiles;

/* What a device variant keeps in plan->prepared. */
typedef struct
{
  float *weights, *bias; /* on the device, as the variant has laid them out */
  ConvolveLayerTiles tiles;
  size_t shared;                  /* bytes of shared memory of a block */
  const void *kernels[2];         /* the second is for pixels of four bytes */
  int steps;                      /* of gemm: products of 16 in a chunk */
  bool along;                     /* of gemm: pairs of samples are neighbours in a row, not in channels */
  void *weight_spectra, *scratch; /* of fft; scratch is taken by the first run that needs it */
  size_t scratch_bytes;
} ConvolveLayerMemory;

/* Copies both to device memory that the plan owns, and makes plan->prepared. weights is count words. */
ConvolveStatus convolve_layer_put (ConvolveLayerPlan *plan, const void *weights, size_t count, const float *bias,
    size_t bias_count, ConvolveError *error);

/* prepare () of variants that take the weights as they are. */
ConvolveStatus convolve_layer_put_plain (ConvolveLayerPlan *plan, ConvolveError *error);

/* Frees plan->prepared and what belongs to it. */
void convolve_layer_device_clear (ConvolveLayerPlan *plan);

/* The exponent of filter k's largest weight: it is 2^exponent .. 2^(exponent + 1). INT_MIN / 2 where all are 0. */
int convolve_layer_exponent (const ConvolveLayer *layer, int k);

/* Fills what follows from the size of a tile before pooling. False where a pooling window is larger than that. */
bool convolve_layer_cut (const ConvolveLayer *layer, int conv_width, int conv_height, ConvolveLayerTiles *tiles);

#define CONVOLVE_LAYER_NEEDS_SHARED "the input under a block of outputs does not fit the device's shared memory"

#ifdef __cplusplus
}
#endif

#endif
