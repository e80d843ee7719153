/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats whose samples share words, or whose rows are cut into tiles. The element convolves such frames in an inner form, a
 * format with a word for each sample, and packs the result again.
 */
#ifndef GST_CUDA_CONVOLVE_CELLS_H
#define GST_CUDA_CONVOLVE_CELLS_H

#include <gst/video/video.h>

#include "convolve_cells.h"

G_BEGIN_DECLS

/* Whether the format is one of these. */
gboolean gst_cuda_convolve_format_has_cells (const GstVideoFormatInfo *finfo);

/*
 * The inner form of frames with info, whose format is packed: the same picture. The format may be one that only its
 * GstVideoFormatInfo describes, such as gray of 10 bits.
 */
void gst_cuda_convolve_cells_inner (const GstVideoInfo *info, GstVideoInfo *inner);

/* How the planes of frames with info hold the samples of the inner form. */
void gst_cuda_convolve_cells_describe (const GstVideoInfo *info, ConvolveCells *cells);

/* Bytes from a row of the plane to the next, or in a plane of tiles from a row of tiles to the next. For all formats. */
gint gst_cuda_convolve_stride (const GstVideoInfo *info, guint plane);

G_END_DECLS

#endif
