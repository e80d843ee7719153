# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of the wheel: each starts the program of its name, for which importing the module has set GST_PLUGIN_PATH."""
import os
import pathlib
import sys


def run():
    # A program that starts python3 gets this Python, with what is installed beside the wheel.
    os.environ['PATH'] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get('PATH', os.defpath)])
    program = pathlib.Path(__file__).parent / 'bin' / os.path.basename(sys.argv[0])
    os.execv(program, sys.argv)
