/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of blocked: it sizes the tile and pads the weights. */
#include "layer/cuda/blocked.h"

#include <stdlib.h>

int
convolve_layer_blocked_side (const ConvolveLayer *layer)
{
  int side = layer->kernel_width > layer->kernel_height ? layer->kernel_width : layer->kernel_height;

  return side == 1 ? 1 : side <= 3 ? 3 : side <= 5 ? 5 : 7;
}

/* The weights of a filter and channel in memory: those of the square, rounded up so that threads can load float4. */
static int
padded_taps (int side)
{
  return (side * side + 3) / 4 * 4;
}

/*
 * Sets the tile for the kernel padded to a square. Returns the bytes of shared memory of a block, or 0 where a pooling
 * window is larger than the tile.
 */
static size_t
cut (const ConvolveLayer *layer, ConvolveLayerTiles *tiles)
{
  ConvolveLayer square = *layer;
  int side = convolve_layer_blocked_side (layer);
  size_t weights, staged;

  square.kernel_width = square.kernel_height = side;
  if (!convolve_layer_cut (&square, CONVOLVE_LAYER_BLOCKED_WIDTH, CONVOLVE_LAYER_BLOCKED_HEIGHT, tiles))
    return 0;
  tiles->pitch = (CONVOLVE_LAYER_BLOCKED_WIDTH + side - 1 + 3) / 4 * 4;
  tiles->plane = tiles->pitch * tiles->patch_height;
  weights = CONVOLVE_LAYER_BLOCKED_GROUP * padded_taps (side);
  /* With pooling the outputs of one filter meet in shared memory. */
  staged = tiles->width < CONVOLVE_LAYER_BLOCKED_WIDTH || tiles->height < CONVOLVE_LAYER_BLOCKED_HEIGHT
      ? CONVOLVE_LAYER_BLOCKED_WIDTH * CONVOLVE_LAYER_BLOCKED_HEIGHT
      : 0;
  return sizeof (float) * (layer->channels * (tiles->plane + weights) + staged);
}

static bool
accepts (const ConvolveLayerPlan *plan, ConvolveFound *found, const char **reason)
{
  const ConvolveLayer *layer = &plan->layer;
  ConvolveLayerPrepared prepared = { .shared = 0 };

  if (!convolve_layer_is_plain (layer, reason))
    return false;
  if (layer->stride_x != 1 || layer->stride_y != 1)
    *reason = "the strides are not 1";
  else if (layer->kernel_width > CONVOLVE_LAYER_BLOCKED_MAX_SIDE
      || layer->kernel_height > CONVOLVE_LAYER_BLOCKED_MAX_SIDE)
    *reason = "the kernel is larger than 7x7";
  else if (layer->channels > CONVOLVE_LAYER_BLOCKED_MAX_CHANNELS)
    *reason = "the layer has more than 4 channels";
  else if (layer->pool_width > CONVOLVE_LAYER_BLOCKED_WIDTH || layer->pool_height > CONVOLVE_LAYER_BLOCKED_HEIGHT)
    *reason = "the pooling window is larger than 128x32";
  else if ((prepared.shared = cut (layer, &prepared.tiles)) > convolve_device_shared_limit (plan->device))
    *reason = CONVOLVE_LAYER_NEEDS_SHARED;
  else
    return convolve_found_copy (found, &prepared, sizeof (prepared), reason);
  return false;
}

/* Pads the weights of each filter and channel with zeros, at the right and below, to a square. */
static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  int side = convolve_layer_blocked_side (layer), taps = padded_taps (side);
  int planes = layer->filters * layer->channels;
  float *weights = calloc ((size_t) planes * taps, sizeof (float));
  const float *from = layer->weights;

  if (!weights)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %d filters", layer->filters);
  for (int n = 0; n < planes; n++)
    for (int j = 0; j < layer->kernel_height; j++)
      for (int i = 0; i < layer->kernel_width; i++)
        weights[(size_t) n * taps + j * side + i] = *from++;
  ConvolveStatus status =
      convolve_layer_put (plan, weights, (size_t) planes * taps, layer->bias, layer->filters, error);
  free (weights);
  return status == CONVOLVE_OK ? convolve_layer_blocked_load (plan, error) : status;
}

uint8_t *
convolve_layer_blocked_pixels (const ConvolveLayerPlan *plan, const ConvolveLayerTask *task)
{
  const ConvolveLayer *layer = &plan->layer;
  const ConvolveLayerTensor *to = &task->destination;
  uint8_t *first = (uint8_t *) ((uintptr_t) to->channel[0] & ~(uintptr_t) 3);
  unsigned written = 0; /* a bit for each byte of a pixel */

  if (layer->type != CONVOLVE_LAYER_U8 || to->across || to->column_stride != 4 || layer->filters + task->filled != 4
      || ((to->row_stride | to->batch_stride) & 3) || layer->pool_width > 1 || layer->pool_height > 1
      || layer->pool_stride_x > 1 || layer->pool_stride_y > 1)
    return NULL;
  for (int i = 0; i < 4; i++) {
    uintptr_t at = (uintptr_t) to->channel[i] - (uintptr_t) first;

    written |= at < 4 ? 1u << at : 0;
  }
  return written == 15 ? first : NULL;
}

static bool
fills (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  return convolve_layer_blocked_pixels (plan, &job->task) != NULL;
}

const ConvolveLayerVariant convolve_layer_variant_blocked = {
  .name = "blocked",
  .number = 19,
  .on_device = true,
  .idea = "up to 4 channels: each thread keeps 4 x 8 outputs of a filter, and the weights, in registers",
  .accepts = accepts,
  .prepare = prepare,
  .clear = convolve_layer_device_clear,
  .fills = fills,
  .run = convolve_layer_blocked_run,
};
