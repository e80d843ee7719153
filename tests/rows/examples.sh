# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh disable=SC2154 # run.sh sets top and all
# The examples, and the clip through the element under GStreamer's leak tracer.

# no_leaks ELEMENT PROPERTIES...: fails where a GStreamer object outlives the pipeline. The pattern leaves out the line in which the
# tracer describes its own format.
no_leaks () {
  GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 gst-launch-1.0 -q filesrc location=examples/clip.mp4 \
    ! decodebin ! videoconvert ! "$@" ! fakesink >out/leaks 2>&1 || { cat out/leaks; return 1; }
  ! grep 'object-alive, type-name=(string)[^%]' out/leaks
}

# run_example ARGUMENTS...: runs examples/run.sh without a window, so that no display is needed.
run_example () {
  ended=0
  env -u DISPLAY -u WAYLAND_DISPLAY -u MESON_ARGS sh examples/run.sh "$@" >out/example 2>&1 || ended=$?
  cat out/example
  return "$ended"
}

# frames FILE: how many frames a clip has.
frames () {
  timeout 60 gst-launch-1.0 filesrc location="$1" ! decodebin ! fakesink silent=false -v |
    grep -c 'last-message = chain'
}

# difference PICTURE: the mean difference between its left and its right half, in code values.
difference () {
  timeout 60 gst-launch-1.0 -q filesrc location="$1" ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 \
    ! filesink location=out/grey && python3 -c '
data = open("out/grey", "rb").read()
width, height = 1280, 360
rows = [data[y * width:(y + 1) * width] for y in range(height)]
print(sum(abs(a - b) for row in rows for a, b in zip(row[:width // 2], row[width // 2:])) * 2 // (width * height))'
}

# example PROPERTIES...: the clip has every frame, before and after differ clearly in the picture, the progress reaches the
# end, and the report names the variant and the speed.
example () {
  rm -f out/clip-convolved.webm out/clip-before-after.png
  run_example "$@" && [ "$(frames out/clip-convolved.webm)" = 100 ] &&
    [ "$(difference out/clip-before-after.png)" -ge 6 ] &&
    grep -q '^100 frames, 100%, [1-9][0-9.]* frames/s, 0:00 left' out/example &&
    grep -q '^variant: [a-z]' out/example && grep -q '^frames per second: [1-9]' out/example
}

# With a window that needs a fifth of a second for each frame the encoder still has every frame, no frame is convolved
# twice, and the film plays no faster than its own pace.
example_slow_window () {
  build/examples/convolve_file --clip=out/slow.webm --sink="identity sleep-time=200000 ! fakesink" \
    examples/clip.mp4 sigma=8 >out/example && cat out/example &&
    grep -q '^stats: frames = 100$' out/example && [ "$(frames out/slow.webm)" = 100 ] &&
    awk '/^frames per second:/ { exit !($4 > 5.5 && $4 < 26) }' out/example
}

# example_ends COMMAND OPTIONS...: the command ends a film of 40 seconds early. The clip has the frames until then and
# states its duration, which a truncated clip does not. The picture is written too.
example_ends () {
  command=$1
  shift
  rm -f out/ends.webm out/ends.png
  [ -s out/film.webm ] || gst-launch-1.0 -q videotestsrc num-buffers=1000 ! video/x-raw,width=320,height=180,framerate=25/1 \
    ! vp8enc deadline=1 cpu-used=8 ! webmmux ! filesink location=out/film.webm
  build/examples/convolve_file --clip=out/ends.webm --picture=out/ends.png "$@" out/film.webm sigma=8 \
    >out/example 2>&1 &
  program=$!
  sleep 4
  $command
  wait "$program" || { cat out/example; return 1; }
  cat out/example
  number=$(sed -n 's/^frames: //p' out/example)
  written=$(frames out/ends.webm)
  echo "$written frames in the clip"
  [ "$written" -ge 1 ] && [ "$written" -lt 500 ] && [ $((number - written)) -le 2 ] && [ -s out/ends.png ] &&
    python3 -c '
import struct, sys
head = open("out/ends.webm", "rb").read(4096)
place = head.index(b"\x44\x89\x88") + 3
sys.exit(struct.unpack(">d", head[place:place + 8])[0] < 400)'
}

interrupt () {
  kill -INT "$program"
}

# On a terminal the progress line is overwritten in place.
example_terminal () {
  command -v script >/dev/null || return 77
  script -qec "build/examples/convolve_file --sink=fakesink examples/clip.mp4" /dev/null >out/example
  cat -v out/example
  cat -v out/example | grep -q '^^M[0-9]* frames, .* left^\[\[K^M[0-9]* frames, '
}

# A film of rings loses its detail up to the middle, and has the detail back at the end. The clip keeps its frames.
example_animate () {
  gst-launch-1.0 -q videotestsrc pattern=zone-plate kx2=60 ky2=34 num-buffers=100 \
    ! video/x-raw,width=640,height=360,framerate=25/1 ! vp8enc deadline=1 cpu-used=4 end-usage=cq cq-level=4 \
    max-quantizer=20 target-bitrate=30000000 ! webmmux ! filesink location=out/rings.webm &&
    build/examples/animate out/rings.webm out/animated.webm &&
    python3 tests/rows/animate.py out/rings.webm out/animated.webm sharp &&
    build/examples/animate out/rings.webm out/animated.webm bias 0 -1 mask=identity &&
    python3 tests/rows/animate.py out/rings.webm out/animated.webm bright &&
    build/examples/animate examples/clip.mp4 out/animated.webm mask=unsharp:2 boundary=reflect &&
    [ "$(frames out/animated.webm)" = 100 ]
}

# After Ctrl-C the film has the frames until then. The plain loop makes a film that would take long.
animate_ends () {
  rm -f out/animated.webm
  build/examples/animate examples/clip.mp4 out/animated.webm sigma 8 20 kernel-variant=cpu-reference &
  program=$!
  sleep 3
  kill -INT "$program"
  wait "$program" || return 1
  written=$(frames out/animated.webm)
  echo "$written frames in the film"
  [ "$written" -ge 1 ] && [ "$written" -lt 100 ]
}

# A film plays to its end with boxes in spans of time, and what is no span is refused.
example_spans () {
  build/examples/spans examples/clip.mp4 192,8,176,236 0.5-1.2 2-3.5 >out/example 2>&1 && [ ! -s out/example ] &&
    ! build/examples/spans examples/clip.mp4 192,8,176,236 0.5-1.2 3.5-2 >out/example 2>&1 &&
    grep -q '^3.5-2: is no span of seconds' out/example
}

# animate_refuses TEXT ARGUMENTS...: animate fails with these arguments and says TEXT.
animate_refuses () {
  text=$1
  shift
  ! build/examples/animate "$@" >out/example 2>&1 && cat out/example && grep -q "$text" out/example
}

# What cannot be animated is refused.
animate_refusals () {
  animate_refuses 'can be controlled' examples/clip.mp4 out/animated.webm mask 1 2 &&
    animate_refuses 'not in the range' examples/clip.mp4 out/animated.webm bias 0 2 &&
    animate_refuses '^Usage' examples/clip.mp4 out/animated.webm sigma 1 two &&
    animate_refuses 'no such property' examples/clip.mp4 out/animated.webm masc=box &&
    animate_refuses 'has no duration\|cannot decode' LICENSE out/animated.webm
}

# A folder out/outputs with a film, other names of it, and results of an earlier run.
make_outputs () {
  rm -rf out/outputs
  mkdir -p out/outputs/folder
  cp examples/clip.mp4 out/outputs/film.mp4
  cp examples/heart.txt out/outputs/mask.txt
  ln out/outputs/film.mp4 out/outputs/hard.mp4
  ln -s film.mp4 out/outputs/soft.mp4
  ln -s nowhere.webm out/outputs/dangling.webm
  mkfifo out/outputs/pipe
  for name in before.webm before.png; do echo before >"out/outputs/$name"; done
  state_of out/outputs >out/outputs-before
}

# state_of FOLDER: its names with what they hold.
state_of () {
  (cd "$1" && find . | sort && find . -type f -exec sha256sum {} + | sort)
}

# spares STATUS TEXT PROGRAM ARGUMENTS...: the program ends with this status, and says TEXT. The folder out/outputs is as
# before.
spares () {
  wanted=$1
  text=$2
  program=$3
  shift 3
  status=0
  echo "$program $*"
  timeout 60 "build/examples/$program" "$@" >out/example 2>&1 </dev/null || status=$?
  cat out/example
  [ "$status" = "$wanted" ] && grep -q -e "$text" out/example && state_of out/outputs | diff out/outputs-before -
}

# A program that cannot write its result leaves the film, the earlier result and no other file.
example_spares () {
  make_outputs
  film=out/outputs/film.mp4
  for name in "$film" out/outputs/../outputs/film.mp4 "$PWD/$film" out/outputs/hard.mp4 out/outputs/soft.mp4; do
    spares 1 'the output is the input' convolve_file --clip="$name" "$film" &&
      spares 1 'the output is the input' convolve_file --picture="$name" "$film" &&
      spares 1 'the output is the input' animate "$film" "$name" || return 1
  done
  for name in out/outputs/pipe /dev/stdout /dev/null; do
    spares 1 'is a pipe or a device' convolve_file --clip="$name" "$film" &&
      spares 1 'is a pipe or a device' animate "$film" "$name" || return 1
  done
  spares 1 'is a folder' convolve_file --clip=out/outputs/folder "$film" &&
    spares 1 'there is no folder out/nowhere' convolve_file --picture=out/nowhere/a.png "$film" &&
    spares 1 'there is no folder out/nowhere' animate "$film" out/nowhere/a.webm &&
    spares 1 'a symbolic link to a file that is not there' animate "$film" out/outputs/dangling.webm &&
    spares 1 'is empty' convolve_file --clip= "$film" &&
    spares 1 'two outputs' convolve_file --clip=out/outputs/a --picture=out/outputs/./a "$film" &&
    spares 1 'the file of mask-location' convolve_file --clip=out/outputs/mask.txt "$film" mask-location=out/outputs/mask.txt &&
    spares 1 'no such property' convolve_file --clip=out/outputs/before.webm --picture=out/outputs/before.png "$film" masc=box &&
    spares 1 'not a preset' convolve_file --clip=out/outputs/before.webm --picture=out/outputs/before.png "$film" mask=nonsense &&
    spares 1 'no such property' animate "$film" out/outputs/before.webm masc=box &&
    spares 1 'not a preset' animate "$film" out/outputs/before.webm mask=nonsense &&
    spares 1 'no video' convolve_file --clip=out/outputs/before.webm LICENSE &&
    spares 1 'no video' animate LICENSE out/outputs/before.webm
}

# A disk that is full in the middle of the film: what was written goes.
example_spares_later () {
  make_outputs
  # A limit of 50 kB stands for the disk.
  (
    trap '' XFSZ
    ulimit -f 100
    spares 1 'rror' convolve_file --clip=out/outputs/before.webm --picture=out/outputs/before.png examples/clip.mp4 &&
      spares 1 'rror' animate examples/clip.mp4 out/outputs/before.webm
  )
}

# killed SIGNALS PROGRAM ARGUMENTS...: a signal that the program does not handle, or a second Ctrl-C, leaves nothing behind.
killed () {
  signals=$1
  program=$2
  shift 2
  # Whoever starts the tests with nohup has them ignore HUP.
  env --default-signal=HUP "build/examples/$program" "$@" >out/example 2>&1 &
  number=$!
  while ! find out/outputs -name '*.part' | grep -q . && kill -0 "$number"; do sleep 0.1; done
  sleep 1
  for signal in $signals; do
    kill "-$signal" "$number"
    sleep 0.5
  done
  status=0
  wait "$number" || status=$?
  cat out/example
  echo "status $status"
  [ "$status" -gt 128 ] && state_of out/outputs | diff out/outputs-before -
}

example_killed () {
  make_outputs
  # One frame takes so long that the first Ctrl-C cannot end the film.
  slow="mask-width=255 sigma=60 kernel-variant=cpu-reference"
  # shellcheck disable=SC2086 # a list of words
  killed HUP convolve_file --clip=out/outputs/before.webm examples/clip.mp4 $slow &&
    killed HUP animate examples/clip.mp4 out/outputs/before.webm sigma 60 50 $slow &&
    killed "INT INT" convolve_file --clip=out/outputs/before.webm examples/clip.mp4 $slow &&
    killed "INT INT" animate examples/clip.mp4 out/outputs/before.webm sigma 60 50 $slow
}

# The earlier result stays until the new one takes its place, through a symbolic link, too, and with its rights.
example_replaces () {
  make_outputs
  ln -s before.webm out/outputs/link.webm
  chmod 600 out/outputs/before.webm
  build/examples/convolve_file --clip=out/outputs/link.webm --picture=out/outputs/before.png examples/clip.mp4 >out/example &&
    [ -h out/outputs/link.webm ] && [ "$(frames out/outputs/before.webm)" = 100 ] &&
    [ "$(difference out/outputs/before.png)" -ge 1 ] && [ "$(stat -c %a out/outputs/before.webm)" = 600 ] &&
    ! find out/outputs -name '*.part' | grep .
}

# A pipe that nothing is written to gives no frame. The programs say so after 10 s, and a signal ends them.
# example_silence yes: waits until they give up by themselves.
example_silence () {
  make_outputs
  sleep 100 >out/outputs/pipe &
  writer=$!
  numbers=
  silent convolve_file --clip=out/outputs/before.webm out/outputs/pipe
  silent animate out/outputs/pipe out/outputs/before.webm
  silent anonymise --boxes=examples/clip-boxes.json --output=out/outputs/before.webm out/outputs/pipe
  if [ -n "$1" ]; then sleep 62; else sleep 12; fi
  # shellcheck disable=SC2086 # a list of numbers
  [ -n "$1" ] || kill -TERM $numbers
  status=0
  for number in $numbers; do
    ended=0
    wait "$number" || ended=$?
    cat "out/silent-$number"
    grep -q 'pipe: no frame has come for 10 s, after 0 frames' "out/silent-$number" && [ "$ended" != 0 ] || status=1
    [ -z "$1" ] || grep -q 'pipe: given up' "out/silent-$number" || status=1
  done
  kill "$writer"
  [ "$status" = 0 ] && state_of out/outputs | diff out/outputs-before -
}

# silent PROGRAM ARGUMENTS...: starts the program, which may have a minute and a half.
silent () {
  program=$1
  shift
  exec 3>out/silent # before the program starts, so that the file is there for mv
  timeout -s KILL 90 "build/examples/$program" "$@" >&3 2>&1 &
  numbers="$numbers $!"
  exec 3>&-
  mv out/silent "out/silent-$!"
}

# A frame that is worked on for long is no silence.
example_slow_frame () {
  timeout -s KILL 14 build/examples/convolve_file examples/clip.mp4 mask-width=255 sigma=60 kernel-variant=cpu-reference \
    iterations=10 >out/example 2>&1
  [ "$?" = 137 ] && ! grep 'no frame' out/example
}

# A GIF, where GStreamer reads GIFs: either the film ends, or the program says that no frame comes.
example_gif () {
  gst-inspect-1.0 --exists avdec_gif || return 77
  make_outputs
  python3 -c '
import sys
frame = b"\x21\xf9\x04\x00\x0a\x00\x00\x00" + b"\x2c" + bytes(4) + b"\x10\x00\x10\x00\x00" + b"\x02\x03\x84\x8f\x05\x00"
head = b"GIF89a\x10\x00\x10\x00\x80\x00\x00" + bytes(3) + b"\xff\xff\xff"
open("out/film.gif", "wb").write(head + b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00" + 3 * frame + b"\x3b")'
  timeout -s INT 15 build/examples/convolve_file --clip=out/gif.webm out/film.gif >out/example 2>&1 || true
  cat out/example
  grep -q '^convolved clip' out/example || grep -q 'no frame has come for 10 s' out/example
}

# live KIND: the control program by its keys, over pipes or on a terminal; tests/rows/live.py has the kinds.
live () {
  python3 tests/rows/live.py "$1"
}

# refused TEXT ARGUMENTS...: examples/run.sh fails with these arguments and says TEXT.
refused () {
  text=$1
  shift
  ! run_example "$@" && grep -q "$text" out/example
}

# Each preset and each boundary has a picture, as pictures.sh makes them.
pictures () {
  gst-inspect-1.0 cudaconvolve >out/inspected || return 1
  presets=$(sed -n '/^  presets /,/Default/s/.*Default: "< \(.*\) >"/\1/p' out/inspected | sed 's/(string)//g; s/,//g')
  boundaries=$(sed -n '/^  boundary /,/^  [a-z]/s/.*([0-9]): \([a-z0-9-]*\) .*/\1/p' out/inspected)
  [ -n "$presets" ] && [ -n "$boundaries" ] || return 1
  for name in $(echo "$presets" | sed 's/[a-z0-9-]*/preset-&/g') $(echo "$boundaries" | sed 's/^/boundary-/'); do
    echo "$name"
    [ -s "examples/pictures/$name.jpg" ] || { echo "has no picture in examples/pictures/"; return 1; }
    grep -q "]($name.jpg)" examples/pictures/README.md || { echo "is not in the gallery: run examples/pictures.sh"; return 1; }
  done
}

# pictures.sh makes every picture of the folder, and the gallery as it is there.
gallery () {
  rm -rf out/pictures
  sh examples/pictures.sh out/pictures && diff out/pictures/README.md examples/pictures/README.md &&
    (cd out/pictures && find . | sort) >out/made && (cd examples/pictures && find . | sort) | diff out/made -
}

# The left half of the split screen is the film, and the right half is blurred.
split_screen () {
  . tests/rows/readme.sh
  readme_lines examples/README.md | grep 'name=screen' >out/split-line
  line=$(cat out/split-line)
  grey='video/x-raw,format=GRAY8'
  gst-launch-1.0 -q filesrc location=examples/clip.mp4 ! decodebin ! videoconvert ! "$grey" ! filesink location=out/grey &&
    sh -c "$(echo "$line" | sed "s#autovideosink#$grey ! filesink location=out/split-grey#")" && python3 -c '
before, after = (open(name, "rb").read() for name in ("out/grey", "out/split-grey"))
assert len(before) == len(after) == 100 * 640 * 360, (len(before), len(after))
rows = [place for place in range(0, len(before), 640 * 37)]
for name, left in (("left", 0), ("right", 320)):
    part = [abs(before[row + x] - after[row + x]) for row in rows for x in range(left, left + 320)]
    print(name, "half: mean difference", sum(part) / len(part))
    assert sum(part) / len(part) < 1 if name == "left" else sum(part) / len(part) > 4'
}

example_rows () {
  check "examples: a picture of each preset and boundary" pictures
  check "examples: before and after on one screen" split_screen
  check "examples: layers.py" python3 examples/layers.py out
  check "leaks: mask=gaussian" no_leaks cudaconvolve mask=gaussian
  check "leaks: mask=sobel-x" no_leaks cudaconvolve mask=sobel-x
  check "leaks: mask=identity" no_leaks cudaconvolve mask=identity
  check "leaks: a layer" no_leaks cudaconvlayer location=out/gabor.npz stride=4 mosaic=true
  check "examples: run.sh" example
  check "examples: Ctrl-C" example_ends interrupt --sink=fakesink
  check "examples: progress on a terminal" example_terminal
  check "examples: run.sh refuses a file that is not there" refused "no such file" nowhere.mp4
  check "examples: run.sh refuses a file without video" refused "no video" LICENSE
  check "examples: run.sh refuses an unknown mask" refused "not a preset" mask=nonsense
  check "examples: run.sh refuses an unknown property" refused "no such property" masc=gaussian
  check "examples: spans" example_spans
  check "examples: animate" example_animate
  check "examples: animate and Ctrl-C" animate_ends
  check "examples: animate refuses what cannot be" animate_refusals
  check "examples: files that are not to be lost" example_spares
  check "examples: an error in the middle of a film" example_spares_later
  check "examples: signals leave nothing behind" example_killed
  check "examples: a result takes the place of the earlier one" example_replaces
  check "examples: a film that gives no frame" example_silence "$all"
  check "examples: live with keys from a pipe" live pipe
  check "examples: live restores the terminal" live terminal
  [ -n "$all" ] || return 0
  check "examples: a GIF" example_gif
  check "examples: a slow frame" example_slow_frame
  check "examples: live with every variant" live variants
  check "examples: pictures.sh" gallery
  check "examples: run.sh mask=sobel-x" example mask=sobel-x bias=0.5 boundary=zero kernel-variant=cpu
  check "examples: a slow window" example_slow_window
  check "examples: a window that is closed" example_ends : --sink="identity error-after=30 ! fakesink"
}
