/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mask of equal weights, but for those of its edges: what box does by running sums. Each thread has a chunk of every
 * row, some samples side by side, and a block has a chunk for each of its threads.
 */
#ifndef CONVOLVE_CUDA_BOX_H
#define CONVOLVE_CUDA_BOX_H

#include "common/plan.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_BOX_THREADS 256 /* of a block, at most */

/*
 * Chunks of samples of so many bytes, S of them to a pixel: bytes and samples of a chunk, rows of outputs that a thread
 * makes together, rows that it loads together, and the words that hold the sums of its columns. Sums of bytes are halves
 * of a word.
 */
#define CONVOLVE_BOX_BYTES(size, S) ((S) == 3 ? 12 : (size) == 1 && (S) < 3 ? 8 : 16)
#define CONVOLVE_BOX_SAMPLES(size, S) (CONVOLVE_BOX_BYTES (size, S) / (size))
#define CONVOLVE_BOX_ROWS(size, S) (CONVOLVE_BOX_SAMPLES (size, S) > 8 ? 2 : 4)
#define CONVOLVE_BOX_LOADED(size, S) (CONVOLVE_BOX_BYTES (size, S) == 8 ? 16 : 8)
#define CONVOLVE_BOX_SUMS(size, S) (CONVOLVE_BOX_BYTES (size, S) / 2)
#define CONVOLVE_BOX_MOST_SAMPLES 16

/* The shared memory of a block in bytes: sums, the rows' places, and what each gathered chunk adds. */
#define CONVOLVE_BOX_SHARED(size, S) \
  (CONVOLVE_BOX_ROWS (size, S) * CONVOLVE_BOX_THREADS * 4 * ((S) + CONVOLVE_BOX_SAMPLES (size, S)) + 272)
#define CONVOLVE_BOX_SHARED_BY_CHUNK(size, S) \
  (CONVOLVE_BOX_LOADED (size, S) * CONVOLVE_BOX_BYTES (size, S) + CONVOLVE_BOX_SAMPLES (size, S) * 4)

/* A row or a column of integers, all equal but for the first and the last. */
typedef struct
{
  int inner, end;
} ConvolveBoxAxis;

/* How sums become samples: see common/integer_tail.h, convolve_floor () and convolve_tail_double (). */
typedef enum
{
  CONVOLVE_BOX_INTEGERS, /* nothing is clamped */
  CONVOLVE_BOX_FLOATS,
  CONVOLVE_BOX_DOUBLES
} ConvolveBoxEnd;

/* What a launch needs to know beside the image. Chunks are counted from the row's first sample on. */
typedef struct
{
  int first, count; /* of all outputs */
  int chunks, rows; /* of a block's outputs */
  int lead, halo;   /* chunks that a block's inputs begin before its outputs, and have more than these */
  int gathered;     /* chunks that there is room for, see gather () */
  uint32_t *strips; /* sums of as many rows as a block has outputs, see convolve_box_strips (); or NULL */
  int n_strips;
  /* Sums at both ends of the outputs' rows: places in Shared.sums, less the thread. */
  int before[CONVOLVE_BOX_MOST_SAMPLES + CONVOLVE_MAX_SAMPLES], after[CONVOLVE_BOX_MOST_SAMPLES + CONVOLVE_MAX_SAMPLES];
  ConvolveBoxAxis row, column;
  unsigned keep[4]; /* bits of a chunk's words that are copied */
  bool aligned, aligned_stores, copies;
  ConvolveBoundary boundary;
  ConvolveBoxEnd end;
  ConvolveIntegerTail integer_tail;
  ConvolveTail tail; /* from a sum of words as they lie in memory */
} ConvolveBoxTask;

/* One way to do a plane: with chunks as they lie in memory, or with samples gathered one by one. */
typedef struct
{
  ConvolveBoxTask task; /* but for what depends on the plane */
  int samples;          /* of a chunk */
  int sums;             /* words */
  int layers;           /* blocks for one place: one for each sample of a pixel where they are gathered */
  int most;             /* chunks of a block, with its halo */
  size_t shared, shared_by_chunk;
} ConvolveBoxWay;

typedef struct
{
  ConvolveBoxAxis row, column;
  bool soft; /* the ends differ from the inner weights */
  ConvolveBoxWay gathered, aligned;
  bool can_align; /* the pixels are such that chunks lie as they are wanted, in a plane that is aligned */
  int alignment;  /* bytes, of the plane's address and stride */
} ConvolveBox;

/*
 * Finds the row and the column whose products the plan's weights are, times one factor: small integers, all equal but
 * for the first and the last of each. Such is a box over a subsampled plane, too, where the box covers a part of these.
 * False, with the reason, where there are none that keep the error budget; exact for exact plans.
 */
bool convolve_box_choose (const ConvolvePlan *plan, ConvolveBox *box, const char **reason);

/* What sums of these integers are multiplied by to be those of the plan's weights. */
double convolve_box_factor (const ConvolvePlan *plan, const ConvolveBox *box);

CONVOLVE_DEVICE_FUNCTIONS (box);

#ifdef __cplusplus
}
#endif

#endif
