#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cuts a film into pieces for convolve_segment, and joins the pieces.

  film.py plan INPUT FOLDER [--seconds=60] [--encoder=ELEMENTS] [PROPERTY=VALUE...]
  film.py piece FOLDER NUMBER      makes one piece, unless it is there
  film.py status FOLDER            which pieces are missing
  film.py join FOLDER OUTPUT.mkv   the pieces, with the sound and the subtitles of the input

FOLDER/plan.json says what is to be done; the pieces and their records stand beside it. Times are nanoseconds of the
film's time. `plan` writes the same plan for the same arguments, and refuses a folder that has another plan.
"""
import argparse
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # noqa: E402

BUSY = 75  # convolve_segment's exit status where another process makes the piece
HERE = os.path.dirname(os.path.abspath(__file__))
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
    time = event.parse_segment().to_stream_time(Gst.Format.TIME, pts)
    return None if time == Gst.CLOCK_TIME_NONE else time


def kind_of(pad):
    caps = pad.get_current_caps() or pad.query_caps(None)
    return caps.get_structure(0).get_name()


def is_video(pad):
    return kind_of(pad).startswith(("video/", "image/"))


# --- the plan ---


def scan(path):
    """The film's frames and tags, read without decoding: a list of (time, is a keyframe), and what the plan needs."""
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
            frames.append((time, not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)))
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

    pipeline.get_by_name("parse").connect("pad-added", stream_found)
    play(pipeline, path)
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


def fingerprint(path):
    """As record_fingerprint() in record.c."""
    block, blocks = 64 * 1024, 256
    size = os.path.getsize(path)
    total = hashlib.sha256()
    with open(path, "rb") as file:
        if size <= block * blocks:
            total.update(file.read())
        else:
            for i in range(blocks):
                file.seek((size - block) * i // (blocks - 1))
                total.update(file.read(block))
    total.update(size.to_bytes(8, sys.byteorder))
    return total.hexdigest()


def write_whole(path, text):
    """The file appears with all its bytes or not at all."""
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path) or ".", delete=False) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def plan_of(folder):
    path = os.path.join(folder, "plan.json")
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        raise Problem("%s: no plan there; film.py plan makes one" % folder)
    except ValueError as error:
        raise Problem("%s: %s" % (path, error))


def make_plan(path, folder, seconds, encoder, properties):
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise Problem("%s: no such file" % path)
    print_of_input = fingerprint(path)
    frames, facts = scan(path)
    pieces = [{"start": start, "end": end, "frames": count, "output": "%06d.mkv" % i}
              for i, (start, end, count) in enumerate(cut(frames, seconds))]
    plan = {"input": path, "fingerprint": print_of_input, "encoder": encoder, "properties": properties, **facts,
            "frames": len(frames), "pieces": pieces}
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(folder, "plan.json")):
        if plan_of(folder) != plan:
            raise Problem("%s has another plan; choose another folder, or delete that one" % folder)
    else:
        write_whole(os.path.join(folder, "plan.json"), json.dumps(plan, indent=1) + "\n")
    return plan


# --- pieces ---


def worker():
    """The program convolve_segment: CONVOLVE_SEGMENT names it, or it is in the build folder or on PATH."""
    for path in (os.environ.get("CONVOLVE_SEGMENT"), os.path.join(HERE, "../../build/examples/cluster/convolve_segment"),
                 shutil.which("convolve_segment")):
        if path and os.access(path, os.X_OK):
            return path
    raise Problem("convolve_segment is not found; CONVOLVE_SEGMENT can name it")


def command_of(plan, folder, number):
    piece = plan["pieces"][number]
    command = [worker(), "--encoder", plan["encoder"]]
    if plan["progressive"]:
        command += ["--frames", str(piece["frames"])]
    if plan["orientation"] != "rotate-0":
        command.append("--upright")
    end = "end" if piece["end"] is None else str(piece["end"])
    return command + [plan["input"], str(piece["start"]), end, os.path.join(folder, piece["output"])] + plan["properties"]


def make_piece(folder, number, tries):
    """Makes a piece, unless it is there. Returns convolve_segment's exit status."""
    plan = plan_of(folder)
    if not 0 <= number < len(plan["pieces"]):
        raise Problem("%s: pieces have the numbers 0 to %d" % (folder, len(plan["pieces"]) - 1))
    for last in range(tries - 1, -1, -1):
        status = subprocess.run(command_of(plan, folder, number)).returncode
        if status in (0, BUSY) or last == 0:
            return status


def record_of(plan, folder, number):
    """The record of a finished piece, or None. The piece's bytes are not read."""
    piece = plan["pieces"][number]
    path = os.path.join(folder, piece["output"])
    try:
        with open(path + ".json") as file:
            record = json.load(file)
        fits = (record["input-fingerprint"] == plan["fingerprint"] and record["start"] == piece["start"]
                and record["end"] == piece["end"] and record["properties"] == " ".join(plan["properties"])
                and record["encoder"] == plan["encoder"] and os.path.getsize(path) == record["piece-size"])
    except (OSError, ValueError, KeyError):
        return None
    return record if fits else None


def missing(plan, folder):
    """The numbers of the pieces that are not there."""
    return [i for i in range(len(plan["pieces"])) if record_of(plan, folder, i) is None]


def ranges(numbers):
    """As in "0-3,7", which Slurm takes."""
    words = []
    for i, number in enumerate(numbers):
        if i > 0 and number == numbers[i - 1] + 1:
            words[-1] = (words[-1][0], number)
        else:
            words.append((number, number))
    return ",".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in words)


# --- joining ---


class Pieces:
    """Reads the encoded frames of the pieces, one piece after the other."""

    def __init__(self, plan, folder):
        self.paths = [os.path.join(folder, piece["output"]) for piece in plan["pieces"]]
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


def join(folder, output):
    plan = plan_of(folder)
    if not output.endswith(".mkv"):
        raise Problem("%s: the name of the film ends in .mkv" % output)
    left = missing(plan, folder)
    if left:
        raise Problem("%s: %d of %d pieces are missing: %s" %
                      (folder, len(left), len(plan["pieces"]), " ".join(map(str, left[:20]))))
    if fingerprint(plan["input"]) != plan["fingerprint"]:
        raise Problem("%s has changed since the plan was made" % plan["input"])
    with open(output + ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Problem("%s: another process joins this film" % output)
        part = output + ".part"
        try:
            write_film(plan, folder, part)
            check_film(plan, folder, part)
            os.replace(part, output)
        finally:
            if os.path.exists(part):
                os.unlink(part)


def caps_for_muxer(caps):
    """GStreamer's Matroska demuxer calls a field of FFV1 `ffvversion` that its muxer calls `ffversion`."""
    if caps.get_structure(0).has_field("ffvversion"):
        caps = Gst.Caps.from_string(caps.to_string() + ", ffversion=(int)1")
    return caps


def write_film(plan, folder, part):
    pipeline = Gst.parse_launch("matroskamux name=mux offset-to-zero=false ! filesink name=sink "
                                "appsrc name=video format=time is-live=false block=true max-bytes=16000000 ! "
                                "queue max-size-bytes=0 max-size-buffers=0 max-size-time=0 ! mux.")
    mux, video = pipeline.get_by_name("mux"), pipeline.get_by_name("video")
    pipeline.get_by_name("sink").set_property("location", part)
    tags = Gst.TagList.new_from_string(plan["tags"]) if plan["tags"] else None
    if tags is not None:
        mux.merge_tags(tags, Gst.TagMergeMode.REPLACE)
    if plan["other-streams"]:
        add_other_streams(plan, pipeline, mux)
    pieces = Pieces(plan, folder)
    buffers = pieces.buffers()
    first = next(buffers)
    video.set_property("caps", caps_for_muxer(pieces.caps))
    failure = []

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


def add_other_streams(plan, pipeline, mux):
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
    found = []

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
            if ghost.link(into) != Gst.PadLinkReturn.OK:
                Gst.error("cannot link")
                source.message_full(Gst.MessageType.ERROR, Gst.stream_error_quark(), Gst.StreamError.FORMAT,
                                    "Matroska does not hold %s" % kind, None, __file__, "stream_found", 0)

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


def check_film(plan, folder, path):
    """The decoded frames of the film are those of the pieces, in their order, at their times."""
    records = [record_of(plan, folder, i) for i in range(len(plan["pieces"]))]
    pipeline = Gst.parse_launch("filesrc name=source ! decodebin name=decode expose-all-streams=false "
                                "caps=video/x-raw(ANY)  fakesink name=sink sync=false")
    pipeline.get_by_name("source").set_property("location", path)
    state = {"piece": 0, "count": 0, "sum": hashlib.sha256(), "info": None, "wrong": []}

    def data_comes(pad, info):
        if info.type & Gst.PadProbeType.EVENT_DOWNSTREAM:
            event = info.get_event()
            if event.type == Gst.EventType.CAPS:
                state["info"] = GstVideo.VideoInfo.new_from_caps(event.parse_caps())
            return Gst.PadProbeReturn.OK
        state["sum"].update(crc_of(state["info"], info.get_buffer()))
        state["count"] += 1
        number = state["piece"]
        if number >= len(records):
            state["wrong"].append("more frames than the pieces have")
        elif state["count"] == records[number]["frames"]:
            if state["sum"].hexdigest() != records[number]["frames-decoded-again"]:
                state["wrong"].append("other frames than %s" % plan["pieces"][number]["output"])
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


# --- the command line ---


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser("plan")
    command.add_argument("input")
    command.add_argument("folder")
    command.add_argument("--seconds", type=float, default=60, help="the shortest piece")
    command.add_argument("--encoder", default="avenc_ffv1", help="elements that encode, as in a launch line")
    command = commands.add_parser("piece")
    command.add_argument("folder")
    command.add_argument("number", type=int)
    command.add_argument("--tries", type=int, default=1, help="how often, before the piece has failed")
    command = commands.add_parser("status")
    command.add_argument("folder")
    command.add_argument("--list", action="store_true", help="prints the missing numbers alone, as Slurm takes them")
    command.add_argument("--long", action="store_true", help="with --list: each number, and no ranges")
    command.add_argument("--key", action="store_true", help="prints a word that stands for this plan alone")
    command = commands.add_parser("join")
    command.add_argument("folder")
    command.add_argument("output")
    options, properties = parser.parse_known_args()
    if properties and (options.command != "plan" or any("=" not in word or word[0] == "-" for word in properties)):
        parser.error("%s is not an option and no PROPERTY=VALUE" % " ".join(properties))
    Gst.init(None)
    if options.command == "plan":
        plan = make_plan(options.input, options.folder, options.seconds, options.encoder, properties)
        print("%s: %d frames in %d pieces" % (options.folder, plan["frames"], len(plan["pieces"])))
    elif options.command == "piece":
        return make_piece(options.folder, options.number, options.tries)
    elif options.command == "status":
        plan = plan_of(options.folder)
        left = missing(plan, options.folder)
        if options.key:
            print(hashlib.sha256(os.path.abspath(options.folder).encode() + json.dumps(plan).encode()).hexdigest()[:12])
            return 0
        if options.list:
            print(" ".join(map(str, left)) if options.long else ranges(left))
            return 0
        print("%s: %d of %d pieces are there%s" % (options.folder, len(plan["pieces"]) - len(left), len(plan["pieces"]),
                                                  "; missing: " + " ".join(map(str, left)) if left else ""))
        return 1 if left else 0
    elif options.command == "join":
        join(options.folder, options.output)
        print("film: %s" % options.output)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print("film.py: %s" % problem, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
