/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that a user can set, as one value, and the way between that value and GObject's properties. The table in
 * property_rows.c has one row for each property. Not thread-safe: the caller locks.
 */
#ifndef CONVOLVE_PROPERTIES_H
#define CONVOLVE_PROPERTIES_H

#include "layer_settings.h"
#include "region_settings.h"

G_BEGIN_DECLS

#define CONVOLVE_MAX_ITERATIONS 100

/* One member for each property. README's property table says what they mean. */
typedef struct
{
  ConvolveSettings mask;         /* the mask properties */
  ConvolveLayerSettings layer;   /* the layer properties; a layer takes the mask's place where location names a file */
  ConvolveRegionSettings region; /* which parts of the picture are changed, and how */
  ConvolveBoundary boundary;
  guint boundary_color;   /* 0xAARRGGBB, for the boundary constant */
  gint variant;           /* a value of CONVOLVE_TYPE_VARIANT */
  gint device_id;         /* number of the CUDA device, or -1 for any */
  guint frames_in_flight; /* 1..CONVOLVE_MAX_FRAMES */
  guint n_threads;        /* on the CPU; 0 means one for each core */
  gint field_mode;        /* a value of ConvolveFieldMode */
  guint iterations;       /* 1..CONVOLVE_MAX_ITERATIONS, of the mask */
  guint components;       /* flags of ConvolveComponents; the others are copied */
} ConvolveProperties;

void convolve_properties_init (ConvolveProperties *properties);                         /* takes the defaults */
void convolve_properties_copy (ConvolveProperties *to, const ConvolveProperties *from); /* to is uninitialised */
void convolve_properties_clear (ConvolveProperties *properties);

/* Whether all members but region are equal. */
gboolean convolve_properties_are_equal_but_for_regions (const ConvolveProperties *a, const ConvolveProperties *b);

/*
 * Installs all properties on an element class, whose set_property and get_property must be set. The ids of the
 * properties are first_id, first_id + 1 and so on.
 */
void convolve_properties_install (GObjectClass *klass, guint first_id);

/*
 * Sets or gets the property with the id first_id + index. FALSE where there is no such property. driven tells that a
 * GstController passes the value: on its way between two numbers it meets some that a user would not write, so even
 * widths and heights become odd, and what is below 0 becomes 0 where -1 means automatic.
 */
gboolean convolve_properties_set (ConvolveProperties *properties, guint index, const GValue *value, gboolean driven);
gboolean convolve_properties_get (const ConvolveProperties *properties, guint index, GValue *value);

/* Whether the variant may run on a device, and whether the frames cannot be convolved without a device. */
gboolean convolve_properties_want_device (const ConvolveProperties *properties);
gboolean convolve_properties_need_device (const ConvolveProperties *properties);

/*
 * What to tell a user without a device, to be freed: why, which is the reason that no device was found, with the
 * property that asks for a device and what else the property can be. why alone where nothing asks for a device.
 */
gchar *convolve_properties_explain_no_device (const ConvolveProperties *properties, const gchar *why);

/*
 * Adds a sentence, to be freed, for each property that is not at its default and has no effect, and for an apply-to
 * whose regions can come from nowhere. layer_runs tells whether a layer convolves the frames, rather than the mask.
 */
void convolve_properties_add_idle (const ConvolveProperties *properties, gboolean layer_runs, GPtrArray *sentences);

/*
 * Adds a sentence, to be freed, for each fault of the settings of regions that leaves in sight what the user may think is
 * covered: regions that are not used, or can come from nowhere, texts that mean something else, and effects that can be
 * undone. No sentence has a number that a controller changes.
 */
void convolve_properties_add_warnings (const ConvolveProperties *properties, gboolean layer_runs, GPtrArray *sentences);

G_END_DECLS

#endif
