#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the OpenCV of the Python package cv2 takes for the masks of bench_cpu --kind usual, as CSV with bench_cpu's columns.

    tests/bench/bench_cpu_opencv.py [ROUNDS] >FILE.csv

The package on PyPI is built with Intel's IPP, and Debian's library, which bench_cpu measures, is not. Frames are 1080p and
random, the boundary is replicate, and OpenCV has two threads. Six pairs of frames take turns, so that none is in the
caches. Chroma planes get the mask as the element scales it. Needs cv2 and numpy.
"""
import statistics
import sys
import time

import cv2
import numpy

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 21
N_PAIRS = 6
WIDTH, HEIGHT = 1920, 1080

# As in bench_usual.c: name, sigma or 0, width in luma pixels.
MASKS = [('gaussian sigma=1', 1, 7), ('gaussian sigma=2', 2, 13), ('gaussian sigma=4', 4, 25), ('gaussian sigma=8', 8, 49),
         ('fractions 3x3', 0, 3), ('fractions 5x5', 0, 5), ('fractions 9x9', 0, 9), ('fractions 15x15', 0, 15),
         ('fractions 31x31', 0, 31), ('box 5x5', 0, 5), ('box 15x15', 0, 15), ('box 31x31', 0, 31)]

# The planes of a frame: luma pixels for a sample both ways, samples of a pixel, type.
FORMATS = {'nv12': [(1, 1, numpy.uint8), (2, 2, numpy.uint8)], 'rgb': [(1, 3, numpy.uint8)], 'rgba': [(1, 4, numpy.uint8)],
           'p010': [(1, 1, numpy.uint16), (2, 2, numpy.uint16)]}


def make_frame(planes, random):
    return [random.integers(0, numpy.iinfo(kind).max, (HEIGHT // step, WIDTH // step, samples), kind).squeeze()
            for step, samples, kind in planes]


def make_filter(name, sigma, side, step, random):
    """A function of source and destination for a plane with one sample for every step luma pixels."""
    if name.startswith('gaussian'):
        side = 2 * ((side // 2 + step - 1) // step) + 1
        return lambda a, b: cv2.GaussianBlur(a, (side, side), sigma / step, b, sigma / step, cv2.BORDER_REPLICATE)
    if name.startswith('box'):
        side = 2 * ((side + step - 1) // (2 * step)) + 1
        return lambda a, b: cv2.blur(a, (side, side), b, (-1, -1), cv2.BORDER_REPLICATE)
    weights = (0.1 + random.random((side, side))).astype(numpy.float32)
    weights /= weights.sum()
    return lambda a, b: cv2.filter2D(a, -1, weights, b, (-1, -1), 0, cv2.BORDER_REPLICATE)


def main():
    random = numpy.random.default_rng(4)
    cv2.setNumThreads(2)
    print('size,format,kind,side,what,threads,median_us,min_us,others')
    for name, planes in FORMATS.items():
        frames = [(make_frame(planes, random), make_frame(planes, random)) for _ in range(N_PAIRS)]
        for kind, sigma, side in MASKS:
            filters = [make_filter(kind, sigma, side, step, random) for step, _, _ in planes]
            times = []
            for turn in range(-2, ROUNDS):  # the first two warm up
                source, destination = frames[turn % N_PAIRS]
                start = time.perf_counter()
                for run, plane, result in zip(filters, source, destination):
                    run(plane, result)
                if turn >= 0:
                    times.append((time.perf_counter() - start) * 1e6)
            print(f'1080p,{name},{kind},{side},"OpenCV {cv2.__version__} of PyPI",2,{statistics.median(times):.1f},'
                  f'{min(times):.1f},', flush=True)


main()
