/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The task as a kernel sees it, loads with padding, and the tail of every sum. A kernel takes one ConvolveLayerView; blockIdx is a tile of the output, a group of filters, and an image.
 * Types that are not worth a kernel of their own are told apart at run time, the same way for a whole launch.
 */
#ifndef CONVOLVE_LAYER_CUDA_IMAGE_CUH
#define CONVOLVE_LAYER_CUDA_IMAGE_CUH

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "layer/cuda/weights.h"

struct ConvolveLayerView
{
  ConvolveLayerTensor source, destination;
  ConvolveLayerType type;
  ConvolveBoundary boundary;
  ConvolveActivation activation;
  int height, width, out_width, first_row, end_row;
  int filters, channels, kernel_height, kernel_width, stride_y, stride_x, pad_top, pad_left;
  int pool_height, pool_width, pool_stride_y, pool_stride_x;
  float in_scale, in_offset, out_scale, out_offset;
  const float *weights, *bias; /* weights as the variant has laid them out */
  ConvolveLayerTiles tiles;
  int steps;       /* of gemm: products of 16 in a chunk; of fft: tiles at once */
  bool along;      /* of gemm: pairs of samples are neighbours in a row, not in channels */
  uint8_t *pixels; /* of blocked: pixels of four bytes, and what they hold besides the filters */
  uint32_t filling;
  void *spectra, *products; /* of fft */
  const void *weight_spectra;
};

/* The bits of the sample at a place, whose type T is float, uint16_t for float16, or uint8_t. */
template <typename T>
__device__ __forceinline__ uint32_t
convolve_layer_bits (const uint8_t *at)
{
  return sizeof (T) == sizeof (float)   ? __ldg ((const uint32_t *) at)
      : sizeof (T) == sizeof (uint16_t) ? __ldg ((const uint16_t *) at)
                                        : __ldg (at);
}

template <typename T>
__device__ __forceinline__ float
convolve_layer_value (const ConvolveLayerView &view, uint32_t bits)
{
  if (sizeof (T) == sizeof (float))
    return __uint_as_float (bits);
  if (sizeof (T) == sizeof (uint16_t))
    return __half2float (__ushort_as_half ((uint16_t) bits));
  return fmaf (view.in_scale, bits, view.in_offset);
}

template <typename T>
__device__ __forceinline__ float
convolve_layer_read (const ConvolveLayerView &view, const uint8_t *at)
{
  return convolve_layer_value<T> (view, convolve_layer_bits<T> (at));
}

/* The same for loads that nobody waits for. */
__device__ __forceinline__ float
convolve_layer_get (const ConvolveLayerView &view, const uint8_t *at)
{
  if (view.type == CONVOLVE_LAYER_FLOAT32)
    return convolve_layer_read<float> (view, at);
  return view.type == CONVOLVE_LAYER_FLOAT16 ? convolve_layer_read<uint16_t> (view, at)
                                             : convolve_layer_read<uint8_t> (view, at);
}

#define CONVOLVE_LAYER_NOWHERE INT32_MIN

/* Where row y and column x of a channel are, in bytes from its start, or CONVOLVE_LAYER_NOWHERE for 0. */
__device__ __forceinline__ int
convolve_layer_offset (const ConvolveLayerView &view, int y, int x)
{
  y = convolve_boundary_index (view.boundary, y, view.height);
  x = convolve_boundary_index (view.boundary, x, view.width);
  return y < 0 || x < 0 ? CONVOLVE_LAYER_NOWHERE
                        : y * (int) view.source.row_stride + x * (int) view.source.column_stride;
}

/* A sum with its bias. Without branches, for there are many. */
__device__ __forceinline__ float
convolve_layer_activate (const ConvolveLayerView &view, float value)
{
  unsigned mask = view.activation == CONVOLVE_ACTIVATION_ABSOLUTE ? 0x7fffffff : 0xffffffff;

  value = fmaxf (value, view.activation == CONVOLVE_ACTIVATION_RELU ? 0 : -INFINITY);
  return __uint_as_float (__float_as_uint (value) & mask);
}

/* The code value of an output. */
__device__ __forceinline__ unsigned
convolve_layer_code (const ConvolveLayerView &view, float value)
{
  return (unsigned) (fminf (fmaxf (fmaf (value, view.out_scale, view.out_offset), 0), 255) + 0.5f);
}

__device__ __forceinline__ void
convolve_layer_set (const ConvolveLayerView &view, uint8_t *at, float value)
{
  if (view.type == CONVOLVE_LAYER_FLOAT32)
    *(float *) at = value;
  else if (view.type == CONVOLVE_LAYER_FLOAT16)
    *(__half *) at = __float2half_rn (value);
  else
    *at = (uint8_t) convolve_layer_code (view, value);
}

/* The first output of this block's tile. */
__device__ __forceinline__ int
convolve_layer_left (const ConvolveLayerView &view)
{
  return blockIdx.x % view.tiles.across * view.tiles.width;
}

__device__ __forceinline__ int
convolve_layer_top (const ConvolveLayerView &view)
{
  return view.first_row + blockIdx.x / view.tiles.across * view.tiles.height;
}

/* All threads together write the tile's outputs of one filter from the activated convolution in shared memory. */
__device__ __forceinline__ void
convolve_layer_pool (const ConvolveLayerView &view, const float *values, int pitch, int k, int thread, int threads)
{
  uint8_t *plane = convolve_layer_plane (&view.destination, blockIdx.z, k);
  int left = convolve_layer_left (view), top = convolve_layer_top (view);

  for (int n = thread; n < view.tiles.width * view.tiles.height; n += threads) {
    int x = n % view.tiles.width, y = n / view.tiles.width;
    const float *window = values + y * view.pool_stride_y * pitch + x * view.pool_stride_x;
    float most = -INFINITY;

    if (left + x >= view.out_width || top + y >= view.end_row)
      continue;
    for (int j = 0; j < view.pool_height; j++)
      for (int i = 0; i < view.pool_width; i++)
        most = fmaxf (most, window[j * pitch + i]);
    convolve_layer_set (view,
        plane + (top + y) * view.destination.row_stride + (left + x) * view.destination.column_stride, most);
  }
}

#endif
