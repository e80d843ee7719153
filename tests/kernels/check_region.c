/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks of convolve_region.h against definitions of its own, pixel by pixel: check_region [SEED [CASES]]. Pictures are
 * held in memory of exactly their size, and every byte that must not change is compared.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/oracle.h"
#include "support/oracle_boundary.h"
#include "support/random.h"
#include "convolve_region.h"

#define FEW_BOXES 6
#define MATTE_SIDE 60 /* luma pixels at most, and planes may be larger */
#define MOST_BOXES 80 /* with the definition of weights that was checked on few boxes */

typedef struct
{
  CheckRandom random;
  uint64_t seed, number;
  ConvolvePixel pixel;
  int width, height;
  ptrdiff_t stride;
  size_t size; /* bytes of a picture */
  ConvolveRect region, boxes[MOST_BOXES];
  ConvolveOutline outlines[MOST_BOXES];
  ConvolvePoint corners[MOST_BOXES * CONVOLVE_MAX_CORNERS];
  ConvolveArea area;
  ConvolveExtras extras;
  ConvolveMatte mattes[CONVOLVE_MAX_MATTES];
  uint8_t samples[CONVOLVE_MAX_MATTES][MATTE_SIDE * MATTE_SIDE * 8];
} Case;

static int
fail (const Case *c, const char *what, int x, int y)
{
  printf (
      "FAILED %s: pixel %d,%d; %dx%d pixels, depth %d, shift %d%s, %d samples, stride %d, select %x, region %dx%d at "
      "%d,%d; seed %" PRIu64 ", case %" PRIu64 "\n",
      what, x, y, c->width, c->height, c->pixel.depth, c->pixel.shift, c->pixel.swapped ? " swapped" : "",
      c->pixel.samples, c->pixel.stride, c->pixel.select, c->region.width, c->region.height, c->region.x, c->region.y,
      c->seed, c->number);
  return 1;
}

/* --- pictures --- */

static size_t
offset_of (const Case *c, ptrdiff_t stride, int x, int y, int sample)
{
  return y * stride + (size_t) x * c->pixel.stride + (size_t) sample * (c->pixel.depth > 8 ? 2 : 1);
}

/* "swapped" is the other byte order than this machine's. */
static bool
is_big_endian (const Case *c)
{
  return c->pixel.swapped != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static int
get (const Case *c, const uint8_t *at)
{
  int most = (1 << c->pixel.depth) - 1;
  int value = c->pixel.depth > 8 ? oracle_sample (at, c->pixel.swapped, c->pixel.shift) : at[0];

  return value > most ? most : value;
}

static void
put (const Case *c, uint8_t *at, int value)
{
  int word = value << c->pixel.shift;

  if (c->pixel.depth == 8) {
    at[0] = (uint8_t) word;
    return;
  }
  at[is_big_endian (c) ? 1 : 0] = (uint8_t) (word & 255);
  at[is_big_endian (c) ? 0 : 1] = (uint8_t) (word >> 8);
}

/* A picture of random bytes, to be freed. */
static uint8_t *
make_picture (Case *c)
{
  uint8_t *bytes = malloc (c->size);

  check_random_fill (&c->random, bytes, c->size);
  return bytes;
}

static uint8_t *
copy_picture (const Case *c, const uint8_t *from)
{
  uint8_t *bytes = malloc (c->size);

  memcpy (bytes, from, c->size);
  return bytes;
}

static size_t
row_bytes (const Case *c, int width)
{
  return (size_t) (width - 1) * c->pixel.stride + (size_t) c->pixel.samples * (c->pixel.depth > 8 ? 2 : 1);
}

static void
make_case (Case *c, uint64_t seed, uint64_t number)
{
  CheckRandom *random = &c->random;
  bool deep;
  int size;

  check_random_init (random, seed, number);
  *c = (Case){ .random = *random, .seed = seed, .number = number };
  deep = check_random_one_in (random, 2);
  size = deep ? 2 : 1;
  c->pixel.type = deep ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8;
  c->pixel.depth = deep ? check_random_range (random, 9, 16) : 8;
  c->pixel.shift = deep ? check_random_range (random, 0, 16 - c->pixel.depth) : 0;
  c->pixel.swapped = deep && check_random_one_in (random, 3);
  c->pixel.samples = check_random_range (random, 1, 4);
  c->pixel.stride =
      size * (c->pixel.samples + (check_random_one_in (random, 3) ? check_random_range (random, 1, 3) : 0));
  c->pixel.select = check_random_one_in (random, 2)
      ? (1u << c->pixel.samples) - 1
      : (unsigned) check_random_range (random, 0, (1 << c->pixel.samples) - 1);
  c->width = check_random_range (random, 1, 70);
  c->height = check_random_range (random, 1, 50);
  c->stride = (ptrdiff_t) row_bytes (c, c->width) + size * check_random_range (random, 0, 5);
  c->size = (size_t) (c->height - 1) * c->stride + row_bytes (c, c->width);
  c->region.x = check_random_range (random, 0, c->width - 1);
  c->region.y = check_random_range (random, 0, c->height - 1);
  c->region.width = check_random_range (random, 1, c->width - c->region.x);
  c->region.height = check_random_range (random, 1, c->height - c->region.y);
  if (check_random_one_in (random, 3))
    c->region = (ConvolveRect){ 0, 0, c->width, c->height };
}

/* A polygon in box i: of any corners, of corners on whole pixels, or of edges along rows and columns of pixels. */
static void
make_polygon (Case *c, int i)
{
  CheckRandom *random = &c->random;
  ConvolveRect box = c->boxes[i];
  int margin = check_random_one_in (random, 2)
      ? 0
      : check_random_range (random, 0, 8 * (box.width < box.height ? box.width : box.height));
  int count = check_random_range (random, 3, check_random_one_in (random, 4) ? CONVOLVE_MAX_CORNERS : 6);
  int kind = check_random_range (random, 0, 2);
  ConvolvePoint *corners = c->corners + c->extras.n_corners;

  c->outlines[i] = (ConvolveOutline){ c->extras.n_corners, count, margin };
  c->extras.n_corners += count;
  for (int k = 0; k < count; k++) {
    corners[k] = (ConvolvePoint){ check_random_range (random, 16 * box.x + margin, 16 * (box.x + box.width) - margin),
      check_random_range (random, 16 * box.y + margin, 16 * (box.y + box.height) - margin) };
    if (kind > 0 && margin == 0) {
      corners[k].x = 16 * check_random_range (random, box.x, box.x + box.width);
      corners[k].y = 16 * check_random_range (random, box.y, box.y + box.height);
    }
    if (kind > 1 && k > 0 && k % 2)
      corners[k].x = corners[k - 1].x;
    else if (kind > 1 && k > 0)
      corners[k].y = corners[k - 1].y;
  }
}

/* Up to two mattes of any depth and byte order, and of pixels of up to 8 bytes. Most are hard, others have any value. */
static void
make_mattes (Case *c)
{
  CheckRandom *random = &c->random;

  c->extras.mattes = c->mattes;
  c->extras.n_mattes = check_random_range (random, 0, CONVOLVE_MAX_MATTES);
  for (int i = 0; i < c->extras.n_mattes; i++) {
    ConvolveMatte *matte = &c->mattes[i];
    bool deep = check_random_one_in (random, 2), hard = check_random_one_in (random, 2);
    int size = deep ? 2 : 1;

    *matte = (ConvolveMatte){ .width = check_random_range (random, 1, MATTE_SIDE),
      .height = check_random_range (random, 1, MATTE_SIDE),
      .pixel = { .type = deep ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8,
          .depth = deep ? check_random_range (random, 9, 16) : 8,
          .swapped = deep && check_random_one_in (random, 3),
          .samples = check_random_range (random, 1, 4) } };
    matte->pixel.shift = deep ? check_random_range (random, 0, 16 - matte->pixel.depth) : 0;
    matte->pixel.stride = size * check_random_range (random, matte->pixel.samples, 4);
    matte->sample = check_random_range (random, 0, matte->pixel.samples - 1);
    matte->stride = (ptrdiff_t) matte->width * matte->pixel.stride;
    matte->samples = c->samples[i];
    check_random_fill (random, c->samples[i], sizeof (c->samples[i]));
    for (int k = 0; k < matte->width * matte->height && hard; k++)
      memset (c->samples[i] + k * matte->pixel.stride, check_random_one_in (random, 8) ? 255 : 0,
          (size_t) matte->pixel.stride);
    if (check_random_one_in (random, 3)) {
      matte->samples = c->samples[i] + (matte->height - 1) * matte->stride;
      matte->stride = -matte->stride;
    }
  }
}

static void
make_area (Case *c)
{
  CheckRandom *random = &c->random;
  ConvolveArea *area = &c->area;
  int across, down, most = 0; /* side of many boxes */

  area->shape = check_random_range (random, 0, CONVOLVE_N_SHAPES - 1);
  area->feather = check_random_one_in (random, 2)
      ? 0
      : check_random_range (random, 1, check_random_one_in (random, 4) ? CONVOLVE_MAX_FEATHER : 40);
  area->outside = check_random_one_in (random, 3);
  area->transparency = check_random_one_in (random, 3) ? check_random_range (random, 0, CONVOLVE_WHOLE_WEIGHT) : 0;
  area->x_step = 1 << check_random_range (random, 0, 2);
  area->y_step = 1 << check_random_range (random, 0, 2);
  area->boxes = c->boxes;
  area->count = check_random_range (random, 0, FEW_BOXES);
  across = c->width * area->x_step;
  down = c->height * area->y_step;
  if (check_random_one_in (random, 3)) {
    area->count = check_random_range (random, FEW_BOXES + 1, check_random_one_in (random, 2) ? 20 : MOST_BOXES);
    most = check_random_range (random, 1, 12);
  }
  for (int i = 0; i < area->count; i++)
    c->boxes[i] = most > 0
        ? (ConvolveRect){ check_random_range (random, -most, across), check_random_range (random, -most, down),
            check_random_range (random, 1, most), check_random_range (random, 1, most) }
        : (ConvolveRect){ check_random_range (random, -across, across), check_random_range (random, -down, down),
            check_random_range (random, 1, across), check_random_range (random, 1, down) };
  if (!check_random_one_in (random, 2))
    return;
  make_mattes (c);
  c->extras.outlines = c->outlines;
  c->extras.corners = c->corners;
  area->extras = &c->extras;
  for (int i = 0; i < area->count; i++) {
    c->outlines[i] = (ConvolveOutline){ 0, 0, 0 };
    if (!check_random_one_in (random, 3))
      make_polygon (c, i);
  }
}

/* A plane whose destination, or source, is memory of the region alone. */
static void *
origin_of (const Case *c, uint8_t *bytes, size_t stride)
{
  return (void *) ((uintptr_t) bytes - c->region.y * stride - (uintptr_t) c->region.x * c->pixel.stride);
}

static bool
in_region (const Case *c, int x, int y)
{
  return x >= c->region.x && x < c->region.x + c->region.width && y >= c->region.y
      && y < c->region.y + c->region.height;
}

/* --- weights --- */

/* Part of an edge, from 0 to 1: from above low / below up to below high / below. */
typedef struct
{
  int64_t low, high, below; /* below > 0 */
} Part;

/* The part of an edge whose coordinate is between two numbers. FALSE where there is none. */
static bool
part_between (int from, int to, int least, int most, Part *part)
{
  int64_t d = to - from;

  *part = d > 0 ? (Part){ least - from, most - from, d }
      : d < 0   ? (Part){ from - most, from - least, -d }
                : (Part){ -1, 2, 1 };
  return d != 0 || (least < from && from < most);
}

static bool
is_less (int64_t a, int64_t a_below, int64_t b, int64_t b_below)
{
  return a * b_below < b * a_below;
}

/* Whether an edge has a point inside the square of a luma pixel, in exact fractions of the edge's length. */
static bool
passes (ConvolvePoint a, ConvolvePoint b, int x, int y)
{
  Part p, q;

  return (a.x != b.x || a.y != b.y) && part_between (a.x, b.x, 16 * x, 16 * x + 16, &p)
      && part_between (a.y, b.y, 16 * y, 16 * y + 16, &q) && p.low < p.below && p.high > 0 && q.low < q.below
      && q.high > 0 && is_less (p.low, p.below, q.high, q.below) && is_less (q.low, q.below, p.high, p.below);
}

static long double
distance_to_edge (ConvolvePoint a, ConvolvePoint b, long double x, long double y)
{
  long double dx = b.x - a.x, dy = b.y - a.y;
  long double along = ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy);

  along = along < 0 ? 0 : along > 1 ? 1 : along;
  return hypotl (x - a.x - along * dx, y - a.y - along * dy);
}

/* The weight of one luma pixel in one polygon before it is rounded down. The winding number is a sum of angles. */
static long double
polygon_weight (const ConvolveArea *area, const ConvolveOutline *outline, int x, int y)
{
  long double centre_x = 16 * x + 8, centre_y = 16 * y + 8, least = INFINITY, angle = 0, share;

  for (int i = 0; i < outline->count; i++) {
    ConvolvePoint a = area->extras->corners[outline->first + i];
    ConvolvePoint b = area->extras->corners[outline->first + (i + 1) % outline->count];
    long double u = a.x - centre_x, v = a.y - centre_y, s = b.x - centre_x, t = b.y - centre_y;

    if (passes (a, b, x, y))
      return 256;
    if (a.x == b.x && a.y == b.y)
      continue;
    least = fminl (least, distance_to_edge (a, b, centre_x, centre_y));
    angle += atan2l (u * t - v * s, u * s + v * t);
  }
  share = (least - outline->margin + 8) / 16;
  if (fabsl (angle) > 3 || (share < 1 - 1e-12L && least < INFINITY))
    return 256;
  share = 1 - share / (area->feather + 1);
  return share < 0 ? 0 : 256 * share;
}

/* The weight of one luma pixel in one box before it is rounded down, by the words of convolve_region.h. */
static long double
luma_weight (const ConvolveArea *area, int i, int x, int y)
{
  ConvolveRect box = area->boxes[i];

  if (area->extras && area->extras->outlines[i].count > 0)
    return polygon_weight (area, &area->extras->outlines[i], x, y);
  if (area->shape == CONVOLVE_SHAPE_RECTANGLE) {
    long double dx = x < box.x ? box.x - x : x >= box.x + box.width ? x - (box.x + box.width - 1) : 0;
    long double dy = y < box.y ? box.y - y : y >= box.y + box.height ? y - (box.y + box.height - 1) : 0;
    long double share = 1 - sqrtl (dx * dx + dy * dy) / (area->feather + 1);

    return share < 0 ? 0 : 256 * share;
  }
  long double u = x + 0.5L - (box.x + box.width / 2.0L), v = y + 0.5L - (box.y + box.height / 2.0L);
  long double a = box.width / 2.0L, b = box.height / 2.0L;
  long double q = hypotl (u / a, v / b) - 1, p = 1 - hypotl (u / (a + area->feather), v / (b + area->feather));

  return q <= 1e-12L ? 256 : p <= 0 ? 0 : 256 * p / (p + q);
}

/* The weight of one luma pixel in a matte, byte by byte. */
static int
matte_weight (const ConvolveMatte *matte, int x, int y)
{
  int whole = (1 << matte->pixel.depth) - 1, value;
  const uint8_t *at = (const uint8_t *) matte->samples;

  x = x < matte->width ? x : matte->width - 1;
  y = y < matte->height ? y : matte->height - 1;
  at += y * matte->stride + x * matte->pixel.stride + matte->sample * (matte->pixel.depth > 8 ? 2 : 1);
  value = at[0];
  if (matte->pixel.depth > 8)
    value = oracle_sample (at, matte->pixel.swapped, matte->pixel.shift);
  value = value < whole ? value : whole;
  return (int) floor (256.0 * value / whole + 0.5);
}

/* The weight of a pixel whose luma pixels have this weight inside, the largest or outside the least. */
static int
lessened (const ConvolveArea *area, int inside)
{
  return (int) floor ((area->outside ? 256 - inside : inside) * (1 - area->transparency / 256.0) + 0.5);
}

/* Whether weight is right for the pixel. A value that is a whole number but for the last digits may be rounded so. */
static bool
weight_is_right (const ConvolveArea *area, int x, int y, int weight)
{
  long double most = area->outside ? 256 : 0;

  for (int v = y * area->y_step; v < (y + 1) * area->y_step; v++)
    for (int u = x * area->x_step; u < (x + 1) * area->x_step; u++) {
      long double there = 0;

      for (int i = 0; i < area->count; i++)
        there = fmaxl (there, luma_weight (area, i, u, v));
      for (int i = 0; area->extras && i < area->extras->n_mattes; i++)
        there = fmaxl (there, matte_weight (&area->extras->mattes[i], u, v));
      most = area->outside ? fminl (most, there) : fmaxl (most, there);
    }
  if (fabsl (most - roundl (most)) < 1e-9L)
    return weight == lessened (area, (int) roundl (most)) || weight == lessened (area, (int) roundl (most) - 1);
  return weight == lessened (area, (int) floorl (most));
}

static int
print_area (const Case *c, int weight)
{
  printf ("  shape %d, feather %d, outside %d, transparency %d, steps %dx%d, weight %d, boxes", (int) c->area.shape,
      c->area.feather, c->area.outside, c->area.transparency, c->area.x_step, c->area.y_step, weight);
  for (int i = 0; i < c->area.count; i++)
    printf (" %dx%d at %d,%d", c->boxes[i].width, c->boxes[i].height, c->boxes[i].x, c->boxes[i].y);
  for (int i = 0; i < c->area.count && c->area.extras; i++) {
    printf ("\n  polygon %d, margin %d:", i, c->outlines[i].margin);
    for (int k = 0; k < c->outlines[i].count; k++)
      printf (" %d,%d", c->corners[c->outlines[i].first + k].x, c->corners[c->outlines[i].first + k].y);
  }
  printf ("\n");
  return 0;
}

/* --- the functions --- */

static int
check_blend (Case *c)
{
  size_t packed = (size_t) c->region.width * c->pixel.stride;
  size_t patch_size = (c->region.height - 1) * packed + row_bytes (c, c->region.width);
  uint8_t *patch = malloc (patch_size), *before = make_picture (c), *after = copy_picture (c, before);
  ConvolvePlane plane = { origin_of (c, patch, packed), after, (ptrdiff_t) packed, c->stride, c->width, c->height,
    c->region };
  int failures = 0;

  make_area (c);
  check_random_fill (&c->random, patch, patch_size);
  for (int y = 0; y < c->region.height; y++)
    for (int x = 0; x < c->region.width; x++)
      for (int k = 0; k < c->pixel.samples; k++)
        put (c, patch + offset_of (c, packed, x, y, k), get (c, patch + offset_of (c, packed, x, y, k)));
  if (convolve_blend (&c->pixel, &c->area, &plane, NULL) != CONVOLVE_OK)
    failures += fail (c, "blend refuses", 0, 0);
  for (int y = 0; y < c->height && !failures; y++)
    for (int x = 0; x < c->width && !failures; x++) {
      int weight = convolve_area_weight (&c->area, x, y);

      if (c->area.count <= FEW_BOXES && !weight_is_right (&c->area, x, y, weight))
        failures += fail (c, "weight", x, y) + print_area (c, weight);
      for (int k = 0; k < c->pixel.samples && in_region (c, x, y); k++) {
        uint8_t *at = before + offset_of (c, c->stride, x, y, k);
        int from = get (c, at), effect = get (c, patch + offset_of (c, packed, x - c->region.x, y - c->region.y, k));

        if ((c->pixel.select >> k & 1) && weight > 0)
          put (c, at, (int) floor (from + ((effect - from) * weight + 128) / 256.0));
      }
    }
  if (!failures && memcmp (before, after, c->size) != 0)
    failures += fail (c, "blend", 0, 0);
  free (patch);
  free (before);
  free (after);
  return failures;
}

static int
floor_div (int a, int b)
{
  return (int) floor ((double) a / b);
}

/* Compares the region with expected values, and everything else with what was there before. */
static int
compare (const Case *c, const char *what, uint8_t *before, const uint8_t *after, const int *expected)
{
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++)
      for (int k = 0; k < c->pixel.samples; k++)
        if (in_region (c, x, y) && (c->pixel.select >> k & 1))
          put (c, before + offset_of (c, c->stride, x, y, k), expected[(y * c->width + x) * c->pixel.samples + k]);
  for (size_t i = 0; i < c->size; i++)
    if (before[i] != after[i])
      return fail (c, what, (int) (i % c->stride) / c->pixel.stride, (int) (i / c->stride));
  return 0;
}

/* --- noise, by the words of convolve_region.h --- */

static uint64_t
turn (uint64_t word, int bits)
{
  return word << bits | word >> (64 - bits);
}

/* SipHash-2-4, byte by byte, as its authors describe it. */
static uint64_t
sip_hash (const uint64_t key[2], const uint8_t *bytes, size_t size)
{
  uint64_t a = key[0] ^ UINT64_C (0x736f6d6570736575), b = key[1] ^ UINT64_C (0x646f72616e646f6d);
  uint64_t c = key[0] ^ UINT64_C (0x6c7967656e657261), d = key[1] ^ UINT64_C (0x7465646279746573);

  for (size_t block = 0; block <= size / 8 + 1; block++) {
    bool last = block == size / 8 + 1;
    uint64_t word = block == size / 8 ? (uint64_t) size << 56 : 0;

    for (size_t i = 8 * block; i < 8 * block + 8 && i < size; i++)
      word |= (uint64_t) bytes[i] << 8 * (i % 8);
    d ^= last ? 0 : word;
    c ^= last ? 0xff : 0;
    for (int round = 0; round < (last ? 4 : 2); round++) {
      a += b, b = turn (b, 13), b ^= a, a = turn (a, 32);
      c += d, d = turn (d, 16), d ^= c;
      a += d, d = turn (d, 21), d ^= a;
      c += b, b = turn (b, 17), b ^= c, c = turn (c, 32);
    }
    a ^= last ? 0 : word;
  }
  return a ^ b ^ c ^ d;
}

static void
write_bytes (uint8_t *to, uint64_t word, int count)
{
  for (int i = 0; i < count; i++)
    to[i] = (uint8_t) (word >> 8 * i);
}

static int64_t
noise_of (const ConvolveBlocks *blocks, int draw, int column, int row, int k)
{
  uint8_t bytes[24];
  uint64_t h, u, m, digits = 0;
  int whole = 0;

  write_bytes (bytes, blocks->draws[draw], 8);
  write_bytes (bytes + 8, (uint64_t) (int64_t) column, 4);
  write_bytes (bytes + 12, (uint64_t) (int64_t) row, 4);
  write_bytes (bytes + 16, (uint64_t) k, 8);
  h = sip_hash (blocks->key, bytes, sizeof bytes);
  u = h >> 32 ? h >> 32 : 1;
  while (u >> (whole + 1))
    whole++;
  m = u * (UINT64_C (1) << 31) / (UINT64_C (1) << whole);
  for (int i = 0; i < 16; i++) {
    m = m * m / (UINT64_C (1) << 31);
    digits = 2 * digits + (m >= UINT64_C (1) << 32);
    m = m >= UINT64_C (1) << 32 ? m / 2 : m;
  }
  uint64_t l = (uint64_t) (32 - whole) * 65536 - digits,
           n = (l * 45426 / 65536 * blocks->noise + (1 << 23)) / (1 << 24);

  return h % 2 ? -(int64_t) n : (int64_t) n;
}

/* The authors' own value for 15 bytes, and the distribution of the library's numbers, which this file's are (below). */
static int
check_noise (uint64_t seed)
{
  const double scale = 50, ends[] = { 1, 10, 50, 100, 200, 400 };
  ConvolveBlocks blocks = { .noise = 256 * 50,
    .key = { UINT64_C (0x0706050403020100), UINT64_C (0x0f0e0d0c0b0a0908) } };
  int counts[6] = { 0 }, negative = 0, failures = 0;
  uint8_t bytes[15];

  for (int i = 0; i < 15; i++)
    bytes[i] = (uint8_t) i;
  if (sip_hash (blocks.key, bytes, sizeof bytes) != UINT64_C (0xa129ca6149be45e5))
    failures += printf ("FAILED the hash of 15 bytes\n") > 0;
  blocks.key[0] ^= seed;
  for (int i = 0; i < 100000; i++) {
    int64_t n = noise_of (&blocks, 0, i % 300 - 150, i / 300, i % 4);

    negative += n < 0;
    for (int k = 0; k < 6; k++)
      counts[k] += (double) (n < 0 ? -n : n) >= ends[k] - 0.5;
  }
  for (int k = 0; k < 6; k++) {
    double share = exp (-(ends[k] - 0.5) / scale), deviation = sqrt (share * (1 - share) / 100000);

    if (fabs (counts[k] / 1e5 - share) > 5 * deviation + 1e-5)
      failures += printf ("FAILED the noise: %d of 100000 are %g or larger, and %g %% should be; seed %" PRIu64 "\n",
                      counts[k], ends[k], 100 * share, seed)
          > 0;
  }
  if (abs (negative - 50000) > 1200)
    failures += printf ("FAILED the noise: %d of 100000 are negative; seed %" PRIu64 "\n", negative, seed) > 0;
  return failures;
}

static int
check_pixelate (Case *c)
{
  CheckRandom *random = &c->random;
  ConvolveBlocks blocks = { .x = check_random_range (random, -40, 40),
    .y = check_random_range (random, -40, 40),
    .size = check_random_range (random, 1, 30),
    .x_step = 1 << check_random_range (random, 0, 2),
    .y_step = 1 << check_random_range (random, 0, 2) };
  uint8_t *source = make_picture (c), *before = make_picture (c), *after = copy_picture (c, before);
  int *expected = malloc (sizeof (int) * c->width * c->height * c->pixel.samples);
  ConvolvePlane plane = { source, after, c->stride, c->stride, c->width, c->height, c->region };
  int failures = 0;

  if (check_random_one_in (random, 2)) {
    blocks.noise =
        check_random_one_in (random, 4) ? UINT32_MAX : 1u << check_random_range (random, 0, c->pixel.depth + 12);
    check_random_fill (random, blocks.key, sizeof blocks.key);
    check_random_fill (random, blocks.draws, sizeof blocks.draws);
  }
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++)
      for (int k = 0; k < c->pixel.samples; k++) {
        int column = floor_div (x * blocks.x_step - blocks.x, blocks.size);
        int row = floor_div (y * blocks.y_step - blocks.y, blocks.size);
        double sum = 0, count = 0;

        if (!in_region (c, x, y))
          continue;
        for (int v = 0; v < c->height; v++)
          for (int u = 0; u < c->width; u++)
            if (floor_div (u * blocks.x_step - blocks.x, blocks.size) == column
                && floor_div (v * blocks.y_step - blocks.y, blocks.size) == row) {
              sum += get (c, source + offset_of (c, c->stride, u, v, k));
              count++;
            }
        int64_t value = (int64_t) floor (sum / count + 0.5);

        if (blocks.noise > 0)
          value += noise_of (&blocks, 0, column, row, k) + noise_of (&blocks, 1, column, row, k);
        value = value < 0 ? 0 : value;
        expected[(y * c->width + x) * c->pixel.samples + k] =
            value > (1 << c->pixel.depth) - 1 ? (1 << c->pixel.depth) - 1 : (int) value;
      }
  if (convolve_pixelate (&c->pixel, &blocks, &plane, NULL) != CONVOLVE_OK)
    failures += fail (c, "pixelate refuses", 0, 0);
  failures += compare (c, "pixelate", before, after, expected);
  free (source);
  free (before);
  free (after);
  free (expected);
  return failures;
}

static int
check_fill (Case *c)
{
  uint8_t *before = make_picture (c), *after = copy_picture (c, before);
  int *expected = malloc (sizeof (int) * c->width * c->height * c->pixel.samples), values[4] = { 0 }, failures = 0;
  ConvolvePlane plane = { after, after, c->stride, c->stride, c->width, c->height, c->region };

  for (int k = 0; k < c->pixel.samples; k++)
    values[k] = check_random_range (&c->random, 0, (1 << c->pixel.depth) - 1);
  for (int i = 0; i < c->width * c->height * c->pixel.samples; i++)
    expected[i] = values[i % c->pixel.samples];
  if (convolve_fill (&c->pixel, values, &plane, NULL) != CONVOLVE_OK)
    failures += fail (c, "fill refuses", 0, 0);
  failures += compare (c, "fill", before, after, expected);
  free (before);
  free (after);
  free (expected);
  return failures;
}

/* The place of a pixel in a drawing's picture of `count` pixels, cut off to 1/256 of a pixel. */
static double
place_of (int64_t first, int64_t apart, int n, int count)
{
  double at = ((double) first + (double) apart * n) / 65536;

  return floor (fmin (fmax (at, 0), count - 1) * 256) / 256;
}

static int
check_draw (Case *c)
{
  CheckRandom *random = &c->random;
  uint8_t *before = make_picture (c), *after = copy_picture (c, before);
  int *expected = malloc (sizeof (int) * c->width * c->height * c->pixel.samples), samples = c->pixel.samples;
  int failures = 0, most = check_random_one_in (random, 2) ? 3 : 60;
  ConvolveDrawing drawing = { .width = check_random_range (random, 1, most),
    .height = check_random_range (random, 1, most),
    .x = check_random_range (random, -(1 << 21), 1 << 20),
    .y = check_random_range (random, -(1 << 21), 1 << 20),
    .across = check_random_range (random, 1, 1 << check_random_range (random, 12, 18)),
    .down = check_random_range (random, 1, 1 << check_random_range (random, 12, 18)) };
  size_t n = (size_t) drawing.width * drawing.height * samples;
  uint16_t *values = malloc (n * sizeof (*values)); /* of exactly its size */
  ConvolvePlane plane = { after, after, c->stride, c->stride, c->width, c->height, c->region };

  for (size_t i = 0; i < n; i++)
    values[i] =
        (uint16_t) (check_random_one_in (random, 4) ? (1 << c->pixel.depth) - 1
                                                    : check_random_range (random, 0, (1 << c->pixel.depth) - 1));
  drawing.values = values;
  for (int y = 0; y < c->height; y++)
    for (int x = 0; x < c->width; x++)
      for (int k = 0; k < samples; k++) {
        double u = place_of (drawing.x, drawing.across, x, drawing.width);
        double v = place_of (drawing.y, drawing.down, y, drawing.height), sum = 0;

        for (int j = (int) v; j <= (int) v + 1 && j < drawing.height; j++)
          for (int i = (int) u; i <= (int) u + 1 && i < drawing.width; i++)
            sum += (1 - fabs (u - i)) * (1 - fabs (v - j)) * values[((size_t) j * drawing.width + i) * samples + k];
        expected[((size_t) y * c->width + x) * samples + k] = (int) floor (sum + 0.5);
      }
  if (convolve_draw (&c->pixel, &drawing, &plane, NULL) != CONVOLVE_OK)
    failures += fail (c, "draw refuses", 0, 0);
  failures += compare (c, "draw", before, after, expected);
  free (values);
  free (before);
  free (after);
  free (expected);
  return failures;
}

/* The sample of a picture with a boundary around it. */
static int
get_bounded (const Case *c, const uint8_t *picture, ptrdiff_t stride, int width, int height, ConvolveBoundary boundary,
    int x, int y, int k)
{
  int u = oracle_inside ((OracleBoundary) boundary, x, width), v = oracle_inside ((OracleBoundary) boundary, y, height);

  if (u < 0 || v < 0)
    return boundary == CONVOLVE_BOUNDARY_CONSTANT ? c->pixel.outside[k] : c->pixel.zero[k];
  return get (c, picture + offset_of (c, stride, u, v, k));
}

/* c, r and b of convolve_region.h, sample by sample, at any place. */
typedef struct
{
  const Case *c;
  const uint8_t *source;
  ptrdiff_t stride;
  ConvolveBoundary boundary;
  const ConvolveBlur *blur;
} Definition;

static int64_t
define_c (const Definition *d, int x, int y, int k)
{
  int factor = d->blur->factor, depth = d->c->pixel.depth;
  int64_t sum = 0;

  for (int v = y * factor; v < (y + 1) * factor; v++)
    for (int u = x * factor; u < (x + 1) * factor; u++)
      sum += get_bounded (d->c, d->source, d->stride, d->c->width, d->c->height, d->boundary, u, v, k);
  return (sum * (1 << (16 - depth)) + factor * factor / 2) / (factor * factor);
}

static int64_t
define_b (const Definition *d, int x, int y, int k)
{
  int64_t b = 1 << 14;

  for (int j = 0; j < d->blur->height; j++) {
    int64_t r = 1 << 14;

    for (int i = 0; i < d->blur->width; i++)
      r += d->blur->row[i] * define_c (d, x + i - d->blur->width / 2, y + j - d->blur->height / 2, k);
    b += d->blur->column[j] * (r >> 15);
  }
  b >>= 15;
  if (d->c->pixel.depth > 8)
    b = b + 128 >= 65536 ? 65535 : (b + 128) / 256 * 256;
  return b;
}

static int
define_sample (const Definition *d, int x, int y, int k)
{
  int factor = d->blur->factor;
  long double across = (x + 0.5L) / factor - 0.5L, down = (y + 0.5L) / factor - 0.5L, sum = 0;
  int u = (int) floorl (across), v = (int) floorl (down);

  for (int n = 0; n < 4; n++) {
    long double weight = (n % 2 ? across - u : 1 - (across - u)) * (n / 2 ? down - v : 1 - (down - v));

    if (weight > 0)
      sum += weight * define_b (d, u + n % 2, v + n / 2, k);
  }
  sum = floorl (sum / (1 << (16 - d->c->pixel.depth)) + 0.5L); /* factors are powers of two: this is exact */
  return (int) fminl (sum, (1 << d->c->pixel.depth) - 1);
}

/* Small pictures, because the definition takes its time. */
static int
check_blur (Case *c)
{
  CheckRandom *random = &c->random;
  ConvolveMask mask;
  ConvolveBlur blur;
  ConvolveBoundary boundary = check_random_range (random, 0, CONVOLVE_N_BOUNDARIES - 1);
  int factor = 1 << check_random_range (random, 0, 3), most = factor > 2 ? 2 : 4;
  uint8_t *source = make_picture (c), *before = make_picture (c), *after = copy_picture (c, before);
  int *expected = malloc (sizeof (int) * c->width * c->height * c->pixel.samples), failures = 0;
  ConvolvePlane plane = { source, after, c->stride, c->stride, c->width, c->height, c->region };
  ConvolveBatch *batch = convolve_batch_new (NULL, NULL);
  uint8_t *moved = malloc (c->size);
  ConvolveMove move = { source, moved, c->size };
  void *memory;

  if (plane.region.width > 12)
    plane.region.width = c->region.width = 12;
  if (plane.region.height > 6)
    plane.region.height = c->region.height = 6;
  convolve_mask_init (&mask, 2 * check_random_range (random, 0, most) + 1,
      2 * check_random_range (random, 0, most) + 1);
  for (int i = 0; i < mask.width * mask.height; i++)
    mask.taps[i] = check_random_unit (random) + 1e-3;
  convolve_blur_init (&blur, &mask, factor, NULL);
  for (int k = 0; k < c->pixel.samples; k++) {
    c->pixel.zero[k] = check_random_range (random, 0, (1 << c->pixel.depth) - 1);
    c->pixel.outside[k] = check_random_range (random, 0, (1 << c->pixel.depth) - 1);
  }
  for (int y = c->region.y; y < c->region.y + c->region.height; y++)
    for (int x = c->region.x; x < c->region.x + c->region.width; x++)
      for (int k = 0; k < c->pixel.samples; k++) {
        Definition d = { c, source, c->stride, boundary, &blur };

        expected[(y * c->width + x) * c->pixel.samples + k] = define_sample (&d, x, y, k);
      }
  if (convolve_batch_begin (batch, 0, &memory, NULL) != CONVOLVE_OK
      || convolve_batch_blur (batch, &c->pixel, boundary, &blur, &plane, NULL) != CONVOLVE_OK
      || convolve_batch_run (batch, NULL) != CONVOLVE_OK)
    failures += fail (c, "blur refuses", 0, 0);
  failures += compare (c, "blur", before, after, expected);
  /* Again, from a picture that lies somewhere else, and to the memory of the effect, which does not move. */
  memcpy (moved, source, c->size);
  check_random_fill (random, source, c->size);
  memcpy (after, before, c->size);
  if (convolve_batch_run_again (batch, &move, 1, NULL) != CONVOLVE_OK)
    failures += fail (c, "a batch does not run again", 0, 0);
  failures += compare (c, "blur, run again", before, after, expected);
  if (convolve_batch_begin (batch, 0, &memory, NULL) != CONVOLVE_OK
      || convolve_batch_run_again (batch, &move, 1, NULL) != CONVOLVE_INVALID)
    failures += fail (c, "a batch runs again that has not run", 0, 0);
  free (moved);
  convolve_batch_free (batch);
  convolve_mask_clear (&mask);
  free (source);
  free (before);
  free (after);
  free (expected);
  return failures;
}

/* The vectors of a blur: sums of the mask's columns and rows, near the shares, that add up exactly. */
static int
check_vectors (void)
{
  ConvolveMask mask;
  ConvolveBlur blur;
  int row = 0, column = 0, failures = 0;

  convolve_mask_init (&mask, 5, 3);
  for (int i = 0; i < 15; i++)
    mask.taps[i] = (i % 5 + 1) * (i / 5 + 1.5) / 7;
  mask.divisor = 3;
  if (convolve_blur_init (&blur, &mask, 4, NULL) != CONVOLVE_OK || blur.width != 5 || blur.height != 3)
    failures++;
  for (int i = 0; i < 5; i++) {
    row += blur.row[i];
    failures += fabs (blur.row[i] / 32768.0 - (i + 1) / 15.0) > 6.0 / 32768;
  }
  for (int i = 0; i < 3; i++) {
    column += blur.column[i];
    failures += fabs (blur.column[i] / 32768.0 - (i + 1.5) / 7.5) > 4.0 / 32768;
  }
  failures += row != 32768 || column != 32768;
  convolve_mask_clear (&mask);
  if (failures)
    printf ("FAILED: the vectors of a blur\n");
  return failures;
}

/* --- threads --- */

#define WIDE 620 /* pixels of a picture that is worth the while of several threads */
#define HIGH 450
#define MANY 14 /* effects */

/* One frame of effects of all kinds, by the threads of a pool, or by one thread. */
static ConvolveStatus
run_shared (uint64_t seed, uint64_t number, ConvolvePool *pool, uint8_t *source, uint8_t *destination)
{
  CheckRandom random;
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8 };
  ConvolveBatch *batch = convolve_batch_new (NULL, NULL);
  ConvolveBlur blurs[MANY];
  ConvolveRect regions[MANY];
  uint16_t drawn[4 * 9 * 9];
  void *memory;
  ConvolveStatus status;
  size_t room;

  check_random_init (&random, seed, number);
  pixel.samples = pixel.stride = check_random_range (&random, 1, 4);
  pixel.select = (1u << pixel.samples) - 1;
  room = (size_t) WIDE * HIGH * (size_t) pixel.stride;
  for (int i = 0; i < 4 * 9 * 9; i++)
    drawn[i] = (uint16_t) check_random_range (&random, 0, 255);
  convolve_batch_set_pool (batch, pool);
  status = convolve_batch_begin (batch, MANY * room, &memory, NULL);
  for (int i = 0; i < MANY && status == CONVOLVE_OK; i++) {
    int x = check_random_range (&random, 0, WIDE - 1), y = check_random_range (&random, 0, HIGH - 1);
    ConvolvePlane plane = { source, (uint8_t *) memory + (size_t) i * room, WIDE * pixel.stride, WIDE * pixel.stride,
      WIDE, HIGH, { x, y, check_random_range (&random, 1, WIDE - x), check_random_range (&random, 1, HIGH - y) } };
    ConvolveBlocks blocks = { .x = check_random_range (&random, -99, 99),
      .y = check_random_range (&random, -99, 99),
      .size = check_random_range (&random, 1, 99),
      .x_step = 1 << check_random_range (&random, 0, 2),
      .y_step = 1 << check_random_range (&random, 0, 2),
      .noise = check_random_one_in (&random, 2) ? 999 : 0 };
    ConvolveDrawing drawing = { drawn, 9, 9, 0, 0, check_random_range (&random, 1, 999),
      check_random_range (&random, 1, 999) };
    const int values[CONVOLVE_MAX_SAMPLES] = { 1, 2, 3, 4 };
    int kind = check_random_range (&random, 0, 5), half = 1 << check_random_range (&random, 0, 5);
    ConvolveMask mask;

    regions[i] = plane.region;
    convolve_mask_init (&mask, half < 32 ? 2 * half - 1 : 1, check_random_one_in (&random, 4) ? 1 : 2 * half - 1);
    for (int k = 0; k < mask.width * mask.height; k++)
      mask.taps[k] = 1 + k % 5;
    convolve_blur_init (&blurs[i], &mask, 1 << check_random_range (&random, 0, 6), NULL);
    convolve_mask_clear (&mask);
    if (kind == 0)
      status = convolve_batch_fill (batch, &pixel, values, &plane, NULL);
    else if (kind == 1)
      status = convolve_batch_draw (batch, &pixel, &drawing, &plane, NULL);
    else if (kind == 2)
      status = convolve_batch_pixelate (batch, &pixel, &blocks, &plane, NULL);
    else
      status = convolve_batch_blur (batch, &pixel, CONVOLVE_BOUNDARY_REFLECT, &blurs[i], &plane, NULL);
  }
  if (status == CONVOLVE_OK)
    status = convolve_batch_copy (batch, source, WIDE * pixel.stride, destination, WIDE * pixel.stride,
        (size_t) WIDE * pixel.stride, HIGH, NULL);
  for (int i = 0; i < MANY && status == CONVOLVE_OK; i++) {
    ConvolveRect box = { regions[i].x + 3, regions[i].y + 3, regions[i].width, regions[i].height };
    ConvolveArea area = { .boxes = &box, .count = 1, .feather = 2 * i, .x_step = 1, .y_step = 1, .outside = i == 2 };
    ConvolvePlane plane = { (uint8_t *) memory + (size_t) i * room, destination, WIDE * pixel.stride,
      WIDE * pixel.stride, WIDE, HIGH, regions[i] };

    status = convolve_batch_blend (batch, &pixel, &area, &plane, NULL);
  }
  if (status == CONVOLVE_OK)
    status = convolve_batch_run (batch, NULL);
  convolve_batch_free (batch);
  return status;
}

/* The bytes do not depend on the number of threads. */
static int
check_threads (uint64_t seed)
{
  static const int threads[] = { 1, 2, 3, 8 };
  const size_t size = (size_t) 4 * WIDE * HIGH;
  uint8_t *source = malloc (size), *expected = malloc (size), *result = malloc (size);
  int failures = 0;

  for (uint64_t number = 0; number < 8 && failures == 0; number++) {
    CheckRandom random;

    check_random_init (&random, seed, 1000000 + number);
    check_random_fill (&random, source, size);
    memset (expected, 0, size);
    if (run_shared (seed, number, NULL, source, expected) != CONVOLVE_OK)
      failures++;
    for (size_t i = 0; i < sizeof (threads) / sizeof (threads[0]) && failures == 0; i++) {
      ConvolvePool *pool = convolve_pool_new (threads[i], NULL);

      memset (result, 0, size);
      if (run_shared (seed, number, pool, source, result) != CONVOLVE_OK || memcmp (expected, result, size) != 0) {
        printf ("FAILED: %d threads make other bytes; seed %" PRIu64 ", frame %" PRIu64 "\n", threads[i], seed, number);
        failures++;
      }
      convolve_pool_free (pool);
    }
  }
  free (source);
  free (expected);
  free (result);
  return failures;
}

/* --- arguments out of range --- */

static int
expect_invalid (const char *what, ConvolveStatus status, const ConvolveError *error)
{
  if (status == CONVOLVE_INVALID && error->status == status && error->text[0])
    return 0;
  printf ("FAILED: %s is not refused\n", what);
  return 1;
}

static int
check_arguments (void)
{
  uint8_t bytes[64 * 64] = { 0 };
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  ConvolvePlane plane = { bytes, bytes, 64, 64, 64, 64, { 0, 0, 64, 64 } }, narrow = plane;
  ConvolveRect box = { 0, 0, 8, 8 }, empty = { 0, 0, 0, 8 }, huge = { 0, 0, CONVOLVE_MAX_BOX + 1, 1 };
  ConvolveRect far_left = { INT_MIN, 0, 8, 8 }, far_up = { 0, INT_MIN, 8, 8 };
  ConvolveArea area = { .boxes = &box, .count = 1, .x_step = 1, .y_step = 1 }, bad = area;
  ConvolvePoint corners[] = { { 0, 0 }, { 128, 0 }, { 0, 128 }, { 0, 129 } };
  ConvolveOutline outlines[] = { { 0, 3, 0 }, { 0, 2, 0 }, { 0, CONVOLVE_MAX_CORNERS + 1, 0 }, { -1, 3, 0 },
    { 2, 3, 0 }, { INT_MAX, 3, 0 }, { 0, 3, -1 }, { 0, 3, 1 }, { 0, 4, 0 } };
  ConvolveExtras extras = { .corners = corners, .n_corners = 4 };
  ConvolveBlocks blocks = { .x_step = 1, .y_step = 1 };
  ConvolveError error;
  ConvolveMask mask;
  ConvolveBlur blur;
  ConvolveBatch *batch = convolve_batch_new (NULL, NULL);
  void *memory;
  int failures = 0, value = 256;

  narrow.destination_stride = 63;
  failures += expect_invalid ("a narrow destination", convolve_blend (&pixel, &area, &narrow, &error), &error);
  bad.boxes = &empty;
  failures += expect_invalid ("an empty box", convolve_blend (&pixel, &bad, &plane, &error), &error);
  bad.boxes = &huge;
  failures += expect_invalid ("a huge box", convolve_blend (&pixel, &bad, &plane, &error), &error);
  bad.boxes = &far_left;
  failures += expect_invalid ("a box at INT_MIN", convolve_blend (&pixel, &bad, &plane, &error), &error);
  bad.boxes = &far_up;
  failures += expect_invalid ("a box at INT_MIN", convolve_blend (&pixel, &bad, &plane, &error), &error);
  bad = area;
  bad.feather = CONVOLVE_MAX_FEATHER + 1;
  failures += expect_invalid ("a long feather", convolve_blend (&pixel, &bad, &plane, &error), &error);
  bad = area;
  bad.transparency = CONVOLVE_WHOLE_WEIGHT + 1;
  failures += expect_invalid ("a transparency of 257", convolve_blend (&pixel, &bad, &plane, &error), &error);
  bad = area;
  bad.x_step = 3;
  failures += expect_invalid ("a step of 3", convolve_blend (&pixel, &bad, &plane, &error), &error);
  bad = area;
  bad.shape = CONVOLVE_N_SHAPES;
  failures += expect_invalid ("a shape", convolve_blend (&pixel, &bad, &plane, &error), &error);
  for (size_t i = 0; i < sizeof (outlines) / sizeof (outlines[0]); i++) {
    bad = area;
    extras.outlines = &outlines[i];
    bad.extras = &extras;
    if (i > 0)
      failures += expect_invalid ("a polygon", convolve_blend (&pixel, &bad, &plane, &error), &error);
    else if (convolve_blend (&pixel, &bad, &plane, &error) != CONVOLVE_OK)
      failures += printf ("FAILED: a polygon is refused\n") > 0;
  }
  for (int i = 0; i < 5; i++) {
    ConvolveMatte matte = { bytes, 64, 64, 64, pixel, 0 };
    ConvolveExtras with_matte = { .mattes = &matte, .n_mattes = i == 0 ? CONVOLVE_MAX_MATTES + 1 : 1 };

    matte.samples = i == 1 ? NULL : bytes;
    matte.width = i == 2 ? 0 : 64;
    matte.sample = i == 3 ? 1 : 0;
    matte.pixel.depth = i == 4 ? 9 : 8;
    bad = area;
    bad.extras = &with_matte;
    failures += expect_invalid ("a matte", convolve_blend (&pixel, &bad, &plane, &error), &error);
  }
  failures += expect_invalid ("blocks of 0", convolve_pixelate (&pixel, &blocks, &plane, &error), &error);
  blocks.size = 1;
  blocks.x = INT_MIN;
  failures += expect_invalid ("blocks at INT_MIN", convolve_pixelate (&pixel, &blocks, &plane, &error), &error);
  for (int i = 0; i < 4; i++) {
    uint16_t drawn = 0;
    ConvolveDrawing drawing = { i == 0 ? NULL : &drawn, i == 1 ? 0 : 1, 1, i == 2 ? INT64_MIN : 0, 0, i == 3 ? 0 : 1,
      1 };

    failures += expect_invalid ("a drawing", convolve_draw (&pixel, &drawing, &plane, &error), &error);
  }
  failures += expect_invalid ("a value of 256", convolve_fill (&pixel, &value, &plane, &error), &error);
  convolve_mask_init (&mask, 3, 3);
  failures += expect_invalid ("weights of 0", convolve_blur_init (&blur, &mask, 1, &error), &error);
  mask.taps[0] = 1;
  failures += expect_invalid ("one weight at the edge", convolve_blur_init (&blur, &mask, 1, &error), &error);
  mask.taps[8] = 1;
  failures += expect_invalid ("a factor of 3", convolve_blur_init (&blur, &mask, 3, &error), &error);
  mask.taps[1] = -1;
  failures += expect_invalid ("a negative weight", convolve_blur_init (&blur, &mask, 2, &error), &error);
  convolve_mask_clear (&mask);

  /* Effects come first, then copies, then blends. */
  value = 1;
  convolve_batch_begin (batch, 0, &memory, NULL);
  if (convolve_batch_fill (batch, &pixel, &value, &plane, &error) != CONVOLVE_OK
      || convolve_batch_copy (batch, bytes, 64, bytes + 32, 64, 8, 8, &error) != CONVOLVE_OK
      || convolve_batch_blend (batch, &pixel, &area, &plane, &error) != CONVOLVE_OK) {
    printf ("FAILED: an effect, a copy and a blend are refused\n");
    failures++;
  }
  failures +=
      expect_invalid ("an effect behind a blend", convolve_batch_fill (batch, &pixel, &value, &plane, &error), &error);
  failures += expect_invalid ("a copy behind a blend",
      convolve_batch_copy (batch, bytes, 64, bytes + 32, 64, 8, 8, &error), &error);
  convolve_batch_free (batch);
  return failures;
}

int
main (int argc, char **argv)
{
  uint64_t seed = argc > 1 ? strtoull (argv[1], NULL, 10) : 20261122;
  uint64_t cases = argc > 2 ? strtoull (argv[2], NULL, 10) : 1500;
  int failures = check_arguments () + check_vectors () + check_noise (seed) + check_threads (seed);

  for (uint64_t i = 0; i < cases && failures < 10; i++) {
    static int (*const checks[]) (Case *) = { check_blend, check_pixelate, check_fill, check_blur, check_draw };
    Case c;

    make_case (&c, seed, i);
    failures += checks[i % (sizeof (checks) / sizeof (checks[0]))](&c);
  }
  printf ("seed %" PRIu64 ", %" PRIu64 " cases, %d failures\n", seed, cases, failures);
  return failures > 0;
}
