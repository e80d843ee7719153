/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The atom moov of a complete MP4 or QuickTime file: what GStreamer's muxer does not write there. */
#ifndef EXAMPLES_MOOV_H
#define EXAMPLES_MOOV_H

#include <glib.h>

#include "chapters.h"
#include "origin.h"

/*
 * Adds chapters, or none where that is NULL, the time at which the film was made, tags of QuickTime and notes of cameras, and names
 * and flags of the tracks. tracks holds a Track for each track of the file; those of one kind have the order of the file. moov
 * grows, so the frames have to stand in front of it. FALSE with error where the file cannot be written.
 */
gboolean moov_complete (const char *file, const Chapters *chapters, const Origin *origin, const GArray *tracks,
    GError **error);

#endif
