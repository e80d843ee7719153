/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel of wgmma. wgmma.h has the order of samples in shared memory, warpgroup.cuh the instructions. */
#include "layer/cuda/launch.cuh"
#include "layer/cuda/warpgroup.cuh"
#include "layer/cuda/wgmma.h"

#define LANES 32
#define GROUP 128 /* threads of a warpgroup, the four warps that one instruction needs */
#define THREADS (2 * GROUP)
#define FILTERS CONVOLVE_LAYER_WGMMA_FILTERS
#define SIDE CONVOLVE_LAYER_WGMMA_SIDE
#define CELL CONVOLVE_LAYER_WGMMA_CELL
#define BLOCKS CONVOLVE_LAYER_WGMMA_BLOCKS
#define STAGES CONVOLVE_LAYER_WGMMA_STAGES
#define STAGE_STEPS CONVOLVE_LAYER_WGMMA_STAGE_STEPS
#define STEP_BYTES CONVOLVE_LAYER_WGMMA_STEP_BYTES

/* Registers of a thread, which multiplies or loads: together twice the 128 that let two blocks fit a multiprocessor. */
#define MULTIPLIER_REGISTERS 168
#define LOADER_REGISTERS 88

/* The numbers of the barriers of the two warpgroups. */
#define MULTIPLIERS 1
#define LOADERS 2

static_assert (SIDE == 16 && 2 * CONVOLVE_WGMMA_SUMS * GROUP == FILTERS * SIDE * SIDE,
    "two instructions do the two halves of a tile");

/* What both warpgroups of a block see of its shared memory. */
struct Shared
{
  uint8_t *weights;         /* the ring, or all weights */
  uint4 *cells;             /* buffers of the cells of a chunk */
  const uint8_t **channels; /* the first sample of each channel of the first image; the last one again behind them */
  int2 *pieces;    /* their offset in a channel from the patch's first sample; the place of their cells | count << 16 */
  int4 *sources;   /* the offsets of each piece's samples in a channel, for patches that reach into the padding */
  uint64_t *stage; /* phases: the weights of a stage are there */
  uint64_t *full;  /* the cells of a buffer are there */
  uint64_t *empty; /* the cells of a buffer are not needed any more */
  uint32_t *steps; /* the places of each step's cells */
};

/* A tile of the output. */
struct Tile
{
  int image, top, left;

  __device__ __forceinline__
  Tile (const ConvolveLayerView &view, int number)
  {
    int place = number % view.wgmma_image_tiles;

    image = number / view.wgmma_image_tiles;
    top = view.first_row + place / view.tiles.across * SIDE;
    left = place % view.tiles.across * SIDE;
  }
};

/* --- the warpgroup that loads --- */

/* How the samples of a piece are found. */
enum Source
{
  INSIDE, /* the patch lies in the image: at a known distance from its first sample, all at once */
  WHOLE,  /* by sources: all at once, or all are zero padding */
  SINGLE, /* by sources, each by itself */
};

/* The bits of two samples. */
static __device__ __forceinline__ uint32_t
load_two (const uint8_t *channel, int first, int second)
{
  uint32_t low = first == CONVOLVE_LAYER_ZERO_PADDING ? 0 : convolve_layer_bits<uint16_t> (channel + first);
  uint32_t high = second == CONVOLVE_LAYER_ZERO_PADDING ? 0 : convolve_layer_bits<uint16_t> (channel + second);

  return low | high << 16;
}

/* Loads the samples of a piece of 2 or 4 columns, two of them to a word. */
template <int PIECE, Source source>
static __device__ __forceinline__ void
load_piece (const uint8_t *channel, int4 at, uint32_t *words)
{
  if (source == SINGLE) {
    words[0] = load_two (channel, at.x, at.y);
    if (PIECE == 4)
      words[1] = load_two (channel, at.z, at.w);
    return;
  }
  bool zero = source == WHOLE && at.x == CONVOLVE_LAYER_ZERO_PADDING;

  if (PIECE == 4) {
    uint2 both = zero ? make_uint2 (0, 0) : __ldg ((const uint2 *) (channel + at.x));

    words[0] = both.x;
    words[1] = both.y;
  } else {
    words[0] = zero ? 0 : __ldg ((const uint32_t *) (channel + at.x));
  }
}

/* The cell of one column of a piece, from the words of its channels. */
template <int PIXELS, int WORDS>
static __device__ __forceinline__ uint4
make_cell (const uint32_t (&bits)[CELL / PIXELS][WORDS], int column)
{
  constexpr int channels = CELL / PIXELS;
  uint32_t words[CELL / 2];

#pragma unroll
  for (int n = 0; n < CELL / 2; n++) {
    /* The cell's samples 2n and 2n + 1: pixel by pixel, each with its channels. */
    int first_pixel = 2 * n / channels + column, first_channel = 2 * n % channels;
    int second_pixel = (2 * n + 1) / channels + column, second_channel = (2 * n + 1) % channels;

    words[n] = __byte_perm (bits[first_channel][first_pixel / 2], bits[second_channel][second_pixel / 2],
        (first_pixel % 2 ? 0x0032 : 0x0010) | (second_pixel % 2 ? 0x7600 : 0x5400));
  }
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

/* In how many pieces side by side the cells of one piece have their samples. */
static __host__ __device__ constexpr int
reach_of (int pixels, int piece)
{
  return (pixels + piece - 2) / piece + 1;
}

/* Moves the cells of a piece down by `turn` places: made[i] becomes what made[(i + turn) % PIECE] was. */
template <int PIECE>
static __device__ __forceinline__ void
rotate (uint4 (&made)[PIECE], int turn)
{
#pragma unroll
  for (int bit = 1; bit < PIECE; bit *= 2) {
    uint4 before[PIECE];

#pragma unroll
    for (int n = 0; n < PIECE; n++)
      before[n] = made[n];
#pragma unroll
    for (int n = 0; n < PIECE; n++) {
      const uint4 &other = before[(n + bit) % PIECE];

      made[n].x = turn & bit ? other.x : before[n].x;
      made[n].y = turn & bit ? other.y : before[n].y;
      made[n].z = turn & bit ? other.z : before[n].z;
      made[n].w = turn & bit ? other.w : before[n].w;
    }
  }
}

/*
 * Fills the cells of a chunk, all threads of the warpgroup together. Where the layer has fewer channels, the last one is
 * loaded again: its samples are finite, and the weights for them are 0. `origin` is the offset of the patch's first sample,
 * for INSIDE.
 */
template <int PIXELS, int PIECE, Source source>
static __device__ __forceinline__ void
fill_cells (const ConvolveLayerView &view, const Shared &shared, int image, int chunk, int origin, uint4 *cells)
{
  constexpr int reach = reach_of (PIXELS, PIECE);
  constexpr int words = reach * PIECE / 2, cell_channels = CELL / PIXELS;
  constexpr int items = PIXELS == 1 ? 8 / PIECE : 1; /* pieces that a thread loads before it stores the first one */
  const ConvolveLayerTiles &tiles = view.tiles;
  const ptrdiff_t skipped = image * view.source.batch_stride;
  const int turn = threadIdx.x * PIECE / 8 % PIECE;
  int pieces = tiles.patch_height * tiles.pitch, piece = threadIdx.x % GROUP, group = 0;

  while (group < tiles.planes) {
    uint32_t bits[items][cell_channels][words];
    int to[items], counts[items];

#pragma unroll
    for (int n = 0; n < items; n++, piece += GROUP) {
      while (piece >= pieces) {
        piece -= pieces;
        group++;
      }
      const uint8_t *const *channels = shared.channels + (chunk * tiles.planes + min (group, tiles.planes - 1)) * CELL;
      int2 found = shared.pieces[piece];

      to[n] = group * tiles.plane + (found.y & 0xffff);
      counts[n] = group < tiles.planes ? found.y >> 16 : 0;
#pragma unroll
      for (int w = 0; w < reach; w++) {
        int4 at = source == INSIDE ? make_int4 (found.x + origin + w * PIECE * 2, 0, 0, 0)
                                   : shared.sources[w == 0 ? piece : min (piece + w, pieces - 1)];

#pragma unroll
        for (int c = 0; c < cell_channels; c++)
          if (counts[n] > 0)
            load_piece<PIECE, source> (channels[c] + skipped, at, &bits[n][c][w * PIECE / 2]);
      }
    }
#pragma unroll
    for (int n = 0; n < items; n++) {
      uint4 made[PIECE];

#pragma unroll
      for (int column = 0; column < PIECE; column++)
        made[column] = make_cell<PIXELS, words> (bits[n], column);
      /* Threads side by side begin with different columns, because the same ones of theirs are in the same banks. */
      rotate<PIECE> (made, turn);
#pragma unroll
      for (int i = 0; i < PIECE; i++) {
        int column = (i + turn) % PIECE,
            cell = column == 0 ? view.wgmma.cell[0]
            : column == 1      ? view.wgmma.cell[1]
            : column == 2      ? view.wgmma.cell[2]
                               : view.wgmma.cell[3];

        if (column < counts[n] && cell >= 0)
          cells[to[n] + cell] = made[i];
      }
    }
  }
}

/*
 * Says how the samples of a tile's patch are found, and fills in shared.sources if the answer is not INSIDE. The last
 * piece of a row is loaded together with the pieces to its right from which its cells may have samples. So the answer
 * is INSIDE only if these pieces lie in the image, too.
 */
template <int PIXELS, int PIECE>
static __device__ __forceinline__ Source
find_sources (const ConvolveLayerView &view, const Shared &shared, int y0, int x0)
{
  const ConvolveLayerTiles &tiles = view.tiles;
  int pieces = tiles.patch_height * tiles.pitch;
  bool single = !view.wgmma_aligned_in;

  int columns = PIECE * (tiles.pitch + reach_of (PIXELS, PIECE) - 1);

  if (!single && y0 >= 0 && x0 >= 0 && y0 + tiles.patch_height <= view.height && x0 + columns <= view.width)
    return INSIDE;
  convolve_group_wait<LOADERS, GROUP> (); /* all are done with the tile before */
  for (int n = threadIdx.x % GROUP; n < pieces; n += GROUP) {
    int y = y0 + n / tiles.pitch, x = x0 + n % tiles.pitch * PIECE, at[4];

#pragma unroll
    for (int i = 0; i < 4; i++) {
      int expected = i == 0 ? 0 : at[0] == CONVOLVE_LAYER_ZERO_PADDING ? at[0] : at[0] + 2 * i;

      at[i] = i < PIECE ? convolve_layer_offset (view, y, x + i) : 0;
      single |= i == 0 ? at[0] % (2 * PIECE) != 0 : i < PIECE && at[i] != expected;
    }
    shared.sources[n] = make_int4 (at[0], at[1], at[2], at[3]);
  }
  return convolve_group_any<LOADERS, GROUP> (single) ? SINGLE : WHOLE;
}

template <int PIXELS, int PIECE>
static __device__ __forceinline__ void
load_tiles (const ConvolveLayerView &view, const Shared &shared)
{
  int unit = 0;

  for (int number = blockIdx.x; number < view.wgmma_tiles; number += gridDim.x) {
    Tile tile (view, number);
    int y0 = tile.top * view.stride_y - view.pad_top;
    int x0 = tile.left * view.stride_x - view.pad_left - view.wgmma.margin;
    int origin = y0 * (int) view.source.row_stride + x0 * 2;
    Source source = find_sources<PIXELS, PIECE> (view, shared, y0, x0);

    for (int chunk = 0; chunk < view.tiles.chunks; chunk++, unit++) {
      int buffer = unit % view.wgmma.buffers;
      uint4 *cells = shared.cells + buffer * view.tiles.planes * view.tiles.plane;

      convolve_phase_wait (&shared.empty[buffer], unit / view.wgmma.buffers - 1);
      if (source == INSIDE)
        fill_cells<PIXELS, PIECE, INSIDE> (view, shared, tile.image, chunk, origin, cells);
      else if (source == WHOLE)
        fill_cells<PIXELS, PIECE, WHOLE> (view, shared, tile.image, chunk, 0, cells);
      else
        fill_cells<PIXELS, PIECE, SINGLE> (view, shared, tile.image, chunk, 0, cells);
      convolve_fence_stores ();
      convolve_arrive (&shared.full[buffer]);
    }
  }
}

/* --- the warpgroup that multiplies --- */

/* The weights of a filter group, which come in stages of STAGE_STEPS steps or fewer. */
struct Weights
{
  const uint8_t *from;
  int chunk_steps, chunk_stages, tile_stages, stages; /* stages: of all tiles of the block */

  __device__ __forceinline__ int
  steps_of (int stage) const
  {
    return min (STAGE_STEPS, chunk_steps - stage % chunk_stages * STAGE_STEPS);
  }

  /* One thread starts the copy of a stage, if there is such a stage. */
  __device__ __forceinline__ void
  prefetch (const Shared &shared, int stage) const
  {
    if (stage >= stages)
      return;
    int of_tile = stage % tile_stages;
    int first = of_tile / chunk_stages * chunk_steps + of_tile % chunk_stages * STAGE_STEPS;

    convolve_copy_bulk (shared.weights + stage % STAGES * STAGE_STEPS * STEP_BYTES, from + (size_t) first * STEP_BYTES,
        steps_of (of_tile) * STEP_BYTES, &shared.stage[stage % STAGES]);
  }
};

static __device__ __forceinline__ uint64_t
weights_matrix (const uint8_t *weights)
{
  constexpr uint32_t piece = 8 * CELL * 2; /* bytes of a core matrix, which has a cell of each of 8 filters */

  return convolve_wgmma_matrix (convolve_shared_address (weights), STEP_BYTES / 2, piece);
}

/* Adds the products of some steps to the sums, or sets the sums where `first` says that these are a tile's first steps. */
static __device__ __forceinline__ void
multiply (uint64_t weights, uint64_t samples, const uint32_t *steps, int count, bool first,
    float (&sums)[2][CONVOLVE_WGMMA_SUMS])
{
  const uint64_t half = SIDE / 2; /* cells from the left half of a tile to the right one */
  int n = 0;

  do {
    uint64_t at = samples + steps[n];

    convolve_wgmma_begin ();
    convolve_wgmma (sums[0], weights, at, !first || n > 0);
    convolve_wgmma (sums[1], weights, at + half, !first || n > 0);
    weights += STEP_BYTES >> 4;
  } while (++n < count);
  convolve_wgmma_commit ();
}

/* The same for a chunk whose weights come through the ring. `stage` counts the stages of all tiles. */
static __device__ __forceinline__ void
multiply_chunk (const Weights &weights, const Shared &shared, uint64_t samples, bool first, int *stage,
    float (&sums)[2][CONVOLVE_WGMMA_SUMS])
{
  for (int n = 0; n < weights.chunk_stages; n++, ++*stage) {
    convolve_phase_wait (&shared.stage[*stage % STAGES], *stage / STAGES);
    multiply (weights_matrix (shared.weights + *stage % STAGES * STAGE_STEPS * STEP_BYTES), samples,
        shared.steps + n * STAGE_STEPS, weights.steps_of (n), first && n == 0, sums);
    /* The stage before is done in all warps, so that its place is free. */
    convolve_wgmma_wait<1> ();
    convolve_group_wait<MULTIPLIERS, GROUP> ();
    if (threadIdx.x == 0 && *stage > 0)
      weights.prefetch (shared, *stage - 1 + STAGES);
  }
}

/* Two neighbours of a row, after the activation: the largest of value and least, and of that the bits that are kept. */
static __device__ __forceinline__ uint32_t
finish_two (const float *sums, float scale, float bias, __half2 least, uint32_t kept)
{
  __half2 two = __hmax2 (__floats2half2_rn (fmaf (sums[0], scale, bias), fmaf (sums[1], scale, bias)), least);

  return *(const uint32_t *) &two & kept;
}

/*
 * Writes the outputs of a tile. Each lane has, in every row, two neighbouring outputs of the tile's left half and two
 * of the right half. Lanes 2n and 2n + 1 each give one of these pairs to the other. Then the even lane has four
 * neighbours in the left half, and the odd lane four in the right half. `whole`: the output has all rows and columns of
 * the tile, and four neighbours can be stored at once.
 *
 * The sums are in registers, whose numbers have to be known when this is compiled, so the loops are unrolled. The code
 * is kept short, because each of its instructions is fetched every time that it is run.
 */
template <bool whole>
static __device__ __forceinline__ void
store_tile (const ConvolveLayerView &view, const Tile &tile, int first_filter, const float (&scale)[2],
    const float (&bias)[2], const float (&sums)[2][CONVOLVE_WGMMA_SUMS])
{
  const uint32_t kept = view.activation == CONVOLVE_ACTIVATION_ABSOLUTE ? 0x7fff7fff : 0xffffffff;
  const __half2 least = __float2half2_rn (view.activation == CONVOLVE_ACTIVATION_RELU ? 0 : -INFINITY);
  const ptrdiff_t row_stride = view.destination.row_stride, column_stride = view.destination.column_stride;
  int lane = threadIdx.x % LANES, t = lane % 4;
  bool is_odd = t % 2;
  int x = tile.left + (is_odd ? SIDE / 2 + 2 * (t - 1) : 2 * t);

#pragma unroll
  for (int h = 0; h < 2; h++) {
    int k = first_filter + h * 8, rows = k < view.filters ? min (SIDE, view.end_row - tile.top) : 0;
    uint8_t *at = convolve_layer_plane (&view.destination, tile.image, k < view.filters ? k : 0) + x * column_stride
        + tile.top * row_stride;

#pragma unroll
    for (int y = 0; y < SIDE; y++, at += row_stride) {
      uint32_t left = finish_two (&sums[0][4 * y + 2 * h], scale[h], bias[h], least, kept);
      uint32_t right = finish_two (&sums[1][4 * y + 2 * h], scale[h], bias[h], least, kept);
      uint32_t got = __shfl_xor_sync (0xffffffff, is_odd ? left : right, 1);
      uint2 four = make_uint2 (is_odd ? got : left, is_odd ? right : got);

      if (whole && rows > 0)
        *(uint2 *) at = four;
#pragma unroll
      for (int i = 0; i < (whole ? 0 : 4); i++)
        if (y < rows && x + i < view.out_width)
          *(uint16_t *) (at + i * column_stride) = (uint16_t) ((i < 2 ? four.x : four.y) >> (i % 2 * 16));
    }
  }
}

static __device__ __forceinline__ void
multiply_tiles (const ConvolveLayerView &view, const Shared &shared)
{
  const ConvolveLayerTiles &tiles = view.tiles;
  const ConvolveLayerWgmmaPart &part = view.wgmma;
  const float *scales = view.bias + view.filters;
  int chunk_stages = (part.steps + STAGE_STEPS - 1) / STAGE_STEPS, unit = 0, stage = 0;
  int turns = (view.wgmma_tiles - (int) blockIdx.x + (int) gridDim.x - 1) / (int) gridDim.x;
  Weights weights = { (const uint8_t *) view.weights + (size_t) blockIdx.y * tiles.chunks * part.steps * STEP_BYTES,
    part.steps, chunk_stages, chunk_stages * tiles.chunks, chunk_stages * tiles.chunks * turns };
  int first_filter = blockIdx.y * FILTERS + threadIdx.x / LANES * 16 + threadIdx.x % LANES / 4;
  float sums[2][CONVOLVE_WGMMA_SUMS], scale[2], bias[2];

#pragma unroll
  for (int i = 0; i < CONVOLVE_WGMMA_SUMS; i++)
    sums[0][i] = sums[1][i] = 0;
  if (threadIdx.x == 0 && part.resident)
    convolve_copy_bulk (shared.weights, weights.from, tiles.chunks * part.steps * STEP_BYTES, &shared.stage[0]);
  else if (threadIdx.x == 0)
    for (int n = 0; n < STAGES; n++)
      weights.prefetch (shared, n);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    scale[h] = first_filter + h * 8 < view.filters ? scales[first_filter + h * 8] : 0;
    bias[h] = first_filter + h * 8 < view.filters ? view.bias[first_filter + h * 8] : 0;
  }
  if (part.resident)
    convolve_phase_wait (&shared.stage[0], 0);

  for (int number = blockIdx.x; number < view.wgmma_tiles; number += gridDim.x) {
    for (int chunk = 0; chunk < tiles.chunks; chunk++, unit++) {
      int buffer = unit % part.buffers;
      uint64_t samples =
          convolve_wgmma_matrix (convolve_shared_address (shared.cells + buffer * tiles.planes * tiles.plane), 0,
              view.stride_y * part.row_cells * CELL * 2);

      convolve_phase_wait (&shared.full[buffer], unit / part.buffers);
      if (part.resident)
        multiply (weights_matrix (shared.weights + chunk * part.steps * STEP_BYTES), samples, shared.steps, part.steps,
            chunk == 0, sums);
      else
        multiply_chunk (weights, shared, samples, chunk == 0, &stage, sums);
      convolve_wgmma_wait<0> ();
      convolve_arrive (&shared.empty[buffer]);
    }
    Tile tile (view, number);
    if (view.wgmma_aligned_out && tile.left + SIDE <= view.out_width && tile.top + SIDE <= view.end_row)
      store_tile<true> (view, tile, first_filter, scale, bias, sums);
    else
      store_tile<false> (view, tile, first_filter, scale, bias, sums);
  }
}

/*
 * The idea: four warps give their tensor cores two addresses, and these fetch weights and windows from shared memory.
 *
 * A block has 64 filters and one tile of 16 x 16 outputs after the other, each of which two instructions for 16 x 8 outputs
 * cover. One warpgroup multiplies and writes; a second one brings the cells of the next chunks to shared memory meanwhile.
 */
template <int PIXELS, int PIECE>
__global__ void __launch_bounds__ (THREADS, BLOCKS)
    convolve_layer_wgmma (const __grid_constant__ ConvolveLayerView view)
{
  extern __shared__ float4 convolve_layer_memory[];
  const ConvolveLayerTiles &tiles = view.tiles;
  int pieces = tiles.patch_height * tiles.pitch, channels = tiles.chunks * tiles.planes * CELL;
  size_t weights_bytes =
      view.wgmma.resident ? (size_t) tiles.chunks * view.wgmma.steps * STEP_BYTES : CONVOLVE_LAYER_WGMMA_RING;
  const uint32_t *words = (const uint32_t *) view.bias + 2 * view.filters;
  Shared shared;

  shared.weights = (uint8_t *) convolve_layer_memory;
  shared.cells = (uint4 *) (shared.weights + weights_bytes);
  shared.stage = (uint64_t *) (shared.cells + view.wgmma.buffers * tiles.planes * tiles.plane);
  shared.full = shared.stage + STAGES;
  shared.empty = shared.full + CONVOLVE_LAYER_WGMMA_MAX_BUFFERS;
  shared.channels = (const uint8_t **) (shared.empty + CONVOLVE_LAYER_WGMMA_MAX_BUFFERS);
  shared.sources = (int4 *) (shared.channels + channels);
  shared.pieces = (int2 *) (shared.sources + pieces);
  shared.steps = (uint32_t *) (shared.pieces + pieces);
  if (threadIdx.x == 0) {
    for (int n = 0; n < STAGES; n++)
      convolve_phases_init (&shared.stage[n], 1);
    for (int n = 0; n < view.wgmma.buffers; n++) {
      convolve_phases_init (&shared.full[n], GROUP);
      convolve_phases_init (&shared.empty[n], GROUP);
    }
    convolve_fence_stores ();
  }
  for (int n = threadIdx.x; n < view.wgmma.steps; n += THREADS)
    shared.steps[n] = __ldg (words + n);
  for (int n = threadIdx.x; n < channels; n += THREADS)
    shared.channels[n] = convolve_layer_plane (&view.source, 0, min (n, view.channels - 1));
  for (int n = threadIdx.x; n < pieces; n += THREADS) {
    int row = n / tiles.pitch, column = n % tiles.pitch;
    int place = row * view.wgmma.row_cells + column * view.wgmma.piece_cells;
    int count = view.wgmma.piece_cells < PIECE ? PIECE : min (PIECE, view.wgmma.row_cells - PIECE * column);

    shared.pieces[n] = make_int2 (row * (int) view.source.row_stride + column * PIECE * 2, place | count << 16);
  }
  __syncthreads ();

  if (threadIdx.x < GROUP) {
    convolve_take_registers<MULTIPLIER_REGISTERS> ();
    multiply_tiles (view, shared);
  } else {
    convolve_give_registers<LOADER_REGISTERS> ();
    load_tiles<PIXELS, PIECE> (view, shared);
  }
}

ConvolveStatus
convolve_layer_wgmma_load (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveLayerWgmma *prepared = (ConvolveLayerWgmma *) plan->prepared;

  switch (prepared->part.pixels) {
    case 1:
      prepared->base.kernels[0] = prepared->part.piece == 2 ? (const void *) convolve_layer_wgmma<1, 2>
                                                            : (const void *) convolve_layer_wgmma<1, 4>;
      break;
    case 2:
      prepared->base.kernels[0] = (const void *) convolve_layer_wgmma<2, 4>;
      break;
    case 4:
      prepared->base.kernels[0] = (const void *) convolve_layer_wgmma<4, 4>;
      break;
    default:
      prepared->base.kernels[0] = (const void *) convolve_layer_wgmma<8, 4>;
  }
  return convolve_allow_shared (plan->device, prepared->base.kernels[0], prepared->base.shared, error);
}

/*
 * Whether a row can be moved in units of `bytes` bytes: its samples are without gaps, and every row of every channel
 * and image begins at an address that is a multiple of `bytes`. Every unit of the row then has such an address.
 */
static bool
is_aligned (const ConvolveLayerTensor *tensor, int bytes)
{
  uintptr_t all = (uintptr_t) tensor->row_stride | (uintptr_t) tensor->batch_stride;

  if (tensor->across)
    all |= (uintptr_t) tensor->channel[0] | (uintptr_t) tensor->across_stride | (uintptr_t) tensor->down_stride;
  else
    for (int i = 0; i < CONVOLVE_LAYER_PLANES; i++)
      all |= (uintptr_t) tensor->channel[i];
  return tensor->column_stride == 2 && all % bytes == 0;
}

/*
 * A 1x1 kernel has no neighbours, so where a row ends does not matter. Where the rows of the image follow each other
 * without a gap, the image is treated as one of rows that are as wide as a tile. Each tile is then one run of memory in
 * every channel, instead of a short run for each of its rows.
 */
static void
cut_rows (const ConvolveLayer *layer, ConvolveLayerView *view)
{
  int64_t row = 2 * (int64_t) view->width, samples = (int64_t) view->width * (view->end_row - view->first_row);

  if (layer->kernel_width > 1 || layer->kernel_height > 1 || layer->stride_x > 1 || layer->stride_y > 1
      || layer->pad_left > 0 || layer->pad_right > 0 || layer->pad_top > 0 || layer->pad_bottom > 0
      || view->source.column_stride != 2 || view->destination.column_stride != 2 || view->source.row_stride != row
      || view->destination.row_stride != row || samples % SIDE != 0
      || (int64_t) view->width * view->first_row % SIDE != 0 || samples / SIDE > INT32_MAX / 2)
    return;
  int first = (int) ((int64_t) view->width * view->first_row / SIDE);
  view->first_row = first;
  view->end_row = first + (int) (samples / SIDE);
  view->height = view->end_row;
  view->width = view->out_width = SIDE;
  view->source.row_stride = view->destination.row_stride = 2 * SIDE;
}

ConvolveStatus
convolve_layer_wgmma_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  const ConvolveLayerWgmma *prepared = (const ConvolveLayerWgmma *) plan->prepared;
  ConvolveLayerView view = convolve_layer_view (plan, job);
  int groups = (plan->layer.filters + FILTERS - 1) / FILTERS;
  bool two = prepared->base.shared <= convolve_device_shared_limit (plan->device) / BLOCKS;
  int blocks = (convolve_device_multiprocessors (plan->device) * (two ? BLOCKS : 1) + groups - 1) / groups;

  cut_rows (&plan->layer, &view);
  view.tiles = prepared->base.tiles;
  view.tiles.across = (view.out_width - 1) / SIDE + 1;
  int64_t tiles = (int64_t) view.tiles.across * ((view.end_row - view.first_row - 1) / SIDE + 1);
  if (tiles * job->task.batch > INT32_MAX / 2)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "%d outputs of %dx%d have more tiles than the variant wgmma counts", job->task.batch, view.out_width,
        view.end_row - view.first_row);
  view.wgmma = prepared->part;
  view.wgmma_image_tiles = (int) tiles;
  view.wgmma_tiles = (int) tiles * job->task.batch;
  view.wgmma_aligned_in = is_aligned (&view.source, 2 * prepared->part.piece);
  view.wgmma_aligned_out = is_aligned (&view.destination, 8);
  return convolve_layer_enqueue (plan, prepared->base.kernels[0], &view,
      dim3 (blocks < view.wgmma_tiles ? blocks : view.wgmma_tiles, groups), dim3 (THREADS), prepared->base.shared,
      error);
}
