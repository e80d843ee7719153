/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A driver of a handful of functions behind libcuda.c, which shows that the trampolines change nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

int cuInit (unsigned flags);
int cuDriverGetVersion (int *version);
int cuMemAlloc_v2 (void **memory, size_t bytes);
int cuMemFree_v2 (void *memory);
int cuCtxPopCurrent_v2 (void **context);
int cuManyArguments (int a, long b, double c, void *d, float e, long f, long g, long h, double i, long *result);
int cuGetExportTable (const void **table, const void *id);
int cuGetProcAddress_v2 (const char *name, void **function, int version, uint64_t flags, int *found);

#pragma GCC visibility pop

int
cuInit (unsigned flags)
{
  return flags == 0 ? 0 : 1;
}

int
cuDriverGetVersion (int *version)
{
  *version = 13000;
  return 0;
}

int
cuMemAlloc_v2 (void **memory, size_t bytes)
{
  *memory = malloc (bytes);
  return 0;
}

int
cuMemFree_v2 (void *memory)
{
  free (memory);
  return 0;
}

int
cuCtxPopCurrent_v2 (void **context)
{
  return 0;
}

/* Six arguments in registers, the others on the stack, and three of floating point. */
int
cuManyArguments (int a, long b, double c, void *d, float e, long f, long g, long h, double i, long *result)
{
  *result = a + 10 * b + 100 * (long) c + 1000 * (d != NULL) + 10000 * (long) e + 100000 * f + 1000000 * g
      + 10000000 * h + 100000000 * (long) i;
  return 0;
}

int
cuGetExportTable (const void **table, const void *id)
{
  *table = id;
  return 0;
}

int
cuGetProcAddress_v2 (const char *name, void **function, int version, uint64_t flags, int *found)
{
  *function = strcmp (name, "cuInit") == 0     ? (void *) cuInit
      : strcmp (name, "cuMemAlloc") == 0       ? (void *) cuMemAlloc_v2
      : strcmp (name, "cuMemFree") == 0        ? (void *) cuMemFree_v2
      : strcmp (name, "cuManyArguments") == 0  ? (void *) cuManyArguments
      : strcmp (name, "cuGetProcAddress") == 0 ? (void *) cuGetProcAddress_v2
      : strcmp (name, "cuGetExportTable") == 0 ? (void *) cuGetExportTable
                                               : NULL;
  if (found)
    *found = *function == NULL;
  return *function ? 0 : 500;
}
