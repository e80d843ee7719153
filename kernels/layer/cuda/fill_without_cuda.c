/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Builds without CUDA compile this file in place of launch.cu. Such a build never has a device, so no plan runs on one
 * and nothing calls the functions below; plan.c and the rows of the variants only need their symbols.
 */
#include "layer/common/internal.h"

ConvolveStatus
convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "this build has no CUDA");
}

ConvolveStatus
convolve_layer_run_without_cuda (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "this build has no CUDA");
}
