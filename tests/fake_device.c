/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device that is none: it stands in for the CUDA files, so that the element's way over a device, and what it says
 * when that fails, run on every machine. Device memory is host memory, and every device variant computes as cpu does.
 * The environment variable CUDACONVOLVE_FAKE says what goes wrong:
 *
 *   no-device   there is none
 *   memory:N    the Nth upload finds no memory
 *   fail:N      the Nth frame fails on the device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convolve_private.h"

struct ConvolveDevice
{
  int id, uploads, frames;
  unsigned char *source[CONVOLVE_MAX_STAGES], *destination[CONVOLVE_MAX_STAGES];
  size_t stride[CONVOLVE_MAX_STAGES];
};

/* Whether this is the count-th of what the environment lets fail. */
static bool
goes_wrong (const char *what, int count)
{
  const char *fault = getenv ("CUDACONVOLVE_FAKE");
  size_t length = strlen (what);

  return fault && strncmp (fault, what, length) == 0 && (fault[length] != ':' || atoi (fault + length + 1) == count);
}

ConvolveStatus
convolve_device_find (int id, ConvolveError *error)
{
  if (goes_wrong ("no-device", 0) || id > 0)
    return convolve_fail (error, CONVOLVE_NO_DEVICE, 100, "no CUDA device: this is a fake");
  return CONVOLVE_OK;
}

ConvolveDevice *
convolve_device_new (int id, ConvolveError *error)
{
  ConvolveDevice *device;

  if (convolve_device_find (id, error) != CONVOLVE_OK)
    return NULL;
  device = calloc (1, sizeof (*device));
  device->id = id < 0 ? 0 : id;
  return device;
}

ConvolveDevice *
convolve_device_new_current (ConvolveError *error)
{
  return convolve_device_new (-1, error);
}

void
convolve_device_free (ConvolveDevice *device)
{
  for (int i = 0; device && i < CONVOLVE_MAX_STAGES; i++) {
    free (device->source[i]);
    free (device->destination[i]);
  }
  free (device);
}

int
convolve_device_id (const ConvolveDevice *device)
{
  return device->id;
}

const char *
convolve_device_name (const ConvolveDevice *device)
{
  return "fake device";
}

size_t
convolve_device_shared_limit (const ConvolveDevice *device)
{
  return 64 * 1024;
}

/* The destination is filled with what no frame holds by chance, to show what is downloaded but was never written. */
ConvolveStatus
convolve_device_stage (ConvolveDevice *device, int slot, size_t row_bytes, size_t rows, ConvolveStage *stage,
    ConvolveError *error)
{
  size_t stride = (row_bytes + 255) / 256 * 256;

  if (goes_wrong ("memory", ++device->uploads))
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, 2, "no room for a plane of %zu bytes", stride * rows);
  free (device->source[slot]);
  free (device->destination[slot]);
  device->source[slot] = malloc (stride * rows);
  device->destination[slot] = malloc (stride * rows);
  device->stride[slot] = stride;
  memset (device->destination[slot], 0xA5, stride * rows);
  *stage = (ConvolveStage) { device->source[slot], device->destination[slot], stride };
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_upload (ConvolveDevice *device, int slot, const void *host, size_t host_stride, size_t row_bytes,
    size_t rows, ConvolveStage *stage, ConvolveError *error)
{
  ConvolveStatus status = convolve_device_stage (device, slot, row_bytes, rows, stage, error);

  for (size_t y = 0; y < rows && status == CONVOLVE_OK; y++)
    memcpy (device->source[slot] + y * stage->stride, (const unsigned char *) host + y * host_stride, row_bytes);
  return status;
}

ConvolveStatus
convolve_device_download (ConvolveDevice *device, int slot, void *host, size_t host_stride, size_t row_bytes,
    size_t rows, ConvolveError *error)
{
  for (size_t y = 0; y < rows; y++)
    memcpy ((unsigned char *) host + y * host_stride, device->destination[slot] + y * device->stride[slot], row_bytes);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_finish (ConvolveDevice *device, ConvolveTimes *times, ConvolveError *error)
{
  if (times)
    *times = (ConvolveTimes) { 1000, 2000, 3000 };
  if (goes_wrong ("fail", ++device->frames))
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 700, "an illegal memory access was encountered");
  return CONVOLVE_OK;
}

void *
convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error)
{
  return malloc (bytes);
}

void
convolve_device_release (ConvolveDevice *device, void *memory)
{
  free (memory);
}

ConvolveStatus
convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes, ConvolveCopy direction,
    ConvolveError *error)
{
  memcpy (to, from, bytes);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_put (ConvolveDevice *device, const float *values, size_t count, float **copy, ConvolveError *error)
{
  *copy = malloc (count * sizeof (float));
  memcpy (*copy, values, count * sizeof (float));
  return CONVOLVE_OK;
}

void
convolve_device_timer_start (ConvolveDevice *device)
{
}

double
convolve_device_timer_stop (ConvolveDevice *device)
{
  return 0;
}

#define RUN(name) \
ConvolveStatus \
convolve_##name##_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error) \
{ \
  return convolve_cpu_run (plan, plane, error); \
}

RUN (global)
RUN (constant)
RUN (tiled)
RUN (tiled_input)
RUN (tiled_cached)
RUN (separable)
RUN (packed)
RUN (direct)
RUN (fused)
RUN (fused_tiled)
