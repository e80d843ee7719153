/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row of direct, which takes the weights in the order of the layer. */
#include "layer/cuda/weights.h"

CONVOLVE_LAYER_DEVICE_FUNCTIONS (direct);

const ConvolveLayerVariant convolve_layer_variant_direct = {
  .name = "direct",
  .number = 8,
  .idea = "a thread for each output; input and weights in global memory",
  .prepare = convolve_layer_put_plain,
  .clear = convolve_layer_device_clear,
  CONVOLVE_LAYER_ON_DEVICE (direct),
};
