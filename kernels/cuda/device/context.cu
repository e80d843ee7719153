/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CUDA context that is current on a thread. cudaSetDevice () would replace the caller's context, and no call of
 * the runtime restores a context of the driver. So the driver's stack of contexts is used. The driver's functions are
 * looked up at run time, because the plugin must load on machines without a driver.
 */
#include <pthread.h>

#include "cuda/device/device.cuh"

#define MOST_DEVICES 64 /* far above the GPUs of one machine */

#if CUDART_VERSION >= 12050
#define GET_ENTRY_POINT(name, function, found) \
  cudaGetDriverEntryPointByVersion (name, function, 12000, cudaEnableDefault, found)
#else
#define GET_ENTRY_POINT(name, function, found) cudaGetDriverEntryPoint (name, function, cudaEnableDefault, found)
#endif

/* The driver's functions, NULL until they are found. */
static struct
{
  CUresult (*push) (CUcontext context);
  CUresult (*pop) (CUcontext *context);
  CUresult (*device_get) (CUdevice *device, int ordinal);
  CUresult (*primary_retain) (CUcontext *context, CUdevice device);
  CUcontext primary[MOST_DEVICES]; /* retained once and never released, as the runtime does */
  bool complete;                   /* all functions are found */
} driver;

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t
find_function (const char *name, void **function)
{
  cudaDriverEntryPointQueryResult found;
  cudaError_t code = *function ? cudaSuccess : GET_ENTRY_POINT (name, function, &found);

  return code != cudaSuccess || *function ? code : cudaErrorInitializationError;
}

static cudaError_t
find_functions (void)
{
  cudaError_t code = cudaSuccess;

  if (!driver.complete && (code = find_function ("cuCtxPushCurrent", (void **) &driver.push)) == cudaSuccess
      && (code = find_function ("cuCtxPopCurrent", (void **) &driver.pop)) == cudaSuccess
      && (code = find_function ("cuDeviceGet", (void **) &driver.device_get)) == cudaSuccess)
    code = find_function ("cuDevicePrimaryCtxRetain", (void **) &driver.primary_retain);
  driver.complete = code == cudaSuccess;
  return code;
}

cudaError_t
convolve_context_of_device (int id, CUcontext *context)
{
  cudaError_t code;
  CUdevice device;

  if (id < 0 || id >= MOST_DEVICES)
    return cudaErrorInvalidDevice;
  pthread_mutex_lock (&driver_lock);
  code = find_functions ();
  /* An error has one number in the driver and in the runtime. */
  if (code == cudaSuccess && !driver.primary[id]
      && (code = (cudaError_t) driver.device_get (&device, id)) == cudaSuccess)
    code = (cudaError_t) driver.primary_retain (&driver.primary[id], device);
  *context = driver.primary[id];
  pthread_mutex_unlock (&driver_lock);
  return code;
}

ConvolveContextScope::ConvolveContextScope (CUcontext context)
{
  code = context ? (cudaError_t) driver.push (context) : cudaSuccess;
  /*
   * Memory would be kept until the process ends if this failed where it is given back, so one failure is not the end.
   */
  if (code != cudaSuccess)
    code = (cudaError_t) driver.push (context);
  pushed = context && code == cudaSuccess;
}

ConvolveContextScope::~ConvolveContextScope ()
{
  CUcontext popped;

  if (pushed)
    driver.pop (&popped);
}
