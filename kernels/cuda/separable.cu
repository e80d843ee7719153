/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/separable.h"

#include "cuda/launch.cuh"

#define WIDTH CONVOLVE_SEPARABLE_WIDTH
#define HEIGHT 64
#define ROWS CONVOLVE_SEPARABLE_ROWS /* taken at a time; also the rows of threads */

/* One row of samples, with what the row pass reads on both sides. */
template <typename T, int P>
static __device__ __forceinline__ void
load_line (const ConvolveImage &image, int left, int y, int line_width, float *line)
{
  for (int i = threadIdx.x; i < line_width; i += WIDTH)
    line[i] = convolve_load<T, P> (image, left + i - image.mask_width / 2, y, blockIdx.z);
}

/*
 * The idea: a rank-1 mask is a row pass followed by a column pass, width + height products instead of their product.
 * A block walks down its columns, ROWS input rows at a time: it loads them with their halo, sums along the row into a
 * ring of row sums in shared memory, and sums down the ring for the outputs whose rows are all there. Row sums never
 * leave the block, and with sums in float any mask up to 255 x 255 fits in 48 KB.
 */
template <typename T, int P, typename Sum>
__global__ void __launch_bounds__ (WIDTH *ROWS) convolve_separable (const __grid_constant__ ConvolveImage image,
    const __grid_constant__ ConvolveParameters<2 * CONVOLVE_MAX_SIDE> factors)
{
  extern __shared__ float shared[];
  const float *row_taps = factors.tap, *column_taps = factors.tap + CONVOLVE_MAX_SIDE;
  int line_width = WIDTH + image.mask_width - 1, ring_height = ROWS + image.mask_height - 1;
  float *line = shared + threadIdx.y * line_width;
  Sum *ring = (Sum *) (shared + ROWS * line_width);
  int left = image.x0 + blockIdx.x * WIDTH, top = image.y0 + blockIdx.y * HEIGHT;
  int bottom = min (top + HEIGHT, image.y1), x = left + threadIdx.x;

  if (!(image.select >> blockIdx.z & 1)) {
    for (int y = top + threadIdx.y; y < bottom; y += ROWS)
      convolve_copied<T> (image, x, y, x < image.x1);
    return;
  }

  /* The last turn may read up to ROWS - 1 rows more than the outputs need. */
  bool inside = convolve_is_inside (image, left, top, WIDTH, HEIGHT + ROWS);
  int slot = threadIdx.y; /* of this thread's row in the ring */
  for (int y = top - image.mask_height / 2 + threadIdx.y; y - (int) threadIdx.y < bottom + image.mask_height / 2;
       y += ROWS) {
    if (inside)
      load_line<T, CONVOLVE_INSIDE> (image, left, y, line_width, line);
    else
      load_line<T, P> (image, left, y, line_width, line);
    __syncthreads ();

    Sum row = 0;
    for (int i = 0; i < image.mask_width; i++)
      row += row_taps[i] * (Sum) line[threadIdx.x + i];
    ring[slot * WIDTH + threadIdx.x] = row;
    __syncthreads ();

    int out = y - image.mask_height / 2; /* this row of sums is the last that output needs */
    if (out >= top && out < bottom && x < image.x1) {
      Sum sum = 0;
      int from = slot + 1 - image.mask_height;
      from = from < 0 ? from + ring_height : from;
      for (int j = 0; j < image.mask_height; j++) {
        sum += column_taps[j] * ring[from * WIDTH + threadIdx.x];
        from = from + 1 < ring_height ? from + 1 : 0;
      }
      convolve_store<T> (image, x, out, blockIdx.z, sum);
    }
    slot += ROWS;
    slot = slot < ring_height ? slot : slot - ring_height;
  }
}

ConvolveStatus
convolve_separable_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const ConvolveKernels kernels = CONVOLVE_KERNELS (convolve_separable);

  return convolve_load_tiles (plan, convolve_kernel (plan, kernels),
      { dim3 (WIDTH, ROWS), WIDTH, HEIGHT, convolve_separable_shared_size (plan) }, plan->taps.row, error);
}

ConvolveStatus
convolve_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
