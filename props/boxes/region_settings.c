/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "boxes/region_settings.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "files/image_file.h"
#include "text/token.h"
#include "masks/mask_text.h"

#define MAX_NUMBER 1e6
#define BETWEEN ", \t\r"     /* splits the numbers of a box */
#define BEHIND BETWEEN ";\n" /* ends a number */

void
convolve_region_settings_copy (ConvolveRegionSettings *to, const ConvolveRegionSettings *from)
{
  *to = *from;
  to->regions = g_strdup (from->regions);
  to->types = g_strdup (from->types);
  to->mask = from->mask ? convolve_kept_file_ref (from->mask) : NULL;
  to->picture = from->picture ? convolve_kept_file_ref (from->picture) : NULL;
  to->ids = g_strdup (from->ids);
}

void
convolve_region_settings_clear (ConvolveRegionSettings *settings)
{
  g_clear_pointer (&settings->regions, g_free);
  g_clear_pointer (&settings->types, g_free);
  g_clear_pointer (&settings->mask, convolve_kept_file_unref);
  g_clear_pointer (&settings->picture, convolve_kept_file_unref);
  g_clear_pointer (&settings->ids, g_free);
}

guint64
convolve_region_settings_lookahead (const ConvolveRegionSettings *settings)
{
  gboolean has_metadata = settings->sources & CONVOLVE_REGION_SOURCES_METADATA;

  return settings->apply_to != CONVOLVE_APPLY_TO_FRAME && has_metadata ? settings->lookahead : 0;
}

/* Between -1 and 0 lies nothing, and GLib newer than 2.74 lets NaN pass. */
static gboolean
check_strength (gdouble strength, GError **error)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (strength == -1 || (strength >= 0 && strength <= 1))
    return TRUE;
  g_set_error (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_REGIONS,
      "region-strength: %s is neither -1 nor between 0 and 1", g_ascii_formatd (digits, sizeof digits, "%g", strength));
  return FALSE;
}

/* --- boxes that no frame can have --- */

#define LARGEST_SIDE (1 << 20) /* luma pixels of a frame */

/* A place along one direction of a frame: pixels, and a share of the frame's side. */
typedef struct
{
  gdouble pixels, share;
} Place;

static void
add_number (Place *place, const ConvolveTextBox *box, guint i, gdouble factor)
{
  if (box->per_cent[i])
    place->share += factor * box->number[i] / 100;
  else
    place->pixels += factor * box->number[i];
}

/* The distance of a corner from the frame's start, or from the frame's end; longer by the feather. */
static Place
place_of_corner (const ConvolveRegionSettings *settings, const ConvolveTextCorner *corner, guint i, gboolean from_end)
{
  gdouble sign = from_end ? -1 : 1;
  Place place = { settings->feather, from_end ? 1 : 0 };

  if (corner->per_cent[i])
    place.share += sign * corner->number[i] / 100;
  else
    place.pixels += sign * corner->number[i];
  return place;
}

/* Narrows the sides of frames to those where the place is above 0. FALSE where there are none. */
static gboolean
narrow (Place place, gdouble *least, gdouble *most)
{
  if (place.share == 0)
    return place.pixels > 0;
  if (place.share > 0)
    *least = MAX (*least, -place.pixels / place.share);
  else
    *most = MIN (*most, -place.pixels / place.share);
  return TRUE;
}

/*
 * Whether a frame can be so wide, or so high, that a corner of the polygon lies behind the frame's start, and a corner
 * before the frame's end. What a polygon grows by depends on both sides of the frame, so that a growing one always can.
 */
static gboolean
polygon_can_touch (const ConvolveRegionSettings *settings, const ConvolveTextBox *box, guint i)
{
  for (guint k = 0; k < box->n_corners * box->n_corners; k++) {
    gdouble least = 0, most = LARGEST_SIDE;

    if (narrow (place_of_corner (settings, &box->corners[k / box->n_corners], i, FALSE), &least, &most)
        && narrow (place_of_corner (settings, &box->corners[k % box->n_corners], i, TRUE), &least, &most)
        && least < most)
      return TRUE;
  }
  return settings->expand > 0;
}

/*
 * Whether a frame can be so wide, or so high, that the box has a pixel of it: the box ends behind the frame's start, and
 * begins before the frame's end. i is 0 for columns, and 1 for rows.
 */
static gboolean
can_touch (const ConvolveRegionSettings *settings, const ConvolveTextBox *box, guint i)
{
  Place end = { settings->feather, 0 }, room = { settings->feather, 1 };
  gdouble least = 0, most = LARGEST_SIDE;

  if (box->n_corners > 0)
    return polygon_can_touch (settings, box, i);
  add_number (&end, box, i, 1);
  add_number (&end, box, i + 2, 1 + settings->expand);
  add_number (&room, box, i, -1);
  add_number (&room, box, i + 2, settings->expand);
  return narrow (end, &least, &most) && narrow (room, &least, &most) && least < most;
}

static gboolean
check_boxes_touch (const ConvolveRegionSettings *settings, const GArray *boxes, GError **error)
{
  if (settings->apply_to == CONVOLVE_APPLY_TO_FRAME || !(settings->sources & CONVOLVE_REGION_SOURCE_TEXT)
      || boxes->len == 0)
    return TRUE;
  for (guint i = 0; i < boxes->len; i++) {
    const ConvolveTextBox *box = &g_array_index (boxes, ConvolveTextBox, i);

    if (can_touch (settings, box, 0) && can_touch (settings, box, 1))
      return TRUE;
  }
  return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", settings->regions,
      strlen (settings->regions), "has no box that can touch a frame, which goes from 0 to 100%% each way");
}

ConvolveRegionEffect
convolve_region_settings_effect (const ConvolveRegionSettings *settings)
{
  if (settings->effect != CONVOLVE_REGION_EFFECT_AUTO)
    return settings->effect;
  if (settings->apply_to == CONVOLVE_APPLY_TO_OUTSIDE_REGIONS || settings->strength >= 0)
    return CONVOLVE_REGION_EFFECT_MASK;
  return CONVOLVE_REGION_EFFECT_PIXELATE;
}

gboolean
convolve_region_effect_has_blocks (ConvolveRegionEffect effect)
{
  return effect == CONVOLVE_REGION_EFFECT_PIXELATE || effect == CONVOLVE_REGION_EFFECT_NOISE_PIXELATE;
}

gboolean
convolve_region_settings_take_mask (const ConvolveRegionSettings *settings)
{
  return settings->apply_to == CONVOLVE_APPLY_TO_FRAME
      || (convolve_region_settings_effect (settings) == CONVOLVE_REGION_EFFECT_MASK && settings->strength < 0);
}

guint
convolve_region_settings_transparency (const ConvolveRegionSettings *settings)
{
  return settings->opacity < 1 ? CONVOLVE_WHOLE_WEIGHT - lrint (settings->opacity * CONVOLVE_WHOLE_WEIGHT) : 0;
}

static gboolean
can_be_read (ConvolveKeptFile *file, GError **error)
{
  g_autoptr (ConvolveImage) image = file ? convolve_kept_file_read (file, error) : NULL;

  return !file || image;
}

gboolean
convolve_region_settings_check (const ConvolveRegionSettings *settings, const ConvolveSettings *mask, GError **error)
{
  g_autoptr (GArray) boxes = NULL, identities = NULL;
  g_auto (GStrv) types = NULL;
  ConvolveSettings copy;
  gboolean ok;

  if (!check_strength (settings->strength, error) || !convolve_region_settings_boxes (settings, &boxes, error)
      || !convolve_region_settings_types (settings, &types, error)
      || !convolve_region_settings_identities (settings, &identities, error)
      || !check_boxes_touch (settings, boxes, error))
    return FALSE;
  if (!can_be_read (settings->mask, error) || !can_be_read (settings->picture, error))
    return FALSE;
  if (settings->apply_to == CONVOLVE_APPLY_TO_FRAME
      || convolve_region_settings_effect (settings) != CONVOLVE_REGION_EFFECT_MASK || settings->strength < 0)
    return TRUE;
  convolve_settings_copy (&copy, mask);
  ok = convolve_settings_set_blur (&copy, 1, error);
  convolve_settings_clear (&copy);
  return ok;
}

/* --- regions --- */

static const gchar *
skip (const gchar *p, const gchar *characters)
{
  return p + strspn (p, characters);
}

#define POLYGON "polygon:"

/* Reads a number of `length` characters, in per cent where % is behind it. kind and number say in what it stands. */
static gboolean
read_number (const gchar *token, gsize length, const gchar *kind, guint number, gdouble *value, gboolean *per_cent,
    GError **error)
{
  const gchar *problem;

  *per_cent = token[length - 1] == '%';
  problem = convolve_token_number (token, length - *per_cent, value);
  if (problem)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", token, length, "in %s %u %s", kind,
        number, problem);
  if (fabs (*value) > MAX_NUMBER)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", token, length,
        "in %s %u is above a million", kind, number);
  return TRUE;
}

/* Reads the number at *p of the box at start, and moves *p behind the number and the comma. */
static gboolean
take_number (const gchar **p, const gchar *start, guint box, guint number, ConvolveTextBox *into, GError **error)
{
  static const gchar *const names[] = { "x", "y", "width", "height" };
  const gchar *token = *p, *end;
  gsize length = strcspn (token, BEHIND);

  if (length == 0)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", start, strcspn (start, ";\n"),
        "is box %u and lacks its %s: x,y,width,height", box, names[number]);
  if (!read_number (token, length, "box", box, &into->number[number], &into->per_cent[number], error))
    return FALSE;
  if ((number == 2 || number == 3) && into->number[number] <= 0)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", token, length,
        "in box %u is no %s: a %s is above 0", box, names[number], names[number]);
  end = skip (token + length, " \t\r");
  *p = *end == ',' && number < 3 ? skip (end + 1, " \t\r") : end;
  return TRUE;
}

static gboolean
take_box (const gchar **p, guint box, ConvolveTextBox *into, GError **error)
{
  const gchar *start = *p;

  for (guint i = 0; i < G_N_ELEMENTS (into->number); i++)
    if (!take_number (p, start, box, i, into, error))
      return FALSE;
  if (**p && **p != ';' && **p != '\n') {
    const gchar *more = skip (*p, BETWEEN);

    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", more, strcspn (more, BEHIND),
        "is one number too many in box %u: x,y,width,height", box);
  }
  return TRUE;
}

/* Reads the polygon at *p, and moves *p behind the polygon. into->corners is to be freed. */
static gboolean
take_polygon (const gchar **p, guint number, ConvolveTextBox *into, GError **error)
{
  const gchar *start = *p, *at = skip (start + strlen (POLYGON), " \t\r");
  ConvolveTextCorner corners[CONVOLVE_MAX_CORNERS];
  guint n = 0; /* numbers */

  while (*at && *at != ';' && *at != '\n') {
    gsize length = strcspn (at, BEHIND);

    if (length == 0)
      return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", start, strcspn (start, ";\n"),
          "is polygon %u and lacks a number between two commas: " POLYGON "x,y x,y x,y", number);
    if (n == 2 * CONVOLVE_MAX_CORNERS)
      return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", at, length,
          "is one corner too many in polygon %u: there are at most %d", number, CONVOLVE_MAX_CORNERS);
    if (!read_number (at, length, "polygon", number, &corners[n / 2].number[n % 2], &corners[n / 2].per_cent[n % 2],
            error))
      return FALSE;
    n++;
    at = skip (at + length, " \t\r");
    if (*at == ',')
      at = skip (at + 1, " \t\r");
  }
  if (n % 2)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", start, strcspn (start, ";\n"),
        "is polygon %u and lacks the y of its last corner: " POLYGON "x,y x,y x,y", number);
  if (n < 6)
    return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", start, strcspn (start, ";\n"),
        "is polygon %u with %u corners: a polygon has at least 3, as in " POLYGON "x,y x,y x,y", number, n / 2);
  into->n_corners = n / 2;
  into->corners = g_memdup2 (corners, n / 2 * sizeof (*corners));
  *p = at;
  return TRUE;
}

static void
clear_box (gpointer data)
{
  g_free (((ConvolveTextBox *) data)->corners);
}

gboolean
convolve_region_settings_boxes (const ConvolveRegionSettings *settings, GArray **boxes, GError **error)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (ConvolveTextBox));
  const gchar *p = skip (settings->regions ? settings->regions : "", " \t\r\n;");

  g_array_set_clear_func (list, clear_box);
  while (*p) {
    ConvolveTextBox box = { .n_corners = 0 };

    if (list->len == CONVOLVE_MAX_BOXES)
      return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "regions", p, strcspn (p, ";\n"),
          "is one box too many: there are at most %d", CONVOLVE_MAX_BOXES);
    if (g_str_has_prefix (p, POLYGON) ? !take_polygon (&p, list->len + 1, &box, error)
                                      : !take_box (&p, list->len + 1, &box, error))
      return FALSE;
    g_array_append_val (list, box);
    p = skip (p, " \t\r\n;");
  }
  *boxes = g_steal_pointer (&list);
  return TRUE;
}

/* --- region-types --- */

gchar *
convolve_region_settings_fold (const gchar *name)
{
  g_autofree gchar *valid = g_utf8_make_valid (name, -1);

  return g_utf8_strdown (valid, -1);
}

gboolean
convolve_region_settings_types (const ConvolveRegionSettings *settings, gchar ***types, GError **error)
{
  const gchar *types_set = settings->types ? settings->types : "";
  g_autofree gchar *lower = convolve_region_settings_fold (types_set);
  g_auto (GStrv) names = g_strsplit (g_strstrip (lower), ",", -1);

  for (guint i = 0; names[i]; i++) {
    gboolean except = g_strstrip (names[i])[0] == '!';

    if (except)
      g_strstrip (names[i] + 1);
    if (names[i][except ? 1 : 0] == '\0')
      return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "region-types", types_set, strlen (types_set),
          "has no name at place %u: names are split by commas, as in face,plate or !person", i + 1);
  }
  *types = g_steal_pointer (&names);
  return TRUE;
}

gboolean
convolve_region_type_is_wanted (gchar **types, const gchar *type, gboolean unknown)
{
  g_autofree gchar *lower = type ? convolve_region_settings_fold (type) : NULL;
  gboolean named = FALSE, listed = g_strcmp0 (lower, "background") == 0;

  for (guint i = 0; types[i]; i++) {
    gboolean except = types[i][0] == '!';
    gboolean same = lower && g_str_equal (types[i] + (except ? 1 : 0), lower);

    if (except && same)
      return FALSE;
    listed |= !except;
    named |= !except && same;
  }
  return type || !types[0] ? named || !listed : unknown;
}

/* --- region-ids --- */

static void
clear_identity (gpointer data)
{
  g_free (((ConvolveRegionIdentity *) data)->name);
}

GArray *
convolve_region_identities_new (void)
{
  GArray *identities = g_array_new (FALSE, FALSE, sizeof (ConvolveRegionIdentity));

  g_array_set_clear_func (identities, clear_identity);
  return identities;
}

/* The end of the entry at p, which is a comma or the end of the text. A comma between the quotes of a name is none. */
static const gchar *
find_end (const gchar *p)
{
  const gchar *quote = *p == '"' || *p == '\'' ? strchr (p + 1, *p) : NULL;

  p = quote ? quote : p;
  return p + strcspn (p, ",");
}

/* Reads an id or a name in lower case, without white space around it. NULL, or what is wrong. */
static const gchar *
read_identity (const gchar *p, gsize length, ConvolveRegionIdentity *identity)
{
  if (length == 0)
    return "has no id or name: ids and names are split by commas, as in 7,12 or !7 or !presenter";
  if (*p == '"' || *p == '\'') {
    const gchar *end = memchr (p + 1, *p, length - 1);

    if (!end || end == p + 1 || end != p + length - 1)
      return "is no name in quotes: a name in quotes has one character or more, and ends the entry";
    identity->name = g_strndup (p + 1, length - 2);
    return NULL;
  }
  if (strspn (p, "0123456789") < length) {
    identity->name = g_strndup (p, length);
    return NULL;
  }
  errno = 0;
  identity->id = g_ascii_strtoull (p, NULL, 10);
  return errno != 0 || identity->id == CONVOLVE_REGION_NO_ID
      ? "is no id, which goes up to 18446744073709551614; a name of digits stands in quotes"
      : NULL;
}

gboolean
convolve_region_settings_identities (const ConvolveRegionSettings *settings, GArray **identities, GError **error)
{
  g_autofree gchar *text = convolve_region_settings_fold (settings->ids ? settings->ids : "");
  g_autoptr (GArray) list = convolve_region_identities_new ();
  const gchar *p = g_strstrip (text);

  while (*p || list->len > 0) {
    const gchar *start = convolve_token_skip_space (p), *end, *problem;
    ConvolveRegionIdentity identity = { .except = *start == '!' };
    gsize length;

    start = identity.except ? convolve_token_skip_space (start + 1) : start;
    end = find_end (start);
    length = convolve_token_trim_end (start, end) - start;
    problem = read_identity (start, length, &identity);
    if (problem)
      return convolve_token_fail (error, CONVOLVE_PROPS_ERROR_REGIONS, "region-ids", start, length, "at place %u %s",
          list->len + 1, problem);
    g_array_append_val (list, identity);
    if (*end == '\0')
      break;
    p = end + 1;
  }
  *identities = g_steal_pointer (&list);
  return TRUE;
}

gboolean
convolve_region_identities_are_equal (const GArray *a, const GArray *b)
{
  for (guint i = 0; i < MIN (a->len, b->len); i++) {
    const ConvolveRegionIdentity *one = &g_array_index (a, ConvolveRegionIdentity, i);
    const ConvolveRegionIdentity *two = &g_array_index (b, ConvolveRegionIdentity, i);

    if (one->except != two->except || one->id != two->id || g_strcmp0 (one->name, two->name) != 0)
      return FALSE;
  }
  return a->len == b->len;
}

static gboolean
has_name (const gchar *const *names, const gchar *lower)
{
  for (guint i = 0; names[i]; i++) {
    g_autofree gchar *name = convolve_region_settings_fold (names[i]);

    if (g_str_equal (name, lower))
      return TRUE;
  }
  return FALSE;
}

ConvolveRegionMatch
convolve_region_identity_match (const ConvolveRegionIdentity *identity, guint64 id, const gchar *const *names)
{
  gboolean known = identity->name ? names[0] != NULL : id != CONVOLVE_REGION_NO_ID;
  gboolean same = known && (identity->name ? has_name (names, identity->name) : id == identity->id);

  return same ? CONVOLVE_REGION_MATCH_YES : known ? CONVOLVE_REGION_MATCH_NO : CONVOLVE_REGION_MATCH_UNKNOWN;
}

gboolean
convolve_region_identity_is_wanted (const GArray *identities, guint64 id, const gchar *const *names, gboolean unknown)
{
  gboolean listed = FALSE, named = FALSE;

  for (guint i = 0; i < identities->len; i++) {
    const ConvolveRegionIdentity *identity = &g_array_index (identities, ConvolveRegionIdentity, i);
    ConvolveRegionMatch match = convolve_region_identity_match (identity, id, names);

    gboolean means =
        match == CONVOLVE_REGION_MATCH_UNKNOWN ? unknown != identity->except : match == CONVOLVE_REGION_MATCH_YES;

    if (identity->except && means)
      return FALSE;
    listed |= !identity->except;
    named |= !identity->except && means;
  }
  return named || !listed;
}

gboolean
convolve_region_settings_take_unknown (const ConvolveRegionSettings *settings)
{
  return settings->apply_to != CONVOLVE_APPLY_TO_OUTSIDE_REGIONS;
}
