/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in CUDA memory: every way in and out gives the bytes that the CPU gives. The program needs a GPU and
 * GStreamer's own CUDA elements, and exits with 77 where they are missing.
 */
#include <gst/app/gstappsink.h>
#include <gst/check/gstcheck.h>
#include <gst/video/video.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element/cuda/check_cudamemory.h"
#include "support/file.h"
#include "support/element.h"
#include "support/names.h"
#include "support/numpy.h"

#define SKIPPED 77

/* The bytes of all frames that a pipeline description gives to its appsink. */
static GByteArray *
frames_of (const gchar *line, guint *contexts)
{
  g_autofree gchar *full = g_strdup_printf ("%s ! appsink name=sink sync=false", line);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (full, &error);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstBus) bus = NULL;
  GByteArray *bytes = g_byte_array_new ();
  gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;
  GstSample *sample;
  GstMessage *message;

  fail_unless (error == NULL, "%s: %s", full, error ? error->message : "");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!gst_app_sink_is_eos (GST_APP_SINK (sink)) && g_get_monotonic_time () < end) {
    if ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 5))) {
      frame_append_rows (bytes, sample);
      gst_sample_unref (sample);
    }
    while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_HAVE_CONTEXT))) {
      if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
        gst_message_parse_error (message, &error, NULL);
        fail ("%s: %s", full, error->message);
      }
      if (contexts)
        ++*contexts;
      gst_message_unref (message);
    }
  }
  fail_unless (gst_app_sink_is_eos (GST_APP_SINK (sink)), "%s does not end", full);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return bytes;
}

/* Compares the frames of a pipeline; no byte may differ from the expected one by more than most. */
static void
check_near (const gchar *line, GByteArray *expected, gint most, guint *contexts)
{
  GByteArray *bytes = frames_of (line, contexts);

  fail_unless (expected->len > 0);
  fail_unless (bytes->len == expected->len, "%s: %u bytes, not %u", line, bytes->len, expected->len);
  for (guint i = 0; i < bytes->len; i++)
    if (ABS (bytes->data[i] - expected->data[i]) > most)
      fail ("%s: byte %u of %u is %u, not %u", line, i, bytes->len, bytes->data[i], expected->data[i]);
  g_byte_array_unref (bytes);
}

static void
check_equal (const gchar *line, GByteArray *expected, guint *contexts)
{
  check_near (line, expected, 0, contexts);
}

#define CUDA "video/x-raw(memory:CUDAMemory)"
#define MASK "mask=\"1 2 3 4 5; 6 7 8 9 10; 5 4 3 2 1\" bias=0.1 boundary=reflect"

/* Compares the element's frames, in all four combinations of memory at input and output, with those of the reference. */
static void
check_ways (const gchar *source, const gchar *element, const gchar *reference, const gchar *system)
{
  g_autofree gchar *both =
      g_strdup_printf ("%s ! cudaupload ! " CUDA " ! %s ! " CUDA " ! cudadownload", source, element);
  g_autofree gchar *in = g_strdup_printf ("%s ! cudaupload ! " CUDA " ! %s ! video/x-raw", source, element);
  g_autofree gchar *out = g_strdup_printf ("%s ! %s ! " CUDA " ! cudadownload", source, element);
  GByteArray *expected = frames_of (reference, NULL);

  check_equal (system, expected, NULL);
  check_equal (both, expected, NULL);
  check_equal (in, expected, NULL);
  check_equal (out, expected, NULL);
  g_byte_array_unref (expected);
}

/* All four combinations of system memory and CUDA memory at input and output. */
GST_START_TEST (test_ways)
{
  static const gchar *const formats[] = { "NV12", "I420", "P010_10LE", "RGBA", "RGB", "Y444", "Y444_16LE", "BGRx",
    "Y42B", "GBR", "I422_10LE", "RGB10A2_LE", "BGR10A2_LE" };
  static const gchar *const masks[] = { MASK, "mask=identity", "mask=binomial mask-width=9", "mask=disk" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (masks); k++) {
      gboolean exact = k < 2;
      g_autofree gchar *source = g_strdup_printf ("videotestsrc pattern=%s num-buffers=4 ! "
                                                  "video/x-raw,format=%s,width=322,height=242",
          i % 2 ? "smpte" : "snow", formats[i]);
      /*
       * A mask that is not exact is compared with the same variant, because the CPU may differ by one next to a tie.
       */
      g_autofree gchar *reference = g_strdup_printf ("%s ! cudaconvolve %s %s", source, masks[k],
          exact ? "kernel-variant=cpu" : "kernel-variant=tiled");
      g_autofree gchar *system =
          g_strdup_printf ("%s ! cudaconvolve %s %s", source, masks[k], exact ? "" : "kernel-variant=tiled");
      g_autofree gchar *both =
          g_strdup_printf ("%s ! cudaupload ! " CUDA " ! cudaconvolve %s %s ! " CUDA " ! cudadownload", source,
              masks[k], exact ? "" : "kernel-variant=tiled");
      g_autofree gchar *in = g_strdup_printf ("%s ! cudaupload ! " CUDA " ! cudaconvolve %s %s ! video/x-raw", source,
          masks[k], exact ? "" : "kernel-variant=tiled");
      g_autofree gchar *out = g_strdup_printf ("%s ! cudaconvolve %s %s ! " CUDA " ! cudadownload", source, masks[k],
          exact ? "" : "kernel-variant=tiled");
      GByteArray *expected = frames_of (reference, NULL);

      check_equal (system, expected, NULL);
      check_equal (both, expected, NULL);
      check_equal (in, expected, NULL);
      check_equal (out, expected, NULL);
      g_byte_array_unref (expected);
    }
}
GST_END_TEST;

/* Writes a file with this number of filters of 3x5 over three colours; returns its name. */
static gchar *
write_layer (const gchar *folder, gint filters)
{
  g_autofree gchar *header = g_strdup_printf (NUMPY_HEADER ("<f4", "False", "(%d, 3, 3, 5)"), filters);
  g_autofree gchar *name = g_strdup_printf ("%d.npy", filters);
  g_autofree gfloat *weights = g_new (gfloat, filters * 45);
  gchar *location = g_build_filename (folder, name, NULL);
  GByteArray *bytes;

  for (gint i = 0; i < filters * 45; i++)
    weights[i] = (i * 37 % 23 - 11) / 100.0f;
  bytes = numpy_floats (header, weights, filters * 45);
  fail_unless (check_write_file (location, bytes));
  g_byte_array_unref (bytes);
  return location;
}

/*
 * Layers with either memory at input and output. Feature maps in a format that CUDA memory does not have come out in
 * system memory.
 */
GST_START_TEST (test_layers)
{
  static const gchar *const formats[] = { "RGBA", "RGBx", "BGRA", "RGB", "GBR", "RGBP" };
  static const struct
  {
    gint filters;
    const gchar *more;
  } layers[] = { { 3, "" }, { 4, "stride=2 activation=relu" }, { 1, "padding=valid pool-size=2" },
    { 9, "mosaic=true" } };
  gchar *folder = check_folder ();

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (guint k = 0; k < G_N_ELEMENTS (layers); k++) {
      g_autofree gchar *location = write_layer (folder, layers[k].filters);
      gboolean gray = layers[k].filters == 1 || layers[k].filters == 9;
      g_autofree gchar *source = g_strdup_printf ("videotestsrc pattern=smpte num-buffers=4 ! "
                                                  "video/x-raw,format=%s,width=322,height=242",
          formats[i]);
      g_autofree gchar *layer = g_strdup_printf ("cudaconvlayer location=%s bias=0.5 %s", location, layers[k].more);
      g_autofree gchar *reference = g_strdup_printf ("%s ! %s kernel-variant=cpu-reference", source, layer);
      g_autofree gchar *system = g_strdup_printf ("%s ! %s frames-in-flight=2", source, layer);
      g_autofree gchar *in = g_strdup_printf ("%s ! cudaupload ! " CUDA " ! %s ! video/x-raw", source, layer);
      g_autofree gchar *both =
          g_strdup_printf ("%s ! cudaupload ! " CUDA " ! %s ! " CUDA " ! cudadownload", source, layer);
      g_autofree gchar *out = g_strdup_printf ("%s ! %s ! " CUDA " ! cudadownload", source, layer);
      GByteArray *expected = frames_of (reference, NULL);

      check_near (system, expected, 1, NULL);
      check_near (in, expected, 1, NULL);
      if (!gray) {
        check_near (both, expected, 1, NULL);
        check_near (out, expected, 1, NULL);
      }
      g_byte_array_unref (expected);
      g_unlink (location);
    }
  check_remove_folder (folder);
}
GST_END_TEST;

/*
 * The element uploads and downloads in every format of its CUDA caps. The height is even, because GstCuda allocates
 * too few rows for NV21 of an odd height.
 */
GST_START_TEST (test_formats)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  const GValue *formats = NULL;

  for (guint i = 0; i < gst_caps_get_size (template); i++)
    if (gst_caps_features_contains (gst_caps_get_features (template, i), "memory:CUDAMemory"))
      formats = gst_structure_get_value (gst_caps_get_structure (template, i), "format");
  fail_unless (formats && gst_value_list_get_size (formats) >= 24);
  for (guint i = 0; i < gst_value_list_get_size (formats); i++) {
    g_autofree gchar *source = g_strdup_printf ("videotestsrc pattern=snow num-buffers=2 ! "
                                                "video/x-raw,format=%s,width=321,height=122",
        g_value_get_string (gst_value_list_get_value (formats, i)));
    g_autofree gchar *reference = g_strdup_printf ("%s ! cudaconvolve kernel-variant=cpu " MASK, source);
    g_autofree gchar *line = g_strdup_printf ("%s ! cudaconvolve " MASK " ! " CUDA " ! cudaconvolve mask=identity ! "
                                              "video/x-raw",
        source);
    GByteArray *expected = frames_of (reference, NULL);

    check_equal (line, expected, NULL);
    g_byte_array_unref (expected);
  }
}
GST_END_TEST;

/* The variant cpu takes and gives CUDA memory too, which is mapped to the host. */
GST_START_TEST (test_cpu_variant)
{
  GByteArray *expected =
      frames_of ("videotestsrc num-buffers=3 ! video/x-raw,format=NV12 ! cudaconvolve " MASK " kernel-variant=cpu",
          NULL);

  check_equal ("videotestsrc num-buffers=3 ! video/x-raw,format=NV12 ! cudaupload ! " CUDA " ! cudaconvolve " MASK
               " kernel-variant=cpu ! " CUDA " ! cudadownload",
      expected, NULL);
  g_byte_array_unref (expected);
}
GST_END_TEST;

/* Gives the name of a new PPM file of 60x45 pixels. */
static gchar *
write_picture (void)
{
  g_autoptr (GString) ppm = g_string_new ("P6 60 45 255\n");
  gchar *name = NULL;
  gint fd = g_file_open_tmp ("cudamemory-XXXXXX.ppm", &name, NULL);

  for (guint i = 0; i < 60 * 45 * 3; i++)
    g_string_append_c (ppm, (gchar) (i * i % 251));
  fail_unless (fd >= 0 && write (fd, ppm->str, ppm->len) == (gssize) ppm->len);
  close (fd);
  return name;
}

/* Parts of frames in all four combinations of memory: in place, as a copy, and without a box at all. */
GST_START_TEST (test_regions)
{
  static const gchar *const formats[] = { "NV12", "I420", "P010_10LE", "RGBA" };
  static const gchar *const settings[] = { "regions=10,10,90,70;50%,50%,80%,20% region-effect=mask", "regions=\"\"",
    "regions=30,20,61,77 region-shape=ellipse region-feather=9 region-effect=mask",
    "regions=30,20,61,77 region-effect=pixelate",
    "regions=10,10,90,70;200,100,60,60;60,40,150,150 mask=gaussian region-strength=0.3 region-feather=4",
    "regions=5,5,300,200 region-effect=fill region-color=0xff2060a0",
    "regions=10,10,90,70;60,40,150,150 region-effect=noise-pixelate region-seed=7",
    "regions=10,10,90,70;60,40,150,150 region-effect=pixelate region-feather=9 region-opacity=0.4",
    "regions=5,5,300,200 region-effect=fill region-opacity=0.7",
    "regions=5,5,100,90;60,40,150,150;-30,180,90,90 region-effect=fill region-picture=", /* the name follows */
    "regions=30,20,61,77 region-effect=fill region-lookahead=50000000",
    "regions=30,20,61,77 region-effect=pixelate region-lookahead=50000000 frames-in-flight=3",
    "regions=30,20,61,77 region-shape=ellipse region-feather=9 apply-to=outside-regions region-smooth=100000000",
    "regions=30,20,61,77 region-effect=fill apply-to=outside-regions region-smooth=100000000 frames-in-flight=3" };
  g_autofree gchar *picture = write_picture ();

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *source =
        g_strdup_printf ("videotestsrc pattern=snow num-buffers=3 ! video/x-raw,format=%s,width=322,height=242",
            formats[i % G_N_ELEMENTS (formats)]);
    const gchar *setting = settings[i / G_N_ELEMENTS (formats)];
    g_autofree gchar *element = g_strdup_printf ("cudaconvolve " MASK " apply-to=regions %s%s", setting,
        g_str_has_suffix (setting, "region-picture=") ? picture : "");
    g_autofree gchar *reference = g_strdup_printf ("%s ! %s kernel-variant=cpu", source, element);
    g_autofree gchar *system = g_strdup_printf ("%s ! %s", source, element);

    check_ways (source, element, reference, system);
  }
  g_unlink (picture);
}
GST_END_TEST;

/* A white ball on transparent red: in regions whose colours alpha weighs, in all four combinations of memory. */
GST_START_TEST (test_alpha_in_regions)
{
  static const gchar *const formats[] = { "RGBA", "ARGB", "BGRA" };
  static const gchar *const settings[] = { "regions=10,10,190,170 region-effect=pixelate region-feather=7",
    "regions=10,10,90,70;60,40,150,150 mask=gaussian region-strength=0.3",
    "regions=10,10,190,170 region-effect=mask mask=binomial",
    "regions=10,10,90,70;200,100,60,60;60,40,150,150 region-effect=pixelate frames-in-flight=3",
    "regions=10,10,190,170 mask=gaussian region-strength=0.05 region-shape=ellipse iterations=2",
    "regions=10,10,190,170;60,40,150,150 light=linear region-effect=pixelate region-opacity=0.7" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *source =
        g_strdup_printf ("videotestsrc pattern=ball foreground-color=4294967295 "
                         "background-color=16711680 num-buffers=6 ! video/x-raw,format=%s,width=322,height=242",
            formats[i % G_N_ELEMENTS (formats)]);
    const gchar *setting = settings[i / G_N_ELEMENTS (formats)];
    g_autofree gchar *element = g_strdup_printf ("cudaconvolve apply-to=regions alpha=weigh %s", setting);
    g_autofree gchar *reference = g_strdup_printf ("%s ! %s kernel-variant=cpu", source, element);
    g_autofree gchar *system = g_strdup_printf ("%s ! %s cuda-device-id=0", source, element);

    check_ways (source, element, reference, system);
  }
}
GST_END_TEST;

/* The checksums that a record has of a pipeline's frames, each with a new line; to be freed. */
static gchar *
checksums_of (const gchar *source, const gchar *element, const gchar *sink)
{
  g_autofree gchar *line = NULL, *name = NULL, *text = NULL;
  GString *checksums = g_string_new (NULL);
  const gchar *at;

  close (g_file_open_tmp ("record-XXXXXX", &name, NULL));
  line = g_strdup_printf ("%s ! %s region-log=\"%s\" ! %s", source, element, name, sink);
  g_byte_array_unref (frames_of (line, NULL));
  fail_unless (g_file_get_contents (name, &text, NULL, NULL));
  for (at = strstr (text, "\"sha256\":\""); at; at = strstr (at + 1, "\"sha256\":\""))
    g_string_append_printf (checksums, "%.74s\n", at);
  g_unlink (name);
  return g_string_free (checksums, FALSE);
}

/* The record has what the frames in CUDA memory are when all work on them is done; also of frames that pass. */
GST_START_TEST (test_record)
{
  static const gchar *const formats[] = { "NV12", "P010_10LE", "RGBA" };
  static const gchar *const settings[] = { "regions=30,20,61,77", "regions=\"\"",
    "regions=30,20,61,77 frames-in-flight=3",
    "regions=5,5,300,200 region-effect=mask region-strength=0.3 frames-in-flight=2" };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (settings); i++) {
    g_autofree gchar *source =
        g_strdup_printf ("videotestsrc pattern=snow num-buffers=6 ! video/x-raw,format=%s,width=322,height=242",
            formats[i % G_N_ELEMENTS (formats)]);
    g_autofree gchar *uploaded = g_strdup_printf ("%s ! cudaupload ! " CUDA, source);
    g_autofree gchar *element =
        g_strdup_printf ("cudaconvolve apply-to=regions %s", settings[i / G_N_ELEMENTS (formats)]);
    g_autofree gchar *on_cpu = g_strdup_printf ("%s kernel-variant=cpu", element);
    g_autofree gchar *expected = checksums_of (source, on_cpu, "video/x-raw");
    g_autofree gchar *both = checksums_of (uploaded, element, CUDA " ! cudadownload");
    g_autofree gchar *in = checksums_of (uploaded, element, "video/x-raw");
    g_autofree gchar *out = checksums_of (source, element, CUDA " ! cudadownload");

    fail_unless_equals_int (strlen (expected), 6 * 75);
    fail_unless_equals_string (both, expected);
    fail_unless_equals_string (in, expected);
    fail_unless_equals_string (out, expected);
  }
}
GST_END_TEST;

/* Frames that are decoded and convolved on the GPU are those that the CPU makes of the same film. */
GST_START_TEST (test_decoder)
{
  g_autofree gchar *decode =
      g_strdup_printf ("filesrc location=\"%s\" ! qtdemux ! h264parse ! nvh264dec", g_getenv ("CUDACONVOLVE_CLIP"));
  g_autofree gchar *cpu = g_strdup_printf ("%s ! video/x-raw ! cudaconvolve kernel-variant=cpu " MASK, decode);
  g_autofree gchar *gpu = g_strdup_printf ("%s ! " CUDA " ! cudaconvolve " MASK " ! " CUDA " ! cudadownload", decode);
  g_autofree gchar *queued = g_strdup_printf ("%s ! queue max-size-buffers=16 ! cudaconvolve " MASK
                                              " ! queue max-size-buffers=16 ! cudadownload",
      decode);
  GByteArray *expected = frames_of (cpu, NULL);

  check_equal (gpu, expected, NULL);
  check_equal (queued, expected, NULL);
  g_byte_array_unref (expected);
}
GST_END_TEST;

/* A shift and a shift back in one context, which the elements tell each other once. */
GST_START_TEST (test_shared_context)
{
  guint contexts = 0;
  GByteArray *expected = frames_of ("videotestsrc pattern=snow num-buffers=5 ! video/x-raw,format=NV12", NULL);

  check_equal ("videotestsrc pattern=snow num-buffers=5 ! video/x-raw,format=NV12 ! cudaupload "
               "! cudaconvolve mask=\"0 0 1\" boundary=wrap ! " CUDA
               " ! queue ! cudaconvolve mask=\"1 0 0\" boundary=wrap ! " CUDA " ! cudadownload",
      expected, &contexts);
  fail_unless_equals_int (contexts, 1);
  g_byte_array_unref (expected);
}
GST_END_TEST;

static gpointer
run_line (gpointer expected)
{
  for (gint i = 0; i < 5; i++)
    check_equal ("videotestsrc pattern=snow num-buffers=20 ! video/x-raw,format=I420 ! cudaupload ! cudaconvolve " MASK
                 " ! " CUDA " ! cudadownload",
        expected, NULL);
  return NULL;
}

/* Two pipelines at the same time, each with its own context. */
GST_START_TEST (test_two_pipelines)
{
  GByteArray *expected = frames_of ("videotestsrc pattern=snow num-buffers=20 ! video/x-raw,format=I420 "
                                    "! cudaconvolve kernel-variant=cpu " MASK,
      NULL);
  GThread *other = g_thread_new ("pipeline", run_line, expected);

  run_line (expected);
  g_thread_join (other);
  g_byte_array_unref (expected);
}
GST_END_TEST;

static GstPadProbeReturn
switch_memory (GstPad *pad, GstPadProbeInfo *probe, gpointer filter)
{
  static gint count;

  if (++count % 5 == 0) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (count / 5 % 2 ? "video/x-raw" : CUDA);

    g_object_set (filter, "caps", caps, NULL);
  }
  return GST_PAD_PROBE_OK;
}

/* The kind of memory of the input or of the output changes again and again in mid-stream. */
GST_START_TEST (test_memory_changes)
{
  static const gchar *const lines[] = {
    "videotestsrc num-buffers=40 ! video/x-raw,format=NV12 ! identity name=i ! cudaupload ! capsfilter name=f "
    "! cudaconvolve ! fakesink sync=false",
    "videotestsrc num-buffers=40 ! video/x-raw,format=NV12 ! identity name=i ! cudaconvolve ! capsfilter name=f "
    "! fakesink sync=false",
    "videotestsrc num-buffers=40 ! video/x-raw,format=NV12 ! identity name=i ! cudaconvolve mask=identity "
    "! capsfilter name=f ! fakesink sync=false",
  };
  GstElement *pipeline = gst_parse_launch (lines[__i__], NULL);
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "i");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (source, "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, switch_memory, filter, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* The memory of the GPU that is in use, in MiB, or -1 where nvidia-smi does not say. */
static gint
memory_in_use (void)
{
  g_autofree gchar *text = NULL;

  if (!g_spawn_command_line_sync ("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits", &text, NULL, NULL,
          NULL))
    return -1;
  return atoi (text);
}

/* After 200 starts and stops the GPU has as much free memory as before. */
GST_START_TEST (test_cycles)
{
  GstElement *pipeline =
      gst_parse_launch ("videotestsrc num-buffers=2 ! video/x-raw,format=NV12 ! cudaupload "
                        "! cudaconvolve kernel-variant=global mask=disk ! " CUDA " ! fakesink sync=false",
          NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gint before = -1;

  for (gint i = 0; i < 200; i++) {
    GstMessage *message;

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
    gst_message_unref (message);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    if (i == 20)
      before = memory_in_use ();
  }
  g_print ("GPU memory after 20 and 200 cycles: %d and %d MiB\n", before, memory_in_use ());
  fail_unless (memory_in_use () <= before + 8);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* Frames in system memory, in strips and several in flight, against the CPU. */
GST_START_TEST (test_flights)
{
  static const gchar *const formats[] = { "NV12", "I420", "P010_10LE", "RGBA", "GRAY8" };

  for (guint i = 0; i < MAX (G_N_ELEMENTS (formats), CONVOLVE_N_BOUNDARIES); i++) {
    const gchar *boundary = check_boundary_name (i % CONVOLVE_N_BOUNDARIES);
    g_autofree gchar *source = g_strdup_printf ("videotestsrc pattern=snow num-buffers=12 ! "
                                                "video/x-raw,format=%s,width=1282,height=722",
        formats[i % G_N_ELEMENTS (formats)]);
    g_autofree gchar *reference =
        g_strdup_printf ("%s ! cudaconvolve kernel-variant=cpu " MASK " boundary=%s", source, boundary);
    GByteArray *expected = frames_of (reference, NULL);

    for (guint n = 1; n <= 4; n++) {
      g_autofree gchar *line =
          g_strdup_printf ("%s ! cudaconvolve frames-in-flight=%u " MASK " boundary=%s", source, n, boundary);

      check_equal (line, expected, NULL);
    }
    g_byte_array_unref (expected);
  }
}
GST_END_TEST;

/* Queries the element for its context, as any neighbour may do at any time. */
typedef struct
{
  GstElement *element;
  GMutex lock;
  GCond cond;
  gboolean answered;
  guint asked, late;
} Neighbour;

static gpointer
ask_for_context (gpointer data)
{
  Neighbour *neighbour = data;
  g_autoptr (GstPad) pad = gst_element_get_static_pad (neighbour->element, "src");
  GstQuery *query = gst_query_new_context ("gst.cuda.context");

  gst_pad_query (pad, query);
  gst_query_unref (query);
  g_mutex_lock (&neighbour->lock);
  neighbour->answered = TRUE;
  g_cond_signal (&neighbour->cond);
  g_mutex_unlock (&neighbour->lock);
  return NULL;
}

/* On the thread in which GStreamer looks for a context, waits for another thread that asks for that context. */
static GstBusSyncReply
let_neighbour_ask (GstBus *bus, GstMessage *message, gpointer data)
{
  Neighbour *neighbour = data;
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;

  if (GST_MESSAGE_SRC (message) != GST_OBJECT (neighbour->element)
      || (GST_MESSAGE_TYPE (message) != GST_MESSAGE_NEED_CONTEXT
          && GST_MESSAGE_TYPE (message) != GST_MESSAGE_HAVE_CONTEXT))
    return GST_BUS_PASS;
  neighbour->asked++;
  neighbour->answered = FALSE;
  g_thread_unref (g_thread_new ("neighbour", ask_for_context, neighbour));
  g_mutex_lock (&neighbour->lock);
  while (!neighbour->answered && g_cond_wait_until (&neighbour->cond, &neighbour->lock, end))
    ;
  neighbour->late += !neighbour->answered;
  g_mutex_unlock (&neighbour->lock);
  return GST_BUS_PASS;
}

/* No lock of the element is held while GStreamer looks for a context. */
GST_START_TEST (test_question_while_searching)
{
  static Neighbour neighbour;
  GstElement *pipeline = gst_parse_launch ("videotestsrc num-buffers=3 ! video/x-raw,format=NV12 "
                                           "! cudaconvolve name=c ! " CUDA " ! fakesink sync=false",
      NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  neighbour.element = gst_bin_get_by_name (GST_BIN (pipeline), "c");
  gst_bus_set_sync_handler (bus, let_neighbour_ask, &neighbour, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  fail_unless (neighbour.asked > 0 && neighbour.late == 0, "%u of %u questions had no answer", neighbour.late,
      neighbour.asked);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (neighbour.element);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* Moves the second plane of an NV12 frame in CUDA memory to system memory. */
static GstPadProbeReturn
mix_memories (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (probe));
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  gsize size = gst_buffer_get_size (buffer), chroma = size - meta->offset[1];
  GstMemory *memory = gst_allocator_alloc (NULL, chroma, NULL);
  GstMapInfo from, to;

  fail_unless (gst_buffer_map (buffer, &from, GST_MAP_READ) && gst_memory_map (memory, &to, GST_MAP_WRITE));
  memcpy (to.data, from.data + meta->offset[1], chroma);
  gst_memory_unmap (memory, &to);
  gst_buffer_unmap (buffer, &from);
  gst_buffer_append_memory (buffer, memory);
  meta = gst_buffer_get_video_meta (buffer);
  meta->offset[1] = size;
  GST_PAD_PROBE_INFO_DATA (probe) = buffer;
  return GST_PAD_PROBE_OK;
}

/* A buffer is CUDA memory by all of its memories, not by the first alone. */
GST_START_TEST (test_mixed_memories)
{
  GByteArray *expected = frames_of ("videotestsrc pattern=snow num-buffers=3 ! video/x-raw,format=NV12,width=320,"
                                    "height=240 ! cudaconvolve kernel-variant=cpu " MASK,
                 NULL),
             *bytes = g_byte_array_new ();
  GstElement *pipeline =
      gst_parse_launch ("videotestsrc pattern=snow num-buffers=3 ! video/x-raw,format=NV12,"
                        "width=320,height=240 ! cudaupload ! " CUDA " ! cudaconvolve name=c " MASK " ! video/x-raw "
                        "! appsink name=sink sync=false",
          NULL);
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "c");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  GstSample *sample;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, mix_memories, NULL, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 20 * GST_SECOND))) {
    frame_append_rows (bytes, sample);
    gst_sample_unref (sample);
  }
  fail_unless (bytes->len == expected->len && memcmp (bytes->data, expected->data, bytes->len) == 0);
  g_byte_array_unref (bytes);
  g_byte_array_unref (expected);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
cudamemory_suite (void)
{
  Suite *suite = suite_create ("cudamemory");
  TCase *tc = tcase_create ("cudamemory");

  tcase_set_timeout (tc, 600);
  suite_add_tcase (suite, tc);
  suite_add_tcase (suite, calls_of_frames ());
  tcase_add_test (tc, test_ways);
  tcase_add_test (tc, test_formats);
  tcase_add_test (tc, test_layers);
  tcase_add_test (tc, test_cpu_variant);
  tcase_add_test (tc, test_regions);
  tcase_add_test (tc, test_alpha_in_regions);
  tcase_add_test (tc, test_record);
  tcase_add_test (tc, test_decoder);
  tcase_add_test (tc, test_shared_context);
  tcase_add_test (tc, test_flights);
  tcase_add_test (tc, test_question_while_searching);
  tcase_add_test (tc, test_mixed_memories);
  tcase_add_test (tc, test_two_pipelines);
  tcase_add_loop_test (tc, test_memory_changes, 0, 3);
  tcase_add_test (tc, test_cycles);
  return suite;
}

int
main (int argc, char **argv)
{
  g_autoptr (GstElementFactory) upload = NULL;

  gst_check_init (&argc, &argv);
  upload = gst_element_factory_find ("cudaupload");
  if (!upload) {
    g_print ("SKIP: no CUDA elements: no GPU, no driver, or no nvcodec plugin\n");
    return SKIPPED;
  }
  return gst_check_run_suite (cudamemory_suite (), "cudamemory", __FILE__);
}
