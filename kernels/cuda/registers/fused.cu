/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/border_product.cuh"
#include "cuda/registers/fused.h"
#include "cuda/registers/floats.cuh"
#include "cuda/registers/frame.cuh"

CONVOLVE_DEVICE_FUNCTIONS (fused);

/* [8 bits, 16 bits, 16 bits of PRODUCTS][3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples] */
static constexpr ConvolveShape shapes[3][4][CONVOLVE_MAX_SAMPLES] = {
  {
      { { 2, 4 }, { 1, 8 }, { 2, 4 }, { 1, 4 } },
      { { 2, 4 }, { 1, 8 }, { 1, 6 }, { 1, 4 } },
      { { 1, 8 }, { 1, 8 }, { 1, 8 }, { 1, 4 } },
      { { 1, 8 }, { 1, 8 }, { 1, 8 }, { 1, 4 } },
  },
  {
      { { 1, 8 }, { 1, 4 }, {}, { 1, 4 } },
      { { 1, 8 }, { 1, 4 }, {}, { 1, 4 } },
      { { 1, 8 }, { 1, 4 }, {}, { 1, 4 } },
      { { 1, 8 }, { 1, 4 }, {}, { 1, 4 } },
  },
  {
      { { 1, 8 }, { 1, 4 }, {}, { 1, 4 } },
      { { 1, 8 }, { 1, 4 }, {}, { 1, 4 } },
      { { 1, 8 }, { 1, 8 }, {}, { 1, 4 } },
      { { 1, 8 }, { 1, 8 }, {}, { 1, 2 } },
  },
};

/* 16 bits of PRODUCTS in small planes, with one or two samples to a pixel. {} is where the tiles are small in any case. */
static constexpr ConvolveShape small_shapes[4][2] = {
  { { 1, 4 }, {} },
  { { 1, 4 }, {} },
  { { 1, 4 }, { 1, 4 } },
  { { 1, 4 }, { 1, 6 } },
};

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
template <typename T, int K, int S>
struct FusedKernel
{
  static constexpr ConvolveShape shape = shapes[std::is_same<T, uint16_t>::value][K / 2 - 1][S - 1];
  static constexpr bool alone = true;
  typedef FusedTaps<K> Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps)
  {
    constexpr int W = shape.groups, R = shape.rows;
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
};

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
template <typename T, int K, int S, bool SMALL>
struct FusedProductKernel
{
  static constexpr ConvolveShape shape =
      SMALL ? small_shapes[K / 2 - 1][S - 1] : shapes[std::is_same<T, uint16_t>::value ? 2 : 0][K / 2 - 1][S - 1];
  static constexpr bool alone = true;
  typedef FusedProduct<K> Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps)
  {
    constexpr int W = shape.groups, R = shape.rows;
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
};

/* Centres the factors in K weights each and loads the kernel. */
template <typename T, int K, int S>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  FusedTaps<K> taps = {};

  for (int i = 0; i < from->width; i++)
    taps.row[(K - from->width) / 2 + i] = from->row[i];
  for (int j = 0; j < from->height; j++)
    taps.column[(K - from->height) / 2 + j] = from->column[j] * convolve_tap_unit (plan);
  convolve_centre<K> (from, 1, convolve_tap_unit (plan), taps.tap);
  return convolve_load_plane<K, FusedKernel<T, K, S> > (plan, taps, error);
}

/* A small plane has too few large tiles to keep a GPU at work: less than that of a frame of 4 million pixels. */
static bool
is_small (const ConvolvePlan *plan)
{
  return plan->pixels > 0 && plan->pixels * (plan->pixel.samples == 2 ? 4 : 1) <= 1 << 22;
}

/* Loads the kernel for a mask whose arithmetic is PRODUCTS. */
template <typename T, int K, int S>
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
  if constexpr (std::is_same<T, uint16_t>::value && S <= 2 && small_shapes[K / 2 - 1][S <= 2 ? S - 1 : 0].rows != 0)
    if (is_small (plan))
      return convolve_load_plane<K, FusedProductKernel<T, K, S, true> > (plan, taps, error);
  return convolve_load_plane<K, FusedProductKernel<T, K, S, false> > (plan, taps, error);
}

template <typename T, unsigned LAYOUTS>
static ConvolveStatus
load_samples (ConvolvePlan *plan, ConvolveError *error)
{
  const bool product = plan->kernel == CONVOLVE_FUSED_PRODUCT;

  return convolve_load_for<4, LAYOUTS> (plan, [=] (auto k, auto s, auto) {
    return product ? load_product<T, k, s> (plan, error) : load<T, k, s> (plan, error);
  });
}

ConvolveStatus
convolve_fused_load (ConvolvePlan *plan, ConvolveError *error)
{
  if (plan->kernel == CONVOLVE_FUSED_DEEP_PRODUCT)
    return convolve_fused_load_deep (plan, error);
  return plan->pixel.type == CONVOLVE_SAMPLE_U16 ? load_samples<uint16_t, CONVOLVE_FOR_DEEP> (plan, error)
                                                 : load_samples<uint8_t, CONVOLVE_FOR_SAMPLES> (plan, error);
}

ConvolveStatus
convolve_fused_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_border_run (plan, plane, error);
}
