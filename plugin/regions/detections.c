/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/detections.h"

#include <math.h>
#include <string.h>

#include "regions/analytics.h"
#include "regions/boxes.h"
#include "regions/frametime.h"
#include "token.h"
#include "regions/tracks.h"

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
  FAULT_TYPE = 1 << 4,
  FAULT_SILENCE = 1 << 5
};

#define PATIENCE 50  /* frames, before the user is told that something does not come */
#define MOST_TYPES 8 /* that a message lists */

struct _GstCudaConvolveDetections
{
  GArray *text; /* ConvolveTextBox */
  gchar **types;
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
  guint n_other;           /* frames with regions, while a wanted type never came */
  GHashTable *missing;     /* wanted types that never came, in lower case; owned */
  GPtrArray *came;         /* some types that came, interned */
  gboolean any_type;       /* this frame has regions */

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
  detections->types = g_new0 (gchar *, 1);
  detections->tracks = gst_cuda_convolve_tracks_new ();
  gst_cuda_convolve_sightings_init (&detections->before);
  gst_cuda_convolve_sightings_init (&detections->fresh);
  gst_cuda_convolve_sightings_init (&detections->all);
  detections->found = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
  detections->missing = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  detections->came = g_ptr_array_new ();
  return detections;
}

void
gst_cuda_convolve_detections_free (GstCudaConvolveDetections *detections)
{
  g_array_unref (detections->text);
  g_strfreev (detections->types);
  gst_cuda_convolve_tracks_free (detections->tracks);
  gst_cuda_convolve_sightings_clear (&detections->before);
  gst_cuda_convolve_sightings_clear (&detections->fresh);
  gst_cuda_convolve_sightings_clear (&detections->all);
  g_array_unref (detections->found);
  g_hash_table_unref (detections->missing);
  g_ptr_array_unref (detections->came);
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

/* Begins to wait for all types that are wanted by name. */
static void
wait_for_types (GstCudaConvolveDetections *detections)
{
  detections->n_other = 0;
  g_ptr_array_set_size (detections->came, 0);
  g_hash_table_remove_all (detections->missing);
  for (guint i = 0; detections->types[i]; i++)
    if (detections->types[i][0] != '!')
      g_hash_table_add (detections->missing, g_strdup (detections->types[i]));
}

gboolean
gst_cuda_convolve_detections_set (GstCudaConvolveDetections *detections, const ConvolveRegionSettings *settings,
    GError **error)
{
  GArray *text = NULL;
  gboolean new_types;
  gchar **types;

  if (!convolve_region_settings_boxes (settings, &text, error))
    return FALSE;
  if (!convolve_region_settings_types (settings, &types, error)) {
    g_array_unref (text);
    return FALSE;
  }
  new_types = !g_strv_equal ((const gchar *const *) detections->types, (const gchar *const *) types);
  g_array_unref (detections->text);
  g_strfreev (detections->types);
  detections->text = text;
  detections->types = types;
  detections->sources = settings->sources;
  detections->hold = settings->hold;
  detections->needs_metadata = settings->apply_to == CONVOLVE_APPLY_TO_REGIONS
      && settings->fallback == CONVOLVE_REGION_FALLBACK_NONE && (settings->sources & CONVOLVE_REGION_SOURCES_METADATA)
      && (text->len == 0 || !(settings->sources & CONVOLVE_REGION_SOURCE_TEXT));
  if (new_types)
    wait_for_types (detections);
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
  wait_for_types (detections);
}

/* --- what does not come --- */

/* Notes the type of a region, and tells whether the region counts. */
static gboolean
is_wanted (GstCudaConvolveDetections *detections, const gchar *type)
{
  detections->any_type = TRUE;
  if (g_hash_table_size (detections->missing) > 0 && type
      && !g_ptr_array_find (detections->came, (gpointer) type, NULL)) {
    g_autofree gchar *lower = g_utf8_strdown (type, -1);

    g_hash_table_remove (detections->missing, lower);
    if (detections->came->len <= MOST_TYPES)
      g_ptr_array_add (detections->came, (gpointer) type);
  }
  return convolve_region_type_is_wanted (detections->types, type);
}

/* Adds a type to a list in a message, which has at most MOST_TYPES of them. */
static void
list_type (GString *list, guint n, const gchar *type)
{
  g_autofree gchar *quoted = convolve_token_quote (type, strlen (type));

  if (n < MOST_TYPES)
    g_string_append_printf (list, "%s%s", n > 0 ? ", " : "", quoted);
  else if (n == MOST_TYPES)
    g_string_append (list, " and others");
}

static void
tell_of_missing_types (GstCudaConvolveDetections *detections)
{
  g_autoptr (GString) missing = g_string_new (NULL), came = g_string_new (NULL);
  guint n = 0;

  if (!is_new_fault (detections, FAULT_TYPE))
    return;
  for (guint i = 0; detections->types[i]; i++)
    if (g_hash_table_contains (detections->missing, detections->types[i]))
      list_type (missing, n++, detections->types[i]);
  for (guint i = 0; i < detections->came->len; i++)
    list_type (came, i, g_ptr_array_index (detections->came, i));
  detections->fault =
      g_strdup_printf ("region-types: no region of the types %s came in %u frames with regions; %s%s. Write "
                       "the types as the detector does, split by commas",
          missing->str, detections->n_other, came->len > 0 ? "types that came: " : "those had no type", came->str);
}

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

/* Counts the frame, once. */
static void
count_frame (GstCudaConvolveDetections *detections, gboolean has_metadata)
{
  if (detections->is_counted)
    return;
  detections->is_counted = TRUE;
  detections->was_heard |= has_metadata;
  if (detections->any_type && g_hash_table_size (detections->missing) > 0)
    detections->n_other++;
  if (detections->needs_metadata && !detections->was_heard)
    detections->n_silent++;
  if (detections->n_other == PATIENCE)
    tell_of_missing_types (detections);
  if (detections->n_silent == PATIENCE)
    tell_of_silence (detections);
}

void
gst_cuda_convolve_detections_end (GstCudaConvolveDetections *detections)
{
  if (detections->n_other > 0 && g_hash_table_size (detections->missing) > 0)
    tell_of_missing_types (detections);
  if (detections->n_silent > 0 && !detections->was_heard)
    tell_of_silence (detections);
}

/* --- metadata --- */

/* A confidence of 0 is what writers leave who know none. */
static void
add_sighting (GstCudaConvolveDetections *detections, const GstCudaConvolveBox *box, const gchar *type, guint64 id,
    gdouble confidence, guint source)
{
  const GstCudaConvolveSighting what = { .type = type,
    .id = id,
    .confidence = confidence > 0 && confidence <= 1 ? confidence : NAN,
    .source = source,
    .seen = detections->time.now };

  gst_cuda_convolve_sightings_add (&detections->fresh, box, &what);
}

static gboolean
is_full (const GstCudaConvolveDetections *detections)
{
  return detections->fresh.boxes->len > MOST_READ;
}

/*
 * The track of a region, as DL Streamer's trackers write it. The meta's own id is a number within one frame, where it is
 * set at all, and says nothing of other frames.
 */
static guint64
track_of (GstVideoRegionOfInterestMeta *region)
{
  const GstStructure *param = gst_video_region_of_interest_meta_get_param (region, "object_id");
  gint id;

  return param && gst_structure_get_int (param, "id", &id) && id > 0 ? (guint64) id : GST_CUDA_CONVOLVE_NO_ID;
}

/* The confidence of a region, as most detectors write it, or NaN. */
static gdouble
confidence_of (GstVideoRegionOfInterestMeta *region)
{
  const GstStructure *param = gst_video_region_of_interest_meta_get_param (region, "detection");
  const GValue *value = param ? gst_structure_get_value (param, "confidence") : NULL;

  if (value && G_VALUE_HOLDS_DOUBLE (value))
    return g_value_get_double (value);
  return value && G_VALUE_HOLDS_FLOAT (value) ? g_value_get_float (value) : NAN;
}

static gboolean
read_regions_of_interest (GstCudaConvolveDetections *detections, GstBuffer *buffer)
{
  gboolean any = FALSE;
  gpointer state = NULL;
  GstMeta *meta;

  while (!is_full (detections)
      && (meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    const gchar *type = g_quark_to_string (region->roi_type);
    GstCudaConvolveBox box;

    any = TRUE;
    if (is_wanted (detections, type)
        && gst_cuda_convolve_box_read_unsigned (region->x, region->y, region->w, region->h, detections->width,
               detections->height, &box)
            == GST_CUDA_CONVOLVE_BOX_TAKEN)
      add_sighting (detections, &box, type, track_of (region), confidence_of (region), SOURCE_ROI);
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

  if (is_full (detections) || !is_wanted (detections, object->type))
    return;
  switch (gst_cuda_convolve_box_read_turned (object->x, object->y, object->width, object->height, object->angle,
      detections->width, detections->height, &box)) {
    case GST_CUDA_CONVOLVE_BOX_TAKEN:
      add_sighting (detections, &box, object->type, object->id, object->confidence, SOURCE_OBJECT);
      break;
    case GST_CUDA_CONVOLVE_BOX_EMPTY:
      break;
    case GST_CUDA_CONVOLVE_BOX_REFUSED:
      refuse_object (detections, object);
      break;
  }
}

static void
add_part (gpointer data, const gchar *type, const GstCudaConvolveBox *box)
{
  GstCudaConvolveDetections *detections = data;

  if (!is_full (detections) && is_wanted (detections, type))
    add_sighting (detections, box, type, GST_CUDA_CONVOLVE_NO_ID, NAN, SOURCE_SEGMENT);
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
  GstCudaConvolveBox box = { frame, frame, FALSE };
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
  const GstCudaConvolveAnalyticsReader reader = { detections, detections->width, detections->height, add_object,
    add_part, refuse_mask };
  gboolean any = FALSE;

  detections->refused = detections->any_type = FALSE;
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
