#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws what bench_cpu measured: milliseconds a frame over mask width, both axes logarithmic, a panel for each kind of
weights, most threads only.

    tests/bench/bench_cpu_plot.py TABLE.csv SIZE >PLOT.svg
"""
import csv
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 260, 56, 44, 36
COLOURS = {'cpu': '#1a6faf', 'peer': '#c2571a'}


def main():
    with open(sys.argv[1]) as file:
        rows = [row for row in csv.DictReader(file) if row['size'] == sys.argv[2]]
    most = max(int(row['threads']) for row in rows)
    rows = [row for row in rows if int(row['threads']) == most]
    kinds = list(dict.fromkeys(row['kind'] for row in rows))
    sides = sorted({int(row['side']) for row in rows})
    times = [float(row['median_us']) / 1000 for row in rows]
    low, high = 10 ** math.floor(math.log10(min(times))), 10 ** math.ceil(math.log10(max(times)))

    def across(panel, side):
        share = math.log(side / sides[0]) / math.log(sides[-1] / sides[0])
        return LEFT + panel * (WIDTH + GAP) + share * WIDTH

    def down(ms):
        return TOP + HEIGHT * math.log(high / ms) / math.log(high / low)

    total = LEFT + len(kinds) * (WIDTH + GAP)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {TOP + HEIGHT + 44}" '
          'font-family="sans-serif" font-size="12">')
    print(f'<rect width="{total}" height="{TOP + HEIGHT + 44}" fill="white"/>')
    for panel, kind in enumerate(kinds):
        left, right = across(panel, sides[0]), across(panel, sides[-1])
        mine = [row for row in rows if row['kind'] == kind]
        peer = next((row['what'] for row in mine if not row['what'].startswith('cpu')), '')
        print(f'<text x="{left}" y="{TOP - 24}" font-weight="bold">{kind}, {sys.argv[2]} GRAY8, {most} threads</text>')
        print(f'<text x="{left}" y="{TOP - 8}"><tspan fill="{COLOURS["cpu"]}">cpu</tspan> '
              f'<tspan fill="{COLOURS["peer"]}">{peer}</tspan></text>')
        decade = low
        while decade <= high * 1.001:
            print(f'<path d="M{left:.0f} {down(decade):.1f}H{right:.0f}" stroke="#ddd"/>')
            print(f'<text x="{left - 6:.0f}" y="{down(decade) + 4:.1f}" text-anchor="end">{decade:g}</text>')
            decade *= 10
        for side in sides:
            print(f'<text x="{across(panel, side):.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{side}</text>')
        for what in ('cpu', 'peer'):
            points = [(across(panel, int(row['side'])), down(float(row['median_us']) / 1000)) for row in mine
                      if row['what'].startswith('cpu') == (what == 'cpu')]
            path = 'L'.join(f'{x:.1f} {y:.1f}' for x, y in points)
            print(f'<path d="M{path}" fill="none" stroke="{COLOURS[what]}" stroke-width="2"/>')
            for x, y in points:
                print(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[what]}"/>')
    print(f'<text x="{total / 2}" y="{TOP + HEIGHT + 36}" text-anchor="middle">width of the mask; milliseconds a frame'
          '</text>')
    print('</svg>')


main()
