/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolution by overlap-save. The plane is cut into tiles of 512 x 512 samples, which overlap by the mask's side less
 * 1. A cyclic convolution of a tile gives the right sums in its first tile_width columns and tile_height rows; these
 * are the outputs of the tile. Tiles below each other are a tile column.
 *
 *     tile column 0   |<-------------- 512 samples -------------->|
 *                     |<------ tile_width outputs ------>|        |
 *     tile column 1                                      |<-------------- 512 samples -------------->|
 *                                                        |<------ tile_width outputs ------>|
 *
 * Two tile columns are a pair and are done as one complex plane: tile column 0 is its real part, tile column 1 its
 * imaginary part.
 *
 * Three kernels run one after the other:
 * - convolve_fft_rows () transforms the rows of each pair of tile columns. All tiles of a column share a row's
 *   spectrum, so a row in the overlap of two tiles is transformed once.
 * - convolve_fft_columns () transforms the columns of each tile, multiplies them by the mask's spectrum and transforms
 *   them back.
 * - convolve_fft_rows_back () transforms the rows back. The real part has the outputs of the first tile column and the
 *   imaginary part those of the second, because the mask is real.
 */
#include "common/numbers.h"
#include "cuda/fourier/fft_transform.cuh"
#include "cuda/device/launch.cuh"

#define HIGH_BITS_OF_2_52 0x43300000 /* of the double CONVOLVE_2_52, whose last place is 1 */

#define ROW_THREADS 128 /* of a block that transforms rows: 4 rows of 32 threads */
#define COLUMNS 8       /* that a block transforms together, half of them with doubles: 64 bytes of a row */

/*
 * Blocks that a multiprocessor is to hold at once, which limits the registers of a thread: the largest numbers with
 * which no register is spilled to memory.
 */
#define ROW_BLOCKS 8
#define COLUMN_BLOCKS 3
#define MOST_BYTES ((size_t) 128 << 20) /* of spectra; a plane that needs more is done in parts */

/* The kernels' second parameter, for a plane or a part of a plane. Pointers are to complex numbers in device memory. */
struct Task
{
  const void *spectrum;       /* of the mask: [place of a column][place of a row] */
  const void *twiddles;       /* of the transforms: [k][thread] */
  void *before, *after;       /* spectra of rows of input and of rows of output: [pair][row][place] */
  const void *lower_spectrum; /* where the taps have two parts: the spectrum of the lower one, and its outputs */
  void *lower_after;
  double unit;                       /* of the upper one */
  int tile_columns;                  /* of all samples of the plane */
  int first_pair;                    /* of tile columns, in this part */
  int columns_per_sample;            /* tile columns of one sample */
  int samples[CONVOLVE_MAX_SAMPLES]; /* the convolved samples, in the order of their tile columns */
  unsigned copied;                   /* bit i: sample i is copied */
  int tile_width, tile_height;       /* outputs of a tile */
  int y;                             /* the first row of outputs of this part */
  int rows_before, rows_after;       /* rows of input and of output of this part */
  int middle;                        /* subtracted from all samples */
  ConvolveBoundary boundary;
  bool bytes;                         /* samples have 8 bits */
  bool planar;                        /* a pixel is one sample, without padding */
  bool integers;                      /* the sums of the plan are integers */
  double constant;                    /* added to a sum, because the middle was subtracted */
  float offset[CONVOLVE_MAX_SAMPLES]; /* of the tail with the constant, where sums are float */
};

/*
 * The value less the middle. The value is put into the low bits of the float 2^23 or the double 2^52, whose last place
 * is 1: that is cheaper than the conversion of an integer.
 */
static __device__ __forceinline__ void
set_level (float &level, unsigned value, int middle)
{
  level = __uint_as_float (CONVOLVE_2_23_BITS | value) - (CONVOLVE_2_23 + middle);
}

static __device__ __forceinline__ void
set_level (double &level, unsigned value, int middle)
{
  level = __hiloint2double (HIGH_BITS_OF_2_52, value) - (CONVOLVE_2_52 + middle);
}

/* The value of a sample that was loaded as a word, at most the largest value of its depth. */
template <typename T>
static __device__ __forceinline__ unsigned
value_of (const ConvolveImage &image, unsigned word)
{
  return sizeof (T) == 1 ? word : min (convolve_swap (image, word) >> image.shift, (unsigned) image.maximum);
}

/*
 * Loads the points t + 32 j of one row of a tile column. Rows that extend outside the image are put together in shared
 * memory first, with the boundary applied.
 */
template <typename T, bool PLANAR, typename Real>
static __device__ __forceinline__ void
load_row (const ConvolveImage &image, const Task &task, int tile_column, int row, int t, Real *shared,
    Real (&levels)[HELD])
{
  const int sample = task.samples[tile_column / task.columns_per_sample], zero = (int) image.zero[sample];
  const int x = image.x0 - image.mask_width / 2 + tile_column % task.columns_per_sample * task.tile_width;
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

/* The sample of a float sum that has the tail's offset. The conversion to a byte clamps and rounds down in hardware. */
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

/* The sample of a double sum. */
template <typename T>
static __device__ __forceinline__ unsigned
result_of (const ConvolveImage &image, const Task &task, int sample, double sum)
{
  return convolve_tail_double (&image.tail, sample, sum);
}

/*
 * Stores the outputs among the points t + 32 j of one row of a tile column. Samples are made of all points, although
 * only the first tile_width are outputs, because branches would cost more.
 */
template <typename T, bool PLANAR, typename Real>
static __device__ __forceinline__ void
store_row (const ConvolveImage &image, const Task &task, int tile_column, int row, int t, const Real (&sums)[HELD])
{
  const int sample = task.samples[tile_column / task.columns_per_sample],
            left = tile_column % task.columns_per_sample * task.tile_width;
  const int end = min (task.tile_width, image.x1 - image.x0 - left) - t;
  const int stride = PLANAR ? (int) sizeof (T) : image.pixel_stride;
  const Real shift = sizeof (Real) == sizeof (float) ? (Real) task.offset[sample] : (Real) task.constant;
  const bool integers = task.integers;
  uint8_t *at = image.destination + (task.y + row) * image.destination_stride + sample * (int) sizeof (T)
      + (unsigned) ((image.x0 + left + t) * stride);

#pragma unroll
  for (int j = 0; j < HELD; j++) {
    Real sum = sizeof (Real) > sizeof (float) && integers ? rint (sums[j]) : sums[j];
    unsigned value = result_of<T> (image, task, sample, sum + shift);

    if (sizeof (T) > 1)
      value = convolve_swap (image, value << image.shift);
    if (THREADS * j < end)
      *(T *) (at + THREADS * stride * j) = (T) value;
  }
}

/* Calls a function template for the plane's type of samples. */
#define FOR_SAMPLES(function, ...) \
  if (task.bytes && task.planar) \
    function<uint8_t, true> (__VA_ARGS__); \
  else if (task.bytes) \
    function<uint8_t, false> (__VA_ARGS__); \
  else if (task.planar) \
    function<uint16_t, true> (__VA_ARGS__); \
  else \
    function<uint16_t, false> (__VA_ARGS__)

/*
 * Loads a row of a tile column for any type of samples. The last pair may have only one tile column; the other one is
 * 0.
 */
template <typename Real>
static __device__ __forceinline__ void
load_any_row (const ConvolveImage &image, const Task &task, int tile_column, int row, int t, Real *shared,
    Real (&levels)[HELD])
{
  if (tile_column < task.tile_columns) {
    FOR_SAMPLES (load_row, image, task, tile_column, row, t, shared, levels);
    return;
  }
#pragma unroll
  for (int j = 0; j < HELD; j++)
    levels[j] = 0;
}

/* Stores a row of a tile column for any type of samples. */
template <typename Real>
static __device__ __forceinline__ void
store_any_row (const ConvolveImage &image, const Task &task, int tile_column, int row, int t, const Real (&sums)[HELD])
{
  if (tile_column < task.tile_columns) {
    FOR_SAMPLES (store_row, image, task, tile_column, row, t, sums);
  }
}

/*
 * The idea: a row of a pair of tile columns is one complex row, which a warp transforms without waiting for other
 * warps. A warp without a row takes the last row again, and stores nothing.
 */
template <typename Real>
__global__ void __launch_bounds__ (ROW_THREADS, sizeof (Real) == 4 ? ROW_BLOCKS : 2)
    convolve_fft_rows (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  const int t = threadIdx.x % THREADS, row = blockIdx.x * (ROW_THREADS / THREADS) + threadIdx.x / THREADS;
  const int tile_column = 2 * (task.first_pair + blockIdx.y), last = min (row, task.rows_before - 1);
  Complex<Real> *cells = (Complex<Real> *) shared + threadIdx.x / THREADS * POINTS;
  Complex<Real> *to = (Complex<Real> *) task.before + ((size_t) blockIdx.y * task.rows_before + row) * POINTS + t;
  Points<Real> points;

  convolve_wait ();
  load_any_row (image, task, tile_column, last, t, (Real *) cells, points.x);
  load_any_row (image, task, tile_column + 1, last, t, (Real *) cells + POINTS, points.y);
  __syncwarp ();
  transform_512 (points, cells, 1, (const Complex<Real> *) task.twiddles, t, [] { __syncwarp (); });
  if (row < task.rows_before)
#pragma unroll
    for (int i = 0; i < HELD; i++)
      to[i * THREADS] = { points.x[i], points.y[i] };
}

/*
 * The idea: a block transforms N neighbouring columns of a tile, so that memory is read in full lines; the product
 * with the mask's spectrum and the inverse transform follow in the same registers.
 */
template <int N, typename Real>
__global__ void __launch_bounds__ (N *THREADS, COLUMN_BLOCKS)
    convolve_fft_columns (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  constexpr int stride = THREADS * POINTS; /* between the points of a thread */
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
  if (inside > POINTS - THREADS) /* all rows of the tile exist */
#pragma unroll
    for (int j = 0; j < HELD; j++)
      set_point (points, j, from[j * stride]);
  else
#pragma unroll
    for (int j = 0; j < HELD; j++)
      set_point (points, j, THREADS * j < inside ? from[j * stride] : Complex<Real>{ 0, 0 });
  transform_512 (points, cells, N, (const Complex<Real> *) task.twiddles, t, [] { __syncthreads (); });
#pragma unroll
  for (int i = 0; i < HELD; i++) {
    Complex<Real> factor = factors[i * stride];
    Real x = points.x[i], y = points.y[i];

    points.x[i] = x * factor.x - y * factor.y;
    points.y[i] = y * factor.x + x * factor.y;
  }
  inverse_512 (points, cells, N, (const Complex<Real> *) task.twiddles, t, [] { __syncthreads (); });
#pragma unroll
  for (int j = 0; j < HELD; j++)
    if (THREADS * j < outputs)
      to[j * stride] = { points.x[j], points.y[j] };
}

/* Transforms row `last` of this block's pair back, from the spectra in `after`. */
template <typename Real>
static __device__ __forceinline__ void
transform_back (const Task &task, const void *after, int last, int t, Complex<Real> *cells, Points<Real> &points)
{
  const Complex<Real> *from =
      (const Complex<Real> *) after + ((size_t) blockIdx.y * task.rows_after + last) * POINTS + t;

#pragma unroll
  for (int i = 0; i < HELD; i++)
    set_point (points, i, from[i * THREADS]);
  inverse_512 (points, cells, 1, (const Complex<Real> *) task.twiddles, t, [] { __syncwarp (); });
}

/*
 * The idea: the inverse of convolve_fft_rows (); the real and the imaginary part are rows of two tile columns. With two
 * PARTS, the sums of both parts of the taps are integers; each is rounded, and they are added up without an error.
 */
template <typename Real, int PARTS>
__global__ void __launch_bounds__ (ROW_THREADS, sizeof (Real) == 4 ? ROW_BLOCKS : 2)
    convolve_fft_rows_back (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  const int t = threadIdx.x % THREADS, row = blockIdx.x * (ROW_THREADS / THREADS) + threadIdx.x / THREADS;
  const int tile_column = 2 * (task.first_pair + blockIdx.y), last = min (row, task.rows_after - 1);
  Complex<Real> *cells = (Complex<Real> *) shared + threadIdx.x / THREADS * POINTS;
  Points<Real> points;

  convolve_wait ();
  transform_back (task, task.after, last, t, cells, points);
  if (PARTS == 2) {
    const Points<Real> upper = points;

    __syncwarp (); /* the cells are read */
    transform_back (task, task.lower_after, last, t, cells, points);
#pragma unroll
    for (int i = 0; i < HELD; i++) {
      points.x[i] = rint (upper.x[i]) * (Real) task.unit + rint (points.x[i]);
      points.y[i] = rint (upper.y[i]) * (Real) task.unit + rint (points.y[i]);
    }
  }
  if (row < task.rows_after) {
    store_any_row (image, task, tile_column, row, t, points.x);
    store_any_row (image, task, tile_column + 1, row, t, points.y);
  }
}

/* Copies the samples that are not convolved. A thread has one pixel at a time. */
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

/* a / b, rounded up. */
static int
divide_up (int64_t a, int64_t b)
{
  return (int) ((a + b - 1) / b);
}

/* The kernels of one precision and their sizes in bytes. */
struct Kernels
{
  const void *rows, *columns, *rows_back;
  int columns_together;             /* columns that a block transforms */
  size_t row_shared, column_shared; /* shared memory of a block */
  size_t bytes_of_row;              /* of the spectrum of a row */
};

/* plan->loaded. */
struct Loaded
{
  Kernels kernels;
  Task task;   /* all but what depends on the plane */
  int samples; /* the number of samples that are convolved */
  int parts;   /* of the taps */
};

template <typename Real, int PARTS>
static Kernels
kernels_of (void)
{
  constexpr int columns = COLUMNS * sizeof (float) / sizeof (Real);
  constexpr size_t row_shared = ROW_THREADS * HELD * sizeof (Complex<Real>);
  constexpr size_t column_shared = columns * POINTS * sizeof (Complex<Real>);

  static_assert (row_shared <= 48 << 10 && column_shared <= 48 << 10, "kernels take up to 48 KB without asking");
  return { (const void *) convolve_fft_rows<Real>, (const void *) convolve_fft_columns<columns, Real>,
    (const void *) convolve_fft_rows_back<Real, PARTS>, columns, row_shared, column_shared,
    POINTS * sizeof (Complex<Real>) };
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
  loaded->parts = convolve_fft_parts (fft);
  loaded->kernels = !fft->is_double ? kernels_of<float, 1> ()
      : loaded->parts == 1          ? kernels_of<double, 1> ()
                                    : kernels_of<double, 2> ();
  Task *task = &loaded->task;
  task->spectrum = plan->device_memory;
  task->lower_spectrum = (const char *) plan->device_memory + POINTS * loaded->kernels.bytes_of_row;
  task->twiddles = (const char *) plan->device_memory + loaded->parts * POINTS * loaded->kernels.bytes_of_row;
  task->unit = fft->unit;
  task->middle = (int) fft->middle;
  task->constant = fft->constant;
  for (int i = 0; i < pixel->samples; i++) {
    if (pixel->select >> i & 1)
      task->samples[loaded->samples++] = i;
    else
      task->copied |= 1u << i;
    task->offset[i] = (float) (plan->tail.offset[i] + fft->constant);
  }
  task->tile_width = POINTS - plan->taps.width + 1;
  task->tile_height = POINTS - plan->taps.height + 1;
  task->boundary = plan->boundary;
  task->bytes = pixel->type == CONVOLVE_SAMPLE_U8;
  task->planar = pixel->stride == convolve_sample_size (pixel->type);
  task->integers = plan->integers;
  return CONVOLVE_OK;
}

/* Enqueues one kernel. All kernels in this file begin with convolve_wait (). */
static ConvolveStatus
enqueue (const ConvolvePlan *plan, const void *kernel, dim3 blocks, int threads, size_t shared,
    const ConvolveImage &image, const Task &task, ConvolveError *error)
{
  void *arguments[] = { (void *) &image, (void *) &task };

  return convolve_enqueue (plan->device, { kernel, blocks, dim3 (threads), shared, true, false }, arguments, "fft",
      error);
}

/* Enqueues the three kernels for a part of the plane; that of the columns for each part of the taps. */
static ConvolveStatus
run_part (const ConvolvePlan *plan, const ConvolveImage &image, const Task &task, int pairs, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const Kernels &kernels = loaded->kernels;
  constexpr int rows = ROW_THREADS / THREADS;
  Task of_columns = task;
  ConvolveStatus status;

  status = enqueue (plan, kernels.rows, dim3 (divide_up (task.rows_before, rows), pairs), ROW_THREADS,
      kernels.row_shared, image, task, error);
  for (int part = 0; part < loaded->parts && status == CONVOLVE_OK; part++) {
    status = enqueue (plan, kernels.columns,
        dim3 (POINTS / kernels.columns_together, divide_up (task.rows_after, task.tile_height), pairs),
        kernels.columns_together * THREADS, kernels.column_shared, image, of_columns, error);
    of_columns.spectrum = task.lower_spectrum;
    of_columns.after = task.lower_after;
  }
  if (status == CONVOLVE_OK)
    status = enqueue (plan, kernels.rows_back, dim3 (divide_up (task.rows_after, rows), pairs), ROW_THREADS,
        kernels.row_shared, image, task, error);
  return status;
}

/*
 * Runs the plane in parts whose spectra fit into MOST_BYTES. A part has as many pairs of tile columns as fit at full
 * height, or, where not even one fits, as many rows of tiles of one pair as fit.
 */
static ConvolveStatus
run_parts (const ConvolvePlan *plan, ConvolveImage &image, Task &task, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const size_t row_bytes = loaded->kernels.bytes_of_row, most = MOST_BYTES / row_bytes;
  const size_t kept = 1 + loaded->parts; /* spectra of a row: one before, and one after for each part of the taps */
  const int halo = plan->taps.height - 1, all_rows = image.y1 - image.y0, all_pairs = divide_up (task.tile_columns, 2);
  int pairs = all_pairs, rows = all_rows;
  ConvolveStatus status;
  void *scratch;

  if (all_pairs * (kept * all_rows + halo) > most) {
    size_t fit = most / (kept * all_rows + halo);

    if (fit == 0) {
      rows = (int) ((most - halo) / kept) / task.tile_height * task.tile_height;
      fit = 1;
    }
    pairs = divide_up (all_pairs, divide_up (all_pairs, fit));
  }
  status = convolve_device_scratch (plan->device, pairs * (kept * rows + halo) * row_bytes, &scratch, error);
  for (int y = 0; y < all_rows && status == CONVOLVE_OK; y += rows) {
    task.y = image.y0 + y;
    task.rows_after = all_rows - y < rows ? all_rows - y : rows;
    task.rows_before = task.rows_after + halo;
    for (int pair = 0; pair < all_pairs && status == CONVOLVE_OK; pair += pairs) {
      int now = all_pairs - pair < pairs ? all_pairs - pair : pairs;

      task.first_pair = pair;
      task.before = scratch;
      task.after = (char *) scratch + (size_t) now * task.rows_before * row_bytes;
      task.lower_after = (char *) task.after + (size_t) now * task.rows_after * row_bytes;
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
  task.columns_per_sample = divide_up (region->width, task.tile_width);
  task.tile_columns = loaded->samples * task.columns_per_sample;
  if (task.copied)
    status = enqueue (plan, (const void *) convolve_fft_copy,
        dim3 (divide_up (region->width, 256), region->height < 4096 ? region->height : 4096), 256, 0, image, task,
        error);
  return loaded->samples == 0 || status != CONVOLVE_OK ? status : run_parts (plan, image, task, error);
}
