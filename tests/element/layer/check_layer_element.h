/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program check_layer_element share. */
#ifndef TESTS_ELEMENT_CHECK_LAYER_ELEMENT_H
#define TESTS_ELEMENT_CHECK_LAYER_ELEMENT_H

#include <gst/check/gstcheck.h>

#include "element/layer/layer_case.h"
#include "support/element.h"

/* INFO messages do not count: the element on the CPU tells of itself with one. */
#define HEARD (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)

extern guint32 seed;         /* of this run */
extern gchar *folder;        /* for files, removed at the end */
extern gboolean over_device; /* the element runs over the fake device */

/* Starts the element with these properties. */
Run layer_run_start (const gchar *properties, const gchar *format, gint width, gint height);

/* The format and size of what comes out. */
GstVideoInfo layer_run_info (Run *run);

/* Frames are computed on a GPU, or on the fake device. */
gboolean layer_run_on_device (Run *run);

/* Pushes a frame and holds what comes out against the layer. */
GstVideoInfo layer_run_check (Run *run, const LayerCase *layer, FrameLayout layout, const gchar *what);

/* There is exactly one error or warning, of the settings, that holds these words; or there is none. */
void layer_run_expect (Run *run, GstMessageType type, const gchar *text);
void layer_run_expect_none (Run *run);

/* The tests of check_layer_changes.c. */
TCase *layer_changes (void);

#endif
