/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels/check_pointwise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/cuda/pointwise.h"
#include "support/random.h"

enum
{
  LAYERS = 200,
  LANES = 32,
  WORDS = 4,               /* of a lane's vector */
  TF32_UNUSED = 0x00001fff /* bits of a float32 that TF32 does not have */
};

/* A layer and what the host made of it. */
typedef struct
{
  ConvolveLayer layer;
  float *weights, *bias;
  int *exponents;
  uint32_t *packed;
} Check;

static void
random_layer (CheckRandom *random, Check *check)
{
  ConvolveLayer *layer = &check->layer;
  int channels = check_random_range (random, 1, check_random_one_in (random, 3) ? 150 : 40);
  int filters = check_random_range (random, 1, check_random_one_in (random, 3) ? 150 : 40);
  size_t count = (size_t) filters * channels;

  convolve_layer_init (layer, filters, channels, 1, 1, NULL);
  check->weights = malloc (count * sizeof (float));
  check->bias = calloc (2 * (size_t) filters, sizeof (float));
  check->exponents = malloc (filters * sizeof (int));
  if (!check->weights || !check->bias || !check->exponents)
    abort ();
  for (size_t i = 0; i < count; i++)
    check->weights[i] = (float) ldexp (2 * check_random_unit (random) - 1, check_random_range (random, -20, 20));
  layer->weights = check->weights;
  layer->bias = check->bias;
  layer->type = check_random_one_in (random, 2) ? CONVOLVE_LAYER_FLOAT16 : CONVOLVE_LAYER_FLOAT32;
}

/*
 * The word of a 16 x 8 or 16 x 16 matrix of weights in which row `row` has the pair of products 2 * pair and 2 * pair + 1,
 * or in TF32 product `pair`: vector 4g + t has it in a.x or a.z, and for row g + 8 in a.y or a.w.
 */
static uint32_t
word_at (const uint32_t *matrix, int row, int pair)
{
  int lane = row % 8 * 4 + pair % 4;

  return matrix[lane * WORDS + pair / 4 * 2 + row / 8];
}

/* Whether the tensor cores find the weight of filter k for channel c, or 0 where the layer has none. */
static bool
check_half (const Check *check, int k, int c, int steps, int tiles)
{
  const ConvolveLayer *layer = &check->layer;
  int filters = tiles * CONVOLVE_LAYER_POINTWISE_FILTERS, place = c % CONVOLVE_LAYER_POINTWISE_STEP;
  size_t matrix = ((size_t) (k / filters) * steps + c / CONVOLVE_LAYER_POINTWISE_STEP) * tiles
      + k % filters / CONVOLVE_LAYER_POINTWISE_FILTERS;
  /* Channels t and t + 4 are a pair, and behind the four pairs of channels 0 .. 7 come those of 8 .. 15. */
  uint32_t word =
      word_at (check->packed + matrix * LANES * WORDS, k % CONVOLVE_LAYER_POINTWISE_FILTERS, place / 8 * 4 + place % 4);
  double weight = convolve_half_to_float ((uint16_t) (place % 8 < 4 ? word : word >> 16)), expected;

  if (k >= layer->filters || c >= layer->channels)
    return weight == 0;
  expected = ldexp (layer->weights[(size_t) k * layer->channels + c], check->exponents[k]);
  return fabs (weight - expected) <= fabs (expected) / 2048 + ldexp (1, -25);
}

static bool
check_float (const Check *check, int k, int c, int steps, int tiles)
{
  const ConvolveLayer *layer = &check->layer;
  int filters = tiles * CONVOLVE_LAYER_POINTWISE_FILTERS;
  size_t half = (size_t) (k / filters) * steps * 2 + c / 8;
  size_t matrix = (half * tiles + k % filters / CONVOLVE_LAYER_POINTWISE_FILTERS) * 2;
  double sum = 0, expected;
  float terms[2];

  for (int i = 0; i < 2; i++) {
    uint32_t word = word_at (check->packed + (matrix + i) * LANES * WORDS, k % CONVOLVE_LAYER_POINTWISE_FILTERS, c % 8);

    if (word & TF32_UNUSED)
      return false;
    memcpy (&terms[i], &word, sizeof (word));
    sum += terms[i];
  }
  if (k >= layer->filters || c >= layer->channels)
    return terms[0] == 0 && terms[1] == 0;
  expected = layer->weights[(size_t) k * layer->channels + c];
  return fabs (terms[0] - expected) <= fabs (expected) / 2048 && fabs (sum - expected) <= fabs (expected) / (1 << 22);
}

/* False after a failure. */
static bool
check_layer_of (CheckRandom *random)
{
  Check check = { .packed = NULL };
  int steps, tiles, filters;
  size_t words;
  bool halves, good;

  random_layer (random, &check);
  halves = check.layer.type == CONVOLVE_LAYER_FLOAT16;
  steps = (check.layer.channels + CONVOLVE_LAYER_POINTWISE_STEP - 1) / CONVOLVE_LAYER_POINTWISE_STEP;
  tiles = convolve_layer_pointwise_shape (&check.layer);
  filters = tiles * CONVOLVE_LAYER_POINTWISE_FILTERS;
  filters *= (check.layer.filters + filters - 1) / filters;
  words = (size_t) steps * filters / CONVOLVE_LAYER_POINTWISE_FILTERS * (halves ? 1 : 4) * LANES * WORDS;
  convolve_layer_scale_filters (&check.layer, 0, check.exponents, check.bias);
  good = convolve_layer_pointwise_words (&check.layer) == words;
  if (good) {
    check.packed = malloc (words * sizeof (uint32_t));
    if (!check.packed)
      abort ();
    convolve_layer_pointwise_pack (&check.layer, check.exponents, check.packed);
    for (int k = 0; k < filters && good; k++)
      for (int c = 0; c < steps * CONVOLVE_LAYER_POINTWISE_STEP && good; c++)
        good = halves ? check_half (&check, k, c, steps, tiles) : check_float (&check, k, c, steps, tiles);
    free (check.packed);
  }
  if (!good)
    printf ("FAILED: 1x1 kernels of gemm on the host: float%d C %d K %d\n", halves ? 16 : 32, check.layer.channels,
        check.layer.filters);
  free (check.weights);
  free (check.bias);
  free (check.exponents);
  return good;
}

int
check_pointwise (uint64_t seed)
{
  CheckRandom random;
  int failures = 0;

  for (int i = 0; i < LAYERS; i++) {
    check_random_init (&random, seed, i);
    failures += !check_layer_of (&random);
  }
  return failures;
}
