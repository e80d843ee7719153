/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Variant cpu: how a plane is cut into jobs, and the memory that each needs. */
#include "common/boundary.h"
#include "cpu/job.h"

#define RING_BYTES (512 << 10)  /* for the rows under the mask: what is read again and again should stay near */
#define STRIP 2048              /* elements of a job's row, where the mask is small */
#define BATCH 8                 /* rows of outputs whose column sums are made together */
#define JOBS_PER_THREAD 16      /* so that threads that are held up do not hold up all */
#define LEAST_WORK (1 << 18)    /* terms of a job, about 10 us: less is not worth waking a thread */
#define LEAST_PIXELS (128 * 64) /* of a plane that is handed to threads at all, whatever the mask */

#define STREAM_BYTES (4 << 20) /* of a result that is larger than what caches keep for whoever reads it next */

/* --- memory --- */

typedef struct
{
  uint8_t *base; /* NULL: only counts */
  size_t used;
} Arena;

static void *
take (Arena *arena, size_t count, size_t size)
{
  void *taken = arena->base ? arena->base + arena->used : NULL;

  arena->used += (count * size + 63) / 64 * 64;
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
 * What a job's path needs. Rows are whole blocks and one more, so that loops may pass their ends, and an odd number of
 * blocks, so that rows do not lie one below the other in the cache.
 */
static void
take_memory (ConvolveCpuJob *job, Arena *arena)
{
  const ConvolvePlan *plan = job->work->plan;
  const ConvolveCpu *cpu = job->cpu;
  int h = plan->taps.height;
  size_t blocks = ((size_t) job->reach + CONVOLVE_CPU_BLOCK - 1) / CONVOLVE_CPU_BLOCK + 1;
  size_t length = (blocks | 1) * CONVOLVE_CPU_BLOCK;

  job->outside = take (arena, plan->taps.width, sizeof (int));
  job->offsets = take (arena, length, cpu->tail.wide ? sizeof (double) : sizeof (float));
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
      job->sums[0] = take (arena, length, sizeof (int32_t));
      break;
    case CONVOLVE_CPU_FFT:
      for (int i = 0; i < 2; i++)
        job->squares[i] = take (arena, CONVOLVE_CPU_FFT_SQUARE, sizeof (double));
      job->block = take (arena, (size_t) job->width * 2 * convolve_cpu_fft_rows (cpu), sizeof (double));
      job->block_results =
          take (arena, (size_t) job->count * 2 * convolve_cpu_fft_rows (cpu) + CONVOLVE_CPU_BLOCK, sizeof (uint16_t));
      break;
    case CONVOLVE_CPU_FACTORS:
      for (int i = 0; i < 2; i++)
        job->shorts[i] = take_rows (arena, cpu->rank, length, sizeof (uint16_t));
      for (int i = 0; i < 2 && !cpu->neighbours; i++)
        job->products[i] = take_rows (arena, cpu->rank, length, sizeof (ConvolvePair));
      /* fall through */
    case CONVOLVE_CPU_PAIRS:
      job->starts = take (arena, length, sizeof (int32_t));
      for (int i = 0; i < 2; i++)
        job->sums[i] = take (arena, length, sizeof (int32_t));
      job->pairs = take_rows (arena, (h + 1) / 2, length, sizeof (ConvolvePair));
      break;
    case CONVOLVE_CPU_FLOAT_FACTORS:
      job->middles = take_rows (arena, cpu->rank * job->batch, length, sizeof (float));
      /* fall through */
    case CONVOLVE_CPU_FLOAT:
      job->float_sums = take (arena, length, sizeof (float));
      job->floats = take_rows (arena, h + job->batch - 1, length, sizeof (float));
      break;
    case CONVOLVE_CPU_DOUBLE_FACTORS:
      job->wide_middles = take_rows (arena, cpu->rank * job->batch, length, sizeof (double));
      /* fall through */
    case CONVOLVE_CPU_DOUBLE:
      job->double_sums = take (arena, length, sizeof (double));
      job->floats = take_rows (arena, h + job->batch - 1, length, sizeof (float));
      break;
  }
}

/* --- jobs --- */

static void
find_outside (ConvolveCpuJob *job)
{
  const ConvolvePlan *plan = job->work->plan;
  int width = job->work->plane->width, from = job->x - plan->taps.width / 2, to = from + job->reach / job->step;

  job->first = from > 0 ? from : 0;
  job->last = to < width ? to : width;
  job->left = job->first - from;
  for (int x = from; x < to; x++)
    if (x < job->first || x >= job->last)
      job->outside[job->n_outside++] = convolve_boundary_index (plan->boundary, x, width);
}

static void
fill_offsets (const ConvolveCpuJob *job)
{
  const ConvolveTail *tail = &job->cpu->tail;

  /* Loops start sums for whole blocks. */
  for (int i = 0; i < job->count + CONVOLVE_CPU_BLOCK && job->starts; i++)
    job->starts[i] = job->cpu->starts[i % job->step];

  for (int i = 0; i < job->count; i++)
    if (tail->wide)
      ((double *) job->offsets)[i] = tail->offset[i % job->step];
    else
      ((float *) job->offsets)[i] = tail->offset_f[i % job->step];
}

/* Column sums of some rows are made together, in columns that stay in the nearest caches. */
static bool
has_batches (const ConvolveCpu *cpu)
{
  return cpu->path == CONVOLVE_CPU_FLOAT_FACTORS || cpu->path == CONVOLVE_CPU_DOUBLE_FACTORS;
}

static void
start_job (ConvolveCpuJob *job, const ConvolveCpuWork *work, int x, int y, int width, int height)
{
  *job = (ConvolveCpuJob){
    .work = work,
    .cpu = work->plan->cpu,
    .level = work->plan->cpu->level,
    .x = x,
    .y = y,
    .width = width,
    .height = height,
    .step = work->samples,
    .batch = has_batches (work->plan->cpu) ? BATCH : 1,
    .count = width * work->samples,
    .reach = (width + work->plan->taps.width - 1) * work->samples,
  };
}

static void
run_rectangle (const ConvolveCpuWork *work, int x, int y, int width, int height, void *memory)
{
  Arena arena = { .base = memory };
  ConvolveCpuJob job;

  start_job (&job, work, x, y, width, height);
  take_memory (&job, &arena);
  if (job.cpu->path != CONVOLVE_CPU_COPY) {
    find_outside (&job);
    fill_offsets (&job);
  }
  convolve_cpu_walk (&job);
}

/* Bands of one strip, one below the other, are walked down as one. */
static void
run_jobs (const void *data, int first, int count, void *memory)
{
  const ConvolveCpuWork *work = data;
  const ConvolveRect *region = &work->plane->region;

  while (count > 0) {
    int band = first % work->bands, n = work->bands - band < count ? work->bands - band : count;
    int x = first / work->bands * work->strip, y = band * work->band;
    int width = region->width - x < work->strip ? region->width - x : work->strip;
    int height = region->height - y < n * work->band ? region->height - y : n * work->band;

    run_rectangle (work, region->x + x, region->y + y, width, height, memory);
    first += n;
    count -= n;
  }
}

/* parts of at most most, all of about one size. */
static int
divide (int total, int most)
{
  int parts;

  most = most < 1 ? 1 : most;
  parts = (total - 1) / most + 1;
  return (total - 1) / parts + 1;
}

/* Strips as wide as the cache has room for the rows under the mask; bands for threads, where there is work enough. */
static void
cut (ConvolveCpuWork *work)
{
  const ConvolvePlan *plan = work->plan;
  const ConvolveCpu *cpu = plan->cpu;
  const ConvolveRect *region = &work->plane->region;
  bool shared = cpu->strip > 0 || cpu->band > 0 || (int64_t) region->width * region->height > LEAST_PIXELS;
  int threads = shared && plan->pool ? convolve_pool_threads (plan->pool) : 1;
  int room = RING_BYTES / 2 / (plan->taps.height + 1) - (plan->taps.width - 1) * work->samples;
  int elements = room < STRIP ? room : STRIP;
  double terms = (double) region->width * region->height * work->samples * (cpu->terms.count + 16);
  int jobs = threads * JOBS_PER_THREAD;

  /* A strip narrower than the mask would load more than it writes. Batches need no more of the caches in a wide one. */
  if (elements < plan->taps.width * work->samples)
    elements = plan->taps.width * work->samples;
  if (has_batches (cpu))
    elements = STRIP - plan->taps.width * work->samples / 2;
  if (elements < 256)
    elements = 256;
  if (cpu->strip > 0)
    elements = cpu->strip;
  if (cpu->fft && (cpu->strip <= 0 || elements > convolve_cpu_fft_columns (cpu) * work->samples))
    elements = convolve_cpu_fft_columns (cpu) * work->samples;
  work->strip = divide (region->width, elements / work->samples);
  work->strips = (region->width - 1) / work->strip + 1;

  jobs = terms / LEAST_WORK < jobs ? (int) (terms / LEAST_WORK) : jobs;
  work->band = region->height;
  if (threads > 1 && jobs > work->strips)
    work->band = divide (region->height, (region->height - 1) / (jobs / work->strips) + 1);
  if (work->band < plan->taps.height)
    work->band = plan->taps.height;
  if (cpu->fft)
    work->band = 2 * convolve_cpu_fft_rows (cpu);
  if (cpu->band > 0)
    work->band = cpu->band;
  work->bands = (region->height - 1) / work->band + 1;
  work->streams = plan->pixel.type == CONVOLVE_SAMPLE_U8 && plan->pixel.stride == work->samples
      && plan->pixel.select == (1u << work->samples) - 1
      && (cpu->strip > 0 || (int64_t) region->width * region->height * work->samples >= STREAM_BYTES);
  work->threads = threads < work->strips * work->bands ? threads : work->strips * work->bands;
}

/* Cuts the plane; returns what the largest of the jobs needs. */
static size_t
plan_work (ConvolveCpuWork *work, const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  Arena arena = { 0 };
  ConvolveCpuJob job;

  *work = (ConvolveCpuWork){ .plan = plan, .plane = plane, .samples = plan->pixel.samples };
  cut (work);
  start_job (&job, work, 0, 0, work->strip, work->band);
  take_memory (&job, &arena);
  return arena.used;
}

size_t
convolve_cpu_memory (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  ConvolveCpuWork work;

  return plan_work (&work, plan, plane);
}

int
convolve_cpu_threads (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  ConvolveCpuWork work;

  plan_work (&work, plan, plane);
  return work.threads;
}

ConvolveStatus
convolve_cpu_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  ConvolveCpuWork work;
  size_t memory = plan_work (&work, plan, plane);

  return convolve_pool_run (plan->pool, work.threads, work.strips * work.bands, memory, run_jobs, &work, error);
}

static void
clear (ConvolvePlan *plan)
{
  convolve_cpu_clear (plan->cpu);
}

const ConvolveVariant convolve_variant_cpu = {
  .name = "cpu",
  .number = 17,
  .idea = "threads and vectors on the host: integers where they are exact enough, few products, running sums",
  .prepare = convolve_cpu_prepare,
  .clear = clear,
  .run = convolve_cpu_run,
};
