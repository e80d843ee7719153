/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/fused_tiled.h"

#include "cuda/border.cuh"

#define THREADS 256
#define COLUMNS CONVOLVE_FUSED_TILED_SAMPLES
#define HEIGHT CONVOLVE_FUSED_TILED_HEIGHT
#define ROW_SUMS 8 /* sums of a row that a thread makes together */
#define STACK 16   /* outputs of a column that a thread makes together */

/* What depends on the plane. */
struct TiledPlane
{
  int left; /* of the first tile */
  int x0;   /* of the first output */
  bool aligned;
};

template <int K>
struct TiledTaps
{
  TiledPlane plane;
  ConvolveBoundary boundary;
  float row[K], column[K];
  int dots[(K + 3) / 4]; /* the row, four weights in a word */
};

/* The input of a tile as it lies in memory, and the sums of its rows. */
template <typename T, int S, int K>
struct Tile
{
  static constexpr int bytes = S * sizeof (T), chunk = 16 / bytes; /* pixels that are loaded together */
  static constexpr int pixels = COLUMNS / S, side = (K / 2 + chunk - 1) / chunk * chunk, rows = HEIGHT + K - 1;
  static constexpr int chunks = (pixels + 2 * side) / chunk, words = chunks * 4 + 4; /* of a row, and a pad */

  uint32_t input[rows][words];
  float sums[rows][COLUMNS];
};

/* The chunk at column x of row y, or of no row where y is -1, pixel by pixel, with the boundary applied. */
template <typename T, int S, int K>
static __device__ __noinline__ void
gather (const ConvolveImage &image, ConvolveBoundary boundary, int x, int y, uint32_t *to)
{
  constexpr int samples = 16 / (int) sizeof (T), per_word = 4 / (int) sizeof (T);
  uint32_t words[4] = {};

#pragma unroll
  for (int i = 0; i < samples; i++) {
    int at = y < 0 ? -1 : convolve_boundary_index (boundary, x + i / S, image.width);
    unsigned word =
        at < 0 ? (unsigned) (int) image.zero[i % S] << image.shift : *convolve_source<T> (image, at, y, i % S);

    words[i / per_word] |= word << i % per_word * 8 * sizeof (T);
  }
  *(uint4 *) to = make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Copies 16 bytes to shared memory, and goes on at once where the device can. */
static __device__ __forceinline__ void
copy_chunk (uint32_t *to, const uint8_t *from)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"((unsigned) __cvta_generic_to_shared (to)), "l"(from)
               : "memory");
#else
  *(uint4 *) to = __ldg ((const uint4 *) from);
#endif
}

/* A word of one sample of pixels that lie together, from S words. */
template <typename T, int S>
static __device__ __forceinline__ uint32_t
pick (const uint32_t *words, int sample)
{
  if (sizeof (T) == 1)
    return convolve_pick<S> (words, sample);
  return S == 1 ? words[0] : __byte_perm (words[0], words[S - 1], sample ? 0x7632 : 0x5410);
}

/*
 * The idea: a rank-1 mask as two passes over a tile in shared memory, with the work of a thread in registers. The
 * tile's input is loaded with its boundary; a thread makes 8 neighbouring sums of a row, and then 16 outputs of a
 * column, from values that it reads once. DOTS as in cuda/fused.cu.
 */
template <typename T, int K, int S, bool DOTS>
__global__ void __launch_bounds__ (THREADS)
    convolve_fused_tiled (const __grid_constant__ ConvolveImage image, const __grid_constant__ TiledTaps<K> taps)
{
  typedef Tile<T, S, K> Tile;
  extern __shared__ __align__ (16) unsigned char shared[];
  Tile &tile = *(Tile *) shared;
  const int left = taps.plane.left + blockIdx.x * Tile::pixels, top = image.y0 + blockIdx.y * HEIGHT,
            thread = threadIdx.x;
  const int bottom = min (top + HEIGHT, image.y1), rows = bottom - top + K - 1;

  convolve_wait ();
  /* Chunks from first to stop lie in the image. The others are few but take long: their threads are in as few warps. */
  const int begin = left - Tile::side;
  const int first = !taps.plane.aligned ? Tile::chunks : begin < 0 ? -begin / Tile::chunk : 0;
  const int stop = max (min ((image.width - begin) / Tile::chunk, Tile::chunks), first);
#pragma unroll 1
  for (int i = thread; i < rows * Tile::chunks; i += THREADS) {
    int r = i / Tile::chunks, c = i % Tile::chunks, x = begin + c * Tile::chunk;
    int y = convolve_boundary_index (taps.boundary, top - K / 2 + r, image.height);

    if (c < first || c >= stop)
      continue;
    if (y >= 0)
      copy_chunk (&tile.input[r][c * 4], image.source + y * image.source_stride + (unsigned) (x * Tile::bytes));
    else
      gather<T, S, K> (image, taps.boundary, x, y, &tile.input[r][c * 4]);
  }
#pragma unroll 1
  for (int i = thread; i < rows * (first + Tile::chunks - stop); i += THREADS) {
    int c = i / rows, r = i - c * rows;
    int y = convolve_boundary_index (taps.boundary, top - K / 2 + r, image.height);

    c = c < first ? c : c - first + stop;
    gather<T, S, K> (image, taps.boundary, begin + c * Tile::chunk, y, &tile.input[r][c * 4]);
  }
  convolve_wait_for_copies ();

  /* Rows. What a run reads begins at a whole word, shift samples before its first. */
  constexpr int per_word = 4 / sizeof (T), shift = (Tile::side - K / 2) % per_word;
  constexpr int words = (shift + ROW_SUMS + K - 1 + per_word - 1) / per_word;
  for (int i = thread; i < rows * (COLUMNS / ROW_SUMS); i += THREADS) {
    int r = i / (COLUMNS / ROW_SUMS), run = i % (COLUMNS / ROW_SUMS) / S, s = i % S;
    const uint32_t *from = &tile.input[r][(run * ROW_SUMS + Tile::side - K / 2 - shift) / per_word * S];
    float *to = &tile.sums[r][run * ROW_SUMS * S + s];
    uint32_t own[words + 1];
    float sums[ROW_SUMS];

#pragma unroll
    for (int w = 0; w < words; w++) {
      uint32_t all[S];

#pragma unroll
      for (int k = 0; k < S; k++)
        all[k] = from[w * S + k];
      own[w] = pick<T, S> (all, s);
    }
    own[words] = 0;
#pragma unroll
    for (int c = 0; c < ROW_SUMS; c++) {
      int dots = CONVOLVE_MAGIC_BITS;

#pragma unroll
      for (int w = 0; w < (K + 3) / 4 && DOTS; w++)
        dots = convolve_dot (convolve_shifted (own, shift + c + 4 * w), taps.dots[w], dots);
      sums[c] = DOTS ? __int_as_float (dots) - CONVOLVE_MAGIC : 0;
    }
#pragma unroll
    for (int i = 0; i < ROW_SUMS + K - 1 && !DOTS; i++) {
      float value = convolve_value<T> (image, own, shift + i);

#pragma unroll
      for (int c = 0; c < ROW_SUMS; c++)
        if (i - c >= 0 && i - c < K)
          sums[c] += taps.row[i - c < 0 || i - c >= K ? 0 : i - c] * value;
    }
#pragma unroll
    for (int c = 0; c < ROW_SUMS; c++)
      to[c * S] = sums[c];
  }
  __syncthreads ();

  /* Columns. */
  const int column = thread % COLUMNS, s = column % S, x = left + column / S;

  if (x < taps.plane.x0 || x >= image.x1)
    return;
  if (!(image.select >> s & 1)) {
    for (int y = top + thread / COLUMNS; y < bottom; y += THREADS / COLUMNS)
      *convolve_destination<T> (image, x, y, s) = *convolve_source<T> (image, x, y, s);
    return;
  }
#pragma unroll 1
  for (int first = thread / COLUMNS * STACK; first < bottom - top; first += THREADS / COLUMNS * STACK) {
    float sums[STACK] = {};

#pragma unroll
    for (int n = 0; n < STACK + K - 1; n++) {
      float value = tile.sums[first + n][column];

#pragma unroll
      for (int r = 0; r < STACK; r++)
        if (n - r >= 0 && n - r < K)
          sums[r] += taps.column[n - r < 0 || n - r >= K ? 0 : n - r] * value;
    }
    /* As in convolve_store_sums (). */
#pragma unroll
    for (int wide = 0; wide < 2; wide++) {
      uint8_t *to = (uint8_t *) convolve_destination<T> (image, x, top + first, s);

      if (wide && !image.tail.wide_down)
        break;
#pragma unroll
      for (int r = 0; r < STACK; r++, to += image.destination_stride) {
        unsigned value = wide ? convolve_finish_wide (&image, s, sums[r])
            : sizeof (T) == 1 ? convolve_clamp_bytes (0, convolve_floor<T> (image.tail, s, sums[r]), 0)
                              : (unsigned) convolve_floor<T> (image.tail, s, sums[r]) << image.shift;

        if (top + first + r < bottom)
          *(T *) to = (T) value;
      }
    }
  }
}

/* What load () leaves: the plane fills the taps' left and x0, and whether the source is aligned. */
struct FusedTiled
{
  const void *kernel;
  size_t shared;
  int pixels, chunk; /* of a tile's row, and loaded together */
  alignas (16) unsigned char taps[sizeof (TiledTaps<63>)];
};

template <typename T, int K, int S>
static ConvolveStatus
load (ConvolvePlan *plan, ConvolveError *error)
{
  typedef Tile<T, S, K> Tile;
  const ConvolveTaps *from = &plan->taps;
  FusedTiled *kept = (FusedTiled *) convolve_new_loaded (plan, sizeof (FusedTiled), error);
  int before = (K - from->width) / 2, above = (K - from->height) / 2;
  bool dots = sizeof (T) == 1 && plan->exact;

  if (!kept)
    return CONVOLVE_NO_MEMORY;
  static_assert (sizeof (Tile) == (HEIGHT + K - 1) * (16 * (Tile::chunks + 1) + COLUMNS * 4),
      "convolve_fused_tiled_shared_size () says it");
  TiledTaps<K> *taps = (TiledTaps<K> *) kept->taps;
  for (int i = 0; i < from->width; i++) {
    taps->row[before + i] = from->row[i];
    dots = dots && from->row[i] >= -128 && from->row[i] <= 127;
    taps->dots[(before + i) / 4] |= (int) ((unsigned) ((int) from->row[i] & 0xff) << (before + i) % 4 * 8);
  }
  for (int j = 0; j < from->height; j++)
    taps->column[above + j] = from->column[j] * convolve_tap_unit (plan);
  taps->boundary = plan->boundary;
  kept->kernel = dots ? (const void *) convolve_fused_tiled<T, K, S, sizeof (T) == 1>
                      : (const void *) convolve_fused_tiled<T, K, S, false>;
  kept->shared = sizeof (Tile);
  kept->pixels = Tile::pixels;
  kept->chunk = Tile::chunk;
  return convolve_allow_shared (plan->device, kept->kernel, kept->shared, error);
}

ConvolveStatus
convolve_fused_tiled_load (ConvolvePlan *plan, ConvolveError *error)
{
  typedef ConvolveStatus (*Load) (ConvolvePlan * plan, ConvolveError * error);
  static const int sides[] = CONVOLVE_FUSED_TILED_SIDES;
  static const Load loads[CONVOLVE_N_SAMPLE_TYPES][3][3] = {
    {
        { load<uint8_t, 15, 1>, load<uint8_t, 15, 2>, load<uint8_t, 15, 4> },
        { load<uint8_t, 31, 1>, load<uint8_t, 31, 2>, load<uint8_t, 31, 4> },
        { load<uint8_t, 63, 1>, load<uint8_t, 63, 2>, load<uint8_t, 63, 4> },
    },
    {
        { load<uint16_t, 15, 1>, load<uint16_t, 15, 2>, NULL },
        { load<uint16_t, 31, 1>, load<uint16_t, 31, 2>, NULL },
        { load<uint16_t, 63, 1>, load<uint16_t, 63, 2>, NULL },
    },
  };
  int at = 0;

  while (sides[at] < convolve_fused_tiled_side (plan))
    at++;
  return loads[plan->pixel.type][at][plan->pixel.samples / 2](plan, error);
}

ConvolveStatus
convolve_fused_tiled_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const FusedTiled *kept = (const FusedTiled *) plan->loaded;
  const ConvolveRect *region = &plane->region;
  const int rows = (region->height + HEIGHT - 1) / HEIGHT;
  FusedTiled now = *kept;
  TiledPlane *of_plane = (TiledPlane *) now.taps;
  ConvolveGrid grid = {};

  if (rows > CONVOLVE_MOST_BLOCKS_DOWN)
    return convolve_run_halves (plan, plane, CONVOLVE_ONE_BELOW_THE_OTHER, convolve_fused_tiled_run, error);
  of_plane->left = region->x / kept->chunk * kept->chunk;
  of_plane->x0 = region->x;
  of_plane->aligned = ((uintptr_t) plane->source | (uintptr_t) plane->source_stride) % 16 == 0;
  grid.block = dim3 (THREADS);
  grid.blocks = dim3 ((region->x + region->width - of_plane->left + kept->pixels - 1) / kept->pixels, rows);
  grid.shared = kept->shared;
  grid.waits = true;
  return convolve_launch (plan, plane, kept->kernel, grid, now.taps, error);
}
