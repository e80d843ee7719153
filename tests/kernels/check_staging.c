/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in pageable memory: random planes go to a device and back in random strips, by any number of threads, with
 * several frames under way. Each sample is doubled on the device. On the fake device, which takes page-locked memory
 * away where it is told to, and on a GPU.
 *
 *  check_staging [--seed N] [--frames N]
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "convolve_device.h"
#include "support/random.h"

enum
{
  MOST_ROW = 4000, /* bytes */
  MOST_ROWS = 1500,
  MOST_PADDING = 300,
  MOST_STRIPS = 5,
  GUARD = 0xAB
};

/* Of the fake device alone: the pageable bytes that it had to copy itself. */
extern __attribute__ ((weak)) _Atomic int fake_device_pageable;

static const ConvolvePixel gray_8 = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };

typedef struct
{
  size_t row_bytes, rows, in_stride, out_stride;
  unsigned char *in, *out;
  bool under_way;
} Frame;

static void
fail (const char *what, const ConvolveError *error)
{
  printf ("FAILED %s: %s\n", what, error->text);
  exit (1);
}

/* A plan that doubles samples. */
static ConvolvePlan *
make_plan (ConvolveDevice *device)
{
  ConvolveError error;
  ConvolveMask mask;
  ConvolvePlan *plan;

  if (!convolve_mask_init (&mask, 1, 1))
    exit (1);
  mask.taps[0] = 2;
  plan = convolve_plan_new (&gray_8, CONVOLVE_BOUNDARY_ZERO, &mask, "global", device, &error);
  convolve_mask_clear (&mask);
  if (!plan)
    fail ("plan", &error);
  return plan;
}

static void
make_frame (CheckRandom *random, Frame *frame)
{
  bool gapless = check_random_one_in (random, 2);
  size_t size;

  frame->row_bytes = check_random_range (random, 1, MOST_ROW);
  frame->rows = check_random_range (random, 1, MOST_ROWS);
  if (check_random_one_in (random, 2))
    frame->row_bytes = (frame->row_bytes + 15) / 16 * 16;
  frame->in_stride = frame->row_bytes + (gapless ? 0 : check_random_range (random, 0, MOST_PADDING));
  frame->out_stride = frame->row_bytes + (gapless ? 0 : check_random_range (random, 0, MOST_PADDING));
  /* The input begins anywhere, and so does the output. */
  size = (frame->rows + 1) * frame->in_stride;
  frame->in = malloc (size);
  check_random_fill (random, frame->in, size);
  frame->out = malloc ((frame->rows + 1) * frame->out_stride);
  memset (frame->out, GUARD, (frame->rows + 1) * frame->out_stride);
  frame->under_way = true;
}

static ConvolveRows
rows_of (const Frame *frame, bool in, size_t first, size_t end)
{
  size_t stride = in ? frame->in_stride : frame->out_stride;

  return (ConvolveRows){ .first = first,
    .count = end - first,
    .row_bytes = frame->row_bytes,
    .host = (in ? frame->in : frame->out) + first * stride,
    .host_stride = stride };
}

/* Enqueues a frame in strips, or as one row. Where memory could be locked, rows may change as soon as they were uploaded. */
static void
begin_frame (CheckRandom *random, ConvolveDevice *device, const ConvolvePlan *plan, int slot, Frame *frame)
{
  size_t bytes = frame->row_bytes * frame->rows;
  bool block =
      frame->in_stride == frame->row_bytes && frame->out_stride == frame->row_bytes && check_random_one_in (random, 2);
  size_t strips = block ? 1 : check_random_range (random, 1, MOST_STRIPS);
  unsigned char *sent = malloc (frame->rows * frame->in_stride);
  ConvolveStage stage;
  ConvolveError error;
  ConvolveStatus status = convolve_device_begin (device, slot, &error);

  if (status == CONVOLVE_OK)
    status =
        convolve_device_stage (device, 0, block ? bytes : frame->row_bytes, block ? 1 : frame->rows, &stage, &error);
  memcpy (sent, frame->in, frame->rows * frame->in_stride);
  for (size_t i = 0; i < strips && status == CONVOLVE_OK; i++) {
    size_t first = frame->rows * i / strips, end = frame->rows * (i + 1) / strips;
    ptrdiff_t stride = block ? frame->row_bytes : stage.stride;
    ConvolvePlane plane = { stage.source, stage.destination, stride, stride, frame->row_bytes, frame->rows,
      { 0, first, frame->row_bytes, end - first } };
    ConvolveRows in = rows_of (frame, true, first, end), out = rows_of (frame, false, first, end);

    if (block) {
      in = (ConvolveRows){ .count = 1, .row_bytes = bytes, .host = frame->in, .host_stride = bytes };
      out = (ConvolveRows){ .count = 1, .row_bytes = bytes, .host = frame->out, .host_stride = bytes };
    }
    if (first == end)
      continue;
    status = convolve_device_upload_pageable (device, 0, &in, &error);
    if (!convolve_device_lacks_staging (device))
      memset (in.host, 0x77, (in.count - 1) * in.host_stride + in.row_bytes);
    if (status == CONVOLVE_OK)
      status = convolve_run (plan, &plane, &error);
    if (status == CONVOLVE_OK)
      status = convolve_device_download_pageable (device, 0, &out, &error);
  }
  if (status == CONVOLVE_OK)
    status = convolve_device_end (device, &error);
  if (status != CONVOLVE_OK)
    fail ("frame", &error);
  memcpy (frame->in, sent, frame->rows * frame->in_stride);
  free (sent);
}

/* Waits for the frame. Every sample is doubled, and nothing else was written. */
static void
end_frame (ConvolveDevice *device, int slot, Frame *frame, int number)
{
  ConvolveError error;

  if (convolve_device_wait (device, slot, NULL, &error) != CONVOLVE_OK)
    fail ("wait", &error);
  for (size_t y = 0; y <= frame->rows; y++)
    for (size_t x = 0; x < frame->out_stride; x++) {
      bool inside = y < frame->rows && x < frame->row_bytes;
      int sample = inside ? 2 * frame->in[y * frame->in_stride + x] : GUARD, expected = sample > 255 ? 255 : sample;

      if (frame->out[y * frame->out_stride + x] != expected) {
        printf ("FAILED frame %d: byte %zu of row %zu is %d, not %d; %zu rows of %zu bytes, strides %zu and %zu\n",
            number, x, y, frame->out[y * frame->out_stride + x], expected, frame->rows, frame->row_bytes,
            frame->in_stride, frame->out_stride);
        exit (1);
      }
    }
  free (frame->in);
  free (frame->out);
  frame->under_way = false;
}

static void
check_frames (CheckRandom *random, int frames, bool refused)
{
  ConvolveError error;
  ConvolveDevice *device = convolve_device_new (-1, &error);
  ConvolvePlan *plan;
  Frame ring[CONVOLVE_MAX_FRAMES] = { 0 };
  int most = check_random_range (random, 1, CONVOLVE_MAX_FRAMES),
      pageable = &fake_device_pageable ? fake_device_pageable : 0;

  if (!device)
    fail ("device", &error);
  plan = make_plan (device);
  for (int i = 0; i < frames + most; i++) {
    Frame *frame = &ring[i % most];

    if (frame->under_way)
      end_frame (device, i % most, frame, i - most);
    if (i >= frames)
      continue;
    convolve_device_use_threads (device, check_random_range (random, 0, 4));
    make_frame (random, frame);
    begin_frame (random, device, plan, i % most, frame);
  }
  /* A GPU may refuse page-locked memory at any time, and the fake device when it is told to. */
  if (&fake_device_pageable
      && (convolve_device_lacks_staging (device) != refused || (fake_device_pageable > pageable) != refused)) {
    printf ("FAILED the device %s, and copied %d pageable bytes\n",
        convolve_device_lacks_staging (device) ? "refused to lock memory" : "locked memory",
        fake_device_pageable - pageable);
    exit (1);
  }
  convolve_plan_unref (plan);
  convolve_device_free (device);
}

int
main (int argc, char **argv)
{
  uint64_t seed = time (NULL);
  int frames = getenv ("CUDACONVOLVE_ALL_CASES") ? 200 : 20;
  ConvolveError error;
  CheckRandom random;

  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp (argv[i], "--seed") == 0)
      seed = strtoull (argv[i + 1], NULL, 10);
    else if (strcmp (argv[i], "--frames") == 0)
      frames = atoi (argv[i + 1]);
  if (convolve_device_find (-1, &error) != CONVOLVE_OK) {
    printf ("SKIP: %s\n", error.text);
    return 77;
  }
  printf ("seed %llu, %d frames\n", (unsigned long long) seed, frames);
  fflush (stdout);
  check_random_init (&random, seed, 1);
  for (int i = 0; i < 4; i++)
    check_frames (&random, frames, false);
  if (&fake_device_pageable) {
    setenv ("CUDACONVOLVE_FAKE", "no-staging", 1);
    check_frames (&random, frames, true);
  }
  return 0;
}
