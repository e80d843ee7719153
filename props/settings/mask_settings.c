/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "settings/mask_settings.h"

#include "text/array.h"
#include "files/kept_file.h"

void
convolve_settings_init (ConvolveSettings *settings)
{
  *settings = (ConvolveSettings){ .mask = g_strdup (CONVOLVE_DEFAULT_MASK),
    .sigma = -1,
    .anchor_x = -1,
    .anchor_y = -1,
    .mix = 1 };
}

void
convolve_settings_copy (ConvolveSettings *to, const ConvolveSettings *from)
{
  *to = *from;
  to->mask = g_strdup (from->mask);
  to->weights = from->weights ? g_atomic_rc_box_acquire (from->weights) : NULL;
  to->file = from->file ? convolve_kept_file_ref (from->file) : NULL;
  to->mask_x = g_strdup (from->mask_x);
  to->mask_y = g_strdup (from->mask_y);
}

void
convolve_settings_clear (ConvolveSettings *settings)
{
  g_clear_pointer (&settings->mask, g_free);
  g_clear_pointer (&settings->weights, convolve_array_unref);
  g_clear_pointer (&settings->file, convolve_kept_file_unref);
  g_clear_pointer (&settings->mask_x, g_free);
  g_clear_pointer (&settings->mask_y, g_free);
}
