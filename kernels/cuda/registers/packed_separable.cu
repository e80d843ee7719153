/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/border_product.cuh"
#include "cuda/registers/bytes.cuh"
#include "cuda/registers/row_pairs.cuh"
#include "cuda/registers/frame.cuh"

CONVOLVE_DEVICE_FUNCTIONS (packed_separable);

/*
 * The shapes of tiles and blocks: [3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples], the same for PRODUCTS, and the shapes of
 * these in kernels for two planes.
 */
static constexpr ConvolveShape shapes[4][CONVOLVE_MAX_SAMPLES] = {
  { { 2, 4, 4 }, { 1, 4, 4 }, { 1, 4, 4 }, { 1, 4, 4 } },
  { { 2, 6, 4 }, { 1, 4, 4 }, { 1, 6, 4 }, { 1, 6, 4 } },
  { { 2, 6, 8 }, { 1, 8, 4 }, { 1, 6, 4 }, { 1, 6, 4 } },
  { { 1, 12, 2 }, { 2, 4, 4 }, { 1, 8, 4 }, { 1, 6, 4 } },
};
static constexpr ConvolveShape product_shapes[4][CONVOLVE_MAX_SAMPLES] = {
  { { 2, 4, 4 }, { 1, 4, 4 }, { 2, 2, 4 }, { 1, 4, 4 } },
  { { 2, 6, 2 }, { 1, 4, 4 }, { 1, 6, 4 }, { 1, 4, 4 } },
  { { 1, 12, 2 }, { 1, 8, 4 }, { 1, 6, 4 }, { 1, 6, 4 } },
  { { 1, 12, 2 }, { 2, 4, 4 }, { 1, 8, 4 }, { 1, 6, 4 } },
};

static constexpr ConvolveShape two_shapes[2][2] = {
  { { 2, 4, 4 }, { 1, 4, 4 } },
  { { 2, 3, 4 }, { 1, 3, 4 } },
};

/* The kernel's second parameter: a column and a row of signed bytes. */
template <int K>
struct PackedFactors
{
  ConvolveParts parts;
  ConvolveIntegerTail tail; /* its starts subtract what row_start adds to the sums */
  float single[K][K];       /* all weights, for the border */
  int row[(K + 3) / 4];     /* four weights in a word, 0 after the last */
  int column[K + 1]; /* column[k]: weight k - 1 in the first byte and weight k in the second; 0 outside the mask */
  int row_start;     /* row sums begin with this, so that they lie within -32768 .. 32767 */
};

/* sum plus two products of a signed 16-bit row sum and a signed byte. rows has a row sum in each half. */
static __device__ __forceinline__ int
dot_of_rows (uint32_t rows, int taps, int sum)
{
  int result;

  asm("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(rows), "r"(taps), "r"(sum));
  return result;
}

/*
 * The idea: as packed, for a mask that is a column times a row. A row sum is made with dp4a, four products at a time,
 * and has 16 bits. The sums of two rows fit into one word, and dp2a adds both, times their weights, to an output's
 * sum.
 *
 * The tile is drawn in cuda/registers/border.cuh, above convolve_tile (). For example, with R = 2, K = 3, the row 1 2 1
 * and the column 1 2 1, one column of the tile has the row sums h0 .. h3 of R + K - 1 = 4 rows of input:
 *
 *     n        both          for sums[0], r = 0                 for sums[1], r = 1
 *     0, 1   | h0 | h1 |     column[1] = 1, 2: h0 + 2 h1        column[0] = 0, 1: h1
 *     2, 3   | h2 | h3 |     column[3] = 1, 0: h2               column[2] = 2, 1: 2 h2 + h3
 *
 *     sums[0] = h0 + 2 h1 + h2, sums[1] = h1 + 2 h2 + h3
 *
 * The magnitudes of the row add up to 257 at most, so the largest row sum is at most 257 * 255 = 65535 above the
 * smallest. row_start moves the smallest to -32768, and all row sums fit into 16 bits.
 */
template <int K, int S, int C, bool CLAMPS>
struct PackedSeparableKernel
{
  static constexpr ConvolveShape shape = shapes[K / 2 - 1][S - 1];
  static constexpr bool alone = true;
  typedef PackedFactors<K> Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps)
  {
    constexpr int W = shape.groups, R = shape.rows;
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP;
    const ConvolveParts &parts = taps.parts;
    uint32_t words[rows][(W + 2) * S];
    int sums[R][C][columns], above[C][columns], row[(K + 3) / 4], column[K + 1];

    ConvolveOrder order (image);
    if (convolve_border<uint8_t, S, K> (image, parts, taps.single))
      return;
    int2 tile = convolve_tile<W, R> (parts);
    convolve_load_tile<S, W, K> (image, tile, words);
    convolve_take (row, taps.row);
    convolve_take (column, taps.column);
#pragma unroll
    for (int i = 0; i < R * C * columns; i++)
      sums[0][0][i] = taps.tail.start[i / columns % C];
#pragma unroll
    for (int n = 0; n < rows; n++) /* rows is even, because R is even and K is odd */
#pragma unroll
      for (int s = 0; s < C; s++) {
        uint32_t bytes[W + 3]; /* one word more, because the last word of the weights may extend beyond the group */

        bytes[W + 2] = 0;
#pragma unroll
        for (int g = 0; g < W + 2; g++)
          bytes[g] = convolve_pick_of_row<K, S, W> (words[n], g, s);
#pragma unroll
        for (int c = 0; c < columns; c++) {
          int sum = taps.row_start;

#pragma unroll
          for (int w = 0; w < (K + 3) / 4; w++)
            sum = convolve_dot (convolve_shifted (bytes, CONVOLVE_GROUP + c - K / 2 + 4 * w), row[w], sum);
          if (n % 2 == 0) {
            above[s][c] = sum;
            continue;
          }
          uint32_t both = __byte_perm (above[s][c], sum, A0_A1_B0_B1);

#pragma unroll
          for (int r = 0; r < R; r++)
            if (n - r >= 0 && n - r <= K)
              sums[r][s][c] = dot_of_rows (both, column[n - r < 0 || n - r > K ? 0 : n - r], sums[r][s][c]);
        }
      }

    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S);
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride)
      convolve_store_integers<S, C, W, CLAMPS> (image, taps.tail, to, sums[r], &words[r + K / 2][S]);
  }
};

/* The second parameter of the kernel for PRODUCTS. */
template <int K>
struct PackedProduct
{
  ConvolveParts parts;
  ConvolveProductTaps<K> product;
  int even[(K + 1) / 2], odd[(K + 1) / 2]; /* see cuda/registers/row_pairs.cuh */
};

/*
 * PRODUCTS, see cuda/registers/border_product.h. Along rows, dp2a does two products of a weight of 16 bits. Down
 * columns, one multiply-add of 32 bits does a product of a weight with a row sum: dp2a on pairs of row sums would take
 * two instructions for the two bytes of a weight, and save none.
 *
 * MIRRORED is for columns that are the same from below, as those of gaussians are, and for results that need no clamp.
 * Two row sums with the same weight are added first, because additions are done beside multiplications, by units of
 * their own.
 */
template <int K, int S, int C, bool MIRRORED, bool TWO>
struct PackedProductKernel
{
  static constexpr ConvolveShape shape = TWO ? two_shapes[K / 2 - 1][S - 1] : product_shapes[K / 2 - 1][S - 1];
  static constexpr int W = shape.groups, R = shape.rows;
  static constexpr bool alone = false;
  typedef PackedProduct<K> Taps;

  template <typename Block>
  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps, const Block &block)
  {
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP;
    const ConvolveProductTaps<K> &product = taps.product;
    uint32_t words[rows][(W + 2) * S], sums[R][C][columns], below[C][columns][rows];
    int even[(K + 1) / 2], odd[(K + 1) / 2];

    if (convolve_border_product<uint8_t, S, K, !MIRRORED> (image, taps.parts, product, block))
      return;
    int2 tile = convolve_tile<W, R> (taps.parts, block);
    convolve_load_tile<S, W, K> (image, tile, words);
    convolve_take (even, taps.even);
    convolve_take (odd, taps.odd);
#pragma unroll
    for (int i = 0; i < R * C * columns; i++)
      sums[0][0][i] = product.start[i / columns % C];
#pragma unroll
    for (int n = 0; n < rows; n++)
#pragma unroll
      for (int s = 0; s < C; s++) {
        uint32_t bytes[W + 2];

#pragma unroll
        for (int g = 0; g < W + 2; g++)
          bytes[g] = convolve_pick_of_row<K, S, W> (words[n], g, s);
#pragma unroll
        for (int c = 0; c < columns; c++) {
          uint32_t row =
              convolve_row_sum<K, S, W> (words[n], bytes, s, c, even, odd, product.row_start) >> CONVOLVE_SHORT_CUT;

          below[s][c][n] = row;
#pragma unroll
          for (int r = 0; r < R; r++)
            if (n - r >= (MIRRORED ? K / 2 : 0) && n - r < K) {
              const int j = n - r < 0 || n - r >= K ? 0 : n - r, above = MIRRORED && j > K / 2 ? r + K - 1 - j : 0;

              sums[r][s][c] += (uint32_t) product.column[j] * (MIRRORED && j > K / 2 ? row + below[s][c][above] : row);
            }
        }
      }
    convolve_store_products<uint8_t, S, C, W, R, K, !MIRRORED> (image, product, tile, sums, &words[K / 2]);
  }
};

/* Centres the factors in K weights each, packs them and loads the kernel. */
template <int K, int S, int C>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  PackedFactors<K> taps = {};
  int left = (K - from->width) / 2, top = (K - from->height) / 2;
  int least = 0, sum = 0; /* the smallest row sum, and the sum of the column's weights */

  taps.tail = *(const ConvolveIntegerTail *) plan->prepared;
  for (int i = 0; i < from->width; i++) {
    int tap = (int) from->row[i];

    taps.row[(left + i) / 4] |= (int) ((unsigned) (tap & 0xff) << (left + i) % 4 * 8);
    least += tap < 0 ? tap * 255 : 0;
  }
  for (int j = 0; j < from->height; j++) {
    int tap = (int) from->column[j];

    taps.column[top + j] |= (tap & 0xff) << 8;
    taps.column[top + j + 1] |= tap & 0xff;
    sum += tap;
  }
  convolve_centre<K> (from, 1, 1, taps.single);
  taps.row_start = -32768 - least;
  for (int s = 0; s < S; s++)
    taps.tail.start[s] -= taps.row_start * sum;
  return taps.tail.clamps ? convolve_load_plane<K, PackedSeparableKernel<K, S, C, true> > (plan, taps, error)
                          : convolve_load_plane<K, PackedSeparableKernel<K, S, C, false> > (plan, taps, error);
}

template <int K, int S, bool MIRRORED, bool TWO>
using PackedProductSum = PackedProductKernel<K, S, S, MIRRORED, TWO>;

template <int K, int S, int C, bool MIRRORED>
static ConvolveStatus
load_product_kernel (ConvolvePlan *plan, const PackedProduct<K> &taps, ConvolveError *error)
{
  if constexpr (C == S)
    return convolve_load_planes<PackedProductSum, K, S, MIRRORED> (plan, taps, error);
  return convolve_load_plane<K, PackedProductKernel<K, S, C, MIRRORED, false> > (plan, taps, error);
}

/* Loads the kernel for a mask whose arithmetic is PRODUCTS. */
template <int K, int S, int C>
static ConvolveStatus
load_product (ConvolvePlan *plan, ConvolveError *error)
{
  PackedProduct<K> taps = {};
  ConvolveBorderProduct product;
  bool mirrored = !convolve_border_product_clamps (plan);

  convolve_border_product_init (plan, K, !mirrored, &product);
  if (mirrored && !convolve_border_product_is_mirrored (&product, K)) {
    mirrored = false;
    convolve_border_product_init (plan, K, true, &product);
  }
  convolve_border_pairs (product.row, K, taps.even, taps.odd);
  taps.product = convolve_product_taps<K> (product);
  return mirrored ? load_product_kernel<K, S, C, true> (plan, taps, error)
                  : load_product_kernel<K, S, C, false> (plan, taps, error);
}

ConvolveStatus
convolve_packed_separable_load (ConvolvePlan *plan, ConvolveError *error)
{
  const bool product = plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS;

  return convolve_load_for<4, CONVOLVE_FOR_LAYOUTS> (plan, [=] (auto k, auto s, auto c) {
    return product ? load_product<k, s, c> (plan, error) : load<k, s, c> (plan, error);
  });
}

ConvolveStatus
convolve_packed_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_border_run (plan, plane, error);
}
