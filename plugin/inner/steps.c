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
  const GstVideoInfo *caps = &layout->info;
  gboolean linear, weighs;

  steps->n = 0;
  steps->spare_opaque = FALSE;
  if (gst_cuda_convolve_format_has_cells (layout->info.finfo))
    gst_cuda_convolve_cells_find (&steps->steps[steps->n++], layout);
  layout = gst_cuda_convolve_steps_get_layout (steps, layout, steps->n);
  linear = properties->light == CONVOLVE_LIGHT_MODE_LINEAR;
  if (gst_cuda_convolve_light_weighs (layout, properties, &weighs, error) != CONVOLVE_OK)
    return error->status;
  if (!linear && !weighs)
    return CONVOLVE_OK;
  if (!gst_cuda_convolve_light_find (&steps->steps[steps->n], layout, caps, properties, weighs, error))
    return error->status;
  steps->n++;
  steps->spare_opaque = !linear;
  return CONVOLVE_OK;
}

const GstCudaConvolveLayout *
gst_cuda_convolve_steps_get_layout (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout, guint n)
{
  return n > 0 ? &steps->steps[n - 1].layout : layout;
}

GstCudaConvolveWork *
gst_cuda_convolve_steps_wrap (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout,
    const GstCudaConvolveWrapped *wrapped, ConvolveError *error)
{
  GstCudaConvolveWork *made = gst_cuda_convolve_work_ref (wrapped->inside);

  for (guint i = steps->n; i-- > 0 && made;) {
    const GstCudaConvolveStep *step = &steps->steps[i];
    gboolean last = i == steps->n - 1;
    GstCudaConvolveInnerParts parts = { .inside = made,
      .opaque = last ? wrapped->opaque : NULL,
      .depth = i,
      .in_place = wrapped->in_place && last,
      .covers = wrapped->in_place && last && wrapped->opaque };

    parts.form = step->make_form (step, made->device, error);
    made = parts.form
        ? gst_cuda_convolve_inner_new (gst_cuda_convolve_steps_get_layout (steps, layout, i), &parts, error)
        : NULL;
    gst_cuda_convolve_work_unref (parts.inside);
  }
  return made;
}
