/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variant packed for weights of 16 bits, as masks of fractions have them, up to 5x5. */
#include "cuda/registers/packed.h"
#include "cuda/registers/row_pairs.cuh"
#include "cuda/registers/frame.cuh"

#include <string.h>

/* Groups, rows and warps: [3x3, 5x5][1, 2, 3, 4 samples]; two_shapes has those of kernels for two planes. */
static constexpr ConvolveShape shapes[2][CONVOLVE_MAX_SAMPLES] = {
  { { 2, 4, 4 }, { 1, 4, 4 }, { 1, 4, 4 }, { 1, 4, 4 } },
  { { 2, 6, 4 }, { 1, 4, 4 }, { 1, 4, 4 }, { 1, 4, 4 } },
};
static constexpr ConvolveShape two_shapes[2][2] = {
  { { 2, 4, 4 }, { 1, 4, 4 } },
  { { 2, 3, 4 }, { 1, 3, 4 } },
};

/* The kernel's second parameter: see ConvolvePackedWide. */
template <int K>
struct WideTaps
{
  static constexpr int halves = K / 2, column_words = 2 * ((K + 3) / 4);

  ConvolveParts parts;
  int tap[K][K];                                   /* for the border */
  int row[2][K * halves], column[2][column_words]; /* of ConvolvePackedPairs */
  int start[CONVOLVE_MAX_SAMPLES];                 /* of each total */
  int bits;                                        /* of a total's fraction */
};

/*
 * Four totals as four bytes. Without CLAMPS, bits is CONVOLVE_PACKED_WIDE_BITS, and the result is the third byte of
 * each total.
 */
template <bool CLAMPS>
static __device__ __forceinline__ uint32_t
finish (const int *totals, int bits)
{
  int values[CONVOLVE_GROUP];

#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    values[c] = totals[c] >> bits;
  return CLAMPS
      ? convolve_clamp_around_middle (values)
      : __byte_perm (__byte_perm (totals[0], totals[1], A2_B2), __byte_perm (totals[2], totals[3], A2_B2), A0_A1_B0_B1);
}

/* One sample of four border pixels from x on, or of as many as are left of end. */
template <int K, bool CLAMPS>
static __device__ __forceinline__ void
border_group (const ConvolveImage &image, const WideTaps<K> &taps, int x, int y, int end, int sample)
{
  int column[K + CONVOLVE_GROUP - 1], totals[CONVOLVE_GROUP];

  if (!(image.select >> sample & 1)) {
    convolve_border_copy<uint8_t> (image, x, y, end, sample);
    return;
  }
  convolve_border_columns<K> (image, taps.parts, x, column);
#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    totals[c] = taps.start[sample];
#pragma unroll
  for (int j = 0; j < K; j++) {
    int values[K + CONVOLVE_GROUP - 1];

    convolve_border_values<uint8_t, K> (image, taps.parts, column, y + j - K / 2, sample, values);
#pragma unroll
    for (int c = 0; c < CONVOLVE_GROUP; c++)
#pragma unroll
      for (int i = 0; i < K; i++)
        totals[c] += taps.tap[j][i] * values[c + i];
  }
  uint32_t four = finish<CLAMPS> (totals, taps.bits);
#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    if (x + c < end)
      *convolve_destination<uint8_t> (image, x + c, y, sample) = (uint8_t) (four >> c * 8);
}

/*
 * The idea: as packed, with weights of 16 bits. dp2a adds two products of a sample and a weight to a sum.
 *
 * The tile is drawn in cuda/registers/border.cuh, above convolve_tile (). Samples are met in pairs that begin at even
 * places, so that no byte is moved. K is odd, so each row of the mask leaves one sample without a partner: the last
 * where the mask begins at an even place, otherwise the first. These samples of four rows, or of the mask's last rows,
 * are gathered in one word and multiplied then. For K = 5:
 *
 *     place in memory:        2     3     4     5     6     7
 *     a mask from 2 on:     | s0    s1 || s2    s3 |  s4 waits
 *     a mask from 3 on:             s0 waits | s1    s2 || s3    s4 |
 *
 * C is the number of samples that are convolved, the first of the pixel. The others are copied.
 */
template <int K, int S, int C, bool CLAMPS, bool TWO>
struct PackedWideKernel
{
  static constexpr ConvolveShape shape = TWO ? two_shapes[K / 2 - 1][S - 1] : shapes[K / 2 - 1][S - 1];
  static constexpr int W = shape.groups, R = shape.rows;
  static constexpr bool alone = false;
  typedef WideTaps<K> Taps;

  template <typename Block>
  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps, const Block &block)
  {
    constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, halves = Taps::halves,
                  per_column = Taps::column_words;
    uint32_t words[rows][(W + 2) * S], waiting[C][columns];
    int totals[R][C][columns], row[2 * K * halves], column[2 * per_column];

    if (convolve_walk_border<S> (image, taps.parts, block,
            [&] (int x, int y, int end, int sample) { border_group<K, CLAMPS> (image, taps, x, y, end, sample); }))
      return;
    int2 tile = convolve_tile<W, R> (taps.parts, block);
    convolve_load_tile<S, W, K> (image, tile, words);
    convolve_take (row, *(const int (*)[2 * K * halves]) taps.row);
    convolve_take (column, *(const int (*)[2 * per_column]) taps.column);
#pragma unroll
    for (int i = 0; i < R * C * columns; i++)
      totals[0][0][i] = taps.start[i / columns % C];
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
          const int first = CONVOLVE_GROUP + c - K / 2, odd = first % 2, alone = odd ? first : first + K - 1;

          waiting[s][c] =
              n == 0 ? bytes[alone / 4] << (3 - alone % 4) * 8 : convolve_move_down (waiting[s][c], bytes, alone);
#pragma unroll
          for (int r = 0; r < R; r++) {
            const int j = n - r < 0 || n - r >= K ? 0 : n - r;

            if (j != n - r)
              continue;
#pragma unroll
            for (int i = 0; i < halves; i++) {
              const int at = first + odd + 2 * i;

              totals[r][s][c] =
                  convolve_dot_of_bytes (row[(odd * K + j) * halves + i], bytes[at / 4], at % 4 / 2, totals[r][s][c]);
            }
#pragma unroll
            for (int half = 0; half < 2; half++)
              /* Where K % 4 is 1 or 2, the rows that are left at the end fill only the upper half of the word. */
              if (j % 4 == 3 || (j == K - 1 && (half == 1 || K % 4 > 2)))
                totals[r][s][c] = convolve_dot_of_bytes (column[odd * per_column + j / 4 * 2 + half], waiting[s][c],
                    half, totals[r][s][c]);
          }
        }
      }

    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S);
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride)
      convolve_store_row<uint8_t, S, C, W> (image, to, totals[r], &words[r + K / 2][S],
          [&] (const int *, const int *four) { return finish<CLAMPS> (four, taps.bits); });
  }
};

template <int K, int S, bool CLAMPS, bool TWO>
using PackedWide = PackedWideKernel<K, S, S, CLAMPS, TWO>;

template <int K, int S, int C, bool CLAMPS>
static ConvolveStatus
load_kernel (ConvolvePlan *plan, const WideTaps<K> &taps, ConvolveError *error)
{
  if constexpr (C == S)
    return convolve_load_planes<PackedWide, K, S, CLAMPS> (plan, taps, error);
  return convolve_load_plane<K, PackedWideKernel<K, S, C, CLAMPS, false> > (plan, taps, error);
}

template <int K, int S, int C>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolvePackedWide wide;
  WideTaps<K> taps = {};

  convolve_packed_wide_init (plan, K, &wide);
  for (int j = 0; j < K; j++)
    memcpy (taps.tap[j], wide.tap[j], sizeof (taps.tap[j]));
  for (int odd = 0; odd < 2; odd++) {
    for (int k = 0; k < K * taps.halves; k++)
      taps.row[odd][k] = wide.pairs[odd].row[k / taps.halves][k % taps.halves];
    memcpy (taps.column[odd], wide.pairs[odd].column, sizeof (taps.column[odd]));
  }
  memcpy (taps.start, wide.start, sizeof (taps.start));
  taps.bits = wide.bits;
  return wide.clamps ? load_kernel<K, S, C, true> (plan, taps, error) : load_kernel<K, S, C, false> (plan, taps, error);
}

ConvolveStatus
convolve_packed_load_wide (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_load_for<2, CONVOLVE_FOR_LAYOUTS> (plan,
      [=] (auto k, auto s, auto c) { return load<k, s, c> (plan, error); });
}
