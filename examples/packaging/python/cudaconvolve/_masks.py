# SPDX-License-Identifier: LGPL-2.1-or-later
"""Masks: presets by the names and formulas of the element's property `mask`, and weights of the caller's.

A preset has the taps of props/presets/presets.c to the last bit. So the functions below use the same series instead of those of the
C library, and add in the same order.
"""
import array
import functools
import math

from ._library import COMBINATIONS, MAX_SIDE, Mask

MAX_SIGMA = 255
LEAST_SIGMA = 1e-3  # here the taps beside the middle are 0 already, so less, and 0, give the same mask
LN2_HIGH, LN2_LOW = float.fromhex('0x1.62e42fefa3800p-1'), float.fromhex('0x1.ef35793c76730p-45')


class Weights:
    """A complete mask: the sets of taps, row by row, and what is done to their sums. The struct has the library's form.

    lines are a column and a row whose product the taps are, or None.
    """

    def __init__(self, width, height, sets, divisor, offset, combination='sum', lines=None):
        taps = array.array('d', [tap for one in sets for tap in one])
        divisors = [divisor if divisor is not None else natural_divisor(one) for one in sets]
        self.taps, self.divisors, self.lines = taps, divisors, lines
        self.struct = Mask(width=width, height=height, divisor=divisors[0], offset=offset, taps=taps.buffer_info()[0],
                           combination=COMBINATIONS[combination], sets=len(sets))
        self.struct.more_divisors[:len(sets) - 1] = divisors[1:]
        self.key = (width, height, offset, combination, tuple(divisors), taps.tobytes())


def natural_divisor(taps):
    """The sum of the taps, or 1 where that is 0, by Neumaier's summation."""
    total = lost = magnitude = 0.0
    for tap in taps:
        following = total + tap
        lost += (total - following) + tap if abs(total) >= abs(tap) else (tap - following) + total
        total = following
        magnitude += abs(tap)
    total += lost
    return 1.0 if abs(total) <= 1e-12 * magnitude else total


def exp(x):
    if x < -745:
        return 0.0
    whole = math.floor(x / math.log(2) + 0.5)
    rest = x - whole * LN2_HIGH - whole * LN2_LOW
    total = 1.0
    for n in range(17, 0, -1):
        total = 1 + rest / n * total
    return math.ldexp(total, whole)


def sin(angle):
    square, total = angle * angle, 1.0
    for n in range(24, 0, -2):
        total = 1 - square / (n * (n + 1)) * total
    return angle * total


def cos(angle):
    return sin(math.pi / 2 - angle) if angle > math.pi / 4 else 1 - 2 * sin(angle / 2) * sin(angle / 2)


def asin(x):
    halves, total, factor = 5, 0.0, 1.0
    for _ in range(halves):
        x /= math.sqrt(2 * (1 + math.sqrt((1 - x) * (1 + x))))
    square = x * x
    for n in range(12):
        total += factor / (2 * n + 1)
        factor *= square * (2 * n + 1) / (2 * n + 2)
    return math.ldexp(x * total, halves)


def hypot(x, y):
    return math.sqrt(x * x + y * y)


class Request:
    """What a preset's taps are made from. Sizes are odd, sigma is above 0."""

    def __init__(self, width, height, sigma, argument):
        self.width, self.height, self.argument = width, height, argument
        self.sigma_x, self.sigma_y = (max(sigma, LEAST_SIGMA) if sigma is not None else 0.3 * ((side - 1) * 0.5 - 1) + 0.8
                                      for side in (width, height))

    def taps(self, function):
        """function (x, y) of each tap, row by row; (0, 0) is the middle."""
        x_radius, y_radius = self.width // 2, self.height // 2
        return [function(x, y) for y in range(-y_radius, y_radius + 1) for x in range(-x_radius, x_radius + 1)]


def product(column, row):
    return [down * right for down in column for right in row]


def gaussian_line(width, sigma):
    half = [exp(-0.5 * (i / sigma) * (i / sigma)) for i in range(width // 2 + 1)]
    total = half[0]
    for tap in half[1:]:
        total += 2 * tap
    return [tap / total for tap in half[:0:-1] + half]


def box_lines(request):
    return [1.0] * request.height, [1.0] * request.width


def gaussian_lines(request):
    return gaussian_line(request.height, request.sigma_y), gaussian_line(request.width, request.sigma_x)


def make_gaussian(request):
    return product(*gaussian_lines(request))


def binomial_line(width):
    """[1 2 1] / 4 convolved with itself width // 2 times."""
    folds = width // 2
    taps = [0.0] * folds + [1.0] + [0.0] * folds
    for _ in range(folds):
        taps = [0.25 * (left + right) + 0.5 * here for left, here, right in zip([0.0] + taps, taps, taps[1:] + [0.0])]
    return taps


def make_binomial(request):
    taps, bits = product(binomial_line(request.height), binomial_line(request.width)), request.width + request.height - 2
    # Integers where a double holds them and their sum exactly.
    return [math.ldexp(tap, bits) for tap in taps] if bits <= 53 else taps


def make_unsharp(request):
    taps = [tap * -request.argument for tap in make_gaussian(request)]
    taps[len(taps) // 2] += 1 + request.argument
    return taps


def make_log(request):
    taps, total, index = make_gaussian(request), 0.0, 0
    for y in range(-(request.height // 2), request.height // 2 + 1):
        for x in range(-(request.width // 2), request.width // 2 + 1):
            if taps[index] != 0:
                x_distance, y_distance, curvature = x / request.sigma_x, y / request.sigma_y, 0.0
                if request.width > 1:
                    curvature += x_distance * x_distance - 1
                if request.height > 1:
                    curvature += y_distance * y_distance - 1
                taps[index] *= curvature
                total += taps[index]
            index += 1
    taps = [tap - total / len(taps) for tap in taps]
    taps[len(taps) // 2], total = 0.0, 0.0
    for tap in taps:
        total += tap
    taps[len(taps) // 2] = -total
    return taps


def make_disk(request):
    """The part of each sample that lies in the ellipse width by height."""
    a, b = 0.5 * request.width, 0.5 * request.height

    def under(radius, other, x):
        u = min(x / radius, 1)
        return 0.5 * radius * other * (u * math.sqrt(1 - u * u) + asin(u))

    def cell(x0, x1, y0, y1):
        full = a * math.sqrt(1 - (y1 / b) * (y1 / b)) if y1 < b else 0
        empty = a * math.sqrt(1 - (y0 / b) * (y0 / b)) if y0 < b else 0
        full, empty = min(max(full, x0), x1), min(max(empty, x0), x1)
        return (y1 - y0) * (full - x0) + under(a, b, empty) - under(a, b, full) - y0 * (empty - full)

    @functools.lru_cache(None)
    def quarter(i, j):
        area = cell(0 if i == 0 else i - 0.5, i + 0.5, 0 if j == 0 else j - 0.5, j + 0.5)
        area = area * (2 if i == 0 else 1) * (2 if j == 0 else 1)
        return 0.0 if area < 1e-9 else area

    def tap(x, y):
        x, y = abs(x), abs(y)
        return quarter(max(x, y), min(x, y)) if a == b else quarter(x, y)

    return request.taps(tap)


def direction(degrees):
    """Cosine and sine: exact at multiples of 90 degrees, and of one magnitude at odd multiples of 45."""
    quadrant = math.floor(degrees / 90)
    rest = degrees - 90 * quadrant
    half = 0.5 * math.sqrt(2)
    c = half if rest == 45 else cos(rest * (math.pi / 180))
    s = half if rest == 45 else sin(rest * (math.pi / 180))
    return [(c, s), (-s, c), (-c, -s), (s, -c)][quadrant % 4]


def make_motion(request):
    """1 - distance to a diameter of the ellipse width by height, at least 0. The mask ends where the taps do."""
    dx, dy = direction(request.argument)
    dx, dy = dx * request.width, dy * -request.height
    length = hypot(dx, dy)
    dx, dy = dx / length, dy / length
    half = max(0.5 * (length - 1), 0)
    radii = [min(math.ceil(abs(half * end) - 1e-9), side // 2) for end, side in ((dx, request.width), (dy, request.height))]
    request.width, request.height = (2 * radius + 1 for radius in radii)

    def tap(x, y):
        beyond, beside = max(abs(x * dx + y * dy) - half, 0), x * dy - y * dx
        value = 1 - hypot(beyond, beside)
        return 0.0 if value < 1e-9 else value

    return request.taps(tap)


# The neighbours in the order of their angle: right, top right, top and so on, as indices of a 3x3 mask.
RING = [5, 2, 1, 0, 3, 6, 7, 8]


def make_emboss(request):
    taps = [0.0] * 9
    for i in range(4):
        from_light = abs(math.remainder(45 * i - request.argument, 360))
        tap = min(max((from_light - 90) / 45, -1), 1)
        taps[RING[i]], taps[RING[i + 4]] = tap, 0 - tap
    return taps


def make_laplacian(request):
    taps = [0.0] * 9
    for i in range(0, 8, 8 // int(request.argument)):
        taps[RING[i]] = 1.0
    taps[4] = -request.argument
    return taps


def kirsch(turn):
    taps = [0] * 9
    for i in range(8):
        taps[RING[i]] = 5 if (i - turn + 9) % 8 < 3 else -3
    return taps


def slopes(taps):
    return [taps, taps[0::3] + taps[1::3] + taps[2::3]]


class Preset:
    """A row of the table. One of these has the taps: make and lines give them for a request, lines as a column and a row
    whose product they are; fixed has the sets of a 3x3 mask.
    """

    def __init__(self, width=3, make=None, fixed=None, lines=None, sized=False, radius_in_sigmas=0, offset=0.0,
                 argument=None, combination='sum'):
        self.width, self.make, self.fixed, self.lines = width, make, fixed, lines
        self.sized, self.radius_in_sigmas = sized, radius_in_sigmas
        self.offset, self.argument, self.combination = offset, argument, combination


SOBEL, PREWITT, SCHARR = [-1, 0, 1, -2, 0, 2, -1, 0, 1], [-1, 0, 1, -1, 0, 1, -1, 0, 1], [-3, 0, 3, -10, 0, 10, -3, 0, 3]
# An argument is (default, least, most, step above the least or 0).
PRESETS = {
    'identity': Preset(fixed=[[0, 0, 0, 0, 1, 0, 0, 0, 0]]),
    'box': Preset(5, lines=box_lines, sized=True),
    'gaussian': Preset(5, lines=gaussian_lines, sized=True, radius_in_sigmas=3),
    'binomial': Preset(5, make_binomial, sized=True),
    'sharpen': Preset(fixed=[[0, -1, 0, -1, 5, -1, 0, -1, 0]]),
    'unsharp': Preset(5, make_unsharp, sized=True, radius_in_sigmas=3, argument=(1, 0, 100, 0)),
    'emboss': Preset(3, make_emboss, offset=0.5, argument=(135, -360, 360, 0)),
    'laplacian': Preset(3, make_laplacian, argument=(4, 4, 8, 4)),
    'log': Preset(9, make_log, sized=True, radius_in_sigmas=4),
    'sobel-x': Preset(fixed=[SOBEL]), 'sobel-y': Preset(fixed=slopes(SOBEL)[1:]),
    'prewitt-x': Preset(fixed=[PREWITT]), 'prewitt-y': Preset(fixed=slopes(PREWITT)[1:]),
    'scharr-x': Preset(fixed=[SCHARR]), 'scharr-y': Preset(fixed=slopes(SCHARR)[1:]),
    'sobel': Preset(fixed=slopes(SOBEL), combination='magnitude'),
    'prewitt': Preset(fixed=slopes(PREWITT), combination='magnitude'),
    'scharr': Preset(fixed=slopes(SCHARR), combination='magnitude'),
    'roberts': Preset(fixed=[[0, 0, 0, 0, 1, 0, 0, 0, -1], [0, 0, 0, 0, 0, 1, 0, -1, 0]], combination='magnitude'),
    'kirsch': Preset(fixed=[kirsch(turn) for turn in range(8)], combination='largest'),
    'disk': Preset(5, make_disk, sized=True),
    'motion': Preset(9, make_motion, sized=True, argument=(0, -360, 360, 0)),
}


def find(text):
    """The preset of NAME or NAME:ARGUMENT, its name, and the argument."""
    name, colon, number = text.strip().partition(':')
    preset = PRESETS.get(name)
    if preset is None:
        raise ValueError(f'mask: "{name}" is no preset. Presets are {", ".join(PRESETS)}; weights are an array, not a text')
    if not colon:
        return preset, name, preset.argument[0] if preset.argument else 0
    if not preset.argument:
        raise ValueError(f'mask: the preset {name} takes no argument, and got "{number}"')
    _, least, most, step = preset.argument
    try:
        argument = float(number)
    except ValueError:
        raise ValueError(f'mask: "{number}" behind {name} is no number') from None
    if not least <= argument <= most or step and (argument - least) % step:
        raise ValueError(f'mask: the argument of {name} is {f"{least} or {most}" if step else f"between {least} and {most}"}, '
                         f'and got {number}')
    return preset, name, argument


def check_side(name, side):
    if side is not None and (isinstance(side, bool) or side != int(side) or not 1 <= side <= MAX_SIDE or side % 2 == 0):
        raise ValueError(f'{name}: {side} is not an odd number from 1 to {MAX_SIDE}')


def check_number(name, value, least, most):
    if not least <= value <= most:
        raise ValueError(f'{name}: {value} is not between {least} and {most}')


def check_divisor(divisor):
    if divisor is not None and (divisor == 0 or not math.isfinite(divisor)):
        raise ValueError(f'divisor: {divisor} is not a number to divide by')


@functools.lru_cache(64)
def of_preset(text, width, height, sigma, divisor, offset):
    preset, name, argument = find(text)
    check_side('width', width)
    check_side('height', height)
    check_divisor(divisor)
    check_number('offset', offset, -1, 1)
    check_number('offset and the offset of ' + name, offset + preset.offset, -1, 1)
    if sigma is not None:
        check_number('sigma', sigma, 0, MAX_SIGMA)
        if not preset.radius_in_sigmas:
            raise ValueError(f'sigma: the preset {name} takes none')
    if not preset.sized and (width not in (None, 3) or height not in (None, 3)):
        raise ValueError(f'width, height: the preset {name} is always 3x3')
    if width is None:
        width = preset.width
        if preset.radius_in_sigmas and sigma is not None:
            width = 2 * math.ceil(preset.radius_in_sigmas * max(sigma, LEAST_SIGMA)) + 1
            if width > MAX_SIDE:
                raise ValueError(f'sigma: {sigma} gives the preset {name} a width of {width}, more than {MAX_SIDE}; '
                                 'width can set a smaller one')
    request = Request(int(width), int(height if height is not None else width), sigma, argument)
    lines = preset.lines and preset.lines(request)
    sets = preset.fixed or [product(*lines) if lines else preset.make(request)]
    return Weights(request.width, request.height, sets, divisor, offset + preset.offset, preset.combination, lines)


@functools.lru_cache(64)
def of_taps(data, width, height, divisor, offset):
    check_divisor(divisor)
    check_number('offset', offset, -1, 1)
    taps = array.array('d', data)
    if not all(map(math.isfinite, taps)):
        raise ValueError('mask: weights are finite numbers, and at least one is not')
    # An even side gets a last row or column of zeros: the pixel then lies on the weight with index side // 2.
    if width % 2 == 0:
        taps = array.array('d', [tap for y in range(height) for tap in (*taps[y * width:(y + 1) * width], 0)])
    if height % 2 == 0:
        taps.extend([0.0] * (width | 1))
    return Weights(width | 1, height | 1, [taps], 1.0 if divisor is None else divisor, offset)


def number(name, value):
    """The value as a float; a ValueError or TypeError names the argument."""
    try:
        return float(value)
    except (TypeError, ValueError) as reason:
        raise type(reason)(f'{name}: {value!r} is no number') from None


def of_rows(mask, divisor, offset):
    """The mask of an array, or of a list of rows."""
    if hasattr(mask, '__array_interface__') and getattr(mask, 'ndim', 0) == 2 and getattr(mask, 'dtype', '') == 'float64':
        height, width = mask.shape
        data = mask.tobytes()
    else:
        rows = mask.tolist() if hasattr(mask, 'tolist') else mask
        try:
            rows = [[number('mask', tap) for tap in row] for row in rows]
        except TypeError:
            raise ValueError('mask: weights are rows of real numbers, in two dimensions') from None
        height, width = len(rows), len(rows[0]) if rows else 0
        if any(len(row) != width for row in rows):
            raise ValueError('mask: all rows have the same number of weights')
        data = array.array('d', [tap for row in rows for tap in row]).tobytes()
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise ValueError(f'mask: {height} rows of {width} weights; both are 1 to {MAX_SIDE}')
    return of_taps(data, width, height, divisor, offset)


def of(mask, width, height, sigma, divisor, offset):
    """The Weights of a preset's text or of an array."""
    divisor, offset = None if divisor is None else number('divisor', divisor), number('offset', offset)
    if isinstance(mask, str):
        return of_preset(mask, width, height, None if sigma is None else number('sigma', sigma), divisor, offset)
    if width is not None or height is not None or sigma is not None:
        raise ValueError('width, height and sigma are for presets, and mask is an array')
    return of_rows(mask, divisor, offset)
