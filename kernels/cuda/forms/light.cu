/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of the form of light on a device: a thread for each pixel. */
#include "cuda/forms/light.h"

#include "cuda/device/idle.cuh"
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
  if (x >= job.inner.width || convolve_is_idle (job.seen))
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

/* Sets *job.seen where a pixel has less than the largest alpha. */
static __global__ void __launch_bounds__ (THREADS_ACROSS *THREADS_DOWN)
    convolve_light_look (ConvolveLightTables tables, ConvolveFormJob job)
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
    *job.seen = 1;
}

static const void *
kernel_of (ConvolveFormPass pass)
{
  switch (pass) {
    case CONVOLVE_FORM_UNPACK:
      return (const void *) convolve_light_pass<false>;
    case CONVOLVE_FORM_PACK:
      return (const void *) convolve_light_pass<true>;
    default:
      return (const void *) convolve_light_look;
  }
}

ConvolveStatus
convolve_light_run (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, ConvolveError *error)
{
  ConvolveDevice *device = form->device;
  const int rows = (job->inner.height + THREADS_DOWN - 1) / THREADS_DOWN;
  const int most_rows = pass == CONVOLVE_FORM_LOOK ? LOOKING_ROWS : CONVOLVE_MOST_BLOCKS_DOWN;
  ConvolveEntry entry (device, error);
  ConvolveLightTables tables = ((const ConvolveLightForm *) form)->tables;
  ConvolveFormJob copy = *job;
  ConvolveLaunch launch = {};
  void *arguments[] = { &tables, &copy };

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  cudaError_t code = convolve_frame_enqueue (device, PHASE_KERNEL);

  if (code == cudaSuccess && pass == CONVOLVE_FORM_LOOK)
    code = cudaMemsetAsync (job->seen, 0, sizeof (*job->seen), device->streams[PHASE_KERNEL]);
  else
    copy.seen = (unsigned *) device->only_if;
  if (code != cudaSuccess)
    return convolve_device_fail (device, code, "light", error);
  launch.kernel = kernel_of (pass);
  launch.blocks = dim3 ((job->inner.width + THREADS_ACROSS - 1) / THREADS_ACROSS, rows < most_rows ? rows : most_rows);
  launch.block = dim3 (THREADS_ACROSS, THREADS_DOWN);
  launch.waits = true;
  return convolve_enqueue (device, launch, arguments, "light", error);
}
