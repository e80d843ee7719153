/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The passes of the form of light on a device: a thread for each pixel. */
#include "cuda/forms/light.h"

#include "cuda/device/image.cuh"
#include "cuda/device/launch.cuh"

#define THREADS_ACROSS 64
#define THREADS_DOWN 4

/* Where sample k of a pixel is in a picture whose samples have `size` bytes. */
static __device__ __forceinline__ uint8_t *
sample_of (const ConvolveLightTables &tables, const ConvolvePicture &picture, int k, int x, int y, int size)
{
  const ConvolveFormPlane &plane = picture.planes[tables.planes > 1 ? k : 0];

  return (uint8_t *) plane.data + y * plane.stride + convolve_light_offset (&tables, k, x, size);
}

template <bool PACKS>
static __global__ void __launch_bounds__ (THREADS_ACROSS *THREADS_DOWN)
    convolve_light_pass (ConvolveLightTables tables, ConvolveFormJob job)
{
  const int x = blockIdx.x * THREADS_ACROSS + threadIdx.x, size = tables.pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2;

  convolve_wait ();
  if (x >= job.inner.width)
    return;
  for (int y = blockIdx.y * THREADS_DOWN + threadIdx.y; y < job.inner.height; y += gridDim.y * THREADS_DOWN)
#pragma unroll
    for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
      if (k < tables.samples) {
        uint8_t *original = sample_of (tables, job.original, k, x, y, size);
        uint16_t *word = (uint16_t *) sample_of (tables, job.inner, k, x, y, 2);

        if (PACKS)
          convolve_light_pack (&tables, k, original, *word, sample_of (tables, job.outer, k, x, y, size));
        else
          convolve_light_unpack (&tables, k, original, word);
      }
}

ConvolveStatus
convolve_light_run (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job, ConvolveError *error)
{
  const int rows = (job->inner.height + THREADS_DOWN - 1) / THREADS_DOWN;
  ConvolveEntry entry (form->device, error);
  ConvolveLightTables tables = ((const ConvolveLightForm *) form)->tables;
  ConvolveFormJob copy = *job;
  ConvolveLaunch launch = {};
  void *arguments[] = { &tables, &copy };

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  cudaError_t code = convolve_frame_enqueue (form->device, PHASE_KERNEL);

  if (code != cudaSuccess)
    return convolve_device_fail (form->device, code, "light", error);
  launch.kernel =
      pass == CONVOLVE_FORM_PACK ? (const void *) convolve_light_pass<true> : (const void *) convolve_light_pass<false>;
  launch.blocks = dim3 ((job->inner.width + THREADS_ACROSS - 1) / THREADS_ACROSS,
      rows < CONVOLVE_MOST_BLOCKS_DOWN ? rows : CONVOLVE_MOST_BLOCKS_DOWN);
  launch.block = dim3 (THREADS_ACROSS, THREADS_DOWN);
  launch.waits = true;
  return convolve_enqueue (form->device, launch, arguments, "light", error);
}
