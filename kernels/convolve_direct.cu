/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "convolve_parts.cuh"

#define WARPS 4                 /* of a block, one above the other */

/* Float has all integers up to 2^22 after this one in their order. */
#define MAGIC 12582912.0f
#define MAGIC_BITS 0x4B400000

template <int K>
struct DirectTaps
{
  ConvolveParts parts;
  float tap[K][K];
};

/* Sample k of words, as a float. */
template <typename T>
static __device__ __forceinline__ float
value_of (const ConvolveImage &image, const uint32_t *words, int k)
{
  /* A float with the sample in its last bits, less the same without: cheaper than to convert an integer. */
  if (sizeof (T) == 1)
    return __uint_as_float (__byte_perm (words[k / 4], 0x4B000000, 0x7440 + k % 4)) - 8388608.0f;
  unsigned word = k % 2 ? words[k / 2] >> 16 : words[k / 2] & 0xffff;
  return __uint_as_float (0x4B000000 | min (word >> image.shift, (unsigned) image.maximum)) - 8388608.0f;
}

/* A sum becomes a sample in its word's place; as convolve_store () does it. */
template <typename T>
static __device__ __forceinline__ unsigned
finish (const ConvolveImage &image, int sample, float sum)
{
  float value = __fadd_rn (__fmul_rn (sum, image.tail.scale_f), image.tail.offset_f[sample]);

  /* Clamped first, the bits after MAGIC are the integer below. */
  value = __fadd_rd (fminf (fmaxf (value, 0), image.tail.maximum), MAGIC);
  return sizeof (T) == 1 ? __float_as_int (value) & 0xff : (__float_as_int (value) - MAGIC_BITS) << image.shift;
}

static __device__ __noinline__ unsigned
finish_wide (const ConvolveTail *tail, int sample, float sum)
{
  return convolve_tail_double (tail, sample, sum);
}

/*
 * The idea: the sums of a thread stay in registers. It has W groups of four outputs in R rows, loads each row of input
 * once, and adds a sample to all the sums that it reaches before it goes on to the next row; nothing is computed for a
 * product but the product.
 */
template <typename T, int K, int S, int W, int R>
__global__ void __launch_bounds__ (CONVOLVE_LANES * WARPS)
convolve_direct (const __grid_constant__ ConvolveImage image, const __grid_constant__ DirectTaps<K> taps)
{
  constexpr int rows = R + K - 1, columns = W * CONVOLVE_GROUP, bytes = S * sizeof (T), per_word = 4 / sizeof (T);
  const ConvolveParts &parts = taps.parts;
  uint32_t words[rows][(W + 2) * bytes];
  float sums[R][S][columns];

  convolve_wait ();
  if (convolve_rim<T, S, K> (image, parts, taps.tap))
    return;
  int x = min (parts.left + (int) (blockIdx.x * CONVOLVE_LANES + threadIdx.x) * columns, parts.right - columns);
  int y = min (parts.top + (int) ((blockIdx.y - parts.rim_rows) * WARPS + threadIdx.y) * R, parts.bottom - R);
  const uint8_t *from = image.source + (y - K / 2) * image.source_stride + (unsigned) (x * bytes);

#pragma unroll
  for (int n = 0; n < rows; n++, from += image.source_stride) {
    convolve_load_words<bytes> (from - bytes * CONVOLVE_GROUP, words[n]);
    convolve_load_words<W * bytes> (from, words[n] + bytes);
    convolve_load_words<bytes> (from + W * bytes * CONVOLVE_GROUP, words[n] + bytes + W * bytes);
  }
#pragma unroll
  for (int i = 0; i < R * S * columns; i++)
    sums[0][0][i] = 0;
#pragma unroll
  for (int n = 0; n < rows; n++)
#pragma unroll
    for (int s = 0; s < S; s++)
#pragma unroll
      for (int i = 0; i < columns + K - 1; i++) {
        float value = value_of<T> (image, words[n], (CONVOLVE_GROUP - K / 2 + i) * S + s);

#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
          for (int c = 0; c < columns; c++)
            if (n - r >= 0 && n - r < K && i - c >= 0 && i - c < K)
              sums[r][s][c] += taps.tap[n - r < 0 || n - r >= K ? 0 : n - r][i - c < 0 || i - c >= K ? 0 : i - c] * value;
      }

  /* Where the tail needs doubles, all is stored once more: a choice at each value would cost more than a second pass. */
#pragma unroll
  for (int wide = 0; wide < 2; wide++) {
    uint8_t *to = image.destination + y * image.destination_stride + (unsigned) (x * bytes);

    if (wide && !image.tail.wide)
      return;
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride) {
      uint32_t out[W * bytes];

#pragma unroll
      for (int i = 0; i < W * bytes; i++) {
        uint32_t copied = 0;

        out[i] = 0;
#pragma unroll
        for (int k = 0; k < per_word; k++) {
          int at = i * per_word + k, s = at % S;
          unsigned value = wide ? finish_wide (&image.tail, s, sums[r][s][at / S]) << image.shift
              : finish<T> (image, s, sums[r][s][at / S]);

          out[i] |= value << k * 8 * sizeof (T);
          if (!(image.select >> s & 1))
            copied |= (sizeof (T) == 1 ? 0xffu : 0xffffu) << k * 8 * sizeof (T);
        }
        if (S > 1)
          out[i] = (out[i] & ~copied) | (words[r + K / 2][bytes + i] & copied);
      }
      convolve_store_words (to, out);
    }
  }
}

template <typename T, int K, int S, int W, int R>
static ConvolveStatus
run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveTaps *from = &plan->taps;
  DirectTaps<K> taps;
  ConvolveGrid grid = { };

  memset (&taps, 0, sizeof (taps));
  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++)
      taps.tap[j + (K - from->height) / 2][i + (K - from->width) / 2] = from->taps[j * from->width + i];
  taps.parts = convolve_divide (plan, plane, W * CONVOLVE_GROUP, CONVOLVE_GROUP, R, WARPS, K, &grid);
  return convolve_launch (plan, plane, (const void *) convolve_direct<T, K, S, W, R>, grid, &taps, error);
}

ConvolveStatus
convolve_direct_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  typedef ConvolveStatus (*Run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
  static const Run runs[CONVOLVE_N_SAMPLE_TYPES][4][3] = {
    {
      { run<uint8_t, 3, 1, 2, 4>, run<uint8_t, 3, 2, 1, 4>, run<uint8_t, 3, 4, 1, 2> },
      { run<uint8_t, 5, 1, 2, 4>, run<uint8_t, 5, 2, 1, 4>, run<uint8_t, 5, 4, 1, 2> },
      { run<uint8_t, 7, 1, 1, 8>, run<uint8_t, 7, 2, 1, 4>, run<uint8_t, 7, 4, 1, 2> },
      { run<uint8_t, 9, 1, 1, 8>, run<uint8_t, 9, 2, 1, 4>, run<uint8_t, 9, 4, 1, 2> },
    },
    {
      { run<uint16_t, 3, 1, 1, 4>, run<uint16_t, 3, 2, 1, 4>, run<uint16_t, 3, 4, 1, 2> },
      { run<uint16_t, 5, 1, 1, 4>, run<uint16_t, 5, 2, 1, 4>, run<uint16_t, 5, 4, 1, 2> },
      { run<uint16_t, 7, 1, 1, 8>, run<uint16_t, 7, 2, 1, 4>, run<uint16_t, 7, 4, 1, 2> },
      { run<uint16_t, 9, 1, 1, 8>, run<uint16_t, 9, 2, 1, 4>, run<uint16_t, 9, 4, 1, 2> },
    },
  };
  int side = plan->taps.width > plan->taps.height ? plan->taps.width : plan->taps.height;

  return runs[plan->pixel.type][side <= 3 ? 0 : (side - 3) / 2][plan->pixel.samples / 2] (plan, plane, error);
}
