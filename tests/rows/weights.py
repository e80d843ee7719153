#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sets the property weights from Python, by the expression of plugin/masks.md, and expects the mask in mask-info.

    tests/rows/weights.py     GST_PLUGIN_PATH finds the plugin

Rows are lists, tuples and NumPy arrays, of ints, floats and both. Rows of which Gst.ValueArray left numbers out must be an
error that says so. Exits 77 where the bindings are missing.
"""
import pathlib
import re
import sys

try:
    import gi
    gi.require_version('Gst', '1.0')
    from gi.repository import GLib, Gst
    Gst.init(None)
    Gst.ValueArray([1])
except (ImportError, ValueError, TypeError, AttributeError) as reason:
    print(f'there are no Python bindings of GStreamer, as of python3-gst-1.0: {reason}')
    sys.exit(77)
try:
    import numpy
except ImportError:
    numpy = None

PAGE = pathlib.Path(__file__).resolve().parents[2] / 'plugin' / 'masks.md'
EXPRESSION = re.search(r'In Python `weights` is `([^`]*)`', PAGE.read_text(encoding='utf-8')).group(1)


def play(weights):
    """The weights that the element reports, or the text of the error."""
    pipeline = Gst.parse_launch('videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8 ! cudaconvolve name=c ! fakesink')
    element = pipeline.get_by_name('c')
    element.set_property('weights', weights)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    if message.type == Gst.MessageType.ERROR:
        result = message.parse_error()[0].message
    else:
        result = [list(row) for row in element.get_property('mask-info')['weights']]
    pipeline.set_state(Gst.State.NULL)
    return result


def rows_to_take():
    yield [[0, 1.5, 0], [1.5, 4, 1.5], [0, 1.5, 0]]
    yield [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    yield ((True, 2, 0.25),)
    if numpy is not None:
        yield numpy.array([[0, 1.5, 0], [1, 2, 3], [0, 1, 0]])
        yield numpy.ones((3, 5), dtype=numpy.uint8)
        yield numpy.arange(-4, 5, dtype=numpy.int64).reshape(3, 3)
        yield [numpy.array([1, 2, 1], dtype=numpy.float32), [numpy.float64(0.5), numpy.int16(3), 7]]


def main():
    for rows in rows_to_take():
        found = play(eval(EXPRESSION, {'Gst': Gst, 'rows': rows}))
        wanted = [[float(weight) for weight in row] for row in rows]
        if len(wanted) % 2 == 0:
            wanted.append([0.0] * len(wanted[0]))
        if found != wanted:
            sys.exit(f'{rows}: {found}')
    # The bindings print a critical for each number that they leave out.
    GLib.log_set_handler('GStreamer', GLib.LogLevelFlags.LEVEL_CRITICAL, lambda *_: None, None)
    for rows in ([[0, 1.5, 0]], [[0, 1.5, 0], [1.5, 4, 1.5], [0, 1.5, 0]], [[1, 2, 1], [1, 2.5, 1], [1, 2, 1]]):
        found = play(Gst.ValueArray([Gst.ValueArray(row) for row in rows]))
        if 'take map(float, row)' not in found:
            sys.exit(f'{rows}: {found}')
    print(f'{EXPRESSION}: taken')


main()
