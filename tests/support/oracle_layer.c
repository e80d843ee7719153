/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/oracle_layer.h"

#include <math.h>
#include <stdlib.h>

/* Walks from the edge to a position outside, one sample at a time; each turn counts as a step where the edge is met twice. */
static int
walk (OraclePadding padding, int position, int size)
{
  int at = position < 0 ? 0 : size - 1, direction = position < 0 ? -1 : 1;

  for (int left = position < 0 ? -position : position - (size - 1); left > 0; left--) {
    if (at + direction >= 0 && at + direction < size) {
      at += direction;
    } else if (padding == ORACLE_PAD_WRAP) {
      at = direction > 0 ? 0 : size - 1;
    } else {
      direction = -direction;
      if (padding == ORACLE_PAD_REFLECT_101 && size > 1)
        at += direction;
    }
  }
  return at;
}

/* The position in 0 .. size - 1 whose sample stands for the one at a position anywhere; -1 for a zero. */
static int
inside (OraclePadding padding, int position, int size)
{
  if (position >= 0 && position < size)
    return position;
  switch (padding) {
    case ORACLE_PAD_ZERO:
      return -1;
    case ORACLE_PAD_REPLICATE:
      return position < 0 ? 0 : size - 1;
    case ORACLE_PAD_REFLECT:
    case ORACLE_PAD_REFLECT_101:
    case ORACLE_PAD_WRAP:
      return walk (padding, position, size);
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
        int row = inside (layer->padding, y * layer->stride_y + j - layer->pad_top, layer->height);
        int column = inside (layer->padding, x * layer->stride_x + i - layer->pad_left, layer->width);
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
