/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of variants. A new one is a file with its kernel and a row here, before the first row it is better than. */
#include <math.h>

#include "cuda/box.h"
#include "cuda/fft.h"
#include "common/integer_tail.h"
#include "cuda/tensor.h"
#include "auto.h"
#include "cuda/tensor_products.h"

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

bool
convolve_accepts_tensor (const ConvolvePlan *plan, const char **reason)
{
  ConvolveLimbs limbs;

  if (!convolve_tensor_possible (plan->device)) {
    *reason = "it needs a device of compute capability 8.0 or more";
    return false;
  }
  if (convolve_tensor_shared_size (plan) > convolve_device_shared_limit (plan->device)) {
    *reason = "its tile with halo is larger than the device's shared memory";
    return false;
  }
  return convolve_limbs_choose (plan, &limbs, reason);
}

static bool
accepts_products (const ConvolvePlan *plan, ConvolveProducts *products, const char **reason)
{
  const ConvolvePixel *pixel = &plan->pixel;
  ConvolveProductTaps taps;

  if (!convolve_tensor_possible (plan->device)) {
    *reason = "it needs a device of compute capability 8.0 or more";
    return false;
  }
  if (pixel->stride != pixel->samples * convolve_sample_size (pixel->type) || pixel->swapped || !pixel->select) {
    *reason = "it does pixels with nothing between their samples, in the machine's byte order";
    return false;
  }
  if (pixel->type == CONVOLVE_SAMPLE_U16 && pixel->select != (1u << pixel->samples) - 1) {
    *reason = "it does all samples of 16-bit pixels, or none";
    return false;
  }
  return convolve_products_choose (plan, products, &taps, reason);
}

static bool
accepts_tensor_fused (const ConvolvePlan *plan, const char **reason)
{
  ConvolveProducts products;

  if (plan->pixel.select != (1u << plan->pixel.samples) - 1) {
    *reason = "it does pixels all samples of which are convolved";
    return false;
  }
  return accepts_products (plan, &products, reason) && convolve_products_widen (plan, &products, reason);
}

static bool
accepts_tensor_separable (const ConvolvePlan *plan, const char **reason)
{
  ConvolveProducts products;

  if (!accepts_products (plan, &products, reason))
    return false;
  if (convolve_tensor_separable_shared_size (plan, &products) > convolve_device_shared_limit (plan->device)
      || convolve_tensor_separable_chunks (plan, &products) > CONVOLVE_PRODUCTS_WARPS * 32) {
    *reason = "its tile with halo is larger than the device's shared memory";
    return false;
  }
  return true;
}

static bool
accepts_box (const ConvolvePlan *plan, const char **reason)
{
  ConvolveBox box;

  if (convolve_box_shared_size (plan) > convolve_device_shared_limit (plan->device)) {
    *reason = "its sums are larger than the device's shared memory";
    return false;
  }
  return accepts_device_taps (plan, reason) && convolve_box_choose (plan, &box, reason);
}

static bool
accepts_fft (const ConvolvePlan *plan, const char **reason)
{
  bool wide;

  return convolve_fft_choose (plan, &wide, reason);
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

int
convolve_fused_tiled_side (const ConvolvePlan *plan)
{
  static const int sides[] = CONVOLVE_FUSED_TILED_SIDES;

  for (size_t i = 0; i < sizeof (sides) / sizeof (sides[0]); i++)
    if (plan->taps.width <= sides[i] && plan->taps.height <= sides[i])
      return sides[i];
  return 0;
}

/* The input of a tile in whole chunks of 16 bytes and a pad of one, and a float for each sum of a row. */
size_t
convolve_fused_tiled_shared_size (const ConvolvePlan *plan)
{
  size_t bytes = plan->pixel.stride, side = convolve_fused_tiled_side (plan), chunk = 16 / bytes;
  size_t chunks = CONVOLVE_FUSED_TILED_SAMPLES / plan->pixel.samples / chunk + 2 * ((side / 2 + chunk - 1) / chunk);

  return (CONVOLVE_FUSED_TILED_HEIGHT + side - 1) * (16 * (chunks + 1) + CONVOLVE_FUSED_TILED_SAMPLES * sizeof (float));
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

static double
magnitude (const float *taps, int count)
{
  double sum = 0;

  for (int i = 0; i < count; i++)
    sum += fabs (taps[i]);
  return sum;
}

/* What the variants that divide a plane in parts can read: see cuda/border.cuh. */
static bool
accepts_layout (const ConvolvePlan *plan, const char **reason)
{
  const ConvolvePixel *pixel = &plan->pixel;
  double gain = magnitude (plan->taps.taps, plan->taps.width * plan->taps.height) * fabs (plan->tail.scale), most = 0;

  if (pixel->samples == 3 || pixel->stride != pixel->samples * convolve_sample_size (pixel->type) || pixel->swapped
      || !pixel->select) {
    *reason = "it does pixels of 1, 2 or 4 samples with nothing between them, in the machine's byte order";
    return false;
  }
  for (int i = 0; i < pixel->samples; i++)
    most = fmax (most, fabs (plan->tail.offset[i]));
  if (pixel->type == CONVOLVE_SAMPLE_U8 && gain * 255 + most > 4e6) {
    *reason = "it multiplies too much";
    return false;
  }
  return accepts_device_taps (plan, reason);
}

static bool
accepts_small (const ConvolvePlan *plan, const char **reason)
{
  if (plan->taps.width > CONVOLVE_DIRECT_SIDE || plan->taps.height > CONVOLVE_DIRECT_SIDE) {
    *reason = "it is larger than 9x9";
    return false;
  }
  return accepts_layout (plan, reason);
}

static bool
accepts_fused (const ConvolvePlan *plan, const char **reason)
{
  if (!plan->taps.row) {
    *reason = "it is not the product of a column and a row";
    return false;
  }
  if (plan->wide_sums) {
    *reason = "its sums need double precision";
    return false;
  }
  return accepts_small (plan, reason);
}

static bool
accepts_fused_tiled (const ConvolvePlan *plan, const char **reason)
{
  if (!plan->taps.row) {
    *reason = "it is not the product of a column and a row";
    return false;
  }
  if (plan->wide_sums) {
    *reason = "its sums need double precision";
    return false;
  }
  if (!accepts_layout (plan, reason))
    return false;
  if (plan->pixel.type == CONVOLVE_SAMPLE_U16 && plan->pixel.samples > 2) {
    *reason = "it does 16-bit pixels of 1 or 2 samples alone";
    return false;
  }
  if (convolve_fused_tiled_side (plan) == 0) {
    *reason = "it is larger than 63x63";
    return false;
  }
  if (convolve_fused_tiled_shared_size (plan) > convolve_device_shared_limit (plan->device)) {
    *reason = "its tile is larger than the device's shared memory";
    return false;
  }
  return true;
}

/* One sum takes all products in turn, and is rounded after each: more often than convolve_taps_init () allows for. */
bool
convolve_accepts_direct (const ConvolvePlan *plan, const char **reason)
{
  int count = plan->taps.width * plan->taps.height;
  double gain = magnitude (plan->taps.taps, count);

  if (plan->wide_sums || (!plan->exact && gain * count * plan->tail.maximum / 16777216 > convolve_budget (plan) / 4)) {
    *reason = "its sums need double precision";
    return false;
  }
  return accepts_small (plan, reason);
}

/* Sums of integers, see common/integer_tail.h. */
static bool
accepts_integers (const ConvolvePlan *plan, const char **reason)
{
  ConvolveIntegerTail tail;

  return convolve_integer_tail_choose (plan, &tail, reason) && accepts_layout (plan, reason);
}

static bool
are_bytes (const float *taps, int count)
{
  for (int i = 0; i < count; i++)
    if (taps[i] < -128 || taps[i] > 127)
      return false;
  return true;
}

static bool
accepts_packed (const ConvolvePlan *plan, const char **reason)
{
  if (plan->exact && !are_bytes (plan->taps.taps, plan->taps.width * plan->taps.height)) {
    *reason = "its weights are not integers -128 to 127 times one factor";
    return false;
  }
  return accepts_small (plan, reason) && accepts_integers (plan, reason);
}

/* The sums of a row are to fit sixteen bits: 255 times 257 does. */
bool
convolve_accepts_packed_separable (const ConvolvePlan *plan, const char **reason)
{
  const ConvolveTaps *taps = &plan->taps;

  if (!taps->row) {
    *reason = "it is not the product of a column and a row";
    return false;
  }
  if (plan->exact
      && (!are_bytes (taps->row, taps->width) || !are_bytes (taps->column, taps->height)
          || magnitude (taps->row, taps->width) > 257)) {
    *reason = "its row and column are not integers -128 to 127, or its row's sum is above 257";
    return false;
  }
  return accepts_small (plan, reason) && accepts_integers (plan, reason);
}

/* Sums in double take the taps in double, which single precision need not hold. */
static ConvolveStatus
prepare_global (ConvolvePlan *plan, ConvolveError *error)
{
  const ConvolveTaps *taps = &plan->taps;
  size_t count = (size_t) taps->width * taps->height;

  if (plan->wide_sums)
    return convolve_device_put (plan->device, taps->wide_taps, count * sizeof (double), &plan->device_taps, error);
  return convolve_device_put (plan->device, taps->taps, count * sizeof (float), &plan->device_taps, error);
}

const ConvolveVariant convolve_variants[] = {
  {
      .name = "box",
      .number = 1,
      .idea = "equal weights: sums that run down the columns and along the rows, the same work for every width",
      .on_device = true,
      .accepts = accepts_box,
      .pays = convolve_pays_box,
      .prepare = convolve_box_prepare,
      .run = convolve_box_run,
  },
  {
      .name = "tensor-fused",
      .number = 2,
      .idea = "as tensor-separable, for one product: all that a warp needs comes from memory to registers at once",
      .on_device = true,
      .accepts = accepts_tensor_fused,
      .pays = convolve_pays_tensor_fused,
      .prepare = convolve_tensor_fused_prepare,
      .run = convolve_tensor_fused_run,
  },
  {
      .name = "tensor-separable",
      .number = 3,
      .idea = "a mask of rank 1, or a sum of up to four such, as two products with banded matrices on the tensor cores",
      .on_device = true,
      .accepts = accepts_tensor_separable,
      .pays = convolve_pays_tensor_separable,
      .prepare = convolve_tensor_separable_prepare,
      .run = convolve_tensor_separable_run,
  },
  {
      .name = "packed-separable",
      .number = 4,
      .idea = "as packed, for a rank-1 mask: sums of rows four products at a time, of columns two at a time",
      .on_device = true,
      .accepts = convolve_accepts_packed_separable,
      .pays = convolve_pays_packed_separable,
      .prepare = convolve_integer_tail_prepare,
      .run = convolve_packed_separable_run,
  },
  {
      .name = "fused",
      .number = 5,
      .idea = "a rank-1 mask in one pass: sums of rows go from registers to all outputs above and below",
      .on_device = true,
      .accepts = accepts_fused,
      .pays = convolve_pays_fused,
      .run = convolve_fused_run,
  },
  {
      .name = "fused-tiled",
      .number = 6,
      .idea =
          "a rank-1 mask as two passes over a tile in shared memory, 8 sums of a row and 16 of a column to a thread",
      .on_device = true,
      .accepts = accepts_fused_tiled,
      .pays = convolve_pays_fused_tiled,
      .run = convolve_fused_tiled_run,
  },
  {
      .name = "packed",
      .number = 7,
      .idea = "bytes as they lie in memory, four products in one instruction, with integer weights of eight bits",
      .on_device = true,
      .accepts = accepts_packed,
      .pays = convolve_pays_packed,
      .prepare = convolve_integer_tail_prepare,
      .run = convolve_packed_run,
  },
  {
      .name = "direct",
      .number = 8,
      .idea = "a block of outputs for each thread, sums in registers, each input loaded and converted once",
      .on_device = true,
      .accepts = convolve_accepts_direct,
      .pays = convolve_pays_direct,
      .run = convolve_direct_run,
  },
  {
      .name = "tensor",
      .number = 9,
      .idea = "rows of the mask as banded matrices of bytes on the integer tensor cores",
      .on_device = true,
      .accepts = convolve_accepts_tensor,
      .pays = convolve_pays_tensor,
      .prepare = convolve_tensor_prepare,
      .run = convolve_tensor_run,
  },
  {
      .name = "fft",
      .number = 10,
      .idea = "tiles that overlap, by Fourier transforms: the same work for every mask",
      .on_device = true,
      .accepts = accepts_fft,
      .pays = convolve_pays_fft,
      .prepare = convolve_fft_prepare,
      .run = convolve_fft_run,
  },
  {
      .name = "separable",
      .number = 11,
      .idea = "a rank-1 mask as a row pass and a column pass, fused in shared memory",
      .on_device = true,
      .accepts = accepts_rank_1,
      .pays = convolve_pays_beyond_3x3,
      .run = convolve_separable_run,
  },
  {
      .name = "tiled",
      .number = 12,
      .idea = "block = output tile, the halo loaded to shared memory by all threads together",
      .on_device = true,
      .accepts = accepts_tiled,
      .pays = convolve_pays_beyond_5x5,
      .run = convolve_tiled_run,
  },
  {
      .name = "constant",
      .number = 13,
      .idea = "a thread per pixel, the mask in constant memory",
      .on_device = true,
      .accepts = accepts_parameters,
      .run = convolve_constant_run,
  },
  {
      .name = "tiled-cached",
      .number = 14,
      .idea = "shared memory holds the tile alone, halo cells come through the L2 cache",
      .on_device = true,
      .accepts = accepts_parameters,
      .run = convolve_tiled_cached_run,
  },
  {
      .name = "tiled-input",
      .number = 15,
      .idea = "block = input tile, the outer threads load and then rest",
      .on_device = true,
      .accepts = accepts_tiled_input,
      .run = convolve_tiled_input_run,
  },
  {
      .name = "global",
      .number = 16,
      .idea = "a thread per pixel, image and mask in global memory",
      .on_device = true,
      .accepts = accepts_any,
      .prepare = prepare_global,
      .run = convolve_global_run,
  },
  {
      .name = "cpu",
      .number = 17,
      .idea = "threads and vectors on the host: integers where they are exact enough, few products, running sums",
      .accepts = accepts_any,
      .prepare = convolve_cpu_prepare,
      .run = convolve_cpu_run,
  },
  {
      .name = "cpu-reference",
      .number = 18,
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

int
convolve_variant_number (int index)
{
  return convolve_variants[index].number;
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
