/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The integers of packed-separable, fused and separable in plans with CONVOLVE_ARITHMETIC_PRODUCTS: each kernel's instructions
 * for four outputs side by side are played through on the host and compared with the rule of common/arithmetic.h in integers of
 * 64 bits.
 */
#include "kernels/check_border_products.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "common/integer_tail.h"
#include "common/internal.h"
#include "cuda/registers/border_product.h"
#include "cuda/plain/separable.h"
#include "variants.h"

enum
{
  GROUP = 4, /* outputs side by side, and pixels that are loaded together */
  MOST_SIDE = 41,
  MOST_COLUMNS = MOST_SIDE + GROUP - 1
};

typedef struct
{
  ConvolvePlan *plan;
  FILE *file;
  int side, sample,
      samples[MOST_SIDE][MOST_COLUMNS]; /* under the masks of the outputs; side: of a kernel for masks up to 9x9 */
  const char *pattern;
} Trial;

typedef struct
{
  int border, unclamped, mirrored, separable, wide, ranks, centres; /* plans that each part of the check had */
} Counts;

static int
fail (const Trial *trial, const char *what, int64_t got, int64_t expected)
{
  const ConvolvePlan *plan = trial->plan;

  fprintf (trial->file,
      "FAILED border products: %s is %lld, not %lld: mask %dx%d, %d bits, shift %d, %d products, %d bits of totals, %s\n",
      what, (long long) got, (long long) expected, plan->taps.width, plan->taps.height, plan->pixel.depth,
      plan->pixel.shift, plan->arithmetic.rank, plan->arithmetic.bits,
      trial->pattern ? trial->pattern : "no samples yet");
  return 1;
}

/* --- the rule --- */

static int64_t
row_before_cut (const Trial *trial, const ConvolveProduct *product, int j, int x)
{
  int64_t sum = 0;

  for (int i = 0; i < trial->plan->taps.width; i++)
    sum += product->row[i] * (int64_t) trial->samples[j][x + i];
  return sum;
}

static int
expected_of (const Trial *trial, int x)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  const int w = trial->plan->taps.width, h = trial->plan->taps.height;
  int64_t total = arithmetic->centre * (int64_t) trial->samples[h / 2][x + w / 2];

  for (int k = 0; k < arithmetic->rank; k++) {
    const ConvolveProduct *product = &arithmetic->products[k];

    for (int j = 0; j < h; j++)
      total += product->column[j] * (int64_t) convolve_cut_row (product, row_before_cut (trial, product, j, x));
  }
  return (int) convolve_finish_sum (arithmetic, trial->plan->pixel.depth, trial->sample, total);
}

/* --- packed-separable and fused --- */

/* Sample i of row j of what a kernel for masks of trial->side reads: the mask stands in the middle of the side. */
static int
sample_at (const Trial *trial, int j, int i)
{
  int w = trial->plan->taps.width, h = trial->plan->taps.height;

  j -= (trial->side - h) / 2, i -= (trial->side - w) / 2;
  return j < 0 || j >= h || i < 0 || i >= w + GROUP - 1 ? (i * 37 + j * 11) & 255 & (int) trial->plan->tail.maximum
                                                        : trial->samples[j][i];
}

/* The total of output x by the rule, in the units of the kernel's totals. */
static uint32_t
expected_total (const Trial *trial, const ConvolveBorderProduct *product, int x)
{
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  int64_t sum = arithmetic->start[trial->sample];

  for (int j = 0; j < trial->plan->taps.height; j++)
    sum += arithmetic->products[0].column[j]
        * (int64_t) convolve_cut_row (&arithmetic->products[0], row_before_cut (trial, &arithmetic->products[0], j, x));
  return (
      uint32_t) (sum * (1 << (product->bits - arithmetic->bits)) - product->middle * ((int64_t) 1 << product->bits));
}

/* The value that a total becomes. */
static int
value_of_total (const Trial *trial, const ConvolveBorderProduct *product, bool clamps, uint32_t total)
{
  const int maximum = (int) trial->plan->tail.maximum, shift = trial->plan->pixel.shift;

  if (trial->plan->pixel.type == CONVOLVE_SAMPLE_U8 && clamps) {
    int value = (int32_t) total >> product->bits;

    return (uint8_t) (value < -128 ? -128 : value > 127 ? 127 : value) ^ 0x80;
  }
  if (trial->plan->pixel.type == CONVOLVE_SAMPLE_U8)
    return total >> 24;
  if (clamps) {
    int value = ((int32_t) total >> product->bits) + product->middle;

    return value < 0 ? 0 : value > maximum ? maximum : value;
  }
  if (shift == 0)
    return total >> 16 >> (16 - trial->plan->pixel.depth);
  return (total >> 16 & (0xffff << shift & 0xffff)) >> shift;
}

int
check_dot_of_bytes (int a, uint32_t bytes, int half, int sum)
{
  return sum + (int16_t) (a & 0xffff) * (int) (bytes >> 16 * half & 255)
      + (int16_t) (a >> 16 & 0xffff) * (int) (bytes >> (16 * half + 8) & 255);
}

/* A row sum of packed-separable for output c of one group, from words of S samples to a pixel, of which s is this one. */
static int
packed_row (const Trial *trial, const ConvolveBorderProduct *product, int j, int c, int S, int s)
{
  const int K = trial->side, first = GROUP + c - K / 2, before = GROUP - S + s;
  int even[(CONVOLVE_BORDER_SIDE + 1) / 2], odd[(CONVOLVE_BORDER_SIDE + 1) / 2], sum = product->row_start;
  uint8_t pixels[3 * GROUP * 4]; /* three groups as they are in memory: with other samples around this one */
  uint32_t words[3 * 4] = { 0 }, bytes[3] = { 0 };

  for (int i = 0; i < 3 * GROUP * S; i++)
    pixels[i] = (uint8_t) (i * 73 + 11);
  for (int i = 0; i < K + GROUP - 1; i++)
    pixels[(GROUP - K / 2 + i) * S + s] = (uint8_t) sample_at (trial, j, i);
  for (int i = 0; i < 3 * GROUP * S; i++) /* the lowest byte first, as the device reads them */
    words[i / 4] |= (uint32_t) pixels[i] << i % 4 * 8;
  for (int i = 0; i < 3 * GROUP; i++)
    bytes[i / 4] |= (uint32_t) pixels[i * S + s] << i % 4 * 8;
  convolve_border_pairs (product->row, K, even, odd);
  for (int i = 0; i < (K + 1) / 2; i++) {
    const int at = first - first % 2 + 2 * i;

    if (K == 3 && S > 1 && c == 0 && i == 0)
      sum = check_dot_of_bytes (before % 2 ? odd[0] : (int) ((unsigned) odd[0] >> 16), words[S - 1], before / 2, sum);
    else if (K == 3 && S > 1 && c == GROUP - 1 && i == 1)
      sum = check_dot_of_bytes (s % 2 ? (int) ((unsigned) even[1] << 16) : even[1], words[2 * S], s / 2, sum);
    else
      sum = check_dot_of_bytes (first % 2 ? odd[i] : even[i], bytes[at / 4], at % 4 / 2, sum);
  }
  return sum;
}

static int
check_packed (const Trial *trial, const ConvolveBorderProduct *product, bool clamps, int c, CheckRandom *random)
{
  const int K = trial->side, S = 1 << check_random_range (random, 0, 2), s = check_random_range (random, 0, S - 1);
  uint32_t total = product->start[trial->sample];
  int expected = expected_of (trial, c), got;

  for (int j = 0; j < K; j++)
    total += (uint32_t) product->column[j] * (uint32_t) (packed_row (trial, product, j, c, S, s) >> CONVOLVE_SHORT_CUT);
  if (total != expected_total (trial, product, c))
    return fail (trial, "a total of packed-separable", total, expected_total (trial, product, c));
  got = value_of_total (trial, product, clamps, total);
  return got == expected ? 0 : fail (trial, "a result of packed-separable", got, expected);
}

static float
float_of (uint32_t bits)
{
  float value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

/*
 * Rounds value * factor + CONVOLVE_MAGIC down, and returns the bits. The volatile variables keep fmaf() between the two calls of
 * fesetround(): a compiler that takes no notice of rounding modes, as clang, may move fmaf() elsewhere.
 */
static uint32_t
cut_of (float value, float factor)
{
  int mode = fegetround ();
  volatile float first = value, sum;
  uint32_t bits;

  fesetround (FE_DOWNWARD);
  sum = fmaf (first, factor, CONVOLVE_MAGIC);
  fesetround (mode);
  memcpy (&bits, (void *) &sum, sizeof (bits));
  return bits;
}

/* A sample as cuda/registers/deep.cuh has it, in the lower or the upper half of a word. */
static float
deep_value (const ConvolvePlan *plan, int value, bool upper)
{
  const int shift = plan->pixel.shift;
  uint32_t word = (uint32_t) (value << shift | (shift > 0 ? value & ((1 << shift) - 1) : 0)); /* with unused bits */
  ConvolveTopFloats floats;

  convolve_border_top_floats (plan, &floats);
  if (!upper)
    return float_of (((word | 0xabcd0000) & floats.lower) | 0x4B000000) - 8388608.0f;
  word = word << 16 | 0xabcd;
  return fmaf (float_of (word >> floats.down | floats.above << (32 - floats.down)), floats.unit, floats.base);
}

/* The kernel for 16-bit samples takes the rows above and below the middle one together. It is for results that need no clamp. */
static int
check_fused (const Trial *trial, const ConvolveBorderProduct *product, bool clamps, int c)
{
  const ConvolvePixel *pixel = &trial->plan->pixel;
  const int K = trial->side;
  const bool top = !clamps && pixel->shift + pixel->depth == 16;
  uint32_t cuts[CONVOLVE_BORDER_SIDE] = { 0 }, total;
  ConvolveBorderFloats floats;
  int expected = expected_of (trial, c), got;

  convolve_border_product_floats (trial->plan, product, &floats);
  total = floats.start[trial->sample];
  for (int j = 0; j < K; j++) {
    float row = floats.row_start;

    for (int i = 0; i < K; i++) {
      int value = sample_at (trial, j, c + i);

      row = fmaf ((float) product->row[i],
          top ? deep_value (trial->plan, value, i % 2) : (float) (value << pixel->shift), row);
    }
    cuts[j] = cut_of (row, floats.cut);
  }
  for (int j = 0; j < K && clamps; j++)
    total += (uint32_t) product->column[j] * cuts[j];
  for (int j = 0; j <= K / 2 && !clamps; j++)
    total += (uint32_t) product->column[j] * (j == K / 2 ? cuts[j] : cuts[j] + cuts[K - 1 - j]);
  if (total != expected_total (trial, product, c))
    return fail (trial, "a total of fused", total, expected_total (trial, product, c));
  got = value_of_total (trial, product, clamps, total);
  return got == expected ? 0 : fail (trial, "a result of fused", got, expected);
}

/* --- separable --- */

static int
check_separable (const Trial *trial, const ConvolveSeparableProducts *products, int x)
{
  const ConvolvePlan *plan = trial->plan;
  const int w = plan->taps.width, h = plan->taps.height, maximum = (int) plan->tail.maximum;
  uint64_t wide = (uint64_t) products->start[trial->sample];
  int expected = expected_of (trial, x), got;

  wide += (uint64_t) ((int64_t) products->centre * trial->samples[h / 2][x + w / 2]);
  for (int k = 0; k < products->rank; k++)
    for (int j = 0; j < h; j++) {
      const ConvolveSeparableProduct *product = &products->products[k];
      uint32_t row = product->row_start;

      for (int i = 0; i < w; i++)
        row += (uint32_t) (product->row[i] * trial->samples[j][x + i]);
      wide += (uint64_t) (int64_t) (product->column[j] * (int) (uint16_t) (row >> product->cut));
    }
  got = (plan->arithmetic.narrow ? (int) ((int32_t) (uint32_t) wide >> products->bits)
                                 : (int) ((int64_t) wide >> products->bits))
      + products->middle;
  got = got < 0 ? 0 : got > maximum ? maximum : got;
  return got == expected ? 0 : fail (trial, "a result of separable", got, expected);
}

/* --- plans --- */

enum
{
  N_PATTERNS = 7
};

/* All samples, at random, or those that make the first output's sums as large or as small as can be. */
static void
fill (Trial *trial, CheckRandom *random, int pattern)
{
  static const char *const names[N_PATTERNS] = { "random samples", "black", "white", "black and white",
    "the largest row sums", "the largest total", "the smallest total" };
  const ConvolveProduct *product = &trial->plan->arithmetic.products[0];
  int maximum = (int) trial->plan->tail.maximum;

  trial->pattern = names[pattern];
  for (int j = 0; j < MOST_SIDE; j++)
    for (int i = 0; i < MOST_COLUMNS; i++) {
      bool row = i < trial->plan->taps.width && product->row[i] > 0;
      bool column = j < trial->plan->taps.height && product->column[j] > 0;
      int values[N_PATTERNS] = { check_random_range (random, 0, maximum), 0, maximum,
        check_random_one_in (random, 2) * maximum, row * maximum, (row == column) * maximum,
        (row != column) * maximum };

      trial->samples[j][i] = values[pattern];
    }
}

static int
check_samples (Trial *trial, CheckRandom *random, bool border, const ConvolveSeparableProducts *products,
    bool *mirrored)
{
  const bool packed = trial->plan->pixel.type == CONVOLVE_SAMPLE_U8;
  int failures = 0;

  for (int clamps = 0; clamps < 2 && border; clamps++) {
    ConvolveBorderProduct product;

    /* What nothing clamps is for packed-separable, and for columns of fused that are the same from below. */
    if (!clamps && convolve_border_product_clamps (trial->plan))
      continue;
    convolve_border_product_init (trial->plan, trial->side, clamps, &product);
    if (!clamps && !packed && !convolve_border_product_is_mirrored (&product, trial->side))
      continue;
    *mirrored = *mirrored || (!clamps && !packed);
    for (int c = 0; c < GROUP && failures == 0; c++) {
      if (packed)
        failures += check_packed (trial, &product, clamps, c, random);
      if (!packed || clamps)
        failures += check_fused (trial, &product, clamps, c);
    }
  }
  for (int c = 0; c < GROUP && failures == 0; c++)
    failures += check_separable (trial, products, c);
  return failures;
}

static int
check_plan (ConvolvePlan *plan, CheckRandom *random, FILE *file, Counts *counts)
{
  Trial trial = { .plan = plan, .file = file, .side = 3 + 2 * convolve_border_size (plan) };
  ConvolvePlan loaded = *plan; /* the same for separable */
  const char *reason = NULL;
  ConvolveFound found;
  bool border, mirrored = false;
  int failures = 0;

  if (plan->arithmetic.kind != CONVOLVE_ARITHMETIC_PRODUCTS)
    return 0;
  loaded.prepared = NULL;
  border = convolve_border_accepts_product (plan, &reason);
  if (border != convolve_variant_accepts (&convolve_variant_fused, plan, &found, &reason)
      || (border && plan->pixel.type == CONVOLVE_SAMPLE_U8)
          != convolve_variant_accepts (&convolve_variant_packed_separable, plan, &found, &reason)
      || !convolve_variant_accepts (&convolve_variant_separable, plan, &found, &reason)
      || convolve_separable_shared_size (plan) > 48 * 1024)
    return fail (&trial, "what a variant accepts", 0, 1);
  if (convolve_separable_derive (&loaded, NULL) != CONVOLVE_OK) {
    fprintf (file, "FAILED border products: out of memory\n");
    return 1;
  }
  for (int pattern = 0; pattern < N_PATTERNS && failures == 0; pattern++) {
    trial.sample = check_random_range (random, 0, plan->pixel.samples - 1);
    fill (&trial, random, pattern);
    failures += check_samples (&trial, random, border, loaded.prepared, &mirrored);
  }
  counts->border += border;
  counts->unclamped += border && !convolve_border_product_clamps (plan);
  counts->mirrored += mirrored;
  counts->separable++;
  counts->wide += !plan->arithmetic.narrow;
  counts->ranks += plan->arithmetic.rank > 1;
  counts->centres += plan->arithmetic.centre != 0;
  free (loaded.prepared);
  return failures;
}

/* A bell, or weights without order, some of them below 0. */
static void
fill_factor (CheckRandom *random, int count, double *factor)
{
  double sigma = check_random_range (random, 30, 1200) / 100.0;
  bool bell = check_random_one_in (random, 2), signs = check_random_one_in (random, 3);

  for (int i = 0; i < count; i++) {
    double x = (i - count / 2) / sigma;

    factor[i] = bell ? exp (-x * x / 2) : check_random_range (random, 1, 1000000) / 1e6;
    if (!bell && signs && check_random_one_in (random, 3))
      factor[i] = -factor[i];
  }
}

/* A sum of up to three products, and mostly of one; sometimes with a tap of its own at the centre. Returns the sum of taps. */
static double
fill_taps (CheckRandom *random, int width, int height, double *taps)
{
  const bool small = width <= CONVOLVE_BORDER_SIDE && height <= CONVOLVE_BORDER_SIDE;
  int rank = !small && check_random_one_in (random, 3) ? check_random_range (random, 2, 3) : 1;
  double row[MOST_SIDE], column[MOST_SIDE], sum = 0;

  memset (taps, 0, width * height * sizeof (*taps));
  for (int k = 0; k < rank; k++) {
    double factor = k == 0 ? 1 : check_random_range (random, -900, 900) / 1000.0;

    fill_factor (random, width, row);
    fill_factor (random, height, column);
    for (int i = 0; i < width * height; i++)
      taps[i] += factor * column[i / width] * row[i % width];
  }
  if (!small && rank == 1 && check_random_one_in (random, 2))
    taps[width * height / 2] *= check_random_range (random, -3000, 3000) / 1000.0;
  for (int i = 0; i < width * height; i++)
    sum += fabs (taps[i]);
  return sum;
}

static int
check_mask (CheckRandom *random, int depth, FILE *file, Counts *counts)
{
  static double taps[MOST_SIDE * MOST_SIDE];
  const int most = check_random_one_in (random, 3) ? MOST_SIDE : CONVOLVE_BORDER_SIDE;
  ConvolveMask mask = { .width = check_random_range (random, 0, most / 2) * 2 + 1,
    .height = check_random_range (random, 0, most / 2) * 2 + 1,
    .taps = taps };
  ConvolvePixel pixel = { .type = depth == 8 ? CONVOLVE_SAMPLE_U8 : CONVOLVE_SAMPLE_U16,
    .depth = depth,
    .samples = 1 << check_random_range (random, 0, 2) };
  ConvolvePlan *plan;
  int failures;

  mask.divisor = fill_taps (random, mask.width, mask.height, taps);
  if (check_random_one_in (random, 3))
    mask.divisor /= check_random_range (random, 100, 3000) / 1000.0;
  if (check_random_one_in (random, 3))
    mask.offset = check_random_range (random, -512, 512) / 512.0;
  pixel.shift = check_random_one_in (random, 2) ? (depth == 8 ? 8 : 16) - depth : 0;
  pixel.stride = pixel.samples * convolve_sample_size (pixel.type);
  pixel.select = pixel.biased = (1u << pixel.samples) - 1;
  for (int i = 0; i < pixel.samples && check_random_one_in (random, 2); i++)
    pixel.zero[i] = check_random_range (random, 0, (1 << depth) - 1);
  plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu-reference", NULL, NULL);
  if (!plan) {
    fprintf (file, "FAILED border products: no plan\n");
    return 1;
  }
  failures = check_plan (plan, random, file, counts);
  convolve_plan_unref (plan);
  return failures;
}

int
check_border_products (uint64_t seed, int masks, FILE *file)
{
  static const int depths[] = { 8, 8, 10, 12, 9 };
  Counts counts = { 0 };
  int failures = 0;

  for (int i = 0; i < masks && failures < 4; i++) {
    CheckRandom random;

    check_random_init (&random, seed, i);
    failures += check_mask (&random, depths[i % 5], file, &counts);
  }
  if (failures == 0
      && (counts.border < masks / 4 || counts.unclamped < masks / 20 || counts.mirrored < masks / 40
          || counts.separable < masks / 3 || counts.wide < masks / 100 || counts.ranks < masks / 100
          || counts.centres < masks / 100)) {
    fprintf (file,
        "FAILED border products: of %d masks %d are for the kernels up to 9x9, %d without a clamp, %d for the one of 16-bit "
        "samples; %d for separable, %d with wide totals, %d of several products, %d with a centre\n",
        masks, counts.border, counts.unclamped, counts.mirrored, counts.separable, counts.wide, counts.ranks,
        counts.centres);
    failures++;
  }
  return failures;
}
