#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the tables of figures in the project's .md files from the CSV files in tests/results/.

    tests/bench/tables.py            writes every table
    tests/bench/tables.py --check    writes nothing; exits 1 and names the tables that are stale

A table stands between the lines "<!-- table: NAME -->" and "<!-- end -->". TABLES has a function for each NAME. A figure
that changes is measured again into its CSV file, and never written by hand.
"""
import csv
import math
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
RESULTS = TOP / 'tests' / 'results'
BLOCK = re.compile(r'^(<!-- table: ([\w-]+) -->)\n(.*?)^(<!-- end -->)$', re.MULTILINE | re.DOTALL)
FORMATS = ('NV12', 'RGB', 'RGBA', 'P010')


def read(name):
    """The rows of a CSV file as dictionaries; None where there is no such file."""
    path = RESULTS / name
    if not path.exists():
        return None
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def figure(value):
    """A time with about three digits; '-' where none was measured."""
    if value is None:
        return '-'
    value = float(value)
    return f'{value:,.0f}' if value >= 99.95 else f'{value:.1f}' if value >= 9.995 else f'{value:.2f}'


def beside(own, peer):
    """The cells of the element and of another library; the other library's is bold where that is 2% faster."""
    text = figure(peer)
    return [figure(own), f'**{text}**' if peer is not None and own is not None and float(peer) < 0.98 * float(own) else text]


def table(header, rows):
    lines = [header, ['---'] * len(header)] + rows
    return ''.join('| ' + ' | '.join(line) + ' |\n' for line in lines)


def unique(values):
    return list(dict.fromkeys(values))


def beside_header(peer, alone):
    """Two columns for each format; the other library has the luma plane alone of the formats in alone."""
    header = ['mask']
    for name in FORMATS:
        header += [name, peer + (', luma alone' if name in alone else '')]
    return header


def speed_gpu():
    """auto on 4K frames beside NPP, microseconds: masks as users write them."""
    own, peers = read('h200-usual.csv'), read('h200-usual-npp.csv')
    times = {(row['kind'], row['format']): row['median_us'] for row in own
             if row['size'] == '4K' and row['variant'] == 'auto'}
    copies = {row['format']: row['copy_us'] for row in own if row['size'] == '4K'}
    npp = {(row['kind'], row['format'].split()[0]): row['median_us'] for row in peers if row['size'] == '4K'}
    rows = [['a plain copy'] + [cell for name in FORMATS for cell in (figure(copies.get(name)), '')]]
    for kind in unique(row['kind'] for row in own):
        cells = [f'`{kind}`' if '=' in kind else kind]
        for name in FORMATS:
            cells += beside(times.get((kind, name)), npp.get((kind, name)))
        rows.append(cells)
    return table(beside_header('NPP', ('NV12', 'P010')), rows)


def speed_cpu():
    """The variant cpu on 1080p frames beside the fastest other library, two threads, milliseconds."""
    rows = [row for name in ('cpu-usual.csv', 'cpu-usual-peers.csv') for row in read(name)
            if (row['size'], row['threads']) == ('1080p', '2')]
    times = {}
    for row in rows:
        key = (row['kind'], row['format'].upper(), row['what'].startswith('cpu'))
        times[key] = min(times.get(key, math.inf), float(row['min_us']) / 1000)
    lines = []
    for kind in unique(row['kind'] for row in rows):
        cells = [f'`{kind}`' if '=' in kind else kind]
        for name in FORMATS:
            cells += beside(times.get((kind, name, True)), times.get((kind, name, False)))
        lines.append(cells)
    return table(beside_header('other', ()), lines)


STOCK = 'stock: cudaupload ! cudaconvolve ! cudadownload'
FRESH = 'stock, fresh memory every frame'
# What README calls a way, its name in the CSV files, and the way of GStreamer's own elements that it stands beside.
PIPELINES = (('`cudaupload ! cudaconvolve ! cudadownload`', STOCK, STOCK),
             ('`cudaconvolve`', 'cudaconvolve, its pool', STOCK),
             ('`cudaconvolve frames-in-flight=2`', 'cudaconvolve frames-in-flight=2, its pool', STOCK),
             ('`cudaconvolve frames-in-flight=3`', 'cudaconvolve frames-in-flight=3, its pool', STOCK),
             ("upstream's own pool, aligned as the element asks", 'cudaconvolve, a foreign pool with its parameters', STOCK),
             ("upstream's own pool, not aligned", 'cudaconvolve, a foreign pool', STOCK),
             ('`cudaupload ! cudaconvolve ! cudadownload`, new memory for every frame', FRESH, FRESH),
             ('`cudaconvolve`, new memory for every frame', 'cudaconvolve, fresh memory every frame', FRESH),
             ('CUDA memory in and out', 'CUDA memory to CUDA memory', None))


def pipeline():
    """A frame through a pipeline, microseconds, and how many times as fast as GStreamer's own elements."""
    now, newer = read('h200-pipeline.csv'), read('h200-pipeline-1.26.csv')
    times = {(row['size'], row['way']): float(row['frame_us']) for row in now}
    later = {(row['size'], row['way']): float(row['frame_us']) for row in newer}
    limits = {row['size']: row['limit_us'] for row in now}
    rows = [['the bus alone, both directions at once', figure(limits['1080p']), '', figure(limits['4K']), '']]
    for title, way, stock in PIPELINES:
        cells = [title]
        for size in ('1080p', '4K'):
            cells += [figure(times[size, way]), f'{times[size, stock] / times[size, way]:.1f}' if stock else '']
        rows.append(cells)
    way = PIPELINES[-1][1]
    rows.append(['the same with GStreamer 1.26', figure(later['1080p', way]), '', figure(later['4K', way]), ''])
    return table(['way', '1080p', 'times as fast', '4K', 'times as fast'], rows)


# From the plain kernel to the last one. The ideas are those of the variants' rows; what each teaches is from
# tests/results/.
LADDER = (
    ('global', 'one thread for each pixel; image and mask in global memory',
     'the L1 cache holds the neighbours already: the kernel is bound by instructions, not by memory'),
    ('constant', 'the mask in constant memory', 'weights from the constant cache spare a load: 3 to 7%'),
    ('tiled-cached', 'the tile in shared memory, its halo through the cache',
     'a comparison for every product costs more than the loads that the tile saves'),
    ('tiled-input', 'a block as large as the input tile',
     'threads that only load rest afterwards: a good tile at 3x3, hopeless at 31x31'),
    ('tiled', 'the tile and its halo in shared memory',
     'shared memory is the same memory as the L1 cache here: no gain up to 5x5, 1.1 to 1.3 times from 7x7 on'),
    ('separable', 'a row pass and a column pass', 'fewer products gain more than nearer memory: 2k instead of k*k'),
    ('direct', 'a block of outputs for each thread, sums in registers',
     'a sample that is loaded and converted once serves all outputs of its thread'),
    ('packed', 'four products of bytes in one instruction (dp4a), or two with weights or samples of 16 bits (dp2a)',
     'integers in bytes spare the conversion; then the number of dp4a instructions binds'),
    ('fused-tiled', 'a row pass and a column pass over one tile, several sums for each thread',
     'both passes in one launch: the row sums never leave shared memory'),
    ('fused', 'row sums go from registers to all outputs above and below', 'up to 9x9 the row sums fit registers'),
    ('packed-separable', 'row sums with dp4a, column sums with dp2a', 'both ideas together: few products, several at a time'),
    ('tensor', 'rows of the mask as banded matrices of bytes on the tensor cores',
     'products with the zeros of a band are cheaper than scalar products'),
    ('tensor-separable', 'both passes as products with banded matrices',
     'the sums of the first product are the operand of the second, without a shuffle'),
    ('tensor-fused', 'the same, from memory to registers at once',
     'a warp that needs no other warp waits for its own loads alone'),
    ('fft', 'tiles by Fourier transforms', 'the same time for every mask: for large masks without structure'),
    ('box', 'running sums down the columns and along the rows', 'equal weights need no products at any width'),
)


def ladder():
    """Every device variant on one 8-bit 4K plane: a product of a column and a row of integers, or a box for box."""
    textbook = {(row['variant'], row['mask'].split('x')[0]): float(row['median_us'])
                for row in read('h200-textbook.csv') if row['size'] == '4K'}
    fast = {(row['variant'], row['mask']): float(row['median_us']) for row in read('h200-fast.csv')
            if (row['size'], row['format'], row['kind']) == ('4K', 'GRAY8', 'rank-1')}
    boxes = {(row['variant'], row['mask']): float(row['median_us']) for row in read('h200-box.csv')
             if (row['size'], row['format'], row['kind']) == ('4K', 'GRAY8', 'box')}
    rows = []
    for name, idea, lesson in LADDER:
        source = boxes if name == 'box' else fast
        cells = [source.get((name, side), textbook.get((name, side))) for side in ('9', '31')]
        rows.append([f'`{name}`', idea] + [figure(cell) for cell in cells] + [lesson])
    return table(['variant', 'idea', '9x9', '31x31', 'what it teaches'], rows)


def peers():
    """NVIDIA's libraries on one 8-bit 4K plane, microseconds, by the mask's width."""
    rows = read('h200-peers.csv')
    times = {(row['what'], row['mask']): row['median_us'] for row in rows}
    sides = unique(row['mask'] for row in rows)
    lines = [[what] + [figure(times.get((what, side))) for side in sides] for what in unique(row['what'] for row in rows)]
    return table(['library'] + [f'{side}x{side}' for side in sides], lines)


def cudnn():
    """What layers take by auto beside cuDNN in the better of its two layouts, microseconds."""
    found = {}
    for name in 'h200-layer-auto.csv', 'h200-layer-cudnn.csv':
        for row in read(name):
            case = (row['channels'], row['filters'], row['kernel'], row['stride'], row['batch'], row['side'])
            found.setdefault(case, {}).setdefault((name, row['type']), []).append(float(row['median_us']))
    rows = []
    for case, times in found.items():
        channels, filters, kernel, stride, batch, side = case
        cells = [channels, filters, f'{kernel}x{kernel}', stride, f'{batch} of {side}x{side}']
        for kind in ('float32', 'float16'):
            cells += beside(*(min(times[name, kind]) for name in ('h200-layer-auto.csv', 'h200-layer-cudnn.csv')))
        rows.append(cells)
    return table(['channels', 'filters', 'kernel', 'stride', 'images', 'float32', 'cuDNN', 'float16', 'cuDNN'], rows)


COMES_BACK = 0.5  # correlation of the band that people recognise faces by


def undo_name(effect, amount):
    if effect == 'fill':
        return '`region-effect=fill`'
    if effect == 'pixelate':
        return f'`region-effect=pixelate region-blocks={amount}`'
    return f'`mask={effect} region-strength={amount}`'


def undo_best(rows):
    """The largest of each measure, attacked or as it is: PSNR, correlation and cycles; None where there are no rows."""
    return [max(float(row[name]) for row in rows) for name in ('psnr_db', 'correlation', 'cycles')] if rows else None


def undo_cell(best):
    """A correlation, bold where the face comes back."""
    if not best:
        return ''
    text = f'{best[1]:.2f}'.replace('-0.00', '0.00')
    return f'**{text}**' if best[1] >= COMES_BACK else text


def undo():
    """A face of normal size, 8 bits, one frame: PSNR of each attack, then correlation and detail of the best."""
    rows = [row for row in read('undo.csv') if (row['size'], row['bits'], row['film']) == ('normal', '8', 'one frame')]
    lines = []
    for picture in ('face', 'noise'):
        for effect, amount in unique((row['effect'], row['amount']) for row in rows if row['picture'] == picture):
            mine = [row for row in rows if (row['picture'], row['effect'], row['amount']) == (picture, effect, amount)]
            figures = {row['attack']: row for row in mine}
            covered, best = undo_best([figures['none']]), undo_best(mine)
            cells = [undo_name(effect, amount) + (' of noise' if picture == 'noise' else ''), f'{covered[0]:.1f}']
            for names in (('wiener',), ('richardson-lucy',), ('least squares', 'surroundings'), ('interpolation',)):
                found = [figures[name]['psnr_db'] for name in names if name in figures]
                cells.append(f'{float(found[0]):.1f}' if found else '')
            lines.append(cells + [undo_cell(covered), undo_cell(best), f'{covered[2]:.0f}', f'{best[2]:.0f}'])
    return table(['setting', 'covered, dB', 'Wiener', 'Richardson-Lucy', 'least squares', 'interpolation',
                  'correlation covered', 'attacked', 'cycles covered', 'attacked'], lines)


UNDO_CASES = (('8 bits', 'normal', '8', 'one frame'), ('10 bits', 'normal', '10', 'one frame'),
              ('16 bits', 'normal', '16', 'one frame'), ('far', 'far', '8', 'one frame'),
              ('close-up', 'near', '8', 'one frame'),
              ('20 frames, box follows', 'normal', '8', 'follows'),
              ('box stands still', 'normal', '8', 'stands still'), ('box wobbles', 'normal', '8', 'wobbles'))


def undo_cases():
    """The correlation after the best attack, by samples, size of the face, and films."""
    rows = [row for row in read('undo.csv') if row['picture'] == 'face']
    lines = []
    for setting in unique((row['effect'], row['amount']) for row in rows):
        cells = [undo_name(*setting)]
        for _, *key in UNDO_CASES:
            cells.append(undo_cell(undo_best([row for row in rows if (row['effect'], row['amount']) == setting
                                              and [row['size'], row['bits'], row['film']] == key])))
        lines.append(cells)
    return table(['setting'] + [case[0] for case in UNDO_CASES], lines)


def tests():
    """The names of the Meson tests and of the parts of tests/long.sh."""
    names = set()
    for path in (TOP / 'tests').rglob('meson.build'):
        names |= set(re.findall(r"'([\w-]+)'", path.read_text(encoding='utf-8')))
    # One loop names its tests after what is wrong with the driver.
    return names | {'driver_' + name for name in names}, {path.stem for path in (TOP / 'tests' / 'long').glob('*.sh')}


def promises():
    """What README promises, and the tests that show it; each name must be one of a test."""
    known, parts = tests()
    rows = []
    for row in read('promises.csv'):
        names, long = row['tests'].split(), row['long'].split()
        for name in sorted(set(names) - known) + sorted(set(long) - parts):
            sys.exit(f'tests/results/promises.csv: there is no test {name}')
        rows.append([row['promise']] + [', '.join(f'`{name}`' for name in some) for some in (names, long)])
    return table(['promise', 'tests', 'parts of `tests/long.sh`'], rows)


def versions():
    """What the project was built and tested with."""
    rows = read('versions.csv')
    return table(list(rows[0]), [list(row.values()) for row in rows])


TABLES = {'speed-gpu': speed_gpu, 'speed-cpu': speed_cpu, 'pipeline': pipeline, 'ladder': ladder, 'peers': peers,
          'cudnn': cudnn, 'undo': undo, 'undo-cases': undo_cases, 'promises': promises,
          'versions': versions}


def main():
    check, stale, seen = sys.argv[1:] == ['--check'], [], set()
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    for path in sorted(TOP.glob('*.md')) + sorted(p for part in ('kernels', 'props', 'plugin', 'tests', 'examples')
                                                  for p in (TOP / part).rglob('*.md')):
        old = path.read_text(encoding='utf-8')

        def write(match):
            name = match.group(2)
            if name not in TABLES:
                sys.exit(f'{path.relative_to(TOP)}: there is no table "{name}" in tests/bench/tables.py')
            seen.add(name)
            body = TABLES[name]()
            if body != match.group(3):
                stale.append(f'{path.relative_to(TOP)}: the table "{name}"')
            return f'{match.group(1)}\n{body}{match.group(4)}'

        new = BLOCK.sub(write, old)
        if old.count('<!-- table:') != len(BLOCK.findall(old)):
            sys.exit(f'{path.relative_to(TOP)}: a table has no line "<!-- end -->"')
        if new != old and not check:
            path.write_text(new, encoding='utf-8')
    for name in sorted(set(TABLES) - seen):
        sys.exit(f'no .md file has the table "{name}"')
    for line in stale:
        print(line + (' is stale: run tests/bench/tables.py' if check else ' is written'))
    return 1 if check and stale else 0


if __name__ == '__main__':
    sys.exit(main())
