/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Presets by their names: the preset of a text, the presets that a misspelt name may mean, and all presets. */
#include "presets/presets.h"

#include <math.h>
#include <string.h>

#include "text/token.h"

#define MAX_NAME 16 /* letters; who writes more means no preset */
#define MAX_EDITS 2 /* between what was written and a preset that may have been meant */

const ConvolvePreset *
convolve_preset_find (const gchar *name, gsize length)
{
  guint n;
  const ConvolvePreset *presets = convolve_presets (&n);

  for (guint i = 0; i < n; i++)
    if (strlen (presets[i].name) == length && memcmp (presets[i].name, name, length) == 0)
      return &presets[i];
  return NULL;
}

/*
 * The letters to change, add or take away so that the name becomes the preset's: Levenshtein's distance, in which upper
 * case counts as lower case. row[k] is the distance between the name up to letter i and the preset's first k letters.
 */
static guint
count_edits (const gchar *name, gsize length, const gchar *preset)
{
  guint columns = strlen (preset);
  g_autofree guint *row = g_new (guint, columns + 1);

  for (guint k = 0; k <= columns; k++)
    row[k] = k;
  for (gsize i = 0; i < length; i++) {
    guint diagonal = row[0]++;

    for (guint k = 0; k < columns; k++) {
      guint replaced = diagonal + (g_ascii_tolower (name[i]) != preset[k]);

      diagonal = row[k + 1];
      row[k + 1] = MIN (MIN (row[k], row[k + 1]) + 1, replaced);
    }
  }
  return row[columns];
}

/* What other programs call the presets, in letters alone, as in "gaussian-blur". */
static const gchar *
find_other_name (const gchar *name, gsize length)
{
  static const gchar *const others[][2] = { { "average", "box" }, { "averageblur", "box" }, { "averaging", "box" },
    { "blur", "gaussian or box" }, { "blurring", "gaussian or box" }, { "bokeh", "disk" }, { "boxblur", "box" },
    { "canny", "sobel" }, { "contour", "sobel" }, { "copy", "identity" }, { "defocus", "disk" },
    { "denoise", "gaussian" }, { "edge", "sobel" }, { "edgedetect", "sobel" }, { "edgedetection", "sobel" },
    { "edges", "sobel" }, { "embossing", "emboss" }, { "gauss", "gaussian" }, { "gaussblur", "gaussian" },
    { "gaussianblur", "gaussian" }, { "gradient", "sobel" }, { "laplace", "laplacian" }, { "lens", "disk" },
    { "lensblur", "disk" }, { "lowpass", "gaussian or box" }, { "mean", "box" }, { "mexicanhat", "log" },
    { "motionblur", "motion" }, { "none", "identity" }, { "outline", "sobel" }, { "relief", "emboss" },
    { "sharp", "sharpen" }, { "sharpening", "sharpen" }, { "sharper", "sharpen" }, { "smooth", "gaussian" },
    { "smoothing", "gaussian" }, { "soft", "gaussian" }, { "soften", "gaussian" }, { "unsharpmask", "unsharp" },
    { "usm", "unsharp" } };
  gchar letters[MAX_NAME + 1];
  gsize n = 0;

  for (gsize i = 0; i < length && n < MAX_NAME; i++)
    if (g_ascii_isalpha (name[i]))
      letters[n++] = g_ascii_tolower (name[i]);
  letters[n] = '\0';
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_equal (others[i][0], letters))
      return others[i][1];
  return NULL;
}

static gchar *
find_nearest (const gchar *name, gsize length)
{
  GString *list = g_string_new (NULL);
  guint least = MAX_EDITS + 1, n;
  const ConvolvePreset *presets = convolve_presets (&n);

  for (guint i = 0; i < n && length <= MAX_NAME + MAX_EDITS; i++) {
    guint edits = count_edits (name, length, presets[i].name);

    if (edits < least)
      g_string_truncate (list, 0);
    if (edits < least || (edits == least && list->len > 0))
      g_string_append_printf (list, "%s%s", list->len > 0 ? " or " : "", presets[i].name);
    least = MIN (least, edits);
  }
  return g_string_free (list, list->len == 0);
}

/* A number behind the name, as in "gaussian(5)", is no part of it. */
gchar *
convolve_preset_nearest (const gchar *name, gsize length)
{
  gsize letters = 0;
  gchar *nearest;

  while (letters < length && (g_ascii_isalpha (name[letters]) || name[letters] == '-'))
    letters++;
  if (find_other_name (name, letters))
    return g_strdup (find_other_name (name, letters));
  if (find_other_name (name, length))
    return g_strdup (find_other_name (name, length));
  nearest = find_nearest (name, length);
  return nearest ? nearest : find_nearest (name, letters);
}

gchar *
convolve_preset_list (void)
{
  guint n;
  const ConvolvePreset *presets = convolve_presets (&n);
  GString *list = g_string_new (presets[0].name);

  for (guint i = 1; i < n; i++)
    g_string_append_printf (list, ", %s", presets[i].name);
  return g_string_free (list, FALSE);
}

/* --- NAME:ARGUMENT --- */

gboolean
convolve_preset_is_named (const gchar *text)
{
  return g_ascii_isalpha (*convolve_token_skip_space (text));
}

/*
 * The place of p in the text, counted from 1. All text before p was understood and so is ASCII: a byte is a
 * character.
 */
static guint
character_of (const gchar *text, const gchar *p)
{
  return (guint) (p - text) + 1;
}

/* What the user may have meant by a name that is no preset, in front of a semicolon; to be freed. */
static gchar *
make_hint (const gchar *name, gsize length)
{
  g_autofree gchar *nearest = convolve_preset_nearest (name, length);

  if (nearest)
    return g_strdup_printf (" (did you mean %s?)", nearest);
  return g_strdup (convolve_token_has_bracket (name, length) ? " (weights are written " CONVOLVE_TOKEN_ROWS ")" : "");
}

gboolean
convolve_preset_parse (const gchar *text, const ConvolvePreset **preset, gdouble *argument, GError **error)
{
  const gchar *name = convolve_token_skip_space (text), *end = convolve_token_trim_end (name, name + strlen (name));
  const gchar *colon = memchr (name, ':', end - name), *name_end = convolve_token_trim_end (name, colon ? colon : end);
  const ConvolvePreset *found = convolve_preset_find (name, name_end - name);
  const gchar *token, *problem;
  g_autofree gchar *quoted = NULL;
  gdouble value;

  if (!found) {
    g_autofree gchar *list = convolve_preset_list (), *hint = make_hint (name, name_end - name);

    quoted = convolve_token_quote (name, name_end - name);
    return convolve_props_fail (error, CONVOLVE_PROPS_ERROR_MASK,
        "mask: %s (character %u) is not a preset%s; the presets are %s", quoted, character_of (text, name), hint, list);
  }
  if (!colon) {
    *preset = found;
    *argument = found->argument_default;
    return TRUE;
  }

  token = colon + 1 < end ? convolve_token_skip_space (colon + 1) : end;
  quoted = convolve_token_quote (token, end - token);
  if (!found->argument)
    return convolve_props_fail (error, CONVOLVE_PROPS_ERROR_MASK,
        "mask: %s (character %u) is one argument too many: the preset %s takes none; %s", quoted,
        character_of (text, token), found->name,
        !found->sized                     ? "it is always 3x3"
            : found->radius_in_sigmas > 0 ? "mask-width sets its size, and sigma its strength"
                                          : "mask-width sets its size");
  problem = convolve_token_number (token, end - token, &value);
  if (!problem
      && (value < found->argument_min || value > found->argument_max
          || (found->argument_interval != 0 && fmod (value - found->argument_min, found->argument_interval) != 0)))
    problem = "is out of range";
  if (problem)
    return convolve_props_fail (error, CONVOLVE_PROPS_ERROR_MASK, "mask: %s (character %u) %s: %s takes %s", quoted,
        character_of (text, token), problem, found->name, found->argument);
  *preset = found;
  *argument = value;
  return TRUE;
}
