/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/cuda/neighbour.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define MOST_BLOCKS 4096
#define LEAST_BLOCK ((size_t) 1 << 20)

typedef uint64_t Address;

static struct
{
  int (*init) (unsigned flags);
  int (*device_get) (int *device, int ordinal);
  int (*primary_retain) (void **context, int device);
  int (*context_create) (void **context, unsigned flags, int device);
  int (*push) (void *context);
  int (*pop) (void **context);
  int (*synchronize) (void);
  int (*get_info) (size_t *free, size_t *total);
  int (*alloc) (Address *memory, size_t bytes);
  int (*free) (Address memory);
  int (*load) (void **module, const void *image);
  int (*get_function) (void **function, void *module, const char *name);
  int (*launch) (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
      unsigned block_z, unsigned shared, void *stream, void **parameters, void **extra);
} driver;

static int device;
static void *primary;
static Address blocks[MOST_BLOCKS];
static unsigned n_blocks;

/* The driver translates this text for the GPU that is there. */
static const char kernel[] = ".version 6.3\n"
                             ".target sm_75\n"
                             ".address_size 64\n"
                             ".visible .entry fault ()\n"
                             "{\n"
                             "  .reg .u64 %address;\n"
                             "  .reg .u32 %value;\n"
                             "  mov.u64 %address, 64;\n"
                             "  mov.u32 %value, 1;\n"
                             "  st.global.u32 [%address], %value;\n"
                             "  ret;\n"
                             "}\n";

static bool
find (void *library, const char *name, void *place)
{
  void *function = dlsym (library, name);

  *(void **) place = function;
  return function != NULL;
}

bool
neighbour_open (void)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW);

  return library && find (library, "cuInit", &driver.init) && find (library, "cuDeviceGet", &driver.device_get)
      && find (library, "cuDevicePrimaryCtxRetain", &driver.primary_retain)
      && find (library, "cuCtxCreate_v2", &driver.context_create) && find (library, "cuCtxPushCurrent_v2", &driver.push)
      && find (library, "cuCtxPopCurrent_v2", &driver.pop) && find (library, "cuCtxSynchronize", &driver.synchronize)
      && find (library, "cuMemGetInfo_v2", &driver.get_info) && find (library, "cuMemAlloc_v2", &driver.alloc)
      && find (library, "cuMemFree_v2", &driver.free) && find (library, "cuModuleLoadData", &driver.load)
      && find (library, "cuModuleGetFunction", &driver.get_function) && find (library, "cuLaunchKernel", &driver.launch)
      && driver.init (0) == 0 && driver.device_get (&device, 0) == 0;
}

/* The primary context is made where it is needed first: that takes memory, and a full device has none. */
static int
enter (void)
{
  int code = primary ? 0 : driver.primary_retain (&primary, device);

  return code == 0 ? driver.push (primary) : code;
}

static void
leave (void)
{
  void *context;

  driver.pop (&context);
}

size_t
neighbour_free (void)
{
  size_t bytes = 0, total;

  if (enter () != 0)
    return 0;
  driver.get_info (&bytes, &total);
  leave ();
  return bytes;
}

void
neighbour_fill (size_t left)
{
  size_t bytes;

  if (enter () != 0)
    return;
  for (bytes = (size_t) 1 << 40; bytes >= LEAST_BLOCK; bytes /= 2) {
    size_t there = 0, total;

    while (n_blocks < MOST_BLOCKS && driver.get_info (&there, &total) == 0 && there >= left + bytes
        && driver.alloc (&blocks[n_blocks], bytes) == 0)
      n_blocks++;
  }
  leave ();
}

void
neighbour_release (void)
{
  if (enter () != 0)
    return;
  while (n_blocks > 0)
    driver.free (blocks[--n_blocks]);
  leave ();
}

int
neighbour_fault (NeighbourContext where)
{
  void *module, *function, *own;
  int code = where == NEIGHBOUR_PRIMARY ? enter ()
      : where == NEIGHBOUR_OWN          ? driver.context_create (&own, 0, device)
                                        : 0;

  if (code != 0 || (code = driver.load (&module, kernel)) != 0
      || (code = driver.get_function (&function, module, "fault")) != 0
      || (code = driver.launch (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)) != 0)
    fprintf (stderr, "the kernel was not launched: error %d\n", code);
  else
    code = driver.synchronize ();
  if (where != NEIGHBOUR_CURRENT)
    leave ();
  return code;
}
