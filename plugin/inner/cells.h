/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The step from frames whose samples share words, or lie in tiles, to frames of a format that plans convolve. */
#ifndef GST_CUDA_CONVOLVE_INNER_CELLS_H
#define GST_CUDA_CONVOLVE_INNER_CELLS_H

#include "inner/steps.h"

G_BEGIN_DECLS

/* Fills the step for frames with the layout, whose format has cells. */
void gst_cuda_convolve_cells_find (GstCudaConvolveStep *step, const GstCudaConvolveLayout *layout);

G_END_DECLS

#endif
