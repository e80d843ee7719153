#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes what a release is made of, with licences and checksums, as an SPDX 2.3 document in JSON.

    spdx.py FOLDER VERSION DATE     prints the document of the sources in FOLDER; DATE as in 2026-01-31T12:00:00Z
    spdx.py --check                 checks the project's own files: each must have a licence

A file's licence is the one in the file's SPDX line. A file that has no such line needs a row in LICENCES. The document also has
what a compiled plugin or library is linked with.
"""
import fnmatch
import hashlib
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
OWN = 'LGPL-2.1-or-later'
# Files without a line of their own; the first row that matches counts.
LICENCES = (('examples/clip.mp4', 'CC0-1.0'),  # examples/clip.txt has its origin
            ('examples/star.png', OWN), ('examples/pictures/*.jpg', OWN), ('examples/pictures/*.png', OWN), ('tests/results/*.jpg', OWN),
            ('LICENSE', OWN), ('*.md', OWN), ('*.csv', OWN), ('*.svg', OWN), ('*.json', OWN), ('*.txt', OWN),
            ('tests/*/log-*-expected', OWN), ('tests/analysers/cppcheck.cfg', OWN), ('tests/lsan.supp', OWN),
            ('tests/fuzz/corpus/*', OWN),
            ('.clang-format', OWN), ('.clang-tidy', OWN), ('.editorconfig', OWN), ('.gitignore', OWN),
            ('examples/packaging/debian/*', OWN))
# Name, licence, where it is from, relationship of the compiled files, and when.
LINKED = (('GStreamer', OWN, 'https://gstreamer.freedesktop.org/', 'DYNAMIC_LINK', 'the plugin'),
          ('GLib', OWN, 'https://gitlab.gnome.org/GNOME/glib', 'DYNAMIC_LINK', 'the plugin'),
          ('zlib', 'Zlib', 'https://zlib.net/', 'DYNAMIC_LINK', 'the plugin, unless built with -Dzlib=disabled'),
          ('libpng', 'libpng-2.0', 'http://www.libpng.org/', 'DYNAMIC_LINK', 'the plugin, unless built with -Dpng=disabled'),
          ('CUDA-runtime', 'LicenseRef-NVIDIA-CUDA-EULA', 'https://docs.nvidia.com/cuda/eula/', 'STATIC_LINK',
           'the plugin and the library where they are built with CUDA: cudart_static of the toolkit that compiles them'))
LINE = re.compile(rb'^[^\n]{0,10}SPDX-License-Identifier: ([A-Za-z0-9.+-]+)', re.MULTILINE)


def licence(name, data):
    """The licence in the file, or NONE, and the one that counts, or nothing."""
    line = LINE.search(data[:1000])
    if line:
        return line.group(1).decode(), line.group(1).decode()
    return 'NONE', next((value for pattern, value in LICENCES if fnmatch.fnmatchcase(name, pattern)), None)


def check():
    names = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=TOP, check=True,
                           stdout=subprocess.PIPE).stdout.decode().split('\0')
    counts, wrong = {}, 0
    for name in names:
        if not name or not (TOP / name).is_file():
            continue
        found = licence(name, (TOP / name).read_bytes())[1]
        counts[found] = counts.get(found, 0) + 1
        if found is None:
            print(f'{name}: has no SPDX line, and no row in LICENCES of {pathlib.Path(__file__).relative_to(TOP)}')
            wrong = 1
    if not counts:
        sys.exit('there are no files: is this a git tree?')
    print(', '.join(f'{count} files {name}' for name, count in counts.items() if name))
    return wrong


def files(folder):
    """An SPDX file for each file of the folder, in the order of their names."""
    for path in sorted(path for path in folder.rglob('*') if path.is_file()):
        name, data = path.relative_to(folder).as_posix(), path.read_bytes()
        inside, concluded = licence(name, data)
        if concluded is None:
            sys.exit(f'{name}: has no SPDX line, and no row in LICENCES')
        yield {'SPDXID': 'SPDXRef-File-' + hashlib.sha256(name.encode()).hexdigest()[:16], 'fileName': './' + name,
               'checksums': [{'algorithm': kind.upper(), 'checksumValue': hashlib.new(kind, data).hexdigest()}
                             for kind in ('sha1', 'sha256')],
               'licenseInfoInFiles': [inside], 'licenseConcluded': concluded, 'copyrightText': 'NOASSERTION'}


def document(folder, version, date):
    listed = list(files(folder))
    sums = ''.join(sorted(entry['checksums'][0]['checksumValue'] for entry in listed))
    code = hashlib.sha1(sums.encode()).hexdigest()
    project = 'SPDXRef-cudaconvolve'
    packages = [{'SPDXID': project, 'name': 'cudaconvolve', 'versionInfo': version, 'downloadLocation': 'NOASSERTION',
                 'filesAnalyzed': True, 'packageVerificationCode': {'packageVerificationCodeValue': code},
                 'licenseInfoFromFiles': sorted({entry['licenseInfoInFiles'][0] for entry in listed} - {'NONE'}),
                 'licenseConcluded': ' AND '.join(sorted({entry['licenseConcluded'] for entry in listed})),
                 'licenseDeclared': OWN, 'copyrightText': 'NOASSERTION'}]
    relationships = [('SPDXRef-DOCUMENT', 'DESCRIBES', project, None)]
    relationships += [(project, 'CONTAINS', entry['SPDXID'], None) for entry in listed]
    for name, terms, home, kind, when in LINKED:
        packages.append({'SPDXID': f'SPDXRef-{name}', 'name': name, 'downloadLocation': home, 'filesAnalyzed': False,
                         'licenseConcluded': terms, 'licenseDeclared': terms, 'copyrightText': 'NOASSERTION'})
        relationships.append((project, kind, f'SPDXRef-{name}', when))
    return {
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'cudaconvolve-{version}',
        'documentNamespace': f'https://spdx.org/spdxdocs/cudaconvolve-{version}-{code}',
        'creationInfo': {'created': date, 'creators': ['Tool: cudaconvolve-spdx.py']},
        'hasExtractedLicensingInfos': [{
            'licenseId': 'LicenseRef-NVIDIA-CUDA-EULA', 'name': 'CUDA Toolkit End User License Agreement',
            'extractedText': 'https://docs.nvidia.com/cuda/eula/, attachment A: cudart_static may be redistributed in programs.',
            'seeAlsos': ['https://docs.nvidia.com/cuda/eula/']}],
        'packages': packages, 'files': listed,
        'relationships': [dict({'spdxElementId': one, 'relationshipType': kind, 'relatedSpdxElement': other},
                               **({'comment': when} if when else {})) for one, kind, other, when in relationships]}


def main():
    if sys.argv[1:] == ['--check']:
        return check()
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(json.dumps(document(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]), indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
