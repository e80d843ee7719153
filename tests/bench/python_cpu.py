#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the Python module takes on the CPU beside OpenCV and SciPy of PyPI, and whether the bytes are the same, as CSV.

    pip install numpy scipy opencv-python-headless
    CUDACONVOLVE_LIBRARY=.../libcudaconvolve.so.0 tests/bench/python_cpu.py \\
        [--threads 2] [--rounds 15] [--format gray8,rgb,...] >FILE.csv

Without CUDACONVOLVE_LIBRARY the installed module is taken. Pictures are 1080p and random; results go to an array that is
there. SciPy has no threads. `ms` is the least of all rounds. `differs` is the part of the samples that differ from the
module's, and `most` by how much at most. Masks and boundary (replicate) are the same for all.
"""
import argparse
import os
import pathlib
import sys
import time

import cv2
import numpy
import scipy
from scipy import ndimage

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--threads', type=int, default=2)
parser.add_argument('--rounds', type=int, default=15)
parser.add_argument('--format', default='gray8,rgb,gray16,grayf')
options = parser.parse_args()
if os.environ.get('CUDACONVOLVE_LIBRARY'):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'examples' / 'packaging' / 'python'))
import cudaconvolve  # noqa: E402

EDGE = cv2.BORDER_REPLICATE
generator = numpy.random.default_rng(4)


def gaussian(sigma):
    side = 2 * int(numpy.ceil(3 * sigma)) + 1
    return ('gaussian', lambda a, out: cudaconvolve.gaussian(a, sigma, out=out),
            lambda a, out: cv2.GaussianBlur(a, (side, side), sigma, out, sigma, EDGE),
            lambda a, out: ndimage.gaussian_filter(a, (sigma, sigma) + (0,) * (a.ndim - 2), mode='nearest', radius=side // 2, output=out))


def box(side):
    return ('box', lambda a, out: cudaconvolve.box(a, side, out=out), lambda a, out: cv2.blur(a, (side, side), out, (-1, -1), EDGE),
            lambda a, out: ndimage.uniform_filter(a, (side, side) + (1,) * (a.ndim - 2), mode='nearest', output=out))


def weights(side, whole):
    mask = generator.integers(-9, 20, (side, side)).astype(float) if whole else generator.random((side, side))
    mask = mask / (64 if whole else mask.sum())
    return ('weights', lambda a, out: cudaconvolve.filter2d(a, mask, out=out),
            lambda a, out: cv2.filter2D(a, -1, mask, out, (-1, -1), 0, EDGE),
            lambda a, out: ndimage.correlate(a, mask.reshape(mask.shape + (1,) * (a.ndim - 2)), mode='nearest', output=out))


FILTERS = {'gaussian sigma=2': gaussian(2), 'gaussian sigma=8': gaussian(8), 'box 15x15': box(15), 'integers 3x3': weights(3, True),
           'fractions 5x5': weights(5, False), 'fractions 15x15': weights(15, False)}
FORMATS = {'gray8': (numpy.uint8, ()), 'rgb': (numpy.uint8, (3,)), 'gray16': (numpy.uint16, ()), 'grayf': (numpy.float32, ())}
NAMES = 'cudaconvolve', f'OpenCV {cv2.__version__}', f'SciPy {scipy.__version__}'


def least(function):
    times, until = [], time.perf_counter() + 20
    while len(times) < 3 or (len(times) < options.rounds + 2 and time.perf_counter() < until):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[1:])


def main():
    cudaconvolve.set_threads(options.threads)
    cv2.setNumThreads(options.threads)
    print('size,format,mask,library,threads,ms,differs,most')
    for name in options.format.split(','):
        dtype, channels = FORMATS[name]
        shape = (1080, 1920) + channels
        if dtype == numpy.float32:
            image = generator.random(shape, dtype)
        else:
            image = generator.integers(0, numpy.iinfo(dtype).max + 1, shape, dtype)
        for mask, (_, *functions) in FILTERS.items():
            ours = numpy.empty_like(image)
            functions[0](image, ours)
            for library, function in zip(NAMES, functions):
                out = numpy.empty_like(image)
                ms = least(lambda: function(image, out))
                apart = abs(out.astype(float) - ours)
                threads = 1 if 'SciPy' in library else options.threads
                print(f'1080p,{name},{mask},{library},{threads},{ms:.2f},{(apart > 0).mean():.5f},{apart.max():.3g}', flush=True)


main()
