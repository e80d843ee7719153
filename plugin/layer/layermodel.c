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

/* The channels of the frames, from the file and the number of groups. */
static gboolean
find_channels (GstCudaConvLayerModel *layer, guint groups, GError **error)
{
  const ConvolveWeights *file = layer->file;

  layer->channels = file->channels * groups;
  if (layer->channels != 1 && layer->channels != 3)
    return convolve_props_fail (error, CONVOLVE_PROPS_ERROR_LAYER,
        "groups: %u groups of %u channels are %u channels, and frames have 1 or 3", groups, file->channels,
        layer->channels);
  if (file->filters % groups != 0)
    return convolve_props_fail (error, CONVOLVE_PROPS_ERROR_LAYER,
        "groups: the file has %u filters, which %u groups cannot share evenly", file->filters, groups);
  return TRUE;
}

/*
 * Copies the weights of the feature maps that are shown: the other maps are not computed. A filter of a group gets weights of 0
 * for the channels of other groups, because the maps that are shown may be of any groups; there are three channels at most.
 */
static gboolean
take_maps (GstCudaConvLayerModel *layer, const ConvolveLayerSettings *settings, GError **error)
{
  const ConvolveWeights *file = layer->file;
  gsize from = (gsize) file->channels * file->height * file->width, to = from * settings->groups;
  g_autoptr (GArray) maps = NULL;

  if (!convolve_layer_settings_channels (settings, file->filters, &maps, error))
    return FALSE;
  layer->shown = maps->len;
  layer->mosaic = settings->mosaic;
  layer->columns = layer->mosaic ? (guint) ceil (sqrt (layer->shown)) : 1;
  layer->rows = layer->mosaic ? (layer->shown + layer->columns - 1) / layer->columns : 1;
  if (!layer->mosaic && layer->shown != 1 && layer->shown != 3 && layer->shown != 4)
    return convolve_props_fail (error, CONVOLVE_PROPS_ERROR_LAYER,
        "channels: %u feature maps make no GRAY8, RGB or RGBA frame; choose 1, 3 or 4 of %u, or "
        "set mosaic=true",
        layer->shown, file->filters);

  layer->weights = g_try_new0 (gfloat, layer->shown * to);
  layer->bias = file->bias ? g_try_new (gfloat, layer->shown) : NULL;
  if (!layer->weights || (file->bias && !layer->bias))
    return convolve_props_fail (error, CONVOLVE_PROPS_ERROR_LAYER, "location: there is no memory for %u filters",
        layer->shown);
  for (guint i = 0; i < layer->shown; i++) {
    guint map = g_array_index (maps, guint, i), group = map / (file->filters / settings->groups);

    memcpy (layer->weights + i * to + group * from, file->weights + map * from, from * sizeof (gfloat));
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

  if (!find_channels (model, settings->groups, error) || !take_maps (model, settings, error))
    return FALSE;
  convolve_layer_init (&model->layer, model->shown, model->channels, file->height, file->width, model->weights);
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
    convolve_props_fail (error, CONVOLVE_PROPS_ERROR_LAYER,
        "location: no file is set; the element needs a .npy or .npz file with the weights of a layer");
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

/* span is what a filter covers with its dilation; padding and pool_padding are those of both ends together. */
typedef struct
{
  gint64 span, stride, padding, pool, pool_stride, pool_before, pool_padding, tiles;
  gboolean pool_ceil;
} Side;

static Side
get_side (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side)
{
  const ConvolveLayer *l = &layer->layer;

  if (side == GST_CUDA_CONVOLVE_WIDTH)
    return (Side){ (l->kernel_width - 1) * (gint64) l->dilation_x + 1, l->stride_x, (gint64) l->pad_left + l->pad_right,
      l->pool_width, l->pool_stride_x, l->pool_pad_left, (gint64) l->pool_pad_left + l->pool_pad_right, layer->columns,
      l->pool_ceil };
  return (Side){ (l->kernel_height - 1) * (gint64) l->dilation_y + 1, l->stride_y, (gint64) l->pad_top + l->pad_bottom,
    l->pool_height, l->pool_stride_y, l->pool_pad_top, (gint64) l->pool_pad_top + l->pool_pad_bottom, layer->rows,
    l->pool_ceil };
}

gint
gst_cuda_conv_layer_model_tiles (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side)
{
  return get_side (layer, side).tiles;
}

/* As convolve_layer_output_size(), for sizes beyond those of the kernel library. */
static gint64
count_pooled (Side s, gint64 sums)
{
  gint64 room = sums + s.pool_padding - s.pool + (s.pool_ceil ? s.pool_stride - 1 : 0), n = room / s.pool_stride + 1;

  if (room < 0)
    return 0;
  return (n - 1) * s.pool_stride - s.pool_before >= sums ? n - 1 : n;
}

gint
gst_cuda_conv_layer_model_output (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side, gint input)
{
  Side s = get_side (layer, side);
  gint64 room = input + s.padding - s.span, sums;

  if (layer->same)
    sums = (input + s.stride - 1) / s.stride;
  else
    sums = room < 0 ? 0 : room / s.stride + 1;
  return sums < 1 ? 0 : s.tiles * MIN (count_pooled (s, sums), G_MAXINT / s.tiles);
}

/* The least input with an output of at least `least`; G_MAXINT + 1 where there is none. Outputs grow with inputs. */
static gint64
find_input (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side, gint64 least)
{
  gint64 low = 1, high = (gint64) G_MAXINT + 1;

  while (low < high) {
    gint64 middle = low + (high - low) / 2;

    if (gst_cuda_conv_layer_model_output (layer, side, middle) >= least)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

gboolean
gst_cuda_conv_layer_model_input (const GstCudaConvLayerModel *layer, GstCudaConvolveSide side, gint least, gint most,
    gint *low, gint *high)
{
  gint64 first = find_input (layer, side, MAX (least, 1)), behind = find_input (layer, side, (gint64) most + 1);

  if (first >= behind)
    return FALSE;
  *low = first;
  *high = behind - 1;
  return TRUE;
}

/*
 * map is the size of a tile. Neighbours in the output are `step` pixels of the input apart, and each sees `seen` pixels. Where
 * these are more than the step, the others lie on both sides.
 */
static gdouble
find_origin (Side s, gint map, gint padding, gdouble position)
{
  gint64 step = s.stride * s.pool_stride, seen = s.span + (s.pool - 1) * s.stride;
  gdouble tile = CLAMP (floor (position / map), 0, s.tiles - 1);

  return (position - tile * map) * step + MAX (seen - step, 0) / 2 - padding - s.pool_before * s.stride;
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
