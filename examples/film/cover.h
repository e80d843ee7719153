/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes that hide something in a film. Boxes of a JSON file (see tracks.h), or those that a detector finds, go into each frame
 * as GstVideoRegionOfInterestMeta before the element. Each frame is compared with what the element makes of it: a box that
 * hides nothing is an error.
 */
#ifndef EXAMPLES_COVER_H
#define EXAMPLES_COVER_H

#include <gst/gst.h>

#include "options.h"

typedef struct _Cover Cover;

/*
 * For the options of a film, whose boxes are read, and the element, whose properties are set: those of the effect, and
 * of the user's those that cannot leave a box readable. NULL with a line where something is wrong.
 */
Cover *cover_new (const Options *options, GstElement *convolve);
void cover_free (Cover *cover);

/* Whether the boxes are boxes of a film of this size; FALSE with a line where not. */
gboolean cover_fits (Cover *cover, int width, int height);

/*
 * Puts the boxes of its time into a frame before the element. The frame may be replaced. A detector that fails is an error of
 * the element.
 */
void cover_frame (Cover *cover, GstBuffer **frame, GstClockTime begin, GstClockTime end);

/* Whether each box hid what lay under it, in a film that is complete. FALSE with a line where not. */
gboolean cover_is_whole (const Cover *cover);

/*
 * Writes the boxes of a film that is complete, and the page for them, into files, which may be NULL. The boxes are as large as
 * what was covered. FALSE with a line where a file cannot be written.
 */
gboolean cover_write (const Cover *cover, const char *save, const char *page);

/* Says how many of the film's frames were covered. */
void cover_say (const Cover *cover, guint64 frames);

#endif
