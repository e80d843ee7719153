/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes the place of the .cu files in a build without CUDA. All functions that open a device fail, so the functions
 * that take a device are never called.
 */
#include "common/batch.h"
#include "common/form.h"
#include "common/internal.h"
#include "staging.h"

static ConvolveStatus
no_cuda (ConvolveError *error)
{
  return convolve_fail (error, CONVOLVE_NO_DEVICE, 0, "this build has no CUDA");
}

ConvolveStatus
convolve_run_without_cuda (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_form_run_without_cuda (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job,
    ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_await_answer (ConvolveDevice *device, unsigned *answer, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_find (int id, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_check_current (ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveDevice *
convolve_device_new (int id, ConvolveError *error)
{
  no_cuda (error);
  return NULL;
}

ConvolveDevice *
convolve_device_new_current (ConvolveError *error)
{
  no_cuda (error);
  return NULL;
}

ConvolveStatus
convolve_device_use_stream (ConvolveDevice *device, void *stream, ConvolveError *error)
{
  return no_cuda (error);
}

void
convolve_device_free (ConvolveDevice *device)
{
}

ConvolveStatus
convolve_device_independent (ConvolveDevice *device, bool independent, ConvolveError *error)
{
  return no_cuda (error);
}

int
convolve_device_id (const ConvolveDevice *device)
{
  return -1;
}

const char *
convolve_device_name (const ConvolveDevice *device)
{
  return "none";
}

size_t
convolve_device_shared_limit (const ConvolveDevice *device)
{
  return 0;
}

size_t
convolve_device_cache_bytes (const ConvolveDevice *device)
{
  return 0;
}

int
convolve_device_multiprocessors (const ConvolveDevice *device)
{
  return 1;
}

bool
convolve_pin (int id, void *memory, size_t bytes)
{
  return false;
}

void
convolve_unpin (int id, void *memory)
{
}

ConvolveStatus
convolve_device_begin (ConvolveDevice *device, int slot, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_stage (ConvolveDevice *device, int plane, size_t row_bytes, size_t rows, ConvolveStage *stage,
    ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_upload (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_download (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_upload_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_download_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return no_cuda (error);
}

void
convolve_device_use_threads (ConvolveDevice *device, int threads)
{
}

bool
convolve_device_lacks_staging (const ConvolveDevice *device)
{
  return true;
}

void *
convolve_device_new_locked (ConvolveDevice *device, size_t bytes)
{
  return NULL;
}

void
convolve_device_free_locked (ConvolveDevice *device, void *memory)
{
}

ConvolveStatus
convolve_device_transfer (ConvolveDevice *device, int plane, ConvolveCopy direction, size_t offset, size_t bytes,
    void *host, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_mark (ConvolveDevice *device, int mark, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_wait_mark (ConvolveDevice *device, int slot, int mark, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_end (ConvolveDevice *device, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_wait (ConvolveDevice *device, int slot, ConvolveTimes *times, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_finish (ConvolveDevice *device, ConvolveError *error)
{
  return no_cuda (error);
}

void *
convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error)
{
  no_cuda (error);
  return NULL;
}

void
convolve_device_release (ConvolveDevice *device, void *memory)
{
}

ConvolveStatus
convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes, ConvolveCopy direction,
    ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_put (ConvolveDevice *device, const void *values, size_t bytes, void **copy, ConvolveError *error)
{
  return no_cuda (error);
}

void
convolve_device_timer_start (ConvolveDevice *device)
{
}

double
convolve_device_timer_stop (ConvolveDevice *device)
{
  return -1;
}

int
convolve_device_capability (const ConvolveDevice *device)
{
  return 0;
}

int
convolve_device_double_ratio (const ConvolveDevice *device)
{
  return 0;
}

ConvolveStatus
convolve_device_batch_begin (ConvolveBatch *batch, size_t bytes, ConvolveError *error)
{
  return no_cuda (error);
}

ConvolveStatus
convolve_device_batch_run (ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error)
{
  return no_cuda (error);
}

void
convolve_device_batch_clear (ConvolveBatch *batch)
{
}
