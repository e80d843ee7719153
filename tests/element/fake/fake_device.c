/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device that is none: it stands in for the CUDA files, so that the element's way over a device, and what it says
 * when that fails, run on every machine. Device memory is host memory, and every device variant computes as
 * cpu-reference does. All of a frame is done when it is waited for, so that what goes too early is seen. Copies that
 * lie partly in page-locked memory fail, as CUDA lets them fail. The
 * environment variable CUDACONVOLVE_FAKE says what goes wrong:
 *
 *   no-device   there is none
 *   no-pin      host memory cannot be pinned
 *   memory:N    the Nth plane, or frame with regions, finds no memory
 *   fail:N      the Nth frame fails on the device
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/batch.h"
#include "cpu/cpu.h"
#include "layer/cpu/cpu.h"

ConvolveStatus fake_device_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus fake_device_run_layer (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error);

/* What is enqueued and not done: a frame's steps in their order, all done at the last moment. */
typedef struct
{
  enum
  {
    UPLOAD,
    RUN,
    LAYER,
    FILL,
    DOWNLOAD
  } kind;
  ConvolveRows rows;
  int stage;
  const ConvolvePlan *plan;
  ConvolvePlane plane;
  const ConvolveLayerPlan *layer;
  ConvolveLayerJob job;
} Step;

#define MOST_STEPS 1000

typedef struct
{
  unsigned char *source[CONVOLVE_MAX_STAGES], *destination[CONVOLVE_MAX_STAGES];
  size_t stride[CONVOLVE_MAX_STAGES];
  Step *steps;
  int n_steps;
} Frame;

struct ConvolveDevice
{
  int id, stages, frames;
  bool at_once; /* steps are done when they are enqueued */
  Frame frame[CONVOLVE_MAX_FRAMES], *current;
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

ConvolveStatus
convolve_device_use_stream (ConvolveDevice *device, void *stream, ConvolveError *error)
{
  return CONVOLVE_OK;
}

void
convolve_device_free (ConvolveDevice *device)
{
  for (int k = 0; device && k < CONVOLVE_MAX_FRAMES; k++) {
    for (int i = 0; i < CONVOLVE_MAX_STAGES; i++) {
      free (device->frame[k].source[i]);
      free (device->frame[k].destination[i]);
    }
    free (device->frame[k].steps);
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

int
convolve_device_multiprocessors (const ConvolveDevice *device)
{
  return 1;
}

size_t
convolve_device_shared_limit (const ConvolveDevice *device)
{
  return 64 * 1024;
}

/* For the checks to read: how many memories are pinned, and how many have been since the start. */
__attribute__ ((visibility ("default"))) int fake_device_pinned, fake_device_pins;

#define MOST_PINNED 1000
#define PAGE 4096

/* Pinned memory: all pages that have a byte of it. */
typedef struct
{
  const void *memory;
  uintptr_t start, end;
} Pinned;

static Pinned pinned[MOST_PINNED];

/* What CUDA says to a copy from or to these bytes of the host, whoever makes it: not to one partly in pinned pages. */
__attribute__ ((visibility ("default"))) bool fake_device_can_copy (const void *memory, size_t bytes);

bool
fake_device_can_copy (const void *memory, size_t bytes)
{
  uintptr_t start = (uintptr_t) memory, end = start + bytes;

  for (int i = 0; i < MOST_PINNED; i++)
    if (pinned[i].memory && start < pinned[i].end && end > pinned[i].start
        && (start < pinned[i].start || end > pinned[i].end))
      return false;
  return true;
}

bool
convolve_pin (int id, void *memory, size_t bytes)
{
  int free_slot = -1;

  if (goes_wrong ("no-pin", 0))
    return false;
  for (int i = 0; i < MOST_PINNED; i++) {
    if (pinned[i].memory == memory)
      abort ();
    if (!pinned[i].memory)
      free_slot = i;
  }
  pinned[free_slot] = (Pinned){
    .memory = memory,
    .start = (uintptr_t) memory / PAGE * PAGE,
    .end = ((uintptr_t) memory + bytes + PAGE - 1) / PAGE * PAGE,
  };
  fake_device_pinned++;
  fake_device_pins++;
  return true;
}

void
convolve_unpin (int id, void *memory)
{
  for (int i = 0; i < MOST_PINNED; i++)
    if (pinned[i].memory == memory) {
      pinned[i].memory = NULL;
      fake_device_pinned--;
      return;
    }
  abort ();
}

ConvolveStatus
convolve_device_begin (ConvolveDevice *device, int slot, ConvolveError *error)
{
  if (device->current || device->frame[slot].n_steps > 0)
    abort ();
  device->current = &device->frame[slot];
  if (!device->current->steps)
    device->current->steps = calloc (MOST_STEPS, sizeof (Step));
  return CONVOLVE_OK;
}

/* Both sides are filled with what no frame holds by chance, to show what is read but was never written. */
ConvolveStatus
convolve_device_stage (ConvolveDevice *device, int plane, size_t row_bytes, size_t rows, ConvolveStage *stage,
    ConvolveError *error)
{
  size_t stride = (row_bytes + 255) / 256 * 256;
  Frame *frame = device->current;

  if (goes_wrong ("memory", ++device->stages))
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, 2, "no room for a plane of %zu bytes", stride * rows);
  free (frame->source[plane]);
  free (frame->destination[plane]);
  frame->source[plane] = malloc (stride * rows);
  frame->destination[plane] = malloc (stride * rows);
  frame->stride[plane] = stride;
  memset (frame->source[plane], 0x5A, stride * rows);
  memset (frame->destination[plane], 0xA5, stride * rows);
  *stage = (ConvolveStage){ frame->source[plane], frame->destination[plane], stride };
  return CONVOLVE_OK;
}

static void do_step (const Frame *frame, const Step *step);

static ConvolveStatus
enqueue (ConvolveDevice *device, Step step)
{
  Frame *frame = device->current;

  if (!frame || frame->n_steps == MOST_STEPS)
    abort ();
  if (device->at_once)
    do_step (frame, &step);
  else
    frame->steps[frame->n_steps++] = step;
  return CONVOLVE_OK;
}

static ConvolveStatus
enqueue_copy (ConvolveDevice *device, Step step, ConvolveError *error)
{
  const ConvolveRows *rows = &step.rows;

  if (!fake_device_can_copy (rows->host, (rows->count - 1) * rows->host_stride + rows->row_bytes))
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 1, "invalid argument");
  return enqueue (device, step);
}

ConvolveStatus
convolve_device_upload (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return enqueue_copy (device, (Step){ .kind = UPLOAD, .rows = *rows, .stage = plane }, error);
}

ConvolveStatus
convolve_device_download (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  return enqueue_copy (device, (Step){ .kind = DOWNLOAD, .rows = *rows, .stage = plane }, error);
}

ConvolveStatus
convolve_device_end (ConvolveDevice *device, ConvolveError *error)
{
  device->current = NULL;
  return CONVOLVE_OK;
}

/* Sets the channels behind the filters. */
static void
fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job)
{
  const ConvolveLayerTask *task = &job->task;
  const ConvolveLayerTensor *to = &task->destination;

  for (int c = plan->layer.filters; c < plan->layer.filters + task->filled; c++)
    for (int y = task->first_row; y < task->end_row; y++)
      for (int x = 0; x < job->out_width; x++)
        convolve_layer_store (plan->layer.type,
            convolve_layer_plane (to, 0, c) + y * to->row_stride + x * to->column_stride, task->fill);
}

static void
do_step (const Frame *frame, const Step *step)
{
  const ConvolveRows *rows = &step->rows;
  unsigned char *host = rows->host;

  if (step->kind == RUN) {
    convolve_cpu_reference_run (step->plan, &step->plane, NULL);
    return;
  }
  if (step->kind == LAYER) {
    convolve_layer_cpu_reference_run (step->layer, &step->job, NULL);
    return;
  }
  if (step->kind == FILL) {
    fill (step->layer, &step->job);
    return;
  }
  for (size_t y = 0; y < rows->count; y++) {
    size_t offset = (rows->first + y) * frame->stride[step->stage];

    if (step->kind == UPLOAD)
      memcpy (frame->source[step->stage] + offset, host + y * rows->host_stride, rows->row_bytes);
    else
      memcpy (host + y * rows->host_stride, frame->destination[step->stage] + offset, rows->row_bytes);
  }
}

ConvolveStatus
convolve_device_wait (ConvolveDevice *device, int slot, ConvolveTimes *times, ConvolveError *error)
{
  Frame *frame = &device->frame[slot];

  for (int i = 0; i < frame->n_steps; i++)
    do_step (frame, &frame->steps[i]);
  frame->n_steps = 0;
  if (times)
    *times = (ConvolveTimes){ true, 1000, 2000, 3000 };
  if (goes_wrong ("fail", ++device->frames))
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 700, "an illegal memory access was encountered");
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_finish (ConvolveDevice *device, ConvolveError *error)
{
  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++) {
    for (int i = 0; i < device->frame[k].n_steps; i++)
      do_step (&device->frame[k], &device->frame[k].steps[i]);
    device->frame[k].n_steps = 0;
  }
  device->current = NULL;
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
convolve_device_put (ConvolveDevice *device, const void *values, size_t bytes, void **copy, ConvolveError *error)
{
  *copy = malloc (bytes);
  memcpy (*copy, values, bytes);
  return CONVOLVE_OK;
}

int
convolve_device_capability (const ConvolveDevice *device)
{
  return 90;
}

int
convolve_device_double_ratio (const ConvolveDevice *device)
{
  return 2;
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

/* --- batches: done at once, after the steps before them --- */

ConvolveStatus
convolve_device_batch_begin (ConvolveBatch *batch, size_t bytes, ConvolveError *error)
{
  if (goes_wrong ("memory", ++batch->device->stages))
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, 2, "no room for %zu bytes of regions", bytes);
  free (batch->memory);
  batch->memory = malloc (bytes);
  batch->bytes = bytes;
  memset (batch->memory, 0x5A, bytes);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_batch_run (ConvolveBatch *batch, ConvolveError *error)
{
  ConvolveDevice *device = batch->device;
  Frame *frame = device->current;
  ConvolveStatus status;

  if (!frame)
    abort ();
  for (int i = 0; i < frame->n_steps; i++)
    do_step (frame, &frame->steps[i]);
  frame->n_steps = 0;
  device->at_once = true;
  status = convolve_host_batch_run (batch, error);
  device->at_once = false;
  return status;
}

void
convolve_device_batch_clear (ConvolveBatch *batch)
{
  free (batch->memory);
}

/* run () of all device variants: see CONVOLVE_ON_DEVICE. */
ConvolveStatus
fake_device_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return enqueue (plan->device, (Step){ .kind = RUN, .plan = plan, .plane = *plane });
}

ConvolveStatus
convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return enqueue (plan->device, (Step){ .kind = FILL, .layer = plan, .job = *job });
}

/* run () of all device variants of layers: see CONVOLVE_LAYER_ON_DEVICE. A variant that fills channels does so here, too. */
ConvolveStatus
fake_device_run_layer (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  enqueue (plan->device, (Step){ .kind = LAYER, .layer = plan, .job = *job });
  if (job->task.filled > 0 && plan->variant->fills && plan->variant->fills (plan, job))
    enqueue (plan->device, (Step){ .kind = FILL, .layer = plan, .job = *job });
  return CONVOLVE_OK;
}
