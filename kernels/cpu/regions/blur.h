/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A wide blur of one region, in CONVOLVE_BLUR_STEPS steps. The rows of a step need all rows of the steps before, and do not
 * depend on each other, so that threads may share them.
 */
#ifndef CONVOLVE_CPU_BLUR_H
#define CONVOLVE_CPU_BLUR_H

#include "convolve_region.h"
#include "cpu/paths/integers.h"
#include "cpu/loops/level.h"

#define CONVOLVE_BLUR_STEPS 3

/*
 * What the threads have together. Rows of r and b have `count` numbers each and room for CONVOLVE_CPU_PADDING more, as the
 * loops of cpu/loops/level.h need it.
 */
typedef struct
{
  const ConvolvePixel *pixel;
  ConvolveBoundary boundary;
  const ConvolveBlur *blur;
  ConvolvePlane plane;
  ConvolveRect result, cell;
  int count; /* samples of a row of the result */
  int bits;  /* the factor is 2^bits */

  ConvolvePair *pairs; /* of all rows of r, two to a pair */
  uint16_t *b;         /* all rows, and one to spare */
  int32_t *starts;

  const ConvolveCpuLevel *level;
  ConvolveTerms row, column;
} ConvolveBlurTask;

/*
 * Begins a task, whose arguments have been checked; pixel and blur must outlive the task. Gives the bytes that the task needs.
 * place () gives the task so much memory, aligned to a cache line, and makes the task ready to run.
 */
size_t convolve_blur_begin (ConvolveBlurTask *task, const ConvolvePixel *pixel, ConvolveBoundary boundary,
    const ConvolveBlur *blur, const ConvolvePlane *plane);
void convolve_blur_place (ConvolveBlurTask *task, void *memory);

/* The bytes that each thread needs, aligned to a cache line. */
size_t convolve_blur_thread_bytes (const ConvolveBlurTask *task);

/* The number of rows, or pairs of rows, of a step; and the work on those from first up to end. */
int convolve_blur_rows (const ConvolveBlurTask *task, int step);
void convolve_blur_run (const ConvolveBlurTask *task, int step, int first, int end, void *memory);

#endif
