/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lets one allocation of the project's own code fail. The linker puts these functions in the place of malloc() and
 * kin, in the program or plugin that is linked with no_memory.c and its link arguments. Allocations of the C
 * library, of GLib and of GStreamer are made elsewhere and never fail. pthread_create() counts, too.
 */
#ifndef TESTS_SUPPORT_NO_MEMORY_H
#define TESTS_SUPPORT_NO_MEMORY_H

#include <stddef.h>

#pragma GCC visibility push(default)

/* Counts allocations of all threads from here on and lets number n fail, or none where n is 0; no_memory_end()
 * ends that. */
void no_memory_begin (int n);
void no_memory_end (void);

/* Between these two, allocations neither count nor fail. */
void no_memory_pause (void);
void no_memory_resume (void);

/* The allocations since no_memory_begin(), and whether one failed. */
int no_memory_count (void);
int no_memory_came (void);

#pragma GCC visibility pop

#endif
