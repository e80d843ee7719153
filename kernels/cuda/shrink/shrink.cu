/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/shrink/shrink.h"

#include "cuda/device/device.cuh"
#include "cuda/device/launch.cuh"

#define THREADS 128
#define ALL_THREADS 1024 /* of a block that takes a row, or columns, through all levels that are left */
#define ROWS 8           /* of results that a thread makes of four rows of the shrunk picture */
#define SOURCE_ROWS 4    /* that a thread makes from the source, whose pixels it then reads once or twice */
#define STRIP 8 /* elements of a row whose columns a block takes through several levels: 32 bytes, as memory is read */
#define SHARED (48 * 1024) /* bytes of shared memory that a block may have on any GPU */

/*
 * The idea: beyond some sigma nothing of a pixel is left but its share in a mean, so that the picture may shrink first.
 * A result costs the same whatever the sigma, and the more the picture shrinks the less is done besides.
 *
 * A thread makes one element: a sample of a pixel. Rows in memory have the samples of a pixel side by side. The order of
 * the passes, and of the operations in each, is that of common/shrink.h.
 *
 * The levels of an axis get smaller, and a launch has a cost of its own. So a launch makes one level only where what
 * comes after it does not fit into shared memory. From there on a block takes its columns, or its row, through all that
 * is left of the axis.
 */

/* What a pass reads, and the elements that it makes. */
struct Pass
{
  const float *from;
  float *to;
  int from_length, to_length; /* elements of a row */
  int rows;                   /* to make */
  int samples;
  int first;                 /* pixel that the first row or column of `to` is */
  ConvolveShrinkRange range; /* of the rows of `from` */
  ConvolveShrinkColumns columns;
  int radius;
  const float *taps;
  float middle;
  int levels;                                         /* that a block makes, one from the other */
  ConvolveShrinkRange ranges[CONVOLVE_SHRINK_LEVELS]; /* theirs */
};

/* The source as floats, or level 1 of the vertical axis: rows first .. end - 1, whose pixels stand where P says. */
template <typename T, bool HALVES, int P>
static __device__ __forceinline__ void
take_source (const ConvolveImage &image, const Pass &pass, int element, int first, int end)
{
  constexpr int count = HALVES ? 2 * SOURCE_ROWS + 3 : SOURCE_ROWS;
  const int x = pass.columns.range.first + element / pass.samples, k = element % pass.samples;
  const int y = HALVES ? 2 * (pass.first + first) - 2 : pass.first + first;
  float *to = pass.to + (int64_t) first * pass.to_length + element;
  float values[count];

#pragma unroll
  for (int i = 0; i < count; i++)
    values[i] = convolve_load<T, P> (image, x, y + i, k) - pass.middle;
#pragma unroll
  for (int i = 0; i < SOURCE_ROWS; i++)
    if (first + i < end)
      to[(int64_t) i * pass.to_length] = HALVES ? CONVOLVE_SHRINK_HALVE (values[2 * i], values[2 * i + 1],
                                             values[2 * i + 2], values[2 * i + 3], values[2 * i + 4])
                                                : values[i];
}

template <typename T, bool HALVES>
__global__ void __launch_bounds__ (THREADS)
    convolve_shrink_source (const __grid_constant__ ConvolveImage image, const __grid_constant__ Pass pass)
{
  const int element = blockIdx.x * THREADS + threadIdx.x;
  const int left = pass.columns.range.first, right = left + pass.columns.range.count;

  if (element >= pass.to_length)
    return;
  for (int row = blockIdx.y * SOURCE_ROWS; row < pass.rows; row += gridDim.y * SOURCE_ROWS) {
    const int y = HALVES ? 2 * (pass.first + row) - 2 : pass.first + row;
    const int below = y + (HALVES ? 2 * SOURCE_ROWS + 3 : SOURCE_ROWS);

    if (left >= 0 && right <= image.width && y >= 0 && below <= image.height)
      take_source<T, HALVES, CONVOLVE_INSIDE> (image, pass, element, row, pass.rows);
    else
      take_source<T, HALVES, CONVOLVE_ANYWHERE> (image, pass, element, row, pass.rows);
  }
}

/* Pixel m down a column: `from` is its element in the first row in memory. */
static __device__ __forceinline__ float
down (const float *from, int64_t length, ConvolveShrinkRange range, int m)
{
  return from[convolve_shrink_place (range, m) * length];
}

/* The pixel of the next level that pixel 2m of this one is the middle of. */
static __device__ __forceinline__ float
halve_down (const float *from, int64_t length, ConvolveShrinkRange range, int m)
{
  return CONVOLVE_SHRINK_HALVE (down (from, length, range, 2 * m - 2), down (from, length, range, 2 * m - 1),
      down (from, length, range, 2 * m), down (from, length, range, 2 * m + 1), down (from, length, range, 2 * m + 2));
}

/* Sample k of pixel m along a row. `outside` is its level where there is no pixel. */
static __device__ __forceinline__ float
across (const float *from, const ConvolveShrinkColumns &columns, int samples, float outside, int m, int k)
{
  const int x = convolve_shrink_column (&columns, m);

  return x < 0 ? outside : from[x * samples + k];
}

static __device__ __forceinline__ float
halve_across (const float *from, const ConvolveShrinkColumns &columns, int samples, float outside, int m, int k)
{
  return CONVOLVE_SHRINK_HALVE (across (from, columns, samples, outside, 2 * m - 2, k),
      across (from, columns, samples, outside, 2 * m - 1, k), across (from, columns, samples, outside, 2 * m, k),
      across (from, columns, samples, outside, 2 * m + 1, k), across (from, columns, samples, outside, 2 * m + 2, k));
}

/* The next level of an axis. */
template <bool ALONG_ROWS>
__global__ void __launch_bounds__ (THREADS)
    convolve_shrink_halve (const __grid_constant__ ConvolveImage image, const __grid_constant__ Pass pass)
{
  const int element = blockIdx.x * THREADS + threadIdx.x;
  const int pixel = element / pass.samples, k = element % pass.samples;

  if (element >= pass.to_length)
    return;
  for (int row = blockIdx.y; row < pass.rows; row += gridDim.y)
    pass.to[(int64_t) row * pass.to_length + element] = ALONG_ROWS
        ? halve_across (pass.from + (int64_t) row * pass.from_length, pass.columns, pass.samples,
            image.zero[k] - pass.middle, pass.first + pixel, k)
        : halve_down (pass.from + element, pass.from_length, pass.range, pass.first + row);
}

/* All levels of the vertical axis that are left. */
__global__ void __launch_bounds__ (ALL_THREADS)
    convolve_shrink_columns (const __grid_constant__ ConvolveImage image, const __grid_constant__ Pass pass)
{
  extern __shared__ float memory[];
  const int column = threadIdx.x % STRIP, element = blockIdx.x * STRIP + column;
  const float *from = pass.from + element;
  int64_t length = pass.from_length;
  ConvolveShrinkRange range = pass.range;

  for (int l = 0; l < pass.levels; l++) {
    const bool last = l == pass.levels - 1;
    float *to = last ? pass.to + element : memory + (l % 2 ? pass.ranges[0].count * STRIP : 0) + column;
    const int64_t to_length = last ? pass.to_length : STRIP;

    if (element < pass.to_length)
      for (int row = threadIdx.x / STRIP; row < pass.ranges[l].count; row += ALL_THREADS / STRIP)
        to[row * to_length] = halve_down (from, length, range, pass.ranges[l].first + row);
    __syncthreads ();
    from = to;
    length = to_length;
    range = pass.ranges[l];
  }
}

/* All levels of the horizontal axis that are left, and the sums of the shrunk picture. */
__global__ void __launch_bounds__ (ALL_THREADS)
    convolve_shrink_rows (const __grid_constant__ ConvolveImage image, const __grid_constant__ Pass pass)
{
  extern __shared__ float memory[];

  for (int row = blockIdx.y; row < pass.rows; row += gridDim.y) {
    const float *from = pass.from + (int64_t) row * pass.from_length;
    ConvolveShrinkColumns columns = pass.columns;

    for (int l = 0; l < pass.levels; l++) {
      const ConvolveShrinkRange range = pass.ranges[l];
      float *to = memory + (l % 2 ? pass.ranges[0].count * pass.samples : 0);

      for (int i = threadIdx.x; i < range.count * pass.samples; i += ALL_THREADS) {
        const int k = i % pass.samples;

        to[i] =
            halve_across (from, columns, pass.samples, image.zero[k] - pass.middle, range.first + i / pass.samples, k);
      }
      __syncthreads ();
      from = to;
      columns.of_source = false;
      columns.range = range;
    }
    for (int i = threadIdx.x; i < pass.to_length; i += ALL_THREADS) {
      const int m = pass.first + i / pass.samples, k = i % pass.samples;
      const float outside = image.zero[k] - pass.middle;
      float sum = 0;

#pragma unroll 4
      for (int n = pass.radius; n > 0; n--)
        sum = CONVOLVE_SHRINK_ADD (sum,
            CONVOLVE_SHRINK_PRODUCT (pass.taps[n],
                CONVOLVE_SHRINK_ADD (across (from, columns, pass.samples, outside, m - n, k),
                    across (from, columns, pass.samples, outside, m + n, k))));
      pass.to[(int64_t) row * pass.to_length + i] = CONVOLVE_SHRINK_ADD (sum,
          CONVOLVE_SHRINK_PRODUCT (pass.taps[0], across (from, columns, pass.samples, outside, m, k)));
    }
    __syncthreads ();
  }
}

/* The sums down the columns of the shrunk picture. */
__global__ void __launch_bounds__ (THREADS)
    convolve_shrink_sum (const __grid_constant__ ConvolveImage image, const __grid_constant__ Pass pass)
{
  const int element = blockIdx.x * THREADS + threadIdx.x;
  const float *from = pass.from + element;

  if (element >= pass.to_length)
    return;
  for (int row = blockIdx.y; row < pass.rows; row += gridDim.y) {
    const int m = pass.first + row;
    float sum = 0;

#pragma unroll 4
    for (int n = pass.radius; n > 0; n--)
      sum = CONVOLVE_SHRINK_ADD (sum,
          CONVOLVE_SHRINK_PRODUCT (pass.taps[n],
              CONVOLVE_SHRINK_ADD (down (from, pass.from_length, pass.range, m - n),
                  down (from, pass.from_length, pass.range, m + n))));
    pass.to[(int64_t) row * pass.to_length + element] =
        CONVOLVE_SHRINK_ADD (sum, CONVOLVE_SHRINK_PRODUCT (pass.taps[0], down (from, pass.from_length, pass.range, m)));
  }
}

/* The last pass. */
struct Enlarging
{
  const float *from;
  int length; /* elements of a row */
  int samples, x_levels, y_levels;
  int first_x, first_y;             /* the pixel of the shrunk picture that comes first */
  const float *x_phases, *y_phases; /* as in ConvolveShrinkAxis */
  float own, blurred, middle, maximum;
  float offset[CONVOLVE_MAX_SAMPLES];
};

template <typename T>
__global__ void __launch_bounds__ (THREADS)
    convolve_shrink_enlarge (const __grid_constant__ ConvolveImage image, const __grid_constant__ Enlarging task)
{
  const int element = blockIdx.x * THREADS + threadIdx.x;
  const int x = image.x0 + element / task.samples, k = element % task.samples;

  if (x >= image.x1)
    return;
  const float *x_weights = task.x_phases + 4 * (x & ((1 << task.x_levels) - 1));
  const int left = ((x >> task.x_levels) - 1 - task.first_x) * task.samples + k;
  const bool selected = image.select >> k & 1;
  int before = -1;
  float rows[4];

  /* The rows of results are aligned, so that they are of one row of the shrunk picture where that is possible. */
  for (int group = image.y0 / ROWS + blockIdx.y; group * ROWS < image.y1; group += gridDim.y)
    for (int y = max (group * ROWS, image.y0); y < min (group * ROWS + ROWS, image.y1); y++) {
      if (!selected) {
        *convolve_destination<T> (image, x, y, k) = *convolve_source<T> (image, x, y, k);
        continue;
      }
      const int top = (y >> task.y_levels) - 1 - task.first_y;

      if (top != before)
        for (int i = 0; i < 4; i++) {
          const float *at = task.from + (int64_t) (top + i) * task.length + left;

          rows[i] =
              CONVOLVE_SHRINK_BETWEEN (x_weights, at[0], at[task.samples], at[2 * task.samples], at[3 * task.samples]);
        }
      before = top;
      const float *weights = task.y_phases + 4 * (y & ((1 << task.y_levels) - 1));
      const float blur = CONVOLVE_SHRINK_BETWEEN (weights, rows[0], rows[1], rows[2], rows[3]);
      const float sample = task.own == 0 ? 0 : convolve_load<T, CONVOLVE_INSIDE> (image, x, y, k) - task.middle;
      float value = CONVOLVE_SHRINK_RESULT (task.own, sample, task.blurred, blur, task.offset[k]);

      value = value > 0 ? value : 0;
      convolve_store_value<T> (image, x, y, k, (unsigned) (value < task.maximum ? value : task.maximum));
    }
}

/* --- the host --- */

/* What the plan has on the device. */
struct Tables
{
  ConvolveShrinkAxis x, y;
};

ConvolveStatus
convolve_shrink_load (ConvolvePlan *plan, ConvolveError *error)
{
  const Tables tables = { plan->shrink->x, plan->shrink->y };

  return convolve_device_put (plan->device, &tables, sizeof (tables), &plan->device_memory, error);
}

/* One convolve_run (). The passes go from one half of the scratch memory to the other. */
struct Run
{
  const ConvolvePlan *plan;
  ConvolveImage image;
  ConvolveShrinkRange x[CONVOLVE_SHRINK_LEVELS + 1], y[CONVOLVE_SHRINK_LEVELS + 1], x_cells, y_cells;
  Pass pass;
  float *memory[2];
  int next; /* the half that is written next */
};

static ConvolveStatus
enqueue (const Run *run, const void *kernel, dim3 blocks, int threads, size_t shared, void *task, ConvolveError *error)
{
  void *arguments[] = { (void *) &run->image, task };

  if (blocks.y > CONVOLVE_MOST_BLOCKS_DOWN)
    blocks.y = CONVOLVE_MOST_BLOCKS_DOWN;
  return convolve_enqueue (run->plan->device, { kernel, blocks, dim3 (threads), shared, false, false }, arguments,
      "shrink", error);
}

static unsigned
blocks_of (int elements, int each)
{
  return (unsigned) (elements + each - 1) / each;
}

/* Lets the next pass make `rows` rows of `length` elements, from what the pass before has made. */
static Pass *
turn (Run *run, int length, int rows, int first)
{
  Pass *pass = &run->pass;

  pass->from = pass->to;
  pass->from_length = pass->to_length;
  pass->to = run->memory[run->next];
  pass->to_length = length;
  pass->rows = rows;
  pass->first = first;
  run->next ^= 1;
  return pass;
}

static ConvolveStatus
make (Run *run, const void *kernel, int length, int rows, int first, int rows_each, ConvolveError *error)
{
  Pass *pass = turn (run, length, rows, first);

  return enqueue (run, kernel, dim3 (blocks_of (length, THREADS), blocks_of (rows, rows_each)), THREADS, 0, pass,
      error);
}

/* Takes `levels` levels into the next pass, which makes each from the one before. */
static void
take_levels (Run *run, const ConvolveShrinkRange *ranges, int levels)
{
  run->pass.levels = levels;
  for (int l = 0; l < levels; l++)
    run->pass.ranges[l] = ranges[l];
}

/* The bytes of shared memory for so many levels, of which two are in memory at a time. */
static size_t
count_shared (const ConvolveShrinkRange *ranges, int levels, int elements)
{
  const int first = levels > 0 ? ranges[0].count : 0, second = levels > 1 ? ranges[1].count : 0;

  return ((size_t) first + second) * elements * sizeof (float);
}

/* The bytes of each half: of what the passes make, but for the last one. */
static size_t
count_bytes (const Run *run)
{
  const ConvolveShrink *shrink = run->plan->shrink;
  const int y_levels = shrink->y.levels, x_levels = shrink->x.levels;
  const int columns = run->pass.columns.range.count, rows = run->y[y_levels].count;
  int64_t most = (int64_t) run->y[y_levels > 0 ? 1 : 0].count * columns;

  for (int l = 1; l <= y_levels; l++)
    most = (int64_t) run->y[l].count * columns > most ? (int64_t) run->y[l].count * columns : most;
  for (int l = 1; l <= x_levels; l++)
    most = (int64_t) rows * run->x[l].count > most ? (int64_t) rows * run->x[l].count : most;
  most = (int64_t) rows * run->x_cells.count > most ? (int64_t) rows * run->x_cells.count : most;
  most = (int64_t) run->y_cells.count * run->x_cells.count > most ? (int64_t) run->y_cells.count * run->x_cells.count
                                                                  : most;
  return ((size_t) most * run->pass.samples * sizeof (float) + 255) / 256 * 256;
}

static ConvolveStatus
shrink_columns (Run *run, ConvolveError *error)
{
  static const void *const kernels[2][CONVOLVE_N_SAMPLE_TYPES] = {
    { (const void *) convolve_shrink_source<uint8_t, false>, (const void *) convolve_shrink_source<uint16_t, false> },
    { (const void *) convolve_shrink_source<uint8_t, true>, (const void *) convolve_shrink_source<uint16_t, true> },
  };
  const int levels = run->plan->shrink->y.levels, start = levels > 0,
            length = run->pass.columns.range.count * run->pass.samples;
  ConvolveStatus status = make (run, kernels[start][run->plan->pixel.type], length, run->y[start].count,
      run->y[start].first, SOURCE_ROWS, error);

  for (int l = start; l < levels && status == CONVOLVE_OK; l++) {
    const ConvolveShrinkRange *next = &run->y[l + 1];
    const size_t shared = count_shared (next, levels - l - 1, STRIP);

    run->pass.range = run->y[l];
    if (levels - l > 1 && shared <= SHARED) {
      take_levels (run, next, levels - l);
      Pass *pass = turn (run, length, run->y[levels].count, run->y[levels].first);

      return enqueue (run, (const void *) convolve_shrink_columns, dim3 (blocks_of (length, STRIP)), ALL_THREADS,
          shared, pass, error);
    }
    status = make (run, (const void *) convolve_shrink_halve<false>, length, next->count, next->first, 1, error);
  }
  return status;
}

static ConvolveStatus
shrink_rows (Run *run, const Tables *tables, ConvolveError *error)
{
  const int levels = run->plan->shrink->x.levels, rows = run->y[run->plan->shrink->y.levels].count;
  const int samples = run->pass.samples;
  const ConvolveShrinkRange *next = &run->x[1];
  int left = levels;

  for (; count_shared (next, left, samples) > SHARED; left--, next++) {
    ConvolveStatus status =
        make (run, (const void *) convolve_shrink_halve<true>, next->count * samples, rows, next->first, 1, error);

    if (status != CONVOLVE_OK)
      return status;
    run->pass.columns.of_source = false;
    run->pass.columns.range = *next;
  }
  take_levels (run, next, left);
  run->pass.radius = run->plan->shrink->x.radius;
  run->pass.taps = tables->x.taps;
  Pass *pass = turn (run, run->x_cells.count * samples, rows, run->x_cells.first);

  return enqueue (run, (const void *) convolve_shrink_rows, dim3 (1, rows), ALL_THREADS,
      count_shared (next, left, samples), pass, error);
}

static ConvolveStatus
enlarge (Run *run, const Tables *tables, ConvolveError *error)
{
  const ConvolveShrink *shrink = run->plan->shrink;
  const int samples = run->pass.samples, y0 = run->image.y0 / ROWS, y1 = (run->image.y1 + ROWS - 1) / ROWS;
  Enlarging task = { .samples = samples };
  ConvolveStatus status;

  run->pass.radius = shrink->y.radius;
  run->pass.taps = tables->y.taps;
  run->pass.range = run->y[shrink->y.levels];
  status = make (run, (const void *) convolve_shrink_sum, run->x_cells.count * samples, run->y_cells.count,
      run->y_cells.first, 1, error);
  if (status != CONVOLVE_OK)
    return status;
  task.from = run->pass.to;
  task.length = run->pass.to_length;
  task.x_levels = shrink->x.levels;
  task.y_levels = shrink->y.levels;
  task.first_x = run->x_cells.first;
  task.first_y = run->y_cells.first;
  task.x_phases = tables->x.phases;
  task.y_phases = tables->y.phases;
  task.own = shrink->own;
  task.blurred = shrink->blurred;
  task.middle = shrink->middle;
  task.maximum = shrink->maximum;
  memcpy (task.offset, shrink->offset, sizeof (task.offset));
  return enqueue (run,
      run->plan->pixel.type == CONVOLVE_SAMPLE_U8 ? (const void *) convolve_shrink_enlarge<uint8_t>
                                                  : (const void *) convolve_shrink_enlarge<uint16_t>,
      dim3 (blocks_of ((run->image.x1 - run->image.x0) * samples, THREADS), y1 - y0), THREADS, 0, &task, error);
}

ConvolveStatus
convolve_shrink_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolveShrink *shrink = plan->shrink;
  const ConvolveRect *region = &plane->region;
  const Tables *tables = (const Tables *) plan->device_memory; /* only addresses of its members are taken */
  ConvolveEntry entry (plan->device, error);
  ConvolveStatus status = entry.status;
  Run run = { plan };
  cudaError_t code;
  void *scratch;

  if (status != CONVOLVE_OK)
    return status;
  convolve_image_init (&run.image, plan, plane);
  convolve_shrink_find_ranges (&shrink->x, plan->boundary, plane->width, region->x, region->x + region->width, run.x);
  convolve_shrink_find_ranges (&shrink->y, plan->boundary, plane->height, region->y, region->y + region->height, run.y);
  run.x_cells = convolve_shrink_cells (shrink->x.levels, region->x, region->x + region->width);
  run.y_cells = convolve_shrink_cells (shrink->y.levels, region->y, region->y + region->height);
  run.pass.samples = plan->pixel.samples;
  run.pass.middle = shrink->middle;
  run.pass.columns.of_source = true;
  run.pass.columns.boundary = plan->boundary;
  run.pass.columns.n = plane->width;
  run.pass.columns.range = convolve_shrink_find_source (run.x[0], plan->boundary, plane->width);
  const size_t bytes = count_bytes (&run);

  status = convolve_device_scratch (plan->device, 2 * bytes, &scratch, error);
  if (status != CONVOLVE_OK)
    return status;
  if ((code = convolve_frame_enqueue (plan->device, PHASE_KERNEL)) != cudaSuccess)
    return convolve_device_fail (plan->device, code, "shrink", error);
  run.memory[0] = (float *) scratch;
  run.memory[1] = (float *) ((char *) scratch + bytes);
  status = shrink_columns (&run, error);
  if (status == CONVOLVE_OK)
    status = shrink_rows (&run, tables, error);
  return status == CONVOLVE_OK ? enlarge (&run, tables, error) : status;
}
