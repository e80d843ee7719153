/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_case.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "support/names.h"

enum
{
  WALK = 40,             /* sizes 1..40 x 1..40 are walked through */
  MAX_PRODUCTS = 4000000 /* the most multiplications of one case, for the oracle is slow */
};

size_t
check_sample_size (const ConvolvePixel *pixel)
{
  return pixel->type == CONVOLVE_SAMPLE_U8 ? 1 : 2;
}

int
check_largest (const ConvolvePixel *pixel)
{
  return (1 << pixel->depth) - 1;
}

unsigned char *
check_case_sample (const CheckCase *test, const CheckBlock *block, int x, int y, int k)
{
  return block->bytes + block->origin + y * block->stride + (ptrdiff_t) x * test->pixel.stride
      + k * (ptrdiff_t) check_sample_size (&test->pixel);
}

/* word is in this machine's byte order; a swapped pixel gets it swapped. */
void
check_case_set (const CheckCase *test, const CheckBlock *block, int x, int y, int k, int word)
{
  unsigned char *at = check_case_sample (test, block, x, y, k);

  if (test->pixel.type == CONVOLVE_SAMPLE_U8) {
    at[0] = word;
  } else {
    uint16_t stored = test->pixel.swapped ? (word & 0xff) << 8 | word >> 8 : word;

    memcpy (at, &stored, sizeof stored);
  }
}

static int
random_zero (CheckRandom *random, int depth)
{
  switch (check_random_range (random, 0, 3)) {
    case 0:
      return 0;
    case 1:
      return 16 << (depth - 8);
    case 2:
      return 1 << (depth - 1);
    default:
      return check_random_range (random, 0, (1 << depth) - 1);
  }
}

static int
random_span (CheckRandom *random, int depth)
{
  switch (check_random_range (random, 0, 3)) {
    case 0:
      return 0;
    case 1:
      return 219 << (depth - 8);
    case 2:
      return (1 << depth) - 1;
    default:
      return check_random_range (random, 1, (1 << depth) - 1);
  }
}

static void
random_pixel (ConvolvePixel *pixel, CheckRandom *random)
{
  int size, all;

  memset (pixel, 0, sizeof *pixel);
  pixel->depth = 8;
  if (check_random_one_in (random, 2)) {
    pixel->type = CONVOLVE_SAMPLE_U16;
    pixel->depth = check_random_range (random, 9, 16);
    pixel->swapped = check_random_one_in (random, 3);
    if (check_random_one_in (random, 2))
      pixel->shift =
          check_random_one_in (random, 4) ? check_random_range (random, 0, 16 - pixel->depth) : 16 - pixel->depth;
  }
  size = (int) check_sample_size (pixel);

  pixel->samples = check_random_range (random, 1, 4);
  pixel->stride = pixel->samples * size;
  if (check_random_one_in (random, 3))
    pixel->stride += check_random_range (random, 1, 4) * size;

  all = (1 << pixel->samples) - 1;
  pixel->select = check_random_one_in (random, 3) ? check_random_range (random, 0, all) : all;
  pixel->biased = check_random_one_in (random, 3) ? check_random_range (random, 0, all) : all;
  for (int k = 0; k < pixel->samples; k++)
    pixel->zero[k] = random_zero (random, pixel->depth);
}

/* Levels have a random stream of their own, as ranges do. */
static void
random_outside (CheckCase *test)
{
  CheckRandom random;

  check_random_init (&random, test->seed, ~(uint64_t) test->number);
  for (int k = 0; k < test->pixel.samples; k++)
    test->pixel.outside[k] = random_zero (&random, test->pixel.depth);
}

/* The ranges have a random stream of their own, so that a seed and a number keep their mask and picture. */
static void
random_ranges (CheckCase *test)
{
  CheckRandom random;

  check_random_init (&random, ~test->seed, test->number);
  for (int k = 0; k < test->pixel.samples; k++)
    test->pixel.range[k] = random_span (&random, test->pixel.depth);
}

/* Every third mask becomes a combination, by a random stream of its own, too. Half of them are masks of edges. */
static bool
random_sets (CheckCase *test)
{
  CheckRandom random;

  check_random_init (&random, test->seed ^ 0x73657473, test->number);
  if (!check_random_one_in (&random, 3))
    return true;
  if (check_random_one_in (&random, 2))
    return check_mask_edges (&test->mask, &random, check_largest (&test->pixel));
  return check_mask_combine (&test->mask, &random, check_largest (&test->pixel));
}

/*
 * Every eighth case has a size at or next to one at which a tile may end. The others walk through all small sizes in
 * a scrambled order: 789 has no factor in common with 1600.
 */
static void
random_size (CheckCase *test, CheckRandom *random)
{
  static const int edges[] = { 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257 };
  enum
  {
    N_EDGES = sizeof edges / sizeof *edges
  };

  if (test->number % 8 == 7) {
    int edge = edges[check_random_range (random, 0, N_EDGES - 1)];
    int other = edges[check_random_range (random, 0, N_EDGES - 1)];

    switch (check_random_range (random, 0, 5)) {
      case 0:
        test->width = 300, test->height = 1;
        break;
      case 1:
        test->width = 1, test->height = 300;
        break;
      case 2:
        test->width = edge, test->height = check_random_range (random, 1, 20);
        break;
      case 3:
        test->width = check_random_range (random, 1, 20), test->height = edge;
        break;
      default:
        test->width = edge, test->height = edge * other <= 20000 ? other : edges[other % 6];
        break;
    }
  } else {
    uint64_t at = (test->number - test->number / 8) * 789 % (WALK * WALK);

    test->width = (int) (at % WALK) + 1;
    test->height = (int) (at / WALK) + 1;
  }
}

/* The region is the whole plane or a part, and small enough for the oracle. */
static void
random_region (CheckCase *test, CheckRandom *random)
{
  ConvolveRect *r = &test->region;
  const ConvolveMask *mask = &test->mask.mask;
  int64_t products = (int64_t) mask->width * mask->height * test->pixel.samples * convolve_mask_sets (mask);

  *r = (ConvolveRect){ 0, 0, test->width, test->height };
  if (check_random_one_in (random, 3)) {
    r->width = check_random_range (random, 1, test->width);
    r->height = check_random_range (random, 1, test->height);
  }
  while (products * r->width * r->height > MAX_PRODUCTS && r->width * r->height > 1) {
    if (r->width > r->height)
      r->width /= 2;
    else
      r->height /= 2;
  }
  r->x = check_random_range (random, 0, test->width - r->width);
  r->y = check_random_range (random, 0, test->height - r->height);
}

/* Fills the block with random bytes; the caller then writes the samples. */
static bool
make_block (CheckCase *test, CheckBlock *block, CheckRandom *random, bool plain, bool even, size_t guard)
{
  size_t row = (size_t) (test->width - 1) * test->pixel.stride + test->pixel.samples * check_sample_size (&test->pixel);
  size_t stride = (size_t) test->width * test->pixel.stride, before = guard, extent;
  bool negative = false;

  if (!plain) {
    switch (check_random_range (random, 0, 3)) {
      case 0:
        stride += check_random_range (random, 1, 40);
        break;
      case 1:
        stride = (stride + 63) / 64 * 64;
        break;
      default:
        break;
    }
    if (check_random_one_in (random, 4))
      before += check_random_range (random, 1, 15);
    negative = check_random_one_in (random, 8);
  }
  if (even && test->pixel.type == CONVOLVE_SAMPLE_U16) {
    stride += stride % 2;
    before += before % 2;
  }

  extent = stride * (test->height - 1) + row;
  block->size = before + extent + guard;
  block->origin = before + (negative ? stride * (test->height - 1) : 0);
  block->stride = negative ? -(ptrdiff_t) stride : (ptrdiff_t) stride;
  block->bytes = malloc (block->size);
  if (!block->bytes)
    return false;
  check_random_fill (random, block->bytes, block->size);
  return true;
}

static void
fill_image (CheckCase *test, CheckRandom *random)
{
  static const char *const contents[] = { "random", "all at most", "all at 0", "two values", "a ramp", "an impulse",
    "words above the depth", "flat", "all at zero level" };
  static const int weights[] = { 8, 2, 1, 4, 2, 3, 4, 3, 1 };
  enum
  {
    N_CONTENTS = sizeof contents / sizeof *contents
  };
  const ConvolvePixel *pixel = &test->pixel;
  int content = check_random_pick (random, weights, N_CONTENTS);
  int most = check_largest (pixel);
  int spot_x = check_random_range (random, 0, test->width - 1);
  int spot_y = check_random_range (random, 0, test->height - 1);
  int slope_x = check_random_range (random, -9, 9), slope_y = check_random_range (random, -300, 300);

  test->content = contents[content];
  test->flat = content == 1 || content == 2 || content >= 7;

  for (int k = 0; k < pixel->samples; k++) {
    int a = check_random_range (random, 0, most), b = check_random_range (random, 0, most);

    for (int y = 0; y < test->height; y++) {
      for (int x = 0; x < test->width; x++) {
        int value = 0, below = 0, word;

        switch (content) {
          case 0:
            value = check_random_range (random, 0, most);
            break;
          case 1:
            value = most;
            break;
          case 2:
            value = 0;
            break;
          case 3:
            value = check_random_one_in (random, 2) ? a : b;
            break;
          case 4:
            value = (a + slope_x * x + slope_y * y) & most;
            break;
          case 5:
            value = x == spot_x && y == spot_y ? most : pixel->zero[k];
            break;
          case 6:
            value = (int) (check_random_next (random) & ((1 << (16 - pixel->shift)) - 1));
            break;
          case 7:
            value = a;
            break;
          default:
            value = pixel->zero[k];
            break;
        }
        /* The bits below the sample are random, because they must not matter. */
        if (pixel->shift > 0)
          below = (int) (check_random_next (random) & ((1 << pixel->shift) - 1));
        word = value << pixel->shift | below;
        check_case_set (test, &test->source, x, y, k, word);
      }
    }
  }
}

bool
check_case_random (CheckCase *test, uint64_t seed, uint64_t number, bool even)
{
  CheckRandom random;

  memset (test, 0, sizeof *test);
  check_random_init (&random, seed, number);
  test->seed = seed;
  test->number = number;

  random_pixel (&test->pixel, &random);
  random_ranges (test);
  random_outside (test);
  test->boundary = check_random_range (&random, 0, CONVOLVE_N_BOUNDARIES - 1);
  random_size (test, &random);
  if (!check_mask_random (&test->mask, &random, check_largest (&test->pixel)) || !random_sets (test))
    return false;
  random_region (test, &random);
  if (!make_block (test, &test->source, &random, false, even, 0)
      || !make_block (test, &test->destination, &random, false, even, CHECK_GUARD))
    return false;
  fill_image (test, &random);
  return true;
}

bool
check_case_fixed (CheckCase *test, const char *name, const ConvolvePixel *pixel, ConvolveBoundary boundary, int width,
    int height, const double *taps, int mask_width, int mask_height, double divisor)
{
  CheckRandom random;

  memset (test, 0, sizeof *test);
  check_random_init (&random, 1, 1);
  test->name = name;
  test->content = "given";
  test->pixel = *pixel;
  test->boundary = boundary;
  test->width = width;
  test->height = height;
  test->region = (ConvolveRect){ 0, 0, width, height };
  if (!check_mask_from (&test->mask, mask_width, mask_height, taps, divisor, check_largest (pixel)))
    return false;
  return make_block (test, &test->source, &random, true, true, 0)
      && make_block (test, &test->destination, &random, true, true, CHECK_GUARD);
}

void
check_case_clear (CheckCase *test)
{
  check_mask_clear (&test->mask);
  free (test->source.bytes);
  free (test->destination.bytes);
  memset (test, 0, sizeof *test);
}

void
check_case_oracle (const CheckCase *test, Oracle *oracle)
{
  const ConvolvePixel *pixel = &test->pixel;
  const CheckMask *mask = &test->mask;

  *oracle = (Oracle){
    .sample_size = (int) check_sample_size (pixel),
    .depth = pixel->depth,
    .shift = pixel->shift,
    .swapped = pixel->swapped,
    .samples = pixel->samples,
    .pixel_stride = pixel->stride,
    .select = pixel->select,
    .biased = pixel->biased,
    .pixels = test->source.bytes + test->source.origin,
    .row_stride = test->source.stride,
    .width = test->width,
    .height = test->height,
    .boundary = check_boundary_oracle (test->boundary),
    .mask_width = mask->mask.width,
    .mask_height = mask->mask.height,
    .numerator = mask->sets[0].numerator,
    .denominator = mask->sets[0].denominator,
    .weights = mask->mask.taps,
    .divisor = mask->mask.divisor,
    .offset = mask->mask.offset,
    .combination = check_combination_oracle (mask->mask.combination),
    .more_sets = convolve_mask_sets (&mask->mask) - 1,
  };
  if (check_mask_has_integers (mask))
    oracle->integers = mask->sets[0].integers;
  for (int k = 0; k < oracle->more_sets; k++) {
    const CheckSet *set = &mask->sets[k + 1];

    oracle->more[k] = (OracleSet){ set->integers, set->numerator, set->denominator,
      convolve_mask_taps (&mask->mask, k + 1), convolve_mask_divisor (&mask->mask, k + 1) };
  }
  memcpy (oracle->zero, pixel->zero, sizeof oracle->zero);
  memcpy (oracle->outside, pixel->outside, sizeof oracle->outside);
  for (int k = 0; k < 4; k++)
    oracle->range[k] = pixel->range[k] != 0 ? pixel->range[k] : check_largest (pixel);
}

void
check_case_describe (const CheckCase *test, FILE *file)
{
  const ConvolvePixel *pixel = &test->pixel;
  const ConvolveMask *mask = &test->mask.mask;

  fprintf (file, "  pixel: %s depth %d shift %d%s, %d samples every %d bytes, select %#x, biased %#x, zero",
      pixel->type == CONVOLVE_SAMPLE_U8 ? "U8" : "U16", pixel->depth, pixel->shift, pixel->swapped ? " swapped" : "",
      pixel->samples, pixel->stride, pixel->select, pixel->biased);
  for (int k = 0; k < pixel->samples; k++)
    fprintf (file, " %d of %d (outside %d)", pixel->zero[k], pixel->range[k], pixel->outside[k]);
  fprintf (file, "\n  plane: %dx%d, region %dx%d at %d,%d, strides %td and %td, origins %zu and %zu, content: %s\n",
      test->width, test->height, test->region.width, test->region.height, test->region.x, test->region.y,
      test->source.stride, test->destination.stride, test->source.origin, test->destination.origin, test->content);
  fprintf (file, "  mask: %dx%d %s, %s of %d, offset %.17g, boundary %s, ", mask->width, mask->height, test->mask.kind,
      check_combination_name (mask->combination), convolve_mask_sets (mask), mask->offset,
      check_boundary_name (test->boundary));
  fprintf (file, "%s\n", test->mask.exact ? "exact" : test->mask.unknown ? "with long fractions" : "not exact");
  for (int k = 0; k < convolve_mask_sets (mask); k++) {
    const CheckSet *set = &test->mask.sets[k];
    const double *taps = convolve_mask_taps (mask, k);

    fprintf (file, "  set %d: divisor %.17g, ", k + 1, convolve_mask_divisor (mask, k));
    if (set->integers)
      fprintf (file, "integers times %" PRId64 "/%" PRId64 "\n", set->numerator, set->denominator);
    else
      fprintf (file, "%s\n", set->exact ? "integers times a long fraction" : "not exact");
    for (int j = 0; j < mask->height && mask->width <= 15 && mask->height <= 15; j++) {
      fprintf (file, "   ");
      for (int i = 0; i < mask->width; i++)
        fprintf (file, " %.10g", taps[j * mask->width + i]);
      fprintf (file, "\n");
    }
  }
}

ConvolvePlane
check_case_plane (const CheckCase *test, const unsigned char *source, unsigned char *destination)
{
  return (ConvolvePlane){
    .source = source + test->source.origin,
    .destination = destination + test->destination.origin,
    .source_stride = test->source.stride,
    .destination_stride = test->destination.stride,
    .width = test->width,
    .height = test->height,
    .region = test->region,
  };
}
