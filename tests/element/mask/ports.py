#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the rows of plugin/ports.md in FFmpeg, OpenCV and ImageMagick and in the element, and compares the bytes.

    tests/element/mask/ports.py [--seed N] [WORD...]

WORD runs the rows alone whose text has it. GStreamer finds the element by GST_PLUGIN_PATH. A section whose program or Python package is
missing is left out, and so is ImageMagick but for version 6 of 16 bits, which cuts off. Exits 77 where none is there.
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

PAGE = pathlib.Path(__file__).resolve().parents[3] / 'plugin' / 'ports.md'
WIDTH, HEIGHT = 136, 98  # rows of luma and chroma need no padding
SAMPLES = {'gray8': 1, 'bgr': 3, 'i420': 1.5}  # for each pixel
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
            'ImageMagick': run_imagemagick if CONVERT else None}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int, default=int(os.environ.get('CUDACONVOLVE_SEED', random.randrange(1 << 32))))
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
    print(f'{ran} comparisons, {faults} faults')
    sys.exit(faults > 0 or not ran)


main()
