/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inner/light.h"

#include "masks/mask_text.h"
#include "plans/components.h"
#include "properties/enums.h"

ConvolveTransfer
gst_cuda_convolve_light_transfer (const GstVideoInfo *info, gboolean *known)
{
  if (known)
    *known = TRUE;
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
      return CONVOLVE_TRANSFER_SRGB;
    default:
      if (known)
        *known = FALSE;
      return CONVOLVE_TRANSFER_SRGB;
  }
}

/* A code value of the outer pixel as a word. */
static gint
in_words (const ConvolvePixel *outer, gint code)
{
  const gint64 most = (1 << outer->depth) - 1;

  return (code * (gint64) G_MAXUINT16 + most / 2) / most;
}

/* The zero level and the range of a sample in words: those of light, or in proportion. */
static void
widen_levels (ConvolvePixel *pixel, gint k, const ConvolvePixel *outer, gint component, gboolean linear)
{
  gboolean light = linear && component != GST_VIDEO_COMP_A;

  pixel->zero[k] = light ? 0 : in_words (outer, outer->zero[k]);
  pixel->range[k] = light ? G_MAXUINT16 : in_words (outer, outer->range[k]);
}

/* The frames behind the step: each sample becomes a word, and stays in its place. */
static void
widen (GstCudaConvolveLayout *layout, gboolean linear)
{
  for (guint i = 0; i < layout->n_groups; i++) {
    GstCudaConvolveGroup *group = &layout->groups[i];
    ConvolvePixel *pixel = &group->pixel, outer = group->pixel;

    pixel->type = CONVOLVE_SAMPLE_U16;
    pixel->depth = 16;
    pixel->shift = 0;
    pixel->swapped = FALSE;
    pixel->stride = pixel->samples * sizeof (guint16);
    for (gint k = 0; k < pixel->samples; k++) {
      widen_levels (pixel, k, &outer, group->component[k], linear);
      /* Outside of the picture is opaque. */
      if (layout->weighed && group->component[k] == GST_VIDEO_COMP_A)
        pixel->zero[k] = G_MAXUINT16;
    }
    layout->planes[group->plane].row_bytes = (gsize) group->width * pixel->stride;
  }
}

/* Whether every group is a plane of its own, dense, and as large as the picture. */
static gboolean
is_fine (const GstCudaConvolveLayout *layout)
{
  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];
    const gint size = group->pixel.type == CONVOLVE_SAMPLE_U8 ? 1 : 2;

    if (group->x_step > 1 || group->y_step > 1 || group->offset > 0
        || group->pixel.stride != group->pixel.samples * size)
      return FALSE;
  }
  return layout->n_groups == layout->n_planes;
}

/* A mask with an offset gives invisible pixels a colour that is not theirs. */
static ConvolveStatus
find_offset (const ConvolveSettings *settings, gboolean *has, ConvolveError *error)
{
  g_autoptr (GError) bad = NULL;
  ConvolveMask mask;

  if (convolve_settings_make_mask (settings, 1, 1, &mask, &bad)) {
    *has = mask.offset != 0;
    convolve_mask_clear (&mask);
    return CONVOLVE_OK;
  }
  error->status = g_error_matches (bad, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_NO_MEMORY) ? CONVOLVE_NO_MEMORY
                                                                                              : CONVOLVE_INVALID;
  error->native = 0;
  g_strlcpy (error->text, bad->message, sizeof (error->text));
  return error->status;
}

gboolean
gst_cuda_convolve_light_may_weigh (const ConvolveProperties *properties)
{
  const ConvolveRegionSettings *region = &properties->region;
  const ConvolveRegionEffect effect = convolve_region_settings_effect (region);

  if (properties->alpha != CONVOLVE_ALPHA_MODE_WEIGH)
    return FALSE;
  if (region->apply_to == CONVOLVE_APPLY_TO_FRAME)
    return TRUE;
  return (effect == CONVOLVE_REGION_EFFECT_MASK || effect == CONVOLVE_REGION_EFFECT_PIXELATE)
      && !(region->sources & CONVOLVE_REGION_SOURCE_ALPHA);
}

ConvolveStatus
gst_cuda_convolve_light_weighs (const GstCudaConvolveLayout *layout, const ConvolveProperties *properties,
    gboolean *weighs, ConvolveError *error)
{
  const GstVideoInfo *info = &layout->info;
  const guint colors = GST_VIDEO_INFO_IS_RGB (info)
      ? CONVOLVE_COMPONENT_R | CONVOLVE_COMPONENT_G | CONVOLVE_COMPONENT_B
      : CONVOLVE_COMPONENT_Y | CONVOLVE_COMPONENT_U | CONVOLVE_COMPONENT_V;
  gboolean has_offset = FALSE;
  ConvolveStatus status = CONVOLVE_OK;

  *weighs = GST_VIDEO_INFO_HAS_ALPHA (info) && !(info->flags & GST_VIDEO_FLAG_PREMULTIPLIED_ALPHA)
      && gst_cuda_convolve_light_may_weigh (properties)
      && (properties->components & (colors | CONVOLVE_COMPONENT_A)) == colors && is_fine (layout);
  if (*weighs && convolve_region_settings_take_mask (&properties->region))
    status = find_offset (&properties->mask, &has_offset, error);
  *weighs = *weighs && !has_offset;
  return status;
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
    const ConvolveLightRole role = role_of (group->component[k]);
    const guint number = light->planes > 1 ? group->plane : (guint) k;

    light->role[number] = role;
    light->about[number] = group->pixel.zero[k];
    if (role == CONVOLVE_LIGHT_COLOR) {
      light->zero = group->pixel.zero[k];
      light->range = group->pixel.range[k];
    }
  }
}

gboolean
gst_cuda_convolve_light_find (GstCudaConvolveStep *step, const GstCudaConvolveLayout *layout, const GstVideoInfo *caps,
    const ConvolveProperties *properties, gboolean weighs, ConvolveError *error)
{
  const gboolean linear = properties->light == CONVOLVE_LIGHT_MODE_LINEAR;
  const GstVideoInfo *info = &layout->info;
  ConvolveLight *light = &step->light;

  if (linear && GST_VIDEO_INFO_IS_YUV (info)) {
    *error = (ConvolveError){ .status = CONVOLVE_UNSUPPORTED };
    g_snprintf (error->text, sizeof (error->text),
        "light: linear takes frames of red, green and blue, or gray, and these are %s; put "
        "\"videoconvert ! video/x-raw,format=RGBA\" before the element, or set light=coded",
        GST_VIDEO_INFO_NAME (caps));
    return FALSE;
  }
  *step = (GstCudaConvolveStep){ .layout = *layout, .make_form = make_form };
  *light = (ConvolveLight){ .pixel = layout->groups[0].pixel,
    .planes = layout->n_planes,
    .weighs = weighs,
    .leaves_unseen = properties->region.apply_to != CONVOLVE_APPLY_TO_FRAME };
  if (linear)
    light->transfer = gst_cuda_convolve_light_transfer (info, NULL);
  for (guint i = 0; i < layout->n_groups; i++)
    add_roles (light, &layout->groups[i]);
  step->layout.transfer = light->transfer;
  step->layout.weighed = weighs;
  widen (&step->layout, light->transfer != CONVOLVE_TRANSFER_LINEAR);
  return TRUE;
}
