/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The definition of a convolution layer, written down as plainly as it can be, in double and slow: the checks hold
 * every variant against it. It includes nothing of the project and shares neither code nor tables with it.
 */
#ifndef TESTS_SUPPORT_ORACLE_LAYER_H
#define TESTS_SUPPORT_ORACLE_LAYER_H

typedef enum
{
  ORACLE_PAD_ZERO,        /* 00|abc */
  ORACLE_PAD_REPLICATE,   /* aa|abc */
  ORACLE_PAD_REFLECT,     /* ba|abc */
  ORACLE_PAD_REFLECT_101, /* cb|abc */
  ORACLE_PAD_WRAP         /* bc|abc */
} OraclePadding;

typedef struct
{
  const double *input; /* [channels][height][width] */
  int channels, height, width;
  const float *weights; /* of one filter: [channels][kernel_height][kernel_width] */
  double bias;
  int kernel_height, kernel_width, stride_y, stride_x, pad_top, pad_left;
  OraclePadding padding;
  int activation; /* 0 none, 1 ReLU, 2 magnitude */
  int pool_height, pool_width, pool_stride_y, pool_stride_x;
} OracleLayer;

/* Output (y, x) of the filter; *magnitude is the largest |bias| + sum of |products| under the pooling window. */
double oracle_layer (const OracleLayer *layer, int y, int x, double *magnitude);

#endif
