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
 *   no-staging  there is no page-locked memory for pageable frames
 *   memory:N    the Nth plane, or frame with regions, finds no memory
 *   fail:N      the Nth frame fails on the device
 *   one-stream  nothing; see fake_cuda.c
 *   no-frames   nothing: runs outside of frames are done at once
 *   own:N       8-bit results that a variant may have for itself are off by N, a power of 2
 *   wrong:N     all other 8-bit results are
 *
 * The functions of failing.h let any call fail, and say what the element has not given back.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/batch.h"
#include "common/form.h"
#include "cpu/cpu.h"
#include "cpu/paths/shrink.h"
#include "element/cuda/failing.h"
#include "layer/cpu/cpu.h"
#include "staging.h"
#include "support/no_memory.h"

/* What is enqueued and not done: a frame's steps in their order, all done at the last moment. */
typedef struct
{
  enum
  {
    UPLOAD,
    RUN,
    LAYER,
    FILL,
    FORM,
    DOWNLOAD
  } kind;
  ConvolveRows rows;
  int stage;
  size_t offset; /* of row 0 in the stage */
  const ConvolvePlan *plan;
  ConvolvePlane plane;
  const ConvolveLayerPlan *layer;
  ConvolveLayerJob job;
  const ConvolveForm *form;
  ConvolveFormPass pass;
  ConvolveFormJob pictures;
} Step;

#define MOST_STEPS 1000

typedef struct
{
  unsigned char *source[CONVOLVE_ALL_STAGES], *destination[CONVOLVE_ALL_STAGES];
  size_t stride[CONVOLVE_ALL_STAGES], rows[CONVOLVE_ALL_STAGES], capacity[CONVOLVE_ALL_STAGES];
  Step *steps;
  int n_steps;
  int marks[CONVOLVE_MOST_MARKS]; /* how many steps come before each */
} Frame;

struct ConvolveDevice
{
  int id, stages, frames;
  bool at_once;          /* steps are done when they are enqueued */
  bool timed;            /* between the calls of the timer: runs need no frame, and are done at once */
  struct timespec start; /* of the timer */
  int failure;           /* CUDA's number of the error of a call, after which no other will work, or 0 */
  Frame frame[CONVOLVE_MAX_FRAMES], *current;
  ConvolveStaging *staging;
  unsigned answer; /* of the latest look */
};

/* For the checks to read: how many memories are pinned, and since the start, how many were and how often that failed. */
__attribute__ ((visibility ("default"))) int fake_device_pinned, fake_device_pins, fake_device_refusals;

/*
 * For the checks to read: how often the device would have been asked for memory of its own or for page-locked memory of the
 * host, and how many bytes of pageable memory it copied itself.
 */
__attribute__ ((visibility ("default"))) _Atomic int fake_device_allocations, fake_device_pageable;

/*
 * What the fake computes takes no time of the element's clock; in its place each frame takes so many nanoseconds, which a
 * check sets. fake_cuda.c adds the skew to the clock.
 */
__attribute__ ((visibility ("default"))) _Atomic int64_t fake_device_pace;
_Atomic int64_t fake_device_skew;

/* For the checks to read: the stream that was set last. */
__attribute__ ((visibility ("default"))) void *fake_device_stream;

/* A check sets 'p' or 'u': the next call that pins or unpins then sets 'w', and waits until the check sets 0. */
__attribute__ ((visibility ("default"))) _Atomic int fake_device_hold;

static void
wait_where_told (int call)
{
  if (!atomic_compare_exchange_strong (&fake_device_hold, &call, 'w'))
    return;
  while (fake_device_hold == 'w')
    nanosleep (&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

/* Whether this is the count-th of what the environment lets fail. */
static bool
goes_wrong (const char *what, int count)
{
  const char *fault = getenv ("CUDACONVOLVE_FAKE");
  size_t length = strlen (what);

  return fault && strncmp (fault, what, length) == 0 && (fault[length] != ':' || atoi (fault + length + 1) == count);
}

/* --- calls that fail, see failing.h --- */

/* Several elements may work at the same time. n and kind are set while none does. */
static struct
{
  _Atomic int count;
  int n, kind;
  const char *_Atomic failed;
  _Atomic bool lost; /* an error was FAILING_LASTING */
} calls;

static struct
{
  _Atomic int devices, blocks, steps, locked;
} held;

void
failing_begin (int n, int kind)
{
  no_memory_begin (kind == FAILING_HOST ? n : 0);
  calls.count = 0;
  calls.n = kind == FAILING_HOST ? 0 : n;
  calls.kind = kind;
  calls.failed = NULL;
  calls.lost = false;
}

int
failing_count (void)
{
  return calls.count;
}

const char *
failing_name (void)
{
  return no_memory_came () ? "allocation" : calls.failed;
}

int
failing_held (char *text, size_t size)
{
  snprintf (text, size, "%d devices, %d blocks, %d steps, %d locked, %d pinned", held.devices, held.blocks, held.steps,
      held.locked, fake_device_pinned);
  return held.devices + held.blocks + held.steps + held.locked + fake_device_pinned;
}

/* Whether this is the call that fails. */
static bool
is_chosen (const char *name)
{
  if (++calls.count != calls.n)
    return false;
  calls.failed = name;
  calls.lost = calls.kind == FAILING_LASTING;
  return true;
}

/* One call of a device, or of none where device is NULL; an error where the call fails. */
static ConvolveStatus
call (ConvolveDevice *device, const char *name, ConvolveError *error)
{
  bool chosen;

  if (device && device->failure != 0)
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, device->failure, "an earlier call of the CUDA device failed");
  chosen = is_chosen (name);
  if (!chosen && !calls.lost)
    return CONVOLVE_OK;
  if (chosen && calls.kind == FAILING_MISSING)
    return convolve_fail (error, CONVOLVE_NO_DEVICE, 100, "no CUDA device: this is a fake");
  if (chosen && calls.kind == FAILING_MEMORY)
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, 2, "%s: out of memory", name);
  if (device)
    device->failure = calls.lost ? 700 : 1;
  if (!calls.lost)
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 1, "%s: invalid argument", name);
  return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 700, "%s: an illegal memory access was encountered", name);
}

/* What the fake itself needs is no allocation of the element. */
void *__real_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
#define malloc __real_malloc
#define calloc __real_calloc

/* Memory of the device. */
static void *
take_block (size_t bytes)
{
  held.blocks++;
  return malloc (bytes);
}

static void
give_block (void *memory)
{
  held.blocks -= memory != NULL;
  free (memory);
}

ConvolveStatus
convolve_device_find (int id, ConvolveError *error)
{
  ConvolveStatus status = call (NULL, "find", error);

  if (status != CONVOLVE_OK)
    return status;
  if (goes_wrong ("no-device", 0) || id > 0)
    return convolve_fail (error, CONVOLVE_NO_DEVICE, 100, "no CUDA device: this is a fake");
  return CONVOLVE_OK;
}

/* There is no other code whose calls could fail. */
ConvolveStatus
convolve_device_check_current (ConvolveError *error)
{
  return CONVOLVE_OK;
}

ConvolveDevice *
convolve_device_new (int id, ConvolveError *error)
{
  ConvolveDevice *device;

  if (convolve_device_find (id, error) != CONVOLVE_OK || call (NULL, "open", error) != CONVOLVE_OK)
    return NULL;
  device = calloc (1, sizeof (*device));
  held.devices++;
  device->id = id < 0 ? 0 : id;
  device->staging = convolve_staging_new (device);
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
  fake_device_stream = stream;
  return call (device, "use stream", error);
}

ConvolveStatus
convolve_device_independent (ConvolveDevice *device, bool independent, ConvolveError *error)
{
  return call (device, "independent", error);
}

static void do_steps (Frame *frame);

void
convolve_device_free (ConvolveDevice *device)
{
  if (!device)
    return;
  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++)
    do_steps (&device->frame[k]);
  convolve_staging_free (device->staging);
  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++) {
    for (int i = 0; i < CONVOLVE_ALL_STAGES; i++) {
      give_block (device->frame[k].source[i]);
      give_block (device->frame[k].destination[i]);
    }
    free (device->frame[k].steps);
  }
  held.devices--;
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
  return "fake device for an H200";
}

size_t
convolve_device_cache_bytes (const ConvolveDevice *device)
{
  return 1 << 20;
}

/* What rules and variants ask for is as on an H200. */
int
convolve_device_multiprocessors (const ConvolveDevice *device)
{
  return 132;
}

size_t
convolve_device_shared_limit (const ConvolveDevice *device)
{
  return 227 * 1024;
}

#define MOST_PINNED 1000
#define PAGE 4096

/* Pinned memory: all pages that have a byte of it. */
typedef struct
{
  const void *memory;
  uintptr_t start, end;
} Pinned;

static pthread_mutex_t pinned_lock = PTHREAD_MUTEX_INITIALIZER; /* of the list and of the counts */
static Pinned pinned[MOST_PINNED];

/* What CUDA says to a copy from or to these bytes of the host, whoever makes it: not to one partly in pinned pages. */
__attribute__ ((visibility ("default"))) bool fake_device_can_copy (const void *memory, size_t bytes);

bool
fake_device_can_copy (const void *memory, size_t bytes)
{
  uintptr_t start = (uintptr_t) memory, end = start + bytes;
  bool can = true;

  pthread_mutex_lock (&pinned_lock);
  for (int i = 0; i < MOST_PINNED; i++)
    if (pinned[i].memory && start < pinned[i].end && end > pinned[i].start
        && (start < pinned[i].start || end > pinned[i].end))
      can = false;
  pthread_mutex_unlock (&pinned_lock);
  return can;
}

bool
convolve_pin (int id, void *memory, size_t bytes)
{
  int free_slot = -1;

  wait_where_told ('p');
  if (goes_wrong ("no-pin", 0) || call (NULL, "pin", NULL) != CONVOLVE_OK) {
    pthread_mutex_lock (&pinned_lock);
    fake_device_refusals++;
    pthread_mutex_unlock (&pinned_lock);
    return false;
  }
  pthread_mutex_lock (&pinned_lock);
  for (int i = 0; i < MOST_PINNED; i++) {
    if (pinned[i].memory == memory)
      abort ();
    if (!pinned[i].memory)
      free_slot = i;
  }
  if (free_slot < 0) {
    pthread_mutex_unlock (&pinned_lock);
    return false;
  }
  pinned[free_slot] = (Pinned){
    .memory = memory,
    .start = (uintptr_t) memory / PAGE * PAGE,
    .end = ((uintptr_t) memory + bytes + PAGE - 1) / PAGE * PAGE,
  };
  fake_device_pinned++;
  fake_device_pins++;
  pthread_mutex_unlock (&pinned_lock);
  return true;
}

void
convolve_unpin (int id, void *memory)
{
  bool found = false;

  wait_where_told ('u');
  pthread_mutex_lock (&pinned_lock);
  for (int i = 0; i < MOST_PINNED && !found; i++)
    if (pinned[i].memory == memory) {
      pinned[i].memory = NULL;
      fake_device_pinned--;
      found = true;
    }
  pthread_mutex_unlock (&pinned_lock);
  if (!found)
    abort ();
}

ConvolveStatus
convolve_device_begin (ConvolveDevice *device, int slot, ConvolveError *error)
{
  ConvolveStatus status = call (device, "begin", error);

  if (status != CONVOLVE_OK)
    return status;
  if (device->current || device->frame[slot].n_steps > 0)
    abort ();
  device->current = &device->frame[slot];
  if (!device->current->steps)
    device->current->steps = calloc (MOST_STEPS, sizeof (Step));
  convolve_staging_begin (device->staging, slot);
  return CONVOLVE_OK;
}

/* Both sides are filled with what no frame holds by chance, to show what is read but was never written. */
ConvolveStatus
convolve_device_stage (ConvolveDevice *device, int plane, size_t row_bytes, size_t rows, ConvolveStage *stage,
    ConvolveError *error)
{
  size_t stride = (row_bytes + 255) / 256 * 256;
  Frame *frame = device->current;
  ConvolveStatus status = call (device, "stage", error);

  if (status != CONVOLVE_OK)
    return status;
  if (goes_wrong ("memory", ++device->stages))
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, 2, "no room for a plane of %zu bytes", stride * rows);
  give_block (frame->source[plane]);
  give_block (frame->destination[plane]);
  frame->source[plane] = take_block (stride * rows);
  frame->destination[plane] = take_block (stride * rows);
  frame->stride[plane] = stride;
  frame->rows[plane] = rows;
  if (stride * rows > frame->capacity[plane]) { /* a device keeps what it has */
    frame->capacity[plane] = stride * rows;
    fake_device_allocations++;
  }
  memset (frame->source[plane], 0x5A, stride * rows);
  memset (frame->destination[plane], 0xA5, stride * rows);
  *stage = (ConvolveStage){ frame->source[plane], frame->destination[plane], stride };
  return CONVOLVE_OK;
}

static void do_step (const Frame *frame, const Step *step);

static ConvolveStatus
enqueue (ConvolveDevice *device, const char *name, Step step, ConvolveError *error)
{
  ConvolveStatus status = call (device, name, error);
  Frame *frame = device->current;

  if (status != CONVOLVE_OK)
    return status;
  if (device->timed ? step.kind != RUN : frame ? frame->n_steps == MOST_STEPS : !goes_wrong ("no-frames", 0))
    abort ();
  if (device->at_once || device->timed || !frame) {
    do_step (frame, &step);
  } else {
    frame->steps[frame->n_steps++] = step;
    held.steps++;
  }
  return CONVOLVE_OK;
}

/* Whether all of the bytes are pinned. */
static bool
is_pinned (const void *memory, size_t bytes)
{
  uintptr_t start = (uintptr_t) memory, end = start + bytes;
  bool all = false;

  pthread_mutex_lock (&pinned_lock);
  for (int i = 0; i < MOST_PINNED; i++)
    all = all || (pinned[i].memory && start >= pinned[i].start && end <= pinned[i].end);
  pthread_mutex_unlock (&pinned_lock);
  return all;
}

static ConvolveStatus
enqueue_copy (ConvolveDevice *device, Step step, ConvolveError *error)
{
  const ConvolveRows *rows = &step.rows;

  if (!is_pinned (rows->host, rows->row_bytes))
    fake_device_pageable += rows->count * rows->row_bytes;

  if (!fake_device_can_copy (rows->host, (rows->count - 1) * rows->host_stride + rows->row_bytes))
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 1, "invalid argument");
  return enqueue (device, step.kind == UPLOAD ? "upload" : "download", step, error);
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

/* --- staging --- */

typedef bool (*StagingFunction) (ConvolveStaging *staging, const ConvolveStagingPlace *place, const ConvolveRows *rows,
    ConvolveStatus *status, ConvolveError *error);

static bool
stage_rows (ConvolveDevice *device, int plane, const ConvolveRows *rows, StagingFunction function,
    ConvolveStatus *status, ConvolveError *error)
{
  const Frame *frame = device->current;
  const ConvolveStagingPlace place = { (int) (frame - device->frame), plane, frame->stride[plane], frame->rows[plane] };

  return function (device->staging, &place, rows, status, error);
}

ConvolveStatus
convolve_device_upload_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  ConvolveStatus status;

  return stage_rows (device, plane, rows, convolve_staging_upload, &status, error)
      ? status
      : convolve_device_upload (device, plane, rows, error);
}

ConvolveStatus
convolve_device_download_pageable (ConvolveDevice *device, int plane, const ConvolveRows *rows, ConvolveError *error)
{
  ConvolveStatus status;

  return stage_rows (device, plane, rows, convolve_staging_download, &status, error)
      ? status
      : convolve_device_download (device, plane, rows, error);
}

void
convolve_device_use_threads (ConvolveDevice *device, int threads)
{
  convolve_staging_use_threads (device->staging, threads);
}

bool
convolve_device_lacks_staging (const ConvolveDevice *device)
{
  return convolve_staging_is_refused (device->staging);
}

void *
convolve_device_new_locked (ConvolveDevice *device, size_t bytes)
{
  void *memory;

  if (goes_wrong ("no-staging", 0) || call (NULL, "lock", NULL) != CONVOLVE_OK)
    return NULL;
  memory = __real_aligned_alloc (64, (bytes + 63) / 64 * 64);
  memset (memory, 0x3C, bytes);
  held.locked++;
  fake_device_allocations++;
  return memory;
}

void
convolve_device_free_locked (ConvolveDevice *device, void *memory)
{
  held.locked--;
  free (memory);
}

ConvolveStatus
convolve_device_transfer (ConvolveDevice *device, int plane, ConvolveCopy direction, size_t offset, size_t bytes,
    void *host, ConvolveError *error)
{
  bool up = direction == CONVOLVE_COPY_TO_DEVICE;
  const Step step = { .kind = up ? UPLOAD : DOWNLOAD,
    .rows = { .count = 1, .row_bytes = bytes, .host = host, .host_stride = bytes },
    .stage = plane,
    .offset = offset };

  return enqueue (device, "transfer", step, error);
}

ConvolveStatus
convolve_device_mark (ConvolveDevice *device, int mark, ConvolveError *error)
{
  device->current->marks[mark] = device->current->n_steps;
  return call (device, "mark", error);
}

ConvolveStatus
convolve_device_end (ConvolveDevice *device, ConvolveError *error)
{
  device->current = NULL;
  return call (device, "end", error);
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

/* Changes the results of a run as the environment says. */
static void
falsify (const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  const char *fault = getenv ("CUDACONVOLVE_FAKE"), *kind = convolve_plan_is_reproducible (plan) ? "wrong:" : "own:";
  const ConvolveRect *region = &plane->region;

  if (!fault || strncmp (fault, kind, strlen (kind)) != 0 || plan->pixel.type != CONVOLVE_SAMPLE_U8)
    return;
  for (int y = region->y; y < region->y + region->height; y++)
    for (int x = region->x; x < region->x + region->width; x++)
      ((unsigned char *) plane->destination)[y * plane->destination_stride + x * plan->pixel.stride] ^=
          (unsigned char) atoi (fault + strlen (kind));
}

static void
pass (const Step *step)
{
  if (step->pass == CONVOLVE_FORM_LOOK)
    step->form->device->answer = !convolve_form_is_opaque (step->form, &step->pictures.original);
  else
    step->form->kind->rows[step->pass](step->form, &step->pictures, 0, step->pictures.inner.height);
}

static void
compute (const Frame *frame, const Step *step)
{
  const ConvolveRows *rows = &step->rows;
  unsigned char *host = rows->host;

  if (step->kind == RUN) {
    (step->plan->shrink ? convolve_cpu_shrink_run : convolve_cpu_reference_run) (step->plan, &step->plane, NULL);
    falsify (step->plan, &step->plane);
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
  if (step->kind == FORM) {
    pass (step);
    return;
  }
  for (size_t y = 0; y < rows->count; y++) {
    size_t offset = step->offset + (rows->first + y) * frame->stride[step->stage];

    if (step->kind == UPLOAD)
      memcpy (frame->source[step->stage] + offset, host + y * rows->host_stride, rows->row_bytes);
    else
      memcpy (host + y * rows->host_stride, frame->destination[step->stage] + offset, rows->row_bytes);
  }
}

static int64_t
clock_now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C (1000000000) + time.tv_nsec;
}

/* What the device computes with takes no memory of the element. */
static void
do_step (const Frame *frame, const Step *step)
{
  int64_t begin = clock_now ();

  no_memory_pause ();
  compute (frame, step);
  no_memory_resume ();
  fake_device_skew -= clock_now () - begin;
}

/* After an error that lasts the device does no step, as CUDA does none then. */
static void
do_first_steps (Frame *frame, int n)
{
  for (int i = 0; i < n && !calls.lost; i++)
    do_step (frame, &frame->steps[i]);
  held.steps -= n;
  frame->n_steps -= n;
  memmove (frame->steps, frame->steps + n, frame->n_steps * sizeof (Step));
  for (int i = 0; i < CONVOLVE_MOST_MARKS; i++)
    frame->marks[i] = frame->marks[i] > n ? frame->marks[i] - n : 0;
}

static void
do_steps (Frame *frame)
{
  if (frame->steps)
    do_first_steps (frame, frame->n_steps);
}

/* Only what comes before the mark is done. */
ConvolveStatus
convolve_device_wait_mark (ConvolveDevice *device, int slot, int mark, ConvolveError *error)
{
  ConvolveStatus status = call (device, "wait for a mark", error);
  Frame *frame = &device->frame[slot];

  if (status == CONVOLVE_OK)
    do_first_steps (frame, frame->marks[mark]);
  return status;
}

/* Nothing of the frame is under way afterwards, whatever the result. */
ConvolveStatus
convolve_device_wait (ConvolveDevice *device, int slot, ConvolveTimes *times, ConvolveError *error)
{
  ConvolveStatus status = call (device, "wait", error);

  if (status == CONVOLVE_OK)
    status = convolve_staging_land (device->staging, slot, error);
  do_steps (&device->frame[slot]);
  fake_device_skew += fake_device_pace;
  if (times)
    *times = (ConvolveTimes){ true, 1000, 2000, 3000 };
  if (status != CONVOLVE_OK)
    return status;
  if (goes_wrong ("fail", ++device->frames))
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, 700, "an illegal memory access was encountered");
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_finish (ConvolveDevice *device, ConvolveError *error)
{
  ConvolveStatus status = call (device, "finish", error);

  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++)
    do_steps (&device->frame[k]);
  device->current = NULL;
  return status;
}

void *
convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error)
{
  return call (device, "alloc", error) == CONVOLVE_OK ? take_block (bytes) : NULL;
}

void
convolve_device_release (ConvolveDevice *device, void *memory)
{
  give_block (memory);
}

ConvolveStatus
convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes, ConvolveCopy direction,
    ConvolveError *error)
{
  ConvolveStatus status = call (device, "copy", error);

  if (status == CONVOLVE_OK)
    memcpy (to, from, bytes);
  return status;
}

ConvolveStatus
convolve_device_put (ConvolveDevice *device, const void *values, size_t bytes, void **copy, ConvolveError *error)
{
  *copy = convolve_device_alloc (device, bytes, error);
  if (!*copy)
    return error ? error->status : CONVOLVE_DEVICE_FAILED;
  return convolve_device_copy (device, *copy, values, bytes, CONVOLVE_COPY_TO_DEVICE, error);
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
  device->timed = true;
  clock_gettime (CLOCK_MONOTONIC, &device->start);
}

double
convolve_device_timer_stop (ConvolveDevice *device)
{
  struct timespec end;

  device->timed = false;
  clock_gettime (CLOCK_MONOTONIC, &end);
  return 1e9 * (double) (end.tv_sec - device->start.tv_sec) + (double) (end.tv_nsec - device->start.tv_nsec);
}

/* --- batches: done at once, after the steps before them --- */

ConvolveStatus
convolve_device_batch_begin (ConvolveBatch *batch, size_t bytes, ConvolveError *error)
{
  ConvolveStatus status = call (batch->device, "batch begin", error);

  if (status != CONVOLVE_OK)
    return status;
  if (goes_wrong ("memory", ++batch->device->stages))
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, 2, "no room for %zu bytes of regions", bytes);
  give_block (batch->memory);
  batch->memory = take_block (bytes);
  batch->bytes = bytes;
  memset (batch->memory, 0x5A, bytes);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_batch_run (ConvolveBatch *batch, const ConvolveMoves *moves, ConvolveError *error)
{
  ConvolveDevice *device = batch->device;
  Frame *frame = device->current;
  ConvolveStatus status = call (device, "batch run", error);

  if (status != CONVOLVE_OK)
    return status;
  if (!frame)
    abort ();
  do_steps (frame);
  device->at_once = true;
  no_memory_pause ();
  status = convolve_host_batch_run (batch, moves, error);
  no_memory_resume ();
  device->at_once = false;
  return status;
}

void
convolve_device_batch_clear (ConvolveBatch *batch)
{
  give_block (batch->memory);
}

/* run () of all device variants. */
ConvolveStatus
convolve_run_without_cuda (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
{
  return enqueue (plan->device, "run", (Step){ .kind = RUN, .plan = plan, .plane = *plane }, error);
}

/* run () of all forms. */
ConvolveStatus
convolve_form_run_without_cuda (const ConvolveForm *form, ConvolveFormPass pass, const ConvolveFormJob *job,
    ConvolveError *error)
{
  return enqueue (form->device, "form", (Step){ .kind = FORM, .form = form, .pass = pass, .pictures = *job }, error);
}

ConvolveStatus
convolve_device_await_answer (ConvolveDevice *device, unsigned *answer, ConvolveError *error)
{
  ConvolveStatus status = call (device, "answer", error);

  if (status == CONVOLVE_OK && device->current)
    do_steps (device->current);
  *answer = device->answer;
  return status;
}

ConvolveStatus
convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  return enqueue (plan->device, "fill", (Step){ .kind = FILL, .layer = plan, .job = *job }, error);
}

/* run () of all device variants of layers. A variant that fills channels does so here, too. */
ConvolveStatus
convolve_layer_run_without_cuda (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
{
  ConvolveStatus status =
      enqueue (plan->device, "run layer", (Step){ .kind = LAYER, .layer = plan, .job = *job }, error);

  if (status == CONVOLVE_OK && job->task.filled > 0 && plan->variant->fills && plan->variant->fills (plan, job))
    status = convolve_layer_device_fill (plan, job, error);
  return status;
}
