/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The debug category of all elements, for GST_DEBUG=cudaconvolve:5. gstcudaconvolvebase.c defines the category. */
#ifndef GST_CUDA_CONVOLVE_DEBUG_H
#define GST_CUDA_CONVOLVE_DEBUG_H

#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_convolve_debug);
#define GST_CAT_DEFAULT gst_cuda_convolve_debug

/*
 * What can happen with each frame, where settings or neighbours change with each frame, is logged at DEBUG a few times and
 * then at LOG. *told counts these times, and is 0 at start.
 */
#define GST_CUDA_CONVOLVE_TELL(told, object, ...) \
  G_STMT_START \
  { \
    GstDebugLevel told_at = *(told) < 16 ? GST_LEVEL_DEBUG : GST_LEVEL_LOG; \
\
    *(told) += *(told) < 16; \
    GST_CAT_LEVEL_LOG (GST_CAT_DEFAULT, told_at, object, __VA_ARGS__); \
  } \
  G_STMT_END

#endif
