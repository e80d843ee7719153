/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results from sums in float. Template parameters have the meanings that cuda/registers/bytes.cuh gives them. */
#ifndef CONVOLVE_CUDA_FLOATS_CUH
#define CONVOLVE_CUDA_FLOATS_CUH

#include "cuda/device/words.cuh"

/*
 * The word that 4 (8-bit) or 2 (16-bit) sums become. samples[i] is the index within its pixel of the sample of sums[i].
 */
template <typename T>
static __device__ __forceinline__ uint32_t
convolve_finish (const ConvolveImage &image, const int *samples, const float *sums)
{
  int values[4];

#pragma unroll
  for (int i = 0; i < 4 / (int) sizeof (T); i++)
    values[i] = convolve_floor<T> (image.tail, samples[i], sums[i]);
  if (sizeof (T) == 1)
    return convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0));
  return (unsigned) values[0] << image.shift | (unsigned) values[1] << image.shift << 16;
}

/*
 * Stores the tile of a thread. source[r] is row r of the tile's input with the halo on its left and right, for samples
 * that are copied. A tail that needs doubles stores all outputs a second time, over the first: a branch at each value
 * would cost all other masks more.
 */
template <typename T, int S, int W, int R, int N>
static __device__ __forceinline__ void
convolve_store_sums (const ConvolveImage &image, int2 tile, const float (&sums)[R][S][W * CONVOLVE_GROUP],
    const uint32_t (*source)[N])
{
  constexpr int bytes = S * sizeof (T), per_word = 4 / sizeof (T), halo = (N - W * bytes) / 2;

#pragma unroll
  for (int in_double = 0; in_double < 2; in_double++) {
    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * bytes);

    if (in_double && !image.tail.floor_needs_double)
      return;
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride) {
      uint32_t out[W * bytes];

#pragma unroll
      for (int i = 0; i < W * bytes; i++) {
        uint32_t copied = 0; /* the bits of samples that are copied */
        float four[4] = {};
        int samples[4] = {};

        out[i] = 0;
#pragma unroll
        for (int k = 0; k < per_word; k++) {
          int at = i * per_word + k;

          samples[k] = at % S;
          four[k] = sums[r][at % S][at / S];
          if (in_double)
            out[i] |= convolve_finish_double (&image, at % S, four[k]) << k * 8 * sizeof (T);
          if (!(image.select >> at % S & 1))
            copied |= (sizeof (T) == 1 ? 0xffu : 0xffffu) << k * 8 * sizeof (T);
        }
        if (!in_double)
          out[i] = convolve_finish<T> (image, samples, four);
        if (S > 1)
          out[i] = (out[i] & ~copied) | (source[r][halo + i] & copied);
      }
      convolve_store_words (to, out);
    }
  }
}

#endif
