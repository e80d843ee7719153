/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A convolution layer as networks have them, over tensors or video frames, on the CPU or on a CUDA device.
 *
 * A ConvolveLayerPlan is made once from a layer. convolve_layer_run() then only executes the plan, for any number of
 * inputs. With in the input, w the weights, s the strides, d the dilations and p the padding at the top and left,
 *
 *   sum[k](y, x)  = bias[k] + sum over c, j, i of w[k][c][j][i] * in[g(k) + c](y * s + j * d - p, x * s + i * d - p)
 *   conv[k](y, x) = activation (sum[k](y, x))
 *   out[k](y, x)  = the largest of conv[k](y * s' + j * d' - p', x * s' + i * d' - p') that exist, where s', d' and p'
 *                   are the pooling's, and j and i count the rows and columns of its window
 *
 * This is a correlation, as in all frameworks. The sum goes over the channels of the filter's group: of G groups, each
 * has C / G channels and K / G filters, and g(k) is the first channel of filter k's group. So one group is the usual
 * layer, and C groups are a depthwise layer. What lies in the padding of the input is the boundary's; in the padding of
 * the pooling is nothing, so it never is the largest.
 *
 * Along one side, a kernel of k samples spans d * (k - 1) + 1 samples. n samples of input and the padding before and
 * after them give m = (n + padding - span) / s + 1 samples of the convolution, and these give (m + pooling's padding -
 * pooling's span) / s' + 1 samples after pooling. Both quotients are rounded down, so samples that no complete window
 * covers are left out. With pool_ceil the second quotient is rounded up, so a last window may lack samples; a window
 * that would begin behind the last sample of the convolution is left out then, as in PyTorch and ONNX.
 *
 * Every variant promises for finite input a result that differs from the exact one by at most:
 *  - float32: 1e-5 * M + e * N;
 *  - float16: 2e-3 * M + e * N + 2^-24;
 *  - 8 bits: one code value, where out_scale * M is below 2^13. The code value v is read as in_scale * v + in_offset.
 *    out_scale * out + out_offset is rounded to the nearest code value and clamped to 0 .. 255. Padding with zeros is
 *    in = 0, whatever in_offset is.
 * M is |bias| + sum of |w| * |in|, with pooling the largest M of the window. N is the number of weights of a filter,
 * times the largest magnitude of them, times the largest |in| of the image; the promise holds where N is inside the
 * type's range. e is 2^-36, but 2^-19 for the variants winograd and fft, in whose sums terms of neighbouring outputs
 * cancel; "auto" takes neither. An infinity or a NaN makes all results of its image undefined.
 *
 * No function prints or exits. A function that can fail returns a status, or NULL, and fills its ConvolveError, which
 * may be NULL.
 */
#ifndef CONVOLVE_LAYER_H
#define CONVOLVE_LAYER_H

#include "convolve_device.h"
#include "convolve_pool.h"

#ifdef __cplusplus
extern "C"
{
#endif

#pragma GCC visibility push(default)

#define CONVOLVE_LAYER_MAX_CHANNELS 4096                       /* of input and of output */
#define CONVOLVE_LAYER_MAX_WEIGHTS (1 << 26)                   /* of a layer */
#define CONVOLVE_LAYER_N_BOUNDARIES CONVOLVE_BOUNDARY_CONSTANT /* the boundaries of layers: all before constant */
#define CONVOLVE_LAYER_MAX_STEP 255                            /* of strides, pooling sizes and pooling strides */
#define CONVOLVE_LAYER_MAX_DILATION 4096                       /* of kernels and pooling windows */
#define CONVOLVE_LAYER_MAX_PADDING (1 << 16)                   /* a side */
#define CONVOLVE_LAYER_PLANES 4                                /* channels with a pointer of their own */

typedef enum
{
  CONVOLVE_LAYER_FLOAT32,
  CONVOLVE_LAYER_FLOAT16, /* IEEE 754 binary16 */
  CONVOLVE_LAYER_U8,      /* code values of 8 bits in the input and the output */
  CONVOLVE_N_LAYER_TYPES
} ConvolveLayerType;

typedef enum
{
  CONVOLVE_ACTIVATION_NONE,
  CONVOLVE_ACTIVATION_RELU,     /* negative values become 0 */
  CONVOLVE_ACTIVATION_ABSOLUTE, /* negative values become positive */
  CONVOLVE_N_ACTIVATIONS
} ConvolveActivation;

/* A complete layer. convolve_layer_init() fills in a layer without padding, activation and pooling. */
typedef struct
{
  int filters, channels;           /* K and C: 1 .. CONVOLVE_LAYER_MAX_CHANNELS */
  int groups;                      /* G: 1 .. C, a divisor of K and of C */
  int kernel_height, kernel_width; /* 1 .. CONVOLVE_MAX_SIDE, odd or even */
  const float *weights;            /* [K][C / G][kernel height][kernel width], finite; NULL: see below */
  const float *bias;               /* [K], finite; NULL for none */
  int first_filter, shown; /* the output has filters first_filter .. first_filter + shown - 1; shown 0: to the last */
  int stride_y, stride_x;  /* 1 .. CONVOLVE_LAYER_MAX_STEP */
  int dilation_y, dilation_x;                   /* from weight to weight: 1 .. CONVOLVE_LAYER_MAX_DILATION samples */
  int pad_top, pad_bottom, pad_left, pad_right; /* samples: 0 .. CONVOLVE_LAYER_MAX_PADDING */
  ConvolveBoundary boundary;                    /* the samples in the padding; ZERO: 0 */
  ConvolveActivation activation;
  int pool_height, pool_width;      /* 1 .. CONVOLVE_LAYER_MAX_STEP, 1: no pooling */
  int pool_stride_y, pool_stride_x; /* 1 .. CONVOLVE_LAYER_MAX_STEP; above 1 without pooling: outputs are left out */
  int pool_dilation_y, pool_dilation_x;                             /* 1 .. CONVOLVE_LAYER_MAX_DILATION */
  int pool_pad_top, pool_pad_bottom, pool_pad_left, pool_pad_right; /* less than the window's span */
  bool pool_ceil;                                                   /* a last window may lack samples, both ways */
  ConvolveLayerType type;                                           /* of the input and the output */
  float in_scale, in_offset, out_scale, out_offset;                 /* of U8, finite, scales not 0 */
} ConvolveLayer;

/*
 * Fills in a layer with these weights: one group, strides, dilations and pooling of 1, no padding, boundary ZERO, no
 * bias, no activation, all filters, float32. The scales are those of pictures whose code values stand for 0 .. 1:
 * in_scale is 1 / 255, out_scale is 255, and the offsets are 0. The weights are not copied.
 *
 * A layer that only pools has no weights: NULL stands for weights of 1, where the kernel is 1x1, and filters, channels
 * and groups are one number.
 */
void convolve_layer_init (ConvolveLayer *layer, int filters, int channels, int kernel_height, int kernel_width,
    const float *weights);

/*
 * Sets the padding with which n samples give ceil (n / stride) samples before pooling, as the padding "same" of
 * TensorFlow. An odd padding has its additional sample at the bottom or right. With a stride of 1 the padding is the
 * kernel's span - 1 samples for every n, as in PyTorch. The kernel's size, strides and dilations must have been set.
 * Errors: INVALID (sizes below 1 or above 2^28, a padding above its limit).
 */
ConvolveStatus convolve_layer_pad_same (ConvolveLayer *layer, int height, int width, ConvolveError *error);

/* The number of filters in the output: shown, or all from first_filter to the last where shown is 0. */
int convolve_layer_outputs (const ConvolveLayer *layer);

/*
 * Finds the size of the output for an input of height x width. Errors: INVALID (a member of the layer that is out of
 * range, but weights are not checked; sizes below 1; a kernel larger than the padded input; a pooling window larger
 * than the padded result of the convolution, unless pool_ceil lets it lack samples; with padding of the pooling, a
 * pooling dilation above the samples to pool; a padded side above 2^28).
 */
ConvolveStatus convolve_layer_output_size (const ConvolveLayer *layer, int height, int width, int *out_height,
    int *out_width, ConvolveError *error);

/*
 * The layout of samples in memory. The sample of image b, channel c, row y and column x is at
 *
 *   plane (c) + b * batch_stride + y * row_stride + x * column_stride,
 *
 * All strides are in bytes, multiples of the sample's size and of any sign. The rows and columns of a channel span less
 * than 2^31 bytes, and the whole tensor less than 2^63. Where across is 0, plane (c) is channel[c], for up to
 * CONVOLVE_LAYER_PLANES channels: that describes planar and interleaved frames. Otherwise plane (c) is channel[0] + c /
 * across * down_stride + c % across * across_stride: that describes NCHW tensors, with across 1, and mosaics of
 * channels.
 */
typedef struct
{
  void *channel[CONVOLVE_LAYER_PLANES]; /* a source is only read */
  ptrdiff_t batch_stride, row_stride, column_stride;
  int across;
  ptrdiff_t across_stride, down_stride;
} ConvolveLayerTensor;

/* The layout of a tensor [N][channels][height][width] without gaps. */
ConvolveLayerTensor convolve_layer_nchw (ConvolveLayerType type, void *data, int channels, int height, int width);

/*
 * The layout of channels as tiles of one picture, `columns` of them side by side. A tile has tile_height x tile_width
 * samples: the output's size, or more where there are to be gaps. data is the picture's top left sample, and
 * column_stride the bytes from a sample to its right neighbour.
 */
ConvolveLayerTensor convolve_layer_mosaic (void *data, ptrdiff_t row_stride, ptrdiff_t column_stride, int columns,
    int tile_height, int tile_width);

/* The arguments of one run. Source and destination must not overlap, nor two samples of the destination. */
typedef struct
{
  ConvolveLayerTensor source, destination;
  int batch;              /* images: 1 .. 65535 */
  int height, width;      /* of the source, such that convolve_layer_output_size() accepts them */
  int first_row, end_row; /* rows of the output to write, first_row <= y < end_row; end_row 0: to the last */
  int filled;             /* channels after the filters that are set to fill, for alpha and empty tiles */
  float fill;             /* the value that is stored; for U8 a code value, rounded and clamped */
} ConvolveLayerTask;

typedef struct ConvolveLayerPlan ConvolveLayerPlan;

/* The variants, best first; a name is also the value of the element's property. Valid for 0 <= index < count. */
int convolve_layer_variant_count (void);
const char *convolve_layer_variant_name (int index);
int convolve_layer_variant_number (int index); /* as convolve_variant_number(): a name has one number in both lists */
const char *convolve_layer_variant_idea (int index); /* one line for users */
bool convolve_layer_variant_on_device (int index);

/*
 * Makes the plan. variant is a name or "auto", which takes the best variant that can do the layer. device is NULL for
 * tensors in host memory; otherwise the device must outlive the plan. Other arguments are not kept. The context of a
 * device of convolve_device_new_current() must be current, as for convolve_layer_run().
 *
 * Returns NULL on error: INVALID (the layer or the name), UNSUPPORTED, NO_MEMORY, NO_DEVICE (a device variant without
 * a device), NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveLayerPlan *convolve_layer_plan_new (const ConvolveLayer *layer, const char *variant, ConvolveDevice *device,
    ConvolveError *error);
ConvolveLayerPlan *convolve_layer_plan_ref (ConvolveLayerPlan *plan);
void convolve_layer_plan_unref (ConvolveLayerPlan *plan); /* NULL is allowed; no run may be in work at the last call */

const char *convolve_layer_plan_variant (const ConvolveLayerPlan *plan);
bool convolve_layer_plan_on_device (const ConvolveLayerPlan *plan);

/* Runs a host plan in pool from now on, see convolve_plan_set_pool(). */
void convolve_layer_plan_set_pool (ConvolveLayerPlan *plan, ConvolvePool *pool);

/*
 * Finds the source rows *source_first .. *source_end - 1 from which the rows first .. end - 1 of the result are made.
 * The source has height rows, and 0 <= first < end <= the output's height.
 */
void convolve_layer_plan_source_rows (const ConvolveLayerPlan *plan, int height, int first, int end, int *source_first,
    int *source_end);

/*
 * Executes one task. With a host plan, pointers are to host memory, and the task is complete on return. With a device
 * plan, pointers are to device memory, and the work is enqueued on the device's stream: convolve_device_finish() waits
 * for it. Any thread may call this, but only one at a time for one device. Only a plan of the variant fft allocates
 * device memory, in a run that is larger than those before.
 *
 * Errors: INVALID (sizes, rows, strides or alignment), NO_MEMORY, NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_layer_run (const ConvolveLayerPlan *plan, const ConvolveLayerTask *task, ConvolveError *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
