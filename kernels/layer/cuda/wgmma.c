/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of wgmma: it sizes the patches and the chunks, lists the cells of a window, and packs the weights. */
#include "layer/cuda/wgmma.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define FILTERS CONVOLVE_LAYER_WGMMA_FILTERS
#define SIDE CONVOLVE_LAYER_WGMMA_SIDE
#define CELL CONVOLVE_LAYER_WGMMA_CELL
#define CELL_BYTES (CELL * 2)
#define PIECE_INTS 6          /* that the kernel keeps for a piece, which is two or four columns of a patch's row */
#define MAX_PATCH (1 << 14)   /* pieces, so that places have 16 bits */
#define MAX_GROUPS 64         /* of channels, in a chunk */
#define MAX_WEIGHTS (1 << 28) /* bytes of packed weights: few filters are packed as if they were 64 */
#define BLOCK_OWN 1024        /* bytes of shared memory that CUDA takes for each block */

/*
 * The usual limit of a block's shared memory, or half of what a block may have if that is less. The rest is left to the
 * level 1 cache, which holds the lines that are under way, one for each row of a patch and channel: with 113 KiB a
 * block, 3x3 filters over 64 channels take 483 us instead of 394 (tests/results/h200-layer.md). 1x1 kernels always get
 * the half. A layer that needs more than this usual amount gets up to all that a block may have.
 */
#define USUAL_SHARED (81 * 1024)

typedef ConvolveLayerWgmma Geometry;

/* A cell of a window: the taps whose weights it meets, and where it lies behind the window's first cell. */
typedef struct
{
  int group, row, column; /* of the channels; of the kernel: the first column of the cell */
  int place;              /* in cells */
} Cell;

/* Sets what follows from the groups of channels in a chunk, of all_groups, and from where the weights are. */
static void
set_chunk (const ConvolveLayer *layer, int groups, int all_groups, bool resident, Geometry *geometry)
{
  ConvolveLayerTiles *tiles = &geometry->base.tiles;
  ConvolveLayerWgmmaPart *part = &geometry->part;
  int64_t cells = (int64_t) layer->kernel_height * geometry->columns * groups;
  size_t pieces = (size_t) tiles->patch_height * tiles->pitch;

  tiles->planes = groups;
  tiles->chunks = (all_groups + groups - 1) / groups;
  part->steps = (int) ((cells + 1) / 2);
  part->buffers = 2;
  part->resident = resident;
  geometry->buffer = (size_t) groups * tiles->plane * CELL_BYTES;
  geometry->base.shared =
      (resident ? (size_t) tiles->chunks * part->steps * CONVOLVE_LAYER_WGMMA_STEP_BYTES : CONVOLVE_LAYER_WGMMA_RING)
      + part->buffers * geometry->buffer + (size_t) tiles->chunks * groups * CELL * sizeof (void *)
      + pieces * PIECE_INTS * sizeof (int)
      + (CONVOLVE_LAYER_WGMMA_STAGES + 2 * CONVOLVE_LAYER_WGMMA_MAX_BUFFERS) * sizeof (uint64_t)
      + part->steps * sizeof (int);
}

/*
 * Takes the chunks with the fewest groups in all, and of those the largest, that fit `limit` bytes. Returns false, with
 * one group to a chunk, where none fit.
 */
static bool
plan_chunks (const ConvolveLayer *layer, bool resident, size_t limit, Geometry *geometry)
{
  int groups = (layer->channels + CELL - 1) / CELL, best = 0, least = INT_MAX;

  for (int n = groups < MAX_GROUPS ? groups : MAX_GROUPS; n > 0; n--) {
    set_chunk (layer, n, groups, resident, geometry);
    if (geometry->base.shared <= limit && geometry->base.tiles.chunks * n < least) {
      best = n;
      least = geometry->base.tiles.chunks * n;
    }
  }
  set_chunk (layer, best > 0 ? best : 1, groups, resident, geometry);
  return best > 0;
}

/*
 * Takes the first of three ways that fits: all weights in the usual amount of shared memory; the ring of weights in the
 * usual amount; the ring in all that a block may have. Two blocks fit a multiprocessor with the usual amount.
 */
bool
convolve_layer_wgmma_plan (const ConvolveLayer *layer, size_t limit, Geometry *geometry)
{
  ConvolveLayerTiles *tiles = &geometry->base.tiles;
  ConvolveLayerWgmmaPart *part = &geometry->part;
  bool alone = layer->kernel_width * layer->kernel_height == 1; /* no window overlaps another one */
  size_t usual = alone || limit / CONVOLVE_LAYER_WGMMA_BLOCKS < USUAL_SHARED
      ? limit / CONVOLVE_LAYER_WGMMA_BLOCKS - BLOCK_OWN
      : USUAL_SHARED;
  int stride = layer->stride_x;
  int pixels = layer->channels > 4 ? 1 : layer->channels > 2 ? 2 : layer->channels > 1 ? 4 : 8;

  *geometry = (Geometry){ .columns = (layer->kernel_width + pixels - 1) / pixels };
  convolve_layer_cut (layer, SIDE, SIDE, tiles);
  part->pixels = pixels;
  /* Where windows overlap, fewer columns beside them are loaded with pieces of two. */
  part->piece = pixels == 1 && !alone ? 2 : 4;
  part->margin = (part->piece - layer->pad_left % part->piece) % part->piece;
  /* From the first column to the first pixel of the last window's last cell. */
  int last = part->margin + (SIDE - 1) * stride + (geometry->columns - 1) * pixels;
  tiles->pitch = (last + pixels - 1) / part->piece + 1; /* pieces */
  if ((int64_t) tiles->patch_height * tiles->pitch >= MAX_PATCH)
    return false;
  /* Only with one pixel to a cell do windows have cells at even and at odd columns, where the stride is 2. */
  bool both = stride == 1 || pixels == 1;
  part->piece_cells = part->piece / stride;
  for (int n = 0; n < part->piece; n++)
    part->cell[n] = stride == 1 ? n : pixels > 1 && n % 2 != part->margin % 2 ? -1 : n / 2;
  part->row_cells = stride == 1 ? last + 1 : part->piece_cells * tiles->pitch;
  tiles->plane = tiles->patch_height * part->row_cells * (stride == 2 && both ? 2 : 1);
  if (stride == 2 && both)
    for (int n = 1; n < part->piece; n += 2)
      part->cell[n] = tiles->plane / 2 + n / 2;
  if (!plan_chunks (layer, true, usual, geometry) && !plan_chunks (layer, false, usual, geometry)
      && !plan_chunks (layer, false, limit, geometry))
    return false;
  size_t allowed = geometry->base.shared <= usual ? usual : limit;
  while (part->buffers < CONVOLVE_LAYER_WGMMA_MAX_BUFFERS && geometry->base.shared + geometry->buffer <= allowed) {
    part->buffers++;
    geometry->base.shared += geometry->buffer;
  }
  return true;
}

size_t
convolve_layer_wgmma_bytes (const ConvolveLayer *layer, const Geometry *geometry)
{
  size_t groups = (layer->filters + FILTERS - 1) / FILTERS;

  return groups * geometry->base.tiles.chunks * geometry->part.steps * CONVOLVE_LAYER_WGMMA_STEP_BYTES;
}

static bool
accepts (const ConvolveLayerPlan *plan, ConvolveFound *found, const char **reason)
{
  const ConvolveLayer *layer = &plan->layer;
  Geometry geometry;

  if (!convolve_layer_is_plain (layer, reason))
    return false;
  if (convolve_device_capability (plan->device) != 90)
    *reason = "the device's compute capability is not 9.0";
  else if (layer->type != CONVOLVE_LAYER_FLOAT16)
    *reason = "samples are not float16";
  else if (layer->pool_width * layer->pool_height > 1 || layer->pool_stride_x * layer->pool_stride_y > 1)
    *reason = "the layer pools";
  else if (layer->stride_x > 2)
    *reason = "the horizontal stride is above 2";
  else if (!convolve_layer_wgmma_plan (layer, convolve_device_shared_limit (plan->device), &geometry))
    *reason = CONVOLVE_LAYER_NEEDS_SHARED;
  else if (convolve_layer_wgmma_bytes (layer, &geometry) > MAX_WEIGHTS)
    *reason = "the weights, packed for 64 filters, are larger than 256 MiB";
  else
    return convolve_found_copy (found, &geometry, sizeof (geometry), reason);
  return false;
}

static int
compare_places (const void *first, const void *second)
{
  int a = ((const Cell *) first)->place, b = ((const Cell *) second)->place;

  return (a > b) - (a < b);
}

/* Lists the cells of a window, in the order of their places. The two cells of a step are next to each other in it. */
static void
list_cells (const ConvolveLayer *layer, const Geometry *geometry, Cell *cells)
{
  const ConvolveLayerWgmmaPart *part = &geometry->part;
  int count = 0;

  for (int group = 0; group < geometry->base.tiles.planes; group++)
    for (int row = 0; row < layer->kernel_height; row++)
      for (int n = 0; n < geometry->columns; n++, count++) {
        int column = n * part->pixels, at = column + part->margin;
        int place = at / part->piece * part->piece_cells + part->cell[at % part->piece];

        cells[count] = (Cell){ group, row, column, group * geometry->base.tiles.plane + row * part->row_cells + place };
      }
  qsort (cells, count, sizeof (Cell), compare_places);
}

/* The weight of filter k for a sample of a cell; 0 where there is no such filter, channel or kernel column. */
static float
weight_at (const ConvolveLayer *layer, const Geometry *geometry, int k, int chunk, const Cell *cell, int sample)
{
  int channels = CELL / geometry->part.pixels, column = cell->column + sample / channels;
  int c = (chunk * geometry->base.tiles.planes + cell->group) * CELL + sample % channels;

  if (k >= layer->filters || c >= layer->channels || column >= layer->kernel_width)
    return 0;
  return layer
      ->weights[(((size_t) k * layer->channels + c) * layer->kernel_height + cell->row) * layer->kernel_width + column];
}

static void
pack_weights (const ConvolveLayer *layer, const Geometry *geometry, const Cell *cells, int count, const int *exponents,
    uint16_t *packed)
{
  int groups = (layer->filters + FILTERS - 1) / FILTERS;

  for (int group = 0; group < groups; group++)
    for (int chunk = 0; chunk < geometry->base.tiles.chunks; chunk++)
      for (int n = 0; n < 2 * geometry->part.steps; n++)
        for (int k = group * FILTERS; k < (group + 1) * FILTERS; k++)
          for (int i = 0; i < CELL; i++, packed++) {
            float weight = n < count ? weight_at (layer, geometry, k, chunk, &cells[n], i) : 0;

            *packed = weight != 0 ? convolve_float_to_half (ldexpf (weight, exponents[k])) : 0;
          }
}

/* The last step of an odd number of cells has its first cell twice, with weights of 0. */
static void
pack_steps (const Geometry *geometry, const Cell *cells, int count, float *words)
{
  for (int n = 0; n < geometry->part.steps; n++) {
    int distance = 2 * n + 1 < count ? cells[2 * n + 1].place - cells[2 * n].place : 0;
    uint32_t word = (uint32_t) cells[2 * n].place | (uint32_t) distance << 16;

    memcpy (&words[n], &word, sizeof (word));
  }
}

bool
convolve_layer_wgmma_pack (const ConvolveLayer *layer, const Geometry *geometry, uint16_t *packed, float *bias)
{
  int count = layer->kernel_height * geometry->columns * geometry->base.tiles.planes;
  int *exponents = malloc (layer->filters * sizeof (int));
  Cell *cells = malloc (count * sizeof (Cell));
  bool done = exponents && cells;

  if (done) {
    convolve_layer_scale_filters (layer, 0, exponents, bias);
    list_cells (layer, geometry, cells);
    pack_weights (layer, geometry, cells, count, exponents, packed);
    pack_steps (geometry, cells, count, bias + 2 * layer->filters);
  }
  free (exponents);
  free (cells);
  return done;
}

static ConvolveStatus
prepare (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  const Geometry *geometry = plan->prepared;
  size_t bytes = convolve_layer_wgmma_bytes (layer, geometry);
  size_t bias_words = 2 * (size_t) layer->filters + geometry->part.steps;
  uint16_t *packed = malloc (bytes);
  float *bias = malloc (bias_words * sizeof (float));
  ConvolveStatus status;

  if (packed && bias && convolve_layer_wgmma_pack (layer, geometry, packed, bias)) {
    status = convolve_layer_put (plan, packed, bytes / sizeof (uint32_t), bias, bias_words, error);
  } else {
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu bytes of weights", bytes);
  }
  free (packed);
  free (bias);
  return status == CONVOLVE_OK ? convolve_layer_wgmma_load (plan, error) : status;
}

const ConvolveLayerVariant convolve_layer_variant_wgmma = {
  .name = "wgmma",
  .number = 23,
  .on_device = true,
  .idea = "implicit GEMM by four warps at a time, whose tensor cores read weights and windows from shared memory",
  .accepts = accepts,
  .prepare = prepare,
  .clear = convolve_layer_device_clear,
  .run = convolve_layer_wgmma_run,
};
