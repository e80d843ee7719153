/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of a convolution layer, and readers of their texts. Pure functions, for any thread and any locale. */
#ifndef CONVOLVE_LAYER_SETTINGS_H
#define CONVOLVE_LAYER_SETTINGS_H

#include "convolve_layer.h"
#include "settings/mask_settings.h"

G_BEGIN_DECLS

/* One member for each property of cudaconvlayer, as the user set it. plugin/properties.md says what the properties mean. */
typedef struct
{
  gchar *location; /* owned, as all texts; NULL or empty where there is none */
  gchar *stride;   /* NULL reads as "1" */
  gchar *padding;  /* NULL reads as "same" */
  gchar *dilation; /* NULL reads as "1" */
  guint groups;    /* 1 or more */
  ConvolveActivation activation;
  gchar *pool_size;    /* NULL reads as "1", no pooling */
  gchar *pool_stride;  /* NULL or empty reads as pool_size */
  gchar *pool_padding; /* NULL reads as "0" */
  gboolean pool_ceil;
  gchar *channels; /* NULL or empty means all */
  gboolean mosaic;
  gdouble divisor, bias; /* a value is shown as value / divisor + bias, where 0 is black and 1 is white */
} ConvolveLayerSettings;

/*
 * Fills in what the settings say of a layer whose weights are there: strides, padding, dilation, activation, pooling and the
 * scale of what is shown. *same tells that the padding is that of convolve_layer_pad_same() for each size. FALSE where a text cannot
 * be read, or a number is not one to scale by; error (CONVOLVE_PROPS_ERROR_LAYER) names the property and the token.
 */
gboolean convolve_layer_settings_fill (const ConvolveLayerSettings *settings, ConvolveLayer *layer, gboolean *same,
    GError **error);

/*
 * Reads channels: numbers below filters and ranges of them, split by commas or white space, as in "0,5,8-11". A number
 * may come more than once. *maps is an array of guint in the order of the text, to be unreferenced. FALSE with error
 * (CONVOLVE_PROPS_ERROR_LAYER) where the text cannot be read.
 */
gboolean convolve_layer_settings_channels (const ConvolveLayerSettings *settings, guint filters, GArray **maps,
    GError **error);

G_END_DECLS

#endif
