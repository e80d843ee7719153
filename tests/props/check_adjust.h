/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_PROPS_CHECK_ADJUST_H
#define TESTS_PROPS_CHECK_ADJUST_H

#include <gst/check/gstcheck.h>

/* The tests of check_adjust.c, for the program check_sources. */
TCase *mask_adjustments (void);

/* The tests of check_shapes.c, for the same program. */
TCase *mask_shapes (void);

#endif
