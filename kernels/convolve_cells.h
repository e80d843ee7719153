/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A form of frames whose samples share words, as in v210, or whose rows are cut into tiles. The inner picture has each sample in a
 * byte or a word of its own.
 */
#ifndef CONVOLVE_CELLS_H
#define CONVOLVE_CELLS_H

#include "convolve_form.h"

#ifdef __cplusplus
extern "C"
{
#endif

#pragma GCC visibility push(default)

#define CONVOLVE_CELL_PLANES 2   /* packed planes of a picture */
#define CONVOLVE_CELL_INNER 3    /* inner planes of a picture */
#define CONVOLVE_CELL_SAMPLES 12 /* samples of a cell */

typedef struct
{
  uint8_t shift; /* of the sample's lowest bit in the cell's number; no sample has both bit 63 and bit 64 */
  uint8_t bits;  /* at most the depth of the inner samples */
  uint8_t plane; /* which inner plane has the sample */
  uint8_t index; /* which of the cell's samples in that plane this is */
} ConvolveCellSample;

/*
 * A packed plane, whose rows repeat one pattern of samples: the cell. A cell's bytes are a number, of which the first byte is
 * the least significant one, or the most significant one where the plane is big. What is no sample is kept.
 *
 * In a plane of tiles, a plane's stride is the bytes from a row of tiles to the next.
 */
typedef struct
{
  int cell; /* bytes: 1 .. 16 */
  bool big;
  int row_bytes;                   /* bytes of a row of samples: the last cell may lack some */
  int rows;                        /* of samples */
  int y_shift;                     /* 1 where a row stands for two rows of luma, otherwise 0 */
  int tile_bytes, tile_rows;       /* a tile has so many bytes of so many rows; 0 where there are no tiles */
  int tiles_x, tiles_y;            /* tiles in a row, and rows of tiles */
  bool zigzag;                     /* 2x2 tiles stand together, in the shape of a Z and of a flipped Z in turns */
  int depth;                       /* of the inner samples: 8 in bytes, or more in words of the machine's byte order */
  int counts[CONVOLVE_CELL_INNER]; /* samples of a cell in each inner plane; 0 where the plane has none */
  int width[CONVOLVE_CELL_INNER];  /* samples in a row of each of these planes */
  int n_samples;
  ConvolveCellSample samples[CONVOLVE_CELL_SAMPLES];
} ConvolveCellPlane;

typedef struct
{
  int n_planes;
  ConvolveCellPlane planes[CONVOLVE_CELL_PLANES];
} ConvolveCells;

/*
 * Makes the form for pictures on the device, or in host memory where device is NULL. NULL on error: INVALID (a description
 * that contradicts itself), NO_MEMORY.
 */
ConvolveForm *convolve_form_new_cells (const ConvolveCells *cells, ConvolveDevice *device, ConvolveError *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
