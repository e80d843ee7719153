/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/faults.h"

#include <string.h>

#include "regions/boxes.h"
#include "regions/state.h"
#include "text/token.h"

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

void
gst_cuda_convolve_regions_look_at_text (GstCudaConvolveRegions *regions)
{
  guint n_boxes,
      n_outside = count_outside (&regions->properties->region, &regions->plans->work.in.info, &n_boxes,
          &regions->first_outside);

  regions->text_faults = n_outside == 0 ? 0
      : n_outside == n_boxes            ? GST_CUDA_CONVOLVE_TEXT_IS_OUTSIDE
                                        : GST_CUDA_CONVOLVE_BOX_OF_TEXT_IS_OUTSIDE;
}

gboolean
gst_cuda_convolve_regions_metadata_is_outside (const GstCudaConvolveRegions *regions, const GArray *found, guint first)
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
          convolve_kept_file_location (regions->mask));
    default:
      return explain_limit (regions);
  }
}
