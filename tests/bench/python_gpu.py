#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python module on a GPU: checks bytes, streams and memory, and prints what calls take as CSV. Needs Python and CUDA alone.

    CUDACONVOLVE_LIBRARY=.../libcudaconvolve.so.0 tests/bench/python_gpu.py [--cudart FILE] \\
        [--size 1080p,4K] [--calls 200] [--check] >FILE.csv

Without CUDACONVOLVE_LIBRARY the installed module is taken. Device memory comes from libcudart through ctypes, as objects with
__cuda_array_interface__. Results are compared with those of the CPU, byte by byte. Where PyTorch or CuPy is installed, its arrays
are checked, too, and torch.nn.functional.conv2d(), CuPy's filters and CV-CUDA are timed where they are installed. --check leaves out
the times.

`device_us` is the time of a call on its stream, by events around many calls. `host_us` is what a call takes until it returns. copy is
cudaMemcpyAsync() from device to device. Exits 1 where a result differs, and 77 without a GPU.
"""
import argparse
import ctypes
import importlib.util
import math
import os
import pathlib
import random
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--cudart', help='libcudart.so, by default that of /usr/local/cuda')
parser.add_argument('--size', default='1080p,4K')
parser.add_argument('--calls', type=int, default=200)
parser.add_argument('--check', action='store_true')
options = parser.parse_args()
if os.environ.get('CUDACONVOLVE_LIBRARY'):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'examples' / 'packaging' / 'python'))
import cudaconvolve  # noqa: E402

SIZES = {'small': (97, 61), '1080p': (1920, 1080), '4K': (3840, 2160)}
BYTES = {'|u1': 1, '<u2': 2, '<f4': 4, '<i4': 4}
TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3
faults = []


def cudart():
    candidates = ['/usr/local/cuda/lib64/libcudart.so', 'libcudart.so', 'libcudart.so.13', 'libcudart.so.12']
    candidates = [options.cudart] if options.cudart else candidates
    for name in candidates:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    print(f'there is none of {", ".join(candidates)}')
    sys.exit(77)


try:
    NAME = cudaconvolve.device_name()
except cudaconvolve.DeviceError as reason:
    print(reason)
    sys.exit(77)
CUDA = cudart()
pointer = ctypes.c_void_p


def cuda(name, *arguments):
    code = getattr(CUDA, name)(*arguments)
    if code:
        sys.exit(f'{name}: error {code}')


def check(right, what):
    if not right:
        faults.append(what)
        print('FAILED', what, file=sys.stderr)


def strides_of(shape, size):
    strides = [size]
    for side in reversed(shape[1:]):
        strides.insert(0, strides[0] * side)
    return tuple(strides)


class Host:
    """An array of bytes in host memory."""

    def __init__(self, shape, typestr, data=None):
        self.shape, self.typestr, self.size = shape, typestr, BYTES[typestr]
        for side in shape:
            self.size *= side
        self.buffer = ctypes.create_string_buffer(bytes(data) if data else self.size, self.size)
        self.address = ctypes.addressof(self.buffer)
        self.__array_interface__ = {'shape': shape, 'typestr': typestr, 'data': (self.address, False), 'version': 3}

    def bytes(self):
        return self.buffer.raw


class Memory:
    """An array in device memory, or the part of one that begins `offset` bytes behind its start. stream as in the interface."""

    def __init__(self, shape, typestr, source=None, stream=None, strides=None, of=None, offset=0):
        self.shape, self.typestr, self.of = shape, typestr, of
        self.size = (strides or strides_of(shape, BYTES[typestr]))[0] * shape[0]
        if of is None:
            self.pointer = pointer()
            cuda('cudaMalloc', ctypes.byref(self.pointer), ctypes.c_size_t(self.size))
        address = of.pointer.value + offset if of else self.pointer.value
        self.__cuda_array_interface__ = {'shape': shape, 'typestr': typestr, 'data': (address, False), 'strides': strides,
                                         'stream': stream, 'version': 3}
        if source:
            cuda('cudaMemcpy', self.pointer, pointer(source.address), ctypes.c_size_t(self.size), TO_DEVICE)

    def host(self):
        result = Host(self.shape, self.typestr)
        cuda('cudaMemcpy', pointer(result.address), self.pointer, ctypes.c_size_t(self.size), TO_HOST)
        return result

    def free(self):
        cuda('cudaFree', self.pointer)


def random_host(shape, typestr, seed):
    count = 1
    for side in shape:
        count *= side
    draw = random.Random(seed)
    if typestr == '<f4':
        return Host(shape, typestr, memoryview((ctypes.c_float * count)(*[draw.random() for _ in range(count)])))
    return Host(shape, typestr, draw.randbytes(count * BYTES[typestr]))


def new_stream():
    stream = pointer()
    cuda('cudaStreamCreate', ctypes.byref(stream))
    return stream.value


FRACTIONS = [[random.Random(7).random() + 0.1 * (j * i % 7) for i in range(9)] for j in range(9)]
MASKS = {'gaussian sigma=2': dict(mask='gaussian', sigma=2), 'gaussian sigma=8': dict(mask='gaussian', sigma=8),
         'fractions 3x3': dict(mask=[row[:3] for row in FRACTIONS[:3]], divisor=4.7), 'fractions 9x9': dict(mask=FRACTIONS, divisor=61.3),
         'box 31x31': dict(mask='box', width=31), 'sobel': dict(mask='sobel'), 'motion:30 31': dict(mask='motion:30', width=31)}
FORMATS = {'gray8': (1, '|u1'), 'rgb': (3, '|u1'), 'rgba': (4, '|u1'), 'gray16': (1, '<u2'), 'rgb16': (3, '<u2'), 'grayf': (1, '<f4')}


def shape_of(size, channels):
    width, height = SIZES[size]
    return (height, width) if channels == 1 else (height, width, channels)


def same(ours, theirs, typestr, what):
    """Bytes are equal; of 16 bits a code value more or less is allowed, and of floats 1e-4 (masks that are not exact)."""
    if typestr == '|u1':
        check(ours == theirs, what)
        return
    kind = ctypes.c_uint16 if typestr == '<u2' else ctypes.c_float
    ours, theirs = ((kind * (len(data) // ctypes.sizeof(kind))).from_buffer_copy(data) for data in (ours, theirs))
    check(max(abs(a - b) for a, b in zip(ours, theirs)) <= (1 if typestr == '<u2' else 1e-4), what)


def check_bytes():
    """Every mask, format and boundary as on the CPU; also a window of a larger picture, around which nothing is written."""
    count = 0
    for name, (channels, typestr) in FORMATS.items():
        shape = shape_of('small', channels)
        source = random_host(shape, typestr, name)
        image, out = Memory(shape, typestr, source), Memory(shape, typestr, Host(shape, typestr))
        for mask, arguments in MASKS.items():
            if typestr == '<f4' and mask == 'sobel':
                continue
            for boundary in cudaconvolve.boundaries if typestr != '<f4' else cudaconvolve.boundaries[:-1]:
                wanted = Host(shape, typestr)
                cudaconvolve.filter2d(source, boundary=boundary, out=wanted, **arguments)
                cudaconvolve.filter2d(image, boundary=boundary, out=out, **arguments)
                same(out.host().bytes(), wanted.bytes(), typestr, f'{name} {mask} {boundary}')
                count += 1
        image.free()
        out.free()
    shape, inner = (61, 97, 3), (40, 50, 3)
    source = random_host(shape, '|u1', 'window')
    image, out = Memory(shape, '|u1', source), Memory(shape, '|u1', source)
    strides, offset = strides_of(shape, 1), 5 * 97 * 3 + 7 * 3
    rows = [source.bytes()[y * 291 + offset:y * 291 + offset + 150] for y in range(40)]
    wanted = Host(inner, '|u1')
    cudaconvolve.filter2d(Host(inner, '|u1', b''.join(rows)), out=wanted, **MASKS['fractions 9x9'])
    views = [Memory(inner, '|u1', strides=strides, of=memory, offset=offset) for memory in (image, out)]
    cudaconvolve.filter2d(views[0], out=views[1], **MASKS['fractions 9x9'])
    expected = bytearray(source.bytes())
    for y in range(40):
        expected[y * 291 + offset:y * 291 + offset + 150] = wanted.bytes()[y * 150:(y + 1) * 150]
    check(out.host().bytes() == bytes(expected), 'a window of a picture')
    print(f'# {count + 1} pictures compared with the CPU', file=sys.stderr)


def check_layer():
    draw = random.Random(3)
    shape = 2, 3, 30, 41
    weights = [[[[draw.random() - 0.5 for _ in range(3)] for _ in range(3)] for _ in range(3)] for _ in range(8)]
    source = random_host(shape, '<f4', 'layer')
    arguments = dict(stride=2, padding='same', activation='relu', pool=2)
    wanted = Host((2, 8, 7, 10), '<f4')
    out = Memory((2, 8, 7, 10), '<f4')
    cudaconvolve.layer(source, weights, out=wanted, **arguments)
    cudaconvolve.layer(Memory(shape, '<f4', source), weights, out=out, **arguments)
    same(out.host().bytes(), wanted.bytes(), '<f4', 'layer')


def check_streams():
    """The work of the stream before a call is done before it, and the call before what follows; memory does not grow."""
    shape = shape_of('1080p', 3)
    sources = [random_host(shape, '|u1', f'stream {k}') for k in range(2)]
    wanted = []
    for source in sources:
        wanted.append(Host(shape, '|u1'))
        cudaconvolve.gaussian(source, 8, out=wanted[-1])
    parts = [Memory(shape, '|u1', source) for source in sources]
    image, out, copy = (Memory(shape, '|u1') for _ in range(3))
    bytes_, free, total = ctypes.c_size_t(image.size), [], ctypes.c_size_t()
    for stream in (1, 2, new_stream(), new_stream()):
        for given in ('argument', 'interface'):
            view = Memory(shape, '|u1', of=image, stream=stream) if given == 'interface' else image
            for k in range(40):
                cuda('cudaMemcpyAsync', image.pointer, parts[k % 2].pointer, bytes_, ON_DEVICE, pointer(stream))
                cudaconvolve.gaussian(view, 8, out=out, **({'stream': stream} if given == 'argument' else {}))
                cuda('cudaMemcpyAsync', copy.pointer, out.pointer, bytes_, ON_DEVICE, pointer(stream))
                cuda('cudaMemsetAsync', out.pointer, 0, bytes_, pointer(stream))
                if k > 37:
                    cuda('cudaStreamSynchronize', pointer(stream))
                    check(copy.host().bytes() == wanted[k % 2].bytes(), f'stream {stream:#x} by its {given}, call {k}')
                left = ctypes.c_size_t()
                cuda('cudaMemGetInfo', ctypes.byref(left), ctypes.byref(total))
                free.append(left.value)
            check(len(set(free[-20:])) == 1, f'memory changes from call to call: {sorted(set(free[-20:]))}')
    cudaconvolve.clear()
    print('# streams: default, of the thread, two others', file=sys.stderr)


def check_frameworks():
    if importlib.util.find_spec('torch'):
        import torch
        if torch.cuda.is_available():
            for dtype in (torch.uint8, torch.float32):
                host = torch.randint(0, 255, (2, 61, 97, 3)).to(dtype)
                stream = torch.cuda.Stream()
                with torch.cuda.stream(stream):
                    ours = cudaconvolve.gaussian(host.cuda(), 2)
                    planes = cudaconvolve.gaussian(host.cuda().permute(0, 3, 1, 2).contiguous().permute(0, 2, 3, 1), 2)
                stream.synchronize()
                theirs = cudaconvolve.gaussian(host, 2)
                for result in (ours, planes):
                    check((result.cpu().float() - theirs.float()).abs().max() < 1e-3, f'torch {dtype}')
            print('# torch compared', file=sys.stderr)
    if importlib.util.find_spec('cupy'):
        import cupy
        host = random_host((61, 97, 3), '|u1', 'cupy')
        array = cupy.frombuffer(host.bytes(), 'u1').reshape(61, 97, 3) if hasattr(cupy, 'frombuffer') else None
        if array is not None:
            wanted = Host((61, 97, 3), '|u1')
            cudaconvolve.gaussian(host, 2, out=wanted)
            with cupy.cuda.Stream() as stream:
                ours = cudaconvolve.gaussian(array, 2)
                stream.synchronize()
            check(ours.tobytes() == wanted.bytes(), 'cupy')
            print('# cupy compared', file=sys.stderr)


def timed(function, stream):
    """Microseconds of a call on the device and of the host."""
    events = [pointer(), pointer()]
    for event in events:
        cuda('cudaEventCreate', ctypes.byref(event))
    best = [1e9, 1e9]
    for _ in range(3):
        for _ in range(10):
            function()
        cuda('cudaStreamSynchronize', pointer(stream))
        cuda('cudaEventRecord', events[0], pointer(stream))
        start = time.perf_counter()
        for _ in range(options.calls):
            function()
        host = time.perf_counter() - start
        cuda('cudaEventRecord', events[1], pointer(stream))
        cuda('cudaEventSynchronize', events[1])
        elapsed = ctypes.c_float()
        cuda('cudaEventElapsedTime', ctypes.byref(elapsed), *events)
        best = [min(best[0], elapsed.value * 1e3 / options.calls), min(best[1], host * 1e6 / options.calls)]
    return best


def torch_row(size, name, channels, arguments):
    """torch's conv2d() in float16, planes of one channel each, on its own stream; None without torch."""
    if not importlib.util.find_spec('torch'):
        return None
    import torch
    width, height = SIZES[size]
    side = len(arguments['mask'])
    image = torch.rand(channels, 1, height, width, device='cuda', dtype=torch.float16)
    weights = torch.tensor(arguments['mask'], device='cuda', dtype=torch.float16).reshape(1, 1, side, side)
    return timed(lambda: torch.nn.functional.conv2d(image, weights, padding=side // 2), torch.cuda.current_stream().cuda_stream or 1)


def cupy_row(name, shape, typestr, arguments, stream):
    """CuPy's gaussian_filter(), uniform_filter() or convolve() with the same boundary; None where there is none for the mask."""
    if not importlib.util.find_spec('cupy'):
        return None
    import cupy
    from cupyx.scipy import ndimage
    mask, flat = arguments['mask'], (1,) * (len(shape) - 2)
    try:
        with cupy.cuda.ExternalStream(stream):
            image, out = cupy.full(shape, 77, typestr), cupy.empty(shape, typestr)
            given = dict(output=out, mode='nearest')
            if isinstance(mask, list):
                taps = cupy.asarray(mask, 'f4').reshape(len(mask), len(mask), *flat) / cupy.float32(arguments['divisor'])
                return timed(lambda: ndimage.convolve(image, taps, **given), stream)
            if mask == 'gaussian':
                sigmas = (arguments['sigma'],) * 2 + (0,) * len(flat)
                return timed(lambda: ndimage.gaussian_filter(image, sigmas, truncate=3, **given), stream)
            if mask == 'box':
                return timed(lambda: ndimage.uniform_filter(image, (arguments['width'],) * 2 + flat, **given), stream)
        return None
    except Exception as reason:
        print(f'# CuPy, {name} {mask if isinstance(mask, str) else len(mask)}: {reason}'.split('\n')[0], file=sys.stderr)
        return None


def batch_of(cvcuda, image):
    batch = cvcuda.ImageBatchVarShape(1)
    batch.pushback(image)
    return batch


def cvcuda_row(name, shape, typestr, arguments, stream):
    """CV-CUDA's gaussian(), averageblur() or conv2d() with the same boundary; None where there is none for the format or the mask."""
    if not importlib.util.find_spec('cvcuda'):
        return None
    import cvcuda
    deep = shape if len(shape) == 3 else (*shape, 1)
    image, out = Memory(deep, typestr), Memory(deep, typestr)
    mask, border, on = arguments['mask'], cvcuda.Border.REPLICATE, cvcuda.as_stream(stream)
    try:
        if isinstance(mask, list):
            weights = (ctypes.c_float * len(mask) ** 2)(*[tap / arguments['divisor'] for row in mask for tap in row])
            square = len(mask), len(mask), 1
            taps = Memory(square, '<f4', Host(square, '<f4', memoryview(weights)))
            anchor = Memory((1, 2), '<i4', Host((1, 2), '<i4', memoryview((ctypes.c_int32 * 2)(-1, -1))))
            given = [batch_of(cvcuda, cvcuda.as_image(memory)) for memory in (out, image, taps)]
            given += [cvcuda.as_tensor(anchor, 'NC'), border]
            function = cvcuda.conv2d_into
        else:
            given = [cvcuda.as_tensor(memory, 'HWC') for memory in (out, image)]
            if mask == 'gaussian':
                side = 2 * math.ceil(3 * arguments['sigma']) + 1
                given += [(side, side), (arguments['sigma'], arguments['sigma']), border]
                function = cvcuda.gaussian_into
            elif mask == 'box':
                given += [(arguments['width'], arguments['width']), (-1, -1), border]
                function = cvcuda.averageblur_into
            else:
                return None
        return timed(lambda: function(*given, stream=on), stream)
    except Exception as reason:
        print(f'# CV-CUDA, {name} {mask if isinstance(mask, str) else len(mask)}: {reason}'.split('\n')[0], file=sys.stderr)
        return None
    finally:
        cuda('cudaStreamSynchronize', pointer(stream))
        image.free()
        out.free()


def measure():
    print(f'# {NAME}, {options.calls} calls, Python {sys.version.split()[0]}')
    print('size,format,what,mask,device_us,host_us', flush=True)
    stream = new_stream()
    for size in options.size.split(','):
        for name, (channels, typestr) in FORMATS.items():
            shape = shape_of(size, channels)
            image, out = Memory(shape, typestr), Memory(shape, typestr)
            cuda('cudaMemset', image.pointer, 77, ctypes.c_size_t(image.size))
            arguments = out.pointer, image.pointer, ctypes.c_size_t(image.size), ON_DEVICE, pointer(stream)
            copy = timed(lambda: cuda('cudaMemcpyAsync', *arguments), stream)
            print(f'{size},{name},cudaMemcpyAsync,copy,{copy[0]:.1f},{copy[1]:.1f}', flush=True)
            for mask, arguments in MASKS.items():
                if typestr == '<f4' and mask == 'sobel':
                    continue
                times = timed(lambda: cudaconvolve.filter2d(image, out=out, stream=stream, **arguments), stream)
                print(f'{size},{name},cudaconvolve,{mask},{times[0]:.1f},{times[1]:.1f}', flush=True)
                for what, row in ('CV-CUDA', cvcuda_row), ('CuPy', cupy_row):
                    peer = row(name, shape, typestr, arguments, stream)
                    if peer:
                        print(f'{size},{name},{what},{mask},{peer[0]:.1f},{peer[1]:.1f}', flush=True)
                if 'fractions' in mask and typestr == '|u1':
                    times = torch_row(size, name, channels, arguments)
                    if times:
                        print(f'{size},{name},torch conv2d float16,{mask},{times[0]:.1f},{times[1]:.1f}', flush=True)
            image.free()
            out.free()


def main():
    print(f'# {NAME}', file=sys.stderr)
    check_bytes()
    check_layer()
    check_streams()
    check_frameworks()
    print(f'# {len(faults)} faults', file=sys.stderr)
    if not options.check:
        measure()
    return 1 if faults else 0


sys.exit(main())
