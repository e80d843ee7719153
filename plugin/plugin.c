/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layer/gstcudaconvlayer.h"
#include "mask/gstcudaconvolve.h"

#define PACKAGE "cudaconvolve"
#define ORIGIN "Unknown package origin" /* GStreamer's own text for a plugin without a URL */

static gboolean
plugin_init (GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER (cudaconvolve, plugin) && GST_ELEMENT_REGISTER (cudaconvlayer, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudaconvolve,
    "Convolution of video with a mask, or with a layer of a network", plugin_init, VERSION, "LGPL", PACKAGE, ORIGIN)
