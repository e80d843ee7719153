/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How CUDA variants choose a kernel when the plan is made, and launch it for each plane. */
#ifndef CONVOLVE_CUDA_LAUNCH_CUH
#define CONVOLVE_CUDA_LAUNCH_CUH

#include "cuda/device/accepts.h"
#include "cuda/device/device.cuh"
#include "cuda/device/image.cuh"

/*
 * Taps as a launch parameter. Parameters are in constant memory and belong to one launch, unlike a __constant__ array.
 */
template <int N>
struct ConvolveParameters
{
  float tap[N];
};

/*
 * 29 x 29 taps fit into 4 KB of parameters with the image, and such launches are the cheapest. Larger masks have
 * kernels with the largest parameter. The plan allocates its taps to that size, so that a launch can copy them from
 * there.
 */
#define CONVOLVE_FEW_TAPS (29 * 29)
#define CONVOLVE_PARAMETER_BYTES 32764 /* of a launch on compute capability 7.0 and up, from CUDA 12.1 on */

static_assert (sizeof (ConvolveImage) + sizeof (ConvolveParameters<CONVOLVE_FEW_TAPS>) <= 4096
        && sizeof (ConvolveImage) + sizeof (ConvolveParameters<CONVOLVE_MAX_PARAMETER_TAPS>)
            <= CONVOLVE_PARAMETER_BYTES,
    "the image and the taps fit into the parameters");

/*
 * A kernel for each type of sum (float, double), sample type and boundary. CONVOLVE_KERNELS makes the table; its
 * arguments after the kernel's name are further template arguments of all kernels in the table. Masks that need sums in
 * double are rare: these kernels look the boundary up when they run, so that there is one to compile and not five. A
 * plan has no boundary constant.
 */
typedef const void *ConvolveKernels[2][CONVOLVE_N_SAMPLE_TYPES][CONVOLVE_BOUNDARY_CONSTANT];

#define CONVOLVE_KERNELS(name, ...) \
  { \
    { CONVOLVE_FLOAT_KERNELS (name, uint8_t, ##__VA_ARGS__), CONVOLVE_FLOAT_KERNELS (name, uint16_t, ##__VA_ARGS__) }, \
    { \
      CONVOLVE_DOUBLE_KERNELS (name, uint8_t, ##__VA_ARGS__), CONVOLVE_DOUBLE_KERNELS (name, uint16_t, ##__VA_ARGS__) \
    } \
  }
#define CONVOLVE_FLOAT_KERNELS(name, T, ...) \
  { \
    (const void *) name<T, CONVOLVE_BOUNDARY_ZERO, float, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_BOUNDARY_REPLICATE, float, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_BOUNDARY_REFLECT, float, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_BOUNDARY_REFLECT_101, float, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_BOUNDARY_WRAP, float, ##__VA_ARGS__> \
  }
#define CONVOLVE_DOUBLE_KERNELS(name, T, ...) \
  { \
    (const void *) name<T, CONVOLVE_ANYWHERE, double, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_ANYWHERE, double, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_ANYWHERE, double, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_ANYWHERE, double, ##__VA_ARGS__>, \
        (const void *) name<T, CONVOLVE_ANYWHERE, double, ##__VA_ARGS__> \
  }
static_assert (CONVOLVE_N_SAMPLE_TYPES == 2 && CONVOLVE_BOUNDARY_CONSTANT == 5 && CONVOLVE_N_BOUNDARIES == 6,
    "the tables have an entry for each sample type and each boundary");

/*
 * Two tables of kernels whose last template argument is the number of taps in their parameter: for few, and for many.
 */
typedef ConvolveKernels ConvolveParameterKernels[2];

#define CONVOLVE_PARAMETER_KERNELS(name) \
  { \
    CONVOLVE_KERNELS (name, CONVOLVE_FEW_TAPS), CONVOLVE_KERNELS (name, CONVOLVE_MAX_PARAMETER_TAPS) \
  }

/* The entry of the table for the plan. */
static inline const void *
convolve_kernel (const ConvolvePlan *plan, const ConvolveKernels &kernels)
{
  return kernels[plan->double_sums][plan->pixel.type][plan->boundary];
}

static inline const void *
convolve_parameter_kernel (const ConvolvePlan *plan, const ConvolveParameterKernels &kernels)
{
  return convolve_kernel (plan, kernels[plan->taps.width * plan->taps.height > CONVOLVE_FEW_TAPS]);
}

#define CONVOLVE_MOST_BLOCKS_DOWN 65535 /* the largest gridDim.y */

/* The grid of a kernel over a plane: blocks of tile_width x tile_height outputs, or a number of blocks. */
struct ConvolveGrid
{
  dim3 block;                  /* threads of a block */
  int tile_width, tile_height; /* outputs of a block, in pixels; 0 where the kernel divides the plane itself */
  size_t shared;               /* bytes of dynamic shared memory */
  dim3 blocks;                 /* blocks of the grid where tile_height is 0 */
  bool waits;                  /* the kernel calls convolve_wait (), so that it may overlap the launch before */
  bool ordered; /* it has a ConvolveOrder instead: no launch of a convolve_run () needs what another one of it wrote */
};

/*
 * Allows the kernel `bytes` of dynamic shared memory. Where this is above 48 KB, the kernel's limit is set to the
 * device's: the limit belongs to the kernel, and a smaller one would break an earlier plan. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_allow_shared (ConvolveDevice *device, const void *kernel, size_t bytes, ConvolveError *error);

/* Allocates plan->loaded, filled with 0. Returns NULL where memory is short. Errors: NO_MEMORY. */
void *convolve_new_loaded (ConvolvePlan *plan, size_t bytes, ConvolveError *error);

/* Fills the image from the plan and the plane, with all outputs of the plane's region. */
void convolve_image_init (ConvolveImage *image, const ConvolvePlan *plan, const ConvolvePlane *plane);

/* One launch of a kernel. The members are those of ConvolveGrid. */
struct ConvolveLaunch
{
  const void *kernel;
  dim3 blocks, block;
  size_t shared;
  bool waits, ordered;
};

/*
 * Enqueues the launch on the device's stream of kernels, after one that is held. name is the variant's, for the error's
 * text. The caller has made the device's context current and has called convolve_frame_enqueue (). Errors:
 * DEVICE_FAILED.
 */
ConvolveStatus convolve_enqueue (ConvolveDevice *device, const ConvolveLaunch &launch, void **arguments,
    const char *name, ConvolveError *error);

/* Of the second parameter of a kernel, at most: with the image, parameters up to 4 KB make the cheapest launches. */
#define CONVOLVE_SMALL_MASK 3072

/*
 * A launch over a plane, before it is enqueued. The kernel's first parameter is an image, and the second one is the
 * mask.
 */
struct ConvolvePrepared
{
  const void *kernel;
  ConvolveGrid grid; /* without tiles */
  alignas (16) unsigned char mask[CONVOLVE_SMALL_MASK];
};

#define CONVOLVE_MOST_TWO 2 /* kernels for two planes in which a plane's kernel has a part */

/*
 * The launch for a plane, which waits for the next plane of its frame, because one kernel could do both. Any other work
 * comes after it.
 */
struct ConvolveHeld
{
  const char *name; /* of the variant */
  ConvolveImage image;
  ConvolvePrepared alone, first;          /* this plane without the next one; this plane as the first one of two */
  const void *kernels[CONVOLVE_MOST_TWO]; /* for two planes, or NULL; which of them depends on the next plane */
};

/*
 * Holds the launch for a plane until convolve_flush (), or convolve_launch_two () for the next plane. Without host
 * memory the launch is not held. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_hold (const ConvolvePlan *plan, const ConvolvePlane *plane, const ConvolvePrepared &alone,
    const ConvolvePrepared &first, const void *const (&kernels)[CONVOLVE_MOST_TWO], ConvolveError *error);

/*
 * The last parameter of a kernel for two planes: the blocks side by side for each, and the rows of blocks for the
 * first.
 */
struct ConvolveTwoGrids
{
  unsigned columns[2], first_rows;
};

/*
 * Enqueues the kernel for two planes: the one that is held, and this one. Its parameters are an image and a mask of
 * each, and a ConvolveTwoGrids. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_launch_two (const ConvolvePlan *plan, const ConvolvePlane *plane, const void *kernel,
    const ConvolvePrepared &second, ConvolveError *error);

/*
 * Enqueues a kernel over the plane's region. The kernel has two parameters: a ConvolveImage, and what mask points to. A
 * region that is too high for one launch takes several where the grid has tiles. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_launch (const ConvolvePlan *plan, const ConvolvePlane *plane, const void *kernel,
    const ConvolveGrid &grid, const void *mask, ConvolveError *error);

/*
 * load () and run () of variants that are one kernel over tiles. mask is not copied, and must live as long as the plan.
 * Errors: NO_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_load_tiles (ConvolvePlan *plan, const void *kernel, const ConvolveGrid &grid, const void *mask,
    ConvolveError *error);
ConvolveStatus convolve_run_tiles (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/* Calls run () for two halves of the plane's region, for planes that are too large for one launch. */
enum ConvolveCut
{
  CONVOLVE_ONE_BELOW_THE_OTHER,
  CONVOLVE_SIDE_BY_SIDE
};

ConvolveStatus convolve_run_halves (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveCut cut,
    ConvolveStatus (*run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error),
    ConvolveError *error);

#endif
