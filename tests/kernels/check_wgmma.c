/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_wgmma.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/cuda/wgmma.h"
#include "support/random.h"

enum
{
  LAYERS = 400,
  LIMIT = 227 * 1024, /* bytes of shared memory that a block may have */
  FILTERS = CONVOLVE_LAYER_WGMMA_FILTERS,
  SIDE = CONVOLVE_LAYER_WGMMA_SIDE,
  CELL = CONVOLVE_LAYER_WGMMA_CELL
};

/* A layer, what the host made of it, and the cells of one chunk as the kernel fills them. */
typedef struct
{
  ConvolveLayer layer;
  float *weights, *bias;
  ConvolveLayerWgmma geometry;
  uint16_t *packed;
  float *words;
  float *cells; /* samples */
  bool *filled; /* for each cell, whether it was written */
  int first_x;  /* the image's column of the patch's first one; its row is -pad_top */
} Check;

/* The image: small integers, without an edge. */
static float
sample_at (int c, int y, int x)
{
  return (float) ((c * 7 + y * 13 + x * 5 + 1000) % 9 - 4);
}

static void
random_layer (CheckRandom *random, Check *check)
{
  ConvolveLayer *layer = &check->layer;
  int channels = check_random_range (random, 1, check_random_one_in (random, 3) ? 40 : 6);
  int height = check_random_range (random, 1, 7), width = check_random_range (random, 1, 9);
  int filters = check_random_range (random, 1, check_random_one_in (random, 5) ? 140 : 4);
  size_t count = (size_t) filters * channels * height * width;

  check->weights = malloc (count * sizeof (float));
  check->bias = calloc (filters, sizeof (float));
  if (!check->weights || !check->bias)
    abort ();
  for (size_t i = 0; i < count; i++)
    check->weights[i] = (float) check_random_range (random, -8, 8) / 8;
  convolve_layer_init (layer, filters, channels, height, width, check->weights);
  layer->bias = check->bias;
  layer->type = CONVOLVE_LAYER_FLOAT16;
  layer->stride_x = check_random_range (random, 1, 2);
  layer->stride_y = check_random_range (random, 1, 3);
  layer->pad_left = check_random_range (random, 0, 9);
  layer->pad_top = check_random_range (random, 0, 9);
}

/* Writes the cells of a chunk by the definition in wgmma.h. Returns false where two have the same place or one has none. */
static bool
fill_chunk (Check *check, int chunk)
{
  const ConvolveLayerTiles *tiles = &check->geometry.base.tiles;
  const ConvolveLayerWgmmaPart *part = &check->geometry.part;
  int channels = CELL / part->pixels;

  memset (check->filled, 0, (size_t) tiles->planes * tiles->plane * sizeof (bool));
  for (int group = 0; group < tiles->planes; group++)
    for (int y = 0; y < tiles->patch_height; y++)
      for (int x = 0; x < tiles->pitch * part->piece; x++) {
        int cell = part->cell[x % part->piece];
        int in_row = x / part->piece * part->piece_cells + cell, place = y * part->row_cells + in_row;

        /* The kernel leaves out the columns behind the last one that is needed. */
        if (cell < 0 || (part->piece_cells == part->piece && x >= part->row_cells))
          continue;
        if (place < 0 || place >= tiles->plane || check->filled[group * tiles->plane + place])
          return false;
        check->filled[group * tiles->plane + place] = true;
        for (int n = 0; n < CELL; n++) {
          int c = (chunk * tiles->planes + group) * CELL + n % channels;

          check->cells[(size_t) (group * tiles->plane + place) * CELL + n] =
              sample_at (c, y - check->layer.pad_top, check->first_x + x + n / channels);
        }
      }
  return true;
}

/* Adds what one step of a chunk gives for an output: both of its cells, with the weights of filter k. */
static double
multiply_step (const Check *check, int chunk, int step, int k, int y, int x, bool *good)
{
  const ConvolveLayerTiles *tiles = &check->geometry.base.tiles;
  const ConvolveLayerWgmmaPart *part = &check->geometry.part;
  uint32_t word;
  double sum = 0;

  memcpy (&word, check->words + 2 * check->layer.filters + step, sizeof (word));
  for (int i = 0; i < 2; i++) {
    int place = (int) (word & 0xffff) + i * (int) (word >> 16);
    int at = place + y * check->layer.stride_y * part->row_cells + x;
    size_t tile = ((size_t) (k / FILTERS) * tiles->chunks + chunk) * part->steps + step;
    const uint16_t *weights = check->packed + (tile * 2 + i) * FILTERS * CELL + (size_t) (k % FILTERS) * CELL;

    if (at >= tiles->planes * tiles->plane || !check->filled[at]) {
      *good = false;
      return 0;
    }
    for (int n = 0; n < CELL; n++)
      sum += (double) convolve_half_to_float (weights[n]) * check->cells[(size_t) at * CELL + n];
  }
  return sum;
}

static double
defined (const Check *check, int k, int y, int x)
{
  const ConvolveLayer *layer = &check->layer;
  const float *weight = layer->weights + (size_t) k * layer->channels * layer->kernel_height * layer->kernel_width;
  double sum = 0;

  for (int c = 0; c < layer->channels; c++)
    for (int j = 0; j < layer->kernel_height; j++)
      for (int i = 0; i < layer->kernel_width; i++)
        sum += *weight++
            * sample_at (c, y * layer->stride_y + j - layer->pad_top, x * layer->stride_x + i - layer->pad_left);
  return sum;
}

/* Some outputs of the tile at the image's top left, of which the corners are the first ones. */
static bool
check_outputs (Check *check, CheckRandom *random)
{
  enum
  {
    OUTPUTS = 12
  };
  const ConvolveLayerWgmmaPart *part = &check->geometry.part;
  int k[OUTPUTS], y[OUTPUTS], x[OUTPUTS];
  double sums[OUTPUTS] = { 0 };
  bool good = true;

  for (int i = 0; i < OUTPUTS; i++) {
    k[i] = check_random_range (random, 0, check->layer.filters - 1);
    y[i] = i < 4 ? i / 2 * (SIDE - 1) : check_random_range (random, 0, SIDE - 1);
    x[i] = i < 4 ? i % 2 * (SIDE - 1) : check_random_range (random, 0, SIDE - 1);
  }
  for (int chunk = 0; chunk < check->geometry.base.tiles.chunks && good; chunk++) {
    good = fill_chunk (check, chunk);
    for (int i = 0; i < OUTPUTS && good; i++)
      for (int step = 0; step < part->steps && good; step++)
        sums[i] += multiply_step (check, chunk, step, k[i], y[i], x[i], &good);
  }
  for (int i = 0; i < OUTPUTS && good; i++)
    good = sums[i] * check->words[check->layer.filters + k[i]] == defined (check, k[i], y[i], x[i]);
  return good;
}

/* False after a failure. */
static bool
check_layer_of (CheckRandom *random)
{
  Check check = { .first_x = 0 };
  const ConvolveLayerTiles *tiles = &check.geometry.base.tiles;
  bool good;

  random_layer (random, &check);
  good = convolve_layer_wgmma_plan (&check.layer, LIMIT, &check.geometry) && check.geometry.base.shared <= LIMIT;
  if (good) {
    size_t cells = (size_t) tiles->planes * tiles->plane;

    check.first_x = -check.layer.pad_left - check.geometry.part.margin;
    check.packed = malloc (convolve_layer_wgmma_bytes (&check.layer, &check.geometry));
    check.words = malloc ((2 * (size_t) check.layer.filters + check.geometry.part.steps) * sizeof (float));
    check.cells = malloc (cells * CELL * sizeof (float));
    check.filled = malloc (cells * sizeof (bool));
    if (!check.packed || !check.words || !check.cells || !check.filled)
      abort ();
    good = check.first_x % check.geometry.part.piece == 0
        && convolve_layer_wgmma_pack (&check.layer, &check.geometry, check.packed, check.words)
        && check_outputs (&check, random);
  }
  if (!good)
    printf ("FAILED: wgmma on the host: C %d K %d %dx%d stride %d,%d padding %d,%d\n", check.layer.channels,
        check.layer.filters, check.layer.kernel_height, check.layer.kernel_width, check.layer.stride_y,
        check.layer.stride_x, check.layer.pad_top, check.layer.pad_left);
  free (check.weights);
  free (check.bias);
  free (check.packed);
  free (check.words);
  free (check.cells);
  free (check.filled);
  return good;
}

int
check_wgmma (uint64_t seed)
{
  CheckRandom random;
  int failures = 0;

  for (int i = 0; i < LAYERS; i++) {
    check_random_init (&random, seed, i);
    failures += !check_layer_of (&random);
  }
  return failures;
}
