/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a frame costs beside its copies and kernels, whoever sends it: nothing is allocated for it once the stream runs, on
 * the host or on the fake device, and the device copies no pageable memory. Frames of all kinds of memory are right.
 *
 * Allocations are counted on the streaming thread, in the element's chain function with what is downstream. Those of the
 * fake device are its own.
 */
#define _GNU_SOURCE
#include "element/cuda/check_memory.h"

#include <dlfcn.h>
#include <gmodule.h>
#include <gst/allocators/allocators.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- allocations --- */

/* Newer versions of GLib make small blocks, such as those of buffers and of events, by malloc (). */
#define LEAST_COUNTED (glib_check_version (2, 76, 0) ? 0 : 1024)

static __thread bool counting;
static gint allocations; /* atomic */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A sanitizer has its own malloc (). */
#define CAN_COUNT FALSE
#else
#define CAN_COUNT TRUE

#pragma GCC visibility push(default)

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t count, size_t size);
extern void *__libc_realloc (void *memory, size_t size);

/* The element's own code counts by itself, without that of the fake device: see no_memory.h. */
static void
note (const void *caller, size_t size)
{
  Dl_info info;

  if (!counting || size < (size_t) LEAST_COUNTED)
    return;
  counting = false;
  if (!dladdr (caller, &info) || !strstr (info.dli_fname, "gstcudaconvolve"))
    g_atomic_int_inc (&allocations);
  counting = true;
}

void *
malloc (size_t size)
{
  note (__builtin_return_address (0), size);
  return __libc_malloc (size);
}

void *
calloc (size_t count, size_t size)
{
  note (__builtin_return_address (0), count * size);
  return __libc_calloc (count, size);
}

void *
realloc (void *memory, size_t size)
{
  note (__builtin_return_address (0), size);
  return __libc_realloc (memory, size);
}

#pragma GCC visibility pop
#endif

typedef struct
{
  void (*begin) (int n);
  int (*count) (void);
  void (*end) (void);
  gint *device, *pageable; /* see fake_device.c */
  gint64 *pace;
} Counters;

static Counters
counters_of_plugin (void)
{
  g_autoptr (GstPlugin) plugin = gst_plugin_load_by_name ("cudaconvolve");
  GModule *module = g_module_open (gst_plugin_get_filename (plugin), 0);
  Counters counters;

  fail_unless (g_module_symbol (module, "no_memory_begin", (gpointer *) (void *) &counters.begin)
      && g_module_symbol (module, "no_memory_count", (gpointer *) (void *) &counters.count)
      && g_module_symbol (module, "no_memory_end", (gpointer *) (void *) &counters.end)
      && g_module_symbol (module, "fake_device_allocations", (gpointer *) (void *) &counters.device)
      && g_module_symbol (module, "fake_device_pageable", (gpointer *) (void *) &counters.pageable)
      && g_module_symbol (module, "fake_device_pace", (gpointer *) (void *) &counters.pace));
  g_module_close (module);
  return counters;
}

/* --- a stream whose frames are counted --- */

#define WARM_UP 12
#define FRAMES 40

static GstPadChainFunction chain;
static Counters counters;
static guint n_frames, warm_up = WARM_UP;

static GstFlowReturn
counted_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstFlowReturn ret;

  if (n_frames++ == warm_up) {
    g_atomic_int_set (&allocations, 0);
    *counters.device = *counters.pageable = 0;
    counters.begin (0);
  }
  counting = n_frames > warm_up;
  ret = chain (pad, parent, buffer);
  counting = false;
  return ret;
}

static void
start_count (GstElement *element)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");

  counters = counters_of_plugin ();
  n_frames = 0;
  chain = GST_PAD_CHAINFUNC (pad);
  gst_pad_set_chain_function (pad, counted_chain);
}

/* others: allocations outside the element that are allowed in each frame. */
static void
end_count (const gchar *what, guint others)
{
  gint own = counters.count ();

  counters.end ();
  fail_unless (n_frames >= warm_up + WARM_UP, "%s: %u frames", what, n_frames);
  fail_unless (own == 0 && *counters.device == 0 && *counters.pageable == 0,
      "%s: in %u frames the element allocated %d times, and memory of the device %d times, which copied %d pageable "
      "bytes",
      what, n_frames - warm_up, own, *counters.device, *counters.pageable);
  fail_unless (!CAN_COUNT || (guint) g_atomic_int_get (&allocations) <= others * (n_frames - warm_up),
      "%s: %d allocations of others in %u frames", what, g_atomic_int_get (&allocations), n_frames - warm_up);
}

static const gchar *const ways[] = { "kernel-variant=global n-threads=3",
  "kernel-variant=global n-threads=3 frames-in-flight=3", "kernel-variant=cpu n-threads=3" };

#define CAPS "video/x-raw,format=NV12,width=64,height=48,framerate=30/1"

#define GL_CAPS "video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48,framerate=30/1"

/*
 * Whether frames come out of OpenGL here, which software may be, and needs no display. CUDACONVOLVE_OPENGL=1 asks for it: a driver
 * that waits for ever would hold up all tests.
 */
static gboolean
opengl_works (void)
{
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;

  if (!g_getenv ("CUDACONVOLVE_OPENGL"))
    return FALSE;
  if (!g_getenv ("DISPLAY") && !g_getenv ("WAYLAND_DISPLAY")) {
    g_setenv ("GST_GL_PLATFORM", "egl", FALSE);
    g_setenv ("GST_GL_WINDOW", "egl-device", FALSE);
  }
  pipeline = gst_parse_launch ("gltestsrc num-buffers=1 ! " GL_CAPS " ! gldownload ! fakesink", NULL);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
}

/*
 * Elements upstream that send frames in memory of their own. Behind the tee is no queue: while its thread waits for a core,
 * a queue keeps frames, so that new ones come at any time, and a new one costs allocations once. Where a frame of OpenGL's is mapped or copied, GStreamer
 * allocates messages to the thread of OpenGL, eight for a frame, which no element can change.
 */
GST_START_TEST (test_neighbours_allocate_nothing)
{
  static const struct
  {
    const gchar *needs, *line;
  } rows[] = {
    { "videotestsrc", "videotestsrc num-buffers=40 ! " CAPS },
    { "imagefreeze", "videotestsrc num-buffers=1 ! " CAPS " ! imagefreeze num-buffers=40" },
    { "videorate", "videotestsrc num-buffers=40 ! " CAPS " ! videorate ! video/x-raw,framerate=60/1" },
    { "tee", "videotestsrc num-buffers=40 ! " CAPS " ! tee name=t t. ! fakesink async=false t. " },
    { "videocrop", "videotestsrc num-buffers=40 ! " CAPS " ! videocrop left=2 top=2" },
    { "gldownload", "gltestsrc num-buffers=40 ! " GL_CAPS " ! gldownload" },
  };

  fake_device_fault (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (ways); i++) {
    const gchar *way = ways[i % G_N_ELEMENTS (ways)], *source = rows[i / G_N_ELEMENTS (ways)].line;
    g_autofree gchar *line =
        g_strdup_printf ("%s ! cudaconvolve name=element sigma=2 %s ! fakesink async=false sync=false", source, way);
    g_autoptr (GstElementFactory) needed = gst_element_factory_find (rows[i / G_N_ELEMENTS (ways)].needs);
    g_autoptr (GstElement) element = NULL;
    g_autoptr (GstBus) bus = NULL;
    const gboolean gl = g_str_has_prefix (source, "gl");
    GstElement *pipeline;
    GstMessage *message;

    if (!needed) {
      g_print ("SKIP: there is no %s\n", rows[i / G_N_ELEMENTS (ways)].needs);
      continue;
    }
    /* AddressSanitizer and the threads of Mesa's renderer wait for each other when they look at a stack. */
    if (gl && (!CAN_COUNT || !opengl_works ())) {
      g_print ("SKIP: %s: CUDACONVOLVE_OPENGL=1 is not set, there is no OpenGL, or allocations cannot be counted\n",
          rows[i / G_N_ELEMENTS (ways)].needs);
      continue;
    }
    pipeline = gst_parse_launch (line, NULL);
    element = gst_bin_get_by_name (GST_BIN (pipeline), "element");
    start_count (element);
    bus = gst_element_get_bus (pipeline);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "%s", line);
    end_count (line, gl ? 16 : 0);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
}
GST_END_TEST;

/* --- frames of a program --- */

typedef GstBuffer *(*Wrap) (const GstVideoInfo *info, guint8 *bytes);

/* One block, the same for all frames. */
static GstBuffer *
wrap_block (const GstVideoInfo *info, guint8 *bytes)
{
  return gst_buffer_new_wrapped_full (0, bytes, info->size, 0, info->size, NULL, NULL);
}

static GstBuffer *
wrap_read_only (const GstVideoInfo *info, guint8 *bytes)
{
  return gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY, bytes, info->size, 0, info->size, NULL, NULL);
}

/* A part of a larger buffer. */
static GstBuffer *
wrap_part (const GstVideoInfo *info, guint8 *bytes)
{
  g_autoptr (GstBuffer) whole = gst_buffer_new_allocate (NULL, info->size + 2000, NULL);

  gst_buffer_fill (whole, 1001, bytes, info->size);
  return gst_buffer_copy_region (whole, GST_BUFFER_COPY_MEMORY, 1001, info->size);
}

static GstBuffer *
wrap_planes (const GstVideoInfo *info, guint8 *bytes)
{
  return frame_wrap_planes (info, bytes);
}

/* A DMA-BUF, as far as GStreamer can tell: a file of memory. */
static GstBuffer *
wrap_dmabuf (const GstVideoInfo *info, guint8 *bytes)
{
  g_autoptr (GstAllocator) allocator = gst_dmabuf_allocator_new ();
  GstBuffer *buffer = gst_buffer_new ();
  int file = memfd_create ("frame", 0);

  fail_unless (file >= 0 && write (file, bytes, info->size) == (ssize_t) info->size);
  gst_buffer_append_memory (buffer, gst_dmabuf_allocator_alloc (allocator, file, info->size));
  return buffer;
}

static const struct
{
  const gchar *name;
  Wrap wrap;
} kinds[] = {
  { "one block", wrap_block },
  { "read-only memory", wrap_read_only },
  { "a part of a buffer", wrap_part },
  { "planes of their own", wrap_planes },
  { "DMA-BUF", wrap_dmabuf },
};

/* The same buffer again and again, under a new header each time, as appsrc and a tee send it. */
GST_START_TEST (test_programs_allocate_nothing)
{
  GstVideoInfo info = small_info ("NV12");

  for (guint i = 0; i < G_N_ELEMENTS (kinds) * G_N_ELEMENTS (ways); i++) {
    const gchar *way = ways[i % G_N_ELEMENTS (ways)], *kind = kinds[i / G_N_ELEMENTS (ways)].name;
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve sigma=2 %s", way);
    g_autofree gchar *what = g_strdup_printf ("%s, %s", kind, way);
    g_autofree guint8 *bytes = g_malloc0 (info.size);
    GstHarness *harness = start_harness (line, NULL, &info);
    GstBuffer *buffer = kinds[i / G_N_ELEMENTS (ways)].wrap (&info, bytes);

    gst_harness_set_drop_buffers (harness, TRUE);
    start_count (harness->element);
    for (guint k = 0; k < FRAMES; k++)
      push_ok (harness, gst_buffer_copy (buffer));
    end_count (what, 0);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

/* Where auto has chosen between the device and the CPU by time, frames cost nothing more. */
GST_START_TEST (test_choice_allocates_nothing)
{
  static const gchar *const settings[] = { "", "frames-in-flight=3" };
  g_autofree gchar *automatic = g_strdup (g_getenv ("CUDACONVOLVE_AUTO"));
  g_autoptr (GString) mask = g_string_new (NULL);
  GstVideoInfo info = info_of ("GRAY8", 160, 120);

  for (guint i = 0; i < 81; i++)
    g_string_append_printf (mask, "%u%s", i * i % 17, i % 9 == 8 ? "; " : " ");
  g_unsetenv ("CUDACONVOLVE_AUTO");
  warm_up = 80;
  for (guint i = 0; i < 2 * G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask=\"%s\" n-threads=1 %s", mask->str, settings[i / 2]);
    GstHarness *harness = start_harness (line, NULL, &info);
    g_autofree gchar *variant = NULL;

    gst_harness_set_drop_buffers (harness, TRUE);
    start_count (harness->element);
    *counters.pace = i % 2 ? GST_SECOND : 0;
    for (guint k = 0; k < warm_up + FRAMES; k++)
      push_ok (harness, frame_new (&info, FRAME_PLAIN, k));
    g_object_get (harness->element, "active-variant", &variant, NULL);
    fail_unless ((i % 2 == 1) == g_str_equal (variant, "cpu"), "%s: %s", line, variant);
    end_count (line, 0);
    *counters.pace = 0;
    gst_harness_teardown (harness);
  }
  warm_up = WARM_UP;
  if (automatic)
    g_setenv ("CUDACONVOLVE_AUTO", automatic, TRUE);
}
GST_END_TEST;

/* --- the frames are right --- */

/* Large frames in several pieces, each with other samples, by several threads; and the device without memory for them. */
GST_START_TEST (test_pageable_frames)
{
  static const gint64 integers[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 };
  const Expected expected = { .boundary = CONVOLVE_BOUNDARY_REPLICATE,
    .width = 3,
    .height = 3,
    .integers = integers,
    .numerator = 1,
    .denominator = 16 };
  static const gchar *const faults[] = { NULL, "no-staging" };

  for (guint i = 0; i < 2 * 4 * G_N_ELEMENTS (faults); i++) {
    const FrameLayout layout = i / 2 % 4;
    const gchar *fault = faults[i / 8];
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask=\"1 2 1; 2 4 2; 1 2 1\" kernel-variant=global "
                                              "frames-in-flight=%d n-threads=%u",
        i % 2 ? 3 : 1, 1 + (guint) layout);
    GstVideoInfo info = info_of ("NV12", 1202, 902);
    GstHarness *harness = start_harness (line, fault, &info);
    GstBuffer *frames[5], *out;
    Counters now = counters_of_plugin ();

    *now.pageable = 0;
    for (guint k = 0; k < G_N_ELEMENTS (frames); k++) {
      frames[k] = frame_new (&info, layout, k);
      push_ok (harness, gst_buffer_ref (frames[k]));
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint k = 0; k < G_N_ELEMENTS (frames); k++) {
      out = gst_harness_pull (harness);
      frame_check (&info, frames[k], out, &expected, line);
      gst_buffer_unref (out);
      gst_buffer_unref (frames[k]);
    }
    fail_unless ((*now.pageable > 0) == (fault != NULL), "%s: the device copied %d pageable bytes", line,
        *now.pageable);
    gst_harness_teardown (harness);
  }
  fake_device_fault (NULL);
}
GST_END_TEST;

TCase *
frame_tests (void)
{
  TCase *tc = tcase_create ("frames");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_neighbours_allocate_nothing);
  tcase_add_test (tc, test_programs_allocate_nothing);
  tcase_add_test (tc, test_choice_allocates_nothing);
  tcase_add_test (tc, test_pageable_frames);
  return tc;
}
