/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's enumerations as the oracles have them, and their names as users write them. Each function is one switch
 * without default, so that an enumerator without a line there does not compile.
 */
#ifndef TESTS_SUPPORT_NAMES_H
#define TESTS_SUPPORT_NAMES_H

#include "convolve.h"
#include "convolve_layer.h"
#include "support/oracle.h"
#include "support/oracle_layer.h"

OracleBoundary check_boundary_oracle (ConvolveBoundary boundary);
const char *check_boundary_name (ConvolveBoundary boundary);

OracleCombination check_combination_oracle (ConvolveCombination combination);
const char *check_combination_name (ConvolveCombination combination);

OracleActivation check_activation_oracle (ConvolveActivation activation);
const char *check_activation_name (ConvolveActivation activation);

const char *check_layer_type_name (ConvolveLayerType type);

#endif
