#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs ONNX's own tests of Conv, ConvInteger and MaxPool through the shared library. Exits 1 where a result differs.

    tests/library/onnx_layers.py LIBRARY.so [--variant NAME] [--device] [WORD...]

The tests come with the Python package onnx: those of single nodes, and models that were converted from PyTorch. Each becomes
one layer of convolve_layer.h; one row of an image stands for a test in one dimension. Results are compared with the tolerances
that the tests name. WORD runs the tests alone whose names have it. --variant is a variant of layers, "auto" by default;
--device copies the tensors to a GPU. Exits 77 where the package is missing, or with --device where there is no GPU.

What no layer can be is listed as outside: three dimensions, ConvTranspose, and the indices of MaxPool. ConvInteger runs in
float32, whose sums are exact there: its inputs are 8 bits less a zero point, and its outputs have 32 bits.
"""
import argparse
import ctypes
import pathlib
import sys
import warnings

try:
    import numpy
    import onnx
    from onnx import helper, numpy_helper
    from onnx.backend.test.case.node import collect_testcases
except ImportError as reason:
    print(f'there is no Python package onnx, as of pip install onnx: {reason}')
    sys.exit(77)

DATA = pathlib.Path(onnx.__file__).parent / 'backend' / 'test' / 'data'
TYPES = {'float32': 0, 'float16': 1, 'uint8': 2}
OUTSIDE = {'ConvTranspose': 'no layer scatters its input', 'DeformConv': 'taps have offsets of their own'}
TO_DEVICE, TO_HOST = 0, 1


def members(line):
    return [(name.strip(), ctypes.c_int) for name in line.split(',')]


class Layer(ctypes.Structure):
    _fields_ = [
        *members('filters, channels, groups, kernel_height, kernel_width'),
        ('weights', ctypes.c_void_p), ('bias', ctypes.c_void_p),
        *members('first_filter, shown, stride_y, stride_x, dilation_y, dilation_x'),
        *members('pad_top, pad_bottom, pad_left, pad_right, boundary, activation'),
        *members('pool_height, pool_width, pool_stride_y, pool_stride_x, pool_dilation_y, pool_dilation_x'),
        *members('pool_pad_top, pool_pad_bottom, pool_pad_left, pool_pad_right'),
        ('pool_ceil', ctypes.c_bool), ('type', ctypes.c_int),
        *[(name, ctypes.c_float) for name in ('in_scale', 'in_offset', 'out_scale', 'out_offset')]]


class Tensor(ctypes.Structure):
    _fields_ = [('channel', ctypes.c_void_p * 4), ('batch_stride', ctypes.c_ssize_t), ('row_stride', ctypes.c_ssize_t),
                ('column_stride', ctypes.c_ssize_t), ('across', ctypes.c_int), ('across_stride', ctypes.c_ssize_t),
                ('down_stride', ctypes.c_ssize_t)]


class Task(ctypes.Structure):
    _fields_ = [('source', Tensor), ('destination', Tensor), *members('batch, height, width, first_row, end_row, filled'),
                ('fill', ctypes.c_float)]


class Error(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('native', ctypes.c_int), ('text', ctypes.c_char * 512)]


class Outside(Exception):
    """The test asks for what no layer has."""


class Failed(Exception):
    """The library returned an error."""


class Library:
    """The functions of the library, and the device where one is used."""

    def __init__(self, path, variant, device):
        self.functions = ctypes.CDLL(path)
        self.variant = variant.encode()
        self.error = Error()
        for name in ('convolve_layer_plan_new', 'convolve_device_new', 'convolve_device_alloc', 'convolve_layer_plan_variant'):
            getattr(self.functions, name).restype = ctypes.c_void_p
        self.functions.convolve_layer_nchw.restype = Tensor
        self.device = self.functions.convolve_device_new(-1, ctypes.byref(self.error)) if device else None
        if device and not self.device:
            print(f'there is no device: {self.error.text.decode()}')
            sys.exit(77)

    def call(self, name, *arguments):
        if getattr(self.functions, name)(*arguments, ctypes.byref(self.error)) != 0:
            raise Failed(self.error.text.decode())

    def layer(self, filters, channels, height, width, weights):
        layer = Layer()
        pointer = None if weights is None else ctypes.c_void_p(weights.ctypes.data)
        self.functions.convolve_layer_init(ctypes.byref(layer), filters, channels, height, width, pointer)
        return layer

    def memory(self, array):
        """The address of the array's bytes, or of a copy of them on the device."""
        if not self.device:
            return ctypes.c_void_p(array.ctypes.data)
        copy = self.functions.convolve_device_alloc(ctypes.c_void_p(self.device), ctypes.c_size_t(array.nbytes),
                                                    ctypes.byref(self.error))
        if not copy:
            raise Failed(self.error.text.decode())
        return ctypes.c_void_p(copy)

    def copy(self, to, source, array, way):
        self.call('convolve_device_copy', ctypes.c_void_p(self.device), to, source, ctypes.c_size_t(array.nbytes), way)

    def run(self, layer, array):
        """The result of a layer over an array [N][C][height][width], and the variant that made it."""
        height, width = ctypes.c_int(), ctypes.c_int()
        array = numpy.ascontiguousarray(array)
        batch, channels, rows, columns = array.shape
        layer.type = TYPES[array.dtype.name]
        self.call('convolve_layer_output_size', ctypes.byref(layer), rows, columns, ctypes.byref(height), ctypes.byref(width))
        result = numpy.empty((batch, layer.filters, height.value, width.value), array.dtype)
        plan = self.functions.convolve_layer_plan_new(ctypes.byref(layer), self.variant, ctypes.c_void_p(self.device),
                                                      ctypes.byref(self.error))
        if not plan:
            raise Failed(self.error.text.decode())
        plan = ctypes.c_void_p(plan)
        on_device = self.device and self.functions.convolve_layer_plan_on_device(plan)
        source, destination = (self.memory(a) if on_device else ctypes.c_void_p(a.ctypes.data) for a in (array, result))
        task = Task(source=self.functions.convolve_layer_nchw(layer.type, source, channels, rows, columns),
                    destination=self.functions.convolve_layer_nchw(layer.type, destination, layer.filters, height, width),
                    batch=batch, height=rows, width=columns)
        if on_device:
            self.copy(source, ctypes.c_void_p(array.ctypes.data), array, TO_DEVICE)
        self.call('convolve_layer_run', plan, ctypes.byref(task))
        if on_device:
            self.copy(ctypes.c_void_p(result.ctypes.data), destination, result, TO_HOST)
            self.call('convolve_device_finish', ctypes.c_void_p(self.device))
            for memory in (source, destination):
                self.functions.convolve_device_release(ctypes.c_void_p(self.device), memory)
        variant = ctypes.string_at(self.functions.convolve_layer_plan_variant(plan)).decode()
        self.functions.convolve_layer_plan_unref(plan)
        return result, variant


def two(values, default):
    """Numbers of both sides, from those of an attribute for one or two dimensions."""
    values = list(values or [])
    return values if len(values) == 2 else [default] + values if values else [default, default]


def padding(attributes, size, kernel, strides, dilations):
    """(top, left), (bottom, right): as auto_pad says, or as pads does."""
    way = attributes.get('auto_pad', b'NOTSET').decode()
    pads = list(attributes.get('pads', []))
    if way.startswith('SAME'):
        spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        total = [max((-(-n // s) - 1) * s + span - n, 0) for n, s, span in zip(size, strides, spans)]
        before = [t // 2 if way == 'SAME_UPPER' else t - t // 2 for t in total]
        return before, [t - b for t, b in zip(total, before)]
    half = len(pads) // 2
    return ([0] * (2 - half) + pads[:half], [0] * (2 - half) + pads[half:]) if way == 'NOTSET' else ([0, 0], [0, 0])


def convolve(library, attributes, image, weights, bias=None):
    weights = numpy.ascontiguousarray(weights.reshape(weights.shape[:2] + (1,) * (4 - weights.ndim) + weights.shape[2:]),
                                      numpy.float32)
    filters, of_group, height, width = weights.shape
    layer = library.layer(filters, image.shape[1], height, width, weights)
    layer.groups = attributes.get('group', 1)
    if of_group * layer.groups != image.shape[1]:
        raise Failed(f'weights for {of_group} channels of each of {layer.groups} groups')
    if bias is not None:
        bias = numpy.ascontiguousarray(bias, numpy.float32)
        layer.bias = bias.ctypes.data
    layer.stride_y, layer.stride_x = strides = two(attributes.get('strides'), 1)
    layer.dilation_y, layer.dilation_x = dilations = two(attributes.get('dilations'), 1)
    (layer.pad_top, layer.pad_left), (layer.pad_bottom, layer.pad_right) = padding(
        attributes, image.shape[2:], (height, width), strides, dilations)
    return library.run(layer, image)


def pool(library, attributes, image):
    channels = image.shape[1]
    layer = library.layer(channels, channels, 1, 1, None)
    layer.groups = channels
    layer.in_scale = layer.out_scale = 1  # of 8 bits
    layer.pool_height, layer.pool_width = kernel = two(attributes['kernel_shape'], 1)
    layer.pool_stride_y, layer.pool_stride_x = strides = two(attributes.get('strides'), 1)
    layer.pool_dilation_y, layer.pool_dilation_x = dilations = two(attributes.get('dilations'), 1)
    (layer.pool_pad_top, layer.pool_pad_left), (layer.pool_pad_bottom, layer.pool_pad_right) = padding(
        attributes, image.shape[2:], kernel, strides, dilations)
    layer.pool_ceil = bool(attributes.get('ceil_mode', 0))
    return library.run(layer, image)


def run_node(library, node, values):
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    inputs = [values.get(name) for name in node.input]
    image = inputs[0]
    if node.op_type in OUTSIDE:
        raise Outside(OUTSIDE[node.op_type])
    if image.ndim > 4:
        raise Outside('three dimensions')
    integers = node.op_type == 'ConvInteger'
    if integers:
        zeros = inputs[2:] + [None] * (4 - len(inputs))  # of all samples; of all weights, or of each filter's
        inputs = [array.astype(numpy.float32) - (0 if zero is None else zero.astype(numpy.float32).reshape(-1, 1, 1, 1))
                  for array, zero in zip(inputs[:2], zeros)]
        image = inputs[0]
    if image.dtype.name not in TYPES:
        raise Outside(f'samples are {image.dtype.name}')
    rows = image.reshape(image.shape[:2] + (1,) * (4 - image.ndim) + image.shape[2:])
    result, variant = (pool if node.op_type == 'MaxPool' else convolve)(library, attributes, rows, *inputs[1:])
    result = result.reshape(result.shape[:2] + result.shape[4 - image.ndim + 2:])
    return (result.astype(numpy.int32) if integers else result), variant


def check(library, case):
    """Says what came of a test: its note, and whether a part of it was left out."""
    node = case.model.graph.node[0]
    constants = {c.name: numpy_helper.to_array(c) for c in case.model.graph.initializer}
    names = [value.name for value in case.model.graph.input if value.name not in constants]
    for inputs, outputs in case.data_sets:
        result, variant = run_node(library, node, {**constants, **dict(zip(names, inputs))})
        expected = numpy.asarray(outputs[0])
        if result.shape != expected.shape or result.dtype != expected.dtype:
            raise Failed(f'{result.dtype} {result.shape}, expected {expected.dtype} {expected.shape}')
        numpy.testing.assert_allclose(result, expected, rtol=case.rtol, atol=case.atol)
    return variant + (', without the indices' if len(node.output) > 1 else '')


class Converted:
    """A model of the folder `data`, with the members of the package's TestCase that are used."""

    def __init__(self, folder):
        self.name, self.rtol, self.atol = folder.name, 1e-3, 1e-7
        self.model = onnx.load(str(folder / 'model.onnx'))
        self.data_sets = [[self.tensors(data, way) for way in ('input', 'output')]
                          for data in sorted(folder.glob('test_data_set_*'))]

    @staticmethod
    def tensors(data, way):
        files = sorted(data.glob(f'{way}_*.pb'), key=lambda file: int(file.stem.split('_')[1]))
        return [numpy_helper.to_array(onnx.load_tensor(str(file))) for file in files]


def cases():
    """The groups of tests, and what each has: single nodes of the kinds that a layer might be, and converted models."""
    kinds = ('Conv', 'ConvInteger', 'ConvTranspose', 'MaxPool')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        nodes = collect_testcases()
    nodes = {case.name: case for case in nodes if case.model and len(case.model.graph.node) == 1}
    for kind in kinds:
        yield kind, [case for case in nodes.values() if case.model.graph.node[0].op_type == kind]
    folders = sorted(folder for group in ('pytorch-converted', 'pytorch-operator') for folder in (DATA / group).iterdir()
                     if (folder / 'model.onnx').exists())
    converted = [Converted(folder) for folder in folders if any(word in folder.name.lower() for word in ('conv', 'maxpool'))]
    yield 'converted', [case for case in converted if case.model.graph.node[0].op_type in kinds]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('library')
    parser.add_argument('words', nargs='*')
    parser.add_argument('--variant', default='auto')
    parser.add_argument('--device', action='store_true')
    options = parser.parse_intermixed_args()
    library = Library(options.library, options.variant, options.device)
    totals, ran, failures = [], 0, 0
    for group, tests in cases():
        tests = [case for case in tests if not options.words or any(word in case.name for word in options.words)]
        passed = outside = 0
        for case in tests:
            try:
                note = check(library, case)
                passed += 1
                print(f'ok       {group:14} {case.name}: {note}')
            except Outside as reason:
                outside += 1
                print(f'outside  {group:14} {case.name}: {reason}')
            except (Failed, AssertionError) as reason:
                print(f'FAILED   {group:14} {case.name}: {str(reason).strip()}')
        totals.append(f'{group} {passed} of {len(tests) - outside}, {outside} outside')
        ran += len(tests) - outside
        failures += len(tests) - outside - passed
    print('; '.join(totals) + f'; onnx {onnx.__version__}')
    return 1 if failures or not ran else 0


if __name__ == '__main__':
    sys.exit(main())
