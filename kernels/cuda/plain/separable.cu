/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/separable.h"

#include "cuda/device/launch.cuh"

#define WIDTH CONVOLVE_SEPARABLE_WIDTH
#define HEIGHT CONVOLVE_SEPARABLE_HEIGHT
#define ROWS CONVOLVE_SEPARABLE_ROWS /* taken at a time; also the rows of threads */
#define EIGHT CONVOLVE_SEPARABLE_EIGHT

/* One row of samples less the middle, with what the row pass reads on both sides. */
template <typename T, int P, typename Value>
static __device__ __forceinline__ void
load_line (const ConvolveImage &image, int left, int y, int line_width, float middle, Value *line)
{
#pragma unroll 4
  for (int i = threadIdx.x; i < line_width; i += WIDTH)
    line[i] = (Value) (convolve_load<T, P> (image, left + i - image.mask_width / 2, y, blockIdx.z) - middle);
}

/* Neighbours that a thread takes from shared memory, or puts there, in 16 bytes at a time. */
template <typename Value>
struct alignas (16) Eight
{
  Value at[EIGHT];
};

/*
 * Makes eight neighbouring sums of `count` products each. next () returns the eight values under the first tap, and
 * then always the next eight. Behind the last tap there are taps of 0 up to a multiple of 8.
 */
template <typename Sum, typename Next>
static __device__ __forceinline__ Eight<Sum>
sum_eight (const float *taps, int count, Next next)
{
  Eight<Sum> sums = {}, near = next ();

  for (int i = 0; i < count;) {
    Sum block[EIGHT] = {};

#pragma unroll 2
    for (int end = min (i + CONVOLVE_SEPARABLE_BLOCK, count); i < end; i += EIGHT) {
      const Eight<Sum> far = next ();
      const Eight<float> own = *(const Eight<float> *) (taps + i);

#pragma unroll
      for (int k = 0; k < EIGHT; k++)
#pragma unroll
        for (int c = 0; c < EIGHT; c++)
          block[c] += (Sum) own.at[k] * (c + k < EIGHT ? near.at[(c + k) % EIGHT] : far.at[(c + k) % EIGHT]);
      near = far;
    }
#pragma unroll
    for (int c = 0; c < EIGHT; c++)
      sums.at[c] += block[c];
  }
  return sums;
}

/*
 * The idea: a rank-1 mask is a row pass followed by a column pass, width + height products instead of their product.
 * A block walks down its columns. In a turn, a warp loads eight input rows with their halo, sums along the rows into a
 * ring of row sums in shared memory, and sums down the ring for eight rows of outputs, for which it is the last turn.
 * In both passes a thread makes eight neighbouring sums, so that it multiplies a value by eight taps once the value is
 * in its registers: eight sums side by side of one of the rows, and then eight below each other of one of the columns.
 *
 *     lines, eight for a warp         ring of row sums, 32 columns for a warp
 *       row 0   | lanes 0 8 16 24 |     | rows  0 ..  7 |   <- a group of eight rows, from one turn
 *       row 1   | lanes 1 9 17 25 |     | rows  8 .. 15 |      lane 5 sums down column 5
 *       ..      |                 |     | ..            |
 *
 * Row sums never leave the block, and with sums in float any mask up to 255 x 255 fits in 48 KB.
 */
template <typename T, int P, typename Sum>
__global__ void __launch_bounds__ (CONVOLVE_SEPARABLE_THREADS)
    convolve_separable (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveSeparableTaps taps)
{
  extern __shared__ float4 shared[];
  const ConvolveSeparableShape &shape = taps.shape;
  int line_width = WIDTH * blockDim.y + image.mask_width - 1, lane = threadIdx.x, sample = blockIdx.z;
  float *lines = (float *) shared + threadIdx.z * EIGHT * shape.line_pitch;
  Sum *ring = (Sum *) ((float *) shared + blockDim.z * EIGHT * shape.line_pitch);
  int left = image.x0 + blockIdx.x * WIDTH * blockDim.y, top = image.y0 + blockIdx.y * shape.height;
  int bottom = min (top + shape.height, image.y1), column = threadIdx.y * WIDTH + lane, x = left + column;

  if (!(image.select >> sample & 1)) {
    for (int y = top + threadIdx.z; y < bottom; y += blockDim.z)
      convolve_copied<T> (image, x, y, x < image.x1);
    return;
  }

  /* Taps of 0 meet the memory behind a line, and groups of row sums that are not there yet: all of it has to be numbers. */
  for (int i = (threadIdx.z * blockDim.y + threadIdx.y) * WIDTH + lane; i < shape.chunks;
       i += WIDTH * blockDim.y * blockDim.z)
    shared[i] = make_float4 (0, 0, 0, 0);
  __syncthreads ();

  /* The last turn may read as many rows more as a turn takes. */
  bool inside = convolve_is_inside (image, left, top, WIDTH * blockDim.y, shape.height + EIGHT * blockDim.z);
  int last = (bottom - top + EIGHT - 1) / EIGHT + shape.lag; /* behind the last group of row sums */
  int slot = threadIdx.z;                                    /* of this warp's group in the ring */
  for (int group = threadIdx.z; group - (int) threadIdx.z < last; group += blockDim.z) {
    for (int r = threadIdx.y; r < EIGHT; r += blockDim.y) {
      int y = top - image.mask_height / 2 + group * EIGHT + r;

      if (inside)
        load_line<T, CONVOLVE_INSIDE> (image, left, y, line_width, taps.middle, lines + r * shape.line_pitch);
      else
        load_line<T, P> (image, left, y, line_width, taps.middle, lines + r * shape.line_pitch);
    }
    __syncthreads ();

    int row = lane % EIGHT, first = threadIdx.y * WIDTH + lane / EIGHT * EIGHT;
    const float *line = lines + row * shape.line_pitch + first;
    *(Eight<Sum> *) (ring + (slot * EIGHT + row) * shape.ring_pitch + first) =
        sum_eight<Sum> (taps.row, image.mask_width, [&] {
          const Eight<float> values = *(const Eight<float> *) line;
          Eight<Sum> next;

#pragma unroll
          for (int c = 0; c < EIGHT; c++)
            next.at[c] = values.at[c];
          line += EIGHT;
          return next;
        });
    __syncthreads ();

    if (group >= shape.lag) { /* this group of row sums is the last one that these outputs need */
      int y = top + (group - shape.lag) * EIGHT, from = slot - shape.lag;

      from = from < 0 ? from + shape.groups : from;
      const Eight<Sum> sums = sum_eight<Sum> (taps.column, image.mask_height, [&] {
        const Sum *values = ring + from * EIGHT * shape.ring_pitch + column;
        Eight<Sum> next;

#pragma unroll
        for (int c = 0; c < EIGHT; c++)
          next.at[c] = values[c * shape.ring_pitch];
        from = from + 1 < shape.groups ? from + 1 : 0;
        return next;
      });
#pragma unroll
      for (int c = 0; c < EIGHT; c++)
        if (y + c < bottom && x < image.x1)
          convolve_store<T> (image, x, y + c, sample, sums.at[c] + (Sum) taps.restored);
    }
    slot += blockDim.z;
    slot = slot < shape.groups ? slot : slot - shape.groups;
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
        load_line<T, CONVOLVE_INSIDE> (image, left, y, line_width, 0, line);
      else
        load_line<T, CONVOLVE_ANYWHERE> (image, left, y, line_width, 0, line);
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
  const size_t shared = convolve_separable_shared_size (plan);

  if (plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS)
    return convolve_load_tiles (plan, products[plan->arithmetic.narrow][plan->pixel.type],
        { dim3 (WIDTH, ROWS), WIDTH, HEIGHT, shared }, plan->prepared, error);
  const ConvolveSeparableShape shape = ((const ConvolveSeparableTaps *) plan->prepared)->shape;
  return convolve_load_tiles (plan, kernels[!convolve_separable_sums_floats (plan)][plan->pixel.type][plan->boundary],
      { dim3 (WIDTH, shape.warps_across, shape.warps_down), WIDTH * shape.warps_across, shape.height, shared },
      plan->prepared, error);
}

ConvolveStatus
convolve_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return convolve_run_tiles (plan, plane, error);
}
