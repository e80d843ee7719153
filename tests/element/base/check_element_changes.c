/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element's properties in a harness: changes while frames flow and from other threads, GstController, n-threads,
 * variants, stats, warnings, and what gst-inspect-1.0 shows.
 */
#include <gst/check/gstcheck.h>
#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>
#include <locale.h>
#include <string.h>

#include "element/base/check_element.h"

static gchar *
active_variant (GstHarness *harness)
{
  gchar *name = NULL;

  gst_harness_get (harness, "cudaconvolve", "active-variant", &name, NULL);
  return name;
}

/* An identity passes the buffer through, until the mask changes. */
GST_START_TEST (test_passthrough)
{
  GstCaps *caps = frame_caps ("I420", 16, 8, NULL);
  GstHarness *harness;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("mask=identity", caps);
  for (gint round = 0; round < 3; round++) {
    gboolean identity = round != 1;
    GstBuffer *in = frame_new (&info, FRAME_PLAIN, seed), *out;
    g_autofree gchar *variant = NULL;

    gst_harness_set (harness, "cudaconvolve", "mask", identity ? "0 0 0; 0 1 0; 0 0 0" : SKEWED, NULL);
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    fail_unless_equals_int (out == in, identity);
    variant = active_variant (harness);
    fail_unless_equals_int (g_strcmp0 (variant, "passthrough") == 0, identity);
    if (!identity) {
      Expected expected = skewed_expected (CONVOLVE_BOUNDARY_REPLICATE, 0);

      frame_check (&info, in, out, &expected, "after passthrough");
    }
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  /* With a bias the preset identity changes the picture. */
  gst_harness_set (harness, "cudaconvolve", "mask", "identity", "bias", 0.1, NULL);
  {
    GstBuffer *in = frame_new (&info, FRAME_PLAIN, seed), *out;

    gst_harness_push (harness, gst_buffer_ref (in));
    out = gst_harness_pull (harness);
    fail_if (out == in);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Each frame is convolved with the properties that were set when the frame came. */
GST_START_TEST (test_changes)
{
  static const gint64 blur[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 }, shift[] = { 0, 0, 1 };
  static const struct
  {
    const gchar *mask;
    ConvolveBoundary boundary;
    gdouble divisor, bias;
    gint height;
    const gint64 *integers;
    gint64 numerator, denominator;
  } steps[] = {
    { "1 2 1 2 4 2 1 2 1", CONVOLVE_BOUNDARY_ZERO, 0, 0, 3, blur, 1, 16 },
    { "1 2 1 2 4 2 1 2 1", CONVOLVE_BOUNDARY_WRAP, 0, 0, 3, blur, 1, 16 },
    { "1 2 1 2 4 2 1 2 1", CONVOLVE_BOUNDARY_WRAP, 20, 0, 3, blur, 1, 20 },
    { "1 2 1 2 4 2 1 2 1", CONVOLVE_BOUNDARY_WRAP, -2.5, 0.5, 3, blur, -2, 5 },
    { "3x1: 0 0 1", CONVOLVE_BOUNDARY_REFLECT, 0, -0.125, 1, shift, 1, 1 },
    { "0 0 0.25", CONVOLVE_BOUNDARY_REPLICATE, 0, 0, 1, shift, 1, 1 },
  };
  GstCaps *caps = frame_caps ("NV12", 20, 12, NULL);
  GstHarness *harness;
  GstVideoInfo info;

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("", caps);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
    Expected expected = { .boundary = steps[i].boundary,
      .width = 3,
      .height = steps[i].height,
      .integers = steps[i].integers,
      .numerator = steps[i].numerator,
      .denominator = steps[i].denominator,
      .bias = steps[i].bias };

    g_object_set (element, "mask", steps[i].mask, "divisor", steps[i].divisor, "bias", steps[i].bias, NULL);
    gst_util_set_object_arg (G_OBJECT (element), "boundary", check_boundary_name (steps[i].boundary));
    gst_object_unref (element);
    check_one (harness, &info, FRAME_PLAIN, &expected, steps[i].mask);
  }
  gst_harness_teardown (harness);
}
GST_END_TEST;

static gpointer
keep_toggling (gpointer data)
{
  for (gint i = 0; i < 3000; i++) {
    g_object_set (data, "mask", "box", "mask-width", 9, NULL);
    g_object_set (data, "mask", "sobel-x", "mask-width", 0, NULL);
  }
  return NULL;
}

/* The properties of one g_object_set() take effect together: a mix of these two pairs would be refused. */
GST_START_TEST (test_changes_come_together)
{
  GstHarness *harness = harness_new ("mask=box", frame_caps ("GRAY8", 8, 8, NULL));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GstBus *bus = gst_bus_new ();
  GThread *thread;

  gst_element_set_bus (element, bus);
  thread = g_thread_new ("toggles", keep_toggling, element);
  for (gint i = 0; i < 3000; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);

    gst_buffer_memset (buffer, 0, 100, 64);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  g_thread_join (thread);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

static gpointer
keep_changing (gpointer data)
{
  GstElement *element = data;

  for (gint i = 0; i < 3000; i++)
    g_object_set (element, "mask", i % 2 ? "1 1 1 1 1 1 1 1 1" : "box", "mask-width", i % 2 ? 3 : 1 + i % 5 * 2,
        "boundary", i % CONVOLVE_N_BOUNDARIES, "bias", (i % 100) / 1000.0, NULL);
  return NULL;
}

/*
 * Two threads change properties while a third pushes frames. No frame fails, and none mixes two masks: a flat picture
 * stays flat.
 */
GST_START_TEST (test_changes_from_other_threads)
{
  GstCaps *caps = frame_caps ("GRAY8", 64, 48, NULL);
  GstHarness *harness = harness_new ("boundary=replicate", caps);
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GThread *threads[2];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("changes", keep_changing, element);
  for (gint i = 0; i < 300; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 48, NULL);
    GstMapInfo map;

    gst_buffer_memset (buffer, 0, 100, 64 * 48);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    /* The boundary zero darkens the edges, so the comparison is of the middle row's middle. */
    fail_unless (map.data[24 * 64 + 32] >= 100 && map.data[24 * 64 + 32] <= 126);
    for (gint x = 20; x < 44; x++)
      fail_unless_equals_int (map.data[24 * 64 + x], map.data[24 * 64 + 32]);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* A control source drives bias: black frames become as bright as the ramp says at their time. */
GST_START_TEST (test_controller)
{
  GstHarness *harness = harness_new ("mask=\"1 1 1 1 1 1 1 1 1\"", frame_caps ("GRAY8", 8, 8, NULL));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (element), "bias", source)));
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 0.0);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 10 * GST_SECOND, 1.0);
  for (gint i = 0; i <= 10; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);
    guint8 value;

    gst_buffer_memset (buffer, 0, 0, 64);
    GST_BUFFER_PTS (buffer) = i * GST_SECOND;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    gst_buffer_extract (buffer, 27, &value, 1);
    fail_unless_equals_int (value, (gint) (25.5 * i + 0.5));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * GST_SECOND);
    gst_buffer_unref (buffer);
  }
  /* The other properties that are promised can be bound too. */
  for (guint i = 0; i < 4; i++) {
    static const gchar *const names[] = { "sigma", "divisor", "mask-width", "mask-height" };
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), names[i]);

    fail_unless (spec->flags & GST_PARAM_CONTROLLABLE, "%s", names[i]);
  }
  gst_object_unref (source);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* The output has the timestamps, offsets, flags and metas of the input. */
GST_START_TEST (test_metadata)
{
  GstHarness *harness = harness_new ("mask=box", frame_caps ("GRAY8", 8, 8, NULL));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);
  GstVideoRegionOfInterestMeta *roi;
  g_autoptr (GstCaps) reference = gst_caps_new_empty_simple ("timestamp/x-test");
  GstReferenceTimestampMeta *stamp;

  gst_buffer_memset (buffer, 0, 9, 64);
  GST_BUFFER_PTS (buffer) = 40;
  GST_BUFFER_DTS (buffer) = 30;
  GST_BUFFER_DURATION (buffer) = 20;
  GST_BUFFER_OFFSET (buffer) = 7;
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER);
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4);
  gst_buffer_add_reference_timestamp_meta (buffer, reference, 5, 6);
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  buffer = gst_harness_pull (harness);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 40);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), 30);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 20);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_MARKER));
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 0);
  fail_unless (roi && roi->x == 1 && roi->y == 2 && roi->w == 3 && roi->h == 4);
  stamp = gst_buffer_get_reference_timestamp_meta (buffer, reference);
  fail_unless (stamp && stamp->timestamp == 5 && stamp->duration == 6);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* Metas of programs, by the tags that they have. */
static const struct
{
  const gchar *name, *tags[5];
  gboolean stays; /* on a frame whose samples changed */
} own_metas[] = {
  { "CheckPlain", { NULL }, TRUE },
  { "CheckPlaces", { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, GST_META_TAG_VIDEO_ORIENTATION_STR, NULL },
      TRUE },
  { "CheckColours", { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_COLORSPACE_STR, NULL }, TRUE },
  { "CheckHash", { "content-hash", NULL }, FALSE },
  { "CheckVideoHash", { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, "content-hash", NULL }, FALSE },
  { "CheckMemory", { GST_META_TAG_MEMORY_STR, NULL }, FALSE },
};

static void
add_own_metas (GstBuffer *buffer)
{
  for (guint i = 0; i < G_N_ELEMENTS (own_metas); i++) {
    if (!gst_meta_get_info (own_metas[i].name))
      gst_meta_register_custom (own_metas[i].name, (const gchar **) own_metas[i].tags, NULL, NULL, NULL);
    gst_buffer_add_custom_meta (buffer, own_metas[i].name);
  }
  gst_buffer_add_protection_meta (buffer, gst_structure_new_empty ("application/x-cenc"));
}

/* changed: the samples did; copied: the output is another buffer. */
static void
check_own_metas (GstBuffer *buffer, gboolean changed, gboolean copied, const gchar *what)
{
  for (guint i = 0; i < G_N_ELEMENTS (own_metas); i++) {
    gboolean memory = g_str_equal (own_metas[i].name, "CheckMemory");

    fail_unless ((gst_buffer_get_custom_meta (buffer, own_metas[i].name) != NULL)
            == (memory ? !copied : !changed || own_metas[i].stays),
        "%s: %s", what, own_metas[i].name);
  }
  fail_unless ((gst_buffer_get_protection_meta (buffer) != NULL) == !changed, "%s: encryption", what);
}

/* A meta that may tell of the samples goes where the samples change: into another buffer or in place. */
GST_START_TEST (test_metas_that_go)
{
  static const struct
  {
    const gchar *properties;
    gboolean changed, copied, held;
  } rows[] = {
    { "mask=box", TRUE, TRUE, FALSE },
    { "mask=box iterations=2", TRUE, TRUE, FALSE },
    { "mask=identity", FALSE, FALSE, FALSE },
    { "apply-to=regions region-effect=fill regions=1,1,4,4", TRUE, FALSE, FALSE },
    { "apply-to=regions region-effect=fill regions=1,1,4,4", TRUE, TRUE, TRUE },
    { "apply-to=regions mask=box regions=1,1,4,4", TRUE, FALSE, FALSE },
    { "apply-to=outside-regions mask=box regions=1,1,4,4", TRUE, FALSE, FALSE },
    { "apply-to=regions region-effect=fill regions=1,1,4,4 region-sources=roi", FALSE, FALSE, FALSE },
    { "apply-to=regions region-effect=fill regions=1,1,4,4 region-sources=roi", FALSE, FALSE, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstHarness *harness = harness_new (rows[i].properties, frame_caps ("GRAY8", 8, 8, NULL));
    GstBuffer *in = gst_buffer_new_allocate (NULL, 64, NULL), *out;

    gst_buffer_memset (in, 0, 9, 64);
    add_own_metas (in);
    if (rows[i].held)
      gst_buffer_ref (in);
    fail_unless_equals_int (gst_harness_push (harness, in), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    fail_unless_equals_int (out != in, rows[i].copied);
    check_own_metas (out, rows[i].changed, rows[i].copied, rows[i].properties);
    if (rows[i].held) {
      check_own_metas (in, FALSE, FALSE, "the input");
      gst_buffer_unref (in);
    }
    gst_buffer_unref (out);
    gst_harness_teardown (harness);
  }
}
GST_END_TEST;

static gboolean
upload_nothing (GstVideoGLTextureUploadMeta *meta, guint textures[4])
{
  return FALSE;
}

/* Metas of buffers that are changed in place: a way to the picture past the memory goes, and those of the pool stay. */
GST_START_TEST (test_metas_in_place)
{
  GstHarness *harness =
      harness_new ("apply-to=regions region-effect=fill regions=1,1,4,4", frame_caps ("GRAY8", 8, 8, NULL));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);
  GstVideoGLTextureType types[4] = { GST_VIDEO_GL_TEXTURE_TYPE_LUMINANCE };

  gst_buffer_memset (buffer, 0, 9, 64);
  add_own_metas (buffer);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  gst_buffer_add_video_gl_texture_upload_meta (buffer, GST_VIDEO_GL_TEXTURE_ORIENTATION_X_NORMAL_Y_NORMAL, 1, types,
      upload_nothing, NULL, NULL, NULL);
  GST_META_FLAG_SET ((GstMeta *) gst_buffer_get_custom_meta (buffer, "CheckHash"), GST_META_FLAG_LOCKED);
  GST_META_FLAG_SET ((GstMeta *) gst_buffer_get_custom_meta (buffer, "CheckVideoHash"), GST_META_FLAG_POOLED);
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  fail_unless (gst_harness_pull (harness) == buffer);
  fail_if (gst_buffer_get_meta (buffer, GST_VIDEO_GL_TEXTURE_UPLOAD_META_API_TYPE));
  fail_unless (gst_buffer_get_video_meta (buffer) != NULL);
  fail_unless (
      gst_buffer_get_custom_meta (buffer, "CheckHash") && gst_buffer_get_custom_meta (buffer, "CheckVideoHash"));
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* What upstream may attach: what describes the picture, and nothing that leaves its samples for later but the crop. */
GST_START_TEST (test_offered_metas)
{
  GstHarness *harness = harness_new_line ("cudaconvolve mask=box");
  g_autoptr (GstCaps) caps = frame_caps ("GRAY8", 8, 8, NULL);
  const struct
  {
    GType api;
    gboolean offered;
  } rows[] = {
    { GST_VIDEO_CROP_META_API_TYPE, TRUE },
    { GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, TRUE },
    { GST_VIDEO_CAPTION_META_API_TYPE, TRUE },
    { GST_VIDEO_TIME_CODE_META_API_TYPE, TRUE },
    { GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, FALSE },
    { GST_VIDEO_AFFINE_TRANSFORMATION_META_API_TYPE, FALSE },
    { GST_PROTECTION_META_API_TYPE, FALSE },
    { GST_VIDEO_GL_TEXTURE_UPLOAD_META_API_TYPE, FALSE },
  };
  GstBuffer *buffer;
  GstQuery *query;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    gst_harness_add_propose_allocation_meta (harness, rows[i].api, NULL);
  gst_harness_set_src_caps (harness, gst_caps_ref (caps));
  buffer = gst_buffer_new_allocate (NULL, 64, NULL);
  gst_buffer_memset (buffer, 0, 9, 64);
  push_ok (harness, buffer);
  query = gst_query_new_allocation (caps, TRUE);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    fail_unless (gst_query_find_allocation_meta (query, rows[i].api, NULL) == rows[i].offered, "%s",
        g_type_name (rows[i].api));
  gst_query_unref (query);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* stats counts the frames and names the variant. A locale with a decimal comma changes nothing. */
GST_START_TEST (test_stats_and_locale)
{
  const gchar *locale = setlocale (LC_NUMERIC, "de_DE.UTF-8");
  GstCaps *caps = frame_caps ("GRAY8", 16, 16, NULL);
  static const gint64 integers[] = { 1, 2, 1 };
  Expected expected = { .boundary = CONVOLVE_BOUNDARY_REPLICATE,
    .width = 3,
    .height = 1,
    .integers = integers,
    .numerator = 1,
    .denominator = 4 };
  GstHarness *harness;
  GstStructure *stats;
  GstVideoInfo info;
  guint64 frames, time;

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("mask=\"0.5,1.0,0.5\" kernel-variant=cpu", caps);
  for (gint i = 0; i < 3; i++)
    check_one (harness, &info, FRAME_PLAIN, &expected, locale ? locale : "no de_DE locale here");
  gst_harness_get (harness, "cudaconvolve", "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "frames", &frames) && frames == 3);
  fail_unless_equals_string (gst_structure_get_string (stats, "variant"), "cpu");
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"), "cpu");
  fail_unless_equals_string (gst_structure_get_string (stats, "device"), "none");
  fail_unless (gst_structure_get_uint64 (stats, "kernel-time", &time) && time > 0);
  fail_unless (gst_structure_get_uint64 (stats, "upload-time", &time) && time == 0);
  gst_structure_free (stats);
  gst_harness_teardown (harness);
  setlocale (LC_NUMERIC, "C");
}
GST_END_TEST;

/*
 * Each variant that this machine can run gives the same bytes through the element; the others say why not. Every
 * variant takes NV12; a variant may refuse another format.
 */
GST_START_TEST (test_variants)
{
  for (gint i = 0; i < convolve_variant_count (); i++) {
    static const gint64 integers[] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 }, equal[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    gboolean box = g_str_equal (convolve_variant_name (i), "box");
    g_autofree gchar *properties = g_strdup_printf ("mask=\"%s\" boundary=wrap kernel-variant=%s",
        box ? "1 1 1;1 1 1;1 1 1" : "1 2 1;2 4 2;1 2 1", convolve_variant_name (i));
    Expected expected = { .boundary = CONVOLVE_BOUNDARY_WRAP,
      .width = 3,
      .height = 3,
      .integers = box ? equal : integers,
      .numerator = 1,
      .denominator = box ? 9 : 16 };
    g_autofree gchar *line = g_strdup_printf ("cudaconvolve kernel-variant=%s", convolve_variant_name (i));
    GstElement *probe = gst_parse_launch (line, NULL);

    if (g_str_equal (convolve_variant_name (i), "shrink")) { /* it takes no weights */
      gst_object_unref (probe);
      continue;
    }
    if (gst_element_set_state (probe, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) {
      fail_unless (convolve_variant_on_device (i));
      g_print ("SKIP: %s: no CUDA device\n", convolve_variant_name (i));
    } else {
      static const gchar *const formats[] = { "NV12", "RGBA", "YUY2", "GRAY16_BE", "P010_10LE" };

      for (guint k = 0; k < G_N_ELEMENTS (formats); k++) {
        GstCaps *caps = frame_caps (formats[k], 75, 43, NULL);
        g_autofree gchar *variant = NULL;
        GstHarness *harness;
        GstVideoInfo info;

        fail_unless (gst_video_info_from_caps (&info, caps));
        harness = harness_new (properties, caps);
        if (k > 0 && gst_harness_push (harness, frame_new (&info, FRAME_PLAIN, seed)) == GST_FLOW_ERROR) {
          gst_harness_teardown (harness);
          continue;
        }
        if (k > 0)
          gst_buffer_unref (gst_harness_pull (harness));
        check_one (harness, &info, FRAME_PLAIN, &expected, convolve_variant_name (i));
        variant = active_variant (harness);
        fail_unless_equals_string (variant, convolve_variant_name (i));
        gst_harness_teardown (harness);
      }
    }
    gst_element_set_state (probe, GST_STATE_NULL);
    gst_object_unref (probe);
  }
}
GST_END_TEST;

static GPtrArray *said; /* warnings of the element in GStreamer's log */

static void
keep_warning (GstDebugCategory *category, GstDebugLevel level, const gchar *file, const gchar *function, gint line,
    GObject *object, GstDebugMessage *message, gpointer data)
{
  if (level == GST_LEVEL_WARNING && g_str_equal (gst_debug_category_get_name (category), "cudaconvolve"))
    g_ptr_array_add (said, g_strdup (gst_debug_message_get (message)));
}

/* Pushes frames. Since the last call there must have been one warning for each of these beginnings, in any order. */
static void
expect_said (GstHarness *harness, const gchar *const *begins)
{
  for (gint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64, NULL);

    gst_buffer_memset (buffer, 0, 7, 64);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  fail_unless (said->len == g_strv_length ((gchar **) begins), "%u warnings, the first: %s", said->len,
      said->len ? (gchar *) said->pdata[0] : "none");
  for (guint i = 0; begins[i]; i++) {
    gboolean found = FALSE;

    for (guint k = 0; k < said->len; k++)
      found |= g_str_has_prefix (said->pdata[k], begins[i]) && strstr (said->pdata[k], "has no effect");
    fail_unless (found, "no warning of %s", begins[i]);
  }
  g_ptr_array_set_size (said, 0);
}

#define SAID(...) expect_said (harness, (const gchar *[]){ __VA_ARGS__, NULL })
#define SAID_NOTHING() expect_said (harness, (const gchar *[]){ NULL })

/* A property without effect makes a warning in the log for each change, not for each frame and not on the bus. */
GST_START_TEST (test_properties_without_effect)
{
  GstHarness *harness = harness_new ("mask=sobel-x sigma=3", frame_caps ("GRAY8", 8, 8, NULL));
  GstElement *element = gst_harness_find_element (harness, "cudaconvolve");
  GstBus *bus = gst_bus_new ();

  said = g_ptr_array_new_with_free_func (g_free);
  gst_debug_set_threshold_for_name ("cudaconvolve", GST_LEVEL_WARNING);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (keep_warning, NULL, NULL);
  gst_element_set_bus (element, bus);

  SAID ("sigma: 3 ");
  g_object_set (element, "bias", 0.25, NULL);
  SAID_NOTHING ();
  g_object_set (element, "sigma", 4.0, NULL);
  SAID ("sigma: 4 ");
  g_object_set (element, "mask", "gaussian", NULL);
  SAID_NOTHING ();
  g_object_set (element, "mask", "1 2 1", NULL);
  SAID ("sigma: 4 ");
  g_object_set (element, "mask", "motion:30", "sigma", -1.0, "anchor-x", 0, "anchor-y", 0, NULL);
  SAID ("anchor-x: 0 ", "anchor-y: 0 ");
  g_object_set (element, "boundary-color", 0xff00ff00, NULL);
  SAID ("boundary-color: ");
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR) == NULL, "a message on the bus");

  gst_debug_remove_log_function (keep_warning);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  gst_debug_unset_threshold_for_name ("cudaconvolve");
  g_ptr_array_unref (said);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_harness_teardown (harness);
}
GST_END_TEST;

/* gst-inspect-1.0 shows the words that people search for, and an origin that is a URL or none. */
GST_START_TEST (test_inspection)
{
  static const struct
  {
    const gchar *element, *words[4];
  } rows[] = { { "cudaconvolve", { "blur", "sharpen", "edge" } }, { "cudaconvlayer", { "layer", "network" } } };
  g_autoptr (GstElement) masks = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPlugin) plugin = gst_registry_find_plugin (gst_registry_get (), "cudaconvolve");
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (masks), "mask");
  const gchar *origin = gst_plugin_get_origin (plugin);

  fail_unless (g_str_has_prefix (origin, "https://") || g_str_equal (origin, "Unknown package origin"), "%s", origin);
  fail_unless (strstr (g_param_spec_get_blurb (spec), "NULL = the default"));
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
    g_autoptr (GstElement) element = gst_element_factory_make (rows[k].element, NULL);
    g_autofree gchar *name = g_ascii_strdown (gst_element_get_metadata (element, GST_ELEMENT_METADATA_LONGNAME), -1);
    g_autofree gchar *text = g_ascii_strdown (gst_element_get_metadata (element, GST_ELEMENT_METADATA_DESCRIPTION), -1);

    /* "gst-inspect-1.0 | grep" finds only the long name, not the description. */
    for (guint i = 0; rows[k].words[i]; i++)
      fail_unless (strstr (name, rows[k].words[i]) && strstr (text, rows[k].words[i]), "%s is missing",
          rows[k].words[i]);
    /* The CPU serves, too, so the class does not say Hardware: players would take the element for a device's. */
    fail_unless_equals_string (gst_element_get_metadata (element, GST_ELEMENT_METADATA_KLASS), "Filter/Effect/Video");
  }
}
GST_END_TEST;

/* The list of presets is the one that mask takes: each of them works, and the description names them in this order. */
GST_START_TEST (test_presets)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  const gchar *blurb = g_param_spec_get_blurb (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "mask"));
  GValue presets = G_VALUE_INIT;

  g_object_get_property (G_OBJECT (element), "presets", &presets);
  fail_unless (gst_value_array_get_size (&presets) > 20);
  for (guint i = 0; i < gst_value_array_get_size (&presets); i++) {
    const gchar *name = g_value_get_string (gst_value_array_get_value (&presets, i));

    fail_unless (name && (blurb = strstr (blurb, name)), "preset %u", i);
    g_object_set (element, "mask", name, NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  }
  g_value_unset (&presets);
}
GST_END_TEST;

/* GstPreset stores all that a user can set, and nothing else. */
GST_START_TEST (test_stored_settings)
{
  static const gchar *const elements[] = { "cudaconvolve", "cudaconvlayer" };

  for (guint k = 0; k < G_N_ELEMENTS (elements); k++) {
    g_autoptr (GstElement) element = gst_element_factory_make (elements[k], NULL);
    g_auto (GStrv) stored = gst_preset_get_property_names (GST_PRESET (element));
    guint n;
    g_autofree GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

    for (guint i = 0; i < n; i++) {
      gboolean own = g_str_has_prefix (g_type_name (specs[i]->owner_type), "GstCudaConv");
      gboolean kept = g_strv_contains ((const gchar *const *) stored, specs[i]->name);

      fail_unless (!own || kept == !!(specs[i]->flags & G_PARAM_WRITABLE), "%s", specs[i]->name);
    }
  }
}
GST_END_TEST;

/*
 * Any number of threads gives the same bytes, also when n-threads changes while frames flow. The frame is large
 * enough for several threads.
 */
GST_START_TEST (test_threads)
{
  static const guint threads[] = { 1, 3, 2, 0, 8 };
  GstCaps *caps = frame_caps ("I420", 642, 482, NULL);
  GstHarness *harness;
  GstVideoInfo info;
  GstBuffer *in;
  Component single[4] = { 0 }, many[4] = { 0 };

  fail_unless (gst_video_info_from_caps (&info, caps));
  harness = harness_new ("mask=gaussian sigma=2 kernel-variant=cpu", caps);
  in = frame_new (&info, FRAME_PLAIN, seed);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    GstBuffer *out;

    gst_harness_set (harness, "cudaconvolve", "n-threads", threads[i], NULL);
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_ref (in)), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    /* The comparison is of samples, because the padding of rows is not defined. */
    frame_read (&info, out, i == 0 ? single : many);
    for (guint c = 0; i > 0 && c < 3; c++)
      fail_unless (memcmp (single[c].samples, many[c].samples, 2 * single[c].width * single[c].height) == 0);
    if (i > 0)
      frame_clear (many);
    gst_buffer_unref (out);
  }
  frame_clear (single);
  gst_buffer_unref (in);
  gst_harness_teardown (harness);
}
GST_END_TEST;

TCase *
element_changes (void)
{
  TCase *tc = tcase_create ("changes");

  tcase_set_timeout (tc, 300);
  tcase_add_test (tc, test_passthrough);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_changes_come_together);
  tcase_add_test (tc, test_changes_from_other_threads);
  tcase_add_test (tc, test_controller);
  tcase_add_test (tc, test_metadata);
  tcase_add_test (tc, test_metas_that_go);
  tcase_add_test (tc, test_metas_in_place);
  tcase_add_test (tc, test_offered_metas);
  tcase_add_test (tc, test_stats_and_locale);
  tcase_add_test (tc, test_variants);
  tcase_add_test (tc, test_properties_without_effect);
  tcase_add_test (tc, test_inspection);
  tcase_add_test (tc, test_presets);
  tcase_add_test (tc, test_stored_settings);
  tcase_add_test (tc, test_threads);
  return tc;
}
