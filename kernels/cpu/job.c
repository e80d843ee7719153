/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/job.h"

#include <string.h>

#include "common/boundary.h"

#define BATCH 8
#define ALIGNMENT 64

/* --- memory --- */

typedef struct
{
  uint8_t *base; /* NULL where bytes are only counted */
  size_t used;
} Arena;

static void *
take (Arena *arena, size_t count, size_t size)
{
  void *taken = arena->base ? arena->base + arena->used : NULL;

  arena->used += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return taken;
}

/* n rows and the pointers to them. */
static void *
take_rows (Arena *arena, int n, size_t length, size_t size)
{
  uint8_t **rows = take (arena, n, sizeof (*rows));

  for (int i = 0; i < n; i++) {
    uint8_t *row = take (arena, length, size);

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
take_squares (ConvolveCpuJob *job, Arena *arena)
{
  size_t rows = 2 * (size_t) convolve_cpu_fft_rows (job->cpu->fft);

  for (int i = 0; i < 2; i++)
    job->squares[i] = take (arena, CONVOLVE_CPU_FFT_SQUARE, sizeof (double));
  job->square_sums = take (arena, job->width * rows, sizeof (double));
  job->square_results = take (arena, job->count * rows + CONVOLVE_CPU_PADDING, sizeof (uint16_t));
}

static void
take_sets (ConvolveCpuJob *job, Arena *arena, size_t length)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->plan->taps.height;

  job->set_offsets = take_rows (arena, cpu->n_parts, length, sizeof (double));
  for (int i = 0; i < 2; i++)
    job->squares_of_sums[i] = take (arena, length, sizeof (double));
  if (convolve_cpu_reads_pairs (cpu->parts[0].path)) {
    job->set_starts = take_rows (arena, cpu->n_parts, length, sizeof (int32_t));
    job->set_low_starts = take_rows (arena, cpu->n_parts, length, sizeof (int32_t));
    for (int i = 0; i < 2; i++)
      job->sums[i] = take (arena, length, sizeof (int32_t));
    for (int i = 0; i < 2; i++)
      job->wide_sums[i] = take (arena, length, sizeof (double));
    job->pairs = take_rows (arena, (h + 1) / 2, length, sizeof (ConvolvePair));
  } else {
    job->float_sums = take (arena, length, sizeof (float));
    job->double_sums = take (arena, length, sizeof (double));
    job->floats = take_rows (arena, h, length, sizeof (float));
  }
}

static void
take_memory (ConvolveCpuJob *job, Arena *arena)
{
  const ConvolveCpu *cpu = job->cpu;
  int h = job->plan->taps.height;
  size_t length = row_length (job), offset_size = cpu->tail.needs_double ? sizeof (double) : sizeof (float);

  job->outside = take (arena, job->plan->taps.width, sizeof (int));
  job->offsets = take (arena, length, offset_size);
  if (job->plan->combination == CONVOLVE_ABSOLUTE) {
    job->negative_offsets = take (arena, length, offset_size);
    job->negatives = take (arena, length, sizeof (uint16_t));
  }
  if (cpu->mirrors)
    job->mirrors = take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->results[i] = take (arena, length, sizeof (uint16_t));
  for (int i = 0; i < 2; i++)
    job->values[i] = take (arena, length, sizeof (uint16_t));

  switch (cpu->path) {
    case CONVOLVE_CPU_COPY:
      break;
    case CONVOLVE_CPU_BOX:
      job->columns = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->scratch[i] = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->sums[i] = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->inner_values[i] = take (arena, length, sizeof (uint16_t));
      break;
    case CONVOLVE_CPU_SMALL_BOX:
      job->short_columns = take (arena, length, sizeof (uint16_t));
      job->rows = take_rows (arena, h + 1, length, sizeof (uint16_t));
      break;
    case CONVOLVE_CPU_FFT:
      take_squares (job, arena);
      break;
    case CONVOLVE_CPU_FACTORS:
      for (int i = 0; i < 2 && cpu->joins; i++)
        job->joined[i] = take (arena, length, sizeof (ConvolvePair));
      if (cpu->wide.n_groups > 0)
        job->low_starts = take (arena, length, sizeof (int32_t));
      if (cpu->centre_tap) {
        job->rows = take_rows (arena, convolve_cpu_centre_rows (h), length, sizeof (uint16_t));
        for (int i = 0; i < 2; i++)
          job->centre_starts[i] = take (arena, length, sizeof (int32_t));
      }
      /* fall through */
    case CONVOLVE_CPU_PAIRS:
      job->starts = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->sums[i] = take (arena, length, sizeof (int32_t));
      job->pairs = take_rows (arena, (cpu->rank ? cpu->rank : 1) * ((h + 1) / 2), length, sizeof (ConvolvePair));
      break;
    case CONVOLVE_CPU_WIDE:
      job->starts = take (arena, length, sizeof (int32_t));
      job->low_starts = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->wide_sums[i] = take (arena, length, sizeof (double));
      job->pairs = take_rows (arena, (h + 1) / 2, length, sizeof (ConvolvePair));
      break;
    case CONVOLVE_CPU_FLOAT_FACTORS:
      job->float_columns = take_rows (arena, cpu->rank * job->batch, length, sizeof (float));
      /* fall through */
    case CONVOLVE_CPU_FLOAT:
      job->float_sums = take (arena, length, sizeof (float));
      job->floats = take_rows (arena, h + job->batch - 1, length, sizeof (float));
      break;
    case CONVOLVE_CPU_DOUBLE_FACTORS:
      job->double_columns = take_rows (arena, cpu->rank * job->batch, length, sizeof (double));
      /* fall through */
    case CONVOLVE_CPU_DOUBLE:
      job->double_sums = take (arena, length, sizeof (double));
      job->floats = take_rows (arena, h + job->batch - 1, length, sizeof (float));
      break;
    case CONVOLVE_CPU_SHORT_SETS:
      for (int i = 0; i < 2; i++)
        job->half_offsets[i] = take (arena, length, sizeof (float));
      job->rows = take_rows (arena, h, length, sizeof (uint16_t));
      break;
    case CONVOLVE_CPU_SETS:
      take_sets (job, arena, length);
      break;
  }
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

/* A row of offsets, one for each sample of a pixel. */
static void
fill_row (const ConvolveCpuJob *job, const double *offsets, void *row)
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
  fill_row (job, offsets, job->negative_offsets);
}

/* The loops read offsets past the count. */
static void
fill_half_offsets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;
  const float *offsets = plan->combination == CONVOLVE_MAGNITUDE ? plan->root.offset_f : job->cpu->tail.offset_f;

  for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING; i++)
    job->half_offsets[i % 2][i / 2] = offsets[i % job->samples];
}

/*
 * Of a magnitude, what is subtracted from a set's sum, so that the value at the zero level is 0; otherwise the offset of the
 * set's tail. Sums of signed values are those of ONE_STEP in 32 bits alone.
 */
static void
fill_set_offsets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;

  for (int k = 0; k < plan->n_parts; k++) {
    const ConvolveCpu *part = &job->cpu->parts[k];
    bool has_signs = part->path == CONVOLVE_CPU_PAIRS && !plan->parts[k].exact;
    double offsets[CONVOLVE_MAX_SAMPLES], sum = 0;

    for (int i = 0; i < plan->taps.width * plan->taps.height; i++)
      sum += plan->parts[k].taps.double_taps[i];
    for (int i = 0; i < job->samples; i++)
      offsets[i] = plan->combination == CONVOLVE_MAGNITUDE
          ? plan->root.zero[k][i] - (has_signs ? part->middle * sum : 0)
          : part->tail.offset[i];
    fill_row (job, offsets, job->set_offsets[k]);
    for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING && job->set_starts; i++) {
      job->set_starts[k][i] = part->starts[i % job->samples];
      job->set_low_starts[k][i] = part->low_starts[i % job->samples];
    }
  }
}

static void
fill_offsets (const ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->plan;

  /* The loops read starts past the count. */
  for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING && job->starts; i++)
    job->starts[i] = job->cpu->starts[i % job->samples];
  for (int i = 0; i < job->count + CONVOLVE_CPU_PADDING && job->low_starts; i++)
    job->low_starts[i] = job->cpu->low_starts[i % job->samples];

  for (int i = 0; i < job->count && job->mirrors; i++)
    job->mirrors[i] = job->cpu->mirror_starts[i % job->samples];

  if (job->cpu->path == CONVOLVE_CPU_SHORT_SETS) {
    fill_half_offsets (job);
    return;
  }
  fill_row (job, plan->combination == CONVOLVE_MAGNITUDE ? plan->root.offset : job->cpu->tail.offset, job->offsets);
  if (plan->combination == CONVOLVE_ABSOLUTE)
    fill_negative_offsets (job);
  if (job->cpu->path == CONVOLVE_CPU_SETS)
    fill_set_offsets (job);
}

size_t
convolve_cpu_job_init (ConvolveCpuJob *job, const ConvolveCpu *cpu, const ConvolvePlan *plan,
    const ConvolvePlane *plane, ConvolveRect rectangle, void *memory)
{
  Arena arena = { .base = memory };

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
    find_outside (job);
    fill_offsets (job);
  }
  return arena.used;
}
