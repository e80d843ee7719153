/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/patches.h"

#include <math.h>
#include <string.h>

#include "regions/shapes.h"

#define UNIT 4     /* luma pixels: a multiple of the steps of every plane */
#define UNSHRUNK 5 /* sigma 5.7, 47 taps: beyond, a shrunk picture is faster than a wider mask */

#define CELL 64 /* luma pixels along a side of a cell of the grid in which patches are united */

/* The patches that meet a cell are a list. */
typedef struct
{
  guint candidate;
  gint next; /* the index of the next entry, or -1 */
} Entry;

/* A box on the way into a patch. The rectangle of a patch that became a part of another patch has no width. */
typedef struct
{
  ConvolveRect box;
  ConvolveOutline outline;
  ConvolveRect touched;       /* of the frame, by this box, and later by all parts of its region */
  GstCudaConvolvePatch patch; /* of this box alone, and later of all boxes of its group */
  guint group;                /* index of the candidate whose patch has this box */
  guint origin;               /* index of the box that was found */
} Candidate;

gdouble
gst_cuda_convolve_strength_sigma (guint strength)
{
  return ldexp (strength % 2 ? G_SQRT2 : 1, (gint) strength / 2); /* 2^(strength / 2), the same on every machine */
}

gint
gst_cuda_convolve_strength_factor (guint strength)
{
  return strength <= UNSHRUNK ? 1 : 1 << ((strength - UNSHRUNK + 1) / 2);
}

/* The first class whose sigma is not below the one that is wanted, or the last class. */
static gint
class_of (gdouble sigma)
{
  guint strength = 0;

  while (strength + 1 < GST_CUDA_CONVOLVE_N_STRENGTHS && gst_cuda_convolve_strength_sigma (strength) < sigma)
    strength++;
  return strength;
}

void
gst_cuda_convolve_patches_init (GstCudaConvolvePatches *patches)
{
  patches->boxes = g_array_new (FALSE, FALSE, sizeof (ConvolveRect));
  patches->outlines = g_array_new (FALSE, FALSE, sizeof (ConvolveOutline));
  patches->candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  patches->cells = g_array_new (FALSE, FALSE, sizeof (gint));
  patches->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  patches->found = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
  patches->corners = g_array_new (FALSE, FALSE, sizeof (ConvolvePoint));
  patches->origins = g_array_new (FALSE, FALSE, sizeof (guint));
  patches->patches = g_array_new (FALSE, TRUE, sizeof (GstCudaConvolvePatch));
}

void
gst_cuda_convolve_patches_clear (GstCudaConvolvePatches *patches)
{
  g_clear_pointer (&patches->boxes, g_array_unref);
  g_clear_pointer (&patches->outlines, g_array_unref);
  g_clear_pointer (&patches->candidates, g_array_unref);
  g_clear_pointer (&patches->cells, g_array_unref);
  g_clear_pointer (&patches->entries, g_array_unref);
  g_clear_pointer (&patches->found, g_array_unref);
  g_clear_pointer (&patches->corners, g_array_unref);
  g_clear_pointer (&patches->origins, g_array_unref);
  g_clear_pointer (&patches->patches, g_array_unref);
}

/* --- one box --- */

/* The whole units of the frame that have the rectangle, which is inside the frame and may be empty. */
static ConvolveRect
to_units (ConvolveRect rect, const GstCudaConvolvePicture *picture)
{
  gint left = rect.x / UNIT * UNIT, top = rect.y / UNIT * UNIT;
  gint right = (rect.x + rect.width + UNIT - 1) / UNIT * UNIT;
  gint bottom = (rect.y + rect.height + UNIT - 1) / UNIT * UNIT;

  if (rect.width == 0)
    return rect;
  return (ConvolveRect){ left, top, MIN (right, picture->width) - left, MIN (bottom, picture->height) - top };
}

/* Whether each box has a patch of its own, because the effect depends on the place of the box. */
static gboolean
has_own_patches (const ConvolveRegionSettings *settings)
{
  return convolve_region_effect_has_blocks (settings->effect)
      || (settings->effect == CONVOLVE_REGION_EFFECT_FILL && settings->picture);
}

/* The effect of a region whose shorter side has that many luma pixels, expanded. */
static void
set_effect (GstCudaConvolvePatch *patch, const ConvolveRegionSettings *settings, gdouble side)
{
  patch->strength = -1;
  if (settings->effect == CONVOLVE_REGION_EFFECT_MASK && settings->strength >= 0)
    patch->strength = class_of (settings->strength * side);
  if (convolve_region_effect_has_blocks (settings->effect))
    patch->block = CLAMP (ceil (side / settings->blocks), 1, CONVOLVE_MAX_BOX);
}

/* --- blocks that hide --- */

#define MOST_SHIFTS 40

static gint
floor_div (gint a, gint b)
{
  return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* How many samples of the line are in the same block as sample i. */
static gint
count_in_block (const GstCudaConvolveLine *line, gint origin, gint block, gint i)
{
  gint start = origin + floor_div (i * line->step - origin, block) * block; /* in luma pixels */
  gint first = floor_div (start + line->step - 1, line->step);              /* a sample counts by its first pixel */
  gint end = floor_div (start + block + line->step - 1, line->step);

  return MIN (end, line->count) - MAX (first, 0);
}

/*
 * Whether each block hides what it has of the luma pixels from first up to end. Blocks at the edges of the frame are cut
 * off, so that only these are looked at; the others are large enough.
 */
static gboolean
blocks_hide (const GstCudaConvolveLine *lines, guint n_lines, gint origin, gint block, gint first, gint end)
{
  for (guint n = 0; n < n_lines; n++) {
    const GstCudaConvolveLine *line = &lines[n];
    gint least = MIN (line->least, line->count), last = MIN ((end - 1) / line->step, line->count - 1);

    if (count_in_block (line, origin, block, first / line->step) < least
        || count_in_block (line, origin, block, last) < least)
      return FALSE;
  }
  return TRUE;
}

/* Moves the origin to the left until all blocks hide what they have. FALSE where they never do. */
static gboolean
shift_blocks (const GstCudaConvolveLine *lines, guint n_lines, gint block, gint first, gint end, gint *origin)
{
  for (gint shift = 0; shift < MIN (block, MOST_SHIFTS); shift++)
    if (blocks_hide (lines, n_lines, *origin - shift, block, first, end)) {
      *origin -= shift;
      return TRUE;
    }
  return FALSE;
}

/*
 * Makes blocks large enough to hide what they have of the rectangle, which is inside the frame. At most MOST_SHIFTS - 1
 * places of the origin leave too small a block at one edge or the other, so that the loop ends.
 */
static void
settle_blocks (GstCudaConvolvePatch *patch, ConvolveRect rect, const GstCudaConvolvePicture *picture)
{
  gint top = rect.y / picture->y_unit * picture->y_unit;
  gint bottom = (rect.y + rect.height + picture->y_unit - 1) / picture->y_unit * picture->y_unit;
  gint right = rect.x + rect.width;

  patch->block = MAX (patch->block, picture->block);
  while (!shift_blocks (picture->across, picture->n_across, patch->block, rect.x, right, &patch->x)
      || !shift_blocks (picture->down, picture->n_down, patch->block, top, bottom, &patch->y))
    patch->block++;
}

/* --- boxes that meet --- */

static gboolean
meet (ConvolveRect a, ConvolveRect b)
{
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

static ConvolveRect
unite (ConvolveRect a, ConvolveRect b)
{
  gint left = MIN (a.x, b.x), top = MIN (a.y, b.y);

  return (
      ConvolveRect){ left, top, MAX (a.x + a.width, b.x + b.width) - left, MAX (a.y + a.height, b.y + b.height) - top };
}

static gboolean
have_one_effect (const Candidate *a, const Candidate *b)
{
  return a->patch.strength == b->patch.strength && a->patch.shape == b->patch.shape;
}

static ConvolveRect
cells_of (ConvolveRect rect)
{
  gint left = rect.x / CELL, top = rect.y / CELL;

  return (ConvolveRect){ left, top, (rect.x + rect.width - 1) / CELL + 1 - left,
    (rect.y + rect.height - 1) / CELL + 1 - top };
}

/* The first entry of the list of a cell. */
static gint *
get_cell (const GstCudaConvolvePatches *patches, gint columns, gint x, gint y)
{
  return &g_array_index (patches->cells, gint, y * columns + x);
}

/*
 * Unites the patch with one of equal effect that it meets in the grid. FALSE where there is none. Entries of patches that
 * became parts of others leave their lists, which are as long as there are patches otherwise.
 */
static gboolean
absorb_one (GstCudaConvolvePatches *patches, GArray *candidates, guint index, gint columns)
{
  Candidate *a = &g_array_index (candidates, Candidate, index);
  ConvolveRect cells = cells_of (a->patch.rect);

  for (gint y = cells.y; y < cells.y + cells.height; y++)
    for (gint x = cells.x; x < cells.x + cells.width; x++)
      for (gint *link = get_cell (patches, columns, x, y); *link >= 0;) {
        Entry *entry = &g_array_index (patches->entries, Entry, *link);
        Candidate *b = &g_array_index (candidates, Candidate, entry->candidate);

        if (b->patch.rect.width == 0) {
          *link = entry->next;
          continue;
        }
        link = &entry->next;
        if (!meet (a->patch.rect, b->patch.rect) || !have_one_effect (a, b))
          continue;
        a->patch.rect = unite (a->patch.rect, b->patch.rect);
        b->patch.rect.width = 0;
        b->group = index;
        return TRUE;
      }
  return FALSE;
}

static void
add_to_grid (GstCudaConvolvePatches *patches, const Candidate *candidate, guint index, gint columns)
{
  ConvolveRect cells = cells_of (candidate->patch.rect);

  for (gint y = cells.y; y < cells.y + cells.height; y++)
    for (gint x = cells.x; x < cells.x + cells.width; x++) {
      gint *first = get_cell (patches, columns, x, y);
      Entry entry = { index, *first };

      *first = patches->entries->len;
      g_array_append_val (patches->entries, entry);
    }
}

/* The last group that took over others; halves the way there. */
static guint
find_group (GArray *candidates, guint group)
{
  for (;;) {
    Candidate *candidate = &g_array_index (candidates, Candidate, group);
    guint next = candidate->group;

    if (next == group)
      return group;
    candidate->group = g_array_index (candidates, Candidate, next).group;
    group = next;
  }
}

/*
 * Unites the patches of equal effect that meet, until none do. Patches enter a grid one by one, the last one first, and no
 * two of equal effect meet there. A patch that became a part of another has no width.
 */
static void
unite_patches (GstCudaConvolvePatches *patches, GArray *candidates, const GstCudaConvolvePicture *picture)
{
  gint columns = (picture->width + CELL - 1) / CELL, rows = (picture->height + CELL - 1) / CELL;

  g_array_set_size (patches->entries, 0);
  g_array_set_size (patches->cells, columns * rows);
  memset (patches->cells->data, 0xff, columns * rows * sizeof (gint)); /* -1 */
  for (guint i = candidates->len; i-- > 0;) {
    Candidate *candidate = &g_array_index (candidates, Candidate, i);

    if (candidate->patch.rect.width == 0)
      continue;
    while (absorb_one (patches, candidates, i, columns))
      ;
    add_to_grid (patches, candidate, i, columns);
  }
  for (guint i = 0; i < candidates->len; i++)
    g_array_index (candidates, Candidate, i).group = find_group (candidates, i);
}

/* Weakest effect first; among equal effects by the patch, so that the boxes of a patch are neighbours. */
static gint
compare_candidates (gconstpointer left, gconstpointer right)
{
  const Candidate *a = left, *b = right;

  if (a->patch.strength != b->patch.strength)
    return a->patch.strength < b->patch.strength ? -1 : 1;
  if (a->patch.block != b->patch.block)
    return a->patch.block < b->patch.block ? -1 : 1;
  if (a->patch.shape != b->patch.shape)
    return a->patch.shape < b->patch.shape ? -1 : 1;
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;
  return (a->patch.rect.width == 0) - (b->patch.rect.width == 0);
}

static void
append_box (GstCudaConvolvePatches *patches, ConvolveRect box, ConvolveOutline outline, guint origin)
{
  g_array_append_val (patches->boxes, box);
  g_array_append_val (patches->outlines, outline);
  g_array_append_val (patches->origins, origin);
}

/* Adds the shape's corners to the list. */
static ConvolveOutline
append_corners (GstCudaConvolvePatches *patches, const GstCudaConvolveShape *shape)
{
  ConvolveOutline outline = { patches->corners->len, shape->n_corners, shape->margin };

  g_array_append_vals (patches->corners, shape->corners, shape->n_corners);
  return outline;
}

/* After the sort each patch that was kept comes before the boxes that it took over. */
static void
append_patches (GstCudaConvolvePatches *patches, GArray *candidates)
{
  g_array_sort (candidates, compare_candidates);
  for (guint i = 0; i < candidates->len; i++) {
    Candidate *candidate = &g_array_index (candidates, Candidate, i);

    if (candidate->patch.rect.width > 0) {
      candidate->patch.first_box = patches->boxes->len;
      g_array_append_val (patches->patches, candidate->patch);
    }
    append_box (patches, candidate->box, candidate->outline, candidate->origin);
    g_array_index (patches->patches, GstCudaConvolvePatch, patches->patches->len - 1).n_boxes++;
    g_array_index (patches->patches, GstCudaConvolvePatch, patches->patches->len - 1).has_polygons |=
        candidate->outline.count > 0;
  }
}

/* --- all boxes --- */

/* Whether the effect is a blur of no strength, or cannot be seen, so that there is nothing to compute. */
static gboolean
changes_nothing (const ConvolveRegionSettings *settings)
{
  return (settings->effect == CONVOLVE_REGION_EFFECT_MASK && settings->strength == 0)
      || convolve_region_settings_transparency (settings) == CONVOLVE_WHOLE_WEIGHT;
}

/* Whether two boxes that follow each other are parts of one region. */
static gboolean
have_one_region (const GstCudaConvolveBox *a, const GstCudaConvolveBox *b)
{
  return a->is_part && b->is_part && a->region.x == b->region.x && a->region.y == b->region.y
      && a->region.width == b->region.width && a->region.height == b->region.height;
}

/* The box as a patch of its own. */
static Candidate
make_candidate (GstCudaConvolvePatches *patches, const GstCudaConvolveBox *box, const ConvolveRegionSettings *settings,
    const GstCudaConvolvePicture *picture)
{
  ConvolveRect region;
  Candidate candidate = { .outline = { 0 } };
  GstCudaConvolveShape shape;

  gst_cuda_convolve_shape_find (&shape, box, settings, picture->width, picture->height);
  region = box->is_part ? gst_cuda_convolve_shape_expand (box->region, box->region, settings->expand) : shape.box;
  candidate.box = shape.box;
  candidate.touched = gst_cuda_convolve_shape_touch (&shape, settings->feather, picture->width, picture->height);
  if (candidate.touched.width > 0)
    candidate.outline = append_corners (patches, &shape);
  candidate.patch.rect = to_units (candidate.touched, picture);
  candidate.patch.region = region;
  candidate.patch.x = region.x;
  candidate.patch.y = region.y;
  candidate.patch.shape = box->is_part ? CONVOLVE_SHAPE_RECTANGLE : settings->shape;
  set_effect (&candidate.patch, settings, MIN (region.width, region.height));
  return candidate;
}

static gboolean
have_one_outline (const GstCudaConvolvePatches *patches, const ConvolveOutline *a, const ConvolveOutline *b)
{
  const ConvolvePoint *corners = (const ConvolvePoint *) patches->corners->data;

  return a->count == b->count && a->margin == b->margin
      && (a->count == 0 || memcmp (corners + a->first, corners + b->first, a->count * sizeof (*corners)) == 0);
}

/* Whether the effect on the last candidate is that on an earlier one, as where two sources have the same box. */
static gboolean
is_repeated (const GstCudaConvolvePatches *patches, const GArray *candidates)
{
  const Candidate *last = &g_array_index (candidates, Candidate, candidates->len - 1);

  for (guint i = 0; i + 1 < candidates->len; i++) {
    const Candidate *other = &g_array_index (candidates, Candidate, i);

    if (memcmp (&other->box, &last->box, sizeof (last->box)) == 0 && other->group == i && other->patch.rect.width > 0
        && last->patch.rect.width > 0 && have_one_effect (other, last) && other->patch.block == last->patch.block
        && other->patch.x == last->patch.x && other->patch.y == last->patch.y
        && have_one_outline (patches, &other->outline, &last->outline))
      return TRUE;
  }
  return FALSE;
}

static void
settle_all_blocks (GArray *candidates, const GstCudaConvolvePicture *picture)
{
  for (guint i = 0; i < candidates->len; i++) {
    Candidate *candidate = &g_array_index (candidates, Candidate, i);

    if (candidate->patch.rect.width > 0)
      settle_blocks (&candidate->patch, candidate->touched, picture);
  }
}

static void
find_inside (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings, const GArray *found,
    const GstCudaConvolvePicture *picture)
{
  GArray *candidates = patches->candidates;
  const GstCudaConvolveBox *before = NULL; /* of the last candidate */

  g_array_set_size (candidates, 0);
  for (guint i = 0; i < found->len; i++) {
    const GstCudaConvolveBox *box = &g_array_index (found, GstCudaConvolveBox, i);
    Candidate candidate = make_candidate (patches, box, settings, picture);

    if (candidate.patch.rect.width == 0)
      continue;
    candidate.group = candidates->len;
    candidate.origin = i;
    if (before && have_one_region (before, box)) {
      Candidate *first;

      candidate.group = g_array_index (candidates, Candidate, candidates->len - 1).group;
      first = &g_array_index (candidates, Candidate, candidate.group);
      first->patch.rect = unite (first->patch.rect, candidate.patch.rect);
      first->touched = unite (first->touched, candidate.touched);
      candidate.patch.rect.width = 0;
    }
    g_array_append_val (candidates, candidate);
    if (has_own_patches (settings) && !box->is_part && is_repeated (patches, candidates)) {
      g_array_set_size (candidates, candidates->len - 1);
      continue;
    }
    before = box;
  }
  if (convolve_region_effect_has_blocks (settings->effect))
    settle_all_blocks (candidates, picture);
  if (!has_own_patches (settings))
    unite_patches (patches, candidates, picture);
  append_patches (patches, candidates);
}

/* The area that a box touches, in frames. */
static gdouble
count_frames (const GstCudaConvolveBox *box, const ConvolveRegionSettings *settings,
    const GstCudaConvolvePicture *picture)
{
  ConvolveRect touched;
  GstCudaConvolveShape shape;

  gst_cuda_convolve_shape_find (&shape, box, settings, picture->width, picture->height);
  touched = gst_cuda_convolve_shape_touch (&shape, settings->feather, picture->width, picture->height);
  return touched.width * (gdouble) touched.height / (picture->width * (gdouble) picture->height);
}

/* Counts regions and areas. FALSE where they pass a limit. */
static gboolean
count_regions (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings, const GArray *found,
    const GstCudaConvolvePicture *picture)
{
  gdouble n_part_frames = 0;
  guint n_parts = 0;

  for (guint i = 0; i < found->len; i++) {
    const GstCudaConvolveBox *box = &g_array_index (found, GstCudaConvolveBox, i);
    gdouble n_frames = count_frames (box, settings, picture);

    n_parts += box->is_part ? 1 : 0;
    n_part_frames += box->is_part ? n_frames : 0;
    if (i > 0 && have_one_region (box - 1, box))
      continue;
    if (box->is_part) {
      GstCudaConvolveBox whole = { .area = box->region, .region = box->region };

      n_frames = count_frames (&whole, settings, picture);
    }
    patches->n_regions += n_frames > 0 ? 1 : 0;
    patches->n_frames += n_frames;
  }
  return patches->n_regions <= GST_CUDA_CONVOLVE_MOST_REGIONS && patches->n_frames <= GST_CUDA_CONVOLVE_MOST_FRAMES
      && n_parts <= GST_CUDA_CONVOLVE_MOST_PARTS && n_part_frames <= GST_CUDA_CONVOLVE_MOST_PART_FRAMES;
}

static void
begin (GstCudaConvolvePatches *patches, gint feather, gboolean outside)
{
  g_array_set_size (patches->boxes, 0);
  g_array_set_size (patches->outlines, 0);
  g_array_set_size (patches->corners, 0);
  g_array_set_size (patches->origins, 0);
  g_array_set_size (patches->patches, 0);
  patches->feather = feather;
  patches->outside = outside;
  patches->n_regions = 0;
  patches->n_frames = 0;
  patches->limited = FALSE;
  patches->is_found = FALSE;
}

gboolean
gst_cuda_convolve_patches_are_of (const GstCudaConvolvePatches *patches, const GArray *found)
{
  return patches->is_found && patches->found->len == found->len
      && (found->len == 0 || memcmp (patches->found->data, found->data, found->len * sizeof (GstCudaConvolveBox)) == 0);
}

void
gst_cuda_convolve_patches_forget (GstCudaConvolvePatches *patches)
{
  begin (patches, 0, FALSE);
}

/* The whole frame as one patch, with the boxes that are in the list. */
static void
append_frame (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings, ConvolveShape shape,
    const GstCudaConvolvePicture *picture)
{
  GstCudaConvolvePatch patch = { .rect = { 0, 0, picture->width, picture->height },
    .region = { 0, 0, picture->width, picture->height },
    .n_boxes = patches->boxes->len,
    .shape = shape,
    .has_polygons = patches->corners->len > 0 };

  set_effect (&patch, settings, MIN (picture->width, picture->height));
  if (convolve_region_effect_has_blocks (settings->effect))
    settle_blocks (&patch, patch.rect, picture);
  g_array_append_val (patches->patches, patch);
}

/* The whole frame as one box, and nothing else. */
static void
cover_frame (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings,
    const GstCudaConvolvePicture *picture)
{
  ConvolveRect frame = { 0, 0, picture->width, picture->height };

  patches->feather = 0;
  patches->outside = FALSE;
  append_box (patches, frame, (ConvolveOutline){ 0 }, GST_CUDA_CONVOLVE_NO_ORIGIN);
  append_frame (patches, settings, CONVOLVE_SHAPE_RECTANGLE, picture);
}

void
gst_cuda_convolve_patches_find (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings,
    const GArray *found, const GstCudaConvolvePicture *picture)
{
  gboolean outside = settings->apply_to == CONVOLVE_APPLY_TO_OUTSIDE_REGIONS, parts = FALSE;

  begin (patches, settings->feather, outside);
  patches->is_found = TRUE;
  g_array_set_size (patches->found, 0);
  g_array_append_vals (patches->found, found->data, found->len);
  if (changes_nothing (settings))
    return;
  if (!count_regions (patches, settings, found, picture)) {
    patches->limited = TRUE;
    cover_frame (patches, settings, picture);
    return;
  }
  if (!outside) {
    find_inside (patches, settings, found, picture);
    return;
  }
  for (guint i = 0; i < found->len; i++) {
    const GstCudaConvolveBox *found_box = &g_array_index (found, GstCudaConvolveBox, i);
    GstCudaConvolveShape shape;

    gst_cuda_convolve_shape_find (&shape, found_box, settings, picture->width, picture->height);
    append_box (patches, shape.box, append_corners (patches, &shape), i);
    parts |= found_box->is_part;
  }
  /* There is one shape for all boxes here, and parts of a region are rectangles. */
  append_frame (patches, settings, parts ? CONVOLVE_SHAPE_RECTANGLE : settings->shape, picture);
}

void
gst_cuda_convolve_patches_add_matte (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings,
    GstCudaConvolveMattes matte, ConvolveRect rect, const GstCudaConvolvePicture *picture)
{
  GstCudaConvolvePatch patch = { .rect = to_units (rect, picture),
    .region = rect,
    .mattes = matte,
    .x = rect.x,
    .y = rect.y };
  guint place = 0;

  if (patches->limited || changes_nothing (settings))
    return;
  if (patches->outside) {
    g_array_index (patches->patches, GstCudaConvolvePatch, 0).mattes |= matte;
    return;
  }
  set_effect (&patch, settings, MIN (rect.width, rect.height));
  if (convolve_region_effect_has_blocks (settings->effect))
    settle_blocks (&patch, rect, picture);
  while (place < patches->patches->len) {
    const GstCudaConvolvePatch *other = &g_array_index (patches->patches, GstCudaConvolvePatch, place);

    if (other->strength > patch.strength || (other->strength == patch.strength && other->block > patch.block))
      break;
    place++;
  }
  g_array_insert_val (patches->patches, place, patch);
}

void
gst_cuda_convolve_patches_take_frame (GstCudaConvolvePatches *patches, const ConvolveRegionSettings *settings,
    const GstCudaConvolvePicture *picture)
{
  begin (patches, 0, FALSE);
  if (!changes_nothing (settings))
    cover_frame (patches, settings, picture);
}

void
gst_cuda_convolve_patch_area (const GstCudaConvolvePatches *patches, const GstCudaConvolvePatch *patch,
    ConvolveArea *area, ConvolveExtras *extras)
{
  *extras = (ConvolveExtras){
    .outlines = patch->has_polygons ? &g_array_index (patches->outlines, ConvolveOutline, patch->first_box) : NULL,
    .corners = (const ConvolvePoint *) patches->corners->data,
    .n_corners = patches->corners->len,
  };
  *area = (ConvolveArea){
    /* An array without boxes has no memory. */
    .boxes = patch->n_boxes > 0 ? &g_array_index (patches->boxes, ConvolveRect, patch->first_box) : NULL,
    .count = patch->n_boxes,
    .shape = patch->shape,
    .feather = patches->feather,
    .x_step = 1,
    .y_step = 1,
    .extras = extras,
  };
}
