/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Equal taps, but for those at the edges, as in a box whose sides are no odd numbers: running sums of the columns, and
 * windows of these. The tail's scale takes the tap in, which is exact where the tap is an integer. Where 31 bits do not
 * hold a window's sum, the values are less the middle.
 */
#include <math.h>
#include <string.h>

#include "common/tail.h"
#include "cpu/paths/paths.h"
#include "cpu/paths/rows.h"

#define COST_COLUMNS 3.6
#define COST_PREFIX_SUMS 14.0 /* of a window by prefix sums, whatever its width */
#define COST_PARTS 5.0        /* of adding two parts to a window that is a sum of parts of 1, 2, 4, ... columns */
#define COST_EDGES 2.0        /* of rows that enter and leave the inner taps */
#define COST_SHORTS 3.0       /* of columns, quotient and row, in 16 bits */
#define COST_SHORT_COLUMN 0.6 /* of a column of a window, in 16 bits */
#define COST_FEW_COLUMNS 0.9  /* of a column of a window whose sum becomes a value in the same loop */
#define MOST_COLUMNS 7        /* of such a window */
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

static bool
is_box (const ConvolveCpuAnalysis *a)
{
  ConvolveCpuBox *box = &a->cpu->box;
  double unit = find_box (a, box);
  bool plain = box->inner_x == 0 && box->inner_y == 0;

  if (unit == 0 || (a->plan->integers ? unit != floor (unit) : !plain || !(a->budget > 0)))
    return false;
  return fabs (a->sum / unit) * a->middle <= CONVOLVE_LARGEST_INT;
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

/* Whether windows are added up column by column, and their sums become values in the same loop. */
static bool
has_few_columns (const ConvolveCpuAnalysis *a)
{
  return a->width <= MOST_COLUMNS && !a->cpu->box.inner_x && convolve_cpu_has_short_tail (a, fabs (a->sum));
}

static double
cost_of_box (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  const ConvolveCpuBox *box = &a->cpu->box;

  w->is_box = is_box (a);
  if (!w->is_box)
    return INFINITY;
  if (has_few_columns (a))
    return COST_COLUMNS + COST_FEW_COLUMNS * a->width + (box->inner_y ? COST_EDGES : 0);
  return COST_COLUMNS + convolve_cpu_tail_cost (a) + cost_of_window (a->width) + (box->inner_y ? COST_EDGES : 0)
      + (box->inner_x ? COST_EDGES + cost_of_window (a->width - 2) : 0);
}

static bool
use_box (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  ConvolveTail *tail = &a->cpu->tail;
  double unit = a->taps[0] / (a->cpu->box.edge_x * a->cpu->box.edge_y);

  a->cpu->path = CONVOLVE_CPU_BOX;
  a->cpu->few = has_few_columns (a);
  if (fabs (a->sum / unit) * tail->maximum < CONVOLVE_LARGEST_INT)
    a->cpu->middle = 0;
  for (int i = 0; i < a->samples && a->cpu->middle > 0; i++)
    tail->offset[i] = convolve_cpu_offset (a, i);
  for (int i = 0; i < a->samples; i++)
    tail->offset_f[i] = (float) tail->offset[i];
  tail->scale *= unit;
  tail->scale_f = (float) tail->scale;
  return true;
}

/* --- running sums --- */

static void
take_box (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->box.columns = convolve_cpu_take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->box.scratch[i] = convolve_cpu_take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->sums[i] = convolve_cpu_take (arena, length, sizeof (int32_t));
  for (int i = 0; i < 2; i++)
    job->box.inner_values[i] = convolve_cpu_take (arena, length, sizeof (uint16_t));
}

/*
 * The rows that enter and leave the column sums. With edges, [0] is for all taps of a column and [1] for the inner
 * taps.
 */
typedef struct
{
  uint16_t *entering[2], *leaving[2];
} BoxRows;

static void
swap (uint16_t *rows[2])
{
  uint16_t *first = rows[0];

  rows[0] = rows[1];
  rows[1] = first;
}

/*
 * Moves the window one row down. A row enters the inner taps one step after it enters all taps, and leaves them one
 * step before.
 */
static void
slide (const ConvolveCpuJob *job, int entering, int leaving, bool leaves, BoxRows *rows)
{
  const ConvolveCpuBox *box = &job->cpu->box;

  if (box->inner_y) {
    swap (rows->entering);
    swap (rows->leaving);
  }
  convolve_cpu_load_row (job, entering, rows->entering[0]);
  if (box->inner_y && leaves)
    convolve_cpu_load_row (job, leaving + 1, rows->leaving[1]);
  else if (leaves)
    convolve_cpu_load_row (job, leaving, rows->leaving[0]);
  if (box->inner_y)
    job->level->slide_edges ((const uint16_t *const *) rows->entering, (const uint16_t *const *) rows->leaving,
        job->input_count, box->edge_y, box->inner_y, job->box.columns);
  else
    job->level->slide (rows->entering[0], rows->leaving[0], job->input_count, job->box.columns);
}

static void
sum_windows (const ConvolveCpuJob *job)
{
  const ConvolveCpuBox *box = &job->cpu->box;
  int w = job->plan->taps.width;

  job->level->window (job->box.columns, w, job->samples, job->count, (int32_t **) job->box.scratch, job->sums[0]);
  if (!box->inner_x)
    return;
  job->level->window (job->box.columns + job->samples, w - 2, job->samples, job->count, (int32_t **) job->box.scratch,
      job->sums[1]);
  job->level->add_windows (job->sums[1], job->count, box->edge_x, box->inner_x, job->sums[0]);
}

/* A row enters the column sums below the mask, and the row above the mask leaves them. */
static void
walk_box (const ConvolveCpuJob *job)
{
  const ConvolveCpuBox *box = &job->cpu->box;
  int h = job->plan->taps.height, top = job->y - h / 2;
  int weights = box->edge_y * h + box->inner_y * (h - 2);
  const ConvolveTail *tail = &job->cpu->tail;
  BoxRows rows = { { job->values[0], job->box.inner_values[0] }, { job->values[1], job->box.inner_values[1] } };

  for (int x = 0; x < job->input_count; x++)
    job->box.columns[x] = -weights * job->cpu->middle;
  for (int i = 0; i < 2; i++) {
    memset (job->values[i], 0, job->input_count * sizeof (uint16_t));
    if (box->inner_y)
      memset (job->box.inner_values[i], 0, job->input_count * sizeof (uint16_t));
  }
  for (int j = 0; j < h - 1; j++)
    slide (job, top + j, 0, false, &rows);
  for (int i = 0; i < job->height; i++) {
    slide (job, top + i + h - 1, top + i - 1, box->inner_y || i > 0, &rows);
    if (job->cpu->few) {
      job->level->values_of_int_windows (job->box.columns, job->plan->taps.width, job->samples, job->count,
          tail->scale_f, tail->offset_f[0], (int) tail->maximum, job->results[0]);
      convolve_cpu_store_row (job, job->y + i, job->results[0]);
      continue;
    }
    sum_windows (job);
    convolve_cpu_store_sums (job, job->y + i, CONVOLVE_CPU_INTS, job->sums[0]);
  }
}

const ConvolveCpuPathRow convolve_cpu_path_box = {
  .name = "box",
  .cost = cost_of_box,
  .use = use_box,
  .memory = take_box,
  .walk = walk_box,
};

/* --- sums of 16 bits --- */

/* The value of a sum of equal taps that are 1 as the plan has it, which is the same for all samples. */
static int64_t
value_of_sum (const ConvolvePlan *plan, int64_t sum)
{
  return convolve_tail_double (&plan->tail, 0, sum * plan->taps.double_taps[0]);
}

/*
 * Whether the quotient of each sum up to `most` is its value. Neither falls where the sum grows, so that the least sums
 * of each value say so.
 */
static bool
is_right (const ConvolvePlan *plan, const ConvolveQuotient *quotient, int64_t most)
{
  const int64_t largest = value_of_sum (plan, most);

  for (int64_t value = 1; value <= largest + 1; value++) {
    int64_t product = value << (16 + quotient->bits);
    int64_t least = (product + quotient->factor - 1) / quotient->factor - quotient->start;

    if (least > 0 && value_of_sum (plan, least - 1 < most ? least - 1 : most) >= value)
      return false;
    if (least <= most && value_of_sum (plan, least > 0 ? least : 0) < value)
      return false;
  }
  return true;
}

/*
 * A factor of 16 bits has an error, and the start with it decides whether all quotients are right: all near ones are
 * tried.
 */
static bool
find_quotient (const ConvolvePlan *plan, int64_t most, ConvolveQuotient *quotient)
{
  const double scale = plan->tail.scale * plan->taps.double_taps[0], start = floor (plan->tail.offset[0] / scale);
  int bits = 0;

  while (bits < 15 && ldexp (scale, 17 + bits) < UINT16_MAX)
    bits++;
  for (int up = 1; up >= 0; up--)
    for (int more = -1; more <= 1; more++) {
      double factor = floor (ldexp (scale, 16 + bits)) + up;

      if (!(factor > 0 && factor <= UINT16_MAX && start + more >= 0 && start + more + most <= UINT16_MAX))
        continue;
      *quotient = (ConvolveQuotient){ (uint16_t) (start + more), (uint16_t) factor, bits };
      if (is_right (plan, quotient, most))
        return true;
    }
  return false;
}

/*
 * In an exact plan, every path gives the value of the tail in double. Values that have to be clamped have no quotient.
 */
static bool
is_small_box (const ConvolveCpuAnalysis *a, ConvolveQuotient *quotient)
{
  const ConvolvePlan *plan = a->plan;
  const double most = (double) a->width * a->height * plan->tail.maximum;

  if (!plan->exact || a->combined || a->cpu->box.inner_x || a->cpu->box.inner_y || most > UINT16_MAX
      || !(plan->tail.scale * a->taps[0] > 0))
    return false;
  for (int i = 1; i < a->samples; i++)
    if (plan->tail.offset[i] != plan->tail.offset[0])
      return false;
  return find_quotient (plan, (int64_t) most, quotient);
}

static double
cost_of_small_box (const ConvolveCpuAnalysis *a, ConvolveCpuWorkspace *w)
{
  if (!w->is_box || !is_small_box (a, &w->quotient))
    return INFINITY;
  return COST_SHORTS + COST_SHORT_COLUMN * a->width;
}

static bool
use_small_box (const ConvolveCpuAnalysis *a, const ConvolveCpuWorkspace *w)
{
  a->cpu->path = CONVOLVE_CPU_SMALL_BOX;
  a->cpu->middle = 0;
  a->cpu->quotient = w->quotient;
  return true;
}

static void
take_small_box (ConvolveCpuJob *job, ConvolveCpuArena *arena, size_t length)
{
  job->box.short_columns = convolve_cpu_take (arena, length, sizeof (uint16_t));
  job->rows = convolve_cpu_take_rows (arena, job->plan->taps.height + 1, length, sizeof (uint16_t));
}

/*
 * Walks a box with running sums of 16 bits. The ring keeps the rows under the mask and the row above them. All rows of the
 * ring are 0 at first.
 */
static void
walk_small_box (const ConvolveCpuJob *job)
{
  int w = job->plan->taps.width, h = job->plan->taps.height, top = job->y - h / 2;

  memset (job->box.short_columns, 0, job->input_count * sizeof (uint16_t));
  for (int j = 0; j <= h; j++)
    memset (job->rows[j], 0, job->input_count * sizeof (uint16_t));
  for (int i = 1 - h; i < job->height; i++) {
    uint16_t *entering = convolve_cpu_turn (job->rows, h + 1);

    convolve_cpu_load_row (job, top + i + h - 1, entering);
    job->level->slide_shorts (entering, job->rows[0], job->input_count, job->box.short_columns);
    if (i < 0)
      continue;
    job->level->values_of_windows (job->box.short_columns, w, job->samples, job->count, &job->cpu->quotient,
        job->results[0]);
    convolve_cpu_store_row (job, job->y + i, job->results[0]);
  }
}

const ConvolveCpuPathRow convolve_cpu_path_small_box = {
  .name = "small-box",
  .cost = cost_of_small_box,
  .use = use_small_box,
  .memory = take_small_box,
  .walk = walk_small_box,
};
