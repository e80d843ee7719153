/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/root.h"
#include "cpu/cpu.h"
#include "kernels/check_run.h"

/* --- every path --- */

enum
{
  N_PATHS = CONVOLVE_CPU_SETS + 1,
  MOST_PRODUCTS = 400000
};

typedef struct
{
  int absolute[N_PATHS];         /* an absolute value by each path */
  int sets[N_PATHS];             /* other combinations: by shorts, or the path of the sets */
  int roots[3], roots_by_shorts; /* exact magnitudes */
  int signs[2];                  /* absolute values by shorts, with a divisor above 0 and below */
} Seen;

/* Weights of the kinds for which the variant cpu has paths. */
static void
fill_taps (ConvolveMask *mask, int kind, CheckRandom *random)
{
  double factor = check_random_one_in (random, 2) ? 1 : 0.375;

  for (int i = 0; i < mask->width * mask->height; i++) {
    int x = i % mask->width, y = i / mask->width;
    double product = (x + 0.31830988) * (y + 0.73205081), noise = check_random_unit (random) - 0.4;

    mask->taps[i] = kind == 0 ? factor
        : kind == 1           ? product
        : kind == 2           ? noise
        : kind == 3           ? check_random_range (random, -9, 9)
        : kind == 4           ? (i == 0 ? 40000 : -(i < 5)) /* more than 16 bits */
                              : (x - mask->width / 2) * (y + 1.0) * factor;
  }
}

/* A random case with another mask, so that large masks and all kinds of weights are frequent. */
static bool
make_case (CheckCase *test, uint64_t seed, uint64_t number)
{
  CheckRandom random;
  ConvolveMask mask;
  int width, height, kind, gain;
  double size = 0;
  bool done, rare = number % 40 < 2; /* a mask for Fourier transforms, and one for products in double */

  if (!check_case_random (test, seed, number, false))
    return false;
  check_random_init (&random, seed ^ 0x636f6d62, number);
  if (!rare && check_random_one_in (&random, 3)) /* the case's own weights */
    return test->mask.mask.combination != CONVOLVE_SUM
        || check_mask_combine (&test->mask, &random, check_largest (&test->pixel));
  if (!rare && check_random_one_in (&random, 3))
    return check_mask_edges (&test->mask, &random, check_largest (&test->pixel));
  width = 2 * check_random_range (&random, 0, check_random_one_in (&random, 4) ? 40 : 4) + 1;
  height = 2 * check_random_range (&random, 0, check_random_one_in (&random, 4) ? 40 : 4) + 1;
  kind = rare ? 2 - (int) (number % 40) : check_random_range (&random, 0, 5);
  gain = check_random_range (&random, 1, check_random_one_in (&random, 4) ? 4000 : 4);
  if (rare) {
    width = height = kind == 2 ? 75 : 9;
    gain = kind == 2 ? 2 : 4000;
  }
  if (!convolve_mask_init (&mask, width, height))
    return false;
  fill_taps (&mask, kind, &random);
  for (int i = 0; i < width * height; i++)
    size += fabs (mask.taps[i]);
  size = size > 0 ? size / gain : 1;
  check_mask_clear (&test->mask);
  done = check_mask_from (&test->mask, width, height, mask.taps,
      check_random_one_in (&random, 3) ? size * (check_random_one_in (&random, 3) ? -1 : 1) : ceil (size),
      check_largest (&test->pixel));
  convolve_mask_clear (&mask);
  test->mask.mask.offset = check_random_one_in (&random, 2) ? 0.5 * check_random_unit (&random) : 0;
  return done && check_mask_combine (&test->mask, &random, check_largest (&test->pixel));
}

static void
shrink_region (CheckCase *test)
{
  const ConvolveMask *mask = &test->mask.mask;
  ConvolveRect *region = &test->region;
  int64_t products = (int64_t) mask->width * mask->height * convolve_mask_sets (mask) * test->pixel.samples;

  while (products * region->width * region->height > MOST_PRODUCTS && region->width * region->height > 1) {
    if (region->width > region->height)
      region->width = (region->width + 1) / 2;
    else
      region->height = (region->height + 1) / 2;
  }
}

static void
count_paths (const CheckCase *test, Seen *seen)
{
  ConvolvePlan *plan = convolve_plan_new (&test->pixel, test->boundary, &test->mask.mask, "cpu", NULL, NULL);
  const ConvolveCpu *cpu = plan ? convolve_cpu_of (plan) : NULL;

  if (cpu && plan->combination == CONVOLVE_ABSOLUTE) {
    seen->absolute[cpu->path]++;
    seen->absolute[CONVOLVE_CPU_FFT] += cpu->large != NULL;
    if (cpu->path == CONVOLVE_CPU_SHORT_SETS)
      seen->signs[test->mask.mask.divisor < 0]++;
  } else if (cpu && cpu->path != CONVOLVE_CPU_COPY) {
    seen->sets[cpu->n_parts > 0 ? cpu->parts[0].path : cpu->path]++;
  }
  if (cpu && plan->combination == CONVOLVE_MAGNITUDE && plan->exact) {
    seen->roots[plan->root.kind]++;
    seen->roots_by_shorts += cpu->path == CONVOLVE_CPU_SHORT_SETS;
  }
  convolve_plan_unref (plan);
}

/*
 * Whether every path and every kind of root had a case. A small box is no combination, and sums of 16 bits are for
 * little-endian machines.
 */
static bool
is_complete (const Seen *seen)
{
  static const ConvolveCpuPath of_sets[] = { CONVOLVE_CPU_SHORT_SETS, CONVOLVE_CPU_PAIRS, CONVOLVE_CPU_FLOAT,
    CONVOLVE_CPU_DOUBLE };
  const bool shorts = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  bool complete = !shorts || (seen->roots_by_shorts > 0 && seen->signs[0] > 0 && seen->signs[1] > 0);

  for (int i = 0; i < CONVOLVE_CPU_SETS; i++)
    complete =
        complete && (seen->absolute[i] > 0 || i == CONVOLVE_CPU_SMALL_BOX || (i == CONVOLVE_CPU_SHORT_SETS && !shorts));
  for (size_t i = 0; i < sizeof of_sets / sizeof *of_sets; i++)
    complete = complete && (seen->sets[of_sets[i]] > 0 || (of_sets[i] == CONVOLVE_CPU_SHORT_SETS && !shorts));
  for (int i = 0; i < 3; i++)
    complete = complete && seen->roots[i] > 0;
  return complete;
}

static int
report_unseen (const Seen *seen, uint64_t seed, FILE *file)
{
  if (is_complete (seen))
    return 0;
  fprintf (file, "FAILED sets: seed %llu leaves something out:", (unsigned long long) seed);
  for (int i = 0; i < N_PATHS; i++)
    fprintf (file, " path %d: %d absolute, %d sets;", i, seen->absolute[i], seen->sets[i]);
  fprintf (file, " roots %d %d %d, %d by shorts; signs %d %d\n", seen->roots[0], seen->roots[1], seen->roots[2],
      seen->roots_by_shorts, seen->signs[0], seen->signs[1]);
  return 1;
}

#define MOST_MORE 10 /* times as many cases, until every kind of case has come */

int
check_sets_random (uint64_t seed, int cases, FILE *file)
{
  static const char *const variants[] = { "cpu-reference", "cpu" };
  Seen seen = { 0 };
  int failures = 0;

  for (int number = 0;
       failures < 4 && (number < cases || (cases >= 400 && number < MOST_MORE * cases && !is_complete (&seen)));
       number++) {
    CheckCase test;
    bool done = make_case (&test, seed, number);

    shrink_region (&test);
    if (done)
      count_paths (&test, &seen);
    for (int v = 0; v < 2 && failures < 4; v++) {
      if (!done || check_run (&test, variants[v], NULL, false, file).verdict != CHECK_PASSED) {
        fprintf (file, "FAILED %s: case %d of the combinations, seed %llu\n", variants[v], number,
            (unsigned long long) seed);
        failures++;
      }
    }
    check_case_clear (&test);
  }
  return failures + (failures == 0 && cases >= 400 ? report_unseen (&seen, seed, file) : 0);
}

/* --- fast variants of a device --- */

/* Whether direct and packed read these pixels. */
static bool
are_dense (const ConvolvePixel *pixel)
{
  int size = pixel->type == CONVOLVE_SAMPLE_U8 ? 1 : 2;

  return pixel->samples != 3 && pixel->stride == pixel->samples * size && !pixel->swapped && pixel->select != 0;
}

int
check_sets_on_device (CheckRow *row, uint64_t seed, int cases, FILE *file)
{
  int failures = 0;

  for (int number = 0, made = 0; made < cases && failures < 4 && !row->device_lost; number++) {
    CheckCase test;
    CheckRandom random;
    bool done = check_case_random (&test, seed, number, true);

    check_random_init (&random, seed ^ 0x65646765, number);
    if (!done || are_dense (&test.pixel)) {
      made++;
      if (!done || !check_mask_edges (&test.mask, &random, check_largest (&test.pixel))
          || check_row_run (row, &test, false, file) == CHECK_FAILED) {
        fprintf (file, "FAILED %s: case %d of the edges, seed %llu\n", row->variant, number, (unsigned long long) seed);
        failures++;
      }
    }
    check_case_clear (&test);
  }
  return failures;
}

/*
 * A magnitude of the samples left and right, on a picture with all pairs of two bytes, and so with all sums of two squares.
 * The pair a, b stands in row a around column 4 b + 1.
 */
int
check_sets_all_pairs (CheckRow *row, FILE *file)
{
  static const ConvolvePixel gray_8 = { .type = CONVOLVE_SAMPLE_U8,
    .depth = 8,
    .samples = 1,
    .stride = 1,
    .select = 1,
    .biased = 1 };
  static const double left[] = { 1, 0, 0 };
  int failures = 0;

  for (int i = 0; i < 4 && !row->device_lost; i++) {
    double divisor = 1 + i % 2, offset = i / 2 * 0.5;
    CheckCase test;
    bool done = check_case_fixed (&test, "all pairs", &gray_8, CONVOLVE_BOUNDARY_REPLICATE, 1024, 256, left, 3, 1, 1);
    ConvolveMask mask = { 0 };

    done = done && convolve_mask_init_sets (&mask, 3, 1, 2, CONVOLVE_MAGNITUDE);
    if (done) {
      mask.divisor = mask.more_divisors[0] = divisor;
      mask.offset = offset;
      convolve_mask_taps (&mask, 0)[0] = 1;
      convolve_mask_taps (&mask, 1)[2] = -1;
      check_mask_clear (&test.mask);
      test.mask = (CheckMask){ .mask = mask, .kind = "all pairs" };
      for (int y = 0; y < 256; y++)
        for (int x = 0; x < 1024; x++)
          check_case_set (&test, &test.source, x, y, 0, x % 4 < 2 ? y : x / 4);
      done = check_mask_analyse (&test.mask, 255) && check_row_run (row, &test, false, file) != CHECK_FAILED;
    }
    if (!done) {
      fprintf (file, "FAILED %s: all pairs, divisor %g, offset %g\n", row->variant, divisor, offset);
      failures++;
    }
    check_case_clear (&test);
  }
  return failures;
}

/* --- roots --- */

__extension__ typedef unsigned __int128 Wide;

/* scale is p / q, and base the zero level, the offset and 1/2, in 1/512. */
typedef struct
{
  int64_t p, q, base_512;
  int largest;
} Definition;

static bool
reaches (const Definition *d, uint64_t squares, int r)
{
  int64_t least = 512 * (int64_t) r - d->base_512;
  Wide left = (Wide) (least > 0 ? least : 0) * (uint64_t) d->q, right = (Wide) 512 * (uint64_t) d->p;

  return least <= 0 || left * left <= right * right * squares;
}

static unsigned
result_of (const Definition *d, uint64_t squares)
{
  int r = 0;

  for (int step = 1 << 16; step > 0; step /= 2)
    if (r + step <= d->largest && reaches (d, squares, r + step))
      r += step;
  return (unsigned) r;
}

/* The sums of squares at the threshold of r, the last one before, and some that are squares of integers. */
static uint64_t
squares_near (const Definition *d, int r, int which, double most)
{
  double threshold = fmax ((512.0 * r - (double) d->base_512) / 512 * (double) d->q / (double) d->p, 0);
  double squares = which < 5 ? floor (threshold * threshold) + which - 2 : pow (floor (threshold + 0.5) + which - 6, 2);

  return (uint64_t) fmin (fmax (squares, 0), most);
}

static int
check_plan (const ConvolvePlan *plan, const Definition *d, FILE *file)
{
  const ConvolveRoot *root = &plan->root;
  int step = d->largest > 4096 ? 7 : 1;
  double most = 0;

  for (int k = 0; k < plan->n_parts; k++)
    most += pow (root->multiple[k] * plan->parts[k].taps.double_taps[0] * d->largest, 2);
  for (int r = 0; r <= d->largest + 1; r += step)
    for (int which = 0; which < 8; which++) {
      uint64_t squares = squares_near (d, r, which, most);
      unsigned expected = result_of (d, squares), got = convolve_root_double (root, 0, (double) squares);
      unsigned single = root->kind == CONVOLVE_ROOT_FLOAT ? convolve_root_float (root, 0, (float) squares) : got;

      for (unsigned near = expected > 0 ? expected - 1 : 0; near <= expected + 1 && near <= (unsigned) d->largest;
           near++)
        if (got == expected)
          got = convolve_root_correct (root, 0, squares, near);
      if (got == expected && single == expected)
        continue;
      fprintf (file, "FAILED root: sqrt (%llu) * %lld/%lld + %lld/512 gives %u, in float %u, expected %u (kind %d)\n",
          (unsigned long long) squares, (long long) d->p, (long long) d->q, (long long) d->base_512, got, single,
          expected, (int) root->kind);
      return 1;
    }
  return 0;
}

static int64_t
common_divisor (int64_t a, int64_t b)
{
  return b == 0 ? a : common_divisor (b, a % b);
}

int
check_sets_roots (uint64_t seed, int plans, FILE *file)
{
  static const int divisors[] = { 1, 1, 1, 2, 3, 4, 6, 8, 7, 16, 100, 255, 256, 1000, 4097 };
  int failures = 0, kinds[3] = { 0 };

  for (int number = 0; failures < 4
       && (number < plans
           || (plans >= 100 && number < MOST_MORE * plans && (kinds[0] == 0 || kinds[1] == 0 || kinds[2] == 0)));
       number++) {
    CheckRandom random;
    int depth, zero, a, b, divisor, common;
    ConvolveMask mask;
    ConvolvePlan *plan = NULL;

    check_random_init (&random, seed ^ 0x726f6f74, number);
    depth = check_random_one_in (&random, 2) ? 8 : check_random_range (&random, 9, 16);
    zero = check_random_one_in (&random, 2) ? 0 : 1 << (depth - check_random_range (&random, 1, 4));
    divisor = divisors[check_random_range (&random, 0, sizeof divisors / sizeof *divisors - 1)];
    a = check_random_range (&random, 1, 15) * (check_random_one_in (&random, 4) ? divisor % 64 + 1 : 1);
    a = a < 16777215 >> depth ? a : 16777215 >> depth;
    b = check_random_range (&random, 1, 15);
    common = (int) common_divisor (a, b);
    if (convolve_mask_init_sets (&mask, 1, 1, 2, CONVOLVE_MAGNITUDE)) {
      ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
        .depth = depth,
        .samples = 1,
        .stride = depth == 8 ? 1 : 2,
        .select = 1,
        .biased = 1,
        .zero = { zero } };
      double range = (1 << depth) - 1;
      int64_t top = common / common_divisor (common, divisor), bottom = divisor / common_divisor (common, divisor);
      int offset = check_random_one_in (&random, 2) ? 0
          : check_random_one_in (&random, 2)        ? (int) range * 128
                                             : check_random_range (&random, -(int) range * 256, (int) range * 256);
      Definition d = { top, bottom, 512 * (int64_t) zero + 2 * (int64_t) offset + 256, (int) range };

      convolve_mask_taps (&mask, 0)[0] = a;
      convolve_mask_taps (&mask, 1)[0] = -b;
      mask.divisor = mask.more_divisors[0] = divisor;
      mask.offset = offset / range / 256;
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu-reference", NULL, NULL);
      if (!plan || !plan->exact) {
        fprintf (file, "FAILED root: no exact plan for %d and %d divided by %d\n", a, b, divisor);
        failures++;
      } else {
        kinds[plan->root.kind]++;
        failures += check_plan (plan, &d, file);
      }
    }
    if (failures > 0)
      fprintf (file, "  plan %d of seed %llu: depth %d, zero %d, %d and %d divided by %d\n", number,
          (unsigned long long) seed, depth, zero, a, b, divisor);
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  if (failures == 0 && plans >= 100 && (kinds[0] == 0 || kinds[1] == 0 || kinds[2] == 0)) {
    fprintf (file, "FAILED root: seed %llu has %d, %d and %d plans of the kinds\n", (unsigned long long) seed, kinds[0],
        kinds[1], kinds[2]);
    failures++;
  }
  return failures;
}

/* --- memory --- */

int
check_sets_memory (FILE *file)
{
  static const int sides[] = { 1, 3, 31, 127, 255 };
  int failures = 0;

  for (int number = 0; number < 5 * 4 * 2 * 2 * 3; number++) {
    int side = sides[number % 5], samples = number / 5 % 4 + 1, deep = number / 20 % 2, integers = number / 40 % 2;
    ConvolveCombination combination = CONVOLVE_ABSOLUTE + number / 80;
    int sets = combination == CONVOLVE_ABSOLUTE ? 1 : CONVOLVE_MAX_SETS;
    ConvolvePixel pixel = { .type = deep ? CONVOLVE_SAMPLE_U16 : CONVOLVE_SAMPLE_U8,
      .depth = deep ? 16 : 8,
      .samples = samples,
      .stride = samples * (deep + 1),
      .select = (1u << samples) - 1 };
    ConvolvePlane plane = { .width = 3840, .height = 2160, .region = { 0, 0, 3840, 2160 } };
    ConvolveMask mask = { 0 };
    ConvolvePlan *plan = NULL;
    size_t needed = SIZE_MAX;

    if (convolve_mask_init_sets (&mask, side, side, sets, combination)) {
      for (int i = 0; i < side * side * sets; i++)
        mask.taps[i] = integers ? i % 5 - 2 : (i % 101 * 79 % 101) / (70.1 * side * side);
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "cpu", NULL, NULL);
    }
    if (plan) {
      ConvolveCpuCut cut = convolve_cpu_cut (plan, &plane);

      needed = convolve_cpu_memory (plan, &plane, &cut);
    }
    if (needed >= 4 << 20) {
      fprintf (file, "FAILED cpu: %zu bytes for a thread, %d sets of %dx%d %s, %d samples of %d bytes\n", needed, sets,
          side, side, integers ? "integers" : "fractions", samples, deep + 1);
      failures++;
    }
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  return failures;
}

/* --- variants --- */

/* The fast variants of a device take small combinations; those that take none say so of the mask. */
static int
check_acceptance (const char *name, const ConvolvePlan *plan, FILE *file)
{
  bool deep = plan->pixel.type == CONVOLVE_SAMPLE_U16;
  int failures = 0;

  for (int i = 0; convolve_variants[i]; i++) {
    const ConvolveVariant *variant = convolve_variants[i];
    const char *reason = "";
    ConvolveFound found;
    bool accepted = convolve_variant_accepts (variant, plan, &found, &reason);
    bool expected = variant->combines && !(deep && strcmp (variant->name, "packed") == 0);

    if (accepted != expected || (!variant->combines && strncmp (reason, "the mask is ", 12) != 0)) {
      fprintf (file, "FAILED %s: %s %s with %d bits, zero level %d: %s\n", variant->name,
          accepted ? "accepts" : "refuses", name, plan->pixel.depth, plan->pixel.zero[0], reason);
      failures++;
    }
    free (found.block);
  }
  return failures;
}

/* A plan is exact where all of its sets are. In masks 1 and 2, one set has weights that are no integers. */
static int
check_exact_sets (FILE *file)
{
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8,
    .depth = 8,
    .samples = 1,
    .stride = 1,
    .select = 1,
    .biased = 1 };
  int failures = 0;

  for (int bad = 0; bad <= 2; bad++) {
    ConvolvePlan *plan = NULL;
    ConvolveMask mask;

    if (convolve_mask_init_sets (&mask, 3, 1, 2, CONVOLVE_LARGEST)) {
      for (int i = 0; i < 6; i++)
        mask.taps[i] = i / 3 + 1 == bad ? 0.1 + 0.123456789 * sqrt (i) : i + 1;
      plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "auto", NULL, NULL);
    }
    if (!plan || convolve_plan_is_exact (plan) != (bad == 0)) {
      fprintf (file, "FAILED sets: mask %d %s\n", bad, plan ? "is called exact, or is not" : "has no plan");
      failures++;
    }
    convolve_plan_unref (plan);
    convolve_mask_clear (&mask);
  }
  return failures;
}

int
check_sets_accepted (FILE *file)
{
  static const struct
  {
    const char *name;
    ConvolveCombination combination;
    int sets;
    double taps[2][9], divisor, offset;
  } masks[] = {
    { "sobel", CONVOLVE_MAGNITUDE, 2, { { -1, 0, 1, -2, 0, 2, -1, 0, 1 }, { -1, -2, -1, 0, 0, 0, 1, 2, 1 } }, 1, 0 },
    { "scharr", CONVOLVE_MAGNITUDE, 2, { { -3, 0, 3, -10, 0, 10, -3, 0, 3 }, { -3, -10, -3, 0, 0, 0, 3, 10, 3 } }, 1,
        0.5 },
    { "prewitt", CONVOLVE_MAGNITUDE, 2, { { -1, 0, 1, -1, 0, 1, -1, 0, 1 }, { -1, -1, -1, 0, 0, 0, 1, 1, 1 } }, 1, 0 },
    { "roberts", CONVOLVE_MAGNITUDE, 2, { { 0, 0, 0, 0, 1, 0, 0, 0, -1 }, { 0, 0, 0, 0, 0, 1, 0, -1, 0 } }, 1, 0.5 },
    { "a largest slope", CONVOLVE_LARGEST, 2, { { -1, 0, 1, -2, 0, 2, -1, 0, 1 }, { -1, -2, -1, 0, 0, 0, 1, 2, 1 } }, 1,
        0 },
    { "an absolute slope", CONVOLVE_ABSOLUTE, 1, { { -1, 0, 1, -2, 0, 2, -1, 0, 1 } }, -4, 0 },
  };
  int failures = check_exact_sets (file);

  for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
    for (int i = 0; i < 8; i++) {
      static const int depths[] = { 8, 10, 12, 16 };
      int depth = depths[i / 2];
      ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
        .depth = depth,
        .samples = 1,
        .stride = depth == 8 ? 1 : 2,
        .select = 1,
        .biased = 1,
        .zero = { i % 2 ? 16 << (depth - 8) : 0 },
        .range = { i % 2 ? 219 << (depth - 8) : 0 } };
      ConvolvePlan *plan = NULL;
      ConvolveMask mask;

      if (convolve_mask_init_sets (&mask, 3, 3, masks[m].sets, masks[m].combination)) {
        memcpy (mask.taps, masks[m].taps, masks[m].sets * 9 * sizeof (double));
        mask.divisor = mask.more_divisors[0] = masks[m].divisor;
        mask.offset = masks[m].offset;
        plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, "auto", NULL, NULL);
      }
      failures += plan ? check_acceptance (masks[m].name, plan, file) : 1;
      convolve_plan_unref (plan);
      convolve_mask_clear (&mask);
    }
  return failures;
}
