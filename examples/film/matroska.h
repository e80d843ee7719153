/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mends what GStreamer's muxer for Matroska writes wrong, in the complete file. The file keeps its size. */
#ifndef EXAMPLES_MATROSKA_H
#define EXAMPLES_MATROSKA_H

#include <gst/gst.h>

#include "origin.h"

/*
 * Texts of tags stand in quotation marks, and with escapes, where they hold a space or a letter that is not ASCII. The
 * brightness of HDR is five times too low; the right one is in mastering, as caps hold it, or NULL. The film lasts as long as
 * its longest stream, without the time before that stream begins; the right time is end. The date is that of writing, and tracks have no
 * flags, but names of the muxer's own: origin has the date, and tracks a Track for each track of the file; those of one kind have
 * the order of the file. FALSE with error where the file cannot be written.
 */
gboolean matroska_mend (const char *file, const char *mastering, GstClockTime end, const Origin *origin,
    const GArray *tracks, GError **error);

#endif
