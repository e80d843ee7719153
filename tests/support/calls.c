/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "support/calls.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef void (*Add) (void *data, const char *function, unsigned long count);

static void (*reset) (void);
static void (*list) (Add add, void *data);

bool
check_calls_open (void)
{
  const char *path = getenv ("CUDA_INJECTION64_PATH");
  void *library = path ? dlopen (path, RTLD_NOW | RTLD_NOLOAD) : NULL;

  if (!library)
    return false;
  reset = (void (*) (void)) dlsym (library, "cuda_calls_reset");
  list = (void (*) (Add, void *)) dlsym (library, "cuda_calls_list");
  return reset && list;
}

void
check_calls_reset (void)
{
  reset ();
}

void
check_calls_list (Add add, void *data)
{
  list (add, data);
}
