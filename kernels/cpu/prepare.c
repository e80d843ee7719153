/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice among the paths of the variant cpu: the cheapest path that computes the plan's arithmetic. Where the plan has
 * none, the path's error must keep the promise of convolve.h. Errors are bounded from the taps, never measured.
 */
#include <stdlib.h>

#include "cpu/prepare_paths.h"

#define COST_FRAME 5.0 /* of loading and storing, which every path does */

/* What the paths compute during the comparison; too large for a stack. */
typedef struct
{
  bool factored;
  ConvolveFactors factors;
  ConvolveCpuPairs pairs, wide;
  ConvolveIntegerFactors integers;
  ConvolveQuotient quotient;
} Workspace;

/* The factors in double. A plan with integers has integer factors or none. */
static bool
find_factors (const ConvolveCpuAnalysis *a, ConvolveFactors *factors)
{
  const ConvolveTaps *taps = &a->plan->taps;

  if (!a->plan->integers) /* what the factors miss should be small beside the budget */
    return convolve_factors_find (a->taps, a->width, a->height, a->budget / 16 / a->middle, factors);
  if (!taps->row)
    return false;
  factors->rank = 1;
  factors->missed = 0;
  for (int i = 0; i < a->width; i++)
    factors->row[0][i] = taps->row[i];
  for (int j = 0; j < a->height; j++)
    factors->column[0][j] = taps->column[j];
  return true;
}

static bool
is_cheaper (double cost, double *least)
{
  if (!(cost < *least))
    return false;
  *least = cost;
  return true;
}

/* The cheapest of the paths in floating point. Sums in double are always precise enough, and of integers exact. */
static ConvolveCpuPath
choose_floats (const ConvolveCpuAnalysis *a, const Workspace *workspace, double tail, double *least)
{
  const ConvolveFactors *factors = &workspace->factors;
  bool exact = a->plan->exact, factored = workspace->factored, in_float = exact || !a->plan->integers;
  ConvolveCpuPath path = CONVOLVE_CPU_DOUBLE;

  *least = convolve_cpu_doubles_cost (a) + CONVOLVE_COST_DOUBLE_TAIL;
  if (convolve_cpu_floats_fit (a) && is_cheaper (convolve_cpu_floats_cost (a) + tail, least))
    path = CONVOLVE_CPU_FLOAT;
  if (factored && !exact && convolve_cpu_double_factors_fit (a, factors)
      && is_cheaper (convolve_cpu_double_factors_cost (a, factors->rank) + CONVOLVE_COST_DOUBLE_TAIL, least))
    path = CONVOLVE_CPU_DOUBLE_FACTORS;
  if (factored && in_float && (exact || convolve_cpu_float_factors_fit (a, factors))
      && is_cheaper (convolve_cpu_float_factors_cost (a, factors->rank) + tail, least))
    path = CONVOLVE_CPU_FLOAT_FACTORS;
  return path;
}

/* The cheapest of all paths but the boxes and fft. */
static ConvolveCpuPath
choose_sums (const ConvolveCpuAnalysis *a, Workspace *workspace, double *least)
{
  double tail = a->cpu->tail.needs_double ? CONVOLVE_COST_DOUBLE_TAIL : CONVOLVE_COST_TAIL;
  ConvolveCpuPath path = choose_floats (a, workspace, tail, least);
  const ConvolveIntegerFactors *integers = &workspace->integers;

  if (convolve_cpu_choose_pairs (a, &workspace->pairs)
      && is_cheaper (workspace->pairs.cost + (workspace->pairs.bits < 0 ? tail : 0), least))
    path = CONVOLVE_CPU_PAIRS;
  if (convolve_cpu_choose_wide (a, &workspace->wide)
      && is_cheaper (workspace->wide.cost + (workspace->wide.bits < 0 ? tail : 0), least))
    path = CONVOLVE_CPU_WIDE;
  if (workspace->factored && convolve_cpu_take_factors (a, &workspace->factors, &workspace->integers)
      && is_cheaper (convolve_cpu_factors_cost (a, 1) + (integers->bits < 0 ? tail : 0), least))
    path = CONVOLVE_CPU_FACTORS;
  return path;
}

static bool
use_path (const ConvolveCpuAnalysis *a, const Workspace *workspace, ConvolveCpuPath path)
{
  switch (path) {
    case CONVOLVE_CPU_FACTORS:
      return convolve_cpu_use_factors (a, &workspace->integers);
    case CONVOLVE_CPU_PAIRS:
      return convolve_cpu_use_pairs (a, &workspace->pairs);
    case CONVOLVE_CPU_WIDE:
      return convolve_cpu_use_wide (a, &workspace->wide);
    case CONVOLVE_CPU_FLOAT_FACTORS:
      return convolve_cpu_use_float_factors (a, &workspace->factors);
    case CONVOLVE_CPU_DOUBLE_FACTORS:
      return convolve_cpu_use_double_factors (a, &workspace->factors);
    case CONVOLVE_CPU_FLOAT:
      convolve_cpu_use_floats (a);
      return true;
    case CONVOLVE_CPU_BOX:
      convolve_cpu_use_box (a);
      return true;
    case CONVOLVE_CPU_SMALL_BOX:
      convolve_cpu_use_small_box (a, &workspace->quotient);
      return true;
    default:
      convolve_cpu_use_doubles (a);
      return true;
  }
}

/* Prepares transforms for large regions, from what the analysis filled alone. */
static bool
add_transforms (const ConvolveCpuAnalysis *a)
{
  ConvolveCpuAnalysis large = *a;

  large.cpu = malloc (sizeof (*large.cpu));
  if (!large.cpu)
    return false;
  *large.cpu = *a->cpu;
  a->cpu->large = large.cpu;
  return convolve_cpu_use_fft (&large);
}

static bool
choose (const ConvolveCpuAnalysis *a, Workspace *workspace)
{
  ConvolveCpuPath path;
  double least;

  workspace->factored = find_factors (a, &workspace->factors);
  path = choose_sums (a, workspace, &least);
  if (convolve_cpu_is_box (a)) {
    if (is_cheaper (convolve_cpu_box_cost (a), &least))
      path = CONVOLVE_CPU_BOX;
    if (convolve_cpu_is_small_box (a, &workspace->quotient) && is_cheaper (convolve_cpu_small_box_cost (a), &least))
      path = CONVOLVE_CPU_SMALL_BOX;
  }
  if (convolve_cpu_fft_cost (a) < least && !add_transforms (a))
    return false;
  a->cpu->cost = COST_FRAME + least;
  return use_path (a, workspace, path);
}

static bool
prepare (const ConvolvePlan *plan, ConvolveCpu *cpu, Workspace *workspace)
{
  ConvolveCpuAnalysis a;

  convolve_cpu_analyse (plan, cpu, &a);
  if (plan->pixel.select == 0) {
    cpu->path = CONVOLVE_CPU_COPY;
    return true;
  }
  if (convolve_cpu_takes_sets (&a))
    return convolve_cpu_use_sets (&a);
  if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS) {
    bool done = convolve_cpu_use_products (&a);

    cpu->cost += COST_FRAME;
    return done;
  }
  if (plan->combination == CONVOLVE_ABSOLUTE) {
    a.combined = true;
    cpu->tail.needs_double = cpu->tail.needs_double || plan->parts[1].tail.needs_double;
  }
  return choose (&a, workspace);
}

ConvolveStatus
convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error)
{
  Workspace *workspace = calloc (1, sizeof (*workspace));
  ConvolveCpu *cpu = calloc (1, sizeof (*cpu));
  bool done = cpu && workspace && prepare (plan, cpu, workspace) && !workspace->factors.no_memory;

  plan->prepared = cpu; /* on failure, too: convolve_cpu_clear() frees all parts */
  free (workspace);
  return done ? CONVOLVE_OK
              : convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", plan->taps.width,
                  plan->taps.height);
}
