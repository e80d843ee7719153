#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a frame costs in whole programs: cudaconvolve on the CPU beside GStreamer's and FFmpeg's filters.

    GST_PLUGIN_PATH=build/plugin tests/bench/bench_cpu_programs.py [ROUNDS]

One frame is made once and shown again and again, so that making it costs nothing; a run without the filter is taken
off each time, so that starting the program costs nothing either. All runs take turns, the order turned round from one
round to the next. Programs that are not installed are left out. Prints CSV, milliseconds a frame.
"""
import random
import shutil
import subprocess
import sys
import time

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 7
random.seed(1)


def weights(side):
    return ' '.join(str(random.randint(1, 50)) for _ in range(side * side))


def gst(video_format, filters):
    return lambda frames: ['gst-launch-1.0', '-q', 'videotestsrc', 'num-buffers=1', 'pattern=snow', '!',
                           f'video/x-raw,format={video_format},width=1920,height=1080,framerate=30/1', '!',
                           'imagefreeze', f'num-buffers={frames}'] + filters.split() + ['!', 'fakesink']


def ffmpeg(video_filter):
    source = f'testsrc2=s=1920x1080:r=30,format={{}},loop=loop=-1:size=1'
    pixels = 'gray' if 'convolution' in video_filter or video_filter == 'null' else 'yuv420p'
    return lambda frames: ['ffmpeg', '-hide_banner', '-loglevel', 'error', '-filter_threads', '2', '-f', 'lavfi', '-i',
                           source.format(pixels), '-frames:v', str(frames), '-vf', video_filter, '-f', 'null', '-']


def quoted(side):
    return f'mask="{WEIGHTS[side]}"'


WEIGHTS = {side: weights(side) for side in (3, 5, 7)}
GAUSSIAN = 'mask=gaussian sigma=2'
# name, what it is compared with, frames, command, command without the filter
RUNS = [
    ('cudaconvolve gaussian sigma=2, I420', 400, gst('I420', f'! cudaconvolve {GAUSSIAN} kernel-variant=cpu'),
     gst('I420', '')),
    ('gaussianblur sigma=2 with videoconvert, I420', 20,
     gst('I420', '! videoconvert ! gaussianblur sigma=2 ! videoconvert ! video/x-raw,format=I420'), gst('I420', '')),
    ('ffmpeg gblur sigma=2, yuv420p', 100, ffmpeg('gblur=sigma=2'), ffmpeg('null')),
]
for side in (3, 5, 7):
    numbers = WEIGHTS[side]
    scale = 1 / sum(int(n) for n in numbers.split())
    RUNS.append((f'cudaconvolve {side}x{side}, GRAY8', 400,
                 (lambda s: lambda frames: gst('GRAY8', '! cudaconvolve kernel-variant=cpu')(frames)[:-2]
                  + [f'mask={WEIGHTS[s]}', '!', 'fakesink'])(side), gst('GRAY8', '')))
    RUNS.append((f'ffmpeg convolution {side}x{side}, gray', 60,
                 ffmpeg(f"convolution=0m='{numbers}':0rdiv={scale:.9f}"), ffmpeg('null')))


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def busy():
    return sum(int(n) for n in open('/proc/stat').readline().split()[1:4])


def main():
    runs = [run for run in RUNS if shutil.which(run[2](1)[0])]
    kept, times = [], {}
    for run in runs:
        if subprocess.run(run[2](2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            kept.append(run)
            times[run[0]] = []
        else:
            print(f'left out: {run[0]}', file=sys.stderr)
    for number in range(ROUNDS):
        for name, frames, filtered, plain in kept if number % 2 == 0 else reversed(kept):
            times[name].append((seconds(filtered(frames)) - seconds(plain(frames))) / frames * 1000)
    print('what,median_ms,min_ms')
    for name in times:
        ordered = sorted(times[name])
        print(f'"{name}",{ordered[len(ordered) // 2]:.2f},{ordered[0]:.2f}')


main()
