/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/detections.h"

#include <math.h>
#include <string.h>

#include "regions/analytics.h"
#include "regions/boxes.h"
#include "regions/frametime.h"
#include "regions/tracks.h"
#include "regions/wanted.h"

/* Beyond, earlier frames would take memory without end: their boxes become the whole frame. */
#define MOST_HELD 16384

/* Of the metadata of one frame; the rest is not read, and the whole frame is changed. */
#define MOST_READ 65536

/* Where a sighting is from. */
enum
{
  SOURCE_ROI,
  SOURCE_OBJECT,
  SOURCE_SEGMENT,
  SOURCE_TOO_MANY /* the whole frame, in the place of too many boxes */
};

/* What can be wrong, as bits. */
enum
{
  FAULT_OBJECT = 1 << 0,
  FAULT_MASK = 1 << 1,
  FAULT_TOO_MANY = 1 << 2,
  FAULT_TOO_MANY_READ = 1 << 3,
  FAULT_SILENCE = 1 << 4
};

#define PATIENCE 50 /* frames, before the user is told that no metadata comes */

struct _GstCudaConvolveDetections
{
  GArray *text; /* ConvolveTextBox */
  GstCudaConvolveWanted *wanted;
  guint sources;
  GstClockTime hold;

  GstCudaConvolveFrameTime time;
  GstCudaConvolveTracks *tracks;
  GstCudaConvolveSightings before; /* all that counted in the frame before */
  GstCudaConvolveSightings fresh;  /* of this frame's metadata */
  GstCudaConvolveSightings all;    /* all that count in this frame */
  GArray *found;                   /* GstCudaConvolveBox, of this frame */
  gint width, height;              /* of frames; 0 before the first */
  GstCudaConvolveMoment heard_before,
      heard; /* when a frame had metadata last: up to the frame before, up to this one */

  /* What has not come since the settings or the caps changed. */
  gboolean needs_metadata; /* nothing else says where regions are */
  gboolean is_counted;     /* this frame */
  gboolean was_heard;      /* there was metadata */
  guint n_silent;          /* frames without metadata before */

  gboolean refused;  /* metadata of this frame */
  gboolean too_many; /* boxes, so that the whole frame stands for them */
  guint faults_told;
  gchar *fault; /* to be told, or NULL */
};

GstCudaConvolveDetections *
gst_cuda_convolve_detections_new (void)
{
  GstCudaConvolveDetections *detections = g_new0 (GstCudaConvolveDetections, 1);

  detections->text = g_array_new (FALSE, FALSE, sizeof (ConvolveTextBox));
  detections->wanted = gst_cuda_convolve_wanted_new ();
  detections->tracks = gst_cuda_convolve_tracks_new ();
  gst_cuda_convolve_sightings_init (&detections->before);
  gst_cuda_convolve_sightings_init (&detections->fresh);
  gst_cuda_convolve_sightings_init (&detections->all);
  detections->found = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
  return detections;
}

void
gst_cuda_convolve_detections_free (GstCudaConvolveDetections *detections)
{
  g_array_unref (detections->text);
  gst_cuda_convolve_wanted_free (detections->wanted);
  gst_cuda_convolve_tracks_free (detections->tracks);
  gst_cuda_convolve_sightings_clear (&detections->before);
  gst_cuda_convolve_sightings_clear (&detections->fresh);
  gst_cuda_convolve_sightings_clear (&detections->all);
  g_array_unref (detections->found);
  g_free (detections->fault);
  g_free (detections);
}

void
gst_cuda_convolve_detections_forget (GstCudaConvolveDetections *detections)
{
  gst_cuda_convolve_sightings_empty (&detections->before);
  gst_cuda_convolve_sightings_empty (&detections->all);
  detections->heard_before = detections->heard = (GstCudaConvolveMoment){ 0 };
  detections->time = (GstCudaConvolveFrameTime){ 0 };
}

gboolean
gst_cuda_convolve_detections_set (GstCudaConvolveDetections *detections, const ConvolveRegionSettings *settings,
    GError **error)
{
  GArray *text = NULL;

  if (!convolve_region_settings_boxes (settings, &text, error))
    return FALSE;
  if (!gst_cuda_convolve_wanted_set (detections->wanted, settings, error)) {
    g_array_unref (text);
    return FALSE;
  }
  g_array_unref (detections->text);
  detections->text = text;
  detections->sources = settings->sources;
  detections->hold = settings->hold;
  detections->needs_metadata = settings->apply_to == CONVOLVE_APPLY_TO_REGIONS
      && settings->fallback == CONVOLVE_REGION_FALLBACK_NONE && (settings->sources & CONVOLVE_REGION_SOURCES_METADATA)
      && (text->len == 0 || !(settings->sources & CONVOLVE_REGION_SOURCE_TEXT));
  return TRUE;
}

/* --- faults --- */

/* Whether a fault of that kind is to be told: the first in this frame, and of its kind. */
static gboolean
is_new_fault (GstCudaConvolveDetections *detections, guint kind)
{
  if (detections->fault || (detections->faults_told & kind))
    return FALSE;
  detections->faults_told |= kind;
  return TRUE;
}

gchar *
gst_cuda_convolve_detections_take_fault (GstCudaConvolveDetections *detections)
{
  return g_steal_pointer (&detections->fault);
}

void
gst_cuda_convolve_detections_forget_faults (GstCudaConvolveDetections *detections)
{
  detections->faults_told = 0;
  detections->n_silent = 0;
  detections->was_heard = FALSE;
  gst_cuda_convolve_wanted_forget (detections->wanted);
}

/* --- what does not come --- */

static void
tell_of_silence (GstCudaConvolveDetections *detections)
{
  if (is_new_fault (detections, FAULT_SILENCE))
    detections->fault = g_strdup_printf (
        "apply-to: nothing is changed in the first %u frames, because they have no metadata of the region-sources, and "
        "regions has no box; put a detector in front of the element, write boxes into regions, or take "
        "region-fallback=frame, which covers frames without metadata",
        detections->n_silent);
}

static void
complain (GstCudaConvolveDetections *detections, gboolean at_end)
{
  if (!detections->fault)
    detections->fault = gst_cuda_convolve_wanted_complain (detections->wanted, at_end);
}

/* Counts the frame, once. */
static void
count_frame (GstCudaConvolveDetections *detections, gboolean has_metadata)
{
  if (detections->is_counted)
    return;
  detections->is_counted = TRUE;
  detections->was_heard |= has_metadata;
  gst_cuda_convolve_wanted_count (detections->wanted);
  if (detections->needs_metadata && !detections->was_heard)
    detections->n_silent++;
  complain (detections, FALSE);
  if (detections->n_silent == PATIENCE)
    tell_of_silence (detections);
}

void
gst_cuda_convolve_detections_end (GstCudaConvolveDetections *detections)
{
  complain (detections, TRUE);
  if (detections->n_silent > 0 && !detections->was_heard)
    tell_of_silence (detections);
}

/* --- metadata --- */

static void
add_sighting (GstCudaConvolveDetections *detections, const GstCudaConvolveBox *box, const GstCudaConvolveObject *object,
    guint source)
{
  const GstCudaConvolveSighting what = { .type = object->type,
    .id = object->id,
    .confidence = object->confidence,
    .source = source,
    .seen = detections->time.now };

  gst_cuda_convolve_sightings_add (&detections->fresh, box, &what);
}

static gboolean
is_full (const GstCudaConvolveDetections *detections)
{
  return detections->fresh.boxes->len > MOST_READ;
}

static gboolean
read_regions_of_interest (GstCudaConvolveDetections *detections, GstBuffer *buffer)
{
  gboolean any = FALSE, needs_names = gst_cuda_convolve_wanted_needs_names (detections->wanted);
  gpointer state = NULL;
  GstMeta *meta;

  while (!is_full (detections)
      && (meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    GstCudaConvolveObject object = gst_cuda_convolve_object_of_region (region, needs_names);
    GstCudaConvolveBox box;

    any = TRUE;
    if (gst_cuda_convolve_wanted_takes (detections->wanted, &object)
        && gst_cuda_convolve_box_read_unsigned (region->x, region->y, region->w, region->h, detections->width,
               detections->height, &box)
            == GST_CUDA_CONVOLVE_BOX_TAKEN)
      add_sighting (detections, &box, &object, SOURCE_ROI);
  }
  return any;
}

static void
refuse_object (GstCudaConvolveDetections *detections, const GstCudaConvolveObject *object)
{
  g_autofree gchar *cure = object->type ? g_strdup_printf ("the type out with region-types=!%s", object->type)
                                        : g_strdup ("analytics out of region-sources");

  detections->refused = TRUE;
  if (is_new_fault (detections, FAULT_OBJECT))
    detections->fault = g_strdup_printf (
        "region-sources: the object \"%s\" in a GstAnalyticsRelationMeta is no box: x %g, y %g, width %g, height %g, "
        "angle %g. The frame counts as one without metadata; mend the detector, or leave %s",
        object->type ? object->type : "", object->x, object->y, object->width, object->height, object->angle, cure);
}

static void
add_object (gpointer data, const GstCudaConvolveObject *object)
{
  GstCudaConvolveDetections *detections = data;
  GstCudaConvolveBox box;

  if (is_full (detections) || !gst_cuda_convolve_wanted_takes (detections->wanted, object))
    return;
  switch (gst_cuda_convolve_box_read_turned (object->x, object->y, object->width, object->height, object->angle,
      detections->width, detections->height, &box)) {
    case GST_CUDA_CONVOLVE_BOX_TAKEN:
      add_sighting (detections, &box, object, SOURCE_OBJECT);
      break;
    case GST_CUDA_CONVOLVE_BOX_EMPTY:
      break;
    case GST_CUDA_CONVOLVE_BOX_REFUSED:
      refuse_object (detections, object);
      break;
  }
}

static void
add_part (gpointer data, const GstCudaConvolveObject *object, const GstCudaConvolveBox *box)
{
  GstCudaConvolveDetections *detections = data;

  if (!is_full (detections) && gst_cuda_convolve_wanted_takes (detections->wanted, object))
    add_sighting (detections, box, object, SOURCE_SEGMENT);
}

static void
refuse_mask (gpointer data, const gchar *fault)
{
  GstCudaConvolveDetections *detections = data;

  detections->refused = TRUE;
  if (is_new_fault (detections, FAULT_MASK))
    detections->fault = g_strdup_printf (
        "region-sources: a mask of segmentation in a GstAnalyticsRelationMeta cannot be read: %s. The frame counts as "
        "one without metadata; mend the detector, or leave analytics out of region-sources",
        fault);
}

/* One box in the place of all. */
static void
take_frame (const GstCudaConvolveDetections *detections, GstCudaConvolveSightings *sightings,
    const GstCudaConvolveMoment *seen)
{
  GstCudaConvolveRectangle frame = { 0, 0, detections->width, detections->height };
  GstCudaConvolveBox box = { .area = frame, .region = frame };
  const GstCudaConvolveSighting what = { .id = GST_CUDA_CONVOLVE_NO_ID,
    .confidence = NAN,
    .source = SOURCE_TOO_MANY,
    .seen = *seen };

  gst_cuda_convolve_sightings_empty (sightings);
  gst_cuda_convolve_sightings_add (sightings, &box, &what);
}

static void
limit_fresh (GstCudaConvolveDetections *detections)
{
  if (!is_full (detections))
    return;
  take_frame (detections, &detections->fresh, &detections->time.now);
  if (is_new_fault (detections, FAULT_TOO_MANY_READ))
    detections->fault = g_strdup_printf ("region-sources: the metadata of a frame has more than %d boxes, so the whole "
                                         "frame is changed; region-types takes fewer, or a detector with a threshold",
        MOST_READ);
}

/* Fills fresh from the frame's metadata. FALSE where the frame has no metadata at all, or some that cannot be read. */
static gboolean
read_metadata (GstCudaConvolveDetections *detections, GstBuffer *buffer)
{
  const GstCudaConvolveAnalyticsReader reader = { detections, detections->width, detections->height,
    gst_cuda_convolve_wanted_needs_names (detections->wanted), add_object, add_part, refuse_mask };
  gboolean any = FALSE;

  detections->refused = FALSE;
  gst_cuda_convolve_wanted_begin (detections->wanted);
  gst_cuda_convolve_sightings_empty (&detections->fresh);
  if (detections->sources & CONVOLVE_REGION_SOURCE_ROI)
    any |= read_regions_of_interest (detections, buffer);
  if (detections->sources & CONVOLVE_REGION_SOURCE_ANALYTICS)
    any |= gst_cuda_convolve_analytics_read (buffer, &reader);
  limit_fresh (detections);
  count_frame (detections, any);
  return any && !detections->refused;
}

/* --- time --- */

void
gst_cuda_convolve_detections_advance (GstCudaConvolveDetections *detections, const GstSegment *segment,
    GstBuffer *buffer, const GstVideoInfo *info)
{
  GstCudaConvolveSightings before = detections->before;
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);

  gst_cuda_convolve_frame_time_advance (&detections->time, segment, buffer, info);
  detections->is_counted = FALSE;
  detections->before = detections->all;
  detections->all = before;
  detections->heard_before = detections->heard;
  if (detections->width > 0 && (width != detections->width || height != detections->height))
    gst_cuda_convolve_sightings_scale (&detections->before, (gdouble) width / detections->width,
        (gdouble) height / detections->height);
  detections->width = width;
  detections->height = height;
}

static gboolean
is_recent (const GstCudaConvolveDetections *detections, const GstCudaConvolveMoment *then)
{
  return gst_cuda_convolve_frame_time_is_within (&detections->time, then, detections->hold);
}

/* --- all boxes --- */

/* Copies those that count. */
static void
copy_sightings (GstCudaConvolveDetections *detections, const GstCudaConvolveSightings *from)
{
  for (guint i = 0; i < from->sightings->len; i++) {
    const GstCudaConvolveSighting *sighting = &g_array_index (from->sightings, GstCudaConvolveSighting, i);

    if (!sighting->is_replaced && is_recent (detections, &sighting->seen))
      gst_cuda_convolve_sightings_copy (&detections->all, from, i);
  }
}

/* Makes one box of too many held ones: the whole frame, for as long as the last of them stays. */
static void
limit_held (GstCudaConvolveDetections *detections)
{
  GstCudaConvolveMoment last = { 0 };

  if (detections->all.boxes->len <= MOST_HELD)
    return;
  for (guint i = 0; i < detections->all.sightings->len; i++) {
    const GstCudaConvolveMoment *seen = &g_array_index (detections->all.sightings, GstCudaConvolveSighting, i).seen;

    if (seen->frame > last.frame)
      last = *seen;
  }
  take_frame (detections, &detections->all, &last);
  if (is_new_fault (detections, FAULT_TOO_MANY))
    detections->fault = g_strdup_printf ("region-hold: more than %d boxes of earlier frames are held, so the whole "
                                         "frame is one box; a shorter region-hold holds fewer",
        MOST_HELD);
}

static void
add_text (GstCudaConvolveDetections *detections, const GstVideoInfo *info)
{
  for (guint i = 0; i < detections->text->len; i++) {
    GstCudaConvolveBox box = gst_cuda_convolve_box_read_text (&g_array_index (detections->text, ConvolveTextBox, i),
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));

    g_array_append_val (detections->found, box);
  }
}

const GArray *
gst_cuda_convolve_detections_find (GstCudaConvolveDetections *detections, GstBuffer *buffer, const GstVideoInfo *info,
    gboolean *lost)
{
  detections->heard = read_metadata (detections, buffer) ? detections->time.now : detections->heard_before;
  *lost = (detections->sources & CONVOLVE_REGION_SOURCES_METADATA) && !is_recent (detections, &detections->heard);

  gst_cuda_convolve_tracks_match (detections->tracks, &detections->before, &detections->fresh);
  gst_cuda_convolve_sightings_empty (&detections->all);
  copy_sightings (detections, &detections->before);
  limit_held (detections);
  copy_sightings (detections, &detections->fresh);
  detections->too_many = FALSE;
  for (guint i = 0; i < detections->all.sightings->len; i++)
    detections->too_many |=
        g_array_index (detections->all.sightings, GstCudaConvolveSighting, i).source == SOURCE_TOO_MANY;

  g_array_set_size (detections->found, 0);
  if (detections->sources & CONVOLVE_REGION_SOURCE_TEXT)
    add_text (detections, info);
  g_array_append_vals (detections->found, detections->all.boxes->data, detections->all.boxes->len);
  return detections->found;
}

gboolean
gst_cuda_convolve_detections_are_too_many (const GstCudaConvolveDetections *detections)
{
  return detections->too_many;
}

guint
gst_cuda_convolve_detections_count_text (const GstCudaConvolveDetections *detections)
{
  return detections->sources & CONVOLVE_REGION_SOURCE_TEXT ? detections->text->len : 0;
}
