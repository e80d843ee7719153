/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How CUDA variants choose a kernel when the plan is made, and launch it for each plane. */
#ifndef CONVOLVE_CUDA_LAUNCH_CUH
#define CONVOLVE_CUDA_LAUNCH_CUH

#include "cuda/accepts.h"
#include "cuda/device.cuh"
#include "cuda/image.cuh"

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

/* A kernel for each type of sum and sample type. What follows the name are more template arguments of all. */
typedef const void *ConvolveKernels[2][CONVOLVE_N_SAMPLE_TYPES];

#define CONVOLVE_KERNELS(name, ...) \
  { \
    { (const void *) name<uint8_t, float, ##__VA_ARGS__>, (const void *) name<uint16_t, float, ##__VA_ARGS__> }, \
    { \
      (const void *) name<uint8_t, double, ##__VA_ARGS__>, (const void *) name<uint16_t, double, ##__VA_ARGS__> \
    } \
  }
static_assert (CONVOLVE_N_SAMPLE_TYPES == 2, "a new type needs its kernels");

/* Kernels whose last template argument is the number of taps in their parameter: for few taps, and for many. */
typedef ConvolveKernels ConvolveParameterKernels[2];

#define CONVOLVE_PARAMETER_KERNELS(name) \
  { \
    CONVOLVE_KERNELS (name, CONVOLVE_FEW_TAPS), CONVOLVE_KERNELS (name, CONVOLVE_MAX_PARAMETER_TAPS) \
  }

static inline const void *
convolve_kernel (const ConvolvePlan *plan, const ConvolveKernels &kernels)
{
  return kernels[plan->wide_sums][plan->pixel.type];
}

static inline const void *
convolve_parameter_kernel (const ConvolvePlan *plan, const ConvolveParameterKernels &kernels)
{
  return convolve_kernel (plan, kernels[plan->taps.width * plan->taps.height > CONVOLVE_FEW_TAPS]);
}

#define CONVOLVE_MOST_BLOCKS_DOWN 65535 /* gridDim.y's limit */

/* How a kernel covers the plane. */
struct ConvolveGrid
{
  dim3 block;                  /* threads */
  int tile_width, tile_height; /* outputs of one block; 0 for kernels that divide the plane themselves */
  size_t shared;               /* bytes of dynamic shared memory */
  dim3 blocks;                 /* of kernels that divide the plane themselves */
  bool waits;                  /* the kernel calls convolve_wait (), so that launches may overlap */
};

/*
 * Lets the kernel have as much shared memory as a block of the device may take, once for all launches: a limit of
 * its own for each plan would undo that of an earlier plan. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_allow_shared (ConvolveDevice *device, const void *kernel, size_t bytes, ConvolveError *error);

/* A block of memory for plan->loaded, all 0, or NULL with NO_MEMORY. */
void *convolve_new_loaded (ConvolvePlan *plan, size_t bytes, ConvolveError *error);

/* The plane as kernels see it, all of its region. */
void convolve_image_init (ConvolveImage *image, const ConvolvePlan *plan, const ConvolvePlane *plane);

/* One launch on the stream of the kernels. */
struct ConvolveLaunch
{
  const void *kernel;
  dim3 blocks, block;
  size_t shared;
  bool waits; /* as in ConvolveGrid */
};

/* Enqueues it. name is the variant's, for the error. The device's context is current and its stream is ready. */
ConvolveStatus convolve_enqueue (ConvolveDevice *device, const ConvolveLaunch &launch, void **arguments,
    const char *name, ConvolveError *error);

/* Enqueues a kernel over the plane's region. It takes a ConvolveImage and one more parameter, which mask points to. */
ConvolveStatus convolve_launch (const ConvolvePlan *plan, const ConvolvePlane *plane, const void *kernel,
    const ConvolveGrid &grid, const void *mask, ConvolveError *error);

/* For variants that are one kernel over tiles: load () and run (). mask stays where it is, as the plan's taps do. */
ConvolveStatus convolve_load_tiles (ConvolvePlan *plan, const void *kernel, const ConvolveGrid &grid, const void *mask,
    ConvolveError *error);
ConvolveStatus convolve_run_tiles (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/* A plane that is too large for one launch is done in two halves, each by the same run (). */
enum ConvolveCut
{
  CONVOLVE_ONE_BELOW_THE_OTHER,
  CONVOLVE_SIDE_BY_SIDE
};

ConvolveStatus convolve_run_halves (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveCut cut,
    ConvolveStatus (*run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error),
    ConvolveError *error);

#endif
