/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the kernel library share; not installed, not for users. */
#ifndef CONVOLVE_COMMON_PLAN_H
#define CONVOLVE_COMMON_PLAN_H

#include "convolve.h"
#include "convolve_device.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * The end of every variant: a sum of taps times samples becomes a sample. The rounding's 1/2 and the nudge that makes
 * the result exact (convolve_tail_init()) are inside the offsets.
 */
typedef struct
{
  double scale, offset[CONVOLVE_MAX_SAMPLES];
  float scale_f, offset_f[CONVOLVE_MAX_SAMPLES];
  float maximum;   /* 2^depth - 1 */
  bool wide;       /* float cannot be proved right: use the doubles */
  float scale_low; /* scale less scale_f */
  bool wide_down;  /* nor can floats with scale_low that are rounded down, see cuda/border.cuh */
} ConvolveTail;

/*
 * Taps that fit the parameters of one kernel launch: 32,764 bytes on sm_70 and up with CUDA 12.1, less what else a
 * launch takes.
 */
#define CONVOLVE_MAX_PARAMETER_TAPS 8100

/* A mask as the kernels read it: the taps that were proved, in both precisions. */
typedef struct
{
  int width, height;
  float *taps; /* row-major */
  double *wide_taps;
  float *row, *column; /* factors of a rank-1 mask: taps[j][i] = column[j] * row[i]; NULL otherwise */
} ConvolveTaps;

/* The end of an exact plan's sums of bytes, as common/integer_tail.h says. */
typedef struct
{
  float scale, offset[CONVOLVE_MAX_SAMPLES];
  int start[CONVOLVE_MAX_SAMPLES];
  bool clamps; /* some results are outside 0 .. 255 */
} ConvolveIntegerTail;

struct ConvolvePlan
{
  int references; /* atomic */
  ConvolvePixel pixel;
  ConvolveBoundary boundary;
  int64_t pixels; /* of a plane, about; 0: many */
  ConvolveTaps taps;
  ConvolveTail tail;
  bool exact;         /* integer taps below the float limit */
  double step;        /* of an exact plan: its results before rounding are multiples of it; 0: unknown */
  double denominator; /* of its scale as a fraction */
  bool identity;
  bool wide_sums;       /* float sums would break the error budget: add in double */
  bool device_taps_fit; /* taps rounded to float keep the error budget, as every device variant needs */
  const struct ConvolveVariant *variant;
  ConvolveDevice *device; /* NULL for a host variant */
  void *prepared;         /* what the variant derived from the mask, one block of malloc (), or NULL */
  void *loaded;           /* what run () launches with: kernels and their parameters, one block of malloc (), or NULL */
  void *device_memory;    /* the variant's copy of the mask on the device, or NULL */
  struct ConvolvePool *pool; /* of a host variant, or NULL */
};

/*
 * One row for each way to convolve, defined beside the code of the variant. convolve_plan_new () calls accepts (),
 * prepare () and load () in this order, once for a plan; run () is called for every plane of every frame.
 */
typedef struct ConvolveVariant
{
  const char *name, *idea;
  int number; /* of the property's value, above 0: a new row takes the next free one, and none ever changes */
  bool on_device;

  /*
   * Whether the variant can do the plan's mask on its pixels: exact, never a guess. False with the reason, a sentence
   * about "it", the mask. What was found on the way may be left in *found, one block of malloc (), which becomes
   * plan->prepared where the variant is chosen. NULL: the variant does every mask.
   */
  bool (*accepts) (const ConvolvePlan *plan, void **found, const char **reason);
  ConvolveStatus (*prepare) (ConvolvePlan *plan, ConvolveError *error); /* derives the rest on the host; or NULL */
  ConvolveStatus (*load) (ConvolvePlan *plan, ConvolveError *error); /* chooses kernels, fills plan->loaded; or NULL */
  void (*clear) (ConvolvePlan *plan); /* frees what plan->prepared points to, which may be NULL; or NULL */

  /* Only launches. Nothing that depends on the mask, the pixels or the boundary alone is computed here. */
  ConvolveStatus (*run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
} ConvolveVariant;

/*
 * For a variant on a CUDA device, by the stem of its files: CONVOLVE_DEVICE_FUNCTIONS (tensor); declares the two functions
 * of its .cu file, and CONVOLVE_ON_DEVICE (tensor) puts them into its row. A build without CUDA has neither. The device
 * that the tests make of host memory runs all variants by one function of its own.
 */
#ifdef __cplusplus
#define CONVOLVE_EXTERN_C extern "C"
#else
#define CONVOLVE_EXTERN_C extern
#endif
#define CONVOLVE_DEVICE_FUNCTIONS(stem) \
  CONVOLVE_EXTERN_C ConvolveStatus convolve_##stem##_load (ConvolvePlan *plan, ConvolveError *error); \
  CONVOLVE_EXTERN_C ConvolveStatus convolve_##stem##_run (const ConvolvePlan *plan, const ConvolvePlane *plane, \
      ConvolveError *error)
#if defined CONVOLVE_RUN_ON_DEVICE
ConvolveStatus CONVOLVE_RUN_ON_DEVICE (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
#define CONVOLVE_ON_DEVICE(stem) .on_device = true, .run = CONVOLVE_RUN_ON_DEVICE
#elif defined CONVOLVE_CUDA
#define CONVOLVE_ON_DEVICE(stem) .on_device = true, .load = convolve_##stem##_load, .run = convolve_##stem##_run
#else
#define CONVOLVE_ON_DEVICE(stem) .on_device = true
#endif

/* Calls accepts (). *found is NULL or a block that is the caller's. */
static inline bool
convolve_variant_accepts (const ConvolveVariant *variant, const ConvolvePlan *plan, void **found, const char **reason)
{
  *found = NULL;
  return !variant->accepts || variant->accepts (plan, found, reason);
}

/* All variants, best first, and a NULL at the end. */
extern const ConvolveVariant *const convolve_variants[];

/* Fills error and returns status. The text is printf's. */
ConvolveStatus convolve_fail (ConvolveError *error, ConvolveStatus status, int native, const char *format, ...)
    __attribute__ ((format (printf, 4, 5)));

/* The size of a sample in bytes. */
static inline int
convolve_sample_size (ConvolveSampleType type)
{
  return type == CONVOLVE_SAMPLE_U8 ? 1 : 2;
}

/* How far a result may be from the exact sum before it is rounded, in code values, where the plan is not exact. */
static inline double
convolve_budget (const ConvolvePlan *plan)
{
  return plan->pixel.depth == 8 ? 1.0 / 64 : 0.5;
}

/* Analyses the mask for this pixel and fills taps, tail, exact, identity, wide_sums and device_taps_fit. */
ConvolveStatus convolve_taps_init (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error);
void convolve_taps_clear (ConvolveTaps *taps);

/* Shared memory that one block may take on this device, in bytes. */
size_t convolve_device_shared_limit (const ConvolveDevice *device);

/* How many the device has. */
int convolve_device_multiprocessors (const ConvolveDevice *device);

/* The compute capability as one number: 90 for 9.0. */
int convolve_device_capability (const ConvolveDevice *device);

/* How many times as many products of floats as of doubles the device does; 0 where that is unknown. */
int convolve_device_double_ratio (const ConvolveDevice *device);

/* Copies bytes to device memory that is the plan's from then on, and waits. */
ConvolveStatus convolve_device_put (ConvolveDevice *device, const void *values, size_t bytes, void **copy,
    ConvolveError *error);

#ifdef __cplusplus
}
#endif

#endif
