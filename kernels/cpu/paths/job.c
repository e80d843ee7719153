/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/paths/job.h"

#include <string.h>

#include "common/boundary.h"
#include "cpu/paths/paths.h"

#define BATCH 8
#define ALIGNMENT 64

/* --- memory --- */

void *
convolve_cpu_take (ConvolveCpuArena *arena, size_t count, size_t size)
{
  void *taken = arena->base ? arena->base + arena->used : NULL;

  arena->used += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return taken;
}

void *
convolve_cpu_take_rows (ConvolveCpuArena *arena, int n, size_t length, size_t size)
{
  uint8_t **rows = convolve_cpu_take (arena, n, sizeof (*rows));

  for (int i = 0; i < n; i++) {
    uint8_t *row = convolve_cpu_take (arena, length, size);

    if (rows)
      rows[i] = row;
  }
  return rows;
}

/*
 * The elements of a row: a multiple of the padding with at least one padding behind the inputs. The multiple is odd, so
 * that the elements of a column lie in different cache sets.
 */
static size_t
row_length (const ConvolveCpuJob *job)
{
  size_t blocks = ((size_t) job->input_count + job->samples + CONVOLVE_CPU_PADDING - 1) / CONVOLVE_CPU_PADDING + 1;

  return (blocks | 1) * CONVOLVE_CPU_PADDING;
}

static void
take_memory (ConvolveCpuJob *job, ConvolveCpuArena *arena)
{
  const ConvolveCpu *cpu = job->cpu;
  const ConvolveCpuPathRow *row = convolve_cpu_paths[cpu->path];
  size_t length = row_length (job), offset_size = cpu->tail.needs_double ? sizeof (double) : sizeof (float);

  job->outside = convolve_cpu_take (arena, job->plan->taps.width, sizeof (int));
  job->offsets = convolve_cpu_take (arena, length, offset_size);
  if (job->plan->combination == CONVOLVE_ABSOLUTE) {
    job->negative_offsets = convolve_cpu_take (arena, length, offset_size);
    job->negatives = convolve_cpu_take (arena, length, sizeof (uint16_t));
  }
  if (cpu->mirrors)
    job->mirrors = convolve_cpu_take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->results[i] = convolve_cpu_take (arena, length, sizeof (uint16_t));
  for (int i = 0; i < 2; i++)
    job->values[i] = convolve_cpu_take (arena, length, sizeof (uint16_t));

  if (row->memory)
    row->memory (job, arena, length);
}

/* --- what all rows of the job have in common --- */

static void
find_outside (ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;
  int width = job->plane->width, from = job->x - plan->taps.width / 2, to = from + job->input_count / job->samples;

  job->first = from > 0 ? from : 0;
  job->last = to < width ? to : width;
  job->left = job->first - from;
  for (int x = from; x < to; x++)
    if (x < job->first || x >= job->last)
      job->outside[job->n_outside++] = convolve_boundary_index (plan->boundary, x, width);
}

void
convolve_cpu_fill_row (const ConvolveCpuJob *job, const double *offsets, void *row)
{
  for (int i = 0; i < job->count; i++)
    if (job->cpu->tail.needs_double)
      ((double *) row)[i] = offsets[i % job->samples];
    else
      ((float *) row)[i] = (float) offsets[i % job->samples];
}

/*
 * The offset of a value is the same for its negative but for what the zero level adds, whose sign changes. The sum of
 * both is that of the plan's parts.
 */
static void
fill_negative_offsets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *parts = job->plan->parts;
  double offsets[CONVOLVE_MAX_SAMPLES];

  for (int i = 0; i < job->samples; i++)
    offsets[i] = parts[0].tail.offset[i] + parts[1].tail.offset[i] - job->cpu->tail.offset[i];
  convolve_cpu_fill_row (job, offsets, job->negative_offsets);
}

void
convolve_cpu_fill_offsets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;

  /* The loops read starts past the count. */
  for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING && job->starts; i++)
    job->starts[i] = job->cpu->starts[i % job->samples];
  for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING && job->low_starts; i++)
    job->low_starts[i] = job->cpu->low_starts[i % job->samples];

  for (int i = 0; i < job->count && job->mirrors; i++)
    job->mirrors[i] = job->cpu->mirror_starts[i % job->samples];

  convolve_cpu_fill_row (job, plan->combination == CONVOLVE_MAGNITUDE ? plan->root.offset : job->cpu->tail.offset,
      job->offsets);
  if (plan->combination == CONVOLVE_ABSOLUTE)
    fill_negative_offsets (job);
}

size_t
convolve_cpu_job_init (ConvolveCpuJob *job, const ConvolveCpu *cpu, const ConvolvePlan *plan,
    const ConvolvePlane *plane, ConvolveRect rectangle, void *memory)
{
  ConvolveCpuArena arena = { .base = memory };

  *job = (ConvolveCpuJob){
    .plan = plan,
    .plane = plane,
    .cpu = cpu,
    .level = convolve_cpu_of (plan)->level,
    .x = rectangle.x,
    .y = rectangle.y,
    .width = rectangle.width,
    .height = rectangle.height,
    .samples = plan->pixel.samples,
    .count = rectangle.width * plan->pixel.samples,
    .input_count = (rectangle.width + plan->taps.width - 1) * plan->pixel.samples,
    .batch = convolve_cpu_has_batches (cpu) ? BATCH : 1,
  };
  take_memory (job, &arena);
  if (memory && cpu->path != CONVOLVE_CPU_COPY) {
    const ConvolveCpuPathRow *row = convolve_cpu_paths[cpu->path];

    find_outside (job);
    if (row->fill)
      row->fill (job);
    else
      convolve_cpu_fill_offsets (job);
  }
  return arena.used;
}
