/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* convolve_device.h without the frames: how a device is found and opened, its streams, its memory and its timer. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/form.h"
#include "cuda/device/device.cuh"

/* Tells whether this build has kernels for the device: see open_device (). */
__global__ void
convolve_probe (void)
{
}

ConvolveStatus
convolve_device_fail (ConvolveDevice *device, cudaError_t code, const char *what, ConvolveError *error)
{
  cudaGetLastError (); /* clears a refused allocation, which a later call would report again */
  if (code == cudaErrorMemoryAllocation)
    return convolve_fail (error, CONVOLVE_NO_DEVICE_MEMORY, code, "%s: %s", what, cudaGetErrorString (code));
  if (device->failure == cudaSuccess)
    device->failure = code;
  return convolve_fail (error, CONVOLVE_DEVICE_FAILED, code, "%s: %s", what, cudaGetErrorString (code));
}

/* The status of a ConvolveEntry. code is the result of making the context current. */
static ConvolveStatus
check_entry (ConvolveDevice *device, cudaError_t code, ConvolveError *error)
{
  if (device->failure != cudaSuccess)
    return convolve_fail (error, CONVOLVE_DEVICE_FAILED, device->failure,
        "an earlier call of the CUDA device failed: %s", cudaGetErrorString (device->failure));
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "cannot select the device", error);
}

ConvolveEntry::ConvolveEntry (ConvolveDevice *device, ConvolveError *error)
    : scope (device->failure == cudaSuccess ? device->context : NULL), status (check_entry (device, scope.code, error))
{
}

ConvolveExit::ConvolveExit (ConvolveDevice *device) : scope (device->context), possible (scope.code == cudaSuccess)
{
}

ConvolveExit::~ConvolveExit ()
{
  cudaGetLastError ();
}

/* Whether there is a driver, although the runtime learnt no version from it. */
static bool
driver_is_there (void)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_LAZY);

  if (driver)
    dlclose (driver);
  return driver;
}

/* Fails with the reason why cudaGetDeviceCount () found no device: no GPU, no driver, or a driver that is too old. */
static ConvolveStatus
explain_missing (cudaError_t code, ConvolveError *error)
{
  int driver = 0;

  if (code == cudaSuccess || code == cudaErrorNoDevice)
    return convolve_fail (error, CONVOLVE_NO_DEVICE, cudaErrorNoDevice, "no CUDA device: the driver finds no GPU");
  if (code != cudaErrorInsufficientDriver) {
    ConvolveError lasting = { CONVOLVE_DEVICE_FAILED, code, "" };

    return convolve_fail (error, convolve_error_is_lasting (&lasting) ? CONVOLVE_DEVICE_FAILED : CONVOLVE_NO_DEVICE,
        code, "no CUDA device: %s, which lasts until the process is started again", cudaGetErrorString (code));
  }
  if (cudaDriverGetVersion (&driver) != cudaSuccess || driver == 0) {
    if (driver_is_there ())
      return convolve_fail (error, CONVOLVE_NO_DEVICE, code,
          "no CUDA device: the NVIDIA driver does not answer, which lasts until the process is started again");
    return convolve_fail (error, CONVOLVE_NO_DEVICE, code, "no CUDA device: there is no NVIDIA driver");
  }
  return convolve_fail (error, CONVOLVE_NO_DEVICE, code,
      "no CUDA device: the NVIDIA driver is for CUDA %d.%d, and "
      "this build needs one for CUDA %d",
      driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000);
}

ConvolveStatus
convolve_device_find (int id, ConvolveError *error)
{
  int count = 0;
  cudaError_t code = cudaGetDeviceCount (&count);

  if (code != cudaSuccess || count == 0) {
    cudaGetLastError ();
    return explain_missing (code, error);
  }
  if (id >= count)
    return convolve_fail (error, CONVOLVE_NO_DEVICE, cudaErrorInvalidDevice,
        "there is no CUDA device %d, the last is %d", id, count - 1);
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_check_current (ConvolveError *error)
{
  cudaError_t code = cudaStreamQuery (NULL);

  cudaGetLastError ();
  return code == cudaSuccess || code == cudaErrorNotReady
      ? CONVOLVE_OK
      : convolve_fail (error, CONVOLVE_DEVICE_FAILED, code, "the device failed: %s", cudaGetErrorString (code));
}

/* Reads the device's properties and creates its streams and events. The device's context is current. */
static ConvolveStatus
open_device (ConvolveDevice *device, ConvolveError *error)
{
  cudaDeviceProp properties;
  cudaFuncAttributes attributes;
  int driver = 0, shared = 0;
  cudaError_t code;

  if ((code = cudaGetDeviceProperties (&properties, device->id)) != cudaSuccess
      || (code = cudaDeviceGetAttribute (&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device->id)) != cudaSuccess
      || (code = cudaDriverGetVersion (&driver)) != cudaSuccess)
    return convolve_device_fail (device, code, "cannot open the CUDA device", error);
  device->shared_limit = shared;
  device->multiprocessors = properties.multiProcessorCount;
  device->cache_bytes = properties.l2CacheSize;
  device->capability = 10 * properties.major + properties.minor;
  device->overlaps = properties.major >= 9;
  /* The ratio stays 0 where the driver does not know it. */
  if (cudaDeviceGetAttribute (&device->double_ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device->id)
      != cudaSuccess)
    cudaGetLastError ();
  snprintf (device->name, sizeof (device->name), "%s (sm_%d%d, driver for CUDA %d.%d)", properties.name,
      properties.major, properties.minor, driver / 1000, driver % 1000 / 10);

  /* The runtime loads the code of all kernels once, and keeps a refusal. Other failures are gone at the second try. */
  code = cudaFuncGetAttributes (&attributes, convolve_probe);
  if (code != cudaSuccess && cudaFuncGetAttributes (&attributes, convolve_probe) == cudaSuccess)
    code = cudaSuccess;
  cudaGetLastError ();
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction
      || code == cudaErrorInvalidKernelImage || code == cudaErrorUnsupportedPtxVersion
      || code == cudaErrorJitCompilerNotFound) {
    cudaGetLastError ();
    return convolve_fail (error, CONVOLVE_NO_DEVICE, code, "this build has no kernels for %s: %s", device->name,
        cudaGetErrorString (code));
  }
  if (code != cudaSuccess)
    return convolve_device_fail (device, code,
        "cannot load the kernels, which lasts until the process is started again", error);
  for (int i = 0; i < N_PHASES; i++)
    if ((code = cudaStreamCreateWithFlags (&device->streams[i], cudaStreamNonBlocking)) != cudaSuccess)
      return convolve_device_fail (device, code, "cannot create a stream", error);
  if ((code = convolve_frames_init (device)) != cudaSuccess)
    return convolve_device_fail (device, code, "cannot create an event", error);
  for (int i = 0; i < 2; i++)
    if ((code = cudaEventCreate (&device->timer[i])) != cudaSuccess)
      return convolve_device_fail (device, code, "cannot create an event", error);
  return CONVOLVE_OK;
}

/* A device with its own context, or with the context that is current now where adopted is set. */
static ConvolveDevice *
new_device (int id, bool adopted, ConvolveError *error)
{
  ConvolveDevice *device;
  ConvolveStatus status = CONVOLVE_OK;
  cudaError_t code;

  if (convolve_device_find (id, error) != CONVOLVE_OK)
    return NULL;
  device = (ConvolveDevice *) calloc (1, sizeof (ConvolveDevice));
  if (!device) {
    convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for a device");
    return NULL;
  }
  device->id = id < 0 ? 0 : id;
  device->adopted = adopted;
  device->staging = convolve_staging_new (device);
  code = adopted ? cudaGetDevice (&device->id) : convolve_context_of_device (device->id, &device->context);
  if (code != cudaSuccess)
    status = convolve_device_fail (device, code, "cannot open the CUDA device", error);
  if (status == CONVOLVE_OK) {
    ConvolveEntry entry (device, error);

    status = entry.status == CONVOLVE_OK ? open_device (device, error) : entry.status;
  }
  if (status != CONVOLVE_OK) {
    convolve_device_free (device);
    return NULL;
  }
  return device;
}

ConvolveDevice *
convolve_device_new (int id, ConvolveError *error)
{
  return new_device (id, false, error);
}

ConvolveDevice *
convolve_device_new_current (ConvolveError *error)
{
  return new_device (0, true, error);
}

void
convolve_device_free (ConvolveDevice *device)
{
  if (!device)
    return;
  convolve_device_finish (device, NULL);
  ConvolveExit exit (device);

  convolve_staging_free (device->staging);
  if (exit.possible) {
    convolve_frames_clear (device);
    cudaFree (device->scratch);
    cudaFreeHost (device->answer);
    if (device->answered)
      cudaEventDestroy (device->answered);
    for (int i = 0; i < 2; i++)
      if (device->timer[i])
        cudaEventDestroy (device->timer[i]);
    for (int i = 0; i < N_PHASES; i++)
      if (device->streams[i] && !(i == PHASE_KERNEL && device->lent))
        cudaStreamDestroy (device->streams[i]);
  }
  free (device->held);
  free (device);
}

ConvolveStatus
convolve_device_independent (ConvolveDevice *device, bool independent, ConvolveError *error)
{
  ConvolveStatus status = convolve_flush (device, error);

  device->independent = independent;
  device->beside = false;
  return status;
}

ConvolveStatus
convolve_device_make_question (ConvolveDevice *device, unsigned **answer, ConvolveError *error)
{
  if (!device->answer) {
    cudaError_t code = cudaEventCreateWithFlags (&device->answered, cudaEventDisableTiming);

    if (code == cudaSuccess)
      code = cudaHostAlloc (&device->answer, sizeof (*device->answer), cudaHostAllocPortable);
    if (code != cudaSuccess)
      return convolve_device_fail (device, code, "cannot make room for an answer", error);
  }
  *device->answer = 0;
  *answer = device->answer;
  return CONVOLVE_OK;
}

ConvolveStatus
convolve_device_question_asked (ConvolveDevice *device, ConvolveError *error)
{
  ConvolveStatus status = convolve_flush (device, error);
  cudaError_t code;

  if (status != CONVOLVE_OK)
    return status;
  code = cudaEventRecord (device->answered, device->streams[PHASE_KERNEL]);
  return code == cudaSuccess ? CONVOLVE_OK : convolve_device_fail (device, code, "the device failed", error);
}

ConvolveStatus
convolve_device_await_answer (ConvolveDevice *device, unsigned *answer, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  cudaError_t code;

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  if ((code = cudaEventSynchronize (device->answered)) != cudaSuccess)
    return convolve_device_fail (device, code, "the device failed", error);
  *answer = *(const volatile unsigned *) device->answer;
  return CONVOLVE_OK;
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

int
convolve_device_id (const ConvolveDevice *device)
{
  return device->id;
}

const char *
convolve_device_name (const ConvolveDevice *device)
{
  return device->name;
}

size_t
convolve_device_shared_limit (const ConvolveDevice *device)
{
  return device->shared_limit;
}

size_t
convolve_device_cache_bytes (const ConvolveDevice *device)
{
  return device->cache_bytes;
}

int
convolve_device_multiprocessors (const ConvolveDevice *device)
{
  return device->multiprocessors;
}

int
convolve_device_capability (const ConvolveDevice *device)
{
  return device->capability;
}

int
convolve_device_double_ratio (const ConvolveDevice *device)
{
  return device->double_ratio;
}

ConvolveStatus
convolve_device_finish (ConvolveDevice *device, ConvolveError *error)
{
  ConvolveStatus status = ConvolveEntry (device, error).status;
  ConvolveExit exit (device);
  cudaError_t code;

  if (status == CONVOLVE_OK)
    status = convolve_flush (device, error);

  device->frame = NULL;
  for (int k = 0; k < CONVOLVE_MAX_FRAMES; k++)
    device->frames[k].pending = false;
  for (int i = 0; i < N_PHASES && exit.possible; i++)
    if (device->streams[i] && (code = cudaStreamSynchronize (device->streams[i])) != cudaSuccess
        && status == CONVOLVE_OK)
      status = convolve_device_fail (device, code, "the device failed", error);
  return status;
}

ConvolveStatus
convolve_device_use_stream (ConvolveDevice *device, void *stream, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  ConvolveStatus status = convolve_device_finish (device, error);

  if (status == CONVOLVE_OK && !device->lent)
    cudaStreamDestroy (device->streams[PHASE_KERNEL]);
  device->streams[PHASE_KERNEL] = (cudaStream_t) stream;
  device->lent = true;
  device->beside = false;
  return status;
}

void *
convolve_device_alloc (ConvolveDevice *device, size_t bytes, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  void *memory = NULL;
  cudaError_t code;

  if (entry.status != CONVOLVE_OK)
    return NULL;
  if ((code = cudaMalloc (&memory, bytes)) != cudaSuccess) {
    convolve_device_fail (device, code, "cannot allocate device memory", error);
    return NULL;
  }
  return memory;
}

void
convolve_device_release (ConvolveDevice *device, void *memory)
{
  ConvolveExit exit (device);

  convolve_flush (device, NULL);
  if (exit.possible)
    cudaFree (memory);
}

ConvolveStatus
convolve_device_copy (ConvolveDevice *device, void *to, const void *from, size_t bytes, ConvolveCopy direction,
    ConvolveError *error)
{
  static const cudaMemcpyKind kinds[] = { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
  ConvolveEntry entry (device, error);
  ConvolveStatus status = entry.status;
  cudaError_t code;

  if (status != CONVOLVE_OK || (status = convolve_flush (device, error)) != CONVOLVE_OK)
    return status;
  code = cudaMemcpyAsync (to, from, bytes, kinds[direction], device->streams[PHASE_KERNEL]);
  return code == cudaSuccess ? CONVOLVE_OK
                             : convolve_device_fail (device, code, "cannot copy to or from the device", error);
}

ConvolveStatus
convolve_device_put (ConvolveDevice *device, const void *values, size_t bytes, void **copy, ConvolveError *error)
{
  *copy = convolve_device_alloc (device, bytes, error);
  if (!*copy)
    return error ? error->status : CONVOLVE_DEVICE_FAILED;
  ConvolveStatus status = convolve_device_copy (device, *copy, values, bytes, CONVOLVE_COPY_TO_DEVICE, error);
  return status == CONVOLVE_OK ? convolve_device_finish (device, error) : status;
}

ConvolveStatus
convolve_device_scratch (ConvolveDevice *device, size_t bytes, void **scratch, ConvolveError *error)
{
  ConvolveEntry entry (device, error);
  cudaError_t code = cudaSuccess;

  if (entry.status != CONVOLVE_OK)
    return entry.status;
  if (bytes > device->scratch_bytes) {
    code = cudaStreamSynchronize (device->streams[PHASE_KERNEL]);
    if (code == cudaSuccess)
      code = cudaFree (device->scratch);
    device->scratch = NULL;
    device->scratch_bytes = 0;
    if (code == cudaSuccess)
      code = cudaMalloc (&device->scratch, bytes);
    if (code != cudaSuccess)
      return convolve_device_fail (device, code, "cannot allocate device memory", error);
    device->scratch_bytes = bytes;
  }
  *scratch = device->scratch;
  return CONVOLVE_OK;
}

void
convolve_device_timer_start (ConvolveDevice *device)
{
  ConvolveEntry entry (device, NULL);

  if (entry.status == CONVOLVE_OK && convolve_flush (device, NULL) == CONVOLVE_OK)
    cudaEventRecord (device->timer[0], device->streams[PHASE_KERNEL]);
}

double
convolve_device_timer_stop (ConvolveDevice *device)
{
  ConvolveEntry entry (device, NULL);
  float milliseconds = -1e-6f;
  cudaError_t code;

  if (entry.status != CONVOLVE_OK || convolve_flush (device, NULL) != CONVOLVE_OK)
    return -1;
  if ((code = cudaEventRecord (device->timer[1], device->streams[PHASE_KERNEL])) != cudaSuccess
      || (code = cudaEventSynchronize (device->timer[1])) != cudaSuccess
      || (code = cudaEventElapsedTime (&milliseconds, device->timer[0], device->timer[1])) != cudaSuccess) {
    convolve_device_fail (device, code, "cannot measure a time", NULL);
    return -1;
  }
  return milliseconds * 1e6;
}
