/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/detections.h"

#include <math.h>
#include <string.h>

#include "regions/analytics.h"
#include "regions/boxes.h"
#include "regions/lookahead.h"
#include "regions/wanted.h"

/* Beyond, earlier frames would take memory without end: their boxes become the whole frame. */
#define MOST_HELD 16384

/* Of the metadata of one frame; the rest is not read, and the whole frame is changed. */
#define MOST_READ 65536

/* Of all frames that wait together; a frame with more is changed as a whole. */
#define MOST_AHEAD 65536

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
  FAULT_SILENCE = 1 << 4,
  FAULT_TOO_MANY_AHEAD = 1 << 5
};

#define PATIENCE 50 /* frames, before the user is told that no metadata comes */

struct _GstCudaConvolveDetections
{
  GArray *text; /* ConvolveTextBox */
  GstCudaConvolveWanted *wanted;
  guint sources;
  gboolean takes_unlisted; /* samples of masks */
  GstClockTime hold;
  guint64 ahead; /* how far */
  guint version; /* of what says which metadata is read */

  GstCudaConvolveFrameTime time; /* of the frame that came last */
  GstCudaConvolveLookahead *lookahead;
  GstCudaConvolveArrival frame;    /* that left last: "this frame" below */
  GstCudaConvolveArrival *reading; /* whose metadata is read: this frame, or one that waits */
  guint linked_version;            /* of the frames that lookahead has linked */

  GstCudaConvolveTracks *tracks;
  GstCudaConvolveSightings before; /* all that counted in the frame before */
  GstCudaConvolveSightings all;    /* all that count in this frame and from it on */
  GstCudaConvolveSightings later;  /* what later frames give to this frame */
  GArray *found;                   /* GstCudaConvolveBox, of this frame */
  gint width, height;              /* of frames; 0 before the first */
  GstCudaConvolveMoment heard_before,
      heard; /* when a frame had metadata last: up to the frame before, up to this one */

  /* What has not come since the settings or the caps changed. */
  gboolean needs_metadata; /* nothing else says where regions are */
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
  detections->version = 1;
  detections->lookahead = gst_cuda_convolve_lookahead_new ();
  gst_cuda_convolve_arrival_init (&detections->frame);
  gst_cuda_convolve_sightings_init (&detections->before);
  gst_cuda_convolve_sightings_init (&detections->all);
  gst_cuda_convolve_sightings_init (&detections->later);
  detections->found = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
  return detections;
}

void
gst_cuda_convolve_detections_free (GstCudaConvolveDetections *detections)
{
  g_array_unref (detections->text);
  gst_cuda_convolve_wanted_free (detections->wanted);
  gst_cuda_convolve_tracks_free (detections->tracks);
  gst_cuda_convolve_lookahead_free (detections->lookahead);
  gst_cuda_convolve_arrival_clear (&detections->frame);
  gst_cuda_convolve_sightings_clear (&detections->before);
  gst_cuda_convolve_sightings_clear (&detections->all);
  gst_cuda_convolve_sightings_clear (&detections->later);
  g_array_unref (detections->found);
  g_free (detections->fault);
  g_free (detections);
}

void
gst_cuda_convolve_detections_forget (GstCudaConvolveDetections *detections)
{
  gst_cuda_convolve_lookahead_forget (detections->lookahead);
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
  gboolean reads_other;

  if (!convolve_region_settings_boxes (settings, &text, error))
    return FALSE;
  if (!gst_cuda_convolve_wanted_set (detections->wanted, settings, &reads_other, error)) {
    g_array_unref (text);
    return FALSE;
  }
  reads_other |= settings->sources != detections->sources;
  detections->version += reads_other;
  g_array_unref (detections->text);
  detections->text = text;
  detections->sources = settings->sources;
  detections->takes_unlisted = convolve_region_settings_take_unknown (settings);
  detections->hold = settings->hold;
  detections->ahead = convolve_region_settings_lookahead (settings);
  detections->needs_metadata = settings->apply_to == CONVOLVE_APPLY_TO_REGIONS
      && settings->fallback == CONVOLVE_REGION_FALLBACK_NONE && (settings->sources & CONVOLVE_REGION_SOURCES_METADATA)
      && !(settings->sources & CONVOLVE_REGION_SOURCE_ALPHA) && !settings->mask
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

/* Counts a frame, which was never read before. */
static void
count_frame (GstCudaConvolveDetections *detections, gboolean has_metadata)
{
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
    .seen = detections->reading->time.now };

  gst_cuda_convolve_sightings_add (&detections->reading->fresh, box, &what);
}

static gboolean
is_full (const GstCudaConvolveDetections *detections)
{
  return detections->reading->fresh.boxes->len > MOST_READ;
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
    if (gst_cuda_convolve_wanted_takes (detections->wanted, &object, GST_CUDA_CONVOLVE_WANTED_ROI)
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

  if (is_full (detections)
      || !gst_cuda_convolve_wanted_takes (detections->wanted, object, GST_CUDA_CONVOLVE_WANTED_OBJECT))
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

  if (!is_full (detections)
      && gst_cuda_convolve_wanted_takes (detections->wanted, object, GST_CUDA_CONVOLVE_WANTED_PART))
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
  GstCudaConvolveArrival *frame = detections->reading;

  if (!is_full (detections))
    return;
  take_frame (detections, &frame->fresh, &frame->time.now);
  if (is_new_fault (detections, FAULT_TOO_MANY_READ))
    detections->fault = g_strdup_printf ("region-sources: the metadata of a frame has more than %d boxes, so the whole "
                                         "frame is changed; region-types takes fewer, or a detector with a threshold",
        MOST_READ);
}

/* Lets one box stand for those of a frame that waits, where all such frames have too many of them. */
static void
limit_waiting (GstCudaConvolveDetections *detections)
{
  GstCudaConvolveArrival *frame = detections->reading;
  guint n = 0;

  for (guint i = 0; i < gst_cuda_convolve_lookahead_count (detections->lookahead); i++)
    n += gst_cuda_convolve_lookahead_get (detections->lookahead, i)->fresh.boxes->len;
  if (n <= MOST_AHEAD)
    return;
  take_frame (detections, &frame->fresh, &frame->time.now);
  if (is_new_fault (detections, FAULT_TOO_MANY_AHEAD))
    detections->fault =
        g_strdup_printf ("region-lookahead: the frames that wait have more than %d boxes together, so the "
                         "whole frame is changed; a shorter region-lookahead has fewer",
            MOST_AHEAD);
}

/* Reads a frame's metadata, where these settings have not done so. Metadata that cannot be read counts as none. */
static void
read_metadata (GstCudaConvolveDetections *detections, GstCudaConvolveArrival *frame, GstBuffer *buffer)
{
  const GstCudaConvolveAnalyticsReader reader = { detections, detections->width, detections->height,
    gst_cuda_convolve_wanted_needs_names (detections->wanted), detections->takes_unlisted, add_object, add_part,
    refuse_mask };
  gboolean any;

  if (frame->version == detections->version)
    return;
  detections->reading = frame;
  frame->is_linked = FALSE;
  gst_cuda_convolve_wanted_begin (detections->wanted);
  do {
    any = FALSE;
    detections->refused = FALSE;
    gst_cuda_convolve_sightings_empty (&frame->fresh);
    if (detections->sources & CONVOLVE_REGION_SOURCE_ROI)
      any |= read_regions_of_interest (detections, buffer);
    if (detections->sources & CONVOLVE_REGION_SOURCE_ANALYTICS)
      any |= gst_cuda_convolve_analytics_read (buffer, &reader);
  } while (gst_cuda_convolve_wanted_doubts (detections->wanted));
  limit_fresh (detections);
  if (frame->version == 0)
    count_frame (detections, any);
  frame->version = detections->version;
  frame->has_metadata = any && !detections->refused;
}

/* Reads this frame and those that wait, and finds where their regions were before. */
static void
read_ahead (GstCudaConvolveDetections *detections)
{
  guint64 window = detections->hold + MIN (detections->ahead, G_MAXUINT64 - detections->hold);

  if (detections->linked_version != detections->version)
    gst_cuda_convolve_lookahead_link_anew (detections->lookahead, &detections->before);
  detections->linked_version = detections->version;
  gst_cuda_convolve_lookahead_link (detections->lookahead, detections->tracks, &detections->frame, window);
  for (guint i = 0; i < gst_cuda_convolve_lookahead_count (detections->lookahead); i++) {
    GstCudaConvolveArrival *frame = gst_cuda_convolve_lookahead_get (detections->lookahead, i);

    if (frame->version != detections->version) {
      read_metadata (detections, frame, frame->buffer);
      limit_waiting (detections);
    }
    gst_cuda_convolve_lookahead_link (detections->lookahead, detections->tracks, frame, window);
  }
}

/* --- time --- */

void
gst_cuda_convolve_detections_arrive (GstCudaConvolveDetections *detections, const GstSegment *segment,
    GstBuffer *buffer, const GstVideoInfo *info)
{
  gst_cuda_convolve_frame_time_advance (&detections->time, segment, buffer, info);
  gst_cuda_convolve_lookahead_add (detections->lookahead, &detections->time, buffer);
}

void
gst_cuda_convolve_detections_pass (GstCudaConvolveDetections *detections, const GstSegment *segment, GstClockTime end,
    const GstVideoInfo *info)
{
  GstCudaConvolveFrameTime time = detections->time;
  g_autoptr (GstBuffer) next = gst_buffer_new ();

  GST_BUFFER_PTS (next) = end;
  gst_cuda_convolve_frame_time_advance (&time, segment, next, info);
  gst_cuda_convolve_lookahead_pass (detections->lookahead, &time.now);
}

gboolean
gst_cuda_convolve_detections_is_due (GstCudaConvolveDetections *detections, guint64 ahead)
{
  return gst_cuda_convolve_lookahead_is_due (detections->lookahead, ahead);
}

void
gst_cuda_convolve_detections_leave (GstCudaConvolveDetections *detections)
{
  gst_cuda_convolve_lookahead_take (detections->lookahead, &detections->frame);
}

void
gst_cuda_convolve_detections_advance (GstCudaConvolveDetections *detections, const GstVideoInfo *info)
{
  GstCudaConvolveSightings before = detections->before;
  gint width = GST_VIDEO_INFO_WIDTH (info), height = GST_VIDEO_INFO_HEIGHT (info);

  detections->before = detections->all;
  detections->all = before;
  detections->heard_before = detections->heard;
  if (detections->width > 0 && (width != detections->width || height != detections->height)) {
    gdouble across = (gdouble) width / detections->width, down = (gdouble) height / detections->height;

    gst_cuda_convolve_sightings_scale (&detections->before, across, down);
    gst_cuda_convolve_lookahead_scale (detections->lookahead, across, down);
  }
  detections->width = width;
  detections->height = height;
}

const GstCudaConvolveMoment *
gst_cuda_convolve_detections_now (const GstCudaConvolveDetections *detections)
{
  return &detections->frame.time.now;
}

static gboolean
is_recent (const GstCudaConvolveDetections *detections, const GstCudaConvolveMoment *then)
{
  return gst_cuda_convolve_frame_time_is_within (&detections->frame.time, then, detections->hold);
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

/* Whether a box stands for too many of them. */
static gboolean
has_too_many (const GstCudaConvolveSightings *sightings)
{
  for (guint i = 0; i < sightings->sightings->len; i++)
    if (g_array_index (sightings->sightings, GstCudaConvolveSighting, i).source == SOURCE_TOO_MANY)
      return TRUE;
  return FALSE;
}

const GArray *
gst_cuda_convolve_detections_find (GstCudaConvolveDetections *detections, GstBuffer *buffer, const GstVideoInfo *info,
    gboolean *lost)
{
  GstCudaConvolveArrival *frame = &detections->frame;

  read_metadata (detections, frame, buffer);
  gst_cuda_convolve_sightings_empty (&detections->later);
  if (detections->ahead > 0) {
    read_ahead (detections);
    gst_cuda_convolve_lookahead_find (detections->lookahead, frame, detections->ahead, &detections->later);
  }
  detections->heard = frame->has_metadata ? frame->time.now : detections->heard_before;
  *lost = (detections->sources & CONVOLVE_REGION_SOURCES_METADATA) && !is_recent (detections, &detections->heard);

  gst_cuda_convolve_tracks_match (detections->tracks, &detections->before, &frame->fresh);
  gst_cuda_convolve_sightings_empty (&detections->all);
  copy_sightings (detections, &detections->before);
  limit_held (detections);
  copy_sightings (detections, &frame->fresh);
  detections->too_many = has_too_many (&detections->all) || has_too_many (&detections->later);

  g_array_set_size (detections->found, 0);
  if (detections->sources & CONVOLVE_REGION_SOURCE_TEXT)
    add_text (detections, info);
  g_array_append_vals (detections->found, detections->all.boxes->data, detections->all.boxes->len);
  g_array_append_vals (detections->found, detections->later.boxes->data, detections->later.boxes->len);
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

/* The sighting that has the box of this index. */
static guint
find_sighting (const GArray *sightings, guint box)
{
  guint from = 0, to = sightings->len;

  while (to - from > 1) {
    guint middle = (from + to) / 2;

    if (g_array_index (sightings, GstCudaConvolveSighting, middle).first_box <= box)
      from = middle;
    else
      to = middle;
  }
  return from;
}

GstCudaConvolveOrigin
gst_cuda_convolve_detections_origin (const GstCudaConvolveDetections *detections, guint index)
{
  static const gchar *const sources[] = { [SOURCE_ROI] = "roi",
    [SOURCE_OBJECT] = "analytics",
    [SOURCE_SEGMENT] = "segment",
    [SOURCE_TOO_MANY] = NULL };
  guint n_text = gst_cuda_convolve_detections_count_text (detections), n_all = n_text + detections->all.boxes->len;
  const GArray *sightings = index < n_all ? detections->all.sightings : detections->later.sightings;
  const GstCudaConvolveSighting *sighting;
  guint number;

  if (index < n_text)
    return (
        GstCudaConvolveOrigin){ .source = "text", .id = GST_CUDA_CONVOLVE_NO_ID, .confidence = NAN, .region = index };
  number = find_sighting (sightings, index - (index < n_all ? n_text : n_all));
  sighting = &g_array_index (sightings, GstCudaConvolveSighting, number);
  return (GstCudaConvolveOrigin){ .source = sources[sighting->source],
    .type = sighting->type,
    .id = sighting->id,
    .confidence = sighting->confidence,
    .how = index >= n_all                                          ? GST_CUDA_CONVOLVE_HOW_LOOKED_AHEAD
        : sighting->seen.frame != detections->frame.time.now.frame ? GST_CUDA_CONVOLVE_HOW_HELD
                                                                   : GST_CUDA_CONVOLVE_HOW_SEEN,
    .region = number + (index < n_all ? n_text : n_all) };
}
