/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every round times a batch of launches of each row, the plain copy among them. Rounds go through the rows in
 * alternating order, so that changes of the clock affect all rows alike. The launches of a batch take turns over so
 * many pairs of frames that a pair has left the device's caches before its next turn.
 */
#define _POSIX_C_SOURCE 200809L

#include "bench/convolve_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench_common.h"
#include "support/random.h"

enum
{
  BATCH = 16, /* the launches between the start and the stop of the clock */
  MIN_PAIRS = 8,
  MAX_PAIRS = 64,
  PAIR_BYTES = 256 << 20, /* the size of all pairs together, several times any L2 cache */
  MAX_ROUNDS = 1000,
  MAX_ROWS = 64
};

static const double cpu_limit_us = 1.5e6; /* a slower frame is measured once */

static const struct
{
  const char *name;
  int width, height;
} sizes[] = {
  { "1080p", 1920, 1080 },
  { "4K", 3840, 2160 },
};

static const int sides[] = { 3, 5, 7, 9, 15, 31 };

enum
{
  N_SIZES = sizeof sizes / sizeof *sizes,
  N_SIDES = sizeof sides / sizeof *sides
};

/* One line of the table. */
typedef struct
{
  const char *name;
  ConvolvePlan *plan;  /* NULL for the plain copy */
  const char *refused; /* printed in place of the numbers */
  char reason[256];
  int rounds;
  double us[MAX_ROUNDS]; /* microseconds per frame */
} Row;

typedef struct
{
  const BenchOptions *options;
  ConvolveDevice *device;
  FILE *csv;
  int width, height, pairs;
  size_t stride;
  unsigned char *source[MAX_PAIRS], *destination[MAX_PAIRS]; /* on the device, or two on the host */
  int turn;
} Bench;

static bool
wants_side (const BenchOptions *options, int side)
{
  return options->side == 0 || options->side == side;
}

static void
make_plan (Row *row, const Bench *bench, int variant, int side)
{
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  ConvolveMask mask;
  ConvolveError error = { .text = "out of memory" };

  memset (row, 0, sizeof *row);
  row->name = convolve_variant_name (variant);
  if (bench_make_mask (&mask, side,
          strcmp (row->name, "separable") == 0 || strcmp (row->name, "fused") == 0 ? BENCH_MASK_RANK_1
                                                                                   : BENCH_MASK_ANY)) {
    row->plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, row->name, bench->device, &error);
    convolve_mask_clear (&mask);
  }
  if (!row->plan) {
    snprintf (row->reason, sizeof row->reason, "%s", error.text);
    row->refused = row->reason;
  }
}

static ConvolvePlane
next_plane (Bench *bench)
{
  int at = bench->turn++ % bench->pairs;

  return (ConvolvePlane){
    .source = bench->source[at],
    .destination = bench->destination[at],
    .source_stride = (ptrdiff_t) bench->stride,
    .destination_stride = (ptrdiff_t) bench->stride,
    .width = bench->width,
    .height = bench->height,
    .region = { 0, 0, bench->width, bench->height },
  };
}

static void
print_row (const Bench *bench, const char *size, int side, Row *row, double copy_us)
{
  const char *name = bench->device ? convolve_device_name (bench->device) : "cpu";
  double middle;

  if (row->refused) {
    printf ("%-6s %2dx%-2d  %-14s %s\n", size, side, side, row->name, row->refused);
    return;
  }
  if (row->rounds == 0)
    return;
  middle = bench_median (row->us, row->rounds);
  printf ("%-6s %2dx%-2d  %-14s %10.1f %10.1f %10.1f %9.1f %8.2f%s\n", size, side, side, row->name, middle, row->us[0],
      row->us[row->rounds - 1], copy_us, middle / copy_us, row->rounds == 1 ? "  (measured once)" : "");
  if (bench->csv)
    fprintf (bench->csv, "\"%s\",%s,%dx%d,%s,%.3f,%.3f,%.3f,%.3f,%.4f\n", name, size, side, side, row->name, middle,
        row->us[0], row->us[row->rounds - 1], copy_us, middle / copy_us);
  fflush (stdout);
}

/* --- device --- */

/* Microseconds of one frame, or -1. */
static double
time_on_device (Bench *bench, const Row *row, ConvolveError *error)
{
  double nanoseconds;

  convolve_device_timer_start (bench->device);
  for (int i = 0; i < BATCH; i++) {
    ConvolvePlane plane = next_plane (bench);
    ConvolveStatus status;

    if (row->plan)
      status = convolve_run (row->plan, &plane, error);
    else
      status = convolve_device_copy (bench->device, plane.destination, plane.source,
          (size_t) bench->width * bench->height, CONVOLVE_COPY_ON_DEVICE, error);
    if (status != CONVOLVE_OK)
      return -1;
  }
  nanoseconds = convolve_device_timer_stop (bench->device);
  return nanoseconds < 0 ? -1 : nanoseconds / 1e3 / BATCH;
}

static bool
open_frames (Bench *bench, ConvolveError *error)
{
  size_t bytes = bench->stride * bench->height;
  unsigned char *image = malloc (bytes);
  CheckRandom random;
  bool done = image != NULL;

  check_random_init (&random, 4, bytes);
  bench->pairs = (int) (PAIR_BYTES / (2 * bytes)) + 1;
  bench->pairs = bench->pairs < MIN_PAIRS ? MIN_PAIRS : bench->pairs > MAX_PAIRS ? MAX_PAIRS : bench->pairs;
  if (image)
    check_random_fill (&random, image, bytes);
  for (int i = 0; i < bench->pairs && done; i++) {
    bench->source[i] = convolve_device_alloc (bench->device, bytes, error);
    bench->destination[i] = bench->source[i] ? convolve_device_alloc (bench->device, bytes, error) : NULL;
    done = bench->destination[i]
        && convolve_device_copy (bench->device, bench->source[i], image, bytes, CONVOLVE_COPY_TO_DEVICE, error)
            == CONVOLVE_OK;
  }
  done = convolve_device_finish (bench->device, done ? error : NULL) == CONVOLVE_OK && done;
  free (image);
  return done;
}

static void
close_frames (Bench *bench)
{
  for (int i = 0; i < MAX_PAIRS; i++) {
    convolve_device_release (bench->device, bench->source[i]);
    convolve_device_release (bench->device, bench->destination[i]);
    bench->source[i] = bench->destination[i] = NULL;
  }
}

static bool
bench_mask_on_device (Bench *bench, const char *size, int side, ConvolveError *error)
{
  static Row rows[MAX_ROWS];
  int n_rows = 1;
  bool done = true;

  memset (&rows[0], 0, sizeof rows[0]);
  rows[0].name = "copy";
  for (int v = 0; v < convolve_variant_count () && n_rows < MAX_ROWS; v++) {
    if (convolve_variant_on_device (v)
        && (!bench->options->variant || strcmp (bench->options->variant, convolve_variant_name (v)) == 0))
      make_plan (&rows[n_rows++], bench, v, side);
  }

  for (int round = -2; round < bench->options->rounds && done; round++) { /* the first two rounds warm up */
    for (int i = 0; i < n_rows && done; i++) {
      Row *row = &rows[round & 1 ? n_rows - 1 - i : i];
      double us = row->refused ? 0 : time_on_device (bench, row, error);

      done = us >= 0;
      if (done && !row->refused && round >= 0)
        row->us[row->rounds++] = us;
    }
  }
  if (done) {
    double copy_us = bench_median (rows[0].us, rows[0].rounds);

    for (int i = 0; i < n_rows; i++)
      print_row (bench, size, side, &rows[i], copy_us);
  }
  for (int i = 1; i < n_rows; i++)
    convolve_plan_unref (rows[i].plan);
  return done;
}

/* --- host --- */

/* Measures on one thread. The copy is memcpy(). */
static double
time_on_host (Bench *bench, const Row *row, ConvolveError *error)
{
  ConvolvePlane plane = next_plane (bench);
  double start = bench_now_us ();

  if (!row->plan)
    memcpy (plane.destination, plane.source, (size_t) bench->width * bench->height);
  else if (convolve_run (row->plan, &plane, error) != CONVOLVE_OK)
    return -1;
  return bench_now_us () - start;
}

static bool
measure_on_host (Bench *bench, Row *row, ConvolveError *error)
{
  double first = time_on_host (bench, row, error);

  if (first < 0)
    return false;
  if (first > cpu_limit_us) {
    row->us[row->rounds++] = first;
    return true;
  }
  while (row->rounds < bench->options->cpu_rounds) {
    double us = time_on_host (bench, row, error);

    if (us < 0)
      return false;
    row->us[row->rounds++] = us;
  }
  return true;
}

static bool
bench_mask_on_host (Bench *bench, const char *size, int side, ConvolveError *error)
{
  static Row copy, row;
  bool done;

  memset (&copy, 0, sizeof copy);
  copy.name = "memcpy";
  done = measure_on_host (bench, &copy, error);
  for (int v = 0; v < convolve_variant_count () && done; v++) {
    if (convolve_variant_on_device (v)
        || (bench->options->variant && strcmp (bench->options->variant, convolve_variant_name (v)) != 0))
      continue;
    make_plan (&row, bench, v, side);
    done = row.refused || measure_on_host (bench, &row, error);
    if (done)
      print_row (bench, size, side, &row, bench_median (copy.us, copy.rounds));
    convolve_plan_unref (row.plan);
  }
  return done;
}

static bool
bench_on_host (Bench *bench, int s, ConvolveError *error)
{
  size_t bytes = bench->stride * bench->height;
  unsigned char *frames = malloc (2 * MIN_PAIRS * bytes);
  CheckRandom random;
  bool done = frames != NULL;

  bench->pairs = MIN_PAIRS;
  check_random_init (&random, 5, bytes);
  if (frames)
    check_random_fill (&random, frames, 2 * MIN_PAIRS * bytes);
  for (int i = 0; i < MIN_PAIRS && done; i++) {
    bench->source[i] = frames + 2 * i * bytes;
    bench->destination[i] = frames + (2 * i + 1) * bytes;
  }
  for (int i = 0; i < N_SIDES && done; i++)
    if (wants_side (bench->options, sides[i]))
      done = bench_mask_on_host (bench, sizes[s].name, sides[i], error);
  memset (bench->source, 0, sizeof bench->source);
  memset (bench->destination, 0, sizeof bench->destination);
  free (frames);
  return done;
}

int
bench_run (const BenchOptions *options, ConvolveDevice *device)
{
  BenchOptions bounded = *options;
  Bench bench = { .options = &bounded };
  ConvolveError error = { .text = "out of memory" };
  bool done = true;

  bounded.rounds = options->rounds < 20 ? 20 : options->rounds > MAX_ROUNDS ? MAX_ROUNDS : options->rounds;
  bounded.cpu_rounds = options->cpu_rounds > MAX_ROUNDS ? MAX_ROUNDS : options->cpu_rounds;
  if (options->csv && !(bench.csv = fopen (options->csv, "w"))) {
    fprintf (stderr, "cannot write %s\n", options->csv);
    return 1;
  }
  if (bench.csv)
    fprintf (bench.csv, "device,size,mask,variant,median_us,min_us,max_us,copy_us,ratio\n");

  printf (
      "One 8-bit plane, random content, replicate boundary; microseconds a frame, beside a plain copy of the\n"
      "same bytes. separable has a pyramid mask (rank 1), all others integers of no order; all results are exact.\n");
  if (device)
    printf ("%s: %d rounds of %d launches.\n", convolve_device_name (device), bounded.rounds, BATCH);
  printf ("\n%-6s %-6s %-14s %10s %10s %10s %9s %8s\n", "size", "mask", "variant", "median", "min", "max", "copy",
      "ratio");

  for (int s = 0; s < N_SIZES && done; s++) {
    bench.width = sizes[s].width;
    bench.height = sizes[s].height;
    bench.stride = (sizes[s].width + 255) / 256 * 256;
    if (device) {
      bench.device = device;
      done = open_frames (&bench, &error);
      for (int i = 0; i < N_SIDES && done; i++)
        if (wants_side (options, sides[i]))
          done = bench_mask_on_device (&bench, sizes[s].name, sides[i], &error);
      close_frames (&bench);
    }
    bench.device = NULL;
    if (done && bounded.cpu_rounds > 0)
      done = bench_on_host (&bench, s, &error);
  }
  if (bench.csv)
    fclose (bench.csv);
  if (!done)
    fprintf (stderr, "the benchmark stopped: %s\n", error.text);
  return !done;
}

/* --- one image --- */

static bool
once_on_device (const ConvolvePlan *plan, ConvolveDevice *device, unsigned char *image, unsigned char *result,
    int width, int height, ConvolveError *error)
{
  ConvolveRows in = { 0, height, width, image, width }, out = { 0, height, width, result, width };
  ConvolveStage stage;
  ConvolvePlane plane;

  if (convolve_device_begin (device, 0, error) != CONVOLVE_OK
      || convolve_device_stage (device, 0, width, height, &stage, error) != CONVOLVE_OK
      || convolve_device_upload (device, 0, &in, error) != CONVOLVE_OK)
    return false;
  plane = (ConvolvePlane){ stage.source, stage.destination, (ptrdiff_t) stage.stride, (ptrdiff_t) stage.stride, width,
    height, { 0, 0, width, height } };
  return convolve_run (plan, &plane, error) == CONVOLVE_OK
      && convolve_device_download (device, 0, &out, error) == CONVOLVE_OK
      && convolve_device_end (device, error) == CONVOLVE_OK
      && convolve_device_wait (device, 0, NULL, error) == CONVOLVE_OK;
}

/* Opens a device only for auto and for a variant that runs on one. */
static bool
wants_device (const char *variant)
{
  for (int v = 0; v < convolve_variant_count (); v++) {
    if (strcmp (convolve_variant_name (v), variant) == 0)
      return convolve_variant_on_device (v);
  }
  return strcmp (variant, "auto") == 0;
}

int
bench_once (const char *variant, int width, int height)
{
  static const double blur[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 };
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  ConvolveMask mask;
  ConvolveError error = { .text = "out of memory" };
  ConvolveDevice *device = NULL;
  ConvolvePlan *plan = NULL;
  size_t bytes = (size_t) width * height;
  unsigned char *image = malloc (bytes), *result = malloc (bytes);
  unsigned long sum = 0;
  CheckRandom random;
  bool done = image && result && convolve_mask_init (&mask, 3, 3);

  if (done) {
    check_random_init (&random, 6, bytes);
    check_random_fill (&random, image, bytes);
    memcpy (mask.taps, blur, sizeof blur);
    mask.divisor = 16;
    if (wants_device (variant))
      device = convolve_device_new (-1, &error);
    plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, variant, device, &error);
    convolve_mask_clear (&mask);
    done = plan != NULL;
  }
  if (done && convolve_plan_on_device (plan)) {
    done = once_on_device (plan, device, image, result, width, height, &error);
  } else if (done) {
    ConvolvePlane plane = { image, result, width, width, width, height, { 0, 0, width, height } };

    done = convolve_run (plan, &plane, &error) == CONVOLVE_OK;
  }
  if (done) {
    for (size_t i = 0; i < bytes; i++)
      sum += result[i];
    printf ("%s: %dx%d, sum of the result %lu\n", convolve_plan_variant (plan), width, height, sum);
  } else {
    fprintf (stderr, "%s: %s\n", variant, error.text);
  }

  convolve_plan_unref (plan);
  convolve_device_free (device);
  free (image);
  free (result);
  return !done;
}
