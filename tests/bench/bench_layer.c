/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What convolution layers cost on a device: every variant and auto, over the cases that bench_layer_peers.cu times
 * with cuDNN. Tensors take turns over so many pairs that a pair has left the caches before its next turn.
 */
#include "bench/bench_layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_common.h"
#include "bench/bench_layer_cases.h"
#include "support/random.h"
#include "convolve_layer.h"

enum
{
  SKIPPED = 77,
  MAX_PAIRS = 64
};

static const double limit_us = 60000; /* a slower layer is timed once */

/*
 * Layers over frames of 3840x2160 pixels, from source_bytes a pixel to destination_bytes a pixel. Samples without a
 * feature map are filled.
 */
static const struct
{
  const char *name;
  int channels, filters, kernel, stride, source_bytes, destination_bytes, mosaic;
} frames[] = {
  { "RGBx, colour matrix", 3, 3, 1, 1, 4, 4, 0 },
  { "RGBx, 3x3", 3, 3, 3, 1, 4, 4, 0 },
  { "RGBx, 5x5", 3, 3, 5, 1, 4, 4, 0 },
  { "RGBx, 7x7", 3, 3, 7, 1, 4, 4, 0 },
  { "RGB, 5x5", 3, 3, 5, 1, 3, 3, 0 },
  { "GRAY8, 5x5", 1, 1, 5, 1, 1, 1, 0 },
  { "RGBx, 5x5, to half the size", 3, 3, 5, 2, 4, 4, 0 },
  { "RGBx to 64 maps of 480x270, 7x7", 3, 64, 7, 8, 4, 1, 8 },
};

typedef struct
{
  ConvolveDevice *device;
  ConvolveLayer layer;
  ConvolveLayerTask tasks[MAX_PAIRS];
  int pairs, turn;
} Bench;

/* Numbers of -1 .. 1 in the layer's type, the same in every run. */
static void
fill_random (void *samples, size_t count, ConvolveLayerType type)
{
  CheckRandom random;

  check_random_init (&random, 7, count);
  for (size_t i = 0; i < count; i += 2) {
    uint64_t bits = check_random_next (&random);

    for (size_t n = i; n < i + 2 && n < count; n++, bits >>= 32) {
      if (type == CONVOLVE_LAYER_FLOAT32)
        ((float *) samples)[n] = (float) (bits & 0xffffff) / 8388608 - 1;
      else if (type == CONVOLVE_LAYER_FLOAT16)
        ((uint16_t *) samples)[n] = (uint16_t) ((bits & 0x83ff) | (8 + (bits >> 16 & 7)) % 15 << 10);
      else
        ((uint8_t *) samples)[n] = (uint8_t) bits;
    }
  }
}

/* Microseconds per run over count runs; -1 after an error. */
static double
time_runs (Bench *bench, const ConvolveLayerPlan *plan, int count)
{
  double nanoseconds;

  convolve_device_timer_start (bench->device);
  for (int i = 0; i < count; i++)
    if (convolve_layer_run (plan, &bench->tasks[bench->turn++ % bench->pairs], NULL) != CONVOLVE_OK)
      return -1;
  nanoseconds = convolve_device_timer_stop (bench->device);
  return nanoseconds < 0 ? -1 : nanoseconds / 1e3 / count;
}

/* Prints a line; false after a failure of the device. */
static bool
time_variant (Bench *bench, const BenchLayerCase *test, const char *variant, FILE *csv)
{
  ConvolveError error = { 0 };
  ConvolveLayerPlan *plan = convolve_layer_plan_new (&bench->layer, variant, bench->device, &error);
  const int out = test->side / test->stride;
  double us[BENCH_LAYER_ROUNDS], median = -1;
  double products = (double) out * out * test->batch * test->filters * test->channels * test->kernel * test->kernel;
  int rounds = 0;

  if (plan) {
    median = time_runs (bench, plan, 1);
    if (median >= 0)
      median = time_runs (bench, plan, 1);
    for (int count = median > 0 && median < limit_us ? (int) (BENCH_LAYER_US / median) + 1 : 0;
         rounds < BENCH_LAYER_ROUNDS && count > 0; rounds++)
      if ((us[rounds] = time_runs (bench, plan, count)) < 0)
        break;
    median = rounds > 0 ? bench_median (us, rounds) : median;
  }
  printf ("C %2d K %2d %dx%d stride %d, %2d of %4d, %s  %-10s ", test->channels, test->filters, test->kernel,
      test->kernel, test->stride, test->batch, test->side,
      bench->layer.type == CONVOLVE_LAYER_FLOAT32 ? "float32" : "float16", variant);
  if (median < 0)
    printf ("%s\n", plan ? "failed" : error.text);
  else
    printf ("%10.1f us %7.2f T products/s  %s\n", median, products / median / 1e6,
        strcmp (variant, "auto") == 0 ? convolve_layer_plan_variant (plan) : "");
  fflush (stdout);
  if (csv && median >= 0)
    fprintf (csv, "%d,%d,%d,%d,%d,%d,%s,%s,%.2f,%.2f,%.2f\n", test->channels, test->filters, test->kernel, test->stride,
        test->batch, test->side, bench->layer.type == CONVOLVE_LAYER_FLOAT32 ? "float32" : "float16", variant, median,
        rounds ? us[0] : median, rounds ? us[rounds - 1] : median);
  convolve_layer_plan_unref (plan);
  return median >= 0 || error.status == CONVOLVE_UNSUPPORTED;
}

static bool
open_tasks (Bench *bench, const BenchLayerCase *test)
{
  ConvolveLayerType type = bench->layer.type;
  int size = type == CONVOLVE_LAYER_FLOAT32 ? 4 : 2, out = test->side / test->stride;
  size_t from = (size_t) test->batch * test->channels * test->side * test->side;
  size_t to = (size_t) test->batch * test->filters * out * out;
  void *content = malloc (from * size);
  bool done = content != NULL;

  bench->pairs = (int) (BENCH_LAYER_PAIR_BYTES / ((from + to) * size)) + 2;
  bench->pairs = bench->pairs < MAX_PAIRS ? bench->pairs : MAX_PAIRS;
  if (done)
    fill_random (content, from, type);
  memset (bench->tasks, 0, sizeof bench->tasks);
  for (int i = 0; i < bench->pairs && done; i++) {
    void *source = convolve_device_alloc (bench->device, from * size, NULL);
    void *destination = convolve_device_alloc (bench->device, to * size, NULL);

    bench->tasks[i] = (ConvolveLayerTask){
      .source = convolve_layer_nchw (type, source, test->channels, test->side, test->side),
      .destination = convolve_layer_nchw (type, destination, test->filters, out, out),
      .batch = test->batch,
      .height = test->side,
      .width = test->side,
    };
    done = source && destination
        && convolve_device_copy (bench->device, source, content, from * size, CONVOLVE_COPY_TO_DEVICE, NULL)
            == CONVOLVE_OK;
  }
  done = convolve_device_finish (bench->device, NULL) == CONVOLVE_OK && done;
  free (content);
  return done;
}

static bool
bench_case (Bench *bench, const BenchLayerCase *test, ConvolveLayerType type, const char *only, FILE *csv)
{
  size_t count = (size_t) test->filters * test->channels * test->kernel * test->kernel;
  float *weights = malloc (count * sizeof (float));
  bool done = weights != NULL;

  if (done) {
    fill_random (weights, count, CONVOLVE_LAYER_FLOAT32);
    convolve_layer_init (&bench->layer, test->filters, test->channels, test->kernel, test->kernel, weights);
    bench->layer.type = type;
    bench->layer.stride_y = bench->layer.stride_x = test->stride;
    bench->layer.pad_top = bench->layer.pad_left = bench->layer.pad_bottom = bench->layer.pad_right = test->kernel / 2;
    done = open_tasks (bench, test);
  }
  if (done && (!only || strcmp (only, "auto") == 0))
    done = time_variant (bench, test, "auto", csv);
  for (int v = 0; v < convolve_layer_variant_count () && done; v++)
    if (convolve_layer_variant_on_device (v) && (!only || strcmp (only, convolve_layer_variant_name (v)) == 0))
      done = time_variant (bench, test, convolve_layer_variant_name (v), csv);
  for (int i = 0; i < bench->pairs; i++) {
    convolve_device_release (bench->device, bench->tasks[i].source.channel[0]);
    convolve_device_release (bench->device, bench->tasks[i].destination.channel[0]);
  }
  free (weights);
  return done;
}

static bool
bench_frame (Bench *bench, int number)
{
  enum
  {
    WIDTH = 3840,
    HEIGHT = 2160
  };
  int channels = frames[number].channels, filters = frames[number].filters, kernel = frames[number].kernel;
  int stride = frames[number].stride, from = frames[number].source_bytes, to = frames[number].destination_bytes;
  int width = WIDTH / stride, height = HEIGHT / stride, columns = frames[number].mosaic;
  static float weights[64 * 3 * 7 * 7];
  static unsigned char content[WIDTH * HEIGHT * 4];
  double us[BENCH_LAYER_ROUNDS];
  ConvolveLayerPlan *plan;
  bool done = true;

  fill_random (weights, sizeof weights / sizeof *weights, CONVOLVE_LAYER_FLOAT32);
  fill_random (content, sizeof content, CONVOLVE_LAYER_U8);
  convolve_layer_init (&bench->layer, filters, channels, kernel, kernel, weights);
  bench->layer.type = CONVOLVE_LAYER_U8;
  bench->layer.stride_y = bench->layer.stride_x = stride;
  convolve_layer_pad_same (&bench->layer, HEIGHT, WIDTH, NULL);
  bench->pairs = 8;
  memset (bench->tasks, 0, sizeof bench->tasks);
  for (int i = 0; i < bench->pairs && done; i++) {
    ConvolveLayerTask *task = &bench->tasks[i];
    unsigned char *source = convolve_device_alloc (bench->device, sizeof content, NULL);
    unsigned char *destination = convolve_device_alloc (bench->device, sizeof content, NULL);

    *task = (ConvolveLayerTask){ .batch = 1,
      .height = HEIGHT,
      .width = WIDTH,
      .filled = columns ? 0 : to - filters,
      .fill = 255 };
    task->source.row_stride = WIDTH * from;
    task->source.column_stride = from;
    task->destination.row_stride = width * to;
    task->destination.column_stride = to;
    for (int c = 0; c < 4; c++) {
      task->source.channel[c] = source + c;
      task->destination.channel[c] = destination + c;
    }
    if (columns)
      task->destination = convolve_layer_mosaic (destination, columns * width, 1, columns, height, width);
    done = source && destination
        && convolve_device_copy (bench->device, source, content, sizeof content, CONVOLVE_COPY_TO_DEVICE, NULL)
            == CONVOLVE_OK;
  }
  plan = done ? convolve_layer_plan_new (&bench->layer, "auto", bench->device, NULL) : NULL;
  done = plan && time_runs (bench, plan, 2) >= 0;
  for (int i = 0; i < BENCH_LAYER_ROUNDS && done; i++)
    done = (us[i] = time_runs (bench, plan, 32)) >= 0;
  if (done)
    printf ("4K %-32s %8.1f us a frame  %s\n", frames[number].name, bench_median (us, BENCH_LAYER_ROUNDS),
        convolve_layer_plan_variant (plan));
  convolve_layer_plan_unref (plan);
  for (int i = 0; i < bench->pairs; i++) {
    convolve_device_release (bench->device, bench->tasks[i].source.channel[0]);
    convolve_device_release (bench->device, bench->tasks[i].destination.channel[0]);
  }
  return done;
}

int
bench_layer (int argc, char **argv)
{
  static Bench bench;
  ConvolveError error = { 0 };
  const char *only = NULL, *file = NULL;
  FILE *csv;
  int only_case = -1;
  bool done = true;

  for (int i = 0; i + 1 < argc; i += 2) {
    if (strcmp (argv[i], "--variant") == 0)
      only = argv[i + 1];
    else if (strcmp (argv[i], "--case") == 0)
      only_case = atoi (argv[i + 1]);
    else if (strcmp (argv[i], "--csv") == 0)
      file = argv[i + 1];
    else
      argc = -1;
  }
  if (argc < 0 || argc % 2) {
    fprintf (stderr, "bench --layer [--csv FILE] [--case N] [--variant NAME]\n");
    return 2;
  }
  bench.device = convolve_device_new (-1, &error);
  if (!bench.device) {
    printf ("SKIP: %s\n", error.text);
    return SKIPPED;
  }
  printf ("%s: the median of %d rounds of at least %d us\n", convolve_device_name (bench.device), BENCH_LAYER_ROUNDS,
      BENCH_LAYER_US);
  csv = file ? fopen (file, "w") : NULL;
  if (csv)
    fprintf (csv, "channels,filters,kernel,stride,batch,side,type,variant,median_us,min_us,max_us\n");
  for (int i = 0; i < N_BENCH_LAYER_CASES; i++)
    for (int type = CONVOLVE_LAYER_FLOAT32; type <= CONVOLVE_LAYER_FLOAT16 && done; type++)
      if (only_case < 0 || only_case == i)
        done = bench_case (&bench, &bench_layer_cases[i], (ConvolveLayerType) type, only, csv);
  for (size_t i = 0; i < sizeof frames / sizeof *frames && done && only_case < 0 && !only; i++)
    done = bench_frame (&bench, (int) i);
  if (!done)
    fprintf (stderr, "the benchmark stopped\n");
  if (csv)
    fclose (csv);
  convolve_device_free (bench.device);
  return !done;
}
