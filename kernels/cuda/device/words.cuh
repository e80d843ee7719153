/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words of memory and the samples in them: loads, conversions and stores of kernels whose threads have several outputs.
 *
 * Template parameters have one meaning in all of these kernels: T is the type of a sample, S the samples of a pixel, K
 * the side of the mask, W the groups of four pixels in a row of a thread's tile, and R the rows of that tile.
 */
#ifndef CONVOLVE_CUDA_WORDS_CUH
#define CONVOLVE_CUDA_WORDS_CUH

#include "common/integer_tail.h"
#include "cuda/device/launch.cuh"
#include "cuda/device/selectors.cuh"

#define CONVOLVE_GROUP 4 /* pixels that are loaded together; as many words of memory as a pixel has bytes */

/* Loads N words from an address that is aligned to 16 bytes where N % 4 == 0, to 8 where N % 2 == 0, otherwise to 4. */
template <int N>
static __device__ __forceinline__ void
convolve_load_words (const uint8_t *at, uint32_t *words)
{
  if (N % 4 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      uint4 four = __ldg ((const uint4 *) (at + i * 4));
      words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
    }
  else if (N % 2 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      uint2 two = __ldg ((const uint2 *) (at + i * 4));
      words[i] = two.x, words[i + 1] = two.y;
    }
  else
#pragma unroll
    for (int i = 0; i < N; i++)
      words[i] = __ldg ((const uint32_t *) at + i);
}

/* Stores N words at an address with the same alignment. */
template <int N>
static __device__ __forceinline__ void
convolve_store_words (uint8_t *at, const uint32_t (&words)[N])
{
  if (N % 4 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 4)
      *(uint4 *) (at + i * 4) = make_uint4 (words[i], words[(i + 1) % N], words[(i + 2) % N], words[(i + 3) % N]);
  else if (N % 2 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 2)
      *(uint2 *) (at + i * 4) = make_uint2 (words[i], words[(i + 1) % N]);
  else
#pragma unroll
    for (int i = 0; i < N; i++)
      ((uint32_t *) at)[i] = words[i];
}

/*
 * Enqueues a copy of 16 bytes from global to shared memory; convolve_wait_for_copies () waits for its end. Before
 * compute capability 8.0 the thread copies them itself.
 */
static __device__ __forceinline__ void
convolve_copy_later (void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"((unsigned) __cvta_generic_to_shared (to)), "l"(from)
               : "memory");
#else
  *(uint4 *) to = __ldg ((const uint4 *) from);
#endif
}

/*
 * The same where the whole line of the cache is wanted: the L2 cache fetches 128 bytes at once: what lies beside
 * the 16 bytes is wanted soon, by a neighbour or for the next row of this block.
 */
static __device__ __forceinline__ void
convolve_copy_line_later (void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;"
               :
               : "r"((unsigned) __cvta_generic_to_shared (to)), "l"(from)
               : "memory");
#endif
}

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
 * Two 16-bit samples of a word, each still shifted left by image.shift. Unused bits are cleared, and a value above the
 * largest becomes the largest.
 */
static __device__ __forceinline__ uint32_t
convolve_clean (const ConvolveImage &image, uint32_t word)
{
  return __vminu2 (word & (0xffff << image.shift & 0xffff) * 0x10001, (image.maximum << image.shift) * 0x10001);
}

/*
 * Sample k of words as a float. A 16-bit sample keeps its factor 2^image.shift, and the taps are divided by that factor
 * instead, which is exact: see convolve_tap_unit (). The sample is put into the low bits of the float 2^23, and 2^23 is
 * subtracted, because that is cheaper than the conversion of an integer.
 */
template <typename T>
static __device__ __forceinline__ float
convolve_value (const ConvolveImage &image, const uint32_t *words, int k)
{
  if (sizeof (T) == 1)
    return __uint_as_float (__byte_perm (words[k / 4], CONVOLVE_2_23_BITS, 0x7440 + k % 4)) - CONVOLVE_2_23;
  return __uint_as_float (
             __byte_perm (convolve_clean (image, words[k / 2]), CONVOLVE_2_23_BITS, k % 2 ? A2_A3_B2_B3 : A0_A1_B2_B3))
      - CONVOLVE_2_23;
}

/* The factor of the taps that takes the factor 2^shift of convolve_value () back. */
static inline float
convolve_tap_unit (const ConvolvePlan *plan)
{
  return 1.0f / (1 << plan->pixel.shift);
}

/* A word of the lower half of `above` (upper two bytes), high and low (lower two bytes), both clamped to 0 .. 255. */
static __device__ __forceinline__ uint32_t
convolve_clamp_bytes (int high, int low, uint32_t above)
{
  uint32_t result;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(high), "r"(low), "r"(above));
  return result;
}

/* A word of high and low, both clamped to 0 .. 65535. */
static __device__ __forceinline__ uint32_t
convolve_clamp_words (int high, int low)
{
  uint32_t result;

  asm("cvt.pack.sat.u16.s32 %0, %1, %2;" : "=r"(result) : "r"(high), "r"(low));
  return result;
}

/* As convolve_clamp_bytes (), clamped to -128 .. 127. */
static __device__ __forceinline__ uint32_t
convolve_clamp_signed_bytes (int high, int low, uint32_t above)
{
  uint32_t result;

  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(high), "r"(low), "r"(above));
  return result;
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

/*
 * Scales a sum, adds the offset and rounds down to an integer. All operations here round down, so that none moves a
 * number over an integer: only errors made before count, see ConvolveTail.floor_needs_double. The last addition moves
 * the integer to the low bits of the float, see CONVOLVE_MAGIC. For 8-bit samples the result is not clamped; its
 * magnitude is below 2^22, because convolve_border_accepts_pixels () refuses other masks.
 */
template <typename T>
static __device__ __forceinline__ int
convolve_floor_from (const ConvolveTail &tail, float offset, float sum)
{
  float value = __fmaf_rd (sum, tail.scale_f, __fmaf_rd (sum, tail.scale_low, offset));

  if (sizeof (T) > 1)
    value = fminf (fmaxf (value, 0), tail.maximum);
  return __float_as_int (__fadd_rd (value, CONVOLVE_MAGIC)) - CONVOLVE_MAGIC_BITS;
}

/* The same with the offset of this sample of the pixel. */
template <typename T>
static __device__ __forceinline__ int
convolve_floor (const ConvolveTail &tail, int sample, float sum)
{
  return convolve_floor_from<T> (tail, tail.offset_f[sample], sum);
}

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

/* The sample that a sum becomes, with the tail in double. A call, because few masks need it and it would be long. */
static __device__ __noinline__ unsigned
convolve_finish_double (const ConvolveImage *image, int sample, float sum)
{
  return convolve_tail_double (&image->tail, sample, sum) << image->shift;
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

/* The four bytes of four floats that an integer tail made. CLAMPS is the tail's `clamps`. */
template <bool CLAMPS>
static __device__ __forceinline__ uint32_t
convolve_pack_integers (const float (&values)[4])
{
  int bits[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    bits[i] = __float_as_int (values[i]) - (CLAMPS ? CONVOLVE_MAGIC_BITS : 0);
  return CLAMPS
      ? convolve_clamp_bytes (bits[1], bits[0], convolve_clamp_bytes (bits[3], bits[2], 0))
      : __byte_perm (__byte_perm (bits[0], bits[1], A0_B0), __byte_perm (bits[2], bits[3], A0_B0), A0_A1_B0_B1);
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
