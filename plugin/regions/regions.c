/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/regions.h"

#include "regions/faults.h"
#include "regions/state.h"
#include "regions/turns.h"
#include "plans/color.h"
#include "masks/mask_text.h"

/* --- mattes --- */

static void
forget_mask (GstCudaConvolveRegions *regions)
{
  if (regions->mask_on_device)
    convolve_device_release (regions->work.device, regions->mask_on_device);
  regions->mask_on_device = NULL;
  if (!regions->leader)
    g_free (regions->mask_plane);
  regions->mask_plane = NULL;
  g_clear_pointer (&regions->mask, convolve_kept_file_unref);
}

/* Makes the plane of the picture, unless it is that of the settings before. The picture can be read. */
static void
take_mask (GstCudaConvolveRegions *regions, ConvolveKeptFile *mask)
{
  const GstVideoInfo *info = &regions->plans->work.in.info;
  g_autoptr (ConvolveImage) image = mask ? convolve_kept_file_read (mask, NULL) : NULL;

  if (mask == regions->mask)
    return;
  forget_mask (regions);
  if (!image)
    return;
  regions->mask = convolve_kept_file_ref (mask);
  regions->mask_plane = gst_cuda_convolve_matte_scale (image, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
      &regions->mask_bounds);
}

/* --- the picture that fills boxes --- */

static void
forget_filling (GstCudaConvolveRegions *regions)
{
  if (regions->filling.on_device)
    convolve_device_release (regions->work.device, regions->filling.on_device);
  regions->filling.on_device = NULL;
  gst_cuda_convolve_filling_clear (&regions->filling);
}

static void
take_filling (GstCudaConvolveRegions *regions, const ConvolveRegionSettings *settings)
{
  ConvolveKeptFile *file = settings->effect == CONVOLVE_REGION_EFFECT_FILL ? settings->picture : NULL;

  if (!gst_cuda_convolve_filling_differs (&regions->filling, file, settings->color))
    return;
  forget_filling (regions);
  gst_cuda_convolve_filling_make (&regions->filling, file, settings->color, &regions->plans->work.in);
}

/* --- boxes --- */

/* Adds the patches of mattes to those of boxes. */
static void
find_mattes (GstCudaConvolveRegions *regions, const ConvolveRegionSettings *settings)
{
  ConvolveRect frame = { 0, 0, regions->picture.width, regions->picture.height };

  if (regions->mask && regions->mask_bounds.width > 0)
    gst_cuda_convolve_patches_add_matte (&regions->patches, settings, GST_CUDA_CONVOLVE_MATTE_PICTURE,
        regions->mask_bounds, &regions->picture);
  if (settings->sources & CONVOLVE_REGION_SOURCE_ALPHA)
    gst_cuda_convolve_patches_add_matte (&regions->patches, settings, GST_CUDA_CONVOLVE_MATTE_ALPHA, frame,
        &regions->picture);
}

gboolean
gst_cuda_convolve_regions_set (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    ConvolveProperties *properties, ConvolveError *error)
{
  g_autoptr (GError) bad = NULL;

  if (!convolve_region_settings_check (&properties->region, &properties->mask, &bad)
      || !gst_cuda_convolve_detections_set (detections, &properties->region, &bad)) {
    if (error) {
      *error = (ConvolveError){ .status = CONVOLVE_INVALID };
      g_strlcpy (error->text, bad->message, sizeof (error->text));
    }
    return FALSE;
  }
  if (properties->region.effect == CONVOLVE_REGION_EFFECT_NOISE_PIXELATE
      && !gst_cuda_convolve_noise_set_seed (regions->noise, properties->region.seed)) {
    if (error)
      *error = (ConvolveError){ CONVOLVE_INVALID, 0,
        "region-seed: the system gives no random numbers for a secret key; a number above 0 is a key that is known" };
    return FALSE;
  }
  g_clear_pointer (&regions->properties, convolve_properties_unref);
  regions->properties = convolve_properties_ref (properties);
  gst_cuda_convolve_patches_forget (&regions->patches);
  for (guint i = 0; i < regions->plans->work.in.n_groups; i++)
    gst_cuda_convolve_color_values (&regions->plans->work.in, &regions->plans->work.in.groups[i],
        properties->region.color, regions->fill[i]);
  regions->work.is_identity = properties->region.effect == CONVOLVE_REGION_EFFECT_MASK
      && properties->region.strength < 0 && GST_CUDA_CONVOLVE_WORK (regions->plans)->is_identity;
  take_mask (regions, properties->region.mask);
  take_filling (regions, &properties->region);
  gst_cuda_convolve_regions_look_at_text (regions);
  return TRUE;
}

/* What was done for the frame before is not what is to be done. */
static void
outdate (GstCudaConvolveRegions *regions)
{
  regions->kept.is_valid = FALSE;
  regions->n_changes++;
}

/* Gives each patch the number of its noise. */
static void
number_patches (GstCudaConvolveRegions *regions)
{
  if (regions->properties->region.effect != CONVOLVE_REGION_EFFECT_NOISE_PIXELATE)
    return;
  gst_cuda_convolve_noise_begin (regions->noise);
  for (guint i = 0; i < regions->patches.patches->len; i++) {
    GstCudaConvolvePatch *patch = &g_array_index (regions->patches.patches, GstCudaConvolvePatch, i);

    patch->number = gst_cuda_convolve_noise_number (regions->noise, patch->rect);
  }
}

/* Finds the patches of the frame, which often has the boxes of the frame before. */
static void
find_patches (GstCudaConvolveRegions *regions, const GArray *found)
{
  const ConvolveRegionSettings *settings = &regions->properties->region;

  if (!regions->whole && gst_cuda_convolve_patches_are_of (&regions->patches, found))
    return;
  outdate (regions);
  if (regions->whole) {
    gst_cuda_convolve_patches_take_frame (&regions->patches, settings, &regions->picture);
  } else {
    gst_cuda_convolve_patches_find (&regions->patches, settings, found, &regions->picture);
    find_mattes (regions, settings);
  }
}

/*
 * Smooths the weights of the frame's boxes and picture, which then stand for both. Where the whole frame is changed, no part of it
 * stays in sight. FALSE without memory: then the weights stay as they are.
 */
static gboolean
smooth_weights (GstCudaConvolveRegions *regions, const GstCudaConvolveMoment *now)
{
  const ConvolveRegionSettings *settings = &regions->properties->region;
  const gint width = regions->picture.width, height = regions->picture.height;
  const GstCudaConvolvePatches *patches = &regions->patches;
  const GstCudaConvolvePatch *patch;
  ConvolveMatte matte;
  ConvolveExtras extras;
  ConvolveArea area;

  if (settings->apply_to != CONVOLVE_APPLY_TO_OUTSIDE_REGIONS || settings->smooth == 0 || patches->patches->len == 0) {
    gst_cuda_convolve_smooth_forget (regions->smooth);
    return FALSE;
  }
  if (regions->whole) {
    gst_cuda_convolve_smooth_advance (regions->smooth, width, height, NULL, now, settings->smooth, regions->pool);
    return FALSE;
  }
  outdate (regions);
  patch = &g_array_index (patches->patches, GstCudaConvolvePatch, 0);
  matte = gst_cuda_convolve_matte_of_plane (regions->mask_plane, width, height);
  gst_cuda_convolve_patch_area (patches, patch, &area, &extras);
  extras.mattes = &matte;
  extras.n_mattes = patch->mattes & GST_CUDA_CONVOLVE_MATTE_PICTURE ? 1 : 0;
  return gst_cuda_convolve_smooth_advance (regions->smooth, width, height,
      area.count > 0 || extras.n_mattes > 0 ? &area : NULL, now, settings->smooth, regions->pool);
}

gboolean
gst_cuda_convolve_regions_find (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    GstBuffer *buffer)
{
  const ConvolveRegionSettings *settings = &regions->properties->region;
  const GstVideoInfo *info = &regions->plans->work.in.info;
  gboolean lost, needs_alpha = (settings->sources & CONVOLVE_REGION_SOURCE_ALPHA) && !regions->has_alpha;
  const GArray *found = gst_cuda_convolve_detections_find (detections, buffer, info, &lost);

  regions->faults = regions->text_faults | (needs_alpha ? GST_CUDA_CONVOLVE_THERE_IS_NO_ALPHA : 0);
  regions->whole = gst_cuda_convolve_detections_are_too_many (detections) ? "too-many-boxes"
      : regions->text_faults & GST_CUDA_CONVOLVE_TEXT_IS_OUTSIDE          ? "regions-outside"
      : lost && settings->fallback == CONVOLVE_REGION_FALLBACK_FRAME      ? "no-metadata"
      : needs_alpha                                                       ? "no-alpha"
                                                                          : NULL;
  find_patches (regions, found);
  number_patches (regions);
  if (!regions->whole && regions->mask && regions->mask_bounds.width == 0)
    regions->faults |= GST_CUDA_CONVOLVE_MASK_IS_BLACK;
  if (regions->patches.limited)
    regions->whole = "too-many-boxes";
  if (gst_cuda_convolve_regions_metadata_is_outside (regions, found,
          gst_cuda_convolve_detections_count_text (detections)))
    regions->faults |= GST_CUDA_CONVOLVE_METADATA_IS_OUTSIDE;
  if (regions->patches.limited)
    regions->faults |= GST_CUDA_CONVOLVE_BOXES_ARE_LIMITED;
  regions->is_smooth = smooth_weights (regions, gst_cuda_convolve_detections_now (detections));
  if (!settings->active) {
    gst_cuda_convolve_patches_forget (&regions->patches);
    regions->whole = NULL;
  }
  return regions->patches.patches->len > 0;
}

/* --- followers --- */

/* Borrows what the leader has for the frame that is run next. */
static void
follow (GstCudaConvolveRegions *regions)
{
  const GstCudaConvolveRegions *leader = regions->leader;

  if (regions->n_changes != leader->n_changes)
    regions->kept.is_valid = FALSE;
  regions->n_changes = leader->n_changes;
  if (regions->properties != leader->properties) {
    g_clear_pointer (&regions->properties, convolve_properties_unref);
    regions->properties = convolve_properties_ref (leader->properties);
  }
  if (regions->mask != leader->mask) {
    forget_mask (regions);
    regions->mask = leader->mask ? convolve_kept_file_ref (leader->mask) : NULL;
  }
  regions->mask_plane = leader->mask_plane;
  regions->patches = leader->patches;
  regions->is_smooth = leader->is_smooth;
}

static ConvolveStatus
follow_on_host (GstCudaConvolveWork *work, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error)
{
  follow ((GstCudaConvolveRegions *) work);
  return gst_cuda_convolve_regions_run_on_host (work, in, out, error);
}

static ConvolveStatus
follow_on_device (GstCudaConvolveWork *work, gboolean alone, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
    ConvolveError *error)
{
  follow ((GstCudaConvolveRegions *) work);
  return gst_cuda_convolve_regions_run_on_device (work, alone, in, out, error);
}

/* How far the rows of a picture may lie from each other in the frame, or its columns: those of fields and some views, by two. */
static gint
find_spread (const GstCudaConvolvePlans *plans)
{
  for (guint kind = 1; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    if (plans->group[kind][0])
      return 2;
  return 1;
}

/* How far a patch reads beyond its rectangle, in luma pixels, at most; below 0 where that may be the whole frame. */
static gint
find_margin (const GstCudaConvolveRegions *leader, const GstCudaConvolvePatch *patch)
{
  const ConvolveProperties *properties = leader->properties;
  const gint spread = find_spread (leader->plans),
             side = gst_cuda_convolve_mask_info_get_side (leader->plans->mask_info);

  if (properties->region.effect == CONVOLVE_REGION_EFFECT_PIXELATE)
    return patch->block;
  if (properties->boundary == CONVOLVE_BOUNDARY_WRAP)
    return -1;
  if (patch->strength >= 0)
    return spread * gst_cuda_convolve_strength_factor (patch->strength) * (CONVOLVE_MAX_BLUR / 2 + 2);
  return side > 0 ? spread * side : -1;
}

/* The rectangle around two. */
static ConvolveRect
unite (ConvolveRect a, ConvolveRect b)
{
  gint x = MIN (a.x, b.x), y = MIN (a.y, b.y);
  gint right = MAX (a.x + a.width, b.x + b.width), bottom = MAX (a.y + a.height, b.y + b.height);

  return (ConvolveRect){ x, y, right - x, bottom - y };
}

static gboolean
find_part (const GstCudaConvolveWork *work, ConvolveRect *part, GArray *changes)
{
  const GstCudaConvolveRegions *leader = ((const GstCudaConvolveRegions *) work)->leader;
  const GArray *patches = leader->patches.patches;
  const gint width = leader->picture.width, height = leader->picture.height;

  for (guint i = 0; i < patches->len; i++) {
    const GstCudaConvolvePatch *patch = &g_array_index (patches, GstCudaConvolvePatch, i);
    const gint margin = find_margin (leader, patch), x = MAX (patch->rect.x - margin, 0),
               y = MAX (patch->rect.y - margin, 0);
    ConvolveRect reads = { x, y, MIN (patch->rect.x + patch->rect.width + margin, width) - x,
      MIN (patch->rect.y + patch->rect.height + margin, height) - y };

    if (margin < 0)
      reads = (ConvolveRect){ 0, 0, width, height };
    *part = i == 0 ? reads : unite (*part, reads);
    g_array_append_val (changes, patch->rect);
  }
  return patches->len > 0;
}

/* --- the work --- */

static void
set_pool (GstCudaConvolveWork *work, ConvolvePool *pool)
{
  GstCudaConvolveRegions *regions = (GstCudaConvolveRegions *) work;
  GstCudaConvolveWork *plans = GST_CUDA_CONVOLVE_WORK (regions->plans);

  plans->kind->set_pool (plans, pool);
  regions->pool = pool;
  if (regions->batch)
    convolve_batch_set_pool (regions->batch, pool);
}

static void
clear_regions (gpointer data)
{
  GstCudaConvolveRegions *regions = data;

  for (guint i = 0; i < G_N_ELEMENTS (regions->by_strength); i++)
    g_free (regions->by_strength[i]);
  gst_cuda_convolve_work_unref (regions->plans);
  g_clear_pointer (&regions->properties, convolve_properties_unref);
  if (!regions->leader)
    gst_cuda_convolve_patches_clear (&regions->patches);
  g_array_unref (regions->places);
  for (guint i = 0; i < G_N_ELEMENTS (regions->windows_of); i++)
    g_array_unref (regions->windows_of[i]);
  convolve_batch_free (regions->batch); /* waits for the device */
  forget_mask (regions);
  forget_filling (regions);
  g_clear_pointer (&regions->leader, gst_cuda_convolve_work_unref);
}

static const GstCudaConvolveWorkKind kind_of_regions = {
  .size = sizeof (GstCudaConvolveRegions),
  .run_on_host = gst_cuda_convolve_regions_run_on_host,
  .run_on_device = gst_cuda_convolve_regions_run_on_device,
  .set_pool = set_pool,
  .clear = clear_regions,
};

static const GstCudaConvolveWorkKind kind_of_followers = {
  .size = sizeof (GstCudaConvolveRegions),
  .run_on_host = follow_on_host,
  .run_on_device = follow_on_device,
  .find_part = find_part,
  .set_pool = set_pool,
  .clear = clear_regions,
};

/* What leaders and followers have. */
static GstCudaConvolveRegions *
make (const GstCudaConvolveWorkKind *kind, GstCudaConvolvePlans *plans)
{
  const GstCudaConvolveLayout *layout = &plans->work.in;
  GstCudaConvolveRegions *regions = gst_cuda_convolve_work_new (kind, layout, layout);

  regions->plans = gst_cuda_convolve_work_ref (plans);
  regions->work.device = GST_CUDA_CONVOLVE_WORK (plans)->device;
  regions->work.variant = GST_CUDA_CONVOLVE_WORK (plans)->variant;
  gst_cuda_convolve_picture_init (&regions->picture, plans);
  regions->has_alpha =
      gst_cuda_convolve_matte_find_alpha (&plans->work.in, &regions->alpha_group, &regions->alpha_sample);
  regions->places = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolvePlace));
  for (guint i = 0; i < G_N_ELEMENTS (regions->windows_of); i++)
    regions->windows_of[i] = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveWindow));
  return regions;
}

GstCudaConvolveRegions *
gst_cuda_convolve_regions_new (GstCudaConvolvePlans *plans, GstCudaConvolveNoise *noise, GstCudaConvolveSmooth *smooth)
{
  GstCudaConvolveRegions *regions = make (&kind_of_regions, plans);

  gst_cuda_convolve_patches_init (&regions->patches);
  regions->noise = noise;
  regions->smooth = smooth;
  return regions;
}

GstCudaConvolveRegions *
gst_cuda_convolve_regions_new_follower (GstCudaConvolvePlans *plans, GstCudaConvolveRegions *leader)
{
  GstCudaConvolveRegions *regions = make (&kind_of_followers, plans);

  regions->leader = gst_cuda_convolve_work_ref (leader);
  regions->smooth = leader->smooth;
  return regions;
}
