/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The block of tiled-input. */
#ifndef CONVOLVE_CUDA_TILED_INPUT_H
#define CONVOLVE_CUDA_TILED_INPUT_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * The block for this mask, its 1024 threads shaped for the most outputs; false where none has any. A block of
 * width x height threads gives (width - mask width + 1) x (height - mask height + 1) outputs.
 */
bool convolve_tiled_input_block (const ConvolvePlan *plan, int *width, int *height);

CONVOLVE_DEVICE_FUNCTIONS (tiled_input);

#ifdef __cplusplus
}
#endif

#endif
