/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/cpu.h"

#include "cpu/paths/paths.h"
#include "cpu/paths/shrink.h"
#include "cpu/threads/pool.h"

/* One call of convolve_run(). Jobs are numbered down each strip, one strip after the other. */
typedef struct
{
  const ConvolvePlan *plan;
  const ConvolvePlane *plane;
  const ConvolveCpuCut *cut;
  int bands; /* of a strip */
} Work;

/* Neighbouring bands of a strip are convolved as one job, so that the rows between them are loaded only once. */
static void
run_jobs (const void *data, int first, int count, void *memory)
{
  const Work *work = data;
  const ConvolveRect *region = &work->plane->region;
  int strip = work->cut->strip, band = work->cut->band;

  while (count > 0) {
    int top = first % work->bands, n = work->bands - top < count ? work->bands - top : count;
    int x = first / work->bands * strip, y = top * band;
    int width = region->width - x < strip ? region->width - x : strip;
    int height = region->height - y < n * band ? region->height - y : n * band;
    ConvolveCpuJob job;

    convolve_cpu_job_init (&job, work->cut->cpu, work->plan, work->plane,
        (ConvolveRect){ region->x + x, region->y + y, width, height }, memory);
    job.streams = work->cut->streams;
    convolve_cpu_paths[job.cpu->path]->walk (&job);
    if (job.streams)
      job.level->settle ();
    first += n;
    count -= n;
  }
}

size_t
convolve_cpu_memory (const ConvolvePlan *plan, const ConvolvePlane *plane, const ConvolveCpuCut *cut)
{
  ConvolveCpuJob job;

  return convolve_cpu_job_init (&job, cut->cpu, plan, plane, (ConvolveRect){ 0, 0, cut->strip, cut->band }, NULL);
}

ConvolveStatus
convolve_cpu_run_cut (const ConvolvePlan *plan, const ConvolvePlane *plane, const ConvolveCpuCut *cut,
    ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  Work work = { plan, plane, cut, convolve_cpu_pieces (region->height, cut->band) };

  return convolve_pool_run (plan->pool, cut->threads, convolve_cpu_pieces (region->width, cut->strip) * work.bands,
      convolve_cpu_memory (plan, plane, cut), run_jobs, &work, error);
}

static ConvolveStatus
run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  ConvolveCpuCut cut;

  if (plan->shrink)
    return convolve_cpu_shrink_run (plan, plane, error);
  cut = convolve_cpu_cut (plan, plane);
  return convolve_cpu_run_cut (plan, plane, &cut, error);
}

const ConvolveVariant convolve_variant_cpu = {
  .name = "cpu",
  .number = 17,
  .combines = true,
  .does_products = true,
  .shrinks = true,
  .idea = "threads and vector instructions on the CPU",
  .prepare = convolve_cpu_prepare,
  .clear = convolve_cpu_clear,
  .run = run,
};
