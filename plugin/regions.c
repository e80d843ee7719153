/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame is done in two turns. First the effect of every patch is computed from the frame as it came, into memory of
 * its own. Then the patches are blended into the frame, the weakest effect first. So a frame can be changed in place,
 * and pixels around a box count as neighbours as they came.
 */
#include "regions.h"

#include <string.h>

#include "color.h"
#include "props.h"

/* Samples by which a shrunk picture is needed beyond a patch: the radius of the widest mask there, and one to spare. */
#define MARGIN 92

/* Memory that only grows. What it holds is lost then. */
typedef struct
{
  guint8 *bytes;
  gsize size;
} Room;

struct _GstCudaConvolveRegions
{
  GstCudaConvolvePlans *plans;                                      /* for the mask as it is */
  GstCudaConvolvePlans *by_strength[GST_CUDA_CONVOLVE_N_STRENGTHS]; /* made at first use, or NULL */
  ConvolveProperties properties;
  gboolean has_properties;
  ConvolvePool *pool;

  GstCudaConvolvePatches patches; /* of the frame that find() was for */
  GstCudaConvolveWindows windows; /* of the frame that run() works on */
  Room room;                      /* for the patches */
  Room shrunk, blurred;           /* for a picture that was shrunk, and for the same after its convolution */
};

GstCudaConvolveRegions *
gst_cuda_convolve_regions_new (GstCudaConvolvePlans *plans)
{
  GstCudaConvolveRegions *regions = g_new0 (GstCudaConvolveRegions, 1);

  regions->plans = gst_cuda_convolve_plans_ref (plans);
  gst_cuda_convolve_patches_init (&regions->patches);
  return regions;
}

void
gst_cuda_convolve_regions_free (GstCudaConvolveRegions *regions)
{
  for (guint i = 0; i < G_N_ELEMENTS (regions->by_strength); i++)
    g_clear_pointer (&regions->by_strength[i], gst_cuda_convolve_plans_unref);
  gst_cuda_convolve_plans_unref (regions->plans);
  if (regions->has_properties)
    convolve_properties_clear (&regions->properties);
  gst_cuda_convolve_patches_clear (&regions->patches);
  g_free (regions->room.bytes);
  g_free (regions->shrunk.bytes);
  g_free (regions->blurred.bytes);
  g_free (regions);
}

gboolean
gst_cuda_convolve_regions_set (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    const ConvolveProperties *properties, ConvolveError *error)
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
  if (regions->has_properties)
    convolve_properties_clear (&regions->properties);
  convolve_properties_copy (&regions->properties, properties);
  regions->has_properties = TRUE;
  return TRUE;
}

void
gst_cuda_convolve_regions_set_pool (GstCudaConvolveRegions *regions, ConvolvePool *pool)
{
  regions->pool = pool;
  for (guint i = 0; i < G_N_ELEMENTS (regions->by_strength); i++)
    if (regions->by_strength[i])
      gst_cuda_convolve_plans_set_pool (regions->by_strength[i], pool);
}

gboolean
gst_cuda_convolve_regions_are_identity (const GstCudaConvolveRegions *regions)
{
  const ConvolveRegionSettings *settings = &regions->properties.region;

  return settings->effect == CONVOLVE_REGION_EFFECT_MASK && settings->strength == 0
      && gst_cuda_convolve_plans_are_identity (regions->plans);
}

gboolean
gst_cuda_convolve_regions_find (GstCudaConvolveRegions *regions, GstCudaConvolveDetections *detections,
    GstBuffer *buffer)
{
  const ConvolveRegionSettings *settings = &regions->properties.region;
  const GstVideoInfo *info = &gst_cuda_convolve_plans_in (regions->plans)->info;
  gboolean lost;
  const GArray *found = gst_cuda_convolve_detections_find (detections, buffer, info, &lost);

  if (lost && settings->fallback == CONVOLVE_REGION_FALLBACK_FRAME)
    gst_cuda_convolve_patches_take_frame (&regions->patches, settings, GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info));
  else
    gst_cuda_convolve_patches_find (&regions->patches, settings, found, GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info));
  return regions->patches.patches->len > 0;
}

/* --- plans of other strengths --- */

/* The plans of a strength class; made where this is the first patch of that class. */
static ConvolveStatus
ensure_strength (GstCudaConvolveRegions *regions, guint strength, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_plans_in (regions->plans);
  gint factor = gst_cuda_convolve_strength_factor (strength);
  ConvolveProperties properties;

  if (regions->by_strength[strength])
    return CONVOLVE_OK;
  convolve_properties_copy (&properties, &regions->properties);
  convolve_settings_set_blur (&properties.mask, gst_cuda_convolve_strength_sigma (strength) / factor, NULL);
  regions->by_strength[strength] = gst_cuda_convolve_plans_new (&properties, NULL, layout, layout, NULL, error);
  convolve_properties_clear (&properties);
  if (!regions->by_strength[strength])
    return error->status;
  gst_cuda_convolve_plans_set_pool (regions->by_strength[strength], regions->pool);
  return CONVOLVE_OK;
}

/* --- memory --- */

static ConvolveStatus
make_room (Room *room, gsize size, ConvolveError *error)
{
  if (size <= room->size)
    return CONVOLVE_OK;
  g_free (room->bytes);
  room->bytes = g_try_malloc (size);
  room->size = room->bytes ? size : 0;
  if (room->bytes)
    return CONVOLVE_OK;
  *error = (ConvolveError){ .status = CONVOLVE_NO_MEMORY };
  g_snprintf (error->text, sizeof (error->text), "no memory for %" G_GSIZE_FORMAT " bytes of regions", size);
  return CONVOLVE_NO_MEMORY;
}

/* The patch's rectangle in pixels of a group. */
static ConvolveRect
patch_in_group (const GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch,
    const GstCudaConvolveGroup *group)
{
  const GstCudaConvolveWindows *windows = &regions->windows;
  gint rows = windows->planes[group->plane].rows,
       height = GST_VIDEO_INFO_FIELD_HEIGHT (&gst_cuda_convolve_plans_in (regions->plans)->info);
  gint right = patch->rect.x + patch->rect.width, bottom = patch->rect.y + patch->rect.height;
  gint x = patch->rect.x / (gint) group->x_step, y = patch->rect.y / (gint) group->y_step;

  right = MIN ((right + (gint) group->x_step - 1) / (gint) group->x_step, group->width);
  bottom = bottom >= height ? rows : MIN ((bottom + (gint) group->y_step - 1) / (gint) group->y_step, rows);
  return (ConvolveRect){ x, y, right - x, bottom - y };
}

static gsize
patch_bytes (const GstCudaConvolveGroup *group, ConvolveRect rect)
{
  return (gsize) rect.width * rect.height * group->pixel.stride;
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
describe_plane (const GstCudaConvolveGroup *group, const GstVideoFrame *frame, gint rows, ConvolveRect rect,
    guint8 *bytes)
{
  return (ConvolvePlane){
    .source = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, group->plane) + group->offset,
    .source_stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, group->plane),
    .destination = origin_of (bytes, group, rect),
    .destination_stride = (gssize) rect.width * group->pixel.stride,
    .width = group->width,
    .height = rows,
    .region = rect,
  };
}

/* A rectangle of the shrunk picture that has another one of the whole picture inside, with a margin. */
static ConvolveRect
shrink_rect (ConvolveRect rect, gint factor, gint margin, gint width, gint height)
{
  gint left = MAX (rect.x / factor - margin, 0), top = MAX (rect.y / factor - margin, 0);
  gint right = MIN ((rect.x + rect.width - 1) / factor + 1 + margin, width);
  gint bottom = MIN ((rect.y + rect.height - 1) / factor + 1 + margin, height);

  return (ConvolveRect){ left, top, right - left, bottom - top };
}

/* Convolves the picture at a smaller size, and makes the result as large as the picture again. */
static ConvolveStatus
convolve_shrunk (GstCudaConvolveRegions *regions, const ConvolvePlan *plan, gint factor,
    const GstCudaConvolveGroup *group, const ConvolvePlane *plane, ConvolveError *error)
{
  gint width = (plane->width + factor - 1) / factor, height = (plane->height + factor - 1) / factor;
  gssize stride = (gssize) width * group->pixel.stride;
  /* The opposite edge is a neighbour under the boundary wrap, so that the whole picture is needed. */
  gint margin = regions->properties.boundary == CONVOLVE_BOUNDARY_WRAP ? MAX (width, height) : MARGIN;
  ConvolvePlane small = *plane;
  ConvolveStatus status = make_room (&regions->shrunk, stride * height, error);

  if (status == CONVOLVE_OK)
    status = make_room (&regions->blurred, stride * height, error);
  if (status != CONVOLVE_OK)
    return status;
  small.destination = regions->shrunk.bytes;
  small.destination_stride = stride;
  small.region = shrink_rect (plane->region, factor, margin, width, height);
  status = convolve_shrink (&group->pixel, factor, &small, error);

  small.source = regions->shrunk.bytes;
  small.source_stride = stride;
  small.destination = regions->blurred.bytes;
  small.width = width;
  small.height = height;
  small.region = shrink_rect (plane->region, factor, 1, width, height); /* 1 for the interpolation */
  if (status == CONVOLVE_OK)
    status = convolve_run (plan, &small, error);

  small = *plane;
  small.source = regions->blurred.bytes;
  small.source_stride = stride;
  return status == CONVOLVE_OK ? convolve_grow (&group->pixel, factor, &small, error) : status;
}

/* The mask as it is, or that of the patch's strength. */
static ConvolveStatus
convolve_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint group,
    const ConvolvePlane *plane, ConvolveError *error)
{
  guint kind = regions->windows.kind;
  GstCudaConvolveGroup seen;
  gint factor;
  ConvolveStatus status;
  const ConvolvePlan *plan;

  if (patch->strength < 0)
    return convolve_run (gst_cuda_convolve_plans_group (regions->plans, kind, group), plane, error);
  status = ensure_strength (regions, patch->strength, error);
  if (status != CONVOLVE_OK)
    return status;
  plan = gst_cuda_convolve_plans_group (regions->by_strength[patch->strength], kind, group);
  factor = gst_cuda_convolve_strength_factor (patch->strength);
  if (factor == 1)
    return convolve_run (plan, plane, error);
  seen = gst_cuda_convolve_windows_group (&gst_cuda_convolve_plans_in (regions->plans)->groups[group], kind);
  return convolve_shrunk (regions, plan, factor, &seen, plane, error);
}

/* The patch in each window of the frame, so that no field and no view reaches into another. */
static ConvolveStatus
convolve_windows (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint number,
    const GstCudaConvolveGroup *group, const ConvolvePlane *plane, ConvolveError *error)
{
  const GstCudaConvolveWindows *windows = &regions->windows;
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < gst_cuda_convolve_windows_count (windows, group) && status == CONVOLVE_OK; i++) {
    GstCudaConvolveWindow window = gst_cuda_convolve_windows_get (windows, group, i);
    ConvolvePlane part;

    if (gst_cuda_convolve_window_part (&window, group, plane, &part))
      status = convolve_patch (regions, patch, number, &part, error);
  }
  return status;
}

static ConvolveStatus
compute_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint number,
    const GstVideoFrame *frame, guint8 *bytes, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_plans_in (regions->plans);
  const GstCudaConvolveGroup *group = &layout->groups[number];
  ConvolvePlane plane = describe_plane (group, frame, regions->windows.planes[group->plane].rows,
      patch_in_group (regions, patch, group), bytes);
  ConvolveBlocks blocks = { patch->x, patch->y, patch->block, group->x_step, group->y_step };
  gint values[CONVOLVE_MAX_SAMPLES];

  switch (regions->properties.region.effect) {
    case CONVOLVE_REGION_EFFECT_MASK:
      return convolve_windows (regions, patch, number, group, &plane, error);
    case CONVOLVE_REGION_EFFECT_PIXELATE:
      return convolve_pixelate (&group->pixel, &blocks, &plane, error);
    case CONVOLVE_REGION_EFFECT_FILL:
      gst_cuda_convolve_color_values (layout, group, regions->properties.region.color, values);
      return convolve_fill (&group->pixel, values, &plane, error);
  }
  g_return_val_if_reached (CONVOLVE_INVALID);
}

/* --- the second turn: blending --- */

/*
 * Blends every second row, twice. Where the rows of subsampled chroma belong to two fields in turn, two rows together
 * stand for the luma rows of both. So each of them has the weight of all these luma rows, and none shows what is hidden.
 */
static ConvolveStatus
blend_pairs (const ConvolvePixel *pixel, const ConvolveArea *area, const ConvolvePlane *plane, ConvolveError *error)
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
      status = convolve_blend (pixel, &pairs, &rows, error);
  }
  return status;
}

static ConvolveStatus
blend_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, const GstCudaConvolveGroup *group,
    const GstVideoFrame *frame, guint8 *bytes, ConvolveError *error)
{
  const GstCudaConvolveWindows *windows = &regions->windows;
  ConvolveRect rect = patch_in_group (regions, patch, group);
  ConvolveArea area = {
    .boxes = &g_array_index (regions->patches.boxes, ConvolveRect, patch->first_box),
    .count = patch->n_boxes,
    .shape = patch->shape,
    .feather = regions->patches.feather,
    .outside = regions->patches.outside,
    .x_step = group->x_step,
    .y_step = group->y_step,
  };
  ConvolvePlane plane = {
    .source = origin_of (bytes, group, rect),
    .source_stride = (gssize) rect.width * group->pixel.stride,
    .destination = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, group->plane) + group->offset,
    .destination_stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, group->plane),
    .width = group->width,
    .height = windows->planes[group->plane].rows,
    .region = rect,
  };

  /* An area has steps up to 4. In 4:1:0 a row of chroma at the edge of a box may so count to one field alone. */
  if (windows->woven && (windows->kind & GST_CUDA_CONVOLVE_SECOND_ROWS) && group->y_step == 2)
    return blend_pairs (&group->pixel, &area, &plane, error);
  return convolve_blend (&group->pixel, &area, &plane, error);
}

/* --- all patches --- */

/* Goes through all patches and groups, with the memory of each; out is NULL in the first turn. */
static ConvolveStatus
take_turn (GstCudaConvolveRegions *regions, const GstVideoFrame *in, const GstVideoFrame *out, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_plans_in (regions->plans);
  guint8 *bytes = regions->room.bytes;

  for (guint i = 0; i < regions->patches.patches->len; i++) {
    const GstCudaConvolvePatch *patch = &g_array_index (regions->patches.patches, GstCudaConvolvePatch, i);

    for (guint k = 0; k < layout->n_groups; k++) {
      const GstCudaConvolveGroup *group = &layout->groups[k];
      ConvolveStatus status;

      if (group->pixel.select == 0)
        continue;
      if (out)
        status = blend_patch (regions, patch, group, out, bytes, error);
      else
        status = compute_patch (regions, patch, k, in, bytes, error);
      if (status != CONVOLVE_OK)
        return status;
      bytes += patch_bytes (group, patch_in_group (regions, patch, group));
    }
  }
  return CONVOLVE_OK;
}

/* gst_video_frame_copy() leaves out the last sample of packed 4:2:2 rows of odd width. */
static void
copy_frame (const GstCudaConvolveLayout *layout, const GstCudaConvolvePlane *planes, const GstVideoFrame *from,
    GstVideoFrame *to)
{
  for (guint i = 0; i < layout->n_planes; i++)
    for (gsize y = 0; y < planes[i].rows; y++)
      memcpy ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (to, i) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (to, i),
          (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (from, i) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (from, i),
          planes[i].row_bytes);
}

static gsize
count_bytes (const GstCudaConvolveRegions *regions)
{
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_plans_in (regions->plans);
  gsize bytes = 0;

  for (guint i = 0; i < regions->patches.patches->len; i++)
    for (guint k = 0; k < layout->n_groups; k++)
      if (layout->groups[k].pixel.select != 0)
        bytes += patch_bytes (&layout->groups[k],
            patch_in_group (regions, &g_array_index (regions->patches.patches, GstCudaConvolvePatch, i),
                &layout->groups[k]));
  return bytes;
}

ConvolveStatus
gst_cuda_convolve_regions_run (GstCudaConvolveRegions *regions, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
    ConvolveTimes *times, ConvolveError *error)
{
  gint64 start = g_get_monotonic_time ();
  const GstCudaConvolveLayout *layout = gst_cuda_convolve_plans_in (regions->plans);
  ConvolveStatus status;

  gst_cuda_convolve_windows_init (&regions->windows, layout, gst_cuda_convolve_plans_field_mode (regions->plans), in,
      out);
  /* A crop does not limit the regions: a sink that overlooks the crop would show what is to be hidden. */
  regions->windows.crop_x = regions->windows.picture_x;
  regions->windows.crop_y = regions->windows.picture_y;
  status = make_room (&regions->room, count_bytes (regions), error);
  if (status == CONVOLVE_OK)
    status = take_turn (regions, &in->video, NULL, error);
  if (status == CONVOLVE_OK
      && GST_VIDEO_FRAME_PLANE_DATA (&in->video, 0) != GST_VIDEO_FRAME_PLANE_DATA (&out->video, 0))
    copy_frame (layout, regions->windows.planes, &in->video, &out->video);
  if (status == CONVOLVE_OK)
    status = take_turn (regions, &in->video, &out->video, error);
  for (guint i = 1; i < gst_cuda_convolve_plans_iterations (regions->plans) && status == CONVOLVE_OK; i++) {
    status = take_turn (regions, &out->video, NULL, error);
    if (status == CONVOLVE_OK)
      status = take_turn (regions, &out->video, &out->video, error);
  }
  *times = (ConvolveTimes){ .taken = true, .kernel = (g_get_monotonic_time () - start) * 1000 };
  return status;
}
