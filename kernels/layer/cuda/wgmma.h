/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the host side and the kernel of wgmma agree on.
 *
 * wgmma is an implicit GEMM like gemm, by the instruction wgmma.m64n128k16 of compute capability 9.0: four warps
 * together multiply 64 x 16 weights by 16 x 128 samples, and both lie in shared memory. The instruction is told where
 * they lie by addresses and distances. So the matrix of windows is never made: the same samples in shared memory are
 * read once for each weight that they meet.
 *
 * Both consist of core matrices, as NVIDIA calls them: 8 rows of 16 bytes, 128 bytes without gaps. A core matrix of
 * samples has a row for each of 8 outputs that are side by side. The 16 bytes of a row are a cell: 8 samples in float16.
 * A cell belongs to a column of the input:
 *
 *     channels    a cell of column x in row y, for group g
 *     above 4     channels 8g .. 8g + 7 of (y, x)
 *     3, 4        4 channels of (y, x), then of (y, x + 1)
 *     2           2 channels of (y, x) .. (y, x + 3)
 *     1           (y, x) .. (y, x + 7)
 *
 * So cells of neighbouring columns overlap where there are few channels, and the cells of 8 outputs side by side are
 * always next to each other: that is what the instruction needs. With a horizontal stride of 2 the even and the odd
 * columns are stored apart.
 *
 * The reduction is done in chunks of groups of channels, a chunk in steps, a step in two cells. Example: 3 channels and
 * a 7x7 kernel have 4 cells in a row, for columns 0, 2, 4 and 6; the weights of column 7 and of the fourth channel are
 * 0. The 28 cells of a window make 14 steps.
 */
#ifndef CONVOLVE_LAYER_CUDA_WGMMA_H
#define CONVOLVE_LAYER_CUDA_WGMMA_H

#include "layer/cuda/weights.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_LAYER_WGMMA_FILTERS 64 /* of a block */
#define CONVOLVE_LAYER_WGMMA_SIDE 16    /* outputs of a block's tile, both ways */
#define CONVOLVE_LAYER_WGMMA_CELL 8     /* samples */

/* Blocks that share a multiprocessor where their shared memory allows it. */
#define CONVOLVE_LAYER_WGMMA_BLOCKS 2

#define CONVOLVE_LAYER_WGMMA_MAX_BUFFERS 4

/* The bytes of the weights of a step, and the ring in shared memory through which weights come that are not resident. */
#define CONVOLVE_LAYER_WGMMA_STEP_BYTES (CONVOLVE_LAYER_WGMMA_FILTERS * 2 * CONVOLVE_LAYER_WGMMA_CELL * 2)
#define CONVOLVE_LAYER_WGMMA_STAGE_STEPS 4
#define CONVOLVE_LAYER_WGMMA_STAGES 4
#define CONVOLVE_LAYER_WGMMA_RING \
  (CONVOLVE_LAYER_WGMMA_STAGES * CONVOLVE_LAYER_WGMMA_STAGE_STEPS * CONVOLVE_LAYER_WGMMA_STEP_BYTES)

/*
 * How a kernel reads cells. A thread writes those of a piece, which is two or four columns of a row: in row y and for piece
 * x cell n is at y * row_cells + x * piece_cells + cell[n].
 */
typedef struct
{
  int steps; /* of a chunk: one step is the part of the reduction that one tensor core instruction does, two cells */
  int piece; /* columns */
  int piece_cells;
  int cell[4];   /* -1: no output needs a column at this place */
  int row_cells; /* from a row of cells to the next one */
  int pixels;    /* of a cell, which has 8 / pixels channels: 1, 2, 4 or 8 */
  int margin;    /* columns of a patch to the left of the first window, less than a piece, so that pieces are aligned */
  int buffers;   /* chunks of cells that shared memory holds */
  bool resident; /* shared memory holds all weights, so that they come once */
} ConvolveLayerWgmmaPart;

/* plan->prepared of the variant wgmma. */
typedef struct
{
  ConvolveLayerPrepared
      base; /* its tiles: `pitch` counts pieces (part.piece), `plane` cells, `planes` groups of channels */
  ConvolveLayerWgmmaPart part;
  int columns;   /* cells of a window's row */
  size_t buffer; /* bytes of a chunk's cells */
} ConvolveLayerWgmma;

/* Sizes the patch of a tile, the chunks and their buffers. Returns false where nothing fits `limit` bytes. */
bool convolve_layer_wgmma_plan (const ConvolveLayer *layer, size_t limit, ConvolveLayerWgmma *geometry);

/* The bytes of the packed weights. */
size_t convolve_layer_wgmma_bytes (const ConvolveLayer *layer, const ConvolveLayerWgmma *geometry);

/*
 * Packs the weights as the instruction reads them: for each group of 64 filters, chunk and step the two cells, for each of
 * these the filters, for each of these 8 weights. `bias` gets the biases, behind them the scales of the filters, and behind
 * these a word for each step: the place of its first cell, and 16 bits further up the distance to the second one, in cells.
 * Returns false where there is no memory.
 */
bool convolve_layer_wgmma_pack (const ConvolveLayer *layer, const ConvolveLayerWgmma *geometry, uint16_t *packed,
    float *bias);

CONVOLVE_LAYER_DEVICE_FUNCTIONS (wgmma);

#ifdef __cplusplus
}
#endif

#endif
