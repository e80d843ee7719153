/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the variant cpu derives from a mask and a pixel format when a plan is made. The words are those of cpu/cpu.h. */
#ifndef CONVOLVE_CPU_PREPARED_H
#define CONVOLVE_CPU_PREPARED_H

#include "common/factors.h"
#include "common/internal.h"
#include "cpu/paths/fft.h"
#include "cpu/loops/level.h"

/*
 * The ways to convolve. A factored mask is a sum of few products of a column and a row. Of paths with equal costs, the
 * first one is taken. A name is that of the row convolve_cpu_path_NAME.
 */
#define CONVOLVE_CPU_PATHS(ROW) \
  ROW (COPY, copy)                     /* no sample is selected */ \
  ROW (DOUBLE, double)                 /* any taps, in double */ \
  ROW (FLOAT, float)                   /* any taps, in float */ \
  ROW (DOUBLE_FACTORS, double_factors) /* a factored mask, in double */ \
  ROW (FLOAT_FACTORS, float_factors)   /* a factored mask, in float */ \
  ROW (PAIRS, pairs)                   /* any taps, in integers */ \
  ROW (WIDE, wide)                     /* any taps, in integers whose sums need more than 32 bits */ \
  ROW (FACTORS, factors)               /* a factored mask, in integers */ \
  ROW (BOX, box)                       /* equal taps, but for the edges: running sums */ \
  ROW (SMALL_BOX, small_box)           /* equal taps, few enough for sums of 16 bits */ \
  ROW (FFT, fft)               /* any taps, by Fourier transforms whose results are integers; of large regions */ \
  ROW (SHORT_SETS, short_sets) /* a magnitude or the largest of sets whose sums fit 16 bits */ \
  ROW (SETS, sets)             /* of any sets, each by pairs, in float or in double */

#define CONVOLVE_CPU_NAME_PATH(NAME, stem) CONVOLVE_CPU_##NAME,
typedef enum
{
  CONVOLVE_CPU_PATHS (CONVOLVE_CPU_NAME_PATH) CONVOLVE_CPU_N_PATHS
} ConvolveCpuPath;

/* The weights of a box, in units of its tap: `edge` of the first and last tap, edge + inner of all others. */
typedef struct
{
  int edge_x, inner_x, edge_y, inner_y;
} ConvolveCpuBox;

typedef struct ConvolveCpu
{
  ConvolveCpuPath path;
  const ConvolveCpuLevel *level; /* the best of this machine; any other of its levels gives the same bytes */
  double cost;                   /* estimated, of one output, in terms of a sum of pairs */
  int middle;                    /* subtracted from the values before they are multiplied; 0 or the middle value */

  bool short_tail; /* sums of terms become values by the tail, in float, in the loop that makes them */
  bool shifts;     /* sums of terms become values by `shift`, otherwise by `tail` */
  bool mirrors;    /* of an absolute value: the larger one of the values of a sum and its negative, both by `shift` */
  ConvolveShift shift;
  int32_t mirror_starts[CONVOLVE_MAX_SAMPLES]; /* less a sum, these are its negative with the start of that */
  ConvolveTail tail;

  ConvolveCpuBox box;
  ConvolveQuotient quotient; /* of a small box */

  /* pairs and factors */
  /* The sums begin with the offset and rounding of a shift, or else with what exact sums lose by the middle. */
  int32_t starts[CONVOLVE_MAX_SAMPLES];
  ConvolveTerms terms; /* pairs: of the mask; factors: of all columns, over the pairs of one product after the other */

  /* wide; starts has what is above low_bits */
  int32_t low_starts[CONVOLVE_MAX_SAMPLES];
  ConvolveWideTerms wide;

  /* factors */
  int rank;                              /* number of products */
  bool neighbours;                       /* rows are summed for two neighbours at a time: one sample to a pixel */
  bool joins;                            /* otherwise, elements become pairs before rows are summed: longer rows */
  ConvolveTerms rows[CONVOLVE_MAX_RANK]; /* of each product's row */
  int32_t row_start[CONVOLVE_MAX_RANK];  /* with which row sums begin, so that 16 bits with a sign hold what is left */
  int cut[CONVOLVE_MAX_RANK];            /* by which they are shifted down then */
  bool folds;                            /* the only product is folded, and fold has all of it */
  ConvolveFold fold;
  int32_t centre_tap; /* of the output's own sample, beside all products; mostly 0 */

  /* factors in floating point: `rank` columns, then `rank` rows, in one allocation */
  float *float_columns, *float_rows;
  double *double_columns, *double_rows;
  bool symmetric; /* all float_columns and float_rows: these have the taps from the middle one on, which is halved */
  ConvolveStrides strides;
  bool few; /* few taps, of a mask, one product or a box, with a tail in float: sums become values in the same loop */
  bool square;             /* of float: more taps, as many rows as columns, and such a tail */
  int block, column_block; /* products of a block of a float sum: of the mask or the rows, and of the columns */

  /* fft */
  ConvolveCpuFft *fft;
  double fft_start; /* added to the sums: what these lose by the middle */

  /* The path for large regions, fft, or NULL. It gives the same bytes. A square costs the same however little of it a
     region fills, so cpu/paths/cut.c chooses for each region. */
  struct ConvolveCpu *large;

  /* sets */
  ConvolveShortSets shorts;
  int n_parts;               /* of a magnitude or a largest value */
  struct ConvolveCpu *parts; /* all by pairs or wide, or all in float or in double, with one middle */
} ConvolveCpu;

/* The row's prepare () and clear (). */
ConvolveStatus convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error);
void convolve_cpu_clear (ConvolvePlan *plan);

/* What was derived for a plan of the variant cpu. */
static inline ConvolveCpu *
convolve_cpu_of (const ConvolvePlan *plan)
{
  return (ConvolveCpu *) plan->prepared;
}

/* Whether a path reads pairs of rows. */
static inline bool
convolve_cpu_reads_pairs (ConvolveCpuPath path)
{
  return path == CONVOLVE_CPU_PAIRS || path == CONVOLVE_CPU_WIDE || path == CONVOLVE_CPU_FACTORS;
}

/* The rows of inputs from the row of an output, the upper of two, to the last one that a mask of this height covers. */
static inline int
convolve_cpu_centre_rows (int height)
{
  return (height + 1) / 2 * 2 - height / 2;
}

/* Whether column sums are made for a batch of rows of outputs together, in columns that stay in the L1 cache. */
static inline bool
convolve_cpu_has_batches (const ConvolveCpu *cpu)
{
  return (cpu->path == CONVOLVE_CPU_FLOAT_FACTORS && !cpu->few) || cpu->path == CONVOLVE_CPU_DOUBLE_FACTORS;
}

#endif
