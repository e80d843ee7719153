/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A detector of faces: a program of its own, which gets frames on its standard input and answers with boxes. faces.py has
 * the form of both. The program is faces.py itself, or any command of the user.
 */
#ifndef FILM_DETECTOR_H
#define FILM_DETECTOR_H

#include <gst/video/video.h>

typedef struct _FilmDetector FilmDetector;

/* In pixels of the frame, which a box may pass. Width and height are above 0. */
typedef struct
{
  const gchar *type; /* as "face"; interned */
  gdouble x, y, width, height;
  gdouble confidence; /* 0 to 1; NAN where the detector does not tell */
} FilmBox;

/*
 * The properties of cudaconvolve that fit a detector, each as NAME=VALUE, up to NULL: a detector misses faces for some
 * frames, and its boxes leave out hair and chin.
 */
extern const gchar *const film_detector_properties[];

/*
 * With NULL the default model, with the name of a file that ends in .onnx this model, and otherwise a command with its
 * arguments, as a shell would split them. NULL with error, one line with the cure, where something is missing. SIGPIPE is
 * ignored from here on: a detector that dies is an error, and not the end of this program.
 */
FilmDetector *film_detector_new (const gchar *model_or_command, GError **error);
void film_detector_free (FilmDetector *detector);

/*
 * Puts the boxes (FilmBox) of an upright frame, which is mapped for reading, in the array in place of what was there. FALSE
 * with error where the detector has died, does not answer for a minute, or answers something else than boxes. All calls
 * come from one thread.
 */
gboolean film_detector_find (FilmDetector *detector, GstVideoFrame *frame, GArray *boxes, GError **error);

/* Adds boxes to a writable frame as GstVideoRegionOfInterestMeta. Rounding makes boxes larger. */
void film_boxes_attach (GstBuffer *frame, const GArray *boxes);

#endif
