/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program check_windows share. */
#ifndef TESTS_ELEMENT_CHECK_WINDOWS_H
#define TESTS_ELEMENT_CHECK_WINDOWS_H

#include <gst/check/gstcheck.h>

#include "support/element.h"
#include "support/names.h"

extern guint32 seed; /* of this run's pictures */

/* A mask with nothing in common between its four sides, sum 9, and what the mask makes of a frame. */
#define SKEWED "5x3: 1 -2 3 0 4; 5 0 -6 7 -1; 2 0 -3 1 -2"
Expected skewed_expected (ConvolveBoundary boundary, gdouble bias);

/* --- frames --- */

/* The formats of system memory that the element takes; the strings are static. */
GPtrArray *element_formats (void);

/* A format, a size, and more fields of the caps, as in "interlace-mode=mixed"; NULL where there are none. */
GstVideoInfo info_with (const gchar *format, gint width, gint height, const gchar *more);

/*
 * A frame whose bytes are all random: padding of pixels and rows, and unused bits below samples, too. Unused bits above
 * a sample are 0, because they would belong to a sample that is too large.
 */
GstBuffer *random_frame (const GstVideoInfo *info, guint32 number);

/* The rows of all planes, without what lies between the rows. */
GByteArray *rows_of (const GstVideoInfo *info, GstBuffer *buffer);

/* --- the element --- */

/* An element with these properties, on the CPU or over the fake device as the program runs; the caps are taken. */
GstHarness *windows_harness (const gchar *properties, GstCaps *caps);

/* Pushes the buffer, which is kept, and gives what comes out. */
GstBuffer *push_and_pull (GstHarness *harness, GstBuffer *in);

/* Counts the element's messages in GStreamer's log that begin so, from the first to the second call. */
void listen_begin (GstDebugLevel level, const gchar *begin);
guint listen_end (void);

/* --- parts of frames, as GStreamer's own unpacking sees them --- */

/* A part of a picture: the rows phase, phase + step, ... of the luma rectangle x by y, ends not included. */
typedef struct
{
  gint phase, step;
  gint x, x_end, y, y_end;
} Part;

/*
 * Compares the part of the frames with the oracle, as an image of its own. touching tells that chroma samples which
 * the part only touches belong to the part, as they do for a crop.
 */
void check_part (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, Part part, gboolean touching,
    const Expected *expected, const gchar *what);

/* The same for view 0 or 1 of column-interleaved views: every second column of each component. */
void check_columns (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, Part part, gint view, gboolean touching,
    const Expected *expected, const gchar *what);

/* Compares all bits of all samples that do not touch the part; they must be as they were. */
void check_rest (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, Part part, const gchar *what);

/* Compares all bits of all samples that touch the part; they must be those of the expected frame. */
void check_equal (const GstVideoInfo *info, GstBuffer *expected, GstBuffer *out, Part part, const gchar *what);

/* --- the tests --- */

TCase *component_tests (void);
TCase *field_tests (void);
TCase *crop_tests (void);
TCase *view_tests (void);
TCase *layer_tests (void);
TCase *region_tests (void);
TCase *iteration_tests (void);
TCase *light_tests (void);
TCase *cell_tests (void);

#endif
