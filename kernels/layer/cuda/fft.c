/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of fft: it sizes the tile and scales the weights. */
#include "layer/cuda/fft.h"

#include <math.h>
#include <stdlib.h>

/* Sets the tile: the outputs for which a tile of input has all samples. */
static bool
cut (const ConvolveLayer *layer, ConvolveLayerTiles *tiles)
{
  return convolve_layer_cut (layer, CONVOLVE_LAYER_FFT_SIDE - layer->kernel_width + 1,
      CONVOLVE_LAYER_FFT_SIDE - layer->kernel_height + 1, tiles);
}

static bool
accepts (const ConvolveLayerPlan *plan, ConvolveFound *found, const char **reason)
{
  const ConvolveLayer *layer = &plan->layer;
  ConvolveLayerFft fft = { .scratch_bytes = 0 };

  if (!convolve_layer_is_plain (layer, reason))
    return false;
  if (layer->kernel_width > CONVOLVE_LAYER_FFT_MAX_KERNEL || layer->kernel_height > CONVOLVE_LAYER_FFT_MAX_KERNEL)
    *reason = "the kernel is larger than 33x33";
  else if (layer->stride_x != 1 || layer->stride_y != 1)
    *reason = "the strides are not 1";
  else if (!cut (layer, &fft.base.tiles))
    *reason = "the pooling window is larger than a tile of 64x64 less the kernel";
  else if ((size_t) layer->filters * layer->channels * CONVOLVE_LAYER_FFT_POINTS > CONVOLVE_LAYER_FFT_MAX_SPECTRA)
    *reason = "the weights' spectra take more than a gigabyte";
  else
    return convolve_found_copy (found, &fft, sizeof (fft), reason);
  return false;
}

/*
 * Scales the weights of each filter so that the largest is in 1 .. 2. One transform makes the outputs of two filters,
 * and the rounding errors of a filter with large weights would drown the outputs of one with small weights. The inverse
 * scales come behind the biases; they include the factor 1 / 64^2 of the inverse transform.
 */
static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  size_t of_filter = (size_t) layer->channels * layer->kernel_height * layer->kernel_width;
  size_t count = layer->filters * of_filter;
  float *weights = malloc (count * sizeof (float));
  float *bias = malloc (2 * layer->filters * sizeof (float));
  ConvolveStatus status;

  if (weights && bias) {
    for (int k = 0; k < layer->filters; k++) {
      int exponent = convolve_layer_exponent (layer, k);

      exponent = exponent < -126 ? -126 : exponent; /* so small only where all weights are 0, or nearly */
      for (size_t i = k * of_filter; i < (k + 1) * of_filter; i++)
        weights[i] = ldexpf (layer->weights[i], -exponent);
      bias[k] = layer->bias[k];
      bias[layer->filters + k] =
          exponent == -126 ? 0 : ldexpf (1.0f / (CONVOLVE_LAYER_FFT_SIDE * CONVOLVE_LAYER_FFT_SIDE), exponent);
    }
    status = convolve_layer_put (plan, weights, count, bias, 2 * layer->filters, error);
  } else {
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu weights", count);
  }
  free (weights);
  free (bias);
  return status == CONVOLVE_OK ? convolve_layer_fft_load (plan, error) : status;
}

static void
clear (ConvolveLayerPlan *plan)
{
  ConvolveLayerFft *fft = plan->prepared;

  if (fft) {
    convolve_device_release (plan->device, fft->weight_spectra);
    convolve_device_release (plan->device, fft->scratch);
  }
  convolve_layer_device_clear (plan);
}

const ConvolveLayerVariant convolve_layer_variant_fft = {
  .name = "fft",
  .number = 10,
  .on_device = true,
  .idea = "kernels up to 33x33, by Fourier transforms of tiles and weights",
  .accepts = accepts,
  .prepare = prepare,
  .clear = clear,
  .run = convolve_layer_fft_run,
};
