/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/border.cuh"
#include "cuda/registers/border_product.cuh"
#include "cuda/registers/fused.h"
#include "cuda/registers/floats.cuh"

CONVOLVE_DEVICE_FUNCTIONS (fused);

/* The kernel's second parameter. */
template <int K>
struct FusedTaps
{
  ConvolveParts parts;
  float row[K], column[K]; /* smaller masks stand in the middle, with 0 around them */
  float tap[K][K];         /* the product of both, for the border */
};

/*
 * The idea: the two passes of a rank-1 mask in one. Sums along the rows stay in registers and are not stored between
 * the passes.
 *
 * The tile is drawn in cuda/registers/border.cuh, above convolve_tile (). A thread makes the row sums of one row of
 * input after the other, and adds each to the sums of all outputs whose mask has this row. Row n meets the weight
 * column[n - r] for outputs of row r. An output takes K products with row sums, and shares its K row sums with the
 * outputs above and below.
 *
 * For example, the mask 1 2 1 down and 1 2 1 across, with W = 1 and R = 2, and the samples of row n = 1:
 *
 *     samples              5   6   7   8   9  10         K - 1 more than outputs
 *     row[c]                  24  28  32  36             5 + 2 * 6 + 7 = 24, and so on
 *     sums[0][c] +=           48  56  64  72             column[1] = 2
 *     sums[1][c] +=           24  28  32  36             column[0] = 1
 */
template <typename T, int K, int S, int W, int R>
__global__ void __launch_bounds__ (CONVOLVE_LANES *CONVOLVE_WARPS)
    convolve_fused (const __grid_constant__ ConvolveImage image, const __grid_constant__ FusedTaps<K> taps)
{
  constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, bytes = S * sizeof (T);
  const ConvolveParts &parts = taps.parts;
  uint32_t words[rows][(W + 2) * bytes];
  float sums[R][S][columns];

  ConvolveOrder order (image);
  if (convolve_border<T, S, K> (image, parts, taps.tap))
    return;
  int2 tile = convolve_tile<W, R> (parts);
  convolve_load_tile<bytes, W, K> (image, tile, words);
#pragma unroll
  for (int i = 0; i < R * S * columns; i++)
    sums[0][0][i] = 0;
#pragma unroll
  for (int n = 0; n < rows; n++)
#pragma unroll
    for (int s = 0; s < S; s++) {
      float row[columns], values[columns + K - 1];

#pragma unroll
      for (int i = 0; i < columns + K - 1; i++)
        values[i] = convolve_value<T> (image, words[n], (CONVOLVE_GROUP - K / 2 + i) * S + s);
#pragma unroll
      for (int c = 0; c < columns; c++) {
        row[c] = 0;
#pragma unroll
        for (int i = 0; i < K; i++)
          row[c] += taps.row[i] * values[c + i];
#pragma unroll
        for (int r = 0; r < R; r++)
          if (n - r >= 0 && n - r < K)
            sums[r][s][c] += taps.column[n - r < 0 || n - r >= K ? 0 : n - r] * row[c];
      }
    }
  convolve_store_sums<T, S, W, R> (image, tile, sums, &words[K / 2]);
}

/* The second parameter of the kernel for PRODUCTS. */
template <int K>
struct FusedProduct
{
  ConvolveParts parts;
  ConvolveProductTaps<K> product;
  ConvolveBorderFloats floats;
  float row[K];
};

/*
 * PRODUCTS, see cuda/registers/border_product.h. Row sums are exact in single precision, because none reaches 2^24
 * times the samples' factor. The cut is one instruction: the row sum is scaled and rounded down into the low bits of
 * CONVOLVE_MAGIC. The integer products down columns take these bits as they are, and the start has what CONVOLVE_MAGIC
 * adds less.
 */
template <typename T, int K, int S, int W, int R>
__global__ void __launch_bounds__ (CONVOLVE_LANES *CONVOLVE_WARPS)
    convolve_fused_product (const __grid_constant__ ConvolveImage image, const __grid_constant__ FusedProduct<K> taps)
{
  constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, bytes = S * sizeof (T);
  const ConvolveProductTaps<K> &product = taps.product;
  uint32_t words[rows][(W + 2) * bytes], sums[R][S][columns];

  ConvolveOrder order (image);
  if (convolve_border_product<T, S, K, true> (image, taps.parts, product))
    return;
  int2 tile = convolve_tile<W, R> (taps.parts);
  convolve_load_tile<bytes, W, K> (image, tile, words);
#pragma unroll
  for (int i = 0; i < R * S * columns; i++)
    sums[0][0][i] = taps.floats.start[i / columns % S];
#pragma unroll
  for (int n = 0; n < rows; n++)
#pragma unroll
    for (int s = 0; s < S; s++) {
      float values[columns + K - 1];

#pragma unroll
      for (int i = 0; i < columns + K - 1; i++)
        values[i] = convolve_value<T> (image, words[n], (CONVOLVE_GROUP - K / 2 + i) * S + s);
#pragma unroll
      for (int c = 0; c < columns; c++) {
        float row = taps.floats.row_start;

#pragma unroll
        for (int i = 0; i < K; i++)
          row = __fmaf_rn (taps.row[i], values[c + i], row);
        uint32_t bits = __float_as_uint (__fmaf_rd (row, taps.floats.cut, CONVOLVE_MAGIC));

#pragma unroll
        for (int r = 0; r < R; r++)
          if (n - r >= 0 && n - r < K)
            sums[r][s][c] += (uint32_t) product.column[n - r < 0 || n - r >= K ? 0 : n - r] * bits;
      }
    }
  convolve_store_products<T, S, S, W, R, K, true> (image, product, tile, sums, &words[K / 2]);
}

/* Centres the factors in K weights each and loads the kernel. */
template <typename T, int K, int S, int W, int R>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  FusedTaps<K> taps = {};
  int left = (K - from->width) / 2, top = (K - from->height) / 2;

  for (int i = 0; i < from->width; i++)
    taps.row[left + i] = from->row[i];
  for (int j = 0; j < from->height; j++) {
    taps.column[top + j] = from->column[j] * convolve_tap_unit (plan);
    for (int i = 0; i < from->width; i++)
      taps.tap[top + j][left + i] = from->taps[j * from->width + i] * convolve_tap_unit (plan);
  }
  return convolve_border_load<K, W, R> (plan, (const void *) convolve_fused<T, K, S, W, R>, taps, CONVOLVE_WARPS,
      error);
}

/* Loads the kernel for a mask whose arithmetic is PRODUCTS. */
template <typename T, int K, int S, int W, int R>
static ConvolveStatus
load_product (ConvolvePlan *plan, ConvolveError *error)
{
  FusedProduct<K> taps = {};
  ConvolveBorderProduct product;

  convolve_border_product_init (plan, K, true, &product);
  convolve_border_product_floats (plan, &product, &taps.floats);
  taps.product = convolve_product_taps<K> (product);
  for (int i = 0; i < K; i++)
    taps.row[i] = (float) product.row[i];
  return convolve_border_load<K, W, R> (plan, (const void *) convolve_fused_product<T, K, S, W, R>, taps,
      CONVOLVE_WARPS, error);
}

/* A small plane has too few large tiles to keep a GPU at work: less than that of a frame of 4 million pixels. */
static bool
is_small (const ConvolvePlan *plan)
{
  return plan->pixels > 0 && plan->pixels * (plan->pixel.samples == 2 ? 4 : 1) <= 1 << 22;
}

static ConvolveStatus
load_products (ConvolvePlan *plan, ConvolveError *error)
{
  /* [sample type][3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples]; the last two arguments are W and R. */
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, ConvolveError * error);
  static const Load loads[CONVOLVE_N_SAMPLE_TYPES][4][CONVOLVE_MAX_SAMPLES] = {
    {
        { load_product<uint8_t, 3, 1, 2, 4>, load_product<uint8_t, 3, 2, 1, 8>, load_product<uint8_t, 3, 3, 2, 4>,
            load_product<uint8_t, 3, 4, 1, 4> },
        { load_product<uint8_t, 5, 1, 2, 4>, load_product<uint8_t, 5, 2, 1, 8>, load_product<uint8_t, 5, 3, 1, 6>,
            load_product<uint8_t, 5, 4, 1, 4> },
        { load_product<uint8_t, 7, 1, 1, 8>, load_product<uint8_t, 7, 2, 1, 8>, load_product<uint8_t, 7, 3, 1, 8>,
            load_product<uint8_t, 7, 4, 1, 4> },
        { load_product<uint8_t, 9, 1, 1, 8>, load_product<uint8_t, 9, 2, 1, 8>, load_product<uint8_t, 9, 3, 1, 8>,
            load_product<uint8_t, 9, 4, 1, 4> },
    },
    {
        { load_product<uint16_t, 3, 1, 1, 8>, load_product<uint16_t, 3, 2, 1, 4>, NULL,
            load_product<uint16_t, 3, 4, 1, 4> },
        { load_product<uint16_t, 5, 1, 1, 8>, load_product<uint16_t, 5, 2, 1, 4>, NULL,
            load_product<uint16_t, 5, 4, 1, 4> },
        { load_product<uint16_t, 7, 1, 1, 8>, load_product<uint16_t, 7, 2, 1, 8>, NULL,
            load_product<uint16_t, 7, 4, 1, 4> },
        { load_product<uint16_t, 9, 1, 1, 8>, load_product<uint16_t, 9, 2, 1, 8>, NULL,
            load_product<uint16_t, 9, 4, 1, 2> },
    },
  };
  /* Tiles for small planes of 16-bit samples, one or two to a pixel: [3x3, 5x5, 7x7, 9x9][1, 2 samples]. */
  static const Load small[4][2] = {
    { load_product<uint16_t, 3, 1, 1, 4>, load_product<uint16_t, 3, 2, 1, 4> },
    { load_product<uint16_t, 5, 1, 1, 4>, load_product<uint16_t, 5, 2, 1, 4> },
    { load_product<uint16_t, 7, 1, 1, 4>, load_product<uint16_t, 7, 2, 1, 4> },
    { load_product<uint16_t, 9, 1, 1, 4>, load_product<uint16_t, 9, 2, 1, 6> },
  };
  const int size = convolve_border_size (plan);

  if (is_small (plan) && plan->pixel.type == CONVOLVE_SAMPLE_U16 && plan->pixel.samples < 4)
    return small[size][plan->pixel.samples / 2](plan, error);
  return loads[plan->pixel.type][size][plan->pixel.samples - 1](plan, error);
}

ConvolveStatus
convolve_fused_load (ConvolvePlan *plan, ConvolveError *error)
{
  if (plan->kernel == CONVOLVE_FUSED_DEEP_PRODUCT)
    return convolve_fused_load_deep (plan, error);
  if (plan->kernel == CONVOLVE_FUSED_PRODUCT)
    return load_products (plan, error);

  /* [sample type][3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples]; the last two arguments are W and R. */
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, ConvolveError * error);
  static const Load loads[CONVOLVE_N_SAMPLE_TYPES][4][CONVOLVE_MAX_SAMPLES] = {
    {
        { load<uint8_t, 3, 1, 2, 4>, load<uint8_t, 3, 2, 1, 8>, load<uint8_t, 3, 3, 2, 4>, load<uint8_t, 3, 4, 1, 4> },
        { load<uint8_t, 5, 1, 2, 4>, load<uint8_t, 5, 2, 1, 8>, load<uint8_t, 5, 3, 1, 6>, load<uint8_t, 5, 4, 1, 4> },
        { load<uint8_t, 7, 1, 1, 8>, load<uint8_t, 7, 2, 1, 8>, load<uint8_t, 7, 3, 1, 8>, load<uint8_t, 7, 4, 1, 4> },
        { load<uint8_t, 9, 1, 1, 8>, load<uint8_t, 9, 2, 1, 8>, load<uint8_t, 9, 3, 1, 8>, load<uint8_t, 9, 4, 1, 4> },
    },
    {
        { load<uint16_t, 3, 1, 1, 8>, load<uint16_t, 3, 2, 1, 4>, NULL, load<uint16_t, 3, 4, 1, 4> },
        { load<uint16_t, 5, 1, 1, 8>, load<uint16_t, 5, 2, 1, 4>, NULL, load<uint16_t, 5, 4, 1, 4> },
        { load<uint16_t, 7, 1, 1, 8>, load<uint16_t, 7, 2, 1, 4>, NULL, load<uint16_t, 7, 4, 1, 4> },
        { load<uint16_t, 9, 1, 1, 8>, load<uint16_t, 9, 2, 1, 4>, NULL, load<uint16_t, 9, 4, 1, 4> },
    },
  };
  return loads[plan->pixel.type][convolve_border_size (plan)][plan->pixel.samples - 1](plan, error);
}

ConvolveStatus
convolve_fused_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_border_run (plan, plane, error);
}
