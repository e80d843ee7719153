/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Products of 16 x 16 and 16 x 8 matrices of 16-bit numbers on the tensor cores of sm_80 and up, sums in float32. A lane
 * holds rows g and g + 8 of the first and column g of the second, g = lane / 4, and of each the words t and t + 4 of the
 * inner dimension, t = lane % 4, a word being two neighbours; of the sums rows g and g + 8 at columns 2 t and 2 t + 1.
 */
#ifndef CONVOLVE_LAYER_MMA_CUH
#define CONVOLVE_LAYER_MMA_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/* Two neighbours as float16. */
struct ConvolveHalves
{
  static const int terms = 1;
  uint32_t word;
};

/* Two neighbours as sums of two bfloat16, each the nearest to what is left: within 2^-18 of a float32, whatever its size. */
struct ConvolveSplit
{
  static const int terms = 2;
  uint32_t word, rest;
};

__device__ __forceinline__ void
convolve_pack (float a, float b, ConvolveHalves *pair)
{
  __half2 halves = __floats2half2_rn (a, b);

  pair->word = *(const uint32_t *) &halves;
}

__device__ __forceinline__ void
convolve_pack (float a, float b, ConvolveSplit *pair)
{
  __nv_bfloat162 near = __floats2bfloat162_rn (a, b);

  pair->word = *(const uint32_t *) &near;
  /* A bfloat16 is the upper half of a float. */
  near = __floats2bfloat162_rn (a - __uint_as_float (pair->word << 16), b - __uint_as_float (pair->word & 0xffff0000));
  pair->rest = *(const uint32_t *) &near;
}

__device__ __forceinline__ void
convolve_multiply_halves (float *sums, const uint4 &a, uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  asm ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};" : "+f" (sums[0]), "+f" (sums[1]), "+f" (sums[2]), "+f" (sums[3])
      : "r" (a.x), "r" (a.y), "r" (a.z), "r" (a.w), "r" (b0), "r" (b1));
#endif
}

__device__ __forceinline__ void
convolve_multiply_bfloats (float *sums, const uint4 &a, uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  asm ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};" : "+f" (sums[0]), "+f" (sums[1]), "+f" (sums[2]), "+f" (sums[3])
      : "r" (a.x), "r" (a.y), "r" (a.z), "r" (a.w), "r" (b0), "r" (b1));
#endif
}

#endif
