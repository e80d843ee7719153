#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the project's README files against the element and the project. Exits 1 and says what is wrong.

    tests/readme.py [FOLDER]     FOLDER holds the built plugin; without one GStreamer's own search counts

README.md must name every property, preset, boundary and kernel variant of `gst-inspect-1.0 cudaconvolve`, and have at most
MOST_WORDS words. kernels/README.md and kernels/layer/README.md must name every variant, and the ladder every CUDA variant of
masks. README's table of properties must be as tests/properties.py writes the table, and the tables of figures as
tests/bench/tables.py does. The test `pairs` compares the table of what goes together. Relative links must lead to files
and headings that exist, in every .md file.
"""
import pathlib
import re
import subprocess
import sys

import properties

TOP = pathlib.Path(__file__).resolve().parents[1]
MOST_WORDS = 2500
HOST = {'auto', 'cpu', 'cpu-reference'}
# A table that a script writes is no text to read.
TABLE = re.compile(r'^<!-- table(?:: [\w-]+| of \w+) -->\n.*?^<!-- end -->\n', re.MULTILINE | re.DOTALL)
CODE = re.compile(r'^```[\s\S]*?^```|^(?:    |\t).*$|`[^`\n]*`', re.MULTILINE)
LINK = re.compile(r'\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)')


def parse(text):
    """Properties, presets, boundaries, and the variants of masks and of layers."""
    sections = properties.sections(text)
    found = {'property': [name for name in sections if name not in properties.INHERITED]}
    presets = re.search(r'Presets: ([\w, -]+)', sections.get('mask', [''])[0])
    found['preset'] = presets.group(1).split(', ') if presets else []
    for kind, name in (('boundary', 'boundary'), ('variant', 'kernel-variant')):
        values = properties.choices(sections.get(name, []))
        found[kind] = [value for value, _ in values]
        if kind == 'variant':
            found['variant of layers'] = [value for value, text in values if 'layers:' in text]
            found['variant of masks'] = [value for value, text in values if 'masks:' in text]
    return found


# Where the names of each kind stand: a file and its sections.
PLACES = {'property': ('README.md', ('Properties', 'Convolution layers')),
          'preset': ('README.md', ('Presets',)),
          'boundary': ('README.md', ('Boundaries',)),
          'variant': ('README.md', ('Kernel variants',)),
          'variant of masks': ('kernels/README.md', ('What each variant cannot do',)),
          'variant of layers': ('kernels/layer/README.md', ('Variants',))}


def section(text, heading):
    """The text under a heading, up to the next heading; empty where there is none."""
    match = re.search(rf'^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)', text, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else ''


def missing_names(found):
    """A sentence for each name that stands in no code span of its sections."""
    faults = []
    for kind, (path, headings) in PLACES.items():
        if not found[kind]:
            faults.append(f'gst-inspect-1.0 shows no {kind}: is the pattern in tests/readme.py still right?')
        text = (TOP / path).read_text(encoding='utf-8')
        spans = re.findall(r'`([^`\n]*)`', ''.join(section(text, heading) for heading in headings))
        for name in found[kind]:
            # An argument may follow a preset, as in motion:ANGLE.
            if not any(re.fullmatch(re.escape(name) + r'(:\w+)?', span) for span in spans):
                faults.append(f'{path}, section {" or ".join(headings)}: the {kind} `{name}` is missing')
    kernels = 'kernels/README.md'
    ladder = re.search(r'<!-- table: ladder -->\n(.*?)<!-- end -->', (TOP / kernels).read_text(encoding='utf-8'), re.DOTALL)
    for name in found['variant of masks']:
        if name not in HOST and f'| `{name}` |' not in (ladder.group(1) if ladder else ''):
            faults.append(f'{kernels}: the table "ladder" has no row `{name}`; see LADDER in tests/bench/tables.py')
    return faults


def too_many_words():
    """Every token between blanks is a word, in code and in tables, too; generated tables do not count."""
    text = TABLE.sub('', (TOP / 'README.md').read_text(encoding='utf-8'))
    words = len(text.split())
    print(f'README.md has {words} words')
    return [f'README.md has {words} words, and {MOST_WORDS} are the most'] if words > MOST_WORDS else []


def anchors(text):
    """The names that GitHub gives the headings."""
    names = []
    for heading in re.findall(r'^#+ +(.*?)\s*$', re.sub(r'^(?:    ).*$', '', text, flags=re.MULTILINE), re.MULTILINE):
        name = re.sub(r'[^\w\- ]', '', re.sub(r'`', '', heading).lower()).replace(' ', '-')
        names.append(name if name not in names else f'{name}-{names.count(name)}')
    return names


def tracked():
    """The project's .md files."""
    result = subprocess.run(['git', 'ls-files', '--cached', '--others', '--exclude-standard', '*.md'], cwd=TOP, text=True,
                            capture_output=True, check=False)
    if result.returncode == 0 and result.stdout:
        return [TOP / name for name in result.stdout.split('\n') if name and (TOP / name).exists()]
    return sorted(TOP.glob('*.md')) + sorted(p for p in TOP.glob('*/**/*.md') if 'build' not in p.parts[len(TOP.parts)])


def broken_links():
    faults = []
    for path in tracked():
        shown = path.relative_to(TOP)
        for link in LINK.findall(CODE.sub('', path.read_text(encoding='utf-8'))):
            if re.match(r'^[a-z]+:', link):
                continue
            name, _, heading = link.partition('#')
            target = (path.parent / name).resolve() if name else path
            if not target.exists():
                faults.append(f'{shown}: {link} leads to no file')
            elif heading and heading not in anchors(target.read_text(encoding='utf-8')):
                faults.append(f'{shown}: {link} leads to no heading')
    return faults


def stale_tables():
    result = subprocess.run([sys.executable, str(TOP / 'tests' / 'bench' / 'tables.py'), '--check'], text=True,
                            capture_output=True, check=False)
    return [] if result.returncode == 0 else [line for line in (result.stdout + result.stderr).split('\n') if line]


def main():
    if len(sys.argv) > 2 or '-h' in sys.argv or '--help' in sys.argv:
        sys.exit(__doc__)
    text = properties.inspect(sys.argv[1] if len(sys.argv) == 2 else None)
    faults = missing_names(parse(text)) + too_many_words() + properties.stale(properties.sections(text)) + stale_tables()
    faults += broken_links()
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
