/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers and test cases that the files of the program check_memory share. */
#ifndef TESTS_ELEMENT_CHECK_MEMORY_H
#define TESTS_ELEMENT_CHECK_MEMORY_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "support/element.h"

#define PAGE 4096

/* Frames of 64x48 pixels in this format. Neither they nor their planes fill whole pages. */
GstVideoInfo small_info (const gchar *format);

/* A harness of this launch line for frames of info, with what goes wrong on the fake device, or NULL. */
GstHarness *start_harness (const gchar *line, const gchar *fault, const GstVideoInfo *info);

/* A pool with this number of buffers, with the allocation parameters that the element proposes or without any. */
GstBufferPool *pool_new (GstHarness *harness, const GstVideoInfo *info, guint lent, gboolean proposed);
GstBuffer *acquire (GstBufferPool *pool);
void pool_free (GstBufferPool *pool);

/* The tests of check_memory_pools.c, and of check_memory_frames.c. */
TCase *pool_tests (void);
TCase *frame_tests (void);

#endif
