#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A reader of the records of region-log that shares no code with the project, and somebody who tampers with films and records.

    recorded.py check RECORD RAW            chain, numbers and checksums are those of the frames in RAW
    recorded.py flip|drop|twice|swap N RAW OUT       one byte, a frame away, a frame more, a frame and the next one
    recorded.py bare N RAW ORIGINAL OUT              frame N as it was before the element
    recorded.py strip N TOP BOTTOM RAW ORIGINAL OUT  the same for rows of frame N alone, both even
    recorded.py change|cut|repeat|exchange N RECORD OUT   line N, from 1: a digit, away, once more, with the next one
    recorded.py shorten RECORD OUT                   without the last line
    recorded.py forge N RECORD RAW OUT               a new chain, in which frame N has the checksum and the means of RAW

RAW has frames of I420, 640 by 360, without anything between them.
"""
import hashlib
import json
import sys

WIDTH, HEIGHT = 640, 360
SIZE = WIDTH * HEIGHT * 3 // 2
ZEROS = '0' * 64


def frames_of(name):
    data = open(name, 'rb').read()
    assert len(data) % SIZE == 0, '%s has %d bytes' % (name, len(data))
    return [data[at:at + SIZE] for at in range(0, len(data), SIZE)]


def lines_of(name):
    data = open(name, 'rb').read()
    assert data.endswith(b'\n')
    return data[:-1].split(b'\n')


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def means_of(frame):
    """The means of 8 by 8 parts of the luma, in 8 bits."""
    means = b''
    for j in range(8):
        for i in range(8):
            left, right, top, bottom = WIDTH * i // 8, WIDTH * (i + 1) // 8, HEIGHT * j // 8, HEIGHT * (j + 1) // 8
            count = (right - left) * (bottom - top)
            total = sum(sum(frame[y * WIDTH + left:y * WIDTH + right]) for y in range(top, bottom))
            means += bytes([(total + count // 2) // count])
    return means.hex()


def check(record, raw):
    frames, lines, previous, number = frames_of(raw), lines_of(record), ZEROS, 0
    for at, line in enumerate(lines, 1):
        told = json.loads(line)
        assert told['previous'] == previous, 'line %d' % at
        previous = sha256(line)
        if told['line'] == 'frame':
            assert told['frame'] == number, 'line %d: frame %d, expected %d' % (at, told['frame'], number)
            assert told['sha256'] == sha256(frames[number]), 'frame %d: checksum' % number
            assert told['means'] == means_of(frames[number]), 'frame %d: means' % number
            number += 1
    head, end = json.loads(lines[0]), json.loads(lines[-1])
    assert head['line'] == 'head' and head['settings']['region-log'], head
    assert end['line'] == 'end' and end['frames'] == number == len(frames), (end, number, len(frames))
    print('%d frames, %d lines' % (number, len(lines)))


def write_frames(name, frames):
    open(name, 'wb').write(b''.join(frames))


def write_lines(name, lines):
    open(name, 'wb').write(b''.join(line + b'\n' for line in lines))


def tamper_with_frames(kind, number, frames):
    if kind == 'flip':
        frame = bytearray(frames[number])
        frame[12345] ^= 1
        frames[number] = bytes(frame)
    elif kind == 'drop':
        del frames[number]
    elif kind == 'twice':
        frames.insert(number, frames[number])
    else:
        frames[number:number + 2] = frames[number + 1], frames[number]


def strip(frame, original, top, bottom):
    """A frame with the rows from top to bottom of another one."""
    frame = bytearray(frame)
    for offset, width, step in (0, WIDTH, 1), (WIDTH * HEIGHT, WIDTH // 2, 2), (WIDTH * HEIGHT * 5 // 4, WIDTH // 2, 2):
        rows = slice(offset + top // step * width, offset + bottom // step * width)
        frame[rows] = original[rows]
    return bytes(frame)


def tamper_with_lines(kind, number, lines):
    at = number - 1
    if kind == 'change':
        assert b'"pts":2' in lines[at], lines[at]
        lines[at] = lines[at].replace(b'"pts":2', b'"pts":3')
    elif kind == 'cut':
        del lines[at]
    elif kind == 'repeat':
        lines.insert(at, lines[at])
    else:
        lines[at:at + 2] = lines[at + 1], lines[at]


def forge(number, lines, frames):
    previous = ZEROS
    for at, line in enumerate(lines):
        told = json.loads(line)
        told['previous'] = previous
        if told.get('frame') == number:
            told['sha256'], told['means'] = sha256(frames[number]), means_of(frames[number])
        lines[at] = json.dumps(told, separators=(',', ':')).encode()
        previous = sha256(lines[at])


def main():
    kind, *arguments = sys.argv[1:]
    if kind == 'check':
        check(*arguments)
    elif kind == 'shorten':
        write_lines(arguments[1], lines_of(arguments[0])[:-1])
    elif kind == 'bare':
        frames = frames_of(arguments[1])
        frames[int(arguments[0])] = frames_of(arguments[2])[int(arguments[0])]
        write_frames(arguments[3], frames)
    elif kind == 'strip':
        number, top, bottom = map(int, arguments[:3])
        frames = frames_of(arguments[3])
        frames[number] = strip(frames[number], frames_of(arguments[4])[number], top, bottom)
        write_frames(arguments[5], frames)
    elif kind == 'forge':
        lines = lines_of(arguments[1])
        forge(int(arguments[0]), lines, frames_of(arguments[2]))
        write_lines(arguments[3], lines)
    elif kind in ('flip', 'drop', 'twice', 'swap'):
        frames = frames_of(arguments[1])
        tamper_with_frames(kind, int(arguments[0]), frames)
        write_frames(arguments[2], frames)
    else:
        lines = lines_of(arguments[1])
        tamper_with_lines(kind, int(arguments[0]), lines)
        write_lines(arguments[2], lines)


main()
