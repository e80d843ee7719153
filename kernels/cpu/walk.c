/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/walk.h"

#include "cpu/rows.h"
#include "cpu/walk_paths.h"

/* Without selected samples, storing a row copies the source. */
static void
walk_copy (const ConvolveCpuJob *job)
{
  for (int y = job->y; y < job->y + job->height; y++)
    convolve_cpu_store_row (job, y, job->values[0]);
}

void
convolve_cpu_walk (const ConvolveCpuJob *job)
{
  switch (job->cpu->path) {
    case CONVOLVE_CPU_COPY:
      walk_copy (job);
      break;
    case CONVOLVE_CPU_BOX:
      convolve_cpu_walk_box (job);
      break;
    case CONVOLVE_CPU_SMALL_BOX:
      convolve_cpu_walk_small_box (job);
      break;
    case CONVOLVE_CPU_PAIRS:
      convolve_cpu_walk_pairs (job);
      break;
    case CONVOLVE_CPU_WIDE:
      convolve_cpu_walk_wide (job);
      break;
    case CONVOLVE_CPU_FACTORS:
      convolve_cpu_walk_factors (job);
      break;
    case CONVOLVE_CPU_FFT:
      convolve_cpu_walk_fft (job);
      break;
    case CONVOLVE_CPU_FLOAT_FACTORS:
    case CONVOLVE_CPU_DOUBLE_FACTORS:
      convolve_cpu_walk_float_factors (job);
      break;
    case CONVOLVE_CPU_FLOAT:
    case CONVOLVE_CPU_DOUBLE:
      convolve_cpu_walk_floats (job);
      break;
    case CONVOLVE_CPU_SHORT_SETS:
      convolve_cpu_walk_short_sets (job);
      break;
    case CONVOLVE_CPU_SETS:
      convolve_cpu_walk_sets (job);
      break;
  }
  if (job->streams)
    job->level->settle ();
}
