/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts a process's calls of the CUDA driver, each by its name. The driver loads this library where
 * CUDA_INJECTION64_PATH names it. At exit the counts are written to the file that CUDA_CALLS names, a line each: the
 * name, a space, the number. Launches and copies on the NULL stream count once more as "NULL-stream". The process
 * itself can ask for the counts in between: see tests/support/calls.h.
 */
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 2000
#define EXPORTED __attribute__ ((visibility ("default")))

EXPORTED int InitializeInjection (void);
EXPORTED void cuda_calls_reset (void);
EXPORTED void cuda_calls_list (void (*add) (void *data, const char *function, unsigned long count), void *data);

static unsigned long counts[MOST], null_stream;

/* The stream that the call is given, where it is a launch or a copy; anything but NULL otherwise. */
static CUstream
stream_of (CUpti_CallbackId id, const void *params)
{
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      return ((const cuLaunchKernel_params *) params)->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2:
      return ((const cuMemcpyHtoDAsync_v2_params *) params)->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2:
      return ((const cuMemcpyDtoHAsync_v2_params *) params)->hStream;
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2:
      return ((const cuMemcpy2DAsync_v2_params *) params)->hStream;
    default:
      return (CUstream) 1;
  }
}

static void CUPTIAPI
called (void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *arguments)
{
  const CUpti_CallbackData *call = arguments;

  if (call->callbackSite != CUPTI_API_ENTER || id >= MOST)
    return;
  __atomic_fetch_add (&counts[id], 1, __ATOMIC_RELAXED);
  if (stream_of (id, call->functionParams) == NULL)
    __atomic_fetch_add (&null_stream, 1, __ATOMIC_RELAXED);
}

EXPORTED void
cuda_calls_reset (void)
{
  for (int id = 0; id < MOST; id++)
    __atomic_store_n (&counts[id], 0, __ATOMIC_RELAXED);
  __atomic_store_n (&null_stream, 0, __ATOMIC_RELAXED);
}

EXPORTED void
cuda_calls_list (void (*add) (void *data, const char *function, unsigned long count), void *data)
{
  for (CUpti_CallbackId id = 0; id < MOST; id++) {
    const char *function;

    if (counts[id] && cuptiGetCallbackName (CUPTI_CB_DOMAIN_DRIVER_API, id, &function) == CUPTI_SUCCESS)
      add (data, function, counts[id]);
  }
  add (data, "NULL-stream", null_stream);
}

static void
write_line (void *data, const char *function, unsigned long count)
{
  fprintf ((FILE *) data, "%s %lu\n", function, count);
}

static void
write_counts (void)
{
  const char *name = getenv ("CUDA_CALLS");
  FILE *file = name ? fopen (name, "w") : NULL;

  if (!file)
    return;
  cuda_calls_list (write_line, file);
  fclose (file);
}

int
InitializeInjection (void)
{
  CUpti_SubscriberHandle subscriber;

  if (cuptiSubscribe (&subscriber, called, NULL) != CUPTI_SUCCESS
      || cuptiEnableDomain (1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS)
    return 0;
  atexit (write_counts);
  return 1;
}
