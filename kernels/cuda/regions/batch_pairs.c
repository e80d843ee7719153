/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which effects are blended in at once. By the rule, a batch writes all effects to its memory before the first blend,
 * because effects read the picture that blends change. An effect whose pixels no other effect of the launch reads or
 * writes may go into the picture at once: that saves a launch, and the way through memory.
 */
#include <string.h>

#include "common/area.h"
#include "cuda/regions/batch_tables.h"

/* Boxes of an effect that are tested for each pixel, at most. Effects with polygons or mattes are blended later. */
#define FEW_BOXES 4

/* Side of a tile of the grid in which neighbours are looked for. */
#define TILE CONVOLVE_BLEND_TILE

/* Effects that are passed over in the search for the one that a blend takes, at most. */
#define MOST_SKIPPED 16

/* Planes of a frame, and rows of such planes, that effects are blended into. */
#define MOST_TARGETS 16

/* An entry of the list of a tile: an effect that meets the tile. */
typedef struct
{
  int work, next; /* the index of the next entry, or -1 */
} Entry;

static int *
partner_of (const ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *work)
{
  return (int *) tables->pairs.elements + (work - batch->works);
}

/* Whether the blend takes what the effect makes. */
static bool
belong_together (const ConvolveWork *effect, const ConvolveWork *blend)
{
  const ConvolvePlane *made = &effect->plane, *taken = &blend->plane;

  return made->destination == taken->source && made->destination_stride == taken->source_stride
      && memcmp (&made->region, &taken->region, sizeof (made->region)) == 0 && made->width == taken->width
      && memcmp (&effect->pixel, &blend->pixel, sizeof (effect->pixel)) == 0;
}

/*
 * Whether the effect's launch reads no pixels but those that the effect alone changes. *reads are the pixels that the
 * launch reads; a blur on a shrunk picture has read the others in the launch before.
 */
static bool
can_be_alone (const ConvolveWork *effect, const ConvolveWork *blend, ConvolveRect *reads)
{
  const ConvolvePlane *plane = &effect->plane;
  ConvolveRect blocks;

  *reads = plane->region;
  if (blend->blend.area.count > FEW_BOXES || blend->blend.has_shapes)
    return false;
  switch (effect->kind) {
    case CONVOLVE_WORK_FILL:
    case CONVOLVE_WORK_DRAW:
      return true;
    case CONVOLVE_WORK_BLUR:
      return effect->blur.blur->factor > 1;
    case CONVOLVE_WORK_PIXELATE:
      if (effect->blocks.x_step != blend->blend.area.x_step || effect->blocks.y_step != blend->blend.area.y_step)
        return false;
      blocks = convolve_blocks_around (&effect->blocks, plane->region);
      reads->x = convolve_block_start (effect->blocks.x, effect->blocks.size, effect->blocks.x_step, blocks.x);
      reads->y = convolve_block_start (effect->blocks.y, effect->blocks.size, effect->blocks.y_step, blocks.y);
      reads->width =
          convolve_block_start (effect->blocks.x, effect->blocks.size, effect->blocks.x_step, blocks.x + blocks.width)
          - reads->x;
      reads->height =
          convolve_block_start (effect->blocks.y, effect->blocks.size, effect->blocks.y_step, blocks.y + blocks.height)
          - reads->y;
      return true;
    case CONVOLVE_WORK_CONVOLVE:
    case CONVOLVE_WORK_COPY:
    case CONVOLVE_WORK_BLEND:
      break;
  }
  return false;
}

static bool
do_meet (const ConvolveRect *a, const ConvolveRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

/* Whether two blends change one plane. */
static bool
have_one_target (const ConvolveWork *a, const ConvolveWork *b)
{
  return a->plane.destination == b->plane.destination && a->plane.destination_stride == b->plane.destination_stride;
}

/* Notes for each effect the blend that takes it. Blends mostly come in the order of their effects. */
static void
find_partners (ConvolveTables *tables, const ConvolveBatch *batch, size_t first_blend)
{
  size_t n_effects = first_blend, at = 0;
  int *partners = tables->pairs.elements;

  for (size_t i = first_blend; i < batch->n_works && n_effects > 0; i++) {
    size_t found = at;

    if (batch->works[i].kind != CONVOLVE_WORK_BLEND)
      continue;
    while (found < n_effects && found < at + MOST_SKIPPED && !belong_together (&batch->works[found], &batch->works[i]))
      found++;
    if (found == n_effects || found == at + MOST_SKIPPED)
      continue;
    partners[i] = (int) found;
    partners[found] = (int) i;
    at = found + 1;
  }
}

/* Takes the partners of all blends of a target. */
static void
part (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *first)
{
  for (const ConvolveWork *blend = first; blend < batch->works + batch->n_works; blend++)
    if (blend->kind == CONVOLVE_WORK_BLEND && have_one_target (first, blend)) {
      int *partner = partner_of (tables, batch, blend);

      if (*partner >= 0)
        *partner_of (tables, batch, batch->works + *partner) = -1;
      *partner = -1;
    }
}

/* Adds an effect to the lists of its tiles. False where one of the others there reads or writes what it does. */
static bool
add_to_grid (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *effect, const ConvolveRect *reads,
    int columns, int rows)
{
  const ConvolveRect *region = &effect->plane.region;
  const int left = convolve_clamp (reads->x / TILE, 0, columns - 1),
            top = convolve_clamp (reads->y / TILE, 0, rows - 1);
  const int right = convolve_clamp ((reads->x + reads->width - 1) / TILE, 0, columns - 1);
  const int bottom = convolve_clamp ((reads->y + reads->height - 1) / TILE, 0, rows - 1);

  for (int y = top; y <= bottom; y++)
    for (int x = left; x <= right; x++) {
      int *head = (int *) tables->heads.elements + (size_t) y * columns + x;
      Entry *entry;

      for (int i = *head; i >= 0; i = ((const Entry *) tables->entries.elements)[i].next) {
        const ConvolveWork *other = batch->works + ((const Entry *) tables->entries.elements)[i].work;
        ConvolveRect other_reads;

        can_be_alone (other, batch->works + *partner_of (tables, batch, other), &other_reads);
        if (do_meet (reads, &other->plane.region) || do_meet (region, &other_reads))
          return false;
      }
      entry = convolve_table_extend (tables, &tables->entries, sizeof (*entry), 1);
      if (!entry)
        return false;
      *entry = (Entry){ (int) (effect - batch->works), *head };
      *head = (int) tables->entries.count - 1;
    }
  return true;
}

/* Whether all effects on a target can be blended in at once. first is the first blend there. */
static bool
are_apart (ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *first)
{
  int width = 1, height = 1, columns, rows;

  for (const ConvolveWork *blend = first; blend < batch->works + batch->n_works; blend++)
    if (blend->kind == CONVOLVE_WORK_BLEND && have_one_target (first, blend)) {
      if (*partner_of (tables, batch, blend) < 0)
        return false;
      width = convolve_larger (width, blend->plane.width);
      height = convolve_larger (height, blend->plane.height);
    }
  columns = (width + TILE - 1) / TILE;
  rows = (height + TILE - 1) / TILE;
  tables->heads.count = tables->entries.count = 0;
  if (!convolve_table_extend (tables, &tables->heads, sizeof (int), (size_t) columns * rows))
    return false;
  memset (tables->heads.elements, 0xff, (size_t) columns * rows * sizeof (int)); /* -1 */
  for (const ConvolveWork *blend = first; blend < batch->works + batch->n_works; blend++)
    if (blend->kind == CONVOLVE_WORK_BLEND && have_one_target (first, blend)) {
      const ConvolveWork *effect = batch->works + *partner_of (tables, batch, blend);
      ConvolveRect reads;

      if (!can_be_alone (effect, blend, &reads) || !add_to_grid (tables, batch, effect, &reads, columns, rows))
        return false;
    }
  return true;
}

/* Whether a copy writes to a plane that an effect is made from. */
static bool
copies_into_sources (const ConvolveBatch *batch)
{
  for (size_t i = 0; i < batch->n_works; i++)
    for (size_t k = 0; batch->works[i].kind == CONVOLVE_WORK_COPY && k < i; k++)
      if (batch->works[k].plane.source == batch->works[i].plane.destination)
        return true;
  return false;
}

/* The bytes from the first one of a blend's plane to the last one. */
static void
find_bytes (const ConvolveWork *blend, uintptr_t *first, uintptr_t *last)
{
  const ConvolvePlane *plane = &blend->plane;
  const int64_t rows = (int64_t) (plane->height - 1) * plane->destination_stride;

  *first = *last = (uintptr_t) plane->destination;
  *(rows < 0 ? first : last) += (uintptr_t) rows;
  *last += (uintptr_t) plane->width * (uintptr_t) blend->pixel.stride - 1;
}

/*
 * Whether one of two targets has pixels of the other, as the rows of a field or the row behind a picture have. Samples
 * that lie between those of the other target in each pixel are apart.
 */
static bool
share_pixels (const ConvolveWork *a, const ConvolveWork *b)
{
  uintptr_t a_first, a_last, b_first, b_last, distance;

  find_bytes (a, &a_first, &a_last);
  find_bytes (b, &b_first, &b_last);
  distance = a_first > b_first ? a_first - b_first : b_first - a_first;
  if (a->plane.destination_stride == b->plane.destination_stride && a->pixel.stride == b->pixel.stride
      && distance < (uintptr_t) a->pixel.stride)
    return false;
  return a_first <= b_last && b_first <= a_last;
}

/* The first blend of each target; 0 of them where there are too many. */
static int
find_targets (const ConvolveBatch *batch, size_t first_blend, const ConvolveWork *targets[MOST_TARGETS])
{
  int n = 0;

  for (size_t i = first_blend; i < batch->n_works; i++) {
    const ConvolveWork *blend = &batch->works[i];
    int k = 0;

    while (k < n && !have_one_target (targets[k], blend))
      k++;
    if (k == MOST_TARGETS)
      return 0;
    targets[k] = k == n ? blend : targets[k];
    n += k == n;
  }
  return n;
}

void
convolve_tables_find_pairs (ConvolveTables *tables, const ConvolveBatch *batch)
{
  const ConvolveWork *targets[MOST_TARGETS];
  size_t first_blend = 0;
  int n;

  if (!convolve_table_extend (tables, &tables->pairs, sizeof (int), batch->n_works))
    return;
  memset (tables->pairs.elements, 0xff, batch->n_works * sizeof (int)); /* -1 */
  while (first_blend < batch->n_works && batch->works[first_blend].kind != CONVOLVE_WORK_BLEND)
    first_blend++;
  n = find_targets (batch, first_blend, targets);
  if (n == 0 || copies_into_sources (batch))
    return;
  find_partners (tables, batch, first_blend);
  for (int i = 0; i < n; i++) {
    bool can = are_apart (tables, batch, targets[i]);

    for (int k = 0; k < n; k++)
      can &= k == i || !share_pixels (targets[i], targets[k]);
    tables->is_blended |= can;
    if (!can)
      part (tables, batch, targets[i]);
  }
}

const ConvolveWork *
convolve_tables_blend_of (const ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *effect)
{
  int partner = *partner_of (tables, batch, effect);

  return partner < 0 ? NULL : &batch->works[partner];
}

bool
convolve_tables_is_paired (const ConvolveTables *tables, const ConvolveBatch *batch, const ConvolveWork *blend)
{
  return *partner_of (tables, batch, blend) >= 0;
}
