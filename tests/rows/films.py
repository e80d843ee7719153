#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Films of every kind through cudaconvolve-film, compared with what went in.

  films.py PROGRAM FOLDER [--all] [--only TEXT] [--write FILE]
                          the films of film_list.py; FOLDER keeps them. Without --all a handful. --only takes the films whose kind
                          or name has this text. --write writes the table
  films.py --losses FOLDER
                          whether the comparison sees what a program can lose: a rich film with planted losses

Films are made and read by ffmpeg and ffprobe, which share no code with GStreamer's demuxers and muxers. Compared are the streams,
their codecs, languages, titles and flags, packets that should be copies, sound that was encoded anew, the times and the picture of
every frame, chapters, tags, covers, and all that a stream says on how its picture is shown. What differs has to be explained in
film_list.py, and the program has to have told of each loss. The exit status is 77 where ffmpeg is missing.
"""
import collections
import concurrent.futures
import functools
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

from film_list import AAC, ALWAYS, FILMS, H264, PICTURE, SOUND

TIME = 0.0015      # s: Matroska's times are whole milliseconds
SYNC = 0.012       # s between picture and sound, against the film
LENGTH = 0.06      # s: sound that is encoded anew comes in whole frames
LAGS = 16         # of 5 ms each, in which a sound is looked for
LIMIT = 120        # s for one run of the program
# Names for one and the same thing: matrices, curves, languages, eyes.
SAME = {'color_space': {'bt470bg': 'smpte170m'},
        'color_transfer': {'smpte170m': 'bt709', 'bt2020-10': 'bt709', 'bt2020-12': 'bt709'}, 'color_primaries': {}}
SAME_LANGUAGE = {'ger': 'deu', 'fre': 'fra', 'dut': 'nld', 'cze': 'ces'}
SAME_EYES = {'side by side': 'left_right', 'top and bottom': 'top_bottom'}
# What the program's output has to name where such a stream or property is not kept.
TOLD = {'sound': 'sound|audio', 'subtitle': 'subtitle|text', 'cover': 'cover|picture|image', 'attachment': 'attachment',
        'data': 'data|stream', 'chapters': 'chapter', 'video': 'video', 'stereo': 'stereo', 'hdr': 'HDR|mastering|light level',
        'alpha': 'alpha', 'timecode': 'time ?code', 'tags': 'tag', 'depth': 'bit|depth', 'chroma': '4:[024]:[024]|chroma'}

SUBTITLES = '1\n00:00:00,100 --> 00:00:00,500\n%s\n\n2\n00:00:00,600 --> 00:00:01,000\n%s <i>kursiv</i>\n'
CHAPTERS = (';FFMETADATA1\ntitle=Sommer\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=Anfang\n'
            '[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1200\ntitle=Schluß\n')


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, **options)


def ffmpeg(*arguments, **options):
    result = run('ffmpeg', '-v', 'error', '-nostdin', '-y', '-threads', '1', *arguments, **options)
    if result.returncode:
        raise RuntimeError('ffmpeg %s: %s' % (' '.join(arguments), result.stderr.decode(errors='replace')[-400:]))
    return result


# The films

def make_parts(folder):
    """The files that recipes name."""
    for name, text in (('de.srt', SUBTITLES % ('Grüße', 'zwei')), ('en.srt', SUBTITLES % ('Greetings', 'two')),
                       ('chapters.txt', CHAPTERS), ('font.ttf', 'not a font, but kept ' * 40)):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(text)
    ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=64x64:d=0.04', '-frames:v', '1', 'cover.jpg', cwd=folder)
    # The second key frame of uncut.mp4 is at 2 s.
    longer = [text.replace('d=1.2', 'd=4') for text in (PICTURE, SOUND)]
    for name, recipe in (('uncut.mp4', ''.join(longer) + H264 + '-g 50 -bf 2 ' + AAC), ('first.ts', PICTURE + H264),
                         ('second.ts', PICTURE.replace('320x180', '240x240') + H264 + '-output_ts_offset 1.28')):
        if not os.path.exists(os.path.join(folder, name)):
            ffmpeg(*shlex.split(recipe), '-fflags', '+bitexact', name, cwd=folder)


def make(film, folder):
    """The name of the film, which is made where its recipe is not that of the file. Two films may share one file."""
    recipe, change = next((other.recipe, other.change) for other in FILMS + [film] if other.name == film.name and other.recipe)
    path = os.path.join(folder, film.name)
    key = hashlib.sha256((recipe + repr(change and change.__code__.co_code) + repr(change and change.__closure__ and [
        cell.cell_contents for cell in change.__closure__])).encode()).hexdigest()
    note = os.path.join(folder, '.' + film.name + '.key')
    if os.path.exists(path) and os.path.exists(note) and open(note).read() == key:
        return path
    ffmpeg(*shlex.split(recipe), '-fflags', '+bitexact', 'file:' + film.name, cwd=folder)
    if change:
        with open(path, 'rb') as file:
            data = file.read()
        with open(path, 'wb') as file:
            file.write(change(data))
    with open(note, 'w') as file:
        file.write(key)
    return path


# What is in a film

@functools.lru_cache(None)
def pixel_formats():
    """For each of ffmpeg's pixel formats: bits, chroma, alpha, whether it is RGB."""
    formats = {}
    for entry in json.loads(run('ffprobe', '-v', 'error', '-show_pixel_formats', '-of', 'json').stdout)['pixel_formats']:
        flags, parts = entry.get('flags', {}), entry.get('components', [])
        count = entry['nb_components']
        rgb = bool(flags.get('rgb')) or bool(flags.get('palette'))
        chroma = 'gray' if count < 3 and not rgb else {(0, 0): '4:4:4', (1, 0): '4:2:2', (1, 1): '4:2:0', (2, 0): '4:1:1'}.get(
            (entry.get('log2_chroma_w', 0), entry.get('log2_chroma_h', 0)), '?')
        bits = parts[0]['bit_depth'] if parts and not flags.get('palette') else 8
        formats[entry['name']] = (bits, chroma, bool(flags.get('alpha')) and not flags.get('palette'), rgb)
    return formats


def number(text):
    """A fraction of ffprobe, or None where it is unknown."""
    over, _, under = str(text or '').replace(':', '/').partition('/')
    try:
        return float(over) / float(under or 1)
    except (ValueError, ZeroDivisionError):
        return None


class Content:
    """What ffprobe says of a film."""

    def __init__(self, path):
        self.path = path
        result = run('ffprobe', '-v', 'error', '-threads', '1', '-show_streams', '-show_format', '-show_chapters', '-show_packets',
                     '-show_frames', '-show_data_hash', 'md5', '-of', 'json', 'file:' + path)
        whole = json.loads(result.stdout or b'{}')
        self.streams = whole.get('streams', [])
        self.format = whole.get('format', {})
        self.chapters = whole.get('chapters', [])
        self.packets, self.frames = collections.defaultdict(list), collections.defaultdict(list)
        for entry in whole.get('packets_and_frames', []):
            if entry['type'] == 'packet':
                self.packets[entry['stream_index']].append(entry)
            elif 'stream_index' in entry:
                self.frames[entry['stream_index']].append(entry)
        self.kinds = collections.defaultdict(list)
        for stream in self.streams:
            kind = stream.get('codec_type', 'data')
            if kind == 'video' and stream.get('disposition', {}).get('attached_pic'):
                kind = 'cover'
            self.kinds[kind].append(stream)

    @property
    def video(self):
        return self.kinds['video'][0] if self.kinds['video'] else None

    def times(self, stream):
        """The times of a stream's frames in seconds."""
        found = [frame.get('best_effort_timestamp_time', frame.get('pts_time')) for frame in self.frames[stream['index']]]
        return [float(time) if time is not None else None for time in found]

    def side_data(self, kind):
        """What the first frame or the stream says of this kind."""
        first = self.frames[self.video['index']][:1]
        for holder in first + [self.video]:
            for data in holder.get('side_data_list', []):
                if data.get('side_data_type', '').startswith(kind):
                    return data
        return {}

    def summary(self):
        words = []
        for stream in self.streams:
            codec = stream.get('codec_name') or stream.get('codec_tag_string', '?')
            if stream in self.kinds['cover']:
                words.append('cover')
            elif stream.get('codec_type') == 'video':
                words.append('%s %dx%d %s' % (codec, stream['width'], stream['height'], stream.get('pix_fmt', '?')))
            elif stream.get('codec_type') == 'audio':
                words.append('%s %s' % (codec, stream.get('channels', '?')))
            else:
                words.append(codec if codec != 'unknown' and not codec.startswith('[0]') else stream.get('codec_type', '?'))
        if self.chapters:
            words.append('%d chapters' % len(self.chapters))
        return ', '.join(words)


def atoms(data, begin, end):
    """The names and places of what is between two places of an MP4 or QuickTime file."""
    while begin + 8 <= end:
        size, name = int.from_bytes(data[begin:begin + 4], 'big'), data[begin + 4:begin + 8]
        head = 16 if size == 1 else 8
        size = int.from_bytes(data[begin + 8:begin + 16], 'big') if size == 1 else size or end - begin
        if size < head:
            return
        yield name, begin + head, begin + size
        begin += size


def names_of_tracks(path):
    """The names of an MP4 file's tracks by their number, which ffprobe 5.1 does not show."""
    with open(path, 'rb') as file:
        if file.read(8)[4:] != b'ftyp':
            return {}
        file.seek(0)
        data = file.read()
    names, number = {}, -1
    for _, *moov in [atom for atom in atoms(data, 0, len(data)) if atom[0] == b'moov']:
        for trak, *place in atoms(data, *moov):
            number += trak == b'trak'
            for udta, *inside in atoms(data, *place) if trak == b'trak' else ():
                for name, begin, end in atoms(data, *inside) if udta == b'udta' else ():
                    if name == b'name':
                        names[number] = data[begin:end].decode()
    return names


def turned(content):
    """The matrix of the display: how it turns and mirrors, as four signs; the upright picture is (1, 0, 0, 1)."""
    matrix = content.side_data('Display Matrix').get('displaymatrix', '')
    rows = [[int(word) for word in line.split(':')[1].split()] for line in matrix.strip().splitlines() if ':' in line]
    if len(rows) < 2:
        return (1, 0, 0, 1)
    return tuple((value > 0) - (value < 0) for value in (rows[0][0], rows[0][1], rows[1][0], rows[1][1]))


# The comparison

def normal(text):
    return None if text in (None, '', 'unknown', 'unspecified', 'reserved') else text


class Comparison:
    """The deviations of a film from the one that went in, as sentences that begin with what deviates."""

    def __init__(self, film, before, after):
        self.film, self.before, self.after = film, before, after
        self.names = [names_of_tracks(content.path) for content in (before, after)]
        self.deviations, self.psnr, self.frames = [], None, 0
        if not before.video or not after.video:
            self.note('video', 'there is none')
            return
        self.compare_shown()
        self.compare_frames()
        self.compare_sounds()
        self.compare_others()
        self.compare_file()

    def note(self, what, text):
        self.deviations.append('%s: %s' % (what, text))

    def differ(self, what, before, after):
        if before != after:
            self.note(what, '%s -> %s' % ('none' if before is None else before, 'none' if after is None else after))

    def compare_frames(self):
        before, after = self.before.times(self.before.video), self.after.times(self.after.video)
        self.frames = len(after)
        if len(before) != len(after):
            self.note('frames', '%d -> %d' % (len(before), len(after)))
        if not before or not after or None in (before[0], after[0]) or None in after:
            self.note('times', 'a frame has none')
        elif len(before) == len(after):
            # AVI's times are the order of decoding, and some frames have none.
            shifts = [abs((b - before[0]) - (a - after[0])) for b, a in zip(before, after) if b is not None]
            if max(shifts) > TIME:
                self.note('times', 'frame %d is %.1f ms away from its place' % (shifts.index(max(shifts)), max(shifts) * 1000))
            # A transport stream begins anywhere.
            if abs(before[0] - after[0]) > 0.2 and 'mpegts' not in self.before.format.get('format_name', ''):
                self.note('start', '%.3f s -> %.3f s' % (before[0], after[0]))
        same_size = not any(deviation.startswith('size') for deviation in self.deviations)
        if same_size and (len(before) == len(after) or self.film.damaged):
            self.compare_pictures()

    def compare_pictures(self):
        formats = pixel_formats()
        first, second = self.before.video.get('pix_fmt'), self.after.video.get('pix_fmt')
        if first not in formats or second not in formats:
            self.note('picture', 'the pixel format is not known')
            return
        bits, _, _, rgb = formats[first]
        common = ('gbrp16le' if bits > 8 else 'gbrp') if rgb else second if formats[second][1] != formats[first][1] else first
        self.psnr = self.measure('format=' + common)
        if self.film.decoder and formats[second][2]:
            alpha = self.measure('format=yuva420p,alphaextract')
            if alpha is None or alpha < self.film.least:
                self.note('alpha', 'the worst frame has %s dB' % alpha)

    def measure(self, form):
        """The worst frame's PSNR. Frames are paired by number; both films are turned upright."""
        decoder = ['-c:v', self.film.decoder] if self.film.decoder else []
        chain = ';'.join('[%d:%d]settb=1/1000,setpts=N*40,scale=flags=accurate_rnd+bitexact,%s[%s]'
                         % (i, content.video['index'], form, 'ab'[i]) for i, content in enumerate((self.before, self.after)))
        try:
            result = ffmpeg(*decoder, '-i', 'file:' + self.before.path, '-i', 'file:' + self.after.path, '-filter_complex',
                            chain + ';[a][b]psnr=stats_file=-:shortest=1[o]', '-map', '[o]', '-vsync', '0', '-f', 'null', '-')
        except RuntimeError as error:
            self.note('picture', 'cannot be compared: ' + ' '.join(str(error).split())[-160:])
            return None
        worst = [None, math.inf]
        for line in result.stdout.decode().splitlines():
            values = dict(pair.split(':', 1) for pair in line.split() if ':' in pair)
            value = values.get('psnr_y', values.get('psnr_avg'))
            if value and float(value) < worst[1]:
                worst = [int(values['n']) - 1, float(value)]
        if worst[1] < self.film.least:
            self.note('picture', 'frame %d has %.1f dB' % tuple(worst))
        return worst[1]

    def compare_shown(self):
        """What the streams say of how the picture is shown."""
        before, after = self.before.video, self.after.video
        turns = turned(self.before), turned(self.after)
        sizes = [(v['width'], v['height']) if t[0] else (v['height'], v['width']) for v, t in zip((before, after), turns)]
        self.differ('size', '%dx%d' % sizes[0], '%dx%d' % sizes[1])
        if turns[0] != turns[1]:
            self.note('turn' if turns[1] == (1, 0, 0, 1) else 'turned twice', 'the matrix %s -> %s' % turns)
        ratios = [number(v.get('sample_aspect_ratio')) or 1 for v in (before, after)]
        ratios = [ratio if turn[0] else 1 / ratio for ratio, turn in zip(ratios, turns)]
        if abs(ratios[0] / ratios[1] - 1) > 0.002:
            self.note('aspect', '%.4f -> %.4f' % tuple(ratios))
        for name in ('color_space', 'color_transfer', 'color_primaries'):
            values = [normal(v.get(name)) for v in (before, after)]
            if values[0] and SAME[name].get(values[0], values[0]) != SAME[name].get(values[1], values[1]):
                self.differ('colour', '%s %s' % (name, values[0]), values[1])
        self.differ('range', *[normal(v.get('color_range')) or 'tv' for v in (before, after)
                               ] if not pixel_formats()[before['pix_fmt']][3] else [1, 1])
        (bits, chroma, alpha, rgb), other = pixel_formats()[before['pix_fmt']], pixel_formats().get(after.get('pix_fmt'))
        if other:
            alpha, other_alpha = [have or 'alpha_mode' in v.get('tags', {}) or 'ALPHA_MODE' in v.get('tags', {})
                                  for have, v in ((alpha, before), (other[2], after))]
            if alpha and not other_alpha:
                self.note('alpha', 'it is gone')
            if other[0] < bits:
                self.differ('depth', bits, other[0])
            names = ['RGB' if form[3] else form[1] for form in (pixel_formats()[before['pix_fmt']], other)]
            if names[0] != names[1] and names != ['gray', '4:2:0']:
                self.differ('chroma', *names)
        fields = [collections.Counter('progressive' if not frame.get('interlaced_frame') else
                                      'top first' if frame.get('top_field_first') else 'bottom first'
                                      for frame in content.frames[content.video['index']]) for content in (self.before, self.after)]
        if [f.most_common(1)[0][0] for f in fields if f][:1] != [f.most_common(1)[0][0] for f in fields if f][1:]:
            self.note('fields', '%s -> %s' % tuple(', '.join(f) for f in fields))
        rates = [number(v.get('avg_frame_rate')) for v in (before, after)]
        if rates[0] and len(self.before.times(before)) > 2 and (not rates[1] or abs(rates[1] / rates[0] - 1) > 0.005):
            self.note('rate', '%.3f -> %s' % (rates[0], rates[1] and '%.3f' % rates[1]))
        self.compare_hdr()
        stereo = [content.side_data('Stereo 3D').get('type') or content.video.get('tags', {}).get('stereo_mode')
                  for content in (self.before, self.after)]
        stereo = [SAME_EYES.get(eyes, eyes) for eyes in stereo]
        if stereo[0]:
            self.differ('stereo', *stereo)

    def compare_hdr(self):
        for kind in ('Mastering display', 'Content light level'):
            values = []
            for content in (self.before, self.after):
                data = content.side_data(kind)
                values.append({name: number(value) for name, value in data.items() if name != 'side_data_type'})
            if values[0] and not values[1]:
                self.note('hdr', '%s metadata is gone' % kind)
            for name, value in values[0].items():
                if values[1] and (values[1].get(name) is None or abs(values[1][name] - value) > 2e-4 + abs(value) * 1e-4):
                    self.note('hdr', '%s %s -> %s' % (name, value, values[1].get(name)))

    def pairs(self, kind, word):
        """Streams of a kind, one after the other; those that are gone or too many are told."""
        before, after = self.before.kinds[kind], self.after.kinds[kind]
        for place in range(len(before)):
            name = word if len(before) == 1 and kind != 'audio' else '%s %d' % (word, place + 1)
            if place >= len(after):
                self.note(name, 'it is gone')
            else:
                yield name, before[place], after[place]
        if len(after) > len(before):
            self.note(word, 'there are %d more' % (len(after) - len(before)))

    def compare_tags(self, name, before, after):
        tags = [{key.lower(): value for key, value in stream.get('tags', {}).items()} for stream in (before, after)]
        languages = [SAME_LANGUAGE.get(tag.get('language', 'und'), tag.get('language', 'und')) for tag in tags]
        if languages[0] != 'und':
            self.differ(name + ': language', *languages)
        titles = [self.names[0].get(before['index'], tags[0].get('title')), self.names[1].get(after['index'], tags[1].get('title'))]
        self.differ(name + ': title', *titles)
        for flag in ('default', 'forced', 'hearing_impaired', 'comment'):
            flags = [stream.get('disposition', {}).get(flag, 0) for stream in (before, after)]
            # One sound plays in MP4, even where Matroska says of none that it does.
            if flag == 'default' and self.after.format.get('format_name', '')[:3] == 'mov' and not any(
                    stream['disposition']['default'] for stream in self.before.kinds[before['codec_type']]):
                continue
            if flags[0] != flags[1] and self.before.format.get('format_name', '')[:3] in ('mov', 'mat'):
                self.differ('%s: flag %s' % (name, flag), *flags)

    def copied(self, name, before, after):
        """Whether the packets are the same. Their times count from the first picture, and those of sound from the first one."""
        packets = self.before.packets[before['index']], self.after.packets[after['index']]
        hashes = [[packet.get('data_hash') for packet in some] for some in packets]
        if hashes[0] != hashes[1]:
            missing = len(hashes[0]) - len(hashes[1])
            first = next((at for at in range(missing + 1) if hashes[1] and hashes[0][at:at + len(hashes[1])] == hashes[1]), None)
            if first is not None:
                self.note(name + ': packets', '%d at the beginning and %d at the end are gone' % (first, missing - first))
            return False
        times = [[float(packet.get('pts_time', 'nan')) for packet in some] for some in packets]
        firsts = [some[:1] for some in times] if before['codec_type'] == 'audio' else [
            content.times(content.video)[:1] for content in (self.before, self.after)]
        shifts = [abs((b - firsts[0][0]) - (a - firsts[1][0])) for b, a in zip(*times)] if all(firsts) else []
        if shifts and max(shifts) > TIME * 2:
            self.note(name + ': times', 'packet %d is %.1f ms away from its place'
                      % (shifts.index(max(shifts)), max(shifts) * 1000))
        return True

    def compare_sounds(self):
        for name, before, after in self.pairs('audio', 'sound'):
            self.compare_tags(name, before, after)
            self.differ(name + ': channels', before.get('channels'), after.get('channels'))
            self.differ(name + ': codec', before.get('codec_name'), after.get('codec_name'))
            if normal(before.get('channel_layout')) and before.get('channels', 0) > 2:
                self.differ(name + ': layout', before['channel_layout'], after.get('channel_layout'))
            copied = self.copied(name, before, after)
            starts = []
            for content, stream in ((self.before, before), (self.after, after)):
                sound, picture = content.times(stream), content.times(content.video)
                starts.append(sound[0] - picture[0] if sound and picture and None not in (sound[0], picture[0]) else None)
            if None in starts:
                self.note(name + ': sync', 'nothing can be decoded')
                continue
            shift = starts[1] - starts[0]
            if not copied or abs(shift) > SYNC:
                shift += self.compare_heard(name, before, after)
            if abs(shift) > SYNC:
                self.note(name + ': sync', 'it is %+.0f ms away from its place beside the picture' % (shift * 1000))

    def compare_heard(self, name, before, after):
        """
        Sound whose packets are not those of the film, or begin elsewhere: encoded anew, or in another framing. Compared is how loud
        each 5 ms are. Returns how much later the sound is in the second film, counted from the first sample, in seconds.
        """
        loud = []
        for content, stream in ((self.before, before), (self.after, after)):
            data = ffmpeg('-i', 'file:' + content.path, '-map', '0:%d' % stream['index'], '-ac', '1', '-ar', '8000', '-f', 's16le',
                          '-').stdout
            samples = memoryview(data[:len(data) // 2 * 2]).cast('h')
            loud.append([sum(abs(sample) for sample in samples[at:at + 40]) for at in range(0, len(samples), 40)])
        if abs(len(loud[0]) - len(loud[1])) * 0.005 > LENGTH:
            self.note(name + ': length', '%.3f s -> %.3f s' % (len(loud[0]) * 0.005, len(loud[1]) * 0.005))
        highest, tried = max(loud[0] + [1]), []
        for lag in range(-LAGS, LAGS + 1):
            both = list(zip(loud[0][max(0, -lag):], loud[1][max(0, lag):]))
            tried.append((sum(abs(a - b) for a, b in both) / max(1, len(both)) / highest, abs(lag), lag))
        difference, _, lag = min(tried)
        if difference > 0.05:
            self.note(name + ': samples', 'the sound differs by %.0f%%' % (difference * 100))
        return lag * 0.005

    def compare_others(self):
        for name, before, after in self.pairs('subtitle', 'subtitle'):
            self.compare_tags(name, before, after)
            self.differ(name + ': codec', before.get('codec_name'), after.get('codec_name'))
            if not self.copied(name, before, after):
                texts = [ffmpeg('-copyts', '-i', 'file:' + content.path, '-map', '0:%d' % stream['index'], '-f', 'srt', '-').stdout.decode()
                         for content, stream in ((self.before, before), (self.after, after))]
                texts = [re.sub('</?font[^>]*>', '', text) for text in texts]
                spans = [re.findall('.* --> .*', text) for text in texts]
                if spans[0] != spans[1]:
                    self.note(name + ': times', '%s -> %s' % tuple(spans))
                if texts[0] != texts[1]:
                    self.note(name + ': text', '%r -> %r' % (texts[0][:60], texts[1][:60]))
        for name, before, after in self.pairs('cover', 'cover'):
            if not self.copied(name, before, after):
                self.note(name, 'its bytes are others')
        for name, before, after in self.pairs('attachment', 'attachment'):
            self.differ(name + ': name', before.get('tags', {}).get('filename'), after.get('tags', {}).get('filename'))
            self.differ(name + ': bytes', before.get('extradata_hash'), after.get('extradata_hash'))
        first = [content.kinds['video'].pop(0) for content in (self.before, self.after)]
        for name, before, after in self.pairs('video', 'video 2'):
            if not self.copied(name, before, after):
                self.differ(name + ': codec', before.get('codec_name'), after.get('codec_name'))
                self.differ(name + ': frames', len(self.before.times(before)), len(self.after.times(after)))
        for content, stream in zip((self.before, self.after), first):
            content.kinds['video'].insert(0, stream)
        data = [[stream for stream in content.kinds['data'] if stream.get('codec_tag_string') not in ('tmcd', 'text')]
                for content in (self.before, self.after)]
        if len(data[0]) > len(data[1]):
            self.note('data', '%d of %d streams are gone' % (len(data[0]) - len(data[1]), len(data[0])))

    def compare_file(self):
        marks = [[(float(c['start_time']), c.get('tags', {}).get('title')) for c in content.chapters]
                 for content in (self.before, self.after)]
        if len(marks[0]) != len(marks[1]):
            self.note('chapters', '%d -> %d' % (len(marks[0]), len(marks[1])))
        elif any(abs(a[0] - b[0]) > TIME or a[1] != b[1] for a, b in zip(*marks)):
            self.note('chapters', '%s -> %s' % tuple(marks))
        ends = [float(content.chapters[-1]['end_time']) for content in (self.before, self.after) if content.chapters]
        if len(ends) == 2 and abs(ends[0] - ends[1]) > LENGTH:
            self.note('chapters: end', '%.3f s -> %.3f s' % tuple(ends))
        tags = [{key.lower(): value for key, value in content.format.get('tags', {}).items()}
                for content in (self.before, self.after)]
        for name in ('title', 'artist', 'comment', 'album', 'genre', 'date', 'location', *(
                key for key in tags[0] if key.startswith('com.'))):
            if tags[0].get(name):
                self.differ('tags: ' + name, tags[0][name], tags[1].get(name))
        # A film without a title has none afterwards. QuickTime writes fractions of a second, and MP4 none.
        if tags[1].get('title') and not tags[0].get('title'):
            self.note('tags: title', 'none -> %s' % tags[1]['title'])
        made = [tag.get('creation_time', '')[:19] for tag in tags]
        if any(made):
            self.differ('creation time', *made)
        codes = [next((stream['tags']['timecode'] for stream in content.streams if stream.get('tags', {}).get('timecode')),
                      content.format.get('tags', {}).get('timecode')) for content in (self.before, self.after)]
        if codes[0]:
            self.differ('timecode', *codes)
        lengths = [float(content.format.get('duration', 0)) - float(content.format.get('start_time') or 0) * (
            content.format.get('format_name', '')[:3] in ('mat', 'flv')) for content in (self.before, self.after)]
        if abs(lengths[0] - lengths[1]) > LENGTH and lengths[0]:
            self.note('duration', '%.3f s -> %.3f s' % tuple(lengths))


# The program

class Outcome:
    def __init__(self, film):
        self.film = film
        self.ins = self.outs = ''
        self.frames = self.psnr = self.seconds = None
        self.faults, self.reasons = [], []

    def verdict(self):
        return 'FAULT: ' + '; '.join(self.faults) if self.faults else '; '.join(dict.fromkeys(self.reasons)) or 'kept'


def judge(outcome, deviations, said):
    """Deviations become reasons where film_list.py has one and the program told of the loss, and faults otherwise."""
    known = dict(outcome.film.known, **ALWAYS)
    for deviation in deviations:
        reason = next((reason for begin, reason in known.items() if re.match(begin, deviation)), None)
        told = TOLD.get(re.match(r'[a-z]+', deviation).group())
        if reason is None:
            outcome.faults.append(deviation)
        elif (told and not reason.endswith('(not told)') and not re.search(told, said, re.I)
              and re.search(': (it is gone|.* -> none|.* are gone|[0-9]+ -> 0)$', deviation)):
            outcome.faults.append('%s, and the program says nothing of it' % deviation)
        else:
            outcome.reasons.append(reason)
    for begin in outcome.film.known:
        if not any(re.match(begin, deviation) for deviation in deviations):
            outcome.reasons.append('(no longer: %s)' % begin)


def convolve(program, film, folder):
    """Runs the program on one film, and compares."""
    outcome = Outcome(film)
    try:
        source = make(film, os.path.join(folder, 'in'))
    except RuntimeError as error:
        outcome.faults.append('the film was not made: ' + ' '.join(str(error).split())[-200:])
        return outcome
    stem = re.sub('[^a-z0-9]+', '-', film.kind.lower()).strip('-')
    place = os.path.join(folder, 'out', stem)
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    output = os.path.join(place, os.path.splitext(film.name)[0] + '.' + film.to)
    with open(source, 'rb') as file:
        before_bytes = hashlib.md5(file.read()).digest()
    begin = time.monotonic()
    # A film whose name begins with a dash is given as a user would: in its folder, after --.
    names = ['--', os.path.basename(source), output] if film.name.startswith('-') else [source, output]
    command = [program] + shlex.split(film.options) + names + film.properties.split()
    try:
        result = run(*command, cwd=os.path.dirname(source), stdin=subprocess.DEVNULL)
        status, said = result.returncode, (result.stdout + result.stderr).decode(errors='replace')
    except subprocess.TimeoutExpired as error:
        status, said = 'none after %d s' % LIMIT, ((error.stdout or b'') + (error.stderr or b'')).decode(errors='replace')
    outcome.seconds = time.monotonic() - begin
    with open(os.path.join(place, 'said'), 'w') as file:
        file.write('%s\n%s\nstatus %s\n' % (' '.join(map(shlex.quote, command)), said, status))
    with open(source, 'rb') as file:
        if hashlib.md5(file.read()).digest() != before_bytes:
            outcome.faults.append('the input was changed')
    left = sorted(set(os.listdir(place)) - {'said', os.path.basename(output)})
    if left:
        outcome.faults.append('left behind: ' + ', '.join(left))
    lines = [line for line in said.replace('\r', '\n').splitlines() if line.strip()]
    if film.error is not None or film.damaged and status != 0:
        refused(outcome, status, lines, output)
    elif status != 0:
        outcome.faults.append('exit status %s: %s' % (status, lines[-1] if lines else 'no word'))
    elif not os.path.exists(output):
        outcome.faults.append('exit status 0, and there is no output')
    else:
        compare(outcome, source, output, said)
    return outcome


def refused(outcome, status, lines, output):
    """A film that the program refuses: one line says why, and there is no output."""
    film = outcome.film
    if status not in (1, 2):
        outcome.faults.append('exit status %s and not 1: %s' % (status, lines[-1] if lines else 'no word'))
    if os.path.exists(output):
        outcome.faults.append('there is an output')
    text = lines[-1] if lines else ''
    if not text or not re.search(film.error or '', text, re.I):
        outcome.faults.append('the line does not say "%s": %s' % (film.error, text))
    outcome.reasons.append('refused: ' + re.sub('^cudaconvolve-film: |/[^ :]*/', '', text)[:160])


def compare(outcome, source, output, said):
    before, after = Content(source), Content(output)
    comparison = Comparison(outcome.film, before, after)
    outcome.ins, outcome.outs = before.summary(), after.summary()
    outcome.frames, outcome.psnr = comparison.frames, comparison.psnr
    if not re.search(outcome.film.says, said):
        outcome.faults.append('the program does not say "%s"' % outcome.film.says)
    if outcome.film.damaged:
        wrong = [d for d in comparison.deviations if re.match('frames|times|picture', d)]
        if wrong and not re.search('damag|lost|missing|broken|corrupt|error|warning|incomplete', said, re.I):
            outcome.faults += [d + ', and the program says nothing of it' for d in wrong]
        outcome.reasons.append('%d frames are left' % comparison.frames)
    else:
        judge(outcome, comparison.deviations, said)


# The table

PAGE = """# Films through cudaconvolve-film

`python3 tests/rows/films.py build/examples/film/cudaconvolve-film out/films --all --write tests/results/films.md` wrote this page:
%d films, %d as they should be.
%s, %s, commit %s, %s, two cores that others used, too.

Each film has some 1.2 seconds of 320x180, is made by ffmpeg, and goes through `mask=identity`. ffprobe and ffmpeg read both films.
PSNR is that of the luma of the worst frame. "kept" says that all of these are as before:

- the number of frames, the time of each, and the picture of each, upright
- size, shape of pixels, turn, colours, range, depth, chroma, transparency, fields, rate, HDR metadata and both eyes of stereo
- the packets of each sound, their times beside the picture, channels, language, title and flags; the same of subtitles
- covers, attachments, further videos, chapters, tags, and the duration

Other words are the reasons for what is not kept. The program tells of each stream that is gone, except where the reason says "not
told", because GStreamer does not show such a thing to the program. `tests/rows/films.py --losses` plants %d losses, and the comparison
finds each.

`tests/rows/films.sh` has further cases. The earlier output stays as it was, and nothing else is left, where the program is stopped, the
disk is full, the folder may not be written, no decoder or encoder is installed, the output is the film itself under any name, or an
argument is written wrongly. After SIGKILL the earlier output stays, too.

| film | streams in | streams out | frames | PSNR, dB | seconds | what is kept |
| --- | --- | --- | --- | --- | --- | --- |"""

def table(outcomes):
    def cell(text):
        return str(text).replace('|', '\\|').replace('\n', ' ')
    version = run('gst-inspect-1.0', '--version').stdout.decode().split('\n')[1].strip()
    commit = run('git', 'rev-parse', '--short', 'HEAD').stdout.decode().strip()
    good = sum(not outcome.faults for outcome in outcomes)
    lines = [PAGE % (len(outcomes), good, version, run('ffmpeg', '-version').stdout.decode().split(' Copyright')[0], commit,
                     time.strftime('%Y-%m-%d', time.gmtime()), sum(bool(loss[3]) for loss in LOSSES))]
    for outcome in outcomes:
        psnr = '' if outcome.psnr is None else 'equal' if outcome.psnr == math.inf else '%.1f' % outcome.psnr
        lines.append('| %s (%s) | %s | %s | %s | %s | %s | %s |' % tuple(cell(text) for text in (
            outcome.film.kind, outcome.film.name, outcome.ins, outcome.outs,
            '' if outcome.frames is None else outcome.frames, psnr,
            '%.1f' % outcome.seconds if outcome.seconds is not None else '', outcome.verdict())))
    return '\n'.join(lines) + '\n'


# Whether the comparison sees what is lost

# A film of film_list.py, what is lost, ffmpeg's arguments after the input, what the deviation begins with
AGAIN = '-map 0 -c copy -c:v libx264 -crf 10 '
LOSSES = [
    ('rich.mkv', 'nothing', '-map 0 -c copy', None),
    ('rich.mkv', 'a sound', '-map 0 -map -0:a:1 -c copy', 'sound 2: it is gone'),
    ('rich.mkv', 'the order of the sounds', '-map 0:v -map 0:a:1 -map 0:a:0 -map 0:s -map 0:t? -c copy', 'sound 1: language'),
    ('rich.mkv', 'a language', '-map 0 -c copy -metadata:s:a:0 language=fra', 'sound 1: language'),
    ('rich.mkv', 'a flag', '-map 0 -c copy -disposition:s:1 0', 'subtitle 2: flag forced'),
    ('rich.mkv', 'the name of a sound', '-map 0 -c copy -metadata:s:a:1 title=', 'sound 2: title'),
    ('recorded.mov', 'the day of recording', '-map 0 -c copy -movflags use_metadata_tags -metadata creation_time=2020-01-01T00:00:00Z',
     'creation time'),
    ('recorded.mov', 'the camera', '-map 0 -c copy -movflags use_metadata_tags -metadata com.apple.quicktime.model=', 'tags: com.apple'),
    ('rich.mkv', 'loudness', '-map 0 -c copy -c:a:0 aac -filter:a:0 volume=0.5', 'sound 1: samples'),
    ('rich.mkv', 'a second of sound', '-map 0 -c copy -c:a:0 aac -filter:a:0 atrim=0:0.9', 'sound 1: length'),
    ('rich.mkv', 'sound that is encoded anew late', '-map 0 -c copy -c:a:0 aac -filter:a:0 adelay=40', 'sound 1: sync'),
    ('rich.mkv', 'subtitles', '-map 0 -map -0:s:0 -c copy', 'subtitle 2: it is gone'),
    ('rich.mkv', 'a subtitle that is late', '-map 0:v -map 0:a -map 1:s:0 -map 0:s:1 -c copy -map_chapters 0', 'subtitle 1: times'),
    ('rich.mkv', 'chapters', '-map 0 -c copy -map_chapters -1', 'chapters'),
    ('rich.mkv', 'a tag', '-map 0 -c copy -metadata title=Winter', 'tags: title'),
    ('rich.mkv', 'the sound is late', '-map 0:v -map 1:a -map 0:s -c copy', 'sound 1: sync'),
    ('rich.mkv', 'a frame', AGAIN + "-vf 'select=not(eq(n\\,12))'", 'frames'),
    ('rich.mkv', 'the order of two frames', AGAIN + '-vf shuffleframes=0|1|2|4|3', 'picture'),
    ('rich.mkv', 'light', AGAIN + '-vf eq=brightness=0.05', 'picture'),
    ('rich.mkv', 'the time of a frame', AGAIN + "-vf 'setpts=PTS+eq(N\\,9)*0.011/TB'", 'times'),
    ('rich.mkv', 'the range', AGAIN + '-pix_fmt yuvj420p', 'range'),
    ('rich.mkv', 'the aspect', AGAIN + '-vf setsar=4/3', 'aspect'),
    ('rich.mkv', 'the size', AGAIN + '-vf scale=318:180', 'size'),
    ('rich.mkv', 'progressive frames', AGAIN + '-x264-params tff=1', 'fields'),
    ('cover.mp4', 'nothing, mp4', '-map 0 -c copy', None),
    ('cover.mp4', 'the cover', '-map 0 -map -0:v:1 -c copy', 'cover: it is gone'),
    ('phone-90.mp4', 'the turn', '-map 0 -c copy -metadata:s:v:0 rotate=0', 'turn'),
    ('phone-90.mp4', 'the turn of the picture', '-map 0 -c:a copy -vf transpose=cclock', 'size'),
    ('hdr10.mp4', 'nothing, HDR', '-map 0 -c copy', None),
    ('hdr10.mp4', 'the curve', '-map 0 -c copy -bsf:v hevc_metadata=transfer_characteristics=1', 'colour: color_transfer'),
    ('hdr10.mp4', 'depth', AGAIN + '-pix_fmt yuv420p', 'depth'),
    ('hdr10.mp4', 'mastering data', AGAIN + '-pix_fmt yuv420p10le -x264-params ""', 'hdr'),
]


def losses(folder):
    os.makedirs(os.path.join(folder, 'out'), exist_ok=True)
    for name in sorted({loss[0] for loss in LOSSES}):
        make(next(film for film in FILMS if film.name == name), os.path.join(folder, 'in'))

    def lose(number):
        name, lost, arguments, expected = LOSSES[number]
        film = next(film for film in FILMS if film.name == name)
        source = make(film, os.path.join(folder, 'in'))
        output = os.path.join(folder, 'out', 'loss-%d%s' % (number, os.path.splitext(name)[1]))
        late = ['-itsoffset', '0.04', '-i', source] if 'late' in lost else []
        ffmpeg('-i', source, *late, *shlex.split(arguments), '-vsync', '0', '-enc_time_base', '1/1000', '-threads', '1', output)
        deviations = Comparison(film, Content(source), Content(output)).deviations
        os.remove(output)
        found = not deviations if expected is None else any(d.startswith(expected) for d in deviations)
        print('%-5s %s: %s' % ('ok' if found else 'FAIL', lost, '; '.join(deviations) or 'no deviation'), flush=True)
        return found
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(not found for found in pool.map(lose, range(len(LOSSES))))


def main():
    arguments = sys.argv[1:]
    if not shutil.which('ffmpeg') or not shutil.which('ffprobe'):
        print('ffmpeg is missing: the package ffmpeg')
        return 77
    if arguments[:1] == ['--losses']:
        folder, program = arguments[1], None
    else:
        program, folder = os.path.abspath(arguments[0]), arguments[1]
    folder = os.path.abspath(folder)
    os.makedirs(os.path.join(folder, 'in'), exist_ok=True)
    make_parts(os.path.join(folder, 'in'))
    if not program:
        return 1 if losses(folder) else 0
    only = arguments[arguments.index('--only') + 1] if '--only' in arguments else None
    films = [film for film in FILMS if (only in film.kind or only in film.name if only else '--all' in arguments or film.quick)]
    # Two films of one file would make it at the same time.
    for film in films:
        if sum(other.name == film.name for other in films) > 1:
            make(film, os.path.join(folder, 'in'))
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(lambda film: convolve(program, film, folder), films):
            print('%-5s %s, %.1f s: %s' % ('FAIL' if outcome.faults else 'ok', outcome.film.kind, outcome.seconds or 0,
                                           outcome.verdict()), flush=True)
            outcomes.append(outcome)
    bad = sum(bool(outcome.faults) for outcome in outcomes)
    print('%d films, %d with faults' % (len(outcomes), bad))
    if '--write' in arguments:
        with open(arguments[arguments.index('--write') + 1], 'w') as file:
            file.write(table(outcomes))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
