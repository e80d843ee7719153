/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* That libcuda.c lets the n-th call fail, and changes nothing about the others: over real.c, so that no GPU is
 * needed. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element/cuda/failing.h"

static int failures;

#define EXPECT(condition) \
  do { \
    if (!(condition)) { \
      fprintf (stderr, "line %d: %s\n", __LINE__, #condition); \
      failures++; \
    } \
  } while (0)

typedef int (*Many) (int a, long b, double c, void *d, float e, long f, long g, long h, double i, long *result);

static int (*proc) (const char *name, void **function, int version, uint64_t flags, int *found);
static void (*begin) (int n, int kind);
static int (*count) (void);
static const char *(*name_of) (void);
static void (*pause_calls) (int pause);
static int (*held) (char *text, size_t size);

static void *
find (const char *name)
{
  void *function = NULL;
  int found = 7;

  EXPECT (proc (name, &function, 12000, 0, &found) == 0 && function && found == 0);
  return function;
}

static long
call_many (Many many, int *code)
{
  long result = 0;

  *code = many (1, 2, 3, &result, 5, 6, 7, 8, 9, &result);
  return result;
}

/* GStreamer looks functions up by their names; one that the real library lacks answers "not found". */
static void
check_named (void *library)
{
  int (*alloc) (void **, size_t) = (int (*) (void **, size_t)) dlsym (library, "cuMemAlloc_v2");
  int (*release) (void *) = (int (*) (void *)) dlsym (library, "cuMemFree_v2");
  int (*missing) (void *) = (int (*) (void *)) dlsym (library, "cuStreamSynchronize");
  int (*pop) (void *) = (int (*) (void *)) dlsym (library, "cuCtxPopCurrent_v2");
  void *memory = NULL;
  char text[200];

  EXPECT (alloc && release && missing && pop);
  if (!alloc || !release || !missing || !pop)
    return;
  begin (2, FAILING_MEMORY);
  EXPECT (alloc (&memory, 10) == 0 && memory && held (text, sizeof (text)) == 1);
  EXPECT (alloc (&memory, 10) == 2 && held (text, sizeof (text)) == 1);
  EXPECT (name_of () && strcmp (name_of (), "cuMemAlloc_v2") == 0);
  pause_calls (1);
  EXPECT (release (memory) == 0 && held (text, sizeof (text)) == 0);
  pause_calls (0);
  EXPECT (count () == 2);
  EXPECT (missing (NULL) == 500);

  /* A call that waits is made, and its answer replaced; the return to the context before never fails. */
  begin (1, FAILING_ONCE);
  EXPECT (pop (NULL) == 0 && count () == 0);
  begin (1, FAILING_LASTING);
  EXPECT (pop (NULL) == 0 && count () == 0);
}

int
main (void)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW), *memory = NULL, *function;
  int (*alloc) (void **, size_t), (*release) (void *), code = 0;
  const void *table = NULL;
  char text[200];
  Many many;

  if (!library) {
    fprintf (stderr, "%s\n", dlerror ());
    return 1;
  }
  proc = (int (*) (const char *, void **, int, uint64_t, int *)) dlsym (library, "cuGetProcAddress_v2");
  begin = (void (*) (int, int)) dlsym (library, "failing_begin");
  count = (int (*) (void)) dlsym (library, "failing_count");
  name_of = (const char *(*) (void) ) dlsym (library, "failing_name");
  held = (int (*) (char *, size_t)) dlsym (library, "failing_held");
  pause_calls = (void (*) (int)) dlsym (library, "failing_pause");
  many = (Many) find ("cuManyArguments");
  alloc = (int (*) (void **, size_t)) find ("cuMemAlloc");
  release = (int (*) (void *)) find ("cuMemFree");
  EXPECT (find ("cuMemAlloc") == (void *) alloc);
  EXPECT (find ("cuGetProcAddress") == (void *) proc);
  EXPECT (proc ("cuNothing", &function, 12000, 0, NULL) == 500 && !function);
  EXPECT (((int (*) (const void **, const void *)) find ("cuGetExportTable")) (&table, &code) == 0 && table == &code);

  /* Nothing fails. */
  begin (0, 0);
  EXPECT (call_many (many, &code) == 987651321 && code == 0);
  EXPECT (alloc (&memory, 10) == 0 && memory && held (text, sizeof (text)) == 1);
  EXPECT (release (memory) == 0 && held (text, sizeof (text)) == 0);
  EXPECT (count () == 3 && !name_of ());

  /* The n-th call fails, and no other. */
  for (int n = 1; n <= 10; n++) {
    begin (n, n % 2 ? FAILING_MEMORY : FAILING_ONCE);
    for (int i = 1; i <= 10; i++) {
      long result = call_many (many, &code);

      EXPECT (i == n ? code == (n % 2 ? 2 : 1) && result == 0 : code == 0 && result == 987651321);
    }
    EXPECT (count () == 10 && name_of () && strcmp (name_of (), "cuManyArguments") == 0);
  }

  /* An allocation that failed does not count as held. After a lasting error all calls fail, until the next test. */
  begin (2, FAILING_LASTING);
  EXPECT (alloc (&memory, 10) == 0);
  EXPECT (alloc (&function, 10) == 700 && held (text, sizeof (text)) == 1);
  EXPECT (call_many (many, &code) == 0 && code == 700);
  /* A free whose answer is an error frees the memory all the same. */
  EXPECT (release (memory) == 700 && held (text, sizeof (text)) == 0);
  begin (0, 0);
  EXPECT (call_many (many, &code) == 987651321 && code == 0);
  check_named (library);
  printf ("%d failures\n", failures);
  return failures > 0;
}
