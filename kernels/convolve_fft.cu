/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overlap-save. A plane is cut in columns, lanes, of as many outputs as a transform has points beyond the mask's own;
 * a lane goes down the plane in tiles of the same kind. Two lanes are one complex plane, for the mask is real. Their
 * rows are transformed; then a tile's columns are, multiplied by the mask's spectrum, and transformed back;
 * then rows are. A row belongs to all tiles that reach it, so only lanes do anything twice there.
 */
#include <math.h>
#include <stdlib.h>

#include "convolve_cuda.cuh"
#include "convolve_device.cuh"
#include "convolve_fft_transform.cuh"
#include "convolve_parts.cuh"

#define ROW_THREADS 128
#define MASK_THREADS 128
#define MOST_BYTES ((size_t) 128 << 20) /* of spectra at once; a larger plane is done in parts */

/* A part of a plane, or all of it. */
struct Task
{
  const void *spectrum, *roots_x, *roots_y;     /* complex: the mask's, in both orders of places; of transforms */
  void *before, *after;         /* [pair][row][place]: spectra of rows that are read, and of those that are written */
  int lanes, first_pair;        /* of the whole plane; of this part */
  int columns;                  /* lanes of one sample */
  int samples[CONVOLVE_MAX_SAMPLES];    /* that are convolved, the lanes of one after the other */
  unsigned copied;              /* the others */
  int lane_width, tile_height;  /* outputs */
  int y, rows_before, rows_after;
  int width;                    /* places of a row */
  int middle;                   /* is taken off all samples */
  ConvolveBoundary boundary;
  bool bytes, whole;            /* samples of 8 bits; sums are integers */
  double shift;                 /* to a sum, for the middle */
  float offset[CONVOLVE_MAX_SAMPLES];   /* of the tail, where sums are float, with the shift */
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

/* Points t + threads j of a lane's row. What is near an edge is collected in shared memory first. */
template <typename T, int THREADS, typename Real>
static __device__ __forceinline__ void
load_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, Real *shared, Real (&levels)[HELD])
{
  const int sample = task.samples[lane / task.columns], zero = (int) image.zero[sample];
  const int x = image.x0 - image.mask_width / 2 + lane % task.columns * task.lane_width;
  const int y = convolve_boundary_index (task.boundary, task.y + row - image.mask_height / 2, image.height);
  const uint8_t *line = image.source + max (y, 0) * image.source_stride + sample * (int) sizeof (T);

  if (x >= 0 && x + THREADS * HELD <= image.width) {
    line += (unsigned) ((x + t) * image.pixel_stride);
#pragma unroll
    for (int j = 0; j < HELD; j++, line += THREADS * image.pixel_stride)
      set_level (levels[j], value_of<T> (image, *(const T *) line), task.middle);
    if (y < 0)
#pragma unroll
      for (int j = 0; j < HELD; j++)
        set_level (levels[j], zero, task.middle);
    return;
  }
  for (int i = t; i < THREADS * HELD; i += THREADS) {
    int at = convolve_boundary_index (task.boundary, x + i, image.width);
    unsigned value = zero;

    if (at >= 0 && y >= 0)
      value = value_of<T> (image, *(const T *) (line + (unsigned) (at * image.pixel_stride)));
    set_level (shared[i], value, task.middle);
  }
  __syncwarp ();
#pragma unroll
  for (int j = 0; j < HELD; j++)
    levels[j] = shared[t + THREADS * j];
}

template <int THREADS, typename Real>
static __device__ __forceinline__ void
load_any_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, Real *shared,
    Real (&levels)[HELD])
{
  if (lane >= task.lanes)
#pragma unroll
    for (int j = 0; j < HELD; j++)
      levels[j] = 0;
  else if (task.bytes)
    load_lane<uint8_t, THREADS> (image, task, lane, row, t, shared, levels);
  else
    load_lane<uint16_t, THREADS> (image, task, lane, row, t, shared, levels);
}

static __device__ __forceinline__ unsigned
result_of (const ConvolveImage &image, const Task &task, int sample, float sum)
{
  float value = fminf (fmaxf (sum + task.offset[sample], 0), image.tail.maximum);

  return (unsigned) value;
}

static __device__ __forceinline__ unsigned
result_of (const ConvolveImage &image, const Task &task, int sample, double sum)
{
  return convolve_tail_double (&image.tail, sample, (task.whole ? rint (sum) : sum) + task.shift);
}

template <typename T, int THREADS, typename Real>
static __device__ __forceinline__ void
store_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, const Real (&sums)[HELD])
{
  const int sample = task.samples[lane / task.columns];
  const int left = lane % task.columns * task.lane_width, x = image.x0 + left + t;
  const int end = min (task.lane_width, image.x1 - image.x0 - left);
  uint8_t *at = image.destination + (task.y + row) * image.destination_stride + sample * (int) sizeof (T)
      + (unsigned) (x * image.pixel_stride);

#pragma unroll
  for (int j = 0; j < HELD; j++, at += THREADS * image.pixel_stride)
    if (t + THREADS * j < end) {
      unsigned value = result_of (image, task, sample, sums[j]);

      *(T *) at = (T) (sizeof (T) == 1 ? value : convolve_swap (image, value << image.shift));
    }
}

template <int THREADS, typename Real>
static __device__ __forceinline__ void
store_any_lane (const ConvolveImage &image, const Task &task, int lane, int row, int t, const Real (&sums)[HELD])
{
  if (lane >= task.lanes)
    return;
  if (task.bytes)
    store_lane<uint8_t, THREADS> (image, task, lane, row, t, sums);
  else
    store_lane<uint16_t, THREADS> (image, task, lane, row, t, sums);
}

/* The idea: a row of two lanes is one complex row; a few threads transform it, which they do without any block. */
template <int N, typename Real>
__global__ void __launch_bounds__ (ROW_THREADS, sizeof (Real) == 4 ? 4 : 2)
convolve_fft_rows (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  constexpr int T = CONVOLVE_FFT_THREADS (N), rows = ROW_THREADS / T;
  const int t = threadIdx.x % T, row = blockIdx.x * rows + threadIdx.x / T, last = min (row, task.rows_before - 1);
  const int lane = 2 * (task.first_pair + blockIdx.y);
  Complex<Real> *cells = (Complex<Real> *) shared + threadIdx.x / T * N;
  Complex<Real> *to = (Complex<Real> *) task.before + ((size_t) blockIdx.y * task.rows_before + row) * N + t;
  Points<Real> points;

  convolve_wait ();
  load_any_lane<T> (image, task, lane, last, t, (Real *) cells, points.x);
  load_any_lane<T> (image, task, lane + 1, last, t, (Real *) cells + N, points.y);
  __syncwarp ();
  transform_all<T> (points, cells, 1, (const Complex<Real> *) task.roots_x, t, [] { __syncwarp (); });
  if (row < task.rows_before)
#pragma unroll
    for (int i = 0; i < HELD; i++)
      to[i * T] = { points.x[i], points.y[i] };
}

/* The idea: columns side by side, so that memory is read in whole lines, forth, times the mask's spectrum, and back. */
template <int N, int COLUMNS, typename Real>
__global__ void __launch_bounds__ (COLUMNS * CONVOLVE_FFT_THREADS (N), 2)
convolve_fft_columns (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  constexpr int T = CONVOLVE_FFT_THREADS (N);
  const int column = threadIdx.x % COLUMNS, t = threadIdx.x / COLUMNS, place = blockIdx.x * COLUMNS + column;
  const int first = blockIdx.y * task.tile_height, inside = task.rows_before - first;
  const int outputs = min (task.tile_height, task.rows_after - first);
  const size_t step = (size_t) T * task.width;
  const Complex<Real> *from = (const Complex<Real> *) task.before
      + ((size_t) blockIdx.z * task.rows_before + first + t) * task.width + place;
  const Complex<Real> *factors = (const Complex<Real> *) task.spectrum + (size_t) t * task.width + place;
  Complex<Real> *to = (Complex<Real> *) task.after
      + ((size_t) blockIdx.z * task.rows_after + first + t) * task.width + place;
  Complex<Real> *cells = (Complex<Real> *) shared + column;
  Points<Real> points;

  convolve_wait ();
#pragma unroll
  for (int j = 0; j < HELD; j++, from += step) {
    Complex<Real> value = { 0, 0 };

    if (t + T * j < inside)
      value = *from;
    points.x[j] = value.x;
    points.y[j] = value.y;
  }
  transform_all<T> (points, cells, COLUMNS, (const Complex<Real> *) task.roots_y, t, [] { __syncthreads (); });
#pragma unroll
  for (int i = 0; i < HELD; i++, factors += step) {
    Complex<Real> factor = *factors;
    Real x = points.x[i], y = points.y[i];

    points.x[i] = x * factor.x - y * factor.y;
    points.y[i] = y * factor.x + x * factor.y;
  }
  transform_all_back<T> (points, cells, COLUMNS, (const Complex<Real> *) task.roots_y, t, [] { __syncthreads (); });
#pragma unroll
  for (int j = 0; j < HELD; j++, to += step)
    if (t + T * j < outputs)
      *to = { points.x[j], points.y[j] };
}

/* The idea: rows go back as they came, and their two parts are the samples of two lanes. */
template <int N, typename Real>
__global__ void __launch_bounds__ (ROW_THREADS, sizeof (Real) == 4 ? 4 : 2)
convolve_fft_rows_back (const __grid_constant__ ConvolveImage image, const __grid_constant__ Task task)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  constexpr int T = CONVOLVE_FFT_THREADS (N), rows = ROW_THREADS / T;
  const int t = threadIdx.x % T, row = blockIdx.x * rows + threadIdx.x / T, last = min (row, task.rows_after - 1);
  const int lane = 2 * (task.first_pair + blockIdx.y);
  const Complex<Real> *from = (const Complex<Real> *) task.after
      + ((size_t) blockIdx.y * task.rows_after + last) * N + t;
  Points<Real> points;

  convolve_wait ();
#pragma unroll
  for (int i = 0; i < HELD; i++) {
    Complex<Real> value = from[i * T];

    points.x[i] = value.x;
    points.y[i] = value.y;
  }
  transform_all_back<T> (points, (Complex<Real> *) shared + threadIdx.x / T * N, 1,
      (const Complex<Real> *) task.roots_x, t, [] { __syncwarp (); });
  if (row < task.rows_after) {
    store_any_lane<T> (image, task, lane, row, t, points.x);
    store_any_lane<T> (image, task, lane + 1, row, t, points.y);
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

/* What the mask's spectrum is made from and made in. */
struct MaskTask
{
  const double *taps;
  const Complex<double> *circle_x, *circle_y;   /* exp (2 pi i k / points) */
  Complex<double> *rows;        /* [row of the mask][place] */
  void *spectrum;
  int mask_width, mask_height, width, height;   /* of the mask; points */
};

/* A thread for each place of a row's spectrum: the sum itself. A mask is seldom new. */
__global__ void __launch_bounds__ (MASK_THREADS)
convolve_fft_mask_rows (const __grid_constant__ MaskTask task)
{
  const int place = blockIdx.x * MASK_THREADS + threadIdx.x, frequency = convolve_fft_frequency (task.width, place);
  const double *taps = task.taps + blockIdx.y * task.mask_width;
  Complex<double> sum = { 0, 0 };

  convolve_wait ();
  for (int i = 0; i < task.mask_width; i++) {
    Complex<double> root = task.circle_x[(i * frequency) & (task.width - 1)];

    sum.x += taps[i] * root.x;
    sum.y += taps[i] * root.y;
  }
  task.rows[blockIdx.y * task.width + place] = sum;
}

/* The same down the columns; divided by the points, for transforms there and back multiply by them. */
template <typename Real>
__global__ void __launch_bounds__ (MASK_THREADS)
convolve_fft_mask_columns (const __grid_constant__ MaskTask task)
{
  const int place = blockIdx.x * MASK_THREADS + threadIdx.x;
  const int frequency = convolve_fft_frequency (task.height, blockIdx.y);
  const double scale = 1.0 / task.width / task.height;
  Complex<double> sum = { 0, 0 };

  convolve_wait ();
  for (int j = 0; j < task.mask_height; j++) {
    Complex<double> root = task.circle_y[(j * frequency) & (task.height - 1)];
    Complex<double> row = task.rows[j * task.width + place];

    sum.x += row.x * root.x - row.y * root.y;
    sum.y += row.y * root.x + row.x * root.y;
  }
  ((Complex<Real> *) task.spectrum)[blockIdx.y * task.width + place] = { (Real) (sum.x * scale), (Real) (sum.y * scale) };
}

static Complex<double>
circle_point (int k, int n)
{
  double angle = 2 * acos (-1.0) * k / n;

  return { cos (angle), sin (angle) };
}

/* The places of memory that the plan owns: the spectrum, then roots for each direction. */
template <typename Real>
static Complex<Real> *
plan_memory (const ConvolvePlan *plan, int at)
{
  size_t spectrum = (size_t) plan->fft.width * plan->fft.height;

  return (Complex<Real> *) plan->device_taps + (at == 0 ? 0 : at == 1 ? spectrum : spectrum + plan->fft.width);
}

static ConvolveStatus
launch (ConvolveDevice *device, const void *kernel, dim3 blocks, int threads, size_t shared, void **arguments,
    ConvolveError *error)
{
  cudaLaunchAttribute overlap;
  cudaLaunchConfig_t config = { };
  cudaError_t code = cudaSuccess;

  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = blocks;
  config.blockDim = dim3 (threads);
  config.dynamicSmemBytes = shared;
  config.stream = device->streams[PHASE_KERNEL];
  config.attrs = &overlap;
  config.numAttrs = device->overlaps;
  if (shared > 48 * 1024)
    code = cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
  if (code == cudaSuccess)
    code = cudaLaunchKernelExC (&config, kernel, arguments);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "fft", error);
}

/* Roots as the transforms read them, and the mask with what its own transform needs, in this order in one block. */
template <typename Real>
static void
fill (const ConvolvePlan *plan, Complex<Real> *roots, Complex<double> *circles, double *taps)
{
  const int sizes[2] = { plan->fft.width, plan->fft.height };

  for (int direction = 0; direction < 2; direction++) {
    int n = sizes[direction], threads = CONVOLVE_FFT_THREADS (n);

    for (int i = 0; i < n; i++) {
      Complex<double> root = circle_point (i / threads * (i % threads), n);

      *roots++ = { (Real) root.x, (Real) -root.y };
      *circles++ = circle_point (i, n);
    }
  }
  for (int i = 0; i < plan->taps.width * plan->taps.height; i++)
    taps[i] = plan->taps.wide_taps[i];
}

template <typename Real>
static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveDevice *device = plan->device;
  const int width = plan->fft.width, height = plan->fft.height, points = width + height;
  const size_t count = (size_t) plan->taps.width * plan->taps.height;
  const size_t upload = points * sizeof (Complex<double>) + count * sizeof (double);
  ConvolveStatus status;
  void *scratch;

  plan->device_taps = (float *) convolve_device_alloc (device, ((size_t) width * height + points)
      * sizeof (Complex<Real>), error);
  if (!plan->device_taps)
    return error ? error->status : CONVOLVE_DEVICE_FAILED;
  status = convolve_device_scratch (device, (upload + 15) / 16 * 16
      + (size_t) plan->taps.height * width * sizeof (Complex<double>), &scratch, error);
  if (status != CONVOLVE_OK)
    return status;
  Complex<Real> *roots = (Complex<Real> *) malloc (upload + points * sizeof (Complex<Real>));
  if (!roots)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a spectrum");
  Complex<double> *circles = (Complex<double> *) (roots + points);
  double *taps = (double *) (circles + points);

  fill (plan, roots, circles, taps);
  status = convolve_device_copy (device, scratch, circles, upload, CONVOLVE_COPY_TO_DEVICE, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_copy (device, plan_memory<Real> (plan, 1), roots, points * sizeof (Complex<Real>),
        CONVOLVE_COPY_TO_DEVICE, error);

  MaskTask task = { };
  void *arguments[] = { &task };

  task.circle_x = (Complex<double> *) scratch;
  task.circle_y = task.circle_x + width;
  task.taps = (double *) (task.circle_y + height);
  task.rows = (Complex<double> *) ((char *) scratch + (upload + 15) / 16 * 16);
  task.spectrum = plan->device_taps;
  task.mask_width = plan->taps.width;
  task.mask_height = plan->taps.height;
  task.width = width;
  task.height = height;
  if (status == CONVOLVE_OK)
    status = launch (device, (const void *) convolve_fft_mask_rows, dim3 (width / MASK_THREADS, plan->taps.height),
        MASK_THREADS, 0, arguments, error);
  if (status == CONVOLVE_OK)
    status = launch (device, (const void *) convolve_fft_mask_columns<Real>, dim3 (width / MASK_THREADS, height),
        MASK_THREADS, 0, arguments, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_finish (device, error);
  free (roots);
  return status;
}

ConvolveStatus
convolve_fft_prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const char *reason;

  if (!convolve_fft_choose (plan, &plan->fft, &reason))
    return convolve_fail (error, CONVOLVE_UNSUPPORTED, 0, "%s", reason);
  return plan->fft.wide ? prepare<double> (plan, error) : prepare<float> (plan, error);
}

int
convolve_device_double_ratio (const ConvolveDevice *device)
{
  int ratio = 0;

  return cudaDeviceGetAttribute (&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, convolve_device_id (device))
      == cudaSuccess ? ratio : 0;
}

static int
divided (int64_t a, int64_t b)
{
  return (int) ((a + b - 1) / b);
}

/* The three kernels for a part of the plane. */
template <int NX, int NY, typename Real>
static ConvolveStatus
run_part (const ConvolvePlan *plan, const ConvolveImage &image, const Task &task, int pairs, ConvolveError *error)
{
  constexpr int columns = CONVOLVE_FFT_SHARED / NY / (int) sizeof (Complex<Real>), rows = ROW_THREADS / CONVOLVE_FFT_THREADS (NX);
  constexpr size_t shared = ROW_THREADS * HELD * sizeof (Complex<Real>);

  static_assert (shared <= CONVOLVE_FFT_SHARED, "what is asked for in the table");
  void *arguments[] = { (void *) &image, (void *) &task };
  ConvolveStatus status = launch (plan->device, (const void *) convolve_fft_rows<NX, Real>,
      dim3 (divided (task.rows_before, rows), pairs), ROW_THREADS, shared, arguments, error);

  if (status == CONVOLVE_OK)
    status = launch (plan->device, (const void *) convolve_fft_columns<NY, columns, Real>,
        dim3 (NX / columns, divided (task.rows_after, task.tile_height), pairs), columns * CONVOLVE_FFT_THREADS (NY),
        CONVOLVE_FFT_SHARED, arguments, error);
  if (status == CONVOLVE_OK)
    status = launch (plan->device, (const void *) convolve_fft_rows_back<NX, Real>,
        dim3 (divided (task.rows_after, rows), pairs), ROW_THREADS, shared, arguments, error);
  return status;
}

/* Parts are as many whole pairs of lanes as fit, or, where not even one does, some of its tiles. */
template <int NX, int NY, typename Real>
static ConvolveStatus
run_parts (const ConvolvePlan *plan, ConvolveImage &image, Task &task, ConvolveError *error)
{
  const size_t row_bytes = NX * sizeof (Complex<Real>), most = MOST_BYTES / row_bytes;
  const int halo = plan->taps.height - 1, all_rows = image.y1 - image.y0, all_pairs = divided (task.lanes, 2);
  int pairs = all_pairs, rows = all_rows;
  void *scratch;

  if ((size_t) all_pairs * (2 * (size_t) all_rows + halo) > most) {
    size_t fit = most / (2 * (size_t) all_rows + halo);

    if (fit == 0) {
      int tiles = (int) (most - halo) / 2 / task.tile_height;

      rows = (tiles > 0 ? tiles : 1) * task.tile_height;
      fit = 1;
    }
    pairs = divided (all_pairs, divided (all_pairs, fit));
  }
  ConvolveStatus status = convolve_device_scratch (plan->device, pairs * (2 * (size_t) rows + halo) * row_bytes, &scratch,
      error);

  for (int y = 0; y < all_rows && status == CONVOLVE_OK; y += rows) {
    task.y = image.y0 + y;
    task.rows_after = all_rows - y < rows ? all_rows - y : rows;
    task.rows_before = task.rows_after + halo;
    for (int pair = 0; pair < all_pairs && status == CONVOLVE_OK; pair += pairs) {
      int now = all_pairs - pair < pairs ? all_pairs - pair : pairs;

      task.first_pair = pair;
      task.before = scratch;
      task.after = (char *) scratch + (size_t) now * task.rows_before * row_bytes;
      status = run_part<NX, NY, Real> (plan, image, task, now, error);
    }
  }
  return status;
}

template <typename Real>
static ConvolveStatus
run_all (const ConvolvePlan *plan, ConvolveImage &image, Task &task, ConvolveError *error)
{
  constexpr int few = CONVOLVE_FFT_POINTS, many = 2 * CONVOLVE_FFT_POINTS;

  task.spectrum = plan_memory<Real> (plan, 0);
  task.roots_x = plan_memory<Real> (plan, 1);
  task.roots_y = plan_memory<Real> (plan, 2);
  if (plan->fft.width == few)
    return plan->fft.height == few ? run_parts<few, few, Real> (plan, image, task, error)
        : run_parts<few, many, Real> (plan, image, task, error);
  return plan->fft.height == few ? run_parts<many, few, Real> (plan, image, task, error)
      : run_parts<many, many, Real> (plan, image, task, error);
}

ConvolveStatus
convolve_fft_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const ConvolvePixel *pixel = &plan->pixel;
  ConvolveDevice *device = plan->device;
  ConvolveStatus status = convolve_device_enter (device, error);
  ConvolveImage image;
  Task task = { };
  double sum = 0;
  cudaError_t code;
  int n = 0;

  if (status != CONVOLVE_OK)
    return status;
  if ((code = convolve_frame_enqueue (device, PHASE_KERNEL)) != cudaSuccess)
    return convolve_device_fail (device, code, "fft", error);
  convolve_image_init (&image, plan, plane);
  for (int i = 0; i < plan->taps.width * plan->taps.height; i++)
    sum += plan->taps.wide_taps[i];
  task.middle = 1 << (pixel->depth - 1);
  task.shift = task.middle * sum;
  for (int i = 0; i < pixel->samples; i++) {
    if (pixel->select >> i & 1)
      task.samples[n++] = i;
    else
      task.copied |= 1u << i;
    task.offset[i] = (float) (plan->tail.offset[i] + task.shift);
  }
  task.lane_width = plan->fft.width - plan->taps.width + 1;
  task.tile_height = plan->fft.height - plan->taps.height + 1;
  task.columns = divided (plane->region.width, task.lane_width);
  task.lanes = n * task.columns;
  task.width = plan->fft.width;
  task.boundary = plan->boundary;
  task.bytes = pixel->type == CONVOLVE_SAMPLE_U8;
  task.whole = plan->exact;
  if (task.copied) {
    void *arguments[] = { &image, &task };

    status = launch (device, (const void *) convolve_fft_copy, dim3 (divided (plane->region.width, 256),
            plane->region.height < 4096 ? plane->region.height : 4096), 256, 0, arguments, error);
  }
  if (n == 0 || status != CONVOLVE_OK)
    return status;
  return plan->fft.wide ? run_all<double> (plan, image, task, error) : run_all<float> (plan, image, task, error);
}
