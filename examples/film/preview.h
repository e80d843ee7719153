/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Boxes drawn over a film, in place of an effect. */
#ifndef FILM_PREVIEW_H
#define FILM_PREVIEW_H

#include <gst/video/video.h>

/*
 * Draws the outline of each GstVideoRegionOfInterestMeta into a frame, which is writable. Each type has a colour. FALSE
 * where the frame cannot be mapped.
 */
gboolean film_preview_draw (GstBuffer *frame, const GstVideoInfo *info);

#endif
