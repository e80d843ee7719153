/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element beside other CUDA code, in its process or in another one. That code fills the memory of the GPU, or leaves
 * an error that lasts. The element posts one error that says what is the matter. It starts again when
 * there is memory again; after an error that lasts it says that the process must be started again, and a new process
 * works.
 *
 * Where no memory can be page-locked, the frames are the same, and the log says so once for each memory.
 *
 * check_neighbour full|sticky|unlocked. Each case has a process of its own: check_neighbour NAME NUMBER.
 */
#include <gst/check/gstcheck.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "element/cuda/failing_cuda.h"
#include "element/cuda/neighbour.h"
#include "support/element.h"
#include "support/processes.h"

#define HEARD (GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_INFO)
#define SMALL 64   /* width and height of a frame */
#define LARGE 8192 /* a frame of 64 MiB, which takes twice as much of the device */
#define LEFT 32    /* MiB of a device that is full */
#define LIMIT 150  /* seconds for a case */

typedef struct
{
  const gchar *name;
  void (*run) (const gchar *line);
  const gchar *line;
} Case;

/* --- the element --- */

/* The caps of frames in CUDA memory, where there are to be some. */
static gboolean cuda_in, cuda_out;

static gint64 begin;

/* Starts the element, or starts it again. */
static void
start (Run *run, gint size)
{
  const gchar *format = cuda_in || cuda_out ? "I420" : "GRAY8";
  GstCaps *caps = frame_caps (format, size, size, NULL);

  begin = g_get_monotonic_time ();
  run->info = info_of (format, size, size);
  if (gst_element_set_state (run->element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
    gst_caps_unref (caps);
    return;
  }
  run->harness = gst_harness_new_with_element (run->element, "sink", "src");
  if (cuda_in)
    gst_caps_set_features (caps, 0, gst_caps_features_new ("memory:CUDAMemory", NULL));
  if (cuda_out)
    gst_harness_set_sink_caps_str (run->harness, "video/x-raw(memory:CUDAMemory)");
  gst_harness_set_src_caps (run->harness, caps);
}

static void
stop (Run *run)
{
  g_clear_pointer (&run->harness, gst_harness_teardown);
  gst_element_set_state (run->element, GST_STATE_NULL);
}

static GstBusSyncReply
give_context (GstBus *bus, GstMessage *message, gpointer data)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_NEED_CONTEXT && cuda_in) {
    GstContext *context = cuda_frames_context ();

    gst_element_set_context (GST_ELEMENT (GST_MESSAGE_SRC (message)), context);
    gst_context_unref (context);
  }
  return GST_BUS_PASS;
}

static Run
element_new (const gchar *line)
{
  g_autofree gchar *full = g_strdup_printf ("cudaconvolve mask=box %s", line);
  Run run = { .element = gst_object_ref_sink (gst_parse_launch (full, NULL)), .bus = gst_bus_new () };

  gst_bus_set_sync_handler (run.bus, give_context, NULL, NULL);
  gst_element_set_bus (run.element, run.bus);
  return run;
}

static GstBuffer *
frame_of_size (const GstVideoInfo *info)
{
  static GstBuffer *large;

  if (info->width != LARGE)
    return cuda_in ? cuda_frames_get (1) : frame_new (info, FRAME_PLAIN, 1);
  if (!large)
    large = frame_new (info, FRAME_PLAIN, 1);
  return gst_buffer_ref (large);
}

static gboolean
push (Run *run)
{
  return run->harness && gst_harness_push (run->harness, frame_of_size (&run->info)) == GST_FLOW_OK;
}

static gchar *
sum_of (GstBuffer *buffer)
{
  GstMapInfo map;
  gchar *sum;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  sum = g_compute_checksum_for_data (G_CHECKSUM_MD5, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  return sum;
}

/* The checksum of the frame that the variant cpu gives. */
static gchar *
sum_by_cpu (gint size)
{
  Run cpu = element_new ("kernel-variant=cpu");
  gint64 before = begin;
  GstBuffer *buffer;
  gchar *sum;

  start (&cpu, size);
  begin = before;
  fail_unless (push (&cpu));
  buffer = gst_harness_pull (cpu.harness);
  sum = sum_of (buffer);
  gst_buffer_unref (buffer);
  run_stop (&cpu);
  return sum;
}

/* Pushes frames and ends the stream. All come out as the CPU makes them; frames in CUDA memory must come out. */
static void
check_frames (Run *run, guint n)
{
  g_autofree gchar *right = cuda_in || cuda_out ? NULL : sum_by_cpu (run->info.width);

  for (guint i = 0; i < n; i++)
    fail_unless (push (run));
  gst_harness_push_event (run->harness, gst_event_new_eos ());
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_harness_pull (run->harness);

    fail_unless (buffer != NULL);
    if (right) {
      g_autofree gchar *sum = sum_of (buffer);

      fail_unless_equals_string (sum, right);
    }
    gst_buffer_unref (buffer);
  }
  run_expect_none (run, HEARD);
}

static void
check_frame (Run *run)
{
  check_frames (run, 1);
}

/* Whether NVIDIA's driver could not say what is missing. Without memory for a context it gives its unknown error. */
static gboolean
is_unknown (const gchar *debug)
{
  return debug && strstr (debug, "CUDA error 999");
}

/* One error, of this code, with these words; it is printed. */
static void
check_error (Run *run, gint code, const gchar *text, const gchar *debug_text, const gchar *when)
{
  GstMessage *message;
  guint count = 0;

  while ((message = gst_bus_pop_filtered (run->bus, HEARD))) {
    g_autoptr (GError) error = NULL;
    g_autofree gchar *debug = NULL;

    fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_ERROR);
    gst_message_parse_error (message, &error, &debug);
    g_print ("%s, after %.2f s: %s, code %d: %s [%s]\n", when, (g_get_monotonic_time () - begin) / 1e6,
        g_quark_to_string (error->domain), error->code, error->message, debug);
    if (code == GST_RESOURCE_ERROR_NO_SPACE_LEFT && is_unknown (debug)) {
      code = GST_RESOURCE_ERROR_FAILED;
      text = NULL;
    }
    fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, code));
    fail_unless (!text || strstr (error->message, text), "\"%s\" is not in the text", text);
    fail_unless (!debug_text || (debug && strstr (debug, debug_text)), "\"%s\" is not in the debug text", debug_text);
    gst_message_unref (message);
    count++;
  }
  fail_unless (count == 1, "%s: %u messages", when, count);
}

/* --- a GPU that is full --- */

/* Another process that fills the device. */
typedef struct
{
  GPid pid;
  gint in, out;
} Filler;

static Filler
filler_new (void)
{
  g_autofree gchar *left = g_strdup_printf ("%d", LEFT);
  gchar *argv[] = { (gchar *) g_getenv ("CUDACONVOLVE_FILL_GPU"), left, NULL }, line[200] = "";
  Filler filler;

  fail_unless (g_spawn_async_with_pipes (NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &filler.pid,
      &filler.in, &filler.out, NULL, NULL));
  fail_unless (read (filler.out, line, sizeof (line) - 1) > 0);
  g_print ("another process: %s", line);
  return filler;
}

static void
filler_end (Filler *filler)
{
  close (filler->in);
  fail_unless (waitpid (filler->pid, NULL, 0) == filler->pid);
  close (filler->out);
}

/* The element must refuse a large frame for want of memory. */
static void
check_no_memory (Run *run, const gchar *when)
{
  fail_unless (!push (run));
  check_error (run, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "memory", NULL, when);
  stop (run);
  run_expect_none (run, HEARD);
}

static void
check_again (Run *run)
{
  start (run, LARGE);
  check_frame (run);
  g_print ("a start with memory again: right frames after %.2f s\n", (g_get_monotonic_time () - begin) / 1e6);
  stop (run);
  run_stop (run);
}

/* There is not even memory for a context. */
static void
full_from_the_beginning (const gchar *line)
{
  Filler filler = filler_new ();
  Run run = element_new (line);

  for (gint i = 0; i < 2; i++) {
    start (&run, LARGE);
    check_no_memory (&run, i == 0 ? "the first start" : "the second start");
  }
  filler_end (&filler);
  check_again (&run);
}

static void
full_later (const gchar *line)
{
  Run run = element_new (line);
  Filler filler;

  start (&run, SMALL);
  check_frame (&run);
  stop (&run);
  filler = filler_new ();
  for (gint i = 0; i < 2; i++) {
    start (&run, LARGE);
    check_no_memory (&run, i == 0 ? "a later start" : "one more start");
  }
  filler_end (&filler);
  check_again (&run);
}

static void
full_in_mid_stream (const gchar *line)
{
  Run run = element_new (line);
  GstCaps *caps = frame_caps ("GRAY8", LARGE, LARGE, NULL);
  Filler filler;

  start (&run, SMALL);
  for (gint i = 0; i < 5; i++)
    fail_unless (push (&run));
  filler = filler_new ();
  for (gint i = 0; i < 5; i++)
    fail_unless (push (&run));
  run.info = info_of ("GRAY8", LARGE, LARGE);
  begin = g_get_monotonic_time ();
  gst_harness_set_src_caps (run.harness, caps);
  check_no_memory (&run, "in mid-stream");
  filler_end (&filler);
  check_again (&run);
}

static void
full_in_own_process (const gchar *line)
{
  Run run = element_new (line);

  fail_unless (neighbour_open ());
  start (&run, SMALL);
  check_frame (&run);
  stop (&run);
  neighbour_fill ((gsize) LEFT << 20);
  g_print ("this process: %" G_GSIZE_FORMAT " MiB are left\n", neighbour_free () >> 20);
  for (gint i = 0; i < 2; i++) {
    start (&run, LARGE);
    check_no_memory (&run, i == 0 ? "a later start" : "one more start");
  }
  neighbour_release ();
  check_again (&run);
}

static void
full_for_cuda_memory (const gchar *line)
{
  cuda_out = TRUE;
  full_later (line);
}

static void
full_for_cuda_memory_from_the_beginning (const gchar *line)
{
  cuda_out = TRUE;
  full_from_the_beginning (line);
}

static const Case full[] = {
  { "before the first call", full_from_the_beginning, "kernel-variant=global" },
  { "before the first call, auto", full_from_the_beginning, "" },
  { "after the first frame", full_later, "kernel-variant=global" },
  { "after the first frame, in flight", full_later, "kernel-variant=global frames-in-flight=4" },
  { "in mid-stream", full_in_mid_stream, "kernel-variant=global" },
  { "in mid-stream, in flight", full_in_mid_stream, "kernel-variant=global frames-in-flight=3" },
  { "by the process itself", full_in_own_process, "kernel-variant=global" },
  { "for frames in CUDA memory", full_for_cuda_memory, "kernel-variant=global" },
  { "for frames in CUDA memory, before the first call", full_for_cuda_memory_from_the_beginning,
      "kernel-variant=global" },
};

/* --- an error that lasts --- */

static void
fault (NeighbourContext context)
{
  gint code;

  fail_unless (neighbour_open ());
  code = neighbour_fault (context);
  g_print ("the neighbour's kernel: CUDA error %d\n", code);
  fail_unless (code >= 700 && code < 720, "error %d", code);
}

static void
check_lost (Run *run, const gchar *when)
{
  check_error (run, GST_RESOURCE_ERROR_FAILED, "started again", "other CUDA code", when);
  stop (run);
  run_expect_none (run, HEARD);
}

/* No start works any more, and each says why. Work on the CPU goes on. */
static void
check_refused (Run *run)
{
  Run cpu = element_new ("kernel-variant=cpu");

  for (gint i = 0; i < 2; i++) {
    start (run, SMALL);
    fail_unless (!push (run));
    check_lost (run, "the next start");
  }
  run_stop (run);
  if (!cuda_in && !cuda_out) {
    start (&cpu, SMALL);
    fail_unless (push (&cpu));
    run_expect_none (&cpu, HEARD);
  }
  run_stop (&cpu);
}

static void
sticky_before (const gchar *line)
{
  Run run = element_new (line);

  fault (NEIGHBOUR_PRIMARY);
  check_refused (&run);
}

static void
sticky_between (const gchar *line)
{
  Run run = element_new (line);

  start (&run, SMALL);
  check_frame (&run);
  stop (&run);
  fault (NEIGHBOUR_PRIMARY);
  check_refused (&run);
}

static void
push_until_lost (Run *run, NeighbourContext context)
{
  guint pushed = 0;

  start (run, SMALL);
  for (gint i = 0; i < 6; i++)
    fail_unless (push (run));
  if (context == NEIGHBOUR_CURRENT)
    cuda_frames_push_context ();
  fault (context);
  if (context == NEIGHBOUR_CURRENT)
    cuda_frames_pop_context ();
  begin = g_get_monotonic_time ();
  while (push (run) && pushed < 10)
    pushed++;
  g_print ("%u frames after the fault were taken\n", pushed);
  check_lost (run, "in mid-stream");
  check_refused (run);
}

static void
sticky_in_mid_stream (const gchar *line)
{
  Run run = element_new (line);

  push_until_lost (&run, NEIGHBOUR_PRIMARY);
}

static void
sticky_in_other_context (const gchar *line)
{
  Run run = element_new (line);

  push_until_lost (&run, NEIGHBOUR_OWN);
}

static void
sticky_in_cuda_memory (const gchar *line)
{
  GstVideoInfo info = info_of ("I420", SMALL, SMALL);
  Run run;

  cuda_in = cuda_out = TRUE;
  if (!cuda_frames_new (&info)) {
    g_print ("no frames in CUDA memory\n");
    exit (PROCESS_SKIPPED);
  }
  run = element_new (line);
  push_until_lost (&run, NEIGHBOUR_CURRENT);
}

static void
works (const gchar *line)
{
  Run run = element_new (line);

  start (&run, SMALL);
  check_frame (&run);
  run_stop (&run);
}

static const Case sticky[] = {
  { "before the first start", sticky_before, "kernel-variant=global" },
  { "before the first start, auto", sticky_before, "" },
  { "between two starts", sticky_between, "kernel-variant=global" },
  { "in mid-stream", sticky_in_mid_stream, "kernel-variant=global" },
  { "in mid-stream, auto", sticky_in_mid_stream, "" },
  { "in flight", sticky_in_mid_stream, "kernel-variant=global frames-in-flight=4" },
  { "in another context", sticky_in_other_context, "kernel-variant=global" },
  { "with frames in CUDA memory", sticky_in_cuda_memory, "kernel-variant=global" },
  { "with frames in CUDA memory, in flight", sticky_in_cuda_memory, "kernel-variant=global frames-in-flight=3" },
  { "a new process", works, "kernel-variant=global" },
};

/* --- memory that cannot be page-locked --- */

static gint refused; /* messages of the log, atomic */

static void
count_refusals (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (strstr (gst_debug_message_get (message), "page-locked"))
    g_atomic_int_inc (&refused);
}

static void
check_twenty_frames (const gchar *line)
{
  Run run = element_new (line);

  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_DEBUG);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (count_refusals, NULL, NULL);
  start (&run, 1024);
  check_frames (&run, 20);
  run_stop (&run);
  g_print ("20 right frames after %.2f s, %d memories were not locked\n", (g_get_monotonic_time () - begin) / 1e6,
      refused);
}

/* The stand-in for the driver refuses. */
static void
unlocked_by_driver (const gchar *line)
{
  check_twenty_frames (line);
  fail_unless (refused > 0, "nothing was said about locked memory");
}

/* The limit may have no effect: not every system counts the memory that NVIDIA's driver locks for a process. */
static void
unlocked_by_limit (const gchar *line)
{
  struct rlimit none = { 0, 0 };

  fail_unless (setrlimit (RLIMIT_MEMLOCK, &none) == 0);
  check_twenty_frames (line);
}

static const Case unlocked[] = {
  { "the driver locks no memory", unlocked_by_driver, "kernel-variant=global" },
  { "the driver locks no memory, in flight", unlocked_by_driver, "kernel-variant=global frames-in-flight=3" },
  { "ulimit -l 0", unlocked_by_limit, "kernel-variant=global" },
};

/* --- the program --- */

static const Case *chosen;

GST_START_TEST (test_case)
{
  chosen->run (chosen->line);
}
GST_END_TEST;

static int
run_case (void)
{
  Suite *suite = suite_create (chosen->name);
  TCase *tc = tcase_create (chosen->name);

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 600);
  tcase_add_test (tc, test_case);
  return gst_check_run_suite (suite, chosen->name, __FILE__);
}

/* Not at the same time: one device has one memory. The last case of those that leave an error comes after the others. */
static int
run_cases (const Case *cases, guint n, gchar **argv)
{
  g_autoptr (GPtrArray) jobs = g_ptr_array_new_with_free_func ((GDestroyNotify) process_job_free);

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *number = g_strdup_printf ("%u", i);
    gchar *with_number[] = { argv[0], argv[1], number, NULL };
    ProcessJob *job = process_job_new (cases[i].name, with_number);

    if (cases[i].run == unlocked_by_driver)
      process_job_set (job, "CUDACONVOLVE_DRIVER", g_strdup ("unlocked"));
    g_ptr_array_add (jobs, job);
  }
  g_setenv ("CUDACONVOLVE_PROCESSES", "1", TRUE);
  return processes_run (jobs, LIMIT, NULL);
}

/* Asked in another process, because a case may be about the first call of its process. */
static gboolean
has_gpu (void)
{
  gchar *argv[] = { (gchar *) g_getenv ("CUDACONVOLVE_FILL_GPU"), "1000000", NULL };
  gint status = 1;

  return argv[0] && g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, NULL)
      && status == 0;
}

int
main (int argc, char **argv)
{
  const gchar *what = argc > 1 ? argv[1] : "";
  const Case *cases = sticky;
  guint n = G_N_ELEMENTS (sticky);

  if (g_str_equal (what, "full")) {
    cases = full;
    n = G_N_ELEMENTS (full);
  } else if (g_str_equal (what, "unlocked")) {
    cases = unlocked;
    n = G_N_ELEMENTS (unlocked);
  }
  stand_in_driver (argv);
  gst_check_init (&argc, &argv);
  if (argc < 3) {
    if (has_gpu ())
      return run_cases (cases, n, argv);
    g_print ("there is no GPU\n");
    return PROCESS_SKIPPED;
  }
  chosen = &cases[atoi (argv[2])];
  return run_case ();
}
