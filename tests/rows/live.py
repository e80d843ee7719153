#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Presses the keys of examples/live.c and compares what the program prints: tests/rows/live.py pipe|variants|terminal

pipe: keys from a pipe, and lines to a pipe. variants: the same, with every kernel variant. terminal: both are a
terminal, which must be as before after each way in which the program can end. Exits 1 and shows the output where
something is not as expected.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

PROGRAM = ['build/examples/live', '--sink=fakesink sync=true', 'examples/clip.mp4']
SECONDS = 30  # within which each expected text must come


class Live:
    """The program, with keys and output through the file descriptors that are given."""

    def __init__(self, keys, output, child_keys, child_output, arguments=()):
        self.keys, self.output, self.text, self.place = keys, output, '', 0
        environment = {name: value for name, value in os.environ.items() if name not in ('DISPLAY', 'WAYLAND_DISPLAY')}
        self.program = subprocess.Popen(PROGRAM + list(arguments), stdin=child_keys, stdout=child_output,
                                        stderr=child_output, env=environment, start_new_session=True)

    def press(self, key):
        os.write(self.keys, key.encode())

    def read(self, seconds):
        """Reads what comes within the time; FALSE at the end of the output."""
        if not select.select([self.output], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.output, 65536)
        except OSError:  # the other side of a terminal is gone
            data = b''
        self.text += data.decode(errors='replace')
        return bool(data)

    def expect(self, pattern):
        """Waits for the pattern in what was printed since the last match."""
        end = time.monotonic() + SECONDS
        while True:
            match = re.compile(pattern).search(self.text, self.place)
            if match:
                self.place = match.end()
                return
            if time.monotonic() > end or not self.read(1):
                self.fail(f'"{pattern}" did not come')

    def fail(self, why):
        print(self.text)
        self.program.kill()
        sys.exit(f'{why}; last seen: {self.text[self.place:][-300:]!r}')

    def ends(self, status):
        try:
            code = self.program.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.fail('the program does not end')
        if code != status:
            while self.read(0.2) and select.select([self.output], [], [], 0)[0]:
                pass
            self.fail(f'exit status {code} instead of {status}')


def over_pipes(arguments=()):
    child_keys, keys = os.pipe()
    output, child_output = os.pipe()
    live = Live(keys, output, child_keys, child_output, arguments)
    os.close(child_keys)
    os.close(child_output)
    return live


def playing(line):
    """A status line with frames coming, a time, and a variant of the CPU or another."""
    return r'(?m)^[1-9][\d.]* frames/s, [\d.]+ ms a frame, [a-z][\w, -]*: ' + line + r'$'


def try_variants(live, most):
    """Each variant runs, or is refused with a reason and the film goes on. Returns how many were tried before auto."""
    for count in range(most):
        live.press('v')
        live.expect(r'cudaconvolve mask=sharpen(?: kernel-variant=[\w-]+)?\n')
        name = re.search(r'kernel-variant=([\w-]+)\n$', live.text[:live.place])
        if not name:
            return count
        live.expect(r'(refused: \w.*\n|frames/s, [\d.]+ ms a frame, ' + name.group(1) + ': cudaconvolve)')
        if live.text[:live.place].endswith('\n'):
            live.expect(playing(r'cudaconvolve mask=sharpen(?: kernel-variant=[\w-]+)?'))
    return most


def variants():
    live = over_pipes(['mask=sharpen'])
    live.expect(playing('cudaconvolve mask=sharpen'))
    count = try_variants(live, 1000)
    print(f'{count} variants were tried')
    if count < 10:
        live.fail(f'only {count} variants were tried')
    live.press('q')
    live.ends(0)


def pipe():
    live = over_pipes()
    live.expect(playing('cudaconvolve'))
    # Each key, and the properties that the status lines show after the key.
    for key, line in (('m', 'mask=binomial'), ('M', ''), ('w', 'mask-width=3'), ('w', 'mask-width=5'),
                      ('W', 'mask-width=3'), ('s', 'mask-width=3 sigma=0.5'), ('S', 'mask-width=3'), ('W', ''),
                      ('W', ''), ('b', 'boundary=reflect'), ('B', ''), ('B', 'boundary=zero'),
                      ('O', 'bias=-0.125 boundary=zero'), ('o', 'boundary=zero'), ('r', '')):
        live.press(key)
        live.expect(r': cudaconvolve' + (' ' if line else '') + re.escape(line) + r'\n')
    live.expect(playing('cudaconvolve'))
    # A width that the preset does not take is refused, and goes back.
    live.press('mm')
    live.expect('mask=sharpen\n')
    live.expect(playing('cudaconvolve mask=sharpen'))
    live.press('w')
    live.expect(playing('cudaconvolve mask=sharpen mask-width=3'))
    live.press('w')
    live.expect('refused: mask-width: 5 contradicts the preset sharpen')
    live.expect(playing('cudaconvolve mask=sharpen(?: mask-width=3)?'))
    live.press('W')
    live.expect(playing('cudaconvolve mask=sharpen'))
    try_variants(live, 3)
    live.press('r')
    live.expect(playing('cudaconvolve'))
    live.press(' ')
    live.expect(r'\n0\.0 frames/s, paused: cudaconvolve')
    live.press(' ')
    live.expect(playing('cudaconvolve'))
    live.press('hx')
    live.expect('m M  next, previous mask')
    live.expect('x: no key of this program')
    live.press('q')
    live.ends(0)
    # Without further keys the film ends at its end.
    live = over_pipes(['mask=laplacian'])
    live.expect(playing('cudaconvolve mask=laplacian'))
    os.close(live.keys)
    live.ends(0)
    for arguments, text in ((['mask=nonsense'], 'not a preset'), (['masc=gaussian'], 'no such property')):
        live = over_pipes(arguments)
        live.expect(text)
        live.ends(1)


def terminal():
    for name in ('q', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGABRT', 'hangup'):
        keys, child = pty.openpty()
        before = termios.tcgetattr(child)
        live = Live(keys, keys, child, child)
        live.expect(r'\r\x1b\[K[1-9][\d.]* frames/s, [\d.]+ ms a frame, .*: cudaconvolve')
        if termios.tcgetattr(child)[3] & (termios.ICANON | termios.ECHO):
            live.fail('the terminal waits for Enter, or shows the keys')
        live.press('m')
        live.expect(r'\r\x1b\[K.*mask=binomial')
        status = 0
        if name == 'q':
            live.press('q')
        elif name == 'hangup':
            os.close(keys)
            os.close(child)
            live.program.wait(SECONDS)
            continue
        else:
            number = getattr(signal, name)
            live.program.send_signal(number)
            status = -number if name in ('SIGQUIT', 'SIGABRT') else 0
        live.ends(status)
        if termios.tcgetattr(child) != before:
            live.fail(f'after {name} the terminal is not as before')
        os.close(keys)
        os.close(child)
    stop_and_go_on()


def stop_and_go_on():
    """Ctrl-Z and fg: the terminal is as before while the program is stopped."""
    keys, child = pty.openpty()
    before = termios.tcgetattr(child)
    live = Live(keys, keys, child, child)
    live.expect('frames/s')
    live.program.send_signal(signal.SIGTSTP)
    os.waitpid(live.program.pid, os.WUNTRACED)
    if termios.tcgetattr(child) != before:
        live.fail('after Ctrl-Z the terminal is not as before')
    live.program.send_signal(signal.SIGCONT)
    live.place = len(live.text)
    live.expect('frames/s')
    if termios.tcgetattr(child)[3] & (termios.ICANON | termios.ECHO):
        live.fail('after Ctrl-Z and fg the terminal waits for Enter, or shows the keys')
    live.press('q')
    live.ends(0)


if __name__ == '__main__':
    if sys.argv[1:] not in (['pipe'], ['variants'], ['terminal']):
        sys.exit(__doc__)
    globals()[sys.argv[1]]()
