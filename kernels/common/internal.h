/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the kernel library share; not installed, not for users. */
#ifndef CONVOLVE_COMMON_INTERNAL_H
#define CONVOLVE_COMMON_INTERNAL_H

#include <stdlib.h>
#include <string.h>

#include "common/arithmetic.h"
#include "convolve.h"
#include "convolve_device.h"

#ifdef __cplusplus
extern "C"
{
#endif

/*
 * The tail of every variant: a sum of taps times samples, times scale, plus offset, rounded down and clamped, is the
 * sample. The offset contains the 1/2 of rounding half up, and the small correction that makes the result exact where
 * the taps are integers: see common/taps.c. Offsets are in code values, one for each sample of a pixel.
 */
typedef struct
{
  double scale, offset[CONVOLVE_MAX_SAMPLES];
  float scale_f, offset_f[CONVOLVE_MAX_SAMPLES]; /* the same, rounded to float */
  float maximum;                                 /* the largest sample, 2^depth - 1 */
  bool needs_double;                             /* arithmetic in float is not proved right: use scale and offset */
  float scale_low;                               /* scale - scale_f */
  bool floor_needs_double; /* nor is scale_f with scale_low, rounded down at each step: see cuda/device/words.cuh */
} ConvolveTail;

/*
 * The taps that fit the parameters of one kernel launch. These are 32,764 bytes from compute capability 7.0 and CUDA
 * 12.1 on, and the image takes its part of them.
 */
#define CONVOLVE_MAX_PARAMETER_TAPS 8100

/* A mask as the kernels read it: height rows of width taps. The divisor is in the tail. */
typedef struct
{
  int width, height;
  float *taps;         /* with room for CONVOLVE_MAX_PARAMETER_TAPS */
  double *double_taps; /* the same before they were rounded to float */
  float *row, *column; /* where the mask has rank 1, taps[j][i] = column[j] * row[i]; otherwise NULL */
} ConvolveTaps;

/* The tail of an exact plan: see common/integer_tail.h. */
typedef struct
{
  float scale, offset[CONVOLVE_MAX_SAMPLES];
  int start[CONVOLVE_MAX_SAMPLES]; /* with which the sums of integers begin */
  bool clamps;                     /* some results are outside the range of samples */
} ConvolveIntegerTail;

/* How a magnitude becomes a sample: see common/root.h. */
typedef enum
{
  CONVOLVE_ROOT_FLOAT,    /* single precision is proved right, and so is double */
  CONVOLVE_ROOT_DOUBLE,   /* double precision is */
  CONVOLVE_ROOT_CORRECTED /* the result of double precision is corrected in integers */
} ConvolveRootKind;

typedef struct
{
  ConvolveRootKind kind;
  double multiple[CONVOLVE_MAX_SETS]; /* of each set's sum, in an exact plan an integer */
  double zero[CONVOLVE_MAX_SETS]
             [CONVOLVE_MAX_SAMPLES];          /* each set's sum at the zero level, which is subtracted first */
  double scale, offset[CONVOLVE_MAX_SAMPLES]; /* of the root, as in a tail */
  float scale_f, offset_f[CONVOLVE_MAX_SAMPLES];
  float maximum;
  uint64_t numerator, denominator;        /* corrected: of the scale */
  int64_t base_512[CONVOLVE_MAX_SAMPLES]; /* corrected: what is added to the root before rounding down, times 512 */

  /* For devices, which make a root faster than IEEE 754 rounds one. Two ways from such a root to the sample. */
  bool near_is_right; /* convolve_root_near () is proved right */
  float near_scale, near_offset[CONVOLVE_MAX_SAMPLES], near_factor;
  bool pair_is_right; /* convolve_root_pair () is, for two sets */
  float pair_multiple, pair_scale, pair_offset[CONVOLVE_MAX_SAMPLES], pair_factor, pair_unit,
      pair_base[CONVOLVE_MAX_SAMPLES];
} ConvolveRoot;

/* Made by convolve_plan_new (), and never changed afterwards but for its references. */
struct ConvolvePlan
{
  int references; /* atomic */
  ConvolvePixel pixel;
  ConvolveBoundary boundary;               /* never constant, which is zero with another level */
  int outside_level[CONVOLVE_MAX_SAMPLES]; /* level of the samples outside the picture, for the boundary zero */
  int64_t pixels;                          /* of a plane, roughly; 0: a plane of a 4K frame */
  ConvolveTaps taps;
  ConvolveTail tail;
  ConvolveArithmetic arithmetic;
  bool integers; /* EXACT or ONE_STEP: the taps are integers, and sums of them in double, and the tail, are exact */
  bool exact;    /* of these: sums of the taps are exact in float, too */
  double step;   /* of an exact plan: its results before rounding are multiples of this number; 0: unknown */
  double margin; /* what the tail's offsets have too much, so that roundings pass no integer: half a step, or 0 */
  double denominator;   /* of an exact plan's scale as a fraction */
  bool identity;        /* the output equals the input */
  bool double_sums;     /* sums in float would exceed the error budget */
  bool device_taps_fit; /* the taps in float keep the error budget, as most device variants need */
  const struct ConvolveVariant *variant;
  int kernel; /* of the variant's, as its accepts () chose */

  /*
   * Of a plain mask, n_parts is 0. Otherwise the plan's own taps and tail are those of the first set, `exact` speaks of
   * the whole combination, and parts has a plan for each set, with taps and tail alone. An absolute value is the
   * largest of two parts: the set and its negative.
   */
  ConvolveCombination combination;
  int n_parts;
  struct ConvolvePlan *parts;
  ConvolveRoot root;             /* of a magnitude */
  struct ConvolveShrink *shrink; /* of a Gaussian without weights, whose taps are the identity; otherwise NULL */
  double budget_share;           /* of the promised error: below 1 in the parts of a magnitude */

  ConvolveDevice *device;    /* NULL for a host variant */
  void *prepared;            /* what the variant derived from the mask, one block of malloc (), or NULL */
  void *loaded;              /* what run () launches: kernels and their parameters, one block of malloc (), or NULL */
  void *device_memory;       /* the variant's copy of the mask on the device, or NULL */
  struct ConvolvePool *pool; /* the threads of a host variant, or NULL for the caller's thread alone */
};

/* The result of a variant's accepts (), kept so that prepare () need not compute it again. */
typedef struct
{
  void *block; /* one block of malloc (), which becomes plan->prepared where the variant is chosen, or NULL */
  int kernel;  /* the one that prepare () takes, an index of the row's kernels; 0 where the row names none */
} ConvolveFound;

/*
 * One row for each way to convolve, defined beside the code of the variant. convolve_plan_new () calls accepts () and
 * then prepare (), once for a plan; run () is called for every plane of every frame.
 */
typedef struct ConvolveVariant
{
  const char *name, *idea;
  const char *const *kernels; /* their names, where accepts () chooses among several; or NULL */
  int number; /* of the property's value, above 0: a new row takes the next free one, and none ever changes */
  bool on_device;
  bool combines;      /* takes masks of several sets, and absolute values */
  bool does_products; /* follows the arithmetic PRODUCTS; every variant that accepts a plan of ONE_STEP follows that */
  bool shrinks;       /* takes Gaussians without weights */

  /*
   * Whether the variant can compute the plan's mask on its pixels: exact, never a guess. False with the reason, a
   * sentence about the mask, the pixels or the device without a capital letter and a full stop. NULL: the variant
   * computes every mask.
   */
  bool (*accepts) (const ConvolvePlan *plan, ConvolveFound *found, const char **reason);

  /*
   * Derives the rest on the host, into plan->prepared; then, on a device, chooses kernels and fills plan->loaded. NULL:
   * nothing to derive.
   */
  ConvolveStatus (*prepare) (ConvolvePlan *plan, ConvolveError *error);
  void (*clear) (ConvolvePlan *plan); /* frees what plan->prepared points to, which may be NULL; or NULL */

  /* Only launches. Nothing that depends on the mask, the pixels or the boundary alone is computed here. */
  ConvolveStatus (*run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
} ConvolveVariant;

#ifdef __cplusplus
#define CONVOLVE_EXTERN_C extern "C"
#else
#define CONVOLVE_EXTERN_C extern
#endif

/*
 * The functions of a device variant's .cu file, by the stem: CONVOLVE_DEVICE_FUNCTIONS (tensor); declares
 * convolve_tensor_load (), which is prepare () or the end of it, and convolve_tensor_run (). Where no .cu file is compiled,
 * which is a build without CUDA or the tests' device of host memory, nothing is loaded, and one run () is for all.
 */
#define CONVOLVE_LOAD(stem) convolve_##stem##_load (ConvolvePlan *plan, ConvolveError *error)
#define CONVOLVE_RUN(stem) \
  convolve_##stem##_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error)
#if defined CONVOLVE_CUDA || defined __CUDACC__
#define CONVOLVE_DEVICE_FUNCTIONS(stem) \
  CONVOLVE_EXTERN_C ConvolveStatus CONVOLVE_LOAD (stem); \
  CONVOLVE_EXTERN_C ConvolveStatus CONVOLVE_RUN (stem)
#else
ConvolveStatus convolve_run_without_cuda (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
#define CONVOLVE_DEVICE_FUNCTIONS(stem) \
  static inline ConvolveStatus CONVOLVE_LOAD (stem) \
  { \
    return CONVOLVE_OK; \
  } \
  static inline ConvolveStatus CONVOLVE_RUN (stem) \
  { \
    return convolve_run_without_cuda (plan, plane, error); \
  } \
  extern const ConvolveVariant convolve_variant_##stem
#endif

/* The reason of a variant whose accepts () had no memory, which says nothing about the mask. */
#define CONVOLVE_REASON_NO_MEMORY "no memory"

/* Leaves a copy of these bytes in *found. False, with the reason, where there is no memory. */
static inline bool
convolve_found_copy (ConvolveFound *found, const void *bytes, size_t size, const char **reason)
{
  *reason = CONVOLVE_REASON_NO_MEMORY;
  found->block = malloc (size);
  if (found->block)
    memcpy (found->block, bytes, size);
  return found->block;
}

/* Calls accepts (), for a combination where the row says so. found->block is NULL or the caller's. */
static inline bool
convolve_variant_accepts (const ConvolveVariant *variant, const ConvolvePlan *plan, ConvolveFound *found,
    const char **reason)
{
  found->block = NULL;
  found->kernel = 0;
  *reason = "the mask is an absolute value, a magnitude or the largest of several sets of weights";
  if (plan->n_parts > 0 && !variant->combines)
    return false;
  *reason = "the mask is a Gaussian so large that it has no weights; cpu and shrink do those";
  if (plan->shrink && !variant->shrinks)
    return false;
  return !variant->accepts || variant->accepts (plan, found, reason);
}

/* Whether the plan, or a part of a combination, has no arithmetic that variants could follow. */
static inline bool
convolve_plan_is_free (const ConvolvePlan *plan)
{
  for (int k = 0; k < plan->n_parts; k++)
    if (plan->parts[k].arithmetic.kind == CONVOLVE_ARITHMETIC_FREE)
      return true;
  return plan->n_parts == 0 && plan->arithmetic.kind == CONVOLVE_ARITHMETIC_FREE;
}

/*
 * Whether a variant that accepts the plan computes the plan's arithmetic, and so the same bytes as every other such
 * one.
 */
static inline bool
convolve_variant_follows (const ConvolveVariant *variant, const ConvolvePlan *plan)
{
  return plan->arithmetic.kind == CONVOLVE_ARITHMETIC_PRODUCTS ? variant->does_products : !convolve_plan_is_free (plan);
}

/* All variants, best first, and a NULL at the end. */
extern const ConvolveVariant *const convolve_variants[];

/* Fills error and returns status. The text is printf's. */
ConvolveStatus convolve_fail (ConvolveError *error, ConvolveStatus status, int native, const char *format, ...)
    __attribute__ ((format (printf, 4, 5)));

/*
 * INVALID where an argument is outside its documented range; otherwise OK. convolve_check_plane() needs a good pixel.
 */
ConvolveStatus convolve_check_pixel (const ConvolvePixel *pixel, ConvolveError *error);
ConvolveStatus convolve_check_plane (const ConvolvePixel *pixel, const ConvolvePlane *plane, ConvolveError *error);

/* The magnitude of a stride, also of PTRDIFF_MIN, which llabs() does not take. */
static inline uint64_t
convolve_stride_magnitude (ptrdiff_t stride)
{
  return stride < 0 ? 0 - (uint64_t) stride : (uint64_t) stride;
}

/* Adds count times the stride's magnitude to *extent. False where more than PTRDIFF_MAX bytes lie between the ends. */
static inline bool
convolve_extend (uint64_t *extent, ptrdiff_t stride, int count)
{
  uint64_t bytes;

  return !__builtin_mul_overflow (convolve_stride_magnitude (stride), (uint64_t) count, &bytes)
      && !__builtin_add_overflow (*extent, bytes, extent) && *extent <= PTRDIFF_MAX;
}

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
  return (plan->pixel.depth == 8 ? 1.0 / 64 : 0.5) * plan->budget_share;
}

/*
 * Analyses the first set of the mask for this pixel and fills taps, tail, arithmetic, integers, exact, identity,
 * double_sums and device_taps_fit. one_step: PRODUCTS are not allowed.
 */
ConvolveStatus convolve_taps_init (ConvolvePlan *plan, const ConvolveMask *mask, bool one_step, ConvolveError *error);
void convolve_taps_clear (ConvolveTaps *taps);

/* The mask's offset in code values of this sample, rounded to 1/256. */
double convolve_code_offset (const ConvolvePlan *plan, const ConvolveMask *mask, int sample);

/* Shared memory that one block may take on this device, in bytes. */
size_t convolve_device_shared_limit (const ConvolveDevice *device);

/* How many the device has. */
int convolve_device_multiprocessors (const ConvolveDevice *device);
size_t convolve_device_cache_bytes (const ConvolveDevice *device); /* of the level 2 cache */

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
