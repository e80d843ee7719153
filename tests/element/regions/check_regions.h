/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program check_regions share. */
#ifndef TESTS_ELEMENT_CHECK_REGIONS_H
#define TESTS_ELEMENT_CHECK_REGIONS_H

#include <gst/check/gstcheck.h>

#include "support/element.h"
#include "support/names.h"
#include "support/random.h"
#include "convolve_region.h"

#define MASK "mask=\"5x3: 1 -2 3 0 4; 5 0 -6 7 -1; 2 0 -3 1 -2\" boundary=reflect"
#define FILL "cudaconvolve apply-to=regions region-effect=fill "
#define MOST_BOXES 8

extern guint32 seed; /* of this run's pictures */

/* --- what is expected --- */

/* The result for a whole frame of an element with these properties. */
GstBuffer *convolve_whole (const gchar *properties, const GstVideoInfo *info, GstBuffer *in);

/* The boxes as the pixels of a component see them. */
ConvolveArea area_of (const GstVideoInfo *info, guint component, const ConvolveRect *boxes, gint count,
    ConvolveShape shape, gint feather, gboolean outside);

/* Draws an effect that is known for the whole frame. */
void expect_effect (const GstVideoInfo *info, Component into[4], GstBuffer *effect, const ConvolveRect *boxes,
    gint count, ConvolveShape shape, gint feather, gboolean outside);

/* As expect_effect (), for an area whose steps do not count. */
void expect_area (const GstVideoInfo *info, Component into[4], GstBuffer *effect, const ConvolveArea *area);

/* Fails the check, naming the place, where a sample is not the expected one; what describes the case. */
void compare_components (const GstVideoInfo *info, const Component expected[4], GstBuffer *out, const gchar *what);

/* As compare_components (), but samples may differ by `most`. */
void compare_components_within (const GstVideoInfo *info, const Component expected[4], GstBuffer *out, gint most,
    const gchar *what);

/* Every byte of the rows that no box touches, unused bits and padding of pixels too. */
void compare_rows_without_boxes (const GstVideoInfo *info, GstBuffer *in, GstBuffer *out, const ConvolveRect *boxes,
    gint count, gint feather);

/* --- boxes --- */

/* Writes up to MOST_BOXES boxes, some over each other or over an edge, and gives their number. */
gint random_boxes (CheckRandom *random, const GstVideoInfo *info, ConvolveRect *boxes);

/* The boxes as text, in luma pixels. */
gchar *text_of (const ConvolveRect *boxes, gint count);

/* Pushes the frame, and takes the result. In place where nobody else holds the frame. */
GstBuffer *push_frame (GstHarness *harness, GstBuffer *in, gboolean in_place);

/* A frame of one value, so that fill changes all of a box. */
GstBuffer *grey_frame (const GstVideoInfo *info, GstClockTime time);

/* Pushes the frame, and expects that all samples of this box changed, and no others. Takes in. */
void expect_box (GstHarness *harness, const GstVideoInfo *info, GstBuffer *in, gint x, gint y, gint width, gint height,
    const gchar *what);

/* Adds a GstVideoRegionOfInterestMeta, and gives the buffer. */
GstBuffer *add_region (GstBuffer *buffer, const gchar *type, gint x, gint y, gint width, gint height);

/* --- the tests of check_region_effects.c and of the other files check_region_*.c --- */

TCase *region_effects (void);
TCase *region_blocks (void);
TCase *region_ahead (void);
TCase *region_boxes (void);
TCase *region_choice (void);
TCase *region_hold (void);
TCase *region_shapes (void);
TCase *region_smooth (void);
TCase *region_pictures (void);
TCase *region_promises (void);
TCase *region_record (void);
TCase *region_warnings (void);

#endif
