/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two devices of one GPU at work in turn. */
#include "kernels/check_fixed.h"

#include <string.h>

enum
{
  TWO_WIDTH = 150,
  TWO_HEIGHT = 90,
  TWO_BYTES = TWO_WIDTH * TWO_HEIGHT,
  TWO_ROUNDS = 6
};

typedef struct
{
  ConvolveDevice *device;
  ConvolvePlan *plan;
  unsigned char *source, *destination[TWO_ROUNDS]; /* on the device */
  unsigned char expected[TWO_BYTES], result[TWO_ROUNDS][TWO_BYTES];
} Side;

static ConvolvePlane
two_plane (const void *source, void *destination)
{
  return (ConvolvePlane){ source, destination, TWO_WIDTH, TWO_WIDTH, TWO_WIDTH, TWO_HEIGHT,
    { 0, 0, TWO_WIDTH, TWO_HEIGHT } };
}

static bool
open_side (Side *side, const CheckRow *row, const ConvolveMask *mask, const unsigned char *image, ConvolveError *error)
{
  ConvolvePlan *host = convolve_plan_new (&gray_8, CONVOLVE_BOUNDARY_WRAP, mask, "cpu", NULL, error);
  ConvolvePlane plane = two_plane (image, side->expected);
  bool done = host && convolve_run (host, &plane, error) == CONVOLVE_OK;

  convolve_plan_unref (host);
  side->device = done ? convolve_device_new (convolve_device_id (row->device), error) : NULL;
  if (!side->device)
    return false;
  side->plan = convolve_plan_new (&gray_8, CONVOLVE_BOUNDARY_WRAP, mask, row->variant, side->device, error);
  side->source = convolve_device_alloc (side->device, TWO_BYTES, error);
  done = side->plan && side->source
      && convolve_device_copy (side->device, side->source, image, TWO_BYTES, CONVOLVE_COPY_TO_DEVICE, error)
          == CONVOLVE_OK;
  for (int i = 0; i < TWO_ROUNDS && done; i++)
    done = (side->destination[i] = convolve_device_alloc (side->device, TWO_BYTES, error)) != NULL;
  return done;
}

static void
close_side (Side *side)
{
  convolve_plan_unref (side->plan);
  for (int i = 0; i < TWO_ROUNDS && side->device; i++)
    convolve_device_release (side->device, side->destination[i]);
  if (side->device)
    convolve_device_release (side->device, side->source);
  convolve_device_free (side->device);
}

static bool
collect_side (Side *side, ConvolveError *error)
{
  for (int i = 0; i < TWO_ROUNDS; i++) {
    if (convolve_device_copy (side->device, side->result[i], side->destination[i], TWO_BYTES, CONVOLVE_COPY_TO_HOST,
            error)
        != CONVOLVE_OK)
      return false;
  }
  return convolve_device_finish (side->device, error) == CONVOLVE_OK;
}

int
check_fixed_two_devices (CheckRow *row, FILE *file)
{
  static Side sides[2];
  static unsigned char image[TWO_BYTES];
  CheckRandom random;
  ConvolveMask masks[2] = { 0 };
  ConvolveError error = { 0 };
  bool done = true;
  int failures = 0;

  memset (sides, 0, sizeof sides);
  check_random_init (&random, 2, 2);
  check_random_fill (&random, image, sizeof image);

  /* Both masks have rank 1, so that the separable variants take part; the variant box gets boxes. */
  for (int s = 0; s < 2 && done; s++) {
    done = convolve_mask_init (&masks[s], 5, 5);
    for (int k = 0; k < 25 && done; k++)
      masks[s].taps[k] = is_box (row) ? 1 - 3 * s
          : s == 0                    ? triangle (k % 5, 5) * triangle (k / 5, 5)
                                      : (k % 5 - 2) * (k / 5 + 1);
    masks[s].divisor = s == 0 ? 81 : 20;
    done = done && open_side (&sides[s], row, &masks[s], image, &error);
  }

  for (int i = 0; i < TWO_ROUNDS && done; i++) {
    for (int s = 0; s < 2 && done; s++) {
      ConvolvePlane plane = two_plane (sides[s].source, sides[s].destination[i]);

      done = convolve_run (sides[s].plan, &plane, &error) == CONVOLVE_OK;
    }
  }
  done = done && collect_side (&sides[0], &error) && collect_side (&sides[1], &error);

  if (!done) {
    fprintf (file, "FAILED %s on two devices: %s\n", row->variant, error.text);
    failures++;
  }
  for (int i = 0; i < 2 * TWO_ROUNDS && done; i++) {
    if (memcmp (sides[i % 2].result[i / 2], sides[i % 2].expected, TWO_BYTES) != 0) {
      fprintf (file, "FAILED %s on two devices: device %d, round %d is wrong\n", row->variant, i % 2, i / 2);
      failures++;
    }
  }
  for (int s = 0; s < 2; s++) {
    close_side (&sides[s]);
    convolve_mask_clear (&masks[s]);
  }
  row->cases++;
  row->failed += failures > 0;
  return failures;
}
