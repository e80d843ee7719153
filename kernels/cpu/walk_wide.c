/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums of pairs that need more than 32 bits. */
#include "cpu/rows.h"
#include "cpu/walk_paths.h"

/* Two rows of outputs at a time, as convolve_cpu_walk_pairs () makes them. */
void
convolve_cpu_walk_wide (const ConvolveCpuJob *job)
{
  const ConvolveCpu *cpu = job->cpu;
  const ConvolvePair *const *pairs = (const ConvolvePair *const *) job->pairs;
  const ConvolveWideStarts starts = { job->starts, job->low_starts }, both[] = { starts, starts };
  int h = job->plan->taps.height, n = (h + 1) / 2, top = job->y - h / 2;

  for (int i = 1 - n; i < (job->height + 1) / 2; i++) {
    int y = job->y + 2 * i, rows = y + 1 < job->y + job->height ? 2 : 1;

    convolve_cpu_load_pairs (job, top + 2 * (i + n - 1), convolve_cpu_turn (job->pairs, n));
    if (i < 0)
      continue;
    if (cpu->shifts)
      job->level->wide_values_of_rows (&cpu->wide, pairs, job->count, both, &cpu->shift, job->results[0],
          job->results[1]);
    else
      job->level->wide_sums_of_rows (&cpu->wide, pairs, job->count, starts, job->wide_sums[0], job->wide_sums[1]);
    for (int k = 0; k < rows; k++) {
      if (cpu->shifts)
        convolve_cpu_store_row (job, y + k, job->results[k]);
      else
        convolve_cpu_store_doubles (job, y + k, job->wide_sums[k]);
    }
  }
}
