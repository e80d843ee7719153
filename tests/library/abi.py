#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the interface of the shared library with the file kernels/abi.txt. Exits 1 and says what differs.

    abi.py LIBRARY.so COMPILER...            compares
    abi.py --write LIBRARY.so COMPILER...    writes the file anew

The file lists what a compiled program depends on: prototypes and macros as the public headers have them, values of enums,
sizes of structs, and types and places of their members. The compiler tells the values; they are those of 64-bit systems. The
functions of the headers, the symbols of the library and the list for Debian's package must be the same. kernels/README.md says which changes the number of
the library must follow.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

KERNELS = pathlib.Path(__file__).resolve().parents[2] / 'kernels'
FILE = KERNELS / 'abi.txt'
SYMBOLS = KERNELS.parent / 'examples' / 'packaging' / 'debian' / 'libcudaconvolve0.symbols'
NODE = re.search(r'^(LIB\w+)$', (KERNELS / 'libcudaconvolve.map').read_text(encoding='utf-8'), re.MULTILINE).group(1)


def plain(text):
    """Without comments, with one space between tokens."""
    return ' '.join(re.sub(r'/\*.*?\*/', ' ', text, flags=re.DOTALL).split())


def declarations(text):
    """The declarations of a header at its top level, each with the text in its braces or None."""
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.DOTALL)
    text = re.sub(r'extern "C"\s*\{|^#ifdef __cplusplus\s*\}\s*#endif', ' ', text, flags=re.MULTILINE)
    text = re.sub(r'^\s*#.*(?:\\\n.*)*$', '', text, flags=re.MULTILINE)
    place = 0
    while match := re.compile(r'\s*([^;{}]+?)\s*(?:\{([^{}]*)\}\s*(\w*)\s*(;)?|;)').match(text, place):
        place = match.end()
        if match.group(2) is not None and not match.group(3) and match.group(4):
            sys.exit(f'a declaration that this script does not know: {match.group(0)}')
        yield plain(match.group(1)), match.group(2), match.group(3)
    if text[place:].strip():
        sys.exit(f'a declaration that this script does not know: {text[place:].strip()[:200]}')


def members(body):
    """Type and name of each member of a struct: "double *taps" is "double *" and "taps"."""
    for statement in filter(None, (plain(part) for part in body.split(';'))):
        first = re.fullmatch(r'(.*?[\s*])(\**\w+(?:\[[^\]]*\])?(?:, \**\w+(?:\[[^\]]*\])?)*)', statement)
        if not first:
            sys.exit(f'a member that this script does not know: {statement}')
        base = re.sub(r'\*+$', '', first.group(1).strip()).strip()
        for declarator in (statement[len(base):]).split(','):
            stars, name, array = re.fullmatch(r'\s*(\**)(\w+)(\[.*\])?\s*', declarator).groups()
            yield (base + ' ' + stars).strip() + (array or ''), name


def interface(headers, compiler):
    """The lines of the file, and the names of the functions."""
    lines, functions, prints = [], [], []
    for header in headers:
        text = header.read_text(encoding='utf-8')
        for name, value in re.findall(r'^#define (CONVOLVE_\w+)[ \t]+(\S.*)$', text, re.MULTILINE):
            prints.append(f'printf ("macro {name} %lld\\n", (long long) ({name}));')
        for start, body, name in declarations(text):
            if start == 'typedef enum':
                for value in filter(None, (plain(part).split(' ')[0] for part in body.split(','))):
                    prints.append(f'printf ("enum {name} {value} %d\\n", (int) {value});')
            elif start == 'typedef struct' and body is not None:
                prints.append(f'printf ("struct {name} %zu bytes\\n", sizeof ({name}));')
                for kind, member in members(body):
                    prints.append(f'printf ("member {name}.{member} at %zu: {kind}\\n", offsetof ({name}, {member}));')
            elif body is not None:
                lines.append(f'inline {start}')
            elif re.match(r'typedef struct (\w+) \1$', start):
                lines.append(f'opaque {start.split()[-1]}')
            elif match := re.fullmatch(r'.*\b(convolve_\w+) \(.*\)', start):
                lines.append(f'function {start}')
                functions.append(match.group(1))
            else:
                sys.exit(f'{header.name}: a declaration that this script does not know: {start}')
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, 'abi.c'), pathlib.Path(folder, 'abi')
        includes = ''.join(f'#include "{header.name}"\n' for header in headers)
        source.write_text(f'#include <stdio.h>\n{includes}int main (void)\n{{\n' + '\n'.join(prints) + '\nreturn 0;\n}\n')
        subprocess.run([*compiler, '-I', KERNELS, source, '-o', program], check=True)
        # Meson names the emulator, where the program is for another machine.
        wrapper = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
        lines += subprocess.run([*wrapper, program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return sorted(lines), functions


def exported(library):
    """The names that the library exports, without their version, which must be that of libcudaconvolve.map."""
    output = subprocess.run(['nm', '-D', '--defined-only', library], check=True, stdout=subprocess.PIPE, text=True).stdout
    symbols = [line.split()[-1] for line in output.splitlines()]
    for symbol in symbols:
        if not symbol.endswith(NODE):
            sys.exit(f'{library}: the symbol {symbol} has not the version {NODE}')
    return sorted(symbol.split('@')[0] for symbol in symbols if symbol.split('@')[0] != NODE)


def soname(library):
    output = subprocess.run(['readelf', '-d', library], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r'SONAME.*\[(.*)\]', output).group(1)


def main():
    arguments = sys.argv[1:]
    write = arguments[:1] == ['--write']
    library, *compiler = arguments[1 if write else 0:]
    lines, functions = interface(sorted(KERNELS.glob('convolve*.h')), compiler)
    there = exported(library)
    wrong = [f'{name} is exported, and no public header has it' for name in there if name not in functions]
    wrong += [f'{name} is in a public header, and is not exported' for name in functions if name not in there]
    debian = re.findall(r'^ (\w+)@', SYMBOLS.read_text(encoding='utf-8'), re.MULTILINE)
    wrong += [f'{name} is in one of these alone: the public headers, {SYMBOLS.name}'
              for name in sorted(set(functions) ^ (set(debian) - {NODE}))]
    lines = ['# The interface of the shared library; written by "ninja -C build abi", compared by the test "abi".',
             f'soname {soname(library)}'] + lines
    if write:
        FILE.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    kept = FILE.read_text(encoding='utf-8').splitlines()
    wrong += difflib.unified_diff(kept, lines, str(FILE.relative_to(KERNELS.parent)), 'this build', lineterm='', n=0)
    print('\n'.join(wrong) or f'{len(functions)} functions, {len(lines)} lines')
    if wrong:
        print('Is the change wanted? kernels/README.md, "As a shared library", says what it asks for.')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
