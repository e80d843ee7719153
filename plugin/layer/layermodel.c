/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/layermodel.h"

#include <math.h>
#include <string.h>

static void
clear_layer (gpointer data)
{
  GstCudaConvLayerModel *layer = data;

  g_free (layer->location);
  g_free (layer->weights);
  g_free (layer->bias);
  if (layer->file)
    g_atomic_rc_box_release_full (layer->file, (GDestroyNotify) convolve_weights_clear);
}

GstCudaConvLayerModel *
gst_cuda_conv_layer_model_ref (GstCudaConvLayerModel *layer)
{
  return g_atomic_rc_box_acquire (layer);
}

void
gst_cuda_conv_layer_model_unref (GstCudaConvLayerModel *layer)
{
  g_atomic_rc_box_release_full (layer, clear_layer);
}

static ConvolveWeights *
load_file (const gchar *location, GError **error)
{
  ConvolveWeights weights, *file;

  if (!convolve_weights_load (location, &weights, error))
    return NULL;
  file = g_atomic_rc_box_new (ConvolveWeights);
  *file = weights;
  return file;
}

static gboolean G_GNUC_PRINTF (2, 3) fail (GError **error, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (CONVOLVE_PROPS_ERROR, CONVOLVE_PROPS_ERROR_LAYER, format, arguments));
  va_end (arguments);
  return FALSE;
}

/* Copies the weights of the feature maps that are shown: the other maps are not computed. */
static gboolean
take_maps (GstCudaConvLayerModel *layer, const ConvolveLayerSettings *settings, GError **error)
{
  const ConvolveWeights *file = layer->file;
  gsize size = (gsize) file->channels * file->height * file->width;
  g_autoptr (GArray) maps = NULL;

  if (!convolve_layer_settings_channels (settings, file->filters, &maps, error))
    return FALSE;
  layer->shown = maps->len;
  layer->mosaic = settings->mosaic;
  layer->columns = layer->mosaic ? (guint) ceil (sqrt (layer->shown)) : 1;
  layer->rows = layer->mosaic ? (layer->shown + layer->columns - 1) / layer->columns : 1;
  if (!layer->mosaic && layer->shown != 1 && layer->shown != 3 && layer->shown != 4)
    return fail (error,
        "channels: %u feature maps make no GRAY8, RGB or RGBA frame; choose 1, 3 or 4 of %u, or "
        "set mosaic=true",
        layer->shown, file->filters);

  layer->weights = g_try_new (gfloat, layer->shown * size);
  layer->bias = file->bias ? g_try_new (gfloat, layer->shown) : NULL;
  if (!layer->weights || (file->bias && !layer->bias))
    return fail (error, "location: there is no memory for %u filters", layer->shown);
  for (guint i = 0; i < layer->shown; i++) {
    guint map = g_array_index (maps, guint, i);

    memcpy (layer->weights + i * size, file->weights + map * size, size * sizeof (gfloat));
    if (layer->bias)
      layer->bias[i] = file->bias[map];
  }
  return TRUE;
}

static gboolean
fill_layer (GstCudaConvLayerModel *model, const ConvolveLayerSettings *settings, ConvolveBoundary boundary,
    GError **error)
{
  const ConvolveWeights *file = model->file;

  if (!take_maps (model, settings, error))
    return FALSE;
  convolve_layer_init (&model->layer, model->shown, file->channels, file->height, file->width, model->weights);
  model->layer.type = CONVOLVE_LAYER_U8;
  model->layer.bias = model->bias;
  model->layer.boundary = boundary;
  return convolve_layer_settings_fill (settings, &model->layer, &model->same, error);
}

GstCudaConvLayerModel *
gst_cuda_conv_layer_model_new (const ConvolveLayerSettings *settings, ConvolveBoundary boundary,
    const GstCudaConvLayerModel *before, GError **error)
{
  GstCudaConvLayerModel *model;

  if (!settings->location || !settings->location[0]) {
    fail (error, "location: no file is set; the element needs a .npy or .npz file with the weights of a layer");
    return NULL;
  }
  model = g_atomic_rc_box_new0 (GstCudaConvLayerModel);
  model->location = g_strdup (settings->location);
  if (before && g_str_equal (before->location, model->location))
    model->file = g_atomic_rc_box_acquire (before->file);
  else
    model->file = load_file (model->location, error);
  if (!model->file || !fill_layer (model, settings, boundary, error))
    g_clear_pointer (&model, gst_cuda_conv_layer_model_unref);
  return model;
}

ConvolveStatus
gst_cuda_conv_layer_model_resolve (const GstCudaConvLayerModel *layer, gint width, gint height, ConvolveLayer *resolved,
    gint *map_width, gint *map_height, ConvolveError *error)
{
  ConvolveStatus status = CONVOLVE_OK;

  *resolved = layer->layer;
  if (layer->same)
    status = convolve_layer_pad_same (resolved, height, width, error);
  return status != CONVOLVE_OK ? status
                               : convolve_layer_output_size (resolved, height, width, map_height, map_width, error);
}

/* --- sizes --- */

typedef struct
{
  gint64 kernel, stride, padding, pool, pool_stride, tiles; /* padding is that of both ends together */
} Side;

static Side
get_side (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side)
{
  const ConvolveLayer *l = &layer->layer;

  if (side == GST_CUDA_CONVOLVE_WIDTH)
    return (Side){ l->kernel_width, l->stride_x, (gint64) l->pad_left + l->pad_right, l->pool_width, l->pool_stride_x,
      layer->columns };
  return (Side){ l->kernel_height, l->stride_y, (gint64) l->pad_top + l->pad_bottom, l->pool_height, l->pool_stride_y,
    layer->rows };
}

gint
gst_cuda_conv_layer_model_tiles (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side)
{
  return get_side (layer, side).tiles;
}

gint
gst_cuda_conv_layer_model_output (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side, gint input)
{
  Side s = get_side (layer, side);
  gint64 room = input + s.padding - s.kernel, sums;

  if (layer->same)
    sums = (input + s.stride - 1) / s.stride;
  else
    sums = room < 0 ? 0 : room / s.stride + 1;
  if (sums < s.pool)
    return 0;
  return s.tiles * MIN ((sums - s.pool) / s.pool_stride + 1, G_MAXINT / s.tiles);
}

gboolean
gst_cuda_conv_layer_model_input (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side, gint least, gint most,
    gint *low, gint *high)
{
  Side s = get_side (layer, side);
  gint64 first = MAX ((least + s.tiles - 1) / s.tiles, 1), last = most / s.tiles, from, to;

  if (first > last)
    return FALSE;
  first = (first - 1) * s.pool_stride + s.pool;
  last = last * s.pool_stride + s.pool - 1;
  if (layer->same) {
    from = (first - 1) * s.stride + 1;
    to = last * s.stride;
  } else {
    from = (first - 1) * s.stride + s.kernel - s.padding;
    to = last * s.stride - 1 + s.kernel - s.padding;
  }
  *low = CLAMP (from, 1, G_MAXINT);
  *high = CLAMP (to, 0, G_MAXINT);
  return from <= G_MAXINT && *low <= *high;
}

/*
 * map is the size of a tile. Neighbours in the output are `step` pixels of the input apart, and each sees `seen` pixels. Where
 * these are more than the step, the others lie on both sides.
 */
static gdouble
find_origin (Side s, gint map, gint padding, gdouble position)
{
  gint64 step = s.stride * s.pool_stride, seen = s.kernel + (s.pool - 1) * s.stride;
  gdouble tile = CLAMP (floor (position / map), 0, s.tiles - 1);

  return (position - tile * map) * step + MAX (seen - step, 0) / 2 - padding;
}

gboolean
gst_cuda_conv_layer_model_find_origin (const GstCudaConvLayerModel *layer, gint width, gint height, gdouble *x,
    gdouble *y)
{
  ConvolveLayer resolved;
  ConvolveError error;
  gint map_width, map_height;

  if (gst_cuda_conv_layer_model_resolve (layer, width, height, &resolved, &map_width, &map_height, &error)
      != CONVOLVE_OK)
    return FALSE;
  *x = find_origin (get_side (layer, GST_CUDA_CONVOLVE_WIDTH), map_width, resolved.pad_left, *x);
  *y = find_origin (get_side (layer, GST_CUDA_CONVOLVE_HEIGHT), map_height, resolved.pad_top, *y);
  return TRUE;
}
