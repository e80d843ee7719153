/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of shared: it sizes the tile. */
#include "layer/cuda/shared.h"

/*
 * Sets the tile and the bytes of shared memory of a block: the patch of one channel, and the weights of a filter for
 * that channel. Returns false where a pooling window is larger than the tile.
 */
static bool
cut (const ConvolveLayer *layer, ConvolveLayerTiles *tiles, size_t *shared)
{
  size_t plane;

  if (!convolve_layer_cut (layer, CONVOLVE_LAYER_SHARED_WIDTH, CONVOLVE_LAYER_SHARED_HEIGHT, tiles))
    return false;
  plane = (size_t) tiles->patch_width * tiles->patch_height;
  tiles->pitch = tiles->patch_width;
  tiles->plane = (int) plane; /* in an int wherever it fits shared memory */
  *shared = (plane + layer->kernel_height * layer->kernel_width) * sizeof (float);
  return true;
}

static bool
accepts (const ConvolveLayerPlan *plan, ConvolveFound *found, const char **reason)
{
  ConvolveLayerPrepared prepared = { .shared = 0 };

  *reason = "the pooling window, with its dilation, is larger than 32x8";
  if (!cut (&plan->layer, &prepared.tiles, &prepared.shared))
    return false;
  *reason = CONVOLVE_LAYER_NEEDS_SHARED;
  return prepared.shared <= convolve_device_shared_limit (plan->device)
      && convolve_found_copy (found, &prepared, sizeof (prepared), reason);
}

static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveStatus status = convolve_layer_put_plain (plan, error);

  return status == CONVOLVE_OK ? convolve_layer_shared_load (plan, error) : status;
}

const ConvolveLayerVariant convolve_layer_variant_shared = {
  .name = "shared",
  .number = 22,
  .on_device = true,
  .idea = "a block for a tile of outputs of one filter; its threads load the input under the tile to shared memory",
  .accepts = accepts,
  .prepare = prepare,
  .clear = convolve_layer_device_clear,
  .run = convolve_layer_shared_run,
};
