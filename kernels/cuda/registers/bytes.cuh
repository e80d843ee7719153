/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups of four pixels in the words of memory, for threads that have several outputs: products of bytes, samples that
 * are taken out of words, and results that are put into them.
 *
 * Template parameters have one meaning in all of these kernels: T is the type of a sample, S the samples of a pixel, K
 * the side of the mask, W the groups of four pixels in a row of a thread's tile, and R the rows of that tile.
 */
#ifndef CONVOLVE_CUDA_BYTES_CUH
#define CONVOLVE_CUDA_BYTES_CUH

#include "cuda/device/words.cuh"

/* sum plus four products of an unsigned byte and a signed byte. */
static __device__ __forceinline__ int
convolve_dot (uint32_t bytes, int taps, int sum)
{
  int result;

  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(taps), "r"(sum));
  return result;
}

/*
 * Copies weights from the launch's parameters to taps. From compute capability 10.0 on, dp4a and dp2a have no operand
 * in the constant bank, and the compiler takes minutes to place the weights. The empty assembly forces them into
 * registers there.
 */
template <int N>
static __device__ __forceinline__ void
convolve_take (int (&taps)[N], const int (&from)[N])
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    taps[i] = from[i];
#if __CUDA_ARCH__ >= 1000
    asm volatile("" : "+r"(taps[i]));
#endif
  }
}

/* The four bytes that begin at byte k of words. words[k / 4 + 1] is read only where k is no multiple of 4. */
static __device__ __forceinline__ uint32_t
convolve_shifted (const uint32_t *words, int k)
{
  /* The selector 0x3210 is word a itself; each byte further adds 1 to all four digits. */
  return k % 4 == 0 ? words[k / 4] : __byte_perm (words[k / 4], words[k / 4 + 1], 0x3210 + k % 4 * 0x1111);
}

/*
 * A column of four samples, that of the top row in the lowest byte. The top one leaves, the others move up, and byte k
 * of words enters at the bottom.
 */
static __device__ __forceinline__ uint32_t
convolve_move_down (uint32_t column, const uint32_t *words, int k)
{
  return __byte_perm (column, words[k / 4], 0x0321 | (4 + k % 4) << 12);
}

/*
 * One sample of the four pixels of a group, for 8-bit samples. A group is S words: with S = 2 they are ABAB ABAB, and
 * with S = 3 ABCA BCAB CABC.
 */
template <int S>
static __device__ __forceinline__ uint32_t
convolve_pick (const uint32_t *words, int sample)
{
  if (S == 1)
    return words[0];
  if (S == 2)
    return __byte_perm (words[0], words[S - 1], sample == 0 ? A0_A2_B0_B2 : A1_A3_B1_B3);
  if (S == 3) {
    const unsigned first = sample == 0 ? A0_A3_B2 : sample == 1 ? A1_B0_B3 : A2_B1;
    const unsigned then = sample == 0 ? A0_A1_A2_B1 : sample == 1 ? A0_A1_A2_B2 : A0_A1_B0_B3;

    return __byte_perm (__byte_perm (words[0], words[1], first), words[S - 1], then);
  }
  unsigned from = sample | (sample + 4) << 4;
  uint32_t low = __byte_perm (words[0], words[1], from), high = __byte_perm (words[2], words[S - 1], from);
  return __byte_perm (low, high, A0_A1_B0_B1);
}

/*
 * One sample of the four pixels of group g of a row, 0 <= g <= W + 1, as convolve_pick (). With three or four samples
 * to a pixel and K <= 5, only the K / 2 pixels that the mask meets are right in the first and the last group: they lie
 * in one or two words, and the others are not loaded. Of other groups of four samples, two samples share the first
 * step.
 */
template <int K, int S, int W>
static __device__ __forceinline__ uint32_t
convolve_pick_of_row (const uint32_t *words, int g, int s)
{
  const uint32_t *group = words + g * S;

  if (S > 2 && K <= 5 && g == 0)
    return __byte_perm (group[K == 3 ? S - 1 : S - 2], group[S - 1], ((8 - 2 * S + s) | (8 - S + s) << 4) << 8);
  if (S > 2 && K <= 5 && g == W + 1)
    return __byte_perm (group[0], group[K == 3 ? 0 : 1], s | (S + s) << 4);
  if (S < 4)
    return convolve_pick<S> (group, s);
  const unsigned both = s < 2 ? A0_B0_A1_B1 : A2_B2_A3_B3;

  return __byte_perm (__byte_perm (group[0], group[1 % S], both), __byte_perm (group[2 % S], group[S - 1], both),
      s % 2 == 0 ? A0_A1_B0_B1 : A2_A3_B2_B3);
}

/*
 * The bytes of four values less 128, the middle. They are clamped to signed bytes; to flip the uppermost bit adds 128
 * again.
 */
static __device__ __forceinline__ uint32_t
convolve_clamp_around_middle (const int (&values)[4])
{
  return convolve_clamp_signed_bytes (values[1], values[0], convolve_clamp_signed_bytes (values[3], values[2], 0))
      ^ 0x80808080;
}

/* The reverse of convolve_pick (): word i of a group. samples[s] has the four bytes of sample s. */
template <int S>
static __device__ __forceinline__ uint32_t
convolve_weave (const uint32_t *samples, int i)
{
  if (S == 1)
    return samples[0];
  if (S == 2)
    return __byte_perm (samples[0], samples[S - 1], i == 0 ? A0_B0_A1_B1 : A2_B2_A3_B3);
  if (S == 3) {
    const unsigned first = i == 0 ? A0_B0_A1 : i == 1 ? B1_A2_B2 : A3_B3;
    const unsigned then = i == 0 ? A0_A1_B0_A2 : i == 1 ? A0_B1_A1_A2 : B2_A0_A1_B3;

    return __byte_perm (__byte_perm (samples[0], samples[1], first), samples[S - 1], then);
  }
  unsigned from = i | (i + 4) << 4;
  uint32_t low = __byte_perm (samples[0], samples[1], from), high = __byte_perm (samples[2], samples[S - 1], from);
  return __byte_perm (low, high, A0_A1_B0_B1);
}

/*
 * The four bytes of four integer sums, see common/integer_tail.h. samples[i] is the index within its pixel of the
 * sample of sums[i]. CLAMPS is the tail's `clamps` as a template parameter: a branch would divide the code into blocks,
 * and the compiler could not interleave their instructions.
 */
template <bool CLAMPS>
static __device__ __forceinline__ uint32_t
convolve_finish_integers (const ConvolveIntegerTail &tail, const int *samples, const int *sums)
{
  float values[CONVOLVE_GROUP];

#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    values[c] = __fmaf_rd (__int_as_float (sums[c]), tail.scale, tail.offset[samples[c]]);
  return convolve_pack_integers<CLAMPS> (values);
}

/*
 * The bytes of convolve_store_row () for 8-bit samples, three to a pixel, which are finished sample by sample and woven
 * then.
 */
template <int W, typename Sum, typename Finish>
static __device__ __forceinline__ void
convolve_weave_row (const ConvolveImage &image, const Sum (&sums)[3][W * CONVOLVE_GROUP], const uint32_t *source,
    Finish finish, uint32_t (&out)[W * 3])
{
#pragma unroll
  for (int g = 0; g < W; g++) {
    uint32_t done[3];

#pragma unroll
    for (int s = 0; s < 3; s++) {
      const int samples[4] = { s, s, s, s };

      done[s] = finish (samples, &sums[s][g * CONVOLVE_GROUP]);
      if (!(image.select >> s & 1))
        done[s] = convolve_pick<3> (source + g * 3, s);
    }
#pragma unroll
    for (int i = 0; i < 3; i++)
      out[g * 3 + i] = convolve_weave<3> (done, i);
  }
}

/*
 * Stores one row of a thread's tile. finish (samples, sums) gives the word that 4 (8-bit) or 2 (16-bit) sums become,
 * with samples as in convolve_finish_integers (). source is the same part of the input, for copied samples. The first C
 * samples of a pixel have sums, and the others are copied. Where C is S, image.select says which are copied all the
 * same.
 *
 * Words are finished as they lie in memory. Three bytes to a pixel are woven instead, which needs fewer registers.
 */
template <typename T, int S, int C, int W, typename Sum, typename Finish>
static __device__ __forceinline__ void
convolve_store_row (const ConvolveImage &image, uint8_t *to, const Sum (&sums)[C][W * CONVOLVE_GROUP],
    const uint32_t *source, Finish finish)
{
  constexpr int words = W * S * sizeof (T), per_word = 4 / sizeof (T);
  uint32_t out[words];

  if constexpr (S == 3 && sizeof (T) == 1) {
    convolve_weave_row<W> (image, sums, source, finish, out);
  } else {
#pragma unroll
    for (int i = 0; i < words; i++) {
      uint32_t copied = 0; /* the bits of samples that are copied */
      Sum parts[4] = {};
      int samples[4] = {};

#pragma unroll
      for (int k = 0; k < per_word; k++) {
        const int at = i * per_word + k, s = at % S;

        samples[k] = s;
        parts[k] = s < C ? sums[s < C ? s : 0][at / S] : Sum ();
        if (C < S ? s >= C : !(image.select >> s & 1))
          copied |= (sizeof (T) == 1 ? 0xffu : 0xffffu) << k * 8 * sizeof (T);
      }
      out[i] = finish (samples, parts);
      if (S > 1)
        out[i] = (out[i] & ~copied) | (source[i] & copied);
    }
  }
  convolve_store_words (to, out);
}

/* convolve_store_row () for 8-bit samples from integer sums. */
template <int S, int C, int W, bool CLAMPS>
static __device__ __forceinline__ void
convolve_store_integers (const ConvolveImage &image, const ConvolveIntegerTail &tail, uint8_t *to,
    const int (&sums)[C][W * CONVOLVE_GROUP], const uint32_t *source)
{
  convolve_store_row<uint8_t, S, C, W> (image, to, sums, source,
      [&] (const int *samples, const int *four) { return convolve_finish_integers<CLAMPS> (tail, samples, four); });
}

#endif
