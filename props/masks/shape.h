/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Grey values of a picture as a mask of a size, for any plane. */
#ifndef CONVOLVE_SHAPE_H
#define CONVOLVE_SHAPE_H

#include "settings/mask_settings.h"
#include "text/grid.h"

/*
 * Makes the mask of a picture for a plane whose samples lie x_step and y_step luma pixels apart.
 *
 * The picture has mask-width by mask-height luma pixels. One that is 0 follows from the other and from the picture's sides, as the
 * nearest odd number; where both are 0, a pixel of the picture is a luma pixel. The picture's middle lies on the pixel, or
 * the middle of the weight that anchor-x and anchor-y name. A weight is the sum of the grey values under its sample; a pixel
 * of the picture that lies under several samples is shared by area. So the sum of the weights is the same in all planes.
 *
 * divisor is 1 and offset 0. FALSE with error, and *mask is untouched; messages about the size begin with name.
 */
gboolean convolve_shape_make (const ConvolveGrid *picture, const gchar *name, const ConvolveSettings *settings,
    guint x_step, guint y_step, ConvolveMask *mask, GError **error);

#endif
