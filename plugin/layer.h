/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A convolution layer as the settings describe it, and what it makes of the size of frames. Immutable and reference
 * counted.
 */
#ifndef GST_CUDA_CONVOLVE_LAYER_H
#define GST_CUDA_CONVOLVE_LAYER_H

#include <gst/video/video.h>

#include "layer_settings.h"
#include "weights.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *location;
  ConvolveWeights *file;  /* an atomic reference-counted box: layers of one file share it */
  gfloat *weights, *bias; /* of the feature maps that are shown, in their order; bias may be NULL */
  ConvolveLayer layer;    /* points to them; its padding is to be set for a size */
  gint padding;           /* pixels, or CONVOLVE_PADDING_SAME */
  guint shown;            /* feature maps */
  guint columns, rows;    /* of a mosaic; 1 and 1 where there is none */
  gboolean mosaic;
} GstCudaConvolveLayer;

/*
 * Makes the layer that the settings describe, which name one; before may be NULL, and saves reading its file once more.
 * divisor and bias are those of the mask, and act on what is shown. NULL with error in CONVOLVE_PROPS_ERROR.
 */
GstCudaConvolveLayer *gst_cuda_convolve_layer_new (const ConvolveLayerSettings *settings, const ConvolveSettings *mask,
    ConvolveBoundary boundary, const GstCudaConvolveLayer *before, GError **error);
GstCudaConvolveLayer *gst_cuda_convolve_layer_ref (GstCudaConvolveLayer *layer);
void gst_cuda_convolve_layer_unref (GstCudaConvolveLayer *layer);

/*
 * The layer for frames of this size, with its padding, and the size of one feature map; it points into layer. Errors:
 * INVALID, with a text for the user.
 */
ConvolveStatus gst_cuda_convolve_layer_resolve (const GstCudaConvolveLayer *layer, gint width, gint height,
    ConvolveLayer *resolved, gint *map_width, gint *map_height, ConvolveError *error);

/* The sides of a frame. */
typedef enum
{
  GST_CUDA_CONVOLVE_WIDTH,
  GST_CUDA_CONVOLVE_HEIGHT
} GstCudaConvolveSide;

/* How many tiles of a mosaic there are along the side: what an output is a multiple of. */
gint gst_cuda_convolve_layer_tiles (const GstCudaConvolveLayer *layer, GstCudaConvolveSide side);

/* The output that a side of so many pixels gives, or 0 where it is too small to give one; up to G_MAXINT. */
gint gst_cuda_convolve_layer_output (const GstCudaConvolveLayer *layer, GstCudaConvolveSide side, gint input);

/* The inputs *low to *high that give outputs from least to most; FALSE where none does. */
gboolean gst_cuda_convolve_layer_input (const GstCudaConvolveLayer *layer, GstCudaConvolveSide side, gint least,
    gint most, gint *low, gint *high);

G_END_DECLS

#endif
