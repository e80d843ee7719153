/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equal taps, but for those at the edges, as in a box whose sides are no odd numbers: running sums of the columns, and windows
 * of these. The tail's scale takes the tap in, which is exact where the tap is an integer. Where 31 bits do not hold a
 * window's sum, the values are centred.
 */
#include <math.h>

#include "cpu/prepare_paths.h"

#define COST_COLUMNS 3.6
#define COST_PREFIX_SUMS 14.0 /* of a window by prefix sums, whatever its width */
#define COST_PARTS 5.0        /* of adding two parts to a window that is a sum of parts of 1, 2, 4, ... columns */
#define COST_EDGES 2.0        /* of rows that enter and leave the inner taps */
#define MOST_WEIGHT 4

/* The edge and the tap beside it as small numbers, with their common factor taken out. False where there are none. */
static bool
find_edge (double edge, double tap, int side, int *edge_weight, int *inner_weight)
{
  *edge_weight = 1;
  *inner_weight = 0;
  if (side < 3 || edge == tap)
    return true;
  for (int e = 1; e <= MOST_WEIGHT; e++)
    for (int t = 1; t <= MOST_WEIGHT; t++)
      if (edge * t == tap * e) {
        *edge_weight = e;
        *inner_weight = t - e;
        return true;
      }
  return false;
}

/* Fills the weights. Returns the tap that these are multiples of, or 0 where the mask is no such box. */
static double
find_box (const ConvolveCpuAnalysis *a, ConvolveCpuBox *box)
{
  const double corner = a->taps[0];
  double unit;

  if (corner == 0 || !find_edge (corner, a->taps[a->width > 1], a->width, &box->edge_x, &box->inner_x)
      || !find_edge (corner, a->taps[a->height > 1 ? a->width : 0], a->height, &box->edge_y, &box->inner_y))
    return 0;
  unit = corner / (box->edge_x * box->edge_y);
  for (int j = 0; j < a->height; j++)
    for (int i = 0; i < a->width; i++) {
      int x = box->edge_x + (i > 0 && i < a->width - 1 ? box->inner_x : 0);
      int y = box->edge_y + (j > 0 && j < a->height - 1 ? box->inner_y : 0);

      if (a->taps[j * a->width + i] != x * y * unit)
        return 0;
    }
  return unit;
}

bool
convolve_cpu_is_box (const ConvolveCpuAnalysis *a)
{
  ConvolveCpuBox *box = &a->cpu->box;
  double unit = find_box (a, box);
  bool plain = box->inner_x == 0 && box->inner_y == 0;

  if (unit == 0 || (a->plan->integers ? unit != floor (unit) : !plain || !(a->budget > 0)))
    return false;
  return fabs (a->sum / unit) * a->center <= CONVOLVE_LARGEST_INT;
}

/* Parts of twice the size cost half as much as adding two parts to the window, which each set bit of the width does. */
static double
cost_of_window (int width)
{
  double parts = 0;

  for (int size = 1; 2 * size <= width; size *= 2)
    parts += width & 2 * size ? 1.5 : 0.5;
  return fmin (parts * COST_PARTS, COST_PREFIX_SUMS);
}

double
convolve_cpu_box_cost (const ConvolveCpuAnalysis *a)
{
  const ConvolveCpuBox *box = &a->cpu->box;

  return COST_COLUMNS + (a->cpu->tail.needs_double ? CONVOLVE_COST_DOUBLE_TAIL : CONVOLVE_COST_TAIL)
      + cost_of_window (a->width) + (box->inner_y ? COST_EDGES : 0)
      + (box->inner_x ? COST_EDGES + cost_of_window (a->width - 2) : 0);
}

void
convolve_cpu_use_box (const ConvolveCpuAnalysis *a)
{
  ConvolveTail *tail = &a->cpu->tail;
  double unit = a->taps[0] / (a->cpu->box.edge_x * a->cpu->box.edge_y);

  a->cpu->path = CONVOLVE_CPU_BOX;
  if (fabs (a->sum / unit) * tail->maximum < CONVOLVE_LARGEST_INT)
    a->cpu->center = 0;
  for (int i = 0; i < a->samples && a->cpu->center > 0; i++)
    tail->offset[i] = convolve_cpu_offset (a, i);
  tail->scale *= unit;
  tail->scale_f = (float) tail->scale;
}
