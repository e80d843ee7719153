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
  steps->spare_opaque = steps->has_plain = FALSE;
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
  /* Invisible pixels of regions take the result without weighing. With linear light, too, that result has to be made. */
  steps->has_plain = linear && weighs && properties->region.apply_to != CONVOLVE_APPLY_TO_FRAME;
  steps->spare_opaque = !linear || steps->has_plain;
  if (steps->has_plain)
    gst_cuda_convolve_light_find (&steps->plain, layout, caps, properties, FALSE, error);
  return CONVOLVE_OK;
}

const GstCudaConvolveLayout *
gst_cuda_convolve_steps_get_layout (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout, guint n)
{
  return n > 0 ? &steps->steps[n - 1].layout : layout;
}

const GstCudaConvolveLayout *
gst_cuda_convolve_steps_get_opaque (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout)
{
  if (steps->has_plain)
    return &steps->plain.layout;
  return gst_cuda_convolve_steps_get_layout (steps, layout, steps->n - (steps->spare_opaque ? 1 : 0));
}

/* Makes the work of a step from parts without a form. NULL with error filled. */
static GstCudaConvolveWork *
wrap_in (const GstCudaConvolveStep *step, const GstCudaConvolveLayout *outer, GstCudaConvolveInnerParts *parts,
    ConvolveError *error)
{
  parts->form = step->make_form (step, parts->inside->device, error);
  return parts->form ? gst_cuda_convolve_inner_new (outer, parts, error) : NULL;
}

/* The work for opaque frames in front of the last step, to be unreferenced. NULL where there is none, or with error filled. */
static GstCudaConvolveWork *
wrap_opaque (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout,
    const GstCudaConvolveWrapped *wrapped, ConvolveError *error)
{
  GstCudaConvolveInnerParts parts = { .inside = wrapped->opaque, .in_place = wrapped->in_place, .depth = steps->n };

  if (!wrapped->opaque || !steps->has_plain)
    return wrapped->opaque ? gst_cuda_convolve_work_ref (wrapped->opaque) : NULL;
  return wrap_in (&steps->plain, gst_cuda_convolve_steps_get_layout (steps, layout, steps->n - 1), &parts, error);
}

GstCudaConvolveWork *
gst_cuda_convolve_steps_wrap (const GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout,
    const GstCudaConvolveWrapped *wrapped, ConvolveError *error)
{
  GstCudaConvolveWork *opaque = wrap_opaque (steps, layout, wrapped, error);
  GstCudaConvolveWork *made = opaque || !wrapped->opaque ? gst_cuda_convolve_work_ref (wrapped->inside) : NULL;

  for (guint i = steps->n; i-- > 0 && made;) {
    gboolean last = i == steps->n - 1;
    GstCudaConvolveInnerParts parts = { .inside = made,
      .opaque = last ? opaque : NULL,
      .depth = i,
      .in_place = wrapped->in_place && last,
      .covers = wrapped->in_place && last && opaque };

    made = wrap_in (&steps->steps[i], gst_cuda_convolve_steps_get_layout (steps, layout, i), &parts, error);
    gst_cuda_convolve_work_unref (parts.inside);
  }
  g_clear_pointer (&opaque, gst_cuda_convolve_work_unref);
  return made;
}
