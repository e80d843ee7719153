#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes plugin/properties.md, the reference of all properties, from what gst-inspect-1.0 prints.

    tests/properties.py [FOLDER]            writes the page
    tests/properties.py --check [FOLDER]    writes nothing; exits 1 where the page is stale

FOLDER holds the built plugin and is build/plugin where none is named. The page has a block for each element between the
lines "<!-- properties of ELEMENT -->" and "<!-- end -->", and a new element gets its block at the end. The texts are the
blurbs of props/ and plugin/, so a text that is wrong is mended there. GROUPS says which group a property is in; a property
without a group is an error.
"""
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
PAGE = 'plugin/properties.md'
BLOCK = re.compile(r'^(<!-- properties of (\w+) -->)\n(.*?)^(<!-- end -->)$', re.MULTILINE | re.DOTALL)
INHERITED = {'name', 'parent'}  # properties of every element
MOST_CHARACTERS = 300  # of a blurb without the list that it may end in
MOST_VALUES = 8  # of an enum whose values fit a cell; more get a table of their own

# The groups in the page's order, and patterns of the names in each, in the order of the rows. A property that cannot be
# written is a result, whatever its name.
GROUPS = (
    ('Mask', ('mask', 'mask-width', 'mask-height', 'weights', 'mask-.*', 'anchor-.*', 'flip', 'sigma', 'absolute',
              'iterations', 'mix')),
    ('Layer', ('location', 'stride', 'padding', 'dilation', 'groups', 'activation', 'pool-.*', 'channels', 'mosaic')),
    ('Sum and frame', ('divisor', 'bias', 'boundary', 'boundary-.*', 'components', 'light', 'alpha', 'field-mode')),
    ('Regions', ('apply-to', 'regions', 'region.*')),
    ('Device and threads', ('kernel-variant', 'cuda-device-id', 'frames-in-flight', 'n-threads', 'qos')),
)
RESULTS = 'Results, read-only'

# The end of a blurb that repeats a section of masks.md, and this section.
ENDS = {'mask': (' *Presets: .*', 'masks.md#presets'),
        'boundary': (', shown for the left end of a row .*', 'masks.md#boundaries')}
# What the blurb of a property of GStreamer's own base class leaves open.
BASE_CLASS = {'qos': 'Whether late frames are dropped before the work on them'}


def inspect(folder, *arguments):
    """What gst-inspect-1.0 prints about its arguments. Without a folder GStreamer's own search counts."""
    environment = dict(os.environ, LC_ALL='C', GST_INSPECT_NO_COLORS='1')
    if folder:
        environment['GST_PLUGIN_PATH'] = os.path.abspath(folder)
    result = subprocess.run(['gst-inspect-1.0', '--no-colors', *arguments], env=environment, text=True, capture_output=True,
                            check=False)
    if result.returncode != 0:
        sys.exit(f'gst-inspect-1.0 {" ".join(arguments)} failed: {result.stderr.strip() or result.stdout.strip()}'
                 + (f'; is the plugin built in {folder}? tests/properties.py FOLDER takes another folder' if folder else ''))
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
    """A limit of a range as the page shows it; None for the limit of the type itself."""
    value = float(text)
    if abs(value) in (2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1) or abs(value) >= 2 ** 63:
        return None
    return f'{value:.0f}' if value == int(value) else f'{value:g}'


def span(least, most):
    """A range of numbers in words."""
    if least is None or most is None:
        return 'any' if least == most else f'{least} or more' if most is None else f'up to {most}'
    return f'{least} to {most}'


def values(name, lines):
    """The cell with the range and the default of a property that can be written."""
    kind = next((line for line in lines if 'Default: ' in line), lines[-1])
    default = re.search(r'Default: +(\S.*?) *$', kind)
    default = default.group(1) if default else ''
    number = re.match(r'.*?\. Range: +([-+.\de]+) +- +([-+.\de]+) +Default: ', kind)
    if 'color' in name and number:
        cell = f'a colour, 0xAARRGGBB; `0x{int(default):08x}`'
    elif number:
        cell = f'{span(limit(number.group(1)), limit(number.group(2)))}; `{limit(default) or "none"}`'
    elif kind.startswith(('Enum', 'Flags')):
        cell = 'any of its values' if kind.startswith('Flags') else 'one of its values'
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


def marked(text, names):
    """A text of gst-inspect with the names of properties as code, for a cell of a table."""
    quoted = '|'.join(sorted((re.escape(other) for other in names if '-' in other), key=len, reverse=True))
    return re.sub(rf'(?<![\w-])({quoted})(?![\w-])', r'`\1`', text).replace('|', r'\|')


def values_title(name, element):
    """The heading of a table of values, and its anchor."""
    return f'`{name}` of {element}', f'{name}-of-{element}'


def meaning(name, lines, names, element):
    """The cell with a blurb, and with the values of an enum or a link to them."""
    text = BASE_CLASS.get(name, lines[0])
    link = ''
    if name in ENDS:
        end, section = ENDS[name]
        text, ended = re.subn(end, '', text)
        link = f' ([more]({section}))' * ended
    if len(text) > MOST_CHARACTERS:
        sys.exit(f'{name}: the blurb has {len(text)} characters, and {MOST_CHARACTERS} are the most')
    listed = choices(lines)
    if len(listed) > MOST_VALUES:
        link += f' ([values](#{values_title(name, element)[1]}))'
        listed = []
    return marked(text, names) + link + ''.join(f'<br>`{value}`: {marked(what, names)}' for value, what in listed)


def place(name, readable_only):
    """The title of a property's group, and the property's place within the group."""
    if readable_only:
        return RESULTS, 0
    for title, patterns in GROUPS:
        for index, pattern in enumerate(patterns):
            if re.fullmatch(pattern, name):
                return title, index
    sys.exit(f'{name}: this property has no group. Write its name into GROUPS of tests/properties.py')


def block(found, element):
    """The tables of an element's properties, by group, and those of long lists of values, from what sections() found."""
    names = [name for name in found if name not in INHERITED]
    rows, lists = {}, ''
    for name in names:
        lines = found[name]
        readable_only = not any(line.startswith('flags:') and 'writable' in line for line in lines)
        title, index = place(name, readable_only)
        cells = (f'`{name}`', 'read-only' if readable_only else values(name, lines[1:]),
                 meaning(name, lines, names, element))
        rows.setdefault(title, []).append((index, '| ' + ' | '.join(cells) + ' |\n'))
        if len(choices(lines)) > MOST_VALUES:
            lists += f'\n### {values_title(name, element)[0]}\n\n| value | what it is |\n| --- | --- |\n'
            lists += ''.join(f'| `{value}` | {marked(what, names)} |\n' for value, what in choices(lines))
    text = '| property | values; default | what the property does |\n| --- | --- | --- |\n'
    for title in [title for title, _ in GROUPS] + [RESULTS]:
        if title in rows:
            text += f'| **{title}** | | |\n' + ''.join(line for _, line in sorted(rows[title]))
    return text + lists


def stale(found, write=False):
    """A list with one sentence where the page is not that of the elements, or an empty list. found has the sections of each."""
    path = TOP / PAGE
    old = path.read_text(encoding='utf-8')
    wanted = old + ''.join(f'\n## {element}\n\n<!-- properties of {element} -->\n<!-- end -->\n'
                           for element in found if f'<!-- properties of {element} -->' not in old)
    new = BLOCK.sub(lambda match: f'{match.group(1)}\n{block(found[match.group(2)], match.group(2))}{match.group(4)}', wanted)
    if new == old:
        return []
    if write:
        path.write_text(new, encoding='utf-8')
    return [f'{PAGE}: the page is ' + ('written' if write else 'stale: run tests/properties.py with the folder of the built plugin')]


def all_sections(folder):
    """The sections of each element of the plugin."""
    elements = re.findall(r'^  (\w+): ', inspect(folder, '--plugin', 'cudaconvolve'), re.MULTILINE)
    return {element: sections(inspect(folder, element)) for element in sorted(elements, key=len)}


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--check']
    check = len(arguments) < len(sys.argv) - 1
    if len(arguments) > 1 or any(argument.startswith('-') for argument in arguments):
        sys.exit(__doc__)
    messages = stale(all_sections(arguments[0] if arguments else TOP / 'build' / 'plugin'), write=not check)
    for message in messages:
        print(message)
    return 1 if messages and check else 0


if __name__ == '__main__':
    sys.exit(main())
