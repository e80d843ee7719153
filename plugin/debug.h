/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The debug category of the element, for GST_DEBUG=cudaconvolve:5. gstcudaconvolve.c defines the category. */
#ifndef GST_CUDA_CONVOLVE_DEBUG_H
#define GST_CUDA_CONVOLVE_DEBUG_H

#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_convolve_debug);
#define GST_CAT_DEFAULT gst_cuda_convolve_debug

#endif
