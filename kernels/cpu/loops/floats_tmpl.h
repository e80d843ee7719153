/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums in floating point. The order of additions does not depend on the number of lanes. */
#ifndef CONVOLVE_CPU_FLOATS_TMPL_H
#define CONVOLVE_CPU_FLOATS_TMPL_H

#include "cpu/loops/vectors_tmpl.h"

static void
values_to_floats (const uint16_t *restrict values, int count, int middle, float *restrict row)
{
  for (int i = 0; i < count; i++)
    row[i] = (float) (values[i] - middle);
}

static void
words_to_floats (const uint8_t *restrict words, int count, int middle, float *restrict row)
{
  const Word *from = (const Word *) words;

  for (int i = 0; i < count; i++)
    row[i] = (float) (from[i] - middle);
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
sum_floats (const float *taps, int width, int height, int samples, int block, const float *const *rows, int count,
    float *sums)
{
  for (int x = 0; x < count; x += CHUNK) {
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

/* --- columns --- */

#define COLUMN_ROWS 4    /* of outputs, which share the elements that they are made from while a cache is near */
#define COLUMN_VECTORS 2 /* with so many rows, as many sums as keep two adders busy */

/* `n` rows of outputs, a constant, for COLUMN_VECTORS registers from x on, in the order of sum_floats (). */
static inline __attribute__ ((always_inline)) void
sum_columns (const float *taps, int height, int block, const float *const *rows, int n, int x, int step,
    float *const *sums)
{
  Floats total[COLUMN_ROWS][COLUMN_VECTORS] = { 0 };

  for (int j = 0; j < height;) {
    const int end = height - j < block ? height : j + block;
    Floats part[COLUMN_ROWS][COLUMN_VECTORS] = { 0 };

    for (; j < end; j++)
      for (int i = 0; i < n; i++)
        for (int v = 0; v < COLUMN_VECTORS; v++)
          part[i][v] += taps[j] * *(const FloatsAt *) (rows[j + i] + x + v * LANES);
    for (int i = 0; i < n; i++)
      for (int v = 0; v < COLUMN_VECTORS; v++)
        total[i][v] += part[i][v];
  }
  for (int i = 0; i < n; i++)
    for (int v = 0; v < COLUMN_VECTORS; v++)
      *(FloatsAt *) (sums[i * step] + x + v * LANES) = total[i][v];
}

static void
sum_columns_of_floats (const float *taps, int height, int block, const float *const *rows, int n, int count, int step,
    float *const *sums)
{
  for (int x = 0; x < count; x += COLUMN_VECTORS * LANES) {
    int i = 0;

    for (; i + COLUMN_ROWS <= n; i += COLUMN_ROWS)
      sum_columns (taps, height, block, rows + i, COLUMN_ROWS, x, step, sums + i * step);
    for (; i < n; i++)
      sum_columns (taps, height, block, rows + i, 1, x, step, sums + i * step);
  }
}

/* --- symmetric rows and columns: taps from the middle one on, which is halved --- */

#define MIRRORED_VECTORS (VECTORS / 4) /* of columns, so that five rows on both sides of the middle fit registers */

_Static_assert(CONVOLVE_TILE % (MIRRORED_VECTORS * LANES) == 0, "a turn reads one tile");

/* Adds n pairs of elements, a constant, with the same distance from the middle, to so many rows of outputs. */
static inline __attribute__ ((always_inline)) void
add_mirrored (const float *taps, const float *const *middle, int first, int n, int rows, int at,
    Floats part[COLUMN_ROWS][MIRRORED_VECTORS])
{
  for (int m = first; m < first + n; m++)
    for (int i = 0; i < rows; i++)
      for (int v = 0; v < MIRRORED_VECTORS; v++) {
        const FloatsAt *above = (const FloatsAt *) (middle[i - m] + at) + v;
        const FloatsAt *below = (const FloatsAt *) (middle[i + m] + at) + v;

        part[i][v] += taps[m] * (*above + *below);
      }
}

static inline __attribute__ ((always_inline)) void
sum_mirrored_column (const float *taps, int radius, const float *const *middle, int n, int at, int x, int step,
    float *const *sums)
{
  Floats total[COLUMN_ROWS][MIRRORED_VECTORS] = { 0 };

  for (int m = 0; m <= radius;) {
    const int end = radius < m + CONVOLVE_MIRRORED_BLOCK ? radius + 1 : m + CONVOLVE_MIRRORED_BLOCK;
    Floats part[COLUMN_ROWS][MIRRORED_VECTORS] = { 0 };

    for (; m + 2 <= end; m += 2) /* neighbours have most of their rows in common */
      add_mirrored (taps, middle, m, 2, n, at, part);
    for (; m < end; m++)
      add_mirrored (taps, middle, m, 1, n, at, part);
    for (int i = 0; i < n; i++)
      for (int v = 0; v < MIRRORED_VECTORS; v++)
        total[i][v] += part[i][v];
  }
  for (int i = 0; i < n; i++)
    for (int v = 0; v < MIRRORED_VECTORS; v++)
      *(FloatsAt *) (sums[i * step] + x + v * LANES) = total[i][v];
}

static void
sum_mirrored_columns (const float *taps, int radius, const float *const *rows, int pitch, int n, int count, int step,
    float *const *sums)
{
  for (int x = 0; x < count; x += MIRRORED_VECTORS * LANES) {
    const int at = x / CONVOLVE_TILE * pitch + x % CONVOLVE_TILE;
    int i = 0;

    for (; i + COLUMN_ROWS <= n; i += COLUMN_ROWS)
      sum_mirrored_column (taps, radius, rows + i + radius, COLUMN_ROWS, at, x, step, sums + i * step);
    for (; i < n; i++)
      sum_mirrored_column (taps, radius, rows + i + radius, 1, at, x, step, sums + i * step);
  }
}

/* Adds the pairs `first`, first + stride and so on. They lie `apart` elements apart. */
static inline __attribute__ ((always_inline)) void
add_every (const float *taps, int radius, int first, int stride, int apart, const float *left, const float *right,
    Floats part[VECTORS])
{
  for (int m = first; m <= radius; m += stride, left -= apart, right += apart)
    for (int v = 0; v < VECTORS; v++)
      part[v] += taps[m] * (*(const FloatsAt *) (left + v * LANES) + *(const FloatsAt *) (right + v * LANES));
}

static inline __attribute__ ((always_inline)) void
do_sum_mirrored_rows (const float *taps, int radius, int samples, ConvolveStrides strides, int apart,
    const float *const *rows, int n, int count, float *sums)
{
  for (int x = 0; x < count; x += CHUNK) {
    Floats total[VECTORS] = { 0 };

    for (int j = 0; j < n; j++) {
      const float *middle = rows[j] + x + radius * samples;

      for (int first = 0; first < strides.stride && first <= radius;) {
        const int end = first + strides.block;
        Floats part[VECTORS] = { 0 };

        for (; first < end && first <= radius; first++)
          add_every (taps + j * (radius + 1), radius, first, strides.stride, apart, middle - first * samples,
              middle + first * samples, part);
        for (int v = 0; v < VECTORS; v++)
          total[v] += part[v];
      }
    }
    for (int v = 0; v < VECTORS; v++)
      *(FloatsAt *) (sums + x + v * LANES) = total[v];
  }
}

/* With a constant number of registers from a pair to the next, compilers keep elements for the next pair. */
static void
sum_mirrored_rows (const float *taps, int radius, int samples, ConvolveStrides strides, const float *const *rows, int n,
    int count, float *sums)
{
  if (strides.stride * samples == CONVOLVE_MIRRORED_APART)
    do_sum_mirrored_rows (taps, radius, samples, strides, CONVOLVE_MIRRORED_APART, rows, n, count, sums);
  else
    do_sum_mirrored_rows (taps, radius, samples, strides, strides.stride * samples, rows, n, count, sums);
}

/* --- few taps --- */

/* The sum of up to CONVOLVE_FEW_FLOATS products, in the order of sum_floats (). Calls with constants are unrolled. */
static inline __attribute__ ((always_inline)) Floats
sum_few (const float *taps, int n, int block, const float *const *at, int x)
{
  Floats total = { 0 };

  for (int first = 0; first < n; first += block) {
    Floats part = taps[first] * *(const FloatsAt *) (at[first] + x);

    for (int i = first + 1; i < n && i < first + block; i++)
      part += taps[i] * *(const FloatsAt *) (at[i] + x);
    total = first == 0 ? part : total + part;
  }
  return total;
}

static inline __attribute__ ((always_inline)) void
do_sum_few_floats (const float *taps, int n, int block, const float *const *at, int count, float *restrict sums)
{
  for (int x = 0; x < count; x += LANES)
    *(FloatsAt *) (sums + x) = sum_few (taps, n, block, at, x);
}

/* Calls LOOP with n and the block of block_of () in cpu/paths/path_floats.c for so many taps, as constants. */
#define WITH_FEW(n, LOOP) \
  switch (n) { \
    case 3: \
      LOOP (3, 2); \
      break; \
    case 5: \
      LOOP (5, 3); \
      break; \
    case 7: \
      LOOP (7, 3); \
      break; \
    case 9: \
      LOOP (9, 3); \
      break; \
    case 11: \
      LOOP (11, 4); \
      break; \
    case 13: \
      LOOP (13, 4); \
      break; \
    default: \
      LOOP (15, 4); \
      break; \
  }

static void
sum_few_floats (const float *taps, int n, const float *const *at, int count, float *sums)
{
#define SUM(N, BLOCK) do_sum_few_floats (taps, N, BLOCK, at, count, sums)
  WITH_FEW (n, SUM)
#undef SUM
}

static inline __attribute__ ((always_inline)) void
do_values_of_few_floats (const float *taps, int n, int block, const float *const *at, int count, float scale,
    float offset, int maximum, uint16_t *restrict values)
{
  const float *from[CONVOLVE_FEW_FLOATS]; /* compilers cannot know that values are written elsewhere than to at */

  for (int i = 0; i < n; i++)
    from[i] = at[i];
  for (int x = 0; x < count; x += 2 * LANES)
    store_truncated (sum_few (taps, n, block, from, x) * scale + offset,
        sum_few (taps, n, block, from, x + LANES) * scale + offset, maximum, values + x);
}

static void
values_of_few_floats (const float *taps, int n, const float *const *at, int count, float scale, float offset,
    int maximum, uint16_t *values)
{
#define VALUES(N, BLOCK) do_values_of_few_floats (taps, N, BLOCK, at, count, scale, offset, maximum, values)
  WITH_FEW (n, VALUES)
#undef VALUES
}

/* --- square masks, two rows of outputs at a time, so that both use what is loaded --- */

#define SQUARE_VECTORS (VECTORS / 2)

/* A row of inputs, with a row of taps for the upper output, for the lower one or for both; NULL is none. */
static inline __attribute__ ((always_inline)) void
add_square_row (const float *upper, const float *lower, int side, int samples, const float *at,
    Floats total[2][SQUARE_VECTORS])
{
  Floats part[2][SQUARE_VECTORS] = { 0 };

  for (int i = 0; i < side; i++, at += samples)
    for (int v = 0; v < SQUARE_VECTORS; v++) {
      Floats element = *(const FloatsAt *) (at + v * LANES);

      if (upper)
        part[0][v] += upper[i] * element;
      if (lower)
        part[1][v] += lower[i] * element;
    }
  for (int v = 0; v < SQUARE_VECTORS; v++) {
    total[0][v] += part[0][v];
    total[1][v] += part[1][v];
  }
}

static inline __attribute__ ((always_inline)) void
do_values_of_squares (const float *taps, int side, int samples, const float *const *rows, int count, float scale,
    float offset, int maximum, uint16_t *const values[2])
{
  for (int x = 0; x < count; x += SQUARE_VECTORS * LANES) {
    Floats total[2][SQUARE_VECTORS] = { 0 };

    add_square_row (taps, NULL, side, samples, rows[0] + x, total);
    for (int j = 1; j < side; j++)
      add_square_row (taps + j * side, taps + (j - 1) * side, side, samples, rows[j] + x, total);
    add_square_row (NULL, taps + (side - 1) * side, side, samples, rows[side] + x, total);
    for (int k = 0; k < 2; k++)
      for (int v = 0; v < SQUARE_VECTORS; v += 2)
        store_truncated (total[k][v] * scale + offset, total[k][v + 1] * scale + offset, maximum,
            values[k] + x + v * LANES);
  }
}

static void
values_of_squares (const float *taps, int side, int samples, const float *const *rows, int count, float scale,
    float offset, int maximum, uint16_t *const values[2])
{
  if (side == 5 && samples == 1)
    do_values_of_squares (taps, 5, 1, rows, count, scale, offset, maximum, values);
  else if (side == 5)
    do_values_of_squares (taps, 5, samples, rows, count, scale, offset, maximum, values);
  else if (side == 7)
    do_values_of_squares (taps, 7, samples, rows, count, scale, offset, maximum, values);
  else
    do_values_of_squares (taps, side, samples, rows, count, scale, offset, maximum, values);
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
