/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The values of several sets of taps become a sample: what the kernels of combinations share. */
#ifndef CONVOLVE_CUDA_SETS_CUH
#define CONVOLVE_CUDA_SETS_CUH

#include "common/root.h"
#include "cuda/registers/frame.cuh"
#include "cuda/registers/sets.h"

/* The root of CONVOLVE_NEAR_UNITS: one instruction, with a relative error of 2^-22 at most. */
static __device__ __forceinline__ float
convolve_near_root (float squares)
{
  float root;

  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(squares));
  return root;
}

/* convolve_root_double () as a call, because few masks need the function and it is long. */
static __device__ __noinline__ unsigned
convolve_call_root_double (const ConvolveRoot *root, int sample, double squares)
{
  return convolve_root_double (root, sample, squares);
}

/*
 * The state of one sample while the sums of its sets come one by one, in single precision. The sums of a magnitude
 * begin with ConvolveSets.start. The plan is exact or near_is_right.
 */
struct ConvolveCombining
{
  float near;          /* the sum of squares */
  float first, second; /* the two values of a pair */
  double squares;      /* of all others whose roots need it */
  int largest;         /* the largest result */
};

/* The result of one set of a largest value. For 8-bit samples the result may lie outside 0 .. 255. */
template <typename T>
static __device__ __forceinline__ int
convolve_set_result (const ConvolveSets &sets, int k, int sample, float sum)
{
  if (sets.tail[k].floor_needs_double)
    return (int) convolve_tail_double (&sets.tail[k], sample, sum);
  return convolve_floor<T> (sets.tail[k], sample, sum);
}

template <typename T>
static __device__ __forceinline__ void
convolve_combine (const ConvolveSets &sets, ConvolveCombining &combining, int k, int sample, float sum)
{
  if (sets.magnitude) {
    combining.near = __fmaf_rn (sum, sum, combining.near);
    combining.first = k == 0 ? sum : combining.first;
    combining.second = sum;
    if (!sets.root.near_is_right && !sets.is_pair)
      combining.squares += (double) sum * sum;
  } else {
    int result = convolve_set_result<T> (sets, k, sample, sum);

    combining.largest = k == 0 ? result : max (combining.largest, result);
  }
}

/* The sample, from 0 to the maximum. */
static __device__ __forceinline__ unsigned
convolve_combined (const ConvolveSets &sets, const ConvolveCombining &combining, int sample)
{
  if (!sets.magnitude)
    return min (max (combining.largest, 0), (int) sets.tail[0].maximum);
  if (!sets.root.near_is_right && !sets.is_pair)
    return convolve_call_root_double (&sets.root, sample, combining.squares);
  float near = convolve_near_root (combining.near);

  if (sets.is_pair)
    return convolve_root_pair (&sets.root, sample, combining.first, combining.second, near);
  return CONVOLVE_ROOT_LOW (convolve_root_near (&sets.root, sample, near));
}

/* The border, as convolve_border_group () does it for one set. taps[k] are those of set k. */
template <typename T, int S, int K>
static __device__ __forceinline__ bool
convolve_border_of_sets (const ConvolveImage &image, const ConvolveParts &parts, const ConvolveSets &sets,
    const float (&taps)[CONVOLVE_MAX_SETS][K][K])
{
  return convolve_walk_border<S> (image, parts, ConvolveBlock (), [&] (int x, int y, int end, int sample) {
    ConvolveCombining combining[CONVOLVE_GROUP] = {};

    if (!(image.select >> sample & 1)) {
      convolve_border_copy<T> (image, x, y, end, sample);
      return;
    }
#pragma unroll 1
    for (int k = 0; k < sets.count; k++) {
      float sums[CONVOLVE_GROUP];

#pragma unroll
      for (int c = 0; c < CONVOLVE_GROUP; c++)
        sums[c] = sets.start[k][sample];
      convolve_border_sums<T, K> (image, parts, taps[k], x, y, sample, sums);
#pragma unroll
      for (int c = 0; c < CONVOLVE_GROUP; c++)
        convolve_combine<T> (sets, combining[c], k, sample, sums[c]);
    }
#pragma unroll
    for (int c = 0; c < CONVOLVE_GROUP; c++)
      if (x + c < end)
        *convolve_destination<T> (image, x + c, y, sample) =
            (T) (convolve_combined (sets, combining[c], sample) << image.shift);
  });
}

/* Centres the sets in K x K taps each, times convolve_set_multiple (). */
template <int K>
static inline void
convolve_centre_sets (const ConvolvePlan *plan, float (&taps)[CONVOLVE_MAX_SETS][K][K])
{
  for (int k = 0; k < plan->n_parts; k++)
    convolve_centre<K> (&plan->parts[k].taps, convolve_set_multiple (plan, k), convolve_tap_unit (plan), taps[k]);
}

#endif
