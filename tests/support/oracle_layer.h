/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The definition of a convolution layer in double, as plain as possible and slow. The checks compare every variant
 * with this oracle, which includes nothing of the project and shares neither code nor tables with the kernels.
 */
#ifndef TESTS_SUPPORT_ORACLE_LAYER_H
#define TESTS_SUPPORT_ORACLE_LAYER_H

#include "support/oracle_boundary.h"

/* What is done to each output before pooling. */
typedef enum
{
  ORACLE_LINEAR,   /* nothing */
  ORACLE_RELU,     /* negative values become 0 */
  ORACLE_MAGNITUDE /* negative values lose their sign */
} OracleActivation;

typedef struct
{
  const double *input; /* [channels][height][width], the channels of the filter's group alone */
  int channels, height, width;
  const float *weights; /* of one filter: [channels][kernel_height][kernel_width] */
  double bias;
  int kernel_height, kernel_width, stride_y, stride_x, pad_top, pad_left;
  int more_dilation_y, more_dilation_x; /* the dilations less 1 */
  OracleBoundary boundary;
  OracleActivation activation;
  int pool_height, pool_width, pool_stride_y, pool_stride_x, pool_pad_top, pool_pad_left;
  int more_pool_dilation_y, more_pool_dilation_x;
  int conv_height, conv_width; /* what there is to pool; 0: all that the windows ask for */
} OracleLayer;

/*
 * Output (y, x) of the filter. *magnitude becomes |bias| + the sum of |weight * sample|, the largest one under the
 * pooling window. Aborts where the window has no sample of the convolution.
 */
double oracle_layer (const OracleLayer *layer, int y, int x, double *magnitude);

#endif
