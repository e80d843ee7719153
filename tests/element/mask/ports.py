#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the rows of plugin/ports.md in FFmpeg, OpenCV, SciPy and ImageMagick and in the element, and compares the bytes. Then masks
at random, with the boundaries of the page's table: integers must give the bytes of FFmpeg, OpenCV and SciPy, and fractions keep what
kernels/README.md promises of the exact value.

    tests/element/mask/ports.py [--seed N] [--cases N] [WORD...]

WORD runs the rows alone whose text has it, and no random masks. A case depends on the seed and its number alone. GStreamer finds the
element by GST_PLUGIN_PATH. A section whose program or Python package is missing is left out, and so is ImageMagick but for version 6 of 16 bits, which cuts off. Exits 77 where none is there.
"""
import argparse
import math
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError:
    cv2 = None
try:
    import numpy as np
    from scipy import ndimage
except ImportError:
    ndimage = None

PAGE = pathlib.Path(__file__).resolve().parents[3] / 'plugin' / 'ports.md'
WIDTH, HEIGHT = 136, 98  # rows of luma and chroma need no padding
SAMPLES = {'gray8': 1, 'gray16-le': 2, 'bgr': 3, 'i420': 1.5}  # for each pixel
CLAIM = re.compile(r'(equal)|equal (but for the last row and column)|within (\d) in (\d+)%|(differ)')


def make_frames(seed, form):
    """Frames of noise and of waves with a bright box."""
    size = int(WIDTH * HEIGHT * SAMPLES[form])
    noise = random.Random(seed).randbytes(size)

    def wave(i):
        y, x = divmod(i, WIDTH)
        inside = HEIGHT // 3 <= y % HEIGHT < HEIGHT // 2 and WIDTH // 4 <= x < WIDTH // 2
        return 250 if inside else min(max(int(127 + 60 * math.sin(x / 9) + 50 * math.cos(y / 7 + x / 31)), 0), 255)

    return [noise, bytes(map(wave, range(size)))]


def convolve(line, frames, form, folder):
    """The frames as the element makes them."""
    (folder / 'in').write_bytes(b''.join(frames))
    run = subprocess.run(
        f'gst-launch-1.0 -q filesrc location={folder}/in blocksize={len(frames[0])} ! '
        f'rawvideoparse format={form} width={WIDTH} height={HEIGHT} ! {line} ! filesink location={folder}/out',
        shell=True, text=True, capture_output=True, check=False)
    if run.returncode or run.stderr:
        sys.exit(f'{line}\n{run.stdout}{run.stderr}')
    return cut((folder / 'out').read_bytes(), len(frames[0]))


def cut(raw, size):
    return [raw[i:i + size] for i in range(0, len(raw), size)]


# --- the others: the frames as each makes them ---

def run_ffmpeg(arguments, frames, form):
    pixels = {'gray8': 'gray', 'i420': 'yuv420p'}[form]
    stream = ['-f', 'rawvideo', '-pix_fmt', pixels]
    return cut(subprocess.run(
        ['ffmpeg', '-v', 'error', *stream, '-s', f'{WIDTH}x{HEIGHT}', '-i', '-', '-vf', arguments, *stream, '-'],
        input=b''.join(frames), stdout=subprocess.PIPE, check=True).stdout, len(frames[0]))


def run_opencv(arguments, frames, form):
    shape = (HEIGHT, WIDTH, 3) if form == 'bgr' else (HEIGHT, WIDTH)
    made = [eval(arguments, {'cv2': cv2, 'np': np, 'x': np.frombuffer(frame, np.uint8).reshape(shape).copy()})  # the page's text
            for frame in frames]
    return [(x if x.dtype == np.uint8 else np.clip(np.floor(x + 0.5), 0, 255).astype(np.uint8)).tobytes() for x in made]


def run_scipy(arguments, frames, form):
    assert form == 'gray8'
    made = [eval(arguments, {'ndimage': ndimage, 'np': np, 'x': np.frombuffer(frame, np.uint8).reshape(HEIGHT, WIDTH).astype(float)})
            for frame in frames]
    return [np.clip(np.floor(x + 0.5), 0, 255).astype(np.uint8).tobytes() for x in made]


def run_imagemagick(arguments, frames, form):
    assert form == 'gray8'
    return [subprocess.run(
        [CONVERT, '-size', f'{WIDTH}x{HEIGHT}', '-depth', '8', 'gray:-', *arguments.split(), '-depth', '8', 'gray:-'],
        input=frame, stdout=subprocess.PIPE, check=True).stdout for frame in frames]


def find_imagemagick():
    """The program of ImageMagick 6 whose samples have 16 bits and are integers, or None."""
    for name in ('convert-im6.q16', 'convert'):
        if shutil.which(name):
            said = subprocess.run([name, '-version'], text=True, capture_output=True, check=False).stdout
            if re.search(r'ImageMagick 6.*Q16', said) and 'HDRI' not in said:
                return name
    return None


CONVERT = find_imagemagick()
PROGRAMS = {'FFmpeg': run_ffmpeg if shutil.which('ffmpeg') else None, 'OpenCV': run_opencv if cv2 else None,
            'SciPy': run_scipy if ndimage else None, 'ImageMagick': run_imagemagick if CONVERT else None}


# --- the rows ---

def read_rows():
    """Of each row of the page: the section, the other's line, the line here, and the claim."""
    section, rows = None, []
    for line in PAGE.read_text(encoding='utf-8').splitlines():
        section = line[3:] if line.startswith('## ') else section
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if section in PROGRAMS and len(cells) == 4 and cells[1].startswith('`cudaconvolve'):
            rows.append((section, cells[0].strip('`'), cells[1].strip('`'), cells[2]))
    return rows


def find_forms(section, line):
    if section == 'OpenCV':
        return ['gray8', 'bgr']
    return ['gray8', 'i420'] if 'components=y' in line else ['gray8']


def is_true(claim, ours, others):
    """Whether the claim holds of the frames, and what was found."""
    if list(map(len, ours)) != list(map(len, others)):
        return False, f'frames of {list(map(len, ours))} and {list(map(len, others))} bytes'
    apart = [[abs(x - y) for x, y in zip(a, b)] for a, b in zip(ours, others)]
    most = max(map(max, apart))
    share = max(sum(d > 0 for d in frame) / len(frame) for frame in apart)
    found = f'at most {most}, {100 * share:.2f}%'
    if claim.group(1):
        return most == 0, found
    if claim.group(2):
        inside = [frame[i] for frame in apart for i in range(len(frame))
                  if i >= WIDTH * HEIGHT or i < WIDTH * (HEIGHT - 1) and i % WIDTH < WIDTH - 1]
        return most > 0 and not any(inside), found
    if claim.group(3):
        return most <= int(claim.group(3)) and share <= int(claim.group(4)) / 100, found
    return most > 1, found


# --- masks at random ---

def read_boundaries():
    """What each program calls a boundary, from the page's table: the name here, then by program."""
    table = re.search(r'\| here \| (.*) \|\n.*\n((?:\|.*\n)+)', PAGE.read_text(encoding='utf-8'))
    names = table.group(1).split(' | ')
    rows = [[cell.strip().strip('`') for cell in line.strip('|').split('|')] for line in table.group(2).splitlines()]
    return {cells[0]: dict(zip(names, cells[1:])) for cells in rows}


def draw_case(seed, number, boundaries):
    """A frame, a mask, its divisor and boundary, whether the weights are fractions, and whether FFmpeg takes the mask."""
    draw = random.Random(f'{seed} {number}')
    width, height = (draw.choice((1, 3, 5, 7, 9, 15, 31)) for _ in range(2))
    boundary, form = draw.choice(list(boundaries)), draw.choice(('gray8', 'gray8', 'gray16-le'))
    for_ffmpeg, fractions = number % 4 == 0, number % 4 == 3
    if for_ffmpeg:
        width, boundary, form = draw.choice((5, 7)), 'reflect-101', 'gray8'
        height = width
    count = width * height
    kind = draw.choice(('any', 'few', 'rank-1', 'equal'))
    row, column = [draw.randint(-6, 9) for _ in range(width)], [draw.randint(-2, 5) for _ in range(height)]
    integers = {'any': [draw.randint(-9, 12) for _ in range(count)], 'few': [draw.choice((0, 0, 0, 1, -2, 3)) for _ in range(count)],
                'rank-1': [a * b for b in column for a in row], 'equal': [1] * count}[kind]
    integers[draw.randrange(count)] += 1
    # FFmpeg 5.1 divides by the sum, whatever rdiv says, and by a power of 2 without an error.
    if for_ffmpeg:
        integers[draw.randrange(count)] += (1 << draw.randint(0, 7)) - sum(integers)
    weights = [round(value * draw.uniform(0.5, 1.5) / count, 5) for value in integers] if fractions else integers
    divisor = 1 if fractions else sum(weights) if for_ffmpeg else 1 << max(sum(map(abs, weights)).bit_length() - draw.randint(0, 2), 0)
    frame = draw.randbytes(WIDTH * HEIGHT * SAMPLES[form])
    return form, frame, width, height, weights, divisor, boundary, fractions, for_ffmpeg


def add_up(program, name, x, mask):
    """The weighted sums of a frame as doubles, which hold sums of integers exactly; None where the program has no such boundary."""
    if program == 'SciPy':
        return ndimage.correlate(x, mask, mode=name)
    # filter2D has no BORDER_WRAP.
    return None if name == 'BORDER_WRAP' else cv2.filter2D(x, -1, mask, borderType=getattr(cv2, name))


def run_case(seed, number, boundaries, folder):
    """The faults of a case, and with how many results of other programs its frame was compared."""
    form, frame, width, height, weights, divisor, boundary, fractions, for_ffmpeg = draw_case(seed, number, boundaries)
    text = ' '.join(map(str, weights))
    line = f'cudaconvolve mask="{width}x{height}: {text}" divisor={divisor} boundary={boundary}'
    made = convolve(line, [frame], form, folder)[0]
    kind, most = (np.uint8, 255) if form == 'gray8' else (np.uint16, 65535)
    ours = np.frombuffer(made, kind).astype(float).reshape(HEIGHT, WIDTH)
    x = np.frombuffer(frame, kind).astype(float).reshape(HEIGHT, WIDTH)
    mask = np.array(weights, float).reshape(height, width)
    exact = not fractions and most * sum(map(abs, weights)) < 1 << 24
    faults, compared = [], 0
    for program in ('SciPy', 'OpenCV'):
        name = boundaries[boundary][program]
        sums = add_up(program, name, x, mask) if PROGRAMS[program] and name else None
        if sums is None:
            continue
        compared += 1
        # OpenCV adds large masks up by Fourier transforms, beside the integer.
        sums = sums if fractions else np.rint(sums)
        # How far the result may be from the exact value: rounding, and what an inexact plan may add.
        far = np.abs(ours - np.clip(sums / divisor, 0, most)).max()
        same = np.array_equal(ours, np.clip(np.floor(sums / divisor + 0.5), 0, most))
        if not (same if exact else far <= 0.5 + (1 / 64 if most == 255 else 0.5) + 1e-6):
            faults.append(f'{program}: {far:.4f} from the exact value: {form}, {line}')
    if PROGRAMS['FFmpeg'] and for_ffmpeg:
        compared += 1
        if run_ffmpeg(f"convolution=0m='{text}':0rdiv={1 / divisor}", [frame], form)[0] != made:
            faults.append(f'FFmpeg: other bytes: {line}')
    return faults, compared


def run_cases(seed, count, folder):
    boundaries, compared, faults = read_boundaries(), 0, 0
    for number in range(count):
        found, times = run_case(seed, number, boundaries, folder)
        compared, faults = compared + times, faults + len(found)
        for fault in found:
            print(f'FAILED: seed {seed}, case {number}: {fault}')
    print(f'{count} masks at random, {compared} comparisons, {faults} faults')
    return compared, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int, default=int(os.environ.get('CUDACONVOLVE_SEED', random.randrange(1 << 32))))
    parser.add_argument('--cases', type=int, default=12, help='masks at random')
    parser.add_argument('words', nargs='*')
    options = parser.parse_args()
    rows, ran, faults = read_rows(), 0, 0
    absent = [name for name, run in PROGRAMS.items() if not run]

    print(f'seed {options.seed}; {len(rows)} rows; not here: {", ".join(absent) or "nothing"}')
    if len(absent) == len(PROGRAMS):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for section, theirs, line, claimed in rows:
            claim = CLAIM.fullmatch(claimed)
            if not claim:
                sys.exit(f'{PAGE.name}: "{claimed}" is no claim that the test knows')
            if section in absent or not all(word in f'{section} {theirs} {line}' for word in options.words):
                continue
            for form in find_forms(section, line):
                frames = make_frames(options.seed, form)
                held, found = is_true(claim, convolve(line, frames, form, pathlib.Path(folder)),
                                      PROGRAMS[section](theirs, frames, form))
                ran += 1
                faults += not held
                print(f'{"" if held else "FAILED: "}{section} {theirs}, {form}: {claimed}; found {found}')
        print(f'{ran} rows, {faults} faults')
        if not options.words and (cv2 or ndimage):
            more = run_cases(options.seed, options.cases, pathlib.Path(folder))
            ran, faults = ran + more[0], faults + more[1]
    print(f'{ran} comparisons, {faults} faults')
    sys.exit(faults > 0 or not ran)


main()
