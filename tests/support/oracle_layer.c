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
        int row = oracle_inside (layer->boundary, y * layer->stride_y + j * layer->dilation_y - layer->pad_top,
            layer->height);
        int column = oracle_inside (layer->boundary, x * layer->stride_x + i * layer->dilation_x - layer->pad_left,
            layer->width);
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

/* Whether sample n of the convolution exists: whether its whole window is in the padded image. */
static int
exists (int n, int size, int before, int after, int kernel, int stride, int dilation)
{
  long first = (long) n * stride, last = first + (long) (kernel - 1) * dilation;

  return n >= 0 && last < (long) size + before + after;
}

double
oracle_layer (const OracleLayer *layer, int y, int x, double *magnitude)
{
  double most = 0;
  int found = 0;

  *magnitude = 0;
  for (int j = 0; j < layer->pool_height; j++)
    for (int i = 0; i < layer->pool_width; i++) {
      int row = y * layer->pool_stride_y + j * layer->pool_dilation_y - layer->pool_pad_top;
      int column = x * layer->pool_stride_x + i * layer->pool_dilation_x - layer->pool_pad_left;
      double size, value;

      if (!exists (row, layer->height, layer->pad_top, layer->pad_bottom, layer->kernel_height, layer->stride_y,
              layer->dilation_y)
          || !exists (column, layer->width, layer->pad_left, layer->pad_right, layer->kernel_width, layer->stride_x,
              layer->dilation_x))
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
