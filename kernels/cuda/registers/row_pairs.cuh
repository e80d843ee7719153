/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sums along a row of bytes with weights of 16 bits: dp2a adds two products of a weight and a byte to a sum.
 *
 * A row of weights is packed twice, two weights in a word (convolve_border_pairs ()). Bytes are met in pairs that begin
 * at even places, so that no byte is moved.
 *
 * For example, with the row a b c and the samples s0 .. s11 of a group and its two neighbours, output 1 of the group
 * begins at the even place 4, and output 2 at the odd place 5:
 *
 *     even  | a | b | c | 0 |     output 1: a s4 + b s5 by the lower half of a word, c s6 by its upper half
 *     odd   | 0 | a | b | c |     output 2: a s5 by the lower half, b s6 + c s7 by the upper half
 */
#ifndef CONVOLVE_CUDA_ROW_PAIRS_CUH
#define CONVOLVE_CUDA_ROW_PAIRS_CUH

#include "cuda/registers/bytes.cuh"

/* sum plus two products of a signed 16-bit weight and an unsigned byte: the lower or the upper two bytes of a word. */
static __device__ __forceinline__ int
convolve_dot_of_bytes (int taps, uint32_t bytes, int half, int sum)
{
  int result;

  if (half)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(taps), "r"(bytes), "r"(sum));
  else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(taps), "r"(bytes), "r"(sum));
  return result;
}

/*
 * The row sum before the cut for sample s of output c, from the row's words and the bytes that convolve_pick_of_row ()
 * made of them. Bytes are met in pairs that begin at even places, by the even or the odd weights: no byte is moved. In
 * a row of three weights, one byte of a group beside the tile's is met where it lies in the words.
 */
template <int K, int S, int W>
static __device__ __forceinline__ int
convolve_row_sum (const uint32_t *words, const uint32_t *bytes, int s, int c, const int *even, const int *odd, int sum)
{
  const int first = CONVOLVE_GROUP + c - K / 2, before = CONVOLVE_GROUP - S + s;

#pragma unroll
  for (int i = 0; i < (K + 1) / 2; i++) {
    const int at = first - first % 2 + 2 * i;

    if (K == 3 && S > 1 && c == 0 && i == 0)
      sum =
          convolve_dot_of_bytes (before % 2 ? odd[0] : (int) ((unsigned) odd[0] >> 16), words[S - 1], before / 2, sum);
    else if (K == 3 && S > 1 && c == W * CONVOLVE_GROUP - 1 && i == 1)
      sum = convolve_dot_of_bytes (s % 2 ? even[1] << 16 : even[1], words[(W + 1) * S], s / 2, sum);
    else
      sum = convolve_dot_of_bytes (first % 2 ? odd[i] : even[i], bytes[at / 4], at % 4 / 2, sum);
  }
  return sum;
}

#endif
