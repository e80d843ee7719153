/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "page.h"

#include <string.h>

#include "texts.h"

#define PLACE "@DATA@" /* in page.html */

/* A text of JSON. In a page, no text may end the script that it stands in. */
static void
append_text (GString *data, const gchar *name, const gchar *text)
{
  gchar *valid = g_utf8_make_valid (text, -1);

  g_string_append_printf (data, "\"%s\": \"", name);
  for (const gchar *p = valid; *p; p++)
    if (*p == '"' || *p == '\\' || *p == '<' || (guchar) *p < ' ')
      g_string_append_printf (data, "\\u%04x", (guchar) *p);
    else
      g_string_append_c (data, *p);
  g_string_append (data, "\", ");
  g_free (valid);
}

static void
append_number (GString *data, const gchar *name, gdouble number)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append_printf (data, "\"%s\": %s, ", name, g_ascii_dtostr (text, sizeof text, number));
}

/* Where the page finds the film: beside itself by name, so that both can be moved, and elsewhere by the whole address. */
static gchar *
address_of (const gchar *film, const gchar *page)
{
  gchar *film_path = g_canonicalize_filename (film, NULL), *page_path = g_canonicalize_filename (page, NULL);
  gchar *folder = g_path_get_dirname (page_path), *film_folder = g_path_get_dirname (film_path);
  gchar *name = g_path_get_basename (film_path), *address;

  if (!strcmp (folder, film_folder))
    address = g_uri_escape_string (name, NULL, FALSE);
  else
    address = g_filename_to_uri (film_path, NULL, NULL);
  g_free (name);
  g_free (film_folder);
  g_free (folder);
  g_free (page_path);
  g_free (film_path);
  return address;
}

/* The boxes as they are, but for <, which ends a script in names alone. */
static void
append_boxes (GString *data, const gchar *boxes)
{
  g_string_append (data, "\"boxes\": ");
  for (const gchar *p = boxes; *p; p++)
    if (*p == '<')
      g_string_append (data, "\\u003c");
    else
      g_string_append_c (data, *p);
}

gboolean
film_page_write (const FilmPage *page, const gchar *file, GError **error)
{
  const gchar *place = strstr (film_page_html, PLACE);
  GString *text = g_string_new_len (film_page_html, place - film_page_html);
  gchar *address = address_of (page->file, file), *name = g_filename_display_basename (page->file);
  gboolean ok;

  g_string_append (text, "{ ");
  append_text (text, "film", address);
  append_text (text, "name", name);
  append_text (text, "save", page->save);
  append_number (text, "width", page->width);
  append_number (text, "height", page->height);
  append_number (text, "par", page->par_n > 0 && page->par_d > 0 ? page->par_n / (gdouble) page->par_d : 1);
  append_number (text, "rate", page->rate_d > 0 ? page->rate_n / (gdouble) page->rate_d : 0);
  append_number (text, "duration",
      GST_CLOCK_TIME_IS_VALID (page->duration) ? page->duration / (gdouble) GST_SECOND : 0);
  append_boxes (text, page->boxes);
  g_string_append (text, " }");
  g_string_append (text, place + strlen (PLACE));
  ok = g_file_set_contents (file, text->str, text->len, error);
  g_free (name);
  g_free (address);
  g_string_free (text, TRUE);
  return ok;
}
