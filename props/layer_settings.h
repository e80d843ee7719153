/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of a convolution layer, and readers of their texts. Pure functions, for any thread and any locale. */
#ifndef CONVOLVE_LAYER_SETTINGS_H
#define CONVOLVE_LAYER_SETTINGS_H

#include "convolve_layer.h"
#include "mask_settings.h"

G_BEGIN_DECLS

/* One member for each layer property, as the user set it. README says what the properties mean. */
typedef struct
{
  gchar *location; /* owned; NULL or empty where the mask convolves the frames */
  guint stride;    /* 1..CONVOLVE_LAYER_MAX_STEP */
  gchar *padding;  /* owned; NULL reads as "same" */
  ConvolveActivation activation;
  guint pool_size;   /* 1..CONVOLVE_LAYER_MAX_STEP; 1 means no pooling */
  guint pool_stride; /* 0..CONVOLVE_LAYER_MAX_STEP; 0 means pool_size */
  gchar *channels;   /* owned; NULL or empty means all */
  gboolean mosaic;
} ConvolveLayerSettings;

/* Whether the settings name a layer. */
gboolean convolve_layer_settings_has_layer (const ConvolveLayerSettings *settings);

/*
 * The functions below return FALSE where a text cannot be read. error (CONVOLVE_PROPS_ERROR_LAYER) then names the
 * property and the token.
 */

#define CONVOLVE_PADDING_SAME -1 /* the output has ceil (size / stride) pixels */

/* Reads padding: *pixels is a number for each side, or CONVOLVE_PADDING_SAME. */
gboolean convolve_layer_settings_padding (const ConvolveLayerSettings *settings, gint *pixels, GError **error);

/*
 * Reads layer-channels: numbers below filters and ranges of them, split by commas or white space, as in "0,5,8-11". A
 * number may come more than once. *maps is an array of guint in the order of the text, to be unreferenced.
 */
gboolean convolve_layer_settings_channels (const ConvolveLayerSettings *settings, guint filters, GArray **maps,
    GError **error);

G_END_DECLS

#endif
