# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plans, devices and threads that are kept from call to call.

A plan is made once for each mask, kind of pixel, boundary, variant, and stream of a device. The last PLANS plans are kept. Each
stream of each device has a device of the library for itself, so that no call waits for the work of another stream.
"""
import atexit
import collections
import contextlib
import os
import threading

from ._arrays import stream_handle
from ._library import LIBRARY, call, make

PLANS = 64


class Pool:
    device = None  # as of a Device

    def __init__(self, threads):
        self.pointer = make('convolve_pool_new', threads)

    def __del__(self):
        if getattr(self, 'pointer', None):
            LIBRARY.convolve_pool_free(self.pointer)


class Device:
    """A stream of a device. owner keeps the stream alive. One thread at a time may use a device: the one that has the lock."""

    def __init__(self, number, handle, owner):
        self.lock, self.owner = threading.RLock(), owner
        self.device = make('convolve_device_new', number)
        call('convolve_device_use_stream', self.device, handle)

    def __del__(self):
        if getattr(self, 'device', None):
            LIBRARY.convolve_device_free(self.device)


class Plan:
    """A plan of masks, or of layers where kind is _layer. It keeps the device or the pool that it runs on."""

    def __init__(self, kind, on, *arguments):
        self.unref, self.on = getattr(LIBRARY, f'convolve{kind}_plan_unref'), on
        with self.turn():
            self.pointer = make(*arguments)
        if not on.device:
            getattr(LIBRARY, f'convolve{kind}_plan_set_pool')(self.pointer, on.pointer)
        elif not getattr(LIBRARY, f'convolve{kind}_plan_on_device')(self.pointer):
            raise ValueError('variant: a variant of the CPU was named, and the arrays are in CUDA memory')

    def turn(self):
        return self.on.lock if self.on.device else contextlib.nullcontext()

    def run(self, function, task):
        with self.turn():
            call(function, self.pointer, task)

    def __del__(self):
        if getattr(self, 'pointer', None):
            with self.turn():
                self.unref(self.pointer)


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.plans, self.devices, self.threads, self.pool = collections.OrderedDict(), {}, 0, None


_state = State()
_forgotten = []  # of the process that this one was forked from: threads and devices that are not here


def _after_fork():
    global _state
    _forgotten.append(_state)
    threads, _state = _state.threads, State()
    _state.threads = threads


os.register_at_fork(after_in_child=_after_fork)


def clear():
    """Gives back all plans, devices and threads that are kept, after the work that was enqueued is done."""
    with _state.lock:
        plans, devices = list(_state.plans.values()), list(_state.devices.values())
        _state.plans.clear()
        _state.devices.clear()
        _state.pool = None
    del plans, devices


atexit.register(clear)


def set_threads(threads):
    """Sets how many threads work on an array in host memory, the caller included; 0 stands for all cores.

    The bytes do not depend on the number. Raises ValueError below 0 and above 1024.
    """
    if isinstance(threads, bool) or threads != int(threads) or not 0 <= threads <= 1024:
        raise ValueError(f'threads: {threads} is not a number from 0 to 1024')
    with _state.lock:
        _state.threads, _state.pool = int(threads), None
        for key in [key for key, plan in _state.plans.items() if not plan.on.device]:
            del _state.plans[key]


def place(number, stream):
    """What a plan runs on: the pool of threads where number is None, otherwise the stream of that device."""
    with _state.lock:
        if number is None:
            if _state.pool is None:
                _state.pool = Pool(_state.threads)
            return _state.pool
        key = number, stream_handle(stream)
        if key not in _state.devices:
            _state.devices[key] = Device(*key, stream)
        return _state.devices[key]


def plan(key, kind, on, arguments):
    """The plan of this key on a pool or a device, or a new one of what arguments() returns."""
    key = key, kind, on
    with _state.lock:
        found = _state.plans.get(key)
        if found:
            _state.plans.move_to_end(key)
            return found
    made = Plan(kind, on, *arguments())
    with _state.lock:
        _state.plans[key] = made
        old = [_state.plans.popitem(last=False)[1] for _ in range(len(_state.plans) - PLANS)]
    del old  # after the lock, because a plan waits for its device
    return made
