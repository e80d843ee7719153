/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The integers of packed in plans of ONE_STEP with weights of 16 bits: the kernel's instructions as C, beside the rule of
 * common/arithmetic.h in 64 bits.
 */
#include "kernels/check_packed_wide.h"

#include <math.h>
#include <string.h>

#include "cuda/registers/packed.h"
#include "kernels/check_border_products.h"
#include "support/random.h"
#include "variants.h"

enum
{
  GROUP = 4,          /* outputs side by side */
  PIXELS = 3 * GROUP, /* that a thread reads of a row for them */
  MOST = CONVOLVE_PACKED_WIDE_SIDE,
  PATTERNS = 4 /* random samples, black and white, the largest sum, the smallest */
};

typedef struct
{
  int wide, clamped, unclamped; /* plans of each kind */
} Counts;

/* The byte that a total becomes, as the kernel's finish (). */
static int
byte_of (const ConvolvePackedWide *wide, int total)
{
  int value = (total >> wide->bits) + 128;

  if (!wide->clamps)
    return total >> CONVOLVE_PACKED_WIDE_BITS & 255;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

/*
 * The total of output c as the kernel makes it, in 32 bits; *whole is the same in 64. rows are the bytes of one sample: of the group
 * of the four outputs, and of those beside it.
 */
static int
total_of (const ConvolvePackedWide *wide, int K, int s, int c, uint8_t (*rows)[PIXELS], int64_t *whole)
{
  const int first = GROUP + c - K / 2, odd = first % 2, alone = odd ? first : first + K - 1;
  const ConvolvePackedPairs *pairs = &wide->pairs[odd];
  unsigned total = (unsigned) wide->start[s];
  uint32_t waiting = 0xabcdef12;

  *whole = wide->start[s];
  for (int j = 0; j < K; j++) {
    int part = 0;

    waiting = waiting >> 8 | (uint32_t) rows[j][alone] << 24;
    for (int i = 0; i < K / 2; i++) {
      const int at = first + odd + 2 * i;

      part = check_dot_of_bytes (pairs->row[j][i], rows[j][at] | (uint32_t) rows[j][at + 1] << 8, 0, part);
    }
    for (int half = 0; half < 2; half++)
      if (j % 4 == 3 || (j == K - 1 && (half == 1 || K % 4 > 2)))
        part = check_dot_of_bytes (pairs->column[j / 4 * 2 + half], waiting, half, part);
    total += (unsigned) part;
    *whole += part;
  }
  return (int) total;
}

/* Four outputs of sample s. */
static int
check_outputs (const ConvolvePlan *plan, int K, int s, uint8_t (*rows)[PIXELS], FILE *file)
{
  const int w = plan->taps.width, h = plan->taps.height, left = (K - w) / 2, top = (K - h) / 2;
  ConvolvePackedWide wide;

  convolve_packed_wide_init (plan, K, &wide);
  for (int c = 0; c < GROUP; c++) {
    int64_t sum = 0, whole;
    int total = total_of (&wide, K, s, c, rows, &whole), expected;

    for (int j = 0; j < h; j++)
      for (int i = 0; i < w; i++)
        sum += (int64_t) plan->taps.taps[j * w + i] * rows[top + j][GROUP + c - K / 2 + left + i];
    expected = (int) convolve_finish_sum (&plan->arithmetic, 8, s, sum);
    if (whole != total || byte_of (&wide, total) != expected) {
      fprintf (file, "FAILED packed wide: %d, not %d, total %lld: mask %dx%d, %d bits%s\n", byte_of (&wide, total),
          expected, (long long) whole, w, h, wide.bits, wide.clamps ? ", clamped" : "");
      return 1;
    }
  }
  return 0;
}

static int
check_plan (const ConvolvePlan *plan, CheckRandom *random, FILE *file, Counts *counts)
{
  const int S = plan->pixel.samples, K = plan->taps.width <= 3 && plan->taps.height <= 3 ? 3 : 5;
  uint8_t rows[MOST][PIXELS];
  const char *reason;
  int failures = 0;

  if (!convolve_packed_accepts_wide (plan, &reason))
    return 0;
  for (int pattern = 0; pattern < PATTERNS && failures == 0; pattern++) {
    const int s = check_random_range (random, 0, S - 1), c = check_random_range (random, 0, GROUP - 1);

    for (int j = 0; j < K; j++)
      for (int i = 0; i < PIXELS; i++) {
        const int x = i - (GROUP + c - plan->taps.width / 2), y = j - (K - plan->taps.height) / 2;
        const bool inside = x >= 0 && x < plan->taps.width && y >= 0 && y < plan->taps.height;
        const bool above = inside && plan->taps.taps[y * plan->taps.width + x] > 0;

        rows[j][i] = (uint8_t) (pattern == 0 ? check_random_range (random, 0, 255)
                : pattern == 1               ? check_random_one_in (random, 2) * 255
                                             : (above == (pattern == 2)) * 255);
      }
    failures += check_outputs (plan, K, s, rows, file);
  }
  ConvolvePackedWide wide;
  convolve_packed_wide_init (plan, K, &wide);
  counts->wide++;
  *(wide.clamps ? &counts->clamped : &counts->unclamped) += 1;
  return failures;
}

static int
check_mask (CheckRandom *random, FILE *file, Counts *counts)
{
  double taps[MOST * MOST], sum = 0;
  ConvolveMask mask = { .width = 2 * check_random_range (random, 0, MOST / 2) + 1,
    .height = 2 * check_random_range (random, 0, MOST / 2) + 1,
    .taps = taps };
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = check_random_range (random, 1, 4) };
  const bool signs = check_random_one_in (random, 2);
  ConvolvePlan *plan;
  int failures;

  for (int i = 0; i < mask.width * mask.height; i++) {
    taps[i] = check_random_range (random, signs ? -1000000 : 0, 1000000) / 1e6;
    sum += signs ? fabs (taps[i]) : taps[i];
  }
  mask.divisor = sum > 0 ? sum : 1;
  if (check_random_one_in (random, 3))
    mask.divisor /= check_random_range (random, 100, 3000) / 1000.0;
  if (check_random_one_in (random, 3))
    mask.offset = check_random_range (random, -512, 512) / 512.0;
  pixel.stride = pixel.samples;
  pixel.select = pixel.biased = (1u << pixel.samples) - 1;
  for (int i = 0; i < pixel.samples && check_random_one_in (random, 2); i++)
    pixel.zero[i] = check_random_range (random, 0, 255);
  plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &mask, "cpu-reference", NULL, NULL);
  if (!plan) {
    fprintf (file, "FAILED packed wide: no plan\n");
    return 1;
  }
  failures = check_plan (plan, random, file, counts);
  convolve_plan_unref (plan);
  return failures;
}

int
check_packed_wide (uint64_t seed, int masks, FILE *file)
{
  Counts counts = { 0 };
  int failures = 0;

  for (int i = 0; i < masks && failures < 4; i++) {
    CheckRandom random;

    check_random_init (&random, seed, (uint64_t) i);
    failures += check_mask (&random, file, &counts);
  }
  if (failures == 0 && (counts.wide < masks / 4 || counts.clamped < masks / 20 || counts.unclamped < masks / 20)) {
    fprintf (file, "FAILED packed wide: only %d plans, %d of them clamped, %d not\n", counts.wide, counts.clamped,
        counts.unclamped);
    failures++;
  }
  return failures;
}
