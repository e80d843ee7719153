/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/ladder/tiled_input.h"

#include "cuda/device/accepts.h"

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

static bool
accepts (const ConvolvePlan *plan, ConvolveFound *found, const char **reason)
{
  int width, height;

  *reason = "an input tile of 1024 threads leaves no room for an output tile";
  return convolve_tiled_input_block (plan, &width, &height) && convolve_accepts_parameters (plan, reason);
}

const ConvolveVariant convolve_variant_tiled_input = {
  .name = "tiled-input",
  .number = 15,
  .on_device = true,
  .idea = "a block loads its input tile, a sample to each thread; the threads of the halo then rest",
  .accepts = accepts,
  .prepare = convolve_tiled_input_load,
  .run = convolve_tiled_input_run,
};
