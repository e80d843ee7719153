/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/lookahead.h"

#include <gst/base/base.h>
#include <math.h>

/* Beyond, it is forgotten where regions were, and each is taken as new. */
#define MOST_KEPT 16384

#define MOST_TESTS (1 << 20) /* of pairs of regions that are apart, for one frame */

struct _GstCudaConvolveLookahead
{
  GstQueueArray *frames; /* GstCudaConvolveArrival *, that wait */
  GPtrArray *spare;      /* GstCudaConvolveArrival *, kept for their memory */
  GstCudaConvolveMoment newest;

  GstCudaConvolveSightings last; /* of the frames that are linked: where each region was last */
  GstCudaConvolveSightings next; /* the same with one frame more, while that frame is linked */
};

void
gst_cuda_convolve_arrival_init (GstCudaConvolveArrival *arrival)
{
  *arrival = (GstCudaConvolveArrival){ 0 };
  gst_cuda_convolve_sightings_init (&arrival->fresh);
}

void
gst_cuda_convolve_arrival_clear (GstCudaConvolveArrival *arrival)
{
  gst_cuda_convolve_sightings_clear (&arrival->fresh);
}

static void
free_arrival (gpointer arrival)
{
  gst_cuda_convolve_arrival_clear (arrival);
  g_free (arrival);
}

GstCudaConvolveLookahead *
gst_cuda_convolve_lookahead_new (void)
{
  GstCudaConvolveLookahead *lookahead = g_new0 (GstCudaConvolveLookahead, 1);

  lookahead->frames = gst_queue_array_new (16);
  gst_queue_array_set_clear_func (lookahead->frames, free_arrival);
  lookahead->spare = g_ptr_array_new_with_free_func (free_arrival);
  gst_cuda_convolve_sightings_init (&lookahead->last);
  gst_cuda_convolve_sightings_init (&lookahead->next);
  return lookahead;
}

void
gst_cuda_convolve_lookahead_free (GstCudaConvolveLookahead *lookahead)
{
  gst_queue_array_free (lookahead->frames);
  g_ptr_array_unref (lookahead->spare);
  gst_cuda_convolve_sightings_clear (&lookahead->last);
  gst_cuda_convolve_sightings_clear (&lookahead->next);
  g_free (lookahead);
}

void
gst_cuda_convolve_lookahead_forget (GstCudaConvolveLookahead *lookahead)
{
  gst_queue_array_clear (lookahead->frames);
  g_ptr_array_set_size (lookahead->spare, 0);
  gst_cuda_convolve_sightings_empty (&lookahead->last);
}

/* --- frames that wait --- */

GstCudaConvolveArrival *
gst_cuda_convolve_lookahead_add (GstCudaConvolveLookahead *lookahead, const GstCudaConvolveFrameTime *time,
    gpointer buffer)
{
  GstCudaConvolveArrival *arrival;

  if (lookahead->spare->len > 0) {
    arrival = g_ptr_array_steal_index_fast (lookahead->spare, lookahead->spare->len - 1);
  } else {
    arrival = g_new (GstCudaConvolveArrival, 1);
    gst_cuda_convolve_arrival_init (arrival);
  }
  gst_cuda_convolve_sightings_empty (&arrival->fresh);
  arrival->time = *time;
  arrival->buffer = buffer;
  arrival->has_metadata = arrival->is_linked = FALSE;
  arrival->version = 0;
  lookahead->newest = time->now;
  gst_queue_array_push_tail (lookahead->frames, arrival);
  return arrival;
}

guint
gst_cuda_convolve_lookahead_count (const GstCudaConvolveLookahead *lookahead)
{
  return gst_queue_array_get_length (lookahead->frames);
}

GstCudaConvolveArrival *
gst_cuda_convolve_lookahead_get (const GstCudaConvolveLookahead *lookahead, guint index)
{
  return gst_queue_array_peek_nth (lookahead->frames, index);
}

/* The frame that comes at the end of that time, or a little later, still counts. */
void
gst_cuda_convolve_lookahead_pass (GstCudaConvolveLookahead *lookahead, const GstCudaConvolveMoment *now)
{
  lookahead->newest = *now;
  lookahead->newest.time -= 2 * GST_MSECOND;
}

/* By how much time stamps may be rounded. */
static GstClockTime
tolerance_of (const GstCudaConvolveFrameTime *time)
{
  return MIN (GST_MSECOND, time->longest / 4);
}

gboolean
gst_cuda_convolve_lookahead_is_due (const GstCudaConvolveLookahead *lookahead, guint64 ahead)
{
  const GstCudaConvolveArrival *oldest = gst_queue_array_peek_head (lookahead->frames);
  const GstCudaConvolveMoment *newest = &lookahead->newest;

  if (!oldest || ahead == 0)
    return oldest != NULL;
  return newest->frame > oldest->time.now.frame
      && gst_cuda_convolve_moments_distance (newest, &oldest->time.now) + tolerance_of (&oldest->time) >= ahead;
}

void
gst_cuda_convolve_lookahead_take (GstCudaConvolveLookahead *lookahead, GstCudaConvolveArrival *arrival)
{
  GstCudaConvolveArrival *oldest = gst_queue_array_pop_head (lookahead->frames), before = *arrival;

  if (!oldest)
    return;
  *arrival = *oldest;
  arrival->buffer = NULL;
  *oldest = before;
  g_ptr_array_add (lookahead->spare, oldest);
}

/* --- where regions were --- */

static GstCudaConvolveSighting *
get (const GstCudaConvolveSightings *sightings, guint index)
{
  return &g_array_index (sightings->sightings, GstCudaConvolveSighting, index);
}

static gboolean
are_of_one_size (gdouble a, gdouble b)
{
  return a <= 2 * b && b <= 2 * a;
}

/*
 * The distance that a region moved for each frame, as a share of its own size in the direction where that is more; a
 * negative number where one cannot be the other.
 */
static gdouble
find_speed (const GstCudaConvolveSighting *before, const GstCudaConvolveSighting *after)
{
  const GstCudaConvolveRectangle *a = &before->region, *b = &after->region;
  gdouble across = fabs (a->x + a->width / 2 - b->x - b->width / 2);
  gdouble down = fabs (a->y + a->height / 2 - b->y - b->height / 2);

  if (before->partner || !gst_cuda_convolve_sightings_may_be_one (before, after)
      || !are_of_one_size (a->width, b->width) || !are_of_one_size (a->height, b->height))
    return -1;
  return MAX (across / MIN (a->width, b->width), down / MIN (a->height, b->height))
      / (after->seen.frame - before->seen.frame);
}

/* Gives a region without a partner the slowest of those that may be it. */
static void
find_apart (GstCudaConvolveSightings *last, GstCudaConvolveSightings *fresh, guint index, guint *tests)
{
  GstCudaConvolveSighting *after = get (fresh, index);
  gdouble least = 0.5;

  if (after->partner || after->is_replaced || (*tests += last->sightings->len) > MOST_TESTS)
    return;
  for (guint i = 0; i < last->sightings->len; i++) {
    gdouble speed = find_speed (get (last, i), after);

    if (speed >= 0 && speed <= least) {
      least = speed;
      after->partner = 1 + i;
    }
  }
  if (after->partner)
    get (last, after->partner - 1)->partner = 1 + index;
}

/* Writes into each fresh region where it was. */
static void
find_origins (GstCudaConvolveSightings *last, GstCudaConvolveArrival *arrival, guint64 window)
{
  guint tests = 0;

  for (guint i = 0; i < arrival->fresh.sightings->len; i++)
    find_apart (last, &arrival->fresh, i, &tests);
  for (guint i = 0; i < arrival->fresh.sightings->len; i++) {
    GstCudaConvolveSighting *after = get (&arrival->fresh, i);
    const GstCudaConvolveSighting *before = after->partner ? get (last, after->partner - 1) : NULL;

    after->was_seen = (GstCudaConvolveMoment){ 0 };
    if (!before || !gst_cuda_convolve_frame_time_is_within (&arrival->time, &before->seen, window))
      continue;
    after->was_seen = before->seen;
    after->was = before->region;
    after->is_doubtful = !before->is_replaced;
  }
}

static void
copy_sightings (GstCudaConvolveSightings *to, const GstCudaConvolveSightings *from,
    const GstCudaConvolveFrameTime *time, guint64 window)
{
  for (guint i = 0; i < from->sightings->len; i++)
    if (!get (from, i)->is_replaced && gst_cuda_convolve_frame_time_is_within (time, &get (from, i)->seen, window))
      gst_cuda_convolve_sightings_copy (to, from, i);
}

void
gst_cuda_convolve_lookahead_link (GstCudaConvolveLookahead *lookahead, GstCudaConvolveTracks *tracks,
    GstCudaConvolveArrival *arrival, guint64 window)
{
  GstCudaConvolveSightings last = lookahead->last;

  if (arrival->is_linked)
    return;
  arrival->is_linked = TRUE;
  gst_cuda_convolve_tracks_match (tracks, &last, &arrival->fresh);
  find_origins (&last, arrival, window);
  gst_cuda_convolve_sightings_empty (&lookahead->next);
  copy_sightings (&lookahead->next, &last, &arrival->time, window);
  if (lookahead->next.boxes->len > MOST_KEPT)
    gst_cuda_convolve_sightings_empty (&lookahead->next);
  copy_sightings (&lookahead->next, &arrival->fresh, &arrival->time, window);
  lookahead->last = lookahead->next;
  lookahead->next = last;
}

void
gst_cuda_convolve_lookahead_link_anew (GstCudaConvolveLookahead *lookahead, const GstCudaConvolveSightings *earlier)
{
  gst_cuda_convolve_sightings_empty (&lookahead->last);
  for (guint i = 0; i < earlier->sightings->len; i++)
    gst_cuda_convolve_sightings_copy (&lookahead->last, earlier, i);
}

void
gst_cuda_convolve_lookahead_scale (GstCudaConvolveLookahead *lookahead, gdouble across, gdouble down)
{
  gst_cuda_convolve_sightings_scale (&lookahead->last, across, down);
}

/* --- boxes --- */

/* The share of the way from one moment to another at a moment between; by frames where time stands still. */
static gdouble
find_share (const GstCudaConvolveMoment *from, const GstCudaConvolveMoment *at, const GstCudaConvolveMoment *to)
{
  gdouble part = (gint64) (at->time - from->time), all = (gint64) (to->time - from->time);

  if (all == 0) {
    part = at->frame - from->frame;
    all = to->frame - from->frame;
  }
  return CLAMP (part / all, 0, 1);
}

static gdouble
go_on (gdouble from, gdouble to, gdouble share)
{
  return from + (to - from) * share;
}

/* Adds a region where it was at a moment between. */
static void
add_between (GstCudaConvolveSightings *found, const GstCudaConvolveSightings *fresh, guint index,
    const GstCudaConvolveMoment *now)
{
  const GstCudaConvolveSighting *after = get (fresh, index);
  const GstCudaConvolveRectangle *from = &after->was, *to = &after->region;
  gdouble share = find_share (&after->was_seen, now, &after->seen);
  GstCudaConvolveRectangle place = { go_on (from->x, to->x, share), go_on (from->y, to->y, share),
    go_on (from->width, to->width, share), go_on (from->height, to->height, share) };

  gst_cuda_convolve_sightings_copy (found, fresh, index);
  gst_cuda_convolve_sightings_place (found, found->sightings->len - 1, &place);
}

static void
find_in_frame (const GstCudaConvolveArrival *later, const GstCudaConvolveMoment *now, GstCudaConvolveSightings *found)
{
  for (guint i = 0; i < later->fresh.sightings->len; i++) {
    const GstCudaConvolveSighting *region = get (&later->fresh, i);
    gboolean is_first = region->was_seen.frame == 0;

    if (region->is_replaced)
      continue;
    if (is_first || region->is_doubtful)
      gst_cuda_convolve_sightings_copy (found, &later->fresh, i);
    if (!is_first && region->was_seen.frame < now->frame)
      add_between (found, &later->fresh, i, now);
  }
}

void
gst_cuda_convolve_lookahead_find (const GstCudaConvolveLookahead *lookahead, const GstCudaConvolveArrival *frame,
    guint64 ahead, GstCudaConvolveSightings *found)
{
  gst_cuda_convolve_sightings_empty (found);
  for (guint i = 0; i < gst_cuda_convolve_lookahead_count (lookahead); i++) {
    const GstCudaConvolveArrival *later = gst_cuda_convolve_lookahead_get (lookahead, i);

    if (gst_cuda_convolve_frame_time_is_within (&frame->time, &later->time.now, ahead + tolerance_of (&frame->time)))
      find_in_frame (later, &frame->time.now, found);
  }
}
