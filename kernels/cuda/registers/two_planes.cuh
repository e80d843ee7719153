/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kernels for one plane, and for two planes of a frame in one launch.
 *
 * Every launch costs a fixed time: on an H200 2.7 us from the end of the launch before to the first samples. At 1080p
 * that is more than the samples take. A frame of NV12 has a plane of one sample to a pixel and a smaller plane of two,
 * for which the same mask has another kernel. So there is a third kernel, with the code of both: the blocks with the
 * lowest numbers do the first plane, the others the second one. convolve_border_run () launches it where it gets both
 * planes one after the other, between two calls of convolve_device_independent ().
 *
 * A kernel is given as a struct of the template parameters K, the side of its mask, S, the samples of a pixel, CLAMPS,
 * and TWO, whether it is part of a kernel for two planes:
 *
 *     W, R, V    the groups and rows of a thread's tile, the warps of a block
 *     Taps       the type of the kernel's second parameter, which begins with ConvolveParts
 *     run ()     what a block does
 */
#ifndef CONVOLVE_CUDA_TWO_PLANES_CUH
#define CONVOLVE_CUDA_TWO_PLANES_CUH

#include "cuda/registers/border.cuh"

/* W, R and V. */
struct ConvolveShape
{
  int groups, rows, warps;
};

/*
 * The largest side of a mask with a kernel for two planes. On the GPUs that have tensor cores, auto takes them for
 * larger masks.
 */
#define CONVOLVE_TWO_SIDE 5

/*
 * The most pixels of a first plane: twice those of 4K for masks up to 3x3, and twice those of 1080p for others. One
 * launch was faster for 3x3 at 4K and for 5x5 at 1080p. For 5x5 at 4K two launches, each with larger tiles, were as
 * fast.
 */
#define CONVOLVE_TWO_PIXELS(side) (1 << ((side) <= 3 ? 24 : 22))

template <typename Kernel>
__global__ void __launch_bounds__ (CONVOLVE_LANES *Kernel::V)
    convolve_one_plane (const __grid_constant__ ConvolveImage image, const __grid_constant__ typename Kernel::Taps taps)
{
  ConvolveOrder order (image);

  Kernel::run (image, taps, ConvolveBlock ());
}

/* The place of this block among those over its plane, where the launch has other blocks above. */
struct ConvolveBlockBelow
{
  unsigned above, side_by_side;

  __device__ __forceinline__ unsigned
  x (void) const
  {
    return blockIdx.x;
  }

  __device__ __forceinline__ unsigned
  y (void) const
  {
    return blockIdx.y - above;
  }

  __device__ __forceinline__ unsigned
  columns (void) const
  {
    return side_by_side;
  }
};

template <typename First, typename Second>
__global__ void __launch_bounds__ (CONVOLVE_LANES *First::V)
    convolve_two_planes (const __grid_constant__ ConvolveImage first,
        const __grid_constant__ typename First::Taps first_taps, const __grid_constant__ ConvolveImage second,
        const __grid_constant__ typename Second::Taps second_taps, const __grid_constant__ ConvolveTwoGrids grids)
{
  static_assert (First::V == Second::V, "all blocks of a launch have as many threads");
  ConvolveOrder order (first);

  if (blockIdx.y < grids.first_rows) {
    if (blockIdx.x < grids.columns[0])
      First::run (first, first_taps, ConvolveBlockBelow{ 0, grids.columns[0] });
  } else if (blockIdx.x < grids.columns[1]) {
    Second::run (second, second_taps, ConvolveBlockBelow{ grids.first_rows, grids.columns[1] });
  }
}

/* The kernel for K1 x K1 weights on a plane of one sample, and K2 x K2 weights on one of two. */
template <template <int, int, bool, bool> class Kernel, int K1, int K2, bool CLAMPS>
static inline const void *
convolve_two_planes_kernel (void)
{
  return (const void *) convolve_two_planes<Kernel<K1, 1, CLAMPS, true>, Kernel<K2, 2, CLAMPS, true> >;
}

/*
 * Loads the kernels for K x K weights and S samples. taps is copied. Both planes have the same weights, or the second
 * one has the narrower ones that a preset makes for a plane of half the size: 3x3 beside 5x5. Errors: NO_MEMORY.
 */
template <template <int, int, bool, bool> class Kernel, int K, int S, bool CLAMPS>
static inline ConvolveStatus
convolve_load_planes (ConvolvePlan *plan, const typename Kernel<K, S, CLAMPS, false>::Taps &taps, ConvolveError *error)
{
  typedef Kernel<K, S, CLAMPS, false> Alone;
  ConvolveBorderTwo two = {};

  if constexpr (S <= 2 && K <= CONVOLVE_TWO_SIDE) {
    typedef Kernel<K, S, CLAMPS, true> Part;

    two.part = { NULL, Part::W * CONVOLVE_GROUP, Part::R, Part::V, K };
    two.most_pixels = CONVOLVE_TWO_PIXELS (K);
    two.kernels[0] = convolve_two_planes_kernel<Kernel, K, K, CLAMPS> ();
    if (K == (S == 1 ? 5 : 3))
      two.kernels[1] = convolve_two_planes_kernel<Kernel, 5, 3, CLAMPS> ();
  }
  return convolve_border_load<K, Alone::W, Alone::R> (plan, (const void *) convolve_one_plane<Alone>, taps, Alone::V,
      error, two);
}

#endif
