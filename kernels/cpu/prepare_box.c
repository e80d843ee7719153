/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equal taps: running sums of the columns, and windows of these. The tail's scale takes the tap in, which is exact where the
 * tap is an integer. Where 31 bits do not hold a window's sum, the values are centred.
 */
#include <math.h>

#include "cpu/prepare_paths.h"

#define COST_COLUMNS 3.6
#define COST_PREFIX_SUMS 14.0 /* of a window by prefix sums, whatever its width */
#define COST_PARTS 5.0        /* of adding two parts to a window that is a sum of parts of 1, 2, 4, ... columns */

bool
convolve_cpu_is_box (const ConvolveCpuAnalysis *a)
{
  double count = (double) a->width * a->height;

  for (int i = 1; i < count; i++)
    if (a->taps[i] != a->taps[0])
      return false;
  return a->taps[0] != 0 && (a->plan->integers || a->budget > 0);
}

/* Parts of twice the size cost half as much as adding two parts to the window, which each set bit of the width does. */
double
convolve_cpu_box_cost (const ConvolveCpuAnalysis *a)
{
  double parts = 0;

  for (int size = 1; 2 * size <= a->width; size *= 2)
    parts += a->width & 2 * size ? 1.5 : 0.5;
  return COST_COLUMNS + (a->cpu->tail.needs_double ? CONVOLVE_COST_DOUBLE_TAIL : CONVOLVE_COST_TAIL)
      + fmin (parts * COST_PARTS, COST_PREFIX_SUMS);
}

void
convolve_cpu_use_box (const ConvolveCpuAnalysis *a)
{
  ConvolveTail *tail = &a->cpu->tail;
  double count = (double) a->width * a->height;

  a->cpu->path = CONVOLVE_CPU_BOX;
  if (count * tail->maximum < CONVOLVE_LARGEST_INT)
    a->cpu->center = 0;
  for (int i = 0; i < a->samples && a->cpu->center > 0; i++)
    tail->offset[i] = convolve_cpu_offset (a, i);
  tail->scale *= a->taps[0];
  tail->scale_f = (float) tail->scale;
}
