/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element beside other CUDA code of the same process: the copies of that code, the current context and device of
 * its threads, and other GPUs. The program exits with 77 where there is no GPU.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmodule.h>
#include <gst/app/gstappsink.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <stdlib.h>
#include <string.h>

#include "convolve_device.h"
#include "support/element.h"

#define SKIPPED 77
#define PAGE 4096

static int n_devices;

/* --- copies --- */

/* Another user of CUDA in the process, with memory on the device and a stream. */
typedef struct
{
  void *memory;
  gsize size;
  cudaStream_t stream;
} Foreign;

static Foreign
foreign_new (gsize size)
{
  Foreign foreign = { .size = size };

  fail_unless_equals_int (cudaSetDevice (0), cudaSuccess);
  fail_unless_equals_int (cudaMalloc (&foreign.memory, size), cudaSuccess);
  fail_unless_equals_int (cudaStreamCreateWithFlags (&foreign.stream, cudaStreamNonBlocking), cudaSuccess);
  return foreign;
}

static void
foreign_free (Foreign *foreign)
{
  fail_unless_equals_int (cudaStreamDestroy (foreign->stream), cudaSuccess);
  fail_unless_equals_int (cudaFree (foreign->memory), cudaSuccess);
}

/* Copies the bytes to the device and back, which must succeed. */
static void
foreign_copy (const Foreign *foreign, void *host, gsize size, const gchar *what)
{
  cudaError_t up = cudaMemcpyAsync (foreign->memory, host, size, cudaMemcpyHostToDevice, foreign->stream);
  cudaError_t down = cudaMemcpyAsync (host, foreign->memory, size, cudaMemcpyDeviceToHost, foreign->stream);

  fail_unless (up == cudaSuccess && down == cudaSuccess, "%s: %s, %s", what, cudaGetErrorName (up),
      cudaGetErrorName (down));
  fail_unless_equals_int (cudaStreamSynchronize (foreign->stream), cudaSuccess);
}

static void
foreign_copy_buffer (const Foreign *foreign, GstBuffer *buffer, const gchar *what)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  foreign_copy (foreign, map.data, map.size, what);
  gst_buffer_unmap (buffer, &map);
}

static const gint64 integers[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 };
static const Expected expected = { .boundary = CONVOLVE_BOUNDARY_REPLICATE,
  .width = 3,
  .height = 3,
  .integers = integers,
  .numerator = 1,
  .denominator = 16 };

#define MASK "mask=\"1 2 1; 2 4 2; 1 2 1\" kernel-variant=global "

GST_START_TEST (test_separate_memories)
{
  GstVideoInfo info = info_of ("I420", 640, 362);
  Foreign foreign = foreign_new (4 * info.size);

  for (guint n = 1; n <= 4; n++) {
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve " MASK "frames-in-flight=%u", n);
    GstHarness *harness = harness_new_for (line, &info);
    guint8 *block = aligned_alloc (PAGE, (info.size / PAGE + 1) * PAGE);
    GstBuffer *planes = frame_wrap_planes (&info, block), *out;

    for (gsize i = 0; i < info.size; i++)
      block[i] = i * 31 % 251;
    for (guint i = 0; i < 8; i++) {
      push_ok (harness, gst_buffer_ref (planes));
      foreign_copy (&foreign, block, info.size, "a frame of separate memories");
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    for (guint i = 0; i < 8; i++) {
      out = gst_harness_pull (harness);
      frame_check (&info, planes, out, &expected, line);
      gst_buffer_unref (out);
    }
    gst_buffer_unref (planes);
    gst_harness_teardown (harness);
    free (block);
  }
  foreign_free (&foreign);
}
GST_END_TEST;

/*
 * Two frames share a page. One is pushed often and then the other, in both orders, while other code copies either and
 * both.
 */
GST_START_TEST (test_neighbours)
{
  GstVideoInfo info = info_of ("NV12", 640, 362);
  Foreign foreign = foreign_new (4 * info.size);

  for (guint first = 0; first < 2; first++)
    for (guint n = 1; n <= 2; n++) {
      g_autofree gchar *line = g_strdup_printf ("cudaconvolve " MASK "frames-in-flight=%u", n);
      GstHarness *harness = harness_new_for (line, &info);
      guint8 *block = aligned_alloc (PAGE, (2 * info.size / PAGE + 1) * PAGE);
      GstBuffer *frames[2];

      gst_harness_set_drop_buffers (harness, TRUE);
      memset (block, 9, 2 * info.size);
      for (guint i = 0; i < 2; i++)
        frames[i] = gst_buffer_new_wrapped_full (0, block + i * info.size, info.size, 0, info.size, NULL, NULL);
      for (guint i = 0; i < 10; i++) {
        push_ok (harness, gst_buffer_ref (frames[i < 5 ? first : !first]));
        foreign_copy (&foreign, block, info.size, "the first frame");
        foreign_copy (&foreign, block + info.size, info.size, "the second frame");
        foreign_copy (&foreign, block, 2 * info.size, "both frames");
      }
      gst_harness_push_event (harness, gst_event_new_eos ());
      gst_buffer_unref (frames[0]);
      gst_buffer_unref (frames[1]);
      gst_harness_teardown (harness);
      free (block);
    }
  foreign_free (&foreign);
}
GST_END_TEST;

/*
 * Pools that the element page-locks stand between blocks of the heap that are not locked. Other code copies all of
 * them.
 */
GST_START_TEST (test_heap)
{
  GstVideoInfo info = info_of ("NV12", 1920, 1080);
  Foreign foreign = foreign_new (4 * info.size);
  GstHarness *harness = harness_new_for ("cudaconvolve " MASK, &info);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstBufferPool *pool;
  GstStructure *config;
  guint8 *blocks[16] = { NULL };
  GstBuffer *held[8];

  /* After the first free() of such a block glibc places blocks of this size end to end on the heap. */
  free (malloc (info.size + 2 * PAGE));
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, info.size, 8, 8);
  gst_buffer_pool_set_config (pool, config);
  gst_buffer_pool_set_active (pool, TRUE);
  for (guint i = 0; i < 8; i++) {
    blocks[i] = malloc (info.size + 100 * i);
    memset (blocks[i], 1, info.size);
    gst_buffer_pool_acquire_buffer (pool, &held[i], NULL);
    gst_buffer_memset (held[i], 0, i, -1);
    blocks[i + 8] = malloc (info.size - 100 * i);
    memset (blocks[i + 8], 1, info.size - 100 * i);
  }
  gst_harness_set_drop_buffers (harness, TRUE);
  for (guint round = 0; round < 3; round++)
    for (guint i = 0; i < 8; i++) {
      push_ok (harness, gst_buffer_ref (held[i]));
      push_ok (harness, gst_buffer_new_wrapped_full (0, blocks[i], info.size, 0, info.size, NULL, NULL));
      for (guint k = 0; k < 8; k++) {
        foreign_copy_buffer (&foreign, held[k], "a frame of the pool");
        foreign_copy (&foreign, blocks[k], info.size, "a block of the heap");
        foreign_copy (&foreign, blocks[k + 8], info.size - 100 * k, "a block of the heap");
      }
    }
  for (guint i = 0; i < 8; i++) {
    gst_buffer_unref (held[i]);
    free (blocks[i]);
    free (blocks[i + 8]);
  }
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  gst_query_unref (query);
  gst_harness_teardown (harness);
  foreign_free (&foreign);
}
GST_END_TEST;

/* --- the thread's context and device --- */

static CUresult (*get_current) (CUcontext *context);
static CUresult (*create_context) (CUcontext *context, unsigned flags, CUdevice device);
static CUresult (*destroy_context) (CUcontext context);

static gboolean
find_driver (void)
{
  GModule *driver = g_module_open ("libcuda.so.1", G_MODULE_BIND_LAZY);

  return driver && g_module_symbol (driver, "cuCtxGetCurrent", (gpointer *) (void *) &get_current)
      && g_module_symbol (driver, "cuCtxCreate_v2", (gpointer *) (void *) &create_context)
      && g_module_symbol (driver, "cuCtxDestroy_v2", (gpointer *) (void *) &destroy_context);
}

/* The current context and device of this thread, as the application's CUDA code sees them. */
typedef struct
{
  CUcontext context;
  int device;
} Current;

static Current
current (void)
{
  Current now;

  fail_unless_equals_int (get_current (&now.context), CUDA_SUCCESS);
  fail_unless_equals_int (cudaGetDevice (&now.device), cudaSuccess);
  return now;
}

static void
expect_current (const Current *before, const gchar *what)
{
  Current now = current ();

  fail_unless (now.context == before->context && now.device == before->device,
      "%s: context %p became %p, device %d became %d", what, before->context, now.context, before->device, now.device);
}

/* Makes every call of the library with this variant. */
static void
call_library (const char *variant, const Current *before)
{
  static const double taps[81] = { [0 ... 80] = 1 };
  ConvolveMask mask = { .width = 9, .height = 9, .taps = (double *) taps, .divisor = 81 };
  ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  ConvolveError error = { 0 };
  ConvolveDevice *device = convolve_device_new (0, &error);
  ConvolvePlan *plan;
  ConvolvePlane plane = { .source_stride = 256,
    .destination_stride = 256,
    .width = 256,
    .height = 64,
    .region = { 0, 0, 256, 64 } };
  ConvolveStage stage;
  guint8 *host = aligned_alloc (PAGE, 4 * PAGE);
  ConvolveRows rows = { .count = 64, .row_bytes = 256, .host = host, .host_stride = 256 };

  memset (host, 50, 4 * PAGE);
  fail_unless (device != NULL, "%s", error.text);
  expect_current (before, "convolve_device_new");
  plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, &mask, variant, device, &error);
  expect_current (before, "convolve_plan_new");
  fail_unless (convolve_pin (0, host, 4 * PAGE));
  expect_current (before, "convolve_pin");
  if (plan) {
    fail_unless_equals_int (convolve_device_begin (device, 0, &error), CONVOLVE_OK);
    fail_unless_equals_int (convolve_device_stage (device, 0, 256, 64, &stage, &error), CONVOLVE_OK);
    expect_current (before, "convolve_device_stage");
    plane.source = stage.source;
    plane.destination = stage.destination;
    fail_unless_equals_int (convolve_device_upload (device, 0, &rows, &error), CONVOLVE_OK);
    expect_current (before, "convolve_device_upload");
    fail_unless_equals_int (convolve_run (plan, &plane, &error), CONVOLVE_OK);
    expect_current (before, "convolve_run");
    memset (host, 0, 4 * PAGE);
    fail_unless_equals_int (convolve_device_download (device, 0, &rows, &error), CONVOLVE_OK);
    fail_unless_equals_int (convolve_device_end (device, &error), CONVOLVE_OK);
    expect_current (before, "convolve_device_end");
    fail_unless_equals_int (convolve_device_wait (device, 0, NULL, &error), CONVOLVE_OK);
    expect_current (before, "convolve_device_wait");
    convolve_plan_unref (plan);
    expect_current (before, "convolve_plan_unref");
  } else {
    fail_unless_equals_int (error.status, CONVOLVE_UNSUPPORTED);
  }
  convolve_unpin (0, host);
  expect_current (before, "convolve_unpin");
  convolve_device_free (device);
  expect_current (before, "convolve_device_free");
  free (host);
}

/* Does with the element everything that runs on the caller's thread. */
static void
call_element (const gchar *variant, const Current *before)
{
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve mask=gaussian cuda-device-id=0 kernel-variant=%s", variant);
  GstVideoInfo info = info_of ("NV12", 640, 362);
  GstHarness *harness = harness_new_for (line, &info);
  GstBuffer *out;

  for (guint i = 0; i < 3; i++) {
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
    expect_current (before, "a frame");
  }
  g_object_set (harness->element, "frames-in-flight", 3, NULL);
  for (guint i = 0; i < 5; i++)
    push_ok (harness, frame_new (&info, FRAME_PLAIN, i));
  expect_current (before, "frames in flight");
  out = gst_harness_pull (harness);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  expect_current (before, "GST_STATE_NULL");
  gst_harness_teardown (harness);
  expect_current (before, "the element's end");
  gst_buffer_unref (out); /* the last buffer of its pool, which unlocks the memory */
  expect_current (before, "a buffer's end");
}

typedef struct
{
  int device;   /* the device that cudaSetDevice() made current before, or -1 for none */
  gboolean own; /* a context made with the driver's functions is current instead */
} Situation;

static gpointer
run_situation (gpointer data)
{
  const Situation *situation = data;
  CUcontext own = NULL;
  Current before;

  if (situation->device >= 0)
    fail_unless_equals_int (cudaSetDevice (situation->device), cudaSuccess);
  if (situation->own) /* stays current from here on */
    fail_unless_equals_int (create_context (&own, 0, n_devices - 1), CUDA_SUCCESS);
  before = current ();
  for (int i = 0; i < convolve_variant_count (); i++)
    if (convolve_variant_on_device (i))
      call_library (convolve_variant_name (i), &before);
  call_element ("auto", &before);
  call_element ("fft", &before);
  if (own)
    fail_unless_equals_int (destroy_context (own), CUDA_SUCCESS);
  return NULL;
}

/*
 * A thread keeps its current context and device: with none, with a device that it chose, and with a context that it
 * made.
 */
GST_START_TEST (test_current)
{
  const Situation situations[] = { { -1, FALSE }, { 0, FALSE }, { n_devices - 1, FALSE }, { -1, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (situations); i++)
    g_thread_join (g_thread_new ("situation", run_situation, (gpointer) &situations[i]));
}
GST_END_TEST;

/* --- several devices --- */

static GByteArray *
frames_of (const gchar *line)
{
  g_autofree gchar *full = g_strdup_printf ("%s ! appsink name=sink sync=false", line);
  GstElement *pipeline = gst_parse_launch (full, NULL);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GByteArray *bytes = g_byte_array_new ();
  GstSample *sample;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 60 * GST_SECOND))) {
    frame_append_rows (bytes, sample);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return bytes;
}

typedef struct
{
  int device;
  const gchar *rest; /* for the launch line, with the device's number in place of %d */
  GByteArray *bytes;
} Job;

static gpointer
run_job (gpointer data)
{
  Job *job = data;
  g_auto (GStrv) parts = g_strsplit (job->rest, "%d", -1);
  g_autofree gchar *number = g_strdup_printf ("%d", job->device), *rest = g_strjoinv (number, parts);
  g_autofree gchar *line = g_strdup_printf ("videotestsrc pattern=snow num-buffers=30 "
                                            "! video/x-raw,format=NV12,width=640,height=480 ! %s",
      rest);

  job->bytes = frames_of (line);
  return NULL;
}

/* Elements on all devices of the host work at the same time in one process and give the bytes of the CPU. */
GST_START_TEST (test_devices)
{
#define WEIGHTS "mask=\"1 2 3 4 5 4 3 2 1;2 3 4 5 9 5 4 3 2;3 4 5 6 7 6 5 4 3\" "
  static const gchar *const rests[] = {
    "cudaconvolve cuda-device-id=%d " WEIGHTS,
    "cudaconvolve cuda-device-id=%d frames-in-flight=3 " WEIGHTS,
    "cudaconvolve cuda-device-id=%d kernel-variant=tiled " WEIGHTS,
    "cudaconvolve cuda-device-id=%d kernel-variant=tensor " WEIGHTS,
    "cudaconvolve cuda-device-id=%d kernel-variant=fft " WEIGHTS,
    "cudaconvolve cuda-device-id=%d kernel-variant=global " WEIGHTS,
    "cudaupload cuda-device-id=%d ! cudaconvolve " WEIGHTS "! video/x-raw(memory:CUDAMemory) ! cudadownload",
  };
  Job cpu = { .device = 0, .rest = "cudaconvolve kernel-variant=cpu " WEIGHTS };

  if (n_devices < 2)
    g_print ("SKIP: test_devices wants two GPUs, and there is %d\n", n_devices);
  run_job (&cpu);
  fail_unless_equals_int (cpu.bytes->len, 30 * 640 * 480 * 3 / 2);
  for (guint i = 0; i < G_N_ELEMENTS (rests); i++) {
    Job jobs[8];
    GThread *threads[8];
    int n = MIN (n_devices, 8);

    for (int k = 0; k < n; k++) {
      jobs[k] = (Job){ .device = k, .rest = rests[i] };
      threads[k] = g_thread_new ("job", run_job, &jobs[k]);
    }
    for (int k = 0; k < n; k++) {
      g_thread_join (threads[k]);
      fail_unless (jobs[k].bytes->len == cpu.bytes->len
              && memcmp (jobs[k].bytes->data, cpu.bytes->data, cpu.bytes->len) == 0,
          "device %d: %s", k, rests[i]);
      g_byte_array_unref (jobs[k].bytes);
    }
  }
  g_byte_array_unref (cpu.bytes);
}
GST_END_TEST;

static Suite *
coexist_suite (void)
{
  Suite *suite = suite_create ("coexist");
  TCase *tc = tcase_create ("coexist");

  tcase_set_timeout (tc, 600);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_separate_memories);
  tcase_add_test (tc, test_neighbours);
  tcase_add_test (tc, test_heap);
  tcase_add_test (tc, test_current);
  tcase_add_test (tc, test_devices);
  return suite;
}

int
main (int argc, char **argv)
{
  gst_check_init (&argc, &argv);
  if (cudaGetDeviceCount (&n_devices) != cudaSuccess || n_devices == 0 || !find_driver ()) {
    g_print ("SKIP: no GPU\n");
    return SKIPPED;
  }
  g_print ("%d GPUs\n", n_devices);
  return gst_check_run_suite (coexist_suite (), "coexist", __FILE__);
}
