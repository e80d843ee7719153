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

/* The formats of system memory that the element takes; the strings are static. */
GPtrArray *element_formats (void);

/* An element with these properties, on the CPU or over the fake device as the program runs; the caps are taken. */
GstHarness *windows_harness (const gchar *properties, GstCaps *caps);

/* The tests of check_components.c. */
TCase *component_tests (void);

#endif
