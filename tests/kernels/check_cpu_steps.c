/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_cpu_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "kernels/check_cpu.h"

enum
{
  MOST_PRODUCTS = 1000000, /* of a region's run by cpu-reference */
  MOST_FAILURES = 4,
  THOROUGH = 300,   /* a run of so many cases is to show every path and kind */
  MOST_ROUNDS = 20, /* and draws up to so many times its cases until it has */
  N_SEEN = 8        /* kinds beside the paths */
};

/* What occurred. */
typedef struct
{
  int cases, refused;
  int paths[CONVOLVE_CPU_SETS + 1];
  int narrow_digits, wide_digits; /* wide sums of two digits: in 32 bits, and in more */
  int many_groups;                /* wide sums that are cut into more than two groups */
  int wide_sets, narrow_sets;     /* parts of combinations that are not exact in float */
  int unlike_parts;               /* absolute values whose parts are not each other's negatives */
  int signed_boxes, soft_boxes;
} Seen;

/* --- masks --- */

static void
fill_fractions (double *taps, int width, int height, CheckRandom *random)
{
  for (int i = 0; i < width * height; i++)
    taps[i] = 0.001 + check_random_unit (random);
}

static void
fill_signed (double *taps, int width, int height, CheckRandom *random)
{
  for (int i = 0; i < width * height; i++)
    taps[i] = check_random_unit (random) - 0.45;
}

/* A few taps that are much larger than the others. */
static void
fill_peaks (double *taps, int width, int height, CheckRandom *random)
{
  fill_signed (taps, width, height, random);
  for (int i = check_random_range (random, 1, 3); i > 0; i--)
    taps[check_random_range (random, 0, width * height - 1)] *= width * height * exp (4 * check_random_unit (random));
}

static void
fill_sparse (double *taps, int width, int height, CheckRandom *random)
{
  for (int i = 0; i < width * height; i++)
    taps[i] = check_random_one_in (random, 4) ? check_random_unit (random) - 0.3 : 0;
  taps[0] = 1;
}

/* Halves of units, which rounding moves in one direction whatever their sign. */
static void
fill_ties (double *taps, int width, int height, CheckRandom *random)
{
  fill_signed (taps, width, height, random);
  for (int i = 0; i < width * height; i++)
    taps[i] = (floor (taps[i] * 256) + 0.5) / 65536;
}

static void
fill_equal (double *taps, int width, int height, CheckRandom *random)
{
  (void) random;
  for (int i = 0; i < width * height; i++)
    taps[i] = 1;
}

/* Other weights at the edges, mostly the half of those inside. */
static void
fill_soft_box (double *taps, int width, int height, CheckRandom *random)
{
  int x = check_random_one_in (random, 4), y = check_random_one_in (random, 4);

  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++)
      taps[j * width + i] = (i == 0 || i == width - 1 ? 1 + x : 2 - x) * (j == 0 || j == height - 1 ? 1 + y : 2 - y);
}

static const struct
{
  const char *name;
  void (*fill) (double *, int, int, CheckRandom *);
  int weight, least, most; /* least, most: of a side */
} kinds[] = {
  { "fractions", fill_fractions, 8, 1, 71 }, { "signed fractions", fill_signed, 4, 1, 71 },
  { "peaks", fill_peaks, 6, 1, 41 }, { "sparse", fill_sparse, 2, 1, 41 }, { "ties", fill_ties, 2, 1, 9 },
  { "equal", fill_equal, 3, 1, 255 }, { "soft box", fill_soft_box, 3, 3, 255 },
  { "large fractions", fill_fractions, 2, 65, 129 },
  { "large box", fill_equal, 2, 183, 255 }, /* sums of samples of 16 bits pass 31 bits */
};

enum
{
  N_KINDS = sizeof kinds / sizeof *kinds,
  LARGE_BOX = N_KINDS - 1,
  LARGEST_GAIN = 1 << 14 /* of a divisor that was made for other weights */
};

/* Small sides more often than large ones. */
static int
random_side (CheckRandom *random, int least, int most)
{
  double first = least < 3 ? 3 : least;
  int side = (int) (first * pow (most / first, check_random_unit (random))) / 2 * 2 + 1;

  return side > most ? most : side;
}

static bool
make_mask (ConvolveMask *mask, int kind, CheckRandom *random)
{
  static const double gains[] = { 1, 1, 1, -1, 0.37, 2.6, 40 };
  ConvolveCombination combination =
      check_random_one_in (random, 2) ? CONVOLVE_SUM : check_random_range (random, 0, CONVOLVE_LARGEST);
  int sets = combination == CONVOLVE_SUM || combination == CONVOLVE_ABSOLUTE ? 1 : check_random_range (random, 2, 3);
  int least = kinds[kind].least, most = combination == CONVOLVE_SUM || least > 1 ? kinds[kind].most : 15;
  int width = random_side (random, least, most);
  int height = check_random_one_in (random, 2) ? width : random_side (random, least, most);

  if (!convolve_mask_init_sets (mask, width, height, sets, combination))
    return false;
  mask->offset = check_random_one_in (random, 2) ? 0 : check_random_unit (random) - 0.5;
  for (int k = 0; k < sets; k++) {
    double *taps = convolve_mask_taps (mask, k), size = 0, gain = gains[check_random_range (random, 0, 6)];
    bool shared = k > 0 && check_random_one_in (random, 2);

    kinds[k == 0 || check_random_one_in (random, 2) ? kind : check_random_range (random, 0, N_KINDS - 1)].fill (taps,
        width, height, random);
    for (int i = 0; i < width * height; i++)
      size += fabs (taps[i]);
    shared = shared && size < fabs (mask->divisor) * LARGEST_GAIN;
    if (kinds[kind].fill == fill_ties)
      size = fmax (1, size / LARGEST_GAIN);
    if (k == 0)
      mask->divisor = size / gain;
    else
      mask->more_divisors[k - 1] = shared ? mask->divisor : size / gain;
  }
  return true;
}

/* Samples of 16 bits for a large box, and often the largest, so that sums need more than 31 bits. */
static void
make_bright (CheckCase *test)
{
  if (test->pixel.type == CONVOLVE_SAMPLE_U8)
    return;
  test->pixel.depth = 16;
  test->pixel.shift = 0;
  if (test->number % 4 > 0)
    memset (test->source.bytes, 0xff, test->source.size / (test->number % 4));
}

/* A random case with such a mask, and a region that cpu-reference does quickly. */
static bool
make_case (CheckCase *test, uint64_t seed, uint64_t number, int *kind)
{
  int weights[N_KINDS];
  CheckRandom random;
  int64_t products;

  if (!check_case_random (test, seed, number, false))
    return false;
  check_random_init (&random, seed ^ 0x7374657073, number);
  for (int i = 0; i < N_KINDS; i++)
    weights[i] = kinds[i].weight;
  *kind = check_random_pick (&random, weights, N_KINDS);
  convolve_mask_clear (&test->mask.mask);
  if (!make_mask (&test->mask.mask, *kind, &random))
    return false;
  if (*kind == LARGE_BOX)
    make_bright (test);
  products = (int64_t) test->mask.mask.width * test->mask.mask.height * convolve_mask_sets (&test->mask.mask);
  while (products * test->region.width * test->region.height > MOST_PRODUCTS && test->region.height > 1)
    test->region.height /= 2;
  return true;
}

/* --- runs --- */

static void
count_plan (const ConvolvePlan *plan, Seen *seen)
{
  const ConvolveCpu *cpu = convolve_cpu_of (plan);

  seen->cases++;
  seen->paths[cpu->path]++;
  seen->paths[CONVOLVE_CPU_FFT] += cpu->large != NULL;
  seen->signed_boxes += cpu->path == CONVOLVE_CPU_BOX && cpu->middle > 0;
  seen->soft_boxes += cpu->path == CONVOLVE_CPU_BOX && cpu->box.inner_x && cpu->box.inner_y && !plan->exact;
  seen->narrow_digits += cpu->path == CONVOLVE_CPU_WIDE && cpu->wide.low_bits == 0;
  seen->wide_digits += cpu->path == CONVOLVE_CPU_WIDE && cpu->wide.low_bits > 0 && cpu->wide.groups[0].place > 0;
  seen->many_groups += cpu->path == CONVOLVE_CPU_WIDE && cpu->wide.n_groups > 2;
  seen->unlike_parts += cpu->path == CONVOLVE_CPU_SETS && plan->combination == CONVOLVE_ABSOLUTE;
  for (int k = 0; k < cpu->n_parts; k++) {
    seen->wide_sets += cpu->parts[k].path == CONVOLVE_CPU_WIDE;
    seen->narrow_sets += cpu->parts[k].path == CONVOLVE_CPU_PAIRS && !plan->parts[k].exact;
  }
}

/* Whether the plan, or each of its parts, has integers. */
static bool
has_integers (const ConvolvePlan *plan)
{
  bool all = plan->integers;

  for (int k = 0; k < plan->n_parts; k++)
    all = all && plan->parts[k].integers;
  return all;
}

static bool
run_case (const CheckCase *test, const char *variant, unsigned char *result)
{
  ConvolvePlane plane = check_case_plane (test, test->source.bytes, result);
  ConvolvePlan *plan = convolve_plan_new (&test->pixel, test->boundary, &test->mask.mask, variant, NULL, NULL);
  bool done;

  memcpy (result, test->destination.bytes, test->destination.size);
  done = plan && convolve_run (plan, &plane, NULL) == CONVOLVE_OK;
  convolve_plan_unref (plan);
  return done;
}

static bool
check_case (const CheckCase *test, Seen *seen, FILE *file)
{
  ConvolvePlan *plan = convolve_plan_new (&test->pixel, test->boundary, &test->mask.mask, "cpu", NULL, NULL);
  unsigned char *expected = malloc (test->destination.size);
  bool follows = plan && has_integers (plan), good = plan && expected;

  if (follows) {
    count_plan (plan, seen);
    good = good && run_case (test, "cpu-reference", expected) && check_cpu_same (test, expected, file);
  } else {
    seen->refused++;
  }
  if (!good && plan)
    fprintf (file, "  path %d, arithmetic %d, bits %d, %s\n", (int) convolve_cpu_of (plan)->path,
        (int) plan->arithmetic.kind, plan->arithmetic.bits, plan->exact ? "exact in float" : "not exact in float");
  free (expected);
  convolve_plan_unref (plan);
  return good;
}

/* Each kind that the cases should have shown, beside the paths. */
static void
seen_kinds (const Seen *seen, int kinds_seen[N_SEEN])
{
  const int numbers[N_SEEN] = { seen->narrow_digits, seen->wide_digits, seen->many_groups, seen->wide_sets,
    seen->narrow_sets, seen->unlike_parts, seen->signed_boxes, seen->soft_boxes };

  memcpy (kinds_seen, numbers, sizeof numbers);
}

static bool
seen_all (const Seen *seen)
{
  static const ConvolveCpuPath paths[] = { CONVOLVE_CPU_BOX, CONVOLVE_CPU_SMALL_BOX, CONVOLVE_CPU_PAIRS,
    CONVOLVE_CPU_WIDE, CONVOLVE_CPU_FFT, CONVOLVE_CPU_SETS };
  int numbers[N_SEEN];
  bool all = true;

  seen_kinds (seen, numbers);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    all = all && seen->paths[paths[i]] > 0;
  for (int i = 0; i < N_SEEN; i++)
    all = all && numbers[i] > 0;
  return all;
}

static int
check_seen (const Seen *seen, uint64_t seed, FILE *file)
{
  int numbers[N_SEEN];

  if (seen_all (seen))
    return 0;
  seen_kinds (seen, numbers);
  fprintf (file, "FAILED cpu: steps of seed %llu: %d cases, %d without integers, paths", (unsigned long long) seed,
      seen->cases, seen->refused);
  for (int i = 0; i <= CONVOLVE_CPU_SETS; i++)
    fprintf (file, " %d", seen->paths[i]);
  fprintf (file, ", kinds");
  for (int i = 0; i < N_SEEN; i++)
    fprintf (file, " %d", numbers[i]);
  fprintf (file, "\n");
  return 1;
}

int
check_cpu_steps (uint64_t seed, int cases, FILE *file)
{
  Seen seen = { 0 };
  int failures = 0;
  bool thorough = cases >= THOROUGH;

  /* A thorough run goes on until it has seen every path and kind. */
  for (int number = 0;
       failures < MOST_FAILURES && (number < cases || (thorough && !seen_all (&seen) && number < MOST_ROUNDS * cases));
       number++) {
    CheckCase test;
    int kind = 0;

    if (!make_case (&test, seed, number, &kind) || !check_case (&test, &seen, file)) {
      fprintf (file, "FAILED cpu: case %d of the steps, seed %llu: %s, %dx%d, combination %d, depth %d\n", number,
          (unsigned long long) seed, kinds[kind].name, test.mask.mask.width, test.mask.mask.height,
          (int) test.mask.mask.combination, test.pixel.depth);
      failures++;
    }
    check_case_clear (&test);
  }
  return failures > 0 || !thorough ? failures : check_seen (&seen, seed, file);
}

/* --- boxes of which results have to be clamped --- */

/* A plane of bytes, a third of them the largest. */
static void
fill_bright (unsigned char *bytes, int count, CheckRandom *random)
{
  for (int i = 0; i < count; i++)
    bytes[i] = (unsigned char) (check_random_one_in (random, 3) ? 255 : check_random_range (random, 0, 255));
}

/* Whether a square box with this gain gives the bytes of cpu-reference. */
static bool
check_bright_box (int side, double gain, CheckRandom *random)
{
  enum
  {
    WIDTH = 70,
    HEIGHT = 40,
    BYTES = WIDTH * HEIGHT
  };
  static const char *const variants[] = { "cpu", "cpu-reference" };
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  unsigned char source[BYTES], results[2][BYTES] = { { 0 } };
  ConvolveMask mask;
  bool good = convolve_mask_init (&mask, side, side);

  fill_bright (source, BYTES, random);
  for (int i = 0; i < side * side && good; i++)
    mask.taps[i] = 1;
  mask.divisor = side * side / gain;
  for (int i = 0; i < 2 && good; i++) {
    const ConvolvePlane plane = { source, results[i], WIDTH, WIDTH, WIDTH, HEIGHT, { 0, 0, WIDTH, HEIGHT } };
    ConvolvePlan *plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, variants[i], NULL, NULL);

    good = plan && convolve_run (plan, &plane, NULL) == CONVOLVE_OK;
    convolve_plan_unref (plan);
  }
  convolve_mask_clear (&mask);
  return good && memcmp (results[0], results[1], BYTES) == 0;
}

int
check_cpu_bright_boxes (uint64_t seed, FILE *file)
{
  static const double gains[] = { 0.5, 1, 1.5, 2, 2.25, 4, 9, 100 };
  CheckRandom random;
  int failures = 0;

  check_random_init (&random, seed, 0);
  for (int side = 1; side <= 17; side += 2)
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++)
      if (!check_bright_box (side, gains[i], &random)) {
        fprintf (file, "FAILED cpu: box %dx%d with the gain %g, seed %llu\n", side, side, gains[i],
            (unsigned long long) seed);
        failures++;
      }
  return failures;
}
