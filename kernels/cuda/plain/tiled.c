/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/plain/tiled.h"

#include <stdlib.h>

#define STEP CONVOLVE_TILED_STEP

bool
convolve_tiled_sums_integers (const ConvolvePlan *plan)
{
  return plan->n_parts == 0 && plan->double_sums && plan->arithmetic.kind == CONVOLVE_ARITHMETIC_ONE_STEP
      && plan->arithmetic.narrow;
}

bool
convolve_tiled_sums_doubles (const ConvolvePlan *plan)
{
  if (plan->n_parts > 0)
    return convolve_sets_need_double (plan);
  return plan->double_sums && !convolve_tiled_sums_integers (plan);
}

/* Puts the taps of all sets to plan->device_memory. Sets beyond the plan's are 0. */
static ConvolveStatus
put_columns (ConvolvePlan *plan, int height, ConvolveError *error)
{
  const bool in_double = convolve_tiled_sums_doubles (plan), integers = convolve_tiled_sums_integers (plan);
  const int parts = plan->n_parts > 0 ? plan->n_parts : 1, padded = plan->n_parts > 0 ? convolve_sets_padded (plan) : 1;
  const size_t count = (size_t) plan->taps.width * height * padded;
  const size_t bytes = count * (in_double ? sizeof (double) : sizeof (float));
  void *columns = calloc (1, bytes);

  if (!columns)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the weights of a mask");
  for (int k = 0; k < parts; k++) {
    const ConvolveTaps *taps = plan->n_parts > 0 ? &plan->parts[k].taps : &plan->taps;

    for (int i = 0; i < taps->width; i++)
      for (int j = 0; j < taps->height; j++) {
        const size_t to = (size_t) (i * height + j / STEP * STEP) * padded + k * STEP + j % STEP;
        const int from = j * taps->width + i;

        if (in_double)
          ((double *) columns)[to] = taps->double_taps[from];
        else if (integers)
          ((int32_t *) columns)[to] = (int32_t) taps->double_taps[from];
        else
          ((float *) columns)[to] = taps->taps[from];
      }
  }
  ConvolveStatus status = convolve_device_put (plan->device, columns, bytes, &plan->device_memory, error);

  free (columns);
  return status;
}

static ConvolveStatus
prepare (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveArithmetic *from = &plan->arithmetic;
  const int height = (plan->taps.height + STEP - 1) / STEP * STEP;
  ConvolveTiledSets *to = calloc (1, sizeof (*to));
  ConvolveStatus status;

  plan->prepared = to;
  if (!to)
    return convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for the taps of a plan");
  status = put_columns (plan, height, error);
  if (status != CONVOLVE_OK)
    return status;
  to->taps.columns = plan->device_memory;
  to->taps.column_height = height;
  if (convolve_tiled_sums_integers (plan)) {
    to->taps.bits = from->bits;
    to->taps.middle = 1 << (plan->pixel.depth - 1);
    for (int i = 0; i < CONVOLVE_MAX_SAMPLES; i++)
      to->taps.start[i] = (uint32_t) (from->start[i] - ((int64_t) to->taps.middle << from->bits));
  }
  if (plan->n_parts > 0)
    convolve_sets_fill (plan, &to->sets);
  return convolve_tiled_load (plan, error);
}

const ConvolveVariant convolve_variant_tiled = {
  .name = "tiled",
  .number = 12,
  .on_device = true,
  .combines = true,
  .idea = "a block loads its output tile and a halo to shared memory; a thread makes several outputs of a column",
  .prepare = prepare,
  .run = convolve_tiled_run,
};
