/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How rows of pageable memory reach a device and come back. CUDA copies such memory through a buffer of its driver: one
 * thread does that, and the caller waits. Here each stage of a frame has page-locked memory of its own on the host, with
 * the stage's layout. Threads copy between that memory and the rows, piece by piece, while the bus takes other pieces.
 */
#ifndef CONVOLVE_STAGING_H
#define CONVOLVE_STAGING_H

#include "convolve_device.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_MOST_MARKS 128 /* pieces of a frame that are downloaded */

typedef struct ConvolveStaging ConvolveStaging;

/* For a device. Nothing is locked yet, and no thread is started. NULL without memory. */
ConvolveStaging *convolve_staging_new (ConvolveDevice *device);
void convolve_staging_free (ConvolveStaging *staging); /* NULL is allowed; nothing is under way */

/* See convolve_device_use_threads() and convolve_device_lacks_staging(). NULL is allowed. */
void convolve_staging_use_threads (ConvolveStaging *staging, int threads);
bool convolve_staging_is_refused (const ConvolveStaging *staging);

/* A frame begins in the slot. */
void convolve_staging_begin (ConvolveStaging *staging, int slot);

/* The stage of a plane of the frame that was begun. */
typedef struct
{
  int slot, plane;
  size_t stride, rows;
} ConvolveStagingPlace;

/*
 * Takes rows from the host to the stage, or enqueues their way back. TRUE: *status and error say how that went. FALSE where
 * memory cannot be locked, or there are too many pieces: no row was copied, and a plain copy is to be used. NULL is
 * allowed.
 */
bool convolve_staging_upload (ConvolveStaging *staging, const ConvolveStagingPlace *place, const ConvolveRows *rows,
    ConvolveStatus *status, ConvolveError *error);
bool convolve_staging_download (ConvolveStaging *staging, const ConvolveStagingPlace *place, const ConvolveRows *rows,
    ConvolveStatus *status, ConvolveError *error);

/* Waits for the pieces of the frame in the slot, and copies each to its rows on the host. NULL is allowed. */
ConvolveStatus convolve_staging_land (ConvolveStaging *staging, int slot, ConvolveError *error);

/* --- what a device does for this; the first two may be called while no frame has begun --- */

/* Page-locked memory of the host, aligned to 64 bytes. NULL where it cannot be had, which is no failure of the device. */
void *convolve_device_new_locked (ConvolveDevice *device, size_t bytes);
void convolve_device_free_locked (ConvolveDevice *device, void *memory);

/* Enqueues a copy between page-locked memory and a stage's source, or from its destination. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_device_transfer (ConvolveDevice *device, int plane, ConvolveCopy direction, size_t offset,
    size_t bytes, void *host, ConvolveError *error);

/* Marks the downloads so far of the frame that was begun, and waits for a mark of a frame. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_device_mark (ConvolveDevice *device, int mark, ConvolveError *error);
ConvolveStatus convolve_device_wait_mark (ConvolveDevice *device, int slot, int mark, ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
