/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which properties have no effect, and why. */
#include <string.h>

#include "text/array.h"
#include "text/token.h"
#include "properties/property_rows.h"
#include "masks/mask_text.h"

/* The text as a message shows it. NULL where it reads as the default; an empty text reads as NULL does. */
static gchar *
show_text (const gchar *text, const gchar *standard)
{
  if (!text || g_str_equal (text, standard ? standard : ""))
    return NULL;
  return convolve_token_quote (text, strlen (text));
}

/* The same for an array. */
static gchar *
show_array (const GValue *array)
{
  g_autofree gchar *text = array ? gst_value_serialize (array) : NULL;

  return show_text (text, NULL);
}

/* The property's value as a message shows it, to be freed. NULL where the property is at its default. */
static gchar *
show_value (const ConvolveProperties *properties, const Row *row)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  switch (row->kind) {
    case TEXT:
      return show_text (VALUE (gchar *, properties, row), row->text);
    case BOXES:
      return NULL; /* the text's row tells */
    case ARRAY:
      return show_array (VALUE (GValue *, properties, row));
    case FILE_NAME:
      return show_text (convolve_kept_file_location (VALUE (ConvolveKeptFile *, properties, row)), NULL);
    case UINT:
      if (VALUE (guint, properties, row) == row->standard)
        return NULL;
      return g_strdup_printf ("%u", VALUE (guint, properties, row));
    case DOUBLE:
      if (VALUE (gdouble, properties, row) == row->standard)
        return NULL;
      return g_strdup (g_ascii_formatd (digits, sizeof digits, "%g", VALUE (gdouble, properties, row)));
    case TIME:
      if (VALUE (guint64, properties, row) == (guint64) row->standard)
        return NULL;
      return g_strdup_printf ("%" G_GUINT64_FORMAT, VALUE (guint64, properties, row));
    case FLAGS:
      if (VALUE (guint, properties, row) == row->standard)
        return NULL;
      return convolve_flags_text (row->type (), VALUE (guint, properties, row));
    case INT:
    case BOOLEAN:
    case ENUM:
      if (VALUE (gint, properties, row) == row->standard)
        return NULL;
      return row->kind == ENUM ? g_strdup (convolve_enum_nick (row->type (), VALUE (gint, properties, row)))
          : row->kind == INT   ? g_strdup_printf ("%d", VALUE (gint, properties, row))
                               : g_strdup (VALUE (gboolean, properties, row) ? "true" : "false");
  }
  g_return_val_if_reached (NULL);
}

gboolean
convolve_property_is_standard (const ConvolveProperties *properties, const Row *row)
{
  g_autofree gchar *value = show_value (properties, row);

  return value == NULL;
}

static void
add_idle_of (const ConvolveProperties *properties, Target target, const gchar *why, GPtrArray *sentences)
{
  for (guint i = 0; i < properties->table->n; i++) {
    const Row *row = &properties->table->rows[i];
    g_autofree gchar *value = row->target == target ? show_value (properties, row) : NULL;

    if (value)
      g_ptr_array_add (sentences, g_strdup_printf ("%s: %s has no effect: %s", row->name, value, why));
  }
}

/* A sentence where no source can give a region. A text that cannot be read gets none, because the error is reported. */
static void
add_idle_sources (const ConvolveRegionSettings *region, GPtrArray *sentences)
{
  const gchar *apply_to = convolve_enum_nick (CONVOLVE_TYPE_APPLY_TO, region->apply_to);
  gboolean has_text = region->sources & CONVOLVE_REGION_SOURCE_TEXT;
  g_autoptr (GArray) boxes = NULL;

  if (region->sources & (CONVOLVE_REGION_SOURCES_METADATA | CONVOLVE_REGION_SOURCE_ALPHA) || region->mask
      || (has_text && (!convolve_region_settings_boxes (region, &boxes, NULL) || boxes->len > 0)))
    return;
  g_ptr_array_add (sentences,
      g_strdup_printf ("apply-to: %s %s: %s", apply_to,
          region->apply_to == CONVOLVE_APPLY_TO_REGIONS ? "has no effect" : "has the effect of frame",
          has_text ? "region-sources is text, and regions has no box"
                   : "region-sources names none of text, roi, analytics and alpha"));
}

static void
add_idle_of_regions (const ConvolveProperties *properties, GPtrArray *sentences)
{
  const ConvolveRegionSettings *region = &properties->region;
  ConvolveRegionEffect effect = convolve_region_settings_effect (region);
  gboolean is_auto = region->effect == CONVOLVE_REGION_EFFECT_AUTO;

  if (region->apply_to == CONVOLVE_APPLY_TO_FRAME) {
    for (Target target = REGION; target <= DETECTIONS; target++)
      add_idle_of (properties, target, "apply-to is frame", sentences);
    return;
  }
  if (effect != CONVOLVE_REGION_EFFECT_MASK) {
    const gchar *why = is_auto ? "region-effect=auto pixelates regions, and region-effect=mask takes the mask"
                               : "region-effect is not mask";

    add_idle_of (properties, STRENGTH, why, sentences);
    add_idle_of (properties, GIVES_MASK, why, sentences);
    add_idle_of (properties, CHANGES_MASK, why, sentences);
  } else if (region->strength >= 0) {
    add_idle_of (properties, CHANGES_MASK, "region-strength gives each box a blur of its own", sentences);
  }
  if (!convolve_region_effect_has_blocks (effect))
    add_idle_of (properties, BLOCKS,
        is_auto ? "region-effect=auto takes the mask here, and region-effect=pixelate takes blocks"
                : "region-effect is neither pixelate nor noise-pixelate",
        sentences);
  if (effect != CONVOLVE_REGION_EFFECT_NOISE_PIXELATE)
    add_idle_of (properties, NOISE, "region-effect is not noise-pixelate", sentences);
  if (effect != CONVOLVE_REGION_EFFECT_FILL)
    add_idle_of (properties, FILLING, "region-effect is not fill", sentences);
  if (region->apply_to != CONVOLVE_APPLY_TO_OUTSIDE_REGIONS)
    add_idle_of (properties, AROUND, "apply-to is regions, which are covered at once", sentences);
  add_idle_sources (region, sentences);
  if (!(region->sources & CONVOLVE_REGION_SOURCE_TEXT))
    add_idle_of (properties, WRITTEN, "region-sources has no text", sentences);
  if (!(region->sources & CONVOLVE_REGION_SOURCES_METADATA))
    add_idle_of (properties, DETECTIONS, "region-sources has no metadata", sentences);
}

void
convolve_properties_add_idle (const ConvolveProperties *properties, GPtrArray *sentences)
{
  convolve_settings_add_idle (&properties->mask, sentences);
  if (properties->boundary != CONVOLVE_BOUNDARY_CONSTANT)
    add_idle_of (properties, CONSTANT, "boundary is not constant", sentences);
  add_idle_of_regions (properties, sentences);
}
