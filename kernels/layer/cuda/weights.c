/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/weights.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* A copy of the words in device memory. */
static ConvolveStatus
put_words (ConvolveDevice *device, const void *words, size_t count, float **copy, ConvolveError *error)
{
  void *memory;
  ConvolveStatus status = convolve_device_put (device, words, count * sizeof (float), &memory, error);

  *copy = memory;
  return status;
}

ConvolveStatus
convolve_layer_put (ConvolveLayerPlan *plan, const void *weights, size_t count, const float *bias, size_t bias_count,
    ConvolveError *error)
{
  ConvolveLayerPrepared *prepared;
  ConvolveStatus status;

  if (!plan->prepared)
    plan->prepared = calloc (1, sizeof (ConvolveLayerPrepared));
  prepared = plan->prepared;
  if (!prepared)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a plan");
  status = put_words (plan->device, weights, count, &prepared->weights, error);
  return status != CONVOLVE_OK ? status : put_words (plan->device, bias, bias_count, &prepared->bias, error);
}

ConvolveStatus
convolve_layer_put_plain (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  size_t count = layer->filters * convolve_layer_filter_size (layer);

  return convolve_layer_put (plan, layer->weights, count, layer->bias, layer->filters, error);
}

void
convolve_layer_device_clear (ConvolveLayerPlan *plan)
{
  ConvolveLayerPrepared *prepared = plan->prepared;

  if (!prepared)
    return;
  convolve_device_release (plan->device, prepared->weights);
  convolve_device_release (plan->device, prepared->bias);
  free (prepared);
}

int
convolve_layer_exponent (const ConvolveLayer *layer, int k)
{
  size_t count = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  float largest = 0;
  int exponent;

  for (size_t i = 0; i < count; i++)
    largest = fmaxf (largest, fabsf (layer->weights[k * count + i]));
  frexpf (largest, &exponent);
  return largest > 0 ? exponent - 1 : INT_MIN / 2;
}

void
convolve_layer_scale_filters (const ConvolveLayer *layer, int common, int *exponents, float *bias)
{
  for (int k = 0; k < layer->filters; k++) {
    exponents[k] = CONVOLVE_LAYER_LARGEST_EXPONENT - convolve_layer_exponent (layer, k);
    exponents[k] = exponents[k] < 126 ? exponents[k] : 126;
    bias[k] = layer->bias[k];
    bias[layer->filters + k] = ldexpf (1, common - exponents[k]);
  }
}

bool
convolve_layer_is_plain (const ConvolveLayer *layer, const char **reason)
{
  if (layer->groups > 1)
    *reason = "the layer has more than one group";
  else if (layer->dilation_y > 1 || layer->dilation_x > 1)
    *reason = "the kernel is dilated";
  else if (layer->pool_dilation_y > 1 || layer->pool_dilation_x > 1)
    *reason = "the pooling window is dilated";
  else if (layer->pool_ceil || layer->pool_pad_top + layer->pool_pad_bottom > 0
      || layer->pool_pad_left + layer->pool_pad_right > 0)
    *reason = "the pooling has padding, or rounds its size up";
  else
    return true;
  return false;
}

bool
convolve_layer_cut (const ConvolveLayer *layer, int conv_width, int conv_height, ConvolveLayerTiles *tiles)
{
  int pool_width = convolve_layer_span (layer->pool_width, layer->pool_dilation_x);
  int pool_height = convolve_layer_span (layer->pool_height, layer->pool_dilation_y);

  if (pool_width > conv_width || pool_height > conv_height)
    return false;
  tiles->conv_width = conv_width;
  tiles->conv_height = conv_height;
  tiles->width = (conv_width - pool_width) / layer->pool_stride_x + 1;
  tiles->height = (conv_height - pool_height) / layer->pool_stride_y + 1;
  tiles->patch_width =
      (conv_width - 1) * layer->stride_x + convolve_layer_span (layer->kernel_width, layer->dilation_x);
  tiles->patch_height =
      (conv_height - 1) * layer->stride_y + convolve_layer_span (layer->kernel_height, layer->dilation_y);
  return true;
}
