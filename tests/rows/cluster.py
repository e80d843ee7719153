# SPDX-License-Identifier: LGPL-2.1-or-later
"""Films for the tests of examples/cluster/, and what is in a film.

  cluster.py make KIND FILE [SECONDS]      writes a test film; exit status 77 where an element is missing
  cluster.py same FILM JOINED [PROPERTY=VALUE...]
                                           decodes FILM through the element, without any program of examples/cluster/, and
                                           JOINED as it is: the same frames, at the same times, with the same sound
  cluster.py before FILM FOLDER [PROPERTY=VALUE...]
                                           the frames before encoding, as the records in FOLDER state them, are FILM's

"""
import glob
import hashlib
import json
import re
import struct
import sys
import zlib

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

PICTURE = "videotestsrc num-buffers=%(frames)d pattern=%(pattern)s ! video/x-raw,width=320,height=180,framerate=25/1,format=I420 ! timeoverlay"
X264 = "x264enc speed-preset=veryfast threads=1 quantizer=24 key-int-max=25"
SOUND = "audiotestsrc num-buffers=%(sound)d samplesperbuffer=960 wave=ticks ! audio/x-raw,rate=48000,channels=2 ! audioconvert"
KINDS = {
    # B-frames and closed GOPs, with AAC, in MP4
    "closed": PICTURE + " ! " + X264 + " bframes=3 option-string=open-gop=0 ! h264parse ! mp4mux name=mux ! filesink name=sink "
              + SOUND + " ! avenc_aac ! aacparse ! queue max-size-time=0 max-size-buffers=0 ! mux.",
    # GOPs of 26 frames, and every fourth frame is no B-frame: so B-frames stand before a keyframe
    "open": PICTURE + " ! " + X264.replace("25", "26") + " bframes=3 b-adapt=false option-string=open-gop=1:b-pyramid=none ! h264parse ! "
            "matroskamux ! filesink name=sink",
    "open-hevc": PICTURE + " ! x265enc speed-preset=ultrafast key-int-max=26 "
                 "option-string=open-gop=1:bframes=3:b-adapt=0:keyint=26:min-keyint=26:scenecut=0:pools=1 ! h265parse ! mp4mux ! "
                 "filesink name=sink",
    "refresh": PICTURE + " ! " + X264 + " intra-refresh=true ! h264parse ! matroskamux ! filesink name=sink",
    # two frames to a GOP, so that times of decoding and of showing lie GOPs apart
    "short": PICTURE + " ! x264enc speed-preset=veryfast threads=1 quantizer=24 key-int-max=3 bframes=2 b-adapt=false ! h264parse ! "
             "mp4mux ! filesink name=sink",
    "vp8": PICTURE + " ! vp8enc deadline=1 cpu-used=8 keyframe-max-dist=25 ! webmmux name=mux ! filesink name=sink "
           + SOUND + " ! opusenc ! queue max-size-time=0 max-size-buffers=0 ! mux.",
    # frames that are shown for 40, 80, 120 ms and so on, and no frame rate
    "irregular": PICTURE + " ! identity drop-probability=0.4 ! " + X264 + " bframes=2 ! h264parse ! matroskamux ! filesink name=sink",
    "irregular-mp4": PICTURE + " ! identity drop-probability=0.4 ! " + X264 + " bframes=2 ! h264parse ! mp4mux ! filesink name=sink",
    "turned": PICTURE + " ! " + X264 + " bframes=2 ! h264parse ! mp4mux ! filesink name=sink",
    "subtitled": PICTURE + " ! " + X264 + " bframes=2 ! h264parse ! taginject tags=title=rings ! matroskamux name=mux ! filesink name=sink "
                 + SOUND + " ! opusenc ! taginject tags=language-code=de ! queue max-size-time=0 max-size-buffers=0 ! mux. "
                 "filesrc name=text ! subparse ! queue ! mux.",
    "hdr": "videotestsrc num-buffers=%(frames)d pattern=%(pattern)s ! timeoverlay ! videoconvert ! "
           "video/x-raw,width=320,height=180,framerate=25/1,format=I420_10LE,colorimetry=bt2100-pq ! "
           "x265enc speed-preset=ultrafast key-int-max=25 option-string=pools=1 ! h265parse ! matroskamux ! filesink name=sink",
    "late": "videotestsrc num-buffers=%(frames)d timestamp-offset=%(offset)d pattern=%(pattern)s ! "
            "video/x-raw,width=320,height=180,framerate=25/1,format=I420 ! timeoverlay ! " + X264 + " bframes=2 ! h264parse ! "
            "matroskamux offset-to-zero=false ! filesink name=sink",
    "later": "", # as late, by a fifth of a second
    "transport": PICTURE + " ! " + X264 + " bframes=2 ! h264parse ! mpegtsmux ! filesink name=sink",
}


def fail(text):
    print("cluster.py: " + text, file=sys.stderr)
    sys.exit(1)


def play(pipeline):
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    message = bus.timed_pop_filtered(600 * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    pipeline.set_state(Gst.State.NULL)
    if message is None:
        fail("no end after 600 s")
    if message.type == Gst.MessageType.ERROR:
        fail("%s: %s" % (message.src.get_name(), message.parse_error()[0].message))


def make(kind, path, seconds):
    frames = round(25 * seconds)
    line = KINDS["late" if kind == "later" else kind] % {"frames": frames, "pattern": "ball", "sound": frames * 2, "offset": 205000000 if kind == "later" else 3000000000}
    # The word after each "!" is an element, a pad of one or caps.
    for word in re.findall(r"(?:^|!)\s*([a-z][a-z0-9_]*)(?=\s|$)", line):
        if Gst.ElementFactory.find(word) is None:
            print("there is no element %s" % word)
            sys.exit(77)
    pipeline = Gst.parse_launch(line)
    pipeline.get_by_name("sink").set_property("location", path)
    if kind == "subtitled":
        with open(path + ".srt", "w") as file:
            for i in range(int(seconds)):
                file.write("%d\n00:00:%02d,200 --> 00:00:%02d,700\n%s %d\n\n" % (i + 1, i, i, ("don't & won't", "<i>so</i>")[i % 2], i))
        pipeline.get_by_name("text").set_property("location", path + ".srt")
    play(pipeline)
    if kind == "turned":
        turn(path)
    if kind.startswith("open") and leading(path) < seconds / 2:
        fail("%s: the GOPs are not open, so that this film tests nothing" % path)


def turn(path):
    """Writes a rotation by 90 degrees into the matrix of the track's header."""
    with open(path, "r+b") as file:
        data = file.read()
        place = data.index(b"tkhd") + 4 + 40
        if data[place:place + 4] != (0x10000).to_bytes(4, "big"):
            fail("the matrix is not where it should be")
        file.seek(place)
        file.write(struct.pack(">9i", 0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000))


def leading(path):
    """How many keyframes are followed in the file by frames that are shown before them."""
    pipeline = Gst.parse_launch("filesrc name=source ! parsebin ! fakesink name=sink sync=false")
    pipeline.get_by_name("source").set_property("location", path)
    seen = {"keyframe": None, "count": 0}

    def picture_comes(pad, info):
        buffer = info.get_buffer()
        if not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT):
            seen["keyframe"] = buffer.pts
        elif seen["keyframe"] is not None and buffer.pts < seen["keyframe"]:
            seen.update(keyframe=None, count=seen["count"] + 1)
        return Gst.PadProbeReturn.OK

    pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, picture_comes)
    play(pipeline)
    print("%d of the keyframes have frames after them that are shown before" % seen["count"])
    return seen["count"]


# --- what is in a film ---


class Film:
    """Lists of (time, CRC-32) of the frames, and of the parts of each other stream by its kind; and the video's format."""

    def __init__(self, path, properties=None):
        self.frames, self.others, self.info, self.tags = [], {}, None, {}
        self.read_frames(path, properties)
        self.read_others(path)

    def read_frames(self, path, properties):
        middle = "" if properties is None else "! cudaconvolve %s ! videoflip video-direction=auto " % " ".join(properties)
        # FFV1 does not have all formats; what the element gives is what counts.
        pipeline = Gst.parse_launch("filesrc name=source ! decodebin name=decode ! video/x-raw %s! fakesink name=sink sync=false" % middle)
        pipeline.get_by_name("source").set_property("location", path)
        pad = pipeline.get_by_name("sink").get_static_pad("sink")
        pad.add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.EVENT_DOWNSTREAM, self.frame_comes)
        play(pipeline)

    def frame_comes(self, pad, info):
        if info.type & Gst.PadProbeType.EVENT_DOWNSTREAM:
            event = info.get_event()
            if event.type == Gst.EventType.CAPS:
                self.info = GstVideo.VideoInfo.new_from_caps(event.parse_caps())
            return Gst.PadProbeReturn.OK
        buffer = info.get_buffer()
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        self.frames.append((segment.to_stream_time(Gst.Format.TIME, buffer.pts), self.crc(buffer)))
        return Gst.PadProbeReturn.OK

    def crc(self, buffer):
        """Of the three planes, without what pads their rows."""
        ok, data = buffer.map(Gst.MapFlags.READ)
        meta, info, crc = GstVideo.buffer_get_video_meta(buffer), self.info, 0
        view = memoryview(data.data)
        for plane in range(info.finfo.n_planes):
            offset, stride = (meta.offset[plane], meta.stride[plane]) if meta else (info.offset[plane], info.stride[plane])
            halves = [plane > 0 and sub[1] > 0 for sub in (info.finfo.w_sub, info.finfo.h_sub)]
            width, height = ((size + 1) // 2 if half else size for size, half in zip((info.width, info.height), halves))
            width *= info.finfo.pixel_stride[0]
            for row in range(height):
                crc = zlib.crc32(view[offset + row * stride:offset + row * stride + width], crc)
        buffer.unmap(data)
        return crc

    def read_others(self, path):
        pipeline = Gst.parse_launch("filesrc name=source ! parsebin name=parse")
        pipeline.get_by_name("source").set_property("location", path)

        def stream_found(parse, pad):
            kind = (pad.get_current_caps() or pad.query_caps(None)).get_structure(0).get_name()
            sink = Gst.ElementFactory.make("fakesink")
            sink.set_property("async", False)
            sink.set_property("sync", False)
            pipeline.add(sink)
            sink.sync_state_with_parent()
            if not kind.startswith("video/"):
                parts = self.others.setdefault(kind, [])
                sink.get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, part_comes, parts)
                sink.get_static_pad("sink").add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, tag_comes, kind)
            pad.link(sink.get_static_pad("sink"))

        def part_comes(pad, info, parts):
            buffer = info.get_buffer()
            ok, data = buffer.map(Gst.MapFlags.READ)
            parts.append((buffer.pts, zlib.crc32(data.data)))
            buffer.unmap(data)
            return Gst.PadProbeReturn.OK

        def tag_comes(pad, info, kind):
            event = info.get_event()
            if event.type == Gst.EventType.TAG:
                tags = event.parse_tag()
                for name in ("title", "language-code"):
                    known, value = tags.get_string(name)
                    if known:
                        self.tags[name] = value
            return Gst.PadProbeReturn.OK

        pipeline.get_by_name("parse").connect("pad-added", stream_found)
        play(pipeline)


def same_list(name, ours, theirs):
    """The same checksums, and times that differ by no more than Matroska's rounding."""
    if [crc for _, crc in ours] != [crc for _, crc in theirs]:
        first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a[1] != b[1]), min(len(ours), len(theirs)))
        fail("%s: %d and %d, different from number %d on" % (name, len(ours), len(theirs), first))
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if abs(a[0] - b[0]) > Gst.MSECOND:
            fail("%s: number %d at %d and %d ns" % (name, i, a[0], b[0]))


def same(film, joined, properties):
    a, b = Film(film, properties), Film(joined)
    same_list("frames", a.frames, b.frames)
    if not a.frames or len({crc for _, crc in a.frames}) < len(a.frames) // 2:
        fail("the film has too few different frames to tell an order")
    if sorted(a.others) != sorted(b.others):
        fail("streams: %s and %s" % (sorted(a.others), sorted(b.others)))
    for kind in a.others:
        same_list(kind, a.others[kind], b.others[kind])
        if not a.others[kind]:
            fail("%s: empty" % kind)
    # Matroska's demuxer adds a language where the film has none.
    if {name: b.tags.get(name) for name in a.tags} != a.tags:
        fail("tags: %s and %s" % (a.tags, b.tags))
    colours = [(i.colorimetry.range, i.colorimetry.matrix, i.colorimetry.transfer, i.colorimetry.primaries, i.width, i.height,
                i.par_n, i.par_d) for i in (a.info, b.info)]
    if colours[0] != colours[1]:
        fail("colorimetry and size: %s and %s" % (colours[0], colours[1]))
    print("%d frames, %s" % (len(a.frames), ", ".join("%d parts of %s" % (len(v), k) for k, v in a.others.items()) or "no sound"))


def before(film, folder, properties):
    frames = [crc for _, crc in Film(film, properties).frames]
    for path in sorted(glob.glob(folder + "/0*.mkv.json")):
        with open(path) as file:
            record = json.load(file)
        part, frames = frames[:record["frames"]], frames[record["frames"]:]
        total = hashlib.sha256(b"".join(crc.to_bytes(4, "little") for crc in part)).hexdigest()
        if total != record["frames-before-encoding"]:
            fail("%s: other frames" % path)
    if frames:
        fail("%d frames are in no piece" % len(frames))


def main():
    Gst.init(None)
    command, words = sys.argv[1], sys.argv[2:]
    if command == "make":
        make(words[0], words[1], float(words[2]) if len(words) > 2 else 7)
    elif command == "same":
        same(words[0], words[1], words[2:])
    elif command == "before":
        before(words[0], words[1], words[2:])
    else:
        fail("%s: not known" % command)


if __name__ == "__main__":
    main()
