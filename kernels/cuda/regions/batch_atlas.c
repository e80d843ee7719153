/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the convolutions of a batch to launches, and to jobs and tiles of kernels. */
#include <math.h>
#include <string.h>

#include "common/area.h"
#include "cuda/regions/batch_tables.h"

#define ALIGNMENT 256 /* bytes, of atlases and their rows */

/* Convolutions with one plan of one picture. */
typedef struct
{
  const ConvolvePlan *plan;
  ConvolvePlane picture; /* without destination and region */
  ConvolveRect bounds;   /* around all regions */
  int count;
  int64_t area;   /* pixels of all cells */
  int most_width; /* of a cell */
  enum
  {
    DIRECT,     /* a launch for each, from the picture to the memory of the effect */
    TOGETHER,   /* one launch over the bounds, and then copies */
    FROM_ATLAS, /* by an atlas */
  } way;
  int width, height; /* of the atlas, or of the bounds */
  ptrdiff_t stride;
  size_t source, result; /* bytes from the arena's start */
} Group;

typedef struct
{
  size_t work;
  int group;
  ConvolveRect place; /* in the picture: the region, and what the mask reaches */
  int x, y;           /* of the cell in the atlas */
} Cell;

/* A launch takes about as long as this many pixels of a small mask. */
#define LAUNCH_PIXELS 1000000
#define FEW 2 /* convolutions that are launched one by one */

/* --- the atlases --- */

static bool
belongs (const Group *group, const ConvolveWork *work)
{
  const ConvolvePlane *a = &group->picture, *b = &work->plane;

  return group->plan == work->plan && a->source == b->source && a->source_stride == b->source_stride
      && a->width == b->width && a->height == b->height;
}

/* The number of the work's group, which is new where there is none yet; -1 without memory. */
static int
find_group (ConvolveTables *tables, const ConvolveWork *work)
{
  Group *groups = tables->groups.elements, *group;
  size_t count = tables->groups.count;

  /* Works of one plane and one mask follow each other in turn with those of other planes. */
  for (size_t i = count; i > 0; i--)
    if (belongs (&groups[i - 1], work))
      return (int) (i - 1);
  group = convolve_table_extend (tables, &tables->groups, sizeof (Group), 1);
  if (!group)
    return -1;
  group->plan = work->plan;
  group->picture = work->plane;
  return (int) count;
}

static ConvolveRect
unite (ConvolveRect a, ConvolveRect b)
{
  int left = a.x < b.x ? a.x : b.x, top = a.y < b.y ? a.y : b.y;
  ConvolveRect both = { left, top, convolve_larger (a.x + a.width, b.x + b.width) - left,
    convolve_larger (a.y + a.height, b.y + b.height) - top };

  return both;
}

static void
add_cell (ConvolveTables *tables, const ConvolveBatch *batch, size_t number)
{
  const ConvolveWork *work = &batch->works[number];
  const ConvolveRect *region = &work->plane.region;
  int across = work->plan->taps.width / 2, down = work->plan->taps.height / 2;
  int found = find_group (tables, work);
  Cell *cell = convolve_table_extend (tables, &tables->cells, sizeof (Cell), 1);
  Group *group;

  if (found < 0 || !cell)
    return;
  group = (Group *) tables->groups.elements + found;
  cell->work = number;
  cell->group = found;
  cell->place =
      (ConvolveRect){ region->x - across, region->y - down, region->width + 2 * across, region->height + 2 * down };
  group->bounds = group->count == 0 ? *region : unite (group->bounds, *region);
  group->count++;
  group->area += (int64_t) cell->place.width * cell->place.height;
  group->most_width = convolve_larger (group->most_width, cell->place.width);
}

/* Puts the cells of a group side by side, in rows about as wide as all of them are high. */
static void
pack_cells (ConvolveTables *tables, int number)
{
  Group *group = (Group *) tables->groups.elements + number;
  int x = 0, y = 0, row = 0;

  group->width = convolve_larger (group->most_width, (int) sqrt ((double) group->area));
  for (size_t i = 0; i < tables->cells.count; i++) {
    Cell *cell = (Cell *) tables->cells.elements + i;

    if (cell->group != number)
      continue;
    if (x + cell->place.width > group->width) {
      x = 0;
      y += row;
      row = 0;
    }
    cell->x = x;
    cell->y = y;
    x += cell->place.width;
    row = convolve_larger (row, cell->place.height);
  }
  group->height = y + row;
}

static size_t
align (size_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Chooses the group's way, and the place of its pictures behind `bytes` bytes: the end of them. */
static size_t
plan_group (ConvolveTables *tables, int number, size_t bytes)
{
  Group *group = (Group *) tables->groups.elements + number;
  size_t size;

  group->way = FROM_ATLAS;
  if (group->count <= FEW)
    group->way = DIRECT;
  else if (group->plan->shrink || (int64_t) group->bounds.width * group->bounds.height <= group->area + LAUNCH_PIXELS)
    group->way = TOGETHER;
  if (group->way == DIRECT)
    return bytes;
  if (group->way == FROM_ATLAS) {
    pack_cells (tables, number);
  } else {
    group->width = group->bounds.width;
    group->height = group->bounds.height;
  }
  group->stride = (ptrdiff_t) align ((size_t) group->width * group->plan->pixel.stride);
  size = align ((size_t) group->stride * group->height);
  group->source = bytes;
  group->result = group->way == FROM_ATLAS ? bytes + size : bytes;
  return group->result + size;
}

size_t
convolve_tables_plan_atlases (ConvolveTables *tables, const ConvolveBatch *batch)
{
  size_t bytes = 0;

  for (size_t i = 0; i < batch->n_works; i++)
    if (batch->works[i].kind == CONVOLVE_WORK_CONVOLVE)
      add_cell (tables, batch, i);
  for (size_t i = 0; i < tables->groups.count && !tables->failed; i++)
    bytes = plan_group (tables, (int) i, bytes);
  return bytes;
}

/* --- jobs --- */

static void
add_gather (ConvolveTables *tables, const Group *group, const Cell *cell, const ConvolveWork *work, uint8_t *arena)
{
  const ConvolvePlan *plan = group->plan;
  size_t number = tables->table[CONVOLVE_TABLE_GATHER_JOBS].count;
  ConvolveGatherJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_GATHER_JOBS], sizeof (*job), 1);

  if (!job)
    return;
  job->source = convolve_table_add_source (tables, work);
  job->boundary = plan->boundary;
  memcpy (job->outside, plan->outside_level, sizeof (job->outside));
  job->cell = arena + group->source + cell->y * group->stride + (ptrdiff_t) cell->x * plan->pixel.stride;
  job->cell_stride = group->stride;
  job->place = cell->place;
  convolve_table_add_tiles (tables, CONVOLVE_TABLE_GATHER_TILES, number,
      (ConvolveRect){ 0, 0, cell->place.width, cell->place.height }, CONVOLVE_TILE_WIDTH, CONVOLVE_TILE_HEIGHT);
}

static void
add_take (ConvolveTables *tables, const Group *group, const Cell *cell, const ConvolveWork *work, uint8_t *arena)
{
  const ConvolvePlan *plan = group->plan;
  const ConvolvePlane *plane = &work->plane;
  size_t number = tables->table[CONVOLVE_TABLE_TAKE_JOBS].count;
  ConvolveTakeJob *job = convolve_table_extend (tables, &tables->table[CONVOLVE_TABLE_TAKE_JOBS], sizeof (*job), 1);
  ptrdiff_t x = group->bounds.x, y = group->bounds.y; /* of the result's first pixel, in the picture */

  if (!job)
    return;
  if (group->way == FROM_ATLAS) {
    x = cell->place.x - cell->x;
    y = cell->place.y - cell->y;
  }
  job->pixel = plan->pixel;
  job->source =
      (const uint8_t *) ((uintptr_t) arena + group->result - (uintptr_t) (y * group->stride + x * plan->pixel.stride));
  job->source_stride = group->stride;
  job->destination = plane->destination;
  job->destination_stride = plane->destination_stride;
  job->region = plane->region;
  convolve_table_add_tiles (tables, CONVOLVE_TABLE_TAKE_TILES, number, plane->region, CONVOLVE_TILE_WIDTH,
      CONVOLVE_TILE_HEIGHT);
}

static void
add_run (ConvolveTables *tables, const ConvolvePlan *plan, const ConvolvePlane *plane)
{
  ConvolveBatchRun *run = convolve_table_extend (tables, &tables->runs, sizeof (*run), 1);

  if (run)
    *run = (ConvolveBatchRun){ plan, *plane };
}

/* The one launch of a group that is not done directly. */
static void
add_group_run (ConvolveTables *tables, const Group *group, uint8_t *arena)
{
  ConvolvePlane plane = group->picture;
  uint8_t *result = arena + group->result;

  plane.destination_stride = group->stride;
  if (group->way == FROM_ATLAS) {
    plane.source = arena + group->source;
    plane.source_stride = group->stride;
    plane.width = group->width;
    plane.height = group->height;
    plane.region = (ConvolveRect){ 0, 0, group->width, group->height };
    plane.destination = result;
  } else {
    plane.region = group->bounds;
    plane.destination = (void *) ((uintptr_t) result
        - (uintptr_t) (group->bounds.y * group->stride + (ptrdiff_t) group->bounds.x * group->plan->pixel.stride));
  }
  add_run (tables, group->plan, &plane);
}

void
convolve_tables_add_convolutions (ConvolveTables *tables, const ConvolveBatch *batch, uint8_t *arena)
{
  const Group *groups = tables->groups.elements;

  for (size_t i = 0; i < tables->cells.count && !tables->failed; i++) {
    const Cell *cell = (const Cell *) tables->cells.elements + i;
    const Group *group = &groups[cell->group];
    const ConvolveWork *work = &batch->works[cell->work];

    if (group->way == DIRECT)
      add_run (tables, group->plan, &work->plane);
    else
      add_take (tables, group, cell, work, arena);
    if (group->way == FROM_ATLAS)
      add_gather (tables, group, cell, work, arena);
  }
  for (size_t i = 0; i < tables->groups.count; i++)
    if (groups[i].way != DIRECT)
      add_group_run (tables, &groups[i], arena);
}
