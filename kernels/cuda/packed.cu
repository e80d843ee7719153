/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/border.cuh"

CONVOLVE_DEVICE_FUNCTIONS (packed);

/*
 * The weights of a K x K mask, four in a word. A row of the mask is full words from its left end and, where 3 weights
 * are left, one that is not full. Where 1 is left, the column that these make is taken in words from the top.
 */
template <int K>
struct PackedTaps
{
  static constexpr int words = (K + 2) / 4, left_over = K % 4 == 1 ? (K + 3) / 4 : 0;

  ConvolveParts parts;
  ConvolveIntegerTail tail;
  float single[K][K]; /* for the rim */
  int row[K * words];
  int column[left_over + 1]; /* the last word has its weight in its last byte */
};

/* The column moved up by a byte, with byte k of words below. */
static __device__ __forceinline__ uint32_t
below (uint32_t column, const uint32_t *words, int k)
{
  return __byte_perm (column, words[k / 4], 0x0321 | (4 + k % 4) << 12);
}

/*
 * The idea: bytes are multiplied as they lie in memory, four products in one instruction, with integer weights of eight
 * bits. A thread has W groups of four outputs in R rows. It loads each row of input once and makes of it the words that
 * begin at each of its bytes; a word meets the same four weights in all of the sums that it goes to.
 */
template <int K, int S, int W, int R, bool CLAMPS>
__global__ void __launch_bounds__ (CONVOLVE_LANES *CONVOLVE_WARPS)
    convolve_packed (const __grid_constant__ ConvolveImage image, const __grid_constant__ PackedTaps<K> taps)
{
  constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP;
  const ConvolveParts &parts = taps.parts;
  uint32_t words[rows][(W + 2) * S], column[S][columns];
  int sums[R][S][columns], row[K * taps.words], lowest[taps.left_over + 1];

  convolve_wait ();
  if (convolve_rim<uint8_t, S, K> (image, parts, taps.single))
    return;
  int2 tile = convolve_tile<W, R> (parts);
  convolve_load_tile<S, W, K> (image, tile, words);
  convolve_take (row, taps.row);
  convolve_take (lowest, taps.column);
#pragma unroll
  for (int i = 0; i < R * S * columns; i++)
    sums[0][0][i] = taps.tail.start[i / columns % S];
#pragma unroll
  for (int n = 0; n < rows; n++)
#pragma unroll
    for (int s = 0; s < S; s++) {
      uint32_t bytes[W + 2];

#pragma unroll
      for (int g = 0; g < W + 2; g++)
        bytes[g] = convolve_pick<S> (&words[n][g * S], s);
#pragma unroll
      for (int c = 0; c < columns; c++) {
        column[s][c] = n == 0 ? bytes[(c + K / 2) / 4 + 1] << (3 - (c + K / 2) % 4) * 8
                              : below (column[s][c], bytes, c + K / 2 + CONVOLVE_GROUP);
#pragma unroll
        for (int w = 0; w < taps.words; w++) {
          uint32_t four = convolve_shifted (bytes, CONVOLVE_GROUP + c - K / 2 + 4 * w);

#pragma unroll
          for (int r = 0; r < R; r++)
            if (n - r >= 0 && n - r < K)
              sums[r][s][c] =
                  convolve_dot (four, row[(n - r < 0 || n - r >= K ? 0 : n - r) * taps.words + w], sums[r][s][c]);
        }
#pragma unroll
        for (int r = 0; r < R; r++)
          if (taps.left_over && n - r >= 0 && n - r < K && (n - r == K - 1 || (n - r) % 4 == 3))
            sums[r][s][c] =
                convolve_dot (column[s][c], lowest[n - r < 0 || n - r >= K ? 0 : (n - r) / 4], sums[r][s][c]);
      }
    }

  uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S);
#pragma unroll
  for (int r = 0; r < R; r++, to += image.destination_stride)
    convolve_store_integers<S, W, CLAMPS> (image, taps.tail, to, sums[r], &words[r + K / 2][S]);
}

template <int K, int S, int W, int R>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  PackedTaps<K> taps = {};

  taps.tail = *(const ConvolveIntegerTail *) plan->prepared;
  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++) {
      int row = j + (K - from->height) / 2, at = i + (K - from->width) / 2;
      float tap = from->taps[j * from->width + i];
      unsigned byte = (unsigned) (int) tap & 0xff;

      taps.single[row][at] = tap;
      if (at / 4 < taps.words)
        taps.row[row * taps.words + at / 4] |= (int) (byte << at % 4 * 8);
      else
        taps.column[row / 4] |= (int) (byte << (row == K - 1 ? 3 : row % 4) * 8);
    }
  return convolve_border_load<K, W, R> (plan,
      taps.tail.clamps ? (const void *) convolve_packed<K, S, W, R, true>
                       : (const void *) convolve_packed<K, S, W, R, false>,
      taps, CONVOLVE_WARPS, error);
}

ConvolveStatus
convolve_packed_load (ConvolvePlan *plan, ConvolveError *error)
{
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, ConvolveError * error);
  static const Load loads[4][3] = {
    { load<3, 1, 2, 4>, load<3, 2, 1, 8>, load<3, 4, 1, 4> },
    { load<5, 1, 2, 4>, load<5, 2, 1, 8>, load<5, 4, 1, 4> },
    { load<7, 1, 1, 12>, load<7, 2, 1, 8>, load<7, 4, 1, 4> },
    { load<9, 1, 1, 8>, load<9, 2, 1, 8>, load<9, 4, 1, 4> },
  };
  return loads[convolve_border_size (plan)][plan->pixel.samples / 2](plan, error);
}

ConvolveStatus
convolve_packed_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_border_run (plan, plane, error);
}
