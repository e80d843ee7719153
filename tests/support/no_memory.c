/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/no_memory.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static atomic_bool counting, came;
static atomic_int count, chosen;

void
no_memory_begin (int n)
{
  count = 0;
  chosen = n;
  came = false;
  counting = true;
}

void
no_memory_end (void)
{
  counting = false;
}

void
no_memory_pause (void)
{
  counting = false;
}

void
no_memory_resume (void)
{
  counting = true;
}

int
no_memory_count (void)
{
  return count;
}

int
no_memory_came (void)
{
  return came;
}

static bool
fails (void)
{
  if (!counting || atomic_fetch_add (&count, 1) + 1 != chosen)
    return false;
  came = true;
  errno = ENOMEM;
  return true;
}

/* From version 2.47 on, GNU's linker refuses hidden functions of these names where a library calls the function. */
#define VISIBLE __attribute__ ((visibility ("default")))

/* The linker gives the real functions these names. */
#define WRAP(type, name, parameters, arguments) \
  type __real_##name parameters; \
  VISIBLE type __wrap_##name parameters; \
  type __wrap_##name parameters \
  { \
    return fails () ? NULL : __real_##name arguments; \
  }

WRAP (void *, malloc, (size_t size), (size))
WRAP (void *, calloc, (size_t n, size_t size), (n, size))
WRAP (void *, realloc, (void *memory, size_t size), (memory, size))
WRAP (void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
WRAP (gpointer, g_try_malloc, (gsize size), (size))
WRAP (gpointer, g_try_malloc_n, (gsize n, gsize size), (n, size))

int __real_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *), void *data);
VISIBLE int __wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *),
    void *data);

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *), void *data)
{
  return fails () ? EAGAIN : __real_pthread_create (thread, attributes, start, data);
}
