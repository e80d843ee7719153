/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the place of the layer's .cu files where there is no CUDA: without a device, nothing of it is ever called. */
#include "layer/common/plan.h"

static ConvolveStatus
no_cuda (ConvolveError *error)
{
  return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "this build has no CUDA");
}

ConvolveStatus
convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return no_cuda (error);
}
