/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host side of gemm's 1x1 kernels: which layers they do, and the weights in the order of the lanes. */
#include "layer/cuda/pointwise.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#define LANES 32
#define WORDS 4 /* of a lane's vector of weights */
#define FILTERS CONVOLVE_LAYER_POINTWISE_FILTERS
#define STEP CONVOLVE_LAYER_POINTWISE_STEP

/*
 * A filter's largest weight must not be smaller than 2^-96 in float32: the parts of its weights that are lost below TF32's
 * smallest number, 2^-136, then are small beside what the promise allows.
 */
#define LEAST_EXPONENT (-96)

/* TF32 has 10 of the 23 bits of float32's fraction. */
#define DROPPED_BITS 13

static int
steps_of (const ConvolveLayer *layer)
{
  return (layer->channels + STEP - 1) / STEP;
}

int
convolve_layer_pointwise_shape (const ConvolveLayer *layer)
{
  return layer->filters > 2 * FILTERS ? 4 : layer->filters > FILTERS ? 2 : 1;
}

/* The groups of filters, each of which is a block's. */
static int
groups_of (const ConvolveLayer *layer)
{
  return (layer->filters - 1) / (convolve_layer_pointwise_shape (layer) * FILTERS) + 1;
}

/* The bytes of the weights of a group. */
static size_t
group_bytes (const ConvolveLayer *layer)
{
  return (size_t) steps_of (layer) * convolve_layer_pointwise_shape (layer)
      * (layer->type == CONVOLVE_LAYER_FLOAT16 ? CONVOLVE_LAYER_POINTWISE_HALVES_BYTES
                                               : CONVOLVE_LAYER_POINTWISE_FLOATS_BYTES);
}

/* The shared memory of a block: weights, rings, and the addresses and factors that the kernel keeps. */
static size_t
shared_bytes (const ConvolveLayer *layer)
{
  size_t filters = (size_t) convolve_layer_pointwise_shape (layer) * FILTERS;
  size_t stages = layer->type == CONVOLVE_LAYER_FLOAT16 ? CONVOLVE_LAYER_POINTWISE_HALVES_STAGES
                                                        : CONVOLVE_LAYER_POINTWISE_FLOATS_STAGES;

  return group_bytes (layer) + CONVOLVE_LAYER_POINTWISE_WARPS * stages * STEP * CONVOLVE_LAYER_POINTWISE_PITCH
      + ((size_t) steps_of (layer) * STEP + filters) * sizeof (void *) + filters * 2 * sizeof (float);
}

bool
convolve_layer_pointwise_takes (const ConvolveLayerPlan *plan)
{
  const ConvolveLayer *layer = &plan->layer;

  if (layer->kernel_height > 1 || layer->kernel_width > 1 || layer->type == CONVOLVE_LAYER_U8
      || layer->pad_top + layer->pad_bottom + layer->pad_left + layer->pad_right > 0 || layer->pool_height > 1
      || layer->pool_width > 1 || layer->pool_stride_y > 1 || layer->pool_stride_x > 1
      || shared_bytes (layer) > convolve_device_shared_limit (plan->device))
    return false;
  for (int k = 0; k < layer->filters && layer->type == CONVOLVE_LAYER_FLOAT32; k++) {
    int exponent = convolve_layer_exponent (layer, k);

    if (exponent < LEAST_EXPONENT && exponent > INT_MIN / 2)
      return false;
  }
  return true;
}

/* The weight of filter k for channel c; 0 where there is no such filter or channel. */
static float
weight_at (const ConvolveLayer *layer, int k, int c)
{
  return k < layer->filters && c < layer->channels ? layer->weights[(size_t) k * layer->channels + c] : 0;
}

/* The nearest number with a fraction of 10 bits; a number that would become infinite is rounded down. */
static float
round_to_tf32 (float value)
{
  uint32_t bits, rounded;

  memcpy (&bits, &value, sizeof (bits));
  rounded = bits + (1u << (DROPPED_BITS - 1)) - 1 + (bits >> DROPPED_BITS & 1);
  if ((rounded & CONVOLVE_FLOAT_INFINITY) == CONVOLVE_FLOAT_INFINITY)
    rounded = bits;
  rounded &= ~0u << DROPPED_BITS;
  memcpy (&value, &rounded, sizeof (value));
  return value;
}

/* The word of the weights of filter k for channel c: 0 the nearest number of TF32, 1 what is missing. */
static uint32_t
float_word (const ConvolveLayer *layer, int k, int c, int term)
{
  float weight = weight_at (layer, k, c), nearest = round_to_tf32 (weight);
  uint32_t word;

  if (term == 1)
    nearest = round_to_tf32 (weight - nearest);
  memcpy (&word, &nearest, sizeof (word));
  return word;
}

/* Two weights of filter k in float16, the first in the low bits. */
static uint32_t
halves_word (const ConvolveLayer *layer, int k, int first, int second, int exponent)
{
  return convolve_float_to_half (ldexpf (weight_at (layer, k, first), exponent))
      | (uint32_t) convolve_float_to_half (ldexpf (weight_at (layer, k, second), exponent)) << 16;
}

size_t
convolve_layer_pointwise_words (const ConvolveLayer *layer)
{
  return group_bytes (layer) / sizeof (uint32_t) * groups_of (layer);
}

void
convolve_layer_pointwise_pack (const ConvolveLayer *layer, const int *exponents, uint32_t *packed)
{
  bool halves = layer->type == CONVOLVE_LAYER_FLOAT16;
  int shape = convolve_layer_pointwise_shape (layer), parts = halves ? 1 : 2;
  uint32_t *word = packed;

  for (int group = 0; group < groups_of (layer); group++)
    for (int part = 0; part < steps_of (layer) * parts; part++)
      for (int m = 0; m < shape; m++)
        for (int term = 0; term < parts; term++)
          for (int lane = 0; lane < LANES; lane++)
            for (int i = 0; i < WORDS; i++, word++) {
              int k = (group * shape + m) * FILTERS + lane / 4 + i % 2 * 8, t = lane % 4;

              if (halves)
                *word = halves_word (layer, k, part * STEP + i / 2 * 8 + t, part * STEP + i / 2 * 8 + t + 4,
                    k < layer->filters ? exponents[k] : 0);
              else
                *word = float_word (layer, k, part * STEP / 2 + i / 2 * 4 + t, term);
            }
}

bool
convolve_layer_pointwise_find (const ConvolveLayer *layer, ConvolveFound *found, const char **reason)
{
  ConvolveLayerPointwise pointwise = { .base.shared = shared_bytes (layer), .steps = steps_of (layer) };

  return convolve_found_copy (found, &pointwise, sizeof (pointwise), reason);
}

/* Behind the biases come the factors of the sums. */
ConvolveStatus
convolve_layer_pointwise_put (ConvolveLayerPlan *plan, ConvolveError *error)
{
  const ConvolveLayer *layer = &plan->layer;
  size_t words = convolve_layer_pointwise_words (layer);
  uint32_t *packed = malloc (words * sizeof (uint32_t));
  float *bias = malloc (2 * layer->filters * sizeof (float));
  int *exponents = malloc (layer->filters * sizeof (int));
  ConvolveStatus status;

  if (packed && bias && exponents) {
    convolve_layer_scale_filters (layer, 0, exponents, bias);
    if (layer->type == CONVOLVE_LAYER_FLOAT32)
      for (int k = 0; k < layer->filters; k++)
        bias[layer->filters + k] = 1;
    convolve_layer_pointwise_pack (layer, exponents, packed);
    status = convolve_layer_put (plan, packed, words, bias, 2 * layer->filters, error);
  } else {
    status = convolve_fail (error, CONVOLVE_NO_MEMORY, 0, "no memory for %zu words of weights", words);
  }
  free (packed);
  free (bias);
  free (exponents);
  return status;
}
