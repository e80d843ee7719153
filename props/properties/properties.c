/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "properties/properties.h"

#include <gst/gst.h>
#include <string.h>

#include "text/array.h"
#include "boxes/region_boxes.h"
#include "properties/enums.h"
#include "properties/property_rows.h"

/* --- the value --- */

static void
set_standard (ConvolveProperties *properties, const Row *row)
{
  switch (row->kind) {
    case TEXT:
      VALUE (gchar *, properties, row) = g_strdup (row->text);
      break;
    case ARRAY:
    case BOXES:
    case FILE_NAME:
      break; /* NULL already, or another row's */
    case UINT:
    case FLAGS:
      VALUE (guint, properties, row) = row->standard;
      break;
    case DOUBLE:
      VALUE (gdouble, properties, row) = row->standard;
      break;
    case TIME:
      VALUE (guint64, properties, row) = row->standard;
      break;
    case INT:
    case BOOLEAN:
    case ENUM:
      VALUE (gint, properties, row) = row->standard;
      break;
  }
}

ConvolveProperties *
convolve_properties_new (const ConvolvePropertyTable *table)
{
  ConvolveProperties *properties = g_atomic_rc_box_new0 (ConvolveProperties);

  properties->table = table;
  for (guint i = 0; i < table->n; i++)
    set_standard (properties, &table->rows[i]);
  return properties;
}

/* Makes the member of a row, which was copied as it is, an owner of what it points to. */
static void
own_value (ConvolveProperties *properties, const Row *row)
{
  if (row->kind == TEXT)
    VALUE (gchar *, properties, row) = g_strdup (VALUE (gchar *, properties, row));
  else if (row->kind == ARRAY && VALUE (GValue *, properties, row))
    g_atomic_rc_box_acquire (VALUE (GValue *, properties, row));
  else if (row->kind == FILE_NAME && VALUE (ConvolveKeptFile *, properties, row))
    convolve_kept_file_ref (VALUE (ConvolveKeptFile *, properties, row));
}

ConvolveProperties *
convolve_properties_copy (const ConvolveProperties *from)
{
  ConvolveProperties *properties = g_atomic_rc_box_new (ConvolveProperties);

  *properties = *from;
  for (guint i = 0; i < from->table->n; i++)
    own_value (properties, &from->table->rows[i]);
  return properties;
}

static void
clear_value (ConvolveProperties *properties, const Row *row)
{
  if (row->kind == TEXT)
    g_clear_pointer (&VALUE (gchar *, properties, row), g_free);
  else if (row->kind == ARRAY)
    g_clear_pointer (&VALUE (GValue *, properties, row), convolve_array_unref);
  else if (row->kind == FILE_NAME)
    g_clear_pointer (&VALUE (ConvolveKeptFile *, properties, row), convolve_kept_file_unref);
}

static void
clear_properties (gpointer data)
{
  ConvolveProperties *properties = data;

  for (guint i = 0; i < properties->table->n; i++)
    clear_value (properties, &properties->table->rows[i]);
}

ConvolveProperties *
convolve_properties_ref (ConvolveProperties *properties)
{
  return g_atomic_rc_box_acquire (properties);
}

void
convolve_properties_unref (ConvolveProperties *properties)
{
  g_atomic_rc_box_release_full (properties, clear_properties);
}

void
convolve_properties_take_mask (ConvolveProperties *properties, const ConvolveProperties *from)
{
  convolve_settings_clear (&properties->mask);
  convolve_settings_copy (&properties->mask, &from->mask);
}

void
convolve_properties_take_regions (ConvolveProperties *properties, const ConvolveProperties *from)
{
  convolve_region_settings_clear (&properties->region);
  convolve_region_settings_copy (&properties->region, &from->region);
}

static gboolean
have_one_value (const ConvolveProperties *a, const ConvolveProperties *b, const Row *row)
{
  switch (row->kind) {
    case TEXT:
      return g_strcmp0 (VALUE (gchar *, a, row), VALUE (gchar *, b, row)) == 0;
    case ARRAY:
      return VALUE (GValue *, a, row) == VALUE (GValue *, b, row);
    case BOXES:
      return TRUE;  /* the text's row tells */
    case FILE_NAME: /* another one of the same name is to be read again */
      return VALUE (ConvolveKeptFile *, a, row) == VALUE (ConvolveKeptFile *, b, row);
    case UINT:
    case FLAGS:
      return VALUE (guint, a, row) == VALUE (guint, b, row);
    case DOUBLE:
      return VALUE (gdouble, a, row) == VALUE (gdouble, b, row);
    case TIME:
      return VALUE (guint64, a, row) == VALUE (guint64, b, row);
    case INT:
    case BOOLEAN:
    case ENUM:
      return VALUE (gint, a, row) == VALUE (gint, b, row);
  }
  g_return_val_if_reached (FALSE);
}

gchar *
convolve_properties_list_late (const ConvolveProperties *a, const ConvolveProperties *b)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < a->table->n; i++)
    if ((a->table->rows[i].flags & GST_PARAM_MUTABLE_READY) && !have_one_value (a, b, &a->table->rows[i]))
      g_string_append_printf (names, "%s%s", names->len ? " and " : "", a->table->rows[i].name);
  return names->len ? g_string_free (g_steal_pointer (&names), FALSE) : NULL;
}

gboolean
convolve_properties_are_equal_but_for_regions (const ConvolveProperties *a, const ConvolveProperties *b)
{
  for (guint i = 0; i < a->table->n; i++)
    if (a->table->rows[i].target < APPLY_TO && !have_one_value (a, b, &a->table->rows[i]))
      return FALSE;
  return TRUE;
}

const gchar *
convolve_properties_variant_name (const ConvolveProperties *properties)
{
  return convolve_enum_nick (properties->table->variant_type (), properties->variant);
}

gboolean
convolve_properties_want_device (const ConvolveProperties *properties)
{
  return properties->variant == CONVOLVE_VARIANT_AUTO
      || properties->table->variant_on_device (convolve_properties_variant_name (properties));
}

gboolean
convolve_properties_need_device (const ConvolveProperties *properties)
{
  return convolve_properties_want_device (properties)
      && (properties->variant != CONVOLVE_VARIANT_AUTO || properties->device_id >= 0);
}

gchar *
convolve_properties_explain_no_device (const ConvolveProperties *properties, const gchar *why)
{
  gboolean is_auto = properties->variant == CONVOLVE_VARIANT_AUTO;

  if (!convolve_properties_need_device (properties))
    return g_strdup (why);
  if (properties->device_id >= 0)
    return g_strdup_printf ("cuda-device-id: %d cannot be used: %s; %s", properties->device_id, why,
        is_auto ? "-1 takes any device, or the CPU" : "-1 takes any device, and with kernel-variant=auto the CPU");
  return g_strdup_printf ("kernel-variant: %s cannot run: %s; auto, cpu and cpu-reference need no device",
      convolve_properties_variant_name (properties), why);
}

/* --- GObject --- */

static const gchar *
make_blurb (const Row *row)
{
  g_autofree gchar *list = row->list ? row->list () : NULL, *blurb = NULL;

  if (!list)
    return row->blurb;
  blurb = g_strconcat (row->blurb, list, NULL);
  return g_intern_string (blurb);
}

static GParamSpec *
make_spec (const Row *row)
{
  const gchar *name = row->name, *nick = row->nick, *blurb = make_blurb (row);
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | row->flags;

  switch (row->kind) {
    case TEXT:
    case FILE_NAME:
      return g_param_spec_string (name, nick, blurb, row->text, flags);
    case BOXES:
    case ARRAY: /* of anything: a spec of the elements would make 0 of an int where a double is wanted */
      return gst_param_spec_array (name, nick, blurb, NULL, flags);
    case UINT:
      return g_param_spec_uint (name, nick, blurb, row->least, row->most, row->standard, flags);
    case INT:
      return g_param_spec_int (name, nick, blurb, row->least, row->most, row->standard, flags);
    case DOUBLE:
      return g_param_spec_double (name, nick, blurb, row->least, row->most, row->standard, flags);
    case BOOLEAN:
      return g_param_spec_boolean (name, nick, blurb, row->standard, flags);
    case TIME:
      return g_param_spec_uint64 (name, nick, blurb, 0, row->most > 0 ? (guint64) row->most : G_MAXUINT64,
          row->standard, flags);
    case ENUM:
      return g_param_spec_enum (name, nick, blurb, row->type (), row->standard, flags);
    case FLAGS:
      return g_param_spec_flags (name, nick, blurb, row->type (), row->standard, flags);
  }
  g_return_val_if_reached (NULL);
}

/* plugin/docs/scanner.c reads the note. */
void
convolve_properties_install_one (GObjectClass *klass, guint id, GParamSpec *spec, const gchar *since)
{
  g_param_spec_set_qdata (spec, g_quark_from_static_string ("since"), (gpointer) since);
  g_object_class_install_property (klass, id, spec);
}

void
convolve_properties_install (GObjectClass *klass, const ConvolvePropertyTable *table, guint first_id)
{
  for (guint i = 0; i < table->n; i++) {
    convolve_properties_install_one (klass, first_id + i, make_spec (&table->rows[i]), table->rows[i].since);
    if (table->rows[i].type)
      gst_type_mark_as_plugin_api (table->rows[i].type (), 0);
  }
}

/* The row of a property, or NULL. */
static const Row *
find_row (const ConvolvePropertyTable *table, guint index)
{
  return index < table->n ? &table->rows[index] : NULL;
}

/* A name makes a new file, so that the file is read again where the name is the same. */
static ConvolveKeptFile *
new_file (const ConvolveFileKind *kind, const gchar *location)
{
  return location && location[0] ? convolve_kept_file_new (kind, location) : NULL;
}

static void
settle_driven (ConvolveProperties *properties, const Row *row)
{
  if (row->driven == TO_ODD)
    VALUE (guint, properties, row) |= 1;
  if (row->driven == FROM_ZERO)
    VALUE (gdouble, properties, row) = MAX (VALUE (gdouble, properties, row), 0);
}

gboolean
convolve_properties_set (ConvolveProperties *properties, guint index, const GValue *value, gboolean driven)
{
  const Row *row = find_row (properties->table, index);

  if (!row)
    return FALSE;
  clear_value (properties, row);
  switch (row->kind) {
    case TEXT:
      VALUE (gchar *, properties, row) = g_value_dup_string (value);
      break;
    case ARRAY:
      VALUE (GValue *, properties, row) = convolve_array_new (value);
      break;
    case BOXES:
      g_free (VALUE (gchar *, properties, row));
      VALUE (gchar *, properties, row) = convolve_region_boxes_read (value);
      break;
    case FILE_NAME:
      VALUE (ConvolveKeptFile *, properties, row) = new_file (row->file, g_value_get_string (value));
      break;
    case UINT:
      VALUE (guint, properties, row) = g_value_get_uint (value);
      break;
    case INT:
      VALUE (gint, properties, row) = g_value_get_int (value);
      break;
    case DOUBLE:
      VALUE (gdouble, properties, row) = g_value_get_double (value);
      break;
    case BOOLEAN:
      VALUE (gboolean, properties, row) = g_value_get_boolean (value);
      break;
    case TIME:
      VALUE (guint64, properties, row) = g_value_get_uint64 (value);
      break;
    case ENUM:
      VALUE (gint, properties, row) = g_value_get_enum (value);
      break;
    case FLAGS:
      VALUE (guint, properties, row) = g_value_get_flags (value);
      break;
  }
  if (driven)
    settle_driven (properties, row);
  return TRUE;
}

gboolean
convolve_properties_get (const ConvolveProperties *properties, guint index, GValue *value)
{
  const Row *row = find_row (properties->table, index);

  if (!row)
    return FALSE;
  switch (row->kind) {
    case TEXT:
      g_value_set_string (value, VALUE (gchar *, properties, row));
      break;
    case ARRAY:
      if (VALUE (GValue *, properties, row))
        g_value_copy (VALUE (GValue *, properties, row), value);
      break;
    case BOXES:
      convolve_region_boxes_write (VALUE (gchar *, properties, row), value);
      break;
    case FILE_NAME:
      g_value_set_string (value, convolve_kept_file_location (VALUE (ConvolveKeptFile *, properties, row)));
      break;
    case UINT:
      g_value_set_uint (value, VALUE (guint, properties, row));
      break;
    case INT:
      g_value_set_int (value, VALUE (gint, properties, row));
      break;
    case DOUBLE:
      g_value_set_double (value, VALUE (gdouble, properties, row));
      break;
    case BOOLEAN:
      g_value_set_boolean (value, VALUE (gboolean, properties, row));
      break;
    case TIME:
      g_value_set_uint64 (value, VALUE (guint64, properties, row));
      break;
    case ENUM:
      g_value_set_enum (value, VALUE (gint, properties, row));
      break;
    case FLAGS:
      g_value_set_flags (value, VALUE (guint, properties, row));
      break;
  }
  return TRUE;
}
