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

/* One row for each way to compute a layer. */
typedef struct ConvolveLayerVariant
{
  const char *name, *idea;
  int number; /* as in ConvolveVariant; a name that masks have too has one number */
  bool on_device;
  bool (*accepts) (const ConvolveLayerPlan *plan, const char **reason);      /* exact, never a guess */
  bool (*pays) (const ConvolveLayerPlan *plan);                              /* auto takes it only then; NULL: always */
  ConvolveStatus (*prepare) (ConvolveLayerPlan *plan, ConvolveError *error); /* NULL where nothing is derived */
  void (*clear) (ConvolveLayerPlan *plan); /* frees what prepare made, all or a part of it; NULL without prepare */
  ConvolveStatus (*run) (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error);
  bool (*fills) (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job); /* run fills too; NULL: never */
} ConvolveLayerVariant;

extern const ConvolveLayerVariant convolve_layer_variants[];

/* Variants on the host. */
ConvolveStatus convolve_layer_cpu_prepare (ConvolveLayerPlan *plan, ConvolveError *error);
void convolve_layer_cpu_clear (ConvolveLayerPlan *plan);

/* Bytes that each thread of the variant cpu needs for this job. */
size_t convolve_layer_cpu_memory (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job);
ConvolveStatus convolve_layer_cpu_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
ConvolveStatus convolve_layer_cpu_reference_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);

/* Variants on a device: the .cu file of each, or cuda/device_none.c. Those that share a part name it once. */
ConvolveStatus convolve_layer_direct_prepare (ConvolveLayerPlan *plan, ConvolveError *error);
ConvolveStatus convolve_layer_direct_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
bool convolve_layer_shared_accepts (const ConvolveLayerPlan *plan, const char **reason);
ConvolveStatus convolve_layer_shared_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
bool convolve_layer_blocked_accepts (const ConvolveLayerPlan *plan, const char **reason);
ConvolveStatus convolve_layer_blocked_prepare (ConvolveLayerPlan *plan, ConvolveError *error);
ConvolveStatus convolve_layer_blocked_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
bool convolve_layer_blocked_fills (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job);
bool convolve_layer_gemm_accepts (const ConvolveLayerPlan *plan, const char **reason);
ConvolveStatus convolve_layer_gemm_prepare (ConvolveLayerPlan *plan, ConvolveError *error);
ConvolveStatus convolve_layer_gemm_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
bool convolve_layer_winograd_accepts (const ConvolveLayerPlan *plan, const char **reason);
ConvolveStatus convolve_layer_winograd_prepare (ConvolveLayerPlan *plan, ConvolveError *error);
ConvolveStatus convolve_layer_winograd_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
bool convolve_layer_fft_accepts (const ConvolveLayerPlan *plan, const char **reason);
ConvolveStatus convolve_layer_fft_prepare (ConvolveLayerPlan *plan, ConvolveError *error);
ConvolveStatus convolve_layer_fft_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
void convolve_layer_device_clear (ConvolveLayerPlan *plan);

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
