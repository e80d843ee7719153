/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host side and the kernel of gemm agree on.
 *
 * gemm is an implicit GEMM: the layer is the product of a matrix of weights, with a row for each filter, and the im2col
 * matrix, with a column for the window under each output. The im2col matrix is never made. A block keeps the patch, the
 * input under its tile of outputs, in shared memory as pairs of samples, and the sample that meets a weight is
 *
 *     patch[window of the output + offset of the pair]
 *
 * The reduction (over channels, kernel rows and kernel columns) is done in chunks of planes, and a chunk in slices of 8
 * pairs, which one mma.m16n8k16 multiplies (mma.cuh). Within a chunk the plane changes fastest, then the kernel's
 * column, then its row. A plane is one of these two, whichever needs fewer pairs:
 *
 *     channel pairs   word (y, x) of plane p = samples (y, x) of channels 2p and 2p + 1
 *     row pairs       word (y, x) of plane p = samples (y, x) and (y, x + 1) of channel p
 *
 * Example: 5 channels and a 2x2 kernel. Channel pairs have 3 planes (the sixth channel has weights of 0) and
 * 3 * 2 * 2 = 12 pairs. Row pairs have 5 planes and 5 * 2 = 10 pairs, one for each channel and kernel row. So row pairs
 * are taken: 10 pairs make 2 slices, and the last 6 pairs of the second slice have weights of 0. Where a chunk has all
 * 5 planes, pair 7 is plane 7 % 5 = 2 and kernel row 7 / 5 = 1.
 */
#ifndef CONVOLVE_LAYER_CUDA_GEMM_H
#define CONVOLVE_LAYER_CUDA_GEMM_H

#include "layer/cuda/weights.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LAYER_GEMM_LANES 32
#define CONVOLVE_LAYER_GEMM_WARPS 4 /* of a block */

/* The rows, columns and depth of one mma instruction: filters, outputs, and products or pairs of them. */
#define CONVOLVE_LAYER_GEMM_FILTERS 16
#define CONVOLVE_LAYER_GEMM_OUTPUTS 8
#define CONVOLVE_LAYER_GEMM_PRODUCTS 16
#define CONVOLVE_LAYER_GEMM_PAIRS (CONVOLVE_LAYER_GEMM_PRODUCTS / 2)

/*
 * Weights come through a pipeline in shared memory: one stage is multiplied while two are copied. A stage has four
 * vectors of 16 bytes for each lane and 16 filters: four slices with one term, or two slices with two terms.
 */
#define CONVOLVE_LAYER_GEMM_STAGES 3
#define CONVOLVE_LAYER_GEMM_STAGE_VECTORS 4

/* Words between rows of the sums that wait in shared memory for pooling, against bank conflicts. */
#define CONVOLVE_LAYER_GEMM_STAGED_GAP 8

/*
 * Numbers in two terms are scaled by powers of two, because float16 has its full precision only from 2^-14 to 2^16: the
 * largest sample of a chunk and the largest weight of each filter are brought to 2^14 .. 2^15. When the sums of a chunk
 * are added to those of the layer, the samples' scale and 2^15 are taken out, so that the sums stay in the range of
 * float32. The epilogue takes out what is left of the weights' scale.
 */
#define CONVOLVE_LAYER_GEMM_LARGEST_EXPONENT CONVOLVE_LAYER_LARGEST_EXPONENT
#define CONVOLVE_LAYER_GEMM_COMMON_EXPONENT 15

/* The kernels among which accepts() chooses. */
enum
{
  CONVOLVE_LAYER_GEMM_WINDOWS,
  CONVOLVE_LAYER_GEMM_POINTWISE /* of 1x1: pointwise.h */
};

/* plan->prepared of the variant gemm. */
typedef struct
{
  ConvolveLayerPrepared base; /* its shared memory, tile and chunks of planes */
  int plane_pairs;            /* of the reduction, for each plane */
  int slices;                 /* of a chunk: the part of the reduction that one tensor core instruction does */
  bool row_pairs; /* true: a pair is two neighbours in a row of one channel; false: the same place in two channels */
} ConvolveLayerGemm;

#define CONVOLVE_LAYER_GEMM_SHAPES 3

/* What a kernel is compiled for: a warp has `filters` x `outputs` mma tiles of 16 filters x 8 outputs. */
typedef struct
{
  int filters, outputs;
} ConvolveLayerGemmShape;

/*
 * Sets the shape that suits the layer's number of filters. Returns the index of that shape, which is below
 * CONVOLVE_LAYER_GEMM_SHAPES, in the order of the kernels in gemm.cu.
 */
int convolve_layer_gemm_shape (const ConvolveLayer *layer, ConvolveLayerGemmShape *shape);

/* Whether numbers are split into two terms of float16 (mma.cuh), because one float16 is not precise enough. */
static inline bool
convolve_layer_gemm_is_split (const ConvolveLayer *layer)
{
  return layer->type != CONVOLVE_LAYER_FLOAT16;
}

CONVOLVE_LAYER_DEVICE_FUNCTIONS (gemm);

#ifdef __cplusplus
}
#endif

#endif
