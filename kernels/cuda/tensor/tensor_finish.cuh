/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a warp of tensor turns the sums of its digits into samples, and writes these. */
#ifndef CONVOLVE_CUDA_TENSOR_FINISH_CUH
#define CONVOLVE_CUDA_TENSOR_FINISH_CUH

#include "cuda/tensor/tensor_tile.cuh"
#include "cuda/device/words.cuh"

/*
 * The total of output k of row t: sum 0 + 256 * sum 1 + 65536 * sum 2. FITS: the total is inside 32 bits, and integers
 * give it exactly, whatever overflows on the way. Otherwise the additions are made, and rounded, in float.
 */
template <bool FITS, int SUMS>
static __device__ __forceinline__ float
total_of (const int (&sums)[SUMS][ROWS][4], int t, int k)
{
  unsigned exact = sums[SUMS - 1][t][k];
  float rounded = (float) sums[SUMS - 1][t][k];

#pragma unroll
  for (int s = SUMS - 2; s >= 0; s--) {
    exact = exact * 256 + sums[s][t][k];
    rounded = __fmaf_rn (rounded, 256, (float) sums[s][t][k]);
  }
  return FITS ? (float) (int) exact : rounded;
}

/*
 * The tail in float. range_scale and range_offset are the tail's divided by range, so that one saturating
 * multiply-add also clamps. The result lies in the lowest bits: a float in 2^23 .. 2^24 has its last place at 1, and
 * rounding toward zero drops the fraction. range is 2^depth - 1/128, of which the largest sample remains.
 */
static __attribute__ ((unused)) __device__ __forceinline__ unsigned
finish (const TensorParameters &mask, int sample, float total)
{
  float value = __saturatef (__fmaf_rn (total, mask.range_scale, mask.range_offset[sample]));

  return __float_as_uint (__fmaf_rz (value, mask.range, CONVOLVE_2_23));
}

/* Two integers, clamped to the signed halves of a word. */
static __attribute__ ((unused)) __device__ __forceinline__ unsigned
clamp_to_signed_words (int high, int low)
{
  unsigned result = 0;

#if __CUDA_ARCH__ >= 800
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(result) : "r"(high), "r"(low));
#endif
  return result;
}

/* Two samples as they lie in memory, from the low bits of a and b. */
template <typename T>
static __device__ __forceinline__ unsigned
pack (const ConvolveImage &image, unsigned a, unsigned b)
{
  if (sizeof (T) == 1)
    return __byte_perm (a, b, A0_B0);
  unsigned both = __byte_perm (a, b, A0_A1_B0_B1) << image.shift;
  return image.swapped ? __byte_perm (both, 0, A1_A0_A3_A2) : both;
}

/*
 * The functions below turn the sums of a lane into its outputs: in each row t of the warp two side by side in the left
 * half of the tile's width, packed[t][0], and two in the right half, packed[t][1].
 */

/* By the tail in single precision. */
template <typename T, bool FITS, int SUMS>
static __device__ __forceinline__ void
finish_single (const ConvolveImage &image, const TensorParameters &mask, int sample, const int (&sums)[SUMS][ROWS][4],
    unsigned (&packed)[ROWS][2])
{
#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      packed[t][half] = pack<T> (image, finish (mask, sample, total_of<FITS> (sums, t, 2 * half)),
          finish (mask, sample, total_of<FITS> (sums, t, 2 * half + 1)));
}

/* By floats that are rounded down, see ConvolveTail.floor_needs_double. Results are clamped to 16 bits at most. */
template <typename T, int SUMS>
static __device__ __forceinline__ void
finish_floor (const ConvolveImage &image, const TensorParameters &mask, int sample, const int (&sums)[SUMS][ROWS][4],
    unsigned (&packed)[ROWS][2])
{
#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      packed[t][half] =
          pack<T> (image, convolve_floor<uint16_t> (mask.tail, sample, total_of<true> (sums, t, 2 * half)),
              convolve_floor<uint16_t> (mask.tail, sample, total_of<true> (sums, t, 2 * half + 1)));
}

/* By the tail in double precision, of integers below 2^53. Few masks need this. */
template <int SUMS>
static __device__ __forceinline__ unsigned
finish_double (const TensorParameters &mask, int sample, const int (&sums)[SUMS][ROWS][4], int t, int k)
{
  double total = sums[SUMS - 1][t][k];

#pragma unroll
  for (int s = SUMS - 2; s >= 0; s--)
    total = total * 256 + sums[s][t][k];
  return convolve_tail_double (&mask.tail, sample, total);
}

template <typename T, int SUMS>
static __device__ __forceinline__ void
finish_doubles (const ConvolveImage &image, const TensorParameters &mask, int sample, const int (&sums)[SUMS][ROWS][4],
    unsigned (&packed)[ROWS][2])
{
#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      packed[t][half] = pack<T> (image, finish_double (mask, sample, sums, t, 2 * half),
          finish_double (mask, sample, sums, t, 2 * half + 1));
}

/*
 * By a shift, see convolve_tensor_shifted (). The results of two outputs, less the middle of their range, are clamped
 * when they are packed; the exclusive or adds the middle.
 */
template <typename T, bool WIDE, int SUMS>
static __device__ __forceinline__ void
finish_shift (const ConvolveImage &image, const TensorParameters &mask, int sample, const int (&sums)[SUMS][ROWS][4],
    unsigned (&packed)[ROWS][2])
{
  const int start = mask.start[sample];

#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      int values[2];

#pragma unroll
      for (int k = 0; k < 2; k++)
        values[k] = convolve_tensor_shifted (WIDE, sums[0][t][2 * half + k],
            SUMS > 1 ? sums[1 % SUMS][t][2 * half + k] : 0, SUMS > 2 ? sums[2 % SUMS][t][2 * half + k] : 0,
            SUMS > 3 ? sums[3 % SUMS][t][2 * half + k] : 0, start, mask.shift);
      if (sizeof (T) == 1) {
        packed[t][half] = convolve_clamp_signed_bytes (values[1], values[0], 0) ^ 0x8080;
      } else {
        unsigned both =
            ((clamp_to_signed_words (values[1], values[0]) ^ 0x80008000) & mask.places.samples) >> mask.places.down;

        packed[t][half] = image.swapped ? __byte_perm (both, 0, A1_A0_A3_A2) : both;
      }
    }
}

/*
 * The integer tail, for taps of one digit: see common/integer_tail.h. The sums do not begin at the tail's start,
 * because that takes more registers than adding the start here.
 */
template <typename T, bool CLAMPS, int SUMS>
static __device__ __forceinline__ void
finish_integers (const ConvolveImage &image, const ConvolveIntegerTail &tail, int sample,
    const int (&sums)[SUMS][ROWS][4], unsigned (&packed)[ROWS][2])
{
  const int start = tail.start[sample];
  const float offset = tail.offset[sample];

#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      int a = __float_as_int (__fmaf_rd (__int_as_float (sums[0][t][2 * half] + start), tail.scale, offset));
      int b = __float_as_int (__fmaf_rd (__int_as_float (sums[0][t][2 * half + 1] + start), tail.scale, offset));

      packed[t][half] =
          CLAMPS ? convolve_clamp_bytes (b - CONVOLVE_MAGIC_BITS, a - CONVOLVE_MAGIC_BITS, 0) : pack<T> (image, a, b);
    }
}

template <typename T, int SUMS>
static __device__ __forceinline__ void
finish_all (const ConvolveImage &image, const TensorParameters &mask, int sample, const int (&sums)[SUMS][ROWS][4],
    unsigned (&packed)[ROWS][2])
{
  if (mask.finish == CONVOLVE_TENSOR_SHIFT)
    finish_shift<T, false> (image, mask, sample, sums, packed);
  else if (mask.finish == CONVOLVE_TENSOR_WIDE_SHIFT)
    finish_shift<T, true> (image, mask, sample, sums, packed);
  else if (sizeof (T) == 1 && SUMS == 1 && mask.finish == CONVOLVE_TENSOR_INTEGERS && !mask.integer_tail.clamps)
    finish_integers<T, false> (image, mask.integer_tail, sample, sums, packed);
  else if (sizeof (T) == 1 && SUMS == 1 && mask.finish == CONVOLVE_TENSOR_INTEGERS)
    finish_integers<T, true> (image, mask.integer_tail, sample, sums, packed);
  else if (mask.finish == CONVOLVE_TENSOR_DOUBLES)
    finish_doubles<T> (image, mask, sample, sums, packed);
  else if (mask.finish == CONVOLVE_TENSOR_FLOOR)
    finish_floor<T> (image, mask, sample, sums, packed);
  else if (mask.total_fits)
    finish_single<T, true> (image, mask, sample, sums, packed);
  else
    finish_single<T, false> (image, mask, sample, sums, packed);
}

/* Writes the outputs of one sample. left is the block's first column; the lane's first output is at x and y. */
template <typename T, int PIXEL>
static __device__ __forceinline__ void
store (const ConvolveImage &image, int sample, const unsigned (&packed)[ROWS][2], int left, int x, int y)
{
  uint8_t *to = (uint8_t *) convolve_destination<T> (image, x, y, sample);

  if (left + WIDTH <= image.x1 && y + ROWS <= image.y1 && (PIXEL == 1 || image.pixel_stride == sizeof (T))
      && (((uintptr_t) to | image.destination_stride) & (2 * sizeof (T) - 1)) == 0) {
#pragma unroll
    for (int t = 0; t < ROWS; t++, to += image.destination_stride)
#pragma unroll
      for (int half = 0; half < 2; half++)
        if (sizeof (T) == 1)
          *(uint16_t *) (to + half * WIDTH / 2) = packed[t][half];
        else
          *(uint32_t *) (to + half * WIDTH) = packed[t][half];
    return;
  }
#pragma unroll
  for (int t = 0; t < ROWS; t++, to += image.destination_stride)
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int next = k / 2 * (WIDTH / 2) + k % 2;

      if (x + next < image.x1 && y + t < image.y1)
        *(T *) (to + next * image.pixel_stride) = (T) (packed[t][k / 2] >> k % 2 * 8 * sizeof (T));
    }
}

/* The fourth samples, in the source, of a lane's two pixels in each half of the tile's width. PIXEL is 4. */
template <int PIXEL>
static __device__ __forceinline__ unsigned
load_copied (const uint8_t *from)
{
  const uint2 left = __ldg ((const uint2 *) from), right = __ldg ((const uint2 *) (from + WIDTH / 2 * PIXEL));

  return __byte_perm (__byte_perm (left.x, left.y, A3_B3), __byte_perm (right.x, right.y, A3_B3), A0_A1_B0_B1);
}

/*
 * Writes pixels of 2 to 4 samples of one byte each. stage has the lane's 4 outputs of sample s and row t in place
 * (s * ROWS + t) * THREADS, the two of the left half of the tile first. Of two sets of warps, one writes the even rows
 * and the other the odd ones. With PIXEL 4 the fourth sample comes from the source.
 */
template <int SETS, int PIXEL>
static __device__ __forceinline__ void
store_pixels (const ConvolveImage &image, const unsigned *stage, int left, int x, int y)
{
  constexpr int UNROLLED = PIXEL == 4 ? ROWS : 1; /* the rows of `copied` are registers */
  const int first = SETS == 2 ? threadIdx.z : 0;
  int samples = PIXEL ? PIXEL : image.pixel_stride;
  uint8_t *to = convolve_destination<uint8_t> (image, x, y, 0);
  const uint8_t *from = convolve_source<uint8_t> (image, x, y, 0);
  /* Two pixels are written as one word of 4 or 8 bytes, or as three words of 2 bytes. */
  const uint64_t places =
      (uintptr_t) to | image.destination_stride | (PIXEL == 4 ? (uintptr_t) from | image.source_stride : 0);
  bool aligned = left + WIDTH <= image.x1 && y + ROWS <= image.y1
      && (places
             & (samples == 4        ? 7
                     : samples == 2 ? 3
                                    : 1))
          == 0;
  unsigned copied[ROWS] = {};

  to += first * image.destination_stride;
#pragma unroll
  for (int t = 0; t < ROWS && PIXEL == 4; t++) /* all loads before the first store, so that their latencies overlap */
    if (aligned)
      copied[t] = load_copied<PIXEL> (from + t * image.source_stride);
#pragma unroll(UNROLLED)
  for (int t = first; t < ROWS; t += SETS, to += SETS * image.destination_stride) {
    unsigned outputs[4]; /* by sample; zeros for those that a pixel does not have */

#pragma unroll
    for (int sample = 0; sample < 4; sample++)
      outputs[sample] = PIXEL == 4 && sample == 3 ? copied[t]
          : sample < samples                      ? stage[(sample * ROWS + t) * THREADS]
                                                  : 0;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint8_t *at = to + half * WIDTH / 2 * samples;
      /* From the lowest byte: samples 0 and 1 of the first pixel and of the second; samples 2 and 3 likewise. */
      unsigned low = __byte_perm (outputs[0], outputs[1], half ? A2_B2_A3_B3 : A0_B0_A1_B1);
      unsigned high = __byte_perm (outputs[2], outputs[3], half ? A2_B2_A3_B3 : A0_B0_A1_B1);

      if (!aligned) {
        for (int k = 0; k < 2; k++)
          for (int sample = 0; sample < samples; sample++)
            if (x + half * WIDTH / 2 + k < image.x1 && y + t < image.y1)
              at[k * samples + sample] = PIXEL == 4 && sample == 3
                  ? from[t * image.source_stride + (half * WIDTH / 2 + k) * samples + sample]
                  : (sample < 2 ? low : high) >> (16 * k + 8 * (sample & 1));
      } else if (samples == 2) {
        *(unsigned *) at = low;
      } else if (samples == 4) {
        *(uint2 *) at = make_uint2 (__byte_perm (low, high, A0_A1_B0_B1), __byte_perm (low, high, A2_A3_B2_B3));
      } else { /* samples 0 and 1; sample 2, and sample 0 of the second pixel; samples 1 and 2 of the second pixel */
        ((uint16_t *) at)[0] = low;
        ((uint16_t *) at)[1] = __byte_perm (low, high, B0_A2);
        ((uint16_t *) at)[2] = __byte_perm (low, high, A3_B2);
      }
    }
  }
}

#endif
