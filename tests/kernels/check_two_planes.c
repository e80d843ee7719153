/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Independent planes of one and of two samples to a pixel, for which some variants have one kernel. */
#include "kernels/check_fixed.h"

#include <math.h>
#include <string.h>

enum
{
  MOST_RUNS = 5,
  MOST_WIDTH = 700,
  MOST_HEIGHT = 90,
  RUN_BYTES = (2 * MOST_WIDTH + 64) * (MOST_HEIGHT + 1),
  BYTES = MOST_RUNS * RUN_BYTES
};

typedef struct
{
  ConvolveDevice *device;
  unsigned char *source, *destination; /* on the device */
  unsigned char image[BYTES], results[2][BYTES];
  ConvolvePlan *plans[2]; /* for pixels of one sample, and of two */
  int sample_size, n_runs, plan_of[MOST_RUNS];
  ConvolvePlane planes[MOST_RUNS];
} Frames;

/* Integers, a column times a row of integers, or a Gaussian, of at most 2 * reach + 1 each way. */
static bool
random_mask (CheckRandom *random, int kind, int reach, ConvolveMask *mask)
{
  int width = 2 * check_random_range (random, 0, reach) + 1, height = 2 * check_random_range (random, 0, reach) + 1;
  int row[9], column[9];
  double sigma = 0.4 + 2 * check_random_unit (random), sum = 0;

  if (!convolve_mask_init (mask, width, height))
    return false;
  for (int i = 0; i < 9; i++) {
    row[i] = check_random_range (random, -6, 12);
    column[i] = check_random_range (random, -6, 12);
  }
  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++) {
      double *tap = &mask->taps[j * width + i], x = i - width / 2, y = j - height / 2;

      *tap = kind == 0 ? check_random_range (random, -20, 40) : kind == 1 ? row[i] * column[j] : 0;
      if (kind == 2)
        *tap = exp (-(x * x + y * y) / (2 * sigma * sigma));
      sum += fabs (*tap);
    }
  mask->divisor = kind == 2 ? sum : check_random_range (random, 1, 1 + (int) sum);
  return true;
}

/* A plane in the room of run number n, mostly as aligned as a frame's are, and mostly whole. */
static void
random_plane (CheckRandom *random, Frames *frames, int n)
{
  bool aligned = !check_random_one_in (random, 6);
  int size = frames->sample_size, width = check_random_range (random, 1, MOST_WIDTH / size);
  int bytes = width * (frames->plan_of[n] + 1) * size, height = check_random_range (random, 1, MOST_HEIGHT);
  int stride = aligned ? (bytes + 15) / 16 * 16 : bytes + check_random_range (random, 0, 20 / size) * size;
  size_t offset = (size_t) n * RUN_BYTES + (aligned ? 0 : check_random_range (random, 0, 15 / size) * size);
  ConvolveRect region = { 0, 0, width, height };

  offset = aligned ? offset / 16 * 16 + 16 : offset;
  if (check_random_one_in (random, 4)) {
    region.x = check_random_range (random, 0, width - 1);
    region.y = check_random_range (random, 0, height - 1);
    region.width = check_random_range (random, 1, width - region.x);
    region.height = check_random_range (random, 1, height - region.y);
  }
  frames->planes[n] =
      (ConvolvePlane){ frames->source + offset, frames->destination + offset, stride, stride, width, height, region };
}

/* The bytes of the destination after all runs. */
static bool
run_frame (Frames *frames, bool independent, unsigned char *result, ConvolveError *error)
{
  ConvolveDevice *device = frames->device;
  bool done = convolve_device_copy (device, frames->destination, frames->image, BYTES, CONVOLVE_COPY_TO_DEVICE, error)
      == CONVOLVE_OK;

  done = done && convolve_device_independent (device, independent, error) == CONVOLVE_OK;
  for (int n = 0; n < frames->n_runs && done; n++)
    done = convolve_run (frames->plans[frames->plan_of[n]], &frames->planes[n], error) == CONVOLVE_OK;
  done = convolve_device_independent (device, false, done ? error : NULL) == CONVOLVE_OK && done;
  return done
      && convolve_device_copy (device, result, frames->destination, BYTES, CONVOLVE_COPY_TO_HOST, error) == CONVOLVE_OK
      && convolve_device_finish (device, error) == CONVOLVE_OK;
}

/* Makes the two plans, of one mask or of two. False where the variant refuses a mask. */
static bool
make_plans (CheckRandom *random, const CheckRow *row, Frames *frames, ConvolveError *error)
{
  ConvolvePixel single = gray_8, pair;
  ConvolveBoundary boundary = check_random_range (random, 0, CONVOLVE_N_BOUNDARIES - 1);
  bool same = check_random_one_in (random, 2), done;
  int kind = check_random_range (random, 0, 2);
  ConvolveMask masks[2] = { 0 };

  frames->sample_size = check_random_range (random, 1, 2);
  if (frames->sample_size == 2) {
    single.type = CONVOLVE_SAMPLE_U16;
    single.depth = check_random_one_in (random, 2) ? 10 : check_random_range (random, 9, 16);
    single.shift = check_random_one_in (random, 4) ? 0 : 16 - single.depth;
  }
  single.stride = frames->sample_size;
  pair = single;
  pair.samples = 2;
  pair.stride = 2 * frames->sample_size;
  pair.select = 3;
  pair.zero[0] = pair.zero[1] = 1 << (pair.depth - 1);
  if (check_random_one_in (random, 4))
    pair.select = check_random_range (random, 1, 2);
  done = random_mask (random, kind, check_random_range (random, 1, 4), &masks[0])
      && random_mask (random, kind, check_random_range (random, 1, 2), &masks[1]);
  if (done)
    frames->plans[0] = convolve_plan_new (&single, boundary, &masks[0], row->variant, row->device, error);
  if (frames->plans[0])
    frames->plans[1] = convolve_plan_new (&pair, boundary, &masks[same ? 0 : 1], row->variant, row->device, error);
  for (int i = 0; i < 2; i++)
    convolve_mask_clear (&masks[i]);
  return frames->plans[1];
}

/* One frame of random planes, in order and independent of each other. Returns the failures; *taken counts the frame. */
static int
check_frame (CheckRandom *random, const CheckRow *row, Frames *frames, long number, long *taken, FILE *file)
{
  ConvolveError error = { 0 };
  bool done = make_plans (random, row, frames, &error), refused = !done && error.status == CONVOLVE_UNSUPPORTED;
  int failures = 0;

  frames->n_runs = check_random_range (random, 1, MOST_RUNS);
  for (int n = 0; n < frames->n_runs; n++) {
    frames->plan_of[n] = check_random_one_in (random, 3) ? check_random_range (random, 0, 1) : n % 2;
    random_plane (random, frames, n);
  }
  for (int k = 0; k < 2 && done; k++)
    done = run_frame (frames, k > 0, frames->results[k], &error);
  if (done && memcmp (frames->results[0], frames->results[1], BYTES) != 0) {
    fprintf (file, "FAILED %s: %d planes of frame %ld have other bytes where they are independent\n", row->variant,
        frames->n_runs, number);
    failures++;
  } else if (!done && !refused) {
    fprintf (file, "FAILED %s on frame %ld of two kinds of planes: %s\n", row->variant, number, error.text);
    failures++;
  }
  *taken += done;
  for (int i = 0; i < 2; i++) {
    convolve_plan_unref (frames->plans[i]);
    frames->plans[i] = NULL;
  }
  return failures;
}

int
check_fixed_two_planes (CheckRow *row, uint64_t seed, long cases, FILE *file)
{
  Frames *frames = calloc (1, sizeof (Frames));
  ConvolveError error = { 0 };
  CheckRandom random;
  long taken = 0;
  int failures = 0;

  if (!frames)
    abort ();
  check_random_init (&random, seed, 0);
  check_random_fill (&random, frames->image, sizeof frames->image);
  frames->device = row->device;
  frames->source = convolve_device_alloc (row->device, BYTES, &error);
  frames->destination = frames->source ? convolve_device_alloc (row->device, BYTES, &error) : NULL;
  if (!frames->destination
      || convolve_device_copy (row->device, frames->source, frames->image, BYTES, CONVOLVE_COPY_TO_DEVICE, &error)
          != CONVOLVE_OK) {
    fprintf (file, "FAILED %s on two kinds of planes: %s\n", row->variant, error.text);
    failures++;
  }
  for (long i = 0; i < cases && failures == 0; i++) {
    check_random_init (&random, seed, 1 + i);
    failures += check_frame (&random, row, frames, i, &taken, file);
  }
  fprintf (file, "%-20s %ld of %ld frames of two kinds of planes\n", row->variant, taken, cases);
  convolve_device_release (row->device, frames->source);
  convolve_device_release (row->device, frames->destination);
  free (frames);
  row->cases += taken;
  row->failed += failures > 0;
  return failures;
}
