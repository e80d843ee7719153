/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Test cases that the files of the program check_flights share. */
#ifndef TESTS_ELEMENT_CHECK_FLIGHTS_H
#define TESTS_ELEMENT_CHECK_FLIGHTS_H

#include <gst/check/gstcheck.h>

/* The tests of check_branches.c. */
TCase *branch_tests (void);

/* The tests of check_logs.c. */
TCase *log_tests (void);

#endif
