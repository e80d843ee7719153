/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mask_settings.h"

/* The macro turns the name into a string, so the name must stay without spaces. */
/* clang-format off */
G_DEFINE_QUARK (convolve-props-error-quark, convolve_props_error)
/* clang-format on */

void
convolve_settings_init (ConvolveSettings *settings)
{
  *settings = (ConvolveSettings){ .mask = g_strdup (CONVOLVE_DEFAULT_MASK) };
}

void
convolve_settings_copy (ConvolveSettings *to, const ConvolveSettings *from)
{
  *to = *from;
  to->mask = g_strdup (from->mask);
}

void
convolve_settings_clear (ConvolveSettings *settings)
{
  g_clear_pointer (&settings->mask, g_free);
}
