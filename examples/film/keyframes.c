/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keyframes.h"

#include <math.h>
#include <string.h>

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#define FORM "write --keyframes=PROPERTY=TIME:VALUE,TIME:VALUE, as in sigma=0:0,2:8 or sigma=0%:0,100%:8"

static gboolean
fail (GError **error, const char *text, const char *why)
{
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "--keyframes=%s: %s", text, why);
  return FALSE;
}

/* Whether the property takes the number. */
static gboolean
takes (GParamSpec *spec, double number)
{
  GValue from = G_VALUE_INIT, value = G_VALUE_INIT;
  gboolean ok;

  g_value_init (&from, G_TYPE_DOUBLE);
  g_value_init (&value, spec->value_type);
  g_value_set_double (&from, number);
  ok = g_value_transform (&from, &value) && !g_param_value_validate (spec, &value);
  g_value_unset (&value);
  g_value_unset (&from);
  return ok;
}

/* Reads a number that ends with this character; text goes behind it. */
static gboolean
read_number (const char **text, char end, double *number)
{
  char *rest;

  *number = g_ascii_strtod (*text, &rest);
  if (rest == *text || *rest != end || !isfinite (*number))
    return FALSE;
  *text = rest + (end != '\0');
  return TRUE;
}

/* Reads TIME:VALUE, where the time is a share of the film with %. */
static gboolean
read_point (const char *text, gboolean *share, double *time, double *value)
{
  *share = read_number (&text, '%', time);
  if (*share && *text++ != ':')
    return FALSE;
  if (!*share && !read_number (&text, ':', time))
    return FALSE;
  return read_number (&text, '\0', value);
}

/* Calls back for each point of a text; duration is that of the film, or 0 where only the form is looked at. */
static gboolean
read_text (const char *text, GstElement *element, GstTimedValueControlSource *source, GstClockTime duration,
    GError **error)
{
  const char *equals = strchr (text, '=');
  char *name = equals ? g_strndup (text, equals - text) : g_strdup (text);
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  char **points = g_strsplit (equals ? equals + 1 : "", ",", -1);
  double time, value, last = -1, last_share = -1;
  gboolean ok = TRUE, share;

  g_free (name);
  if (!equals || !points[0])
    ok = fail (error, text, FORM);
  else if (!strncmp (text, "regions=", strlen ("regions=")))
    ok = fail (error, text, "regions stand still; boxes move by --boxes");
  else if (!spec || !(spec->flags & GST_PARAM_CONTROLLABLE))
    ok = fail (error, text,
        "cudaconvolve has no such property that can be controlled; see gst-inspect-1.0 cudaconvolve");
  for (char **point = points; ok && *point; point++) {
    if (!read_point (*point, &share, &time, &value))
      ok = fail (error, text, FORM);
    else if (time < 0 || (share && time > 100) || time > 1e9)
      ok = fail (error, text, "a time is below 0, or above 100%");
    else if (share ? time <= last_share : time <= last)
      ok = fail (error, text, "times have to ascend");
    else if (!takes (spec, value))
      ok = fail (error, text, "a value is not in the range of the property; see gst-inspect-1.0 cudaconvolve");
    else if (source)
      gst_timed_value_control_source_set (source,
          share ? (GstClockTime) (duration * (time / 100)) : (GstClockTime) (time * GST_SECOND), value);
    *(share ? &last_share : &last) = time;
  }
  g_strfreev (points);
  return ok;
}

gboolean
keyframes_check (char *const *texts, GstElement *element, GError **error)
{
  for (; texts && *texts; texts++)
    if (!read_text (*texts, element, NULL, 0, error))
      return FALSE;
  return TRUE;
}

gboolean
keyframes_set (char *const *texts, GstElement *element, GstElement *film, GError **error)
{
  for (; texts && *texts; texts++) {
    GstControlSource *source = gst_interpolation_control_source_new ();
    char *name = g_strndup (*texts, strcspn (*texts, "="));
    gint64 duration = 0;
    gboolean ok = TRUE;

    if (strchr (*texts, '%') && (!gst_element_query_duration (film, GST_FORMAT_TIME, &duration) || duration <= 0))
      ok = fail (error, *texts, "the film does not tell its duration; write times in seconds");
    g_object_set (source, "mode", GST_INTERPOLATION_MODE_CUBIC_MONOTONIC, NULL);
    ok = ok && read_text (*texts, element, GST_TIMED_VALUE_CONTROL_SOURCE (source), duration, error);
    /* Absolute values are those of the property. Otherwise 0 to 1 would stand for the property's whole range. */
    if (ok)
      gst_object_add_control_binding (GST_OBJECT (element),
          gst_direct_control_binding_new_absolute (GST_OBJECT (element), name, source));
    gst_object_unref (source);
    g_free (name);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}
