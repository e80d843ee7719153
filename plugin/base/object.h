/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element's properties, as GObject sees them. What the user sets is in props/; what is read here are results. */
#ifndef GST_CUDA_CONVOLVE_OBJECT_H
#define GST_CUDA_CONVOLVE_OBJECT_H

#include "base/element.h"

G_BEGIN_DECLS

/* Sets the virtual functions for properties, and installs all properties. */
void gst_cuda_convolve_install_properties (GObjectClass *klass);

G_END_DECLS

#endif
