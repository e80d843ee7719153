# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of the wheel: each starts the program of its name, for which importing the module has set GST_PLUGIN_PATH."""
import os
import pathlib
import sys


def run():
    program = pathlib.Path(__file__).parent / 'bin' / os.path.basename(sys.argv[0])
    os.execv(program, sys.argv)
