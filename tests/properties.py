#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes README's table of properties from `gst-inspect-1.0 cudaconvolve`.

    tests/properties.py [FOLDER]            writes the table
    tests/properties.py --check [FOLDER]    writes nothing; exits 1 where the table is stale

FOLDER holds the built plugin and is build/plugin where none is named. The table stands in README.md between the lines
"<!-- table of properties -->" and "<!-- end -->". The texts are the blurbs of props/property_rows.c and plugin/, so a text
that is wrong is mended there. GROUPS says which group a property is in; a property without a group is an error.
"""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r'^(<!-- table of properties -->)\n(.*?)^(<!-- end -->)$', re.MULTILINE | re.DOTALL)
INHERITED = {'name', 'parent'}  # properties of every element
MOST_CHARACTERS = 300  # of a blurb without the list that it may end in

# The groups in README's order, and patterns of the names in each, in the order of the rows. A property that cannot be
# written is a result, whatever its name.
GROUPS = (
    ('Mask', ('mask', 'mask-width', 'mask-height', 'weights', 'mask-.*', 'anchor-.*', 'flip', 'sigma', 'divisor',
              'absolute', 'iterations', 'mix')),
    ('Frame and colours', ('bias', 'boundary', 'boundary-.*', 'components', 'field-mode')),
    ('Regions', ('apply-to', 'regions', 'region.*')),
    ('Layer', ('layer-location', 'stride', 'padding', 'activation', 'pool-.*', 'layer-.*', 'mosaic')),
    ('Device and threads', ('kernel-variant', 'cuda-device-id', 'frames-in-flight', 'n-threads', 'qos')),
)
RESULTS = 'Results, read-only'

# The section of README that stands in the place of the values of a property, and of the end of its blurb.
SECTIONS = {'kernel-variant': 'kernel-variants'}
ENDS = {'mask': (' *Presets: .*', 'presets'), 'boundary': (', shown for the left end of a row .*', 'boundaries')}
# What the blurb of a property of GStreamer's own base class leaves open.
BASE_CLASS = {'qos': 'Whether late frames are dropped before the work on them'}


def inspect(folder):
    """What gst-inspect-1.0 prints about the element. Without a folder GStreamer's own search counts."""
    environment = dict(os.environ, LC_ALL='C', GST_INSPECT_NO_COLORS='1')
    if folder:
        environment['GST_PLUGIN_PATH'] = os.path.abspath(folder)
    result = subprocess.run(['gst-inspect-1.0', '--no-colors', 'cudaconvolve'], env=environment, text=True,
                            capture_output=True, check=False)
    if result.returncode != 0:
        sys.exit('gst-inspect-1.0 does not find the element cudaconvolve: ' + result.stderr.strip())
    return result.stdout


def sections(text):
    """The lines of each property by the property's name; the first line is the blurb."""
    found, name = {}, None
    for line in text[text.index('Element Properties:'):].split('\n')[1:]:
        match = re.match(r'^  ([a-z][\w-]*) *: (.*)', line)
        if match:
            name = match.group(1)
            found[name] = [match.group(2)]
        elif re.match(r'^\S', line):
            break
        elif name:
            found[name].append(line.strip())
    return found


def choices(lines):
    """The names of an enum's or a flags' values, each with its text."""
    matches = [re.match(r'^\((?:\d+|0x[0-9a-f]+)\): ([\w-]+) +- (.*)', line) for line in lines]
    return [match.groups() for match in matches if match]


def limit(text):
    """A limit of a range as README shows it; None for the limit of the type itself."""
    value = float(text)
    if abs(value) >= 2 ** 31 - 1:
        return None
    return f'{value:.0f}' if value == int(value) else f'{value:g}'


def span(least, most):
    """A range of numbers in words."""
    if least is None or most is None:
        return 'any' if least == most else f'{least} or more' if most is None else f'up to {most}'
    return f'{least} to {most}'


def values(name, lines):
    """The cell with the values and the default of a property that can be written."""
    kind = next((line for line in lines if 'Default: ' in line), lines[-1])
    default = re.search(r'Default: +(\S.*?) *$', kind)
    default = default.group(1) if default else ''
    number = re.match(r'.*?\. Range: +([-+.\de]+) +- +([-+.\de]+) +Default: ', kind)
    if 'color' in name and number:
        cell = f'a colour, 0xAARRGGBB; `0x{int(default):08x}`'
    elif number:
        cell = f'{span(limit(number.group(1)), limit(number.group(2)))}; `{limit(default) or "none"}`'
    elif kind.startswith(('Enum', 'Flags')):
        several = 'any of ' if kind.startswith('Flags') else ''
        listed = several + ', '.join(f'`{value}`' for value, _ in choices(lines))
        cell = f'[a list](#{SECTIONS[name]})' if name in SECTIONS else listed
        cell += '; `' + re.search(r'"([^"]*)"$', default).group(1) + '`'
    elif kind.startswith('Boolean'):
        cell = f'`true`, `false`; `{default}`'
    elif kind.startswith('String'):
        cell = 'text; ' + ('none' if default in ('null', '""') else '`' + default.strip('"') + '`')
    elif any('GstValueArray' in line for line in lines):
        cell = 'array; none'
    else:
        sys.exit(f'{name}: tests/properties.py does not know how to show "{kind}"')
    flags = ''.join(line for line in lines if line.startswith('flags:'))
    return cell + '; controllable' * ('controllable' in flags) + '; read at start' * ('only in NULL or READY' in flags)


def meaning(name, blurb, names):
    """The cell with a blurb: with a link for an end that a section of README shows, and with properties' names as code."""
    text = BASE_CLASS.get(name, blurb)
    link = ''
    if name in ENDS:
        end, section = ENDS[name]
        text, ended = re.subn(end, '', text)
        link = f' ([a list](#{section}))' * ended
    if len(text) > MOST_CHARACTERS:
        sys.exit(f'{name}: the blurb has {len(text)} characters, and {MOST_CHARACTERS} are the most')
    quoted = '|'.join(sorted((re.escape(other) for other in names if '-' in other), key=len, reverse=True))
    text = re.sub(rf'(?<![\w-])({quoted})(?![\w-])', r'`\1`', text).replace('|', r'\|')
    return text + link


def place(name, readable_only):
    """The title of a property's group, and the property's place within the group."""
    if readable_only:
        return RESULTS, 0
    for title, patterns in GROUPS:
        for index, pattern in enumerate(patterns):
            if re.fullmatch(pattern, name):
                return title, index
    sys.exit(f'{name}: this property has no group in README. Write its name into GROUPS of tests/properties.py')


def table(found):
    """README's table of properties from what sections() found."""
    names = [name for name in found if name not in INHERITED]
    rows = {}
    for name in names:
        lines = found[name]
        readable_only = not any(line.startswith('flags:') and 'writable' in line for line in lines)
        title, index = place(name, readable_only)
        cells = (f'`{name}`', 'read-only' if readable_only else values(name, lines[1:]), meaning(name, lines[0], names))
        rows.setdefault(title, []).append((index, '| ' + ' | '.join(cells) + ' |\n'))
    text = '| property | values; default | what the property does |\n| --- | --- | --- |\n'
    for title in [title for title, _ in GROUPS] + [RESULTS]:
        if title in rows:
            text += f'| **{title}** | | |\n' + ''.join(line for _, line in sorted(rows[title]))
    return text


def stale(found, write=False):
    """A list with one sentence where README's table is not that of the element, or an empty list."""
    path = TOP / 'README.md'
    old = path.read_text(encoding='utf-8')
    if len(BLOCK.findall(old)) != 1:
        return ['README.md: there must be one table between "<!-- table of properties -->" and "<!-- end -->"']
    new = BLOCK.sub(lambda match: f'{match.group(1)}\n{table(found)}{match.group(3)}', old)
    if new == old:
        return []
    if write:
        path.write_text(new, encoding='utf-8')
    return ['README.md: the table of properties is ' + ('written' if write else 'stale: run tests/properties.py')]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--check']
    check = len(arguments) < len(sys.argv) - 1
    if len(arguments) > 1 or any(argument.startswith('-') for argument in arguments):
        sys.exit(__doc__)
    messages = stale(sections(inspect(arguments[0] if arguments else TOP / 'build' / 'plugin')), write=not check)
    for message in messages:
        print(message)
    return 1 if messages and (check or 'there must be' in messages[0]) else 0


if __name__ == '__main__':
    sys.exit(main())
