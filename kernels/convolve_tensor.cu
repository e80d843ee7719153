/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convolve_cuda.cuh"
#include "convolve_limbs.h"

#define WIDTH CONVOLVE_TENSOR_WIDTH
#define ROWS CONVOLVE_TENSOR_ROWS
#define WARPS CONVOLVE_TENSOR_WARPS
#define THREADS (32 * WARPS)

/* What a launch needs to know of the mask besides its size. The lengths are those of convolve_limbs.h. */
struct ConvolveBands
{
  const uint2 *operands;        /* [step][limb][lane] */
  int units, reach, margin, pitch, tile_size;
  ConvolveBoundary boundary;
  bool whole;
  ConvolveTail tail;
  bool plain;                   /* the tail in float will do, for the sum of all limbs in 32 bits */
  float range, unit_scale, unit_offset[CONVOLVE_MAX_SAMPLES];  /* what finish() takes instead of the tail */
};

/* sum += samples * band: 16 times 8 outputs, each 8 from 32 samples. */
static __device__ __forceinline__ void
multiply (int (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, uint2 band)
{
#if __CUDA_ARCH__ >= 800
  asm ("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r" (sum[0]), "+r" (sum[1]), "+r" (sum[2]), "+r" (sum[3])
      : "r" (a0), "r" (a1), "r" (a2), "r" (a3), "r" (band.x), "r" (band.y));
#endif
}

static __device__ __forceinline__ void
copy_later (uint4 *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile ("cp.async.cg.shared.global [%0], [%1], 16;" :: "r" ((unsigned) __cvta_generic_to_shared (to)),
      "l" (from) : "memory");
#endif
}

static __device__ __forceinline__ void
wait_for_copies (void)
{
#if __CUDA_ARCH__ >= 800
  asm volatile ("cp.async.wait_all;" ::: "memory");
#endif
}

/* Byte number at of each stride bytes, of 16 pixels. */
static __device__ __forceinline__ uint4
gather (const uint8_t *source, int stride, int at)
{
  const uint4 *from = (const uint4 *) source;
  unsigned word[4];

  if (stride == 2) {
    uint4 a = from[0], b = from[1];
    unsigned pick = at ? 0x7531 : 0x6420;

    return make_uint4 (__byte_perm (a.x, a.y, pick), __byte_perm (a.z, a.w, pick), __byte_perm (b.x, b.y, pick),
        __byte_perm (b.z, b.w, pick));
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint4 a = from[i];
    unsigned pick = at | (at + 4) << 4;

    word[i] = __byte_perm (__byte_perm (a.x, a.y, pick), __byte_perm (a.z, a.w, pick), 0x5410);
  }
  return make_uint4 (word[0], word[1], word[2], word[3]);
}

/* The low and the high bytes of four words become those of their samples. */
static __device__ __forceinline__ void
convert (const ConvolveImage &image, unsigned &low, unsigned &high)
{
  unsigned bits = (0xffffu >> image.shift) * 0x10001, most = image.maximum * 0x10001;
  unsigned a = __vminu2 (__byte_perm (low, high, 0x5140) >> image.shift & bits, most);
  unsigned b = __vminu2 (__byte_perm (low, high, 0x7362) >> image.shift & bits, most);

  low = __byte_perm (a, b, 0x6420);
  high = __byte_perm (a, b, 0x7531);
}

/* Row y's memory, or NULL where the zero level stands for all of it. */
static __device__ __forceinline__ const uint8_t *
find_row (const ConvolveImage &image, const ConvolveBands &mask, int y)
{
  y = convolve_boundary_index (mask.boundary, y, image.height);
  return y < 0 ? NULL : image.source + y * image.source_stride;
}

/* The sample at any column, inside the image or outside. */
template <typename T>
static __device__ __forceinline__ unsigned
load_sample (const ConvolveImage &image, const ConvolveBands &mask, const uint8_t *row, int x)
{
  x = convolve_boundary_index (mask.boundary, x, image.width);
  if (!row || x < 0)
    return (unsigned) image.zero[blockIdx.z];
  unsigned word = ((const T *) (row + (unsigned) (x * image.pixel_stride)))[blockIdx.z];
  return sizeof (T) == 1 ? word : min ((int) (convolve_swap (image, word) >> image.shift), image.maximum);
}

/* 16 samples from where they lie in one row, aligned. */
template <typename T>
static __device__ __forceinline__ void
load_chunk (const ConvolveImage &image, const uint8_t *pixels, uint8_t *to, uint8_t *high_to)
{
  int stride = image.pixel_stride;

  if (sizeof (T) == 2) {
    int byte = 2 * blockIdx.z;
    uint4 low = gather (pixels, stride, byte + image.swapped), high = gather (pixels, stride, byte + !image.swapped);

    convert (image, low.x, high.x);
    convert (image, low.y, high.y);
    convert (image, low.z, high.z);
    convert (image, low.w, high.w);
    *(uint4 *) to = low;
    *(uint4 *) high_to = high;
  } else if (stride == 1) {
    copy_later ((uint4 *) to, pixels);
  } else {
    *(uint4 *) to = gather (pixels, stride, blockIdx.z);
  }
}

/*
 * Fills the tile: first the columns that lie inside the image, 16 samples at a time, then the others, a sample at a
 * time; all are others where pixels do not lie so that 16 can be taken at once.
 */
template <typename T>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, const ConvolveBands &mask, int left, int top, uint8_t *tile, uint8_t *high_tile)
{
  int rows = WARPS * ROWS + image.mask_height - 1, pitch = mask.pitch, stride = image.pixel_stride;
  int x = left - mask.margin, y = top - image.mask_height / 2, thread = threadIdx.y * 32 + threadIdx.x;
  /* The last pixel may lack the bytes behind its samples. */
  int last = image.width - (stride > gridDim.z * sizeof (T));
  int from = x < 0 ? min ((15 - x) & ~15, pitch) : 0, to = max (min (last - x, pitch) & ~15, from);

  if (((uintptr_t) (image.source + (int64_t) x * stride) | image.source_stride) & 15
      || !(stride == 1 || stride == 2 || stride == 4))
    to = from;
  if (to > from) {
    int chunks = (to - from) / 16, rows_at_once = THREADS / chunks, first = thread / chunks;
    int column = from + 16 * (thread - first * chunks);

    for (int row = first < rows_at_once ? first : rows; row < rows; row += rows_at_once) {
      const uint8_t *line = find_row (image, mask, y + row);
      uint8_t *chunk = tile + row * pitch + column, *high_chunk = high_tile + row * pitch + column;

      if (line) {
        load_chunk<T> (image, line + (int64_t) (x + column) * stride, chunk, high_chunk);
      } else {
        unsigned zero = (unsigned) image.zero[blockIdx.z], low = (zero & 255) * 0x1010101, high = (zero >> 8) * 0x1010101;

        *(uint4 *) chunk = make_uint4 (low, low, low, low);
        if (sizeof (T) == 2)
          *(uint4 *) high_chunk = make_uint4 (high, high, high, high);
      }
    }
  }

  int words = (pitch - (to - from)) / 4;        /* of a row that are left */
  for (int i = thread; i < rows * words; i += THREADS) {
    int row = i / words, column = (i - row * words) * 4;
    const uint8_t *line = find_row (image, mask, y + row);
    unsigned sample[4];

    column += column >= from ? to - from : 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
      sample[k] = load_sample<T> (image, mask, line, x + column + k);
    *(unsigned *) (tile + row * pitch + column) = __byte_perm (__byte_perm (sample[0], sample[1], 0x0040),
        __byte_perm (sample[2], sample[3], 0x0040), 0x5410);
    if (sizeof (T) == 2)
      *(unsigned *) (high_tile + row * pitch + column) = __byte_perm (__byte_perm (sample[0], sample[1], 0x0051),
          __byte_perm (sample[2], sample[3], 0x0051), 0x5410);
  }
}

template <int L>
static __device__ __forceinline__ void
load_bands (uint2 (&bands)[L], const uint2 *operands)
{
#pragma unroll
  for (int l = 0; l < L; l++)
    bands[l] = __ldg (operands + 32 * l);
}

/*
 * Adds two units of each mask row; F is the first of the sums that they go to. Output row t of the warp takes mask
 * row j from the tile's row t + j, so that a ring of ROWS tile rows in registers serves ROWS rows of outputs.
 */
template <int L, int F, int N>
static __device__ __forceinline__ void
add_pair (int (&sums)[N][ROWS][4], const unsigned *pixels, int pitch, const uint2 *operands, int mask_height)
{
  unsigned ring[ROWS][4];
  uint2 bands[2][L];

#pragma unroll
  for (int t = 0; t < ROWS; t++, pixels += pitch)
#pragma unroll
    for (int k = 0; k < 4; k++)
      ring[t][k] = pixels[k / 2 * 4 + k % 2 * 16];
  load_bands<L> (bands[0], operands);

  for (int j = 0; j < mask_height; j += ROWS) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      if (j + i >= mask_height)
        break;
      operands += 32 * L;
      load_bands<L> (bands[(i + 1) % 2], operands);
#pragma unroll
      for (int t = 0; t < ROWS; t++) {
        unsigned (&row)[4] = ring[(i + t) % ROWS];

#pragma unroll
        for (int l = 0; l < L; l++)
          multiply (sums[F + l][t], row[0], row[1], row[2], row[3], bands[i % 2][l]);
        if (t == 0) {           /* its turn is over: the next row takes its place */
#pragma unroll
          for (int k = 0; k < 4; k++)
            row[k] = pixels[k / 2 * 4 + k % 2 * 16];
          pixels += pitch;
        }
      }
    }
  }
}

/* The same for one unit of two mask rows at a time. */
template <int L, int F, int N>
static __device__ __forceinline__ void
add_single (int (&sums)[N][ROWS][4], const unsigned *pixels, int pitch, const uint2 *operands, int mask_height)
{
  unsigned ring[ROWS][2];
  uint2 bands[2][L];

#pragma unroll
  for (int t = 0; t < ROWS; t++, pixels += pitch)
#pragma unroll
    for (int k = 0; k < 2; k++)
      ring[t][k] = pixels[k * 16];
  load_bands<L> (bands[0], operands);

  for (int j = 0; j < mask_height; j += ROWS) {
#pragma unroll
    for (int i = 0; i < ROWS; i += 2) {
      if (j + i >= mask_height)
        break;
      operands += 32 * L;
      load_bands<L> (bands[(i / 2 + 1) % 2], operands);
#pragma unroll
      for (int t = 0; t < ROWS; t++) {
        unsigned (&row)[2] = ring[(i + t) % ROWS], (&below)[2] = ring[(i + t + 1) % ROWS];

#pragma unroll
        for (int l = 0; l < L; l++)
          multiply (sums[F + l][t], row[0], row[1], below[0], below[1], bands[i / 2 % 2][l]);
        if (t < 2) {
          row[0] = pixels[0];
          row[1] = pixels[16];
          pixels += pitch;
        }
      }
    }
  }
}

/* All of the mask, from one tile of bytes. */
template <int L, int F, int N>
static __device__ __forceinline__ void
add_mask (int (&sums)[N][ROWS][4], const ConvolveImage &image, const ConvolveBands &mask, const uint8_t *tile)
{
  const unsigned *pixels = (const unsigned *) (tile + threadIdx.y * ROWS * mask.pitch + mask.margin - mask.reach)
      + threadIdx.x / 4 * 2 + threadIdx.x % 4;
  const uint2 *operands = mask.operands + threadIdx.x;

  for (int u = 1; u < mask.units; u += 2) {
    add_pair<L, F> (sums, pixels, mask.pitch / 4, operands, image.mask_height);
    pixels += 8;
    operands += 32 * L * image.mask_height;
  }
  if (mask.units % 2)
    add_single<L, F> (sums, pixels, mask.pitch / 4, operands, image.mask_height);
}

/* All limbs of a sum together, inside 32 bits. */
template <int N>
static __device__ __forceinline__ int
total_of (const int (&sums)[N][ROWS][4], int t, int k)
{
  unsigned total = sums[N - 1][t][k];

#pragma unroll
  for (int l = N - 2; l >= 0; l--)
    total = total * 256 + sums[l][t][k];
  return (int) total;
}

/*
 * The tail for most masks. The scale and offset are divided by the range of samples, so that the multiplication itself
 * clamps; the last sum has its ulp at 1 and is rounded to zero, which leaves the integer in its lowest bits.
 */
template <int N>
static __device__ __forceinline__ unsigned
finish (const ConvolveBands &mask, const int (&sums)[N][ROWS][4], int t, int k)
{
  float value = __saturatef (__fmaf_rn ((float) total_of (sums, t, k), mask.unit_scale, mask.unit_offset[blockIdx.z]));

  return __float_as_uint (__fmaf_rz (fminf (value, 1 - 1.0f / 131072), mask.range, 8388608));
}

/* The tail for all others. */
template <int N>
static __device__ __forceinline__ unsigned
finish_wide (const ConvolveBands &mask, const int (&sums)[N][ROWS][4], int t, int k)
{
  float sum = (float) sums[N - 1][t][k];

  if (mask.whole)
    return convolve_tail_float (&mask.tail, blockIdx.z, (float) total_of (sums, t, k));
#pragma unroll
  for (int l = N - 2; l >= 0; l--)
    sum = __fmaf_rn (sum, 256, (float) sums[l][t][k]);
  return convolve_tail_float (&mask.tail, blockIdx.z, sum);
}

/* Writes what the warp has summed; FAST where all of it is inside the region and pairs of samples lie aligned. */
template <typename T, bool FAST, int N>
static __device__ __forceinline__ void
store (const ConvolveImage &image, const ConvolveBands &mask, const int (&sums)[N][ROWS][4], int x, int y, uint8_t *to)
{
#pragma unroll
  for (int t = 0; t < ROWS; t++, to += image.destination_stride) {
    if (!FAST && y + t >= image.y1)
      break;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      unsigned a = FAST || mask.plain ? finish (mask, sums, t, 2 * half) : finish_wide (mask, sums, t, 2 * half);
      unsigned b = FAST || mask.plain ? finish (mask, sums, t, 2 * half + 1) : finish_wide (mask, sums, t, 2 * half + 1);
      int next = half * WIDTH / 2;
      T *at = (T *) (to + next * (FAST ? sizeof (T) : image.pixel_stride));

      if (sizeof (T) == 2) {
        a = convolve_swap (image, (a & 0xffff) << image.shift);
        b = convolve_swap (image, (b & 0xffff) << image.shift);
      }
      if (FAST) {
        if (sizeof (T) == 1)
          *(uint16_t *) at = __byte_perm (a, b, 0x0040);
        else
          *(uint32_t *) at = __byte_perm (a, b, 0x5410);
      } else {
        if (x + next < image.x1)
          *at = (T) a;
        if (x + next + 1 < image.x1)
          *(T *) ((uint8_t *) at + image.pixel_stride) = (T) b;
      }
    }
  }
}

template <typename T, int N>
static __device__ __forceinline__ void
store (const ConvolveImage &image, const ConvolveBands &mask, const int (&sums)[N][ROWS][4], int left, int top)
{
  int x = left + 2 * threadIdx.x, y = top + threadIdx.y * ROWS;
  uint8_t *to = (uint8_t *) convolve_destination<T> (image, x, y, blockIdx.z);

  if (mask.plain && left + WIDTH <= image.x1 && y + ROWS <= image.y1 && image.pixel_stride == sizeof (T)
      && (((uintptr_t) to | image.destination_stride) & (2 * sizeof (T) - 1)) == 0)
    store<T, true> (image, mask, sums, x, y, to);
  else
    store<T, false> (image, mask, sums, x, y, to);
}

/*
 * The idea: a row of samples times a row of the mask is a product with a banded matrix, whose columns are the mask row
 * shifted by one output each; the tensor cores multiply bytes at many times the rate of anything else. The taps are
 * L signed bytes each, their sums in 32 bits are exact. Of one product the 16 rows are 16 groups of 8 outputs, side
 * by side in one row of the image, and the band's 8 columns the outputs of a group; deep samples go through it
 * as low and as high bytes.
 */
template <typename T, int L>
__global__ void __launch_bounds__ (THREADS)
convolve_tensor (const __grid_constant__ ConvolveImage image, const __grid_constant__ ConvolveBands mask)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ uint4 shared[];
  const int N = L + sizeof (T) - 1;     /* sums of an output */
  uint8_t *tile = (uint8_t *) shared;
  uint8_t *high_tile = tile + mask.tile_size;
  int left = image.x0 + blockIdx.x * WIDTH, top = image.y0 + blockIdx.y * (WARPS * ROWS);
  int sums[N][ROWS][4] = { };

  if (!(image.select >> blockIdx.z & 1)) {
    for (int y = top + threadIdx.y; y < min (top + WARPS * ROWS, image.y1); y += WARPS)
      for (int x = left + threadIdx.x; x < min (left + WIDTH, image.x1); x += 32)
        convolve_copied<T> (image, x, y, true);
    return;
  }

  load_tile<T> (image, mask, left, top, tile, high_tile);
  wait_for_copies ();
  __syncthreads ();
  add_mask<L, 0> (sums, image, mask, tile);
  if (sizeof (T) == 2)
    add_mask<L, N - L> (sums, image, mask, high_tile);

  store<T> (image, mask, sums, left, top);
#endif
}

bool
convolve_tensor_possible (const ConvolveDevice *device)
{
  int major = 0;

  return cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor, convolve_device_id (device)) == cudaSuccess
      && major >= 8;
}

ConvolveStatus
convolve_tensor_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  static const ConvolveKernel<ConvolveBands> kernels[CONVOLVE_N_SAMPLE_TYPES][CONVOLVE_MAX_LIMBS] = {
    { convolve_tensor<uint8_t, 1>, convolve_tensor<uint8_t, 2>, convolve_tensor<uint8_t, 3> },
    { convolve_tensor<uint16_t, 1>, convolve_tensor<uint16_t, 2>, convolve_tensor<uint16_t, 3> },
  };
  const ConvolveLimbs *limbs = &plan->limbs;
  int width = plan->taps.width;
  ConvolveBands mask = { };

  mask.operands = (const uint2 *) plan->device_taps;
  mask.units = convolve_tensor_units (width);
  mask.reach = convolve_tensor_reach (width);
  mask.margin = convolve_tensor_margin (width);
  mask.pitch = convolve_tensor_pitch (width);
  mask.tile_size = mask.pitch * convolve_tensor_tile_rows (plan->taps.height);
  mask.boundary = plan->boundary;
  mask.whole = limbs->whole;
  mask.tail = limbs->tail;
  mask.plain = limbs->whole && !limbs->tail.wide;
  mask.range = 1 << plan->pixel.depth;
  mask.unit_scale = limbs->tail.scale_f / mask.range;
  for (int i = 0; i < plan->pixel.samples; i++)
    mask.unit_offset[i] = limbs->tail.offset_f[i] / mask.range;
  return convolve_launch (plan, plane, (const void *) kernels[plan->pixel.type][limbs->count - 1],
      { dim3 (32, WARPS), WIDTH, WARPS * ROWS, convolve_tensor_shared_size (plan) }, &mask, error);
}
