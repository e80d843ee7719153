/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MP4 films that were cut without encoding, as by ffmpeg -ss -c copy. An edit list then begins in the middle of the frames. qtdemux
 * compares the times of such frames with the duration of the film, though these count from the first frame in the file, shown or
 * not, and ends too early: at the next keyframe, or before the first frame.
 */
#ifndef EXAMPLES_CUTS_H
#define EXAMPLES_CUTS_H

#include <gst/gst.h>

/*
 * Lets a source of the file give a longer duration in the header, so that the demuxer reads all frames. Returns by how much; the
 * edit lists still say what is shown. 0 where there is nothing to mend.
 */
GstClockTime cuts_mend (GstElement *source, const char *file);

/* Takes this off the durations that are asked for through a pad of the demuxer. */
void cuts_take_off (GstPad *pad, GstClockTime surplus);

#endif
