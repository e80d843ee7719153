/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lines.h"

#include <string.h>

#define FORMAT 1 /* of the lines */
#define DIGITS 64

typedef struct
{
  Lines *lines;
  const char *name;
  guint number;   /* of the line, from 1 */
  Rules now;      /* for the next frame */
  gboolean stale; /* now differs from the last of the rules */
  gboolean ended;
} Reading;

static void add_fault (Reading *reading, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add_fault (Reading *reading, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (reading->lines->faults, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

/* --- what lines say --- */

static void
read_settings (Reading *reading, const Json *settings)
{
  Rules *now = &reading->now;
  const char *mask = json_text (json_member (settings, "mask"));
  const char *components = json_text (json_member (settings, "components"));
  const char *fields = json_text (json_member (settings, "field-mode"));
  guint n = 0;

  if (!settings)
    return;
  now->feather = CLAMP (json_int (json_member (settings, "region-feather"), 0), 0, 1 << 20);
  now->box = mask && g_str_has_prefix (mask, "box");
  now->fields |= fields && !strcmp (fields, "interlaced");
  for (const char *p = components ? components : ""; *p && n + 1 < sizeof now->components; p++)
    if (*p != '+')
      now->components[n++] = *p;
  now->components[n] = '\0';
  reading->stale = TRUE;
}

static void
read_caps (Reading *reading, const Json *line)
{
  const char *text = json_text (json_member (line, "caps"));
  GstCaps *caps = text ? gst_caps_from_string (text) : NULL;
  GstVideoInfo info;

  if (!caps || !gst_video_info_from_caps (&info, caps))
    add_fault (reading, "%s: line %u: no caps of video", reading->name, reading->number);
  else {
    reading->now.format = info.finfo;
    reading->now.width = GST_VIDEO_INFO_WIDTH (&info);
    reading->now.height = GST_VIDEO_INFO_HEIGHT (&info);
    reading->now.fields |= GST_VIDEO_INFO_IS_INTERLACED (&info);
    reading->now.views = GST_VIDEO_INFO_MULTIVIEW_MODE (&info) > GST_VIDEO_MULTIVIEW_MODE_MONO;
  }
  if (caps)
    gst_caps_unref (caps);
  reading->stale = TRUE;
}

static gboolean
read_means (const char *digits, guint8 means[GRID * GRID])
{
  if (!digits || strlen (digits) != 2 * GRID * GRID)
    return FALSE;
  for (guint i = 0; i < GRID * GRID; i++) {
    if (!g_ascii_isxdigit (digits[2 * i]) || !g_ascii_isxdigit (digits[2 * i + 1]))
      return FALSE;
    means[i] = 16 * g_ascii_xdigit_value (digits[2 * i]) + g_ascii_xdigit_value (digits[2 * i + 1]);
  }
  return TRUE;
}

static void
read_frame (Reading *reading, const Json *line, const char *text)
{
  GPtrArray *frames = reading->lines->frames, *rules = reading->lines->rules;
  const char *hash = json_text (json_member (line, "sha256"));
  Frame *frame = g_new0 (Frame, 1);

  read_settings (reading, json_member (line, "settings"));
  if (reading->stale || rules->len == 0) {
    Rules *copy = g_new (Rules, 1);

    *copy = reading->now;
    g_ptr_array_add (rules, copy);
  }
  reading->stale = FALSE;
  if (json_number (json_member (line, "frame"), -1) != frames->len)
    add_fault (reading, "%s: line %u: this is not frame %u, which has to come here", reading->name, reading->number,
        frames->len);
  if (!read_means (json_text (json_member (line, "means")), frame->means) || !hash || strlen (hash) != DIGITS
      || !reading->now.format)
    add_fault (reading, "%s: line %u: the frame has no checksum, no means or no caps", reading->name, reading->number);
  frame->line = reading->number;
  frame->text = text;
  frame->hash = g_intern_string (hash ? hash : "");
  frame->rules = g_ptr_array_index (rules, rules->len - 1);
  g_ptr_array_add (frames, frame);
}

static void
read_line (Reading *reading, const Json *line, const char *text)
{
  const char *kind = json_text (json_member (line, "line"));

  if (reading->ended)
    add_fault (reading, "%s: line %u stands behind the end", reading->name, reading->number);
  if (!kind)
    add_fault (reading, "%s: line %u does not say what it is", reading->name, reading->number);
  else if (!strcmp (kind, "head")) {
    read_settings (reading, json_member (line, "settings"));
    if (reading->number > 1)
      add_fault (reading, "%s: line %u is the head of another record", reading->name, reading->number);
  } else if (!strcmp (kind, "caps"))
    read_caps (reading, line);
  else if (!strcmp (kind, "frame"))
    read_frame (reading, line, text);
  else if (!strcmp (kind, "end")) {
    reading->ended = TRUE;
    if (json_number (json_member (line, "frames"), -1) != reading->lines->frames->len)
      add_fault (reading, "%s: line %u: the end counts other frames than the %u lines of frames", reading->name,
          reading->number, reading->lines->frames->len);
  }
}

/* --- how lines follow each other --- */

static void
check_chain (Reading *reading, const Json *line)
{
  const char *previous = json_text (json_member (line, "previous"));

  if (!previous || strcmp (previous, reading->lines->last) != 0) {
    if (reading->number == 1)
      add_fault (reading, "%s: line 1 is not the first line that was written", reading->name);
    else
      add_fault (reading,
          "%s: line %u does not follow line %u: line %u was changed, or lines were taken out, put in or moved here",
          reading->name, reading->number, reading->number - 1, reading->number - 1);
  }
}

/* A line without the new line at its end. */
static void
take_line (Reading *reading, const char *text, gsize length)
{
  Json *line = strlen (text) == length ? json_read (text) : NULL;

  reading->number++;
  if (line) {
    check_chain (reading, line);
    read_line (reading, line, text);
  } else
    add_fault (reading, "%s: line %u is no JSON", reading->name, reading->number);
  g_free (reading->lines->last);
  reading->lines->last = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (const guchar *) text, length);
  json_free (line);
}

static gboolean
has_head (const char *bytes)
{
  const char *end = strchr (bytes, '\n');
  char *text = g_strndup (bytes, end ? (gsize) (end - bytes) : 0);
  Json *line = json_read (text);
  const char *kind = json_text (json_member (line, "line"));
  const gboolean head = kind && !strcmp (kind, "head") && json_int (json_member (line, "format"), 0) == FORMAT;

  json_free (line);
  g_free (text);
  return head;
}

gboolean
lines_read (Lines *lines, const char *name, GError **error)
{
  Reading reading = { .lines = lines, .name = name, .now = { .components = "yuvrgb" } };
  gsize length, at = 0;

  *lines = (Lines){ 0 };
  if (!g_file_get_contents (name, &lines->bytes, &length, error))
    return FALSE;
  lines->frames = g_ptr_array_new_with_free_func (g_free);
  lines->faults = g_ptr_array_new_with_free_func (g_free);
  lines->rules = g_ptr_array_new_with_free_func (g_free);
  lines->last = g_strnfill (DIGITS, '0');
  if (!has_head (lines->bytes)) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "%s: the first line is not the head of a record of format %d, as cudaconvolve's region-log writes it", name,
        FORMAT);
    lines_clear (lines);
    return FALSE;
  }
  while (at < length) {
    char *end = memchr (lines->bytes + at, '\n', length - at);
    const gsize size = end ? (gsize) (end - lines->bytes) - at : length - at;

    lines->bytes[at + size] = '\0';
    take_line (&reading, lines->bytes + at, size);
    if (!end)
      add_fault (&reading, "%s: line %u is not whole", name, reading.number);
    at += size + 1;
  }
  if (!reading.ended)
    add_fault (&reading, "%s: there is no end: the record was cut, or the element was not stopped in order", name);
  return TRUE;
}

void
lines_clear (Lines *lines)
{
  g_clear_pointer (&lines->frames, g_ptr_array_unref);
  g_clear_pointer (&lines->faults, g_ptr_array_unref);
  g_clear_pointer (&lines->rules, g_ptr_array_unref);
  g_clear_pointer (&lines->last, g_free);
  g_clear_pointer (&lines->bytes, g_free);
}
