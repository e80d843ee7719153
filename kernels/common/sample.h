/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One sample in memory, for C and for CUDA: of any type, depth and byte order. On the host at any address; on a device
 * 16-bit samples are at even ones.
 */
#ifndef CONVOLVE_COMMON_SAMPLE_H
#define CONVOLVE_COMMON_SAMPLE_H

#include <string.h>

#include "common/boundary.h"

#ifdef __CUDA_ARCH__
#define CONVOLVE_READ_WORD(word, at) ((word) = *(const uint16_t *) (at))
#define CONVOLVE_WRITE_WORD(at, word) (*(uint16_t *) (at) = (word))
#define CONVOLVE_SWAP_WORD(word) ((uint16_t) __byte_perm (word, 0, 0x4401))
#else
#define CONVOLVE_READ_WORD(word, at) memcpy (&(word), at, sizeof (word))
#define CONVOLVE_WRITE_WORD(at, word) memcpy (at, &(word), sizeof (word))
#define CONVOLVE_SWAP_WORD(word) __builtin_bswap16 (word)
#endif

/* The code value; one above 2^depth - 1 counts as that. */
static CONVOLVE_BOTH int
convolve_read_sample (const ConvolvePixel *pixel, const uint8_t *at)
{
  int most = (1 << pixel->depth) - 1, value;
  uint16_t word;

  if (pixel->type == CONVOLVE_SAMPLE_U8)
    return *at;
  CONVOLVE_READ_WORD (word, at);
  value = (pixel->swapped ? CONVOLVE_SWAP_WORD (word) : word) >> pixel->shift;
  return value < most ? value : most;
}

/* Unused bits below the sample become 0. */
static CONVOLVE_BOTH void
convolve_write_sample (const ConvolvePixel *pixel, uint8_t *at, int value)
{
  uint16_t word = (uint16_t) (value << pixel->shift);

  if (pixel->type == CONVOLVE_SAMPLE_U8) {
    *at = (uint8_t) value;
    return;
  }
  word = pixel->swapped ? CONVOLVE_SWAP_WORD (word) : word;
  CONVOLVE_WRITE_WORD (at, word);
}

#endif
