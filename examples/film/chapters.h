/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chapters of films. GStreamer reads and writes those of Matroska. Those of MP4 and QuickTime lie in a box named chpl, which this
 * file reads and adds.
 */
#ifndef EXAMPLES_CHAPTERS_H
#define EXAMPLES_CHAPTERS_H

#include <gst/gst.h>

typedef struct _Chapters Chapters;

/* The chapters of an MP4 or QuickTime file, or of a GstToc; NULL where there are none. */
Chapters *chapters_read (const char *file);
Chapters *chapters_from_toc (const GstToc *toc);
void chapters_free (Chapters *chapters);

/* The chapters as a GstToc. */
GstToc *chapters_to_toc (const Chapters *chapters);
guint chapters_count (const Chapters *chapters);

/* How many tracks of time codes an MP4 or QuickTime file has, which GStreamer does not show. */
guint time_codes_count (const char *file);

/* Adds them to a complete MP4 or QuickTime file whose box moov is the last one. FALSE with error where that fails. */
gboolean chapters_write (const Chapters *chapters, const char *file, GError **error);

#endif
