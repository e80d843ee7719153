#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes layers for cudaconvlayer: python3 examples/layers.py [FOLDER]

FOLDER is out where none is named. Written are
  gabor.npz      64 filters of 7x7 over RGB, as the first layer of a network learns them: stripes in 8 directions
  gabor.png      those filters as a picture, in 8 rows and columns
  blurpool.npy   a blur for stride=2: half the size without the jaggies of leaving pixels out
  sepia.npy      a colour matrix, as a layer of 1x1
Needs nothing but Python: with NumPy it is numpy.savez (NAME, weight=..., bias=...) and numpy.save (NAME, weight).
"""
import math
import os
import struct
import sys
import zipfile
import zlib

SIZE = 7
TURNS = 8  # directions, which are the columns of the mosaic

# A row of filters each: wavelength in pixels, phase, and what red, green and blue count.
ROWS = [
    (3.5, 0, (1, 1, 1)),
    (3.5, math.pi / 2, (1, 1, 1)),
    (6, 0, (1, 1, 1)),
    (6, math.pi / 2, (1, 1, 1)),
    (10, 0, (1, -1, 0)),
    (7, math.pi / 2, (1, -1, 0)),
    (10, 0, (-0.5, -0.5, 1)),
    (7, math.pi / 2, (-0.5, -0.5, 1)),
]


def flat(nested):
    """The numbers of nested lists, the last index fastest."""
    if not isinstance(nested, list):
        return [nested]
    return [number for part in nested for number in flat(part)]


def shape(nested):
    return (len(nested),) + shape(nested[0]) if isinstance(nested, list) else ()


def npy(nested):
    """The bytes of a .npy file of float32."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %r, }" % (shape(nested),)
    header += ' ' * (-(10 + len(header) + 1) % 64) + '\n'
    numbers = flat(nested)
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode('ascii')
            + struct.pack('<%df' % len(numbers), *numbers))


def write_npz(name, **arrays):
    with zipfile.ZipFile(name, 'w', zipfile.ZIP_DEFLATED) as archive:
        for key, nested in arrays.items():
            archive.writestr(zipfile.ZipInfo(key + '.npy'), npy(nested), zipfile.ZIP_DEFLATED)


def stripes(wavelength, phase, angle, balanced):
    """A wave across the angle under a bell, balanced so that its sum is 0."""
    half = SIZE // 2
    bell = [[math.exp(-(x * x + y * y) / (2 * 1.8 ** 2)) for x in range(-half, half + 1)] for y in range(-half, half + 1)]
    wave = [[bell[y][x] * math.cos(2 * math.pi * ((x - half) * math.cos(angle) + (y - half) * math.sin(angle))
                                   / wavelength + phase) for x in range(SIZE)] for y in range(SIZE)]
    level = sum(flat(wave)) / sum(flat(bell)) if balanced else 0
    return [[wave[y][x] - level * bell[y][x] for x in range(SIZE)] for y in range(SIZE)]


def gabor_filters():
    """[64][3][7][7]; the weights of each filter add up to 0, so that flat grey gives nothing, their magnitudes to 1."""
    filters = []
    for wavelength, phase, colours in ROWS:
        for turn in range(TURNS):
            plane = stripes(wavelength, phase, math.pi * turn / TURNS, sum(colours) > 0)
            size = sum(abs(number) for number in flat(plane)) * sum(abs(colour) for colour in colours)
            filters.append([[[number * colour / size for number in row] for row in plane] for colour in colours])
    return filters


def blurpool():
    """[3][3][4][4]: 1 3 3 1 both ways, each colour for itself."""
    row = [1, 3, 3, 1]
    return [[[[a * b / 64 if k == c else 0 for a in row] for b in row] for c in range(3)] for k in range(3)]


def sepia():
    """[3][3][1][1]: each colour from all three."""
    matrix = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
    return [[[[weight]] for weight in row] for row in matrix]


def write_png(name, width, height, pixels):
    """RGB, 3 bytes to a pixel."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = b''.join(b'\0' + pixels[y * width * 3:(y + 1) * width * 3] for y in range(height))
    with open(name, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0))
                   + chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


def write_picture(name, filters, columns, scale):
    """The filters as tiles, grey where a weight is 0, with a black line between them."""
    rows = (len(filters) + columns - 1) // columns
    tile = SIZE * scale + 1
    width, height = columns * tile + 1, rows * tile + 1
    pixels = bytearray(width * height * 3)
    for number, planes in enumerate(filters):
        most = max(abs(weight) for weight in flat(planes))
        for y in range(SIZE * scale):
            for x in range(SIZE * scale):
                at = ((number // columns * tile + 1 + y) * width + number % columns * tile + 1 + x) * 3
                for colour in range(3):
                    pixels[at + colour] = round(127.5 + 127.5 * planes[colour][y // scale][x // scale] / most)
    write_png(name, width, height, bytes(pixels))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else 'out'
    os.makedirs(folder, exist_ok=True)
    filters = gabor_filters()
    write_npz(os.path.join(folder, 'gabor.npz'), weight=filters, bias=[0.0] * len(filters))
    write_picture(os.path.join(folder, 'gabor.png'), filters, TURNS, 5)
    for name, weights in (('blurpool', blurpool()), ('sepia', sepia())):
        with open(os.path.join(folder, name + '.npy'), 'wb') as file:
            file.write(npy(weights))


if __name__ == '__main__':
    main()
