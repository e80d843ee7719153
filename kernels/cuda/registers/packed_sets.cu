/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* packed for masks of several sets of taps. */
#include "cuda/registers/bytes.cuh"
#include "cuda/registers/packed.h"
#include "cuda/registers/sets.cuh"

#include <limits.h>

/* [3x3, 5x5][1, 2, 3, 4 samples] */
static constexpr ConvolveShape shapes[2][CONVOLVE_MAX_SAMPLES] = {
  { { 2, 4 }, { 1, 4 }, { 1, 4 }, { 1, 4 } },
  { { 1, 4 }, { 1, 4 }, { 1, 2 }, { 1, 2 } },
};

/*
 * The kernel's second parameter: the weights of each set as signed bytes, from the left end of each mask row on, four
 * in a word, with 0 after the last. In a magnitude the weights are multiplied by the set's multiple.
 */
template <int K>
struct PackedSets
{
  static constexpr int row_words = (K + 3) / 4;

  ConvolveParts parts;
  ConvolveSets sets;
  ConvolveIntegerTail tail;                           /* of a largest value */
  int start[CONVOLVE_MAX_SETS][CONVOLVE_MAX_SAMPLES]; /* of a magnitude, in the bits of CONVOLVE_MAGIC */
  int row[CONVOLVE_MAX_SETS][K * row_words];
  float single[CONVOLVE_MAX_SETS][K][K]; /* all weights, for the border */
};

/*
 * The instances of the kernel. Words of weights that are all 0 cost nothing where the compiler knows of them: bit 3 k +
 * j of an instance is row j of set k.
 */
enum PackedRule
{
  MAGNITUDE_OF_TWO = 0,
  MAGNITUDE_OF_SLOPES = 1 << 4,           /* sobel, prewitt, scharr: the second set has no weights in its middle row */
  MAGNITUDE_OF_CROSSES = 1 << 0 | 1 << 3, /* roberts: no set has weights in its first row */
  MAGNITUDE_OF_ANY = 1 << 8,
  LARGEST_OF_ANY = 1 << 9
};

/* Adds the products of one output with one set. fours[i] are those of mask row i, from the output's left end on. */
template <int K, int RULE, int SHIFTS>
static __device__ __forceinline__ int
sum_of (const PackedSets<K> &taps, int k, const uint32_t (&fours)[K][SHIFTS], int first, int at, int sum)
{
#pragma unroll
  for (int j = 0; j < K; j++)
#pragma unroll
    for (int w = 0; w < taps.row_words; w++)
      if (RULE >= MAGNITUDE_OF_ANY || !(RULE >> (K * k + j) & 1))
        sum = convolve_dot (fours[(first + j) % K][at + 4 * w], taps.row[k][j * taps.row_words + w], sum);
  return sum;
}

/*
 * The bytes of a row of outputs, four in a word. A loop over many sets takes each set's weights once for the whole row.
 * The sums of a magnitude are integers in the low bits of floats: their squares are added up by units that dp4a does
 * not need.
 */
template <int K, int RULE, int W, int SHIFTS>
static __device__ __forceinline__ void
finish_row (const PackedSets<K> &taps, const uint32_t (&fours)[K][SHIFTS], int first, int sample, uint32_t (&bytes)[W])
{
  const int samples[CONVOLVE_GROUP] = { sample, sample, sample, sample };
  int largest[W][CONVOLVE_GROUP];
  float squares[W][CONVOLVE_GROUP];

#pragma unroll
  for (int c = 0; c < W * CONVOLVE_GROUP; c++)
    largest[0][c] = INT_MIN, squares[0][c] = 0;
#pragma unroll(RULE >= MAGNITUDE_OF_ANY ? 1 : 2)
  for (int k = 0; k < (RULE >= MAGNITUDE_OF_ANY ? taps.sets.count : 2); k++)
#pragma unroll
    for (int c = 0; c < W * CONVOLVE_GROUP; c++) {
      int sum = sum_of<K, RULE> (taps, k, fours, first, c, RULE == LARGEST_OF_ANY ? 0 : taps.start[k][sample]);
      float value = __int_as_float (sum) - CONVOLVE_MAGIC;

      largest[0][c] = max (largest[0][c], sum);
      squares[0][c] = RULE < MAGNITUDE_OF_ANY && k == 0 ? value * value : __fmaf_rn (value, value, squares[0][c]);
    }
#pragma unroll
  for (int g = 0; g < W; g++) {
    float values[CONVOLVE_GROUP];

#pragma unroll
    for (int c = 0; c < CONVOLVE_GROUP; c++) {
      largest[g][c] += taps.tail.start[sample];
      values[c] = convolve_root_near (&taps.sets.root, sample, convolve_near_root (squares[g][c]));
    }
    bytes[g] = RULE == LARGEST_OF_ANY ? convolve_finish_integers<true> (taps.tail, samples, largest[g])
                                      : convolve_pack_integers<false> (values);
  }
}

/* The words of group g from the bytes of each sample. source is the same group of the input, for copied samples. */
template <int S, int W>
static __device__ __forceinline__ void
join_samples (const ConvolveImage &image, const uint32_t (&done)[S][W], int g, const uint32_t *source, uint32_t *out)
{
  uint32_t samples[S];

#pragma unroll
  for (int s = 0; s < S; s++)
    samples[s] = S > 1 && !(image.select >> s & 1) ? convolve_pick<S> (source, s) : done[s][g];
#pragma unroll
  for (int i = 0; i < S; i++)
    out[i] = convolve_weave<S> (samples, i);
}

/*
 * The idea: as packed, but a thread finishes one row of outputs after the other, so that all sets share the words of K
 * rows of input and the sums of few outputs are in registers at a time. fours[n % K][i] are the four bytes of row n
 * that begin i pixels after the left end of the first output's mask. Each word is made once and meets every set.
 *
 * The root of a magnitude is one instruction, and convolve_root_near () says why the result is exact.
 */
template <int K, int S, int RULE>
struct PackedSetsKernel
{
  static constexpr ConvolveShape shape = shapes[K / 2 - 1][S - 1];
  static constexpr bool alone = true;
  typedef PackedSets<K> Taps;

  static __device__ __forceinline__ void
  run (const ConvolveImage &image, const Taps &taps)
  {
    constexpr int W = shape.groups, R = shape.rows;
    constexpr int rows = R + K - 1, shifts = W * CONVOLVE_GROUP + 4 * (taps.row_words - 1);
    const ConvolveParts &parts = taps.parts;
    uint32_t words[rows][(W + 2) * S], done[R][S][W];

    ConvolveOrder order (image);
    if (convolve_border_of_sets<uint8_t, S, K> (image, parts, taps.sets, taps.single))
      return;
    int2 tile = convolve_tile<W, R> (parts);
    convolve_load_tile<S, W, K> (image, tile, words);
#pragma unroll
    for (int s = 0; s < S; s++) {
      uint32_t fours[K][shifts];

#pragma unroll
      for (int n = 0; n < rows; n++) {
        uint32_t bytes[W + 3]; /* one word more, because the last word of the weights may extend beyond the group */

        bytes[W + 2] = 0;
#pragma unroll
        for (int g = 0; g < W + 2; g++)
          bytes[g] = convolve_pick_of_row<K, S, W> (words[n], g, s);
#pragma unroll
        for (int i = 0; i < shifts; i++)
          fours[n % K][i] = convolve_shifted (bytes, CONVOLVE_GROUP - K / 2 + i);
        if (n < K - 1)
          continue;
        finish_row<K, RULE, W> (taps, fours, n - K + 1, s, done[n - K + 1][s]);
      }
    }

    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S);
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride) {
      uint32_t out[W * S];

#pragma unroll
      for (int g = 0; g < W; g++)
        join_samples<S, W> (image, done[r], g, &words[r + K / 2][(1 + g) * S], out + g * S);
      convolve_store_words (to, out);
    }
  }
};

template <int K>
static void
fill (const ConvolvePlan *plan, PackedSets<K> *taps)
{
  convolve_sets_fill (plan, &taps->sets);
  convolve_centre_sets<K> (plan, taps->single);
  if (plan->combination == CONVOLVE_LARGEST)
    taps->tail = *(const ConvolveIntegerTail *) plan->prepared;
  for (int k = 0; k < plan->n_parts; k++) {
    for (int i = 0; i < K * K; i++) {
      unsigned byte = (unsigned) (int) taps->single[k][i / K][i % K] & 0xff;

      taps->row[k][i / K * taps->row_words + i % K / 4] |= (int) (byte << i % K % 4 * 8);
    }
    for (int s = 0; s < plan->pixel.samples; s++)
      taps->start[k][s] = CONVOLVE_MAGIC_BITS + (int) taps->sets.start[k][s];
  }
}

/* Whether the words that the rule leaves out are 0. */
static bool
has_rule (const PackedSets<3> &taps, int rule)
{
  for (int i = 0; i < 6; i++)
    if ((rule >> i & 1) && taps.row[i / 3][i % 3])
      return false;
  return true;
}

template <int K, int S>
static ConvolveStatus
load (ConvolvePlan *plan, const PackedSets<K> &taps, ConvolveError *error)
{
  if (plan->combination != CONVOLVE_MAGNITUDE)
    return convolve_load_plane<K, PackedSetsKernel<K, S, LARGEST_OF_ANY> > (plan, taps, error);
  if (plan->n_parts > 2)
    return convolve_load_plane<K, PackedSetsKernel<K, S, MAGNITUDE_OF_ANY> > (plan, taps, error);
  if constexpr (K == 3) {
    if (has_rule (taps, MAGNITUDE_OF_SLOPES))
      return convolve_load_plane<K, PackedSetsKernel<K, S, MAGNITUDE_OF_SLOPES> > (plan, taps, error);
    if (has_rule (taps, MAGNITUDE_OF_CROSSES))
      return convolve_load_plane<K, PackedSetsKernel<K, S, MAGNITUDE_OF_CROSSES> > (plan, taps, error);
  }
  return convolve_load_plane<K, PackedSetsKernel<K, S, MAGNITUDE_OF_TWO> > (plan, taps, error);
}

ConvolveStatus
convolve_packed_load_sets (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_load_for<2, CONVOLVE_FOR_SAMPLES> (plan, [=] (auto k, auto s, auto) {
    PackedSets<k> taps = {};

    fill<k> (plan, &taps);
    return load<k, s> (plan, taps, error);
  });
}
