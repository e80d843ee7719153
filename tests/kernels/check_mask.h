/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Masks for the checks, and what can be said of a mask without asking the library. */
#ifndef TESTS_KERNELS_CHECK_MASK_H
#define TESTS_KERNELS_CHECK_MASK_H

#include "support/random.h"
#include "convolve.h"

typedef struct
{
  ConvolveMask mask;
  const char *kind; /* in words */
  bool decimal;     /* multiples of 0.1, which a binary fraction may only come near to */
  bool normalised;  /* the divisor is the taps' sum */

  /* The taps are integers times one factor, and the sum is small enough for these samples. */
  bool exact;
  /* Those integers and factor / divisor as numerator / denominator: NULL where not exact or that fraction is long. */
  int64_t *integers;
  int64_t numerator, denominator;
} CheckMask;

/* Takes over the taps; largest is the largest sample. False where memory is short. */
bool check_mask_analyse (CheckMask *mask, int largest);

/* A random one. */
bool check_mask_random (CheckMask *mask, CheckRandom *random, int largest);

/* width * height taps as they are. */
bool check_mask_from (CheckMask *mask, int width, int height, const double *taps, double divisor, int largest);

void check_mask_clear (CheckMask *mask);

#endif
