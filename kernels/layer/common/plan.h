/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the convolution layer share; not for users. */
#ifndef CONVOLVE_LAYER_COMMON_PLAN_H
#define CONVOLVE_LAYER_COMMON_PLAN_H

#include <string.h>

#include "common/boundary.h"
#include "convolve_layer.h"
#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

struct ConvolveLayerPlan
{
  int references;        /* atomic */
  ConvolveLayer layer;   /* of the shown filters alone: first_filter is 0 and shown is filters */
  float *weights, *bias; /* the plan's copies, which layer points to; bias is never NULL */
  const struct ConvolveLayerVariant *variant;
  ConvolveDevice *device; /* NULL for a host variant */
  ConvolvePool *pool;     /* of a host variant, or NULL */
  void *prepared;         /* what the variant derived, or NULL */
};

/* A task with what follows from it, as a variant gets it: checked, end_row set. */
typedef struct
{
  ConvolveLayerTask task;
  int conv_height, conv_width; /* before pooling */
  int out_height, out_width;
} ConvolveLayerJob;

/* One row for each way to compute a layer, defined beside the code of the variant. As ConvolveVariant. */
typedef struct ConvolveLayerVariant
{
  const char *name, *idea;
  int number; /* as in ConvolveVariant; a name that masks have too has one number */
  bool on_device;
  bool (*accepts) (const ConvolveLayerPlan *plan, const char **reason);      /* exact; NULL: every layer */
  ConvolveStatus (*prepare) (ConvolveLayerPlan *plan, ConvolveError *error); /* on the host; or NULL */
  ConvolveStatus (*load) (ConvolveLayerPlan *plan, ConvolveError *error);    /* chooses kernels; or NULL */
  void (*clear) (ConvolveLayerPlan *plan); /* frees what prepare () and load () made, all or a part of it; or NULL */
  ConvolveStatus (*run) (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error);
  bool (*fills) (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job); /* run fills too; NULL: never */
} ConvolveLayerVariant;

/* As CONVOLVE_DEVICE_FUNCTIONS and CONVOLVE_ON_DEVICE. */
#define CONVOLVE_LAYER_DEVICE_FUNCTIONS(stem) \
  CONVOLVE_EXTERN_C ConvolveStatus convolve_layer_##stem##_load (ConvolveLayerPlan *plan, ConvolveError *error); \
  CONVOLVE_EXTERN_C ConvolveStatus convolve_layer_##stem##_run (const ConvolveLayerPlan *plan, \
      const ConvolveLayerJob *job, ConvolveError *error)
#if defined CONVOLVE_RUN_LAYER_ON_DEVICE
ConvolveStatus CONVOLVE_RUN_LAYER_ON_DEVICE (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
#define CONVOLVE_LAYER_ON_DEVICE(stem) .on_device = true, .run = CONVOLVE_RUN_LAYER_ON_DEVICE
#elif defined CONVOLVE_CUDA
#define CONVOLVE_LAYER_ON_DEVICE(stem) \
  .on_device = true, .load = convolve_layer_##stem##_load, .run = convolve_layer_##stem##_run
#else
#define CONVOLVE_LAYER_ON_DEVICE(stem) .on_device = true
#endif

static inline bool
convolve_layer_variant_accepts (const ConvolveLayerVariant *variant, const ConvolveLayerPlan *plan, const char **reason)
{
  return !variant->accepts || variant->accepts (plan, reason);
}

/* All variants, best first, and a NULL at the end. */
extern const ConvolveLayerVariant *const convolve_layer_variants[];

/* Sets the task's filled channels on the device. */
ConvolveStatus convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);

static CONVOLVE_BOTH int
convolve_layer_sample_size (ConvolveLayerType type)
{
  return type == CONVOLVE_LAYER_FLOAT32 ? 4 : type == CONVOLVE_LAYER_FLOAT16 ? 2 : 1;
}

/* Where channel c of image b begins. */
static CONVOLVE_BOTH uint8_t *
convolve_layer_plane (const ConvolveLayerTensor *tensor, int b, int c)
{
  uint8_t *plane = (uint8_t *) tensor->channel[tensor->across ? 0 : c];

  if (tensor->across)
    plane += c / tensor->across * tensor->down_stride + c % tensor->across * tensor->across_stride;
  return plane + b * tensor->batch_stride;
}

static inline float
convolve_half_to_float (uint16_t half)
{
  uint32_t sign = (uint32_t) (half & 0x8000) << 16, rest = half & 0x7fff, bits;
  float value;

  if (rest >= 0x7c00)
    bits = rest << 13 | 0x7f800000;
  else if (rest >= 0x400)
    bits = (rest << 13) + (112u << 23);
  else {
    value = (float) rest / 16777216;
    memcpy (&bits, &value, sizeof (bits));
  }
  bits |= sign;
  memcpy (&value, &bits, sizeof (value));
  return value;
}

/* To the nearest, ties to even; beyond the range an infinity. */
static inline uint16_t
convolve_float_to_half (float value)
{
  uint32_t bits, sign, rest;
  int shift;

  memcpy (&bits, &value, sizeof (bits));
  sign = bits >> 16 & 0x8000;
  rest = bits & 0x7fffffff;
  if (rest > 0x7f800000)
    return sign | 0x7e00;
  if (rest >= 0x47800000)
    return sign | 0x7c00;
  if (rest < 0x33000000)
    return sign;
  if (rest >= 0x38800000) {
    rest -= 112u << 23;
    shift = 13;
  } else {
    shift = 126 - (int) (rest >> 23);
    rest = (rest & 0x7fffff) | 0x800000;
  }
  rest += (1u << (shift - 1)) - 1 + (rest >> shift & 1);
  return sign | rest >> shift;
}

/* The value of the sample at that place, as the sums have it. */
static inline float
convolve_layer_load (const ConvolveLayer *layer, const uint8_t *at)
{
  uint16_t half;
  float value;

  switch (layer->type) {
    case CONVOLVE_LAYER_FLOAT32:
      memcpy (&value, at, sizeof (value));
      return value;
    case CONVOLVE_LAYER_FLOAT16:
      memcpy (&half, at, sizeof (half));
      return convolve_half_to_float (half);
    default:
      return layer->in_scale * *at + layer->in_offset;
  }
}

/* Stores what is already in the type's own scale. */
static inline void
convolve_layer_store (ConvolveLayerType type, uint8_t *at, float value)
{
  uint16_t half;

  switch (type) {
    case CONVOLVE_LAYER_FLOAT32:
      memcpy (at, &value, sizeof (value));
      break;
    case CONVOLVE_LAYER_FLOAT16:
      half = convolve_float_to_half (value);
      memcpy (at, &half, sizeof (half));
      break;
    default:
      value = value > 0 ? value : 0;
      *at = (uint8_t) ((value < 255 ? value : 255) + 0.5f);
  }
}

#ifdef __cplusplus
}
#endif

#endif
