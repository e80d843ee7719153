/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/oracle_layer.h"

#include <math.h>

/* The position in 0 .. size - 1 that stands for one outside, found one step at a time from the edge; -1 for none. */
static int
walk (OraclePadding padding, int position, int size)
{
  int outwards = position < 0 ? -1 : 1, at = position < 0 ? 0 : size - 1, step = outwards;
  int left = position < 0 ? -position : position - (size - 1);

  if (position >= 0 && position < size)
    return position;
  if (padding == ORACLE_PAD_ZERO)
    return -1;
  while (left-- > 0) {
    if (padding == ORACLE_PAD_REPLICATE)
      continue;
    if (at + step >= 0 && at + step < size) {
      at += step;
    } else if (padding == ORACLE_PAD_WRAP) {
      at = step > 0 ? 0 : size - 1;
    } else {
      step = -step; /* the edge again, or where the edge is met once its neighbour */
      if (padding == ORACLE_PAD_REFLECT_101 && size > 1)
        at += step;
    }
  }
  return at;
}

static double
window_sum (const OracleLayer *layer, int y, int x, double *magnitude)
{
  double sum = layer->bias;

  *magnitude = fabs (layer->bias);
  for (int c = 0; c < layer->channels; c++)
    for (int j = 0; j < layer->kernel_height; j++)
      for (int i = 0; i < layer->kernel_width; i++) {
        int row = walk (layer->padding, y * layer->stride_y + j - layer->pad_top, layer->height);
        int column = walk (layer->padding, x * layer->stride_x + i - layer->pad_left, layer->width);
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

  *magnitude = 0;
  for (int j = 0; j < layer->pool_height; j++)
    for (int i = 0; i < layer->pool_width; i++) {
      double size, value = window_sum (layer, y * layer->pool_stride_y + j, x * layer->pool_stride_x + i, &size);

      if (layer->activation == 1 && value < 0)
        value = 0;
      if (layer->activation == 2 && value < 0)
        value = -value;
      if ((j == 0 && i == 0) || value > most)
        most = value;
      if (size > *magnitude)
        *magnitude = size;
    }
  return most;
}
