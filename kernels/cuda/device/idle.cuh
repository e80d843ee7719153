/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Launches that are to be done only if a number is not 0. */
#ifndef CONVOLVE_CUDA_IDLE_CUH
#define CONVOLVE_CUDA_IDLE_CUH

/*
 * Whether a launch is not to be done: see convolve_device_only_if (). The launches before it are complete, so a kernel that may start
 * before their end calls convolve_wait () first. A kernel with a ConvolveOrder ends by that.
 */
static __device__ __forceinline__ bool
convolve_is_idle (const unsigned *only_if)
{
  return only_if && *(const volatile unsigned *) only_if == 0;
}

#endif
