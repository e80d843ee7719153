#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the Python module cudaconvolve against the definitions in words. Exits 77 where the package numpy is missing.

    tests/library/python_module.py [--library FILE] [--fake FILE] [--masks PROGRAM] [--seed N] [--cases N]

--library takes the module of this tree with that shared library; without it the installed module is checked. --fake is the library
over the fake device, whose memory is the host's, so that the way of arrays in CUDA memory is checked on every machine. --masks is
print_masks, whose taps the module's presets must have to the last bit.
"""
import argparse
import ctypes
import fractions
import os
import pathlib
import random
import subprocess
import sys
import threading
import types

try:
    import numpy
except ImportError:
    print('there is no Python package numpy: pip install numpy, or Debian\'s python3-numpy')
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parents[2]
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--library')
parser.add_argument('--fake')
parser.add_argument('--masks')
parser.add_argument('--seed', type=int, default=random.randrange(1 << 32))
parser.add_argument('--cases', type=int, default=1500 if os.environ.get('CUDACONVOLVE_ALL_CASES') else 150)
options = parser.parse_args()
on_fake = os.environ.get('PYTHON_MODULE_FAKE') == '1'
if options.library:
    os.environ['CUDACONVOLVE_LIBRARY'] = options.library
    sys.path.insert(0, str(TOP / 'examples' / 'packaging' / 'python'))
import cudaconvolve  # noqa: E402
from cudaconvolve import _arrays, _library, _masks, _plans  # noqa: E402

faults = []


def check(right, *what):
    if not right:
        faults.append(' '.join(map(str, what)))
        print('FAILED', faults[-1])


def raises(kind, words, function, *arguments, **others):
    try:
        function(*arguments, **others)
    except kind as reason:
        check(all(word in str(reason) for word in words.split('|')), f'"{reason}" lacks one of {words}')
    except Exception as reason:
        check(False, f'{type(reason).__name__} "{reason}" instead of {kind.__name__} with {words}')
    else:
        check(False, f'{kind.__name__} with {words} was expected')


# --- the definitions, in numpy and fractions ---

def outside_index(i, n, boundary):
    """Which sample stands at place i of a row of n; None for the constant."""
    if boundary == 'replicate':
        return min(max(i, 0), n - 1)
    if boundary == 'wrap':
        return i % n
    if boundary in ('reflect', 'reflect-101'):
        period = 2 * n if boundary == 'reflect' else max(2 * n - 2, 1)
        i %= period
        return i if i < n else period - i - (1 if boundary == 'reflect' else 0)
    return i if 0 <= i < n else None


def padded(image, up, left, down, right, boundary, outside):
    """Planes [..., H, W] with what lies around them."""
    height, width = image.shape[-2:]
    rows = [outside_index(y, height, boundary) for y in range(-up, height + down)]
    columns = [outside_index(x, width, boundary) for x in range(-left, width + right)]
    result = image[..., [0 if y is None else y for y in rows], :][..., [0 if x is None else x for x in columns]].copy()
    result[..., [y is None for y in rows], :] = outside
    result[..., [x is None for x in columns]] = outside
    return result


def correlate(plane, taps, boundary, outside, kind):
    """The sums of a plane [H, W] in exact integers or in doubles."""
    taps = numpy.asarray(taps)
    up, left = taps.shape[0] // 2, taps.shape[1] // 2
    wide = padded(plane.astype(kind), up, left, taps.shape[0] - 1 - up, taps.shape[1] - 1 - left, boundary, outside)
    result = numpy.zeros(plane.shape, kind)
    for j in range(taps.shape[0]):
        for i in range(taps.shape[1]):
            result += taps[j, i] * wide[j:j + plane.shape[0], i:i + plane.shape[1]]
    return result


def rounded(sums, divisor, offset, most):
    """floor (sum / divisor + offset + 1/2) of integers, in fractions, clamped. The offset is rounded to 1/256 first."""
    factor, start = 1 / fractions.Fraction(divisor), (offset * most * 256 + fractions.Fraction(1, 2)) // 1 / fractions.Fraction(256)
    scale = factor.denominator * start.denominator * 2
    value = (sums.astype(object) * int(factor * scale) + int((start + fractions.Fraction(1, 2)) * scale)) // scale
    return numpy.clip(value, 0, most).astype(numpy.int64)


def planes_of(image):
    """A list of planes [H, W], whatever the number of axes."""
    if image.ndim == 2:
        return [image]
    stack = image[None] if image.ndim == 3 else image
    return [stack[n, :, :, c] for n in range(stack.shape[0]) for c in range(stack.shape[3])]


# --- random cases ---

def random_view(draw, make):
    """An array of random samples, and a view of it: cut, turned, with steps or with its axes in another order."""
    axes = draw.choice(['HW', 'HWC', 'NHWC'])
    sizes = {'H': draw.randint(1, 20), 'W': draw.randint(1, 40), 'C': draw.randint(1, 6), 'N': draw.randint(1, 3)}
    shape = [sizes[axis] for axis in axes]
    kind = draw.choice(['plain', 'plain', 'cut', 'steps', 'turned', 'order'])
    if kind == 'order':
        order = list(range(len(shape)))
        draw.shuffle(order)
        return make([shape[i] for i in order]).transpose([order.index(i) for i in range(len(shape))]), kind
    if kind == 'cut':
        return make([side + 3 for side in shape])[tuple(slice(1, 1 + side) for side in shape)], kind
    if kind == 'steps':
        steps = [draw.randint(1, 3) for _ in shape]
        return make([side * step for side, step in zip(shape, steps)])[tuple(slice(None, None, step) for step in steps)], kind
    return make(shape)[tuple(slice(None, None, draw.choice([1, -1])) for _ in shape)] if kind == 'turned' else make(shape), kind


class Hidden:
    """An array that shows one interface alone, with the methods that a producer has."""

    def __init__(self, owner, interface, stream=None, device=1):
        self.owner, self.device, self.streams = owner, device, []
        if interface == 'cuda':
            self.__cuda_array_interface__ = dict(owner.__array_interface__, stream=stream, version=3)
        else:
            self.__dlpack__, self.__dlpack_device__ = self.dlpack, lambda: (device, 0)

    def dlpack(self, stream=None):
        self.streams.append(stream)
        return self.owner.__dlpack__()


def used_stream():
    return ctypes.c_void_p.in_dll(_library.LIBRARY, 'fake_device_stream').value


def on_device(image, out, draw):
    """The arguments of a call for arrays in host memory, or for the same memory as the fake device's."""
    if not on_fake:
        return image, {} if draw.random() < 0.7 else {'out': out}
    stream = draw.choice([None, 1, 2, 7, 4096])
    if draw.random() < 0.3 and image.flags.writeable and image.dtype.isnative:
        return Hidden(image, 'dlpack', device=2), {'out': Hidden(out, 'cuda'), 'stream': stream}
    return Hidden(image, 'cuda', stream=stream), {'out': Hidden(out, 'cuda')}


def integer_case(draw, number):
    dtype = draw.choice(['u1', 'u1', '<u2', '>u2'])
    most = 255 if dtype == 'u1' else 65535
    depth = None if dtype == 'u1' or draw.random() < 0.6 else draw.randint(9, 16)
    top = (1 << depth) - 1 if depth else most
    generator = numpy.random.default_rng([options.seed, number])
    image, kind = random_view(draw, lambda shape: generator.integers(0, most + 1, shape).astype(dtype))
    boundary = draw.choice(cudaconvolve.boundaries)
    outside = draw.randint(0, top) if boundary == 'constant' else 0
    height, width = draw.randint(1, 6), draw.randint(1, 6)
    taps = [[draw.randint(-5, 9) for _ in range(width)] for _ in range(height)]
    divisor, offset = draw.choice([None, 1, 3, 16]), fractions.Fraction(draw.randint(-8, 8), 16)
    what = f'--seed {options.seed}, case {number}: {dtype} {image.shape} {kind} {boundary} {taps} / {divisor}, depth {depth}'
    out = numpy.full(image.shape, 1, dtype)
    arguments = dict(divisor=divisor, offset=float(offset), depth=depth, **({'outside': outside} if boundary == 'constant' else {}))
    before = image.copy()
    given, more = on_device(image, out, draw)
    try:
        result = cudaconvolve.filter2d(given, taps if draw.random() < 0.5 else numpy.array(taps), boundary, **arguments, **more)
    except ValueError as reason:
        # Without a copy, the fake device refuses what the library cannot use in place.
        check(on_fake and kind != 'plain' and 'without a copy' in str(reason), f'{what}: {reason}')
        return
    if on_fake:
        stream = more.get('stream') or getattr(given, '__cuda_array_interface__', {}).get('stream') or 1
        check(stream in _arrays_streams(), f'{what}: the stream {stream} was not used')
        check(all(one == (more.get('stream') or 1) for one in given.streams), f'{what}: the producer was told {given.streams}')
        result = out
    elif 'out' in more:
        check(result is out, f'{what}: out is not returned')
    check(result.dtype == image.dtype and result.shape == image.shape, f'{what}: {result.dtype} {result.shape}')
    check((image == before).all(), f'{what}: the image was changed')
    for source, plane in zip(planes_of(image), planes_of(result)):
        wanted = rounded(correlate(numpy.minimum(source, top), taps, boundary, outside, numpy.int64), divisor or 1, offset, top)
        if not (plane == wanted).all():
            check(False, f'{what}: {plane.tolist()} and not {wanted.tolist()}')
            return


def _arrays_streams():
    return {key[1] for key in _plans._state.devices}


def float_case(draw, number):
    dtype = draw.choice(['<f4', '<f4', '>f4', '<f2'])
    generator = numpy.random.default_rng([options.seed, number])
    image, kind = random_view(draw, lambda shape: generator.standard_normal(shape).astype(dtype))
    boundary = draw.choice(cudaconvolve.boundaries[:-1])
    taps = generator.standard_normal((draw.randint(1, 6), draw.randint(1, 6)))
    what = f'--seed {options.seed}, case {number}: {dtype} {image.shape} {kind} {boundary} {taps.tolist()}'
    out = numpy.zeros(image.shape, dtype)
    given, more = on_device(image, out, draw)
    try:
        result = cudaconvolve.filter2d(given, taps, boundary, divisor=2.0, offset=0.25, **more)
    except ValueError as reason:
        check(on_fake and dtype == '>f4' and 'byte order' in str(reason), f'{what}: {reason}')
        return
    result = out if on_fake else result
    check(result.dtype == image.dtype, f'{what}: {result.dtype}')
    for source, plane in zip(planes_of(image), planes_of(result)):
        wanted = correlate(source, taps / 2, boundary, 0, float) + 0.25
        size = correlate(abs(source), abs(taps / 2), boundary, 0, float) + 0.25
        bound = (1e-5 if dtype[1:] == 'f4' else 2e-3) * size + 2.0 ** -36 * 36 * 10 + (0 if dtype[1:] == 'f4' else 2.0 ** -24)
        # The taps themselves become float32.
        if not (abs(plane - wanted) <= bound + 2.0 ** -24 * size).all():
            check(False, f'{what}: differs by {abs(plane - wanted).max()}')
            return


def layer_case(draw, number):
    generator = numpy.random.default_rng([options.seed, number])
    groups, filters, of_group = draw.randint(1, 2), draw.randint(1, 2), draw.randint(1, 3)
    filters *= groups
    kernel, stride, dilation = ([draw.randint(1, most) for _ in 'yx'] for most in (3, 2, 2))
    pad, pool = [draw.randint(0, 3) for _ in range(4)], draw.randint(1, 2)
    image = generator.standard_normal((draw.randint(1, 2), groups * of_group, draw.randint(10, 16), draw.randint(10, 20))).astype('f4')
    weights = generator.standard_normal((filters, of_group, *kernel)).astype('f4')
    bias = generator.standard_normal(filters).astype('f4')
    boundary = draw.choice(['zero', 'replicate', 'reflect'])
    activation = draw.choice(cudaconvolve.activations)
    what = f'--seed {options.seed}, case {number}: layer {image.shape} {weights.shape} {stride} {dilation} {pad} {groups} {pool}'
    wide = padded(image.astype(float), pad[0], pad[2], pad[1], pad[3], boundary, 0)
    rows, columns = ((wide.shape[2 + k] - dilation[k] * (kernel[k] - 1) - 1) // stride[k] + 1 for k in range(2))
    wanted = numpy.zeros((image.shape[0], filters, rows, columns)) + bias[None, :, None, None].astype(float)
    for k in range(filters):
        for c in range(of_group):
            plane = wide[:, k // (filters // groups) * of_group + c]
            for j in range(kernel[0]):
                for i in range(kernel[1]):
                    y, x = j * dilation[0], i * dilation[1]
                    wanted[:, k] += float(weights[k, c, j, i]) * plane[
                        :, y:y + rows * stride[0]:stride[0], x:x + columns * stride[1]:stride[1]][:, :rows, :columns]
    wanted = {'none': wanted, 'relu': numpy.maximum(wanted, 0), 'absolute': abs(wanted)}[activation]
    if pool > 1:
        rows, columns = rows // 2, columns // 2
        wanted = wanted[:, :, :rows * 2, :columns * 2].reshape(*wanted.shape[:2], rows, 2, columns, 2).max((3, 5))
    single = image.shape[0] == 1 and draw.random() < 0.5
    given = image[0] if single else image
    out = numpy.zeros(wanted.shape[single:], 'f4')
    given, more = on_device(given, out, draw)
    weights = weights if draw.random() < 0.5 else weights.tolist()
    result = cudaconvolve.layer(given, weights, bias, stride=tuple(stride), dilation=tuple(dilation), padding=tuple(pad),
                                groups=groups, boundary=boundary, activation=activation, pool=pool, **more)
    result = out if on_fake else result
    check(result.shape == wanted.shape[single:] and abs(result - (wanted[0] if single else wanted)).max() < 1e-3, what)


# --- fixed checks ---

def check_structs():
    """The structs have the places that kernels/abi.txt lists."""
    places = {}
    for line in (TOP / 'kernels' / 'abi.txt').read_text().splitlines():
        if line.startswith('member '):
            name, _, place = line.split(':')[0].partition(' at ')
            places[name.split()[1]] = int(place)
    for struct in (_library.Error, _library.Pixel, _library.Mask, _library.Plane, _library.Layer, _library.Tensor, _library.Task):
        name = 'Convolve' + {'Tensor': 'LayerTensor', 'Task': 'LayerTask'}.get(struct.__name__, struct.__name__)
        theirs = {key.split('.')[1]: place for key, place in places.items() if key.split('.')[0] == name}
        ours = {field: getattr(struct, field).offset for field, _ in struct._fields_}
        check(theirs == ours, f'{name}: {ours} and not {theirs}')


def check_presets(program):
    """The presets are the element's, and their taps to the last bit."""
    names = subprocess.run([program, '--names'], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    check(sorted(names) == sorted(_masks.PRESETS), f'the element has the presets {names}, and the module {list(_masks.PRESETS)}')
    cases = []
    for name, preset in _masks.PRESETS.items():
        arguments = [''] + ([':4', ':8'] if name == 'laplacian' else [':0', ':0.3', ':2.75', ':45', ':90', ':100']
                            if preset.argument else [])
        sizes = [(0, 0), (1, 1), (3, 3), (7, 5), (1, 9), (31, 31), (45, 1)] if preset.sized else [(0, 0)]
        for argument in arguments:
            for width, height in sizes:
                for sigma in [-1, 0, 0.5, 2, 7.3] if preset.radius_in_sigmas else [-1]:
                    cases.append((name + argument, width, height, sigma, 0, 0))
    cases += [('motion:-77.5', 255, 101, -1, 0, 0), ('emboss:-200', 0, 0, -1, 0, 0.25), ('box', 9, 0, -1, 7, 0),
              ('emboss', 0, 0, -1, 0, 0.75), ('laplacian:5', 0, 0, -1, 0, 0), ('unsharp:101', 0, 0, -1, 0, 0),
              ('sobel', 5, 0, -1, 0, 0),
              ('gaussian', 4, 0, -1, 0, 0), ('box:3', 0, 0, -1, 0, 0), ('log', 0, 0, 32, 0, 0), ('gaussian', 0, 0, 1001, 0, 0)]
    lines = subprocess.run([program], input='\n'.join(' '.join(map(str, case)) for case in cases), stdout=subprocess.PIPE, check=True,
                           text=True).stdout.splitlines()
    check(len(lines) == len(cases), 'print_masks did not answer to every line')
    refused = 0
    for (text, width, height, sigma, divisor, bias), line in zip(cases, lines):
        what = f'{text} {width}x{height} sigma {sigma} divisor {divisor} bias {bias}'
        try:
            made = _masks.of(text, width or None, height or None, None if sigma == -1 else sigma, divisor or None, bias)
        except ValueError as reason:
            check(line.startswith('refused'), f'{what}: {reason}')
            refused += 1
            continue
        if line.startswith('refused'):
            check(False, f'{what}: taken, and the element says {line}')
            continue
        numbers = line.split()
        struct, sets = made.struct, int(numbers[4])
        check([struct.width, struct.height, struct.offset, struct.combination] ==
              [int(numbers[0]), int(numbers[1]), float.fromhex(numbers[2]), int(numbers[3])], f'{what}: {line[:60]}')
        check(made.divisors == [float.fromhex(number) for number in numbers[5:5 + sets]], f'{what}: the divisors')
        check(list(made.taps) == [float.fromhex(number) for number in numbers[5 + sets:]], f'{what}: the taps')
    print(f'{len(cases)} masks of presets, {refused} of them refused by both')
    check(refused == 8, f'{refused} masks are refused')


def check_errors():
    image, mask = numpy.zeros((5, 6, 3), 'u1'), numpy.ones((3, 3))
    filter2d = cudaconvolve.filter2d
    raises(TypeError, 'image|int64|uint8, uint16', filter2d, image.astype('i8'), mask)
    raises(TypeError, 'image|b1', filter2d, image > 1, mask)
    raises(ValueError, 'image|shape (6, 3, 1, 1, 1)', filter2d, image[0, :, :, None, None, None], mask)
    raises(ValueError, 'mask|two dimensions', filter2d, image, [1, 2, 3])
    raises(ValueError, 'mask|same number', filter2d, image, [[1, 2], [3]])
    raises(ValueError, 'mask|1 to 255', filter2d, image, numpy.ones((1, 256)))
    raises(ValueError, 'mask|1 to 255', filter2d, image, [])
    raises(ValueError, 'mask|finite', filter2d, image, [[float('nan')]])
    raises(ValueError, 'mask|gausian|gaussian', filter2d, image, 'gausian')
    raises(ValueError, 'mask|motion|-360', filter2d, image, 'motion:400')
    raises(ValueError, 'width|odd', filter2d, image, 'box', width=4)
    raises(ValueError, 'sigma', filter2d, image, 'box', sigma=2)
    raises(ValueError, 'for presets', filter2d, image, mask, sigma=2)
    raises(ValueError, 'sigma|width', cudaconvolve.gaussian, image, 43)
    raises(ValueError, 'divisor', filter2d, image, mask, divisor=0)
    raises(ValueError, 'offset', filter2d, image, mask, offset=1.5)
    raises(ValueError, 'boundary|mirror|replicate', filter2d, image, mask, 'mirror')
    raises(ValueError, 'outside|255', filter2d, image, mask, 'constant', outside=256)
    raises(ValueError, 'outside|3 channels', filter2d, image, mask, 'constant', outside=(1, 2))
    raises(ValueError, 'outside|replicate', filter2d, image, mask, outside=3)
    raises(ValueError, 'depth', filter2d, image, mask, depth=10)
    raises(ValueError, 'out|overlaps', filter2d, image, mask, out=image)
    raises(ValueError, 'out|overlaps', filter2d, image[:3], mask, out=image[4:1:-1])
    raises(ValueError, 'out|shape', filter2d, image, mask, out=image[:4].copy())
    raises(TypeError, 'out|uint8', filter2d, image, mask, out=image.astype('u2'))
    raises(ValueError, 'stream', filter2d, image, mask, stream=1)
    raises(ValueError, 'variant|nothing', filter2d, image, mask, variant='nothing')
    raises(ValueError, 'threads', cudaconvolve.set_threads, -1)
    raises(TypeError, 'combine', filter2d, image.astype('f4'), 'sobel')
    raises(ValueError, 'constant', filter2d, image.astype('f4'), mask, 'constant')
    locked = image.copy()
    locked.flags.writeable = False
    raises(ValueError, 'read-only', filter2d, image, mask, out=locked)
    planes = numpy.zeros((3, 8, 9), 'f4')
    raises(ValueError, 'weights|2 channels|3', cudaconvolve.layer, planes, numpy.ones((4, 2, 3, 3)))
    raises(ValueError, 'weights|4 dimensions', cudaconvolve.layer, planes, numpy.ones((4, 3, 3)))
    raises(ValueError, 'bias|5|4', cudaconvolve.layer, planes, numpy.ones((4, 3, 3, 3)), [0] * 5)
    raises(ValueError, 'stride', cudaconvolve.layer, planes, numpy.ones((4, 3, 3, 3)), stride=0)
    raises(ValueError, 'padding', cudaconvolve.layer, planes, numpy.ones((4, 3, 3, 3)), padding=(1, 2, 3))
    raises(AttributeError, 'blur', lambda: cudaconvolve.blur)


def check_presets_work():
    """Combinations, and functions of their own, on one picture."""
    image = numpy.random.default_rng(options.seed).integers(0, 256, (23, 31), 'u1')
    right = numpy.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    x, y = (correlate(image, taps, 'replicate', 0, numpy.int64) for taps in (right, right.T))
    check((cudaconvolve.filter2d(image, 'sobel') == numpy.clip(numpy.floor(numpy.sqrt(x * x + y * y) + 0.5), 0, 255)).all(), 'sobel')
    wanted = rounded(correlate(image, numpy.ones((5, 7), int), 'wrap', 0, numpy.int64), 35, 0, 255)
    check((cudaconvolve.box(image, 7, 5, 'wrap') == wanted).all(), 'box')
    line = numpy.exp(-0.5 * (numpy.arange(-6, 7) / 2) ** 2)
    sums = correlate(image, numpy.outer(line, line) / line.sum() ** 2, 'replicate', 0, float)
    check((abs(cudaconvolve.gaussian(image, 2) - sums) <= 0.5 + 1 / 64).all(), 'gaussian')
    sums = correlate(image, [[-1, -1, 0], [-1, 0, 1], [0, 1, 1]], 'replicate', 0, numpy.int64)
    check((cudaconvolve.filter2d(image, 'emboss:135') == rounded(sums, 1, fractions.Fraction(1, 2), 255)).all(), 'emboss')
    floats = image.astype('f4') - 100
    for boundary in cudaconvolve.boundaries[:-1]:
        for result, taps in ((cudaconvolve.gaussian(floats, 2, boundary, offset=0.5), numpy.outer(line, line) / line.sum() ** 2),
                             (cudaconvolve.box(floats, 7, 3, boundary, offset=0.5), numpy.ones((3, 7)) / 21)):
            error = abs(result - correlate(floats, taps, boundary, 0, float) - 0.5)
            check((error <= 2e-5 * (correlate(abs(floats), taps, boundary, 0, float) + 0.5)).all(), f'floats, {boundary}: {error.max()}')
    kept = numpy.dstack([image] * 4)
    out = kept.copy()
    cudaconvolve.box(kept[..., :3], 3, out=out[..., :3])
    check((out[..., 3] == image).all() and (out[..., 0] == cudaconvolve.box(image, 3)).all(), 'three channels of four, in place')
    for kind in (Hidden(image, 'dlpack'), memoryview(image)):
        check((cudaconvolve.box(kind, numpy.int64(3)) == cudaconvolve.box(image, 3)).all(), type(kind))
    raises(ValueError, 'image|without a copy', cudaconvolve.box, Hidden(image.T, 'dlpack'), 3)
    check(cudaconvolve.box(image[:0], 3).shape == (0, 31), 'an empty image')


def check_threads_and_forks():
    image = numpy.random.default_rng(options.seed).integers(0, 256, (200, 300, 3), 'u1')
    wanted = cudaconvolve.gaussian(image, 3)
    for threads in (1, 3, 0):
        cudaconvolve.set_threads(threads)
        check((cudaconvolve.gaussian(image, 3) == wanted).all(), f'{threads} threads')
    wrong = []

    def work(k):
        for n in range(40):
            if not (cudaconvolve.gaussian(image, 3) == wanted).all():
                wrong.append(k)
            cudaconvolve.box(image, 3 + 2 * (n % 70))
            if n % 10 == 9:
                cudaconvolve.clear()

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    check(not wrong and len(_plans._state.plans) <= _plans.PLANS, 'four threads at once')
    child = os.fork()
    if child == 0:
        os._exit(0 if (cudaconvolve.gaussian(image, 3) == wanted).all() else 1)
    check(os.waitpid(child, 0)[1] == 0, 'a process that was forked')


def check_fake():
    """What is special to CUDA memory: no copy, streams and errors."""
    _arrays._driver = None  # the driver of this machine does not know the fake's memory
    image, out = numpy.random.default_rng(1).integers(0, 256, (9, 8), 'u1'), numpy.zeros((9, 8), 'u1')
    given, mask = Hidden(image, 'cuda'), [[1, 2, 1]]
    raises(TypeError, 'out is needed', cudaconvolve.filter2d, given, mask)
    raises(ValueError, 'out|memory', cudaconvolve.filter2d, given, mask, out=out)
    raises(ValueError, 'out|memory', cudaconvolve.filter2d, image, mask, out=Hidden(out, 'cuda'))
    raises(ValueError, 'variant|CPU', cudaconvolve.filter2d, given, mask, out=Hidden(out, 'cuda'), variant='cpu')
    raises(TypeError, 'stream', cudaconvolve.filter2d, given, mask, out=Hidden(out, 'cuda'), stream='default')
    raises(TypeError, 'type 10', cudaconvolve.filter2d, Hidden(image, 'dlpack', device=10), mask)

    class Stream:
        __cuda_stream__ = (0, 99)

    cudaconvolve.filter2d(given, mask, out=Hidden(out, 'cuda'), stream=Stream())
    check(used_stream() == 99 and (out == cudaconvolve.filter2d(image, mask)).all(), f'a stream by its protocol, and {used_stream()}')
    check('fake' in cudaconvolve.device_name(), cudaconvolve.device_name())
    raises(cudaconvolve.DeviceError, 'no CUDA device', cudaconvolve.device_name, 5)


class StandIn:
    """Arrays of PyTorch or CuPy as the module sees them, over memory of the fake device. The module's name makes the library."""

    def __init__(self, array, device='cuda:0'):
        self.array, self.dtype, self.device = array, array.dtype, device
        self.__cuda_array_interface__ = array.__array_interface__

    def __dlpack_device__(self):
        return 2, 0


def check_stand_ins():
    """Arrays of PyTorch and CuPy run on the stream that is current there, and results are of their kind."""
    image = numpy.random.default_rng(1).integers(0, 256, (9, 8, 3), 'u1')
    planes = numpy.random.default_rng(2).random((3, 9, 8), 'f4')
    for name, current, handle in (('torch', 'current_stream', 'cuda_stream'), ('cupy', 'get_current_stream', 'ptr')):
        library, made = types.ModuleType(name), []
        kind = type('Tensor', (StandIn,), {'__module__': name + '.core'})

        def empty(shape, dtype, device='cuda:0'):
            made.append(kind(numpy.zeros(shape, dtype), device))
            return made[-1]

        stream = type('Stream', (), {handle: 0})()
        library.empty, library.empty_like = empty, lambda array: empty(array.array.shape, array.dtype)
        library.cuda = types.SimpleNamespace(**{current: lambda *device: stream})
        sys.modules[name] = library
        try:
            for number, used in ((0, 1), (21, 21)):
                setattr(stream, handle, number)
                cudaconvolve.clear()
                result = cudaconvolve.filter2d(kind(image), 'sharpen')
                check(result is made[-1] and used_stream() == used, f'{name}: stream {used_stream()} instead of {used}')
                check((result.array == cudaconvolve.filter2d(image, 'sharpen')).all(), f'{name}: the bytes')
                result = cudaconvolve.layer(kind(planes), numpy.ones((2, 3, 3, 3)), padding=1, stride=2)
                check(result is made[-1] and result.array.shape == (2, 5, 4), f'{name}: a layer')
            raises(ValueError, 'without a copy|contiguous', cudaconvolve.filter2d, kind(image.transpose(1, 0, 2)), 'sharpen')
        finally:
            del sys.modules[name]


def main():
    print(f'--seed {options.seed}, numpy {numpy.__version__}, Python {sys.version.split()[0]}', 'on the fake device' * on_fake)
    if on_fake:
        check_fake()
        check_stand_ins()
    else:
        check_structs()
        check_errors()
        check_presets_work()
        check_threads_and_forks()
        if options.masks:
            check_presets(options.masks)
    for number in range(options.cases):
        draw = random.Random(f'{options.seed} {number}')
        (float_case if number % 5 == 1 else layer_case if number % 5 == 3 else integer_case)(draw, number)
    cudaconvolve.clear()
    check(not _plans._state.plans and not _plans._state.devices, 'clear() leaves something')
    print(f'{options.cases} random cases, {len(faults)} faults')
    if options.fake:
        sys.stdout.flush()
        again = [sys.executable, __file__, '--library', options.fake, f'--seed={options.seed}', f'--cases={options.cases}']
        fake = {**os.environ, 'PYTHON_MODULE_FAKE': '1', 'CUDACONVOLVE_FAKE': 'no-frames'}
        faults.extend(['fake'] * (subprocess.run(again, env=fake).returncode != 0))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
