/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames that wait for later ones, and the boxes that later frames give to earlier ones. Knows no buffers and reads no
 * metadata. For one thread at a time.
 */
#ifndef GST_CUDA_CONVOLVE_LOOKAHEAD_H
#define GST_CUDA_CONVOLVE_LOOKAHEAD_H

#include "regions/tracks.h"

G_BEGIN_DECLS

/* A frame that came, with what its metadata has once that was read. */
typedef struct
{
  GstCudaConvolveFrameTime time; /* when the frame came */
  gpointer buffer;               /* of the frame, while it waits; for the caller */
  GstCudaConvolveSightings fresh;
  gboolean has_metadata;
  guint version;      /* of the settings by which the metadata was read; 0 before */
  gboolean is_linked; /* link() knows the frame */
} GstCudaConvolveArrival;

void gst_cuda_convolve_arrival_init (GstCudaConvolveArrival *arrival);
void gst_cuda_convolve_arrival_clear (GstCudaConvolveArrival *arrival);

typedef struct _GstCudaConvolveLookahead GstCudaConvolveLookahead;

GstCudaConvolveLookahead *gst_cuda_convolve_lookahead_new (void);
void gst_cuda_convolve_lookahead_free (GstCudaConvolveLookahead *lookahead);

/* Forgets the frames that wait, and all that earlier frames had. */
void gst_cuda_convolve_lookahead_forget (GstCudaConvolveLookahead *lookahead);

/* --- frames that wait --- */

/* Adds a frame that comes now, and gives its place, which is valid until the frame is taken. */
GstCudaConvolveArrival *gst_cuda_convolve_lookahead_add (GstCudaConvolveLookahead *lookahead,
    const GstCudaConvolveFrameTime *time, gpointer buffer);

guint gst_cuda_convolve_lookahead_count (const GstCudaConvolveLookahead *lookahead);
GstCudaConvolveArrival *gst_cuda_convolve_lookahead_get (const GstCudaConvolveLookahead *lookahead, guint index);

/* Time passes without a frame. */
void gst_cuda_convolve_lookahead_pass (GstCudaConvolveLookahead *lookahead, const GstCudaConvolveMoment *now);

/*
 * Whether the oldest frame has waited for `ahead` nanoseconds, in either direction, and for one later frame at least.
 * An `ahead` of 0 waits for nothing. Containers round time stamps, so a millisecond less is enough, or a quarter of a frame where that is shorter.
 */
gboolean gst_cuda_convolve_lookahead_is_due (const GstCudaConvolveLookahead *lookahead, guint64 ahead);

/* Takes the oldest frame, if any, in the place of *arrival, whose memory serves the next one. */
void gst_cuda_convolve_lookahead_take (GstCudaConvolveLookahead *lookahead, GstCudaConvolveArrival *arrival);

/* --- boxes --- */

/*
 * Finds where each fresh region of a frame was before. Frames come in their order, those that left before those that
 * wait. A region was where a region of an earlier frame was whose place it takes, as tracks.h says. Where that gives
 * none, the place is that of a region that nothing else followed: of its type, source and, if any, id; at most twice as
 * wide and as high, or half; and moved by at most half of its width and height for each frame in between. No region
 * stays for longer than `window` nanoseconds after it was seen.
 */
void gst_cuda_convolve_lookahead_link (GstCudaConvolveLookahead *lookahead, GstCudaConvolveTracks *tracks,
    GstCudaConvolveArrival *arrival, guint64 window);

/* Begins anew with the regions of earlier frames: the settings read other metadata. */
void gst_cuda_convolve_lookahead_link_anew (GstCudaConvolveLookahead *lookahead,
    const GstCudaConvolveSightings *earlier);

/* The size of frames changed by these factors. No frame that waits is linked. */
void gst_cuda_convolve_lookahead_scale (GstCudaConvolveLookahead *lookahead, gdouble across, gdouble down);

/*
 * Fills *found with the regions that frames up to `ahead` nanoseconds later give to the frame that was taken last.
 * Those frames are linked.
 *
 * A region that was nowhere before is taken as it is. One that was somewhere before this frame lies on its way, linear
 * in running time: its edges move, and its parts with them. Where it is in doubt which region of an earlier frame was
 * the same, both are taken. A region that this frame or one between has needs nothing.
 */
void gst_cuda_convolve_lookahead_find (const GstCudaConvolveLookahead *lookahead, const GstCudaConvolveArrival *frame,
    guint64 ahead, GstCudaConvolveSightings *found);

G_END_DECLS

#endif
