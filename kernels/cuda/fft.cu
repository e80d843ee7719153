/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overlap-save. A plane is cut in columns, lanes, of as many outputs as a transform has points beyond the mask's own;
 * a lane goes down the plane in tiles of the same kind. Two lanes are one complex plane, for the mask is real. Their
 * rows are transformed; then a tile's columns are, multiplied by the mask's spectrum, and transformed back;
 * then rows are. A row belongs to all tiles that reach it, so only lanes do anything twice there.
 */
#include "cuda/fft_transform.cuh"
#include "cuda/launch.cuh"

/*
 * Threads of a block of rows, and columns in a block of columns, half of them where they are doubles: 64 bytes of a
 * row. And how many blocks a multiprocessor is to hold, which sets the registers: as few as spill nothing.
 */
#define ROW_THREADS 128
#define ROW_BLOCKS 8
#define COLUMNS 8
#define COLUMN_BLOCKS 3
#define MOST_BYTES ((size_t) 128 << 20) /* of spectra at once; a larger plane is done in parts */

/* A part of a plane, or all of it. */
struct Task
{
  const void *spectrum, *roots; /* complex: the mask's, [place][place]; of the transforms */
  void *before, *after;         /* [pair][row][place]: spectra of rows that are read, and of those that are written */
  int lanes, first_pair;        /* of the whole plane; of this part */
  int columns;                  /* lanes of one sample */
  int samples[CONVOLVE_MAX_SAMPLES]; /* that are convolved, the lanes of one after the other */
  unsigned copied;                   /* the others */
  int lane_width, tile_height;       /* outputs */
  int y, rows_before, rows_after;
  int middle; /* is taken off all samples */
  ConvolveBoundary boundary;
  bool bytes, planar, integers;       /* samples of 8 bits; with nothing between them; sums are integers */
  double constant;                    /* to a sum, for the middle */
  float offset[CONVOLVE_MAX_SAMPLES]; /* of the tail, where sums are float, with the constant */
};

/* A small integer as it lies in the low bits of a float that has just these beyond its large power of two. */
static __device__ __forceinline__ void
set_level (float &level, unsigned value, int middle)
{
  level = __uint_as_float (0x4B000000 | value) - (8388608.0f + middle);
}

static __device__ __forceinline__ void
set_level (double &level, unsigned value, int middle)
{
  level = __hiloint2double (0x43300000, value) - (4503599627370496.0 + middle);
}

template <typename T>
static __device__ __forceinline__ unsigned
value_of (const ConvolveImage &image, unsigned word)
{
  return sizeof (T) == 1 ? word : min (convolve_swap (image, word) >> image.shift, (unsigned) image.maximum);
}

/* Points t + 16 j of a lane's row. What is near an edge is collected in shared memory first. */
template <typename T, bool PLANAR, typename Real>
static __device__ __forceinline__ void
load_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, Real *shared, Real (&levels)[HELD])
{
  const int sample = task.samples[lane / task.columns], zero = (int) image.zero[sample];
  const int x = image.x0 - image.mask_width / 2 + lane % task.columns * task.lane_width;
  const int y = convolve_boundary_index (task.boundary, task.y + row - image.mask_height / 2, image.height);
  const int stride = PLANAR ? (int) sizeof (T) : image.pixel_stride;
  const uint8_t *line = image.source + max (y, 0) * image.source_stride + sample * (int) sizeof (T);

  if (x >= 0 && x + POINTS <= image.width) {
    line += (unsigned) ((x + t) * stride);
#pragma unroll
    for (int j = 0; j < HELD; j++)
      set_level (levels[j], value_of<T> (image, __ldg ((const T *) (line + THREADS * stride * j))), task.middle);
    if (y < 0)
#pragma unroll
      for (int j = 0; j < HELD; j++)
        set_level (levels[j], zero, task.middle);
    return;
  }
#pragma unroll 1
  for (int i = t; i < POINTS; i += THREADS) {
    int at = convolve_boundary_index (task.boundary, x + i, image.width);
    unsigned value = zero;

    if (at >= 0 && y >= 0)
      value = value_of<T> (image, *(const T *) (line + (unsigned) (at * stride)));
    set_level (shared[i], value, task.middle);
  }
  __syncwarp ();
#pragma unroll
  for (int j = 0; j < HELD; j++)
    levels[j] = shared[t + THREADS * j];
}

/* A sum with the tail's offset becomes the sample; conversion to a byte clamps and rounds down by itself. */
template <typename T>
static __device__ __forceinline__ unsigned
result_of (const ConvolveImage &image, const Task &task, int sample, float value)
{
#ifdef __CUDA_ARCH__
  if (sizeof (T) == 1) {
    unsigned byte;

    asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(byte) : "f"(value));
    return byte;
  }
#endif
  return (unsigned) fminf (fmaxf (value, 0), image.tail.maximum);
}

template <typename T>
static __device__ __forceinline__ unsigned
result_of (const ConvolveImage &image, const Task &task, int sample, double sum)
{
  return convolve_tail_double (&image.tail, sample, sum);
}

/* Values are made for all points and stored where they are outputs: branches would cost more. */
template <typename T, bool PLANAR, typename Real>
static __device__ __forceinline__ void
store_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, const Real (&sums)[HELD])
{
  const int sample = task.samples[lane / task.columns], left = lane % task.columns * task.lane_width;
  const int end = min (task.lane_width, image.x1 - image.x0 - left) - t;
  const int stride = PLANAR ? (int) sizeof (T) : image.pixel_stride;
  const Real shift = sizeof (Real) == sizeof (float) ? (Real) task.offset[sample] : (Real) task.constant;
  const bool whole = task.integers;
  uint8_t *at = image.destination + (task.y + row) * image.destination_stride + sample * (int) sizeof (T)
      + (unsigned) ((image.x0 + left + t) * stride);

#pragma unroll
  for (int j = 0; j < HELD; j++) {
    Real sum = sizeof (Real) > sizeof (float) && whole ? rint (sums[j]) : sums[j];
    unsigned value = result_of<T> (image, task, sample, sum + shift);

    if (sizeof (T) > 1)
      value = convolve_swap (image, value << image.shift);
    if (THREADS * j < end)
      *(T *) (at + THREADS * stride * j) = (T) value;
  }
}

/* Calls for the lane's kind of samples, if there is such a lane. */
#define FOR_LANE(function, ...) \
  if (task.bytes && task.planar) \
    function<uint8_t, true> (__VA_ARGS__); \
  else if (task.bytes) \
    function<uint8_t, false> (__VA_ARGS__); \
  else if (task.planar) \
    function<uint16_t, true> (__VA_ARGS__); \
  else \
    function<uint16_t, false> (__VA_ARGS__)

template <typename Real>
static __device__ __forceinline__ void
load_any_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, Real *shared,
    Real (&levels)[HELD])
{
  if (lane < task.lanes) {
    FOR_LANE (load_lane, image, task, lane, row, t, shared, levels);
    return;
  }
#pragma unroll
  for (int j = 0; j < HELD; j++)
    levels[j] = 0;
}

template <typename Real>
static __device__ __forceinline__ void
store_any_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, const Real (&sums)[HELD])
{
  if (lane < task.lanes) {
    FOR_LANE (store_lane, image, task, lane, row, t, sums);
  }
}

/* The idea: a row of two lanes is one complex row; a few threads transform it, which they do without any block. */
template <typename Real>
__global__ void __launch_bounds__ (ROW_THREADS, sizeof (Real) == 4 ? ROW_BLOCKS : 2)
    convolve_fft_rows (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  const int t = threadIdx.x % THREADS, row = blockIdx.x * (ROW_THREADS / THREADS) + threadIdx.x / THREADS;
  const int lane = 2 * (task.first_pair + blockIdx.y), last = min (row, task.rows_before - 1);
  Complex<Real> *cells = (Complex<Real> *) shared + threadIdx.x / THREADS * POINTS;
  Complex<Real> *to = (Complex<Real> *) task.before + ((size_t) blockIdx.y * task.rows_before + row) * POINTS + t;
  Points<Real> points;

  convolve_wait ();
  load_any_lane (image, task, lane, last, t, (Real *) cells, points.x);
  load_any_lane (image, task, lane + 1, last, t, (Real *) cells + POINTS, points.y);
  __syncwarp ();
  transform_all (points, cells, 1, (const Complex<Real> *) task.roots, t, [] { __syncwarp (); });
  if (row < task.rows_before)
#pragma unroll
    for (int i = 0; i < HELD; i++)
      to[i * THREADS] = { points.x[i], points.y[i] };
}

/* The idea: columns side by side, so that memory is read in whole lines, forth, times the mask's spectrum, and back. */
template <int N, typename Real>
__global__ void __launch_bounds__ (N *THREADS, COLUMN_BLOCKS)
    convolve_fft_columns (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  constexpr int step = THREADS * POINTS;
  const int column = threadIdx.x % N, t = threadIdx.x / N, place = blockIdx.x * N + column;
  const int first = blockIdx.y * task.tile_height, inside = task.rows_before - first - t;
  const int outputs = min (task.tile_height, task.rows_after - first) - t;
  const Complex<Real> *from =
      (const Complex<Real> *) task.before + ((size_t) blockIdx.z * task.rows_before + first + t) * POINTS + place;
  const Complex<Real> *factors = (const Complex<Real> *) task.spectrum + t * POINTS + place;
  Complex<Real> *to =
      (Complex<Real> *) task.after + ((size_t) blockIdx.z * task.rows_after + first + t) * POINTS + place;
  Complex<Real> *cells = (Complex<Real> *) shared + column;
  Points<Real> points;

  convolve_wait ();
  if (inside > POINTS - THREADS) /* all rows are there */
#pragma unroll
    for (int j = 0; j < HELD; j++)
      set_point (points, j, from[j * step]);
  else
#pragma unroll
    for (int j = 0; j < HELD; j++)
      set_point (points, j, THREADS * j < inside ? from[j * step] : Complex<Real>{ 0, 0 });
  transform_all (points, cells, N, (const Complex<Real> *) task.roots, t, [] { __syncthreads (); });
#pragma unroll
  for (int i = 0; i < HELD; i++) {
    Complex<Real> factor = factors[i * step];
    Real x = points.x[i], y = points.y[i];

    points.x[i] = x * factor.x - y * factor.y;
    points.y[i] = y * factor.x + x * factor.y;
  }
  transform_all_back (points, cells, N, (const Complex<Real> *) task.roots, t, [] { __syncthreads (); });
#pragma unroll
  for (int j = 0; j < HELD; j++)
    if (THREADS * j < outputs)
      to[j * step] = { points.x[j], points.y[j] };
}

/* The idea: rows go back as they came, and their two parts are the samples of two lanes. */
template <typename Real>
__global__ void __launch_bounds__ (ROW_THREADS, sizeof (Real) == 4 ? ROW_BLOCKS : 2)
    convolve_fft_rows_back (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  const int t = threadIdx.x % THREADS, row = blockIdx.x * (ROW_THREADS / THREADS) + threadIdx.x / THREADS;
  const int lane = 2 * (task.first_pair + blockIdx.y), last = min (row, task.rows_after - 1);
  const Complex<Real> *from =
      (const Complex<Real> *) task.after + ((size_t) blockIdx.y * task.rows_after + last) * POINTS + t;
  Points<Real> points;

  convolve_wait ();
#pragma unroll
  for (int i = 0; i < HELD; i++)
    set_point (points, i, from[i * THREADS]);
  transform_all_back (points, (Complex<Real> *) shared + threadIdx.x / THREADS * POINTS, 1,
      (const Complex<Real> *) task.roots, t, [] { __syncwarp (); });
  if (row < task.rows_after) {
    store_any_lane (image, task, lane, row, t, points.x);
    store_any_lane (image, task, lane + 1, row, t, points.y);
  }
}

/* The samples that are not convolved, a thread for a pixel. */
__global__ void __launch_bounds__ (256)
    convolve_fft_copy (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  convolve_wait ();
  for (int y = image.y0 + blockIdx.y; y < image.y1; y += gridDim.y)
    for (int x = image.x0 + blockIdx.x * blockDim.x + threadIdx.x; x < image.x1; x += gridDim.x * blockDim.x)
      for (int sample = 0; sample < CONVOLVE_MAX_SAMPLES; sample++)
        if (task.copied >> sample & 1) {
          if (task.bytes)
            *convolve_destination<uint8_t> (image, x, y, sample) = *convolve_source<uint8_t> (image, x, y, sample);
          else
            *convolve_destination<uint16_t> (image, x, y, sample) = *convolve_source<uint16_t> (image, x, y, sample);
        }
}

static int
divided (int64_t a, int64_t b)
{
  return (int) ((a + b - 1) / b);
}

/* The kernels of a plan, and how many threads and how much shared memory they take. */
struct Kernels
{
  const void *rows, *columns, *rows_back;
  int columns_together; /* in a block */
  size_t row_shared, column_shared, bytes_of_row;
};

/* What load () leaves: the plane fills what depends on it. */
struct Loaded
{
  Kernels kernels;
  Task task;
  int samples; /* that are convolved */
};

template <typename Real>
static Kernels
kernels_of (void)
{
  constexpr int columns = COLUMNS * sizeof (float) / sizeof (Real);
  constexpr size_t row_shared = ROW_THREADS * HELD * sizeof (Complex<Real>);
  constexpr size_t column_shared = columns * POINTS * sizeof (Complex<Real>);

  static_assert (row_shared <= 49152 && column_shared <= 49152, "what any kernel may take");
  return { (const void *) convolve_fft_rows<Real>, (const void *) convolve_fft_columns<columns, Real>,
    (const void *) convolve_fft_rows_back<Real>, columns, row_shared, column_shared, POINTS * sizeof (Complex<Real>) };
}

ConvolveStatus
convolve_fft_load (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveFft *fft = (const ConvolveFft *) plan->prepared;
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);
  ConvolveStatus status;

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  if ((status = convolve_fft_put_spectrum (plan, error)) != CONVOLVE_OK)
    return status;
  loaded->kernels = fft->is_double ? kernels_of<double> () : kernels_of<float> ();
  Task *task = &loaded->task;
  task->spectrum = plan->device_memory;
  task->roots = (const char *) plan->device_memory + POINTS * loaded->kernels.bytes_of_row;
  task->middle = (int) fft->middle;
  task->constant = fft->constant;
  for (int i = 0; i < pixel->samples; i++) {
    if (pixel->select >> i & 1)
      task->samples[loaded->samples++] = i;
    else
      task->copied |= 1u << i;
    task->offset[i] = (float) (plan->tail.offset[i] + fft->constant);
  }
  task->lane_width = POINTS - plan->taps.width + 1;
  task->tile_height = POINTS - plan->taps.height + 1;
  task->boundary = plan->boundary;
  task->bytes = pixel->type == CONVOLVE_SAMPLE_U8;
  task->planar = pixel->stride == convolve_sample_size (pixel->type);
  task->integers = plan->exact;
  return CONVOLVE_OK;
}

/* All kernels here begin with convolve_wait (). */
static ConvolveStatus
enqueue (const ConvolvePlan *plan, const void *kernel, dim3 blocks, int threads, size_t shared,
    const ConvolveImage &image, const Task &task, ConvolveError *error)
{
  void *arguments[] = { (void *) &image, (void *) &task };

  return convolve_enqueue (plan->device, { kernel, blocks, dim3 (threads), shared, true }, arguments, "fft", error);
}

/* The three kernels for a part of the plane. */
static ConvolveStatus
run_part (const ConvolvePlan *plan, const ConvolveImage &image, const Task &task, int pairs, ConvolveError *error)
{
  const Kernels &kernels = ((const Loaded *) plan->loaded)->kernels;
  constexpr int rows = ROW_THREADS / THREADS;
  ConvolveStatus status;

  status = enqueue (plan, kernels.rows, dim3 (divided (task.rows_before, rows), pairs), ROW_THREADS, kernels.row_shared,
      image, task, error);
  if (status == CONVOLVE_OK)
    status = enqueue (plan, kernels.columns,
        dim3 (POINTS / kernels.columns_together, divided (task.rows_after, task.tile_height), pairs),
        kernels.columns_together * THREADS, kernels.column_shared, image, task, error);
  if (status == CONVOLVE_OK)
    status = enqueue (plan, kernels.rows_back, dim3 (divided (task.rows_after, rows), pairs), ROW_THREADS,
        kernels.row_shared, image, task, error);
  return status;
}

/* Parts are as many whole pairs of lanes as fit, or, where not even one does, some of its tiles. */
static ConvolveStatus
run_parts (const ConvolvePlan *plan, ConvolveImage &image, Task &task, ConvolveError *error)
{
  const size_t row_bytes = ((const Loaded *) plan->loaded)->kernels.bytes_of_row, most = MOST_BYTES / row_bytes;
  const int halo = plan->taps.height - 1, all_rows = image.y1 - image.y0, all_pairs = divided (task.lanes, 2);
  int pairs = all_pairs, rows = all_rows;
  ConvolveStatus status;
  void *scratch;

  if (all_pairs * (2 * (size_t) all_rows + halo) > most) {
    size_t fit = most / (2 * (size_t) all_rows + halo);

    if (fit == 0) {
      rows = (int) (most - halo) / 2 / task.tile_height * task.tile_height;
      fit = 1;
    }
    pairs = divided (all_pairs, divided (all_pairs, fit));
  }
  status = convolve_device_scratch (plan->device, pairs * (2 * (size_t) rows + halo) * row_bytes, &scratch, error);
  for (int y = 0; y < all_rows && status == CONVOLVE_OK; y += rows) {
    task.y = image.y0 + y;
    task.rows_after = all_rows - y < rows ? all_rows - y : rows;
    task.rows_before = task.rows_after + halo;
    for (int pair = 0; pair < all_pairs && status == CONVOLVE_OK; pair += pairs) {
      int now = all_pairs - pair < pairs ? all_pairs - pair : pairs;

      task.first_pair = pair;
      task.before = scratch;
      task.after = (char *) scratch + (size_t) now * task.rows_before * row_bytes;
      status = run_part (plan, image, task, now, error);
    }
  }
  return status;
}

ConvolveStatus
convolve_fft_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const ConvolveRect *region = &plane->region;
  ConvolveEntry entry (plan->device, error);
  ConvolveStatus status = entry.status;
  ConvolveImage image;
  Task task = loaded->task;
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  if ((code = convolve_frame_enqueue (plan->device, PHASE_KERNEL)) != cudaSuccess)
    return convolve_device_fail (plan->device, code, "fft", error);
  convolve_image_init (&image, plan, plane);
  task.columns = divided (region->width, task.lane_width);
  task.lanes = loaded->samples * task.columns;
  if (task.copied)
    status = enqueue (plan, (const void *) convolve_fft_copy,
        dim3 (divided (region->width, 256), region->height < 4096 ? region->height : 4096), 256, 0, image, task, error);
  return loaded->samples == 0 || status != CONVOLVE_OK ? status : run_parts (plan, image, task, error);
}
