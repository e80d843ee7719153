/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program check_element share. */
#ifndef TESTS_ELEMENT_CHECK_ELEMENT_H
#define TESTS_ELEMENT_CHECK_ELEMENT_H

#include <gst/check/gstcheck.h>

#include "support/element.h"
#include "support/names.h"
#include "masks/mask_text.h"

extern guint32 seed; /* of this run's pictures */

/* A mask with nothing in common between its four sides, sum 9. */
#define SKEWED "5x3: 1 -2 3 0 4; 5 0 -6 7 -1; 2 0 -3 1 -2"
#define SKEWED_SUM 9

/* What SKEWED makes of a frame. */
Expected skewed_expected (ConvolveBoundary boundary, gdouble bias);

/* An element with these properties in a harness; the caps are taken. */
GstHarness *harness_new (const gchar *properties, GstCaps *caps);

/* Pushes one frame and compares what comes out. */
void check_one (GstHarness *harness, const GstVideoInfo *info, FrameLayout layout, const Expected *expected,
    const gchar *what);

/* The tests of check_element_changes.c. */
TCase *element_changes (void);

#endif
