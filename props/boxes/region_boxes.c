/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boxes/region_boxes.h"

#include <gst/gst.h>

#include "text/array.h"
#include "boxes/region_settings.h"

static void
append_number (GString *text, const GValue *value)
{
  g_autofree gchar *content = gst_value_serialize (value);
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
  gdouble number;

  if (G_VALUE_HOLDS_STRING (value))
    g_string_append (text, g_value_get_string (value) ? g_value_get_string (value) : "");
  else if (!convolve_array_number (value, &number))
    g_string_append (text, g_ascii_dtostr (digits, sizeof digits, number));
  else
    g_string_append (text, content ? content : "a value");
}

gchar *
convolve_region_boxes_read (const GValue *array)
{
  GString *text = g_string_new (NULL);

  for (guint j = 0; j < gst_value_array_get_size (array); j++) {
    const GValue *row = gst_value_array_get_value (array, j);

    g_string_append (text, j > 0 ? ";" : "");
    if (convolve_array_is_row (row) && convolve_array_count (row) >= 6)
      g_string_append (text, "polygon:");
    if (!convolve_array_is_row (row))
      append_number (text, row);
    for (guint i = 0; convolve_array_is_row (row) && i < convolve_array_count (row); i++) {
      g_string_append (text, i > 0 ? "," : "");
      append_number (text, convolve_array_value (row, i));
    }
  }
  return g_string_free (text, gst_value_array_get_size (array) == 0);
}

/* Appends a number to a row: as a string where any number of the array is in per cent. */
static void
append_value (GValue *row, gdouble number, gboolean per_cent, gboolean as_text)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
  GValue value = G_VALUE_INIT;

  g_value_init (&value, as_text ? G_TYPE_STRING : G_TYPE_DOUBLE);
  if (as_text)
    g_value_take_string (&value,
        g_strconcat (g_ascii_dtostr (digits, sizeof digits, number), per_cent ? "%" : "", NULL));
  else
    g_value_set_double (&value, number);
  gst_value_array_append_and_take_value (row, &value);
}

static gboolean
has_per_cent (const ConvolveTextBox *box)
{
  for (guint i = 0; i < 4 && box->n_corners == 0; i++)
    if (box->per_cent[i])
      return TRUE;
  for (guint i = 0; i < box->n_corners; i++)
    if (box->corners[i].per_cent[0] || box->corners[i].per_cent[1])
      return TRUE;
  return FALSE;
}

void
convolve_region_boxes_write (const gchar *regions, GValue *array)
{
  const ConvolveRegionSettings settings = { .regions = (gchar *) regions };
  g_autoptr (GArray) boxes = NULL;
  gboolean any_per_cent = FALSE; /* all values of an array, and of the arrays in it, have one type */

  if (!convolve_region_settings_boxes (&settings, &boxes, NULL))
    return;
  for (guint k = 0; k < boxes->len; k++)
    any_per_cent |= has_per_cent (&g_array_index (boxes, ConvolveTextBox, k));
  for (guint k = 0; k < boxes->len; k++) {
    const ConvolveTextBox *box = &g_array_index (boxes, ConvolveTextBox, k);
    GValue row = G_VALUE_INIT;

    g_value_init (&row, GST_TYPE_ARRAY);
    for (guint i = 0; i < G_N_ELEMENTS (box->number) && box->n_corners == 0; i++)
      append_value (&row, box->number[i], box->per_cent[i], any_per_cent);
    for (guint i = 0; i < 2 * box->n_corners; i++)
      append_value (&row, box->corners[i / 2].number[i % 2], box->corners[i / 2].per_cent[i % 2], any_per_cent);
    gst_value_array_append_and_take_value (array, &row);
  }
}
