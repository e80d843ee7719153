/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a frame that are convolved as images of their own, in every format, on the CPU and over the fake device. */
#include "element/check_windows.h"

guint32 seed;

static const gint64 skewed[] = { 1, -2, 3, 0, 4, 5, 0, -6, 7, -1, 2, 0, -3, 1, -2 };

Expected
skewed_expected (ConvolveBoundary boundary, gdouble bias)
{
  return (Expected){
    .boundary = boundary,
    .width = 5,
    .height = 3,
    .integers = skewed,
    .numerator = 1,
    .denominator = 9,
    .bias = bias,
  };
}

GPtrArray *
element_formats (void)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("cudaconvolve", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  GPtrArray *names = g_ptr_array_new ();
  const GValue *formats = NULL;

  /* Caps of CUDA memory, which have fewer formats, come before those of system memory. */
  for (guint i = 0; i < gst_caps_get_size (template); i++)
    if (gst_caps_features_is_equal (gst_caps_get_features (template, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      formats = gst_structure_get_value (gst_caps_get_structure (template, i), "format");
  for (guint i = 0; i < gst_value_list_get_size (formats); i++)
    g_ptr_array_add (names, (gpointer) g_intern_string (g_value_get_string (gst_value_list_get_value (formats, i))));
  fail_unless (names->len >= 80);
  return names;
}

GstHarness *
windows_harness (const gchar *properties, GstCaps *caps)
{
  const gchar *variant = g_getenv ("CUDACONVOLVE_OVER_DEVICE") ? "kernel-variant=global" : "";
  g_autofree gchar *line = g_strdup_printf ("cudaconvolve %s %s", variant, properties);
  GstHarness *harness = harness_new_line (line);

  gst_harness_set_src_caps (harness, caps);
  return harness;
}

static Suite *
windows_suite (void)
{
  Suite *suite = suite_create ("windows");

  seed = check_seed ();
  suite_add_tcase (suite, component_tests ());
  return suite;
}

GST_CHECK_MAIN (windows);
