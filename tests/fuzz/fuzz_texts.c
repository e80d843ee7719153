/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzzes the readers of the texts of properties. The first byte of an input chooses the reader. What a reader
 * accepts is held against what its header promises; what a reader refuses must have an error that can be shown to a
 * user.
 */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gst/gst.h>

#include "text/array.h"
#include "convolve_layer.h"
#include "properties/enums.h"
#include "fuzz.h"
#include "text/grid.h"
#include "presets/presets.h"
#include "text/table.h"
#include "text/token.h"
#include "properties/properties.h"
#include "properties/property_rows.h"
#include "masks/mask_text.h"

#define MOST_TAPS 400   /* of a mask that is printed and read again, and of which a plan is made */
#define MOST_ERROR 4000 /* characters of an error; the list of presets is the longest part */

/* --- objects with the properties of the elements --- */

static const ConvolvePropertyTable *const tables[] = { &convolve_mask_properties, &convolve_layer_properties };
static GObjectClass *object_classes[G_N_ELEMENTS (tables)];

static void
fuzz_object_set (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
}

static void
fuzz_object_get (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
}

static void
fuzz_object_class_init (gpointer klass, gpointer table)
{
  GObjectClass *object = G_OBJECT_CLASS (klass);

  object->set_property = fuzz_object_set;
  object->get_property = fuzz_object_get;
  convolve_properties_install (object, table, 1);
}

static GObjectClass *
make_object_class (const gchar *name, const ConvolvePropertyTable *table)
{
  const GTypeInfo info = { .class_size = sizeof (GObjectClass),
    .class_init = fuzz_object_class_init,
    .class_data = table,
    .instance_size = sizeof (GObject) };

  return g_type_class_ref (g_type_register_static (G_TYPE_OBJECT, name, &info, 0));
}

static void
be_silent (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
}

/* Without a registry of plugins: no plugin is needed, and looking for plugins takes time. */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  g_log_set_handler ("GStreamer", G_LOG_LEVEL_CRITICAL, be_silent, NULL);
  object_classes[0] = make_object_class ("FuzzMask", tables[0]);
  object_classes[1] = make_object_class ("FuzzLayer", tables[1]);
  /* A decimal comma, where fuzz.sh has made such a locale. */
  setlocale (LC_ALL, "");
  return 0;
}

/* --- what every reader promises --- */

static void
check_error (gboolean ok, GError *error)
{
  if (ok) {
    if (error)
      fuzz_fail ("an error for what was accepted: %s", error->message);
    return;
  }
  if (!g_error_matches (error, CONVOLVE_PROPS_ERROR, error ? error->code : 0))
    fuzz_fail ("refused without an error of the properties");
  if (error->code < 0 || error->code > CONVOLVE_PROPS_ERROR_NO_MEMORY)
    fuzz_fail ("error of another domain: %s", error->message);
  if (error->code == CONVOLVE_PROPS_ERROR_NO_MEMORY)
    fuzz_fail ("no memory: %s", error->message);
  if (!g_utf8_validate (error->message, -1, NULL) || error->message[0] == '\0' || strlen (error->message) > MOST_ERROR)
    fuzz_fail ("an error that cannot be shown: %s", error->message);
  for (const gchar *c = error->message; *c; c++)
    if (g_ascii_iscntrl (*c))
      fuzz_fail ("a control character in the error: %s", error->message);
  g_error_free (error);
}

/* A plan may refuse a mask, with a reason. */
static void
check_plan (const ConvolveMask *mask)
{
  const ConvolvePixel pixel = { .type = CONVOLVE_SAMPLE_U8, .depth = 8, .samples = 1, .stride = 1, .select = 1 };
  ConvolveError error = { 0 };
  ConvolvePlan *plan = convolve_plan_new (&pixel, CONVOLVE_BOUNDARY_REPLICATE, mask, "auto", NULL, &error);

  if (!plan && ((error.status != CONVOLVE_INVALID && error.status != CONVOLVE_UNSUPPORTED) || error.text[0] == '\0'))
    fuzz_fail ("no plan, status %d: %s", error.status, error.text);
  convolve_plan_unref (plan);
}

/* Checks a mask and says of what kind it is, to be cleared. */
static void
check_mask (const ConvolveMask *mask)
{
  const gint count = mask->width * mask->height;

  if (mask->width < 1 || mask->height < 1 || mask->width > CONVOLVE_MAX_SIDE || mask->height > CONVOLVE_MAX_SIDE
      || mask->width % 2 == 0 || mask->height % 2 == 0)
    fuzz_fail ("a mask of %dx%d", mask->width, mask->height);
  if (!(fabs (mask->offset) <= 1))
    fuzz_fail ("an offset of %g", mask->offset);
  for (gint k = 0; k < convolve_mask_sets (mask); k++) {
    if (!isfinite (convolve_mask_divisor (mask, k)) || convolve_mask_divisor (mask, k) == 0)
      fuzz_fail ("a divisor of %g", convolve_mask_divisor (mask, k));
    for (gint i = 0; i < count; i++)
      if (!isfinite (convolve_mask_taps (mask, k)[i]))
        fuzz_fail ("tap %d is %g", i, convolve_mask_taps (mask, k)[i]);
  }
  if (count * convolve_mask_sets (mask) <= MOST_TAPS)
    check_plan (mask);
}

/* Weights that are printed and read again are the same weights. */
static void
check_again (const ConvolveMask *mask)
{
  g_autoptr (GString) text = g_string_new (NULL);
  ConvolveSettings settings;
  ConvolveMask again;
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_printf (text, "%dx%d:", mask->width, mask->height);
  for (gint i = 0; i < mask->width * mask->height; i++)
    g_string_append_printf (text, "%s%s", i && i % mask->width == 0 ? "; " : " ",
        g_ascii_dtostr (digits, sizeof digits, mask->taps[i]));
  convolve_settings_init (&settings);
  g_free (settings.mask);
  settings.mask = g_strdup (text->str);
  if (!convolve_settings_make_mask (&settings, 1, 1, &again, NULL))
    fuzz_fail ("refused when it was printed: %s", text->str);
  if (again.width != mask->width || again.height != mask->height || again.divisor != mask->divisor
      || memcmp (again.taps, mask->taps, sizeof (gdouble) * mask->width * mask->height) != 0)
    fuzz_fail ("another mask when it was printed: %s", text->str);
  convolve_mask_clear (&again);
  convolve_settings_clear (&settings);
}

/* --- the readers --- */

/* Makes the masks of luma and of a chroma plane, and the sentences about what has no effect. */
static void
make_masks (const ConvolveSettings *settings, gboolean plain)
{
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);

  for (guint step = 1; step <= 2; step++) {
    GError *error = NULL;
    ConvolveMask mask;
    gboolean ok = convolve_settings_make_mask (settings, step, 1, &mask, &error);

    check_error (ok, error);
    if (!ok)
      return;
    check_mask (&mask);
    if (plain && mask.combination == CONVOLVE_SUM && mask.width * mask.height <= MOST_TAPS)
      check_again (&mask);
    convolve_mask_clear (&mask);
  }
  convolve_settings_add_idle (settings, sentences);
}

static void
read_mask (FuzzBytes *bytes, const gchar *text)
{
  ConvolveSettings settings;

  convolve_settings_init (&settings);
  g_free (settings.mask);
  settings.mask = g_strdup (text);
  settings.mask_width = MIN (bytes->at[0], 254) / 8 * 2 + (bytes->at[0] >= 8 ? 1 : 0);
  settings.sigma = bytes->at[1] == 255 ? -1 : bytes->at[1] / 16.0;
  make_masks (&settings, !convolve_preset_is_named (text) && settings.mask_width == 0);
  convolve_settings_clear (&settings);
}

/* The text in front of the first '|' is mask-x, the rest mask-y. */
static void
read_vectors (FuzzBytes *bytes, const gchar *text)
{
  const gchar *bar = strchr (text, '|');
  ConvolveSettings settings;

  convolve_settings_init (&settings);
  settings.mask_x = g_strndup (text, bar ? (gsize) (bar - text) : strlen (text));
  settings.mask_y = g_strdup (bar ? bar + 1 : "");
  settings.anchor_x = (gint8) bytes->at[0];
  settings.flip = bytes->at[1] & 1;
  settings.mix = bytes->at[1] / 254.0;
  if (settings.mix <= 1)
    make_masks (&settings, FALSE);
  convolve_settings_clear (&settings);
}

static void
read_boxes (FuzzBytes *bytes, const gchar *text)
{
  ConvolveRegionSettings settings = { .regions = (gchar *) text };
  GError *error = NULL;
  GArray *boxes;

  if (!convolve_region_settings_boxes (&settings, &boxes, &error)) {
    check_error (FALSE, error);
    return;
  }
  check_error (TRUE, error);
  if (boxes->len > CONVOLVE_MAX_BOXES)
    fuzz_fail ("%u boxes", boxes->len);
  for (guint i = 0; i < boxes->len; i++) {
    const ConvolveTextBox *box = &g_array_index (boxes, ConvolveTextBox, i);

    for (guint k = 0; k < (box->n_corners > 0 ? 2 * box->n_corners : 4); k++) {
      const gdouble number = box->n_corners > 0 ? box->corners[k / 2].number[k % 2] : box->number[k];

      if (!(fabs (number) <= 1e6) || (box->n_corners == 0 && k >= 2 && number <= 0))
        fuzz_fail ("box %u has the number %g", i, number);
    }
    if (box->n_corners > CONVOLVE_MAX_CORNERS || box->n_corners == 1 || box->n_corners == 2)
      fuzz_fail ("polygon %u has %u corners", i, box->n_corners);
  }
  g_array_unref (boxes);
}

/* The first line is region-ids, the rest is the name of a region. */
static void
read_identities (const gchar *text)
{
  const gchar *line = strchr (text, '\n');
  g_autofree gchar *list = g_strndup (text, line ? (gsize) (line - text) : strlen (text));
  ConvolveRegionSettings settings = { .ids = list };
  const gchar *names[] = { line ? line + 1 : NULL, NULL };
  g_autoptr (GArray) identities = NULL;
  GError *error = NULL;

  if (!convolve_region_settings_identities (&settings, &identities, &error)) {
    check_error (FALSE, error);
    return;
  }
  check_error (TRUE, error);
  for (guint i = 0; i < identities->len; i++) {
    const ConvolveRegionIdentity *identity = &g_array_index (identities, ConvolveRegionIdentity, i);

    if (identity->name ? identity->name[0] == '\0' : identity->id == CONVOLVE_REGION_NO_ID)
      fuzz_fail ("identity %u says nothing", i);
    if (convolve_region_identity_match (identity, CONVOLVE_REGION_NO_ID, names + 1) != CONVOLVE_REGION_MATCH_UNKNOWN)
      fuzz_fail ("identity %u knows a region of which nothing is known", i);
  }
  convolve_region_identity_is_wanted (identities, 7, names, TRUE);
  convolve_region_identity_is_wanted (identities, 7, names, FALSE);
}

/* The first line is region-types, the rest is the type of a region. */
static void
read_types (FuzzBytes *bytes, const gchar *text)
{
  const gchar *line = strchr (text, '\n');
  g_autofree gchar *list = g_strndup (text, line ? (gsize) (line - text) : strlen (text));
  g_autofree gchar *type = line ? g_utf8_make_valid (line + 1, -1) : NULL;
  ConvolveRegionSettings settings = { .types = list };
  GError *error = NULL;
  gchar **types;

  read_identities (text);
  if (!convolve_region_settings_types (&settings, &types, &error)) {
    check_error (FALSE, error);
    return;
  }
  check_error (TRUE, error);
  for (guint i = 0; types[i]; i++) {
    const gchar *name = types[i] + (types[i][0] == '!' ? 1 : 0);
    g_auto (GStrv) except = g_new0 (gchar *, 2);

    if (name[0] == '\0')
      fuzz_fail ("a type without a name");
    except[0] = g_strconcat ("!", name, NULL);
    if (convolve_region_type_is_wanted (except, name, TRUE) || convolve_region_type_is_wanted (except, name, FALSE))
      fuzz_fail ("%s is wanted where it is left out", name);
  }
  convolve_region_type_is_wanted (types, type, TRUE);
  g_strfreev (types);
}

/* A layer whose settings were read is one that has an output, however its numbers are written. */
static void
check_layer (const ConvolveLayer *layer, gboolean same)
{
  const gint pads[] = { layer->pad_top, layer->pad_left, layer->pad_bottom, layer->pad_right };
  const gint steps[] = { layer->stride_y, layer->stride_x, layer->pool_height, layer->pool_width, layer->pool_stride_y,
    layer->pool_stride_x };
  gint height, width;
  ConvolveError error = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (pads); i++)
    if (pads[i] < 0 || pads[i] > (same ? 0 : CONVOLVE_LAYER_MAX_PADDING))
      fuzz_fail ("a padding of %d", pads[i]);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    if (steps[i] < 1 || steps[i] > CONVOLVE_LAYER_MAX_STEP)
      fuzz_fail ("a step of %d", steps[i]);
  if (!isnormal (layer->out_scale) || !(fabsf (layer->out_offset) <= 255))
    fuzz_fail ("a scale of %g, an offset of %g", layer->out_scale, layer->out_offset);
  if (convolve_layer_output_size (layer, 1 << 17, 1 << 17, &height, &width, &error) != CONVOLVE_OK)
    fuzz_fail ("no output: %s", error.text);
}

/* Numbers that are printed and read again are the same numbers. */
static void
check_layer_again (const ConvolveLayer *layer, gboolean same)
{
  g_autofree gchar *stride = g_strdup_printf ("%d,%d", layer->stride_y, layer->stride_x);
  g_autofree gchar *dilation = g_strdup_printf ("%d,%d", layer->dilation_y, layer->dilation_x);
  g_autofree gchar *padding =
      g_strdup_printf ("%d,%d,%d,%d", layer->pad_top, layer->pad_left, layer->pad_bottom, layer->pad_right);
  g_autofree gchar *pool_size = g_strdup_printf ("%d,%d", layer->pool_height, layer->pool_width);
  g_autofree gchar *pool_stride = g_strdup_printf ("%d,%d", layer->pool_stride_y, layer->pool_stride_x);
  g_autofree gchar *pool_padding = g_strdup_printf ("%d,%d,%d,%d", layer->pool_pad_top, layer->pool_pad_left,
      layer->pool_pad_bottom, layer->pool_pad_right);
  ConvolveLayerSettings settings = { .stride = stride,
    .dilation = dilation,
    .padding = same ? NULL : padding,
    .activation = layer->activation,
    .pool_size = pool_size,
    .pool_stride = pool_stride,
    .pool_padding = pool_padding,
    .pool_ceil = layer->pool_ceil,
    .divisor = 1 };
  ConvolveLayer again;
  GError *error = NULL;
  gboolean same_again, ok;

  memcpy (&again, layer, sizeof again);
  ok = convolve_layer_settings_fill (&settings, &again, &same_again, &error);
  check_error (ok, error);
  if (!ok)
    fuzz_fail ("refused when they were printed");
  again.out_scale = layer->out_scale;
  again.out_offset = layer->out_offset;
  if (same_again != same || memcmp (&again, layer, sizeof again) != 0)
    fuzz_fail ("other numbers when they were printed: %s, %s, %s, %s, %s, %s", stride, dilation, padding, pool_size,
        pool_stride, pool_padding);
}

static void
fill_layer (const ConvolveLayerSettings *settings)
{
  static const float weight = 1;
  ConvolveLayer layer;
  GError *error = NULL;
  gboolean same, ok;

  memset (&layer, 0, sizeof layer); /* with what lies between the members, which are compared */
  convolve_layer_init (&layer, 1, 1, 1, 1, &weight);
  layer.pad_top = layer.pad_right = -1;
  ok = convolve_layer_settings_fill (settings, &layer, &same, &error);
  check_error (ok, error);
  if (!ok)
    return;
  check_layer (&layer, same);
  check_layer_again (&layer, same);
}

/* The first number chooses the text, the second the scale. */
static void
read_layer (FuzzBytes *bytes, const gchar *text)
{
  static const gdouble divisors[] = { 1, -1, 0, 255, 1e-30, 1e38, 1e300, NAN };
  const guint which = bytes->at[0] % 4, scale = bytes->at[1];
  gchar *texts[4] = { NULL };
  ConvolveLayerSettings settings;

  texts[which] = (gchar *) text;
  settings = (ConvolveLayerSettings){ .padding = texts[0],
    .stride = texts[1],
    .pool_size = texts[2],
    .pool_stride = texts[3],
    .activation = bytes->at[0] / 4 % CONVOLVE_N_ACTIVATIONS,
    .divisor = divisors[scale % G_N_ELEMENTS (divisors)],
    .bias = (gint8) scale / 8 / 15.0 };
  fill_layer (&settings);
}

static void
read_channels (FuzzBytes *bytes, const gchar *text)
{
  const guint filters = bytes->at[0] < 250 ? bytes->at[0] + 1u : 4096;
  ConvolveLayerSettings settings = { .channels = (gchar *) text };
  GError *error = NULL;
  GArray *maps;

  if (!convolve_layer_settings_channels (&settings, filters, &maps, &error)) {
    check_error (FALSE, error);
    return;
  }
  check_error (TRUE, error);
  if (maps->len < 1 || maps->len > CONVOLVE_LAYER_MAX_CHANNELS)
    fuzz_fail ("%u maps", maps->len);
  for (guint i = 0; i < maps->len; i++)
    if (g_array_index (maps, guint, i) >= filters)
      fuzz_fail ("map %u of %u", g_array_index (maps, guint, i), filters);
  g_array_unref (maps);
}

/* Tokens with a length, in which a byte may be 0. The token ends with its block. */
static void
read_tokens (FuzzBytes *bytes, const gchar *text)
{
  const gsize size = bytes->left - 2;
  g_autofree gchar *token = g_malloc (MAX (size, 1)), *quoted = NULL, *nearest = NULL;
  g_autofree gchar *ended = g_malloc (size + 1);
  const gchar *problem;
  gdouble value = NAN;

  memcpy (token, bytes->at + 2, size);
  quoted = convolve_token_quote (token, size);
  if (!g_utf8_validate (quoted, -1, NULL) || strlen (quoted) > 400)
    fuzz_fail ("a quotation that cannot be shown: %s", quoted);
  if (size <= 64) { /* names are compared with each other */
    convolve_preset_find (token, size);
    nearest = convolve_preset_nearest (token, size);
  }
  /* A number ends in front of a character that cannot belong to a number: such a character stands here. */
  memcpy (ended, token, size);
  ended[size] = ',';
  if (memchr (ended, '\0', size))
    return;
  problem = convolve_token_number (ended, size, &value);
  if (!problem && !isfinite (value))
    fuzz_fail ("the number %g", value);
}

/* --- arrays --- */

/* Makes a value of any type that bytes choose, with rows and numbers more often than not. */
static void
make_value (FuzzBytes *bytes, GValue *value, guint depth)
{
  switch (fuzz_range (bytes, 0, 15)) {
    case 0:
    case 1:
      g_value_init (value, G_TYPE_INT);
      g_value_set_int (value, (gint8) fuzz_take (bytes, 1));
      return;
    case 2:
      g_value_init (value, G_TYPE_INT);
      g_value_set_int (value, (gint) fuzz_take (bytes, 4));
      return;
    case 3:
      g_value_init (value, G_TYPE_UINT);
      g_value_set_uint (value, (guint) fuzz_take (bytes, 4));
      return;
    case 4:
      g_value_init (value, G_TYPE_INT64);
      g_value_set_int64 (value, (gint64) fuzz_take (bytes, 8));
      return;
    case 5:
      g_value_init (value, G_TYPE_UINT64);
      g_value_set_uint64 (value, fuzz_take (bytes, 8));
      return;
    case 6:
      g_value_init (value, G_TYPE_ULONG);
      g_value_set_ulong (value, fuzz_take (bytes, 8));
      return;
    case 7:
      g_value_init (value, G_TYPE_LONG);
      g_value_set_long (value, (glong) fuzz_take (bytes, 8));
      return;
    case 8:
      g_value_init (value, G_TYPE_DOUBLE);
      g_value_set_double (value, fuzz_double (bytes));
      return;
    case 9:
      g_value_init (value, G_TYPE_FLOAT);
      g_value_set_float (value, (gfloat) fuzz_double (bytes));
      return;
    case 10:
      g_value_init (value, G_TYPE_STRING);
      g_value_take_string (value, g_strdup_printf ("%u", (guint) fuzz_take (bytes, 2)));
      return;
    case 11:
      g_value_init (value, G_TYPE_BOOLEAN);
      return;
    default: {
      GValue list = G_VALUE_INIT;
      const guint count = depth < 3 ? (guint) fuzz_range (bytes, 0, depth == 0 ? 7 : 12) : 0;
      const gboolean array = !fuzz_one_in (bytes, 6);

      g_value_init (&list, array ? GST_TYPE_ARRAY : GST_TYPE_LIST);
      for (guint i = 0; i < count; i++) {
        GValue item = G_VALUE_INIT;

        make_value (bytes, &item, depth + 1);
        if (array)
          gst_value_array_append_and_take_value (&list, &item);
        else
          gst_value_list_append_and_take_value (&list, &item);
        if (G_VALUE_TYPE (&item) != 0) /* GStreamer refuses a mixture of rows and numbers */
          g_value_unset (&item);
      }
      *value = list;
      return;
    }
  }
}

static void
read_array (FuzzBytes *bytes, const gchar *text)
{
  FuzzBytes rest = { bytes->at + 2, bytes->left - 2 };
  GValue value = G_VALUE_INIT;

  make_value (&rest, &value, 0);
  if (GST_VALUE_HOLDS_ARRAY (&value)) {
    ConvolveSettings settings;

    convolve_settings_init (&settings);
    settings.weights = convolve_array_new (&value);
    settings.anchor_y = (gint8) bytes->at[0];
    settings.mask_height = bytes->at[1] > 200 ? bytes->at[1] : 0;
    if (settings.mask_height % 2 == 1 || settings.mask_height == 0)
      make_masks (&settings, FALSE);
    convolve_settings_clear (&settings);
  }
  g_value_unset (&value);
}

/* --- all properties --- */

/*
 * Sets a property from a text, as gst-launch-1.0 does. Files are for fuzz_files. Arrays are made by read_array(),
 * because GStreamer 1.22 leaks memory where it cannot read the text of one.
 */
static void
set_property (ConvolveProperties *properties, GObjectClass *object_class, guint index, const gchar *text)
{
  const Row *row = &properties->table->rows[index];
  GParamSpec *spec = g_object_class_find_property (object_class, row->name);
  GValue value = G_VALUE_INIT, back = G_VALUE_INIT;

  if (row->kind == FILE_NAME || row->kind == ARRAY || row->kind == BOXES)
    return;
  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
  if (row->kind == TEXT)
    g_value_set_string (&value, text);
  else if (!g_utf8_validate (text, -1, NULL) || !gst_value_deserialize (&value, text))
    goto end;
  g_param_value_validate (spec, &value);
  if (!convolve_properties_set (properties, index, &value, FALSE))
    fuzz_fail ("%s cannot be set", row->name);
  g_value_init (&back, G_PARAM_SPEC_VALUE_TYPE (spec));
  if (!convolve_properties_get (properties, index, &back))
    fuzz_fail ("%s cannot be got", row->name);
  if (g_param_values_cmp (spec, &value, &back) != 0)
    fuzz_fail ("%s is another value after it was set", row->name);
  g_value_unset (&back);
end:
  g_value_unset (&value);
}

static void
check_sentences (const ConvolveProperties *properties)
{
  g_autoptr (GPtrArray) sentences = g_ptr_array_new_with_free_func (g_free);

  convolve_properties_add_idle (properties, sentences);
  convolve_properties_add_warnings (properties, sentences);
  for (guint i = 0; i < sentences->len; i++)
    if (!g_utf8_validate (g_ptr_array_index (sentences, i), -1, NULL))
      fuzz_fail ("a sentence that cannot be shown");
}

static void
check_mask_properties (const ConvolveProperties *properties)
{
  GError *error = NULL;
  gboolean ok;

  make_masks (&properties->mask, FALSE);
  ok = convolve_region_settings_check (&properties->region, &properties->mask, &error);
  check_error (ok, error);
  check_sentences (properties);
}

static void
check_layer_properties (const ConvolveProperties *properties)
{
  GError *error = NULL;
  GArray *maps = NULL;
  gboolean ok;

  fill_layer (&properties->layer);
  ok = convolve_layer_settings_channels (&properties->layer, 64, &maps, &error);
  check_error (ok, error);
  if (maps)
    g_array_unref (maps);
}

static void
check_device (const ConvolveProperties *properties)
{
  g_autofree gchar *explained = convolve_properties_explain_no_device (properties, "there is none");

  if (!strstr (explained, "there is none"))
    fuzz_fail ("the reason is left out: %s", explained);
  if (!convolve_properties_variant_name (properties))
    fuzz_fail ("the variant %d has no name", properties->variant);
  if (convolve_properties_need_device (properties) && !convolve_properties_want_device (properties))
    fuzz_fail ("a device is needed and not wanted");
}

/*
 * Properties that are split by the byte 0; the first byte of each is the number of the property. The number beside the text
 * chooses the element.
 */
static void
read_properties (FuzzBytes *bytes, const gchar *text)
{
  const guint element = bytes->at[0] % G_N_ELEMENTS (tables);
  ConvolveProperties *properties = convolve_properties_new (tables[element]), *copy;
  gsize left = bytes->left - 2;
  const uint8_t *at = bytes->at + 2;

  for (guint n = 0; left > 0 && n < 12; n++) {
    const uint8_t *end = memchr (at, 0, left);
    const gsize length = end ? (gsize) (end - at) : left;

    if (length > 0) {
      g_autofree gchar *one = g_strndup ((const gchar *) at + 1, length - 1);

      set_property (properties, object_classes[element], at[0] % tables[element]->n, one);
    }
    left -= MIN (left, length + 1);
    at += length + 1;
  }
  copy = convolve_properties_copy (properties);
  if (!convolve_properties_are_equal_but_for_regions (copy, properties))
    fuzz_fail ("a copy is not equal");
  convolve_properties_unref (properties);
  check_device (copy);
  if (element == 0)
    check_mask_properties (copy);
  else
    check_layer_properties (copy);
  convolve_properties_unref (copy);
}

/* The text of a file of mask-location, which fuzz_files reads as a file. */
static void
read_file_text (FuzzBytes *bytes, const gchar *text)
{
  GError *error = NULL;
  ConvolveGrid *grid = convolve_table_parse ("name", text, &error);

  check_error (grid != NULL, error);
  if (!grid)
    return;
  if (grid->rows < 1 || grid->columns < 1 || grid->values->len != grid->rows * grid->columns)
    fuzz_fail ("%u rows of %u with %u values", grid->rows, grid->columns, grid->values->len);
  convolve_grid_unref (grid);
}

static void (*const readers[]) (FuzzBytes *bytes, const gchar *text) = { read_mask, read_vectors, read_boxes,
  read_types, read_layer, read_channels, read_tokens, read_array, read_properties, read_file_text };

/* The first byte chooses the reader, and two more are numbers beside the text. A text ends at its first byte of 0. */
int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzBytes bytes = { data + 1, size - 1 };
  gchar *text;

  if (size < 3)
    return 0;
  text = g_strndup ((const gchar *) data + 3, size - 3);
  readers[data[0] % G_N_ELEMENTS (readers)](&bytes, text);
  g_free (text);
  return 0;
}
