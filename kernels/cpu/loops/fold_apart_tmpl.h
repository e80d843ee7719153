/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loops of cpu/loops/fold_tmpl.h for arm64. The pairs of a ring lie apart: the first elements of as many pairs as a
 * register has 16-bit elements, and then their second elements. So a product needs no shuffle, and taps that are 0 for
 * every mask need no product.
 */
#ifndef CONVOLVE_CPU_FOLD_APART_TMPL_H
#define CONVOLVE_CPU_FOLD_APART_TMPL_H

#define FOLD_MOST 4 /* registers of 16-bit elements that a turn makes at most, for each of the two rows */

typedef struct
{
  int32x4_t low, high;
} FoldSums;

/* Adds the products by the first or the second one of two taps. */
static inline __attribute__ ((always_inline)) void
add_first (FoldSums *sums, int16x8_t elements, int16x4_t taps)
{
  sums->low = vmlal_lane_s16 (sums->low, vget_low_s16 (elements), taps, 0);
  sums->high = vmlal_high_lane_s16 (sums->high, elements, taps, 0);
}

static inline __attribute__ ((always_inline)) void
add_second (FoldSums *sums, int16x8_t elements, int16x4_t taps)
{
  sums->low = vmlal_lane_s16 (sums->low, vget_low_s16 (elements), taps, 1);
  sums->high = vmlal_high_lane_s16 (sums->high, elements, taps, 1);
}

static inline __attribute__ ((always_inline)) int16x4_t
fold_taps (const ConvolvePair *taps)
{
  return vreinterpret_s16_u32 (vld1_dup_u32 (taps));
}

static inline __attribute__ ((always_inline)) int16x8_t
mirrored (const uint16_t *left, const uint16_t *right)
{
  return vreinterpretq_s16_u16 (vaddq_u16 (vld1q_u16 (left), vld1q_u16 (right)));
}

/* Row sums of one row of inputs: the low 16 bits after the cut, which are the upper ones after a shift to the left. */
static inline __attribute__ ((always_inline)) void
fold_row (const ConvolveFold *fold, int width, int n_registers, const uint16_t *row, int16x8_t results[FOLD_MOST])
{
  const ptrdiff_t samples = fold->samples;
  const uint16_t *right = row + (width - 1) * samples, *middle = row + width / 2 * samples;
  const int16x4_t last = fold_taps (&fold->row[width / 4]);
  const int32x4_t up = vdupq_n_s32 (16 - fold->cut), start = vdupq_n_s32 (fold->row_start);
  FoldSums sums[FOLD_MOST];

  for (int r = 0; r < n_registers; r++)
    sums[r] = (FoldSums){ start, start };
#pragma GCC unroll 8
  for (int t = 0; t < width / 4; t++) {
    const int16x4_t taps = fold_taps (&fold->row[t]);

    for (int r = 0; r < n_registers; r++) {
      add_first (&sums[r], mirrored (row + 8 * r, right + 8 * r), taps);
      add_second (&sums[r], mirrored (row + samples + 8 * r, right - samples + 8 * r), taps);
    }
    row += 2 * samples;
    right -= 2 * samples;
  }
  for (int r = 0; r < n_registers; r++) {
    const int16x8_t centre = vreinterpretq_s16_u16 (vld1q_u16 (middle + 8 * r));

    if (width / 2 % 2) {
      add_first (&sums[r], mirrored (row + 8 * r, right + 8 * r), last);
      add_second (&sums[r], centre, last);
    } else {
      add_first (&sums[r], centre, last);
    }
    results[r] = vuzp2q_s16 (vreinterpretq_s16_s32 (vshlq_s32 (sums[r].low, up)),
        vreinterpretq_s16_s32 (vshlq_s32 (sums[r].high, up)));
  }
}

/* The pairs of one row of a ring times taps for both outputs. */
static inline __attribute__ ((always_inline)) void
add_ring (const ConvolvePair *pairs, int n_registers, int16x4_t upper, int16x4_t lower, bool oldest,
    FoldSums sums[2][FOLD_MOST])
{
  for (int r = 0; r < n_registers; r++) {
    const int16x8_t first = vreinterpretq_s16_u32 (vld1q_u32 (pairs + 8 * r));
    const int16x8_t second = vreinterpretq_s16_u32 (vld1q_u32 (pairs + 8 * r + 4));

    add_first (&sums[0][r], first, upper);
    add_second (&sums[0][r], second, upper);
    if (!oldest)
      add_first (&sums[1][r], first, lower);
    add_second (&sums[1][r], second, lower);
  }
}

/*
 * Calls with constants are inlined, and their loops over taps unrolled. n is the number of pairs of rows in the ring.
 * The oldest element has no tap for the lower output, and the newest one has none for the upper output.
 */
static inline __attribute__ ((always_inline)) void
do_fold_rows (const ConvolveFold *fold, int width, int n, int n_registers, const uint16_t *const rows[2], int count,
    ConvolvePair *const *ring, uint16_t *const values[2])
{
  const uint16_t *const upper_row = rows[0], *const lower_row = rows[1];
  uint16_t *const upper_values = values ? values[0] : NULL, *const lower_values = values ? values[1] : NULL;
  ConvolvePair *const newest = ring[n - 1];
  const int16x4_t last[2] = { fold_taps (&fold->upper[n - 1]), fold_taps (&fold->lower[n - 1]) };
  const int32x4_t down = vdupq_n_s32 (-fold->shift.bits), start = vdupq_n_s32 (fold->start);

  for (int x = 0; x < count; x += 8 * n_registers) {
    int16x8_t firsts[FOLD_MOST], seconds[FOLD_MOST];
    FoldSums sums[2][FOLD_MOST];

    fold_row (fold, width, n_registers, upper_row + x, firsts);
    fold_row (fold, width, n_registers, lower_row + x, seconds);
    for (int r = 0; r < n_registers; r++) {
      vst1q_u32 (newest + x + 8 * r, vreinterpretq_u32_s16 (firsts[r]));
      vst1q_u32 (newest + x + 8 * r + 4, vreinterpretq_u32_s16 (seconds[r]));
      sums[0][r] = sums[1][r] = (FoldSums){ start, start };
    }
    if (!values)
      continue;
    if (n > 1)
      add_ring (ring[0] + x, n_registers, fold_taps (&fold->upper[0]), fold_taps (&fold->lower[0]), true, sums);
#pragma GCC unroll 8
    for (int t = 1; t < n - 1; t++)
      add_ring (ring[t] + x, n_registers, fold_taps (&fold->upper[t]), fold_taps (&fold->lower[t]), false, sums);
    for (int r = 0; r < n_registers; r++) {
      add_first (&sums[0][r], firsts[r], last[0]);
      if (n > 1)
        add_first (&sums[1][r], firsts[r], last[1]);
      add_second (&sums[1][r], seconds[r], last[1]);
    }
    for (int k = 0; k < 2; k++)
      for (int r = 0; r < n_registers; r++)
        *(ShortsAt *) ((k ? lower_values : upper_values) + x + 8 * r) =
            pack_joined ((Ints) vshlq_s32 (sums[k][r].low, down), (Ints) vshlq_s32 (sums[k][r].high, down),
                fold->shift.middle, fold->shift.maximum);
  }
}

/* Where loops are unrolled, there are no registers for four. */
static void
fold_rows (const ConvolveFold *fold, const uint16_t *const rows[2], int count, ConvolvePair *const *ring,
    uint16_t *const values[2])
{
  const ConvolveFold by = *fold;

  if (!values)
    do_fold_rows (&by, by.width, by.n, 4, rows, count, ring, NULL);
  else if (by.width == 3 && by.n == 2)
    do_fold_rows (&by, 3, 2, 2, rows, count, ring, values);
  else if (by.width == 5 && by.n == 3)
    do_fold_rows (&by, 5, 3, 2, rows, count, ring, values);
  else if (by.width == 7 && by.n == 4)
    do_fold_rows (&by, 7, 4, 2, rows, count, ring, values);
  else
    do_fold_rows (&by, by.width, by.n, 4, rows, count, ring, values);
}

#endif
