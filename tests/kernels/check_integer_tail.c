/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_integer_tail.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/check_mask.h"
#include "common/integer_tail.h"

typedef struct
{
  const ConvolvePlan *plan;
  const CheckMask *mask;
  ConvolveIntegerTail tail;
  int64_t sum; /* of the mask's integers */
  FILE *file;
} Trial;

/* a / b, rounded down. */
static int64_t
floor_divide (__int128 a, __int128 b)
{
  return (int64_t) (a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

/*
 * The result of the sum n before it is clamped, in exact integers, by the formula of convolve.h with an offset of 0.5,
 * or by that of ONE_STEP.
 */
static int64_t
result_of (const Trial *trial, int sample, int64_t n)
{
  const CheckSet *set = &trial->mask->sets[0];
  const ConvolveArithmetic *arithmetic = &trial->plan->arithmetic;
  int zero = trial->plan->pixel.zero[sample], range = trial->plan->pixel.range[sample];

  if (arithmetic->kind == CONVOLVE_ARITHMETIC_ONE_STEP)
    return floor_divide (n + arithmetic->start[sample], (int64_t) 1 << arithmetic->bits);
  __int128 scaled = (__int128) (n - zero * trial->sum) * set->numerator * 512;

  return floor_divide (scaled + (__int128) (zero * 512 + range * 256 + 256) * set->denominator,
      (__int128) 512 * set->denominator);
}

/* The value clamped to 0 .. largest. */
static int
clamped (int64_t value, int largest)
{
  return value < 0 ? 0 : value > largest ? largest : (int) value;
}

/* The bits of value * scale + offset, rounded down, above those of CONVOLVE_MAGIC. */
static int32_t
bits_of (float value, float scale, float offset)
{
  int mode = fegetround ();
  volatile float rounded = value;
  int32_t bits;

  fesetround (FE_DOWNWARD);
  rounded = fmaf (rounded, scale, offset);
  fesetround (mode);
  memcpy (&bits, (void *) &rounded, sizeof (bits));
  return bits - CONVOLVE_MAGIC_BITS;
}

int
check_integer_tail_byte (const ConvolveIntegerTail *tail, int sample, int32_t bits)
{
  int32_t result;
  float value;

  memcpy (&value, &bits, sizeof (bits));
  result = bits_of (value, tail->scale, tail->offset[sample]);
  return tail->clamps ? clamped (result, 255) : result & 255;
}

/*
 * The sample of a sum n of samples of more than 8 bits, as the kernels of packed and direct make it. In those of
 * packed, samples at the top of their 16 bits keep their factor in the sum.
 */
static int
deep_sample (const Trial *trial, int sample, int64_t n)
{
  const ConvolvePixel *pixel = &trial->plan->pixel;
  const ConvolveIntegerTail *tail = &trial->tail;
  const int shift = pixel->shift;
  const int64_t sum = tail->start[sample] + n, shifted = sum * (1 << shift);
  const int32_t result = bits_of ((float) sum, tail->scale, tail->offset[sample]);
  const int largest = (1 << pixel->depth) - 1, word = clamped (result, 65535);

  if (shifted != (int32_t) shifted || (int64_t) (float) sum != sum || (int64_t) (float) (int32_t) shifted != shifted
      || bits_of ((float) shifted, tail->scale / (float) (1 << shift), tail->offset[sample]) != result
      || (!tail->clamps && result != word))
    return -1;
  return shift > 0 ? word >> shift : word > largest ? largest : word;
}

/* Compares the sample of one sum with the exact result. */
static int
check_sum (const Trial *trial, int sample, int64_t n)
{
  const bool deep = trial->plan->pixel.type == CONVOLVE_SAMPLE_U16;
  int expected = clamped (result_of (trial, sample, n), (1 << trial->plan->pixel.depth) - 1),
      got = deep ? deep_sample (trial, sample, n)
                 : check_integer_tail_byte (&trial->tail, sample, (int32_t) (trial->tail.start[sample] + n));

  if (got == expected)
    return 0;
  fprintf (trial->file, "FAILED integer tail: a sum of %lld gives %d, not %d: %s mask %dx%d, divisor %.17g\n",
      (long long) n, got, expected, trial->mask->kind, trial->mask->mask.width, trial->mask->mask.height,
      trial->mask->mask.divisor);
  return 1;
}

/*
 * Checks one sample of the pixel for all sums from least to most. The result never falls or never rises with the sum.
 * So only the sums on both sides of a change of the result are checked; a binary search finds them. Of samples of more
 * than 8 bits, some hundred changes are.
 */
static int
check_sample (const Trial *trial, int sample, int64_t least, int64_t most)
{
  int failures = check_sum (trial, sample, least) + check_sum (trial, sample, most);
  int largest = (1 << trial->plan->pixel.depth) - 1;
  bool rises = result_of (trial, sample, least) <= result_of (trial, sample, most);

  for (int value = 0; value <= largest + 1 && failures == 0; value += 1 + largest / 300) {
    int64_t low = least, high = most;

    while (low < high) {
      int64_t middle = floor_divide (low + high, 2);

      if ((result_of (trial, sample, middle) >= value) == rises)
        high = middle;
      else
        low = middle + 1;
    }
    failures += check_sum (trial, sample, low);
    if (low > least)
      failures += check_sum (trial, sample, low - 1);
  }
  return failures;
}

/*
 * A mask whose scale is a fraction of a large denominator, and whose sums of bytes reach all of a byte. Its results lie
 * so close together that the rounding of the scale may move one past an integer.
 */
static bool
make_close (CheckMask *mask, CheckRandom *random, int largest_sample)
{
  enum
  {
    TAPS = 9
  };
  int numerator = check_random_range (random, 3, 30), denominator = check_random_range (random, 8000, 30000);
  int largest = 2 * denominator / numerator / TAPS, least = check_random_one_in (random, 2) ? -largest : 0;
  double taps[TAPS];

  for (int i = 0; i < TAPS; i++)
    taps[i] = (double) numerator * check_random_range (random, least, largest);
  taps[0] = numerator; /* so that the taps have no other common divisor */
  return check_mask_from (mask, 3, 3, taps, denominator, largest_sample);
}

/* How many plans of one kind were seen. */
typedef struct
{
  int accepted; /* those with a tail */
  int fine;     /* of these, those whose divisor is no power of two */
} Seen;

/* Samples of more than 8 bits have their unused bits on one side. */
static void
random_pixel (ConvolvePixel *pixel, CheckRandom *random, bool deep)
{
  *pixel = (ConvolvePixel){ .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = check_random_range (random, 1, 4) };
  if (deep) {
    pixel->type = CONVOLVE_SAMPLE_U16;
    pixel->depth = check_random_range (random, 9, 16);
    pixel->shift = check_random_one_in (random, 2) ? 16 - pixel->depth : 0;
  }
  pixel->stride = pixel->samples * (deep ? 2 : 1);
  pixel->select = pixel->biased = (1u << pixel->samples) - 1;
  for (int i = 0; i < pixel->samples; i++) {
    pixel->zero[i] = check_random_range (random, 0, (1 << pixel->depth) - 1);
    pixel->range[i] = check_random_range (random, 1, (1 << pixel->depth) - 1);
  }
}

/* Checks this pixel with this mask. */
static int
check_plan (const CheckMask *mask, const ConvolvePixel *pixel, FILE *file, Seen *seen)
{
  ConvolveMask with_offset = mask->mask;
  Trial trial = { .mask = mask, .file = file };
  double least = 0, most = 0;
  const char *reason = NULL;
  ConvolvePlan *plan;
  int failures = 0;
  bool found;

  with_offset.offset = 0.5;
  trial.plan = plan = convolve_plan_new (pixel, CONVOLVE_BOUNDARY_ZERO, &with_offset, "cpu", NULL, NULL);
  if (!plan) {
    fprintf (file, "FAILED integer tail: out of memory\n");
    return 1;
  }
  /* Of masks whose integers only the plan knows, and of sums that it rounds, there is nothing to compare with. */
  if (plan->arithmetic.kind != CONVOLVE_ARITHMETIC_ONE_STEP && !(mask->exact && mask->sets[0].integers)) {
    convolve_plan_unref (plan);
    return 0;
  }
  found = pixel->type == CONVOLVE_SAMPLE_U8 ? convolve_integer_tail_choose (plan, &trial.tail, &reason)
                                            : convolve_deep_tail_choose (plan, &trial.tail, &reason);
  if (found) {
    for (int i = 0; i < mask->mask.width * mask->mask.height; i++) {
      double tap = plan->taps.taps[i];

      *(tap < 0 ? &least : &most) += tap * ((1 << pixel->depth) - 1);
      trial.sum += (int64_t) tap;
    }
    for (int i = 0; i < pixel->samples && failures == 0; i++)
      failures += check_sample (&trial, i, (int64_t) least, (int64_t) most);
    seen->accepted++;
    seen->fine += plan->arithmetic.kind == CONVOLVE_ARITHMETIC_EXACT
        && (mask->sets[0].denominator & (mask->sets[0].denominator - 1));
  } else if (!reason) {
    fprintf (file, "FAILED integer tail: a refusal without a reason\n");
    failures++;
  }
  convolve_plan_unref (plan);
  return failures;
}

int
check_integer_tail (uint64_t seed, int masks, FILE *file)
{
  Seen seen[2] = { { 0, 0 }, { 0, 0 } };
  int failures = 0, all = 4 * masks;

  for (int i = 0; i < all && failures < 4; i++) {
    const bool deep = i % 2;
    ConvolvePixel pixel;
    CheckRandom random;
    CheckMask mask;
    bool made;

    check_random_init (&random, seed, i);
    random_pixel (&pixel, &random, deep);
    made = i < 2 * masks ? check_mask_random (&mask, &random, (1 << pixel.depth) - 1)
                         : make_close (&mask, &random, (1 << pixel.depth) - 1);
    if (!made) {
      fprintf (file, "FAILED integer tail: out of memory\n");
      failures++;
    } else {
      failures += check_plan (&mask, &pixel, file, &seen[deep]);
    }
    check_mask_clear (&mask);
  }
  for (int deep = 0; deep < 2 && failures == 0; deep++)
    if (seen[deep].accepted < masks / 10 || seen[deep].fine < masks / 20) {
      fprintf (file,
          "FAILED integer tail: of %d masks for %s samples %d are accepted, %d with a divisor that is no power of 2\n",
          2 * masks, deep ? "16-bit" : "8-bit", seen[deep].accepted, seen[deep].fine);
      failures++;
    }
  return failures;
}
