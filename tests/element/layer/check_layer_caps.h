/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program check_layer_caps share. */
#ifndef TESTS_ELEMENT_CHECK_LAYER_CAPS_H
#define TESTS_ELEMENT_CHECK_LAYER_CAPS_H

#include <gst/check/gstcheck.h>

#include "element/layer/layer_case.h"
#include "support/element.h"

extern guint32 seed;  /* of this run */
extern gchar *folder; /* for files, removed at the end */

/* The tests of check_layer_refused.c. */
TCase *layer_refused (void);

#endif
