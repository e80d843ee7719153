/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/object.h"

void
gst_cuda_convolve_object_add_name (GstCudaConvolveObject *object, const gchar *name)
{
  if (object->n_names < GST_CUDA_CONVOLVE_MOST_NAMES) {
    object->names[object->n_names++] = name;
  } else {
    object->names[0] = NULL;
    object->n_names = GST_CUDA_CONVOLVE_MOST_NAMES;
  }
}

/* A number of a structure, or NaN. */
static gdouble
read_number (const GstStructure *structure, const gchar *field)
{
  const GValue *value = gst_structure_get_value (structure, field);

  if (value && G_VALUE_HOLDS_DOUBLE (value))
    return g_value_get_double (value);
  return value && G_VALUE_HOLDS_FLOAT (value) ? g_value_get_float (value) : NAN;
}

static void
read_name (GstCudaConvolveObject *object, const GstStructure *param)
{
  const gchar *label = gst_structure_get_string (param, "label");

  if (label
      && (!gst_structure_has_field (param, "confidence")
          || gst_cuda_convolve_name_is_sure (read_number (param, "confidence"))))
    gst_cuda_convolve_object_add_name (object, label);
}

GstCudaConvolveObject
gst_cuda_convolve_object_of_region (const GstVideoRegionOfInterestMeta *region, gboolean needs_names)
{
  GstCudaConvolveObject object = { .type = g_quark_to_string (region->roi_type),
    .id = GST_CUDA_CONVOLVE_NO_ID,
    .confidence = NAN };

  for (const GList *item = region->params; item; item = item->next) {
    const GstStructure *param = item->data;
    gint id;

    if (gst_structure_has_name (param, "object_id") && gst_structure_get_int (param, "id", &id) && id > 0)
      object.id = id;
    if (gst_structure_has_name (param, "detection"))
      object.confidence = gst_cuda_convolve_read_confidence (read_number (param, "confidence"));
    if (needs_names)
      read_name (&object, param);
  }
  return object;
}
