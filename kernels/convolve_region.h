/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of a picture: boxes of any place with soft edges, and what is done there beside the convolution. The functions
 * in the first half do their work in host memory before they return. A batch collects the same work, and convolutions
 * of parts, for a whole frame; then the host does the work, or a device does it in few launches.
 *
 * Boxes are given in luma pixels. A pixel of a plane stands for x_step by y_step luma pixels: 1, 2 or 4 each way. The
 * results are integers from formulas that round alike on every machine, so they are the same bytes everywhere.
 */
#ifndef CONVOLVE_REGION_H
#define CONVOLVE_REGION_H

#include "convolve.h"
#include "convolve_pool.h"

#ifdef __cplusplus
extern "C"
{
#endif

#pragma GCC visibility push(default)

typedef enum
{
  CONVOLVE_SHAPE_RECTANGLE, /* the box */
  CONVOLVE_SHAPE_ELLIPSE,   /* the pixels whose centre is in the largest ellipse in the box */
  CONVOLVE_N_SHAPES
} ConvolveShape;

#define CONVOLVE_MAX_FEATHER 255   /* luma pixels */
#define CONVOLVE_MAX_BOX (1 << 20) /* luma pixels: largest side of a box, and largest magnitude of its place */
#define CONVOLVE_WHOLE_WEIGHT 256  /* at which the effect replaces the picture completely */
#define CONVOLVE_MAX_FACTOR 64     /* of shrinking */
#define CONVOLVE_MAX_CORNERS 64    /* of a polygon */
#define CONVOLVE_MAX_MATTES 2      /* of an area */
#define CONVOLVE_POINTS 16         /* places to a luma pixel, in each direction */

/*
 * A corner of a polygon, in sixteenths of a luma pixel. Luma pixel (x, y) is the square from (16 x, 16 y) to
 * (16 x + 16, 16 y + 16).
 */
typedef struct
{
  int x, y;
} ConvolvePoint;

/*
 * A polygon inside a box. Its corners follow each other in a list, and the last one is joined to the first. Edges may
 * cross: the polygon is all that the outline winds around, by the nonzero rule.
 */
typedef struct
{
  int first, count; /* in the list of corners: 3..CONVOLVE_MAX_CORNERS, or a count of 0 for a box without a polygon */
  int margin;       /* sixteenths of a luma pixel: the polygon is larger by this distance on all sides */
} ConvolveOutline;

/*
 * A picture of weights, such as the alpha of a frame: one sample of each pixel, 0 for nothing and 2^depth - 1 for the
 * whole. A luma pixel with value v has the weight 256 * v / (2^depth - 1), rounded to the nearest. Luma pixels beyond an
 * edge have the value of the nearest pixel inside.
 */
typedef struct
{
  const void *samples; /* pixel (0, 0) */
  ptrdiff_t stride;    /* bytes from row to row; may be negative */
  int width, height;   /* luma pixels */
  ConvolvePixel pixel;
  int sample; /* which one of the pixel */
} ConvolveMatte;

/* Polygons and mattes of an area; most areas have none. */
typedef struct
{
  /* Of each box, or NULL where no box has a polygon. A polygon with its margin lies in its box, whatever the shape. */
  const ConvolveOutline *outlines;
  const ConvolvePoint *corners; /* n_corners of them */
  int n_corners;

  const ConvolveMatte *mattes; /* weights beside those of the boxes */
  int n_mattes;                /* 0..CONVOLVE_MAX_MATTES */
} ConvolveExtras;

/*
 * Where an effect shows in a plane, and how much. The weight of a box is 256 inside the shape, 0 beyond the feather,
 * and falls in between:
 *  - rectangle: 256 * (1 - d / (feather + 1)), with d the distance to the box in luma pixels;
 *  - ellipse: 256 * p / (p + q), with p = 1 - r / R' and q = r / R - 1. Here r is the pixel's distance from the centre,
 *    R the radius of the ellipse in the pixel's direction, and R' that of the ellipse whose half axes are longer by the
 *    feather;
 *  - polygon: as a rectangle, with d = e - margin + 1/2, and e the distance from the pixel's centre to the nearest edge
 *    in luma pixels. The weight is 256, too, where d is below 1, where an edge passes through the inside of the pixel's
 *    square, and where the outline winds around the pixel's centre. Edges of no length do not count.
 * The weight is rounded down. Where boxes and mattes lie over each other the largest weight counts.
 *
 * A pixel of the plane has the weight of the nearest of its luma pixels, so that a chroma sample that touches a box
 * belongs to it. With outside set the weight is 256 less the least weight of its luma pixels: the effect shows around
 * the boxes, and a chroma sample that touches the outside of all boxes belongs to the outside.
 *
 * With transparency t, a weight w of all that becomes (w * (256 - t) + 128) / 256, rounded down.
 */
typedef struct
{
  const ConvolveRect *boxes; /* in luma pixels; may lie outside the picture; at least one pixel large */
  int count;
  ConvolveShape shape;
  int feather; /* luma pixels, 0..CONVOLVE_MAX_FEATHER */
  bool outside;
  uint16_t transparency;        /* 0..CONVOLVE_WHOLE_WEIGHT: what stays of the picture in whole weights */
  int x_step, y_step;           /* luma pixels for each pixel of the plane: 1, 2 or 4 */
  const ConvolveExtras *extras; /* or NULL */
} ConvolveArea;

/* The weight at pixel (x, y) of a plane: 0..CONVOLVE_WHOLE_WEIGHT. */
int convolve_area_weight (const ConvolveArea *area, int x, int y);

/*
 * convolve_blend (), convolve_pixelate (), convolve_fill () and convolve_draw () work in host memory, on the samples that
 * pixel->select names, within plane->region. Any thread may call them. Errors: INVALID (pixel, sizes, region, strides, box),
 * NO_MEMORY.
 */

/*
 * Blends an effect, the source, into a picture, the destination: before + ((effect - before) * weight + 128) / 256,
 * rounded down. A sample of weight 0 is not written. The source's unused bits are 0, as in everything that this library
 * writes. Outside the region neither source nor destination is touched, so neither needs memory there.
 */
ConvolveStatus convolve_blend (const ConvolvePixel *pixel, const ConvolveArea *area, const ConvolvePlane *plane,
    ConvolveError *error);

/* Squares of `size` luma pixels; the corner of one of them lies at (x, y). */
typedef struct
{
  int x, y, size;
  int x_step, y_step; /* as in ConvolveArea */
  uint32_t noise;     /* the scale of the noise, in 1/256 of a code value; 0 for none */
  uint64_t key[2];    /* of the noise; secret where the noise is to hide something */
  uint64_t draws[2];  /* names of two draws, whose sum is added; one name gives the same numbers again */
} ConvolveBlocks;

/*
 * Writes the mean of each block's source samples, rounded half up. A pixel belongs to the block of its first luma
 * pixel; the part of a block outside the picture does not count.
 *
 * Where noise is above 0, two numbers of Laplace's distribution are added to the mean of sample k of a block, one for
 * each draw, and the sum is clamped to 0 .. 2^depth - 1. The block of column c and row r has its corner at
 * (x + c size, y + r size). A number is n, or -n where h is odd, with all steps rounded down:
 *
 *   h = SipHash-2-4 under the key, of 24 bytes: the draw in 64 bits, c and r in 32 bits each, and k in 64 bits, all with
 *       the low byte first
 *   u = the high 32 bits of h, or 1 where these are 0
 *   l = 2^16 * (32 - log2 (u)), with 16 binary digits behind the point of the logarithm. From m = u / 2^floor (log2 (u))
 *       with 31 digits, each digit comes from m's square, again with 31 digits: where that is 2 or more, the digit is 1,
 *       and half of the square is the next m
 *   n = ((l * 45426 / 2^16) * noise + 2^23) / 2^24
 */
ConvolveStatus convolve_pixelate (const ConvolvePixel *pixel, const ConvolveBlocks *blocks, const ConvolvePlane *plane,
    ConvolveError *error);

/* Writes one value for each sample of a pixel, 0 .. 2^depth - 1. The plane's source is not read, and must not be NULL. */
ConvolveStatus convolve_fill (const ConvolvePixel *pixel, const int *values, const ConvolvePlane *plane,
    ConvolveError *error);

/* A picture that is drawn over a plane in another size. Places are in 1/65536 of the picture's pixels. */
typedef struct
{
  const uint16_t *values; /* row by row without gaps: for each pixel 0 .. 2^depth - 1 of each sample of the plane's */
  int width, height;      /* at least 1 */
  int64_t x, y;         /* of the plane's pixel (0, 0), where 0 is the picture's; magnitude up to CONVOLVE_MAX_PLACE */
  int64_t across, down; /* from a pixel of the plane to the next, 1 .. CONVOLVE_MAX_PITCH */
} ConvolveDrawing;

#define CONVOLVE_MAX_PLACE ((int64_t) 1 << 60)
#define CONVOLVE_MAX_PITCH ((int64_t) 1 << 31)

/*
 * Writes the picture, interpolated bilinearly; the plane's source is not read, and must not be NULL. For column c of the plane, u is x + c
 * across, clamped to 0 .. 65536 (width - 1); i is u / 65536, and f is u / 256 mod 256, both rounded down. For rows, j and
 * g follow from y and down in the same way. With p the picture's values, a sample is
 *
 *   ((256 - g) ((256 - f) p(i, j) + f p(i + 1, j)) + g ((256 - f) p(i, j + 1) + f p(i + 1, j + 1)) + 2^15) / 2^16
 *
 * rounded down.
 */
ConvolveStatus convolve_draw (const ConvolvePixel *pixel, const ConvolveDrawing *drawing, const ConvolvePlane *plane,
    ConvolveError *error);

/*
 * A wide blur by two vectors of weights that are not negative, on a picture that is shrunk by `factor` first. Its
 * arithmetic is of integers. With s the samples and d the depth:
 *
 *   c(x, y) = (2^(16-d) * (sum of the factor^2 samples s from (factor x, factor y) on) + factor^2/2) / factor^2
 *   r(x, y) = (sum over i of row[i] * c(x + i - width/2, y) + 2^14) / 2^15
 *   b(x, y) = (sum over j of column[j] * r(x, y + j - height/2) + 2^14) / 2^15
 *
 * each rounded down. Where d is above 8, and `fine` is not set, b is then rounded half up to a multiple of 256, and 65536
 * becomes 65535: the low bits of b would let attackers undo the blur (tests/results/undo.md). Samples s outside the picture are those of
 * the boundary; so c, r and b are defined there, too. A result is interpolated bilinearly between the centres of b's
 * pixels, divided by 2^(16-d), rounded half up, and clamped to 2^d - 1.
 */
#define CONVOLVE_MAX_BLUR 63 /* weights of a vector */
#define CONVOLVE_BLUR_SUM (1 << 15)

typedef struct
{
  int factor;                                                 /* a power of two up to CONVOLVE_MAX_FACTOR */
  int width, height;                                          /* odd, up to CONVOLVE_MAX_BLUR */
  uint16_t row[CONVOLVE_MAX_BLUR], column[CONVOLVE_MAX_BLUR]; /* each adds up to CONVOLVE_BLUR_SUM */
  bool fine; /* for deep samples that nobody sees before they are rounded to 8 bits */
} ConvolveBlur;

/*
 * Makes a blur from a mask: row[i] is the sum of the mask's column i, and column[j] that of its row j, both scaled to
 * CONVOLVE_BLUR_SUM and rounded down. The middle weight of each vector gets what the others lose by rounding. `fine` is
 * not set. The mask
 * is one set of weights that are not negative, with a sum above 0. Errors: INVALID (mask, factor).
 */
ConvolveStatus convolve_blur_init (ConvolveBlur *blur, const ConvolveMask *mask, int factor, ConvolveError *error);

/* --- the work of a frame --- */

/*
 * Work on parts of a frame, in three phases: effects, which read pictures and write to the batch's memory; copies of
 * planes; and blends of this memory into planes. All sources of effects are read as they are before the first copy and
 * blend, so a blend may write to the picture that effects are made from. Blends into one plane follow each other in the
 * order in which they were added. The caller sees to it that different planes do not overlap, and that no effect reads
 * what another writes.
 *
 * A device enqueues the work on its stream: one launch for all works of a kind, and a few for the convolutions with
 * each plan.
 */
typedef struct ConvolveBatch ConvolveBatch;

/*
 * device is NULL for work in host memory; otherwise it must outlive the batch, and all pointers are to its memory.
 * NULL on error: NO_MEMORY.
 */
ConvolveBatch *convolve_batch_new (ConvolveDevice *device, ConvolveError *error);
void convolve_batch_free (ConvolveBatch *batch); /* NULL is allowed; waits for a device */

/*
 * Lets the threads of a pool share the work on the host from now on. With NULL, as in a new batch, the caller works alone.
 * The batch must not be run after the pool is freed. The bytes do not depend on the number of threads.
 */
void convolve_batch_set_pool (ConvolveBatch *batch, ConvolvePool *pool);

/*
 * Begins the work of a frame: what was added before is forgotten. *memory is room for `bytes` bytes of effects, aligned
 * to 256 bytes, which the batch keeps; what a frame before left there is lost. Errors: NO_MEMORY, NO_DEVICE_MEMORY,
 * DEVICE_FAILED.
 */
ConvolveStatus convolve_batch_begin (ConvolveBatch *batch, size_t bytes, void **memory, ConvolveError *error);

/*
 * Each of the functions below adds one work; pixel, area, blocks, values, drawing and plane mean what they mean to the
 * functions above. Errors: INVALID (also where the work before belongs to a later phase), NO_MEMORY.
 */

/* plan is for the batch's device, and must live until the work is done. */
ConvolveStatus convolve_batch_convolve (ConvolveBatch *batch, const ConvolvePlan *plan, const ConvolvePlane *plane,
    ConvolveError *error);

/* blur must live until the work is done. */
ConvolveStatus convolve_batch_blur (ConvolveBatch *batch, const ConvolvePixel *pixel, ConvolveBoundary boundary,
    const ConvolveBlur *blur, const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_batch_pixelate (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveBlocks *blocks,
    const ConvolvePlane *plane, ConvolveError *error);
ConvolveStatus convolve_batch_fill (ConvolveBatch *batch, const ConvolvePixel *pixel, const int *values,
    const ConvolvePlane *plane, ConvolveError *error);

/* The values of the drawing must live until the work is done. */
ConvolveStatus convolve_batch_draw (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveDrawing *drawing,
    const ConvolvePlane *plane, ConvolveError *error);

/* Copies rows of row_bytes bytes. Strides are in bytes and may be negative. */
ConvolveStatus convolve_batch_copy (ConvolveBatch *batch, const void *source, ptrdiff_t source_stride,
    void *destination, ptrdiff_t destination_stride, size_t row_bytes, int rows, ConvolveError *error);

/* The boxes of area are copied, with their polygons. run() reads the samples of mattes, and blends must not write them. */
ConvolveStatus convolve_batch_blend (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveArea *area,
    const ConvolvePlane *plane, ConvolveError *error);

/*
 * Does all work that was added since begin(), on the host before it returns. Errors: NO_MEMORY, NO_DEVICE_MEMORY,
 * DEVICE_FAILED.
 */
ConvolveStatus convolve_batch_run (ConvolveBatch *batch, ConvolveError *error);

/* What the works that were added name as `from`, and the `bytes` bytes behind it, is at `to` now. */
typedef struct
{
  const void *from, *to;
  size_t bytes;
} ConvolveMove;

/*
 * Does the work that was added since begin () again, for other frames: sources and destinations that lie in one of n_moves
 * moves are taken where they are now, and all others where they were. Mattes do not move. Planes that were one are one
 * still, planes that did not overlap do not, and samples of 16 bits have moved by an even number of bytes. Nothing is
 * planned and, on a device, no table is made or sent again. Errors: INVALID (run () has not succeeded since begin ()), and
 * those of run ().
 */
ConvolveStatus convolve_batch_run_again (ConvolveBatch *batch, const ConvolveMove *moves, int n_moves,
    ConvolveError *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
