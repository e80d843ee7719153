/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Look-ahead: which boxes later frames give to earlier ones, and what becomes of frames that wait. Faces of films move
 * in straight lines, so that everybody knows where they are in each frame, also where the detector misses them.
 */
#include "element/regions/check_regions.h"

#include <math.h>
#include <string.h>

#define FRAME (40 * GST_MSECOND) /* as the caps say */
#define WIDTH 320
#define HEIGHT 200
#define LENGTH 40 /* frames of a film */
#define MOST_FACES 5
#define GREY 128

typedef struct
{
  gdouble x, y, width, height; /* in frame 0 */
  gdouble right, down, wider;  /* how it moves in each frame, and by which share it grows */
  guint first, end;            /* frames that have the face: first .. end - 1 */
  gint id;                     /* of the tracker, or 0 */
  gboolean seen[LENGTH];       /* by the detector */
} Face;

typedef struct
{
  guint n_faces;
  Face faces[MOST_FACES];
} Film;

typedef struct
{
  gdouble left, top, right, bottom;
} Place;

/* --- where the faces are --- */

static Place
place_of (const Face *face, guint frame)
{
  gdouble grown = 1 + face->wider * frame, width = face->width * grown, height = face->height * grown;
  gdouble x = face->x + face->right * frame, y = face->y + face->down * frame;

  return (Place){ x - width / 2, y - height / 2, x + width / 2, y + height / 2 };
}

/* Marks the whole pixels of a face. */
static void
mark (guint8 *pixels, const Face *face, guint frame)
{
  Place place = place_of (face, frame);

  for (gint y = MAX (0, ceil (place.top)); y + 1 <= MIN (place.bottom, HEIGHT); y++)
    for (gint x = MAX (0, ceil (place.left)); x + 1 <= MIN (place.right, WIDTH); x++)
      pixels[y * WIDTH + x] = 1;
}

/* --- a film --- */

/* The region that a detector finds, rounded outward. */
static void
see (GstBuffer *buffer, const Face *face, guint frame)
{
  Place place = place_of (face, frame);
  gint x = floor (place.left), y = floor (place.top);
  GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta (buffer, "face", x, y,
      (gint) ceil (place.right) - x, (gint) ceil (place.bottom) - y);

  if (face->id > 0)
    gst_video_region_of_interest_meta_add_param (meta,
        gst_structure_new ("object_id", "id", G_TYPE_INT, face->id, NULL));
}

static GstBuffer *
film_frame (const Film *film, const GstVideoInfo *info, guint frame)
{
  GstBuffer *buffer = grey_frame (info, frame * FRAME);

  for (guint i = 0; i < film->n_faces; i++)
    if (film->faces[i].seen[frame])
      see (buffer, &film->faces[i], frame);
  return buffer;
}

/* Plays a film to its end, and gives its frames, LENGTH of them; all are there, once and in order. */
static void
play_film (const gchar *properties, const Film *film, GstBuffer **frames)
{
  GstVideoInfo info = info_of ("GRAY8", WIDTH, HEIGHT);
  g_autofree gchar *line = g_strdup_printf (FILL "%s", properties);
  GstHarness *harness;

  info.fps_n = 25;
  info.fps_d = 1;
  harness = harness_new_for (line, &info);
  for (guint i = 0; i < LENGTH; i++)
    push_ok (harness, film_frame (film, &info, i));
  fail_unless (gst_harness_push_event (harness, gst_event_new_eos ()));
  for (guint i = 0; i < LENGTH; i++) {
    frames[i] = gst_harness_try_pull (harness);
    fail_unless (frames[i] && GST_BUFFER_PTS (frames[i]) == i * FRAME, "%s: frame %u is not there", line, i);
  }
  fail_unless (!gst_harness_try_pull (harness));
  gst_harness_teardown (harness);
}

static void
free_frames (GstBuffer **frames)
{
  for (guint i = 0; i < LENGTH; i++)
    gst_buffer_unref (frames[i]);
}

/* Whether the frame has a pixel of the face that is as it came. */
static gboolean
is_bare (GstBuffer *buffer, const Face *face, guint frame)
{
  guint8 pixels[WIDTH * HEIGHT] = { 0 };
  gboolean bare = FALSE;
  GstMapInfo map;

  mark (pixels, face, frame);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    bare |= pixels[i] && map.data[i] == GREY;
  gst_buffer_unmap (buffer, &map);
  return bare;
}

/* How many frames have a bare face, of all or of those from the last one on that the detector saw. */
static guint
count_bare (const Film *film, GstBuffer **frames, gboolean at_ends)
{
  guint n = 0;

  for (guint i = 0; i < film->n_faces; i++) {
    const Face *face = &film->faces[i];
    guint last = face->end;

    while (last > face->first && !face->seen[last - 1])
      last--;
    for (guint k = at_ends ? last : face->first; k < face->end; k++)
      n += is_bare (frames[k], face, k);
  }
  return n;
}

/* Expects that the frame is changed where one of the faces is, and nowhere else. */
static void
expect_faces (GstBuffer *buffer, const Film *film, guint frame, const gchar *what)
{
  guint8 pixels[WIDTH * HEIGHT] = { 0 };
  GstMapInfo map;

  for (guint i = 0; i < film->n_faces; i++)
    if (frame >= film->faces[i].first && frame < film->faces[i].end)
      mark (pixels, &film->faces[i], frame);
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    if ((map.data[i] != GREY) != pixels[i])
      fail ("%s, frame %u: %u,%u is %s", what, frame, i % WIDTH, i / WIDTH, pixels[i] ? "bare" : "covered");
  gst_buffer_unmap (buffer, &map);
}

/* Of whole pixels, seen in all frames but those from .. to. */
static Face
plain_face (gint x, gint right, guint id, guint from, guint to)
{
  Face face = { .x = x, .y = 100, .width = 24, .height = 32, .right = right, .end = LENGTH, .id = id };

  for (guint i = 0; i < LENGTH; i++)
    face.seen[i] = i < from || i > to;
  return face;
}

/* --- gaps --- */

/* A face that moves by a third of its width each frame, and is missed for a while: the box moves as the face does. */
GST_START_TEST (gap)
{
  for (gint id = 0; id < 2; id++) {
    Film film = { 1, { plain_face (20, 7, id, 10, 18) } };
    GstBuffer *frames[LENGTH];

    play_film ("region-hold=0 region-lookahead=400000000", &film, frames);
    /* Without an id it may be another face, which could be there all the time. */
    for (guint i = 0; i < LENGTH; i++)
      if (id == 1 || i < 9 || i > 18)
        expect_faces (frames[i], &film, i, "a gap");
    fail_unless_equals_int (count_bare (&film, frames, FALSE), 0);
    free_frames (frames);
    play_film ("region-hold=0", &film, frames);
    fail_unless_equals_int (count_bare (&film, frames, FALSE), 9);
    free_frames (frames);
  }
}
GST_END_TEST;

/* The box also changes its size from one detection to the next. */
GST_START_TEST (gap_of_a_growing_face)
{
  Film film = { 1, { plain_face (160, 0, 1, 5, 13) } };
  GstBuffer *frames[LENGTH];

  film.faces[0].width = film.faces[0].height = 24;
  film.faces[0].wider = 1.0 / 12; /* a pixel on each side */
  film.faces[0].end = 30;
  for (guint i = 30; i < LENGTH; i++)
    film.faces[0].seen[i] = FALSE;
  play_film ("region-hold=0 region-lookahead=400000000", &film, frames);
  for (guint i = 0; i < LENGTH; i++)
    expect_faces (frames[i], &film, i, "a growing face");
  free_frames (frames);
}
GST_END_TEST;

/* Two faces cross while both are missed: the ids tell who is who. */
GST_START_TEST (crossing)
{
  Film film = { 2, { plain_face (60, 5, 1, 15, 23), plain_face (260, -5, 2, 15, 23) } };
  GstBuffer *frames[LENGTH];

  play_film ("region-hold=0 region-lookahead=400000000", &film, frames);
  for (guint i = 0; i < LENGTH; i++)
    expect_faces (frames[i], &film, i, "two faces that cross");
  free_frames (frames);
}
GST_END_TEST;

/*
 * One of two faces is where the other one was before the gap. Without ids, the boxes stay: that is what overlap says.
 */
GST_START_TEST (places_swapped)
{
  for (gint ids = 0; ids < 2; ids++) {
    Film film = { 2, { plain_face (100, 10, ids, 10, 18), plain_face (200, -10, 2 * ids, 10, 18) } };
    Film resting = { 2, { plain_face (100, 0, 0, 0, 0), plain_face (200, 0, 0, 0, 0) } };
    GstBuffer *frames[LENGTH];

    /* They rest until frame 9 and from frame 19 on. */
    for (guint i = 0; i < 2; i++)
      film.faces[i].x -= 9 * film.faces[i].right;
    for (guint i = 0; i < LENGTH; i++)
      film.faces[0].seen[i] = film.faces[1].seen[i] = i == 9 || i == 19;
    play_film ("region-hold=0 region-lookahead=400000000", &film, frames);
    for (guint i = 10; i < 19; i++)
      expect_faces (frames[i], ids ? &film : &resting, i, ids ? "places swapped" : "no ids");
    free_frames (frames);
  }
}
GST_END_TEST;

/* --- films with misses --- */

/* Whether faces may come so near each other that a box of one takes the place of the other's, where no id tells them apart. */
static gboolean
may_meet (const Face *a, const Face *b)
{
  return ABS (a->x - b->x) < a->width + b->width + LENGTH && ABS (a->y - b->y) < a->height + b->height + LENGTH;
}

/*
 * Faces that are missed at the start, in the middle and at the end; slow enough for a held box with its margin. Half of
 * them, and all that may meet another one, have ids.
 */
static void
random_film (Film *film, CheckRandom *random)
{
  film->n_faces = check_random_range (random, 1, MOST_FACES);
  for (guint i = 0; i < film->n_faces; i++) {
    Face *face = &film->faces[i];
    guint from = check_random_range (random, 10, 18), to = from + check_random_range (random, 0, 8);

    *face = (Face){ .x = check_random_range (random, 40, WIDTH - 40),
      .y = check_random_range (random, 40, HEIGHT - 40),
      .width = check_random_range (random, 16, 40),
      .height = check_random_range (random, 16, 40),
      .right = check_random_unit (random) - 0.5,
      .down = check_random_unit (random) - 0.5,
      .wider = (check_random_unit (random) - 0.5) / 100,
      .first = check_random_range (random, 0, 3),
      .end = check_random_range (random, LENGTH - 3, LENGTH),
      .id = check_random_one_in (random, 2) ? i + 1 : 0 };
    for (guint k = face->first + check_random_range (random, 0, 6);
         k < face->end - (guint) check_random_range (random, 0, 6); k++)
      face->seen[k] = k < from || k > to;
    for (guint k = 0; k < i; k++)
      if (may_meet (face, &film->faces[k])) {
        face->id = i + 1;
        film->faces[k].id = k + 1;
      }
  }
}

GST_START_TEST (films)
{
  guint bare[3] = { 0 }, ends = 0;

  for (guint round = 0; round < 8; round++) {
    Film film;
    GstBuffer *frames[LENGTH];
    CheckRandom random;

    check_random_init (&random, seed, round);
    random_film (&film, &random);
    play_film ("region-hold=0 region-expand=0.5", &film, frames);
    bare[0] += count_bare (&film, frames, FALSE);
    free_frames (frames);
    play_film ("region-hold=0 region-expand=0.5 region-lookahead=400000000", &film, frames);
    bare[1] += count_bare (&film, frames, FALSE);
    ends += count_bare (&film, frames, TRUE);
    free_frames (frames);
    play_film ("region-hold=400000000 region-expand=0.5 region-lookahead=400000000", &film, frames);
    bare[2] += count_bare (&film, frames, FALSE);
    free_frames (frames);
  }
  g_print ("bare frames: %u, with look-ahead %u, of these %u after the last detection, with hold, too, %u\n", bare[0],
      bare[1], ends, bare[2]);
  fail_unless (bare[0] > 0 && bare[1] > 0 && bare[1] == ends && bare[2] == 0, "seed %u", seed);
}
GST_END_TEST;

/* With a detector that errs in all ways, look-ahead never covers less. */
GST_START_TEST (never_less)
{
  guint more = 0;

  for (guint round = 0; round < 8; round++) {
    GstBuffer *with[LENGTH], *without[LENGTH];
    CheckRandom random;
    Film film;

    check_random_init (&random, seed, 1000 + round);
    random_film (&film, &random);
    for (guint i = 0; i < film.n_faces; i++) {
      film.faces[i].right *= 30;
      film.faces[i].id = check_random_range (&random, 0, 2); /* also twice in a frame */
      for (guint k = 0; k < LENGTH; k++)
        film.faces[i].seen[k] = check_random_one_in (&random, 2);
    }
    play_film ("region-hold=120000000", &film, without);
    play_film ("region-hold=120000000 region-lookahead=200000000", &film, with);
    for (guint i = 0; i < LENGTH; i++) {
      GstMapInfo a, b;

      gst_buffer_map (with[i], &a, GST_MAP_READ);
      gst_buffer_map (without[i], &b, GST_MAP_READ);
      for (gsize k = 0; k < a.size; k++) {
        if (a.data[k] == GREY && b.data[k] != GREY)
          fail ("seed %u, round %u, frame %u: %u,%u is bare", seed, round, i, (guint) k % WIDTH, (guint) k / WIDTH);
        more += a.data[k] != GREY && b.data[k] == GREY;
      }
      gst_buffer_unmap (with[i], &a);
      gst_buffer_unmap (without[i], &b);
    }
    free_frames (with);
    free_frames (without);
  }
  fail_unless (more > 0);
}
GST_END_TEST;

/* --- frames that wait --- */

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  GstVideoInfo info;
  GString *order; /* what came out: a letter for each frame, upper case where it is covered, and the names of events */
  guint pushed, freed;
} Wait;

static GstPadProbeReturn
note (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Wait *wait = data;
  guint8 pixel;

  if (GST_IS_BUFFER (probe->data)) {
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);

    gst_buffer_extract (buffer, 0, &pixel, 1);
    g_string_append_c (wait->order, (pixel == GREY ? 'a' : 'A') + GST_BUFFER_OFFSET (buffer));
    if (GST_BUFFER_IS_DISCONT (buffer))
      g_string_append_c (wait->order, '!');
  } else if (GST_EVENT_TYPE (probe->data) != GST_EVENT_STREAM_START) {
    g_string_append_printf (wait->order, " %s ", GST_EVENT_TYPE_NAME (probe->data));
  }
  return GST_PAD_PROBE_OK;
}

static void
wait_caps (Wait *wait, gint width, gint fps)
{
  GstCaps *caps = frame_caps ("GRAY8", width, 20, NULL);

  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, fps, 1, NULL);
  fail_unless (gst_video_info_from_caps (&wait->info, caps));
  gst_harness_set_src_caps (wait->harness, caps);
}

static void
wait_begin (Wait *wait, const gchar *properties)
{
  g_autofree gchar *line = g_strdup_printf (FILL "region-hold=0 %s", properties);

  *wait = (Wait){ .bus = gst_bus_new (), .order = g_string_new (NULL), .harness = harness_new_line (line) };
  gst_element_set_bus (wait->harness->element, wait->bus);
  gst_pad_add_probe (wait->harness->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH, note, wait,
      NULL);
  wait_caps (wait, 32, 25);
  g_string_truncate (wait->order, 0);
}

static void
count_freed (gpointer data, GstMiniObject *object)
{
  (*(guint *) data)++;
}

/*
 * Each letter is a frame: '.' without a face, 'f' with one in the corner, 'p' with a plate there. Time in frames of 40
 * ms.
 */
static void
wait_push_at (Wait *wait, gchar what, GstClockTime time, gboolean discont)
{
  GstBuffer *buffer = grey_frame (&wait->info, time);

  if (what != '.')
    add_region (buffer, what == 'f' ? "face" : "plate", 0, 0, 8, 8);
  GST_BUFFER_OFFSET (buffer) = wait->pushed++;
  if (discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_mini_object_weak_ref (GST_MINI_OBJECT (buffer), count_freed, &wait->freed);
  push_ok (wait->harness, buffer);
}

static void
wait_push (Wait *wait, const gchar *frames)
{
  for (guint i = 0; frames[i]; i++)
    wait_push_at (wait, frames[i], wait->pushed * FRAME, FALSE);
}

static void
wait_event (Wait *wait, GstEvent *event)
{
  fail_unless (gst_harness_push_event (wait->harness, event));
}

static GstEvent *
custom_event (void)
{
  return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("mark"));
}

static GstEvent *
segment_event (gdouble rate, GstClockTime base)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.base = base;
  if (rate < 0)
    segment.stop = 100 * GST_SECOND;
  return gst_event_new_segment (&segment);
}

/* Compares what came out since the last call. */
static void
wait_expect (Wait *wait, const gchar *order)
{
  fail_unless_equals_string (wait->order->str, order);
  g_string_truncate (wait->order, 0);
}

/* The element goes, and with it every frame; frames that came out are in the harness until then. */
static void
wait_end (Wait *wait)
{
  gst_element_set_bus (wait->harness->element, NULL);
  gst_harness_teardown (wait->harness);
  gst_object_unref (wait->bus);
  fail_unless_equals_int (wait->freed, wait->pushed);
  g_string_free (wait->order, TRUE);
}

/* Three frames wait in 120 ms; events stay in their places, and what ends a stream lets all go on. */
GST_START_TEST (order)
{
  GstQuery *query = gst_query_new_drain ();
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000");
  wait_push (&wait, "...f");
  wait_expect (&wait, "A");
  wait_push (&wait, "....");
  wait_expect (&wait, "BCDe");
  wait_event (&wait, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "x", NULL)));
  wait_event (&wait, custom_event ());
  wait_push (&wait, "f");
  wait_event (&wait, gst_event_new_segment_done (GST_FORMAT_TIME, 0));
  wait_expect (&wait, "FGH tag  custom-downstream I segment-done ");
  wait_event (&wait, custom_event ());
  wait_expect (&wait, " custom-downstream ");
  wait_push (&wait, "..");
  fail_unless (gst_pad_peer_query (wait.harness->srcpad, query));
  wait_expect (&wait, "jk");
  wait_push (&wait, "..");
  wait_caps (&wait, 48, 25);
  wait_expect (&wait, "lm caps  segment ");
  wait_push (&wait, ".f");
  wait_event (&wait, gst_event_new_eos ());
  wait_expect (&wait, "NO eos ");
  gst_query_unref (query);
  wait_end (&wait);
}
GST_END_TEST;

/* A stream that ends before a frame has waited long enough. */
GST_START_TEST (short_stream)
{
  Wait wait;

  wait_begin (&wait, "region-lookahead=10000000000");
  wait_event (&wait, gst_event_new_eos ());
  wait_expect (&wait, " eos ");
  wait_end (&wait);
  wait_begin (&wait, "region-lookahead=10000000000");
  wait_push (&wait, "..f.");
  wait_expect (&wait, "");
  wait_event (&wait, gst_event_new_eos ());
  wait_expect (&wait, "ABCd eos ");
  wait_end (&wait);
}
GST_END_TEST;

/* A flush drops frames and what they saw. Events that pads keep are not lost. */
GST_START_TEST (flush)
{
  GstTagList *tags = NULL;
  GstEvent *tag;
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000");
  wait_push (&wait, ".....f");
  wait_expect (&wait, "abC");
  wait_event (&wait, gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "x", NULL)));
  wait_event (&wait, gst_event_new_flush_start ());
  wait_event (&wait, gst_event_new_flush_stop (TRUE));
  wait_event (&wait, segment_event (1, 0));
  fail_unless_equals_int (wait.freed, 3);
  wait_push (&wait, "...");
  wait_expect (&wait, " flush-start  flush-stop  segment ");
  wait_push (&wait, "f");
  wait_expect (&wait, " tag G");
  tag = gst_pad_get_sticky_event (wait.harness->sinkpad, GST_EVENT_TAG, 0);
  fail_unless (tag != NULL);
  gst_event_parse_tag (tag, &tags);
  fail_unless_equals_int (gst_tag_list_n_tags (tags), 1);
  gst_event_unref (tag);
  wait_end (&wait);
}
GST_END_TEST;

/* Segments wait, too, and the running time goes on through them. */
GST_START_TEST (more_segments)
{
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000");
  wait_event (&wait, segment_event (1, 0));
  wait_push (&wait, "....");
  wait_event (&wait, segment_event (1, 4 * FRAME));
  wait_expect (&wait, " segment a");
  wait_push_at (&wait, 'f', 0, FALSE);
  wait_push_at (&wait, '.', FRAME, FALSE);
  wait_push_at (&wait, '.', 2 * FRAME, FALSE);
  wait_expect (&wait, "BCD segment ");
  wait_event (&wait, gst_event_new_eos ());
  wait_expect (&wait, "Efg eos ");
  wait_end (&wait);
}
GST_END_TEST;

/* A gap is time that passes. A jump in time is no look-ahead. */
GST_START_TEST (gaps)
{
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000");
  wait_push (&wait, "..");
  wait_event (&wait, gst_event_new_gap (2 * FRAME, FRAME));
  wait_expect (&wait, "");
  wait_event (&wait, gst_event_new_gap (3 * FRAME, FRAME));
  wait_expect (&wait, "a");
  wait_push_at (&wait, '.', 4 * FRAME, FALSE);
  wait_expect (&wait, "b gap  gap ");
  wait_push_at (&wait, 'f', 100 * FRAME, FALSE);
  wait_expect (&wait, "c");
  wait_event (&wait, gst_event_new_eos ());
  wait_expect (&wait, "D eos ");
  wait_end (&wait);
}
GST_END_TEST;

/* The flag DISCONT stays on its frame, also where a late frame is dropped. */
GST_START_TEST (discont)
{
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000");
  wait_push (&wait, "...");
  wait_push_at (&wait, '.', 3 * FRAME, TRUE);
  wait_push (&wait, "....");
  wait_expect (&wait, "abcd!e");
  gst_harness_push_upstream_event (wait.harness, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 0, 5 * FRAME));
  wait_push (&wait, ".");
  gst_harness_push_upstream_event (wait.harness,
      gst_event_new_qos (GST_QOS_TYPE_OVERFLOW, 0.1, -1000 * GST_MSECOND, 1000 * GST_MSECOND));
  wait_push (&wait, "..");
  wait_expect (&wait, "g!h");
  wait_end (&wait);
}
GST_END_TEST;

/* Settings count for a frame that leaves, and for what later frames show it. */
GST_START_TEST (settings)
{
  GObject *element;
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000");
  element = G_OBJECT (wait.harness->element);
  wait_push (&wait, "....p");
  wait_expect (&wait, "aB");
  g_object_set (element, "region-types", "face", NULL);
  wait_push (&wait, ".f.");
  wait_expect (&wait, "cDE");
  g_object_set (element, "region-types", NULL, NULL);
  wait_push (&wait, ".");
  wait_expect (&wait, "F");
  g_object_set (element, "region-lookahead", G_GUINT64_CONSTANT (0), NULL);
  wait_push (&wait, "f.");
  wait_expect (&wait, "GhiJk");
  g_object_set (element, "region-lookahead", 200 * GST_MSECOND, NULL);
  wait_push (&wait, ".....");
  wait_expect (&wait, "");
  gst_util_set_object_arg (element, "apply-to", "frame");
  g_object_set (element, "mask", "identity", NULL);
  wait_push (&wait, ".f.");
  wait_expect (&wait, "lmnopqrs");
  gst_util_set_object_arg (element, "apply-to", "regions");
  wait_push (&wait, ".");
  gst_element_set_state (wait.harness->element, GST_STATE_READY);
  fail_unless_equals_int (wait.freed, 1);
  wait_end (&wait);
}
GST_END_TEST;

/* In passthrough frames wait as well, and stay in their order when it begins and ends. */
GST_START_TEST (passthrough)
{
  GObject *element;
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000 region-effect=mask mask=identity");
  element = G_OBJECT (wait.harness->element);
  wait_push (&wait, "....f");
  wait_expect (&wait, "ab");
  gst_util_set_object_arg (element, "region-effect", "fill");
  wait_push (&wait, ".");
  wait_expect (&wait, "C");
  gst_util_set_object_arg (element, "region-effect", "mask");
  wait_push (&wait, ".");
  wait_expect (&wait, "d");
  wait_event (&wait, gst_event_new_eos ());
  wait_expect (&wait, "efg eos ");
  wait_end (&wait);
}
GST_END_TEST;

/* Frames without time stamps, of other rates, backward, and with stamps that a container rounded. */
GST_START_TEST (times)
{
  static const struct
  {
    const gchar *what;
    gdouble rate;
    gint fps;
    guint64 ahead;   /* milliseconds */
    gint64 times[8]; /* milliseconds; -1 for none; the face is in the fifth frame */
    const gchar *expected;
  } rows[] = { { "forward", 1, 25, 80, { 0, 40, 80, 120, 160, 200, 240, 280 }, "abCDEf" },
    { "no multiple", 1, 25, 81, { 0, 40, 80, 120, 160, 200, 240, 280 }, "abCDEf" },
    { "by more", 1, 25, 100, { 0, 40, 80, 120, 160, 200, 240, 280 }, "abCDE" },
    { "rounded", 1, 30, 100, { 0, 33, 67, 100, 133, 167, 200, 233 }, "aBCDE" },
    { "rounded up", 1, 30, 67, { 0, 33, 67, 100, 133, 167, 200, 233 }, "abCDEf" },
    { "one nanosecond is one frame", 1, 25, 0, { 0, 40, 80, 120, 160, 200, 240, 280 }, "abcDEfg" },
    { "no time stamps", 1, 25, 80, { -1, -1, -1, -1, -1, -1, -1, -1 }, "abCDEf" },
    { "no time stamps, one frame a second", 1, 1, 2000, { -1, -1, -1, -1, -1, -1, -1, -1 }, "abCDEf" },
    { "backward", -1, 25, 80, { 5000, 4960, 4920, 4880, 4840, 4800, 4760, 4720 }, "abCDEf" },
    { "backward, fast", -2, 25, 40, { 5000, 4960, 4920, 4880, 4840, 4800, 4760, 4720 }, "abCDEf" },
    { "stamps that go back", 1, 25, 80, { 5000, 4960, 4920, 4880, 4840, 4800, 4760, 4720 }, "abCDEf" },
    { "no rate in the caps", 1, 0, 80, { 0, 40, 80, 120, 160, 200, 240, 280 }, "abCDEf" },
    { "twice as many as the caps say", 1, 25, 80, { 0, 20, 40, 60, 80, 100, 120, 140 }, "ABCD" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree gchar *ahead =
        g_strdup_printf ("region-lookahead=%" G_GUINT64_FORMAT, MAX (rows[i].ahead * GST_MSECOND, 1));
    Wait wait;

    wait_begin (&wait, ahead);
    wait_caps (&wait, 32, rows[i].fps);
    wait_event (&wait, segment_event (rows[i].rate, 0));
    g_string_truncate (wait.order, 0);
    for (guint k = 0; k < G_N_ELEMENTS (rows[i].times); k++)
      wait_push_at (&wait, k == 4 ? 'f' : '.',
          rows[i].times[k] < 0 ? GST_CLOCK_TIME_NONE : (guint64) rows[i].times[k] * GST_MSECOND, FALSE);
    fail_unless (g_str_equal (wait.order->str, rows[i].expected), "%s: %s, expected %s", rows[i].what, wait.order->str,
        rows[i].expected);
    wait_end (&wait);
  }
}
GST_END_TEST;

/* --- anything in any order --- */

typedef struct
{
  GString *in, *out; /* what went in, and what came out, one word each */
  guint marks;
} Traffic;

static void
write_event (GString *words, GstEvent *event)
{
  gint number = -1;

  if (gst_event_get_structure (event))
    gst_structure_get_int (gst_event_get_structure (event), "number", &number);
  g_string_append_printf (words, "%s%d ", GST_EVENT_TYPE_NAME (event), number);
}

static GstPadProbeReturn
note_traffic (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Traffic *traffic = data;

  if (GST_IS_BUFFER (probe->data))
    g_string_append_printf (traffic->out, "%u ", (guint) GST_BUFFER_OFFSET (probe->data));
  else if (GST_EVENT_TYPE (probe->data) != GST_EVENT_STREAM_START && GST_EVENT_IS_SERIALIZED (probe->data)
      && GST_EVENT_TYPE (probe->data) != GST_EVENT_FLUSH_STOP)
    write_event (traffic->out, probe->data);
  return GST_PAD_PROBE_OK;
}

static GstEvent *
random_event (Traffic *traffic, CheckRandom *random, GstClockTime now)
{
  switch (check_random_range (random, 0, 2)) {
    case 0:
      return gst_event_new_gap (now, check_random_range (random, 0, 3) * FRAME);
    case 1:
      return segment_event (1, 0);
    default:
      return gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new ("mark", "number", G_TYPE_INT, traffic->marks++, NULL));
  }
}

/* A flush drops what waits. */
static void
random_flush (Wait *wait, Traffic *traffic)
{
  gst_harness_push_event (wait->harness, gst_event_new_flush_start ());
  gst_harness_push_event (wait->harness, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (wait->harness, segment_event (1, 0));
  g_string_assign (traffic->in, traffic->out->str);
}

static void
random_settings (Wait *wait, CheckRandom *random)
{
  GObject *element = G_OBJECT (wait->harness->element);

  switch (check_random_range (random, 0, 4)) {
    case 0:
      g_object_set (element, "region-lookahead", (guint64) check_random_range (random, 0, 8) * 30 * GST_MSECOND, NULL);
      break;
    case 1:
      gst_util_set_object_arg (element, "apply-to", check_random_one_in (random, 2) ? "frame" : "regions");
      break;
    case 2:
      gst_util_set_object_arg (element, "region-effect", check_random_one_in (random, 2) ? "mask" : "fill");
      break;
    case 3:
      gst_util_set_object_arg (element, "region-types", check_random_one_in (random, 2) ? "face" : "!face");
      break;
    default:
      g_object_set (element, "frames-in-flight", check_random_range (random, 1, 4), NULL);
  }
}

/*
 * Frames, events, new caps, drains, flushes and settings in any order: what comes out is always the beginning of what
 * went in, but for what a flush drops, and in the end all of it.
 */
GST_START_TEST (any_order)
{
  for (guint round = 0; round < 20; round++) {
    Traffic traffic = { .in = g_string_new (NULL), .out = g_string_new (NULL) };
    GstClockTime now = 0;
    CheckRandom random;
    Wait wait;

    check_random_init (&random, seed, 2000 + round);
    wait_begin (&wait, "mask=identity region-lookahead=120000000");
    gst_pad_add_probe (wait.harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        note_traffic, &traffic, NULL);
    for (guint step = 0; step < 150; step++) {
      gint what = check_random_range (&random, 0, 19);

      if (what == 0) {
        random_settings (&wait, &random);
      } else if (what == 1 && check_random_one_in (&random, 4)) {
        wait_caps (&wait, check_random_range (&random, 16, 64), 25);
        fail_unless (g_str_has_prefix (traffic.out->str, traffic.in->str));
        g_string_assign (traffic.in, traffic.out->str);
      } else if (what == 2 && check_random_one_in (&random, 4)) {
        g_autoptr (GstQuery) query = gst_query_new_drain ();

        fail_unless (gst_pad_peer_query (wait.harness->srcpad, query));
        fail_unless_equals_string (traffic.out->str, traffic.in->str);
      } else if (what == 3 && check_random_one_in (&random, 4)) {
        random_flush (&wait, &traffic);
      } else if (what < 7) {
        GstEvent *event = random_event (&traffic, &random, now);

        write_event (traffic.in, event);
        wait_event (&wait, event);
      } else {
        g_string_append_printf (traffic.in, "%u ", wait.pushed);
        wait_push_at (&wait, check_random_one_in (&random, 3) ? 'f' : '.', now, check_random_one_in (&random, 9));
        now += check_random_range (&random, 0, 2) * FRAME;
      }
      fail_unless (g_str_has_prefix (traffic.in->str, traffic.out->str), "seed %u, round %u, step %u: in %s, out %s",
          seed, round, step, traffic.in->str, traffic.out->str);
    }
    wait_event (&wait, gst_event_new_eos ());
    g_string_append (traffic.in, "eos-1 ");
    fail_unless_equals_string (traffic.out->str, traffic.in->str);
    wait_end (&wait);
    g_string_free (traffic.in, TRUE);
    g_string_free (traffic.out, TRUE);
  }
}
GST_END_TEST;

/* --- latency --- */

static void
expect_latency (Wait *wait, gboolean live, GstClockTime latency, guint messages)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime least, most;
  GstMessage *message;
  gboolean is_live;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (wait->bus, GST_MESSAGE_LATENCY))) {
    gst_message_unref (message);
    n++;
  }
  fail_unless_equals_int (n, messages);
  gst_harness_set_live (wait->harness, live);
  gst_harness_set_upstream_latency (wait->harness, 5 * GST_MSECOND);
  fail_unless (gst_pad_peer_query (wait->harness->sinkpad, query));
  gst_query_parse_latency (query, &is_live, &least, &most);
  gst_query_unref (query);
  fail_unless (is_live == live && most == GST_CLOCK_TIME_NONE);
  fail_unless_equals_uint64 (least, latency + 5 * GST_MSECOND);
}

/* So many frames as the look-ahead takes, rounded up, and none where nothing can come of it. */
GST_START_TEST (latency)
{
  for (guint live = 0; live < 2; live++) {
    GObject *element;
    Wait wait;

    wait_begin (&wait, "region-lookahead=100000000");
    element = G_OBJECT (wait.harness->element);
    wait_push (&wait, ".");
    expect_latency (&wait, live, 3 * FRAME, 1);
    wait_push (&wait, "....");
    expect_latency (&wait, live, 3 * FRAME, 0);
    g_object_set (element, "region-lookahead", 80 * GST_MSECOND, NULL);
    wait_push (&wait, ".");
    expect_latency (&wait, live, 2 * FRAME, 1);
    g_object_set (element, "region-lookahead", G_GUINT64_CONSTANT (1), NULL);
    wait_push (&wait, ".");
    expect_latency (&wait, live, FRAME, 1);
    wait_caps (&wait, 32, 50);
    wait_push (&wait, ".");
    expect_latency (&wait, live, FRAME / 2, 1);
    wait_caps (&wait, 32, 0);
    wait_push (&wait, ".");
    expect_latency (&wait, live, FRAME, 1);
    gst_util_set_object_arg (element, "region-sources", "text");
    wait_push (&wait, ".");
    expect_latency (&wait, live, 0, 1);
    wait_end (&wait);
  }
}
GST_END_TEST;

/* --- limits --- */

/* Takes all warnings, and counts those about look-ahead. */
static guint
count_warnings (GstBus *bus)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    g_autoptr (GError) error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    n += g_str_has_prefix (error->message, "region-lookahead: ");
    gst_message_unref (message);
  }
  return n;
}

/* Frames that all come at one time do not wait without end. */
GST_START_TEST (crowd)
{
  Wait wait;

  wait_begin (&wait, "region-lookahead=100000000");
  for (guint i = 0; i < 1100; i++)
    wait_push_at (&wait, '.', 0, FALSE);
  fail_unless_equals_int (wait.order->len, 1100 - 1024);
  fail_unless_equals_int (count_warnings (wait.bus), 1);
  wait_end (&wait);
}
GST_END_TEST;

/* Nor do boxes: beyond 65,536 of them in frames that wait, one box stands for those of a frame. */
GST_START_TEST (crowd_of_boxes)
{
  Wait wait;

  wait_begin (&wait, "region-lookahead=120000000");
  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer = grey_frame (&wait.info, i * FRAME);

    /* They lie outside the frame. */
    for (guint k = 0; k < 30000; k++)
      add_region (buffer, "face", 1000 + 20 * k, 0, 10, 10);
    GST_BUFFER_OFFSET (buffer) = wait.pushed++;
    gst_mini_object_weak_ref (GST_MINI_OBJECT (buffer), count_freed, &wait.freed);
    push_ok (wait.harness, buffer);
  }
  wait_expect (&wait, "ABC");
  fail_unless_equals_int (count_warnings (wait.bus), 1);
  wait_end (&wait);
}
GST_END_TEST;

/* A frame that waits is changed in place where nobody else holds it. */
GST_START_TEST (in_place)
{
  GstBuffer *frames[4];
  Wait wait;

  wait_begin (&wait, "region-lookahead=80000000");
  for (guint i = 0; i < 4; i++) {
    frames[i] = add_region (grey_frame (&wait.info, i * FRAME), "face", 0, 0, 8, 8);
    push_ok (wait.harness, frames[i]);
  }
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) out = gst_harness_pull (wait.harness);

    fail_unless (out == frames[i]);
  }
  wait_end (&wait);
}
GST_END_TEST;

/* A film that is played backward, of whose frames the detector finds the face in every fifth. */
static GstPadProbeReturn
see_sometimes (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (probe));

  if ((*(guint *) data)++ % 5 == 4)
    add_region (buffer, "face", 8, 8, 16, 16);
  GST_PAD_PROBE_INFO_DATA (probe) = buffer;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
count_bare_frame (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  guint *counts = data;
  guint8 pixel;

  gst_buffer_extract (GST_PAD_PROBE_INFO_BUFFER (probe), 16 * 32 + 16, &pixel, 1);
  counts[0]++;
  counts[1] += pixel > 16;
  return GST_PAD_PROBE_OK;
}

GST_START_TEST (backward)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "videotestsrc pattern=white ! video/x-raw,format=GRAY8,width=32,height=32,framerate=25/1 ! " FILL
      "name=c region-hold=0 region-lookahead=200000000 ! fakesink name=sink",
      NULL);
  g_autoptr (GstElement) convolve = gst_bin_get_by_name (GST_BIN (pipeline), "c");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (convolve, "sink"), src = NULL;
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  guint pushed = 0, counts[2] = { 0 };

  src = gst_element_get_static_pad (convolve, "src");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless (gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS);
  fail_unless (gst_element_seek (pipeline, -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
      GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 2 * GST_SECOND));
  fail_unless (gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (pipeline, GST_STATE_READY);
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, see_sometimes, &pushed, NULL);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, count_bare_frame, counts, NULL);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless (gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND) == GST_STATE_CHANGE_SUCCESS);
  pushed = counts[0] = counts[1] = 0;
  fail_unless (gst_element_seek (pipeline, -1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
      GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_SET, 2 * GST_SECOND));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (counts[0] >= 50 && counts[1] <= counts[0] % 5, "%u frames, %u of them bare", counts[0], counts[1]);
}
GST_END_TEST;

/* Every second frame has a face. */
static GstFlowReturn
give_frame (GstPad *pad, GstObject *parent, guint64 offset, guint size, GstBuffer **buffer)
{
  GstVideoInfo info = info_of ("GRAY8", 32, 20);

  *buffer = grey_frame (&info, offset * FRAME);
  if (offset % 2 == 1)
    add_region (*buffer, "face", 0, 0, 8, 8);
  return GST_FLOW_OK;
}

/* Frames that are pulled do not wait, and each has its own boxes. */
GST_START_TEST (pulled)
{
  GstVideoInfo info = info_of ("GRAY8", 32, 20);
  g_autoptr (GstElement) element = gst_parse_launch (FILL "region-hold=0 region-lookahead=120000000", NULL);
  g_autoptr (GstPad) src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  g_autoptr (GstPad) sink = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
  g_autoptr (GstPad) in = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) out = gst_element_get_static_pad (element, "src");
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);

  gst_pad_set_getrange_function (src, give_frame);
  fail_unless (gst_pad_link (src, in) == GST_PAD_LINK_OK && gst_pad_link (out, sink) == GST_PAD_LINK_OK);
  fail_unless (gst_pad_activate_mode (sink, GST_PAD_MODE_PULL, TRUE));
  gst_pad_push_event (src, gst_event_new_stream_start ("pulled"));
  gst_pad_push_event (src, gst_event_new_caps (caps));
  gst_pad_push_event (src, segment_event (1, 0));
  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer = NULL;
    guint8 pixel;

    fail_unless_equals_int (gst_pad_pull_range (sink, i, 1, &buffer), GST_FLOW_OK);
    gst_buffer_extract (buffer, 0, &pixel, 1);
    fail_unless ((pixel != GREY) == (i % 2 == 1), "frame %u", i);
    gst_buffer_unref (buffer);
  }
  fail_unless (gst_pad_activate_mode (sink, GST_PAD_MODE_PULL, FALSE));
}
GST_END_TEST;

TCase *
region_ahead (void)
{
  TCase *tc = tcase_create ("ahead");

  tcase_set_timeout (tc, 0);
  tcase_add_test (tc, gap);
  tcase_add_test (tc, gap_of_a_growing_face);
  tcase_add_test (tc, crossing);
  tcase_add_test (tc, places_swapped);
  tcase_add_test (tc, films);
  tcase_add_test (tc, never_less);
  tcase_add_test (tc, order);
  tcase_add_test (tc, short_stream);
  tcase_add_test (tc, flush);
  tcase_add_test (tc, more_segments);
  tcase_add_test (tc, gaps);
  tcase_add_test (tc, discont);
  tcase_add_test (tc, settings);
  tcase_add_test (tc, passthrough);
  tcase_add_test (tc, times);
  tcase_add_test (tc, any_order);
  tcase_add_test (tc, latency);
  tcase_add_test (tc, crowd);
  tcase_add_test (tc, crowd_of_boxes);
  tcase_add_test (tc, in_place);
  tcase_add_test (tc, backward);
  tcase_add_test (tc, pulled);
  return tc;
}
