/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A warp of tensor-fused or tensor-separable on the host: 16 rows of 32 samples, with lanes and their registers as the
 * PTX manual has them for mma.m16n8k16 on bytes.
 */
#include "kernels/check_tensor_products.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/check_integer_tail.h"
#include "kernels/check_mask.h"
#include "cuda/tensor_products.h"
#include "common/tail.h"

enum
{
  LANES = 32,
  GROUP = CONVOLVE_PRODUCTS_GROUP,
  ROWS = CONVOLVE_PRODUCTS_ROWS,
  MAX_ROW_SUMS = 3
};

typedef struct
{
  ConvolvePlan *plan;
  const ConvolveMask *mask;
  ConvolveProducts products;
  ConvolveProductTaps taps;
  int32_t (*lowest)[2][LANES][4]; /* what totals have the 256th part of: [8 rows][half] */
  int rows, pitch;                /* of bytes, the window of 16 rows of outputs */
  uint8_t *bytes;
  FILE *file;
} Trial;

typedef uint32_t Registers[LANES][4];

static int
fail (const Trial *trial, const char *what, double got, double expected)
{
  fprintf (trial->file,
      "FAILED products: %s is %.17g, not %.17g: mask %dx%d, divisor %.17g, %d bits, %d samples, "
      "%d products, %s\n",
      what, got, expected, trial->mask->width, trial->mask->height, trial->mask->divisor, trial->plan->pixel.depth,
      trial->plan->pixel.samples, trial->products.rank, trial->plan->exact ? "exact" : "rounded");
  return 1;
}

static int
byte_of (uint32_t word, int b, bool is_signed)
{
  int byte = word >> 8 * b & 255;

  return is_signed ? (int8_t) byte : byte;
}

/* sums += left * right, left 16 x 16 from two registers of each lane, right 16 x 8 from one. */
static void
multiply (Registers sums, uint32_t left[LANES][2], bool left_signed, const uint32_t right[LANES], bool right_signed)
{
  for (int lane = 0; lane < LANES; lane++)
    for (int c = 0; c < 4; c++) {
      int row = lane / 4, column = lane % 4 * 2 + c % 2;

      for (int k = 0; k < 16; k++)
        sums[lane][c] += (uint32_t) (byte_of (left[row * 4 + k / 4][c / 2], k % 4, left_signed)
            * byte_of (right[column * 4 + k / 4], k % 4, right_signed));
    }
}

/* The sums of 8 rows, half h of the group's samples. */
static void
sum_rows (const Trial *trial, int r, int first, int h, Registers totals)
{
  const ConvolveProducts *products = &trial->products;
  int count = convolve_products_row_sums (trial->plan);

  memset (totals, 0, sizeof (Registers));
  for (int s = 0; s < count; s++) {
    Registers sums = { { 0 } };

    for (int u = 0; u < products->units; u++) {
      uint32_t left[LANES][2], right[LANES];

      for (int lane = 0; lane < LANES; lane++) {
        for (int k = 0; k < 2; k++)
          left[lane][k] = convolve_products_row_word (trial->plan, products, &trial->taps, r, u, s, lane, 2 * h + k);
        memcpy (&right[lane],
            trial->bytes + (first + lane / 4) * trial->pitch + convolve_products_byte (products, u, lane), 4);
      }
      multiply (sums, left, true, right, false);
    }
    for (int lane = 0; lane < LANES; lane++)
      for (int c = 0; c < 4; c++)
        totals[lane][c] += sums[lane][c] << 8 * s;
  }
  for (int lane = 0; lane < LANES; lane++)
    for (int c = 0; c < 4; c++)
      totals[lane][c] = products->scale ? (totals[lane][c] * products->scale + (uint32_t) products->row_start[r]) >> 16
                                        : totals[lane][c] + (uint32_t) products->row_start[r];
}

/* Totals of 16 rows of outputs: [8 rows][half]. */
static void
sum_columns (const Trial *trial, int r, Registers totals[2][2])
{
  for (int p = 0; p < trial->products.pairs; p++)
    for (int h = 0; h < 2; h++) {
      Registers upper, lower;
      uint32_t low[LANES][2], high[LANES][2];

      sum_rows (trial, r, p * ROWS, h, upper);
      sum_rows (trial, r, p * ROWS + 8, h, lower);
      for (int lane = 0; lane < LANES; lane++)
        for (int k = 0; k < 2; k++) {
          low[lane][k] = high[lane][k] = 0;
          for (int b = 0; b < 4; b++) {
            uint32_t sum = (b < 2 ? upper : lower)[lane][2 * k + b % 2];

            low[lane][k] |= (sum & 255) << 8 * b;
            high[lane][k] |= (sum >> 8 & 255) << 8 * b;
          }
        }
      for (int phase = 0; phase < 2; phase++) {
        uint32_t low_limbs[LANES], high_limbs[LANES];
        Registers lows = { { 0 } }, highs = { { 0 } };
        int32_t (*lowest)[4] = trial->lowest[phase][h];

        for (int lane = 0; lane < LANES; lane++) {
          low_limbs[lane] = convolve_products_column_word (trial->plan, &trial->taps, r, p, lane, 2 * phase);
          high_limbs[lane] = convolve_products_column_word (trial->plan, &trial->taps, r, p, lane, 2 * phase + 1);
        }
        multiply (highs, high, false, high_limbs, true);
        multiply (lows, low, false, high_limbs, true);
        multiply (lows, high, false, low_limbs, true);
        if (trial->products.full)
          multiply ((uint32_t (*)[4]) lowest, low, false, low_limbs, true);
        for (int lane = 0; lane < LANES; lane++)
          for (int c = 0; c < 4; c++)
            totals[phase][h][lane][c] += 256 * highs[lane][c] + lows[lane][c];
      }
    }
}

/* The sample that tap i, j meets for the output at column x (in samples) of row y. */
static int
sample_at (const Trial *trial, int x, int y, int i, int j)
{
  const ConvolvePixel *pixel = &trial->plan->pixel;
  int at =
      trial->products.lead / convolve_sample_size (pixel->type) + x + (i - trial->mask->width / 2) * pixel->samples;
  const uint8_t *row = trial->bytes + (y + j) * trial->pitch;

  return pixel->type == CONVOLVE_SAMPLE_U8 ? row[at] : (row[2 * at] | row[2 * at + 1] << 8) >> pixel->shift;
}

static int
check_output (const Trial *trial, int x, int y, int32_t total)
{
  const ConvolvePlan *plan = trial->plan;
  const ConvolveTaps *taps = &plan->taps;
  int sample = x % plan->pixel.samples, shift = trial->products.shift;
  double sum = 0, value, zero = plan->pixel.zero[sample];
  long double exact = 0, gain = 0;

  total = (int32_t) ((uint32_t) total + (uint32_t) trial->products.start[sample]);
  for (int k = 0; k < taps->width * taps->height; k++) {
    int word = sample_at (trial, x, y, k % taps->width, k / taps->width);

    sum += taps->wide_taps[k] * word;
    exact += (long double) trial->mask->taps[k] / trial->mask->divisor * word;
    gain += (long double) trial->mask->taps[k] / trial->mask->divisor;
  }
  if (plan->exact && shift < 0 && !trial->products.integers)
    return total == sum ? 0 : fail (trial, "a sum", total, sum);
  value = ldexp (total, -shift);
  if (plan->exact) {
    double expected = convolve_tail_double (&plan->tail, sample, sum);

    if (trial->products.integers)
      value = check_integer_tail_byte (&trial->products.integer_tail, sample, total);
    value = fmin (fmax (floor (value), 0), plan->tail.maximum);
    return value == expected ? 0 : fail (trial, "a result", value, expected);
  }
  exact += zero - zero * gain + plan->tail.maximum * 0.25L + 0.5L; /* the offset that this check's masks have */
  if (fabsl (value - exact) > convolve_budget (plan) + 1.0 / 512)
    return fail (trial, "a value", value, (double) exact);
  return 0;
}

static int
check_warp (Trial *trial)
{
  static Registers totals[2][2];
  static int32_t lowest[2][2][LANES][4];
  int failures = 0;

  memset (totals, 0, sizeof (totals));
  memset (lowest, 0, sizeof (lowest));
  trial->lowest = lowest;
  for (int r = 0; r < trial->products.rank; r++)
    sum_columns (trial, r, totals);
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < GROUP && failures == 0; x += x % 5 + 1) {
      int phase = y / 8, h = x % 4 / 2, lane = x / 4 * 4 + y % 8 / 2, c = x % 2 * 2 + y % 2;
      int32_t rest = lowest[phase][h][lane][c];

      failures += check_output (trial, x, y, (int32_t) totals[phase][h][lane][c] + (rest - (rest & 255)) / 256);
    }
  return failures;
}

/* Samples of any kind, or those that are farthest from each other, where the taps' sign changes. */
static void
fill (Trial *trial, CheckRandom *random)
{
  const ConvolvePixel *pixel = &trial->plan->pixel;
  int bytes = convolve_sample_size (pixel->type), most = (int) trial->plan->tail.maximum;
  bool extreme = check_random_one_in (random, 2);

  for (int i = 0; i < trial->rows * trial->pitch; i += bytes) {
    int sample = extreme ? check_random_one_in (random, 2) * most : check_random_range (random, 0, most);

    trial->bytes[i] = (sample << pixel->shift) & 255;
    if (bytes == 2)
      trial->bytes[i + 1] = sample << pixel->shift >> 8;
  }
}

static int
check_mask (const ConvolveMask *mask, CheckRandom *random, int depth, FILE *file, int *accepted, int *wide)
{
  ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
    .depth = depth,
    .samples = check_random_range (random, 1, 4) };
  Trial trial = { .mask = mask, .file = file };
  ConvolveMask with_offset = *mask;
  const char *reason = NULL;
  int failures = 0;

  pixel.shift = depth > 8 && check_random_one_in (random, 2) ? 16 - depth : 0;
  pixel.stride = pixel.samples * convolve_sample_size (pixel.type);
  pixel.select = pixel.biased = (1u << pixel.samples) - 1;
  for (int i = 0; i < pixel.samples; i++)
    pixel.zero[i] = check_random_range (random, 0, (1 << depth) - 1);
  with_offset.offset = 0.25;
  trial.plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &with_offset, "cpu", NULL, NULL);
  if (!trial.plan) {
    fprintf (file, "FAILED products: out of memory\n");
    return 1;
  }
  if (convolve_products_choose (trial.plan, &trial.products, &trial.taps, &reason)) {
    if (check_random_one_in (random, 2) && convolve_products_widen (trial.plan, &trial.products, &reason))
      ++*wide;
    trial.rows = trial.products.pairs * ROWS;
    trial.pitch = trial.products.units * CONVOLVE_PRODUCTS_UNIT;
    trial.bytes = malloc (trial.rows * trial.pitch);
    for (int i = 0; i < 2 && trial.bytes && failures == 0; i++) {
      fill (&trial, random);
      failures += check_warp (&trial);
    }
    ++*accepted;
    free (trial.bytes);
  } else if (!reason) {
    failures = fail (&trial, "the reason of a refusal", 0, 1);
  }
  convolve_plan_unref (trial.plan);
  return failures;
}

int
check_products (uint64_t seed, int masks, FILE *file)
{
  static const int depths[] = { 8, 8, 10, 12 };
  int failures = 0, accepted = 0, wide = 0;

  for (int i = 0; i < masks && failures < 4; i++) {
    CheckRandom random;
    CheckMask mask;
    int depth = depths[i % 4];

    check_random_init (&random, seed, i);
    if (!check_mask_random (&mask, &random, (1 << depth) - 1)) {
      fprintf (file, "FAILED products: out of memory\n");
      failures++;
    } else {
      failures += check_mask (&mask.mask, &random, depth, file, &accepted, &wide);
    }
    check_mask_clear (&mask);
  }
  if (failures == 0 && (accepted < masks / 10 || wide < masks / 50)) {
    fprintf (file, "FAILED products: of %d masks %d are accepted, %d of them in wide windows\n", masks, accepted, wide);
    failures++;
  }
  return failures;
}
