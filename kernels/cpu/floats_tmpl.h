/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums in floating point. The order of additions does not depend on the number of lanes. */
#ifndef CONVOLVE_CPU_FLOATS_TMPL_H
#define CONVOLVE_CPU_FLOATS_TMPL_H

#include "cpu/vectors_tmpl.h"

static void
values_to_floats (const uint16_t *restrict values, int count, int center, float *restrict row)
{
  for (int i = 0; i < count; i++)
    row[i] = (float) (values[i] - center);
}

/* Adds the sums of a block to the totals, and begins the next block. */
static inline void
end_block (Floats part[VECTORS], Floats total[VECTORS])
{
  for (int v = 0; v < VECTORS; v++) {
    total[v] += part[v];
    part[v] = (Floats){ 0 };
  }
}

static void
sum_floats (const float *taps, int width, int height, int samples, int block, const float *const *rows, int first,
    int count, float *sums)
{
  for (int x = first; x < first + count; x += CHUNK) {
    Floats total[VECTORS] = { 0 }, part[VECTORS] = { 0 };
    const float *tap = taps;
    int left = block;

    for (int j = 0; j < height; j++) {
      const float *at = rows[j] + x;

      for (int i = 0; i < width;) {
        int end = width - i < left ? width : i + left;

        left -= end - i;
        for (; i < end; i++, at += samples, tap++)
          for (int v = 0; v < VECTORS; v++)
            part[v] += *tap * *(const FloatsAt *) (at + v * LANES);
        if (left == 0) {
          end_block (part, total);
          left = block;
        }
      }
    }
    end_block (part, total);
    for (int v = 0; v < VECTORS; v++)
      *(FloatsAt *) (sums + x + v * LANES) = total[v];
  }
}

static void
sum_floats_in_double (const double *taps, int width, int height, int samples, const float *const *rows, int first,
    int count, double *sums)
{
  for (int x = first; x < first + count; x += CHUNK / 2) {
    Doubles total[VECTORS] = { 0 };

    for (int j = 0; j < height; j++) {
      const float *at = rows[j] + x;
      const double *tap = taps + (size_t) j * width;

      for (int i = 0; i < width; i++, at += samples)
        for (int v = 0; v < VECTORS; v++)
          total[v] += tap[i] * __builtin_convertvector(*(const HalfAt *) (at + v * LANES / 2), Doubles);
    }
    for (int v = 0; v < VECTORS; v++)
      *(DoublesAt *) (sums + x + v * LANES / 2) = total[v];
  }
}

static void
sum_doubles (const double *taps, int width, int height, int samples, const double *const *rows, int count, double *sums)
{
  for (int x = 0; x < count; x += CHUNK / 2) {
    Doubles total[VECTORS] = { 0 };

    for (int j = 0; j < height; j++) {
      const double *at = rows[j] + x, *tap = taps + (size_t) j * width;

      for (int i = 0; i < width; i++, at += samples)
        for (int v = 0; v < VECTORS; v++)
          total[v] += tap[i] * *(const DoublesAt *) (at + v * LANES / 2);
    }
    for (int v = 0; v < VECTORS; v++)
      *(DoublesAt *) (sums + x + v * LANES / 2) = total[v];
  }
}

#endif
