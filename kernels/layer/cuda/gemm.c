/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/cuda/gemm.h"

#include <math.h>
#include <stdlib.h>

/* How the reduction is ordered and what lies in shared memory, for a tile of 8 * tiles outputs. */
typedef struct
{
  ConvolveLayerTiles tiles;
  int steps;
  bool along;
  int pairs; /* of a plane */
  size_t shared;
} Geometry;

static const ConvolveLayerGemmShape shapes[CONVOLVE_LAYER_GEMM_SHAPES] = { { 4, 4 }, { 2, 8 }, { 1, 8 } };

int
convolve_layer_gemm_shape (const ConvolveLayer *layer, ConvolveLayerGemmShape *shape)
{
  int index = layer->filters > 32 ? 0 : layer->filters > 16 ? 1 : 2;

  *shape = shapes[index];
  return index;
}

static ConvolveLayerGemmShape
shape_of (const ConvolveLayer *layer)
{
  ConvolveLayerGemmShape shape;

  convolve_layer_gemm_shape (layer, &shape);
  return shape;
}

/* Fills what depends on the number of planes in shared memory at once. */
static void
take_planes (const ConvolveLayer *layer, int planes, int all, Geometry *geometry)
{
  const int size = convolve_layer_gemm_is_split (layer) ? 8 : 4;
  ConvolveLayerTiles *tiles = &geometry->tiles;
  size_t staged = 16 * sizeof (float) * (tiles->conv_width * tiles->conv_height + CONVOLVE_LAYER_GEMM_STAGED);
  size_t patches = (size_t) planes * tiles->plane * size;
  /* A stretch is four vectors a lane for each tile of filters, whatever the terms. */
  size_t ring = CONVOLVE_LAYER_GEMM_STAGES * 4 * CONVOLVE_LAYER_GEMM_LANES * 16 * shape_of (layer).filters;

  tiles->planes = planes;
  tiles->chunks = (all + planes - 1) / planes;
  geometry->steps = (int) (((int64_t) planes * geometry->pairs + 7) / 8);
  geometry->shared = ring + planes * 2 * sizeof (void *) + geometry->steps * 8 * sizeof (int)
      + ((size_t) tiles->patch_height * tiles->pitch + 3) * sizeof (int) + (patches > staged ? patches : staged);
}

/*
 * Pairs are of neighbours in a row or in channels, whichever leaves fewer without a partner; as many planes are taken
 * at once as leave the fewest steps and stay in half the shared memory that two blocks share, or, where not even one
 * does, in all of a block's. False where that is too little.
 */
static bool
plan_reduction (const ConvolveLayer *layer, size_t limit, Geometry *geometry)
{
  int taps = layer->kernel_height * layer->kernel_width;
  int along = layer->kernel_height * ((layer->kernel_width + 1) / 2) * layer->channels;
  int pairs = (layer->channels + 1) / 2 * taps, all;
  size_t usual = limit / 2 < 80 * 1024 ? limit / 2 : 80 * 1024;
  ConvolveLayerTiles *tiles = &geometry->tiles;
  int64_t best = INT64_MAX;
  int planes = 1;

  geometry->along = along < pairs;
  geometry->pairs = geometry->along ? along / layer->channels : taps;
  all = geometry->along ? layer->channels : (layer->channels + 1) / 2;
  /* What lanes load at once, eight words and mostly of four planes, or half of them where words are double, is put into
   * different banks. */
  tiles->pitch = tiles->patch_width;
  tiles->plane = tiles->pitch * tiles->patch_height;
  tiles->plane += ((layer->stride_x > 1                           ? 9
                           : convolve_layer_gemm_is_split (layer) ? 4
                                                                  : 8)
                      - tiles->plane % 32 + 32)
      % 32;
  for (int n = 1; n <= all && n <= 256; n++) {
    take_planes (layer, n, all, geometry);
    if (geometry->shared > usual)
      break;
    int64_t cost = (int64_t) tiles->chunks * (2 * geometry->steps + 3);
    if (cost <= best) {
      best = cost;
      planes = n;
    }
  }
  take_planes (layer, planes, all, geometry);
  return geometry->shared <= limit;
}

/*
 * The tile with the least input, of those of 8 * outputs * CONVOLVE_LAYER_GEMM_WARPS outputs that hold a pooling window; of equals the
 * widest.
 */
static bool
plan_tiles (const ConvolveLayerPlan *plan, Geometry *geometry, const char **reason)
{
  const ConvolveLayer *layer = &plan->layer;
  int outputs = shape_of (layer).outputs * CONVOLVE_LAYER_GEMM_WARPS * 8;
  int64_t best = INT64_MAX;
  int width = 0;
  Geometry tried = { .steps = 0 };

  for (int n = 8; n <= outputs && n <= 64; n *= 2)
    if (convolve_layer_cut (layer, n, outputs / n, &tried.tiles)) {
      int64_t input = (int64_t) tried.tiles.patch_width * tried.tiles.patch_height;

      /* For each output that is used; narrow rows are stored in small pieces. */
      input = (n == 8 ? 2 : 1) * (1024 * input + 65536) / (tried.tiles.width * tried.tiles.height);
      if (input <= best) {
        best = input;
        width = n;
      }
    }
  if (width == 0) {
    *reason = "the pooling window is larger than a block's outputs";
    return false;
  }
  *geometry = (Geometry){ .steps = 0 };
  convolve_layer_cut (layer, width, outputs / width, &geometry->tiles);
  *reason = CONVOLVE_LAYER_NEEDS_SHARED;
  return (int64_t) geometry->tiles.patch_width * geometry->tiles.patch_height < 1 << 20
      && plan_reduction (layer, convolve_device_shared_limit (plan->device), geometry);
}

static bool
accepts (const ConvolveLayerPlan *plan, const char **reason)
{
  Geometry geometry;

  *reason = "the device's compute capability is below 8.0";
  return convolve_device_capability (plan->device) >= 80 && plan_tiles (plan, &geometry, reason);
}

/* A filter's weight that meets product number product of a chunk, or 0. */
static float
weight_at (const ConvolveLayer *layer, const Geometry *geometry, int k, int chunk, int product)
{
  const ConvolveLayerTiles *tiles = &geometry->tiles;
  int columns = geometry->along ? (layer->kernel_width + 1) / 2 : layer->kernel_width;
  int pair = product / 2, plane = chunk * tiles->planes + pair % tiles->planes;
  int i = pair / tiles->planes % columns, j = pair / tiles->planes / columns;
  int c = geometry->along ? plane : 2 * plane + product % 2;

  i = geometry->along ? 2 * i + product % 2 : i;
  if (k >= layer->filters || c >= layer->channels || j >= layer->kernel_height || i >= layer->kernel_width)
    return 0;
  return layer->weights[(((size_t) k * layer->channels + c) * layer->kernel_height + j) * layer->kernel_width + i];
}

/* One term of a weight, as bits. */
static uint16_t
term_of (float weight, int term)
{
  uint16_t near = convolve_float_to_half (weight);

  return term == 0 ? near : convolve_float_to_half (weight - convolve_half_to_float (near));
}

/* Where the words of a pair of products lie in the patch, relative to the output's first. */
static int
offset_of (const ConvolveLayer *layer, const Geometry *geometry, int pair)
{
  const ConvolveLayerTiles *tiles = &geometry->tiles;
  int columns = geometry->along ? (layer->kernel_width + 1) / 2 : layer->kernel_width;
  int plane = pair % tiles->planes, i = pair / tiles->planes % columns, j = pair / tiles->planes / columns;

  return j < layer->kernel_height ? plane * tiles->plane + j * tiles->pitch + (geometry->along ? 2 * i : i) : 0;
}

/*
 * Weights as lanes load them: for each group of filters, chunk and step its tiles of 16 x 16, each term of each a
 * vector of four words to a lane. Scales come behind the biases, and the pairs' offsets behind them.
 */
static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  const ConvolveLayerGemmShape shape = shape_of (layer);
  bool split = convolve_layer_gemm_is_split (layer);
  int terms = split ? 2 : 1, groups = (layer->filters + shape.filters * 16 - 1) / (shape.filters * 16);
  Geometry geometry;
  const char *reason;

  plan_tiles (plan, &geometry, &reason);
  size_t steps = (size_t) geometry.tiles.chunks * geometry.steps;
  size_t words = groups * steps * shape.filters * terms * CONVOLVE_LAYER_GEMM_LANES * 4;
  uint32_t *packed = malloc (words * sizeof (uint32_t)), *word = packed;
  size_t pairs = (size_t) geometry.steps * 8, after = 2 * (size_t) layer->filters + pairs;
  float *bias = malloc (after * sizeof (float));
  int *powers = malloc (layer->filters * sizeof (int));
  ConvolveStatus status;

  if (packed && bias && powers) {
    for (int k = 0; k < layer->filters; k++) {
      /* The largest weight becomes 2^14 .. 2^15. */
      powers[k] = 14 - convolve_layer_exponent (layer, k);
      powers[k] = powers[k] < 126 ? powers[k] : 126;
      bias[k] = layer->bias[k];
      bias[layer->filters + k] = ldexpf (1, (split ? 15 : 0) - powers[k]);
    }
    for (size_t n = 0; n < groups * steps * shape.filters * terms; n++)
      for (int lane = 0; lane < CONVOLVE_LAYER_GEMM_LANES; lane++)
        for (int i = 0; i < 4; i++, word++) {
          size_t m = n / terms % shape.filters, step = n / terms / shape.filters % steps;
          size_t group = n / terms / shape.filters / steps;
          int k = (int) ((group * shape.filters + m) * 16) + lane / 4 + i % 2 * 8;
          int chunk = (int) (step / geometry.steps);
          int product = (int) (step % geometry.steps) * 16 + lane % 4 * 2 + i / 2 * 8;

          *word = 0;
          for (int j = 0; j < 2 && k < layer->filters; j++)
            *word |= (uint32_t) term_of (ldexpf (weight_at (layer, &geometry, k, chunk, product + j), powers[k]),
                         (int) (n % terms))
                << 16 * j;
        }
    for (size_t n = 0; n < pairs; n++)
      ((int *) bias)[2 * layer->filters + n] = offset_of (layer, &geometry, (int) n);
    status = convolve_layer_put (plan, packed, words, bias, after, error);
    if (plan->prepared) {
      ConvolveLayerPrepared *prepared = plan->prepared;

      prepared->tiles = geometry.tiles;
      prepared->gemm.slices = geometry.steps;
      prepared->gemm.row_pairs = geometry.along;
      prepared->shared = geometry.shared;
    }
  } else {
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu words of weights", words);
  }
  free (packed);
  free (bias);
  free (powers);
  return status;
}

const ConvolveLayerVariant convolve_layer_variant_gemm = {
  .name = "gemm",
  .number = 20,
  .idea = "filters times windows as a product of matrices on tensor cores, windows read where they lie",
  .accepts = accepts,
  .prepare = prepare,
  .clear = convolve_layer_device_clear,
  CONVOLVE_LAYER_ON_DEVICE (gemm),
};
