/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tensor core instruction mma.m16n8k16 (sm_80 and up), asynchronous copies to shared memory, and pairs of float16.
 *
 * One instruction adds to 16 x 8 sums in float32 the product of a 16 x 16 matrix A and a 16 x 8 matrix B in float16.
 * For a layer, a row of A has 16 weights of a filter, and a column of B has the 16 samples under an output that meet
 * these weights. The matrices are spread over the 32 lanes of a warp. A 32-bit word holds a pair: the elements 2i and
 * 2i + 1 of a row of A or of a column of B. Lane 4g + t, with g = 0 .. 7 and t = 0 .. 3, holds:
 *
 *                                                    outputs 0 .. 7
 *                                                           g
 *                                                   +-------+---------+
 *                                   products 2t, +1 |       b0        |
 *                                                   |                 |  B: samples
 *                                   2t + 8, 2t + 9  |       b1        |
 *           products 2t, +1    2t + 8, 2t + 9       +-----------------+
 *          +------------------------------------+   +-----------------+
 *        g |    a.x                 a.z         |   |  sums[0], [1]   |  of outputs 2t, 2t + 1
 *          |                                    |   |                 |
 *    g + 8 |    a.y                 a.w         |   |  sums[2], [3]   |  of outputs 2t, 2t + 1
 *          +------------------------------------+   +-----------------+
 *  filters     A: weights                               sums
 *
 * For example lane 6 has g = 1 and t = 2. Its weights are those of filters 1 and 9 for products 4, 5, 12 and 13. Its
 * samples are those of output 1 for the same four products. Its sums are those of filters 1 and 9 for outputs 4 and 5.
 */
#ifndef CONVOLVE_LAYER_CUDA_MMA_CUH
#define CONVOLVE_LAYER_CUDA_MMA_CUH

#include <cuda_fp16.h>

/* A pair of numbers in float16. */
struct ConvolveHalves
{
  static constexpr int terms = 1;
  uint32_t word;
};

/*
 * A pair of numbers of 22 bits: each number is the sum of two terms in float16, of 11 bits each. `word` has the nearest
 * float16 of both numbers, `rest` has what is missing. Until convolve_split() the two members are the two numbers in
 * float32.
 *
 * A product of two such numbers is three products in float16; the fourth, of both rests, is too small to matter. For
 * example 2049.25 = 2050 - 0.75, because float16 has only even integers between 2048 and 4096; and 1 + 2^-11 is 1 with
 * the rest 2^-11 = 0.00049. Their product is 2050.25061:
 *
 *                 2050         -0.75
 *     1           2050         -0.75
 *     2^-11     + 1.00098      (left out: -0.00037)      sum of the three: 2050.25098
 */
struct ConvolveSplit
{
  static constexpr int terms = 2;
  uint32_t word, rest;
};

/* Two numbers, each rounded to float16, in one word; the first has the low 16 bits. */
__device__ __forceinline__ uint32_t
convolve_pack_halves (float first, float second)
{
  __half2 halves = __floats2half2_rn (first, second);

  return *(const uint32_t *) &halves;
}

/* Stores a pair of samples. A pair of the second type is still in float32 and needs convolve_split(). */
__device__ __forceinline__ void
convolve_store_pair (float first, float second, ConvolveHalves *pair)
{
  pair->word = convolve_pack_halves (first, second);
}

__device__ __forceinline__ void
convolve_store_pair (float first, float second, ConvolveSplit *pair)
{
  *(uint2 *) pair = make_uint2 (__float_as_uint (first), __float_as_uint (second));
}

/* Multiplies a stored pair by a power of two and splits both numbers into their terms. */
__device__ __forceinline__ void
convolve_split (float scale, ConvolveSplit *pair)
{
  uint2 stored = *(const uint2 *) pair;
  float first = __uint_as_float (stored.x) * scale, second = __uint_as_float (stored.y) * scale;
  __half2 nearest = __floats2half2_rn (first, second);
  float2 rounded = __half22float2 (nearest);

  *(uint2 *) pair =
      make_uint2 (*(const uint32_t *) &nearest, convolve_pack_halves (first - rounded.x, second - rounded.y));
}

/* Starts a copy of 16 bytes from global to shared memory; the thread does not wait for it. */
__device__ __forceinline__ void
convolve_copy_async (uint4 *to, const uint4 *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned) __cvta_generic_to_shared (to)), "l"(from)
               : "memory");
#endif
}

/*
 * As convolve_copy_async (), for `size` bytes, 4 or 16. The first `bytes` bytes are read from global memory, and the others
 * become 0.
 */
template <int size>
__device__ __forceinline__ void
convolve_copy_async_part (void *to, const void *from, int bytes)
{
#if __CUDA_ARCH__ >= 800
  unsigned address = (unsigned) __cvta_generic_to_shared (to);

  if (size == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
#endif
}

/* Ends a batch: the copies that this thread started since the last call. A batch may be empty. */
__device__ __forceinline__ void
convolve_commit_copies (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until all batches of this thread but the last `pending` are in shared memory. */
template <int pending>
__device__ __forceinline__ void
convolve_wait_batches (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#endif
}

/* Waits until all batches of this thread but the last one are in shared memory. */
__device__ __forceinline__ void
convolve_wait_copies (void)
{
  convolve_wait_batches<1> ();
}

/* sums += A * B, all lanes of a warp together, as drawn above. */
__device__ __forceinline__ void
convolve_mma (float *sums, const uint4 &a, uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

/*
 * As convolve_mma (), with 8 products of numbers in TF32, which is float32 with 10 bits of the fraction. A word holds one
 * number. Lane 4g + t has product t in a.x, a.y and b0, and product t + 4 in a.z, a.w and b1.
 */
__device__ __forceinline__ void
convolve_mma_tf32 (float *sums, const uint4 &a, uint32_t b0, uint32_t b1)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

#endif
