/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A convolution layer as networks have them, over tensors or video frames, on the CPU or on a CUDA device.
 *
 * A layer becomes a ConvolveLayerPlan once, when caps or properties change; convolve_layer_run() then only calls. With
 * x the input, w the weights, s the strides and p the padding at the top and left,
 *
 *   sum[k](y, x)  = bias[k] + sum over c, j, i of w[k][c][j][i] * in[c](y * s + j - p, x * s + i - p)
 *   conv[k](y, x) = activation (sum[k](y, x))
 *   out[k](y, x)  = the largest of conv[k] under the pooling window at y * pool stride, x * pool stride
 *
 * (a correlation, as all frameworks have it). Of n samples padding makes n + p + p', a side of the convolution has
 * (n + p + p' - kernel) / stride + 1 and a pooled one (m - pool) / pool stride + 1 samples, rounded down: what no whole
 * window covers is left out.
 *
 * What is promised of the result for finite input, for every variant, with M = |bias| + sum of |w| * |in| (under a
 * pooling window the largest), and N the number of weights of a filter times the largest of them times the largest |in|
 * of the image, where N stays inside the type's range:
 *  - float32: within 1e-5 * M + e * N of the exact result;
 *  - float16: within 2e-3 * M + e * N + 2^-24;
 *  - 8 bits: within one code value, where out_scale * M is below 2^13. Code value v is read as
 *    in_scale * v + in_offset, and out_scale * out + out_offset is rounded to the nearest code value and clamped to
 *    0 .. 255. Padding with zeros is in = 0, whatever in_offset is.
 * e is 2^-36, but 2^-19 for winograd and fft, whose sums contain an output's neighbours: auto takes neither.
 * Infinities and NaNs make all results of their image undefined.
 *
 * Nothing here prints or exits. Functions that can fail return a status and fill the ConvolveError, which may be NULL.
 */
#ifndef CONVOLVE_LAYER_H
#define CONVOLVE_LAYER_H

#include "convolve_device.h"
#include "convolve_pool.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LAYER_MAX_CHANNELS 4096     /* of input and of output */
#define CONVOLVE_LAYER_MAX_WEIGHTS (1 << 26) /* of a layer */
#define CONVOLVE_LAYER_MAX_STEP 255          /* of strides, pooling sizes and pooling strides */
#define CONVOLVE_LAYER_MAX_PADDING (1 << 16) /* a side */
#define CONVOLVE_LAYER_PLANES 4              /* channels that can lie anywhere */

typedef enum
{
  CONVOLVE_LAYER_FLOAT32,
  CONVOLVE_LAYER_FLOAT16, /* IEEE's binary16, a word of 16 bits */
  CONVOLVE_LAYER_U8,      /* frames of 8-bit samples in and out */
  CONVOLVE_N_LAYER_TYPES
} ConvolveLayerType;

typedef enum
{
  CONVOLVE_ACTIVATION_NONE,
  CONVOLVE_ACTIVATION_RELU,     /* negative values become 0 */
  CONVOLVE_ACTIVATION_ABSOLUTE, /* the magnitude */
  CONVOLVE_N_ACTIVATIONS
} ConvolveActivation;

/* A complete layer. convolve_layer_init() makes one without padding, activation and pooling. */
typedef struct
{
  int filters, channels;           /* K and C: 1 .. CONVOLVE_LAYER_MAX_CHANNELS */
  int kernel_height, kernel_width; /* 1 .. CONVOLVE_MAX_SIDE, even sizes too */
  const float *weights;            /* [K][C][kernel height][kernel width], finite */
  const float *bias;               /* [K], finite; NULL for none */
  int first_filter, shown;         /* the output has filters first_filter .. first_filter + shown - 1; 0: to the last */
  int stride_y, stride_x;          /* 1 .. CONVOLVE_LAYER_MAX_STEP */
  int pad_top, pad_bottom, pad_left, pad_right; /* samples: 0 .. CONVOLVE_LAYER_MAX_PADDING */
  ConvolveBoundary boundary;                    /* what padding repeats; ZERO: 0 */
  ConvolveActivation activation;
  int pool_height, pool_width;      /* 1 .. CONVOLVE_LAYER_MAX_STEP, 1: no pooling */
  int pool_stride_y, pool_stride_x; /* 1 .. CONVOLVE_LAYER_MAX_STEP; without pooling it leaves outputs out */
  ConvolveLayerType type;           /* of input and output */
  float in_scale, in_offset, out_scale, out_offset; /* of U8, finite, scales not 0 */
} ConvolveLayer;

/*
 * Strides and pooling of 1, no padding, ZERO, no bias and activation, all filters, float32, and the scales of
 * pictures whose values are 0 .. 1: in_scale 1 / 255, out_scale 255, offsets 0.
 */
void convolve_layer_init (ConvolveLayer *layer, int filters, int channels, int kernel_height, int kernel_width,
    const float *weights);

/*
 * Sets the padding that makes an output (before pooling) of ceil (n / stride) samples from n, the odd one at the bottom
 * or right, as TensorFlow does; with a stride of 1 it is kernel - 1 samples, whatever n is, as in PyTorch. Kernel and
 * strides are set before. Errors: INVALID (sizes below 1 or above 2^28, a padding above its limit).
 */
ConvolveStatus convolve_layer_pad_same (ConvolveLayer *layer, int height, int width, ConvolveError *error);

/* How many filters the output has: shown, or all from first_filter to the last. */
int convolve_layer_outputs (const ConvolveLayer *layer);

/*
 * The size of the output for an input of height x width. Errors: INVALID (what is out of range in the layer, but not
 * its weights; sizes below 1; a kernel larger than the padded input; a pooling window larger than what it pools; a
 * padded side above 2^28).
 */
ConvolveStatus convolve_layer_output_size (const ConvolveLayer *layer, int height, int width, int *out_height,
    int *out_width, ConvolveError *error);

/*
 * Where samples lie: that of image b, channel c, row y and column x is at
 *
 *   plane (c) + b * batch_stride + y * row_stride + x * column_stride,
 *
 * all in bytes and multiples of the sample's size, any sign; rows and columns of a channel span less than 2^31 bytes.
 * plane (c) is channel[c] where across is 0, for up to CONVOLVE_LAYER_PLANES channels: planar and interleaved frames in
 * any order. Otherwise it is channel[0] + c / across * down_stride + c % across * across_stride: NCHW tensors with
 * across 1, and mosaics.
 */
typedef struct
{
  void *channel[CONVOLVE_LAYER_PLANES]; /* of a source only read */
  ptrdiff_t batch_stride, row_stride, column_stride;
  int across;
  ptrdiff_t across_stride, down_stride;
} ConvolveLayerTensor;

/* [N][channels][height][width] without gaps. */
ConvolveLayerTensor convolve_layer_nchw (ConvolveLayerType type, void *data, int channels, int height, int width);

/*
 * Channels as tiles of one picture, columns of them in a row, each tile_height x tile_width (the output's size, or more
 * for gaps). data is the top left sample, column_stride bytes from its right neighbour.
 */
ConvolveLayerTensor convolve_layer_mosaic (void *data, ptrdiff_t row_stride, ptrdiff_t column_stride, int columns,
    int tile_height, int tile_width);

/* One call. Source and destination must not overlap; samples of the destination must not lie on one another. */
typedef struct
{
  ConvolveLayerTensor source, destination;
  int batch;              /* images: 1 .. 65535 */
  int height, width;      /* of the source; at least 1, and what convolve_layer_output_size() takes */
  int first_row, end_row; /* rows of the output to write, first_row <= y < end_row; end_row 0: to the last */
  int filled;             /* channels after the filters that are set to fill: alpha, empty tiles */
  float fill;             /* what is stored: a code value where the type is U8, rounded and clamped */
} ConvolveLayerTask;

typedef struct ConvolveLayerPlan ConvolveLayerPlan;

/* The variants, best first; a name is also the value of the element's property. Valid for 0 <= index < count. */
int convolve_layer_variant_count (void);
const char *convolve_layer_variant_name (int index);
int convolve_layer_variant_number (int index); /* as of convolve_variant_number(), whose names are numbered alike */
const char *convolve_layer_variant_idea (int index); /* one line */
bool convolve_layer_variant_on_device (int index);

/*
 * Makes the plan. variant is a name or "auto", which takes the best variant that can do it; device is NULL for host
 * memory alone, and must outlive the plan otherwise. Nothing of the arguments is kept but the device. Where an adopted
 * device's context is needed, it is current, as for convolve_layer_run().
 *
 * Returns NULL on error: INVALID (the layer or the name), UNSUPPORTED, NO_MEMORY, NO_DEVICE (a device variant without
 * a device), NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveLayerPlan *convolve_layer_plan_new (const ConvolveLayer *layer, const char *variant, ConvolveDevice *device,
    ConvolveError *error);
ConvolveLayerPlan *convolve_layer_plan_ref (ConvolveLayerPlan *plan);
void convolve_layer_plan_unref (ConvolveLayerPlan *plan); /* NULL is allowed; no run may be under way */

const char *convolve_layer_plan_variant (const ConvolveLayerPlan *plan);
bool convolve_layer_plan_on_device (const ConvolveLayerPlan *plan);

/* A host plan's runs go through pool from now on; see convolve_plan_set_pool(). */
void convolve_layer_plan_set_pool (ConvolveLayerPlan *plan, ConvolvePool *pool);

/*
 * The rows *source_first up to *source_end of a source of height rows that rows first up to end of the result are made
 * from, where 0 <= first < end <= the output's height.
 */
void convolve_layer_plan_source_rows (const ConvolveLayerPlan *plan, int height, int first, int end, int *source_first,
    int *source_end);

/*
 * Computes one task. A host plan takes host pointers and returns when it is done; a device plan takes device
 * pointers and enqueues on the device's stream: convolve_device_finish() waits. Any thread, one at a time per device.
 * A plan of fft takes device memory in a run that is larger than those before; no other does.
 *
 * Errors: INVALID (sizes, rows, strides or alignment), NO_MEMORY, NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_layer_run (const ConvolveLayerPlan *plan, const ConvolveLayerTask *task, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
