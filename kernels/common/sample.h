/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One sample in memory: of any type, depth and byte order, at any address of the host. */
#ifndef CONVOLVE_COMMON_SAMPLE_H
#define CONVOLVE_COMMON_SAMPLE_H

#include <string.h>

#include "convolve.h"

/* The code value; one above 2^depth - 1 counts as that. */
static inline int
convolve_read_sample (const ConvolvePixel *pixel, const uint8_t *at)
{
  int most = (1 << pixel->depth) - 1, value;
  uint16_t word;

  if (pixel->type == CONVOLVE_SAMPLE_U8)
    return *at;
  memcpy (&word, at, sizeof (word));
  value = (pixel->swapped ? __builtin_bswap16 (word) : word) >> pixel->shift;
  return value < most ? value : most;
}

/* Unused bits below the sample become 0. */
static inline void
convolve_write_sample (const ConvolvePixel *pixel, uint8_t *at, int value)
{
  uint16_t word = (uint16_t) (value << pixel->shift);

  if (pixel->type == CONVOLVE_SAMPLE_U8) {
    *at = (uint8_t) value;
    return;
  }
  word = pixel->swapped ? __builtin_bswap16 (word) : word;
  memcpy (at, &word, sizeof (word));
}

#endif
