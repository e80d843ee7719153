/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the layer's CUDA kernels share: their parameter, loads of samples with padding, and the epilogue (activation,
 * pooling, conversion to the output's type).
 *
 * Every kernel takes one ConvolveLayerView, or a struct of its variant that adds members to it. Unless a kernel says otherwise, blockIdx.x is a tile of the output,
 * blockIdx.y a group of filters, and blockIdx.z an image of the batch. Where the type of samples is no template
 * argument, the view has it: all threads of a launch take the same branch.
 */
#ifndef CONVOLVE_LAYER_CUDA_IMAGE_CUH
#define CONVOLVE_LAYER_CUDA_IMAGE_CUH

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "layer/cuda/wgmma.h"

struct ConvolveLayerView
{
  /* The task and the layer, for all variants. Sizes are in samples. */
  ConvolveLayerTensor source, destination;
  ConvolveLayerType type;
  ConvolveBoundary boundary;
  ConvolveActivation activation;
  int height, width;                 /* of the source */
  int out_width, first_row, end_row; /* of the output: rows first_row <= y < end_row are written */
  int filters, channels, kernel_height, kernel_width, stride_y, stride_x, pad_top, pad_left;
  int pool_height, pool_width, pool_stride_y, pool_stride_x;
  float in_scale, in_offset, out_scale, out_offset; /* of 8-bit samples, as in ConvolveLayer */
  const float *weights, *bias;                      /* on the device, in the order of the variant's prepare() */

  ConvolveLayerTiles tiles; /* of the variant */
  /*
   * Of gemm, as in ConvolveLayerGemm, and of wgmma. In structs of these two, as the other variants have, the compiler makes
   * other code than the one that was timed.
   */
  int gemm_slices;
  bool gemm_row_pairs;
  ConvolveLayerWgmmaPart wgmma;
  int wgmma_tiles, wgmma_image_tiles; /* of all images, and of one */
  bool wgmma_aligned_in;              /* pieces can be loaded at once */
  bool wgmma_aligned_out;             /* four outputs from a column that 4 divides can be stored at once */

  /* What only layers have that convolve_layer_is_plain() denies; the kernels of direct and shared read it for these. */
  int dilation_y, dilation_x, pool_dilation_y, pool_dilation_x, pool_pad_top, pool_pad_left;
  int conv_height, conv_width;                     /* of the output before pooling */
  int first_filter, group_filters, group_channels; /* as in ConvolveLayerPlan */
};

/*
 * Loading and converting are two functions, so that a thread can start many loads before it needs the first value. T is
 * the type of samples: float, uint16_t for float16, or uint8_t.
 */

/* The bits of the sample at an address. */
template <typename T>
__device__ __forceinline__ uint32_t
convolve_layer_bits (const uint8_t *at)
{
  return sizeof (T) == sizeof (float)   ? __ldg ((const uint32_t *) at)
      : sizeof (T) == sizeof (uint16_t) ? __ldg ((const uint16_t *) at)
                                        : __ldg (at);
}

/* The value that those bits stand for. */
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

/* The value of the sample at an address, its type taken from the view. For loads that do not limit the speed. */
__device__ __forceinline__ float
convolve_layer_read_any (const ConvolveLayerView &view, const uint8_t *at)
{
  if (view.type == CONVOLVE_LAYER_FLOAT32)
    return convolve_layer_read<float> (view, at);
  return view.type == CONVOLVE_LAYER_FLOAT16 ? convolve_layer_read<uint16_t> (view, at)
                                             : convolve_layer_read<uint8_t> (view, at);
}

#define CONVOLVE_LAYER_ZERO_PADDING INT32_MIN /* offsets of samples are larger: a channel spans less than 2^31 bytes */

/*
 * The offset in bytes, from the start of a channel, of the sample for row y and column x, which may be in the padding.
 * CONVOLVE_LAYER_ZERO_PADDING where padding is 0 and no sample of the image stands for it.
 */
__device__ __forceinline__ int
convolve_layer_offset (const ConvolveLayerView &view, int y, int x)
{
  y = convolve_boundary_index (view.boundary, y, view.height);
  x = convolve_boundary_index (view.boundary, x, view.width);
  return y < 0 || x < 0 ? CONVOLVE_LAYER_ZERO_PADDING
                        : y * (int) view.source.row_stride + x * (int) view.source.column_stride;
}

/* The activation of a sum with its bias. Selects instead of branches, because every output passes through here. */
__device__ __forceinline__ float
convolve_layer_activate (const ConvolveLayerView &view, float value)
{
  unsigned kept_bits = view.activation == CONVOLVE_ACTIVATION_ABSOLUTE ? 0x7fffffff : 0xffffffff;

  value = fmaxf (value, view.activation == CONVOLVE_ACTIVATION_RELU ? 0 : -INFINITY);
  return __uint_as_float (__float_as_uint (value) & kept_bits);
}

/* The 8-bit code value of an output, rounded to the nearest and clamped. */
__device__ __forceinline__ unsigned
convolve_layer_code (const ConvolveLayerView &view, float value)
{
  return (unsigned) (fminf (fmaxf (fmaf (value, view.out_scale, view.out_offset), 0), 255) + 0.5f);
}

/* Converts an output to the type of the layer and writes it. */
__device__ __forceinline__ void
convolve_layer_write (const ConvolveLayerView &view, uint8_t *at, float value)
{
  if (view.type == CONVOLVE_LAYER_FLOAT32)
    *(float *) at = value;
  else if (view.type == CONVOLVE_LAYER_FLOAT16)
    *(__half *) at = __float2half_rn (value);
  else
    *at = (uint8_t) convolve_layer_code (view, value);
}

/* The column and the row of the first output of this block's tile. */
__device__ __forceinline__ int
convolve_layer_tile_left (const ConvolveLayerView &view)
{
  return blockIdx.x % view.tiles.across * view.tiles.width;
}

__device__ __forceinline__ int
convolve_layer_tile_top (const ConvolveLayerView &view)
{
  return view.first_row + blockIdx.x / view.tiles.across * view.tiles.height;
}

/* The first channel of the group of filter k. */
__device__ __forceinline__ int
convolve_layer_group_start (const ConvolveLayerView &view, int k)
{
  return (view.first_filter + k) / view.group_filters * view.group_channels;
}

/*
 * Pools the tile of filter k and writes its outputs, all threads of the block together. `values` has the activated
 * convolution in shared memory, `pitch` floats a row. Without pooling the window is 1 x 1. PLAIN: windows are not
 * dilated.
 */
template <bool PLAIN = true>
__device__ __forceinline__ void
convolve_layer_pool (const ConvolveLayerView &view, const float *values, int pitch, int k, int thread, int threads)
{
  uint8_t *plane = convolve_layer_plane (&view.destination, blockIdx.z, k);
  int left = convolve_layer_tile_left (view), top = convolve_layer_tile_top (view);

  for (int n = thread; n < view.tiles.width * view.tiles.height; n += threads) {
    int x = n % view.tiles.width, y = n / view.tiles.width;
    const float *window = values + y * view.pool_stride_y * pitch + x * view.pool_stride_x;
    float largest = -INFINITY;

    if (left + x >= view.out_width || top + y >= view.end_row)
      continue;
    for (int j = 0; j < view.pool_height; j++)
      for (int i = 0; i < view.pool_width; i++)
        largest = fmaxf (largest,
            PLAIN ? window[j * pitch + i] : window[j * view.pool_dilation_y * pitch + i * view.pool_dilation_x]);
    convolve_layer_write (view,
        plane + (top + y) * view.destination.row_stride + (left + x) * view.destination.column_stride, largest);
  }
}

#endif
