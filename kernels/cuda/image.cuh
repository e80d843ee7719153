/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the CUDA variants share: the image as a kernel sees it, loads with a boundary, the store, and the launch.
 * A kernel is a template over the sample's type T, the boundary, and the type Sum of its sums: float wherever
 * common/taps.c proved it good enough, double elsewhere. blockIdx.z is the sample within the pixel.
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

/* Taps as a launch parameter, which stands in the constant bank: private to the launch, unlike a __constant__ array. */
template <int N>
struct ConvolveParameters
{
  float tap[N];
};

/*
 * Masks up to 29 x 29 travel in the 4 KB that every launch carries cheaply; larger ones take all there is. The plan
 * allocates its taps to the full size, so that a launch can point to them.
 */
#define CONVOLVE_FEW_TAPS 841

static_assert (sizeof (ConvolveImage) + sizeof (ConvolveParameters<CONVOLVE_MAX_PARAMETER_TAPS>) <= 32764,
    "what one launch carries");

static inline bool
convolve_has_few_taps (const ConvolvePlan *plan)
{
  return plan->taps.width * plan->taps.height <= CONVOLVE_FEW_TAPS;
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

/* The boundary of a block that never reads outside the image: most blocks, so they pay nothing for edges. */
#define CONVOLVE_INSIDE CONVOLVE_N_BOUNDARIES

/* Whether a block whose outputs are at left, top reads only what is inside the image. */
__device__ __forceinline__ bool
convolve_is_inside (const ConvolveImage &image, int left, int top, int width, int height)
{
  int x_reach = image.mask_width / 2, y_reach = image.mask_height / 2;

  return left >= x_reach && top >= y_reach && left + width + x_reach <= image.width
      && top + height + y_reach <= image.height;
}

/* The sample at any x and y, inside the image or outside. */
template <typename T, ConvolveBoundary B>
__device__ __forceinline__ float
convolve_load (const ConvolveImage &image, int x, int y, int sample)
{
  if (B != CONVOLVE_INSIDE) {
    x = convolve_boundary_index (B, x, image.width);
    y = convolve_boundary_index (B, y, image.height);
    if (B == CONVOLVE_BOUNDARY_ZERO && (x < 0 || y < 0))
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

/* A kernel for each type of sum, sample type and boundary; what follows the name goes to all of them. */
template <typename Mask>
using ConvolveKernel = void (*) (ConvolveImage image, Mask mask);

template <typename Mask>
using ConvolveKernels = ConvolveKernel<Mask>[2][CONVOLVE_N_SAMPLE_TYPES][CONVOLVE_N_BOUNDARIES];

#define CONVOLVE_KERNELS(name, ...) \
  { \
    { CONVOLVE_KERNEL_ROW (name, uint8_t, float, ##__VA_ARGS__), \
      CONVOLVE_KERNEL_ROW (name, uint16_t, float, ##__VA_ARGS__) }, \
    { \
      CONVOLVE_KERNEL_ROW (name, uint8_t, double, ##__VA_ARGS__), \
          CONVOLVE_KERNEL_ROW (name, uint16_t, double, ##__VA_ARGS__) \
    } \
  }
#define CONVOLVE_KERNEL_ROW(name, T, Sum, ...) \
  { \
    name<T, CONVOLVE_BOUNDARY_ZERO, Sum, ##__VA_ARGS__>, name<T, CONVOLVE_BOUNDARY_REPLICATE, Sum, ##__VA_ARGS__>, \
        name<T, CONVOLVE_BOUNDARY_REFLECT, Sum, ##__VA_ARGS__>, \
        name<T, CONVOLVE_BOUNDARY_REFLECT_101, Sum, ##__VA_ARGS__>, \
        name<T, CONVOLVE_BOUNDARY_WRAP, Sum, ##__VA_ARGS__> \
  }
static_assert (CONVOLVE_N_SAMPLE_TYPES == 2 && CONVOLVE_N_BOUNDARIES == 5, "a new one needs its kernels");

/* How a variant covers the plane. */
struct ConvolveGrid
{
  dim3 block;                  /* threads */
  int tile_width, tile_height; /* outputs of one block */
  size_t shared;               /* bytes of dynamic shared memory */
  dim3 blocks;                 /* of kernels that divide the plane themselves; then there are no tiles */
  bool waits;                  /* the kernel calls convolve_wait (), so that launches may overlap */
};

/* The plane as kernels see it, all of its region. */
void convolve_image_init (ConvolveImage *image, const ConvolvePlan *plan, const ConvolvePlane *plane);

/* Enqueues a kernel over the plane's region. It takes a ConvolveImage and one more parameter, which mask points to. */
ConvolveStatus convolve_launch (const ConvolvePlan *plan, const ConvolvePlane *plane, const void *kernel,
    const ConvolveGrid &grid, const void *mask, ConvolveError *error);

template <typename Mask>
const void *
convolve_kernel (const ConvolvePlan *plan, const ConvolveKernels<Mask> &kernels)
{
  return (const void *) kernels[plan->wide_sums][plan->pixel.type][plan->boundary];
}

#endif
