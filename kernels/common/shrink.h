/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gaussians of any size, for C and for CUDA: the picture is halved several times, convolved, and enlarged again.
 * README.md, "Wide Gaussians", has the arithmetic in words, and common/shrink.c chooses what depends on the mask.
 *
 * Words: the pictures of an axis are level 0, which is the source less the middle, to level `levels`, the shrunk one.
 * Pixel m of level l has its centre at pixel 2^l m of the source, in each direction. Pixels are defined for every m, as
 * those of the source are by the boundary; a level stores a range of them, from which all others follow.
 */
#ifndef CONVOLVE_COMMON_SHRINK_H
#define CONVOLVE_COMMON_SHRINK_H

#include "common/boundary.h"
#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_SHRINK_LEVELS 8   /* at most */
#define CONVOLVE_SHRINK_RADIUS 255 /* the largest radius on the shrunk picture */

/* One direction. */
typedef struct
{
  int levels, radius;
  float taps[CONVOLVE_SHRINK_RADIUS + 1];    /* of the shrunk picture: of the middle, and of the pixels on both sides */
  float phases[4 << CONVOLVE_SHRINK_LEVELS]; /* four weights for each of the 2^levels places between two pixels */
} ConvolveShrinkAxis;

typedef struct ConvolveShrink
{
  ConvolveShrinkAxis x, y;
  float own, blurred;                 /* the shares of the sample itself and of the blur */
  float offset[CONVOLVE_MAX_SAMPLES]; /* with the 1/2 of rounding */
  float middle, maximum;
  double error; /* the bound, in code values */
} ConvolveShrink;

/*
 * The pixels of a level that are stored: first .. first + count - 1. Those beyond an end are like the last one there,
 * or repeat all of them.
 */
typedef struct
{
  int first, count;
  bool periodic;
} ConvolveShrinkRange;

/* Fills plan->shrink from the mask, a Gaussian. Errors: INVALID, UNSUPPORTED (no error bound fits), NO_MEMORY. */
ConvolveStatus convolve_shrink_init (ConvolvePlan *plan, const ConvolveMask *mask, ConvolveError *error);

/*
 * The largest difference of one axis from the Gaussian, as the sum of magnitudes of what all weights differ by, in
 * exact arithmetic: a bound for a sigma in pixels of the shrunk picture. tests/kernels/check_shrink.c compares it with
 * the sum.
 */
double convolve_shrink_missed (int levels, double sigma);

/*
 * The ranges of all levels, of an axis with n pixels, for the results first .. end - 1. That of level 0 is a range of
 * coordinates of the source, inside and outside.
 */
void convolve_shrink_find_ranges (const ConvolveShrinkAxis *axis, ConvolveBoundary boundary, int n, int first, int end,
    ConvolveShrinkRange ranges[CONVOLVE_SHRINK_LEVELS + 1]);

/* The pixels of the source that a range of level 0 reads. */
ConvolveShrinkRange convolve_shrink_find_source (ConvolveShrinkRange range, ConvolveBoundary boundary, int n);

/* The pixels of the shrunk picture from which the results first .. end - 1 are interpolated. */
static CONVOLVE_BOTH ConvolveShrinkRange
convolve_shrink_cells (int levels, int first, int end)
{
  ConvolveShrinkRange cells = { (first >> levels) - 1, ((end - 1) >> levels) - (first >> levels) + 4, false };

  return cells;
}

/* Where pixel m stands in a level's memory. */
static CONVOLVE_BOTH int
convolve_shrink_place (ConvolveShrinkRange range, int m)
{
  int i = m - range.first, last = range.count - 1;

  if ((unsigned) i < (unsigned) range.count)
    return i;
  if (range.periodic) {
    i %= range.count;
    return i < 0 ? i + range.count : i;
  }
  return i < 0 ? 0 : last;
}

/*
 * The columns that a pass along rows reads: those of the source, with the boundary around, of which `range` is in
 * memory; or those of a level.
 */
typedef struct
{
  bool of_source;
  ConvolveBoundary boundary;
  int n; /* pixels of a row of the source */
  ConvolveShrinkRange range;
} ConvolveShrinkColumns;

/* Where column m stands in memory, or -1 for the level outside. */
static CONVOLVE_BOTH int
convolve_shrink_column (const ConvolveShrinkColumns *columns, int m)
{
  if (!columns->of_source)
    return convolve_shrink_place (columns->range, m);
  m = convolve_boundary_index (columns->boundary, m, columns->n);
  return m < 0 ? -1 : m - columns->range.first;
}

/* Each operation is rounded by itself. */
#ifdef __CUDA_ARCH__
#define CONVOLVE_SHRINK_ADD(a, b) __fadd_rn (a, b)
#define CONVOLVE_SHRINK_PRODUCT(a, b) __fmul_rn (a, b)
#else
#define CONVOLVE_SHRINK_ADD(a, b) ((a) + (b))
#define CONVOLVE_SHRINK_PRODUCT(a, b) ((a) * (b))
#endif

/* A pixel of the next level, from five. C vectors and floats. */
#define CONVOLVE_SHRINK_HALVE(a, b, c, d, e) \
  CONVOLVE_SHRINK_PRODUCT (0.0625f, \
      CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_ADD (a, e), \
                               CONVOLVE_SHRINK_PRODUCT (4.0f, CONVOLVE_SHRINK_ADD (b, d))), \
          CONVOLVE_SHRINK_PRODUCT (6.0f, c)))

/* Between four pixels. */
#define CONVOLVE_SHRINK_BETWEEN(w, a, b, c, d) \
  CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_PRODUCT ((w)[0], a), \
                                                CONVOLVE_SHRINK_PRODUCT ((w)[1], b)), \
                           CONVOLVE_SHRINK_PRODUCT ((w)[2], c)), \
      CONVOLVE_SHRINK_PRODUCT ((w)[3], d))

/* The result before it is clamped and rounded down. sample is less the middle. */
#define CONVOLVE_SHRINK_RESULT(own, sample, blurred, blur, offset) \
  CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_ADD (CONVOLVE_SHRINK_PRODUCT (own, sample), \
                           CONVOLVE_SHRINK_PRODUCT (blurred, blur)), \
      offset)

#ifdef __cplusplus
}
#endif

#endif
