/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "say.h"

#include "progress.h"

static struct
{
  gboolean json, aside;
  GString *line; /* the JSON object that was begun */
} say;

static void
append_text (GString *line, const char *text)
{
  g_string_append_c (line, '"');
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      g_string_append_printf (line, "\\%c", *text);
    else if ((guchar) *text < 0x20)
      g_string_append_printf (line, "\\u%04x", (guchar) *text);
    else
      g_string_append_c (line, *text);
  g_string_append_c (line, '"');
}

static void
write_line (const char *text)
{
  if (say.aside)
    g_printerr ("%s\n", text);
  else
    g_print ("%s\n", text);
}

static void
say_complaint (const char *text)
{
  say_begin (g_str_has_prefix (text, "warning: ") ? "warning" : "error");
  say_end ("%s", text);
}

void
say_in_json (void)
{
  say.json = TRUE;
  complain_through (say_complaint);
}

gboolean
say_is_json (void)
{
  return say.json;
}

void
say_on_stderr (void)
{
  say.aside = TRUE;
}

void
say_begin (const char *event)
{
  say.line = g_string_new ("{\"event\": ");
  append_text (say.line, event);
}

/* A name of a file may be in any encoding, and JSON is UTF-8. */
void
say_text (const char *name, const char *value)
{
  char *valid;

  if (!value)
    return;
  valid = g_utf8_make_valid (value, -1);
  g_string_append_printf (say.line, ", \"%s\": ", name);
  append_text (say.line, valid);
  g_free (valid);
}

void
say_number (const char *name, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (value >= 0)
    g_string_append_printf (say.line, ", \"%s\": %s", name, g_ascii_formatd (number, sizeof number, "%.10g", value));
}

void
say_end (const char *format, ...)
{
  va_list arguments;
  char *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (say.json && *text)
    say_text ("text", text);
  g_string_append_c (say.line, '}');
  if (say.json || *text)
    write_line (say.json ? say.line->str : text);
  g_string_free (g_steal_pointer (&say.line), TRUE);
  g_free (text);
}
