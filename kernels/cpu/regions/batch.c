/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does the works of a batch on the host. Effects do not depend on each other, so threads share the rows of all of them. Blends
 * follow each other, and threads share the rows of a large one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/area.h"
#include "common/batch.h"
#include "common/internal.h"
#include "cpu/regions/blur.h"
#include "cpu/threads/pool.h"

#define BAND 32               /* rows that a thread takes at once, at least, of all that is no blur */
#define BANDS_OF_THREAD 4     /* so that all threads end at about the same time */
#define FEW_SAMPLES (1 << 15) /* are done sooner than another thread wakes */
#define MOST_BYTES (1 << 18)  /* of blurs at the same time, for each thread: they stay in its cache */

/* A work with its plane where it is now. */
typedef struct
{
  const ConvolveWork *work;
  ConvolvePlane plane;
  ConvolveBlurTask blur; /* of a blur */
  size_t bytes;          /* that the blur needs */
  int first;             /* the number of its first row in a step, among the rows of all tasks */
  int band;              /* rows of a band */
} Task;

/* batch->tasks. */
typedef struct
{
  const ConvolveBatch *batch;
  Task *tasks;
  size_t n_tasks, room;
  uint8_t *memory; /* of the blurs, kept from frame to frame */
  size_t memory_bytes, bytes;
  int64_t samples;
  int step;
  int status; /* of any thread's work; atomic */
} Tasks;

static int
divide_up (int a, int b)
{
  return (a + b - 1) / b;
}

/* The number of a block's row that has row y of the plane. */
static int
row_of_blocks (const ConvolveBlocks *blocks, int y)
{
  return convolve_floor_div (y * blocks->y_step - blocks->y, blocks->size);
}

static int
height_of (const Task *task)
{
  return task->work->kind == CONVOLVE_WORK_COPY ? task->plane.height : task->plane.region.height;
}

/* The rows, or bands of rows, of a task in a step. */
static int
rows_of (const Task *task, int step)
{
  const ConvolveRect *region = &task->plane.region;

  if (task->work->kind == CONVOLVE_WORK_BLUR)
    return convolve_blur_rows (&task->blur, step);
  if (step > 0)
    return 0;
  if (task->work->kind == CONVOLVE_WORK_PIXELATE)
    return row_of_blocks (&task->work->blocks, region->y + region->height - 1)
        - row_of_blocks (&task->work->blocks, region->y) + 1;
  return divide_up (height_of (task), task->band);
}

/* Takes the rows from top up to end of the plane's region. */
static ConvolvePlane
cut_rows (const ConvolvePlane *plane, int top, int end)
{
  const ConvolveRect *region = &plane->region;
  ConvolvePlane part = *plane;

  part.region.y = convolve_clamp (top, region->y, region->y + region->height);
  part.region.height = convolve_clamp (end, region->y, region->y + region->height) - part.region.y;
  return part;
}

static void
copy_rows (const Task *task, int top, int end)
{
  const ConvolvePlane *plane = &task->plane;

  for (int y = top; y < end && y < plane->height; y++)
    memcpy ((uint8_t *) plane->destination + y * plane->destination_stride,
        (const uint8_t *) plane->source + y * plane->source_stride, task->work->row_bytes);
}

/* Band i of a task that is no blur. */
static ConvolveStatus
run_band (const Tasks *tasks, const Task *task, int i)
{
  const ConvolveWork *work = task->work;
  const ConvolveBlocks *blocks = &work->blocks;
  const int top = task->plane.region.y + i * task->band;
  ConvolvePlane part = cut_rows (&task->plane, top, top + task->band);
  ConvolveExtras extras;
  ConvolveArea area;
  int row;

  switch (work->kind) {
    case CONVOLVE_WORK_FILL:
      return convolve_fill (&work->pixel, work->values, &part, NULL);
    case CONVOLVE_WORK_DRAW:
      return convolve_draw (&work->pixel, &work->drawing, &part, NULL);
    case CONVOLVE_WORK_PIXELATE:
      row = row_of_blocks (blocks, task->plane.region.y) + i;
      part = cut_rows (&task->plane, convolve_block_start (blocks->y, blocks->size, blocks->y_step, row),
          convolve_block_start (blocks->y, blocks->size, blocks->y_step, row + 1));
      /* A block between two samples has none of them. */
      return part.region.height == 0 ? CONVOLVE_OK : convolve_pixelate (&work->pixel, blocks, &part, NULL);
    case CONVOLVE_WORK_COPY:
      copy_rows (task, i * task->band, (i + 1) * task->band);
      return CONVOLVE_OK;
    case CONVOLVE_WORK_BLEND:
      area = convolve_batch_area (tasks->batch, work, &extras);
      return convolve_blend (&work->pixel, &area, &part, NULL);
    case CONVOLVE_WORK_CONVOLVE:
    case CONVOLVE_WORK_BLUR:
      break;
  }
  return CONVOLVE_OK;
}

static void
run_task (Tasks *tasks, const Task *task, int first, int end, void *memory)
{
  if (task->work->kind == CONVOLVE_WORK_BLUR) {
    convolve_blur_run (&task->blur, tasks->step, first, end, memory);
    return;
  }
  for (int i = first; i < end; i++) {
    ConvolveStatus status = run_band (tasks, task, i);

    if (status != CONVOLVE_OK)
      __atomic_store_n (&tasks->status, (int) status, __ATOMIC_RELAXED);
  }
}

/* The last task that begins at or before a row: those without a row begin where the next one does. */
static size_t
find_task (const Tasks *tasks, int row)
{
  size_t from = 0, to = tasks->n_tasks;

  while (to - from > 1) {
    size_t middle = (from + to) / 2;

    *(tasks->tasks[middle].first <= row ? &from : &to) = middle;
  }
  return from;
}

/* A ConvolveJob: rows of a step. */
static void
run_rows (const void *data, int first, int count, void *memory)
{
  Tasks *tasks = (Tasks *) data;

  for (size_t i = find_task (tasks, first); count > 0; i++) {
    const Task *task = &tasks->tasks[i];
    int from = first - task->first, left = rows_of (task, tasks->step) - from, taken = left < count ? left : count;

    run_task (tasks, task, from, from + taken, memory);
    first += taken;
    count -= taken;
  }
}

static void
forget_tasks (Tasks *tasks)
{
  tasks->n_tasks = tasks->bytes = 0;
  tasks->samples = 0;
}

/* Gives all blurs their memory, behind that of the calling thread. */
static ConvolveStatus
place_blurs (Tasks *tasks, size_t thread_bytes, ConvolveError *error)
{
  size_t end = (thread_bytes + CONVOLVE_CACHE_LINE - 1) / CONVOLVE_CACHE_LINE * CONVOLVE_CACHE_LINE;
  size_t bytes = end + tasks->bytes;

  if (bytes > tasks->memory_bytes) {
    free (tasks->memory);
    tasks->memory = aligned_alloc (CONVOLVE_CACHE_LINE, bytes);
    tasks->memory_bytes = tasks->memory ? bytes : 0;
  }
  if (bytes > tasks->memory_bytes)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for blurs of %zu bytes", bytes);
  for (size_t i = 0; i < tasks->n_tasks; i++)
    if (tasks->tasks[i].work->kind == CONVOLVE_WORK_BLUR) {
      convolve_blur_place (&tasks->tasks[i].blur, tasks->memory + end);
      end += tasks->tasks[i].bytes;
    }
  return CONVOLVE_OK;
}

/* Does all rows of a step. */
static ConvolveStatus
run_step (Tasks *tasks, ConvolvePool *pool, int threads, size_t bytes, ConvolveError *error)
{
  int rows = 0;

  for (size_t i = 0; i < tasks->n_tasks; i++) {
    Task *task = &tasks->tasks[i];

    task->band = threads == 1 ? height_of (task)
                              : convolve_larger (BAND, divide_up (height_of (task), BANDS_OF_THREAD * threads));
    task->first = rows;
    rows += rows_of (task, tasks->step);
  }
  if (rows > 0 && pool)
    return convolve_pool_run (pool, threads, rows, bytes, run_rows, tasks, error);
  run_rows (tasks, 0, rows, tasks->memory);
  return CONVOLVE_OK;
}

/* Does the tasks, step by step, and forgets them. */
static ConvolveStatus
run_tasks (Tasks *tasks, ConvolveError *error)
{
  ConvolvePool *pool = tasks->samples > FEW_SAMPLES ? tasks->batch->pool : NULL;
  ConvolveStatus status;
  size_t bytes = 1;

  tasks->status = CONVOLVE_OK;
  for (size_t i = 0; i < tasks->n_tasks; i++)
    if (tasks->tasks[i].work->kind == CONVOLVE_WORK_BLUR && convolve_blur_thread_bytes (&tasks->tasks[i].blur) > bytes)
      bytes = convolve_blur_thread_bytes (&tasks->tasks[i].blur);
  status = place_blurs (tasks, bytes, error);
  for (tasks->step = 0; tasks->step < CONVOLVE_BLUR_STEPS && status == CONVOLVE_OK; tasks->step++)
    status = run_step (tasks, pool, pool ? convolve_pool_threads (pool) : 1, bytes, error);
  if (status == CONVOLVE_OK && tasks->status != CONVOLVE_OK)
    status = convolve_fail (error, (ConvolveStatus) tasks->status, 0, "no memory for parts of a picture");
  forget_tasks (tasks);
  return status;
}

/* The samples that are read, or written where nothing is read. */
static int64_t
count_samples (const Task *task)
{
  const ConvolveWork *work = task->work;
  const ConvolveRect *rect = work->kind == CONVOLVE_WORK_BLUR ? &task->blur.cell : &task->plane.region;
  const int factor = work->kind == CONVOLVE_WORK_BLUR ? work->blur.blur->factor : 1;

  if (work->kind == CONVOLVE_WORK_COPY)
    return (int64_t) task->plane.height * (int64_t) work->row_bytes;
  return (int64_t) rect->width * rect->height * factor * factor * work->pixel.samples;
}

/* Adds a task; does all of them where they take much memory. */
static ConvolveStatus
add_task (Tasks *tasks, const ConvolveWork *work, const ConvolveMoves *moves, ConvolveError *error)
{
  const ConvolvePool *pool = tasks->batch->pool;
  const size_t most = (size_t) (pool ? convolve_pool_threads (pool) : 1) * MOST_BYTES;
  Task *task;

  if (tasks->n_tasks == tasks->room) {
    Task *moved = realloc (tasks->tasks, 2 * (tasks->room + 1) * sizeof (*moved));

    if (!moved)
      return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu works", tasks->n_tasks + 1);
    tasks->tasks = moved;
    tasks->room = 2 * (tasks->room + 1);
  }
  task = &tasks->tasks[tasks->n_tasks++];
  *task = (Task){ .work = work, .plane = convolve_moved_plane (moves, work) };
  if (work->kind == CONVOLVE_WORK_BLUR)
    task->bytes = convolve_blur_begin (&task->blur, &work->pixel, work->blur.boundary, work->blur.blur, &task->plane);
  tasks->bytes += task->bytes;
  tasks->samples += count_samples (task);
  return tasks->bytes > most ? run_tasks (tasks, error) : CONVOLVE_OK;
}

static ConvolveStatus
run_work (Tasks *tasks, const ConvolveWork *work, const ConvolveMoves *moves, ConvolveError *error)
{
  const bool is_effect = work->kind != CONVOLVE_WORK_COPY && work->kind != CONVOLVE_WORK_BLEND;
  ConvolveStatus status = CONVOLVE_OK;
  ConvolvePlane plane;

  if (work->kind == CONVOLVE_WORK_CONVOLVE) {
    plane = convolve_moved_plane (moves, work);
    return convolve_run (work->plan, &plane, error);
  }
  /* All effects are done before the first copy or blend, and each of these before the next one. */
  if (!is_effect)
    status = run_tasks (tasks, error);
  return status == CONVOLVE_OK ? add_task (tasks, work, moves, error) : status;
}

ConvolveStatus
convolve_host_batch_run (ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;
  Tasks *tasks;

  if (!batch->tasks)
    batch->tasks = calloc (1, sizeof (*tasks));
  tasks = batch->tasks;
  if (!tasks)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a batch");
  tasks->batch = batch;
  for (size_t i = 0; i < batch->n_works && status == CONVOLVE_OK; i++)
    status = run_work (tasks, &batch->works[i], moves, error);
  if (status == CONVOLVE_OK)
    status = run_tasks (tasks, error);
  forget_tasks (tasks);
  return status;
}

void
convolve_host_batch_clear (ConvolveBatch *batch)
{
  Tasks *tasks = batch->tasks;

  if (tasks) {
    free (tasks->memory);
    free (tasks->tasks);
  }
  free (tasks);
}
