/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values for every property: good ones, those at the limits, those beyond, and texts that are none. */
#define _GNU_SOURCE
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz_element.h"

#define MOST_RAW 48 /* bytes of a text that comes from the input itself */

static const gchar *const masks[] = { "gaussian", "box", "identity", "unsharp:2", "motion:30", "motion:-1e9", "sobel",
  "sobel-x", "emboss", "log", "disk", "kirsch", "prewitt", "sharpen", "1 2 1; 2 4 2; 1 2 1", "1 2; 3", "2x2: 1 2 3 4",
  "0 0 0; 0 1 0; 0 0 0", "1e308 1e308 1e308", "1 nan 1", "", ";", "1,2 3", "255x1: 1", "1 1 \xff\xfe 1",
  "gaussian\xf0\x9f\x92", "\xc0\x80", "0.1 0.2 0.3; 0.4 0.5 0.6; 0.7 0.8 0.9", "-1 -1 -1; -1 8 -1; -1 -1 -1",
  "7x1: 1 2 3 4 3 2 1", "1x5: -1 2 -3 2 -1", "100000 1 100000" };
static const gchar *const vectors[] = { "1 2 1", "1 0 -1", "-1 2 -1", "1", "1;2", "1 x", "\xfe 1", "1 4 6 4 1", "" };
static const gchar *const boxes[] = { "0,0,4,4", "1,1,3,2; 2,2,9,9", "50%,0,50%,100%", "-5,-5,10,10", "0,0,0,0",
  "1,2,3", "1,2,3,x", "4294967295,0,1,1", "2147483647,2147483647,2147483647,2147483647", "0.5,0.5,1.5,1.5",
  "1e9%,0,1%,1%", "\xff,1,1,1", ";;", "0,0,100%,100%", "nan,0,1,1", "3,3,1,1;3,3,1,1;3,3,1,1" };
static const gchar *const types[] = { "face", "face,plate", "!person", ",", "!", "\xff\xfe", "a,b,c", "" };
static const gchar *const ids[] = { "7", "!7", "0,!bob", "'a,b'", "'", ",", "18446744073709551615", "\xff", "" };
static const gchar *const paddings[] = { "same", "valid", "0", "1", "3", "65537", "-1", " 2", "x", "\xff", "", "1,0",
  "0, 5", "1,2,3,4", "0,0,9,0", "1,2,3", "1,2,3,4,5", "65537,0", "1,", "same,1" };
static const gchar *const steps[] = { "1", "2", "3", "2,1", "1,3", " 4 , 2 ", "255", "1,255", "0", "256", "1,0", "-1",
  "1,2,3", "2,", "x", "\xff", "" };
static const gchar *const maps[] = { "0", "1", "0,1", "0,0,0", "0-1", "1-0", "0,1,0,1", "99", "4294967296", "0-", "-1",
  "\xff", "", "," };

typedef struct
{
  const gchar *name;
  const gchar *const *texts;
  guint n;
} List;

#define LIST(name, texts) \
  { \
    name, texts, G_N_ELEMENTS (texts) \
  }

static const List lists[] = { LIST ("mask", masks), LIST ("mask-x", vectors), LIST ("mask-y", vectors),
  LIST ("regions", boxes), LIST ("region-types", types), LIST ("region-ids", ids), LIST ("stride", steps),
  LIST ("padding", paddings), LIST ("pool-size", steps), LIST ("pool-stride", steps), LIST ("channels", maps) };

static GPtrArray *files;       /* good ones and bad ones */
static GPtrArray *layer_files; /* of the known masks, for 1 channel and then for 3 */

/* --- files --- */

static void
add_file (GPtrArray *list, const void *bytes, gsize size)
{
  gint fd = memfd_create ("fuzz_element", 0);

  if (fd < 0 || write (fd, bytes, size) != (gssize) size)
    fuzz_fail ("a file in memory cannot be made");
  g_ptr_array_add (list, g_strdup_printf ("/proc/self/fd/%d", fd));
}

/* A .npy file of the shape. */
static void
add_numpy_file (GPtrArray *list, const gchar *shape, const gfloat *weights, guint count)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree gchar *text = g_strdup_printf ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shape);
  g_autofree gchar *header = g_strdup_printf ("%-117s\n", text);
  const guint8 magic[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0 };

  g_byte_array_append (bytes, magic, sizeof (magic));
  g_byte_array_append (bytes, (const guint8 *) header, 118);
  for (guint i = 0; i < count; i++) {
    guint32 word;

    memcpy (&word, &weights[i], sizeof (word));
    word = GUINT32_TO_LE (word);
    g_byte_array_append (bytes, (const guint8 *) &word, sizeof (word));
  }
  add_file (list, bytes->data, bytes->len);
}

/* The same with the weights 1, -2, 3, ..., each by 8. */
static void
add_counted_file (const gchar *shape, guint count)
{
  g_autofree gfloat *weights = g_new (gfloat, count);

  for (guint i = 0; i < count; i++)
    weights[i] = (i + 1.0f) * (i % 2 ? -1 : 1) / 8;
  add_numpy_file (files, shape, weights, count);
}

/* Filter k has the mask for channel k, and no weights for the other channels. */
static void
add_known_layer (const KnownMask *mask, guint channels)
{
  const guint size = mask->width * mask->height, count = channels * channels * size;
  g_autofree gchar *shape = g_strdup_printf ("(%u, %u, %d, %d)", channels, channels, mask->height, mask->width);
  g_autofree gfloat *weights = g_new0 (gfloat, count);

  for (guint k = 0; k < channels; k++)
    for (guint i = 0; i < size; i++)
      weights[(k * channels + k) * size + i] = (gfloat) mask->integers[i] / mask->divisor;
  add_numpy_file (layer_files, shape, weights, count);
}

const gchar *
fuzz_layer_file (guint mask, guint channels)
{
  return g_ptr_array_index (layer_files, channels == 1 ? mask : fuzz_n_masks + mask);
}

void
fuzz_values_init (void)
{
  static const gchar mask[] = "# a mask\n1 2 1\n2 4 2\n1 2 1\n", bad[] = "1 2 \xff\n";

  layer_files = g_ptr_array_new ();
  for (guint channels = 1; channels <= 3; channels += 2)
    for (guint i = 0; i < fuzz_n_masks; i++)
      add_known_layer (&fuzz_masks[i], channels);

  files = g_ptr_array_new ();
  add_counted_file ("(2, 1, 3, 3)", 18);
  add_counted_file ("(1, 1, 1, 1)", 1);
  add_counted_file ("(4, 3, 3, 5)", 180);
  add_counted_file ("(3, 3, 1, 1)", 9);
  add_counted_file ("(3, 3)", 9);
  add_counted_file ("(2, 1, 3, 3)", 17);
  add_file (files, mask, sizeof (mask) - 1);
  add_file (files, bad, sizeof (bad) - 1);
  add_file (files, "", 0);
  g_ptr_array_add (files, (gpointer) "");
  g_ptr_array_add (files, (gpointer) ".");
  g_ptr_array_add (files, (gpointer) "no such file \xff");
}

/* --- values --- */

static void
choose_text (GValue *value, const gchar *name, Bytes *bytes)
{
  guint byte = fuzz_byte (bytes);
  gchar raw[MOST_RAW + 1];
  guint n = 0;

  if (byte == 255)
    return; /* NULL */
  if (g_str_has_suffix (name, "location")) {
    g_value_set_static_string (value, g_ptr_array_index (files, byte % files->len));
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (lists) && byte < 160; i++)
    if (g_str_equal (lists[i].name, name)) {
      g_value_set_static_string (value, lists[i].texts[byte % lists[i].n]);
      return;
    }
  /* A padding of many pixels is allowed, but makes frames that are too large for a fuzzer. */
  for (guint most = g_str_equal (name, "padding") ? 2 : MOST_RAW; n < most && bytes->left > 0; n++) {
    raw[n] = fuzz_byte (bytes);
    if (raw[n] == '\0')
      break;
  }
  raw[n] = '\0';
  g_value_set_string (value, raw);
}

static gint64
choose_integer (gint64 least, gint64 most, gint64 standard, Bytes *bytes)
{
  const gint64 edges[] = { least, most, standard, least - 1, most + 1, G_MAXINT, G_MININT, G_MAXUINT, 0, -1 };
  guint byte = fuzz_byte (bytes);

  if (byte < 200)
    return byte % 12;
  return byte < 236 ? fuzz_word (bytes) : edges[byte % G_N_ELEMENTS (edges)];
}

static gdouble
choose_double (gdouble least, gdouble most, Bytes *bytes)
{
  const gdouble edges[] = { least, most, 0, -0.0, 1e-300, -1e300, NAN, INFINITY, 1e9, 0.999999, 255 };
  const gdouble usual[] = { 0, 0.25, 0.5, 1, 1.5, 2, 3, 0.1, -0.5, -1, 9, 16 };
  guint byte = fuzz_byte (bytes);

  if (byte < 208)
    return usual[byte % G_N_ELEMENTS (usual)];
  return byte < 232 ? ((gint) fuzz_word (bytes) - 32768) / 256.0 : edges[byte % G_N_ELEMENTS (edges)];
}

static void
choose_array (GValue *value, Bytes *bytes)
{
  guint rows = fuzz_byte (bytes) % 6, columns = fuzz_byte (bytes) % 6, odd = fuzz_byte (bytes);

  for (guint y = 0; y < rows; y++) {
    GValue row = G_VALUE_INIT;

    g_value_init (&row, GST_TYPE_ARRAY);
    for (guint x = 0; x < columns + (odd == y); x++) {
      GValue cell = G_VALUE_INIT;

      if (odd >= 224) { /* all values of an array have one type */
        g_value_init (&cell, G_TYPE_STRING);
        g_value_set_static_string (&cell, odd % 2 ? "\xff" : "1");
      } else if (odd % 3 == 0) {
        g_value_init (&cell, G_TYPE_DOUBLE);
        g_value_set_double (&cell, choose_double (-G_MAXDOUBLE, G_MAXDOUBLE, bytes));
      } else {
        g_value_init (&cell, G_TYPE_INT);
        g_value_set_int (&cell, (gint8) fuzz_byte (bytes));
      }
      gst_value_array_append_and_take_value (&row, &cell);
    }
    gst_value_array_append_and_take_value (value, &row);
  }
}

static void
choose_enum (GValue *value, const GEnumClass *klass, Bytes *bytes)
{
  guint byte = fuzz_byte (bytes);

  if (byte >= 240)
    g_value_set_enum (value,
        byte == 240       ? klass->minimum - 1
            : byte == 241 ? klass->maximum + 1
                          : (gint) fuzz_long (bytes));
  else
    g_value_set_enum (value, klass->values[byte % klass->n_values].value);
}

/* Threads take time to start, and many passes over a large frame take time to run. */
static gint64
limit_integer (const gchar *name, gsize area, gint64 number)
{
  if (g_str_equal (name, "n-threads") && number != 2 && number >= 0 && number <= 1024)
    return 1;
  if (g_str_equal (name, "iterations") && number > 3 && number <= 100 && area > 16)
    return 3;
  return number;
}

void
fuzz_set_property (GObject *object, GParamSpec *spec, gsize area, Bytes *bytes)
{
  const gchar *name = g_param_spec_get_name (spec);
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
  if (G_IS_PARAM_SPEC_STRING (spec)) {
    choose_text (&value, name, bytes);
  } else if (G_IS_PARAM_SPEC_INT (spec)) {
    const GParamSpecInt *range = G_PARAM_SPEC_INT (spec);

    g_value_set_int (&value, choose_integer (range->minimum, range->maximum, range->default_value, bytes));
  } else if (G_IS_PARAM_SPEC_UINT (spec)) {
    const GParamSpecUInt *range = G_PARAM_SPEC_UINT (spec);
    gint64 number = choose_integer (range->minimum, range->maximum, range->default_value, bytes);

    g_value_set_uint (&value, limit_integer (name, area, number));
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    g_value_set_uint64 (&value, fuzz_long (bytes));
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    const GParamSpecDouble *range = G_PARAM_SPEC_DOUBLE (spec);

    g_value_set_double (&value, choose_double (range->minimum, range->maximum, bytes));
  } else if (G_IS_PARAM_SPEC_BOOLEAN (spec)) {
    g_value_set_boolean (&value, fuzz_byte (bytes) & 1);
  } else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    choose_enum (&value, G_PARAM_SPEC_ENUM (spec)->enum_class, bytes);
  } else if (G_IS_PARAM_SPEC_FLAGS (spec)) {
    guint byte = fuzz_byte (bytes);

    g_value_set_flags (&value, byte < 240 ? byte : fuzz_long (bytes));
  } else if (GST_IS_PARAM_SPEC_ARRAY_LIST (spec)) {
    choose_array (&value, bytes);
  } else if (g_str_equal (name, "name")) {
    g_value_unset (&value);
    return;
  }
  g_object_set_property (object, name, &value);
  g_value_unset (&value);
}
