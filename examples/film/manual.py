#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a manual page from what a program says of itself: manual.py HELP VERSION PAGE

HELP is a file with the output of --help, in the form of GLib's GOption: usage, a summary, groups of options, and paragraphs with a
heading. PAGE is roff for man(1). The date is SOURCE_DATE_EPOCH, or today. A line that fits none of these forms is an error.
"""
import os
import re
import sys
import time


def plain(text):
    """Text that roff takes as it is written."""
    text = text.replace('\\', r'\e').replace('-', r'\-').replace('\N{HORIZONTAL ELLIPSIS}', '...')
    return re.sub(r"^([.'])", r'\\&\1', text)


def option(flags, text):
    """An option: flags bold, and what the user fills in as it is."""
    shown = ', '.join(rf'\fB{plain(name)}\fR{equals}{plain(value)}' for name, equals, value in
                      (flag.partition('=') for flag in flags.split(', ')))
    return f'.TP\n{shown}\n{plain(text)}\n'


def page(lines, version):
    name, usage = lines[1].split(maxsplit=1)
    summary = lines[3]
    date = time.strftime('%Y-%m-%d', time.gmtime(int(os.environ.get('SOURCE_DATE_EPOCH', time.time()))))
    yield (f'.TH {name.upper()} 1 "{date}" "{name} {version}"\n.SH NAME\n{name} \\- {plain(summary[0].lower() + summary[1:-1])}\n'
           f'.SH SYNOPSIS\n.B {name}\n{plain(usage)}\n.SH DESCRIPTION\n{plain(summary)}\n')
    options = False
    for line in lines[4:]:
        heading, found = re.fullmatch(r'(\S.*):', line), re.fullmatch(r'  (?:    )?(-\S.*?) {2,}(.+)', line)
        if heading and 'Options' in line:
            if not options:
                yield '.SH OPTIONS\n'
            yield f'.SS {plain(heading[1])}\n'
            options = True
        elif heading:
            yield f'.SH {plain(heading[1].upper())}\n'
            options = False
        elif options and found:
            yield option(*found.groups())
        elif line.startswith('  ') and not options:
            yield f'.IP\n{plain(line.strip())}\n'
        elif line and not options:
            yield f'{plain(line)}\n'
        elif line:
            sys.exit(f'manual.py: neither an option nor a heading: {line}')


def main():
    text, version, output = sys.argv[1:]
    with open(text, encoding='utf-8') as file:
        lines = file.read().split('\n')
    result = ''.join(page(lines, version))
    with open(output, 'w', encoding='ascii') as file:
        file.write(result)


main()
