/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chapters of films. GStreamer reads and writes those of Matroska. Those of MP4 and QuickTime lie in a box named chpl, which
 * GStreamer neither reads nor writes.
 */
#ifndef EXAMPLES_CHAPTERS_H
#define EXAMPLES_CHAPTERS_H

#include <gst/gst.h>

typedef struct _Chapters Chapters;

/* The chapters of an MP4 or QuickTime file, or of a GstToc; NULL where there are none. */
Chapters *chapters_read (const char *file);
Chapters *chapters_from_toc (const GstToc *toc);
void chapters_free (Chapters *chapters);

/* The chapters as a GstToc. The last one ends with the film, or has a second where it begins no earlier than that end. */
GstToc *chapters_to_toc (const Chapters *chapters, GstClockTime film);
guint chapters_count (const Chapters *chapters);

/* How many tracks of time codes an MP4 or QuickTime file has, which GStreamer does not show. */
guint time_codes_count (const char *file);

/* The content of the box chpl. */
GByteArray *chapters_to_chpl (const Chapters *chapters);

#endif
