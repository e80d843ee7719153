/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The enum types of the properties. The nick of a value is the name that users write. */
#ifndef CONVOLVE_ENUMS_H
#define CONVOLVE_ENUMS_H

#include <glib-object.h>

G_BEGIN_DECLS

/* Values are those of ConvolveBoundary. */
#define CONVOLVE_TYPE_BOUNDARY (convolve_boundary_get_type ())
GType convolve_boundary_get_type (void);
GType convolve_layer_boundary_get_type (void); /* without CONSTANT */

/* Values are those of ConvolveActivation. */
#define CONVOLVE_TYPE_ACTIVATION (convolve_activation_get_type ())
GType convolve_activation_get_type (void);

/* Values are those of the enums of region_settings.h, and of ConvolveShape. */
#define CONVOLVE_TYPE_APPLY_TO (convolve_apply_to_get_type ())
#define CONVOLVE_TYPE_REGION_SHAPE (convolve_region_shape_get_type ())
#define CONVOLVE_TYPE_REGION_EFFECT (convolve_region_effect_get_type ())
#define CONVOLVE_TYPE_REGION_FALLBACK (convolve_region_fallback_get_type ())
#define CONVOLVE_TYPE_REGION_SOURCES (convolve_region_sources_get_type ())
GType convolve_apply_to_get_type (void);
GType convolve_region_shape_get_type (void);
GType convolve_region_effect_get_type (void);
GType convolve_region_fallback_get_type (void);
GType convolve_region_sources_get_type (void); /* flags */

/* What samples stand for where they are convolved. */
typedef enum
{
  CONVOLVE_LIGHT_MODE_CODED,
  CONVOLVE_LIGHT_MODE_LINEAR,
  CONVOLVE_N_LIGHT_MODES
} ConvolveLightMode;

GType convolve_light_mode_get_type (void);

/* What becomes of alpha where a mask is taken. */
typedef enum
{
  CONVOLVE_ALPHA_MODE_WEIGH,
  CONVOLVE_ALPHA_MODE_COPY,
  CONVOLVE_ALPHA_MODE_CONVOLVE,
  CONVOLVE_N_ALPHA_MODES
} ConvolveAlphaMode;

GType convolve_alpha_mode_get_type (void);

/* The components of a picture, as flags. Gray is Y. */
typedef enum
{
  CONVOLVE_COMPONENT_Y = 1 << 0,
  CONVOLVE_COMPONENT_U = 1 << 1,
  CONVOLVE_COMPONENT_V = 1 << 2,
  CONVOLVE_COMPONENT_R = 1 << 3,
  CONVOLVE_COMPONENT_G = 1 << 4,
  CONVOLVE_COMPONENT_B = 1 << 5,
  CONVOLVE_COMPONENT_A = 1 << 6,
  CONVOLVE_COMPONENTS_DEFAULT = CONVOLVE_COMPONENT_A - 1 /* all but alpha */
} ConvolveComponents;

#define CONVOLVE_TYPE_COMPONENTS (convolve_components_get_type ())
GType convolve_components_get_type (void);

/* The nick of an enum's value, which is static; NULL where the type has no such value. */
const gchar *convolve_enum_nick (GType type, gint value);

/* The nicks of the flags as users write them, as in y+u, or 0; to be freed. */
gchar *convolve_flags_text (GType type, guint flags);

/* What happens to the fields of interlaced frames. */
typedef enum
{
  CONVOLVE_FIELD_MODE_AUTO,
  CONVOLVE_FIELD_MODE_INTERLACED,
  CONVOLVE_FIELD_MODE_DISABLED,
  CONVOLVE_N_FIELD_MODES
} ConvolveFieldMode;

#define CONVOLVE_TYPE_FIELD_MODE (convolve_field_mode_get_type ())
GType convolve_field_mode_get_type (void);

/* Values are CONVOLVE_VARIANT_AUTO, and convolve_variant_number() or convolve_layer_variant_number(). */
#define CONVOLVE_VARIANT_AUTO 0
GType convolve_variant_get_type (void);
GType convolve_layer_variant_get_type (void);

/* Whether a variant for masks, or for layers, needs a device; FALSE for other names. */
gboolean convolve_variant_is_on_device (const gchar *name);
gboolean convolve_layer_variant_is_on_device (const gchar *name);

G_END_DECLS

#endif
