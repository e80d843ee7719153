/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef CONVOLVE_CUDA_LIGHT_H
#define CONVOLVE_CUDA_LIGHT_H

#include "common/light.h"

#ifdef __cplusplus
extern "C"
{
#endif

CONVOLVE_FORM_FUNCTION (light);

#ifdef __cplusplus
}
#endif

#endif
