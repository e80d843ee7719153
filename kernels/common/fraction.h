/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Doubles as simple fractions. */
#ifndef CONVOLVE_COMMON_FRACTION_H
#define CONVOLVE_COMMON_FRACTION_H

#include <stdbool.h>

typedef struct
{
  double numerator, denominator; /* whole numbers */
} ConvolveFraction;

/* Of two whole numbers from 0 on; that of a number and 0 is the number. */
double convolve_common_divisor (double a, double b);

/*
 * The simplest fraction within the relative error of a few roundings of value > 0. False where its denominator would be
 * above limit.
 */
bool convolve_fraction_near (double value, double limit, ConvolveFraction *fraction);

#endif
