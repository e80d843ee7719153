/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of the convolution layer: every variant against the definition (support/oracle_layer.h) over random layers,
 * layouts and sizes, then sizes and errors. A case is made from a seed and a number alone. usage() lists the options.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/check_layer_api.h"
#include "kernels/check_layer_case.h"
#include "kernels/check_pointwise.h"
#include "kernels/check_wgmma.h"
#include "support/cases.h"
#include "support/names.h"
#include "support/oracle_layer.h"

enum
{
  SKIPPED = 77,
  MAX_FAILURES = 10
};

static ConvolvePool *pool; /* every third plan on the host uses these threads */
static bool tight;         /* device memory has the bytes of the tensors alone */

/* A copy of a block of bytes in device memory, or where the run is tight, of the bytes from first to end alone. */
typedef struct
{
  unsigned char *bytes;
  size_t first, size;
} Copy;

typedef struct
{
  const char *variant;
  ConvolveDevice *device;
  long cases, refused, failed;
  double worst[CONVOLVE_N_LAYER_TYPES]; /* the largest error of each type, as judge() measures errors */
} Row;

/* Leaves out what no sample needs behind the last sample, and in front of the first one unless the address is to be odd. */
static void
trim (Copy *copy, const CheckLayerCase *test, const CheckLayerMemory *memory, int channels, int height, int width,
    bool odd)
{
  size_t first, end;

  check_layer_extent (test, memory, channels, height, width, &first, &end);
  copy->first = odd ? 0 : first;
  copy->size = end - copy->first;
}

static bool
put (Copy *copy, ConvolveDevice *device, const unsigned char *bytes, ConvolveError *error)
{
  copy->bytes = convolve_device_alloc (device, copy->size, error);
  return copy->bytes
      && convolve_device_copy (device, copy->bytes, bytes + copy->first, copy->size, CONVOLVE_COPY_TO_DEVICE, error)
      == CONVOLVE_OK;
}

/*
 * Runs the case on the row's device or on the host. False after an error, which is printed unless the variant
 * refused.
 */
static bool
run_case (Row *row, const CheckLayerCase *test, unsigned char *result)
{
  ConvolveLayerTask task = { .batch = test->batch,
    .height = test->height,
    .width = test->width,
    .first_row = test->first_row,
    .end_row = test->end_row,
    .filled = test->filled,
    .fill = test->fill };
  ConvolveError error = { 0 };
  ConvolveLayerPlan *plan = convolve_layer_plan_new (&test->layer, row->variant, row->device, &error);
  ConvolveDevice *device = plan && convolve_layer_plan_on_device (plan) ? row->device : NULL;
  const ConvolveLayer *layer = &test->layer;
  Copy from = { test->source.bytes, 0, test->source.size }, to = { result, 0, test->destination.size };
  bool done = plan != NULL;

  memset (result, CHECK_LAYER_CANARY, test->destination.size);
  if (plan && !device && row->cases % 3 == 0)
    convolve_layer_plan_set_pool (plan, pool);
  if (device) {
    from.bytes = to.bytes = NULL;
    if (tight) {
      trim (&from, test, &test->source, layer->channels, test->height, test->width, row->cases % 2);
      trim (&to, test, &test->destination, convolve_layer_outputs (layer) + test->filled, test->out_height,
          test->out_width, row->cases % 2);
    }
    done = put (&from, device, test->source.bytes, &error) && put (&to, device, result, &error);
  }
  task.source = check_layer_place (&test->source, from.bytes - from.first);
  task.destination = check_layer_place (&test->destination, to.bytes - to.first);
  done = done && convolve_layer_run (plan, &task, &error) == CONVOLVE_OK;
  if (device) {
    done = done
        && convolve_device_copy (device, result + to.first, to.bytes, to.size, CONVOLVE_COPY_TO_HOST, &error)
            == CONVOLVE_OK;
    done = convolve_device_finish (device, done ? &error : NULL) == CONVOLVE_OK && done;
    convolve_device_release (device, from.bytes);
    convolve_device_release (device, to.bytes);
  }
  convolve_layer_plan_unref (plan);
  if (!done && error.status == CONVOLVE_UNSUPPORTED) {
    row->refused++;
  } else if (!done) {
    printf ("FAILED: %s\n", error.text);
    check_layer_case_print (test, row->variant);
    row->failed++;
  }
  return done;
}

/*
 * The error of a sample as a fraction of what convolve_layer.h allows; for 8 bits the distance in code values, of which
 * 1 is allowed. magnitude is M and slack is e * N of that promise. Values near the end of float16's range, 65504, may
 * become infinite and are not judged.
 */
static double
judge (const CheckLayerCase *test, double exact, double magnitude, double slack, const unsigned char *at)
{
  const ConvolveLayer *layer = &test->layer;
  double value = check_layer_read (layer, at), code;

  switch (layer->type) {
    case CONVOLVE_LAYER_FLOAT32:
      return fabs (value - exact) / (1e-5 * magnitude + slack + 1e-37);
    case CONVOLVE_LAYER_FLOAT16:
      return fabs (exact) > 65000 ? 0 : fabs (value - exact) / (2e-3 * magnitude + slack + ldexp (1, -24));
    case CONVOLVE_LAYER_U8:
      code = exact * layer->out_scale + layer->out_offset;
      code = code < 0 ? 0 : code > 255 ? 255 : floor (code + 0.5);
      return fabs (*at - code);
    case CONVOLVE_N_LAYER_TYPES:
      break;
  }
  abort ();
}

/*
 * Compares all samples of the result with the oracle. Each sample is overwritten with the canary byte after its
 * comparison, so that at the end all bytes must be canaries. False after a failure, which is printed.
 */
static bool
compare (Row *row, const CheckLayerCase *test, unsigned char *result)
{
  const ConvolveLayer *layer = &test->layer;
  int outputs = convolve_layer_outputs (layer), end = test->end_row ? test->end_row : test->out_height;
  int size = check_layer_sample_size (layer->type);
  /* The exponent of e in the promise: these two variants mix an output with its neighbours. */
  bool mixes = strcmp (row->variant, "winograd") == 0 || strcmp (row->variant, "fft") == 0;
  OracleLayer oracle = check_layer_oracle (layer, test->height, test->width);

  for (int b = 0; b < test->batch; b++)
    for (int n = 0; n < outputs + test->filled; n++) {
      int k = layer->first_filter + n;
      double slack = n < outputs ? ldexp (check_layer_slack (test, b, k), mixes ? -19 : -36) : 0;

      if (n < outputs)
        check_layer_oracle_filter (&oracle, test, b, k);
      for (int y = test->first_row; y < end; y++)
        for (int x = 0; x < test->out_width; x++) {
          unsigned char *at = result + check_layer_offset (&test->destination.tensor, b, n, y, x);
          double magnitude, exact, off;

          if (n < outputs) {
            exact = oracle_layer (&oracle, y, x, &magnitude);
            off = judge (test, exact, magnitude, slack, at);
          } else {
            exact = test->fill;
            off = layer->type == CONVOLVE_LAYER_U8      ? fabs (*at - exact) * 2
                : check_layer_read (layer, at) == exact ? 0
                                                        : 2;
          }
          if (!(off <= 1)) {
            printf ("FAILED: image %d, filter %d, row %d, column %d is %.9g, %.3g times what is allowed from %.9g\n", b,
                n, y, x, layer->type == CONVOLVE_LAYER_U8 ? *at : check_layer_read (layer, at), off, exact);
            check_layer_case_print (test, row->variant);
            row->failed++;
            return false;
          }
          row->worst[layer->type] = fmax (row->worst[layer->type], off);
          memset (at, CHECK_LAYER_CANARY, size);
        }
    }
  for (size_t i = 0; i < test->destination.size; i++)
    if (result[i] != CHECK_LAYER_CANARY) {
      printf ("FAILED: byte %zu belongs to no output and was written\n", i);
      check_layer_case_print (test, row->variant);
      row->failed++;
      return false;
    }
  return true;
}

/* Runs one case on one row. False where the case failed. */
static bool
check_case (Row *row, uint64_t seed, uint64_t number, long budget)
{
  CheckLayerCase test;
  unsigned char *result = NULL;
  bool passed = false;

  if (!check_layer_case_random (&test, seed, number, budget) || !(result = malloc (test.destination.size))) {
    printf ("FAILED: out of memory\n");
    row->failed++;
  } else {
    long failed = row->failed;

    row->cases++;
    passed = run_case (row, &test, result) ? compare (row, &test, result) : row->failed == failed;
  }
  if (!passed)
    printf ("  case %" PRIu64 " of seed %" PRIu64 "; to see it again:\n"
            "  check_layer %s%s --variant %s --seed %" PRIu64 " --case %" PRIu64 "\n",
        number, seed, row->device ? "--device" : "--host", tight ? " --tight" : "", row->variant, seed, number);
  free (result);
  check_layer_case_clear (&test);
  return passed;
}

static int
usage (void)
{
  fprintf (stderr,
      "check_layer [options]: checks every variant of the layer against the definition\n"
      "  --host, --device   only the variants of this kind; --device exits 77 where there is none\n"
      "  --variant NAME     only this variant; auto is one too\n"
      "  --cases N          random cases: 5000, or 20000 where CUDACONVOLVE_ALL_CASES is set\n"
      "  --taken N          random cases until N of them were not refused, instead of --cases\n"
      "  --budget N         products of the largest case, 400000\n"
      "  --seed S           seed of the random cases; the clock gives one where this is left out\n"
      "  --case I           only case I of the seed, on every variant\n"
      "  --list             prints the variants\n"
      "  --tight            device memory of exactly the tensors' bytes: for compute-sanitizer\n");
  return 2;
}

static int
list_variants (void)
{
  for (int v = 0; v < convolve_layer_variant_count (); v++)
    printf ("%-16s %s\n", convolve_layer_variant_name (v), convolve_layer_variant_on_device (v) ? "device" : "host");
  return 0;
}

/* The rows to check, to be freed: every variant that is asked for, and auto with and without a device. */
static Row *
make_rows (bool host, ConvolveDevice *device, const char *variant, int *count)
{
  Row *rows = calloc (convolve_layer_variant_count () + 2, sizeof *rows);
  int n = 0, kept = 0;

  if (!rows)
    abort ();
  for (int v = 0; v < convolve_layer_variant_count (); v++)
    if (convolve_layer_variant_on_device (v) ? device != NULL : host)
      rows[n++] = (Row){ .variant = convolve_layer_variant_name (v),
        .device = convolve_layer_variant_on_device (v) ? device : NULL };
  if (host)
    rows[n++] = (Row){ .variant = "auto" };
  if (device)
    rows[n++] = (Row){ .variant = "auto", .device = device };
  for (int i = 0; i < n; i++)
    if (!variant || strcmp (rows[i].variant, variant) == 0)
      rows[kept++] = rows[i];
  *count = kept;
  return rows;
}

/* Whether another random case is to be run. */
static bool
goes_on (const Row *rows, int n_rows, long made, long cases, long taken)
{
  long count = 0;

  for (int i = 0; i < n_rows; i++)
    count += rows[i].cases - rows[i].refused;
  return taken > 0 ? count < taken : made < cases;
}

int
main (int argc, char **argv)
{
  Row *rows;
  struct timespec now;
  ConvolveDevice *device = NULL;
  ConvolveError error = { 0 };
  bool host = true, on_device = true;
  const char *variant = NULL;
  long cases = check_cases (5000, 20000), taken = 0, only = -1, budget = 400000, made = 0;
  int n_rows, failures = 0;
  uint64_t seed;

  clock_gettime (CLOCK_REALTIME, &now);
  seed = (uint64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;

    if (strcmp (argv[i], "--host") == 0)
      on_device = false;
    else if (strcmp (argv[i], "--device") == 0)
      host = false;
    else if (strcmp (argv[i], "--tight") == 0)
      tight = true;
    else if (strcmp (argv[i], "--list") == 0)
      return list_variants ();
    else if (!value)
      return usage ();
    else if (strcmp (argv[i], "--variant") == 0)
      variant = value, i++;
    else if (strcmp (argv[i], "--cases") == 0)
      cases = strtol (value, NULL, 10), i++;
    else if (strcmp (argv[i], "--taken") == 0)
      taken = strtol (value, NULL, 10), i++;
    else if (strcmp (argv[i], "--case") == 0)
      only = strtol (value, NULL, 10), i++;
    else if (strcmp (argv[i], "--budget") == 0)
      budget = strtol (value, NULL, 10), i++;
    else if (strcmp (argv[i], "--seed") == 0)
      seed = strtoull (value, NULL, 10), i++;
    else
      return usage ();
  }
  if (on_device) {
    device = convolve_device_new (-1, &error);
    printf (device ? "device: %s\n" : "SKIP: CUDA variants: %s\n", device ? convolve_device_name (device) : error.text);
    if (!device && !host)
      return SKIPPED;
  }
  rows = make_rows (host, device, variant, &n_rows);
  if (n_rows == 0) {
    fprintf (stderr, "there is no variant '%s'\n", variant);
    free (rows);
    return usage ();
  }
  pool = convolve_pool_new (3, &error);
  printf ("seed %" PRIu64 ", %ld cases%s%s\n", seed, taken > 0 ? taken : cases,
      taken > 0 ? " that are not refused" : "", pool ? "" : ", without threads");
  fflush (stdout);
  if (only >= 0) {
    for (int i = 0; i < n_rows; i++)
      failures += !check_case (&rows[i], seed, only, budget);
  } else {
    if (!variant && !tight)
      failures += check_layer_api () + check_pointwise (seed) + check_wgmma (seed);
    for (; goes_on (rows, n_rows, made, cases, taken) && failures < MAX_FAILURES; made++)
      failures += !check_case (&rows[made % n_rows], seed, made, budget);
    printf ("\n%-20s %8s %8s %8s  largest error, of what is allowed\n", "variant", "cases", "refused", "failed");
    for (int i = 0; i < n_rows; i++) {
      printf ("%-20s %8ld %8ld %8ld ", rows[i].variant, rows[i].cases, rows[i].refused, rows[i].failed);
      for (int type = 0; type < CONVOLVE_N_LAYER_TYPES; type++)
        printf (" %s %.3f", check_layer_type_name (type), rows[i].worst[type]);
      printf ("\n");
    }
    printf ("%ld random cases, %d failures\n", made, failures);
  }
  free (rows);
  convolve_pool_free (pool);
  convolve_device_free (device);
  return failures > 0;
}
