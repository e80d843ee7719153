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
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402
from joining import check_film, write_film  # noqa: E402
from scan import Problem, cut, scan  # noqa: E402

BUSY = 75  # convolve_segment's exit status where another process makes the piece
HERE = os.path.dirname(os.path.abspath(__file__))


# --- the plan ---


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


def sum_of(path):
    """The SHA-256 of a whole file."""
    total = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            total.update(block)
    return total.hexdigest()


def property_files(properties):
    """As record_property_files() in record.c."""
    values = [word.split("=", 1)[1] for word in properties]
    return " ".join(sum_of(value) for value in values if os.path.isfile(value))


def write_new(path, text):
    """The file appears with all its bytes or not at all. A file that is there already stays; False then."""
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path) or ".", delete=False) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(file.name, 0o644)
    try:
        os.link(file.name, path)
        return True
    except FileExistsError:
        return False
    finally:
        os.unlink(file.name)


def plan_of(folder):
    path = os.path.join(folder, "plan.json")
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        raise Problem("%s: no plan there; film.py plan makes one" % folder)
    except ValueError as error:
        raise Problem("%s: %s" % (path, error))


def key_of(plan):
    """A word that stands for this plan."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def make_plan(path, folder, seconds, encoder, properties):
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise Problem("%s: no such file" % path)
    print_of_input = fingerprint(path)
    frames, facts = scan(path)
    pieces = [{"start": start, "end": end, "frames": count, "output": "%06d.mkv" % i}
              for i, (start, end, count) in enumerate(cut(frames, seconds))]
    plan = {"input": path, "fingerprint": print_of_input, "sha256": sum_of(path), "encoder": encoder,
            "properties": properties, "property-files": property_files(properties), **facts, "frames": len(frames),
            "pieces": pieces}
    os.makedirs(folder, exist_ok=True)
    if not write_new(os.path.join(folder, "plan.json"), json.dumps(plan, indent=1) + "\n") and plan_of(folder) != plan:
        raise Problem("%s has another plan, or the film has changed; choose another folder, or delete that one" % folder)
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
    command = [worker(), "--encoder", plan["encoder"], "--fingerprint", plan["fingerprint"]]
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
        if status < 0:
            print("film.py: %s, piece %d: convolve_segment was killed by signal %d" % (folder, number, -status), file=sys.stderr)
            status = 128 - status  # as a shell has it
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
                and record["property-files"] == plan["property-files"] and record["encoder"] == plan["encoder"]
                and os.path.getsize(path) == record["piece-size"])
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


def is_joined(output, plan):
    """Whether output is the film of this plan: the record beside it says so, and names the file's bytes."""
    try:
        with open(output + ".json") as file:
            record = json.load(file)
        return record == {"plan": key_of(plan), "sha256": sum_of(output)}
    except (OSError, ValueError):
        return False


def join(folder, output):
    """Joins the pieces, unless the film is there. Returns what was done, in words, or None where another process joins."""
    plan = plan_of(folder)
    if not output.endswith(".mkv"):
        raise Problem("%s: the name of the film ends in .mkv" % output)
    for name in [plan["input"]] + [os.path.join(folder, piece["output"]) for piece in plan["pieces"]]:
        if os.path.exists(output) and os.path.exists(name) and os.path.samefile(output, name):
            raise Problem("%s is the same file as %s; give the film another name" % (output, name))
    with open(output + ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if is_joined(output, plan):
            return "there already"
        left = missing(plan, folder)
        if left:
            raise Problem("%s: %d of %d pieces are missing: %s" %
                          (folder, len(left), len(plan["pieces"]), " ".join(map(str, left[:20]))))
        records = [record_of(plan, folder, i) for i in range(len(plan["pieces"]))]
        versions = sorted({record["element-version"] for record in records})
        if len(versions) > 1:
            raise Problem("%s: the pieces are of the element's versions %s; delete those of one version and run again" %
                          (folder, " and ".join(versions)))
        kinds = {variant.split("-")[0] == "cpu" for record in records for variant in record["device"].split(",")
                 if variant not in ("", "passthrough")}
        if len(kinds) > 1 and not all(record["reproducible"] for record in records):
            raise Problem("%s: some pieces were made by a CPU and some by a GPU, with a mask whose bytes differ there "
                          "(reproducible in mask-info); delete those of one kind and run again" % folder)
        if sum_of(plan["input"]) != plan["sha256"]:
            raise Problem("%s has changed since the plan was made" % plan["input"])
        join_records(plan, records, folder, output)
        return "%d frames, %d pieces" % (plan["frames"], len(records))


def join_records(plan, records, folder, output):
    for name in glob.glob(glob.escape(output) + ".*.part"):  # of processes that were killed
        os.unlink(name)
    handle, part = tempfile.mkstemp(dir=os.path.dirname(output) or ".", prefix=os.path.basename(output) + ".", suffix=".part")
    os.close(handle)
    try:
        os.chmod(part, 0o644)
        write_film(plan, [os.path.join(folder, piece["output"]) for piece in plan["pieces"]], part)
        check_film(records, part)
        record = json.dumps({"plan": key_of(plan), "sha256": sum_of(part)}) + "\n"
        if os.path.exists(output + ".json"):
            os.unlink(output + ".json")
        os.replace(part, output)
        write_new(output + ".json", record)
    finally:
        if os.path.exists(part):
            os.unlink(part)


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
            print(hashlib.sha256((os.path.realpath(options.folder) + key_of(plan)).encode()).hexdigest()[:12])
            return 0
        if options.list:
            print(" ".join(map(str, left)) if options.long else ranges(left))
            return 0
        print("%s: %d of %d pieces are there%s" % (options.folder, len(plan["pieces"]) - len(left), len(plan["pieces"]),
                                                  "; missing: " + " ".join(map(str, left)) if left else ""))
        return 1 if left else 0
    elif options.command == "join":
        done = join(options.folder, options.output)
        if done is None:
            print("film.py: %s: another process joins this film" % options.output, file=sys.stderr)
            return BUSY
        print("%s: %s" % (options.output, done))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        print("film.py: %s" % problem, file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
