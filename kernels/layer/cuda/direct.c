/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row of direct, which takes the weights in the order of the layer. */
#include "layer/cuda/weights.h"

CONVOLVE_LAYER_DEVICE_FUNCTIONS (direct);

static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveStatus status = convolve_layer_put_plain (plan, error);

  return status == CONVOLVE_OK ? convolve_layer_direct_load (plan, error) : status;
}

const ConvolveLayerVariant convolve_layer_variant_direct = {
  .name = "direct",
  .number = 8,
  .on_device = true,
  .idea = "a thread for each output; input and weights in global memory",
  .prepare = prepare,
  .clear = convolve_layer_device_clear,
  .run = convolve_layer_direct_run,
};
