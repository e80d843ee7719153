/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mask's spectrum for fft. It is summed directly, with about twice the digits of a double, because its error would
 * otherwise be larger than that of the transforms: a sum has a term for each weight of the mask. The time does not
 * matter, because the spectrum is made once for a plan.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "cuda/fourier/fft_transform.cuh"
#include "cuda/device/launch.cuh"

#define MASK_THREADS 128

static_assert (LDBL_MANT_DIG >= 64, "the circle has 64 bits, see cuda/fourier/fft.c");

/* A complex number as the sum of two: the second has what the digits of the first do not hold. */
struct Precise
{
  Complex<double> high, low;
};

/* The kernels' parameter. All pointers are device memory. */
struct MaskTask
{
  const double *taps;    /* [height][width] */
  const Precise *circle; /* exp (2 pi i k / POINTS); the sign is + because the mask is correlated */
  Precise *rows;         /* [row of the mask][place] */
  void *spectrum;        /* [place of a column][place of a row], Complex<float> or Complex<double> */
  int width, height;     /* of the mask */
};

/*
 * high + low becomes high + low + (a + a_low) * (b + b_low). What the product of a and b and its addition to high lose
 * is found without an error. Each operation is rounded as written, so that the compiler joins none of them.
 */
static __device__ __forceinline__ void
add_product (double &high, double &low, double a, double a_low, double b, double b_low)
{
  const double product = __dmul_rn (a, b), sum = __dadd_rn (high, product), added = __dsub_rn (sum, high);
  const double lost = __dadd_rn (__dsub_rn (high, __dsub_rn (sum, added)), __dsub_rn (product, added));

  low += lost + (__fma_rn (a, b, -product) + (a * b_low + a_low * b));
  high = sum;
}

/* The idea: a thread for each place of the spectrum of a row of taps. */
__global__ void __launch_bounds__ (MASK_THREADS) convolve_fft_mask_rows (const __grid_constant__ MaskTask task)
{
  const int place = blockIdx.x * MASK_THREADS + threadIdx.x, frequency = convolve_fft_frequency (place);
  const double *taps = task.taps + blockIdx.y * task.width;
  Precise sum = {};

  for (int i = 0; i < task.width; i++) {
    const Precise factor = task.circle[(i * frequency) & (POINTS - 1)];

    add_product (sum.high.x, sum.low.x, taps[i], 0, factor.high.x, factor.low.x);
    add_product (sum.high.y, sum.low.y, taps[i], 0, factor.high.y, factor.low.y);
  }
  task.rows[blockIdx.y * POINTS + place] = sum;
}

/*
 * The idea: a thread for each place of the spectrum, which sums the spectra of the rows down a column. The spectrum is
 * divided by the number of points, because a forward and an inverse transform multiply by it.
 */
template <typename Real>
__global__ void __launch_bounds__ (MASK_THREADS) convolve_fft_mask_columns (const __grid_constant__ MaskTask task)
{
  const int place = blockIdx.x * MASK_THREADS + threadIdx.x, frequency = convolve_fft_frequency (blockIdx.y);
  const double scale = 1.0 / POINTS / POINTS;
  Precise sum = {};

  for (int j = 0; j < task.height; j++) {
    const Precise factor = task.circle[(j * frequency) & (POINTS - 1)], row = task.rows[j * POINTS + place];

    add_product (sum.high.x, sum.low.x, row.high.x, row.low.x, factor.high.x, factor.low.x);
    add_product (sum.high.x, sum.low.x, row.high.y, row.low.y, -factor.high.y, -factor.low.y);
    add_product (sum.high.y, sum.low.y, row.high.y, row.low.y, factor.high.x, factor.low.x);
    add_product (sum.high.y, sum.low.y, row.high.x, row.low.x, factor.high.y, factor.low.y);
  }
  ((Complex<Real> *) task.spectrum)[blockIdx.y * POINTS + place] = { (Real) ((sum.high.x + sum.low.x) * scale),
    (Real) ((sum.high.y + sum.low.y) * scale) };
}

/* Enqueues a kernel with a grid of POINTS x rows threads. */
static ConvolveStatus
enqueue (ConvolveDevice *device, const void *kernel, int rows, MaskTask &task, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  void *arguments[] = { &task };

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  return convolve_enqueue (device, { kernel, dim3 (POINTS / MASK_THREADS, rows), dim3 (MASK_THREADS), 0, false, false },
      arguments, "fft", error);
}

/* exp (2 pi i k / POINTS), from an angle of an eighth of the circle at most, where the library's functions are best. */
static Precise
circle_point (int k)
{
  constexpr int side = POINTS / 8;
  const int eighth = k % POINTS / side, rest = k % side;
  const long double angle = 2 * acosl (-1.0L) / POINTS * (eighth % 2 ? side - rest : rest);
  const bool exchanged = (eighth + 1) / 2 % 2;
  const long double x = (exchanged ? sinl (angle) : cosl (angle)) * (eighth >= 2 && eighth < 6 ? -1 : 1);
  const long double y = (exchanged ? cosl (angle) : sinl (angle)) * (eighth >= 4 ? -1 : 1);
  const double high_x = (double) x, high_y = (double) y;

  return { { high_x, high_y }, { (double) (x - high_x), (double) (y - high_y) } };
}

/* Enqueues the kernels for one part of the taps. */
template <typename Real>
static ConvolveStatus
make_spectrum (ConvolveDevice *device, MaskTask &task, ConvolveError *error)
{
  ConvolveStatus status = enqueue (device, (const void *) convolve_fft_mask_rows, task.height, task, error);

  return status == CONVOLVE_OK ? enqueue (device, (const void *) convolve_fft_mask_columns<Real>, POINTS, task, error)
                               : status;
}

/* plan->device_memory is the spectrum of each part of the taps, and then the twiddle factors of the transforms. */
template <typename Real>
static ConvolveStatus
put_spectrum (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveDevice *device = plan->device;
  const ConvolveFft *fft = (const ConvolveFft *) plan->prepared;
  const int parts = convolve_fft_parts (fft);
  const size_t count = (size_t) plan->taps.width * plan->taps.height, points = POINTS * POINTS;
  const size_t rows = (size_t) plan->taps.height * POINTS * sizeof (Precise);
  const size_t upload = POINTS * sizeof (Precise) + parts * count * sizeof (double);
  ConvolveStatus status;
  void *scratch;

  plan->device_memory = convolve_device_alloc (device, (parts * points + POINTS) * sizeof (Complex<Real>), error);
  if (!plan->device_memory)
    return error ? error->status : CONVOLVE_DEVICE_FAILED;
  status = convolve_device_scratch (device, rows + upload, &scratch, error);
  if (status != CONVOLVE_OK)
    return status;
  Complex<Real> *twiddles = (Complex<Real> *) malloc (POINTS * sizeof (Complex<Real>) + upload);
  if (!twiddles)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no host memory for a spectrum");

  Precise *circle = (Precise *) (twiddles + POINTS);
  double *taps = (double *) (circle + POINTS);
  MaskTask task = {};

  for (int i = 0; i < POINTS; i++) {
    const Complex<double> factor = circle_point (i / THREADS * (i % THREADS)).high;

    twiddles[i] = { (Real) factor.x, (Real) -factor.y };
    circle[i] = circle_point (i);
  }
  for (size_t i = 0; i < parts * count; i++)
    taps[i] = convolve_fft_part (fft, plan->taps.double_taps[i % count], (int) (i / count));
  task.rows = (Precise *) scratch;
  task.circle = (const Precise *) ((char *) scratch + rows);
  task.taps = (const double *) (task.circle + POINTS);
  task.spectrum = plan->device_memory;
  task.width = plan->taps.width;
  task.height = plan->taps.height;
  status = convolve_device_copy (device, (char *) scratch + rows, circle, upload, CONVOLVE_COPY_TO_DEVICE, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_copy (device, (Complex<Real> *) plan->device_memory + parts * points, twiddles,
        POINTS * sizeof (Complex<Real>), CONVOLVE_COPY_TO_DEVICE, error);
  for (int part = 0; part < parts && status == CONVOLVE_OK; part++) {
    status = make_spectrum<Real> (device, task, error);
    task.taps += count;
    task.spectrum = (Complex<Real> *) task.spectrum + points;
  }
  if (status == CONVOLVE_OK)
    status = convolve_device_finish (device, error);
  free (twiddles);
  return status;
}

ConvolveStatus
convolve_fft_put_spectrum (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveFft *fft = (const ConvolveFft *) plan->prepared;

  return fft->is_double ? put_spectrum<double> (plan, error) : put_spectrum<float> (plan, error);
}
