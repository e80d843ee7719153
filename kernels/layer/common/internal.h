/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of kernels/layer/ share: the plan, the row of a variant, and access to samples. Not for users. */
#ifndef CONVOLVE_LAYER_COMMON_PLAN_H
#define CONVOLVE_LAYER_COMMON_PLAN_H

#include <string.h>

#include "common/boundary.h"
#include "convolve_layer.h"
#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

struct ConvolveLayerPlan
{
  int references;        /* atomic */
  ConvolveLayer layer;   /* its filters are those that the output shows: first_filter is 0, shown equals filters */
  float *weights, *bias; /* copies that the plan owns and `layer` points to; neither is NULL */
  int first_filter;      /* of the caller's layer: filter k of `layer` is its filter first_filter + k */
  int group_filters, group_channels; /* filters of the caller's layer, and channels, in each group */
  const struct ConvolveLayerVariant *variant;
  int kernel;             /* of the variant's, as its accepts() chose */
  ConvolveDevice *device; /* NULL for a host variant */
  ConvolvePool *pool;     /* of a host variant, or NULL */
  void *prepared;         /* what the variant derived, or NULL */
};

/* What run() gets: the task after all checks, with end_row set, and the sizes that follow from it. */
typedef struct
{
  ConvolveLayerTask task;
  int conv_height, conv_width; /* of the output before pooling */
  int out_height, out_width;   /* of the output after pooling */
} ConvolveLayerJob;

/*
 * One row for each way to compute a layer, defined beside the code of the variant. convolve_layer_plan_new() calls
 * accepts() and then prepare(), once for a plan; run() is called for every task.
 */
typedef struct ConvolveLayerVariant
{
  const char *name, *idea;
  int number; /* of the element's property, as in ConvolveVariant; layers and masks share the number of a shared name */
  bool on_device;
  /* As of ConvolveVariant: exact, with the reason, and with what was found on the way. NULL: every layer. */
  bool (*accepts) (const ConvolveLayerPlan *plan, ConvolveFound *found, const char **reason);
  /*
   * Derives the rest on the host: plan->prepared is what accepts() found, or NULL. Then, on a device, chooses kernels and
   * sets their attributes. NULL: nothing to prepare.
   */
  ConvolveStatus (*prepare) (ConvolveLayerPlan *plan, ConvolveError *error);
  /* Frees what prepare() made, also where that failed. NULL: nothing to free. */
  void (*clear) (ConvolveLayerPlan *plan);
  ConvolveStatus (*run) (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error);
  /* Whether run() also sets the task's filled channels. NULL: never, and the caller of run() sets these channels. */
  bool (*fills) (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job);
} ConvolveLayerVariant;

/* The load() and run() of a variant's .cu file, as CONVOLVE_DEVICE_FUNCTIONS declares them for masks. */
#define CONVOLVE_LAYER_LOAD(stem) convolve_layer_##stem##_load (ConvolveLayerPlan *plan, ConvolveError *error)
#define CONVOLVE_LAYER_RUN(stem) \
  convolve_layer_##stem##_run (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job, ConvolveError *error)
#if defined CONVOLVE_CUDA || defined __CUDACC__
#define CONVOLVE_LAYER_DEVICE_FUNCTIONS(stem) \
  CONVOLVE_EXTERN_C ConvolveStatus CONVOLVE_LAYER_LOAD (stem); \
  CONVOLVE_EXTERN_C ConvolveStatus CONVOLVE_LAYER_RUN (stem)
#else
ConvolveStatus convolve_layer_run_without_cuda (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);
#define CONVOLVE_LAYER_DEVICE_FUNCTIONS(stem) \
  static inline ConvolveStatus CONVOLVE_LAYER_LOAD (stem) \
  { \
    return CONVOLVE_OK; \
  } \
  static inline ConvolveStatus CONVOLVE_LAYER_RUN (stem) \
  { \
    return convolve_layer_run_without_cuda (plan, job, error); \
  } \
  extern const ConvolveLayerVariant convolve_layer_variant_##stem
#endif

/* Whether the variant can do the plan's layer. *reason is set where it cannot; found->block is NULL or the caller's. */
static inline bool
convolve_layer_variant_accepts (const ConvolveLayerVariant *variant, const ConvolveLayerPlan *plan,
    ConvolveFound *found, const char **reason)
{
  *found = (ConvolveFound){ .block = NULL };
  return !variant->accepts || variant->accepts (plan, found, reason);
}

/* All variants, best first, with a NULL behind the last. */
extern const ConvolveLayerVariant *const convolve_layer_variants[];

/* Sets the task's filled channels to their value, on the device. Errors: INVALID, DEVICE_FAILED. */
ConvolveStatus convolve_layer_device_fill (const ConvolveLayerPlan *plan, const ConvolveLayerJob *job,
    ConvolveError *error);

/* The weights of a filter. */
static inline size_t
convolve_layer_filter_size (const ConvolveLayer *layer)
{
  return (size_t) (layer->channels / layer->groups) * layer->kernel_height * layer->kernel_width;
}

/* The first channel of the group of filter k. */
static inline int
convolve_layer_first_channel (const ConvolveLayerPlan *plan, int k)
{
  return (plan->first_filter + k) / plan->group_filters * plan->group_channels;
}

/* The samples from the first to the last of `size` samples that are `dilation` apart. */
static inline int
convolve_layer_span (int size, int dilation)
{
  return (size - 1) * dilation + 1;
}

/* In bytes. */
static CONVOLVE_BOTH int
convolve_layer_sample_size (ConvolveLayerType type)
{
  return type == CONVOLVE_LAYER_FLOAT32 ? 4 : type == CONVOLVE_LAYER_FLOAT16 ? 2 : 1;
}

/* The first sample of channel c of image b. */
static CONVOLVE_BOTH uint8_t *
convolve_layer_plane (const ConvolveLayerTensor *tensor, int b, int c)
{
  uint8_t *plane = (uint8_t *) tensor->channel[tensor->across ? 0 : c];

  if (tensor->across)
    plane += c / tensor->across * tensor->down_stride + c % tensor->across * tensor->across_stride;
  return plane + b * tensor->batch_stride;
}

/*
 * float16 is a sign (1 bit), an exponent (5 bits, biased by 15) and a fraction (10 bits). float32 has an exponent of 8
 * bits, biased by 127, and a fraction of 23 bits. So the bits of a float16 move up by 23 - 10 = 13, and the exponent
 * grows by 127 - 15 = 112.
 */
#define CONVOLVE_HALF_SIGN 0x8000u
#define CONVOLVE_HALF_INFINITY 0x7c00u
#define CONVOLVE_HALF_NAN 0x7e00u
#define CONVOLVE_HALF_LEAST_NORMAL 0x400u         /* smaller ones are multiples of 2^-24 */
#define CONVOLVE_HALF_EXPONENT_SHIFT (112u << 23) /* from the exponent of a float16 to that of a float32 */
#define CONVOLVE_FLOAT_INFINITY 0x7f800000u       /* the bits of float32 numbers */
#define CONVOLVE_FLOAT_2_TO_16 0x47800000u        /* as large as this, or larger: infinite as a float16 */
#define CONVOLVE_FLOAT_2_TO_MINUS_14 0x38800000u  /* the smallest normal float16 */
#define CONVOLVE_FLOAT_2_TO_MINUS_25 0x33000000u  /* smaller than this: 0 as a float16 */

static inline float
convolve_half_to_float (uint16_t half)
{
  uint32_t sign = (uint32_t) (half & CONVOLVE_HALF_SIGN) << 16, rest = half & ~CONVOLVE_HALF_SIGN, bits;
  float value;

  if (rest >= CONVOLVE_HALF_INFINITY)
    bits = rest << 13 | CONVOLVE_FLOAT_INFINITY;
  else if (rest >= CONVOLVE_HALF_LEAST_NORMAL)
    bits = (rest << 13) + CONVOLVE_HALF_EXPONENT_SHIFT;
  else {
    value = (float) rest / (1 << 24);
    memcpy (&bits, &value, sizeof (bits));
  }
  bits |= sign;
  memcpy (&value, &bits, sizeof (value));
  return value;
}

/* Rounded to the nearest, ties to even. Numbers beyond the range of float16 become infinite. */
static inline uint16_t
convolve_float_to_half (float value)
{
  uint32_t bits, sign, rest;
  int shift;

  memcpy (&bits, &value, sizeof (bits));
  sign = bits >> 16 & CONVOLVE_HALF_SIGN;
  rest = bits & 0x7fffffff;
  if (rest > CONVOLVE_FLOAT_INFINITY)
    return sign | CONVOLVE_HALF_NAN;
  if (rest >= CONVOLVE_FLOAT_2_TO_16)
    return sign | CONVOLVE_HALF_INFINITY;
  if (rest < CONVOLVE_FLOAT_2_TO_MINUS_25)
    return sign;
  if (rest >= CONVOLVE_FLOAT_2_TO_MINUS_14) {
    rest -= CONVOLVE_HALF_EXPONENT_SHIFT;
    shift = 13;
  } else {
    /* A multiple of 2^-24: the fraction with its leading 1, moved down to units of 2^-24. */
    shift = 126 - (int) (rest >> 23);
    rest = (rest & 0x7fffff) | 0x800000;
  }
  /* Half a unit less one, and one more where the result would be odd: ties go to even numbers. */
  rest += (1u << (shift - 1)) - 1 + (rest >> shift & 1);
  return sign | rest >> shift;
}

/* The value of the sample at an address, as the layer's sums use it. */
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

/* Stores a value as the type. An 8-bit sample gets a code value, which is rounded to the nearest and clamped. */
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
