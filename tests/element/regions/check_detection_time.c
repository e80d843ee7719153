/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time of frames: in both directions, with rates, without time stamps, and over segments. */
#include "element/regions/check_detections.h"

void
clock_init (Clock *clock, gint fps_n, gint fps_d)
{
  *clock = (Clock){ 0 };
  gst_segment_init (&clock->segment, GST_FORMAT_TIME);
  gst_video_info_set_format (&clock->info, GST_VIDEO_FORMAT_GRAY8, 100, 80);
  clock->info.fps_n = fps_n;
  clock->info.fps_d = fps_d;
}

GstCudaConvolveMoment
clock_tick (Clock *clock, gint64 pts, gint64 duration)
{
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = pts < 0 ? GST_CLOCK_TIME_NONE : (guint64) pts * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = duration < 0 ? GST_CLOCK_TIME_NONE : (guint64) duration * GST_MSECOND;
  gst_cuda_convolve_frame_time_advance (&clock->time, &clock->segment, buffer, &clock->info);
  return clock->time.now;
}

static gboolean
clock_holds (const Clock *clock, GstCudaConvolveMoment then, gint64 hold)
{
  return gst_cuda_convolve_frame_time_is_within (&clock->time, &then, hold * GST_MSECOND);
}

GST_START_TEST (time_runs_both_ways)
{
  GstCudaConvolveMoment first, none = { 0 };
  Clock clock;

  clock_init (&clock, 25, 1);
  first = clock_tick (&clock, 1000, -1);
  fail_unless (clock_holds (&clock, first, 0) && !clock_holds (&clock, none, 1 << 30));
  clock_tick (&clock, 1040, -1);
  fail_unless (clock_holds (&clock, first, 40) && !clock_holds (&clock, first, 0));
  clock_tick (&clock, 960, -1);
  fail_unless (clock_holds (&clock, first, 40) && !clock_holds (&clock, first, 39));
  clock_tick (&clock, 600, -1);
  fail_unless (clock_holds (&clock, first, 400) && !clock_holds (&clock, first, 399));
  clock_tick (&clock, 0, -1);
  fail_unless (clock_holds (&clock, first, 1000) && !clock_holds (&clock, first, 999));
  clock_tick (&clock, 3000, -1);
  fail_unless (clock_holds (&clock, first, 2000) && !clock_holds (&clock, first, 1999));
}
GST_END_TEST;

/* One frame is bridged whatever the hold, and a gap of several frames is not. */
GST_START_TEST (one_frame_is_bridged)
{
  static const struct
  {
    gint fps_n, fps_d;
    gint64 times[3], duration, last; /* of the first frames, and of the one that is asked for */
    gint64 hold;
    gboolean held;
  } rows[] = { { 1, 1, { 0, 1000, 2000 }, -1, 3000, 500, TRUE }, { 1, 1, { 0, 1000, 2000 }, -1, 3000, 1, TRUE },
    { 1, 1, { 0, 1000, 2000 }, -1, 3000, 0, FALSE }, { 1, 1, { 0, 1000, 2000 }, -1, 3400, 1, TRUE },
    { 1, 1, { 0, 1000, 2000 }, -1, 3600, 1, FALSE }, { 1, 1, { -1, -1, -1 }, -1, -1, 1, TRUE },
    { 0, 1, { 0, 1000, 2000 }, -1, 3000, 1, TRUE }, { 0, 1, { 0, 1000, 2000 }, -1, 9000, 1, FALSE },
    { 0, 1, { 0, 40, 80 }, 2000, 2080, 1, TRUE }, { 0, 1, { 0, 40, 80 }, 2000, 6080, 1, FALSE },
    { 25, 1, { 0, 1000, 2000 }, -1, 3000, 1, TRUE }, { 25, 1, { 0, 40, 80 }, -1, 120, 1, TRUE },
    { 25, 1, { 0, 40, 80 }, -1, 1080, 1, FALSE }, { 25, 1, { 0, 40, 80 }, -1, 1080, 1000, TRUE },
    { 25, 1, { 2080, 2040, 2000 }, -1, 1960, 1, TRUE }, { 25, 1, { 2080, 2040, 2000 }, -1, 1000, 1, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstCudaConvolveMoment then;
    Clock clock;

    clock_init (&clock, rows[i].fps_n, rows[i].fps_d);
    for (guint k = 0; k < 3; k++)
      then = clock_tick (&clock, rows[i].times[k], rows[i].duration);
    clock_tick (&clock, rows[i].last, rows[i].duration);
    fail_unless (clock_holds (&clock, then, rows[i].hold) == rows[i].held, "row %u", i);
    clock_tick (&clock, rows[i].last < 0 ? -1 : rows[i].last + 3, -1);
    if (rows[i].hold == 1)
      fail_unless (!clock_holds (&clock, then, 1), "row %u: a second frame is bridged", i);
  }
}
GST_END_TEST;

/* Where nothing tells how long a frame lasts, the first one is bridged. */
GST_START_TEST (nothing_known)
{
  GstCudaConvolveMoment then;
  Clock clock;

  clock_init (&clock, 0, 1);
  then = clock_tick (&clock, 0, -1);
  clock_tick (&clock, 5000, -1);
  fail_unless (clock_holds (&clock, then, 1));
}
GST_END_TEST;

GST_START_TEST (segments)
{
  GstCudaConvolveMoment then;
  Clock clock;

  /* Backward: the running time goes on where the time stamps go back, twice as fast. */
  clock_init (&clock, 25, 1);
  clock.segment.rate = -2;
  clock.segment.stop = 10 * GST_SECOND;
  then = clock_tick (&clock, 9000, -1);
  clock_tick (&clock, 8960, -1);
  clock_tick (&clock, 8000, -1);
  fail_unless (clock_holds (&clock, then, 500) && !clock_holds (&clock, then, 499));
  /* The next piece of a playlist begins at 0 again, a second later. */
  clock_init (&clock, 25, 1);
  clock_tick (&clock, 920, -1);
  then = clock_tick (&clock, 960, -1);
  clock.segment.base = GST_SECOND;
  clock_tick (&clock, 0, -1);
  clock_tick (&clock, 40, -1);
  fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79));
  /* Time stamps before the segment, and behind it. */
  clock_init (&clock, 25, 1);
  clock.segment.start = GST_SECOND;
  clock.segment.stop = 2 * GST_SECOND;
  clock_tick (&clock, 920, -1);
  then = clock_tick (&clock, 960, -1);
  clock_tick (&clock, 1000, -1);
  clock_tick (&clock, 1040, -1);
  fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79));
  then = clock_tick (&clock, 2100, -1);
  clock_tick (&clock, 2110, -1);
  clock_tick (&clock, 2120, -1);
  fail_unless (clock_holds (&clock, then, 20) && !clock_holds (&clock, then, 19));
}
GST_END_TEST;

/* Frames count where they have no running time: no time stamp, another format, a segment that runs back from nowhere. */
GST_START_TEST (frames_count)
{
  for (guint i = 0; i < 3; i++) {
    GstCudaConvolveMoment then;
    Clock clock;

    clock_init (&clock, 25, 1);
    if (i == 1)
      gst_segment_init (&clock.segment, GST_FORMAT_BYTES);
    if (i == 2)
      clock.segment.rate = -1;
    then = clock_tick (&clock, i == 0 ? -1 : 5000, -1);
    clock_tick (&clock, i == 0 ? -1 : 0, -1);
    clock_tick (&clock, i == 0 ? -1 : 9000, -1);
    fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79), "case %u", i);
  }
}
GST_END_TEST;

/* A frame takes half of its duration where it is played twice as fast, forward and backward. */
GST_START_TEST (frames_count_with_rate)
{
  for (guint i = 0; i < 2; i++) {
    GstCudaConvolveMoment then;
    Clock clock;

    clock_init (&clock, 25, 1);
    clock.segment.rate = i == 0 ? 2 : -2;
    then = clock_tick (&clock, -1, -1);
    clock_tick (&clock, -1, -1);
    clock_tick (&clock, -1, -1);
    fail_unless (clock_holds (&clock, then, 40) && !clock_holds (&clock, then, 39), "case %u", i);
  }
}
GST_END_TEST;

/* Time stamps that begin late, and that only some frames have. */
GST_START_TEST (some_time_stamps)
{
  GstCudaConvolveMoment then;
  Clock clock;

  clock_init (&clock, 25, 1);
  then = clock_tick (&clock, -1, -1);
  clock_tick (&clock, -1, -1);
  clock_tick (&clock, 3600000, -1);
  fail_unless (clock_holds (&clock, then, 80) && !clock_holds (&clock, then, 79));
  clock_tick (&clock, -1, -1);
  clock_tick (&clock, 3600080, -1);
  fail_unless (clock_holds (&clock, then, 160) && !clock_holds (&clock, then, 159));
}
GST_END_TEST;

void
add_time_tests (TCase *tc)
{
  tcase_add_test (tc, time_runs_both_ways);
  tcase_add_test (tc, one_frame_is_bridged);
  tcase_add_test (tc, nothing_known);
  tcase_add_test (tc, segments);
  tcase_add_test (tc, frames_count);
  tcase_add_test (tc, frames_count_with_rate);
  tcase_add_test (tc, some_time_stamps);
}
