# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convolution of images with masks, on the CPU or an NVIDIA GPU, with the bytes of the GStreamer element cudaconvolve.

    import cudaconvolve
    blurred = cudaconvolve.gaussian(image, 2)                                 # a NumPy array in, a new one out
    edges = cudaconvolve.filter2d(image, "sobel")                             # a preset of the element
    own = cudaconvolve.filter2d(image, [[0, -1, 0], [-1, 5, -1], [0, -1, 0]])

Arrays in host memory are convolved by the CPU, and arrays in CUDA memory (CuPy, PyTorch) where they are, on their own stream.
help() of filter2d(), gaussian(), box() and layer() has shapes, types, units, ranges and errors.

The wheel has the GStreamer plugin, too. Importing the module puts the plugin's folder in front of GST_PLUGIN_PATH, so that
Gst.init() finds the elements afterwards. Where Gst.init() was called before, importing looks into that folder. GStreamer itself is
the system's.
"""
import os
import pathlib
import sys

from ._filters import box, filter2d, gaussian, layer
from ._library import ACTIVATIONS, BOUNDARIES, LIBRARY, DeviceError, make
from ._masks import PRESETS
from ._plans import clear, set_threads

__all__ = ['DeviceError', 'activations', 'boundaries', 'box', 'clear', 'device_name', 'filter2d', 'gaussian', 'layer', 'plugin_path',
           'presets', 'set_threads']
presets, boundaries, activations = tuple(PRESETS), tuple(BOUNDARIES), tuple(ACTIVATIONS)


def __getattr__(name):
    if name != '__version__':
        raise AttributeError(f'module cudaconvolve has no attribute {name}')
    from importlib import metadata
    return metadata.version('cudaconvolve')


def plugin_path():
    """The folder with the GStreamer plugin of the wheel, or None where the module was installed without a plugin."""
    folder = pathlib.Path(__file__).parent / 'gstreamer-1.0'
    return str(folder) if folder.is_dir() else None


def device_name(number=-1):
    """The name of a CUDA device, by default of the first one. Raises DeviceError, which says what is missing."""
    device = make('convolve_device_new', number)
    try:
        return LIBRARY.convolve_device_name(device).decode()
    finally:
        LIBRARY.convolve_device_free(device)


def _offer_plugin():
    folder = plugin_path()
    if folder is None:
        return
    # Where the variable with the version is set, GStreamer does not look at the other one.
    name = 'GST_PLUGIN_PATH_1_0' if 'GST_PLUGIN_PATH_1_0' in os.environ else 'GST_PLUGIN_PATH'
    others = [path for path in os.environ.get(name, '').split(os.pathsep) if path and path != folder]
    os.environ[name] = os.pathsep.join([folder] + others)
    gst = sys.modules.get('gi.repository.Gst')
    if gst and gst.is_initialized():
        gst.Registry.get().scan_path(folder)


_offer_plugin()
