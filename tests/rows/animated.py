#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks a film whose property follows keyframes: tests/rows/animated.py BEFORE AFTER sharp|bright

sharp: the film keeps the detail of BEFORE at both ends, loses most of it at the middle, and has less from frame to frame
up to there and more from there on. bright: the same for the mean of the samples. Both films need as many frames.
"""
import subprocess
import sys
import tempfile

WIDTH, HEIGHT = 160, 90  # of the part that is compared, from the middle of the film


def frames(film):
    """The luma of the middle of each frame."""
    with tempfile.NamedTemporaryFile() as raw:
        subprocess.run(['gst-launch-1.0', '-q', 'filesrc', f'location={film}', '!', 'decodebin', '!', 'videoconvert', '!',
                        'video/x-raw,format=GRAY8', '!', 'aspectratiocrop', 'aspect-ratio=16/9', '!', 'videocrop',
                        'left=240', 'right=240', 'top=135', 'bottom=135', '!', 'filesink', f'location={raw.name}'],
                       check=True, timeout=120)
        data = open(raw.name, 'rb').read()
    size = WIDTH * HEIGHT
    if len(data) % size:
        sys.exit(f'{film}: the frames are not 640x360')
    return [data[place:place + size] for place in range(0, len(data), size)]


def sharp(frame):
    """The mean difference between a sample and its right neighbour."""
    return sum(abs(a - b) for a, b in zip(frame, frame[1:])) / len(frame)


def bright(frame):
    return sum(frame) / len(frame)


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in ('sharp', 'bright'):
        sys.exit(__doc__)
    measure = globals()[sys.argv[3]]
    before, after = frames(sys.argv[1]), frames(sys.argv[2])
    if len(before) != len(after):
        sys.exit(f'{len(after)} frames instead of {len(before)}')
    shares = [measure(b) / measure(a) for a, b in zip(before, after)]
    print(' '.join(f'{share:.2f}' for share in shares))
    middle = len(shares) // 2
    lowest = shares.index(min(shares))
    if min(shares[0], shares[-1]) < 0.7:
        sys.exit('the ends of the film are not as before')
    if min(shares) > 0.2 or abs(lowest - middle) > len(shares) // 10:
        sys.exit(f'the lowest share is {min(shares):.2f} in frame {lowest}, and not below 0.2 near frame {middle}')
    # Noise and the encoder make a difference of some hundredths.
    for index in range(len(shares) - 5):
        later = shares[index + 5]
        if later > shares[index] + 0.03 if index + 5 <= middle - 5 else index >= middle + 5 and later < shares[index] - 0.03:
            sys.exit(f'frame {index + 5} has the share {later:.2f} after {shares[index]:.2f} in frame {index}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
