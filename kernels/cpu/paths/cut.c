/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/paths/cut.h"

#include <math.h>

#include "convolve_pool.h"

#define RING_BYTES (512 << 10)  /* for the rows under the mask, which are read many times and should stay in a cache */
#define ELEMENT_BYTES 2         /* of an element in a pair */
#define STRIP 2048              /* elements of a job's row, where the mask is small */
#define LEAST_STRIP 256         /* elements */
#define FEW_STRIP 512           /* elements of a job's row, where all rows of floats should stay in the nearest cache */
#define MOST_SQUARE 15          /* rows of a square mask that such a strip has room for */
#define JOBS_PER_THREAD 16      /* so that a thread that is held up does not hold up the others */
#define LEAST_WORK (1 << 18)    /* terms of a job, about 10 us: waking a thread for less costs more than it saves */
#define OTHER_WORK 16           /* what else an element costs, in terms */
#define LEAST_PIXELS (128 * 64) /* of a plane that several threads share, whatever the mask */
#define NEAR_BYTES (32 << 10)   /* of a core's nearest cache, for all rows that products are made from */
#define CHUNK 128               /* elements that a loop of the widest level makes in one turn */
#define BANDS_PER_MASK 8 /* heights of the mask in a band of products, whose halo is summed again for each band */
#define LEAST_JOBS_PER_THREAD 2 /* for which bands are lower than that */
#define STREAM_BYTES 4000000    /* of a result that would not stay in the caches until its reader comes */

/* The size of equal parts of at most `most`. */
static int
divide (int total, int most)
{
  int parts = (total - 1) / (most < 1 ? 1 : most) + 1;

  return (total - 1) / parts + 1;
}

static int
clamp (int value, int least, int most)
{
  return value < least ? least : value > most ? most : value;
}

/*
 * Pixels of a strip of products, whose sums along the rows need nothing beyond the strip: all rows stay in the nearest
 * cache, and no loop has a turn that is not full.
 */
static int
choose_strip_of_products (const ConvolveCpu *cpu, const ConvolvePlan *plan, const ConvolveRect *region)
{
  int samples = plan->pixel.samples, mask = plan->taps.width * samples, pairs = (plan->taps.height + 1) / 2;
  int whole = samples == 2 ? CHUNK / 2 : samples == 4 ? CHUNK / 4 : CHUNK; /* pixels of full turns */
  /* Bytes of an element: of inputs, outputs and their values, then of pairs and starts. */
  int values = 16 + (cpu->centre_tap ? 2 * convolve_cpu_centre_rows (plan->taps.height) + 8 : 0);
  int bytes = sizeof (ConvolvePair) * (cpu->rank * pairs + (cpu->joins ? 2 : 0)) + sizeof (int32_t) + values;
  int elements = clamp (NEAR_BYTES / bytes, mask / 2 > LEAST_STRIP ? mask / 2 : LEAST_STRIP, STRIP);
  int strip = (divide (region->width, elements / samples) + whole - 1) / whole * whole;

  return strip < region->width ? strip : region->width;
}

/* Pixels of a strip of few floats, whose rows of results are whole cache lines but for the last strip's. */
static int
choose_strip_of_few (const ConvolvePlan *plan, const ConvolveRect *region)
{
  int strip = divide (region->width, FEW_STRIP / plan->pixel.samples);

  strip = (strip + CONVOLVE_CACHE_LINE - 1) / CONVOLVE_CACHE_LINE * CONVOLVE_CACHE_LINE;
  return strip < region->width ? strip : region->width;
}

/* Pixels of a strip: as many as the cache has room for in all rows under the mask. */
static int
choose_strip (const ConvolveCpu *cpu, const ConvolvePlan *plan, const ConvolveRect *region)
{
  int samples = plan->pixel.samples, mask = plan->taps.width * samples;
  int room = RING_BYTES / ELEMENT_BYTES / (plan->taps.height + 1) - (mask - samples);
  int elements = room < STRIP ? room : STRIP;

  if (cpu->path == CONVOLVE_CPU_FACTORS)
    return choose_strip_of_products (cpu, plan, region);
  if (cpu->few || (cpu->square && plan->taps.height <= MOST_SQUARE))
    return choose_strip_of_few (plan, region);
  /* A strip narrower than the mask would load more than it writes. */
  if (elements < mask)
    elements = mask;
  /* The columns of a batch are narrow, so that the strip may be wide. */
  if (convolve_cpu_has_batches (cpu))
    elements = STRIP - mask / 2;
  if (elements < LEAST_STRIP)
    elements = LEAST_STRIP;
  return divide (region->width, cpu->fft ? convolve_cpu_fft_columns (cpu->fft) : elements / samples);
}

static double
count_terms (const ConvolveCpu *cpu)
{
  double count = cpu->terms.count + cpu->wide.count;

  for (int r = 0; r < cpu->rank; r++)
    count += cpu->rows[r].count;
  for (int k = 0; k < cpu->n_parts; k++)
    count += cpu->parts[k].terms.count + cpu->parts[k].wide.count;
  return count;
}

/* Rows of a band: few enough to give every thread several jobs, but no job is smaller than LEAST_WORK. */
static int
choose_band (const ConvolveCpu *cpu, const ConvolvePlan *plan, const ConvolveRect *region, int strips, int threads)
{
  double elements = (double) region->width * region->height * plan->pixel.samples;
  double terms = elements * (count_terms (cpu) + OTHER_WORK);
  int jobs = threads * JOBS_PER_THREAD, band = region->height;

  jobs = terms / LEAST_WORK < jobs ? (int) (terms / LEAST_WORK) : jobs;
  if (cpu->fft)
    return 2 * convolve_cpu_fft_rows (cpu->fft);
  if (threads > 1 && cpu->path == CONVOLVE_CPU_FACTORS) {
    int bands = region->height / (BANDS_PER_MASK * plan->taps.height), least = LEAST_JOBS_PER_THREAD * threads;

    least = least < jobs ? least : jobs;
    jobs = clamp (bands * strips, least, jobs);
  }
  if (threads > 1 && jobs > strips)
    band = divide (region->height, (region->height - 1) / (jobs / strips) + 1);
  /* A band lower than the mask would load more than it writes. */
  return band < plan->taps.height ? plan->taps.height : band;
}

bool
convolve_cpu_can_stream (const ConvolvePixel *pixel)
{
  return !pixel->swapped && pixel->stride == pixel->samples * convolve_sample_size (pixel->type)
      && pixel->select == (1u << pixel->samples) - 1;
}

static int
most_threads (const ConvolvePlan *plan, const ConvolveRect *region)
{
  int64_t pixels = (int64_t) region->width * region->height;

  return pixels > LEAST_PIXELS && plan->pool ? convolve_pool_threads (plan->pool) : 1;
}

/* Transforms have few jobs, and threads without one wait. */
static const ConvolveCpu *
choose_for_region (const ConvolvePlan *plan, const ConvolveRect *region)
{
  const ConvolveCpu *cpu = convolve_cpu_of (plan), *large = cpu->large;
  double jobs, turns, threads = most_threads (plan, region);

  if (!large)
    return cpu;
  jobs = (double) convolve_cpu_pieces (region->width, convolve_cpu_fft_columns (large->fft))
      * convolve_cpu_pieces (region->height, 2 * convolve_cpu_fft_rows (large->fft));
  turns = ceil (jobs / threads);
  return turns * large->fft->cost < cpu->cost * region->width * region->height / threads ? large : cpu;
}

ConvolveCpuCut
convolve_cpu_cut_for (const ConvolveCpu *cpu, const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveRect *region = &plane->region;
  ConvolveCpuCut cut = { .cpu = cpu, .threads = most_threads (plan, region) };
  int strips, jobs;

  cut.strip = choose_strip (cpu, plan, region);
  strips = convolve_cpu_pieces (region->width, cut.strip);
  cut.band = choose_band (cpu, plan, region, strips, cut.threads);
  jobs = strips * convolve_cpu_pieces (region->height, cut.band);
  cut.threads = cut.threads < jobs ? cut.threads : jobs;
  cut.streams =
      convolve_cpu_can_stream (pixel) && (int64_t) region->width * region->height * pixel->stride >= STREAM_BYTES;
  return cut;
}

ConvolveCpuCut
convolve_cpu_cut (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  return convolve_cpu_cut_for (choose_for_region (plan, &plane->region), plan, plane);
}
