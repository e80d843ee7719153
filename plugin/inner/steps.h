/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which inner forms frames take, by the caps and the settings: from the stream's frames to those that plans convolve, step
 * by step.
 */
#ifndef GST_CUDA_CONVOLVE_STEPS_H
#define GST_CUDA_CONVOLVE_STEPS_H

#include "convolve_cells.h"
#include "inner/inner.h"
#include "properties/properties.h"

G_BEGIN_DECLS

#define GST_CUDA_CONVOLVE_MOST_STEPS 2

typedef struct _GstCudaConvolveStep GstCudaConvolveStep;

struct _GstCudaConvolveStep
{
  GstCudaConvolveLayout layout; /* of the frames behind the step */

  /* Makes the form for the device, or for the CPU where device is NULL. NULL with error filled. */
  ConvolveForm *(*make_form) (const GstCudaConvolveStep *step, ConvolveDevice *device, ConvolveError *error);
  ConvolveLight light; /* of the step of light */
  ConvolveCells cells; /* of the step of cells */
};

typedef struct
{
  guint n;               /* 0 where plans take the stream's frames */
  gboolean spare_opaque; /* opaque frames are to go without the last step, which weighs */
  gboolean has_plain;    /* they take this one in its place, of light alone: */
  GstCudaConvolveStep plain;
  GstCudaConvolveStep steps[GST_CUDA_CONVOLVE_MOST_STEPS];
} GstCudaConvolveSteps;

/* Finds the steps for frames with the layout. UNSUPPORTED where the settings ask for what these frames cannot have. */
ConvolveStatus gst_cuda_convolve_steps_find (GstCudaConvolveSteps *steps, const GstCudaConvolveLayout *layout,
    const ConvolveProperties *properties, ConvolveError *error);

/* The layout behind the first n steps; that of the stream where n is 0. */
const GstCudaConvolveLayout *gst_cuda_convolve_steps_get_layout (const GstCudaConvolveSteps *steps,
    const GstCudaConvolveLayout *layout, guint n);

/* The layout for opaque frames; the last one where these are not spared. */
const GstCudaConvolveLayout *gst_cuda_convolve_steps_get_opaque (const GstCudaConvolveSteps *steps,
    const GstCudaConvolveLayout *layout);

/* The work that steps wrap: `inside` for frames of the last layout, and `opaque` for opaque frames, or NULL. */
typedef struct
{
  GstCudaConvolveWork *inside, *opaque;
  gboolean in_place; /* of the inside */
} GstCudaConvolveWrapped;

/*
 * Wraps work in all steps, for frames with the layout. The result is to be unreferenced, and may be the work itself,
 * referenced. NULL with error filled.
 */
GstCudaConvolveWork *gst_cuda_convolve_steps_wrap (const GstCudaConvolveSteps *steps,
    const GstCudaConvolveLayout *layout, const GstCudaConvolveWrapped *wrapped, ConvolveError *error);

G_END_DECLS

#endif
