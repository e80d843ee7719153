/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The base class of all elements of the plugin, which has what they share: caps and allocation, the device, frames under way,
 * the pool of threads, errors and statistics. A subclass has the table of its properties, and makes the work that is done to
 * frames; element.h has the functions that it implements.
 */
#ifndef GST_CUDA_CONVOLVE_BASE_H
#define GST_CUDA_CONVOLVE_BASE_H

#include "base/element.h"

G_BEGIN_DECLS

/* In class_init(): the properties are those of the table. In it the subclass has installed its results. */
void gst_cuda_convolve_base_install_properties (GstCudaConvolveBaseClass *klass, const ConvolvePropertyTable *table);

/* Negotiates new caps for the output, after all frames under way have been pushed. */
GstFlowReturn gst_cuda_convolve_base_renegotiate (GstCudaConvolveBase *base);

G_END_DECLS

#endif
