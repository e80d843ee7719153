# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads where a film can be cut. Nothing is decoded."""
import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

# Their indices lead to a frame by its time.
CONTAINERS = ("video/x-matroska", "video/webm", "video/quicktime")
# Matroska does not hold these tags, or they are of one stream's encoder and no longer true.
STALE_TAGS = ("codec", "video-codec", "audio-codec", "container-format", "encoder", "encoder-version", "bitrate",
              "minimum-bitrate", "maximum-bitrate", "nominal-bitrate", "image-orientation", "has-crc")


class Problem(Exception):
    """What went wrong, in words for the user."""


# --- playing a pipeline ---


def play(pipeline, name):
    """Plays to the end; raises Problem with the first error. name is what the message is about."""
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while True:
            message = bus.timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.ERROR | Gst.MessageType.EOS)
            if message.type == Gst.MessageType.EOS:
                return
            error, _ = message.parse_error()
            raise Problem("%s: %s: %s" % (name, message.src.get_name(), error.message))
    finally:
        pipeline.set_state(Gst.State.NULL)


def stream_time(pad, pts):
    """The film's time of a buffer that comes through the pad, or None where the buffer is not shown."""
    event = pad.get_sticky_event(Gst.EventType.SEGMENT, 0)
    if event is None or pts == Gst.CLOCK_TIME_NONE:
        return None
    segment = event.parse_segment()
    if pts >= segment.stop:  # CLOCK_TIME_NONE is greater than any time
        return None
    time = segment.to_stream_time(Gst.Format.TIME, pts)
    return None if time == Gst.CLOCK_TIME_NONE else time


def kind_of(pad):
    caps = pad.get_current_caps() or pad.query_caps(None)
    return caps.get_structure(0).get_name()


def is_video(pad):
    return kind_of(pad).startswith(("video/", "image/"))


# --- reading a film ---


def nal_units(data, caps):
    """The NAL units of an H.264 picture, with start codes or with lengths before them."""
    known, header = caps.get_structure(0).get_value("codec_data"), None
    if known is not None:
        ok, header = known.map(Gst.MapFlags.READ)
        size = (header.data[4] & 3) + 1
        known.unmap(header)
        place = 0
        while place + size <= len(data):
            length = int.from_bytes(data[place:place + size], "big")
            yield data[place + size:place + size + length]
            place += size + length
    else:
        for unit in data.split(b"\0\0\1")[1:]:
            yield unit


def recovers_at_once(unit):
    """Whether a SEI unit has a recovery point with a recovery_frame_cnt of 0, whose Exp-Golomb code is a single 1."""
    unit = unit.replace(b"\0\0\3", b"\0\0")
    place = 1
    while place + 2 < len(unit):
        numbers = []
        for _ in range(2):  # type and size: bytes of 255 are added up
            number = 0
            while place < len(unit) and unit[place] == 255:
                number, place = number + 255, place + 1
            if place >= len(unit):
                return False
            numbers.append(number + unit[place])
            place += 1
        if numbers[0] == 6 and place < len(unit):
            return unit[place] & 0x80 != 0
        place += numbers[1]
    return False


def decodable_from(buffer, caps):
    """
    Whether what is shown from this keyframe on needs no frame before. Files mark as keyframes also the points where a
    picture is refreshed bit by bit (x264's intra-refresh), after which frames are wrong for a while.
    """
    if caps is None or caps.get_structure(0).get_name() != "video/x-h264":
        return True
    ok, data = buffer.map(Gst.MapFlags.READ)
    try:
        units = [unit for unit in nal_units(bytes(data.data), caps) if unit]
    finally:
        buffer.unmap(data)
    return any(unit[0] & 31 == 5 or (unit[0] & 31 == 6 and recovers_at_once(unit)) for unit in units)


def scan(path):
    """The film's frames and tags, read without decoding: a list of (time, a piece can begin here), and what the plan needs."""
    pipeline = Gst.parse_launch("filesrc name=source ! parsebin name=parse")
    pipeline.get_by_name("source").set_property("location", path)
    frames, tags, found, counts = [], Gst.TagList.new_empty(), {}, []

    def buffer_comes(pad, info):
        buffer = info.get_buffer()
        time = stream_time(pad, buffer.pts)
        if buffer.has_flags(Gst.BufferFlags.HEADER | Gst.BufferFlags.DELTA_UNIT) and buffer.pts == Gst.CLOCK_TIME_NONE:
            return Gst.PadProbeReturn.OK
        if time is None and buffer.pts == Gst.CLOCK_TIME_NONE:
            found["without time"] = True
        if time is not None and not buffer.has_flags(Gst.BufferFlags.DECODE_ONLY):
            frames.append((time, not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)
                           and decodable_from(buffer, pad.get_current_caps())))
        return Gst.PadProbeReturn.OK

    def event_comes(pad, info, video):
        event = info.get_event()
        if event.type == Gst.EventType.TAG:
            new = event.parse_tag()
            known, orientation = new.get_string("image-orientation")
            if video and known:
                found["orientation"] = orientation
            if video or new.get_scope() == Gst.TagScope.GLOBAL:
                tags.insert(new, Gst.TagMergeMode.KEEP)
        elif event.type == Gst.EventType.CAPS and video:
            found["caps"] = event.parse_caps().copy()
        return Gst.PadProbeReturn.OK

    def stream_found(parse, pad):
        sink = Gst.ElementFactory.make("fakesink")
        sink.set_property("async", False)
        sink.set_property("sync", False)
        pipeline.add(sink)
        sink.sync_state_with_parent()
        video = is_video(pad) and "video" not in found
        if video:
            found["video"] = kind_of(pad)
            pad.add_probe(Gst.PadProbeType.BUFFER, buffer_comes)
        else:
            counts.append(kind_of(pad))
        pad.add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, event_comes, video)
        pad.link(sink.get_static_pad("sink"))

    def type_found(typefind, probability, caps):
        found["container"] = caps.get_structure(0).get_name()

    pipeline.get_by_name("parse").get_by_name("typefind").connect("have-type", type_found)
    pipeline.get_by_name("parse").connect("pad-added", stream_found)
    play(pipeline, path)
    if found["container"] not in CONTAINERS:
        raise Problem("%s: a file of %s cannot be cut at exact frames; put it into Matroska or MP4 first" %
                      (path, found["container"]))
    if "video" not in found:
        raise Problem("%s: no video" % path)
    if found.get("without time") or not frames:
        raise Problem("%s: the file does not say when each frame is shown, so that it cannot be cut; "
                      "put it into Matroska or MP4 first" % path)
    frames.sort()
    for name in STALE_TAGS:
        tags.remove_tag(name)
    structure = found["caps"].get_structure(0)
    mode = structure.get_string("interlace-mode") if structure.has_field("interlace-mode") else "progressive"
    return frames, {"video": found["video"], "other-streams": sorted(counts), "tags": tags.to_string(),
                    "orientation": found.get("orientation", "rotate-0"), "progressive": mode == "progressive"}


def cut(frames, seconds):
    """Pieces of at least `seconds`, which begin at keyframes: a list of (start, end or None, frames)."""
    cuts = [frames[0][0]]
    for time, is_key in frames:
        if is_key and time - cuts[-1] >= seconds * Gst.SECOND:
            cuts.append(time)
    pieces = []
    for i, start in enumerate(cuts):
        end = cuts[i + 1] if i + 1 < len(cuts) else None
        count = sum(1 for time, _ in frames if time >= start and (end is None or time < end))
        pieces.append((start, end, count))
    return pieces
