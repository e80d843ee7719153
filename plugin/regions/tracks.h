/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The regions that metadata named in earlier frames, and which of them the regions of a new frame replace. */
#ifndef GST_CUDA_CONVOLVE_TRACKS_H
#define GST_CUDA_CONVOLVE_TRACKS_H

#include "regions/frametime.h"
#include "regions/object.h"
#include "regions/patches.h"

G_BEGIN_DECLS

/* A region from metadata: a face, or all parts of a person in a mask of segmentation. */
typedef struct
{
  GstCudaConvolveRectangle region; /* around all of its boxes */
  const gchar *type;               /* interned, or NULL */
  guint64 id;                      /* the tracker's number of the region, or GST_CUDA_CONVOLVE_NO_ID */
  gdouble confidence;              /* above 0, and up to 1; NaN where nobody told */
  guint source;                    /* a number for each kind of metadata */
  guint first_box, n_boxes;        /* in the list of boxes */
  GstCudaConvolveMoment seen;      /* the last frame that had the region */
  guint track;          /* which face this is, as far as known; a successor has the number of the region before */
  guint partner;        /* while frames are compared: 1 + the index of the region before or after, or 0 */
  gboolean is_certain;  /* the partner has the same id */
  gboolean is_replaced; /* does not count any more */

  /* Where the region was before, as lookahead.h says. */
  GstCudaConvolveRectangle was;
  GstCudaConvolveMoment was_seen; /* its frame is 0 where the region was nowhere */
  gboolean is_doubtful;           /* it may be another region that was there */
} GstCudaConvolveSighting;

typedef struct
{
  GArray *sightings; /* GstCudaConvolveSighting */
  GArray *boxes;     /* GstCudaConvolveBox, region after region */
} GstCudaConvolveSightings;

void gst_cuda_convolve_sightings_init (GstCudaConvolveSightings *sightings);
void gst_cuda_convolve_sightings_clear (GstCudaConvolveSightings *sightings);
void gst_cuda_convolve_sightings_empty (GstCudaConvolveSightings *sightings);

/*
 * Adds a box, with the type, id, confidence, source and moment of what. A part that follows a part of the same region,
 * type, id and source belongs to the sighting of that part.
 */
void gst_cuda_convolve_sightings_add (GstCudaConvolveSightings *sightings, const GstCudaConvolveBox *box,
    const GstCudaConvolveSighting *what);

/* Adds a sighting of other sightings, with its boxes. */
void gst_cuda_convolve_sightings_copy (GstCudaConvolveSightings *sightings, const GstCudaConvolveSightings *from,
    guint index);

/* Moves a sighting with its boxes, and stretches them, so that the region lies there. A turned box becomes upright. */
void gst_cuda_convolve_sightings_place (GstCudaConvolveSightings *sightings, guint index,
    const GstCudaConvolveRectangle *place);

/* Whether two regions have one type and source, and no different ids. */
gboolean gst_cuda_convolve_sightings_may_be_one (const GstCudaConvolveSighting *a, const GstCudaConvolveSighting *b);

/* The size of frames changed by these factors. */
void gst_cuda_convolve_sightings_scale (GstCudaConvolveSightings *sightings, gdouble across, gdouble down);

typedef struct _GstCudaConvolveTracks GstCudaConvolveTracks;

GstCudaConvolveTracks *gst_cuda_convolve_tracks_new (void);
void gst_cuda_convolve_tracks_free (GstCudaConvolveTracks *tracks);

/*
 * Compares the regions of a new frame with those of earlier frames, and marks those that are replaced. Of equal boxes in
 * fresh all but one are marked.
 *
 * A region takes the place of an earlier one with its type and source where it covers at least half of that one, and
 * where a quarter of what the two cover is common to both. So a face may move by half of its width from frame to frame,
 * and its box may double in width and height; a plate does not take the place of its car. Each region replaces one
 * earlier region at most. Those that were seen last come first, and among them the best overlap.
 *
 * Ids of a tracker come before that. A region takes the place of the one with its id, type and source, wherever the two
 * lie, and never the place of one with another id. An id that two regions of a frame and a source share says nothing of
 * where either of them went.
 *
 * A region and its successors are one track. Where a region could be the successor of two tracks, and no other region
 * follows the one that it did not replace, nobody knows which of two faces the region is. Both earlier ones stay then:
 * more is covered, never less. So two regions that were seen in one frame never replace each other.
 *
 * Time and memory are limited. Beyond a million pairs that lie side by side, or 65,536 pairs that fit, the rest of the
 * earlier regions are not replaced, and stay for their time.
 */
void gst_cuda_convolve_tracks_match (GstCudaConvolveTracks *tracks, GstCudaConvolveSightings *held,
    GstCudaConvolveSightings *fresh);

G_END_DECLS

#endif
