/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What turns a frame with the input's caps into a frame with the output's caps: the plans of a mask, these plans in regions,
 * or a layer's plan. Made when settings or caps change. Reference counted; the last reference to work on a device goes while
 * the device's context is current.
 */
#ifndef GST_CUDA_CONVOLVE_WORK_H
#define GST_CUDA_CONVOLVE_WORK_H

#include "convolve_device.h"
#include "convolve_pool.h"
#include "frame/rows.h"

G_BEGIN_DECLS

typedef struct _GstCudaConvolveWork GstCudaConvolveWork;

/* How a kind of work is done. Frames are sound, and have the work's layouts. */
typedef struct
{
  gsize size; /* of the kind's struct, which begins with a GstCudaConvolveWork */

  /* Input and output are on the host; in and out may be one frame where they have one layout. Done on return. */
  ConvolveStatus (*run_on_host) (GstCudaConvolveWork *work, GstCudaConvolveFrame *in, GstCudaConvolveFrame *out,
      ConvolveError *error);

  /*
   * Enqueues a frame, between convolve_device_begin () and convolve_device_end (). Until the device has done the frame, both
   * frames and the work stay. alone is set where no other frame is to overlap this frame.
   */
  ConvolveStatus (*run_on_device) (GstCudaConvolveWork *work, gboolean alone, GstCudaConvolveFrame *in,
      GstCudaConvolveFrame *out, ConvolveError *error);

  /*
   * The rectangle of luma pixels that the next frame's run reads or changes; FALSE where there is none. Adds the rectangles inside
   * that it changes to an array of ConvolveRect. All other pixels are copied where in and out are two frames, and left otherwise.
   * NULL for work that may change all pixels.
   */
  gboolean (*find_part) (const GstCudaConvolveWork *work, ConvolveRect *part, GArray *changes);

  /* Work on the CPU is shared by the threads of the pool, which may be NULL and must outlive the work. */
  void (*set_pool) (GstCudaConvolveWork *work, ConvolvePool *pool);

  void (*clear) (gpointer work);
} GstCudaConvolveWorkKind;

struct _GstCudaConvolveWork
{
  const GstCudaConvolveWorkKind *kind;
  GstCudaConvolveLayout in, out;
  ConvolveDevice *device; /* where the work is done; NULL for the CPU */
  gboolean is_identity;   /* no sample of any frame changes */
  gboolean reproducible;  /* the same bytes on the CPU and on any device, and nothing is kept from frame to frame */
  const gchar *variant;   /* interned; several with commas where planes differ */
};

/* The work as its head; a NULL stays NULL. */
#define GST_CUDA_CONVOLVE_WORK(work) ((GstCudaConvolveWork *) (work))

/* Work of the kind with these layouts, for the CPU and of no variant as long as nothing else is set; all else is 0. */
gpointer gst_cuda_convolve_work_new (const GstCudaConvolveWorkKind *kind, const GstCudaConvolveLayout *in,
    const GstCudaConvolveLayout *out);
gpointer gst_cuda_convolve_work_ref (gpointer work);
void gst_cuda_convolve_work_unref (gpointer work);

/*
 * Where the variant that the user set refused its work, the reason in error begins with that variant's name. Names the
 * property, and what else it can be.
 */
void gst_cuda_convolve_work_name_variant (const gchar *variant, ConvolveError *error);

G_END_DECLS

#endif
