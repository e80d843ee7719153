/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the record says about the regions of a frame. */
#include <math.h>

#include "regions/object.h"
#include "regions/state.h"
#include "properties/enums.h"

/* The code values of the fill, one for each component; -1 for a component that is not filled. */
static void
find_fill (const GstCudaConvolveRegions *regions, gint fill[GST_VIDEO_MAX_COMPONENTS])
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;

  for (guint i = 0; i < GST_VIDEO_MAX_COMPONENTS; i++)
    fill[i] = -1;
  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];

    for (gint k = 0; k < group->pixel.samples; k++)
      if (group->pixel.select >> k & 1)
        fill[group->component[k]] = regions->fill[i][k];
  }
}

/* How many of the boxes from first up to end are of one region, which is that of the first. */
static guint
count_parts (const GstCudaConvolvePatches *patches, const GstCudaConvolveDetections *detections, guint first, guint end,
    GstCudaConvolveOrigin *origin)
{
  guint index = g_array_index (patches->origins, guint, first), n = 1;

  *origin = (GstCudaConvolveOrigin){ .id = GST_CUDA_CONVOLVE_NO_ID, .confidence = NAN };
  if (index == GST_CUDA_CONVOLVE_NO_ORIGIN)
    return n;
  *origin = gst_cuda_convolve_detections_origin (detections, index);
  while (first + n < end
      && gst_cuda_convolve_detections_origin (detections, g_array_index (patches->origins, guint, first + n)).region
          == origin->region)
    n++;
  return n;
}

/* Tells of the regions of a patch, one by one. */
static void
describe_patch (const GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch,
    const GstCudaConvolveDetections *detections, const GstCudaConvolveRecordEffect *effect,
    GstCudaConvolveRecord *record)
{
  const GstCudaConvolvePatches *patches = &regions->patches;
  guint end = patch->first_box + patch->n_boxes, n;

  for (guint bit = 0; bit < CONVOLVE_MAX_MATTES; bit++) {
    GstCudaConvolveRecordRegion matte = { .source = bit == 0 ? "picture" : "alpha",
      .shape = "matte",
      .confidence = NAN,
      .boxes = &patch->rect,
      .n_boxes = 1 };

    if (patch->mattes >> bit & 1)
      gst_cuda_convolve_record_add (record, &matte, effect);
  }
  for (guint first = patch->first_box; first < end; first += n) {
    GstCudaConvolveOrigin origin;
    GstCudaConvolveRecordRegion region = { 0 };

    n = count_parts (patches, detections, first, end, &origin);
    region.source = origin.source;
    region.type = origin.type;
    region.has_id = origin.id != GST_CUDA_CONVOLVE_NO_ID;
    region.id = origin.id;
    region.confidence = origin.confidence;
    region.shape = convolve_enum_nick (CONVOLVE_TYPE_REGION_SHAPE, patch->shape);
    region.how = origin.source ? origin.how : GST_CUDA_CONVOLVE_HOW_FALLBACK;
    region.boxes = &g_array_index (patches->boxes, ConvolveRect, first);
    region.n_boxes = n;
    region.outlines = patch->has_polygons ? &g_array_index (patches->outlines, ConvolveOutline, first) : NULL;
    region.corners = (const ConvolvePoint *) patches->corners->data;
    gst_cuda_convolve_record_add (record, &region, effect);
  }
}

void
gst_cuda_convolve_regions_describe (const GstCudaConvolveRegions *regions, const GstCudaConvolveDetections *detections,
    GstCudaConvolveRecord *record)
{
  const GstCudaConvolvePatches *patches = &regions->patches;
  ConvolveRegionEffect effect = regions->properties->region.effect;
  gdouble opacity = 1 - convolve_region_settings_transparency (&regions->properties->region) / 256.0;
  gint fill[GST_VIDEO_MAX_COMPONENTS];

  if (regions->whole)
    gst_cuda_convolve_record_set_whole (record, regions->whole);
  find_fill (regions, fill);
  for (guint i = 0; i < patches->patches->len; i++) {
    const GstCudaConvolvePatch *patch = &g_array_index (patches->patches, GstCudaConvolvePatch, i);
    GstCudaConvolveRecordEffect done = { .name = convolve_enum_nick (CONVOLVE_TYPE_REGION_EFFECT, effect),
      .x = patch->x,
      .y = patch->y,
      .block = patch->block,
      .sigma = patch->strength >= 0 ? gst_cuda_convolve_strength_sigma (patch->strength) : -1,
      .opacity = opacity,
      .fill = effect == CONVOLVE_REGION_EFFECT_FILL && !regions->filling.sha256 ? fill : NULL,
      .picture = regions->filling.sha256 };

    if (patches->outside)
      gst_cuda_convolve_record_set_outside (record, &done);
    describe_patch (regions, patch, detections, patches->outside ? NULL : &done, record);
  }
}
