/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/settings.h"

#include <string.h>

#include "files/kept_file.h"
#include "report/debug.h"

struct _GstCudaConvolveSettings
{
  GstElement *element;

  /* Under the element's object lock. */
  ConvolveProperties *set;     /* as the user reads them */
  gboolean set_is_shared;      /* others own set, too, which must not change then */
  ConvolveProperties *applied; /* as the next frame uses them */
  gboolean changed;            /* applied changed since take() */
  GThread *syncing;            /* on which control bindings set properties now, or NULL */

  /* The streaming thread's own, and that of the start. */
  ConvolveProperties *used;     /* as frames use them */
  ConvolveProperties *at_start; /* as the element started with them */
  gchar *late;                  /* the properties that were set after the start, as the user was told; or NULL */
  GPtrArray *idle;              /* the sentences that stand in the log, or NULL */
  GPtrArray *uncovered;         /* those that stand on the bus, or NULL */
};

GstCudaConvolveSettings *
gst_cuda_convolve_settings_new (GstElement *element, const ConvolvePropertyTable *table)
{
  GstCudaConvolveSettings *settings = g_new0 (GstCudaConvolveSettings, 1);

  settings->element = element;
  settings->set = convolve_properties_new (table);
  settings->applied = convolve_properties_ref (settings->set);
  settings->used = convolve_properties_ref (settings->set);
  settings->at_start = convolve_properties_ref (settings->set);
  settings->set_is_shared = TRUE;
  return settings;
}

void
gst_cuda_convolve_settings_free (GstCudaConvolveSettings *settings)
{
  convolve_properties_unref (settings->set);
  convolve_properties_unref (settings->applied);
  convolve_properties_unref (settings->used);
  convolve_properties_unref (settings->at_start);
  gst_cuda_convolve_settings_forget_sentences (settings);
  g_free (settings->late);
  g_free (settings);
}

gboolean
gst_cuda_convolve_settings_set (GstCudaConvolveSettings *settings, guint index, const GValue *value)
{
  gboolean known;

  GST_OBJECT_LOCK (settings->element);
  if (settings->set_is_shared) {
    ConvolveProperties *shared = settings->set;

    settings->set = convolve_properties_copy (shared);
    settings->set_is_shared = FALSE;
    convolve_properties_unref (shared);
  }
  known = convolve_properties_set (settings->set, index, value, settings->syncing == g_thread_self ());
  GST_OBJECT_UNLOCK (settings->element);
  return known;
}

gboolean
gst_cuda_convolve_settings_get (GstCudaConvolveSettings *settings, guint index, GValue *value)
{
  gboolean known;

  GST_OBJECT_LOCK (settings->element);
  known = convolve_properties_get (settings->set, index, value);
  GST_OBJECT_UNLOCK (settings->element);
  return known;
}

static void
set_syncing (GstCudaConvolveSettings *settings, GThread *thread)
{
  GST_OBJECT_LOCK (settings->element);
  settings->syncing = thread;
  GST_OBJECT_UNLOCK (settings->element);
}

void
gst_cuda_convolve_settings_sync (GstCudaConvolveSettings *settings, GstClockTime time)
{
  set_syncing (settings, g_thread_self ());
  gst_object_sync_values (GST_OBJECT (settings->element), time);
  set_syncing (settings, NULL);
}

/* A reference to the settings as the user reads them. The caller has the lock. */
static ConvolveProperties *
share_set (GstCudaConvolveSettings *settings)
{
  settings->set_is_shared = TRUE;
  return convolve_properties_ref (settings->set);
}

/* Puts another value, which it takes, in the place of the one before. */
static void
replace (ConvolveProperties **place, ConvolveProperties *properties)
{
  convolve_properties_unref (*place);
  *place = properties;
}

void
gst_cuda_convolve_settings_apply (GstCudaConvolveSettings *settings)
{
  GST_OBJECT_LOCK (settings->element);
  replace (&settings->applied, share_set (settings));
  settings->changed = TRUE;
  GST_OBJECT_UNLOCK (settings->element);
}

void
gst_cuda_convolve_settings_renew (GstCudaConvolveSettings *settings)
{
  GST_OBJECT_LOCK (settings->element);
  if (settings->set->mask.file)
    convolve_kept_file_forget (settings->set->mask.file);
  settings->changed = TRUE;
  replace (&settings->at_start, share_set (settings));
  g_clear_pointer (&settings->late, g_free);
  GST_OBJECT_UNLOCK (settings->element);
}

/* Tells of properties that are read at start and were set after it. */
static void
tell_late (GstCudaConvolveSettings *settings)
{
  gchar *names = convolve_properties_list_late (settings->used, settings->at_start);

  if (names && g_strcmp0 (names, settings->late) != 0)
    GST_ELEMENT_WARNING (settings->element, LIBRARY, SETTINGS,
        ("%s: %s effect when the element starts again, from READY to PAUSED", names,
            strstr (names, " and ") ? "take" : "takes"),
        (NULL));
  g_free (settings->late);
  settings->late = names;
}

gboolean
gst_cuda_convolve_settings_take (GstCudaConvolveSettings *settings)
{
  gboolean changed;

  GST_OBJECT_LOCK (settings->element);
  changed = settings->changed;
  settings->changed = FALSE;
  if (changed)
    replace (&settings->used, convolve_properties_ref (settings->applied));
  GST_OBJECT_UNLOCK (settings->element);
  if (changed)
    tell_late (settings);
  return changed;
}

ConvolveProperties *
gst_cuda_convolve_settings_get_used (GstCudaConvolveSettings *settings)
{
  return settings->used;
}

ConvolveProperties *
gst_cuda_convolve_settings_ref_set (GstCudaConvolveSettings *settings)
{
  ConvolveProperties *properties;

  GST_OBJECT_LOCK (settings->element);
  properties = share_set (settings);
  GST_OBJECT_UNLOCK (settings->element);
  return properties;
}

ConvolveProperties *
gst_cuda_convolve_settings_ref_applied (GstCudaConvolveSettings *settings)
{
  ConvolveProperties *properties;

  GST_OBJECT_LOCK (settings->element);
  properties = convolve_properties_ref (settings->applied);
  GST_OBJECT_UNLOCK (settings->element);
  return properties;
}

/* --- sentences for the user --- */

/* Whether the property whose name is the first part of the text has a control binding that works. */
static gboolean
is_driven (GstElement *element, const gchar *text, gsize length)
{
  g_autofree gchar *name = g_strndup (text, length);
  GstControlBinding *binding = gst_object_get_control_binding (GST_OBJECT (element), name);
  gboolean driven = binding && !gst_control_binding_is_disabled (binding);

  g_clear_pointer (&binding, gst_object_unref);
  return driven;
}

gboolean
gst_cuda_convolve_settings_have_told (GstElement *element, const gchar *before, const gchar *text)
{
  gsize length = strcspn (text, ":");

  if (!before || g_str_equal (before, text))
    return before != NULL;
  return strncmp (before, text, length + 1) == 0 && is_driven (element, text, length);
}

static gboolean
has_sentence (GstElement *element, const GPtrArray *sentences, const gchar *sentence)
{
  for (guint i = 0; sentences && i < sentences->len; i++)
    if (gst_cuda_convolve_settings_have_told (element, g_ptr_array_index (sentences, i), sentence))
      return TRUE;
  return FALSE;
}

/* GST_ELEMENT_WARNING would log the sentence, too, and most of these sentences are in the log already. */
static void
post_warning (GstElement *element, const gchar *sentence)
{
  gst_element_message_full (element, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      g_strdup (sentence), NULL, __FILE__, G_STRFUNC, __LINE__);
}

void
gst_cuda_convolve_settings_tell_sentences (GstCudaConvolveSettings *settings, GPtrArray *idle, GPtrArray *uncovered)
{
  for (guint i = 0; i < idle->len; i++)
    if (!has_sentence (settings->element, settings->idle, g_ptr_array_index (idle, i)))
      GST_WARNING_OBJECT (settings->element, "%s", (const gchar *) g_ptr_array_index (idle, i));
  for (guint i = 0; i < uncovered->len; i++)
    if (!has_sentence (settings->element, settings->uncovered, g_ptr_array_index (uncovered, i)))
      post_warning (settings->element, g_ptr_array_index (uncovered, i));
  gst_cuda_convolve_settings_forget_sentences (settings);
  settings->idle = idle;
  settings->uncovered = uncovered;
}

void
gst_cuda_convolve_settings_forget_sentences (GstCudaConvolveSettings *settings)
{
  g_clear_pointer (&settings->idle, g_ptr_array_unref);
  g_clear_pointer (&settings->uncovered, g_ptr_array_unref);
}
