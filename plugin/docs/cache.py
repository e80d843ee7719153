#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keeps gst_plugins_cache.json, the description of the plugin from which hotdoc makes documentation.

    cache.py SCANNER PLUGIN.so            writes the file beside this script
    cache.py --check SCANNER PLUGIN.so    writes nothing; exits 1 and shows the difference where the file is stale
    --big-endian                          comes first, for a plugin of a machine with that byte order

The file has the form of those of GStreamer's own modules. A build without CUDA memory keeps the pads' caps in CUDA memory
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

CACHE = pathlib.Path(__file__).resolve().with_name('gst_plugins_cache.json')
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


def main():
    arguments = sys.argv[1:]
    big_endian = arguments[:1] == ['--big-endian']
    del arguments[:big_endian]
    check = arguments[:1] == ['--check']
    if len(arguments) != 2 + check:
        sys.exit(__doc__)
    old = CACHE.read_text(encoding='utf-8') if CACHE.exists() else '{}'
    merged = merge(json.loads(old), scan(*arguments[-2:]), big_endian)
    new = json.dumps(merged, indent=4, sort_keys=True, ensure_ascii=False) + '\n'
    if new == old:
        return 0
    if check:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), CACHE.name, 'this build'))
        print(f'{CACHE.name} is stale: run "ninja -C build plugin-cache"')
        return 1
    CACHE.write_text(new, encoding='utf-8')
    print(f'{CACHE.name} is written')
    return 0


if __name__ == '__main__':
    sys.exit(main())
