#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps the two files from which hotdoc makes documentation of the plugin.

    cache.py SCANNER PLUGIN.so            writes the files beside this script
    cache.py --check SCANNER PLUGIN.so    writes nothing; exits 1 and shows the difference where a file is stale
    --big-endian                          comes first, for a plugin of a machine with that byte order

gst_plugins_cache.json describes the elements, their properties and their types. blocks.c has a comment for each property and
type, as hotdoc reads them in sources, with the version that has it. NEWS.md must have that version.

gst_plugins_cache.json has the form of those of GStreamer's own modules. A build without CUDA memory keeps the pads' caps in CUDA memory
that the file has, and a newer GStreamer than OLDEST adds no formats, so that the file is the same from every build. Each
byte order prefers other formats, and the file has the order of little-endian machines.
"""
import difflib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

CACHE = pathlib.Path(__file__).resolve().with_name('gst_plugins_cache.json')
BLOCKS = CACHE.with_name('blocks.c')
TOP = CACHE.parents[2]
HEAD = """/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comments for hotdoc. "ninja -C build plugin-cache" writes this file from the tables of properties; nothing compiles it. */
"""
WIDTH = 116  # of a line of text
OLDEST = '1.22'  # whose formats the file has
CUDA = '(memory:CUDAMemory)'


def scan(scanner, plugin):
    """What the scanner says of the plugin, in a process that knows no other plugins and no registry of the user's."""
    wrapper = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))  # runs programs for another machine
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, GST_PLUGIN_SYSTEM_PATH_1_0='', GST_PLUGIN_PATH_1_0='', GST_PLUGIN_PATH='',
                           GST_REGISTRY_1_0=os.path.join(folder, 'registry'), GST_REGISTRY_FORK='no')
        result = subprocess.run([*wrapper, scanner, plugin], env=environment, stdout=subprocess.PIPE, text=True,
                                check=False)
    if result.returncode != 0:
        sys.exit(f'{scanner} failed')
    return json.loads(result.stdout)


def is_newer():
    """Whether the installed GStreamer is newer than OLDEST."""
    text = subprocess.run(['gst-inspect-1.0', '--version'], stdout=subprocess.PIPE, text=True, check=True).stdout
    return not re.search(rf'\b{re.escape(OLDEST)}\.', text)


def structures(caps):
    """The structures of a text of caps by their first lines."""
    parts = re.split(r'^(\S.*):\n', caps, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def formats(fields):
    match = re.search(r'format: \{ (.*) \}', fields)
    return match.group(1).split(', ') if match else []


def merge_caps(old, new, differs):
    """The caps to keep, from those of the file and those of this build."""
    before, now = structures(old), structures(new)
    kept = {name: fields for name, fields in before.items() if name not in now and CUDA in name}
    for name, fields in now.items():
        known = formats(before.get(name, ''))
        if differs and known:
            same = [form for form in formats(fields) if form in known]
            # The lists are in the order of preference, which differs between versions and byte orders.
            same = known if sorted(same) == sorted(known) else same
            fields = re.sub(r'format: \{ .* \}', 'format: { ' + ', '.join(same) + ' }', fields)
        kept[name] = fields
    return ''.join(f'{name}:\n{fields}' for name, fields in kept.items())


def merge(old, new, big_endian):
    """The description of this build, with what the file alone knows of the pads."""
    differs = big_endian or is_newer()
    for name, plugin in new.items():
        for kind, element in plugin['elements'].items():
            pads = old.get(name, {}).get('elements', {}).get(kind, {}).get('pad-templates', {})
            for pad, template in element['pad-templates'].items():
                if pad in pads:
                    template['caps'] = merge_caps(pads[pad]['caps'], template['caps'], differs)
    return new


def block(name, text, since):
    """A comment that describes a symbol."""
    lines = [f'{name}:', '', *textwrap.wrap(text, WIDTH, break_on_hyphens=False), '', f'Since: {since}']
    return '\n/**\n' + ''.join(f' * {line}'.rstrip() + '\n' for line in lines) + ' */\n'


def take_blocks(plugins):
    """Takes the versions out of the description. Returns the comments of all properties, then of the types they have."""
    comments, types = [], {}
    for plugin in plugins.values():
        owners = {element['hierarchy'][0]: element for element in plugin['elements'].values()}
        owners |= {name: kind for name, kind in plugin['other-types'].items() if kind['kind'] == 'object'}
        for owner, description in sorted(owners.items()):
            for name, spec in sorted(description['properties'].items()):
                since = spec.pop('since')
                comments.append(block(f'{owner}:{name}', spec['blurb'] + '.', since))
                if spec['type'] in plugin['other-types']:
                    types.setdefault(spec['type'], []).append((since, name))
        for kind, uses in sorted(types.items()):
            names = ', '.join(sorted({name for _, name in uses}))
            comments.append(block(kind, f'The values of {names}.', min(uses)[0]))
    return HEAD + ''.join(comments)


def unknown_versions(blocks):
    """The versions since which something is there, by the comments of the code and of the blocks, and of which NEWS.md says nothing."""
    known = re.findall(r'^## (\d+\.\d+)\.', (TOP / 'NEWS.md').read_text(encoding='utf-8'), flags=re.MULTILINE)
    sources = [path.read_text(encoding='utf-8') for path in (TOP / 'plugin').rglob('*.c') if path != BLOCKS]
    named = re.findall(r'\bSince: (\S+)', '\n'.join([*sources, blocks]))
    return sorted(set(named) - set(known))


def keep(path, old, new, check):
    """Whether the file has the new text; writes it, unless it is only to be checked."""
    if new == old:
        return True
    if check:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), path.name, 'this build'))
        print(f'{path.name} is stale: run "ninja -C build plugin-cache"')
        return False
    path.write_text(new, encoding='utf-8')
    print(f'{path.name} is written')
    return True


def main():
    arguments = sys.argv[1:]
    big_endian = arguments[:1] == ['--big-endian']
    del arguments[:big_endian]
    check = arguments[:1] == ['--check']
    if len(arguments) != 2 + check:
        sys.exit(__doc__)
    old = CACHE.read_text(encoding='utf-8') if CACHE.exists() else '{}'
    scanned = scan(*arguments[-2:])
    blocks = take_blocks(scanned)
    unknown = unknown_versions(blocks)
    if unknown:
        print(f'Since: {", ".join(unknown)}: NEWS.md has no such version; the newest one there is for what is new')
        return 1
    merged = merge(json.loads(old), scanned, big_endian)
    new = json.dumps(merged, indent=4, sort_keys=True, ensure_ascii=False) + '\n'
    good = keep(CACHE, old, new, check)
    good &= keep(BLOCKS, BLOCKS.read_text(encoding='utf-8') if BLOCKS.exists() else '', blocks, check)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
