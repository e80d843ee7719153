/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The weights of a convolution layer, read from the file that layer-location names. */
#ifndef CONVOLVE_WEIGHTS_H
#define CONVOLVE_WEIGHTS_H

#include "props.h"

G_BEGIN_DECLS

#define CONVOLVE_MAX_LAYER_FILE (256 << 20) /* bytes, of the file and of an array in it */
#define CONVOLVE_MAX_LAYER_FILTERS 4096

typedef struct
{
  guint filters, channels, height, width; /* of all filters; channels are 1 or 3 */
  gfloat *weights;                        /* [filters][channels][height][width], finite */
  gfloat *bias;                           /* [filters], or NULL */
} ConvolveWeights;

/*
 * Reads a .npy file, whose array is the weights, or a .npz file, whose arrays weight and bias are; the file's content
 * decides which. bias may be missing. On FALSE *weights is untouched and error (CONVOLVE_PROPS_ERROR_LAYER)
 * names the file and what is wrong with it. Any thread.
 */
gboolean convolve_weights_load (const gchar *location, ConvolveWeights *weights, GError **error);
void convolve_weights_clear (ConvolveWeights *weights);

G_END_DECLS

#endif
