# SPDX-License-Identifier: LGPL-2.1-or-later
"""Joins the encoded pieces of a film, and checks the frames of the result."""
import hashlib
import html
import os
import threading
import zlib

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402
from scan import Problem, is_video, kind_of, play, stream_time  # noqa: E402


class Pieces:
    """Reads the encoded frames of the pieces, one piece after the other."""

    def __init__(self, paths):
        self.paths = paths
        self.caps = None

    def buffers(self):
        for path in self.paths:
            pipeline = Gst.parse_launch("filesrc name=source ! matroskademux ! appsink name=sink sync=false max-buffers=16")
            pipeline.get_by_name("source").set_property("location", path)
            sink = pipeline.get_by_name("sink")
            pipeline.set_state(Gst.State.PLAYING)
            try:
                while True:
                    sample = sink.emit("pull-sample")
                    if sample is None:
                        break
                    if self.caps is None:
                        self.caps = sample.get_caps().copy()
                    elif not sample.get_caps().is_equal(self.caps):
                        raise Problem("%s: encoded otherwise than the pieces before: %s and %s" %
                                      (path, sample.get_caps().to_string()[:200], self.caps.to_string()[:200]))
                    yield sample.get_buffer()
                message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
                if message:
                    raise Problem("%s: %s" % (path, message.parse_error()[0].message))
            finally:
                pipeline.set_state(Gst.State.NULL)


def caps_for_muxer(caps):
    """GStreamer's Matroska demuxer calls a field of FFV1 `ffvversion` that its muxer calls `ffversion`."""
    if caps.get_structure(0).has_field("ffvversion"):
        caps = Gst.Caps.from_string(caps.to_string() + ", ffversion=(int)1")
    return caps


def write_film(plan, paths, part):
    """Writes the pieces, files in their order, and the other streams of the plan's input to the file part."""
    pipeline = Gst.parse_launch("matroskamux name=mux offset-to-zero=false ! filesink name=sink async=false sync=false "
                                "appsrc name=video format=time is-live=false block=true max-bytes=64000000 ! mux.")
    mux, video = pipeline.get_by_name("mux"), pipeline.get_by_name("video")
    pipeline.get_by_name("sink").set_property("location", part)
    failure = []
    tags = Gst.TagList.new_from_string(plan["tags"]) if plan["tags"] else None
    if tags is not None:
        mux.merge_tags(tags, Gst.TagMergeMode.REPLACE)
    if plan["other-streams"]:
        add_other_streams(plan, pipeline, mux, failure)
    pieces = Pieces(paths)
    buffers = pieces.buffers()
    first = next(buffers)
    video.set_property("caps", caps_for_muxer(pieces.caps))

    def feed():
        try:
            buffer = first
            while buffer is not None and video.emit("push-buffer", buffer) == Gst.FlowReturn.OK:
                buffer = next(buffers, None)
            video.emit("end-of-stream")
        except Problem as problem:
            failure.append(problem)
            video.emit("end-of-stream")

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        play(pipeline, part)
    except Problem as problem:
        failure.append(problem)
    finally:
        pipeline.set_state(Gst.State.NULL)
        thread.join()
    if failure:
        raise failure[0]
    file = os.open(part, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def mux_pad_of(kind):
    """The template of the muxer's pad for a kind of stream, or None."""
    if kind.startswith("audio/"):
        return "audio_%u"
    if kind.startswith(("text/", "subpicture/", "application/x-ass", "application/x-ssa", "application/x-usf",
                        "subtitle/", "application/x-subtitle")):
        return "subtitle_%u"
    return None


class Subtitles:
    """
    Pads between GStreamer's Matroska demuxer, which gives subtitles as Pango markup, and its muxer, which takes plain
    text. A text without tags was plain, and the demuxer has escaped it.
    """

    def __init__(self):
        self.sink, self.src = Gst.Pad.new("sink", Gst.PadDirection.SINK), Gst.Pad.new("src", Gst.PadDirection.SRC)
        self.sink.set_chain_function_full(self.chain)
        self.sink.set_event_function_full(self.event)
        self.src.set_active(True)
        self.sink.set_active(True)

    def chain(self, pad, parent, buffer):
        ok, data = buffer.map(Gst.MapFlags.READ)
        text = bytes(data.data)
        buffer.unmap(data)
        if b"<" not in text:
            text = html.unescape(text.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        plain = Gst.Buffer.new_wrapped(text)
        plain.pts, plain.duration = buffer.pts, buffer.duration
        return self.src.push(plain)

    def event(self, pad, parent, event):
        if event.type == Gst.EventType.CAPS:
            event = Gst.Event.new_caps(Gst.Caps.from_string("text/x-raw, format=utf8"))
        return self.src.push_event(event)


def add_other_streams(plan, pipeline, mux, failure):
    """Sound and subtitles go to the muxer as they are in the input."""
    pads = {}
    for kind in plan["other-streams"]:
        template = mux_pad_of(kind)
        if template is None:
            raise Problem("%s has a stream of %s, which is neither sound nor subtitles, or a second video" %
                          (plan["input"], kind))
        pads.setdefault(kind, []).append(mux.request_pad_simple(template))
    source = Gst.parse_bin_from_description("filesrc name=source ! parsebin name=parse", False)
    source.get_by_name("source").set_property("location", plan["input"])
    pipeline.add(source)
    found, subtitles = [], []

    def stream_found(parse, pad):
        kind = kind_of(pad)
        video = is_video(pad) and not found
        into = None
        if video:
            found.append(pad)
            element = Gst.ElementFactory.make("fakesink")
            element.set_property("async", False)
            element.set_property("sync", False)
        else:
            # The muxer wants data of all streams before it goes on; streams may lie some seconds apart in the file.
            element = Gst.ElementFactory.make("queue")
            element.set_property("max-size-bytes", 0)
            element.set_property("max-size-buffers", 0)
            element.set_property("max-size-time", 30 * Gst.SECOND)
            into = pads[kind].pop(0)
        source.add(element)
        element.sync_state_with_parent()
        pad.link(element.get_static_pad("sink"))
        if into is not None:
            ghost = Gst.GhostPad.new(None, element.get_static_pad("src"))
            ghost.set_active(True)
            source.add_pad(ghost)
            try:
                if kind == "text/x-raw":
                    subtitles.append(Subtitles())
                    ghost.link(subtitles[-1].sink)
                    subtitles[-1].src.link(into)
                else:
                    ghost.link(into)
            except Gst.LinkError:
                failure.append(Problem("%s: GStreamer's Matroska muxer does not take %s" % (plan["input"], kind)))

    source.get_by_name("parse").connect("pad-added", stream_found)


# --- checking the joined film ---


def rows_of(frame):
    """The bytes of the picture, row by row, as frames.c takes them."""
    info = frame.info
    for plane in range(info.finfo.n_planes):
        comps = [c for c in range(info.finfo.n_components) if info.finfo.plane[c] == plane]
        stride, offset = info.stride[plane], info.offset[plane]
        width = -(-info.width // (1 << info.finfo.w_sub[comps[0]])) * info.finfo.pixel_stride[comps[0]] or stride
        for row in range(-(-info.height // (1 << info.finfo.h_sub[comps[0]]))):
            yield offset + row * stride, width


def check_film(records, path):
    """The decoded frames of the film are those of the pieces, in their order, at their times."""
    pipeline = Gst.parse_launch("filesrc name=source ! decodebin name=decode expose-all-streams=false "
                                "caps=video/x-raw(ANY)  fakesink name=sink sync=false")
    pipeline.get_by_name("source").set_property("location", path)
    state = {"piece": 0, "count": 0, "sum": hashlib.sha256(), "info": None, "wrong": [], "last": -1}

    def data_comes(pad, info):
        if info.type & Gst.PadProbeType.EVENT_DOWNSTREAM:
            event = info.get_event()
            if event.type == Gst.EventType.CAPS:
                state["info"] = GstVideo.VideoInfo.new_from_caps(event.parse_caps())
            return Gst.PadProbeReturn.OK
        buffer, number = info.get_buffer(), state["piece"]
        state["sum"].update(crc_of(state["info"], buffer))
        state["count"] += 1
        time = stream_time(pad, buffer.pts)
        if time is None or time <= state["last"]:
            state["wrong"].append("frames without a time, or not in the order of their times")
        state["last"] = time or 0
        if number < len(records):
            # Matroska's times are milliseconds.
            for count, name in ((1, "first-frame"), (records[number]["frames"], "last-frame")):
                if state["count"] == count and abs(state["last"] - records[number][name]) > Gst.MSECOND:
                    state["wrong"].append("a frame at %d ns that belongs at %d ns" % (state["last"], records[number][name]))
        if number >= len(records):
            state["wrong"].append("more frames than the pieces have")
        elif state["count"] == records[number]["frames"]:
            if state["sum"].hexdigest() != records[number]["frames-decoded-again"]:
                state["wrong"].append("other frames than piece %d" % number)
            state.update(piece=number + 1, count=0, sum=hashlib.sha256())
        return Gst.PadProbeReturn.OK

    def stream_found(decode, pad):
        sink = pipeline.get_by_name("sink").get_static_pad("sink")
        if not sink.is_linked():
            pad.link(sink)
            sink.add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.EVENT_DOWNSTREAM, data_comes)

    pipeline.get_by_name("decode").connect("pad-added", stream_found)
    play(pipeline, path)
    if state["piece"] < len(records) or state["count"] > 0:
        state["wrong"].append("fewer frames than the pieces have")
    if state["wrong"]:
        raise Problem("%s: the joined film has %s" % (path, state["wrong"][0]))


def crc_of(info, buffer):
    """The CRC-32 of a frame's picture, four bytes with the lowest first."""
    ok, frame = GstVideo.video_frame_map(info, buffer, Gst.MapFlags.READ)
    if not ok:
        raise Problem("a frame cannot be read")
    try:
        ok, data = buffer.map(Gst.MapFlags.READ)
        crc = 0
        try:
            view = memoryview(data.data)
            for offset, width in rows_of(frame):
                crc = zlib.crc32(view[offset:offset + width], crc)
        finally:
            buffer.unmap(data)
    finally:
        frame.unmap()
    return crc.to_bytes(4, "little")
