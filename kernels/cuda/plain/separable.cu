/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/separable.h"

#include "cuda/device/launch.cuh"

#define WIDTH CONVOLVE_SEPARABLE_WIDTH
#define HEIGHT CONVOLVE_SEPARABLE_HEIGHT
#define ROWS CONVOLVE_SEPARABLE_ROWS /* taken at a time; also the rows of threads */

/* One row of samples, with what the row pass reads on both sides. */
template <typename T, int P, typename Value>
static __device__ __forceinline__ void
load_line (const ConvolveImage &image, int left, int y, int line_width, Value *line)
{
  for (int i = threadIdx.x; i < line_width; i += WIDTH)
    line[i] = (Value) convolve_load<T, P> (image, left + i - image.mask_width / 2, y, blockIdx.z);
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

/*
 * PRODUCTS, see common/arithmetic.h, of any rank and size. The walk is that of convolve_separable (), in integers, and
 * is done once for each product, so that the ring has the row sums of one product alone. Totals wait in shared memory
 * for the next product. Total is uint32_t in narrow plans and uint64_t in others, without a sign, because a total may
 * wrap around on the way.
 */
template <typename T, typename Total>
__global__ void __launch_bounds__ (WIDTH *ROWS)
    convolve_separable_products (const __grid_constant__ ConvolveImage image,
        const __grid_constant__ ConvolveSeparableProducts plan)
{
  extern __shared__ int64_t memory[];
  int line_width = WIDTH + image.mask_width - 1, ring_height = ROWS + image.mask_height - 1;
  int64_t *totals = memory + threadIdx.x;
  int *lines = (int *) (memory + (plan.rank > 1 ? WIDTH * HEIGHT : 0)), *line = lines + threadIdx.y * line_width;
  uint16_t *ring = (uint16_t *) (lines + ROWS * line_width) + threadIdx.x;
  int left = image.x0 + blockIdx.x * WIDTH, top = image.y0 + blockIdx.y * HEIGHT;
  int bottom = min (top + HEIGHT, image.y1), x = left + threadIdx.x, sample = blockIdx.z;

  if (!(image.select >> sample & 1)) {
    for (int y = top + threadIdx.y; y < bottom; y += ROWS)
      convolve_copied<T> (image, x, y, x < image.x1);
    return;
  }

  bool inside = convolve_is_inside (image, left, top, WIDTH, HEIGHT + ROWS);
  for (int k = 0; k < plan.rank; k++) {
    const ConvolveSeparableProduct &product = plan.products[k];
    int slot = threadIdx.y; /* of this thread's row in the ring */

    for (int y = top - image.mask_height / 2 + threadIdx.y; y - (int) threadIdx.y < bottom + image.mask_height / 2;
         y += ROWS) {
      if (inside)
        load_line<T, CONVOLVE_INSIDE> (image, left, y, line_width, line);
      else
        load_line<T, CONVOLVE_ANYWHERE> (image, left, y, line_width, line);
      __syncthreads ();

      uint32_t row = product.row_start;
      for (int i = 0; i < image.mask_width; i++)
        row += (uint32_t) (product.row[i] * line[threadIdx.x + i]);
      ring[slot * WIDTH] = (uint16_t) (row >> product.cut);
      __syncthreads ();

      int out = y - image.mask_height / 2; /* this row of sums is the last that output needs */
      if (out >= top && out < bottom && x < image.x1) {
        Total total = k == 0 ? (Total) plan.start[sample] : (Total) totals[(out - top) * WIDTH];
        int from = slot + 1 - image.mask_height;

        if (k == 0 && plan.centre != 0)
          total += (Total) ((int64_t) plan.centre * (int) convolve_load<T, CONVOLVE_INSIDE> (image, x, out, sample));
        from = from < 0 ? from + ring_height : from;
        for (int j = 0; j < image.mask_height; j++) {
          total += (Total) (int64_t) (product.column[j] * ring[from * WIDTH]); /* below 2^31 */
          from = from + 1 < ring_height ? from + 1 : 0;
        }
        if (k + 1 < plan.rank) {
          totals[(out - top) * WIDTH] = (int64_t) total;
        } else {
          int64_t value = sizeof (Total) == 4 ? (int) total >> plan.bits : (int64_t) total >> plan.bits;

          convolve_store_value<T> (image, x, out, sample,
              (unsigned) min (max ((int) value + plan.middle, 0), image.maximum));
        }
      }
      slot += ROWS;
      slot = slot < ring_height ? slot : slot - ring_height;
    }
  }
}

ConvolveStatus
convolve_separable_load (ConvolvePlan *plan, ConvolveError *error)
{
  static const ConvolveKernels kernels = CONVOLVE_KERNELS (convolve_separable);
  static const void *const products[2][CONVOLVE_N_SAMPLE_TYPES] = {
    { (const void *) convolve_separable_products<uint8_t, uint64_t>,
        (const void *) convolve_separable_products<uint16_t, uint64_t> },
    { (const void *) convolve_separable_products<uint8_t, uint32_t>,
        (const void *) convolve_separable_products<uint16_t, uint32_t> },
  };
  const bool has_products = plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS;

  return convolve_load_tiles (plan,
      has_products ? products[plan->arithmetic.narrow][plan->pixel.type] : convolve_kernel (plan, kernels),
      { dim3 (WIDTH, ROWS), WIDTH, HEIGHT, convolve_separable_shared_size (plan) },
      has_products ? plan->prepared : plan->taps.row, error);
}

ConvolveStatus
convolve_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
