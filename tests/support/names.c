/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/names.h"

#include <stdlib.h>

OracleBoundary
check_boundary_oracle (ConvolveBoundary boundary)
{
  switch (boundary) {
    case CONVOLVE_BOUNDARY_ZERO:
      return ORACLE_ZERO;
    case CONVOLVE_BOUNDARY_REPLICATE:
      return ORACLE_REPLICATE;
    case CONVOLVE_BOUNDARY_REFLECT:
      return ORACLE_REFLECT;
    case CONVOLVE_BOUNDARY_REFLECT_101:
      return ORACLE_REFLECT_101;
    case CONVOLVE_BOUNDARY_WRAP:
      return ORACLE_WRAP;
    case CONVOLVE_BOUNDARY_CONSTANT:
      return ORACLE_CONSTANT;
    case CONVOLVE_N_BOUNDARIES:
      break;
  }
  abort ();
}

const char *
check_boundary_name (ConvolveBoundary boundary)
{
  switch (boundary) {
    case CONVOLVE_BOUNDARY_ZERO:
      return "zero";
    case CONVOLVE_BOUNDARY_REPLICATE:
      return "replicate";
    case CONVOLVE_BOUNDARY_REFLECT:
      return "reflect";
    case CONVOLVE_BOUNDARY_REFLECT_101:
      return "reflect-101";
    case CONVOLVE_BOUNDARY_WRAP:
      return "wrap";
    case CONVOLVE_BOUNDARY_CONSTANT:
      return "constant";
    case CONVOLVE_N_BOUNDARIES:
      break;
  }
  abort ();
}

OracleCombination
check_combination_oracle (ConvolveCombination combination)
{
  switch (combination) {
    case CONVOLVE_SUM:
      return ORACLE_ONE;
    case CONVOLVE_ABSOLUTE:
      return ORACLE_ABSOLUTE_VALUE;
    case CONVOLVE_MAGNITUDE:
      return ORACLE_NORM;
    case CONVOLVE_LARGEST:
      return ORACLE_MAXIMUM;
    case CONVOLVE_GAUSSIAN: /* tests/kernels/check_shrink.c has an oracle of its own */
    case CONVOLVE_N_COMBINATIONS:
      break;
  }
  abort ();
}

const char *
check_combination_name (ConvolveCombination combination)
{
  switch (combination) {
    case CONVOLVE_SUM:
      return "sum";
    case CONVOLVE_ABSOLUTE:
      return "absolute";
    case CONVOLVE_MAGNITUDE:
      return "magnitude";
    case CONVOLVE_LARGEST:
      return "largest";
    case CONVOLVE_GAUSSIAN:
      return "gaussian";
    case CONVOLVE_N_COMBINATIONS:
      break;
  }
  abort ();
}

OracleActivation
check_activation_oracle (ConvolveActivation activation)
{
  switch (activation) {
    case CONVOLVE_ACTIVATION_NONE:
      return ORACLE_LINEAR;
    case CONVOLVE_ACTIVATION_RELU:
      return ORACLE_RELU;
    case CONVOLVE_ACTIVATION_ABSOLUTE:
      return ORACLE_MAGNITUDE;
    case CONVOLVE_N_ACTIVATIONS:
      break;
  }
  abort ();
}

const char *
check_activation_name (ConvolveActivation activation)
{
  switch (activation) {
    case CONVOLVE_ACTIVATION_NONE:
      return "none";
    case CONVOLVE_ACTIVATION_RELU:
      return "relu";
    case CONVOLVE_ACTIVATION_ABSOLUTE:
      return "absolute";
    case CONVOLVE_N_ACTIVATIONS:
      break;
  }
  abort ();
}

const char *
check_layer_type_name (ConvolveLayerType type)
{
  switch (type) {
    case CONVOLVE_LAYER_FLOAT32:
      return "float32";
    case CONVOLVE_LAYER_FLOAT16:
      return "float16";
    case CONVOLVE_LAYER_U8:
      return "8 bits";
    case CONVOLVE_N_LAYER_TYPES:
      break;
  }
  abort ();
}
