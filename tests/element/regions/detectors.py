#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the launch lines of plugin/regions.md that have onnxinference, with models that find what this file says.

    tests/element/regions/detectors.py     needs GST_PLUGIN_PATH; exits with 77 where GStreamer has no onnxinference

Of these decoders GStreamer 1.26 has ssdobjectdetector alone. From 1.28 on its caps want tensors of open sizes, which constants do not
have, and the others are run.

The models stand in for weights that the project cannot ship: whatever comes in, their outputs are constant tensors of the
shape that the decoder wants. So GStreamer's own onnxinference, decoders and tracker write the metadata. The film is white,
and the effect is a fill, so that exactly what is covered is black.
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parents[3] / 'plugin' / 'regions.md'
FRAMES = 5


# --- ONNX, which is protobuf ---

def varint(number):
    out = b''
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def integer(field, number):
    return varint(field << 3) + varint(number)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


TYPES = {'float32': 1, 'uint8': 2}


def value_info(name, kind, dims):
    shape = b''.join(message(1, integer(1, size)) for size in dims)
    return message(1, name) + message(2, message(1, integer(1, TYPES[kind]) + message(2, shape)))


def constant(name, dims, numbers):
    return b''.join(integer(1, size) for size in dims) + integer(2, TYPES['float32']) + message(8, name) \
        + message(9, struct.pack(f'<{len(numbers)}f', *numbers))


class Tensor:
    """An output: its name in the model, the id that decoders look for, sizes, order, numbers, and the id for GStreamer 1.26."""

    def __init__(self, name, tensor_id, dims, order, numbers, old_id=None):
        self.name, self.id, self.dims, self.order, self.numbers = name, tensor_id, dims, order, numbers
        self.old_id = old_id or tensor_id


def write_model(path, group, size, outputs, kind='float32'):
    """A model for RGB pictures of size x size, planes of float32 or interleaved uint8. Its outputs are constants."""
    image = (1, 3, size, size) if kind == 'float32' else (1, size, size, 3)
    ranges = ';'.join(['0.0,1.0' if kind == 'float32' else '0.0,255.0'] * 3)
    graph = b''.join(message(1, message(1, f'{t.name}_constant') + message(2, t.name) + message(4, 'Identity')) for t in outputs)
    graph += message(2, 'stand-in')
    graph += b''.join(message(5, constant(f'{t.name}_constant', t.dims, t.numbers)) for t in outputs)
    graph += message(11, value_info('image', kind, image))
    graph += b''.join(message(12, value_info(t.name, 'float32', t.dims)) for t in outputs)
    # IR version 8, operators of version 13; the ids in the model are for GStreamer 1.26, and those in the file for 1.28.
    path.write_bytes(integer(1, 8) + message(7, graph) + message(8, integer(2, 13))
                     + b''.join(message(14, message(1, t.name) + message(2, t.old_id)) for t in outputs))
    text = f'[modelinfo]\nversion=1.0\ngroup-id={group}\n\n[image]\nid=image\ntype={kind}\ndir=input\n' \
           f'dims={",".join(map(str, image))}\nranges={ranges}\n'
    for tensor in outputs:
        text += f'\n[{tensor.name}]\nid={tensor.id}\ntype=float32\ndir=output\ndims-order={tensor.order}\n' \
                f'dims={",".join(map(str, tensor.dims))}\n'
    path.with_name(path.name + '.modelinfo').write_text(text)


# --- what the models find ---

SIZE = 320  # of the film and of the models' pictures
CANDIDATES = 8

# Boxes left, top, right, bottom in pixels.
FACE, OTHER_FACE = (80, 80, 160, 240), (200, 40, 260, 100)
PERSON, CAR = (70, 80, 130, 160), (220, 200, 260, 240)
LABELS = ('person', 'bicycle', 'car')


def write_faces(path):
    group = 'ultra-lightweight-face-detection-rfb-320-v1-variant-1-out'
    boxes, scores = [0.0] * (4 * CANDIDATES), [1.0, 0.0] * CANDIDATES
    for place, box, score in ((1, OTHER_FACE, 0.7), (4, FACE, 0.9), (5, (0, 0, 40, 40), 0.3)):
        boxes[4 * place:4 * place + 4] = [number / SIZE for number in box]
        scores[2 * place:2 * place + 2] = [1 - score, score]
    write_model(path, group, SIZE, [
        Tensor('boxes', 'ssd-mobilenet-v1-variant-1-out-boxes', (1, CANDIDATES, 4), 'row-major', boxes),
        Tensor('scores', f'{group}-scores', (1, CANDIDATES, 2), 'row-major', scores)])


def yolo_fields(n_masks):
    """The fields of all candidates, one field after the other: centre, size, confidence of each label, weights of masks."""
    fields = [[0.0] * CANDIDATES for _ in range(4 + len(LABELS) + n_masks)]
    for place, box, label, confidence in ((2, PERSON, 0, 0.9), (6, CAR, 2, 0.8), (7, (0, 0, 40, 40), 0, 0.1)):
        fields[0][place], fields[1][place] = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        fields[2][place], fields[3][place] = box[2] - box[0], box[3] - box[1]
        fields[4 + label][place] = confidence
        for i in range(n_masks):
            fields[4 + len(LABELS) + i][place] = 1.0
    return [number for field in fields for number in field]


def write_yolo(path):
    write_model(path, 'yolo-v8-out', SIZE,
                [Tensor('output0', 'yolo-v8-out', (1, 4 + len(LABELS), CANDIDATES), 'col-major', yolo_fields(0))])


def write_segments(path):
    n_masks, side = 2, 80
    mask = [5.0 if (x + y) % 2 else -5.0 for y in range(side) for x in range(side)]
    write_model(path, 'yolo-v8-segmentation-out', SIZE, [
        Tensor('output0', 'yolo-v8-segmentation-out-detections', (1, 4 + len(LABELS) + n_masks, CANDIDATES), 'col-major',
               yolo_fields(n_masks)),
        Tensor('output1', 'yolo-v8-segmentation-out-protos', (1, n_masks, side, side), 'col-major', mask * n_masks)])


def write_ssd(path):
    group, old = 'ssd-mobilenet-v1-variant-1-out', 'Gst.Model.ObjectDetector'
    found = ((PERSON, 0, 0.9), (CAR, 2, 0.8))
    boxes = [number / SIZE for box, _, _ in found for number in (box[1], box[0], box[3], box[2])]
    write_model(path, group, SIZE, [
        Tensor('count', 'generic-variant-1-out-count', (1,), 'row-major', [len(found)], f'{old}.NumDetections'),
        Tensor('scores', f'{group}-scores', (1, len(found)), 'row-major', [score for _, _, score in found], f'{old}.Scores'),
        Tensor('boxes', f'{group}-boxes', (1, len(found), 4), 'row-major', boxes, f'{old}.Boxes'),
        Tensor('classes', f'{group}-classes', (1, len(found)), 'row-major', [label for _, label, _ in found], f'{old}.Classes'),
    ], 'uint8')


def grown(box, share):
    across, down = (box[2] - box[0]) * share, (box[3] - box[1]) * share
    return (box[0] - across, box[1] - down, box[2] + across, box[3] + down)


# For each decoder: what writes the model, and what the line of the page covers.
DECODERS = {
    'ultralightfacedetectortensordec': (write_faces, (grown(FACE, 0.3), grown(OTHER_FACE, 0.3))),
    'yolov8tensordec': (write_yolo, (PERSON,)),
    'yolosegv8tensordec': (write_segments, (PERSON,)),
    'ssdobjectdetector': (write_ssd, (PERSON,)),
}

# More lines: a decoder, what takes the place of the settings of the page, and what is covered then.
MORE = (
    ('ultralightfacedetectortensordec', 'region-types=face', (FACE, OTHER_FACE)),
    ('ultralightfacedetectortensordec', 'region-ids=!0', (OTHER_FACE,)),
    ('ultralightfacedetectortensordec', 'region-ids=1', (OTHER_FACE,)),
    ('ultralightfacedetectortensordec', 'region-min-confidence=0.8', (FACE,)),
    ('yolov8tensordec', 'region-types=car', (CAR,)),
    ('yolov8tensordec', '', (PERSON, CAR)),
    ('yolov8tensordec', 'region-ids=!1', (PERSON,)),
    ('yolosegv8tensordec', '', (PERSON, CAR)),
    ('yolosegv8tensordec', 'region-min-confidence=0.85', (PERSON,)),
    ('ssdobjectdetector', 'region-types=car region-min-confidence=0.75', (CAR,)),
)


# --- lines ---

def lines():
    return [line.strip() for line in PAGE.read_text(encoding='utf-8').splitlines()
            if line.strip().startswith('gst-launch-1.0') and 'onnxinference' in line and 'apply-to=regions' in line]


def run(line, folder):
    """The frames that the line writes, with a white film in the place of its own and a file in the place of the window."""
    replaced = line
    for old, new in (('filesrc location=film.mp4 ! decodebin3', f'videotestsrc pattern=white num-buffers={FRAMES} '
                      f'! video/x-raw,format=RGB,width={SIZE},height={SIZE},framerate=25/1,pixel-aspect-ratio=1/1'),
                     ('videoconvert ! autovideosink', 'videoconvert ! video/x-raw,format=GRAY8,colorimetry=1:1:5:1 '
                      '! filesink location=frames.raw'),
                     (' cudaconvolve ', ' cudaconvolve region-effect=fill ')):
        if replaced.count(old) != 1:
            sys.exit(f'"{old}" is not once in the line: {line}')
        replaced = replaced.replace(old, new)
    subprocess.run(['sh', '-c', replaced.replace('gst-launch-1.0', 'gst-launch-1.0 -q')], cwd=folder, check=True, timeout=120)
    data = (folder / 'frames.raw').read_bytes()
    if len(data) != FRAMES * SIZE * SIZE:
        sys.exit(f'{len(data)} bytes instead of {FRAMES} frames: {line}')
    return [data[i * SIZE * SIZE:(i + 1) * SIZE * SIZE] for i in range(FRAMES)]


def check(line, covered, folder):
    for number, frame in enumerate(run(line, folder)):
        for y in range(SIZE):
            for x in range(SIZE):
                inside = any(box[0] <= x < box[2] and box[1] <= y < box[3] for box in covered)
                if (frame[y * SIZE + x] < 128) != inside:
                    sys.exit(f'frame {number}: {x},{y} is {"bare" if inside else "covered"}: {line}')


def main():
    def exists(element):
        return subprocess.run(['gst-inspect-1.0', '--exists', element], check=False).returncode == 0

    there = [decoder for decoder in DECODERS if decoder != 'ssdobjectdetector' and exists(decoder)]
    if not there and exists('ssdobjectdetector'):
        there = ['ssdobjectdetector']
    if not exists('onnxinference') or not there:
        print('this GStreamer has no onnxinference, or no decoder for it')
        return 77
    found = {decoder: line for line in lines() for decoder in DECODERS if f' {decoder} ' in line}
    if set(found) != set(DECODERS):
        sys.exit(f'{PAGE} has no line for {", ".join(sorted(set(DECODERS) - set(found)))}')
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'COCO_classes.txt').write_text('\n'.join(LABELS) + '\n')
        for decoder in there:
            write, covered = DECODERS[decoder]
            write(folder / re.search(r'model-file=(\S+)', found[decoder]).group(1))
            check(found[decoder], covered, folder)
        more = [row for row in MORE if row[0] in there]
        for decoder, settings, covered in more:
            quoted = ''.join(f" '{setting}'" for setting in settings.split())
            check(re.sub(r'(cudaconvolve apply-to=regions)[^!]*?( ! )', rf'\1{quoted}\2', found[decoder]), covered, folder)
    print(f'{len(there) + len(more)} lines with {", ".join(there)} cover what the models find, and nothing else')
    return 0


if __name__ == '__main__':
    sys.exit(main())
