/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The paths of the variant cpu: a row for each, defined beside the code of the path. cpu/paths/prepare.c asks them in the
 * order of the list in cpu/paths/prepared.h.
 *
 * Costs are for one output, in units of one term of a sum of pairs; the constants were measured. Errors are in code
 * values, before rounding. Functions that allocate return false where memory is short.
 */
#ifndef CONVOLVE_CPU_PATHS_H
#define CONVOLVE_CPU_PATHS_H

#include "cpu/paths/analyse.h"
#include "cpu/paths/job.h"

#define CONVOLVE_LARGEST_SHORT 32767.0
#define CONVOLVE_LARGEST_INT (CONVOLVE_2_31 - 1)

#define CONVOLVE_COST_FRAME 5.0       /* of loading and storing, which every path does */
#define CONVOLVE_COST_TAIL 4.0        /* in float; a shift costs nothing beside its sum */
#define CONVOLVE_COST_DOUBLE_TAIL 8.0 /* in double */

/*
 * The plan's integer taps as sums of pairs, which are shifted down by `bits`, or followed by the tail where bits is -1.
 */
typedef struct
{
  int bits;
  int place, low_bits; /* of wide sums */
  double cost;         /* without the tail */
} ConvolveCpuPairs;

/* The factors of an exact plan. bits is -1 where the tail follows. */
typedef struct
{
  ConvolveProduct product;
  int bits;
} ConvolveIntegerFactors;

/* Results of the paths' analysis, kept while their costs are compared. The struct is too large for a stack. */
typedef struct
{
  bool factored; /* the factors, in double, keep the promise: all paths but those of factors do without them */
  ConvolveFactors factors;
  ConvolveCpuPairs pairs, wide;
  ConvolveIntegerFactors integers;
  bool is_box;
  ConvolveQuotient quotient; /* of a small box */
} ConvolveCpuWorkspace;

typedef struct
{
  const char *name;

  /* Whether the plan is for this path alone; or NULL. The cost is not asked then, and use () sets cpu->cost. */
  bool (*takes) (const ConvolveCpuAnalysis *a);

  /*
   * The cost of an output, without loading and storing; INFINITY where the path does not keep the promise. NULL: takes
   * () says all.
   */
  double (*cost) (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w);

  /* Derives what the path needs, and sets cpu->path. False where memory is short. */
  bool (*use) (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w);

  void (*memory) (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length); /* takes rows of this length; or NULL */
  void (*fill) (const ConvolveCpuJob *job); /* in the place of convolve_cpu_fill_offsets (); or NULL */
  void (*walk) (const ConvolveCpuJob *job); /* from the job's first row to its last */
} ConvolveCpuPathRow;

#define CONVOLVE_CPU_DECLARE_PATH(NAME, stem) extern const ConvolveCpuPathRow convolve_cpu_path_##stem;
CONVOLVE_CPU_PATHS (CONVOLVE_CPU_DECLARE_PATH)

/* By ConvolveCpuPath. */
extern const ConvolveCpuPathRow *const convolve_cpu_paths[CONVOLVE_CPU_N_PATHS];

/* The cost of a tail behind sums. */
static inline double
convolve_cpu_tail_cost (const ConvolveCpuAnalysis *a)
{
  return a->cpu->tail.needs_double ? CONVOLVE_COST_DOUBLE_TAIL : CONVOLVE_COST_TAIL;
}

/* --- what paths use of others --- */

/*
 * Whether the tail, for sums of taps whose magnitudes add up to gain, is one that loops from sums to values have:
 * results fit 32 bits before they are clamped, and one offset serves all samples of a pixel.
 */
bool convolve_cpu_has_short_tail (const ConvolveCpuAnalysis *a, double gain);

/* False where the plan has no integers, where 16 bits do not hold the taps, or 32 bits not the sums. */
bool convolve_cpu_choose_pairs (const ConvolveCpuAnalysis *a, ConvolveCpuPairs *pairs);
bool convolve_cpu_use_pairs (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs);

/* False where the plan is not ONE_STEP, where float holds its sums, or where 48 bits do not. */
bool convolve_cpu_choose_wide (const ConvolveCpuAnalysis *a, ConvolveCpuPairs *pairs);
bool convolve_cpu_use_wide (const ConvolveCpuAnalysis *a, const ConvolveCpuPairs *pairs);

/* Two rows of outputs, from row y on, of the sums of pairs that begin with starts. */
void convolve_cpu_finish_pairs (const ConvolveCpuJob *job, int y, const int32_t *const starts[2]);

/* Without the tail. */
double convolve_cpu_floats_cost (const ConvolveCpuAnalysis *a);
double convolve_cpu_doubles_cost (const ConvolveCpuAnalysis *a);
void convolve_cpu_use_floats (const ConvolveCpuAnalysis *a);
void convolve_cpu_use_doubles (const ConvolveCpuAnalysis *a);

#endif
