/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzes the plans and runs of the kernel library on the host: an input gives the mask, the pixel, the plane with
 * its region and strides, and the variant. The result is compared as the kernel checks compare: with the oracles,
 * and with the bytes of cpu-reference where the plan follows an arithmetic. One input in four has arguments that
 * must be refused.
 *
 * Most inputs have a small mask and few outputs, which is fast. A hash of the input chooses those that have more taps,
 * a mask for Fourier transforms, or two threads. So no part of an input can be copied from input to input until most of
 * them are slow.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/loops/levels.h"
#include "convolve_pool.h"
#include "fuzz.h"
#include "kernels/check_cpu.h"
#include "kernels/check_run.h"

enum
{
  MOST_PATTERN = 48,
  LEAST_LARGE = 57 /* the side of a mask that Fourier transforms may take */
};

/* What one input may cost. */
typedef struct
{
  int taps, products; /* of all sets; of the oracle */
  int rows;           /* of the plane */
  bool large, threads;
} Size;

static const Size usual = { .taps = 75, .products = 600, .rows = 12 };
static const Size medium = { .taps = 500, .products = 4000, .rows = 24 };
static const Size threaded = { .taps = 75, .products = 600, .rows = 24, .threads = true };
static const Size large = { .taps = 129 * 129, .products = 150000, .rows = 24, .large = true };

/* One input in 128 is large, one in 64 takes two threads, and one in 32 is medium. */
static const Size *
choose_size (const uint8_t *data, size_t size)
{
  uint32_t hash = 2166136261u;

  for (size_t i = 0; i < size; i++)
    hash = (hash ^ data[i]) * 16777619u;
  hash ^= hash >> 15;
  hash = hash * 2246822519u >> 24;
  return hash < 2 ? &large : hash < 6 ? &threaded : hash < 14 ? &medium : &usual;
}

/* How the variant cpu is to cut the plane in another run, the level of instructions, and the pool. */
static struct
{
  int level, strip, band;
  bool whole; /* not only the region */
  ConvolvePool *pool;
} again;

/* Made once, as by an element. */
static ConvolvePool *
two_threads (void)
{
  static ConvolvePool *pool;

  if (!pool)
    pool = convolve_pool_new (2, NULL);
  return pool;
}

/* Whether both blocks have the same bytes: all of them, or those of the region's pixels. */
static bool
are_same (const CheckCase *test, const unsigned char *a, const unsigned char *b, bool all)
{
  const CheckBlock *block = &test->destination;
  const size_t row = (size_t) test->region.width * test->pixel.stride - test->pixel.stride
      + test->pixel.samples * check_sample_size (&test->pixel);

  if (all)
    return memcmp (a, b, block->size) == 0;
  for (int y = test->region.y; y < test->region.y + test->region.height; y++) {
    const ptrdiff_t at =
        (ptrdiff_t) block->origin + y * block->stride + (ptrdiff_t) test->region.x * test->pixel.stride;

    if (memcmp (a + at, b + at, row) != 0)
      return false;
  }
  return true;
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

/*
 * Takes the place of the function of check_cpu.c, which runs a case at all levels and in several pools: one level,
 * and one way to cut, which the input chooses.
 */
bool
check_cpu_same (const CheckCase *test, const unsigned char *result, FILE *file)
{
  unsigned char *destination = malloc (test->destination.size);
  ConvolvePlane plane = check_case_plane (test, test->source.bytes, destination);
  ConvolvePlan *plan = convolve_plan_new (&test->pixel, test->boundary, &test->mask.mask, "cpu", NULL, NULL);
  ConvolveCpu *cpu = plan ? convolve_cpu_of (plan) : NULL;
  ConvolveCpuCut cut;
  bool same = false;

  if (again.whole)
    plane.region = (ConvolveRect){ 0, 0, test->width, test->height };
  if (cpu && destination) {
    cpu->level = convolve_cpu_level (again.level % convolve_cpu_level_count ());
    convolve_plan_set_pool (plan, again.pool);
    cut = convolve_cpu_cut_for (again.band % 2 && cpu->large ? cpu->large : cpu, plan, &plane);
    if (again.pool)
      cut.threads = convolve_pool_threads (again.pool);
    if (again.strip > 0) {
      cut.strip = cut.cpu->fft && again.strip > cut.strip ? cut.strip : again.strip;
      cut.band = again.band;
      cut.streams = test->pixel.type == CONVOLVE_SAMPLE_U8 && test->pixel.stride == test->pixel.samples
          && test->pixel.select == (1u << test->pixel.samples) - 1;
    }
    memcpy (destination, test->destination.bytes, test->destination.size);
    same = convolve_cpu_run_cut (plan, &plane, &cut, NULL) == CONVOLVE_OK
        && are_same (test, destination, result, !again.whole);
    if (!same)
      fprintf (file, "FAILED cpu: other bytes at the level %s, in pieces of %d pixels and %d rows%s%s\n",
          cpu->level->name, again.strip, again.band, again.whole ? ", of the whole plane" : "",
          again.pool ? ", with two threads" : "");
  }
  convolve_plan_unref (plan);
  free (destination);
  return same;
}

/* --- from bytes to a case --- */

static void
make_pixel (FuzzBytes *bytes, ConvolvePixel *pixel)
{
  const bool deep = fuzz_one_in (bytes, 2);
  int all, size = deep ? 2 : 1, most;

  memset (pixel, 0, sizeof *pixel);
  pixel->type = deep ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8;
  pixel->depth = deep ? fuzz_range (bytes, 9, 16) : 8;
  pixel->shift = deep ? fuzz_range (bytes, 0, 16 - pixel->depth) : 0;
  pixel->swapped = deep && fuzz_one_in (bytes, 3);
  pixel->samples = fuzz_range (bytes, 1, 4);
  pixel->stride = (pixel->samples + (fuzz_one_in (bytes, 3) ? fuzz_range (bytes, 0, 4) : 0)) * size;
  all = (1 << pixel->samples) - 1;
  pixel->select = all ^ (fuzz_one_in (bytes, 3) ? fuzz_range (bytes, 0, all) : 0);
  pixel->biased = all ^ (fuzz_one_in (bytes, 3) ? fuzz_range (bytes, 0, all) : 0);
  most = (1 << pixel->depth) - 1;
  for (int k = 0; k < pixel->samples && fuzz_one_in (bytes, 2); k++) {
    pixel->zero[k] = fuzz_range (bytes, 0, most);
    pixel->outside[k] = fuzz_range (bytes, 0, most);
    pixel->range[k] = fuzz_range (bytes, 0, most);
  }
}

/* Few bytes of the input that stand for many numbers: they are read again and again. */
typedef struct
{
  unsigned char bytes[MOST_PATTERN];
  int length, at;
} Pattern;

static Pattern
make_pattern (FuzzBytes *bytes)
{
  Pattern pattern = { .length = fuzz_range (bytes, 1, MOST_PATTERN) };

  for (int i = 0; i < pattern.length; i++)
    pattern.bytes[i] = (unsigned char) fuzz_take (bytes, 1);
  return pattern;
}

static uint64_t
next (Pattern *pattern, int count)
{
  uint64_t number = 0;

  for (int i = 0; i < count; i++, pattern->at++)
    number |= (uint64_t) pattern->bytes[pattern->at % pattern->length] << 8 * i;
  return number;
}

/* How the numbers of a pattern become taps. */
enum
{
  TAPS_INTEGERS,
  TAPS_SCALED,   /* times a power of two */
  TAPS_DECIMALS, /* tenths */
  TAPS_FRACTIONS,
  TAPS_LARGE, /* integers of up to 24 bits */
  TAPS_SPREAD,
  TAPS_ANY, /* any double */
  N_TAPS
};

static double
make_tap (Pattern *pattern, int kind, int scale)
{
  const uint64_t bits = next (pattern, kind < TAPS_FRACTIONS ? 1 : kind == TAPS_ANY ? 8 : 3);
  const double small = (int8_t) bits, wide = (int32_t) ((uint32_t) bits << 8) / 256;
  double any;

  switch (kind) {
    case TAPS_INTEGERS:
      return small;
    case TAPS_SCALED:
      return ldexp (small, scale % 40);
    case TAPS_DECIMALS:
      return small / 10;
    case TAPS_FRACTIONS:
      return (wide + 100 * scale) / 8388608;
    case TAPS_LARGE:
      return wide;
    case TAPS_SPREAD:
      return ldexp (wide, (int) (bits % 41) - 20);
    default:
      memcpy (&any, &bits, sizeof any);
      return any;
  }
}

/* Forms that the library looks for: a product of a column and a row, equal taps, and taps that mirror each other. */
static void
shape_taps (double *taps, int width, int height, int form)
{
  const int count = width * height;

  for (int k = 0; k < count; k++) {
    const int i = k % width, j = k / width;

    if (form == 1 && i > 0 && j > 0)
      taps[k] = taps[i] * taps[j * width];
    else if (form == 2)
      taps[k] = taps[0];
    else if (form == 3 && k > count / 2)
      taps[k] = taps[count - 1 - k];
    else if (form == 4)
      taps[k] = taps[j <= height / 2 ? j * width + (i <= width / 2 ? i : width - 1 - i)
                                     : (height - 1 - j) * width + (i <= width / 2 ? i : width - 1 - i)];
    else if (form == 5 && k % 3 != 0)
      taps[k] = 0;
    else if (form == 6 && k > count / 2)
      taps[k] = -taps[count - 1 - k];
  }
}

static double
sum_of (const double *taps, int count, bool magnitudes)
{
  double sum = 0;

  for (int k = 0; k < count; k++)
    sum += magnitudes ? fabs (taps[k]) : taps[k];
  return sum;
}

static double
make_divisor (FuzzBytes *bytes, const double *taps, int count)
{
  switch (fuzz_range (bytes, 0, 7)) {
    case 0:
    case 1:
      return sum_of (taps, count, false);
    case 2:
      return sum_of (taps, count, true);
    case 3:
      return -sum_of (taps, count, true);
    case 4:
      return fuzz_range (bytes, -128, 127);
    case 5:
      return fuzz_range (bytes, 1, 65535) / 16.0;
    case 6:
      return fuzz_double (bytes);
    default:
      return 1;
  }
}

static int
make_side (FuzzBytes *bytes)
{
  const int side = fuzz_range (bytes, 0, 255);

  return side < 128 ? side % 4 * 2 + 1 : side < 250 ? side % 16 * 2 + 1 : (side - 250) * 50 + 1;
}

static bool
make_mask (FuzzBytes *bytes, ConvolveMask *mask, const Size *size)
{
  const ConvolveCombination combination =
      fuzz_one_in (bytes, 3) ? (ConvolveCombination) fuzz_range (bytes, 0, CONVOLVE_LARGEST) : CONVOLVE_SUM;
  const int sets = combination < CONVOLVE_MAGNITUDE ? 1 : fuzz_range (bytes, 2, CONVOLVE_MAX_SETS);
  int width = make_side (bytes), height = make_side (bytes), kind, form, scale;
  Pattern pattern;

  if (size->large) {
    width = width % 32 * 2 + LEAST_LARGE;
    height = height % 32 * 2 + LEAST_LARGE;
  }
  while (width * height * sets > size->taps)
    *(width > height ? &width : &height) -= 2;
  if (!convolve_mask_init_sets (mask, width, height, sets, combination))
    return false;
  kind = fuzz_range (bytes, 0, N_TAPS - 1);
  form = fuzz_range (bytes, 0, 9);
  scale = (int8_t) fuzz_take (bytes, 1);
  mask->offset = fuzz_one_in (bytes, 3) ? fuzz_range (bytes, -128, 128) / 128.0 : 0;
  pattern = make_pattern (bytes);
  for (int k = 0; k < sets; k++) {
    double *taps = convolve_mask_taps (mask, k), divisor;

    for (int i = 0; i < width * height; i++)
      taps[i] = make_tap (&pattern, kind, scale);
    shape_taps (taps, width, height, form);
    divisor = k > 0 && form % 2 ? mask->divisor : make_divisor (bytes, taps, width * height);
    *(k == 0 ? &mask->divisor : &mask->more_divisors[k - 1]) = divisor;
  }
  return true;
}

/*
 * A block that holds no byte more than the plane needs, but for guard bytes in front and behind. The last row ends
 * with its last sample, and the first sample is at any address.
 */
static bool
make_block (FuzzBytes *bytes, CheckCase *test, CheckBlock *block)
{
  const ConvolvePixel *pixel = &test->pixel;
  const size_t row = (size_t) (test->width - 1) * pixel->stride + pixel->samples * check_sample_size (pixel);
  const size_t stride = row + (fuzz_one_in (bytes, 2) ? (size_t) fuzz_range (bytes, 0, 70) : 0);
  const size_t before = fuzz_one_in (bytes, 3) ? (size_t) fuzz_range (bytes, 0, 15) : 0;
  const bool negative = fuzz_one_in (bytes, 4);
  const size_t after = fuzz_one_in (bytes, 4) ? 64 : 0;

  block->size = before + stride * (test->height - 1) + row + after;
  block->origin = before + (negative ? stride * (test->height - 1) : 0);
  block->stride = negative ? -(ptrdiff_t) stride : (ptrdiff_t) stride;
  block->bytes = malloc (block->size);
  return block->bytes != NULL;
}

static void
fill_block (CheckBlock *block, uint64_t state)
{
  for (size_t i = 0; i < block->size; i++) {
    state = state * UINT64_C (6364136223846793005) + UINT64_C (1442695040888963407);
    block->bytes[i] = (unsigned char) (state >> 56);
  }
}

static void
fill_image (FuzzBytes *bytes, CheckCase *test)
{
  const int content = fuzz_range (bytes, 0, 7);
  const uint64_t seed = fuzz_take (bytes, 2);
  CheckBlock *block = &test->source;

  fill_block (block, seed);
  test->content = content < 5 ? "random" : content == 5 ? "two values" : content == 6 ? "flat" : "all at most";
  test->flat = content >= 6;
  for (int y = 0; y < test->height && content >= 5; y++)
    for (int x = 0; x < test->width; x++)
      for (int k = 0; k < test->pixel.samples; k++) {
        const int most = check_largest (&test->pixel);
        const bool high = content == 7 || (content == 5 && (x * 7 + y * 5 + k) % (seed % 11 + 2) == 0);

        check_case_set (test, block, x, y, k, (high ? most : (int) (seed % (most + 1))) << test->pixel.shift);
      }
}

static bool
make_case (FuzzBytes *bytes, CheckCase *test, const Size *size)
{
  ConvolveRect *region = &test->region;
  int products;

  memset (test, 0, sizeof *test);
  test->name = "of the input";
  test->mask.kind = "of the input";
  make_pixel (bytes, &test->pixel);
  test->boundary = (ConvolveBoundary) fuzz_range (bytes, 0, CONVOLVE_N_BOUNDARIES - 1);
  if (!make_mask (bytes, &test->mask.mask, size))
    return false;
  test->width = fuzz_one_in (bytes, 8) ? fuzz_range (bytes, 1, 256) : fuzz_range (bytes, 0, 255) % 48 + 1;
  test->height = fuzz_range (bytes, 0, 255) % size->rows + 1;
  region->width = fuzz_one_in (bytes, 3) ? fuzz_range (bytes, 1, test->width) : test->width;
  region->height = fuzz_one_in (bytes, 3) ? fuzz_range (bytes, 1, test->height) : test->height;
  if (size->large)
    region->height = 1; /* as many columns as the oracle can do */
  products =
      test->mask.mask.width * test->mask.mask.height * convolve_mask_sets (&test->mask.mask) * test->pixel.samples;
  while (products * region->width * region->height > size->products && region->width * region->height > 1)
    *(region->width > region->height ? &region->width : &region->height) /= 2;
  region->x = fuzz_range (bytes, 0, test->width - region->width);
  region->y = fuzz_range (bytes, 0, test->height - region->height);
  if (!make_block (bytes, test, &test->source) || !make_block (bytes, test, &test->destination))
    return false;
  fill_block (&test->destination, 1);
  fill_image (bytes, test);
  again.level = fuzz_range (bytes, 0, 3);
  again.strip = fuzz_range (bytes, 0, test->width);
  again.band = fuzz_range (bytes, 1, test->height);
  again.whole = size->large;
  again.pool = size->threads ? two_threads () : NULL;
  return true;
}

/* --- what must be refused --- */

static void
check_refused (bool refused, ConvolveStatus status, const ConvolveError *error, const char *what)
{
  if (!refused)
    fuzz_fail ("%s was not refused", what);
  if (status != CONVOLVE_INVALID || error->status != status || error->text[0] == '\0')
    fuzz_fail ("%s: status %d, text \"%s\"", what, status, error->text);
}

static bool
is_level (int level, int depth)
{
  return level >= 0 && level < 1 << depth;
}

/* Whether the pixel is one as convolve.h describes it. */
static bool
is_pixel (const ConvolvePixel *pixel)
{
  const bool deep = pixel->type == CONVOLVE_SAMPLE_U16;
  bool good = (pixel->type == CONVOLVE_SAMPLE_U8 || deep)
      && (deep ? pixel->depth >= 9 && pixel->depth <= 16 : pixel->depth == 8) && pixel->shift >= 0
      && pixel->shift <= (deep ? 16 - pixel->depth : 0) && (deep || !pixel->swapped) && pixel->samples >= 1
      && pixel->samples <= CONVOLVE_MAX_SAMPLES && pixel->stride >= pixel->samples * (deep ? 2 : 1)
      && (!deep || pixel->stride % 2 == 0) && pixel->select < 1u << pixel->samples
      && pixel->biased < 1u << pixel->samples;

  for (int k = 0; good && k < pixel->samples; k++)
    good = is_level (pixel->zero[k], pixel->depth) && is_level (pixel->outside[k], pixel->depth)
        && is_level (pixel->range[k], pixel->depth);
  return good;
}

static void
break_pixel (FuzzBytes *bytes, const CheckCase *test)
{
  ConvolvePixel pixel = test->pixel;
  int *const members[] = { &pixel.depth, &pixel.shift, &pixel.samples, &pixel.stride, &pixel.zero[0], &pixel.outside[0],
    &pixel.range[0], &pixel.zero[3] };
  const int which = fuzz_range (bytes, 0, 11);
  ConvolveError error = { 0 };
  ConvolvePlan *plan;
  bool good;

  if (which < 8)
    *members[which] = (int) fuzz_odd_number (bytes, *members[which]);
  else if (which == 8)
    pixel.type = (ConvolveSampleType) fuzz_take (bytes, 4);
  else if (which == 9)
    pixel.select = (unsigned) fuzz_odd_number (bytes, pixel.select);
  else if (which == 10)
    pixel.biased = (unsigned) fuzz_odd_number (bytes, pixel.biased);
  else
    pixel.swapped = true;
  good = is_pixel (&pixel);
  plan = convolve_plan_new (&pixel, test->boundary, &test->mask.mask, "auto", NULL, &error);
  if (!good)
    check_refused (plan == NULL, error.status, &error, "a pixel");
  convolve_plan_unref (plan);
}

/* The gain that convolve.h limits; also above the limit where a sum is not finite. */
static bool
has_gain_above (const ConvolveMask *mask, double limit)
{
  for (int k = 0; k < convolve_mask_sets (mask); k++) {
    long double sum = 0;

    for (int i = 0; i < mask->width * mask->height; i++)
      sum += fabs (convolve_mask_taps (mask, k)[i]);
    if (!(sum / fabs (convolve_mask_divisor (mask, k)) <= limit))
      return true;
  }
  return false;
}

static bool
has_bad_number (const ConvolveMask *mask)
{
  bool bad = !(fabs (mask->offset) <= 1);

  for (int k = 0; k < convolve_mask_sets (mask); k++) {
    const double divisor = convolve_mask_divisor (mask, k);

    bad = bad || !isfinite (divisor) || divisor == 0;
    for (int i = 0; i < mask->width * mask->height; i++)
      bad = bad || !isfinite (convolve_mask_taps (mask, k)[i]);
  }
  return bad;
}

/* Members whose bad values do not need other memory. */
static void
break_mask (FuzzBytes *bytes, CheckCase *test)
{
  ConvolveMask mask = test->mask.mask;
  int boundary = test->boundary;
  bool must = false;
  ConvolveError error = { 0 };
  ConvolvePlan *plan;

  switch (fuzz_range (bytes, 0, 5)) {
    case 0:
    case 1: {
      int *side = fuzz_one_in (bytes, 2) ? &mask.width : &mask.height;

      *side = (int) fuzz_odd_number (bytes, *side + 1);
      if (*side >= 1 && *side <= CONVOLVE_MAX_SIDE && *side % 2 == 1)
        return;
      must = true;
      break;
    }
    case 2:
      mask.sets = (int) fuzz_odd_number (bytes, CONVOLVE_MAX_SETS);
      if (mask.sets > 0 && mask.sets <= convolve_mask_sets (&test->mask.mask))
        return;
      must = mask.sets < 0 || mask.sets > CONVOLVE_MAX_SETS;
      if (!must && (mask.sets != 0 || mask.combination < CONVOLVE_MAGNITUDE))
        return;
      must = true;
      break;
    case 3:
      mask.combination = (ConvolveCombination) fuzz_odd_number (bytes, CONVOLVE_N_COMBINATIONS);
      if (mask.combination == CONVOLVE_GAUSSIAN) /* whose taps are four numbers */
        return;
      must = (unsigned) mask.combination >= CONVOLVE_N_COMBINATIONS;
      break;
    case 4:
      boundary = (int) fuzz_odd_number (bytes, CONVOLVE_N_BOUNDARIES);
      must = boundary < 0 || boundary >= CONVOLVE_N_BOUNDARIES;
      break;
    default:
      mask.offset = fuzz_double (bytes);
      must = !(fabs (mask.offset) <= 1);
      break;
  }
  plan = convolve_plan_new (&test->pixel, (ConvolveBoundary) boundary, &mask, "auto", NULL, &error);
  if (must)
    check_refused (plan == NULL, error.status, &error, "a mask or boundary");
  convolve_plan_unref (plan);
}

/*
 * Whether the plane is outside of what convolve.h describes: without doubt, because a stride that no row follows
 * may have any value.
 */
static bool
is_no_plane (const ConvolvePixel *pixel, const ConvolvePlane *plane)
{
  const ConvolveRect *r = &plane->region;
  const __int128 most = PTRDIFF_MAX, size = (__int128) pixel->samples * (pixel->type == CONVOLVE_SAMPLE_U16 ? 2 : 1);
  const __int128 row = (__int128) (plane->width - (__int128) 1) * pixel->stride + size;
  const __int128 written = (__int128) (r->width - (__int128) 1) * pixel->stride + size;
  const __int128 from = plane->source_stride < 0 ? -(__int128) plane->source_stride : plane->source_stride;
  const __int128 to = plane->destination_stride < 0 ? -(__int128) plane->destination_stride : plane->destination_stride;

  return !plane->source || !plane->destination || plane->width < 1 || plane->height < 1 || plane->width > 1 << 28
      || plane->height > 1 << 28 || r->x < 0 || r->y < 0 || r->width < 1 || r->height < 1
      || (__int128) r->x + r->width > plane->width || (__int128) r->y + r->height > plane->height || row > INT32_MAX
      || (plane->height > 1 && (from < row || from * (plane->height - 1) + row > most))
      || (r->height > 1 && to < written) || to * ((__int128) r->y + r->height - 1) + row > most;
}

static void
break_plane (FuzzBytes *bytes, CheckCase *test)
{
  ConvolvePlane plane = check_case_plane (test, test->source.bytes, test->destination.bytes);
  int *const sides[] = { &plane.width, &plane.height, &plane.region.x, &plane.region.y, &plane.region.width,
    &plane.region.height };
  const int which = fuzz_range (bytes, 0, 11);
  unsigned char *before = malloc (test->destination.size);
  ConvolveError error = { 0 };
  ConvolvePlan *plan;
  ConvolveStatus status;

  if (which < 6)
    *sides[which] = (int) fuzz_odd_number (bytes, *sides[which]);
  else if (which < 8)
    plane.source_stride = (ptrdiff_t) fuzz_odd_number (bytes, plane.source_stride);
  else if (which < 10)
    plane.destination_stride = (ptrdiff_t) fuzz_odd_number (bytes, plane.destination_stride);
  else if (which == 10)
    plane.source = NULL;
  else
    plane.destination = NULL;
  plan = convolve_plan_new (&test->pixel, test->boundary, &test->mask.mask, "auto", NULL, &error);
  if (plan && before && is_no_plane (&test->pixel, &plane)) {
    memcpy (before, test->destination.bytes, test->destination.size);
    status = convolve_run (plan, &plane, &error);
    check_refused (status != CONVOLVE_OK, status, &error, "a plane");
    if (memcmp (before, test->destination.bytes, test->destination.size) != 0)
      fuzz_fail ("a refused plane was written");
  } else if (plan
      && ((which >= 6 && which < 8 && plane.height == 1)
          || (which >= 8 && which < 10 && plane.region.y + plane.region.height == 1))) {
    /* A stride that no row follows may have any value. */
    if (convolve_run (plan, &plane, &error) != CONVOLVE_OK)
      fuzz_fail ("a plane of one row was refused: %s", error.text);
  }
  convolve_plan_unref (plan);
  free (before);
}

/* --- what else a plan promises --- */

/* The line that explains a plan ends with a 0 inside its memory, however short that is. */
static void
check_explained (const ConvolvePlan *plan, size_t size)
{
  char *text = malloc (size);

  if (text)
    convolve_plan_explain (plan, text, size);
  if (text && !memchr (text, '\0', size))
    fuzz_fail ("an explanation without an end");
  free (text);
}

/* Rows that convolve_plan_source_rows() does not name are not read: here they hold other bytes. */
static void
check_source_rows (const CheckCase *test, const ConvolvePlan *plan)
{
  const size_t row =
      (size_t) (test->width - 1) * test->pixel.stride + test->pixel.samples * check_sample_size (&test->pixel);
  unsigned char *source = malloc (test->source.size);
  unsigned char *results[2] = { malloc (test->destination.size), malloc (test->destination.size) };
  int first, end;

  convolve_plan_source_rows (plan, test->height, test->region.y, test->region.y + test->region.height, &first, &end);
  if (first < 0 || first > test->region.y || end < test->region.y + test->region.height || end > test->height)
    fuzz_fail ("source rows %d to %d", first, end);
  if (source && results[0] && results[1]) {
    ConvolvePlane plane = check_case_plane (test, test->source.bytes, results[0]);

    memcpy (source, test->source.bytes, test->source.size);
    for (int i = 0; i < 2; i++)
      memcpy (results[i], test->destination.bytes, test->destination.size);
    for (int y = 0; y < test->height; y++)
      if (y < first || y >= end)
        memset (source + test->source.origin + y * test->source.stride, 0x5a, row);
    if (convolve_run (plan, &plane, NULL) != CONVOLVE_OK)
      fuzz_fail ("a run fails");
    plane = check_case_plane (test, source, results[1]);
    if (convolve_run (plan, &plane, NULL) != CONVOLVE_OK
        || memcmp (results[0], results[1], test->destination.size) != 0)
      fuzz_fail ("rows are read that convolve_plan_source_rows() does not name");
  }
  free (source);
  free (results[0]);
  free (results[1]);
}

static void
check_more (FuzzBytes *bytes, const CheckCase *test, const char *variant)
{
  ConvolvePlan *plan = convolve_plan_new (&test->pixel, test->boundary, &test->mask.mask, variant, NULL, NULL);

  if (!plan)
    return;
  check_explained (plan, (size_t) fuzz_range (bytes, 1, 600));
  check_source_rows (test, plan);
  convolve_plan_unref (plan);
}

/* --- a run --- */

/* Whether the mask is one that the library must refuse, or may: the gain is next to the limit. */
static bool
is_refused (const CheckCase *test, const char *variant)
{
  const ConvolveMask *mask = &test->mask.mask;
  const bool must = has_bad_number (mask) || has_gain_above (mask, 1048576 * (1 + 1e-9));
  ConvolveError error = { 0 };
  ConvolvePlan *plan;

  if (must) {
    plan = convolve_plan_new (&test->pixel, test->boundary, mask, variant, NULL, &error);
    check_refused (plan == NULL, error.status, &error, "a mask");
    convolve_plan_unref (plan);
  }
  return must || has_gain_above (mask, 1048576 * (1 - 1e-9));
}

static void
check_case (CheckCase *test, const char *variant)
{
  CheckResult result;

  if (is_refused (test, variant))
    return;
  if (!check_mask_analyse (&test->mask, check_largest (&test->pixel)))
    return;
  /* A decimal is a multiple of another one only before both are rounded to double. */
  test->mask.decimal = true;
  result = check_run (test, variant, NULL, false, stderr);
  if (result.verdict == CHECK_FAILED)
    fuzz_fail ("the kernels broke a promise, see above");
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const variants[] = { "auto", "cpu", "cpu", "cpu-reference" };
  FuzzBytes bytes = { data, size };
  const int first = fuzz_range (&bytes, 0, 255);
  const char *variant = variants[first % 4];
  CheckCase test;

  if (make_case (&bytes, &test, choose_size (data, size))) {
    if (first < 192)
      check_case (&test, variant);
    if (first < 32)
      check_more (&bytes, &test, variant);
    if (first >= 192 && !has_bad_number (&test.mask.mask) && !has_gain_above (&test.mask.mask, 1048576 * (1 - 1e-9))) {
      if (first % 4 == 0)
        break_pixel (&bytes, &test);
      else if (first % 4 == 1)
        break_mask (&bytes, &test);
      else
        break_plane (&bytes, &test);
    }
  }
  check_case_clear (&test);
  return 0;
}
