/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer_settings.h"

#include <string.h>

#include "parse.h"

gboolean
convolve_layer_settings_has_layer (const ConvolveLayerSettings *settings)
{
  return settings->location && settings->location[0];
}

/* Reads digits as a number up to largest, and moves *p behind them. */
static gboolean
take_number (const gchar **p, guint largest, guint *number)
{
  const gchar *start = *p;

  *number = 0;
  for (; g_ascii_isdigit (**p); (*p)++) {
    *number = *number * 10 + (**p - '0');
    if (*number > largest)
      return FALSE;
  }
  return *p > start;
}

gboolean
convolve_layer_settings_padding (const ConvolveLayerSettings *settings, gint *pixels, GError **error)
{
  g_autofree gchar *text = g_strstrip (g_strdup (settings->padding ? settings->padding : "same"));
  const gchar *p = text;
  guint number;

  if (g_str_equal (text, "same"))
    *pixels = CONVOLVE_PADDING_SAME;
  else if (g_str_equal (text, "valid"))
    *pixels = 0;
  else if (take_number (&p, CONVOLVE_LAYER_MAX_PADDING, &number) && *p == '\0')
    *pixels = number;
  else
    return convolve_parse_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "padding", text, strlen (text),
        "is not same, valid, or a number of pixels up to %d", CONVOLVE_LAYER_MAX_PADDING);
  return TRUE;
}

static const gchar *
skip_space (const gchar *p)
{
  while (g_ascii_isspace (*p))
    p++;
  return p;
}

/* Reads a number or a range at *p, and moves *p behind. */
static gboolean
take_maps (const gchar **p, guint filters, GArray *maps, GError **error)
{
  const gchar *token = *p;
  gsize length = strcspn (token, ", \t\r\n");
  guint first, last;

  if (!take_number (p, filters - 1, &first))
    return convolve_parse_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "layer-channels", token, length,
        "is not one of 0 to %u, the layer's feature maps", filters - 1);
  last = first;
  if (**p == '-') {
    ++*p;
    if (!take_number (p, filters - 1, &last) || last < first)
      return convolve_parse_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "layer-channels", token, length,
          "is not a range of 0 to %u, the layer's feature maps", filters - 1);
  }
  if (**p && **p != ',' && !g_ascii_isspace (**p))
    return convolve_parse_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "layer-channels", token, length,
        "is not a number or a range");
  if (maps->len + last - first >= CONVOLVE_LAYER_MAX_CHANNELS)
    return convolve_parse_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "layer-channels", token, length,
        "is one too many: there are at most %d", CONVOLVE_LAYER_MAX_CHANNELS);
  for (; first <= last; first++)
    g_array_append_val (maps, first);
  return TRUE;
}

gboolean
convolve_layer_settings_channels (const ConvolveLayerSettings *settings, guint filters, GArray **maps, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (guint));
  const gchar *p = skip_space (settings->channels ? settings->channels : "");
  gboolean none = *p == '\0';

  while (*p) {
    if (!take_maps (&p, filters, list, error))
      return FALSE;
    p = skip_space (p);
    if (*p == ',') {
      p = skip_space (p + 1);
      if (*p == '\0')
        return convolve_parse_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "layer-channels", ",", 1,
            "has no number behind the comma");
    }
  }
  for (guint i = 0; none && i < filters; i++)
    g_array_append_val (list, i);
  *maps = g_steal_pointer (&list);
  return TRUE;
}
