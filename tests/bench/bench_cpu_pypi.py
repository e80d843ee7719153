#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What OpenCV, libvips and VapourSynth of PyPI take for the masks of bench_cpu, as CSV with bench_cpu's columns.

    pip install numpy opencv-python-headless pyvips[binary] vapoursynth     # Python 3.12 or newer for vapoursynth
    tests/bench/bench_cpu_pypi.py [--library opencv,libvips,vapoursynth] [--kind any,gaussian,box] [--sides 3,5,...]
                                  [--format gray8,rgb,...] [--threads 1,2] [--rounds 21] >FILE.csv

--kind usual measures the masks of README's table. OpenCV of PyPI is built with Intel's IPP, and Debian's library, which
bench_cpu measures, is not. Frames are 1080p and random. Six frames or pairs of frames take turns, so that none is in the
caches. Chroma planes get the mask as the element scales it. A library is left out where it has no such mask or format.

OpenCV and libvips filter one frame after the other, with the boundary replicate. libvips gets integer precision, and each
frame's time has what building its pipeline of operations takes. VapourSynth filters as many frames at the same time as
it has threads, mirrors at the edges, has planar RGB, and its figure is the mean of a round of 24 frames.
"""
import argparse
import itertools
import math
import os
import random
import statistics
import sys
import time

import numpy

WIDTH, HEIGHT = 1920, 1080
N_FRAMES = 6
WARM_UP = 2  # rounds that do not count

# As in bench_usual.c: name, sigma or 0, width in luma pixels.
USUAL = [('gaussian sigma=1', 1, 7), ('gaussian sigma=2', 2, 13), ('gaussian sigma=4', 4, 25), ('gaussian sigma=8', 8, 49),
         ('fractions 3x3', 0, 3), ('fractions 5x5', 0, 5), ('fractions 9x9', 0, 9), ('fractions 15x15', 0, 15),
         ('fractions 31x31', 0, 31), ('box 5x5', 0, 5), ('box 15x15', 0, 15), ('box 31x31', 0, 31)]

# The planes of a frame: luma pixels for a sample both ways, samples of a pixel, bits of a sample.
FORMATS = {'gray8': [(1, 1, 8)], 'nv12': [(1, 1, 8), (2, 2, 8)], 'rgb': [(1, 3, 8)], 'rgba': [(1, 4, 8)],
           'gray16': [(1, 1, 16)], 'p010': [(1, 1, 10), (2, 2, 10)]}


def sample_type(bits):
    return numpy.uint8 if bits == 8 else numpy.uint16


def one_sided_sigma(side):
    """OpenCV's sigma for a gaussian that is given by its width."""
    return 0.3 * ((side - 1) * 0.5 - 1) + 0.8


class Mask:
    """A mask as the planes need it: its kind, side and sigma for samples that lie so many luma pixels apart."""

    def __init__(self, name, sigma, side):
        self.name, self.sigma, self.side = name, sigma, side
        self.kind = name.split()[0]
        self.weights = [random.randint(1, 50) for _ in range(side * side)]

    def of_plane(self, step):
        if self.kind == 'gaussian':
            side = 2 * ((self.side // 2 + step - 1) // step) + 1
            return side, (self.sigma or one_sided_sigma(self.side)) / step
        if self.kind == 'box':
            return 2 * ((self.side + step - 1) // (2 * step)) + 1, 0
        return self.side, 0


def gaussian_line(side, sigma):
    """Integers like a gaussian, the middle one 1000."""
    return [max(1, round(1000 * math.exp(-(k - side // 2) ** 2 / (2 * sigma * sigma)))) for k in range(side)]


class OpenCV:
    def __init__(self):
        import cv2
        self.cv2 = cv2
        self.name = f'OpenCV {cv2.__version__} of PyPI'

    def set_threads(self, threads):
        self.cv2.setNumThreads(threads)

    def one_plane(self, mask, step):
        cv2, (side, sigma) = self.cv2, mask.of_plane(step)
        if mask.kind == 'gaussian':
            return lambda a, b: cv2.GaussianBlur(a, (side, side), sigma, b, sigma, cv2.BORDER_REPLICATE)
        if mask.kind == 'box':
            return lambda a, b: cv2.blur(a, (side, side), b, (-1, -1), cv2.BORDER_REPLICATE)
        weights = numpy.array(mask.weights, numpy.float32).reshape(side, side) / sum(mask.weights)
        return lambda a, b: cv2.filter2D(a, -1, weights, b, (-1, -1), 0, cv2.BORDER_REPLICATE)

    def rounds(self, planes, mask):
        filters = [self.one_plane(mask, step) for step, _, _ in planes]
        frames = [(make_frame(planes), make_frame(planes)) for _ in range(N_FRAMES)]
        for source, destination in itertools.cycle(frames):
            start = time.perf_counter()
            for run, plane, result in zip(filters, source, destination):
                run(plane, result)
            yield time.perf_counter() - start


class Vips:
    def __init__(self):
        import pyvips
        self.vips = pyvips
        pyvips.cache_set_max(0)
        self.name = f'libvips {pyvips.version(0)}.{pyvips.version(1)}.{pyvips.version(2)} of PyPI'

    def set_threads(self, threads):
        self.vips.concurrency_set(threads)

    def one_plane(self, mask, step):
        side, sigma = mask.of_plane(step)
        if mask.kind in ('gaussian', 'box'):
            line = gaussian_line(side, sigma) if sigma else [1] * side
            matrix = self.vips.Image.new_from_array([line], scale=sum(line))
            return lambda image: image.convsep(matrix, precision='integer')
        rows = [mask.weights[y * side:(y + 1) * side] for y in range(side)]
        matrix = self.vips.Image.new_from_array(rows, scale=sum(mask.weights))
        return lambda image: image.conv(matrix, precision='integer')

    def rounds(self, planes, mask):
        filters = [self.one_plane(mask, step) for step, _, _ in planes]
        frames = [make_frame(planes) for _ in range(N_FRAMES)]
        for frame in itertools.cycle(frames):
            start = time.perf_counter()
            for run, plane in zip(filters, frame):
                run(self.vips.Image.new_from_array(plane)).write_to_memory()
            yield time.perf_counter() - start


class VapourSynth:
    BATCH = 24

    def __init__(self):
        import vapoursynth
        self.vs = vapoursynth
        self.core = vapoursynth.core.core
        self.name = 'VapourSynth ' + str(self.core.core_version).split()[0] + ' of PyPI'
        self.formats = {'gray8': vapoursynth.GRAY8, 'gray16': vapoursynth.GRAY16, 'rgb': vapoursynth.RGB24,
                        'nv12': vapoursynth.YUV420P8, 'p010': vapoursynth.YUV420P10}

    def set_threads(self, threads):
        self.core.num_threads = threads

    def some_planes(self, clip, mask, step, planes):
        side, sigma = mask.of_plane(step)
        if mask.kind == 'box':
            return clip.std.BoxBlur(planes=planes, hradius=side // 2, vradius=side // 2)
        if mask.kind == 'gaussian' and side <= 25:
            line = gaussian_line(side, sigma)
            return clip.std.Convolution(matrix=[min(1023, tap) for tap in line], mode='hv', planes=planes)
        if mask.kind != 'gaussian' and side <= 5:
            return clip.std.Convolution(matrix=mask.weights, planes=planes)
        return None

    def source(self, video_format):
        empty = self.core.std.BlankClip(width=WIDTH, height=HEIGHT, format=video_format, length=N_FRAMES)

        def fill(n, f):
            frame = f.copy()
            for plane in range(frame.format.num_planes):
                values = numpy.asarray(frame[plane])
                values[:] = numpy.random.default_rng(n).integers(0, 1 << frame.format.bits_per_sample, values.shape)
            return frame

        filled = empty.std.ModifyFrame(empty, fill)
        filled.std.SetVideoCache(mode=1, fixedsize=1, maxsize=N_FRAMES)
        return filled

    def rounds(self, planes, mask):
        name = next(name for name in FORMATS if FORMATS[name] is planes)
        if name not in self.formats:
            return
        clip = self.source(self.formats[name]).std.Loop(times=self.BATCH // N_FRAMES)
        clip = self.some_planes(clip, mask, 1, [0, 1, 2] if name == 'rgb' else [0])
        if clip is not None and len(planes) > 1:
            clip = self.some_planes(clip, mask, 2, [1, 2])
        if clip is None:
            return
        clip.std.SetVideoCache(mode=0)  # a round shows the same frames as the round before
        while True:
            start = time.perf_counter()
            for _ in clip.frames(prefetch=self.core.num_threads, close=True):
                pass
            yield (time.perf_counter() - start) / self.BATCH


LIBRARIES = {'opencv': OpenCV, 'libvips': Vips, 'vapoursynth': VapourSynth}


def make_frame(planes):
    generator = numpy.random.default_rng(random.getrandbits(32))
    return [generator.integers(0, 1 << bits, (HEIGHT // step, WIDTH // step, samples), sample_type(bits)).squeeze()
            for step, samples, bits in planes]


def named(argument):
    return argument.split(',')


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--library', type=named, default=list(LIBRARIES))
    parser.add_argument('--kind', type=named, default=['any', 'gaussian', 'box'])
    parser.add_argument('--sides', type=named, default=['3', '5', '7', '9', '15', '31'])
    parser.add_argument('--format', type=named, default=['gray8', 'rgb', 'gray16'])
    parser.add_argument('--threads', type=named, default=['1', '2'])
    parser.add_argument('--rounds', type=int, default=21)
    return parser.parse_args()


def main():
    arguments = read_arguments()
    # Else the result of each frame is memory that the kernel has to clear first.
    if 'MALLOC_MMAP_THRESHOLD_' not in os.environ:
        os.environ.update(MALLOC_MMAP_THRESHOLD_='1073741824', MALLOC_TRIM_THRESHOLD_='1073741824')
        os.execv(sys.executable, [sys.executable] + sys.argv)
    random.seed(4)
    if arguments.kind == ['usual']:
        masks = [Mask(*mask) for mask in USUAL]
    else:
        masks = [Mask(kind, 0, int(side)) for kind in arguments.kind for side in arguments.sides]
    libraries = [LIBRARIES[name]() for name in arguments.library]
    print('size,format,kind,side,what,threads,median_us,min_us,others')
    for name, mask, library, threads in itertools.product(arguments.format, masks, libraries, arguments.threads):
        library.set_threads(int(threads))
        times = [1e6 * seconds for seconds, _ in
                 zip(library.rounds(FORMATS[name], mask), range(WARM_UP + arguments.rounds))][WARM_UP:]
        if times:
            print(f'1080p,{name},{mask.name},{mask.side},"{library.name}",{threads},{statistics.median(times):.1f},'
                  f'{min(times):.1f},', flush=True)


main()
