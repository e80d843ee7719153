/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fused for PRODUCTS over 16-bit samples whose unused bits are all below them, or all above them. No result needs a
 * clamp, and the column is the same from below, as that of a gaussian is.
 */
#include "cuda/registers/border_product.cuh"
#include "cuda/registers/deep.cuh"
#include "cuda/registers/frame.cuh"
#include "cuda/registers/fused.h"

/* [3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples], and how many rows before its use a row is loaded. */
static constexpr ConvolveShape shapes[4][CONVOLVE_MAX_SAMPLES] = {
  { { 2, 4 }, { 1, 4 }, {}, { 1, 4 } },
  { { 1, 12 }, { 1, 8 }, {}, { 1, 4 } },
  { { 1, 12 }, { 1, 8 }, {}, { 1, 4 } },
  { { 1, 12 }, { 1, 12 }, {}, { 1, 4 } },
};
static constexpr int ahead[4][CONVOLVE_MAX_SAMPLES] = { { 6, 6, 0, 6 }, { 16, 4, 0, 8 }, { 4, 4, 0, 4 },
  { 4, 4, 0, 4 } };

/* The kernel's second parameter. */
template <int K>
struct FusedDeep
{
  ConvolveParts parts;
  ConvolveProductTaps<K> product;
  ConvolveBorderFloats floats;
  ConvolveDeep deep; /* without the tail */
  float row[K];
  int up; /* unused bits above a sample */
};

/*
 * As convolve_fused_product (), with fewer instructions and registers. Two row sums with the same weight are added
 * first, because additions are done beside multiplications, by units of their own. An output is finished and stored as
 * soon as its last row is there, and a row is loaded AHEAD rows before it is needed. So a tile may have many rows: the
 * row sums of the K - 1 rows above and below it, which its neighbours make again, weigh less.
 */
template <int K, int S, bool TOP>
struct FusedDeepKernel
{
  static constexpr ConvolveShape shape = shapes[K / 2 - 1][S - 1];
  static constexpr bool alone = true;
  typedef FusedDeep<K> Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps)
  {
    constexpr int W = shape.groups, R = shape.rows, AHEAD = ahead[K / 2 - 1][S - 1];
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, group = 2 * S;
    const ConvolveProductTaps<K> &product = taps.product;
    uint32_t words[rows][(W + 2) * group], cuts[rows][S][columns];

    ConvolveOrder order (image);
    if (convolve_border_product<uint16_t, S, K, false> (image, taps.parts, product))
      return;
    int2 tile = convolve_tile<W, R> (taps.parts);
    const uint8_t *from = convolve_deep_source<S, K> (image, tile);
    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S * 2);

#pragma unroll
    for (int n = -AHEAD; n < rows; n++) {
      if (n + AHEAD < rows) {
        convolve_load_deep_row<S, W, K> (from, words[n + AHEAD]);
        from += image.source_stride;
      }
      if (n < 0)
        continue;
      uint32_t clean[(W + 2) * group];

      convolve_clean_deep_row<TOP> (taps.deep, words[n], clean);
#pragma unroll
      for (int s = 0; s < S; s++) {
        float values[columns + K - 1];

#pragma unroll
        for (int i = 0; i < columns + K - 1; i++)
          values[i] = convolve_deep_value<TOP> (taps.deep, clean, (CONVOLVE_GROUP - K / 2 + i) * S + s);
#pragma unroll
        for (int c = 0; c < columns; c++) {
          float row = taps.floats.row_start;

#pragma unroll
          for (int i = 0; i < K; i++)
            row = __fmaf_rn (taps.row[i], values[c + i], row);
          cuts[n][s][c] = __float_as_uint (__fmaf_rd (row, taps.floats.cut, CONVOLVE_MAGIC));
        }
      }
      if (n < K - 1)
        continue;
      const int r = n - (K - 1);
      uint32_t totals[S][columns];

#pragma unroll
      for (int i = 0; i < S * columns; i++) {
        const int s = i / columns, c = i % columns;

        totals[s][c] = taps.floats.start[s] + (uint32_t) product.column[K / 2] * cuts[r + K / 2][s][c];
#pragma unroll
        for (int j = 0; j < K / 2; j++)
          totals[s][c] += (uint32_t) product.column[j] * (cuts[r + j][s][c] + cuts[n - j][s][c]);
      }
      convolve_store_row<uint16_t, S, S, W> (image, to, totals, words[r + K / 2] + group,
          [&] (const int *, const uint32_t *two) {
            const uint32_t both = __byte_perm (two[0], two[1], A2_A3_B2_B3);

            return (TOP ? both : both >> taps.up) & (TOP ? taps.deep.mask : taps.deep.largest);
          });
      to += image.destination_stride;
    }
  }
};

template <int K, int S>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  FusedDeep<K> taps = {};
  ConvolveBorderProduct product;

  convolve_border_product_init (plan, K, false, &product);
  taps.product = convolve_product_taps<K> (product);
  convolve_border_product_floats (plan, &product, &taps.floats);
  convolve_deep_init (plan, &taps.deep);
  for (int i = 0; i < K; i++)
    taps.row[i] = (float) product.row[i];
  taps.up = 16 - plan->pixel.depth;
  return convolve_deep_is_top (plan) ? convolve_load_plane<K, FusedDeepKernel<K, S, true> > (plan, taps, error)
                                     : convolve_load_plane<K, FusedDeepKernel<K, S, false> > (plan, taps, error);
}

ConvolveStatus
convolve_fused_load_deep (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_load_for<4, CONVOLVE_FOR_DEEP> (plan,
      [=] (auto k, auto s, auto) { return load<k, s> (plan, error); });
}
