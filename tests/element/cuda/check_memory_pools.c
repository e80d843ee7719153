/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many buffers the element keeps of its neighbours' pools, and who answers upstream's allocation query, over the fake
 * device: no pipeline stands still, however few buffers a pool has.
 */
#include "element/cuda/check_memory.h"

#include "support/pools.h"

/* A setting of the element that changes when the frame of this number comes. */
typedef struct
{
  guint frame;
  const gchar *name, *value; /* for "caps": the width of the frames from here on */
} Change;

typedef struct
{
  const gchar *line; /* the element's first properties */
  guint lent;        /* buffers that downstream's pool has at most; 0 where downstream offers none */
  gboolean strict;   /* upstream's pool has one spare buffer, and the sink keeps lent - 1 buffers */
  const Change *changes;
  GstElement *element, *filter;
  guint pushed, received;
  GQueue kept; /* the buffers that the sink keeps */
} Play;

static void
apply (Play *play, const Change *change)
{
  if (g_str_equal (change->name, "caps")) {
    g_autofree gchar *text = g_strdup_printf ("video/x-raw,format=GRAY8,width=%s,height=64", change->value);

    gst_util_set_object_arg (G_OBJECT (play->filter), "caps", text);
  } else {
    gst_util_set_object_arg (G_OBJECT (play->element), change->name, change->value);
  }
}

static GstPadProbeReturn
change_settings (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Play *play = data;

  for (const Change *change = play->changes; change->name; change++)
    if (change->frame == play->pushed)
      apply (play, change);
  play->pushed++;
  return GST_PAD_PROBE_OK;
}

/* A strict sink keeps the latest lent - 1 buffers. */
static GstPadProbeReturn
count_received (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Play *play = data;

  play->received++;
  if (play->strict && play->lent > 1)
    g_queue_push_tail (&play->kept, gst_buffer_ref (GST_PAD_PROBE_INFO_BUFFER (probe)));
  while (play->kept.length + 1 > MAX (1, play->lent))
    gst_buffer_unref (g_queue_pop_head (&play->kept));
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  const Play *play = data;

  return play->lent > 0 ? pools_offer (probe, play->lent, play->lent) : GST_PAD_PROBE_OK;
}

/* Upstream takes the buffers that it is asked for, and one to draw in. */
static GstPadProbeReturn
limit_pool (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  const Play *play = data;

  return play->strict ? pools_limit (probe, 1) : GST_PAD_PROBE_OK;
}

/* Plays 60 frames to the end, and once more after the change `again`, unless that is NULL. */
static void
play_to_end (Play *play, const Change *again)
{
  g_autofree gchar *line = g_strdup_printf (
      "videotestsrc num-buffers=60 ! capsfilter name=filter "
      "caps=video/x-raw,format=GRAY8,width=80,height=64 ! cudaconvolve name=element kernel-variant=global %s "
      "! fakesink name=sink sync=false",
      play->line);
  GstElement *pipeline;
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstPad) pad = NULL, input = NULL, asked = NULL;
  g_autoptr (GstBus) bus = NULL;

  fake_device_fault (NULL);
  pipeline = gst_parse_launch (line, NULL);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  play->element = gst_bin_get_by_name (GST_BIN (pipeline), "element");
  play->filter = gst_bin_get_by_name (GST_BIN (pipeline), "filter");
  pad = gst_element_get_static_pad (sink, "sink");
  input = gst_element_get_static_pad (play->filter, "sink");
  bus = gst_element_get_bus (pipeline);
  asked = gst_element_get_static_pad (play->element, "sink");
  gst_pad_add_probe (asked, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PULL, limit_pool, play, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, play, NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_received, play, NULL);
  gst_pad_add_probe (input, GST_PAD_PROBE_TYPE_BUFFER, change_settings, play, NULL);
  for (guint run = 0; run < (again ? 2 : 1); run++) {
    GstMessage *message;

    play->pushed = play->received = 0;
    if (run > 0)
      apply (play, again);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message != NULL, "%s stands still after %u frames", line, play->received);
    fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
    fail_unless_equals_int (play->received, 60);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    g_queue_clear_full (&play->kept, (GDestroyNotify) gst_buffer_unref);
  }
  gst_object_unref (play->element);
  gst_object_unref (play->filter);
  gst_object_unref (pipeline);
}

/*
 * With pools that have few buffers, neither a larger frames-in-flight nor the end of passthrough stops the pipeline.
 */
GST_START_TEST (test_more_in_flight)
{
  static const Change more[] = { { 20, "frames-in-flight", "4" }, { 40, "frames-in-flight", "2" },
    { 50, "frames-in-flight", "3" }, { 0, NULL, NULL } };
  static const Change work[] = { { 20, "caps", "96" }, { 30, "mask", "gaussian" }, { 0, NULL, NULL } };
  static const Change turns[] = { { 10, "mask", "box" }, { 20, "mask", "identity" }, { 30, "mask", "box" },
    { 40, "frames-in-flight", "4" }, { 45, "caps", "96" }, { 0, NULL, NULL } };
  static const Change none[] = { { 0, NULL, NULL } };
  static const Change later = { 0, "mask", "gaussian" };

  for (guint lent = 2; lent <= 5; lent++) {
    play_to_end (&(Play){ .line = "", .lent = lent, .changes = more }, NULL);
    play_to_end (&(Play){ .line = "mask=identity frames-in-flight=2", .lent = lent, .changes = work }, NULL);
    play_to_end (&(Play){ .line = "mask=identity frames-in-flight=4", .lent = lent, .changes = work }, NULL);
    play_to_end (&(Play){ .line = "mask=identity frames-in-flight=2", .lent = lent, .changes = turns }, NULL);
    play_to_end (&(Play){ .line = "mask=identity frames-in-flight=3", .lent = lent, .changes = none }, &later);
  }
}
GST_END_TEST;

/*
 * Upstream asks again when passthrough begins, too: the sink keeps its last frame, which is then upstream's only buffer if
 * upstream has one for the element alone.
 */
GST_START_TEST (test_passthrough_begins)
{
  static const Change turns[] = { { 10, "mask", "identity" }, { 20, "mask", "box" }, { 30, "mask", "identity" },
    { 0, NULL, NULL } };
  static const Change none[] = { { 0, NULL, NULL } };

  for (guint lent = 0; lent <= 4; lent += 2) {
    play_to_end (&(Play){ .line = "mask=box", .lent = lent, .strict = TRUE, .changes = turns }, NULL);
    play_to_end (&(Play){ .line = "mask=identity", .lent = lent, .strict = TRUE, .changes = none }, NULL);
  }
}
GST_END_TEST;

static GstPadProbeReturn
flush_before_frame (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstHarness *harness = data;

  gst_harness_push_event (harness, gst_event_new_flush_start ());
  return GST_PAD_PROBE_REMOVE;
}

static guint
count_reconfigure (GstHarness *harness)
{
  GstEvent *event;
  guint count = 0;

  while ((event = gst_harness_try_pull_upstream_event (harness))) {
    count += GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE;
    gst_event_unref (event);
  }
  return count;
}

/*
 * Passthrough begins or ends with a frame that a flush overtakes. Upstream hears of that after the flush, and only until
 * upstream has asked.
 */
GST_START_TEST (test_passthrough_in_flush)
{
  static const gchar *const masks[] = { "box", "identity", "box" };
  GstVideoInfo info = small_info ("GRAY8");

  for (guint i = 0; i + 1 < G_N_ELEMENTS (masks); i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask=%s", masks[i]);
    GstHarness *harness = start_harness (line, NULL, &info);
    GstPad *pad = gst_element_get_static_pad (harness->element, "sink");
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_set_drop_buffers (harness, TRUE);
    push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
    pool_free (pool_new (harness, &info, 2, FALSE));
    count_reconfigure (harness);
    gst_util_set_object_arg (G_OBJECT (harness->element), "mask", masks[i + 1]);
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, flush_before_frame, harness, NULL);
    fail_unless_equals_int (gst_harness_push (harness, frame_new (&info, FRAME_PLAIN, 2)), GST_FLOW_FLUSHING);
    fail_unless_equals_int (count_reconfigure (harness), 0);
    for (guint flush = 0; flush < 2; flush++) { /* told again as long as upstream has not asked */
      if (flush > 0)
        gst_harness_push_event (harness, gst_event_new_flush_start ());
      gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
      fail_unless_equals_int (count_reconfigure (harness), 1);
    }
    gst_harness_push_event (harness, gst_event_new_segment (&segment));
    push_ok (harness, frame_new (&info, FRAME_PLAIN, 3));
    pool_free (pool_new (harness, &info, 2, FALSE));
    count_reconfigure (harness);
    gst_harness_push_event (harness, gst_event_new_flush_start ());
    gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
    fail_unless_equals_int (count_reconfigure (harness), 0);
    gst_object_unref (pad);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/*
 * Where only regions change, frames go on in upstream's buffers, so that upstream is asked for those that downstream keeps,
 * too: from the start, and when regions begin while frames run.
 */
GST_START_TEST (test_regions_pass_buffers)
{
  static const Change begin[] = { { 20, "apply-to", "regions" }, { 0, NULL, NULL } };
  static const Change none[] = { { 0, NULL, NULL } };
  static const gchar *const effects[] = { "regions=\"0,0,8,8\" region-effect=fill", "" };

  for (guint lent = 0; lent <= 4; lent += lent > 0 ? 1 : 2)
    for (guint i = 0; i < G_N_ELEMENTS (effects); i++)
      for (guint frames = 1; frames <= 3; frames += 2) {
        g_autofree gchar *on_cpu = g_strdup_printf ("kernel-variant=cpu apply-to=regions %s", effects[i]);
        g_autofree gchar *on_device = g_strdup_printf ("apply-to=regions frames-in-flight=%u %s", frames, effects[i]);
        g_autofree gchar *later = g_strdup_printf ("kernel-variant=cpu frames-in-flight=%u %s", frames, effects[i]);

        play_to_end (&(Play){ .line = on_cpu, .lent = lent, .strict = TRUE, .changes = none }, NULL);
        play_to_end (&(Play){ .line = on_device, .lent = lent, .strict = TRUE, .changes = none }, NULL);
        play_to_end (&(Play){ .line = later, .lent = lent, .strict = TRUE, .changes = begin }, NULL);
      }
}
GST_END_TEST;

/* More frames get in flight once the neighbours have agreed to more buffers, and not before. */
GST_START_TEST (test_agreed)
{
  GstVideoInfo info = small_info ("GRAY8");
  GstHarness *harness = start_harness ("cudaconvolve", NULL, &info);
  GstBufferPool *pool = pool_new (harness, &info, 2, TRUE); /* with frames-in-flight=1, so no frame may be kept */

  for (guint i = 0; i < 2; i++)
    push_ok (harness, acquire (pool));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 2);
  g_object_set (harness->element, "frames-in-flight", 4, NULL);
  for (guint i = 0; i < 6; i++)
    push_ok (harness, acquire (pool));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 8);
  pool_free (pool);
  pool = pool_new (harness, &info, 5, TRUE); /* asks again, and knows of 4 */
  for (guint i = 0; i < 6; i++)
    push_ok (harness, acquire (pool));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 11);
  gst_harness_push_event (harness, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (harness), 14);
  pool_free (pool);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/*
 * Upstream's buffers of new caps come from a pool that the element was not asked about, so no frame of them may be
 * kept. New properties end no agreement.
 */
GST_START_TEST (test_agreed_for_old_caps)
{
  GstVideoInfo info = small_info ("GRAY8"), other = small_info ("NV12");
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&other);
  GstHarness *harness = start_harness ("cudaconvolve frames-in-flight=3", NULL, &info);
  GstBufferPool *pool = pool_new (harness, &info, 5, TRUE);
  GstStructure *config;

  for (guint i = 0; i < 4; i++)
    push_ok (harness, acquire (pool));
  g_object_set (harness->element, "mask", "box", NULL);
  push_ok (harness, acquire (pool));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 3);
  gst_harness_set_src_caps (harness, gst_caps_ref (caps));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 5);
  pool_free (pool);

  pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, other.size, 4, 4);
  fail_unless (gst_buffer_pool_set_config (pool, config) && gst_buffer_pool_set_active (pool, TRUE));
  for (guint i = 0; i < 4; i++) {
    GstBufferPoolAcquireParams at_once = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
    GstBuffer *buffer;

    fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, &at_once), GST_FLOW_OK);
    push_ok (harness, buffer);
  }
  fail_unless_equals_int (gst_harness_buffers_received (harness), 9);
  pool_free (pool);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Who answers upstream's allocation query, and how many buffers the answer asks for; -1 where it has no pool. */
typedef struct
{
  gboolean element, video_meta;
  gint buffers;
} Answer;

static Answer
ask (GstHarness *harness, const GstVideoInfo *info, gboolean need_pool)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);
  GstQuery *query = gst_query_new_allocation (caps, need_pool);
  GstAllocationParams params = { 0 };
  Answer answer = { .buffers = -1 };
  guint least;

  gst_pad_peer_query (harness->srcpad, query);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  if (gst_query_get_n_allocation_pools (query) > 0) {
    gst_query_parse_nth_allocation_pool (query, 0, NULL, NULL, &least, NULL);
    answer.buffers = least;
  }
  answer.element = params.align == PAGE - 1;
  answer.video_meta = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_unref (query);
  return answer;
}

static void
expect_answer (Answer answer, gboolean element, gint number, gboolean video_meta)
{
  fail_unless_equals_int (answer.element, element);
  fail_unless_equals_int (answer.buffers, number);
  fail_unless_equals_int (answer.video_meta, video_meta);
}

typedef struct
{
  guint queries, lent;
  gboolean video_meta;
} Downstream;

static GstPadProbeReturn
answer_downstream (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Downstream *downstream = data;
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (probe);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !(probe->type & GST_PAD_PROBE_TYPE_PUSH))
    return GST_PAD_PROBE_OK;
  downstream->queries++;
  if (downstream->video_meta)
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return downstream->lent > 0 ? pools_offer (probe, downstream->lent, 0) : GST_PAD_PROBE_OK;
}

/*
 * In passthrough downstream answers a query that comes before the first frame. Later the query would wait for downstream's
 * frames, so the element answers, with what downstream has said. After new caps and after a restart downstream is asked
 * again.
 */
GST_START_TEST (test_passthrough)
{
  GstVideoInfo info = small_info ("GRAY8"), other = small_info ("NV12");
  GstHarness *harness = start_harness ("cudaconvolve mask=identity frames-in-flight=2", NULL, &info);
  Downstream downstream = { 0 };
  guint before;

  gst_harness_set_drop_buffers (harness, TRUE);
  gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer_downstream, &downstream, NULL);
  expect_answer (ask (harness, &info, TRUE), FALSE, -1, FALSE);
  fail_unless_equals_int (downstream.queries, 1);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  expect_answer (ask (harness, &info, TRUE), TRUE, -1, FALSE);
  downstream = (Downstream){ .lent = 3, .video_meta = TRUE };
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&other));
  expect_answer (ask (harness, &other, TRUE), FALSE, 3, TRUE);
  push_ok (harness, frame_new (&other, FRAME_PLAIN, 1));
  before = downstream.queries;
  expect_answer (ask (harness, &other, TRUE), TRUE, 4, TRUE); /* for the frame that is kept when passthrough ends */
  /* Both ends of passthrough make upstream ask again, and ask nothing of downstream. */
  for (guint i = 0; i < 4; i++) {
    gst_pad_check_reconfigure (harness->srcpad);
    g_object_set (harness->element, "mask", i % 2 ? "identity" : "box", NULL);
    push_ok (harness, frame_new (&other, FRAME_PLAIN, 1));
    fail_unless (gst_pad_check_reconfigure (harness->srcpad));
    expect_answer (ask (harness, &other, TRUE), TRUE, i % 2 ? 4 : 1, TRUE);
  }
  fail_unless_equals_int (downstream.queries, before);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  gst_element_set_state (harness->element, GST_STATE_PLAYING);
  gst_harness_play (harness);
  expect_answer (ask (harness, &other, TRUE), FALSE, 3, TRUE);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/*
 * A tee asks for no pool. Its other branches may keep upstream from asking again, so the one answer is also for frames that
 * pass through later, upstream is never told to ask again, and no buffer of a limited number is kept.
 */
GST_START_TEST (test_asked_by_tee)
{
  static const gchar *const settings[] = { "mask=identity", "mask=box", "apply-to=regions", "apply-to=frame",
    "frames-in-flight=4" };
  GstVideoInfo info = small_info ("GRAY8"), other = small_info ("NV12");
  Downstream downstream = { .lent = 3 };
  GstHarness *harness = start_harness ("cudaconvolve kernel-variant=global frames-in-flight=2", NULL, &info);
  GstBufferPool *pool;

  gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer_downstream, &downstream, NULL);
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
  expect_answer (ask (harness, &info, TRUE), TRUE, 1, TRUE);
  expect_answer (ask (harness, &info, FALSE), TRUE, 4, FALSE);
  downstream.lent = 0; /* and downstream keeps its last frame */
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&other));
  expect_answer (ask (harness, &other, FALSE), TRUE, 2, FALSE);
  downstream.lent = 3;
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
  pool = pool_new (harness, &info, 8, TRUE);
  expect_answer (ask (harness, &info, FALSE), TRUE, 4, FALSE);
  for (guint i = 0; i < 4; i++)
    push_ok (harness, acquire (pool));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 4);
  count_reconfigure (harness);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    g_auto (GStrv) parts = g_strsplit (settings[i], "=", 2);

    gst_util_set_object_arg (G_OBJECT (harness->element), parts[0], parts[1]);
    push_ok (harness, acquire (pool));
    fail_unless_equals_int (count_reconfigure (harness), 0);
    fail_unless_equals_int (gst_harness_buffers_received (harness), 5 + i);
  }
  pool_free (pool);
  /* Frames of no pool may stay under way. */
  for (guint i = 0; i < 4; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 9 + 1);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A pool must have the buffers that the element asked for, and one to draw in; otherwise no frame is kept. */
GST_START_TEST (test_pool_of_the_right_size)
{
  GstVideoInfo info = small_info ("GRAY8");

  for (guint n = 1; n <= 6; n++) {
    GstHarness *harness = start_harness ("cudaconvolve kernel-variant=global frames-in-flight=4", NULL, &info);
    GstBufferPool *other = pool_new (harness, &info, 2, TRUE), *pool = pool_new (harness, &info, n, TRUE);

    for (guint i = 0; i < 8; i++) {
      GstBufferPoolAcquireParams at_once = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
      GstBuffer *buffer;

      fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, &at_once), GST_FLOW_OK);
      gst_buffer_memset (buffer, 0, 7, -1);
      push_ok (harness, buffer);
    }
    fail_unless_equals_int (gst_harness_buffers_received (harness), n > 3 ? 5 : 8);
    push_ok (harness, acquire (other)); /* of a pool that is too small */
    fail_unless_equals_int (gst_harness_buffers_received (harness), 9);
    gst_harness_teardown (harness);
    pool_free (other);
    pool_free (pool);
  }
}
GST_END_TEST;

/* No frame stays under way from the time when upstream is told to ask again until upstream asks. */
GST_START_TEST (test_nothing_kept_while_asked)
{
  GstVideoInfo info = small_info ("GRAY8");
  GstHarness *harness = start_harness ("cudaconvolve kernel-variant=global frames-in-flight=2", NULL, &info);
  GstBufferPool *pool = pool_new (harness, &info, 6, TRUE);

  for (guint i = 0; i < 3; i++)
    push_ok (harness, acquire (pool));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 2);
  count_reconfigure (harness);
  g_object_set (harness->element, "frames-in-flight", 4, NULL);
  for (guint i = 0; i < 3; i++)
    push_ok (harness, acquire (pool));
  fail_unless_equals_int (count_reconfigure (harness), 1);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 6);
  expect_answer (ask (harness, &info, TRUE), TRUE, 3, TRUE);
  for (guint i = 0; i < 5; i++)
    push_ok (harness, acquire (pool));
  fail_unless_equals_int (gst_harness_buffers_received (harness), 8);
  gst_harness_teardown (harness);
  pool_free (pool);

  /* Buffers of no number need no answer. */
  harness = start_harness ("cudaconvolve kernel-variant=global frames-in-flight=2", NULL, &info);
  expect_answer (ask (harness, &info, TRUE), TRUE, 1, TRUE);
  push_ok (harness, frame_new (&info, FRAME_PLAIN, 1));
  count_reconfigure (harness);
  g_object_set (harness->element, "frames-in-flight", 4, NULL);
  for (guint i = 0; i < 4; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  fail_unless_equals_int (count_reconfigure (harness), 0);
  fail_unless_equals_int (gst_harness_buffers_received (harness), 2);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A query that already has an allocator leaks nothing: the reference count shows that. */
GST_START_TEST (test_query_with_allocator)
{
  GstVideoInfo info = small_info ("GRAY8");
  GstHarness *harness = start_harness ("cudaconvolve", NULL, &info);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  GstAllocator *allocator = gst_allocator_find (GST_ALLOCATOR_SYSMEM);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  gint before = GST_OBJECT_REFCOUNT_VALUE (allocator);

  gst_query_add_allocation_param (query, allocator, NULL);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_unref (query);
  fail_unless_equals_int (GST_OBJECT_REFCOUNT_VALUE (allocator), before);
  gst_object_unref (allocator);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* --- frames that wait for look-ahead --- */

typedef struct
{
  GstBufferPool *pool;
  guint from_pool, copies, covered;
} Source;

static GstPadProbeReturn
count_source (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  Source *source = data;
  guint8 pixel;

  gst_buffer_extract (GST_PAD_PROBE_INFO_BUFFER (probe), 0, &pixel, 1);
  source->covered += pixel == 0;
  if (GST_PAD_PROBE_INFO_BUFFER (probe)->pool == source->pool)
    source->from_pool++;
  else
    source->copies++;
  return GST_PAD_PROBE_OK;
}

/*
 * Upstream is asked for the buffers that wait, here 5 of them and one that comes, beside the one that a sink keeps. A pool
 * that has fewer, or that nobody was asked about, never runs dry: frames wait as copies. A buffer that keeps one of such a
 * pool alive is copied, too. A copy has the metadata of its frame.
 */
GST_START_TEST (test_look_ahead)
{
  static const struct
  {
    guint lent;
    gboolean asked, wrapped;
    guint from_pool; /* of 20 frames */
  } rows[] = { { 8, TRUE, FALSE, 20 }, { 7, TRUE, FALSE, 0 }, { 2, TRUE, FALSE, 0 }, { 8, FALSE, FALSE, 0 },
    { 2, TRUE, TRUE, 0 } };
  GstVideoInfo info = small_info ("GRAY8");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstHarness *harness =
        start_harness ("cudaconvolve kernel-variant=cpu apply-to=regions region-effect=fill region-lookahead=200000000",
            NULL, &info);
    Source source = { .pool = pool_new (harness, &info, rows[i].lent, TRUE) };

    gst_harness_set_drop_buffers (harness, TRUE);
    gst_pad_add_probe (harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, count_source, &source, NULL);
    expect_answer (ask (harness, &info, TRUE), TRUE, 7, FALSE);
    if (!rows[i].asked)
      ask (harness, &info, FALSE);
    for (guint k = 0; k < 20; k++) {
      GstBufferPoolAcquireParams at_once = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
      GstBuffer *buffer;

      fail_unless (gst_buffer_pool_acquire_buffer (source.pool, &buffer, &at_once) == GST_FLOW_OK,
          "row %u: the pool has no buffer for frame %u", i, k);
      gst_buffer_memset (buffer, 0, 128, -1);
      if (rows[i].wrapped) {
        GstBuffer *part = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, 0, -1);

        gst_buffer_add_parent_buffer_meta (part, buffer);
        gst_buffer_unref (buffer);
        buffer = part;
      }
      gst_buffer_add_video_region_of_interest_meta (buffer, "face", 0, 0, 8, 8);
      push_ok (harness, buffer);
    }
    fail_unless_equals_int (gst_harness_buffers_received (harness), 15);
    gst_harness_push_event (harness, gst_event_new_eos ());
    fail_unless_equals_int (source.from_pool, rows[i].from_pool);
    fail_unless_equals_int (source.copies, 20 - rows[i].from_pool);
    fail_unless_equals_int (source.covered, 20);
    pool_free (source.pool);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* No pipeline stands still, with pools of as few buffers as were asked for, and one more. */
GST_START_TEST (test_look_ahead_to_end)
{
  static const Change turns[] = { { 20, "region-lookahead", "300000000" }, { 30, "caps", "96" },
    { 40, "region-lookahead", "0" }, { 50, "apply-to", "frame" }, { 0, NULL, NULL } };
  static const Change none[] = { { 0, NULL, NULL } };

  for (guint lent = 0; lent <= 4; lent += 2)
    for (guint frames = 1; frames <= 3; frames += 2) {
      g_autofree gchar *line =
          g_strdup_printf ("apply-to=regions regions=0,0,8,8 frames-in-flight=%u region-lookahead=200000000", frames);
      g_autofree gchar *later = g_strdup_printf ("apply-to=regions frames-in-flight=%u", frames);

      play_to_end (&(Play){ .line = line, .lent = lent, .strict = TRUE, .changes = none }, NULL);
      play_to_end (&(Play){ .line = line, .lent = lent, .strict = TRUE, .changes = turns }, NULL);
      play_to_end (&(Play){ .line = later, .lent = lent, .strict = TRUE, .changes = turns }, NULL);
    }
}
GST_END_TEST;

TCase *
pool_tests (void)
{
  TCase *tc = tcase_create ("pools");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_more_in_flight);
  tcase_add_test (tc, test_passthrough_begins);
  tcase_add_test (tc, test_passthrough_in_flush);
  tcase_add_test (tc, test_regions_pass_buffers);
  tcase_add_test (tc, test_agreed);
  tcase_add_test (tc, test_agreed_for_old_caps);
  tcase_add_test (tc, test_passthrough);
  tcase_add_test (tc, test_asked_by_tee);
  tcase_add_test (tc, test_pool_of_the_right_size);
  tcase_add_test (tc, test_nothing_kept_while_asked);
  tcase_add_test (tc, test_query_with_allocator);
  tcase_add_test (tc, test_look_ahead);
  tcase_add_test (tc, test_look_ahead_to_end);
  return tc;
}
