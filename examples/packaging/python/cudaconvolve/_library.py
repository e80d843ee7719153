# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shared library through ctypes: its structs, its functions, and its errors as exceptions.

The structs are those of kernels/convolve.h and kernels/convolve_layer.h; kernels/abi.txt lists them.
"""
import ctypes
import os
import pathlib

c_int, c_double, c_float, c_void_p, c_ssize_t = ctypes.c_int, ctypes.c_double, ctypes.c_float, ctypes.c_void_p, ctypes.c_ssize_t
BOUNDARIES = {'zero': 0, 'replicate': 1, 'reflect': 2, 'reflect-101': 3, 'wrap': 4, 'constant': 5}
COMBINATIONS = {'sum': 0, 'absolute': 1, 'magnitude': 2, 'largest': 3}
ACTIVATIONS = {'none': 0, 'relu': 1, 'absolute': 2}
LAYER_TYPES = {'f4': 0, 'f2': 1, 'u1': 2}
MAX_SIDE = 255
MAX_SAMPLES = 4
NO_MEMORY, NO_DEVICE, NO_DEVICE_MEMORY, DEVICE_FAILED = 3, 4, 5, 6


class DeviceError(RuntimeError):
    """There is no such CUDA device, no driver, no CUDA in this build, or a call of CUDA failed."""


def _members(kind, names):
    return [(name.strip(), kind) for name in names.split(',')]


class Error(ctypes.Structure):
    _fields_ = [*_members(c_int, 'status, native'), ('text', ctypes.c_char * 512)]


class Pixel(ctypes.Structure):
    _fields_ = [*_members(c_int, 'type, depth, shift'), ('swapped', ctypes.c_bool), *_members(c_int, 'samples, stride'),
                *_members(ctypes.c_uint, 'select, biased'), *_members(c_int * MAX_SAMPLES, 'zero, outside, range')]


class Mask(ctypes.Structure):
    _fields_ = [*_members(c_int, 'width, height'), *_members(c_double, 'divisor, offset'), ('taps', c_void_p),
                *_members(c_int, 'combination, sets'), ('more_divisors', c_double * 7)]


class Rect(ctypes.Structure):
    _fields_ = _members(c_int, 'x, y, width, height')


class Plane(ctypes.Structure):
    _fields_ = [*_members(c_void_p, 'source, destination'), *_members(c_ssize_t, 'source_stride, destination_stride'),
                *_members(c_int, 'width, height'), ('region', Rect)]


class Layer(ctypes.Structure):
    _fields_ = [*_members(c_int, 'filters, channels, groups, kernel_height, kernel_width'), *_members(c_void_p, 'weights, bias'),
                *_members(c_int, 'first_filter, shown, stride_y, stride_x, dilation_y, dilation_x'),
                *_members(c_int, 'pad_top, pad_bottom, pad_left, pad_right, boundary, activation'),
                *_members(c_int, 'pool_height, pool_width, pool_stride_y, pool_stride_x, pool_dilation_y, pool_dilation_x'),
                *_members(c_int, 'pool_pad_top, pool_pad_bottom, pool_pad_left, pool_pad_right'), ('pool_ceil', ctypes.c_bool),
                ('type', c_int), *_members(c_float, 'in_scale, in_offset, out_scale, out_offset')]


class Tensor(ctypes.Structure):
    _fields_ = [('channel', c_void_p * 4), *_members(c_ssize_t, 'batch_stride, row_stride, column_stride'), ('across', c_int),
                *_members(c_ssize_t, 'across_stride, down_stride')]


class Task(ctypes.Structure):
    _fields_ = [*_members(Tensor, 'source, destination'), *_members(c_int, 'batch, height, width, first_row, end_row, filled'),
                ('fill', c_float)]


# Name, result and arguments; a last argument of POINTER (Error) is added by those that can fail.
_error, _text = ctypes.POINTER(Error), ctypes.c_char_p
_FUNCTIONS = {
    'convolve_plan_new_sized': (c_void_p, ctypes.POINTER(Pixel), c_int, ctypes.POINTER(Mask), _text, c_void_p, ctypes.c_int64,
                                _error),
    'convolve_plan_unref': (None, c_void_p),
    'convolve_plan_on_device': (ctypes.c_bool, c_void_p),
    'convolve_plan_variant': (_text, c_void_p),
    'convolve_plan_set_pool': (None, c_void_p, c_void_p),
    'convolve_run': (c_int, c_void_p, ctypes.POINTER(Plane), _error),
    'convolve_pool_new': (c_void_p, c_int, _error),
    'convolve_pool_free': (None, c_void_p),
    'convolve_layer_init': (None, ctypes.POINTER(Layer), c_int, c_int, c_int, c_int, c_void_p),
    'convolve_layer_pad_same': (c_int, ctypes.POINTER(Layer), c_int, c_int, _error),
    'convolve_layer_output_size': (c_int, ctypes.POINTER(Layer), c_int, c_int, ctypes.POINTER(c_int), ctypes.POINTER(c_int),
                                   _error),
    'convolve_layer_plan_new': (c_void_p, ctypes.POINTER(Layer), _text, c_void_p, _error),
    'convolve_layer_plan_unref': (None, c_void_p),
    'convolve_layer_plan_on_device': (ctypes.c_bool, c_void_p),
    'convolve_layer_plan_set_pool': (None, c_void_p, c_void_p),
    'convolve_layer_run': (c_int, c_void_p, ctypes.POINTER(Task), _error),
    'convolve_device_new': (c_void_p, c_int, _error),
    'convolve_device_free': (None, c_void_p),
    'convolve_device_name': (_text, c_void_p),
    'convolve_device_use_stream': (c_int, c_void_p, c_void_p, _error),
}


def _load():
    """CUDACONVOLVE_LIBRARY, then the library beside this file, as in the wheel, then the system's."""
    beside = pathlib.Path(__file__).parent / 'libcudaconvolve.so.0'
    path = os.environ.get('CUDACONVOLVE_LIBRARY') or (str(beside) if beside.exists() else beside.name)
    try:
        library = ctypes.CDLL(path)
    except OSError as reason:
        raise ImportError(f'the shared library of cudaconvolve cannot be loaded: {reason}. The wheel has it, and so has '
                          f'the Debian package libcudaconvolve0; CUDACONVOLVE_LIBRARY names another file') from reason
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


LIBRARY = _load()


def fail(error):
    """Raises what the library's error is in Python."""
    text = error.text.decode('utf-8', 'replace')
    if error.status == NO_MEMORY or error.status == NO_DEVICE_MEMORY:
        raise MemoryError(text)
    raise (DeviceError if error.status in (NO_DEVICE, DEVICE_FAILED) else ValueError)(text)


def call(name, *arguments):
    """A function that returns a status."""
    error = Error()
    if getattr(LIBRARY, name)(*arguments, error) != 0:
        fail(error)


def make(name, *arguments):
    """A function that returns a pointer, which is not NULL."""
    error = Error()
    pointer = getattr(LIBRARY, name)(*arguments, error)
    if not pointer:
        fail(error)
    return pointer
