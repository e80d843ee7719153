/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/tensor/tensor.h"
#include "cuda/tensor/tensor_finish.cuh"
#include "cuda/tensor/tensor_tile.cuh"

/* Three blocks of so much shared memory, in bytes, fit into a multiprocessor of compute capability 8.0 and more. */
#define SHARED_OF_A_THIRD (72 * 1024)

/* The largest plane, in pixels, that is faster with two sets of warps: chroma of 1080p is, chroma of 4K is not. */
#define TWO_SETS_MOST_PIXELS (1 << 20)

/* Before compute capability 8.0 the kernel is empty, and functions that are not templates are unused. */

/* sums += a * band: unsigned bytes, 16 x 32, times signed bytes, 32 x 8. */
static __attribute__ ((unused)) __device__ __forceinline__ void
multiply (int (&sums)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, uint2 band)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(band.x), "r"(band.y));
#endif
}

/*
 * Prefetches all digits of one band. Volatile, because the compiler would otherwise move the loads down to the first
 * use of the band.
 */
template <int DIGITS>
static __device__ __forceinline__ void
load_band (uint2 (&band)[DIGITS], const uint2 *from)
{
#pragma unroll
  for (int d = 0; d < DIGITS; d++)
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(band[d].x), "=r"(band[d].y) : "l"(from + 32 * d));
}

/* What a warp keeps in registers while it walks down the rows of the mask. */
template <int DIGITS>
struct Ring
{
  unsigned rows[ROWS][4]; /* left operands a0 .. a3 of ROWS rows of the tile; slot i % ROWS has row i */
  uint2 bands[2][DIGITS]; /* of this mask row and of the next */
  const unsigned *pixels; /* the row of the tile that is loaded next */
  const uint2 *next_band;
  int pitch;          /* of the tile, in words */
  int second_segment; /* words from the first segment of the left operand to the second */
};

template <int DIGITS>
static __device__ __forceinline__ void
load_row (Ring<DIGITS> &ring, int slot, const unsigned *pixels)
{
  const int eight_groups = 8 * CONVOLVE_TENSOR_GROUP / 4; /* words from group g to group g + 8 */

#pragma unroll
  for (int k = 0; k < 4; k++)
    ring.rows[slot][k] = pixels[k / 2 * ring.second_segment + k % 2 * eight_groups];
}

/*
 * Adds one band to all ROWS rows of outputs. The template parameters are those of add_segments (); SLOT is the slot of
 * the row that meets the band in the first row of outputs.
 */
template <int DIGITS, int FIRST, int BAND_ROWS, int SLOT, int SUMS>
static __device__ __forceinline__ void
add_band (int (&sums)[SUMS][ROWS][4], Ring<DIGITS> &ring)
{
  const int now = SLOT / BAND_ROWS % 2;

  ring.next_band += 32 * DIGITS;
  load_band<DIGITS> (ring.bands[(now + 1) % 2], ring.next_band);
#pragma unroll
  for (int t = 0; t < ROWS; t++) {
    const int slot = (SLOT + t) % ROWS;

#pragma unroll
    for (int d = 0; d < DIGITS; d++)
      multiply (sums[FIRST + d][t], ring.rows[slot][0], ring.rows[slot][1], ring.rows[slot][2], ring.rows[slot][3],
          ring.bands[now][d]);
    if (t < BAND_ROWS) { /* no later band needs this row; the slot takes the row ROWS further down */
      load_row<DIGITS> (ring, slot, ring.pixels);
      ring.pixels += ring.pitch;
    }
  }
}

/*
 * Adds all bands of two segments to sums[FIRST], sums[FIRST + 1] and so on, one for each digit. BAND_ROWS is 1 where a
 * band has both segments of one mask row, and 2 where a band has the last segment of two mask rows.
 *
 * Output row t of the warp meets mask row j in row t + j of the tile. So eight rows in a ring of registers serve eight
 * rows of outputs, and each further mask row costs one load. The loop is unrolled by the ring's slots. The first round
 * begins with a later slot, so that every round ends with the last slot: with an exit in the middle of a round the
 * compiler moves the prefetches down.
 */
template <int DIGITS, int FIRST, int BAND_ROWS, int SUMS>
static __device__ __forceinline__ void
add_segments (int (&sums)[SUMS][ROWS][4], const unsigned *pixels, int pitch, const uint2 *bands, int mask_height)
{
  const int mask_rows = BAND_ROWS == 1 ? mask_height : mask_height + 1; /* a multiple of BAND_ROWS: heights are odd */
  const int first_slot = -mask_rows & (ROWS - 1);
  Ring<DIGITS> ring;

  ring.pitch = pitch;
  ring.second_segment = BAND_ROWS == 1 ? CONVOLVE_TENSOR_SEGMENT / 4 : pitch;
  ring.next_band = bands;
  ring.pixels = pixels + ROWS * pitch;
#pragma unroll
  for (int slot = 0; slot < ROWS; slot++)
    load_row<DIGITS> (ring, slot, pixels + ((slot - first_slot) & (ROWS - 1)) * pitch);
  load_band<DIGITS> (ring.bands[0], bands);
#pragma unroll
  for (int d = 0; d < DIGITS; d++)
    ring.bands[1][d] = ring.bands[0][d];

  int rounds = (mask_rows + ROWS - 1) / ROWS;
  static_assert (ROWS == 8, "one case for each slot");
  switch (first_slot) {
    do {
      case 0:
        add_band<DIGITS, FIRST, BAND_ROWS, 0> (sums, ring);
      case 1:
        if (BAND_ROWS == 1)
          add_band<DIGITS, FIRST, BAND_ROWS, 1> (sums, ring);
      case 2:
        add_band<DIGITS, FIRST, BAND_ROWS, 2> (sums, ring);
      case 3:
        if (BAND_ROWS == 1)
          add_band<DIGITS, FIRST, BAND_ROWS, 3> (sums, ring);
      case 4:
        add_band<DIGITS, FIRST, BAND_ROWS, 4> (sums, ring);
      case 5:
        if (BAND_ROWS == 1)
          add_band<DIGITS, FIRST, BAND_ROWS, 5> (sums, ring);
      case 6:
        add_band<DIGITS, FIRST, BAND_ROWS, 6> (sums, ring);
      case 7:
        if (BAND_ROWS == 1)
          add_band<DIGITS, FIRST, BAND_ROWS, 7> (sums, ring);
    } while (--rounds > 0);
  }
}

/* Adds the products of the mask and one plane of the tile to sums[FIRST] and the sums after it. */
template <int DIGITS, int FIRST, int SUMS>
static __device__ __forceinline__ void
add_mask (int (&sums)[SUMS][ROWS][4], const ConvolveImage &image, const TensorParameters &mask, const uint8_t *plane)
{
  const int group_words = CONVOLVE_TENSOR_GROUP / 4, two_segments_words = 2 * CONVOLVE_TENSOR_SEGMENT / 4;
  const unsigned *pixels = (const unsigned *) (plane + threadIdx.y * ROWS * mask.pitch + mask.margin - mask.lead)
      + threadIdx.x / 4 * group_words + threadIdx.x % 4;
  const uint2 *bands = mask.bands + threadIdx.x;

  for (int u = 1; u < mask.segments; u += 2) {
    add_segments<DIGITS, FIRST, 1> (sums, pixels, mask.pitch / 4, bands, image.mask_height);
    pixels += two_segments_words;
    bands += 32 * DIGITS * image.mask_height;
  }
  if (mask.segments % 2)
    add_segments<DIGITS, FIRST, 2> (sums, pixels, mask.pitch / 4, bands, image.mask_height);
}

/* The outputs of one sample, from its planes of the tile. */
template <typename T, int DIGITS>
static __device__ __forceinline__ void
convolve_planes (const ConvolveImage &image, const TensorParameters &mask, int sample, const uint8_t *planes,
    unsigned (&packed)[ROWS][2])
{
  constexpr int SUMS = DIGITS + sizeof (T) - 1;
  int sums[SUMS][ROWS][4] = {};

  add_mask<DIGITS, 0> (sums, image, mask, planes);
  if (sizeof (T) == 2) /* a high byte counts 256 times: its products with digit d go to sum d + 1 */
    add_mask<DIGITS, SUMS - DIGITS> (sums, image, mask, planes + mask.plane_size);
  finish_all<T> (image, mask, sample, sums, packed);
}

/* The samples of this lane's outputs as they are, for a sample of 8 bits that is not convolved. */
static __attribute__ ((unused)) __device__ __forceinline__ void
copy_plane (const ConvolveImage &image, const TensorParameters &mask, const uint8_t *plane, unsigned (&packed)[ROWS][2])
{
  const uint8_t *from =
      plane + (threadIdx.y * ROWS + image.mask_height / 2) * mask.pitch + mask.margin + 2 * threadIdx.x;

#pragma unroll
  for (int k = 0; k < 2 * ROWS; k++)
    packed[k / 2][k % 2] = *(const uint16_t *) (from + k / 2 * mask.pitch + k % 2 * (WIDTH / 2));
}

/* Blocks on a multiprocessor, for the compiler. With more, the registers would not hold the sums. */
static constexpr int
blocks_of (int sample_size, int digits, bool planar)
{
  return digits + sample_size < 3 ? planar ? 6 : 5 : digits + sample_size < 4 ? 4 : digits + sample_size < 5 ? 3 : 2;
}

/* For a block of one sample that is not convolved: copies the block's outputs from the source. */
template <typename T>
static __device__ __forceinline__ void
copy_block (const ConvolveImage &image, int left, int top)
{
  for (int row = top + threadIdx.y; row < min (top + HEIGHT, image.y1); row += WARPS)
    for (int column = left + threadIdx.x; column < min (left + WIDTH, image.x1); column += 32)
      convolve_copied<T> (image, column, row, true);
}

/*
 * The idea: a row of samples times a row of the mask is a product with a banded matrix, and tensor cores multiply
 * matrices of bytes many times faster than other units multiply numbers. For the taps a b c, whose lead is 4, the
 * window w of the group of outputs o0 .. o7 and its band are (dots are 0):
 *
 *   w0 .. w2   .  .  .  .  .  .  .  .     o0 is the output at w4. Output n meets tap i in row 3 + n + i:
 *   w3         a  .  .  .  .  .  .  .     o0 = a w3 + b w4 + c w5
 *   w4         b  a  .  .  .  .  .  .     o1 = a w4 + b w5 + c w6
 *   w5         c  b  a  .  .  .  .  .     and so on, to
 *   ...              ...                  o7 = a w10 + b w11 + c w12
 *   w12        .  .  .  .  .  .  .  c     Rows w13 .. w15 are 0, and rows 16 .. 31 have the next row of the mask.
 *             o0 o1 o2 o3 o4 o5 o6 o7
 *
 * One mma.m16n8k32 serves 16 groups, the 128 outputs of a row. Lane 4 g + t of the warp holds in its registers:
 *   a0, a1   samples 4 t .. 4 t + 3 of the window of group g, and of group g + 8; a2, a3: the same of the next segment
 *   b0, b1   rows 4 t .. 4 t + 3 of the band's column g; the rows 16 further down
 *   c0 .. c3 the sums of outputs 2 t and 2 t + 1 of group g, and of the same outputs of group g + 8
 *
 * Example: tap 300 (digits 44, 1) times sample 500 (bytes 244, 1). Sum 0 is 44 * 244 = 10736, sum 1 is
 * 1 * 244 + 44 * 1 = 288, sum 2 is 1 * 1 = 1. The total is 10736 + 256 * 288 + 65536 * 1 = 150000 = 300 * 500.
 *
 * PIXEL: 1 where a pixel is one sample without padding; 3 or 4 where it is so many bytes without padding, of which the
 * first three are convolved and the fourth is copied; 0 for all others. SETS: with 2, a block has two sets of warps,
 * one for each sample of its pixels. Small planes, such as chroma, have too few blocks to hide the latency of one
 * sample after the other.
 */
template <typename T, int DIGITS, int PIXEL, int SETS>
__global__ void __launch_bounds__ (32 * WARPS * SETS, SETS == 2 ? 1 : blocks_of (sizeof (T), DIGITS, PIXEL == 1))
    convolve_tensor (const __grid_constant__ ConvolveImage image, const __grid_constant__ TensorParameters mask)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ uint4 shared[];
  constexpr bool PLANAR = PIXEL == 1;
  const bool all_samples = PIXEL > 1 || (!PLANAR && sizeof (T) == 1 && mask.all_samples);
  const int set = SETS == 2 ? threadIdx.z : 0;
  int first = PLANAR || all_samples ? 0 : blockIdx.z;
  int last = PLANAR ? 1 : PIXEL > 1 ? COLOURS : all_samples ? gridDim.z : blockIdx.z + 1;
  uint8_t *tile = (uint8_t *) shared;
  unsigned *stage =
      (unsigned *) (tile + (last - first) * sizeof (T) * mask.plane_size) + threadIdx.y * 32 + threadIdx.x;
  int left = image.x0 + blockIdx.x * WIDTH;
  /* The grid has gridDim.z blocks for each place; where a block takes all samples, these are gridDim.z places. */
  int top = image.y0 + (all_samples ? blockIdx.y * gridDim.z + blockIdx.z : blockIdx.y) * HEIGHT;
  int x = left + 2 * threadIdx.x, y = top + threadIdx.y * ROWS;

  ConvolveOrder order (image);
  if (top >= image.y1)
    return;
  if (!PLANAR && !all_samples && !(image.select >> blockIdx.z & 1)) {
    copy_block<T> (image, left, top);
    return;
  }

  Columns columns = find_columns<T, PIXEL> (image, mask, left);
  load_inside<T, PIXEL> (image, mask, columns, top, first, last, set, tile);
  convolve_wait_for_copies ();
  if (columns.to - columns.from < mask.pitch) {
    load_outside<T> (image, mask, columns, top, first, last, set, SETS, tile);
    __syncthreads ();
  }

  tile += set * sizeof (T) * mask.plane_size;
  for (int sample = first + set; sample < last; sample += SETS, tile += SETS * sizeof (T) * mask.plane_size) {
    unsigned packed[ROWS][2];

    if (PIXEL || image.select >> sample & 1)
      convolve_planes<T, DIGITS> (image, mask, sample, tile, packed);
    else
      copy_plane (image, mask, tile, packed);
    if (!all_samples)
      store<T, PIXEL> (image, sample, packed, left, x, y);
#pragma unroll
    for (int t = 0; t < ROWS && all_samples; t++)
      stage[(sample * ROWS + t) * THREADS] = __byte_perm (packed[t][0], packed[t][1], A0_A1_B0_B1);
  }
  if (SETS == 2)
    __syncthreads ();
  if (all_samples)
    store_pixels<SETS, PIXEL> (image, stage, left, x, y);
#endif
}

/* For an axis of n pixels. A boundary that is not listed gets -1, and fold () asks convolve_boundary_index (). */
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
    case CONVOLVE_BOUNDARY_CONSTANT:
    case CONVOLVE_N_BOUNDARIES:
      break;
  }
  return { 0, -1, 0, -1 };
}

/* What load () leaves for run (), which adds the folds and rows_at_once: these depend on the size of the plane. */
struct Loaded
{
  const void *kernel, *two_sets_kernel; /* the latter is NULL where no plane is faster with two sets of warps */
  size_t shared;                        /* bytes of dynamic shared memory */
  TensorParameters mask;
};

static TensorParameters
describe_mask (const ConvolvePlan *plan, const ConvolveTensorDigits *digits)
{
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveTail *tail = &digits->tail;
  const int width = plan->taps.width, height = plan->taps.height;
  TensorParameters mask = {};

  mask.bands = (const uint2 *) plan->device_memory;
  mask.segments = convolve_tensor_segments (width);
  mask.lead = convolve_tensor_lead (width);
  mask.margin = convolve_tensor_margin (width);
  mask.pitch = convolve_tensor_pitch (width);
  mask.plane_size = mask.pitch * convolve_tensor_tile_rows (height);
  mask.chunks = mask.pitch / CHUNK;
  mask.chunks_reciprocal = reciprocal (mask.chunks);
  mask.boundary = plan->boundary;
  mask.finish = digits->finish;
  mask.total_fits = digits->total_fits;
  mask.tail = *tail;
  mask.integer_tail = digits->integer_tail;
  mask.shift = digits->shift;
  mask.places = convolve_places_of (pixel);
  mask.range = (1 << pixel->depth) - 1 / 128.0f;
  mask.range_scale = (float) (tail->scale / mask.range);
  for (int i = 0; i < pixel->samples; i++) {
    mask.range_offset[i] = (float) (tail->offset[i] / mask.range);
    mask.start[i] = digits->start[i];
  }
  return mask;
}

ConvolveStatus
convolve_tensor_load (ConvolvePlan *plan, ConvolveError *error)
{
#define BY_DIGITS(T, ...) \
  { \
    (const void *) convolve_tensor<T, 1, __VA_ARGS__>, (const void *) convolve_tensor<T, 2, __VA_ARGS__>, \
        (const void *) convolve_tensor<T, 3, __VA_ARGS__> \
  }
  static const void *const kernels[CONVOLVE_N_SAMPLE_TYPES][2][CONVOLVE_TENSOR_MAX_DIGITS] = {
    { BY_DIGITS (uint8_t, 0, 1), BY_DIGITS (uint8_t, 1, 1) },
    { BY_DIGITS (uint16_t, 0, 1), BY_DIGITS (uint16_t, 1, 1) },
  };
  static const void *const two_sets_kernels[CONVOLVE_TENSOR_MAX_DIGITS] = BY_DIGITS (uint8_t, 0, 2);
  static const void *const colours_kernels[2][CONVOLVE_TENSOR_MAX_DIGITS] = { /* [has a fourth sample] */
    BY_DIGITS (uint8_t, 3, 1), BY_DIGITS (uint8_t, 4, 1)
  };
  const ConvolvePixel *pixel = &plan->pixel;
  const ConvolveTensorDigits *digits = (const ConvolveTensorDigits *) plan->prepared;
  const bool planar = pixel->select == 1 && pixel->samples == 1 && pixel->stride == convolve_sample_size (pixel->type);
  const bool dense = pixel->type == CONVOLVE_SAMPLE_U8 && pixel->samples > 1 && pixel->samples == pixel->stride;
  const bool colours = dense && pixel->samples >= COLOURS && pixel->select == (1 << COLOURS) - 1;
  const size_t tile = convolve_tensor_shared_size (plan), stage = ROWS * THREADS * sizeof (unsigned);
  Loaded *loaded = (Loaded *) convolve_new_loaded (plan, sizeof (Loaded), error);
  ConvolveStatus status;

  if (!loaded)
    return CONVOLVE_NO_MEMORY;
  loaded->mask = describe_mask (plan, digits);
  loaded->kernel = kernels[pixel->type][planar][digits->count - 1];
  /*
   * One block takes all samples of its pixels where three such blocks fit into a multiprocessor. Blocks of single
   * samples write single bytes, which is slow. A copied fourth sample counts here, too: from 41x41 on, blocks of single
   * samples are kept, which are faster at 63x63.
   */
  loaded->mask.all_samples = dense && pixel->samples * (tile + stage) <= SHARED_OF_A_THIRD;
  loaded->shared = loaded->mask.all_samples ? (colours ? COLOURS : pixel->samples) * (tile + stage) : tile;
  if (loaded->mask.all_samples && colours)
    loaded->kernel = colours_kernels[pixel->samples > COLOURS][digits->count - 1];
  if (loaded->mask.all_samples && pixel->samples == 2)
    loaded->two_sets_kernel = two_sets_kernels[digits->count - 1];
  status = convolve_allow_shared (plan->device, loaded->kernel, loaded->shared, error);
  if (status == CONVOLVE_OK && loaded->two_sets_kernel)
    status = convolve_allow_shared (plan->device, loaded->two_sets_kernel, loaded->shared, error);
  return status;
}

ConvolveStatus
convolve_tensor_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  const Loaded *loaded = (const Loaded *) plan->loaded;
  const bool two_sets =
      loaded->two_sets_kernel && (int64_t) plane->region.width * plane->region.height <= TWO_SETS_MOST_PIXELS;
  const int sets = two_sets ? 2 : 1;
  TensorParameters mask = loaded->mask;

  mask.fold_x = fold_of (plan->boundary, plane->width);
  mask.fold_y = fold_of (plan->boundary, plane->height);
  mask.rows_at_once = THREADS * sets / mask.chunks;
  return convolve_launch (plan, plane, two_sets ? loaded->two_sets_kernel : loaded->kernel,
      { dim3 (32, WARPS, sets), WIDTH, HEIGHT * (mask.all_samples ? plan->pixel.samples : 1), loaded->shared, dim3 (),
          false, true },
      &mask, error);
}
