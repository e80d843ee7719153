/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks for the checks, with what follows from the taps and the divisor without asking the library. */
#ifndef TESTS_KERNELS_CHECK_MASK_H
#define TESTS_KERNELS_CHECK_MASK_H

#include "support/random.h"
#include "convolve.h"

/* What follows from one set of taps. */
typedef struct
{
  /* The taps are integers times one factor, and the sum is small enough for these samples. */
  bool exact;
  /*
   * Those integers, with factor / divisor as numerator / denominator. NULL where the set is not exact or the fraction
   * is long.
   */
  int64_t *integers;
  int64_t numerator, denominator;
} CheckSet;

typedef struct
{
  ConvolveMask mask;
  const char *kind; /* a description for messages */
  bool decimal;     /* multiples of 0.1, which most doubles only come near to */
  bool normalised;  /* the divisor is the taps' sum, and the mask is plain */

  bool exact;   /* of all sets together, as convolve_plan_is_exact () has it */
  bool unknown; /* whether it is exact: numbers are too long */
  CheckSet sets[CONVOLVE_MAX_SETS];
} CheckMask;

/* Takes over the taps; largest is the largest sample. False where memory is short. */
bool check_mask_analyse (CheckMask *mask, int largest);

/* A random mask. */
bool check_mask_random (CheckMask *mask, CheckRandom *random, int largest);

/* Makes a random combination of a plain mask: its set alone, or with others of the same size. */
bool check_mask_combine (CheckMask *mask, CheckRandom *random, int largest);

/* Another mask in place of this one: a combination of small integers, which add up to 0 more often than not, 3x3 or 5x5. */
bool check_mask_edges (CheckMask *mask, CheckRandom *random, int largest);

/* Whether all sets have integers. */
bool check_mask_has_integers (const CheckMask *mask);

/* A mask of these width * height taps. */
bool check_mask_from (CheckMask *mask, int width, int height, const double *taps, double divisor, int largest);

void check_mask_clear (CheckMask *mask);

#endif
