/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice among the paths of the variant cpu: the cheapest path that computes the plan's arithmetic. Where the plan
 * has none, the path's error must keep the promise of convolve.h. Errors are bounded from the taps, never measured.
 */
#include <math.h>
#include <stdlib.h>

#include "cpu/loops/levels.h"
#include "cpu/paths/paths.h"
#include "cpu/paths/rows.h"

#define ADDRESS_OF_PATH(NAME, stem) &convolve_cpu_path_##stem,
const ConvolveCpuPathRow *const convolve_cpu_paths[CONVOLVE_CPU_N_PATHS] = { CONVOLVE_CPU_PATHS (ADDRESS_OF_PATH) };

/* --- copies --- */

static bool
selects_nothing (const ConvolveCpuAnalysis *a)
{
  return a->plan->pixel.select == 0;
}

static bool
use_copy (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  a->cpu->path = CONVOLVE_CPU_COPY;
  return true;
}

/* Without selected samples, storing a row copies the source. */
static void
walk_copy (const ConvolveCpuJob *job)
{
  for (int y = job->y; y < job->y + job->height; y++)
    convolve_cpu_store_row (job, y, job->values[0]);
}

const ConvolveCpuPathRow convolve_cpu_path_copy = {
  .name = "copy",
  .takes = selects_nothing,
  .use = use_copy,
  .walk = walk_copy,
};

/* --- the choice --- */

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
  return convolve_cpu_path_fft.use (&large, NULL);
}

/* Compares all paths but fft, which is beside the cheapest one. */
static bool
choose (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  const ConvolveCpuPathRow *cheapest = NULL;
  double least = INFINITY;

  w->factored = find_factors (a, &w->factors);
  for (int i = 0; i < CONVOLVE_CPU_N_PATHS; i++) {
    const ConvolveCpuPathRow *row = convolve_cpu_paths[i];
    double cost = row->cost && i != CONVOLVE_CPU_FFT ? row->cost (a, w) : INFINITY;

    if (cost < least) {
      least = cost;
      cheapest = row;
    }
  }
  if (convolve_cpu_path_fft.cost (a, w) < least && !add_transforms (a))
    return false;
  a->cpu->cost = CONVOLVE_COST_FRAME + least;
  return cheapest->use (a, w);
}

static bool
prepare (const ConvolvePlan *plan, ConvolveCpu *cpu, ConvolveCpuWorkspace *w)
{
  ConvolveCpuAnalysis a;

  convolve_cpu_analyse (plan, cpu, &a);
  for (int i = 0; i < CONVOLVE_CPU_N_PATHS; i++)
    if (convolve_cpu_paths[i]->takes && convolve_cpu_paths[i]->takes (&a))
      return convolve_cpu_paths[i]->use (&a, w);
  if (plan->combination == CONVOLVE_ABSOLUTE) {
    a.combined = true;
    cpu->tail.needs_double = cpu->tail.needs_double || plan->parts[1].tail.needs_double;
  }
  return choose (&a, w);
}

ConvolveStatus
convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveCpuWorkspace *workspace = calloc (1, sizeof (*workspace));
  ConvolveCpu *cpu = calloc (1, sizeof (*cpu));
  bool done = cpu && workspace;

  if (done && plan->shrink)
    cpu->level = convolve_cpu_level (convolve_cpu_level_count () - 1);
  else
    done = done && prepare (plan, cpu, workspace) && !workspace->factors.no_memory;

  plan->prepared = cpu; /* on failure, too: convolve_cpu_clear() frees all parts */
  free (workspace);
  return done ? CONVOLVE_OK
              : convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a mask of %dx%d", plan->taps.width,
                  plan->taps.height);
}
