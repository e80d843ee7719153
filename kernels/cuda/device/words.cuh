/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words of memory and the samples in them: loads, conversions and stores. T is the type of a sample. */
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
 * subtracted, because that is cheaper than the conversion of an integer. For 16-bit samples, more may be subtracted.
 */
template <typename T>
static __device__ __forceinline__ float
convolve_value (const ConvolveImage &image, const uint32_t *words, int k, float less = CONVOLVE_2_23)
{
  if (sizeof (T) == 1)
    return __uint_as_float (__byte_perm (words[k / 4], CONVOLVE_2_23_BITS, 0x7440 + k % 4)) - CONVOLVE_2_23;
  return __uint_as_float (
             __byte_perm (convolve_clean (image, words[k / 2]), CONVOLVE_2_23_BITS, k % 2 ? A2_A3_B2_B3 : A0_A1_B2_B3))
      - less;
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

/* The sample that a sum becomes, with the tail in double. A call, because few masks need it and it would be long. */
static __device__ __noinline__ unsigned
convolve_finish_double (const ConvolveImage *image, int sample, float sum)
{
  return convolve_tail_double (&image->tail, sample, sum) << image->shift;
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

#endif
