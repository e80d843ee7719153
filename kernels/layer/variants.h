/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of all variants of a layer, best first, as kernels/variants.h has those of a mask. */
#ifndef CONVOLVE_LAYER_VARIANTS_H
#define CONVOLVE_LAYER_VARIANTS_H

#include "layer/common/internal.h"

#define CONVOLVE_LAYER_VARIANTS(ROW) \
  ROW (blocked) \
  ROW (wgmma) \
  ROW (gemm) \
  ROW (winograd) \
  ROW (fft) \
  ROW (shared) \
  ROW (direct) \
  ROW (cpu) \
  ROW (cpu_reference)

#define CONVOLVE_DECLARE_LAYER_VARIANT(name) extern const ConvolveLayerVariant convolve_layer_variant_##name;
CONVOLVE_LAYER_VARIANTS (CONVOLVE_DECLARE_LAYER_VARIANT)

#endif
