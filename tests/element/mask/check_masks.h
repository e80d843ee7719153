/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program check_masks share. */
#ifndef TESTS_ELEMENT_CHECK_MASKS_H
#define TESTS_ELEMENT_CHECK_MASKS_H

#include <gst/check/gstcheck.h>

#include "support/element.h"

#define HEARD (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING) /* an INFO may say that there is no GPU */

/* Sets the property weights to the array that gst-launch-1.0 would read from this text. */
void set_weights (GstElement *element, const gchar *text);

/* The tests of check_animated.c and check_mask_info.c. */
TCase *animated_tests (void);
TCase *mask_info_tests (void);

#endif
