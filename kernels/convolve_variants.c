/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of variants. A new one is a file with its kernel and a row here, before the first row it is better than. */
#include "convolve_private.h"

static bool
accepts_any (const ConvolvePlan *plan, const char **reason)
{
  return true;
}

static bool
accepts_device_taps (const ConvolvePlan *plan, const char **reason)
{
  if (!plan->device_taps_fit)
    *reason = "its weights are too large for single precision";
  return plan->device_taps_fit;
}

static bool
accepts_parameters (const ConvolvePlan *plan, const char **reason)
{
  if (plan->taps.width * plan->taps.height > CONVOLVE_MAX_PARAMETER_TAPS) {
    *reason = "it has more than 8100 weights, which is what constant memory holds";
    return false;
  }
  return accepts_device_taps (plan, reason);
}

static bool
accepts_tiled (const ConvolvePlan *plan, const char **reason)
{
  if (convolve_tiled_shared_size (plan) > convolve_device_shared_limit (plan->device)) {
    *reason = "its tile with halo is larger than the device's shared memory";
    return false;
  }
  return accepts_parameters (plan, reason);
}

static bool
accepts_tiled_input (const ConvolvePlan *plan, const char **reason)
{
  int width, height;

  if (!convolve_tiled_input_block (plan, &width, &height)) {
    *reason = "an input tile of 1024 threads leaves no room for an output tile";
    return false;
  }
  return accepts_parameters (plan, reason);
}

static bool
accepts_rank_1 (const ConvolvePlan *plan, const char **reason)
{
  if (!plan->taps.row) {
    *reason = "it is not the product of a column and a row";
    return false;
  }
  if (convolve_separable_shared_size (plan) > convolve_device_shared_limit (plan->device)) {
    *reason = "its row sums in double precision are larger than the device's shared memory";
    return false;
  }
  return accepts_device_taps (plan, reason);
}

size_t
convolve_tiled_shared_size (const ConvolvePlan *plan)
{
  size_t width = CONVOLVE_TILE_WIDTH + plan->taps.width - 1, height = CONVOLVE_TILE_HEIGHT + plan->taps.height - 1;

  return width * height * sizeof (float);
}

size_t
convolve_separable_shared_size (const ConvolvePlan *plan)
{
  size_t lines = CONVOLVE_SEPARABLE_STEP * (CONVOLVE_SEPARABLE_WIDTH + plan->taps.width - 1);
  size_t ring = (CONVOLVE_SEPARABLE_STEP + plan->taps.height - 1) * CONVOLVE_SEPARABLE_WIDTH;

  return lines * sizeof (float) + ring * (plan->wide_sums ? sizeof (double) : sizeof (float));
}

bool
convolve_tiled_input_block (const ConvolvePlan *plan, int *width, int *height)
{
  int most = 0;

  for (int w = 4; w <= 256; w *= 2) {
    int h = 1024 / w, columns = w - plan->taps.width + 1, rows = h - plan->taps.height + 1;

    if (columns > 0 && rows > 0 && columns * rows >= most) {
      most = columns * rows;
      *width = w;
      *height = h;
    }
  }
  return most > 0;
}

/* Up to these sizes the tables in tests/results/ have constant in front: loading tiles does not pay. */
static bool
pays_beyond_3x3 (const ConvolvePlan *plan)
{
  return plan->taps.width * plan->taps.height > 9;
}

static bool
pays_beyond_5x5 (const ConvolvePlan *plan)
{
  return plan->taps.width * plan->taps.height > 25;
}

static ConvolveStatus
prepare_global (ConvolvePlan *plan, ConvolveError *error)
{
  return convolve_device_put (plan->device, plan->taps.taps, (size_t) plan->taps.width * plan->taps.height,
      &plan->device_taps, error);
}

const ConvolveVariant convolve_variants[] = {
  {
    .name = "separable",
    .idea = "a rank-1 mask as a row pass and a column pass, fused in shared memory",
    .on_device = true,
    .accepts = accepts_rank_1,
    .pays = pays_beyond_3x3,
    .run = convolve_separable_run,
  },
  {
    .name = "tiled",
    .idea = "block = output tile, the halo loaded to shared memory by all threads together",
    .on_device = true,
    .accepts = accepts_tiled,
    .pays = pays_beyond_5x5,
    .run = convolve_tiled_run,
  },
  {
    .name = "constant",
    .idea = "a thread per pixel, the mask in constant memory",
    .on_device = true,
    .accepts = accepts_parameters,
    .run = convolve_constant_run,
  },
  {
    .name = "tiled-cached",
    .idea = "shared memory holds the tile alone, halo cells come through the L2 cache",
    .on_device = true,
    .accepts = accepts_parameters,
    .run = convolve_tiled_cached_run,
  },
  {
    .name = "tiled-input",
    .idea = "block = input tile, the outer threads load and then rest",
    .on_device = true,
    .accepts = accepts_tiled_input,
    .run = convolve_tiled_input_run,
  },
  {
    .name = "global",
    .idea = "a thread per pixel, image and mask in global memory",
    .on_device = true,
    .accepts = accepts_device_taps,
    .prepare = prepare_global,
    .run = convolve_global_run,
  },
  {
    .name = "cpu",
    .idea = "threads and vectors on the host: integers where they are exact enough, few products, running sums",
    .accepts = accepts_any,
    .prepare = convolve_cpu_prepare,
    .run = convolve_cpu_run,
  },
  {
    .name = "cpu-reference",
    .idea = "one plain loop on the host; the result that all others must equal",
    .accepts = accepts_any,
    .run = convolve_cpu_reference_run,
  },
};

int
convolve_variant_count (void)
{
  return (int) (sizeof (convolve_variants) / sizeof (convolve_variants[0]));
}

const char *
convolve_variant_name (int index)
{
  return convolve_variants[index].name;
}

const char *
convolve_variant_idea (int index)
{
  return convolve_variants[index].idea;
}

bool
convolve_variant_on_device (int index)
{
  return convolve_variants[index].on_device;
}
