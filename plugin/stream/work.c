/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/work.h"

gpointer
gst_cuda_convolve_work_new (const GstCudaConvolveWorkKind *kind, const GstCudaConvolveLayout *in,
    const GstCudaConvolveLayout *out)
{
  GstCudaConvolveWork *work = g_atomic_rc_box_alloc0 (kind->size);

  work->kind = kind;
  work->in = *in;
  work->out = *out;
  return work;
}

gpointer
gst_cuda_convolve_work_ref (gpointer work)
{
  return g_atomic_rc_box_acquire (work);
}

void
gst_cuda_convolve_work_unref (gpointer work)
{
  g_atomic_rc_box_release_full (work, GST_CUDA_CONVOLVE_WORK (work)->kind->clear);
}

void
gst_cuda_convolve_work_name_variant (const gchar *variant, ConvolveError *error)
{
  gchar reason[sizeof (error->text)];

  if (error->status != CONVOLVE_UNSUPPORTED || !g_str_has_prefix (error->text, variant))
    return;
  g_strlcpy (reason, error->text, sizeof (reason));
  g_snprintf (error->text, sizeof (error->text), "kernel-variant: %s; auto takes a variant that can", reason);
}
