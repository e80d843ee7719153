# SPDX-License-Identifier: LGPL-2.1-or-later
"""Swaps operators at random places of random files, and prints the faults in the form of the lists.

    python3 tests/mutants/random_faults.py SEED COUNT
"""
import pathlib
import random
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
# What is compiled in a build without CUDA, and can be seen there.
FILES = ['kernels/*.c', 'kernels/common/*.c', 'kernels/cpu/*.c', 'kernels/layer/*.c', 'kernels/layer/cpu/*.c',
         'kernels/cuda/tensor*.c', 'props/*.c', 'plugin/*/*.c']
LEFT_OUT = ['_none.c', 'analytics.c', 'segments.c', 'tracing.c', 'cudamemory.c', 'cudastream.c', 'plugin.c']
SWAPS = {' < ': ' <= ', ' <= ': ' < ', ' > ': ' >= ', ' >= ': ' > ', ' == ': ' != ', ' != ': ' == ', ' && ': ' || ',
         ' || ': ' && ', ' + ': ' - ', ' - ': ' + '}
OPERATOR = re.compile('|'.join(re.escape(swap) for swap in sorted(SWAPS, key=len, reverse=True)))


def places_of(text):
    """The operators outside of comments, texts and preprocessor lines."""
    hidden = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|//[^\n]*|^#[^\n]*', re.S | re.M)
    shown = hidden.sub(lambda match: re.sub(r'[^\n]', '#', match.group()), text)
    return [(match.start(), match.group()) for match in OPERATOR.finditer(shown)]


def lines_around(text, at):
    """The shortest run of whole lines around a place that is in the text once."""
    first = last = text.count('\n', 0, at)
    lines = text.split('\n')
    while text.count('\n'.join(lines[first:last + 1])) != 1:
        if last + 1 < len(lines):
            last += 1
        else:
            first -= 1
    return first, last


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(seed)
    files = sorted(path for pattern in FILES for path in TOP.glob(pattern) if not path.name.endswith(tuple(LEFT_OUT)))
    print(f'# SPDX-License-Identifier: LGPL-2.1-or-later\n# python3 tests/mutants/random_faults.py {seed} {count}')
    for number in range(1, count + 1):
        places = []
        while not places:
            path = chance.choice(files)
            text = path.read_text()
            places = places_of(text)
        at, operator = chance.choice(places)
        swapped = text[:at] + SWAPS[operator] + text[at + len(operator):]
        first, last = lines_around(text, at)
        extra = swapped.count('\n') - text.count('\n')
        print(f'\n[random-{number:02}]\nfile: {path.relative_to(TOP)}\n'
              f'fault: `{SWAPS[operator].strip()}` for `{operator.strip()}`')
        print('\n'.join(f'- {line}'.rstrip() for line in text.split('\n')[first:last + 1]))
        print('\n'.join(f'+ {line}'.rstrip() for line in swapped.split('\n')[first:last + 1 + extra]))


if __name__ == '__main__':
    main()
