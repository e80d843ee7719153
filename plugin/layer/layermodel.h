/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A convolution layer as the settings describe it, and the size of the output that it makes of a frame. A layer never
 * changes, and is reference counted. Its members may be read by any thread.
 */
#ifndef GST_CUDA_CONV_LAYER_MODEL_H
#define GST_CUDA_CONV_LAYER_MODEL_H

#include <gst/video/video.h>

#include "settings/layer_settings.h"
#include "files/weights.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *location;
  ConvolveWeights *file;  /* a g_atomic_rc_box, which layers of one file share */
  gfloat *weights, *bias; /* of the feature maps that are shown, in their order; bias may be NULL */
  ConvolveLayer layer;    /* points to weights and bias */
  gboolean same;          /* the padding is that of convolve_layer_pad_same(): resolve() sets it for a size */
  guint channels;         /* of the frames: 1 or 3 */
  guint shown;            /* number of feature maps that are shown */
  guint columns, rows;    /* tiles of the mosaic; 1 and 1 without a mosaic */
  gboolean mosaic;
} GstCudaConvLayerModel;

/*
 * Makes the layer that the settings describe. A layer before of the same file saves reading that file again; before may be
 * NULL. NULL with error in CONVOLVE_PROPS_ERROR, also where the settings name no file.
 */
GstCudaConvLayerModel *gst_cuda_conv_layer_model_new (const ConvolveLayerSettings *settings, ConvolveBoundary boundary,
    const GstCudaConvLayerModel *before, GError **error);
GstCudaConvLayerModel *gst_cuda_conv_layer_model_ref (GstCudaConvLayerModel *layer);
void gst_cuda_conv_layer_model_unref (GstCudaConvLayerModel *layer);

/*
 * Fills *resolved, which points into layer, with the padding for frames of this size, and gives the size of one feature
 * map. Errors: INVALID, with a text for the user.
 */
ConvolveStatus gst_cuda_conv_layer_model_resolve (const GstCudaConvLayerModel *layer, gint width, gint height,
    ConvolveLayer *resolved, gint *map_width, gint *map_height, ConvolveError *error);

/* The sides of a frame. */
typedef enum
{
  GST_CUDA_CONVOLVE_WIDTH,
  GST_CUDA_CONVOLVE_HEIGHT
} GstCudaConvolveSide;

/* The number of tiles of the mosaic along the side. The output is a multiple of that number. */
gint gst_cuda_conv_layer_model_tiles (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side);

/* The output of a side of so many pixels, in pixels up to G_MAXINT; 0 where the input is too small. */
gint gst_cuda_conv_layer_model_output (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side, gint input);

/*
 * Turns a position in the output into the position in frames of this size that it comes from: the middle of the pixels that
 * the filter, and the pooling window, see there, in whole pixels. Of a mosaic each tile is the whole picture. FALSE where such
 * frames give no output.
 */
gboolean gst_cuda_conv_layer_model_find_origin (const GstCudaConvLayerModel *layer, gint width, gint height, gdouble *x,
    gdouble *y);

/* The range of inputs, *low to *high, whose outputs are from least to most. FALSE where there is no such input. */
gboolean gst_cuda_conv_layer_model_input (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side, gint least,
    gint most, gint *low, gint *high);

G_END_DECLS

#endif
