/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gaussians of any size on the CPU, in four steps that threads share. The picture is shrunk down its columns first,
 * because loops over a row of elements serve all pixels; little is left for the other passes:
 *
 *   1. strips of columns: all levels of the vertical axis, of which the last one is kept
 *   2. rows of that: all levels of the horizontal axis, and the sums along the rows
 *   3. rows of the shrunk picture: the sums down the columns, and the interpolation along the row
 *   4. rows of results: the interpolation between four such rows, and the last step
 */
#include "cpu/paths/shrink.h"

#include <string.h>

#include "common/shrink.h"
#include "convolve_pool.h"
#include "cpu/loops/levels.h"
#include "cpu/paths/job.h"
#include "cpu/threads/pool.h"

#define LEVEL_BYTES (256 << 10) /* of a strip's first level, which the next one is made from */
#define LEAST_STRIP 64          /* elements */
#define RING 8                  /* rows of values: five at a time are under the mask */
#define LEAST_PIXELS (128 * 64) /* of a region that several threads share */
#define STREAM_BYTES 4000000    /* of a result that would not stay in the caches until its reader comes */

typedef struct
{
  const ConvolvePlan *plan;
  const ConvolveShrink *shrink;
  const ConvolvePlane *plane;
  const ConvolveCpuLevel *level;
  int samples;
  ConvolveShrinkRange x[CONVOLVE_SHRINK_LEVELS + 1], y[CONVOLVE_SHRINK_LEVELS + 1];
  ConvolveShrinkRange columns;          /* of the source */
  ConvolveShrinkRange x_cells, y_cells; /* of the shrunk picture */
  int strip;                            /* pixels */
  bool streams;

  /* What the threads have together: rows of floats, with the elements from row to row. */
  void *shared;
  size_t columns_length, cells_length, across_length;
} Task;

typedef struct
{
  float *columns; /* of step 1: the last vertical level, of all columns */
  float *cells;   /* of step 2 */
  float *across;  /* of step 3 */
  float *offsets;
} Shared;

static size_t
padded (size_t count)
{
  return count + CONVOLVE_CPU_PADDING;
}

/* Lays out what the threads share from `shared` on, which may be NULL. Returns the bytes. */
static size_t
lay_out (const Task *task, void *shared, Shared *to)
{
  ConvolveCpuArena arena = { shared, 0 };
  int rows = task->y[task->shrink->y.levels].count;

  to->columns = convolve_cpu_take (&arena, rows * task->columns_length, sizeof (float));
  to->cells = convolve_cpu_take (&arena, rows * task->cells_length, sizeof (float));
  to->across = convolve_cpu_take (&arena, task->y_cells.count * task->across_length, sizeof (float));
  to->offsets = convolve_cpu_take (&arena, task->across_length, sizeof (float));
  return arena.used;
}

static Shared
shared_of (const Task *task)
{
  Shared shared;

  lay_out (task, task->shared, &shared);
  return shared;
}

/* --- step 1 --- */

typedef struct
{
  int first, count; /* pixels */
  uint16_t *ring[RING];
  int rows[RING]; /* of the source that the ring has */
  bool has[RING];
  float *levels[2]; /* in turn, with padded (strip) elements to a row */
  float *row;
} Strip;

static size_t
lay_out_strip (const Task *task, void *memory, Strip *strip)
{
  ConvolveCpuArena arena = { memory, 0 };
  const int levels = task->shrink->y.levels;
  const size_t length = padded ((size_t) task->strip * task->samples);
  int rows[2] = { 0, 0 }; /* of the largest odd and even levels */

  for (int i = 0; i < RING; i++)
    strip->ring[i] = convolve_cpu_take (&arena, length, sizeof (uint16_t));
  /* The levels of a picture of few rows may get more rows. */
  for (int l = 1; l < levels; l++)
    rows[l % 2] = rows[l % 2] > task->y[l].count ? rows[l % 2] : task->y[l].count;
  for (int i = 0; i < 2; i++)
    strip->levels[i] = convolve_cpu_take (&arena, rows[i] * length, sizeof (float));
  strip->row = convolve_cpu_take (&arena, length, sizeof (float));
  return arena.used;
}

/* The values of a row of the source, inside or outside. Consecutive rows lie in the ring together. */
static const uint16_t *
values_of (const Task *task, Strip *strip, int v)
{
  const ConvolvePixel *pixel = &task->plan->pixel;
  const ConvolvePlane *plane = task->plane;
  const int slot = v & (RING - 1);
  uint16_t *to = strip->ring[slot];

  if (strip->has[slot] && strip->rows[slot] == v)
    return to;
  strip->has[slot] = true;
  strip->rows[slot] = v;
  v = convolve_boundary_index (task->plan->boundary, v, plane->height);
  if (v < 0)
    for (int i = 0; i < strip->count * task->samples; i++)
      to[i] = (uint16_t) task->plan->outside_level[i % task->samples];
  else
    task->level->load (pixel,
        (const uint8_t *) plane->source + v * plane->source_stride + (ptrdiff_t) strip->first * pixel->stride,
        strip->count, to);
  return to;
}

/* Row `row` of a level's range, from the source or from the level before, into `to`. */
static void
halve_row (const Task *task, Strip *strip, int l, int row, float *to)
{
  const int m = task->y[l].first + row, count = strip->count * task->samples;
  const size_t length = padded ((size_t) task->strip * task->samples);
  const uint16_t *values[5];
  const float *floats[5];

  for (int i = 0; i < 5; i++)
    if (l == 1)
      values[i] = values_of (task, strip, 2 * m + i - 2);
    else
      floats[i] = strip->levels[(l - 1) % 2] + convolve_shrink_place (task->y[l - 1], 2 * m + i - 2) * length;
  if (l == 1)
    task->level->halve_values (values, count, (int) task->shrink->middle, to);
  else
    task->level->halve_floats (floats, count, to);
}

static void
shrink_columns (const void *data, int first, int count, void *memory)
{
  const Task *task = data;
  const Shared shared = shared_of (task);
  const int levels = task->shrink->y.levels, samples = task->samples;
  const size_t length = padded ((size_t) task->strip * samples);

  for (int n = first; n < first + count; n++) {
    const int left = n * task->strip, right = task->columns.count - left;
    Strip strip = { .first = task->columns.first + left, .count = right < task->strip ? right : task->strip };

    lay_out_strip (task, memory, &strip);
    for (int l = 1; l < levels; l++)
      for (int row = 0; row < task->y[l].count; row++)
        halve_row (task, &strip, l, row, strip.levels[l % 2] + row * length);
    for (int row = 0; row < task->y[levels].count; row++) {
      if (levels > 0)
        halve_row (task, &strip, levels, row, strip.row);
      else
        task->level->values_to_floats (values_of (task, &strip, task->y[0].first + row), strip.count * samples,
            (int) task->shrink->middle, strip.row);
      memcpy (shared.columns + row * task->columns_length + (size_t) left * samples, strip.row,
          (size_t) strip.count * samples * sizeof (float));
    }
  }
}

/* --- step 2 --- */

/* Room for the largest level, with all that the next one reads, and for the one that is made of it. */
static size_t
length_of_levels (const Task *task)
{
  size_t most = task->x_cells.count + 2 * task->shrink->x.radius;

  for (int l = 1; l <= task->shrink->x.levels; l++)
    most = most > 2 * (size_t) task->x[l].count + 3 ? most : 2 * (size_t) task->x[l].count + 3;
  return padded (most * task->samples);
}

/* Copies the pixels first .. first + count - 1 of a row side by side. */
static void
gather (const Task *task, const ConvolveShrinkColumns *columns, const float *row, int first, int count, float *to)
{
  const int samples = task->samples, begin = columns->range.first, end = begin + columns->range.count;
  int m = first;

  while (m < first + count) {
    int i = convolve_shrink_column (columns, m);

    if (m >= begin && m < end) {
      int n = (end < first + count ? end : first + count) - m;

      memcpy (to, row + (size_t) i * samples, (size_t) n * samples * sizeof (float));
      to += (size_t) n * samples;
      m += n;
      continue;
    }
    for (int k = 0; k < samples; k++)
      *to++ = i < 0 ? (float) task->plan->outside_level[k] - task->shrink->middle : row[(size_t) i * samples + k];
    m++;
  }
}

static void
halve_columns (const float *from, int samples, int count, float *to)
{
  for (int i = 0; i < count; i++)
    for (int k = 0; k < samples; k++) {
      const float *at = from + (size_t) 2 * i * samples + k;

      to[(size_t) i * samples + k] =
          CONVOLVE_SHRINK_HALVE (at[0], at[samples], at[2 * samples], at[3 * samples], at[4 * samples]);
    }
}

static void
shrink_rows (const void *data, int first, int count, void *memory)
{
  const Task *task = data;
  const Shared shared = shared_of (task);
  const ConvolveShrinkAxis *axis = &task->shrink->x;
  const int samples = task->samples;
  const size_t length = length_of_levels (task);
  float *wide = memory, *level = wide + length;

  for (int row = first; row < first + count; row++) {
    const float *rows[2 * CONVOLVE_SHRINK_RADIUS + 1], *from = shared.columns + row * task->columns_length;
    ConvolveShrinkColumns columns = { .of_source = true,
      .boundary = task->plan->boundary,
      .n = task->plane->width,
      .range = task->columns };

    for (int l = 1; l <= axis->levels; l++) {
      gather (task, &columns, from, 2 * task->x[l].first - 2, 2 * task->x[l].count + 3, wide);
      halve_columns (wide, samples, task->x[l].count, level);
      columns.of_source = false;
      columns.range = task->x[l];
      from = level;
    }
    gather (task, &columns, from, task->x_cells.first - axis->radius, task->x_cells.count + 2 * axis->radius, wide);
    for (int i = 0; i <= 2 * axis->radius; i++)
      rows[i] = wide + (size_t) i * samples;
    task->level->sum_mirrored (axis->taps, axis->radius, rows, task->x_cells.count * samples,
        shared.cells + row * task->cells_length);
  }
}

/* --- step 3 --- */

static void
enlarge_rows (const void *data, int first, int count, void *memory)
{
  const Task *task = data;
  const Shared shared = shared_of (task);
  const ConvolveShrinkAxis *axis = &task->shrink->y;
  const ConvolveRect *region = &task->plane->region;

  for (int row = first; row < first + count; row++) {
    const float *rows[2 * CONVOLVE_SHRINK_RADIUS + 1];

    for (int i = 0; i <= 2 * axis->radius; i++)
      rows[i] = shared.cells
          + convolve_shrink_place (task->y[axis->levels], task->y_cells.first + row + i - axis->radius)
              * task->cells_length;
    task->level->sum_mirrored (axis->taps, axis->radius, rows, task->x_cells.count * task->samples, memory);
    task->level->enlarge (memory, task->samples, task->shrink->x.phases, task->shrink->x.levels, region->x,
        region->width, shared.across + row * task->across_length);
  }
}

/* --- step 4 --- */

static void
write_rows (const void *data, int first, int count, void *memory)
{
  const Task *task = data;
  const Shared shared = shared_of (task);
  const ConvolvePixel *pixel = &task->plan->pixel;
  const ConvolvePlane *plane = task->plane;
  const ConvolveRect *region = &plane->region;
  const int levels = task->shrink->y.levels, elements = region->width * task->samples;
  uint16_t *values = memory, *own = values + padded (elements);

  for (int y = region->y + first; y < region->y + first + count; y++) {
    const ptrdiff_t left = (ptrdiff_t) region->x * pixel->stride;
    const uint8_t *source = (const uint8_t *) plane->source + y * plane->source_stride + left;
    uint8_t *to = (uint8_t *) ((uintptr_t) plane->destination + (uintptr_t) (y * plane->destination_stride + left));
    const float *rows[4];

    for (int i = 0; i < 4; i++)
      rows[i] = shared.across + ((y >> levels) - 1 + i - task->y_cells.first) * task->across_length;
    if (task->shrink->own != 0)
      task->level->load (pixel, source, region->width, own);
    task->level->values_between (task->shrink, task->shrink->y.phases + 4 * (y & ((1 << levels) - 1)), rows,
        task->shrink->own != 0 ? own : NULL, shared.offsets, elements, values);
    if (task->streams && pixel->type == CONVOLVE_SAMPLE_U8)
      task->level->stream (values, elements, to);
    else
      task->level->store (pixel, values, region->width, source, to);
  }
  if (task->streams)
    task->level->settle ();
}

static size_t
larger (size_t a, size_t b)
{
  return a > b ? a : b;
}

/* The offsets are the same in each row. */
static void
fill_offsets (const void *data, int first, int count, void *memory)
{
  const Task *task = data;
  const Shared shared = shared_of (task);

  for (int i = 0; i < task->plane->region.width * task->samples; i++)
    shared.offsets[i] = task->shrink->offset[i % task->samples];
}

ConvolveStatus
convolve_cpu_shrink_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveShrink *shrink = plan->shrink;
  const ConvolveRect *region = &plane->region;
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveCpu *cpu = convolve_cpu_of (plan);
  Task task = { .plan = plan,
    .shrink = shrink,
    .plane = plane,
    .level = cpu ? cpu->level : convolve_cpu_level (convolve_cpu_level_count () - 1),
    .samples = pixel->samples,
    .x_cells = convolve_shrink_cells (shrink->x.levels, region->x, region->x + region->width),
    .y_cells = convolve_shrink_cells (shrink->y.levels, region->y, region->y + region->height) };
  const int threads =
      (int64_t) region->width * region->height < LEAST_PIXELS || !plan->pool ? 1 : convolve_pool_threads (plan->pool);
  int strip, length;
  size_t own;
  Shared shared;
  Strip layout;

  convolve_shrink_find_ranges (&shrink->x, plan->boundary, plane->width, region->x, region->x + region->width, task.x);
  convolve_shrink_find_ranges (&shrink->y, plan->boundary, plane->height, region->y, region->y + region->height,
      task.y);
  task.columns = convolve_shrink_find_source (task.x[0], plan->boundary, plane->width);
  task.columns_length = padded ((size_t) task.columns.count * task.samples);
  task.cells_length = padded ((size_t) task.x_cells.count * task.samples);
  task.across_length = padded ((size_t) region->width * task.samples);
  strip = LEVEL_BYTES / (int) sizeof (float) / (shrink->y.levels > 1 ? task.y[1].count : RING);
  strip = (strip < LEAST_STRIP ? LEAST_STRIP : strip) / task.samples;
  length = (task.columns.count + threads - 1) / threads;
  task.strip = strip > length ? length : strip;
  task.streams = pixel->type == CONVOLVE_SAMPLE_U8 && pixel->stride == pixel->samples
      && pixel->select == (1u << pixel->samples) - 1
      && (int64_t) region->width * region->height * pixel->stride >= STREAM_BYTES;

  const ConvolvePoolStep steps[] = {
    { fill_offsets, 1 },
    { shrink_columns, (task.columns.count + task.strip - 1) / task.strip },
    { shrink_rows, task.y[shrink->y.levels].count },
    { enlarge_rows, task.y_cells.count },
    { write_rows, region->height },
  };
  own = lay_out_strip (&task, NULL, &layout);
  own = larger (own, 2 * length_of_levels (&task) * sizeof (float));
  own = larger (own, task.cells_length * sizeof (float));
  own = larger (own, 2 * padded ((size_t) region->width * task.samples) * sizeof (uint16_t));
  return convolve_pool_run_steps (plan->pool, threads, steps, sizeof (steps) / sizeof (steps[0]), own, &task.shared,
      lay_out (&task, NULL, &shared), &task, error);
}
