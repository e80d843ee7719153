/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which boxes a frame has: those of the property `regions`, those of the frame's metadata, and those that earlier
 * frames had not long ago. For one thread at a time.
 */
#ifndef GST_CUDA_CONVOLVE_DETECTIONS_H
#define GST_CUDA_CONVOLVE_DETECTIONS_H

#include <gst/video/video.h>

#include "regions/frametime.h"
#include "regions/patches.h"
#include "stream/record.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveDetections GstCudaConvolveDetections;

GstCudaConvolveDetections *gst_cuda_convolve_detections_new (void);
void gst_cuda_convolve_detections_free (GstCudaConvolveDetections *detections);

/* Forgets all earlier frames. */
void gst_cuda_convolve_detections_forget (GstCudaConvolveDetections *detections);

/*
 * Reads the texts of the settings. FALSE with error (CONVOLVE_PROPS_ERROR_REGIONS), and the texts before stay. Boxes of
 * earlier frames stay in any case.
 */
gboolean gst_cuda_convolve_detections_set (GstCudaConvolveDetections *detections,
    const ConvolveRegionSettings *settings, GError **error);

/*
 * A frame comes, which has info and lies in the segment, and waits. The buffer is read until the frame leaves. pass()
 * tells that no frame comes before the end, which is a time in the segment.
 */
void gst_cuda_convolve_detections_arrive (GstCudaConvolveDetections *detections, const GstSegment *segment,
    GstBuffer *buffer, const GstVideoInfo *info);
void gst_cuda_convolve_detections_pass (GstCudaConvolveDetections *detections, const GstSegment *segment,
    GstClockTime end, const GstVideoInfo *info);

/* Whether the oldest frame has waited for `ahead` nanoseconds, as lookahead.h says. */
gboolean gst_cuda_convolve_detections_is_due (GstCudaConvolveDetections *detections, guint64 ahead);

/* The oldest frame leaves, if any waits. */
void gst_cuda_convolve_detections_leave (GstCudaConvolveDetections *detections);

/*
 * Goes on to the frame that has left, which has info, as all that wait have. Boxes of earlier frames follow where
 * frames get another size.
 */
void gst_cuda_convolve_detections_advance (GstCudaConvolveDetections *detections, const GstVideoInfo *info);

/*
 * Finds the boxes of the frame that advance() was for. A box from metadata stays for `hold` after the last frame that
 * had it, in running time and in both directions, and at least for one frame more. Before that it ends only where a new
 * box of its type takes its place, as tracks.h says. A hold of 0 keeps no box.
 *
 * Frames that wait, up to `lookahead` later, give this frame boxes as lookahead.h says. These come last, and count for
 * this frame alone: no box is less than without look-ahead.
 *
 * Metadata that cannot be read gives no box, and the frame then counts as one without metadata. A box without width or
 * height is no box, but it is metadata: the detector was there, and found nothing. *lost tells whether the metadata is
 * missing for longer than `hold`.
 *
 * A second call finds the same. The array is of GstCudaConvolveBox, and valid until the next call. It has boxes outside
 * the frame, too.
 */
const GArray *gst_cuda_convolve_detections_find (GstCudaConvolveDetections *detections, GstBuffer *buffer,
    const GstVideoInfo *info, gboolean *lost);

/*
 * Whether the last frame, or one that counts for it, had too many boxes, and a box as large as the frame stands for
 * them. Then the whole frame is to be changed, whichever part the user asked for.
 */
gboolean gst_cuda_convolve_detections_are_too_many (const GstCudaConvolveDetections *detections);

/* When the frame is that advance() was for. */
const GstCudaConvolveMoment *gst_cuda_convolve_detections_now (const GstCudaConvolveDetections *detections);

/* The stream ends: what has not come so far is a fault, too. */
void gst_cuda_convolve_detections_end (GstCudaConvolveDetections *detections);

/* How many of the boxes that find() found last are those of the property regions; they come first. */
guint gst_cuda_convolve_detections_count_text (const GstCudaConvolveDetections *detections);

/* Where a box of a frame is from. */
typedef struct
{
  const gchar *source; /* static: text, roi, analytics or segment; NULL for a frame in the place of too many boxes */
  const gchar *type;   /* interned, or NULL */
  guint64 id;          /* as in GstCudaConvolveSighting; so is confidence */
  gdouble confidence;
  GstCudaConvolveHow how;
  guint region; /* a number that all parts of a region have, and no other box of this frame */
} GstCudaConvolveOrigin;

/* Where a box of those that find() found last is from; index counts in the array. */
GstCudaConvolveOrigin gst_cuda_convolve_detections_origin (const GstCudaConvolveDetections *detections, guint index);

/*
 * What was wrong with the metadata of the last frame, or did not come for long, for the user; to be freed. NULL where
 * nothing was, and where a fault of that kind was taken before. forget_faults() lets all kinds be told again.
 */
gchar *gst_cuda_convolve_detections_take_fault (GstCudaConvolveDetections *detections);
void gst_cuda_convolve_detections_forget_faults (GstCudaConvolveDetections *detections);

G_END_DECLS

#endif
