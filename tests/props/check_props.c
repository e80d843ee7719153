/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of the properties: their specs, the numbers of variants, the texts of layers, settings without effect. */

#include "props/check_props.h"
#include "support/names.h"
#include "enums.h"
#include "mask_file.h"
#include "properties.h"

typedef struct
{
  GstElement parent;
  ConvolveProperties properties;
} Holder;
typedef GstElementClass HolderClass;

static GType holder_get_type (void);
G_DEFINE_TYPE (Holder, holder, GST_TYPE_ELEMENT)

#define FIRST_ID 3 /* any */

static void
holder_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  fail_unless (convolve_properties_set (&((Holder *) object)->properties, id - FIRST_ID, value, FALSE));
}

static void
holder_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  fail_unless (convolve_properties_get (&((Holder *) object)->properties, id - FIRST_ID, value));
}

static void
holder_finalize (GObject *object)
{
  convolve_properties_clear (&((Holder *) object)->properties);
  G_OBJECT_CLASS (holder_parent_class)->finalize (object);
}

static void
holder_class_init (HolderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = holder_set_property;
  object_class->get_property = holder_get_property;
  object_class->finalize = holder_finalize;
  convolve_properties_install (object_class, FIRST_ID);
}

static void
holder_init (Holder *holder)
{
  convolve_properties_init (&holder->properties);
}

/* A spec of arrays compares no elements where it says nothing about the elements. */
static gboolean
is_equal (GParamSpec *spec, const GValue *a, const GValue *b)
{
  return GST_VALUE_HOLDS_ARRAY (a) ? gst_value_compare (a, b) == GST_VALUE_EQUAL : g_param_values_cmp (spec, a, b) == 0;
}

/* Every row of the table, whatever it is: its spec, its default, and a value there and back that copies keep apart. */
GST_START_TEST (properties)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  static const gchar *const names[] = { "mask", "mask-width", "mask-height", "sigma", "divisor", "bias", "boundary",
    "kernel-variant", "cuda-device-id", "frames-in-flight", "n-threads", "layer-location", "stride", "padding",
    "activation", "pool-size", "pool-stride", "layer-channels", "mosaic", "apply-to", "regions", "region-sources",
    "region-types", "region-expand", "region-feather", "region-shape", "region-effect", "region-strength",
    "region-blocks", "region-color", "region-hold", "region-fallback", "weights", "mask-location", "mask-x", "mask-y",
    "anchor-x", "anchor-y", "flip", "mix", "absolute", "boundary-color", "components", "field-mode", "iterations" };
  static const gchar *const controllable[] = { "mask-width", "mask-height", "sigma", "divisor", "bias", "region-expand",
    "region-feather", "region-strength", "region-blocks", "region-color", "boundary-color", "anchor-x", "anchor-y",
    "mix", "iterations", NULL };
  Holder *holder = g_object_new (holder_get_type (), NULL);
  GObjectClass *klass = G_OBJECT_GET_CLASS (holder);
  ConvolveProperties copy;
  GValue kept = G_VALUE_INIT;
  GEnumClass *values;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GParamSpec *spec = g_object_class_find_property (klass, names[i]);
    gboolean ready = g_str_equal (names[i], "cuda-device-id");
    const gchar *text = g_str_equal (names[i], "weights") ? "<<1,2.5>,<-3,4>>"
        : g_str_equal (names[i], "mix")                   ? "0.5"
                                                          : "1";
    GValue got = G_VALUE_INIT;

    fail_unless (spec != NULL && spec->param_id == FIRST_ID + i, "%s", names[i]);
    fail_unless (spec->flags & (ready ? GST_PARAM_MUTABLE_READY : GST_PARAM_MUTABLE_PLAYING), "%s", names[i]);
    fail_unless (!!(spec->flags & GST_PARAM_CONTROLLABLE) == g_strv_contains (controllable, names[i]), "%s", names[i]);
    fail_unless ((spec->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE, "%s", names[i]);
    g_object_get_property (G_OBJECT (holder), names[i], &got);
    fail_unless (g_param_value_defaults (spec, &got), "%s does not begin with its default", names[i]);
    g_value_unset (&got);

    gst_util_set_object_arg (G_OBJECT (holder), names[i], text);
    g_object_get_property (G_OBJECT (holder), names[i], &got);
    g_value_init (&kept, G_VALUE_TYPE (&got));
    fail_unless (gst_value_deserialize (&kept, text) && is_equal (spec, &kept, &got), "%s", names[i]);
    g_value_unset (&kept);
    convolve_properties_copy (&copy, &holder->properties);
    g_param_value_set_default (spec, &got);
    g_object_set_property (G_OBJECT (holder), names[i], &got);
    g_value_init (&kept, G_VALUE_TYPE (&got));
    fail_unless (convolve_properties_get (&copy, i, &kept));
    fail_unless (gst_value_deserialize (&got, text) && is_equal (spec, &kept, &got), "%s", names[i]);
    g_value_unset (&kept);
    g_value_unset (&got);
    convolve_properties_clear (&copy);
  }
  fail_if (convolve_properties_get (&holder->properties, G_N_ELEMENTS (names), &kept), "a property is not tested");
  for (guint i = 0; i < n_presets; i++)
    fail_unless (
        strstr (g_param_spec_get_blurb (g_object_class_find_property (klass, "mask")), presets[i].name) != NULL);

  g_object_set (holder, "mask", "box", "mask-width", 7, "mask-height", 3, "sigma", 2.5, "divisor", -4.0, "bias", 0.5,
      NULL);
  convolve_properties_copy (&copy, &holder->properties);
  g_object_set (holder, "mask", NULL, "mask-width", 0, NULL);
  fail_unless (holder->properties.mask.mask == NULL && holder->properties.mask.mask_width == 0);
  fail_unless_equals_string (copy.mask.mask, "box");
  fail_unless (copy.mask.mask_width == 7 && copy.mask.mask_height == 3 && copy.mask.sigma == 2.5
      && copy.mask.divisor == -4 && copy.mask.bias == 0.5);
  convolve_properties_clear (&copy);
  fail_unless (copy.mask.mask == NULL);

  values = g_type_class_ref (CONVOLVE_TYPE_BOUNDARY);
  fail_unless_equals_int (values->n_values, CONVOLVE_N_BOUNDARIES);
  for (gint i = 0; i < CONVOLVE_N_BOUNDARIES; i++)
    fail_unless_equals_string (g_enum_get_value (values, i)->value_nick, check_boundary_name (i));
  g_type_class_unref (values);

  values = g_type_class_ref (CONVOLVE_TYPE_ACTIVATION);
  fail_unless_equals_int (values->n_values, CONVOLVE_N_ACTIVATIONS);
  for (gint i = 0; i < CONVOLVE_N_ACTIVATIONS; i++)
    fail_unless_equals_string (g_enum_get_value (values, i)->value_nick, check_activation_name (i));
  g_type_class_unref (values);

  values = g_type_class_ref (CONVOLVE_TYPE_VARIANT);
  fail_unless_equals_int (g_enum_get_value_by_nick (values, "auto")->value, CONVOLVE_VARIANT_AUTO);
  for (gint i = 0; i < convolve_variant_count (); i++)
    fail_unless_equals_int (g_enum_get_value_by_nick (values, convolve_variant_name (i))->value,
        convolve_variant_number (i));
  for (gint i = 0; i < convolve_layer_variant_count (); i++) {
    const GEnumValue *value = g_enum_get_value_by_nick (values, convolve_layer_variant_name (i));
    gboolean on_device;

    fail_unless (value && convolve_variant_is_for_layers (value->value, &on_device));
    fail_unless_equals_int (on_device, convolve_layer_variant_on_device (i));
    fail_unless_equals_string (convolve_variant_nick (value->value), convolve_layer_variant_name (i));
  }
  for (guint i = 1; i < values->n_values; i++) {
    const GEnumValue *value = &values->values[i];
    gboolean on_device, masks = convolve_variant_is_for_masks (value->value, &on_device);
    gboolean layers = convolve_variant_is_for_layers (value->value, &on_device);

    /* gst-inspect says which of the two a variant serves. */
    fail_unless (masks || layers);
    fail_unless_equals_int (strstr (value->value_name, "masks: ") != NULL, masks);
    fail_unless_equals_int (strstr (value->value_name, "layers: ") != NULL, layers);
  }
  g_type_class_unref (values);
  gst_object_unref (holder);
}

GST_END_TEST;

/* What a property becomes for a number that a GstController passes, and for one that a user writes. */
GST_START_TEST (numbers_of_controllers)
{
  static const struct
  {
    const gchar *name;
    gdouble number, driven;
  } rows[] = { { "mask-width", 14, 15 }, { "mask-width", 0, 1 }, { "mask-width", 15, 15 }, { "mask-height", 254, 255 },
    { "mask-height", 0, 1 }, { "sigma", -1, 0 }, { "sigma", -0.25, 0 }, { "sigma", 0, 0 }, { "sigma", 2.5, 2.5 },
    { "region-strength", -1, 0 }, { "region-strength", -0.5, 0 }, { "region-strength", 0.3, 0.3 }, { "mix", 0, 0 },
    { "divisor", -2, -2 }, { "bias", -0.5, -0.5 }, { "anchor-x", -1, -1 }, { "region-feather", 2, 2 },
    { "iterations", 2, 2 } };
  Holder *holder = g_object_new (holder_get_type (), NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows) * 2; i++) {
    const gchar *name = rows[i / 2].name;
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (holder), name);
    gboolean driven = i % 2;
    GValue number = G_VALUE_INIT, value = G_VALUE_INIT;

    g_value_init (&number, G_TYPE_DOUBLE);
    g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
    g_value_set_double (&number, rows[i / 2].number);
    fail_unless (g_value_transform (&number, &value));
    fail_unless (convolve_properties_set (&holder->properties, spec->param_id - FIRST_ID, &value, driven));
    fail_unless (convolve_properties_get (&holder->properties, spec->param_id - FIRST_ID, &value));
    fail_unless (g_value_transform (&value, &number));
    fail_unless (g_value_get_double (&number) == (driven ? rows[i / 2].driven : rows[i / 2].number), "%s %g: %g", name,
        rows[i / 2].number, g_value_get_double (&number));
    g_value_unset (&value);
    g_value_unset (&number);
  }
  gst_object_unref (holder);
}

GST_END_TEST;

/* Programs and saved settings hold the numbers of variants, so a released number never changes. */
GST_START_TEST (numbers_of_variants)
{
  static const gchar *const released[] = { "auto", "box", "tensor-fused", "tensor-separable", "packed-separable",
    "fused", "fused-tiled", "packed", "direct", "tensor", "fft", "separable", "tiled", "constant", "tiled-cached",
    "tiled-input", "global", "cpu", "cpu-reference", "blocked", "gemm", "winograd", "shared", "wgmma" };
  GEnumClass *values = g_type_class_ref (CONVOLVE_TYPE_VARIANT);

  for (guint i = 0; i < G_N_ELEMENTS (released); i++) {
    const GEnumValue *value = g_enum_get_value_by_nick (values, released[i]);

    fail_unless (value != NULL, "%s is missing", released[i]);
    fail_unless (value->value == (gint) i, "%s is %d, and was %u", released[i], value->value, i);
    fail_unless_equals_string (convolve_variant_nick (i), released[i]);
  }
  for (guint i = 0; i < values->n_values; i++)
    for (guint k = 0; k < i; k++)
      fail_if (values->values[i].value == values->values[k].value
              || g_str_equal (values->values[i].value_nick, values->values[k].value_nick),
          "%s and %s are both %d", values->values[i].value_nick, values->values[k].value_nick, values->values[i].value);
  for (gint i = 0; i < convolve_variant_count (); i++) {
    fail_unless (convolve_variant_number (i) > 0);
    for (gint k = 0; k < convolve_layer_variant_count (); k++)
      fail_unless_equals_int (convolve_variant_number (i) == convolve_layer_variant_number (k),
          g_str_equal (convolve_variant_name (i), convolve_layer_variant_name (k)));
  }
  g_type_class_unref (values);
}

GST_END_TEST;

static void
expect_padding (const gchar *text, gint expected)
{
  ConvolveLayerSettings settings = { .padding = (gchar *) text };
  gint pixels = -7;

  fail_unless (convolve_layer_settings_padding (&settings, &pixels, NULL), "%s", text);
  fail_unless_equals_int (pixels, expected);
}

/* Reads the text for a layer of eight feature maps. expected lists the maps, or is the message. */
static void
expect_channels (const gchar *text, const gchar *expected)
{
  ConvolveLayerSettings settings = { .channels = (gchar *) text };
  g_autoptr (GString) list = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) maps = NULL;

  if (convolve_layer_settings_channels (&settings, 8, &maps, &error))
    for (guint i = 0; i < maps->len; i++)
      g_string_append_printf (list, "%u ", g_array_index (maps, guint, i));
  else
    g_string_append (list, error->message);
  fail_unless_equals_string (list->str, expected);
}

GST_START_TEST (texts_of_layers)
{
  static const gchar *const bad[] = { "", "Same", "-1", "1.5", "3 3", "65537", "99999999999999999999", "0x10",
    "valid." };

  expect_padding (NULL, CONVOLVE_PADDING_SAME);
  expect_padding (" same ", CONVOLVE_PADDING_SAME);
  expect_padding ("valid", 0);
  expect_padding ("0", 0);
  expect_padding ("65536", 65536);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    ConvolveLayerSettings settings = { .padding = (gchar *) bad[i] };
    GError *error = NULL;
    gint pixels;

    fail_if (convolve_layer_settings_padding (&settings, &pixels, &error), "%s", bad[i]);
    fail_unless (g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER));
    fail_unless (g_str_has_prefix (error->message, "padding: \"") && strstr (error->message, "is not same, valid, or"),
        "%s", error->message);
    g_error_free (error);
  }

  expect_channels (NULL, "0 1 2 3 4 5 6 7 ");
  expect_channels (" ", "0 1 2 3 4 5 6 7 ");
  expect_channels ("0,5,7", "0 5 7 ");
  expect_channels (" 7 , 5\t0 ", "7 5 0 ");
  expect_channels ("2-4,0-0 3", "2 3 4 0 3 ");
  expect_channels ("8", "layer-channels: \"8\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("0,x", "layer-channels: \"x\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("-1", "layer-channels: \"-1\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("3-2", "layer-channels: \"3-2\" is not a range of 0 to 7, the layer's feature maps");
  expect_channels ("3-", "layer-channels: \"3-\" is not a range of 0 to 7, the layer's feature maps");
  expect_channels ("1;2", "layer-channels: \"1;2\" is not a number or a range");
  expect_channels ("1,", "layer-channels: \",\" has no number behind the comma");
  expect_channels ("1,,2", "layer-channels: \"\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("99999999999999999999",
      "layer-channels: \"99999999999999999999\" is not one of 0 to 7, the layer's "
      "feature maps");
}

GST_END_TEST;

/* The sentences on settings without effect, one to a line. */
static gchar *
idle_sentences (const ConvolveProperties *properties, gboolean layer_runs)
{
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);

  convolve_properties_add_idle (properties, layer_runs, sentences);
  g_ptr_array_add (sentences, NULL);
  return g_strjoinv ("\n", (gchar **) sentences->pdata);
}

static void
expect_idle (const ConvolveProperties *properties, gboolean layer_runs, const gchar *expected)
{
  g_autofree gchar *text = idle_sentences (properties, layer_runs);

  fail_unless_equals_string (text, expected);
}

GST_START_TEST (settings_without_effect)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  ConvolveProperties standard, p;

  convolve_properties_init (&standard);
  expect_idle (&standard, FALSE, "");
  expect_idle (&standard, TRUE, "");

  /* Sigma, with every preset and with weights. */
  p = standard;
  for (guint i = 0; i < n_presets; i++) {
    const gchar *name = presets[i].name;
    gboolean taken = g_str_equal (name, "gaussian") || g_str_equal (name, "log") || g_str_equal (name, "unsharp");
    g_autofree gchar *text = NULL;

    p.mask = settings_of (name, 0, 0);
    p.mask.sigma = 2.5;
    text = idle_sentences (&p, FALSE);
    fail_unless (taken ? text[0] == '\0'
                       : g_str_has_prefix (text, "sigma: 2.5 has no effect: the preset ") && strstr (text, name),
        "%s", text);
  }
  p.mask = settings_of ("1 2 1", 0, 0);
  p.mask.sigma = 2.5;
  expect_idle (&p, FALSE, "sigma: 2.5 has no effect: mask has weights, which are not made from sigma");
  p.mask.mask = NULL;
  p.mask.mask_x = (gchar *) "1 2 1";
  expect_idle (&p, FALSE, "sigma: 2.5 has no effect: mask-x has weights, which are not made from sigma");
  p.mask.mask = (gchar *) "box"; /* an error tells of this */
  expect_idle (&p, FALSE, "");

  /* Anchors, with presets and with weights. */
  p.mask = settings_of ("motion:30", 0, 0);
  p.mask.anchor_x = 0;
  p.mask.anchor_y = 3;
#define MIDDLE " has no effect: the preset motion in mask has its middle on the pixel; weights have anchors"
  expect_idle (&p, FALSE, "anchor-x: 0" MIDDLE "\nanchor-y: 3" MIDDLE);
  p.mask.mask = (gchar *) "1 2 1";
  expect_idle (&p, FALSE, "");

  p.mask = settings_of ("nonsense", 0, 0); /* an error tells of this */
  p.mask.sigma = 2.5;
  expect_idle (&p, FALSE, "");

  /* The magnitude of what is a magnitude. */
  for (guint i = 0; i < n_presets; i++) {
    const gchar *name = presets[i].name;
    gboolean combined = g_str_equal (name, "sobel") || g_str_equal (name, "prewitt") || g_str_equal (name, "scharr")
        || g_str_equal (name, "roberts") || g_str_equal (name, "kirsch");
    g_autofree gchar *expected =
        g_strdup_printf ("absolute: true has no effect: the preset %s in mask combines several "
                         "masks, and its values are never negative",
            name);

    p.mask = settings_of (name, 0, 0);
    p.mask.absolute = TRUE;
    expect_idle (&p, FALSE, combined ? expected : "");
  }
  p.mask = settings_of ("-1 0 1", 0, 0);
  p.mask.absolute = TRUE;
  expect_idle (&p, FALSE, "");

  p.mask = settings_of ("box", 7, 3);
  p.mask.sigma = 2.5;
  p.mask.absolute = TRUE;
#define BESIDE " has no effect: layer-location puts a layer in the place of the mask"
  expect_idle (&p, TRUE,
      "mask: \"box\"" BESIDE "\nmask-width: 7" BESIDE "\nmask-height: 3" BESIDE "\nsigma: 2.5" BESIDE
      "\nabsolute: true" BESIDE);
  p.mask = settings_of (NULL, 0, 0);
  p.mask.file = convolve_mask_file_new ("missing.txt");
  p.mask.mask_x = p.mask.mask_y = (gchar *) "1 2 1";
  p.mask.anchor_x = p.mask.anchor_y = 0;
  p.mask.flip = TRUE;
  p.mask.mix = 0.25;
  expect_idle (&p, TRUE,
      "mask-location: \"missing.txt\"" BESIDE "\nmask-x: \"1 2 1\"" BESIDE "\nmask-y: \"1 2 1\"" BESIDE
      "\nanchor-x: 0" BESIDE "\nanchor-y: 0" BESIDE "\nflip: true" BESIDE "\nmix: 0.25" BESIDE);
  convolve_mask_file_unref (p.mask.file);
  p.mask = standard.mask;
  p.components = CONVOLVE_COMPONENT_A | CONVOLVE_COMPONENT_Y;
  expect_idle (&p, TRUE, "components: y+a" BESIDE);
  p.components = standard.components;

  p.mask = settings_of (NULL, 0, 0);
  p.layer = (ConvolveLayerSettings){ .stride = 4,
    .padding = (gchar *) "valid",
    .activation = CONVOLVE_ACTIVATION_RELU,
    .pool_size = 2,
    .pool_stride = 3,
    .channels = (gchar *) "0,1",
    .mosaic = TRUE };
#define WITHOUT " has no effect: layer-location names no layer"
  expect_idle (&p, FALSE,
      "stride: 4" WITHOUT "\npadding: \"valid\"" WITHOUT "\nactivation: relu" WITHOUT "\npool-size: 2" WITHOUT
      "\npool-stride: 3" WITHOUT "\nlayer-channels: \"0,1\"" WITHOUT "\nmosaic: true" WITHOUT);
  p.layer.location = (gchar *) "missing.npy"; /* an error or a warning tells of this */
  expect_idle (&p, FALSE, "");
  convolve_properties_clear (&standard);
}

GST_END_TEST;

static Suite *
props_suite (void)
{
  Suite *suite = suite_create ("props");
  TCase *tcase = tcase_create ("props");

  suite_add_tcase (suite, tcase);
  tcase_set_timeout (tcase, 300);
  tcase_add_test (tcase, properties);
  tcase_add_test (tcase, numbers_of_controllers);
  tcase_add_test (tcase, numbers_of_variants);
  tcase_add_test (tcase, texts_of_layers);
  tcase_add_test (tcase, settings_without_effect);
  suite_add_tcase (suite, mask_texts ());
  suite_add_tcase (suite, region_texts ());
  return suite;
}

GST_CHECK_MAIN (props);
