#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tells which files in tests/results/ are older than the code that they measure.

    tests/ages.py              lists these files, and faults of tests/results/measured.csv
    tests/ages.py --release    exits 1 where there are any; the release script calls this

Each row of measured.csv has files, the commit that was measured, and what of the code they measure, by the names of CODE. A file
is older where that code, without comments, blanks and pages, is another one today. `same` names a later commit until which
somebody found all changes to be without effect on the figures; `why` says how. Without names of code, `why` says why the file
does not age. Exits 77 where git has no history.
"""
import csv
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
RESULTS = TOP / 'tests' / 'results'
CODE = {
    'gpu': [':(glob)kernels/*.[ch]', 'kernels/common', 'kernels/cuda', ':!kernels/cuda/regions', ':!kernels/cuda/ladder'],
    'ladder': ['kernels/cuda/ladder', 'kernels/cuda/plain'],
    'cpu': [':(glob)kernels/*.[ch]', 'kernels/common', 'kernels/cpu'],
    'layers': ['kernels/layer'],
    'pipeline': ['plugin/base', 'plugin/cuda', 'plugin/stream', 'kernels/staging.c', 'kernels/cuda/device'],
    'regions': ['plugin/regions', 'kernels/cuda/regions', 'kernels/common'],
    'forms': ['kernels/form.c', 'plugin/frame', 'plugin/inner', 'plugin/plans'],
    'python': ['examples/packaging/python/cudaconvolve'],
    'film': ['examples/film', 'plugin/regions'],
    'cluster': ['examples/cluster'],
    'all': ['kernels', 'props', 'plugin', 'examples'],
}
EMPTY = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'  # the empty tree of every repository
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*")', re.DOTALL)


def git(*arguments, data=None):
    return subprocess.run(['git', *arguments], cwd=TOP, input=data, capture_output=True, check=True).stdout


def list_blobs(commit, names):
    """The blobs of the code by path."""
    paths = [path for name in names for path in CODE[name]]
    # Unlike ls-tree, a difference to the empty tree knows patterns.
    found = git('diff-tree', '-r', '--no-renames', '-z', EMPTY, commit, '--', *paths).decode().split('\0')
    return {path: fields.split()[3] for fields, path in zip(found[::2], found[1::2]) if not path.endswith('.md')}


def read_plain(path, blob):
    """A source without comments and blanks."""
    text = git('cat-file', 'blob', blob).decode(errors='replace')
    if path.endswith(('.c', '.h', '.cu', '.cuh', '.cpp')):
        text = COMMENT.sub(lambda match: match.group(1) or ' ', text)
    else:
        text = re.sub(r'^\s*#.*$', '', text, flags=re.MULTILINE)
    return ''.join(text.split())


def find_changes(commit, names):
    """The paths whose code is another one today."""
    before, now = list_blobs(commit, names), list_blobs('HEAD', names)
    return [path for path in sorted(before.keys() | now.keys()) if before.get(path) != now.get(path)
            and not (path in before and path in now and read_plain(path, before[path]) == read_plain(path, now[path]))]


def read_column(name, column):
    with open(RESULTS / name, encoding='utf-8', newline='') as file:
        return [row.get(column) or '' for row in csv.DictReader(file)]


def main():
    if sys.argv[1:] not in ([], ['--release']):
        sys.exit(__doc__)
    try:
        shallow = git('rev-parse', '--is-shallow-repository').strip() != b'false'
    except (OSError, subprocess.CalledProcessError):
        shallow = True
    if shallow:
        print('git has no history here')
        sys.exit(77)
    with open(RESULTS / 'measured.csv', encoding='utf-8', newline='') as file:
        rows = list(csv.DictReader(file))

    listed = [name for row in rows for name in row['files'].split()]
    there = [path.name for path in RESULTS.iterdir() if path.suffix in ('.csv', '.md') and path.name != 'measured.csv']
    faults = [f'{name}: no row in measured.csv' for name in sorted(set(there) - set(listed))]
    faults += [f'{name}: not there, or in measured.csv twice' for name in listed if name not in there or listed.count(name) > 1]
    for row in rows:
        for name in (name for name in row['files'].split() if name.endswith('.csv') and name in there):
            commits = set(re.findall(r'\b[0-9a-f]{7}\b', ' '.join(read_column(name, 'commit'))))
            if commits and row['commit'] not in commits:
                faults.append(f'{name}: its column "commit" has {" and ".join(sorted(commits))}, and measured.csv {row["commit"]}')
    older = 0
    for row in rows:
        commit, names = row['same'] or row['commit'], row['paths'].split()
        if not names or row['same']:
            faults += [] if row['why'] else [f'{row["files"]}: "why" is empty']
        for name in filter(None, (row['commit'], row['same'])):
            if subprocess.run(['git', 'merge-base', '--is-ancestor', name, 'HEAD'], cwd=TOP, capture_output=True, check=False).returncode:
                faults.append(f'{row["files"]}: HEAD has no commit {name}')
                names = []
        changed = find_changes(commit, names) if names else []
        if changed:
            older += len(row['files'].split())
            date = git('log', '-1', '--format=%cs', commit).decode().strip()
            print(f'{row["files"]}: of {date} ({commit}); {len(changed)} files of {" and ".join(names)} changed since, as {changed[0]}')
    print(f'{older} of {len(listed)} files are older than the code that they measure')
    for fault in faults:
        print(fault)
    sys.exit(bool((faults or older) and sys.argv[1:]))


main()
