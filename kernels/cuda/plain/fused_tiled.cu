/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/fused_tiled.h"

#include "cuda/device/accepts.h"
#include "cuda/registers/border.cuh"
#include "cuda/registers/bytes.cuh"
#include "cuda/registers/floats.cuh"

#define THREADS 256
#define COLUMNS CONVOLVE_FUSED_TILED_SAMPLES
#define HEIGHT CONVOLVE_FUSED_TILED_HEIGHT
#define SEGMENT 8                    /* neighbouring row sums of one sample that a thread makes together */
#define SEGMENTS (COLUMNS / SEGMENT) /* in a row of the tile */
#define STACK 16                     /* outputs of a column that a thread makes together */

/* The part of the kernel's second parameter that depends on the plane. */
struct TiledPlane
{
  int left;     /* the first column of the first tile */
  int x0;       /* the first column that is written */
  bool aligned; /* the source's address and stride are multiples of 16 bytes */
};

/* The kernel's second parameter. Factors smaller than K stand in the middle, with 0 around them. */
template <int K>
struct TiledTaps
{
  TiledPlane plane;
  ConvolveBoundary boundary;
  float row[K], column[K];
  /* Of 16-bit samples: what convolve_value () takes away, and what its weights come to, for the sums. */
  float less, restored;
  int dots[(K + 3) / 4]; /* the row as signed bytes, four in a word, where the kernel uses dp4a */
};

/* The shared memory of a block: the input of its tile as it lies in the image, and the row sums. */
template <typename T, int S, int K>
struct Tile
{
  static constexpr int bytes = S * sizeof (T);                     /* of a pixel */
  static constexpr int chunk = 16 / bytes;                         /* pixels that are loaded together */
  static constexpr int pixels = COLUMNS / S;                       /* of a row of outputs */
  static constexpr int halo = (K / 2 + chunk - 1) / chunk * chunk; /* pixels on each side of them, in full chunks */
  static constexpr int rows = HEIGHT + K - 1;
  static constexpr int chunks = (pixels + 2 * halo) / chunk; /* of a row of input */
  static constexpr int words = chunks * 4 + 4; /* of a row of input, and 4 so that rows begin in different banks */

  uint32_t input[rows][words];
  float sums[rows][COLUMNS];
};

/* Where the tile of this block lies in the image. Columns are pixels. */
struct Place
{
  int left, top; /* the first output */
  int bottom;    /* after the last row of outputs */
  int rows;      /* of input, and of row sums */
};

/*
 * Loads the chunk at column x of row y sample by sample, with the boundary applied. y is -1 for rows of the zero level.
 */
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

/* The word of one sample of the 4 (8-bit) or 2 (16-bit) pixels that S words hold. */
template <typename T, int S>
static __device__ __forceinline__ uint32_t
pick (const uint32_t *words, int sample)
{
  if (sizeof (T) == 1)
    return convolve_pick<S> (words, sample);
  if (S == 1)
    return words[0];
  const bool second = S > 2 && sample >= 2; /* of the words of a pixel of 4 samples */
  return __byte_perm (words[second], words[S / 2 + second], sample % 2 ? A2_A3_B2_B3 : A0_A1_B0_B1);
}

/* Loads the tile's input with its halo to tile.input. Returns when the input of all threads is there. */
template <typename T, int K, int S>
static __device__ __forceinline__ void
load_input (const ConvolveImage &image, const TiledTaps<K> &taps, const Place &place, int thread, Tile<T, S, K> &tile)
{
  typedef Tile<T, S, K> Tile;
  const int begin = place.left - Tile::halo; /* the first pixel of a row of input */
  /* The chunks first .. stop - 1 of each row lie in the image and are copied as they are. */
  const int first = !taps.plane.aligned ? Tile::chunks : begin < 0 ? -begin / Tile::chunk : 0;
  const int stop = max (min ((image.width - begin) / Tile::chunk, Tile::chunks), first);

#pragma unroll 1
  for (int i = thread; i < place.rows * Tile::chunks; i += THREADS) {
    int r = i / Tile::chunks, c = i % Tile::chunks, x = begin + c * Tile::chunk;
    int y = convolve_boundary_index (taps.boundary, place.top - K / 2 + r, image.height);

    if (c < first || c >= stop)
      continue;
    if (y >= 0)
      convolve_copy_later (&tile.input[r][c * 4],
          image.source + y * image.source_stride + (unsigned) (x * Tile::bytes));
    else
      gather<T, S, K> (image, taps.boundary, x, y, &tile.input[r][c * 4]);
  }
  /* The other chunks are few and slow. They are counted on their own, so that they occupy few warps. */
#pragma unroll 1
  for (int i = thread; i < place.rows * (first + Tile::chunks - stop); i += THREADS) {
    int c = i / place.rows, r = i - c * place.rows;
    int y = convolve_boundary_index (taps.boundary, place.top - K / 2 + r, image.height);

    c = c < first ? c : c - first + stop;
    gather<T, S, K> (image, taps.boundary, begin + c * Tile::chunk, y, &tile.input[r][c * 4]);
  }
  convolve_wait_for_copies ();
}

/*
 * Makes the row sums, from tile.input to tile.sums. With DOTS, the row's weights are signed bytes and dp4a makes
 * four products at a time; otherwise products are floats.
 */
template <typename T, int K, int S, bool DOTS>
static __device__ __forceinline__ void
sum_rows (const ConvolveImage &image, const TiledTaps<K> &taps, const Place &place, int thread, Tile<T, S, K> &tile)
{
  /* A segment's input is read from a word's beginning on, which is `shift` samples before the first that counts. */
  constexpr int per_word = 4 / sizeof (T), shift = (Tile<T, S, K>::halo - K / 2) % per_word;
  constexpr int words = (shift + SEGMENT + K - 1 + per_word - 1) / per_word;

  for (int i = thread; i < place.rows * SEGMENTS; i += THREADS) {
    int r = i / SEGMENTS, segment = i % SEGMENTS / S, s = i % S;
    const uint32_t *from = &tile.input[r][(segment * SEGMENT + Tile<T, S, K>::halo - K / 2 - shift) / per_word * S];
    float *to = &tile.sums[r][segment * SEGMENT * S + s];
    uint32_t own[words + 1]; /* the segment's sample without the others; one word more for convolve_shifted () */
    float sums[SEGMENT];

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
    for (int c = 0; c < SEGMENT; c++) {
      int dots = CONVOLVE_MAGIC_BITS; /* so that the sum's bits are a float: see common/integer_tail.h */

#pragma unroll
      for (int w = 0; w < (K + 3) / 4 && DOTS; w++)
        dots = convolve_dot (convolve_shifted (own, shift + c + 4 * w), taps.dots[w], dots);
      sums[c] = DOTS ? __int_as_float (dots) - CONVOLVE_MAGIC : 0;
    }
#pragma unroll
    for (int i = 0; i < SEGMENT + K - 1 && !DOTS; i++) {
      float value = convolve_value<T> (image, own, shift + i, sizeof (T) > 1 ? taps.less : CONVOLVE_2_23);

#pragma unroll
      for (int c = 0; c < SEGMENT; c++)
        if (i - c >= 0 && i - c < K)
          sums[c] += taps.row[i - c < 0 || i - c >= K ? 0 : i - c] * value;
    }
#pragma unroll
    for (int c = 0; c < SEGMENT; c++)
      to[c * S] = sums[c];
  }
}

/* Makes and stores the outputs from tile.sums: STACK outputs of a column from STACK + K - 1 row sums. */
template <typename T, int K, int S>
static __device__ __forceinline__ void
sum_columns (const ConvolveImage &image, const TiledTaps<K> &taps, const Place &place, int thread,
    const Tile<T, S, K> &tile)
{
  const int column = thread % COLUMNS, s = column % S, x = place.left + column / S;

  if (x < taps.plane.x0 || x >= image.x1)
    return;
  if (!(image.select >> s & 1)) {
    for (int y = place.top + thread / COLUMNS; y < place.bottom; y += THREADS / COLUMNS)
      *convolve_destination<T> (image, x, y, s) = *convolve_source<T> (image, x, y, s);
    return;
  }
#pragma unroll 1
  for (int first = thread / COLUMNS * STACK; first < place.bottom - place.top; first += THREADS / COLUMNS * STACK) {
    float sums[STACK] = {};

#pragma unroll
    for (int n = 0; n < STACK + K - 1; n++) {
      float value = tile.sums[first + n][column];

#pragma unroll
      for (int r = 0; r < STACK; r++)
        if (n - r >= 0 && n - r < K)
          sums[r] += taps.column[n - r < 0 || n - r >= K ? 0 : n - r] * value;
    }
#pragma unroll
    for (int r = 0; r < STACK && sizeof (T) > 1; r++)
      sums[r] += taps.restored;
      /* As in convolve_store_sums (), a tail that needs doubles stores a second time. */
#pragma unroll
    for (int in_double = 0; in_double < 2; in_double++) {
      uint8_t *to = (uint8_t *) convolve_destination<T> (image, x, place.top + first, s);

      if (in_double && !image.tail.floor_needs_double)
        break;
#pragma unroll
      for (int r = 0; r < STACK; r++, to += image.destination_stride) {
        unsigned value = in_double ? convolve_finish_double (&image, s, sums[r])
            : sizeof (T) == 1      ? convolve_clamp_bytes (0, convolve_floor<T> (image.tail, s, sums[r]), 0)
                                   : (unsigned) convolve_floor<T> (image.tail, s, sums[r]) << image.shift;

        if (place.top + first + r < place.bottom)
          *(T *) to = (T) value;
      }
    }
  }
}

/*
 * The idea: a rank-1 mask as two passes over a tile in shared memory, with sums in registers. A thread reads an input
 * once for 8 neighbouring row sums, and a row sum once for 16 outputs of a column.
 *
 *     tile.input     rows of K - 1 + 64           tile.sums, 128 row sums in a row
 *                    .-------------------.        .---------------------------------.
 *       row 0        | halo |     | halo |  ->    | t 0 | t 1 | ..           | t 15 |   8 sums a thread (S = 1)
 *       row 1        |      |     |      |  ->    | t 16| t 17| ..           | t 31 |
 *       ..           '-------------------'        '---------------------------------'
 *                                                   | column 5: threads 5 and 133
 *                                                   v
 *     outputs, 64 rows: thread 5 has rows 0 .. 15 and 32 .. 47, thread 133 rows 16 .. 31 and 48 .. 63
 *
 * For example, with K = 15, thread 5 reads the row sums of rows 0 .. 29 for its outputs 0 .. 15, and outputs r have the
 * weight column[n - r] for row n.
 */
template <typename T, int K, int S, bool DOTS>
__global__ void __launch_bounds__ (THREADS)
    convolve_fused_tiled (const __grid_constant__ ConvolveImage image, const __grid_constant__ TiledTaps<K> taps)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  Tile<T, S, K> &tile = *(Tile<T, S, K> *) shared;
  const int thread = threadIdx.x;
  Place place;

  place.left = taps.plane.left + blockIdx.x * Tile<T, S, K>::pixels;
  place.top = image.y0 + blockIdx.y * HEIGHT;
  place.bottom = min (place.top + HEIGHT, image.y1);
  place.rows = place.bottom - place.top + K - 1;
  ConvolveOrder order (image);
  load_input<T, K, S> (image, taps, place, thread, tile);
  sum_rows<T, K, S, DOTS> (image, taps, place, thread, tile);
  __syncthreads ();
  sum_columns<T, K, S> (image, taps, place, thread, tile);
}

/* What load () leaves for run (). */
struct FusedTiled
{
  const void *kernel;
  size_t shared;                                           /* bytes of shared memory */
  int pixels, chunk;                                       /* as in Tile */
  alignas (16) unsigned char taps[sizeof (TiledTaps<63>)]; /* a TiledTaps, in which run () fills the TiledPlane */
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
      "shared_size () in cuda/plain/fused_tiled.c counts the same");
  TiledTaps<K> *taps = (TiledTaps<K> *) kept->taps;
  for (int i = 0; i < from->width; i++) {
    taps->row[before + i] = from->row[i];
    dots = dots && from->row[i] >= -128 && from->row[i] <= 127;
    taps->dots[(before + i) / 4] |= (int) ((unsigned) ((int) from->row[i] & 0xff) << (before + i) % 4 * 8);
  }
  for (int j = 0; j < from->height; j++)
    taps->column[above + j] = from->column[j] * convolve_tap_unit (plan);
  taps->less = CONVOLVE_2_23;
  if (plan->double_sums) { /* which float holds of samples less the middle alone */
    taps->less += (float) ((1 << (plan->pixel.depth - 1)) << plan->pixel.shift);
    taps->restored = (float) convolve_middle_of_sums (plan);
  }
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
        { load<uint16_t, 15, 1>, load<uint16_t, 15, 2>, load<uint16_t, 15, 4> },
        { load<uint16_t, 31, 1>, load<uint16_t, 31, 2>, load<uint16_t, 31, 4> },
        { load<uint16_t, 63, 1>, load<uint16_t, 63, 2>, load<uint16_t, 63, 4> },
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
  grid.ordered = true;
  return convolve_launch (plan, plane, kept->kernel, grid, now.taps, error);
}
