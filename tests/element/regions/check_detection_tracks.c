/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which boxes replace each other, what ids of a tracker say, and boxes between two others. */
#include <math.h>
#include <string.h>

#include "element/regions/check_detections.h"
#include "regions/lookahead.h"
#include "regions/tracks.h"
#include "support/random.h"

/* --- regions that replace each other --- */

#define NO_ID GST_CUDA_CONVOLVE_NO_ID

static GstCudaConvolveSighting
what_is (const gchar *type, guint64 id, guint source)
{
  return (GstCudaConvolveSighting){ .type = type, .id = id, .confidence = NAN, .source = source, .seen = { 0, 1 } };
}

static void
add_box_with_id (GstCudaConvolveSightings *sightings, const gchar *type, guint64 id, guint source, gdouble x, gdouble y,
    gdouble width, gdouble height)
{
  GstCudaConvolveRectangle area = { x, y, width, height };
  GstCudaConvolveBox box = { .area = area, .region = area };
  GstCudaConvolveSighting what = what_is (type, id, source);

  gst_cuda_convolve_sightings_add (sightings, &box, &what);
}

static void
add_box (GstCudaConvolveSightings *sightings, const gchar *type, guint source, gdouble x, gdouble y, gdouble width,
    gdouble height)
{
  add_box_with_id (sightings, type, NO_ID, source, x, y, width, height);
}

static GstCudaConvolveSighting *
sighting (GstCudaConvolveSightings *sightings, guint index)
{
  return &g_array_index (sightings->sightings, GstCudaConvolveSighting, index);
}

/* Whether a box replaces the box 100,100,100,100 of type "face" and source 1. */
static gboolean
replaces (const gchar *type, guint source, gdouble x, gdouble y, gdouble width, gdouble height)
{
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings held, fresh;
  gboolean replaced;

  gst_cuda_convolve_sightings_init (&held);
  gst_cuda_convolve_sightings_init (&fresh);
  add_box (&held, "face", 1, 100, 100, 100, 100);
  add_box (&fresh, type, source, x, y, width, height);
  gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
  replaced = sighting (&held, 0)->is_replaced;
  fail_unless (sighting (&fresh, 0)->partner == (replaced ? 1 : 0));
  gst_cuda_convolve_sightings_clear (&held);
  gst_cuda_convolve_sightings_clear (&fresh);
  gst_cuda_convolve_tracks_free (tracks);
  return replaced;
}

GST_START_TEST (rule)
{
  static const struct
  {
    gdouble x, y, width, height;
    gboolean replaces;
  } rows[] = { { 100, 100, 100, 100, TRUE }, { 150, 100, 100, 100, TRUE }, { 151, 100, 100, 100, FALSE },
    { 50, 100, 100, 100, TRUE }, { 49, 100, 100, 100, FALSE }, { 100, 150, 100, 100, TRUE },
    { 100, 151, 100, 100, FALSE }, { 100, 50, 100, 100, TRUE }, { 100, 49, 100, 100, FALSE },
    { 129, 129, 100, 100, TRUE }, { 130, 130, 100, 100, FALSE }, { 50, 50, 200, 200, TRUE },
    { 50, 50, 201, 200, FALSE }, { 100, 100, 50, 100, TRUE }, { 100, 100, 49, 100, FALSE }, { 120, 120, 60, 60, FALSE },
    { 0, 100, 100, 100, FALSE }, { 300, 300, 100, 100, FALSE }, { 0, 100, 149, 100, FALSE }, { 0, 100, 150, 100, TRUE },
    { 0, 100, 200, 100, TRUE }, { 0, 100, 400, 100, TRUE }, { 0, 100, 401, 100, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    fail_unless (replaces ("face", 1, rows[i].x, rows[i].y, rows[i].width, rows[i].height) == rows[i].replaces,
        "row %u", i);
  fail_unless (replaces ("Face", 1, 100, 100, 100, 100));
  fail_unless (!replaces ("plate", 1, 100, 100, 100, 100) && !replaces (NULL, 1, 100, 100, 100, 100));
  fail_unless (!replaces ("face", 2, 100, 100, 100, 100));
}
GST_END_TEST;

/* Thousands of boxes: those that lie apart are all replaced, and crowds are done in a limited time. */
GST_START_TEST (many)
{
  enum
  {
    MANY = 5000
  };

  for (guint crowd = 0; crowd < 3; crowd++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings held, fresh;
    gint64 start = g_get_monotonic_time ();
    guint replaced = 0, repeated = 0;

    gst_cuda_convolve_sightings_init (&held);
    gst_cuda_convolve_sightings_init (&fresh);
    for (guint i = 0; i < MANY; i++) {
      /* A grid; all over each other; all the same. */
      gdouble x = crowd == 0 ? i % 100 * 16 : crowd == 1 ? i / 1000.0 : 0, y = crowd == 0 ? i / 100 * 16 : 0;

      add_box (&held, "face", 1, x, y, 12, 12);
      add_box (&fresh, "face", 1, x + 3, y, 12, 12);
    }
    gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
    for (guint i = 0; i < MANY; i++) {
      replaced += sighting (&held, i)->is_replaced;
      repeated += sighting (&fresh, i)->is_replaced;
    }
    fail_unless (g_get_monotonic_time () - start < 2 * G_USEC_PER_SEC);
    fail_unless_equals_int (repeated, crowd == 2 ? MANY - 1 : 0);
    fail_unless (crowd != 0 || replaced == MANY, "%u are replaced", replaced);
    gst_cuda_convolve_sightings_clear (&held);
    gst_cuda_convolve_sightings_clear (&fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
}
GST_END_TEST;

/* Which earlier regions are side by side is found by a search; here by a comparison of all, for random boxes. */
GST_START_TEST (search)
{
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");
  guint32 seed = wanted ? g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  CheckRandom random;

  check_random_init (&random, seed, 0);
  for (guint round = 0; round < 200; round++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings held, fresh;

    gst_cuda_convolve_sightings_init (&held);
    gst_cuda_convolve_sightings_init (&fresh);
    for (guint i = 0; i < 20; i++) {
      add_box (&held, "face", 1, check_random_range (&random, -50, 200), check_random_range (&random, -5, 5),
          check_random_range (&random, 1, 60), check_random_range (&random, 8, 12));
      add_box (&fresh, "face", 1, check_random_range (&random, -50, 200), check_random_range (&random, -5, 5),
          check_random_range (&random, 1, 60), check_random_range (&random, 8, 12));
    }
    gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
    for (guint i = 0; i < 20; i++)
      for (guint k = 0; k < 20; k++) {
        const GstCudaConvolveRectangle *a = &sighting (&held, i)->region, *b = &sighting (&fresh, k)->region;
        gdouble width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
        gdouble height = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
        gdouble common = MAX (width, 0) * MAX (height, 0), size = a->width * a->height;

        if (2 * common >= size && 4 * common >= size + b->width * b->height - common)
          fail_unless (sighting (&held, i)->partner || sighting (&fresh, k)->partner
                  || sighting (&fresh, k)->is_replaced,
              "CUDACONVOLVE_SEED=%u, round %u: %u and %u fit, and both are free", seed, round, i, k);
      }
    gst_cuda_convolve_sightings_clear (&held);
    gst_cuda_convolve_sightings_clear (&fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
}
GST_END_TEST;

/* Two regions of one frame are never one track, also where both follow regions of one track. */
GST_START_TEST (two_tracks)
{
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings held, fresh;

  gst_cuda_convolve_sightings_init (&held);
  gst_cuda_convolve_sightings_init (&fresh);
  for (guint i = 0; i < 2; i++) {
    add_box (&held, "face", 1, 100 * i, 0, 20, 20);
    sighting (&held, i)->track = 7;
    add_box (&fresh, "face", 1, 100 * i + 2, 0, 20, 20);
  }
  gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
  for (guint i = 0; i < 2; i++)
    fail_unless (sighting (&held, i)->is_replaced && sighting (&fresh, i)->partner == 1 + i);
  fail_unless (sighting (&fresh, 0)->track != sighting (&fresh, 1)->track);
  gst_cuda_convolve_sightings_clear (&held);
  gst_cuda_convolve_sightings_clear (&fresh);
  gst_cuda_convolve_tracks_free (tracks);
}
GST_END_TEST;

/* --- ids of a tracker --- */

/* Which of two earlier regions are replaced, as bits. Rows with a type of NULL are left out. */
typedef struct
{
  const gchar *type;
  guint64 id;
  gdouble x;
} Tracked;

static void
add_tracked (GstCudaConvolveSightings *sightings, const Tracked *regions, guint n)
{
  for (guint i = 0; i < n; i++)
    if (regions[i].type)
      add_box_with_id (sightings, regions[i].type, regions[i].id, 1, regions[i].x, 0, 20, 20);
}

GST_START_TEST (ids)
{
  static const struct
  {
    Tracked held[2], fresh[2];
    guint replaced; /* of held, as bits */
  } rows[] = {
    /* One id, wherever the region lies; another id, and regions of which one has none. */
    { { { "face", 5, 0 } }, { { "face", 5, 500 } }, 1 },
    { { { "face", 0, 0 } }, { { "face", 0, 500 } }, 1 },
    { { { "face", 5, 0 } }, { { "face", 6, 1 } }, 0 },
    { { { "face", 5, 0 } }, { { "face", NO_ID, 1 } }, 1 },
    { { { "face", NO_ID, 0 } }, { { "face", 5, 1 } }, 1 },
    { { { "face", 5, 0 } }, { { "face", NO_ID, 500 } }, 0 },
    { { { "face", NO_ID, 0 } }, { { "face", NO_ID, 500 } }, 0 },
    { { { "face", 5, 0 } }, { { "person", 5, 0 } }, 0 },
    /* The id decides between two, and leaves no doubt. */
    { { { "face", 5, 0 }, { "face", 6, 100 } }, { { "face", 6, 0 } }, 2 },
    { { { "face", 5, 0 }, { "face", 6, 100 } }, { { "face", 6, 0 }, { "face", 5, 100 } }, 3 },
    { { { "face", NO_ID, 0 }, { "face", 5, 2 } }, { { "face", 5, 1 } }, 2 },
    { { { "face", NO_ID, 0 }, { "face", NO_ID, 2 } }, { { "face", 5, 1 } }, 0 },
    /* An id that two regions share says nothing: the overlap decides. */
    { { { "face", 5, 0 }, { "face", 5, 100 } }, { { "face", 5, 500 } }, 0 },
    { { { "face", 5, 0 }, { "face", 5, 100 } }, { { "face", 5, 101 } }, 2 },
    { { { "face", 5, 0 } }, { { "face", 5, 300 }, { "face", 5, 500 } }, 0 },
    { { { "face", 5, 0 } }, { { "face", 5, 300 }, { "face", 5, 1 } }, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings held, fresh;

    gst_cuda_convolve_sightings_init (&held);
    gst_cuda_convolve_sightings_init (&fresh);
    add_tracked (&held, rows[i].held, 2);
    add_tracked (&fresh, rows[i].fresh, 2);
    for (guint k = 0; k < held.sightings->len; k++)
      sighting (&held, k)->track = 1000 + k;
    gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
    for (guint k = 0; k < held.sightings->len; k++)
      fail_unless_equals_int (sighting (&held, k)->is_replaced, rows[i].replaced >> k & 1);
    gst_cuda_convolve_sightings_clear (&held);
    gst_cuda_convolve_sightings_clear (&fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
}
GST_END_TEST;

/* How many regions have that id. */
static guint
count_id (GstCudaConvolveSightings *sightings, guint64 id)
{
  guint n = 0;

  for (guint i = 0; i < sightings->sightings->len; i++)
    n += sighting (sightings, i)->id == id;
  return n;
}

/* Random regions: an id that is one region's alone decides, and no region follows one with another id. */
GST_START_TEST (random_ids)
{
  const gchar *wanted = g_getenv ("CUDACONVOLVE_SEED");
  guint32 seed = wanted ? g_ascii_strtoull (wanted, NULL, 10) : g_random_int ();
  CheckRandom random;
  guint decided = 0;

  check_random_init (&random, seed, 0);
  for (guint round = 0; round < 300; round++) {
    GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
    GstCudaConvolveSightings lists[2], *held = &lists[0], *fresh = &lists[1];

    for (guint k = 0; k < 2; k++) {
      gst_cuda_convolve_sightings_init (&lists[k]);
      for (guint i = 0; i < 12; i++)
        add_box_with_id (&lists[k], "face",
            check_random_range (&random, 0, 2) == 0 ? NO_ID : (guint64) check_random_range (&random, 0, 15), 1,
            check_random_range (&random, 0, 60), 0, check_random_range (&random, 5, 20), 10);
    }
    gst_cuda_convolve_tracks_match (tracks, held, fresh);
    for (guint i = 0; i < 12; i++)
      for (guint k = 0; k < 12; k++) {
        const GstCudaConvolveSighting *before = sighting (held, i), *after = sighting (fresh, k);
        gboolean known = before->id != NO_ID && after->id != NO_ID;
        gboolean certain =
            known && before->id == after->id && count_id (held, before->id) == 1 && count_id (fresh, after->id) == 1;

        if (certain)
          fail_unless (before->is_replaced && before->partner == 1 + k && after->partner == 1 + i,
              "CUDACONVOLVE_SEED=%u, round %u: %u and %u have one id, and are not one", seed, round, i, k);
        if (known && before->id != after->id)
          fail_unless (before->partner != 1 + k && after->partner != 1 + i,
              "CUDACONVOLVE_SEED=%u, round %u: %u and %u have two ids, and are one", seed, round, i, k);
        decided += certain;
      }
    gst_cuda_convolve_sightings_clear (held);
    gst_cuda_convolve_sightings_clear (fresh);
    gst_cuda_convolve_tracks_free (tracks);
  }
  fail_unless (decided > 100, "%u", decided);
}
GST_END_TEST;

/* The parts of a region in a mask are one thing, which moves with all of its parts. */
GST_START_TEST (parts)
{
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings held, fresh, copy;
  const GstCudaConvolveSighting person = what_is ("person", NO_ID, 1);

  gst_cuda_convolve_sightings_init (&held);
  gst_cuda_convolve_sightings_init (&fresh);
  gst_cuda_convolve_sightings_init (&copy);
  for (guint i = 0; i < 3; i++) {
    GstCudaConvolveBox box = { .area = { 0, 10 * i, 10, 10 }, .region = { 0, 0, 10, 30 }, .is_part = TRUE };
    GstCudaConvolveBox other = { .area = { 50, 20 * i, 5, 10 }, .region = { 50, 0, 10, 60 }, .is_part = TRUE };

    gst_cuda_convolve_sightings_add (&held, &box, &person);
    gst_cuda_convolve_sightings_add (&fresh, &other, &person);
  }
  for (guint i = 0; i < 2; i++) {
    GstCudaConvolveBox box = { .area = { 2, 10 * i, 10, 10 }, .region = { 2, 0, 10, 30 }, .is_part = TRUE };

    gst_cuda_convolve_sightings_add (&fresh, &box, &person);
  }
  fail_unless_equals_int (held.sightings->len, 1);
  fail_unless_equals_int (fresh.sightings->len, 2);
  gst_cuda_convolve_tracks_match (tracks, &held, &fresh);
  fail_unless (sighting (&held, 0)->is_replaced && sighting (&held, 0)->partner == 2);
  gst_cuda_convolve_sightings_copy (&copy, &fresh, 1);
  gst_cuda_convolve_sightings_copy (&copy, &held, 0);
  fail_unless_equals_int (copy.boxes->len, 5);
  fail_unless_equals_int (sighting (&copy, 1)->first_box, 2);
  expect_rectangle (&g_array_index (copy.boxes, GstCudaConvolveBox, 1).area, 2, 10, 10, 10, 0);
  expect_rectangle (&g_array_index (copy.boxes, GstCudaConvolveBox, 4).area, 0, 20, 10, 10, 0);
  gst_cuda_convolve_sightings_clear (&held);
  gst_cuda_convolve_sightings_clear (&fresh);
  gst_cuda_convolve_sightings_clear (&copy);
  gst_cuda_convolve_tracks_free (tracks);
}
GST_END_TEST;

/* --- look-ahead --- */

/* A region of the first frame, the second region in the last frame, and what both give to the second one of the frames. */
typedef struct
{
  const gchar *type[2];
  guint64 id[2];
  gdouble place[2][4];
  gint64 times[8]; /* of the frames, in milliseconds; -1 ends */
  guint found;
  gdouble expected[4]; /* the last one found */
} Pass;

/* Where the region lies, in three parts of which the last is as high as the others. */
static void
add_parts (GstCudaConvolveSightings *sightings, const gdouble place[4], const GstCudaConvolveSighting *what)
{
  for (guint i = 0; i < 3; i++) {
    GstCudaConvolveBox box = { .area = { place[0] + (i == 1 ? place[2] / 2 : 0), place[1] + (i == 2 ? place[3] / 2 : 0),
                                   place[2] / 2, place[3] / 2 },
      .region = { place[0], place[1], place[2], place[3] },
      .is_part = TRUE };

    gst_cuda_convolve_sightings_add (sightings, &box, what);
  }
}

static void
pass (const Pass *row, guint number, gboolean parts)
{
  GstCudaConvolveLookahead *lookahead = gst_cuda_convolve_lookahead_new ();
  GstCudaConvolveTracks *tracks = gst_cuda_convolve_tracks_new ();
  GstCudaConvolveSightings found;
  GstCudaConvolveArrival frame;
  guint n = 0;
  Clock clock;

  clock_init (&clock, 25, 1);
  gst_cuda_convolve_sightings_init (&found);
  gst_cuda_convolve_arrival_init (&frame);
  while (row->times[n + 1] >= 0)
    n++;
  for (guint i = 0; i <= n; i++) {
    GstCudaConvolveMoment now = clock_tick (&clock, row->times[i], -1);
    GstCudaConvolveArrival *arrival = gst_cuda_convolve_lookahead_add (lookahead, &clock.time, NULL);
    const gdouble *place = row->place[i > 0];
    GstCudaConvolveSighting what = what_is (row->type[i > 0], row->id[i > 0], 1);

    what.seen = now;
    if ((i == 0 || i == n) && parts)
      add_parts (&arrival->fresh, place, &what);
    else if (i == 0 || i == n)
      gst_cuda_convolve_sightings_add (&arrival->fresh,
          &(GstCudaConvolveBox){ .area = { place[0], place[1], place[2], place[3] },
              .region = { place[0], place[1], place[2], place[3] } },
          &what);
    gst_cuda_convolve_lookahead_link (lookahead, tracks, arrival, GST_SECOND);
  }
  fail_unless (!gst_cuda_convolve_lookahead_is_due (lookahead, 60 * GST_SECOND));
  fail_unless (gst_cuda_convolve_lookahead_is_due (lookahead, 0));
  for (guint i = 0; i < 2; i++)
    gst_cuda_convolve_lookahead_take (lookahead, &frame);
  gst_cuda_convolve_lookahead_find (lookahead, &frame, GST_SECOND, &found);
  fail_unless (found.sightings->len == row->found, "row %u: %u found", number, found.sightings->len);
  if (row->found > 0) {
    const GstCudaConvolveSighting *last = sighting (&found, row->found - 1);
    const gdouble *e = row->expected;

    expect_rectangle (&last->region, e[0], e[1], e[2], e[3], number);
    fail_unless_equals_int (last->n_boxes, parts ? 3 : 1);
    for (guint i = 0; i < last->n_boxes; i++) {
      const GstCudaConvolveBox *box = &g_array_index (found.boxes, GstCudaConvolveBox, last->first_box + i);

      expect_rectangle (&box->region, e[0], e[1], e[2], e[3], number);
      if (parts)
        expect_rectangle (&box->area, e[0] + (i == 1 ? e[2] / 2 : 0), e[1] + (i == 2 ? e[3] / 2 : 0), e[2] / 2,
            e[3] / 2, number);
      else
        expect_rectangle (&box->area, e[0], e[1], e[2], e[3], number);
    }
  }
  gst_cuda_convolve_arrival_clear (&frame);
  gst_cuda_convolve_sightings_clear (&found);
  gst_cuda_convolve_tracks_free (tracks);
  gst_cuda_convolve_lookahead_free (lookahead);
}

/* What a region between two others is, from the definition in words; each row also with regions of parts. */
GST_START_TEST (looked_ahead)
{
#define FACES \
  { \
    "face", "face" \
  }
#define UNKNOWN \
  { \
    NO_ID, NO_ID \
  }
#define EVEN \
  { \
    0, 40, 80, 120, 160, -1 \
  }
  static const Pass rows[] = {
    /* On the way, by overlap and by id: linear in time, and in frames where time stands still. */
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 8, 8, 32, 32 } }, EVEN, 1, { 2, 2, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 800, 0, 64, 16 } }, EVEN, 1, { 200, 0, 40, 28 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 10, 20, 160, -1 }, 1, { 5, 0, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 0, 0, 0, 0, -1 }, 1, { 20, 0, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 900, 860, 820, 780, 740, -1 }, 1, { 20, 0, 32, 32 } },
    /* By half of its width and height for each of four frames, and no more; twice the size, and no more. */
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 64, 0, 32, 32 } }, EVEN, 2, { 16, 0, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 64.5, 0, 32, 32 } }, EVEN, 1, { 64.5, 0, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 64, 64, 32, 32 } }, EVEN, 2, { 16, 16, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 0, 65, 32, 32 } }, EVEN, 1, { 0, 65, 32, 32 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 48, 0, 64, 64 } }, EVEN, 2, { 12, 0, 40, 40 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 48, 0, 65, 64 } }, EVEN, 1, { 48, 0, 65, 64 } },
    { FACES, UNKNOWN, { { 0, 0, 32, 32 }, { 16, 0, 16, 16 } }, EVEN, 2, { 4, 0, 28, 28 } },
    /* Another face: another type, another id. */
    { { "face", "plate" }, UNKNOWN, { { 0, 0, 32, 32 }, { 8, 16, 32, 32 } }, EVEN, 1, { 8, 16, 32, 32 } },
    { FACES, { 7, 8 }, { { 0, 0, 32, 32 }, { 8, 16, 32, 32 } }, EVEN, 1, { 8, 16, 32, 32 } },
    { FACES, { 7, NO_ID }, { { 0, 0, 32, 32 }, { 8, 8, 32, 32 } }, EVEN, 1, { 2, 2, 32, 32 } },
    /* Too long ago, and too late. */
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 800, 1100, -1 }, 1, { 80, 0, 32, 32 } },
    { FACES, { 7, 7 }, { { 0, 0, 32, 32 }, { 80, 0, 32, 32 } }, { 0, 40, 1200, -1 }, 0, { 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint parts = 0; parts < 2; parts++)
      pass (&rows[i], i, parts);
}
GST_END_TEST;

void
add_track_tests (TCase *tc)
{
  tcase_add_test (tc, rule);
  tcase_add_test (tc, many);
  tcase_add_test (tc, search);
  tcase_add_test (tc, two_tracks);
  tcase_add_test (tc, ids);
  tcase_add_test (tc, random_ids);
  tcase_add_test (tc, parts);
  tcase_add_test (tc, looked_ahead);
}
