/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the program check_cudamemory share. */
#ifndef TESTS_ELEMENT_CHECK_CUDAMEMORY_H
#define TESTS_ELEMENT_CHECK_CUDAMEMORY_H

#include <gst/check/gstcheck.h>

/* The tests of check_cudamemory_calls.c. */
TCase *calls_of_frames (void);

#endif
