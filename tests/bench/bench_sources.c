/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench/bench_sources.h"

#include <glib/gstdio.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MASK "mask=\"1 2 3; 4 5 6; 7 8 10\""
#define WARM_UP 80 /* frames, after which auto has chosen between the device and the CPU */
#define MOST_STREAMS 64
#define N_BLOCKS 4 /* of a program's own memory, that it sends in turns */

static const struct
{
  const gchar *name, *line; /* line: with $caps, $width and $height */
} sources[] = {
  { "appsrc", "appsrc name=source format=time caps=$caps" },
  { "appsrc ! rawvideoparse",
      "appsrc name=source ! rawvideoparse use-sink-caps=false format=nv12 width=$width height=$height framerate=60/1" },
  { "imagefreeze", "videotestsrc num-buffers=1 ! $caps ! imagefreeze" },
  { "videotestsrc", "videotestsrc pattern=black ! $caps" },
  { "appsrc ! tee", "appsrc name=source format=time caps=$caps ! tee name=t ! queue ! fakesink t." },
};

static const struct
{
  const gchar *name;
  gint width, height;
} sizes[] = { { "1080p", 1920, 1080 }, { "4K", 3840, 2160 }, { "320x240", 320, 240 }, { "720p", 1280, 720 } };

#define SOURCES_SIZES 2 /* of these, in the table of sources */

static const struct
{
  const gchar *name, *settings;
} ways[] = { { "1", "" }, { "3", "frames-in-flight=3" }, { "cpu", "kernel-variant=cpu" } };

/* --- one round --- */

/* Streams that run at the same time. All begin to count when the last one is warm. */
typedef struct
{
  GMutex lock;
  GCond cond;
  guint streams, warm, done;
  gint frames;                        /* of each stream, that count */
  gdouble start, end, cpu, cpu_start; /* microseconds */
  gdouble inside;                     /* in the elements and behind them, of all frames */
} Run;

typedef struct
{
  Run *run;
  GstPadChainFunction chain;
  gint n;
  gdouble inside;
  gsize size;
  guint8 *blocks; /* of frames that a program sends, which begin at odd places */
  guint sent;
} Stream;

static void
wait_until_all_are_warm (Run *run)
{
  g_mutex_lock (&run->lock);
  if (++run->warm == run->streams) {
    run->start = now (CLOCK_MONOTONIC);
    run->cpu_start = now (CLOCK_PROCESS_CPUTIME_ID);
    g_cond_broadcast (&run->cond);
  }
  while (run->warm < run->streams)
    g_cond_wait (&run->cond, &run->lock);
  g_mutex_unlock (&run->lock);
}

static void
end_stream (Stream *stream)
{
  Run *run = stream->run;

  g_mutex_lock (&run->lock);
  run->inside += stream->inside;
  run->end = now (CLOCK_MONOTONIC);
  run->cpu = now (CLOCK_PROCESS_CPUTIME_ID) - run->cpu_start;
  run->done++;
  g_cond_broadcast (&run->cond);
  g_mutex_unlock (&run->lock);
}

static GstFlowReturn
timed_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Stream *stream = g_object_get_data (G_OBJECT (pad), "stream");
  gdouble start;
  GstFlowReturn ret;

  if (stream->n == WARM_UP)
    wait_until_all_are_warm (stream->run);
  if (stream->n == WARM_UP + stream->run->frames)
    end_stream (stream);
  start = now (CLOCK_MONOTONIC);
  ret = stream->chain (pad, parent, buffer);
  if (stream->n >= WARM_UP)
    stream->inside += now (CLOCK_MONOTONIC) - start;
  stream->n++;
  return ret;
}

/* In the thread of appsrc, which waits for a frame. */
static void
send_frame (GstElement *source, guint length, Stream *stream)
{
  guint8 *block = stream->blocks + (stream->sent++ % N_BLOCKS) * (stream->size + 1001) + 17;
  GstBuffer *buffer = gst_buffer_new_wrapped_full (0, block, stream->size, 0, stream->size, NULL, NULL);
  GstFlowReturn ret;

  GST_BUFFER_PTS (buffer) = stream->sent * GST_SECOND / 60;
  g_signal_emit_by_name (source, "push-buffer", buffer, &ret);
  gst_buffer_unref (buffer);
}

static gchar *
replaced (gchar *text, const gchar *what, const gchar *with)
{
  g_auto (GStrv) parts = g_strsplit (text, what, -1);

  g_free (text);
  return g_strjoinv (with, parts);
}

static GstElement *
start_stream (Stream *stream, guint source, guint size, const gchar *settings)
{
  g_autofree gchar *width = g_strdup_printf ("%d", sizes[size].width);
  g_autofree gchar *height = g_strdup_printf ("%d", sizes[size].height);
  g_autofree gchar *caps = g_strdup_printf ("video/x-raw,format=NV12,width=%s,height=%s,framerate=60/1", width, height);
  gchar *line =
      g_strdup_printf ("%s ! cudaconvolve name=element %s ! fakesink sync=false", sources[source].line, settings);
  g_autoptr (GstElement) element = NULL;
  g_autoptr (GstElement) program = NULL;
  g_autoptr (GstPad) pad = NULL;
  GError *error = NULL;
  GstElement *pipeline;

  line = replaced (line, "$caps", caps);
  line = replaced (line, "$width", width);
  line = replaced (line, "$height", height);
  pipeline = gst_parse_launch (line, &error);
  if (error)
    g_error ("%s: %s", line, error->message);
  g_free (line);
  stream->size = (gsize) sizes[size].width * sizes[size].height * 3 / 2;
  program = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  if (program) {
    stream->blocks = g_malloc (N_BLOCKS * (stream->size + 1001));
    memset (stream->blocks, 100, N_BLOCKS * (stream->size + 1001));
    g_signal_connect (program, "need-data", G_CALLBACK (send_frame), stream);
  }
  element = gst_bin_get_by_name (GST_BIN (pipeline), "element");
  pad = gst_element_get_static_pad (element, "sink");
  stream->chain = GST_PAD_CHAINFUNC (pad);
  g_object_set_data (G_OBJECT (pad), "stream", stream);
  gst_pad_set_chain_function (pad, timed_chain);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return pipeline;
}

/* Fails the program where a pipeline stopped, or no frame comes. */
static void
wait_for_streams (Run *run, GstElement **pipelines)
{
  gboolean done = FALSE;

  while (!done) {
    g_mutex_lock (&run->lock);
    if (run->done < run->streams)
      g_cond_wait_until (&run->cond, &run->lock, g_get_monotonic_time () + G_USEC_PER_SEC);
    done = run->done == run->streams;
    g_mutex_unlock (&run->lock);
    for (guint i = 0; i < run->streams; i++) {
      g_autoptr (GstBus) bus = gst_element_get_bus (pipelines[i]);
      GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
      GError *error = NULL;

      if (!message)
        continue;
      gst_message_parse_error (message, &error, NULL);
      g_error ("%s", error->message);
    }
  }
}

/* Microseconds for a frame. */
typedef struct
{
  gdouble frame, inside, cpu;
} Times;

static Times
play (guint source, guint size, const gchar *settings, guint count, gint n_frames)
{
  Run run = { .streams = count, .frames = n_frames };
  Stream streams[MOST_STREAMS] = { 0 };
  GstElement *pipelines[MOST_STREAMS];
  gdouble frames = (gdouble) count * n_frames;

  g_mutex_init (&run.lock);
  g_cond_init (&run.cond);
  for (guint i = 0; i < count; i++) {
    streams[i].run = &run;
    pipelines[i] = start_stream (&streams[i], source, size, settings);
  }
  wait_for_streams (&run, pipelines);
  for (guint i = 0; i < count; i++) {
    gst_element_set_state (pipelines[i], GST_STATE_NULL);
    gst_object_unref (pipelines[i]);
    g_free (streams[i].blocks);
  }
  return (Times){ (run.end - run.start) / frames, run.inside / frames, run.cpu / frames };
}

static void
run_row (guint source, guint size, guint way, guint count, gint n_frames)
{
  g_autofree gchar *settings = g_strconcat (MASK, " ", ways[way].settings, NULL);
  Times times = play (source, size, settings, count, n_frames);

  printf ("row %u %u %u %u %.2f %.2f %.2f\n", source, size, way, count, times.frame, times.inside, times.cpu);
  fflush (stdout);
}

/* The time in which one thread copies a frame of that size into another one. */
static gdouble
time_memcpy (guint size)
{
  gsize bytes = (gsize) sizes[size].width * sizes[size].height * 3 / 2;
  guint8 *from = g_malloc (bytes), *to = g_malloc (bytes);
  gdouble start = 0;

  memset (from, 1, bytes);
  for (gint i = 0; i < 25; i++) {
    if (i == 5)
      start = now (CLOCK_MONOTONIC);
    memcpy (to, from, bytes);
    from[i] = to[bytes - 1 - i] + 1;
  }
  start = now (CLOCK_MONOTONIC) - start;
  g_free (from);
  g_free (to);
  return start / 20;
}

void
bench_sources_round (const gchar *streams, gint n_frames)
{
  g_auto (GStrv) numbers = g_strsplit (streams, ",", -1);

  for (guint size = 0; size < SOURCES_SIZES; size++) {
    printf ("memcpy %u %.2f\n", size, time_memcpy (size));
    for (guint source = 0; source < G_N_ELEMENTS (sources); source++)
      for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
        for (guint k = 0; numbers[k]; k++)
          run_row (source, size, way, (guint) CLAMP (atoi (numbers[k]), 1, MOST_STREAMS), n_frames);
  }
}

/* --- all rounds --- */

#define N_FIGURES 3 /* of a row */

/* From the key of a row, such as "row 0 1 0 8", to a GArray of gdouble for each figure of each plugin. */
typedef GArray *Figures[2][N_FIGURES];

static gint
compare (gconstpointer a, gconstpointer b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
median (GArray *values)
{
  if (values->len == 0)
    return 0;
  g_array_sort (values, compare);
  return g_array_index (values, gdouble, values->len / 2);
}

static GArray **
find_figures (GHashTable *rows, GPtrArray *order, const gchar *key, gint plugin)
{
  Figures *figures = g_hash_table_lookup (rows, key);

  if (!figures) {
    figures = g_new0 (Figures, 1);
    for (gint i = 0; i < 2 * N_FIGURES; i++)
      (*figures)[i / N_FIGURES][i % N_FIGURES] = g_array_new (FALSE, FALSE, sizeof (gdouble));
    g_hash_table_insert (rows, g_strdup (key), figures);
    g_ptr_array_add (order, g_strdup (key));
  }
  return (*figures)[plugin];
}

static void
read_line (GHashTable *rows, GPtrArray *order, const gchar *line, gint plugin)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  gint keys = g_strcmp0 (words[0], "row") == 0 ? 5 : g_strcmp0 (words[0], "memcpy") == 0 ? 2 : 0;
  g_autoptr (GString) key = g_string_new (words[0]);
  GArray **figures;

  if (keys == 0)
    return;
  for (gint i = 1; i < keys; i++)
    g_string_append_printf (key, " %s", words[i]);
  figures = find_figures (rows, order, key->str, plugin);
  for (gint i = 0; i < N_FIGURES && words[keys + i]; i++) {
    gdouble value = g_ascii_strtod (words[keys + i], NULL);

    g_array_append_val (figures[i], value);
  }
}

/* Runs the program for one round with the plugin of a folder, or with the one that this process would load. */
static gboolean
run_round (GHashTable *rows, GPtrArray *order, const gchar *program, const gchar *folder, gint plugin,
    const gchar *streams, gint n_frames)
{
  g_autofree gchar *frames = g_strdup_printf ("%d", n_frames), *text = NULL;
  const gchar *command[] = { program, "--round", "--streams", streams, "--frames", frames, NULL };
  g_autofree gchar *registry = g_strdup_printf ("%s/bench-sources-%d.registry", g_get_tmp_dir (), (gint) getpid ());
  g_auto (GStrv) environment = g_get_environ ();
  g_auto (GStrv) lines = NULL;
  gboolean done;
  gint status;

  if (folder) {
    environment = g_environ_setenv (environment, "GST_PLUGIN_PATH", folder, TRUE);
    environment = g_environ_setenv (environment, "GST_REGISTRY", registry, TRUE);
  }
  done = g_spawn_sync (NULL, (gchar **) command, environment, 0, NULL, NULL, &text, NULL, &status, NULL) && status == 0;
  if (folder)
    g_unlink (registry);
  if (!done)
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (gint i = 0; lines[i]; i++)
    read_line (rows, order, lines[i], plugin);
  return TRUE;
}

static void
print_rows (GHashTable *rows, GPtrArray *order, FILE *csv)
{
  g_print (
      "| source | NV12 | frames in flight | streams | a frame, before | after | element, before | after | CPU, before "
      "| after |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  if (csv)
    fprintf (csv,
        "source,size,way,streams,frame_before,frame_after,element_before,element_after,cpu_before,cpu_after\n");
  for (guint i = 0; i < order->len; i++) {
    const gchar *key = order->pdata[i];
    Figures *figures = g_hash_table_lookup (rows, key);
    gdouble values[2 * N_FIGURES];
    guint source, size, way, count;

    for (gint k = 0; k < 2 * N_FIGURES; k++)
      values[k] = median ((*figures)[k % 2][k / 2]);
    if (sscanf (key, "row %u %u %u %u", &source, &size, &way, &count) == 4) {
      g_print ("| %s | %s | %s | %u | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", sources[source].name,
          sizes[size].name, ways[way].name, count, values[0], values[1], values[2], values[3], values[4], values[5]);
      if (csv)
        fprintf (csv, "%s,%s,%s,%u,%.1f,%.1f,%.1f,%.1f,%.1f,%.1f\n", sources[source].name, sizes[size].name,
            ways[way].name, count, values[0], values[1], values[2], values[3], values[4], values[5]);
    } else if (sscanf (key, "memcpy %u", &size) == 1) {
      g_print ("| one memcpy | %s | | | | %.0f | | | | |\n", sizes[size].name, values[1]);
    }
  }
}

int
bench_sources (const gchar *program, const gchar *beside, const gchar *streams, gint n_rounds, gint n_frames, FILE *csv)
{
  GHashTable *rows = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *order = g_ptr_array_new ();
  gboolean done = TRUE;

  for (gint round = 0; round < n_rounds && done; round++)
    done = (!beside || run_round (rows, order, program, beside, 0, streams, n_frames))
        && run_round (rows, order, program, NULL, 1, streams, n_frames);
  print_rows (rows, order, csv);
  if (!done)
    g_printerr ("a round failed\n");
  return !done;
}

/* --- the choice of auto --- */

#define MOST_ROUNDS 99

/* The median of what frames take in the element; n is at most MOST_ROUNDS. */
static gdouble
median_inside (const Times *rounds, gint n)
{
  gdouble values[MOST_ROUNDS] = { 0 };

  for (gint i = 0; i < n; i++)
    values[i] = rounds[i].inside;
  qsort (values, n, sizeof (*values), compare);
  return values[n / 2];
}

void
bench_choice (const gchar *streams, gint n_rounds, gint n_frames, FILE *csv)
{
  static const gchar *const masks[] = { "mask=gaussian", "mask=gaussian mask-width=15", "sigma=8" };
  static const gchar *const places[] = { "", "cuda-device-id=0", "kernel-variant=cpu" };
  static const guint order[] = { 2, 3, 0, 1 }, frames[] = { 1, 3 };
  g_auto (GStrv) numbers = g_strsplit (streams, ",", -1);
  const gint rounds = CLAMP (n_rounds, 1, MOST_ROUNDS);

  g_print ("| NV12 | mask | frames in flight | streams | auto | device | CPU | auto in the better one |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  if (csv)
    fprintf (csv, "size,mask,flight,streams,auto,device,cpu\n");
  for (guint i = 0; i < G_N_ELEMENTS (order) * G_N_ELEMENTS (masks) * G_N_ELEMENTS (frames); i++) {
    const guint size = order[i / (G_N_ELEMENTS (masks) * G_N_ELEMENTS (frames))];
    const guint flight = frames[i % G_N_ELEMENTS (frames)];
    const gchar *mask = masks[i / G_N_ELEMENTS (frames) % G_N_ELEMENTS (masks)];

    for (guint k = 0; numbers[k]; k++) {
      const guint count = (guint) CLAMP (atoi (numbers[k]), 1, MOST_STREAMS);
      Times times[G_N_ELEMENTS (places)][MOST_ROUNDS];
      gdouble inside[G_N_ELEMENTS (places)];

      for (gint round = 0; round < rounds; round++)
        for (guint place = 0; place < G_N_ELEMENTS (places); place++) {
          g_autofree gchar *settings = g_strdup_printf ("%s frames-in-flight=%u %s", mask, flight, places[place]);

          times[place][round] = play (0, size, settings, count, n_frames);
        }
      for (guint place = 0; place < G_N_ELEMENTS (places); place++)
        inside[place] = median_inside (times[place], rounds);
      g_print ("| %s | %s | %u | %u | %.1f | %.1f | %.1f | %.2f |\n", sizes[size].name, mask, flight, count, inside[0],
          inside[1], inside[2], inside[0] / MIN (inside[1], inside[2]));
      if (csv)
        fprintf (csv, "%s,%s,%u,%u,%.2f,%.2f,%.2f\n", sizes[size].name, mask, flight, count, inside[0], inside[1],
            inside[2]);
    }
  }
}
