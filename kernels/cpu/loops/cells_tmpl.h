/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cells of 32 bits with four samples, whose inner words lie side by side in 64 bits, as compilers vectorise them. */
#ifndef CONVOLVE_CPU_CELLS_TMPL_H
#define CONVOLVE_CPU_CELLS_TMPL_H

#include "cpu/loops/level.h"

#define FOURS 128 /* cells of a block, whose words stay in the first cache */

static void
unpack_fours (const ConvolveFours *fours, const uint8_t *restrict cells, int count, uint16_t *restrict words)
{
  const ConvolveFour a = fours->samples[0], b = fours->samples[1], c = fours->samples[2], d = fours->samples[3];
  uint16_t factors[4 * FOURS];

  for (int i = 0; i < 4 * FOURS; i++)
    factors[i] = fours->widen[i % 4];
  for (int from = 0; from < count; from += FOURS) {
    const int n = count - from < FOURS ? count - from : FOURS;
    uint64_t pixels[FOURS];
    uint16_t apart[4 * FOURS];

    for (int x = 0; x < n; x++) {
      uint32_t word;
      uint64_t cell;

      memcpy (&word, cells + 4 * (from + (size_t) x), sizeof (word));
      cell = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32 (word) : word;
      pixels[x] = (cell >> a.shift & a.mask) << a.place | (cell >> b.shift & b.mask) << b.place
          | (cell >> c.shift & c.mask) << c.place | (cell >> d.shift & d.mask) << d.place;
    }
    memcpy (apart, pixels, n * sizeof (*pixels));
    for (int i = 0; i < 4 * n; i++)
      words[4 * (size_t) from + i] = (uint16_t) (apart[i] * factors[i]);
  }
}

static void
pack_fours (const ConvolveFours *fours, const uint16_t *restrict words, int count, const uint8_t *source,
    uint8_t *packed)
{
  const ConvolveFour a = fours->samples[0], b = fours->samples[1], c = fours->samples[2], d = fours->samples[3];
  uint16_t factors[4 * FOURS], halves[4 * FOURS];

  for (int i = 0; i < 4 * FOURS; i++) {
    factors[i] = fours->narrow[i % 4];
    halves[i] = fours->add[i % 4];
  }
  for (int from = 0; from < count; from += FOURS) {
    const int n = count - from < FOURS ? count - from : FOURS;
    uint64_t pixels[FOURS];
    uint32_t cells[FOURS];
    uint16_t apart[4 * FOURS];

    for (int i = 0; i < 4 * n; i++)
      apart[i] = (uint16_t) ((uint16_t) (words[4 * (size_t) from + i] * factors[i]) + halves[i]);
    memcpy (pixels, apart, n * sizeof (*pixels));
    memcpy (cells, source + 4 * (size_t) from, n * sizeof (*cells));
    for (int x = 0; x < n; x++) {
      const uint64_t pixel = pixels[x];
      const uint32_t made = (uint32_t) ((pixel >> a.place & UINT16_MAX) >> a.right << a.shift
          | (pixel >> b.place & UINT16_MAX) >> b.right << b.shift
          | (pixel >> c.place & UINT16_MAX) >> c.right << c.shift
          | (pixel >> d.place & UINT16_MAX) >> d.right << d.shift);

      cells[x] = (cells[x] & fours->kept) | (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32 (made) : made);
    }
    memcpy (packed + 4 * (size_t) from, cells, n * sizeof (*cells));
  }
}

#endif
