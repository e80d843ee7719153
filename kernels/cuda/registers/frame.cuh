/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frame of the kernels of this room: what makes a kernel of a struct, for one plane or for two planes of a frame in
 * one launch, and what finds the struct for a plan.
 *
 * The struct has
 *
 *     shape      a thread's tile and a block, as ConvolveShape
 *     alone      whether no kernel for two planes has it: run () then holds the ConvolveOrder, otherwise the frame does
 *     Taps       the type of the kernel's second parameter, which begins with ConvolveParts
 *     run ()     what a block does
 *
 * Every launch costs a fixed time: on an H200 2.7 us from the end of the launch before to the first samples. At 1080p
 * that is more than the samples take. A frame of NV12 has a plane of one sample to a pixel and a smaller plane of two,
 * for which the same mask has another kernel. So there is a third kernel, with the code of both: the blocks with the
 * lowest numbers do the first plane, the others the second one. convolve_border_run () launches it where it gets both
 * planes one after the other, between two calls of convolve_device_independent (). The struct for such a kernel is a
 * template of K, the side of its mask, S, the samples of a pixel, CLAMPS, and TWO, whether it is part of a kernel for
 * two planes.
 */
#ifndef CONVOLVE_CUDA_FRAME_CUH
#define CONVOLVE_CUDA_FRAME_CUH

#include <type_traits>

#include "cuda/registers/border.cuh"

struct ConvolveShape
{
  int groups, rows;           /* of a thread's tile */
  int warps = CONVOLVE_WARPS; /* of a block */
  int blocks = 0;             /* so many have to fit on a multiprocessor at a time; 0 leaves the choice to nvcc */
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
__global__ void __launch_bounds__ (CONVOLVE_LANES *Kernel::shape.warps, Kernel::shape.blocks)
    convolve_one_plane (const __grid_constant__ ConvolveImage image, const __grid_constant__ typename Kernel::Taps taps)
{
  if constexpr (Kernel::alone) {
    Kernel::run (image, taps);
  } else {
    ConvolveOrder order (image);

    Kernel::run (image, taps, ConvolveBlock ());
  }
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
__global__ void __launch_bounds__ (CONVOLVE_LANES *First::shape.warps)
    convolve_two_planes (const __grid_constant__ ConvolveImage first,
        const __grid_constant__ typename First::Taps first_taps, const __grid_constant__ ConvolveImage second,
        const __grid_constant__ typename Second::Taps second_taps, const __grid_constant__ ConvolveTwoGrids grids)
{
  static_assert (First::shape.warps == Second::shape.warps, "all blocks of a launch have as many threads");
  ConvolveOrder order (first);

  if (blockIdx.y < grids.first_rows) {
    if (blockIdx.x < grids.columns[0])
      First::run (first, first_taps, ConvolveBlockBelow{ 0, grids.columns[0] });
  } else if (blockIdx.x < grids.columns[1]) {
    Second::run (second, second_taps, ConvolveBlockBelow{ grids.first_rows, grids.columns[1] });
  }
}

/* Loads the kernel of a struct for K x K weights. taps is copied. Errors: NO_MEMORY. */
template <int K, typename Kernel>
static inline ConvolveStatus
convolve_load_plane (ConvolvePlan *plan, const typename Kernel::Taps &taps, ConvolveError *error,
    const ConvolveBorderTwo &two = {})
{
  static_assert (sizeof (taps) <= CONVOLVE_SMALL_MASK && offsetof (typename Kernel::Taps, parts) == 0,
      "convolve_border_run () copies the mask and writes the parts over its beginning");
  constexpr ConvolveShape shape = Kernel::shape;

  return convolve_border_load (plan,
      { (const void *) convolve_one_plane<Kernel>, shape.groups * CONVOLVE_GROUP, shape.rows, shape.warps, K }, two,
      &taps, sizeof (taps), error);
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
  ConvolveBorderTwo two = {};

  if constexpr (S <= 2 && K <= CONVOLVE_TWO_SIDE) {
    constexpr ConvolveShape shape = Kernel<K, S, CLAMPS, true>::shape;

    two.part = { NULL, shape.groups * CONVOLVE_GROUP, shape.rows, shape.warps, K };
    two.most_pixels = CONVOLVE_TWO_PIXELS (K);
    two.kernels[0] = convolve_two_planes_kernel<Kernel, K, K, CLAMPS> ();
    if (K == (S == 1 ? 5 : 3))
      two.kernels[1] = convolve_two_planes_kernel<Kernel, 5, 3, CLAMPS> ();
  }
  return convolve_load_plane<K, Kernel<K, S, CLAMPS, false> > (plan, taps, error, two);
}

/* What kernels there are for pixels of 1, 2, 3 and 4 samples, and of 4 of which the last is copied: a bit for each. */
#define CONVOLVE_FOR_DEEP 0x0b
#define CONVOLVE_FOR_SAMPLES 0x0f
#define CONVOLVE_FOR_LAYOUTS 0x1f

/*
 * Calls load (k, s, c) with types whose values are K, the side of the smallest kernel for the plan's mask, S, the samples
 * of a pixel, and C, how many of them are convolved. SIDES is 2 for masks up to 5x5, or 4 for masks up to 9x9.
 */
template <int SIDES, unsigned LAYOUTS, typename Load, int K = 3>
static inline ConvolveStatus
convolve_load_for (const ConvolvePlan *plan, Load load)
{
  typedef std::integral_constant<int, K> Side;
  typedef std::integral_constant<int, 4> Four;
  typedef std::integral_constant<int, 3> Three;
  typedef std::integral_constant<int, 2> Two;
  typedef std::integral_constant<int, 1> One;

  if constexpr (K < 2 * SIDES + 1)
    if (K < 2 * convolve_border_size (plan) + 3)
      return convolve_load_for<SIDES, LAYOUTS, Load, K + 2> (plan, load);
  if constexpr ((LAYOUTS & 0x10) != 0)
    if (convolve_border_layout (plan) == 4)
      return load (Side (), Four (), Three ());
  if constexpr ((LAYOUTS & 0x04) != 0)
    if (plan->pixel.samples == 3)
      return load (Side (), Three (), Three ());
  return plan->pixel.samples == 4 ? load (Side (), Four (), Four ())
      : plan->pixel.samples == 2  ? load (Side (), Two (), Two ())
                                  : load (Side (), One (), One ());
}

/* Centres the mask in K x K taps, each times `multiple` and then `unit`. */
template <int K>
static inline void
convolve_centre (const ConvolveTaps *from, double multiple, float unit, float (&taps)[K][K])
{
  for (int j = 0; j < from->height; j++)
    for (int i = 0; i < from->width; i++)
      taps[j + (K - from->height) / 2][i + (K - from->width) / 2] =
          (float) (from->taps[j * from->width + i] * multiple) * unit;
}

#endif
