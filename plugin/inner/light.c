/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inner/light.h"

ConvolveTransfer
gst_cuda_convolve_light_transfer (const GstVideoInfo *info)
{
  switch (info->colorimetry.transfer) {
    case GST_VIDEO_TRANSFER_GAMMA10:
      return CONVOLVE_TRANSFER_LINEAR;
    case GST_VIDEO_TRANSFER_GAMMA18:
      return CONVOLVE_TRANSFER_GAMMA18;
    case GST_VIDEO_TRANSFER_GAMMA20:
      return CONVOLVE_TRANSFER_GAMMA20;
    case GST_VIDEO_TRANSFER_GAMMA22:
      return CONVOLVE_TRANSFER_GAMMA22;
    case GST_VIDEO_TRANSFER_GAMMA28:
      return CONVOLVE_TRANSFER_GAMMA28;
    case GST_VIDEO_TRANSFER_ADOBERGB:
      return CONVOLVE_TRANSFER_ADOBE_RGB;
    case GST_VIDEO_TRANSFER_BT709:
    case GST_VIDEO_TRANSFER_BT601:
    case GST_VIDEO_TRANSFER_BT2020_10:
      return CONVOLVE_TRANSFER_BT709;
    case GST_VIDEO_TRANSFER_BT2020_12:
      return CONVOLVE_TRANSFER_BT2020_12;
    case GST_VIDEO_TRANSFER_SMPTE240M:
      return CONVOLVE_TRANSFER_SMPTE240M;
    case GST_VIDEO_TRANSFER_LOG100:
      return CONVOLVE_TRANSFER_LOG100;
    case GST_VIDEO_TRANSFER_LOG316:
      return CONVOLVE_TRANSFER_LOG316;
    case GST_VIDEO_TRANSFER_SMPTE2084:
      return CONVOLVE_TRANSFER_PQ;
    case GST_VIDEO_TRANSFER_ARIB_STD_B67:
      return CONVOLVE_TRANSFER_HLG;
    case GST_VIDEO_TRANSFER_SRGB:
    default:
      return CONVOLVE_TRANSFER_SRGB;
  }
}

/* The frames of light: each sample becomes a word, and stays in its place. */
static void
widen (GstCudaConvolveLayout *layout)
{
  for (guint i = 0; i < layout->n_groups; i++) {
    GstCudaConvolveGroup *group = &layout->groups[i];
    ConvolvePixel *pixel = &group->pixel;

    pixel->type = CONVOLVE_SAMPLE_U16;
    pixel->depth = 16;
    pixel->shift = 0;
    pixel->swapped = FALSE;
    pixel->stride = pixel->samples * sizeof (guint16);
    for (gint k = 0; k < pixel->samples; k++) {
      pixel->zero[k] = 0;
      pixel->range[k] = G_MAXUINT16;
    }
    layout->planes[group->plane].row_bytes = (gsize) group->width * pixel->stride;
  }
}

static ConvolveForm *
make_form (const GstCudaConvolveStep *step, ConvolveDevice *device, ConvolveError *error)
{
  return convolve_form_new_light (&step->light, device, error);
}

static ConvolveLightRole
role_of (gint component)
{
  return component == GST_VIDEO_COMP_A ? CONVOLVE_LIGHT_ALPHA
      : component >= 0                 ? CONVOLVE_LIGHT_COLOR
                                       : CONVOLVE_LIGHT_COPY;
}

/* What the samples of a group are. Several planes have one sample each. */
static void
add_roles (ConvolveLight *light, const GstCudaConvolveGroup *group)
{
  for (gint k = 0; k < group->pixel.samples; k++) {
    ConvolveLightRole role = role_of (group->component[k]);

    light->role[light->planes > 1 ? group->plane : (guint) k] = role;
    if (role == CONVOLVE_LIGHT_COLOR) {
      light->zero = group->pixel.zero[k];
      light->range = group->pixel.range[k];
    }
  }
}

gboolean
gst_cuda_convolve_light_find (GstCudaConvolveStep *step, const GstCudaConvolveLayout *layout, ConvolveError *error)
{
  const GstVideoInfo *info = &layout->info;
  const GstCudaConvolveGroup *first = &layout->groups[0];
  ConvolveLight *light = &step->light;

  if (GST_VIDEO_INFO_IS_YUV (info)) {
    *error = (ConvolveError){ .status = CONVOLVE_UNSUPPORTED };
    g_snprintf (error->text, sizeof (error->text),
        "light: linear takes frames of red, green and blue, or gray, and these are %s; put "
        "\"videoconvert ! video/x-raw,format=RGBA\" before the element, or set light=coded",
        GST_VIDEO_INFO_NAME (info));
    return FALSE;
  }
  *step = (GstCudaConvolveStep){ .layout = *layout, .make_form = make_form };
  *light = (ConvolveLight){ .pixel = first->pixel, .planes = layout->n_planes, .zero = 0 };
  light->transfer = gst_cuda_convolve_light_transfer (info);
  for (guint i = 0; i < layout->n_groups; i++)
    add_roles (light, &layout->groups[i]);
  step->layout.transfer = light->transfer;
  widen (&step->layout);
  return TRUE;
}
