/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device side of cuda/registers/border_product.h, which packed-separable and fused share: the border, the last step
 * and the store. CLAMPS is the `clamps` of convolve_border_product_init () as a template parameter.
 */
#ifndef CONVOLVE_CUDA_BORDER_PRODUCT_CUH
#define CONVOLVE_CUDA_BORDER_PRODUCT_CUH

#include "cuda/registers/border.cuh"
#include "cuda/registers/border_product.h"
#include "cuda/registers/bytes.cuh"
#include "cuda/registers/floats.cuh"

/* The product with the weights of a kernel of side K. */
template <int K>
struct ConvolveProductTaps
{
  int row[K], column[K];
  int row_start;
  uint32_t start[CONVOLVE_MAX_SAMPLES];
  int bits, middle;
};

template <int K>
static inline ConvolveProductTaps<K>
convolve_product_taps (const ConvolveBorderProduct &product)
{
  ConvolveProductTaps<K> taps = {};

  for (int i = 0; i < K; i++)
    taps.row[i] = product.row[i], taps.column[i] = product.column[i];
  for (int s = 0; s < CONVOLVE_MAX_SAMPLES; s++)
    taps.start[s] = product.start[s];
  taps.row_start = product.row_start;
  taps.bits = product.bits;
  taps.middle = product.middle;
  return taps;
}

/* The code value that a total becomes. */
template <int K, bool CLAMPS>
static __device__ __forceinline__ unsigned
convolve_product_result (const ConvolveImage &image, const ConvolveProductTaps<K> &taps, uint32_t total)
{
  return CLAMPS ? min (max (((int) total >> taps.bits) + taps.middle, 0), image.maximum) : total >> taps.bits;
}

/* One sample of four border pixels from x on, or of as many as are left of end: by rows, the cut, and the column. */
template <typename T, int K, bool CLAMPS>
static __device__ __forceinline__ void
convolve_border_product_group (const ConvolveImage &image, const ConvolveParts &parts,
    const ConvolveProductTaps<K> &taps, int x, int y, int end, int sample)
{
  int column[K + CONVOLVE_GROUP - 1];
  uint32_t totals[CONVOLVE_GROUP];

  if (!(image.select >> sample & 1)) {
    convolve_border_copy<T> (image, x, y, end, sample);
    return;
  }
  convolve_border_columns<K> (image, parts, x, column);
#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    totals[c] = taps.start[sample];
#pragma unroll(K > 5 ? 1 : K)
  for (int j = 0; j < K; j++) {
    int values[K + CONVOLVE_GROUP - 1];

    convolve_border_values<T, K> (image, parts, column, y + j - K / 2, sample, values);
#pragma unroll
    for (int c = 0; c < CONVOLVE_GROUP; c++) {
      int row = taps.row_start;

#pragma unroll
      for (int i = 0; i < K; i++)
        row += taps.row[i] * values[c + i];
      totals[c] += (uint32_t) taps.column[j] * (uint32_t) (row >> CONVOLVE_SHORT_CUT);
    }
  }
#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    if (x + c < end)
      *convolve_destination<T> (image, x + c, y, sample) =
          (T) (convolve_product_result<K, CLAMPS> (image, taps, totals[c]) << image.shift);
}

/* convolve_walk_border () for a product. */
template <typename T, int S, int K, bool CLAMPS, typename Block = ConvolveBlock>
static __device__ __forceinline__ bool
convolve_border_product (const ConvolveImage &image, const ConvolveParts &parts, const ConvolveProductTaps<K> &taps,
    const Block &block = Block ())
{
  return convolve_walk_border<S> (image, parts, block, [&] (int x, int y, int end, int sample) {
    convolve_border_product_group<T, K, CLAMPS> (image, parts, taps, x, y, end, sample);
  });
}

/*
 * The word that 4 (8-bit) or 2 (16-bit) totals become. Totals of 16-bit samples are always clamped here.
 */
template <typename T, int K, bool CLAMPS>
static __device__ __forceinline__ uint32_t
convolve_finish_product (const ConvolveImage &image, const ConvolveProductTaps<K> &taps, const uint32_t *totals)
{
  static_assert (sizeof (T) == 1 || CLAMPS, "cuda/registers/fused_deep.cu does 16-bit samples without a clamp");
  if (sizeof (T) == 1 && CLAMPS) {
    int values[4];

#pragma unroll
    for (int i = 0; i < 4; i++)
      values[i] = (int) totals[i] >> taps.bits;
    return convolve_clamp_around_middle (values);
  }
  if (sizeof (T) == 1)
    return __byte_perm (__byte_perm (totals[0], totals[1], A3_B3), __byte_perm (totals[2], totals[3], A3_B3),
        A0_A1_B0_B1);
  return convolve_product_result<K, true> (image, taps, totals[0]) << image.shift
      | convolve_product_result<K, true> (image, taps, totals[1]) << (image.shift + 16);
}

/* Stores the tile of a thread. source is that of convolve_store_sums (), C that of convolve_store_row (). */
template <typename T, int S, int C, int W, int R, int K, bool CLAMPS, int N>
static __device__ __forceinline__ void
convolve_store_products (const ConvolveImage &image, const ConvolveProductTaps<K> &taps, int2 tile,
    const uint32_t (&sums)[R][C][W * CONVOLVE_GROUP], const uint32_t (*source)[N])
{
  constexpr int bytes = S * sizeof (T), halo = (N - W * bytes) / 2;
  uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * bytes);

#pragma unroll
  for (int r = 0; r < R; r++, to += image.destination_stride)
    convolve_store_row<T, S, C, W> (image, to, sums[r], source[r] + halo, [&] (const int *, const uint32_t *totals) {
      return convolve_finish_product<T, K, CLAMPS> (image, taps, totals);
    });
}

#endif
