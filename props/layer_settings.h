/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of a convolution layer, and what their texts mean. Pure functions; any thread, any locale. */
#ifndef CONVOLVE_LAYER_SETTINGS_H
#define CONVOLVE_LAYER_SETTINGS_H

#include "convolve_layer.h"
#include "props.h"

G_BEGIN_DECLS

/* The layer properties as they stand, one value for each. README's property table says what they mean. */
typedef struct
{
  gchar *location; /* owned; NULL or empty: no layer, the mask is what counts */
  guint stride;    /* 1..CONVOLVE_LAYER_MAX_STEP */
  gchar *padding;  /* owned; NULL reads as "same" */
  ConvolveActivation activation;
  guint pool_size;   /* 1..CONVOLVE_LAYER_MAX_STEP; 1: no pooling */
  guint pool_stride; /* 0..CONVOLVE_LAYER_MAX_STEP; 0: as pool_size */
  gchar *channels;   /* owned; NULL or empty: all */
  gboolean mosaic;
} ConvolveLayerSettings;

gboolean convolve_layer_settings_has_layer (const ConvolveLayerSettings *settings);

/*
 * The functions below return FALSE with error (CONVOLVE_PROPS_ERROR_LAYER), which names the property and the token,
 * where a text cannot be read.
 */

#define CONVOLVE_PADDING_SAME -1 /* as much as keeps the size, or ceil (size / stride) of it */

/* Pixels on each side, or CONVOLVE_PADDING_SAME. */
gboolean convolve_layer_settings_padding (const ConvolveLayerSettings *settings, gint *pixels, GError **error);

/*
 * The feature maps to show of as many as the layer has, as an array of guint to be unreferenced: numbers from 0 and
 * ranges, by commas or white space, as in "0,5,8-11", in any order and more than once each.
 */
gboolean convolve_layer_settings_channels (const ConvolveLayerSettings *settings, guint filters, GArray **maps,
    GError **error);

G_END_DECLS

#endif
