/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One warp of tensor-separable or tensor-fused, played through on the host: 16 rows of 32 outputs. Lanes and registers
 * hold matrices as the PTX manual says for mma.m16n8k16 on bytes. The words of cuda/tensor/tensor_products.h are used here.
 */
#include "kernels/check_tensor_products.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/check_integer_tail.h"
#include "kernels/check_mask.h"
#include "cuda/tensor/tensor_products.h"
#include "common/tail.h"

enum
{
  LANES = 32,
  GROUP = CONVOLVE_TENSOR_PRODUCTS_GROUP,
  ROWS = CONVOLVE_TENSOR_PRODUCTS_ROWS,
  MAX_ROW_SUMS = 3
};

typedef struct
{
  ConvolvePlan *plan;
  const ConvolveMask *mask;
  ConvolveTensorProducts products;
  ConvolveTensorProductsTaps taps;
  int32_t (*low)[2][LANES][4]; /* sums of the last term, of which totals have the 256th part: [8 rows][half] */
  int rows, pitch;             /* of bytes: the window of 16 rows of outputs */
  uint8_t *bytes;
  FILE *file;
} Trial;

/* How many masks were accepted, and how many of these have what. */
typedef struct
{
  int accepted, fused, packed, products, sums, centres, bytes, short_rows, down;
} Counts;

/* The accumulators of one product; unsigned, because they may wrap around. */
typedef uint32_t Registers[LANES][4];

static int
fail (const Trial *trial, const char *what, double got, double expected)
{
  fprintf (trial->file,
      "FAILED tensor products: %s is %.17g, not %.17g: mask %dx%d, divisor %.17g, %d bits, %d samples, "
      "%d products, %s\n",
      what, got, expected, trial->mask->width, trial->mask->height, trial->mask->divisor, trial->plan->pixel.depth,
      trial->plan->pixel.samples, trial->products.rank, trial->plan->exact ? "exact" : "of rounded weights");
  return 1;
}

static int
byte_of (uint32_t word, int b, bool is_signed)
{
  int byte = word >> 8 * b & 255;

  return is_signed ? (int8_t) byte : byte;
}

/* sums += left * right. left is 16 x 16, two registers of each lane; right is 16 x 8, one register of each lane. */
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

/* A word of memory as the device reads it: the lowest byte first, whatever this machine does. */
static uint32_t
word_at (const uint8_t *bytes)
{
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t) bytes[3] << 24;
}

/* The first pass: row sums of product r for 8 rows from `first` on and half h of the group. */
static void
sum_rows (const Trial *trial, int r, int first, int h, Registers totals)
{
  const ConvolveTensorProducts *products = &trial->products;
  const int count = convolve_tensor_products_row_sums (trial->plan),
            deep = trial->plan->pixel.type == CONVOLVE_SAMPLE_U16;

  memset (totals, 0, sizeof (Registers));
  for (int s = 0; s < count; s++) {
    Registers sums = { { 0 } };

    for (int u = 0; u < products->segments; u++) {
      uint32_t left[LANES][2], right[LANES];

      for (int lane = 0; lane < LANES; lane++) {
        for (int k = 0; k < 2; k++)
          left[lane][k] =
              convolve_tensor_products_row_word (trial->plan, products, &trial->taps, r, u, s, lane, 2 * h + k);
        right[lane] = word_at (trial->bytes + (first + lane / 4) * trial->pitch
                          + convolve_tensor_products_byte (products, u, lane))
            >> (deep ? products->down : 0);
      }
      multiply (sums, left, true, right, false);
    }
    for (int lane = 0; lane < LANES; lane++)
      for (int c = 0; c < 4; c++)
        totals[lane][c] += sums[lane][c] << 8 * s;
  }
  for (int lane = 0; lane < LANES; lane++)
    for (int c = 0; c < 4; c++)
      totals[lane][c] =
          (totals[lane][c] * (products->scale[r] ? products->scale[r] : 1) + (uint32_t) products->row_start[r])
          >> (products->scale[r]         ? 16
                  : products->short_rows ? 8
                                         : 0);
}

/* Adds the terms of one half of 8 rows of outputs to the totals. */
static void
add_terms (Registers totals, Registers middle, Registers high)
{
  for (int lane = 0; lane < LANES; lane++)
    for (int c = 0; c < 4; c++)
      totals[lane][c] += 256 * high[lane][c] + middle[lane][c];
}

/* The second pass: adds product r to the totals of 16 rows of outputs, [8 rows][half]. */
static void
sum_columns (const Trial *trial, int r, Registers totals[2][2])
{
  for (int p = 0; p < trial->products.slabs; p++)
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
      for (int b = 0; b < 2; b++) { /* output rows 0 .. 7, and 8 .. 15 */
        uint32_t low_digits[LANES], high_digits[LANES];
        Registers middle_sums = { { 0 } }, high_sums = { { 0 } };
        int32_t (*low_sums)[4] = trial->low[b][h];

        for (int lane = 0; lane < LANES; lane++) {
          low_digits[lane] = convolve_tensor_products_column_word (trial->plan, &trial->taps, r, p, lane, 2 * b);
          high_digits[lane] = convolve_tensor_products_column_word (trial->plan, &trial->taps, r, p, lane, 2 * b + 1);
        }
        multiply (high_sums, high, false, high_digits, true);
        multiply (middle_sums, low, false, high_digits, true);
        multiply (middle_sums, high, false, low_digits, true);
        if (!trial->plan->exact)
          multiply ((uint32_t (*)[4]) low_sums, low, false, low_digits, true);
        add_terms (totals[b][h], middle_sums, high_sums);
      }
    }
}

/* The second pass of tensor-fused with packed row sums, for masks of up to 9 rows: the totals as sum_columns () has them. */
static void
sum_packed (const Trial *trial, Registers totals[2][2])
{
  for (int b = 0; b < 2; b++)
    for (int h = 0; h < 2; h++) {
      Registers middle_sums = { { 0 } }, high_sums = { { 0 } };
      int32_t (*low_sums)[4] = trial->low[b][h];

      for (int i = 0; i < 2; i++) { /* the first 8 rows of row sums, and the next 8 */
        Registers sums;
        uint32_t packed[LANES][2], middle[LANES], high[LANES], low[LANES];

        sum_rows (trial, 0, 8 * (b + i), h, sums);
        for (int lane = 0; lane < LANES; lane++) {
          ConvolveTensorPackedColumns columns =
              convolve_tensor_pack_columns (convolve_tensor_products_column_word (trial->plan, &trial->taps, 0, 0, lane,
                                                0),
                  convolve_tensor_products_column_word (trial->plan, &trial->taps, 0, 0, lane, 1));

          for (int k = 0; k < 2; k++) {
            uint32_t upper = sums[lane][2 * k], lower = sums[lane][2 * k + 1];

            packed[lane][k] = (upper & 255) | (lower & 255) << 8 | (upper >> 8 & 255) << 16 | (lower >> 8 & 255) << 24;
          }
          middle[lane] = columns.middle[i];
          high[lane] = columns.high[i];
          low[lane] = columns.low[i];
        }
        multiply (middle_sums, packed, false, middle, true);
        multiply (high_sums, packed, false, high, true);
        if (!trial->plan->exact)
          multiply ((uint32_t (*)[4]) low_sums, packed, false, low, true);
      }
      add_terms (totals[b][h], middle_sums, high_sums);
    }
}

/* The sample that the tap in column i and row j meets for output x, counted in samples, of row y. */
static int
sample_at (const Trial *trial, int x, int y, int i, int j)
{
  const ConvolvePixel *pixel = &trial->plan->pixel;
  int at =
      trial->products.lead / convolve_sample_size (pixel->type) + x + (i - trial->mask->width / 2) * pixel->samples;
  const uint8_t *row = trial->bytes + (y + j) * trial->pitch;

  return pixel->type == CONVOLVE_SAMPLE_U8 ? row[at] : (row[2 * at] | row[2 * at + 1] << 8) >> pixel->shift;
}

/* What the total becomes in memory, without unused bits; -1 for a total that would need clamping where the kernels do not. */
static int
finish (const Trial *trial, int sample, int32_t total)
{
  const ConvolvePlan *plan = trial->plan;
  double value = ldexp (total, -trial->products.shift);

  if (trial->products.is_byte)
    return (uint32_t) total < 1u << 24 ? total >> 16 : -1;
  if (trial->products.has_integer_tail)
    value = check_integer_tail_byte (&trial->products.integer_tail, sample, total);
  return (int) fmin (fmax (floor (value), 0), plan->tail.maximum);
}

/* One output of PRODUCTS by the definition, in integers of 64 bits. */
static unsigned
sum_products (const Trial *trial, int x, int y)
{
  const ConvolvePlan *plan = trial->plan;
  const ConvolveArithmetic *arithmetic = &plan->arithmetic;
  const int width = plan->taps.width, height = plan->taps.height;
  int64_t sum = arithmetic->centre * (int64_t) sample_at (trial, x, y, width / 2, height / 2);

  for (int r = 0; r < arithmetic->rank; r++)
    for (int j = 0; j < height; j++) {
      int64_t row = 0;

      for (int i = 0; i < width; i++)
        row += arithmetic->products[r].row[i] * (int64_t) sample_at (trial, x, y, i, j);
      sum += arithmetic->products[r].column[j] * (int64_t) convolve_cut_row (&arithmetic->products[r], row);
    }
  return convolve_finish_sum (arithmetic, plan->pixel.depth, x % plan->pixel.samples, sum);
}

/* Compares one output with the definition. */
static int
check_output (const Trial *trial, int x, int y, int32_t total)
{
  const ConvolvePlan *plan = trial->plan;
  const ConvolveTaps *taps = &plan->taps;
  const int sample = x % plan->pixel.samples, own = sample_at (trial, x, y, taps->width / 2, taps->height / 2);
  double sum = 0, expected, value;

  total = (int32_t) ((uint32_t) total + (uint32_t) trial->products.start[sample]
      + (uint32_t) trial->products.centre * (uint32_t) own);
  if (!plan->exact) {
    expected = sum_products (trial, x, y);
  } else {
    for (int k = 0; k < taps->width * taps->height; k++)
      sum += taps->double_taps[k] * sample_at (trial, x, y, k % taps->width, k / taps->width);
    if (trial->products.shift < 0 && !trial->products.has_integer_tail)
      return total == sum ? 0 : fail (trial, "a sum", total, sum);
    expected = convolve_tail_double (&plan->tail, sample, sum);
  }
  value = finish (trial, sample, total);
  return value == expected ? 0 : fail (trial, "a result", value, expected);
}

static int
check_warp (Trial *trial, bool packed)
{
  static Registers totals[2][2];
  static int32_t low[2][2][LANES][4];
  int failures = 0;

  memset (totals, 0, sizeof (totals));
  memset (low, 0, sizeof (low));
  trial->low = low;
  if (packed)
    sum_packed (trial, totals);
  for (int r = 0; r < trial->products.rank && !packed; r++)
    sum_columns (trial, r, totals);
  for (int y = 0; y < ROWS; y++)
    for (int x = 0; x < GROUP && failures == 0; x += x % 5 + 1) {
      /* Lane 4 g + t has samples 4 g .. 4 g + 3 in rows 2 t and 2 t + 1. */
      int b = y / 8, h = x % 4 / 2, lane = x / 4 * 4 + y % 8 / 2, c = x % 2 * 2 + y % 2;
      int32_t last_term = low[b][h][lane][c], rounded_down = (last_term - (last_term & 255)) / 256;

      failures += check_output (trial, x, y, (int32_t) totals[b][h][lane][c] + rounded_down);
    }
  return failures;
}

/* Fills the window with samples of all values, or with black and white alone. */
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
check_mask (const ConvolveMask *mask, CheckRandom *random, int depth, FILE *file, Counts *counts)
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
  with_offset.offset = check_random_one_in (random, 2) ? 0.25 : 0;
  trial.plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &with_offset, "cpu", NULL, NULL);
  if (!trial.plan) {
    fprintf (file, "FAILED tensor products: out of memory\n");
    return 1;
  }
  if (convolve_tensor_products_choose (trial.plan, &trial.products, &trial.taps, &reason)) {
    bool fused = check_random_one_in (random, 2)
        && convolve_tensor_products_for_fused (trial.plan, &trial.products, &reason),
         packed = fused && mask->height <= 9;

    counts->fused += fused;
    counts->packed += packed;
    trial.rows = trial.products.slabs * ROWS;
    trial.pitch = trial.products.segments * CONVOLVE_TENSOR_PRODUCTS_SEGMENT;
    trial.bytes = malloc (trial.rows * trial.pitch);
    for (int i = 0; i < 2 && trial.bytes && failures == 0; i++) {
      fill (&trial, random);
      failures += check_warp (&trial, false);
      if (packed && failures == 0)
        failures += check_warp (&trial, true);
    }
    counts->accepted++;
    counts->products += !trial.plan->exact;
    counts->sums += trial.products.rank > 1;
    counts->centres += trial.products.centre != 0;
    counts->bytes += trial.products.is_byte;
    counts->short_rows += trial.products.short_rows;
    counts->down += trial.products.down > 0;
    free (trial.bytes);
  } else if (!reason) {
    failures = fail (&trial, "the reason of a refusal", 0, 1);
  }
  convolve_plan_unref (trial.plan);
  return failures;
}

/* A blur, or what a blur is a part of: a mask with a tap of its own at the centre, or the difference of two blurs. */
static bool
make_blur (CheckMask *mask, CheckRandom *random, int largest)
{
  const int kind = check_random_range (random, 0, 5);
  const double sigma = exp2 (check_random_range (random, -4, 12) / 4.0),
               aspect = check_random_one_in (random, 2) ? 1 : 0.6;
  const int width = 2 * check_random_range (random, 1, 2 + (int) (3 * sigma)) + 1;
  const int height = 2 * check_random_range (random, 1, 2 + (int) (3 * sigma * aspect)) + 1;
  double *taps = calloc (width * height, sizeof (*taps)), sum = 0;
  bool done;

  for (int k = 0; taps && k < width * height; k++) {
    const double x = (k % width - width / 2) / sigma, y = (k / width - height / 2) / (sigma * aspect);

    taps[k] = exp (-(x * x + y * y) / 2) - (kind == 0 ? 0.3 * exp (-(x * x + y * y)) : 0);
    sum += taps[k];
  }
  if (taps && kind == 1) {
    for (int k = 0; k < width * height; k++)
      taps[k] *= -0.75 / sum;
    taps[width * height / 2] += 1.75;
    sum = 1;
  }
  done = taps && check_mask_from (mask, width, height, taps, sum, largest);
  free (taps);
  return done;
}

/* Whether each way through the kernels was tried. */
static bool
are_enough (const Counts *counts, int masks)
{
  return counts->accepted >= masks / 5 && counts->fused >= masks / 10 && counts->packed > 0
      && counts->products >= masks / 10 && counts->sums > 0 && counts->centres > 0 && counts->bytes > 0
      && counts->short_rows > 0 && counts->down > 0;
}

int
check_tensor_products (uint64_t seed, int masks, FILE *file)
{
  static const int depths[] = { 8, 8, 10, 12 };
  Counts counts = { 0 };
  int failures = 0;

  for (int i = 0; i < masks && failures < 4; i++) {
    CheckRandom random;
    CheckMask mask = { 0 };
    int depth = depths[i % 4];

    check_random_init (&random, seed, i);
    if (!(i / 4 % 2 ? make_blur : check_mask_random) (&mask, &random, (1 << depth) - 1)) {
      fprintf (file, "FAILED tensor products: out of memory\n");
      failures++;
    } else {
      failures += check_mask (&mask.mask, &random, depth, file, &counts);
    }
    check_mask_clear (&mask);
  }
  if (failures == 0 && !are_enough (&counts, masks)) {
    fprintf (file,
        "FAILED tensor products: of %d masks %d are accepted, %d of them for tensor-fused (%d packed), and %d are products: %d sums, "
        "%d with a centre, %d to bytes, %d with short rows, %d shifted down\n",
        masks, counts.accepted, counts.fused, counts.packed, counts.products, counts.sums, counts.centres, counts.bytes,
        counts.short_rows, counts.down);
    failures++;
  }
  return failures;
}
