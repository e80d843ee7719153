/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library with the name of NVIDIA's driver that stands in front of the real one, for tests of a GPU:
 * LD_LIBRARY_PATH names its folder. All functions that the CUDA runtime and GStreamer look up are trampolines
 * (trampolines.S), which know no signature. A trampoline asks driver_enter() whether this call is to fail, and
 * goes on in the real function or returns the error. failing.h says how a test chooses the call.
 *
 * CUDACONVOLVE_REAL_LIBCUDA names the real library, which is searched otherwise. Without a real one, the variable
 * CUDACONVOLVE_DRIVER says how a driver is that does not work:
 *
 *   init:N       cuInit() and all other calls answer N, such as 100, no device
 *   version:N    the driver is for CUDA version N, such as 11000
 */
#define _GNU_SOURCE /* dladdr () */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element/failing.h"

#define EXPORT __attribute__ ((visibility ("default")))
#define MOST_SLOTS 2048 /* trampolines in trampolines.S */
#define SLOT_BYTES 16

#define OUT_OF_MEMORY 2
#define INVALID_VALUE 1
#define ILLEGAL_ADDRESS 700
#define NOT_FOUND 500

typedef int (*Function) (void);

/* The function of the real driver that a trampoline takes the place of. */
typedef struct
{
  char name[64];
  void *real; /* NULL in a driver that does not work */
  int takes;  /* +1 for each call that takes something of the device, -1 for one that gives back, or 0 */
} Slot;

typedef struct
{
  void *real;
  uint64_t answer; /* where real is NULL */
} Way;

extern const char driver_trampolines[];
Way driver_enter (unsigned index);

static Slot slots[MOST_SLOTS];
static unsigned n_slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *library;
static int init_answer, version_answer; /* of a driver that does not work, or 0 */

static struct
{
  int count, n, kind, held;
  const char *failed;
  bool lost;
} calls;

/* --- the real library --- */

static bool
is_other (void *opened)
{
  Dl_info own, other;

  return dladdr ((void *) (uintptr_t) slots, &own) && dlsym (opened, "cuInit")
      && dladdr (dlsym (opened, "cuInit"), &other) && strcmp (own.dli_fname, other.dli_fname) != 0;
}

static void
open_real (void)
{
  static const char *const places[] = { "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib/libcuda.so.1" };
  const char *fault = getenv ("CUDACONVOLVE_DRIVER"), *named = getenv ("CUDACONVOLVE_REAL_LIBCUDA");

  if (fault) {
    if (sscanf (fault, "init:%d", &init_answer) != 1 && sscanf (fault, "version:%d", &version_answer) != 1)
      abort ();
    return;
  }
  if (named)
    library = dlopen (named, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof (places) / sizeof (places[0]) && !library; i++) {
    library = dlopen (places[i], RTLD_NOW | RTLD_LOCAL);
    if (library && !is_other (library))
      library = NULL;
  }
  if (!library)
    init_answer = 100;
}

static void
open_once (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, open_real);
}

/* --- trampolines --- */

static int
takes (const char *name)
{
  static const char *const taking[] = { "cuMemAlloc", "cuMemAllocHost", "cuMemHostAlloc", "cuMemHostRegister",
    "cuStreamCreate", "cuEventCreate" };
  static const char *const giving[] = { "cuMemFree", "cuMemFreeHost", "cuMemHostUnregister", "cuStreamDestroy",
    "cuEventDestroy" };
  size_t length = strcspn (name, "_");

  for (size_t i = 0; i < sizeof (taking) / sizeof (taking[0]); i++)
    if (strlen (taking[i]) == length && strncmp (name, taking[i], length) == 0)
      return 1;
  for (size_t i = 0; i < sizeof (giving) / sizeof (giving[0]); i++)
    if (strlen (giving[i]) == length && strncmp (name, giving[i], length) == 0)
      return -1;
  return 0;
}

/* The trampoline of a function; one for each address. */
static void *
trampoline (const char *name, void *real)
{
  unsigned i = 0;

  pthread_mutex_lock (&lock);
  while (i < n_slots && (slots[i].real != real || strcmp (slots[i].name, name) != 0))
    i++;
  if (i == MOST_SLOTS)
    abort ();
  if (i == n_slots) {
    snprintf (slots[i].name, sizeof (slots[i].name), "%s", name);
    slots[i].real = real;
    slots[i].takes = takes (name);
    n_slots++;
  }
  pthread_mutex_unlock (&lock);
  return (void *) (uintptr_t) (driver_trampolines + (size_t) i * SLOT_BYTES);
}

static int
number_of (int kind)
{
  return kind == FAILING_MEMORY ? OUT_OF_MEMORY : kind == FAILING_LASTING ? ILLEGAL_ADDRESS : INVALID_VALUE;
}

/* What a call is to do. Called by the trampolines. */
Way
driver_enter (unsigned index)
{
  Slot *slot = &slots[index];
  Way way = { slot->real, 0 };

  pthread_mutex_lock (&lock);
  if (!slot->real) {
    way.answer = (uint64_t) (init_answer ? init_answer : NOT_FOUND);
  } else if (strncmp (slot->name, "cuGetError", strlen ("cuGetError")) != 0) {
    bool chosen = ++calls.count == calls.n;

    if (chosen) {
      calls.failed = slot->name;
      calls.lost = calls.kind == FAILING_LASTING;
    }
    if (chosen || calls.lost)
      way = (Way){ NULL, (uint64_t) number_of (calls.lost ? FAILING_LASTING : calls.kind) };
    /* What a call could not give back is not the element's fault. */
    if (way.real || slot->takes < 0)
      calls.held += slot->takes;
  }
  pthread_mutex_unlock (&lock);
  return way;
}

/* --- what the runtime looks up --- */

EXPORT int cuInit (unsigned flags);
EXPORT int cuDriverGetVersion (int *version);
EXPORT int cuGetExportTable (const void **table, const void *id);
EXPORT int cuGetProcAddress (const char *name, void **function, int version, uint64_t flags);
EXPORT int cuGetProcAddress_v2 (const char *name, void **function, int version, uint64_t flags, int *found);

/* The trampoline of a function that the real library exports, or of none. */
static void *
exported (const char *name)
{
  open_once ();
  return trampoline (name, library ? dlsym (library, name) : NULL);
}

int
cuInit (unsigned flags)
{
  open_once ();
  if (!library)
    return init_answer;
  return ((int (*) (unsigned)) exported ("cuInit")) (flags);
}

int
cuDriverGetVersion (int *version)
{
  open_once ();
  if (library)
    return ((int (*) (int *)) exported ("cuDriverGetVersion")) (version);
  *version = version_answer ? version_answer : 13000;
  return 0;
}

/* The tables are private functions between runtime and driver, of unknown length: they are passed on untouched. */
int
cuGetExportTable (const void **table, const void *id)
{
  open_once ();
  if (!library)
    return init_answer ? init_answer : NOT_FOUND;
  return ((int (*) (const void **, const void *)) dlsym (library, "cuGetExportTable")) (table, id);
}

/* The functions of this file, which are no trampolines. */
static void *
own_function (const char *name, int version)
{
  if (strcmp (name, "cuGetProcAddress") == 0)
    return version >= 12000 ? (void *) cuGetProcAddress_v2 : (void *) cuGetProcAddress;
  return strcmp (name, "cuGetExportTable") == 0              ? (void *) cuGetExportTable
      : !library && strcmp (name, "cuInit") == 0             ? (void *) cuInit
      : !library && strcmp (name, "cuDriverGetVersion") == 0 ? (void *) cuDriverGetVersion
                                                             : NULL;
}

int
cuGetProcAddress_v2 (const char *name, void **function, int version, uint64_t flags, int *found)
{
  int code = 0;

  open_once ();
  *function = NULL;
  if (found)
    *found = 0;
  if (library)
    code = ((int (*) (const char *, void **, int, uint64_t, int *)) dlsym (library, "cuGetProcAddress_v2")) (name,
        function, version, flags, found);
  if (code != 0 || (library && !*function))
    return code;
  *function = own_function (name, version) ? own_function (name, version) : trampoline (name, *function);
  return 0;
}

int
cuGetProcAddress (const char *name, void **function, int version, uint64_t flags)
{
  return cuGetProcAddress_v2 (name, function, version, flags, NULL);
}

/* For the stubs of trampolines.S, which GStreamer looks up by name. */
void *driver_exported (const char *name);

void *
driver_exported (const char *name)
{
  return exported (name);
}

/* --- failing.h --- */

void
failing_begin (int n, int kind)
{
  pthread_mutex_lock (&lock);
  calls.count = 0;
  calls.n = n;
  calls.kind = kind;
  calls.failed = NULL;
  calls.lost = false;
  pthread_mutex_unlock (&lock);
}

int
failing_count (void)
{
  return calls.count;
}

const char *
failing_name (void)
{
  return calls.failed;
}

int
failing_held (char *text, size_t size)
{
  snprintf (text, size, "%d blocks, streams, events and locked memories", calls.held);
  return calls.held;
}
