/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device functions for 16-bit samples, which the variants direct, fused and packed share: loads of no more than the
 * mask meets, clean samples, and the last step of masks for which a multiplication and an addition are enough.
 *
 * TOP is a template parameter: samples fill their 16 bits at the top, as in P010 and GRAY16. Then no sample is above
 * the largest one, and sums of them may keep the factor 2^shift. Otherwise the unused bits are above the samples, as in
 * I420_10LE.
 */
#ifndef CONVOLVE_CUDA_DEEP_CUH
#define CONVOLVE_CUDA_DEEP_CUH

#include "cuda/registers/border.cuh"
#include "cuda/registers/bytes.cuh"
#include "cuda/registers/floats.cuh"

/* A part of a kernel's parameters. */
struct ConvolveDeep
{
  ConvolveIntegerTail tail; /* of convolve_deep_tail_choose () */
  ConvolveTopFloats floats; /* TOP */
  uint32_t mask;            /* TOP: the bits of two samples */
  uint32_t largest;         /* otherwise: the largest sample, twice */
};

/* Of the words, the tail is left to the caller. */
static inline void
convolve_deep_init (const ConvolvePlan *plan, ConvolveDeep *deep)
{
  convolve_border_top_floats (plan, &deep->floats);
  deep->mask = (0xffffu << plan->pixel.shift & 0xffff) * 0x10001;
  deep->largest = ((1u << plan->pixel.depth) - 1) * 0x10001;
}

/*
 * Loads a row of a tile from `from`, with a group on both sides. Of these two groups, words that no tap meets are not
 * loaded where one or two of four are enough, or one of two. They are not set then.
 */
template <int S, int W, int K>
static __device__ __forceinline__ void
convolve_load_deep_row (const uint8_t *from, uint32_t (&words)[(W + 2) * 2 * S])
{
  constexpr int group = 2 * S, met = (K / 2 * S + 1) / 2, beside = met <= 2 ? met : met <= 4 ? 4 : group;

  convolve_load_words<beside> (from - beside * 4, words + group - beside);
  convolve_load_words<W * group> (from, words + group);
  convolve_load_words<beside> (from + W * group * 4, words + group + W * group);
}

/* Where the input of a tile begins. */
template <int S, int K>
static __device__ __forceinline__ const uint8_t *
convolve_deep_source (const ConvolveImage &image, int2 tile)
{
  return image.source + (tile.y - K / 2) * image.source_stride + (unsigned) (tile.x * S * 2);
}

/* As convolve_load_tile (), by rows as above. */
template <int S, int W, int K, int ROWS>
static __device__ __forceinline__ void
convolve_load_deep (const ConvolveImage &image, int2 tile, uint32_t (&words)[ROWS][(W + 2) * 2 * S])
{
  const uint8_t *from = convolve_deep_source<S, K> (image, tile);

#pragma unroll
  for (int n = 0; n < ROWS; n++, from += image.source_stride)
    convolve_load_deep_row<S, W, K> (from, words[n]);
}

/* Two samples of a word without their unused bits; TOP: still shifted left. */
template <bool TOP>
static __device__ __forceinline__ uint32_t
convolve_clean_deep (const ConvolveDeep &deep, uint32_t word)
{
  return TOP ? word & deep.mask : __vminu2 (word, deep.largest);
}

/* The words of a row without values above the largest sample; TOP: as they are. */
template <bool TOP, int N>
static __device__ __forceinline__ void
convolve_clean_deep_row (const ConvolveDeep &deep, const uint32_t (&words)[N], uint32_t (&clean)[N])
{
#pragma unroll
  for (int i = 0; i < N; i++)
    clean[i] = TOP ? words[i] : convolve_clean_deep<false> (deep, words[i]);
}

/* Sample k of these as convolve_value () has it. */
template <bool TOP>
static __device__ __forceinline__ float
convolve_deep_value (const ConvolveDeep &deep, const uint32_t *clean, int k)
{
  if (!TOP)
    return __uint_as_float (__byte_perm (clean[k / 2], CONVOLVE_2_23_BITS, k % 2 ? A2_A3_B2_B3 : A0_A1_B2_B3))
        - CONVOLVE_2_23;
  if (k % 2 == 0)
    return __uint_as_float ((clean[k / 2] & deep.floats.lower) | CONVOLVE_2_23_BITS) - CONVOLVE_2_23;
  return __fmaf_rn (__uint_as_float (__funnelshift_r (clean[k / 2], deep.floats.above, deep.floats.down)),
      deep.floats.unit, deep.floats.base);
}

/* The code value of a sum, before the value is clamped. */
static __device__ __forceinline__ int
convolve_floor_deep (const ConvolveIntegerTail &tail, int sample, float sum)
{
  return __float_as_int (__fmaf_rd (sum, tail.scale, tail.offset[sample])) - CONVOLVE_MAGIC_BITS;
}

/*
 * Stores the tile of a thread from sums that began with the tail's starts. source is that of convolve_store_sums ().
 * Sums of integers are below 2^24, times the samples' factor, so that floats hold them.
 */
template <int S, int W, int R, bool TOP, typename Sum, int N>
static __device__ __forceinline__ void
convolve_store_deep (const ConvolveImage &image, const ConvolveDeep &deep, int2 tile,
    const Sum (&sums)[R][S][W * CONVOLVE_GROUP], const uint32_t (*source)[N])
{
  uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * S * 2);

#pragma unroll
  for (int r = 0; r < R; r++, to += image.destination_stride)
    convolve_store_row<uint16_t, S, S, W> (image, to, sums[r], source[r] + 2 * S,
        [&] (const int *samples, const Sum *two) {
          const int low = convolve_floor_deep (deep.tail, samples[0], (float) two[0]);
          const int high = convolve_floor_deep (deep.tail, samples[1], (float) two[1]);

          return convolve_clean_deep<TOP> (deep, convolve_clamp_words (high, low));
        });
}

#endif
