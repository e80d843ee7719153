/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/tracks.h"

#include <string.h>

#define COVERED 0.5 /* of the earlier region */
#define COMMON 0.25 /* of what both regions cover */
#define MOST_TESTS (1 << 20)
#define MOST_PAIRS (1 << 16)

/* An earlier region, and one that may take its place. */
typedef struct
{
  guint64 frame; /* that had the earlier region last */
  gdouble fit;   /* the common share of what both cover */
  guint held, fresh;
  gboolean is_certain; /* both have one id */
} Pair;

struct _GstCudaConvolveTracks
{
  guint last; /* number of a track */

  /* Of the frame that is compared, kept for their memory. */
  GArray *order;        /* guint, indices */
  GArray *ids[2];       /* guint, indices of regions with an id, of earlier ones and of new ones */
  GArray *pairs;        /* Pair */
  GHashTable *followed; /* tracks that have a successor */
};

/* --- sightings --- */

void
gst_cuda_convolve_sightings_init (GstCudaConvolveSightings *sightings)
{
  sightings->sightings = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveSighting));
  sightings->boxes = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
}

void
gst_cuda_convolve_sightings_clear (GstCudaConvolveSightings *sightings)
{
  g_clear_pointer (&sightings->sightings, g_array_unref);
  g_clear_pointer (&sightings->boxes, g_array_unref);
}

void
gst_cuda_convolve_sightings_empty (GstCudaConvolveSightings *sightings)
{
  g_array_set_size (sightings->sightings, 0);
  g_array_set_size (sightings->boxes, 0);
}

static GstCudaConvolveSighting *
get (const GstCudaConvolveSightings *sightings, guint index)
{
  return &g_array_index (sightings->sightings, GstCudaConvolveSighting, index);
}

static gboolean
are_equal (const GstCudaConvolveRectangle *a, const GstCudaConvolveRectangle *b)
{
  return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height;
}

/* The last sighting, where the box is one more part of its region; otherwise NULL. */
static GstCudaConvolveSighting *
find_region (GstCudaConvolveSightings *sightings, const GstCudaConvolveBox *box, const GstCudaConvolveSighting *what)
{
  GstCudaConvolveSighting *last;

  if (!box->is_part || sightings->sightings->len == 0)
    return NULL;
  last = get (sightings, sightings->sightings->len - 1);
  return last->type == what->type && last->id == what->id && last->source == what->source
          && are_equal (&last->region, &box->region)
      ? last
      : NULL;
}

void
gst_cuda_convolve_sightings_add (GstCudaConvolveSightings *sightings, const GstCudaConvolveBox *box,
    const GstCudaConvolveSighting *what)
{
  GstCudaConvolveSighting *region = find_region (sightings, box, what);
  GstCudaConvolveSighting sighting = { .region = box->region,
    .type = what->type,
    .id = what->id,
    .confidence = what->confidence,
    .source = what->source,
    .first_box = sightings->boxes->len,
    .n_boxes = 1,
    .seen = what->seen };

  if (region)
    region->n_boxes++;
  else
    g_array_append_val (sightings->sightings, sighting);
  g_array_append_val (sightings->boxes, *box);
}

void
gst_cuda_convolve_sightings_copy (GstCudaConvolveSightings *sightings, const GstCudaConvolveSightings *from,
    guint index)
{
  GstCudaConvolveSighting sighting = *get (from, index);

  g_array_append_vals (sightings->boxes, &g_array_index (from->boxes, GstCudaConvolveBox, sighting.first_box),
      sighting.n_boxes);
  sighting.first_box = sightings->boxes->len - sighting.n_boxes;
  g_array_append_val (sightings->sightings, sighting);
}

static void
scale_rectangle (GstCudaConvolveRectangle *rectangle, gdouble across, gdouble down)
{
  rectangle->x *= across;
  rectangle->y *= down;
  rectangle->width *= across;
  rectangle->height *= down;
}

/* Does to a rectangle what takes the rectangle `from` to `to`. */
static void
place_rectangle (GstCudaConvolveRectangle *rectangle, const GstCudaConvolveRectangle *from,
    const GstCudaConvolveRectangle *to)
{
  gdouble across = to->width / from->width, down = to->height / from->height;

  if (are_equal (rectangle, from)) {
    *rectangle = *to;
    return;
  }
  *rectangle = (GstCudaConvolveRectangle){ to->x + (rectangle->x - from->x) * across,
    to->y + (rectangle->y - from->y) * down, rectangle->width * across, rectangle->height * down };
}

void
gst_cuda_convolve_sightings_place (GstCudaConvolveSightings *sightings, guint index,
    const GstCudaConvolveRectangle *place)
{
  GstCudaConvolveSighting *sighting = get (sightings, index);

  for (guint i = 0; i < sighting->n_boxes; i++) {
    GstCudaConvolveBox *box = &g_array_index (sightings->boxes, GstCudaConvolveBox, sighting->first_box + i);

    place_rectangle (&box->area, &sighting->region, place);
    box->region = *place;
    box->is_turned = FALSE;
  }
  sighting->region = *place;
}

void
gst_cuda_convolve_sightings_scale (GstCudaConvolveSightings *sightings, gdouble across, gdouble down)
{
  for (guint i = 0; i < sightings->sightings->len; i++)
    scale_rectangle (&get (sightings, i)->region, across, down);
  for (guint i = 0; i < sightings->boxes->len; i++) {
    GstCudaConvolveBox *box = &g_array_index (sightings->boxes, GstCudaConvolveBox, i);

    scale_rectangle (&box->area, across, down);
    scale_rectangle (&box->region, across, down);
    for (guint k = 0; k < G_N_ELEMENTS (box->side); k++) {
      box->side[k][0] *= across;
      box->side[k][1] *= down;
    }
  }
}

/* --- pairs --- */

GstCudaConvolveTracks *
gst_cuda_convolve_tracks_new (void)
{
  GstCudaConvolveTracks *tracks = g_new0 (GstCudaConvolveTracks, 1);

  tracks->order = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < G_N_ELEMENTS (tracks->ids); i++)
    tracks->ids[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  tracks->pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  tracks->followed = g_hash_table_new (NULL, NULL);
  return tracks;
}

void
gst_cuda_convolve_tracks_free (GstCudaConvolveTracks *tracks)
{
  g_array_unref (tracks->order);
  for (guint i = 0; i < G_N_ELEMENTS (tracks->ids); i++)
    g_array_unref (tracks->ids[i]);
  g_array_unref (tracks->pairs);
  g_hash_table_unref (tracks->followed);
  g_free (tracks);
}

/* How well a region takes the place of an earlier one; 0 where it does not. */
static gdouble
find_fit (const GstCudaConvolveRectangle *before, const GstCudaConvolveRectangle *after)
{
  gdouble width = MIN (before->x + before->width, after->x + after->width) - MAX (before->x, after->x);
  gdouble height = MIN (before->y + before->height, after->y + after->height) - MAX (before->y, after->y);
  gdouble common = width * height, covered = before->width * before->height, all;

  if (width <= 0 || height <= 0)
    return 0;
  all = covered + after->width * after->height - common;
  return common >= COVERED * covered && common >= COMMON * all ? common / all : 0;
}

static gboolean
are_alike (const GstCudaConvolveSighting *a, const GstCudaConvolveSighting *b)
{
  return a->source == b->source
      && (a->type == b->type || (a->type && b->type && g_ascii_strcasecmp (a->type, b->type) == 0));
}

static gboolean
have_other_ids (const GstCudaConvolveSighting *a, const GstCudaConvolveSighting *b)
{
  return a->id != b->id && a->id != GST_CUDA_CONVOLVE_NO_ID && b->id != GST_CUDA_CONVOLVE_NO_ID;
}

gboolean
gst_cuda_convolve_sightings_may_be_one (const GstCudaConvolveSighting *a, const GstCudaConvolveSighting *b)
{
  return are_alike (a, b) && !have_other_ids (a, b);
}

static gint
compare_numbers (gdouble a, gdouble b)
{
  return a < b ? -1 : a > b;
}

/* By the kind of metadata, and the id. */
static gint
compare_ids (const GstCudaConvolveSighting *a, const GstCudaConvolveSighting *b)
{
  gint order = (a->source > b->source) - (a->source < b->source);

  return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

/* By the region, so that equal ones are neighbours, and the left edge first. */
static gint
compare_regions (gconstpointer left, gconstpointer right, gpointer data)
{
  const GstCudaConvolveSighting *a = get (data, *(const guint *) left), *b = get (data, *(const guint *) right);
  const gdouble one[] = { a->region.x, a->region.y, a->region.width, a->region.height };
  const gdouble two[] = { b->region.x, b->region.y, b->region.width, b->region.height };
  gint order = 0;

  for (guint i = 0; i < G_N_ELEMENTS (one) && order == 0; i++)
    order = compare_numbers (one[i], two[i]);
  if (order == 0)
    order = compare_ids (a, b);
  return order != 0 ? order : g_strcmp0 (a->type, b->type);
}

static void
sort_regions (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *sightings)
{
  g_array_set_size (tracks->order, 0);
  for (guint i = 0; i < sightings->sightings->len; i++)
    g_array_append_val (tracks->order, i);
  g_array_sort_with_data (tracks->order, compare_regions, sightings);
}

static gboolean
is_one_box (const GstCudaConvolveSightings *sightings, const GstCudaConvolveSighting *sighting)
{
  return !g_array_index (sightings->boxes, GstCudaConvolveBox, sighting->first_box).is_part;
}

/* Whether two regions of one box each, with equal rectangles around them, are turned alike. */
static gboolean
are_turned_alike (const GstCudaConvolveSightings *sightings, guint one, guint two)
{
  const GstCudaConvolveBox *a = &g_array_index (sightings->boxes, GstCudaConvolveBox, get (sightings, one)->first_box);
  const GstCudaConvolveBox *b = &g_array_index (sightings->boxes, GstCudaConvolveBox, get (sightings, two)->first_box);

  return a->is_turned == b->is_turned && memcmp (a->side, b->side, sizeof (a->side)) == 0;
}

/* Of equal boxes of one frame, one says all. */
static void
mark_repeated (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *fresh)
{
  sort_regions (tracks, fresh);
  for (guint i = 1; i < tracks->order->len; i++) {
    const guint *index = &g_array_index (tracks->order, guint, i);

    if (compare_regions (index - 1, index, fresh) == 0 && is_one_box (fresh, get (fresh, index[0]))
        && is_one_box (fresh, get (fresh, index[-1])) && are_turned_alike (fresh, index[0], index[-1]))
      get (fresh, index[0])->is_replaced = TRUE;
  }
}

/* The first of the sorted regions whose left edge is at x or behind. */
static guint
find_first (const GstCudaConvolveTracks *tracks, const GstCudaConvolveSightings *held, gdouble x)
{
  guint from = 0, to = tracks->order->len;

  while (from < to) {
    guint middle = (from + to) / 2;

    if (get (held, g_array_index (tracks->order, guint, middle))->region.x < x)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/*
 * Adds the pairs of one region. It covers half of its partner, and so half of the partner's width. The left edge of the
 * partner lies then at most the region's own width away from the region's. Where the search ends at a limit the region
 * has no pairs: one that was not found may be what makes the others doubtful.
 */
static void
add_pairs (GstCudaConvolveTracks *tracks, const GstCudaConvolveSightings *held, const GstCudaConvolveSightings *fresh,
    guint index, guint *tests)
{
  const GstCudaConvolveSighting *after = get (fresh, index);
  const GstCudaConvolveRectangle *region = &after->region;
  guint n_before = tracks->pairs->len;

  for (guint i = find_first (tracks, held, region->x - region->width); i < tracks->order->len; i++) {
    Pair pair = { .held = g_array_index (tracks->order, guint, i), .fresh = index };
    const GstCudaConvolveSighting *before = get (held, pair.held);

    if (before->region.x > region->x + region->width)
      return;
    if (++*tests > MOST_TESTS || tracks->pairs->len == MOST_PAIRS) {
      g_array_set_size (tracks->pairs, n_before);
      return;
    }
    pair.frame = before->seen.frame;
    pair.fit = find_fit (&before->region, region);
    if (pair.fit > 0 && gst_cuda_convolve_sightings_may_be_one (before, after))
      g_array_append_val (tracks->pairs, pair);
  }
}

static gint
compare_indices_by_id (gconstpointer left, gconstpointer right, gpointer data)
{
  return compare_ids (get (data, *(const guint *) left), get (data, *(const guint *) right));
}

static void
sort_ids (GArray *ids, GstCudaConvolveSightings *sightings)
{
  g_array_set_size (ids, 0);
  for (guint i = 0; i < sightings->sightings->len; i++)
    if (!get (sightings, i)->is_replaced && get (sightings, i)->id != GST_CUDA_CONVOLVE_NO_ID)
      g_array_append_val (ids, i);
  g_array_sort_with_data (ids, compare_indices_by_id, sightings);
}

/* How many regions have the id of the one at place first of the sorted list. */
static guint
count_id (const GArray *ids, const GstCudaConvolveSightings *sightings, guint first)
{
  const GstCudaConvolveSighting *region = get (sightings, g_array_index (ids, guint, first));
  guint n = 1;

  while (first + n < ids->len && compare_ids (region, get (sightings, g_array_index (ids, guint, first + n))) == 0)
    n++;
  return n;
}

/* Adds the pairs of regions that have one id, which nobody else has. */
static void
add_certain_pairs (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *held, GstCudaConvolveSightings *fresh)
{
  guint i = 0, k = 0;

  sort_ids (tracks->ids[0], held);
  sort_ids (tracks->ids[1], fresh);
  while (i < tracks->ids[0]->len && k < tracks->ids[1]->len) {
    Pair pair = { .held = g_array_index (tracks->ids[0], guint, i),
      .fresh = g_array_index (tracks->ids[1], guint, k),
      .is_certain = TRUE };
    const GstCudaConvolveSighting *before = get (held, pair.held), *after = get (fresh, pair.fresh);
    guint n_held = count_id (tracks->ids[0], held, i), n_fresh = count_id (tracks->ids[1], fresh, k);
    gint order = compare_ids (before, after);

    if (order == 0 && n_held == 1 && n_fresh == 1 && are_alike (before, after))
      g_array_append_val (tracks->pairs, pair);
    i += order <= 0 ? n_held : 0;
    k += order >= 0 ? n_fresh : 0;
  }
}

/*
 * One id comes first. What was seen last is next: it is where the face just was. Then the best fit, and then the order
 * of the lists, so that results do not depend on the sort.
 */
static gint
compare_pairs (gconstpointer left, gconstpointer right)
{
  const Pair *a = left, *b = right;
  gint order = b->is_certain - a->is_certain;

  if (order == 0)
    order = (a->frame < b->frame) - (a->frame > b->frame);
  if (order == 0)
    order = compare_numbers (b->fit, a->fit);
  if (order == 0)
    order = (a->fresh > b->fresh) - (a->fresh < b->fresh);
  return order != 0 ? order : (a->held > b->held) - (a->held < b->held);
}

static void
find_pairs (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *held, GstCudaConvolveSightings *fresh)
{
  guint tests = 0;

  g_array_set_size (tracks->pairs, 0);
  add_certain_pairs (tracks, held, fresh);
  sort_regions (tracks, held);
  for (guint i = 0; i < fresh->sightings->len; i++)
    if (!get (fresh, i)->is_replaced)
      add_pairs (tracks, held, fresh, i, &tests);
  g_array_sort (tracks->pairs, compare_pairs);
}

/* --- successors --- */

/* Each pair whose two regions are both free becomes one of partners. */
static void
choose_partners (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *held, GstCudaConvolveSightings *fresh)
{
  const GArray *pairs = tracks->pairs;

  g_hash_table_remove_all (tracks->followed);
  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index (pairs, Pair, i);
    GstCudaConvolveSighting *before = get (held, pair->held), *after = get (fresh, pair->fresh);

    if (before->partner || after->partner)
      continue;
    before->partner = 1 + pair->fresh;
    after->partner = 1 + pair->held;
    before->is_replaced = TRUE;
    after->is_certain = pair->is_certain;
    /* Two regions of one frame are two tracks. */
    if (g_hash_table_add (tracks->followed, GUINT_TO_POINTER (before->track)))
      after->track = before->track;
  }
}

/* Keeps an earlier region whose successor could as well be that of another track, which has none. */
static void
keep_doubtful (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *held, GstCudaConvolveSightings *fresh)
{
  const GArray *pairs = tracks->pairs;

  for (guint i = 0; i < pairs->len; i++) {
    const Pair *pair = &g_array_index (pairs, Pair, i);
    const GstCudaConvolveSighting *other = get (held, pair->held), *after = get (fresh, pair->fresh);

    if (after->partner && !after->is_certain
        && !g_hash_table_contains (tracks->followed, GUINT_TO_POINTER (other->track)))
      get (held, after->partner - 1)->is_replaced = FALSE;
  }
}

void
gst_cuda_convolve_tracks_match (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *held,
    GstCudaConvolveSightings *fresh)
{
  for (guint i = 0; i < held->sightings->len; i++) {
    get (held, i)->partner = 0;
    get (held, i)->is_replaced = FALSE;
  }
  for (guint i = 0; i < fresh->sightings->len; i++) {
    get (fresh, i)->track = ++tracks->last;
    get (fresh, i)->partner = 0;
    get (fresh, i)->is_certain = get (fresh, i)->is_replaced = FALSE;
  }
  mark_repeated (tracks, fresh);
  find_pairs (tracks, held, fresh);
  choose_partners (tracks, held, fresh);
  keep_doubtful (tracks, held, fresh);
}
