#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the project's .md files against the elements and the project. Exits 1 and says what is wrong.

    tests/readme.py [FOLDER]     FOLDER holds the built plugin; without one GStreamer's own search counts

README.md has at most MOST_WORDS words and MOST_LINES lines, and names every preset. plugin/masks.md names every preset and
boundary, kernels/README.md and kernels/layer/README.md every variant, and the ladder every variant of masks that was timed on a device. plugin/properties.md must be as tests/properties.py writes the page, and the tables of figures as
tests/bench/tables.py does. The test `pairs` compares the table of what goes together. In every .md file relative links must lead to
files and headings that exist, and a table must begin with a heading.
"""
import pathlib
import re
import subprocess
import sys

import properties

TOP = pathlib.Path(__file__).resolve().parents[1]
MOST_WORDS, MOST_LINES = 1500, 250
CODE = re.compile(r'^```[\s\S]*?^```|^(?:    |\t).*$|`[^`\n]*`', re.MULTILINE)
LINK = re.compile(r'\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)')


def parse(elements):
    """Presets, boundaries, and the variants of masks and of layers, from the sections of the elements' properties."""
    masks, layers = elements['cudaconvolve'], elements['cudaconvlayer']

    def values(sections, name):
        return [value for value, _ in properties.choices(sections[name]) if value != 'auto']

    return {'preset': re.findall(r'\(string\)([\w-]+)', ' '.join(masks['presets'])), 'boundary': values(masks, 'boundary'),
            'variant of masks': values(masks, 'kernel-variant'), 'variant of layers': values(layers, 'kernel-variant')}


# Where the names of each kind stand: files and a section of each.
PLACES = {'preset': (('plugin/masks.md', 'Presets'), ('README.md', 'Masks')),
          'boundary': (('plugin/masks.md', 'Boundaries'),),
          'variant of masks': (('kernels/README.md', 'What each variant cannot do'),),
          'variant of layers': (('kernels/layer/README.md', 'Variants'),)}


def section(text, heading):
    """The text under a heading, up to the next heading; empty where there is none."""
    match = re.search(rf'^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)', text, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else ''


def missing_names(found):
    """A sentence for each name that stands in no code span of its sections."""
    faults = []
    for kind, places in PLACES.items():
        if not found[kind]:
            faults.append(f'gst-inspect-1.0 shows no {kind}: is the pattern in tests/readme.py still right?')
        for path, heading in places:
            spans = re.findall(r'`([^`\n]*)`', section((TOP / path).read_text(encoding='utf-8'), heading))
            for name in found[kind]:
                # An argument may follow a preset, as in motion:ANGLE.
                if not any(re.fullmatch(re.escape(name) + r'(:\w+)?', span) for span in spans):
                    faults.append(f'{path}, section {heading}: the {kind} `{name}` is missing')
    return faults


def missing_steps(folder):
    """A sentence for each variant of masks that runs on a device, was timed, and has no row in the ladder."""
    program, path = TOP / folder / '..' / 'tests' / 'convolve_check', 'kernels/README.md'
    listed = subprocess.run([program, '--list'], text=True, capture_output=True, check=True)
    ladder = re.search(r'<!-- table: ladder -->\n(.*?)<!-- end -->', (TOP / path).read_text(encoding='utf-8'), re.DOTALL)
    timed = ''.join((TOP / 'tests' / 'results' / f'{name}.csv').read_text() for name in ('h200-textbook', 'h200-fast', 'h200-box'))
    names = [name for name in re.findall(r'^([\w-]+) +device ', listed.stdout, re.MULTILINE)
             if re.search(rf'\b{name},', timed)]
    return [f'{path}: the table "ladder" has no row `{name}`; see LADDER in tests/bench/tables.py'
            for name in names if f'| `{name}` |' not in (ladder.group(1) if ladder else '')]


def too_long():
    """Every token between blanks is a word, in code and in tables, too."""
    text = (TOP / 'README.md').read_text(encoding='utf-8')
    words, lines = len(text.split()), text.count('\n')
    print(f'README.md has {words} words in {lines} lines')
    return [f'README.md has {words} words in {lines} lines; {MOST_WORDS} and {MOST_LINES} are the most'] * (
        words > MOST_WORDS or lines > MOST_LINES)


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
    return sorted(TOP.glob('*.md')) + sorted(p for p in TOP.glob('*/**/*.md') if not re.match('build|out$|dist$', p.parts[len(TOP.parts)]))


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


def broken_tables():
    """A sentence for each row of a table that has no heading above it, as after an empty line."""
    faults = []
    for path in tracked():
        text = CODE.sub(lambda code: re.sub(r'[^\n]', 'x', code[0]), path.read_text(encoding='utf-8'))
        for rows in re.finditer(r'(?:^\|.*\n)+', text, re.MULTILINE):
            if not re.match(r'.*\n\|(?: *:?-+:? *\|)+\n', rows[0]):
                line = text.count('\n', 0, rows.start()) + 1
                faults.append(f'{path.relative_to(TOP)}:{line}: begins with | outside of a table')
    return faults


def stale_tables():
    result = subprocess.run([sys.executable, str(TOP / 'tests' / 'bench' / 'tables.py'), '--check'], text=True,
                            capture_output=True, check=False)
    return [] if result.returncode == 0 else [line for line in (result.stdout + result.stderr).split('\n') if line]


def main():
    if len(sys.argv) > 2 or '-h' in sys.argv or '--help' in sys.argv:
        sys.exit(__doc__)
    folder = sys.argv[1] if len(sys.argv) == 2 else None
    elements = properties.all_sections(folder)
    faults = missing_names(parse(elements)) + too_long() + properties.stale(elements) + stale_tables()
    if folder:
        faults += missing_steps(folder)
    faults += broken_links() + broken_tables()
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
