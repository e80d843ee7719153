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

/* A sample at any place, inside the image or outside; line is the row's memory, NULL where the zero level stands. */
template <typename T>
static __device__ __forceinline__ unsigned
load_sample (const ConvolveImage &image, ConvolveBoundary boundary, const uint8_t *line, int x)
{
  x = convolve_boundary_index (boundary, x, image.width);
  if (!line || x < 0)
    return (unsigned) image.zero[blockIdx.z];
  unsigned word = *(const T *) (line + (unsigned) (x * image.pixel_stride));
  return sizeof (T) == 1 ? word : min ((int) (convolve_swap (image, word) >> image.shift), image.maximum);
}

/* Fills the tile, 16 samples at a time: at once where they lie so that it can be done, otherwise one by one. */
template <typename T>
static __device__ __forceinline__ void
load_tile (const ConvolveImage &image, const ConvolveBands &mask, int left, int top, uint8_t *tile, uint8_t *high_tile)
{
  int chunks = mask.pitch / 16, rows = WARPS * ROWS + image.mask_height - 1;
  int thread = threadIdx.y * 32 + threadIdx.x;
  int row = thread / chunks, chunk = thread % chunks, row_step = THREADS / chunks, chunk_step = THREADS % chunks;
  int stride = image.pixel_stride;
  bool regular = stride == 1 || stride == 2 || stride == 4;

  while (row < rows) {
    int x = left - mask.margin + 16 * chunk;
    int y = convolve_boundary_index (mask.boundary, top - image.mask_height / 2 + row, image.height);
    const uint8_t *line = y < 0 ? NULL : (const uint8_t *) convolve_source<T> (image, 0, y, blockIdx.z);
    const uint8_t *pixels = line + (int64_t) x * stride - blockIdx.z * sizeof (T);
    uint4 *to = (uint4 *) (tile + row * mask.pitch + 16 * chunk);

    if (line && regular && x >= 0 && x + 16 <= image.width && ((uintptr_t) pixels & 15) == 0) {
      if (sizeof (T) == 2) {
        int at = 2 * blockIdx.z;
        uint4 low = gather (pixels, stride, at + image.swapped), high = gather (pixels, stride, at + !image.swapped);

        convert (image, low.x, high.x);
        convert (image, low.y, high.y);
        convert (image, low.z, high.z);
        convert (image, low.w, high.w);
        *to = low;
        *(uint4 *) (high_tile + row * mask.pitch + 16 * chunk) = high;
      } else if (stride == 1) {
        copy_later (to, pixels);
      } else {
        *to = gather (pixels, stride, blockIdx.z);
      }
    } else {
      for (int i = 0; i < 16; i++) {
        unsigned sample = load_sample<T> (image, mask.boundary, line, x + i);

        ((uint8_t *) to)[i] = sample;
        if (sizeof (T) == 2)
          high_tile[row * mask.pitch + 16 * chunk + i] = sample >> 8;
      }
    }
    chunk += chunk_step;
    row += row_step;
    if (chunk >= chunks) {
      chunk -= chunks;
      row++;
    }
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

/* From sums of limbs to the sample. */
template <int N>
static __device__ __forceinline__ unsigned
finish (const ConvolveBands &mask, const int (&sums)[N][ROWS][4], int t, int k)
{
  const ConvolveTail *tail = &mask.tail;
  float sum;

  if (mask.whole) {
    int total = sums[N - 1][t][k];

#pragma unroll
    for (int l = N - 2; l >= 0; l--)
      total = (int) ((unsigned) total * 256 + sums[l][t][k]);
    if (tail->wide)
      return convolve_tail_double (tail, blockIdx.z, total);
    sum = (float) total;
  } else {
    sum = (float) sums[N - 1][t][k];
#pragma unroll
    for (int l = N - 2; l >= 0; l--)
      sum = __fmaf_rn (sum, 256, (float) sums[l][t][k]);
  }
  float value = __fmaf_rn (sum, tail->scale_f, tail->offset_f[blockIdx.z]);
  return (unsigned) fminf (fmaxf (value, 0), tail->maximum);
}

/* Two outputs side by side. */
template <typename T>
static __device__ __forceinline__ void
store (const ConvolveImage &image, int x, int y, unsigned a, unsigned b)
{
  T *to = convolve_destination<T> (image, x, y, blockIdx.z);

  if (sizeof (T) == 2) {
    a = convolve_swap (image, a << image.shift);
    b = convolve_swap (image, b << image.shift);
  }
  if (image.pixel_stride == sizeof (T) && x + 1 < image.x1 && (uintptr_t) to % (2 * sizeof (T)) == 0) {
    if (sizeof (T) == 1)
      *(uint16_t *) to = a | b << 8;
    else
      *(uint32_t *) to = a | b << 16;
    return;
  }
  if (x < image.x1)
    *to = a;
  if (x + 1 < image.x1)
    *(T *) ((uint8_t *) to + image.pixel_stride) = b;
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

#pragma unroll
  for (int t = 0; t < ROWS; t++) {
    int x = left + 2 * threadIdx.x, y = top + threadIdx.y * ROWS + t;

    if (y < image.y1) {
      store<T> (image, x, y, finish (mask, sums, t, 0), finish (mask, sums, t, 1));
      store<T> (image, x + WIDTH / 2, y, finish (mask, sums, t, 2), finish (mask, sums, t, 3));
    }
  }
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
  ConvolveBands mask = { (const uint2 *) plan->device_taps, convolve_tensor_units (width),
    convolve_tensor_reach (width), convolve_tensor_margin (width), convolve_tensor_pitch (width),
    convolve_tensor_pitch (width) * convolve_tensor_tile_rows (plan->taps.height), plan->boundary, limbs->whole, limbs->tail };

  return convolve_launch (plan, plane, (const void *) kernels[plan->pixel.type][limbs->count - 1],
      { dim3 (32, WARPS), WIDTH, WARPS * ROWS, convolve_tensor_shared_size (plan) }, &mask, error);
}
