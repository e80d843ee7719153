/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The image as a kernel sees it: loads with a boundary, the sum of products, the store. The kernels that use these are
 * templates over the sample's type T and the type Sum of their sums. Sum is float where common/taps.c proved that
 * single precision is good enough, and double elsewhere. blockIdx.z is the sample within the pixel.
 */
#ifndef CONVOLVE_CUDA_IMAGE_CUH
#define CONVOLVE_CUDA_IMAGE_CUH

#include <cuda_runtime.h>

#include "common/boundary.h"
#include "common/numbers.h"
#include "common/internal.h"
#include "common/tail.h"

#define CONVOLVE_BESIDE 90 /* the compute capability of devices whose launches may run beside each other */

/* One plane, with the members of ConvolvePlane, ConvolvePixel and ConvolvePlan that kernels need. */
struct ConvolveImage
{
  const uint8_t *source;
  uint8_t *destination;
  int64_t source_stride, destination_stride; /* bytes */
  int width, height;                         /* pixels */
  int x0, y0, x1, y1;                        /* the pixels to write: x0 <= x < x1, y0 <= y < y1 */
  int pixel_stride;                          /* bytes */
  int shift;                                 /* unused bits below a 16-bit sample */
  int maximum;                               /* the largest sample, 2^depth - 1 */
  unsigned select;                           /* bit i: sample i is convolved, otherwise it is copied */
  bool swapped;                              /* 16-bit samples are in the other byte order */
  bool beside;                               /* see ConvolveOrder */
  uint8_t boundary; /* a ConvolveBoundary, for CONVOLVE_ANYWHERE; in a byte, so that no other member moves */
  float zero[CONVOLVE_MAX_SAMPLES]; /* the level of each sample outside the picture, for the boundary zero */
  int mask_width, mask_height;
  ConvolveTail tail;
};

/*
 * Waits until all earlier launches are complete and their writes are visible. A kernel of a launch with
 * ConvolveGrid.waits calls this before it touches memory: its first blocks may start while the last blocks of the
 * launch before are still running.
 */
static __device__ __forceinline__ void
convolve_wait (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

/*
 * The order of a launch with ConvolveGrid.ordered and the launches before and after it. The kernel makes such an object
 * before it touches memory:
 *
 *  - Most launches wait as by convolve_wait (), and only then allow the launch after them to start.
 *  - A launch beside others, as of the second plane of a frame, may read and write while the launches before it do,
 *    back to the one that waited. Only its first block waits for them, at its end. So this launch is not complete
 *    before they are, and a launch that waits for this one waits for all.
 *
 * A launch beside others reads what was written before the one that waited, although it did not wait itself. CUDA
 * promises the order of that, and not that its caches are fresh. tests/kernels/check_independent.c checks it on an
 * H200, and other generations of GPUs have no launches beside others until it has run there.
 */
class ConvolveOrder
{
public:
  __device__ __forceinline__ explicit ConvolveOrder (const ConvolveImage &image) : image (image)
  {
#if __CUDA_ARCH__ >= 900
    if (!image.beside)
      asm volatile("griddepcontrol.wait;" : : : "memory");
    asm volatile("griddepcontrol.launch_dependents;");
#endif
  }

  __device__ __forceinline__ ~ConvolveOrder ()
  {
#if __CUDA_ARCH__ >= 900
    if (image.beside && (blockIdx.x | blockIdx.y | blockIdx.z) == 0)
      asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
  }

private:
  const ConvolveImage &image;
};

/*
 * Waits until the cp.async copies of all threads of the block are in shared memory. All threads of the block call it.
 */
static __device__ __forceinline__ void
convolve_wait_for_copies (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
  __syncthreads ();
}

/* A sample in the source. An offset within a row is below 2^31 bytes and has 32 bits; an offset of a row has 64. */
template <typename T>
__device__ __forceinline__ const T *
convolve_source (const ConvolveImage &image, int x, int y, int sample)
{
  return (const T *) (image.source + y * image.source_stride + (unsigned) (x * image.pixel_stride)) + sample;
}

/* A sample in the destination. */
template <typename T>
__device__ __forceinline__ T *
convolve_destination (const ConvolveImage &image, int x, int y, int sample)
{
  return (T *) (image.destination + y * image.destination_stride + (unsigned) (x * image.pixel_stride)) + sample;
}

/* A 16-bit sample with its bytes in this machine's order. The selector 0x4401 exchanges the two lower bytes. */
__device__ __forceinline__ unsigned
convolve_swap (const ConvolveImage &image, unsigned word)
{
  return image.swapped ? __byte_perm (word, 0, 0x4401) : word;
}

/*
 * Where a block reads, as a template argument P: a boundary of ConvolveBoundary where the compiler knows it, or one of
 * these. Most blocks read inside the image alone and need no checks.
 */
enum ConvolvePlace
{
  CONVOLVE_INSIDE = CONVOLVE_N_BOUNDARIES,
  CONVOLVE_ANYWHERE /* outside the image by image.boundary */
};

/*
 * convolve_boundary_index () as a call, for coordinates outside the image: few warps execute it, and inlined code would
 * take them long to fetch.
 */
static __device__ __noinline__ int
convolve_find_index (ConvolveBoundary boundary, int i, int n)
{
  return convolve_boundary_index (boundary, i, n);
}

/* Whether a block of width x height outputs from left, top on, with its halo, reads only inside the image. */
__device__ __forceinline__ bool
convolve_is_inside (const ConvolveImage &image, int left, int top, int width, int height)
{
  int x_radius = image.mask_width / 2, y_radius = image.mask_height / 2;

  return left >= x_radius && top >= y_radius && left + width + x_radius <= image.width
      && top + height + y_radius <= image.height;
}

/* The value of the sample at any x and y, inside the image or outside, between 0 and the largest sample. */
template <typename T, int P>
__device__ __forceinline__ float
convolve_load (const ConvolveImage &image, int x, int y, int sample)
{
  if (P < CONVOLVE_N_BOUNDARIES) {
    x = convolve_boundary_index ((ConvolveBoundary) P, x, image.width);
    y = convolve_boundary_index ((ConvolveBoundary) P, y, image.height);
  } else if (P == CONVOLVE_ANYWHERE) {
    x = (unsigned) x < (unsigned) image.width ? x
                                              : convolve_find_index ((ConvolveBoundary) image.boundary, x, image.width);
    y = (unsigned) y < (unsigned) image.height
        ? y
        : convolve_find_index ((ConvolveBoundary) image.boundary, y, image.height);
  }
  if ((P == CONVOLVE_BOUNDARY_ZERO || P == CONVOLVE_ANYWHERE) && (x < 0 || y < 0))
    return image.zero[sample];
  unsigned word = *convolve_source<T> (image, x, y, sample);
  if (sizeof (T) == 1)
    return word;
  return min ((int) (convolve_swap (image, word) >> image.shift), image.maximum);
}

/* Stores a code value. */
template <typename T>
__device__ __forceinline__ void
convolve_store_value (const ConvolveImage &image, int x, int y, int sample, unsigned value)
{
  if (sizeof (T) > 1)
    value = convolve_swap (image, value << image.shift);
  *convolve_destination<T> (image, x, y, sample) = (T) value;
}

/* Stores the sample that a sum becomes. */
template <typename T, typename Sum>
__device__ __forceinline__ void
convolve_store (const ConvolveImage &image, int x, int y, int sample, Sum sum)
{
  convolve_store_value<T> (image, x, y, sample,
      sizeof (Sum) == sizeof (float) ? convolve_tail_float (&image.tail, sample, (float) sum)
                                     : convolve_tail_double (&image.tail, sample, sum));
}

/*
 * Copies the sample where blockIdx.z is a sample that is not convolved, and returns true: the thread is then finished.
 * `writes` is whether this thread has an output.
 */
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
 * The sum of taps times samples, row by row. The order of the additions is the same in every kernel that uses this,
 * and so is the result. tap (k) is tap k of the mask in row-major order; sample (i, j) is the sample under its column
 * i and row j.
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

/* convolve_sum () with samples from the image's memory, for the output at x and y. */
template <typename T, int P, typename Sum, typename Tap>
__device__ __forceinline__ Sum
convolve_sum_neighbours (const ConvolveImage &image, Tap tap, int x, int y)
{
  return convolve_sum<Sum> (image, tap, [&] (int i, int j) {
    return convolve_load<T, P> (image, x + i - image.mask_width / 2, y + j - image.mask_height / 2, blockIdx.z);
  });
}

#endif
