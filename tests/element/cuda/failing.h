/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What lets a call of the device fail, for check_failing.c. The fake device and the stand-in for the driver have these
 * functions, which the check looks up by their names.
 */
#ifndef TESTS_ELEMENT_FAILING_H
#define TESTS_ELEMENT_FAILING_H

#include <stddef.h>

typedef enum
{
  FAILING_MISSING, /* there is no device */
  FAILING_MEMORY,  /* the device has no memory left */
  FAILING_ONCE,    /* an error of one call */
  FAILING_LASTING, /* an error after which all calls fail until the process ends */
  FAILING_HOST, /* no call of the device, but an allocation of the element's own code; where it can be made to fail */
  FAILING_N_KINDS
} FailingKind;

#pragma GCC visibility push(default)

/* Counts calls from here on, and lets call n fail, or none where n is 0. Ends a lasting error, as a new process would. */
void failing_begin (int n, int kind);

/* The number of calls since then, and the name of the one that failed, or NULL. */
int failing_count (void);
const char *failing_name (void);

/*
 * Whether the calls of this thread, from here on, are those of the test itself: they are not counted and do not fail.
 * Only the stand-in for the driver has this function.
 */
void failing_pause (int pause);

/* Describes everything on the device that is not given back, and returns how much that is. */
int failing_held (char *text, size_t size);

#pragma GCC visibility pop

#endif
