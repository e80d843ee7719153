/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the variant cpu share.
 *
 * A plane is cut into jobs, rectangles that threads take. In a job the rows under the mask stand as a ring, converted
 * and with the boundary applied; samples of a pixel stay side by side, so that a tap's neighbour is `samples` elements
 * away and every loop runs over plain elements. What the loops do is decided here, with the plan; the loops themselves
 * are in cpu/rows_tmpl.c, once for each instruction set.
 *
 * The fast sums are integers: samples less `center` fit 16 bits, two rows of them stand as pairs in 32, and one
 * instruction multiplies pairs by pairs of taps and adds. Integer sums have no order, so results cannot depend on how
 * the work was cut. Float and double sums, for what no integers can do, have one order of additions for each output,
 * whose roundings cpu/prepare.c counts.
 */
#ifndef CONVOLVE_CPU_CPU_H
#define CONVOLVE_CPU_CPU_H

#include "common/factors.h"
#include "convolve_pool.h"
#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_CPU_BLOCK 128 /* elements that a loop may write and read past its count */
#define CONVOLVE_CACHE_LINE 64

/* Two elements, or the taps that two elements meet: the first one in the low half. */
typedef uint32_t ConvolvePair;

static inline ConvolvePair
convolve_pair (int first, int second)
{
  return (uint16_t) first | (uint32_t) (uint16_t) second << 16;
}

/* A step of a sum: the pairs of one row, from an element on, times a pair of taps for each of two rows of outputs. */
typedef struct
{
  int row, offset;
  ConvolvePair upper, lower;
} ConvolveTerm;

#define CONVOLVE_CPU_MAX_GROUPS 64

/*
 * Where there are groups, each group has a sum of its own, which is rounded and shifted down by group_shift bits before
 * the sums are added: so taps have more bits than a total of 32 bits has room for.
 */
typedef struct
{
  ConvolveTerm *terms;
  int count;
  int n_groups, group_shift;         /* n_groups is 0 where one sum holds all terms */
  int ends[CONVOLVE_CPU_MAX_GROUPS]; /* of the groups, in terms */
} ConvolveTerms;

/* From a sum to a value: (sum >> bits) + center, clamped to 0 .. maximum. */
typedef struct
{
  int bits, center, maximum;
} ConvolveShift;

/* How a plan is done. */
typedef enum
{
  CONVOLVE_CPU_COPY,           /* no sample is selected */
  CONVOLVE_CPU_BOX,            /* equal taps: running sums */
  CONVOLVE_CPU_PAIRS,          /* any taps, in integers */
  CONVOLVE_CPU_FACTORS,        /* a sum of few products of a column and a row, in integers */
  CONVOLVE_CPU_FFT,            /* any taps, by transforms whose results are integers */
  CONVOLVE_CPU_FLOAT_FACTORS,  /* a sum of few products of a column and a row, in float */
  CONVOLVE_CPU_FLOAT,          /* any taps, in float */
  CONVOLVE_CPU_DOUBLE_FACTORS, /* a sum of few products of a column and a row, in double */
  CONVOLVE_CPU_DOUBLE          /* any taps, in double */
} ConvolveCpuPath;

/* The loops, for one instruction set. Counts are of elements; rows have room for CONVOLVE_CPU_BLOCK more of them. */
typedef struct
{
  const char *name;

  /* Pixels to values, samples of a pixel side by side; and back, where only what is selected and counted is written. */
  void (*load) (const ConvolvePixel *pixel, const uint8_t *line, int pixels, uint16_t *values);
  void (*store) (const ConvolvePixel *pixel, const uint16_t *values, int pixels, const uint8_t *source,
      uint8_t *destination);

  /* All values as bytes, past the caches; and what makes sure that others see them. */
  void (*stream) (const uint16_t *values, int count, uint8_t *destination);
  void (*settle) (void);

  /* Less the center. */
  void (*pair_up) (const uint16_t *first, const uint16_t *second, int count, int center, ConvolvePair *pairs);
  void (*pair_up_bytes) (const uint8_t *first, const uint8_t *second, int count, int center, ConvolvePair *pairs);

  /*
   * Sums of terms, starting from starts. For two rows of outputs; for two neighbours in one row of outputs, where the
   * rows' elements are pairs as they lie; for one row, by the terms' upper taps. Each has a twin that makes values.
   */
  void (*sum_rows) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
      int32_t *upper, int32_t *lower);
  void (*sum_neighbours) (const ConvolveTerms *terms, const uint16_t *const *rows, int count, const int32_t *starts,
      int32_t *sums);
  void (*sum_row) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
      int32_t *sums);
  void (*values_of_rows) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
      const ConvolveShift *shift, uint16_t *upper, uint16_t *lower);
  void (*values_of_neighbours) (const ConvolveTerms *terms, const uint16_t *const *rows, int count,
      const int32_t *starts, const ConvolveShift *shift, uint16_t *values);
  void (*values_of_row) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, const int32_t *starts,
      const ConvolveShift *shift, uint16_t *values);
  /* Two rows of sums, rounded and shifted down to 16 bits. */
  void (*shorts_of_rows) (const ConvolveTerms *terms, const ConvolvePair *const *rows, int count, int shift,
      uint16_t *upper, uint16_t *lower);

  /* columns += entering - leaving; and windows of width columns, `step` elements apart, in two scratch rows. */
  void (*slide) (const uint16_t *entering, const uint16_t *leaving, int count, int32_t *columns);
  void (*window) (const int32_t *columns, int width, int step, int count, int32_t *scratch[2], int32_t *sums);

  /*
   * height rows of width taps, `step` elements apart, in the order in which the taps lie: sums of the elements from
   * first on. Floats are summed in blocks of so many products, each block from 0 on, and then the sums of blocks. Values
   * become floats less the center.
   */
  void (*to_floats) (const uint16_t *values, int count, int center, float *row);
  void (*sum_floats) (const float *taps, int width, int height, int step, int block, const float *const *rows,
      int first, int count, float *sums);
  void (*sum_doubles) (const double *taps, int width, int height, int step, const float *const *rows, int first,
      int count, double *sums);
  void (*sum_wide_doubles) (const double *taps, int width, int height, int step, const double *const *rows, int count,
      double *sums);

  /*
   * The Fourier transform of a square in place, or back from it, without its scale and with frequencies in an order of
   * its own; and the product of two of those.
   */
  void (*fourier) (double *real, double *imaginary, const double *roots, bool back);
  void (*multiply) (double *real, double *imaginary, const double *by_real, const double *by_imaginary);

  /* The tail. offsets are one for each element. */
  void (*finish_ints) (const int32_t *sums, int count, float scale, const float *offsets, float maximum,
      uint16_t *values);
  void (*finish_ints_wide) (const int32_t *sums, int count, double scale, const double *offsets, double maximum,
      uint16_t *values);
  void (*finish_floats) (const float *sums, int count, float scale, const float *offsets, float maximum,
      uint16_t *values);
  void (*finish_floats_wide) (const float *sums, int count, double scale, const double *offsets, double maximum,
      uint16_t *values);
  void (*finish_doubles) (const double *sums, int count, double scale, const double *offsets, double maximum,
      uint16_t *values);
} ConvolveCpuLevel;

/* A square of doubles, with rows that do not lie one below the other in the cache. */
#define CONVOLVE_CPU_FFT_POINTS 256
#define CONVOLVE_CPU_FFT_STRIDE (CONVOLVE_CPU_FFT_POINTS + 8)
#define CONVOLVE_CPU_FFT_SQUARE (CONVOLVE_CPU_FFT_POINTS * CONVOLVE_CPU_FFT_STRIDE)

/* A mask for convolve_cpu_fft_run(), in across x down parts. */
typedef struct
{
  int across, down, part_width, part_height;
  double roots[CONVOLVE_CPU_FFT_POINTS]; /* of 1: real and imaginary */
  double *spectra;                       /* of each part: two squares */
  double start;                          /* of the sums, where the center is not in the tail */
} ConvolveCpuFft;

typedef struct ConvolveCpu
{
  ConvolveCpuPath path;
  const ConvolveCpuLevel *level;
  int strip, band; /* elements and rows of a job; 0: as it pays */
  double cost;     /* estimated, in the units of cpu/prepare.c */
  int center;      /* subtracted from the values that are paired up, or become floats */
  bool shifts;     /* sums of terms become values by shift, otherwise by tail */
  ConvolveShift shift;
  ConvolveTail tail;
  int32_t starts[CONVOLVE_MAX_SAMPLES]; /* of the sums of terms: center, offset and rounding as far as they are in it */
  bool neighbours;                      /* row factors meet two neighbours at a time: one sample to a pixel */
  ConvolveTerms terms;                  /* of pairs, or of the row factors; row r is product r */
  int rank;
  ConvolveTerms columns[CONVOLVE_MAX_RANK];
  int column_shift[CONVOLVE_MAX_RANK]; /* that makes column sums 16 bits */
  ConvolveCpuFft *fft;
  int block, column_block; /* products of a block of the float sums: of the taps or the rows, and of the columns */
  float *float_columns, *float_rows;    /* factors in float: rank columns, then rank rows */
  double *double_columns, *double_rows; /* the same in double */
} ConvolveCpu;

void convolve_cpu_clear (ConvolveCpu *cpu); /* NULL is allowed */
ConvolveStatus convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_cpu_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/* The plain loop that all variants are held against, for any plan. */
ConvolveStatus convolve_cpu_reference_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/* The parts of a mask of this size; the mask itself, NULL where memory is short; NULL can be freed. */
void convolve_cpu_fft_measure (int width, int height, ConvolveCpuFft *fft);
ConvolveCpuFft *convolve_cpu_fft_new (const double *taps, int width, int height, const ConvolveCpuLevel *level);
void convolve_cpu_fft_free (ConvolveCpuFft *fft);

/* What the sums of samples up to center may be off, before they are rounded, with taps of this Euclidean norm. */
double convolve_cpu_fft_error (double center, double taps_norm);

/*
 * Two squares of samples become sums with a part's taps: for x and y such that the part, its first tap at (x, y), lies
 * inside the square; the rest is of no use.
 */
void convolve_cpu_fft_run (const ConvolveCpuFft *fft, const ConvolveCpuLevel *level, int part, double *real,
    double *imaginary);

/* Bytes that each thread needs for this plane. */
size_t convolve_cpu_memory (const ConvolvePlan *plan, const ConvolvePlane *plane);

/* On how many threads the plane is convolved at most, the caller's with them. */
int convolve_cpu_threads (const ConvolvePlan *plan, const ConvolvePlane *plane);

/* The instruction sets that this build has and this machine runs, the plainest first. */
int convolve_cpu_level_count (void);
const ConvolveCpuLevel *convolve_cpu_level (int index);

/*
 * For checks and benchmarks: plans made from now on use this level (-1: the best), and jobs of so many elements and
 * rows (0: as it pays), which are written past the caches. Not while another thread makes plans.
 */
void convolve_cpu_force (int level, int strip, int band);

/* Fills level, strip and band: the best, or what is forced. */
void convolve_cpu_choose_level (ConvolveCpu *cpu);

/*
 * Runs jobs 0 .. jobs - 1, each once, on so many of the pool's threads or, where it is NULL, on this one: some
 * neighbours at a time. memory is size bytes of the thread's own, aligned to 64.
 */
typedef void (*ConvolveJob) (const void *data, int first, int count, void *memory);
ConvolveStatus convolve_pool_run (ConvolvePool *pool, int threads, int jobs, size_t size, ConvolveJob run,
    const void *data, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
