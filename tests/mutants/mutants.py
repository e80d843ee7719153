# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the lists of planted faults. README.md in this folder explains their form."""
import pathlib
import re

KEYS = ('file', 'fault', 'test', 'unseen')


class ListError(Exception):
    pass


class Mutant:
    def __init__(self, name, where):
        self.name = name
        self.where = where  # "list.txt:12", for messages
        self.file = self.fault = self.test = self.unseen = ''
        self.old = []
        self.new = []

    def apply(self, text):
        """The text of the file with the fault; the old text has to be there exactly once."""
        old, new = '\n'.join(self.old), '\n'.join(self.new)
        count = text.count(old)
        if count != 1:
            raise ListError(f'{self.where}: {self.name}: its text is {count} times in {self.file}, and not once')
        return text.replace(old, new)


def read_list(path):
    """The faults of one list."""
    mutants = []
    key = None
    for number, line in enumerate(path.read_text().split('\n'), 1):
        where = f'{path.name}:{number}'
        name = re.fullmatch(r'\[([a-z0-9-]+)\]', line)
        if name:
            mutants.append(Mutant(name.group(1), where))
            key = None
        elif line == '' or line.startswith('#'):
            key = None
        elif not mutants:
            raise ListError(f'{where}: text before the first [name]')
        elif line[0] in '-+' and (len(line) == 1 or line[1] == ' '):
            (mutants[-1].old if line[0] == '-' else mutants[-1].new).append(line[2:])
        elif line.startswith('  ') and key:
            setattr(mutants[-1], key, getattr(mutants[-1], key) + ' ' + line.strip())
        else:
            key, colon, value = line.partition(':')
            if not colon or key not in KEYS:
                raise ListError(f'{where}: {line!r} is not known')
            setattr(mutants[-1], key, value.strip())
    return mutants


def read_all(top):
    """All faults, whose texts are checked against the tree in top."""
    mutants = []
    for path in sorted((top / 'tests/mutants').glob('*.txt')):
        mutants += read_list(path)
    names = set()
    for mutant in mutants:
        if mutant.name in names:
            raise ListError(f'{mutant.where}: {mutant.name} is there twice')
        names.add(mutant.name)
        if not mutant.file or not mutant.fault or not mutant.old:
            raise ListError(f'{mutant.where}: {mutant.name} has no file, no fault or no text')
        if mutant.old == mutant.new:
            raise ListError(f'{mutant.where}: {mutant.name} changes nothing')
        path = pathlib.Path(top) / mutant.file
        if not path.is_file():
            raise ListError(f'{mutant.where}: {mutant.name}: there is no file {mutant.file}')
        mutant.apply(path.read_text())
    return mutants
