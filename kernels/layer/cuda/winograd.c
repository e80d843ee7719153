/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of winograd: it transforms the weights. */
#include "layer/cuda/winograd.h"

#include <stdlib.h>

static bool
accepts (const ConvolveLayerPlan *plan, ConvolveFound *found, const char **reason)
{
  const ConvolveLayer *layer = &plan->layer;
  ConvolveLayerPrepared prepared = { .shared = 0 };

  if (!convolve_layer_is_plain (layer, reason))
    return false;
  if (layer->kernel_width != 3 || layer->kernel_height != 3)
    *reason = "the kernel is not 3x3";
  else if (layer->stride_x != 1 || layer->stride_y != 1)
    *reason = "the strides are not 1";
  else if (!convolve_layer_cut (layer, CONVOLVE_LAYER_WINOGRAD_WIDTH, CONVOLVE_LAYER_WINOGRAD_HEIGHT, &prepared.tiles))
    *reason = "the pooling window is larger than 32x16";
  else {
    prepared.tiles.chunks = (layer->channels + CONVOLVE_LAYER_WINOGRAD_CHANNELS - 1) / CONVOLVE_LAYER_WINOGRAD_CHANNELS;
    return convolve_found_copy (found, &prepared, sizeof (prepared), reason);
  }
  return false;
}

/*
 * The transform of 3 x 3 weights g to 4 x 4 points: G g G', in double, where G' is G transposed and
 *
 *         1     0     0
 *     G = 1/2   1/2   1/2
 *         1/2  -1/2   1/2
 *         0     0     1
 */
static void
transform_weights (const float *weights, float *points)
{
  double columns[4][3]; /* G g: transformed along the columns */

  for (int i = 0; i < 3; i++) {
    double a = weights[i], b = weights[3 + i], c = weights[6 + i];

    columns[0][i] = a;
    columns[1][i] = (a + b + c) / 2;
    columns[2][i] = (a - b + c) / 2;
    columns[3][i] = c;
  }
  for (int j = 0; j < 4; j++) {
    double a = columns[j][0], b = columns[j][1], c = columns[j][2];

    points[4 * j] = (float) a;
    points[4 * j + 1] = (float) ((a + b + c) / 2);
    points[4 * j + 2] = (float) ((a - b + c) / 2);
    points[4 * j + 3] = (float) c;
  }
}

/* Transformed weights in the order [group of filters][channel][filter of the group][point]; missing ones are 0. */
static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  int groups = (layer->filters + CONVOLVE_LAYER_WINOGRAD_FILTERS - 1) / CONVOLVE_LAYER_WINOGRAD_FILTERS,
      channels = (layer->channels + CONVOLVE_LAYER_WINOGRAD_CHANNELS - 1) / CONVOLVE_LAYER_WINOGRAD_CHANNELS
      * CONVOLVE_LAYER_WINOGRAD_CHANNELS;
  size_t count = (size_t) groups * channels * CONVOLVE_LAYER_WINOGRAD_FILTERS * CONVOLVE_LAYER_WINOGRAD_POINTS;
  float *points = calloc (count, sizeof (float));

  if (!points)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu weights", count);
  for (int k = 0; k < layer->filters; k++)
    for (int c = 0; c < layer->channels; c++)
      transform_weights (layer->weights + ((size_t) k * layer->channels + c) * 9,
          points
              + (((size_t) (k / CONVOLVE_LAYER_WINOGRAD_FILTERS) * channels + c) * CONVOLVE_LAYER_WINOGRAD_FILTERS
                    + k % CONVOLVE_LAYER_WINOGRAD_FILTERS)
                  * CONVOLVE_LAYER_WINOGRAD_POINTS);
  ConvolveStatus status = convolve_layer_put (plan, points, count, layer->bias, layer->filters, error);
  free (points);
  return status == CONVOLVE_OK ? convolve_layer_winograd_load (plan, error) : status;
}

const ConvolveLayerVariant convolve_layer_variant_winograd = {
  .name = "winograd",
  .number = 21,
  .on_device = true,
  .idea = "3x3 kernels: 2 x 2 outputs from 16 products instead of 36, between transforms of input and output",
  .accepts = accepts,
  .prepare = prepare,
  .clear = convolve_layer_device_clear,
  .run = convolve_layer_winograd_run,
};
