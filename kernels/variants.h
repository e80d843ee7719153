/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of variants, best first. A name is the stem of the variant's files: cuda/tensor/tensor_fused.c defines the
 * row convolve_variant_tensor_fused, whose name for users is "tensor-fused".
 */
#ifndef CONVOLVE_VARIANTS_H
#define CONVOLVE_VARIANTS_H

#include "common/internal.h"

#define CONVOLVE_VARIANTS(ROW) \
  ROW (box) \
  ROW (tensor_fused) \
  ROW (tensor_separable) \
  ROW (packed_separable) \
  ROW (fused) \
  ROW (fused_tiled) \
  ROW (packed) \
  ROW (direct) \
  ROW (tensor) \
  ROW (fft) \
  ROW (separable) \
  ROW (tiled) \
  ROW (constant) \
  ROW (tiled_cached) \
  ROW (tiled_input) \
  ROW (global) \
  ROW (shrink) \
  ROW (cpu) \
  ROW (cpu_reference)

#define CONVOLVE_DECLARE_VARIANT(name) extern const ConvolveVariant convolve_variant_##name;
CONVOLVE_VARIANTS (CONVOLVE_DECLARE_VARIANT)

#endif
