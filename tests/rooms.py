#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that includes run down the rooms of a house, and that the rooms are those of its README.

    tests/rooms.py [FOLDER...]

Without a FOLDER, kernels, props and plugin are checked. FOLDER/README.md has a section "The rooms" with a table whose first
column names folders, from the top to the bottom. A file of a room may include headers of the same room and of rooms below.
Prints each include that goes up, each room without a folder and each folder with sources that is no room; exits 1 where
there is one.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^#include "([\w/]+)/[\w.]+"', re.MULTILINE)
SOURCES = {'.c', '.h', '.cu', '.cuh'}


def rooms_of(house):
    """The rooms in the README's table, the top one first."""
    text = (house / 'README.md').read_text()
    section = re.search(r'^## The rooms\n(.*?)(?=^## |\Z)', text, re.MULTILINE | re.DOTALL)
    return re.findall(r'^\| `([\w/]+)` \|', section.group(1), re.MULTILINE) if section else []


def folders_of(house):
    """The folders under house that hold sources, as paths from house."""
    return {str(path.parent.relative_to(house)) for path in house.rglob('*') if path.suffix in SOURCES} - {'.'}


def faults(house):
    rooms = rooms_of(house)
    if not rooms:
        yield f'{house}/README.md has no table under "The rooms"'
    for room in sorted(set(rooms) ^ folders_of(house)):
        yield f'{house}/{room}: ' + ('no folder with sources' if room in rooms else 'no row in the table of rooms')
    for number, room in enumerate(rooms):
        for path in sorted((house / room).glob('*')):
            if path.suffix not in SOURCES:
                continue
            for target in INCLUDE.findall(path.read_text()):
                if target in rooms[:number]:
                    yield f'{path}: includes the room {target}, which is above {room}'


def main():
    folders = sys.argv[1:] or [TOP / name for name in ('kernels', 'props', 'plugin')]
    found = [fault for folder in folders for fault in faults(pathlib.Path(folder))]
    print('\n'.join(found) or 'all includes run down the rooms')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
