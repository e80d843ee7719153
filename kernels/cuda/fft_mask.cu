/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mask's spectrum for fft. It is summed directly in double, which is exact enough for both precisions; its time
 * does not matter, because it is made once for a plan.
 */
#include <math.h>
#include <stdlib.h>

#include "cuda/fft_transform.cuh"
#include "cuda/launch.cuh"

#define MASK_THREADS 128

/* The kernels' parameter. All pointers are device memory. */
struct MaskTask
{
  const double *taps;            /* [height][width] */
  const Complex<double> *circle; /* exp (2 pi i k / POINTS); the sign is + because the mask is correlated */
  Complex<double> *rows;         /* [row of the mask][place] */
  void *spectrum;                /* [place of a column][place of a row], Complex<float> or Complex<double> */
  int width, height;             /* of the mask */
};

/* The idea: a thread for each place of the spectrum of a row of taps. */
__global__ void __launch_bounds__ (MASK_THREADS) convolve_fft_mask_rows (const __grid_constant__ MaskTask task)
{
  const int place = blockIdx.x * MASK_THREADS + threadIdx.x, frequency = convolve_fft_frequency (place);
  const double *taps = task.taps + blockIdx.y * task.width;
  Complex<double> sum = { 0, 0 };

  for (int i = 0; i < task.width; i++) {
    Complex<double> factor = task.circle[(i * frequency) & (POINTS - 1)];

    sum.x += taps[i] * factor.x;
    sum.y += taps[i] * factor.y;
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
  Complex<double> sum = { 0, 0 };

  for (int j = 0; j < task.height; j++) {
    Complex<double> factor = task.circle[(j * frequency) & (POINTS - 1)], row = task.rows[j * POINTS + place];

    sum.x += row.x * factor.x - row.y * factor.y;
    sum.y += row.y * factor.x + row.x * factor.y;
  }
  ((Complex<Real> *) task.spectrum)[blockIdx.y * POINTS + place] = { (Real) (sum.x * scale), (Real) (sum.y * scale) };
}

/* Enqueues a kernel with a grid of POINTS x rows threads. */
static ConvolveStatus
enqueue (ConvolveDevice *device, const void *kernel, int rows, MaskTask &task, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  void *arguments[] = { &task };

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  return convolve_enqueue (device, { kernel, dim3 (POINTS / MASK_THREADS, rows), dim3 (MASK_THREADS), 0, false },
      arguments, "fft", error);
}

/* exp (2 pi i k / POINTS) */
static Complex<double>
circle_point (int k)
{
  double angle = 2 * acos (-1.0) / POINTS * (k % POINTS);

  return { cos (angle), sin (angle) };
}

/* plan->device_memory is the spectrum and then the twiddle factors of the transforms. */
template <typename Real>
static ConvolveStatus
put_spectrum (ConvolvePlan *plan, ConvolveError *error)
{
  ConvolveDevice *device = plan->device;
  const size_t count = (size_t) plan->taps.width * plan->taps.height, points = POINTS * POINTS;
  const size_t rows = (size_t) plan->taps.height * POINTS * sizeof (Complex<double>);
  const size_t upload = POINTS * sizeof (Complex<double>) + count * sizeof (double);
  ConvolveStatus status;
  void *scratch;

  plan->device_memory = convolve_device_alloc (device, (points + POINTS) * sizeof (Complex<Real>), error);
  if (!plan->device_memory)
    return error ? error->status : CONVOLVE_DEVICE_FAILED;
  status = convolve_device_scratch (device, rows + upload, &scratch, error);
  if (status != CONVOLVE_OK)
    return status;
  Complex<Real> *twiddles = (Complex<Real> *) malloc (POINTS * sizeof (Complex<Real>) + upload);
  if (!twiddles)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no host memory for a spectrum");

  Complex<double> *circle = (Complex<double> *) (twiddles + POINTS);
  double *taps = (double *) (circle + POINTS);
  MaskTask task = {};

  for (int i = 0; i < POINTS; i++) {
    Complex<double> factor = circle_point (i / THREADS * (i % THREADS));

    twiddles[i] = { (Real) factor.x, (Real) -factor.y };
    circle[i] = circle_point (i);
  }
  for (size_t i = 0; i < count; i++)
    taps[i] = plan->taps.double_taps[i];
  task.rows = (Complex<double> *) scratch;
  task.circle = (Complex<double> *) ((char *) scratch + rows);
  task.taps = (double *) (task.circle + POINTS);
  task.spectrum = plan->device_memory;
  task.width = plan->taps.width;
  task.height = plan->taps.height;
  status = convolve_device_copy (device, (char *) scratch + rows, circle, upload, CONVOLVE_COPY_TO_DEVICE, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_copy (device, (Complex<Real> *) plan->device_memory + points, twiddles,
        POINTS * sizeof (Complex<Real>), CONVOLVE_COPY_TO_DEVICE, error);
  if (status == CONVOLVE_OK)
    status = enqueue (device, (const void *) convolve_fft_mask_rows, task.height, task, error);
  if (status == CONVOLVE_OK)
    status = enqueue (device, (const void *) convolve_fft_mask_columns<Real>, POINTS, task, error);
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
