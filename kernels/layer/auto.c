/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of "auto" for layers: the first rule whose variant accepts the layer and is profitable for it. winograd
 * and fft have no rule, because the error that they promise is larger; users ask for these two by name.
 */
#include "layer/auto.h"

#include <stdlib.h>

#include "layer/cuda/pointwise.h"
#include "layer/variants.h"

/*
 * gemm computes filters in groups of 16, so few filters leave much of the tensor cores unused; and each float32 product
 * costs gemm three products in float16.
 */
static bool
blocked_profitable (const ConvolveLayerPlan *plan)
{
  return plan->layer.filters <= (plan->layer.type == CONVOLVE_LAYER_FLOAT16 ? 16 : 32);
}

/* wgmma computes 64 filters at a time. With few channels or few taps, what it saves elsewhere makes up for the rest. */
static bool
wgmma_profitable (const ConvolveLayerPlan *plan)
{
  const ConvolveLayer *layer = &plan->layer;

  return layer->filters > 16 || (layer->filters > 8 && layer->channels > 1 && layer->channels <= 8);
}

static bool
accepts (const ConvolveLayerVariant *variant, const ConvolveLayerPlan *plan)
{
  const char *reason;
  ConvolveFound found;
  bool accepted = convolve_layer_variant_accepts (variant, plan, &found, &reason);

  free (found.block);
  return accepted;
}

/* gemm's 1x1 kernels, in the place of wgmma. With larger strides they were not compared. */
static bool
pointwise_profitable (const ConvolveLayerPlan *plan)
{
  const ConvolveLayer *layer = &plan->layer;

  return layer->type == CONVOLVE_LAYER_FLOAT16 && layer->stride_x == 1 && layer->stride_y == 1
      && wgmma_profitable (plan) && accepts (&convolve_layer_variant_wgmma, plan)
      && convolve_layer_pointwise_takes (plan);
}

static const struct
{
  const ConvolveLayerVariant *variant;
  bool (*profitable) (const ConvolveLayerPlan *plan); /* NULL: wherever the variant accepts the layer */
  const char *source; /* of the rule: the file in tests/results/, and what it compares */
} rules[] = {
  { &convolve_layer_variant_gemm, pointwise_profitable, "h200-layer.md: 1x1 kernels" },
  { &convolve_layer_variant_wgmma, wgmma_profitable, "h200-layer-variants.csv: wgmma beside blocked and gemm" },
  { &convolve_layer_variant_blocked, blocked_profitable, "h200-layer.csv: blocked beside gemm, by filters and type" },
  { &convolve_layer_variant_gemm, NULL, "h200-layer.csv: gemm is the fastest of the others in all cases" },
  { &convolve_layer_variant_shared, NULL, "h200-layer.csv: shared beside direct" },
  { &convolve_layer_variant_direct, NULL, "no file: the only one that can do every layer" },
};

void
convolve_layer_auto_choose (ConvolveLayerPlan *plan)
{
  const char *reason;
  ConvolveFound found;

  for (size_t i = 0; plan->device && i < sizeof (rules) / sizeof (rules[0]); i++)
    if ((!rules[i].profitable || rules[i].profitable (plan))
        && convolve_layer_variant_accepts (rules[i].variant, plan, &found, &reason)) {
      plan->variant = rules[i].variant;
      plan->prepared = found.block;
      plan->kernel = found.kernel;
      return;
    }
  plan->variant = &convolve_layer_variant_cpu;
}
