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

ConvolveStatus
convolve_layer_direct_prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_layer_direct_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return no_cuda (error);
}

bool
convolve_layer_shared_accepts (const ConvolveLayerPlan *plan, const char **reason)
{
  *reason = "this build has no CUDA";
  return false;
}

ConvolveStatus
convolve_layer_shared_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return no_cuda (error);
}

bool
convolve_layer_blocked_accepts (const ConvolveLayerPlan *plan, const char **reason)
{
  *reason = "this build has no CUDA";
  return false;
}

ConvolveStatus
convolve_layer_blocked_prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_layer_blocked_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return no_cuda (error);
}

bool
convolve_layer_blocked_fills (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  return false;
}

bool
convolve_layer_gemm_accepts (const ConvolveLayerPlan *plan, const char **reason)
{
  *reason = "this build has no CUDA";
  return false;
}

ConvolveStatus
convolve_layer_gemm_prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_layer_gemm_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return no_cuda (error);
}

bool
convolve_layer_winograd_accepts (const ConvolveLayerPlan *plan, const char **reason)
{
  *reason = "this build has no CUDA";
  return false;
}

ConvolveStatus
convolve_layer_winograd_prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_layer_winograd_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return no_cuda (error);
}

bool
convolve_layer_fft_accepts (const ConvolveLayerPlan *plan, const char **reason)
{
  *reason = "this build has no CUDA";
  return false;
}

ConvolveStatus
convolve_layer_fft_prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_layer_fft_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return no_cuda (error);
}

void
convolve_layer_device_clear (ConvolveLayerPlan *plan)
{
}
