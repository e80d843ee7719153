/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "convolve_parts.cuh"

#define WARPS 4                 /* of a block, one above the other */

/* Float has all integers up to 2^22 after this one in their order: an integer sum that starts here is a float too. */
#define MAGIC 12582912.0f
#define MAGIC_BITS 0x4B400000

/*
 * The taps of a K x K mask as dot products take them. Output c of a group of four takes from the word of input that
 * lies d words to the right the four taps that meet its bytes; those outside the mask are 0.
 */
template <int K>
struct PackedTaps
{
  ConvolveParts parts;
  float single[K][K];           /* for the rim */
  int tap[K][CONVOLVE_GROUP][3];        /* row, output, d + 1 */
};

/* Whether any tap of output c meets word d. */
static __host__ __device__ constexpr bool
meets (int k, int c, int d)
{
  return 4 * d + 3 - c >= -(k / 2) && 4 * d - c <= k / 2;
}

/* Four unsigned bytes times four signed ones, summed. */
static __device__ __forceinline__ int
dot (uint32_t bytes, int taps, int sum)
{
  int result;

  asm ("dp4a.u32.s32 %0, %1, %2, %3;" : "=r" (result) : "r" (bytes), "r" (taps), "r" (sum));
  return result;
}

/* The bytes of one sample from a group of S. */
template <int S>
static __device__ __forceinline__ uint32_t
pick (const uint32_t *words, int sample)
{
  if (S == 1)
    return words[0];
  if (S == 2)
    return __byte_perm (words[0], words[S - 1], sample == 0 ? 0x6420 : 0x7531);
  unsigned from = sample | (sample + 4) << 4;
  uint32_t low = __byte_perm (words[0], words[1], from), high = __byte_perm (words[2], words[S - 1], from);
  return __byte_perm (low, high, 0x5410);
}

/* The reverse of pick (): word i of a group from the bytes of all its samples. */
template <int S>
static __device__ __forceinline__ uint32_t
weave (const uint32_t *samples, int i)
{
  if (S == 1)
    return samples[0];
  if (S == 2)
    return __byte_perm (samples[0], samples[S - 1], i == 0 ? 0x5140 : 0x7362);
  unsigned from = i | (i + 4) << 4;
  uint32_t low = __byte_perm (samples[0], samples[1], from), high = __byte_perm (samples[2], samples[S - 1], from);
  return __byte_perm (low, high, 0x5410);
}

/* Two values, clamped to bytes; above them the lower half of what is there already. */
static __device__ __forceinline__ uint32_t
clamp_bytes (int high, int low, uint32_t above)
{
  uint32_t result;

  asm ("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r" (result) : "r" (high), "r" (low), "r" (above));
  return result;
}

/*
 * Four sums, each begun at MAGIC_BITS, become four bytes; as convolve_tail_float () does it, but that
 * a product is not rounded before the offset is added: what is proved for two roundings holds for one.
 */
static __device__ __forceinline__ uint32_t
finish (const ConvolveTail &tail, int sample, const int (&sums)[CONVOLVE_GROUP])
{
  int value[CONVOLVE_GROUP];

#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++) {
    float sum = __int_as_float (sums[c]) - MAGIC;
    float scaled = __fmaf_rn (sum, tail.scale_f, tail.offset_f[sample]);
    value[c] = __float_as_int (__fadd_rd (scaled, MAGIC)) - MAGIC_BITS;
  }
  return clamp_bytes (value[1], value[0], clamp_bytes (value[3], value[2], 0));
}

static __device__ __forceinline__ uint32_t
finish_wide (const ConvolveTail &tail, int sample, const int (&sums)[CONVOLVE_GROUP])
{
  uint32_t result = 0;

#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    result |= convolve_tail_double (&tail, sample, sums[c] - MAGIC_BITS) << 8 * c;
  return result;
}

/*
 * The idea: bytes are multiplied as they lie in memory, four products in one instruction, with integer weights of eight
 * bits. A lane has W groups of four outputs in R rows at a time; each word of input goes to all the sums that it reaches.
 * The weights are shifted to the bytes beforehand, not the bytes to the weights.
 */
template <int K, int S, int W, int R>
__global__ void __launch_bounds__ (CONVOLVE_LANES * WARPS)
convolve_packed (const __grid_constant__ ConvolveImage image, const __grid_constant__ PackedTaps<K> taps)
{
  const ConvolveParts &parts = taps.parts;
  uint32_t words[R + K - 1][(W + 2) * S];
  int sums[R][W][S][CONVOLVE_GROUP];

  convolve_wait ();
  if (convolve_rim<uint8_t, S, K> (image, parts, taps.single))
    return;
  int x = min (parts.left + (int) (blockIdx.x * CONVOLVE_LANES + threadIdx.x) * W * CONVOLVE_GROUP,
      parts.right - W * CONVOLVE_GROUP);
  int y = min (parts.top + (int) ((blockIdx.y - parts.rim_rows) * WARPS + threadIdx.y) * R, parts.bottom - R);
  const uint8_t *from = image.source + (y - K / 2) * image.source_stride + (unsigned) (x * S);

#pragma unroll
  for (int n = 0; n < R + K - 1; n++, from += image.source_stride) {
    convolve_load_words<S> (from - S * CONVOLVE_GROUP, words[n]);
    convolve_load_words<W * S> (from, words[n] + S);
    convolve_load_words<S> (from + W * S * CONVOLVE_GROUP, words[n] + S + W * S);
  }
#pragma unroll
  for (int i = 0; i < R * W * S * CONVOLVE_GROUP; i++)
    sums[0][0][0][i] = MAGIC_BITS;
#pragma unroll
  for (int n = 0; n < R + K - 1; n++)
#pragma unroll
    for (int s = 0; s < S; s++) {
      uint32_t bytes[W + 2];

#pragma unroll
      for (int g = 0; g < W + 2; g++)
        bytes[g] = pick<S> (&words[n][g * S], s);
#pragma unroll
      for (int r = 0; r < R; r++)
#pragma unroll
        for (int g = 0; g < W; g++)
#pragma unroll
          for (int c = 0; c < CONVOLVE_GROUP; c++)
#pragma unroll
            for (int d = 0; d < 3; d++)
              if (n - r >= 0 && n - r < K && meets (K, c, d - 1))
                sums[r][g][s][c] = dot (bytes[g + d], taps.tap[n - r < 0 || n - r >= K ? 0 : n - r][c][d],
                    sums[r][g][s][c]);
    }

  uint8_t *to = image.destination + y * image.destination_stride + (unsigned) (x * S);
#pragma unroll
  for (int r = 0; r < R; r++, to += image.destination_stride) {
    uint32_t out[W * S];

#pragma unroll
    for (int g = 0; g < W; g++) {
      uint32_t done[S];

#pragma unroll
      for (int s = 0; s < S; s++) {
        done[s] = image.tail.wide ? finish_wide (image.tail, s, sums[r][g][s]) : finish (image.tail, s, sums[r][g][s]);
        if (!(image.select >> s & 1))
          done[s] = pick<S> (&words[r + K / 2][(g + 1) * S], s);
      }
#pragma unroll
      for (int i = 0; i < S; i++)
        out[g * S + i] = weave<S> (done, i);
    }
    convolve_store_words (to, out);
  }
}

template <int K, int S, int W, int R>
static ConvolveStatus
run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  PackedTaps<K> taps;
  ConvolveGrid grid = { };

  memset (taps.single, 0, sizeof (taps.single));
  memset (taps.tap, 0, sizeof (taps.tap));
  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++) {
      int row = j + (K - from->height) / 2, column = i + (K - from->width) / 2;
      float tap = from->taps[j * from->width + i];

      taps.single[row][column] = tap;
      for (int c = 0; c < CONVOLVE_GROUP; c++) {
        int byte = CONVOLVE_GROUP + c + column - K / 2;

        taps.tap[row][c][byte / 4] |= (int) ((unsigned) ((int) tap & 0xff) << byte % 4 * 8);
      }
    }
  taps.parts = convolve_divide (plan, plane, W * CONVOLVE_GROUP, CONVOLVE_GROUP, R, WARPS, K, &grid);
  return convolve_launch (plan, plane, (const void *) convolve_packed<K, S, W, R>, grid, &taps, error);
}

ConvolveStatus
convolve_packed_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  typedef ConvolveStatus (*Run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
  static const Run runs[4][3] = {
    { run<3, 1, 2, 4>, run<3, 2, 1, 4>, run<3, 4, 1, 2> },
    { run<5, 1, 2, 4>, run<5, 2, 1, 4>, run<5, 4, 1, 2> },
    { run<7, 1, 2, 4>, run<7, 2, 1, 4>, run<7, 4, 1, 2> },
    { run<9, 1, 2, 4>, run<9, 2, 1, 4>, run<9, 4, 1, 2> },
  };
  int side = plan->taps.width > plan->taps.height ? plan->taps.width : plan->taps.height;

  return runs[side <= 3 ? 0 : (side - 3) / 2][plan->pixel.samples / 2] (plan, plane, error);
}
