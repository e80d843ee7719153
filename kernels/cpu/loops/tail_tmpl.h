/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tail as common/tail.h has it, for sums of any type. */
#ifndef CONVOLVE_CPU_TAIL_TMPL_H
#define CONVOLVE_CPU_TAIL_TMPL_H

#include "common/root.h"
#include "cpu/loops/level.h"

#define FINISH(name, Sum, Real) \
  static void name (const Sum *restrict sums, int count, Real scale, const Real *restrict offsets, Real maximum, \
      uint16_t *restrict values) \
  { \
    for (int i = 0; i < count; i++) { \
      Real value = (Real) sums[i] * scale + offsets[i]; \
\
      value = value > 0 ? value : 0; \
      values[i] = (uint16_t) (int32_t) (value < maximum ? value : maximum); \
    } \
  }

FINISH (ints_to_values, int32_t, float)
FINISH (ints_to_values_in_double, int32_t, double)
FINISH (floats_to_values, float, float)
FINISH (floats_to_values_in_double, float, double)
FINISH (doubles_to_values, double, double)

/* The root is rounded to the nearest number on every machine. */
static void
roots_to_values (const double *restrict squares, int count, double scale, const double *restrict offsets,
    double maximum, uint16_t *restrict values)
{
  for (int i = 0; i < count; i++) {
    double value = CONVOLVE_ROOT_D (squares[i]) * scale + offsets[i];

    value = value > 0 ? value : 0;
    values[i] = (uint16_t) (int32_t) (value < maximum ? value : maximum);
  }
}

#endif
