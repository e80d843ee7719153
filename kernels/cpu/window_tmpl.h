/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of windows of equal taps. */
#ifndef CONVOLVE_CPU_WINDOW_TMPL_H
#define CONVOLVE_CPU_WINDOW_TMPL_H

#include <string.h>

#include "cpu/vectors_tmpl.h"

static void
slide (const uint16_t *restrict entering, const uint16_t *restrict leaving, int count, int32_t *restrict columns)
{
  for (int i = 0; i < count; i++)
    columns[i] += entering[i] - leaving[i];
}

/* to[x] = a[x] + b[x] + c[x]; to may be a. */
static inline void
add_rows (const int32_t *a, const int32_t *b, const int32_t *c, int count, int32_t *to)
{
  for (int x = 0; x < count; x += LANES)
    *(IntsAt *) (to + x) = *(const IntsAt *) (a + x) + *(const IntsAt *) (b + x) + *(const IntsAt *) (c + x);
}

/* Lane i of a register moved up by n lanes, in a shuffle with zeros; and of one that repeats its last n lanes. */
#define MOVED(i, n) ((i) < (n) ? LANES : (i) - (n))
#define REPEATED(i, n) (LANES - (n) + (i) % (n))
#define LANES_4(lane, i, n) lane (i, n), lane (i + 1, n), lane (i + 2, n), lane (i + 3, n)
#if LANES == 16
#define ALL_LANES(lane, n) LANES_4 (lane, 0, n), LANES_4 (lane, 4, n), LANES_4 (lane, 8, n), LANES_4 (lane, 12, n)
#elif LANES == 8
#define ALL_LANES(lane, n) LANES_4 (lane, 0, n), LANES_4 (lane, 4, n)
#else
#define ALL_LANES(lane, n) LANES_4 (lane, 0, n)
#endif
#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector (a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle (a, b, (Ints){ __VA_ARGS__ })
#endif
#define MOVE_UP(ints, n) SHUFFLE (ints, (Ints){ 0 }, ALL_LANES (MOVED, n))
#define REPEAT_LAST(ints, n) SHUFFLE (ints, ints, ALL_LANES (REPEATED, n))

/*
 * totals[x + samples] becomes the sum of columns x, x - samples, x - 2 samples, ...: in a register by additions of itself moved
 * up, and from the registers before by their last lanes. Sums may wrap, differences of them do not know.
 */
static inline void
add_up (const int32_t *columns, int samples, int length, int32_t *totals)
{
  Ints carry = { 0 };

  for (int x = 0; x < samples; x++)
    totals[x] = 0;
  for (int x = 0; x < length; x += LANES) {
    Ints sum = *(const IntsAt *) (columns + x);

    if (samples == 1)
      sum += MOVE_UP (sum, 1);
    if (samples <= 2)
      sum += MOVE_UP (sum, 2);
    if (LANES > 4)
      sum += MOVE_UP (sum, 4);
    if (LANES > 8)
      sum += MOVE_UP (sum, 8);
    sum += carry;
    carry = samples == 1 ? REPEAT_LAST (sum, 1) : samples == 2 ? REPEAT_LAST (sum, 2) : REPEAT_LAST (sum, 4);
    *(IntsAt *) (totals + x + samples) = sum;
  }
}

/*
 * A window is the difference of two totals. Narrow ones, and those whose samples does not fit registers, are sums of
 * windows of 1, 2, 4, ... columns, one for each bit of the width, side by side: the windows of one size are two by two
 * those of the next, for all places at once.
 */
static void
window (const int32_t *columns, int width, int samples, int count, int32_t *scratch[2], int32_t *sums)
{
  const int32_t *part = columns, *sum = columns;
  int length = count + (width - 1) * samples, done = 1, turn = 0;

  if (width > 5 && samples != 3) {
    if (samples == 1)
      add_up (columns, 1, length, scratch[0]);
    else if (samples == 2)
      add_up (columns, 2, length, scratch[0]);
    else
      add_up (columns, 4, length, scratch[0]);
    for (int x = 0; x < count; x += LANES)
      *(IntsAt *) (sums + x) =
          *(const IntsAt *) (scratch[0] + x + width * samples) - *(const IntsAt *) (scratch[0] + x);
    return;
  }
  if (width == 1)
    memcpy (sums, columns, count * sizeof (*sums));
  for (int size = 1; 2 * size <= width; size *= 2) {
    if (width & 2 * size) {
      add_rows (sum, part + done * samples, part + (done + size) * samples, count, sums);
      sum = sums;
      done += 2 * size;
    }
    if (4 * size <= width) {
      int32_t *next = scratch[turn++ % 2];

      length -= size * samples;
      for (int x = 0; x < length; x += LANES)
        *(IntsAt *) (next + x) = *(const IntsAt *) (part + x) + *(const IntsAt *) (part + x + size * samples);
      part = next;
    }
  }
}

#endif
