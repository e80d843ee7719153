/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* direct for 16-bit samples whose unused bits are all below them, or all above them. */
#include "cuda/deep.cuh"
#include "cuda/direct_deep.h"

/* The kernel's second parameter. */
template <int K>
struct DirectDeep
{
  ConvolveParts parts;
  ConvolveDeep deep;
  float start[CONVOLVE_MAX_SAMPLES]; /* of a sum: that of the tail, or 0 */
  uint32_t lower;                    /* the bits of the lower sample of a word */
  uint32_t above;                    /* TOP: what is put above an upper sample that is shifted down */
  int down;                          /* by so many bits */
  float unit, base;                  /* and these give its factor back */
  float tap[K][K];                   /* smaller masks stand in the middle, with 0 around them */
};

/*
 * Sample k of words as convolve_value () has it, from words that are clean unless TOP.
 *
 * TOP: one instruction moves a sample, without its unused bits, into the low bits of the float 2^23. An upper one loses
 * its factor 2^shift by this, and gets that back in the subtraction.
 */
template <bool TOP, int K>
static __device__ __forceinline__ float
value_of (const DirectDeep<K> &taps, const uint32_t *words, int k)
{
  if (k % 2 == 0)
    return __uint_as_float ((words[k / 2] & taps.lower) | CONVOLVE_2_23_BITS) - CONVOLVE_2_23;
  if (!TOP)
    return __uint_as_float (__byte_perm (words[k / 2], CONVOLVE_2_23_BITS, 0x7632)) - CONVOLVE_2_23;
  return __fmaf_rn (__uint_as_float (__funnelshift_r (words[k / 2], taps.above, taps.down)), taps.unit, taps.base);
}

/*
 * As convolve_direct (), with fewer instructions for a sample. FLOOR: the plan has the tail of
 * convolve_deep_tail_choose (), which is shorter; otherwise, the last step is that of convolve_direct ().
 */
template <int K, int S, int W, int R, bool TOP, bool FLOOR>
__global__ void __launch_bounds__ (CONVOLVE_LANES *CONVOLVE_WARPS)
    convolve_direct_deep (const __grid_constant__ ConvolveImage image, const __grid_constant__ DirectDeep<K> taps)
{
  constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, count = (W + 2) * 2 * S;
  uint32_t words[rows][count];
  float sums[R][S][columns];

  ConvolveOrder order (image);
  if (convolve_border<uint16_t, S, K> (image, taps.parts, taps.tap))
    return;
  int2 tile = convolve_tile<W, R> (taps.parts);
  convolve_load_deep<S, W, K> (image, tile, words);
#pragma unroll
  for (int i = 0; i < R * S * columns; i++)
    sums[0][0][i] = FLOOR ? taps.start[i / columns % S] : 0;
#pragma unroll
  for (int n = 0; n < rows; n++) {
    uint32_t clean[count];

#pragma unroll
    for (int i = 0; i < count; i++)
      clean[i] = TOP ? words[n][i] : convolve_clean_deep<false> (taps.deep, words[n][i]);
#pragma unroll
    for (int s = 0; s < S; s++)
#pragma unroll
      for (int i = 0; i < columns + K - 1; i++) {
        float value = value_of<TOP> (taps, clean, (CONVOLVE_GROUP - K / 2 + i) * S + s);

#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
          for (int c = 0; c < columns; c++)
            if (n - r >= 0 && n - r < K && i - c >= 0 && i - c < K)
              sums[r][s][c] +=
                  taps.tap[n - r < 0 || n - r >= K ? 0 : n - r][i - c < 0 || i - c >= K ? 0 : i - c] * value;
      }
  }
  if (FLOOR)
    convolve_store_deep<S, W, R, TOP> (image, taps.deep, tile, sums, &words[K / 2]);
  else
    convolve_store_sums<uint16_t, S, W, R> (image, tile, sums, &words[K / 2]);
}

/* Centres the mask in K x K taps and loads the kernel. */
template <int K, int S, int W, int R, bool TOP, bool FLOOR>
static ConvolveStatus
load_as (ConvolvePlan *plan, const ConvolveIntegerTail &tail, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  const int shift = plan->pixel.shift;
  DirectDeep<K> taps = {};

  convolve_deep_init (plan, &taps.deep);
  taps.deep.tail = tail;
  for (int s = 0; s < plan->pixel.samples; s++)
    taps.start[s] = (float) tail.start[s];
  taps.lower = taps.deep.mask & 0xffff;
  taps.above = (uint32_t) CONVOLVE_2_23_BITS >> (16 - shift);
  taps.down = 16 + shift;
  taps.unit = (float) (1 << shift);
  taps.base = -CONVOLVE_2_23 * taps.unit;
  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++)
      taps.tap[j + (K - from->height) / 2][i + (K - from->width) / 2] =
          from->taps[j * from->width + i] * convolve_tap_unit (plan);
  return convolve_border_load<K, W, R> (plan, (const void *) convolve_direct_deep<K, S, W, R, TOP, FLOOR>, taps,
      CONVOLVE_WARPS, error);
}

/* Kernels for the pixels and tails that most plans have. *loaded is false where there is none. */
template <int K, int S, int W, int R>
static ConvolveStatus
load (ConvolvePlan *plan, bool *loaded, ConvolveError *error)
{
  const bool top = convolve_deep_is_top (plan);
  ConvolveIntegerTail tail = {};
  const char *unused;

  *loaded = true;
  if (convolve_deep_tail_choose (plan, &tail, &unused))
    return top ? load_as<K, S, W, R, true, true> (plan, tail, error)
               : load_as<K, S, W, R, false, true> (plan, tail, error);
  *loaded = top;
  return top ? load_as<K, S, W, R, true, false> (plan, {}, error) : CONVOLVE_OK;
}

ConvolveStatus
convolve_direct_load_deep (ConvolvePlan *plan, bool *loaded, ConvolveError *error)
{
  /* [3x3, 5x5, 7x7, 9x9][1, 2, 3, 4 samples]; the last two arguments are W and R. */
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, bool *loaded, ConvolveError *error);
  static const Load loads[4][CONVOLVE_MAX_SAMPLES] = {
    { load<3, 1, 1, 8>, load<3, 2, 1, 4>, NULL, load<3, 4, 1, 2> },
    { load<5, 1, 1, 8>, load<5, 2, 1, 4>, NULL, load<5, 4, 1, 2> },
    { load<7, 1, 1, 8>, load<7, 2, 1, 4>, NULL, load<7, 4, 1, 2> },
    { load<9, 1, 1, 8>, load<9, 2, 1, 4>, NULL, load<9, 4, 1, 2> },
  };
  return loads[convolve_border_size (plan)][plan->pixel.samples - 1](plan, loaded, error);
}
