/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the host side and the kernels of fft agree on. */
#ifndef CONVOLVE_LAYER_CUDA_FFT_H
#define CONVOLVE_LAYER_CUDA_FFT_H

#include "layer/cuda/weights.h"

#define CONVOLVE_LAYER_FFT_SIDE 64 /* of a tile and of its transform */
#define CONVOLVE_LAYER_FFT_HALF \
  (CONVOLVE_LAYER_FFT_SIDE / 2 + 1) /* columns that are kept; the others are their mirror image */
#define CONVOLVE_LAYER_FFT_POINTS (CONVOLVE_LAYER_FFT_SIDE * CONVOLVE_LAYER_FFT_HALF)
#define CONVOLVE_LAYER_FFT_MAX_KERNEL 33
#define CONVOLVE_LAYER_FFT_MAX_SPECTRA ((size_t) 1 << 27) /* points of all weights: a gigabyte of complex float32 */

/* plan->prepared of the variant fft. */
typedef struct
{
  ConvolveLayerPrepared base;
  void *weight_spectra; /* on the device: the transforms of all weights */
  void *scratch;        /* on the device: transforms of tiles; allocated by the first run that needs as much */
  size_t scratch_bytes;
} ConvolveLayerFft;

CONVOLVE_LAYER_DEVICE_FUNCTIONS (fft);

#endif
