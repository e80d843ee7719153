/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inner/steps.h"

#include "frame/cells.h"
#include "inner/cells.h"
#include "inner/light.h"
#include "properties/enums.h"

ConvolveStatus
gst_cuda_convolve_steps_find (GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout,
    const ConvolveProperties *properties, ConvolveError *error)
{
  steps->n = 0;
  if (gst_cuda_convolve_format_has_cells (layout->info.finfo))
    gst_cuda_convolve_cells_find (&steps->steps[steps->n++], layout);
  if (properties->light == CONVOLVE_LIGHT_MODE_LINEAR) {
    layout = gst_cuda_convolve_steps_get_layout (steps, layout);
    if (!gst_cuda_convolve_light_find (&steps->steps[steps->n], layout, error))
      return error->status;
    steps->n++;
  }
  return CONVOLVE_OK;
}

const GstCudaConvolveLayout *
gst_cuda_convolve_steps_get_layout (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout)
{
  return steps->n > 0 ? &steps->steps[steps->n - 1].layout : layout;
}

GstCudaConvolveWork *
gst_cuda_convolve_steps_wrap (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout,
    GstCudaConvolveWork *work, gboolean in_place, ConvolveError *error)
{
  GstCudaConvolveWork *wrapped = gst_cuda_convolve_work_ref (work);

  for (guint i = steps->n; i-- > 0 && wrapped;) {
    const GstCudaConvolveStep *step = &steps->steps[i];
    GstCudaConvolveInnerParts parts = { .inside = wrapped, .depth = i, .in_place = in_place && i == steps->n - 1 };

    parts.form = step->make_form (step, work->device, error);
    wrapped =
        parts.form ? gst_cuda_convolve_inner_new (i > 0 ? &steps->steps[i - 1].layout : layout, &parts, error) : NULL;
    gst_cuda_convolve_work_unref (parts.inside);
  }
  return wrapped;
}
