/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the kernel library share; not installed, not for users. */
#ifndef CONVOLVE_PRIVATE_H
#define CONVOLVE_PRIVATE_H

#include "convolve.h"
#include "convolve_device.h"

#ifdef __cplusplus
extern "C" {
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
  float maximum;                /* 2^depth - 1 */
  bool wide;                    /* float cannot be proved right: use the doubles */
} ConvolveTail;

/* A mask as the kernels read it: the taps that were proved, in both precisions. */
typedef struct
{
  int width, height;
  float *taps;                  /* row-major */
  double *wide_taps;
  float *row, *column;          /* factors of a rank-1 mask: taps[j][i] = column[j] * row[i]; NULL otherwise */
} ConvolveTaps;

struct ConvolvePlan
{
  int references;               /* atomic */
  ConvolvePixel pixel;
  ConvolveBoundary boundary;
  ConvolveTaps taps;
  ConvolveTail tail;
  bool exact;                   /* integer taps below the float limit */
  bool identity;
  bool wide_sums;               /* float sums would break the error budget: add in double */
  bool device_taps_fit;         /* taps rounded to float keep the error budget, as every device variant needs */
  const struct ConvolveVariant *variant;
  ConvolveDevice *device;       /* NULL for a host variant */
  float *device_taps;           /* the variant's copy of the mask in device memory, or NULL */
  struct ConvolveCpu *cpu;      /* what the variant cpu derived (convolve_cpu.h), or NULL */
  struct ConvolvePool *pool;    /* of a host variant, or NULL */
};

/* One row for each way to convolve. */
typedef struct ConvolveVariant
{
  const char *name, *idea;
  bool on_device;
  bool (*accepts) (const ConvolvePlan *plan, const char **reason);      /* exact, never a guess */
  bool (*pays) (const ConvolvePlan *plan);      /* auto takes it only then; NULL: always */
  ConvolveStatus (*prepare) (ConvolvePlan *plan, ConvolveError *error);  /* NULL where nothing is derived */
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

/* Analyses the mask for this pixel and fills taps, tail, exact, identity, wide_sums and device_taps_fit. */
ConvolveStatus convolve_taps_init (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error);
void convolve_taps_clear (ConvolveTaps *taps);

/* Variants on the host. */
ConvolveStatus convolve_cpu_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_cpu_prepare (ConvolvePlan *plan, ConvolveError *error);
ConvolveStatus convolve_cpu_reference_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

/* Variants on a device: the .cu file of each, or convolve_no_cuda.c. */
ConvolveStatus convolve_global_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_constant_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tiled_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tiled_input_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_tiled_cached_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_separable_run (const ConvolvePlan *plan, const ConvolvePlane *plane, ConvolveError *error);

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

/* Copies count floats to device memory that the plan owns, and waits. */
ConvolveStatus convolve_device_put (ConvolveDevice *device, const float *values, size_t count, float **copy,
    ConvolveError *error);

/* Shared memory that one block may take on this device, in bytes. */
size_t convolve_device_shared_limit (const ConvolveDevice *device);

#ifdef __cplusplus
}
#endif

#endif
