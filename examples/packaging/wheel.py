#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs a wheel from what Meson installed: wheel.py STAGED VERSION OUTPUT

STAGED is the DESTDIR of an installation with the prefix / and the plugin in gstreamer-1.0. Names of programs become commands. The
tag names the newest version of glibc of which a symbol is used, as objdump tells. Files have the time SOURCE_DATE_EPOCH.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
OLDEST = (2, 17)  # of the tags that pip knows by this form
METADATA = '''Metadata-Version: 2.1
Name: cudaconvolve
Version: {version}
Summary: Convolution of images and video with masks, on the CPU or an NVIDIA GPU; with a GStreamer plugin
License: LGPL-2.1-or-later
Requires-Python: >=3.8
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Description-Content-Type: text/markdown

{description}'''


def symbols(path):
    """The versions of glibc whose symbols the file uses, and the libraries that it needs."""
    text = subprocess.run(['objdump', '-T', '-p', str(path)], stdout=subprocess.PIPE, check=True, text=True).stdout
    versions = {tuple(map(int, number.split('.'))) for number in re.findall(r'\*UND\*.*GLIBC_([0-9.]+)', text)}
    return versions, set(re.findall(r'NEEDED +(\S+)', text))


def main():
    staged, version, output = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    files = {f'cudaconvolve/{path.name}': path for path in sorted((HERE / 'python' / 'cudaconvolve').glob('*.py'))}
    programs = sorted(path.name for path in staged.glob('bin/*'))
    binaries = {'cudaconvolve/gstreamer-1.0/libgstcudaconvolve.so': staged / 'gstreamer-1.0' / 'libgstcudaconvolve.so',
                'cudaconvolve/libcudaconvolve.so.0': (staged / 'lib' / 'libcudaconvolve.so.0').resolve(),
                **{f'cudaconvolve/bin/{name}': staged / 'bin' / name for name in programs}}
    files.update(binaries)
    shared = [path for path in sorted(staged.glob('share/cudaconvolve/**/*')) if path.is_file()]
    files.update({f'cudaconvolve/{path.relative_to(staged)}': path for path in shared})
    manuals = sorted(staged.glob('share/man/man1/*'))
    files.update({f'cudaconvolve-{version}.data/data/share/man/man1/{path.name}': path for path in manuals})
    newest, needed = OLDEST, set()
    for path in binaries.values():
        if path.read_bytes()[:4] == b'\x7fELF':
            versions, libraries = symbols(path)
            newest, needed = max(newest, *versions), needed | libraries

    tag = f'py3-none-manylinux_{newest[0]}_{newest[1]}_{platform.machine()}'
    info = f'cudaconvolve-{version}.dist-info'
    contents = {name: path.read_bytes() for name, path in files.items()}
    contents[f'{info}/METADATA'] = METADATA.format(version=version, description=(HERE / 'python' / 'README.md').read_text()).encode()
    contents[f'{info}/WHEEL'] = f'Wheel-Version: 1.0\nGenerator: wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n'.encode()
    contents[f'{info}/LICENSE'] = (TOP / 'LICENSE').read_bytes()
    if programs:
        contents[f'{info}/entry_points.txt'] = ('[console_scripts]\n' + ''.join(
            f'{name} = cudaconvolve._programs:run\n' for name in programs)).encode()
    record = ''
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        record += f'{name},sha256={digest},{len(data)}\n'
    contents[f'{info}/RECORD'] = (record + f'{info}/RECORD,,\n').encode()

    output.mkdir(parents=True, exist_ok=True)
    path = output / f'cudaconvolve-{version}-{tag}.whl'
    moment = max(int(os.environ.get('SOURCE_DATE_EPOCH', time.time())), 315532800)  # zip begins in 1980
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, time.gmtime(moment)[:6])
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if '/bin/' in name else 0o100644) << 16
            wheel.writestr(entry, data)
    print(f'glibc {newest[0]}.{newest[1]} or newer; from the system: {", ".join(sorted(needed - {"ld-linux-x86-64.so.2"}))}')
    installed = sum(map(len, contents.values()))
    print(f'{path.stat().st_size / 1e6:.1f} MB, {installed / 1e6:.1f} MB installed; programs: {", ".join(programs) or "none"}')
    print(path)


main()
