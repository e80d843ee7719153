/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "json.h"

#include <string.h>

#define DEEPEST 16

typedef enum
{
  NOTHING, /* null, true and false, which nobody asks for */
  NUMBER,
  TEXT,
  LIST,
  OBJECT
} Kind;

struct _Json
{
  Kind kind;
  double number;
  char *text;
  GPtrArray *names; /* of an object's members */
  GPtrArray *items;
};

/* --- reading --- */

static Json *read_value (const char **p, guint depth);

static void
skip_space (const char **p)
{
  *p += strspn (*p, " \t\r\n");
}

static gboolean
take (const char **p, char wanted)
{
  skip_space (p);
  if (**p != wanted)
    return FALSE;
  ++*p;
  return TRUE;
}

/* The four digits of \uNNNN. */
static gboolean
read_unit (const char **p, gunichar *unit)
{
  *unit = 0;
  for (guint i = 0; i < 4; i++, ++*p) {
    if (!g_ascii_isxdigit (**p))
      return FALSE;
    *unit = 16 * *unit + g_ascii_xdigit_value (**p);
  }
  return TRUE;
}

/* A character outside of the first plane is two units. */
static gboolean
read_character (const char **p, GString *text)
{
  gunichar unit, low;

  if (!read_unit (p, &unit) || unit == 0)
    return FALSE;
  if (unit >= 0xd800 && unit < 0xdc00) {
    if (strncmp (*p, "\\u", 2) != 0)
      return FALSE;
    *p += 2;
    if (!read_unit (p, &low) || low < 0xdc00 || low > 0xdfff)
      return FALSE;
    unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
  }
  g_string_append_unichar (text, unit);
  return TRUE;
}

static gboolean
read_escape (const char **p, GString *text)
{
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  const char *name = **p ? strchr (names, **p) : NULL;

  if (name) {
    g_string_append_c (text, values[name - names]);
    ++*p;
    return TRUE;
  }
  return *(*p)++ == 'u' && read_character (p, text);
}

/* A text behind its first quote; NULL where there is none. */
static char *
read_text (const char **p)
{
  GString *text = g_string_new (NULL);
  gboolean good = TRUE;

  while (good && **p != '"') {
    if ((guchar) * *p < ' ')
      good = FALSE;
    else if (**p != '\\')
      g_string_append_c (text, *(*p)++);
    else {
      ++*p;
      good = **p && read_escape (p, text);
    }
  }
  if (good)
    ++*p;
  return g_string_free (text, !good);
}

static gboolean
read_items (const char **p, Json *value, guint depth, char end)
{
  if (take (p, end))
    return TRUE;
  do {
    Json *item;

    if (value->kind == OBJECT) {
      char *name = take (p, '"') ? read_text (p) : NULL;

      if (!name)
        return FALSE;
      g_ptr_array_add (value->names, name);
      if (!take (p, ':'))
        return FALSE;
    }
    item = read_value (p, depth + 1);
    if (!item)
      return FALSE;
    g_ptr_array_add (value->items, item);
  } while (take (p, ','));
  return take (p, end);
}

static gboolean
read_number (const char **p, Json *value)
{
  char *end;

  if (**p != '-' && !g_ascii_isdigit (**p))
    return FALSE;
  value->kind = NUMBER;
  value->number = g_ascii_strtod (*p, &end);
  *p = end;
  return TRUE;
}

static gboolean
read_word (const char **p)
{
  static const char *const words[] = { "null", "true", "false" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (*p, words[i])) {
      *p += strlen (words[i]);
      return TRUE;
    }
  return FALSE;
}

/* NULL where there is no value. */
static Json *
read_value (const char **p, guint depth)
{
  Json *value = g_new0 (Json, 1);
  gboolean good;

  if (depth == DEEPEST)
    good = FALSE;
  else if (take (p, '{') || take (p, '[')) {
    const gboolean object = (*p)[-1] == '{';

    value->kind = object ? OBJECT : LIST;
    value->names = g_ptr_array_new_with_free_func (g_free);
    value->items = g_ptr_array_new_with_free_func ((GDestroyNotify) json_free);
    good = read_items (p, value, depth, object ? '}' : ']');
  } else if (take (p, '"')) {
    value->kind = TEXT;
    value->text = read_text (p);
    good = value->text != NULL;
  } else
    good = read_word (p) || read_number (p, value);
  if (good)
    return value;
  json_free (value);
  return NULL;
}

Json *
json_read (const char *text)
{
  Json *value = read_value (&text, 0);

  skip_space (&text);
  if (value && *text == '\0')
    return value;
  json_free (value);
  return NULL;
}

void
json_free (Json *value)
{
  if (!value)
    return;
  g_free (value->text);
  if (value->items) {
    g_ptr_array_unref (value->names);
    g_ptr_array_unref (value->items);
  }
  g_free (value);
}

/* --- looking --- */

const Json *
json_member (const Json *value, const char *name)
{
  if (value && value->kind == OBJECT)
    for (guint i = value->names->len; i > 0; i--)
      if (!strcmp (g_ptr_array_index (value->names, i - 1), name))
        return g_ptr_array_index (value->items, i - 1);
  return NULL;
}

guint
json_length (const Json *value)
{
  return value && value->items ? value->items->len : 0;
}

const Json *
json_element (const Json *value, guint index)
{
  return index < json_length (value) ? g_ptr_array_index (value->items, index) : NULL;
}

const char *
json_text (const Json *value)
{
  return value && value->kind == TEXT ? value->text : NULL;
}

double
json_number (const Json *value, double other)
{
  return value && value->kind == NUMBER ? value->number : other;
}

int
json_int (const Json *value, int other)
{
  return CLAMP (json_number (value, other), -G_MAXINT, G_MAXINT);
}
