/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of cudaconvlayer. */
#include "properties/property_rows.h"

static const Row rows[] = {
  { "location", "Location", "1.0", TEXT_AT (layer.location), .flags = PLAYING,
      .blurb =
          "File with the weights of the convolution layer: a .npy file of the shape (filters, channels, height, "
          "width), or a .npz file with the arrays weight and bias; 1 channel takes GRAY8 frames, 3 channels take RGB" },
  { "groups", "Groups", "1.0", UINT_AT (layer.groups), .flags = PLAYING, .least = 1, .most = 3, .standard = 1,
      .blurb = "Number of groups of channels, each with filters of its own: 3 for a file with 1 channel and RGB frames "
               "is a depthwise layer" },
  { "stride", "Stride", "1.0", TEXT_AT (layer.stride), .flags = PLAYING, .text = "1",
      .blurb =
          "Distance between neighbouring positions of the filters in pixels: one number, or down,across as in 2,1" },
  { "padding", "Padding", "1.0", TEXT_AT (layer.padding), .flags = PLAYING, .text = "same",
      .blurb =
          "Pixels around the picture, filled as boundary says: same (the output has the picture's size divided by "
          "stride, rounded up), valid (none), one number, down,across, or top,left,bottom,right; each up to 65536" },
  { "dilation", "Dilation", "1.0", TEXT_AT (layer.dilation), .flags = PLAYING, .text = "1",
      .blurb = "Distance between neighbouring weights of the filters in pixels: one number, or down,across" },
  { "activation", "Activation", "1.0", ENUM_AT (layer.activation, convolve_activation_get_type), .flags = PLAYING,
      .standard = CONVOLVE_ACTIVATION_NONE, .blurb = "Function that each sum goes through" },
  { "pool-size", "Pool size", "1.0", TEXT_AT (layer.pool_size), .flags = PLAYING, .text = "1",
      .blurb =
          "Window of max pooling, in values after the activation: one number for a square, or height,width (1 = no "
          "pooling)" },
  { "pool-stride", "Pool stride", "1.0", TEXT_AT (layer.pool_stride), .flags = PLAYING,
      .blurb = "Distance between neighbouring pooling windows, in values: one number, or down,across (NULL or empty = "
               "pool-size)" },
  { "pool-padding", "Pool padding", "1.0", TEXT_AT (layer.pool_padding), .flags = PLAYING, .text = "0",
      .blurb = "Values around those that are pooled, which no maximum takes: one number, down,across, or "
               "top,left,bottom,right; each less than pool-size" },
  { "pool-ceil", "Pool ceil", "1.0", BOOLEAN_AT (layer.pool_ceil), .flags = PLAYING,
      .blurb = "Let the last pooling window in a row or column have fewer values, so that all values are pooled" },
  { "channels", "Channels", "1.0", TEXT_AT (layer.channels), .flags = PLAYING,
      .blurb = "Feature maps to show, counted from 0, as in 0,5,8-11: 1 map makes GRAY8, 3 make RGB, 4 make RGBA, and "
               "any number makes a mosaic (NULL or empty = all)" },
  { "mosaic", "Mosaic", "1.0", BOOLEAN_AT (layer.mosaic), .flags = PLAYING,
      .blurb = "Show the feature maps as tiles in rows and columns of one GRAY8 frame" },
  { "divisor", "Divisor", "1.0", DOUBLE_AT (layer.divisor), .flags = CONTROLLABLE, .least = -G_MAXDOUBLE,
      .most = G_MAXDOUBLE, .standard = 1,
      .blurb =
          "Number in what is shown, which is value / divisor + bias, where 0 is black and 1 is white. Nothing can be "
          "divided by 0, so a controller should not pass through 0" },
  { "bias", "Bias", "1.0", DOUBLE_AT (layer.bias), .flags = CONTROLLABLE, .least = -1, .most = 1,
      .blurb = "Fraction of the range from black to white that is added to each value after the division (0.5 shows 0 "
               "as middle grey)" },
  { "boundary", "Boundary", "1.0", ENUM_AT (boundary, convolve_layer_boundary_get_type), .flags = PLAYING,
      .standard = CONVOLVE_BOUNDARY_REPLICATE,
      .blurb =
          "What the padding has, shown for the left end of a row abc as outside|inside; most networks expect zero" },
  VARIANT_ROW ("layer", "1.0", convolve_layer_variant_get_type),
  DEVICE_ROW ("1.0"),
  FLIGHTS_ROW ("1.0"),
  THREADS_ROW ("1.0"),
};

const ConvolvePropertyTable convolve_layer_properties = { rows, G_N_ELEMENTS (rows), convolve_layer_variant_get_type,
  convolve_layer_variant_is_on_device };

G_STATIC_ASSERT (sizeof (ConvolveBoundary) == sizeof (gint) && sizeof (ConvolveActivation) == sizeof (gint));
G_STATIC_ASSERT (CONVOLVE_LAYER_MAX_PADDING == 65536); /* stands in the blurb of padding */
