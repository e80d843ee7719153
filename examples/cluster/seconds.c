/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracing hooks see where a push begins and where it ends; a pad probe sees the beginning alone. */
#define GST_USE_UNSTABLE_API
#include "seconds.h"

#include <gst/gsttracer.h>

typedef struct
{
  GstPad *pad;
  gint64 begin, total; /* microseconds; one thread pushes through a pad */
} Slot;

static Slot slots[SECONDS_MOST];

typedef GstTracer Watch;
typedef GstTracerClass WatchClass;

static GType watch_get_type (void);
G_DEFINE_TYPE (Watch, watch, GST_TYPE_TRACER)

static void
watch_class_init (WatchClass *class)
{
}

static void
watch_init (Watch *watch)
{
}

static void
push_begins (GObject *watch, GstClockTime time, GstPad *pad, GstBuffer *buffer)
{
  for (guint i = 0; i < SECONDS_MOST; i++)
    if (slots[i].pad == pad)
      slots[i].begin = g_get_monotonic_time ();
}

static void
push_ends (GObject *watch, GstClockTime time, GstPad *pad, GstFlowReturn flow)
{
  for (guint i = 0; i < SECONDS_MOST; i++)
    if (slots[i].pad == pad)
      slots[i].total += g_get_monotonic_time () - slots[i].begin;
}

void
seconds_watch (GstPad *src, guint slot)
{
  static GstTracer *watch;

  slots[slot] = (Slot){ src, 0, 0 };
  if (!watch) {
    watch = gst_object_ref_sink (g_object_new (watch_get_type (), NULL));
    gst_tracing_register_hook (watch, "pad-push-pre", G_CALLBACK (push_begins));
    gst_tracing_register_hook (watch, "pad-push-post", G_CALLBACK (push_ends));
  }
}

double
seconds_of (guint slot)
{
  return slots[slot].total / 1e6;
}
