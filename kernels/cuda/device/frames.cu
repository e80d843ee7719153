/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of convolve_device.h: uploads, kernels and downloads on three streams, and page-locked host memory. */
#include <math.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include "cuda/device/device.cuh"

/*
 * Events with times delay the copy engines: a small frame takes a tenth longer with them. So the first TIMED_FIRST
 * frames are timed, and then one of TIMED_EVERY.
 */
#define TIMED_FIRST 4
#define TIMED_EVERY 64

/*
 * A thread sleeps until its frame is done where the other frames under way have so many bytes to copy, up and down
 * together: about two frames of 1080p in NV12, which take 130 us on PCIe 5. A nap may end 130 us too late.
 */
#define BUSY_BYTES 12000000

/*
 * A thread that sleeps takes naps and looks at the frame between them, which costs less than to be woken by an event.
 * The first nap has a share of the mean wait, and each later one a share of the wait so far, within limits in
 * nanoseconds. MOST_NAP is the most that a wait adds to the mean. A wait of one nap adds half of itself, because the
 * frame may have been done long before. So a very long wait delays few of the next frames.
 */
#define FIRST_NAP 0.6
#define LATER_NAP 0.2
#define LEAST_NAP 20e3
#define MOST_NAP 1e6

cudaError_t
convolve_frames_init (ConvolveDevice *device)
{
  cudaError_t code = cudaSuccess;

  for (int i = 0; i < N_PHASES && code == cudaSuccess; i++) {
    code = cudaEventCreateWithFlags (&device->enqueued[i], cudaEventDisableTiming);
    for (int k = 0; k < CONVOLVE_MAX_FRAMES && code == cudaSuccess; k++)
      if ((code = cudaEventCreate (&device->frames[k].begins[i])) == cudaSuccess
          && (code = cudaEventCreate (&device->frames[k].ends[i])) == cudaSuccess)
        code = cudaEventCreateWithFlags (&device->frames[k].done[i], cudaEventDisableTiming);
  }
  return code;
}

static void
clear_events (cudaEvent_t *events)
{
  for (int i = 0; i < N_PHASES; i++)
    if (events[i])
      cudaEventDestroy (events[i]);
}

void
convolve_frames_clear (ConvolveDevice *device)
{
  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++) {
    Frame *frame = &device->frames[k];

    for (int i = 0; i < CONVOLVE_ALL_STAGES; i++) {
      cudaFree (frame->stages[i].source);
      cudaFree (frame->stages[i].destination);
    }
    clear_events (frame->begins);
    clear_events (frame->ends);
    clear_events (frame->done);
    for (int i = 0; i < CONVOLVE_MOST_MARKS && frame->marks[i]; i++)
      cudaEventDestroy (frame->marks[i]);
  }
  clear_events (device->enqueued);
}

/* The context in which memory is page-locked: that of device id, or NULL, the current context, where id is -1. */
static bool
find_context (int id, CUcontext *context)
{
  *context = NULL;
  return id < 0 || convolve_context_of_device (id, context) == cudaSuccess;
}

bool
convolve_pin (int id, void *memory, size_t bytes)
{
  CUcontext context;

  if (!find_context (id, &context))
    return false;
  ConvolveContextScope scope (context);
  bool pinned = scope.code == cudaSuccess && cudaHostRegister (memory, bytes, cudaHostRegisterPortable) == cudaSuccess;

  if (!pinned)
    cudaGetLastError ();
  return pinned;
}

void
convolve_unpin (int id, void *memory)
{
  CUcontext context;

  if (!find_context (id, &context))
    return;
  ConvolveContextScope scope (context);
  if (scope.code != cudaSuccess || cudaHostUnregister (memory) != cudaSuccess)
    cudaGetLastError ();
}

void *
convolve_device_new_locked (ConvolveDevice *device, size_t bytes)
{
  ConvolveEntry entry (device, NULL);
  void *memory = NULL;

  if (entry.status == CONVOLVE_OK && cudaHostAlloc (&memory, bytes, cudaHostAllocPortable) != cudaSuccess) {
    cudaGetLastError ();
    memory = NULL;
  }
  return memory;
}

void
convolve_device_free_locked (ConvolveDevice *device, void *memory)
{
  ConvolveExit exit (device);

  if (exit.possible)
    cudaFreeHost (memory);
}

ConvolveStatus
convolve_device_begin (ConvolveDevice *device, int slot, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;

  if (status != CONVOLVE_OK)
    return status;
  if (slot < 0 || slot >= CONVOLVE_MAX_FRAMES || device->frame)
    return convolve_fail (error, CONVOLVE_INVALID, 0,
        "frame %d cannot begin: a frame has not ended, or there is no such slot", slot);
  device->frame = &device->frames[slot];
  device->frame->pending = false;
  device->frame->copied = 0;
  for (int i = 0; i < N_PHASES; i++)
    device->frame->used[i] = device->frame->last[i] = false;
  convolve_staging_begin (device->staging, slot);
  device->frame->timed = device->begun < TIMED_FIRST || device->begun % TIMED_EVERY == 0;
  device->begun++;
  return CONVOLVE_OK;
}

/* Makes room for `bytes` in the stage's source and destination. Contents are lost; no earlier frame uses the stage. */
static ConvolveStatus
grow (ConvolveDevice *device, Stage *stage, size_t bytes, ConvolveError *error)
{
  cudaError_t code;

  if (bytes <= stage->capacity)
    return CONVOLVE_OK;
  cudaFree (stage->source);
  cudaFree (stage->destination);
  *stage = Stage ();
  if ((code = cudaMalloc (&stage->source, bytes)) != cudaSuccess
      || (code = cudaMalloc (&stage->destination, bytes)) != cudaSuccess) {
    char what[80];

    snprintf (what, sizeof (what), "no device memory for two buffers of %zu bytes", bytes);
    return convolve_device_fail (device, code, what, error);
  }
  stage->capacity = bytes;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_stage (ConvolveDevice *device, int plane, size_t row_bytes, size_t rows, ConvolveStage *stage,
    ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;
  size_t stride, bytes;

  if (status != CONVOLVE_OK)
    return status;
  if (!device->frame || plane < 0 || plane >= CONVOLVE_ALL_STAGES || row_bytes == 0 || rows == 0
      || row_bytes > SIZE_MAX - 255)
    return convolve_fail (error, CONVOLVE_INVALID, 0, "cannot make room for %zu rows of %zu bytes in stage %d", rows,
        row_bytes, plane);
  /* Without padding, on the host and here, the rows are one block, whose copy is faster. */
  stride = row_bytes % 16 == 0 ? row_bytes : (row_bytes + 255) / 256 * 256;
  if (__builtin_mul_overflow (stride, rows, &bytes))
    return convolve_fail (error, CONVOLVE_INVALID, 0, "cannot make room for %zu rows of %zu bytes", rows, row_bytes);

  Stage *held = &device->frame->stages[plane];
  if ((status = grow (device, held, bytes, error)) != CONVOLVE_OK)
    return status;
  held->stride = stride;
  held->rows = rows;
  stage->source = held->source;
  stage->destination = held->destination;
  stage->stride = stride;
  return CONVOLVE_OK;
}

cudaError_t
convolve_frame_enqueue (ConvolveDevice *device, Phase phase)
{
  Frame *frame = device->frame;
  Phase before = (Phase) (phase - 1);
  ConvolveError error = {};
  cudaError_t code = cudaSuccess;

  if (convolve_flush (device, &error) != CONVOLVE_OK)
    return (cudaError_t) error.native;
  if (phase > PHASE_UPLOAD && device->fresh[before]) {
    if ((code = cudaEventRecord (device->enqueued[before], device->streams[before])) != cudaSuccess
        || (code = cudaStreamWaitEvent (device->streams[phase], device->enqueued[before], 0)) != cudaSuccess)
      return code;
    device->fresh[before] = false;
    device->beside = false;
  }
  device->fresh[phase] = true;
  if (frame && !frame->used[phase]) {
    frame->used[phase] = true;
    if (frame->timed)
      code = cudaEventRecord (frame->begins[phase], device->streams[phase]);
  }
  return code;
}

static const char *const phase_names[] = { "upload", "", "download" };

/* The plane's stage in the frame that was begun. NULL with an error where there is none, or where it has no such rows. */
static const Stage *
find_stage (const ConvolveDevice *device, int plane, const ConvolveRows *rows, Phase phase, ConvolveError *error)
{
  const Stage *stage =
      device->frame && plane >= 0 && plane < CONVOLVE_ALL_STAGES ? &device->frame->stages[plane] : NULL;

  if (stage && rows->row_bytes <= stage->stride && rows->host_stride >= rows->row_bytes && rows->count <= stage->rows
      && rows->first <= stage->rows - rows->count)
    return stage;
  convolve_fail (error, CONVOLVE_INVALID, 0, "%s of %zu rows of %zu bytes from row %zu of stage %d", phase_names[phase],
      rows->count, rows->row_bytes, rows->first, plane);
  return NULL;
}

/* Enqueues an upload to the stage's source, or a download from its destination. */
static ConvolveStatus
copy_rows (ConvolveDevice *device, int plane, const ConvolveRows *rows, Phase phase, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  const Stage *stage = find_stage (device, plane, rows, phase, error);
  if (!stage)
    return CONVOLVE_INVALID;
  if ((code = convolve_frame_enqueue (device, phase)) != cudaSuccess)
    return convolve_device_fail (device, code, phase_names[phase], error);

  device->frame->copied += rows->count * rows->row_bytes;
  size_t offset = rows->first * stage->stride;
  char *source = (char *) stage->source + offset, *destination = (char *) stage->destination + offset;
  bool gapless = rows->count == 1 || (rows->host_stride == rows->row_bytes && stage->stride == rows->row_bytes);
  cudaStream_t stream = device->streams[phase];

  /*
   * A 2D copy refuses strides of 2 GiB and more, which a single row may have. So a block without gaps is copied in 1D.
   */
  if (gapless && phase == PHASE_UPLOAD)
    code = cudaMemcpyAsync (source, rows->host, rows->count * rows->row_bytes, cudaMemcpyHostToDevice, stream);
  else if (gapless)
    code = cudaMemcpyAsync (rows->host, destination, rows->count * rows->row_bytes, cudaMemcpyDeviceToHost, stream);
  else if (phase == PHASE_UPLOAD)
    code = cudaMemcpy2DAsync (source, stage->stride, rows->host, rows->host_stride, rows->row_bytes, rows->count,
        cudaMemcpyHostToDevice, stream);
  else
    code = cudaMemcpy2DAsync (rows->host, rows->host_stride, destination, stage->stride, rows->row_bytes, rows->count,
        cudaMemcpyDeviceToHost, stream);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, phase_names[phase], error);
}

ConvolveStatus
convolve_device_upload (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return copy_rows (device, plane, rows, PHASE_UPLOAD, error);
}

ConvolveStatus
convolve_device_download (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return copy_rows (device, plane, rows, PHASE_DOWNLOAD, error);
}

typedef bool (*StagingFunction) (ConvolveStaging *staging, const ConvolveStagingPlace *place, const ConvolveRows *rows,
    ConvolveStatus *status, ConvolveError *error);

static ConvolveStatus
stage_rows (ConvolveDevice *device, int plane, const ConvolveRows *rows, Phase phase, StagingFunction function,
    ConvolveError *error)
{
  const Stage *stage = find_stage (device, plane, rows, phase, error);
  ConvolveStatus status;

  if (!stage)
    return CONVOLVE_INVALID;
  const ConvolveStagingPlace place = { (int) (device->frame - device->frames), plane, stage->stride, stage->rows };

  return function (device->staging, &place, rows, &status, error) ? status
                                                                  : copy_rows (device, plane, rows, phase, error);
}

ConvolveStatus
convolve_device_upload_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return stage_rows (device, plane, rows, PHASE_UPLOAD, convolve_staging_upload, error);
}

ConvolveStatus
convolve_device_download_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return stage_rows (device, plane, rows, PHASE_DOWNLOAD, convolve_staging_download, error);
}

ConvolveStatus
convolve_device_transfer (ConvolveDevice *device, int plane, ConvolveCopy direction, size_t offset, size_t bytes,
    void *host, ConvolveError *error)
{
  const bool up = direction == CONVOLVE_COPY_TO_DEVICE;
  const Phase phase = up ? PHASE_UPLOAD : PHASE_DOWNLOAD;
  ConvolveEntry entry (device, error);
  cudaError_t code;

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  const Stage *stage = &device->frame->stages[plane];

  device->frame->copied += bytes;
  if ((code = convolve_frame_enqueue (device, phase)) == cudaSuccess)
    code = up
        ? cudaMemcpyAsync ((char *) stage->source + offset, host, bytes, cudaMemcpyHostToDevice, device->streams[phase])
        : cudaMemcpyAsync (host, (char *) stage->destination + offset, bytes, cudaMemcpyDeviceToHost,
            device->streams[phase]);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, phase_names[phase], error);
}

ConvolveStatus
convolve_device_mark (ConvolveDevice *device, int mark, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  cudaEvent_t *event = &device->frame->marks[mark];
  cudaError_t code = cudaSuccess;

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  if (!*event)
    code = cudaEventCreateWithFlags (event, cudaEventDisableTiming);
  if (code == cudaSuccess)
    code = cudaEventRecord (*event, device->streams[PHASE_DOWNLOAD]);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "download", error);
}

ConvolveStatus
convolve_device_wait_mark (ConvolveDevice *device, int slot, int mark, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  cudaError_t code;

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  code = cudaEventSynchronize (device->frames[slot].marks[mark]);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "the device failed", error);
}

/*
 * Whether a thread that waits for this frame may sleep. Many bytes of earlier frames are under way while the frame
 * ends, so as many of later ones will be while the thread waits, and keep the bus busy if it wakes up late.
 */
static bool
may_sleep (const ConvolveDevice *device, const Frame *frame)
{
  size_t others = 0;

  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++)
    others += device->frames[k].pending ? device->frames[k].copied : 0;
  return frame->copied > 0 && others >= BUSY_BYTES;
}

ConvolveStatus
convolve_device_end (ConvolveDevice *device, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;
  Frame *frame = device->frame;
  cudaError_t code = cudaSuccess;

  device->frame = NULL;
  if (status == CONVOLVE_OK)
    status = convolve_flush (device, error);
  if (status != CONVOLVE_OK || !frame)
    return status;
  frame->sleeps = may_sleep (device, frame);
  for (int i = 0; i < N_PHASES && code == cudaSuccess; i++) {
    if (frame->used[i] && frame->timed)
      code = cudaEventRecord (frame->ends[i], device->streams[i]);
    frame->last[i] = frame->used[i] && device->fresh[i];
    if (frame->last[i] && code == cudaSuccess)
      code = cudaEventRecord (frame->done[i], device->streams[i]);
  }
  frame->pending = code == cudaSuccess;
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "the device failed", error);
}

/* The nanoseconds from the begin to the end of a timed frame's phase, 0 where the frame did not use the phase. */
static uint64_t
elapsed (const Frame *frame, Phase phase)
{
  float milliseconds = 0;

  if (frame->used[phase])
    cudaEventElapsedTime (&milliseconds, frame->begins[phase], frame->ends[phase]);
  return (uint64_t) (milliseconds * 1e6);
}

static double
now_ns (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

/* Waits for the event. *waits is the mean wait in nanoseconds, in which later waits count more. */
static cudaError_t
nap_until (cudaEvent_t done, double *waits)
{
  const double start = now_ns ();
  double waited = 0, shortest = 0; /* the frame was done between these two */
  cudaError_t code = cudaEventQuery (done);

  if (code == cudaErrorNotReady) {
    /* The nanoseconds by which the system may lengthen a nap: 50,000 as a rule. */
    const int slack = prctl (PR_GET_TIMERSLACK, 0, 0, 0, 0);

    if (slack > 0)
      prctl (PR_SET_TIMERSLACK, 1, 0, 0, 0);
    for (double nap = *waits * FIRST_NAP; code == cudaErrorNotReady; nap = waited * LATER_NAP) {
      const struct timespec time = { 0, (long) fmin (fmax (nap, LEAST_NAP), MOST_NAP) };

      nanosleep (&time, NULL);
      code = cudaEventQuery (done);
      shortest = waited;
      waited = now_ns () - start;
    }
    if (slack > 0)
      prctl (PR_SET_TIMERSLACK, slack, 0, 0, 0);
    if (code == cudaSuccess)
      cudaGetLastError (); /* cudaErrorNotReady, which is no error */
  }
  *waits += (fmin (shortest > 0 ? waited : waited / 2, MOST_NAP) - *waits) / 8;
  return code;
}

ConvolveStatus
convolve_device_wait (ConvolveDevice *device, int slot, ConvolveTimes *times, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;
  Frame *frame = &device->frames[slot];
  cudaError_t code;

  /* A thread that sleeps does so until all of the frame has come. */
  if (!frame->sleeps && status == CONVOLVE_OK)
    status = convolve_staging_land (device->staging, slot, error);
  for (int i = 0; i < N_PHASES && status == CONVOLVE_OK; i++) {
    if (!frame->last[i])
      continue;
    code = frame->sleeps ? nap_until (frame->done[i], &device->waits) : cudaEventSynchronize (frame->done[i]);
    if (code != cudaSuccess)
      status = convolve_device_fail (device, code, "the device failed", error);
  }
  if (status == CONVOLVE_OK)
    status = convolve_staging_land (device->staging, slot, error);
  frame->pending = false;
  /* After an error the events say nothing, and copies may still be under way. */
  if (status != CONVOLVE_OK)
    convolve_device_finish (device, NULL);
  if (times) {
    *times = ConvolveTimes ();
    if (status == CONVOLVE_OK && frame->timed) {
      times->taken = true;
      times->upload = elapsed (frame, PHASE_UPLOAD);
      times->kernel = elapsed (frame, PHASE_KERNEL);
      times->download = elapsed (frame, PHASE_DOWNLOAD);
    }
  }
  return status;
}
