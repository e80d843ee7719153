# SPDX-License-Identifier: LGPL-2.1-or-later
"""filter2d() and its relatives, and layer(): from arrays to the runs of plans."""
import array
import ctypes
import math
import operator

from . import _arrays, _masks, _plans
from ._library import ACTIVATIONS, BOUNDARIES, LAYER_TYPES, LIBRARY, MAX_SAMPLES, Layer, Pixel, Plane, Rect, Task, Tensor, call

SAMPLES = {'u1': 'uint8', 'u2': 'uint16', 'f2': 'float16', 'f4': 'float32'}
MAX_DEPTH = {'u1': 8, 'u2': 16}


def _choice(name, value, table):
    if value not in table:
        raise ValueError(f'{name}: "{value}" is not one of {", ".join(table)}')
    return table[value]


def _check_dtype(view, allowed):
    if view.dtype not in allowed:
        kind = {'i': 'int', 'u': 'uint', 'f': 'float', 'c': 'complex'}.get(view.dtype[0])
        raise TypeError(f'{view.name}: has samples of type {f"{kind}{8 * view.size}" if kind else view.dtype}; possible are '
                        f'{", ".join(SAMPLES[dtype] for dtype in allowed)}')


def _check_pair(image, out, shape):
    """Whether a result of this shape can be written to out."""
    if out.dtype != image.dtype or out.swapped != image.swapped:
        raise TypeError(f'out: has samples of another type than image, which has {SAMPLES[image.dtype]}')
    if out.shape != tuple(shape):
        raise ValueError(f'out: has the shape {out.shape}, and the result has {tuple(shape)}')
    if out.device != image.device:
        raise ValueError('out: lies in other memory than image')
    if not out.writable:
        raise ValueError('out: is read-only')
    (first, end), (out_first, out_end) = image.bounds(), out.bounds()
    if first < out_end and out_first < end:
        raise ValueError('out: overlaps image, or lies between its samples')


class _Copied(ValueError):
    """The library cannot read or write this layout in place."""

    def __init__(self, name, reason):
        super().__init__(f'{name}: cannot be used without a copy, because {reason}')


def _plane_layout(image, out):
    """Bytes from pixel to pixel, and the runs of samples that lie side by side: offset in both, count. Axes are N, H, W, C."""
    _, _, width, channels = image.shape
    size, pixel = image.size, []
    adjacent = channels == 1 or image.strides[3] == out.strides[3] == size
    for view in (image, out):
        least = (min(channels, MAX_SAMPLES) if adjacent else 1) * size
        pixel.append(view.strides[2] if width > 1 else least)
        if pixel[-1] < least or pixel[-1] % size or view.address % size:
            raise _Copied(view.name, 'its columns do not follow each other from left to right, or are not aligned')
        row = (width - 1) * pixel[-1] + least
        if view.shape[1] > 1 and (abs(view.strides[1]) < row or view.strides[1] % size) or row >= 1 << 31:
            raise _Copied(view.name, 'its rows lie in each other, are not aligned or have 2 GiB')
    if pixel[0] != pixel[1]:
        raise _Copied('image', f'its pixels lie {pixel[0]} bytes apart, and those of the result {pixel[1]}')
    if adjacent:
        return pixel[0], [(k * size, k * size, min(MAX_SAMPLES, channels - k)) for k in range(0, channels, MAX_SAMPLES)]
    return pixel[0], [(k * image.strides[3], k * out.strides[3], 1) for k in range(channels)]


def _convolve_integers(image, out, weights, boundary, outside, depth, variant, on):
    batch, height, width, _ = image.shape
    stride, runs = _plane_layout(image, out)
    first = 0
    for offset, out_offset, samples in runs:
        levels = outside[first:first + samples]
        first += samples
        pixels = height * width if on.device else 0
        key = image.dtype, image.swapped, depth, stride, samples, levels, boundary, weights.key, variant, pixels.bit_length()

        def arguments():
            pixel = Pixel(type=image.dtype == 'u2', depth=depth, swapped=image.swapped, samples=samples, stride=stride,
                          select=(1 << samples) - 1, biased=(1 << samples) - 1)
            pixel.outside[:samples] = levels
            return 'convolve_plan_new_sized', pixel, boundary, weights.struct, variant, on.device, pixels

        plan = _plans.plan(key, '', on, arguments)
        plane = Plane(source_stride=image.strides[1] if height > 1 else stride * width,
                      destination_stride=out.strides[1] if height > 1 else stride * width, width=width, height=height,
                      region=Rect(0, 0, width, height))
        for n in range(batch):
            plane.source = image.address + n * image.strides[0] + offset
            plane.destination = out.address + n * out.strides[0] + out_offset
            plan.run('convolve_run', plane)


def _tensor(view):
    """The library's tensor of a view with the axes N, C, H, W."""
    if any(stride % view.size for stride in view.strides) or view.address % view.size:
        raise _Copied(view.name, 'its samples are not aligned')
    tensor = Tensor(batch_stride=view.strides[0], row_stride=view.strides[2], column_stride=view.strides[3], across=1,
                    down_stride=view.strides[1])
    tensor.channel[0] = view.address
    return tensor


def _run_layer(plan, image, out):
    """Runs a plan on views with the axes N, C, H, W, 65535 images at a time."""
    task = Task(source=_tensor(image), destination=_tensor(out), height=image.shape[2], width=image.shape[3])
    for first in range(0, image.shape[0], 65535):
        task.batch = min(65535, image.shape[0] - first)
        task.source.channel[0] = image.address + first * image.strides[0]
        task.destination.channel[0] = out.address + first * out.strides[0]
        plan.run('convolve_layer_run', task)


def _new_layer(shape, channels, taps, bias):
    """The struct of a layer. It keeps the arrays of numbers that it points to."""
    made = Layer()
    LIBRARY.convolve_layer_init(made, shape[0], channels, *shape[2:], taps.buffer_info()[0])
    made.bias = bias.buffer_info()[0] if bias else None
    made.kept = taps, bias
    return made


def _convolve_floats(image, out, weights, boundary, variant, on):
    """Each channel is a group of a layer, with the mask as its filter."""
    channels, mask = image.shape[3], weights.struct
    if weights.struct.combination or len(weights.divisors) > 1:
        raise TypeError('mask: presets that combine several masks take uint8 and uint16, and image has floats')
    if boundary == BOUNDARIES['constant']:
        raise ValueError('boundary: constant takes uint8 and uint16, and image has floats; zero is possible')

    image, out = image.transposed((0, 3, 1, 2)), out.transposed((0, 3, 1, 2))

    def run(source, destination, height, width, taps, divisor, offset):
        def arguments():
            numbers = array.array('f', [tap / divisor for tap in taps] * channels), array.array('f', [offset] * channels)
            made = _new_layer((channels, 1, height, width), channels, *numbers)
            made.groups, made.type, made.boundary = channels, LAYER_TYPES[image.dtype], boundary
            made.pad_top = made.pad_bottom = height // 2
            made.pad_left = made.pad_right = width // 2
            return 'convolve_layer_plan_new', made, variant, on.device

        key = channels, image.dtype, boundary, weights.key, height, width, variant
        _run_layer(_plans.plan(key, '_layer', on, arguments), source, destination)

    # In host memory there is room for what lies between two passes.
    if weights.lines and image.dtype == 'f4' and not on.device:
        column, row = weights.lines
        between = ctypes.create_string_buffer(4 * math.prod(image.shape))
        between = _arrays.View('image', ctypes.addressof(between), image.shape, None, 'f4', None, between)
        run(image, between, 1, mask.width, row, 1.0, 0.0)
        run(between, out, mask.height, 1, column, mask.divisor, mask.offset)
    else:
        run(image, out, mask.height, mask.width, weights.taps, mask.divisor, mask.offset)


_AXES = {2: (None, 0, 1, None), 3: (None, 0, 1, 2), 4: (0, 1, 2, 3)}


def _with_copies(image, out, views, axes, stream, run):
    """run (source, destination, on) with the views of both arrays. A host array that cannot be used in place is copied, once."""
    source, destination = (one.transposed(axes) for one in views)
    if 0 in destination.shape:
        return
    on = _plans.place(source.device, stream)
    try:
        run(source, destination, on)
        return
    except _Copied as reason:
        if source.device is not None:
            raise ValueError(f'{reason}; .contiguous() of PyTorch or cupy.ascontiguousarray() makes one') from None
        copies = _arrays.contiguous(image), _arrays.contiguous(out)
        if any(copy is None for copy in copies):
            raise
    run(*(_arrays.view(name, copy).transposed(axes) for name, copy in zip(('image', 'out'), copies)), on)
    out[...] = copies[1]


def _stream_of(image, view, stream):
    if view.device is None:
        if stream is not None:
            raise ValueError('stream: is for arrays in CUDA memory, and image is in host memory')
        return None
    return stream if stream is not None else _arrays.current_stream(image, view)


def filter2d(image, mask, boundary='replicate', *, divisor=None, offset=0.0, outside=None, width=None, height=None, sigma=None,
             depth=None, out=None, variant='auto', stream=None):
    """Convolves an image, or a stack of images, with a mask, and returns the result in an array of the same kind.

    image    H x W, H x W x C or N x H x W x C samples of uint8, uint16, float16 or float32, in host memory (NumPy, PyTorch,
             whatever has __array_interface__, DLPack or a buffer) or CUDA memory (__cuda_array_interface__ or DLPack). Each
             channel is convolved by itself. PyTorch's N x C x H x W is tensor.permute (0, 2, 3, 1), which copies nothing.
    mask     weights as an array or as rows of numbers, 1 to 255 each way, or the text of a preset as in the element's
             property `mask`: "gaussian", "unsharp:2", "sobel". The first weight meets the top left neighbour (correlation, as
             in cv2.filter2D and scipy.ndimage.correlate). With an even side n the pixel lies on weight n // 2.
    boundary what lies outside: zero 00|abc, replicate aa|abc, reflect ba|abc, reflect-101 cb|abc, wrap bc|abc, constant kk|abc.
    divisor  what the sum is divided by. Default: 1 for weights, the sum of the taps (1 where that is 0) for presets.
    offset   -1 to 1, a fraction of the range from 0 to the largest sample, which is 1.0 for floats; added to the result.
    outside  with boundary="constant" the code value k, or one for each channel; 0 by default.
    width, height   of a preset in samples, odd, 1 to 255; height is width by default.
    sigma    of a preset in samples, 0 to 255. The width is then 2 * ceil (3 * sigma) + 1 (log: 4 * sigma).
    depth    significant bits of uint16, 9 to 16; larger values are read as the largest one.
    out      an array for the result: shape, type and memory as image, which it must not overlap.
    variant  a kernel by its name, as in the element's property `kernel-variant`.
    stream   for CUDA memory: a handle, or a stream of PyTorch or CuPy. Default: the current stream of image's library, or the
             stream that image's interface names, or the default stream. The work is enqueued there, and nothing waits for it.

    Integers are rounded half up and clamped, with the bytes that kernels/README.md promises. Floats are within 2e-5 (float16:
    2e-3) of the sum of |weight| * |sample|; with an infinity or a NaN the results of its image are undefined.

    Views with strides are used in place where each row runs from left to right, columns have one distance in image and out, and
    rows do not lie in each other. Otherwise a host array is copied once, and an array in CUDA memory is a ValueError.

    Raises TypeError (type of the samples, or no array), ValueError (shape, mask, number, name), MemoryError, DeviceError.
    """
    handle = None if stream is None else _arrays.stream_handle(stream)
    view = _arrays.view('image', image, handle)
    _check_dtype(view, SAMPLES)
    if len(view.shape) not in _AXES:
        raise ValueError(f'image: has the shape {view.shape}; possible are H x W, H x W x C and N x H x W x C')
    stream = _stream_of(image, view, stream)
    weights = _masks.of(mask, width, height, sigma, divisor, offset)
    edge = _choice('boundary', boundary, BOUNDARIES)
    axes = _AXES[len(view.shape)]
    channels = view.shape[-1] if axes[3] is not None else 1
    levels = tuple(outside) if hasattr(outside, '__iter__') else (outside or 0,) * channels
    if outside is not None and boundary != 'constant':
        raise ValueError(f'outside: is for the boundary constant, and boundary is {boundary}')
    if view.dtype in MAX_DEPTH:
        depth = MAX_DEPTH[view.dtype] if depth is None else depth
        if depth != 8 if view.dtype == 'u1' else depth not in range(9, 17):
            raise ValueError(f'depth: {depth} bits of {SAMPLES[view.dtype]}; possible are '
                             f'{"8" if view.dtype == "u1" else "9 to 16"}')
        if len(levels) != channels or any(level not in range(1 << depth) for level in levels):
            raise ValueError(f'outside: {outside} is neither a code value from 0 to {(1 << depth) - 1} nor one for each of '
                             f'{channels} channels')
        depth, levels = int(depth), tuple(map(int, levels))
    elif depth is not None:
        raise ValueError('depth: is for uint16, and image has floats')
    result = _arrays.empty('image', image, view) if out is None else out
    out_view = _arrays.view('out', result, handle)
    _check_pair(view, out_view, view.shape)
    variant = variant.encode()

    def run(source, destination, on):
        if view.dtype in MAX_DEPTH:
            _convolve_integers(source, destination, weights, edge, levels, depth, variant, on)
        elif source.swapped:
            raise _Copied(source.name, 'its floats are in the other byte order')
        else:
            _convolve_floats(source, destination, weights, edge, variant, on)

    _with_copies(image, result, (view, out_view), axes, stream, run)
    return result


def gaussian(image, sigma, boundary='replicate', **others):
    """Blurs with a Gaussian of this standard deviation in samples, 0 to 42. others are arguments of filter2d().

    The mask has 2 * ceil (3 * sigma) + 1 samples each way, or width; with width, sigma may be up to 255.
    """
    return filter2d(image, 'gaussian', boundary, sigma=sigma, **others)


def box(image, width, height=None, boundary='replicate', **others):
    """The mean of width x height samples around each one, odd and 1 to 255. height is width by default."""
    return filter2d(image, 'box', boundary, width=width, height=height, **others)


def _numbers(name, value, count):
    """A number for each of both directions, or for each of four sides."""
    try:
        numbers = [operator.index(n) for n in value] if hasattr(value, '__iter__') else [operator.index(value)] * count
    except TypeError:
        numbers = []
    if len(numbers) == 2 and count == 4:
        numbers = [numbers[0], numbers[0], numbers[1], numbers[1]]
    if len(numbers) != count:
        raise ValueError(f'{name}: {value} is neither a whole number nor {"two or four" if count == 4 else "two"} of them')
    return numbers


def _flatten(name, values, dimensions):
    """The shape and the numbers, as float32, of an array or of nested rows."""
    if hasattr(values, 'astype') and hasattr(values, 'tobytes'):
        shape, numbers = list(values.shape), array.array('f', values.astype('float32').tobytes())
        if len(shape) == dimensions:
            return shape, numbers
    level, shape = values.tolist() if hasattr(values, 'tolist') else values, []
    try:
        for depth in range(dimensions):
            shape.append(len(level if depth == 0 else level[0]))
            level = list(level) if depth == 0 else [item for row in level for item in row]
        numbers = array.array('f', level)
    except (TypeError, IndexError):
        raise ValueError(f'{name}: numbers in {dimensions} dimensions are needed') from None
    if len(numbers) != math.prod(shape):
        raise ValueError(f'{name}: its rows have different lengths')
    return shape, numbers


def layer(image, weights, bias=None, *, stride=1, padding=0, dilation=1, groups=1, boundary='zero', activation='none', pool=1,
          pool_stride=None, in_scale=1 / 255, in_offset=0.0, out_scale=255.0, out_offset=0.0, out=None, variant='auto', stream=None):
    """Runs a convolution layer, as torch.nn.functional.conv2d() does, with activation and max pooling behind it.

    image    C x H x W or N x C x H x W of float32, float16 or uint8, as in filter2d(). Any strides are used in place.
    weights  K x C/groups x h x w, an array or nested lists; h and w are 1 to 255. The library gets them as float32.
    bias     K numbers.
    stride, dilation, pool, pool_stride   a number, or two for rows and columns. pool_stride is pool by default.
    padding  a number; two for rows and columns; four for top, bottom, left and right; or "same", with which n samples and a
             stride of s give ceil (n / s).
    boundary zero, replicate, reflect, reflect-101 or wrap: what lies in the padding.
    activation   none, relu or absolute.
    in_scale, in_offset, out_scale, out_offset   of uint8: a code value v stands for in_scale * v + in_offset, and a result r
             becomes out_scale * r + out_offset, rounded and clamped. By default code values stand for 0 to 1.
    out, variant, stream   as in filter2d(); out has the shape of the result.

    Returns K x H' x W' or N x K x H' x W'. kernels/convolve_layer.h has the formula and the error. Raises what filter2d() does.
    """
    handle = None if stream is None else _arrays.stream_handle(stream)
    view = _arrays.view('image', image, handle)
    _check_dtype(view, LAYER_TYPES)
    if len(view.shape) not in (3, 4):
        raise ValueError(f'image: has the shape {view.shape}; possible are C x H x W and N x C x H x W')
    stream = _stream_of(image, view, stream)
    axes = (None, 0, 1, 2) if len(view.shape) == 3 else (0, 1, 2, 3)
    batch, channels, rows, columns = view.transposed(axes).shape
    shape, taps = _flatten('weights', weights, 4)
    groups = operator.index(groups)
    if groups < 1 or shape[1] * groups != channels:
        raise ValueError(f'weights: are for {shape[1]} channels of each of {groups} groups, and image has {channels} channels')
    count, biases = (None, None) if bias is None else _flatten('bias', bias, 1)
    if bias is not None and count != shape[:1]:
        raise ValueError(f'bias: has {count[0]} numbers, and there are {shape[0]} filters')
    made = _new_layer(shape, channels, taps, biases)
    made.groups, made.type = groups, LAYER_TYPES[view.dtype]
    made.boundary, made.activation = _choice('boundary', boundary, BOUNDARIES), _choice('activation', activation, ACTIVATIONS)
    made.stride_y, made.stride_x = _numbers('stride', stride, 2)
    made.dilation_y, made.dilation_x = _numbers('dilation', dilation, 2)
    made.pool_height, made.pool_width = _numbers('pool', pool, 2)
    made.pool_stride_y, made.pool_stride_x = _numbers('pool_stride', pool if pool_stride is None else pool_stride, 2)
    made.in_scale, made.in_offset, made.out_scale, made.out_offset = map(float, (in_scale, in_offset, out_scale, out_offset))
    if padding == 'same':
        call('convolve_layer_pad_same', made, rows, columns)
    else:
        made.pad_top, made.pad_bottom, made.pad_left, made.pad_right = _numbers('padding', padding, 4)
    height, width = ctypes.c_int(), ctypes.c_int()
    call('convolve_layer_output_size', made, rows, columns, height, width)
    result_shape = (batch, shape[0], height.value, width.value)[4 - len(view.shape):]
    result = _arrays.empty('image', image, view, result_shape) if out is None else out
    out_view = _arrays.view('out', result, handle)
    _check_pair(view, out_view, result_shape)
    numbers = tuple(getattr(made, name) for name, _ in Layer._fields_ if name not in ('weights', 'bias'))
    key = numbers, taps.tobytes(), biases and biases.tobytes(), variant

    def run(source, destination, on):
        if source.swapped:
            raise _Copied(source.name, 'its samples are in the other byte order')
        _run_layer(_plans.plan(key, '_layer', on, lambda: ('convolve_layer_plan_new', made, variant.encode(), on.device)),
                   source, destination)

    _with_copies(image, result, (view, out_view), axes, stream, run)
    return result
