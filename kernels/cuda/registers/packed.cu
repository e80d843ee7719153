/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/registers/packed.h"
#include "cuda/registers/bytes.cuh"
#include "cuda/registers/frame.cuh"

CONVOLVE_DEVICE_FUNCTIONS (packed);

/* The shapes of tiles and blocks: [3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples], and those in kernels for two planes. */
static constexpr ConvolveShape shapes[4][CONVOLVE_MAX_SAMPLES] = {
  { { 2, 4, 4 }, { 1, 8, 4 }, { 2, 4, 4 }, { 1, 4, 4 } },
  { { 2, 4, 4 }, { 1, 8, 4 }, { 1, 4, 4 }, { 1, 4, 4 } },
  { { 1, 12, 4 }, { 1, 8, 4 }, { 1, 4, 4 }, { 1, 6, 4 } },
  { { 1, 8, 4 }, { 1, 8, 4 }, { 1, 4, 4 }, { 1, 4, 4 } },
};

static constexpr ConvolveShape two_shapes[2][2] = {
  { { 2, 4, 4 }, { 1, 8, 4 } },
  { { 2, 3, 4 }, { 1, 4, 4 } },
};

/*
 * The kernel's second parameter: the weights of a K x K mask as signed bytes, four in a word, in two parts.
 *
 * - row has the weights of each mask row from its left end. K = 7 leaves three weights for the second word and K = 3
 *   for the first; the fourth byte is 0.
 * - K = 5 and K = 9 leave one weight of each row, which would fill a quarter of a word. These weights are the last
 *   column of the mask. column has them from the top, four in a word. The last word has the single weight of mask row
 *   K - 1 in its last byte.
 */
template <int K>
struct PackedTaps
{
  static constexpr int row_words = (K + 2) / 4, column_words = K % 4 == 1 ? (K + 3) / 4 : 0;

  ConvolveParts parts;
  ConvolveIntegerTail tail;
  float single[K][K]; /* all weights, for the border */
  int row[K * row_words];
  int column[column_words + 1]; /* one more, because C++ has no arrays of 0 words */
};

/*
 * The idea: 8-bit samples are multiplied as they lie in memory, without a conversion. One dp4a instruction adds four
 * products of a sample and an 8-bit weight to a sum.
 *
 * The tile is drawn in cuda/registers/border.cuh, above convolve_tile (). For each output column c of a row of input, a
 * thread takes the words of four bytes that begin at the left end of the mask. Each word goes to the sums of all rows
 * of the tile, with four weights of mask row n - r. For K = 5:
 *
 *     input row n:           s0  s1  s2  s3  s4
 *     four:                | s0  s1  s2  s3 |           dp4a with row[n - r] = w0 w1 w2 w3
 *     last column:                            s4        waits in column[s][c] until four rows are together
 *
 *     column[s][c] = s4 of the rows n - 3, n - 2, n - 1, n: dp4a with the weights of the last mask column, after the
 *     mask rows 3 and 7, and after the last mask row, whose word is 0 0 0 w.
 *
 * For example, samples 10 20 30 40 and weights 1 2 3 -1 add 10 + 40 + 90 - 40 = 100.
 *
 * C is the number of samples that are convolved, the first of the pixel. The others are copied. ABSOLUTE: the
 * magnitudes of the sums are what the tail takes.
 */
template <int K, int S, int C, bool CLAMPS, bool ABSOLUTE, bool TWO>
struct PackedKernel
{
  static constexpr ConvolveShape shape = TWO ? two_shapes[K / 2 - 1][S - 1] : shapes[K / 2 - 1][S - 1];
  static constexpr int W = shape.groups, R = shape.rows;
  static constexpr bool alone = false;
  typedef PackedTaps<K> Taps;

  template <typename Block>
  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps, const Block &block)
  {
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP;
    const ConvolveParts &parts = taps.parts;
    uint32_t words[rows][(W + 2) * S], column[C][columns];
    int sums[R][C][columns], row[K * taps.row_words], last_column[taps.column_words + 1];

    if (convolve_border<uint8_t, S, K, ABSOLUTE> (image, parts, taps.single, block))
      return;
    int2 tile = convolve_tile<W, R> (parts, block);
    convolve_load_tile<S, W, K> (image, tile, words);
    convolve_take (row, taps.row);
    convolve_take (last_column, taps.column);
#pragma unroll
    for (int i = 0; i < R * C * columns; i++)
      sums[0][0][i] = ABSOLUTE ? 0 : taps.tail.start[i / columns % C];
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
          const int left = CONVOLVE_GROUP + c - K / 2,
                    right = CONVOLVE_GROUP + c + K / 2; /* the mask's ends in bytes */

          column[s][c] =
              n == 0 ? bytes[right / 4] << (3 - right % 4) * 8 : convolve_move_down (column[s][c], bytes, right);
#pragma unroll
          for (int w = 0; w < taps.row_words; w++) {
            uint32_t four = convolve_shifted (bytes, left + 4 * w);

#pragma unroll
            for (int r = 0; r < R; r++)
              if (n - r >= 0 && n - r < K)
                sums[r][s][c] =
                    convolve_dot (four, row[(n - r < 0 || n - r >= K ? 0 : n - r) * taps.row_words + w], sums[r][s][c]);
          }
#pragma unroll
          for (int r = 0; r < R; r++)
            if (taps.column_words && n - r >= 0 && n - r < K && (n - r == K - 1 || (n - r) % 4 == 3))
              sums[r][s][c] =
                  convolve_dot (column[s][c], last_column[n - r < 0 || n - r >= K ? 0 : (n - r) / 4], sums[r][s][c]);
        }
      }

#pragma unroll
    for (int i = 0; i < R * C * columns && ABSOLUTE; i++)
      sums[0][0][i] = abs (sums[0][0][i]) + taps.tail.start[i / columns % C];
    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S);
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride)
      convolve_store_integers<S, C, W, CLAMPS> (image, taps.tail, to, sums[r], &words[r + K / 2][S]);
  }
};

template <int K, int S, bool CLAMPS, bool TWO>
using PackedSum = PackedKernel<K, S, S, CLAMPS, false, TWO>;

template <int K, int S, int C, bool CLAMPS>
static ConvolveStatus
load_sum (ConvolvePlan *plan, const PackedTaps<K> &taps, ConvolveError *error)
{
  if constexpr (C == S)
    return convolve_load_planes<PackedSum, K, S, CLAMPS> (plan, taps, error);
  return convolve_load_plane<K, PackedKernel<K, S, C, CLAMPS, false, false> > (plan, taps, error);
}

/* Packs the centred mask and loads the kernel. */
template <int K, int S, int C>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  PackedTaps<K> taps = {};

  taps.tail = *(const ConvolveIntegerTail *) plan->prepared;
  convolve_centre<K> (&plan->taps, 1, 1, taps.single);
  for (int j = 0; j < K; j++)
    for (int i = 0; i < K; i++) {
      unsigned byte = (unsigned) (int) taps.single[j][i] & 0xff;

      if (i / 4 < taps.row_words)
        taps.row[j * taps.row_words + i / 4] |= (int) (byte << i % 4 * 8);
      else
        taps.column[j / 4] |= (int) (byte << (j == K - 1 ? 3 : j % 4) * 8);
    }
  if (plan->combination == CONVOLVE_ABSOLUTE)
    return convolve_load_plane<K, PackedKernel<K, S, C, true, true, false> > (plan, taps, error);
  return taps.tail.clamps ? load_sum<K, S, C, true> (plan, taps, error) : load_sum<K, S, C, false> (plan, taps, error);
}

ConvolveStatus
convolve_packed_load (ConvolvePlan *plan, ConvolveError *error)
{
  switch (plan->kernel) {
    case CONVOLVE_PACKED_DEEP:
      return convolve_packed_load_deep (plan, error);
    case CONVOLVE_PACKED_WIDE:
      return convolve_packed_load_wide (plan, error);
    case CONVOLVE_PACKED_SETS:
      return convolve_packed_load_sets (plan, error);
    case CONVOLVE_PACKED_RING:
      return convolve_packed_load_ring (plan, error);
  }
  return convolve_load_for<4, CONVOLVE_FOR_LAYOUTS> (plan,
      [=] (auto k, auto s, auto c) { return load<k, s, c> (plan, error); });
}

ConvolveStatus
convolve_packed_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_border_run (plan, plane, error);
}
