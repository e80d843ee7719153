/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu/paths/rows.h"

#include <string.h>

#include "common/boundary.h"

#define PREFETCH_ROWS 3 /* from a row to the one that is prefetched */

void *
convolve_cpu_turn (void *rows, int n)
{
  void **ring = rows, *oldest = ring[0];

  memmove (ring, ring + 1, (n - 1) * sizeof (*ring));
  return ring[n - 1] = oldest;
}

static void
fill_outside (const ConvolveCpuJob *job, uint16_t *values, int pixels)
{
  for (int i = 0; i < pixels; i++)
    for (int k = 0; k < job->samples; k++)
      *values++ = (uint16_t) job->plan->outside_level[k];
}

/* The hardware does not prefetch the next row of a strip: the strip is narrow, and rows lie pages apart. */
static inline void
prefetch (const uint8_t *line, ptrdiff_t bytes, bool to_write)
{
  for (ptrdiff_t i = 0; i < bytes; i += CONVOLVE_CACHE_LINE) {
    if (to_write)
      __builtin_prefetch (line + i, 1);
    else
      __builtin_prefetch (line + i, 0);
  }
}

/* The source of row y, or NULL where the boundary puts the zero level. Prefetches a later row. */
static const uint8_t *
find_line (const ConvolveCpuJob *job, int y)
{
  const ConvolvePlane *plane = job->plane;
  int stride = job->plan->pixel.stride;
  const uint8_t *line;

  y = convolve_boundary_index (job->plan->boundary, y, plane->height);
  if (y < 0)
    return NULL;
  line = (const uint8_t *) plane->source + y * plane->source_stride;
  if (y + PREFETCH_ROWS < plane->height)
    prefetch (line + PREFETCH_ROWS * plane->source_stride + (ptrdiff_t) job->first * stride,
        (ptrdiff_t) (job->last - job->first) * stride, false);
  return line;
}

void
convolve_cpu_load_row (const ConvolveCpuJob *job, int y, uint16_t *values)
{
  const ConvolvePixel *pixel = &job->plan->pixel;
  int n = job->samples, inside = job->last - job->first;
  const uint8_t *line = find_line (job, y);

  if (!line) {
    fill_outside (job, values, job->input_count / n);
    return;
  }
  job->level->load (pixel, line + (ptrdiff_t) job->first * pixel->stride, inside, values + job->left * n);
  for (int i = 0; i < job->n_outside; i++) {
    uint16_t *to = values + (i < job->left ? i : i + inside) * n;
    int at = job->outside[i];

    if (at < 0)
      fill_outside (job, to, 1);
    else if (at >= job->first && at < job->last)
      memcpy (to, values + (job->left + at - job->first) * n, n * sizeof (*to));
    else
      job->level->load (pixel, line + (ptrdiff_t) at * pixel->stride, 1, to);
  }
}

/* Packed bytes become pairs without becoming values first. */
void
convolve_cpu_load_pairs (const ConvolveCpuJob *job, int y, ConvolvePair *pairs)
{
  const ConvolvePixel *pixel = &job->plan->pixel;
  const int *level = job->plan->outside_level;
  int n = job->samples, inside = job->last - job->first, middle = job->cpu->middle;
  bool packed = pixel->type == CONVOLVE_SAMPLE_U8 && pixel->stride == n;
  const uint8_t *first = packed ? find_line (job, y) : NULL, *second = packed ? find_line (job, y + 1) : NULL;

  if (!first || !second) {
    convolve_cpu_load_row (job, y, job->values[0]);
    convolve_cpu_load_row (job, y + 1, job->values[1]);
    job->level->pair_up (job->values[0], job->values[1], job->input_count, middle, pairs);
    return;
  }
  job->level->pair_up_bytes (first + (ptrdiff_t) job->first * n, second + (ptrdiff_t) job->first * n, inside * n,
      middle, pairs + job->left * n);
  for (int i = 0; i < job->n_outside; i++) {
    ConvolvePair *to = pairs + (i < job->left ? i : i + inside) * n;
    int at = job->outside[i];

    if (at < 0)
      for (int k = 0; k < n; k++)
        to[k] = convolve_pair (level[k] - middle, level[k] - middle);
    else if (at >= job->first && at < job->last)
      memcpy (to, pairs + (job->left + at - job->first) * n, n * sizeof (*to));
    else
      job->level->pair_up_bytes (first + (ptrdiff_t) at * n, second + (ptrdiff_t) at * n, n, middle, to);
  }
}

/* Packed words without shift and swap become floats without becoming values first. */
void
convolve_cpu_load_floats (const ConvolveCpuJob *job, int y, float *row)
{
  const ConvolvePixel *pixel = &job->plan->pixel;
  const int *level = job->plan->outside_level;
  int n = job->samples, inside = job->last - job->first, middle = job->cpu->middle;
  bool plain = pixel->depth == 16 && !pixel->swapped && pixel->stride == n * convolve_sample_size (pixel->type);
  const uint8_t *line = plain ? find_line (job, y) : NULL;

  if (!line) {
    convolve_cpu_load_row (job, y, job->values[0]);
    job->level->values_to_floats (job->values[0], job->input_count, middle, row);
    return;
  }
  job->level->words_to_floats (line + (ptrdiff_t) job->first * pixel->stride, inside * n, middle, row + job->left * n);
  for (int i = 0; i < job->n_outside; i++) {
    float *to = row + (i < job->left ? i : i + inside) * n;
    int at = job->outside[i];

    if (at < 0)
      for (int k = 0; k < n; k++)
        to[k] = (float) (level[k] - middle);
    else if (at >= job->first && at < job->last)
      memcpy (to, row + (job->left + at - job->first) * n, n * sizeof (*to));
    else
      job->level->words_to_floats (line + (ptrdiff_t) at * pixel->stride, n, middle, to);
  }
}

void
convolve_cpu_store_row (const ConvolveCpuJob *job, int y, const uint16_t *values)
{
  const ConvolvePlane *plane = job->plane;
  const ConvolvePixel *pixel = &job->plan->pixel;
  ptrdiff_t first = (ptrdiff_t) job->x * pixel->stride, bytes = (ptrdiff_t) job->width * pixel->stride;
  const uint8_t *from = (const uint8_t *) plane->source + y * plane->source_stride + first;
  uint8_t *to = (uint8_t *) plane->destination + y * plane->destination_stride + first;

  if (job->streams) {
    if (pixel->type == CONVOLVE_SAMPLE_U8)
      job->level->stream (values, job->count, to);
    else
      job->level->stream_words (values, job->count, pixel->shift, to);
    return;
  }
  if (y + PREFETCH_ROWS < job->y + job->height)
    prefetch (to + PREFETCH_ROWS * plane->destination_stride, bytes, true);
  job->level->store (pixel, values, job->width, from, to);
}

/* --- from sums to values --- */

/* Turns sums into values by the tail, with its scale times sign. */
static void
turn (const ConvolveCpuJob *job, ConvolveCpuSums type, const void *sums, int n, int sign, const void *offsets,
    uint16_t *values)
{
  const ConvolveTail *tail = &job->cpu->tail;
  const ConvolveCpuLevel *level = job->level;
  const double scale = sign * tail->scale;
  const float scale_f = (float) sign * tail->scale_f;

  if (type == CONVOLVE_CPU_DOUBLES)
    level->doubles_to_values (sums, n, scale, offsets, tail->maximum, values);
  else if (type == CONVOLVE_CPU_INTS && tail->needs_double)
    level->ints_to_values_in_double (sums, n, scale, offsets, tail->maximum, values);
  else if (type == CONVOLVE_CPU_INTS)
    level->ints_to_values (sums, n, scale_f, offsets, tail->maximum, values);
  else if (tail->needs_double)
    level->floats_to_values_in_double (sums, n, scale, offsets, tail->maximum, values);
  else
    level->floats_to_values (sums, n, scale_f, offsets, tail->maximum, values);
}

void
convolve_cpu_sums_to_values (const ConvolveCpuJob *job, ConvolveCpuSums type, const void *sums, int count,
    uint16_t *values)
{
  if (type == CONVOLVE_CPU_INTS && job->mirrors) {
    job->level->larger_of_shifts (sums, job->mirrors, count, &job->cpu->shift, values);
    return;
  }
  turn (job, type, sums, count, 1, job->offsets, values);
  if (!job->negatives)
    return;
  turn (job, type, sums, count, -1, job->negative_offsets, job->negatives);
  job->level->replace_by_larger (job->negatives, count, values);
}

void
convolve_cpu_store_sums (const ConvolveCpuJob *job, int y, ConvolveCpuSums type, const void *sums)
{
  convolve_cpu_sums_to_values (job, type, sums, job->count, job->results[0]);
  convolve_cpu_store_row (job, y, job->results[0]);
}
