/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/oracle_layer.h"

#include <math.h>
#include <stdlib.h>

static double
activate (OracleActivation activation, double value)
{
  switch (activation) {
    case ORACLE_LINEAR:
      return value;
    case ORACLE_RELU:
      return value < 0 ? 0 : value;
    case ORACLE_MAGNITUDE:
      return fabs (value);
  }
  abort ();
}

static double
window_sum (const OracleLayer *layer, int y, int x, double *magnitude)
{
  double sum = layer->bias;

  *magnitude = fabs (layer->bias);
  for (int c = 0; c < layer->channels; c++)
    for (int j = 0; j < layer->kernel_height; j++)
      for (int i = 0; i < layer->kernel_width; i++) {
        int row = oracle_inside (layer->boundary,
            y * layer->stride_y + j * (layer->more_dilation_y + 1) - layer->pad_top, layer->height);
        int column = oracle_inside (layer->boundary,
            x * layer->stride_x + i * (layer->more_dilation_x + 1) - layer->pad_left, layer->width);
        double product;

        if (row < 0 || column < 0)
          continue;
        product = layer->input[((long) c * layer->height + row) * layer->width + column]
            * layer->weights[((long) c * layer->kernel_height + j) * layer->kernel_width + i];
        sum += product;
        *magnitude += fabs (product);
      }
  return sum;
}

double
oracle_layer (const OracleLayer *layer, int y, int x, double *magnitude)
{
  double most = 0;
  int found = 0;

  *magnitude = 0;
  for (int j = 0; j < layer->pool_height; j++)
    for (int i = 0; i < layer->pool_width; i++) {
      int row = y * layer->pool_stride_y + j * (layer->more_pool_dilation_y + 1) - layer->pool_pad_top;
      int column = x * layer->pool_stride_x + i * (layer->more_pool_dilation_x + 1) - layer->pool_pad_left;
      double size, value;

      if (row < 0 || (layer->conv_height && row >= layer->conv_height) || column < 0
          || (layer->conv_width && column >= layer->conv_width))
        continue;
      value = activate (layer->activation, window_sum (layer, row, column, &size));
      if (!found || value > most)
        most = value;
      if (size > *magnitude)
        *magnitude = size;
      found = 1;
    }
  if (!found)
    abort ();
  return most;
}
