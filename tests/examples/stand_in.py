#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stands in for a detector: stand_in.py MODE [VALUE...]; the form of all lines is that of examples/film/faces.py.

spot W H    wants frames of that size, and finds what is light. The type tells the size of the film and the quarter
            of the upright picture: "320x240 top right"
say TEXT    wants 32x32, and answers every frame with TEXT
loud        writes a megabyte to its standard error before each answer
early       answers before it has read the frame
header TEXT wants TEXT in place of a size
die         ends after the first frame, with a sentence on its standard error
mute        takes all frames and answers none
stay        never ends by itself
"""
import json
import signal
import sys
import time


def spot_in(frame, width, height, film):
    light = [at // 3 for at in range(0, len(frame), 3) if frame[at] > 127]
    if not light:
        return []
    xs, ys = [at % width for at in light], [at // width for at in light]
    x, y = min(xs), min(ys)
    box = {'x': x, 'y': y, 'width': max(xs) + 1 - x, 'height': max(ys) + 1 - y}
    quarter = ('top ' if 2 * y + box['height'] < height else 'bottom ') + ('left' if 2 * x + box['width'] < width else 'right')
    return [{'type': '%dx%d %s' % (film['width'], film['height'], quarter), **box}]


def main():
    mode, values = sys.argv[1], sys.argv[2:]
    if mode == 'stay':
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    film = json.loads(sys.stdin.buffer.readline())
    width, height = map(int, values) if mode == 'spot' else (32, 32)
    print(values[0] if mode == 'header' else json.dumps({'width': width, 'height': height}), flush=True)
    while True:
        if mode == 'early':
            print('[]', flush=True)
        frame = sys.stdin.buffer.read(width * height * 3)
        if len(frame) < width * height * 3:
            break
        if mode == 'die':
            sys.exit('the model is too old')
        if mode == 'loud':
            sys.stderr.write('x' * (1 << 20) + '\n')
        if mode == 'spot':
            print(json.dumps(spot_in(frame, width, height, film)), flush=True)
        elif mode not in ('early', 'mute'):
            print(values[0] if mode == 'say' else '[]', flush=True)
    while mode == 'stay':
        time.sleep(1)


if __name__ == '__main__':
    main()
