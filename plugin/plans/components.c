/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans/components.h"

#include "properties/enums.h"

/* The flag of a component of the format. */
static guint
flag_of (const GstVideoFormatInfo *finfo, gint component)
{
  static const guint yuv[] = { CONVOLVE_COMPONENT_Y, CONVOLVE_COMPONENT_U, CONVOLVE_COMPONENT_V, CONVOLVE_COMPONENT_A };
  static const guint rgb[] = { CONVOLVE_COMPONENT_R, CONVOLVE_COMPONENT_G, CONVOLVE_COMPONENT_B, CONVOLVE_COMPONENT_A };

  return GST_VIDEO_FORMAT_INFO_IS_RGB (finfo) ? rgb[component] : yuv[component];
}

void
gst_cuda_convolve_components_choose (GstCudaConvolveLayout *layout, guint components)
{
  for (guint i = 0; i < layout->n_groups; i++) {
    GstCudaConvolveGroup *group = &layout->groups[i];

    group->pixel.select = 0;
    for (gint k = 0; k < group->pixel.samples; k++)
      if (group->component[k] >= 0 && (components & flag_of (layout->info.finfo, group->component[k])))
        group->pixel.select |= 1u << k;
    group->pixel.biased &= group->pixel.select;
  }
}

gchar *
gst_cuda_convolve_components_explain (const GstCudaConvolveLayout *layout, guint components)
{
  const GstVideoFormatInfo *finfo = layout->info.finfo;
  g_autofree gchar *chosen = convolve_flags_text (CONVOLVE_TYPE_COMPONENTS, components), *present = NULL;
  guint flags = 0;

  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (finfo); i++)
    flags |= flag_of (finfo, i);
  if (flags & components)
    return NULL;
  present = convolve_flags_text (CONVOLVE_TYPE_COMPONENTS, flags);
  return g_strdup_printf ("components: %s chooses nothing of the frames, which are %s and have %s; they pass unchanged",
      chosen, GST_VIDEO_FORMAT_INFO_NAME (finfo), present);
}
