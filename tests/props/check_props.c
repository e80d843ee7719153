/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of the properties: their specs, the numbers of variants, the texts of layers, settings without effect. */

#include <fenv.h>
#include <math.h>

#include "props/check_props.h"
#include "support/names.h"
#include "text/array.h"
#include "properties/enums.h"
#include "files/mask_file.h"
#include "text/token.h"
#include "properties/properties.h"

/* --- an element with the properties of a table --- */

typedef struct
{
  GstElement parent;
  ConvolveProperties *properties;
} Holder;

typedef struct
{
  GstElementClass parent;
  const ConvolvePropertyTable *table;
} HolderClass;

#define FIRST_ID 3 /* any */

static void
holder_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  fail_unless (convolve_properties_set (((Holder *) object)->properties, id - FIRST_ID, value, FALSE));
}

static void
holder_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  fail_unless (convolve_properties_get (((Holder *) object)->properties, id - FIRST_ID, value));
}

static void
holder_finalize (GObject *object)
{
  convolve_properties_unref (((Holder *) object)->properties);
  G_OBJECT_CLASS (g_type_class_peek (GST_TYPE_ELEMENT))->finalize (object);
}

static void
holder_class_init (gpointer klass, gpointer table)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  ((HolderClass *) klass)->table = table;
  object_class->set_property = holder_set_property;
  object_class->get_property = holder_get_property;
  object_class->finalize = holder_finalize;
  convolve_properties_install (object_class, table, FIRST_ID);
}

static void
holder_init (GTypeInstance *instance, gpointer klass)
{
  ((Holder *) instance)->properties = convolve_properties_new (((HolderClass *) klass)->table);
}

static Holder *
holder_new (const ConvolvePropertyTable *table)
{
  const gchar *name = table == &convolve_mask_properties ? "MaskHolder" : "LayerHolder";
  const GTypeInfo info = { .class_size = sizeof (HolderClass),
    .class_init = holder_class_init,
    .class_data = table,
    .instance_size = sizeof (Holder),
    .instance_init = holder_init };
  GType type = g_type_from_name (name);

  return g_object_new (type ? type : g_type_register_static (GST_TYPE_ELEMENT, name, &info, 0), NULL);
}

/* --- every row of the tables --- */

/* What a row must be: its default as a text, or NULL, and a text of another value. */
typedef struct
{
  const gchar *name, *standard, *other;
  gboolean controllable;
} Expected;

static const Expected mask_rows[] = {
  { "mask", "gaussian", "1 2 1", FALSE },
  { "mask-width", "0", "3", TRUE },
  { "mask-height", "0", "3", TRUE },
  { "sigma", "-1", "2.5", TRUE },
  { "divisor", "0", "-4", TRUE },
  { "bias", "0", "0.5", TRUE },
  { "boundary", "replicate", "constant", FALSE },
  { "kernel-variant", "auto", "cpu", FALSE },
  { "cuda-device-id", "-1", "1", FALSE },
  { "frames-in-flight", "1", "2", FALSE },
  { "n-threads", "0", "1", FALSE },
  { "apply-to", "frame", "outside-regions", FALSE },
  { "regions", NULL, "1,2,3,4", FALSE },
  { "region-boxes", "<>", "<<1.0,2.0,3.0,4.0>>", FALSE },
  { "region-sources", "text+roi+analytics", "roi", FALSE },
  { "region-mask-location", NULL, "mask.png", FALSE },
  { "region-types", NULL, "face", FALSE },
  { "region-ids", NULL, "!7", FALSE },
  { "region-min-confidence", "0", "0.5", TRUE },
  { "region-active", "true", "false", TRUE },
  { "region-expand", "0", "0.5", TRUE },
  { "region-feather", "0", "1", TRUE },
  { "region-shape", "rectangle", "ellipse", FALSE },
  { "region-effect", "auto", "fill", FALSE },
  { "region-strength", "-1", "0.5", TRUE },
  { "region-blocks", "3", "1", TRUE },
  { "region-color", "0xff000000", "1", TRUE },
  { "region-picture", NULL, "face.png", FALSE },
  { "region-opacity", "1", "0.5", TRUE },
  { "region-epsilon", "0.5", "2", TRUE },
  { "region-seed", "0", "1", FALSE },
  { "region-hold", "500000000", "1", FALSE },
  { "region-lookahead", "0", "1", FALSE },
  { "region-smooth", "0", "1", FALSE },
  { "region-fallback", "none", "frame", FALSE },
  { "region-log", NULL, "film.jsonl", FALSE },
  { "weights", "<>", "<<1,2.5>,<-3,4>>", FALSE },
  { "mask-location", NULL, "missing.txt", FALSE },
  { "mask-x", NULL, "1 2", FALSE },
  { "mask-y", NULL, "1 2", FALSE },
  { "anchor-x", "-1", "1", TRUE },
  { "anchor-y", "-1", "1", TRUE },
  { "flip", "false", "true", FALSE },
  { "mix", "1", "0.5", TRUE },
  { "absolute", "false", "true", FALSE },
  { "boundary-color", "0xff000000", "1", TRUE },
  { "components", "y+u+v+r+g+b", "y+a", FALSE },
  { "field-mode", "auto", "disabled", FALSE },
  { "light", "coded", "linear", FALSE },
  { "alpha", "weigh", "copy", FALSE },
  { "iterations", "1", "2", TRUE },
};

static const Expected layer_rows[] = {
  { "location", NULL, "missing.npz", FALSE },
  { "groups", "1", "3", FALSE },
  { "stride", "1", "2,1", FALSE },
  { "padding", "same", "1,2,3,4", FALSE },
  { "dilation", "1", "2,3", FALSE },
  { "activation", "none", "relu", FALSE },
  { "pool-size", "1", "3,2", FALSE },
  { "pool-stride", NULL, "2", FALSE },
  { "pool-padding", "0", "1,0", FALSE },
  { "pool-ceil", "false", "true", FALSE },
  { "channels", NULL, "0,5,8-11", FALSE },
  { "mosaic", "false", "true", FALSE },
  { "divisor", "1", "-4", TRUE },
  { "bias", "0", "0.5", TRUE },
  { "boundary", "replicate", "zero", FALSE },
  { "kernel-variant", "auto", "gemm", FALSE },
  { "cuda-device-id", "-1", "1", FALSE },
  { "frames-in-flight", "1", "2", FALSE },
  { "n-threads", "0", "1", FALSE },
};

/* A spec of arrays compares no elements where it says nothing about the elements. */
static gboolean
is_equal (GParamSpec *spec, const GValue *a, const GValue *b)
{
  return GST_VALUE_HOLDS_ARRAY (a) ? gst_value_compare (a, b) == GST_VALUE_EQUAL : g_param_values_cmp (spec, a, b) == 0;
}

/* Whether the properties have the value that the text stands for; a text that is NULL is that of a string. */
static gboolean
has_value (const ConvolveProperties *properties, GParamSpec *spec, const gchar *text)
{
  GValue wanted = G_VALUE_INIT, got = G_VALUE_INIT;
  gboolean same;

  g_value_init (&wanted, G_PARAM_SPEC_VALUE_TYPE (spec));
  g_value_init (&got, G_PARAM_SPEC_VALUE_TYPE (spec));
  if (text)
    fail_unless (gst_value_deserialize (&wanted, text), "%s: %s", spec->name, text);
  fail_unless (convolve_properties_get (properties, spec->param_id - FIRST_ID, &got));
  same = is_equal (spec, &wanted, &got);
  g_value_unset (&wanted);
  g_value_unset (&got);
  return same;
}

static void
check_spec (GParamSpec *spec, guint number, const Expected *row)
{
  const GParamFlags mutable = GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED | GST_PARAM_MUTABLE_PLAYING;
  gboolean ready = g_str_equal (row->name, "cuda-device-id") || g_str_equal (row->name, "region-log");

  fail_unless (spec != NULL && spec->param_id == FIRST_ID + number,
      "%s is not row %u of the element's table; is a row before it missing here?", row->name, number);
  fail_unless_equals_string (spec->name, row->name);
  fail_unless ((spec->flags & mutable) == (ready ? GST_PARAM_MUTABLE_READY : GST_PARAM_MUTABLE_PLAYING), "%s",
      row->name);
  fail_unless_equals_int (!!(spec->flags & GST_PARAM_CONTROLLABLE), row->controllable);
  fail_unless ((spec->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE, "%s", row->name);
  fail_unless (g_param_spec_get_nick (spec)[0] != '\0' && g_param_spec_get_blurb (spec)[0] != '\0', "%s", row->name);
}

/* A value there and back, which copies keep apart. */
static void
check_value (Holder *holder, GParamSpec *spec, const Expected *row)
{
  g_autoptr (ConvolveProperties) copy = NULL;
  gboolean of_regions = (g_str_has_prefix (row->name, "region") && !g_str_equal (row->name, "region-log"))
      || g_str_equal (row->name, "apply-to");
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
  g_object_get_property (G_OBJECT (holder), row->name, &value);
  fail_unless (g_param_value_defaults (spec, &value), "%s does not begin with its default", row->name);
  fail_unless (has_value (holder->properties, spec, row->standard), "%s has another default than %s", row->name,
      row->standard);
  fail_if (has_value (holder->properties, spec, row->other), "%s: the default is %s", row->name, row->other);

  gst_util_set_object_arg (G_OBJECT (holder), row->name, row->other);
  fail_unless (has_value (holder->properties, spec, row->other), "%s is not %s", row->name, row->other);
  copy = convolve_properties_copy (holder->properties);
  fail_unless (copy->table == holder->properties->table);
  fail_unless (convolve_properties_are_equal_but_for_regions (copy, holder->properties), "%s", row->name);
  g_param_value_set_default (spec, &value);
  g_object_set_property (G_OBJECT (holder), row->name, &value);
  fail_unless (has_value (holder->properties, spec, row->standard), "%s", row->name);
  fail_unless (has_value (copy, spec, row->other), "%s of a copy changed", row->name);
  fail_unless (convolve_properties_are_equal_but_for_regions (copy, holder->properties) == of_regions, "%s", row->name);
  g_value_unset (&value);
}

static void
check_rows (const ConvolvePropertyTable *table, const Expected *rows, guint n)
{
  Holder *holder = holder_new (table);
  GValue value = G_VALUE_INIT;

  for (guint i = 0; i < n; i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (holder), rows[i].name);

    check_spec (spec, i, &rows[i]);
    check_value (holder, spec, &rows[i]);
  }
  g_value_init (&value, G_TYPE_INT);
  fail_if (convolve_properties_get (holder->properties, n, &value), "a property is not tested");
  fail_if (convolve_properties_set (holder->properties, n, &value, FALSE));
  fail_if (convolve_properties_get (holder->properties, G_MAXUINT, &value));
  gst_object_unref (holder);
}

GST_START_TEST (properties)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  Holder *holder = holder_new (&convolve_mask_properties);
  GParamSpec *mask = g_object_class_find_property (G_OBJECT_GET_CLASS (holder), "mask");

  check_rows (&convolve_mask_properties, mask_rows, G_N_ELEMENTS (mask_rows));
  check_rows (&convolve_layer_properties, layer_rows, G_N_ELEMENTS (layer_rows));
  for (guint i = 0; i < n_presets; i++)
    fail_unless (strstr (g_param_spec_get_blurb (mask), presets[i].name) != NULL, "%s", presets[i].name);
  gst_object_unref (holder);
}

GST_END_TEST;

/* What copies and owners have, and what goes from one value to another. */
GST_START_TEST (owners)
{
  Holder *holder = holder_new (&convolve_mask_properties);
  g_autoptr (ConvolveProperties) copy = NULL, taker = convolve_properties_new (&convolve_mask_properties);

  g_object_set (holder, "mask", "box", "mask-width", 7, "mask-height", 3, "sigma", 2.5, "divisor", -4.0, "bias", 0.5,
      "mask-location", "missing.txt", "mask-x", "1 2", "regions", "1,2,3,4", "region-types", "face", "region-blocks", 7,
      "iterations", 3, NULL);
  gst_util_set_object_arg (G_OBJECT (holder), "weights", "<<1,2>>");
  copy = convolve_properties_copy (holder->properties);
  g_object_set (holder, "mask", NULL, "mask-width", 0, NULL);
  fail_unless (holder->properties->mask.mask == NULL && holder->properties->mask.mask_width == 0);
  fail_unless_equals_string (copy->mask.mask, "box");
  fail_unless (copy->mask.mask_width == 7 && copy->mask.mask_height == 3 && copy->mask.sigma == 2.5
      && copy->mask.divisor == -4 && copy->mask.bias == 0.5);

  fail_unless (convolve_properties_ref (copy) == copy);
  convolve_properties_unref (copy);
  fail_unless_equals_string (copy->mask.mask, "box");

  convolve_properties_take_mask (taker, copy);
  fail_unless_equals_string (taker->mask.mask, "box");
  fail_unless_equals_string (taker->mask.mask_x, "1 2");
  fail_unless (taker->mask.mask != copy->mask.mask && taker->mask.mask_width == 7);
  fail_unless (taker->mask.weights == copy->mask.weights && taker->mask.file == copy->mask.file);
  fail_unless (taker->region.regions == NULL && taker->region.blocks == 3 && taker->iterations == 1);
  fail_if (convolve_properties_are_equal_but_for_regions (taker, copy));
  taker->iterations = 3;
  fail_unless (convolve_properties_are_equal_but_for_regions (taker, copy));
  convolve_properties_take_regions (taker, copy);
  fail_unless_equals_string (taker->region.regions, "1,2,3,4");
  fail_unless_equals_string (taker->region.types, "face");
  fail_unless (taker->region.regions != copy->region.regions && taker->region.blocks == 7);

  /* All of it outlives what it came from. */
  gst_object_unref (holder);
  g_clear_pointer (&copy, convolve_properties_unref);
  fail_unless_equals_string (taker->mask.mask, "box");
  fail_unless (gst_value_array_get_size (taker->mask.weights) == 1);
  fail_unless_equals_string (convolve_kept_file_location (taker->mask.file), "missing.txt");
}

GST_END_TEST;

/* --- names and numbers --- */

static void
check_boundaries (GType type, gint count)
{
  GEnumClass *values = g_type_class_ref (type);

  fail_unless_equals_int (values->n_values, count);
  for (gint i = 0; i < count; i++) {
    fail_unless_equals_string (g_enum_get_value (values, i)->value_nick, check_boundary_name (i));
    fail_unless_equals_string (convolve_enum_nick (type, i), check_boundary_name (i));
  }
  fail_unless (convolve_enum_nick (type, count) == NULL && convolve_enum_nick (type, -1) == NULL);
  g_type_class_unref (values);
}

GST_START_TEST (names_of_values)
{
  GEnumClass *values = g_type_class_ref (CONVOLVE_TYPE_ACTIVATION);

  check_boundaries (CONVOLVE_TYPE_BOUNDARY, CONVOLVE_N_BOUNDARIES);
  check_boundaries (convolve_layer_boundary_get_type (), CONVOLVE_LAYER_N_BOUNDARIES);
  fail_if (CONVOLVE_TYPE_BOUNDARY == convolve_layer_boundary_get_type ());

  fail_unless_equals_int (values->n_values, CONVOLVE_N_ACTIVATIONS);
  for (gint i = 0; i < CONVOLVE_N_ACTIVATIONS; i++)
    fail_unless_equals_string (g_enum_get_value (values, i)->value_nick, check_activation_name (i));
  g_type_class_unref (values);
}

GST_END_TEST;

/* auto and the variants of the kernel library, in its order. */
static void
check_variants (GType type, const gchar *of, gint count, const char *(*name) (int), int (*number) (int),
    const char *(*idea) (int), bool (*on_device) (int), gboolean (*is_on_device) (const gchar *))
{
  GEnumClass *values = g_type_class_ref (type);

  fail_unless_equals_int (values->n_values, count + 1);
  fail_unless_equals_int (values->values[0].value, CONVOLVE_VARIANT_AUTO);
  fail_unless_equals_string (values->values[0].value_nick, "auto");
  fail_unless (strstr (values->values[0].value_name, of) != NULL, "%s", values->values[0].value_name);
  for (gint i = 0; i < count; i++) {
    fail_unless_equals_int (values->values[i + 1].value, number (i));
    fail_unless_equals_string (values->values[i + 1].value_nick, name (i));
    fail_unless_equals_string (values->values[i + 1].value_name, idea (i));
    fail_unless_equals_string (convolve_enum_nick (type, number (i)), name (i));
    fail_unless_equals_int (is_on_device (name (i)), on_device (i));
  }
  fail_if (is_on_device ("auto") || is_on_device ("") || is_on_device ("nonsense"));
  g_type_class_unref (values);
}

GST_START_TEST (variants)
{
  check_variants (convolve_variant_get_type (), "mask", convolve_variant_count (), convolve_variant_name,
      convolve_variant_number, convolve_variant_idea, convolve_variant_on_device, convolve_variant_is_on_device);
  check_variants (convolve_layer_variant_get_type (), "layer", convolve_layer_variant_count (),
      convolve_layer_variant_name, convolve_layer_variant_number, convolve_layer_variant_idea,
      convolve_layer_variant_on_device, convolve_layer_variant_is_on_device);
  /* Each list knows its own names alone. */
  fail_unless (convolve_variant_is_on_device ("tensor") && convolve_layer_variant_is_on_device ("gemm"));
  fail_if (convolve_variant_is_on_device ("gemm") || convolve_layer_variant_is_on_device ("tensor"));
}

GST_END_TEST;

/* Whether a device is asked for, and what a user without a device is told. */
GST_START_TEST (without_device)
{
  static const struct
  {
    const gchar *mask, *layer; /* variants */
    gint device;
    gboolean wants, needs;
    const gchar *text;
  } rows[] = {
    { "auto", "auto", -1, TRUE, FALSE, "none" },
    { "cpu", "cpu", -1, FALSE, FALSE, "none" },
    { "cpu-reference", "cpu-reference", 2, FALSE, FALSE, "none" },
    { "auto", "auto", 0, TRUE, TRUE, "cuda-device-id: 0 cannot be used: none; -1 takes any device, or the CPU" },
    { "tensor", "gemm", 3, TRUE, TRUE,
        "cuda-device-id: 3 cannot be used: none; -1 takes any device, and with kernel-variant=auto the CPU" },
    { "tensor", "gemm", -1, TRUE, TRUE,
        "kernel-variant: %s cannot run: none; auto, cpu and cpu-reference need no device" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows) * 2; i++) {
    const gchar *variant = i % 2 ? rows[i / 2].layer : rows[i / 2].mask;
    Holder *holder = holder_new (i % 2 ? &convolve_layer_properties : &convolve_mask_properties);
    g_autofree gchar *text = NULL, *expected = NULL;

    gst_util_set_object_arg (G_OBJECT (holder), "kernel-variant", variant);
    g_object_set (holder, "cuda-device-id", rows[i / 2].device, NULL);
    fail_unless_equals_string (convolve_properties_variant_name (holder->properties), variant);
    fail_unless_equals_int (convolve_properties_want_device (holder->properties), rows[i / 2].wants);
    fail_unless_equals_int (convolve_properties_need_device (holder->properties), rows[i / 2].needs);
    text = convolve_properties_explain_no_device (holder->properties, "none");
    expected = strstr (rows[i / 2].text, "%s")
        ? g_strdup_printf ("kernel-variant: %s%s", variant, strstr (rows[i / 2].text, "%s") + 2)
        : g_strdup (rows[i / 2].text);
    fail_unless_equals_string (text, expected);
    gst_object_unref (holder);
  }
}

GST_END_TEST;

/* What a property becomes for a number that a GstController passes, and for one that a user writes. */
GST_START_TEST (numbers_of_controllers)
{
  static const struct
  {
    const gchar *name;
    gdouble number, driven;
    gboolean of_layer;
  } rows[] = { { "mask-width", 14, 15, FALSE }, { "mask-width", 0, 1, FALSE }, { "mask-width", 15, 15, FALSE },
    { "mask-height", 254, 255, FALSE }, { "mask-height", 0, 1, FALSE }, { "sigma", -1, 0, FALSE },
    { "sigma", -0.25, 0, FALSE }, { "sigma", 0, 0, FALSE }, { "sigma", 2.5, 2.5, FALSE },
    { "region-strength", -1, 0, FALSE }, { "region-strength", -0.5, 0, FALSE }, { "region-strength", 0.3, 0.3, FALSE },
    { "mix", 0, 0, FALSE }, { "divisor", -2, -2, FALSE }, { "bias", -0.5, -0.5, FALSE }, { "anchor-x", -1, -1, FALSE },
    { "region-feather", 2, 2, FALSE }, { "iterations", 2, 2, FALSE }, { "divisor", -2, -2, TRUE },
    { "divisor", 0, 0, TRUE }, { "bias", -0.5, -0.5, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows) * 2; i++) {
    const gchar *name = rows[i / 2].name;
    Holder *holder = holder_new (rows[i / 2].of_layer ? &convolve_layer_properties : &convolve_mask_properties);
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (holder), name);
    gboolean driven = i % 2;
    GValue number = G_VALUE_INIT, value = G_VALUE_INIT;

    g_value_init (&number, G_TYPE_DOUBLE);
    g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
    g_value_set_double (&number, rows[i / 2].number);
    fail_unless (g_value_transform (&number, &value));
    fail_unless (convolve_properties_set (holder->properties, spec->param_id - FIRST_ID, &value, driven));
    fail_unless (convolve_properties_get (holder->properties, spec->param_id - FIRST_ID, &value));
    fail_unless (g_value_transform (&value, &number));
    fail_unless (g_value_get_double (&number) == (driven ? rows[i / 2].driven : rows[i / 2].number), "%s %g: %g", name,
        rows[i / 2].number, g_value_get_double (&number));
    g_value_unset (&value);
    g_value_unset (&number);
    gst_object_unref (holder);
  }
}

GST_END_TEST;

typedef struct
{
  const gchar *name;
  gint number;
} Numbered;

static void
expect_numbers (GType type, const Numbered *released, guint n)
{
  GEnumClass *values = g_type_class_ref (type);

  for (guint i = 0; i < n; i++) {
    const GEnumValue *value = g_enum_get_value_by_nick (values, released[i].name);

    fail_unless (value != NULL, "%s is missing", released[i].name);
    fail_unless (value->value == released[i].number, "%s is %d, and was %d", released[i].name, value->value,
        released[i].number);
    fail_unless_equals_string (convolve_enum_nick (type, released[i].number), released[i].name);
  }
  for (guint i = 0; i < values->n_values; i++)
    for (guint k = 0; k < i; k++)
      fail_if (values->values[i].value == values->values[k].value
              || g_str_equal (values->values[i].value_nick, values->values[k].value_nick),
          "%s and %s are both %d", values->values[i].value_nick, values->values[k].value_nick, values->values[i].value);
  g_type_class_unref (values);
}

/* Programs and saved settings hold the numbers of variants, so a released number never changes. */
GST_START_TEST (numbers_of_variants)
{
  static const Numbered masks[] = { { "auto", 0 }, { "box", 1 }, { "tensor-fused", 2 }, { "tensor-separable", 3 },
    { "packed-separable", 4 }, { "fused", 5 }, { "fused-tiled", 6 }, { "packed", 7 }, { "direct", 8 }, { "tensor", 9 },
    { "fft", 10 }, { "separable", 11 }, { "tiled", 12 }, { "constant", 13 }, { "tiled-cached", 14 },
    { "tiled-input", 15 }, { "global", 16 }, { "cpu", 17 }, { "cpu-reference", 18 }, { "shrink", 24 } };
  static const Numbered layers[] = { { "auto", 0 }, { "direct", 8 }, { "fft", 10 }, { "cpu", 17 },
    { "cpu-reference", 18 }, { "blocked", 19 }, { "gemm", 20 }, { "winograd", 21 }, { "shared", 22 }, { "wgmma", 23 } };

  expect_numbers (convolve_variant_get_type (), masks, G_N_ELEMENTS (masks));
  expect_numbers (convolve_layer_variant_get_type (), layers, G_N_ELEMENTS (layers));
  /* A name has one number in both lists, so a number that cudaconvolve had for a layer comes to no mask. */
  for (gint i = 0; i < convolve_variant_count (); i++) {
    fail_unless (convolve_variant_number (i) > 0);
    for (gint k = 0; k < convolve_layer_variant_count (); k++)
      fail_unless ((convolve_variant_number (i) == convolve_layer_variant_number (k))
              == g_str_equal (convolve_variant_name (i), convolve_layer_variant_name (k)),
          "variants with one name, and no others, have one number: %s of masks has %d, %s of layers %d",
          convolve_variant_name (i), convolve_variant_number (i), convolve_layer_variant_name (k),
          convolve_layer_variant_number (k));
  }
}

GST_END_TEST;

/* --- texts of layers --- */

/* The layer that the settings give, where all bytes were others before. A divisor of 0 stands for 1. */
static ConvolveLayer
fill (const ConvolveLayerSettings *settings, gboolean *same)
{
  ConvolveLayerSettings scaled = *settings;
  g_autoptr (GError) error = NULL;
  ConvolveLayer layer, before;

  memset (&layer, 0x5a, sizeof layer);
  before = layer;
  *same = 2;
  if (scaled.divisor == 0)
    scaled.divisor = 1;
  fail_unless (convolve_layer_settings_fill (&scaled, &layer, same, &error), "%s", error ? error->message : "");
  fail_unless (error == NULL);
  /* The rest of the layer is for others to fill in. */
  fail_unless (layer.filters == before.filters && layer.channels == before.channels
      && layer.kernel_height == before.kernel_height && layer.kernel_width == before.kernel_width
      && layer.weights == before.weights && layer.bias == before.bias && layer.first_filter == before.first_filter
      && layer.shown == before.shown && layer.boundary == before.boundary && layer.type == before.type);
  return layer;
}

/* The settings must be refused with exactly this message. Where message ends in "...", only the beginning counts. */
static void
refuse_layer (const ConvolveLayerSettings *settings, const gchar *message)
{
  ConvolveLayer layer = { 0 };
  GError *error = NULL;
  gboolean same;

  fail_if (convolve_layer_settings_fill (settings, &layer, &same, &error), "taken; expected: %s", message);
  fail_unless (g_error_matches (error, CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER));
  if (g_str_has_suffix (message, "..."))
    fail_unless (strncmp (error->message, message, strlen (message) - 3) == 0, "'%s' does not begin as '%s'",
        error->message, message);
  else
    fail_unless_equals_string (error->message, message);
  g_error_free (error);
}

/* Sets one of the texts that are a number or two. */
static ConvolveLayerSettings
with_pair (const gchar *property, const gchar *text)
{
  ConvolveLayerSettings settings = { .divisor = 1 };

  if (g_str_equal (property, "stride"))
    settings.stride = (gchar *) text;
  else if (g_str_equal (property, "pool-size"))
    settings.pool_size = (gchar *) text;
  else
    settings.pool_stride = (gchar *) text;
  return settings;
}

GST_START_TEST (pairs_of_layers)
{
  static const gchar *const properties[] = { "stride", "pool-size", "pool-stride" };
  static const struct
  {
    const gchar *text;
    gint down, across;
  } good[] = { { NULL, 1, 1 }, { "1", 1, 1 }, { "2", 2, 2 }, { "255", 255, 255 }, { "2,1", 2, 1 }, { "1,255", 1, 255 },
    { " 3 ", 3, 3 }, { "\t4 , 5\n", 4, 5 }, { "007", 7, 7 } };
  static const gchar *const bad[] = { " ", "0", "0,1", "1,0", "256", "1,256", "256,1", "-1", "1,-1", "+1", "1.5", "1 2",
    "1;2", "1x2", "1,", ",1", ",", "1,,2", "1,2,", "1,2,3", "1,2,3,4", "1,2,3,4,5", "1,2 3", "same", "x", "1,x", "0x10",
    "4294967297", "99999999999999999999", "1,99999999999999999999", "1e1", "\xff", "1\xff" };

  for (guint p = 0; p < G_N_ELEMENTS (properties); p++) {
    for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
      ConvolveLayerSettings settings = with_pair (properties[p], good[i].text);
      gboolean same;
      ConvolveLayer layer = fill (&settings, &same);
      const gint down[] = { layer.stride_y, layer.pool_height, layer.pool_stride_y };
      const gint across[] = { layer.stride_x, layer.pool_width, layer.pool_stride_x };

      for (guint k = 0; k < G_N_ELEMENTS (properties); k++) {
        /* Without pool-stride the windows stand side by side. */
        gboolean mine = k == p || (k == 2 && p == 1);

        fail_unless (down[k] == (mine ? good[i].down : 1) && across[k] == (mine ? good[i].across : 1),
            "%s=%s: %s is %d,%d", properties[p], good[i].text, properties[k], down[k], across[k]);
      }
    }
    for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
      ConvolveLayerSettings settings = with_pair (properties[p], bad[i]);
      g_autofree gchar *quoted = convolve_token_quote (bad[i], strlen (bad[i]));
      g_autofree gchar *message =
          g_strdup_printf ("%s: %s is neither a number of 1 to 255 nor two of them, down,across", properties[p],
              quoted);

      refuse_layer (&settings, message);
    }
  }
  {
    ConvolveLayerSettings settings = { .pool_size = (gchar *) "3,2", .pool_stride = (gchar *) "" };
    gboolean same;
    ConvolveLayer layer = fill (&settings, &same);

    fail_unless (layer.pool_stride_y == 3 && layer.pool_stride_x == 2);
    settings.pool_stride = (gchar *) "1,4";
    layer = fill (&settings, &same);
    fail_unless (
        layer.pool_height == 3 && layer.pool_width == 2 && layer.pool_stride_y == 1 && layer.pool_stride_x == 4);
    settings = (ConvolveLayerSettings){ .dilation = (gchar *) "4096, 2", .pool_ceil = TRUE };
    layer = fill (&settings, &same);
    fail_unless (layer.dilation_y == 4096 && layer.dilation_x == 2 && layer.pool_ceil);
    settings = (ConvolveLayerSettings){ .dilation = (gchar *) "0", .divisor = 1 };
    refuse_layer (&settings, "dilation: \"0\" is neither a number of 1 to 4096 nor two of them, down,across");
    settings = with_pair ("stride", "");
    refuse_layer (&settings, "stride: \"\" is neither a number of 1 to 255 nor two of them, down,across");
    settings = with_pair ("pool-size", "");
    refuse_layer (&settings, "pool-size: \"\" is neither a number of 1 to 255 nor two of them, down,across");
  }
}

GST_END_TEST;

GST_START_TEST (paddings_of_pools)
{
  static const struct
  {
    const gchar *text;
    gint sides[4]; /* top, left, bottom, right */
  } good[] = { { NULL, { 0, 0, 0, 0 } }, { "0", { 0, 0, 0, 0 } }, { " 2 ", { 2, 2, 2, 2 } }, { "1,2", { 1, 2, 1, 2 } },
    { "1,2,3,4", { 1, 2, 3, 4 } }, { "254", { 254, 254, 254, 254 } } };
  static const gchar *const bad[] = { "", "same", "valid", "-1", "256", "1,2,3", "1,2,3,4,5", "1 2", "1.5" };
  static const gchar *const wide[] = { "2", "0,3", "2,0,0,0", "0,3,0,0", "0,0,2,0", "0,0,0,3" };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    ConvolveLayerSettings settings = { .pool_padding = (gchar *) good[i].text, .pool_size = (gchar *) "255" };
    gboolean same;
    ConvolveLayer layer = fill (&settings, &same);

    fail_unless (layer.pool_pad_top == good[i].sides[0] && layer.pool_pad_left == good[i].sides[1]
            && layer.pool_pad_bottom == good[i].sides[2] && layer.pool_pad_right == good[i].sides[3],
        "%s", good[i].text);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    ConvolveLayerSettings settings = { .pool_padding = (gchar *) bad[i], .divisor = 1 };
    g_autofree gchar *message =
        g_strdup_printf ("pool-padding: \"%s\" is not a number up to 255, two of them...", bad[i]);

    refuse_layer (&settings, message);
  }
  for (guint i = 0; i < G_N_ELEMENTS (wide); i++) {
    ConvolveLayerSettings settings = { .pool_padding = (gchar *) wide[i], .pool_size = (gchar *) "2,3", .divisor = 1 };
    g_autofree gchar *message =
        g_strdup_printf ("pool-padding: \"%s\" is not less than pool-size, which is 2,3", wide[i]);

    refuse_layer (&settings, message);
  }
}

GST_END_TEST;

GST_START_TEST (paddings_of_layers)
{
  static const struct
  {
    const gchar *text;
    gboolean same;
    gint top, left, bottom, right;
  } good[] = { { NULL, TRUE, 0, 0, 0, 0 }, { "same", TRUE, 0, 0, 0, 0 }, { " same ", TRUE, 0, 0, 0, 0 },
    { "valid", FALSE, 0, 0, 0, 0 }, { "\tvalid\n", FALSE, 0, 0, 0, 0 }, { "0", FALSE, 0, 0, 0, 0 },
    { "3", FALSE, 3, 3, 3, 3 }, { "65536", FALSE, 65536, 65536, 65536, 65536 }, { "1,2", FALSE, 1, 2, 1, 2 },
    { " 0 , 65536 ", FALSE, 0, 65536, 0, 65536 }, { "1,2,3,4", FALSE, 1, 2, 3, 4 }, { "0,0,1,1", FALSE, 0, 0, 1, 1 },
    { "65536, 0,\t0,\n1", FALSE, 65536, 0, 0, 1 } };
  static const gchar *const bad[] = { "", " ", "Same", "valid.", "same,1", "1,valid", "same valid", "-1", "1,-1", "1.5",
    "3 3", "1;2", "65537", "1,65537", "1,2,3,65537", "99999999999999999999", "4294967296", "0x10", "1,2,3", "1,2,3,4,5",
    "1,2,3,4,", "1,", ",1", ",", "1,,2", "1,2,,4", "\xff", "1,2,3,x" };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++) {
    ConvolveLayerSettings settings = { .padding = (gchar *) good[i].text };
    gboolean same;
    ConvolveLayer layer = fill (&settings, &same);

    fail_unless_equals_int (same, good[i].same);
    fail_unless (layer.pad_top == good[i].top && layer.pad_left == good[i].left && layer.pad_bottom == good[i].bottom
            && layer.pad_right == good[i].right,
        "'%s' is %d,%d,%d,%d", good[i].text, layer.pad_top, layer.pad_left, layer.pad_bottom, layer.pad_right);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    ConvolveLayerSettings settings = { .padding = (gchar *) bad[i], .divisor = 1 };
    g_autofree gchar *word = g_strstrip (g_strdup (bad[i]));
    g_autofree gchar *quoted = convolve_token_quote (word, strlen (word));
    g_autofree gchar *message =
        g_strdup_printf ("padding: %s is not same, valid, a number of pixels up to 65536, two of them, down,across, "
                         "or four, top,left,bottom,right",
            quoted);

    refuse_layer (&settings, message);
  }
}

GST_END_TEST;

/* A value is shown as 255 * (value / divisor + bias). */
GST_START_TEST (scales_of_layers)
{
  static const struct
  {
    gdouble divisor, bias;
    gfloat scale, offset;
  } good[] = { { 1, 0, 255, 0 }, { -2, 0.5, -127.5f, 127.5f }, { 255, -1, 1, -255 }, { 0.5, 1, 510, 255 },
    { 1e30, 0, 255e-30f, 0 }, { 1e-30, 0, 255e30f, 0 } };
  static const struct
  {
    gdouble divisor, bias;
    const gchar *message;
  } bad[] = { { 0, 0, "divisor: 0 is not a number to divide a layer's values by" },
    { -0.0, 0, "divisor: -0 is not a number to divide a layer's values by" },
    { 1e-40, 0, "divisor: 1e-40 is not a number to divide a layer's values by" },
    { 1e300, 0, "divisor: 1e+300 is not a number to divide a layer's values by" },
    { -1e42, 0, "divisor: -1e+42 is not a number to divide a layer's values by" }, /* a subnormal scale */
    { INFINITY, 0, "divisor: inf is not a number to divide a layer's values by" }, { NAN, 0, "divisor: ..." },
    { 1, 1.5, "bias: 1.5 is not between -1 and 1" }, { 1, -2, "bias: -2 is not between -1 and 1" },
    { 1, INFINITY, "bias: inf is not between -1 and 1" }, { 1, NAN, "bias: ..." } };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    for (gint activation = 0; activation < CONVOLVE_N_ACTIVATIONS; activation++) {
      ConvolveLayerSettings settings = { .divisor = good[i].divisor, .bias = good[i].bias, .activation = activation };
      gboolean same;
      ConvolveLayer layer = fill (&settings, &same);

      fail_unless (layer.out_scale == good[i].scale && layer.out_offset == good[i].offset, "%g and %g: %g and %g",
          good[i].divisor, good[i].bias, layer.out_scale, layer.out_offset);
      fail_unless_equals_int (layer.activation, activation);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    ConvolveLayerSettings settings = { .divisor = bad[i].divisor, .bias = bad[i].bias };

    refuse_layer (&settings, bad[i].message);
  }
}

GST_END_TEST;

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

GST_START_TEST (channels_of_layers)
{
  expect_channels (NULL, "0 1 2 3 4 5 6 7 ");
  expect_channels (" ", "0 1 2 3 4 5 6 7 ");
  expect_channels ("0,5,7", "0 5 7 ");
  expect_channels (" 7 , 5\t0 ", "7 5 0 ");
  expect_channels ("2-4,0-0 3", "2 3 4 0 3 ");
  expect_channels ("8", "channels: \"8\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("0,x", "channels: \"x\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("-1", "channels: \"-1\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("3-2", "channels: \"3-2\" is not a range of 0 to 7, the layer's feature maps");
  expect_channels ("3-", "channels: \"3-\" is not a range of 0 to 7, the layer's feature maps");
  expect_channels ("1;2", "channels: \"1;2\" is not a number or a range");
  expect_channels ("1,", "channels: \",\" has no number behind the comma");
  expect_channels ("1,,2", "channels: \"\" is not one of 0 to 7, the layer's feature maps");
  expect_channels ("99999999999999999999",
      "channels: \"99999999999999999999\" is not one of 0 to 7, the layer's "
      "feature maps");
}

GST_END_TEST;

/* --- settings without effect --- */

/* The sentences on settings without effect, one to a line. */
static gchar *
idle_sentences (const ConvolveProperties *properties)
{
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);

  convolve_properties_add_idle (properties, sentences);
  g_ptr_array_add (sentences, NULL);
  return g_strjoinv ("\n", (gchar **) sentences->pdata);
}

static void
expect_idle (const ConvolveProperties *properties, const gchar *expected)
{
  g_autofree gchar *text = idle_sentences (properties);

  fail_unless_equals_string (text, expected);
}

static GValue *
make_array (const gchar *text)
{
  GValue value = G_VALUE_INIT, *array;

  g_value_init (&value, GST_TYPE_ARRAY);
  fail_unless (gst_value_deserialize (&value, text));
  array = convolve_array_new (&value);
  g_value_unset (&value);
  return array;
}

GST_START_TEST (settings_without_effect)
{
  guint n_presets;
  const ConvolvePreset *presets = convolve_presets (&n_presets);
  g_autoptr (ConvolveProperties) standard = convolve_properties_new (&convolve_mask_properties);
  ConvolveProperties p = *standard; /* owns nothing */
  g_autofree gchar *array = NULL;

  expect_idle (standard, "");

  /* Sigma, with every preset and with weights. */
  for (guint i = 0; i < n_presets; i++) {
    const gchar *name = presets[i].name;
    gboolean taken = g_str_equal (name, "gaussian") || g_str_equal (name, "log") || g_str_equal (name, "unsharp");
    g_autofree gchar *text = NULL;

    p.mask = settings_of (name, 0, 0);
    p.mask.sigma = 2.5;
    text = idle_sentences (&p);
    fail_unless (taken ? text[0] == '\0'
                       : g_str_has_prefix (text, "sigma: 2.5 has no effect: the preset ") && strstr (text, name),
        "%s", text);
  }
  p.mask = settings_of ("1 2 1", 0, 0);
  p.mask.sigma = 2.5;
  expect_idle (&p, "sigma: 2.5 has no effect: mask has weights, which are not made from sigma");
  p.mask.mask = NULL;
  p.mask.mask_x = (gchar *) "1 2 1";
  expect_idle (&p, "sigma: 2.5 has no effect: mask-x has weights, which are not made from sigma");
  p.mask.mask = (gchar *) "box"; /* an error tells of this */
  expect_idle (&p, "");

  /* Anchors, with presets and with weights. */
  p.mask = settings_of ("motion:30", 0, 0);
  p.mask.anchor_x = 0;
  p.mask.anchor_y = 3;
#define MIDDLE " has no effect: the preset motion in mask has its middle on the pixel; weights have anchors"
  expect_idle (&p, "anchor-x: 0" MIDDLE "\nanchor-y: 3" MIDDLE);
  p.mask.mask = (gchar *) "1 2 1";
  expect_idle (&p, "");

  p.mask = settings_of ("nonsense", 0, 0); /* an error tells of this */
  p.mask.sigma = 2.5;
  expect_idle (&p, "");

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
    expect_idle (&p, combined ? expected : "");
  }
  p.mask = settings_of ("-1 0 1", 0, 0);
  p.mask.absolute = TRUE;
  expect_idle (&p, "");

  /* The mask, where regions get another effect; every kind of value is shown. */
  p.region.apply_to = CONVOLVE_APPLY_TO_REGIONS;
  p.region.effect = CONVOLVE_REGION_EFFECT_FILL;
  p.mask = settings_of ("box", 7, 3);
  p.mask.bias = -0.5;
  p.mask.absolute = TRUE;
#define BESIDE " has no effect: region-effect is not mask"
  expect_idle (&p,
      "mask: \"box\"" BESIDE "\nmask-width: 7" BESIDE "\nmask-height: 3" BESIDE "\nbias: -0.5" BESIDE
      "\nabsolute: true" BESIDE);
  p.mask = settings_of (NULL, 0, 0);
  p.mask.file = convolve_kept_file_new (&convolve_mask_file, "missing.txt");
  p.mask.divisor = 9;
  p.mask.anchor_x = p.mask.anchor_y = 0;
  p.mask.flip = TRUE;
  p.mask.mix = 0.25;
  expect_idle (&p,
      "mask-location: \"missing.txt\"" BESIDE "\ndivisor: 9" BESIDE "\nanchor-x: 0" BESIDE "\nanchor-y: 0" BESIDE
      "\nflip: true" BESIDE "\nmix: 0.25" BESIDE);
  convolve_kept_file_unref (p.mask.file);
  p.mask = settings_of (NULL, 0, 0);
  p.mask.mask_x = p.mask.mask_y = (gchar *) "1 2 1";
  expect_idle (&p, "mask-x: \"1 2 1\"" BESIDE "\nmask-y: \"1 2 1\"" BESIDE);
  p.mask = settings_of (NULL, 0, 0);
  p.mask.weights = make_array ("<<1,2>>");
  array = idle_sentences (&p);
  fail_unless (g_str_has_prefix (array, "weights: \"<") && g_str_has_suffix (array, ">\"" BESIDE), "%s", array);
  convolve_array_unref (p.mask.weights);

  /* What chooses a part of the mask's work has an effect beside every mask. */
  p = *standard;
  p.components = CONVOLVE_COMPONENT_A | CONVOLVE_COMPONENT_Y;
  p.iterations = 3;
  p.field_mode = CONVOLVE_FIELD_MODE_DISABLED;
  p.frames_in_flight = 2;
  expect_idle (&p, "");

  p = *standard;
  p.boundary_color = 1;
  expect_idle (&p, "boundary-color: 1 has no effect: boundary is not constant");
  p.boundary = CONVOLVE_BOUNDARY_CONSTANT;
  expect_idle (&p, "");
}

GST_END_TEST;

static Suite *
props_suite (void)
{
  Suite *suite = suite_create ("props");
  TCase *tcase = tcase_create ("props");

  /* A plugin that GStreamer loads can let the process flush subnormal numbers to 0, which are then no errors. */
  fesetenv (FE_DFL_ENV);
  suite_add_tcase (suite, tcase);
  tcase_set_timeout (tcase, 300);
  tcase_add_test (tcase, properties);
  tcase_add_test (tcase, owners);
  tcase_add_test (tcase, names_of_values);
  tcase_add_test (tcase, variants);
  tcase_add_test (tcase, without_device);
  tcase_add_test (tcase, numbers_of_controllers);
  tcase_add_test (tcase, numbers_of_variants);
  tcase_add_test (tcase, pairs_of_layers);
  tcase_add_test (tcase, paddings_of_layers);
  tcase_add_test (tcase, paddings_of_pools);
  tcase_add_test (tcase, scales_of_layers);
  tcase_add_test (tcase, channels_of_layers);
  tcase_add_test (tcase, settings_without_effect);
  suite_add_tcase (suite, mask_texts ());
  suite_add_tcase (suite, region_texts ());
  return suite;
}

GST_CHECK_MAIN (props);
