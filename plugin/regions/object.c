/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/object.h"

static gboolean
is_blank (const gchar *text)
{
  while (g_ascii_isspace (*text))
    text++;
  return *text == '\0';
}

const gchar *
gst_cuda_convolve_read_type (GQuark type)
{
  const gchar *text = g_quark_to_string (type);

  return text && is_blank (text) ? NULL : text;
}

void
gst_cuda_convolve_object_add_name (GstCudaConvolveObject *object, const gchar *name)
{
  if (is_blank (name))
    return;
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

/* A number above 0 in any type of integers, or GST_CUDA_CONVOLVE_NO_ID. */
static guint64
read_id (const GstStructure *param)
{
  const GValue *value = gst_structure_get_value (param, "id");
  GValue number = G_VALUE_INIT;
  gint64 id = 0;

  if (!value
      || !(G_VALUE_HOLDS_INT (value) || G_VALUE_HOLDS_UINT (value) || G_VALUE_HOLDS_INT64 (value)
          || G_VALUE_HOLDS_UINT64 (value)))
    return GST_CUDA_CONVOLVE_NO_ID;
  g_value_init (&number, G_TYPE_INT64);
  if (g_value_transform (value, &number))
    id = g_value_get_int64 (&number);
  return id > 0 ? (guint64) id : GST_CUDA_CONVOLVE_NO_ID;
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
  GstCudaConvolveObject object = { .type = gst_cuda_convolve_read_type (region->roi_type),
    .id = GST_CUDA_CONVOLVE_NO_ID,
    .confidence = NAN };

  for (const GList *item = region->params; item; item = item->next) {
    const GstStructure *param = item->data;

    if (gst_structure_has_name (param, "object_id") && read_id (param) != GST_CUDA_CONVOLVE_NO_ID)
      object.id = read_id (param);
    if (gst_structure_has_name (param, "detection"))
      object.confidence = gst_cuda_convolve_read_confidence (read_number (param, "confidence"));
    if (needs_names)
      read_name (&object, param);
  }
  return object;
}
