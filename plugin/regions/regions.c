/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame is done in two turns, on the host or on the device. First the effect of every patch is computed from the frame as it came, into memory of
 * its own. Then the patches are blended into the frame, the weakest effect first. So a frame can be changed in place,
 * and pixels around a box count as neighbours as they came.
 */
#include "regions/regions.h"

#include <math.h>
#include <string.h>

#include "regions/boxes.h"
#include "regions/mattes.h"
#include "regions/object.h"
#include "plans/color.h"
#include "convolve_region.h"
#include "enums.h"
#include "token.h"
#include "props.h"

/* The blurs of one strength class, for each group and each kind of rows. */
typedef struct
{
  ConvolveBlur group[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS];
  ConvolvePixel pixel[GST_CUDA_CONVOLVE_N_KINDS][GST_VIDEO_MAX_COMPONENTS];
} Blurs;

struct _GstCudaConvolveRegions
{
  GstCudaConvolveWork work;
  GstCudaConvolvePlans *plans;                               /* for the mask as it is */
  Blurs *by_strength[GST_CUDA_CONVOLVE_N_STRENGTHS];         /* made at first use, or NULL */
  ConvolveProperties *properties;                            /* or NULL */
  gint fill[GST_VIDEO_MAX_COMPONENTS][CONVOLVE_MAX_SAMPLES]; /* the colour of these properties, of each group */
  GstCudaConvolvePicture picture;
  ConvolveBatch *batch; /* made at first use, or NULL */

  guint text_faults, first_outside; /* of the property regions; first_outside is counted from 1 */
  guint faults;                     /* of the frame that find() was for */
  const gchar *whole;               /* why that whole frame is changed, or NULL */
  GstCudaConvolvePatches patches;
  GstCudaConvolveNoise *noise;    /* the element's */
  GstCudaConvolveWindows windows; /* of the frame that run() works on */

  ConvolveMatteFile *mask;  /* that the plane was made of; or NULL */
  guint8 *mask_plane;       /* as large as frames; or NULL */
  ConvolveRect mask_bounds; /* of what is above 0 */
  gpointer mask_on_device;  /* a copy of the plane, made at first use; or NULL */
  gboolean has_alpha;       /* in frames of this format: */
  guint alpha_group, alpha_sample;
  ConvolveMatte mattes[CONVOLVE_MAX_MATTES]; /* of the frame that run() works on: the picture, and the alpha */
};

/* --- the picture --- */

/*
 * Adds the samples of a plane in one direction. So many side by side hide that 4x4 luma pixels are full, and that a block
 * has 4 samples of the plane, if need be more of them where the plane has less than 4 in the other direction.
 */
static void
add_line (GstCudaConvolveLine *lines, guint *n, gint step, gint count, gint other_step, gint other_count)
{
  gint others = MIN (other_count, MAX (4 / other_step, 2));
  GstCudaConvolveLine line = { step, count, MAX (4 / step, (4 + others - 1) / others) };

  for (guint i = 0; i < *n; i++)
    if (lines[i].step == line.step && lines[i].count == line.count && lines[i].least == line.least)
      return;
  lines[(*n)++] = line;
}

static void
add_lines (GstCudaConvolvePicture *picture, const GstCudaConvolveGroup *group, gint rows)
{
  gint x_step = group->x_step, y_step = group->y_step;

  add_line (picture->across, &picture->n_across, x_step, group->width, y_step, rows);
  add_line (picture->down, &picture->n_down, y_step, rows, x_step, group->width);
}

static gint
least_block (const GstCudaConvolveLine *lines, guint n_lines)
{
  gint block = 1;

  for (guint n = 0; n < n_lines; n++)
    block = MAX (block, lines[n].step * lines[n].least);
  return block;
}

/* Frames of fields may have one more row of chroma than the layout. */
static void
init_picture (GstCudaConvolvePicture *picture, const GstCudaConvolvePlans *plans)
{
  const GstCudaConvolveLayout *layout = &plans->work.in;
  gboolean fields =
      gst_cuda_convolve_windows_have_kind (&layout->info, plans->field_mode, GST_CUDA_CONVOLVE_SECOND_ROWS);

  *picture = (GstCudaConvolvePicture){
    .width = GST_VIDEO_INFO_WIDTH (&layout->info),
    .height = GST_VIDEO_INFO_HEIGHT (&layout->info),
    .y_unit = 1,
  };
  for (guint i = 0; i < layout->n_groups; i++) {
    const GstCudaConvolveGroup *group = &layout->groups[i];

    if (group->pixel.select == 0)
      continue;
    add_lines (picture, group, group->height);
    if (fields)
      add_lines (picture, group, group->height + 1);
    if (fields)
      picture->y_unit = MAX (picture->y_unit, 2 * (gint) group->y_step);
  }
  picture->block = MAX (least_block (picture->across, picture->n_across), least_block (picture->down, picture->n_down));
}

/* --- boxes that come to nothing --- */

/* Counts the boxes of the property that do not touch the frame. *first is the number of the first of them, from 1. */
static guint
count_outside (const ConvolveRegionSettings *settings, const GstVideoInfo *info, guint *n_boxes, guint *first)
{
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);
  g_autoptr (GArray) boxes = NULL;
  guint n = 0;

  *n_boxes = *first = 0;
  if (!(settings->sources & CONVOLVE_REGION_SOURCE_TEXT) || !convolve_region_settings_boxes (settings, &boxes, NULL))
    return 0;
  *n_boxes = boxes->len;
  for (guint i = 0; i < boxes->len; i++) {
    GstCudaConvolveBox box =
        gst_cuda_convolve_box_read_text (&g_array_index (boxes, ConvolveTextBox, i), width, height);

    if (gst_cuda_convolve_box_touches_frame (&box, settings, width, height))
      continue;
    if (n++ == 0)
      *first = i + 1;
  }
  return n;
}

#define TEXT_CURE "boxes are in luma pixels of this frame, or in per cent of it, as in 10%,10%,50%,50%"

gboolean
gst_cuda_convolve_regions_text_touches (const ConvolveRegionSettings *settings, const GstVideoInfo *info, gchar **fault)
{
  guint n_boxes, first, n_outside = count_outside (settings, info, &n_boxes, &first);
  g_autofree gchar *text = NULL;

  if (n_boxes == 0 || n_outside < n_boxes)
    return TRUE;
  text = convolve_token_quote (settings->regions, strlen (settings->regions));
  *fault = g_strdup_printf ("regions: %s has no box that touches the frame of %dx%d; %s", text,
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), TEXT_CURE);
  return FALSE;
}

static void
look_at_text (GstCudaConvolveRegions *regions)
{
  guint n_boxes,
      n_outside = count_outside (&regions->properties->region, &regions->plans->work.in.info, &n_boxes,
          &regions->first_outside);

  regions->text_faults = n_outside == 0 ? 0
      : n_outside == n_boxes            ? GST_CUDA_CONVOLVE_TEXT_IS_OUTSIDE
                                        : GST_CUDA_CONVOLVE_BOX_OF_TEXT_IS_OUTSIDE;
}

/* Whether there are boxes from metadata, and none of them touches the frame. */
static gboolean
is_metadata_outside (const GstCudaConvolveRegions *regions, const GArray *found, guint first)
{
  const GstCudaConvolvePicture *picture = &regions->picture;

  for (guint i = first; i < found->len; i++)
    if (gst_cuda_convolve_box_touches_frame (&g_array_index (found, GstCudaConvolveBox, i),
            &regions->properties->region, picture->width, picture->height))
      return FALSE;
  return found->len > first;
}

guint
gst_cuda_convolve_regions_faults (const GstCudaConvolveRegions *regions)
{
  return regions->faults;
}

static gchar *
explain_limit (const GstCudaConvolveRegions *regions)
{
  const GstCudaConvolvePatches *patches = &regions->patches;
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (patches->n_regions > GST_CUDA_CONVOLVE_MOST_REGIONS)
    return g_strdup_printf ("regions: %u boxes touch a frame, and more than %d are not worked on one by one: the whole "
                            "frame is changed; take fewer boxes, or fewer region-types",
        patches->n_regions, GST_CUDA_CONVOLVE_MOST_REGIONS);
  if (patches->n_frames > GST_CUDA_CONVOLVE_MOST_FRAMES)
    return g_strdup_printf (
        "regions: the boxes of a frame have together, with region-expand and region-feather, %s times "
        "the frame's area, and more than %d times is not worked on: the whole frame is changed; take "
        "fewer or smaller boxes",
        g_ascii_formatd (digits, sizeof digits, "%.1f", patches->n_frames), GST_CUDA_CONVOLVE_MOST_FRAMES);
  return g_strdup_printf (
      "region-sources: the masks of segmentation have more than %d parts, or with region-expand and "
      "region-feather more than %d times the frame's area: the whole frame is changed; take smaller "
      "masks, or less region-expand and region-feather",
      GST_CUDA_CONVOLVE_MOST_PARTS, GST_CUDA_CONVOLVE_MOST_PART_FRAMES);
}

gchar *
gst_cuda_convolve_regions_explain_fault (const GstCudaConvolveRegions *regions, guint fault)
{
  gint width = regions->picture.width, height = regions->picture.height;

  switch (fault) {
    case GST_CUDA_CONVOLVE_BOX_OF_TEXT_IS_OUTSIDE:
      return g_strdup_printf ("regions: box %u lies outside the frame of %dx%d; %s", regions->first_outside, width,
          height, TEXT_CURE);
    case GST_CUDA_CONVOLVE_TEXT_IS_OUTSIDE:
      return g_strdup_printf ("regions: no box touches the frame of %dx%d, so the whole frame is changed; %s", width,
          height, TEXT_CURE);
    case GST_CUDA_CONVOLVE_METADATA_IS_OUTSIDE:
      return g_strdup_printf (
          "region-sources: all boxes in the metadata of a frame lie outside the frame of %dx%d, and count for nothing; "
          "boxes are in luma pixels of the frames that arrive, so a detector belongs behind what scales or crops",
          width, height);
    case GST_CUDA_CONVOLVE_THERE_IS_NO_ALPHA:
      return g_strdup_printf (
          "region-sources: the format %s has no alpha, so the whole frame is changed; take a format with alpha, as "
          "videoconvert ! video/x-raw,format=RGBA makes, or leave alpha out",
          GST_VIDEO_INFO_NAME (&regions->plans->work.in.info));
    case GST_CUDA_CONVOLVE_MASK_IS_BLACK:
      return g_strdup_printf ("region-mask-location: the picture %s is black, and covers nothing; white covers",
          convolve_matte_file_location (regions->mask));
    default:
      return explain_limit (regions);
  }
}

/* --- mattes --- */

static void
forget_mask (GstCudaConvolveRegions *regions)
{
  if (regions->mask_on_device)
    convolve_device_release (regions->work.device, regions->mask_on_device);
  regions->mask_on_device = NULL;
  g_clear_pointer (&regions->mask_plane, g_free);
  g_clear_pointer (&regions->mask, convolve_matte_file_unref);
}

/* Makes the plane of the picture, unless it is that of the settings before. The picture can be read. */
static void
take_mask (GstCudaConvolveRegions *regions, ConvolveMatteFile *mask)
{
  const GstVideoInfo *info = &regions->plans->work.in.info;
  const ConvolveGrey *grey = mask ? convolve_matte_file_read (mask, NULL) : NULL;

  if (mask == regions->mask)
    return;
  forget_mask (regions);
  if (!grey)
    return;
  regions->mask = convolve_matte_file_ref (mask);
  regions->mask_plane = gst_cuda_convolve_matte_scale (grey, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
      &regions->mask_bounds);
}

/* Adds the patches of mattes to those of boxes. */
static void
find_mattes (GstCudaConvolveRegions *regions, const ConvolveRegionSettings *settings)
{
  ConvolveRect frame = { 0, 0, regions->picture.width, regions->picture.height };

  if (regions->mask && regions->mask_bounds.width > 0)
    gst_cuda_convolve_patches_add_matte (&regions->patches, settings, GST_CUDA_CONVOLVE_MATTE_PICTURE,
        regions->mask_bounds, &regions->picture);
  if (regions->mask && regions->mask_bounds.width == 0)
    regions->faults |= GST_CUDA_CONVOLVE_MASK_IS_BLACK;
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
  for (guint i = 0; i < regions->plans->work.in.n_groups; i++)
    gst_cuda_convolve_color_values (&regions->plans->work.in, &regions->plans->work.in.groups[i],
        properties->region.color, regions->fill[i]);
  regions->work.is_identity = properties->region.effect == CONVOLVE_REGION_EFFECT_MASK
      && properties->region.strength < 0 && GST_CUDA_CONVOLVE_WORK (regions->plans)->is_identity;
  take_mask (regions, properties->region.mask);
  look_at_text (regions);
  return TRUE;
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
  if (regions->whole)
    gst_cuda_convolve_patches_take_frame (&regions->patches, settings, &regions->picture);
  else {
    gst_cuda_convolve_patches_find (&regions->patches, settings, found, &regions->picture);
    find_mattes (regions, settings);
  }
  number_patches (regions);
  if (regions->patches.limited)
    regions->whole = "too-many-boxes";
  if (is_metadata_outside (regions, found, gst_cuda_convolve_detections_count_text (detections)))
    regions->faults |= GST_CUDA_CONVOLVE_METADATA_IS_OUTSIDE;
  if (regions->patches.limited)
    regions->faults |= GST_CUDA_CONVOLVE_BOXES_ARE_LIMITED;
  if (!settings->active) {
    g_array_set_size (regions->patches.patches, 0);
    regions->whole = NULL;
  }
  return regions->patches.patches->len > 0;
}

/* --- the record --- */

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
  gint fill[GST_VIDEO_MAX_COMPONENTS];

  if (regions->whole)
    gst_cuda_convolve_record_set_whole (record, regions->whole);
  find_fill (regions, fill);
  for (guint i = 0; i < patches->patches->len; i++) {
    const GstCudaConvolvePatch *patch = &g_array_index (patches->patches, GstCudaConvolvePatch, i);
    GstCudaConvolveRecordEffect done = { convolve_enum_nick (CONVOLVE_TYPE_REGION_EFFECT, effect), patch->x, patch->y,
      patch->block, patch->strength >= 0 ? gst_cuda_convolve_strength_sigma (patch->strength) : -1,
      effect == CONVOLVE_REGION_EFFECT_FILL ? fill : NULL };

    if (patches->outside)
      gst_cuda_convolve_record_set_outside (record, &done);
    describe_patch (regions, patch, detections, patches->outside ? NULL : &done, record);
  }
}

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
  Blurs *blurs;

  if (regions->by_strength[strength])
    return CONVOLVE_OK;
  blurs = g_new0 (Blurs, 1);
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
    }
  convolve_settings_clear (&mask);
  if (status == CONVOLVE_OK)
    regions->by_strength[strength] = blurs;
  else
    g_free (blurs);
  return status;
}

/* --- memory --- */

/* The patch's rectangle in pixels of a group. */
static ConvolveRect
patch_in_group (const GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch,
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

/* So many bytes that the memory of the next patch is aligned. */
static gsize
patch_bytes (const GstCudaConvolveGroup *group, ConvolveRect rect)
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
  const Blurs *blurs;
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

static ConvolveStatus
compute_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint number,
    const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  const GstCudaConvolveGroup *group = &layout->groups[number];
  ConvolvePlane plane = describe_plane (group, pair, regions->windows.planes[group->plane].rows,
      patch_in_group (regions, patch, group), bytes);
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

static ConvolveStatus
blend_patch (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint number,
    const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  const GstCudaConvolveGroup *group = &layout->groups[number];
  const GstCudaConvolveWindows *windows = &regions->windows;
  ConvolveRect rect = patch_in_group (regions, patch, group);
  ConvolveExtras extras = {
    .outlines =
        patch->has_polygons ? &g_array_index (regions->patches.outlines, ConvolveOutline, patch->first_box) : NULL,
    .corners = (const ConvolvePoint *) regions->patches.corners->data,
    .n_corners = regions->patches.corners->len,
    .mattes = &regions->mattes[patch->mattes & GST_CUDA_CONVOLVE_MATTE_PICTURE ? 0 : 1],
    .n_mattes = (patch->mattes & 1) + (patch->mattes >> 1),
  };
  ConvolveArea area = {
    /* An array without boxes has no memory. */
    .boxes = patch->n_boxes > 0 ? &g_array_index (regions->patches.boxes, ConvolveRect, patch->first_box) : NULL,
    .count = patch->n_boxes,
    .shape = patch->shape,
    .feather = regions->patches.feather,
    .outside = regions->patches.outside,
    .x_step = group->x_step,
    .y_step = group->y_step,
    .extras = patch->has_polygons || patch->mattes ? &extras : NULL,
  };
  ConvolvePlane plane = {
    .source = origin_of (bytes, group, rect),
    .source_stride = (gssize) rect.width * group->pixel.stride,
    .destination = pair->destination + group->offset,
    .destination_stride = pair->destination_stride,
    .width = group->width,
    .height = windows->planes[group->plane].rows,
    .region = rect,
  };

  /* An area has steps up to 4. In 4:1:0 a row of chroma at the edge of a box may so count to one field alone. */
  if (windows->woven && (windows->kind & GST_CUDA_CONVOLVE_SECOND_ROWS) && group->y_step == 2)
    return blend_pairs (regions->batch, &group->pixel, &area, &plane, error);
  return blend_rows (regions->batch, &group->pixel, &area, &plane, layout->planes[group->plane].rows, error);
}

/* --- all patches --- */

typedef ConvolveStatus (*Turn) (GstCudaConvolveRegions *regions, const GstCudaConvolvePatch *patch, guint group,
    const GstCudaConvolvePlanePair *pair, guint8 *bytes, ConvolveError *error);

/* Goes through all patches and groups, with the memory of each. pairs has an element for each plane. */
static ConvolveStatus
take_turn (GstCudaConvolveRegions *regions, Turn turn, const GstCudaConvolvePlanePair *pairs, guint8 *bytes,
    ConvolveError *error)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;

  for (guint i = 0; i < regions->patches.patches->len; i++) {
    const GstCudaConvolvePatch *patch = &g_array_index (regions->patches.patches, GstCudaConvolvePatch, i);

    for (guint k = 0; k < layout->n_groups; k++) {
      const GstCudaConvolveGroup *group = &layout->groups[k];
      ConvolveStatus status;

      if (group->pixel.select == 0)
        continue;
      status = turn (regions, patch, k, &pairs[group->plane], bytes, error);
      if (status != CONVOLVE_OK)
        return status;
      bytes += patch_bytes (group, patch_in_group (regions, patch, group));
    }
  }
  return CONVOLVE_OK;
}

/* Copies the planes that are not changed in place, with all bytes of their rows. */
static ConvolveStatus
copy_planes (GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  for (guint i = 0; i < regions->plans->work.in.n_planes && status == CONVOLVE_OK; i++) {
    const GstCudaConvolvePlane *shape = &regions->windows.planes[i];

    if (pairs[i].source != pairs[i].destination)
      status = convolve_batch_copy (regions->batch, pairs[i].source, pairs[i].source_stride, pairs[i].destination,
          pairs[i].destination_stride, shape->row_bytes, shape->rows, error);
  }
  return status;
}

static gsize
count_bytes (const GstCudaConvolveRegions *regions)
{
  const GstCudaConvolveLayout *layout = &regions->plans->work.in;
  gsize bytes = 0;

  for (guint i = 0; i < regions->patches.patches->len; i++)
    for (guint k = 0; k < layout->n_groups; k++)
      if (layout->groups[k].pixel.select != 0)
        bytes += patch_bytes (&layout->groups[k],
            patch_in_group (regions, &g_array_index (regions->patches.patches, GstCudaConvolvePatch, i),
                &layout->groups[k]));
  return bytes;
}

/* The rows of the plane with alpha that are copied before the effects are drawn: those of an alpha that changes in place. */
static gsize
count_alpha_rows (const GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs)
{
  const GstCudaConvolveGroup *group = &regions->plans->work.in.groups[regions->alpha_group];

  if (!(regions->properties->region.sources & CONVOLVE_REGION_SOURCE_ALPHA) || !regions->has_alpha
      || !(group->pixel.select >> regions->alpha_sample & 1)
      || pairs[group->plane].source != pairs[group->plane].destination)
    return 0;
  return regions->windows.planes[group->plane].rows;
}

/* Sets the matte of the frame's alpha, and enqueues a copy to `bytes` where the alpha is to change. */
static ConvolveStatus
take_alpha (GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, guint8 *bytes, ConvolveError *error)
{
  const GstCudaConvolveGroup *group = &regions->plans->work.in.groups[regions->alpha_group];
  const GstCudaConvolvePlanePair *pair = &pairs[group->plane];
  gsize rows = count_alpha_rows (regions, pairs), row_bytes = regions->windows.planes[group->plane].row_bytes;

  regions->mattes[1] = (ConvolveMatte){ .samples = (rows > 0 ? bytes : (const guint8 *) pair->source) + group->offset,
    .stride = rows > 0 ? (gssize) row_bytes : pair->source_stride,
    .width = group->width,
    .height = group->height,
    .pixel = group->pixel,
    .sample = regions->alpha_sample };
  if (rows == 0)
    return CONVOLVE_OK;
  return convolve_batch_copy (regions->batch, pair->source, pair->source_stride, bytes, row_bytes, row_bytes, rows,
      error);
}

/* Sets the matte of the picture, which is copied to the device once. */
static ConvolveStatus
place_mask (GstCudaConvolveRegions *regions, ConvolveError *error)
{
  gint width = regions->picture.width, height = regions->picture.height;
  gsize bytes = (gsize) width * height;
  ConvolveStatus status = CONVOLVE_OK;

  if (regions->work.device && !regions->mask_on_device) {
    regions->mask_on_device = convolve_device_alloc (regions->work.device, bytes, error);
    if (!regions->mask_on_device)
      return error->status;
    status = convolve_device_copy (regions->work.device, regions->mask_on_device, regions->mask_plane, bytes,
        CONVOLVE_COPY_TO_DEVICE, error);
  }
  regions->mattes[0] = (ConvolveMatte){ .samples = regions->work.device ? regions->mask_on_device : regions->mask_plane,
    .stride = width,
    .width = width,
    .height = height,
    .pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 } };
  return status;
}

static ConvolveStatus
run_once (GstCudaConvolveRegions *regions, const GstCudaConvolvePlanePair *pairs, ConvolveError *error)
{
  const GstCudaConvolveGroup *alpha = &regions->plans->work.in.groups[regions->alpha_group];
  gsize of_effects = count_bytes (regions);
  gsize of_alpha = count_alpha_rows (regions, pairs) * regions->windows.planes[alpha->plane].row_bytes;
  void *bytes;
  ConvolveStatus status = convolve_batch_begin (regions->batch, of_effects + of_alpha, &bytes, error);

  if (status == CONVOLVE_OK)
    status = take_turn (regions, compute_patch, pairs, bytes, error);
  if (status == CONVOLVE_OK && regions->mask)
    status = place_mask (regions, error);
  if (status == CONVOLVE_OK && regions->has_alpha)
    status = take_alpha (regions, pairs, (guint8 *) bytes + of_effects, error);
  if (status == CONVOLVE_OK)
    status = copy_planes (regions, pairs, error);
  if (status == CONVOLVE_OK)
    status = take_turn (regions, blend_patch, pairs, bytes, error);
  return status == CONVOLVE_OK ? convolve_batch_run (regions->batch, error) : status;
}

/* All iterations: the second one and those that follow are done in place. */
static ConvolveStatus
run_pairs (GstCudaConvolveRegions *regions, GstCudaConvolvePlanePair *pairs, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  if (!regions->batch)
    regions->batch = convolve_batch_new (regions->work.device, error);
  if (!regions->batch)
    return error->status;
  for (guint i = 0; i < regions->plans->iterations && status == CONVOLVE_OK; i++) {
    status = run_once (regions, pairs, error);
    for (guint k = 0; k < regions->plans->work.in.n_planes; k++) {
      pairs[k].source = pairs[k].destination;
      pairs[k].source_stride = pairs[k].destination_stride;
    }
  }
  return status;
}

static void
init_windows (GstCudaConvolveRegions *regions, const GstCudaConvolveFrame *in, const GstCudaConvolveFrame *out)
{
  GstCudaConvolveWindows *windows = &regions->windows;

  gst_cuda_convolve_windows_init (windows, &regions->plans->work.in, regions->plans->field_mode, in, out);
  /* A crop does not limit the regions: a sink that overlooks the crop would show what is to be hidden. */
  windows->crop_x = windows->picture_x;
  windows->crop_y = windows->picture_y;
}

static ConvolveStatus
run_on_host (GstCudaConvolveWork *work, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out, ConvolveError *error)
{
  GstCudaConvolveRegions *regions = (GstCudaConvolveRegions *) work;
  GstCudaConvolvePlanePair pairs[GST_VIDEO_MAX_PLANES] = { 0 };

  init_windows (regions, in, out);
  for (guint i = 0; i < work->in.n_planes; i++)
    pairs[i] = (GstCudaConvolvePlanePair){
      .source = GST_VIDEO_FRAME_PLANE_DATA (&in->video, i),
      .destination = GST_VIDEO_FRAME_PLANE_DATA (&out->video, i),
      .source_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&in->video, i),
      .destination_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&out->video, i),
    };
  return run_pairs (regions, pairs, error);
}

/* --- on the device --- */

/* Finds where the plane is on the device, and enqueues its upload where it is on the host. */
static ConvolveStatus
place_plane (GstCudaConvolveRegions *regions, guint number, const GstCudaConvolveFrame *in,
    const GstCudaConvolveFrame *out, GstCudaConvolvePlanePair *pair, ConvolveError *error)
{
  const GstCudaConvolvePlane *shape = &regions->windows.planes[number];
  ConvolveStage stage = { 0 };
  ConvolveStatus status = CONVOLVE_OK;

  if (!in->on_device || !out->on_device)
    status = convolve_device_stage (regions->work.device, number, shape->row_bytes, shape->rows, &stage, error);
  pair->source = gst_cuda_convolve_first_row (shape, in, number, stage.source, stage.stride, &pair->source_stride);
  pair->destination =
      gst_cuda_convolve_first_row (shape, out, number, stage.destination, stage.stride, &pair->destination_stride);
  if (status == CONVOLVE_OK && !in->on_device) {
    ConvolveRows rows = gst_cuda_convolve_host_rows (shape, &in->video, number, 0, shape->rows);

    status = convolve_device_upload (regions->work.device, number, &rows, error);
  }
  return status;
}

static ConvolveStatus
fetch_plane (GstCudaConvolveRegions *regions, guint number, const GstCudaConvolveFrame *out, ConvolveError *error)
{
  const GstCudaConvolvePlane *shape = &regions->windows.planes[number];
  ConvolveRows rows;

  if (out->on_device)
    return CONVOLVE_OK;
  rows = gst_cuda_convolve_host_rows (shape, &out->video, number, 0, shape->rows);
  return convolve_device_download (regions->work.device, number, &rows, error);
}

/* Regions are one strip, whether the frame is alone or not. */
static ConvolveStatus
run_on_device (GstCudaConvolveWork *work, guint slot, gboolean alone, GstCudaConvolveFrame *in,
    GstCudaConvolveFrame *out, ConvolveError *error)
{
  GstCudaConvolveRegions *regions = (GstCudaConvolveRegions *) work;
  guint n_planes = work->in.n_planes;
  GstCudaConvolvePlanePair pairs[GST_VIDEO_MAX_PLANES] = { 0 };
  ConvolveStatus status = convolve_device_begin (work->device, slot, error);

  init_windows (regions, in, out);
  for (guint i = 0; i < n_planes && status == CONVOLVE_OK; i++)
    status = place_plane (regions, i, in, out, &pairs[i], error);
  if (status == CONVOLVE_OK)
    status = run_pairs (regions, pairs, error);
  for (guint i = 0; i < n_planes && status == CONVOLVE_OK; i++)
    status = fetch_plane (regions, i, out, error);
  if (status == CONVOLVE_OK)
    status = convolve_device_end (work->device, error);
  /* The caller unmaps the frames after an error, and nothing may read or write them then. */
  if (status != CONVOLVE_OK)
    convolve_device_finish (work->device, NULL);
  return status;
}

/* --- the work --- */

static void
set_pool (GstCudaConvolveWork *work, ConvolvePool *pool)
{
  GstCudaConvolveWork *plans = GST_CUDA_CONVOLVE_WORK (((GstCudaConvolveRegions *) work)->plans);

  plans->kind->set_pool (plans, pool);
}

static void
clear_regions (gpointer data)
{
  GstCudaConvolveRegions *regions = data;

  for (guint i = 0; i < G_N_ELEMENTS (regions->by_strength); i++)
    g_free (regions->by_strength[i]);
  gst_cuda_convolve_work_unref (regions->plans);
  g_clear_pointer (&regions->properties, convolve_properties_unref);
  gst_cuda_convolve_patches_clear (&regions->patches);
  convolve_batch_free (regions->batch); /* waits for the device */
  forget_mask (regions);
}

static const GstCudaConvolveWorkKind kind_of_regions = {
  .size = sizeof (GstCudaConvolveRegions),
  .run_on_host = run_on_host,
  .run_on_device = run_on_device,
  .set_pool = set_pool,
  .clear = clear_regions,
};

GstCudaConvolveRegions *
gst_cuda_convolve_regions_new (GstCudaConvolvePlans *plans, GstCudaConvolveNoise *noise)
{
  const GstCudaConvolveLayout *layout = &plans->work.in;
  GstCudaConvolveRegions *regions = gst_cuda_convolve_work_new (&kind_of_regions, layout, layout);

  regions->plans = gst_cuda_convolve_work_ref (plans);
  regions->work.device = GST_CUDA_CONVOLVE_WORK (plans)->device;
  regions->work.variant = GST_CUDA_CONVOLVE_WORK (plans)->variant;
  init_picture (&regions->picture, plans);
  regions->has_alpha =
      gst_cuda_convolve_matte_find_alpha (&plans->work.in, &regions->alpha_group, &regions->alpha_sample);
  gst_cuda_convolve_patches_init (&regions->patches);
  regions->noise = noise;
  return regions;
}
