/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "masks/masks.h"

#include "masks/source.h"

/* Only presets and pictures, which are files, have sizes in luma pixels. */
void
convolve_masks_init (ConvolveMasks *masks, const ConvolveSettings *settings)
{
  ConvolveSource source;

  *masks = (ConvolveMasks){ .settings = settings };
  masks->one_for_all = convolve_source_find (settings, &source, NULL) && source != CONVOLVE_SOURCE_PRESET
      && source != CONVOLVE_SOURCE_FILE;
}

void
convolve_masks_clear (ConvolveMasks *masks)
{
  for (guint i = 0; i < masks->n; i++)
    convolve_mask_clear (&masks->made[i].mask);
}

const ConvolveMask *
convolve_masks_get (ConvolveMasks *masks, guint x_step, guint y_step, GError **error)
{
  for (guint i = 0; i < masks->n; i++)
    if (masks->one_for_all || (masks->made[i].x_step == x_step && masks->made[i].y_step == y_step))
      return &masks->made[i].mask;
  g_return_val_if_fail (masks->n < CONVOLVE_MAX_MASKS, NULL);
  if (!convolve_settings_make_mask (masks->settings, x_step, y_step, &masks->made[masks->n].mask, error))
    return NULL;
  masks->made[masks->n].x_step = x_step;
  masks->made[masks->n].y_step = y_step;
  return &masks->made[masks->n++].mask;
}
