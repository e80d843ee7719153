/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times the change of a mask while a stream plays: milliseconds to make the plan of a new mask and to convolve the first 1080p
 * frame with it, beside a frame whose plan is there.
 *
 *   bench_plans [--cpu]
 *
 * A line of CSV for each kind and side: the variant, the first plan of such a mask in the process with its first frame,
 * the median of ten more of them, and the median of ten frames with a plan that is there. The variant is auto on the first
 * GPU, or cpu; exits with 77 where there is no GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_common.h"
#include "convolve_device.h"

enum
{
  WIDTH = 1920,
  HEIGHT = 1080,
  TIMES = 10
};

static const struct
{
  const char *name;
  BenchMask kind;
} kinds[] = { { "any", BENCH_MASK_ANY }, { "rank-1", BENCH_MASK_RANK_1 }, { "gaussian", BENCH_MASK_GAUSSIAN },
  { "fractions", BENCH_MASK_LOW_RANK } };

static const int sides[] = { 3, 5, 9, 15, 31, 63, 127, 255 };

typedef struct
{
  ConvolveDevice *device; /* NULL: planes in host memory */
  unsigned char *source, *destination;
} Bench;

static const ConvolvePixel gray = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };

static ConvolvePlan *
make_plan (const Bench *bench, const ConvolveMask *mask, ConvolveError *error)
{
  return convolve_plan_new_sized (&gray, CONVOLVE_BOUNDARY_REPLICATE, mask, bench->device ? "auto" : "cpu",
      bench->device, WIDTH * HEIGHT, error);
}

static bool
run_frame (const Bench *bench, const ConvolvePlan *plan, ConvolveError *error)
{
  ConvolvePlane plane = { bench->source, bench->destination, WIDTH, WIDTH, WIDTH, HEIGHT, { 0, 0, WIDTH, HEIGHT } };

  return convolve_run (plan, &plane, error) == CONVOLVE_OK
      && (!bench->device || convolve_device_finish (bench->device, error) == CONVOLVE_OK);
}

/* The milliseconds of a new plan and its first frame, or -1 after an error. */
static double
time_plan (const Bench *bench, const ConvolveMask *mask, ConvolveError *error)
{
  double start = bench_now_us ();
  ConvolvePlan *plan = make_plan (bench, mask, error);
  bool done = plan && run_frame (bench, plan, error);
  double took = (bench_now_us () - start) / 1e3;

  convolve_plan_unref (plan);
  return done ? took : -1;
}

static bool
bench_mask (const Bench *bench, int kind, int side, ConvolveError *error)
{
  double first, more[TIMES], frames[TIMES];
  ConvolvePlan *plan = NULL;
  ConvolveMask mask;
  bool done = bench_make_mask (&mask, side, kinds[kind].kind);

  if (!done)
    return false;
  first = time_plan (bench, &mask, error);
  done = first >= 0;
  for (int i = 0; i < TIMES && done; i++)
    done = (more[i] = time_plan (bench, &mask, error)) >= 0;
  plan = done ? make_plan (bench, &mask, error) : NULL;
  done = plan && run_frame (bench, plan, error);
  for (int i = 0; i < TIMES && done; i++) {
    double start = bench_now_us ();

    done = run_frame (bench, plan, error);
    frames[i] = (bench_now_us () - start) / 1e3;
  }
  if (done)
    printf ("%s,%d,%s,%.2f,%.2f,%.3f\n", kinds[kind].name, side, convolve_plan_variant (plan), first,
        bench_median (more, TIMES), bench_median (frames, TIMES));
  fflush (stdout);
  convolve_plan_unref (plan);
  convolve_mask_clear (&mask);
  return done;
}

/* Memory for a plane, on the device or on the host. */
static unsigned char *
make_plane (const Bench *bench, ConvolveError *error)
{
  return bench->device ? convolve_device_alloc (bench->device, WIDTH * HEIGHT, error) : calloc (HEIGHT, WIDTH);
}

int
main (int argc, char **argv)
{
  ConvolveError error = { 0 };
  Bench bench = { 0 };
  bool done = true;

  if (argc != 2 || strcmp (argv[1], "--cpu") != 0) {
    bench.device = convolve_device_new (-1, &error);
    if (!bench.device) {
      printf ("SKIP: %s\n", error.text);
      return 77;
    }
  }
  bench.source = make_plane (&bench, &error);
  bench.destination = make_plane (&bench, &error);
  done = bench.source && bench.destination;
  printf ("kind,side,variant,first_ms,new_ms,frame_ms\n");
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (size_t i = 0; i < sizeof sides / sizeof *sides && done; i++)
      done = bench_mask (&bench, (int) k, sides[i], &error);
  if (!done)
    printf ("FAILED: %s\n", error.text);
  if (bench.device) {
    convolve_device_release (bench.device, bench.source);
    convolve_device_release (bench.device, bench.destination);
    convolve_device_free (bench.device);
  } else {
    free (bench.source);
    free (bench.destination);
  }
  return done ? 0 : 1;
}
