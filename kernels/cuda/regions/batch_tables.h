/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The work of a batch on a device, as tables that kernels read: a table of jobs for each kernel, and a table of tiles,
 * one for each block of threads. So one launch does all works of a kind, however many and however large they are.
 *
 * The convolutions of boxes are launches of the plan's own kernel. One or two boxes of a picture get a launch each;
 * boxes that fill most of the rectangle around them get one launch over this rectangle; all others go through an atlas.
 * The pictures around the boxes are gathered in the atlas, side by side and with as much around each as the mask
 * reaches. One launch convolves the atlas, and the boxes are taken from the result:
 *
 *     picture          atlas, each cell with a margin     result
 *     . . . . . .      +-------+----------+               +-------+----------+
 *     . a a . . .  ->  |  a a  |  b b b   |       ->      |  A A  |  B B B   |   -> memory of the effects
 *     . . . b b b      +-------+----------+               +-------+----------+
 *
 * Samples outside the picture are written into the margins, so the plan's boundary is of no account there.
 */
#ifndef CONVOLVE_CUDA_BATCH_TABLES_H
#define CONVOLVE_CUDA_BATCH_TABLES_H

#include "common/batch.h"
#include "common/boundary.h"
#include "common/internal.h"

#ifdef __cplusplus
extern "C"
{
#endif

#define CONVOLVE_TILE_WIDTH 32
#define CONVOLVE_TILE_HEIGHT 8     /* of cells and effects: one pixel for each thread of a block */
#define CONVOLVE_BLEND_TILE 32     /* side of a tile that is blended */
#define CONVOLVE_BATCH_THREADS 256 /* of a block */
#define CONVOLVE_BLEND_THREADS 512 /* of a block that blends */
#define CONVOLVE_BLUR_TILE 32      /* pixels of b along a side of the largest tile of a blur */
#define CONVOLVE_BLUR_OUTPUTS 32   /* samples along a side that a tile of a blur makes, about */

/*
 * x, y is the tile's first pixel: in the cell for gathering and shrinking, and in the picture for taking and filling.
 * For pixelate it is the column and the row of a square of ConvolveBlocks.
 */
typedef struct
{
  int job, x, y;
} ConvolveTile;

/* A cell of an atlas. */
typedef struct
{
  ConvolvePixel pixel;
  const uint8_t *source; /* the picture, of width x height pixels */
  int64_t source_stride;
  int width, height;
  ConvolveBoundary boundary; /* never constant */
  int outside[CONVOLVE_MAX_SAMPLES];
  uint8_t *cell;
  int64_t cell_stride;
  ConvolveRect place; /* of the cell in the picture; may reach beyond it */
} ConvolveGatherJob;

/* An effect from the result of a convolution. */
typedef struct
{
  ConvolvePixel pixel;
  const uint8_t *source; /* where pixel (0, 0) of the picture would be */
  int64_t source_stride;
  uint8_t *destination;
  int64_t destination_stride;
  ConvolveRect region;
} ConvolveTakeJob;

/* A blur; b and c are those of convolve_region.h. c is in planes, one for each sample, without gaps. */
typedef struct
{
  ConvolvePixel pixel;
  const uint8_t *source;
  int64_t source_stride;
  int width, height, bits; /* the factor is 2^bits */
  ConvolveBoundary boundary;
  int outside[CONVOLVE_MAX_SAMPLES];
  ConvolveRect cell, result; /* in the shrunk picture: of c and of b */
  uint16_t *c;               /* not to be used where bits is 0: each tile of the blur then makes its own */
  int tile;                  /* pixels of b along a side of a tile */
  uint8_t *destination;
  int64_t destination_stride;
  ConvolveRect region;
  int row_count, column_count;
  uint16_t row[CONVOLVE_MAX_BLUR + 1], column[CONVOLVE_MAX_BLUR + 1];
} ConvolveBlurJob;

/* Pixel x, y of b is the first one of the tile. */
typedef struct
{
  int job, sample, x, y;
} ConvolveBlurTile;

typedef struct
{
  ConvolvePixel pixel;
  ConvolveBlocks blocks;
  const uint8_t *source;
  int64_t source_stride;
  int width, height;
  uint8_t *destination;
  int64_t destination_stride;
  ConvolveRect region;
} ConvolvePixelateJob;

typedef struct
{
  ConvolvePixel pixel;
  int values[CONVOLVE_MAX_SAMPLES];
  uint8_t *destination;
  int64_t destination_stride;
  ConvolveRect region;
} ConvolveFillJob;

/* A plane that effects are blended into. */
typedef struct
{
  ConvolvePixel pixel;
  uint8_t *destination;
  int64_t destination_stride;
} ConvolveTarget;

/* One effect for a target. The boxes of area and their polygons are in tables of their own. */
typedef struct
{
  const uint8_t *source;
  int64_t source_stride;
  ConvolveRect region;
  ConvolveArea area;
  bool outlined; /* there are polygons: that of box n of the table is outline n + to_outlines */
  int to_outlines;
} ConvolveBlendJob;

/*
 * An effect in a tile, with all of its boxes that reach the tile, and maybe others. The effects of a tile are a list,
 * lowest first.
 */
typedef struct
{
  int job, first_box, n_boxes;
  int next; /* index of the next cover, or -1 */
} ConvolveCover;

/* A tile of a target that has effects. */
typedef struct
{
  int target, x, y, first_cover;
} ConvolveBlendTile;

typedef struct
{
  const ConvolvePlan *plan;
  ConvolvePlane plane;
} ConvolveBatchRun;

/* A list that grows. */
typedef struct
{
  void *elements;
  size_t count, room;
} ConvolveTable;

/* The tables that go to the device, in the order in which they lie there, and the type of their elements. */
#define CONVOLVE_TABLES(ROW) \
  ROW (GATHER_JOBS, ConvolveGatherJob) \
  ROW (GATHER_TILES, ConvolveTile) \
  ROW (TAKE_JOBS, ConvolveTakeJob) \
  ROW (TAKE_TILES, ConvolveTile) \
  ROW (BLUR_JOBS, ConvolveBlurJob) \
  ROW (SHRINK_TILES, ConvolveTile) \
  ROW (BLUR_TILES, ConvolveBlurTile) \
  ROW (PIXELATE_JOBS, ConvolvePixelateJob) \
  ROW (PIXELATE_TILES, ConvolveTile) \
  ROW (FILL_JOBS, ConvolveFillJob) \
  ROW (FILL_TILES, ConvolveTile) \
  ROW (TARGETS, ConvolveTarget) \
  ROW (BLEND_JOBS, ConvolveBlendJob) \
  ROW (BOXES, ConvolveRect) \
  ROW (OUTLINES, ConvolveOutline) \
  ROW (CORNERS, ConvolvePoint) \
  ROW (COVERS, ConvolveCover) \
  ROW (BLEND_TILES, ConvolveBlendTile)

#define CONVOLVE_MOST_TABLES 7 /* of a kernel */

#define CONVOLVE_TABLE_NAME(name, element) CONVOLVE_TABLE_##name,
typedef enum
{
  CONVOLVE_TABLES (CONVOLVE_TABLE_NAME) CONVOLVE_N_TABLES
} ConvolveTableName;

typedef struct
{
  ConvolveTable table[CONVOLVE_N_TABLES];
  ConvolveTable runs;          /* ConvolveBatchRun: the convolutions */
  ConvolveTable cells, groups; /* on the way from works to atlases: see batch_atlas.c */
  ConvolveTable counts, grid;  /* on the way from works to tiles: see batch_blends.c */
  bool failed;                 /* there was no memory for one of the tables */
} ConvolveTables;

/* Adds `count` elements at the end, filled with 0: the first of them, or NULL with tables->failed set. */
void *convolve_table_extend (ConvolveTables *tables, ConvolveTable *table, size_t size, size_t count);

/*
 * How a block of threads shrinks a picture by 2^bits: convolve_shrink_lanes () threads share one pixel, and the tile
 * has convolve_shrink_width () x convolve_shrink_height () pixels.
 */
static CONVOLVE_BOTH int
convolve_shrink_lanes (int bits)
{
  return bits < 5 ? 1 << bits : 32;
}

static CONVOLVE_BOTH int
convolve_shrink_width (int bits)
{
  return bits < 5 ? 16 : 8;
}

static CONVOLVE_BOTH int
convolve_shrink_height (int bits)
{
  return CONVOLVE_BATCH_THREADS / convolve_shrink_lanes (bits) / convolve_shrink_width (bits);
}

/* Adds the tiles of a rectangle, of width x height each. */
void convolve_table_add_tiles (ConvolveTables *tables, ConvolveTableName name, size_t job, ConvolveRect rect, int width,
    int height);

/* Forgets what the tables hold; clear() frees them, too. */
void convolve_tables_reset (ConvolveTables *tables);
void convolve_tables_clear (ConvolveTables *tables);

/* The bytes of an element of a table. */
size_t convolve_table_element (ConvolveTableName name);

/* Finds where each table begins in one block of device memory, and gives the bytes of the block. */
size_t convolve_tables_place (const ConvolveTables *tables, size_t offsets[CONVOLVE_N_TABLES]);

/*
 * Decides how the batch's convolutions are done, and what its blurs need: the bytes of all atlases with their results,
 * and of the shrunk pictures.
 */
size_t convolve_tables_plan_atlases (ConvolveTables *tables, const ConvolveBatch *batch);
size_t convolve_tables_plan_blurs (const ConvolveBatch *batch);

/*
 * Fill the tables of the effects. arena is device memory of as many bytes as plan_atlases () gave, or plan_blurs ():
 * the two have memory of their own.
 */
void convolve_tables_add_convolutions (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena);
void convolve_tables_add_blurs (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena);
void convolve_tables_add_simple (ConvolveTables *tables, const ConvolveBatch *batch); /* pixelate and fill */
void convolve_tables_add_blends (ConvolveTables *tables, const ConvolveBatch *batch);

#ifdef __cplusplus
}
#endif

#endif
