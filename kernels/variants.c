/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What users may ask about the list of variants, which is variants.h. */
#include "variants.h"

#define ADDRESS_OF_VARIANT(name) &convolve_variant_##name,

const ConvolveVariant *const convolve_variants[] = { CONVOLVE_VARIANTS (ADDRESS_OF_VARIANT) NULL };

int
convolve_variant_count (void)
{
  return (int) (sizeof (convolve_variants) / sizeof (convolve_variants[0])) - 1;
}

const char *
convolve_variant_name (int index)
{
  return convolve_variants[index]->name;
}

int
convolve_variant_number (int index)
{
  return convolve_variants[index]->number;
}

const char *
convolve_variant_idea (int index)
{
  return convolve_variants[index]->idea;
}

bool
convolve_variant_on_device (int index)
{
  return convolve_variants[index]->on_device;
}
