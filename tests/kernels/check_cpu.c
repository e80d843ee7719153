/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_common.h"
#include "common/tail.h"
#include "kernels/check_run.h"
#include "convolve_pool.h"
#include "cpu/cpu.h"
#include "cpu/loops/levels.h"

static const int threads[] = { 1, 2, 3, 8 };

enum
{
  N_POOLS = sizeof threads / sizeof *threads
};

/* Pools are made once, as by an element: the same threads convolve plane after plane. */
static ConvolvePool *
pool_of (int i)
{
  static ConvolvePool *pools[N_POOLS];

  if (!pools[i])
    pools[i] = convolve_pool_new (threads[i], NULL);
  return pools[i];
}

/*
 * Runs the case at a level, in pieces of strip x band pixels. Where strip is 0, the plane is cut as usual. What the plan has
 * for large regions alone is used where `large` is set.
 */
static bool
run (const CheckCase *test, int level, int strip, int band, bool large, ConvolvePool *pool, unsigned char *destination)
{
  ConvolvePlane plane = check_case_plane (test, test->source.bytes, destination);
  const ConvolvePixel *pixel = &test->pixel;
  ConvolvePlan *plan = convolve_plan_new (pixel, test->boundary, &test->mask.mask, "cpu", NULL, NULL);
  bool done = false;

  if (plan) {
    ConvolveCpu *cpu = convolve_cpu_of (plan);
    ConvolveCpuCut cut;

    cpu->level = convolve_cpu_level (level);
    convolve_plan_set_pool (plan, pool);
    cut = convolve_cpu_cut_for (large && cpu->large ? cpu->large : cpu, plan, &plane);
    if (strip > 0) {
      cut.strip = cut.cpu->fft && strip > cut.strip ? cut.strip : strip;
      cut.band = band;
      cut.threads = convolve_pool_threads (pool);
      cut.streams = convolve_cpu_can_stream (pixel);
    }
    memcpy (destination, test->destination.bytes, test->destination.size);
    done = convolve_cpu_run_cut (plan, &plane, &cut, NULL) == CONVOLVE_OK;
  }
  convolve_plan_unref (plan);
  return done;
}

bool
check_cpu_same (const CheckCase *test, const unsigned char *result, FILE *file)
{
  unsigned char *again = malloc (test->destination.size);
  int n_levels = convolve_cpu_level_count (), samples = test->pixel.samples;
  /* Pieces of odd sizes, but not millions of pieces. */
  int strip = (test->region.width * samples / 64 + (int) (test->number % 97)) / samples + 1;
  int band = test->region.height / 64 + 1 + (int) (test->number % 7);
  bool same = again != NULL;

  for (int i = 0; i < 2 * n_levels && same; i++) {
    same = run (test, i / 2, 0, 0, i % 2, NULL, again) && memcmp (again, result, test->destination.size) == 0;
    if (!same)
      fprintf (file, "FAILED cpu: other bytes at the level %s%s\n", convolve_cpu_level (i / 2)->name,
          i % 2 ? ", as for large regions" : "");
  }
  for (int i = 0; i < N_POOLS && same; i++) {
    int level = (int) ((test->number + i) % n_levels);

    same = pool_of (i) && run (test, level, strip, band, (test->number + i) % 2, pool_of (i), again)
        && memcmp (again, result, test->destination.size) == 0;
    if (!same)
      fprintf (file, "FAILED cpu: other bytes with %d threads, in pieces of %d pixels and %d rows, at the level %s\n",
          threads[i], strip, band, convolve_cpu_level (level)->name);
  }
  free (again);
  return same;
}

/*
 * Weights without structure, equal weights, a product of a column and a row, weights whose sums need double, and a sum
 * of four products with a large gain, so that all paths occur.
 */
static void
fill_taps (ConvolveMask *mask, int kind)
{
  for (int k = 0; k < mask->width * mask->height; k++) {
    int i = k % mask->width, j = k / mask->width;
    double product = (i + 0.3) * (j + 0.1) / (mask->width * mask->height);

    mask->taps[k] = kind == 0 ? (k * 7919 % 101) / 100.0
        : kind == 1           ? 1
        : kind == 2           ? (i + 1.5) * (j + 0.7)
        : kind == 3           ? k - 3
                              : 1 + product + product * product + product * product * product;
  }
  mask->divisor = kind == 4 ? mask->width * mask->width / 1000.0
      : kind == 3           ? mask->width * mask->width / 4.0
                            : mask->width * (kind == 2 ? 1e6 : mask->width);
}

int
check_cpu_memory (FILE *file)
{
  static const int sides[] = { 1, 3, 15, 31, 63, 127, 255 };
  const size_t limit = 4 << 20;
  int failures = 0;

  for (int number = 0; number < 7 * 4 * 5 * 2; number++) {
    int side = sides[number % 7], samples = number / 7 % 4 + 1, kind = number / 28 % 5, deep = number / 140;
    ConvolvePixel pixel = { .type = deep ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8,
      .depth = deep ? 16 : 8,
      .samples = samples,
      .stride = samples * (deep + 1),
      .select = (1u << samples) - 1 };
    ConvolvePlane plane = { .width = 3840, .height = 2160, .region = { 0, 0, 3840, 2160 } };
    ConvolveMask mask;
    ConvolvePlan *plan = NULL;
    size_t needed = SIZE_MAX;

    if (convolve_mask_init (&mask, side, side)) {
      fill_taps (&mask, kind);
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "cpu", NULL, NULL);
    }
    if (plan) {
      ConvolveCpuCut cut = convolve_cpu_cut (plan, &plane);

      needed = convolve_cpu_memory (plan, &plane, &cut);
    }
    if (needed >= limit) {
      fprintf (file, "FAILED cpu: %zu bytes for a thread, %dx%d weights of kind %d, %d samples of %d bytes\n", needed,
          side, side, kind, samples, deep + 1);
      failures++;
    }
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  return failures;
}

int
check_cpu_threads (FILE *file)
{
  static const struct
  {
    int width, height;
    bool shared;
  } sizes[] = { { 64, 64, false }, { 128, 64, false }, { 8192, 1, false }, { 1, 8192, false }, { 1920, 1080, true } };
  static const int sides[] = { 1, 3, 31, 65, 255 };
  const int n_sizes = sizeof (sizes) / sizeof (sizes[0]), n_sides = sizeof (sides) / sizeof (sides[0]);
  int failures = 0;

  for (int number = 0; number < n_sizes * n_sides * 4; number++) {
    int s = number % n_sizes, side = sides[number / n_sizes % n_sides], kind = number / n_sizes / n_sides;
    ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 4, .stride = 4, .select = 15 };
    ConvolvePlane plane = { .width = sizes[s].width,
      .height = sizes[s].height,
      .region = { 0, 0, sizes[s].width, sizes[s].height } };
    ConvolveMask mask;
    ConvolvePlan *plan = NULL;
    int used = 0;

    if (convolve_mask_init (&mask, side, side)) {
      fill_taps (&mask, kind);
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "cpu", NULL, NULL);
    }
    if (plan) {
      convolve_plan_set_pool (plan, pool_of (N_POOLS - 1));
      used = convolve_cpu_cut (plan, &plane).threads;
    }
    if (sizes[s].shared ? used < 2 : used != 1) {
      fprintf (file, "FAILED cpu: %d threads for %dx%d, %dx%d weights of kind %d\n", used, sizes[s].width,
          sizes[s].height, side, side, kind);
      failures++;
    }
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  return failures;
}

/* A large mask without structure, of small integers or of fractions. The results are noise around the middle value. */
static void
fill_large (ConvolveMask *mask, bool integers)
{
  int count = mask->width * mask->height;

  for (int k = 0; k < count; k++) {
    int random = (int) ((unsigned) k * 2654435761u >> 20) % 7;

    mask->taps[k] = integers ? random - 3 : (random - 2.9) / 3.0;
  }
  mask->divisor = (integers ? 6 : 8) * (int) sqrt (count);
  mask->offset = 0.5;
}

/*
 * Runs the plane by a variant, the variant cpu as for large regions. Returns the place of the digits where transforms ran, 0
 * for another variant, or -1 where that fails or another path was taken.
 */
static int
run_large (const char *variant, const ConvolvePixel *pixel, const ConvolveMask *mask, ConvolvePlane *plane)
{
  ConvolvePlan *plan = convolve_plan_new (pixel, plane->width % CONVOLVE_N_BOUNDARIES, mask, variant, NULL, NULL);
  const ConvolveCpu *cpu = plan ? convolve_cpu_of (plan) : NULL;
  int place = -1;

  if (cpu) {
    ConvolveCpuCut cut = convolve_cpu_cut_for (cpu->large ? cpu->large : cpu, plan, plane);

    if (convolve_cpu_run_cut (plan, plane, &cut, NULL) == CONVOLVE_OK && cut.cpu->fft)
      place = cut.cpu->fft->place;
  } else if (plan && convolve_run (plan, plane, NULL) == CONVOLVE_OK) {
    place = 0;
  }
  convolve_plan_unref (plan);
  return place;
}

int
check_cpu_large (FILE *file)
{
  static const struct
  {
    int width, height, mask_width, mask_height, samples;
    int depth;
    bool integers, digits;
  } rows[] = {
    { 131, 97, 65, 65, 1, 8, true, false },
    { 300, 402, 65, 65, 1, 8, false, false },
    { 60, 61, 191, 193, 2, 8, true, false },
    { 52, 38, 71, 131, 3, 8, false, false },
    { 38, 45, 255, 255, 1, 8, false, false },
    { 34, 20, 255, 201, 4, 8, false, false },
    { 60, 71, 95, 95, 4, 8, true, false },
    { 85, 40, 65, 65, 1, 10, false, false },
    { 70, 50, 27, 29, 2, 16, false, true },
    { 61, 43, 111, 95, 1, 16, false, true },
    { 50, 300, 201, 255, 3, 16, false, true },
  };
  int failures = 0;

  for (unsigned r = 0; r < sizeof (rows) / sizeof (rows[0]); r++) {
    int bytes = rows[r].depth > 8 ? 2 : 1, pixel_bytes = rows[r].samples * bytes,
        stride = rows[r].width * pixel_bytes + 6;
    ConvolvePixel pixel = { .type = bytes > 1 ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8,
      .depth = rows[r].depth,
      .samples = rows[r].samples,
      .stride = pixel_bytes,
      .select = rows[r].samples == 4 ? 7 : (1u << rows[r].samples) - 1,
      .biased = (1u << rows[r].samples) - 1,
      .zero = { 16, 128, 128 } };
    size_t size = (size_t) stride * rows[r].height;
    unsigned char *source = malloc (size), *results[2] = { calloc (1, size), calloc (1, size) };
    ConvolvePlane plane = { .source = source,
      .source_stride = stride,
      .destination_stride = stride,
      .width = rows[r].width,
      .height = rows[r].height,
      .region = { 0, 0, rows[r].width, rows[r].height } };
    ConvolveMask mask = { 0 };
    bool done =
        source && results[0] && results[1] && convolve_mask_init (&mask, rows[r].mask_width, rows[r].mask_height);
    int place = -1;

    if (done) {
      fill_large (&mask, rows[r].integers);
      for (size_t i = 0; i < size; i++)
        source[i] = rows[r].depth == 10 && i % stride % 2 ? (i * 7 % 4) : (unsigned char) (i * i * 2654435761u >> 13);
      plane.destination = results[0];
      done = run_large ("cpu-reference", &pixel, &mask, &plane) >= 0;
      plane.destination = results[1];
      place = run_large ("cpu", &pixel, &mask, &plane);
    }
    if (!done || place < 0 || (place > 0) != rows[r].digits || memcmp (results[0], results[1], size) != 0) {
      fprintf (file, "FAILED cpu: large weights, row %u: digits at %d, or not the bytes that cpu-reference gives\n", r,
          place);
      failures++;
    }
    convolve_mask_clear (&mask);
    free (source);
    free (results[0]);
    free (results[1]);
  }
  return failures;
}

/* --- gaussians --- */

static double
gaussian (int distance, double sigma)
{
  return exp (-0.5 * distance * distance / (sigma * sigma));
}

/* As the preset makes it: the radius is three sigmas. */
static bool
make_gaussian (ConvolveMask *mask, double sigma)
{
  int radius = (int) ceil (3 * sigma), side = 2 * radius + 1;

  if (!convolve_mask_init (mask, side, side))
    return false;
  mask->divisor = 0;
  for (int k = 0; k < side * side; k++) {
    mask->taps[k] = gaussian (k % side - radius, sigma) * gaussian (k / side - radius, sigma);
    mask->divisor += mask->taps[k];
  }
  return true;
}

static const struct
{
  const char *name;
  ConvolvePixel pixel;
} sigma_formats[] = {
  { "GRAY8", { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 } },
  { "GRAY16_LE", { .type = CONVOLVE_SAMPLE_U16, .depth = 16, .samples = 1, .stride = 2, .select = 1 } },
  { "ABGR64_LE", { .type = CONVOLVE_SAMPLE_U16, .depth = 16, .samples = 4, .stride = 8, .select = 14 } },
};

enum
{
  N_SIGMA_FORMATS = sizeof sigma_formats / sizeof *sigma_formats
};

static ConvolvePlan *
plan_gaussian (int format, double sigma)
{
  ConvolveMask mask;
  ConvolvePlan *plan = NULL;

  if (make_gaussian (&mask, sigma))
    plan = convolve_plan_new (&sigma_formats[format].pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "cpu", NULL, NULL);
  convolve_mask_clear (&mask);
  return plan;
}

/* The minimum time of some runs on one thread, in microseconds. Infinite where a run fails. */
static double
time_gaussian (int format, double sigma)
{
  enum
  {
    SIDE_X = 320,
    SIDE_Y = 240,
    RUNS = 5
  };
  ConvolvePlan *plan = plan_gaussian (format, sigma);
  int stride = SIDE_X * sigma_formats[format].pixel.stride;
  unsigned char *from = calloc (SIDE_Y, stride), *to = calloc (SIDE_Y, stride);
  ConvolvePlane plane = { from, to, stride, stride, SIDE_X, SIDE_Y, { 0, 0, SIDE_X, SIDE_Y } };
  double least = INFINITY;

  for (int i = 0; i < RUNS && plan && from && to; i++) {
    double start = bench_now_us ();

    if (convolve_run (plan, &plane, NULL) == CONVOLVE_OK)
      least = fmin (least, bench_now_us () - start);
  }
  free (from);
  free (to);
  convolve_plan_unref (plan);
  return least;
}

int
check_cpu_sigma (FILE *file)
{
  int failures = 0;

  for (int f = 0; f < N_SIGMA_FORMATS; f++) {
    double before = INFINITY, us_7, us_8;

    for (int sigma = 1; sigma <= 40; sigma++) {
      /* The number of taps grows faster from 7 to 13 and from 13 to 19 than later. */
      double limit = sigma <= 3 ? 1.5 : 1.3;
      ConvolvePlan *plan = plan_gaussian (f, sigma);
      int path = plan ? (int) convolve_cpu_of (plan)->path : -1;
      double cost = plan ? convolve_cpu_of (plan)->cost : INFINITY;

      if (path < 0 || path == CONVOLVE_CPU_DOUBLE || path == CONVOLVE_CPU_DOUBLE_FACTORS) {
        fprintf (file, "FAILED cpu: %s, sigma %d: path %d\n", sigma_formats[f].name, sigma, path);
        failures++;
      }
      if (!(cost <= limit * before)) {
        fprintf (file, "FAILED cpu: %s, sigma %d: estimated to cost %g, %g with sigma less 1\n", sigma_formats[f].name,
            sigma, cost, before);
        failures++;
      }
      before = cost;
      convolve_plan_unref (plan);
    }
    us_7 = time_gaussian (f, 7);
    us_8 = time_gaussian (f, 8);
    if (!(us_8 <= 3 * us_7)) {
      fprintf (file, "FAILED cpu: %s at 320x240: %g us with sigma 8, %g with sigma 7\n", sigma_formats[f].name, us_8,
          us_7);
      failures++;
    }
  }
  return failures;
}

/* --- sums that need more bits --- */

/* Taps of one kind, whose sum is a random gain. */
static void
fill_wide (double *taps, int width, int height, int kind, CheckRandom *random)
{
  double sigma_x = width / 6.0 + 0.3, sigma_y = height / 6.0 + 0.3, sum = 0;
  double gain = check_random_one_in (random, 3) ? 1 : pow (2000, check_random_unit (random));

  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++) {
      int x = i - width / 2, y = j - height / 2;
      double *tap = &taps[j * width + i], soft = gaussian (x, sigma_x) * gaussian (y, sigma_y);

      if (kind == 0)
        *tap = soft;
      else if (kind == 1)
        *tap = 1.7 * gaussian (x, 0.6 * sigma_x) * gaussian (y, 0.6 * sigma_y) - 0.3 * soft;
      else if (kind == 2)
        *tap = fmin (fmax (width / 2.0 - hypot (x, y * (double) width / height), 0), 1);
      else
        *tap = 0.1 + check_random_unit (random);
      sum += *tap;
    }
  for (int k = 0; k < width * height; k++)
    taps[k] *= gain / sum;
}

/* A random case with another mask. The region is made small enough for the oracle. */
static bool
make_wide (CheckCase *test, uint64_t seed, uint64_t number)
{
  static double taps[127 * 127];
  CheckRandom random;
  int kind, most, width, height;

  if (!check_case_random (test, seed, number, false))
    return false;
  check_random_init (&random, ~seed, number);
  kind = check_random_range (&random, 0, 3);
  most = kind < 2 ? 63 : 20;
  width = 2 * check_random_range (&random, 1, most) + 1;
  height = check_random_one_in (&random, 2) ? width : 2 * check_random_range (&random, 1, most) + 1;
  fill_wide (taps, width, height, kind, &random);
  check_mask_clear (&test->mask);
  while ((int64_t) test->region.width * test->region.height * width * height > 600000) {
    if (test->region.width > test->region.height)
      test->region.width = (test->region.width + 1) / 2;
    else
      test->region.height = (test->region.height + 1) / 2;
    if (test->region.width == 1 && test->region.height == 1)
      break;
  }
  return check_mask_from (&test->mask, width, height, taps, 1, check_largest (&test->pixel));
}

/* The kinds that the masks of make_wide() have. */
typedef struct
{
  int paths[CONVOLVE_CPU_N_PATHS], groups;
} WideSeen;

static bool
seen_all_wide (const WideSeen *seen)
{
  return seen->groups > 0 && seen->paths[CONVOLVE_CPU_FLOAT_FACTORS] > 0 && seen->paths[CONVOLVE_CPU_FLOAT] > 0
      && seen->paths[CONVOLVE_CPU_DOUBLE_FACTORS] > 0;
}

static bool
check_wide (uint64_t seed, int number, WideSeen *seen, FILE *file)
{
  CheckCase test;
  ConvolvePlan *plan = NULL;
  bool good = false;

  if (make_wide (&test, seed, number))
    plan = convolve_plan_new (&test.pixel, test.boundary, &test.mask.mask, "cpu", NULL, NULL);
  if (plan) {
    seen->paths[convolve_cpu_of (plan)->path]++;
    seen->groups += convolve_cpu_of (plan)->wide.n_groups > 0;
    good = check_run (&test, "cpu", NULL, false, file).verdict == CHECK_PASSED;
  }
  if (!good)
    fprintf (file, "FAILED cpu: case %d of the masks that need more bits, seed %llu, path %d\n", number,
        (unsigned long long) seed, plan ? (int) convolve_cpu_of (plan)->path : -1);
  convolve_plan_unref (plan);
  check_case_clear (&test);
  return good;
}

/* A thorough run goes on until it has seen every kind. */
int
check_cpu_double (uint64_t seed, int cases, FILE *file)
{
  const bool thorough = cases >= 100;
  WideSeen seen = { 0 };
  int failures = 0;

  for (int number = 0; failures < 4 && (number < cases || (thorough && !seen_all_wide (&seen) && number < 20 * cases));
       number++)
    failures += !check_wide (seed, number, &seen, file);
  if (failures == 0 && thorough && !seen_all_wide (&seen)) {
    fprintf (file,
        "FAILED cpu: masks that need more bits, seed %llu: %d with groups, %d float factors, %d floats, %d double "
        "factors\n",
        (unsigned long long) seed, seen.groups, seen.paths[CONVOLVE_CPU_FLOAT_FACTORS], seen.paths[CONVOLVE_CPU_FLOAT],
        seen.paths[CONVOLVE_CPU_DOUBLE_FACTORS]);
    failures++;
  }
  return failures;
}

/*
 * In units of 2^-53: three transforms of 2 * 8 levels, a product, and the rounding of the result. Two of the levels
 * have no roots to multiply by, and a root has an error of 2.5.
 */
int
check_cpu_fft_bound (FILE *file)
{
  double product = sqrt (5), level = 1 + product + 2.5, transform = 14 * level + 2;
  double counted = (3 * transform + product + 1) * ldexp (1, -53) * sqrt (2) * 128 * CONVOLVE_CPU_FFT_POINTS * 0.5;

  if (convolve_cpu_fft_error (128, 0.5) >= counted)
    return 0;
  fprintf (file, "FAILED cpu: transforms are bounded by %g, and their roundings are %g\n",
      convolve_cpu_fft_error (128, 0.5), counted);
  return 1;
}

/* --- tails in float --- */

/* 1 for a box; or the number from Pascal's triangle. */
static int
weight_of (int side, int i, bool box)
{
  int weight = 1;

  for (int k = 0; k < i && !box; k++)
    weight = weight * (side - 1 - k) / (k + 1);
  return weight;
}

/* The sums on both sides of each step from a value to the next. Returns whether all of them become the right values. */
static bool
tail_is_right (const ConvolveTail *tail, int sum, int divisor, int bias)
{
  const int maximum = (int) tail->maximum;
  const int64_t most = (int64_t) sum * maximum;

  for (int value = 0; value <= maximum + 1; value++) {
    int64_t least = ((int64_t) (value - bias) * 2 * divisor - divisor + 1) / 2;

    for (int64_t s = least - 2; s <= least + 2; s++) {
      int64_t twice = 2 * s + divisor + (int64_t) 2 * divisor * bias; /* of 2 * divisor, before it is rounded down */
      int64_t right = twice < 0 ? 0 : twice / (2 * divisor);

      right = right < maximum ? right : maximum;
      if (s >= 0 && s <= most && convolve_tail_float (tail, 0, (float) s) != (unsigned) right)
        return false;
    }
  }
  return true;
}

int
check_cpu_tails (FILE *file)
{
  static const int sides[] = { 1, 3, 5, 7 };
  int failures = 0, seen = 0;

  for (int n = 0; n < 2 * 4 * 4 * 8 * 3 * 2; n++) {
    const bool box = n % 2 == 0;
    const int width = sides[n / 2 % 4], height = sides[n / 8 % 4], depth = 9 + n / 32 % 8, more = n / 256 % 3;
    const int maximum = (1 << depth) - 1, bias = n / 768 ? maximum / 4 : 0;
    const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U16,
      .depth = depth,
      .samples = 1,
      .stride = 2,
      .select = 1,
      .biased = 1 };
    ConvolvePlan *plan = NULL;
    ConvolveMask mask;
    int sum = 0, divisor;

    if (convolve_mask_init (&mask, width, height)) {
      for (int k = 0; k < width * height; k++)
        sum += (int) (mask.taps[k] = weight_of (width, k % width, box) * weight_of (height, k / width, box));
      mask.divisor = divisor = sum + more;
      mask.offset = (double) bias / maximum;
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "cpu", NULL, NULL);
    }
    if (plan && plan->exact && plan->tail.needs_double && !convolve_cpu_of (plan)->tail.needs_double) {
      const ConvolveTail *tail = &convolve_cpu_of (plan)->tail;

      seen++;
      if (tail->scale != plan->tail.scale || !tail_is_right (tail, sum, divisor, bias)) {
        fprintf (file, "FAILED cpu: %s %dx%d, divisor %d, %d bits, offset %d: float does not give the exact values\n",
            box ? "box" : "binomial", width, height, divisor, depth, bias);
        failures++;
      }
    }
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  if (seen < 4) {
    fprintf (file, "FAILED cpu: %d tails in float that others have in double\n", seen);
    failures++;
  }
  return failures;
}
