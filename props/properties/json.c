/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "properties/json.h"

#include <gst/gst.h>
#include <math.h>
#include <string.h>

#include "properties/property_rows.h"

#define REPLACEMENT 0xfffd

/* Two characters stand for one outside of the first plane. */
static void
append_escape (GString *json, gunichar character)
{
  if (character < 0x10000)
    g_string_append_printf (json, "\\u%04x", character);
  else
    g_string_append_printf (json, "\\u%04x\\u%04x", 0xd800 + ((character - 0x10000) >> 10),
        0xdc00 + ((character - 0x10000) & 0x3ff));
}

void
convolve_json_append_text (GString *json, const gchar *text)
{
  const gchar *end;

  if (!text) {
    g_string_append (json, "null");
    return;
  }
  end = text + strlen (text);
  g_string_append_c (json, '"');
  while (text < end) {
    gunichar character = g_utf8_get_char_validated (text, end - text);

    if (character >= (gunichar) -2) {
      append_escape (json, REPLACEMENT);
      text++;
      continue;
    }
    if (character == '"' || character == '\\')
      g_string_append_printf (json, "\\%c", (gchar) character);
    else if (character >= ' ' && character < 127)
      g_string_append_c (json, character);
    else
      append_escape (json, character);
    text = g_utf8_next_char (text);
  }
  g_string_append_c (json, '"');
}

void
convolve_json_append_double (GString *json, gdouble value)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (!isfinite (value)) {
    g_string_append (json, "null");
    return;
  }
  g_ascii_formatd (digits, sizeof digits, "%.15g", value);
  if (g_ascii_strtod (digits, NULL) != value)
    g_ascii_dtostr (digits, sizeof digits, value);
  g_string_append (json, digits);
}

static void
append_value (GString *json, const ConvolveProperties *properties, const Row *row)
{
  g_autofree gchar *text = NULL;

  switch (row->kind) {
    case TEXT:
      convolve_json_append_text (json, VALUE (gchar *, properties, row));
      break;
    case ARRAY:
      text = VALUE (GValue *, properties, row) ? gst_value_serialize (VALUE (GValue *, properties, row)) : NULL;
      convolve_json_append_text (json, text);
      break;
    case FILE_NAME:
      convolve_json_append_text (json, convolve_kept_file_location (VALUE (ConvolveKeptFile *, properties, row)));
      break;
    case FLAGS:
      text = convolve_flags_text (row->type (), VALUE (guint, properties, row));
      convolve_json_append_text (json, text);
      break;
    case ENUM:
      convolve_json_append_text (json, convolve_enum_nick (row->type (), VALUE (gint, properties, row)));
      break;
    case UINT:
      g_string_append_printf (json, "%u", VALUE (guint, properties, row));
      break;
    case INT:
      g_string_append_printf (json, "%d", VALUE (gint, properties, row));
      break;
    case TIME:
      g_string_append_printf (json, "%" G_GUINT64_FORMAT, VALUE (guint64, properties, row));
      break;
    case DOUBLE:
      convolve_json_append_double (json, VALUE (gdouble, properties, row));
      break;
    case BOOLEAN:
      g_string_append (json, VALUE (gboolean, properties, row) ? "true" : "false");
      break;
    case BOXES:
      break;
  }
}

void
convolve_json_append_properties (GString *json, const ConvolveProperties *properties)
{
  const gchar *between = "{";

  for (guint i = 0; i < properties->table->n; i++) {
    const Row *row = &properties->table->rows[i];

    if (row->kind == BOXES) /* the text's row has them */
      continue;
    g_string_append_printf (json, "%s\"%s\":", between, row->name);
    if (row->secret && !convolve_property_is_standard (properties, row))
      convolve_json_append_text (json, "secret");
    else
      append_value (json, properties, row);
    between = ",";
  }
  g_string_append_c (json, '}');
}
