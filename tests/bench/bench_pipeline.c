/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a frame costs in a pipeline on a GPU, beside the limit of the bus.
 *
 *  bench_pipeline [--rounds N] [--frames N] [--clip FILE] [--csv FILE]
 *  bench_pipeline --streams 1,2,4,8 [--rounds N] [--frames N] [--csv FILE]
 *  bench_pipeline --sources [--beside FOLDER] [--streams 1,2,4,8] [--rounds N] [--frames N] [--csv FILE]
 *  bench_pipeline --choice [--streams 1,4] [--rounds N] [--frames N] [--csv FILE]
 *
 * All ways to bring a frame are open at the same time and take turns, round by round. A figure is the median over all
 * rounds of a round's mean; a latency is the median of all frames. Frames are random, and the mask has 3x3 weights
 * without structure. The limit L is the time in which the frame's bytes cross the bus in both directions at once, one
 * block after another.
 *
 * With --streams, so many threads with an element each push frames of 1080p at the same time. Time and CPU time are those of
 * the whole process, divided by the frames of all threads.
 *
 * With --sources, frames of NV12 come from elements and from a program, whose memory is its own. "A frame" is the time of
 * all streams, divided by their frames, with the sources; "element" is the time that a stream spends in cudaconvolve for a
 * frame; CPU time is that of the process for a frame. FOLDER has the plugin of another build, which takes turns with the one of
 * GST_PLUGIN_PATH: a round is a process. In the column of frames in flight, `cpu` is kernel-variant=cpu.
 *
 * With --choice, frames of a program go where auto takes them, to the device, and to the CPU, in turns. A figure is the time that a
 * stream spends in cudaconvolve for a frame, after auto has chosen. Without it, CUDACONVOLVE_AUTO=rules keeps auto on the device.
 */
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench_sources.h"
#include "convolve_device.h"

#define MASK "mask=\"1 2 3; 4 5 6; 7 8 10\""
#define IN_CUDA_MEMORY " ! capsfilter caps=video/x-raw(memory:CUDAMemory)"
#define N_BUFFERS 8
#define MOST_STREAMS 64

static gint n_rounds = 21, n_frames = 100;
static FILE *csv;
static GstContext *context; /* of CUDA, for all elements, as in one pipeline; NULL: each has its own */

static gint
compare (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
median (GArray *values)
{
  g_array_sort (values, compare);
  return g_array_index (values, gdouble, values->len / 2);
}

static void
fill (guint8 *bytes, gsize size)
{
  static guint32 state = 1;

  for (gsize i = 0; i + 4 <= size; i += 4) {
    state = state * 1664525u + 1013904223u;
    memcpy (bytes + i, &state, 4);
  }
}

static gint
gpu_memory_in_use (void)
{
  g_autofree gchar *text = NULL;

  if (!g_spawn_command_line_sync ("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits", &text, NULL, NULL,
          NULL))
    return -1;
  return atoi (text);
}

/* Where a way's input frames come from. */
typedef enum
{
  PROPOSED, /* the pool that the element offers */
  ALIGNED,  /* a pool of this program, with the parameters that the element proposes */
  RECYCLED, /* a pool of this program, without those parameters */
  FRESH,    /* new memory for every frame */
  KEPT      /* frames in CUDA memory that were uploaded before */
} Source;

typedef struct
{
  const gchar *name, *line;
  Source source;
  gdouble reach; /* the cost may be this many L; 0 for no limit */
  guint like;    /* or within 5% of the cost of this way; 0 for none */
  GstElement *bin;
  GstPad *src, *sink;
  GstCaps *caps;
  GstVideoInfo info;
  GstBufferPool *pool;
  GQueue kept; /* what came out, where it is kept */
  gboolean keep;
  GArray *times, *latencies, *cpu;
} Way;

static GstFlowReturn
take (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Way *way = pad->chaindata;
  GstMapInfo map;

  /* cudadownload may pass CUDA memory on; in that case mapping downloads the frame. */
  if (way->source != KEPT && !way->keep && gst_buffer_map (buffer, &map, GST_MAP_READ))
    gst_buffer_unmap (buffer, &map);
  if (way->keep)
    g_queue_push_tail (&way->kept, buffer);
  else
    gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static gboolean
answer (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return gst_pad_query_default (pad, parent, query);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static GstBufferPool *
make_pool (Way *way)
{
  GstQuery *query = gst_query_new_allocation (way->caps, TRUE);
  GstBufferPool *pool = NULL;
  GstAllocationParams params;
  GstStructure *config;
  guint size = way->info.size, min = 0, max = 0;

  gst_allocation_params_init (&params);
  if (way->source != RECYCLED && gst_pad_peer_query (way->src, query)) {
    if (way->source == PROPOSED && gst_query_get_n_allocation_pools (query) > 0)
      gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
    if (way->source == ALIGNED && gst_query_get_n_allocation_params (query) > 0)
      gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  }
  if (!pool)
    pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, way->caps, size, MAX (min, N_BUFFERS), 0);
  if (way->source == ALIGNED)
    gst_buffer_pool_config_set_allocator (config, NULL, &params);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  gst_query_unref (query);
  return pool;
}

static void
open_way (Way *way, const gchar *format, gint width, gint height)
{
  GError *error = NULL;
  GstPad *pad;

  way->caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT, width, "height",
      G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, 60, 1, NULL);
  gst_video_info_from_caps (&way->info, way->caps);
  if (way->source == KEPT)
    gst_caps_set_features (way->caps, 0, gst_caps_features_from_string ("memory:CUDAMemory"));
  way->bin = gst_parse_bin_from_description (way->line, TRUE, &error);
  if (!way->bin)
    g_error ("%s: %s", way->line, error->message);
  gst_object_ref_sink (way->bin);
  if (context)
    gst_element_set_context (way->bin, context);
  way->src = gst_pad_new ("src", GST_PAD_SRC);
  way->sink = gst_pad_new ("sink", GST_PAD_SINK);
  gst_pad_set_chain_function_full (way->sink, take, way, NULL);
  gst_pad_set_query_function (way->sink, answer);
  pad = gst_element_get_static_pad (way->bin, "sink");
  gst_pad_link (way->src, pad);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (way->bin, "src");
  gst_pad_link (pad, way->sink);
  gst_object_unref (pad);
  gst_pad_set_active (way->sink, TRUE);
  gst_pad_set_active (way->src, TRUE);
  gst_element_set_state (way->bin, GST_STATE_PLAYING);
  gst_pad_push_event (way->src, gst_event_new_stream_start ("bench"));
  if (!gst_pad_push_event (way->src, gst_event_new_caps (way->caps)))
    g_error ("%s: caps refused", way->line);
  {
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (way->src, gst_event_new_segment (&segment));
  }
  if (way->source == PROPOSED || way->source == ALIGNED || way->source == RECYCLED) {
    GstBuffer *buffers[N_BUFFERS];

    way->pool = make_pool (way);
    for (gint i = 0; i < N_BUFFERS; i++) {
      GstMapInfo map;

      gst_buffer_pool_acquire_buffer (way->pool, &buffers[i], NULL);
      gst_buffer_map (buffers[i], &map, GST_MAP_WRITE);
      fill (map.data, map.size);
      gst_buffer_unmap (buffers[i], &map);
    }
    for (gint i = 0; i < N_BUFFERS; i++)
      gst_buffer_unref (buffers[i]);
  }
  way->times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  way->latencies = g_array_new (FALSE, FALSE, sizeof (gdouble));
  way->cpu = g_array_new (FALSE, FALSE, sizeof (gdouble));
}

static void
close_way (Way *way)
{
  gst_pad_push_event (way->src, gst_event_new_eos ());
  gst_element_set_state (way->bin, GST_STATE_NULL);
  if (way->pool) {
    gst_buffer_pool_set_active (way->pool, FALSE);
    gst_object_unref (way->pool);
  }
  g_queue_clear_full (&way->kept, (GDestroyNotify) gst_buffer_unref);
  gst_pad_set_active (way->src, FALSE);
  gst_pad_set_active (way->sink, FALSE);
  gst_object_unref (way->src);
  gst_object_unref (way->sink);
  gst_object_unref (way->bin);
  gst_caps_unref (way->caps);
  g_array_unref (way->times);
  g_array_unref (way->latencies);
  g_array_unref (way->cpu);
}

static GstBuffer *
next_buffer (Way *way)
{
  GstBuffer *buffer = NULL;

  switch (way->source) {
    case PROPOSED:
    case ALIGNED:
    case RECYCLED:
      gst_buffer_pool_acquire_buffer (way->pool, &buffer, NULL);
      break;
    case FRESH: {
      GstMapInfo map;

      buffer = gst_buffer_new_allocate (NULL, way->info.size, NULL);
      gst_buffer_map (buffer, &map, GST_MAP_WRITE);
      memset (map.data, 100, map.size);
      gst_buffer_unmap (buffer, &map);
      break;
    }
    case KEPT:
      buffer = g_queue_pop_head (&way->kept);
      g_queue_push_tail (&way->kept, gst_buffer_ref (buffer));
      break;
  }
  return buffer;
}

/*
 * Pushes frames, and records the round where count is set. Making a fresh frame is the source's work and is not
 * timed.
 */
static void
run_round (Way *way, gboolean count)
{
  gdouble spent = 0, cpu = 0;

  for (gint i = 0; i < n_frames; i++) {
    GstBuffer *buffer = next_buffer (way);
    gdouble start = now (CLOCK_MONOTONIC), cpu_start = now (CLOCK_THREAD_CPUTIME_ID), took;
    GstFlowReturn ret = gst_pad_push (way->src, buffer);

    cpu += now (CLOCK_THREAD_CPUTIME_ID) - cpu_start;
    took = now (CLOCK_MONOTONIC) - start;
    spent += took;
    if (ret != GST_FLOW_OK)
      g_error ("%s: %s", way->line, gst_flow_get_name (ret));
    if (count)
      g_array_append_val (way->latencies, took);
  }
  spent /= n_frames;
  cpu /= n_frames;
  if (count) {
    g_array_append_val (way->times, spent);
    g_array_append_val (way->cpu, cpu);
  }
}

/* An element with a CUDA stream, where GStreamer has such streams: frames from one are the usual case in CUDA memory. */
static const Way uploading = { .line = "cudaupload ! cudaconvolve " MASK IN_CUDA_MEMORY,
  .source = RECYCLED,
  .keep = TRUE };

/* Brings a way's frames into CUDA memory by `upload`, an open way like `uploading`. */
static void
upload_kept (Way *upload, Way *way)
{
  gint frames = n_frames;

  n_frames = N_BUFFERS;
  run_round (upload, FALSE);
  n_frames = frames;
  way->kept = upload->kept;
  g_queue_init (&upload->kept);
}

/* The time in which this number of bytes goes up while as many come down, in a series of such copies. */
static gdouble
measure_limit (ConvolveDevice *device, gsize size)
{
  gsize pages = (size + 4095) / 4096 * 4096;
  guint8 *up = aligned_alloc (4096, pages), *down = aligned_alloc (4096, pages);
  ConvolveRows from = { .count = 1, .row_bytes = size, .host = up, .host_stride = size };
  ConvolveRows to = { .count = 1, .row_bytes = size, .host = down, .host_stride = size };
  ConvolveStage stage;
  GArray *times = g_array_new (FALSE, FALSE, sizeof (gdouble));
  gdouble result;

  fill (up, size);
  if (!convolve_pin (convolve_device_id (device), up, pages)
      || !convolve_pin (convolve_device_id (device), down, pages))
    g_error ("host memory cannot be pinned");
  for (gint round = 0; round < n_rounds + 1; round++) {
    gdouble start = now (CLOCK_MONOTONIC), took;

    convolve_device_begin (device, 0, NULL);
    convolve_device_stage (device, 0, size, 1, &stage, NULL);
    for (gint i = 0; i < n_frames; i++) {
      convolve_device_upload (device, 0, &from, NULL);
      convolve_device_download (device, 0, &to, NULL);
    }
    convolve_device_end (device, NULL);
    convolve_device_wait (device, 0, NULL, NULL);
    took = (now (CLOCK_MONOTONIC) - start) / n_frames;
    if (round > 0)
      g_array_append_val (times, took);
  }
  result = median (times);
  g_array_unref (times);
  convolve_unpin (convolve_device_id (device), up);
  convolve_unpin (convolve_device_id (device), down);
  free (up);
  free (down);
  return result;
}

static void
print_row (const gchar *size, const gchar *name, gdouble time, gdouble latency, gdouble cpu, gdouble limit,
    gdouble stock, gdouble reach)
{
  g_print ("| %s | %s | %.0f | %.0f | %.0f | %.0f | %.2f | %.2f |", size, name, limit, time, latency, cpu, time / limit,
      stock / time);
  if (reach > 0)
    g_print (" %.2f %s |\n", reach, time <= reach * limit ? "reached" : "missed");
  else
    g_print ("  |\n");
  if (csv)
    fprintf (csv, "%s,\"%s\",%.1f,%.1f,%.1f,%.1f\n", size, name, limit, time, latency, cpu);
}

/* Measures one size of NV12, from system memory to system memory and within CUDA memory. */
static void
bench_size (ConvolveDevice *device, const gchar *name, gint width, gint height, gdouble one, gdouble three)
{
  Way ways[] = {
    { .name = "stock: cudaupload ! cudaconvolve ! cudadownload",
        .line = "cudaupload ! cudaconvolve " MASK " ! video/x-raw(memory:CUDAMemory) ! cudadownload",
        .source = RECYCLED },
    { .name = "stock, fresh memory every frame",
        .line = "cudaupload ! cudaconvolve " MASK " ! video/x-raw(memory:CUDAMemory) ! cudadownload",
        .source = FRESH },
    { .name = "cudaconvolve, its pool", .line = "cudaconvolve " MASK, .source = PROPOSED, .reach = one },
    { .name = "cudaconvolve frames-in-flight=2, its pool",
        .line = "cudaconvolve frames-in-flight=2 " MASK,
        .source = PROPOSED },
    { .name = "cudaconvolve frames-in-flight=3, its pool",
        .line = "cudaconvolve frames-in-flight=3 " MASK,
        .source = PROPOSED,
        .reach = three },
    { .name = "cudaconvolve, a foreign pool with its parameters",
        .line = "cudaconvolve " MASK,
        .source = ALIGNED,
        .like = 2 },
    { .name = "cudaconvolve frames-in-flight=3, a foreign pool with its parameters",
        .line = "cudaconvolve frames-in-flight=3 " MASK,
        .source = ALIGNED,
        .like = 4 },
    { .name = "cudaconvolve, a foreign pool", .line = "cudaconvolve " MASK, .source = RECYCLED },
    { .name = "cudaconvolve frames-in-flight=3, a foreign pool",
        .line = "cudaconvolve frames-in-flight=3 " MASK,
        .source = RECYCLED },
    { .name = "cudaconvolve, fresh memory every frame", .line = "cudaconvolve " MASK, .source = FRESH },
    { .name = "cudaconvolve frames-in-flight=3, fresh memory",
        .line = "cudaconvolve frames-in-flight=3 " MASK,
        .source = FRESH },
    { .name = "CUDA memory to CUDA memory", .line = "cudaconvolve " MASK IN_CUDA_MEMORY, .source = KEPT },
    { .name = "CUDA memory to CUDA memory, frames-in-flight=3",
        .line = "cudaconvolve frames-in-flight=3 " MASK IN_CUDA_MEMORY,
        .source = KEPT },
    { .name = "CUDA memory, four elements in a row",
        .line =
            "cudaconvolve " MASK " ! cudaconvolve " MASK " ! cudaconvolve " MASK " ! cudaconvolve " MASK IN_CUDA_MEMORY,
        .source = KEPT },
  };
  Way upload = uploading;
  gdouble limit, stock;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    open_way (&ways[i], "NV12", width, height);
  limit = measure_limit (device, ways[0].info.size);
  open_way (&upload, "NV12", width, height);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    if (ways[i].source == KEPT)
      upload_kept (&upload, &ways[i]);
  for (gint round = 0; round < n_rounds + 2; round++)
    for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
      run_round (&ways[i], round >= 2);
  stock = median (ways[0].times);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    if (ways[i].like)
      ways[i].reach = median (ways[ways[i].like].times) * 1.05 / limit;
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    print_row (name, ways[i].name, median (ways[i].times), median (ways[i].latencies), median (ways[i].cpu), limit,
        ways[i].source == FRESH ? median (ways[1].times) : stock, ways[i].reach);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    close_way (&ways[i]);
  close_way (&upload);
}

/* --- several streams at the same time --- */

static gpointer
push_rounds (gpointer data)
{
  for (gint i = 0; i < n_rounds; i++)
    run_round (data, FALSE);
  return NULL;
}

/* The element's context of CUDA memory, which it has after the caps. */
static void
find_context (Way *way)
{
  GstQuery *query = gst_query_new_context ("gst.cuda.context");

  if (gst_pad_peer_query (way->src, query)) {
    gst_query_parse_context (query, &context);
    gst_context_ref (context);
  }
  gst_query_unref (query);
}

/* Lets count elements run at the same time, after a round each to start. */
static void
bench_streams (const gchar *name, const Way *like, guint count)
{
  Way ways[MOST_STREAMS];
  GThread *threads[MOST_STREAMS];
  Way upload = uploading;
  gdouble start, cpu, frames = (gdouble) count * n_rounds * n_frames;

  for (guint i = 0; i < count; i++) {
    ways[i] = *like;
    open_way (&ways[i], "NV12", 1920, 1080);
    if (like->source == KEPT) {
      open_way (&upload, "NV12", 1920, 1080);
      if (!context)
        find_context (&upload);
      upload_kept (&upload, &ways[i]);
      close_way (&upload);
    }
    run_round (&ways[i], FALSE);
  }
  start = now (CLOCK_MONOTONIC);
  cpu = now (CLOCK_PROCESS_CPUTIME_ID);
  for (guint i = 0; i < count; i++)
    threads[i] = g_thread_new ("push", push_rounds, &ways[i]);
  for (guint i = 0; i < count; i++)
    g_thread_join (threads[i]);
  start = now (CLOCK_MONOTONIC) - start;
  cpu = now (CLOCK_PROCESS_CPUTIME_ID) - cpu;
  g_print ("| %s | %u | %.1f | %.0f | %.1f |\n", name, count, start / frames, 1e6 * frames / start, cpu / frames);
  if (csv)
    fprintf (csv, "\"%s\",%u,%.2f,%.1f\n", name, count, start / frames, cpu / frames);
  for (guint i = 0; i < count; i++)
    close_way (&ways[i]);
}

static void
bench_all_streams (const gchar *counts)
{
  static const Way ways[] = {
    { .name = "system memory", .line = "cudaconvolve " MASK, .source = PROPOSED },
    { .name = "system memory, frames-in-flight=3",
        .line = "cudaconvolve frames-in-flight=3 " MASK,
        .source = PROPOSED },
    { .name = "CUDA memory", .line = "cudaconvolve " MASK IN_CUDA_MEMORY, .source = KEPT },
    { .name = "CUDA memory, frames-in-flight=3",
        .line = "cudaconvolve frames-in-flight=3 " MASK IN_CUDA_MEMORY,
        .source = KEPT },
  };
  g_auto (GStrv) numbers = g_strsplit (counts, ",", -1);

  g_print ("| NV12 1080p | streams | us a frame, all together | frames a second | CPU, us a frame |\n");
  g_print ("| --- | --- | --- | --- | --- |\n");
  if (csv)
    fprintf (csv, "way,streams,frame_us,cpu_us\n");
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    for (guint k = 0; numbers[k]; k++)
      bench_streams (ways[i].name, &ways[i], (guint) CLAMP (atoi (numbers[k]), 1, MOST_STREAMS));
}

/* The GPU memory that one element takes, beside the context of the process. */
static void
bench_memory (void)
{
  Way way = { .line = "cudaconvolve " MASK, .source = PROPOSED };
  gint before = gpu_memory_in_use (), after;

  open_way (&way, "NV12", 1920, 1080);
  run_round (&way, FALSE);
  after = gpu_memory_in_use ();
  close_way (&way);
  g_print ("\nGPU memory of one element, 1080p NV12, in the process's context: %d MiB (to reach: 64)\n",
      after - before);
}

static gdouble
play (const gchar *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);
  GstBus *bus;
  GstMessage *message;
  gdouble start, took;

  if (error)
    g_error ("%s: %s", line, error->message);
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  start = now (CLOCK_MONOTONIC);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  took = now (CLOCK_MONOTONIC) - start;
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_EOS)
    g_error ("%s stopped", line);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return took / 1e6;
}

/* Decodes a clip on the GPU, with the element and without, in turns. */
static void
bench_decoder (const gchar *clip)
{
  g_autofree gchar *decode = g_strdup_printf ("filesrc location=\"%s\" ! qtdemux ! h264parse ! nvh264dec ! "
                                              "video/x-raw(memory:CUDAMemory)",
      clip);
  g_autofree gchar *plain = g_strdup_printf ("%s ! fakesink sync=false", decode);
  g_autofree gchar *convolved = g_strdup_printf ("%s ! cudaconvolve " MASK " ! video/x-raw(memory:CUDAMemory) "
                                                 "! fakesink sync=false",
      decode);
  GArray *without = g_array_new (FALSE, FALSE, sizeof (gdouble));
  GArray *with = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (gint i = 0; i < 6; i++) {
    gdouble a = play (plain), b = play (convolved);

    if (i > 0) {
      g_array_append_val (without, a);
      g_array_append_val (with, b);
    }
  }
  g_print ("nvh264dec ! fakesink %.3f s, with cudaconvolve in CUDA memory %.3f s: %+.1f%% (to reach: at most +3%%)\n",
      median (without), median (with), (median (with) / median (without) - 1) * 100);
  g_array_unref (without);
  g_array_unref (with);
}

int
main (int argc, char **argv)
{
  gchar *clip = NULL, *csv_name = NULL, *streams = NULL, *beside = NULL;
  gboolean sources = FALSE, choice = FALSE, round = FALSE;
  const GOptionEntry entries[] = { { "rounds", 0, 0, G_OPTION_ARG_INT, &n_rounds, "rounds that count", "N" },
    { "frames", 0, 0, G_OPTION_ARG_INT, &n_frames, "frames of a round", "N" },
    { "clip", 0, 0, G_OPTION_ARG_FILENAME, &clip, "an H.264 MP4 file for the decoder", "FILE" },
    { "streams", 0, 0, G_OPTION_ARG_STRING, &streams, "so many elements at the same time", "N,..." },
    { "sources", 0, 0, G_OPTION_ARG_NONE, &sources, "frames from elements and from a program", NULL },
    { "choice", 0, 0, G_OPTION_ARG_NONE, &choice, "where auto takes frames of a program", NULL },
    { "beside", 0, 0, G_OPTION_ARG_FILENAME, &beside, "another build's plugin, for --sources", "FOLDER" },
    { "round", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &round, NULL, NULL },
    { "csv", 0, 0, G_OPTION_ARG_FILENAME, &csv_name, "the figures, with commas", "FILE" }, { 0 } };
  GOptionContext *options = g_option_context_new ("- what a frame costs in a pipeline on a GPU");
  GError *error = NULL;
  ConvolveError fault;
  ConvolveDevice *device;

  g_option_context_add_main_entries (options, entries, NULL);
  g_option_context_add_group (options, gst_init_get_option_group ());
  if (!g_option_context_parse (options, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return 2;
  }
  if (round) {
    bench_sources_round (streams, n_frames);
    return 0;
  }
  device = convolve_device_new (-1, &fault);
  if (!device) {
    g_print ("SKIP: %s\n", fault.text);
    return 77;
  }
  if (csv_name)
    csv = fopen (csv_name, "w");
  if (sources) {
    g_print ("%s, %d rounds of %d frames; microseconds\n\n", convolve_device_name (device), n_rounds, n_frames);
    convolve_device_free (device);
    return bench_sources ("/proc/self/exe", beside, streams ? streams : "1,2,4,8", n_rounds, n_frames, csv);
  }
  if (choice) {
    g_print ("%s, %d rounds of %d frames; microseconds\n\n", convolve_device_name (device), n_rounds, n_frames);
    convolve_device_free (device);
    bench_choice (streams ? streams : "1", n_rounds, n_frames, csv);
    if (csv)
      fclose (csv);
    return 0;
  }
  if (streams) {
    g_print ("%s, %d rounds of %d frames\n\n", convolve_device_name (device), n_rounds, n_frames);
    bench_all_streams (streams);
    convolve_device_free (device);
    if (csv)
      fclose (csv);
    return 0;
  }
  if (csv) {
    fprintf (csv, "size,way,limit_us,frame_us,latency_us,cpu_us\n");
  }
  g_print ("%s, %d rounds of %d frames; microseconds\n\n", convolve_device_name (device), n_rounds, n_frames);
  g_print ("| NV12 | way | limit L | a frame | latency of push | CPU | in L | faster than stock | to reach, in L |\n");
  g_print ("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  bench_size (device, "1080p", 1920, 1080, 1.5, 1.1);
  bench_size (device, "4K", 3840, 2160, 1.3, 1.03);
  bench_memory ();
  if (clip)
    bench_decoder (clip);
  if (csv)
    fclose (csv);
  convolve_device_free (device);
  return 0;
}
