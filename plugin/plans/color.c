/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plans/color.h"

#include <math.h>

/* The component's share of its range: 0..1, and -0.5..0.5 for chroma. */
static gdouble
component_of (const GstVideoInfo *info, guint component, const gdouble rgb[3])
{
  gdouble kr, kb, luma;

  if (GST_VIDEO_INFO_IS_RGB (info))
    return rgb[component];
  if (!gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  luma = kr * rgb[0] + (1 - kr - kb) * rgb[1] + kb * rgb[2];
  switch (component) {
    case GST_VIDEO_COMP_U:
      return (rgb[2] - luma) / (2 * (1 - kb));
    case GST_VIDEO_COMP_V:
      return (rgb[0] - luma) / (2 * (1 - kr));
    default:
      return luma;
  }
}

void
gst_cuda_convolve_color_values (const GstCudaConvolveLayout *layout, const GstCudaConvolveGroup *group, guint color,
    gint *values)
{
  const gdouble rgb[3] = { (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0, (color & 255) / 255.0 };
  const ConvolvePixel *pixel = &group->pixel;

  for (gint i = 0; i < CONVOLVE_MAX_SAMPLES; i++) {
    values[i] = 0;
    if (i < pixel->samples && (pixel->select >> i & 1)) {
      gboolean alpha = group->component[i] == GST_VIDEO_COMP_A;
      gdouble share = alpha ? (color >> 24) / 255.0 : component_of (&layout->info, group->component[i], rgb);

      if (!alpha && layout->transfer != CONVOLVE_TRANSFER_LINEAR)
        share = convolve_transfer_decode (layout->transfer, share);
      values[i] = CLAMP (floor (pixel->zero[i] + pixel->range[i] * share + 0.5), 0, (1 << pixel->depth) - 1);
    }
  }
}
