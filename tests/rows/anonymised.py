#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether a film was anonymised: python3 tests/rows/anonymised.py FILM RESULT BOXES.json [MARGIN [WIDTHxHEIGHT]]

The boxes say where the faces of FILM are. Without MARGIN, RESULT has to be FILM anonymised with these very boxes. A
MARGIN is for a result of a detector: each box is taken smaller by this share on each side, and frames without a box
are not looked at. WIDTHxHEIGHT is the size of both films, upright; 640x360 where left out.

All comparisons are of luma. In each frame with a box the detail of FILM inside the box has to be gone, in the whole box
and in each ninth: detail left is the share of the differences between neighbouring pixels that RESULT still has. Beside
the box the detail has to be there. All frames without a box, and the sides of the others, have to be those of FILM but
for the coding.
"""
import json
import math
import subprocess
import sys

WIDTH, HEIGHT = map(int, sys.argv[5].split('x')) if len(sys.argv) > 5 else (640, 360)
RATE = 25
DISTANCE = 2      # pixels, between the two whose difference is detail
MOST_LEFT = 0.2   # of the detail inside a box; the borders of pixelate's blocks have some
MOST_IN_NINTH = 0.4  # of the detail in a ninth of a box
LEAST_KEPT = 0.8  # of the detail beside a box
LEAST_PSNR = 35   # dB; the encoders of cudaconvolve-film give more than 40


def decode(name):
    """The luma of all frames, each as bytes."""
    # videoscale has work only until videoflip knows how to turn the picture.
    data = subprocess.run(['gst-launch-1.0', '-q', 'filesrc', 'location=' + name, '!', 'decodebin', '!', 'videoconvert',
                           '!', 'videoflip', 'video-direction=auto', '!', 'videoconvert', '!', 'videoscale', '!', 'video/x-raw,format=GRAY8,width=%d,height=%d' % (WIDTH, HEIGHT), '!', 'fdsink'],
                          stdout=subprocess.PIPE, timeout=120, check=True).stdout
    # GStreamer's rows of gray are whole multiples of 4 bytes.
    row = (WIDTH + 3) // 4 * 4
    data = b''.join(data[at:at + WIDTH] for at in range(0, len(data), row))
    size = WIDTH * HEIGHT
    if len(data) % size:
        sys.exit('%s: %d bytes are no whole number of frames' % (name, len(data)))
    return [data[at:at + size] for at in range(0, len(data), size)]


def box_at(track, time):
    """x, y, width and height, or None where the track has no box at that time."""
    for a, b in zip(track, track[1:]):
        if a['time'] - 1e-6 <= time <= b['time'] + 1e-6:
            share = (time - a['time']) / (b['time'] - a['time'])
            return [a[name] + (b[name] - a[name]) * share for name in ('x', 'y', 'width', 'height')]
    return None


def rows_of(frame, left, right, top, bottom):
    return [frame[y * WIDTH + left:y * WIDTH + right] for y in range(top, bottom)]


def detail(rows):
    """Differences between neighbouring pixels, to the right and down."""
    across = [a - b for row in rows for a, b in zip(row, row[DISTANCE:])]
    down = [a - b for row, below in zip(rows, rows[DISTANCE:]) for a, b in zip(row, below)]
    return across + down


def share_left(film, result, *place):
    """How much of the film's detail the result has: 1 for the same picture, 0 where nothing of the detail is left.

    Noise that is larger than the detail is scaled down to it: otherwise a block's noise counts as detail by chance.
    """
    before, after = detail(rows_of(film, *place)), detail(rows_of(result, *place))
    energy, energy_after = sum(a * a for a in before), sum(b * b for b in after)
    return sum(a * b for a, b in zip(before, after)) / max(1, energy, math.sqrt(energy * energy_after))


def shares_left(film, result, x, y, width, height):
    """The share of the box, and the largest one of its ninths."""
    xs = [min(max(0, round(x + width * i / 3)), WIDTH) for i in range(4)]
    ys = [min(max(0, round(y + height * i / 3)), HEIGHT) for i in range(4)]
    ninths = [share_left(film, result, xs[i], xs[i + 1], ys[k], ys[k + 1]) for i in range(3) for k in range(3)]
    return share_left(film, result, xs[0], xs[3], ys[0], ys[3]), max(ninths)


def psnr(film, result):
    error = sum((a - b) ** 2 for a, b in zip(film, result)) / len(film)
    return 10 * math.log10(255 ** 2 / max(error, 1e-3))


def main():
    films = [decode(name) for name in sys.argv[1:3]]
    margin = float(sys.argv[4]) if len(sys.argv) > 4 else None
    with open(sys.argv[3]) as file:
        tracks = [track for tracks in json.load(file).values() for track in tracks]
    if len(films[0]) != len(films[1]) or not films[0]:
        sys.exit('%d frames became %d' % (len(films[0]), len(films[1])))

    faults, faces, left, ninths, kept, near = [], 0, [0], [0], [1], [100]
    for number, (film, result) in enumerate(zip(*films)):
        boxes = [box for box in (box_at(track, number / RATE) for track in tracks) if box]
        for x, y, width, height in boxes:
            dx, dy = width * (margin or 0), height * (margin or 0)
            in_box, in_ninth = shares_left(film, result, x + dx, y + dy, width - 2 * dx, height - 2 * dy)
            left.append(in_box)
            ninths.append(in_ninth)
            kept.append(share_left(film, result, int(x + width * 1.3), WIDTH, 0, HEIGHT))
            near.append(psnr(b''.join(rows_of(film, 0, int(x - width * 0.3), 0, HEIGHT)),
                             b''.join(rows_of(result, 0, int(x - width * 0.3), 0, HEIGHT))))
            if in_box > MOST_LEFT or in_ninth > MOST_IN_NINTH or kept[-1] < LEAST_KEPT or near[-1] < LEAST_PSNR:
                faults.append('frame %d: %.2f of the detail is left inside the box, %.2f in a ninth of the box, %.2f '
                              'beside the box, %.1f dB' % (number, in_box, in_ninth, kept[-1], near[-1]))
        faces += bool(boxes)
        if not boxes and margin is None:
            near.append(psnr(film[::7], result[::7]))
            if near[-1] < LEAST_PSNR:
                faults.append('frame %d has no box, and has changed: %.1f dB' % (number, near[-1]))

    print('%d frames, %d with a face; of the detail at most %.2f is left inside a box, %.2f in a ninth of a box, and at '
          'least %.2f beside a box; the rest has at least %.1f dB'
          % (len(films[0]), faces, max(left), max(ninths), min(kept), min(near)))
    if not faces:
        faults.append('no frame has a box')
    sys.exit('\n'.join(faults) or None)


if __name__ == '__main__':
    main()
