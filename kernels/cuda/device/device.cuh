/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The members of a ConvolveDevice, for the files that implement convolve_device.h and for launches. */
#ifndef CONVOLVE_CUDA_DEVICE_CUH
#define CONVOLVE_CUDA_DEVICE_CUH

#include <cuda.h>
#include <cuda_runtime.h>

#include "common/internal.h"
#include "staging.h"

/* The phases of a frame on the device. Each has a stream of its own. */
enum Phase
{
  PHASE_UPLOAD,
  PHASE_KERNEL,
  PHASE_DOWNLOAD,
  N_PHASES
};

/* A plane's place on the device, see ConvolveStage. */
struct Stage
{
  void *source, *destination;
  size_t capacity;     /* bytes of the source, and of the destination */
  size_t stride, rows; /* of the plane that is there now; stride in bytes */
};

/* A frame between convolve_device_begin () and convolve_device_wait (). */
struct Frame
{
  Stage stages[CONVOLVE_ALL_STAGES];
  cudaEvent_t begins[N_PHASES], ends[N_PHASES]; /* with times, recorded where timed is set */
  cudaEvent_t done[N_PHASES];                   /* recorded where last is set, for convolve_device_wait () */
  cudaEvent_t marks[CONVOLVE_MOST_MARKS];       /* see convolve_device_mark (); NULL until one is needed */
  bool used[N_PHASES];                          /* the frame has enqueued work of this phase */
  bool last[N_PHASES];                          /* no later phase of the frame waits for this one */
  bool timed;
  size_t copied; /* bytes that cross the bus, in both directions */
  bool pending;  /* the frame was ended and not waited for */
  bool sleeps;   /* a thread that waits for the frame takes naps, and looks at the frame between them alone */
};

struct ConvolveHeld; /* see convolve_hold () */

struct ConvolveDevice
{
  int id;
  bool adopted;      /* the caller makes the context current before each call */
  CUcontext context; /* the primary context of device id; NULL where adopted is set */
  char name[320];
  size_t shared_limit; /* bytes of shared memory that a block may take */
  int multiprocessors;
  size_t cache_bytes; /* of the level 2 cache */
  int capability;     /* 90 for compute capability 9.0 */
  int double_ratio;   /* float products in the time of one double product; 0: unknown */
  bool overlaps;      /* a launch may overlap the launch before: see convolve_wait () */
  bool independent;   /* see convolve_device_independent () */
  bool beside;        /* the next launch may run beside the launch before: see ConvolveOrder */
  ConvolveHeld *held; /* room for a launch that waits, or NULL */
  bool holds;         /* there is one */
  cudaStream_t streams[N_PHASES];
  double waits;     /* nanoseconds that threads slept for a frame: a mean that follows the latest ones */
  unsigned *answer; /* of a kernel to the host, in memory of the host; NULL before the first question */
  cudaEvent_t answered;
  bool lent;                      /* the stream of the kernels is the caller's */
  cudaEvent_t enqueued[N_PHASES]; /* all work of the phase so far; recorded when the next phase needs to wait for it */
  bool fresh[N_PHASES];           /* the phase has work that the next phase does not wait for yet */
  cudaEvent_t timer[2];
  void *scratch; /* see convolve_device_scratch () */
  size_t scratch_bytes;
  Frame frames[CONVOLVE_MAX_FRAMES];
  ConvolveStaging *staging; /* of pageable rows, or NULL */
  unsigned begun;           /* the number of frames that were begun */
  Frame *frame;             /* the frame that was begun and has not ended, or NULL */
  cudaError_t failure;      /* of the first call that failed: from then on, calls only wait and give back */
};

/*
 * Turns a CUDA error into a status and a text that begins with `what`. Every error but a refused allocation marks the
 * device as failed.
 */
ConvolveStatus convolve_device_fail (ConvolveDevice *device, cudaError_t code, const char *what, ConvolveError *error);

/* The primary context of device id, which lives as long as the process. Any thread may call this. */
cudaError_t convolve_context_of_device (int id, CUcontext *context);

/* Makes a context current on this thread for the life of the object. Afterwards the context before is current again. */
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
 * Every function that calls CUDA for a device begins with a ConvolveEntry. The device's context is current for the life
 * of the object. A status other than OK means that the device has failed, and that nothing may be enqueued.
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
 * Every function that waits for a device's work, or gives memory and streams back, begins with a ConvolveExit, which
 * makes the device's context current as a ConvolveEntry does, but after a failure of the device, too: copies between
 * the host and the device may still be under way, and all that a process does not give back is lost to others until it
 * ends.
 */
class ConvolveExit
{
public:
  explicit ConvolveExit (ConvolveDevice *device);
  ~ConvolveExit (); /* an error of a call is forgotten */

private:
  ConvolveContextScope scope;

public:
  const bool possible; /* the context is current; otherwise CUDA must not be called */
};

/*
 * Where a kernel writes an answer, which is 0 until then. After the kernel's launch the caller calls
 * convolve_device_question_asked (). One question is open at a time. Errors: NO_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_device_make_question (ConvolveDevice *device, unsigned **answer, ConvolveError *error);
ConvolveStatus convolve_device_question_asked (ConvolveDevice *device, ConvolveError *error);

/*
 * Device memory of at least `bytes` for results that a plan's kernels pass to each other within one plane. The memory
 * is kept from frame to frame, and all plans of the device share it: its contents are lost with the next call. A call
 * that needs more memory than before waits for the kernels. Errors: NO_DEVICE_MEMORY, DEVICE_FAILED.
 */
ConvolveStatus convolve_device_scratch (ConvolveDevice *device, size_t bytes, void **scratch, ConvolveError *error);

/* Enqueues the launch that waits for the next plane, if there is one. Errors: DEVICE_FAILED. */
ConvolveStatus convolve_flush (ConvolveDevice *device, ConvolveError *error);

/* Creates and destroys the events and stages of the device's frames. */
cudaError_t convolve_frames_init (ConvolveDevice *device);
void convolve_frames_clear (ConvolveDevice *device);

/*
 * To be called before work is enqueued on the phase's stream. Enqueues a launch that waits for the next plane, and lets
 * the stream wait for all work of the phase before, so that kernels follow uploads and downloads follow kernels.
 */
cudaError_t convolve_frame_enqueue (ConvolveDevice *device, Phase phase);

#endif
