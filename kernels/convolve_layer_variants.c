/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of the layer's variants. A new one is a file and a row here, before the first row it is better than. */
#include "convolve_layer_private.h"

static bool
accepts_any (const ConvolveLayerPlan *plan, const char **reason)
{
  return true;
}

const ConvolveLayerVariant convolve_layer_variants[] = {
  {
    .name = "cpu-reference",
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
