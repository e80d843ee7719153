/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library with the name of NVIDIA's driver that stands in front of the real one, for tests of a GPU:
 * LD_LIBRARY_PATH names its folder. All functions that the CUDA runtime and GStreamer look up are trampolines
 * (trampolines.S), which know no signature. A trampoline asks driver_enter() whether this call is to fail, and
 * goes on in the real function or returns the error. failing.h says how a test chooses the call.
 *
 * CUDACONVOLVE_REAL_LIBCUDA names the real library, which is searched otherwise. The variable CUDACONVOLVE_DRIVER
 * says how a driver is that does not work:
 *
 *   init:N       there is no real driver; cuInit() and all other calls answer N, such as 100, no device
 *   version:N    there is no real driver; its version is N, such as 11000; with 0 it tells none
 *   unlocked     the real driver, which can page-lock no memory
 *
 * Some calls of the driver never fail here, and are not counted:
 *
 *   cuCtxPopCurrent             nobody can do anything about it, and a driver refuses only where nothing was pushed
 *   cuGetErrorName and kin      they only give the text of an error
 *   cuGetProcAddress            the runtime looks all functions up once, before any other call
 *   cuGetExportTable, and the private functions in the tables, whose signatures nobody knows
 *
 * A call that waits or gives back something is made in any case, and its answer is replaced where it is to fail. A
 * real device would otherwise go on to write into memory that the element has freed.
 */
#define _GNU_SOURCE /* dladdr () */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element/driver/exported.h"
#include "element/cuda/failing.h"

#define EXPORT __attribute__ ((visibility ("default")))
#define MOST_SLOTS 2048 /* trampolines in trampolines.S */
#define SLOT_BYTES 16

#define OUT_OF_MEMORY 2
#define INVALID_VALUE 1
#define ILLEGAL_ADDRESS 700
#define NOT_FOUND 500

/* The kinds of functions of the driver that are treated differently. */
typedef enum
{
  PLAIN,
  TAKES,   /* something of the device, or locks memory */
  GIVES,   /* back what another call took */
  WAITS,   /* for the device */
  OUTLIVES /* a lasting error: knows nothing of what is in a context */
} Role;

/* The function of the real driver that a trampoline takes the place of. */
typedef struct
{
  char name[64];
  void *real; /* NULL in a driver that does not work */
  Role role;
  bool spared; /* never made to fail */
  int done;    /* how often the real function succeeded, where its role is TAKES or GIVES */
} Slot;

/* What a trampoline is to do: answer where real is NULL; jump to real where answer is 0; otherwise call real. */
typedef struct
{
  void *real;
  uint64_t answer;
} Way;

extern const char driver_trampolines[];
Way driver_enter (unsigned index, uint64_t first);
int driver_leave (uint64_t token, int code);

#define X(name) #name,
static const char *const exported_names[] = { DRIVER_EXPORTED NULL };
#undef X
#define N_EXPORTED (sizeof (exported_names) / sizeof (exported_names[0]) - 1)

static Slot slots[MOST_SLOTS];
static unsigned n_slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *library;
static int init_answer;            /* of a driver that does not work, or 0 */
static int version_answer = 13000; /* 0: the driver tells none */
static bool unlocked;              /* memory cannot be page-locked */
static __thread bool paused;       /* calls of this thread are not the element's */

static struct
{
  int count, n, kind;
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
find_real (void)
{
  static const char *const places[] = { "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/lib/libcuda.so.1" };
  const char *named = getenv ("CUDACONVOLVE_REAL_LIBCUDA");

  /* The real library must not find functions of this one in the place of its own. */
  if (named) {
    library = dlopen (named, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library && !is_other (library))
      library = NULL;
  }
  for (size_t i = 0; i < sizeof (places) / sizeof (places[0]) && !library; i++) {
    library = dlopen (places[i], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library && !is_other (library))
      library = NULL;
  }
  if (!library)
    init_answer = 100;
}

static void name_slot (unsigned i, const char *name, void *real);

static void
open_real (void)
{
  const char *fault = getenv ("CUDACONVOLVE_DRIVER");

  unlocked = fault && strcmp (fault, "unlocked") == 0;
  if (!fault || unlocked)
    find_real ();
  else if (sscanf (fault, "init:%d", &init_answer) != 1 && sscanf (fault, "version:%d", &version_answer) != 1)
    abort ();
  for (unsigned i = 0; i < N_EXPORTED; i++)
    name_slot (i, exported_names[i], library ? dlsym (library, exported_names[i]) : NULL);
  n_slots = N_EXPORTED;
}

static void
open_once (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, open_real);
}

/* --- trampolines --- */

/* Whether the name, without the number of its version, is in the list. */
static bool
is_in (const char *name, const char *const *list)
{
  size_t length = strcspn (name, "_");

  for (; *list; list++)
    if (strlen (*list) == length && strncmp (name, *list, length) == 0)
      return true;
  return false;
}

static Role
role_of (const char *name)
{
  static const char *const taking[] = { "cuMemAlloc", "cuMemAllocAsync", "cuMemAllocHost", "cuMemAllocPitch",
    "cuMemHostAlloc", "cuMemHostRegister", "cuStreamCreate", "cuStreamCreateWithPriority", "cuEventCreate",
    "cuCtxCreate", NULL };
  static const char *const giving[] = { "cuMemFree", "cuMemFreeAsync", "cuMemFreeHost", "cuMemHostUnregister",
    "cuStreamDestroy", "cuEventDestroy", "cuCtxDestroy", NULL };
  static const char *const waiting[] = { "cuStreamSynchronize", "cuEventSynchronize", "cuCtxSynchronize", NULL };
  static const char *const outliving[] = { "cuInit", "cuDriverGetVersion", "cuCtxGetCurrent", "cuCtxSetCurrent",
    "cuCtxPushCurrent", "cuCtxGetDevice", "cuCtxGetApiVersion", NULL };

  return is_in (name, taking)                                                           ? TAKES
      : is_in (name, giving)                                                            ? GIVES
      : is_in (name, waiting)                                                           ? WAITS
      : is_in (name, outliving) || strncmp (name, "cuDevice", strlen ("cuDevice")) == 0 ? OUTLIVES
                                                                                        : PLAIN;
}

static void
name_slot (unsigned i, const char *name, void *real)
{
  static const char *const spared[] = { "cuCtxPopCurrent", "cuGetErrorName", "cuGetErrorString", NULL };

  snprintf (slots[i].name, sizeof (slots[i].name), "%s", name);
  slots[i].real = real;
  slots[i].role = role_of (name);
  slots[i].spared = is_in (name, spared);
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
  if (i == n_slots)
    name_slot (n_slots++, name, real);
  pthread_mutex_unlock (&lock);
  return (void *) (uintptr_t) (driver_trampolines + (size_t) i * SLOT_BYTES);
}

static int
number_of (int kind)
{
  return kind == FAILING_MEMORY ? OUT_OF_MEMORY : kind == FAILING_LASTING ? ILLEGAL_ADDRESS : INVALID_VALUE;
}

/* The error with which this call is to fail, or 0. */
static int
choose (const Slot *slot)
{
  bool chosen, lost;

  if (slot->spared || paused)
    return 0;
  chosen = ++calls.count == calls.n;
  lost = calls.lost && slot->role != OUTLIVES;
  if (chosen) {
    calls.failed = slot->name;
    calls.lost = calls.kind == FAILING_LASTING;
  }
  if (unlocked && strncmp (slot->name, "cuMemHostRegister", strlen ("cuMemHostRegister")) == 0)
    return OUT_OF_MEMORY;
  return lost ? ILLEGAL_ADDRESS : chosen ? number_of (calls.kind) : 0;
}

/*
 * What a call is to do; `first` is its first argument. Called by the trampolines. The runtime frees NULL by a call, which
 * gives nothing back and is not counted.
 */
Way
driver_enter (unsigned index, uint64_t first)
{
  Slot *slot = &slots[index];
  Way way = { NULL, 0 };

  open_once (); /* GStreamer's calls need no function of this file before */
  pthread_mutex_lock (&lock);
  if (!slot->real) {
    way.answer = (uint64_t) (init_answer ? init_answer : NOT_FOUND);
  } else if (slot->role == GIVES && first == 0) {
    way.real = slot->real;
  } else {
    int error = choose (slot);

    if (slot->role == GIVES || slot->role == WAITS || (slot->role == TAKES && error == 0))
      way = (Way){ slot->real, (uint64_t) error << 32 | (index + 1) };
    else if (error)
      way.answer = (uint64_t) error;
    else
      way.real = slot->real;
  }
  pthread_mutex_unlock (&lock);
  return way;
}

/* After a call: its answer, or another one. The token is that of driver_enter(). Called by the trampolines. */
int
driver_leave (uint64_t token, int code)
{
  int error = (int) (token >> 32);

  pthread_mutex_lock (&lock);
  slots[(token & 0xffffffff) - 1].done += code == 0;
  pthread_mutex_unlock (&lock);
  return error ? error : code;
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
  *version = version_answer;
  return version_answer ? 0 : OUT_OF_MEMORY;
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
  if (strcmp (name, "cuGetProcAddress_v2") == 0)
    return (void *) cuGetProcAddress_v2;
  if (strcmp (name, "cuGetProcAddress") == 0)
    return version >= 12000 ? (void *) cuGetProcAddress_v2 : (void *) cuGetProcAddress;
  return strcmp (name, "cuGetExportTable") == 0              ? (void *) cuGetExportTable
      : !library && strcmp (name, "cuInit") == 0             ? (void *) cuInit
      : !library && strcmp (name, "cuDriverGetVersion") == 0 ? (void *) cuDriverGetVersion
                                                             : NULL;
}

/* Puts the trampoline in the place of what the real driver answered. */
static int
hook (const char *name, void **function, int version, int code)
{
  if (code == 0 && (!library || *function))
    *function = own_function (name, version) ? own_function (name, version) : trampoline (name, *function);
  return code;
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
  return hook (name, function, version, code);
}

/* The function of drivers before CUDA 12, which answers "not found" where the other one has a status for that. */
int
cuGetProcAddress (const char *name, void **function, int version, uint64_t flags)
{
  int code = 0;

  open_once ();
  *function = NULL;
  if (library)
    code = ((int (*) (const char *, void **, int, uint64_t)) dlsym (library, "cuGetProcAddress")) (name, function,
        version, flags);
  return hook (name, function, version, code);
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

void
failing_pause (int pause)
{
  paused = pause != 0;
}

int
failing_held (char *text, size_t size)
{
  int held = 0;
  size_t length = 0;

  *text = '\0';
  pthread_mutex_lock (&lock);
  for (unsigned i = 0; i < n_slots; i++)
    if (slots[i].done > 0 && (slots[i].role == TAKES || slots[i].role == GIVES)) {
      held += slots[i].role == TAKES ? slots[i].done : -slots[i].done;
      if (length < size)
        length += (size_t) snprintf (text + length, size - length, "%s%s %d", length > 0 ? ", " : "", slots[i].name,
            slots[i].done);
    }
  pthread_mutex_unlock (&lock);
  return held;
}
