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


def gpu_times():
    """Microseconds of auto and of NPP at 4K, and of the plain copy, by mask and format."""
    own = {(row['kind'], row['format']): float(row['median_us']) for row in read('h200-usual.csv')
           if (row['size'], row['variant']) == ('4K', 'auto')}
    npp = {(row['kind'], row['format'].split()[0]): float(row['median_us']) for row in read('h200-usual-npp.csv')
           if row['size'] == '4K'}
    copy = {row['format']: float(row['copy_us']) for row in read('h200-usual.csv') if row['size'] == '4K'}
    return own, npp, copy


def cpu_times(library=''):
    """Milliseconds of cpu and of the fastest other library, with its name, at 1080p with two threads, by mask and format."""
    own, peers = {}, {}
    for name, times in ('cpu-usual.csv', own), ('cpu-usual-peers.csv', peers):
        for row in read(name):
            if (row['size'], row['threads']) == ('1080p', '2') and (times is own or library in row['what']):
                key, found = (row['kind'], row['format'].upper()), (float(row['min_us']) / 1000, row['what'])
                times[key] = min(times.get(key, found), found)
    return {key: time for key, (time, _) in own.items()}, peers


def beside_rows(own, peers):
    """A row for each mask, with the figures of each format and those of the other library."""
    rows = []
    for kind in unique(kind for kind, _ in own):
        cells = [f'`{kind}`' if '=' in kind else kind]
        for name in FORMATS:
            cells += beside(own.get((kind, name)), peers.get((kind, name)))
        rows.append(cells)
    return rows


def speed_gpu():
    """auto on 4K frames beside NPP, microseconds: masks as users write them."""
    own, npp, copies = gpu_times()
    copy = ['a plain copy'] + [cell for name in FORMATS for cell in (figure(copies.get(name)), '')]
    return table(beside_header('NPP', ('NV12', 'P010')), [copy] + beside_rows(own, npp))


def speed_cpu():
    """The variant cpu on 1080p frames beside the fastest other library, two threads, milliseconds."""
    own, peers = cpu_times()
    return table(beside_header('other', ()), beside_rows(own, {key: time for key, (time, _) in peers.items()}))


SIDES = ('3', '5', '7', '9', '15', '31', '63')
MASKS = {'any': 'small integers', 'rank-1': 'rank 1', 'gaussian': 'gaussian'}
BENCH = ('h200-1080p.csv', 'h200-box.csv', 'h200-edges.csv', 'h200-fast-1080p.csv', 'h200-fast-8K.csv', 'h200-fast.csv',
         'h200-gaussian.csv', 'h200-rgb.csv', 'h200-usual.csv', 'h200-kinds.csv')


def bench(name):
    """The rows of a file of bench by size, format, kind and side; of each, the rows by variant."""
    cases = {}
    for row in read(name):
        cases.setdefault((row['size'], row['format'], row['kind'], row['mask']), {})[row['variant']] = row
    return cases


def taken(row, with_ratio=True):
    """The cell of a row of auto: the time, the time over C where that is wanted, and the variant of the first plane."""
    return f"{figure(row['median_us'])} " + (f"({float(row['ratio']):.2f}) " if with_ratio else '') + row['taken'] if row else '-'


def fast_table(files, size, with_ratio=True):
    cases = {key: rows for name in files for key, rows in bench(name).items()}
    lines = [[name, MASKS[kind]] + [taken(cases.get((size, name, kind, side), {}).get('auto'), with_ratio) for side in SIDES]
             for kinds in (('any', 'rank-1'), ('gaussian',)) for name in ('GRAY8', 'NV12', 'RGBA', 'P010') for kind in kinds
             if any(key[2] == kind for key in cases)]
    return table(['format', 'weights'] + [f'{side}x{side}' for side in SIDES], lines)


def fast():
    """Planes and frames of 4K by auto, in microseconds and over C, by width."""
    return fast_table(('h200-fast.csv', 'h200-gaussian.csv'), '4K')


def fast_1080p():
    return fast_table(('h200-fast-1080p.csv', 'h200-gaussian.csv'), '1080p', False)


def fast_8k():
    return fast_table(('h200-fast-8K.csv', 'h200-gaussian.csv'), '8K')


BANDWIDTH = (('8K', 'RGBA'), ('4K', 'NV12'), ('1080p', 'RGBA'), ('1080p', 'NV12'))
PIXELS = {'8K': 7680 * 4320, '4K': 3840 * 2160, '1080p': 1920 * 1080}
BYTES = {'RGBA': 4, 'NV12': 1.5}
PEAK = 4.8e6  # an H200's memory: bytes a microsecond


def bandwidth():
    """auto's share of the copy's speed, and bytes that are read and written in percent of the memory's bandwidth."""
    lines = []
    for size, name in BANDWIDTH:
        file = {'8K': 'h200-fast-8K.csv', '4K': 'h200-fast.csv', '1080p': 'h200-fast-1080p.csv'}[size]
        for kind in ('any', 'rank-1', 'gaussian'):
            cases, cells = bench(file if kind != 'gaussian' else 'h200-gaussian.csv'), [size, name, MASKS[kind]]
            for side in SIDES[:5]:
                row = cases[size, name, kind, side]['auto']
                used = 2 * PIXELS[size] * BYTES[name] / float(row['median_us']) / PEAK
                cells.append(f"{100 / float(row['ratio']):.0f}% ({100 * used:.0f}%)")
            lines.append(cells)
    return table(['frames', 'format', 'weights'] + [f'{side}x{side}' for side in SIDES[:5]], lines)


GOALS = (('GRAY8', 'any', (1.15, 1.4, 1.6, 1.8, 3, 9, 30)), ('GRAY8', 'rank-1', (1.15, 1.15, 1.15, 1.2, 1.4, 1.8, 3.5)),
         ('NV12', 'any', (1.32, 1.61, 1.84, 2.07, 3.45, 10.4, 34.5)), ('NV12', 'rank-1', (1.32, 1.32, 1.32, 1.38, 1.61, 2.07, 4.03)),
         ('RGBA', 'any', (1.32, 1.61, 1.84, 2.07, 3.45, 10.4, 34.5)), ('RGBA', 'rank-1', (1.32, 1.32, 1.32, 1.38, 1.61, 2.07, 4.03)),
         ('P010', 'any', (1.73, 2.1, 2.4, 2.7, 4.5, 13.5, 45)), ('P010', 'rank-1', (1.73, 1.73, 1.73, 1.8, 2.1, 2.7, 5.25)))


def fast_goals():
    """auto at 4K over C beside the goal; bold where the goal is missed by more than the 2% of a run's noise."""
    cases, lines = bench('h200-fast.csv'), []
    for name, kind, goals in GOALS:
        cells = [name, MASKS[kind]]
        for side, goal in zip(SIDES, goals):
            row = cases.get(('4K', name, kind, side), {}).get('auto')
            text = f"{float(row['ratio']):.2f}, {goal:g}" if row else f'-, {goal:g}'
            cells.append(f'**{text}**' if row and float(row['ratio']) > 1.02 * goal else text)
        lines.append(cells)
    return table(['format', 'weights'] + [f'{side}x{side}' for side in SIDES], lines)


BESIDE_NVIDIA = (('any', 'NPP FilterBorder32f'), ('rank-1', 'NPP FilterGaussAdvancedBorder'), ('any', 'cuDNN fp32, depthwise'),
                 ('any', 'cuFFT fp32'))


def fast_nvidia():
    """How many times as fast as NVIDIA's libraries: one 8-bit 4K plane."""
    cases = bench('h200-fast.csv')
    times = {(row['what'], row['mask']): float(row['median_us']) for row in read('h200-peers.csv')}
    lines = []
    for kind, what in BESIDE_NVIDIA:
        own = [float(cases['4K', 'GRAY8', kind, side]['auto']['median_us']) for side in SIDES]
        lines.append([f'{MASKS[kind]} over {what}'] + [figure(times[what, side] / time) for side, time in zip(SIDES, own)])
    return table([''] + [f'{side}x{side}' for side in SIDES], lines)


BOX_SIDES = ('3', '7', '15', '31', '63', '95', '127', '191', '255')


def box():
    """Equal weights: auto, the variant box, and the best of the others."""
    cases, lines = bench('h200-box.csv'), []
    for size, name in unique(key[:2] for key in cases):
        rows = {side: cases[size, name, 'box', side] for side in BOX_SIDES}
        lines.append([f"{size} {name}, C = {figure(rows['15']['copy']['median_us'])}", '`auto`']
                     + [taken(row.get('auto'), False) for row in rows.values()])
        lines.append(['', '`box`'] + [figure(row['box']['median_us'] if 'box' in row else None) for row in rows.values()])
        best = [min((other for what, other in row.items() if what not in ('auto', 'copy', 'box')),
                    key=lambda other: float(other['median_us']), default=None) for row in rows.values()]
        lines.append(['', 'best other'] + [taken(row, False) if row else 'too long' for row in best])
    return table(['frame', 'row'] + [f'{side}x{side}' for side in BOX_SIDES], lines)


def losses():
    """Where another variant is more than 3% faster than auto was: both in the same run."""
    lines, count = [], 0
    for name in BENCH:
        for (size, shape, kind, side), rows in bench(name).items():
            others = [row for what, row in rows.items() if what not in ('auto', 'copy')]
            if 'auto' not in rows or not others:
                continue
            count += 1
            best = min(others, key=lambda row: float(row['median_us']))
            more = float(rows['auto']['median_us']) / float(best['median_us'])
            if more > 1.03:
                lines.append([name, f'{size} {shape} {side}x{side} {kind}', taken(rows['auto'], False), taken(best, False), f'{more:.2f}'])
    lines.sort(key=lambda line: line[-1], reverse=True)
    return table(['file', f'{len(lines)} of {count} cases', '`auto`', 'the fastest', 'times'], lines)


def rules():
    """What auto took until its rules changed, and what it takes now, on two cards."""
    cases = {}
    for row in read('rules.csv'):
        case = cases.setdefault((row['size'], row['format'], row['mask'], row['kind']), {'auto': [], 'now': []})
        case['auto' if row['variant'] == 'auto' else 'now'].append(row)
    lines = []
    for (size, shape, side, kind), case in cases.items():
        cells = [f'{size} {shape} {side}x{side} {MASKS.get(kind, kind)}']
        for rows in case.values():
            cells += [f"`{rows[0]['taken']}`"] + [figure(row['median_us']) for row in rows]
        lines.append(cells)
    return table(['case', 'before', 'H200', 'H100', 'now', 'H200', 'H100'], lines)


STOCK = 'stock: cudaupload ! cudaconvolve ! cudadownload'
FRESH = 'stock, fresh memory every frame'
# What the table calls a way, its name in the CSV files, and the way of GStreamer's own elements that it stands beside.
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
    now = read('h200-pipeline.csv')
    times = {(row['size'], row['way']): float(row['frame_us']) for row in now}
    limits = {row['size']: row['limit_us'] for row in now}
    rows = [['the bus alone, both directions at once', figure(limits['1080p']), '', figure(limits['4K']), '']]
    for title, way, stock in PIPELINES:
        cells = [title]
        for size in ('1080p', '4K'):
            cells += [figure(times[size, way]), f'{times[size, stock] / times[size, way]:.1f}' if stock else '']
        rows.append(cells)
    return table(['way', '1080p', 'times as fast', '4K', 'times as fast'], rows)


PROGRAMS = (('I420', 'gaussian sigma=2', 'cudaconvolve gaussian sigma=2, I420',
             (("GStreamer's `gaussianblur`", 'gaussianblur sigma=2 with videoconvert, I420'),
              ("FFmpeg's `gblur`", 'ffmpeg gblur sigma=2, yuv420p'))),
            *(('GRAY8', f'weights {side}', f'cudaconvolve {side}, GRAY8',
               (("FFmpeg's `convolution`", f'ffmpeg convolution {side}, gray'),)) for side in ('3x3', '5x5', '7x7')))


def cpu_kind(kind):
    """The variant cpu beside other libraries, planes of 1080p by two threads, in milliseconds: by the width of the mask."""
    found = {(row['format'], row['side'], row['what'].split()[0]): float(row['median_us']) / 1000 for row in read('cpu-kinds.csv')
             if (row['size'], row['kind'], row['threads']) == ('1080p', kind, '2')}
    header, rows = [kind], []
    for name in 'GRAY8', 'RGB', 'GRAY16':
        header += [name, 'OpenCV', 'libvips', 'VapourSynth']
    for side in ('3', '5', '7', '9', '15', '31'):
        cells = [f'{side}x{side}']
        for name in 'gray8', 'rgb', 'gray16':
            own, *peers = (found.get((name, side, what)) for what in ('cpu', 'OpenCV', 'libvips', 'VapourSynth'))
            cells += [figure(own)] + [beside(own, peer)[1] for peer in peers]
        rows.append(cells)
    return table(header, rows)


def cpu_levels():
    """Planes of GRAY8 at 1080p on one thread by the instruction set, in milliseconds, the least of a run."""
    rows = read('cpu-levels.csv')
    levels = unique(row['level'] for row in rows)
    found = {(row['kind'], row['side'], row['level']): float(row['min_us']) / 1000 for row in rows}
    return table(['weights'] + levels, [[f'{kind} {side}x{side}'] + [figure(found[kind, side, level]) for level in levels]
                                        for kind, side in unique((row['kind'], row['side']) for row in rows)])


def programs():
    """The element beside filters of other programs on the CPU, in milliseconds, and how many times as fast it is."""
    times = {row['what']: float(row['median_ms']) for row in read('cpu-programs.csv')}
    rows = [[shape, mask, figure(times[own]), name, figure(times[peer]), f'{times[peer] / times[own]:.1f}']
            for shape, mask, own, peers in PROGRAMS for name, peer in peers]
    return table(['format', 'mask', '`cudaconvolve`', 'other filter', 'its time', 'times as fast'], rows)


def ratio(own, peer):
    """How many times as fast; bold where the other one is 2% faster."""
    text = f'{peer / own:.1f}' if peer / own < 9.95 else f'{peer / own:.0f}'
    return f'**{peer / own:.2f}**' if peer < 0.98 * own else text


def speed():
    """README's table: a few cases of each kind, losses among them."""
    gpu, npp, _ = gpu_times()
    programs_ms = {row['what']: float(row['median_ms']) for row in read('cpu-programs.csv')}
    pipelines = {(row['size'], row['way']): float(row['frame_us']) for row in read('h200-pipeline.csv')}
    rows = []

    def add(frame, mask, unit, own, what, peer):
        rows.append([frame, mask, f'{figure(own)} {unit}', f'{what}: {figure(peer)} {unit}', ratio(own, peer)])

    for mask in 'gaussian sigma=2', 'fractions 3x3', 'box 31x31':
        add('4K NV12, GPU', mask, 'us', gpu[mask, 'NV12'], 'NPP, luma alone', npp[mask, 'NV12'])
    add('4K NV12, GPU and bus', 'weights 3x3', 'us', pipelines['4K', PIPELINES[3][1]], '`cudaupload`, `cudadownload`',
        pipelines['4K', STOCK])
    for shape, mask, own, others in PROGRAMS[0], PROGRAMS[2]:
        for name, peer in others:
            add(f'1080p {shape}, CPU', mask, 'ms', programs_ms[own], name, programs_ms[peer])
    for mask, library in ('gaussian sigma=2', 'OpenCV'), ('box 31x31', 'VapourSynth'):
        cpu, peers = cpu_times(library)
        add('1080p NV12, CPU', mask, 'ms', cpu[mask, 'NV12'], library, peers[mask, 'NV12'][0])
    return table(['frame', 'mask', '`cudaconvolve`', 'beside', 'times as fast'], rows)


def ratios(pairs):
    """The least and the largest ratio in words, and how many are losses."""
    found = sorted(peer / own for own, peer in pairs)
    lost = sum(value < 0.98 for value in found)
    return (f'{found[0]:.2g} to {figure(found[-1])} times as fast; the other library is faster in {lost or "none"} of {len(found)} '
            'cases')


REGIONS = (('`mask=gaussian sigma=22.6`, whole frame', 'whole frame, sigma 22.6'), ('`mask=gaussian`, whole frame', 'whole frame, 5x5'),
           *((f'`region-strength={amount}`' + more, f'strength {amount}' + what) for amount, more, what in (
               ('0.2', '', ''), ('0.05', '', ''), ('0.2', ', the frame is copied', ', on a copy'),
               ('0.2', ', ellipses with a feather of 20', ', soft ellipses'), ('0.2', ', boxes that move', ', moving'),
               ('0.2', ', translucent frames', ', translucent'))),
           ('`mask=gaussian` in the boxes', 'gaussian as it is'), ('`region-effect=pixelate`', 'pixelate'),
           ('`region-effect=pixelate`, translucent frames', 'pixelate, translucent'), ('`region-effect=fill`', 'fill'),
           ('`region-effect=fill`, boxes that move', 'fill, moving'), ('`mask=gaussian` outside the boxes', 'gaussian as it is, outside'))


def regions():
    """A 1080p frame by effect, number and size of boxes, in microseconds."""
    found = {(device, row['format'], row['what'], int(row['boxes']), int(row['side'])): float(row['us']) for device in ('h200', 'cpu')
             for row in read(f'{device}-regions.csv')}
    rows = []
    for title, what in REGIONS:
        for boxes, side in sorted({key[3:] for key in found if key[2] == what}):
            rows.append([title, f'{boxes} of {side}x{side}' if boxes else '-' if 'whole' in what else 'none']
                        + [figure(found.get((device, name, what, boxes, side))) for device in ('h200', 'cpu') for name in ('NV12', 'RGBA')])
    return table(['effect', 'boxes', 'H200, NV12', 'H200, RGBA', 'CPU, NV12', 'CPU, RGBA'], rows)


def sources():
    """What a frame of system memory spends in the element, by its source, in microseconds: one stream."""
    rows = read('h200-sources.csv')
    found = {(row['source'], row['size'], row['frames_in_flight']): row['element_us'] for row in rows if row['streams'] == '1'}
    return table(['source', '1080p', 'three in flight', '`cpu`', '4K', 'three in flight', '`cpu`'],
                 [[f'`{source}`'] + [figure(found[source, size, way]) for size in ('1080p', '4K') for way in ('1', '3', 'cpu')]
                  for source in unique(key[0] for key in found)])


def choice():
    """auto beside the device and the CPU, microseconds a frame; and its time over the better one with four streams."""
    found = {(row['size'], row['mask'], row['flight'], row['streams']): row for row in read('h200-choice.csv')}

    def over(row):
        return float(row['auto']) / min(float(row['device']), float(row['cpu']))

    rows = []
    for size, mask, flight, streams in found:
        if streams == '1':
            row, four = found[size, mask, flight, '1'], found[size, mask, flight, '4']
            rows.append([size, f'`{mask}`', flight] + [figure(row[name]) for name in ('auto', 'device', 'cpu')]
                        + [f'{over(row):.2f}', f'{over(four):.2f}'])
    return table(['NV12', 'mask', 'frames in flight', '`auto`', 'device', 'CPU', '`auto` over the better one', 'with four streams'], rows)


def streams():
    """Elements beside each other, microseconds a frame and of CPU time."""
    return table(['memory', 'streams', 'us a frame', 'CPU time, us a frame'],
                 [[row['way'], row['streams'], figure(row['frame_us']), figure(row['cpu_us'])] for row in read('h200-streams.csv')])


def answers():
    """The questions that people ask, each with one answer from the figures, and the file that has more."""
    gpu, npp, copy = gpu_times()
    cpu, peers = cpu_times()
    mine = {row['what']: float(row['median_ms']) for row in read('cpu-programs.csv')}
    pipelines = {(row['size'], row['way']): row for row in read('h200-pipeline.csv')}
    streams = {(row['way'], row['streams']): float(row['frame_us']) for row in read('h200-streams.csv')}
    regions = {(device, row['what'], row['boxes'], row['side']): float(row['us']) for device in ('h200', 'cpu')
               for row in read(f'{device}-regions.csv') if row['format'] == 'NV12'}
    edges = {row['kind']: float(row['median_us']) for row in read('h200-edges.csv')
             if (row['size'], row['format'], row['variant']) == ('4K', 'GRAY8', 'auto')}
    cuda = {(row['what'].split()[0], row['mask'], row['samples']): float(row['median_us']) for row in read('h100-cvcuda.csv')}
    changed = [float(row['ratio']) for row in read('h200-bytes.csv')]
    attacks = [row for row in read('undo.csv') if (row['size'], row['bits'], row['film'], row['picture'])
               == ('normal', '8', 'one frame', 'face')]
    choices = read('h200-auto.csv')
    others = [float(row['ratio']) for row in choices if row['by_rules'] != row['by_measurement']]
    layers = {}
    for name in 'h200-layer-auto.csv', 'h200-layer-cudnn.csv':
        for row in read(name):
            case = tuple(row[key] for key in ('channels', 'filters', 'kernel', 'stride', 'batch', 'side', 'type'))
            found = layers.setdefault(case, {})
            found[name] = min(found.get(name, math.inf), float(row['median_us']))
    beside_cudnn = {kind: ratios((found['h200-layer-auto.csv'], found['h200-layer-cudnn.csv']) for case, found in layers.items()
                                 if case[-1] == kind) for kind in ('float32', 'float16')}

    def face(effect, amount):
        return undo_cell(undo_best([row for row in attacks if (row['effect'], row['amount']) == (effect, amount)])).strip('*')

    def found(effect, amount):
        return percent(float(row['value']) for row in read('suspects.csv')
                       if [row[name] for name in ('effect', 'amount', 'attack', 'suspects')] == [effect, amount, 'same', '1000'])

    def us(value):
        return f'{figure(value)} us'

    def ms(value):
        return f'{figure(value)} ms'

    pool, cuda_way = PIPELINES[3][1], PIPELINES[-1][1]
    ten = ('strength 0.2', '10', '100')
    rows = (
        ('How fast is a Gaussian on a GPU?', f'4K NV12 on an H200: {us(gpu["gaussian sigma=2", "NV12"])} with sigma 2, '
         f'{us(gpu["gaussian sigma=8", "NV12"])} with sigma 8; a plain copy takes {us(copy["NV12"])}', 'speed.md#on-a-gpu'),
        ('How fast are other weights on a GPU?', f'the same frame: fractions of 3x3 {us(gpu["fractions 3x3", "NV12"])}, 15x15 '
         f'{us(gpu["fractions 15x15", "NV12"])}, 31x31 {us(gpu["fractions 31x31", "NV12"])}', 'speed.md#on-a-gpu'),
        ('How fast is a box on a GPU?', f'the same frame: 5x5 {us(gpu["box 5x5", "NV12"])}, 31x31 '
         f'{us(gpu["box 31x31", "NV12"])}', 'h200-box.md'),
        ('How fast are edges on a GPU?', f'one 4K plane: `sobel-x` {us(edges["sobel-x"])}, `sobel` {us(edges["sobel"])}',
         'h200-edges.csv'),
        ('How fast is a Gaussian on a CPU?', f'1080p NV12 on two cores: {ms(cpu["gaussian sigma=2", "NV12"])} with sigma 2, '
         f'{ms(cpu["gaussian sigma=8", "NV12"])} with sigma 8', 'speed.md#on-a-cpu'),
        ('How fast are other weights on a CPU?', f'the same frame: fractions of 3x3 {ms(cpu["fractions 3x3", "NV12"])}, 15x15 '
         f'{ms(cpu["fractions 15x15", "NV12"])}, 31x31 {ms(cpu["fractions 31x31", "NV12"])}', 'cpu-peers.md'),
        ('What does the bus cost?', f'4K NV12 from system memory and back: {us(pipelines["4K", pool]["frame_us"])} with '
         f'three frames in flight; the bus alone takes {us(pipelines["4K", pool]["limit_us"])}', 'h200-pipeline.md'),
        ('What does a pipeline in CUDA memory take?', f'4K NV12: {us(pipelines["4K", cuda_way]["frame_us"])} a frame with '
         'GStreamer 1.22; with 1.26 it was about half', 'h200-pipeline.md'),
        ('How many streams does a GPU take?', f'32 streams of 1080p: {us(streams["CUDA memory", "32"])} a frame in CUDA '
         f'memory, {us(streams["system memory, frames-in-flight=3", "32"])} from system memory',
         'h200-planes.md#streams-and-the-cpus-time'),
        ("How does it compare with NVIDIA's NPP?", 'H200, 4K: ' + ratios((gpu[key], npp[key]) for key in npp if key in gpu),
         'speed.md#on-a-gpu'),
        ('With CV-CUDA?', 'H100, 4K, one sample: ' + '; '.join(
            f'{mask} {us(cuda["cudaconvolve", mask, "1"])} beside {us(cuda["CV-CUDA", mask, "1"])}'
            for mask in ('weights 3x3', 'gaussian 15x15')), 'h100-cvcuda.csv'),
        ('With OpenCV, libvips and VapourSynth on a CPU?', '1080p, two cores, beside the fastest of the three: '
         + ratios((cpu[key], peers[key][0]) for key in peers if key in cpu), 'speed.md#on-a-cpu'),
        ("With FFmpeg's and GStreamer's filters?", '1080p, two cores: ' + '; '.join(
            f'{mask} {ms(mine[own])}, {name} {ms(mine[peer])}' for _, mask, own, others in (PROGRAMS[0], PROGRAMS[2])
            for name, peer in others), 'speed.md#whole-programs-on-a-cpu'),
        ('With cuDNN?', f'layers on an H200, float32: {beside_cudnn["float32"]}; float16: {beside_cudnn["float16"]}',
         'h200-layer.md#cudnn-with-channels-last-and-wgmma'),
        ('What do regions cost?', f'ten boxes of 100x100 at strength 0.2 in 1080p NV12: {us(regions["h200", *ten])} on an H200, '
         f'{us(regions["cpu", *ten])} on one core; without boxes {us(regions["h200", "strength 0.2", "0", "0"])}',
         'regions.md'),
        ('Can a covered face be made visible again?', 'correlation after the best attack, where 0.5 shows a face: gaussian '
         f'of strength 0.1 {face("gaussian", "0.1")}, 0.2 {face("gaussian", "0.2")}; box of 0.2 {face("box", "0.2")}; 3 blocks '
         f'{face("pixelate", "3")}; found among 1,000 suspects by the same picture: {found("gaussian", "0.2")}% under gaussian of '
         f'0.2, {found("pixelate", "3")}% under 3 blocks, {found("noise-pixelate", "0.5")}% under blocks with noise', 'undo.md'),
        ('What do the same bytes on every machine cost?', f'of {len(changed)} cases on an H200, '
         f'{sum(value < 0.97 for value in changed)} became more than 3% faster and {sum(value > 1.03 for value in changed)} more '
         'than 3% slower', 'bytes.md'),
        ('Does `auto` choose well?', 'on GPUs that we have not measured `auto` times its candidates once; on an H200 that '
         f'choice equals the rules in {len(choices) - len(others)} of {len(choices)} cases, and is up to '
         f'{100 * max(others) - 100:.0f}% slower in the others', 'h200-auto.md'),
        ('What does each textbook idea gain?', 'a table of all kernels, from one thread a pixel to tensor cores',
         '../../kernels/README.md'),
        ('How was it searched for faults?', 'fuzzing, planted faults, failing calls, long use, other machines, compilers and '
         'versions', 'reliability.md'),
    )
    return table(['question', 'answer', 'file'], [[question, answer, f'[{path.split("#")[0].split("/")[-1]}]({path})']
                                                 for question, answer, path in rows])


def python_calls():
    """Microseconds of the device by library, size, format and mask, of h200-python.csv."""
    return {(row['what'], row['size'], row['format'], row['mask']): row['device_us']
            for row in csv.DictReader(line for line in open(RESULTS / 'h200-python.csv', encoding='utf-8') if line[0] != '#')}


def beside_whom():
    """Each library of a GPU: on which work and card, and how many times as fast the element is."""
    gpu, npp, _ = gpu_times()
    cases = bench('h200-fast.csv')
    own = {(kind, side): float(cases['4K', 'GRAY8', kind, side]['auto']['median_us']) for kind in ('any', 'rank-1') for side in SIDES}
    peers = {(row['what'], row['mask']): float(row['median_us']) for row in read('h200-peers.csv')}
    cuda = {(row['what'].split()[0], row['mask'], row['samples']): float(row['median_us']) for row in read('h100-cvcuda.csv')}
    python = python_calls()
    pipelines = {(row['size'], row['way']): float(row['frame_us']) for row in read('h200-pipeline.csv')}

    def planes(what, kind):
        return ratios((own[kind, side], peers[what, side]) for side in SIDES if (what, side) in peers)

    def calls(what):
        return ratios((float(python[('cudaconvolve', *key[1:])]), float(time)) for key, time in python.items()
                      if key[0] == what and time and python.get(('cudaconvolve', *key[1:])))

    rows = (
        ('NPP 13.0', 'the masks above, 4K frames', 'H200', ratios((gpu[key], npp[key]) for key in npp if key in gpu), 'h200-usual-npp.csv'),
        ('NPP 13.0, `FilterBorder32f`', 'integers 3x3 to 63x63, 4K GRAY8', 'H200', planes('NPP FilterBorder32f', 'any'), 'h200-fast.md'),
        ('cuDNN, depthwise, float32', 'the same', 'H200', planes('cuDNN fp32, depthwise', 'any'), 'h200-fast.md'),
        ('cuFFT 13.0, float32', 'the same', 'H200', planes('cuFFT fp32', 'any'), 'h200-fast.md'),
        ('CV-CUDA 0.19, kernels alone', '3x3 weights and a 15x15 Gaussian, 1, 3 and 4 samples, 4K', 'H100',
         ratios((time, cuda[('CV-CUDA', *key[1:])]) for key, time in cuda.items() if key[0] == 'cudaconvolve'), 'h100-cvcuda.csv'),
        ('CV-CUDA 0.19, calls from Python', 'six kinds of pixels, 1080p and 4K', 'H200', calls('CV-CUDA'), 'python.md'),
        ('PyTorch, `conv2d` in float16', 'fractions 3x3 and 9x9, 1080p and 4K', 'H200', calls('torch conv2d float16'), 'python.md'),
        ('CuPy 14, `cupyx.scipy.ndimage`', 'Gaussians, fractions and a box, six kinds of pixels, 1080p and 4K', 'H200', calls('CuPy'),
         'python.md'),
        ('SPIDER, FlashFFTStencil', 'one sweep, below', 'H200',
         ratios((own, time) for *_, time, _, own, _ in sweeps()), 'h200-stencils.csv'),
        ('`cudaupload`, `cudadownload`', 'NV12 from system memory and back, 1080p and 4K', 'H200',
         ratios((pipelines[size, PIPELINES[1][1]], pipelines[size, STOCK]) for size in ('1080p', '4K')), 'h200-pipeline.md'),
    )
    return table(['library', 'work', 'GPU', '`cudaconvolve` is', 'file'], [[*row, f'[{name}]({name})'] for *row, name in rows])


def sweeps():
    """Each sweep of a stencil program, and picoseconds a sample: its own, its copy's, those of auto with the same width, that copy's."""
    times = {(row['what'], row['work'], row['type'], row['grid']): 1e3 * float(row['ns_per_sample'])
             for row in read('h200-stencils.csv')}
    same = 'GRAY16', '7680x4320'
    for (what, work, kind, grid), time in times.items():
        if what not in ('copy', 'cudaconvolve'):
            yield (what, work, kind, grid, time, times.get(('copy', 'copy', kind, grid)),
                   times['cudaconvolve', f'{work} fractions', *same], times['copy', 'copy', *same])


def stencils():
    """Programs of papers on stencils beside auto with a mask of the same width on 16 bits, by sample and over the copy."""
    return table(['program', 'mask', 'samples', 'grid', 'ps a sample', 'over its copy', '`cudaconvolve`, 16 bits', 'over its copy',
                  'times as fast'],
                 [[what, work, kind, grid, figure(time), f'{time / copy:.2f}' if copy else '-', figure(own), f'{own / own_copy:.2f}', ratio(own, time)]
                  for what, work, kind, grid, time, copy, own, own_copy in sweeps()])


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
    ('tiled', 'the tile and its halo in shared memory, eight outputs of a column for each thread',
     'a sample that was read once serves eight taps; shared memory alone, which is the same memory as the L1 cache here, '
     'gained 1.1 to 1.3 times from 7x7 on'),
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


PEER_COVERS = {'deface blur': 'deface, its default blur', 'deface mosaic': 'deface, mosaic of 20 pixels',
               'nvdsosd': 'nvdsosd, 32x32 and a mean of 7x7', 'gvawatermark': 'gvawatermark, sigma 0.05'}


def suspect_name(effect, amount):
    if effect == 'noise-pixelate':
        return f'`region-effect=noise-pixelate region-epsilon={amount}`'
    return PEER_COVERS.get(effect) or undo_name(effect, amount)


def suspect_rows(subject, attacks):
    """A line for each setting: a cell for each attack, with a figure for each number of suspects."""
    rows = [row for row in read('suspects.csv') if row['subject'] == subject]
    lines = []
    for setting in unique((row['effect'], row['amount']) for row in rows):
        cells = [[float(row['value']) for row in rows if (row['effect'], row['amount']) == setting and row['attack'] == attack]
                 for attack in attacks]
        if cells[0]:
            lines.append((suspect_name(*setting), cells))
    return lines


def percent(shares):
    return ' / '.join(f'{100 * share:.0f}' for share in shares)


def suspects():
    """The share of faces that were found among 10, 100 and 1,000 suspects."""
    return table(['setting', 'the same picture', 'the box 2 pixels beside', 'three other pictures'],
                 [[name] + [percent(cell) for cell in cells]
                  for name, cells in suspect_rows('face', ('same', 'beside', 'another'))])


def suspect_films():
    """The same for films of a still face, under blocks with noise."""
    return table(['setting', 'one frame', '20 frames, box stands still', '20 frames, box wobbles', '500 frames, box wobbles'],
                 [[name] + [percent(cell) for cell in cells] for name, cells in
                  suspect_rows('face', ('one frame', 'still film', 'wobbling film', 'long film'))])


def learned():
    """The mean correlation over 40 faces, after attacks that know faces."""
    return table(['setting', 'covered', 'least squares', 'through the rounding', 'learned'],
                 [[name] + [undo_cell([0, cell[0]]) if cell else '' for cell in cells]
                  for name, cells in suspect_rows('face', ('none', 'least squares', 'rounding', 'learned'))])


def letters():
    """The share of letters and of whole plates that were read."""
    plates = suspect_rows('plate', ('exact letters', 'exact whole', 'camera letters', 'camera whole'))
    texts = dict(suspect_rows('text', ('exact letters', 'camera letters')))
    return table(['setting', 'letters of plates', 'whole plates', 'letters of plates, by a camera', 'whole plates',
                  'letters of text', 'by a camera'],
                 [[name] + [percent(cell) for cell in cells + texts[name]] for name, cells in plates])


HIDES = (('gaussian', '0.1'), ('gaussian', '0.2'), ('gaussian', '0.3'), ('box', '0.2'), ('pixelate', '6'), ('pixelate', '3'),
         ('noise-pixelate', '0.5'), ('fill', ''))


def hides():
    """What an effect hides: the face by every attack of the study, the person in a list, and letters."""
    attacked = [row for row in read('undo.csv') if (row['size'], row['bits'], row['picture']) == ('normal', '8', 'face')]
    rows = read('suspects.csv')
    lines = []
    for effect, amount in HIDES:
        mine = [row for row in rows if (row['effect'], row['amount']) == (effect, amount or '0')]
        best = [float(row['correlation']) for row in attacked if (row['effect'], row['amount']) == (effect, amount)]
        best += [float(row['value']) for row in mine if row['attack'] in ('none', 'least squares', 'rounding', 'learned')]

        def share(subject, attacks):
            return percent([max(float(row['value']) for row in mine if row['subject'] == subject and row['attack'] in attacks
                                and row['suspects'] in ('', '1000'))])

        lines.append([suspect_name(effect, amount), undo_cell([0, max(best)]), share('face', ('same', 'one frame', 'still film')),
                      share('face', ('another',)), share('plate', ('exact letters',))])
    return table(['effect', 'correlation of faces', 'found by the same picture', 'by other pictures', 'letters of plates read'], lines)


def tests():
    """The names of the Meson tests and of the parts of tests/long.sh."""
    names = set()
    for path in (TOP / 'tests').rglob('meson.build'):
        names |= set(re.findall(r"'([\w-]+)'", path.read_text(encoding='utf-8')))
    # One loop names its tests after what is wrong with the driver.
    return names | {'driver_' + name for name in names}, {path.stem for path in (TOP / 'tests' / 'long').glob('*.sh')}


def promises():
    """What the project promises, and the tests that show it; each name must be one of a test."""
    known, parts = tests()
    rows = []
    for row in read('promises.csv'):
        names, long = row['tests'].split(), row['long'].split()
        for name in sorted(set(names) - known) + sorted(set(long) - parts):
            sys.exit(f'tests/results/promises.csv: there is no test {name}')
        rows.append([row['promise']] + [', '.join(f'`{name}`' for name in some) for some in (names, long)])
    return table(['promise', 'tests', 'parts of `tests/long.sh`'], rows)


def python_rows():
    """The rows of python-cpu.csv by mask, format and library's first word."""
    return {(row['mask'], row['format'], row['library'].split()[0]): row for row in read('python-cpu.csv')}


def python_cpu():
    """The Python module on 1080p pictures beside OpenCV and SciPy, milliseconds."""
    rows = python_rows()
    formats = unique(name for _, name, _ in rows)
    header = ['mask'] + [cell for name in formats for cell in (name, 'OpenCV', 'SciPy')]
    lines = []
    for mask in unique(mask for mask, _, _ in rows):
        cells = [mask]
        for name in formats:
            own, *peers = (rows[mask, name, library]['ms'] for library in ('cudaconvolve', 'OpenCV', 'SciPy'))
            cells += beside(own, peers[0]) + beside(own, peers[1])[1:]
        lines.append(cells)
    return table(header, lines)


def python_bytes():
    """The part of the samples that differ from those of the Python module, and by how many code values at most."""
    rows = python_rows()
    formats = unique(name for _, name, _ in rows if name != 'grayf')
    header = ['mask'] + [f'{library}, {name}' for library in ('OpenCV', 'SciPy') for name in formats]
    return table(header, [[mask] + [f'{float(row["differs"]):.2%}, {float(row["most"]):.0f}' for library in ('OpenCV', 'SciPy') for name in formats
                                    for row in [rows[mask, name, library]]] for mask in unique(mask for mask, _, _ in rows)])


def python_gpu():
    """Calls from Python with pictures in device memory, beside other libraries; a bold figure is faster than the module."""
    rows = python_calls()
    pictures = [('1080p', name) for name in ('gray8', 'rgb', 'rgba', 'gray16', 'grayf')] + [('4K', name) for name in ('gray8', 'rgb', 'rgb16')]
    lines = [['copy from device to device'] + [figure(rows['cudaMemcpyAsync', *picture, 'copy']) for picture in pictures]]
    names = {'CV-CUDA': 'CV-CUDA', 'CuPy': 'CuPy', 'torch conv2d float16': '`conv2d` of PyTorch in float16'}
    for mask in unique(mask for what, *_, mask in rows if what == 'CV-CUDA'):
        own = [rows['cudaconvolve', *picture, mask] for picture in pictures]
        lines.append([mask] + [figure(time) for time in own])
        for what, name in names.items():
            times = [rows.get((what, *picture, mask)) for picture in pictures]
            if any(times):
                lines.append([name] + [beside(ours, time)[1] if time else '' for ours, time in zip(own, times)])
    return table(['us a call'] + [' '.join(picture) for picture in pictures], lines)


def versions():
    """What the project was built and tested with."""
    rows = read('versions.csv')
    return table(list(rows[0]), [list(row.values()) for row in rows])


def faces():
    """Programs that cover faces, by film. All figures are of one run."""
    lines = []
    for row in read('faces.csv'):
        bare, count = int(row['bare_faces']), int(row['faces'])
        lines.append([row['film'], f"`{row['program']}`" if row['program'][:8] != 'the same' else row['program'],
                      f"{row['bare_frames']} of {row['frames_with_faces']}", f'{bare} of {count} ({100 * bare / count:.1f}%)',
                      f"{int(row['frames']) / float(row['seconds']):.1f}", f"{1000 * float(row['cpu_seconds']) / int(row['frames']):.0f}",
                      row['sound'], row['psnr_db'], row['size'], f"{int(row['bytes']) / int(row['bytes_before']):.2f}"])
    return table(['film', 'program', 'frames with a bare face', 'bare faces', 'frames/s', 'ms of all cores for a frame', 'sound',
                  'dB beside the faces', 'size', 'bytes, 1 is those of the film'], lines)


TABLES = {'faces': faces, 'speed': speed, 'answers': answers, 'speed-gpu': speed_gpu, 'speed-cpu': speed_cpu, 'beside-whom': beside_whom,
          'stencils': stencils, 'pipeline': pipeline,
          'cpu-any': lambda: cpu_kind('any'), 'cpu-gaussian': lambda: cpu_kind('gaussian'), 'cpu-box': lambda: cpu_kind('box'),
          'cpu-levels': cpu_levels, 'regions': regions, 'sources': sources, 'choice': choice, 'streams': streams, 'programs': programs, 'ladder': ladder, 'peers': peers, 'cudnn': cudnn, 'undo': undo, 'undo-cases': undo_cases,
          'suspects': suspects, 'suspect-films': suspect_films, 'learned': learned, 'letters': letters, 'hides': hides,
          'fast': fast, 'fast-1080p': fast_1080p, 'fast-8K': fast_8k, 'bandwidth': bandwidth, 'fast-goals': fast_goals, 'fast-nvidia': fast_nvidia,
          'box': box, 'losses': losses, 'rules': rules, 'promises': promises, 'python': python_cpu, 'python-bytes': python_bytes, 'python-gpu': python_gpu,
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
