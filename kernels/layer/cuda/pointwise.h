/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The 1x1 kernels of gemm: what the host side and the device agree on.
 *
 * A layer of 1x1 kernels without padding and pooling has no neighbours: it is the product of a matrix of weights and, for
 * each image, the matrix of its planes. So nothing is kept in shared memory for several windows, and the planes stream
 * through. Strides are larger distances between samples, and rows without gaps are one long row.
 *
 * Each warp has a tile of its own: all filters of the block, and 128 bytes of each plane, which are 32 pixels in float32
 * and 64 in float16. It copies 16 channels at a time, a step, to a ring of its own in shared memory, and waits for no other
 * warp. A vector is 16 bytes, 4 or 8 pixels. A lane loads whole vectors, and pixel j of a vector is a column of mma tile j:
 *
 *     column    of mma tile 0    1    2    3          (float32)
 *     0              pixel  0    1    2    3          vector 0
 *     1                    16   17   18   19          vector 4
 *     2                     4    5    6    7          vector 1
 *     3                    20   21   22   23          vector 5
 *     ...
 *     7                    28   29   30   31          vector 7
 *
 * So the sums of columns 2t and 2t + 1, which lane 4g + t has in the end (mma.cuh), are vectors t and t + 4, and four
 * lanes store 64 bytes side by side.
 *
 * float32 is multiplied as TF32: a number is the sum of two terms of 11 bits, and of the four products of terms the
 * smallest is left out. TF32 has the exponents of float32, so that samples need no common scale. The second term of a
 * sample is multiplied by 2^10, and the weight that it meets by 2^-10, so that terms below TF32's smallest number do not
 * get lost.
 */
#ifndef CONVOLVE_LAYER_CUDA_POINTWISE_H
#define CONVOLVE_LAYER_CUDA_POINTWISE_H

#include "layer/cuda/weights.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LAYER_POINTWISE_WARPS 8    /* of a block */
#define CONVOLVE_LAYER_POINTWISE_STEP 16    /* channels of a step */
#define CONVOLVE_LAYER_POINTWISE_VECTOR 16  /* bytes */
#define CONVOLVE_LAYER_POINTWISE_VECTORS 8  /* of a plane, in a warp's tile */
#define CONVOLVE_LAYER_POINTWISE_FILTERS 16 /* of an mma tile */
#define CONVOLVE_LAYER_POINTWISE_SHAPES 3   /* kernels for 1, 2 or 4 mma tiles of filters */

/*
 * Steps in a warp's ring, one of which is multiplied while the others are copied. In float16 a ring of 3 is 3% faster than
 * one of 4 (tests/results/h200-layer.md).
 */
#define CONVOLVE_LAYER_POINTWISE_HALVES_STAGES 3
#define CONVOLVE_LAYER_POINTWISE_FLOATS_STAGES 4

/* Bytes from a plane to the next one in the ring: a vector more than a plane, against bank conflicts. */
#define CONVOLVE_LAYER_POINTWISE_PITCH ((CONVOLVE_LAYER_POINTWISE_VECTORS + 1) * CONVOLVE_LAYER_POINTWISE_VECTOR)

/* What the tensor cores of a warp take for the weights of 16 filters and a step: bytes, for all lanes. */
#define CONVOLVE_LAYER_POINTWISE_HALVES_BYTES 512       /* float16: one mma.m16n8k16 */
#define CONVOLVE_LAYER_POINTWISE_FLOATS_BYTES (4 * 512) /* float32: two mma.m16n8k8, two terms of weights each */

/* The factor of a sample's second term. */
#define CONVOLVE_LAYER_POINTWISE_REST_SCALE 1024

/* plan->prepared of the layers that these kernels do. */
typedef struct
{
  ConvolveLayerPrepared base;
  int steps; /* groups of 16 channels */
} ConvolveLayerPointwise;

/* Whether these kernels do the plan's layer, on a device of compute capability 8.0 or higher. */
bool convolve_layer_pointwise_takes (const ConvolveLayerPlan *plan);

/* The mma tiles of filters that a warp has: 1, 2 or 4. */
int convolve_layer_pointwise_shape (const ConvolveLayer *layer);

/* The number of words of the packed weights. */
size_t convolve_layer_pointwise_words (const ConvolveLayer *layer);

/*
 * Packs the weights as lanes load them, a vector of four words, a.x to a.w in mma.cuh: for each group of filters and each
 * step, and in float32 for each half of the step; then for each mma tile of filters; then in float32 for each term.
 * `exponents` has the scales of the filters in float16.
 *
 * Product i of an mma instruction is any channel, as long as weights and samples agree. In float32 product i is channel i.
 * In float16 the pair of products 2t and 2t + 1 is the channels t and t + 4, and 2t + 8 and 2t + 9 are t + 8 and t + 12. So
 * the lanes that load together have neighbouring channels, which are in different banks.
 */
void convolve_layer_pointwise_pack (const ConvolveLayer *layer, const int *exponents, uint32_t *packed);

/* The end of accepts(), and prepare(), load() and run() of gemm for such a layer. */
bool convolve_layer_pointwise_find (const ConvolveLayer *layer, ConvolveFound *found, const char **reason);
ConvolveStatus convolve_layer_pointwise_put (ConvolveLayerPlan *plan, ConvolveError *error);
CONVOLVE_LAYER_DEVICE_FUNCTIONS (pointwise);

#ifdef __cplusplus
}
#endif

#endif
