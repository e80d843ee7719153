/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Describes the plugin as JSON: scanner PLUGIN.so
 *
 * The JSON has the form of the gst_plugins_cache.json files of GStreamer's own modules, from which hotdoc makes the
 * documentation of plugins: pads, properties with their types, ranges, defaults and flags, and the types of base classes, enums
 * and flags. A property has the version that has it, too. cache.py sorts and keeps the JSON. What this plugin has not, such
 * as signals, is an error here and not left out in silence.
 */
#include <locale.h>
#include <string.h>

#include <gst/gst.h>

static gboolean failed;

static void
fail (const char *what, const char *name)
{
  g_printerr ("%s: plugin/docs/scanner.c cannot describe %s\n", name, what);
  failed = TRUE;
}

/* --- JSON --- */

/* A string in quotes. hotdoc reads a percent sign as two, and a text that is not there as "NULL". */
static void
append_string (GString *json, const char *text)
{
  g_string_append_c (json, '"');
  for (const char *c = text ? text : "NULL"; *c; c++)
    if (*c == '"' || *c == '\\')
      g_string_append_printf (json, "\\%c", *c);
    else if (*c == '%')
      g_string_append (json, "%%");
    else if (*c == '\n')
      g_string_append (json, "\\n");
    else if (g_ascii_iscntrl (*c))
      g_string_append_printf (json, "\\u%04x", (guint) *c);
    else
      g_string_append_c (json, *c);
  g_string_append_c (json, '"');
}

/* Begins a member of an object: "name": */
static void
append_name (GString *json, const char *name)
{
  const char last = json->len ? json->str[json->len - 1] : '{';

  if (last != '{' && last != '[')
    g_string_append_c (json, ',');
  append_string (json, name);
  g_string_append_c (json, ':');
}

static void
append_member (GString *json, const char *name, const char *text)
{
  append_name (json, name);
  append_string (json, text);
}

static void G_GNUC_PRINTF (3, 4) append_formatted (GString *json, const char *name, const char *format, ...)
{
  va_list arguments;
  char *text;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  append_member (json, name, text);
  g_free (text);
}

static void
append_boolean (GString *json, const char *name, gboolean value)
{
  append_name (json, name);
  g_string_append (json, value ? "true" : "false");
}

/* --- types of enums and flags --- */

static void
append_value (GString *json, const char *nick, const char *value, const char *name)
{
  if (json->str[json->len - 1] == '}')
    g_string_append_c (json, ',');
  g_string_append_c (json, '{');
  append_member (json, "name", nick);
  append_member (json, "value", value);
  append_member (json, "desc", name);
  g_string_append_c (json, '}');
}

/* Adds a type to the object types, where the plugin marks the type as a part of its interface. */
static void
append_type (GString *types, GType type)
{
  GTypeClass *klass;
  char name[200], value[20];

  g_snprintf (name, sizeof name, "\"%s\":{", g_type_name (type));
  if (!gst_type_is_plugin_api (type, NULL) || strstr (types->str, name))
    return;
  klass = g_type_class_ref (type);
  append_name (types, g_type_name (type));
  g_string_append_printf (types, "{\"kind\":\"%s\",\"values\":[", G_IS_ENUM_CLASS (klass) ? "enum" : "flags");
  if (G_IS_ENUM_CLASS (klass))
    for (const GEnumValue *v = G_ENUM_CLASS (klass)->values; v->value_name; v++) {
      g_snprintf (value, sizeof value, "%d", v->value);
      append_value (types, v->value_nick, value, v->value_name);
    }
  else
    for (const GFlagsValue *v = G_FLAGS_CLASS (klass)->values; v->value_name; v++) {
      g_snprintf (value, sizeof value, "0x%08x", v->value);
      append_value (types, v->value_nick, value, v->value_name);
    }
  g_string_append (types, "]}");
  g_type_class_unref (klass);
}

/* The nickname of a value of flags, or those of its parts, the highest first. */
static char *
flags_text (const GFlagsClass *klass, guint flags)
{
  GString *text;

  for (guint i = 0; i < klass->n_values; i++)
    if (klass->values[i].value == flags)
      return g_strdup (klass->values[i].value_nick);
  text = g_string_new (NULL);
  for (guint i = klass->n_values; i-- > 0;) {
    guint part = klass->values[i].value;

    if (part && (flags & part) == part) {
      g_string_append_printf (text, "%s%s", text->len ? "+" : "", klass->values[i].value_nick);
      flags &= ~part;
    }
  }
  return g_string_free (text, FALSE);
}

/* --- properties --- */

/* Adds the default, and the range of a number. GStreamer's own scanner has unsigned numbers above 2^31 as negative ones. */
static void
append_numbers (GString *json, GParamSpec *spec, const GValue *value)
{
#define RANGE(TYPE, get, format) \
  append_formatted (json, "default", "%" format, g_value_get_##get (value)); \
  append_formatted (json, "min", "%" format, G_PARAM_SPEC_##TYPE (spec)->minimum); \
  append_formatted (json, "max", "%" format, G_PARAM_SPEC_##TYPE (spec)->maximum)
  if (G_IS_PARAM_SPEC_UINT (spec)) {
    RANGE (UINT, uint, "u");
  } else if (G_IS_PARAM_SPEC_INT (spec)) {
    RANGE (INT, int, "d");
  } else if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    RANGE (UINT64, uint64, G_GUINT64_FORMAT);
  } else if (G_IS_PARAM_SPEC_INT64 (spec)) {
    RANGE (INT64, int64, G_GINT64_FORMAT);
  } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    RANGE (DOUBLE, double, "g");
  } else
    fail ("the type of this property", spec->name);
}

static void
append_default (GString *json, GString *types, GParamSpec *spec, const GValue *value)
{
  char *text = NULL;

  if (G_IS_PARAM_SPEC_STRING (spec))
    append_member (json, "default", g_value_get_string (value));
  else if (G_IS_PARAM_SPEC_BOOLEAN (spec))
    append_member (json, "default", g_value_get_boolean (value) ? "true" : "false");
  else if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumValue *v = g_enum_get_value (G_PARAM_SPEC_ENUM (spec)->enum_class, g_value_get_enum (value));

    append_formatted (json, "default", "%s (%d)", v->value_nick, v->value);
    append_type (types, spec->value_type);
  } else if (G_IS_PARAM_SPEC_FLAGS (spec)) {
    text = flags_text (G_PARAM_SPEC_FLAGS (spec)->flags_class, g_value_get_flags (value));
    append_member (json, "default", *text ? text : "(none)");
    append_type (types, spec->value_type);
  } else if (spec->value_type == GST_TYPE_STRUCTURE) {
    if (g_value_get_boxed (value)) {
      text = gst_structure_to_string (g_value_get_boxed (value));
      append_member (json, "default", text);
    }
  } else if (!GST_IS_PARAM_SPEC_ARRAY_LIST (spec)) /* hotdoc has no default of arrays */
    append_numbers (json, spec, value);
  g_free (text);
}

static void
append_property (GString *json, GString *types, GObject *object, GParamSpec *spec)
{
  const GParamFlags flags = spec->flags;
  GValue value = G_VALUE_INIT;

  append_name (json, spec->name);
  g_string_append_c (json, '{');
  append_boolean (json, "construct-only", (flags & G_PARAM_CONSTRUCT_ONLY) != 0);
  append_boolean (json, "construct", (flags & G_PARAM_CONSTRUCT) != 0);
  append_boolean (json, "readable", (flags & G_PARAM_READABLE) != 0);
  append_boolean (json, "writable", (flags & G_PARAM_WRITABLE) != 0);
  append_boolean (json, "controllable", (flags & GST_PARAM_CONTROLLABLE) != 0);
  append_boolean (json, "conditionally-available", (flags & GST_PARAM_CONDITIONALLY_AVAILABLE) != 0);
  append_member (json, "blurb", g_param_spec_get_blurb (spec));
  append_member (json, "mutable",
      flags & GST_PARAM_MUTABLE_PLAYING      ? "playing"
          : flags & GST_PARAM_MUTABLE_PAUSED ? "paused"
          : flags & GST_PARAM_MUTABLE_READY  ? "ready"
                                             : "null");
  append_member (json, "type", g_type_name (spec->value_type));
  append_member (json, "since", g_param_spec_get_qdata (spec, g_quark_from_string ("since")));
  g_value_init (&value, spec->value_type);
  g_object_get_property (object, spec->name, &value);
  append_default (json, types, spec, &value);
  g_value_unset (&value);
  g_string_append_c (json, '}');
}

/* The properties that a class of the object has. */
static void
append_properties (GString *json, GString *types, GObject *object, GType owner)
{
  guint n;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  append_name (json, "properties");
  g_string_append_c (json, '{');
  for (guint i = 0; i < n; i++)
    if (specs[i]->owner_type == owner)
      append_property (json, types, object, specs[i]);
  g_string_append_c (json, '}');
  g_free (specs);
}

/* --- pads --- */

/* A line of a field; the format's type is left out, because there are many formats. */
static void
append_field (GString *caps, const char *name, const GValue *value)
{
  char *text = gst_value_serialize (value), **parts = g_strsplit (text, "(string)", -1);

  g_free (text);
  text = g_strjoinv (g_str_equal (name, "format") ? "" : "(string)", parts);
  g_string_append_printf (caps, "%15s: %s\n", name, text);
  g_strfreev (parts);
  g_free (text);
}

/* Caps as hotdoc has them: a line for each structure, and one for each field below. */
static char *
caps_text (const GstCaps *caps)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);
    const GstStructure *structure = gst_caps_get_structure (caps, i);
    const char *name = gst_structure_get_name (structure);

    if (gst_caps_features_is_equal (features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      g_string_append_printf (text, "%s:\n", name);
    else {
      char *shown = gst_caps_features_to_string (features);

      g_string_append_printf (text, "%s%s(%s):\n", i ? "\n" : "", name, shown);
      g_free (shown);
    }
    for (int k = 0; k < gst_structure_n_fields (structure); k++) {
      name = gst_structure_nth_field_name (structure, k);
      append_field (text, name, gst_structure_get_value (structure, name));
    }
  }
  return g_string_free (text, FALSE);
}

static void
append_pads (GString *json, GstElement *element)
{
  append_name (json, "pad-templates");
  g_string_append_c (json, '{');
  for (GList *i = gst_element_class_get_pad_template_list (GST_ELEMENT_GET_CLASS (element)); i; i = i->next) {
    GstPadTemplate *pad = i->data;
    GstCaps *caps = gst_pad_template_get_documentation_caps (pad);
    char *text = caps_text (caps);

    if (GST_PAD_TEMPLATE_PRESENCE (pad) != GST_PAD_ALWAYS)
      fail ("a pad that is not always there", GST_PAD_TEMPLATE_NAME_TEMPLATE (pad));
    append_name (json, GST_PAD_TEMPLATE_NAME_TEMPLATE (pad));
    g_string_append_c (json, '{');
    append_member (json, "caps", text);
    append_member (json, "direction", GST_PAD_TEMPLATE_DIRECTION (pad) == GST_PAD_SRC ? "src" : "sink");
    append_member (json, "presence", "always");
    g_string_append_c (json, '}');
    g_free (text);
    gst_caps_unref (caps);
  }
  g_string_append_c (json, '}');
}

/* --- classes, elements and the plugin --- */

/* The names of a class and of those above, and of what they implement. */
static void
append_lineage (GString *json, GType type)
{
  guint n;
  GType *interfaces = g_type_interfaces (type, &n);

  append_name (json, "hierarchy");
  g_string_append_c (json, '[');
  for (GType t = type; t; t = g_type_parent (t))
    g_string_append_printf (json, "%s\"%s\"", t == type ? "" : ",", g_type_name (t));
  g_string_append_c (json, ']');
  append_name (json, "interfaces");
  g_string_append_c (json, '[');
  for (guint i = 0; i < n; i++)
    g_string_append_printf (json, "%s\"%s\"", i ? "," : "", g_type_name (interfaces[i]));
  g_string_append_c (json, ']');
  g_free (interfaces);
}

/* Adds a base class of the plugin's own to the object types; element is of a subclass. */
static void
append_base (GString *types, GObject *element, GType type)
{
  char name[200];

  g_snprintf (name, sizeof name, "\"%s\":{", g_type_name (type));
  if (strstr (types->str, name))
    return;
  append_name (types, g_type_name (type));
  g_string_append (types, "{\"kind\":\"object\"");
  append_lineage (types, type);
  append_properties (types, types, element, type);
  g_string_append_c (types, '}');
}

static void
append_element (GString *json, GString *types, GstElementFactory *factory)
{
  static const char *const keys[] = { GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS,
    GST_ELEMENT_METADATA_DESCRIPTION, GST_ELEMENT_METADATA_AUTHOR };
  GstElement *element = gst_element_factory_create (factory, NULL);
  GType type = G_OBJECT_TYPE (element);
  guint n;

  append_name (json, GST_OBJECT_NAME (factory));
  g_string_append_c (json, '{');
  if (gst_plugin_feature_get_rank (GST_PLUGIN_FEATURE (factory)) != GST_RANK_NONE)
    fail ("a rank", GST_OBJECT_NAME (factory));
  append_member (json, "rank", "none");
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    append_member (json, keys[i], gst_element_factory_get_metadata (factory, keys[i]));
  append_lineage (json, type);
  for (GType t = g_type_parent (type); t; t = g_type_parent (t))
    if (gst_type_is_plugin_api (t, NULL))
      append_base (types, G_OBJECT (element), t);
  g_free (g_signal_list_ids (type, &n));
  if (n)
    fail ("signals", GST_OBJECT_NAME (factory));
  append_properties (json, types, G_OBJECT (element), type);
  append_pads (json, element);
  g_string_append_c (json, '}');
  gst_object_unref (element);
}

static void
append_plugin (GString *json, GstPlugin *plugin)
{
  GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), gst_plugin_get_name (plugin));
  GString *types = g_string_new ("{");
  char *file = g_path_get_basename (gst_plugin_get_filename (plugin));

  append_name (json, gst_plugin_get_name (plugin));
  g_string_append_c (json, '{');
  append_member (json, "description", gst_plugin_get_description (plugin));
  *strchr (file, '.') = '\0';
  append_member (json, "filename", g_str_has_prefix (file, "lib") ? file + strlen ("lib") : file);
  append_member (json, "source", gst_plugin_get_source (plugin));
  append_member (json, "package", gst_plugin_get_package (plugin));
  append_member (json, "license", gst_plugin_get_license (plugin));
  append_member (json, "url", gst_plugin_get_origin (plugin));
  append_name (json, "elements");
  g_string_append_c (json, '{');
  for (GList *i = features; i; i = i->next)
    if (GST_IS_ELEMENT_FACTORY (i->data))
      append_element (json, types, i->data);
    else
      fail ("a feature that is no element", GST_OBJECT_NAME (i->data));
  g_string_append (json, "},\"tracers\":{}");
  append_name (json, "other-types");
  g_string_append_printf (json, "%s}}", types->str);
  gst_plugin_feature_list_free (features);
  g_string_free (types, TRUE);
  g_free (file);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  GstPlugin *plugin;
  GString *json;

  setlocale (LC_ALL, "C");
  gst_init (NULL, NULL);
  if (argc != 2) {
    g_printerr ("Usage: %s PLUGIN.so\n", argv[0]);
    return 2;
  }
  plugin = gst_plugin_load_file (argv[1], &error);
  if (!plugin) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  json = g_string_new ("{");
  append_plugin (json, plugin);
  g_string_append_c (json, '}');
  if (!failed)
    g_print ("%s\n", json->str);
  g_string_free (json, TRUE);
  gst_object_unref (plugin);
  gst_deinit ();
  return failed;
}
