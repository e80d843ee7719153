/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of the settings of regions covers nothing, or less than it seems to. */
#include <gst/gst.h>
#include <string.h>

#include "properties/property_rows.h"

/* --- regions that are not used --- */

/* The names of the set properties that work on regions; empty where there are none. */
static GString *
list_set_properties (const ConvolveProperties *properties)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < properties->table->n; i++) {
    const Row *row = &properties->table->rows[i];

    if (row->target >= REGION && row->target <= DETECTIONS && !convolve_property_is_standard (properties, row))
      g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "", row->name);
  }
  return list;
}

static void
add_unused (const ConvolveProperties *properties, GPtrArray *sentences)
{
  g_autoptr (GString) set = list_set_properties (properties);

  if (set->len > 0)
    g_ptr_array_add (sentences,
        g_strdup_printf (
            "%s: without effect, because apply-to is frame: the mask changes the whole frame, and no box is "
            "covered; apply-to=regions covers boxes",
            set->str));
}

/* --- regions from nowhere --- */

static void
add_nowhere (const ConvolveRegionSettings *region, const GArray *boxes, GPtrArray *sentences)
{
  gboolean has_text = region->sources & CONVOLVE_REGION_SOURCE_TEXT;

  if ((region->sources & (CONVOLVE_REGION_SOURCES_METADATA | CONVOLVE_REGION_SOURCE_ALPHA)) || region->mask
      || (has_text && boxes->len > 0))
    return;
  g_ptr_array_add (sentences,
      g_strdup_printf ("apply-to: there can be no region, because %s; %s",
          has_text ? "region-sources is text, and regions has no box" : "region-sources names no source",
          has_text ? "write boxes into regions, or take roi or analytics into region-sources, too"
                   : "region-sources=text+roi+analytics names all but alpha"));
}

/* --- texts that mean something else --- */

/* Whether people mean shares of the frame: no number is above 1 or in per cent, and the box begins inside the frame. */
static gboolean
looks_like_shares (const ConvolveTextBox *box)
{
  for (guint i = 0; i < 2 * box->n_corners; i++)
    if (box->corners[i / 2].per_cent[i % 2] || box->corners[i / 2].number[i % 2] < 0
        || box->corners[i / 2].number[i % 2] > 1)
      return FALSE;
  if (box->n_corners > 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (box->number); i++)
    if (box->per_cent[i] || box->number[i] < 0 || box->number[i] > 1)
      return FALSE;
  return box->number[0] < 1 && box->number[1] < 1;
}

static gboolean
is_below_a_pixel (const ConvolveTextBox *box)
{
  if (box->n_corners > 0)
    return FALSE;
  return (!box->per_cent[2] && box->number[2] < 1) || (!box->per_cent[3] && box->number[3] < 1);
}

static void
add_shares (const GArray *boxes, GPtrArray *sentences)
{
  for (guint i = 0; i < boxes->len; i++) {
    const ConvolveTextBox *box = &g_array_index (boxes, ConvolveTextBox, i);

    if (!looks_like_shares (box) && !is_below_a_pixel (box))
      continue;
    g_ptr_array_add (sentences,
        g_strdup_printf ("regions: box %u is %s, because numbers without %% are luma pixels; shares of the frame are "
                         "written in per cent, as in 10%%,10%%,50%%,50%%",
            i + 1, is_below_a_pixel (box) ? "less than a pixel wide or high" : "one pixel large"));
    return;
  }
}

static void
add_semicolon (const ConvolveRegionSettings *region, GPtrArray *sentences)
{
  if (region->types && strpbrk (region->types, ";|\n"))
    g_ptr_array_add (sentences,
        g_strdup (
            "region-types: names are split by a comma, as in face,plate; a semicolon, a bar or a new line counts as "
            "a part of a name, so no region may be of these types"));
  if (region->ids && strpbrk (region->ids, ";|\n"))
    g_ptr_array_add (sentences,
        g_strdup ("region-ids: ids and names are split by a comma, as in 7,12; a semicolon, a bar or a new line counts "
                  "as a part of a name, so no region may have this name"));
}

/* --- effects that can be undone --- */

#define WEAK_GAUSSIAN 0.2
#define WEAK_BOX 0.3
#define STRONG_BLOCKS 3
#define WEAK_EPSILON 1

static void
add_weak (const ConvolveProperties *properties, GPtrArray *sentences)
{
  const ConvolveRegionSettings *region = &properties->region;
  ConvolveRegionEffect effect = convolve_region_settings_effect (region);
  gboolean is_box = g_strcmp0 (properties->mask.mask, "box") == 0;

  if (region->smooth > 0 && region->apply_to == CONVOLVE_APPLY_TO_OUTSIDE_REGIONS)
    g_ptr_array_add (sentences,
        g_strdup ("region-smooth: what leaves a region stays in sight for about that long, so that the edge is soft "
                  "and not all is hidden; region-smooth=0 hides at once"));
  if (region->opacity < 1)
    g_ptr_array_add (sentences,
        g_strdup ("region-opacity: below 1 the picture shows through every effect, so that nothing is hidden; "
                  "region-opacity=1 shows the effect alone"));
  if (effect == CONVOLVE_REGION_EFFECT_MASK && region->strength >= 0
      && region->strength < (is_box ? WEAK_BOX : WEAK_GAUSSIAN))
    g_ptr_array_add (sentences,
        g_strdup_printf ("region-strength: below %s with mask=%s a face comes back from the blur by least squares, as "
                         "tests/results/undo.md shows; from mask=gaussian with 0.2 no face came back",
            is_box ? "0.3" : "0.2", is_box ? "box" : "gaussian"));
  if (effect == CONVOLVE_REGION_EFFECT_PIXELATE && region->blocks > STRONG_BLOCKS)
    g_ptr_array_add (sentences,
        g_strdup (
            "region-blocks: from more than 3 blocks a face comes back in films, by least squares over 20 frames, as "
            "tests/results/undo.md shows; from 3 blocks no face came back"));
  if (effect == CONVOLVE_REGION_EFFECT_NOISE_PIXELATE && region->epsilon > WEAK_EPSILON)
    g_ptr_array_add (sentences,
        g_strdup ("region-epsilon: above 1 a list of suspects finds faces in films more often than by chance, as "
                  "tests/results/undo.md shows; 0.5 is the default"));
}

void
convolve_properties_add_warnings (const ConvolveProperties *properties, GPtrArray *sentences)
{
  const ConvolveRegionSettings *region = &properties->region;
  g_autoptr (GArray) boxes = NULL;

  if (region->apply_to == CONVOLVE_APPLY_TO_FRAME) {
    add_unused (properties, sentences);
    return;
  }
  /* A text with an error gets no sentence, because the error is reported. */
  if (!convolve_region_settings_boxes (region, &boxes, NULL))
    return;
  add_nowhere (region, boxes, sentences);
  if (region->sources & CONVOLVE_REGION_SOURCE_TEXT)
    add_shares (boxes, sentences);
  if (region->sources & CONVOLVE_REGION_SOURCES_METADATA)
    add_semicolon (region, sentences);
  add_weak (properties, sentences);
}
