#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes files as texts in C: texts.py OUTPUT.c FILE... A file faces.py becomes film_faces_py."""
import pathlib
import re
import sys


def main():
    parts = ['#include "texts.h"\n']
    for name in map(pathlib.Path, sys.argv[2:]):
        lines = name.read_text(encoding='utf-8').encode().split(b'\n')
        # In octal, for a digit that follows would belong to a number in hexadecimal.
        texts = [''.join(chr(byte) if 31 < byte < 127 and chr(byte) not in '"\\?' else '\\%03o' % byte for byte in line)
                 for line in lines]
        parts.append('\nconst char film_%s[] =\n%s;\n' % (re.sub(r'\W', '_', name.name), '\n'.join(
            '    "%s%s"' % (text, '\\n' if index + 1 < len(texts) else '') for index, text in enumerate(texts))))
    pathlib.Path(sys.argv[1]).write_text(''.join(parts), encoding='ascii')


if __name__ == '__main__':
    main()
