/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tail as common/tail.h has it, for sums of any type. */
#ifndef CONVOLVE_CPU_TAIL_TMPL_H
#define CONVOLVE_CPU_TAIL_TMPL_H

#include "common/root.h"
#include "cpu/loops/vectors_tmpl.h"

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

#ifdef ARM64
/* Compilers clamp by comparing and selecting: a value could be no number, for all that they know. */
static inline uint32x4_t
finish_ints (const int32_t *sums, float scale, const float *offsets, float maximum)
{
  float32x4_t value = vaddq_f32 (vmulq_n_f32 (vcvtq_f32_s32 (vld1q_s32 (sums)), scale), vld1q_f32 (offsets));

  return vcvtq_u32_f32 (vminq_f32 (value, vdupq_n_f32 (maximum))); /* which makes 0 of what is below */
}

static void
ints_to_values (const int32_t *restrict sums, int count, float scale, const float *restrict offsets, float maximum,
    uint16_t *restrict values)
{
  for (int i = 0; i < count; i += 8)
    vst1q_u16 (values + i,
        vuzp1q_u16 (vreinterpretq_u16_u32 (finish_ints (sums + i, scale, offsets + i, maximum)),
            vreinterpretq_u16_u32 (finish_ints (sums + i + 4, scale, offsets + i + 4, maximum))));
}
#else
FINISH (ints_to_values, int32_t, float)
#endif
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
