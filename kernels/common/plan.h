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
 * Taps that fit the parameters of one kernel launch: 32,764 bytes on sm_70 and up with CUDA 12.1, less what
 * else a launch takes.
 */
#define CONVOLVE_MAX_PARAMETER_TAPS 8100

/* The output tile of tiled, in pixels; also its block, in threads. */
#define CONVOLVE_TILE_WIDTH 32
#define CONVOLVE_TILE_HEIGHT 16

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

#define CONVOLVE_MAX_LIMBS 3

/* The taps as integers of one to three signed bytes each, times one step: cuda/tensor.h. */
typedef struct
{
  int count; /* limbs of a tap: tap = step * sum of limb[l] * 256^l */
  double step;
  bool whole;        /* the sum over all limbs stays inside 32 bits */
  bool integers;     /* bytes by one limb, with the plan's integer tail */
  ConvolveTail tail; /* from a sum of the integers to the sample */
} ConvolveLimbs;

/* The mask as up to CONVOLVE_MAX_RANK products of a column and a row of bytes: cuda/tensor_products.h. */
#define CONVOLVE_MAX_RANK 4

typedef struct
{
  int rank;
  int lead;       /* bytes from where a group's window begins to its first sample, a multiple of 4 */
  int units;      /* of 16 bytes in a window */
  int run;        /* bytes that a lane has side by side: 4, or 16 in tensor-fused */
  int pairs;      /* blocks of 16 rows of row sums that 16 rows of outputs are made from */
  uint32_t scale; /* of row sums, whose bits from 16 on are kept; 0: they are whole, bits from 0 on */
  int32_t row_start[CONVOLVE_MAX_RANK]; /* of row sums, scaled ones or whole */
  int32_t start[CONVOLVE_MAX_SAMPLES];  /* of the totals of each sample */
  int shift;                            /* from a total to the sample; -1: one of the tails does it */
  bool integers;                        /* this one */
  ConvolveIntegerTail integer_tail;
  bool full; /* totals have the products of low bytes and low limbs, too */
} ConvolveProducts;

/* A row or a column of equal weights, but for the first and the last: cuda/box.h. */
typedef struct
{
  int inner, end;
} ConvolveBoxAxis;

typedef struct
{
  ConvolveBoxAxis row, column;
  bool soft;     /* they have other ends */
  bool integers; /* bytes with the plan's integer tail, and nothing to clamp */
} ConvolveBox;

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
  ConvolveDevice *device;           /* NULL for a host variant */
  void *device_taps;                /* the variant's copy of the mask in device memory, or NULL */
  ConvolveIntegerTail integer_tail; /* of packed and packed-separable, and of tensor's and box's integers */
  ConvolveBox box;                  /* of box */
  ConvolveLimbs limbs;              /* of tensor */
  ConvolveProducts products;        /* of tensor-fused and tensor-separable */
  bool fft_wide;                    /* of fft: its transforms are in double precision */
  struct ConvolveCpu *cpu;          /* what the variant cpu derived (cpu/cpu.h), or NULL */
  struct ConvolvePool *pool;        /* of a host variant, or NULL */
};

/* One row for each way to convolve. */
typedef struct ConvolveVariant
{
  const char *name, *idea;
  int number; /* of the property's value, above 0: a new row takes the next one, and none ever changes */
  bool on_device;
  bool (*accepts) (const ConvolvePlan *plan, const char **reason);      /* exact, never a guess */
  bool (*pays) (const ConvolvePlan *plan);                              /* auto takes it only then; NULL: always */
  ConvolveStatus (*prepare) (ConvolvePlan *plan, ConvolveError *error); /* NULL where nothing is derived */
  ConvolveStatus (*run) (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
} ConvolveVariant;

extern const ConvolveVariant convolve_variants[];

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

/* Variants on the host. */
ConvolveStatus convolve_cpu_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_cpu_reference_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/* Variants on a device: the .cu file of each, or cuda/device_none.c. */
ConvolveStatus convolve_global_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_constant_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tiled_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tiled_input_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tiled_cached_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_direct_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_fused_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_fused_tiled_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_packed_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_packed_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane,
    ConvolveError *error);
ConvolveStatus convolve_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_box_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tensor_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_fft_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/* How many the device has; 1 where it cannot be asked. */
int convolve_device_multiprocessors (const ConvolveDevice *device);

/* How many times as many products of floats as of doubles the device does; 0 where it cannot be asked. */
int convolve_device_double_ratio (const ConvolveDevice *device);

ConvolveStatus convolve_tensor_fused_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tensor_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane,
    ConvolveError *error);

/* Whether the device's tensor cores multiply bytes as tensor needs it. */
bool convolve_tensor_possible (const ConvolveDevice *device);

/* The largest side of a mask that packed, packed-separable, direct and fused do. */
#define CONVOLVE_DIRECT_SIDE 9

/* A tile of fused-tiled, in outputs, and the masks that it has kernels for: the first that is large enough is taken. */
#define CONVOLVE_FUSED_TILED_SAMPLES 128 /* of a row */
#define CONVOLVE_FUSED_TILED_HEIGHT 64
#define CONVOLVE_FUSED_TILED_SIDES \
  { \
    15, 31, 63 \
  }

/* The side of its kernel for this mask, or 0; and the shared memory that it needs, in bytes. */
int convolve_fused_tiled_side (const ConvolvePlan *plan);
size_t convolve_fused_tiled_shared_size (const ConvolvePlan *plan);

/* A block of separable, in threads: the width of its tile, and the rows it takes in one step. */
#define CONVOLVE_SEPARABLE_WIDTH 32
#define CONVOLVE_SEPARABLE_STEP 8

/* The shared memory that separable needs for this mask, in bytes. */
size_t convolve_separable_shared_size (const ConvolvePlan *plan);

/* The shared memory that tiled needs for this mask, in bytes. */
size_t convolve_tiled_shared_size (const ConvolvePlan *plan);

/*
 * The block of tiled-input for this mask, its 1024 threads shaped for the most outputs; false where none has any.
 * A block of width x height threads gives (width - mask width + 1) x (height - mask height + 1) outputs.
 */
bool convolve_tiled_input_block (const ConvolvePlan *plan, int *width, int *height);

/* Copies bytes to device memory that the plan owns, and waits. */
ConvolveStatus convolve_device_put (ConvolveDevice *device, const void *values, size_t bytes, void **copy,
    ConvolveError *error);

/* Shared memory that one block may take on this device, in bytes. */
size_t convolve_device_shared_limit (const ConvolveDevice *device);

#ifdef __cplusplus
}
#endif

#endif
