/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The variant box: masks whose weights are all equal, but for those of the mask's edges. Such a mask is done with
 * prefix sums, see cuda/sums/box.cu. Each thread of a block has a chunk of every row: a few samples side by side.
 */
#ifndef CONVOLVE_CUDA_BOX_H
#define CONVOLVE_CUDA_BOX_H

#include "common/boundary.h"
#include "common/internal.h"
#include "cuda/device/places.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_BOX_THREADS 256 /* of a block, at most */

/*
 * Sizes for samples of `size` bytes and S samples in a pixel. S is 1 where samples are gathered one by one.
 * - BYTES, SAMPLES: of a chunk
 * - ROWS: rows of outputs that a thread makes together
 * - LOADED: rows that a thread loads together when it starts
 * - SUMS: words with the sums of a thread's columns; sums of 8-bit samples are halves of a word
 */
#define CONVOLVE_BOX_BYTES(size, S) ((S) == 3 ? 12 : (size) == 1 && (S) < 3 ? 8 : 16)
#define CONVOLVE_BOX_SAMPLES(size, S) (CONVOLVE_BOX_BYTES (size, S) / (size))
#define CONVOLVE_BOX_ROWS(size, S) (CONVOLVE_BOX_SAMPLES (size, S) > 8 ? 2 : 4)
#define CONVOLVE_BOX_LOADED(size, S) (CONVOLVE_BOX_BYTES (size, S) == 8 ? 16 : 8)
#define CONVOLVE_BOX_SUMS(size, S) (CONVOLVE_BOX_BYTES (size, S) / 2)
#define CONVOLVE_BOX_MOST_SAMPLES 16

/*
 * The shared memory of a block in bytes, which is the struct Shared of cuda/sums/box_columns.cuh: the totals and prefix
 * sums of all threads in ROWS rows, the offsets of 32 rows with the bits that tell which are absent, aligned to 16;
 * and for each gathered chunk its samples in LOADED rows and the place of each sample in a row.
 */
#define CONVOLVE_BOX_SHARED_OFFSETS (32 * 8 + 16)
#define CONVOLVE_BOX_SHARED(size, S) \
  (CONVOLVE_BOX_ROWS (size, S) * CONVOLVE_BOX_THREADS * 4 * ((S) + CONVOLVE_BOX_SAMPLES (size, S)) \
      + CONVOLVE_BOX_SHARED_OFFSETS)
#define CONVOLVE_BOX_SHARED_BY_CHUNK(size, S) \
  (CONVOLVE_BOX_LOADED (size, S) * CONVOLVE_BOX_BYTES (size, S) + CONVOLVE_BOX_SAMPLES (size, S) * 4)

/* The weights of a row or a column: small integers, all equal but for the first and the last. */
typedef struct
{
  int inner; /* the weights between the first and the last */
  int edge;  /* the first and the last weight */
} ConvolveBoxAxis;

/* The arithmetic that turns a sum into a sample. */
typedef enum
{
  CONVOLVE_BOX_INTEGERS, /* an integer tail without clamping, see common/integer_tail.h */
  CONVOLVE_BOX_FLOATS,   /* convolve_floor () of cuda/device/words.cuh */
  CONVOLVE_BOX_PRODUCTS, /* convolve_box_product () */
  CONVOLVE_BOX_DOUBLES   /* convolve_tail_double () of common/tail.h */
} ConvolveBoxTail;

/* The kernels' second parameter. Chunks are counted from the first sample of a row on. */
typedef struct
{
  int first, count;    /* the chunks of all outputs: the first, and how many */
  int chunks, rows;    /* of a block's outputs */
  int lead, halo;      /* a block's inputs begin `lead` chunks before its outputs, and are `halo` chunks more */
  int gather_capacity; /* gathered chunks of a block that shared memory has room for */
  uint32_t *strips;    /* column sums over strips of `rows` rows, see convolve_box_strips (); or NULL */
  int n_strips;
  /*
   * The prefix sums before and at the end of the mask, for each sample of a chunk and one pixel more: indices in
   * Shared.sums, to which the thread's number is added.
   */
  int before[CONVOLVE_BOX_MOST_SAMPLES + CONVOLVE_MAX_SAMPLES], after[CONVOLVE_BOX_MOST_SAMPLES + CONVOLVE_MAX_SAMPLES];
  ConvolveBoxAxis row, column;
  unsigned keep[4];    /* the bits of a chunk's words whose samples are copied */
  bool aligned;        /* chunks inside the image are loaded as they are */
  bool aligned_stores; /* chunks are stored as they are */
  bool copies;         /* some samples are copied */
  ConvolveBoundary boundary;
  ConvolveBoxTail tail_kind;
  ConvolveIntegerTail integer_tail; /* of CONVOLVE_BOX_INTEGERS */
  ConvolveTail tail;                /* of floats and doubles; its scale is for sums of shifted samples */
  uint32_t factor;                  /* of CONVOLVE_BOX_PRODUCTS, and the next two */
  int64_t start[CONVOLVE_MAX_SAMPLES];
  ConvolvePlaces places;
} ConvolveBoxTask;

/* What depends on how samples are loaded: as aligned chunks of pixels, or gathered one by one. */
typedef struct
{
  ConvolveBoxTask task; /* all but the members that depend on the plane */
  int samples;          /* of a chunk */
  int sums;             /* words with the sums of a thread's columns */
  int layers;           /* of the grid: gathered samples have a layer of blocks for each sample of a pixel */
  int most;             /* chunks of a block with its halo, at most */
  size_t shared, shared_by_chunk;
} ConvolveBoxLayout;

/* plan->prepared of box. */
typedef struct
{
  ConvolveBoxAxis row, column;
  bool edges_differ; /* an axis has other weights at its edges */
  ConvolveBoxLayout gathered, aligned;
  bool can_align; /* the layout `aligned` exists: chunks of these pixels have no bytes between samples */
  int alignment;  /* bytes, of the address and the stride of planes that take the layout `aligned` */
} ConvolveBox;

/*
 * Finds the row and the column whose product, times one factor, is the mask. For example, a box over a subsampled
 * plane whose mask covers its outer samples by a half has edge 1 and inner 2. Fills row, column and edges_differ of
 * box. False, with the reason, where no such row and column keep the error budget; an exact plan needs exact ones.
 */
bool convolve_box_choose (const ConvolvePlan *plan, ConvolveBox *box, const char **reason);

/*
 * Chooses the cheapest arithmetic that is exact enough for sums of samples with their shift, and fills the members of
 * *task that it needs: tail_kind and those after it.
 */
void convolve_box_choose_tail (const ConvolvePlan *plan, const ConvolveBox *box, ConvolveBoxTask *task);

/*
 * The upper 32 bits of factor * sum + start, which fits 64 bits with a sign: a sample in its place for clamping, see
 * cuda/device/places.h.
 */
static CONVOLVE_BOTH int
convolve_box_product (uint32_t factor, int64_t start, uint32_t sum)
{
  return (int) (((uint64_t) factor * sum + (uint64_t) start) >> 32);
}

/* The factor from sums with the integers of box to sums with the plan's taps. */
double convolve_box_factor (const ConvolvePlan *plan, const ConvolveBox *box);

CONVOLVE_DEVICE_FUNCTIONS (box);

#ifdef __cplusplus
}
#endif

#endif
