/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "properties.h"

#include <string.h>

#include "progress.h"

/* The properties that keys change. */
static const char *const names[] = { "mask", "mask-width", "sigma", "bias", "boundary", "kernel-variant" };
G_STATIC_ASSERT (G_N_ELEMENTS (names) == N_PROPERTIES);

/* The values that a property takes, as the end of a message: "it takes 0 to 1". The caller frees the text. */
static char *
range_of (GParamSpec *pspec)
{
  GString *text = g_string_new (NULL);

  if (G_IS_PARAM_SPEC_ENUM (pspec)) {
    const GEnumClass *values = G_PARAM_SPEC_ENUM (pspec)->enum_class;

    for (guint i = 0; i < values->n_values; i++)
      g_string_append_printf (text, "%s%s", i ? ", " : "it takes ", values->values[i].value_nick);
  } else if (G_IS_PARAM_SPEC_DOUBLE (pspec))
    g_string_printf (text, "it takes %g to %g, with a point as in 0.5", G_PARAM_SPEC_DOUBLE (pspec)->minimum,
        G_PARAM_SPEC_DOUBLE (pspec)->maximum);
  else if (G_IS_PARAM_SPEC_INT (pspec))
    g_string_printf (text, "it takes whole numbers from %d to %d", G_PARAM_SPEC_INT (pspec)->minimum,
        G_PARAM_SPEC_INT (pspec)->maximum);
  else if (G_IS_PARAM_SPEC_UINT (pspec) && g_str_has_suffix (pspec->name, "color"))
    g_string_assign (text, "it takes a number as 0xffff0000: alpha, red, green and blue");
  else if (G_IS_PARAM_SPEC_UINT (pspec))
    g_string_printf (text, "it takes whole numbers from %u to %u", G_PARAM_SPEC_UINT (pspec)->minimum,
        G_PARAM_SPEC_UINT (pspec)->maximum);
  else
    g_string_assign (text, "see gst-inspect-1.0 cudaconvolve");
  return g_string_free (text, FALSE);
}

/* GStreamer reads an empty text, as of a variable of the shell that is not set, as 0. */
static gboolean
is_value (GParamSpec *pspec, const char *text, GValue *value)
{
  return (*text || G_IS_PARAM_SPEC_STRING (pspec)) && gst_value_deserialize_with_pspec (value, text, pspec)
      && !g_param_value_validate (pspec, value);
}

gboolean
set_property (GstElement *element, const char *assignment)
{
  const char *equals = strchr (assignment, '=');
  char *name = equals ? g_strndup (assignment, equals - assignment) : g_strdup (assignment);
  GParamSpec *pspec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  GValue value = G_VALUE_INIT;
  gboolean ok = FALSE;

  if (!equals)
    complain ("\"%s\": a property is written NAME=VALUE", assignment);
  else if (!pspec || !(pspec->flags & G_PARAM_WRITABLE))
    complain ("\"%s\": cudaconvolve has no such property to set; see gst-inspect-1.0 cudaconvolve", name);
  else {
    g_value_init (&value, pspec->value_type);
    ok = is_value (pspec, equals + 1, &value);
    if (ok)
      g_object_set_property (G_OBJECT (element), name, &value);
    else {
      char *range = range_of (pspec);

      complain ("\"%s\": not a value of cudaconvolve's property %s; %s", equals + 1, name, range);
      g_free (range);
    }
    g_value_unset (&value);
  }
  g_free (name);
  return ok;
}

static GParamSpec *
find (GstElement *convolve, const char *name)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (convolve), name);
}

void
append_properties (GString *line, GstElement *convolve)
{
  for (guint i = 0; i < N_PROPERTIES; i++) {
    GValue value = G_VALUE_INIT;
    char *text;

    g_object_get_property (G_OBJECT (convolve), names[i], &value);
    if (!g_param_value_defaults (find (convolve, names[i]), &value)) {
      text = gst_value_serialize (&value);
      g_string_append_printf (line, " %s=%s", names[i], text);
      g_free (text);
    }
    g_value_unset (&value);
  }
}

/* --- all values --- */

void
values_clear (Values *values)
{
  for (guint i = 0; i < N_PROPERTIES; i++)
    if (G_IS_VALUE (&values->values[i]))
      g_value_unset (&values->values[i]);
}

void
values_keep (Values *values, GstElement *convolve)
{
  values_clear (values);
  for (guint i = 0; i < N_PROPERTIES; i++)
    g_object_get_property (G_OBJECT (convolve), names[i], &values->values[i]);
}

/* The element takes what one call sets together, so that no frame has a part of the values. */
void
values_restore (const Values *values, GstElement *convolve)
{
  g_object_setv (G_OBJECT (convolve), N_PROPERTIES, (const char **) names, values->values);
}

/* --- the changes of the keys --- */

/* Adds to a number, and stays within the property's range. */
static void
add (GstElement *convolve, const char *name, double step)
{
  const GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (find (convolve, name));
  double value;

  g_object_get (convolve, name, &value, NULL);
  g_object_set (convolve, name, CLAMP (value + step, range->minimum, range->maximum), NULL);
}

/* The next value of an enum after this one, or the previous one. */
static int
next_choice (GstElement *convolve, const char *name, int value, int step)
{
  const GEnumClass *choices = G_PARAM_SPEC_ENUM (find (convolve, name))->enum_class;

  for (guint i = 0; i < choices->n_values; i++)
    if (choices->values[i].value == value)
      return choices->values[(i + choices->n_values + step) % choices->n_values].value;
  return value;
}

static const char *
get_preset (const GValue *presets, guint i)
{
  return g_value_get_string (gst_value_array_get_value (presets, i));
}

static void
change_mask (GstElement *convolve, int step)
{
  GValue presets = G_VALUE_INIT;
  guint n, i = 0;
  char *mask;

  g_object_get (convolve, "mask", &mask, NULL);
  g_object_get_property (G_OBJECT (convolve), "presets", &presets);
  n = gst_value_array_get_size (&presets);
  while (i < n && g_strcmp0 (get_preset (&presets, i), mask) != 0)
    i++;
  /* A mask that is no preset, as weights are, comes before the first one. */
  i = i == n ? (step > 0 ? 0 : n - 1) : (i + n + step) % n;
  /* A width may contradict another preset, so the width is set along with the preset. */
  g_object_set (convolve, "mask", get_preset (&presets, i), "mask-width", 0u, NULL);
  g_value_unset (&presets);
  g_free (mask);
}

/* Widths are odd; 0 leaves the width to the preset or to sigma. */
static void
change_width (GstElement *convolve, int step)
{
  guint width, most = G_PARAM_SPEC_UINT (find (convolve, "mask-width"))->maximum;

  g_object_get (convolve, "mask-width", &width, NULL);
  if (step > 0)
    width = width == 0 ? 3 : MIN (width + 2, most);
  else
    width = width <= 3 ? 0 : width - 2;
  g_object_set (convolve, "mask-width", width, NULL);
}

/* Below 0.5 lies -1, which takes sigma from the width. */
static void
change_sigma (GstElement *convolve, int step)
{
  double sigma, most = G_PARAM_SPEC_DOUBLE (find (convolve, "sigma"))->maximum;

  g_object_get (convolve, "sigma", &sigma, NULL);
  sigma = sigma < 0 ? (step > 0 ? 0.5 : -1) : sigma + 0.5 * step;
  g_object_set (convolve, "sigma", sigma < 0.5 ? -1 : MIN (sigma, most), NULL);
}

static void
change_bias (GstElement *convolve, int step)
{
  add (convolve, "bias", 0.125 * step);
}

static void
change_boundary (GstElement *convolve, int step)
{
  int boundary;

  g_object_get (convolve, "boundary", &boundary, NULL);
  g_object_set (convolve, "boundary", next_choice (convolve, "boundary", boundary, step), NULL);
}

static const struct
{
  char forward, backward; /* keys */
  void (*change) (GstElement *convolve, int step);
} changes[] = {
  { 'm', 'M', change_mask },
  { 'w', 'W', change_width },
  { 's', 'S', change_sigma },
  { 'o', 'O', change_bias },
  { 'b', 'B', change_boundary },
};

gboolean
change_by_key (GstElement *convolve, char key, int *variant)
{
  if (key == 'v' || key == 'V') {
    *variant = next_choice (convolve, "kernel-variant", *variant, key == 'v' ? 1 : -1);
    g_object_set (convolve, "kernel-variant", *variant, NULL);
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    if (key == changes[i].forward || key == changes[i].backward) {
      changes[i].change (convolve, key == changes[i].forward ? 1 : -1);
      return TRUE;
    }
  return FALSE;
}
