/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Planes of a frame that are independent of each other, while each frame needs the one before. */
#include "kernels/check_fixed.h"

#include <string.h>

enum
{
  N_PLANES = 3,
  ROUNDS = 8,
  TRIES = 20,
  WIDTH = 1920,
  HEIGHT = 1080,
  BYTES = WIDTH * HEIGHT * 2 /* all planes of a frame have fewer */
};

/* The sizes of planes as parts of WIDTH x HEIGHT: first the largest, so that the others end before it, then the smallest. */
static const int parts[][N_PLANES] = { { 1, 4, 30 }, { 30, 2, 4 } };

typedef struct
{
  CheckRow *row;
  ConvolvePlan *plans[2];   /* of the first plane, which takes longer, and of the others */
  unsigned char *frames[2]; /* on the device */
  const int *parts;
} Chain;

/* From one frame to the other, plane after plane. */
static bool
run_round (const Chain *chain, int number, bool independent, ConvolveError *error)
{
  size_t offset = 0;
  bool done = convolve_device_independent (chain->row->device, independent, error) == CONVOLVE_OK;

  for (int p = 0; p < N_PLANES && done; p++) {
    int width = WIDTH / chain->parts[p], height = HEIGHT / chain->parts[p];
    ConvolvePlane plane = { chain->frames[number % 2] + offset, chain->frames[1 - number % 2] + offset, width, width,
      width, height, { 0, 0, width, height } };

    done = convolve_run (chain->plans[p > 0], &plane, error) == CONVOLVE_OK;
    offset += (size_t) width * height;
  }
  return convolve_device_independent (chain->row->device, false, done ? error : NULL) == CONVOLVE_OK && done;
}

/* The bytes after all rounds, of which each convolves what the round before wrote. */
static bool
run_chain (const Chain *chain, const unsigned char *image, unsigned char *result, bool independent,
    ConvolveError *error)
{
  ConvolveDevice *device = chain->row->device;
  bool done = true;

  for (int i = 0; i < 2 && done; i++)
    done = convolve_device_copy (device, chain->frames[i], image, BYTES, CONVOLVE_COPY_TO_DEVICE, error) == CONVOLVE_OK;
  for (int i = 0; i < ROUNDS && done; i++)
    done = run_round (chain, i, independent, error);
  return done
      && convolve_device_copy (device, result, chain->frames[ROUNDS % 2], BYTES, CONVOLVE_COPY_TO_HOST, error)
      == CONVOLVE_OK
      && convolve_device_finish (device, error) == CONVOLVE_OK;
}

/* Weight i of a row and of a column: differences grow from round to round, so that no picture becomes flat. */
static int
weight (int i, int side)
{
  return i == 0 ? 2 : i == side - 1 ? -1 : 0;
}

/* The plan of a mask of rank 1, which all variants but box take up to some side, or of a box. */
static ConvolvePlan *
make_plan (const CheckRow *row, int side, ConvolveError *error)
{
  ConvolvePlan *plan = NULL;
  ConvolveMask mask;

  if (!convolve_mask_init (&mask, side, side))
    return NULL;
  for (int k = 0; k < side * side; k++)
    mask.taps[k] = is_box (row) ? 1 : weight (k % side, side) * weight (k / side, side);
  mask.divisor = is_box (row) ? side * side : 1;
  plan = convolve_plan_new (&gray_8, CONVOLVE_BOUNDARY_WRAP, &mask, row->variant, row->device, error);
  convolve_mask_clear (&mask);
  return plan;
}

int
check_fixed_independent (CheckRow *row, FILE *file)
{
  static unsigned char image[BYTES], results[2][BYTES];
  Chain chain = { .row = row };
  ConvolveError error = { 0 };
  CheckRandom random;
  bool done;
  int failures = 0;

  check_random_init (&random, 3, 3);
  check_random_fill (&random, image, sizeof image);
  chain.plans[1] = make_plan (row, 3, &error);
  chain.plans[0] = make_plan (row, 9, NULL);
  if (!chain.plans[0])
    chain.plans[0] = make_plan (row, 3, &error);
  done = chain.plans[0] && chain.plans[1];
  for (int i = 0; i < 2 && done; i++)
    done = (chain.frames[i] = convolve_device_alloc (row->device, BYTES, &error)) != NULL;
  for (size_t i = 0; i < TRIES && done; i++) {
    chain.parts = parts[i % (sizeof parts / sizeof *parts)];
    for (int k = 0; k < 2 && done; k++)
      done = run_chain (&chain, image, results[k], k > 0, &error);
    if (done && memcmp (results[0], results[1], BYTES) != 0) {
      fprintf (file, "FAILED %s: independent planes have other bytes, try %zu\n", row->variant, i);
      failures++;
    }
  }
  if (!done) {
    fprintf (file, "FAILED %s on independent planes: %s\n", row->variant, error.text);
    failures++;
  }
  for (int i = 0; i < 2; i++) {
    convolve_device_release (row->device, chain.frames[i]);
    convolve_plan_unref (chain.plans[i]);
  }
  row->cases++;
  row->failed += failures > 0;
  return failures;
}
