/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the weights of a convolution layer from the file that location names. */
#ifndef CONVOLVE_WEIGHTS_H
#define CONVOLVE_WEIGHTS_H

#include "convolve.h"
#include "text/error.h"

G_BEGIN_DECLS

#define CONVOLVE_MAX_LAYER_FILE (256 << 20) /* bytes, of the file and of an array in it */
#define CONVOLVE_MAX_LAYER_FILTERS 4096

typedef struct
{
  guint filters, channels, height, width; /* height and width are those of each filter; channels are 1 or 3 */
  gfloat *weights;                        /* [filters][channels][height][width], finite */
  gfloat *bias;                           /* [filters], or NULL */
} ConvolveWeights;

/*
 * Reads a .npy file with the array of weights, or a .npz file with the arrays weight and bias; bias may be missing. The
 * content of the file, not its name, decides which of the two it is. On FALSE *weights is untouched, and error
 * (CONVOLVE_PROPS_ERROR_LAYER) names the file and what is wrong. Any thread.
 */
gboolean convolve_weights_load (const gchar *location, ConvolveWeights *weights, GError **error);
void convolve_weights_clear (ConvolveWeights *weights);

G_END_DECLS

#endif
