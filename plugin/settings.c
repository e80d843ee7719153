/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "settings.h"

struct _GstCudaConvolveSettings
{
  GstElement *element;

  /* Under the element's object lock. */
  ConvolveProperties set;     /* as the user reads them */
  ConvolveProperties applied; /* as the next frame uses them */
  gboolean changed;           /* applied changed since take() */
};

GstCudaConvolveSettings *
gst_cuda_convolve_settings_new (GstElement *element)
{
  GstCudaConvolveSettings *settings = g_new0 (GstCudaConvolveSettings, 1);

  settings->element = element;
  convolve_properties_init (&settings->set);
  convolve_properties_init (&settings->applied);
  return settings;
}

void
gst_cuda_convolve_settings_free (GstCudaConvolveSettings *settings)
{
  convolve_properties_clear (&settings->set);
  convolve_properties_clear (&settings->applied);
  g_free (settings);
}

gboolean
gst_cuda_convolve_settings_set (GstCudaConvolveSettings *settings, guint index, const GValue *value)
{
  gboolean known;

  GST_OBJECT_LOCK (settings->element);
  known = convolve_properties_set (&settings->set, index, value);
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
  settings->changed = TRUE;
  GST_OBJECT_UNLOCK (settings->element);
}

gboolean
gst_cuda_convolve_settings_take (GstCudaConvolveSettings *settings, ConvolveProperties *used)
{
  gboolean changed;

  GST_OBJECT_LOCK (settings->element);
  changed = settings->changed;
  settings->changed = FALSE;
  if (changed) {
    convolve_properties_clear (used);
    convolve_properties_copy (used, &settings->applied);
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
