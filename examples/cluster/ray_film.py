#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Convolves films with Ray Data: ray_film.py FOLDER [FOLDER...] [--gpus=0.25] [--cpus=1] [--tries=3]

Each FOLDER has a plan of film.py. Pieces that are missing become rows of one dataset, over all films; a row is made by the
program convolve_segment. Run again after any failure: what is there is not made again. `film.py join` follows.
"""
import argparse
import json
import os
import subprocess
import sys

import ray

BUSY = 75  # exit status where another process makes the piece
BLOCKS_AT_MOST = 4096  # each block is a task of Ray; a block has one piece, or several where there are more pieces
PASSED_ON = ('CONVOLVE_SEGMENT', 'GST_PLUGIN_PATH', 'GST_REGISTRY', 'LD_LIBRARY_PATH')
HERE = os.path.dirname(os.path.abspath(__file__))


def missing(folder):
    """The numbers of the pieces that are missing. film.py knows, in the distribution's Python, which has GStreamer."""
    listing = subprocess.run([os.path.join(HERE, 'film.py'), 'status', '--list', '--long', folder], check=True,
                             stdout=subprocess.PIPE).stdout.decode().split()
    return [int(word) for word in listing]


def make(row, tries):
    """Makes one piece; the row with the exit status and the record."""
    command = [os.path.join(HERE, 'film.py'), 'piece', '--tries=%d' % tries, row['folder'], str(row['number'])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return {**row, 'status': done.returncode, 'said': (done.stderr or done.stdout).decode(errors='replace')[-500:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folders', nargs='+', metavar='FOLDER')
    parser.add_argument('--gpus', type=float, default=0, help='of one piece; a fraction lets several pieces share a GPU')
    parser.add_argument('--cpus', type=float, default=1, help='of one piece')
    parser.add_argument('--tries', type=int, default=3, help='of one piece')
    options = parser.parse_args()
    rows = [{'folder': os.path.abspath(folder), 'number': number} for folder in options.folders for number in missing(folder)]
    if not rows:
        print('nothing is missing')
        return 0
    # Workers on other machines need to know where the programs are.
    ray.init(runtime_env={'env_vars': {name: os.environ[name] for name in PASSED_ON if name in os.environ}})
    made = ray.data.from_items(rows, override_num_blocks=min(len(rows), BLOCKS_AT_MOST)).map(
        make, fn_kwargs={'tries': options.tries}, num_gpus=options.gpus, num_cpus=options.cpus).take_all()
    failed = [row for row in made if row['status'] not in (0, BUSY)]
    busy = sum(row['status'] == BUSY for row in made)
    for row in failed:
        print('%s, piece %d: exit status %d: %s' % (row['folder'], row['number'], row['status'], row['said'].strip()),
              file=sys.stderr)
    print(json.dumps({'there': len(made) - len(failed) - busy, 'made by another process': busy, 'failed': len(failed)}))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
