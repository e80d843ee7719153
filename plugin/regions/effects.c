/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/effects.h"

#include "plans/color.h"
#include "convolve_region.h"
#include "properties/enums.h"
#include "masks/mask_text.h"

/* --- blurs of strength classes --- */

/* The mask of a strength class for a group, after the picture was shrunk, as a blur. */
static ConvolveStatus
make_blur (const ConvolveSettings *mask_settings, const GstCudaConvolveGroup *group, gint factor, ConvolveBlur *blur,
    ConvolveError *error)
{
  g_autoptr (GError) bad = NULL;
  ConvolveMask mask;
  ConvolveStatus status;

  if (!convolve_settings_make_mask (mask_settings, group->x_step, group->y_step, &mask, &bad)) {
    *error = (ConvolveError){ .status = CONVOLVE_NO_MEMORY };
    g_strlcpy (error->text, bad->message, sizeof (error->text));
    return error->status;
  }
  status = convolve_blur_init (blur, &mask, factor, error);
  convolve_mask_clear (&mask);
  return status;
}

/* Makes the blurs of a strength class where this is the first patch of that class. */
static ConvolveStatus
ensure_strength (GstCudaConvolveRegions *regions, guint strength, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  gint factor = gst_cuda_convolve_strength_factor (strength);
  ConvolveStatus status = CONVOLVE_OK;
  ConvolveSettings mask;
  GstCudaConvolveBlurs *blurs;

  if (regions->by_strength[strength])
    return CONVOLVE_OK;
  blurs = g_new0 (GstCudaConvolveBlurs, 1);
  convolve_settings_copy (&mask, &regions->properties->mask);
  convolve_settings_set_blur (&mask, gst_cuda_convolve_strength_sigma (strength) / factor, NULL);
  for (guint kind = 0; kind < GST_CUDA_CONVOLVE_N_KINDS; kind++)
    for (guint i = 0; i < layout->n_groups && status == CONVOLVE_OK; i++) {
      GstCudaConvolveGroup seen = gst_cuda_convolve_windows_group (&layout->groups[i], kind);

      gst_cuda_convolve_color_values (layout, &layout->groups[i], regions->properties->boundary_color,
          seen.pixel.outside);
      blurs->pixel[kind][i] = seen.pixel;
      if (regions->plans->group[kind][i])
        status = make_blur (&mask, &seen, factor, &blurs->group[kind][i], error);
      /* Colours that are divided by a small alpha need the low bits, which samples of 8 bits do not keep. */
      blurs->group[kind][i].fine = layout->weighed && GST_VIDEO_INFO_COMP_DEPTH (&layout->info, 0) == 8;
    }
  convolve_settings_clear (&mask);
  if (status == CONVOLVE_OK)
    regions->by_strength[strength] = blurs;
  else
    g_free (blurs);
  return status;
}

/* --- memory --- */

ConvolveRect
gst_cuda_convolve_patch_in_group (const GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch,
    const GstCudaConvolveGroup *group)
{
  const GstCudaConvolveWindows *windows = &regions->windows;
  gint rows = windows->planes[group->plane].rows, height = GST_VIDEO_INFO_FIELD_HEIGHT (&regions->plans->work.in.info);
  gint right = patch->rect.x + patch->rect.width, bottom = patch->rect.y + patch->rect.height;
  gint x = patch->rect.x / (gint) group->x_step, y = patch->rect.y / (gint) group->y_step;

  right = MIN ((right + (gint) group->x_step - 1) / (gint) group->x_step, group->width);
  bottom = bottom >= height ? rows : MIN ((bottom + (gint) group->y_step - 1) / (gint) group->y_step, rows);
  return (ConvolveRect){ x, y, right - x, bottom - y };
}

gsize
gst_cuda_convolve_patch_bytes (const GstCudaConvolveGroup *group, ConvolveRect rect)
{
  return GST_ROUND_UP_16 ((gsize) rect.width * rect.height * group->pixel.stride);
}

/* Where pixel (0, 0) of the group would lie, if the memory of one rectangle were a part of a plane. */
static gpointer
origin_of (guint8 *bytes, const GstCudaConvolveGroup *group, ConvolveRect rect)
{
  gsize row = (gsize) rect.width * group->pixel.stride;

  return GSIZE_TO_POINTER (GPOINTER_TO_SIZE (bytes) - rect.y * row - (gsize) rect.x * group->pixel.stride);
}

/* --- the first turn: effects --- */

/* The source is the group's plane in a frame; the destination is the patch's memory. */
static ConvolvePlane
describe_plane (const GstCudaConvolveGroup *group, const GstCudaConvolvePlanePair *pair, gint rows, ConvolveRect rect,
    guint8 *bytes)
{
  return (ConvolvePlane){
    .source = pair->source + group->offset,
    .source_stride = pair->source_stride,
    .destination = origin_of (bytes, group, rect),
    .destination_stride = (gssize) rect.width * group->pixel.stride,
    .width = group->width,
    .height = rows,
    .region = rect,
  };
}

/* The mask as it is, or the blur of the patch's strength. */
static ConvolveStatus
convolve_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint group,
    const ConvolvePlane *plane, ConvolveError *error)
{
  guint kind = regions->windows.kind;
  const GstCudaConvolveBlurs *blurs;
  ConvolveStatus status;

  if (patch->strength < 0)
    return convolve_batch_convolve (regions->batch, regions->plans->group[kind][group], plane, error);
  status = ensure_strength (regions, patch->strength, error);
  if (status != CONVOLVE_OK)
    return status;
  blurs = regions->by_strength[patch->strength];
  return convolve_batch_blur (regions->batch, &blurs->pixel[kind][group], regions->properties->boundary,
      &blurs->group[kind][group], plane, error);
}

/* The patch in each window of the frame, so that no field and no view reaches into another. */
static ConvolveStatus
convolve_windows (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint number,
    const GstCudaConvolveGroup *group, const ConvolvePlane *plane, ConvolveError *error)
{
  const GArray *windows = regions->windows_of[number];
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < windows->len && status == CONVOLVE_OK; i++) {
    ConvolvePlane part;

    if (gst_cuda_convolve_window_part (&g_array_index (windows, GstCudaConvolveWindow, i), group, plane, &part))
      status = convolve_patch (regions, patch, number, &part, error);
  }
  return status;
}

/*
 * Takes the row behind the picture, the last one of the plane, out of the region. The plane is left with `rows` rows. *behind
 * is the same plane moved by one row, so that the row behind stands where the picture's last row stands. FALSE where the
 * region does not reach so far.
 */
static gboolean
split_behind (ConvolvePlane *plane, gint rows, ConvolvePlane *behind)
{
  gboolean reaches = plane->region.y + plane->region.height > rows;

  *behind = *plane;
  behind->source = (const guint8 *) plane->source + plane->source_stride;
  behind->destination = (guint8 *) plane->destination + plane->destination_stride;
  behind->height = plane->height = rows;
  behind->region.y = rows - 1;
  behind->region.height = 1;
  if (reaches)
    plane->region.height = rows - plane->region.y;
  return reaches;
}

/* No pixel of the picture sees the row behind it; that row sees the picture's last block. */
static ConvolveStatus
pixelate_patch (GstCudaConvolveRegions *regions, const GstCudaConvolveGroup *group, const ConvolveBlocks *blocks,
    ConvolvePlane *plane, ConvolveError *error)
{
  gint apart = regions->windows.behind[group->plane];
  ConvolvePlane behind;
  ConvolveStatus status = CONVOLVE_OK;

  if (apart > 0 && split_behind (plane, plane->height - apart, &behind))
    status = convolve_batch_pixelate (regions->batch, &group->pixel, blocks, &behind, error);
  if (status == CONVOLVE_OK)
    status = convolve_batch_pixelate (regions->batch, &group->pixel, blocks, plane, error);
  return status;
}

ConvolveStatus
gst_cuda_convolve_compute_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint number,
    ConvolveRect rect, const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  const GstCudaConvolveGroup *group = &layout->groups[number];
  ConvolvePlane plane = describe_plane (group, pair, regions->windows.planes[group->plane].rows, rect, bytes);
  ConvolveDrawing drawing;
  ConvolveBlocks blocks = { .x = patch->x,
    .y = patch->y,
    .size = patch->block,
    .x_step = group->x_step,
    .y_step = group->y_step };

  switch (regions->properties->region.effect) {
    case CONVOLVE_REGION_EFFECT_MASK:
      return convolve_windows (regions, patch, number, group, &plane, error);
    case CONVOLVE_REGION_EFFECT_NOISE_PIXELATE:
      gst_cuda_convolve_noise_fill (regions->noise, patch->number, number, group->pixel.depth,
          regions->properties->region.epsilon, &blocks);
      return pixelate_patch (regions, group, &blocks, &plane, error);
    case CONVOLVE_REGION_EFFECT_PIXELATE:
      return pixelate_patch (regions, group, &blocks, &plane, error);
    case CONVOLVE_REGION_EFFECT_FILL:
      if (regions->filling.values) {
        drawing = gst_cuda_convolve_filling_draw (&regions->filling, layout, number, patch->region);
        return convolve_batch_draw (regions->batch, &group->pixel, &drawing, &plane, error);
      }
      return convolve_batch_fill (regions->batch, &group->pixel, regions->fill[number], &plane, error);
    case CONVOLVE_REGION_EFFECT_AUTO:
    case CONVOLVE_N_REGION_EFFECTS:
      break;
  }
  g_return_val_if_reached (CONVOLVE_INVALID);
}

/* --- the second turn: blending --- */

/*
 * Blends every second row, twice. Where the rows of subsampled chroma belong to two fields in turn, two rows together
 * stand for the luma rows of both. So each of them has the weight of all these luma rows, and none shows what is hidden.
 */
static ConvolveStatus
blend_pairs (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveArea *area, const ConvolvePlane *plane,
    ConvolveError *error)
{
  const ConvolveRect *region = &plane->region;
  ConvolveArea pairs = *area;
  ConvolveStatus status = CONVOLVE_OK;

  pairs.y_step *= 2;
  for (gint phase = 0; phase < 2 && status == CONVOLVE_OK; phase++) {
    gint first = (region->y - phase + 1) / 2, end = (region->y + region->height - phase + 1) / 2;
    ConvolvePlane rows = *plane;

    rows.source = (const guint8 *) plane->source + phase * plane->source_stride;
    rows.destination = (guint8 *) plane->destination + phase * plane->destination_stride;
    rows.source_stride *= 2;
    rows.destination_stride *= 2;
    rows.height = (plane->height - phase + 1) / 2;
    rows.region.y = first;
    rows.region.height = end - first;
    if (first < end)
      status = convolve_batch_blend (batch, pixel, &pairs, &rows, error);
  }
  return status;
}

/* Blends all rows; the row behind those of a progressive frame has the weight of the last of them. */
static ConvolveStatus
blend_rows (ConvolveBatch *batch, const ConvolvePixel *pixel, const ConvolveArea *area, ConvolvePlane *plane, gint rows,
    ConvolveError *error)
{
  ConvolvePlane behind;
  ConvolveStatus status = CONVOLVE_OK;

  if (split_behind (plane, rows, &behind))
    status = convolve_batch_blend (batch, pixel, area, &behind, error);
  if (status == CONVOLVE_OK)
    status = convolve_batch_blend (batch, pixel, area, plane, error);
  return status;
}

ConvolveStatus
gst_cuda_convolve_blend_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint number,
    ConvolveRect rect, const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  const GstCudaConvolveGroup *group = &layout->groups[number];
  const GstCudaConvolveWindows *windows = &regions->windows;
  guint mattes = patch->mattes | (regions->is_smooth ? GST_CUDA_CONVOLVE_MATTE_PICTURE : 0);
  ConvolveExtras extras;
  ConvolveArea area;
  ConvolvePlane plane = {
    .source = origin_of (bytes, group, rect),
    .source_stride = (gssize) rect.width * group->pixel.stride,
    .destination = pair->destination + group->offset,
    .destination_stride = pair->destination_stride,
    .width = group->width,
    .height = windows->planes[group->plane].rows,
    .region = rect,
  };

  gst_cuda_convolve_patch_area (&regions->patches, patch, &area, &extras);
  extras.mattes = &regions->mattes[mattes & GST_CUDA_CONVOLVE_MATTE_PICTURE ? 0 : 1];
  extras.n_mattes = (mattes & 1) + (mattes >> 1);
  area.outside = regions->patches.outside;
  area.transparency = convolve_region_settings_transparency (&regions->properties->region);
  area.x_step = group->x_step;
  area.y_step = group->y_step;
  if (regions->is_smooth) { /* the boxes are in the matte */
    area.count = 0;
    extras.outlines = NULL;
  }

  /* An area has steps up to 4. In 4:1:0 a row of chroma at the edge of a box may so count to one field alone. */
  if (windows->woven && (windows->kind & GST_CUDA_CONVOLVE_SECOND_ROWS) && group->y_step == 2)
    return blend_pairs (regions->batch, &group->pixel, &area, &plane, error);
  return blend_rows (regions->batch, &group->pixel, &area, &plane, layout->planes[group->plane].rows, error);
}
