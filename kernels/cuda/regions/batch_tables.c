/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/regions/batch_tables.h"

#include <stdlib.h>
#include <string.h>

#include "common/area.h"

#define ALIGNMENT 256 /* bytes, of each table on the device */

/* The lists that stay on the host. */
#define OTHER_TABLES(tables) \
  &(tables)->runs, &(tables)->cells, &(tables)->groups, &(tables)->counts, &(tables)->grid, &(tables)->targets, \
      &(tables)->blurs, &(tables)->pairs, &(tables)->heads, &(tables)->entries

void *
convolve_table_extend (ConvolveTables *tables, ConvolveTable *table, size_t size, size_t count)
{
  size_t wanted = table->count + count;
  uint8_t *added;

  if (wanted > table->room) {
    void *moved = realloc (table->elements, 2 * wanted * size);

    if (!moved) {
      tables->failed = true;
      return NULL;
    }
    table->elements = moved;
    table->room = 2 * wanted;
  }
  if (count == 0)
    return table->elements;
  added = (uint8_t *) table->elements + table->count * size;
  memset (added, 0, count * size);
  table->count = wanted;
  return added;
}

void
convolve_table_add_tiles (ConvolveTables *tables, ConvolveTableName name, size_t job, ConvolveRect rect, int width,
    int height)
{
  int columns = (rect.width + width - 1) / width, rows = (rect.height + height - 1) / height;
  ConvolveTile *tile = convolve_table_extend (tables, &tables->table[name], sizeof (*tile), (size_t) columns * rows);

  for (int i = 0; i < rows && tile; i++)
    for (int k = 0; k < columns; k++)
      *tile++ = (ConvolveTile){ (int) job, rect.x + k * width, rect.y + i * height };
}

/* Beyond so many planes, a plane may be in the table twice. */
#define MOST_COMPARED 32

static int
add_plane (ConvolveTables *tables, const ConvolveWork *work, const void *data, ptrdiff_t stride)
{
  ConvolveTable *table = &tables->table[CONVOLVE_TABLE_PLANES];
  ConvolveFramePlane plane, *added;

  memset (&plane, 0, sizeof (plane)); /* with the padding, which is compared, too */
  plane.pixel = work->pixel;
  plane.data = (uint8_t *) data;
  plane.stride = stride;
  plane.width = work->plane.width;
  plane.height = work->plane.height;
  for (size_t i = table->count; i > 0 && i + MOST_COMPARED > table->count; i--)
    if (memcmp ((const ConvolveFramePlane *) table->elements + i - 1, &plane, sizeof (plane)) == 0)
      return (int) i - 1;
  added = convolve_table_extend (tables, table, sizeof (*added), 1);
  if (added)
    *added = plane;
  return (int) table->count - 1;
}

int
convolve_table_add_source (ConvolveTables *tables, const ConvolveWork *work)
{
  return add_plane (tables, work, work->plane.source, work->plane.source_stride);
}

int
convolve_table_add_target (ConvolveTables *tables, const ConvolveWork *work)
{
  return add_plane (tables, work, work->plane.destination, work->plane.destination_stride);
}

void
convolve_tables_reset (ConvolveTables *tables)
{
  ConvolveTable *others[] = { OTHER_TABLES (tables) };

  for (int i = 0; i < CONVOLVE_N_TABLES; i++)
    tables->table[i].count = 0;
  for (size_t i = 0; i < sizeof (others) / sizeof (others[0]); i++)
    others[i]->count = 0;
  tables->shrink_tiles = tables->sum_tiles = tables->blur_tiles = tables->pixelate_tiles = tables->fill_tiles =
      tables->draw_tiles = 0;
  tables->failed = tables->is_blended = tables->has_shapes = false;
}

void
convolve_tables_clear (ConvolveTables *tables)
{
  ConvolveTable *others[] = { OTHER_TABLES (tables) };

  for (int i = 0; i < CONVOLVE_N_TABLES; i++)
    free (tables->table[i].elements);
  for (size_t i = 0; i < sizeof (others) / sizeof (others[0]); i++)
    free (others[i]->elements);
  *tables = (ConvolveTables){ 0 };
}

#define CONVOLVE_TABLE_SIZE(name, element) sizeof (element),

size_t
convolve_table_element (ConvolveTableName name)
{
  static const size_t sizes[] = { CONVOLVE_TABLES (CONVOLVE_TABLE_SIZE) };

  return sizes[name];
}

size_t
convolve_tables_place (const ConvolveTables *tables, size_t offsets[CONVOLVE_N_TABLES])
{
  size_t end = 0;

  for (int i = 0; i < CONVOLVE_N_TABLES; i++) {
    offsets[i] = end;
    end += (tables->table[i].count * convolve_table_element ((ConvolveTableName) i) + ALIGNMENT - 1) / ALIGNMENT
        * ALIGNMENT;
  }
  return end;
}

ConvolveRect
convolve_blocks_around (const ConvolveBlocks *blocks, ConvolveRect region)
{
  int left = convolve_floor_div (region.x * blocks->x_step - blocks->x, blocks->size);
  int right = convolve_floor_div ((region.x + region.width - 1) * blocks->x_step - blocks->x, blocks->size);
  int top = convolve_floor_div (region.y * blocks->y_step - blocks->y, blocks->size);
  int bottom = convolve_floor_div ((region.y + region.height - 1) * blocks->y_step - blocks->y, blocks->size);

  return (ConvolveRect){ left, top, right - left + 1, bottom - top + 1 };
}
