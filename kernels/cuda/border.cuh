/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the fast variants divide a plane. The inner part reads only what is inside the image, in aligned chunks: it is
 * written without a thought of edges, and tiles that would reach beyond it are moved back, to do again what a neighbour
 * does too. All else is the rim, a thread for four samples: what is near an edge, ends of rows, and all of a plane that
 * is not aligned. The blocks of the rim come first, so that none of them is what the launch waits for at the end.
 */
#ifndef CONVOLVE_CUDA_BORDER_CUH
#define CONVOLVE_CUDA_BORDER_CUH

#include "common/integer_tail.h"
#include "cuda/border.h"
#include "cuda/launch.cuh"

#define CONVOLVE_LANES 32
#define CONVOLVE_WARPS 4 /* of a block, one above the other, where nothing else is better */
#define CONVOLVE_GROUP 4 /* pixels; as many words of memory as a pixel has bytes */

struct ConvolveParts
{
  int left, top, right, bottom; /* the inner part; none where left == right */
  int rim_rows;                 /* of blocks */
  ConvolveBoundary boundary;
};

/* Loads N words, as many at once as their number and place allow. */
template <int N>
static __device__ __forceinline__ void
convolve_load_words (const uint8_t *at, uint32_t *words)
{
  if (N % 4 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 4) {
      uint4 four = __ldg ((const uint4 *) (at + i * 4));
      words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
    }
  else if (N % 2 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      uint2 two = __ldg ((const uint2 *) (at + i * 4));
      words[i] = two.x, words[i + 1] = two.y;
    }
  else
#pragma unroll
    for (int i = 0; i < N; i++)
      words[i] = __ldg ((const uint32_t *) at + i);
}

template <int N>
static __device__ __forceinline__ void
convolve_store_words (uint8_t *at, const uint32_t (&words)[N])
{
  if (N % 4 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 4)
      *(uint4 *) (at + i * 4) = make_uint4 (words[i], words[(i + 1) % N], words[(i + 2) % N], words[(i + 3) % N]);
  else if (N % 2 == 0)
#pragma unroll
    for (int i = 0; i < N; i += 2)
      *(uint2 *) (at + i * 4) = make_uint2 (words[i], words[(i + 1) % N]);
  else
#pragma unroll
    for (int i = 0; i < N; i++)
      ((uint32_t *) at)[i] = words[i];
}

/* Four unsigned bytes times four signed ones, summed. */
static __device__ __forceinline__ int
convolve_dot (uint32_t bytes, int taps, int sum)
{
  int result;

  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(bytes), "r"(taps), "r"(sum));
  return result;
}

/*
 * Weights as they are to be multiplied with. From compute capability 10.0 on products take none from the launch's
 * parameters: there the compiler needs minutes to find a way for each, if they are not in registers to begin with.
 */
template <int N>
static __device__ __forceinline__ void
convolve_take (int (&taps)[N], const int (&from)[N])
{
#pragma unroll
  for (int i = 0; i < N; i++) {
    taps[i] = from[i];
#if __CUDA_ARCH__ >= 1000
    asm volatile("" : "+r"(taps[i]));
#endif
  }
}

/* The four bytes from byte k of words on. */
static __device__ __forceinline__ uint32_t
convolve_shifted (const uint32_t *words, int k)
{
  return k % 4 == 0 ? words[k / 4] : __byte_perm (words[k / 4], words[k / 4 + 1], 0x3210 + k % 4 * 0x1111);
}

/* The bytes of one sample from a group of S. */
template <int S>
static __device__ __forceinline__ uint32_t
convolve_pick (const uint32_t *words, int sample)
{
  if (S == 1)
    return words[0];
  if (S == 2)
    return __byte_perm (words[0], words[S - 1], sample == 0 ? 0x6420 : 0x7531);
  unsigned from = sample | (sample + 4) << 4;
  uint32_t low = __byte_perm (words[0], words[1], from), high = __byte_perm (words[2], words[S - 1], from);
  return __byte_perm (low, high, 0x5410);
}

/* Deep samples as they count: without what their words have beside them, and none above the largest. */
static __device__ __forceinline__ uint32_t
convolve_clean (const ConvolveImage &image, uint32_t word)
{
  return __vminu2 (word & (0xffff << image.shift & 0xffff) * 0x10001, (image.maximum << image.shift) * 0x10001);
}

/*
 * Sample k of words, as a float. One of 16 bits comes as it lies in its word, times 2^shift: the weights are divided by
 * that, which is exact, see convolve_tap_unit ().
 */
template <typename T>
static __device__ __forceinline__ float
convolve_value (const ConvolveImage &image, const uint32_t *words, int k)
{
  /* A float with the sample in its last bits, less the same without: cheaper than to convert an integer. */
  if (sizeof (T) == 1)
    return __uint_as_float (__byte_perm (words[k / 4], 0x4B000000, 0x7440 + k % 4)) - 8388608.0f;
  return __uint_as_float (__byte_perm (convolve_clean (image, words[k / 2]), 0x4B000000, k % 2 ? 0x7632 : 0x7610))
      - 8388608.0f;
}

/* What taps are multiplied by for the values above. */
static inline float
convolve_tap_unit (const ConvolvePlan *plan)
{
  return 1.0f / (1 << plan->pixel.shift);
}

/* Two values, clamped to bytes; above them the lower half of what is there already. */
static __device__ __forceinline__ uint32_t
convolve_clamp_bytes (int high, int low, uint32_t above)
{
  uint32_t result;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(high), "r"(low), "r"(above));
  return result;
}

/*
 * The sum as the integer below the value. Rounding down keeps a number on its side of every integer, so that only what
 * is rounded before counts: see ConvolveTail.wide_down. Values of bytes are below 2^22, as accepts_layout () sees to,
 * and clamped afterwards.
 */
template <typename T>
static __device__ __forceinline__ int
convolve_floor_from (const ConvolveTail &tail, float offset, float sum)
{
  float value = __fmaf_rd (sum, tail.scale_f, __fmaf_rd (sum, tail.scale_low, offset));

  if (sizeof (T) > 1)
    value = fminf (fmaxf (value, 0), tail.maximum);
  return __float_as_int (__fadd_rd (value, CONVOLVE_MAGIC)) - CONVOLVE_MAGIC_BITS;
}

template <typename T>
static __device__ __forceinline__ int
convolve_floor (const ConvolveTail &tail, int sample, float sum)
{
  return convolve_floor_from<T> (tail, tail.offset_f[sample], sum);
}

/* Sums become the samples of one word. */
template <typename T>
static __device__ __forceinline__ uint32_t
convolve_finish (const ConvolveImage &image, const int *samples, const float *sums)
{
  int values[4];

#pragma unroll
  for (int i = 0; i < 4 / (int) sizeof (T); i++)
    values[i] = convolve_floor<T> (image.tail, samples[i], sums[i]);
  if (sizeof (T) == 1)
    return convolve_clamp_bytes (values[1], values[0], convolve_clamp_bytes (values[3], values[2], 0));
  return (unsigned) values[0] << image.shift | (unsigned) values[1] << image.shift << 16;
}

static __device__ __noinline__ unsigned
convolve_finish_wide (const ConvolveImage *image, int sample, float sum)
{
  return convolve_tail_double (&image->tail, sample, sum) << image->shift;
}

/*
 * Stores the outputs of a thread, R rows of W groups. source is its own part of the rows of input from y on,
 * for the samples that are copied. Where the tail needs doubles all is stored once more: a choice at each value would
 * cost more than the second pass.
 */
template <typename T, int S, int W, int R, int N>
static __device__ __forceinline__ void
convolve_store_sums (const ConvolveImage &image, int2 tile, const float (&sums)[R][S][W * CONVOLVE_GROUP],
    const uint32_t (*source)[N])
{
  constexpr int bytes = S * sizeof (T), per_word = 4 / sizeof (T), side = (N - W * bytes) / 2;

#pragma unroll
  for (int wide = 0; wide < 2; wide++) {
    uint8_t *to = image.destination + tile.y * image.destination_stride + (unsigned) (tile.x * bytes);

    if (wide && !image.tail.wide_down)
      return;
#pragma unroll
    for (int r = 0; r < R; r++, to += image.destination_stride) {
      uint32_t out[W * bytes];

#pragma unroll
      for (int i = 0; i < W * bytes; i++) {
        uint32_t copied = 0;

        float four[4] = {};
        int samples[4] = {};

        out[i] = 0;
#pragma unroll
        for (int k = 0; k < per_word; k++) {
          int at = i * per_word + k;

          samples[k] = at % S;
          four[k] = sums[r][at % S][at / S];
          if (wide)
            out[i] |= convolve_finish_wide (&image, at % S, four[k]) << k * 8 * sizeof (T);
          if (!(image.select >> at % S & 1))
            copied |= (sizeof (T) == 1 ? 0xffu : 0xffffu) << k * 8 * sizeof (T);
        }
        if (!wide)
          out[i] = convolve_finish<T> (image, samples, four);
        if (S > 1)
          out[i] = (out[i] & ~copied) | (source[r][side + i] & copied);
      }
      convolve_store_words (to, out);
    }
  }
}

/* The reverse of convolve_pick (): word i of a group from the bytes of all its samples. */
template <int S>
static __device__ __forceinline__ uint32_t
convolve_weave (const uint32_t *samples, int i)
{
  if (S == 1)
    return samples[0];
  if (S == 2)
    return __byte_perm (samples[0], samples[S - 1], i == 0 ? 0x5140 : 0x7362);
  unsigned from = i | (i + 4) << 4;
  uint32_t low = __byte_perm (samples[0], samples[1], from), high = __byte_perm (samples[2], samples[S - 1], from);
  return __byte_perm (low, high, 0x5410);
}

/* Four floats of integer tails become four bytes; CLAMPS as in the tail. */
template <bool CLAMPS>
static __device__ __forceinline__ uint32_t
convolve_pack_integers (const float (&values)[4])
{
  int bits[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    bits[i] = __float_as_int (values[i]) - (CLAMPS ? CONVOLVE_MAGIC_BITS : 0);
  return CLAMPS ? convolve_clamp_bytes (bits[1], bits[0], convolve_clamp_bytes (bits[3], bits[2], 0))
                : __byte_perm (__byte_perm (bits[0], bits[1], 0x0040), __byte_perm (bits[2], bits[3], 0x0040), 0x5410);
}

/*
 * Four sums of integers become four bytes: see common/integer_tail.h. CLAMPS as in the tail; to ask it here would cut
 * the code in pieces whose instructions the compiler can no longer mix.
 */
template <bool CLAMPS>
static __device__ __forceinline__ uint32_t
convolve_finish_integers (const ConvolveIntegerTail &tail, int sample, const int *sums)
{
  float values[CONVOLVE_GROUP];

#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    values[c] = __fmaf_rd (__int_as_float (sums[c]), tail.scale, tail.offset[sample]);
  return convolve_pack_integers<CLAMPS> (values);
}

/* Stores such sums, W groups of a row of outputs. source is that part of the input, for samples that are copied. */
template <int S, int W, bool CLAMPS>
static __device__ __forceinline__ void
convolve_store_integers (const ConvolveImage &image, const ConvolveIntegerTail &tail, uint8_t *to,
    const int (&sums)[S][W * CONVOLVE_GROUP], const uint32_t *source)
{
  uint32_t out[W * S];

#pragma unroll
  for (int g = 0; g < W; g++) {
    uint32_t done[S];

#pragma unroll
    for (int s = 0; s < S; s++) {
      done[s] = convolve_finish_integers<CLAMPS> (tail, s, &sums[s][g * CONVOLVE_GROUP]);
      if (S > 1 && !(image.select >> s & 1))
        done[s] = convolve_pick<S> (source + g * S, s);
    }
#pragma unroll
    for (int i = 0; i < S; i++)
      out[g * S + i] = convolve_weave<S> (done, i);
  }
  convolve_store_words (to, out);
}

/* Four pixels' worth of one sample in the rim, or those of them that lie before end, with the taps of a K x K mask. */
template <typename T, int K>
static __device__ __forceinline__ void
convolve_rim_group (const ConvolveImage &image, const ConvolveParts &parts, const float (&taps)[K][K], int x, int y,
    int end, int sample)
{
  int column[K + CONVOLVE_GROUP - 1];
  float sums[CONVOLVE_GROUP] = {};

  if (!(image.select >> sample & 1)) {
    for (end = min (end, x + CONVOLVE_GROUP); x < end; x++)
      *convolve_destination<T> (image, x, y, sample) = *convolve_source<T> (image, x, y, sample);
    return;
  }
#pragma unroll
  for (int i = 0; i < K + CONVOLVE_GROUP - 1; i++) {
    int at = convolve_boundary_index (parts.boundary, x + i - K / 2, image.width);
    column[i] = at < 0 ? -1 : at * image.pixel_stride;
  }
#pragma unroll(K > 5 ? 1 : K)
  for (int j = 0; j < K; j++) {
    int row = convolve_boundary_index (parts.boundary, y + j - K / 2, image.height);
    const uint8_t *line = image.source + row * image.source_stride + sample * sizeof (T);
    float values[K + CONVOLVE_GROUP - 1];

#pragma unroll
    for (int i = 0; i < K + CONVOLVE_GROUP - 1; i++) {
      int word = (int) image.zero[sample] << image.shift;

      if (row >= 0 && column[i] >= 0)
        word = *(const T *) (line + column[i]);
      if (sizeof (T) > 1) /* as convolve_value () gives it */
        word = min (word >> image.shift, image.maximum) << image.shift;
      values[i] = word;
    }
#pragma unroll
    for (int c = 0; c < CONVOLVE_GROUP; c++) {
      float part = 0;

#pragma unroll
      for (int i = 0; i < K; i++)
        part += taps[j][i] * values[c + i];
      sums[c] += part;
    }
  }
#pragma unroll
  for (int c = 0; c < CONVOLVE_GROUP; c++)
    if (x + c < end) {
      int value = convolve_floor<T> (image.tail, sample, sums[c]);
      unsigned word = sizeof (T) == 1 ? convolve_clamp_bytes (0, value, 0) : (unsigned) value << image.shift;

      *convolve_destination<T> (image, x + c, y, sample) =
          (T) (image.tail.wide_down ? convolve_finish_wide (&image, sample, sums[c]) : word);
    }
}

/* The blocks of the rim; true for those, which are then finished. */
template <typename T, int S, int K>
static __device__ __forceinline__ bool
convolve_rim (const ConvolveImage &image, const ConvolveParts &parts, const float (&taps)[K][K])
{
  if (blockIdx.y >= parts.rim_rows)
    return false;

  /* Groups of a whole row, and of the two ends of one that the inner part has a share in. */
  const unsigned whole = (image.x1 - image.x0 + 3) / 4 * S;
  const unsigned left = (parts.left - image.x0 + 3) / 4 * S, right = (image.x1 - parts.right + 3) / 4 * S;
  const unsigned above = parts.top - image.y0, below = image.y1 - parts.bottom;
  const unsigned flat = (above + below) * whole, count = flat + (parts.bottom - parts.top) * (left + right);
  const unsigned threads = blockDim.x * blockDim.y;
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;

  for (unsigned i = ((blockIdx.y * gridDim.x) + blockIdx.x) * threads + thread; i < count;
       i += parts.rim_rows * gridDim.x * threads) {
    unsigned row, at;
    int x = image.x0, end = image.x1;

    if (i < flat) {
      row = i / whole, at = i - row * whole;
      row = row < above ? image.y0 + row : parts.bottom + row - above;
    } else {
      row = (i - flat) / (left + right), at = i - flat - row * (left + right), row += parts.top;
      if (at < left)
        end = parts.left;
      else
        at -= left, x = parts.right;
    }
    convolve_rim_group<T, K> (image, parts, taps, x + (int) (at / S) * CONVOLVE_GROUP, row, end, at % S);
  }
  return true;
}

/* Where this thread's tile of the inner part begins, W groups in R rows. */
template <int W, int R>
static __device__ __forceinline__ int2
convolve_tile (const ConvolveParts &parts)
{
  const int columns = W * CONVOLVE_GROUP;
  int x = parts.left + (int) (blockIdx.x * CONVOLVE_LANES + threadIdx.x) * columns;
  int y = parts.top + (int) ((blockIdx.y - parts.rim_rows) * blockDim.y + threadIdx.y) * R;

  return make_int2 (min (x, parts.right - columns), min (y, parts.bottom - R));
}

/* What a tile reads: its rows and K/2 above and below, a group on both sides. A group is N words. */
template <int N, int W, int K, int ROWS>
static __device__ __forceinline__ void
convolve_load_tile (const ConvolveImage &image, int2 tile, uint32_t (&words)[ROWS][(W + 2) * N])
{
  const uint8_t *from = image.source + (tile.y - K / 2) * image.source_stride + (unsigned) (tile.x * N);

#pragma unroll
  for (int n = 0; n < ROWS; n++, from += image.source_stride) {
    convolve_load_words<N> (from - N * CONVOLVE_GROUP, words[n]);
    convolve_load_words<W * N> (from, words[n] + N);
    convolve_load_words<N> (from + W * N * CONVOLVE_GROUP, words[n] + N + W * N);
  }
}

/*
 * What load () leaves for convolve_border_run (): the kernel, the tile of one of its threads, and its second parameter,
 * which begins with the ConvolveParts that depend on the plane.
 */
struct ConvolveBorderKernel
{
  const void *kernel;
  int pixels; /* of a thread in a row */
  int rows, warps, side;
  size_t mask_size;
  alignas (16) unsigned char mask[512];
};

ConvolveStatus convolve_border_load (ConvolvePlan *plan, const ConvolveBorderKernel &kernel, const void *mask,
    ConvolveError *error);

/* For a kernel of K x K weights with W groups in R rows to a thread. Mask begins with ConvolveParts. */
template <int K, int W, int R, typename Mask>
static inline ConvolveStatus
convolve_border_load (ConvolvePlan *plan, const void *kernel, const Mask &mask, int warps, ConvolveError *error)
{
  static_assert (sizeof (Mask) <= sizeof (ConvolveBorderKernel::mask) && offsetof (Mask, parts) == 0,
      "kept and filled");

  return convolve_border_load (plan, { kernel, W * CONVOLVE_GROUP, R, warps, K, sizeof (Mask) }, &mask, error);
}

/* Divides the plane, and launches. */
ConvolveStatus convolve_border_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/*
 * Divides the plane for tiles of lanes with so many pixels each, rows x warps of them in a block, that read radius
 * pixels beside theirs and above and below as many as the mask has; and the grid that goes with it.
 */
ConvolveParts convolve_divide (const ConvolvePlan *plan, const ConvolvePlane *plane, int pixels, int radius, int rows,
    int warps, int side, ConvolveGrid *grid);

#endif
