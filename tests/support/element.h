/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the element's checks share: an element in a harness, its messages, the fake device's faults. */
#ifndef TESTS_SUPPORT_ELEMENT_H
#define TESTS_SUPPORT_ELEMENT_H

#include <gst/check/gstharness.h>

#include "support/frame.h"
#include "support/run.h"

/* What the fake device is to do wrong from now on (element/fake/fake_device.c names the faults); NULL for nothing. */
void fake_device_fault (const gchar *fault);

/*
 * A harness with the element of this launch line, with alpha=copy where the line does not say. The first has no caps yet.
 */
GstHarness *harness_new_line (const gchar *line);
GstHarness *harness_new_for (const gchar *line, const GstVideoInfo *info);

/* Pushes the buffer, and fails the check unless the flow is OK. */
void push_ok (GstHarness *harness, GstBuffer *buffer);

GstVideoInfo info_of (const gchar *format, gint width, gint height);

/* An element with its messages kept. */
typedef struct
{
  GstElement *element;
  GstBus *bus;
  GstHarness *harness; /* NULL where the element did not start */
  GstVideoInfo info;
} Run;

Run run_start (const gchar *line, const gchar *format, gint width, gint height);
void run_stop (Run *run);
void run_caps (Run *run, const gchar *format, gint width, gint height);
GstFlowReturn run_push (Run *run);

/*
 * Takes all messages of these kinds: there must be exactly one, of this type and error, whose text and debug text hold
 * these words. debug_text may be NULL.
 */
void run_expect (Run *run, GstMessageType kinds, GstMessageType type, GQuark domain, gint code, const gchar *text,
    const gchar *debug_text);
void run_expect_none (Run *run, GstMessageType kinds);

#endif
