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
 * x, y is the tile's first pixel: in the cell for gathering, and in the picture for taking.
 */
typedef struct
{
  int job, x, y;
} ConvolveTile;

/*
 * A plane of the frame, that effects are made from or blended into. No other table says where a frame is, so that the
 * others stay as they are for the next frame with the same works.
 */
typedef struct
{
  ConvolvePixel pixel;
  uint8_t *data;
  int64_t stride;
  int width, height;
} ConvolveFramePlane;

/* A cell of an atlas. */
typedef struct
{
  int source;                /* in the table of planes: the picture */
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

/*
 * The beginning of a job of any effect. The tiles of all jobs of a kernel are numbered one behind the other, row by row in
 * each job; a block of threads finds the job of its number.
 *
 * Where is_blended is set, the effect is blended into the target at once, as area and boxes say: see batch_pairs.c.
 * Otherwise it is written to the destination, which is the batch's memory.
 */
typedef struct
{
  int first_tile, columns; /* the job's first number, and tiles in a row */
  int source, target;      /* in the table of planes */
  int first_box, n_boxes;
  uint8_t shape, feather, x_step, y_step; /* of the area */
  bool outside, is_blended;
  uint16_t transparency; /* of the area */
  uint8_t *destination;
  int64_t destination_stride;
  ConvolveRect region;
} ConvolveEffect;

/* The weights of a blur, which all blurs of a size share. */
typedef struct
{
  int row_count, column_count;
  uint16_t row[CONVOLVE_MAX_BLUR + 1], column[CONVOLVE_MAX_BLUR + 1];
} ConvolveBlurWeights;

/* A blur; b and c are those of convolve_region.h. c is in planes, one for each sample, without gaps. */
typedef struct
{
  ConvolveEffect effect;
  int first_shrink_tile, shrink_columns; /* for the kernel that makes c */
  int weights;                           /* in the table of weights */
  uint8_t bits, tile;                    /* the factor is 2^bits; pixels of b along a side of a tile */
  uint8_t boundary;                      /* never constant, whose levels are `outside` */
  bool outside_is_constant;
  bool fine;           /* as in ConvolveBlur */
  ConvolveRect result; /* of b in the shrunk picture */
  uint16_t *c;         /* not to be used where bits is 0: each tile of the blur then makes its own */
} ConvolveBlurJob;

/*
 * A large block is cut into pieces, rows above each other: one kernel adds up the samples of each piece, and a tile of the
 * next kernel is one piece that gets the mean. Otherwise a tile is a block, with one piece and without sums.
 */
typedef struct
{
  ConvolveEffect effect;
  ConvolveBlocks blocks;
  int first_column, first_row; /* of the first block */
  int columns;                 /* of blocks */
  int pieces, first_sum_tile;
  uint64_t *sums; /* CONVOLVE_MAX_SAMPLES for each piece, block after block; not to be used where there is one piece */
} ConvolvePixelateJob;

typedef struct
{
  ConvolveEffect effect;
  int values[CONVOLVE_MAX_SAMPLES];
} ConvolveFillJob;

typedef struct
{
  ConvolveEffect effect;
  ConvolveDrawing drawing;
} ConvolveDrawJob;

/* One effect for a target. The boxes of area and their polygons are in tables of their own. */
typedef struct
{
  const uint8_t *source;
  int64_t source_stride;
  ConvolveRect region;
  ConvolveArea area;
  bool outlined;   /* there are polygons: that of box n of the table is outline n + to_outlines */
  bool has_shapes; /* convolve_blend_shapes is to blend: see there */
  uint8_t n_mattes;
  int first_matte; /* in the table of mattes */
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

/* A tile of a target that has effects. The target is in the table of planes. */
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
  ROW (PLANES, ConvolveFramePlane) \
  ROW (GATHER_JOBS, ConvolveGatherJob) \
  ROW (GATHER_TILES, ConvolveTile) \
  ROW (TAKE_JOBS, ConvolveTakeJob) \
  ROW (TAKE_TILES, ConvolveTile) \
  ROW (EFFECT_BOXES, ConvolveRect) \
  ROW (WEIGHTS, ConvolveBlurWeights) \
  ROW (BLUR_JOBS, ConvolveBlurJob) \
  ROW (PIXELATE_JOBS, ConvolvePixelateJob) \
  ROW (FILL_JOBS, ConvolveFillJob) \
  ROW (DRAW_JOBS, ConvolveDrawJob) \
  ROW (BLEND_JOBS, ConvolveBlendJob) \
  ROW (BOXES, ConvolveRect) \
  ROW (OUTLINES, ConvolveOutline) \
  ROW (CORNERS, ConvolvePoint) \
  ROW (MATTES, ConvolveMatte) \
  ROW (COVERS, ConvolveCover) \
  ROW (BLEND_TILES, ConvolveBlendTile)

#define CONVOLVE_MOST_TABLES 8 /* of a kernel */

#define CONVOLVE_TABLE_NAME(name, element) CONVOLVE_TABLE_##name,
typedef enum
{
  CONVOLVE_TABLES (CONVOLVE_TABLE_NAME) CONVOLVE_N_TABLES
} ConvolveTableName;

typedef struct
{
  ConvolveTable table[CONVOLVE_N_TABLES];
  ConvolveTable runs;                  /* ConvolveBatchRun: the convolutions */
  ConvolveTable cells, groups;         /* on the way from works to atlases: see batch_atlas.c */
  ConvolveTable counts, grid, targets; /* on the way from works to tiles: see batch_blends.c */
  ConvolveTable blurs;                 /* those of the table of weights */
  ConvolveTable pairs, heads, entries; /* on the way from works to effects: see batch_pairs.c */
  size_t shrink_tiles, sum_tiles, blur_tiles, pixelate_tiles, fill_tiles, draw_tiles;
  bool is_blended; /* effects are blended in at once, in whole or in part */
  bool has_shapes; /* a blend has */
  bool failed;     /* there was no memory for one of the tables */
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

/* The number of a work's source, or of its destination, in the table of planes. The work is not a copy. */
int convolve_table_add_source (ConvolveTables *tables, const ConvolveWork *work);
int convolve_table_add_target (ConvolveTables *tables, const ConvolveWork *work);

/* Forgets what the tables hold; clear() frees them, too. */
void convolve_tables_reset (ConvolveTables *tables);
void convolve_tables_clear (ConvolveTables *tables);

/* The bytes of an element of a table. */
size_t convolve_table_element (ConvolveTableName name);

/* Finds where each table begins in one block of device memory, and gives the bytes of the block. */
size_t convolve_tables_place (const ConvolveTables *tables, size_t offsets[CONVOLVE_N_TABLES]);

/*
 * Decides how the batch's convolutions are done, and what its blurs and its large blocks need: the bytes of all atlases with
 * their results, of the shrunk pictures, and of the sums.
 */
size_t convolve_tables_plan_atlases (ConvolveTables *tables, const ConvolveBatch *batch);
size_t convolve_tables_plan_blurs (const ConvolveBatch *batch);
size_t convolve_tables_plan_sums (const ConvolveBatch *batch);

/*
 * Finds the effects that are blended in at once. The others are written to the batch's memory, and blended from there
 * after all effects.
 */
void convolve_tables_find_pairs (ConvolveTables *tables, const ConvolveBatch *batch);

/* The blend of an effect that is blended in at once, or NULL; and whether a blend is one of these. */
const ConvolveWork *convolve_tables_blend_of (const ConvolveTables *tables, const ConvolveBatch *batch,
    const ConvolveWork *effect);
bool convolve_tables_is_paired (const ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *blend);

/* The blocks that a region touches: the column and the row of the first, and how many there are. */
ConvolveRect convolve_blocks_around (const ConvolveBlocks *blocks, ConvolveRect region);

/*
 * Fill the tables of the effects. arena is device memory of as many bytes as plan_atlases () gave, plan_blurs () or
 * plan_sums (): each has memory of its own.
 */
void convolve_tables_add_convolutions (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena);
void convolve_tables_add_blurs (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena);
void convolve_tables_add_simple (ConvolveTables *tables, const ConvolveBatch *batch,
    uint8_t *arena); /* pixelate, fill and draw */
void convolve_tables_add_blends (ConvolveTables *tables, const ConvolveBatch *batch);

#ifdef __cplusplus
}
#endif

#endif
