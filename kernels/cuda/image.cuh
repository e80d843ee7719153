/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The image as a kernel sees it: loads with a boundary, the sum, the store. A kernel is a template over the sample's type
 * T and the type Sum of its sums: float wherever common/taps.c proved single precision good enough,
 * double elsewhere. blockIdx.z is the sample within the pixel.
 */
#ifndef CONVOLVE_CUDA_IMAGE_CUH
#define CONVOLVE_CUDA_IMAGE_CUH

#include <cuda_runtime.h>

#include "common/boundary.h"
#include "common/plan.h"
#include "common/tail.h"

struct ConvolveImage
{
  const uint8_t *source;
  uint8_t *destination;
  int64_t source_stride, destination_stride;
  int width, height;
  int x0, y0, x1, y1; /* the outputs to write */
  int pixel_stride, shift, maximum;
  unsigned select;
  bool swapped;
  ConvolveBoundary boundary;
  float zero[CONVOLVE_MAX_SAMPLES];
  int mask_width, mask_height;
  ConvolveTail tail;
};

/*
 * Where launches may overlap, the next one's blocks come while this one's last are at work, and wait here until what
 * was before them is done and written. To be called before memory is touched.
 */
static __device__ __forceinline__ void
convolve_wait (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

/* For all of the block: what its threads copy to shared memory with cp.async is there. */
static __device__ __forceinline__ void
convolve_wait_for_copies (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
  __syncthreads ();
}

/* A row is shorter than 2^31 bytes, so offsets in it are cheap; those of rows are not bounded. */
template <typename T>
__device__ __forceinline__ const T *
convolve_source (const ConvolveImage &image, int x, int y, int sample)
{
  return (const T *) (image.source + y * image.source_stride + (unsigned) (x * image.pixel_stride)) + sample;
}

template <typename T>
__device__ __forceinline__ T *
convolve_destination (const ConvolveImage &image, int x, int y, int sample)
{
  return (T *) (image.destination + y * image.destination_stride + (unsigned) (x * image.pixel_stride)) + sample;
}

__device__ __forceinline__ unsigned
convolve_swap (const ConvolveImage &image, unsigned word)
{
  return image.swapped ? __byte_perm (word, 0, 0x4401) : word;
}

/* Where a block reads: inside the image alone, as most blocks do, which so pay nothing for edges; or anywhere. */
enum ConvolvePlace
{
  CONVOLVE_INSIDE,
  CONVOLVE_ANYWHERE
};

/*
 * convolve_boundary_index () for a coordinate outside the image. Not inlined: few samples lie there, and warps would wait
 * for the instructions of all boundaries to be fetched.
 */
static __device__ __noinline__ int
convolve_find_index (ConvolveBoundary boundary, int i, int n)
{
  return convolve_boundary_index (boundary, i, n);
}

/* Whether a block whose outputs are at left, top reads only what is inside the image. */
__device__ __forceinline__ bool
convolve_is_inside (const ConvolveImage &image, int left, int top, int width, int height)
{
  int x_reach = image.mask_width / 2, y_reach = image.mask_height / 2;

  return left >= x_reach && top >= y_reach && left + width + x_reach <= image.width
      && top + height + y_reach <= image.height;
}

/* The sample at x and y. */
template <typename T, ConvolvePlace P>
__device__ __forceinline__ float
convolve_load (const ConvolveImage &image, int x, int y, int sample)
{
  if (P == CONVOLVE_ANYWHERE) {
    if ((unsigned) x >= (unsigned) image.width)
      x = convolve_find_index (image.boundary, x, image.width);
    if ((unsigned) y >= (unsigned) image.height)
      y = convolve_find_index (image.boundary, y, image.height);
    if (x < 0 || y < 0)
      return image.zero[sample];
  }
  unsigned word = *convolve_source<T> (image, x, y, sample);
  if (sizeof (T) == 1)
    return word;
  return min ((int) (convolve_swap (image, word) >> image.shift), image.maximum);
}

template <typename T, typename Sum>
__device__ __forceinline__ void
convolve_store (const ConvolveImage &image, int x, int y, int sample, Sum sum)
{
  unsigned value = sizeof (Sum) == sizeof (float) ? convolve_tail_float (&image.tail, sample, (float) sum)
                                                  : convolve_tail_double (&image.tail, sample, sum);

  if (sizeof (T) > 1)
    value = convolve_swap (image, value << image.shift);
  *convolve_destination<T> (image, x, y, sample) = (T) value;
}

/* A sample that is not convolved is copied, by the same grid. True where that was done: the block is finished. */
template <typename T>
__device__ __forceinline__ bool
convolve_copied (const ConvolveImage &image, int x, int y, bool writes)
{
  int sample = blockIdx.z;

  if (image.select >> sample & 1)
    return false;
  if (writes)
    *convolve_destination<T> (image, x, y, sample) = *convolve_source<T> (image, x, y, sample);
  return true;
}

/*
 * The sum of taps times samples, row by row, with one order of additions in every kernel. tap (k) is weight number k of
 * the mask, sample (i, j) is what lies under its column i and row j.
 */
template <typename Sum, typename Tap, typename Sample>
__device__ __forceinline__ Sum
convolve_sum (const ConvolveImage &image, Tap tap, Sample sample)
{
  Sum sum = 0;

  for (int j = 0; j < image.mask_height; j++) {
    Sum row = 0;
    for (int i = 0; i < image.mask_width; i++)
      row += tap (j * image.mask_width + i) * (Sum) sample (i, j);
    sum += row;
  }
  return sum;
}

/* The same with samples from the image's memory, for the output at x and y. */
template <typename T, ConvolvePlace P, typename Sum, typename Tap>
__device__ __forceinline__ Sum
convolve_sum_neighbours (const ConvolveImage &image, Tap tap, int x, int y)
{
  return convolve_sum<Sum> (image, tap, [&] (int i, int j) {
    return convolve_load<T, P> (image, x + i - image.mask_width / 2, y + j - image.mask_height / 2, blockIdx.z);
  });
}

#endif
