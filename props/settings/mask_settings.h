/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mask properties as one value. */
#ifndef CONVOLVE_MASK_SETTINGS_H
#define CONVOLVE_MASK_SETTINGS_H

#include "convolve.h"
#include "text/error.h"

G_BEGIN_DECLS

/* One member for each mask property, as the user set it. plugin/properties.md says what the properties mean. */
typedef struct
{
  gchar *mask;                    /* owned; NULL reads as CONVOLVE_DEFAULT_MASK */
  GValue *weights;                /* shared: see array.h; NULL where there are none */
  struct _ConvolveKeptFile *file; /* of mask-location, shared: see mask_file.h; NULL where there is none */
  gchar *mask_x, *mask_y;         /* owned; NULL or empty where they are not set */
  guint mask_width, mask_height;  /* 0, or odd up to CONVOLVE_MAX_SIDE */
  gdouble sigma;                  /* luma pixels, 0..CONVOLVE_MAX_SIGMA; -1 means from the width */
  gdouble divisor;                /* finite; 0 means the sum of the weights, or 1 where that sum is 0 */
  gint anchor_x, anchor_y;        /* index of the weight that lies on the pixel, or -1 for the middle */
  gboolean flip;
  gboolean absolute; /* the magnitude of the sum, before bias and offset are added */
  gdouble mix;       /* 0..1; 1 where the values of the mask are combined */
  gdouble bias;      /* -1..1 of the range from black to white; the same holds for bias plus preset's offset */
} ConvolveSettings;

#define CONVOLVE_DEFAULT_MASK "gaussian"
#define CONVOLVE_MAX_SIGMA 1000.0 /* luma pixels */

void convolve_settings_init (ConvolveSettings *settings);                         /* takes the defaults */
void convolve_settings_copy (ConvolveSettings *to, const ConvolveSettings *from); /* to is uninitialised */
void convolve_settings_clear (ConvolveSettings *settings);

G_END_DECLS

#endif
