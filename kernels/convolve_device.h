/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A CUDA device as one user of it sees it: its own stream, its own staging buffers, nothing shared with other
 * ConvolveDevices of the process. Not thread-safe: one thread at a time, any thread. A build without CUDA has all
 * of it and answers CONVOLVE_NO_DEVICE.
 *
 * A frame in host memory goes: upload each of its planes, convolve_run() on the stages, download each, finish.
 */
#ifndef CONVOLVE_DEVICE_H
#define CONVOLVE_DEVICE_H

#include "convolve.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONVOLVE_MAX_STAGES 4   /* planes of a frame */

/* Whether there is CUDA device id, or any where id is -1; opens nothing. Errors: NO_DEVICE. */
ConvolveStatus convolve_device_find (int id, ConvolveError *error);

/* Opens CUDA device id, or the first one where id is -1. NULL on error: NO_DEVICE, NO_DEVICE_MEMORY, DEVICE_FAILED. */
ConvolveDevice *convolve_device_new (int id, ConvolveError *error);

/*
 * The device of the CUDA context that is current on this thread, whoever made it. That context must be current at
 * every later call that takes the device or one of its plans. Errors as above.
 */
ConvolveDevice *convolve_device_new_current (ConvolveError *error);
void convolve_device_free (ConvolveDevice *device);     /* NULL is allowed; waits for what is enqueued */

int convolve_device_id (const ConvolveDevice *device);
const char *convolve_device_name (const ConvolveDevice *device);        /* "NVIDIA H200 (sm_90, driver for CUDA 13.0)" */

/* Where a plane of the frame lies on the device: two buffers of one stride, kept from frame to frame, grown on need. */
typedef struct
{
  void *source, *destination;   /* aligned to 256 bytes */
  size_t stride;                /* bytes, a multiple of 256 */
} ConvolveStage;

/* The time one frame took on the device, in nanoseconds. */
typedef struct
{
  uint64_t upload, kernel, download;
} ConvolveTimes;

/* Only makes room in stage number slot, for a source or a destination that is not copied. Errors as below. */
ConvolveStatus convolve_device_stage (ConvolveDevice *device, int slot, size_t row_bytes, size_t rows,
    ConvolveStage *stage, ConvolveError *error);

/*
 * Enqueues the copy of rows * row_bytes from the host into stage number slot (0 .. CONVOLVE_MAX_STAGES - 1).
 * The host memory must stay until convolve_device_finish(). Errors: INVALID, NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_device_upload (ConvolveDevice *device, int slot, const void *host, size_t host_stride,
    size_t row_bytes, size_t rows, ConvolveStage *stage, ConvolveError *error);

/* Enqueues the copy of the stage's destination to the host. Sizes as uploaded. Errors: INVALID, DEVICE_FAILED. */
ConvolveStatus convolve_device_download (ConvolveDevice *device, int slot, void *host, size_t host_stride,
    size_t row_bytes, size_t rows, ConvolveError *error);

/* Waits for all that is enqueued. times may be NULL. This is where a kernel's failure shows: DEVICE_FAILED. */
ConvolveStatus convolve_device_finish (ConvolveDevice *device, ConvolveTimes *times, ConvolveError *error);

/* Plain device memory, for callers that keep frames there (tests and benchmark). */
void *convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error);
void convolve_device_release (ConvolveDevice *device, void *memory);    /* NULL is allowed */

typedef enum
{
  CONVOLVE_COPY_TO_DEVICE,
  CONVOLVE_COPY_TO_HOST,
  CONVOLVE_COPY_ON_DEVICE
} ConvolveCopy;

/* Enqueues a copy of bytes. */
ConvolveStatus convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes,
    ConvolveCopy direction, ConvolveError *error);

/* A stopwatch on the stream: start, enqueue, stop. stop waits and returns nanoseconds, or -1 after an error. */
void convolve_device_timer_start (ConvolveDevice *device);
double convolve_device_timer_stop (ConvolveDevice *device);

#ifdef __cplusplus
}
#endif

#endif
