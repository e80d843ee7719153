/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_CUDA_CONVOLVE_H
#define GST_CUDA_CONVOLVE_H

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (cudaconvolve)

G_END_DECLS

#endif
