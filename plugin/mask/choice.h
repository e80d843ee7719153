/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which of the settings are used: those that are set, or in the place of bad ones the last good ones. And the plans for them. */
#ifndef GST_CUDA_CONVOLVE_CHOICE_H
#define GST_CUDA_CONVOLVE_CHOICE_H

#include "mask/gstcudaconvolve.h"

G_BEGIN_DECLS

/*
 * The work with the settings for the caps that there are; make_work() of the base class. Where the mask or the regions are
 * bad and there were good ones, the good ones stay with a warning; what is set beside them holds.
 */
GstCudaConvolveWork *gst_cuda_convolve_choose_work (GstCudaConvolve *self, ConvolveProperties *properties,
    ConvolveError *error);

/* The whole frames of the work that was chosen last, on the CPU; make_host_work() of the base class. */
GstCudaConvolveWork *gst_cuda_convolve_make_host_work (GstCudaConvolve *self);

/* Frees plans and regions; the good settings stay, to make plans from again. */
void gst_cuda_convolve_lose_plans (GstCudaConvolve *self);

/* Forgets the good settings, and the warnings that stand. */
void gst_cuda_convolve_forget_choice (GstCudaConvolve *self);

G_END_DECLS

#endif
