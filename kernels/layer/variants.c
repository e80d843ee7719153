/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table made from the list in variants.h, and the public functions that read it. */
#include "layer/variants.h"

#define ADDRESS_OF_VARIANT(name) &convolve_layer_variant_##name,

const ConvolveLayerVariant *const convolve_layer_variants[] = { CONVOLVE_LAYER_VARIANTS (ADDRESS_OF_VARIANT) NULL };

int
convolve_layer_variant_count (void)
{
  return (int) (sizeof (convolve_layer_variants) / sizeof (convolve_layer_variants[0])) - 1;
}

const char *
convolve_layer_variant_name (int index)
{
  return convolve_layer_variants[index]->name;
}

int
convolve_layer_variant_number (int index)
{
  return convolve_layer_variants[index]->number;
}

const char *
convolve_layer_variant_idea (int index)
{
  return convolve_layer_variants[index]->idea;
}

bool
convolve_layer_variant_on_device (int index)
{
  return convolve_layer_variants[index]->on_device;
}
