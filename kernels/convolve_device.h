/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A CUDA device as one user of it sees it: its own streams, its own staging buffers, nothing shared with other
 * ConvolveDevices of the process. Not thread-safe: one thread at a time, any thread. A build without CUDA has all
 * of it and answers CONVOLVE_NO_DEVICE.
 *
 * A frame goes: begin; stages for its planes; uploads of rows, convolve_run() on regions, downloads of rows, in any
 * order that makes sense; end; and later wait. All but the last only enqueue. A convolve_run() waits for the uploads
 * before it and a download for the convolve_run()s before it; no other order is kept, so that copies both ways and
 * kernels run beside each other, of one frame and of several.
 */
#ifndef CONVOLVE_DEVICE_H
#define CONVOLVE_DEVICE_H

#include "convolve.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_MAX_FRAMES 4 /* under way at once */
#define CONVOLVE_MAX_STAGES 4 /* planes of a frame */

/* Whether there is CUDA device id, or any where id is -1; opens nothing. Errors: NO_DEVICE. */
ConvolveStatus convolve_device_find (int id, ConvolveError *error);

/* Opens CUDA device id, or the first one where id is -1. NULL on error: NO_DEVICE, NO_DEVICE_MEMORY, DEVICE_FAILED. */
ConvolveDevice *convolve_device_new (int id, ConvolveError *error);

/*
 * The device of the CUDA context that is current on this thread, whoever made it. That context must be current at
 * every later call that takes the device or one of its plans. Errors as above.
 */
ConvolveDevice *convolve_device_new_current (ConvolveError *error);
void convolve_device_free (ConvolveDevice *device); /* NULL is allowed; waits for what is enqueued */

/*
 * From here on kernels go to stream, a CUstream of the device's context, which must stay till another is set or the
 * device is freed. Waits for what is enqueued. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_device_use_stream (ConvolveDevice *device, void *stream, ConvolveError *error);

int convolve_device_id (const ConvolveDevice *device);
const char *convolve_device_name (const ConvolveDevice *device); /* "NVIDIA H200 (sm_90, driver for CUDA 13.0)" */

/*
 * Page-locks host memory for every context of the process: copies from and to it then run at the bus's speed, and
 * beside other work. id is a device's number, or -1 where a context is current. False where that cannot be had, and
 * memory stays as it is. The same bytes once only; unpin before they are freed. Thread-safe, slow.
 */
bool convolve_pin (int id, void *memory, size_t bytes);
void convolve_unpin (int id, void *memory);

/* Where a plane of the frame lies on the device: two buffers of one stride, kept from frame to frame, grown on need. */
typedef struct
{
  void *source, *destination; /* aligned to 256 bytes */
  size_t stride;              /* bytes, a multiple of 16; the row's own length where that is one */
} ConvolveStage;

/* For how long a frame was uploaded, convolved and downloaded, in nanoseconds; the three overlap. */
typedef struct
{
  bool taken; /* not in every frame, since it costs time itself */
  uint64_t upload, kernel, download;
} ConvolveTimes;

/*
 * What is enqueued from here on belongs to frame number slot (0 .. CONVOLVE_MAX_FRAMES - 1), which is not under way.
 * Errors: INVALID, DEVICE_FAILED.
 */
ConvolveStatus convolve_device_begin (ConvolveDevice *device, int slot, ConvolveError *error);

/*
 * Makes room for plane number plane (0 .. CONVOLVE_MAX_STAGES - 1) of the frame. What it held is lost.
 * Errors: INVALID, NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_device_stage (ConvolveDevice *device, int plane, size_t row_bytes, size_t rows,
    ConvolveStage *stage, ConvolveError *error);

/* Rows of a stage, and where they are on the host. The host memory must stay until convolve_device_wait(). */
typedef struct
{
  size_t first, count; /* rows of the stage */
  size_t row_bytes;
  void *host;         /* the first of them; an upload only reads */
  size_t host_stride; /* bytes, row_bytes or more */
} ConvolveRows;

/* Enqueues the copy of rows from the host to the stage's source. Errors: INVALID, DEVICE_FAILED. */
ConvolveStatus convolve_device_upload (ConvolveDevice *device, int plane, const ConvolveRows *rows,
    ConvolveError *error);

/* Enqueues the copy of rows from the stage's destination to the host. Errors: INVALID, DEVICE_FAILED. */
ConvolveStatus convolve_device_download (ConvolveDevice *device, int plane, const ConvolveRows *rows,
    ConvolveError *error);

/* The frame is complete: nothing more of it is enqueued. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_device_end (ConvolveDevice *device, ConvolveError *error);

/*
 * Waits for the frame in slot, begun and ended. times may be NULL. This is where a kernel's failure shows:
 * DEVICE_FAILED.
 */
ConvolveStatus convolve_device_wait (ConvolveDevice *device, int slot, ConvolveTimes *times, ConvolveError *error);

/* Waits for all that is enqueued, in frames or outside; one that was begun and not ended is forgotten. Errors as above. */
ConvolveStatus convolve_device_finish (ConvolveDevice *device, ConvolveError *error);

/* Plain device memory, for callers that keep frames there (tests and benchmark). */
void *convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error);
void convolve_device_release (ConvolveDevice *device, void *memory); /* NULL is allowed */

typedef enum
{
  CONVOLVE_COPY_TO_DEVICE,
  CONVOLVE_COPY_TO_HOST,
  CONVOLVE_COPY_ON_DEVICE
} ConvolveCopy;

/* Enqueues a copy of bytes, in order with convolve_run(). */
ConvolveStatus convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes,
    ConvolveCopy direction, ConvolveError *error);

/* A stopwatch on the stream: start, enqueue, stop. stop waits and returns nanoseconds, or -1 after an error. */
void convolve_device_timer_start (ConvolveDevice *device);
double convolve_device_timer_stop (ConvolveDevice *device);

#ifdef __cplusplus
}
#endif

#endif
