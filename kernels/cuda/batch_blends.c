/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the blends of a batch to tiles. A block of threads takes one tile of a plane and blends all effects there in their
 * order, so that effects over each other need no launches of their own.
 */
#include "common/area.h"
#include "cuda/batch_tables.h"

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
  ConvolveRect *boxes;
  int *first;

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
  if (!convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BOXES], sizeof (ConvolveRect), total) && total > 0)
    return NULL;
  boxes = tables->table[CONVOLVE_TABLE_BOXES].elements;
  for (int i = 0; i < area->count; i++) {
    Tiles met = common_tiles (tiles_of_box (area, area->boxes[i]), tiles);

    for (int y = met.top; y < met.bottom; y++)
      for (int x = met.left; x < met.right; x++)
        boxes[first[(size_t) (y - tiles.top) * columns + (x - tiles.left) + 1]++] = area->boxes[i];
  }
  return first;
}

/* --- tiles --- */

static bool
belongs (const ConvolveTarget *target, const ConvolveWork *work)
{
  return target->destination == work->plane.destination && target->destination_stride == work->plane.destination_stride
      && target->pixel.stride == work->pixel.stride && target->pixel.select == work->pixel.select;
}

/* Adds the covers of one blend, in the target's grid of tiles. */
static void
add_blend (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work, Tiles grid)
{
  ConvolveArea area = convolve_batch_area (batch, work);
  Tiles tiles = tiles_of_rect (work->plane.region);
  size_t number = tables->table[CONVOLVE_TABLE_BLEND_JOBS].count;
  ConvolveBlendJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BLEND_JOBS], sizeof (*job), 1);
  const int *first = sort_boxes (tables, &area, tiles);
  ConvolveCover *cover;

  if (!job || !first)
    return;
  *job = (ConvolveBlendJob){ .source = work->plane.source,
    .source_stride = work->plane.source_stride,
    .region = work->plane.region,
    .area = work->blend.area };
  cover = convolve_table_extend (tables, &tables->covers, sizeof (*cover),
      (size_t) (tiles.right - tiles.left) * (size_t) (tiles.bottom - tiles.top));
  for (int y = tiles.top; y < tiles.bottom && cover; y++)
    for (int x = tiles.left; x < tiles.right; x++, first++)
      if (first[0] != first[1] || area.outside)
        *cover++ = (ConvolveCover){ .tile = (y - grid.top) * (grid.right - grid.left) + (x - grid.left),
          .job = (int) number,
          .first_box = first[0],
          .n_boxes = first[1] - first[0] };
  if (cover)
    tables->covers.count = (size_t) (cover - (ConvolveCover *) tables->covers.elements);
}

/* Sorts the target's covers by tiles, in their order, and adds the tiles that have any. */
static void
add_tiles (ConvolveTables *tables, int target, Tiles grid)
{
  int columns = grid.right - grid.left;
  size_t n = (size_t) columns * (size_t) (grid.bottom - grid.top);
  size_t before = tables->table[CONVOLVE_TABLE_COVERS].count;
  const ConvolveCover *covers = tables->covers.elements;
  ConvolveCover *sorted;
  ConvolveBlendTile *tile;
  int *first;

  tables->counts.count = 0;
  first = convolve_table_extend (tables, &tables->counts, sizeof (int), n + 2);
  if (!first
      || !convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_COVERS], sizeof (ConvolveCover),
          tables->covers.count))
    return;
  sorted = tables->table[CONVOLVE_TABLE_COVERS].elements;
  for (size_t i = 0; i < tables->covers.count; i++)
    first[covers[i].tile + 2]++;
  first[0] = first[1] = (int) before;
  for (size_t i = 2; i < n + 2; i++)
    first[i] += first[i - 1];
  for (size_t i = 0; i < tables->covers.count; i++)
    sorted[first[covers[i].tile + 1]++] = covers[i];
  tile = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_BLEND_TILES], sizeof (*tile), n);
  for (size_t i = 0; i < n && tile; i++)
    if (first[i] != first[i + 1])
      *tile++ = (ConvolveBlendTile){ .target = target,
        .x = (grid.left + (int) (i % (size_t) columns)) * CONVOLVE_BLEND_TILE,
        .y = (grid.top + (int) (i / (size_t) columns)) * CONVOLVE_BLEND_TILE,
        .first_cover = first[i],
        .n_covers = first[i + 1] - first[i] };
  if (tile)
    tables->table[CONVOLVE_TABLE_BLEND_TILES].count =
        (size_t) (tile - (ConvolveBlendTile *) tables->table[CONVOLVE_TABLE_BLEND_TILES].elements);
}

/* The target of a work, where this is the first work of the target; otherwise NULL. */
static const ConvolveTarget *
add_target (ConvolveTables *tables, const ConvolveWork *work)
{
  const ConvolveTarget *targets = tables->table[CONVOLVE_TABLE_TARGETS].elements;
  ConvolveTarget *target;

  for (size_t i = 0; i < tables->table[CONVOLVE_TABLE_TARGETS].count; i++)
    if (belongs (&targets[i], work))
      return NULL;
  target = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_TARGETS], sizeof (*target), 1);
  if (target) {
    target->pixel = work->pixel;
    target->destination = work->plane.destination;
    target->destination_stride = work->plane.destination_stride;
  }
  return target;
}

void
convolve_tables_add_blends (ConvolveTables *tables, const ConvolveBatch *batch)
{
  for (size_t i = 0; i < batch->n_works && !tables->failed; i++) {
    const ConvolveWork *work = &batch->works[i];
    Tiles grid = tiles_of (0, 0, work->plane.width, work->plane.height);
    ConvolveTarget target;
    const ConvolveTarget *added;

    if (work->kind != CONVOLVE_WORK_BLEND || !(added = add_target (tables, work)))
      continue;
    target = *added;
    tables->covers.count = 0;
    for (size_t k = i; k < batch->n_works && !tables->failed; k++)
      if (batch->works[k].kind == CONVOLVE_WORK_BLEND && belongs (&target, &batch->works[k]))
        add_blend (tables, batch, &batch->works[k], grid);
    if (!tables->failed && tables->covers.count > 0)
      add_tiles (tables, (int) tables->table[CONVOLVE_TABLE_TARGETS].count - 1, grid);
  }
}
