/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Products of 16 x 16 and 16 x 8 matrices of 16-bit numbers on the tensor cores of sm_80 and up, sums in float32. A
 * lane holds rows g and g + 8 of the first and column g of the second, g = lane / 4, and of each the words t and t + 4
 * of the inner dimension, t = lane % 4, a word being two neighbours; of the sums rows g and g + 8 at columns 2 t and 2
 * t + 1.
 */
#ifndef CONVOLVE_LAYER_CUDA_MMA_CUH
#define CONVOLVE_LAYER_CUDA_MMA_CUH

#include <cuda_fp16.h>

/* Two neighbours as float16. */
struct ConvolveHalves
{
  static constexpr int terms = 1;
  uint32_t word;
};

/* Two neighbours as sums of two float16 each, which hold 22 bits; before that, the two as float32. */
struct ConvolveSplit
{
  static constexpr int terms = 2;
  uint32_t word, rest;
};

__device__ __forceinline__ uint32_t
convolve_halves (float a, float b)
{
  __half2 halves = __floats2half2_rn (a, b);

  return *(const uint32_t *) &halves;
}

__device__ __forceinline__ void
convolve_keep (float a, float b, ConvolveHalves *pair)
{
  pair->word = convolve_halves (a, b);
}

__device__ __forceinline__ void
convolve_keep (float a, float b, ConvolveSplit *pair)
{
  *(uint2 *) pair = make_uint2 (__float_as_uint (a), __float_as_uint (b));
}

/* Splits what was kept, times scale. */
__device__ __forceinline__ void
convolve_split (float scale, ConvolveSplit *pair)
{
  uint2 kept = *(const uint2 *) pair;
  float a = __uint_as_float (kept.x) * scale, b = __uint_as_float (kept.y) * scale;
  __half2 near = __floats2half2_rn (a, b);
  float2 whole = __half22float2 (near);

  *(uint2 *) pair = make_uint2 (*(const uint32_t *) &near, convolve_halves (a - whole.x, b - whole.y));
}

/* Copies 16 bytes from global to shared memory while the thread goes on; convolve_await() waits. */
__device__ __forceinline__ void
convolve_fetch (uint4 *to, const uint4 *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned) __cvta_generic_to_shared (to)), "l"(from)
               : "memory");
#endif
}

/* What was fetched since the last call is a batch. */
__device__ __forceinline__ void
convolve_fetched (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for this thread's batches but the last. */
__device__ __forceinline__ void
convolve_await (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

__device__ __forceinline__ void
convolve_multiply (float *sums, const uint4 &a, uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

#endif
