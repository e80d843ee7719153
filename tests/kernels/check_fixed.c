/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_fixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A variant that refuses the case fails, unless may_refuse is true. */
static int
run_fixed (CheckRow *row, CheckCase *test, bool may_refuse, FILE *file)
{
  CheckVerdict verdict = check_row_run (row, test, false, file);

  if (verdict == CHECK_REFUSED && !may_refuse) {
    fprintf (file, "FAILED %s: refused what it must be able to do\n", row->variant);
    check_case_describe (test, file);
    row->failed++;
    verdict = CHECK_FAILED;
  }
  if (verdict == CHECK_FAILED)
    fprintf (file, "  in the fixed case '%s': convolve_check --check fixed --variant %s\n", test->name, row->variant);
  check_case_clear (test);
  return verdict == CHECK_FAILED;
}

static int
out_of_memory (CheckCase *test, FILE *file)
{
  fprintf (file, "FAILED: out of memory\n");
  check_case_clear (test);
  return 1;
}

/* After four failures a row stops, because more of them say nothing new. */
static bool
goes_on (const CheckRow *row)
{
  return !row->device_lost && row->failed < 4;
}

/* A worked example: 1 2 3 4 5 6 7 with the mask 3 4 5 4 3 and zeros outside gives 22 38 57 76 95 90 74. */
static int
check_example (CheckRow *row, bool upright, FILE *file)
{
  static const double taps[] = { 3, 4, 5, 4, 3 };
  static const int expected[] = { 22, 38, 57, 76, 95, 90, 74 };
  CheckCase test;
  Oracle oracle;
  OracleValue values[7];
  int width = upright ? 1 : 7, height = upright ? 7 : 1;

  if (!check_case_fixed (&test, upright ? "the worked example, upright" : "the worked example", &gray_8,
          CONVOLVE_BOUNDARY_ZERO, width, height, taps, upright ? 1 : 5, upright ? 5 : 1, 1))
    return out_of_memory (&test, file);
  for (int i = 0; i < 7; i++)
    check_case_set (&test, &test.source, upright ? 0 : i, upright ? i : 0, 0, i + 1);

  /* The oracle must give the same numbers. */
  check_case_oracle (&test, &oracle);
  if (!oracle_convolve (&oracle, 0, 0, width, height, values))
    return out_of_memory (&test, file);
  for (int i = 0; i < 7; i++) {
    if (values[i].low != expected[i] || values[i].high != expected[i]) {
      fprintf (file, "FAILED: the oracle has %d..%d for %d in the worked example\n", values[i].low, values[i].high,
          expected[i]);
      check_case_clear (&test);
      return 1;
    }
  }
  return run_fixed (row, &test, is_box (row), file);
}

/* A box over two values, with divisors that make ties (6) and make none (7). */
static int
check_ties (CheckRow *row, ConvolveBoundary boundary, double divisor, FILE *file)
{
  static const double box[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  CheckCase test;

  if (!check_case_fixed (&test, "a box over two values", &gray_8, boundary, 37, 21, box, 3, 3, divisor))
    return out_of_memory (&test, file);
  for (int y = 0; y < test.height; y++) {
    for (int x = 0; x < test.width; x++)
      check_case_set (&test, &test.source, x, y, 0, (x * x + 3 * y + x * y / 5) % 2 ? 3 : 0);
  }
  return run_fixed (row, &test, false, file);
}

/* The largest mask over the smallest images. */
static int
check_largest_mask (CheckRow *row, ConvolveBoundary boundary, int width, int height, FILE *file)
{
  enum
  {
    SIDE = CONVOLVE_MAX_SIDE
  };
  static double taps[SIDE * SIDE];
  CheckCase test;

  for (int k = 0; k < SIDE * SIDE; k++)
    taps[k] = k % 7 == 0 ? -1 : 1;
  if (!check_case_fixed (&test, "the largest mask over a tiny image", &gray_8, boundary, width, height, taps, SIDE,
          SIDE, 46447))
    return out_of_memory (&test, file);
  return run_fixed (row, &test, true, file);
}

/* Two rows of large weights nearly cancel, so a separable variant must not round between its two passes. */
static int
check_cancelling_rows (CheckRow *row, FILE *file)
{
  static const ConvolvePixel gray_16 = { .type = CONVOLVE_SAMPLE_U16,
    .depth = 16,
    .samples = 1,
    .stride = 2,
    .select = 1,
    .biased = 1 };
  static const double taps[] = { -1, -1, -1000003, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1000003, 1, 1 };
  CheckCase test;

  if (!check_case_fixed (&test, "rows of large weights that nearly cancel", &gray_16, CONVOLVE_BOUNDARY_REPLICATE, 64,
          40, taps, 5, 3, 4))
    return out_of_memory (&test, file);
  for (int y = 0; y < test.height; y++)
    for (int x = 0; x < test.width; x++)
      check_case_set (&test, &test.source, x, y, 0, 60000 + (x * 7 + y) % 3 * (x == 30));
  return run_fixed (row, &test, true, file);
}

/*
 * Weights that float holds as they are, whose sums and tail need double: with the zero level, a result is a difference
 * of millions of code values, and an error of half of one is allowed.
 */
static int
check_large_sums (CheckRow *row, int side, FILE *file)
{
  static const ConvolvePixel gray_16 = { .type = CONVOLVE_SAMPLE_U16,
    .depth = 16,
    .samples = 1,
    .stride = 2,
    .select = 1,
    .zero = { 32768 } };
  const double gain = 1000;
  double taps[81], sum = 0;
  CheckCase test;

  for (int k = 0; k < side * side; k++)
    sum += taps[k] = ((int) (k * 2654435761u >> 16) % 8001 - 4000) / 256.0;
  taps[side * side / 2] += gain - sum;
  if (!check_case_fixed (&test, "weights whose sums need double", &gray_16, CONVOLVE_BOUNDARY_REFLECT, 64, 40, taps,
          side, side, 1))
    return out_of_memory (&test, file);
  for (int y = 0; y < test.height; y++)
    for (int x = 0; x < test.width; x++)
      check_case_set (&test, &test.source, x, y, 0, 32758 + (int) ((y * 64 + x) * 2246822519u >> 16) % 20);
  return run_fixed (row, &test, true, file);
}

/* A plane with more rows than the 65,535 blocks of a grid's height can hold, and one with as many columns. */
static int
check_long (CheckRow *row, int width, int height, FILE *file)
{
  static const double taps[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
  CheckCase test;

  if (!check_case_fixed (&test, "millions of pixels in a row or a column", &gray_8, CONVOLVE_BOUNDARY_WRAP, width,
          height, taps, 3, 3, 9))
    return out_of_memory (&test, file);
  return run_fixed (row, &test, false, file);
}

static int
check_rank_1 (CheckRow *row, int width, int height, double (*tap) (int, int), const char *name, FILE *file)
{
  double taps[31];
  double *product = malloc ((size_t) width * height * sizeof *product), sum = 0;
  CheckCase test = { 0 };
  bool made = product != NULL;

  for (int i = 0; i < width && made; i++)
    taps[i] = tap (i, width);
  for (int k = 0; k < width * height && made; k++)
    sum += product[k] = taps[k % width] * tap (k / width, height);
  made =
      made && check_case_fixed (&test, name, &gray_8, CONVOLVE_BOUNDARY_REFLECT, 70, 45, product, width, height, sum);
  free (product);
  if (!made)
    return out_of_memory (&test, file);
  return run_fixed (row, &test, true, file); /* some variants take only small masks, some only integers */
}

/*
 * Planes of many tiles, most of them without an edge of the image, in the layouts for which kernels have special
 * code, with weights of one byte and of two.
 */
static int
check_large (CheckRow *row, FILE *file)
{
  static const struct
  {
    ConvolvePixel pixel;
    int width, height, mask_width, mask_height, largest;
  } cases[] = {
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1, .zero = { 16 } }, 3000, 2309, 5, 5, 100 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 3840, 1100, 15, 15, 250 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 1501, 1100, 31, 31, 60 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 1504, 700, 63, 3, 127 },
    { { .depth = 8, .samples = 2, .stride = 2, .select = 3, .zero = { 128, 128 } }, 1920, 1077, 9, 9, 128 },
    { { .depth = 8, .samples = 3, .stride = 3, .select = 5 }, 1296, 701, 3, 7, 90 },
    { { .depth = 8, .samples = 4, .stride = 4, .select = 7 }, 1936, 1077, 7, 7, 300 },
    { { .depth = 8, .samples = 3, .stride = 4, .select = 7 }, 720, 480, 5, 3, 20 },
    { { CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .samples = 1, .stride = 2, .select = 1 }, 3000, 2309, 5, 5, 200 },
    { { CONVOLVE_SAMPLE_U16, .depth = 10, .samples = 2, .stride = 4, .select = 2 }, 1600, 900, 9, 5, 100 },
    { { CONVOLVE_SAMPLE_U16, .depth = 16, .swapped = true, .samples = 2, .stride = 4, .select = 3 }, 1600, 900, 3, 3,
        20 },
  };
  int failures = 0;

  for (size_t i = 0; i < sizeof cases / sizeof *cases && !row->device_lost; i++) {
    int count = cases[i].mask_width * cases[i].mask_height;
    double *taps = malloc (count * sizeof *taps), sum = 0;
    CheckCase test = { 0 };
    CheckRandom random;
    bool made = taps != NULL;

    check_random_init (&random, 7, i);
    for (int k = 0; k < count && made; k++)
      sum += taps[k] = check_random_range (&random, -cases[i].largest / 4, cases[i].largest);
    made = made
        && check_case_fixed (&test, "a large plane", &cases[i].pixel, i % CONVOLVE_N_BOUNDARIES, cases[i].width,
            cases[i].height, taps, cases[i].mask_width, cases[i].mask_height, sum);
    free (taps);
    if (!made)
      return failures + out_of_memory (&test, file);
    test.large = true;
    failures += run_fixed (row, &test, true, file);
  }
  return failures;
}

static double
bell (int at, int size)
{
  return exp (-8.0 * (at - size / 2) * (at - size / 2) / ((double) size * size));
}

/*
 * Separable masks over planes of middle and large size, as seen by a device of 100 to 150 multiprocessors. tensor-
 * fused has a kernel for each of them, and for masks of up to 9, 17 and 33 rows.
 */
static int
check_large_products (CheckRow *row, FILE *file)
{
  static const struct
  {
    ConvolvePixel pixel;
    int width, height;
  } planes[] = {
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1, .zero = { 16 } }, 3855, 1001 },
    { { .depth = 8, .samples = 2, .stride = 2, .select = 3, .zero = { 128, 128 } }, 1921, 1903 },
    { { CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .samples = 1, .stride = 2, .select = 1 }, 3848, 801 },
    { { CONVOLVE_SAMPLE_U16, .depth = 12, .samples = 1, .stride = 2, .select = 1 }, 3840, 1503 },
  };
  static const int heights[] = { 9, 17, 33 };
  int failures = 0;

  for (int i = 0; i < 4 * 3 * 2 && !row->device_lost; i++) {
    double taps[3 * 33], sum = 0;
    int height = heights[i / 2 % 3];
    CheckCase test = { 0 };

    for (int k = 0; k < 3 * height; k++)
      sum += taps[k] = i % 2 ? bell (k % 3, 3) * bell (k / 3, height) : triangle (k % 3, 3) * triangle (k / 3, height);
    if (!check_case_fixed (&test, "a product over a large plane", &planes[i / 6].pixel, i % CONVOLVE_N_BOUNDARIES,
            planes[i / 6].width, planes[i / 6].height, taps, 3, height, sum))
      return failures + out_of_memory (&test, file);
    test.large = true;
    failures += run_fixed (row, &test, true, file);
  }
  return failures;
}

/* Many heights, so that for every variant some tile ends exactly with the image's last row. */
static int
check_ends (CheckRow *row, FILE *file)
{
  static const int heights[] = { 9, 17, 33 };
  int failures = 0;

  for (int i = 0; i < 3 * 16 && goes_on (row); i++) {
    double taps[33], sum = 0;
    CheckCase test = { 0 };

    for (int k = 0; k < heights[i / 16]; k++)
      sum += taps[k] = triangle (k, heights[i / 16]);
    if (!check_case_fixed (&test, "tiles that end with the image", &gray_8, CONVOLVE_BOUNDARY_REPLICATE, 112,
            49 + i % 16, taps, 1, heights[i / 16], sum))
      return failures + out_of_memory (&test, file);
    failures += run_fixed (row, &test, true, file);
  }
  return failures;
}

/*
 * Large masks over a row or a column of outputs, long enough for several tiles of any kernel, on all sides of the plane
 * and inside: integers for the exact bytes, and fractions.
 */
static int
check_large_masks (CheckRow *row, FILE *file)
{
  static const struct
  {
    ConvolvePixel pixel;
    int width, height;
    ConvolveRect region;
    int mask_width, mask_height, largest; /* 0: fractions */
  } cases[] = {
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 800, 140, { 0, 70, 800, 1 }, 127, 127, 4 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 810, 140, { 2, 139, 799, 1 }, 127, 127, 0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 150, 801, { 149, 0, 1, 801 }, 127, 127, 0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 300, 1703, { 30, 850, 1, 853 }, 255, 255, 0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 1703, 90, { 900, 0, 803, 1 }, 255, 255, 1 },
    { { .depth = 8, .samples = 2, .stride = 2, .select = 3, .zero = { 128, 128 } }, 930, 90, { 1, 5, 929, 1 }, 95, 91,
        0 },
    { { .depth = 8, .samples = 4, .stride = 4, .select = 7 }, 120, 1000, { 1, 5, 2, 990 }, 3, 159, 0 },
    { { .depth = 8, .samples = 3, .stride = 4, .select = 5 }, 1700, 20, { 0, 0, 1700, 2 }, 161, 1, 90 },
    { { CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .samples = 1, .stride = 2, .select = 1 }, 900, 90,
        { 0, 3, 900, 1 }, 127, 127, 0 },
    { { CONVOLVE_SAMPLE_U16, .depth = 10, .samples = 2, .stride = 4, .select = 2 }, 90, 900, { 44, 0, 1, 900 }, 127,
        127, 1 },
    { { CONVOLVE_SAMPLE_U16, .depth = 16, .swapped = true, .samples = 1, .stride = 2, .select = 1 }, 80, 900,
        { 0, 0, 1, 900 }, 91, 127, 0 },
  };
  int failures = 0;

  for (size_t i = 0; i < sizeof cases / sizeof *cases && !row->device_lost; i++) {
    int count = cases[i].mask_width * cases[i].mask_height;
    double *taps = malloc (count * sizeof *taps), sum = 0;
    CheckCase test = { 0 };
    CheckRandom random;
    bool made = taps != NULL;

    check_random_init (&random, 8, i);
    for (int k = 0; k < count && made; k++)
      sum += taps[k] = cases[i].largest ? check_random_range (&random, -cases[i].largest / 4, cases[i].largest)
                                        : check_random_unit (&random);
    made = made
        && check_case_fixed (&test, "a large mask", &cases[i].pixel, i % CONVOLVE_N_BOUNDARIES, cases[i].width,
            cases[i].height, taps, cases[i].mask_width, cases[i].mask_height, sum);
    free (taps);
    if (!made)
      return failures + out_of_memory (&test, file);
    test.region = cases[i].region;
    failures += run_fixed (row, &test, true, file);
  }
  return failures;
}

/*
 * Boxes of all sizes: planes of one block and of several, edges in the middle of one load, layouts that are loaded as
 * they lie and others, results that are clamped, and sums beyond 2^24, where deep samples are no longer exact.
 */
static int
check_boxes (CheckRow *row, FILE *file)
{
  static const struct
  {
    ConvolvePixel pixel;
    int width, height;
    ConvolveRect region;
    int mask_width, mask_height;
    double divisor; /* 0: the number of weights */
  } cases[] = {
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1, .zero = { 16 } }, 3840, 60, { 0, 29, 3840, 1 }, 255, 11,
        0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1, .zero = { 16 } }, 90, 2163, { 88, 0, 1, 2163 }, 15, 255,
        0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 700, 260, { 500, 120, 200, 1 }, 255, 255, 0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 2051, 91, { 3, 40, 2045, 1 }, 47, 85, 0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1, .biased = 1 }, 517, 40, { 0, 0, 517, 40 }, 255, 1, 0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 33, 801, { 0, 0, 33, 801 }, 1, 255, 0 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 200, 40, { 0, 0, 200, 40 }, 9, 5, 20 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1, .zero = { 128 } }, 200, 40, { 0, 0, 200, 40 }, 9, 5, -20 },
    { { .depth = 8, .samples = 1, .stride = 1, .select = 1 }, 5, 3, { 0, 0, 5, 3 }, 255, 255, 0 },
    { { .depth = 8, .samples = 2, .stride = 2, .select = 3, .zero = { 128, 127 } }, 1032, 300, { 1, 1, 1030, 2 }, 15,
        101, 0 },
    { { .depth = 8, .samples = 2, .stride = 2, .select = 2 }, 900, 31, { 0, 30, 900, 1 }, 95, 31, 0 },
    { { .depth = 8, .samples = 3, .stride = 3, .select = 7, .zero = { 1, 2, 3 } }, 700, 34, { 0, 0, 700, 4 }, 63, 9,
        0 },
    { { .depth = 8, .samples = 3, .stride = 4, .select = 5, .zero = { 9, 8, 7 } }, 300, 90, { 2, 40, 290, 1 }, 31, 61,
        0 },
    { { .depth = 8, .samples = 4, .stride = 4, .select = 7 }, 1001, 35, { 0, 17, 1001, 1 }, 255, 5, 0 },
    { { .depth = 8, .samples = 4, .stride = 4, .select = 15, .zero = { 16, 128, 128, 255 } }, 64, 700,
        { 63, 0, 1, 700 }, 17, 129, 0 },
    { { CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .samples = 1, .stride = 2, .select = 1, .zero = { 64 } }, 1999,
        60, { 0, 19, 1999, 1 }, 127, 17, 0 },
    { { CONVOLVE_SAMPLE_U16, .depth = 10, .shift = 6, .samples = 2, .stride = 4, .select = 3, .zero = { 512, 512 } },
        960, 120, { 0, 60, 960, 1 }, 13, 97, 0 },
    { { CONVOLVE_SAMPLE_U16, .depth = 12, .samples = 4, .stride = 8, .select = 7 }, 515, 60, { 200, 0, 20, 2 }, 255,
        255, 0 },
    { { CONVOLVE_SAMPLE_U16, .depth = 16, .samples = 3, .stride = 6, .select = 7, .zero = { 5, 6, 7 } }, 171, 300,
        { 170, 0, 1, 300 }, 7, 61, 0 },
    { { CONVOLVE_SAMPLE_U16, .depth = 16, .swapped = true, .samples = 1, .stride = 2, .select = 1 }, 401, 500,
        { 200, 180, 1, 99 }, 255, 255, 0 },
    { { CONVOLVE_SAMPLE_U16, .depth = 9, .samples = 1, .stride = 2, .select = 1 }, 64, 64, { 0, 0, 64, 64 }, 3, 63,
        40 },
  };
  int failures = 0;

  /* Each case runs twice: with equal weights, and with another boundary and smaller weights at the mask's edges. */
  for (size_t i = 0; i < sizeof cases / sizeof *cases * 2 && goes_on (row); i++) {
    const int which = i / 2, width = cases[which].mask_width, height = cases[which].mask_height;
    double *taps = malloc (width * height * sizeof *taps), sum = 0;
    CheckCase test = { 0 };
    bool made = taps != NULL;

    for (int k = 0; k < width * height && made; k++) {
      const bool side = k % width == 0 || k % width == width - 1, end = k / width == 0 || k / width == height - 1;

      sum += taps[k] = i % 2 == 0 ? 1 : (side ? 3 : 4) * (end ? 1 + which % 3 : 4);
    }
    made = made
        && check_case_fixed (&test, "a box", &cases[which].pixel, i * 3 % CONVOLVE_N_BOUNDARIES, cases[which].width,
            cases[which].height, taps, width, height, cases[which].divisor ? cases[which].divisor : sum);
    free (taps);
    if (!made)
      return failures + out_of_memory (&test, file);
    test.region = cases[which].region;
    failures += run_fixed (row, &test, true, file);
  }
  return failures;
}

/*
 * Every 16-bit value, scaled. With an even divisor up to half of the results lie exactly between two code values;
 * with the others some lie next to such a tie.
 */
static int
check_all_values (CheckRow *row, double divisor, double offset, FILE *file)
{
  static const ConvolvePixel gray_16 = { .type = CONVOLVE_SAMPLE_U16,
    .depth = 16,
    .samples = 1,
    .stride = 2,
    .select = 1,
    .biased = 1,
    .zero = { 32768 } };
  static const double one = 1;
  CheckCase test;

  if (!check_case_fixed (&test, "every 16-bit value", &gray_16, CONVOLVE_BOUNDARY_REPLICATE, 256, 256, &one, 1, 1,
          divisor))
    return out_of_memory (&test, file);
  test.mask.mask.offset = offset;
  for (int y = 0; y < 256; y++) {
    for (int x = 0; x < 256; x++)
      check_case_set (&test, &test.source, x, y, 0, 256 * y + x);
  }
  return run_fixed (row, &test, true, file); /* some variants take only 8-bit samples */
}

/* Taps of 0 give the zero level, also where 1 / divisor is beyond float, or beyond double. */
static int
check_zeros (CheckRow *row, double divisor, FILE *file)
{
  static const double taps[9];
  ConvolvePixel pixel = gray_8;
  CheckCase test;

  pixel.zero[0] = 128;
  if (!check_case_fixed (&test, "taps of 0", &pixel, CONVOLVE_BOUNDARY_REPLICATE, 20, 10, taps, 3, 3, divisor))
    return out_of_memory (&test, file);
  return run_fixed (row, &test, true, file);
}

int
check_fixed_variant (CheckRow *row, FILE *file)
{
  static const double divisors[] = { 1, 2, -2, 3, 6, 254, 1000, 32766, 65534, 2.5, 0.75, -0.0625 };
  int failures = check_example (row, false, file) + check_example (row, true, file);

  for (int boundary = 0; boundary < CONVOLVE_N_BOUNDARIES && goes_on (row); boundary++) {
    /* A box has rank 1, so every variant takes these cases, except that some refuse the largest mask. */
    failures += check_ties (row, boundary, 6, file) + check_ties (row, boundary, 7, file);
    failures += check_ties (row, boundary, -6, file) + check_ties (row, boundary, 2.5, file);
    failures += check_largest_mask (row, boundary, 1, 1, file) + check_largest_mask (row, boundary, 2, 3, file);
  }
  for (size_t i = 0; i < sizeof divisors / sizeof *divisors && goes_on (row); i++)
    failures += check_all_values (row, divisors[i], 0, file) + check_all_values (row, divisors[i], 0.01234, file);
  if (goes_on (row))
    failures += check_zeros (row, 3, file) + check_zeros (row, 1e-40, file) + check_zeros (row, 4e-310, file);
  if (goes_on (row))
    failures += check_cancelling_rows (row, file) + check_large_sums (row, 3, file) + check_large_sums (row, 9, file);
  if (goes_on (row) && row->device)
    failures += check_large (row, file) + check_large_products (row, file);
  if (goes_on (row))
    failures += check_ends (row, file);
  if (goes_on (row))
    failures += check_large_masks (row, file);
  if (goes_on (row))
    failures += check_boxes (row, file);
  if (goes_on (row))
    failures += check_long (row, 1, 4300000, file) + check_long (row, 1100000, 2, file);
  for (int size = 3; size <= 31 && goes_on (row); size += 4) {
    failures += check_rank_1 (row, size, size, triangle, "an integer mask of rank 1", file);
    failures += check_rank_1 (row, size, 5, bell, "a gaussian", file);
  }
  return failures;
}
