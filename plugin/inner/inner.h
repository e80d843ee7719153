/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work in an inner form. Frames of the stream are unpacked into memory of the work, other work, the inside, takes them from
 * there to there, and the result is packed into the output. The inside sees mapped frames as any others: with the flags, the
 * metas and the crop of the stream's frames. The inside may be in an inner form, too.
 */
#ifndef GST_CUDA_CONVOLVE_INNER_H
#define GST_CUDA_CONVOLVE_INNER_H

#include "convolve_form.h"
#include "stream/work.h"

G_BEGIN_DECLS

typedef struct
{
  GstCudaConvolveWork *inside; /* its layouts are those of the inner frames; referenced */
  GstCudaConvolveWork *opaque; /* for frames that the form need not weigh, with the outer layout; referenced, or NULL */
  ConvolveForm *form;          /* for where the inside works; taken, on an error, too */
  gboolean in_place;           /* the inside takes one frame for input and output */
  guint depth;                 /* 0, or 1 where this work is the inside of another form */
} GstCudaConvolveInnerParts;

/* Work for frames with the layout. To be unreferenced; NULL with NO_MEMORY. */
GstCudaConvolveWork *gst_cuda_convolve_inner_new (const GstCudaConvolveLayout *layout,
    const GstCudaConvolveInnerParts *parts, ConvolveError *error);

G_END_DECLS

#endif
