#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long an archive takes on many GPUs: a simulation from measured parts.

  simulate.py RECORDS... --decode=S --convolve=S --encode=S --check=S [OPTION...]

Measured parts, given by the caller:
  RECORDS                 records of pieces (*.json): how much slower or faster than the mean each piece was, drawn at random
  --decode --convolve --encode --check   seconds a frame of one worker, from figures.csv: a column divided by frames
  --shared                frames a second that one GPU gives to all its workers at the most
  --start                 seconds that a worker needs before the first frame (CUDA's start included)
  --join                  frames a second of one join, its check included
Assumed parts, named in the table:
  --workers on a GPU, --piece seconds of a piece, --rates bytes a second of the whole storage, --failures share of tries
  that die at a random moment, --slow share of the GPUs that are slower by --slowness; bytes of a frame: --bytes
  written, --read read

Every worker takes the next piece when it is free. A try that dies is repeated, by the worker that is free first. Storage
is shared by the workers: each gets its part of the rate.
"""
import argparse
import heapq
import json
import random


def spread_of(paths):
    """Seconds a frame of each piece, divided by their mean."""
    seconds = []
    for path in paths:
        with open(path) as file:
            record = json.load(file)
        seconds.append(record["seconds"] / record["frames"])
    mean = sum(seconds) / len(seconds)
    return [value / mean for value in seconds]


def simulate(options, gpus, rate, spread, chance):
    """
    Returns the seconds until the last piece is there, the seconds of joining after that, tries that died, the seconds of
    workers that these took, the mean idle time of a worker at the end, and whether storage is what limits.
    """
    frames_of_piece = options.piece * options.fps
    pieces = int(options.hours * 3600 / options.piece)
    workers = gpus * options.workers
    own = options.decode + options.convolve + options.encode + options.check
    # A GPU does not give its workers more than it has.
    frame = max(own, options.workers / options.shared)
    transfer = frames_of_piece * (options.bytes + options.read) / (rate / workers)
    slow = set(chance.sample(range(gpus), round(gpus * options.slow)))
    free = [(0.0, worker) for worker in range(workers)]
    lost, tries, left, last = 0.0, 0, pieces, 0.0
    while left > 0:
        now, worker = heapq.heappop(free)
        factor = options.slowness if worker % gpus in slow else 1
        tries += 1
        # Reading and writing go on while frames are computed.
        length = options.start + max(frames_of_piece * frame * factor * chance.choice(spread), transfer)
        if chance.random() < options.failures:
            length *= chance.random()
            lost += length
        else:
            left -= 1
            last = max(last, now + length)
        heapq.heappush(free, (now + length, worker))
    films = max(1, round(options.hours / options.film))
    rounds = -(-films // (gpus * options.joins))
    joining = rounds * options.film * 3600 * options.fps / options.join
    busy = sum(time for time, _ in free) / workers
    return last, joining, tries - pieces, lost, last - busy, transfer > frames_of_piece * frame


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+")
    for name in ("decode", "convolve", "encode", "check", "start", "join"):
        parser.add_argument("--" + name, type=float, required=True)
    parser.add_argument("--shared", type=float, default=float("inf"))
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--joins", type=int, default=1, help="joins at once for each GPU")
    parser.add_argument("--hours", type=float, default=10000)
    parser.add_argument("--film", type=float, default=2, help="hours of a film")
    parser.add_argument("--fps", type=float, default=25)
    parser.add_argument("--piece", type=float, default=60)
    parser.add_argument("--bytes", type=float, default=40000)
    parser.add_argument("--read", type=float, default=40000)
    parser.add_argument("--failures", type=float, default=0.01)
    parser.add_argument("--slow", type=float, default=0.05, help="share of the GPUs that are slow")
    parser.add_argument("--slowness", type=float, default=3, help="how much slower these are")
    parser.add_argument("--rates", type=float, nargs="+", default=[1e9, 10e9, 100e9])
    parser.add_argument("--gpus", type=int, nargs="+", default=[8, 64, 512])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args()
    spread = spread_of(options.records)
    print("%d pieces measured: the slowest took %.2f of the mean, the fastest %.2f; seed %d\n" %
          (len(spread), max(spread), min(spread), options.seed))
    print("| GPUs | storage, GB/s | pieces, hours | joining after that, hours | tries lost | worker hours lost | "
          "idle at the end, hours | limit |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for gpus in options.gpus:
        for rate in options.rates:
            last, joining, died, lost, idle, storage = simulate(options, gpus, rate, spread, random.Random(options.seed))
            steps = {"decoding": options.decode, "convolving": options.convolve, "encoding": options.encode,
                     "checking": options.check}
            own = sum(steps.values())
            limit = "storage" if storage else "the GPU's share" if options.workers / options.shared > own else \
                max(steps, key=steps.get)
            print("| %d | %g | %.1f | %.1f | %d | %.0f | %.2f | %s |" %
                  (gpus, rate / 1e9, last / 3600, joining / 3600, died, lost / 3600, idle / 3600, limit))


if __name__ == "__main__":
    main()
