/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One stream: state cycles, changes of caps, seeks and flushes, and many frames. */
#include "element/base/soak.h"

#include <gst/video/video.h>

#define ELEMENT_END " ! fakesink name=sink sync=false"

static gchar *
make_line (const gchar *source)
{
  g_autofree gchar *element = soak_element ();

  return g_strconcat (source, " ! ", element, ELEMENT_END, NULL);
}

/* The checksum of frames from the start of a new pipeline. */
static gchar *
fresh_checksum (const gchar *line, guint frames)
{
  Play *play = play_new (line);
  gchar *checksum;

  play_collect (play, frames);
  play_set_state (play, GST_STATE_PLAYING, FALSE);
  checksum = play_checksum (play);
  play_free (play);
  return checksum;
}

/* --- states --- */

#define FRAMES_OF_CYCLE 6

/* Goes to a state below PLAYING and perhaps back, so that every way between the states is taken. */
static void
wander (Play *play)
{
  static const GstState states[] = { GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING };
  gint steps = check_random_range (&soak_random, 0, 3);

  for (gint i = 0; i < steps; i++)
    play_set_state (play, states[check_random_range (&soak_random, 0, G_N_ELEMENTS (states) - 1)],
        check_random_one_in (&soak_random, 2));
}

/*
 * A cycle begins and ends in NULL. Half of the cycles play to the end, and all frames must be right. The other half
 * stop after some frames, with frames under way. Half of these go to other states before.
 */
void
soak_states (guint64 cycles)
{
  g_autofree gchar *source = g_strdup_printf ("videotestsrc pattern=ball num-buffers=%d ! "
                                              "video/x-raw,format=I420,width=64,height=48,framerate=25/1",
      FRAMES_OF_CYCLE);
  g_autofree gchar *line = make_line (source);
  g_autofree gchar *expected = fresh_checksum (line, G_MAXUINT);
  Usage *usage = soak_usage_new (cycles);
  Play *play = play_new (line);
  guint ends = 0;

  for (guint64 i = 1; i <= cycles; i++) {
    if (check_random_one_in (&soak_random, 2) || i == cycles) {
      g_autofree gchar *checksum = NULL;

      play_collect (play, G_MAXUINT);
      play_set_state (play, GST_STATE_PLAYING, FALSE);
      checksum = play_checksum (play);
      soak_compare ("the frames of a cycle", checksum, expected);
      ends++;
    } else {
      play_set_state (play, GST_STATE_PLAYING, FALSE);
      play_wait_frames (play, check_random_range (&soak_random, 0, FRAMES_OF_CYCLE - 1));
      if (check_random_one_in (&soak_random, 2))
        wander (play);
    }
    play_set_state (play, GST_STATE_NULL, TRUE);
    if (usage_is_due (usage, i))
      usage_sample (usage, i);
  }
  g_print ("states: %" G_GUINT64_FORMAT " cycles, %" G_GUINT64_FORMAT " frames, %u cycles played to the end\n", cycles,
      play_frames (play), ends);
  play_free (play);
  soak_usage_end (usage);
}

/* --- caps --- */

#define COLLECTED 3
#define UNDER_WAY 6

static const gchar *const formats[] = { "I420", "NV12", "GRAY8", "RGB", "RGBA", "P010_10LE", "AYUV", "Y42B",
  "GRAY16_LE", "Y444_16LE" };
static const gint sizes[][2] = { { 64, 48 }, { 61, 35 }, { 16, 16 }, { 130, 70 }, { 3, 2 } };

#define N_CAPS (G_N_ELEMENTS (formats) * G_N_ELEMENTS (sizes))

static gchar *
caps_text (guint k)
{
  const gint *size = sizes[k / G_N_ELEMENTS (formats)];

  return g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1",
      formats[k % G_N_ELEMENTS (formats)], size[0], size[1]);
}

static gchar *
caps_name (guint k)
{
  const gint *size = sizes[k / G_N_ELEMENTS (formats)];

  return g_strdup_printf ("%s %dx%d", formats[k % G_N_ELEMENTS (formats)], size[0], size[1]);
}

/* A box, because sums of integers are exact in 16 bits, too: those of a Gaussian depend on where the frame lies in memory. */
static gchar *
caps_line (guint k)
{
  g_autofree gchar *caps = caps_text (k), *element = soak_element ();

  return g_strdup_printf ("videotestsrc pattern=zone-plate kx2=24 ky2=17 ! capsfilter name=filter caps=%s ! "
                          "%s mask=box mask-width=5" ELEMENT_END,
      caps, element);
}

static void
set_caps (Play *play, guint k)
{
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (play_pipeline (play)), "filter");
  g_autofree gchar *caps = caps_text (k);
  g_autofree gchar *wanted = caps_name (k);

  gst_util_set_object_arg (G_OBJECT (filter), "caps", caps);
  for (guint i = 0; i < 1000; i++) {
    g_autofree gchar *format = NULL;

    play_wait_frames (play, 1);
    format = play_format (play);
    if (g_str_equal (format, wanted))
      return;
  }
  soak_fail ("no frame has the new caps %s", wanted);
}

/*
 * Each change of caps waits for a frame that has them; then some frames must be those of a pipeline with these caps
 * alone.
 */
void
soak_caps (guint64 changes)
{
  gchar *expected[N_CAPS] = { NULL };
  g_autofree gchar *line = caps_line (0);
  Usage *usage;
  Play *play = play_new (line);

  for (guint k = 0; k < N_CAPS; k++) {
    g_autofree gchar *fresh = caps_line (k);

    expected[k] = fresh_checksum (fresh, COLLECTED);
  }
  usage = soak_usage_new (changes);
  /* Memory of a device, and the pages for its copies, have the size of the largest frame so far. */
  if (soak_on_fake)
    usage_allow (usage, 0, 1024);
  play_set_state (play, GST_STATE_PLAYING, TRUE);
  for (guint64 i = 1; i <= changes; i++) {
    guint k = check_random_range (&soak_random, 0, N_CAPS - 1);
    g_autofree gchar *name = caps_name (k);
    g_autofree gchar *checksum = NULL;

    set_caps (play, k);
    play_collect (play, COLLECTED);
    checksum = play_checksum (play);
    soak_compare (name, checksum, expected[k]);
    if (usage_is_due (usage, i)) {
      set_caps (play, 0);
      play_wait_frames (play, UNDER_WAY);
      play_hold (play);
      usage_sample (usage, i);
      play_release (play);
    }
  }
  g_print ("caps: %" G_GUINT64_FORMAT " changes among %u, %" G_GUINT64_FORMAT " frames, all changes compared\n",
      changes, (guint) N_CAPS, play_frames (play));
  play_free (play);
  for (guint k = 0; k < N_CAPS; k++)
    g_free (expected[k]);
  soak_usage_end (usage);
}

/* --- frames --- */

#define FRAMES_LINE \
  "videotestsrc pattern=zone-plate kx2=24 ky2=17 ! video/x-raw,format=I420,width=64,height=48,framerate=25/1"

void
soak_frames (guint64 frames)
{
  g_autofree gchar *line = make_line (FRAMES_LINE);
  g_autofree gchar *expected = fresh_checksum (line, COLLECTED);
  g_autofree gchar *checksum = NULL;
  Usage *usage = soak_usage_new (frames);
  Play *play = play_new (line);
  gint64 start = g_get_monotonic_time ();

  play_set_state (play, GST_STATE_PLAYING, TRUE);
  for (guint64 done = 0; done < frames;) {
    play_wait_frames (play, 100);
    done = play_frames (play);
    if (usage_is_due (usage, done)) {
      play_hold (play);
      usage_sample (usage, done);
      play_release (play);
    }
  }
  play_collect (play, COLLECTED);
  checksum = play_checksum (play);
  soak_compare ("the last frames", checksum, expected);
  g_print ("frames: %" G_GUINT64_FORMAT " frames, %.1f us each, checksum %.16s\n", play_frames (play),
      (gdouble) (g_get_monotonic_time () - start) / play_frames (play), checksum);
  play_free (play);
  soak_usage_end (usage);
}
