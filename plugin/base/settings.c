/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/settings.h"

#include <string.h>

#include "regions/analytics.h"
#include "report/debug.h"
#include "mask_file.h"

struct _GstCudaConvolveSettings
{
  GstElement *element;

  /* Under the element's object lock. */
  ConvolveProperties set;     /* as the user reads them */
  ConvolveProperties applied; /* as the next frame uses them */
  gboolean changed;           /* applied changed since take() */
  GThread *syncing;           /* on which control bindings set properties now, or NULL */

  /* The streaming thread's own. */
  ConvolveProperties used; /* as frames use them */
  GPtrArray *idle;         /* the warnings that stand in the log, or NULL */
  GPtrArray *uncovered;    /* those that stand on the bus, or NULL */
};

GstCudaConvolveSettings *
gst_cuda_convolve_settings_new (GstElement *element)
{
  GstCudaConvolveSettings *settings = g_new0 (GstCudaConvolveSettings, 1);

  settings->element = element;
  convolve_properties_init (&settings->set);
  convolve_properties_init (&settings->applied);
  convolve_properties_init (&settings->used);
  return settings;
}

void
gst_cuda_convolve_settings_free (GstCudaConvolveSettings *settings)
{
  convolve_properties_clear (&settings->set);
  convolve_properties_clear (&settings->applied);
  convolve_properties_clear (&settings->used);
  gst_cuda_convolve_settings_forget_idle (settings);
  g_free (settings);
}

gboolean
gst_cuda_convolve_settings_set (GstCudaConvolveSettings *settings, guint index, const GValue *value)
{
  gboolean known;

  GST_OBJECT_LOCK (settings->element);
  known = convolve_properties_set (&settings->set, index, value, settings->syncing == g_thread_self ());
  GST_OBJECT_UNLOCK (settings->element);
  return known;
}

gboolean
gst_cuda_convolve_settings_get (GstCudaConvolveSettings *settings, guint index, GValue *value)
{
  gboolean known;

  GST_OBJECT_LOCK (settings->element);
  known = convolve_properties_get (&settings->set, index, value);
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

void
gst_cuda_convolve_settings_apply (GstCudaConvolveSettings *settings)
{
  GST_OBJECT_LOCK (settings->element);
  convolve_properties_clear (&settings->applied);
  convolve_properties_copy (&settings->applied, &settings->set);
  settings->changed = TRUE;
  GST_OBJECT_UNLOCK (settings->element);
}

void
gst_cuda_convolve_settings_renew (GstCudaConvolveSettings *settings)
{
  GST_OBJECT_LOCK (settings->element);
  if (settings->set.mask.file)
    convolve_mask_file_forget (settings->set.mask.file);
  settings->changed = TRUE;
  GST_OBJECT_UNLOCK (settings->element);
}

gboolean
gst_cuda_convolve_settings_take (GstCudaConvolveSettings *settings)
{
  gboolean changed;

  GST_OBJECT_LOCK (settings->element);
  changed = settings->changed;
  settings->changed = FALSE;
  if (changed) {
    convolve_properties_clear (&settings->used);
    convolve_properties_copy (&settings->used, &settings->applied);
  }
  GST_OBJECT_UNLOCK (settings->element);
  return changed;
}

void
gst_cuda_convolve_settings_copy (GstCudaConvolveSettings *settings, ConvolveProperties *copy)
{
  GST_OBJECT_LOCK (settings->element);
  convolve_properties_copy (copy, &settings->set);
  GST_OBJECT_UNLOCK (settings->element);
}

gint
gst_cuda_convolve_settings_get_device_id (GstCudaConvolveSettings *settings)
{
  gint device_id;

  GST_OBJECT_LOCK (settings->element);
  device_id = settings->set.device_id;
  GST_OBJECT_UNLOCK (settings->element);
  return device_id;
}

gboolean
gst_cuda_convolve_settings_has_layer (GstCudaConvolveSettings *settings)
{
  gboolean has_layer;

  GST_OBJECT_LOCK (settings->element);
  has_layer = convolve_layer_settings_has_layer (&settings->set.layer);
  GST_OBJECT_UNLOCK (settings->element);
  return has_layer;
}

guint
gst_cuda_convolve_settings_get_frames_in_flight (GstCudaConvolveSettings *settings)
{
  guint frames;

  GST_OBJECT_LOCK (settings->element);
  frames = settings->applied.frames_in_flight;
  GST_OBJECT_UNLOCK (settings->element);
  return frames;
}

gboolean
gst_cuda_convolve_settings_passes_buffers (GstCudaConvolveSettings *settings)
{
  gboolean passes;

  GST_OBJECT_LOCK (settings->element);
  passes = settings->applied.region.apply_to != CONVOLVE_APPLY_TO_FRAME
      && !convolve_layer_settings_has_layer (&settings->applied.layer);
  GST_OBJECT_UNLOCK (settings->element);
  return passes;
}

const ConvolveProperties *
gst_cuda_convolve_settings_get_used (GstCudaConvolveSettings *settings)
{
  return &settings->used;
}

/* --- properties without effect --- */

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

/* Whether the user asks for metadata that this build cannot read. By default any metadata will do. */
static gboolean
wants_unreadable (const ConvolveRegionSettings *region)
{
  return region->apply_to != CONVOLVE_APPLY_TO_FRAME && region->sources != CONVOLVE_REGION_SOURCES_ALL
      && (region->sources & CONVOLVE_REGION_SOURCE_ANALYTICS) && !gst_cuda_convolve_analytics_are_readable ();
}

/*
 * Posts what leaves something in sight that the user may think is covered. GST_ELEMENT_WARNING would log it, too, and most of
 * it is in the log already.
 */
static void
warn_of_uncovered (GstCudaConvolveSettings *settings, gboolean layer_runs)
{
  GPtrArray *uncovered = g_ptr_array_new_with_free_func (g_free);

  convolve_properties_add_warnings (&settings->used, layer_runs, uncovered);
  for (guint i = 0; i < uncovered->len; i++) {
    const gchar *sentence = g_ptr_array_index (uncovered, i);

    if (!has_sentence (settings->element, settings->uncovered, sentence))
      gst_element_message_full (settings->element, GST_MESSAGE_WARNING, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
          g_strdup (sentence), NULL, __FILE__, G_STRFUNC, __LINE__);
  }
  g_clear_pointer (&settings->uncovered, g_ptr_array_unref);
  settings->uncovered = uncovered;
}

void
gst_cuda_convolve_settings_warn_of_idle (GstCudaConvolveSettings *settings, gboolean layer_runs)
{
  GPtrArray *idle = g_ptr_array_new_with_free_func (g_free);

  convolve_properties_add_idle (&settings->used, layer_runs, idle);
  if (!layer_runs && wants_unreadable (&settings->used.region))
    g_ptr_array_add (idle,
        g_strdup ("region-sources: analytics has no effect: this build reads no GstAnalyticsRelationMeta, which "
                  "GStreamer has from 1.24; the source roi takes GstVideoRegionOfInterestMeta"));
  for (guint i = 0; i < idle->len; i++)
    if (!has_sentence (settings->element, settings->idle, g_ptr_array_index (idle, i)))
      GST_WARNING_OBJECT (settings->element, "%s", (const gchar *) g_ptr_array_index (idle, i));
  g_clear_pointer (&settings->idle, g_ptr_array_unref);
  settings->idle = idle;
  warn_of_uncovered (settings, layer_runs);
}

void
gst_cuda_convolve_settings_forget_idle (GstCudaConvolveSettings *settings)
{
  g_clear_pointer (&settings->idle, g_ptr_array_unref);
  g_clear_pointer (&settings->uncovered, g_ptr_array_unref);
}
