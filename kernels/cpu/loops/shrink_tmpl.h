/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gaussians on a shrunk picture: each operation of common/shrink.h for a row of elements. */
#ifndef CONVOLVE_CPU_SHRINK_TMPL_H
#define CONVOLVE_CPU_SHRINK_TMPL_H

#include "common/shrink.h"
#include "cpu/loops/vectors_tmpl.h"

static inline Floats
floats_at (const float *from)
{
  return *(const FloatsAt *) from;
}

/* The sum of samples is a small integer, so that the floats of CONVOLVE_SHRINK_HALVE () would be the same. */
static void
halve_values (const uint16_t *const rows[5], int count, int middle, float *restrict to)
{
  const uint16_t *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4];

  for (int i = 0; i < count; i++)
    to[i] = (float) (a[i] + e[i] + 4 * (b[i] + d[i]) + 6 * c[i]) * 0.0625f - (float) middle;
}

static void
halve_floats (const float *const rows[5], int count, float *restrict to)
{
  for (int x = 0; x < count; x += LANES)
    *(FloatsAt *) (to + x) = CONVOLVE_SHRINK_HALVE (floats_at (rows[0] + x), floats_at (rows[1] + x),
        floats_at (rows[2] + x), floats_at (rows[3] + x), floats_at (rows[4] + x));
}

static void
sum_mirrored (const float *taps, int radius, const float *const *rows, int count, float *restrict to)
{
  for (int x = 0; x < count; x += CHUNK) {
    Floats sum[VECTORS] = { 0 };

    for (int m = radius; m > 0; m--)
      for (int v = 0; v < VECTORS; v++)
        sum[v] +=
            taps[m] * (floats_at (rows[radius - m] + x + v * LANES) + floats_at (rows[radius + m] + x + v * LANES));
    for (int v = 0; v < VECTORS; v++)
      *(FloatsAt *) (to + x + v * LANES) = sum[v] + taps[0] * floats_at (rows[radius] + x + v * LANES);
  }
}

/* For a number of samples that the compiler knows. */
static inline __attribute__ ((always_inline)) void
do_enlarge (const float *restrict from, int samples, const float *phases, int levels, int first, int count,
    float *restrict to)
{
  int factor = 1 << levels, end = first + count;

  for (int x = first; x < end;) {
    const float *at = from + ((x >> levels) - (first >> levels)) * samples;
    int phase = x & (factor - 1), n = factor - phase < end - x ? factor - phase : end - x;

    for (int i = 0; i < n; i++)
      for (int k = 0; k < samples; k++)
        to[(x - first + i) * samples + k] = CONVOLVE_SHRINK_BETWEEN (phases + 4 * (phase + i), at[k], at[samples + k],
            at[2 * samples + k], at[3 * samples + k]);
    x += n;
  }
}

static void
enlarge (const float *from, int samples, const float *phases, int levels, int first, int count, float *to)
{
  switch (samples) {
    case 1:
      do_enlarge (from, 1, phases, levels, first, count, to);
      break;
    case 2:
      do_enlarge (from, 2, phases, levels, first, count, to);
      break;
    case 3:
      do_enlarge (from, 3, phases, levels, first, count, to);
      break;
    default:
      do_enlarge (from, 4, phases, levels, first, count, to);
      break;
  }
}

/* own is NULL where the sample itself has no share. A share of 0 would change no value. */
static inline __attribute__ ((always_inline)) void
do_values_between (const ConvolveShrink *shrink, const float *weights, const float *const rows[4], const uint16_t *own,
    const float *offsets, int count, uint16_t *restrict values)
{
  const float *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const float maximum = shrink->maximum, middle = shrink->middle;

  for (int i = 0; i < count; i++) {
    float blur = CONVOLVE_SHRINK_BETWEEN (weights, a[i], b[i], c[i], d[i]);
    float value = own ? CONVOLVE_SHRINK_RESULT (shrink->own, (float) own[i] - middle, shrink->blurred, blur, offsets[i])
                      : CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_PRODUCT (shrink->blurred, blur), offsets[i]);

    value = value > 0 ? value : 0;
    values[i] = (uint16_t) (int) (value < maximum ? value : maximum);
  }
}

static void
values_between (const ConvolveShrink *shrink, const float *weights, const float *const rows[4], const uint16_t *own,
    const float *offsets, int count, uint16_t *values)
{
  if (own)
    do_values_between (shrink, weights, rows, own, offsets, count, values);
  else
    do_values_between (shrink, weights, rows, NULL, offsets, count, values);
}

#endif
