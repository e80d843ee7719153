/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the layer's variants. A new one is a file and a row here, before the first row it is better than. */
#include "layer/common/plan.h"

static bool
accepts_any (const ConvolveLayerPlan *plan, const char **reason)
{
  return true;
}

/* Few filters leave the tensor cores' rows of sixteen empty, and float32 is three products there; by tests/results/. */
static bool
pays_blocked (const ConvolveLayerPlan *plan)
{
  return plan->layer.filters <= (plan->layer.type == CONVOLVE_LAYER_FLOAT16 ? 16 : 32);
}

/* The bound of error is a wider one, so it is for those who ask for it. */
static bool
pays_never (const ConvolveLayerPlan *plan)
{
  return false;
}

const ConvolveLayerVariant convolve_layer_variants[] = {
  {
      .name = "blocked",
      .number = 19,
      .idea = "up to 4 channels: 4 x 8 outputs of a filter in a thread's registers, and the filter's weights too",
      .on_device = true,
      .accepts = convolve_layer_blocked_accepts,
      .pays = pays_blocked,
      .prepare = convolve_layer_blocked_prepare,
      .clear = convolve_layer_device_clear,
      .run = convolve_layer_blocked_run,
      .fills = convolve_layer_blocked_fills,
  },
  {
      .name = "gemm",
      .number = 20,
      .idea = "filters times windows as a product of matrices on tensor cores, windows read where they lie",
      .on_device = true,
      .accepts = convolve_layer_gemm_accepts,
      .prepare = convolve_layer_gemm_prepare,
      .clear = convolve_layer_device_clear,
      .run = convolve_layer_gemm_run,
  },
  {
      .name = "winograd",
      .number = 21,
      .idea = "3x3 kernels: 2 x 2 outputs from 16 products instead of 36, between transforms of input and output",
      .on_device = true,
      .accepts = convolve_layer_winograd_accepts,
      .pays = pays_never,
      .prepare = convolve_layer_winograd_prepare,
      .clear = convolve_layer_device_clear,
      .run = convolve_layer_winograd_run,
  },
  {
      .name = "fft",
      .number = 10,
      .idea = "kernels up to 33x33: products of the Fourier transforms of tiles and weights",
      .on_device = true,
      .accepts = convolve_layer_fft_accepts,
      .pays = pays_never,
      .prepare = convolve_layer_fft_prepare,
      .clear = convolve_layer_device_clear,
      .run = convolve_layer_fft_run,
  },
  {
      .name = "shared",
      .number = 22,
      .idea = "block = outputs of one filter, the input under them loaded to shared memory by all threads together",
      .on_device = true,
      .accepts = convolve_layer_shared_accepts,
      .prepare = convolve_layer_direct_prepare,
      .clear = convolve_layer_device_clear,
      .run = convolve_layer_shared_run,
  },
  {
      .name = "direct",
      .number = 8,
      .idea = "a thread per output, input and weights in global memory",
      .on_device = true,
      .accepts = accepts_any,
      .prepare = convolve_layer_direct_prepare,
      .clear = convolve_layer_device_clear,
      .run = convolve_layer_direct_run,
  },
  {
      .name = "cpu",
      .number = 17,
      .idea = "threads and vectors on the host: 32 sums of four filters in registers",
      .accepts = accepts_any,
      .prepare = convolve_layer_cpu_prepare,
      .clear = convolve_layer_cpu_clear,
      .run = convolve_layer_cpu_run,
  },
  {
      .name = "cpu-reference",
      .number = 18,
      .idea = "the definition as loops in double on the host; the result that all others are held against",
      .accepts = accepts_any,
      .run = convolve_layer_cpu_reference_run,
  },
};

int
convolve_layer_variant_count (void)
{
  return (int) (sizeof (convolve_layer_variants) / sizeof (convolve_layer_variants[0]));
}

const char *
convolve_layer_variant_name (int index)
{
  return convolve_layer_variants[index].name;
}

int
convolve_layer_variant_number (int index)
{
  return convolve_layer_variants[index].number;
}

const char *
convolve_layer_variant_idea (int index)
{
  return convolve_layer_variants[index].idea;
}

bool
convolve_layer_variant_on_device (int index)
{
  return convolve_layer_variants[index].on_device;
}
