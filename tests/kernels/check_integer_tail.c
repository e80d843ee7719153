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
 * The result of the sum n before it is clamped, in exact integers, by the formula of convolve.h with an offset of 0.5.
 */
static int64_t
result_of (const Trial *trial, int sample, int64_t n)
{
  const CheckSet *set = &trial->mask->sets[0];
  int zero = trial->plan->pixel.zero[sample], range = trial->plan->pixel.range[sample];
  __int128 scaled = (__int128) (n - zero * trial->sum) * set->numerator * 512;

  return floor_divide (scaled + (__int128) (zero * 512 + range * 256 + 256) * set->denominator,
      (__int128) 512 * set->denominator);
}

/* The value clamped to 0 .. 255. */
static int
clamped (int64_t value)
{
  return value < 0 ? 0 : value > 255 ? 255 : (int) value;
}

int
check_integer_tail_byte (const ConvolveIntegerTail *tail, int sample, int32_t bits)
{
  int mode = fegetround ();
  volatile float value;

  memcpy ((void *) &value, &bits, sizeof (bits));
  fesetround (FE_DOWNWARD);
  value = fmaf (value, tail->scale, tail->offset[sample]);
  fesetround (mode);
  memcpy (&bits, (void *) &value, sizeof (bits));
  return tail->clamps ? clamped (bits - CONVOLVE_MAGIC_BITS) : bits & 255;
}

/* Compares the byte of one sum with the exact result. */
static int
check_sum (const Trial *trial, int sample, int64_t n)
{
  int expected = clamped (result_of (trial, sample, n)),
      got = check_integer_tail_byte (&trial->tail, sample, (int32_t) (trial->tail.start[sample] + n));

  if (got == expected)
    return 0;
  fprintf (trial->file, "FAILED integer tail: a sum of %lld gives %d, not %d: %s mask %dx%d, divisor %.17g\n",
      (long long) n, got, expected, trial->mask->kind, trial->mask->mask.width, trial->mask->mask.height,
      trial->mask->mask.divisor);
  return 1;
}

/*
 * Checks one sample of the pixel for all sums from least to most. The result never falls or never rises with the sum.
 * So only the sums on both sides of each change of the result are checked; a binary search finds them.
 */
static int
check_sample (const Trial *trial, int sample, int64_t least, int64_t most)
{
  int failures = check_sum (trial, sample, least) + check_sum (trial, sample, most);
  bool rises = result_of (trial, sample, least) <= result_of (trial, sample, most);

  for (int value = 0; value <= 256 && failures == 0; value++) {
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
 * A mask whose scale is a fraction of a large denominator, and whose sums reach all of a byte. Its results lie so close
 * together that the rounding of the scale may move one past an integer.
 */
static bool
make_close (CheckMask *mask, CheckRandom *random)
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
  return check_mask_from (mask, 3, 3, taps, denominator, 255);
}

/*
 * Checks a random pixel with this mask. *accepted counts the plans that have an integer tail, *fine those of them whose
 * divisor is no power of two.
 */
static int
check_plan (const CheckMask *mask, CheckRandom *random, FILE *file, int *accepted, int *fine)
{
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = check_random_range (random, 1, 4) };
  ConvolveMask with_offset = mask->mask;
  Trial trial = { .mask = mask, .file = file };
  int64_t least = 0, most = 0;
  const char *reason = NULL;
  ConvolvePlan *plan;
  int failures = 0;

  pixel.stride = pixel.samples;
  pixel.select = pixel.biased = (1u << pixel.samples) - 1;
  for (int i = 0; i < pixel.samples; i++)
    pixel.zero[i] = check_random_range (random, 0, 255), pixel.range[i] = check_random_range (random, 1, 255);
  with_offset.offset = 0.5;
  trial.plan = plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_ZERO, &with_offset, "cpu", NULL, NULL);
  if (!plan) {
    fprintf (file, "FAILED integer tail: out of memory\n");
    return 1;
  }
  if (convolve_integer_tail_choose (plan, &trial.tail, &reason)) {
    for (int i = 0; i < mask->mask.width * mask->mask.height; i++) {
      least += mask->sets[0].integers[i] < 0 ? mask->sets[0].integers[i] * 255 : 0;
      most += mask->sets[0].integers[i] > 0 ? mask->sets[0].integers[i] * 255 : 0;
      trial.sum += mask->sets[0].integers[i];
    }
    for (int i = 0; i < pixel.samples && failures == 0; i++)
      failures += check_sample (&trial, i, least, most);
    ++*accepted;
    *fine += (mask->sets[0].denominator & (mask->sets[0].denominator - 1)) != 0;
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
  int failures = 0, accepted = 0, fine = 0, all = 2 * masks;

  for (int i = 0; i < all && failures < 4; i++) {
    CheckRandom random;
    CheckMask mask;

    check_random_init (&random, seed, i);
    if (i < masks ? !check_mask_random (&mask, &random, 255) : !make_close (&mask, &random)) {
      fprintf (file, "FAILED integer tail: out of memory\n");
      failures++;
    } else if (mask.exact && mask.sets[0].integers) {
      failures += check_plan (&mask, &random, file, &accepted, &fine);
    }
    check_mask_clear (&mask);
  }
  if (failures == 0 && (accepted < masks / 10 || fine < masks / 20)) {
    fprintf (file, "FAILED integer tail: of %d masks %d are accepted, %d with a divisor that is no power of 2\n", masks,
        accepted, fine);
    failures++;
  }
  return failures;
}
