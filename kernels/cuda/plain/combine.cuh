/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sums of several sets become a sample, for sums of any plan, in float or in double. */
#ifndef CONVOLVE_CUDA_COMBINE_CUH
#define CONVOLVE_CUDA_COMBINE_CUH

#include "cuda/registers/sets.cuh"

/*
 * A magnitude in double precision from sums that may be of any plan. Each operation is rounded as on the CPU: the
 * compiler joins no product and sum of these.
 */
template <int N, typename Sum>
static __device__ __forceinline__ unsigned
convolve_magnitude_in_double (const ConvolveSets &sets, int sample, const Sum (&sums)[N])
{
  double squares = 0;

#pragma unroll
  for (int k = 0; k < N; k++)
    if (k < sets.count) {
      double value = __dmul_rn (__dsub_rn ((double) sums[k], sets.root.zero[k][sample]), sets.root.multiple[k]);

      squares = __dadd_rn (squares, __dmul_rn (value, value));
    }
  return convolve_call_root_double (&sets.root, sample, squares);
}

/* The largest of all sets' results, each with the tail of its own. */
template <int N, typename Sum>
static __device__ __forceinline__ unsigned
convolve_largest_result (const ConvolveSets &sets, int sample, const Sum (&sums)[N])
{
  unsigned largest = 0;

#pragma unroll
  for (int k = 0; k < N; k++)
    if (k < sets.count)
      largest = max (largest,
          sizeof (Sum) == sizeof (float) ? convolve_tail_float (&sets.tail[k], sample, (float) sums[k])
                                         : convolve_tail_double (&sets.tail[k], sample, sums[k]));
  return largest;
}

/* Exact sums are integers in single precision. Other magnitudes take double, as on the CPU. */
template <typename T, int N, typename Sum>
static __device__ __forceinline__ unsigned
convolve_combine_sums (const ConvolveSets &sets, int sample, const Sum (&sums)[N])
{
  if (!sets.magnitude)
    return convolve_largest_result<N, Sum> (sets, sample, sums);
  if (!sets.exact || sizeof (Sum) > sizeof (float))
    return convolve_magnitude_in_double<N, Sum> (sets, sample, sums);
  ConvolveCombining combining = {};

#pragma unroll
  for (int k = 0; k < N; k++)
    if (k < sets.count)
      convolve_combine<T> (sets, combining, k, sample,
          __fmaf_rn ((float) sums[k], sets.multiple[k], sets.start[k][sample]));
  return convolve_combined (sets, combining, sample);
}

#endif
