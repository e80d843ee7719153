/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shuffles of the lanes of one or two registers. */
#ifndef CONVOLVE_CPU_SHUFFLE_TMPL_H
#define CONVOLVE_CPU_SHUFFLE_TMPL_H

#include "cpu/loops/vectors_tmpl.h"

/*
 * Of the lanes 1 2 3 4, MOVE_UP by 1 makes 0 1 2 3, and REPEAT_LAST of 2 makes 3 4 3 4. Of 1 2 3 4 and 5 6 7 8, ZIP_LOW
 * makes 1 5 2 6, and ZIP_HIGH 3 7 4 8. MOVED, REPEATED and ZIPPED are the lane that lane i is copied from. The number
 * LANES stands for the first lane of the second register.
 */
#define MOVED(i, n) ((i) < (n) ? LANES : (i) - (n))
#define REPEATED(i, n) (LANES - (n) + (i) % (n))
#define ZIPPED(i, n) ((n) + (i) / 2 + (i) % 2 * LANES)
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
#define ZIP_LOW(a, b) SHUFFLE (a, b, ALL_LANES (ZIPPED, 0))
#define ZIP_HIGH(a, b) SHUFFLE (a, b, ALL_LANES (ZIPPED, LANES / 2))

#endif
