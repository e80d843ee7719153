/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that a user can set, as one value, and the way between that value and GObject's properties. The tables in
 * mask_rows.c and layer_rows.c have one row for each property. Not thread-safe: the caller locks.
 */
#ifndef CONVOLVE_PROPERTIES_H
#define CONVOLVE_PROPERTIES_H

#include "settings/layer_settings.h"
#include "boxes/region_settings.h"

G_BEGIN_DECLS

#define CONVOLVE_MAX_ITERATIONS 100

/* The properties of an element. */
typedef struct _ConvolvePropertyTable ConvolvePropertyTable;
extern const ConvolvePropertyTable convolve_mask_properties;  /* of cudaconvolve */
extern const ConvolvePropertyTable convolve_layer_properties; /* of cudaconvlayer */

/*
 * One member for each property of an element's table; the others are 0. plugin/properties.md says what they mean. Reference
 * counted, for any thread. A value that has more than one owner is never changed.
 */
typedef struct
{
  const ConvolvePropertyTable *table;
  ConvolveSettings mask;         /* the mask properties */
  ConvolveLayerSettings layer;   /* the layer properties */
  ConvolveRegionSettings region; /* which parts of the picture are changed, and how */
  ConvolveBoundary boundary;
  guint boundary_color;   /* 0xAARRGGBB, for the boundary constant */
  gint variant;           /* CONVOLVE_VARIANT_AUTO or a variant's number */
  gint device_id;         /* number of the CUDA device, or -1 for any */
  guint frames_in_flight; /* 1..CONVOLVE_MAX_FRAMES */
  guint n_threads;        /* of the CPU; 0 means one for each core */
  gint field_mode;        /* a value of ConvolveFieldMode */
  guint iterations;       /* 1..CONVOLVE_MAX_ITERATIONS, of the mask */
  gint alpha;             /* a value of ConvolveAlphaMode */
  gint light;             /* a value of ConvolveLightMode */
  guint components;       /* flags of ConvolveComponents; the others are copied */
  gchar *region_log;      /* owned; name of the file for the record, NULL or empty for none */
} ConvolveProperties;

ConvolveProperties *convolve_properties_new (const ConvolvePropertyTable *table); /* has the defaults */
ConvolveProperties *convolve_properties_copy (const ConvolveProperties *from);    /* with one owner */
ConvolveProperties *convolve_properties_ref (ConvolveProperties *properties);
void convolve_properties_unref (ConvolveProperties *properties);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ConvolveProperties, convolve_properties_unref)

/* Puts the mask, or the settings of regions, of another value in the place of those in properties. */
void convolve_properties_take_mask (ConvolveProperties *properties, const ConvolveProperties *from);
void convolve_properties_take_regions (ConvolveProperties *properties, const ConvolveProperties *from);

/* The names of properties that elements read at their start and of which both have other values, with "and" between; or NULL. */
gchar *convolve_properties_list_late (const ConvolveProperties *a, const ConvolveProperties *b);

/* Whether all members but region are equal. */
gboolean convolve_properties_are_equal_but_for_regions (const ConvolveProperties *a, const ConvolveProperties *b);

/*
 * Installs all properties of the table on an element class, whose set_property and get_property must be set. The ids of
 * the properties are first_id, first_id + 1 and so on.
 */
void convolve_properties_install (GObjectClass *klass, const ConvolvePropertyTable *table, guint first_id);

/* Installs a property of no table, and notes the version of this project that has it, for the documentation. */
void convolve_properties_install_one (GObjectClass *klass, guint id, GParamSpec *spec, const gchar *since);

/*
 * Sets or gets the property with the id first_id + index. FALSE where there is no such property. driven tells that a
 * GstController passes the value: on its way between two numbers it meets some that a user would not write, so even
 * widths and heights become odd, and what is below 0 becomes 0 where -1 means automatic.
 */
gboolean convolve_properties_set (ConvolveProperties *properties, guint index, const GValue *value, gboolean driven);
gboolean convolve_properties_get (const ConvolveProperties *properties, guint index, GValue *value);

/* The value of kernel-variant as the user writes it, as in "auto"; static. */
const gchar *convolve_properties_variant_name (const ConvolveProperties *properties);

/* Whether the variant may run on a device, and whether the frames cannot be convolved without a device. */
gboolean convolve_properties_want_device (const ConvolveProperties *properties);
gboolean convolve_properties_need_device (const ConvolveProperties *properties);

/*
 * What to tell a user without a device, to be freed: why, which is the reason that no device was found, with the
 * property that asks for a device and what else the property can be. why alone where nothing asks for a device.
 */
gchar *convolve_properties_explain_no_device (const ConvolveProperties *properties, const gchar *why);

/*
 * Adds a sentence, to be freed, for each property of a mask that is not at its default and has no effect, and for an
 * apply-to whose regions can come from nowhere.
 */
void convolve_properties_add_idle (const ConvolveProperties *properties, GPtrArray *sentences);

/*
 * Adds a sentence, to be freed, for each fault of the settings of regions that leaves in sight what the user may think is
 * covered: regions that are not used, or can come from nowhere, texts that mean something else, and effects that can be
 * undone. No sentence has a number that a controller changes.
 */
void convolve_properties_add_warnings (const ConvolveProperties *properties, GPtrArray *sentences);

G_END_DECLS

#endif
