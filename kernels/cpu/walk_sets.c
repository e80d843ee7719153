/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Magnitudes, and largest values, of several sets: all sums of a row are made from the same rows of inputs. */
#include <string.h>

#include "common/root.h"
#include "cpu/rows.h"
#include "cpu/walk_paths.h"

void
convolve_cpu_walk_short_sets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;
  bool magnitude = plan->combination == CONVOLVE_MAGNITUDE;
  const uint16_t *const *rows = (const uint16_t *const *) job->rows;
  float maximum = plan->tail.maximum;
  int h = plan->taps.height, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    convolve_cpu_load_row (job, top + i + h - 1, convolve_cpu_turn (job->rows, h));
    if (i < 0)
      continue;
    if (magnitude)
      job->level->magnitude_of_shorts (&job->cpu->shorts, rows, job->count, plan->root.scale_f, job->half_offsets,
          maximum, job->results[0]);
    else
      job->level->largest_of_shorts (&job->cpu->shorts, rows, job->count, job->cpu->tail.scale_f, job->half_offsets,
          maximum, job->results[0]);
    convolve_cpu_store_row (job, job->y + i, job->results[0]);
  }
}

/* --- sums in memory --- */

/* Starts row i of the two rows of outputs. */
static void
begin_row (const ConvolveCpuJob *job, int i)
{
  if (job->plan->combination == CONVOLVE_MAGNITUDE)
    memset (job->squares_of_sums[i], 0, job->count * sizeof (double));
  else
    memset (job->results[i], 0, job->count * sizeof (uint16_t));
}

/* Takes the sums of set k, of the type that the path has, into row i. */
static void
combine (const ConvolveCpuJob *job, int i, int k, const void *sums)
{
  const ConvolveCpuLevel *level = job->level;
  const ConvolvePlan *plan = job->plan;
  const ConvolveCpu *cpu = &job->cpu->parts[k];
  const double *offsets = job->set_offsets[k];
  double maximum = plan->tail.maximum;

  if (plan->combination == CONVOLVE_MAGNITUDE) {
    double *squares = job->squares_of_sums[i], scale = plan->root.multiple[k];

    if (cpu->path == CONVOLVE_CPU_PAIRS)
      level->add_squares_of_ints (sums, job->count, scale, offsets, squares);
    else if (cpu->path == CONVOLVE_CPU_FLOAT)
      level->add_squares_of_floats (sums, job->count, scale, offsets, squares);
    else
      level->add_squares_of_doubles (sums, job->count, scale, offsets, squares);
    return;
  }
  if (cpu->path == CONVOLVE_CPU_PAIRS)
    level->ints_to_values_in_double (sums, job->count, cpu->tail.scale, offsets, maximum, job->values[0]);
  else if (cpu->path == CONVOLVE_CPU_FLOAT)
    level->floats_to_values_in_double (sums, job->count, cpu->tail.scale, offsets, maximum, job->values[0]);
  else
    level->doubles_to_values (sums, job->count, cpu->tail.scale, offsets, maximum, job->values[0]);
  level->replace_by_larger (job->values[0], job->count, job->results[i]);
}

/* Writes row y from row i. */
static void
end_row (const ConvolveCpuJob *job, int i, int y)
{
  const ConvolveRoot *root = &job->plan->root;
  const double *squares = job->squares_of_sums[i];
  uint16_t *results = job->results[i];

  if (job->plan->combination == CONVOLVE_MAGNITUDE) {
    job->level->roots_to_values (squares, job->count, root->scale, job->offsets, root->maximum, results);
    for (int x = 0; x < job->count && root->kind == CONVOLVE_ROOT_CORRECTED; x++)
      results[x] = (uint16_t) convolve_root_correct (root, x % job->samples, (uint64_t) squares[x], results[x]);
  }
  convolve_cpu_store_row (job, y, results);
}

/* Two rows of outputs at a time, as convolve_cpu_walk_pairs () makes them. */
static void
walk_pairs (const ConvolveCpuJob *job)
{
  const ConvolvePair *const *pairs = (const ConvolvePair *const *) job->pairs;
  int h = job->plan->taps.height, n = (h + 1) / 2, top = job->y - h / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    int y = job->y + 2 * i, rows = y + 1 < job->y + job->height ? 2 : 1;

    convolve_cpu_load_pairs (job, top + 2 * (i + n - 1), convolve_cpu_turn (job->pairs, n));
    if (i < 0)
      continue;
    for (int r = 0; r < rows; r++)
      begin_row (job, r);
    for (int k = 0; k < job->cpu->n_parts; k++) {
      bool wide = job->cpu->parts[k].path == CONVOLVE_CPU_WIDE;

      if (wide)
        job->level->wide_sums_of_rows (&job->cpu->parts[k].wide, pairs, job->count,
            (ConvolveWideStarts){ job->set_starts[k], job->set_low_starts[k] }, job->wide_sums[0], job->wide_sums[1]);
      else
        job->level->sum_rows (&job->cpu->parts[k].terms, pairs, job->count, job->set_starts[k], job->sums[0],
            job->sums[1]);
      for (int r = 0; r < rows; r++)
        combine (job, r, k, wide ? (void *) job->wide_sums[r] : job->sums[r]);
    }
    for (int r = 0; r < rows; r++)
      end_row (job, r, y + r);
  }
}

static void
walk_floats (const ConvolveCpuJob *job)
{
  const float *const *rows = (const float *const *) job->floats;
  int h = job->plan->taps.height, w = job->plan->taps.width, top = job->y - h / 2;

  for (int i = 1 - h; i < job->height; i++) {
    convolve_cpu_load_row (job, top + i + h - 1, job->values[0]);
    job->level->values_to_floats (job->values[0], job->input_count, job->cpu->middle,
        convolve_cpu_turn (job->floats, h));
    if (i < 0)
      continue;
    begin_row (job, 0);
    for (int k = 0; k < job->cpu->n_parts; k++) {
      const ConvolveTaps *taps = &job->plan->parts[k].taps;

      if (job->cpu->parts[k].path == CONVOLVE_CPU_FLOAT)
        job->level->sum_floats (taps->taps, w, h, job->samples, job->cpu->parts[k].block, rows, 0, job->count,
            job->float_sums);
      else
        job->level->sum_floats_in_double (taps->double_taps, w, h, job->samples, rows, 0, job->count, job->double_sums);
      combine (job, 0, k, job->cpu->parts[k].path == CONVOLVE_CPU_FLOAT ? (void *) job->float_sums : job->double_sums);
    }
    end_row (job, 0, job->y + i);
  }
}

void
convolve_cpu_walk_sets (const ConvolveCpuJob *job)
{
  if (convolve_cpu_reads_pairs (job->cpu->parts[0].path))
    walk_pairs (job);
  else
    walk_floats (job);
}
