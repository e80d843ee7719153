/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "detections.h"

#include "analytics.h"

#define USUAL_DURATION (GST_SECOND / 25) /* of a frame where neither time stamps nor caps tell */

/* A box from metadata, and when a frame had it last. */
typedef struct
{
  GstCudaConvolveBox box;
  GstClockTime seen;
} Sighting;

struct _GstCudaConvolveDetections
{
  GArray *text; /* ConvolveTextBox */
  gchar **types;
  guint sources;
  GstClockTime hold;

  GArray *sightings;  /* Sighting */
  GArray *found;      /* GstCudaConvolveBox, of the last frame */
  GstClockTime now;   /* of the last frame, or GST_CLOCK_TIME_NONE before the first */
  GstClockTime heard; /* when a frame had metadata last, or GST_CLOCK_TIME_NONE */
};

GstCudaConvolveDetections *
gst_cuda_convolve_detections_new (void)
{
  GstCudaConvolveDetections *detections = g_new0 (GstCudaConvolveDetections, 1);

  detections->text = g_array_new (FALSE, FALSE, sizeof (ConvolveTextBox));
  detections->types = g_new0 (gchar *, 1);
  detections->sightings = g_array_new (FALSE, FALSE, sizeof (Sighting));
  detections->found = g_array_new (FALSE, FALSE, sizeof (GstCudaConvolveBox));
  gst_cuda_convolve_detections_forget (detections);
  return detections;
}

void
gst_cuda_convolve_detections_free (GstCudaConvolveDetections *detections)
{
  g_array_unref (detections->text);
  g_strfreev (detections->types);
  g_array_unref (detections->sightings);
  g_array_unref (detections->found);
  g_free (detections);
}

void
gst_cuda_convolve_detections_forget (GstCudaConvolveDetections *detections)
{
  g_array_set_size (detections->sightings, 0);
  detections->now = detections->heard = GST_CLOCK_TIME_NONE;
}

gboolean
gst_cuda_convolve_detections_set (GstCudaConvolveDetections *detections, const ConvolveRegionSettings *settings,
    GError **error)
{
  GArray *text = NULL;
  gchar **types;

  if (!convolve_region_settings_boxes (settings, &text, error))
    return FALSE;
  if (!convolve_region_settings_types (settings, &types, error)) {
    g_array_unref (text);
    return FALSE;
  }
  g_array_unref (detections->text);
  g_strfreev (detections->types);
  detections->text = text;
  detections->types = types;
  detections->sources = settings->sources;
  detections->hold = settings->hold;
  return TRUE;
}

/* --- metadata --- */

/* Adds a box, unless it has no area. */
static void
add_sighting (GstCudaConvolveDetections *detections, const GstCudaConvolveBox *box)
{
  Sighting sighting = { *box, detections->now };

  if (box->area.width > 0 && box->area.height > 0)
    g_array_append_val (detections->sightings, sighting);
}

/* A box that is a region. */
static GstCudaConvolveBox
make_box (gdouble x, gdouble y, gdouble width, gdouble height)
{
  GstCudaConvolveRectangle area = { x, y, width, height };

  return (GstCudaConvolveBox){ area, area, FALSE };
}

static gboolean
read_regions_of_interest (GstCudaConvolveDetections *detections, GstBuffer *buffer)
{
  gboolean any = FALSE;
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    GstCudaConvolveBox box = make_box (region->x, region->y, region->w, region->h);

    any = TRUE;
    if (convolve_region_type_is_wanted (detections->types, g_quark_to_string (region->roi_type)))
      add_sighting (detections, &box);
  }
  return any;
}

static void
add_analytics_box (const gchar *type, const GstCudaConvolveBox *box, gpointer data)
{
  GstCudaConvolveDetections *detections = data;

  if (convolve_region_type_is_wanted (detections->types, type))
    add_sighting (detections, box);
}

/* Appends the boxes of the frame's metadata to the sightings. FALSE where the frame has no metadata at all. */
static gboolean
read_metadata (GstCudaConvolveDetections *detections, GstBuffer *buffer)
{
  gboolean any = FALSE;

  if (detections->sources & CONVOLVE_REGION_SOURCE_ROI)
    any |= read_regions_of_interest (detections, buffer);
  if (detections->sources & CONVOLVE_REGION_SOURCE_ANALYTICS)
    any |= gst_cuda_convolve_analytics_read (buffer, add_analytics_box, detections);
  return any;
}

/* --- time --- */

/* The frame's time stamp, or a guess where it has none. Where time goes back, earlier frames say nothing. */
static void
advance (GstCudaConvolveDetections *detections, GstBuffer *buffer, const GstVideoInfo *info)
{
  GstClockTime duration = USUAL_DURATION, now = GST_BUFFER_PTS (buffer);

  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    duration = gst_util_uint64_scale_int (GST_SECOND, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info));
  if (!GST_CLOCK_TIME_IS_VALID (now))
    now = GST_CLOCK_TIME_IS_VALID (detections->now) ? detections->now + duration : 0;
  if (GST_CLOCK_TIME_IS_VALID (detections->now) && now < detections->now)
    gst_cuda_convolve_detections_forget (detections);
  detections->now = now;
}

static gboolean
is_recent (const GstCudaConvolveDetections *detections, GstClockTime then)
{
  return GST_CLOCK_TIME_IS_VALID (then) && detections->now - then <= detections->hold;
}

static gboolean
has_centre_of (const GstCudaConvolveRectangle *a, const GstCudaConvolveRectangle *b)
{
  gdouble x = b->x + b->width / 2, y = b->y + b->height / 2;

  return x >= a->x && x < a->x + a->width && y >= a->y && y < a->y + a->height;
}

/* Whether a box of an earlier frame has gone: too long ago, or its face is in a box of this frame. */
static gboolean
is_gone (const GstCudaConvolveDetections *detections, guint index, guint first_new)
{
  const Sighting *sighting = &g_array_index (detections->sightings, Sighting, index);

  if (!is_recent (detections, sighting->seen))
    return TRUE;
  for (guint i = first_new; i < detections->sightings->len; i++)
    if (has_centre_of (&g_array_index (detections->sightings, Sighting, i).box.region, &sighting->box.region))
      return TRUE;
  return FALSE;
}

/* --- all boxes --- */

static void
add_text (GstCudaConvolveDetections *detections, const GstVideoInfo *info)
{
  const gdouble size[2] = { GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info) };

  for (guint i = 0; i < detections->text->len; i++) {
    const ConvolveTextBox *text = &g_array_index (detections->text, ConvolveTextBox, i);
    gdouble number[4];
    GstCudaConvolveBox box;

    for (guint k = 0; k < G_N_ELEMENTS (number); k++)
      number[k] = text->per_cent[k] ? text->number[k] * size[k % 2] / 100 : text->number[k];
    box = make_box (number[0], number[1], number[2], number[3]);
    g_array_append_val (detections->found, box);
  }
}

const GArray *
gst_cuda_convolve_detections_find (GstCudaConvolveDetections *detections, GstBuffer *buffer, const GstVideoInfo *info,
    gboolean *lost)
{
  guint first_new;

  advance (detections, buffer, info);
  first_new = detections->sightings->len;
  if (read_metadata (detections, buffer))
    detections->heard = detections->now;
  *lost = (detections->sources & CONVOLVE_REGION_SOURCES_METADATA) && !is_recent (detections, detections->heard);

  for (guint i = first_new; i-- > 0;)
    if (is_gone (detections, i, first_new)) {
      g_array_remove_index (detections->sightings, i);
      first_new--;
    }
  g_array_set_size (detections->found, 0);
  if (detections->sources & CONVOLVE_REGION_SOURCE_TEXT)
    add_text (detections, info);
  for (guint i = 0; i < detections->sightings->len; i++)
    g_array_append_val (detections->found, g_array_index (detections->sightings, Sighting, i).box);
  return detections->found;
}
