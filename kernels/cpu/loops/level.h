/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A level: the loops of the variant cpu, compiled for one instruction set. cpu/loops/level_tmpl.c fills the table, and
 * cpu/loops/levels.h lists the tables that a build has. The words of this file are explained in cpu/cpu.h.
 */
#ifndef CONVOLVE_CPU_LEVEL_H
#define CONVOLVE_CPU_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/light.h"
#include "common/shrink.h"
#include "convolve.h"

/* Elements past its count that a loop may read and write, so that loops need no code for the end of a row. */
#define CONVOLVE_CPU_PADDING 128
#define CONVOLVE_CACHE_LINE 64

/* Two elements, or the taps that two elements are multiplied by. The first one is in the low 16 bits. */
typedef uint32_t ConvolvePair;

static inline ConvolvePair
convolve_pair (int first, int second)
{
  return (uint16_t) first | (uint32_t) (uint16_t) second << 16;
}

/*
 * A term of a sum of pairs: the pairs of row `row`, `offset` words to the right of the output's, times a pair of taps.
 * A term serves two outputs at once, which read the same pairs and have taps of their own.
 */
typedef struct
{
  int row, offset;
  ConvolvePair upper, lower;
} ConvolveTerm;

/* All terms of a sum that 32 bits hold. */
typedef struct
{
  ConvolveTerm *terms;
  int count;
} ConvolveTerms;

/* The terms up to `end`, from the end of the group before. Their sum fits 32 bits, and counts 2^place times. */
typedef struct
{
  int end, place; /* place: 0 .. 16 */
} ConvolveGroup;

/*
 * All terms of a sum that needs more than 32 bits. A total is added up exactly in two registers, from the sums S of all
 * groups:
 *
 *   high   the sum of floor (S * 2^place / 2^low_bits)
 *   all    the sum of S * 2^place, modulo 2^32
 *
 * all - high * 2^low_bits, modulo 2^32, is what the groups' sums have below low_bits, added up. So the total is known
 * while high fits 32 bits, and the cut into groups cannot be seen in a result.
 */
typedef struct
{
  ConvolveTerm *terms;
  ConvolveGroup *groups;
  int count, n_groups; /* up to 65535 groups */
  int low_bits;        /* 0 .. 16 */
} ConvolveWideTerms;

/* With what a total begins, for each element: high * 2^low_bits + low, where low is below 2^low_bits. */
typedef struct
{
  const int32_t *high, *low;
} ConvolveWideStarts;

/* Turns a sum into a value: (sum >> bits) + middle, clamped to 0 .. maximum. */
typedef struct
{
  int bits, middle, maximum;
} ConvolveShift;

/* Turns a sum of 16 bits into a value: (sum + start) * factor >> (16 + bits). */
typedef struct
{
  uint16_t start, factor;
  int bits;
} ConvolveQuotient;

/* Two sets' taps, which multiply the elements of row `row`, `offset` elements to the right of the output's. */
typedef struct
{
  int row, offset;
  int16_t first, second;
} ConvolveShortTerm;

/* Where the terms of two sets begin: those of both sets, those of the first alone, those of the second alone. */
typedef struct
{
  int both, first, second, end;
} ConvolveShortCouple;

/*
 * The sets of a combination, two to a couple, whose sums are taken modulo 2^16. Where the number of sets is odd, the
 * last couple of a magnitude has a set of 0, and that of a largest value has the last set twice.
 */
typedef struct
{
  ConvolveShortTerm *terms;
  int n_couples;
  ConvolveShortCouple couples[CONVOLVE_MAX_SETS / 2];
} ConvolveShortSets;

/* The most taps of a sum of floats that has a loop of its own: an odd number from 3 to 15. */
#define CONVOLVE_FEW_FLOATS 15

/*
 * Elements of a tile. Tiles of all rows at the same place lie side by side, so that a column is in few pages, in order.
 */
#define CONVOLVE_TILE 32

/* Pairs of a block of a symmetric column, and elements from a pair of a symmetric row to the one that is added next. */
#define CONVOLVE_MIRRORED_BLOCK 16
#define CONVOLVE_MIRRORED_APART 16

/*
 * The order of a symmetric row's pairs: 0, stride, 2 * stride and so on, then 1, 1 + stride, ... A block has the pairs of
 * `block` of these beginnings. The widest register has the elements of one stride.
 */
typedef struct
{
  int stride, block;
} ConvolveStrides;

/*
 * Columns and rows of the largest product that is folded. Registers of arm64 hold more of these sums, and need a
 * shuffle less.
 */
#ifdef __aarch64__
#define CONVOLVE_FOLD_SIDE 31
#else
#define CONVOLVE_FOLD_SIDE 7
#endif
#define CONVOLVE_FOLD_TERMS ((CONVOLVE_FOLD_SIDE + 1) / 2)

/*
 * A product whose row is symmetric. A folded row has the sums of the first and the last element under the mask, of the
 * second and the last but one, and so on, and then the middle element. So it needs half of the taps.
 */
typedef struct
{
  int width, samples;
  int n;                                 /* pairs of rows under the mask */
  ConvolvePair row[CONVOLVE_FOLD_TERMS]; /* taps of the folded row */
  int32_t row_start;
  int cut;
  ConvolvePair upper[CONVOLVE_FOLD_TERMS], lower[CONVOLVE_FOLD_TERMS]; /* taps of the pairs of rows for both outputs */
  int32_t start;
  ConvolveShift shift;
} ConvolveFold;

/* A row of a plane in the three pictures of the form of light. */
typedef struct
{
  const ConvolveLightTables *tables;
  int first, samples;      /* the samples of a pixel that the plane has */
  bool weighs;             /* alpha weighs some of them */
  bool curved, all_curved; /* some, or all, go through tables */
  const uint8_t *original;
  uint8_t *outer; /* may be the original */
  uint16_t *inner;
  const uint8_t *original_alpha; /* where alpha has a plane of its own, rows of that */
  const uint16_t *inner_alpha;
} ConvolveLightRow;

/* A sample of a cell of 32 bits, and of the 64 bits of the cell's inner words. */
typedef struct
{
  int shift;     /* in the cell */
  uint64_t mask; /* its bits, from bit 0 on */
  int place;     /* in the inner words */
  int right;     /* by which a word is shifted after the product that narrows it */
} ConvolveFour;

/* Cells with four samples, whose inner words are (sample * widen), and back (word * narrow + add) >> right. */
typedef struct
{
  ConvolveFour samples[4];
  uint16_t widen[4], narrow[4], add[4]; /* in the order of the inner words */
  uint32_t kept;                        /* bits that are no samples, as in memory */
} ConvolveFours;

/* The transforms work on squares of doubles. The padding of rows keeps a column's elements in different cache sets. */
#define CONVOLVE_CPU_FFT_POINTS 256
#define CONVOLVE_CPU_FFT_STRIDE (CONVOLVE_CPU_FFT_POINTS + 8)
#define CONVOLVE_CPU_FFT_SQUARE (CONVOLVE_CPU_FFT_POINTS * CONVOLVE_CPU_FFT_STRIDE)

/*
 * `count` is a number of elements and `samples` the number of elements from a pixel to the next. Every row has room for
 * CONVOLVE_CPU_PADDING more elements than the count.
 */
typedef struct
{
  const char *name;

  /* --- pixels and values --- */

  void (*load) (const ConvolvePixel *pixel, const uint8_t *line, int pixels, uint16_t *values);
  /* Writes exactly `pixels` pixels. Samples that are not selected are copied from source. */
  void (*store) (const ConvolvePixel *pixel, const uint16_t *values, int pixels, const uint8_t *source,
      uint8_t *destination);
  /*
   * Writes each value as a byte, or as a word after a shift to the left, with stores that bypass the caches. settle
   * makes these visible to other threads.
   */
  void (*stream) (const uint16_t *values, int count, uint8_t *destination);
  void (*stream_words) (const uint16_t *values, int count, int shift, uint8_t *destination);
  void (*settle) (void);

  /* --- sums of pairs --- */

  /* pairs[i] = (first[i] - middle, second[i] - middle) */
  void (*pair_up) (const uint16_t *first, const uint16_t *second, int count, int middle, ConvolvePair *pairs);
  void (*pair_up_bytes) (const uint8_t *first, const uint8_t *second, int count, int middle, ConvolvePair *pairs);

  /*
   * Sums of terms, each begun at its element of `starts`. The name says which outputs share the terms:
   *   rows   an element in the upper and the lower of two rows of outputs
   *   row    no two: one row of outputs, by the terms' upper taps
   * sum_* writes the sums. values_of_* writes values, which are the sums after a shift. values_of_rows and
   * wide_values_of_rows have starts for each of the two rows.
   */
  void (*sum_rows) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
      int32_t *upper, int32_t *lower);
  void (*values_of_rows) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count,
      const int32_t *const starts[2], const ConvolveShift *shift, uint16_t *upper, uint16_t *lower);
  /* Values of sum_rows (): times scale, plus the offset, as in values_of_few_floats. */
  void (*tails_of_rows) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
      float scale, float offset, int maximum, uint16_t *upper, uint16_t *lower);
  void (*values_of_row) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
      const ConvolveShift *shift, uint16_t *values);

  /*
   * The same two rows of outputs, from totals in groups: as doubles, which are exact, or as values by a shift of
   * low_bits and the shift's bits. A total fits 32 bits after the shift by low_bits.
   */
  void (*wide_sums_of_rows) (const ConvolveWideTerms *terms, const ConvolvePair *const *rows, int count,
      ConvolveWideStarts starts, double *upper, double *lower);
  void (*wide_values_of_rows) (const ConvolveWideTerms *terms, const ConvolvePair *const *rows, int count,
      const ConvolveWideStarts starts[2], const ConvolveShift *shift, uint16_t *upper, uint16_t *lower);

  /* --- sums along rows, from which columns are summed --- */

  /*
   * Pairs of (sum + start) >> cut, of two rows of inputs, modulo 2^16. The terms are those of one row.
   *   row_sums_of_neighbours   rows of plain elements, which are read as pairs from memory; a term serves an even
   *                            element and the odd one after it
   *   row_sums_of_pairs        rows of pairs, by the terms' upper taps
   *   row_sums_apart           the same, but the elements of a pair lie `samples` apart in plain rows
   */
  void (*row_sums_of_neighbours) (const ConvolveTerms *terms, const uint16_t *const *rows, int count, int32_t start,
      int cut, ConvolvePair *pairs);
  void (*row_sums_of_pairs) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, int32_t start,
      int cut, ConvolvePair *pairs);
  void (*row_sums_apart) (const ConvolveTerms *terms, const uint16_t *const *rows, int samples, int count,
      int32_t start, int cut, ConvolvePair *pairs);
  /*
   * The same for a product that is folded: the row sums of two rows of inputs become the newest pairs of the ring,
   * which are the last of n. Their order within the ring is the level's own. With values, two rows of outputs are made
   * of the ring.
   */
  void (*fold_rows) (const ConvolveFold *fold, const uint16_t *const rows[2], int count, ConvolvePair *const *ring,
      uint16_t *const values[2]);
  /* sums[i] = starts[i] + values[i] * tap, modulo 2^32 */
  void (*add_centre) (const uint16_t *values, int count, int32_t tap, const int32_t *starts, int32_t *sums);

  /* --- windows of equal taps --- */

  /* columns[i] += entering[i] - leaving[i] */
  void (*slide) (const uint16_t *entering, const uint16_t *leaving, int count, int32_t *columns);
  /* columns[i] += edge * (entering[0][i] - leaving[0][i]) + inner * (entering[1][i] - leaving[1][i]) */
  void (*slide_edges) (const uint16_t *const entering[2], const uint16_t *const leaving[2], int count, int edge,
      int inner, int32_t *columns);
  /* sums[i] = edge * sums[i] + inner * others[i] */
  void (*add_windows) (const int32_t *others, int count, int edge, int inner, int32_t *sums);
  /* sums[i] = columns[i] + columns[i + samples] + ..., `width` of them; scratch is two rows. */
  void (*window) (const int32_t *columns, int width, int samples, int count, int32_t *scratch[2], int32_t *sums);
  /* Narrow windows as values: times scale, plus the offset, as in values_of_few_floats. */
  void (*values_of_int_windows) (const int32_t *columns, int width, int samples, int count, float scale, float offset,
      int maximum, uint16_t *values);
  /* The same in 16 bits: slide, and the quotients of windows' sums as values. */
  void (*slide_shorts) (const uint16_t *entering, const uint16_t *leaving, int count, uint16_t *columns);
  void (*values_of_windows) (const uint16_t *columns, int width, int samples, int count,
      const ConvolveQuotient *quotient, uint16_t *values);

  /* --- sums in floating point --- */

  /* row[i] = values[i] - middle */
  void (*values_to_floats) (const uint16_t *values, int count, int middle, float *row);
  /* row[i] = word i - middle. Words of 16 bits, in the machine's byte order, at any address. */
  void (*words_to_floats) (const uint8_t *words, int count, int middle, float *row);

  /*
   * Sums of `height` rows of `width` taps, added in the order of the taps. sum_floats starts a new block after every
   * `block` products: a block is summed from 0 on, and then added to the total. sum_columns_of_floats does so with one
   * column of taps, for n rows of outputs: row i, in sums[i * step], is made from rows[i] and the rows below.
   * sum_floats_in_double makes the elements first .. first + count - 1.
   */
  void (*sum_floats) (const float *taps, int width, int height, int samples, int block, const float *const *rows,
      int count, float *sums);
  void (*sum_columns_of_floats) (const float *taps, int height, int block, const float *const *rows, int n, int count,
      int step, float *const *sums);
  void (*sum_floats_in_double) (const double *taps, int width, int height, int samples, const float *const *rows,
      int first, int count, double *sums);
  void (*sum_doubles) (const double *taps, int width, int height, int samples, const double *const *rows, int count,
      double *sums);

  /*
   * Sums of symmetric columns and rows, by the taps from the middle one on, which is halved: elements with the same
   * distance from the middle are added before they are multiplied. A column is for n rows of outputs, as above, in
   * blocks of CONVOLVE_MIRRORED_BLOCK pairs; its rows lie in tiles of CONVOLVE_TILE elements, `pitch` elements apart. A
   * sum of n rows has n rows of radius + 1 taps.
   */
  void (*sum_mirrored_columns) (const float *taps, int radius, const float *const *rows, int pitch, int n, int count,
      int step, float *const *sums);
  void (*sum_mirrored_rows) (const float *taps, int radius, int samples, ConvolveStrides strides,
      const float *const *rows, int n, int count, float *sums);

  /*
   * The same sums of few taps, n of them, see CONVOLVE_FEW_FLOATS. Tap k multiplies at[k][i] for output i. Sums become
   * values: times scale, plus the offset, which 32 bits hold, truncated and clamped to 0 .. maximum.
   */
  void (*sum_few_floats) (const float *taps, int n, const float *const *at, int count, float *sums);
  void (*values_of_few_floats) (const float *taps, int n, const float *const *at, int count, float scale, float offset,
      int maximum, uint16_t *values);
  /* Values of sum_floats () of a mask of side x side with blocks of that many products, for two rows of outputs. */
  void (*values_of_squares) (const float *taps, int side, int samples, const float *const *rows, int count, float scale,
      float offset, int maximum, uint16_t *const values[2]);

  /* --- Gaussians on a shrunk picture, by the steps of common/shrink.h --- */

  void (*halve_values) (const uint16_t *const rows[5], int count, int middle, float *to);
  void (*halve_floats) (const float *const rows[5], int count, float *to);
  /* The taps of ConvolveShrinkAxis, and as many rows as there are pixels under them. */
  void (*sum_mirrored) (const float *taps, int radius, const float *const *rows, int count, float *to);
  /* `count` pixels from pixel `first` on, and no more. `from` begins with the first pixel that is needed. */
  void (*enlarge) (const float *from, int samples, const float *phases, int levels, int first, int count, float *to);
  /* Values from four rows of the enlarged picture, and from the samples' own values, or NULL. */
  void (*values_between) (const ConvolveShrink *shrink, const float *weights, const float *const rows[4],
      const uint16_t *own, const float *offsets, int count, uint16_t *values);

  /* --- combinations of sets --- */

  /*
   * The root of the sum of the sets' squares, or the largest set, of sums of 16 bits, as values: times scale, plus the
   * offset, clamped to 0 .. maximum and truncated. offsets[0] has the offsets of even elements and offsets[1] those of
   * odd ones. Sums of squares are below 2^31.
   */
  void (*magnitude_of_shorts) (const ConvolveShortSets *sets, const uint16_t *const *rows, int count, float scale,
      float *const offsets[2], float maximum, uint16_t *values);
  void (*largest_of_shorts) (const ConvolveShortSets *sets, const uint16_t *const *rows, int count, float scale,
      float *const offsets[2], float maximum, uint16_t *values);

  /* squares[i] += ((sums[i] - offsets[i]) * scale)^2 */
  void (*add_squares_of_ints) (const int32_t *sums, int count, double scale, const double *offsets, double *squares);
  void (*add_squares_of_floats) (const float *sums, int count, double scale, const double *offsets, double *squares);
  void (*add_squares_of_doubles) (const double *sums, int count, double scale, const double *offsets, double *squares);
  /* values[i] = the larger one of sums[i] and mirrors[i] - sums[i], both after the shift */
  void (*larger_of_shifts) (const int32_t *sums, const int32_t *mirrors, int count, const ConvolveShift *shift,
      uint16_t *values);
  /* values[i] = others[i] where that is larger */
  void (*replace_by_larger) (const uint16_t *others, int count, uint16_t *values);

  /* --- Fourier transforms --- */

  /*
   * The transform of a square in place, or the inverse transform where `back` is set. Neither scales. Frequencies are
   * in bit-reversed order. All levels give the same bits, so that one level may use a spectrum of another.
   */
  void (*fourier) (double *real, double *imaginary, const double *roots, bool back);
  void (*multiply) (double *real, double *imaginary, const double *by_real, const double *by_imaginary);
  /* row[i] = values[i * samples] - middle */
  void (*values_to_doubles) (const uint16_t *values, int samples, int count, int middle, double *row);
  /* sums[i] += numbers[i], rounded to an integer, times unit */
  void (*add_rounded) (const double *numbers, int count, double unit, double *sums);

  /* --- inner forms --- */

  /* `width` pixels of a row, by the formulas of common/light.h. Nothing beyond them is read or written. */
  void (*unpack_light) (const ConvolveLightRow *row, int width);
  void (*pack_light) (const ConvolveLightRow *row, int width);
  /* `count` cells at any address, and their words. source and packed may be the same. */
  void (*unpack_fours) (const ConvolveFours *fours, const uint8_t *cells, int count, uint16_t *words);
  void (*pack_fours) (const ConvolveFours *fours, const uint16_t *words, int count, const uint8_t *source,
      uint8_t *packed);

  /* --- the tail --- */

  /* values[i] = sums[i] * scale + offsets[i], clamped to 0 .. maximum and truncated */
  void (*ints_to_values) (const int32_t *sums, int count, float scale, const float *offsets, float maximum,
      uint16_t *values);
  void (*ints_to_values_in_double) (const int32_t *sums, int count, double scale, const double *offsets, double maximum,
      uint16_t *values);
  void (*floats_to_values) (const float *sums, int count, float scale, const float *offsets, float maximum,
      uint16_t *values);
  void (*floats_to_values_in_double) (const float *sums, int count, double scale, const double *offsets, double maximum,
      uint16_t *values);
  void (*doubles_to_values) (const double *sums, int count, double scale, const double *offsets, double maximum,
      uint16_t *values);
  /* values[i] = sqrt (squares[i]) * scale + offsets[i], in the same way */
  void (*roots_to_values) (const double *squares, int count, double scale, const double *offsets, double maximum,
      uint16_t *values);
} ConvolveCpuLevel;

#endif
