/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running sums of equal taps, and of taps whose edges have another weight: those of all taps, and those of the inner ones. */
#include <string.h>

#include "cpu/rows.h"
#include "cpu/walk_paths.h"

/* The rows that enter and leave the column sums. With edges, [0] is for all taps of a column and [1] for the inner taps. */
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

/* Moves the window one row down. A row enters the inner taps one step after it enters all taps, and leaves them one step before. */
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
        job->input_count, box->edge_y, box->inner_y, job->columns);
  else
    job->level->slide (rows->entering[0], rows->leaving[0], job->input_count, job->columns);
}

static void
sum_windows (const ConvolveCpuJob *job)
{
  const ConvolveCpuBox *box = &job->cpu->box;
  int w = job->plan->taps.width;

  job->level->window (job->columns, w, job->samples, job->count, (int32_t **) job->scratch, job->sums[0]);
  if (!box->inner_x)
    return;
  job->level->window (job->columns + job->samples, w - 2, job->samples, job->count, (int32_t **) job->scratch,
      job->sums[1]);
  job->level->add_windows (job->sums[1], job->count, box->edge_x, box->inner_x, job->sums[0]);
}

/* A row enters the column sums below the mask, and the row above the mask leaves them. */
void
convolve_cpu_walk_box (const ConvolveCpuJob *job)
{
  const ConvolveCpuBox *box = &job->cpu->box;
  int h = job->plan->taps.height, top = job->y - h / 2;
  int weights = box->edge_y * h + box->inner_y * (h - 2);
  BoxRows rows = { { job->values[0], job->inner_values[0] }, { job->values[1], job->inner_values[1] } };

  for (int x = 0; x < job->input_count; x++)
    job->columns[x] = -weights * job->cpu->middle;
  for (int i = 0; i < 2; i++) {
    memset (job->values[i], 0, job->input_count * sizeof (uint16_t));
    if (box->inner_y)
      memset (job->inner_values[i], 0, job->input_count * sizeof (uint16_t));
  }
  for (int j = 0; j < h - 1; j++)
    slide (job, top + j, 0, false, &rows);
  for (int i = 0; i < job->height; i++) {
    slide (job, top + i + h - 1, top + i - 1, box->inner_y || i > 0, &rows);
    sum_windows (job);
    convolve_cpu_store_ints (job, job->y + i, job->sums[0]);
  }
}

/* The same with sums of 16 bits. All rows under the mask and the one above are kept, which is all 0 at first. */
void
convolve_cpu_walk_small_box (const ConvolveCpuJob *job)
{
  int w = job->plan->taps.width, h = job->plan->taps.height, top = job->y - h / 2;

  memset (job->short_columns, 0, job->input_count * sizeof (uint16_t));
  for (int j = 0; j <= h; j++)
    memset (job->rows[j], 0, job->input_count * sizeof (uint16_t));
  for (int i = 1 - h; i < job->height; i++) {
    uint16_t *entering = convolve_cpu_turn (job->rows, h + 1);

    convolve_cpu_load_row (job, top + i + h - 1, entering);
    job->level->slide_shorts (entering, job->rows[0], job->input_count, job->short_columns);
    if (i < 0)
      continue;
    job->level->values_of_windows (job->short_columns, w, job->samples, job->count, &job->cpu->quotient,
        job->results[0]);
    convolve_cpu_store_row (job, job->y + i, job->results[0]);
  }
}
