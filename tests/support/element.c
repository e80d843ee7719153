/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/element.h"

#include <gst/check/gstcheck.h>

#include <string.h>

void
fake_device_fault (const gchar *fault)
{
  if (fault)
    g_setenv ("CUDACONVOLVE_FAKE", fault, TRUE);
  else
    g_unsetenv ("CUDACONVOLVE_FAKE");
}

/* Colours count alike, as in the oracles, unless the line says otherwise. */
static void
count_alike (GstElement *element, const gchar *line)
{
  if (strstr (line, "cudaconvolve") && !strchr (line, '!') && !strstr (line, "alpha="))
    gst_util_set_object_arg (G_OBJECT (element), "alpha", "copy");
}

GstHarness *
harness_new_line (const gchar *line)
{
  GstElement *element = gst_object_ref_sink (gst_parse_launch (line, NULL));
  GstHarness *harness = gst_harness_new_with_element (element, "sink", "src");
  const gchar *variant = g_getenv ("CUDACONVOLVE_VARIANT");

  /* Frames in system memory go to a device for some work only where the user asks for it. */
  if (variant && strstr (line, "cudaconvolve") && !strstr (line, "kernel-variant"))
    gst_util_set_object_arg (G_OBJECT (element), "kernel-variant", variant);
  count_alike (element, line);
  gst_object_unref (element);
  return harness;
}

GstHarness *
harness_new_for (const gchar *line, const GstVideoInfo *info)
{
  GstHarness *harness = harness_new_line (line);

  gst_harness_set_src_caps (harness, gst_video_info_to_caps (info));
  return harness;
}

void
push_ok (GstHarness *harness, GstBuffer *buffer)
{
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
}

GstVideoInfo
info_of (const gchar *format, gint width, gint height)
{
  g_autoptr (GstCaps) caps = frame_caps (format, width, height, NULL);
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  return info;
}

Run
run_start (const gchar *line, const gchar *format, gint width, gint height)
{
  GstCaps *caps = frame_caps (format, width, height, NULL);
  Run run = { .bus = gst_bus_new () };
  GError *error = NULL;

  fail_unless (gst_video_info_from_caps (&run.info, caps));
  run.element = gst_parse_launch (line, &error);
  fail_unless (run.element && !error, "%s: %s", line, error ? error->message : "no element");
  gst_object_ref_sink (run.element);
  count_alike (run.element, line);
  gst_element_set_bus (run.element, run.bus);
  if (gst_element_set_state (run.element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE) {
    run.harness = gst_harness_new_with_element (run.element, "sink", "src");
    gst_harness_set_src_caps (run.harness, caps);
  } else {
    gst_caps_unref (caps);
  }
  return run;
}

void
run_stop (Run *run)
{
  if (run->harness)
    gst_harness_teardown (run->harness);
  gst_element_set_state (run->element, GST_STATE_NULL);
  gst_element_set_bus (run->element, NULL);
  gst_object_unref (run->element);
  gst_object_unref (run->bus);
}

void
run_caps (Run *run, const gchar *format, gint width, gint height)
{
  GstCaps *caps = frame_caps (format, width, height, NULL);

  fail_unless (gst_video_info_from_caps (&run->info, caps));
  gst_harness_set_src_caps (run->harness, caps);
}

GstFlowReturn
run_push (Run *run)
{
  fail_unless (run->harness, "the element did not start");
  return gst_harness_push (run->harness, frame_new (&run->info, FRAME_PLAIN, 1));
}

static void
parse_message (GstMessage *message, GError **error, gchar **debug)
{
  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, error, debug);
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, error, debug);
      break;
    default:
      gst_message_parse_info (message, error, debug);
      break;
  }
}

void
run_expect (Run *run, GstMessageType kinds, GstMessageType type, GQuark domain, gint code, const gchar *text,
    const gchar *debug_text)
{
  guint count = 0;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (run->bus, kinds))) {
    g_autoptr (GError) error = NULL;
    g_autofree gchar *debug = NULL;

    parse_message (message, &error, &debug);
    fail_unless_equals_int (GST_MESSAGE_TYPE (message), type);
    /* A message names the place that found the fault, not the file through which all errors go. */
    fail_if (debug && strstr (debug, "errors.c("), "%s", debug);
    fail_unless (g_error_matches (error, domain, code), "%s %d: %s", g_quark_to_string (error->domain), error->code,
        error->message);
    fail_unless (strstr (error->message, text), "\"%s\" is not in \"%s\"", text, error->message);
    fail_unless (!debug_text || strstr (debug, debug_text), "\"%s\" is not in \"%s\"", debug_text, debug);
    gst_message_unref (message);
    count++;
  }
  fail_unless (count == 1, "%u messages, and one was expected: %s", count, text);
}

void
run_expect_none (Run *run, GstMessageType kinds)
{
  fail_unless (gst_bus_pop_filtered (run->bus, kinds) == NULL);
}
