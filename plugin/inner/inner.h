/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work on frames in another form than that of the stream, the inner form: for example, light as words of 16 bits in place of
 * coded samples. Each frame is unpacked into an inner frame, other work, which is called the inside, makes the inner result of
 * it, and that is packed into the output. Inner frames lie in memory of this work or of a device's stage. They have the flags,
 * the metas and the crop of the stream's frames. The inside may have an inner form itself.
 */
#ifndef GST_CUDA_CONVOLVE_INNER_H
#define GST_CUDA_CONVOLVE_INNER_H

#include "convolve_form.h"
#include "stream/work.h"

G_BEGIN_DECLS

typedef struct
{
  GstCudaConvolveWork *inside; /* its layouts are those of the inner frames; referenced */
  GstCudaConvolveWork
      *opaque; /* in place of all this where no sample is transparent, with the outer layout; referenced, or NULL */
  ConvolveForm *form; /* made for the device or the CPU of the inside; belongs to the new work, on an error, too */
  gboolean in_place;  /* the inside takes one frame for input and output, and so does `opaque` */

  /*
   * What opaque makes stays where nobody sees the result: it comes first for every frame. The form leaves what is unseen. The
   * part that the inside finds is taken through the inner form, and nothing else.
   */
  gboolean covers;
  guint depth; /* 0, or 1 where this work is itself an inside: it then needs another stage of the device */
} GstCudaConvolveInnerParts;

/* Work for frames with the layout. To be unreferenced; NULL with NO_MEMORY. */
GstCudaConvolveWork *gst_cuda_convolve_inner_new (const GstCudaConvolveLayout *layout,
    const GstCudaConvolveInnerParts *parts, ConvolveError *error);

G_END_DECLS

#endif
