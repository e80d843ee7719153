/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CONVOLVE_CUDA_CELLS_H
#define CONVOLVE_CUDA_CELLS_H

#include "common/cells.h"

#ifdef __cplusplus
extern "C"
{
#endif

CONVOLVE_FORM_FUNCTION (cells);

#ifdef __cplusplus
}
#endif

#endif
