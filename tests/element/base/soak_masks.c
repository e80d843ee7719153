/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings at random, and changes of them while frames run. */
#include "element/base/soak.h"

#include <string.h>

/* --- settings --- */

/* Every setting sets all of these, so that nothing stays from the setting before. */
static const gchar *const names[] = { "mask", "mask-width", "sigma", "weights", "mask-x", "mask-y", "boundary", "mix",
  "bias", "iterations", "n-threads" };

enum
{
  MASK,
  WIDTH,
  SIGMA,
  WEIGHTS,
  ROW,
  COLUMN,
  BOUNDARY,
  MIX,
  BIAS,
  ITERATIONS,
  THREADS,
  N_NAMES
};

struct _Setting
{
  gchar *values[N_NAMES];
  gchar *name;
};

G_STATIC_ASSERT (G_N_ELEMENTS (names) == N_NAMES);

static const gchar *
one_of (const gchar *const *texts, guint count)
{
  return texts[check_random_range (&soak_random, 0, count - 1)];
}

static void
set (Setting *setting, guint index, const gchar *value)
{
  g_free (setting->values[index]);
  setting->values[index] = g_strdup (value);
}

static void
set_number (Setting *setting, guint index, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  set (setting, index, g_ascii_formatd (text, sizeof (text), "%g", value));
}

/* The largest side of a mask: the fake device computes slowly. */
static gint
most_side (void)
{
  return soak_on_fake ? 5 : 21;
}

static gint
odd_side (void)
{
  return check_random_range (&soak_random, 0, most_side () / 2) * 2 + 1;
}

/* A whole number from 1 to 9 or a fraction, with either sign; never 0, so that the sum of a row is rarely 0. */
static void
append_weight (GString *text)
{
  gint digit = check_random_range (&soak_random, 1, 9);

  g_string_append_printf (text, "%s%d%s", check_random_one_in (&soak_random, 4) ? "-" : "", digit,
      check_random_one_in (&soak_random, 3) ? ".37" : "");
}

static void
append_row (GString *text, gint width, const gchar *between)
{
  for (gint i = 0; i < width; i++) {
    g_string_append (text, i > 0 ? between : "");
    append_weight (text);
  }
}

/* Rows as the property mask has them, with the shape in front. */
static gchar *
make_text (void)
{
  gint width = check_random_range (&soak_random, 1, 5), height = check_random_range (&soak_random, 1, 5);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%dx%d: ", width, height);
  for (gint y = 0; y < height; y++) {
    g_string_append (text, y > 0 ? "; " : "");
    append_row (text, width, " ");
  }
  return g_string_free (text, FALSE);
}

/* Rows as the property weights has them. GStreamer reads an array only where all its numbers are of one type. */
static gchar *
make_array (void)
{
  gint side = check_random_one_in (&soak_random, 2) ? 3 : 5;
  GString *text = g_string_new ("<");

  for (gint y = 0; y < side; y++) {
    g_string_append (text, y > 0 ? ",<" : "<");
    for (gint x = 0; x < side; x++)
      g_string_append_printf (text, "%s%d.5", x > 0 ? "," : "", check_random_range (&soak_random, 0, 9));
    g_string_append (text, ">");
  }
  g_string_append (text, ">");
  return g_string_free (text, FALSE);
}

static gchar *
make_vector (void)
{
  GString *text = g_string_new (NULL);

  append_row (text, odd_side (), " ");
  return g_string_free (text, FALSE);
}

static void
choose_sized (Setting *setting)
{
  static const gchar *const presets[] = { "box", "gaussian", "binomial", "unsharp", "unsharp:2", "log", "disk",
    "motion:30", "motion:90" };

  set (setting, MASK, one_of (presets, G_N_ELEMENTS (presets)));
  set_number (setting, WIDTH, MAX (3, odd_side ()));
  if (check_random_one_in (&soak_random, 2))
    set_number (setting, SIGMA, check_random_range (&soak_random, 50, 300) / 100.0);
}

static void
choose_mask (Setting *setting)
{
  static const gchar *const presets[] = { "sharpen", "emboss", "laplacian", "sobel-x", "sobel", "prewitt-y", "scharr",
    "roberts", "kirsch" };
  g_autofree gchar *text = NULL;

  switch (check_random_range (&soak_random, 0, 7)) {
    case 0:
      set (setting, MASK, "identity");
      return;
    case 1:
      set (setting, MASK, one_of (presets, G_N_ELEMENTS (presets)));
      return;
    case 2:
      set (setting, WEIGHTS, text = make_array ());
      break;
    case 3:
      set (setting, ROW, text = make_vector ());
      g_free (text);
      set (setting, COLUMN, text = make_vector ());
      break;
    case 4:
    case 5:
      set (setting, MASK, text = make_text ());
      break;
    default:
      choose_sized (setting);
      break;
  }
  if (check_random_one_in (&soak_random, 4))
    set (setting, MIX, "0.5");
}

Setting *
setting_new (void)
{
  static const gchar *const boundaries[] = { "zero", "replicate", "reflect", "reflect-101", "wrap", "constant" };
  static const gchar *const standard[N_NAMES] = { "gaussian", "0", "0", "<  >", "", "", "replicate", "1", "0", "1",
    "0" };
  Setting *setting = g_new0 (Setting, 1);
  GString *name = g_string_new (NULL);

  for (guint i = 0; i < N_NAMES; i++)
    set (setting, i, standard[i]);
  choose_mask (setting);
  set (setting, BOUNDARY, one_of (boundaries, G_N_ELEMENTS (boundaries)));
  if (check_random_one_in (&soak_random, 4))
    set (setting, BIAS, "0.25");
  if (check_random_one_in (&soak_random, 6))
    set (setting, ITERATIONS, "2");
  set_number (setting, THREADS, check_random_range (&soak_random, 1, 3));
  for (guint i = 0; i < N_NAMES; i++)
    if (!g_str_equal (setting->values[i], standard[i]))
      g_string_append_printf (name, "%s%s=\"%s\"", name->len > 0 ? " " : "", names[i], setting->values[i]);
  setting->name = g_string_free (name, FALSE);
  return setting;
}

const gchar *
setting_name (const Setting *setting)
{
  return setting->name;
}

void
setting_free (Setting *setting)
{
  for (guint i = 0; i < N_NAMES; i++)
    g_free (setting->values[i]);
  g_free (setting->name);
  g_free (setting);
}

void
setting_apply (const Setting *setting, GstElement *element)
{
  g_object_freeze_notify (G_OBJECT (element));
  for (guint i = 0; i < N_NAMES; i++)
    gst_util_set_object_arg (G_OBJECT (element), names[i], setting->values[i]);
  g_object_thaw_notify (G_OBJECT (element));
}

/* --- changes while frames run --- */

#define SETTINGS 200
#define COLLECTED 3 /* frames of a checksum */
/* Frames that a change may find under way: in the element's ring, and one that was begun. */
#define UNDER_WAY 6

/* A picture that stands still, so that a checksum does not depend on the moment. */
static Play *
still_new (void)
{
  g_autofree gchar *element = soak_element ();
  g_autofree gchar *line = g_strdup_printf ("videotestsrc pattern=zone-plate kx2=24 ky2=17 ! "
                                            "video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! %s ! "
                                            "fakesink name=sink sync=false",
      element);

  return play_new (line);
}

static gchar *
still_checksum (Play *play)
{
  play_wait_frames (play, UNDER_WAY);
  play_collect (play, COLLECTED);
  return play_checksum (play);
}

/* The checksum that a new pipeline gives, which had this setting from the start. */
static gchar *
fresh_checksum (const Setting *setting)
{
  Play *play = still_new ();
  gchar *checksum;

  setting_apply (setting, play_element (play));
  play_collect (play, COLLECTED);
  play_set_state (play, GST_STATE_PLAYING, FALSE);
  checksum = play_checksum (play);
  play_free (play);
  return checksum;
}

/*
 * Each change is one of 200 settings, and the next change comes when a frame has left that was begun later. Every
 * 50th setting, and the last one, must give what a pipeline of that setting alone gives.
 */
void
soak_masks (guint64 changes)
{
  Setting *settings[SETTINGS];
  gchar *checksums[SETTINGS] = { NULL };
  Usage *usage = soak_usage_new (changes);
  Play *play = still_new ();
  guint compared = 0;

  for (guint i = 0; i < SETTINGS; i++)
    settings[i] = setting_new ();
  play_set_state (play, GST_STATE_PLAYING, TRUE);
  /* A kernel stays in memory after its first use. Those of the settings are there before the first sample. */
  for (guint i = 0; i < SETTINGS; i++) {
    setting_apply (settings[i], play_element (play));
    play_wait_frames (play, 2);
  }
  /* So is what a second pipeline takes besides. */
  checksums[0] = fresh_checksum (settings[0]);
  for (guint64 i = 1; i <= changes; i++) {
    guint k = check_random_range (&soak_random, 0, SETTINGS - 1);

    setting_apply (settings[k], play_element (play));
    play_wait_frames (play, 2);
    if (i % 50 == 0 || i == changes) {
      g_autofree gchar *checksum = still_checksum (play);

      if (!checksums[k])
        checksums[k] = fresh_checksum (settings[k]);
      soak_compare (setting_name (settings[k]), checksum, checksums[k]);
      compared++;
    }
    if (usage_is_due (usage, i)) {
      /* Settings differ in what they use, so that all samples are taken under one of them. */
      setting_apply (settings[0], play_element (play));
      play_wait_frames (play, UNDER_WAY);
      play_hold (play);
      usage_sample (usage, i);
      play_release (play);
    }
  }
  g_print ("masks: %" G_GUINT64_FORMAT " changes, %" G_GUINT64_FORMAT " frames, %u checksums compared\n", changes,
      play_frames (play), compared);
  play_free (play);
  for (guint i = 0; i < SETTINGS; i++) {
    setting_free (settings[i]);
    g_free (checksums[i]);
  }
  soak_usage_end (usage);
}
