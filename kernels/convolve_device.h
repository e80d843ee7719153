/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A CUDA device with streams and buffers of its own: no two ConvolveDevices of a process share any, even on one GPU.
 * Any thread may use a ConvolveDevice, but only one at a time. In a build without CUDA, all functions exist and fail
 * with CONVOLVE_NO_DEVICE.
 *
 * The calls for a frame in host memory are:
 *  1. convolve_device_begin();
 *  2. convolve_device_stage() for each plane;
 *  3. convolve_device_upload() of rows, convolve_run() on regions, and convolve_device_download() of rows, as often as
 *     needed: for example strip by strip;
 *  4. convolve_device_end();
 *  5. convolve_device_wait(), later.
 *
 * All but the last only enqueue work. A convolve_run() starts after all uploads that were enqueued before, and a
 * download after all convolve_run()s that were enqueued before. No other order is kept: uploads, kernels and downloads
 * of one frame and of several frames overlap.
 */
#ifndef CONVOLVE_DEVICE_H
#define CONVOLVE_DEVICE_H

#include "convolve.h"

#ifdef __cplusplus
extern "C"
{
#endif

#pragma GCC visibility push(default)

#define CONVOLVE_MAX_FRAMES 4  /* frames that were begun and not waited for */
#define CONVOLVE_MAX_STAGES 8  /* two for each plane of a frame */
#define CONVOLVE_FORM_STAGES 6 /* behind those, for inner pictures: see convolve_form.h */
#define CONVOLVE_ALL_STAGES (CONVOLVE_MAX_STAGES + CONVOLVE_FORM_STAGES)

/*
 * Whether the error is one after which all CUDA calls of the process fail until its end. Such errors belong to no call:
 * a kernel of any other part of the process may have caused the error.
 */
bool convolve_error_is_lasting (const ConvolveError *error);

/*
 * Whether CUDA device id exists, or any device where id is -1. Opens no device. Errors: NO_DEVICE; DEVICE_FAILED where
 * the process can use CUDA no more.
 */
ConvolveStatus convolve_device_find (int id, ConvolveError *error);

/*
 * Whether CUDA still works in the context that is current on this thread, for those who learn only that a call of
 * others failed. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_device_check_current (ConvolveError *error);

/* Opens CUDA device id, or the first one where id is -1. NULL on error: NO_DEVICE, NO_DEVICE_MEMORY, DEVICE_FAILED. */
ConvolveDevice *convolve_device_new (int id, ConvolveError *error);

/*
 * The device of the CUDA context that is current on this thread; the caller owns the context. The context must be
 * current at every later call with the device or one of its plans. Errors: as convolve_device_new().
 */
ConvolveDevice *convolve_device_new_current (ConvolveError *error);
void convolve_device_free (ConvolveDevice *device); /* NULL is allowed; waits for all enqueued work */

/*
 * Enqueues kernels on stream from now on, a CUstream of the device's context. The stream must live until another one is
 * set or the device is freed. Waits for all enqueued work. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_device_use_stream (ConvolveDevice *device, void *stream, ConvolveError *error);

/*
 * Whether the convolve_run()s from now on are independent of each other: none reads or writes what another one writes,
 * such as those of a frame's planes. They may then run at the same time, and a run may wait for the next one until both
 * are enqueued as one launch. The first one follows all that was enqueued before. A run is certain to be in the stream
 * only after the call with false, which is needed after an error, too. Until then no batch, layer or copy may be
 * enqueued that reads or writes what one of the runs writes, and the caller's own work may touch none of their memory.
 * Errors: DEVICE_FAILED, NO_DEVICE_MEMORY, of a run that waited. Any other call with the device may report such an
 * error, too.
 */
ConvolveStatus convolve_device_independent (ConvolveDevice *device, bool independent, ConvolveError *error);

int convolve_device_id (const ConvolveDevice *device);
const char *convolve_device_name (const ConvolveDevice *device); /* "NVIDIA H200 (sm_90, driver for CUDA 13.0)" */

/*
 * Page-locks host memory for all contexts of the process. Copies from and to page-locked memory have the bus's full
 * speed and overlap other work. id is a device's number, or -1 where a context is current. False where the memory
 * cannot be locked; it stays as it is. Bytes must not be locked twice, and must be unlocked before they are freed.
 * Both functions are thread-safe and slow.
 */
bool convolve_pin (int id, void *memory, size_t bytes);
void convolve_unpin (int id, void *memory);

/*
 * The two device buffers of a plane of a frame. A slot keeps them from frame to frame, and enlarges them where needed.
 */
typedef struct
{
  void *source, *destination; /* aligned to 256 bytes */
  size_t stride;              /* bytes, a multiple of 16; the length of a row where that is a multiple of 16 */
} ConvolveStage;

/* The times of a frame's uploads, kernels and downloads, in nanoseconds. The three overlap. */
typedef struct
{
  bool taken; /* the other members are set; not for every frame, because to measure takes time itself */
  uint64_t upload, kernel, download;
} ConvolveTimes;

/*
 * Begins a frame. All work until convolve_device_end() belongs to the frame in slot (0 .. CONVOLVE_MAX_FRAMES - 1). The
 * slot's frame before must have been waited for. Errors: INVALID, DEVICE_FAILED.
 */
ConvolveStatus convolve_device_begin (ConvolveDevice *device, int slot, ConvolveError *error);

/*
 * Provides the buffers for plane number plane (0 .. CONVOLVE_ALL_STAGES - 1) of the frame: rows rows of row_bytes each.
 * Their earlier contents are lost. Errors: INVALID, NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_device_stage (ConvolveDevice *device, int plane, size_t row_bytes, size_t rows,
    ConvolveStage *stage, ConvolveError *error);

/* Rows of a stage and their place on the host. The host memory must live until convolve_device_wait() returns. */
typedef struct
{
  size_t first, count; /* the first row, and how many rows */
  size_t row_bytes;
  void *host;         /* the first of these rows; an upload only reads */
  size_t host_stride; /* bytes, row_bytes or more */
} ConvolveRows;

/* Enqueues the copy of rows from the host to the stage's source. Errors: INVALID, DEVICE_FAILED. */
ConvolveStatus convolve_device_upload (ConvolveDevice *device, int plane, const ConvolveRows *rows,
    ConvolveError *error);

/* Enqueues the copy of rows from the stage's destination to the host. Errors: INVALID, DEVICE_FAILED. */
ConvolveStatus convolve_device_download (ConvolveDevice *device, int plane, const ConvolveRows *rows,
    ConvolveError *error);

/*
 * An upload or a download of rows whose host memory is not page-locked: threads copy them between that memory and
 * page-locked memory of the device, while the bus takes other rows. An upload has read the rows on return. A download writes the rows in
 * convolve_device_wait(). Where no memory can be locked, the rows are copied as by the functions above. Errors: INVALID,
 * DEVICE_FAILED.
 */
ConvolveStatus convolve_device_upload_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows,
    ConvolveError *error);
ConvolveStatus convolve_device_download_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows,
    ConvolveError *error);

/*
 * Lets so many threads, the caller included, copy pageable rows from now on; 0 stands for one on each core. Few threads
 * fill the bus, so the device takes at most some. In a new device the caller works alone.
 */
void convolve_device_use_threads (ConvolveDevice *device, int threads);

/* Whether no memory could be locked for pageable rows. */
bool convolve_device_lacks_staging (const ConvolveDevice *device);

/* Ends the frame that was begun: all of its work is enqueued. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_device_end (ConvolveDevice *device, ConvolveError *error);

/*
 * Waits for the frame in slot, which was ended. times may be NULL. An error of a kernel of the frame is reported here.
 * Nothing of the frame is under way afterwards, whatever the result. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_device_wait (ConvolveDevice *device, int slot, ConvolveTimes *times, ConvolveError *error);

/*
 * Waits for all enqueued work, of frames and of other calls, after an error of another call, too. A frame that was
 * begun and not ended is discarded. Errors: DEVICE_FAILED.
 */
ConvolveStatus convolve_device_finish (ConvolveDevice *device, ConvolveError *error);

/* Plain device memory, for tests and benchmarks. Returns NULL on error: NO_DEVICE_MEMORY, DEVICE_FAILED. */
void *convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error);
void convolve_device_release (ConvolveDevice *device, void *memory); /* NULL is allowed */

typedef enum
{
  CONVOLVE_COPY_TO_DEVICE,
  CONVOLVE_COPY_TO_HOST,
  CONVOLVE_COPY_ON_DEVICE
} ConvolveCopy;

/* Enqueues a copy on the stream of convolve_run(), in order with its kernels. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes,
    ConvolveCopy direction, ConvolveError *error);

/*
 * A timer on the stream of convolve_run(). stop waits for the work that was enqueued since start, and returns its time
 * in nanoseconds, or -1 after an error.
 */
void convolve_device_timer_start (ConvolveDevice *device);
double convolve_device_timer_stop (ConvolveDevice *device);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
