# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of other libraries as an address, a shape and strides in bytes, without a copy; and the streams of CUDA.

Read are, in this order, __cuda_array_interface__, __array_interface__ and DLPack, and what numpy.asarray() takes.
"""
import ctypes
import sys

LEGACY_STREAM = 1  # CUDA's handle of the default stream, for which 0 stands, too
_HOST, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13  # device types of DLPack
_KINDS = {0: 'i', 1: 'u', 2: 'f', 4: 'bf', 5: 'c', 6: 'b'}


_SIZES = {'u1': 1, 'u2': 2, 'f2': 2, 'f4': 4}


class View:
    """What lies where. dtype is a letter and the bytes of a sample, as in u1; device is None for host memory."""

    def __init__(self, name, address, shape, strides, dtype, device, owner, swapped=False, writable=True, stream=None):
        size = _SIZES.get(dtype) or int(''.join(filter(str.isdigit, dtype)) or 1)
        if strides is None:
            strides, step = [], size
            for side in reversed(shape):
                strides.insert(0, step)
                step *= side
        self.name, self.address, self.shape, self.strides = name, address, tuple(shape), tuple(strides)
        self.dtype, self.size, self.device, self.owner = dtype, size, device, owner
        self.swapped, self.writable, self.stream = swapped, writable, stream

    def bounds(self):
        """The first byte, and the one behind the last."""
        first = end = self.address
        for stride, side in zip(self.strides, self.shape):
            if stride < 0:
                first += stride * (side - 1)
            else:
                end += stride * (side - 1)
        return first, end + self.size

    def transposed(self, order):
        """A view with the axes in another order; None stands for a new axis of one."""
        shape, strides = self.shape, self.strides
        return View(self.name, self.address, [1 if axis is None else shape[axis] for axis in order],
                    [0 if axis is None else strides[axis] for axis in order], self.dtype, self.device, self.owner, self.swapped,
                    self.writable, self.stream)


class _DLTensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32), ('ndim', ctypes.c_int32),
                ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.POINTER(ctypes.c_int64)), ('offset', ctypes.c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_driver = False


def _device_of(array, address):
    """The number of the CUDA device that has this memory, from the array or from the driver."""
    global _driver
    if hasattr(array, '__dlpack_device__'):
        return int(array.__dlpack_device__()[1])
    if _driver is False:
        try:
            _driver = ctypes.CDLL('libcuda.so.1')
        except OSError:
            _driver = None
    device, ordinal = ctypes.c_int(0), 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    if _driver and address:
        code = _driver.cuPointerGetAttribute(ctypes.byref(device), ordinal, ctypes.c_uint64(address))
        if code != 0:
            raise ValueError(f'{address:#x} is no address of CUDA memory: error {code} of the driver')
    return device.value


def _library_of(array):
    """The module that makes arrays of this kind, or None."""
    name = type(array).__module__.partition('.')[0]
    return sys.modules.get(name) if name in ('numpy', 'torch', 'cupy') else None


def _of_interface(name, array, interface, device):
    address, read_only = interface['data']
    dtype = interface['typestr']
    if not dtype[2:].isdigit():
        raise TypeError(f'{name}: has samples of type {dtype}, and no numbers')
    size = int(dtype[2:])
    return View(name, address, interface['shape'], interface.get('strides'), dtype[1:], device, array, size > 1 and
                dtype[0] == ('>' if sys.byteorder == 'little' else '<'), not read_only, interface.get('stream'))


def _of_dlpack(name, array, device_type, stream):
    if device_type not in (_HOST, _CUDA, _CUDA_HOST, _CUDA_MANAGED):
        raise TypeError(f'{name}: lies on a device of DLPack\'s type {device_type}; possible are the host and CUDA')
    on_device = device_type in (_CUDA, _CUDA_MANAGED)
    # The capsule owns the memory until it is deleted, because its name stays as it is.
    capsule = array.__dlpack__(stream=stream) if on_device else array.__dlpack__()
    tensor = _DLTensor.from_address(_capsule_pointer(capsule, b'dltensor'))
    size, axes = tensor.bits // 8, range(tensor.ndim)
    strides = [tensor.strides[i] * size for i in axes] if tensor.strides else None
    dtype = f'{_KINDS.get(tensor.code, "?")}{size}' if tensor.lanes == 1 else '?'
    return View(name, (tensor.data or 0) + tensor.offset, [tensor.shape[i] for i in axes], strides, dtype,
                tensor.device_id if on_device else None, (array, capsule))


def stream_handle(stream):
    """The handle of a stream: of a number, or of a stream of PyTorch, CuPy or CUDA's own Python packages."""
    if hasattr(stream, '__cuda_stream__'):
        protocol = stream.__cuda_stream__
        stream = (protocol() if callable(protocol) else protocol)[1]
    for member in ('cuda_stream', 'ptr'):
        stream = getattr(stream, member, stream)
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < 0:
        raise TypeError(f'stream: {stream!r} is neither the handle of a CUDA stream nor a stream of PyTorch or CuPy')
    return stream or LEGACY_STREAM


def current_stream(array, view):
    """The stream that the array's library uses now, or the one that the array's interface names."""
    library = _library_of(array)
    if library and library.__name__ == 'torch':
        return library.cuda.current_stream(array.device)
    if library and library.__name__ == 'cupy':
        return library.cuda.get_current_stream()
    return view.stream or LEGACY_STREAM


def view(name, array, stream=None):
    """The View of an array. Raises TypeError for what is none. stream is what DLPack's producer is told."""
    try:
        interface = getattr(array, '__cuda_array_interface__', None)
        if interface is not None:
            return _of_interface(name, array, interface, _device_of(array, interface['data'][0]))
        interface = getattr(array, '__array_interface__', None)
        if interface is not None and isinstance(interface.get('data'), tuple):
            return _of_interface(name, array, interface, None)
        if hasattr(array, '__dlpack__'):
            device_type = array.__dlpack_device__()[0]
            return _of_dlpack(name, array, int(device_type), LEGACY_STREAM if stream is None else stream)
    except (RuntimeError, BufferError) as reason:
        # PyTorch has no interface of a tensor that requires a gradient or is lazily negated.
        raise ValueError(f'{name}: {reason}') from reason
    try:
        import numpy
    except ImportError:
        raise TypeError(f'{name}: {type(array).__name__} has neither __array_interface__ nor __cuda_array_interface__ nor '
                        '__dlpack__, and the package numpy, which takes other things, is missing') from None
    return view(name, numpy.asarray(array))


def empty(name, array, of, shape=None):
    """A new array of the kind of `array` and on its device, of shape or of the same shape and order of the axes."""
    library = _library_of(array)
    if library is None and of.device is not None:
        raise TypeError(f'{name}: out is needed, because {type(array).__name__} does not say how such memory is allocated')
    if library is None or library.__name__ == 'numpy':
        import numpy
        return numpy.empty(shape, of.dtype) if shape else numpy.empty_like(array, subok=False) if library else numpy.empty(
            of.shape, ('>' if of.swapped == (sys.byteorder == 'little') else '<') + of.dtype)
    if shape is None:
        return library.empty_like(array)
    if library.__name__ == 'torch':
        return library.empty(shape, dtype=array.dtype, device=array.device)
    return library.empty(shape, array.dtype)


def contiguous(array):
    """A copy of a host array with samples and bytes in their usual order; None where the array is of no known kind."""
    library = _library_of(array)
    if library is None or library.__name__ == 'cupy':
        return None
    if library.__name__ == 'torch':
        return array.detach().contiguous().clone()
    return library.array(array, array.dtype.newbyteorder('='), order='C', subok=False)
