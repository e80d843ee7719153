/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of the form of light on a device: a thread for each pixel, or for four of the usual pictures. */
#include "cuda/forms/light.h"

#include "cuda/device/image.cuh"
#include "cuda/device/launch.cuh"

#define THREADS_ACROSS 64
#define THREADS_DOWN 4
#define LOOKING_ROWS 64 /* blocks below each other that look at alpha: each takes many rows */

/* Where sample k of a pixel is in a picture whose samples have `size` bytes. */
static __device__ __forceinline__ uint8_t *
sample_of (const ConvolveLightTables &tables, const ConvolvePicture &picture, int k, int x, int y, int size)
{
  const ConvolveFormPlane &plane = picture.planes[tables.planes > 1 ? k : 0];

  return (uint8_t *) plane.data + y * plane.stride + convolve_light_offset (&tables, k, x, size);
}

/* A thread does all samples of its pixels, colours before alpha, which both outer pictures may share. */
template <bool PACKS>
static __global__ void __launch_bounds__ (THREADS_ACROSS *THREADS_DOWN)
    convolve_light_pass (ConvolveLightTables tables, ConvolveFormJob job)
{
  const int x = blockIdx.x * THREADS_ACROSS + threadIdx.x, size = tables.pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2;

  convolve_wait ();
  if (x >= job.inner.width)
    return;
  for (int y = blockIdx.y * THREADS_DOWN + threadIdx.y; y < job.inner.height; y += gridDim.y * THREADS_DOWN) {
    unsigned before = CONVOLVE_LIGHT_MOST, now = CONVOLVE_LIGHT_MOST;

    if (tables.weighs)
      before = convolve_light_alpha (&tables, sample_of (tables, job.original, tables.alpha, x, y, size));
    if (PACKS && tables.weighs)
      now = *(const uint16_t *) sample_of (tables, job.inner, tables.alpha, x, y, 2);
#pragma unroll
    for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
      if (k < tables.samples) {
        uint8_t *original = sample_of (tables, job.original, k, x, y, size);
        uint16_t *word = (uint16_t *) sample_of (tables, job.inner, k, x, y, 2);

        if (PACKS)
          convolve_light_pack (&tables, k, original, *word, now, before, sample_of (tables, job.outer, k, x, y, size));
        else
          *word = (uint16_t) convolve_light_unpack (&tables, k, original, before);
      }
  }
}

/* Memory that a thread reads and writes at once, as words where it lies so, and otherwise byte by byte. */
template <int BYTES>
static __device__ __forceinline__ void
load (uint8_t (&bytes)[BYTES], const uint8_t *from, int count)
{
  if (count == BYTES && (uintptr_t) from % 4 == 0) {
#pragma unroll
    for (int i = 0; i < BYTES / 4; i++) {
      const uint32_t word = ((const uint32_t *) from)[i];

#pragma unroll
      for (int k = 0; k < 4; k++)
        bytes[4 * i + k] = (uint8_t) (word >> 8 * k);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < BYTES; i++)
    bytes[i] = i < count ? from[i] : 0;
}

template <int BYTES>
static __device__ __forceinline__ void
store (uint8_t *to, const uint8_t (&bytes)[BYTES], int count)
{
  if (count == BYTES && (uintptr_t) to % 4 == 0) {
#pragma unroll
    for (int i = 0; i < BYTES / 4; i++)
      ((uint32_t *) to)[i] =
          bytes[4 * i] | bytes[4 * i + 1] << 8 | bytes[4 * i + 2] << 16 | (uint32_t) bytes[4 * i + 3] << 24;
    return;
  }
#pragma unroll
  for (int i = 0; i < BYTES; i++)
    if (i < count)
      to[i] = bytes[i];
}

/* Loads and stores of 16-bit words, whose place is a multiple of 8 bytes: two words of 32 bits at once. */
template <int WORDS>
static __device__ __forceinline__ void
load_words (uint16_t (&words)[WORDS], const uint16_t *from, int count)
{
  if (count < WORDS) {
#pragma unroll
    for (int i = 0; i < WORDS; i++)
      words[i] = i < count ? from[i] : 0;
    return;
  }
#pragma unroll
  for (int i = 0; i < WORDS / 4; i++) {
    const uint2 pair = ((const uint2 *) from)[i];

    words[4 * i] = (uint16_t) pair.x;
    words[4 * i + 1] = (uint16_t) (pair.x >> 16);
    words[4 * i + 2] = (uint16_t) pair.y;
    words[4 * i + 3] = (uint16_t) (pair.y >> 16);
  }
}

template <int WORDS>
static __device__ __forceinline__ void
store_words (uint16_t *to, const uint16_t (&words)[WORDS], int count)
{
  if (count < WORDS) {
#pragma unroll
    for (int i = 0; i < WORDS; i++)
      if (i < count)
        to[i] = words[i];
    return;
  }
#pragma unroll
  for (int i = 0; i < WORDS / 4; i++)
    ((uint2 *) to)[i] = make_uint2 (words[4 * i] | (uint32_t) words[4 * i + 1] << 16,
        words[4 * i + 2] | (uint32_t) words[4 * i + 3] << 16);
}

/* Four pixels of 8-bit samples: PLANES are 1, of SAMPLES samples each, or SAMPLES. */
template <int SAMPLES, int PLANES>
struct Four
{
  static constexpr int each = SAMPLES / PLANES;            /* samples of a pixel in a plane */
  uint8_t bytes[PLANES][4 * each], left[PLANES][4 * each]; /* of the original, and of the outer picture before */
  uint16_t words[PLANES][4 * each];

  /* The place of sample k of a pixel. */
  static __device__ __forceinline__ int
  plane (int k)
  {
    return PLANES > 1 ? k : 0;
  }
  static __device__ __forceinline__ int
  index (int pixel, int k)
  {
    return PLANES > 1 ? pixel : pixel * SAMPLES + k;
  }
};

static __device__ __forceinline__ uint8_t *
row_of (const ConvolvePicture &picture, int plane, int y)
{
  return (uint8_t *) picture.planes[plane].data + y * picture.planes[plane].stride;
}

/*
 * A thread does four pixels of a row. Inner rows begin at multiples of 8 bytes. What the
 * tables would say is a constant here, so that the same formulas become a few instructions.
 */
template <bool PACKS, int SAMPLES, int PLANES>
static __global__ void __launch_bounds__ (THREADS_ACROSS *THREADS_DOWN)
    convolve_light_fours (ConvolveLightTables given, ConvolveFormJob job)
{
  const int x = 4 * (blockIdx.x * THREADS_ACROSS + threadIdx.x);
  const int count = min (4, job.inner.width - x) * Four<SAMPLES, PLANES>::each;
  ConvolveLightTables tables = given;

  convolve_wait ();
  if (x >= job.inner.width)
    return;
  tables.pixel.type = CONVOLVE_SAMPLE_U8;
  tables.pixel.depth = 8;
  tables.pixel.shift = 0;
  tables.samples = SAMPLES;
  tables.planes = PLANES;
  for (int y = blockIdx.y * THREADS_DOWN + threadIdx.y; y < job.inner.height; y += gridDim.y * THREADS_DOWN) {
    Four<SAMPLES, PLANES> four;

#pragma unroll
    for (int i = 0; i < PLANES; i++) {
      load (four.bytes[i], row_of (job.original, i, y) + x * four.each, count);
      if (PACKS)
        load_words (four.words[i], (const uint16_t *) row_of (job.inner, i, y) + x * four.each, count);
      if (PACKS && tables.leaves_unseen)
        load (four.left[i], row_of (job.outer, i, y) + x * four.each, count);
    }
#pragma unroll
    for (int pixel = 0; pixel < 4; pixel++) {
      unsigned before = CONVOLVE_LIGHT_MOST, now = CONVOLVE_LIGHT_MOST;

      /* All samples are read, and one is taken: a place that depends on alpha would have to be in memory. */
#pragma unroll
      for (int k = 0; k < SAMPLES; k++) {
        const unsigned byte = four.bytes[four.plane (k)][four.index (pixel, k)];
        const unsigned word = PACKS ? four.words[four.plane (k)][four.index (pixel, k)] : 0;

        before = tables.weighs && k == tables.alpha ? byte : before;
        now = tables.weighs && k == tables.alpha ? word : now;
      }
      before = tables.weighs ? convolve_light_widen (before, tables.pixel.depth) : before;
#pragma unroll
      for (int k = 0; k < SAMPLES; k++) {
        uint8_t *byte = &four.bytes[four.plane (k)][four.index (pixel, k)];
        uint16_t *word = &four.words[four.plane (k)][four.index (pixel, k)];
        uint8_t packed = four.left[four.plane (k)][four.index (pixel, k)];

        if (PACKS) {
          convolve_light_pack (&tables, k, byte, *word, now, before, &packed);
          *byte = packed;
        } else {
          *word = (uint16_t) convolve_light_unpack (&tables, k, byte, before);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < PLANES; i++)
      if (PACKS)
        store (row_of (job.outer, i, y) + x * four.each, four.bytes[i], count);
      else
        store_words ((uint16_t *) row_of (job.inner, i, y) + x * four.each, four.words[i], count);
  }
}

/* Answers 1 where a pixel has less than the largest alpha. */
static __global__ void __launch_bounds__ (THREADS_ACROSS *THREADS_DOWN)
    convolve_light_look (ConvolveLightTables tables, ConvolveFormJob job, unsigned *answer)
{
  const int x = blockIdx.x * THREADS_ACROSS + threadIdx.x, size = tables.pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2;
  const int most = (1 << tables.pixel.depth) - 1;
  bool translucent = false;

  convolve_wait ();
  for (int y = blockIdx.y * THREADS_DOWN + threadIdx.y; y < job.inner.height; y += gridDim.y * THREADS_DOWN)
    if (x < job.inner.width)
      translucent |=
          convolve_read_sample (&tables.pixel, sample_of (tables, job.original, tables.alpha, x, y, size)) != most;
  if (__syncthreads_or (translucent) && threadIdx.x == 0 && threadIdx.y == 0)
    *answer = 1;
}

/* Whether a thread may read and write four words of each row of the picture at once. */
static bool
has_fours (const ConvolvePicture *inner, int planes)
{
  for (int i = 0; i < planes; i++)
    if ((uintptr_t) inner->planes[i].data % 8 != 0 || inner->planes[i].stride % 8 != 0)
      return false;
  return true;
}

/* The kernel for four pixels a thread, or NULL. */
template <bool PACKS>
static const void *
find_fours (const ConvolveLightTables *tables, const ConvolveFormJob *job)
{
  if (tables->pixel.type != CONVOLVE_SAMPLE_U8 || !has_fours (&job->inner, tables->planes))
    return NULL;
  if (tables->samples == 4)
    return tables->planes == 1 ? (const void *) convolve_light_fours<PACKS, 4, 1>
                               : (const void *) convolve_light_fours<PACKS, 4, 4>;
  if (tables->samples == 3)
    return tables->planes == 1 ? (const void *) convolve_light_fours<PACKS, 3, 1>
                               : (const void *) convolve_light_fours<PACKS, 3, 3>;
  return NULL;
}

static ConvolveStatus
enqueue (ConvolveDevice *device, const ConvolveFormJob *job, ConvolveLaunch *launch, int pixels, int most_rows,
    void **arguments, ConvolveError *error)
{
  const int across = THREADS_ACROSS * pixels, rows = (job->inner.height + THREADS_DOWN - 1) / THREADS_DOWN;

  launch->blocks = dim3 ((job->inner.width + across - 1) / across, rows < most_rows ? rows : most_rows);
  launch->block = dim3 (THREADS_ACROSS, THREADS_DOWN);
  launch->waits = true;
  return convolve_enqueue (device, *launch, arguments, "light", error);
}

static ConvolveStatus
look (ConvolveDevice *device, ConvolveLightTables *tables, ConvolveFormJob *job, ConvolveError *error)
{
  unsigned *answer;
  ConvolveStatus status = convolve_device_make_question (device, &answer, error);
  ConvolveLaunch launch = {};
  void *arguments[] = { tables, job, &answer };

  if (status != CONVOLVE_OK)
    return status;
  launch.kernel = (const void *) convolve_light_look;
  status = enqueue (device, job, &launch, 1, LOOKING_ROWS, arguments, error);
  return status == CONVOLVE_OK ? convolve_device_question_asked (device, error) : status;
}

ConvolveStatus
convolve_light_run (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, ConvolveError *error)
{
  const bool packs = pass == CONVOLVE_FORM_PACK;
  ConvolveDevice *device = form->device;
  ConvolveEntry entry (device, error);
  ConvolveLightTables tables = ((const ConvolveLightForm *) form)->tables;
  ConvolveFormJob copy = *job;
  ConvolveLaunch launch = {};
  void *arguments[] = { &tables, &copy };

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  cudaError_t code = convolve_frame_enqueue (device, PHASE_KERNEL);

  if (code != cudaSuccess)
    return convolve_device_fail (device, code, "light", error);
  if (pass == CONVOLVE_FORM_LOOK)
    return look (device, &tables, &copy, error);
  launch.kernel = packs ? find_fours<true> (&tables, &copy) : find_fours<false> (&tables, &copy);
  if (launch.kernel)
    return enqueue (device, &copy, &launch, 4, CONVOLVE_MOST_BLOCKS_DOWN, arguments, error);
  launch.kernel = packs ? (const void *) convolve_light_pass<true> : (const void *) convolve_light_pass<false>;
  return enqueue (device, &copy, &launch, 1, CONVOLVE_MOST_BLOCKS_DOWN, arguments, error);
}
