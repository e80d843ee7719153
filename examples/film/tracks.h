/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes that move: each track is one face, or one other thing, with its box at some times. */
#ifndef TRACKS_H
#define TRACKS_H

#include <gst/gst.h>

typedef struct _Tracks Tracks;

/* Pixels of the film. Width and height are above 0; a box may lie outside the picture. */
typedef struct
{
  double x, y, width, height;
} Box;

Tracks *tracks_new (void);
void tracks_free (Tracks *tracks);
guint tracks_count (const Tracks *tracks);

/*
 * Reads a JSON file: an object of types, each with a list of tracks. A track is a list of keyframes in the order of
 * their times. NULL with error, which names the file and the line or the track, where the file cannot be used.
 *
 *   { "face": [ [ { "time": 1.24, "x": 200, "y": 46, "width": 160, "height": 195 },
 *                 { "time": 2.76, "x": 200, "y": 14, "width": 160, "height": 195 } ] ] }
 */
Tracks *tracks_load (const char *file, GError **error);
gboolean tracks_save (const Tracks *tracks, const char *file, GError **error);

/* The same as a text, to be freed. */
char *tracks_to_text (const Tracks *tracks);

/*
 * Adds a box that was found at a time. Times of calls do not go back. The box goes on with the track whose last box is
 * at most gap old and lies in the same place. Otherwise the box begins a track.
 */
void tracks_add (Tracks *tracks, const char *type, GstClockTime time, const Box *box, GstClockTime gap);

/*
 * Makes tracks that were found as large as what an element covers for them: each box grows by a share of its width and height
 * on each side, as far as the picture goes. Each track begins and ends earlier and later, with its first and its last box,
 * and not after the time end.
 */
void tracks_widen (Tracks *tracks, double share, GstClockTime earlier, GstClockTime later, int width, int height,
    GstClockTime end);

/*
 * Whether all boxes of a file lie in a picture of this size, at least in part. FALSE with error, which names the line of the
 * first one that does not, or that passes an edge by more than half the picture, as boxes of a larger film do.
 */
gboolean tracks_fit (const Tracks *tracks, int width, int height, const char *file, GError **error);

/* The line of the first box where no track has a second one, so that each box covers one frame alone; 0 otherwise. */
int tracks_alone (const Tracks *tracks);

/* The line of the first box that passes the right or the lower edge of the picture by a pixel or more; 0 where none does. */
int tracks_over_edge (const Tracks *tracks, int width, int height);

/* Whether each track had a frame. FALSE with error, which names the line of the first track that had none. */
gboolean tracks_used (const Tracks *tracks, const char *file, GError **error);

/*
 * Adds a GstVideoRegionOfInterestMeta to the frame, which is writable, for each track that has a box between begin and
 * end, and for each track that begins at most lead later: those are early. Between keyframes boxes are interpolated
 * linearly. Returns the number of boxes.
 */
guint tracks_attach (Tracks *tracks, GstBuffer *frame, GstClockTime begin, GstClockTime end, GstClockTime lead,
    guint *early);

#endif
