/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the blends of a batch to tiles. A block of threads takes one tile of a plane and blends all effects there in
 * their order, so that effects over each other need no launches of their own.
 */
#include <string.h>

#include "common/area.h"
#include "cuda/regions/batch_tables.h"

/* The tiles x, y up to right, bottom, which are not among them. */
typedef struct
{
  int left, top, right, bottom;
} Tiles;

static Tiles
tiles_of (int left, int top, int right, int bottom)
{
  return (Tiles){ convolve_floor_div (left, CONVOLVE_BLEND_TILE), convolve_floor_div (top, CONVOLVE_BLEND_TILE),
    convolve_floor_div (right - 1, CONVOLVE_BLEND_TILE) + 1, convolve_floor_div (bottom - 1, CONVOLVE_BLEND_TILE) + 1 };
}

static Tiles
tiles_of_rect (ConvolveRect rect)
{
  return tiles_of (rect.x, rect.y, rect.x + rect.width, rect.y + rect.height);
}

static Tiles
common_tiles (Tiles a, Tiles b)
{
  return (Tiles){ convolve_larger (a.left, b.left), convolve_larger (a.top, b.top),
    a.right < b.right ? a.right : b.right, a.bottom < b.bottom ? a.bottom : b.bottom };
}

/* The tiles where a box has a weight, with its feather. */
static Tiles
tiles_of_box (const ConvolveArea *area, ConvolveRect box)
{
  return tiles_of (convolve_floor_div (box.x - area->feather, area->x_step),
      convolve_floor_div (box.y - area->feather, area->y_step),
      convolve_floor_div (box.x + box.width + area->feather - 1, area->x_step) + 1,
      convolve_floor_div (box.y + box.height + area->feather - 1, area->y_step) + 1);
}

/* --- the boxes of an effect, tile by tile --- */

/* A place for each of the next boxes of the table, and for their polygons where the area has any. FALSE without memory. */
static bool
extend_boxes (ConvolveTables *tables, const ConvolveArea *area, size_t count)
{
  convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BOXES], sizeof (ConvolveRect), count);
  if (area->extras && area->extras->outlines)
    convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_OUTLINES], sizeof (ConvolveOutline), count);
  return !tables->failed;
}

/* From the number of a box in the table to that of its polygon, before boxes are added. */
static int
find_outlines (const ConvolveTables *tables)
{
  return (int) tables->table[CONVOLVE_TABLE_OUTLINES].count - (int) tables->table[CONVOLVE_TABLE_BOXES].count;
}

/* Writes box i of the area to place n of the table. */
static void
put_box (ConvolveTables *tables, const ConvolveArea *area, int i, int n, int to_outlines)
{
  ((ConvolveRect *) tables->table[CONVOLVE_TABLE_BOXES].elements)[n] = area->boxes[i];
  if (area->extras && area->extras->outlines)
    ((ConvolveOutline *) tables->table[CONVOLVE_TABLE_OUTLINES].elements)[n + to_outlines] = area->extras->outlines[i];
}

/*
 * Adds the boxes of each tile to the table of boxes: those of the tile at column i and row k of `tiles` are the boxes
 * first[n] up to first[n + 1], with n = k * columns + i. NULL without memory.
 */
static const int *
sort_boxes (ConvolveTables *tables, const ConvolveArea *area, Tiles tiles)
{
  int columns = tiles.right - tiles.left;
  size_t n = (size_t) columns * (size_t) (tiles.bottom - tiles.top);
  size_t before = tables->table[CONVOLVE_TABLE_BOXES].count, total = 0;
  int to_outlines = find_outlines (tables), *first;

  tables->counts.count = 0;
  first = convolve_table_extend (tables, &tables->counts, sizeof (int), n + 2);
  if (!first)
    return NULL;
  /* Counts go two places behind, and so become the ends, and then the starts, of the tiles' boxes. */
  for (int i = 0; i < area->count; i++) {
    Tiles met = common_tiles (tiles_of_box (area, area->boxes[i]), tiles);

    for (int y = met.top; y < met.bottom; y++)
      for (int x = met.left; x < met.right; x++) {
        first[(size_t) (y - tiles.top) * columns + (x - tiles.left) + 2]++;
        total++;
      }
  }
  first[0] = first[1] = (int) before;
  for (size_t i = 2; i < n + 2; i++)
    first[i] += first[i - 1];
  if (!extend_boxes (tables, area, total))
    return NULL;
  for (int i = 0; i < area->count; i++) {
    Tiles met = common_tiles (tiles_of_box (area, area->boxes[i]), tiles);

    for (int y = met.top; y < met.bottom; y++)
      for (int x = met.left; x < met.right; x++)
        put_box (tables, area, i, first[(size_t) (y - tiles.top) * columns + (x - tiles.left) + 1]++, to_outlines);
  }
  return first;
}

/* --- tiles --- */

/* So few boxes go to every tile of their effect, because sorting them takes longer than looking at them. */
#define FEW_BOXES 4

/* Where many boxes cover many tiles each, the sorted boxes would take too much memory. */
#define MOST_SORTED (1 << 20)

/* The boxes of a blend in a tile: those from first[0] up to first[1]. */
typedef struct
{
  const int *first;
  int step; /* from a tile to the next: 0 where all tiles have the same boxes */
} BoxesOfTiles;

/* Whether two blends have one target. */
static bool
belong_together (const ConvolveWork *a, const ConvolveWork *b)
{
  return a->plane.destination == b->plane.destination && a->plane.destination_stride == b->plane.destination_stride
      && a->pixel.stride == b->pixel.stride && a->pixel.select == b->pixel.select;
}

/* The boxes of all tiles together, as sort_boxes () would store them. */
static int64_t
count_sorted (const ConvolveArea *area, Tiles tiles)
{
  int64_t count = 0;

  for (int i = 0; i < area->count; i++) {
    Tiles met = common_tiles (tiles_of_box (area, area->boxes[i]), tiles);

    if (met.left < met.right && met.top < met.bottom)
      count += (int64_t) (met.right - met.left) * (met.bottom - met.top);
  }
  return count;
}

/* Adds all boxes of a blend to the table of boxes: range[0] is the first one, and range[1] the end. */
static bool
add_all_boxes (ConvolveTables *tables, const ConvolveArea *area, int range[2])
{
  int to_outlines = find_outlines (tables);

  range[0] = (int) tables->table[CONVOLVE_TABLE_BOXES].count;
  range[1] = range[0] + area->count;
  if (!extend_boxes (tables, area, (size_t) area->count))
    return false;
  for (int i = 0; i < area->count; i++)
    put_box (tables, area, i, range[0] + i, to_outlines);
  return true;
}

/*
 * An entry of a target's grid, for one tile: the tile's number in the table of tiles and its last cover, or -1 without
 * any.
 */
typedef struct
{
  int tile, last;
} Place;

/* Adds a cover to its tile, which is a new one where this is the first cover there. */
static void
add_cover (ConvolveTables *tables, int target, int x, int y, Place *place, ConvolveCover cover)
{
  ConvolveTable *covers = &tables->table[CONVOLVE_TABLE_COVERS], *tiles = &tables->table[CONVOLVE_TABLE_BLEND_TILES];

  if (place->last < 0) {
    place->tile = (int) tiles->count;
    ((ConvolveBlendTile *) tiles->elements)[tiles->count++] =
        (ConvolveBlendTile){ target, x * CONVOLVE_BLEND_TILE, y * CONVOLVE_BLEND_TILE, (int) covers->count };
  } else {
    ((ConvolveCover *) covers->elements)[place->last].next = (int) covers->count;
  }
  place->last = (int) covers->count;
  ((ConvolveCover *) covers->elements)[covers->count++] = cover;
}

/* Makes room for so many covers, each in a tile of its own. */
static bool
reserve (ConvolveTables *tables, size_t count)
{
  ConvolveTable *covers = &tables->table[CONVOLVE_TABLE_COVERS], *tiles = &tables->table[CONVOLVE_TABLE_BLEND_TILES];

  if (!convolve_table_extend (tables, covers, sizeof (ConvolveCover), count)
      || !convolve_table_extend (tables, tiles, sizeof (ConvolveBlendTile), count))
    return false;
  covers->count -= count;
  tiles->count -= count;
  return true;
}

/* The number of the blend's first matte in the table. */
static int
add_mattes (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work)
{
  ConvolveTable *table = &tables->table[CONVOLVE_TABLE_MATTES];
  size_t first = table->count, n = (size_t) work->blend.n_mattes;
  ConvolveMatte *mattes = convolve_table_extend (tables, table, sizeof (*mattes), n);

  if (mattes && n > 0)
    memcpy (mattes, batch->mattes + work->blend.first_matte, n * sizeof (*mattes));
  return (int) first;
}

/* Adds the covers of one blend to the target's grid, which has `columns` tiles to a row. */
static void
add_blend (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work, int target, int columns)
{
  ConvolveExtras extras;
  ConvolveArea area = convolve_batch_area (batch, work, &extras);
  Tiles tiles = tiles_of_rect (work->plane.region);
  int number = (int) tables->table[CONVOLVE_TABLE_BLEND_JOBS].count, to_outlines = find_outlines (tables), all[2];
  ConvolveBlendJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BLEND_JOBS], sizeof (*job), 1);
  BoxesOfTiles boxes = { all, 0 };

  if (area.count > FEW_BOXES && count_sorted (&area, tiles) <= MOST_SORTED)
    boxes = (BoxesOfTiles){ sort_boxes (tables, &area, tiles), 1 };
  else if (!add_all_boxes (tables, &area, all))
    return;
  if (!job || !boxes.first
      || !reserve (tables, (size_t) (tiles.right - tiles.left) * (size_t) (tiles.bottom - tiles.top)))
    return;
  *job = (ConvolveBlendJob){ .source = work->plane.source,
    .source_stride = work->plane.source_stride,
    .region = work->plane.region,
    .area = work->blend.area,
    .has_shapes = work->blend.has_shapes,
    .n_mattes = (uint8_t) work->blend.n_mattes,
    .first_matte = add_mattes (tables, batch, work),
    .outlined = work->blend.outlined,
    .to_outlines = to_outlines };
  tables->has_shapes |= job->has_shapes;
  for (int y = tiles.top; y < tiles.bottom; y++)
    for (int x = tiles.left; x < tiles.right; x++, boxes.first += boxes.step)
      if (boxes.first[0] != boxes.first[1] || area.outside || work->blend.n_mattes > 0)
        add_cover (tables, target, x, y, (Place *) tables->grid.elements + (size_t) y * columns + x,
            (ConvolveCover){ number, boxes.first[0], boxes.first[1] - boxes.first[0], -1 });
}

/* A grid without covers. */
static bool
clear_grid (ConvolveTables *tables, Tiles grid)
{
  size_t n = (size_t) grid.right * (size_t) grid.bottom;
  Place *places;

  tables->grid.count = 0;
  places = convolve_table_extend (tables, &tables->grid, sizeof (Place), n);
  if (places)
    memset (places, 0xff, n * sizeof (*places)); /* -1 */
  return places != NULL;
}

/* Whether this is the first blend of its target, of the blends up to it. */
static bool
is_first (ConvolveTables *tables, const ConvolveBatch *batch, size_t number)
{
  const size_t *firsts = tables->targets.elements;
  size_t *added;

  for (size_t i = 0; i < tables->targets.count; i++)
    if (belong_together (&batch->works[firsts[i]], &batch->works[number]))
      return false;
  added = convolve_table_extend (tables, &tables->targets, sizeof (*added), 1);
  if (added)
    *added = number;
  return added != NULL;
}

/* The tiles of all works of a target, the first of which is work number `first`. */
static Tiles
grid_of_target (const ConvolveBatch *batch, size_t first)
{
  int width = 1, height = 1;

  for (size_t i = first; i < batch->n_works; i++)
    if (batch->works[i].kind == CONVOLVE_WORK_BLEND && belong_together (&batch->works[first], &batch->works[i])) {
      width = convolve_larger (width, batch->works[i].plane.width);
      height = convolve_larger (height, batch->works[i].plane.height);
    }
  return tiles_of (0, 0, width, height);
}

void
convolve_tables_add_blends (ConvolveTables *tables, const ConvolveBatch *batch)
{
  ConvolvePoint *corners =
      convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_CORNERS], sizeof (*corners), batch->n_corners);

  if (corners && batch->n_corners > 0)
    memcpy (corners, batch->corners, batch->n_corners * sizeof (*corners));
  for (size_t i = 0; i < batch->n_works && !tables->failed; i++) {
    const ConvolveWork *work = &batch->works[i];
    Tiles grid;
    int target;

    if (work->kind != CONVOLVE_WORK_BLEND || convolve_tables_is_paired (tables, batch, work)
        || !is_first (tables, batch, i))
      continue;
    target = convolve_table_add_target (tables, work);
    grid = grid_of_target (batch, i);
    if (!clear_grid (tables, grid))
      return;
    for (size_t k = i; k < batch->n_works && !tables->failed; k++)
      if (batch->works[k].kind == CONVOLVE_WORK_BLEND && belong_together (work, &batch->works[k]))
        add_blend (tables, batch, &batch->works[k], target, grid.right);
  }
}
