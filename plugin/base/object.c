/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/object.h"

static GObjectClass *parent_class;

enum
{
  PROP_ACTIVE_VARIANT = 1,
  PROP_STATS,
  PROP_MASK_INFO,
  PROP_FIRST_SETTING /* the first property in the table of props/ */
};

static void
set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);

  if (!gst_cuda_convolve_settings_set (self->settings, id - PROP_FIRST_SETTING, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

/* GObject calls this function once for all properties of one g_object_set(). */
static void
dispatch_properties_changed (GObject *object, guint n, GParamSpec **specs)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);
  gboolean written = FALSE;

  for (guint i = 0; i < n; i++)
    written |= specs[i]->owner_type == GST_TYPE_CUDA_CONVOLVE && (specs[i]->flags & G_PARAM_WRITABLE);
  if (written)
    gst_cuda_convolve_settings_apply (self->settings);
  parent_class->dispatch_properties_changed (object, n, specs);
}

static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaConvolve *self = GST_CUDA_CONVOLVE (object);

  switch (id) {
    case PROP_ACTIVE_VARIANT:
      g_value_set_string (value, gst_cuda_convolve_stats_get_variant (self->stats));
      break;
    case PROP_STATS:
      g_value_take_boxed (value, gst_cuda_convolve_stats_make_structure (self->stats));
      break;
    case PROP_MASK_INFO:
      g_value_take_boxed (value, gst_cuda_convolve_stats_make_mask_structure (self->stats));
      break;
    default:
      if (!gst_cuda_convolve_settings_get (self->settings, id - PROP_FIRST_SETTING, value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

/* The read-only properties. Properties that the user sets are in props/. */
static void
install_results (GObjectClass *klass)
{
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (klass, PROP_ACTIVE_VARIANT,
      g_param_spec_string ("active-variant", "Active variant",
          "Kernel variant that runs, several with commas where planes use different ones; "
          "\"passthrough\" where the mask changes nothing, NULL before the first frame",
          NULL, readable));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Structure with frames (how many were convolved since start), variant, backend (cuda, cpu or none), device, "
          "and upload-time, kernel-time and download-time: mean nanoseconds for one frame; the three overlap",
          GST_TYPE_STRUCTURE, readable));
  g_object_class_install_property (klass, PROP_MASK_INFO,
      g_param_spec_boxed ("mask-info", "Mask information",
          "The mask of the first plane, after anchors, flip and mix: width, height, weights, sum, divisor, gain (sum of "
          "magnitudes by divisor), offset, rank, exact (rounded exactly), reproducible (same bytes on every device), "
          "combination and number of sets of weights; NULL before a frame and for a layer",
          GST_TYPE_STRUCTURE, readable));
}

void
gst_cuda_convolve_install_properties (GObjectClass *klass)
{
  parent_class = g_type_class_peek_parent (klass);
  klass->set_property = set_property;
  klass->get_property = get_property;
  klass->dispatch_properties_changed = dispatch_properties_changed;
  install_results (klass);
  convolve_properties_install (klass, PROP_FIRST_SETTING);
}
