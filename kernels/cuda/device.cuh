/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a ConvolveDevice is, for the two files that make it: cuda/device.cu and cuda/frames.cu. */
#ifndef CONVOLVE_CUDA_DEVICE_CUH
#define CONVOLVE_CUDA_DEVICE_CUH

#include <cuda.h>
#include <cuda_runtime.h>

#include "common/plan.h"

/* What a frame does on the device, each on a stream of its own. */
enum Phase
{
  PHASE_UPLOAD,
  PHASE_KERNEL,
  PHASE_DOWNLOAD,
  N_PHASES
};

struct Stage
{
  void *source, *destination;
  size_t capacity; /* bytes of each */
  size_t stride, rows;
};

/* A frame under way. */
struct Frame
{
  Stage stages[CONVOLVE_MAX_STAGES];
  cudaEvent_t begins[N_PHASES], ends[N_PHASES], done[N_PHASES];
  bool used[N_PHASES]; /* something of this phase was enqueued */
  bool last[N_PHASES]; /* no other phase waits for it: its done is recorded */
  bool timed;          /* begins and ends are recorded for the phases used */
};

struct ConvolveDevice
{
  int id;
  bool adopted;      /* its context is the caller's to make current */
  CUcontext context; /* the primary one of device id; NULL where adopted is set */
  char name[320];
  size_t shared_limit;
  int multiprocessors;
  int capability;   /* 90 for compute capability 9.0 */
  int double_ratio; /* products of floats to one of doubles */
  bool overlaps;    /* launches: see convolve_wait () */
  cudaStream_t streams[N_PHASES];
  bool lent;                      /* the kernels' stream is the caller's */
  cudaEvent_t enqueued[N_PHASES]; /* the last that each phase was given; recorded when the next phase asks */
  bool fresh[N_PHASES];           /* more was enqueued since */
  cudaEvent_t timer[2];
  void *scratch; /* see convolve_device_scratch () */
  size_t scratch_bytes;
  Frame frames[CONVOLVE_MAX_FRAMES];
  unsigned begun; /* frames so far */
  Frame *frame;   /* the one begun and not ended, or NULL */
  bool failed;    /* a failure poisons the process's context: no CUDA call is made after it */
};

/* Makes of a CUDA error a status. All but a refused allocation end the use of the device. */
ConvolveStatus convolve_device_fail (ConvolveDevice *device, cudaError_t code, const char *what, ConvolveError *error);

/* The primary context of device id, which stays for the life of the process. Any thread. */
cudaError_t convolve_context_of_device (int id, CUcontext *context);

/* A context is current on this thread for the life of the object; then the thread has again what it had before. */
class ConvolveContextScope
{
public:
  explicit ConvolveContextScope (CUcontext context); /* NULL leaves the thread's own context in place */
  ~ConvolveContextScope ();
  ConvolveContextScope (const ConvolveContextScope &) = delete;
  ConvolveContextScope &operator= (const ConvolveContextScope &) = delete;

  cudaError_t code;

private:
  bool pushed;
};

/*
 * Every function that calls CUDA for a device begins with one of these: the device's context is current for the life of
 * the object. Any status but OK means that the device failed, before or now, and that CUDA must not be called.
 */
class ConvolveEntry
{
public:
  ConvolveEntry (ConvolveDevice *device, ConvolveError *error);

private:
  ConvolveContextScope scope;

public:
  const ConvolveStatus status;
};

/*
 * Memory for what a plan's kernels leave for each other, at least bytes of it, of one frame after the other: it is
 * lost with the next call that takes more, or that is another plan's. Kept from frame to frame, grown on need.
 */
ConvolveStatus convolve_device_scratch (ConvolveDevice *device, size_t bytes, void **scratch, ConvolveError *error);

/* Events and stages of the frames: made with the device, freed with it. */
cudaError_t convolve_frames_init (ConvolveDevice *device);
void convolve_frames_clear (ConvolveDevice *device);

/* Called before anything is enqueued on the phase's stream: what the phase before it was given is done first there. */
cudaError_t convolve_frame_enqueue (ConvolveDevice *device, Phase phase);

#endif
