/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a frame costs beside its kernels: the second run of a plan calls the CUDA driver for launches, for events and for
 * the context there and back, and nothing else; and it allocates nothing on the host. All device variants of masks and
 * layers are walked, over the pixels that have kernels of their own. Needs a GPU, and the counting library of
 * tests/support/calls.h; exit 77 without them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_common.h"
#include "convolve_device.h"
#include "convolve_layer.h"
#include "support/calls.h"

#define WIDTH 640
#define HEIGHT 480
#define BYTES ((size_t) WIDTH * HEIGHT * 8)

/* --- allocations of this program's own code, and of what is linked to it --- */

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t count, size_t size);
extern void *__libc_realloc (void *memory, size_t size);
extern char __executable_start, etext;

static unsigned long allocations;

static void
note_caller (const void *caller)
{
  if (caller >= (const void *) &__executable_start && caller < (const void *) &etext)
    __atomic_fetch_add (&allocations, 1, __ATOMIC_RELAXED);
}

void *
malloc (size_t size)
{
  note_caller (__builtin_return_address (0));
  return __libc_malloc (size);
}

void *
calloc (size_t count, size_t size)
{
  note_caller (__builtin_return_address (0));
  return __libc_calloc (count, size);
}

void *
realloc (void *memory, size_t size)
{
  note_caller (__builtin_return_address (0));
  return __libc_realloc (memory, size);
}

/* --- calls of the driver --- */

typedef struct
{
  const char *what;
  int failures;
  unsigned long launches;
} Verdict;

static void
judge (void *data, const char *function, unsigned long count)
{
  static const char *const allowed[] = { "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent", "cuMemcpy",
    "cuCtxPushCurrent", "cuCtxPopCurrent", "cuCtxGetCurrent" };
  Verdict *verdict = data;

  if (strncmp (function, "cuLaunchKernel", 14) == 0)
    verdict->launches += count;
  for (size_t i = 0; i < sizeof (allowed) / sizeof (allowed[0]); i++)
    if (strncmp (function, allowed[i], strlen (allowed[i])) == 0 && !strstr (function, "cuMemcpyHtoD_v2"))
      return;
  if (count == 0)
    return;
  printf ("%s: %lu calls of %s\n", verdict->what, count, function);
  verdict->failures++;
}

static int
finish (const char *what)
{
  const unsigned long allocated = allocations;
  Verdict verdict = { what, 0, 0 };

  check_calls_list (judge, &verdict);
  if (allocated > 0) {
    printf ("%s: %lu allocations on the host\n", what, allocated);
    verdict.failures++;
  }
  if (verdict.launches == 0) {
    printf ("%s: no launch was counted\n", what);
    verdict.failures++;
  }
  return verdict.failures;
}

static void
start (void)
{
  check_calls_reset ();
  allocations = 0;
}

/* --- masks --- */

typedef struct
{
  const char *name;
  ConvolvePixel pixel;
} Format;

static const Format formats[] = {
  { "GRAY8", { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 } },
  { "UV", { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 2, .stride = 2, .select = 3 } },
  { "RGB", { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 3, .stride = 3, .select = 7 } },
  { "RGBA", { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 4, .stride = 4, .select = 7 } },
  { "GRAY16", { .type = CONVOLVE_SAMPLE_U16, .depth = 16, .samples = 1, .stride = 2, .select = 1 } },
  { "UV of P010", { .type = CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .samples = 2, .stride = 4, .select = 3 } },
};

/* Masks that each variant can do at least one of. */
static const struct
{
  const char *name;
  int side;
  BenchMask kind;
  bool equal;
} masks[] = {
  { "integers 5x5", 5, BENCH_MASK_ANY, false }, { "pyramid 7x7", 7, BENCH_MASK_RANK_1, false },
  { "gaussian 9x9", 9, BENCH_MASK_GAUSSIAN, false }, { "gaussian 31x31", 31, BENCH_MASK_GAUSSIAN, false },
  { "low rank 21x21", 21, BENCH_MASK_LOW_RANK, false }, { "box 101x101", 101, BENCH_MASK_ANY, true },
  { "gaussian, sigma 60", 0, BENCH_MASK_GAUSSIAN, false }, /* without weights */
};

static bool
make_mask (ConvolveMask *mask, size_t m)
{
  if (masks[m].side == 0)
    return convolve_mask_init_gaussian (mask, 60, 60);
  if (!bench_make_mask (mask, masks[m].side, masks[m].kind))
    return false;
  for (int k = 0; masks[m].equal && k < mask->width * mask->height; k++)
    mask->taps[k] = 1;
  if (masks[m].equal)
    mask->divisor = mask->width * mask->height;
  return true;
}

/* Returns whether the variant did the mask. */
static bool
check_mask (ConvolveDevice *device, void *memory, const char *variant, const Format *format, size_t m, int *failures)
{
  const ConvolvePixel *pixel = &format->pixel;
  const ptrdiff_t stride = (ptrdiff_t) WIDTH * pixel->stride;
  const ConvolvePlane plane = { memory, (char *) memory + BYTES, stride, stride, WIDTH, HEIGHT,
    { 0, 0, WIDTH, HEIGHT } };
  ConvolveMask mask;
  ConvolveError error;
  char what[200];

  snprintf (what, sizeof (what), "%s, %s, %s", variant, format->name, masks[m].name);
  if (!make_mask (&mask, m)) {
    *failures += 1;
    return false;
  }
  ConvolvePlan *plan = convolve_plan_new (pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, variant, device, &error);

  convolve_mask_clear (&mask);
  if (!plan && error.status == CONVOLVE_UNSUPPORTED)
    return false;
  if (!plan || convolve_run (plan, &plane, &error) != CONVOLVE_OK) {
    printf ("%s: %s\n", what, error.text);
    *failures += 1;
    convolve_plan_unref (plan);
    return false;
  }
  convolve_device_finish (device, NULL);
  start ();
  convolve_run (plan, &plane, &error);
  *failures += finish (what);
  convolve_device_finish (device, NULL);
  convolve_plan_unref (plan);
  return true;
}

static int
check_masks (ConvolveDevice *device, void *memory)
{
  int failures = 0;

  for (int v = 0; v < convolve_variant_count (); v++) {
    int done = 0;

    if (!convolve_variant_on_device (v))
      continue;
    for (size_t f = 0; f < sizeof (formats) / sizeof (formats[0]); f++)
      for (size_t m = 0; m < sizeof (masks) / sizeof (masks[0]); m++)
        done += check_mask (device, memory, convolve_variant_name (v), &formats[f], m, &failures);
    printf ("%-16s %d masks\n", convolve_variant_name (v), done);
    failures += done == 0;
  }
  return failures;
}

/* --- layers --- */

/* Samples of the type that the variant takes. One that needs another GPU takes none, and is no failure. */
static int
check_layer (ConvolveDevice *device, void *memory, const char *variant)
{
  enum
  {
    FILTERS = 8,
    CHANNELS = 3,
    SIDE = 3
  };
  static float weights[FILTERS * CHANNELS * SIDE * SIDE];
  ConvolveLayer layer;
  ConvolveLayerTask task;
  ConvolveError error;
  int failures = 0;

  for (size_t i = 0; i < sizeof (weights) / sizeof (weights[0]); i++)
    weights[i] = (float) (i % 7) / 8 - 0.25f;
  convolve_layer_init (&layer, FILTERS, CHANNELS, SIDE, SIDE, weights);
  ConvolveLayerPlan *plan = convolve_layer_plan_new (&layer, variant, device, &error);

  if (!plan && error.status == CONVOLVE_UNSUPPORTED) {
    layer.type = CONVOLVE_LAYER_FLOAT16;
    plan = convolve_layer_plan_new (&layer, variant, device, &error);
  }
  if (!plan) {
    printf ("layer %s: %s\n", variant, error.text);
    return error.status != CONVOLVE_UNSUPPORTED;
  }
  memset (&task, 0, sizeof (task));
  task.source = convolve_layer_nchw (layer.type, memory, CHANNELS, 64, 64);
  task.destination = convolve_layer_nchw (layer.type, (char *) memory + BYTES, FILTERS, 62, 62);
  task.batch = 1;
  task.height = task.width = 64;
  if (convolve_layer_run (plan, &task, &error) != CONVOLVE_OK) {
    printf ("layer %s: %s\n", variant, error.text);
    failures = 1;
  } else {
    char what[100];

    snprintf (what, sizeof (what), "layer %s", variant);
    convolve_device_finish (device, NULL);
    start ();
    convolve_layer_run (plan, &task, &error);
    failures = finish (what);
    convolve_device_finish (device, NULL);
    printf ("layer %-16s\n", variant);
  }
  convolve_layer_plan_unref (plan);
  return failures;
}

int
main (void)
{
  ConvolveError error;
  ConvolveDevice *device = convolve_device_new (-1, &error);
  int failures = 0;

  setvbuf (stdout, NULL, _IOLBF, 4096);
  if (!device) {
    printf ("SKIP: %s\n", error.text);
    return error.status == CONVOLVE_NO_DEVICE ? 77 : 1;
  }
  if (!check_calls_open ()) {
    printf ("SKIP: nothing to count CUDA's calls with\n");
    convolve_device_free (device);
    return 77;
  }
  void *memory = convolve_device_alloc (device, 2 * BYTES, &error);

  if (!memory)
    return 1;
  failures += check_masks (device, memory);
  for (int v = 0; v < convolve_layer_variant_count (); v++)
    if (convolve_layer_variant_on_device (v))
      failures += check_layer (device, memory, convolve_layer_variant_name (v));
  convolve_device_release (device, memory);
  convolve_device_free (device);
  printf ("%d failures\n", failures);
  return failures ? 1 : 0;
}
