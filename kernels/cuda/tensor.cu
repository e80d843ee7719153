/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/border.cuh"
#include "cuda/tensor.h"
#include "cuda/tensor_tile.cuh"

#define SHARED_OF_A_THIRD (72 * 1024) /* bytes, of a multiprocessor of compute capability 8.0 and more */
#define SLICED_PIXELS (1 << 20)       /* the largest plane that is faster so: chroma of 1080p is, that of 4K is not */

/* sum += samples * band: 16 times 8 outputs, each 8 from 32 samples. */
static __device__ __forceinline__ void
multiply (int (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, uint2 band)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(band.x), "r"(band.y));
#endif
}

/* Volatile, for the compiler would put it off to where the operands are used, and that is when they must be there. */
template <int L>
static __device__ __forceinline__ void
load_bands (uint2 (&bands)[L], const uint2 *operands)
{
#pragma unroll
  for (int l = 0; l < L; l++)
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(bands[l].x), "=r"(bands[l].y) : "l"(operands + 32 * l));
}

/* What add_units() works with. */
template <int L>
struct Ring
{
  unsigned row[ROWS][4];
  uint2 bands[2][L];
  const unsigned *pixels; /* of the next row */
  const uint2 *operands;  /* of the next step */
  int pitch, second;
};

template <int L>
static __device__ __forceinline__ void
load_row (Ring<L> &ring, int slot, const unsigned *pixels)
{
#pragma unroll
  for (int k = 0; k < 4; k++)
    ring.row[slot][k] = pixels[k / 2 * ring.second + k % 2 * (WIDTH / 8)];
}

/* One step; I is the ring's slot of its first row. */
template <int L, int F, int SHIFT, int I, int N>
static __device__ __forceinline__ void
add_step (int (&sums)[N][ROWS][4], Ring<L> &ring)
{
  ring.operands += 32 * L;
  load_bands<L> (ring.bands[(I / SHIFT + 1) % 2], ring.operands);
#pragma unroll
  for (int t = 0; t < ROWS; t++) {
    const int slot = (I + t) % ROWS;

#pragma unroll
    for (int l = 0; l < L; l++)
      multiply (sums[F + l][t], ring.row[slot][0], ring.row[slot][1], ring.row[slot][2], ring.row[slot][3],
          ring.bands[I / SHIFT % 2][l]);
    if (t < SHIFT) { /* its turn is over: a later row takes its place */
      load_row<L> (ring, slot, ring.pixels);
      ring.pixels += ring.pitch;
    }
  }
}

/*
 * Adds what two units give; F is the first of the sums that they go to. SHIFT 1: two units of one mask row after the
 * other, side by side. SHIFT 2: one unit of two mask rows at a time. Output row t of the warp takes mask row j from
 * the tile's row t + j, so that a ring of operands in registers serves ROWS rows of outputs. The first round begins
 * with a later slot, so that rounds end with the last step: a way out of the middle would let the compiler put off
 * what is loaded ahead.
 */
template <int L, int F, int SHIFT, int N>
static __device__ __forceinline__ void
add_units (int (&sums)[N][ROWS][4], const unsigned *pixels, int pitch, const uint2 *operands, int mask_height)
{
  const int rows = SHIFT == 1 ? mask_height : mask_height + 1; /* the mask's; its height is odd */
  const int first = -rows & (ROWS - 1);
  Ring<L> ring;

  ring.pitch = pitch;
  ring.second = SHIFT == 1 ? CONVOLVE_TENSOR_UNIT / 4 : pitch;
  ring.operands = operands;
  ring.pixels = pixels + ROWS * pitch;
#pragma unroll
  for (int slot = 0; slot < ROWS; slot++)
    load_row<L> (ring, slot, pixels + ((slot - first) & (ROWS - 1)) * pitch);
  load_bands<L> (ring.bands[0], operands);
#pragma unroll
  for (int l = 0; l < L; l++)
    ring.bands[1][l] = ring.bands[0][l];

  int rounds = (rows + ROWS - 1) / ROWS;
  static_assert (ROWS == 8, "a step for each");
  switch (first) {
    do {
      case 0:
        add_step<L, F, SHIFT, 0> (sums, ring);
      case 1:
        if (SHIFT == 1)
          add_step<L, F, SHIFT, 1> (sums, ring);
      case 2:
        add_step<L, F, SHIFT, 2> (sums, ring);
      case 3:
        if (SHIFT == 1)
          add_step<L, F, SHIFT, 3> (sums, ring);
      case 4:
        add_step<L, F, SHIFT, 4> (sums, ring);
      case 5:
        if (SHIFT == 1)
          add_step<L, F, SHIFT, 5> (sums, ring);
      case 6:
        add_step<L, F, SHIFT, 6> (sums, ring);
      case 7:
        if (SHIFT == 1)
          add_step<L, F, SHIFT, 7> (sums, ring);
    } while (--rounds > 0);
  }
}

/* All of the mask, from one tile of bytes. */
template <int L, int F, int N>
static __device__ __forceinline__ void
add_mask (int (&sums)[N][ROWS][4], const ConvolveImage &image, const ConvolveBands &mask, const uint8_t *tile)
{
  const unsigned *pixels = (const unsigned *) (tile + threadIdx.y * ROWS * mask.pitch + mask.margin - mask.radius)
      + threadIdx.x / 4 * 2 + threadIdx.x % 4;
  const uint2 *operands = mask.operands + threadIdx.x;

  for (int u = 1; u < mask.units; u += 2) {
    add_units<L, F, 1> (sums, pixels, mask.pitch / 4, operands, image.mask_height);
    pixels += 8;
    operands += 32 * L * image.mask_height;
  }
  if (mask.units % 2)
    add_units<L, F, 2> (sums, pixels, mask.pitch / 4, operands, image.mask_height);
}

/* All limbs of a sum together: inside 32 bits, or rounded. */
template <bool WHOLE, int N>
static __device__ __forceinline__ float
total_of (const int (&sums)[N][ROWS][4], int t, int k)
{
  unsigned whole = sums[N - 1][t][k];
  float total = (float) sums[N - 1][t][k];

#pragma unroll
  for (int l = N - 2; l >= 0; l--) {
    whole = whole * 256 + sums[l][t][k];
    total = __fmaf_rn (total, 256, (float) sums[l][t][k]);
  }
  return WHOLE ? (float) (int) whole : total;
}

/*
 * The tail in float. Scale and offset are divided by the range of samples, so that the multiplication itself clamps;
 * the last sum has its ulp at 1 and is rounded to zero, which leaves the integer in its lowest bits.
 */
static __device__ __forceinline__ unsigned
finish (const ConvolveBands &mask, int sample, float total)
{
  float value = __saturatef (__fmaf_rn (total, mask.unit_scale, mask.unit_offset[sample]));

  return __float_as_uint (__fmaf_rz (value, mask.range, 8388608));
}

/* Two samples as they lie in memory, from the low bits of two words. */
template <typename T>
static __device__ __forceinline__ unsigned
pack (const ConvolveImage &image, unsigned a, unsigned b)
{
  if (sizeof (T) == 1)
    return __byte_perm (a, b, 0x0040);
  unsigned pair = __byte_perm (a, b, 0x5410) << image.shift;
  return image.swapped ? __byte_perm (pair, 0, 0x2301) : pair;
}

template <typename T, bool WHOLE, int N>
static __device__ __forceinline__ void
finish_float (const ConvolveImage &image, const ConvolveBands &mask, int sample, const int (&sums)[N][ROWS][4],
    unsigned (&pairs)[ROWS][2])
{
#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      pairs[t][half] = pack<T> (image, finish (mask, sample, total_of<WHOLE> (sums, t, 2 * half)),
          finish (mask, sample, total_of<WHOLE> (sums, t, 2 * half + 1)));
}

/* An exact plan's tail, in float where rounding down keeps it exact; convolve_floor () of words clamps, any gain. */
template <bool DOWN>
static __device__ __forceinline__ unsigned
finish_exact (const ConvolveTail &tail, int sample, float total)
{
  return DOWN ? convolve_floor<uint16_t> (tail, sample, total) : convolve_tail_double (&tail, sample, total);
}

template <typename T, bool DOWN, int N>
static __device__ __forceinline__ void
finish_wide (const ConvolveImage &image, const ConvolveBands &mask, int sample, const int (&sums)[N][ROWS][4],
    unsigned (&pairs)[ROWS][2])
{
#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      pairs[t][half] = pack<T> (image, finish_exact<DOWN> (mask.tail, sample, total_of<true> (sums, t, 2 * half)),
          finish_exact<DOWN> (mask.tail, sample, total_of<true> (sums, t, 2 * half + 1)));
}

/* Sums of an exact plan's single limb: see common/integer_tail.h. Not begun at the start, which takes registers. */
template <typename T, bool CLAMPS, int N>
static __device__ __forceinline__ void
finish_integers (const ConvolveImage &image, const ConvolveIntegerTail &tail, int sample, const int (&sums)[N][ROWS][4],
    unsigned (&pairs)[ROWS][2])
{
  const int start = tail.start[sample];
  const float offset = tail.offset[sample];

#pragma unroll
  for (int t = 0; t < ROWS; t++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      int a = __float_as_int (__fmaf_rd (__int_as_float (sums[0][t][2 * half] + start), tail.scale, offset));
      int b = __float_as_int (__fmaf_rd (__int_as_float (sums[0][t][2 * half + 1] + start), tail.scale, offset));

      pairs[t][half] =
          CLAMPS ? convolve_clamp_bytes (b - CONVOLVE_MAGIC_BITS, a - CONVOLVE_MAGIC_BITS, 0) : pack<T> (image, a, b);
    }
}

/* The outputs of this lane: two side by side in each half of the tile's width, in each of the warp's rows. */
template <typename T, int N>
static __device__ __forceinline__ void
finish_all (const ConvolveImage &image, const ConvolveBands &mask, int sample, const int (&sums)[N][ROWS][4],
    unsigned (&pairs)[ROWS][2])
{
  if (sizeof (T) == 1 && N == 1 && mask.integers && !mask.integer_tail.clamps)
    finish_integers<T, false> (image, mask.integer_tail, sample, sums, pairs);
  else if (sizeof (T) == 1 && N == 1 && mask.integers)
    finish_integers<T, true> (image, mask.integer_tail, sample, sums, pairs);
  else if (!mask.fits)
    finish_float<T, false> (image, mask, sample, sums, pairs);
  else if (!mask.tail.wide)
    finish_float<T, true> (image, mask, sample, sums, pairs);
  else if (!mask.tail.wide_down)
    finish_wide<T, true> (image, mask, sample, sums, pairs);
  else
    finish_wide<T, false> (image, mask, sample, sums, pairs);
}

/* Writes the outputs of one sample. x and y are those of this lane's first one. */
template <typename T, bool PLANAR>
static __device__ __forceinline__ void
store (const ConvolveImage &image, int sample, const unsigned (&pairs)[ROWS][2], int left, int x, int y)
{
  uint8_t *to = (uint8_t *) convolve_destination<T> (image, x, y, sample);

  if (left + WIDTH <= image.x1 && y + ROWS <= image.y1 && (PLANAR || image.pixel_stride == sizeof (T))
      && (((uintptr_t) to | image.destination_stride) & (2 * sizeof (T) - 1)) == 0) {
#pragma unroll
    for (int t = 0; t < ROWS; t++, to += image.destination_stride)
#pragma unroll
      for (int half = 0; half < 2; half++)
        if (sizeof (T) == 1)
          *(uint16_t *) (to + half * WIDTH / 2) = pairs[t][half];
        else
          *(uint32_t *) (to + half * WIDTH) = pairs[t][half];
    return;
  }
#pragma unroll
  for (int t = 0; t < ROWS; t++, to += image.destination_stride)
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int next = k / 2 * (WIDTH / 2) + k % 2;

      if (x + next < image.x1 && y + t < image.y1)
        *(T *) (to + next * image.pixel_stride) = (T) (pairs[t][k / 2] >> k % 2 * 8 * sizeof (T));
    }
}

/* Writes whole pixels of 2 to 4 bytes; of each, this lane put its 4 outputs of row t to stage[sample * ROWS + t]. */
template <bool SLICED>
static __device__ __forceinline__ void
store_pixels (const ConvolveImage &image, const unsigned *stage, int left, int x, int y)
{
  const int first = SLICED ? threadIdx.z : 0, step = SLICED ? 2 : 1;
  int samples = image.pixel_stride;
  uint8_t *to = convolve_destination<uint8_t> (image, x, y, 0);
  bool aligned = left + WIDTH <= image.x1 && y + ROWS <= image.y1
      && (((uintptr_t) to | image.destination_stride)
             & (samples == 4        ? 7
                     : samples == 2 ? 3
                                    : 1))
          == 0;

  to += first * image.destination_stride;
  for (int t = first; t < ROWS; t += step, to += step * image.destination_stride) {
    unsigned of[4];

#pragma unroll
    for (int sample = 0; sample < 4; sample++)
      of[sample] = sample < samples ? stage[(sample * ROWS + t) * THREADS] : 0;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      uint8_t *at = to + half * WIDTH / 2 * samples;
      unsigned low = __byte_perm (of[0], of[1], half ? 0x7362 : 0x5140);
      unsigned high = __byte_perm (of[2], of[3], half ? 0x7362 : 0x5140);

      if (!aligned) {
        for (int k = 0; k < 2; k++)
          for (int sample = 0; sample < samples; sample++)
            if (x + half * WIDTH / 2 + k < image.x1 && y + t < image.y1)
              at[k * samples + sample] = (sample < 2 ? low : high) >> (16 * k + 8 * (sample & 1));
      } else if (samples == 2) {
        *(unsigned *) at = low;
      } else if (samples == 4) {
        *(uint2 *) at = make_uint2 (__byte_perm (low, high, 0x5410), __byte_perm (low, high, 0x7632));
      } else {
        ((uint16_t *) at)[0] = low;
        ((uint16_t *) at)[1] = __byte_perm (low, high, 0x0024);
        ((uint16_t *) at)[2] = __byte_perm (low, high, 0x0063);
      }
    }
  }
}

/* Blocks that a multiprocessor is to hold; more would not leave them the registers for their sums. */
static constexpr int
blocks_of (int sample_size, int limbs, bool planar)
{
  return limbs + sample_size < 3 ? planar ? 6 : 5 : limbs + sample_size < 4 ? 4 : limbs + sample_size < 5 ? 3 : 2;
}

/*
 * The idea: a row of samples times a row of the mask is a product with a banded matrix, whose columns are the mask row
 * shifted by one output each; the tensor cores multiply bytes at many times the rate of anything else. The taps are
 * L signed bytes each, their sums in 32 bits are exact. Of one product the 16 rows are 16 groups of 8 outputs, side
 * by side in one row of the image, and the band's 8 columns the outputs of a group; deep samples go through it
 * as low and as high bytes. PLANAR: pixels are one sample, without a gap. SLICED: a block has threads for both samples
 * of its pixels; in small planes, such as chroma, blocks are few and each is waited for.
 */
template <typename T, int L, bool PLANAR, bool SLICED>
__global__ void __launch_bounds__ (SLICED ? 2 * THREADS : THREADS, SLICED ? 1 : blocks_of (sizeof (T), L, PLANAR))
    convolve_tensor (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveBands mask)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ uint4 shared[];
  const int N = L + sizeof (T) - 1; /* sums of an output */
  const bool together = !PLANAR && sizeof (T) == 1 && mask.together;
  const int slice = SLICED ? threadIdx.z : 0, slices = SLICED ? 2 : 1;
  int first = PLANAR || together ? 0 : blockIdx.z, last = PLANAR ? 1 : together ? gridDim.z : blockIdx.z + 1;
  uint8_t *tile = (uint8_t *) shared;
  unsigned *stage =
      (unsigned *) (tile + (last - first) * sizeof (T) * mask.plane_size) + threadIdx.y * 32 + threadIdx.x;
  int left = image.x0 + blockIdx.x * WIDTH;
  int top = image.y0 + (together ? blockIdx.y * gridDim.z + blockIdx.z : blockIdx.y) * HEIGHT;
  int x = left + 2 * threadIdx.x, y = top + threadIdx.y * ROWS;

  convolve_wait ();
  if (top >= image.y1)
    return;
  if (!PLANAR && !together && !(image.select >> blockIdx.z & 1)) {
    for (int row = top + threadIdx.y; row < min (top + HEIGHT, image.y1); row += WARPS)
      for (int column = left + threadIdx.x; column < min (left + WIDTH, image.x1); column += 32)
        convolve_copied<T> (image, column, row, true);
    return;
  }

  Columns columns = find_columns<T, PLANAR> (image, mask, left);
  load_inside<T, PLANAR> (image, mask, columns, top, first, last, slice, tile);
  convolve_wait_for_copies ();
  if (columns.to - columns.from < mask.pitch) {
    load_outside<T> (image, mask, columns, top, first, last, slice, slices, tile);
    __syncthreads ();
  }

  tile += slice * sizeof (T) * mask.plane_size;
  for (int sample = first + slice; sample < last; sample += slices, tile += slices * sizeof (T) * mask.plane_size) {
    unsigned pairs[ROWS][2];

    if (PLANAR || image.select >> sample & 1) {
      int sums[N][ROWS][4] = {};

      add_mask<L, 0> (sums, image, mask, tile);
      if (sizeof (T) == 2)
        add_mask<L, N - L> (sums, image, mask, tile + mask.plane_size);
      finish_all<T> (image, mask, sample, sums, pairs);
    } else {
      const uint8_t *from =
          tile + (threadIdx.y * ROWS + image.mask_height / 2) * mask.pitch + mask.margin + 2 * threadIdx.x;

#pragma unroll
      for (int k = 0; k < 2 * ROWS; k++)
        pairs[k / 2][k % 2] = *(const uint16_t *) (from + k / 2 * mask.pitch + k % 2 * (WIDTH / 2));
    }
    if (!together)
      store<T, PLANAR> (image, sample, pairs, left, x, y);
#pragma unroll
    for (int t = 0; t < ROWS && together; t++)
      stage[(sample * ROWS + t) * THREADS] = __byte_perm (pairs[t][0], pairs[t][1], 0x5410);
  }
  if (SLICED)
    __syncthreads ();
  if (together)
    store_pixels<SLICED> (image, stage, left, x, y);
#endif
}

static ConvolveFold
fold_of (ConvolveBoundary boundary, int n)
{
  switch (boundary) {
    case CONVOLVE_BOUNDARY_REPLICATE:
      return { 0, 0, 0, n - 1 };
    case CONVOLVE_BOUNDARY_REFLECT:
      return { -1, -1, -1, 2 * n - 1 };
    case CONVOLVE_BOUNDARY_REFLECT_101:
      return { -1, 0, -1, 2 * n - 2 };
    case CONVOLVE_BOUNDARY_WRAP:
      return { 1, n, 1, -n };
    case CONVOLVE_BOUNDARY_ZERO:
    case CONVOLVE_N_BOUNDARIES:
      break;
  }
  return { 0, -1, 0, -1 };
}

/* What load () leaves: the plane fills the folds of the bands, and what depends on the plane's size. */
struct Loaded
{
  const void *kernel, *sliced; /* sliced is NULL where no plane is better done so */
  size_t shared;
  ConvolveBands bands;
};

static ConvolveBands
describe_bands (const ConvolvePlan *plan, const ConvolveLimbs *limbs)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveTail *tail = &limbs->tail;
  const int width = plan->taps.width, height = plan->taps.height;
  ConvolveBands bands = {};

  bands.operands = (const uint2 *) plan->device_memory;
  bands.units = convolve_tensor_units (width);
  bands.radius = convolve_tensor_radius (width);
  bands.margin = convolve_tensor_margin (width);
  bands.pitch = convolve_tensor_pitch (width);
  bands.plane_size = bands.pitch * convolve_tensor_tile_rows (height);
  bands.chunks = bands.pitch / 16;
  bands.chunk_factor = (65536 + bands.chunks - 1) / bands.chunks;
  bands.boundary = plan->boundary;
  bands.fits = limbs->fits;
  bands.tail = *tail;
  bands.integers = limbs->integers;
  if (bands.integers)
    bands.integer_tail = limbs->integer_tail;
  bands.range = (1 << pixel->depth) - 1 / 128.0f;
  bands.unit_scale = (float) (tail->scale / bands.range);
  for (int i = 0; i < pixel->samples; i++)
    bands.unit_offset[i] = (float) (tail->offset[i] / bands.range);
  return bands;
}

ConvolveStatus
convolve_tensor_load (ConvolvePlan *plan, ConvolveError *error)
{
#define LIMBS(T, ...) \
  { \
    (const void *) convolve_tensor<T, 1, __VA_ARGS__>, (const void *) convolve_tensor<T, 2, __VA_ARGS__>, \
        (const void *) convolve_tensor<T, 3, __VA_ARGS__> \
  }
  static const void *const kernels[CONVOLVE_N_SAMPLE_TYPES][2][CONVOLVE_MAX_LIMBS] = {
    { LIMBS (uint8_t, false, false), LIMBS (uint8_t, true, false) },
    { LIMBS (uint16_t, false, false), LIMBS (uint16_t, true, false) },
  };
  static const void *const sliced_kernels[CONVOLVE_MAX_LIMBS] = LIMBS (uint8_t, false, true);
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveLimbs *limbs = (const ConvolveLimbs *) plan->prepared;
  const bool planar = pixel->select == 1 && pixel->samples == 1 && pixel->stride == convolve_sample_size (pixel->type);
  const size_t tile = convolve_tensor_shared_size (plan);
  const size_t stage = (size_t) pixel->samples * ROWS * THREADS * sizeof (unsigned);
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);
  ConvolveStatus status;

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  loaded->bands = describe_bands (plan, limbs);
  loaded->kernel = kernels[pixel->type][planar][limbs->count - 1];
  /* All samples of a pixel in one block, where a multiprocessor still holds three: single samples are slow to write. */
  loaded->bands.together = pixel->type == CONVOLVE_SAMPLE_U8 && pixel->samples > 1 && pixel->samples == pixel->stride
      && pixel->samples * tile + stage <= SHARED_OF_A_THIRD;
  loaded->shared = loaded->bands.together ? pixel->samples * tile + stage : tile;
  if (loaded->bands.together && pixel->samples == 2)
    loaded->sliced = sliced_kernels[limbs->count - 1];
  status = convolve_allow_shared (plan->device, loaded->kernel, loaded->shared, error);
  if (status == CONVOLVE_OK && loaded->sliced)
    status = convolve_allow_shared (plan->device, loaded->sliced, loaded->shared, error);
  return status;
}

ConvolveStatus
convolve_tensor_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const bool sliced = loaded->sliced && (int64_t) plane->region.width * plane->region.height <= SLICED_PIXELS;
  ConvolveBands bands = loaded->bands;

  bands.fold_x = fold_of (plan->boundary, plane->width);
  bands.fold_y = fold_of (plan->boundary, plane->height);
  bands.rows_together = THREADS * (sliced ? 2 : 1) / bands.chunks;
  return convolve_launch (plan, plane, sliced ? loaded->sliced : loaded->kernel,
      { dim3 (32, WARPS, sliced ? 2 : 1), WIDTH, HEIGHT * (bands.together ? plan->pixel.samples : 1), loaded->shared,
          dim3 (), true },
      &bands, error);
}
