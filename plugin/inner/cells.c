/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inner/cells.h"

#include "frame/cells.h"

static ConvolveForm *
make_form (const GstCudaConvolveStep *step, ConvolveDevice *device, ConvolveError *error)
{
  return convolve_form_new_cells (&step->cells, device, error);
}

void
gst_cuda_convolve_cells_find (GstCudaConvolveStep *step, const GstCudaConvolveLayout *layout)
{
  GstVideoInfo inner;

  *step = (GstCudaConvolveStep){ .make_form = make_form };
  gst_cuda_convolve_cells_describe (&layout->info, &step->cells);
  gst_cuda_convolve_cells_inner (&layout->info, &inner);
  gst_cuda_convolve_layout_init (&step->layout, &inner);
  step->layout.cropped = layout->cropped;
}
