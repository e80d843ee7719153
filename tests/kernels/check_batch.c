/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches of convolve_region.h on a CUDA device against the same batches on the host: check_batch [SEED [CASES]]. Masks are
 * of integers, so that both give the same bytes. Exit 77 where there is no device.
 *
 * A case has up to 40 effects of all kinds in one or two pictures, in boxes that lie over each other or apart, and sometimes
 * two iterations. Afterwards the batch runs again, for other pictures. Pictures lie in memory of exactly their size, and all
 * bytes are compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convolve_device.h"
#include "convolve_region.h"
#include "support/random.h"

#define SKIPPED 77
#define MOST_WORKS 40
#define MOST_BOXES 12
#define MOST_CORNERS 9
#define N_PLANS 3
#define MOST_WIDTH 700 /* of most pictures */
#define MOST_DRAWN 40  /* pixels along a side of a picture that is drawn */

typedef struct
{
  CheckRandom random;
  uint64_t seed, number;
  ConvolvePixel pixel;
  int width, height;
  ptrdiff_t stride;
  size_t size; /* bytes of a picture */
  bool in_place, mirrored;
  int rounds;
  ConvolveBoundary boundary;
  ConvolveMask masks[N_PLANS];

  bool apart; /* no effect lies over another, so that a device may blend them in at once */
  int n_works;
  struct
  {
    ConvolveRect region;
    int kind; /* 0..N_PLANS-1 is a plan, then a blur, pixelate, fill and draw */
    ConvolveBlur blur;
    ConvolveBlocks blocks;
    int values[CONVOLVE_MAX_SAMPLES];
    ConvolveDrawing drawing;
    ConvolveArea area;
    ConvolveExtras extras;
    bool has_matte; /* a sample of the picture that the effects are made of */
    ConvolveRect boxes[MOST_BOXES];
    ConvolveOutline outlines[MOST_BOXES];
    ConvolvePoint corners[MOST_BOXES * MOST_CORNERS];
    size_t memory; /* bytes from the start of the batch's */
  } works[MOST_WORKS];
  uint16_t drawn[MOST_DRAWN * MOST_DRAWN * CONVOLVE_MAX_SAMPLES]; /* the values of all drawings, on the host */
  size_t memory;
} Case;

static int
sample_size (const Case *c)
{
  return c->pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2;
}

/* --- random cases --- */

static void
make_pixel (Case *c)
{
  CheckRandom *random = &c->random;
  ConvolvePixel *pixel = &c->pixel;
  bool deep = check_random_one_in (random, 2);
  int size = deep ? 2 : 1;

  pixel->type = deep ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8;
  pixel->depth = deep ? check_random_range (random, 9, 12) : 8;
  pixel->shift = deep ? check_random_range (random, 0, 16 - pixel->depth) : 0;
  pixel->swapped = deep && check_random_one_in (random, 3);
  pixel->samples = check_random_range (random, 1, 4);
  pixel->stride = size * (pixel->samples + (check_random_one_in (random, 3) ? check_random_range (random, 1, 3) : 0));
  pixel->select = check_random_one_in (random, 3) ? (unsigned) check_random_range (random, 1, (1 << pixel->samples) - 1)
                                                  : (1u << pixel->samples) - 1;
  pixel->biased = pixel->select;
  for (int k = 0; k < pixel->samples; k++) {
    pixel->zero[k] = check_random_one_in (random, 2) ? 0 : 1 << (pixel->depth - 1);
    pixel->outside[k] = check_random_range (random, 0, (1 << pixel->depth) - 1);
  }
}

/* Small integers, and sums that fit every depth of make_pixel(). */
static void
make_mask (Case *c, ConvolveMask *mask)
{
  CheckRandom *random = &c->random;
  int most = check_random_one_in (random, 4) ? 15 : 4;
  double sum = 0;

  convolve_mask_init (mask, 2 * check_random_range (random, 0, most) + 1, 2 * check_random_range (random, 0, most) + 1);
  for (int i = 0; i < mask->width * mask->height; i++) {
    mask->taps[i] = check_random_range (random, -1, 3);
    sum += mask->taps[i];
  }
  mask->divisor = sum > 0 ? sum : 1;
}

/* In a cell of its own, of a grid of 7 x 7. */
static ConvolveRect
rect_in_cell (Case *c, int i)
{
  int width = c->width / 7, height = c->height / 7;
  int x = check_random_range (&c->random, 0, width - 1), y = check_random_range (&c->random, 0, height - 1);

  return (ConvolveRect){ i % 7 * width + x, i / 7 * height + y, check_random_range (&c->random, 1, width - x),
    check_random_range (&c->random, 1, height - y) };
}

/* Small ones in large pictures: there many boxes of one mask are gathered in an atlas. */
static ConvolveRect
random_rect (Case *c)
{
  CheckRandom *random = &c->random;
  int x = check_random_range (random, 0, c->width - 1), y = check_random_range (random, 0, c->height - 1);

  if (c->width > MOST_WIDTH)
    return (ConvolveRect){ x, y, check_random_range (random, 1, c->width - x < 60 ? c->width - x : 60),
      check_random_range (random, 1, c->height - y < 60 ? c->height - y : 60) };

  return (ConvolveRect){ x, y, check_random_range (random, 1, c->width - x),
    check_random_range (random, 1, c->height - y) };
}

/* Boxes in a row with no luma pixel between them, or a few: some share a sample of chroma, and some do not. */
static void
place_side_by_side (Case *c, const ConvolveArea *area, ConvolveRect *boxes)
{
  CheckRandom *random = &c->random;
  int x = check_random_range (random, -10, c->width * area->x_step / 2);

  for (int i = 0; i < area->count; i++) {
    boxes[i].x = x;
    boxes[i].y = check_random_range (random, 0, 2 * area->y_step);
    boxes[i].width = check_random_range (random, 1, 2 + c->width * area->x_step / (2 * area->count));
    x += boxes[i].width + check_random_range (random, 0, 2 * (area->x_step + area->feather));
  }
}

static void
make_area (Case *c, ConvolveArea *area, ConvolveRect *boxes)
{
  CheckRandom *random = &c->random;

  *area = (ConvolveArea){ .boxes = boxes,
    .count = check_random_range (random, 0, MOST_BOXES),
    .shape = check_random_range (random, 0, CONVOLVE_N_SHAPES - 1),
    .feather = check_random_one_in (random, 2) ? 0 : check_random_range (random, 1, 40),
    .outside = check_random_one_in (random, 5),
    .transparency = check_random_one_in (random, 3) ? check_random_range (random, 0, CONVOLVE_WHOLE_WEIGHT) : 0,
    .x_step = 1 << check_random_range (random, 0, 2),
    .y_step = 1 << check_random_range (random, 0, 2) };
  for (int i = 0; i < area->count; i++)
    boxes[i] = (ConvolveRect){ check_random_range (random, -c->width, c->width * area->x_step),
      check_random_range (random, -c->height, c->height * area->y_step), check_random_range (random, 1, c->width),
      check_random_range (random, 1, c->height) };
  if (check_random_one_in (random, 3))
    place_side_by_side (c, area, boxes);
}

/* Polygons in some of the boxes of a work; the others stay boxes. */
static void
make_polygons (Case *c, int i)
{
  CheckRandom *random = &c->random;
  ConvolveArea *area = &c->works[i].area;
  ConvolveExtras *extras = &c->works[i].extras;

  if (!check_random_one_in (random, 3))
    return;
  extras->outlines = c->works[i].outlines;
  extras->corners = c->works[i].corners;
  area->extras = extras;
  for (int n = 0; n < area->count; n++) {
    ConvolveOutline *outline = &c->works[i].outlines[n];
    ConvolveRect box = area->boxes[n];
    int least = box.width < box.height ? box.width : box.height;

    if (check_random_one_in (random, 4))
      continue;
    *outline = (ConvolveOutline){ extras->n_corners, check_random_range (random, 3, MOST_CORNERS),
      check_random_one_in (random, 2) ? 0 : check_random_range (random, 0, 8 * least) };
    for (int k = 0; k < outline->count; k++)
      c->works[i].corners[extras->n_corners++] =
          (ConvolvePoint){ check_random_range (random, 16 * box.x + outline->margin,
                               16 * (box.x + box.width) - outline->margin),
            check_random_range (random, 16 * box.y + outline->margin, 16 * (box.y + box.height) - outline->margin) };
  }
}

static void
make_blur (Case *c, ConvolveBlur *blur)
{
  CheckRandom *random = &c->random;
  int most = check_random_one_in (random, 2) ? 31 : 6;
  ConvolveMask mask;

  convolve_mask_init (&mask, 2 * check_random_range (random, 0, most) + 1,
      2 * check_random_range (random, 0, most) + 1);
  for (int i = 0; i < mask.width * mask.height; i++)
    mask.taps[i] = 0.1 + check_random_unit (random);
  convolve_blur_init (blur, &mask, 1 << check_random_range (random, 0, 6), NULL);
  convolve_mask_clear (&mask);
}

static void
make_works (Case *c)
{
  CheckRandom *random = &c->random;
  int kinds = check_random_one_in (random, 2) ? 1 : N_PLANS + 4; /* of one mask, or of all kinds */

  c->apart = c->width >= 7 && c->height >= 7 && check_random_one_in (random, 2);

  for (size_t i = 0; i < sizeof (c->drawn) / sizeof (c->drawn[0]); i++)
    c->drawn[i] = (uint16_t) check_random_range (random, 0, (1 << c->pixel.depth) - 1);
  c->n_works = check_random_range (random, 1, check_random_one_in (random, 2) ? 4 : MOST_WORKS);
  for (int i = 0; i < c->n_works; i++) {
    c->works[i].region = c->apart ? rect_in_cell (c, i) : random_rect (c);
    c->works[i].kind =
        c->apart ? check_random_range (random, N_PLANS, N_PLANS + 3) : check_random_range (random, 0, kinds - 1);
    make_blur (c, &c->works[i].blur);
    c->works[i].blocks = (ConvolveBlocks){ .x = check_random_range (random, -40, 40),
      .y = check_random_range (random, -40, 40),
      .size = check_random_range (random, 1, check_random_one_in (random, 3) ? 400 : 60),
      .x_step = 1 << check_random_range (random, 0, 2),
      .y_step = 1 << check_random_range (random, 0, 2),
      .noise = check_random_one_in (random, 2) ? 0 : 1u << check_random_range (random, 0, c->pixel.depth + 12),
      .key = { check_random_next (random), check_random_next (random) },
      .draws = { check_random_next (random), check_random_next (random) } };
    for (int k = 0; k < CONVOLVE_MAX_SAMPLES; k++)
      c->works[i].values[k] = check_random_range (random, 0, (1 << c->pixel.depth) - 1);
    c->works[i].drawing = (ConvolveDrawing){ .width = check_random_range (random, 1, MOST_DRAWN),
      .height = check_random_range (random, 1, MOST_DRAWN),
      .x = check_random_range (random, -(1 << 22), 1 << 22),
      .y = check_random_range (random, -(1 << 22), 1 << 22),
      .across = check_random_range (random, 1, 1 << check_random_range (random, 10, 18)),
      .down = check_random_range (random, 1, 1 << check_random_range (random, 10, 18)) };
    make_area (c, &c->works[i].area, c->works[i].boxes);
    if (c->apart) {
      c->works[i].area.count = c->works[i].area.count % 4;
      c->works[i].blocks.x_step = c->works[i].area.x_step;
      c->works[i].blocks.y_step = c->works[i].area.y_step;
      if (c->n_works > 1)
        c->works[i].blocks.size = c->works[i].blocks.size % 6 + 1;
    }
    make_polygons (c, i);
    c->works[i].has_matte = check_random_one_in (random, 4);
    c->works[i].memory = c->memory;
    c->memory += ((size_t) c->works[i].region.width * c->works[i].region.height * c->pixel.stride + 15) / 16 * 16;
  }
}

static void
make_case (Case *c, uint64_t seed, uint64_t number)
{
  int row;

  memset (c, 0, sizeof (*c));
  check_random_init (&c->random, seed, number);
  c->seed = seed;
  c->number = number;
  make_pixel (c);
  c->width = check_random_range (&c->random, 1, check_random_one_in (&c->random, 4) ? MOST_WIDTH : 150);
  c->height = check_random_range (&c->random, 1, check_random_one_in (&c->random, 4) ? 500 : 100);
  if (check_random_one_in (&c->random, 16)) {
    c->width = check_random_range (&c->random, 1800, 2400);
    c->height = check_random_range (&c->random, 1200, 1500);
  }
  row = (c->width - 1) * c->pixel.stride + c->pixel.samples * sample_size (c);
  c->stride = row + sample_size (c) * check_random_range (&c->random, 0, 5);
  c->size = (size_t) (c->height - 1) * (size_t) c->stride + (size_t) row;
  c->in_place = check_random_one_in (&c->random, 2);
  c->mirrored = check_random_one_in (&c->random, 4);
  c->rounds = check_random_one_in (&c->random, 4) ? 2 : 1;
  c->boundary = check_random_range (&c->random, 0, CONVOLVE_N_BOUNDARIES - 1);
  for (int i = 0; i < N_PLANS; i++)
    make_mask (c, &c->masks[i]);
  make_works (c);
}

static void
clear_case (Case *c)
{
  for (int i = 0; i < N_PLANS; i++)
    convolve_mask_clear (&c->masks[i]);
}

/* --- one batch --- */

/* Row 0 of a picture, which with mirrored rows is the last one in memory. */
static void *
first_row (const Case *c, void *picture)
{
  return (uint8_t *) picture + (c->mirrored ? (c->height - 1) * c->stride : 0);
}

static ptrdiff_t
signed_stride (const Case *c)
{
  return c->mirrored ? -c->stride : c->stride;
}

/* Where pixel (0, 0) would be, if the memory of the work were a part of a plane. */
static void *
origin_of (const Case *c, void *memory, int i)
{
  const ConvolveRect *region = &c->works[i].region;
  size_t row = (size_t) region->width * c->pixel.stride;

  return (void *) ((uintptr_t) memory + c->works[i].memory - region->y * row - (size_t) region->x * c->pixel.stride);
}

static ConvolveStatus
add_effect (const Case *c, int i, ConvolveBatch *batch, ConvolvePlan *const *plans, const uint16_t *drawn, void *memory,
    void *source, ConvolveError *error)
{
  ConvolveDrawing drawing = c->works[i].drawing;
  ConvolvePlane plane = { first_row (c, source), origin_of (c, memory, i), signed_stride (c),
    (ptrdiff_t) c->works[i].region.width * c->pixel.stride, c->width, c->height, c->works[i].region };

  if (c->works[i].kind < N_PLANS)
    return convolve_batch_convolve (batch, plans[c->works[i].kind], &plane, error);
  if (c->works[i].kind == N_PLANS)
    return convolve_batch_blur (batch, &c->pixel, c->boundary, &c->works[i].blur, &plane, error);
  if (c->works[i].kind == N_PLANS + 1)
    return convolve_batch_pixelate (batch, &c->pixel, &c->works[i].blocks, &plane, error);
  drawing.values = drawn;
  if (c->works[i].kind == N_PLANS + 3)
    return convolve_batch_draw (batch, &c->pixel, &drawing, &plane, error);
  return convolve_batch_fill (batch, &c->pixel, c->works[i].values, &plane, error);
}

static ConvolveStatus
add_blend (const Case *c, int i, ConvolveBatch *batch, void *memory, void *source, void *destination,
    ConvolveError *error)
{
  ConvolveMatte matte = { first_row (c, source), signed_stride (c), c->width, c->height, c->pixel,
    c->pixel.samples - 1 };
  ConvolveExtras extras = c->works[i].extras;
  ConvolveArea area = c->works[i].area;
  ConvolvePlane plane = { origin_of (c, memory, i), first_row (c, destination),
    (ptrdiff_t) c->works[i].region.width * c->pixel.stride, signed_stride (c), c->width, c->height,
    c->works[i].region };

  /* A picture that blends write to is no matte. */
  if (c->works[i].has_matte && source != destination) {
    extras.mattes = &matte;
    extras.n_mattes = 1;
    area.extras = &extras;
  }
  return convolve_batch_blend (batch, &c->pixel, &area, &plane, error);
}

/* One round from source to destination. */
static ConvolveStatus
run_round (const Case *c, ConvolveBatch *batch, ConvolvePlan *const *plans, const uint16_t *drawn, void *source,
    void *destination, ConvolveError *error)
{
  size_t row = (size_t) (c->width - 1) * c->pixel.stride + (size_t) c->pixel.samples * sample_size (c);
  void *memory;
  ConvolveStatus status = convolve_batch_begin (batch, c->memory, &memory, error);

  for (int i = 0; i < c->n_works && status == CONVOLVE_OK; i++)
    status = add_effect (c, i, batch, plans, drawn, memory, source, error);
  if (status == CONVOLVE_OK && source != destination)
    status = convolve_batch_copy (batch, first_row (c, source), signed_stride (c), first_row (c, destination),
        signed_stride (c), row, c->height, error);
  for (int i = 0; i < c->n_works && status == CONVOLVE_OK; i++)
    status = add_blend (c, i, batch, memory, source, destination, error);
  return status == CONVOLVE_OK ? convolve_batch_run (batch, error) : status;
}

/* Where the batch works. In place the two pictures are one. */
typedef struct
{
  void *source, *destination;
} Pictures;

/* All rounds with the first pictures, and the last round again with the others. */
static ConvolveStatus
run_case (const Case *c, ConvolveBatch *batch, ConvolveDevice *device, const uint16_t *drawn,
    const Pictures pictures[2], ConvolveError *error)
{
  const ConvolveMove moves[] = { { pictures[0].source, pictures[1].source, c->size },
    { pictures[0].destination, pictures[1].destination, c->size } };
  ConvolvePlan *plans[N_PLANS] = { NULL };
  ConvolveStatus status = CONVOLVE_OK;

  for (int i = 0; i < N_PLANS && status == CONVOLVE_OK; i++) {
    plans[i] = convolve_plan_new (&c->pixel, c->boundary, &c->masks[i], device ? "auto" : "cpu", device, error);
    status = plans[i] ? CONVOLVE_OK : error->status;
  }
  for (int i = 0; i < c->rounds && status == CONVOLVE_OK; i++)
    status = run_round (c, batch, plans, drawn, i == 0 ? pictures[0].source : pictures[0].destination,
        pictures[0].destination, error);
  if (status == CONVOLVE_OK)
    status = convolve_batch_run_again (batch, moves, c->in_place ? 1 : 2, error);
  if (device)
    convolve_device_finish (device, NULL);
  for (int i = 0; i < N_PLANS; i++)
    convolve_plan_unref (plans[i]);
  return status;
}

/* The pictures on the host go to the device, and come back. */
static ConvolveStatus
run_on_device (const Case *c, ConvolveBatch *batch, ConvolveDevice *device, const Pictures pictures[2],
    ConvolveError *error)
{
  Pictures there[2] = { 0 };
  uint16_t *drawn = convolve_device_alloc (device, sizeof (c->drawn), error);
  ConvolveStatus status = drawn
      ? convolve_device_copy (device, drawn, c->drawn, sizeof (c->drawn), CONVOLVE_COPY_TO_DEVICE, error)
      : error->status;

  for (int i = 0; i < 2 && status == CONVOLVE_OK; i++) {
    there[i].source = convolve_device_alloc (device, c->size, error);
    there[i].destination = c->in_place ? there[i].source : convolve_device_alloc (device, c->size, error);
    status = there[i].source && there[i].destination ? CONVOLVE_OK : error->status;
    if (status == CONVOLVE_OK && !c->in_place)
      status = convolve_device_copy (device, there[i].destination, pictures[i].destination, c->size,
          CONVOLVE_COPY_TO_DEVICE, error);
    if (status == CONVOLVE_OK)
      status =
          convolve_device_copy (device, there[i].source, pictures[i].source, c->size, CONVOLVE_COPY_TO_DEVICE, error);
  }
  if (status == CONVOLVE_OK)
    status = run_case (c, batch, device, drawn, there, error);
  for (int i = 0; i < 2 && status == CONVOLVE_OK; i++)
    status = convolve_device_copy (device, pictures[i].destination, there[i].destination, c->size,
        CONVOLVE_COPY_TO_HOST, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_finish (device, error);
  convolve_device_release (device, drawn);
  for (int i = 0; i < 2; i++) {
    convolve_device_release (device, there[i].source);
    if (!c->in_place)
      convolve_device_release (device, there[i].destination);
  }
  return status;
}

static int
compare (const Case *c, const char *which, const uint8_t *host, const uint8_t *device)
{
  for (size_t i = 0; i < c->size; i++)
    if (host[i] != device[i]) {
      printf ("FAILED: byte %zu (row %zu, pixel %zu) is %u, on the host %u; %dx%d pixels, depth %d, shift %d%s, %d "
              "samples, stride %d, select %x, boundary %d, %d works, %d rounds%s%s%s; seed %" PRIu64 ", case %" PRIu64
              "\n",
          i, i / (size_t) c->stride, i % (size_t) c->stride / (size_t) c->pixel.stride, device[i], host[i], c->width,
          c->height, c->pixel.depth, c->pixel.shift, c->pixel.swapped ? " swapped" : "", c->pixel.samples,
          c->pixel.stride, c->pixel.select, (int) c->boundary, c->n_works, c->rounds, c->in_place ? ", in place" : "",
          c->mirrored ? ", last row first" : "", which, c->seed, c->number);
      return 1;
    }
  return 0;
}

/* Pictures of random bytes. */
static Pictures
make_pictures (Case *c)
{
  Pictures pictures = { .source = malloc (c->size) };

  pictures.destination = c->in_place ? pictures.source : malloc (c->size);
  check_random_fill (&c->random, pictures.source, c->size);
  if (!c->in_place)
    check_random_fill (&c->random, pictures.destination, c->size);
  return pictures;
}

static Pictures
copy_pictures (const Case *c, Pictures from)
{
  Pictures pictures = { .source = memcpy (malloc (c->size), from.source, c->size) };

  pictures.destination = c->in_place ? pictures.source : memcpy (malloc (c->size), from.destination, c->size);
  return pictures;
}

static void
free_pictures (const Case *c, Pictures pictures)
{
  free (pictures.source);
  if (!c->in_place)
    free (pictures.destination);
}

/* Both batches are kept from case to case, as the element keeps its own from frame to frame. */
static int
check (Case *c, ConvolveBatch *host, ConvolveBatch *batch, ConvolveDevice *device)
{
  Pictures expected[2], result[2];
  ConvolveError error = { 0 };
  int failures = 0;

  for (int i = 0; i < 2; i++) {
    expected[i] = make_pictures (c);
    result[i] = copy_pictures (c, expected[i]);
  }
  if (run_case (c, host, NULL, c->drawn, expected, &error) != CONVOLVE_OK
      || run_on_device (c, batch, device, result, &error) != CONVOLVE_OK) {
    printf ("FAILED: %s; seed %" PRIu64 ", case %" PRIu64 "\n", error.text, c->seed, c->number);
    failures++;
  }
  for (int i = 0; i < 2 && failures == 0; i++)
    failures += compare (c, i == 0 ? "" : ", run again", expected[i].destination, result[i].destination);
  for (int i = 0; i < 2; i++) {
    free_pictures (c, expected[i]);
    free_pictures (c, result[i]);
  }
  return failures;
}

int
main (int argc, char **argv)
{
  uint64_t seed = argc > 1 ? strtoull (argv[1], NULL, 10) : 20261122;
  uint64_t cases = argc > 2 ? strtoull (argv[2], NULL, 10) : 600;
  ConvolveError error = { 0 };
  ConvolveDevice *device = convolve_device_new (-1, &error);
  ConvolveBatch *host = convolve_batch_new (NULL, NULL), *batch;
  Case *c = malloc (sizeof (*c));
  int failures = 0;

  if (!device) {
    printf ("SKIP: %s\n", error.text);
    convolve_batch_free (host);
    free (c);
    return error.status == CONVOLVE_NO_DEVICE ? SKIPPED : 1;
  }
  batch = convolve_batch_new (device, NULL);
  for (uint64_t i = 0; i < cases && failures < 10; i++) {
    make_case (c, seed, i);
    failures += check (c, host, batch, device);
    clear_case (c);
  }
  printf ("seed %" PRIu64 ", %" PRIu64 " cases, %d failures\n", seed, cases, failures);
  convolve_batch_free (batch);
  convolve_batch_free (host);
  convolve_device_free (device);
  free (c);
  return failures > 0;
}
