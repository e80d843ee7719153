/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "progress.h"

static void (*instead) (const char *text);
static int warnings; /* atomic */

void
complain_through (void (*call) (const char *text))
{
  instead = call;
}

void
complain (const char *format, ...)
{
  va_list arguments;
  char *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_strdelimit (text, "\n", ' ');
  if (g_str_has_prefix (text, "warning: "))
    g_atomic_int_inc (&warnings);
  if (instead)
    instead (text);
  else
    g_printerr ("%s: %s\n", g_get_prgname (), text);
  g_free (text);
}

guint
complain_warnings (void)
{
  return g_atomic_int_get (&warnings);
}

void
progress_init (Progress *progress)
{
  g_mutex_init (&progress->lock);
}

void
progress_clear (Progress *progress)
{
  g_mutex_clear (&progress->lock);
}

void
progress_add (Progress *progress, GstClockTime begin, GstClockTime end)
{
  g_mutex_lock (&progress->lock);
  progress->last = g_get_monotonic_time ();
  if (progress->frames++ == 0) {
    progress->first = progress->last;
    progress->first_time = begin;
    progress->time = end;
  }
  if (GST_CLOCK_TIME_IS_VALID (end))
    progress->time = end;
  g_mutex_unlock (&progress->lock);
}

guint64
progress_frames (Progress *progress)
{
  guint64 frames;

  g_mutex_lock (&progress->lock);
  frames = progress->frames;
  g_mutex_unlock (&progress->lock);
  return frames;
}

static void
append_time_left (GString *line, int seconds)
{
  if (seconds >= 3600)
    g_string_append_printf (line, ", %d:%02d:%02d left", seconds / 3600, seconds / 60 % 60, seconds % 60);
  else
    g_string_append_printf (line, ", %d:%02d left", seconds / 60, seconds % 60);
}

ProgressNow
progress_now (Progress *progress, GstClockTime duration)
{
  const gboolean timed = GST_CLOCK_TIME_IS_VALID (duration);
  ProgressNow now = { .percent = -1, .rate = -1, .left = -1 };
  double seconds, film, done;

  g_mutex_lock (&progress->lock);
  now.frames = progress->frames;
  seconds = (progress->last - progress->first) / 1e6;
  film = GST_CLOCK_TIME_IS_VALID (progress->time) ? (double) progress->time : 0;
  done = film - (GST_CLOCK_TIME_IS_VALID (progress->first_time) ? progress->first_time : 0);
  g_mutex_unlock (&progress->lock);

  if (film > 0 && timed)
    now.percent = (int) MIN (100, 100 * film / duration);
  if (seconds > 0)
    now.rate = (now.frames - 1) / seconds;
  if (seconds > 0 && done > 0 && timed)
    now.left = (int) (seconds * MAX (0, duration - film) / done + 0.5);
  return now;
}

void
progress_show (Progress *progress, const char *task, GstClockTime duration, gboolean terminal, gboolean last)
{
  const ProgressNow now = progress_now (progress, duration);
  GString *line = g_string_new (NULL);

  g_string_printf (line, "%s%s%" G_GUINT64_FORMAT " frames", task ? task : "", task ? ": " : "", now.frames);
  if (now.percent >= 0)
    g_string_append_printf (line, ", %d%%", now.percent);
  if (now.rate >= 0)
    g_string_append_printf (line, ", %.1f frames/s", now.rate);
  if (now.left >= 0)
    append_time_left (line, now.left);
  /* The escape sequence clears what a longer line left behind. */
  if (now.frames > 0 && terminal)
    g_printerr ("\r%s\033[K%s", line->str, last ? "\n" : "");
  else if (now.frames > 0)
    g_printerr ("%s\n", line->str);
  g_string_free (line, TRUE);
}
