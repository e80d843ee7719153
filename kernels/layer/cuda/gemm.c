/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of gemm: it sizes the tile and the chunks, and packs the weights in the order of the lanes. */
#include "layer/cuda/gemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layer/cuda/pointwise.h"

#define LANES CONVOLVE_LAYER_GEMM_LANES
#define FILTERS CONVOLVE_LAYER_GEMM_FILTERS
#define PRODUCTS CONVOLVE_LAYER_GEMM_PRODUCTS
#define PAIRS CONVOLVE_LAYER_GEMM_PAIRS
#define WORDS 4             /* of a vector, which a lane loads at once */
#define BANKS 32            /* of shared memory, 4 bytes wide */
#define MAX_PLANES 256      /* of a chunk */
#define MAX_PATCH (1 << 20) /* positions of a plane, so that sizes in bytes stay in an int */

/*
 * A block takes at most this much shared memory, and at most half of what a block may have, so that several blocks fit
 * a multiprocessor. A layer whose planes do not fit that takes more.
 */
#define USUAL_SHARED (80 * 1024)

/* What a chunk costs besides its slices, in half slices; what a tile costs besides its input, in samples. */
#define CHUNK_COST 3
#define TILE_COST 64

typedef ConvolveLayerGemm Geometry;

static const ConvolveLayerGemmShape shapes[CONVOLVE_LAYER_GEMM_SHAPES] = { { 4, 4 }, { 2, 8 }, { 1, 8 } };

int
convolve_layer_gemm_shape (const ConvolveLayer *layer, ConvolveLayerGemmShape *shape)
{
  int index = layer->filters > 2 * FILTERS ? 0 : layer->filters > FILTERS ? 1 : 2;

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

/* Sets what follows from the number of planes in a chunk; the layer has all_planes of them. */
static void
set_chunk (const ConvolveLayer *layer, int planes, int all_planes, Geometry *geometry)
{
  const size_t pair_size = convolve_layer_gemm_is_split (layer) ? 8 : 4;
  ConvolveLayerTiles *tiles = &geometry->base.tiles;
  size_t ring = (size_t) CONVOLVE_LAYER_GEMM_STAGES * CONVOLVE_LAYER_GEMM_STAGE_VECTORS * LANES * WORDS * sizeof (int)
      * shape_of (layer).filters;
  size_t channels = 2 * planes * sizeof (void *); /* at most */
  size_t patches = planes * tiles->plane * pair_size;
  size_t staged = FILTERS * sizeof (float) * (tiles->conv_width * tiles->conv_height + CONVOLVE_LAYER_GEMM_STAGED_GAP);
  size_t sources = ((size_t) tiles->patch_height * tiles->pitch + 1) * sizeof (int), largest = 2 * sizeof (int);

  tiles->planes = planes;
  tiles->chunks = (all_planes + planes - 1) / planes;
  geometry->slices = (int) (((int64_t) planes * geometry->plane_pairs + PAIRS - 1) / PAIRS);
  geometry->base.shared = ring + channels + (patches > staged ? patches : staged)
      + geometry->slices * PAIRS * sizeof (int) + sources + largest;
}

/*
 * The remainder of a plane's size modulo the banks that avoids bank conflicts. The lanes of a warp load pairs of mostly
 * four planes under eight neighbouring outputs: lane 4g + t loads word g * stride + t * plane (mma.cuh). With a stride
 * of 1 and words of 4 bytes, a remainder of 8 puts all lanes into different banks: 0 .. 7, 8 .. 15, 16 .. 23, 24 .. 31.
 * Words of 8 bytes are loaded by half a warp at a time, which has four outputs: a remainder of 4. Strides above 1 leave
 * gaps between the outputs' banks, which an odd remainder fills.
 */
static int
plane_remainder (const ConvolveLayer *layer)
{
  if (layer->stride_x > 1)
    return 9;
  return convolve_layer_gemm_is_split (layer) ? 4 : 8;
}

/*
 * Chooses the kind of pairs that needs fewer of them, and the number of planes in a chunk: the cheapest number that
 * keeps to USUAL_SHARED, or one plane where no number does. Returns false where not even one plane fits `limit` bytes.
 */
static bool
plan_reduction (const ConvolveLayer *layer, size_t limit, Geometry *geometry)
{
  int taps = layer->kernel_height * layer->kernel_width;
  int plane_row_pairs = layer->kernel_height * ((layer->kernel_width + 1) / 2);
  int row_pairs = plane_row_pairs * layer->channels, channel_pairs = (layer->channels + 1) / 2 * taps;
  size_t usual = limit / 2 < USUAL_SHARED ? limit / 2 : USUAL_SHARED;
  ConvolveLayerTiles *tiles = &geometry->base.tiles;
  int64_t best = INT64_MAX;
  int planes = 1, all_planes;

  geometry->row_pairs = row_pairs < channel_pairs;
  geometry->plane_pairs = geometry->row_pairs ? plane_row_pairs : taps;
  all_planes = geometry->row_pairs ? layer->channels : (layer->channels + 1) / 2;
  tiles->pitch = tiles->patch_width;
  tiles->plane = tiles->pitch * tiles->patch_height;
  tiles->plane += (plane_remainder (layer) - tiles->plane % BANKS + BANKS) % BANKS;
  for (int n = 1; n <= all_planes && n <= MAX_PLANES; n++) {
    set_chunk (layer, n, all_planes, geometry);
    if (geometry->base.shared > usual)
      break;
    int64_t cost = (int64_t) tiles->chunks * (2 * geometry->slices + CHUNK_COST);
    if (cost <= best) {
      best = cost;
      planes = n;
    }
  }
  set_chunk (layer, planes, all_planes, geometry);
  return geometry->base.shared <= limit;
}

/*
 * Chooses the tile and plans the reduction for it. All tiles have the same number of outputs before pooling; the tile
 * with the least input for each output after pooling is taken, and among equals the widest. Returns false, with a
 * reason, where a pooling window or the patch is too large.
 */
static bool
plan_tiles (const ConvolveLayerPlan *plan, Geometry *geometry, const char **reason)
{
  const ConvolveLayer *layer = &plan->layer;
  int outputs = shape_of (layer).outputs * CONVOLVE_LAYER_GEMM_WARPS * CONVOLVE_LAYER_GEMM_OUTPUTS;
  int64_t best = INT64_MAX;
  int width = 0;
  Geometry tried = { .plane_pairs = 0 };

  for (int n = CONVOLVE_LAYER_GEMM_OUTPUTS; n <= outputs && n <= 64; n *= 2)
    if (convolve_layer_cut (layer, n, outputs / n, &tried.base.tiles)) {
      int64_t input = (int64_t) tried.base.tiles.patch_width * tried.base.tiles.patch_height;
      /* Rows of one mma tile are stored in small pieces, so they count twice. Costs are in 1/1024 of a sample. */
      int64_t cost = (n == CONVOLVE_LAYER_GEMM_OUTPUTS ? 2 : 1) * 1024 * (input + TILE_COST)
          / (tried.base.tiles.width * tried.base.tiles.height);

      if (cost <= best) {
        best = cost;
        width = n;
      }
    }
  if (width == 0) {
    *reason = "the pooling window is larger than a block's outputs";
    return false;
  }
  *geometry = (Geometry){ .plane_pairs = 0 };
  convolve_layer_cut (layer, width, outputs / width, &geometry->base.tiles);
  *reason = CONVOLVE_LAYER_NEEDS_SHARED;
  return (int64_t) geometry->base.tiles.patch_width * geometry->base.tiles.patch_height < MAX_PATCH
      && plan_reduction (layer, convolve_device_shared_limit (plan->device), geometry);
}

static bool
accepts (const ConvolveLayerPlan *plan, ConvolveFound *found, const char **reason)
{
  Geometry geometry;

  if (!convolve_layer_is_plain (&plan->layer, reason))
    return false;
  *reason = "the device's compute capability is below 8.0";
  if (convolve_device_capability (plan->device) < 80)
    return false;
  if (convolve_layer_pointwise_takes (plan)) {
    found->kernel = CONVOLVE_LAYER_GEMM_POINTWISE;
    return convolve_layer_pointwise_find (&plan->layer, found, reason);
  }
  found->kernel = CONVOLVE_LAYER_GEMM_WINDOWS;
  return plan_tiles (plan, &geometry, reason) && convolve_found_copy (found, &geometry, sizeof (geometry), reason);
}

/* The kernel columns that have a pair of their own. */
static int
pair_columns (const ConvolveLayer *layer, const Geometry *geometry)
{
  return geometry->row_pairs ? (layer->kernel_width + 1) / 2 : layer->kernel_width;
}

/* The weight of filter k for a product of a chunk; 0 where there is no such filter, channel or kernel row. */
static float
weight_at (const ConvolveLayer *layer, const Geometry *geometry, int k, int chunk, int product)
{
  const ConvolveLayerTiles *tiles = &geometry->base.tiles;
  int columns = pair_columns (layer, geometry), pair = product / 2, second = product % 2;
  int plane = chunk * tiles->planes + pair % tiles->planes;
  int i = pair / tiles->planes % columns, j = pair / tiles->planes / columns;
  int c = geometry->row_pairs ? plane : 2 * plane + second;

  i = geometry->row_pairs ? 2 * i + second : i;
  if (k >= layer->filters || c >= layer->channels || j >= layer->kernel_height || i >= layer->kernel_width)
    return 0;
  return layer->weights[(((size_t) k * layer->channels + c) * layer->kernel_height + j) * layer->kernel_width + i];
}

/* From the first element of a window to a pair of a chunk, in elements of the patches; 0 for pairs without weights. */
static int
pair_offset (const ConvolveLayer *layer, const Geometry *geometry, int pair)
{
  const ConvolveLayerTiles *tiles = &geometry->base.tiles;
  int columns = pair_columns (layer, geometry);
  int plane = pair % tiles->planes, i = pair / tiles->planes % columns, j = pair / tiles->planes / columns;

  if (j >= layer->kernel_height)
    return 0;
  return plane * tiles->plane + j * tiles->pitch + (geometry->row_pairs ? 2 * i : i);
}

/* The bits of a weight's term in float16: 0 the nearest float16, 1 what is missing. */
static uint16_t
term_of (float weight, int term)
{
  uint16_t nearest = convolve_float_to_half (weight);

  return term == 0 ? nearest : convolve_float_to_half (weight - convolve_half_to_float (nearest));
}

/*
 * Packs the weights as lanes load them: for each group of filters and each slice, the mma tiles of 16 filters; for each
 * of these, one vector for each term and lane. The words of a vector are a.x to a.w in mma.cuh. For example word 1 of
 * lane 6 has the weights of filter 9 for products 4 and 5.
 */
static void
pack_weights (const ConvolveLayer *layer, const Geometry *geometry, const int *exponents, uint32_t *word)
{
  const ConvolveLayerGemmShape shape = shape_of (layer);
  int terms = convolve_layer_gemm_is_split (layer) ? 2 : 1, slices = geometry->slices;
  int groups = (layer->filters + shape.filters * FILTERS - 1) / (shape.filters * FILTERS);

  for (int group = 0; group < groups; group++)
    for (int64_t slice = 0; slice < (int64_t) geometry->base.tiles.chunks * slices; slice++)
      for (int m = 0; m < shape.filters; m++)
        for (int term = 0; term < terms; term++)
          for (int lane = 0; lane < LANES; lane++)
            for (int i = 0; i < WORDS; i++, word++) {
              int g = lane / 4, t = lane % 4;
              int k = (group * shape.filters + m) * FILTERS + g + i % 2 * 8;
              int chunk = (int) (slice / slices), product = (int) (slice % slices) * PRODUCTS + 2 * t + i / 2 * 8;

              *word = 0;
              for (int j = 0; j < 2 && k < layer->filters; j++) {
                float weight = ldexpf (weight_at (layer, geometry, k, chunk, product + j), exponents[k]);

                *word |= (uint32_t) term_of (weight, term) << 16 * j;
              }
            }
}

/* Weights are packed; behind the biases come the scales of the filters, and behind these the offsets of the pairs. */
static ConvolveStatus
put_weights (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  const ConvolveLayerGemmShape shape = shape_of (layer);
  size_t terms = convolve_layer_gemm_is_split (layer) ? 2 : 1;
  size_t groups = (layer->filters + shape.filters * FILTERS - 1) / (shape.filters * FILTERS);
  const Geometry *geometry = plan->prepared;

  if (plan->kernel == CONVOLVE_LAYER_GEMM_POINTWISE)
    return convolve_layer_pointwise_put (plan, error);
  size_t slices = (size_t) geometry->base.tiles.chunks * geometry->slices;
  size_t words = groups * slices * shape.filters * terms * LANES * WORDS;
  size_t pairs = (size_t) geometry->slices * PAIRS, bias_words = 2 * (size_t) layer->filters + pairs;
  uint32_t *packed = malloc (words * sizeof (uint32_t));
  float *bias = malloc (bias_words * sizeof (float));
  int *exponents = malloc (layer->filters * sizeof (int));
  ConvolveStatus status;

  if (packed && bias && exponents) {
    convolve_layer_scale_filters (layer, convolve_layer_gemm_is_split (layer) ? CONVOLVE_LAYER_GEMM_COMMON_EXPONENT : 0,
        exponents, bias);
    pack_weights (layer, geometry, exponents, packed);
    /* The kernel reads these words as integers. */
    for (size_t n = 0; n < pairs; n++) {
      int offset = pair_offset (layer, geometry, (int) n);

      memcpy (&bias[2 * layer->filters + n], &offset, sizeof (offset));
    }
    status = convolve_layer_put (plan, packed, words, bias, bias_words, error);
  } else {
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu words of weights", words);
  }
  free (packed);
  free (bias);
  free (exponents);
  return status;
}

static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  ConvolveStatus status = put_weights (plan, error);

  return status == CONVOLVE_OK ? convolve_layer_gemm_load (plan, error) : status;
}

const ConvolveLayerVariant convolve_layer_variant_gemm = {
  .name = "gemm",
  .number = 20,
  .on_device = true,
  .idea = "implicit GEMM on tensor cores: filters times windows of the input, without an im2col matrix in memory",
  .accepts = accepts,
  .prepare = prepare,
  .clear = convolve_layer_device_clear,
  .run = convolve_layer_gemm_run,
};
