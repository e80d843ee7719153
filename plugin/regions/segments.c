/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/video/video.h>
#include <math.h>

#include "regions/segments.h"

#include "regions/boxes.h"
#include "frame/sound.h"

/* A region of more parts, which is noise rather than a shape, becomes the rectangle around all of them. */
#define MOST_PARTS 4096

#define N_IDS 65536
#define UNLISTED N_IDS /* stands for all ids but 0 that the list lacks */

/* A mask, and where it lies in the frame. */
typedef struct
{
  GstVideoFrame frame; /* GRAY8 or GRAY16; a sample is the id of the region that the pixel belongs to */
  gint width, height;
  guint8 *is_listed;              /* for each id */
  GstCudaConvolveRectangle place; /* in luma pixels of the frame */
} Mask;

/* A rectangle of the mask's pixels. */
typedef struct
{
  gint left, top, right, bottom; /* right and bottom are the first outside */
} Part;

static guint
id_at (const Mask *mask, gint x, gint y)
{
  const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&mask->frame, 0)
      + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&mask->frame, 0);

  switch (GST_VIDEO_FRAME_FORMAT (&mask->frame)) {
    case GST_VIDEO_FORMAT_GRAY16_LE:
      return GST_READ_UINT16_LE (row + 2 * (gsize) x);
    case GST_VIDEO_FORMAT_GRAY16_BE:
      return GST_READ_UINT16_BE (row + 2 * (gsize) x);
    default:
      return row[x];
  }
}

static gboolean
is_of (const Mask *mask, guint id, gint x, gint y)
{
  guint sample = id_at (mask, x, y);

  return id == UNLISTED ? sample != 0 && !mask->is_listed[sample] : sample == id;
}

/* The first run of the region's pixels in row y at column x or behind; no width where there is none. */
static Part
find_run (const Mask *mask, guint id, gint x, gint y)
{
  Part run;

  while (x < mask->width && !is_of (mask, id, x, y))
    x++;
  run = (Part){ x, y, x, y + 1 };
  while (run.right < mask->width && is_of (mask, id, run.right, y))
    run.right++;
  return run;
}

/*
 * Adds the runs of the region's pixels in row y to parts. A run as wide as one in the row above makes that part higher.
 * above has the indices of the parts that end in the row above, from left to right, and then those that end in row y.
 */
static void
add_row (const Mask *mask, guint id, gint y, GArray *parts, GArray *above)
{
  g_autoptr (GArray) here = g_array_new (FALSE, FALSE, sizeof (guint));
  guint next = 0;

  for (Part run = find_run (mask, id, 0, y); run.right > run.left; run = find_run (mask, id, run.right, y)) {
    guint index = parts->len;
    Part *part = NULL;

    for (; next < above->len; next++) {
      part = &g_array_index (parts, Part, g_array_index (above, guint, next));
      if (part->left >= run.left)
        break;
    }
    if (next < above->len && part->left == run.left && part->right == run.right) {
      index = g_array_index (above, guint, next);
      part->bottom = y + 1;
    } else {
      g_array_append_val (parts, run);
    }
    g_array_append_val (here, index);
  }
  g_array_set_size (above, 0);
  g_array_append_vals (above, here->data, here->len);
}

static GstCudaConvolveRectangle
place_part (const Mask *mask, const Part *part)
{
  gdouble x = mask->place.width / mask->width, y = mask->place.height / mask->height;

  return (GstCudaConvolveRectangle){ mask->place.x + part->left * x, mask->place.y + part->top * y,
    (part->right - part->left) * x, (part->bottom - part->top) * y };
}

static void
read_region (const Mask *mask, guint id, const GstCudaConvolveObject *object,
    const GstCudaConvolveAnalyticsReader *reader)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_autoptr (GArray) above = g_array_new (FALSE, FALSE, sizeof (guint));
  Part around = { G_MAXINT, G_MAXINT, 0, 0 };
  GstCudaConvolveBox box = { .is_part = TRUE };

  for (gint y = 0; y < mask->height; y++)
    add_row (mask, id, y, parts, above);
  for (guint i = 0; i < parts->len; i++) {
    const Part *part = &g_array_index (parts, Part, i);

    around.left = MIN (around.left, part->left);
    around.top = MIN (around.top, part->top);
    around.right = MAX (around.right, part->right);
    around.bottom = MAX (around.bottom, part->bottom);
  }
  box.region = place_part (mask, &around);
  if (parts->len > MOST_PARTS) {
    g_array_set_size (parts, 0);
    g_array_append_val (parts, around);
  }
  for (guint i = 0; i < parts->len; i++) {
    box.area = place_part (mask, &g_array_index (parts, Part, i));
    reader->add_part (reader->data, object, &box);
  }
}

/*
 * The class of a region, or NULL where no classification tells. GStreamer has the relation N_TO_N for two groups whose
 * members belong together one by one. Detectors that do not know that relation take RELATE_TO.
 */
static const gchar *
class_of (GstAnalyticsRelationMeta *relations, const GstAnalyticsSegmentationMtd *segments, gsize index)
{
  GstAnalyticsClsMtd classes;
  gpointer state = NULL;

  if (!gst_analytics_relation_meta_get_direct_related (relations, segments->id,
          GST_ANALYTICS_REL_TYPE_N_TO_N | GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_cls_mtd_get_mtd_type (),
          &state, &classes)
      || index >= gst_analytics_cls_mtd_get_length (&classes))
    return NULL;
  return gst_cuda_convolve_read_type (gst_analytics_cls_mtd_get_quark (&classes, index));
}

/* How many regions of the list are not the background. */
static guint
count_regions (GstAnalyticsRelationMeta *relations, const GstAnalyticsSegmentationMtd *segments)
{
  guint n = 0;

  for (gsize i = 0; i < gst_analytics_segmentation_mtd_get_region_count (segments); i++)
    n += gst_analytics_segmentation_mtd_get_region_id (segments, i) != 0 || class_of (relations, segments, i);
  return n;
}

/* The one object that the mask is related to, or nobody. */
static GstCudaConvolveObject
object_of (GstAnalyticsRelationMeta *relations, const GstAnalyticsSegmentationMtd *segments, gboolean needs_names)
{
  const GstCudaConvolveObject nobody = { .id = GST_CUDA_CONVOLVE_NO_ID, .confidence = NAN };
  GstCudaConvolveObject object = nobody;
  GstAnalyticsODMtd related;
  gpointer state = NULL;
  guint n = 0;

  while (gst_analytics_relation_meta_get_direct_related (relations, segments->id, GST_ANALYTICS_REL_TYPE_ANY,
      gst_analytics_od_mtd_get_mtd_type (), &state, &related))
    if (n++ > 0 || !gst_cuda_convolve_analytics_read_object (&related, needs_names, &object))
      return nobody;
  return object;
}

static void
read_mask (GstAnalyticsRelationMeta *relations, const GstAnalyticsSegmentationMtd *segments, const Mask *mask,
    const GstCudaConvolveAnalyticsReader *reader)
{
  const GstCudaConvolveObject nobody = { .id = GST_CUDA_CONVOLVE_NO_ID, .confidence = NAN };
  guint n_regions = count_regions (relations, segments);
  const GstCudaConvolveObject object = n_regions > 1 ? nobody : object_of (relations, segments, reader->needs_names);

  for (gsize i = 0; i < gst_analytics_segmentation_mtd_get_region_count (segments); i++) {
    guint id = gst_analytics_segmentation_mtd_get_region_id (segments, i);
    const gchar *type = class_of (relations, segments, i);
    GstCudaConvolveObject region = object;

    if (id < N_IDS)
      mask->is_listed[id] = TRUE;
    if (type)
      region.type = type;
    if (type || id != 0)
      read_region (mask, id, &region, reader);
  }
  if (reader->takes_unlisted)
    read_region (mask, UNLISTED, n_regions > 0 ? &nobody : &object, reader);
}

/* Whether a sample is the id of a region. */
static gboolean
has_ids (GstVideoFormat format)
{
  return format == GST_VIDEO_FORMAT_GRAY8 || format == GST_VIDEO_FORMAT_GRAY16_LE
      || format == GST_VIDEO_FORMAT_GRAY16_BE;
}

/*
 * Maps a mask. FALSE where its GstVideoMeta is none of a mask, or says more than the buffer has. *fault says what is
 * wrong then, and is to be freed; NULL stands for a GstVideoMeta of another kind.
 */
static gboolean
map_mask (Mask *mask, GstBuffer *buffer, gchar **fault)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstCudaConvolveLayout layout;
  GstVideoInfo info;

  if (!meta || !has_ids (meta->format) || meta->width == 0 || meta->height == 0
      || !gst_video_info_set_format (&info, meta->format, meta->width, meta->height)
      || !gst_cuda_convolve_meta_is_sound (&info, buffer, fault)
      || !gst_video_frame_map (&mask->frame, &info, buffer, GST_MAP_READ))
    return FALSE;
  gst_cuda_convolve_layout_init (&layout, &info);
  if (!gst_cuda_convolve_frame_is_sound (&layout, &mask->frame, fault)) {
    gst_video_frame_unmap (&mask->frame);
    return FALSE;
  }
  mask->width = meta->width;
  mask->height = meta->height;
  return TRUE;
}

void
gst_cuda_convolve_segments_read (GstAnalyticsRelationMeta *relations, const GstCudaConvolveAnalyticsReader *reader)
{
  GstAnalyticsSegmentationMtd segments;
  gpointer state = NULL;

  while (gst_analytics_relation_meta_iterate (relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (),
      &segments)) {
    gint x, y;
    guint width, height;
    g_autoptr (GstBuffer) buffer = gst_analytics_segmentation_mtd_get_mask (&segments, &x, &y, &width, &height);
    g_autofree gchar *fault = NULL;
    g_autofree guint8 *is_listed = NULL;
    Mask mask;

    if (!buffer || width == 0 || height == 0) {
      reader->refuse_mask (reader->data, buffer ? "it covers no pixel of the frame" : "it has no buffer");
      continue;
    }
    if (!map_mask (&mask, buffer, &fault)) {
      reader->refuse_mask (reader->data,
          fault ? fault : "it has no GstVideoMeta of a GRAY8 or GRAY16 frame that can be mapped");
      continue;
    }
    mask.place = gst_cuda_convolve_box_place_mask (x, y, width, height, reader->width, reader->height);
    mask.is_listed = is_listed = g_malloc0 (N_IDS);
    read_mask (relations, &segments, &mask, reader);
    gst_video_frame_unmap (&mask.frame);
  }
}
