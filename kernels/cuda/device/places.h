/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where samples stand while they are clamped. An instruction packs two integers into one word, and clamps them to 8 or
 * 16 bits. So the bits of a sample are put at the top of these; the lower ones of 16 are a fraction, which is dropped.
 */
#ifndef CONVOLVE_CUDA_PLACES_H
#define CONVOLVE_CUDA_PLACES_H

#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

typedef struct
{
  int fraction;     /* bits below a sample, 0 .. 7 */
  unsigned samples; /* of a word of two deep samples, the bits that are no fraction */
  int down;         /* from there to their places in memory */
} ConvolvePlaces;

static inline ConvolvePlaces
convolve_places_of (const ConvolvePixel *pixel)
{
  const int fraction = pixel->type == CONVOLVE_SAMPLE_U8 ? 0 : 16 - pixel->depth;
  const ConvolvePlaces places = { fraction, ((0xffffu << fraction) & 0xffff) * 0x10001, fraction - pixel->shift };

  return places;
}

#ifdef __cplusplus
}
#endif

#endif
