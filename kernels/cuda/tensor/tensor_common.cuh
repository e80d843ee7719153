/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all kernels on the integer tensor cores share. */
#ifndef CONVOLVE_CUDA_TENSOR_COMMON_CUH
#define CONVOLVE_CUDA_TENSOR_COMMON_CUH

#include "cuda/device/selectors.cuh"

/* Division by a number n that many threads share: i / n is divide (i, reciprocal (n)) for i * n below 2^16. */
static __host__ __device__ __forceinline__ int
reciprocal (int n)
{
  return (65535 + n) / n;
}

static __device__ __forceinline__ int
divide (int i, int reciprocal)
{
  return i * reciprocal >> 16;
}

#endif
