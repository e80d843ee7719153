# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plants the faults of the lists in a copy of the tree, and tells which test finds each. README.md in this folder has more."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from mutants import ListError, read_all

TOP = pathlib.Path(__file__).resolve().parents[2]
WORK = TOP / 'build-mutants'
TREE, BUILD = WORK / 'tree', WORK / 'build'
LOGS = TOP / 'out/mutants'
SEED = '20261123'
SKIP = 77

# The tests of the kernels in smaller parts, so that a fault is found early: some random cases, and each of the program's checks.
CHECKS = re.findall(r'^  RUN \("\w+", "([\w-]+)"', (TOP / 'tests/kernels/convolve_check.c').read_text(), re.MULTILINE)
PARTS = {f'kernels-{name}': ['--check', name] for name in CHECKS} | {
    'kernels-random': ['--check', 'random', '--cases', '600'],
    'kernels-definition': ['--check', 'fixed', '--variant', 'cpu-reference'],
    'kernels-fixed': ['--check', 'fixed', '--variant', 'auto'],
}

# The tests that are likely to find a fault in a folder, in this order. All others follow, the fastest first.
ORDER = [
    ('props/', ['props', 'sources', 'presets', 'masks', 'pairs', 'layer_caps', 'weights']),
    ('kernels/layer/', ['layer', 'layer_element', 'layer_over_device']),
    ('kernels/batch.c', ['region', 'regions', 'regions_over_device']),
    ('kernels/cpu/regions/region.c', ['region', 'regions']),
    ('kernels/cpu/regions/blur.c', ['region', 'regions']),
    ('kernels/', ['kernels-api', 'kernels-random', 'kernels-definition', 'kernels-fixed', *(f'kernels-{name}' for name in CHECKS), 'region', 'layer', 'golden']),
    ('plugin/layer', ['layer_caps', 'layer_element', 'layer_over_device', 'layout']),
    *((f'plugin/regions/{name}.c', ['detections', 'regions']) for name in ('boxes', 'detections', 'frametime', 'lookahead', 'tracks')),
    ('plugin/', ['element', 'errors', 'memory', 'masks', 'layer_caps', 'pairs', 'windows', 'regions', 'flights']),
    ('examples/', ['film', 'film_over_device', 'detector', 'faces', 'embed']),
]


class Test:
    def __init__(self, name, command, env, targets):
        self.name, self.command, self.env, self.targets = name, command, env, targets
        self.seconds = None  # of the tree without a fault

    def only(self, group):
        """The test with one of its functions alone."""
        test = Test(f'{self.name}/{group}', self.command, dict(self.env, GST_CHECKS=group), self.targets)
        test.seconds = self.seconds
        return test

    def limit(self):
        """Seconds after which a test counts as hung."""
        return 300 if self.seconds is None else 60 + 5 * self.seconds

    def run(self, log):
        """The exit status, or None where the limit was passed."""
        env = dict(os.environ, CUDACONVOLVE_SEED=SEED, **self.env)
        process = subprocess.Popen(self.command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=BUILD,
                                   start_new_session=True)
        try:
            return process.wait(self.limit())
        except subprocess.TimeoutExpired:
            return None
        finally:
            # Also what the test has started.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


def files_of_tree():
    """Tracked files, and new ones that are not ignored; without git, everything but folders of builds."""
    git = subprocess.run(['git', '-C', TOP, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                         capture_output=True, check=False)
    if git.returncode == 0 and git.stdout:
        names = [os.fsdecode(name) for name in git.stdout.split(b'\0') if name]
    else:
        names = [str(path.relative_to(TOP)) for path in TOP.rglob('*')]
    return [name for name in names if not name.startswith(('build', 'out/', '.git/'))
            and ((TOP / name).is_file() or (TOP / name).is_symlink())]


def content_for_copy(name):
    """The copy is compiled with less optimization: it is built very often."""
    content = (TOP / name).read_bytes()
    if name == 'kernels/meson.build':
        content = content.replace(b"'-O3'", b"'-O1'")
    return content


def copy_tree():
    """Files that are already there and equal keep their time, so that little is built again."""
    names = set(files_of_tree())
    for path in TREE.rglob('*') if TREE.exists() else []:
        if path.is_file() and str(path.relative_to(TREE)) not in names:
            path.unlink()
    for name in names:
        to = TREE / name
        if (TOP / name).is_symlink():
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.is_symlink():
                to.symlink_to(os.readlink(TOP / name))
            continue
        content = content_for_copy(name)
        if to.is_file() and to.read_bytes() == content:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(content)
        shutil.copymode(TOP / name, to)


def set_up(log):
    env = dict(os.environ)
    if 'CC' not in env and shutil.which('ccache'):
        env['CC'] = 'ccache cc'
    options = ['-Dcuda=disabled', '-Dbuildtype=plain', '-Doptimization=1']
    return subprocess.run(['meson', 'setup', BUILD, TREE] + options, env=env, stdout=log, stderr=log,
                          check=False).returncode == 0


def build(targets, log):
    return subprocess.run(['ninja', '-C', BUILD] + sorted(targets), stdout=log, stderr=log, check=False).returncode == 0


def introspect(what):
    return json.loads(subprocess.run(['meson', 'introspect', BUILD, what], capture_output=True, check=True).stdout)


def find_tests():
    files = {target['id']: [os.path.relpath(name, BUILD) for name in target['filename']]
             for target in introspect('--targets')}
    tests = {}
    for row in introspect('--tests'):
        if row['name'].endswith('-device'):
            continue
        targets = {name for target in row['depends'] for name in files[target]}
        # Arguments may name outputs relative to the folder of the build.
        tests[row['name']] = Test(row['name'], row['cmd'], row['env'], targets)
    groups = [tests.pop(name) for name in list(tests) if name.startswith('kernels-')]
    for name, arguments in PARTS.items():
        command = groups[0].command[:1] + ['--host', '--seed', SEED] + arguments
        tests[name] = Test(name, command, groups[0].env, groups[0].targets)
    return tests


def prepare(log):
    """The copy, built; a folder that was left half built is made anew."""
    copy_tree()
    for attempt in range(2):
        if (BUILD / 'build.ninja').is_file() or set_up(log):
            tests = None
            # Ninja sets the folder up again where a meson.build has changed.
            if build({'build.ninja'}, log):
                tests = find_tests()
                if build({target for test in tests.values() for target in test.targets}, log):
                    return tests
        if attempt == 0:
            shutil.rmtree(BUILD, ignore_errors=True)
    return None


def run_baseline(tests):
    """The tests of the tree without a fault; how long they take."""
    good = True
    for name in list(tests):
        test = tests[name]
        path = LOGS / f'unchanged-{name}.log'
        start = time.monotonic()
        with open(path, 'w') as log:
            status = test.run(log)
        test.seconds = time.monotonic() - start
        if status == SKIP:
            del tests[name]
        elif status != 0:
            good = False
            print(f'{name} fails without a fault: {path.relative_to(TOP)}', flush=True)
    return good


def check_hints(mutants):
    """Fails where a list names a test that no meson.build of tests/ has; one that this machine lacks is no fault."""
    words = {word for path in (TOP / 'tests').rglob('meson.build') for word in re.findall(r'[\w-]+', path.read_text())}
    for mutant in mutants:
        for hint in mutant.test.split():
            name = hint.partition('/')[0]
            if name not in PARTS and name not in words and re.sub('_(over_)?device$', '', name) not in words:
                raise ListError(f'{mutant.where}: {mutant.name}: there is no test {name}')


def missing_tests(mutant, tests):
    """The tests that the list names, where this machine has none of them."""
    names = [hint.partition('/')[0] for hint in mutant.test.split()]
    return [] if any(name in tests for name in names) else names


def order_tests(mutant, tests):
    """First the tests that the list names, then those for the folder, then the others."""
    first = []
    for hint in mutant.test.split():
        name, _, group = hint.partition('/')
        if name in tests:
            first.append(tests[name].only(group) if group else tests[name])
    names = list(next(names for start, names in ORDER if mutant.file.startswith(start)))
    names += sorted(tests, key=lambda name: tests[name].seconds or 0)
    return first + [tests[name] for name in dict.fromkeys(names) if name in tests and tests[name] not in first]


def plant(mutant, tests, only_likely):
    """The name of the test that found the fault; '' where none did; None where it does not compile."""
    path = TREE / mutant.file
    content = path.read_text()
    path.write_text(mutant.apply(content))
    try:
        with open(LOGS / f'{mutant.name}.log', 'w') as log:
            for test in order_tests(mutant, tests)[:only_likely]:
                if not build(test.targets, log):
                    return None
                print(f'--- {test.name}', file=log, flush=True)
                status = test.run(log)
                if status == SKIP:
                    tests.pop(test.name.partition('/')[0], None)
                elif status != 0:
                    return test.name + (' (too long)' if status is None else '')
        return ''
    finally:
        path.write_text(content)


def main():
    parser = argparse.ArgumentParser(prog='tests/long/mutants.sh', description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help='only faults whose names begin so')
    parser.add_argument('--list', action='store_true', help='print the faults and check the lists, no more')
    parser.add_argument('--no-baseline', action='store_true', help='do not run the tests without a fault first')
    parser.add_argument('--likely', type=int, metavar='N', help='run only the N tests that are likeliest to find a fault')
    options = parser.parse_args()

    mutants = read_all(TOP)
    if options.names:
        mutants = [mutant for mutant in mutants if mutant.name.startswith(tuple(options.names))]
    if not mutants:
        raise ListError('there is no such fault')
    check_hints(mutants)
    if options.list:
        for mutant in mutants:
            print(f'{mutant.name:36} {mutant.file:36} {mutant.fault}')
        print(f'{len(mutants)} faults, {sum(bool(mutant.unseen) for mutant in mutants)} that no test can see')
        return 0

    start = time.monotonic()
    LOGS.mkdir(parents=True, exist_ok=True)
    with open(LOGS / 'build.log', 'w') as log:
        tests = prepare(log)
    if tests is None:
        print('the tree does not build: out/mutants/build.log')
        return 1
    print(f'built, {time.monotonic() - start:.0f} s', flush=True)
    if not options.no_baseline:
        start_of_tests = time.monotonic()
        if not run_baseline(tests):
            return 1
        print(f'{len(tests)} tests pass without a fault, seed {SEED}, {time.monotonic() - start_of_tests:.0f} s', flush=True)

    print(f'{"fault":36} {"file":36} {"found by":24} seconds', flush=True)
    found = explained = elsewhere = 0
    bad = []
    # A fault that no test can see takes all tests, and so comes last.
    for mutant in sorted(mutants, key=lambda mutant: bool(mutant.unseen)):
        start_of_mutant = time.monotonic()
        by = plant(mutant, tests, options.likely)
        missing = missing_tests(mutant, tests)
        seconds = time.monotonic() - start_of_mutant
        if by:
            found += 1
            if mutant.unseen:
                bad.append(f'{mutant.name}: the list says that no test can see it, and {by} does')
        elif by is None:
            bad.append(f'{mutant.name}: does not compile')
        elif mutant.unseen:
            explained += 1
        elif missing:
            elsewhere += 1
        else:
            bad.append(f'{mutant.name}: no test finds it: {mutant.fault}')
        result = by or ('does not compile' if by is None else 'none; explained' if mutant.unseen
                        else f'not here: {missing[0]}' if missing else 'NONE')
        print(f'{mutant.name:36} {mutant.file:36} {result:24} {seconds:7.1f}', flush=True)
    for line in bad:
        print(line)
    print(f'{len(mutants)} faults: {found} found, {explained} explained, {elsewhere} for tests that this machine does not have, '
          f'{len(bad)} wrong, {time.monotonic() - start:.0f} s')
    return 1 if bad else 0


if __name__ == '__main__':
    try:
        sys.exit(main())
    except ListError as error:
        print(error)
        sys.exit(1)
